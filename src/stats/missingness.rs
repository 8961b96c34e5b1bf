//! What the runs that are missing could do to the lift: bounds that suppose nothing about them.
//!
//! Manski 1990 (*Am. Econ. Rev.* 80:319): in the worst case for the skill every missing run with it would have failed and
//! every missing run without it would have passed, in the best case the reverse.

use num_bigint::BigInt;
use num_traits::Signed;

use crate::rational::{Rational, sum};
use crate::withheld::Withheld;

/// The runs of one case in one arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRuns {
    /// Runs that were planned.
    pub planned: u64,
    /// Runs that have a rate.
    pub scored: u64,
    /// The sum of these rates; with rates of 0 and 1 the number of passed runs.
    pub rates: Rational,
}

impl PlannedRuns {
    fn check(&self) -> Result<(), Withheld> {
        if self.planned == 0 {
            return Err(Withheld::NoRuns);
        }
        let scored = Rational::from_integer(self.scored.into());
        if self.scored > self.planned || self.rates.is_negative() || self.rates > scored {
            return Err(Withheld::InvalidCounts);
        }
        Ok(())
    }

    /// The mean rate over the planned runs when every missing run has the rate `missing`.
    fn rate(&self, missing: u64) -> Rational {
        let imputed = BigInt::from(self.planned - self.scored) * missing;
        (&self.rates + imputed) / BigInt::from(self.planned)
    }
}

/// The planned runs of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCase {
    /// With the skill.
    pub with: PlannedRuns,
    /// Without the skill.
    pub without: PlannedRuns,
}

/// Bounds of the mean lift over the planned cases, exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingnessBounds {
    /// Planned cases.
    pub n: usize,
    /// Planned runs without a rate, with the skill.
    pub missing_with: u64,
    /// Planned runs without a rate, without the skill.
    pub missing_without: u64,
    /// The lift in the worst case for the skill.
    pub worst: Rational,
    /// The lift in the best case for the skill.
    pub best: Rational,
}

impl MissingnessBounds {
    /// Whether the missing runs could turn a gain into a loss, or the reverse.
    #[must_use]
    pub fn could_reverse(&self) -> bool {
        self.worst.is_negative() && self.best.is_positive()
    }
}

/// The bounds over all planned cases, each weighing the same.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without cases, [`Withheld::NoRuns`] when none was planned in an arm of a case,
/// [`Withheld::InvalidCounts`] when more runs are scored than planned, or rates lie outside 0..=1.
pub fn missingness_bounds(cases: &[PlannedCase]) -> Result<MissingnessBounds, Withheld> {
    if cases.is_empty() {
        return Err(Withheld::NoEligiblePairs);
    }
    let (mut missing_with, mut missing_without) = (0_u64, 0_u64);
    let (mut worst, mut best) = (Vec::with_capacity(cases.len()), Vec::with_capacity(cases.len()));
    for PlannedCase { with, without } in cases {
        with.check()?;
        without.check()?;
        missing_with = missing_with.saturating_add(with.planned - with.scored);
        missing_without = missing_without.saturating_add(without.planned - without.scored);
        worst.push(with.rate(0) - without.rate(1));
        best.push(with.rate(1) - without.rate(0));
    }
    let count = BigInt::from(cases.len());
    Ok(MissingnessBounds {
        n: cases.len(),
        missing_with,
        missing_without,
        worst: sum(&worst) / &count,
        best: sum(&best) / count,
    })
}

#[cfg(test)]
mod tests {
    use num_traits::Zero;

    use super::*;
    use crate::rational::rate;

    fn runs(planned: u64, scored: u64, rates: Rational) -> PlannedRuns {
        PlannedRuns { planned, scored, rates }
    }

    #[test]
    fn impossible_counts_are_withheld() {
        let bounds = |with| missingness_bounds(&[PlannedCase { with, without: runs(2, 2, rate(1, 1)) }]);
        assert_eq!(bounds(runs(0, 0, rate(0, 1))), Err(Withheld::NoRuns));
        assert_eq!(bounds(runs(1, 2, rate(1, 1))), Err(Withheld::InvalidCounts));
        assert_eq!(bounds(runs(2, 1, rate(3, 2))), Err(Withheld::InvalidCounts));
        assert_eq!(bounds(runs(2, 1, -rate(1, 2))), Err(Withheld::InvalidCounts));
        assert_eq!(missingness_bounds(&[]), Err(Withheld::NoEligiblePairs));
    }

    #[test]
    fn a_reversal_needs_both_signs() {
        let bounds = |scored| {
            let with = runs(4, scored, rate(scored, 1));
            missingness_bounds(&[PlannedCase { with, without: runs(4, 4, rate(1, 1)) }]).unwrap()
        };
        // Without: 1/4. With, of four runs two missing: 2/4 to 4/4; three missing: 1/4 to 4/4; all missing: 0 to 1.
        let two = bounds(2);
        assert_eq!((two.worst.clone(), two.best.clone(), two.could_reverse()), (rate(1, 4), rate(3, 4), false));
        assert_eq!((two.missing_with, two.missing_without), (2, 0));
        assert!(bounds(1).worst.is_zero() && !bounds(1).could_reverse());
        assert!(bounds(0).could_reverse());
    }
}
