//! What a run used, as the row of a report states it where the metadata of the row do not say all of it.
//!
//! One object with an entry for each quantity: `{"value": …, "provenance": …}`, or the reason why there is none. What the
//! measurements rest on stands once; an entry that rests on something else has its own.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use skill_lift_contract::telemetry::{Basis, Measurement, Money, Observation, Provenance};

use super::measure::{count, money, wire_basis};
use super::{REASON_CHARACTERS, RunTelemetry};
use crate::json::View;

/// What a run used, for a row.
#[derive(Debug, Clone, Copy)]
pub struct StatedTelemetry<'r>(pub &'r RunTelemetry);

/// The key of what the measurements rest on.
const BASIS: &str = "basis";

/// The key of what ran the agent.
const RUNNER: &str = "runner";

impl Serialize for StatedTelemetry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let run = self.0;
        let basis = &run.total_tokens.basis;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(BASIS, &StatedBasis(basis))?;
        if let Some(runner) = &run.runner {
            map.serialize_entry(RUNNER, runner)?;
        }
        for (name, measurement) in counts(run) {
            map.serialize_entry(name, &Entry { measurement, basis })?;
        }
        map.serialize_entry("cost", &Entry { measurement: &run.cost, basis })?;
        map.end()
    }
}

/// The counts of a run with their keys.
fn counts(run: &RunTelemetry) -> [(&'static str, &Measurement<u64>); 9] {
    [
        ("input_tokens", &run.input_tokens),
        ("output_tokens", &run.output_tokens),
        ("total_tokens", &run.total_tokens),
        ("cache_read_tokens", &run.cache_read_tokens),
        ("cache_write_tokens", &run.cache_write_tokens),
        ("billable_tokens", &run.billable_tokens),
        ("context_tokens", &run.context_tokens),
        ("elapsed_ms", &run.elapsed_ms),
        ("commands", &run.commands),
    ]
}

struct Entry<'m, T> {
    measurement: &'m Measurement<T>,
    /// What the other measurements rest on.
    basis: &'m Arc<Basis>,
}

impl<T: Serialize> Serialize for Entry<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.measurement.observation {
            Observation::Available { value, provenance } => {
                map.serialize_entry("value", value)?;
                map.serialize_entry("provenance", provenance.code())?;
            }
            Observation::Unavailable(reason) => map.serialize_entry("unavailable", reason)?,
            Observation::NotApplicable(reason) => map.serialize_entry("not_applicable", reason)?,
        }
        if self.measurement.basis != *self.basis {
            map.serialize_entry(BASIS, &StatedBasis(&self.measurement.basis))?;
        }
        map.end()
    }
}

struct StatedBasis<'b>(&'b Basis);

impl Serialize for StatedBasis<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let basis = self.0;
        let members = [
            ("population", &basis.population),
            ("provider", &basis.provider),
            ("runner", &basis.runner),
            ("model", &basis.model),
            ("billing_scope", &basis.billing_scope),
            ("pricing_model", &basis.pricing_model),
            ("pricing_table_version", &basis.pricing_table_version),
            ("manifest_revision", &basis.manifest_revision),
            ("skill_tree_hash", &basis.skill_tree_hash),
        ];
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in members.into_iter().filter(|(_, value)| value.is_some()) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl RunTelemetry {
    /// Whether every quantity has the value that it has in another telemetry, measured in the same way. Why a value is
    /// missing may differ.
    pub fn has_values_of(&self, other: &Self) -> bool {
        fn same<T: PartialEq>(a: &Measurement<T>, b: &Measurement<T>) -> bool {
            match (a.value(), b.value()) {
                (None, None) => true,
                _ => a == b,
            }
        }
        let counts = counts(self).into_iter().zip(counts(other));
        counts.into_iter().all(|((_, a), (_, b))| same(a, b)) && same(&self.cost, &other.cost)
    }

    /// Reads what a row states. What is not there or is no measurement was not measured.
    pub fn read_stated<'v, V: View<'v>>(stated: V) -> Self {
        let basis = Arc::new(stated.member(BASIS).filter(|basis| basis.object()).map(wire_basis).unwrap_or_default());
        let tokens = |name: &str| entry(stated, name, &basis, |value| value.number().and_then(|number| count(&number)));
        Self {
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
            total_tokens: tokens("total_tokens"),
            cache_read_tokens: tokens("cache_read_tokens"),
            cache_write_tokens: tokens("cache_write_tokens"),
            billable_tokens: tokens("billable_tokens"),
            context_tokens: tokens("context_tokens"),
            cost: entry::<V, Money>(stated, "cost", &basis, |value| {
                money(value.member("amount")?, value.member("currency")?.string()?.as_ref())
            }),
            elapsed_ms: tokens("elapsed_ms"),
            commands: tokens("commands"),
            runner: stated.member(RUNNER).and_then(|runner| runner.string()).map(|runner| runner.into_owned()),
        }
    }
}

fn entry<'v, V: View<'v>, T>(
    stated: V,
    name: &str,
    basis: &Arc<Basis>,
    read: impl Fn(V) -> Option<T>,
) -> Measurement<T> {
    let Some(entry) = stated.member(name).filter(|entry| entry.object()) else {
        return Measurement::unavailable("missing", basis);
    };
    let own = entry.member(BASIS).filter(|basis| basis.object()).map(|basis| Arc::new(wire_basis(basis)));
    let basis = own.as_ref().unwrap_or(basis);
    let text = |key: &str| entry.member(key).and_then(|value| value.string());
    let reason = |key: &str| text(key).map(|reason| reason.chars().take(REASON_CHARACTERS).collect::<String>());
    if let Some(reason) = reason("unavailable") {
        return Measurement::unavailable(reason, basis);
    }
    if let Some(reason) = reason("not_applicable") {
        return Measurement::not_applicable(reason, basis);
    }
    let value = entry.member("value").and_then(read);
    match value.zip(text("provenance").and_then(|code| Provenance::from_code(&code))) {
        Some((value, provenance)) => Measurement::available(value, provenance, basis),
        None => Measurement::unavailable("missing", basis),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Tape};

    fn read(files: &[&str]) -> RunTelemetry {
        let tapes: Vec<Tape<'_>> = files.iter().map(|text| Tape::read(text, Limits::SIDECAR).unwrap()).collect();
        RunTelemetry::read(&tapes.iter().map(Tape::root).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let plain = read(&[
            r#"{"provider": "anthropic", "model": "m", "usage": {"input_tokens": 7, "output_tokens": 2,
                "cache_read_input_tokens": 0, "cache_creation_input_tokens": 3}, "cost_usd": 0.0250}"#,
            r#"{"elapsed_ms": 1500, "commands": 0}"#,
        ]);
        // entries of an envelope have their own basis
        let envelope = read(&[r#"{"source": "s", "telemetry": {"schema_version": 3, "measurements": {
            "total_tokens": {"availability": "available", "value": 9, "provenance": "trace_normalized",
                "basis": {"population": "answer", "provider": "p"}},
            "cost": {"availability": "not_applicable", "reason": "local model", "basis": {"provider": "q"}}}}}"#]);
        for telemetry in [plain, envelope, RunTelemetry::unread()] {
            let text = serde_json::to_string(&StatedTelemetry(&telemetry)).unwrap();
            let tape = Tape::read(&text, Limits::SIDECAR).unwrap();
            assert_eq!(RunTelemetry::read_stated(tape.root()), telemetry, "{text}");
        }
    }

    #[test]
    fn what_is_no_measurement_was_not_measured() {
        let text = r#"{"basis": 7, "total_tokens": 9, "elapsed_ms": {"value": -1, "provenance": "estimated"},
            "commands": {"value": 1, "provenance": "guessed"}, "cost": {"value": {"amount": "x", "currency": "USD"}}}"#;
        let tape = Tape::read(text, Limits::SIDECAR).unwrap();
        let telemetry = RunTelemetry::read_stated(tape.root());
        assert!(counts(&telemetry).iter().all(|(_, measurement)| measurement.value().is_none()), "{telemetry:?}");
        assert_eq!(telemetry.cost.value(), None);
    }
}
