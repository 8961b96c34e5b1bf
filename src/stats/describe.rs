//! Descriptive summaries of measured numbers (tokens, cost, time, rates), computed exactly and rounded once.
//!
//! Inputs are `f64`; NaN and infinities are treated as missing values.

use num_bigint::BigInt;
use num_traits::{One, Zero};

use crate::rational::{Dyadic, Rational, round_f64_half_even, round_half_even, sqrt_to_f64, to_f64};

/// Decimals kept in a [`CostSummary`].
const COST_DECIMALS: u32 = 6;

/// Location and spread of a list of numbers, unrounded. Every value is `None` when the list is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Exact mean, rounded once.
    pub mean: Option<f64>,
    /// Sample standard deviation; 0.0 for a single value.
    pub stddev: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Middle value, or the mean of the two middle values.
    pub median: Option<f64>,
    /// How many values there are.
    pub n: usize,
}

/// Total and typical cost, each rounded to six decimals. Every value is `None` when the list is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostSummary {
    /// Exact sum.
    pub sum: Option<f64>,
    /// Exact mean.
    pub mean: Option<f64>,
    /// Middle value, or the mean of the two middle values.
    pub median: Option<f64>,
    /// The value nine tenths of the way up the sorted list, without interpolation.
    pub p90: Option<f64>,
    /// How many values there are.
    pub n: usize,
}

/// Summarises `values`.
#[must_use]
pub fn summary(values: &[f64]) -> Summary {
    let sorted = sorted(values);
    Summary {
        mean: mean(&sorted),
        stddev: stddev(&sorted),
        min: sorted.first().copied(),
        max: sorted.last().copied(),
        median: middle(&sorted),
        n: sorted.len(),
    }
}

/// Summarises costs, rounded to six decimals.
#[must_use]
pub fn cost_summary(values: &[f64]) -> CostSummary {
    let sorted = sorted(values);
    let sum = exact_sum(&sorted);
    let n = sorted.len();
    let present = !sorted.is_empty();
    CostSummary {
        sum: present.then(|| round_half_even(&sum, COST_DECIMALS)),
        // Rounded twice on purpose: the format rounds the float mean.
        mean: mean(&sorted).map(|value| round_f64_half_even(value, COST_DECIMALS)),
        median: middle(&sorted).map(|value| round_f64_half_even(value, COST_DECIMALS)),
        p90: p90(&sorted).map(|value| round_f64_half_even(value, COST_DECIMALS)),
        n,
    }
}

/// The exact sum of `values`, as a rational.
#[must_use]
pub fn exact_sum(values: &[f64]) -> Rational {
    let (integers, scale) = aligned(values);
    let total: BigInt = integers.into_iter().sum();
    Rational::from_integer(total) * scale
}

/// The exact mean of `values`, rounded once: the mean of three 0.1 is 0.1. `None` when there are none.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    let count = values.iter().filter(|value| value.is_finite()).count();
    (count > 0).then(|| to_f64(&(exact_sum(values) / BigInt::from(count))))
}

/// The sample standard deviation (n − 1) from the exact variance with a correctly rounded root.
/// 0.0 for a single value, `None` when there are none.
#[must_use]
pub fn stddev(values: &[f64]) -> Option<f64> {
    let (integers, scale) = aligned(values);
    match integers.len() {
        0 => None,
        1 => Some(0.0),
        length => {
            let count = BigInt::from(length);
            let total: BigInt = integers.iter().sum();
            let squares: BigInt = integers.iter().map(|value| value * value).sum();
            let variance = Rational::new(squares * &count - &total * &total, &count * (&count - 1));
            Some(sqrt_to_f64(&(variance * &scale * scale)))
        }
    }
}

/// The middle value, or half the sum of the two middle values. `None` when there are none.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    middle(&sorted(values))
}

/// The value at the index nine tenths of (n − 1), rounded half to even, of the ascending list. `None` when empty.
#[must_use]
pub fn p90(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    p90_index(sorted.len()).and_then(|index| sorted.get(index).copied())
}

/// The zero-based index that [`p90`] reads in an ascending list of `length` values; `None` when empty.
#[must_use]
pub fn p90_index(length: usize) -> Option<usize> {
    let tenths = length.checked_sub(1)?.checked_mul(9)?;
    let (index, rest) = (tenths / 10, tenths % 10);
    Some(if rest > 5 || (rest == 5 && index % 2 == 1) { index + 1 } else { index })
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(half.checked_sub(1)?)?;
    Some((lower + upper) / 2.0)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The finite values as integers on one binary scale: each value is its integer times the returned scale.
fn aligned(values: &[f64]) -> (Vec<BigInt>, Rational) {
    let dyadics: Vec<Dyadic> = values.iter().filter_map(|&value| Dyadic::new(value)).collect();
    let smallest =
        dyadics.iter().filter(|dyadic| dyadic.mantissa != 0).map(|dyadic| dyadic.exponent).min().unwrap_or(0);
    let integers = dyadics
        .iter()
        .map(|dyadic| match dyadic.mantissa {
            0 => BigInt::zero(),
            mantissa => BigInt::from(mantissa) << dyadic.exponent.abs_diff(smallest),
        })
        .collect();
    let power = BigInt::one() << smallest.unsigned_abs();
    let scale = if smallest >= 0 { Rational::from_integer(power) } else { Rational::new(BigInt::one(), power) };
    (integers, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tenths_have_mean_one_tenth() {
        assert_eq!(mean(&[0.1, 0.1, 0.1]), Some(0.1));
        assert_eq!(stddev(&[0.1, 0.1, 0.1]), Some(0.0));
    }

    #[test]
    fn values_that_are_not_numbers_are_missing() {
        assert_eq!(summary(&[f64::NAN, 2.0, f64::INFINITY]), summary(&[2.0]));
    }

    #[test]
    fn ninetieth_percentile_index_rounds_half_to_even() {
        let indices: Vec<_> = [0, 1, 2, 6, 16, 26].iter().map(|&length| p90_index(length)).collect();
        assert_eq!(indices, [None, Some(0), Some(1), Some(4), Some(14), Some(22)]);
    }
}
