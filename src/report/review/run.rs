//! One run in the page: answers, checks with their places, what the agent did, what it used, files.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;

use super::assets::AssetLinks;
use super::budget::{Caps, TraceCap};
use super::telemetry::{Quantity, telemetry};
use super::texts::{Shown, TextTable};
use crate::report::formats::cut_to;
use crate::report::{quantities, words};
use crate::runs::EventsProblem;
use crate::runs::claims::{SavedCheck, SavedFailure, SavedRow, SavedSpan};
use crate::runs::events::{Event, EventKind, EventStatus, EventTime, Events};
use crate::runs::saved_runs::{AnswerContent, RunContents, RunFile};

/// Code points of evidence and of details of the trace.
const EVIDENCE_CHARACTERS: usize = 2_048;
/// Events at the beginning of a trace that are shown when it is long, and at its end.
const EVENTS_SHOWN: (usize, usize) = (300, 100);
/// Largest image that stands in the page.
const IMAGE_BYTES: u64 = 256 << 10;
/// Largest file whose text stands in the page.
const TEXT_FILE_BYTES: u64 = 16 << 10;
/// Files of a run whose text stands in the page.
const TEXT_FILES: usize = 20;

/// A run.
#[derive(Debug, Serialize)]
pub(super) struct RunJson {
    arm: usize,
    model: usize,
    rep: u32,
    dir: Option<String>,
    status: String,
    elapsed_ms: Option<u64>,
    tokens: Option<u64>,
    cost: Option<Cost>,
    answer: Option<Vec<Answer>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<Previous>,
    checks: Vec<Option<CheckResult>>,
    trace: Option<Vec<Step>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_reason: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    trace_left_out: usize,
    files: Vec<FileJson>,
    #[serde(skip_serializing_if = "is_zero")]
    files_more: usize,
    telemetry: Vec<Quantity>,
}

/// The same run of the other iteration.
#[derive(Debug, Serialize)]
pub(super) struct Previous {
    pub(super) status: String,
    pub(super) passed: Option<u32>,
    pub(super) total: Option<u32>,
    pub(super) answer: Option<Vec<Answer>>,
    pub(super) checks: Vec<Option<CheckResult>>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Debug, Serialize)]
struct Cost {
    value: f64,
    currency: String,
}

/// An answer: a text of the table, or what it is instead.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary: Option<&'static str>,
}

/// What a check says of a run.
#[derive(Debug, Serialize)]
pub(super) struct CheckResult {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    evidence: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spans: Vec<(usize, usize, usize)>,
    #[serde(skip_serializing_if = "is_zero")]
    spans_more: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<Judge>,
}

/// What a judge said.
#[derive(Debug, Serialize)]
struct Judge {
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    panel: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dimensions: Vec<(String, f64)>,
    reasoning: String,
}

impl Judge {
    fn of(check: &SavedCheck) -> Option<Self> {
        let said = check.judgement.as_deref();
        let reasoning = cut_to(&check.evidence, EVIDENCE_CHARACTERS);
        (check.is_judgement && (said.is_some() || !reasoning.is_empty())).then(|| Self {
            threshold: said.and_then(|said| said.threshold),
            panel: said.and_then(|said| said.criteria).map(|(met, total)| format!("{met} of {total} criteria are met")),
            dimensions: said.map(|said| said.dimensions.clone()).unwrap_or_default(),
            reasoning,
        })
    }
}

#[derive(Debug, Serialize)]
struct Step {
    at: Option<f64>,
    ms: Option<f64>,
    kind: &'static str,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    ok: Option<bool>,
}

#[derive(Debug, Serialize)]
struct FileJson {
    path: String,
    bytes: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    href: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<usize>,
}

/// Bytes of a page that can be left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extras {
    /// Of details of traces.
    pub(super) details: usize,
    /// Of traces with their details.
    pub(super) traces: usize,
    /// Of images.
    pub(super) images: usize,
    /// Of texts of files, about.
    pub(super) file_texts: usize,
}

/// What a run is shown as.
pub(super) struct RunView<'a> {
    pub(super) row: &'a SavedRow,
    pub(super) arm: usize,
    pub(super) model: usize,
    /// Whether the folder of the runs was given.
    pub(super) has_runs: bool,
    /// What its directory holds; `None` when it is not there.
    pub(super) contents: Option<RunContents>,
    /// Where its files are linked to.
    pub(super) links: Option<&'a AssetLinks>,
}

impl RunView<'_> {
    /// The run as JSON. `keys` are the checks of the case in order.
    pub(super) fn shown(
        &mut self,
        keys: &[CheckKey],
        caps: Caps,
        texts: &mut TextTable,
        extras: &mut Extras,
    ) -> RunJson {
        let row = self.row;
        let (answer, checks) = answer_and_checks(row, self.contents.as_ref(), keys, caps, texts);
        let (trace, trace_reason, trace_left_out) = match &self.contents {
            Some(contents) => trace(&contents.events, &contents.times, caps, extras),
            None => (None, None, 0),
        };
        let (files, files_more) = match &mut self.contents {
            Some(contents) => (files(contents, caps, texts, extras, (&row.run_dir, self.links)), contents.more_files),
            None => (Vec::new(), 0),
        };
        let cost = row.telemetry.cost.value();
        RunJson {
            arm: self.arm,
            model: self.model,
            rep: row.repetition,
            dir: (!row.run_dir.is_empty()).then(|| row.run_dir.clone()),
            status: status(row),
            elapsed_ms: row.telemetry.elapsed_ms.value().copied(),
            tokens: row.telemetry.total_tokens.value().copied(),
            cost: cost.and_then(|cost| {
                Some(Cost { value: cost.amount.to_f64()?, currency: cost.currency.code().to_owned() })
            }),
            answer_reason: answer
                .is_none()
                .then(|| no_answer(self.has_runs, self.contents.is_some() || row.missing_output)),
            answer,
            previous: None,
            checks,
            trace,
            trace_reason,
            trace_left_out,
            files,
            files_more,
            telemetry: telemetry(row, self.contents.as_ref(), texts),
        }
    }
}

/// Why an answer is not in the page.
fn no_answer(has_runs: bool, is_expected: bool) -> String {
    match (has_runs, is_expected) {
        (false, _) => "Answers are not in this page. Render it again with --runs.".to_owned(),
        (true, true) => "No answer was saved for this run.".to_owned(),
        (true, false) => "The folder of this run is not below the folder of the runs.".to_owned(),
    }
}

/// `ok`, or why a run is not scored: `timed out after 300 s`, `ended with exit code 2`, `produced no output`.
pub(super) fn status(row: &SavedRow) -> String {
    if row.is_scorable() {
        return "ok".to_owned();
    }
    row.unscored_reasons.iter().map(|code| failure(code, row)).collect::<Vec<_>>().join(", ")
}

/// A reason with what the run itself says of it.
fn failure(code: &str, row: &SavedRow) -> String {
    let elapsed = row.telemetry.elapsed_ms.value();
    match (code, row.failure) {
        ("timed_out", SavedFailure { time_limit: Some(limit), .. }) => format!("timed out after {limit}\u{a0}s"),
        ("timed_out", _) if elapsed.is_some() => {
            let shown = elapsed.map(|elapsed| quantities::time(*elapsed as f64)).unwrap_or_default();
            format!("timed out after {shown}")
        }
        ("executor_error", SavedFailure { exit_code: Some(code), .. }) => format!("ended with exit code {code}"),
        ("missing_output", _) => "produced no output".to_owned(),
        _ => words::unscored_reason(code),
    }
}

/// A check of a case: its name, and which one of that name it is.
pub(super) type CheckKey = (String, usize);

/// The checks of a row with their keys.
pub(super) fn keyed(checks: &[SavedCheck]) -> impl Iterator<Item = (CheckKey, &SavedCheck)> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    checks.iter().map(move |check| {
        let number = seen.entry(&check.name).or_default();
        *number += 1;
        ((check.name.clone(), *number), check)
    })
}

/// The answer of a run, and its checks with places in it.
pub(super) fn answer_and_checks(
    row: &SavedRow,
    contents: Option<&RunContents>,
    keys: &[CheckKey],
    caps: Caps,
    texts: &mut TextTable,
) -> (Option<Vec<Answer>>, Vec<Option<CheckResult>>) {
    let mut shown: Vec<(&str, usize, Shown<'_>)> = Vec::new();
    let mut answers = Vec::new();
    for answer in contents.iter().flat_map(|contents| &contents.answers) {
        let path = answer.path.clone();
        answers.push(match &answer.content {
            AnswerContent::Text { text, replaced } => {
                let part = Shown::of(text, caps.answer_bytes);
                let at = texts.add(&part, *replaced, is_json(text));
                shown.push((&answer.path, at, part));
                Answer { path, text: Some(at), bytes: None, binary: None }
            }
            AnswerContent::Binary { bytes, media_type } => {
                Answer { path, text: None, bytes: Some(*bytes), binary: Some(media_type) }
            }
            AnswerContent::TooLarge => {
                Answer { path, text: None, bytes: None, binary: Some("a text larger than what is read") }
            }
        });
    }
    let mut results: HashMap<CheckKey, CheckResult> =
        keyed(&row.checks).map(|(key, check)| (key, result(check, &shown))).collect();
    let checks = keys.iter().map(|key| results.remove(key)).collect();
    ((!answers.is_empty()).then_some(answers), checks)
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn result(check: &SavedCheck, shown: &[(&str, usize, Shown<'_>)]) -> CheckResult {
    let (outcome, said) = outcome(check);
    let place = |span: &SavedSpan| {
        let (_, text, part) = shown.iter().find(|(path, ..)| *path == span.file)?;
        let (from, to) = part.place(span.from as usize, span.to as usize)?;
        Some((*text, from, to))
    };
    let spans: Vec<_> = check.spans.iter().filter_map(place).collect();
    CheckResult {
        outcome,
        words: said,
        score: check.share.filter(|_| check.severity == crate::suite::Severity::Soft || check.is_judgement),
        // what a judge said stands in a part of its own
        evidence: if check.is_judgement { String::new() } else { cut_to(&check.evidence, EVIDENCE_CHARACTERS) },
        judge: Judge::of(check),
        spans_more: check.spans.len() - spans.len() + check.more_spans as usize,
        spans,
    }
}

/// The state of a check, and its words where they are not those of the state.
fn outcome(check: &SavedCheck) -> (&'static str, Option<String>) {
    if let Some(reason) = &check.skipped {
        let why = if reason.is_empty() { "skipped".to_owned() } else { format!("skipped: {reason}") };
        return ("skipped", Some(why));
    }
    match (check.passed, check.state.as_deref()) {
        (Some(true), _) => ("pass", None),
        (Some(false), _) => ("fail", None),
        (None, Some("error")) => ("error", Some("could not be checked".to_owned())),
        (None, Some("unsupported")) => ("unsupported", Some("not graded by this version".to_owned())),
        (None, _) if check.is_judgement => ("pending", Some("waiting for a judge".to_owned())),
        (None, _) => ("undecided", Some("undecided".to_owned())),
    }
}

type Trace = (Option<Vec<Step>>, Option<String>, usize);

fn trace(events: &Events, times: &[EventTime], caps: Caps, extras: &mut Extras) -> Trace {
    let log = match events {
        Ok(log) => log,
        Err(EventsProblem::Missing) => return (None, Some("there is no events.json".to_owned()), 0),
        Err(problem) => return (None, Some(cut_to(&problem.to_string(), EVIDENCE_CHARACTERS)), 0),
    };
    let number = log.events.len();
    let (first, last) = EVENTS_SHOWN;
    let is_shown = |at: usize| number <= first + last || at < first || at >= number - last;
    let start = times.iter().filter_map(|time| time.at).reduce(f64::min);
    let shown = log.events.iter().enumerate().filter(|(at, event)| is_shown(*at) && event.kind != EventKind::Metric);
    let steps: Vec<Step> = shown
        .map(|(position, event)| {
            let EventTime { at, took } = times.get(position).copied().unwrap_or_default();
            let detail = detail(event);
            Step {
                at: at.zip(start).map(|(at, start)| at - start),
                ms: took,
                kind: event.kind.wire_name(),
                label: cut_to(label(event), LABEL_CHARACTERS),
                detail: detail.filter(|_| caps.trace == TraceCap::Whole),
                ok: match event.status {
                    EventStatus::Completed => Some(event.exit_code.is_none_or(|code| code == 0)),
                    EventStatus::Failed => Some(false),
                    EventStatus::InProgress | EventStatus::Unknown => None,
                },
            }
        })
        .collect();
    if caps.trace == TraceCap::Nothing {
        return (None, Some("it was left out to keep the page under its limit".to_owned()), 0);
    }
    // as they stand in the page; characters that are escaped take a little more
    let length = |step: &Step| serde_json::to_vec(step).map_or(0, |bytes| bytes.len() + 1);
    extras.traces += steps.iter().map(length).sum::<usize>();
    extras.details +=
        steps.iter().filter_map(|step| step.detail.as_ref()).map(|detail| detail.len() + 12).sum::<usize>();
    (Some(steps), None, number.saturating_sub(first + last))
}

/// Code points of the line of an event.
const LABEL_CHARACTERS: usize = 200;

fn label(event: &Event) -> &str {
    let told: [&str; 4] = match event.kind {
        EventKind::FileRead | EventKind::FileWrite => [&event.path, &event.input, &event.name, &event.text],
        _ => [&event.input, &event.command, &event.name, &event.path],
    };
    told.into_iter().find(|text| !text.is_empty()).unwrap_or(event.kind.wire_name())
}

fn detail(event: &Event) -> Option<String> {
    let mut parts = Vec::new();
    if label(event).chars().nth(LABEL_CHARACTERS).is_some() {
        parts.push(cut_to(label(event), EVIDENCE_CHARACTERS));
    }
    if !event.output.is_empty() {
        parts.push(cut_to(&event.output, EVIDENCE_CHARACTERS));
    }
    parts.extend(event.exit_code.filter(|code| *code != 0).map(|code| format!("exit code {code}")));
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn files(
    contents: &mut RunContents,
    caps: Caps,
    texts: &mut TextTable,
    extras: &mut Extras,
    (run_dir, links): (&str, Option<&AssetLinks>),
) -> Vec<FileJson> {
    let answers: Vec<String> = contents.answers.iter().map(|answer| answer.path.clone()).collect();
    let list: Vec<RunFile> = contents.files.clone();
    let mut texts_left = TEXT_FILES;
    list.into_iter()
        .map(|RunFile { path, bytes }| {
            let mut file = FileJson { kind: "", path, bytes, data_uri: None, text: None, href: None };
            file.href = links.map(|links| links.to(run_dir, &file.path));
            if let Some(media_type) = image_type(&file.path) {
                file.kind = "image";
                if bytes <= IMAGE_BYTES {
                    extras.images += (bytes as usize).div_ceil(3) * 4 + 32;
                    let read = caps.images.then(|| contents.read(&file.path, IMAGE_BYTES).ok()).flatten();
                    file.data_uri = read.map(|bytes| format!("data:{media_type};base64,{}", STANDARD.encode(&**bytes)));
                }
            } else if bytes <= TEXT_FILE_BYTES && texts_left > 0 && !answers.contains(&file.path) {
                texts_left -= 1;
                // what is no text is counted too: nothing is read for it
                extras.file_texts += bytes as usize + bytes as usize / 8 + 64;
                let read = caps.file_texts.then(|| contents.read(&file.path, TEXT_FILE_BYTES).ok()).flatten();
                let text = read.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok());
                if let Some(text) = text.filter(|text| !text.contains('\0')) {
                    file.kind = "text";
                    file.text = Some(texts.add(&Shown::of(text, caps.answer_bytes), 0, is_json(text)));
                }
            }
            file
        })
        .collect()
}

/// The type of an image that a page may show.
fn image_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}
