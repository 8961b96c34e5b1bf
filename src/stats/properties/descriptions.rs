//! Laws of clustered means, the exact bootstrap, rates, repeated success and the agreement of raters.

use num_bigint::BigInt;
use num_traits::Signed;
use proptest::prelude::*;

use super::{alphas, close, delta, negated};
use crate::agreement::{AgreementTable, Metric, Weights, fleiss_kappa, krippendorff_alpha};
use crate::bootstrap::{LatticeInterval, bootstrap_interval, exact_bootstrap};
use crate::cluster::{ClusterInterval, clustered_mean};
use crate::gain::{ArmRates, normalized_change};
use crate::independent_binary::{ArmCounts, fisher_exact, newcombe_difference};
use crate::interval::{equivalence, padded_share, paired_t};
use crate::paired_binary::PairedTable;
use crate::proportion::{clopper_pearson, wilson};
use crate::rational::{Rational, mean, rate, to_f64};
use crate::sampled::{SampledDecision, sampled_p};
use crate::sign_flip::sign_flip;
use crate::suite_reliability::{CaseRuns, common_k, common_k_curve, suite_pass};
use crate::withheld::Withheld;

fn shuffled<T: Clone>(items: &[T], seed: prop::sample::Index) -> Vec<T> {
    let mut shuffled = items.to_vec();
    if !shuffled.is_empty() {
        let middle = seed.index(shuffled.len());
        shuffled.rotate_left(middle);
        shuffled[..middle].reverse();
    }
    shuffled
}

fn mapped(clusters: &[Vec<Rational>], map: &dyn Fn(&Rational) -> Rational) -> Vec<Vec<Rational>> {
    clusters.iter().map(|cluster| cluster.iter().map(map).collect()).collect()
}

fn ends(interval: ClusterInterval) -> [f64; 2] {
    [interval.lower, interval.upper]
}

/// Deltas of at least two values on a lattice that the bootstrap counts quickly.
fn spread_deltas() -> impl Strategy<Value = Vec<Rational>> {
    let of = |denominator: i64| {
        prop::collection::vec(-denominator..=denominator, 1..26)
            .prop_map(move |values| values.into_iter().map(|it| Rational::new(it.into(), denominator.into())).collect())
    };
    prop_oneof![of(1), of(5), of(7)]
}

/// Ratings of items by up to four raters on a scale of up to five classes.
fn rated_items() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop::collection::vec(prop::collection::vec(0_u64..5, 0..5), 0..16)
}

fn rationals(items: &[Vec<u64>], of: &dyn Fn(u64) -> Rational) -> Vec<Vec<Rational>> {
    items.iter().map(|ratings| ratings.iter().map(|&rating| of(rating)).collect()).collect()
}

fn agreement_tables() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (2_usize..5)
        .prop_flat_map(|classes| prop::collection::vec(prop::collection::vec(0_u64..12, classes), classes))
        .prop_filter("items", |table| table.iter().flatten().any(|&items| items > 0))
}

fn transposed(table: &[Vec<u64>]) -> Vec<Vec<u64>> {
    (0..table.len()).map(|class| table.iter().map(|row| row[class]).collect()).collect()
}

/// The table after the classes have changed places.
fn relabelled(table: &[Vec<u64>], seed: prop::sample::Index) -> Vec<Vec<u64>> {
    let order = shuffled(&(0..table.len()).collect::<Vec<_>>(), seed);
    order.iter().map(|&first| order.iter().map(|&second| table[first][second]).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_clustered_mean_follows_its_units(
        clusters in prop::collection::vec(prop::collection::vec(delta(), 0..6), 0..9),
        seed in any::<prop::sample::Index>(), shift in delta(), scale in 1_u64..50
    ) {
        let alpha = rate(1, 20);
        let of = |clusters: &[Vec<Rational>]| clustered_mean(clusters, &alpha);
        let result = of(&clusters);
        let inside: Vec<Vec<Rational>> = clusters.iter().map(|cluster| shuffled(cluster, seed)).collect();
        prop_assert_eq!(&of(&shuffled(&inside, seed)), &result);
        let factor = rate(scale, 7);
        let others = [
            of(&mapped(&clusters, &|it| -it)),
            of(&mapped(&clusters, &|it| it + &shift)),
            of(&mapped(&clusters, &|it| it * &factor)),
        ];
        let Ok(result) = result else {
            let reason = result.err();
            prop_assert_eq!(others.map(Result::err), [reason, reason, reason]);
            return Ok(());
        };
        let [mirrored, shifted, scaled] = others.map(Result::unwrap);
        let (shift, factor) = (to_f64(&shift), to_f64(&factor));
        for (plain, mirrored, shifted, scaled) in [
            (result.cr1, mirrored.cr1, shifted.cr1, scaled.cr1),
            (result.cr2, mirrored.cr2, shifted.cr2, scaled.cr2),
        ] {
            prop_assert_eq!([-mirrored.upper, -mirrored.lower], ends(plain));
            prop_assert_eq!(shifted.standard_error, plain.standard_error);
            prop_assert!(close(scaled.standard_error, plain.standard_error * factor));
            for (end, (shifted, scaled)) in ends(plain).into_iter().zip(ends(shifted).into_iter().zip(ends(scaled))) {
                prop_assert!(close(shifted, end + shift) && close(scaled, end * factor));
            }
            // Satterthwaite's degrees of freedom lie between one and those of equal clusters.
            let most = (result.clusters - 1) as f64 + 1e-9;
            prop_assert!((1.0 - 1e-12..=most).contains(&plain.degrees_of_freedom));
        }
        prop_assert!(result.standard_error_uncorrected < result.cr1.standard_error);
    }

    #[test]
    fn clusters_of_one_unit_give_students_interval(deltas in prop::collection::vec(delta(), 0..14)) {
        for alpha in alphas() {
            let singletons: Vec<Vec<Rational>> = deltas.iter().map(|delta| vec![delta.clone()]).collect();
            match (clustered_mean(&singletons, &alpha), paired_t(&deltas, &alpha)) {
                (Ok(clustered), Ok(plain)) => for interval in [clustered.cr1, clustered.cr2] {
                    prop_assert!(close(interval.standard_error, plain.standard_error));
                    prop_assert!(close(interval.lower, plain.lower) && close(interval.upper, plain.upper));
                },
                (Err(Withheld::TooFewClusters), Err(Withheld::NoEligiblePairs | Withheld::TooFewUnits))
                | (Err(Withheld::ConstantDeltas), Err(Withheld::ConstantDeltas)) => {}
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }

    #[test]
    fn clusters_of_one_size_need_one_correction(
        clusters in (1_usize..5).prop_flat_map(|size| prop::collection::vec(prop::collection::vec(delta(), size), 2..8))
    ) {
        let Ok(result) = clustered_mean(&clusters, &rate(1, 20)) else { return Ok(()) };
        prop_assert_eq!(result.cr1, result.cr2);
        prop_assert_eq!(&result.mean, &result.cluster_mean);
        prop_assert_eq!(result.cr1.standard_error, result.cluster_mean_standard_error);
    }

    #[test]
    fn the_bootstrap_follows_its_units(
        deltas in spread_deltas(), seed in any::<prop::sample::Index>(), shift in delta(), scale in 1_u64..50
    ) {
        let alpha = rate(1, 20);
        let Ok(result) = exact_bootstrap(&deltas, &alpha) else {
            prop_assert!(deltas.iter().all(|delta| *delta == deltas[0]));
            return Ok(());
        };
        prop_assert_eq!(&exact_bootstrap(&shuffled(&deltas, seed), &alpha).unwrap(), &result);
        let shown = if deltas.len() < 20 { Err(Withheld::TooFewUnits) } else { Ok(result.clone()) };
        prop_assert_eq!(bootstrap_interval(&deltas, &alpha), shown);
        let mirrored = exact_bootstrap(&negated(&deltas), &alpha).unwrap();
        let factor = rate(scale, 7);
        let moved: Vec<Rational> = deltas.iter().map(|delta| delta * &factor + &shift).collect();
        let moved = exact_bootstrap(&moved, &alpha).unwrap();
        prop_assert_eq!(moved.bias_correction, result.bias_correction);
        prop_assert!(close(moved.acceleration, result.acceleration));
        prop_assert_eq!((mirrored.bias_correction, mirrored.acceleration), (-result.bias_correction, -result.acceleration));
        let turned = |of: &LatticeInterval| LatticeInterval { lower: -&of.upper, upper: -&of.lower };
        let placed = |of: &LatticeInterval| LatticeInterval {
            lower: &of.lower * &factor + &shift,
            upper: &of.upper * &factor + &shift,
        };
        prop_assert_eq!(&mirrored.percentile, &turned(&result.percentile));
        prop_assert_eq!(&mirrored.bca, &turned(&result.bca));
        prop_assert_eq!(&moved.percentile, &placed(&result.percentile));
        prop_assert_eq!(&moved.bca, &placed(&result.bca));
        for interval in [&result.percentile, &result.bca] {
            prop_assert!(deltas.iter().min().unwrap() <= &interval.lower);
            prop_assert!(interval.upper <= *deltas.iter().max().unwrap());
            prop_assert!(interval.lower <= interval.upper);
        }
        let center = mean(&deltas).unwrap();
        prop_assert!(result.percentile.lower <= center && center <= result.percentile.upper);
    }

    #[test]
    fn swapping_the_arms_mirrors_paired_limits(
        counts in (0_u64..25, 0_u64..25, 0_u64..25, 1_u64..25)
    ) {
        let (both_pass, with_only, without_only, both_fail) = counts;
        let table = PairedTable::new(both_pass, with_only, without_only, both_fail).unwrap();
        let swapped = PairedTable::new(both_pass, without_only, with_only, both_fail).unwrap();
        let observed = to_f64(&table.difference());
        for alpha in [0.1, 0.05, 0.01] {
            for (plain, mirrored) in [
                (table.newcombe(alpha), swapped.newcombe(alpha)),
                (table.tango(alpha), swapped.tango(alpha)),
                (table.bonett_price(alpha), swapped.bonett_price(alpha)),
            ] {
                prop_assert!(close(plain.lower, -mirrored.upper) && close(plain.upper, -mirrored.lower));
                prop_assert!(-1.0 <= plain.lower && plain.lower <= observed + 1e-12);
                prop_assert!(observed - 1e-12 <= plain.upper && plain.upper <= 1.0);
            }
        }
        let (test, mirrored) = (table.mcnemar(), swapped.mcnemar());
        prop_assert_eq!((test.p_two_sided, test.mid_p), (mirrored.p_two_sided, mirrored.mid_p));
        prop_assert!(test.mid_p <= test.p_two_sided);
    }

    #[test]
    fn units_that_did_not_change_do_not_change_mcnemars_test(
        up in 0_usize..20, down in 0_usize..20, same in 0_usize..40, first in 0_u64..=1
    ) {
        let unit = |with: u64, without: u64| ArmRates { with: rate(with, 1), without: rate(without, 1) };
        let mut units = vec![unit(1, 0); up];
        units.extend(vec![unit(0, 1); down]);
        units.push(unit(1, 1));
        let before = PairedTable::from_rates(&units).unwrap();
        units.extend(vec![unit(first, first); same]);
        prop_assert_eq!(PairedTable::from_rates(&units).unwrap().mcnemar(), before.mcnemar());
    }

    #[test]
    fn mcnemars_test_is_the_sign_flip_test(up in 0_u64..40, down in 0_u64..40) {
        prop_assume!(up + down > 0);
        let mut deltas = vec![rate(1, 1); up as usize];
        deltas.extend(vec![-rate(1, 1); down as usize]);
        let (test, flips) = (PairedTable::new(3, up, down, 1).unwrap().mcnemar(), sign_flip(&deltas));
        prop_assert_eq!(test.p_two_sided.to_bits(), flips.p_two_sided.to_bits());
        prop_assert_eq!(test.p_greater.to_bits(), flips.p_greater.to_bits());
        prop_assert!(close(test.mid_p, flips.mid_p));
        let more = PairedTable::new(3, up + 1, down, 1).unwrap().mcnemar();
        prop_assert!(more.p_greater < test.p_greater);
    }

    #[test]
    fn independent_arms_have_no_side(n1 in 1_u64..30, n2 in 1_u64..30, c1 in 0_u64..30, c2 in 0_u64..30) {
        let (with, without) = (ArmCounts { passed: c1.min(n1), runs: n1 }, ArmCounts { passed: c2.min(n2), runs: n2 });
        let limits = newcombe_difference(with, without, 0.05).unwrap();
        let mirrored = newcombe_difference(without, with, 0.05).unwrap();
        prop_assert!(close(limits.lower, -mirrored.upper) && close(limits.upper, -mirrored.lower));
        prop_assert!(-1.0 <= limits.lower && limits.lower < limits.upper && limits.upper <= 1.0);
        let (test, swapped) = (fisher_exact(with, without).unwrap(), fisher_exact(without, with).unwrap());
        prop_assert_eq!(&test, &swapped);
        prop_assert!(test.hits <= test.total && test.p_two_sided() > 0.0);
        let share = Rational::new(test.hits.clone().into(), test.total.clone().into());
        prop_assert!(test.at_most(&share));
    }

    #[test]
    fn limits_of_a_share_mirror_and_rise(n in 1_u64..400, c in 0_u64..400) {
        let c = c.min(n);
        let limits = wilson(c, n, 0.05).unwrap();
        let mirrored = wilson(n - c, n, 0.05).unwrap();
        prop_assert!(close(limits.lower, 1.0 - mirrored.upper) && close(limits.upper, 1.0 - mirrored.lower));
        let share = c as f64 / n as f64;
        prop_assert!(0.0 <= limits.lower && limits.lower <= share && share <= limits.upper && limits.upper <= 1.0);
        if c < n {
            let more = wilson(c + 1, n, 0.05).unwrap();
            prop_assert!(limits.lower < more.lower && limits.upper < more.upper);
        }
    }

    #[test]
    fn a_sampled_p_is_decided_by_both_limits(draws in 1_u64..100_000, hits in 0_u64..100_000) {
        let hits = hits.min(draws);
        let result = sampled_p(hits, draws).unwrap();
        prop_assert!(1.0 / (draws as f64 + 1.0) <= result.p && result.p <= 1.0);
        prop_assert_eq!(Ok(result.limits), clopper_pearson(hits, draws, 0.001));
        for alpha in alphas() {
            let level = to_f64(&alpha);
            let expected = if result.limits.upper <= level {
                SampledDecision::Significant
            } else if result.limits.lower > level {
                SampledDecision::NotSignificant
            } else {
                SampledDecision::Undecided
            };
            prop_assert_eq!(result.decision(&alpha), expected);
        }
    }

    #[test]
    fn repeated_success_of_a_suite_follows_its_cases(
        cases in prop::collection::vec((1_u64..9, 0_u64..9), 1..12), seed in any::<prop::sample::Index>()
    ) {
        let alpha = rate(1, 20);
        let cases: Vec<CaseRuns> =
            cases.into_iter().map(|(runs, passed)| CaseRuns { runs, passed: passed.min(runs) }).collect();
        let failed: Vec<CaseRuns> =
            cases.iter().map(|case| CaseRuns { runs: case.runs, passed: case.runs - case.passed }).collect();
        let common = common_k(&cases).unwrap();
        let most = cases.iter().map(|case| case.runs).max().unwrap();
        for largest in [common, most] {
            let curve = common_k_curve(&cases, largest, &alpha).unwrap();
            prop_assert_eq!(&common_k_curve(&shuffled(&cases, seed), largest, &alpha).unwrap(), &curve);
            prop_assert_eq!(curve.len() as u64, largest);
            prop_assert!(curve.iter().all(|at| at.cases_at_k == curve[0].cases_at_k));
            for pair in curve.windows(2) {
                prop_assert!(pair[0].pass_at_k.mean <= pair[1].pass_at_k.mean);
                prop_assert!(pair[0].pass_hat_k.mean >= pair[1].pass_hat_k.mean);
            }
        }
        // Over all cases the curve is what each k says alone.
        for at in common_k_curve(&cases, common, &alpha).unwrap() {
            prop_assert_eq!(&suite_pass(&cases, at.k, &alpha).unwrap(), &at);
        }
        for k in 1..=most {
            let at = suite_pass(&cases, k, &alpha).unwrap();
            prop_assert_eq!(&suite_pass(&shuffled(&cases, seed), k, &alpha).unwrap(), &at);
            let counted = cases.iter().filter(|case| case.runs >= k).count();
            prop_assert_eq!(at.cases_at_k, counted);
            let mirrored = suite_pass(&failed, k, &alpha).unwrap();
            prop_assert_eq!(rate(1, 1) - &at.pass_at_k.mean, mirrored.pass_hat_k.mean);
            for mean in [&at.pass_at_k, &at.pass_hat_k] {
                match mean.limits {
                    Err(reason) => prop_assert_eq!((reason, counted), (Withheld::TooFewUnits, 1)),
                    Ok(limits) => {
                        let plain = to_f64(&mean.mean);
                        prop_assert!(0.0 <= limits.lower && limits.lower < limits.upper && limits.upper <= 1.0);
                        prop_assert!(limits.lower <= plain && plain <= limits.upper);
                    }
                }
            }
        }
    }

    #[test]
    fn limits_of_shares_mirror(shares in prop::collection::vec(delta(), 2..14)) {
        let shares: Vec<Rational> = shares.iter().map(Signed::abs).collect();
        let failures: Vec<Rational> = shares.iter().map(|share| rate(1, 1) - share).collect();
        for alpha in alphas() {
            let (limits, mirrored) = (padded_share(&shares, &alpha).unwrap(), padded_share(&failures, &alpha).unwrap());
            prop_assert!(close(limits.lower, 1.0 - mirrored.upper) && close(limits.upper, 1.0 - mirrored.lower));
        }
    }

    #[test]
    fn equivalence_has_no_side_and_holds_for_wider_margins(
        deltas in prop::collection::vec(delta(), 0..30), tenths in 1_u64..10
    ) {
        for alpha in alphas() {
            let within = |deltas: &[Rational], tenths: u64| equivalence(deltas, &alpha, &rate(tenths, 10));
            let (shown, mirrored) = (within(&deltas, tenths), within(&negated(&deltas), tenths));
            let Ok(shown) = shown else {
                prop_assert_eq!(mirrored.err(), shown.err());
                continue;
            };
            let (mirrored, wider) = (mirrored.unwrap(), within(&deltas, tenths + 1).unwrap());
            prop_assert_eq!((mirrored.lower, mirrored.equivalent), (-shown.upper, shown.equivalent));
            prop_assert_eq!(shown.equivalent, shown.non_inferior && mirrored.non_inferior);
            prop_assert!(wider.equivalent >= shown.equivalent && wider.non_inferior >= shown.non_inferior);
        }
    }

    #[test]
    fn a_normalized_change_has_the_sign_of_the_lift(with in 0_u64..=10, without in 0_u64..=10) {
        let unit = ArmRates { with: rate(with, 10), without: rate(without, 10) };
        let Some(change) = normalized_change(&unit) else {
            prop_assert!(with == without && (with == 0 || with == 10));
            return Ok(());
        };
        prop_assert_eq!(change.signum(), (&unit.with - &unit.without).signum());
        prop_assert!(change.abs() <= rate(1, 1) && change.abs() >= (&unit.with - &unit.without).abs());
        // Failures in place of passes turn it over.
        let turned = ArmRates { with: rate(10 - with, 10), without: rate(10 - without, 10) };
        prop_assert_eq!(normalized_change(&turned), Some(-change));
    }

    #[test]
    fn two_raters_have_no_order(counts in agreement_tables(), seed in any::<prop::sample::Index>()) {
        let table = AgreementTable::new(counts.clone()).unwrap();
        let swapped = AgreementTable::new(transposed(&counts)).unwrap();
        let renamed = AgreementTable::new(relabelled(&counts, seed)).unwrap();
        let mut mirror_image = counts.clone();
        mirror_image.reverse();
        mirror_image.iter_mut().for_each(|row| row.reverse());
        let mirror_image = AgreementTable::new(mirror_image).unwrap();
        for other in [&swapped, &renamed] {
            prop_assert_eq!(table.kappa(Weights::Identity, 0.05), other.kappa(Weights::Identity, 0.05));
            prop_assert_eq!(table.ac1(0.05), other.ac1(0.05));
            prop_assert_eq!((table.pabak(), table.largest_kappa()), (other.pabak(), other.largest_kappa()));
            prop_assert_eq!(table.null_standard_error(), other.null_standard_error());
        }
        for weights in [Weights::Linear, Weights::Quadratic] {
            prop_assert_eq!(table.kappa(weights, 0.05), swapped.kappa(weights, 0.05));
            prop_assert_eq!(table.kappa(weights, 0.05), mirror_image.kappa(weights, 0.05));
        }
        if let Ok(kappa) = table.kappa(Weights::Identity, 0.05) {
            prop_assert!(kappa.value <= table.largest_kappa().unwrap());
            prop_assert_eq!(&kappa.value, &table.kappa_or_one());
        }
    }

    #[test]
    fn identical_raters_agree_fully(diagonal in prop::collection::vec(1_u64..20, 2..6)) {
        let mut counts = vec![vec![0; diagonal.len()]; diagonal.len()];
        for (class, &items) in diagonal.iter().enumerate() {
            counts[class][class] = items;
        }
        let table = AgreementTable::new(counts).unwrap();
        let one = rate(1, 1);
        for weights in [Weights::Identity, Weights::Linear, Weights::Quadratic] {
            let kappa = table.kappa(weights, 0.05).unwrap();
            prop_assert_eq!((kappa.value, kappa.standard_error), (one.clone(), Ok(0.0)));
        }
        prop_assert_eq!((table.pabak(), table.ac1(0.05).map(|ac1| ac1.value)), (Ok(one.clone()), Ok(one.clone())));
        prop_assert!(table.specific_agreement().into_iter().all(|share| share == Some(one.clone())));
        prop_assert!(table.observed_limits(0.05).unwrap().lower < 1.0);
    }

    #[test]
    fn krippendorffs_alpha_follows_its_items(
        items in rated_items(), seed in any::<prop::sample::Index>(), shift in delta(), scale in 1_u64..50
    ) {
        let plain = rationals(&items, &|rating| rate(rating, 1));
        let inside: Vec<Vec<Rational>> = plain.iter().map(|ratings| shuffled(ratings, seed)).collect();
        let again = shuffled(&inside, seed);
        for metric in [Metric::Nominal, Metric::Ordinal, Metric::Interval, Metric::Ratio] {
            let result = krippendorff_alpha(&plain, metric, 0.05);
            prop_assert_eq!(&krippendorff_alpha(&again, metric, 0.05), &result);
            // A scale changes nothing; a shift does for ratios only.
            let factor = rate(scale, 7);
            let scaled = rationals(&items, &|rating| rate(rating, 1) * &factor);
            prop_assert_eq!(&krippendorff_alpha(&scaled, metric, 0.05), &result);
            if metric != Metric::Ratio {
                let shifted = rationals(&items, &|rating| rate(rating, 1) + &shift);
                prop_assert_eq!(&krippendorff_alpha(&shifted, metric, 0.05), &result);
            }
            if let Ok(result) = result {
                prop_assert!(result.value <= rate(1, 1));
                if let Ok(limits) = result.limits {
                    let value = to_f64(&result.value);
                    prop_assert!(limits.lower < value && value <= limits.upper && limits.upper <= 1.0);
                }
            }
        }
        // Names of classes do not matter on a nominal scale, a monotone map does not on an ordinal one.
        let renamed = rationals(&items, &|rating| rate(rating * 3 % 5, 1));
        let by_name = |items: &[Vec<Rational>]| krippendorff_alpha(items, Metric::Nominal, 0.05);
        prop_assert_eq!(by_name(&renamed), by_name(&plain));
        let squared = rationals(&items, &|rating| rate(rating * rating, 1));
        let by_rank = |items: &[Vec<Rational>]| krippendorff_alpha(items, Metric::Ordinal, 0.05);
        prop_assert_eq!(by_rank(&squared), by_rank(&plain));
    }

    /// By the definition: every pair of ratings of an item against every pair of all ratings.
    #[test]
    fn krippendorffs_alpha_compares_pairs(items in rated_items()) {
        let plain = rationals(&items, &|rating| rate(rating, 1));
        let pairable: Vec<&Vec<u64>> = items.iter().filter(|ratings| ratings.len() >= 2).collect();
        let all: Vec<u64> = pairable.iter().copied().flatten().copied().collect();
        let below = |limit: u64| all.iter().filter(|&&rating| rating < limit).count() as u64;
        let rank = |rating: u64| below(rating) + below(rating + 1);
        let square = |one: u64, other: u64| BigInt::from(one.abs_diff(other)).pow(2);
        for metric in [Metric::Nominal, Metric::Ordinal, Metric::Interval] {
            let distance = |one: u64, other: u64| match metric {
                Metric::Nominal => BigInt::from(u8::from(one != other)),
                Metric::Ordinal => square(rank(one), rank(other)),
                _ => square(one, other),
            };
            let pairs = |ratings: &[u64]| -> BigInt {
                ratings.iter().flat_map(|&one| ratings.iter().map(move |&other| (one, other))).map(|(one, other)| distance(one, other)).sum()
            };
            let expected = pairs(&all);
            let result = krippendorff_alpha(&plain, metric, 0.05);
            if expected == BigInt::from(0) {
                prop_assert_eq!(result.map(|result| result.value), Err(Withheld::NoVariationOrNoPairs));
                continue;
            }
            let observed: Rational = pairable
                .iter()
                .map(|ratings| Rational::new(pairs(ratings), (ratings.len() - 1).into()))
                .sum();
            let value = rate(1, 1) - observed * BigInt::from(all.len() - 1) / expected;
            prop_assert_eq!(result.map(|result| result.value), Ok(value));
        }
    }

    #[test]
    fn fleiss_kappa_follows_its_items(
        items in (2_usize..5).prop_flat_map(|raters| prop::collection::vec(prop::collection::vec(0_u64..4, raters), 1..12)),
        seed in any::<prop::sample::Index>()
    ) {
        let plain = rationals(&items, &|rating| rate(rating, 1));
        let kappa = fleiss_kappa(&plain);
        prop_assert_eq!(&fleiss_kappa(&shuffled(&plain, seed)), &kappa);
        let renamed = rationals(&items, &|rating| rate(rating * 3 % 4, 1));
        prop_assert_eq!(&fleiss_kappa(&renamed), &kappa);
        let raters = rate(items[0].len() as u64 - 1, 1);
        // At most 1, and at least −1/(raters − 1).
        prop_assert!(kappa.is_err() || kappa.is_ok_and(|kappa| kappa <= rate(1, 1) && kappa * raters >= -rate(1, 1)));
    }
}
