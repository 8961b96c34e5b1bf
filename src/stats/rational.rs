//! Exact rationals and their single, correctly rounded step to `f64`.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// An exact rational number; rates and deltas are kept in this form until they are reported.
pub type Rational = BigRational;

/// Bits of quotient or root kept before rounding: more than the 53 of an `f64`, so that one sticky bit decides ties.
const WORKING_BITS: i64 = 66;

/// The pass rate `passed / total` in 0..=1. There is no rate without runs: callers withhold it when `total` is 0,
/// for which this returns 0 only because a rational cannot be missing.
#[must_use]
pub fn rate(passed: u64, total: u64) -> Rational {
    if total == 0 {
        return Rational::zero();
    }
    Rational::new(passed.into(), total.into())
}

/// The exact sum of `values`.
#[must_use]
pub fn sum(values: &[Rational]) -> Rational {
    let denominator = common_denominator(values);
    let numerator: BigInt = values.iter().map(|value| scaled(value, &denominator)).sum();
    Rational::new(numerator, denominator)
}

/// The exact mean of `values`; `None` when there are none.
#[must_use]
pub fn mean(values: &[Rational]) -> Option<Rational> {
    if values.is_empty() {
        return None;
    }
    Some(sum(values) / BigInt::from(values.len()))
}

/// The exact sum of squared deviations from the mean; zero for fewer than two values.
#[must_use]
pub fn squared_deviations(values: &[Rational]) -> Rational {
    if values.len() < 2 {
        return Rational::zero();
    }
    let denominator = common_denominator(values);
    let count = BigInt::from(values.len());
    let mut total = BigInt::zero();
    let mut squares = BigInt::zero();
    for value in values {
        let value = scaled(value, &denominator);
        squares += &value * &value;
        total += value;
    }
    // All integers, so the textbook shortcut is exact.
    Rational::new(&squares * &count - &total * &total, &denominator * &denominator * count)
}

/// The least common denominator of `values` (1 for none).
#[must_use]
pub fn common_denominator(values: &[Rational]) -> BigInt {
    values.iter().fold(BigInt::one(), |common, value| {
        if (&common % value.denom()).is_zero() { common } else { common.lcm(value.denom()) }
    })
}

/// The integer `value · denominator`, where `denominator` is a multiple of the denominator of `value`.
pub(crate) fn scaled(value: &Rational, denominator: &BigInt) -> BigInt {
    value.numer() * (denominator / value.denom())
}

/// The nearest `f64`, ties to even; beyond the range of `f64` an infinity of the right sign.
#[must_use]
pub fn to_f64(value: &Rational) -> f64 {
    let magnitude = quotient_to_f64(value.numer().magnitude(), value.denom().magnitude());
    if value.is_negative() { -magnitude } else { magnitude }
}

/// `numerator / denominator`, correctly rounded, without reducing the fraction first. The denominator is not zero.
pub(crate) fn quotient_to_f64(numerator: &BigUint, denominator: &BigUint) -> f64 {
    if numerator.is_zero() || denominator.is_zero() {
        return 0.0;
    }
    let shift = WORKING_BITS - (bits(numerator) - bits(denominator));
    let (numerator, denominator) = if shift >= 0 {
        (numerator << shift.unsigned_abs(), denominator.clone())
    } else {
        (numerator.clone(), denominator << shift.unsigned_abs())
    };
    let (quotient, remainder) = numerator.div_rem(&denominator);
    assemble(&quotient, -shift, !remainder.is_zero())
}

/// Whether `numerator / denominator` is at most `limit`, decided on integers. The denominator is not zero.
pub(crate) fn quotient_at_most(numerator: &BigUint, denominator: &BigUint, limit: &Rational) -> bool {
    BigInt::from(numerator * limit.denom().magnitude()) <= limit.numer() * BigInt::from(denominator.clone())
}

/// The correctly rounded square root of a value that is not negative; 0.0 for a negative one.
#[must_use]
pub fn sqrt_to_f64(value: &Rational) -> f64 {
    if !value.is_positive() {
        return 0.0;
    }
    let numerator = value.numer().magnitude();
    let denominator = value.denom().magnitude();
    // Scale by an even power of two so that the integer root has more bits than an f64.
    let half_shift = WORKING_BITS + 1 - (bits(numerator) - bits(denominator)).div_euclid(2);
    let shift = 2 * half_shift;
    let (numerator, denominator) = if shift >= 0 {
        (numerator << shift.unsigned_abs(), denominator.clone())
    } else {
        (numerator.clone(), denominator << shift.unsigned_abs())
    };
    let (quotient, remainder) = numerator.div_rem(&denominator);
    let root = quotient.sqrt();
    let inexact = !remainder.is_zero() || &root * &root != quotient;
    assemble(&root, -half_shift, inexact)
}

fn bits(value: &BigUint) -> i64 {
    i64::try_from(value.bits()).unwrap_or(i64::MAX)
}

/// The f64 nearest to `integer · 2^exponent` plus a positive remainder below one unit when `inexact`.
fn assemble(integer: &BigUint, exponent: i64, inexact: bool) -> f64 {
    let length = bits(integer);
    // Exponent of the last bit kept: 53 bits, fewer below the normal range.
    let last = (exponent + length - 53).max(-1074);
    let dropped = last - exponent;
    if dropped <= 0 {
        // Only reached with short integers, which fit an f64 exactly.
        return integer.to_f64().unwrap_or(f64::INFINITY) * power_of_two(exponent);
    }
    let dropped = dropped.unsigned_abs();
    let kept = integer >> dropped;
    let rest = integer - (&kept << dropped);
    let half = BigUint::one() << (dropped - 1);
    let round_up = match rest.cmp(&half) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => inexact || kept.is_odd(),
        std::cmp::Ordering::Greater => true,
    };
    let kept = kept.to_u64().unwrap_or(u64::MAX) + u64::from(round_up);
    // At most 2^53, hence exact; the product is exact down to the smallest subnormal.
    if last + 53 > 1024 + 53 {
        return f64::INFINITY;
    }
    let first = power_of_two(last.div_euclid(2));
    kept as f64 * first * power_of_two(last - last.div_euclid(2))
}

/// 2^exponent for exponents that fit an f64; 0 below and infinity above.
fn power_of_two(exponent: i64) -> f64 {
    2.0_f64.powi(i32::try_from(exponent).unwrap_or(if exponent < 0 { i32::MIN } else { i32::MAX }))
}

/// The exact value of a finite `f64`; `None` for NaN and infinities.
#[must_use]
pub fn from_f64(value: f64) -> Option<Rational> {
    let dyadic = Dyadic::new(value)?;
    Some(if dyadic.exponent >= 0 {
        Rational::from_integer(BigInt::from(dyadic.mantissa) << dyadic.exponent.unsigned_abs())
    } else {
        Rational::new(dyadic.mantissa.into(), BigInt::one() << dyadic.exponent.unsigned_abs())
    })
}

/// A finite f64 taken apart: `mantissa · 2^exponent`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dyadic {
    pub(crate) mantissa: i64,
    pub(crate) exponent: i32,
}

impl Dyadic {
    pub(crate) fn new(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let raw = value.to_bits();
        let biased = i32::try_from((raw >> 52) & 0x7ff).ok()?;
        let fraction = i64::try_from(raw & ((1 << 52) - 1)).ok()?;
        let (mantissa, exponent) = if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) };
        if mantissa == 0 {
            return Some(Self { mantissa: 0, exponent: 0 });
        }
        let trailing = mantissa.trailing_zeros();
        let mantissa = mantissa >> trailing;
        let exponent = exponent + i32::try_from(trailing).ok()?;
        Some(Self { mantissa: if value < 0.0 { -mantissa } else { mantissa }, exponent })
    }
}

/// The fraction that `value` most likely was before it was rounded: the first convergent of its continued fraction that
/// rounds to it. A fraction with a denominator below 2^26 is found again, since it lies within half a unit of the last
/// place and is then a convergent (Legendre 1798, *Essai sur la théorie des nombres*); any other value is returned as it
/// is. `None` for NaN and infinities.
#[must_use]
pub fn simplest_rounding_to(value: f64) -> Option<Rational> {
    let exact = from_f64(value)?;
    let (mut before, mut last) = ((BigInt::zero(), BigInt::one()), (BigInt::one(), BigInt::zero()));
    let mut rest = exact.clone();
    loop {
        let whole = rest.floor().to_integer();
        let next = (&whole * &last.0 + before.0, &whole * &last.1 + before.1);
        let convergent = Rational::new(next.0.clone(), next.1.clone());
        rest -= Rational::from_integer(whole);
        if rest.is_zero() || to_f64(&convergent) == value {
            return Some(if rest.is_zero() { exact } else { convergent });
        }
        rest = rest.recip();
        (before, last) = (last, next);
    }
}

/// The exact value of a plain decimal such as `0.05`, `-1`, `.5` or `1e-3`; `None` for anything else.
#[must_use]
pub fn parse_decimal(text: &str) -> Option<Rational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    // A larger exponent is no number a person writes, and would build an enormous integer.
    if exponent.unsigned_abs() > 400 {
        return None;
    }
    let (sign, digits) = match mantissa.as_bytes().first()? {
        b'-' => (Sign::Minus, &mantissa[1..]),
        b'+' => (Sign::Plus, &mantissa[1..]),
        _ => (Sign::Plus, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let joined = format!("{whole}{fraction}");
    if joined.is_empty() || !joined.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = BigUint::parse_bytes(joined.as_bytes(), 10)?;
    let sign = if magnitude.is_zero() { Sign::NoSign } else { sign };
    let numerator = BigInt::from_biguint(sign, magnitude);
    let exponent = i64::from(exponent) - i64::try_from(fraction.len()).ok()?;
    let power = BigInt::from(10).pow(u32::try_from(exponent.unsigned_abs()).ok()?);
    Some(if exponent >= 0 { Rational::from_integer(numerator * power) } else { Rational::new(numerator, power) })
}

/// `value` rounded to `decimals` places, ties to even, decided on the exact value and then rounded once to `f64`.
#[must_use]
pub fn round_half_even(value: &Rational, decimals: u32) -> f64 {
    let power = BigInt::from(10).pow(decimals);
    let numerator = value.numer() * &power;
    let (mut quotient, remainder) = numerator.div_mod_floor(value.denom());
    match (remainder * BigInt::from(2)).cmp(value.denom()) {
        std::cmp::Ordering::Less => {}
        std::cmp::Ordering::Equal => {
            if quotient.is_odd() {
                quotient += 1;
            }
        }
        std::cmp::Ordering::Greater => quotient += 1,
    }
    let negative = value.is_negative();
    let magnitude = quotient_to_f64(quotient.magnitude(), power.magnitude());
    if negative { -magnitude } else { magnitude }
}

/// `value` rounded to `decimals` places as Python's `round` does: ties to even on the exact binary value, so
/// 0.0078125 becomes 0.007812. NaN and infinities are returned unchanged.
#[must_use]
pub fn round_f64_half_even(value: f64, decimals: u32) -> f64 {
    match from_f64(value) {
        Some(exact) if value != 0.0 => round_half_even(&exact, decimals),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_found_again_in_its_double() {
        for (numerator, denominator) in
            [(1, 3), (2, 3), (-5, 7), (0, 1), (1, 1), (9_999, 10_000), (49_999_999, 50_000_017)]
        {
            let fraction = Rational::new(BigInt::from(numerator), BigInt::from(denominator));
            assert_eq!(simplest_rounding_to(to_f64(&fraction)), Some(fraction));
        }
        // the double next to 1/3 is another fraction, and rounds to itself
        let beside = (1.0_f64 / 3.0).next_up();
        let found = simplest_rounding_to(beside).unwrap();
        assert_eq!(to_f64(&found), beside);
        assert_ne!(found, rate(1, 3));
        for extreme in [f64::MIN_POSITIVE, 5e-324, 1e308, -0.0] {
            assert_eq!(to_f64(&simplest_rounding_to(extreme).unwrap()), extreme);
        }
        assert_eq!((simplest_rounding_to(f64::NAN), simplest_rounding_to(f64::INFINITY)), (None, None));
    }

    #[test]
    fn division_agrees_with_hardware_where_both_are_exactly_defined() {
        for numerator in [1_u64, 2, 3, 7, 10, 355, 9_007_199_254_740_991] {
            for denominator in [1_u64, 3, 7, 113, 1_000_003, 9_007_199_254_740_881] {
                assert_eq!(to_f64(&rate(numerator, denominator)), numerator as f64 / denominator as f64);
            }
        }
    }

    #[test]
    fn every_magnitude_of_f64_survives_the_round_trip() {
        for value in [0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, 0.1, -0.1, 1.0, 1e300, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(from_f64(value).map(|exact| to_f64(&exact)), Some(value), "{value:e}");
        }
        assert_eq!(from_f64(f64::NAN), None);
        assert_eq!(from_f64(f64::INFINITY), None);
    }

    #[test]
    fn halfway_between_two_floats_goes_to_the_even_one() {
        let tie = |last: u64| Rational::new((BigInt::from(1_u64 << 53) + last) * 2 + 1, 2.into());
        assert_eq!(to_f64(&tie(0)), 9_007_199_254_740_992.0);
        let half_of_the_smallest = from_f64(5e-324).map(|exact| exact / BigInt::from(2));
        assert_eq!(half_of_the_smallest.map(|exact| to_f64(&exact)), Some(0.0));
    }

    #[test]
    fn square_roots_are_correctly_rounded() {
        for value in [2_u64, 3, 4, 9, 10, 1_000_000, 123_456_789] {
            assert_eq!(sqrt_to_f64(&rate(value, 1)), (value as f64).sqrt());
        }
        assert_eq!(sqrt_to_f64(&rate(1, 4)), 0.5);
        assert_eq!(sqrt_to_f64(&Rational::zero()), 0.0);
        let tiny = from_f64(1e-300).map(|exact| sqrt_to_f64(&exact));
        assert_eq!(tiny, Some(1e-300_f64.sqrt()));
    }

    #[test]
    fn rounding_follows_python() {
        assert_eq!(round_f64_half_even(0.007_812_5, 6), 0.007_812);
        assert_eq!(round_f64_half_even(2.675, 2), 2.67);
        assert_eq!(round_f64_half_even(0.5, 0), 0.0);
        assert_eq!(round_f64_half_even(1.5, 0), 2.0);
        assert_eq!(round_f64_half_even(-2.5, 0), -2.0);
        assert_eq!(round_f64_half_even(1e300, 6), 1e300);
        assert!(round_f64_half_even(-0.000_000_1, 6).is_sign_negative());
        assert_eq!(round_half_even(&rate(2, 3), 6), 0.666_667);
    }

    #[test]
    fn decimals_are_read_exactly() {
        assert_eq!(parse_decimal("0.05"), Some(rate(1, 20)));
        assert_eq!(parse_decimal("-1.5e1"), Some(-rate(15, 1)));
        assert_eq!(parse_decimal(".5"), Some(rate(1, 2)));
        for text in ["", ".", "-", "1/2", "0x1", "NaN", "1e", "1e999", "1 ", "--1", "é"] {
            assert_eq!(parse_decimal(text), None, "{text:?}");
        }
    }

    #[test]
    fn mean_and_deviations_are_exact() {
        let values = [rate(1, 3), rate(2, 3), rate(1, 2)];
        assert_eq!(mean(&values), Some(rate(1, 2)));
        assert_eq!(squared_deviations(&values), rate(1, 18));
        assert_eq!(mean(&[]), None);
    }
}
