//! What a run used, with its source or the reason why it is not known.

use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;
use skill_lift_contract::telemetry::{Measurement, Money, Observation, Provenance};

use super::texts::TextTable;
use crate::report::formats::cut_to;
use crate::runs::claims::SavedRow;
use crate::runs::events::{EventLog, FailedCommands};
use crate::runs::saved_runs::RunContents;

/// Code points of a reason.
const REASON_CHARACTERS: usize = 200;

/// Name, unit, value, source, reason and currency: words are positions in the words of the chunk.
#[derive(Debug, Serialize)]
pub(super) struct Quantity(usize, usize, Value, usize, usize, usize);

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Flag(bool),
    None,
}

/// What a run used, in the order of the page.
pub(super) fn telemetry(row: &SavedRow, contents: Option<&RunContents>, words: &mut TextTable) -> Vec<Quantity> {
    let SavedRow { telemetry: used, skill_loaded, .. } = row;
    let is_told = |measurement: &Measurement<u64>| measurement.value().is_some_and(|value| *value > 0);
    let mut list =
        vec![count("Time", "ms", &used.elapsed_ms, words), count("Tokens", "tokens", &used.total_tokens, words)];
    for (label, measurement) in [
        ("Input tokens", &used.input_tokens),
        ("Output tokens", &used.output_tokens),
        ("Read from cache", &used.cache_read_tokens),
        ("Written to cache", &used.cache_write_tokens),
    ] {
        if is_told(measurement) {
            list.push(count(label, "tokens", measurement, words));
        }
    }
    list.push(money(&used.cost, words));
    list.push(count("Tool calls", "count", &used.commands, words));
    // only what went wrong is worth a line
    let failed = contents.and_then(|contents| contents.events.as_ref().as_ref().ok()).map(EventLog::failed_commands);
    if let Some(FailedCommands { failed, recovered }) = failed.filter(|commands| commands.failed > 0) {
        for (name, value) in [("Failed commands", failed), ("Made good later", recovered)] {
            let [name, unit, source] = [name, "count", "trace"].map(|word| words.word(word));
            list.push(Quantity(name, unit, Value::Number(value as f64), source, 0, 0));
        }
    }
    let (source, reason) = match skill_loaded {
        Some(_) => ("trace", ""),
        None => ("", "No trace says whether the skill was loaded."),
    };
    let [name, unit, source, reason] = ["Skill loaded", "yes_no", source, reason].map(|word| words.word(word));
    list.push(Quantity(name, unit, (*skill_loaded).map_or(Value::None, Value::Flag), source, reason, 0));
    list
}

fn count(name: &str, unit: &str, measurement: &Measurement<u64>, words: &mut TextTable) -> Quantity {
    let value = measurement.value().map_or(Value::None, |value| Value::Number(*value as f64));
    let reason = reason(measurement);
    let [name, unit, source, reason] = [name, unit, source(measurement), &reason].map(|word| words.word(word));
    Quantity(name, unit, value, source, reason, 0)
}

fn money(measurement: &Measurement<Money>, words: &mut TextTable) -> Quantity {
    let money = measurement.value();
    let value = money.and_then(|money| money.amount.to_f64()).map_or(Value::None, Value::Number);
    let reason = reason(measurement);
    let currency = money.map(|money| money.currency.code().to_owned()).unwrap_or_default();
    let texts = ["Cost", "money", source(measurement), &reason, &currency];
    let [name, unit, source, reason, currency] = texts.map(|word| words.word(word));
    Quantity(name, unit, value, source, reason, currency)
}

fn source<T>(measurement: &Measurement<T>) -> &'static str {
    match measurement.provenance() {
        Some(Provenance::ProviderReported) => "provider",
        Some(Provenance::TraceNormalized) => "trace",
        Some(Provenance::PriceTableEstimated) => "price table",
        Some(Provenance::Estimated) => "estimated",
        Some(Provenance::LegacyUnverified) => "older record, unverified",
        None => "",
    }
}

fn reason<T>(measurement: &Measurement<T>) -> String {
    match &measurement.observation {
        Observation::Available { .. } => String::new(),
        Observation::Unavailable(reason) => {
            format!("Nothing in the files of this run states it ({}).", cut_to(reason, REASON_CHARACTERS))
        }
        Observation::NotApplicable(reason) => {
            format!("It does not apply to this run ({}).", cut_to(reason, REASON_CHARACTERS))
        }
    }
}
