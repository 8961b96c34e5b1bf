//! Robust companions of the mean delta: the Hodges–Lehmann estimate, and the mean without one case.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};

use crate::rational::{Rational, common_denominator, mean, scaled, sum};
use crate::withheld::Withheld;

/// Steps on integers of any length that may be taken; one is worth about ten on machine integers.
const LONG_BUDGET: u128 = 20_000_000;

/// The median of the averages (δ_i + δ_j)/2 over all i ≤ j (Hodges & Lehmann 1963 *Ann. Math. Stat.* 34:598), exact; with
/// an even number of averages the mean of the two middle ones.
///
/// The averages are never listed: those up to a value are counted by one pass over the sorted deltas, and the value is
/// found by bisection on their lattice.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::BeyondExactBudget`] for very many units whose deltas share no
/// lattice of machine integers.
pub fn hodges_lehmann(deltas: &[Rational]) -> Result<Rational, Withheld> {
    let n = deltas.len() as u128;
    if n == 0 {
        return Err(Withheld::NoEligiblePairs);
    }
    let denominator = common_denominator(deltas);
    let long: Vec<BigInt> = deltas.iter().map(|delta| scaled(delta, &denominator)).collect();
    // A quarter of the range, so that no sum of two and no midpoint overflows.
    let fits = |value: &BigInt| value.to_i128().filter(|value| value.unsigned_abs() < 1 << 125);
    let doubled = if let Some(short) = long.iter().map(fits).collect::<Option<Vec<i128>>>() {
        BigInt::from(middle_sums(short))
    } else {
        let bits = long.iter().map(BigInt::bits).max().unwrap_or(0);
        if n * u128::from(bits) > LONG_BUDGET {
            return Err(Withheld::BeyondExactBudget);
        }
        middle_sums(long)
    };
    Ok(Rational::new(doubled, denominator * BigInt::from(4)))
}

/// Twice the median of the sums of two values, each with each and with itself.
fn middle_sums<T: Integer + Clone>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    let n = values.len() as u128;
    let sums = n * (n + 1) / 2;
    let lower = ranked_sum(&values, sums.div_ceil(2));
    if sums % 2 == 1 {
        return lower.clone() + lower;
    }
    let upper = ranked_sum(&values, sums / 2 + 1);
    lower + upper
}

/// The `rank`-th smallest sum of two of the ascending values, counted from 1.
fn ranked_sum<T: Integer + Clone>(values: &[T], rank: u128) -> T {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return T::zero() };
    let two = T::one() + T::one();
    let (mut low, mut high) = (first.clone() + first.clone(), last.clone() + last.clone());
    while low < high {
        let middle = (low.clone() + high.clone()).div_floor(&two);
        if sums_up_to(values, &middle) >= rank { high = middle } else { low = middle + T::one() }
    }
    low
}

/// Sums of two of the ascending values, i ≤ j, that are at most `limit`.
fn sums_up_to<T: Integer + Clone>(values: &[T], limit: &T) -> u128 {
    let mut reach = values.len();
    let mut sums = 0_u128;
    for (index, value) in values.iter().enumerate() {
        while reach > index && value.clone() + values[reach - 1].clone() > *limit {
            reach -= 1;
        }
        if reach <= index {
            break;
        }
        sums += (reach - index) as u128;
    }
    sums
}

/// Whether the robust estimate is farther from the mean than a quarter of the `width` of the interval of the mean, which
/// says that few cases carry the lift.
#[must_use]
pub fn few_cases_carry_the_lift(mean: &Rational, robust: &Rational, width: &Rational) -> bool {
    (mean - robust).abs() * BigInt::from(4) > *width
}

/// The mean delta when one unit is left out, at its lowest and its highest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaveOneOut {
    /// The lowest mean.
    pub lowest: Rational,
    /// The place in the list of the unit without which the mean is lowest: the largest delta, the first of several.
    pub lowest_without: usize,
    /// The highest mean.
    pub highest: Rational,
    /// The place in the list of the unit without which the mean is highest: the smallest delta, the first of several.
    pub highest_without: usize,
    /// The place in the list of the unit without which the mean moves most; the first of several.
    pub most_influential: usize,
}

/// The range of the mean delta over all ways to leave out one unit.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] with one.
pub fn leave_one_out(deltas: &[Rational]) -> Result<LeaveOneOut, Withheld> {
    let (Some(least), Some(most), Some(mean)) = (deltas.iter().min(), deltas.iter().max(), mean(deltas)) else {
        return Err(Withheld::NoEligiblePairs);
    };
    if deltas.len() == 1 {
        return Err(Withheld::TooFewUnits);
    }
    let total = sum(deltas);
    let rest = BigInt::from(deltas.len() - 1);
    // Leaving out δ moves the mean by (mean − δ)/(n − 1), so the farthest delta moves it most.
    let farthest = (&mean - least).max(most - &mean);
    let first = |is: &dyn Fn(&Rational) -> bool| deltas.iter().position(is).unwrap_or(0);
    Ok(LeaveOneOut {
        lowest: (&total - most) / &rest,
        lowest_without: first(&|delta| delta == most),
        highest: (total - least) / rest,
        highest_without: first(&|delta| delta == least),
        most_influential: first(&|delta| (delta - &mean).abs() == farthest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn one_unit_is_its_own_estimate() {
        assert_eq!(hodges_lehmann(&[rate(2, 7)]), Ok(rate(2, 7)));
        assert_eq!(hodges_lehmann(&[]), Err(Withheld::NoEligiblePairs));
    }

    #[test]
    fn long_lattices_give_the_same_as_short_ones() {
        // The averages sorted: 0, 1/22, 1/14, 1/11, 9/77, 1/7, 1/6, 7/33, 5/21, 1/3; in the middle 9/77 and 11/77.
        let plain = [rate(0, 1), rate(1, 11), rate(1, 7), rate(1, 3)];
        let step = Rational::new(1.into(), BigInt::from(10).pow(60));
        let shifted: Vec<Rational> = plain.iter().map(|delta| delta - &step).collect();
        assert_eq!(hodges_lehmann(&shifted).unwrap() + step, hodges_lehmann(&plain).unwrap());
        assert_eq!(hodges_lehmann(&plain).unwrap(), rate(10, 77));
    }

    #[test]
    fn a_hundred_thousand_units_need_no_list_of_averages() {
        // −1/5, 0, 1/5, …, 4/5 in equal shares: symmetric about 3/10.
        let deltas: Vec<Rational> = (0..100_002_u64).map(|unit| rate(unit % 6, 5) - rate(1, 5)).collect();
        assert_eq!(hodges_lehmann(&deltas), Ok(rate(3, 10)));
    }

    #[test]
    fn many_units_on_an_enormous_lattice_are_withheld() {
        let denominator = BigInt::from(10).pow(400);
        let numerator = |unit: u64| &denominator / BigInt::from(10) + unit * 10 + 1_u32;
        let deltas: Vec<Rational> =
            (0..20_000).map(|unit| Rational::new_raw(numerator(unit), denominator.clone())).collect();
        assert_eq!(hodges_lehmann(&deltas), Err(Withheld::BeyondExactBudget));
    }

    #[test]
    fn the_unit_that_moves_the_mean_most_is_named() {
        let deltas = [rate(1, 10), rate(1, 10), rate(1, 1), rate(1, 5)];
        let range = leave_one_out(&deltas).unwrap();
        assert_eq!(range.lowest, rate(4, 30));
        assert_eq!(range.highest, rate(13, 30));
        assert_eq!((range.lowest_without, range.highest_without, range.most_influential), (2, 0, 2));
        assert_eq!(leave_one_out(&[]), Err(Withheld::NoEligiblePairs));
        assert_eq!(leave_one_out(&deltas[..1]), Err(Withheld::TooFewUnits));
    }

    #[test]
    fn a_quarter_of_the_width_is_not_yet_few() {
        let (mean, width) = (rate(3, 10), rate(4, 10));
        assert!(!few_cases_carry_the_lift(&mean, &rate(2, 10), &width));
        assert!(few_cases_carry_the_lift(&mean, &rate(19, 100), &width));
        assert!(few_cases_carry_the_lift(&mean, &rate(41, 100), &width));
    }
}
