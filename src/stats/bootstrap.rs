//! The bootstrap of the mean delta without resampling: percentile and BCa limits from the exact law.
//!
//! On a lattice the sum of n draws from the observed deltas has a law that can be counted: the n-th power of a polynomial
//! (cf. Fisher & Hall 1991 *J. Stat. Plan. Inference* 27:157). A description of these units: with few of them the bootstrap
//! interval is too short, so it never decides.

mod law;

use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, Zero};

use self::law::{Lattice, Law};
use crate::normal::{normal_critical, normal_quantile, normal_upper_tail};
use crate::rational::{Rational, from_f64, mean, sqrt_to_f64, squared_deviations, to_f64};
use crate::withheld::Withheld;

/// Fewest units for which limits are given: with ten the test they imply rejects a true null twice as often as it says.
const FEWEST_UNITS: usize = 20;

/// Percentile and BCa limits of the mean delta (Efron 1987 *JASA* 82:171).
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapInterval {
    /// Units with a delta.
    pub n: usize,
    /// Two-sided error rate, so the confidence is 1 − alpha.
    pub alpha: f64,
    /// Chance that a resampled mean is below the observed one.
    pub share_below: f64,
    /// Chance that it equals the observed one.
    pub share_equal: f64,
    /// z0: the normal quantile of `share_below` + ½·`share_equal`.
    pub bias_correction: f64,
    /// a: Σ(δ − mean)³ / (6·(Σ(δ − mean)²)^1.5).
    pub acceleration: f64,
    /// The share below which the lower BCa limit cuts.
    pub bca_level_lower: f64,
    /// The share below which the upper BCa limit cuts.
    pub bca_level_upper: f64,
    /// Limits by the plain percentiles.
    pub percentile: LatticeInterval,
    /// Limits corrected for bias and acceleration.
    pub bca: LatticeInterval,
}

/// Limits that are resampled means, exact. The lower one is the smallest mean v for which a resampled mean of at most v
/// has at least the chance cut off below; the upper one mirrors it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatticeInterval {
    /// Lower limit.
    pub lower: Rational,
    /// Upper limit.
    pub upper: Rational,
}

/// The bootstrap limits of the mean delta at two-sided error rate `alpha` (0 < alpha < 1).
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] for fewer than 20, [`Withheld::ConstantDeltas`]
/// when all deltas are equal, [`Withheld::BeyondExactBudget`] when the law would take too long.
pub fn bootstrap_interval(deltas: &[Rational], alpha: &Rational) -> Result<BootstrapInterval, Withheld> {
    match deltas.len() {
        0 => Err(Withheld::NoEligiblePairs),
        n if n < FEWEST_UNITS => Err(Withheld::TooFewUnits),
        _ => exact_bootstrap(deltas, alpha),
    }
}

/// The same for any number of units from one up, for which the arithmetic is right and the limits are too short.
pub(crate) fn exact_bootstrap(deltas: &[Rational], alpha: &Rational) -> Result<BootstrapInterval, Withheld> {
    let n = deltas.len();
    let lattice = Lattice::new(deltas).ok_or(Withheld::BeyondExactBudget)?;
    if lattice.is_one_point() {
        return Err(Withheld::ConstantDeltas);
    }
    let law = Law::new(&lattice)?;
    let (below, equal) = law.around_observed();
    let acceleration = acceleration(deltas);
    // The observed deltas are one of the resamples, and another one lies on either side, so the share is inside 0 and 1.
    let bias_correction = bias_correction(&below, &equal, law.total()).ok_or(Withheld::ConstantDeltas)?;
    let tail = alpha / BigInt::from(2);
    let critical = normal_critical(to_f64(&tail));
    let (low, high) =
        (corrected(bias_correction, acceleration, -critical), corrected(bias_correction, acceleration, critical));
    let (cut_below, cut_above) = (normal_upper_tail(-low), normal_upper_tail(high));
    let limits = |below: &Rational, above: &Rational| LatticeInterval {
        lower: lattice.mean_at(law.smallest_reaching(below)),
        upper: lattice.mean_at(law.largest_reaching(above)),
    };
    let exact = |chance: f64| from_f64(chance).unwrap_or_else(Rational::zero);
    let share = |count: BigUint| to_f64(&Rational::new(count.into(), law.total().clone().into()));
    Ok(BootstrapInterval {
        n,
        alpha: to_f64(alpha),
        bias_correction,
        acceleration,
        bca_level_lower: cut_below,
        bca_level_upper: normal_upper_tail(-high),
        percentile: limits(&tail, &tail),
        bca: limits(&exact(cut_below), &exact(cut_above)),
        share_below: share(below),
        share_equal: share(equal),
    })
}

/// z0 of Efron's correction: the normal quantile of the share of resamples below the observation, those equal to it
/// counted half. `None` when the share is 0 or 1, or there is no resample.
#[must_use]
pub fn bias_correction(below: &BigUint, equal: &BigUint, resamples: &BigUint) -> Option<f64> {
    if resamples.is_zero() {
        return None;
    }
    normal_quantile(&Rational::new((below * 2_u32 + equal).into(), (resamples * 2_u32).into()))
}

/// Efron's shift of a normal quantile. Where the correction leaves its domain it has run to the end of the line.
fn corrected(bias_correction: f64, acceleration: f64, quantile: f64) -> f64 {
    let shifted = bias_correction + quantile;
    let divisor = 1.0 - acceleration * shifted;
    if divisor > 0.0 { bias_correction + shifted / divisor } else { f64::INFINITY.copysign(shifted) }
}

/// The third moment of the deltas as the correction takes it, which for a mean is that of the jackknife.
fn acceleration(deltas: &[Rational]) -> f64 {
    let center = mean(deltas).unwrap_or_else(Rational::zero);
    let cubes: Rational =
        crate::rational::sum(&deltas.iter().map(|delta| (delta - &center).pow(3)).collect::<Vec<_>>());
    let squares = squared_deviations(deltas);
    // Its square is rational, so it is rounded once.
    let magnitude = sqrt_to_f64(&(&cubes * &cubes / (squares.pow(3) * BigInt::from(36))));
    if cubes.is_negative() { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn few_or_equal_units_have_no_limits() {
        let alpha = rate(1, 20);
        assert_eq!(bootstrap_interval(&[], &alpha), Err(Withheld::NoEligiblePairs));
        let mixed: Vec<Rational> = (0..19).map(|unit| rate(unit, 20)).collect();
        assert_eq!(bootstrap_interval(&mixed, &alpha), Err(Withheld::TooFewUnits));
        assert_eq!(bootstrap_interval(&vec![rate(1, 3); 20], &alpha), Err(Withheld::ConstantDeltas));
    }

    #[test]
    fn a_fine_lattice_or_very_many_units_are_withheld() {
        let alpha = rate(1, 20);
        let fine: Vec<Rational> = (1..=40).map(|unit| rate(1, 1_000_003 + unit)).collect();
        assert_eq!(bootstrap_interval(&fine, &alpha), Err(Withheld::BeyondExactBudget));
        let many: Vec<Rational> = (0..100_000_u64).map(|unit| rate(unit % 6, 5)).collect();
        assert_eq!(bootstrap_interval(&many, &alpha), Err(Withheld::BeyondExactBudget));
    }

    #[test]
    fn a_correction_past_its_domain_ends_at_the_last_mean() {
        assert_eq!(corrected(0.1, 0.2, 6.0), f64::INFINITY);
        assert_eq!(corrected(-0.1, -0.2, -6.0), f64::NEG_INFINITY);
        assert_eq!(corrected(0.0, 0.0, 1.5), 1.5);
        // One unit in twenty at 1, the others at 0, and an alpha of 10⁻¹⁵: all of the law is inside.
        let mut deltas = vec![rate(0, 1); 19];
        deltas.push(rate(1, 1));
        let interval = bootstrap_interval(&deltas, &rate(1, 1_000_000_000_000_000)).unwrap();
        assert_eq!(interval.bca.upper, rate(1, 1));
    }

    #[test]
    fn z0_needs_a_share_inside() {
        let big = |value: u32| BigUint::from(value);
        assert_eq!(bias_correction(&big(0), &big(0), &big(9)), None);
        assert_eq!(bias_correction(&big(9), &big(0), &big(9)), None);
        assert_eq!(bias_correction(&big(0), &big(0), &big(0)), None);
        assert_eq!(bias_correction(&big(4), &big(1), &big(9)), Some(0.0));
    }
}
