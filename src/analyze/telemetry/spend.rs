//! What groups of runs spent.

use rust_decimal::Decimal;
use skill_lift_contract::telemetry::{Currency, Measurement, Money, Observation};

use super::aggregate::{Aggregate, Buckets, PopulationRule, count_aggregate, money_buckets};
use crate::runs::RunTelemetry;

/// What a group of runs spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spend {
    /// Runs of the group.
    pub runs: usize,
    /// Their tokens.
    pub total_tokens: Aggregate<u128>,
    /// Their money.
    pub money: Buckets,
}

impl Spend {
    /// Of some runs.
    pub fn of<'r>(runs: impl Iterator<Item = &'r RunTelemetry> + Clone) -> Self {
        Self {
            runs: runs.clone().count(),
            total_tokens: count_aggregate(runs.clone().map(|run| &run.total_tokens), PopulationRule::OfRows),
            money: money_buckets(runs.map(|run| &run.cost), PopulationRule::OfRows),
        }
    }

    /// The money in US dollars.
    pub fn dollars(&self) -> Aggregate<Decimal> {
        self.money.total_dollars()
    }
}

impl Buckets {
    /// The sum in US dollars; where all amounts are in other currencies, their number stands beside the reason.
    pub fn total_dollars(&self) -> Aggregate<Decimal> {
        self.dollars(|buckets| buckets.by_currency.values().map(|bucket| bucket.observed).sum())
    }
}

/// How many runs say what they used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// All runs.
    pub runs: usize,
    /// Those that say how many tokens.
    pub with_tokens: usize,
    /// Those that say how many US dollars.
    pub with_dollars: usize,
    /// Those that say how much of another currency.
    pub with_other_money: usize,
    /// Those whose tokens were not observed.
    pub missing_tokens: usize,
    /// Those whose money was not observed.
    pub missing_money: usize,
    /// Those that cannot have tokens.
    pub tokens_not_applicable: usize,
    /// Those that cannot have cost money.
    pub money_not_applicable: usize,
}

impl Coverage {
    /// Of some runs.
    pub fn of<'r>(runs: impl Iterator<Item = &'r RunTelemetry>) -> Self {
        let mut coverage = Self::default();
        for run in runs {
            coverage.runs += 1;
            match &run.total_tokens.observation {
                Observation::Available { .. } => coverage.with_tokens += 1,
                Observation::Unavailable(_) => coverage.missing_tokens += 1,
                Observation::NotApplicable(_) => coverage.tokens_not_applicable += 1,
            }
            match &run.cost.observation {
                Observation::Available { value: Money { currency: Currency::USD, .. }, .. } => {
                    coverage.with_dollars += 1;
                }
                Observation::Available { .. } => coverage.with_other_money += 1,
                Observation::Unavailable(_) => coverage.missing_money += 1,
                Observation::NotApplicable(_) => coverage.money_not_applicable += 1,
            }
        }
        coverage
    }
}

/// What all runs used together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// Tokens that went in.
    pub input_tokens: Aggregate<u128>,
    /// Tokens that came out.
    pub output_tokens: Aggregate<u128>,
    /// All tokens, as the sources count them.
    pub total_tokens: Aggregate<u128>,
    /// Money.
    pub money: Buckets,
    /// Milliseconds, one run after the other.
    pub elapsed_ms: Aggregate<u128>,
    /// Tokens that were read from caches.
    pub cache_read_tokens: Aggregate<u128>,
    /// Tokens that were written to caches.
    pub cache_write_tokens: Aggregate<u128>,
    /// Every token that was billed, each once.
    pub billable_tokens: Aggregate<u128>,
}

impl Totals {
    /// Of some runs.
    pub fn of<'r>(runs: impl Iterator<Item = &'r RunTelemetry> + Clone, rule: PopulationRule) -> Self {
        let sum = |of: fn(&RunTelemetry) -> &Measurement<u64>| count_aggregate(runs.clone().map(of), rule);
        Self {
            input_tokens: sum(|run| &run.input_tokens),
            output_tokens: sum(|run| &run.output_tokens),
            total_tokens: sum(|run| &run.total_tokens),
            money: money_buckets(runs.clone().map(|run| &run.cost), rule),
            elapsed_ms: sum(|run| &run.elapsed_ms),
            cache_read_tokens: sum(|run| &run.cache_read_tokens),
            cache_write_tokens: sum(|run| &run.cache_write_tokens),
            billable_tokens: sum(|run| &run.billable_tokens),
        }
    }
}
