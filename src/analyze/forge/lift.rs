//! The lift over the evals that have both arms scored, and the ratio of their rates.

use num_traits::Zero;
use skill_lift_stats::rational::Rational;
use skill_lift_stats::{Thresholds, describe};

use super::iteration::{EvalId, ForgeIteration, Quantity};
use super::run::Arm;
use crate::analyze::inference::{Inference, UnitRates};

/// Why there is no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioReason {
    /// No eval has a scored run with the skill.
    NoWithSkill,
    /// No eval has a scored run without it.
    NoBaseline,
    /// No eval has both.
    NoPairedEvals,
    /// Nothing passes without the skill.
    ZeroBaseline,
}

impl RatioReason {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoWithSkill => "no_with_skill",
            Self::NoBaseline => "no_baseline",
            Self::NoPairedEvals => "no_paired_evals",
            Self::ZeroBaseline => "zero_baseline",
        }
    }
}

/// The rate with the skill over the rate without it.
pub type Ratio = Result<Rational, RatioReason>;

/// A quantity over the evals that have it in both arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedQuantity {
    /// Number of those evals.
    pub evals: usize,
    /// Mean with the skill.
    pub with_skill: f64,
    /// Mean without it.
    pub baseline: f64,
}

/// What the paired evals say.
#[derive(Debug)]
pub struct ForgeLift {
    /// Evals with a scored run in both arms.
    pub paired: Vec<EvalId>,
    /// The others.
    pub unpaired: Vec<EvalId>,
    /// The lift, with its test, interval and verdict.
    pub inference: Inference,
    /// The ratio of the mean rates of the paired evals.
    pub improvement_ratio: Ratio,
    /// Tokens, where paired evals have them.
    pub tokens: Option<PairedQuantity>,
    /// Milliseconds, where paired evals have them.
    pub duration_ms: Option<PairedQuantity>,
    /// Scored runs of the paired evals with the skill.
    pub runs_with: usize,
    /// Scored runs of the paired evals without it.
    pub runs_without: usize,
}

impl ForgeLift {
    /// The lift of an iteration.
    pub fn of(iteration: &ForgeIteration, thresholds: &Thresholds) -> Self {
        let (mut paired, mut unpaired, mut units) = (Vec::new(), Vec::new(), Vec::new());
        let (mut runs_with, mut runs_without) = (0, 0);
        for eval in &iteration.evals {
            let id = &eval.description.id;
            match eval.paired_rates() {
                Some((with_skill, baseline)) => {
                    paired.push(id.clone());
                    units.push(UnitRates {
                        name: id.to_string(),
                        with_skill: with_skill.clone(),
                        without_skill: baseline.clone(),
                    });
                    runs_with += eval.with_skill.scored;
                    runs_without += eval.baseline.scored;
                }
                None => unpaired.push(id.clone()),
            }
        }
        let inference = Inference::of_units(units, thresholds.clone());
        Self {
            improvement_ratio: ratio(iteration, &inference),
            tokens: paired_quantity(iteration, Quantity::Tokens),
            duration_ms: paired_quantity(iteration, Quantity::DurationMs),
            runs_with,
            runs_without,
            paired,
            unpaired,
            inference,
        }
    }

    /// Mean rate of the paired evals with the skill, and without it.
    pub fn paired_rates(&self) -> Option<(&Rational, &Rational)> {
        self.inference.overall.with_skill.as_ref().zip(self.inference.overall.without_skill.as_ref())
    }

    /// The mean difference.
    pub fn lift(&self) -> Option<&Rational> {
        self.inference.overall.test.estimate.as_ref()
    }
}

fn ratio(iteration: &ForgeIteration, inference: &Inference) -> Ratio {
    match (&inference.overall.with_skill, &inference.overall.without_skill) {
        (Some(_), Some(baseline)) if baseline.is_zero() => Err(RatioReason::ZeroBaseline),
        (Some(with_skill), Some(baseline)) => Ok(with_skill / baseline),
        _ if iteration.macro_rate(Arm::Baseline).is_none() => Err(RatioReason::NoBaseline),
        _ if iteration.macro_rate(Arm::WithSkill).is_none() => Err(RatioReason::NoWithSkill),
        _ => Err(RatioReason::NoPairedEvals),
    }
}

fn paired_quantity(iteration: &ForgeIteration, quantity: Quantity) -> Option<PairedQuantity> {
    let both = iteration.evals.iter().filter(|eval| eval.paired_rates().is_some());
    let both: Vec<(f64, f64)> =
        both.filter_map(|eval| eval.with_skill.quantity(quantity).zip(eval.baseline.quantity(quantity))).collect();
    let mean = |side: fn(&(f64, f64)) -> f64| describe::mean(&both.iter().map(side).collect::<Vec<_>>());
    Some(PairedQuantity { evals: both.len(), with_skill: mean(|pair| pair.0)?, baseline: mean(|pair| pair.1)? })
}
