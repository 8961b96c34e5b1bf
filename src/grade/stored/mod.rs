//! Stored verdicts as graded runs: read with their source, never derived anew.
//!
//! In: a [`StoredRun`](crate::runs::workspace::StoredRun) and its case. Out: a [`GradedRun`](super::GradedRun) whose rows
//! say which file and which entry they come from.
//! Which verdicts count is decided here, once for every dialect: booleans count, everything else is named.

mod facts;
mod join;
mod regrade;
mod run;
mod tree;

pub use facts::{Regraded, RunFlag, StoredFacts, WeightedRate};
pub use join::JoinMethod;
pub use regrade::RegradeEvidence;
pub use run::{StoredSubject, grade_stored};
pub use tree::{ArmTelemetry, Regrading, StoredTree};
