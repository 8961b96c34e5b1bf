//! `migrate-telemetry`: writes the telemetry of saved runs in its current form.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::interrupt;
use super::output::{emit, fail, progress_bar, warn_line};
use crate::report::numbers::{count, counted};
use crate::report::write_migration;
use crate::runs::Limits;
use crate::runs::index::shown_path;
use crate::runs::migrate::{Migration, MigrationOptions, MigrationProblem, migrate};

/// How many of a kind are named on standard error; the report names all of them.
const NAMED: usize = 5;

/// Writes the telemetry of saved runs in its current form, schema version 3, into metadata.json and metrics.json.
///
/// The numbers that a report reads of the runs stay the same. All other fields of the files stay as they are written. A
/// run whose files cannot be read is left alone and named. A migration that was interrupted is finished by the next one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift migrate-telemetry --runs eval-runs/latest --check\n  \
    skill-lift migrate-telemetry --runs eval-runs/latest --out migration.json\n\n\
    Exit codes: 0 done, also with --check when something would change; 1 refused input, or files that could not be \
    written; 2 wrong arguments.")]
pub struct MigrateTelemetryArguments {
    /// The folder of the saved runs.
    #[arg(long, value_name = "DIR")]
    runs: PathBuf,
    /// Write nothing into the runs; say what would change.
    #[arg(long)]
    check: bool,
    /// Call every value legacy_unverified, whatever a block says of its source, as version 0.6 of the reference package does.
    /// Reports do not add such values to others any more, nor compare their costs within pairs.
    #[arg(long)]
    mark_unverified: bool,
    /// Write the report to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Largest metadata, timing or metrics file.
    #[arg(long, value_name = "MIB", default_value_t = 16, help_heading = "Limits")]
    max_sidecar_mib: u64,
    /// Entries of one directory of the run tree.
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Limits")]
    max_dir_entries: usize,
}

/// Runs the command.
pub fn run(arguments: &MigrateTelemetryArguments) -> ExitCode {
    interrupt::watch();
    let limits = Limits {
        sidecar_bytes: Limits::mebibytes(arguments.max_sidecar_mib),
        directory_entries: arguments.max_dir_entries,
        ..Limits::default()
    };
    let bar = progress_bar(arguments.quiet, "run directories");
    let progress = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let options = MigrationOptions { dry_run: arguments.check, mark_unverified: arguments.mark_unverified, limits };
    let migrated = migrate(&arguments.runs, &options, &progress);
    bar.finish_and_clear();
    let migration = match migrated {
        Ok(migration) => migration,
        Err(error) => return fail(&error.to_string()),
    };
    let runs = shown_path(&arguments.runs);
    let write = |writer: &mut dyn Write| write_migration(writer, &migration, &runs, arguments.check);
    if let Err(message) = emit(arguments.out.as_deref(), write) {
        return fail(&message);
    }
    if !arguments.quiet {
        warn_about("WARN ", &migration.unreadable);
        warn_about("WARN ", &migration.refused);
    }
    let failed = !migration.failed.is_empty();
    if failed {
        warn_about("FAIL: ", &migration.failed);
    }
    if !arguments.quiet {
        warn_line(&summary(&migration, arguments.check));
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn warn_about(word: &str, problems: &[MigrationProblem]) {
    for MigrationProblem { path, why } in problems.iter().take(NAMED) {
        warn_line(&format!("{word}{}: {path}: {why}", why.code()));
    }
    if problems.len() > NAMED {
        warn_line(&format!("{word}… and {} more; the report names them", count(problems.len() - NAMED)));
    }
}

/// One line on what was done.
fn summary(migration: &Migration, is_dry_run: bool) -> String {
    let Migration { seen, changed, unchanged, unreadable, refused, failed, .. } = migration;
    if *seen == 0 {
        return "No metadata.json and no metrics.json was found.".to_owned();
    }
    let verb = if is_dry_run { "would change" } else { "changed" };
    let seen = counted(*seen, "run directory", "run directories");
    let mut line = format!("{} of {seen} {verb}, {} had nothing to change", count(changed.len()), count(*unchanged));
    let others = [(unreadable, "could not be read"), (refused, "left alone"), (failed, "could not be written")];
    for (problems, what) in others {
        if !problems.is_empty() {
            line.push_str(&format!(", {} {what}", count(problems.len())));
        }
    }
    if migration.leftovers_removed > 0 {
        let leftovers = counted(migration.leftovers_removed, "file", "files");
        line.push_str(&format!("; {leftovers} of an interrupted writer removed"));
    }
    line.push('.');
    line
}
