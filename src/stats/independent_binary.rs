//! The pass rates of two independent arms, such as the runs of one case with and without the skill.
//!
//! Valid only when the runs are independent trials; they speak of this case alone.

use num_bigint::BigUint;
use num_traits::Zero;

use crate::paired_binary::{DifferenceInterval, Distances};
use crate::rational::{Rational, quotient_at_most, quotient_to_f64};
use crate::reliability::choose;
use crate::withheld::Withheld;

/// Word updates that the exact test may take.
const UPDATE_BUDGET: u128 = 20_000_000;

/// The runs of one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArmCounts {
    /// Runs that passed.
    pub passed: u64,
    /// All runs.
    pub runs: u64,
}

/// Newcombe's limits of the rate `with` the skill minus the rate `without` it: Wilson's limits of both, joined (Newcombe
/// 1998 *Stat. Med.* 17:873, method 10), at two-sided error rate `alpha` (0 < alpha < 1).
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] for an arm without runs, [`Withheld::InvalidCounts`] for more passed runs than runs.
pub fn newcombe_difference(with: ArmCounts, without: ArmCounts, alpha: f64) -> Result<DifferenceInterval, Withheld> {
    check(with, without)?;
    let distances = |arm: ArmCounts| Distances::new(arm.passed, arm.runs, alpha);
    Ok(distances(with).minus(&distances(without), 0.0))
}

/// Fisher's exact test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FisherExact {
    /// Labelings of the runs that give a table at most as likely as the observed one.
    pub hits: BigUint,
    /// All labelings with as many runs in either arm.
    pub total: BigUint,
}

impl FisherExact {
    /// The two-sided p.
    #[must_use]
    pub fn p_two_sided(&self) -> f64 {
        quotient_to_f64(&self.hits, &self.total)
    }

    /// Whether p is at most `alpha`, compared as rationals.
    #[must_use]
    pub fn at_most(&self, alpha: &Rational) -> bool {
        quotient_at_most(&self.hits, &self.total, alpha)
    }
}

/// Fisher's exact two-sided test (Fisher 1935, *J. R. Stat. Soc.* 98:39). Tables are ordered by their chance;
/// [`permutation_test`](crate::permutation_test) orders them by the difference of the rates, which is not the same for
/// arms of unequal size.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] for an arm without runs, [`Withheld::InvalidCounts`] for more passed runs than runs,
/// [`Withheld::BeyondExactBudget`] for about 35 000 runs and more.
pub fn fisher_exact(with: ArmCounts, without: ArmCounts) -> Result<FisherExact, Withheld> {
    check(with, without)?;
    let runs = u128::from(with.runs) + u128::from(without.runs);
    let passed = u128::from(with.passed) + u128::from(without.passed);
    if runs * (runs / 64 + 1) > UPDATE_BUDGET {
        return Err(Withheld::BeyondExactBudget);
    }
    // Small enough now.
    let (runs, passed) = (runs as u64, passed as u64);
    let (lowest, highest) = (passed.saturating_sub(without.runs), passed.min(with.runs));
    let ways_to = |first: u64| choose(passed, first) * choose(runs - passed, with.runs - first);
    let (observed, mut ways) = (ways_to(with.passed), ways_to(lowest));
    let mut hits = BigUint::zero();
    for first in lowest..=highest {
        if ways <= observed {
            hits += &ways;
        }
        // The next table takes one passed run more from the first arm and one less from the second.
        let second = passed - first;
        ways *= (with.runs - first) * second;
        ways /= (first + 1) * (without.runs + 1 - second);
    }
    Ok(FisherExact { hits, total: choose(runs, with.runs) })
}

fn check(with: ArmCounts, without: ArmCounts) -> Result<(), Withheld> {
    if with.passed > with.runs || without.passed > without.runs {
        return Err(Withheld::InvalidCounts);
    }
    if with.runs == 0 || without.runs == 0 {
        return Err(Withheld::NoEligiblePairs);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(passed: u64, runs: u64) -> ArmCounts {
        ArmCounts { passed, runs }
    }

    #[test]
    fn impossible_counts_are_withheld() {
        for (with, without, reason) in
            [(arm(0, 0), arm(1, 1), Withheld::NoEligiblePairs), (arm(2, 1), arm(1, 1), Withheld::InvalidCounts)]
        {
            assert_eq!(newcombe_difference(with, without, 0.05), Err(reason));
            assert_eq!(fisher_exact(without, with), Err(reason));
        }
        assert_eq!(fisher_exact(arm(1, u64::MAX), arm(1, u64::MAX)), Err(Withheld::BeyondExactBudget));
    }

    /// Fisher's tea: all four cups right, of four and four. One table of seventy on either side.
    #[test]
    fn the_lady_who_tasted_tea() {
        let test = fisher_exact(arm(4, 4), arm(0, 4)).unwrap();
        assert_eq!((test.hits.to_string(), test.total.to_string()), ("2".to_owned(), "70".to_owned()));
    }
}
