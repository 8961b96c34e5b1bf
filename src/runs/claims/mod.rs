//! What a result file of any tool claims: the rows of a `benchmark.json` in every form that tools leave, as they are.
//!
//! In: the bytes of one JSON file that may be hostile. Out: [`Claims`], the rows with exact rates, what the file
//! publishes about them, and notes on everything that does not fit together. The form is told by the keys, never by the
//! file name. A claim is never a measurement: deltas and means of the file are kept as texts and numbers to check, and
//! [`lift`](fn@lift), [`compare`] and [`check`] recompute everything from the rows.

mod checking;
mod comparison;
mod decode;
mod design;
mod error;
mod figures;
mod form;
mod lifting;
mod model;
mod note;
mod places;
mod published;
mod read;
mod row;
mod saved;
mod shape;
mod stated;
mod triggers;
mod verdicts;

pub use checking::{Contradiction, ContradictionCode, Gradings, check};
pub use comparison::{CellChange, ChangeKind, CheckCounts, Comparison, Difference, RunCounts, compare};
pub use design::{CostBasis, ExtraCost, RunPrice, StatedAvailability, StatedCase, StatedDesign};
pub use error::{ClaimsError, NearForm};
pub use figures::DeltaText;
pub use form::ClaimForm;
pub use lifting::{ArmTotals, BlockedCase, BlockedWhy, CasePair, ClaimedLift, arms, contrast, lift};
pub use model::{
    CaseName, ClaimedAggregate, ClaimedAssertion, ClaimedFlag, ClaimedRate, ClaimedRun, Claims, NotScored,
    PublishedDelta, Unmeasured,
};
pub use note::{ClaimNote, NoteCode};
pub use read::{ReadDesign, ReadOptions, ReadReport, load, read, read_design, read_report, read_report_row};
pub use saved::{
    RegressionVerdict, SavedAblation, SavedAggregate, SavedBenchmark, SavedCase, SavedCheck, SavedCounts, SavedFailure,
    SavedIndependence, SavedJudgement, SavedRegression, SavedReport, SavedRow, SavedSpan, StoredVerdicts, read_saved,
    read_saved_report, read_saved_row,
};
pub use stated::{StatedArm, StatedFailure, StatedReport, StatedRow};
pub use triggers::{SavedTriggers, TriggerRun, read_triggers};
