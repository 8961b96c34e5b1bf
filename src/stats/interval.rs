//! Confidence intervals for the mean delta: the padded t interval of the headline and Student's t beside it.
//!
//! Sums and variances are exact rationals; each figure is rounded once.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::proportion::ShareInterval;
use crate::rational::{Rational, mean, sqrt_to_f64, squared_deviations, to_f64};
use crate::sign_flip::SignFlip;
use crate::special::{student_t_critical, student_t_upper_tail};
use crate::withheld::Withheld;

/// The padded t interval: Student's t on the deltas plus two pseudo-units at ±M, M the largest |delta|.
///
/// Pseudo-observations at the ends of the range are the idea of Agresti & Coull (1998 *Am. Stat.* 52:119) and
/// Agresti & Caffo (2000 *Am. Stat.* 54:280); for deltas of −1, 0, 1 and a normal quantile this is the interval of
/// Bonett & Price (2012 *JEBS* 37:479). It is never degenerate. Its center is shrunk toward 0, so report the plain
/// mean as the estimate; the plain mean always lies inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaddedT {
    /// Units with a delta.
    pub n: usize,
    /// Two-sided error rate, so the confidence is 1 − alpha.
    pub alpha: f64,
    /// M: the largest |delta|, or 1 when every delta is 0.
    pub pad: f64,
    /// Mean of the deltas and the two pads.
    pub center: f64,
    /// Standard error of the center.
    pub standard_error: f64,
    /// n − 1, not counting the pads.
    pub degrees_of_freedom: usize,
    /// The t quantile used.
    pub critical: f64,
    /// center − critical·standard_error, before clipping and widening.
    pub lower_unclipped: f64,
    /// center + critical·standard_error, before clipping and widening.
    pub upper_unclipped: f64,
    /// Lower limit of the mean delta, in −1..=1.
    pub lower: f64,
    /// Upper limit of the mean delta, in −1..=1.
    pub upper: f64,
}

impl PaddedT {
    /// Whether 0 lies in the interval.
    #[must_use]
    pub fn contains_zero(&self) -> bool {
        self.lower <= 0.0 && 0.0 <= self.upper
    }
}

/// The headline interval: clipped to −1..=1 and, when the sign-flip p exceeds `alpha`, widened to contain 0.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] with one.
pub fn padded_t(deltas: &[Rational], alpha: &Rational, test: &SignFlip) -> Result<PaddedT, Withheld> {
    let mut interval = padded_t_not_widened(deltas, alpha)?;
    if !test.at_most(alpha) {
        interval.lower = interval.lower.min(0.0);
        interval.upper = interval.upper.max(0.0);
    }
    Ok(interval)
}

/// The same interval without the widening, for equivalence (pass 2·alpha; Schuirmann 1987 *J. Pharmacokinet.
/// Biopharm.* 15:657).
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] with one.
pub fn padded_t_not_widened(deltas: &[Rational], alpha: &Rational) -> Result<PaddedT, Withheld> {
    let n = at_least_two(deltas)?;
    let (pad, spread) = padded_squared_deviations(deltas);
    let padded_count = BigInt::from(n + 2);
    let center = mean(deltas).unwrap_or_else(Rational::zero) * BigInt::from(n) / &padded_count;
    let standard_error = sqrt_to_f64(&(spread / (BigInt::from(n + 1) * padded_count)));
    let alpha = to_f64(alpha);
    let center = to_f64(&center);
    let critical = student_t_critical(alpha / 2.0, (n - 1) as f64);
    let lower_unclipped = center - critical * standard_error;
    let upper_unclipped = center + critical * standard_error;
    Ok(PaddedT {
        n,
        alpha,
        pad: to_f64(&pad),
        center,
        standard_error,
        degrees_of_freedom: n - 1,
        critical,
        lower_unclipped,
        upper_unclipped,
        lower: lower_unclipped.max(-1.0),
        upper: upper_unclipped.min(1.0),
    })
}

/// The same construction for the mean of shares in 0..=1, such as the pass@k of cases: the two pseudo-units lie at 0 and 1,
/// and the limits are clipped there. Its calibration was measured for deltas only.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] with one.
pub fn padded_share(shares: &[Rational], alpha: &Rational) -> Result<ShareInterval, Withheld> {
    let n = at_least_two(shares)?;
    let mut padded = shares.to_vec();
    padded.extend([Rational::zero(), Rational::one()]);
    let center = to_f64(&mean(&padded).unwrap_or_else(Rational::zero));
    let standard_error = sqrt_to_f64(&(squared_deviations(&padded) / (BigInt::from(n + 1) * BigInt::from(n + 2))));
    let half_width = student_t_critical(to_f64(alpha) / 2.0, (n - 1) as f64) * standard_error;
    Ok(ShareInterval { lower: (center - half_width).max(0.0), upper: (center + half_width).min(1.0) })
}

/// The standard deviation of the deltas including the two pads; never 0.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units.
pub fn padded_standard_deviation(deltas: &[Rational]) -> Result<f64, Withheld> {
    if deltas.is_empty() {
        return Err(Withheld::NoEligiblePairs);
    }
    let (_, spread) = padded_squared_deviations(deltas);
    Ok(sqrt_to_f64(&(spread / BigInt::from(deltas.len() + 1))))
}

/// The pad M and the sum of squared deviations of the deltas, +M and −M.
fn padded_squared_deviations(deltas: &[Rational]) -> (Rational, Rational) {
    let largest = deltas.iter().map(Signed::abs).max().unwrap_or_else(Rational::zero);
    let pad = if largest.is_zero() { Rational::one() } else { largest };
    let mut padded = deltas.to_vec();
    padded.push(pad.clone());
    padded.push(-pad.clone());
    (pad, squared_deviations(&padded))
}

/// Student's paired t interval and test for the mean delta (Student 1908 *Biometrika* 6:1). A companion figure: it
/// misses the true mean far too often when deltas are bounded and lopsided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedT {
    /// Units with a delta.
    pub n: usize,
    /// Two-sided error rate, so the confidence is 1 − alpha.
    pub alpha: f64,
    /// Mean delta.
    pub mean: f64,
    /// Sample standard deviation of the deltas (n − 1).
    pub standard_deviation: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// n − 1.
    pub degrees_of_freedom: usize,
    /// mean / standard_error.
    pub t: f64,
    /// Two-sided p.
    pub p_two_sided: f64,
    /// One-sided p, alternative: the mean is above 0.
    pub p_greater: f64,
    /// The t quantile used.
    pub critical: f64,
    /// Lower limit, not clipped.
    pub lower: f64,
    /// Upper limit, not clipped.
    pub upper: f64,
}

/// Student's paired t interval and test at two-sided error rate `alpha`.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] with one, [`Withheld::ConstantDeltas`]
/// when all deltas are equal.
pub fn paired_t(deltas: &[Rational], alpha: &Rational) -> Result<PairedT, Withheld> {
    let n = at_least_two(deltas)?;
    let variance = squared_deviations(deltas) / BigInt::from(n - 1);
    if variance.is_zero() {
        return Err(Withheld::ConstantDeltas);
    }
    let count = BigInt::from(n);
    let exact_mean = mean(deltas).unwrap_or_else(Rational::zero);
    let mean = to_f64(&exact_mean);
    let standard_error = sqrt_to_f64(&(&variance / &count));
    // t² is rational, so t is rounded once as well.
    let magnitude = sqrt_to_f64(&(&exact_mean * &exact_mean * count / &variance));
    let t = if exact_mean.is_negative() { -magnitude } else { magnitude };
    let freedom = (n - 1) as f64;
    let alpha = to_f64(alpha);
    let critical = student_t_critical(alpha / 2.0, freedom);
    Ok(PairedT {
        n,
        alpha,
        mean,
        standard_deviation: sqrt_to_f64(&variance),
        standard_error,
        degrees_of_freedom: n - 1,
        t,
        p_two_sided: 2.0 * student_t_upper_tail(magnitude, freedom),
        p_greater: student_t_upper_tail(t, freedom),
        critical,
        lower: mean - critical * standard_error,
        upper: mean + critical * standard_error,
    })
}

/// Whether the mean delta is shown to lie within a margin chosen by the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalence {
    /// The margin, > 0.
    pub margin: f64,
    /// Lower limit of the padded t interval at confidence 1 − 2·alpha.
    pub lower: f64,
    /// Upper limit of the padded t interval at confidence 1 − 2·alpha.
    pub upper: f64,
    /// The interval lies strictly inside ± margin.
    pub equivalent: bool,
    /// The lower limit lies above −margin.
    pub non_inferior: bool,
}

/// Two one-sided tests in interval form (Schuirmann 1987; Lakens 2017 *Soc. Psychol. Personal. Sci.* 8:355).
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] when no result could reach `alpha`.
pub fn equivalence(deltas: &[Rational], alpha: &Rational, margin: &Rational) -> Result<Equivalence, Withheld> {
    let enough = crate::verdict::minimum_cases(alpha).is_some_and(|minimum| deltas.len() >= minimum);
    if !enough && !deltas.is_empty() {
        return Err(Withheld::TooFewUnits);
    }
    let interval = padded_t_not_widened(deltas, &(alpha * BigInt::from(2)))?;
    let margin = to_f64(margin);
    let non_inferior = interval.lower > -margin;
    Ok(Equivalence {
        margin,
        lower: interval.lower,
        upper: interval.upper,
        equivalent: non_inferior && interval.upper < margin,
        non_inferior,
    })
}

fn at_least_two(deltas: &[Rational]) -> Result<usize, Withheld> {
    match deltas.len() {
        0 => Err(Withheld::NoEligiblePairs),
        1 => Err(Withheld::TooFewUnits),
        n => Ok(n),
    }
}
