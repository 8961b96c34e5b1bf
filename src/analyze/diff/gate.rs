//! Whether a comparison lets a build pass.

use std::collections::BTreeSet;

use num_traits::One;
use skill_lift_stats::VerdictCode;
use skill_lift_stats::rational::Rational;

use super::compared::Diff;
use super::shift::{NotTested, Tested};
use crate::analyze::table::WITH_SKILL;
use crate::runs::claims::{CellChange, ChangeKind, NotScored};

/// What counts as a regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRule {
    /// With the skill, a check that always passed fails now; or, on like-for-like results, a case passes less.
    Any,
    /// As [`GateRule::Any`]; or a case with the skill has lost its score or is gone.
    Strict,
    /// The mean rate with the skill fell, and the test over the cases in both results says so.
    Established,
}

impl GateRule {
    /// The word on the command line and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Strict => "strict",
            Self::Established => "established",
        }
    }
}

/// Why a case counts as a regression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegressionWhy {
    /// Checks that passed in every scored run before and do not now.
    BrokenChecks(Vec<String>),
    /// A lower rate than before.
    LowerRate {
        /// Before.
        before: Rational,
        /// Now.
        after: Rational,
    },
    /// A score before, none now.
    LostScore(Vec<NotScored>),
    /// Not in the later result.
    Gone,
}

/// One regression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regression {
    /// The case.
    pub case: String,
    /// The model, where a side has several.
    pub model: Option<String>,
    /// Why.
    pub why: RegressionWhy,
}

/// What the gate says.
#[derive(Debug)]
pub enum GateOutcome<'d> {
    /// Nothing that the rule counts.
    Holds,
    /// Cases got worse.
    Regressed(Vec<Regression>),
    /// The mean got worse.
    Established {
        /// The change of the mean.
        change: Rational,
        /// The test.
        tested: &'d Tested,
    },
    /// The rule has nothing to decide on: that is never a pass.
    Undecidable(NotTested),
}

impl GateOutcome<'_> {
    /// Whether a build passes.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds)
    }
}

/// Applies a rule. Only the arm with the skill is looked at.
pub fn gate<'d>(diff: &'d Diff<'_>, rule: GateRule) -> GateOutcome<'d> {
    let Some(shift) = diff.with_skill() else {
        return GateOutcome::Undecidable(NotTested::NothingCompared);
    };
    if rule == GateRule::Established {
        return match (&shift.tested, shift.change()) {
            (Ok(tested), Some(change)) if tested.verdict.code == VerdictCode::Harms => {
                GateOutcome::Established { change, tested }
            }
            (Ok(_), _) => GateOutcome::Holds,
            (Err(why), _) => GateOutcome::Undecidable(*why),
        };
    }
    // a label (`with_skill (iter4)`) makes it no other arm
    let is_skill = |cell: &&CellChange| {
        cell.variant.strip_prefix(WITH_SKILL).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let regressions: Vec<Regression> =
        diff.comparison.cells.iter().filter(is_skill).filter_map(|cell| regression(diff, cell, rule)).collect();
    if !regressions.is_empty() {
        GateOutcome::Regressed(regressions)
    } else if shift.cases.is_empty() {
        GateOutcome::Undecidable(NotTested::NothingCompared)
    } else {
        GateOutcome::Holds
    }
}

fn regression(diff: &Diff<'_>, cell: &CellChange, rule: GateRule) -> Option<Regression> {
    let found = |why| Some(Regression { case: cell.case.clone(), model: cell.model.clone(), why });
    if !cell.broken.is_empty() && cell.kind != ChangeKind::OtherPrompt {
        let checks: BTreeSet<&String> = cell.broken.iter().collect();
        return found(RegressionWhy::BrokenChecks(checks.into_iter().cloned().collect()));
    }
    match cell.kind {
        ChangeKind::Regressed => {
            let (before, after) = (cell.before.clone()?, cell.after.clone()?);
            let failed = before.is_one();
            (failed || diff.comparability.allows_tests())
                .then(|| found(RegressionWhy::LowerRate { before, after }))
                .flatten()
        }
        ChangeKind::BecameUnscored if rule == GateRule::Strict => {
            found(RegressionWhy::LostScore(cell.unscored_after.clone()))
        }
        ChangeKind::Vanished if rule == GateRule::Strict && cell.before.is_some() => found(RegressionWhy::Gone),
        _ => None,
    }
}
