//! Iterations of the executor/grader runner as text and JSON: `benchmark.md`, `benchmark.json`, the lines of a run.
//!
//! The sections and rows that the runner itself writes come first and keep their order and numbers; what the corrected
//! reading adds stands in sections of its own after them, and in JSON under `skill_lift`.

mod additions;
pub(super) mod format;
mod json;
mod lines;
mod markdown;

pub use json::write_json;
pub use lines::run_lines;
pub use markdown::markdown;
