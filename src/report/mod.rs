//! Analyses and graded runs as bytes: `benchmark.json`, the report of `grade`, and the summary for people.
//!
//! In: blocks of codes and exact numbers. Out: JSON and text. All words and all rounding live here; nothing is computed.

mod aggregate_json;
mod aggregate_table;
pub mod benchmark_json;
mod compat;
mod cost_json;
mod cost_line;
pub mod diff;
pub mod doctor;
mod efficiency_json;
mod endings_json;
pub mod forge;
pub mod grading_file;
mod inference_json;
pub mod judge_tasks;
mod ledger_json;
mod ledger_table;
mod markup;
mod migration_json;
mod missingness_json;
pub mod numbers;
mod ordered;
mod overhead_json;
mod overhead_table;
mod paired_json;
mod profile_json;
mod quantities;
mod reliability_json;
pub mod reproduction;
pub mod row;
pub mod skill_eval;
pub mod spool;
mod stored_json;
pub mod suite_counts;
mod telemetry_json;
pub mod terminal;
mod trajectory_json;
pub mod trend;
pub mod view;
pub mod words;

pub use aggregate_json::{SkillReport, write_aggregate};
pub use aggregate_table::aggregate_table;
pub use benchmark_json::{Provenance, ReportHead, Sources, begin_grading, end_grading, write_benchmark};
pub use judge_tasks::TaskContext;
pub use ledger_json::{LedgerHead, LedgerSource, write_ledger_json};
pub use ledger_table::{ledger_markdown, ledger_table};
pub use migration_json::write_migration;
pub use overhead_json::{OverheadReport, write_overhead};
pub use overhead_table::{overhead_markdown, overhead_table};
pub use spool::{RowArray, RowSpool, RowWriter};
pub use stored_json::StoredSource;
pub use suite_counts::SuiteCounts;
pub use terminal::{Style, render};
pub use view::SummaryView;
