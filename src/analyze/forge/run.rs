//! One run of the forge pipeline as it counts.

use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational::{self, Rational};

use crate::grade::GradedRun;
use crate::grade::outcome::Outcome;
use crate::grade::stored::RunFlag;
use crate::runs::workspace::Layout;

/// The arms of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arm {
    /// The skill was there.
    WithSkill,
    /// The skill, or its new version, was not there.
    Baseline,
}

impl Arm {
    /// Both, as reports list them.
    pub const ALL: [Self; 2] = [Self::WithSkill, Self::Baseline];

    /// The word in directories and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::WithSkill => "with_skill",
            Self::Baseline => "baseline",
        }
    }
}

/// What the verdicts of a run add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerdictCounts {
    /// Entries that hold.
    pub passed: u32,
    /// Entries that do not.
    pub failed: u32,
    /// Entries without a verdict, and assertions without an entry.
    pub undecided: u32,
}

impl VerdictCounts {
    /// Passed among passed and failed.
    pub fn graded_rate(self) -> Option<Rational> {
        share(self.passed, self.passed + self.failed)
    }

    /// Passed among all.
    pub fn strict_rate(self) -> Option<Rational> {
        share(self.passed, self.passed + self.failed + self.undecided)
    }
}

fn share(part: u32, whole: u32) -> Option<Rational> {
    (whole > 0).then(|| rational::rate(u64::from(part), u64::from(whole)))
}

/// One run.
#[derive(Debug, Clone)]
pub struct ForgeRun {
    /// Position of its eval.
    pub eval: usize,
    /// Its arm.
    pub arm: Arm,
    /// Its number, in numbered trials.
    pub trial: Option<u32>,
    /// Its directory, below the iteration.
    pub directory: String,
    /// Its verdicts; `None` when they cannot be read.
    pub counts: Option<VerdictCounts>,
    /// The graded rate with the weights of the assertions.
    pub weighted_rate: Option<f64>,
    /// Why it enters no mean; empty when it does.
    pub reasons: Vec<UnscoredReason>,
    /// Why it would enter none if unfinished runs were not counted.
    pub waived: Vec<UnscoredReason>,
    /// What is odd about it.
    pub flags: Vec<RunFlag>,
    /// Tokens, if captured.
    pub tokens: Option<f64>,
    /// Duration in milliseconds, if captured.
    pub duration_ms: Option<f64>,
    /// Assertions that do not hold, in the order of the grader.
    pub failed: Vec<String>,
    /// Assertions that hold.
    pub passed: Vec<String>,
    /// Assertions without a verdict.
    pub undecided: Vec<String>,
    /// Whether the skill was activated, if the run says so.
    pub activated: Option<bool>,
}

/// What becomes of runs that timed out or crashed and were graded all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unfinished {
    /// They enter no mean.
    #[default]
    LeaveOut,
    /// They count like others.
    Count,
}

/// Assertions that say whether the skill was activated, with what a pass means.
const ACTIVATION: [(&str, bool); 2] = [("skill-activated", true), ("skill-not-activated", false)];

impl ForgeRun {
    /// A graded run; `None` for arms that are neither of both, and for runs without stored verdicts.
    pub fn of(run: &GradedRun, unfinished: Unfinished) -> Option<Self> {
        let arm = match run.key.variant.as_str() {
            "with_skill" => Arm::WithSkill,
            "without_skill" => Arm::Baseline,
            _ => return None,
        };
        let facts = run.stored.as_deref()?;
        let mut reasons = run.unscored_reasons.clone();
        reasons.sort_by_key(|reason| (rank(*reason), *reason));
        let is_waived = |reason: &UnscoredReason| {
            unfinished == Unfinished::Count
                && matches!(reason, UnscoredReason::TimedOut | UnscoredReason::ExecutorError)
        };
        let (waived, reasons): (Vec<_>, Vec<_>) = reasons.into_iter().partition(is_waived);
        let unread = |reason: &UnscoredReason| {
            matches!(reason, UnscoredReason::MissingGrading | UnscoredReason::UnreadableGrading)
        };
        let with = |wanted: Option<bool>| -> Vec<String> {
            let rows = run.objective.iter().filter(|row| decided(&row.outcome) == wanted);
            rows.map(|row| row.name.clone()).collect()
        };
        let (passed, failed, mut undecided) = (with(Some(true)), with(Some(false)), with(None));
        undecided.extend(facts.missing_assertions.iter().cloned());
        let counts = (!reasons.iter().any(unread)).then(|| VerdictCounts {
            passed: count(passed.len()),
            failed: count(failed.len()),
            undecided: count(undecided.len()),
        });
        let graded = counts.and_then(VerdictCounts::graded_rate);
        let weighted_rate = match (facts.weighted, &graded) {
            (Some(weighted), Some(_)) => weighted.value(),
            (None, Some(graded)) => Some(rational::to_f64(graded)),
            (_, None) => None,
        };
        let activation = |(name, pass): (&str, bool)| {
            let verdict = run.objective.iter().find(|row| row.name == name).and_then(|row| decided(&row.outcome))?;
            Some(verdict == pass)
        };
        Some(Self {
            eval: run.case,
            arm,
            // other tools number repetitions in folders of their own
            trial: facts.trial.or((facts.layout == Layout::Nested).then_some(run.key.repetition)),
            directory: run.path.clone(),
            counts,
            weighted_rate,
            flags: facts.flags.iter().copied().collect(),
            tokens: facts.timing.total_tokens.value(),
            duration_ms: facts.timing.duration_ms.value(),
            activated: facts.skill_loaded.or_else(|| ACTIVATION.into_iter().find_map(activation)),
            reasons,
            waived,
            failed,
            passed,
            undecided,
        })
    }

    /// Whether the run enters means.
    pub fn is_scored(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Its graded rate, if it enters means.
    pub fn scored_rate(&self) -> Option<Rational> {
        self.counts.filter(|_| self.is_scored()).and_then(VerdictCounts::graded_rate)
    }
}

fn decided(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::Pass => Some(true),
        Outcome::Fail => Some(false),
        _ => None,
    }
}

/// The place of a reason in lists of this pipeline: what its files say first, then how the run ended.
fn rank(reason: UnscoredReason) -> u8 {
    match reason {
        UnscoredReason::MissingGrading => 0,
        UnscoredReason::UnreadableGrading => 1,
        UnscoredReason::MisfiledGrading => 2,
        UnscoredReason::TimedOut => 3,
        UnscoredReason::ExecutorError => 4,
        UnscoredReason::NoVerdicts => 5,
        _ => 6,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
