//! One row of `results`: the keys of version 0.6 in its order, then our own.

use std::io;

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};
use skill_lift_text::view::Comparison;

use super::ordered::Ordered;
use super::row_facts::RowFacts;
use super::stored_json::{RecordedJson, StoredRow};
use crate::grade::{AssertionRow, GradedRun, Judgement, Normalization, NormalizedText, Outcome, Passage, Rate};
use crate::json::write;
use crate::judge::JudgementDetail;
use crate::judge::merge::ScoreScale;
use crate::runs::sidecar::Metadata;
use crate::suite::{Case, EvalIntent, Split};

/// What stands before the metadata in a row.
#[derive(Serialize)]
struct RowBeginning<'a> {
    case_id: &'a str,
    split: Split,
    kind: &'a str,
    domain: Option<&'a str>,
    difficulty: Option<&'a str>,
    trigger_type: Option<&'a str>,
    success_goals: &'a [String],
    eval_intent: EvalIntent,
    variant: &'a str,
    run_number: u32,
    model: Option<&'a str>,
    run_base: &'a str,
    missing_output: bool,
    execution_valid: bool,
    objective_passed: u32,
    objective_total: u32,
    objective_pass_rate: Option<f64>,
    process_passed: u32,
    process_total: u32,
    process_pass_rate: Option<f64>,
    efficiency_passed: u32,
    efficiency_total: u32,
    efficiency_pass_rate: Option<f64>,
    qualitative_passed: u32,
    qualitative_total: u32,
    qualitative_pass_rate: Option<f64>,
    combined_passed: u32,
    combined_total: u32,
    combined_pass_rate: Option<f64>,
    critical_total: u32,
    critical_failures: &'a [String],
    vetoed: bool,
    soft_total: u32,
    soft_passed: u32,
    skipped_total: u32,
    graded_score: Option<f64>,
    below_reference_floor: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<Vec<Turn>>,
    assertions: Vec<Assertion<'a>>,
    qualitative_assertions: Vec<Assertion<'a>>,
    deferred_judge_tasks: usize,
}

/// What stands behind the metadata in a row.
#[derive(Serialize)]
struct RowEnd<'a> {
    grading_availability: &'static str,
    blocked_assertions: Vec<Blocked<'a>>,
    empty_output: bool,
    vacuous: bool,
    unscored_reasons: &'a [skill_lift_contract::UnscoredReason],
    metadata_warnings: &'a [String],
    run_dir: &'a str,
    #[serde(flatten)]
    facts: RowFacts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<StoredRow<'a>>,
}

#[derive(Serialize)]
struct Turn {
    turn: usize,
    missing_output: bool,
    passed: u32,
    total: u32,
}

#[derive(Serialize)]
struct Blocked<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    assertion_type: &'static str,
    evidence: &'a str,
}

/// An assertion row; which keys it has depends on its state.
struct Assertion<'a>(&'a AssertionRow);

impl Serialize for Assertion<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &row.name)?;
        map.serialize_entry("type", &row.assertion_type)?;
        if let Some(judgement) = &row.judgement {
            map.serialize_entry("judge_task_id", &judgement.task_id)?;
            map.serialize_entry("passed", &row.outcome.passed())?;
            map.serialize_entry("score", &row.score)?;
            judged_fields(&mut map, judgement)?;
            map.serialize_entry("evidence", &row.evidence)?;
        } else {
            map.serialize_entry("passed", &row.outcome.passed())?;
        }
        // a row that was never evaluated has its evidence last, as version 0.6 writes it
        let unevaluated = matches!(row.outcome, Outcome::Skipped { unevaluated: true, .. });
        if row.judgement.is_none() {
            if !unevaluated {
                map.serialize_entry("evidence", &row.evidence)?;
            }
            map.serialize_entry("score", &row.score)?;
        }
        map.serialize_entry("severity", &row.severity)?;
        map.serialize_entry("oracle", &row.oracle)?;
        if let Some(turn) = row.turn {
            map.serialize_entry("turn", &turn)?;
        }
        match &row.outcome {
            Outcome::Skipped { reason, .. } => {
                map.serialize_entry("skipped", &true)?;
                map.serialize_entry("skip_reason", reason)?;
            }
            Outcome::Undecided(reason) => {
                map.serialize_entry("state", "undecided")?;
                map.serialize_entry("undecided", reason.code())?;
            }
            Outcome::Error(reason) => {
                map.serialize_entry("state", "error")?;
                map.serialize_entry("error", reason.code())?;
            }
            Outcome::Unsupported => map.serialize_entry("state", "unsupported")?,
            Outcome::Pass | Outcome::Fail => {}
        }
        if unevaluated {
            map.serialize_entry("evidence", &row.evidence)?;
        }
        if let Some(comparison) = row.comparison {
            map.serialize_entry("comparison", comparison.wire_name())?;
        }
        if let Some(normalization) = &row.normalization {
            map.serialize_entry("normalization", &Normalized(normalization))?;
        }
        if let Some(Judgement { detail: JudgementDetail::Plain { scale: ScoreScale::OneToFive }, .. }) = &row.judgement
        {
            map.serialize_entry("score_scale", "1-5")?;
        }
        map.serialize_entry("availability", row.availability.word())?;
        if let Some(places) = &row.details.places {
            map.serialize_entry("matched", &places.first)?;
            let spans = places.spans.iter().map(|span| Span { text: &places.file, from: span.start, to: span.end });
            map.serialize_entry("spans", &spans.collect::<Vec<_>>())?;
            if places.more > 0 {
                map.serialize_entry("spans_more", &places.more)?;
            }
        }
        if let Some(compared) = &row.details.compared {
            map.serialize_entry("compared", compared)?;
        }
        if let Some(miss) = &row.details.nearest_miss {
            map.serialize_entry("nearest_miss", &Miss { kind: miss.kind.code(), passage: &miss.passage })?;
        }
        if let Some(reason) = row.one_arm {
            map.serialize_entry("one_arm", reason.code())?;
        }
        if row.autojunk_fired {
            map.serialize_entry("autojunk_fired", &true)?;
        }
        if let Some(recorded) = &row.recorded {
            map.serialize_entry("recorded", &RecordedJson::from(recorded.as_ref()))?;
        }
        map.end()
    }
}

/// A place in a text of the run, in UTF-16 code units.
#[derive(Serialize)]
struct Span<'a> {
    text: &'a str,
    from: usize,
    to: usize,
}

#[derive(Serialize)]
struct Miss<'a> {
    kind: &'static str,
    #[serde(flatten)]
    passage: &'a Passage,
}

fn judged_fields<M: SerializeMap>(map: &mut M, judgement: &Judgement) -> Result<(), M::Error> {
    match &judgement.detail {
        JudgementDetail::Plain { .. } => Ok(()),
        JudgementDetail::Dimensions { threshold, scores } => {
            map.serialize_entry("threshold", threshold)?;
            map.serialize_entry("dimension_scores", &Ordered(scores.clone()))
        }
        JudgementDetail::Criteria { met, total } => {
            map.serialize_entry("criteria_met", met)?;
            map.serialize_entry("criteria_total", total)
        }
    }
}

struct Normalized<'a>(&'a Normalization);

impl Serialize for Normalized<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("profile", Comparison::Rendered.wire_name())?;
        map.serialize_entry("changed", &true)?;
        map.serialize_entry("verdict_changed", &self.0.verdict_changed)?;
        if let Some(score) = self.0.raw_score {
            map.serialize_entry("raw_score", &score)?;
        }
        map.serialize_entry("candidate", &Text(&self.0.candidate))?;
        map.serialize_entry("operands", &self.0.operands.iter().map(Text).collect::<Vec<_>>())?;
        map.end()
    }
}

struct Text<'a>(&'a NormalizedText);

#[derive(Serialize)]
struct Removed<'a> {
    codepoint: &'a str,
    name: &'a str,
    count: u64,
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let removed: Vec<Removed<'_>> =
            self.0.removed.iter().map(|(codepoint, name, count)| Removed { codepoint, name, count: *count }).collect();
        let mut state = serializer.serialize_struct("NormalizedText", 4)?;
        state.serialize_field("profile", Comparison::Rendered.wire_name())?;
        state.serialize_field("changed", &self.0.changed)?;
        state.serialize_field("canonical_normalized", &self.0.canonical_normalized)?;
        state.serialize_field("removed", &removed)?;
        state.end()
    }
}

/// How much of a run a row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowDetail {
    /// Everything.
    #[default]
    Full,
    /// Everything but the metadata that is passed through.
    Slim,
}

impl RowDetail {
    /// The metadata, if the row has it.
    pub fn metadata(self, metadata: Metadata<'_>) -> Option<Metadata<'_>> {
        (self == Self::Full).then_some(metadata)
    }
}

/// Bytes of a row with the metadata of a run that was measured in detail.
const USUAL_BYTES: usize = 16 << 10;

/// How deep a row stands in the report: object, array.
const DEPTH: usize = 2;

/// The row of a run as it stands in the report, without the comma and the line break before it.
///
/// `run_base` is the run directory as the user would type it; `metadata` is passed through as it was read, if it is wanted.
///
/// # Errors
/// Never in practice: the bytes go to memory.
pub fn format(run: &GradedRun, case: &Case, run_base: &str, metadata: Option<Metadata<'_>>) -> io::Result<Vec<u8>> {
    let tally = &run.tally;
    let vetoed = tally.is_vetoed();
    let rated = !run.has_no_rates();
    let rate = |rate: Rate| if rated { rate.value(vetoed) } else { None };
    let combined = tally.combined();
    let row = RowBeginning {
        case_id: &case.id,
        split: case.split,
        kind: &case.kind,
        domain: case.domain.as_deref(),
        difficulty: case.difficulty.as_deref(),
        trigger_type: case.trigger_type.as_deref(),
        success_goals: &case.success_goals,
        eval_intent: case.eval_intent,
        variant: &run.key.variant,
        run_number: run.key.repetition,
        model: run.key.model.as_deref(),
        run_base,
        missing_output: run.missing_output,
        execution_valid: run.execution_valid,
        objective_passed: tally.objective.passed,
        objective_total: tally.objective.total,
        objective_pass_rate: if rated { tally.objective_pass_rate() } else { None },
        process_passed: tally.process.passed,
        process_total: tally.process.total,
        process_pass_rate: rate(tally.process),
        efficiency_passed: tally.efficiency.passed,
        efficiency_total: tally.efficiency.total,
        efficiency_pass_rate: rate(tally.efficiency),
        qualitative_passed: tally.qualitative.passed,
        qualitative_total: tally.qualitative.total,
        qualitative_pass_rate: rate(tally.qualitative),
        combined_passed: combined.passed,
        combined_total: combined.total,
        combined_pass_rate: rate(combined),
        critical_total: tally.critical_total,
        critical_failures: &tally.critical_failures,
        vetoed,
        soft_total: tally.soft.total,
        soft_passed: tally.soft.passed,
        skipped_total: tally.skipped,
        graded_score: if rated { tally.graded_score } else { None },
        below_reference_floor: &tally.below_reference_floor,
        turns: (!case.turns.is_empty()).then(|| {
            let turns = run.turns.iter();
            turns
                .map(|turn| Turn {
                    turn: turn.turn,
                    missing_output: turn.missing_output,
                    passed: turn.checks.passed,
                    total: turn.checks.total,
                })
                .collect()
        }),
        assertions: run.objective.iter().map(Assertion).collect(),
        qualitative_assertions: run.qualitative.iter().map(Assertion).collect(),
        deferred_judge_tasks: run.deferred.len(),
    };
    let end = RowEnd {
        grading_availability: run.availability().word(),
        blocked_assertions: run
            .blocked_rows()
            .map(|row| Blocked { name: &row.name, assertion_type: row.assertion_type.word(), evidence: &row.evidence })
            .collect(),
        empty_output: run.empty_output,
        vacuous: run.vacuous,
        unscored_reasons: &run.unscored_reasons,
        metadata_warnings: &run.metadata_warnings,
        run_dir: &run.path,
        facts: RowFacts::of(run, case, metadata.is_some()),
        stored: run.stored.as_deref().map(|facts| StoredRow::of(run, facts)),
    };
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    write::pretty(&mut bytes, &row, DEPTH)?;
    if let Some(metadata) = metadata {
        reopen(&mut bytes, DEPTH)?;
        bytes.extend_from_slice(b"\"metadata\": ");
        metadata.write_pretty(&mut bytes, DEPTH + 1)?;
    } else {
        take_end_off(&mut bytes, DEPTH);
    }
    let opening = bytes.len();
    write::pretty(&mut bytes, &end, DEPTH)?;
    // the members of the second object go on where the first one was reopened
    bytes[opening] = b',';
    Ok(bytes)
}

/// Takes the end off a filled object that stands `depth` levels deep, so that one more member can follow.
fn reopen(bytes: &mut Vec<u8>, depth: usize) -> io::Result<()> {
    take_end_off(bytes, depth);
    bytes.push(b',');
    write::new_line(bytes, depth + 1)
}

fn take_end_off(bytes: &mut Vec<u8>, depth: usize) {
    let closing = "\n".len() + 2 * depth + "}".len();
    bytes.truncate(bytes.len() - closing);
}
