//! Iterations of the executor/grader runner: `workspace/<agent>/iteration-N`.
//!
//! In: the folder of an iteration that may be hostile. Out: [`Iteration`], every run that is there or was planned, in
//! report order; or one [`RunRecord`] for who reads runs one at a time. A run is read twice: as the runner recorded it,
//! and as the grader's own answer reads when nothing in it is guessed ([`GraderReading`]).

mod benchmark;
mod eval_order;
mod field;
mod iteration;
mod manifest;
mod record;
mod reply;
mod spans;
mod status;
mod suite_glance;
mod verdicts;

pub use benchmark::{
    Benchmark, CellRates, Comparison, DirtyFixtures, EvalRates, InfrastructureFailure, Inversion, SanityChecks,
    StoredBenchmark, ZeroCell,
};
pub use iteration::{Iteration, IterationError, MissingRun, arm_rank};
pub use manifest::{FixtureStatus, Fixtures, Manifest, SuiteCoverage};
pub use record::{Counts, Expectation, RecordSource, RunMetrics, RunPlace, RunRecord};
pub use status::RunStatus;
pub use suite_glance::{EvalGlance, Scoring, SuiteGlance};
pub use verdicts::{GraderReading, GraderState, ReadingNote, StrictVerdict};
