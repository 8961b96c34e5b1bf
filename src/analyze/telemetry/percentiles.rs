//! Where the slow and dear tail of the runs of an arm begins: the 90th percentile of what they used.

use std::collections::BTreeMap;

use rust_decimal::prelude::ToPrimitive;
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::Withheld;
use skill_lift_stats::quantile::{NinetiethPercentile, ninetieth_percentile};

use super::efficiency::Quantity;
use crate::analyze::pairing::Pairing;
use crate::analyze::table::{RunTable, WITH_SKILL};
use crate::runs::RunTelemetry;

/// The 90th percentile of a quantity over the runs of one arm.
#[derive(Debug)]
pub struct Percentile {
    /// What was used.
    pub quantity: Quantity,
    /// The currency of money.
    pub currency: Option<Currency>,
    /// The arm.
    pub variant: &'static str,
    /// Runs of the pairs that inference rests on.
    pub runs: usize,
    /// The percentile over those that say what they used.
    pub value: Result<NinetiethPercentile, Withheld>,
}

/// Of the runs of the pairs that inference rests on, by quantity, currency and arm.
pub(super) fn percentiles(table: &RunTable, pairing: &Pairing) -> Vec<Percentile> {
    let arms = [WITH_SKILL, table.baseline.variant()];
    let mut runs: [Vec<&RunTelemetry>; 2] = [Vec::new(), Vec::new()];
    for (pair, _) in pairing.eligible() {
        let indices = [pair.with_skill, pair.without_skill];
        for (of_arm, index) in runs.iter_mut().zip(indices) {
            of_arm.extend(index.and_then(|index| table.telemetry.get(index)).map(|used| &used.telemetry));
        }
    }
    let mut found = Vec::new();
    for quantity in [Quantity::Money, Quantity::TotalTokens, Quantity::ElapsedMs] {
        let values = runs.each_ref().map(|runs| measured(quantity, runs));
        let mut currencies: Vec<Option<Currency>> = values.iter().flat_map(|values| values.keys().copied()).collect();
        if currencies.is_empty() {
            currencies.push(None);
        }
        currencies.sort_unstable();
        currencies.dedup();
        for currency in currencies {
            for ((variant, runs), values) in arms.into_iter().zip(&runs).zip(&values) {
                let values = values.get(&currency).map(Vec::as_slice).unwrap_or_default();
                let value = ninetieth_percentile(values);
                found.push(Percentile { quantity, currency, variant, runs: runs.len(), value });
            }
        }
    }
    found
}

/// What runs used, by currency where it is money.
fn measured(quantity: Quantity, runs: &[&RunTelemetry]) -> BTreeMap<Option<Currency>, Vec<f64>> {
    let mut values: BTreeMap<Option<Currency>, Vec<f64>> = BTreeMap::new();
    for run in runs {
        let value = match quantity {
            Quantity::Money => {
                let money = run.cost.value();
                money.and_then(|money| Some((Some(money.currency), money.amount.to_f64()?)))
            }
            Quantity::TotalTokens => run.total_tokens.value().map(|tokens| (None, *tokens as f64)),
            Quantity::ElapsedMs => run.elapsed_ms.value().map(|elapsed| (None, *elapsed as f64)),
            Quantity::BillableTokens | Quantity::ContextTokens => None,
        };
        if let Some((currency, value)) = value {
            values.entry(currency).or_default().push(value);
        }
    }
    values
}
