//! The guaranteed interval: limits for the mean of bounded deltas that hold at every n and for every law, by betting.
//!
//! Whoever believes that the mean delta is at most m may be offered bets that are then fair or unfavourable: with the
//! fraction u of the capital on each case, the capital is multiplied by (1 − u) + u·(1 + δ)/(1 + m). A capital that
//! grows beyond 2/alpha refutes m (Ville). The capitals of 1000 fractions u, spread by the arcsine law, are averaged, so
//! no fraction has to be chosen and the order of the cases does not matter (Waudby-Smith & Ramdas 2024 *JRSS-B* 86:1;
//! Orabona & Jun 2024 *IEEE Trans. Inf. Theory* 70:434). It is up to 1.7 times as wide as the padded t interval,
//! always bounded, and never decides a verdict.
//!
//! The capitals at m = 0 are evidence that may be read after every new batch of new cases (Ramdas et al. 2023
//! *Stat. Sci.* 38:576).

use std::f64::consts::PI;

use num_traits::One;

use crate::rational::{Rational, to_f64};
use crate::withheld::Withheld;

/// Betting fractions whose capitals are averaged.
const FRACTIONS: usize = 1000;
/// Factors that may be computed for one interval.
const EXACT_BUDGET: usize = 200_000_000;
/// Strides from the mean of the deltas to a supposed mean that is refuted, down to 2^−63 of it.
const STRIDES: [f64; 6] = [0.5, 0.25, 1.0 / 16.0, 1.0 / 256.0, 1.0 / 65_536.0, 1.0 / 4_294_967_296.0];
/// Steps from there to the limit; about ten are taken.
const NEWTON_STEPS: usize = 43;
/// Distinct deltas beyond which two limits could exceed the budget.
const LARGEST_DISTINCT: usize = EXACT_BUDGET / (2 * FRACTIONS * (1 + STRIDES.len() + NEWTON_STEPS));

/// Limits of the mean delta that hold for every law of the deltas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedInterval {
    /// Units with a delta.
    pub n: usize,
    /// Two-sided error rate, so the confidence is at least 1 − alpha.
    pub alpha: f64,
    /// Lower limit, in −1..=1.
    pub lower: f64,
    /// Upper limit, in −1..=1.
    pub upper: f64,
}

/// The guaranteed interval at the two-sided error rate `alpha` (0 < alpha < 1), for deltas in −1..=1.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] without units, [`Withheld::InvalidCounts`] for a delta outside −1..=1,
/// [`Withheld::BeyondExactBudget`] for more than 2000 different deltas.
pub fn bounded_interval(deltas: &[Rational], alpha: &Rational) -> Result<BoundedInterval, Withheld> {
    let above = Bets::on_more(deltas)?;
    let below = Bets::on_less(deltas)?;
    let alpha = to_f64(alpha);
    let goal = (2.0 / alpha).ln();
    let (lower, upper) = (above.smallest_mean(goal) - 1.0, 1.0 - below.smallest_mean(goal));
    Ok(BoundedInterval { n: deltas.len(), alpha, lower, upper })
}

/// Evidence against "the mean lift is 0", as natural logarithms of betting capitals: they outgrow an `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BettingEvidence {
    /// Units with a delta.
    pub n: usize,
    /// Capital of the bets on a mean above 0.
    pub ln_above_zero: f64,
    /// Capital of the bets on a mean below 0.
    pub ln_below_zero: f64,
    /// The e-value, the mean of both capitals.
    pub ln_e: f64,
}

impl BettingEvidence {
    /// The p that may be read at any time: min(1, 1/e), at least the smallest normal `f64`, so that it stays a bound.
    #[must_use]
    pub fn p_anytime(&self) -> f64 {
        (-self.ln_e).exp().clamp(f64::MIN_POSITIVE, 1.0)
    }
}

/// The evidence of deltas in −1..=1 against a mean of 0.
///
/// # Errors
///
/// As [`bounded_interval`].
pub fn betting_evidence(deltas: &[Rational]) -> Result<BettingEvidence, Withheld> {
    let ln_above_zero = Bets::on_more(deltas)?.growth(1.0).ln_capital;
    let ln_below_zero = Bets::on_less(deltas)?.growth(1.0).ln_capital;
    let larger = ln_above_zero.max(ln_below_zero);
    let smaller = ln_above_zero.min(ln_below_zero);
    let ln_e = larger + ((smaller - larger).exp().ln_1p() - 2.0_f64.ln());
    Ok(BettingEvidence { n: deltas.len(), ln_above_zero, ln_below_zero, ln_e })
}

/// The cases to bet on, as distances x of their deltas from the end of the range that is bet against.
struct Bets {
    /// Distinct distances in 0..=2, ascending, with how often each occurs.
    distances: Vec<(f64, f64)>,
    /// The fractions u and their complements.
    fractions: Vec<(f64, f64)>,
}

/// The averaged capital at one supposed mean.
struct Growth {
    ln_capital: f64,
    /// The derivative by the logarithm of the supposed mean; not positive.
    slope: f64,
}

impl Bets {
    /// Bets that the mean is more than supposed: x = 1 + δ.
    fn on_more(deltas: &[Rational]) -> Result<Self, Withheld> {
        Self::new(deltas.iter().map(|delta| to_f64(&(delta + Rational::one()))).collect())
    }

    /// Bets that the mean is less than supposed: x = 1 − δ.
    fn on_less(deltas: &[Rational]) -> Result<Self, Withheld> {
        Self::new(deltas.iter().map(|delta| to_f64(&(Rational::one() - delta))).collect())
    }

    fn new(mut distances: Vec<f64>) -> Result<Self, Withheld> {
        if distances.is_empty() {
            return Err(Withheld::NoEligiblePairs);
        }
        if distances.iter().any(|distance| !(0.0..=2.0).contains(distance)) {
            return Err(Withheld::InvalidCounts);
        }
        distances.sort_by(f64::total_cmp);
        let distances: Vec<(f64, f64)> =
            distances.chunk_by(|left, right| left == right).map(|equal| (equal[0], equal.len() as f64)).collect();
        if distances.len() > LARGEST_DISTINCT {
            return Err(Withheld::BeyondExactBudget);
        }
        let fractions = (0..FRACTIONS).map(|index| {
            let (sine, cosine) = (PI * (index as f64 + 0.5) / (2 * FRACTIONS) as f64).sin_cos();
            (sine * sine, cosine * cosine)
        });
        Ok(Self { distances, fractions: fractions.collect() })
    }

    /// The smallest supposed mean, as a distance, that the capital does not refute: where its logarithm is `goal`.
    fn smallest_mean(&self, goal: f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for &(distance, times) in &self.distances {
            sum += distance * times;
            count += times;
        }
        let mean = sum / count;
        if mean <= 0.0 {
            return 0.0;
        }
        // The mean itself is never refuted. The logarithm of the capital is convex in the logarithm of the supposed mean
        // and falls, so Newton steps from a refuted mean never pass the limit: they approach it from below.
        let mut supposed = mean;
        let mut growth = self.growth(supposed);
        for stride in STRIDES {
            if growth.ln_capital >= goal {
                break;
            }
            supposed *= stride;
            growth = self.growth(supposed);
        }
        if growth.ln_capital < goal {
            // Beyond what is looked at the end of the range is still a limit, if not the narrowest.
            return 0.0;
        }
        for _ in 0..NEWTON_STEPS {
            let step = (goal - growth.ln_capital) / growth.slope;
            // Rounding alone makes a step that is not positive: the limit is reached.
            if step.is_nan() || step <= f64::EPSILON {
                break;
            }
            supposed = (supposed * step.exp()).min(mean);
            growth = self.growth(supposed);
        }
        supposed
    }

    /// The capital when the mean, as a distance, is supposed to be `supposed` > 0.
    fn growth(&self, supposed: f64) -> Growth {
        let ratios: Vec<(f64, f64)> =
            self.distances.iter().map(|&(distance, times)| (distance / supposed, times)).collect();
        let mut capitals = Vec::with_capacity(FRACTIONS);
        let mut largest = f64::NEG_INFINITY;
        for &(fraction, kept) in &self.fractions {
            let mut ln_capital = 0.0;
            let mut product = 1.0_f64;
            let mut slope = 0.0;
            for &(ratio, times) in &ratios {
                let won = fraction * ratio;
                let factor = kept + won;
                slope -= times * won / factor;
                if times == 1.0 {
                    // One logarithm for many factors; no single one leaves the range between two checks.
                    product *= factor;
                    if !(1e-150..=1e150).contains(&product) {
                        ln_capital += product.ln();
                        product = 1.0;
                    }
                } else {
                    ln_capital += times * factor.ln();
                }
            }
            ln_capital += product.ln();
            largest = largest.max(ln_capital);
            capitals.push((ln_capital, slope));
        }
        let (mut total, mut weighted) = (0.0, 0.0);
        for (ln_capital, slope) in capitals {
            let weight = (ln_capital - largest).exp();
            total += weight;
            weighted += weight * slope;
        }
        Growth { ln_capital: largest + (total / FRACTIONS as f64).ln(), slope: weighted / total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn one_case_bets_on_the_mean_fraction() {
        // With one case of δ = 1 the capital is the mean of (1 − u) + 2u/(1 + m) = ½ + 1/(1 + m) = 40 at 1 + m = 2/79.
        let interval = bounded_interval(&[rate(1, 1)], &rate(1, 20)).unwrap();
        assert!((interval.lower - (2.0 / 79.0 - 1.0)).abs() < 1e-14);
        assert_eq!(interval.upper, 1.0);
        let evidence = betting_evidence(&[rate(1, 1)]).unwrap();
        assert!((evidence.ln_above_zero - 1.5_f64.ln()).abs() < 1e-14);
        assert!((evidence.ln_below_zero - 0.5_f64.ln()).abs() < 1e-14);
        assert!((evidence.p_anytime() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn deltas_at_the_end_of_the_range_reach_it() {
        let interval = bounded_interval(&vec![-rate(1, 1); 9], &rate(1, 20)).unwrap();
        assert_eq!(interval.lower, -1.0);
        assert!(interval.upper < 0.0);
    }

    #[test]
    fn deltas_out_of_range_and_no_deltas_are_withheld() {
        assert_eq!(bounded_interval(&[], &rate(1, 20)), Err(Withheld::NoEligiblePairs));
        assert_eq!(bounded_interval(&[rate(11, 10)], &rate(1, 20)), Err(Withheld::InvalidCounts));
        assert_eq!(betting_evidence(&[-rate(11, 10)]), Err(Withheld::InvalidCounts));
    }

    #[test]
    fn a_hundred_thousand_cases_take_no_longer_than_their_different_deltas() {
        // Half of the cases +1/5, half 0: the mean is 1/10, and the interval shrinks to it with 1/√n.
        let deltas: Vec<Rational> = (0..100_000_u64).map(|unit| rate(unit % 2, 5)).collect();
        let interval = bounded_interval(&deltas, &rate(1, 20)).unwrap();
        assert!(interval.lower > 0.098 && interval.lower < 0.1, "{interval:?}");
        assert!(interval.upper < 0.102 && interval.upper > 0.1, "{interval:?}");
        let evidence = betting_evidence(&deltas).unwrap();
        assert!(evidence.ln_e > 700.0 && evidence.ln_e.is_finite());
        assert_eq!(evidence.p_anytime(), f64::MIN_POSITIVE);
    }

    #[test]
    fn too_many_different_deltas_are_withheld() {
        let deltas: Vec<Rational> = (0..=2_000_u64).map(|unit| rate(unit, 2_001)).collect();
        assert_eq!(bounded_interval(&deltas, &rate(1, 20)), Err(Withheld::BeyondExactBudget));
        assert!(bounded_interval(&deltas[..200], &rate(1, 20)).is_ok());
    }

    #[test]
    fn one_case_above_the_end_among_many_at_it() {
        // The capital grows without bound as the supposed mean approaches the end, but only there.
        let mut deltas = vec![-rate(1, 1); 5_000];
        deltas.push(rate(999, 1_000) - rate(1_998, 1_000));
        let interval = bounded_interval(&deltas, &rate(1, 20)).unwrap();
        assert!(interval.lower > -1.0 && interval.lower < -0.999, "{interval:?}");
    }
}
