//! Normalized gain: which share of the possible gain the skill realised.
//!
//! Hake 1998 (*Am. J. Phys.* 66:64): the mean lift over the mean room above the baseline. It is a ratio of means, with
//! Fieller's limits; the mean of the gains of the cases is not (a case with a baseline near 1 decides it alone).

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::ratio::{FiellerSet, RatioUnit, ratio_of_means};
use crate::rational::{Rational, mean, sum};
use crate::withheld::Withheld;

/// The mean rates of one unit (case) in both arms, in 0..=1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmRates {
    /// With the skill.
    pub with: Rational,
    /// Without the skill.
    pub without: Rational,
}

/// The normalized gain of a suite, exact.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalizedGain {
    /// Units.
    pub n: usize,
    /// Mean lift over the mean of 1 − the rate without the skill; negative for harm. Withheld without units
    /// (`no_eligible_pairs`) and when the baseline passes everything (`baseline_at_ceiling`).
    pub gain: Result<Rational, Withheld>,
    /// The gains that are not refuted; withheld for the same reasons and those of
    /// [`RatioOfMeans::limits`](crate::ratio::RatioOfMeans::limits).
    pub limits: Result<FiellerSet, Withheld>,
    /// For harm: the mean lift over the mean rate without the skill, the share of the baseline that was lost.
    pub relative_loss: Option<Rational>,
    /// Mean of [`normalized_change`] over the units that have one; `None` when none has.
    pub normalized_change: Option<Rational>,
    /// The units behind the normalized change.
    pub normalized_change_units: usize,
}

impl NormalizedGain {
    /// The gain unless it is a loss, as the reports of version 0.6 have it.
    #[must_use]
    pub fn unless_harm(&self) -> Option<&Rational> {
        self.gain.as_ref().ok().filter(|gain| !gain.is_negative())
    }
}

/// The normalized gain with limits at the two-sided error rate `alpha` (0 < alpha < 1).
#[must_use]
pub fn normalized_gain(units: &[ArmRates], alpha: &Rational) -> NormalizedGain {
    let room = |unit: &ArmRates| Rational::one() - &unit.without;
    let exchanged: Vec<RatioUnit> =
        units.iter().map(|unit| RatioUnit { numerator: &unit.with - &unit.without, denominator: room(unit) }).collect();
    let ratio = ratio_of_means(&exchanged, alpha);
    let ceiling = if units.is_empty() { Withheld::NoEligiblePairs } else { Withheld::BaselineAtCeiling };
    // Rooms are not negative, so their mean is 0 only when the baseline passes everything.
    let limits = if ratio.ratio.is_some() { ratio.limits } else { Err(ceiling) };
    let baseline = mean(&units.iter().map(|unit| unit.without.clone()).collect::<Vec<_>>());
    let relative_loss = match (&ratio.numerator, baseline) {
        (Some(lift), Some(baseline)) if lift.is_negative() && !baseline.is_zero() => Some(lift / baseline),
        _ => None,
    };
    let changes: Vec<Rational> = units.iter().filter_map(normalized_change).collect();
    NormalizedGain {
        n: units.len(),
        gain: ratio.ratio.ok_or(ceiling),
        limits,
        relative_loss,
        normalized_change: (!changes.is_empty()).then(|| sum(&changes) / BigInt::from(changes.len())),
        normalized_change_units: changes.len(),
    }
}

/// The normalized change of one unit, in −1..=1: gain/(1 − without) for a rise, loss/without for a fall and 0 otherwise
/// (Marx & Cummings 2007 *Am. J. Phys.* 75:87); `None` when both arms have everything or both nothing.
#[must_use]
pub fn normalized_change(unit: &ArmRates) -> Option<Rational> {
    let lift = &unit.with - &unit.without;
    if lift.is_positive() {
        return Some(lift / (Rational::one() - &unit.without));
    }
    if lift.is_negative() {
        return Some(lift / &unit.without);
    }
    (!unit.with.is_zero() && !unit.with.is_one()).then_some(lift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn a_single_unit_has_a_gain_without_limits() {
        let unit = ArmRates { with: rate(3, 4), without: rate(1, 2) };
        let result = normalized_gain(&[unit], &rate(1, 20));
        assert_eq!((result.gain, result.limits), (Ok(rate(1, 2)), Err(Withheld::TooFewUnits)));
    }

    /// Half of the room gained, a third of the baseline lost, nothing lost or gained, all lost, and the two units that say
    /// nothing.
    #[test]
    fn a_change_is_a_share_of_what_could_change() {
        let change = |with, without| normalized_change(&ArmRates { with, without });
        assert_eq!(change(rate(3, 4), rate(1, 2)), Some(rate(1, 2)));
        assert_eq!(change(rate(1, 2), rate(3, 4)), Some(-rate(1, 3)));
        assert_eq!(change(rate(1, 2), rate(1, 2)), Some(rate(0, 1)));
        assert_eq!(change(rate(0, 1), rate(1, 1)), Some(-rate(1, 1)));
        assert_eq!((change(rate(0, 1), rate(0, 1)), change(rate(1, 1), rate(1, 1))), (None, None));
    }

    #[test]
    fn without_units_nothing_is_said() {
        let result = normalized_gain(&[], &rate(1, 20));
        assert_eq!((result.gain, result.limits), (Err(Withheld::NoEligiblePairs), Err(Withheld::NoEligiblePairs)));
        assert_eq!((result.relative_loss, result.normalized_change), (None, None));
    }

    #[test]
    fn no_change_below_the_ceiling_is_a_gain_of_zero() {
        let unit = ArmRates { with: rate(1, 2), without: rate(1, 2) };
        let result = normalized_gain(&[unit.clone(), unit], &rate(1, 20));
        assert_eq!((result.gain.clone(), result.limits), (Ok(rate(0, 1)), Err(Withheld::AllDeltasZero)));
        assert_eq!((result.unless_harm(), result.normalized_change.clone()), (Some(&rate(0, 1)), Some(rate(0, 1))));
    }
}
