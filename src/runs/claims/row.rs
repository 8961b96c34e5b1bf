//! One row of a result file.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::Arc;

use num_bigint::BigInt;
use skill_lift_contract::UnscoredReason;
use skill_lift_contract::telemetry::Measurement;
use skill_lift_stats::rational::Rational;

use super::figures::{self, Figure, MOST_ASSERTIONS};
use super::model::{CaseName, ClaimedAssertion, ClaimedRate, ClaimedRun, NotScored, Unmeasured};
use super::note::{NoteCode, Notes};
use super::places::{first, items, text_of};
use super::verdicts::{self, Verdicts, plain, unscored};
use crate::json::Item;
use crate::runs::{Configuration, RunTelemetry, ending};

const IDS: [&str; 4] = ["eval_id", "case_id", "id", "task_id"];
const CASE_NAMES: [&str; 4] = ["eval_name", "case_name", "name", "title"];
const CONFIGURATIONS: [&str; 6] = ["configuration", "config", "condition", "variant", "run_type", "arm"];
const REPETITIONS: [&str; 5] = ["run_number", "repetition", "run", "trial", "run_index"];
const TOKENS: [&str; 3] = ["total_tokens", "tokens", "avg_tokens"];
const MILLISECONDS: [&str; 2] = ["duration_ms", "elapsed_ms"];
const SECONDS: [&str; 6] = [
    "time_seconds",
    "total_duration_seconds",
    "duration_seconds",
    "elapsed_seconds",
    "total_seconds",
    "avg_duration_seconds",
];

/// Objects in a row that hold measurements.
const MEASURED_IN: [&str; 6] = ["result", "timing", "metrics", "execution_metrics", "metadata", "usage"];

/// Reasons by their codes.
const REASONS: [UnscoredReason; 20] = [
    UnscoredReason::MissingOutput,
    UnscoredReason::MissingRun,
    UnscoredReason::IncompleteArtifactSet,
    UnscoredReason::TimedOut,
    UnscoredReason::ExecutorError,
    UnscoredReason::RunnerError,
    UnscoredReason::MissingGrading,
    UnscoredReason::UnreadableGrading,
    UnscoredReason::MisfiledGrading,
    UnscoredReason::NoVerdicts,
    UnscoredReason::UnreadableVerdict,
    UnscoredReason::NoAssertions,
    UnscoredReason::GraderTimeout,
    UnscoredReason::GraderFailed,
    UnscoredReason::GraderUnparseable,
    UnscoredReason::GraderIncomplete,
    UnscoredReason::GraderConflict,
    UnscoredReason::IncompleteVerdicts,
    UnscoredReason::OutputTooLarge,
    UnscoredReason::UnsupportedAssertion,
];

/// Where a row stands: the numbers of one run, and what surrounds them.
pub(super) struct Site<'t, 'a> {
    /// What names the case.
    pub(super) outer: Item<'t, 'a>,
    /// What holds the numbers; a bare rate, or an object.
    pub(super) cell: Item<'t, 'a>,
    /// The case, where a key names it.
    pub(super) case: Option<String>,
    /// The arm, where a key or a list names it.
    pub(super) arm: Option<String>,
    /// Runs that the row is the mean of.
    pub(super) runs: u32,
    pub(super) pointer: String,
}

/// The arms of a file, each once.
#[derive(Debug, Default)]
pub(super) struct Arms(HashMap<String, Arc<Configuration>>);

impl Arms {
    fn get(&mut self, written: &str) -> Arc<Configuration> {
        if let Some(known) = self.0.get(written) {
            return Arc::clone(known);
        }
        let configuration = Arc::new(Configuration::parse(written));
        self.0.insert(written.to_owned(), Arc::clone(&configuration));
        configuration
    }
}

/// Reads a row of another tool's benchmark. A row that names no arm has an empty configuration.
pub(super) fn benchmark_row(site: Site<'_, '_>, arms: &mut Arms, notes: &mut Notes) -> ClaimedRun {
    let Site { outer, cell, arm, runs, pointer, .. } = &site;
    let verdicts = Verdicts::of(*cell);
    let repetition = repetition(*cell).or_else(|| repetition(*outer)).unwrap_or(Ok(1));
    let mut rate = match status(*cell) {
        Some(reason) => unscored(reason),
        None if cell.is_object() => verdicts::rate(*cell, &verdicts, pointer, notes),
        None => verdicts::bare_rate(*cell),
    };
    let number = repetition.unwrap_or_else(|text| {
        rate = unscored(NotScored::InvalidRunNumber(text));
        0
    });
    let written = arm.clone().or_else(|| text_of(*cell, &CONFIGURATIONS)).or_else(|| text_of(*outer, &CONFIGURATIONS));
    let configuration = arms.get(arm_word(written.as_deref().unwrap_or_default()));
    let model = text_of(*cell, &["model", "executor_model"]).or_else(|| text_of(*outer, &["model"]));
    let (tokens, duration_ms) = (tokens(*cell), duration(*cell));
    if tokens == Err(Unmeasured::Zero) || duration_ms == Err(Unmeasured::Zero) {
        notes.add(NoteCode::ZeroTelemetry, pointer, String::new);
    }
    ClaimedRun {
        case: case(&site, notes),
        model: model.or_else(|| configuration.model.clone()),
        configuration,
        effort: None,
        repetition: number,
        runs: *runs,
        rate,
        assertions: verdicts.assertions,
        tokens,
        duration_ms,
        pointer: site.pointer,
    }
}

/// `with` and `without`, which some tools write beside the key `arm`, are short for the usual names.
fn arm_word(written: &str) -> &str {
    match written {
        "with" => "with_skill",
        "without" => "without_skill",
        other => other,
    }
}

fn case(site: &Site<'_, '_>, notes: &mut Notes) -> CaseName {
    let places = || [site.cell, site.outer].into_iter();
    let id = places().find_map(|place| IDS.iter().find_map(|key| plain(place.get(key)?)));
    let name =
        places().find_map(|place| text_of(place, &CASE_NAMES)).or_else(|| site.case.clone().filter(|_| id.is_some()));
    match id.or_else(|| site.case.clone()) {
        Some(id) => CaseName { name: name.filter(|name| *name != id), id },
        None => match name {
            Some(name) => CaseName { id: name, name: None },
            None => {
                notes.add(NoteCode::GeneratedId, &site.pointer, String::new);
                CaseName { id: format!("#{}", site.pointer), name: None }
            }
        },
    }
}

/// The repetition that a row states: a number from 1, or what stands there instead.
pub(super) fn repetition(row: Item<'_, '_>) -> Option<Result<u32, String>> {
    let (key, stated) = REPETITIONS.into_iter().find_map(|key| Some((key, row.get(key)?)))?;
    let number = figures::count(stated).and_then(|number| u32::try_from(number).ok());
    match (key, number) {
        ("run_index", Some(number)) => Some(number.checked_add(1).ok_or_else(|| number.to_string())),
        (_, Some(0)) | ("run_number" | "run_index", None) => Some(Err(figures::shown(stated))),
        (_, Some(number)) => Some(Ok(number)),
        // another text under such a key is the name of the run
        (_, None) => None,
    }
}

/// Why a row says that it is no score.
fn status(row: Item<'_, '_>) -> Option<NotScored> {
    let word = text_of(row, &["status"]).unwrap_or_default();
    let reason = match word.as_str() {
        "executor_timeout" | "timeout" => Some(UnscoredReason::TimedOut),
        "executor_failed" | "execution_error" | "provider_error" | "error" => Some(UnscoredReason::ExecutorError),
        "not_executed" | "not_run" | "skipped" | "pending" => Some(UnscoredReason::MissingRun),
        code => REASONS.into_iter().find(|reason| reason.code() == code),
    };
    match (reason, row.get("scored").and_then(Item::as_bool)) {
        (Some(reason), _) => Some(NotScored::Reason(reason)),
        (None, Some(false)) => Some(NotScored::Stated(word)),
        _ => None,
    }
}

fn measured_in<'t, 'a>(row: Item<'t, 'a>) -> impl Iterator<Item = Item<'t, 'a>> {
    std::iter::once(row)
        .chain(MEASURED_IN.into_iter().filter_map(move |key| row.get(key)).filter(|item| item.is_object()))
}

/// The first measurement that is one, else why the first stated one is none.
fn measured(stated: impl Iterator<Item = Result<Rational, Unmeasured>>) -> Result<Rational, Unmeasured> {
    let mut problem = Unmeasured::Absent;
    for value in stated {
        match value {
            Ok(value) => return Ok(value),
            Err(Unmeasured::Absent) => {}
            Err(other) if problem == Unmeasured::Absent => problem = other,
            Err(_) => {}
        }
    }
    Err(problem)
}

fn tokens(row: Item<'_, '_>) -> Result<Rational, Unmeasured> {
    let totals = measured_in(row).filter_map(|place| first(place, &TOKENS)).map(figures::measurement);
    let parts = measured_in(row).flat_map(|place| [Some(place), place.get("token_counts")]).flatten();
    let sums = parts.filter_map(|place| {
        let part = |key: &str| place.get(key).map(figures::measurement);
        match (part("input_tokens")?, part("output_tokens")?) {
            (Ok(input), Ok(output)) => Some(Ok(input + output)),
            (Err(problem), _) | (_, Err(problem)) => Some(Err(problem)),
        }
    });
    measured(totals.chain(sums))
}

fn duration(row: Item<'_, '_>) -> Result<Rational, Unmeasured> {
    let milliseconds = measured_in(row).filter_map(|place| first(place, &MILLISECONDS)).map(figures::measurement);
    let seconds = measured_in(row)
        .filter_map(|place| first(place, &SECONDS))
        .map(|seconds| figures::measurement(seconds).map(|seconds| seconds * BigInt::from(1000)));
    measured(milliseconds.chain(seconds))
}

/// Reads a row of a report: of the reference package or our own.
pub(super) fn report_row(row: Item<'_, '_>, pointer: String, arms: &mut Arms, notes: &mut Notes) -> ClaimedRun {
    let site = Site { outer: row, cell: row, case: None, arm: None, runs: 1, pointer };
    let case = case(&site, notes);
    let mut rate = report_rate(row);
    let repetition = repetition(row).unwrap_or(Ok(1)).unwrap_or_else(|text| {
        rate = unscored(NotScored::InvalidRunNumber(text));
        0
    });
    let configuration = arms.get(&text_of(row, &CONFIGURATIONS).unwrap_or_default());
    let assertions = row.get("assertions").into_iter().flat_map(items).filter_map(|entry| {
        let text = text_of(entry, &["name", "text"])?;
        let is = |key: &str| entry.get(key).and_then(Item::as_bool);
        Some(ClaimedAssertion { text, name: None, passed: is("passed"), is_skipped: is("skipped") == Some(true) })
    });
    // normalised records and envelopes of telemetry have their own reader
    let used = LazyCell::new(|| telemetry(row));
    let measured_as = |count: &Measurement<u64>| count.value().map(|count| Rational::from_integer((*count).into()));
    ClaimedRun {
        case,
        model: text_of(row, &["model"]).or_else(|| configuration.model.clone()),
        configuration,
        effort: row.get("metadata").and_then(|metadata| metadata.get("effort")).and_then(ending::effort),
        repetition,
        runs: 1,
        rate,
        assertions: assertions.collect(),
        tokens: tokens(row).or_else(|problem| measured_as(&used.total_tokens).ok_or(problem)),
        duration_ms: duration(row).or_else(|problem| measured_as(&used.elapsed_ms).ok_or(problem)),
        pointer: site.pointer,
    }
}

/// What the run of a row of a report used, as the report or the metadata in it say.
pub(super) fn telemetry(row: Item<'_, '_>) -> RunTelemetry {
    let metadata = row.get("metadata").filter(|metadata| metadata.is_object());
    match (row.get("measured"), metadata) {
        (Some(stated), _) => RunTelemetry::read_stated(stated),
        (None, Some(metadata)) => RunTelemetry::read(&[metadata]),
        (None, None) => RunTelemetry::unread(),
    }
}

/// The rate that pairs of a report are built on.
fn report_rate(row: Item<'_, '_>) -> ClaimedRate {
    let reasons = report_reasons(row);
    if !reasons.is_empty() {
        return ClaimedRate::Unscored(reasons);
    }
    let count = |key: &str| row.get(key).and_then(figures::count);
    let (passed, total) = (count("objective_passed").unwrap_or(0), count("objective_total").unwrap_or(0));
    let vetoed = row.get("vetoed").and_then(Item::as_bool) == Some(true);
    match row.get("objective_pass_rate").map_or(Figure::Null, figures::rate) {
        Figure::Unreadable(text) => unscored(NotScored::RateUnreadable(text)),
        Figure::Null if total == 0 => unscored(NotScored::Reason(UnscoredReason::NoAssertions)),
        Figure::Null => unscored(NotScored::RateMissing),
        _ if vetoed => ClaimedRate::Vetoed { passed, total },
        _ if total > 0 && passed <= total && total <= MOST_ASSERTIONS => ClaimedRate::Counts { passed, total },
        Figure::Share(value, decimals) => ClaimedRate::Share { value, decimals },
        Figure::Counts(passed, total) => ClaimedRate::Counts { passed, total },
    }
}

/// Why a row of a report is no score. Older reports state it only by what the runner recorded.
pub(super) fn report_reasons(row: Item<'_, '_>) -> Vec<NotScored> {
    let code = |item: Item<'_, '_>| {
        let code = item.as_str()?;
        let known = REASONS.into_iter().find(|reason| reason.code() == code);
        Some(known.map_or_else(|| NotScored::Stated(code.into_owned()), NotScored::Reason))
    };
    let stated: Vec<_> = row.get("unscored_reasons").into_iter().flat_map(items).filter_map(code).collect();
    if !stated.is_empty() {
        return stated;
    }
    let flag = |item: Option<Item<'_, '_>>| item.and_then(Item::as_bool);
    let mut reasons = Vec::new();
    if flag(row.get("missing_output")) == Some(true) {
        reasons.push(UnscoredReason::MissingOutput);
    }
    let valid = flag(row.get("execution_valid"));
    if valid != Some(true) {
        let recorded = |key: &str| row.get("metadata").and_then(|metadata| metadata.get(key));
        let failed = recorded("returncode").is_some_and(|code| code.as_number().is_some() && code.is_truthy());
        if flag(recorded("timed_out")) == Some(true) {
            reasons.push(UnscoredReason::TimedOut);
        } else if failed || valid == Some(false) && reasons.is_empty() {
            reasons.push(UnscoredReason::ExecutorError);
        }
    }
    reasons.into_iter().map(NotScored::Reason).collect()
}
