//! pass@k and pass^k of a suite in one arm: the mean over its cases, each weighing the same.
//!
//! A case counts at k only when it has k runs; nothing is extrapolated. As the cases then change with k, a curve is drawn
//! over those that have runs enough for all of it, which makes it monotone.

use std::collections::{BTreeMap, BTreeSet};

use crate::interval::padded_share;
use crate::proportion::ShareInterval;
use crate::rational::{Rational, mean};
use crate::reliability::{PassEstimate, pass_estimate, pass_estimates};
use crate::withheld::Withheld;

/// Word updates that the exact means may take.
const UPDATE_BUDGET: u128 = 200_000_000;

/// The runs of one case in one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseRuns {
    /// All runs.
    pub runs: u64,
    /// Runs that passed.
    pub passed: u64,
}

/// Both chances at one k.
#[derive(Debug, Clone, PartialEq)]
pub struct SuitePass {
    /// How many runs the chances speak about.
    pub k: u64,
    /// Cases behind the means: those with at least as many runs as asked for.
    pub cases_at_k: usize,
    /// Chance that at least one of k runs passes, mean over cases.
    pub pass_at_k: SuiteMean,
    /// Chance that all k runs pass, mean over cases.
    pub pass_hat_k: SuiteMean,
}

/// A mean over cases, exact, in 0..=1.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteMean {
    /// The mean.
    pub mean: Rational,
    /// Padded t limits, see [`padded_share`]. Withheld with one case (`too_few_units`).
    pub limits: Result<ShareInterval, Withheld>,
}

/// The means at `k` over the cases with at least k runs, with limits at two-sided error rate `alpha` (0 < alpha < 1).
///
/// # Errors
///
/// [`Withheld::InvalidCounts`] for a case with more passed runs than runs, [`Withheld::NoRuns`] when no case has a run,
/// [`Withheld::KBelowOne`], [`Withheld::KExceedsRuns`] when no case has k runs, [`Withheld::BeyondExactBudget`] for very
/// many runs a case.
pub fn suite_pass(cases: &[CaseRuns], k: u64, alpha: &Rational) -> Result<SuitePass, Withheld> {
    let cases = with_runs_for(cases, k)?;
    within_reach(&cases, 1)?;
    let mut estimates = BTreeMap::new();
    for case in &cases {
        if !estimates.contains_key(case) {
            estimates.insert(*case, pass_estimate(case.runs, case.passed, k)?);
        }
    }
    Ok(at_k(k, &cases, &estimates, alpha))
}

/// The largest k for which every case with runs counts: their smallest number of runs. `None` when no case has a run.
#[must_use]
pub fn common_k(cases: &[CaseRuns]) -> Option<u64> {
    cases.iter().map(|case| case.runs).filter(|&runs| runs > 0).min()
}

/// The means at every k from 1 to `largest_k` over the same cases: those with at least `largest_k` runs. pass@k never falls
/// along the curve and pass^k never rises.
///
/// # Errors
///
/// As [`suite_pass`] at `largest_k`.
pub fn common_k_curve(cases: &[CaseRuns], largest_k: u64, alpha: &Rational) -> Result<Vec<SuitePass>, Withheld> {
    let cases = with_runs_for(cases, largest_k)?;
    within_reach(&cases, largest_k)?;
    let mut sources = BTreeMap::new();
    for case in &cases {
        if !sources.contains_key(case) {
            sources.insert(*case, pass_estimates(case.runs, case.passed)?);
        }
    }
    let curve = (1..=largest_k).map(|k| {
        let next = sources.iter_mut().filter_map(|(case, source)| Some((*case, source.next()?)));
        at_k(k, &cases, &next.collect(), alpha)
    });
    Ok(curve.collect())
}

fn with_runs_for(cases: &[CaseRuns], k: u64) -> Result<Vec<CaseRuns>, Withheld> {
    if cases.iter().any(|case| case.passed > case.runs) {
        return Err(Withheld::InvalidCounts);
    }
    if cases.iter().all(|case| case.runs == 0) {
        return Err(Withheld::NoRuns);
    }
    if k < 1 {
        return Err(Withheld::KBelowOne);
    }
    let enough: Vec<CaseRuns> = cases.iter().copied().filter(|case| case.runs >= k).collect();
    if enough.is_empty() { Err(Withheld::KExceedsRuns) } else { Ok(enough) }
}

/// Withholds what would take too long, before anything is computed.
fn within_reach(cases: &[CaseRuns], steps: u64) -> Result<(), Withheld> {
    let numbers: BTreeSet<u64> = cases.iter().map(|case| case.runs).collect();
    let most = u128::from(numbers.last().copied().unwrap_or(0));
    let words = most / 64 + 1;
    let kinds = cases.iter().collect::<BTreeSet<_>>().len() as u128;
    // A quotient a case, and a common denominator of all numbers of runs if they differ; at one k also the binomials.
    let quotients = (cases.len() as u128).saturating_mul(words.saturating_mul(words));
    let divisors = if numbers.len() > 1 { numbers.len() as u128 } else { 0 };
    let long = most.saturating_mul(words);
    let a_step = quotients.saturating_add(long.saturating_mul(divisors));
    let all = a_step.saturating_mul(steps.into()).saturating_add(long.saturating_mul(kinds));
    if all > UPDATE_BUDGET { Err(Withheld::BeyondExactBudget) } else { Ok(()) }
}

fn at_k(k: u64, cases: &[CaseRuns], estimates: &BTreeMap<CaseRuns, PassEstimate>, alpha: &Rational) -> SuitePass {
    let shares: BTreeMap<CaseRuns, [Rational; 2]> =
        estimates.iter().map(|(case, estimate)| (*case, estimate.over_all_choices())).collect();
    let [pass_at_k, pass_hat_k] = [0, 1].map(|which| {
        let of_cases: Vec<Rational> = cases.iter().filter_map(|case| Some(shares.get(case)?[which].clone())).collect();
        SuiteMean {
            // There is a case.
            mean: mean(&of_cases).unwrap_or_default(),
            limits: padded_share(&of_cases, alpha),
        }
    });
    SuitePass { k, cases_at_k: cases.len(), pass_at_k, pass_hat_k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    fn runs(runs: u64, passed: u64) -> CaseRuns {
        CaseRuns { runs, passed }
    }

    #[test]
    fn only_cases_with_enough_runs_count() {
        let (alpha, cases) = (rate(1, 20), [runs(3, 2), runs(1, 1), runs(0, 0), runs(4, 1)]);
        // pass@1: 2/3, 1, 1/4; pass@2: 1 − 0/3 and 1 − 3/6; pass^2: 1/3 and 0.
        let one = suite_pass(&cases, 1, &alpha).unwrap();
        assert_eq!((one.cases_at_k, one.pass_at_k.mean.clone()), (3, rate(23, 36)));
        assert_eq!(one.pass_at_k, one.pass_hat_k);
        let two = suite_pass(&cases, 2, &alpha).unwrap();
        assert_eq!((two.cases_at_k, two.pass_at_k.mean, two.pass_hat_k.mean), (2, rate(3, 4), rate(1, 6)));
        let four = suite_pass(&cases, 4, &alpha).unwrap();
        assert_eq!((four.cases_at_k, four.pass_at_k.limits), (1, Err(Withheld::TooFewUnits)));
        assert_eq!(suite_pass(&cases, 5, &alpha), Err(Withheld::KExceedsRuns));
        assert_eq!(common_k(&cases), Some(1));
    }

    #[test]
    fn what_has_no_answer_is_withheld() {
        let alpha = rate(1, 20);
        for (cases, k, reason) in [
            (vec![], 1, Withheld::NoRuns),
            (vec![runs(0, 0)], 1, Withheld::NoRuns),
            (vec![runs(1, 2)], 1, Withheld::InvalidCounts),
            (vec![runs(2, 1)], 0, Withheld::KBelowOne),
            (vec![runs(2, 1)], 3, Withheld::KExceedsRuns),
            (vec![runs(u64::MAX, 1); 2], u64::MAX, Withheld::BeyondExactBudget),
        ] {
            assert_eq!(suite_pass(&cases, k, &alpha), Err(reason));
            assert_eq!(common_k_curve(&cases, k, &alpha), Err(reason));
        }
        assert_eq!(common_k(&[]), None);
    }

    /// Shares 0 and 1 with the pads 0 and 1: centre ½, s² = 4·¼/3, se = √(1/12), t(0.75, 1) = 1; and at 95 % the limits
    /// leave 0..=1.
    #[test]
    fn limits_by_hand() {
        let cases = [runs(2, 0), runs(2, 2)];
        let limits = suite_pass(&cases, 1, &rate(1, 2)).unwrap().pass_at_k.limits.unwrap();
        let half_width = (1.0_f64 / 12.0).sqrt();
        assert!((limits.lower - (0.5 - half_width)).abs() < 1e-13, "{limits:?}");
        assert!((limits.upper - (0.5 + half_width)).abs() < 1e-13, "{limits:?}");
        let wide = suite_pass(&cases, 1, &rate(1, 20)).unwrap().pass_at_k.limits;
        assert_eq!(wide, Ok(ShareInterval { lower: 0.0, upper: 1.0 }));
    }

    #[test]
    fn twenty_passing_cases_could_still_fail() {
        let result = suite_pass(&[runs(3, 3); 20], 3, &rate(1, 20)).unwrap();
        let limits = result.pass_hat_k.limits.unwrap();
        assert_eq!((result.pass_hat_k.mean, limits.upper), (rate(1, 1), 1.0));
        // One pseudo-case of 22 at 0: centre 21/22, s² = 21/22/21 = 1/22, se = 1/22, t(0.975, 19) = 2.0930…
        assert!((limits.lower - (21.0 - 2.093_024_054_408_263) / 22.0).abs() < 1e-12, "{limits:?}");
    }
}
