//! `script`: a program of the suite accepts the run directory.

use super::{Evidence, Finding};

pub(super) fn script(
    _command: &[String],
    _timeout_seconds: f64,
    _pass_exit_code: i64,
    _evidence: &mut Evidence<'_, '_>,
) -> Finding {
    Finding::unobserved(
        "script assertion skipped; rerun grade/benchmark with --allow-scripts to execute repo-owned oracle commands",
    )
}
