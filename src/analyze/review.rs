//! Which cases a person should look at, and in which order.

use num_traits::Zero;
use skill_lift_stats::rational::Rational;

use super::inference::{CaseContrast, UnitRates};

/// Why a case should be looked at. The order is that of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReviewReason {
    /// A critical check failed with the skill.
    Critical,
    /// The case is worse with the skill.
    Worse,
    /// A run without the skill had it.
    Contaminated,
    /// A pair could not be compared.
    Blocked,
    /// A gate waits for a judge.
    Judge,
}

impl ReviewReason {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Worse => "worse",
            Self::Contaminated => "contaminated",
            Self::Blocked => "blocked",
            Self::Judge => "judge",
        }
    }

    /// Its rank, from 1.
    pub fn rank(self) -> u32 {
        match self {
            Self::Critical => 1,
            Self::Worse => 2,
            Self::Contaminated => 3,
            Self::Blocked => 4,
            Self::Judge => 5,
        }
    }
}

/// A case to look at.
#[derive(Debug)]
pub struct ReviewItem {
    /// Index into [`Inference::by_case`](super::inference::Inference::by_case).
    pub case: usize,
    /// Why, most important first.
    pub reasons: Vec<ReviewReason>,
}

/// The reason for which a pair is blocked whose baseline had the skill.
const CONTAMINATED: &str = "baseline_contaminated";

/// The queue: the most important reason first; within it the smallest lift, where an unknown one comes first; then by case.
pub(super) fn review_queue(cases: &[CaseContrast]) -> Vec<ReviewItem> {
    let mut queue: Vec<ReviewItem> = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let delta = case.rates.as_ref().map(UnitRates::delta);
        let reasons: Vec<ReviewReason> = [
            (ReviewReason::Critical, case.critical_failure),
            (ReviewReason::Worse, delta.is_some_and(|delta| delta < Rational::zero())),
            (ReviewReason::Contaminated, case.pairing.reasons.contains_key(CONTAMINATED)),
            (ReviewReason::Blocked, case.pairing.blocked > 0),
            (ReviewReason::Judge, case.deferred_gates > 0),
        ]
        .into_iter()
        .filter_map(|(reason, applies)| applies.then_some(reason))
        .collect();
        if !reasons.is_empty() {
            queue.push(ReviewItem { case: index, reasons });
        }
    }
    let delta = |item: &ReviewItem| cases[item.case].rates.as_ref().map(UnitRates::delta);
    queue.sort_by(|a, b| {
        a.reasons.first().cmp(&b.reasons.first()).then_with(|| delta(a).cmp(&delta(b))).then(a.case.cmp(&b.case))
    });
    queue
}
