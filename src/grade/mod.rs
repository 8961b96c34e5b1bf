//! A run and its checks give outcomes.
//!
//! In: the cases of a suite and the evidence of their runs. Out: a [`GradedRun`] for each, in report order, whatever
//! the number of threads. One file a family of checks under [`checks`]; tallies come from one place, [`tally`].
//! Knows nothing of frames or statistics.

mod answer;
pub mod checks;
mod contamination;
pub mod outcome;
mod places;
mod rows;
mod run;
pub mod stored;
pub mod tally;
pub mod trajectory;
mod tree;

pub use checks::end_programs;
pub use outcome::{
    AssertionRow, Availability, ErrorReason, Judgement, Normalization, NormalizedText, Outcome, Recorded,
    UndecidedReason,
};
pub use places::{Compared, Details, MissKind, NearestMiss, Passage, Places};
pub use run::{DeferredJudgement, GradeOptions, GradedRun, RunView, Subject, Unobserved, grade_run};
pub use tally::{Rate, RunTally, TurnTally};
pub use trajectory::{Trace, Trajectory};
pub use tree::{GradedWith, Tree, TreeError, grade_tree};
