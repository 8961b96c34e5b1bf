//! The envelope of schema version 3, made of what the files of a run say without one.
//!
//! An envelope must not change what is read of a run: it counts before everything else in its files. A measurement that
//! would hide or contradict what a reader finds today is left out, so that the reader goes on finding it.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_contract::telemetry::wire::WireMeasurement;
use skill_lift_contract::telemetry::{Basis, Measurement, Money, Observation, Provenance, SCHEMA_VERSION};

use super::Record;
use super::measure::Measure;
use crate::json::View;
use crate::runs::metrics::Metrics;

/// What an incomplete trace says of everything that is counted in it.
const TRACE_INCOMPLETE: &str = "trace_observation_incomplete";

/// What is counted in a trace, in the order of the envelope.
const COUNTERS: [&str; 7] =
    ["tool_calls", "commands", "file_reads", "file_writes", "errors", "retries", "repeated_command_max"];

/// Whether an object holds an envelope of the current version.
pub(in crate::runs) fn is_current<'v, V: View<'v>>(telemetry: V) -> bool {
    telemetry
        .member("schema_version")
        .and_then(|version| version.number())
        .is_some_and(|version| version.as_f64() == f64::from(SCHEMA_VERSION))
}

/// An envelope that is about to be written.
#[derive(Debug)]
pub(in crate::runs) struct Envelope {
    basis: RunBasis,
    entries: Vec<(&'static str, Entry)>,
}

#[derive(Debug)]
enum Entry {
    Count(Measurement<u64>),
    Money(Measurement<Money>),
    Flag(Measurement<bool>),
}

impl Envelope {
    /// Of merged files without a current envelope. `metrics` is what checks read of them, and `has_events` says whether
    /// there is a file of events, in which checks look for what no metric states.
    pub(in crate::runs) fn of<'v, V: View<'v>>(objects: &[V], metrics: &Metrics, has_events: bool) -> Self {
        let record = Record { objects };
        let basis = Arc::new(record.basis());
        let measure = Measure::new(record, &basis);
        let mut entries = Vec::new();
        let mut add = |name, entry: Option<Entry>| entries.extend(entry.map(|entry| (name, entry)));
        for name in ["input_tokens", "output_tokens"] {
            add(name, Some(Entry::Count(measure.tokens(name))));
        }
        let agrees = |measurement: &Measurement<u64>, plain: Option<f64>, unit: f64| match plain {
            None => true,
            Some(plain) => measurement.value().is_some_and(|value| *value as f64 / unit == plain),
        };
        let total = measure.tokens("total_tokens");
        add("total_tokens", agrees(&total, metrics.total_tokens, 1.0).then_some(Entry::Count(total)));
        add("cost", Some(Entry::Money(measure.cost())));
        let elapsed = measure.count("elapsed_ms", &["elapsed_ms", "duration_ms"]);
        add("elapsed_ms", agrees(&elapsed, metrics.elapsed_seconds, 1000.0).then_some(Entry::Count(elapsed)));

        let trace = Trace::of(record);
        for name in COUNTERS {
            // what a check finds, and whether it looks into the events when there is nothing to find
            let (plain, looks_into_events) = match name {
                "commands" => (metrics.command_count, true),
                "repeated_command_max" => (metrics.repeated_command_max, true),
                "tool_calls" => (None, true),
                _ => (None, false),
            };
            let counted = measure.count(name, &[name]);
            let entry = match (counted.value().is_some(), trace) {
                (true, Trace::Incomplete) => None,
                (true, Trace::Complete | Trace::Unknown) => agrees(&counted, plain, 1.0).then_some(counted),
                (false, _) if plain.is_some() || (looks_into_events && has_events) => None,
                (false, Trace::Complete) => Some(counted),
                (false, Trace::Incomplete | Trace::Unknown) => Some(Measurement::unavailable(TRACE_INCOMPLETE, &basis)),
            };
            add(name, entry.map(Entry::Count));
        }
        let invoked = match (metrics.skill_invoked, trace) {
            (Some(_), Trace::Incomplete) => None,
            (Some(invoked), _) => Some(Measurement::available(invoked, Provenance::TraceNormalized, &basis)),
            (None, _) if has_events => None,
            (None, _) => Some(Measurement::unavailable(TRACE_INCOMPLETE, &basis)),
        };
        add("skill_invoked", invoked.map(Entry::Flag));
        Self { basis: RunBasis::of(record, basis), entries }
    }

    /// Says of every value that nobody has checked where it comes from, whatever a block says of its source.
    pub(in crate::runs) fn unverified(mut self) -> Self {
        for (_, entry) in &mut self.entries {
            match entry {
                Entry::Count(Measurement { observation: Observation::Available { provenance, .. }, .. })
                | Entry::Money(Measurement { observation: Observation::Available { provenance, .. }, .. })
                | Entry::Flag(Measurement { observation: Observation::Available { provenance, .. }, .. }) => {
                    *provenance = Provenance::LegacyUnverified;
                }
                Entry::Count(_) | Entry::Money(_) | Entry::Flag(_) => {}
            }
        }
        self
    }
}

/// Whether everything that the agent did is in the trace, as the files say it.
#[derive(Debug, Clone, Copy)]
enum Trace {
    Complete,
    Incomplete,
    Unknown,
}

impl Trace {
    fn of<'v, V: View<'v>>(record: Record<'_, V>) -> Self {
        let said = |key| record.get(key).and_then(|value| value.boolean());
        match said("trace_observation_complete").or_else(|| said("observation_complete")) {
            Some(true) => Self::Complete,
            Some(false) => Self::Incomplete,
            None => Self::Unknown,
        }
    }
}

/// What the measurements of a run rest on, with the key of the run as its files state it.
#[derive(Debug)]
struct RunBasis {
    basis: Arc<Basis>,
    case_id: Option<String>,
    run_number: Option<RunNumber>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RunNumber {
    Number(u64),
    Text(String),
}

impl RunBasis {
    fn of<'v, V: View<'v>>(record: Record<'_, V>, basis: Arc<Basis>) -> Self {
        let run_number = record.get("run_number").and_then(|value| match value.number() {
            Some(number) => Some(
                number.text().parse().map_or_else(|_| RunNumber::Text(number.text().to_owned()), RunNumber::Number),
            ),
            None => value.string().map(|text| RunNumber::Text(text.into_owned())),
        });
        Self { basis, case_id: record.text("case_id"), run_number }
    }

    /// The members in the order of the wire form; without those that are null for the envelope itself.
    fn write<M: SerializeMap>(&self, map: &mut M, with_nulls: bool) -> Result<(), M::Error> {
        let basis = &*self.basis;
        let before = [
            ("population", &basis.population),
            ("provider", &basis.provider),
            ("runner", &basis.runner),
            ("model", &basis.model),
            ("billing_scope", &basis.billing_scope),
            ("pricing_model", &basis.pricing_model),
            ("pricing_table_version", &basis.pricing_table_version),
            ("case_id", &self.case_id),
        ];
        let after = [("manifest_revision", &basis.manifest_revision), ("skill_tree_hash", &basis.skill_tree_hash)];
        for (key, value) in before {
            if with_nulls || value.is_some() {
                map.serialize_entry(key, value)?;
            }
        }
        if with_nulls || self.run_number.is_some() {
            map.serialize_entry("run_number", &self.run_number)?;
        }
        for (key, value) in after {
            if with_nulls || value.is_some() {
                map.serialize_entry(key, value)?;
            }
        }
        Ok(())
    }
}

struct BasisJson<'b> {
    basis: &'b RunBasis,
    with_nulls: bool,
}

impl Serialize for BasisJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.basis.write(&mut map, self.with_nulls)?;
        map.end()
    }
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &SCHEMA_VERSION)?;
        map.serialize_entry("population", &self.basis.basis.population)?;
        map.serialize_entry("basis", &BasisJson { basis: &self.basis, with_nulls: false })?;
        map.serialize_entry("measurements", &Measurements(self))?;
        map.end()
    }
}

struct Measurements<'e>(&'e Envelope);

impl Serialize for Measurements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Envelope { basis, entries } = self.0;
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (name, entry) in entries {
            match entry {
                Entry::Count(measurement) => map.serialize_entry(name, &wire(measurement, basis))?,
                Entry::Money(measurement) => map.serialize_entry(name, &wire(measurement, basis))?,
                Entry::Flag(measurement) => map.serialize_entry(name, &wire(measurement, basis))?,
            }
        }
        map.end()
    }
}

/// The wire form of a measurement of this run.
fn wire<'m, T>(measurement: &'m Measurement<T>, basis: &'m RunBasis) -> WireMeasurement<'m, T, BasisJson<'m>> {
    WireMeasurement { measurement, basis: BasisJson { basis, with_nulls: true } }
}

#[cfg(test)]
mod tests;
