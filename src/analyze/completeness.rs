//! Whether a report rests on everything that it could rest on, and what it lacks.

use super::missingness::{Missingness, PlannedBy};
use super::pairing::Pairing;
use super::table::RunTable;

/// What a report lacks. In the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncompleteReason {
    /// No run is scored.
    NothingGraded,
    /// The plan lists runs that are not there.
    AnswerDesignIncomplete,
    /// Some pairs do not count.
    IncompletePairing,
    /// Some checks had no evidence.
    GradingEvidenceIncomplete,
    /// Some judgements were not supplied.
    DeferredJudgements,
}

impl IncompleteReason {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::NothingGraded => "nothing_graded",
            Self::AnswerDesignIncomplete => "answer_design_incomplete",
            Self::IncompletePairing => "incomplete_pairing",
            Self::GradingEvidenceIncomplete => "grading_evidence_incomplete",
            Self::DeferredJudgements => "deferred_judgements",
        }
    }
}

/// What the report of a tree lacks; nothing when it is complete. `pairing` is the one of the headline.
pub fn incomplete_reasons(
    table: &RunTable,
    pairing: &Pairing,
    missingness: Option<&Missingness>,
) -> Vec<IncompleteReason> {
    let scored = || table.runs.iter().filter(|run| run.scorable);
    let by_plan = |missing: &&Missingness| matches!(missing.planned_by, PlannedBy::Plan { .. });
    let not_there = missingness.filter(by_plan).is_some_and(|plan| plan.coverage.iter().any(|arm| arm.missing > 0));
    [
        (IncompleteReason::NothingGraded, scored().next().is_none()),
        (IncompleteReason::AnswerDesignIncomplete, not_there),
        (IncompleteReason::IncompletePairing, pairing.pairs.iter().any(|pair| pair.values.is_err())),
        (IncompleteReason::GradingEvidenceIncomplete, scored().any(|run| run.unobserved != 0)),
        (IncompleteReason::DeferredJudgements, scored().any(|run| run.deferred_judgements > 0)),
    ]
    .into_iter()
    .filter_map(|(reason, applies)| applies.then_some(reason))
    .collect()
}
