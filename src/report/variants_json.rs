//! The arms of a report: how many runs each has, how many checks they pass, and what they used.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::describe;

use super::ordered::Ordered;
use super::standing::Standing;
use super::telemetry_json::UsageMembers;
use crate::analyze::Analysis;
use crate::analyze::variants::VariantSummary;

#[derive(Serialize)]
pub(super) struct Stats {
    mean: Option<f64>,
    stddev: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    median: Option<f64>,
    n: usize,
}

pub(super) fn stats(values: &[f64]) -> Stats {
    let summary = describe::summary(values);
    Stats {
        mean: summary.mean,
        stddev: summary.stddev,
        min: summary.min,
        max: summary.max,
        median: summary.median,
        n: summary.n,
    }
}

/// What the runs of one arm say.
pub(super) struct VariantBlock<'a> {
    summary: &'a VariantSummary,
    standing: Standing,
}

impl Serialize for VariantBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { summary, standing } = *self;
        let rates = [
            ("objective_pass_rate", &summary.objective),
            ("combined_pass_rate", &summary.combined),
            ("process_pass_rate", &summary.process),
            ("efficiency_pass_rate", &summary.efficiency),
        ];
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cases", &summary.cases)?;
        map.serialize_entry("runs", &summary.runs)?;
        map.serialize_entry("scorable_runs", &(summary.runs - summary.blocked))?;
        map.serialize_entry("blocked_runs", &summary.blocked)?;
        map.serialize_entry("missing_outputs", &summary.missing_outputs)?;
        map.serialize_entry("execution_errors", &summary.execution_errors)?;
        for (key, values) in rates {
            standing.entry(&mut map, &format!("mean_{key}"), &describe::mean(values))?;
        }
        for (key, values) in rates {
            standing.entry(&mut map, key, &stats(values))?;
        }
        let of_metric = |(key, values): (&str, &Vec<f64>)| (key.to_owned(), metric_availability(summary, values));
        map.serialize_entry("metric_availability", &Ordered(rates.map(of_metric).into()))?;
        standing.state(&mut map)?;
        for (key, values) in rates {
            standing.observed(&mut map, &format!("mean_{key}"), &describe::mean(values))?;
            standing.observed(&mut map, key, &stats(values))?;
        }
        UsageMembers(&summary.usage).entries(&mut map)?;
        map.end()
    }
}

/// Whether all runs of an arm are behind the values of a metric.
fn metric_availability(summary: &VariantSummary, values: &[f64]) -> &'static str {
    match (summary.blocked, values.is_empty()) {
        _ if summary.runs == 0 => "empty",
        (0, true) => "not_applicable",
        (0, false) => "complete",
        (_, true) => "empty",
        (_, false) => "partial",
    }
}

/// Each arm of an analysis, or of one of its models.
pub(super) fn variant_blocks<'a>(analysis: &Analysis, summaries: &'a [VariantSummary]) -> Ordered<VariantBlock<'a>> {
    let block = |summary: &'a VariantSummary| {
        let standing = Standing::of_runs(analysis, summary.blocked);
        (summary.variant.clone(), VariantBlock { summary, standing })
    };
    Ordered(summaries.iter().map(block).collect())
}
