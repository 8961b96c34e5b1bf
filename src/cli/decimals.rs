//! Decimal numbers on the command line, read exactly.

use std::process::ExitCode;

use skill_lift_stats::rational::{self, Rational};

use super::output::usage;

/// What a share between 0 and 1 must be.
pub(super) const BETWEEN: &str = "between 0 and 1";

/// A number that may be left out.
pub(super) fn optional(
    flag: &str,
    text: Option<&str>,
    fits: impl Fn(&Rational) -> bool,
    must: &str,
) -> Result<Option<Rational>, ExitCode> {
    text.map(|text| number(flag, text, fits, must)).transpose()
}

/// A number; one that does not fit is wrong usage.
pub(super) fn number(
    flag: &str,
    text: &str,
    fits: impl Fn(&Rational) -> bool,
    must: &str,
) -> Result<Rational, ExitCode> {
    rational::parse_decimal(text)
        .filter(fits)
        .ok_or_else(|| usage(&format!("invalid value '{text}' for '--{flag}': a number {must}")))
}
