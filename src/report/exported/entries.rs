//! The checks of a run as entries of a list of verdicts.

use serde::Serialize;

use crate::runs::claims::{SavedCheck, SavedRow};
use crate::runs::workspace::EntryMark;
use crate::suite::{AssertionType, Severity};

/// One entry with what its format has no room for.
pub(super) struct Entry<'a> {
    pub(super) check: &'a SavedCheck,
    /// Whether it holds; one that left every count does not.
    pub(super) passed: bool,
    pub(super) mark: EntryMark,
}

/// What stands in an entry under our own key, where it is not a plain gate.
#[derive(Serialize)]
pub(super) struct OwnMark {
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_arm: Option<&'static str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    assertion_type: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unobserved: bool,
}

impl<'a> Entry<'a> {
    /// The entry of a check in a list whose rate is over the objective checks; `None` for one without a verdict.
    ///
    /// Judgements are shown and do not count, but for a critical one that failed: it makes the rate zero.
    pub(super) fn objective(row: &SavedRow, check: &'a SavedCheck) -> Option<Self> {
        let is_unobserved = row.unobserved_checks.contains(&check.name);
        let is_skipped = check.skipped.is_some();
        let passed = match check.passed {
            Some(passed) => passed,
            None if is_skipped || is_unobserved => false,
            None => return None,
        };
        let counts = check.passed.is_some() && !is_skipped && check.severity != Severity::Soft;
        let vetoes = check.severity == Severity::Critical && !passed;
        let severity = match counts && (!check.is_judgement || vetoes) {
            true => check.severity,
            false => Severity::Soft,
        };
        let mark = EntryMark {
            severity,
            one_arm: check.one_arm,
            assertion_type: check.assertion_type.filter(|_| check.one_arm.is_some()),
            is_unobserved,
        };
        Some(Self { check, passed, mark })
    }

    /// What stands under our own key; `keeps_one_arm` says whether the baseline is one that lacks the skill.
    pub(super) fn own(&self, keeps_one_arm: bool) -> Option<OwnMark> {
        let is_counted = self.mark.counts();
        let own = OwnMark {
            severity: Some(self.check.severity).filter(|severity| *severity != Severity::Gate).map(Severity::word),
            counted: (!is_counted).then_some(false),
            one_arm: self.mark.one_arm.filter(|_| keeps_one_arm).map(|reason| reason.code()),
            assertion_type: self.mark.assertion_type.filter(|_| keeps_one_arm).map(AssertionType::word),
            unobserved: self.mark.is_unobserved,
        };
        let says_something = own.severity.is_some() || own.counted.is_some() || own.one_arm.is_some() || own.unobserved;
        says_something.then_some(own)
    }
}

/// The checks of a run that have no verdict and are no entry.
pub(super) fn undecided(row: &SavedRow) -> impl Iterator<Item = &SavedCheck> {
    row.checks.iter().filter(|check| check.passed.is_none() && check.skipped.is_none())
}
