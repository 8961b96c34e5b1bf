//! The rows of one run: which assertions apply, in which order they are decided, and what becomes of dependent ones.

use std::collections::HashMap;

use super::answer::Answer;
use super::checks::{self, Evidence, Finding};
use super::outcome::{AssertionRow, Availability, Judgement, Outcome, UndecidedReason, capped_evidence};
use super::places::{Details, NearestMiss, Passage, Places};
use super::run::{DeferredJudgement, GradeOptions, Subject, Unobserved};
use crate::json::Node;
use crate::judge::{JudgeResultsError, merge, task_id};
use crate::runs::{RunDirectory, TurnEvidence};
use crate::suite::{Assertion, Check, Severity, TypeGroup};

/// The rows of one run while they are made.
pub(super) struct Grading<'a> {
    subject: Subject<'a>,
    options: &'a GradeOptions,
    /// The model that a folder of the tree names.
    model_folder: Option<&'a str>,
    /// Whether judgements are asked for: not for a run that is not scored.
    judged: bool,
    pub(super) objective: Vec<AssertionRow>,
    pub(super) qualitative: Vec<AssertionRow>,
    pub(super) deferred: Vec<DeferredJudgement>,
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
    pub(super) fn new(
        subject: Subject<'a>,
        options: &'a GradeOptions,
        model_folder: Option<&'a str>,
        judged: bool,
    ) -> Self {
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

    pub(super) fn case_assertions(
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
                (None, Check::Judgement { assertion: node }) => {
                    self.judge(Asked { assertion, node, position, turn: None })?
                }
                (None, _) => Some(self.grade(assertion, None, answer, output_path, directory)),
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
        Ok(())
    }

    pub(super) fn turn_assertions(
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
            evidence: capped_evidence(judged.evidence, self.options.evidence_characters),
            score: judged.score,
            severity,
            oracle: assertion.oracle,
            turn,
            one_arm: assertion.one_arm,
            is_awaited: assertion.is_awaited,
            comparison: None,
            normalization: None,
            availability: Availability::Complete,
            autojunk_fired: false,
            judgement: Some(Judgement { task_id, detail: judged.detail }),
            details: Details::default(),
            recorded: None,
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
        let (suite, options) = (self.subject.suite, self.options);
        let mut evidence = Evidence { answer, directory: &mut *directory, output_path, suite, options };
        let mut finding = checks::evaluate(&assertion.check, &mut evidence);
        if let (Some(score), Some(at_least)) = (finding.score, assertion.at_least) {
            finding.require_at_least(score, at_least);
        }
        let Finding {
            outcome,
            evidence,
            score,
            comparison,
            normalization,
            availability,
            autojunk_fired,
            found,
            nearest_miss,
            compared,
        } = finding;
        let places =
            if found.count > 0 { Places::of(&found, answer, &self.file(directory, output_path)) } else { None };
        let nearest_miss = nearest_miss.map(|(kind, range)| NearestMiss { kind, passage: Passage::at(answer, &range) });
        let details = Details { places: places.map(Box::new), nearest_miss: nearest_miss.map(Box::new), compared };
        let outcome = match (outcome, self.options.unobserved) {
            // absence of evidence must not turn a gate green
            (Outcome::Undecided(UndecidedReason::Unobserved), Unobserved::Fail) => Outcome::Fail,
            (outcome, _) => outcome,
        };
        let score = score.or_else(|| outcome.passed().map(|passed| if passed { 1.0 } else { 0.0 }));
        self.push(AssertionRow {
            name: row_name(assertion, turn),
            assertion_type: assertion.assertion_type,
            outcome,
            evidence: capped_evidence(evidence, self.options.evidence_characters),
            score,
            severity: self.severity(assertion),
            oracle: assertion.oracle,
            turn,
            one_arm: assertion.one_arm,
            is_awaited: assertion.is_awaited,
            comparison,
            normalization,
            availability,
            autojunk_fired,
            judgement: None,
            details,
            recorded: None,
        })
    }

    /// The file of an answer, relative to the run directory.
    fn file(&self, directory: &RunDirectory, output_path: &str) -> String {
        let below = directory.relative().strip_prefix(&self.subject.slot.path).unwrap_or_default();
        match below.trim_start_matches('/') {
            "" => output_path.to_owned(),
            turn => format!("{turn}/{output_path}"),
        }
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
            one_arm: assertion.one_arm,
            is_awaited: assertion.is_awaited,
            comparison: None,
            normalization: None,
            availability: Availability::Complete,
            autojunk_fired: false,
            judgement: None,
            details: Details::default(),
            recorded: None,
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
    pub(super) fn skip_dependents(&mut self) {
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
                        Outcome::Undecided(_) | Outcome::Error(_) | Outcome::Unsupported => "unresolved",
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
