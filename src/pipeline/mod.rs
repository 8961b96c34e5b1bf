//! From a suite and a run tree to graded rows, frames and digests, in one pass and with flat memory.
//!
//! In: a validated suite, the root of a tree, what to select. Out: rows of the report in a spool, the frames if they
//! are asked for, what `grade` writes beside its report, and everything that was odd.

mod blind;
pub mod doctor;
mod evaluate;
mod export;
mod forge;
mod history;
mod input;
mod inventory;
mod products;
mod review;
mod saved_rows;
mod scratch;
mod shell;
mod sides;
#[cfg(test)]
mod tests;
pub mod verify;
mod warnings;
mod workspace;

pub use blind::{BlindComparisons, BlindError, BlindRequest, Orders, blind_comparisons};
pub use evaluate::{Evaluated, EvaluationError, FrameChoice, Products, Request, RunsSource, evaluate};
pub use export::{ExportError, ExportRequest, Exported, export};
pub use forge::{ForgeError, ForgeReading, number_of, read_forge};
pub use history::{History, HistoryError, ReadHistory};
pub use input::{Input, skill_name, workspace_cases};
pub use products::{GradingFiles, GradingFilesWritten, JudgeTasks};
pub use review::{FeedbackShape, ReviewError, ReviewRequest, ReviewWarning, Reviewed, review_page};
pub use saved_rows::SavedRows;
pub use sides::{GradedSide, SIDE_PRODUCTS, SideRequest, graded_side};
pub use warnings::WarningLog;
pub use workspace::{TreeCases, WorkspaceRequest, cases_of_tree, evaluate_workspace, grade_workspace, variants_of};
