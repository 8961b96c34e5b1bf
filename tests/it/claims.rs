//! Result files of other tools: every form, and files that are out to break the reader.

mod corpus;
mod forms;
mod hostile;
mod use_of_claims;

use serde_json::Value;
use skill_lift::runs::claims::{Claims, ClaimsError, ReadOptions, read};
use skill_lift_stats::rational::{self, Rational};

/// Reads a file that is given as a value.
fn claims(file: &Value) -> Claims {
    read(file.to_string().as_bytes(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{file}"))
}

/// Why a text is refused.
fn refused(text: &str) -> ClaimsError {
    read(text.as_bytes(), &ReadOptions::default()).expect_err(text)
}

fn share(passed: u64, total: u64) -> Rational {
    rational::rate(passed, total)
}
