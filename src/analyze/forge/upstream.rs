//! The aggregate of the forge pipeline's own script, with its numbers: recorded rates pooled over runs, arms unpaired,
//! ratios with fallbacks. Kept for who compares with it; nothing is concluded from it.

use skill_lift_text::python::round_half_even;

use crate::json::Node;
use crate::runs::forge::{PreviousBenchmark, PreviousNumber, UpstreamEval, UpstreamIteration, UpstreamRun};

/// Mean of what was captured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Average {
    /// Nothing above 0: the script writes the integer 0.
    Nothing,
    /// The mean.
    Mean(f64),
}

impl Average {
    /// The number that the script computes with.
    pub fn value(self) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Mean(mean) => mean,
        }
    }
}

/// Figures of an arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmFigures {
    /// Mean recorded rate.
    pub pass_rate: f64,
    /// Its sample standard deviation; 0 for a single run.
    pub pass_rate_std: f64,
    /// Mean tokens.
    pub avg_tokens: Average,
    /// Mean seconds.
    pub avg_duration_seconds: Average,
}

/// Figures of an eval.
#[derive(Debug, Clone)]
pub struct EvalFigures {
    /// Its number, as digits.
    pub eval_id: String,
    /// Its name as its metadata has it.
    pub eval_name: Node<'static>,
    /// Runs of the arm that has more.
    pub trials: usize,
    /// With the skill; absent without a run.
    pub with_skill: Option<ArmFigures>,
    /// Without it; absent without a run.
    pub baseline: Option<ArmFigures>,
}

/// A difference to an earlier report; whole when both numbers were.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta {
    /// Of two integers.
    Integer(i64),
    /// Rounded.
    Float(f64),
}

/// The block `comparison`.
#[derive(Debug, Clone)]
pub struct UpstreamComparison {
    /// The earlier report's `iteration`.
    pub previous_iteration: Node<'static>,
    /// Difference of the mean rates with the skill.
    pub pass_rate_delta: Delta,
    /// Difference of the mean tokens with the skill.
    pub token_delta: Delta,
    /// Difference of the mean seconds with the skill.
    pub duration_delta: Delta,
}

/// The whole aggregate.
#[derive(Debug, Clone)]
pub struct UpstreamBenchmark {
    /// Number of the iteration, as digits.
    pub iteration: String,
    /// All runs with the skill.
    pub with_skill: ArmFigures,
    /// All runs without it.
    pub baseline: ArmFigures,
    /// Ratio of the mean rates; 999.99 over nothing, 1.0 for nothing over nothing.
    pub improvement_ratio: f64,
    /// Ratio of the mean tokens; 1.0 without a baseline.
    pub token_savings_ratio: f64,
    /// Ratio of the mean seconds; 1.0 without a baseline.
    pub time_savings_ratio: f64,
    /// Every eval directory.
    pub per_eval: Vec<EvalFigures>,
    /// Against an earlier iteration.
    pub comparison: Option<UpstreamComparison>,
}

impl UpstreamBenchmark {
    /// Aggregates an iteration.
    pub fn of(iteration: &UpstreamIteration, previous: Option<&PreviousBenchmark>) -> Self {
        let pooled = |runs: fn(&UpstreamEval) -> &[UpstreamRun]| {
            ArmFigures::of(&iteration.evals.iter().flat_map(runs).copied().collect::<Vec<_>>())
        };
        let with_skill = pooled(|eval| &eval.with_skill);
        let baseline = pooled(|eval| &eval.baseline);
        Self {
            iteration: iteration.number.clone(),
            improvement_ratio: improvement_ratio(with_skill.pass_rate, baseline.pass_rate),
            token_savings_ratio: savings_ratio(with_skill.avg_tokens, baseline.avg_tokens),
            time_savings_ratio: savings_ratio(with_skill.avg_duration_seconds, baseline.avg_duration_seconds),
            per_eval: iteration.evals.iter().map(eval_figures).collect(),
            comparison: previous.map(|previous| UpstreamComparison {
                previous_iteration: previous.iteration.clone(),
                pass_rate_delta: delta(Average::Mean(with_skill.pass_rate), previous.pass_rate, 4),
                token_delta: delta(with_skill.avg_tokens, previous.avg_tokens, 2),
                duration_delta: delta(with_skill.avg_duration_seconds, previous.avg_duration_seconds, 2),
            }),
            with_skill,
            baseline,
        }
    }

    /// What a later iteration compares itself with when this one was never written to a file.
    pub fn as_previous(&self) -> Option<PreviousBenchmark> {
        let number = |average: Average| match average {
            Average::Nothing => PreviousNumber::Integer(0),
            Average::Mean(mean) => PreviousNumber::Float(mean),
        };
        Some(PreviousBenchmark {
            iteration: crate::json::parse(&self.iteration, crate::json::Limits::SIDECAR).ok()?.into_owned(),
            pass_rate: PreviousNumber::Float(self.with_skill.pass_rate),
            avg_tokens: number(self.with_skill.avg_tokens),
            avg_duration_seconds: number(self.with_skill.avg_duration_seconds),
        })
    }

    /// Whether every figure is a number that JSON can hold; huge recorded rates overflow.
    pub fn is_finite(&self) -> bool {
        let arm = |arm: &ArmFigures| {
            [arm.pass_rate, arm.pass_rate_std, arm.avg_tokens.value(), arm.avg_duration_seconds.value()]
                .iter()
                .all(|figure| figure.is_finite())
        };
        let ratios = [self.improvement_ratio, self.token_savings_ratio, self.time_savings_ratio];
        let evals = self.per_eval.iter().flat_map(|eval| [&eval.with_skill, &eval.baseline]).flatten();
        let deltas = self
            .comparison
            .iter()
            .flat_map(|comparison| [comparison.pass_rate_delta, comparison.token_delta, comparison.duration_delta]);
        [&self.with_skill, &self.baseline].into_iter().chain(evals).all(arm)
            && ratios.iter().all(|ratio| ratio.is_finite())
            && deltas.into_iter().all(|delta| !matches!(delta, Delta::Float(value) if !value.is_finite()))
    }
}

fn eval_figures(eval: &UpstreamEval) -> EvalFigures {
    let figures = |runs: &[UpstreamRun]| (!runs.is_empty()).then(|| ArmFigures::of(runs));
    EvalFigures {
        eval_id: eval.eval_id.clone(),
        eval_name: eval.eval_name.clone(),
        trials: eval.with_skill.len().max(eval.baseline.len()),
        with_skill: figures(&eval.with_skill),
        baseline: figures(&eval.baseline),
    }
}

impl ArmFigures {
    fn of(runs: &[UpstreamRun]) -> Self {
        let rates: Vec<f64> = runs.iter().map(|run| run.pass_rate).collect();
        let captured = |value: fn(&UpstreamRun) -> f64| {
            let values: Vec<f64> = runs.iter().map(value).filter(|value| *value > 0.0).collect();
            mean(&values).map_or(Average::Nothing, |mean| Average::Mean(round_half_even(mean, 4)))
        };
        Self {
            pass_rate: mean(&rates).map_or(0.0, |mean| round_half_even(mean, 4)),
            pass_rate_std: round_half_even(standard_deviation(&rates), 4),
            avg_tokens: captured(|run| run.total_tokens),
            avg_duration_seconds: captured(|run| run.duration_seconds),
        }
    }
}

/// Summed from left to right as the script does.
fn mean(values: &[f64]) -> Option<f64> {
    // from 0.0, where an empty sum of Rust is -0.0
    (!values.is_empty()).then(|| values.iter().fold(0.0, |sum, value| sum + value) / values.len() as f64)
}

fn standard_deviation(values: &[f64]) -> f64 {
    let Some(mean) = mean(values).filter(|_| values.len() > 1) else { return 0.0 };
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

fn improvement_ratio(with_skill: f64, baseline: f64) -> f64 {
    if baseline > 0.0 {
        round_half_even(with_skill / baseline, 2)
    } else if with_skill > 0.0 {
        999.99
    } else {
        1.0
    }
}

fn savings_ratio(with_skill: Average, baseline: Average) -> f64 {
    if baseline.value() > 0.0 { round_half_even(with_skill.value() / baseline.value(), 2) } else { 1.0 }
}

fn delta(current: Average, previous: PreviousNumber, decimals: u32) -> Delta {
    match (current, previous) {
        (Average::Nothing, PreviousNumber::Integer(previous)) => Delta::Integer(previous.saturating_neg()),
        (current, previous) => Delta::Float(round_half_even(current.value() - previous.value(), decimals)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pass_rate: f64, total_tokens: f64) -> UpstreamRun {
        UpstreamRun { pass_rate, total_tokens, duration_seconds: 0.0 }
    }

    #[test]
    fn zeros_are_no_measurements_but_count_as_rates() {
        // rates 0, 1 and 1: mean 2/3, variance ((4 + 1 + 1) / 9) / 2 = 1/3; tokens 10 and 15
        let figures = ArmFigures::of(&[run(0.0, 10.0), run(1.0, 0.0), run(1.0, 15.0)]);
        assert_eq!((figures.pass_rate, figures.pass_rate_std), (0.6667, 0.5774));
        assert_eq!((figures.avg_tokens, figures.avg_duration_seconds), (Average::Mean(12.5), Average::Nothing));
        let none = ArmFigures::of(&[]);
        assert_eq!((none.pass_rate, none.pass_rate_std, none.avg_tokens), (0.0, 0.0, Average::Nothing));
    }

    #[test]
    fn ratios_have_fallbacks() {
        assert_eq!(improvement_ratio(0.5283, 0.5825), 0.91);
        assert_eq!((improvement_ratio(0.1, 0.0), improvement_ratio(0.0, 0.0)), (999.99, 1.0));
        assert_eq!(improvement_ratio(0.1, -1.0), 999.99);
        assert_eq!(savings_ratio(Average::Mean(5.0), Average::Nothing), 1.0);
        assert_eq!(savings_ratio(Average::Nothing, Average::Mean(5.0)), 0.0);
    }

    #[test]
    fn differences_of_whole_numbers_stay_whole() {
        assert_eq!(delta(Average::Nothing, PreviousNumber::Integer(7), 2), Delta::Integer(-7));
        assert_eq!(delta(Average::Nothing, PreviousNumber::Float(7.5), 2), Delta::Float(-7.5));
        // the script's own 0.5283 - 0.7917
        assert_eq!(delta(Average::Mean(0.5283), PreviousNumber::Float(0.7917), 4), Delta::Float(-0.2634));
    }
}
