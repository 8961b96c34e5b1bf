//! The permutation test against plain enumeration, its laws on random strata, and its limits.

use proptest::prelude::*;

use super::*;
use crate::rational::{from_f64, mean, rate};
use crate::reliability::choose;
use crate::sign_flip::sign_flip;

type Arms = (Vec<Rational>, Vec<Rational>);

fn test(strata: &[Arms]) -> Result<PermutationTest, Withheld> {
    let strata: Vec<Stratum<'_>> = strata.iter().map(|(with, without)| Stratum { with, without }).collect();
    permutation_test(&strata)
}

/// A case with so many passed runs of so many per arm.
fn passes(with: usize, without: usize, runs: usize) -> Arms {
    let arm = |passed: usize| (0..runs).map(|run| rate(u64::from(run < passed), 1)).collect();
    (arm(with), arm(without))
}

/// All sums of mean differences, one per labeling.
fn enumerated(strata: &[Arms]) -> Vec<Rational> {
    let mut sums = vec![Rational::zero()];
    for (with, without) in strata {
        let pooled: Vec<&Rational> = with.iter().chain(without).collect();
        let labelings = (0_u32..1 << pooled.len()).filter(|bits| bits.count_ones() as usize == with.len());
        let differences: Vec<Rational> = labelings
            .map(|bits| {
                let arm = |chosen: u32| -> Vec<Rational> {
                    let runs = pooled.iter().enumerate().filter(|(run, _)| bits >> run & 1 == chosen);
                    runs.map(|(_, rate)| (*rate).clone()).collect()
                };
                mean(&arm(1)).unwrap() - mean(&arm(0)).unwrap()
            })
            .collect();
        sums = sums.iter().flat_map(|sum| differences.iter().map(move |difference| sum + difference)).collect();
    }
    sums
}

fn run() -> impl Strategy<Value = Rational> {
    prop_oneof![
        4 => (0_u64..=1).prop_map(|passed| rate(passed, 1)),
        2 => (0_u64..=4).prop_map(|passed| rate(passed, 4)),
        1 => (0_u64..=7).prop_map(|passed| rate(passed, 7)),
        1 => (0.0_f64..1.0).prop_map(|score| from_f64(score).unwrap()),
    ]
}

fn arms() -> impl Strategy<Value = Arms> {
    (prop::collection::vec(run(), 1..4), prop::collection::vec(run(), 1..4))
}

fn suite() -> impl Strategy<Value = Vec<Arms>> {
    prop::collection::vec(arms(), 1..4)
}

fn p_values(result: &PermutationTest) -> [u64; 5] {
    [result.p_two_sided, result.p_greater, result.p_less, result.mid_p, result.floor].map(f64::to_bits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn counts_equal_plain_enumeration(suite in suite()) {
        let result = test(&suite).unwrap();
        let sums = enumerated(&suite);
        let observed: Rational =
            suite.iter().map(|(with, without)| mean(with).unwrap() - mean(without).unwrap()).sum();
        let count = |hit: &dyn Fn(&Rational) -> bool| BigUint::from(sums.iter().filter(|sum| hit(sum)).count());
        prop_assert_eq!(&result.counts.total, &BigUint::from(sums.len()));
        prop_assert_eq!(&result.counts.two_sided, &count(&|sum| sum.abs() >= observed.abs()));
        prop_assert_eq!(&result.counts.two_sided_strict, &count(&|sum| sum.abs() > observed.abs()));
        prop_assert_eq!(&result.counts.greater, &count(&|sum| *sum >= observed));
        prop_assert_eq!(&result.counts.less, &count(&|sum| *sum <= observed));
        prop_assert_eq!(&result.counts.equal, &count(&|sum| *sum == observed));
        let farthest = sums.iter().map(Signed::abs).max().unwrap();
        let fewest = count(&|sum| sum.abs() == farthest);
        prop_assert_eq!(result.floor.to_bits(), quotient_to_f64(&fewest, &result.counts.total).to_bits());
        prop_assert_eq!(result.statistic(), observed);
    }

    #[test]
    fn swapping_the_arms_mirrors_the_test(suite in suite()) {
        let swapped: Vec<Arms> = suite.iter().map(|(with, without)| (without.clone(), with.clone())).collect();
        let (result, mirrored) = (test(&suite).unwrap(), test(&swapped).unwrap());
        prop_assert_eq!(&result.counts.two_sided, &mirrored.counts.two_sided);
        prop_assert_eq!(&result.counts.greater, &mirrored.counts.less);
        prop_assert_eq!(result.floor.to_bits(), mirrored.floor.to_bits());
        prop_assert_eq!(result.mean_delta, -mirrored.mean_delta);
    }

    #[test]
    fn the_order_of_strata_and_runs_changes_nothing(suite in suite(), at in any::<prop::sample::Index>()) {
        let mut shuffled = suite.clone();
        let middle = at.index(suite.len());
        shuffled.rotate_left(middle);
        for (with, without) in &mut shuffled {
            with.reverse();
            without.sort();
        }
        prop_assert_eq!(test(&suite), test(&shuffled));
    }

    #[test]
    fn saturated_strata_shifts_and_scales_change_no_p(suite in suite(), level in run(), scale in 1_u64..9) {
        let result = test(&suite).unwrap();
        let mut longer = suite.clone();
        longer.push((vec![level.clone(); 3], vec![level.clone(); 2]));
        prop_assert_eq!(p_values(&test(&longer).unwrap()), p_values(&result));
        let moved = |rates: &[Rational]| -> Vec<Rational> {
            rates.iter().map(|value| (value + &level) * rate(scale, 7)).collect()
        };
        let moved: Vec<Arms> = suite.iter().map(|(with, without)| (moved(with), moved(without))).collect();
        prop_assert_eq!(test(&moved).unwrap().counts, result.counts);
    }

    #[test]
    fn one_run_per_arm_is_the_sign_flip_test(pairs in prop::collection::vec((run(), run()), 1..30)) {
        let deltas: Vec<Rational> = pairs.iter().map(|(with, without)| with - without).collect();
        let suite: Vec<Arms> = pairs.into_iter().map(|(with, without)| (vec![with], vec![without])).collect();
        let (result, flips) = (test(&suite).unwrap(), sign_flip(&deltas));
        prop_assert_eq!(p_values(&result), [
            flips.p_two_sided, flips.p_greater, flips.p_less, flips.mid_p, flips.floor,
        ].map(f64::to_bits));
        prop_assert_eq!(Some(result.mean_delta), flips.estimate);
        prop_assert_eq!(result.informative, flips.moved);
    }
}

#[test]
fn strata_without_both_arms_are_left_out() {
    assert_eq!(permutation_test(&[]), Err(Withheld::NoEligiblePairs));
    let half = (vec![rate(1, 1)], Vec::new());
    assert_eq!(test(std::slice::from_ref(&half)), Err(Withheld::NoEligiblePairs));
    let full = passes(3, 0, 3);
    let (alone, beside) = (test(std::slice::from_ref(&full)), test(&[half, full.clone()]));
    assert_eq!(alone, beside);
    let result = alone.unwrap();
    assert_eq!((result.strata, result.informative, result.runs_with, result.runs_without), (1, 1, 3, 3));
}

#[test]
fn equal_rates_give_a_p_of_one() {
    let result = test(&[passes(4, 4, 4), passes(0, 0, 2)]).unwrap();
    assert_eq!((result.p_two_sided, result.p_greater, result.p_less, result.floor), (1.0, 1.0, 1.0, 1.0));
    assert_eq!((result.informative, result.mean_delta_f64()), (0, 0.0));
    assert_eq!(result.counts.total, BigUint::from(70_u32 * 6));
}

#[test]
fn alpha_equal_to_the_p_is_significant() {
    let result = test(&[passes(3, 0, 3)]).unwrap();
    assert!(result.at_most(&rate(1, 10)) && !result.at_most(&rate(99, 1000)));
    assert!(result.greater_at_most(&rate(1, 20)) && !result.less_at_most(&rate(99, 100)));
}

/// The arms of a case with a rate for every run, as tenths.
fn tenths(runs: u64, with: impl Fn(u64) -> u64, without: impl Fn(u64) -> u64) -> Arms {
    ((0..runs).map(|run| rate(with(run), 10)).collect(), (0..runs).map(|run| rate(without(run), 10)).collect())
}

/// Expected values from a plain convolution in Python integers: two-sided, greater, less, floor.
fn assert_p_values(suite: &[Arms], expected: [f64; 4]) {
    let result = test(suite).unwrap();
    assert_eq!([result.p_two_sided, result.p_greater, result.p_less, result.floor], expected);
}

#[test]
fn hundreds_of_cases_are_exact() {
    let suite: Vec<Arms> = (0..300).map(|case| passes(3 + case % 3, 2 + case % 4, 5)).collect();
    assert_p_values(
        &suite,
        [2.815_147_220_268_999e-10, 1.407_573_610_134_499_4e-10, 0.999_999_999_919_098_3, 1.325_928_746_415_806_7e-286],
    );
    let graded = |case: u64| {
        let levels = 3 + case % 5;
        tenths(5, move |run| (case * 7 + run * 13) % levels, move |run| (case * 3 + run * 5) % levels)
    };
    let suite: Vec<Arms> = (0..80).map(graded).collect();
    assert_p_values(
        &suite,
        [0.004_175_553_030_282_946_5, 0.002_087_776_515_141_473_3, 0.998_203_161_173_744_3, 7.907_523_619_910_25e-156],
    );
}

#[test]
fn hundreds_of_runs_are_exact() {
    assert_p_values(
        &[tenths(68, |run| run % 4 + 1, |run| run * run % 5)],
        [0.044_466_388_977_040_71, 0.022_233_194_488_520_354, 0.983_366_490_869_853_7, 6.538_125_492_430_571e-36],
    );
    // C(400, 200) labelings, one of them this clean.
    let result = test(&[passes(200, 0, 200)]).unwrap();
    assert_eq!((result.counts.greater, result.counts.total), (BigUint::one(), choose(400, 200)));
    assert!(result.p_two_sided > 0.0 && result.p_two_sided < 1e-118);
}

#[test]
fn scores_without_a_lattice_are_exact_for_few_cases() {
    let score = |seed: i32| from_f64(f64::from(seed).sin().abs()).unwrap();
    let case = |case: i32| -> Arms {
        (
            (0..3).map(|run| score(case * 7 + run) + rate(1, 1)).collect(),
            (3..6).map(|run| score(case * 7 + run)).collect(),
        )
    };
    let clean = |cases: i32| test(&(1..=cases).map(case).collect::<Vec<_>>());
    assert_eq!(clean(6).unwrap().p_two_sided, 2.0 * 20.0_f64.powi(-6));
    assert_eq!(clean(40), Err(Withheld::BeyondExactBudget));
    // Too fine for any machine integer.
    let tiny = from_f64(1e-300).unwrap();
    assert_eq!(test(&[(vec![tiny], vec![rate(1, 1)])]), Err(Withheld::BeyondExactBudget));
}

#[test]
fn a_suite_beyond_the_budget_is_withheld_at_once() {
    let suite: Vec<Arms> = (0..10_000).map(|case| passes(3 + case % 3, 2 + case % 4, 5)).collect();
    assert_eq!(test(&suite), Err(Withheld::BeyondExactBudget));
}
