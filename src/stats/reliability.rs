//! Repeated runs of one case: the chance that at least one, or every one, of k runs passes.
//!
//! Unbiased estimates from n runs of which c passed: pass@k = 1 − C(n−c, k) / C(n, k) (Chen et al. 2021,
//! arXiv:2107.03374) and pass^k = C(c, k) / C(n, k) (Yao et al. 2024, arXiv:2406.12045). Counts are exact integers
//! with one division at the end. Nothing is extrapolated: k larger than n is withheld.

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Zero};

use crate::proportion::{ShareInterval, clopper_pearson};
use crate::rational::{Rational, quotient_to_f64};
use crate::withheld::Withheld;

/// The two estimates at one k, kept as the counts they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassEstimate {
    /// How many runs the estimate speaks about.
    pub k: u64,
    /// C(n, k): the ways to choose k runs.
    choices: BigUint,
    /// C(n − c, k): the choices in which no run passed.
    all_fail: BigUint,
    /// C(c, k): the choices in which every run passed.
    all_pass: BigUint,
}

impl PassEstimate {
    /// pass@k, the chance in 0..=1 that at least one of k runs passes: one division, then 1 minus it.
    #[must_use]
    pub fn pass_at_k(&self) -> f64 {
        1.0 - self.one_minus_pass_at_k()
    }

    /// 1 − pass@k, the chance that all k runs fail, correctly rounded however small.
    #[must_use]
    pub fn one_minus_pass_at_k(&self) -> f64 {
        quotient_to_f64(&self.all_fail, &self.choices)
    }

    /// pass^k, the chance in 0..=1 that all k runs pass, correctly rounded.
    #[must_use]
    pub fn pass_hat_k(&self) -> f64 {
        quotient_to_f64(&self.all_pass, &self.choices)
    }

    /// pass@k as an exact rational, for differences between two arms.
    #[must_use]
    pub fn pass_at_k_exact(&self) -> Rational {
        Rational::new(
            BigInt::from(self.choices.clone()) - BigInt::from(self.all_fail.clone()),
            self.choices.clone().into(),
        )
    }

    /// pass^k as an exact rational, for differences between two arms.
    #[must_use]
    pub fn pass_hat_k_exact(&self) -> Rational {
        Rational::new(self.all_pass.clone().into(), self.choices.clone().into())
    }

    /// pass@k and pass^k over C(n, k), not reduced: sums over cases with as many runs then need no divisor.
    pub(crate) fn over_all_choices(&self) -> [Rational; 2] {
        let [choices, all_fail, all_pass] =
            [&self.choices, &self.all_fail, &self.all_pass].map(|count| BigInt::from(count.clone()));
        [Rational::new_raw(&choices - all_fail, choices.clone()), Rational::new_raw(all_pass, choices)]
    }
}

/// The estimates at `k` from `runs` runs of one case of which `passed` passed.
///
/// # Errors
///
/// [`Withheld::InvalidCounts`], [`Withheld::NoRuns`], [`Withheld::KBelowOne`] or [`Withheld::KExceedsRuns`].
pub fn pass_estimate(runs: u64, passed: u64, k: u64) -> Result<PassEstimate, Withheld> {
    check(runs, passed)?;
    if k < 1 {
        return Err(Withheld::KBelowOne);
    }
    if k > runs {
        return Err(Withheld::KExceedsRuns);
    }
    Ok(PassEstimate { k, choices: choose(runs, k), all_fail: choose(runs - passed, k), all_pass: choose(passed, k) })
}

/// The estimates at every k from 1 to `runs`, each binomial taken from the one before.
///
/// # Errors
///
/// [`Withheld::InvalidCounts`] or [`Withheld::NoRuns`].
pub fn pass_curve(runs: u64, passed: u64) -> Result<Vec<PassEstimate>, Withheld> {
    Ok(pass_estimates(runs, passed)?.collect())
}

/// The same one by one.
pub(crate) fn pass_estimates(runs: u64, passed: u64) -> Result<impl Iterator<Item = PassEstimate>, Withheld> {
    check(runs, passed)?;
    let mut current =
        PassEstimate { k: 0, choices: BigUint::one(), all_fail: BigUint::one(), all_pass: BigUint::one() };
    Ok((1..=runs).map(move |k| {
        current.k = k;
        advance(&mut current.choices, runs, k);
        advance(&mut current.all_fail, runs - passed, k);
        advance(&mut current.all_pass, passed, k);
        current.clone()
    }))
}

/// Limits of both chances for one case whose runs are independent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassInterval {
    /// Limits of the chance that one run passes.
    pub one_run: ShareInterval,
    /// Limits of pass@k.
    pub pass_at_k: ShareInterval,
    /// Limits of pass^k.
    pub pass_hat_k: ShareInterval,
}

/// Clopper–Pearson limits of the chance p that a run passes, carried through 1 − (1 − p)^k and p^k.
///
/// # Errors
///
/// As [`pass_estimate`].
pub fn pass_interval(runs: u64, passed: u64, k: u64, alpha: f64) -> Result<PassInterval, Withheld> {
    check(runs, passed)?;
    if k < 1 {
        return Err(Withheld::KBelowOne);
    }
    if k > runs {
        return Err(Withheld::KExceedsRuns);
    }
    let one_run = clopper_pearson(passed, runs, alpha)?;
    let power = k as f64;
    let through =
        |curve: &dyn Fn(f64) -> f64| ShareInterval { lower: curve(one_run.lower), upper: curve(one_run.upper) };
    Ok(PassInterval {
        one_run,
        pass_at_k: through(&|p| if p >= 1.0 { 1.0 } else { -((-p).ln_1p() * power).exp_m1() }),
        pass_hat_k: through(&|p| p.powf(power)),
    })
}

fn check(runs: u64, passed: u64) -> Result<(), Withheld> {
    if passed > runs {
        return Err(Withheld::InvalidCounts);
    }
    if runs == 0 {
        return Err(Withheld::NoRuns);
    }
    Ok(())
}

/// C(n, k) by the product formula; 0 when k > n.
pub(crate) fn choose(n: u64, k: u64) -> BigUint {
    if k > n {
        return BigUint::zero();
    }
    let mut binomial = BigUint::one();
    for step in 1..=k.min(n - k) {
        advance(&mut binomial, n, step);
    }
    binomial
}

/// Turns C(n, k − 1) into C(n, k).
fn advance(binomial: &mut BigUint, n: u64, k: u64) {
    if k > n {
        *binomial = BigUint::zero();
    } else {
        *binomial *= n - k + 1;
        *binomial /= k;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn the_curve_agrees_with_single_estimates() {
        for (runs, passed) in [(1, 0), (5, 2), (12, 12), (30, 7)] {
            let curve = pass_curve(runs, passed).unwrap();
            for (estimate, k) in curve.iter().zip(1..) {
                assert_eq!(estimate, &pass_estimate(runs, passed, k).unwrap());
            }
        }
    }

    #[test]
    fn one_run_is_the_pass_rate() {
        let estimate = pass_estimate(7, 3, 1).unwrap();
        assert_eq!(estimate.pass_at_k_exact(), rate(3, 7));
        assert_eq!(estimate.pass_hat_k_exact(), rate(3, 7));
    }

    #[test]
    fn k_beyond_the_runs_is_withheld() {
        assert_eq!(pass_estimate(3, 3, 4).unwrap_err(), Withheld::KExceedsRuns);
        assert_eq!(pass_estimate(3, 3, 0).unwrap_err(), Withheld::KBelowOne);
        assert_eq!(pass_estimate(0, 0, 1).unwrap_err(), Withheld::NoRuns);
        assert_eq!(pass_estimate(3, 4, 1).unwrap_err(), Withheld::InvalidCounts);
    }
}
