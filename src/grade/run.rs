//! Grading one run: which checks apply, in which order, and what becomes of dependent ones.

use std::borrow::Cow;
use std::collections::HashMap;

use skill_lift_contract::artifact_commit::ArtifactSet;
use skill_lift_contract::run_key::model_of_directory;
use skill_lift_contract::{ContentDigest, Population, RunKey, UnscoredReason};
use skill_lift_text::python;

use super::answer::Answer;
use super::checks::{self, Evidence, Finding};
use super::outcome::{AssertionRow, Availability, Judgement, Outcome, capped_evidence};
use super::tally::{RunTally, TurnTally, turn_tally};
use crate::json::Node;
use crate::judge::{JudgeResultsError, Verdicts, merge, task_id};
use crate::runs::sidecar::ParsedSidecars;
use crate::runs::{Output, RunDirectory, RunEvidence, RunSlot, RunWarning, TurnEvidence, WarningCode};
use crate::suite::{Assertion, AssertionType, Case, Check, OracleTier, Severity, Suite, TypeGroup};

/// How runs are graded.
#[derive(Debug, Clone)]
pub struct GradeOptions {
    /// Soft checks count like gates.
    pub strict: bool,
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
}

impl Default for GradeOptions {
    fn default() -> Self {
        Self {
            strict: false,
            artifact_bytes: 64 << 20,
            events_bytes: 64 << 20,
            allow_scripts: false,
            allow_external_files: false,
            pass_environment: Vec::new(),
            script_output_bytes: 256 << 10,
            embed_command: None,
            similarity_characters: 200_000,
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
    /// Effort setting of the model, if it is recorded.
    pub effort: Option<String>,
    /// Files that were read.
    pub digests: Vec<(String, ContentDigest)>,
    /// Oddities of the run directory.
    pub warnings: Vec<RunWarning>,
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

    /// The rows whose evidence was not there.
    pub fn blocked_rows(&self) -> impl Iterator<Item = &AssertionRow> {
        self.rows().filter(|row| row.availability == Availability::Partial && !row.is_skipped())
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
    pub metadata: &'a Node<'a>,
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
    let last_turn = if output == Output::Missing { answer_of_turns(&turns) } else { None };
    let answer = output.text().or(last_turn.as_deref());
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
    let model_folder = subject.slot.model_directory.as_deref().map(|name| model_of_directory(name, recorded_model));
    let mut grading = Grading::new(subject, options, model_folder.as_deref(), unscored_reasons.is_empty());
    grading.case_assertions(&Answer::new(answer.unwrap_or_default()), output.path(), &mut directory)?;
    grading.turn_assertions(&mut turns, &mut directory)?;
    grading.skip_dependents();
    let Grading { objective, qualitative, deferred, .. } = grading;
    if objective.iter().any(|row| row.outcome == Outcome::Unsupported) {
        unscored_reasons.push(UnscoredReason::UnsupportedAssertion);
    }
    unscored_reasons.sort_unstable();

    let tally = RunTally::of(&objective, &qualitative, subject.case.reference_floor);
    let turn_tallies = turns.iter().enumerate().map(|(index, turn)| {
        turn_tally(index + 1, turn.output.text().is_none(), objective.iter().chain(&qualitative))
    });
    let turn_tallies = turn_tallies.collect();
    let empty_output = answer.is_some_and(|text| python::strip(text).is_empty());
    let has_model_folder = model_folder.is_some();
    let model = model_folder.map(Cow::into_owned).or_else(|| recorded_model.map(str::to_owned));
    let mut digests = directory.take_digests();
    let mut warnings = directory.take_warnings();
    for turn in turns.iter_mut().filter_map(|turn| turn.directory.as_mut()) {
        digests.append(&mut turn.take_digests());
        warnings.append(&mut turn.take_warnings());
    }
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
        effort: parsed.row_text("effort").map(str::to_owned),
        digests,
        warnings,
    };
    Ok(consume(graded, RunView { metadata: &parsed.row, answer, output: &output, turns: &turns }))
}

/// The answer to the last turn when every declared turn was answered. An earlier turn is never promoted to a final
/// answer.
fn answer_of_turns(turns: &[TurnEvidence]) -> Option<String> {
    let complete = turns.iter().all(|turn| turn.output.text().is_some());
    if complete { turns.last().and_then(|turn| turn.output.text()).map(str::to_owned) } else { None }
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
    use AssertionType::{CommandNotRan, ExcludesAny, NotRegex};
    let mut passed = rows.iter().filter(|row| row.outcome == Outcome::Pass).peekable();
    passed.peek().is_some() && passed.all(|row| matches!(row.assertion_type, ExcludesAny | NotRegex | CommandNotRan))
}

/// The rows of one run while they are made.
struct Grading<'a> {
    subject: Subject<'a>,
    options: &'a GradeOptions,
    /// The model that a folder of the tree names.
    model_folder: Option<&'a str>,
    /// Whether judgements are asked for: not for a run that is not scored.
    judged: bool,
    objective: Vec<AssertionRow>,
    qualitative: Vec<AssertionRow>,
    deferred: Vec<DeferredJudgement>,
    /// Where the rows of the case's own assertions are, by label; of equal labels the last one counts.
    by_label: HashMap<&'a str, (Channel, usize)>,
}

/// A judgement of the suite.
struct Asked<'a> {
    assertion: &'a Assertion,
    /// Its fields with the preset expanded.
    node: &'a Node<'static>,
    /// Position among the assertions of the case, or of the turn.
    position: usize,
    turn: Option<usize>,
}

fn row_name(assertion: &Assertion, turn: Option<usize>) -> String {
    match turn {
        Some(turn) => format!("turn-{turn}: {}", assertion.label),
        None => assertion.label.clone(),
    }
}

#[derive(Debug, Clone, Copy)]
enum Channel {
    Objective,
    Qualitative,
}

impl<'a> Grading<'a> {
    fn new(subject: Subject<'a>, options: &'a GradeOptions, model_folder: Option<&'a str>, judged: bool) -> Self {
        Self {
            subject,
            options,
            model_folder,
            judged,
            objective: Vec::new(),
            qualitative: Vec::new(),
            deferred: Vec::new(),
            by_label: HashMap::new(),
        }
    }

    fn case_assertions(
        &mut self,
        answer: &Answer<'_>,
        output_path: &str,
        directory: &mut RunDirectory,
    ) -> Result<(), JudgeResultsError> {
        let variant = self.subject.variant;
        // what is known not to hold spares the evaluation of what depends on it
        let mut unsatisfied: Vec<&'a str> = Vec::new();
        for (position, assertion) in self.subject.case.assertions.iter().enumerate() {
            if !assertion.variants.includes(variant) {
                continue;
            }
            let failed = assertion.depends_on.iter().find(|target| unsatisfied.contains(&target.as_str()));
            let at = match (failed, &assertion.check) {
                (Some(target), _) => Some(self.push_skipped(assertion, target)),
                (None, Check::Judgement { assertion: node }) => self.judge(Asked { assertion, node, position, turn: None })?,
                (None, _) => Some(self.grade(assertion, None, answer, output_path, directory)),
            };
            // an assertion with the same label replaces what was known of the earlier one
            unsatisfied.retain(|label| *label != assertion.written_label);
            if let Some(at) = at {
                if matches!(self.row(at).outcome, Outcome::Fail | Outcome::Skipped { .. }) {
                    unsatisfied.push(&assertion.written_label);
                }
                self.by_label.insert(&assertion.written_label, at);
            }
        }
        Ok(())
    }

    fn turn_assertions(
        &mut self,
        turns: &mut [TurnEvidence],
        directory: &mut RunDirectory,
    ) -> Result<(), JudgeResultsError> {
        let (case, variant) = (self.subject.case, self.subject.variant);
        for (index, (turn, evidence)) in case.turns.iter().zip(turns).enumerate() {
            let TurnEvidence { directory: own, output } = evidence;
            let answer = Answer::new(output.text().unwrap_or_default());
            let directory = own.as_mut().unwrap_or(directory);
            for (position, assertion) in turn.assertions.iter().enumerate() {
                let turn = Some(index + 1);
                match &assertion.check {
                    _ if !assertion.variants.includes(variant) => {}
                    Check::Judgement { assertion: node } => {
                        self.judge(Asked { assertion, node, position, turn })?;
                    }
                    _ => {
                        self.grade(assertion, turn, &answer, output.path(), directory);
                    }
                }
            }
        }
        Ok(())
    }

    /// Merges the verdict on a judgement, or notes that there is none. `None` when there is no row.
    fn judge(&mut self, asked: Asked<'_>) -> Result<Option<(Channel, usize)>, JudgeResultsError> {
        let Asked { assertion, node, position, turn } = asked;
        let name = row_name(assertion, turn);
        let task_id = self.task_id(&name);
        let stored = self.subject.verdicts.find(&task_id);
        if !self.judged {
            return Ok(None);
        }
        let severity = self.severity(assertion);
        let Some(stored) = stored.filter(|stored| !stored.is_incomplete) else {
            self.deferred.push(DeferredJudgement {
                task_id,
                position,
                label: name,
                assertion_type: assertion.assertion_type,
                severity,
                oracle: assertion.oracle,
                turn,
            });
            return Ok(None);
        };
        let judged = merge(node, stored).map_err(|problem| stored.problem(&task_id, problem))?;
        Ok(Some(self.push(AssertionRow {
            name,
            assertion_type: assertion.assertion_type,
            outcome: Outcome::from_passed(judged.passed),
            evidence: capped_evidence(judged.evidence),
            score: judged.score,
            severity,
            oracle: assertion.oracle,
            turn,
            comparison: None,
            normalization: None,
            availability: Availability::Complete,
            judgement: Some(Judgement { task_id, detail: judged.detail }),
        })))
    }

    fn task_id(&self, label: &str) -> String {
        let Subject { case, variant, slot, .. } = self.subject;
        task_id(&case.id, self.model_folder, variant, slot.repetition, label)
    }

    fn grade(
        &mut self,
        assertion: &Assertion,
        turn: Option<usize>,
        answer: &Answer<'_>,
        output_path: &str,
        directory: &mut RunDirectory,
    ) -> (Channel, usize) {
        let mut evidence =
            Evidence { answer, directory, output_path, suite: self.subject.suite, options: self.options };
        let mut finding = checks::evaluate(&assertion.check, &mut evidence);
        if let (Some(score), Some(at_least)) = (finding.score, assertion.at_least) {
            finding.require_at_least(score, at_least);
        }
        let Finding { outcome, evidence, score, comparison, normalization, availability } = finding;
        let score = score.or_else(|| outcome.passed().map(|passed| if passed { 1.0 } else { 0.0 }));
        self.push(AssertionRow {
            name: row_name(assertion, turn),
            assertion_type: assertion.assertion_type,
            outcome,
            evidence: capped_evidence(evidence),
            score,
            severity: self.severity(assertion),
            oracle: assertion.oracle,
            turn,
            comparison,
            normalization,
            availability,
            judgement: None,
        })
    }

    fn push_skipped(&mut self, assertion: &Assertion, target: &str) -> (Channel, usize) {
        if matches!(assertion.check, Check::Judgement { .. }) {
            // a verdict that is not needed is not a stray one
            self.subject.verdicts.find(&self.task_id(&assertion.label));
        }
        let reason = format!("prerequisite '{target}' not satisfied");
        self.push(AssertionRow {
            name: assertion.label.clone(),
            assertion_type: assertion.assertion_type,
            outcome: Outcome::Skipped { reason, passed: false, unevaluated: true },
            evidence: "skipped: prerequisite not satisfied".to_owned(),
            score: Some(0.0),
            severity: self.severity(assertion),
            oracle: assertion.oracle,
            turn: None,
            comparison: None,
            normalization: None,
            availability: Availability::Complete,
            judgement: None,
        })
    }

    fn severity(&self, assertion: &Assertion) -> Severity {
        match assertion.severity {
            Severity::Soft if self.options.strict => Severity::Gate,
            severity => severity,
        }
    }

    fn push(&mut self, row: AssertionRow) -> (Channel, usize) {
        let (channel, rows) = if row.assertion_type.group() == TypeGroup::Qualitative {
            (Channel::Qualitative, &mut self.qualitative)
        } else {
            (Channel::Objective, &mut self.objective)
        };
        rows.push(row);
        (channel, rows.len() - 1)
    }

    fn row(&self, (channel, index): (Channel, usize)) -> &AssertionRow {
        match channel {
            Channel::Objective => &self.objective[index],
            Channel::Qualitative => &self.qualitative[index],
        }
    }

    /// Skips every assertion whose prerequisite has a row that does not hold, until nothing changes: prerequisites may
    /// stand later in the file. A prerequisite without a row (other arm, judgement not supplied) does not block.
    fn skip_dependents(&mut self) {
        let dependents: Vec<&Assertion> =
            self.subject.case.assertions.iter().filter(|assertion| !assertion.depends_on.is_empty()).collect();
        for _ in 0..=dependents.len() {
            let mut changed = false;
            for assertion in &dependents {
                let Some(&at) = self.by_label.get(assertion.written_label.as_str()) else {
                    continue;
                };
                if self.row(at).is_skipped() {
                    continue;
                }
                let reason = assertion.depends_on.iter().find_map(|target| {
                    let word = match self.row(*self.by_label.get(target.as_str())?).outcome {
                        Outcome::Pass => return None,
                        Outcome::Fail => "failed",
                        Outcome::Skipped { .. } => "skipped",
                        Outcome::Error(_) | Outcome::Unsupported => "unresolved",
                    };
                    Some(format!("prerequisite '{target}' {word}"))
                });
                if let Some(reason) = reason {
                    let (channel, index) = at;
                    let row = match channel {
                        Channel::Objective => &mut self.objective[index],
                        Channel::Qualitative => &mut self.qualitative[index],
                    };
                    let passed = row.outcome.passed() == Some(true);
                    row.outcome = Outcome::Skipped { reason, passed, unevaluated: false };
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }
}
