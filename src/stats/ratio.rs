//! How much lift a dollar or a thousand tokens buys: the ratio of two means over the same units, with Fieller's limits.
//!
//! Fieller 1954 (*JRSS-B* 16:175): the set of ratios ρ for which the t test of the mean of numerator − ρ·denominator does
//! not reject 0. The set is an interval only when the mean denominator differs clearly from 0; otherwise it is all but
//! an interval, or the whole line. The mean of the ratios of the units is no alternative: it is biased, and a unit whose
//! denominator is near 0 decides it alone.
//!
//! Sums, variances and the discriminant are exact rationals, so nothing cancels; each figure is rounded once.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use crate::rational::{
    Rational, common_denominator, from_f64, mean, scaled, sqrt_to_f64, squared_deviations, sum, to_f64,
};
use crate::special::student_t_critical;
use crate::withheld::Withheld;

/// What one unit (case) contributes, exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatioUnit {
    /// The lift: the rate with the skill minus the rate without it.
    pub numerator: Rational,
    /// What it cost: with the skill minus without it, in any unit; negative where the skill saved something.
    pub denominator: Rational,
}

impl RatioUnit {
    /// The lift at `value` per unit of lift, minus its cost (Stinnett & Mullahy 1998 *Med. Decis. Making* 18:S68). These
    /// are deltas for the sign-flip test and, before clipping, for the padded t interval.
    #[must_use]
    pub fn net_benefit(&self, value: &Rational) -> Rational {
        &self.numerator * value - &self.denominator
    }
}

/// The ratios that the data do not refute. [`FiellerSet::as_str`] is the word written in reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FiellerSet {
    /// All ratios from `lower` to `upper`.
    Interval {
        /// Lower limit.
        lower: f64,
        /// Upper limit.
        upper: f64,
    },
    /// All ratios outside an interval: the denominator may be zero, but not every ratio fits.
    TwoRays {
        /// All ratios up to this one.
        below: f64,
        /// All ratios from this one on.
        above: f64,
    },
    /// Every ratio.
    WholeLine,
}

impl FiellerSet {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interval { .. } => "interval",
            Self::TwoRays { .. } => "two_rays",
            Self::WholeLine => "whole_line",
        }
    }

    /// The limits of a two-sided interval, lower first.
    ///
    /// # Errors
    ///
    /// [`Withheld::DenominatorMayBeZero`] when the set is none.
    pub const fn two_sided(self) -> Result<(f64, f64), Withheld> {
        match self {
            Self::Interval { lower, upper } => Ok((lower, upper)),
            Self::TwoRays { .. } | Self::WholeLine => Err(Withheld::DenominatorMayBeZero),
        }
    }
}

/// The ratio of the mean numerator to the mean denominator.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioOfMeans {
    /// Units.
    pub n: usize,
    /// Two-sided error rate, so the confidence is 1 − alpha.
    pub alpha: f64,
    /// The t quantile of the limits; `None` for fewer than two units.
    pub critical: Option<f64>,
    /// The mean numerator; `None` without units.
    pub numerator: Option<Rational>,
    /// The mean denominator; `None` without units.
    pub denominator: Option<Rational>,
    /// The ratio, exact; `None` without units and when the mean denominator is 0. A negative ratio has two meanings:
    /// better and cheaper, or worse and dearer; the signs of the means tell them apart.
    pub ratio: Option<Rational>,
    /// The ratios that are not refuted. Withheld without units (`no_eligible_pairs`), with one (`too_few_units`), when
    /// every numerator is 0 (`all_deltas_zero`), when every unit has exactly the same ratio so that only a point would be
    /// left (`constant_deltas`), and when a limit is beyond the range of an `f64` (`denominator_may_be_zero`).
    pub limits: Result<FiellerSet, Withheld>,
}

impl RatioOfMeans {
    /// The ratio as the nearest `f64`; `None` also beyond the range of an `f64`.
    #[must_use]
    pub fn ratio_f64(&self) -> Option<f64> {
        self.ratio.as_ref().map(to_f64).filter(|ratio| ratio.is_finite())
    }

    /// The limits of a two-sided interval, lower first.
    ///
    /// # Errors
    ///
    /// As [`RatioOfMeans::limits`], and [`Withheld::DenominatorMayBeZero`] when the set is no interval.
    pub fn two_sided(&self) -> Result<(f64, f64), Withheld> {
        self.limits.and_then(FiellerSet::two_sided)
    }
}

/// The ratio of means at the two-sided error rate `alpha` (0 < alpha < 1).
#[must_use]
pub fn ratio_of_means(units: &[RatioUnit], alpha: &Rational) -> RatioOfMeans {
    let numerators: Vec<Rational> = units.iter().map(|unit| unit.numerator.clone()).collect();
    let denominators: Vec<Rational> = units.iter().map(|unit| unit.denominator.clone()).collect();
    let (numerator, denominator) = (mean(&numerators), mean(&denominators));
    let ratio = match (&numerator, &denominator) {
        (Some(numerator), Some(denominator)) if !denominator.is_zero() => Some(numerator / denominator),
        _ => None,
    };
    let n = units.len();
    let error_rate = to_f64(alpha);
    let critical = (n >= 2).then(|| student_t_critical(error_rate / 2.0, (n - 1) as f64));
    let limits = match critical {
        None if n == 0 => Err(Withheld::NoEligiblePairs),
        None => Err(Withheld::TooFewUnits),
        Some(_) if numerators.iter().all(Zero::is_zero) => Err(Withheld::AllDeltasZero),
        Some(critical) => Quadratic::new(&numerators, &denominators, critical).solutions(),
    };
    RatioOfMeans { n, alpha: error_rate, critical, numerator, denominator, ratio, limits }
}

/// a·ρ² − 2·b·ρ + c ≤ 0 describes the ratios ρ that are not refuted.
pub(crate) struct Quadratic {
    pub(crate) a: Rational,
    pub(crate) b: Rational,
    pub(crate) c: Rational,
}

impl Quadratic {
    /// From lists of the same length, at least 2.
    pub(crate) fn new(numerators: &[Rational], denominators: &[Rational], critical: f64) -> Self {
        let n = numerators.len();
        let count = BigInt::from(n);
        // t² over the divisor of a variance of a mean.
        let factor = from_f64(critical).map_or_else(Rational::zero, |t| &t * &t) / (BigInt::from(n - 1) * &count);
        let total = |left: &[Rational], right: &[Rational]| sum(left) * sum(right) / (&count * &count);
        Self {
            a: total(denominators, denominators) - &factor * squared_deviations(denominators),
            b: total(numerators, denominators) - &factor * joint_deviations(numerators, denominators),
            c: total(numerators, numerators) - &factor * squared_deviations(numerators),
        }
    }

    pub(crate) fn discriminant(&self) -> Rational {
        &self.b * &self.b - &self.a * &self.c
    }

    fn solutions(&self) -> Result<FiellerSet, Withheld> {
        let discriminant = self.discriminant();
        if !discriminant.is_positive() {
            // With a > 0 the observed ratio always fits; nothing else does when no unit deviates from it.
            return if self.a.is_positive() { Err(Withheld::ConstantDeltas) } else { Ok(FiellerSet::WholeLine) };
        }
        if self.a.is_zero() {
            // A single ray, which takes a t quantile to its last bit; the whole line holds it.
            return Ok(FiellerSet::WholeLine);
        }
        // The larger root in magnitude by a sum of equal signs, the other from their product c/a.
        let (root, b) = (sqrt_to_f64(&discriminant), to_f64(&self.b));
        let sum = if self.b.is_negative() { b - root } else { b + root };
        let (first, second) = (sum / to_f64(&self.a), to_f64(&self.c) / sum);
        if !(first.is_finite() && second.is_finite()) {
            return Err(Withheld::DenominatorMayBeZero);
        }
        let (low, high) = (first.min(second), first.max(second));
        Ok(if self.a.is_positive() {
            FiellerSet::Interval { lower: low, upper: high }
        } else {
            FiellerSet::TwoRays { below: low, above: high }
        })
    }
}

/// The exact sum of products of deviations from the means, for lists of the same length.
fn joint_deviations(left: &[Rational], right: &[Rational]) -> Rational {
    let (left_scale, right_scale) = (common_denominator(left), common_denominator(right));
    let (mut products, mut left_sum, mut right_sum) = (BigInt::zero(), BigInt::zero(), BigInt::zero());
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (scaled(left, &left_scale), scaled(right, &right_scale));
        products += &left * &right;
        left_sum += left;
        right_sum += right;
    }
    let count = BigInt::from(left.len());
    Rational::new(products * &count - left_sum * right_sum, left_scale * right_scale * count)
}

/// What the skill did to the result of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The lift is above 0.
    Better,
    /// The lift is below 0.
    Worse,
    /// The lift is 0.
    Same,
}

/// What the skill did to the cost of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Price {
    /// The cost fell.
    Cheaper,
    /// The cost rose.
    Dearer,
    /// The cost is the same.
    Same,
}

impl Effect {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
        }
    }

    /// The sign of a lift.
    #[must_use]
    pub fn of(lift: &Rational) -> Self {
        if lift.is_positive() {
            Self::Better
        } else if lift.is_negative() {
            Self::Worse
        } else {
            Self::Same
        }
    }
}

impl Price {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cheaper => "cheaper",
            Self::Dearer => "dearer",
            Self::Same => "same",
        }
    }

    /// The sign of a difference in cost.
    #[must_use]
    pub fn of(cost: &Rational) -> Self {
        if cost.is_negative() {
            Self::Cheaper
        } else if cost.is_positive() {
            Self::Dearer
        } else {
            Self::Same
        }
    }
}

/// How many units lie in which part of the cost-effectiveness plane (Black 1990 *Med. Decis. Making* 10:212).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CostPlane {
    counts: [[usize; 3]; 3],
}

impl CostPlane {
    /// Counts the units by the signs of their lift and their cost.
    #[must_use]
    pub fn of(units: &[RatioUnit]) -> Self {
        let mut plane = Self::default();
        for unit in units {
            plane.counts[Effect::of(&unit.numerator) as usize][Price::of(&unit.denominator) as usize] += 1;
        }
        plane
    }

    /// The units with this effect at this price.
    #[must_use]
    pub const fn count(&self, effect: Effect, price: Price) -> usize {
        self.counts[effect as usize][price as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::{parse_decimal, rate};

    fn units(pairs: &[(&str, &str)]) -> Vec<RatioUnit> {
        let number = |text: &str| parse_decimal(text).unwrap();
        pairs.iter().map(|(lift, cost)| RatioUnit { numerator: number(lift), denominator: number(cost) }).collect()
    }

    fn ratio(pairs: &[(&str, &str)]) -> RatioOfMeans {
        ratio_of_means(&units(pairs), &rate(1, 20))
    }

    #[test]
    fn too_few_units_have_a_ratio_but_no_limits() {
        assert_eq!(ratio(&[]).limits, Err(Withheld::NoEligiblePairs));
        assert_eq!(ratio(&[]).ratio, None);
        let one = ratio(&[("0.5", "0.02")]);
        assert_eq!((one.ratio_f64(), one.limits), (Some(25.0), Err(Withheld::TooFewUnits)));
    }

    #[test]
    fn costs_that_cancel_leave_no_ratio() {
        // A lift that is clear, at a cost of either sign: a large ratio of either sign fits.
        let result = ratio(&[("0.5", "0.01"), ("0.5", "-0.01"), ("0.6", "0")]);
        assert_eq!(result.ratio, None);
        assert!(matches!(result.limits, Ok(FiellerSet::TwoRays { below, above }) if below < 0.0 && above > 0.0));
        assert_eq!(result.two_sided(), Err(Withheld::DenominatorMayBeZero));
        let result = ratio(&[("0.5", "0"), ("0.25", "0"), ("1", "0")]);
        assert_eq!((result.ratio, result.limits), (None, Ok(FiellerSet::WholeLine)));
    }

    #[test]
    fn lifts_in_proportion_to_costs_are_no_certainty() {
        let result = ratio(&[("0.5", "0.01"), ("0.25", "0.005"), ("0.5", "0.01"), ("0.25", "0.005")]);
        assert_eq!((result.ratio_f64(), result.limits), (Some(50.0), Err(Withheld::ConstantDeltas)));
    }

    #[test]
    fn a_limit_beyond_floats_is_no_infinity() {
        let result = ratio(&[("1", "1e-400"), ("0.5", "1e-400"), ("0.75", "1.1e-400")]);
        assert_eq!((result.ratio_f64(), result.limits), (None, Err(Withheld::DenominatorMayBeZero)));
    }

    #[test]
    fn every_unit_lies_in_one_part_of_the_plane() {
        let plane = CostPlane::of(&units(&[
            ("0.5", "-0.01"),
            ("0.5", "-0.02"),
            ("0.5", "0.01"),
            ("-1", "0.01"),
            ("-1", "-0.01"),
            ("-1", "0"),
            ("0", "0"),
            ("0", "3"),
            ("0", "-3"),
            ("1", "0"),
        ]));
        let counts = [Effect::Better, Effect::Worse, Effect::Same]
            .map(|effect| [Price::Cheaper, Price::Dearer, Price::Same].map(|price| plane.count(effect, price)));
        assert_eq!(counts, [[2, 1, 1], [1, 1, 1], [1, 1, 1]]);
        assert_eq!((Effect::of(&rate(0, 1)).as_str(), Price::of(&-rate(1, 9)).as_str()), ("same", "cheaper"));
    }

    #[test]
    fn net_benefit_is_the_worth_of_the_lift_minus_its_cost() {
        // Half a pass at 10 dollars a pass, for 2 cents.
        let benefit = units(&[("0.5", "0.02")])[0].net_benefit(&rate(10, 1));
        assert_eq!(benefit, rate(498, 100));
    }
}
