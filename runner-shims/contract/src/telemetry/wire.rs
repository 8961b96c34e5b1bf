//! The wire form of a measurement: its value or the reason why there is none, where it comes from, what it rests on.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Basis, Measurement, Observation};

/// A measurement as it is written. A basis on the wire holds more than [`Basis`], such as the key of the run, so that the
/// writer supplies it.
#[derive(Debug, Clone, Copy)]
pub struct WireMeasurement<'m, T, B> {
    /// What was observed.
    pub measurement: &'m Measurement<T>,
    /// What it rests on; an object.
    pub basis: B,
}

impl<T: Serialize, B: Serialize> Serialize for WireMeasurement<'_, T, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.measurement.observation {
            Observation::Available { value, provenance } => {
                map.serialize_entry("availability", "available")?;
                map.serialize_entry("value", value)?;
                map.serialize_entry("provenance", provenance.code())?;
            }
            Observation::Unavailable(reason) => {
                map.serialize_entry("availability", "unavailable")?;
                map.serialize_entry("reason", reason)?;
            }
            Observation::NotApplicable(reason) => {
                map.serialize_entry("availability", "not_applicable")?;
                map.serialize_entry("reason", reason)?;
            }
        }
        map.serialize_entry("basis", &self.basis)?;
        map.end()
    }
}

/// A basis as it is written, with the key of the run that it belongs to. What is not known is null.
#[derive(Debug, Clone, Copy)]
pub struct WireBasis<'b> {
    /// What was measured.
    pub basis: &'b Basis,
    /// The model that is said to have run, where the basis should name another one.
    pub model: Option<&'b str>,
    /// The case.
    pub case_id: &'b str,
    /// The repetition.
    pub run_number: u32,
    /// The arm.
    pub variant: &'b str,
}

impl Serialize for WireBasis<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Basis { provider, runner, model, billing_scope, pricing_model, pricing_table_version, .. } = self.basis;
        let mut map = serializer.serialize_map(None)?;
        // runs that are paired are answers, whatever their files state
        map.serialize_entry("population", "answer")?;
        map.serialize_entry("provider", provider)?;
        map.serialize_entry("runner", runner)?;
        map.serialize_entry("model", &self.model.or(model.as_deref()))?;
        map.serialize_entry("billing_scope", billing_scope)?;
        map.serialize_entry("pricing_model", pricing_model)?;
        map.serialize_entry("pricing_table_version", pricing_table_version)?;
        map.serialize_entry("case_id", self.case_id)?;
        map.serialize_entry("run_number", &self.run_number)?;
        map.serialize_entry("manifest_revision", &self.basis.manifest_revision)?;
        map.serialize_entry("skill_tree_hash", &self.basis.skill_tree_hash)?;
        map.serialize_entry("variant", self.variant)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::telemetry::{Currency, Money, Provenance};

    fn written<T: Serialize>(measurement: &Measurement<T>) -> Value {
        serde_json::to_value(WireMeasurement { measurement, basis: json!({"model": null}) }).unwrap()
    }

    #[test]
    fn a_value_has_a_provenance_and_nothing_has_a_reason() {
        let basis = Arc::new(Basis::default());
        let money = Money::parse("0.030", Currency::USD).unwrap();
        assert_eq!(
            written(&Measurement::available(money, Provenance::Estimated, &basis)),
            json!({"availability": "available", "value": {"amount": "0.030", "currency": "USD"},
                "provenance": "estimated", "basis": {"model": null}})
        );
        assert_eq!(
            written(&Measurement::<u64>::unavailable("missing", &basis)),
            json!({"availability": "unavailable", "reason": "missing", "basis": {"model": null}})
        );
        assert_eq!(
            written(&Measurement::<u64>::not_applicable("offline", &basis)),
            json!({"availability": "not_applicable", "reason": "offline", "basis": {"model": null}})
        );
    }

    #[test]
    fn the_model_of_the_row_counts_before_that_of_the_file() {
        let basis = Basis { model: Some("file".to_owned()), ..Basis::default() };
        let wire = WireBasis { basis: &basis, model: Some("row"), case_id: "c", run_number: 2, variant: "with_skill" };
        let written = serde_json::to_value(wire).unwrap();
        assert_eq!((&written["model"], &written["run_number"]), (&json!("row"), &json!(2)));
        assert_eq!(serde_json::to_value(WireBasis { model: None, ..wire }).unwrap()["model"], "file");
        let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 12);
        assert_eq!(keys[11], "variant");
    }
}
