//! The sign-flip interval: all shifts of the deltas that the exact two-sided sign-flip test does not reject.
//!
//! Hartigan 1969 (*JASA* 64:1303), Tritchler 1984 (*JASA* 79:200): a shift θ below the mean is rejected with
//! p(θ) = 2·(1 + #{nonempty subsets of units with a mean of at most θ}) / 2^n, so the limits are order statistics of the
//! 2^n − 1 subset means. They are counted exactly: over (size, sum) on the lattice of the deltas, or one by one for few
//! units without a small lattice. Units that did not move count like the others.
//!
//! A companion figure, never the headline: it supposes deltas that are symmetric about the true mean, and misses the
//! true mean too often when bounded deltas are lopsided.

mod subset_means;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Zero};

use self::subset_means::{Heights, SubsetMeans};
use crate::rational::{Rational, to_f64};
use crate::verdict::minimum_cases;
use crate::withheld::Withheld;

/// The closed interval of the mean deltas that are not rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct InversionInterval {
    /// Units with a delta.
    pub n: usize,
    /// Two-sided error rate, so the confidence is 1 − alpha.
    pub alpha: f64,
    /// Lower limit, exact: the mean of a subset of the deltas.
    pub lower: Rational,
    /// Upper limit, exact: the mean of a subset of the deltas.
    pub upper: Rational,
}

impl InversionInterval {
    /// Half the distance of the limits.
    #[must_use]
    pub fn half_width(&self) -> Rational {
        (&self.upper - &self.lower) / BigInt::from(2)
    }

    /// The lower limit as the nearest `f64`.
    #[must_use]
    pub fn lower_f64(&self) -> f64 {
        to_f64(&self.lower)
    }

    /// The upper limit as the nearest `f64`.
    #[must_use]
    pub fn upper_f64(&self) -> f64 {
        to_f64(&self.upper)
    }
}

/// Inverts the exact sign-flip test at the two-sided error rate `alpha` (0 < alpha < 1). The one-sided limit at an error
/// rate is the two-sided one at twice the rate.
///
/// # Errors
///
/// [`Withheld::TooFewUnits`] when no shift could be rejected (also without units), [`Withheld::ConstantDeltas`] when all
/// deltas are equal, so that only a point would be left, [`Withheld::BeyondExactBudget`] when counting would take more
/// than 20 million words or 200 million word updates.
pub fn inversion_interval(deltas: &[Rational], alpha: &Rational) -> Result<InversionInterval, Withheld> {
    let n = deltas.len();
    if minimum_cases(alpha).is_none_or(|minimum| n < minimum.max(1)) {
        return Err(Withheld::TooFewUnits);
    }
    if deltas.iter().all(|delta| delta == &deltas[0]) {
        return Err(Withheld::ConstantDeltas);
    }
    subset_means::within_reach(n)?;
    let heights = Heights::new(deltas).ok_or(Withheld::BeyondExactBudget)?;
    let mut means = SubsetMeans::new(&heights)?;
    // 2·(1 + count) > alpha·2^n says: the count is at least the whole part of alpha·2^(n−1).
    let patterns = BigUint::one() << n;
    let rank = (alpha.numer() * BigInt::from(patterns.clone())).div_floor(&(alpha.denom() * BigInt::from(2)));
    let rank = rank.to_biguint().unwrap_or_else(BigUint::zero).clamp(BigUint::one(), &patterns - 1_u32);
    let lower = means.ranked(&rank);
    // The same rank from the top, among 2^n − 1 means.
    let upper = means.ranked(&(patterns - rank));
    Ok(InversionInterval { n, alpha: to_f64(alpha), lower: heights.mean(&lower), upper: heights.mean(&upper) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::{from_f64, rate};

    fn alpha() -> Rational {
        rate(1, 20)
    }

    #[test]
    fn six_units_span_their_deltas() {
        // floor(0.05 · 2^5) = 1: the limits are the smallest and the largest subset mean, which are single deltas.
        let deltas: Vec<Rational> = [1_u64, 3, 4, 5, 9, 10].iter().map(|&tenths| rate(tenths, 10)).collect();
        let interval = inversion_interval(&deltas, &alpha()).unwrap();
        assert_eq!((&interval.lower, &interval.upper), (&rate(1, 10), &rate(1, 1)));
        assert_eq!(interval.half_width(), rate(9, 20));
        assert_eq!((interval.lower_f64(), interval.upper_f64()), (0.1, 1.0));
    }

    #[test]
    fn without_a_bounded_set_there_are_no_limits() {
        assert_eq!(inversion_interval(&[], &alpha()), Err(Withheld::TooFewUnits));
        assert_eq!(inversion_interval(&vec![rate(1, 2); 5], &alpha()), Err(Withheld::TooFewUnits));
        assert_eq!(inversion_interval(&vec![rate(1, 2); 6], &alpha()), Err(Withheld::ConstantDeltas));
        assert_eq!(inversion_interval(&vec![rate(1, 2); 6], &rate(0, 1)), Err(Withheld::TooFewUnits));
    }

    #[test]
    fn many_units_are_withheld_at_once() {
        let deltas: Vec<Rational> = (0..100_000_u64).map(|unit| rate(unit % 6, 5)).collect();
        assert_eq!(inversion_interval(&deltas, &alpha()), Err(Withheld::BeyondExactBudget));
        let deltas: Vec<Rational> = (0..2_000_u64).map(|unit| rate(unit % 6, 5)).collect();
        assert_eq!(inversion_interval(&deltas, &alpha()), Err(Withheld::BeyondExactBudget));
        // Forty deltas whose sums share no small lattice.
        let deltas: Vec<Rational> = (1..=40_u64).map(|unit| rate(1, unit * 1_000_003 + 1)).collect();
        assert_eq!(inversion_interval(&deltas, &alpha()), Err(Withheld::BeyondExactBudget));
    }

    #[test]
    fn a_few_units_without_a_lattice_are_counted_one_by_one() {
        // 2^12 / 40 = 102 subset means to pass on each side; sorted here by brute force on floats, which are far apart.
        let values: Vec<f64> = (1..=12).map(|unit| (f64::from(unit) * 1.7).sin()).collect();
        let deltas: Vec<Rational> = values.iter().map(|&value| from_f64(value).unwrap()).collect();
        let mut means: Vec<f64> = (1_u32..1 << 12)
            .map(|subset| {
                let chosen = (0..12).filter(|unit| subset >> unit & 1 == 1);
                chosen.map(|unit| values[unit as usize]).sum::<f64>() / f64::from(subset.count_ones())
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let interval = inversion_interval(&deltas, &alpha()).unwrap();
        assert!((interval.lower_f64() - means[102 - 1]).abs() < 1e-14);
        assert!((interval.upper_f64() - means[means.len() - 102]).abs() < 1e-14);
    }

    #[test]
    fn more_units_than_a_machine_word_has_bits() {
        // 60 zeros and 80 ones. A subset of k ones and j zeros has the mean k/(k+j), so the limit v = k*/m* is where the
        // subsets with k·(1 − v) ≤ j·v reach the rank; checked by counting at the limit and just below it.
        let deltas: Vec<Rational> = (0..140_u64).map(|unit| rate(u64::from(unit >= 60), 1)).collect();
        let interval = inversion_interval(&deltas, &alpha()).unwrap();
        let count = |within: &dyn Fn(&Rational) -> bool| -> BigUint {
            let mut subsets = BigUint::zero();
            for ones in 0..=80_u64 {
                for zeros in 0..=60_u64 {
                    if ones + zeros > 0 && within(&rate(ones, ones + zeros)) {
                        subsets += crate::reliability::choose(80, ones) * crate::reliability::choose(60, zeros);
                    }
                }
            }
            subsets
        };
        let rank = (BigUint::one() << 139_u32) / 20_u32;
        assert!(count(&|mean| mean <= &interval.lower) >= rank);
        assert!(count(&|mean| mean < &interval.lower) < rank);
        assert!(count(&|mean| mean >= &interval.upper) >= rank);
        assert!(count(&|mean| mean > &interval.upper) < rank);
    }
}
