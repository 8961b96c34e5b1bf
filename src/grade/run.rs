//! Grading one run: its answer, its state, its rows, and what they add up to.

use std::borrow::Cow;
use std::sync::Arc;

use skill_lift_contract::artifact_commit::ArtifactSet;
use skill_lift_contract::run_key::model_of_directory;
use skill_lift_contract::{ContentDigest, Population, RunKey, TreeDigest, UnscoredReason};
use skill_lift_text::python;

use super::answer::Answer;
use super::checks::References;
use super::contamination::contamination;
use super::outcome::{AssertionRow, Availability, Outcome};
use super::rows::Grading;
use super::stored::StoredFacts;
use super::tally::{Rate, RunTally, TurnTally, turn_tally};
use super::trajectory::Trace;
use crate::judge::{JudgeResultsError, Verdicts};
use crate::runs::sidecar::{Metadata, ParsedSidecars};
use crate::runs::{
    Ending, Output, RunDirectory, RunEvidence, RunSlot, RunWarning, TurnEvidence, UsedByRun, WarningCode,
};
use crate::suite::{AssertionType, Case, OracleTier, Severity, Suite};

/// What becomes of a check that could not be observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unobserved {
    /// It fails and counts.
    #[default]
    Fail,
    /// It is undecided and enters no count.
    Exclude,
}

/// How runs are graded.
#[derive(Debug, Clone)]
pub struct GradeOptions {
    /// Soft checks count like gates.
    pub strict: bool,
    /// What becomes of checks that could not be observed.
    pub unobserved: Unobserved,
    /// Bytes of a file that a check may read.
    pub artifact_bytes: u64,
    /// Bytes of an event file.
    pub events_bytes: u64,
    /// Whether programs of the suite are run.
    pub allow_scripts: bool,
    /// Whether programs outside the folder of the suite may be run.
    pub allow_external_files: bool,
    /// Names of environment variables that programs of the suite get beside the usual ones.
    pub pass_environment: Vec<String>,
    /// Bytes kept of each output stream of a program.
    pub script_output_bytes: u64,
    /// Command that computes embeddings.
    pub embed_command: Option<String>,
    /// Code points of the longer text of a similarity.
    pub similarity_characters: usize,
    /// Code points of the evidence of one check.
    pub evidence_characters: usize,
    /// Whether what analyses need beside rates is read: what the run used and what the agent did, for which the events of
    /// every scored run are read.
    pub for_analysis: bool,
    /// Reference files that were read already.
    pub references: Arc<References>,
}

impl Default for GradeOptions {
    fn default() -> Self {
        Self {
            strict: false,
            unobserved: Unobserved::Fail,
            artifact_bytes: 64 << 20,
            events_bytes: 64 << 20,
            allow_scripts: false,
            allow_external_files: false,
            pass_environment: Vec::new(),
            script_output_bytes: 256 << 10,
            embed_command: None,
            similarity_characters: 200_000,
            evidence_characters: 10_000,
            for_analysis: false,
            references: Arc::default(),
        }
    }
}

/// The run that is graded.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// Its case.
    pub case: &'a Case,
    /// Its arm.
    pub variant: &'a str,
    /// Its place in the tree.
    pub slot: &'a RunSlot,
    /// The verdicts that were supplied.
    pub verdicts: &'a Verdicts,
}

/// A judgement that was not supplied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeferredJudgement {
    /// The id that a verdict for it names.
    pub task_id: String,
    /// Position among the assertions of the case, or of the turn.
    pub position: usize,
    /// Label of the assertion; for turns `turn-<n>: <label>`.
    pub label: String,
    /// Type of the assertion.
    pub assertion_type: AssertionType,
    /// How it will count.
    pub severity: Severity,
    /// How strong a pass will be.
    pub oracle: OracleTier,
    /// The turn it is about.
    pub turn: Option<usize>,
}

/// A graded run.
#[derive(Debug)]
pub struct GradedRun {
    /// Its identity.
    pub key: RunKey,
    /// Position of its case among the graded cases.
    pub case: usize,
    /// Position of its arm in the selection.
    pub variant: usize,
    /// Its directory below the runs root.
    pub path: String,
    /// Whether a folder of the tree names the model.
    pub has_model_folder: bool,
    /// Whether there is no answer.
    pub missing_output: bool,
    /// Whether the answer is blank.
    pub empty_output: bool,
    /// Whether only negative checks passed, on a blank answer.
    pub vacuous: bool,
    /// Whether the run finished.
    pub execution_valid: bool,
    /// Why the run enters no rate; empty when it does.
    pub unscored_reasons: Vec<UnscoredReason>,
    /// Rows of checks that need no judge: those of the case, then those of its turns.
    pub objective: Vec<AssertionRow>,
    /// Rows of judgements.
    pub qualitative: Vec<AssertionRow>,
    /// Judgements that were not supplied.
    pub deferred: Vec<DeferredJudgement>,
    /// Checks a turn; empty for single-turn cases.
    pub turns: Vec<TurnTally>,
    /// Counts and rates.
    pub tally: RunTally,
    /// Oddities of the files beside the answer.
    pub metadata_warnings: Vec<String>,
    /// How the model came to its end, as far as it is recorded.
    pub ending: Ending,
    /// When it began, in milliseconds since 1970, if it is recorded and somebody asked.
    pub started_at_ms: Option<i64>,
    /// Digest of the answer as it is stored; none where the answer was not read.
    pub answer_digest: Option<ContentDigest>,
    /// What the agent did, if somebody asked; only of a run that is scored.
    pub trace: Trace,
    /// Files that were read.
    pub digests: Vec<(String, ContentDigest)>,
    /// Oddities of the run directory.
    pub warnings: Vec<RunWarning>,
    /// What shows that a run without the skill had it; such a run is no baseline.
    pub contamination: Option<String>,
    /// Whether the skill was loaded, if the run or its grader says so.
    pub skill_loaded: Option<bool>,
    /// What it used, if it was asked.
    pub used: Option<Box<UsedByRun>>,
    /// What is known beside its rows of a run whose verdicts were stored.
    pub stored: Option<Box<StoredFacts>>,
}

impl GradedRun {
    /// Whether the run enters rates: the one definition of it.
    pub fn is_scorable(&self) -> bool {
        self.unscored_reasons.is_empty()
    }

    /// Whether the run has no rates at all: what could be graded of it would be a part that looks like the whole.
    pub fn has_no_rates(&self) -> bool {
        self.unscored_reasons
            .iter()
            .any(|reason| matches!(reason, UnscoredReason::OutputTooLarge | UnscoredReason::UnsupportedAssertion))
    }

    /// Whether some check could not be observed or finished, or waits for a judge.
    pub fn availability(&self) -> Availability {
        if self.deferred.is_empty() && self.blocked_rows().next().is_none() {
            Availability::Complete
        } else {
            Availability::Partial
        }
    }

    /// The share of passed checks when those without a verdict count as failed, for stored verdicts.
    pub fn strict_pass_rate(&self) -> Option<f64> {
        let undecided = self.stored.as_ref().map_or(0, |facts| facts.undecided);
        let Rate { passed, total } = self.tally.objective;
        Rate { passed, total: total + undecided }.value(false)
    }

    /// The rows whose evidence was not there.
    pub fn blocked_rows(&self) -> impl Iterator<Item = &AssertionRow> {
        self.rows().filter(|row| row.availability != Availability::Complete && !row.is_skipped())
    }

    /// The rows without evidence that decide what a lift compares: those of the pass rate that both arms can satisfy,
    /// and those that such a row waits for. They fail, or do not count: they say the same whatever the agent did.
    pub fn unobserved_rows(&self) -> impl Iterator<Item = &AssertionRow> {
        self.objective.iter().filter(|row| {
            let is_compared = row.severity != Severity::Soft && row.one_arm.is_none();
            row.availability == Availability::Missing && (is_compared || row.is_awaited) && !row.is_skipped()
        })
    }

    /// The rows that decide the pass rate and that only one arm of a lift can satisfy.
    pub fn one_arm_rows(&self) -> impl Iterator<Item = &AssertionRow> {
        // a judgement decides it by its veto
        let critical = self.qualitative.iter().filter(|row| row.severity == Severity::Critical);
        self.objective
            .iter()
            .filter(|row| row.severity != Severity::Soft)
            .chain(critical)
            .filter(|row| row.one_arm.is_some() && matches!(row.outcome, Outcome::Pass | Outcome::Fail))
    }

    /// All rows: objective ones, then judgements.
    pub fn rows(&self) -> impl Iterator<Item = &AssertionRow> {
        self.objective.iter().chain(&self.qualitative)
    }
}

/// What is in memory while a run is graded, for what is made of it beside its rows.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// The metadata object of the row.
    pub metadata: Metadata<'a>,
    /// The answer that was graded; with scripted turns perhaps that of the last one.
    pub answer: Option<&'a str>,
    /// The answer as the run directory has it.
    pub output: &'a Output,
    /// One entry a declared turn.
    pub turns: &'a [TurnEvidence],
}

/// Grades a run. `consume` gets the graded run and what it was made of.
///
/// # Errors
/// A verdict that does not fit the assertion it is about.
pub fn grade_run<T>(
    subject: Subject<'_>,
    evidence: RunEvidence,
    options: &GradeOptions,
    consume: impl FnOnce(GradedRun, RunView<'_>) -> T,
) -> Result<T, JudgeResultsError> {
    let RunEvidence { mut directory, output, sidecars, mut turns, artifact_set } = evidence;
    let parsed = sidecars.parse(&mut directory);
    let metadata_warnings = sidecar_warnings(&parsed, &mut directory);
    let too_large = output.is_too_large() || turns.iter().any(|turn| turn.output.is_too_large());
    let last_turn = if output == Output::Missing { answer_of_turns(&turns, &subject.slot.path) } else { None };
    let answer = output.text().or(last_turn.as_ref().map(|(text, _)| text.as_str()));
    let missing_output = answer.is_none() && !too_large;

    let mut execution = parsed.execution(answer);
    if !matches!(artifact_set, ArtifactSet::LegacyUndeclared | ArtifactSet::Complete) {
        execution.reasons.push(UnscoredReason::IncompleteArtifactSet);
    }
    let execution_valid = execution.reasons.is_empty();
    let mut unscored_reasons = execution.reasons;
    if missing_output {
        let exists = subject.slot.exists();
        unscored_reasons.push(if exists { UnscoredReason::MissingOutput } else { UnscoredReason::MissingRun });
    }
    if too_large {
        unscored_reasons.push(UnscoredReason::OutputTooLarge);
    }

    let recorded_model = parsed.row_text("model");
    let model_folder =
        subject.slot.model_directory.as_deref().map(|name| model_of_directory(name, recorded_model.as_deref()));
    let mut grading = Grading::new(subject, options, model_folder.as_deref(), unscored_reasons.is_empty());
    let answer_path = last_turn.as_ref().map_or(output.path(), |(_, path)| path);
    grading.case_assertions(&Answer::new(answer.unwrap_or_default()), answer_path, &mut directory)?;
    grading.turn_assertions(&mut turns, &mut directory)?;
    grading.skip_dependents();
    let Grading { objective, qualitative, deferred, .. } = grading;
    if objective.iter().any(|row| row.outcome == Outcome::Unsupported) {
        unscored_reasons.push(UnscoredReason::UnsupportedAssertion);
    }
    unscored_reasons.sort_unstable();

    let tally = RunTally::of(&objective, &qualitative, subject.case.reference_floor);
    let turn_tallies = turns
        .iter()
        .enumerate()
        .map(|(index, turn)| turn_tally(index + 1, turn.output.text().is_none(), objective.iter().chain(&qualitative)));
    let turn_tallies = turn_tallies.collect();
    let empty_output = answer.is_some_and(|text| python::strip(text).is_empty());
    let has_model_folder = model_folder.is_some();
    let model = model_folder.map(Cow::into_owned).or_else(|| recorded_model.map(Cow::into_owned));
    let skill_loaded = directory.metrics().skill_invoked;
    let contamination = contamination(subject.suite, subject.variant, &mut directory, options.events_bytes);
    if let Some(evidence) = &contamination {
        directory.warn(WarningCode::BaselineContaminated, "", format!("a run without the skill: {evidence}"));
    }
    let mut used = options.for_analysis.then(|| Box::new(parsed.used_by_run(&mut directory, options.events_bytes)));
    let trace = if options.for_analysis && unscored_reasons.is_empty() {
        let trace = Trace::of(&mut directory, options.events_bytes);
        let events = directory.events(options.events_bytes);
        let first_usage = events.as_ref().as_ref().ok().and_then(|log| log.first_usage);
        if let (Some(used), Some(usage)) = (&mut used, first_usage) {
            used.telemetry.know_first_usage(&usage);
            used.is_in_metadata = false;
        }
        trace
    } else {
        Trace::Unread
    };
    let started_at_ms = if options.for_analysis { parsed.started_at_ms() } else { None };
    let mut digests = directory.take_digests();
    let answer_digest = answer.map(|answer| {
        let file = output.text().map(|_| format!("{}/{}", directory.relative(), output.path()));
        let known =
            digests.iter().find(|(name, _)| file.as_deref().is_some_and(|file| file.trim_start_matches('/') == name));
        // several files joined, or the answer to the last turn: the text is what there is
        known.map_or_else(|| ContentDigest::of(answer.as_bytes()), |(_, digest)| *digest)
    });
    let mut warnings = directory.take_warnings();
    for turn in turns.iter_mut().filter_map(|turn| turn.directory.as_mut()) {
        digests.append(&mut turn.take_digests());
        warnings.append(&mut turn.take_warnings());
    }
    digests.sort_by(|(a, _), (b, _)| TreeDigest::path_order(a, b));
    let graded = GradedRun {
        key: RunKey {
            case_id: subject.case.id.clone(),
            model,
            variant: subject.variant.to_owned(),
            repetition: subject.slot.repetition,
            population: Population::Answer,
        },
        case: subject.slot.case,
        variant: subject.slot.variant,
        path: subject.slot.path.clone(),
        has_model_folder,
        missing_output,
        empty_output,
        vacuous: empty_output && is_vacuous(&objective),
        execution_valid,
        unscored_reasons,
        objective,
        qualitative,
        deferred,
        turns: turn_tallies,
        tally,
        metadata_warnings,
        ending: match parsed.row() {
            Metadata::Object(object) => Ending::of(object),
            Metadata::Empty | Metadata::Unreadable(_) => Ending::default(),
        },
        started_at_ms,
        answer_digest,
        trace,
        digests,
        warnings,
        contamination,
        skill_loaded,
        used,
        stored: None,
    };
    Ok(consume(graded, RunView { metadata: parsed.row(), answer, output: &output, turns: &turns }))
}

/// The answer to the last turn when every declared turn was answered. An earlier turn is never promoted to a final
/// answer.
///
/// With the file that it stands in, relative to the run directory `run`.
fn answer_of_turns(turns: &[TurnEvidence], run: &str) -> Option<(String, String)> {
    let complete = turns.iter().all(|turn| turn.output.text().is_some());
    let last = turns.last().filter(|_| complete)?;
    let folder = last.directory.as_ref().and_then(|directory| directory.relative().strip_prefix(run));
    let folder = folder.unwrap_or_default().trim_start_matches('/');
    Some((last.output.text()?.to_owned(), format!("{folder}/{}", last.output.path())))
}

fn sidecar_warnings(parsed: &ParsedSidecars<'_>, directory: &mut RunDirectory) -> Vec<String> {
    let conflicts = parsed.conflicts();
    let mut warnings = Vec::new();
    if !conflicts.is_empty() {
        let message = format!("conflicting run sidecars: {}", conflicts.join(", "));
        directory.warn(WarningCode::SidecarConflict, "", message.clone());
        warnings.push(message);
    }
    if parsed.has_time_limit() {
        let message = "`timeout` is a number: read as a configured limit, not as a failure".to_owned();
        directory.warn(WarningCode::TimeoutIsALimit, "", message.clone());
        warnings.push(message);
    }
    warnings
}

/// Whether all that passed is the absence of something.
fn is_vacuous(rows: &[AssertionRow]) -> bool {
    use AssertionType::{CommandNotRan, ExcludesAny, NoWriteOf, NotContains, NotRegex};
    let mut passed = rows.iter().filter(|row| row.outcome == Outcome::Pass).peekable();
    passed.peek().is_some()
        && passed
            .all(|row| matches!(row.assertion_type, ExcludesAny | NotRegex | CommandNotRan | NotContains | NoWriteOf))
}
