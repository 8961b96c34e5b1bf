//! Writing the JSON of a comparison.

use std::io::{self, Write};

use super::blocks::Document;
use crate::analyze::diff::{Diff, GateOutcome, GateRule};
use crate::json::write::pretty;

/// Writes a comparison, with what `--fail-on-regression` found if it was asked.
///
/// # Errors
/// Those of the writer.
pub fn write_diff(
    mut writer: &mut dyn Write,
    diff: &Diff<'_>,
    gate: Option<(GateRule, &GateOutcome<'_>)>,
) -> io::Result<()> {
    pretty(&mut writer, &Document::of(diff, gate), 0)?;
    writer.write_all(b"\n")
}
