//! The exact stratified permutation test: how often would a difference this large arise if, within every stratum,
//! the labels "with the skill" and "without it" had been dealt to the runs at random?
//!
//! Mantel & Haenszel 1959 (*JNCI* 22:719) for strata; Good 2005 (*Permutation, Parametric and Bootstrap Tests of
//! Hypotheses*) and Pesarin & Salmaso 2010 (*Permutation Tests for Complex Data*) for permutation within them. The
//! statistic is the sum over strata of mean with − mean without. Its law is the convolution of the laws of the
//! strata: hypergeometric for rates of two values, otherwise counted over (runs chosen, sum). Rates become integers
//! on a common lattice, so ties are decided by equality and no tolerance is involved; nothing is sampled.
//!
//! With one run per arm in every stratum the test is the sign-flip test. In any other design it takes the *run* as
//! the unit: it is valid only if the runs of a stratum are independent within an arm, and it speaks about these
//! strata, not about new ones. The caller must know that; the rates cannot show it.

mod law;
#[cfg(test)]
mod tests;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use self::law::{Atoms, Halves, StratumLaw};
use crate::rational::{Rational, common_denominator, quotient_at_most, quotient_to_f64, scaled, to_f64};
use crate::relabeling::RelabelingCounts;
use crate::withheld::Withheld;

/// 64-bit words that a table may take: 20 million cells with counts of one word.
const WORD_BUDGET: u128 = 20_000_000;
/// Word updates that the computation may take.
const UPDATE_BUDGET: u128 = 200_000_000;

/// The rates of the runs of one stratum: one case, or one case with one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stratum<'a> {
    /// A rate per run with the skill.
    pub with: &'a [Rational],
    /// A rate per run without the skill.
    pub without: &'a [Rational],
}

/// The result of the stratified permutation test. Probabilities are in 0..=1, exact up to one rounding; one
/// below the range of an `f64` (about 1e-323) rounds to 0 there, while the counts keep it.
#[derive(Debug, Clone, PartialEq)]
pub struct PermutationTest {
    /// Strata with runs in both arms; the others are left out.
    pub strata: usize,
    /// Strata among them whose rates are not all equal; only these can move a p.
    pub informative: usize,
    /// Runs with the skill in the strata used.
    pub runs_with: usize,
    /// Runs without the skill in the strata used.
    pub runs_without: usize,
    /// The mean over strata of mean with − mean without, exact: the statistic divided by the number of strata.
    pub mean_delta: Rational,
    /// Chance of a sum at least as far from 0; 1 when all rates of every stratum are equal.
    pub p_two_sided: f64,
    /// Chance of a sum at least as large (alternative: the skill helps).
    pub p_greater: f64,
    /// Chance of a sum at least as small (alternative: the skill harms).
    pub p_less: f64,
    /// Two-sided mid-p: ties count half (Lancaster 1961 *JASA* 56:223); 1 when all rates are equal.
    pub mid_p: f64,
    /// The smallest two-sided p that these rates can give, whatever their labels.
    pub floor: f64,
    /// The labelings behind the p-values: all that keep the number of runs per arm in every stratum.
    pub counts: RelabelingCounts,
}

impl PermutationTest {
    /// Whether the two-sided p is at most `alpha`, compared as rationals.
    #[must_use]
    pub fn at_most(&self, alpha: &Rational) -> bool {
        quotient_at_most(&self.counts.two_sided, &self.counts.total, alpha)
    }

    /// Whether the one-sided p for "the skill helps" is at most `alpha`.
    #[must_use]
    pub fn greater_at_most(&self, alpha: &Rational) -> bool {
        quotient_at_most(&self.counts.greater, &self.counts.total, alpha)
    }

    /// Whether the one-sided p for "the skill harms" is at most `alpha`.
    #[must_use]
    pub fn less_at_most(&self, alpha: &Rational) -> bool {
        quotient_at_most(&self.counts.less, &self.counts.total, alpha)
    }

    /// The statistic: the sum over strata of mean with − mean without.
    #[must_use]
    pub fn statistic(&self) -> Rational {
        &self.mean_delta * BigInt::from(self.strata)
    }

    /// The mean delta as the nearest `f64`.
    #[must_use]
    pub fn mean_delta_f64(&self) -> f64 {
        to_f64(&self.mean_delta)
    }
}

/// Tests whether the labels of the runs matter within the strata. Strata with an empty arm are left out.
///
/// # Errors
///
/// [`Withheld::NoEligiblePairs`] when no stratum has runs in both arms, [`Withheld::BeyondExactBudget`] when the
/// tables would take more than 20 million words or 200 million word updates.
pub fn permutation_test(strata: &[Stratum<'_>]) -> Result<PermutationTest, Withheld> {
    let used = || strata.iter().filter(|stratum| !stratum.with.is_empty() && !stratum.without.is_empty());
    let laws: Vec<StratumLaw> = used().map(StratumLaw::new).collect::<Result<_, _>>()?;
    if laws.is_empty() {
        return Err(Withheld::NoEligiblePairs);
    }
    let n = laws.len();
    let problem = Problem::new(laws)?;
    let counts = problem.counts();
    let mid_hits = &counts.two_sided + &counts.two_sided_strict;
    let mid_p = quotient_to_f64(&mid_hits, &(&counts.total * 2_u32));
    Ok(PermutationTest {
        strata: n,
        informative: problem.informative,
        runs_with: used().map(|stratum| stratum.with.len()).sum(),
        runs_without: used().map(|stratum| stratum.without.len()).sum(),
        mean_delta: problem.statistic() / BigInt::from(n),
        p_two_sided: quotient_to_f64(&counts.two_sided, &counts.total),
        p_greater: quotient_to_f64(&counts.greater, &counts.total),
        p_less: quotient_to_f64(&counts.less, &counts.total),
        mid_p: if problem.informative == 0 { 1.0 } else { mid_p },
        floor: quotient_to_f64(&problem.fewest_hits(), &counts.total),
        counts,
    })
}

/// The strata on the coarsest lattice that holds all their sums. A position x stands for the sum lowest + step · x.
struct Problem {
    law: Halves,
    /// All labelings, in the unit of `law`.
    total: BigUint,
    /// Labelings that one unit of `law` stands for.
    multiple: BigUint,
    informative: usize,
    lowest: Rational,
    step: Rational,
    observed: u128,
    span: u128,
}

impl Problem {
    fn new(laws: Vec<StratumLaw>) -> Result<Self, Withheld> {
        let lowest =
            laws.iter().fold(Rational::zero(), |sum, law| if law.step.is_zero() { sum } else { sum + &law.lowest });
        let mut multiple = BigUint::one();
        let mut moving = Vec::new();
        for law in laws {
            if law.step.is_zero() { multiple *= law.total } else { moving.push(law) }
        }
        let step = common_step(&moving);
        let informative = moving.len();
        let mut total = BigUint::one();
        let (mut observed, mut span) = (0_u128, 0_u128);
        let mut strata: Vec<Atoms<BigUint>> = Vec::with_capacity(informative);
        for mut law in moving {
            let factor = if informative == 1 { 1 } else { steps(&law, &step)? };
            let reach = law.span().checked_mul(factor).and_then(|reach| reach.checked_add(span));
            span = reach.ok_or(Withheld::BeyondExactBudget)?;
            observed += law.observed * factor;
            if informative > 1 {
                multiple *= law.take_shared_factor();
            }
            for (position, _) in &mut law.atoms {
                *position *= factor;
            }
            total *= law.total;
            strata.push(law.atoms);
        }
        let law = Halves::new(strata)?;
        Ok(Self { law, total, multiple, informative, lowest, step, observed, span })
    }

    fn sum_at(&self, position: u128) -> Rational {
        &self.lowest + &self.step * BigInt::from(position)
    }

    fn statistic(&self) -> Rational {
        self.sum_at(self.observed)
    }

    fn counts(&self) -> RelabelingCounts {
        let greater = self.law.at_or_above(self.observed);
        let above = self.law.at_or_above(self.observed + 1);
        let statistic = self.statistic();
        // The position of the opposite sum, which need not be one of the lattice.
        let opposite = if self.step.is_zero() { Rational::zero() } else { (-&statistic - &self.lowest) / &self.step };
        let (two_sided, strict) = if statistic.is_zero() {
            (self.total.clone(), &self.total - &greater + &above)
        } else if statistic.is_positive() {
            let at_or_below = &self.total - self.at_or_above(&(opposite.floor() + Rational::one()));
            let below = &self.total - self.at_or_above(&opposite.ceil());
            (&greater + at_or_below, &above + below)
        } else {
            let less = &self.total - &above;
            let beyond = self.at_or_above(&opposite.ceil());
            let strictly = self.at_or_above(&(opposite.floor() + Rational::one()));
            (less + beyond, &self.total - &greater + strictly)
        };
        RelabelingCounts {
            two_sided: two_sided * &self.multiple,
            two_sided_strict: strict * &self.multiple,
            less: (&self.total - &above) * &self.multiple,
            equal: (&greater - above) * &self.multiple,
            greater: greater * &self.multiple,
            total: &self.total * &self.multiple,
        }
    }

    /// Labelings at or above an integer position, which may lie outside the range.
    fn at_or_above(&self, position: &Rational) -> BigUint {
        if !position.is_positive() {
            return self.total.clone();
        }
        match position.to_integer().to_u128() {
            Some(position) if position <= self.span => self.law.at_or_above(position),
            _ => BigUint::zero(),
        }
    }

    /// The labelings at the sum farthest from 0.
    fn fewest_hits(&self) -> BigUint {
        let highest = self.sum_at(self.span);
        let at_highest = || self.law.at_or_above(self.span);
        let at_lowest = || &self.total - self.law.at_or_above(1);
        let hits = match highest.cmp(&-&self.lowest) {
            _ if self.span == 0 => self.total.clone(),
            std::cmp::Ordering::Greater => at_highest(),
            std::cmp::Ordering::Less => at_lowest(),
            std::cmp::Ordering::Equal => at_highest() + at_lowest(),
        };
        hits * &self.multiple
    }
}

/// The largest step of which the step of every stratum is a multiple; zero without strata.
fn common_step(laws: &[StratumLaw]) -> Rational {
    if let [law] = laws {
        return law.step.clone();
    }
    let all: Vec<Rational> = laws.iter().map(|law| law.step.clone()).collect();
    let denominator = common_denominator(&all);
    let divisor = all.iter().fold(BigInt::zero(), |divisor, step| divisor.gcd(&scaled(step, &denominator)));
    Rational::new(divisor, denominator)
}

/// The step of a stratum in steps of the common lattice.
fn steps(law: &StratumLaw, step: &Rational) -> Result<u128, Withheld> {
    (&law.step / step).to_integer().to_u128().ok_or(Withheld::BeyondExactBudget)
}
