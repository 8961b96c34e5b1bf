//! Analyses and graded runs as bytes: `benchmark.json`, the report of `grade`, and the summary for people.
//!
//! In: blocks of codes and exact numbers. Out: JSON and text. All words and all rounding live here; nothing is computed.

pub mod benchmark_json;
mod compat;
pub mod diff;
pub mod doctor;
mod endings_json;
pub mod forge;
pub mod grading_file;
mod inference_json;
pub mod judge_tasks;
mod missingness_json;
pub mod numbers;
mod ordered;
mod reliability_json;
pub mod row;
pub mod skill_eval;
pub mod spool;
mod stored_json;
pub mod suite_counts;
pub mod terminal;
mod trajectory_json;
pub mod view;
pub mod words;

pub use benchmark_json::{Provenance, ReportHead, begin_grading, end_grading, write_benchmark};
pub use judge_tasks::TaskContext;
pub use spool::{RowArray, RowSpool, RowWriter};
pub use stored_json::StoredSource;
pub use suite_counts::SuiteCounts;
pub use terminal::{Style, render};
pub use view::SummaryView;
