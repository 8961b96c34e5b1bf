//! The verdict: what may be said about the lift, from the exact p and the padded t interval.
//!
//! "Not significant" is never "no effect": no evidence of a lift is only claimed when the interval excludes every
//! lift that would matter. There is no power computed after the fact (Hoenig & Heisey 2001 *Am. Stat.* 55:19).

use num_bigint::BigInt;
use num_traits::{One, Signed};

use crate::interval::PaddedT;
use crate::rational::{Rational, to_f64};
use crate::sign_flip::{Direction, SignFlip};
use crate::withheld::Withheld;

/// The main answer. [`VerdictCode::as_str`] is the word written in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerdictCode {
    /// The skill helps: p ≤ alpha and the mean is above 0.
    Helps,
    /// The skill harms: p ≤ alpha and the mean is below 0.
    Harms,
    /// Any average effect is smaller than the smallest lift that matters.
    NoEvidence,
    /// The cases cannot tell.
    TooFewCases,
    /// There is no pair to compare.
    NothingPaired,
}

impl VerdictCode {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Helps => "helps",
            Self::Harms => "harms",
            Self::NoEvidence => "no_evidence",
            Self::TooFewCases => "too_few_cases",
            Self::NothingPaired => "nothing_paired",
        }
    }
}

/// Why the cases cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TooFewReason {
    /// With so few units no outcome could have reached alpha.
    Structural,
    /// So few units changed that their outcome could not have reached alpha.
    FewCasesMoved,
    /// The interval still contains a lift that would matter.
    IntervalWide,
}

impl TooFewReason {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Structural => "structural",
            Self::FewCasesMoved => "few_cases_moved",
            Self::IntervalWide => "interval_wide",
        }
    }
}

/// What the user asked for, validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thresholds {
    alpha: Rational,
    min_lift: Rational,
}

impl Thresholds {
    /// Takes the two-sided error rate (0 < alpha < 1) and the smallest lift that matters (0 < min_lift ≤ 1);
    /// `None` when either is out of range.
    #[must_use]
    pub fn new(alpha: Rational, min_lift: Rational) -> Option<Self> {
        let one = Rational::one();
        let valid = alpha.is_positive() && alpha < one && min_lift.is_positive() && min_lift <= one;
        valid.then_some(Self { alpha, min_lift })
    }

    /// The two-sided error rate.
    #[must_use]
    pub const fn alpha(&self) -> &Rational {
        &self.alpha
    }

    /// The smallest mean delta that matters to the user.
    #[must_use]
    pub const fn min_lift(&self) -> &Rational {
        &self.min_lift
    }
}

impl Default for Thresholds {
    /// alpha 1/20 and min_lift 1/10.
    fn default() -> Self {
        Self {
            alpha: Rational::new(BigInt::one(), BigInt::from(20)),
            min_lift: Rational::new(BigInt::one(), BigInt::from(10)),
        }
    }
}

/// The verdict with its qualifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The main answer.
    pub code: VerdictCode,
    /// Helps or harms, yet the interval of the average still contains 0.
    pub size_uncertain: bool,
    /// Helps or harms, yet by less than the smallest lift that matters.
    pub negligible: bool,
    /// For too few cases: every reason that applies, the leading one first. Empty otherwise.
    pub reasons: Vec<TooFewReason>,
}

/// Decides from the test and the interval of the same deltas.
#[must_use]
pub fn verdict(test: &SignFlip, interval: &Result<PaddedT, Withheld>, thresholds: &Thresholds) -> Verdict {
    let mut verdict =
        Verdict { code: VerdictCode::NothingPaired, size_uncertain: false, negligible: false, reasons: Vec::new() };
    if test.n == 0 {
        return verdict;
    }
    let min_lift = to_f64(&thresholds.min_lift);
    let interval = interval.as_ref().ok();
    if test.at_most(&thresholds.alpha) {
        let harms = test.direction == Direction::Worse;
        verdict.code = if harms { VerdictCode::Harms } else { VerdictCode::Helps };
        verdict.size_uncertain = interval.is_some_and(PaddedT::contains_zero);
        verdict.negligible =
            interval.is_some_and(|interval| if harms { interval.lower > -min_lift } else { interval.upper < min_lift });
        return verdict;
    }
    let minimum = minimum_cases(&thresholds.alpha);
    let reachable = |units: usize| minimum.is_some_and(|minimum| units >= minimum);
    let narrow = interval.is_some_and(|interval| interval.lower > -min_lift && interval.upper < min_lift);
    if reachable(test.n) && narrow {
        verdict.code = VerdictCode::NoEvidence;
        return verdict;
    }
    verdict.code = VerdictCode::TooFewCases;
    if !reachable(test.n) {
        verdict.reasons.push(TooFewReason::Structural);
    }
    if !reachable(test.moved) {
        verdict.reasons.push(TooFewReason::FewCasesMoved);
    }
    if interval.is_some() && !narrow {
        verdict.reasons.push(TooFewReason::IntervalWide);
    }
    verdict
}

/// The smallest number of units whose unanimous outcome reaches the two-sided error rate `alpha`: 6 at 0.05, 8 at
/// 0.01, 5 at 0.10. `None` when alpha is not positive.
#[must_use]
pub fn minimum_cases(alpha: &Rational) -> Option<usize> {
    smallest_power(&(alpha / BigInt::from(2)))
}

/// The same for a one-sided test: 5 at 0.05, 7 at 0.01, 4 at 0.10.
#[must_use]
pub fn minimum_cases_one_sided(alpha: &Rational) -> Option<usize> {
    smallest_power(alpha)
}

/// The smallest n ≥ 1 with 2^−n ≤ `chance`.
fn smallest_power(chance: &Rational) -> Option<usize> {
    if !chance.is_positive() {
        return None;
    }
    let mut count = 1;
    let mut power = BigInt::from(2);
    while &power * chance.numer() < *chance.denom() {
        power *= 2;
        count += 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::padded_t;
    use crate::rational::rate;
    use crate::sign_flip::sign_flip;

    fn judge(deltas: &[Rational], min_lift: Rational) -> Verdict {
        let thresholds = Thresholds::new(rate(1, 20), min_lift).unwrap();
        let test = sign_flip(deltas);
        verdict(&test, &padded_t(deltas, thresholds.alpha(), &test), &thresholds)
    }

    #[test]
    fn nothing_paired_comes_before_everything_else() {
        assert_eq!(judge(&[], rate(1, 10)).code, VerdictCode::NothingPaired);
    }

    #[test]
    fn five_cases_can_never_tell() {
        let outcome = judge(&vec![rate(1, 1); 5], rate(1, 10));
        assert_eq!(outcome.code, VerdictCode::TooFewCases);
        let expected = [TooFewReason::Structural, TooFewReason::FewCasesMoved, TooFewReason::IntervalWide];
        assert_eq!(outcome.reasons, expected);
    }

    #[test]
    fn six_unanimous_cases_help_or_harm() {
        assert_eq!(judge(&vec![rate(1, 1); 6], rate(1, 10)).code, VerdictCode::Helps);
        assert_eq!(judge(&vec![-rate(1, 2); 6], rate(1, 10)).code, VerdictCode::Harms);
    }

    #[test]
    fn twenty_unchanged_cases_exclude_a_fifth_but_not_a_tenth() {
        // The padded interval is ±13.8 points.
        assert_eq!(judge(&vec![rate(0, 1); 20], rate(1, 5)).code, VerdictCode::NoEvidence);
        let outcome = judge(&vec![rate(0, 1); 20], rate(1, 10));
        assert_eq!(outcome.reasons, [TooFewReason::FewCasesMoved, TooFewReason::IntervalWide]);
    }

    #[test]
    fn a_small_sure_lift_is_negligible() {
        let outcome = judge(&vec![rate(1, 100); 30], rate(1, 10));
        assert_eq!((outcome.code, outcome.negligible, outcome.size_uncertain), (VerdictCode::Helps, true, false));
        let outcome = judge(&vec![-rate(1, 100); 30], rate(1, 10));
        assert_eq!((outcome.code, outcome.negligible), (VerdictCode::Harms, true));
    }

    #[test]
    fn thresholds_out_of_range_are_refused() {
        assert_eq!(Thresholds::new(rate(0, 1), rate(1, 10)), None);
        assert_eq!(Thresholds::new(rate(1, 1), rate(1, 10)), None);
        assert_eq!(Thresholds::new(rate(1, 20), rate(0, 1)), None);
        assert_eq!(Thresholds::new(rate(1, 20), rate(11, 10)), None);
        assert!(Thresholds::new(rate(1, 20), rate(1, 1)).is_some());
        assert_eq!(minimum_cases(&rate(0, 1)), None);
    }
}
