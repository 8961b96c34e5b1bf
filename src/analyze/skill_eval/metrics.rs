//! What executors used: the runner's means over whatever was captured, and means over scored runs beside them.

use std::collections::HashMap;

use skill_lift_stats::describe;

use crate::runs::skill_eval::{RunMetrics, RunRecord};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Milliseconds.
    Duration,
    /// Tokens.
    Tokens,
    /// US dollars.
    Cost,
}

impl MetricKind {
    /// All, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Duration, Self::Tokens, Self::Cost];

    /// The key in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Duration => "duration_ms",
            Self::Tokens => "total_tokens",
            Self::Cost => "total_cost_usd",
        }
    }

    /// The captured value of a run.
    fn of(self, metrics: &RunMetrics) -> Option<f64> {
        let value = match self {
            Self::Duration => metrics.duration_ms,
            Self::Tokens => metrics.total_tokens,
            Self::Cost => metrics.total_cost_usd,
        };
        value.filter(|_| metrics.captured)
    }
}

/// One metric of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSummary {
    /// Runs with a value.
    pub n: usize,
    /// Runs.
    pub total: usize,
    /// Mean of the values.
    pub mean: Option<f64>,
    /// Sample standard deviation, of more than one value.
    pub stdev: Option<f64>,
    /// Why the others have none, each once.
    pub reasons: Vec<String>,
}

impl MetricSummary {
    /// Over all runs of a configuration, scored or not.
    pub fn of<'a>(kind: MetricKind, runs: impl Iterator<Item = &'a RunRecord>) -> Self {
        let mut values = Vec::new();
        let mut total = 0;
        let mut reasons: Vec<String> = Vec::new();
        for run in runs {
            total += 1;
            if let Some(value) = kind.of(&run.metrics) {
                values.push(value);
                continue;
            }
            let reason = match (&run.metrics.reason, run.metrics.captured) {
                (_, true) => "field not reported by provider",
                (Some(reason), false) => reason.as_str(),
                (None, false) => "metrics not captured",
            };
            if !reasons.iter().any(|known| known == reason) {
                reasons.push(reason.to_owned());
            }
        }
        Self {
            n: values.len(),
            total,
            mean: describe::mean(&values),
            stdev: if values.len() > 1 { describe::stddev(&values) } else { None },
            reasons,
        }
    }
}

/// A metric over evals that have it in both arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedMetric {
    /// Evals.
    pub evals: usize,
    /// Mean over them of candidate minus baseline, each eval's runs averaged first.
    pub mean_delta: f64,
}

/// One metric over scored runs.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricReading {
    /// What is measured.
    pub kind: MetricKind,
    /// Each configuration's runs, scored or not.
    pub all: Vec<(String, MetricSummary)>,
    /// Each configuration's scored runs.
    pub scored: Vec<(String, MetricSummary)>,
    /// Candidate minus baseline.
    pub paired: Option<PairedMetric>,
}

impl MetricReading {
    /// Reads one metric. A run is scored when nothing in its verdicts had to be guessed.
    pub fn of(
        kind: MetricKind,
        evals: &[String],
        configurations: &[String],
        arms: Option<&(String, String)>,
        runs: &[RunRecord],
    ) -> Self {
        let of_configuration = |name: &str| {
            let name = name.to_owned();
            runs.iter().filter(move |run| run.place.configuration == name)
        };
        let summary = |name: &String| (name.clone(), MetricSummary::of(kind, of_configuration(name)));
        let scored = |name: &String| {
            (name.clone(), MetricSummary::of(kind, of_configuration(name).filter(|run| run.strict_rate().is_some())))
        };
        let mut values: HashMap<(&str, &str), Vec<f64>> = HashMap::new();
        for run in runs.iter().filter(|run| run.strict_rate().is_some()) {
            values.entry((&run.place.eval_id, &run.place.configuration)).or_default().extend(kind.of(&run.metrics));
        }
        let paired = arms.and_then(|(candidate, baseline)| {
            let mean = |eval: &str, configuration: &str| describe::mean(values.get(&(eval, configuration))?);
            let deltas: Vec<f64> =
                evals.iter().filter_map(|eval| Some(mean(eval, candidate)? - mean(eval, baseline)?)).collect();
            Some(PairedMetric { evals: deltas.len(), mean_delta: describe::mean(&deltas)? })
        });
        Self {
            kind,
            all: configurations.iter().map(summary).collect(),
            scored: configurations.iter().map(scored).collect(),
            paired,
        }
    }
}
