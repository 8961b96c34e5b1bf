//! What a run used: tokens, money, time and counts, each a measurement or the reason why there is none.
//!
//! In: the files beside an answer, merged, or a verdict of a judge. Out: [`RunTelemetry`]. A block of schema version 3
//! counts before the normalised blocks, those before plain numbers. Nothing is added up here.

mod coverage;
mod envelope;
mod measure;
mod stated;
mod usage;

use std::borrow::Cow;
use std::sync::Arc;

use skill_lift_contract::telemetry::{Basis, Currency, Measurement, Money, Provenance};
use skill_lift_text::python;

pub use coverage::TelemetryCoverage;
pub(in crate::runs) use envelope::{Envelope, is_current};
pub use stated::StatedTelemetry;
pub use usage::{CacheRule, UsageCounts};

use crate::json::{Node, View};
use measure::Measure;

/// Characters of a reason that a file states; it becomes a key in reports.
const REASON_CHARACTERS: usize = 200;

/// What a run used, and which kinds of telemetry say so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedByRun {
    /// The measurements.
    pub telemetry: RunTelemetry,
    /// Which kinds of telemetry there are.
    pub coverage: TelemetryCoverage,
    /// Whether the metadata of the row say all of it. Otherwise other files do, and a report that is to be read again has to
    /// state it.
    pub is_in_metadata: bool,
}

/// A number that another tool kept, or why there is none.
pub type Kept = Result<f64, &'static str>;

/// What a run used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTelemetry {
    /// Tokens that went in, as the source counts them.
    pub input_tokens: Measurement<u64>,
    /// Tokens that came out.
    pub output_tokens: Measurement<u64>,
    /// All tokens, as the source counts them: whether cached ones are in it depends on the provider.
    pub total_tokens: Measurement<u64>,
    /// Tokens that were read from a cache.
    pub cache_read_tokens: Measurement<u64>,
    /// Tokens that were written to a cache.
    pub cache_write_tokens: Measurement<u64>,
    /// Every token that was billed, each once, whatever the provider counts as input.
    pub billable_tokens: Measurement<u64>,
    /// Tokens of the first prompt: what the agent was asked with before it did anything.
    pub context_tokens: Measurement<u64>,
    /// Money.
    pub cost: Measurement<Money>,
    /// Wall-clock time in milliseconds.
    pub elapsed_ms: Measurement<u64>,
    /// Commands that ran.
    pub commands: Measurement<u64>,
    /// What ran the agent: the provider, else the source of the trace, else the source.
    pub runner: Option<String>,
}

impl RunTelemetry {
    /// What another tool kept of a run in files of its own.
    pub fn kept(total_tokens: Kept, elapsed_ms: Kept, cost_usd: Option<f64>) -> Self {
        let basis = Arc::new(Record::<&Node<'_>> { objects: &[] }.basis());
        let kept = |kept: Kept, provenance| match kept {
            Ok(value) => match measure::whole(value) {
                Some(value) => Measurement::available(value, provenance, &basis),
                None => Measurement::unavailable("not_a_positive_number", &basis),
            },
            Err(reason) => Measurement::unavailable(reason, &basis),
        };
        let missing = || Measurement::unavailable("missing", &basis);
        let cost = cost_usd.and_then(|cost| Money::parse(&python::float_repr(cost), Currency::USD));
        Self {
            input_tokens: missing(),
            output_tokens: missing(),
            total_tokens: kept(total_tokens, Provenance::LegacyUnverified),
            cache_read_tokens: missing(),
            cache_write_tokens: missing(),
            billable_tokens: missing(),
            context_tokens: missing(),
            cost: match cost {
                Some(cost) => Measurement::available(cost, Provenance::LegacyUnverified, &basis),
                None => Measurement::unavailable("missing", &basis),
            },
            elapsed_ms: kept(elapsed_ms, Provenance::TraceNormalized),
            commands: missing(),
            runner: None,
        }
    }

    /// Adds what the first answer of the model used.
    pub fn know_first_usage(&mut self, usage: &UsageCounts) {
        let basis = &self.context_tokens.basis;
        self.context_tokens = match usage.prompt(CacheRule::of(basis)) {
            Ok(tokens) => Measurement::available(tokens, Provenance::TraceNormalized, basis),
            Err(reason) => Measurement::unavailable(reason, basis),
        };
    }

    /// Nothing is known: the files of the run were not asked.
    pub fn unread() -> Self {
        Self::kept(Err("missing"), Err("missing"), None)
    }

    /// Every measurement with what it rests on, so that equal ones can be kept once.
    pub fn bases_mut(&mut self) -> [&mut Arc<Basis>; 10] {
        [
            &mut self.input_tokens.basis,
            &mut self.output_tokens.basis,
            &mut self.total_tokens.basis,
            &mut self.cache_read_tokens.basis,
            &mut self.cache_write_tokens.basis,
            &mut self.billable_tokens.basis,
            &mut self.context_tokens.basis,
            &mut self.cost.basis,
            &mut self.elapsed_ms.basis,
            &mut self.commands.basis,
        ]
    }

    /// Reads what merged files say; of several objects the later ones win.
    pub fn read<'v, V: View<'v>>(objects: &[V]) -> Self {
        let record = Record { objects };
        let basis = Arc::new(record.basis());
        let measure = Measure::new(record, &basis);
        let usage = UsageCounts::read(measure.usage_block());
        let accounted = |count: Option<u64>, key: &'static str| measure.accounted(count.ok_or(key));
        Self {
            input_tokens: measure.tokens("input_tokens"),
            output_tokens: measure.tokens("output_tokens"),
            total_tokens: measure.tokens("total_tokens"),
            cache_read_tokens: accounted(usage.cache_read, "missing_cache_read_tokens"),
            cache_write_tokens: accounted(usage.cache_write, "missing_cache_write_tokens"),
            billable_tokens: measure.accounted(usage.billable(CacheRule::of(&basis))),
            context_tokens: Measurement::unavailable("missing_first_prompt", &basis),
            cost: measure.cost(),
            elapsed_ms: measure.count("elapsed_ms", &["elapsed_ms", "duration_ms"]),
            commands: measure.count("commands", &["commands"]),
            runner: ["provider", "trace_source", "source"].iter().find_map(|key| record.filled_text(key)),
        }
    }
}

/// What a judgement cost.
pub fn cost_of_judgement(row: &Node<'_>) -> Measurement<Money> {
    let objects = [row];
    let record = Record { objects: &objects };
    let basis = Basis { population: record.text_or("population", "judge"), ..record.basis() };
    Measure::new(record, &Arc::new(basis)).cost()
}

/// Several objects as one; the later ones win, key by key.
#[derive(Debug, Clone, Copy)]
struct Record<'o, V> {
    objects: &'o [V],
}

impl<'v, V: View<'v>> Record<'_, V> {
    fn get(&self, key: &str) -> Option<V> {
        self.objects.iter().rev().find_map(|object| object.member(key))
    }

    /// The text of a key; a number stands for its digits.
    fn text(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        value.string().map(Cow::into_owned).or_else(|| value.number().map(|number| number.text().to_owned()))
    }

    fn filled_text(&self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// The text of a key, or what stands for it where the key is not there at all.
    fn text_or(&self, key: &str, absent: &str) -> Option<String> {
        if self.get(key).is_none() { Some(absent.to_owned()) } else { self.text(key) }
    }

    fn basis(&self) -> Basis {
        // a run of which nobody says who was paid has an empty name there, which agrees with another empty one
        let runner = self.filled_text("runner");
        let source = self.filled_text("provider").or_else(|| runner.clone()).unwrap_or_default();
        Basis {
            population: self.text_or("population", "answer"),
            provider: Some(source.clone()),
            runner: Some(runner.unwrap_or(source)),
            model: self.text("model"),
            billing_scope: self.text_or("billing_scope", "run"),
            pricing_model: self.text("pricing_model"),
            pricing_table_version: self.text("pricing_table_version"),
            manifest_revision: self.text("manifest_revision"),
            skill_tree_hash: self.text("skill_tree_hash"),
        }
    }
}

#[cfg(test)]
mod tests;
