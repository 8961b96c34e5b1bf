//! One measurement at a time: from the envelope of schema version 3, else from a normalised block, else from a plain
//! number.

use std::sync::Arc;

use skill_lift_contract::telemetry::{Basis, Currency, Measurement, Money, Provenance};
use skill_lift_text::python;

use super::envelope::is_current;
use super::usage::{UsageCounts, aliases};
use super::{REASON_CHARACTERS, Record};
use crate::json::{Number, View};

pub(super) struct Measure<'o, 'b, V> {
    record: Record<'o, V>,
    basis: &'b Arc<Basis>,
    /// The measurements of the envelope, if it is one of version 3.
    envelope: Option<V>,
}

impl<'o, 'b, 'v, V: View<'v>> Measure<'o, 'b, V> {
    pub(super) fn new(record: Record<'o, V>, basis: &'b Arc<Basis>) -> Self {
        let envelope = record.get("telemetry").filter(|telemetry| is_current(*telemetry));
        let envelope = envelope.and_then(|telemetry| telemetry.member("measurements"));
        Self { record, basis, envelope }
    }

    /// What the envelope says of a measurement.
    fn in_envelope<T>(&self, name: &'static str, value: impl Fn(V) -> Option<T>) -> Option<Measurement<T>> {
        let entry = self.envelope?.member(name).filter(|entry| entry.object())?;
        let basis = Arc::new(entry.member("basis").filter(|basis| basis.object()).map(wire_basis).unwrap_or_default());
        Some(read_entry(entry, &basis, value).unwrap_or_else(|| {
            // an entry that contradicts itself says nothing, not even what it rests on
            Measurement::unavailable(format!("invalid_v3_{name}"), self.basis)
        }))
    }

    /// Tokens of one kind.
    pub(super) fn tokens(&self, name: &'static str) -> Measurement<u64> {
        if let Some(found) = self.in_envelope(name, |value| value.number().and_then(|number| count(&number))) {
            return found;
        }
        let block = self.record.get("usage_normalized").filter(|block| block.object());
        if let Some((block, source)) = block.and_then(|block| Some((block, source_of(block)?))) {
            let source = match source {
                Source::Word(word) => word,
                Source::Other => return self.unavailable("unknown_usage_provenance"),
            };
            if let Some(nothing) = self.nothing(&source) {
                return nothing;
            }
            return match block.member(name).and_then(|value| value.number()).and_then(|number| count(&number)) {
                None => self.unavailable(format!("missing_{name}")),
                Some(value) => match Provenance::from_code(&source) {
                    Some(provenance) => Measurement::available(value, provenance, self.basis),
                    None => self.unavailable("unknown_usage_provenance"),
                },
            };
        }
        match self.plain_number(&[name]) {
            Some(number) => match count(&number) {
                Some(value) => Measurement::available(value, Provenance::LegacyUnverified, self.basis),
                None => self.unavailable(format!("invalid_legacy_{name}")),
            },
            None => match self.in_usage(name) {
                Some(value) => Measurement::available(value, Provenance::LegacyUnverified, self.basis),
                None => self.unavailable("missing"),
            },
        }
    }

    /// Tokens of one kind under another name that providers use, in the plain block of the usage.
    fn in_usage(&self, name: &str) -> Option<u64> {
        let usage = self.record.get("usage").filter(|usage| usage.object())?;
        let counts = UsageCounts::read(Some(usage));
        match name {
            "input_tokens" => counts.input,
            "output_tokens" => counts.output,
            // a part is no total
            _ => counts.total.or(counts.input.zip(counts.output).map(|(input, output)| input.saturating_add(output))),
        }
    }

    /// The block that the counts of caches are read from, with where they come from.
    pub(super) fn usage_block(&self) -> Option<V> {
        let block = self.record.get("usage_normalized").filter(|block| block.object());
        let stated = |block: &V| aliases().any(|alias| block.member(alias).is_some());
        block.filter(stated).or_else(|| self.record.get("usage").filter(|usage| usage.object()))
    }

    /// A count that was worked out of the usage, or why it could not be.
    pub(super) fn accounted(&self, value: Result<u64, &'static str>) -> Measurement<u64> {
        match value {
            Ok(value) => {
                let block = self.record.get("usage_normalized").filter(|block| block.object());
                let provenance = block.and_then(|block| match source_of(block)? {
                    Source::Word(word) => Provenance::from_code(&word),
                    Source::Other => None,
                });
                Measurement::available(value, provenance.unwrap_or(Provenance::LegacyUnverified), self.basis)
            }
            Err(reason) => self.unavailable(reason),
        }
    }

    /// Money.
    pub(super) fn cost(&self) -> Measurement<Money> {
        let wire = |value: V| money(value.member("amount")?, value.member("currency")?.string()?.as_ref());
        if let Some(found) = self.in_envelope("cost", wire) {
            return found;
        }
        let block = self.record.get("cost_normalized").filter(|block| block.object());
        if let Some((block, source)) = block.and_then(|block| Some((block, source_of(block)?))) {
            let word = match &source {
                Source::Word(word) => word.as_str(),
                Source::Other => "",
            };
            if let Some(nothing) = self.nothing(word) {
                return nothing;
            }
            let currency = match block.member("currency") {
                None => Some("USD".into()),
                Some(value) => value.string(),
            };
            let total = block.member("total_cost").filter(|total| !total.null());
            let Some(value) = total.zip(currency).and_then(|(total, currency)| money(total, &currency)) else {
                return self.unavailable("invalid_cost_block");
            };
            return match Provenance::from_code(word) {
                Some(provenance) => Measurement::available(value, provenance, self.basis),
                None => self.unavailable("unknown_cost_provenance"),
            };
        }
        match self.plain_number(&["cost_usd", "cost"]) {
            None => self.unavailable("missing"),
            Some(number) => match Money::parse(&number.python_repr(), Currency::USD) {
                Some(value) => Measurement::available(value, Provenance::LegacyUnverified, self.basis),
                None => self.unavailable("invalid_legacy_cost"),
            },
        }
    }

    /// Something that the runner itself counted; the first of the keys that has a value counts.
    pub(super) fn count(&self, name: &'static str, keys: &[&str]) -> Measurement<u64> {
        if let Some(found) = self.in_envelope(name, |value| value.number().and_then(|number| count(&number))) {
            return found;
        }
        let stated = keys.iter().find_map(|key| self.record.get(key).filter(|value| !value.null()));
        match stated.and_then(|value| value.number()).and_then(|number| count(&number)) {
            Some(value) => Measurement::available(value, Provenance::TraceNormalized, self.basis),
            None => self.unavailable(format!("missing_{name}")),
        }
    }

    /// A block that says that there is nothing.
    fn nothing<T>(&self, source: &str) -> Option<Measurement<T>> {
        match source {
            "missing" => Some(Measurement::unavailable("missing", self.basis)),
            "not_applicable" => Some(Measurement::not_applicable("not_applicable", self.basis)),
            _ => None,
        }
    }

    fn unavailable<T>(&self, reason: impl Into<skill_lift_contract::telemetry::Reason>) -> Measurement<T> {
        Measurement::unavailable(reason, self.basis)
    }

    /// The first of the keys that has a number: at the top, then in `usage`.
    fn plain_number(&self, keys: &[&str]) -> Option<Number<'v>> {
        let usage = self.record.get("usage").filter(|usage| usage.object());
        let top = keys.iter().filter_map(|key| self.record.get(key));
        let nested = keys.iter().filter_map(|key| usage?.member(key));
        top.chain(nested).find_map(|value| value.number())
    }
}

/// What a block names as its source.
enum Source {
    Word(String),
    /// Something that is no word.
    Other,
}

/// `None` when the block names none.
fn source_of<'v, V: View<'v>>(block: V) -> Option<Source> {
    let source = block.member("source").filter(|source| !source.null())?;
    Some(source.string().map_or(Source::Other, |word| Source::Word(word.into_owned())))
}

/// A finite number that is not negative, rounded to a whole one, ties to even; `None` for others.
pub(super) fn count(number: &Number<'_>) -> Option<u64> {
    if number.is_integer() {
        return number.text().parse().ok().or_else(|| (number.text() == "-0").then_some(0));
    }
    whole(number.as_f64())
}

/// A number that is not negative as a whole one, ties to even. From 2 to the 53rd on, doubles are not exact.
pub(super) fn whole(value: f64) -> Option<u64> {
    (0.0..=9_007_199_254_740_992.0).contains(&value).then(|| python::round_half_even(value, 0) as u64)
}

pub(super) fn money<'v, V: View<'v>>(amount: V, currency: &str) -> Option<Money> {
    let currency = Currency::parse(currency)?;
    match (amount.number(), amount.string()) {
        (Some(number), _) => Money::parse(&number.python_repr(), currency),
        (None, Some(text)) => Money::parse(&text, currency),
        (None, None) => None,
    }
}

fn read_entry<'v, V: View<'v>, T>(
    entry: V,
    basis: &Arc<Basis>,
    value: impl Fn(V) -> Option<T>,
) -> Option<Measurement<T>> {
    let text = |key: &str| entry.member(key).and_then(|value| value.string());
    let reason = || {
        let reason = text("reason").filter(|reason| !reason.is_empty())?;
        Some(reason.chars().take(REASON_CHARACTERS).collect::<String>())
    };
    match text("availability")?.as_ref() {
        "available" => {
            let provenance = Provenance::from_code(&text("provenance")?)?;
            Some(Measurement::available(value(entry.member("value")?)?, provenance, basis))
        }
        "unavailable" => Some(Measurement::unavailable(reason()?, basis)),
        "not_applicable" => Some(Measurement::not_applicable(reason()?, basis)),
        _ => None,
    }
}

pub(super) fn wire_basis<'v, V: View<'v>>(basis: V) -> Basis {
    let objects = [basis];
    let record = Record { objects: &objects };
    Basis {
        population: record.text("population"),
        provider: record.text("provider"),
        runner: record.text("runner"),
        model: record.text("model"),
        billing_scope: record.text("billing_scope"),
        pricing_model: record.text("pricing_model"),
        pricing_table_version: record.text("pricing_table_version"),
        manifest_revision: record.text("manifest_revision"),
        skill_tree_hash: record.text("skill_tree_hash"),
    }
}
