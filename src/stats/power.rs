//! Planning figures: the smallest lift this many cases would detect, and the cases a given lift needs.
//!
//! Approximate: the t formula, corrected by factors measured for the exact test with normal deltas.

use num_traits::Signed;

use crate::interval::padded_standard_deviation;
use crate::rational::{Rational, to_f64};
use crate::special::{student_t_critical, student_t_quantile};
use crate::verdict::minimum_cases;
use crate::withheld::Withheld;

/// The chance of detecting the lift that the figures are made for.
pub const TARGET_POWER: f64 = 0.8;

/// No plan beyond about this many cases is reported.
pub const LARGEST_PLAN: usize = 10_000_000;

/// What a plan is made for: the two-sided error rate of the test, and the chance of detecting the lift.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerGoal {
    alpha: Rational,
    power: f64,
}

impl PowerGoal {
    /// Takes the error rate and the chance; `None` unless 0 < alpha < power < 1.
    #[must_use]
    pub fn new(alpha: Rational, power: f64) -> Option<Self> {
        let rate = to_f64(&alpha);
        let valid = alpha.is_positive() && rate < power && power < 1.0;
        valid.then_some(Self { alpha, power })
    }

    /// The two-sided error rate.
    #[must_use]
    pub const fn alpha(&self) -> &Rational {
        &self.alpha
    }

    /// The chance of detecting the lift.
    #[must_use]
    pub const fn power(&self) -> f64 {
        self.power
    }

    /// The smallest number of units for which some outcome reaches alpha.
    #[must_use]
    pub fn minimum_cases(&self) -> usize {
        // alpha is positive
        minimum_cases(&self.alpha).unwrap_or(usize::MAX)
    }

    /// The smallest detectable lift of `cases` units with the given standard deviation, not capped at 1.
    ///
    /// # Errors
    ///
    /// [`Withheld::TooFewUnits`] when no outcome of so few units could reach alpha.
    pub fn detectable_lift(&self, cases: usize, standard_deviation: f64) -> Result<f64, Withheld> {
        lift_with_power(cases, standard_deviation, &self.alpha, self.power)
    }

    /// The smallest number of cases, at least the minimum for any significance, whose detectable lift is at most
    /// `lift`; `None` when `lift` is not positive or the plan is absurdly large.
    #[must_use]
    pub fn cases_needed(&self, standard_deviation: f64, lift: f64) -> Option<usize> {
        cases_with_power(standard_deviation, lift, &self.alpha, self.power)
    }
}

/// The smallest lift that would be detected with the target power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectableLift {
    /// Mean delta, in 0..=1; 1 when `not_detectable`.
    pub lift: f64,
    /// Even the largest possible lift would be missed too often.
    pub not_detectable: bool,
    /// Standard deviation of the deltas including two pads, that the figure rests on.
    pub standard_deviation: f64,
}

/// The smallest detectable lift for as many units as there are deltas, with their padded standard deviation.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] when no outcome could reach `alpha`.
pub fn smallest_detectable_lift(deltas: &[Rational], alpha: &Rational) -> Result<DetectableLift, Withheld> {
    let standard_deviation = padded_standard_deviation(deltas)?;
    let lift = detectable_lift(deltas.len(), standard_deviation, alpha)?;
    Ok(DetectableLift { lift: lift.min(1.0), not_detectable: lift > 1.0, standard_deviation })
}

/// The smallest detectable lift of `cases` units with the given standard deviation, not capped at 1.
///
/// # Errors
///
/// [`Withheld::TooFewUnits`] when no outcome of so few units could reach `alpha`.
pub fn detectable_lift(cases: usize, standard_deviation: f64, alpha: &Rational) -> Result<f64, Withheld> {
    lift_with_power(cases, standard_deviation, alpha, TARGET_POWER)
}

fn lift_with_power(cases: usize, standard_deviation: f64, alpha: &Rational, power: f64) -> Result<f64, Withheld> {
    let minimum = minimum_cases(alpha).ok_or(Withheld::TooFewUnits)?;
    if cases < minimum.max(2) {
        return Err(Withheld::TooFewUnits);
    }
    Ok(exact_test_factor(cases) * t_lift_with_power(cases, standard_deviation, to_f64(alpha), power))
}

/// The t formula alone: (t(1 − alpha/2) + t(0.8))·sd/√cases with cases − 1 degrees of freedom. At least two cases.
#[must_use]
pub fn t_detectable_lift(cases: usize, standard_deviation: f64, alpha: f64) -> f64 {
    t_lift_with_power(cases, standard_deviation, alpha, TARGET_POWER)
}

fn t_lift_with_power(cases: usize, standard_deviation: f64, alpha: f64, power: f64) -> f64 {
    let freedom = cases.saturating_sub(1).max(1) as f64;
    let quantiles = student_t_critical(alpha / 2.0, freedom) + student_t_quantile(power, freedom);
    quantiles * standard_deviation / (cases as f64).sqrt()
}

/// How much larger the lift must be for the exact test than the t formula says, measured by simulation for an error rate
/// of 0.05 and the target power.
#[must_use]
pub const fn exact_test_factor(cases: usize) -> f64 {
    match cases {
        0..=6 => 1.26,
        7 | 8 => 1.04,
        9 | 11..=13 => 1.02,
        10 => 1.01,
        _ => 1.0,
    }
}

/// The smallest number of cases, at least the minimum for any significance, whose detectable lift is at most
/// `min_lift`; `None` when `min_lift` or alpha is not positive or the plan is absurdly large.
#[must_use]
pub fn cases_needed(standard_deviation: f64, min_lift: f64, alpha: &Rational) -> Option<usize> {
    cases_with_power(standard_deviation, min_lift, alpha, TARGET_POWER)
}

fn cases_with_power(standard_deviation: f64, lift: f64, alpha: &Rational, power: f64) -> Option<usize> {
    let minimum = minimum_cases(alpha)?.max(2);
    let enough = |cases: usize| {
        lift_with_power(cases, standard_deviation, alpha, power).is_ok_and(|detectable| detectable <= lift)
    };
    smallest(minimum, enough)
}

/// What is known about the spread of one case's delta before more runs are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeltaSpread {
    /// Standard deviation of the true deltas between cases.
    pub between_cases: f64,
    /// Standard deviation of runs of one case with the skill.
    pub runs_with: f64,
    /// Standard deviation of runs of one case without the skill.
    pub runs_without: f64,
}

impl DeltaSpread {
    /// Standard deviation of a case's observed delta with `repetitions` runs in each arm.
    #[must_use]
    pub fn of_case_delta(&self, repetitions: usize) -> f64 {
        self.of_mean_repetitions(repetitions as f64)
    }

    /// The same for cases with unequal numbers of repetitions, given what they amount to; 1 at least.
    #[must_use]
    pub fn of_mean_repetitions(&self, repetitions: f64) -> f64 {
        (self.between_cases * self.between_cases + self.noise_of_a_pair() / repetitions.max(1.0)).sqrt()
    }

    /// The variance that the delta of one pair of runs has from their noise.
    #[must_use]
    pub fn noise_of_a_pair(&self) -> f64 {
        self.runs_with * self.runs_with + self.runs_without * self.runs_without
    }

    /// The smallest number of cases (at least 2) for which the t formula detects `min_lift` with `repetitions` runs
    /// in each arm. To compare repetitions with cases; the exact test needs a few more when the answer is small.
    #[must_use]
    pub fn cases_needed(&self, repetitions: usize, min_lift: f64, alpha: &Rational) -> Option<usize> {
        let alpha = to_f64(alpha);
        let standard_deviation = self.of_case_delta(repetitions);
        smallest(2, |cases| t_detectable_lift(cases, standard_deviation, alpha) <= min_lift)
    }
}

/// The smallest count from `minimum` up that is enough, for a condition that stays true: doubling, then bisection.
pub(crate) fn smallest(minimum: usize, enough: impl Fn(usize) -> bool) -> Option<usize> {
    if enough(minimum) {
        return Some(minimum);
    }
    let mut low = minimum;
    let mut high = minimum.checked_mul(2)?;
    while !enough(high) {
        if high > LARGEST_PLAN {
            return None;
        }
        low = high;
        high = high.checked_mul(2)?;
    }
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn too_few_units_detect_nothing() {
        let alpha = rate(1, 20);
        assert_eq!(smallest_detectable_lift(&[], &alpha), Err(Withheld::NoEligiblePairs));
        assert_eq!(smallest_detectable_lift(&vec![rate(1, 2); 5], &alpha), Err(Withheld::TooFewUnits));
        let six = smallest_detectable_lift(&vec![rate(1, 1); 6], &alpha).unwrap();
        assert_eq!((six.lift, six.not_detectable), (1.0, true));
    }

    #[test]
    fn the_detectable_lift_falls_with_cases_and_grows_with_spread() {
        let alpha = rate(1, 20);
        let lifts: Vec<f64> = (6..200).map(|cases| detectable_lift(cases, 0.4, &alpha).unwrap()).collect();
        assert!(lifts.windows(2).all(|pair| pair[1] < pair[0]));
        let doubled = detectable_lift(20, 0.8, &alpha).unwrap();
        assert!((doubled / detectable_lift(20, 0.4, &alpha).unwrap() - 2.0).abs() < 1e-14);
    }

    #[test]
    fn more_power_needs_more_cases() {
        let goal = |power| PowerGoal::new(rate(1, 20), power).unwrap();
        // The quantiles of Student's t with 19 degrees of freedom in printed tables: 2.093 + 1.328, over the root of 20.
        let lift = goal(0.9).detectable_lift(20, 1.0).unwrap();
        assert!((lift - 3.421 / 20.0_f64.sqrt()).abs() < 2e-4, "{lift}");
        assert_eq!(goal(TARGET_POWER).cases_needed(0.4, 0.1), cases_needed(0.4, 0.1, &rate(1, 20)));
        assert_eq!(goal(TARGET_POWER).detectable_lift(9, 0.4), detectable_lift(9, 0.4, &rate(1, 20)));
        assert!(goal(0.95).cases_needed(0.4, 0.1) > goal(0.9).cases_needed(0.4, 0.1));
        assert_eq!(goal(0.8).minimum_cases(), 6);
        for (alpha, power) in [(rate(0, 1), 0.8), (rate(1, 20), 1.0), (rate(1, 20), 0.05), (rate(1, 20), f64::NAN)] {
            assert_eq!(PowerGoal::new(alpha, power), None);
        }
    }

    #[test]
    fn the_plan_is_the_first_number_that_suffices() {
        let alpha = rate(1, 20);
        for min_lift in [0.05, 0.1, 0.3, 0.9] {
            let needed = cases_needed(0.4, min_lift, &alpha).unwrap();
            assert!(detectable_lift(needed, 0.4, &alpha).unwrap() <= min_lift);
            assert!(detectable_lift(needed - 1, 0.4, &alpha).is_ok_and(|lift| lift > min_lift) || needed == 6);
        }
        assert_eq!(cases_needed(0.4, 0.0, &alpha), None);
        // Half the lift asks for about four times the cases.
        let ratio = cases_needed(0.4, 0.05, &alpha).unwrap() as f64 / cases_needed(0.4, 0.1, &alpha).unwrap() as f64;
        assert!((3.8..4.2).contains(&ratio));
    }
}
