//! What is known of a stored run beside its rows: what is odd about it, and what its file states that is only a claim.

use std::collections::BTreeSet;

use super::join::{JoinMethod, join};
use super::run::StoredSubject;
use crate::grade::outcome::{AssertionRow, Availability, Outcome, Recorded, UndecidedReason, capped_evidence};
use crate::grade::places::Details;
use crate::runs::workspace::{
    Layout, Measured, Passed, StatedRate, StoredGrading, StoredVerdict, Timing, TimingFile, WorkspaceKind,
};
use crate::runs::{Configuration, Role, RunTelemetry, TelemetryCoverage, UsedByRun, WarningCode};
use crate::suite::{AssertionType, Case, OracleTier, Severity};

/// Something odd about a stored run that does not unscore it. In the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunFlag {
    /// There is no file of what it took.
    MissingTiming,
    /// That file cannot be read.
    UnreadableTiming,
    /// Some assertions have no verdict.
    UngradedAssertions,
    /// The grader left assertions out.
    MissingAssertions,
    /// The grader has verdicts on assertions that the case does not have.
    UnknownAssertions,
    /// The file states no rate, or one that is no rate.
    RecordedRateInvalid,
    /// The file states a rate that its entries contradict.
    PassRateMismatch,
    /// The file states counts that its entries contradict.
    SummaryContradictsEntries,
    /// The grader left assertions out, which count as failed.
    IncompleteVerdicts,
    /// The grader says that the skill was not loaded.
    SkillNotLoaded,
    /// Somebody left a remark.
    NotedRun,
    /// Its numbers are made up.
    Simulated,
    /// Two durations of it differ.
    DurationsDiffer,
}

impl RunFlag {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingTiming => "missing_timing",
            Self::UnreadableTiming => "unreadable_timing",
            Self::UngradedAssertions => "ungraded_assertions",
            Self::MissingAssertions => "missing_assertions",
            Self::UnknownAssertions => "unknown_assertions",
            Self::RecordedRateInvalid => "recorded_rate_invalid",
            Self::PassRateMismatch => "pass_rate_mismatch",
            Self::SummaryContradictsEntries => "summary_contradicts_entries",
            Self::IncompleteVerdicts => "incomplete_verdicts",
            Self::SkillNotLoaded => "skill_not_loaded",
            Self::NotedRun => "noted_run",
            Self::Simulated => "simulated",
            Self::DurationsDiffer => "durations_differ",
        }
    }
}

/// A rate in which assertions have weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedRate {
    /// Weights of what passed.
    pub passed: f64,
    /// Weights of what passed and failed.
    pub total: f64,
}

impl WeightedRate {
    /// The rate; `None` when nothing has weight.
    pub fn value(self) -> Option<f64> {
        if self.total > 0.0 { Some(self.passed / self.total) } else { None }
    }
}

/// A stored verdict beside what the text says literally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regraded {
    /// The assertion.
    pub label: String,
    /// Its type as the check sees it.
    pub assertion_type: AssertionType,
    /// The stored verdict.
    pub recorded: Option<bool>,
    /// What the check finds; `None` when it could not look.
    pub literal: Option<bool>,
    /// What was seen.
    pub evidence: String,
    /// How the verdict was joined to the assertion.
    pub joined: JoinMethod,
}

/// What is known of a stored run beside its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredFacts {
    /// How its verdicts are laid out.
    pub layout: Layout,
    /// The arm as it is written.
    pub configuration: String,
    /// Number in the name of a trial directory.
    pub trial: Option<u32>,
    /// The file of its verdicts, below the root of the workspace.
    pub grading_file: Option<String>,
    /// What is odd about it.
    pub flags: BTreeSet<RunFlag>,
    /// Entries without a verdict, and assertions without an entry.
    pub undecided: u32,
    /// Assertions without an entry.
    pub missing_assertions: Vec<String>,
    /// Entries about assertions that the case does not have.
    pub unknown_assertions: u32,
    /// The rate with weights, where assertions have some.
    pub weighted: Option<WeightedRate>,
    /// The rate that the file states.
    pub stated_rate: StatedRate,
    /// What it took.
    pub timing: Timing,
    /// Characters that it wrote, if they were counted.
    pub characters: Option<u64>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Whether the skill was loaded, if the grader says so.
    pub skill_loaded: Option<bool>,
    /// Whether it comes from a report of ours: its entries say themselves which of them both arms can satisfy.
    pub is_exported: bool,
    /// What the checks find that need no judge, when that was asked for.
    pub regraded: Vec<Regraded>,
}

/// Share by which a stated rate may differ from that of the entries: rates are written with two decimals.
const RATE_TOLERANCE: f64 = 0.0051;

/// Tolerance of the rate that the forge pipeline writes.
const FORGE_RATE_TOLERANCE: f64 = 0.005;

impl StoredFacts {
    /// What the run used.
    pub(super) fn used(&self, cost_usd: Option<f64>) -> UsedByRun {
        let kept = |measured: &Measured| match measured {
            Measured::Value(value) => Ok(*value),
            Measured::Unavailable(reason) => Err(*reason),
        };
        let tokens = kept(&self.timing.total_tokens);
        UsedByRun {
            coverage: TelemetryCoverage { tokens: tokens.is_ok(), ..TelemetryCoverage::default() },
            telemetry: RunTelemetry::kept(tokens, kept(&self.timing.duration_ms), cost_usd),
            is_in_metadata: false,
        }
    }

    pub(super) fn flag_timing(&mut self, kind: WorkspaceKind, file: TimingFile) {
        // the executor/grader runner writes other files
        match file {
            TimingFile::Missing if kind != WorkspaceKind::SkillEval => {
                self.flags.insert(RunFlag::MissingTiming);
            }
            TimingFile::Unreadable => {
                self.flags.insert(RunFlag::UnreadableTiming);
            }
            TimingFile::Missing | TimingFile::Read => {}
        }
        if self.timing.durations_differ {
            self.flags.insert(RunFlag::DurationsDiffer);
        }
    }

    /// The rows of the verdicts, joined to the assertions of the case.
    pub(super) fn take_verdicts(
        &mut self,
        subject: &StoredSubject<'_>,
        verdicts: &[StoredVerdict],
        file: &str,
    ) -> Vec<AssertionRow> {
        let assertions = &subject.case.assertions;
        let mut joined = join(verdicts, assertions);
        let is_forge = subject.kind == WorkspaceKind::SkillForge;
        // the name is the key of this pipeline: another name is another assertion, wherever it stands
        if is_forge {
            joined.iter_mut().for_each(|slot| *slot = slot.filter(|(_, method)| *method != JoinMethod::Position));
        }
        let rows: Vec<AssertionRow> =
            verdicts.iter().zip(&joined).map(|(verdict, joined)| row(subject, verdict, *joined, file)).collect();
        let mut found = vec![false; assertions.len()];
        for (position, _) in joined.iter().flatten() {
            found[*position] = true;
        }
        let missing = assertions.iter().zip(&found).filter(|(_, found)| !**found);
        self.missing_assertions = missing.map(|(assertion, _)| assertion.label.clone()).collect();
        if !assertions.is_empty() {
            self.unknown_assertions = count(joined.iter().filter(|joined| joined.is_none()).count());
        }
        let is_absent = |passed: Passed| passed == Passed::Absent || is_forge && passed == Passed::Unreadable;
        let absent = verdicts.iter().filter(|verdict| is_absent(verdict.passed)).count();
        self.undecided = count(absent);
        // where graders reword, an assertion without an entry is most likely one whose entry was not recognised
        if is_forge {
            self.undecided += count(self.missing_assertions.len());
        }
        let flags = [
            (self.undecided > 0, RunFlag::UngradedAssertions),
            (!self.missing_assertions.is_empty(), RunFlag::MissingAssertions),
            (self.unknown_assertions > 0, RunFlag::UnknownAssertions),
        ];
        self.flags.extend(flags.into_iter().filter(|(applies, _)| *applies).map(|(_, flag)| flag));
        self.weighted = weighted(subject.case, verdicts, &joined);
        rows
    }

    pub(super) fn compare_with_stated(
        &mut self,
        subject: &StoredSubject<'_>,
        grading: &StoredGrading,
        warn: &mut dyn FnMut(WarningCode, String),
    ) {
        let entries: Vec<&StoredVerdict> =
            grading.verdicts.iter().flatten().filter(|entry| entry.mark.counts()).collect();
        let passed = entries.iter().filter(|entry| entry.passed == Passed::Yes).count() as u64;
        let failed = entries.iter().filter(|entry| entry.passed == Passed::No).count() as u64;
        let vetoed =
            entries.iter().any(|entry| entry.passed == Passed::No && entry.mark.severity == Severity::Critical);
        let (decided, all) = (passed + failed, passed + failed + u64::from(self.undecided));
        let stated = &grading.stated;
        self.stated_rate = stated.rate;
        let is_forge = subject.kind == WorkspaceKind::SkillForge;
        match stated.rate {
            StatedRate::Share(share) => {
                let of = |total: u64| if total == 0 || vetoed { 0.0 } else { passed as f64 / total as f64 };
                let tolerance = if is_forge { FORGE_RATE_TOLERANCE } else { RATE_TOLERANCE };
                let differs = [decided, all].iter().all(|total| (share - of(*total)).abs() > tolerance);
                if differs {
                    self.flags.insert(if is_forge {
                        RunFlag::PassRateMismatch
                    } else {
                        RunFlag::SummaryContradictsEntries
                    });
                }
            }
            StatedRate::Absent if is_forge => {
                self.flags.insert(RunFlag::RecordedRateInvalid);
            }
            StatedRate::Invalid => {
                self.flags.insert(RunFlag::RecordedRateInvalid);
            }
            StatedRate::Absent => {}
        }
        let total_differs = stated.total.is_some_and(|total| total != entries.len() as u64 && total != decided);
        if stated.passed.is_some_and(|stated| stated != passed) || total_differs {
            self.flags.insert(RunFlag::SummaryContradictsEntries);
        }
        if self.flags.contains(&RunFlag::SummaryContradictsEntries) {
            let stated = match (stated.passed, stated.total, stated.rate) {
                (Some(passed), Some(total), _) => format!("{passed} of {total}"),
                (_, _, StatedRate::Share(share)) => format!("a rate of {share}"),
                _ => "other counts".to_owned(),
            };
            warn(
                WarningCode::SummaryContradictsEntries,
                format!("it states {stated} passed, its entries say {passed} of {}; the entries count", entries.len()),
            );
        }
    }

    pub(super) fn take_remarks(
        &mut self,
        configuration: &Configuration,
        grading: StoredGrading,
        warn: &mut dyn FnMut(WarningCode, String),
    ) {
        self.skill_loaded = grading.skill_loaded;
        if grading.skill_loaded == Some(false) && configuration.role == Role::Treatment {
            self.flags.insert(RunFlag::SkillNotLoaded);
            warn(
                WarningCode::SkillNotLoaded,
                "the grader says that the skill was not loaded; the run counts".to_owned(),
            );
        }
        self.notes = grading.notes;
        if self.timing.simulated {
            self.flags.insert(RunFlag::Simulated);
            warn(WarningCode::Simulated, "the numbers beside it are simulated; they are not used".to_owned());
        }
        let measured = self.timing.total_tokens.value().is_some() || self.timing.duration_ms.value().is_some();
        if let Some(note) = self.timing.note.clone() {
            // a remark on numbers that are not there explains their absence; on others it is about the run
            if measured {
                self.flags.insert(RunFlag::NotedRun);
                warn(WarningCode::NotedRun, format!("a remark beside it: {}", shortened(&note)));
            }
            self.notes.push(note);
        }
    }
}

/// Characters of a remark that are shown.
const SHOWN_CHARACTERS: usize = 120;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn row(
    subject: &StoredSubject<'_>,
    verdict: &StoredVerdict,
    joined: Option<(usize, JoinMethod)>,
    file: &str,
) -> AssertionRow {
    let outcome = match verdict.passed {
        Passed::Yes => Outcome::Pass,
        Passed::No => Outcome::Fail,
        Passed::Absent => Outcome::Undecided(UndecidedReason::NoVerdict),
        Passed::Unreadable => Outcome::Undecided(UndecidedReason::UnreadableVerdict),
    };
    let assertion = joined.and_then(|(position, _)| subject.case.assertions.get(position));
    AssertionRow {
        name: assertion.map_or(verdict.label(), |assertion| &assertion.label).to_owned(),
        // a type of its own is taken out of what inference compares; a judgement would not be
        assertion_type: verdict.mark.assertion_type.unwrap_or(AssertionType::Judge),
        score: outcome.passed().map(|passed| if passed { 1.0 } else { 0.0 }),
        availability: match outcome.passed() {
            Some(_) if verdict.mark.is_unobserved => Availability::Missing,
            Some(_) => Availability::Complete,
            None => Availability::Partial,
        },
        outcome,
        evidence: capped_evidence(verdict.evidence.clone(), subject.evidence_characters),
        severity: verdict.mark.severity,
        oracle: OracleTier::Live,
        turn: None,
        one_arm: verdict.mark.one_arm,
        // whatever it counts, it decides which runs are compared
        is_awaited: verdict.mark.is_unobserved,
        comparison: None,
        normalization: None,
        autojunk_fired: false,
        judgement: None,
        details: Details::default(),
        recorded: Some(Box::new(Recorded {
            file: file.to_owned(),
            pointer: verdict.pointer.clone(),
            text: verdict.text.clone(),
            joined: joined.map(|(_, method)| method),
        })),
    }
}

/// Weights beyond it could overflow when they are added; a list has at most 100,000 of them.
const LARGE_WEIGHT: f64 = 1e300;

/// 2^64.
const WEIGHT_DIVISOR: f64 = 18_446_744_073_709_551_616.0;

/// The rate with the weights of the assertions; `None` when no assertion has one.
fn weighted(case: &Case, verdicts: &[StoredVerdict], joined: &[Option<(usize, JoinMethod)>]) -> Option<WeightedRate> {
    if case.assertions.iter().all(|assertion| assertion.weight.is_none()) {
        return None;
    }
    let weight_of = |joined: &Option<(usize, JoinMethod)>| {
        joined.and_then(|(position, _)| case.assertions.get(position)?.weight).unwrap_or(1.0)
    };
    // only the ratio counts: divided by a power of two, which is exact, the largest weights do not overflow
    let largest = joined.iter().map(weight_of).fold(0.0, f64::max);
    let divisor = if largest > LARGE_WEIGHT { WEIGHT_DIVISOR } else { 1.0 };
    let mut rate = WeightedRate { passed: 0.0, total: 0.0 };
    for (verdict, joined) in verdicts.iter().zip(joined) {
        let weight = weight_of(joined) / divisor;
        match verdict.passed {
            Passed::Yes => {
                rate.passed += weight;
                rate.total += weight;
            }
            Passed::No => rate.total += weight,
            Passed::Absent | Passed::Unreadable => {}
        }
    }
    Some(rate)
}
