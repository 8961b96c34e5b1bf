//! Iterations of the forge pipeline as Markdown and JSON, and as the `benchmark.json` of its own script.

mod advice;
mod json;
mod markdown;
mod overall;
mod patterns;
mod upstream_json;

use crate::analyze::forge::{ForgeIteration, ForgeLift, IterationComparison, Patterns, ThresholdResults};

pub use json::write_json;
pub use markdown::markdown;
pub(super) use upstream_json::stamp;
pub use upstream_json::write_upstream;

/// Everything that a report of an iteration shows.
#[derive(Debug)]
pub struct ForgeView<'a> {
    /// The skill.
    pub skill_name: &'a str,
    /// Moment of the report in seconds since 1970, when one is asked for.
    pub generated_at: Option<i64>,
    /// Trials that were asked for of each eval and arm, where a configuration says so.
    pub trials_requested: Option<u32>,
    /// What the baseline is, where a configuration says so.
    pub baseline_type: Option<&'a str>,
    /// The runs and evals.
    pub iteration: &'a ForgeIteration,
    /// The lift over paired evals.
    pub lift: &'a ForgeLift,
    /// What means hide.
    pub patterns: &'a Patterns,
    /// What is demanded.
    pub thresholds: &'a ThresholdResults,
    /// Against an earlier iteration.
    pub comparison: Option<&'a IterationComparison>,
}

impl ForgeView<'_> {
    /// Smallest number of evals of which an outcome could settle anything.
    fn fewest_evals(&self) -> usize {
        skill_lift_stats::minimum_cases(self.lift.inference.thresholds.alpha()).unwrap_or(usize::MAX)
    }
}
