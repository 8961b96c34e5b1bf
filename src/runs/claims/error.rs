//! Why a file is refused as a list of results.

use std::fmt;

use skill_lift_text::screen::visible;

use super::form::ClaimForm;
use crate::json::JsonErrorKind;
use crate::runs::limits::describe_bytes;
use crate::runs::named_file::NamedFileProblem;

/// A form that a refused file comes near to, and what the file lacks of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearForm {
    /// The form.
    pub form: ClaimForm,
    /// What is missing.
    pub missing: Vec<&'static str>,
}

impl fmt::Display for NearForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (missing: {})", self.form, self.missing.join(", "))
    }
}

impl From<NamedFileProblem> for ClaimsError {
    fn from(problem: NamedFileProblem) -> Self {
        match problem {
            NamedFileProblem::NotAFile => Self::NotAFile,
            NamedFileProblem::TooLarge(limit) => Self::TooLarge(limit),
            NamedFileProblem::Missing | NamedFileProblem::Link | NamedFileProblem::Unreadable(_) => {
                Self::Unreadable(problem.to_string())
            }
        }
    }
}

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimsError {
    /// The system says no.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A folder, a pipe or a device.
    #[error("is not a regular file")]
    NotAFile,
    /// More bytes than are read.
    #[error("is larger than {}", describe_bytes(*.0))]
    TooLarge(u64),
    /// More rows than are read.
    #[error("has more than {limit} rows at {pointer}")]
    TooManyRows {
        /// The list.
        pointer: String,
        /// The limit.
        limit: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("is not valid UTF-8 (byte {0})")]
    NotUtf8(usize),
    /// Not strict JSON.
    #[error("{kind} at {}, line {line}, column {column}", visible(.path, false))]
    Json {
        /// What is wrong.
        kind: JsonErrorKind,
        /// Path of the value that holds the place.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// JSON, but no object.
    #[error("is no result list: the top level is {0}, not an object")]
    NotAnObject(&'static str),
    /// An object of none of the forms.
    #[error("is no result list; nearest forms: {}", shown(.0))]
    NotResults(Vec<NearForm>),
    /// Results, but not those of `benchmark`.
    #[error("holds results in the form {0}; it is no report of `benchmark`")]
    NotABenchmarkReport(ClaimForm),
    /// Rows without the figures of a benchmark report.
    #[error("has no {}; it is no whole report of `benchmark`", .0.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))]
    NotWhole(Vec<&'static str>),
    /// A report whose inference cannot be used.
    #[error("its block `inference` cannot be used: {}", visible(.0, false))]
    BrokenInference(String),
    /// A row that cannot be counted.
    #[error("{}: {}", visible(.pointer, false), visible(.problem, false))]
    Row {
        /// JSON pointer of the value.
        pointer: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Two rows for one run.
    #[error(
        "duplicate run: case {}, configuration {}, repetition {repetition} at {first} and {second}",
        visible(.case, false),
        visible(.configuration, false)
    )]
    Duplicate {
        /// The case.
        case: String,
        /// The arm as it was written.
        configuration: String,
        /// The repetition.
        repetition: u32,
        /// JSON pointer of the first row.
        first: String,
        /// JSON pointer of the second row.
        second: String,
    },
}

fn shown(forms: &[NearForm]) -> String {
    forms.iter().map(NearForm::to_string).collect::<Vec<_>>().join("; ")
}
