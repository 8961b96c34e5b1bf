//! What is evaluated: a suite of cases with their checks, read from the file that people write.
//!
//! In: a suite file (and the dataset and fixture files that it names). Out: a validated [`Suite`], or every problem
//! of the file at once as [`Diagnostic`]s with line, column and path. Knows nothing of run directories.

pub mod check;
pub mod diagnostic;
pub mod model;

pub use check::{Check, TextMatching};
pub use diagnostic::{Diagnostic, Diagnostics, Level};
pub use model::{
    Ablation, Assertion, AssertionType, Case, Dialect, EvalIntent, OracleTier, Severity, Split, Suite, Turn, TypeGroup,
    VariantFilter,
};
