//! The standard normal law: tails and quantiles to about 1e-14 relative.
//!
//! Near the centre the chance between 0 and z is summed as φ(z)·(z + z³/3 + z⁵/(3·5) + …), whose terms are all positive;
//! far out the tail is Laplace's continued fraction (Abramowitz & Stegun 1964, 26.2.11 and 26.2.14).

use std::f64::consts::TAU;

use num_bigint::BigInt;
use num_traits::{One, Signed};

use crate::rational::{Rational, to_f64};

/// From here on the tail is computed as a continued fraction.
const FAR: f64 = 1.0;
/// Up to this chance between 0 and z that chance is inverted, beyond it the tail.
const NEAR_THE_CENTRE: f64 = 0.4;

/// P(Z > z) for a standard normal Z.
#[must_use]
pub fn normal_upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_upper_tail(-z);
    }
    if z < FAR { 0.5 - between_zero_and(z) } else { density(z) / mills_denominator(z) }
}

/// The z with P(Z > z) = `upper_tail`, for 0 < `upper_tail` < 1.
#[must_use]
pub fn normal_critical(upper_tail: f64) -> f64 {
    if upper_tail > 0.5 {
        return -normal_critical(1.0 - upper_tail);
    }
    if upper_tail >= 0.5 - NEAR_THE_CENTRE { from_centre(0.5 - upper_tail) } else { from_tail(upper_tail) }
}

/// The quantile at an exact chance; `None` unless 0 < `chance` < 1. Exactly 0 at ½.
#[must_use]
pub fn normal_quantile(chance: &Rational) -> Option<f64> {
    let one = Rational::one();
    if !chance.is_positive() || *chance >= one {
        return None;
    }
    let from_half = chance - Rational::new(1.into(), BigInt::from(2));
    // The distance from ½ and the smaller tail are both rounded from the exact chance, so neither end loses digits.
    let distance = to_f64(&from_half.abs());
    let magnitude = if distance <= NEAR_THE_CENTRE {
        from_centre(distance)
    } else {
        from_tail(to_f64(&if from_half.is_positive() { one - chance } else { chance.clone() }))
    };
    Some(if from_half.is_negative() { -magnitude } else { magnitude })
}

fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / TAU.sqrt()
}

/// P(0 < Z < z) for z of at most a few units.
fn between_zero_and(z: f64) -> f64 {
    let square = z * z;
    let (mut sum, mut term, mut odd) = (z, z, 1.0);
    loop {
        odd += 2.0;
        term *= square / odd;
        let next = sum + term;
        if next == sum {
            return density(z) * sum;
        }
        sum = next;
    }
}

/// z + 1/(z + 2/(z + 3/(z + …))), the density divided by the tail.
fn mills_denominator(z: f64) -> f64 {
    // At z = 1 the last of these levels changes the result by e^−49; they are evaluated from the innermost one outwards.
    (1..=300_u32).rev().fold(z, |inner, level| z + f64::from(level) / inner)
}

/// The z ≥ 0 with P(0 < Z < z) = `chance`, for chances of at most 0.4.
fn from_centre(chance: f64) -> f64 {
    // The chance is concave in z, so Newton's steps from the left never overshoot.
    let mut z = chance * TAU.sqrt();
    for _ in 0..60 {
        let step = (chance - between_zero_and(z)) / density(z);
        z += step;
        if step.abs() <= f64::EPSILON * z {
            break;
        }
    }
    z
}

/// The z with P(Z > z) = `tail`, for 0 < tail < 0.1.
fn from_tail(tail: f64) -> f64 {
    let target = tail.ln();
    // The tail at z is below e^(−z²/2), so this start is too large. The logarithm of the tail is concave and decreasing, so
    // Newton's steps come down from there and never pass the root, which is above 1.
    let mut z = (-2.0 * target).sqrt();
    for _ in 0..60 {
        let hazard = mills_denominator(z);
        let here = -0.5 * z * z - 0.5 * TAU.ln() - hazard.ln();
        let step = (here - target) / hazard;
        z += step;
        if step.abs() <= f64::EPSILON * z {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    fn near(actual: f64, expected: f64) {
        assert!((actual / expected - 1.0).abs() < 1e-13, "{actual:e}, expected {expected:e}");
    }

    /// Abramowitz & Stegun 1964, tables 26.1 and 26.2.
    #[test]
    fn tails_agree_with_the_tables() {
        near(normal_upper_tail(1.0), 0.158_655_253_931_457_05);
        near(normal_upper_tail(2.0), 0.022_750_131_948_179_2);
        near(normal_upper_tail(1.999_999_999_999), 0.022_750_131_948_233_19);
        near(normal_upper_tail(3.0), 0.001_349_898_031_630_094_6);
        near(normal_upper_tail(5.0), 2.866_515_718_791_939e-7);
        near(normal_upper_tail(-1.0), 0.841_344_746_068_542_9);
        assert_eq!(normal_upper_tail(0.0), 0.5);
    }

    #[test]
    fn a_quantile_undoes_its_tail() {
        for tail in [1e-16, 1e-9, 0.000_5, 0.025, 0.099_999, 0.1, 0.2, 0.499, 0.5, 0.7] {
            near(normal_upper_tail(normal_critical(tail)), tail);
        }
        // mpmath, 40 digits
        near(normal_critical(1e-300), 37.047_096_299_361_2);
        near(normal_critical(1e-16), 8.222_082_216_130_435);
        near(normal_critical(0.099_999), 1.281_557_263_625_261_4);
        near(normal_critical(0.3), 0.524_400_512_708_040_8);
        near(normal_critical(0.025), 1.959_963_984_540_054_3);
        near(normal_critical(0.975), -1.959_963_984_540_054_3);
    }

    #[test]
    fn quantiles_at_exact_chances() {
        assert_eq!(normal_quantile(&rate(1, 2)), Some(0.0));
        for outside in [rate(0, 1), rate(1, 1), -rate(1, 3)] {
            assert_eq!(normal_quantile(&outside), None);
        }
        for chance in [rate(1, 1_000_000_000_000), rate(1, 40), rate(1, 10), rate(1, 3), rate(499, 1000)] {
            let (low, high) = (normal_quantile(&chance).unwrap(), normal_quantile(&(rate(1, 1) - &chance)).unwrap());
            assert_eq!(low, -high);
            near(normal_upper_tail(high), to_f64(&chance));
        }
    }
}
