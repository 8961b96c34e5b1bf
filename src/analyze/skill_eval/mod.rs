//! Iterations of the executor/grader runner: the figures that the runner itself aggregates, and the corrected reading
//! beside them.
//!
//! In: an [`Iteration`](crate::runs::skill_eval::Iteration). Out: a
//! [`Benchmark`](crate::runs::skill_eval::Benchmark) under the runner's own formulas, and a [`Corrected`] view: only
//! runs whose verdicts are complete, evals compared pairwise, with test and interval.

mod aggregate;
mod corrected;
mod metrics;
mod weighted;

pub use aggregate::{aggregate, arms, orient};
pub use corrected::{
    AddedChecks, ArmContrast, CellReading, Corrected, EvalReading, IncompleteRun, PairedLift, RunReading, UnpairedCell,
};
pub use metrics::{MetricKind, MetricReading, MetricSummary, PairedMetric};
pub use weighted::WeightedScore;
