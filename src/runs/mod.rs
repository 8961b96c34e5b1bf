//! What was produced: an index of a run tree, then one run's files on demand.
//!
//! In: a folder of saved runs that may be hostile. Out: [`RunIndex`], one slot for every run that a suite expects or
//! that is there, in report order; and [`RunDirectory`], which opens each file of a run at most once, hashes what it
//! reads and never follows a link out of the run. Knows nothing of assertions; holds one run's bytes at a time.

mod answer_files;
mod artifact_set;
pub mod billing;
pub(crate) mod calendar;
pub mod claims;
pub mod configuration;
pub mod directory;
pub mod ending;
pub mod events;
pub mod evidence;
pub mod forge;
pub mod index;
mod layout_error;
pub mod limits;
mod listing;
pub mod metrics;
pub mod migrate;
pub(crate) mod named_file;
mod natural;
pub(crate) mod output;
pub mod plan;
pub mod saved_runs;
pub mod sidecar;
pub mod skill_eval;
pub mod telemetry;
pub mod warning;
pub mod workspace;

pub use answer_files::{AnswerFiles, OUTPUTS, open_run};
pub use configuration::{Configuration, Role, control_among};
pub use directory::{FileProblem, RunDirectory};
pub use ending::{Ending, ServedModel, StopClass};
pub use events::{Event, EventKind, EventLog, EventStatus, Events, EventsProblem};
pub use evidence::{RunEvidence, TurnEvidence};
pub use index::{AnswerRule, IndexOptions, OnDuplicate, RunIndex, RunSlot};
pub use layout_error::LayoutError;
pub use limits::Limits;
pub use metrics::{Metrics, Signal};
pub use named_file::{NamedFileProblem, open_named, read_named};
pub use natural::natural_order;
pub use output::{Output, OutputPlace};
pub use plan::{Plan, PlanError, PlannedRun};
pub use saved_runs::SavedRuns;
pub use sidecar::{Execution, Sidecars};
pub use telemetry::{RunTelemetry, TelemetryCoverage, UsedByRun};
pub use warning::{RunWarning, WarningCode};
