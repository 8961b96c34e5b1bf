//! What the runs of a tree with stored verdicts add up to beside their rates.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_contract::UnscoredReason;

use super::facts::{Regraded, RunFlag};
use super::join::JoinMethod;
use crate::grade::outcome::Outcome;
use crate::grade::run::GradedRun;
use crate::runs::workspace::Layout;

/// Disagreements that are kept; all are counted.
const KEPT_DISAGREEMENTS: usize = 1_000;

/// Texts of verdicts that are kept; a suite has fewer.
const KEPT_TEXTS: usize = 100_000;

/// Bytes of texts of verdicts that are kept.
const KEPT_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// What was measured of the scored runs of one arm: what a run took that was stopped says nothing of the arm.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArmTelemetry {
    /// Runs with a number of tokens.
    pub runs_with_tokens: u32,
    /// Their sum.
    pub tokens: f64,
    /// Runs with a duration.
    pub runs_with_duration: u32,
    /// Their sum, in milliseconds.
    pub duration_ms: f64,
    /// Runs whose tokens cannot be all of theirs: they wrote more characters than eight a token.
    pub implausible_tokens: u32,
}

impl ArmTelemetry {
    /// Mean tokens of the runs that have a number of them.
    pub fn mean_tokens(&self) -> Option<f64> {
        (self.runs_with_tokens > 0).then(|| self.tokens / f64::from(self.runs_with_tokens))
    }

    /// Mean duration of the runs that have one, in milliseconds.
    pub fn mean_duration_ms(&self) -> Option<f64> {
        (self.runs_with_duration > 0).then(|| self.duration_ms / f64::from(self.runs_with_duration))
    }
}

/// Stored verdicts beside what checks find that need no judge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Regrading {
    /// Verdicts that were compared.
    pub compared: u32,
    /// Those that agree.
    pub agreed: u32,
    /// Those of which both say that the check holds.
    pub both_pass: u32,
    /// Those of which only the stored verdict says so.
    pub stored_only: u32,
    /// Checks that could not look.
    pub unobserved: u32,
    /// The first of those that differ, with the run that they are about.
    pub disagreements: Vec<(String, Regraded)>,
}

/// What the runs of a tree with stored verdicts add up to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredTree {
    /// Runs of each layout.
    pub layouts: BTreeMap<Layout, u32>,
    /// Verdicts that are true.
    pub passed: u32,
    /// Verdicts that are false.
    pub failed: u32,
    /// Entries without a verdict.
    pub undecided: u32,
    /// Verdicts by how they were joined to an assertion; without a method they were not.
    pub joined: BTreeMap<Option<JoinMethod>, u32>,
    /// Runs with each flag.
    pub flags: BTreeMap<RunFlag, u32>,
    /// Unscored runs by reason.
    pub reasons: BTreeMap<UnscoredReason, u32>,
    /// What was measured, by arm.
    pub telemetry: BTreeMap<String, ArmTelemetry>,
    /// What the checks say that need no judge, where that was asked for.
    pub regrading: Option<Regrading>,
    /// Texts of the verdicts, as the graders repeat them.
    pub texts: BTreeSet<String>,
    text_bytes: usize,
    /// Runs of the skill's arm whose skill was not loaded.
    pub without_loaded_skill: Vec<String>,
}

impl StoredTree {
    /// Adds a run.
    pub fn add(&mut self, run: &GradedRun, regraded: bool) {
        let Some(facts) = &run.stored else { return };
        *self.layouts.entry(facts.layout).or_default() += 1;
        for row in &run.objective {
            match row.outcome {
                Outcome::Pass => self.passed += 1,
                Outcome::Fail => self.failed += 1,
                _ => self.undecided += 1,
            }
            if self.texts.len() < KEPT_TEXTS
                && let Some(text) = row.recorded.as_ref().and_then(|recorded| recorded.text.as_ref())
                && self.text_bytes + text.len() <= KEPT_TEXT_BYTES
                && !self.texts.contains(text)
            {
                self.text_bytes += text.len();
                self.texts.insert(text.clone());
            }
            let method = row.recorded.as_ref().and_then(|recorded| recorded.joined);
            *self.joined.entry(method).or_default() += 1;
        }
        for flag in &facts.flags {
            *self.flags.entry(*flag).or_default() += 1;
        }
        for reason in &run.unscored_reasons {
            *self.reasons.entry(*reason).or_default() += 1;
        }
        if facts.flags.contains(&RunFlag::SkillNotLoaded) {
            self.without_loaded_skill.push(run.key.case_id.clone());
        }
        let arm = self.telemetry.entry(run.key.variant.clone()).or_default();
        let scored = run.is_scorable();
        if let Some(tokens) = facts.timing.total_tokens.value().filter(|_| scored) {
            arm.runs_with_tokens += 1;
            arm.tokens += tokens;
            let written = facts.characters.unwrap_or(0) as f64;
            arm.implausible_tokens += u32::from(tokens * CHARACTERS_PER_TOKEN < written);
        }
        if let Some(duration) = facts.timing.duration_ms.value().filter(|_| scored) {
            arm.runs_with_duration += 1;
            arm.duration_ms += duration;
        }
        if regraded {
            let regrading = self.regrading.get_or_insert_with(Regrading::default);
            for found in &facts.regraded {
                regrading.add(&run.path, found);
            }
        }
    }

    /// Whether the token counts of two arms cannot be of the same scope: their means differ tenfold, or one arm wrote
    /// more than its tokens can be.
    pub fn token_scope_differs(&self, one: &str, other: &str) -> bool {
        let (Some(one), Some(other)) = (self.telemetry.get(one), self.telemetry.get(other)) else { return false };
        let implausible = one.implausible_tokens > 0 || other.implausible_tokens > 0;
        let tenfold = match (one.mean_tokens(), other.mean_tokens()) {
            (Some(one), Some(other)) => one.max(other) >= 10.0 * one.min(other),
            _ => false,
        };
        implausible || tenfold
    }
}

/// No tokeniser makes tokens of more characters in the mean.
const CHARACTERS_PER_TOKEN: f64 = 8.0;

impl Regrading {
    /// Verdicts of which both say that the check does not hold.
    pub fn both_fail(&self) -> u32 {
        self.agreed - self.both_pass
    }

    /// Verdicts of which only the check that was made anew says that it holds.
    pub fn check_only(&self) -> u32 {
        self.compared - self.agreed - self.stored_only
    }

    fn add(&mut self, run: &str, found: &Regraded) {
        let (Some(recorded), Some(literal)) = (found.recorded, found.literal) else {
            self.unobserved += 1;
            return;
        };
        self.compared += 1;
        self.both_pass += u32::from(recorded && literal);
        self.stored_only += u32::from(recorded && !literal);
        if recorded == literal {
            self.agreed += 1;
        } else if self.disagreements.len() < KEPT_DISAGREEMENTS {
            self.disagreements.push((run.to_owned(), found.clone()));
        }
    }
}
