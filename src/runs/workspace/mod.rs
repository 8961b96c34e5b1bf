//! What other tools left: iterations of eval directories with the verdicts of their graders.
//!
//! In: a folder that may be hostile. Out: a [`Workspace`], which says what was found and where; then the stored runs of
//! one [`Unit`] at a time, as their files have them: verdicts with the place that they were read from, what a run took,
//! and why a run has no verdict. Decides nothing about scores.

mod answer;
mod document;
mod eval;
mod index;
mod layout;
mod metadata;
mod native;
mod root;
mod stored;
mod timing;
mod verdicts;

pub use answer::answer;
pub(crate) use document::position;
pub use index::{EvalDirectory, LayoutChoice, Unit, Workspace, WorkspaceKind, WorkspaceOptions};
pub(in crate::runs) use layout::run_number;
pub use layout::{Layout, may_hold_evals};
pub use metadata::EvalMetadata;
pub use stored::{GradingFile, StoredRun, TimingFile, UnitReading, read_verdicts};
pub(in crate::runs) use timing::started_at_ms;
pub use timing::{Measured, Timing, milliseconds_of_stamp};
pub use verdicts::{
    EntryMark, GradingDocument, OWN_KEY, Passed, RunMark, StatedCounts, StatedRate, StoredGrading, StoredVerdict,
};
