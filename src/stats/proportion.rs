//! Limits for a share counted in independent trials (Clopper & Pearson 1934, *Biometrika* 26:404; Wilson 1927).
//!
//! Those of Clopper and Pearson hold their confidence at every n and every true share. The trials must be independent: repetitions of one
//! case only within that case, cases only when they are the unit.

use crate::normal::normal_critical;
use crate::special::{TailSide, beta_quantile};
use crate::withheld::Withheld;

/// Two-sided limits of a share, in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareInterval {
    /// Lower limit; exactly 0 when nothing was counted.
    pub lower: f64,
    /// Upper limit; exactly 1 when everything was counted.
    pub upper: f64,
}

/// Two-sided Wilson limits of `counted` out of `trials` at error rate `alpha` (0 < alpha < 1), without a continuity
/// correction (Wilson 1927 *JASA* 22:209). They hold on average, not for every share: for showing a rate, where
/// Clopper and Pearson's are needlessly wide.
///
/// # Errors
///
/// [`Withheld::NoRuns`] without trials, [`Withheld::InvalidCounts`] when `counted` exceeds `trials`.
pub fn wilson(counted: u64, trials: u64, alpha: f64) -> Result<ShareInterval, Withheld> {
    check(counted, trials)?;
    let square = normal_critical(alpha / 2.0).powi(2);
    let (successes, n) = (counted as f64, trials as f64);
    let half_width = (square * (successes * (n - successes) / n + square / 4.0)).sqrt();
    let upper = (successes + square / 2.0 + half_width) / (n + square);
    // The product of the limits is successes²/(n·(n + z²)): a quotient loses no digits near 0, as the difference would.
    let lower = if counted == 0 { 0.0 } else { successes * successes / (n * (n + square) * upper) };
    Ok(ShareInterval { lower, upper: if counted == trials { 1.0 } else { upper } })
}

/// Two-sided Clopper–Pearson limits of `counted` out of `trials` at error rate `alpha` (0 < alpha < 1).
///
/// # Errors
///
/// [`Withheld::NoRuns`] without trials, [`Withheld::InvalidCounts`] when `counted` exceeds `trials`.
pub fn clopper_pearson(counted: u64, trials: u64, alpha: f64) -> Result<ShareInterval, Withheld> {
    Ok(ShareInterval {
        lower: clopper_pearson_lower(counted, trials, alpha / 2.0)?,
        upper: clopper_pearson_upper(counted, trials, alpha / 2.0)?,
    })
}

/// One-sided lower Clopper–Pearson limit at error rate `alpha`.
///
/// # Errors
///
/// [`Withheld::NoRuns`] without trials, [`Withheld::InvalidCounts`] when `counted` exceeds `trials`.
pub fn clopper_pearson_lower(counted: u64, trials: u64, alpha: f64) -> Result<f64, Withheld> {
    check(counted, trials)?;
    if counted == 0 {
        return Ok(0.0);
    }
    if counted == trials {
        return Ok((alpha.ln() / trials as f64).exp());
    }
    Ok(beta_quantile(counted as f64, (trials - counted + 1) as f64, TailSide::Lower, alpha))
}

/// One-sided upper Clopper–Pearson limit at error rate `alpha`.
///
/// # Errors
///
/// [`Withheld::NoRuns`] without trials, [`Withheld::InvalidCounts`] when `counted` exceeds `trials`.
pub fn clopper_pearson_upper(counted: u64, trials: u64, alpha: f64) -> Result<f64, Withheld> {
    check(counted, trials)?;
    if counted == trials {
        return Ok(1.0);
    }
    if counted == 0 {
        return Ok(-(alpha.ln() / trials as f64).exp_m1());
    }
    Ok(beta_quantile((counted + 1) as f64, (trials - counted) as f64, TailSide::Upper, alpha))
}

/// The share of such cases that could still get worse: one-sided 95 % upper limit from `regressed` of `cases`
/// (for none regressed, Hanley & Lippman-Hand 1983 *JAMA* 249:1743).
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without cases, [`Withheld::InvalidCounts`] when `regressed` exceeds `cases`.
pub fn regressed_share_upper(regressed: usize, cases: usize) -> Result<f64, Withheld> {
    if cases == 0 {
        return Err(Withheld::NoEligiblePairs);
    }
    clopper_pearson_upper(regressed as u64, cases as u64, 0.05)
}

fn check(counted: u64, trials: u64) -> Result<(), Withheld> {
    if counted > trials {
        return Err(Withheld::InvalidCounts);
    }
    if trials == 0 {
        return Err(Withheld::NoRuns);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_counts_are_withheld() {
        assert_eq!(clopper_pearson(0, 0, 0.05), Err(Withheld::NoRuns));
        assert_eq!(clopper_pearson(2, 1, 0.05), Err(Withheld::InvalidCounts));
        assert_eq!((wilson(0, 0, 0.05), wilson(2, 1, 0.05)), (Err(Withheld::NoRuns), Err(Withheld::InvalidCounts)));
        assert_eq!(regressed_share_upper(0, 0), Err(Withheld::NoEligiblePairs));
    }

    #[test]
    fn limits_mirror_when_successes_and_failures_swap() {
        for (counted, trials) in [(1, 5), (3, 10), (40, 1000)] {
            let interval = clopper_pearson(counted, trials, 0.05).unwrap();
            let mirrored = clopper_pearson(trials - counted, trials, 0.05).unwrap();
            assert!((interval.lower - (1.0 - mirrored.upper)).abs() < 1e-14);
        }
    }
}
