//! What a row holds beside the keys of version 0.6 because the verdict rests on it: a saved report can be analysed again.
//! A key is there only when it says something.

use serde::Serialize;

use crate::grade::{AssertionRow, GradedRun};
use crate::runs::telemetry::StatedTelemetry;
use crate::suite::{Case, Severity};

#[derive(Serialize)]
pub(super) struct RowFacts<'a> {
    /// Name of the case for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    case_label: Option<&'a str>,
    /// What inference counts as one unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    /// The dataset of which the case is a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
    /// What shows that a run without the skill had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    contamination: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_loaded: Option<bool>,
    /// Gates and critical judgements that were not supplied.
    #[serde(skip_serializing_if = "is_zero")]
    deferred_gates: usize,
    /// Checks without evidence that both arms can satisfy: only runs that lack the same ones are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unobserved_checks: Vec<&'a str>,
    /// What the run used, where the metadata do not say all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<StatedTelemetry<'a>>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'a> RowFacts<'a> {
    /// The facts of a run; `with_metadata` says whether the row has what its runner recorded.
    pub(super) fn of(run: &'a GradedRun, case: &'a Case, with_metadata: bool) -> Self {
        let elsewhere = run.used.as_deref().filter(|used| with_metadata && !used.is_in_metadata);
        Self {
            case_label: case.name.as_deref(),
            family: case.family.as_deref(),
            dataset: case.dataset.as_deref(),
            tags: &case.tags,
            effort: run.ending.effort.as_deref(),
            contamination: run.contamination.as_deref(),
            skill_loaded: run.skill_loaded,
            deferred_gates: run.deferred.iter().filter(|judgement| judgement.severity != Severity::Soft).count(),
            unobserved_checks: run.unobserved_rows().map(|row: &AssertionRow| row.name.as_str()).collect(),
            measured: elsewhere.map(|used| StatedTelemetry(&used.telemetry)),
        }
    }
}
