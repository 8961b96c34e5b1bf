//! Deferred judgements: what a judge outside of this program said, what that makes of a check, and the tasks for what
//! nobody has judged yet.
//!
//! In: a file of verdicts that may be hostile, the assertions of a suite, the evidence of a run. Out: [`Verdicts`] by
//! task id, the [`merge()`] of a verdict with its assertion, and [`JudgeTask`]s with a prompt that does not say which arm
//! the answer comes from. [`comparison`] does the same for two answers that are compared blind. Calls no model.

pub mod comparison;
pub mod merge;
mod prompt;
mod results;
mod rows;
mod spend;
pub mod task;
pub mod verdict;

pub use merge::{Judged, JudgementDetail, merge};
pub use results::{JudgeResultsError, StoredVerdict, Verdicts};
pub use spend::JudgeSpend;
pub use task::{JudgeTask, task_id};
pub use verdict::{Verdict, VerdictProblem};
