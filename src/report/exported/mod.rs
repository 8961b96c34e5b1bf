//! A report in the files of other tools: the `benchmark.json` of skill-creator, and the files of the workspaces that the
//! tools of skill-creator and of the forge pipeline open.
//!
//! In: graded rows with their analysis. Out: bytes. Their viewers stop at a rate or a mean that is null: what was not
//! measured is left out and named in the notes, and is never zero. What their formats have no room for stands under the
//! key `skill_lift`, which they pass over, so that this program reads its own exports without loss.

mod arms;
mod benchmark;
mod entries;
mod files;
mod markdown;
mod notes;
mod runs;

pub use arms::{Arm, ArmRole, ArmsProblem, Format, arms_of};
pub use benchmark::{BenchmarkStyle, write_skill_creator_benchmark};
pub use files::{EvalDescription, eval_metadata, grading_file, timing_file};
pub use markdown::skill_creator_markdown;
pub use runs::{ExportedReport, ExportedRun, LeftOut, RateOver, RatedRun};
