//! Where the spread of the deltas comes from: noise of the repetitions within cases, or cases that differ. The first is
//! reduced by more repetitions, the second only by more cases.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use crate::permutation::Stratum;
use crate::rational::{Rational, squared_deviations, sum};
use crate::withheld::Withheld;

/// The variance of the delta of a stratum that the noise of its runs alone would cause: the sample variances of both
/// arms, each over its number of runs. `None` unless both arms have two runs.
#[must_use]
pub fn run_noise(stratum: &Stratum<'_>) -> Option<Rational> {
    let of_mean = |rates: &[Rational]| Some(run_variance(rates)? / BigInt::from(rates.len()));
    Some(of_mean(stratum.with)? + of_mean(stratum.without)?)
}

/// The sample variance of the runs of one arm; `None` with fewer than two.
#[must_use]
pub fn run_variance(rates: &[Rational]) -> Option<Rational> {
    (rates.len() >= 2).then(|| squared_deviations(rates) / BigInt::from(rates.len() - 1))
}

/// The noise of a mean over strata that weigh the same, such as the models of a case: their sum over the square of their
/// number. `None` without strata and when the noise of one of them is unknown.
#[must_use]
pub fn mean_noise(strata: &[Option<Rational>]) -> Option<Rational> {
    if strata.is_empty() {
        return None;
    }
    let known: Vec<Rational> = strata.iter().cloned().collect::<Option<_>>()?;
    let count = BigInt::from(known.len());
    Some(sum(&known) / (&count * &count))
}

/// The delta of one unit, and its noise where it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitSpread {
    /// Mean rate with the skill minus mean rate without it.
    pub delta: Rational,
    /// As [`run_noise`] or [`mean_noise`] give it.
    pub noise: Option<Rational>,
}

/// The split of the variance of the deltas, exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VarianceSplit {
    /// Units with a delta.
    pub n: usize,
    /// Sample variance of the deltas.
    pub total: Rational,
    /// Mean noise of the units whose noise is known; withheld when it is known of none (`too_few_units`): with one run
    /// per arm run-to-run noise cannot be told from anything else.
    pub within: Result<Rational, Withheld>,
    /// Units whose noise is known.
    pub within_units: usize,
    /// What is left of the total, at least 0: the variance of the true deltas between the units.
    pub between: Result<Rational, Withheld>,
    /// `within` over `total`. It exceeds 1 when the deltas happen to differ less than their noise would have it. Withheld
    /// when all deltas are equal (`constant_deltas`).
    pub noise_share: Result<Rational, Withheld>,
}

impl VarianceSplit {
    /// Whether noise makes up half of the variance or more, so that repetitions help more than cases.
    #[must_use]
    pub fn noise_dominates(&self) -> bool {
        self.noise_share.as_ref().is_ok_and(|share| share * BigInt::from(2) >= Rational::from_integer(1.into()))
    }
}

/// Splits the variance of the deltas.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::TooFewUnits`] with one.
pub fn variance_split(units: &[UnitSpread]) -> Result<VarianceSplit, Withheld> {
    let n = units.len();
    match n {
        0 => return Err(Withheld::NoEligiblePairs),
        1 => return Err(Withheld::TooFewUnits),
        _ => {}
    }
    let deltas: Vec<Rational> = units.iter().map(|unit| unit.delta.clone()).collect();
    let total = squared_deviations(&deltas) / BigInt::from(n - 1);
    let known: Vec<Rational> = units.iter().filter_map(|unit| unit.noise.clone()).collect();
    let within = match known.len() {
        0 => Err(Withheld::TooFewUnits),
        count => Ok(sum(&known) / BigInt::from(count)),
    };
    let between = within.clone().map(|within| {
        let rest = &total - within;
        if rest.is_negative() { Rational::zero() } else { rest }
    });
    let noise_share = match &within {
        Ok(_) if total.is_zero() => Err(Withheld::ConstantDeltas),
        Ok(within) => Ok(within / &total),
        Err(reason) => Err(*reason),
    };
    Ok(VarianceSplit { n, total, within, within_units: known.len(), between, noise_share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn noise_needs_two_runs_in_both_arms() {
        let (two, one) = ([rate(1, 1), rate(0, 1)], [rate(1, 1)]);
        assert_eq!(run_noise(&Stratum { with: &two, without: &one }), None);
        assert_eq!(run_noise(&Stratum { with: &[], without: &two }), None);
        // Both arms: variance 1/2 over 2 runs.
        assert_eq!(run_noise(&Stratum { with: &two, without: &two }), Some(rate(1, 2)));
    }

    #[test]
    fn the_noise_of_a_mean_over_models_shrinks() {
        assert_eq!(mean_noise(&[Some(rate(1, 2)), Some(rate(1, 4))]), Some(rate(3, 16)));
        assert_eq!(mean_noise(&[Some(rate(1, 2)), None]), None);
        assert_eq!(mean_noise(&[]), None);
    }

    #[test]
    fn without_repetitions_the_noise_is_unknown() {
        let unit = |numerator| UnitSpread { delta: rate(numerator, 4), noise: None };
        let split = variance_split(&[unit(1), unit(3)]).unwrap();
        assert_eq!((split.total.clone(), split.within_units), (rate(1, 8), 0));
        assert_eq!(split.within, Err(Withheld::TooFewUnits));
        assert_eq!(split.between, Err(Withheld::TooFewUnits));
        assert_eq!(split.noise_share, Err(Withheld::TooFewUnits));
        assert!(!split.noise_dominates());
        assert_eq!(variance_split(&[]), Err(Withheld::NoEligiblePairs));
        assert_eq!(variance_split(&[unit(1)]), Err(Withheld::TooFewUnits));
    }

    #[test]
    fn noise_dominates_from_one_half_on() {
        // Deltas 0 and 1: variance 1/2.
        let split = |noise: Rational| {
            let unit = |numerator| UnitSpread { delta: rate(numerator, 1), noise: Some(noise.clone()) };
            variance_split(&[unit(0), unit(1)]).unwrap()
        };
        assert!(split(rate(1, 4)).noise_dominates());
        let below = split(rate(24, 100));
        assert!(!below.noise_dominates());
        assert_eq!(below.between, Ok(rate(26, 100)));
        let equal = UnitSpread { delta: rate(1, 2), noise: Some(rate(1, 4)) };
        let constant = variance_split(&[equal.clone(), equal]).unwrap();
        assert_eq!((constant.noise_share, constant.between), (Err(Withheld::ConstantDeltas), Ok(rate(0, 1))));
    }
}
