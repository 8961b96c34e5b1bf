//! One row of a saved report.

use super::super::error::ClaimsError;
use super::super::figures::{self, Figure, MOST_ASSERTIONS};
use super::super::note::{NoteCode, Notes};
use super::super::places::{items, members, text_of};
use super::super::row::{repetition, report_reasons, telemetry};
use super::super::verdicts::plain;
use super::fields::Fields;
use super::rate_of;
use crate::json::Item;
use crate::json::pointer::{index, member};
use crate::runs::{Ending, RunTelemetry};
use crate::suite::one_arm::OneArm;
use crate::suite::{AssertionType, EvalIntent, OracleTier, Severity, Split};

/// Code points of evidence that are kept of one check.
const EVIDENCE_CHARACTERS: usize = 4_000;

/// Dimensions that are kept of one judgement.
const MOST_DIMENSIONS: usize = 50;

/// Places that are kept of one check.
const MOST_SPANS: usize = 20;

/// How far a stated rate may lie from its counts.
const RATE_TOLERANCE: f64 = 1e-9;

/// Reasons for which a run has no rates although it has counts: they are those of a part.
const WITHOUT_RATES: [&str; 2] = ["output_too_large", "unsupported_assertion"];

/// What a row says of its case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCase {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// Its family.
    pub family: Option<String>,
    /// The dataset of which it is a row, if it is one.
    pub dataset: Option<String>,
    /// Which part of the suite it belongs to.
    pub split: Option<Split>,
    /// What kind of case it is.
    pub kind: String,
    /// Slice label.
    pub domain: Option<String>,
    /// Slice label.
    pub difficulty: Option<String>,
    /// Slice label.
    pub trigger_type: Option<String>,
    /// Slice labels that may overlap.
    pub success_goals: Vec<String>,
    /// Free tags.
    pub tags: Vec<String>,
    /// What it is for.
    pub eval_intent: Option<EvalIntent>,
}

/// Passed of counted checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SavedCounts {
    /// Checks that hold; not more than there are.
    pub passed: u32,
    /// Checks that count.
    pub total: u32,
}

/// A check or a judgement of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedCheck {
    /// Its label.
    pub name: String,
    /// Whether the label is its own, and not that of its type.
    pub is_named: bool,
    /// Its type, if this version knows it.
    pub assertion_type: Option<AssertionType>,
    /// Its type, if this version does not know it.
    pub other_type: Option<String>,
    /// Whether a judge decided.
    pub is_judgement: bool,
    /// Whether it holds; `None` when that is not known.
    pub passed: Option<bool>,
    /// Why it leaves every count, if it does.
    pub skipped: Option<String>,
    /// How it counts.
    pub severity: Severity,
    /// How strong a pass is.
    pub oracle: Option<OracleTier>,
    /// Why only one arm of the lift can satisfy it.
    pub one_arm: Option<OneArm>,
    /// The score on the scale from 0 to 1.
    pub share: Option<f64>,
    /// What was seen.
    pub evidence: String,
    /// What stands between undecided and decided: the code of a state that is neither pass nor fail.
    pub state: Option<String>,
    /// Where in a text of the run it was found, the first places of them.
    pub spans: Vec<SavedSpan>,
    /// Places that are not listed.
    pub more_spans: u32,
    /// What a judge said beside its verdict, if it said something.
    pub judgement: Option<Box<SavedJudgement>>,
}

/// What a judge said beside its verdict.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SavedJudgement {
    /// Smallest mean score that passes, from 0 to 1.
    pub threshold: Option<f64>,
    /// Its scores by dimension, as it gave them.
    pub dimensions: Vec<(String, f64)>,
    /// How many criteria are met, of how many.
    pub criteria: Option<(u32, u32)>,
}

/// A place in a text of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedSpan {
    /// The file, relative to the run directory.
    pub file: String,
    /// Where it begins, in UTF-16 code units of the text with `\n` as the end of a line.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
}

/// How a run that is not scored failed, as far as its runner recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SavedFailure {
    /// The code that the agent ended with, if it is not 0.
    pub exit_code: Option<i64>,
    /// Seconds that it was given.
    pub time_limit: Option<f64>,
}

/// A row: one run.
#[derive(Debug, Clone)]
pub struct SavedRow {
    /// Its case.
    pub case: SavedCase,
    /// Its arm.
    pub variant: String,
    /// Its model.
    pub model: Option<String>,
    /// Its repetition; 0 when the number is none.
    pub repetition: u32,
    /// Its directory below the runs root.
    pub run_dir: String,
    /// Its directory as the report names it, if it does.
    pub run_base: Option<String>,
    /// Whether there is no answer.
    pub missing_output: bool,
    /// Whether it finished.
    pub execution_valid: bool,
    /// Why it enters no rate, codes; empty when it does.
    pub unscored_reasons: Vec<String>,
    /// Whether it has rates at all.
    pub is_rated: bool,
    /// Gate and critical checks without a judge.
    pub objective: SavedCounts,
    /// Those that look at what the agent did.
    pub process: SavedCounts,
    /// Those that look at what it used.
    pub efficiency: SavedCounts,
    /// Gate and critical judgements.
    pub qualitative: SavedCounts,
    /// Whether a critical check failed.
    pub vetoed: bool,
    /// Critical checks that failed.
    pub critical_failures: Vec<String>,
    /// Mean score of the soft checks, in ten-thousandths.
    pub graded_score_e4: Option<u32>,
    /// Soft checks below the case's reference score.
    pub below_reference_floor: Vec<String>,
    /// Judgements that were not supplied.
    pub deferred_judgements: u32,
    /// Gates and critical judgements among them.
    pub deferred_gates: u32,
    /// What shows that a run without the skill had it.
    pub contamination: Option<String>,
    /// Whether the skill was loaded, if somebody says so.
    pub skill_loaded: Option<bool>,
    /// Whether a stored list of verdicts leaves assertions out that count as failed.
    pub incomplete_verdicts: bool,
    /// Whether others gave its verdicts.
    pub is_stored: bool,
    /// Entries of a stored list of verdicts.
    pub stored_verdicts: Option<u32>,
    /// Checks without evidence that both arms can satisfy.
    pub unobserved_checks: Vec<String>,
    /// Checks, then judgements.
    pub checks: Vec<SavedCheck>,
    /// How the model came to its end.
    pub ending: Ending,
    /// How it failed, if it did.
    pub failure: SavedFailure,
    /// What it used.
    pub telemetry: RunTelemetry,
    /// Calls of tools, if they were counted.
    pub tool_calls: Option<u64>,
}

impl SavedRow {
    /// Whether it enters rates.
    pub fn is_scorable(&self) -> bool {
        self.unscored_reasons.is_empty()
    }

    /// Its rate over the checks without a judge, from the counts.
    pub fn objective_rate(&self) -> Option<f64> {
        rate_of(self.objective, self.vetoed).filter(|_| self.is_rated)
    }

    /// Its rate over checks and judgements, from the counts.
    pub fn combined_rate(&self) -> Option<f64> {
        let SavedCounts { passed, total } = self.objective;
        let all = SavedCounts { passed: passed + self.qualitative.passed, total: total + self.qualitative.total };
        rate_of(all, self.vetoed).filter(|_| self.is_rated)
    }
}

/// Reads a row.
///
/// # Errors
/// A value of another type, and counts that contradict each other.
pub(super) fn read(item: Item<'_, '_>, pointer: String, notes: &mut Notes) -> Result<SavedRow, ClaimsError> {
    if !item.is_object() {
        let problem = format!("an object is expected, not {}", item.to_node().type_name());
        return Err(ClaimsError::Row { pointer, problem });
    }
    let row = Fields { item, pointer: &pointer };
    let case = case(row)?;
    let variant = row.text("variant")?.ok_or_else(|| row.refuse("variant", "the name of an arm"))?;
    let model = row.text("model")?;
    let repetition = repetition(item).unwrap_or(Ok(1)).unwrap_or(0);
    let stored =
        row.get("stored").map(|item| Fields { item, pointer: &pointer }).filter(|stored| stored.item.is_object());
    let unscored_reasons: Vec<String> = {
        // the list is checked before its words are looked up
        row.texts("unscored_reasons")?;
        report_reasons(item).iter().map(|reason| reason.code().to_owned()).collect()
    };
    let objective = counts(row, "objective", true)?;
    let critical_failures = row.texts("critical_failures")?;
    let vetoed = row.flag("vetoed")?.unwrap_or(!critical_failures.is_empty());
    let is_rated = !unscored_reasons.iter().any(|reason| WITHOUT_RATES.contains(&reason.as_str()));
    let metadata = row.get("metadata").filter(|metadata| metadata.is_object());
    let mut ending = metadata.map(Ending::of).unwrap_or_default();
    if let Some(effort) = row.text("effort")? {
        ending.effort = Some(effort);
    }
    let checks = checks(row)?;
    let saved = SavedRow {
        run_dir: run_dir(row, &case.id, model.as_deref(), &variant, repetition)?,
        run_base: row.text("run_base")?,
        missing_output: row.flag("missing_output")?.unwrap_or(false),
        execution_valid: row.flag("execution_valid")?.unwrap_or(true),
        process: counts(row, "process", false)?,
        efficiency: counts(row, "efficiency", false)?,
        qualitative: counts(row, "qualitative", false)?,
        graded_score_e4: graded_score(row)?,
        below_reference_floor: row.texts("below_reference_floor")?,
        deferred_judgements: row.count("deferred_judge_tasks")?.unwrap_or(0),
        deferred_gates: row.count("deferred_gates")?.unwrap_or(0),
        contamination: row.text("contamination")?,
        skill_loaded: row.flag("skill_loaded")?,
        incomplete_verdicts: match stored {
            Some(stored) => stored.texts("flags")?.iter().any(|flag| flag == "incomplete_verdicts"),
            None => false,
        },
        is_stored: stored.is_some(),
        stored_verdicts: match stored.map(|stored| stored.flag("exported")).transpose()?.flatten() {
            Some(true) => None,
            _ => stored.map(|_| narrow(checks.iter().filter(|check| !check.is_judgement).count())),
        },
        unobserved_checks: row.texts("unobserved_checks")?,
        telemetry: telemetry(item),
        tool_calls: metadata.and_then(tool_calls),
        failure: metadata.filter(|_| !unscored_reasons.is_empty()).map(failure).unwrap_or_default(),
        case,
        variant,
        model,
        repetition,
        unscored_reasons,
        is_rated,
        objective,
        vetoed,
        critical_failures,
        checks,
        ending,
    };
    if saved.is_rated && is_contradicted(row, &saved) {
        let stated = || row.get("objective_pass_rate").map(figures::shown).unwrap_or_default();
        notes.add(NoteCode::RateContradictsCounts, &member(&pointer, "objective_pass_rate"), stated);
    }
    Ok(saved)
}

/// Keys under which runners record the seconds that a run is given.
const TIME_LIMITS: [&str; 3] = ["timeout_s", "timeout_seconds", "timeout"];

/// How a run failed; what is no such number is passed over, since nothing is counted by it.
fn failure(metadata: Item<'_, '_>) -> SavedFailure {
    let number = |key: &str| metadata.get(key).and_then(Item::as_number);
    let limit = |key: &&str| number(key).map(|seconds| seconds.as_f64()).filter(|seconds| (0.0..1e9).contains(seconds));
    SavedFailure {
        exit_code: number("returncode").and_then(|code| code.as_i64()).filter(|code| *code != 0),
        time_limit: TIME_LIMITS.iter().find_map(limit).filter(|seconds| *seconds > 0.0),
    }
}

/// The number of calls of tools that the metadata of a run state: of the envelope, else of a plain field.
fn tool_calls(metadata: Item<'_, '_>) -> Option<u64> {
    let envelope = metadata.get("telemetry").and_then(|telemetry| telemetry.get("measurements")?.get("tool_calls"));
    match envelope.filter(|entry| entry.is_object()) {
        Some(entry) => {
            let is_available = entry.get("availability").and_then(Item::as_str).as_deref() == Some("available");
            entry.get("value").filter(|_| is_available).and_then(figures::count)
        }
        None => metadata.get("tool_calls").and_then(figures::count),
    }
}

/// Whether the stated rate is not that of the counts. The counts count.
fn is_contradicted(row: Fields<'_, '_, '_>, saved: &SavedRow) -> bool {
    let Some(stated) = row.get("objective_pass_rate") else { return false };
    let counted = rate_of(saved.objective, saved.vetoed);
    match (figures::rate(stated), stated.as_number(), counted) {
        (Figure::Share(..), Some(number), Some(counted)) => (number.as_f64() - counted).abs() > RATE_TOLERANCE,
        _ => true,
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn case(row: Fields<'_, '_, '_>) -> Result<SavedCase, ClaimsError> {
    let refuse = || row.refuse("case_id", "the id of a case");
    Ok(SavedCase {
        id: row.get("case_id").and_then(plain).ok_or_else(refuse)?,
        name: row.text("case_label")?,
        family: row.text("family")?,
        dataset: row.text("dataset")?,
        split: row.text("split")?.as_deref().and_then(Split::from_word),
        kind: row.text("kind")?.unwrap_or_default(),
        domain: row.text("domain")?,
        difficulty: row.text("difficulty")?,
        trigger_type: row.text("trigger_type")?,
        success_goals: row.texts("success_goals")?,
        tags: row.texts("tags")?,
        eval_intent: row.text("eval_intent")?.as_deref().and_then(EvalIntent::from_word),
    })
}

/// The counts under `<name>_passed` and `<name>_total`.
fn counts(row: Fields<'_, '_, '_>, name: &str, is_needed: bool) -> Result<SavedCounts, ClaimsError> {
    let (passed_key, total_key) = (format!("{name}_passed"), format!("{name}_total"));
    let (passed, total) = (row.count(&passed_key)?, row.count(&total_key)?);
    let (passed, total) = match (passed, total) {
        (Some(passed), Some(total)) => (passed, total),
        (None, None) if !is_needed => (0, 0),
        (None, _) => return Err(row.refuse(&passed_key, "a count")),
        (_, None) => return Err(row.refuse(&total_key, "a count")),
    };
    if passed > total {
        return Err(row.refuse(&passed_key, &format!("at most the total of {total}")));
    }
    // exact means of rates over larger, unrelated totals would take for ever
    if u64::from(total) > MOST_ASSERTIONS {
        return Err(row.refuse(&total_key, &format!("at most {MOST_ASSERTIONS}")));
    }
    Ok(SavedCounts { passed, total })
}

fn graded_score(row: Fields<'_, '_, '_>) -> Result<Option<u32>, ClaimsError> {
    let Some(value) = row.get("graded_score") else { return Ok(None) };
    let score = value.as_number().map(|number| number.as_f64()).filter(|score| (0.0..=1.0).contains(score));
    let score = score.ok_or_else(|| row.refuse("graded_score", "a number from 0 to 1"))?;
    Ok(Some((score * 10_000.0).round() as u32))
}

/// The directory of the run below the root of the tree. Reports without one name it as the user typed it, from the root
/// of the machine perhaps: then what follows the name of the case is taken.
fn run_dir(
    row: Fields<'_, '_, '_>,
    case: &str,
    model: Option<&str>,
    variant: &str,
    repetition: u32,
) -> Result<String, ClaimsError> {
    if let Some(path) = row.text("run_dir")? {
        return Ok(path);
    }
    if let Some(path) = row.text("run_base")? {
        let below = path.rfind(&format!("/{case}/")).map(|at| path[at + 1..].to_owned());
        if let Some(below) = below.or_else(|| path.starts_with(&format!("{case}/")).then(|| path.clone())) {
            return Ok(below);
        }
    }
    let model = model.map(|model| format!("{model}/")).unwrap_or_default();
    Ok(format!("{case}/{model}{variant}/run-{repetition}"))
}

fn checks(row: Fields<'_, '_, '_>) -> Result<Vec<SavedCheck>, ClaimsError> {
    let mut checks = Vec::new();
    for (key, is_judgement) in [("assertions", false), ("qualitative_assertions", true)] {
        let list = member(row.pointer, key);
        for (at, item) in row.list(key, "a list of checks")?.into_iter().enumerate() {
            let pointer = index(&list, at);
            if !item.is_object() {
                let problem = format!("a check is expected, not {}", figures::shown(item));
                return Err(ClaimsError::Row { pointer, problem });
            }
            checks.push(check(Fields { item, pointer: &pointer }, is_judgement)?);
        }
    }
    Ok(checks)
}

fn check(check: Fields<'_, '_, '_>, is_judgement: bool) -> Result<SavedCheck, ClaimsError> {
    let word = |key: &str| text_of(check.item, &[key]);
    let is_skipped = check.flag("skipped")? == Some(true);
    let of_five = word("score_scale").as_deref() == Some("1-5");
    let score = check.get("score").and_then(Item::as_number).map(|number| number.as_f64());
    let share = score.map(|score| if of_five { (score - 1.0) / 4.0 } else { score }.clamp(0.0, 1.0));
    let evidence = check.get("evidence").map(figures_text).unwrap_or_default();
    let own_name = check.get("name").and_then(plain);
    let assertion_type = word("type").as_deref().and_then(AssertionType::from_word);
    Ok(SavedCheck {
        is_named: own_name.is_some(),
        name: own_name.or_else(|| word("type")).unwrap_or_else(|| "assertion".to_owned()),
        assertion_type,
        other_type: word("type").filter(|_| assertion_type.is_none()),
        is_judgement,
        passed: check.flag("passed")?,
        skipped: is_skipped.then(|| word("skip_reason").unwrap_or_default()),
        severity: word("severity").as_deref().and_then(Severity::from_word).unwrap_or(Severity::Gate),
        oracle: word("oracle").as_deref().and_then(OracleTier::from_word),
        one_arm: word("one_arm").as_deref().and_then(OneArm::from_code),
        share,
        evidence: capped(&evidence),
        state: word("state"),
        judgement: if is_judgement { judgement(check.item) } else { None },
        spans: check.get("spans").into_iter().flat_map(items).filter_map(span).take(MOST_SPANS).collect(),
        more_spans: check
            .get("spans_more")
            .and_then(figures::count)
            .map_or(0, |more| more.try_into().unwrap_or(u32::MAX)),
    })
}

/// What a judge said beside its verdict; what is none of it is passed over, since nothing is counted by it.
fn judgement(check: Item<'_, '_>) -> Option<Box<SavedJudgement>> {
    let number =
        |item: Item<'_, '_>| item.as_number().map(|number| number.as_f64()).filter(|number| number.is_finite());
    let count = |key: &str| check.get(key).and_then(figures::count).and_then(|count| u32::try_from(count).ok());
    let scores = check.get("dimension_scores").into_iter().flat_map(members);
    let said = SavedJudgement {
        threshold: check.get("threshold").and_then(number),
        dimensions: scores
            .filter_map(|(name, score)| Some((name.into_owned(), number(score)?)))
            .take(MOST_DIMENSIONS)
            .collect(),
        criteria: count("criteria_met").zip(count("criteria_total")),
    };
    (said != SavedJudgement::default()).then(|| Box::new(said))
}

/// A place; one that is none is passed over, since nothing is counted by it.
fn span(item: Item<'_, '_>) -> Option<SavedSpan> {
    let place = |key: &str| item.get(key).and_then(figures::count).and_then(|place| u32::try_from(place).ok());
    let (file, from, to) = (text_of(item, &["text"])?, place("from")?, place("to")?);
    (from <= to).then_some(SavedSpan { file, from, to })
}

fn figures_text(item: Item<'_, '_>) -> String {
    item.as_str().map_or_else(|| item.text().to_owned(), |text| text.into_owned())
}

/// The beginning of evidence; what is left out is counted.
fn capped(evidence: &str) -> String {
    match evidence.char_indices().nth(EVIDENCE_CHARACTERS) {
        None => evidence.to_owned(),
        Some((end, _)) => format!("{}… ({} characters in all)", &evidence[..end], evidence.chars().count()),
    }
}
