//! Suites of the dialects that leave much open: `skill-creator`, `skill-eval`, `skill-forge`.
//!
//! In: the root of a file that is no `shared-benchmark` manifest. Out: the same [`Suite`](super::Suite) as for any other
//! dialect, or every problem of the file. What a machine can decide becomes a check, all other prose a judge task.

mod assertion;
mod calls;
mod case;
mod closed;
mod collect;
mod container;
mod detect;
mod files;
mod json;
mod load;
mod metadata;
mod open;
mod operands;
mod remark;
mod rule;
mod sentence;

pub(super) use detect::{detect, expected};
pub(super) use json::refuse as refuse_json;
pub(super) use load::load;
pub use metadata::assertions_of;
pub use remark::cut;
