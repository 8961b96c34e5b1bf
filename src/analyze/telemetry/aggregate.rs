//! Sums that say how complete they are.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use skill_lift_contract::telemetry::{Currency, Measurement, Money, Observation, Provenance, add_exactly};

/// How complete a sum is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateState<T> {
    /// Everything was measured: the sum.
    Complete(T),
    /// Something was not: the sum of what was.
    Partial(T),
    /// Nothing that could be added up was measured.
    Unavailable,
    /// Nothing could have been measured.
    NotApplicable,
}

impl<T> AggregateState<T> {
    /// The code in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Complete(_) => "complete",
            Self::Partial(_) => "partial",
            Self::Unavailable => "unavailable",
            Self::NotApplicable => "not_applicable",
        }
    }
}

/// A sum with the counts of what is in it and the reasons of what is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate<T> {
    /// The sum.
    pub state: AggregateState<T>,
    /// How many values are in it.
    pub observed: usize,
    /// How many were not observed.
    pub unavailable: usize,
    /// How many cannot exist.
    pub not_applicable: usize,
    /// Why, with counts, in the order in which the reasons came; those of the last kind begin with `not_applicable:`.
    pub reasons: Vec<(String, usize)>,
}

impl<T: Copy> Aggregate<T> {
    /// The sum, if it is complete.
    pub fn complete(&self) -> Option<T> {
        match self.state {
            AggregateState::Complete(sum) => Some(sum),
            _ => None,
        }
    }

    /// The sum of what was measured, if something was not.
    pub fn known_part(&self) -> Option<T> {
        match self.state {
            AggregateState::Partial(sum) => Some(sum),
            _ => None,
        }
    }

    /// A sum that cannot be taken at all.
    pub fn blocked(reason: &str, count: usize) -> Self {
        Self {
            state: AggregateState::Unavailable,
            observed: 0,
            unavailable: 0,
            not_applicable: 0,
            reasons: vec![(reason.to_owned(), count)],
        }
    }
}

/// Which population measurements belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PopulationRule {
    /// The one that their files state.
    AsStated,
    /// The one of the rows that they stand in, whatever their files state.
    OfRows,
}

/// What has to agree before values are added up.
type Signature<'m> = (Option<&'m str>, Option<&'m str>, Provenance);

fn signature<'m, T>(measurement: &'m Measurement<T>, rule: PopulationRule) -> Option<Signature<'m>> {
    let basis = &measurement.basis;
    let population = match rule {
        PopulationRule::AsStated => basis.population.as_deref(),
        PopulationRule::OfRows => None,
    };
    Some((population, basis.billing_scope.as_deref(), measurement.provenance()?))
}

/// Collects one sum.
struct Collector<'m, T> {
    signatures: Vec<Signature<'m>>,
    sum: Option<T>,
    observed: usize,
    overflow: bool,
    unavailable: usize,
    not_applicable: usize,
    reasons: Vec<(String, usize)>,
}

impl<'m, T: Copy> Collector<'m, T> {
    fn new() -> Self {
        Self {
            signatures: Vec::new(),
            sum: None,
            observed: 0,
            overflow: false,
            unavailable: 0,
            not_applicable: 0,
            reasons: Vec::new(),
        }
    }

    fn sign(&mut self, signature: Option<Signature<'m>>) {
        if let Some(signature) = signature.filter(|signature| !self.signatures.contains(signature)) {
            self.signatures.push(signature);
        }
    }

    fn add(&mut self, value: T, add: impl Fn(T, T) -> Option<T>) {
        self.observed += 1;
        match self.sum {
            None => self.sum = Some(value),
            Some(sum) => match add(sum, value) {
                Some(sum) => self.sum = Some(sum),
                None => self.overflow = true,
            },
        }
    }

    fn leave_out<U>(&mut self, observation: &Observation<U>) {
        match observation {
            Observation::Available { .. } => {}
            Observation::Unavailable(reason) => {
                self.unavailable += 1;
                self.count(reason, "");
            }
            Observation::NotApplicable(reason) => {
                self.not_applicable += 1;
                self.count(reason, "not_applicable:");
            }
        }
    }

    fn count(&mut self, reason: &str, prefix: &str) {
        let known = self.reasons.iter_mut().find(|(known, _)| known.strip_prefix(prefix) == Some(reason));
        match known {
            Some((_, count)) => *count += 1,
            None => self.reasons.push((format!("{prefix}{reason}"), 1)),
        }
    }

    fn finish(self) -> Aggregate<T> {
        if self.signatures.len() > 1 {
            return Aggregate::blocked("basis_mismatch", self.signatures.len());
        }
        if self.overflow {
            return Aggregate::blocked("sum_too_large", self.observed);
        }
        let left_out = self.unavailable + self.not_applicable;
        let state = match self.sum {
            Some(sum) if left_out == 0 => AggregateState::Complete(sum),
            Some(sum) => AggregateState::Partial(sum),
            None if self.not_applicable > 0 && self.unavailable == 0 => AggregateState::NotApplicable,
            None => AggregateState::Unavailable,
        };
        Aggregate {
            state,
            observed: self.observed,
            unavailable: self.unavailable,
            not_applicable: self.not_applicable,
            reasons: self.reasons,
        }
    }
}

/// The sum of counts.
pub fn count_aggregate<'m>(
    measurements: impl IntoIterator<Item = &'m Measurement<u64>>,
    rule: PopulationRule,
) -> Aggregate<u128> {
    let mut collector = Collector::new();
    for measurement in measurements {
        collector.sign(signature(measurement, rule));
        match measurement.value() {
            Some(value) => collector.add(u128::from(*value), u128::checked_add),
            None => collector.leave_out(&measurement.observation),
        }
    }
    collector.finish()
}

/// Sums of money, one a currency: amounts of another currency are neither added nor missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    /// By code; empty when no amount is known.
    pub by_currency: BTreeMap<Currency, Aggregate<Decimal>>,
    /// What is known when no amount is.
    pub unknown: Aggregate<Decimal>,
}

impl Buckets {
    /// The sum in US dollars. Where all amounts are in other currencies, the reason says so with `mismatches`.
    pub fn dollars(&self, mismatches: impl FnOnce(&Self) -> usize) -> Aggregate<Decimal> {
        match self.by_currency.get(&Currency::USD) {
            Some(dollars) => dollars.clone(),
            None if self.by_currency.is_empty() => self.unknown.clone(),
            None => Aggregate::blocked("currency_mismatch", mismatches(self)),
        }
    }
}

/// The sums of money.
pub fn money_buckets<'m>(
    measurements: impl Iterator<Item = &'m Measurement<Money>> + Clone,
    rule: PopulationRule,
) -> Buckets {
    let mut by_currency: BTreeMap<Currency, Collector<'m, Decimal>> = BTreeMap::new();
    for measurement in measurements.clone() {
        if let Some(Money { amount, currency }) = measurement.value() {
            let collector = by_currency.entry(*currency).or_insert_with(Collector::new);
            collector.sign(signature(measurement, rule));
            collector.add(*amount, add_exactly);
        }
    }
    let mut left_out = Collector::new();
    for measurement in measurements {
        left_out.leave_out(&measurement.observation);
    }
    let finish = |mut collector: Collector<'m, Decimal>| {
        (collector.unavailable, collector.not_applicable) = (left_out.unavailable, left_out.not_applicable);
        collector.reasons.clone_from(&left_out.reasons);
        collector.finish()
    };
    let by_currency = by_currency.into_iter().map(|(currency, collector)| (currency, finish(collector))).collect();
    Buckets { by_currency, unknown: left_out.finish() }
}

/// Counts with the sum over them.
#[derive(Debug, Clone, PartialEq)]
pub struct CountStats {
    /// The values that were measured.
    pub values: Vec<u64>,
    /// Their sum.
    pub aggregate: Aggregate<u128>,
}

impl CountStats {
    /// Of some measurements.
    pub fn of<'m>(measurements: impl Iterator<Item = &'m Measurement<u64>> + Clone, rule: PopulationRule) -> Self {
        Self {
            values: measurements.clone().filter_map(Measurement::value).copied().collect(),
            aggregate: count_aggregate(measurements, rule),
        }
    }
}

/// Amounts in US dollars with the sum over them.
#[derive(Debug, Clone, PartialEq)]
pub struct MoneyStats {
    /// The amounts that are known.
    pub amounts: Vec<Decimal>,
    /// Their sum.
    pub aggregate: Aggregate<Decimal>,
}

impl MoneyStats {
    /// Of some measurements.
    pub fn of<'m>(measurements: impl Iterator<Item = &'m Measurement<Money>> + Clone, rule: PopulationRule) -> Self {
        let dollars = |money: &&Money| money.currency == Currency::USD;
        Self {
            amounts: measurements.clone().filter_map(Measurement::value).filter(dollars).map(|m| m.amount).collect(),
            aggregate: money_buckets(measurements, rule).dollars(|_| 1),
        }
    }
}
