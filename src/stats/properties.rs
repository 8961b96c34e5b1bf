//! Laws of the sign-flip test and the padded t interval, on random deltas.

mod companions;
mod descriptions;

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;

use crate::interval::{padded_t, padded_t_not_widened};
use crate::rational::{Rational, mean, quotient_to_f64, rate, to_f64};
use crate::reliability::choose;
use crate::sign_flip::{SignFlip, sign_flip};
use crate::verdict::{Thresholds, VerdictCode, minimum_cases, verdict};

/// Deltas in −1..=1 with the denominators of real suites mixed: ties, zeros and lattices of 7 and 10 all occur.
fn delta() -> impl Strategy<Value = Rational> {
    let denominators = prop_oneof![Just(1_i64), Just(2), Just(3), Just(5), Just(7), Just(10), Just(30)];
    denominators.prop_flat_map(|denominator| {
        (-denominator..=denominator).prop_map(move |numerator| Rational::new(numerator.into(), denominator.into()))
    })
}

fn deltas() -> impl Strategy<Value = Vec<Rational>> {
    prop_oneof![
        4 => prop::collection::vec(delta(), 0..24),
        1 => prop::collection::vec(delta(), 120..140),
        1 => prop::collection::vec((-1_i64..=1).prop_map(|sign| Rational::from_integer(sign.into())), 0..40),
    ]
}

fn alphas() -> [Rational; 3] {
    [rate(1, 10), rate(1, 20), rate(1, 100)]
}

fn negated(deltas: &[Rational]) -> Vec<Rational> {
    deltas.iter().map(|delta| -delta).collect()
}

/// The p-values in a form in which equal means the same bytes.
fn p_values(result: &SignFlip) -> [u64; 8] {
    [
        result.p_two_sided,
        result.mid_p,
        result.p_greater,
        result.p_less,
        result.mid_p_greater,
        result.mid_p_less,
        result.floor,
        result.floor_one_sided,
    ]
    .map(f64::to_bits)
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * left.abs().max(right.abs()).max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn swapping_the_arms_mirrors_the_test(deltas in deltas()) {
        let (result, mirrored) = (sign_flip(&deltas), sign_flip(&negated(&deltas)));
        prop_assert_eq!(result.p_two_sided.to_bits(), mirrored.p_two_sided.to_bits());
        prop_assert_eq!(result.p_greater.to_bits(), mirrored.p_less.to_bits());
        prop_assert_eq!(result.mid_p_less.to_bits(), mirrored.mid_p_greater.to_bits());
        prop_assert_eq!(result.improved, mirrored.regressed);
        prop_assert_eq!(result.estimate.map(|estimate| -estimate), mirrored.estimate);
    }

    #[test]
    fn the_order_of_units_changes_nothing(deltas in deltas(), seed in any::<prop::sample::Index>()) {
        let mut shuffled = deltas.clone();
        if !shuffled.is_empty() {
            let middle = seed.index(shuffled.len());
            shuffled.rotate_left(middle);
            shuffled[..middle].reverse();
        }
        let (result, again) = (sign_flip(&deltas), sign_flip(&shuffled));
        prop_assert_eq!(&result, &again);
        let alpha = rate(1, 20);
        prop_assert_eq!(padded_t(&deltas, &alpha, &result), padded_t(&shuffled, &alpha, &again));
    }

    #[test]
    fn a_positive_scale_changes_no_p(deltas in deltas(), numerator in 1_u64..50, denominator in 1_u64..50) {
        let scale = rate(numerator, denominator);
        let scaled: Vec<Rational> = deltas.iter().map(|delta| delta * &scale).collect();
        prop_assert_eq!(p_values(&sign_flip(&deltas)), p_values(&sign_flip(&scaled)));
    }

    #[test]
    fn units_that_did_not_move_change_no_p(deltas in deltas(), zeros in 0_usize..30) {
        let mut longer = deltas.clone();
        longer.extend(std::iter::repeat_n(Rational::zero(), zeros));
        let (result, again) = (sign_flip(&deltas), sign_flip(&longer));
        prop_assert_eq!(p_values(&result), p_values(&again));
        prop_assert_eq!(result.moved, again.moved);
        prop_assert_eq!(result.counts, again.counts);
    }

    #[test]
    fn the_p_values_fit_together(deltas in deltas()) {
        let result = sign_flip(&deltas);
        prop_assert!(result.p_two_sided >= result.floor);
        prop_assert!(result.mid_p <= result.p_two_sided);
        prop_assert!(close(result.p_two_sided, (2.0 * result.p_greater.min(result.p_less)).min(1.0)));
        if let Some(counts) = &result.counts {
            prop_assert_eq!(&counts.greater + &counts.less, &counts.total + &counts.equal);
            let smaller = (&counts.greater).min(&counts.less) * 2_u32;
            prop_assert_eq!(&counts.two_sided, &smaller.min(counts.total.clone()));
            let share = Rational::new(counts.two_sided.clone().into(), counts.total.clone().into());
            prop_assert!(result.at_most(&share));
        }
    }

    #[test]
    fn a_larger_delta_never_weakens_the_case_for_help(
        deltas in prop::collection::vec(delta(), 1..16), at in any::<prop::sample::Index>(), more in delta()
    ) {
        let before = sign_flip(&deltas);
        let mut raised = deltas.clone();
        let index = at.index(raised.len());
        raised[index] += more.abs();
        prop_assert!(sign_flip(&raised).p_greater <= before.p_greater);
    }

    #[test]
    fn signs_alone_give_mcnemars_test(up in 0_u64..30, down in 0_u64..30) {
        let mut deltas = vec![Rational::one(); usize::try_from(up).unwrap()];
        deltas.extend(vec![-Rational::one(); usize::try_from(down).unwrap()]);
        let moved = up + down;
        let tail: BigUint = (0..=up.min(down)).map(|count| choose(moved, count)).sum::<BigUint>() * 2_u32;
        let total = BigUint::one() << moved;
        let expected = quotient_to_f64(&tail.min(total.clone()), &total);
        prop_assert_eq!(sign_flip(&deltas).p_two_sided.to_bits(), expected.to_bits());
    }

    #[test]
    fn twice_the_unanimous_units_lower_the_p(deltas in prop::collection::vec(delta(), 1..20)) {
        let same_sign: Vec<Rational> = deltas.iter().map(Signed::abs).filter(|delta| !delta.is_zero()).collect();
        prop_assume!(!same_sign.is_empty());
        let doubled: Vec<Rational> = same_sign.iter().chain(&same_sign).cloned().collect();
        prop_assert!(sign_flip(&doubled).p_two_sided < sign_flip(&same_sign).p_two_sided);
    }

    #[test]
    fn the_padded_interval_keeps_its_promises(deltas in deltas()) {
        prop_assume!(deltas.len() >= 2);
        let test = sign_flip(&deltas);
        let plain = to_f64(&mean(&deltas).unwrap());
        let mut wider: Option<(f64, f64)> = None;
        for alpha in alphas() {
            let interval = padded_t(&deltas, &alpha, &test).unwrap();
            prop_assert!(interval.lower <= plain && plain <= interval.upper);
            prop_assert!(interval.upper > interval.lower);
            prop_assert!((plain - interval.center).abs() <= interval.standard_error * (1.0 + 1e-12));
            prop_assert!(test.at_most(&alpha) || interval.contains_zero());
            // A smaller alpha gives an interval around the one before.
            if let Some((lower, upper)) = wider {
                prop_assert!(interval.lower <= lower && upper <= interval.upper);
            }
            wider = Some((interval.lower, interval.upper));
        }
    }

    #[test]
    fn swapping_the_arms_mirrors_the_interval(deltas in deltas()) {
        prop_assume!(deltas.len() >= 2);
        let alpha = rate(1, 20);
        let interval = padded_t(&deltas, &alpha, &sign_flip(&deltas)).unwrap();
        let other = negated(&deltas);
        let mirrored = padded_t(&other, &alpha, &sign_flip(&other)).unwrap();
        prop_assert_eq!(interval.lower, -mirrored.upper);
        prop_assert_eq!(interval.upper, -mirrored.lower);
    }

    #[test]
    fn the_interval_scales_before_clipping(deltas in deltas(), numerator in 1_u64..50, denominator in 1_u64..50) {
        prop_assume!(deltas.len() >= 2 && deltas.iter().any(|delta| !delta.is_zero()));
        let (alpha, scale) = (rate(1, 20), rate(numerator, denominator));
        let scaled: Vec<Rational> = deltas.iter().map(|delta| delta * &scale).collect();
        let (interval, stretched) =
            (padded_t_not_widened(&deltas, &alpha).unwrap(), padded_t_not_widened(&scaled, &alpha).unwrap());
        let factor = to_f64(&scale);
        prop_assert!(close(interval.lower_unclipped * factor, stretched.lower_unclipped));
        prop_assert!(close(interval.upper_unclipped * factor, stretched.upper_unclipped));
    }

    #[test]
    fn equal_deltas_exclude_zero_exactly_when_the_test_can_reject(n in 2_usize..40, numerator in 1_u64..=10) {
        let deltas = vec![rate(numerator, 10); n];
        let test = sign_flip(&deltas);
        for alpha in alphas() {
            let interval = padded_t_not_widened(&deltas, &alpha).unwrap();
            prop_assert_eq!(interval.contains_zero(), n < minimum_cases(&alpha).unwrap());
            prop_assert_eq!(test.at_most(&alpha), n >= minimum_cases(&alpha).unwrap());
        }
    }

    #[test]
    fn every_suite_gets_one_verdict_with_its_reasons(deltas in deltas(), tenths in 1_u64..=10) {
        let thresholds = Thresholds::new(rate(1, 20), rate(tenths, 10)).unwrap();
        let test = sign_flip(&deltas);
        let outcome = verdict(&test, &padded_t(&deltas, thresholds.alpha(), &test), &thresholds);
        let significant = test.at_most(thresholds.alpha());
        prop_assert_eq!(outcome.code == VerdictCode::NothingPaired, deltas.is_empty());
        prop_assert_eq!(matches!(outcome.code, VerdictCode::Helps | VerdictCode::Harms), significant);
        prop_assert_eq!(outcome.code == VerdictCode::TooFewCases, !outcome.reasons.is_empty());
        prop_assert!(significant || !(outcome.size_uncertain || outcome.negligible));
        let total: Rational = deltas.iter().sum();
        prop_assert!(outcome.code != VerdictCode::Helps || total > Rational::zero());
        prop_assert!(outcome.code != VerdictCode::Harms || total < Rational::zero());
    }

    #[test]
    fn an_f64_and_its_rational_are_the_same_number(value in any::<f64>()) {
        match crate::rational::from_f64(value) {
            Some(exact) => prop_assert_eq!(to_f64(&exact), value),
            None => prop_assert!(!value.is_finite()),
        }
    }

    #[test]
    fn division_rounds_like_the_hardware(numerator in -(1_i64 << 53)..(1_i64 << 53), denominator in 1_i64..(1_i64 << 53)) {
        let exact = Rational::new(BigInt::from(numerator), BigInt::from(denominator));
        prop_assert_eq!(to_f64(&exact), numerator as f64 / denominator as f64);
    }
}
