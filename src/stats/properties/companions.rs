//! Laws of the figures beside the headline, on random units.

use num_bigint::BigInt;
use num_traits::Zero;
use proptest::prelude::*;

use super::{alphas, close, delta, negated};
use crate::betting::{betting_evidence, bounded_interval};
use crate::gain::{ArmRates, normalized_gain};
use crate::hodges_lehmann::{hodges_lehmann, leave_one_out};
use crate::interval::paired_t;
use crate::inversion::inversion_interval;
use crate::missingness::{PlannedCase, PlannedRuns, missingness_bounds};
use crate::noise_check::{NoiseTargets, noise_check};
use crate::quantile::ninetieth_percentile;
use crate::random_effects::{SkillEffect, random_effects};
use crate::ratio::{CostPlane, Effect, FiellerSet, Price, RatioUnit, ratio_of_means};
use crate::rational::{Rational, from_f64, mean, rate, to_f64};
use crate::sign_flip::sign_flip;
use crate::variance::{UnitSpread, variance_split};

/// Few units on mixed lattices, or more on the lattice of −1, 0 and 1: both are counted quickly.
fn deltas() -> impl Strategy<Value = Vec<Rational>> {
    prop_oneof![
        4 => prop::collection::vec(delta(), 0..14),
        1 => prop::collection::vec((-1_i64..=1).prop_map(|sign| Rational::from_integer(sign.into())), 0..70),
    ]
}

fn costs() -> impl Strategy<Value = Rational> {
    (-40_000_i64..100_000).prop_map(|cost| Rational::new(cost.into(), 1_000_000.into()))
}

fn units() -> impl Strategy<Value = Vec<RatioUnit>> {
    let unit = (delta(), costs()).prop_map(|(numerator, denominator)| RatioUnit { numerator, denominator });
    prop::collection::vec(unit, 0..14)
}

fn shuffled<T: Clone>(items: &[T], seed: prop::sample::Index) -> Vec<T> {
    let mut shuffled = items.to_vec();
    if !shuffled.is_empty() {
        let middle = seed.index(shuffled.len());
        shuffled.rotate_left(middle);
        shuffled[..middle].reverse();
    }
    shuffled
}

fn bits(set: FiellerSet) -> (&'static str, [u64; 2]) {
    match set {
        FiellerSet::Interval { lower, upper } => ("interval", [lower, upper].map(f64::to_bits)),
        FiellerSet::TwoRays { below, above } => ("two_rays", [below, above].map(f64::to_bits)),
        FiellerSet::WholeLine => ("whole_line", [0, 0]),
    }
}

fn ends(set: FiellerSet) -> Vec<f64> {
    match set {
        FiellerSet::Interval { lower, upper } => vec![lower, upper],
        FiellerSet::TwoRays { below, above } => vec![below, above],
        FiellerSet::WholeLine => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_sign_flip_interval_follows_its_units(
        deltas in deltas(), seed in any::<prop::sample::Index>(), shift in delta(), scale in 1_u64..50
    ) {
        for alpha in alphas() {
            let interval = inversion_interval(&deltas, &alpha);
            prop_assert_eq!(&inversion_interval(&shuffled(&deltas, seed), &alpha), &interval);
            let mirrored = inversion_interval(&negated(&deltas), &alpha);
            let shifted = inversion_interval(&deltas.iter().map(|it| it + &shift).collect::<Vec<_>>(), &alpha);
            let factor = rate(scale, 7);
            let scaled = inversion_interval(&deltas.iter().map(|it| it * &factor).collect::<Vec<_>>(), &alpha);
            let Ok(interval) = interval else {
                let reason = interval.err();
                prop_assert_eq!([mirrored.err(), shifted.err(), scaled.err()], [reason, reason, reason]);
                continue;
            };
            let (mirrored, shifted, scaled) = (mirrored.unwrap(), shifted.unwrap(), scaled.unwrap());
            prop_assert_eq!((&-mirrored.upper, &-mirrored.lower), (&interval.lower, &interval.upper));
            prop_assert_eq!((shifted.lower - &shift, shifted.upper - &shift), (interval.lower.clone(), interval.upper.clone()));
            prop_assert_eq!((scaled.lower / &factor, scaled.upper / &factor), (interval.lower, interval.upper));
        }
    }

    #[test]
    fn the_sign_flip_interval_holds_what_the_test_does_not_reject(deltas in deltas()) {
        let mut wider: Option<(Rational, Rational)> = None;
        for alpha in alphas() {
            let Ok(interval) = inversion_interval(&deltas, &alpha) else { continue };
            let plain = mean(&deltas).unwrap();
            prop_assert!(interval.lower <= plain && plain <= interval.upper);
            let zero = Rational::zero();
            let outside = interval.lower > zero || interval.upper < zero;
            prop_assert_eq!(outside, sign_flip(&deltas).at_most(&alpha));
            // Both ends belong to the set; a little outside of them does not. With more units the test of deltas on so
            // fine a lattice is a bound.
            if deltas.len() <= 10 {
                let p_at = |shift: &Rational| sign_flip(&deltas.iter().map(|it| it - shift).collect::<Vec<_>>());
                let step = rate(1, 1_000_000_000);
                prop_assert!(!p_at(&interval.lower).at_most(&alpha) && !p_at(&interval.upper).at_most(&alpha));
                prop_assert!(p_at(&(&interval.lower - &step)).at_most(&alpha));
                prop_assert!(p_at(&(&interval.upper + &step)).at_most(&alpha));
            }
            let mut longer = deltas.clone();
            longer.push(plain.clone());
            let with_mean = inversion_interval(&longer, &alpha).unwrap();
            prop_assert!(with_mean.lower <= plain && plain <= with_mean.upper);
            if let Some((lower, upper)) = wider {
                prop_assert!(interval.lower <= lower && upper <= interval.upper);
            }
            wider = Some((interval.lower, interval.upper));
        }
    }

    #[test]
    fn the_noise_check_has_no_sides_and_no_order(
        deltas in deltas(), seed in any::<prop::sample::Index>(), baseline in 0_u64..=10, tenths in 1_u64..=10
    ) {
        let alpha = rate(1, 20);
        let (baseline, min_lift) = (rate(baseline, 10), rate(tenths, 10));
        let targets = NoiseTargets { baseline: Some(&baseline), min_lift: Some(&min_lift) };
        let check = |deltas: &[Rational]| noise_check(deltas, &inversion_interval(deltas, &alpha), &alpha, &targets);
        let result = check(&deltas);
        prop_assert_eq!(&check(&shuffled(&deltas, seed)), &result);
        prop_assert_eq!(&check(&negated(&deltas)), &result);
        let noisy = result.noise_floor.as_ref().is_ok_and(|floor| *floor >= min_lift);
        prop_assert_eq!(result.projected_cases.is_some(), noisy);
        prop_assert!(result.projected_cases.is_none_or(|cases| cases >= deltas.len() as u64));
    }

    #[test]
    fn the_hodges_lehmann_estimate_is_the_median_of_all_averages(
        deltas in deltas(), seed in any::<prop::sample::Index>(), shift in delta(), scale in 1_u64..50
    ) {
        prop_assume!(!deltas.is_empty());
        let estimate = hodges_lehmann(&deltas).unwrap();
        let mut averages = Vec::new();
        for (index, left) in deltas.iter().enumerate() {
            averages.extend(deltas[index..].iter().map(|right| (left + right) / BigInt::from(2)));
        }
        averages.sort_unstable();
        let half = averages.len() / 2;
        let middle = (&averages[(averages.len() - 1) / 2] + &averages[half]) / BigInt::from(2);
        prop_assert_eq!(&estimate, &middle);
        let of = |map: &dyn Fn(&Rational) -> Rational| hodges_lehmann(&deltas.iter().map(map).collect::<Vec<_>>()).unwrap();
        let factor = rate(scale, 7);
        prop_assert_eq!(hodges_lehmann(&shuffled(&deltas, seed)).unwrap(), estimate.clone());
        prop_assert_eq!(of(&|it| -it), -estimate.clone());
        prop_assert_eq!(of(&|it| it + &shift), &estimate + &shift);
        prop_assert_eq!(of(&|it| it * &factor), estimate * factor);
    }

    #[test]
    fn leaving_out_one_unit_gives_no_mean_beyond_the_range(deltas in deltas()) {
        prop_assume!(deltas.len() >= 2);
        let range = leave_one_out(&deltas).unwrap();
        let without = |index: usize| {
            let mut rest = deltas.clone();
            rest.remove(index);
            mean(&rest).unwrap()
        };
        let means: Vec<Rational> = (0..deltas.len()).map(without).collect();
        prop_assert_eq!(Some(&range.lowest), means.iter().min());
        prop_assert_eq!(Some(&range.highest), means.iter().max());
        prop_assert_eq!((&means[range.lowest_without], &means[range.highest_without]), (&range.lowest, &range.highest));
        let influential = &means[range.most_influential];
        prop_assert!(*influential == range.lowest || *influential == range.highest);
        let mirrored = leave_one_out(&negated(&deltas)).unwrap();
        prop_assert_eq!((-mirrored.highest, -mirrored.lowest), (range.lowest, range.highest));
        prop_assert_eq!(mirrored.most_influential, range.most_influential);
    }

    #[test]
    fn a_ratio_follows_its_units(
        units in units(), seed in any::<prop::sample::Index>(), scale in 1_u64..50
    ) {
        let alpha = rate(1, 20);
        let result = ratio_of_means(&units, &alpha);
        prop_assert_eq!(&ratio_of_means(&shuffled(&units, seed), &alpha), &result);
        let of = |map: &dyn Fn(&RatioUnit) -> RatioUnit| ratio_of_means(&units.iter().map(map).collect::<Vec<_>>(), &alpha);
        // Both signs turned: the same ratio.
        let turned = of(&|it| RatioUnit { numerator: -&it.numerator, denominator: -&it.denominator });
        prop_assert_eq!(&turned.ratio, &result.ratio);
        prop_assert_eq!(turned.limits.map(bits), result.limits.map(bits));
        // One sign turned: the limits change places.
        let negative = of(&|it| RatioUnit { numerator: -&it.numerator, denominator: it.denominator.clone() });
        let mirrored = negative.limits.map(|set| match set {
            FiellerSet::Interval { lower, upper } => FiellerSet::Interval { lower: -upper, upper: -lower },
            FiellerSet::TwoRays { below, above } => FiellerSet::TwoRays { below: -above, above: -below },
            FiellerSet::WholeLine => FiellerSet::WholeLine,
        });
        prop_assert_eq!(mirrored, result.limits);
        // Cost in another currency.
        let factor = rate(scale, 7);
        let exchanged = of(&|it| RatioUnit { numerator: it.numerator.clone(), denominator: &it.denominator * &factor });
        prop_assert_eq!(exchanged.ratio.map(|it| it * &factor), result.ratio.clone());
        prop_assert_eq!(exchanged.limits.map(FiellerSet::as_str), result.limits.map(FiellerSet::as_str));
        if let (Ok(one), Ok(other)) = (result.limits, exchanged.limits) {
            for (one, other) in ends(one).into_iter().zip(ends(other)) {
                prop_assert!((one - other * to_f64(&factor)).abs() <= 1e-12 * one.abs());
            }
        }
        let plane = CostPlane::of(&units);
        let counted: usize = [Effect::Better, Effect::Worse, Effect::Same]
            .into_iter()
            .flat_map(|effect| [Price::Cheaper, Price::Dearer, Price::Same].map(|price| plane.count(effect, price)))
            .sum();
        prop_assert_eq!(counted, units.len());
    }

    #[test]
    fn at_its_limits_a_ratio_is_just_not_rejected(units in units()) {
        for alpha in alphas() {
            let result = ratio_of_means(&units, &alpha);
            let Ok(set) = result.limits else { continue };
            if let (FiellerSet::Interval { lower, upper }, Some(ratio)) = (set, result.ratio_f64()) {
                prop_assert!(lower <= ratio && ratio <= upper);
            }
            for end in ends(set) {
                let rho = from_f64(end).unwrap();
                let rests: Vec<Rational> = units.iter().map(|it| &it.numerator - &it.denominator * &rho).collect();
                // An end that all units share leaves rests that are equal up to its rounding.
                let Ok(test) = paired_t(&rests, &alpha) else { continue };
                if test.standard_deviation > 1e-9 {
                    prop_assert!((test.t.abs() / test.critical - 1.0).abs() < 1e-6, "{} {}", test.t, test.critical);
                }
            }
        }
    }

    #[test]
    fn a_gain_is_a_share(rates in prop::collection::vec((0_u64..=10, 0_u64..=10), 0..14), seed in any::<prop::sample::Index>()) {
        let arms: Vec<ArmRates> = rates
            .into_iter()
            .map(|(with, without)| ArmRates { with: rate(with, 10), without: rate(without, 10) })
            .collect();
        let alpha = rate(1, 20);
        let result = normalized_gain(&arms, &alpha);
        prop_assert_eq!(&normalized_gain(&shuffled(&arms, seed), &alpha), &result);
        let one = rate(1, 1);
        prop_assert!(result.gain.as_ref().is_ok_and(|gain| *gain <= one) || result.gain.is_err());
        prop_assert!(result.normalized_change.is_none_or(|change| -one.clone() <= change && change <= one));
        prop_assert!(result.relative_loss.is_none_or(|loss| loss < Rational::zero() && loss >= -one));
    }

    #[test]
    fn the_split_of_the_variance_has_no_origin_and_no_sides(
        units in prop::collection::vec((delta(), prop::option::of(0_u64..20)), 2..14),
        seed in any::<prop::sample::Index>(), shift in delta(), scale in 1_u64..50
    ) {
        let units: Vec<UnitSpread> =
            units.into_iter().map(|(delta, noise)| UnitSpread { delta, noise: noise.map(|it| rate(it, 40)) }).collect();
        let split = variance_split(&units).unwrap();
        prop_assert_eq!(&variance_split(&shuffled(&units, seed)).unwrap(), &split);
        let of = |map: &dyn Fn(&UnitSpread) -> UnitSpread| variance_split(&units.iter().map(map).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(&of(&|it| UnitSpread { delta: &shift - &it.delta, noise: it.noise.clone() }), &split);
        let (factor, square) = (rate(scale, 7), rate(scale * scale, 49));
        let scaled = of(&|it| UnitSpread { delta: &it.delta * &factor, noise: it.noise.as_ref().map(|it| it * &square) });
        prop_assert_eq!(scaled.total, &split.total * &square);
        prop_assert_eq!(scaled.between, split.between.clone().map(|it| it * &square));
        prop_assert_eq!(scaled.noise_share, split.noise_share.clone());
        if let (Ok(within), Ok(between)) = (split.within, split.between) {
            prop_assert_eq!(&within + &between, split.total.max(within));
        }
    }

    #[test]
    fn the_observed_lift_lies_between_the_bounds(
        cases in prop::collection::vec(((1_u64..6, 0_u64..6, 0_u64..6), (1_u64..6, 0_u64..6, 0_u64..6)), 1..14),
        seed in any::<prop::sample::Index>()
    ) {
        let arm = |(scored, missing, passed): (u64, u64, u64)| PlannedRuns {
            planned: scored + missing,
            scored,
            rates: rate(passed.min(scored), 1),
        };
        let cases: Vec<PlannedCase> =
            cases.into_iter().map(|(with, without)| PlannedCase { with: arm(with), without: arm(without) }).collect();
        let bounds = missingness_bounds(&cases).unwrap();
        prop_assert_eq!(&missingness_bounds(&shuffled(&cases, seed)).unwrap(), &bounds);
        let observed = |arm: &PlannedRuns| &arm.rates / BigInt::from(arm.scored);
        let lifts: Vec<Rational> = cases.iter().map(|it| observed(&it.with) - observed(&it.without)).collect();
        let lift = mean(&lifts).unwrap();
        prop_assert!(bounds.worst <= lift && lift <= bounds.best);
        let complete = bounds.missing_with + bounds.missing_without == 0;
        prop_assert_eq!(complete, bounds.worst == bounds.best);
        let swapped: Vec<PlannedCase> = cases
            .iter()
            .map(|it| PlannedCase { with: it.without.clone(), without: it.with.clone() })
            .collect();
        let mirrored = missingness_bounds(&swapped).unwrap();
        prop_assert_eq!((-mirrored.best, -mirrored.worst), (bounds.worst, bounds.best));
    }

    #[test]
    fn the_mean_over_skills_follows_its_skills(
        skills in prop::collection::vec((-1.0_f64..=1.0, 0.01_f64..0.5), 2..14), seed in any::<prop::sample::Index>()
    ) {
        let skills: Vec<SkillEffect> =
            skills.into_iter().map(|(lift, standard_error)| SkillEffect { lift, standard_error }).collect();
        let alpha = rate(1, 20);
        let result = random_effects(&skills, &alpha).unwrap();
        prop_assert_eq!(random_effects(&shuffled(&skills, seed), &alpha).unwrap(), result);
        let of = |lift: f64, error: f64| {
            let changed = skills.iter().map(|it| SkillEffect { lift: it.lift * lift, standard_error: it.standard_error * error });
            random_effects(&changed.collect::<Vec<_>>(), &alpha).unwrap()
        };
        let mirrored = of(-1.0, 1.0);
        prop_assert_eq!((-mirrored.upper, -mirrored.mean, -mirrored.lower), (result.lower, result.mean, result.upper));
        let half = of(0.5, 0.5);
        prop_assert_eq!((half.lower * 2.0, half.mean * 2.0, half.upper * 2.0), (result.lower, result.mean, result.upper));
        prop_assert_eq!((half.q, half.i_squared, half.tau_squared * 4.0), (result.q, result.i_squared, result.tau_squared));
        prop_assert!(result.standard_error >= result.standard_error_plain);
        let lifts = skills.iter().map(|it| it.lift);
        prop_assert!(lifts.clone().fold(f64::INFINITY, f64::min) <= result.mean * (1.0 + 1e-12) + 1e-15);
        prop_assert!(lifts.fold(f64::NEG_INFINITY, f64::max) >= result.mean * (1.0 - 1e-12) - 1e-15);
    }

    #[test]
    fn a_percentile_follows_its_values(values in prop::collection::vec(0.0_f64..1e6, 1..80), seed in any::<prop::sample::Index>()) {
        let result = ninetieth_percentile(&values).unwrap();
        prop_assert_eq!(ninetieth_percentile(&shuffled(&values, seed)).unwrap(), result);
        let doubled = ninetieth_percentile(&values.iter().map(|value| value * 2.0).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(doubled.value, result.value * 2.0);
        prop_assert_eq!(result.upper.is_ok(), values.len() >= 29);
        if let Ok(upper) = result.upper {
            prop_assert!(upper.value >= result.value);
            prop_assert!(values.iter().filter(|value| **value <= upper.value).count() >= upper.rank);
        }
    }
}

proptest! {
    // A thousand logarithms a unit and a step, without optimisation.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_guaranteed_interval_follows_its_units(
        deltas in prop::collection::vec(delta(), 1..14), seed in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()
    ) {
        let alpha = rate(1, 20);
        let interval = bounded_interval(&deltas, &alpha).unwrap();
        let shuffled = shuffled(&deltas, seed);
        prop_assert_eq!(bounded_interval(&shuffled, &alpha).unwrap(), interval);
        let mirrored = bounded_interval(&negated(&deltas), &alpha).unwrap();
        prop_assert_eq!((-mirrored.upper, -mirrored.lower), (interval.lower, interval.upper));
        let plain = to_f64(&mean(&deltas).unwrap());
        prop_assert!(-1.0 <= interval.lower && interval.lower <= plain);
        prop_assert!(plain <= interval.upper && interval.upper <= 1.0);
        let wider = bounded_interval(&deltas, &rate(1, 100)).unwrap();
        prop_assert!(wider.lower <= interval.lower && interval.upper <= wider.upper);
        // A larger delta moves both ends up.
        let mut raised = deltas.clone();
        let index = at.index(raised.len());
        raised[index] = (&raised[index] + rate(1, 1)) / BigInt::from(2);
        let above = bounded_interval(&raised, &alpha).unwrap();
        prop_assert!(above.lower >= interval.lower - 1e-13 && above.upper >= interval.upper - 1e-13);
    }

    #[test]
    fn evidence_and_interval_exclude_zero_together(deltas in prop::collection::vec(delta(), 1..14), more in 0_usize..8) {
        let mut deltas = deltas;
        deltas.extend(std::iter::repeat_n(rate(1, 1), more));
        let interval = bounded_interval(&deltas, &rate(1, 20)).unwrap();
        let evidence = betting_evidence(&deltas).unwrap();
        let goal = 40.0_f64.ln();
        prop_assert!((interval.lower > 0.0) == (evidence.ln_above_zero > goal) || close(evidence.ln_above_zero, goal));
        prop_assert!((interval.upper < 0.0) == (evidence.ln_below_zero > goal) || close(evidence.ln_below_zero, goal));
        let mirrored = betting_evidence(&negated(&deltas)).unwrap();
        prop_assert_eq!(mirrored.ln_above_zero, evidence.ln_below_zero);
        prop_assert_eq!(mirrored.ln_e, evidence.ln_e);
    }
}
