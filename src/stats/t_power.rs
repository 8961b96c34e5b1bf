//! The power of Student's paired t test by its exact law, as other planners give it.
//!
//! The plans of [`power`](crate::power) are for the sign-flip test, which decides; these figures are for comparison.
//! Deltas are taken as normal.

use crate::normal::normal_critical;
use crate::power::{TARGET_POWER, smallest};
use crate::special::{beta_tails, poisson_chance, student_t_critical};

/// Largest Poisson mean whose terms are summed; about ten times its root of them matter.
const LARGEST_MEAN: f64 = 1e9;
/// A weight that no sum of so many terms can show.
const NEGLIGIBLE: f64 = 1e-22;

/// Chance that the two-sided t test at error rate `alpha` (0 < alpha < 1) on the deltas of `cases` rejects when the true mean
/// is `standardised_lift` standard deviations. `None` for fewer than two cases, a lift that is not finite, and a lift so
/// extreme beside so small an alpha that the sum has no end.
///
/// t² follows the noncentral F law with 1 and cases − 1 degrees of freedom, whose tail is a Poisson mixture of beta tails
/// (Johnson, Kotz & Balakrishnan 1995, *Continuous Univariate Distributions* 2, ch. 30).
#[must_use]
pub fn t_test_power(cases: usize, standardised_lift: f64, alpha: f64) -> Option<f64> {
    if cases < 2 || !standardised_lift.is_finite() {
        return None;
    }
    let freedom = (cases - 1) as f64;
    let square = student_t_critical(alpha / 2.0, freedom).powi(2);
    let mean = cases as f64 * standardised_lift * standardised_lift / 2.0;
    // To stay below its critical value t would need an estimated deviation twenty times the true one.
    if mean > 200.0 * square && mean > 200.0 {
        return Some(1.0);
    }
    if mean > LARGEST_MEAN {
        return None;
    }
    let (x, y) = (square / (freedom + square), freedom / (freedom + square));
    let rejects = |count: f64| beta_tails(count + 0.5, freedom / 2.0, x, y).upper;
    if mean <= 0.0 {
        return Some(rejects(0.0));
    }
    // From the most likely count outwards, so that no weight is lost before it matters.
    let mode = mean.floor();
    let at_mode = poisson_chance(mode, mean);
    let mut power = at_mode * rejects(mode);
    let (mut count, mut weight) = (mode, at_mode);
    while count > 0.0 && weight > NEGLIGIBLE {
        weight *= count / mean;
        count -= 1.0;
        power += weight * rejects(count);
    }
    let (mut count, mut weight) = (mode, at_mode);
    while weight > NEGLIGIBLE {
        count += 1.0;
        weight *= mean / count;
        power += weight * rejects(count);
    }
    Some(power.min(1.0))
}

/// The fewest cases, at least 2, for which the t test has the target power; `None` when the lift is 0 or the plan is
/// absurdly large.
#[must_use]
pub fn t_test_cases_needed(standardised_lift: f64, alpha: f64) -> Option<usize> {
    // The normal formula is never far below, and keeps a hopeless plan from being searched.
    normal_cases_needed(standardised_lift, alpha)?;
    smallest(2, |cases| t_test_power(cases, standardised_lift, alpha).is_some_and(|power| power >= TARGET_POWER))
}

/// ((z(1 − alpha/2) + z(0.8))/lift)², rounded up: the textbook formula, too small for few cases.
#[must_use]
pub fn normal_cases_needed(standardised_lift: f64, alpha: f64) -> Option<usize> {
    let quantiles = normal_critical(alpha / 2.0) + normal_critical(1.0 - TARGET_POWER);
    let cases = (quantiles / standardised_lift).powi(2).ceil();
    (cases <= 1e7).then_some(cases as usize)
}

/// The standardised lift that the t test on `cases` deltas detects with the target power; `None` as for [`t_test_power`].
#[must_use]
pub fn t_test_detectable_lift(cases: usize, alpha: f64) -> Option<f64> {
    let enough = |lift: f64| Some(t_test_power(cases, lift, alpha)? >= TARGET_POWER);
    let (mut low, mut high) = (0.0, 1.0);
    while !enough(high)? {
        low = high;
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return Some(high);
        }
        if enough(middle)? { high = middle } else { low = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_lift_the_power_is_alpha() {
        for cases in [2, 3, 10, 1_000] {
            for alpha in [0.01, 0.05, 0.5] {
                let power = t_test_power(cases, 0.0, alpha).unwrap();
                assert!((power / alpha - 1.0).abs() < 1e-12, "{cases} {alpha} {power}");
            }
        }
    }

    #[test]
    fn power_grows_with_the_lift_and_has_no_side() {
        let power = |lift: f64| t_test_power(12, lift, 0.05).unwrap();
        assert!((0..40).all(|step| power(f64::from(step) / 10.0) < power(f64::from(step + 1) / 10.0) + 1e-14));
        assert_eq!(power(0.7), power(-0.7));
        assert_eq!(power(1e6), 1.0);
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!((t_test_power(1, 0.5, 0.05), t_test_power(9, f64::NAN, 0.05)), (None, None));
        assert_eq!((t_test_cases_needed(0.0, 0.05), t_test_cases_needed(1e-9, 0.05)), (None, None));
        assert_eq!(t_test_power(2, 1e6, 1e-14), None);
        assert_eq!(t_test_detectable_lift(1, 0.05), None);
    }
}
