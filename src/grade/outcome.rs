//! What came of one check.

use skill_lift_text::view::{Comparison, View};

use super::places::Details;
use super::stored::JoinMethod;
use crate::judge::JudgementDetail;
use crate::judge::merge::share_of_five;
use crate::suite::one_arm::OneArm;
use crate::suite::{AssertionType, OracleTier, Severity};

/// Why the program could not finish a check. Such a check is neither passed nor failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorReason {
    /// The pattern took more steps than it may.
    StepLimit,
    /// The file that the check reads is larger than the limit.
    ArtifactTooLarge,
    /// The texts of a similarity are too long to be compared.
    SimilarityBudget,
}

impl ErrorReason {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::StepLimit => "step_limit",
            Self::ArtifactTooLarge => "artifact_too_large",
            Self::SimilarityBudget => "similarity_budget",
        }
    }
}

/// Why a check came to no decision although the program could finish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndecidedReason {
    /// What it looks at was not recorded, or may not be looked at, or the program that looks did not come to an end.
    Unobserved,
    /// The grader whose verdicts are read did not decide.
    NoVerdict,
    /// What the grader stored is no verdict.
    UnreadableVerdict,
}

impl UndecidedReason {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unobserved => "unobserved",
            Self::NoVerdict => "no_verdict",
            Self::UnreadableVerdict => "unreadable_verdict",
        }
    }
}

/// The state of a check. Only [`Outcome::Pass`] and [`Outcome::Fail`] enter a rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Pass,
    /// It does not hold, or its evidence is missing.
    Fail,
    /// It came to no decision.
    Undecided(UndecidedReason),
    /// The program could not finish it.
    Error(ErrorReason),
    /// Something it depends on does not hold. Leaves every count.
    Skipped {
        /// Why.
        reason: String,
        /// What the check itself said before it was skipped; false when it was not evaluated.
        passed: bool,
        /// Whether it was skipped before it was evaluated.
        unevaluated: bool,
    },
    /// This version does not grade checks of this type; the run is not scored.
    Unsupported,
}

impl Outcome {
    /// Pass or fail.
    pub fn from_passed(passed: bool) -> Self {
        if passed { Self::Pass } else { Self::Fail }
    }

    /// Whether it holds; `None` when that is not known.
    pub fn passed(&self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Fail => Some(false),
            Self::Skipped { passed, .. } => Some(*passed),
            Self::Undecided(_) | Self::Error(_) | Self::Unsupported => None,
        }
    }

    /// The word for the state in frames and reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Undecided(_) => "undecided",
            Self::Error(_) => "error",
            Self::Skipped { .. } => "skipped",
            Self::Unsupported => "unsupported",
        }
    }

    /// Why it is neither passed nor failed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Undecided(reason) => Some(reason.code()),
            Self::Error(reason) => Some(reason.code()),
            Self::Skipped { reason, .. } => Some(reason),
            Self::Unsupported => Some("unsupported_assertion"),
            Self::Pass | Self::Fail => None,
        }
    }
}

/// Whether everything that a check needs was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// Yes.
    Complete,
    /// Not all of it; the verdict rests on what was observed.
    Partial,
    /// No; there was nothing to look at, or the check could not be finished.
    Missing,
}

impl Availability {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial | Self::Missing => "partial",
        }
    }
}

/// What the comparison view changed of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalizedText {
    /// Whether anything.
    pub changed: bool,
    /// Whether canonical composition did.
    pub canonical_normalized: bool,
    /// Removed code points: `U+200B`, name, count.
    pub removed: Vec<(String, &'static str, u64)>,
}

impl From<&View<'_>> for NormalizedText {
    fn from(view: &View<'_>) -> Self {
        Self {
            changed: view.changed(),
            canonical_normalized: view.canonical_normalized,
            removed: view
                .removals()
                .map(|(removable, count)| (removable.code_point(), removable.name, count))
                .collect(),
        }
    }
}

/// What the comparison view changed, when it changed anything.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalization {
    /// Whether the raw texts would have given another verdict.
    pub verdict_changed: Option<bool>,
    /// The score of the raw texts, for checks that measure one.
    pub raw_score: Option<f64>,
    /// The answer.
    pub candidate: NormalizedText,
    /// The operands that were changed.
    pub operands: Vec<NormalizedText>,
}

/// The result of one check of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct AssertionRow {
    /// Label; for turns `turn-<n>: <label>`.
    pub name: String,
    /// The type as spelt in the suite.
    pub assertion_type: AssertionType,
    /// What came of it.
    pub outcome: Outcome,
    /// What was seen.
    pub evidence: String,
    /// Between 0 and 1; `None` when the check could not be finished.
    pub score: Option<f64>,
    /// How it counts.
    pub severity: Severity,
    /// How strong a pass is.
    pub oracle: OracleTier,
    /// The turn it grades.
    pub turn: Option<usize>,
    /// Why only one arm of the lift can satisfy it, if that is so.
    pub one_arm: Option<OneArm>,
    /// Whether a check that the lift compares waits for it.
    pub is_awaited: bool,
    /// The view that was compared, for text checks.
    pub comparison: Option<Comparison>,
    /// What the view changed.
    pub normalization: Option<Normalization>,
    /// Whether its evidence was there.
    pub availability: Availability,
    /// Whether the score left out frequent characters, which makes it unstable.
    pub autojunk_fired: bool,
    /// What a judge said, for judgements.
    pub judgement: Option<Judgement>,
    /// What can be pointed at.
    pub details: Details,
    /// Where the verdict was read, when it is a stored one.
    pub recorded: Option<Box<Recorded>>,
}

/// Where a stored verdict stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The file below the root of the tree.
    pub file: String,
    /// The entry, as a JSON pointer.
    pub pointer: String,
    /// The assertion in the words of the grader.
    pub text: Option<String>,
    /// How it was joined to an assertion of the case; `None` when the case has no such assertion.
    pub joined: Option<JoinMethod>,
}

/// What a judge said about a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The id of the verdict.
    pub task_id: String,
    /// What it says beyond pass and fail.
    pub detail: JudgementDetail,
}

impl AssertionRow {
    /// The score on the common scale 0..=1, whatever scale a judge used.
    pub fn share(&self) -> Option<f64> {
        match &self.judgement {
            Some(judgement) => self.score.map(|score| judgement.detail.share(score)),
            None => self.score,
        }
    }

    /// The names of the dimensions with their scores in 0..=1, for judgements that have some.
    pub fn dimension_shares(&self) -> impl Iterator<Item = (&str, f64)> {
        let scores = match &self.judgement {
            Some(Judgement { detail: JudgementDetail::Dimensions { scores, .. }, .. }) => scores.as_slice(),
            _ => &[],
        };
        scores.iter().map(|(name, score)| (name.as_str(), share_of_five(*score)))
    }

    /// Whether it was left out because of something it depends on.
    pub fn is_skipped(&self) -> bool {
        matches!(self.outcome, Outcome::Skipped { .. })
    }
}

/// Evidence of at most `limit` code points; a longer one is cut and its length stated.
pub fn capped_evidence(evidence: String, limit: usize) -> String {
    match evidence.char_indices().nth(limit) {
        None => evidence,
        Some((cut, _)) => {
            let length = evidence.chars().count();
            format!("{}… ({length} characters in all)", &evidence[..cut])
        }
    }
}
