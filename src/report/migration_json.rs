//! The report of `migrate-telemetry`, in the form of version 0.6, with what was left alone beside it.

use std::io;

use serde::Serialize;
use skill_lift_contract::telemetry::SCHEMA_VERSION;

use crate::json::write::pretty;
use crate::runs::migrate::{Migration, MigrationProblem};

#[derive(Serialize)]
struct MigrationJson<'a> {
    telemetry_schema_version: u32,
    runs: &'a str,
    mode: &'static str,
    run_dirs_seen: usize,
    changed: usize,
    unchanged: usize,
    changed_run_dirs: &'a [String],
    unreadable: Vec<ProblemJson<'a>>,
    refused: Vec<ProblemJson<'a>>,
    failed: Vec<ProblemJson<'a>>,
    leftovers_removed: usize,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    path: &'a str,
    reason: &'static str,
    message: String,
}

impl<'a> From<&'a MigrationProblem> for ProblemJson<'a> {
    fn from(problem: &'a MigrationProblem) -> Self {
        Self { path: &problem.path, reason: problem.why.code(), message: problem.why.to_string() }
    }
}

fn problems(list: &[MigrationProblem]) -> Vec<ProblemJson<'_>> {
    list.iter().map(ProblemJson::from).collect()
}

/// Writes the report. `runs` is the root as the user typed it.
///
/// # Errors
/// Those of the writer.
pub fn write_migration(
    writer: &mut dyn io::Write,
    migration: &Migration,
    runs: &str,
    is_dry_run: bool,
) -> io::Result<()> {
    let report = MigrationJson {
        telemetry_schema_version: SCHEMA_VERSION,
        runs,
        mode: if is_dry_run { "check" } else { "write" },
        run_dirs_seen: migration.seen,
        changed: migration.changed.len(),
        unchanged: migration.unchanged,
        changed_run_dirs: &migration.changed,
        unreadable: problems(&migration.unreadable),
        refused: problems(&migration.refused),
        failed: problems(&migration.failed),
        leftovers_removed: migration.leftovers_removed,
    };
    pretty(&mut *writer, &report, 0)?;
    writeln!(writer)
}
