//! Iterations of the forge pipeline: the aggregate of its own script, and the corrected reading.
//!
//! The corrected reading counts only scored runs, averages the runs of each eval first, pairs evals, and keeps what is
//! missing out of every mean. [`ForgeIteration`] holds runs and evals; what is concluded from them are blocks of their own:
//! [`Patterns`], [`ThresholdResults`], [`IterationComparison`].

mod compare;
mod iteration;
mod lift;
mod patterns;
mod run;
mod thresholds;
pub mod upstream;

pub use compare::{IterationComparison, NotComparable};
pub use iteration::{ArmResult, ArmVerdict, EvalDescription, EvalId, EvalResult, EvalStatus, ForgeIteration, Quantity};
pub use lift::{ForgeLift, PairedQuantity, Ratio, RatioReason};
pub use patterns::{FailureCluster, Flaky, Outlier, Patterns, TriggerAccuracy, TriggerShare};
pub use run::{Arm, ForgeRun, Unfinished, VerdictCounts};
pub use thresholds::{Threshold, ThresholdKind, ThresholdResults};
