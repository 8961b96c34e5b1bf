//! What the author of a benchmark demands, held against the arm with the skill.

use num_traits::Zero;
use skill_lift_stats::rational::{self, Rational};

use super::iteration::{EvalId, EvalResult, ForgeIteration, Quantity};
use super::lift::{ForgeLift, RatioReason};
use super::run::Arm;
use crate::runs::forge::ThresholdValues;

/// What is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdKind {
    /// Smallest pass rate.
    MinPassRate,
    /// Most tokens in the mean.
    MaxAvgTokens,
    /// Most seconds in the mean.
    MaxAvgDurationSeconds,
    /// Smallest ratio of the rates.
    MinImprovementRatio,
}

impl ThresholdKind {
    /// The key in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::MinPassRate => "min_pass_rate",
            Self::MaxAvgTokens => "max_avg_tokens",
            Self::MaxAvgDurationSeconds => "max_avg_duration_seconds",
            Self::MinImprovementRatio => "min_improvement_ratio",
        }
    }
}

/// One demand with what was found.
#[derive(Debug, Clone)]
pub struct Threshold {
    /// What is demanded.
    pub kind: ThresholdKind,
    /// The limit; equality satisfies it.
    pub limit: Rational,
    /// What was found; `None` when it was not measured, or when a ratio has no number.
    pub actual: Option<f64>,
    /// Whether it is met; `None` when that is not known.
    pub met: Option<bool>,
    /// Why it is not known, or why a ratio has no number.
    pub reason: Option<&'static str>,
    /// Evals that miss the limit by themselves, where it is not met.
    pub responsible: Vec<EvalId>,
}

/// All demands.
#[derive(Debug, Clone, Default)]
pub struct ThresholdResults {
    /// In the order of the configuration format.
    pub results: Vec<Threshold>,
}

impl ThresholdResults {
    /// Holds an iteration against what is demanded.
    pub fn of(demanded: &ThresholdValues, iteration: &ForgeIteration, lift: &ForgeLift) -> Self {
        let mut results = Vec::new();
        if let Some(limit) = &demanded.min_pass_rate {
            let rate = iteration.macro_rate(Arm::WithSkill);
            let misses = |eval: &EvalResult| eval.with_skill.rate.as_ref().is_some_and(|rate| rate < limit);
            let met = rate.as_ref().map(|rate| rate >= limit);
            results.push(threshold(
                ThresholdKind::MinPassRate,
                limit,
                rate.as_ref().map(rational::to_f64),
                met,
                (iteration, &misses),
            ));
        }
        let scaled = [
            (ThresholdKind::MaxAvgTokens, &demanded.max_avg_tokens, Quantity::Tokens, 1.0),
            (ThresholdKind::MaxAvgDurationSeconds, &demanded.max_avg_duration_seconds, Quantity::DurationMs, 1000.0),
        ];
        for (kind, limit, quantity, scale) in scaled {
            let Some(limit) = limit else { continue };
            let value = |mean: Option<f64>| mean.map(|mean| mean / scale);
            let above = |mean: f64| rational::from_f64(mean).is_some_and(|mean| mean > *limit);
            let actual = value(iteration.macro_quantity(Arm::WithSkill, quantity));
            let misses = |eval: &EvalResult| value(eval.with_skill.quantity(quantity)).is_some_and(above);
            results.push(threshold(kind, limit, actual, actual.map(|actual| !above(actual)), (iteration, &misses)));
        }
        if let Some(limit) = &demanded.min_improvement_ratio {
            results.push(improvement(limit, iteration, lift));
        }
        Self { results }
    }

    /// Whether everything is met; `None` when something is not known and nothing is missed, or nothing was demanded.
    pub fn verdict(&self) -> Option<bool> {
        if self.results.iter().any(|result| result.met == Some(false)) {
            Some(false)
        } else if self.results.is_empty() || self.results.iter().any(|result| result.met.is_none()) {
            None
        } else {
            Some(true)
        }
    }
}

fn threshold(
    kind: ThresholdKind,
    limit: &Rational,
    actual: Option<f64>,
    met: Option<bool>,
    (iteration, misses): (&ForgeIteration, &dyn Fn(&EvalResult) -> bool),
) -> Threshold {
    let responsible = iteration.evals.iter().filter(|eval| met == Some(false) && misses(eval));
    Threshold {
        kind,
        limit: limit.clone(),
        actual,
        met,
        reason: met.is_none().then_some("not_captured"),
        responsible: responsible.map(|eval| eval.description.id.clone()).collect(),
    }
}

/// The rate with the skill against the demanded multiple of the rate without it: decided also where nothing passes without
/// the skill and the ratio has no number.
fn improvement(limit: &Rational, iteration: &ForgeIteration, lift: &ForgeLift) -> Threshold {
    let reason = lift.improvement_ratio.as_ref().err().copied();
    let met = match lift.paired_rates() {
        // nothing over nothing is no ratio
        Some((with_skill, baseline)) if with_skill.is_zero() && baseline.is_zero() => None,
        Some((with_skill, baseline)) => Some(*with_skill >= limit * baseline),
        None => None,
    };
    let misses =
        |eval: &EvalResult| eval.paired_rates().is_some_and(|(with_skill, baseline)| *with_skill < limit * baseline);
    Threshold {
        reason: reason.map(RatioReason::code),
        ..threshold(
            ThresholdKind::MinImprovementRatio,
            limit,
            lift.improvement_ratio.as_ref().ok().map(rational::to_f64),
            met,
            (iteration, &misses),
        )
    }
}
