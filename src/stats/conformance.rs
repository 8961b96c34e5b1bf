//! Conformance vectors: values from independent implementations, each asserted, failures listed by id.

mod companions;
mod complaints;
mod laws;
mod oracle;
mod raters;
mod rates;
mod reference;
mod sampled;

use serde_json::Value;

use crate::rational::{Rational, parse_decimal};

pub(super) fn load(name: &str) -> Value {
    let path = format!("{}/../../tests/conformance/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Collects every disagreement of one section before failing.
pub(super) struct Section {
    name: &'static str,
    vectors: Vec<Value>,
    failures: Vec<String>,
}

impl Section {
    pub(super) fn new(name: &'static str, value: &Value) -> Self {
        Self { name, vectors: value.as_array().unwrap().clone(), failures: Vec::new() }
    }

    /// Checks every vector and that there are as many as expected.
    pub(super) fn check(mut self, expected: usize, mut check: impl FnMut(&Value, &mut Report<'_>)) {
        let vectors = std::mem::take(&mut self.vectors);
        for (index, vector) in vectors.iter().enumerate() {
            let id = vector.get("id").map_or_else(|| format!("#{index}"), |id| id.as_str().unwrap().to_owned());
            check(vector, &mut Report { id: &id, failures: &mut self.failures });
        }
        assert_eq!(vectors.len(), expected, "vectors in {}", self.name);
        assert!(self.failures.is_empty(), "{}:\n{}", self.name, self.failures.join("\n"));
    }
}

pub(super) struct Report<'a> {
    id: &'a str,
    failures: &'a mut Vec<String>,
}

impl Report<'_> {
    pub(super) fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, actual: T, expected: T) {
        if actual != expected {
            self.failures.push(format!("{}: {what}: {actual:?}, expected {expected:?}", self.id));
        }
    }

    /// Relative agreement; a tolerance of 0 asks for the same bits.
    pub(super) fn near(&mut self, what: &str, actual: f64, expected: &Value, tolerance: f64) {
        let expected = expected.as_f64().unwrap();
        let close = (actual - expected).abs() <= tolerance * expected.abs();
        if !close {
            self.failures.push(format!("{}: {what}: {actual:e}, expected {expected:e}", self.id));
        }
    }

    pub(super) fn near_absolute(&mut self, what: &str, actual: f64, expected: &Value, tolerance: f64) {
        let expected = expected.as_f64().unwrap();
        if (actual - expected).abs() > tolerance {
            self.failures.push(format!("{}: {what}: {actual:e}, expected {expected:e}", self.id));
        }
    }

    pub(super) fn same_or_null(&mut self, what: &str, actual: Option<f64>, expected: &Value) {
        self.same(what, actual, expected.as_f64());
    }
}

/// `3`, `-1/3` or a decimal, exactly.
pub(super) fn rational(text: &str) -> Rational {
    match text.split_once('/') {
        Some((numerator, denominator)) => Rational::new(numerator.parse().unwrap(), denominator.parse().unwrap()),
        None => parse_decimal(text).unwrap(),
    }
}

pub(super) fn rationals(value: &Value) -> Vec<Rational> {
    value.as_array().unwrap().iter().map(|text| rational(text.as_str().unwrap())).collect()
}

/// The deltas a_i / L of a vector.
pub(super) fn lattice(vector: &Value) -> Vec<Rational> {
    let denominator = vector["L"].as_i64().unwrap();
    let numerators = vector["a"].as_array().unwrap();
    numerators.iter().map(|a| Rational::new(a.as_i64().unwrap().into(), denominator.into())).collect()
}

pub(super) fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub(super) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

pub(super) fn size(value: &Value) -> usize {
    usize::try_from(count(value)).unwrap()
}
