//! What each run used, beside the frame of runs.

use std::collections::HashSet;
use std::sync::Arc;

use polars::prelude::*;
use skill_lift_contract::telemetry::{Basis, Measurement, Money, Observation, Provenance};

use super::schema::{measured, runs};
use crate::grade::GradedRun;
use crate::runs::{RunTelemetry, TelemetryCoverage, UsedByRun};

/// Collects what runs used. Most runs of a tree rest on the same few bases, which are kept once.
#[derive(Debug, Default)]
pub(super) struct TelemetryRows {
    rows: Vec<UsedByRun>,
    bases: HashSet<Arc<Basis>>,
}

impl TelemetryRows {
    pub(super) fn push(&mut self, run: &GradedRun) {
        let nothing = || UsedByRun {
            telemetry: RunTelemetry::unread(),
            coverage: TelemetryCoverage::default(),
            is_in_metadata: false,
        };
        let UsedByRun { mut telemetry, coverage, is_in_metadata } =
            run.used.as_deref().cloned().unwrap_or_else(nothing);
        let mut last: Option<(Arc<Basis>, Arc<Basis>)> = None;
        for basis in telemetry.bases_mut() {
            let known = match &last {
                Some((own, known)) if Arc::ptr_eq(own, basis) => Arc::clone(known),
                _ => match self.bases.get(basis) {
                    Some(known) => Arc::clone(known),
                    None => {
                        self.bases.insert(Arc::clone(basis));
                        Arc::clone(basis)
                    }
                },
            };
            last = Some((std::mem::replace(basis, Arc::clone(&known)), known));
        }
        self.rows.push(UsedByRun { telemetry, coverage, is_in_metadata });
    }

    pub(super) fn finish(self) -> Vec<UsedByRun> {
        self.rows
    }
}

/// One count of a run.
type CountOf = fn(&RunTelemetry) -> &Measurement<u64>;

/// The measurements as columns for readers of the frame of runs: a value or null, where it comes from, why it is null.
pub(super) fn telemetry_columns(rows: &[UsedByRun]) -> Vec<Column> {
    let mut columns = Vec::new();
    let counts: [(&str, CountOf); 9] = [
        ("input_tokens", |run| &run.input_tokens),
        ("output_tokens", |run| &run.output_tokens),
        ("total_tokens", |run| &run.total_tokens),
        ("cache_read_tokens", |run| &run.cache_read_tokens),
        ("cache_write_tokens", |run| &run.cache_write_tokens),
        ("billable_tokens", |run| &run.billable_tokens),
        ("context_tokens", |run| &run.context_tokens),
        ("elapsed_ms", |run| &run.elapsed_ms),
        ("command_count", |run| &run.commands),
    ];
    for (name, of) in counts {
        let values: Vec<Option<u64>> = rows.iter().map(|run| of(&run.telemetry).value().copied()).collect();
        columns.push(Column::new(name.into(), values));
        columns.extend(origins(name, rows.iter().map(|run| of(&run.telemetry))));
    }
    let costs = || rows.iter().map(|run| run.telemetry.cost.value());
    let amounts: Vec<Option<String>> =
        costs().map(|cost| cost.map(|Money { amount, .. }| amount.to_string())).collect();
    let currencies: Vec<Option<&str>> =
        costs().map(|cost| cost.map(|Money { currency, .. }| currency.code())).collect();
    columns.push(Column::new(runs::COST.into(), amounts));
    columns.push(Column::new(runs::COST_CURRENCY.into(), currencies));
    columns.extend(origins(runs::COST, rows.iter().map(|run| &run.telemetry.cost)));
    columns
}

fn origins<'r, T: 'r>(name: &str, measurements: impl Iterator<Item = &'r Measurement<T>>) -> [Column; 2] {
    let (mut provenances, mut reasons) = (Vec::new(), Vec::new());
    for measurement in measurements {
        provenances.push(measurement.provenance().map(Provenance::code));
        reasons.push(match &measurement.observation {
            Observation::Available { .. } => None,
            Observation::Unavailable(reason) => Some(reason.to_string()),
            Observation::NotApplicable(reason) => Some(format!("not_applicable:{reason}")),
        });
    }
    let named = |suffix: &str| format!("{name}_{suffix}");
    [Column::new(named(measured::PROVENANCE).into(), provenances), Column::new(named(measured::REASON).into(), reasons)]
}
