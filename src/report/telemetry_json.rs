//! What runs used, in the form of version 0.6 of the report format: sums that say how complete they are.

use rust_decimal::Decimal;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::describe;

use super::ordered::Ordered;
use crate::analyze::telemetry::{
    Aggregate, AggregateState, Buckets, CountStats, CoverageCounts, MoneyStats, VariantUsage,
};

/// A sum as a report writes it: counts as numbers, money as decimal text.
pub(super) trait Sum: Copy {
    type Exact: Serialize;
    fn exact(self) -> Self::Exact;
    fn number(self) -> f64;
}

impl Sum for u128 {
    type Exact = u128;

    fn exact(self) -> u128 {
        self
    }

    fn number(self) -> f64 {
        self as f64
    }
}

impl Sum for Decimal {
    type Exact = String;

    fn exact(self) -> String {
        self.to_string()
    }

    fn number(self) -> f64 {
        dollars(&self)
    }
}

/// The nearest double of an amount.
pub(super) fn dollars(amount: &Decimal) -> f64 {
    // every text of an amount is a number
    amount.to_string().parse().unwrap_or_default()
}

pub(super) struct AggregateJson<'a, T>(pub(super) &'a Aggregate<T>);

impl<T: Sum> Serialize for AggregateJson<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Aggregate { state, observed, unavailable, not_applicable, reasons } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("availability", state.code())?;
        map.serialize_entry("observed_count", observed)?;
        map.serialize_entry("unavailable_count", unavailable)?;
        map.serialize_entry("not_applicable_count", not_applicable)?;
        map.serialize_entry("reason_counts", &Ordered(reasons.clone()))?;
        match state {
            AggregateState::Complete(sum) => map.serialize_entry("value", &sum.exact())?,
            AggregateState::Partial(sum) => map.serialize_entry("known_subtotal", &sum.exact())?,
            AggregateState::NotApplicable => {
                let reason = reasons.first().map_or("not_applicable", |(reason, _)| reason);
                map.serialize_entry("reason", reason)?;
            }
            AggregateState::Unavailable => {}
        }
        map.end()
    }
}

/// Values with the sum over them. What an incomplete list has no sum and no mean of, its observed part has under names
/// that say so.
struct StatsJson<'a, T> {
    values: Vec<f64>,
    aggregate: &'a Aggregate<T>,
}

impl<T: Sum> Serialize for StatsJson<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stats = describe::cost_summary(&self.values);
        let complete = self.aggregate.complete().is_some();
        let shown = |value: Option<f64>| value.filter(|_| complete);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sum", &shown(stats.sum))?;
        map.serialize_entry("mean", &shown(stats.mean))?;
        map.serialize_entry("median", &shown(stats.median))?;
        map.serialize_entry("p90", &shown(stats.p90))?;
        map.serialize_entry("n", &stats.n)?;
        map.serialize_entry("availability", self.aggregate.state.code())?;
        map.serialize_entry("aggregate", &AggregateJson(self.aggregate))?;
        if let Some(known) = self.aggregate.known_part() {
            map.serialize_entry("known_sum", &known.number())?;
            map.serialize_entry("observed_mean", &stats.mean)?;
            map.serialize_entry("observed_median", &stats.median)?;
            map.serialize_entry("observed_p90", &stats.p90)?;
        }
        map.end()
    }
}

pub(super) fn count_stats(stats: &CountStats) -> impl Serialize {
    StatsJson { values: stats.values.iter().map(|value| *value as f64).collect(), aggregate: &stats.aggregate }
}

pub(super) fn money_stats(stats: &MoneyStats) -> impl Serialize {
    StatsJson { values: stats.amounts.iter().map(dollars).collect(), aggregate: &stats.aggregate }
}

/// The members that a sum of counts has in an object: the sum where it is complete, what it is made of, how complete it
/// is, and the known part where it is not.
pub(super) fn count_members<M: SerializeMap>(map: &mut M, name: &str, sum: &Aggregate<u128>) -> Result<(), M::Error> {
    members(map, name, sum, |sum| sum)
}

/// The members that a sum of money has in an object, and the sums of all currencies.
pub(super) fn money_members<M: SerializeMap>(map: &mut M, buckets: &Buckets) -> Result<(), M::Error> {
    members(map, "total_cost_usd", &buckets.total_dollars(), |sum| dollars(&sum))?;
    map.serialize_entry("cost_by_currency", &ByCurrency(buckets))
}

fn members<M: SerializeMap, T: Sum, V: Serialize>(
    map: &mut M,
    name: &str,
    sum: &Aggregate<T>,
    value: impl Fn(T) -> V,
) -> Result<(), M::Error> {
    map.serialize_entry(name, &sum.complete().map(&value))?;
    map.serialize_entry(&format!("{name}_aggregate"), &AggregateJson(sum))?;
    map.serialize_entry(&format!("{name}_availability"), sum.state.code())?;
    match sum.known_part() {
        Some(known) => map.serialize_entry(&format!("known_{name}"), &value(known)),
        None => Ok(()),
    }
}

struct ByCurrency<'a>(&'a Buckets);

impl Serialize for ByCurrency<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (currency, sum) in &self.0.by_currency {
            map.serialize_entry(currency.code(), &AggregateJson(sum))?;
        }
        if self.0.by_currency.is_empty() {
            map.serialize_entry("unknown", &AggregateJson(&self.0.unknown))?;
        }
        map.end()
    }
}

/// The median of whole numbers: of an odd number of them a whole number.
#[derive(Serialize)]
#[serde(untagged)]
enum Median {
    Whole(u64),
    Between(f64),
}

fn median(values: &[u64]) -> Option<Median> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(Median::Whole(upper));
    }
    let lower = *sorted.get(half.checked_sub(1)?)?;
    Some(Median::Between((u128::from(lower) + u128::from(upper)) as f64 / 2.0))
}

/// The members of the block of an arm that are about what its runs used.
pub(super) struct UsageMembers<'a>(pub(super) &'a VariantUsage);

impl UsageMembers<'_> {
    pub(super) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let usage = self.0;
        let dollar_sum = usage.money.total_dollars();
        map.serialize_entry("elapsed_ms", &count_stats(&usage.elapsed_ms))?;
        map.serialize_entry("total_tokens", &count_stats(&usage.total_tokens))?;
        map.serialize_entry("command_count", &count_stats(&usage.commands))?;
        map.serialize_entry("cost_usd_total", &dollar_sum.complete().map(Sum::number))?;
        map.serialize_entry("cost_usd_total_aggregate", &AggregateJson(&dollar_sum))?;
        if let Some(known) = dollar_sum.known_part() {
            map.serialize_entry("known_cost_usd_total", &known.number())?;
        }
        map.serialize_entry("cost_usd", &money_stats(&usage.dollars))?;
        map.serialize_entry("telemetry_availability", &TelemetryAvailability::from(usage.coverage))?;
        map.serialize_entry("median_elapsed_ms", &median(&usage.elapsed_ms.values))?;
        map.serialize_entry("median_total_tokens", &median(&usage.total_tokens.values))
    }
}

#[derive(Serialize)]
struct TelemetryAvailability {
    trace: usize,
    events: usize,
    metrics: usize,
    tokens: usize,
    commands: usize,
    skill_invocation: usize,
    runs: usize,
}

impl From<CoverageCounts> for TelemetryAvailability {
    fn from(counts: CoverageCounts) -> Self {
        let CoverageCounts { trace, events, metrics, tokens, commands, skill_invocation, runs } = counts;
        Self { trace, events, metrics, tokens, commands, skill_invocation, runs }
    }
}
