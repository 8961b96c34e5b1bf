//! What the runs of one arm used.

use super::aggregate::{Buckets, CountStats, MoneyStats, PopulationRule, money_buckets};
use crate::runs::UsedByRun;

/// How many runs have which kinds of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CoverageCounts {
    /// With the raw trace.
    pub trace: usize,
    /// With a file of events.
    pub events: usize,
    /// With a file of metrics.
    pub metrics: usize,
    /// That say how many tokens.
    pub tokens: usize,
    /// That say which commands.
    pub commands: usize,
    /// That say whether the skill was loaded.
    pub skill_invocation: usize,
    /// All.
    pub runs: usize,
}

/// What the runs of one arm used. All but the coverage is about its scorable runs.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantUsage {
    /// Milliseconds.
    pub elapsed_ms: CountStats,
    /// Tokens.
    pub total_tokens: CountStats,
    /// Commands.
    pub commands: CountStats,
    /// Money, by currency.
    pub money: Buckets,
    /// US dollars.
    pub dollars: MoneyStats,
    /// Kinds of telemetry, over all runs.
    pub coverage: CoverageCounts,
}

impl VariantUsage {
    /// Of the runs of an arm; each with whether it is scorable.
    pub fn of<'r>(runs: impl Iterator<Item = (&'r UsedByRun, bool)> + Clone) -> Self {
        let mut coverage = CoverageCounts::default();
        for (run, _) in runs.clone() {
            let has = run.coverage;
            coverage.trace += usize::from(has.trace);
            coverage.events += usize::from(has.events);
            coverage.metrics += usize::from(has.metrics);
            coverage.tokens += usize::from(has.tokens);
            coverage.commands += usize::from(has.commands);
            coverage.skill_invocation += usize::from(has.skill_invocation);
            coverage.runs += 1;
        }
        let scorable = runs.filter(|(_, scorable)| *scorable).map(|(run, _)| &run.telemetry);
        let rule = PopulationRule::AsStated;
        Self {
            elapsed_ms: CountStats::of(scorable.clone().map(|run| &run.elapsed_ms), rule),
            total_tokens: CountStats::of(scorable.clone().map(|run| &run.total_tokens), rule),
            commands: CountStats::of(scorable.clone().map(|run| &run.commands), rule),
            money: money_buckets(scorable.clone().map(|run| &run.cost), rule),
            dollars: MoneyStats::of(scorable.map(|run| &run.cost), rule),
            coverage,
        }
    }
}
