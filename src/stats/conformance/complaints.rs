//! What users of other tools complained about in public, as small inputs with the right answers.

use crate::describe;
use crate::interval::paired_t;
use crate::proportion::wilson;
use crate::rational::{Rational, rate, to_f64};
use crate::reliability::pass_estimate;
use crate::suite_reliability::{CaseRuns, suite_pass};
use crate::variance::{UnitSpread, variance_split};
use crate::verdict::{TooFewReason, VerdictCode};
use crate::withheld::Withheld;
use crate::{Thresholds, padded_t, sign_flip, verdict};

fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} {expected}");
}

fn alpha() -> Rational {
    rate(1, 20)
}

#[test]
fn no_run_stands_for_one_that_was_not_made() {
    // two failing runs say nothing of five
    assert_eq!(pass_estimate(2, 0, 5), Err(Withheld::KExceedsRuns));
    // 164 problems with one run each are no 164 runs of one problem
    let runs = |passed| CaseRuns { runs: 1, passed };
    let problems: Vec<CaseRuns> = (0..164).map(|problem| runs(u64::from(problem < 50))).collect();
    near(to_f64(&suite_pass(&problems, 1, &alpha()).unwrap().pass_at_k.mean), 0.3049, 5e-5);
    assert_eq!(suite_pass(&problems, 10, &alpha()), Err(Withheld::KExceedsRuns));
}

#[test]
fn all_of_k_runs_is_no_power_of_a_rate() {
    // C(2, 2) / C(3, 2), and no three of two passing runs
    assert_eq!(pass_estimate(3, 2, 2).unwrap().pass_hat_k_exact(), rate(1, 3));
    assert_eq!(pass_estimate(3, 2, 3).unwrap().pass_hat_k_exact(), rate(0, 1));
}

#[test]
fn spread_of_one_value_is_not_known() {
    near(describe::summary(&[0.96, 1.04]).stddev.unwrap(), 0.0566, 5e-5);
    // the key of version 0.6 keeps its 0; nothing of ours is made of it
    assert_eq!(describe::summary(&[0.96]).stddev, Some(0.0));
    assert_eq!(paired_t(&[rate(24, 25)], &alpha()).err(), Some(Withheld::TooFewUnits));
    let one = UnitSpread { delta: rate(24, 25), noise: None };
    assert_eq!(variance_split(&[one]).err(), Some(Withheld::TooFewUnits));
}

#[test]
fn standard_error_of_a_rare_success_is_not_zero() {
    // sqrt(p (1 − p) / (n − 1)) with p = 14/307
    let outcomes: Vec<Rational> = (0..307).map(|case| rate(u64::from(case < 14), 1)).collect();
    near(paired_t(&outcomes, &alpha()).unwrap().standard_error, 0.011_926, 5e-7);
}

#[test]
fn ten_of_ten_is_no_certainty() {
    let limits = wilson(10, 10, 0.05).unwrap();
    near(limits.lower, 0.722, 5e-4);
    assert_eq!(limits.upper, 1.0);
}

#[test]
fn repetitions_are_no_cases() {
    // five cases whose three runs say the same: t with four degrees of freedom
    let cases = [rate(0, 1), rate(1, 3), rate(1, 3), rate(2, 3), rate(1, 1)];
    let interval = paired_t(&cases, &alpha()).unwrap();
    assert_eq!((interval.n, interval.degrees_of_freedom), (5, 4));
    // scipy.stats.t.interval(0.95, 4, mean, sem) over the five means: half width 2.776445 · 0.169967
    near(interval.upper - interval.mean, 0.471_905, 1e-6);
}

#[test]
fn a_larger_win_never_says_less() {
    let fifths = |values: &[u64]| -> Vec<Rational> { values.iter().map(|fifth| rate(*fifth, 5)).collect() };
    for (deltas, p, reason) in [
        (fifths(&[2, 2, 2]), 0.25, TooFewReason::Structural),
        (fifths(&[2, 2, 5]), 0.25, TooFewReason::Structural),
        (fifths(&[2, 2, 2, 2, 0, 0, 0]), 0.125, TooFewReason::FewCasesMoved),
        (fifths(&[5, 2, 2, 2, 0, 0, 0]), 0.125, TooFewReason::FewCasesMoved),
    ] {
        let test = sign_flip(&deltas);
        assert_eq!(test.p_two_sided, p);
        let interval = padded_t(&deltas, &alpha(), &test);
        assert!(interval.as_ref().is_ok_and(|interval| interval.upper > interval.lower));
        let verdict = verdict(&test, &interval, &Thresholds::default());
        assert_eq!((verdict.code, verdict.reasons.first()), (VerdictCode::TooFewCases, Some(&reason)), "{deltas:?}");
    }
}
