//! Grading one run: which checks apply, in which order, and what becomes of dependent ones.

use std::collections::HashMap;

use skill_lift_contract::artifact_commit::ArtifactSet;
use skill_lift_contract::run_key::model_of_directory;
use skill_lift_contract::{ContentDigest, Population, RunKey, UnscoredReason};
use skill_lift_text::python;

use super::answer::Answer;
use super::checks::{self, Evidence, Finding};
use super::outcome::{AssertionRow, Availability, Outcome, capped_evidence};
use super::tally::{RunTally, TurnTally, turn_tally};
use crate::json::Node;
use crate::runs::sidecar::ParsedSidecars;
use crate::runs::{Output, RunDirectory, RunEvidence, RunSlot, RunWarning, TurnEvidence, WarningCode};
use crate::suite::{Assertion, AssertionType, Case, OracleTier, Severity, TypeGroup};

/// How runs are graded.
#[derive(Debug, Clone, Copy)]
pub struct GradeOptions {
    /// Soft checks count like gates.
    pub strict: bool,
    /// Bytes of a file that a check may read.
    pub artifact_bytes: u64,
}

/// The run that is graded.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its case.
    pub case: &'a Case,
    /// Its arm.
    pub variant: &'a str,
    /// Its place in the tree.
    pub slot: &'a RunSlot,
}

/// A judgement that was not supplied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeferredJudgement {
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

/// Grades a run. `consume` gets the graded run and the metadata object of its row.
pub fn grade_run<T>(
    subject: Subject<'_>,
    evidence: RunEvidence,
    options: &GradeOptions,
    consume: impl FnOnce(GradedRun, &Node<'_>) -> T,
) -> T {
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

    let mut grading = Grading::new(subject, options, unscored_reasons.is_empty());
    grading.case_assertions(&Answer::new(answer.unwrap_or_default()), &mut directory);
    grading.turn_assertions(&mut turns, &mut directory);
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
    let recorded_model = parsed.row_text("model");
    let model = match &subject.slot.model_directory {
        Some(name) => Some(model_of_directory(name, recorded_model).into_owned()),
        None => recorded_model.map(str::to_owned),
    };
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
    consume(graded, &parsed.row)
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
    /// Whether judgements are asked for: not for a run that is not scored.
    judged: bool,
    objective: Vec<AssertionRow>,
    qualitative: Vec<AssertionRow>,
    deferred: Vec<DeferredJudgement>,
    /// Where the rows of the case's own assertions are, by label; of equal labels the last one counts.
    by_label: HashMap<&'a str, (Channel, usize)>,
}

#[derive(Debug, Clone, Copy)]
enum Channel {
    Objective,
    Qualitative,
}

impl<'a> Grading<'a> {
    fn new(subject: Subject<'a>, options: &'a GradeOptions, judged: bool) -> Self {
        Self {
            subject,
            options,
            judged,
            objective: Vec::new(),
            qualitative: Vec::new(),
            deferred: Vec::new(),
            by_label: HashMap::new(),
        }
    }

    fn case_assertions(&mut self, answer: &Answer<'_>, directory: &mut RunDirectory) {
        let case = self.subject.case;
        // what is known not to hold spares the evaluation of what depends on it
        let mut unsatisfied: Vec<&'a str> = Vec::new();
        for assertion in case.assertions.iter().filter(|a| a.variants.includes(self.subject.variant)) {
            let failed = assertion.depends_on.iter().find(|target| unsatisfied.contains(&target.as_str()));
            let at = match failed {
                Some(target) => self.push_skipped(assertion, target),
                None => self.grade(assertion, None, answer, directory),
            };
            // an assertion with the same label replaces what was known of the earlier one
            unsatisfied.retain(|label| *label != assertion.label);
            if let Some(at) = at {
                if matches!(self.row(at).outcome, Outcome::Fail | Outcome::Skipped { .. }) {
                    unsatisfied.push(&assertion.label);
                }
                self.by_label.insert(&assertion.label, at);
            }
        }
    }

    fn turn_assertions(&mut self, turns: &mut [TurnEvidence], directory: &mut RunDirectory) {
        let case = self.subject.case;
        for (index, (turn, evidence)) in case.turns.iter().zip(turns).enumerate() {
            let TurnEvidence { directory: own, output } = evidence;
            let answer = Answer::new(output.text().unwrap_or_default());
            let directory = own.as_mut().unwrap_or(directory);
            for assertion in turn.assertions.iter().filter(|a| a.variants.includes(self.subject.variant)) {
                self.grade(assertion, Some(index + 1), &answer, directory);
            }
        }
    }

    fn grade(
        &mut self,
        assertion: &Assertion,
        turn: Option<usize>,
        answer: &Answer<'_>,
        directory: &mut RunDirectory,
    ) -> Option<(Channel, usize)> {
        let name = match turn {
            Some(turn) => format!("turn-{turn}: {}", assertion.label),
            None => assertion.label.clone(),
        };
        if assertion.assertion_type.group() == TypeGroup::Qualitative {
            if self.judged {
                self.deferred.push(DeferredJudgement {
                    label: name,
                    assertion_type: assertion.assertion_type,
                    severity: self.severity(assertion),
                    oracle: assertion.oracle,
                    turn,
                });
            }
            return None;
        }
        let mut evidence = Evidence { answer, directory, artifact_bytes: self.options.artifact_bytes };
        let Finding { outcome, evidence, comparison, normalization, availability } =
            checks::evaluate(&assertion.check, &mut evidence);
        let score = outcome.passed().map(|passed| if passed { 1.0 } else { 0.0 });
        Some(self.push(AssertionRow {
            name,
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
        }))
    }

    fn push_skipped(&mut self, assertion: &Assertion, target: &str) -> Option<(Channel, usize)> {
        let reason = format!("prerequisite '{target}' not satisfied");
        Some(self.push(AssertionRow {
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
        }))
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
                let Some(&at) = self.by_label.get(assertion.label.as_str()) else {
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
