//! One stored run as a graded run.

use std::borrow::Cow;
use std::collections::BTreeSet;

use skill_lift_contract::{ContentDigest, Population, RunKey, UnscoredReason};

use super::facts::{RunFlag, StoredFacts};
use super::regrade::{RegradeEvidence, regrade};
use crate::grade::run::GradedRun;
use crate::grade::tally::RunTally;
use crate::grade::trajectory::Trace;
use crate::runs::skill_eval::{GraderState, RunRecord};
use crate::runs::workspace::{
    EvalDirectory, GradingFile, Passed, StatedRate, StoredGrading, StoredRun, StoredVerdict, WorkspaceKind,
};
use crate::runs::{Configuration, Ending, Role, RunWarning, WarningCode};
use crate::suite::Case;

/// The run that is graded.
#[derive(Debug, Clone, Copy)]
pub struct StoredSubject<'a> {
    /// The tool that laid the tree out.
    pub kind: WorkspaceKind,
    /// Its case.
    pub case: &'a Case,
    /// Position of the case in the report.
    pub case_position: usize,
    /// The eval as the tree has it.
    pub eval: &'a EvalDirectory,
    /// The arm as the tree names it.
    pub configuration: &'a Configuration,
    /// Position of the arm in the selection.
    pub variant_position: usize,
    /// The model of the tree, where an arm names none.
    pub model: Option<&'a str>,
    /// Code points of the evidence of one check.
    pub evidence_characters: usize,
    /// Whether a run is unscored when its grader left assertions out.
    pub strict_evidence: bool,
}

/// Makes a graded run of a stored one.
///
/// With `evidence` its verdicts are compared with what the checks find that need no judge.
pub fn grade_stored(
    subject: StoredSubject<'_>,
    run: StoredRun,
    mut digests: Vec<(String, ContentDigest)>,
    mut warnings: Vec<RunWarning>,
    evidence: Option<RegradeEvidence<'_>>,
) -> GradedRun {
    let StoredSubject { case, configuration, .. } = subject;
    let mut reasons = reasons_of_end(&run, subject.strict_evidence);
    let mut facts = StoredFacts {
        layout: run.layout,
        configuration: configuration.written.clone(),
        trial: run.trial,
        grading_file: run.grading_file.clone(),
        flags: BTreeSet::new(),
        undecided: 0,
        missing_assertions: Vec::new(),
        unknown_assertions: 0,
        weighted: None,
        stated_rate: StatedRate::Absent,
        timing: run.timing,
        characters: run.characters,
        notes: Vec::new(),
        skill_loaded: None,
        is_exported: false,
        regraded: Vec::new(),
    };
    let cost_usd = run.record.as_ref().and_then(|record| record.metrics.total_cost_usd);
    facts.flag_timing(subject.kind, run.timing_file);
    if let Some(GraderState::IncompleteVerdicts { missing }) = run.record.as_ref().map(|record| &record.reading.state) {
        facts.flags.insert(RunFlag::IncompleteVerdicts);
        let ids: Vec<String> = missing.iter().map(usize::to_string).collect();
        warnings.push(RunWarning {
            code: WarningCode::IncompleteVerdicts,
            path: run.directory.clone(),
            message: format!("the grader left out assertion {}; it counts as failed", ids.join(", ")),
        });
    }
    let file = run.grading_file.as_deref().unwrap_or_default();
    let mut warn = |code: WarningCode, message: String| {
        let path = if file.is_empty() { run.directory.clone() } else { file.to_owned() };
        warnings.push(RunWarning { code, path, message });
    };
    if let (Some(mut evidence), GradingFile::Read(grading)) = (evidence, &run.grading) {
        let verdicts = grading.verdicts.as_deref().unwrap_or_default();
        facts.regraded = regrade(case, configuration.variant(), verdicts, &mut evidence);
        digests.extend(evidence.directory.take_digests());
    }
    let mut rows = Vec::new();
    let mut contamination = None;
    let mut ending = Ending::default();
    match run.grading {
        // the runner writes both files when a run ends, and none before
        GradingFile::Missing if subject.kind == WorkspaceKind::SkillEval && run.record.is_none() => {
            reasons.push(UnscoredReason::MissingRun);
        }
        GradingFile::Missing => reasons.push(UnscoredReason::MissingGrading),
        GradingFile::Unreadable(_) => reasons.push(UnscoredReason::UnreadableGrading),
        GradingFile::Read(grading) => {
            if let Some(message) = misfiled(&subject, &grading) {
                warn(WarningCode::MisfiledGrading, message);
                reasons.push(UnscoredReason::MisfiledGrading);
            }
            // the executor/grader runner lists every assertion as failed where no grader came to an end
            let graded =
                run.record.is_none() || reasons.iter().all(|reason| *reason == UnscoredReason::IncompleteVerdicts);
            match &grading.verdicts {
                Some(verdicts) if graded => {
                    let strict = run.record.as_ref().filter(|_| subject.strict_evidence);
                    let verdicts = strict.map_or(Cow::Borrowed(verdicts.as_slice()), |record| {
                        Cow::Owned(strict_verdicts(verdicts, record))
                    });
                    let verdicts = &*verdicts;
                    rows = facts.take_verdicts(&subject, verdicts, file);
                    facts.compare_with_stated(&subject, &grading, &mut warn);
                    reasons.extend(reasons_of_verdicts(&subject, verdicts, &mut warn));
                }
                Some(_) => {}
                None => {
                    warn(WarningCode::NoVerdictList, "holds no list of verdicts".to_owned());
                    reasons.push(UnscoredReason::NoVerdicts);
                }
            }
            if let Some(mark) = &grading.mark {
                facts.is_exported = true;
                ending.effort = mark.effort.clone();
            }
            facts.take_remarks(configuration, *grading, &mut warn);
            if facts.skill_loaded == Some(true) && configuration.role == Role::Control {
                let evidence = "the grader says that the skill was loaded".to_owned();
                warn(WarningCode::BaselineContaminated, format!("a run without the skill: {evidence}"));
                contamination = Some(evidence);
            }
        }
    }
    reasons.sort_unstable();
    reasons.dedup();
    let tally = RunTally::of(&rows, &[], None);
    GradedRun {
        key: RunKey {
            case_id: case.id.clone(),
            model: configuration.model.clone().or_else(|| subject.model.map(str::to_owned)),
            variant: configuration.variant().to_owned(),
            repetition: run.repetition,
            population: Population::Answer,
        },
        case: subject.case_position,
        variant: subject.variant_position,
        path: run.directory,
        has_model_folder: false,
        missing_output: false,
        empty_output: false,
        vacuous: false,
        execution_valid: !reasons.iter().any(|reason| is_execution_failure(*reason)),
        unscored_reasons: reasons,
        objective: rows,
        qualitative: Vec::new(),
        deferred: Vec::new(),
        turns: Vec::new(),
        tally,
        metadata_warnings: Vec::new(),
        ending,
        started_at_ms: facts.timing.started_at_ms,
        answer_digest: None,
        trace: Trace::Unread,
        digests,
        warnings,
        contamination,
        skill_loaded: facts.skill_loaded,
        used: Some(Box::new(facts.used(cost_usd))),
        stored: Some(Box::new(facts)),
    }
}

/// Why the run or its grader did not come to an end, as far as files beside the verdicts say.
fn reasons_of_end(run: &StoredRun, strict: bool) -> Vec<UnscoredReason> {
    let mut reasons = Vec::new();
    if run.timing.timed_out {
        reasons.push(UnscoredReason::TimedOut);
    }
    if run.crashed {
        reasons.push(UnscoredReason::ExecutorError);
    }
    reasons.extend(
        run.record.as_ref().and_then(
            |record| {
                if strict { record.strict_unscored_reason() } else { record.unscored_reason() }
            },
        ),
    );
    reasons
}

fn is_execution_failure(reason: UnscoredReason) -> bool {
    matches!(reason, UnscoredReason::TimedOut | UnscoredReason::ExecutorError | UnscoredReason::RunnerError)
}

/// The verdicts as the grader's own answer has them, where it has one for every assertion: what the runner did not accept
/// as an id, it stored as failed.
fn strict_verdicts(verdicts: &[StoredVerdict], record: &RunRecord) -> Vec<StoredVerdict> {
    let found = &record.reading.verdicts;
    if found.len() != verdicts.len() {
        return verdicts.to_vec();
    }
    let strict = verdicts.iter().zip(found).map(|(verdict, found)| {
        let passed = found.as_ref().map_or(verdict.passed, |found| if found.passed { Passed::Yes } else { Passed::No });
        StoredVerdict { passed, ..verdict.clone() }
    });
    strict.collect()
}

/// What a file says of its case and arm that its folder contradicts.
fn misfiled(subject: &StoredSubject<'_>, grading: &StoredGrading) -> Option<String> {
    let plain = |id: &str| id.strip_prefix("eval-").unwrap_or(id).to_owned();
    if let Some(id) = &grading.eval_id {
        let named = subject.eval.metadata.as_ref().and_then(|metadata| metadata.name.as_ref());
        let known: Vec<&String> =
            [subject.eval.eval_id.as_ref(), named, Some(&subject.eval.name)].into_iter().flatten().collect();
        let has_id = subject.eval.eval_id.is_some();
        let agrees = known.iter().any(|name| plain(name) == plain(id));
        if has_id && !agrees {
            return Some(format!("it names the eval {id}, its folder is {}", subject.eval.name));
        }
    }
    let stated = Configuration::parse(grading.configuration.as_deref()?);
    let own = &subject.configuration;
    let other_model = stated.model.as_ref().zip(own.model.as_ref()).is_some_and(|(stated, own)| stated != own);
    let contradicts = stated.role != Role::Other && (stated.role != own.role || other_model);
    let folder = &own.written;
    contradicts.then(|| format!("it names the arm {}, its folder is {folder}", stated.written))
}

/// Why the verdicts of a run give no score.
fn reasons_of_verdicts(
    subject: &StoredSubject<'_>,
    verdicts: &[StoredVerdict],
    warn: &mut dyn FnMut(WarningCode, String),
) -> Option<UnscoredReason> {
    if let Some(unreadable) = verdicts.iter().find(|verdict| verdict.passed == Passed::Unreadable) {
        let message = format!("{}: `passed` is neither true, false nor null", unreadable.pointer);
        warn(WarningCode::UnreadableVerdict, message);
        // the forge pipeline takes everything that is neither true nor false for undecided
        if subject.kind != WorkspaceKind::SkillForge {
            return Some(UnscoredReason::UnreadableVerdict);
        }
    }
    if verdicts.is_empty() && subject.kind == WorkspaceKind::SkillEval {
        return Some(UnscoredReason::NoAssertions);
    }
    let decided = verdicts.iter().any(|verdict| matches!(verdict.passed, Passed::Yes | Passed::No));
    (!decided).then_some(UnscoredReason::NoVerdicts)
}
