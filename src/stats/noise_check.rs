//! Can these cases tell a lift from noise at all? The check that the later state of the reference package prints beside
//! its intervals: the half width of the sign-flip interval (the *noise floor*) against the room above the baseline.

use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::inversion::InversionInterval;
use crate::rational::Rational;
use crate::verdict::minimum_cases;
use crate::withheld::Withheld;

/// The answer, the first that applies in this order. [`NoiseVerdict::as_str`] is the word written in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoiseVerdict {
    /// There is no case.
    NoData,
    /// So few cases moved that no outcome could have reached alpha.
    TooFewCasesMoved,
    /// The interval has no limits: too few cases, or deltas that are all equal.
    Unbounded,
    /// The noise floor is at least the whole room above the baseline.
    NoiseExceedsHeadroom,
    /// The noise floor is at least the smallest lift that matters.
    NoiseExceedsMinLift,
    /// The cases can tell.
    Resolvable,
}

impl NoiseVerdict {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoData => "no-data",
            Self::TooFewCasesMoved => "too-few-cases-moved",
            Self::Unbounded => "unbounded",
            Self::NoiseExceedsHeadroom => "noise-exceeds-headroom",
            Self::NoiseExceedsMinLift => "noise-exceeds-min-lift",
            Self::Resolvable => "resolvable",
        }
    }
}

/// What a lift is held against.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoiseTargets<'a> {
    /// The mean rate without the skill, where the deltas come from rates; the headroom is what it lacks to 1.
    pub baseline: Option<&'a Rational>,
    /// The smallest lift that matters, where the user named one.
    pub min_lift: Option<&'a Rational>,
}

/// The noise check of one list of deltas, unrounded.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseCheck {
    /// The answer; withheld when it hangs on an interval that is beyond the budget.
    pub verdict: Result<NoiseVerdict, Withheld>,
    /// Cases with a delta.
    pub cases: usize,
    /// Cases whose delta is not 0.
    pub cases_moved: usize,
    /// Cases that must move, all in the same direction, to reach alpha; `None` when alpha is not positive.
    pub cases_needed_for_alpha: Option<usize>,
    /// The smallest two-sided p that the moved cases can give: min(1, 2 / 2^moved).
    pub smallest_achievable_p: f64,
    /// Half the width of the sign-flip interval.
    pub noise_floor: Result<Rational, Withheld>,
    /// 1 − the mean rate without the skill; `None` where there is no such rate.
    pub headroom: Option<Rational>,
    /// The cases at which the noise floor would fall to the target (the smallest lift that matters, else the headroom),
    /// as it falls with the root of the cases; `None` when it has fallen, or when there is no positive target.
    pub projected_cases: Option<u64>,
}

/// Checks `deltas` at the two-sided error rate `alpha`, with the interval that
/// [`inversion_interval`](crate::inversion::inversion_interval) gives for them.
#[must_use]
pub fn noise_check(
    deltas: &[Rational],
    interval: &Result<InversionInterval, Withheld>,
    alpha: &Rational,
    targets: &NoiseTargets<'_>,
) -> NoiseCheck {
    let cases_moved = deltas.iter().filter(|delta| !delta.is_zero()).count();
    let cases_needed_for_alpha = minimum_cases(alpha).map(|minimum| minimum.max(1));
    let noise_floor = interval.as_ref().map(InversionInterval::half_width).map_err(|reason| *reason);
    let headroom = targets.baseline.map(|baseline| Rational::one() - baseline);
    let exceeds = |target: Option<&Rational>| match (&noise_floor, target) {
        (Ok(floor), Some(target)) => floor >= target,
        _ => false,
    };
    let verdict = if deltas.is_empty() {
        Ok(NoiseVerdict::NoData)
    } else if cases_needed_for_alpha.is_none_or(|needed| cases_moved < needed) {
        Ok(NoiseVerdict::TooFewCasesMoved)
    } else if let Err(reason) = noise_floor {
        // A method that did not run says nothing about the cases.
        if reason == Withheld::BeyondExactBudget { Err(reason) } else { Ok(NoiseVerdict::Unbounded) }
    } else if exceeds(headroom.as_ref()) {
        Ok(NoiseVerdict::NoiseExceedsHeadroom)
    } else if exceeds(targets.min_lift) {
        Ok(NoiseVerdict::NoiseExceedsMinLift)
    } else {
        Ok(NoiseVerdict::Resolvable)
    };
    let target = targets.min_lift.or(headroom.as_ref());
    let projected_cases = match (&noise_floor, target) {
        (Ok(floor), Some(target)) if target.is_positive() && floor >= target => {
            let ratio = floor / target;
            (&ratio * &ratio * BigInt::from(deltas.len())).ceil().to_integer().to_u64()
        }
        _ => None,
    };
    NoiseCheck {
        verdict,
        cases: deltas.len(),
        cases_moved,
        cases_needed_for_alpha,
        smallest_achievable_p: (2.0 * 0.5_f64.powi(i32::try_from(cases_moved).unwrap_or(i32::MAX))).min(1.0),
        noise_floor,
        headroom,
        projected_cases,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inversion::inversion_interval;
    use crate::rational::rate;

    fn check(deltas: &[Rational], targets: &NoiseTargets<'_>) -> NoiseCheck {
        let alpha = rate(1, 20);
        noise_check(deltas, &inversion_interval(deltas, &alpha), &alpha, targets)
    }

    /// Eight deltas whose 95 % sign-flip interval is 0 to 3/4 (vector `n8_mixed`).
    fn eight() -> Vec<Rational> {
        [2, 1, -1, 4, 3, 0, 2, 1].iter().map(|&quarters: &i64| Rational::new(quarters.into(), 4.into())).collect()
    }

    #[test]
    fn without_cases_there_is_no_data() {
        let result = check(&[], &NoiseTargets::default());
        assert_eq!((result.verdict, result.cases, result.smallest_achievable_p), (Ok(NoiseVerdict::NoData), 0, 1.0));
        assert_eq!(result.noise_floor, Err(Withheld::TooFewUnits));
        assert_eq!(result.projected_cases, None);
    }

    #[test]
    fn moved_cases_are_counted_before_the_interval_is_looked_at() {
        let mut deltas = vec![rate(1, 1); 5];
        deltas.extend(vec![rate(0, 1); 9]);
        let result = check(&deltas, &NoiseTargets::default());
        assert_eq!(result.verdict, Ok(NoiseVerdict::TooFewCasesMoved));
        assert_eq!((result.cases, result.cases_moved, result.cases_needed_for_alpha), (14, 5, Some(6)));
        assert_eq!(result.smallest_achievable_p, 0.0625);
        assert!(result.noise_floor.is_ok());
    }

    #[test]
    fn equal_deltas_are_unbounded() {
        let result = check(&vec![rate(1, 2); 6], &NoiseTargets::default());
        assert_eq!(result.verdict, Ok(NoiseVerdict::Unbounded));
        assert_eq!(result.noise_floor, Err(Withheld::ConstantDeltas));
    }

    #[test]
    fn the_floor_is_held_against_headroom_then_against_the_lift_that_matters() {
        let (high, low) = (rate(7, 10), rate(1, 2));
        // The floor is 3/8. The headroom is 3/10: (3/8 ÷ 3/10)² · 8 = 12.5 cases would do.
        let result = check(&eight(), &NoiseTargets { baseline: Some(&high), min_lift: None });
        assert_eq!(result.verdict, Ok(NoiseVerdict::NoiseExceedsHeadroom));
        assert_eq!((result.noise_floor, result.headroom), (Ok(rate(3, 8)), Some(rate(3, 10))));
        assert_eq!(result.projected_cases, Some(13));
        // Headroom 1/2 is above the floor; a lift of 1/10 is not: (3/8 ÷ 1/10)² · 8 = 112.5.
        let tenth = rate(1, 10);
        let result = check(&eight(), &NoiseTargets { baseline: Some(&low), min_lift: Some(&tenth) });
        assert_eq!(result.verdict, Ok(NoiseVerdict::NoiseExceedsMinLift));
        assert_eq!(result.projected_cases, Some(113));
        // The user's lift is the target of the projection even where the headroom is the reason.
        let result = check(&eight(), &NoiseTargets { baseline: Some(&high), min_lift: Some(&tenth) });
        assert_eq!((result.verdict, result.projected_cases), (Ok(NoiseVerdict::NoiseExceedsHeadroom), Some(113)));
    }

    #[test]
    fn a_floor_below_both_targets_is_resolvable() {
        let (baseline, min_lift) = (rate(1, 2), rate(2, 5));
        let result = check(&eight(), &NoiseTargets { baseline: Some(&baseline), min_lift: Some(&min_lift) });
        assert_eq!((result.verdict, result.projected_cases), (Ok(NoiseVerdict::Resolvable), None));
        // Without rates there is no headroom to run out of.
        let result = check(&eight(), &NoiseTargets::default());
        assert_eq!((result.verdict, result.headroom), (Ok(NoiseVerdict::Resolvable), None));
    }

    #[test]
    fn a_perfect_baseline_leaves_no_target() {
        let result = check(&eight(), &NoiseTargets { baseline: Some(&rate(1, 1)), min_lift: None });
        assert_eq!(result.verdict, Ok(NoiseVerdict::NoiseExceedsHeadroom));
        assert_eq!(result.projected_cases, None);
    }

    #[test]
    fn an_interval_beyond_the_budget_withholds_the_verdict() {
        let deltas: Vec<Rational> = (0..100_000_u64).map(|unit| rate(unit % 6, 5)).collect();
        let result = check(&deltas, &NoiseTargets::default());
        assert_eq!(result.verdict, Err(Withheld::BeyondExactBudget));
        assert_eq!((result.cases, result.cases_moved), (100_000, 83_333));
        assert_eq!(result.smallest_achievable_p, 0.0);
    }
}
