//! What is evaluated: a suite of cases with their checks, read from the file that people write.
//!
//! In: a suite file (and the dataset and fixture files that it names). Out: a validated [`Suite`], or every problem
//! of the file at once as [`Diagnostic`]s with line, column and path. Knows nothing of run directories.

mod ablation;
mod assertion;
mod case;
pub mod check;
mod cross;
mod dataset_files;
mod datasets;
mod depends;
pub mod diagnostic;
mod digest;
mod environment;
mod evals;
mod files;
pub mod generate;
mod inputs;
mod judge;
pub mod leakage;
mod load;
pub mod model;
mod negation;
pub mod one_arm;
mod operands;
pub mod render;
mod report;
mod schema;
mod script;
mod shape;
pub mod skill_paths;
pub(crate) mod suggest;
mod top;
mod words;

pub use check::{Check, TextMatching};
pub use diagnostic::{Diagnostic, Diagnostics, Level};
pub use digest::canonical_json_sha256;
pub use evals::{assertions_of, cut as shortened_text};
pub use load::{LoadOptions, Loaded, load};
pub use model::{
    Ablation, Assertion, AssertionClass, AssertionType, Case, Dialect, EvalIntent, OracleTier, Origin, Scoring,
    Severity, Split, Suite, Turn, TypeGroup, VariantFilter,
};
