//! The 90th percentile of measured numbers (latency, cost, tokens) and an upper bound of it that supposes no law.
//!
//! Values that are NaN or infinite are treated as missing. The percentile of the keys of version 0.6 is
//! [`describe::p90`](crate::describe::p90).

use num_bigint::BigInt;

use crate::rational::{from_f64, to_f64};
use crate::special::beta_tails;
use crate::withheld::Withheld;

/// Fewest values for which the largest one bounds the percentile with 95 % confidence: 0.9^29 < 0.05 < 0.9^28.
const FEWEST_FOR_A_BOUND: usize = 29;

/// The 90th percentile of a list of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NinetiethPercentile {
    /// Values.
    pub n: usize,
    /// Type 7 of Hyndman & Fan 1996 (*Am. Stat.* 50:361): linear between the values around position 0.9·(n − 1).
    pub value: f64,
    /// A value that the true percentile does not exceed, with 95 % confidence and for any law of independent values.
    /// Withheld for fewer than 29 values (`too_few_values`).
    pub upper: Result<OrderStatistic, Withheld>,
}

/// One of the values, by its place in ascending order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderStatistic {
    /// Its place, counted from 1.
    pub rank: usize,
    /// The value.
    pub value: f64,
}

/// The 90th percentile of `values`.
///
/// # Errors
///
/// [`Withheld::TooFewValues`] without values.
pub fn ninetieth_percentile(values: &[f64]) -> Result<NinetiethPercentile, Withheld> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let last = n.checked_sub(1).ok_or(Withheld::TooFewValues)?;
    let tenths = last as u128 * 9;
    // At most the last place, so the conversion is exact.
    let (place, rest) = ((tenths / 10) as usize, (tenths % 10) as u32);
    let upper = upper_rank(n)
        .and_then(|rank| Some(OrderStatistic { rank, value: *sorted.get(rank.checked_sub(1)?)? }))
        .ok_or(Withheld::TooFewValues);
    Ok(NinetiethPercentile { n, value: between(sorted[place], sorted[(place + 1).min(last)], rest), upper })
}

/// `low` plus `tenths` tenths of the way to `high`, exact and rounded once.
fn between(low: f64, high: f64, tenths: u32) -> f64 {
    match (from_f64(low), from_f64(high)) {
        (Some(exact_low), Some(exact_high)) if tenths > 0 && low < high => {
            let way = (exact_high - &exact_low) * BigInt::from(tenths) / BigInt::from(10);
            to_f64(&(exact_low + way))
        }
        _ => low,
    }
}

/// The smallest rank r, counted from 1, with P(Bin(n, 0.9) ≤ r − 1) ≥ 0.95; `None` when even the largest value is no
/// bound.
fn upper_rank(n: usize) -> Option<usize> {
    if n < FEWEST_FOR_A_BOUND {
        return None;
    }
    let bounds = |rank: usize| beta_tails(rank as f64, (n - rank + 1) as f64, 0.9, 0.1).upper >= 0.95;
    let (mut low, mut high) = (1, n);
    while low < high {
        let middle = usize::midpoint(low, high);
        if bounds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::binomial_chance;

    #[test]
    fn the_bound_is_the_first_rank_whose_binomial_chance_suffices() {
        for n in [29, 30, 46, 47, 100, 1_000, 20_000] {
            let at_most = |count: usize| (0..=count).map(|it| binomial_chance(it, n, 0.9)).sum::<f64>();
            let rank = upper_rank(n).unwrap();
            assert!(at_most(rank - 1) >= 0.95, "{n} {rank}");
            assert!(at_most(rank - 2) < 0.95, "{n} {rank}");
        }
        assert_eq!(upper_rank(28), None);
        assert_eq!(upper_rank(29), Some(29));
    }

    #[test]
    fn without_values_there_is_no_percentile() {
        assert_eq!(ninetieth_percentile(&[]), Err(Withheld::TooFewValues));
        assert_eq!(ninetieth_percentile(&[f64::NAN]), Err(Withheld::TooFewValues));
        assert_eq!(ninetieth_percentile(&[f64::NAN, 3.0]).unwrap().value, 3.0);
    }

    #[test]
    fn a_hundred_thousand_values_have_a_bound_close_by() {
        let values: Vec<f64> = (0..100_000).rev().map(f64::from).collect();
        let result = ninetieth_percentile(&values).unwrap();
        // 0.9 · 99 999; the bound is about 1.645 · √(n · 0.09) = 156 places above.
        assert_eq!(result.value, 89_999.1);
        let bound = result.upper.unwrap();
        assert_eq!(bound.value, (bound.rank - 1) as f64);
        assert!((90_150..90_165).contains(&bound.rank), "{}", bound.rank);
    }
}
