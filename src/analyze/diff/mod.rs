//! What changed between two results: by case and arm, in the lift, in the flags, and whether the two may be compared.
//!
//! In: two [`Side`]s, wherever their rows come from. Out: a [`Diff`] of exact numbers and codes. A test is only made when
//! the sides are like for like, or when the user says that they are.

mod align;
mod comparability;
mod compared;
mod gate;
mod shift;
mod side;

pub use align::align_cases;
pub use comparability::{Basis, Comparability, Mismatch, MismatchCode};
pub use compared::{CaseSets, Diff, DiffOptions, LiftChange, NothingToCompare, VariantMeans, diff};
pub use gate::{GateOutcome, GateRule, Regression, RegressionWhy, gate};
pub use shift::{CaseShift, NotTested, Shift, Tested};
pub use side::{CaseText, FlagsUnknown, RateRule, Side, SideOrigin};
