//! Writing the telemetry envelope of the current version into the files of saved runs.
//!
//! In: a folder of saved runs that may be hostile. Out: for every run directory with `metadata.json` or `metrics.json`
//! both files with an envelope, and a [`Migration`] that names what was changed and what was left alone. What a report
//! reads of a run is the same before, after, and at any moment between: members are only added, and each file changes
//! at once. Hence a migration that was interrupted needs no undoing; the next one finishes it.

mod plan;
mod problem;
mod tree;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use skill_lift_contract::write::AtomicFile;

pub use problem::{LeftAlone, MigrationProblem};

use super::directory::plain_message;
use super::index::{check_root, join_shown, shown_path};
use super::layout_error::LayoutError;
use super::limits::Limits;
use plan::{Plan, RunFiles};

/// The two files that get an envelope, in the order in which they are written and read.
const TARGETS: [&str; 2] = ["metadata.json", "metrics.json"];

/// How a tree is migrated.
#[derive(Debug, Clone, Copy, Default)]
pub struct MigrationOptions {
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Whether every value of a new envelope is called unverified, as version 0.6 of the reference package does. Sums and
    /// comparisons with values of another source are not taken any more then.
    pub mark_unverified: bool,
    /// How much is read.
    pub limits: Limits,
}

/// What became of a tree. Paths are the root as the user typed it, then what lies below it.
#[derive(Debug, Default)]
pub struct Migration {
    /// Run directories with at least one of the files.
    pub seen: usize,
    /// Those whose files were changed, or would be.
    pub changed: Vec<String>,
    /// How many have everything already.
    pub unchanged: usize,
    /// What could not be read: run directories that were left alone, and folders that were not looked into.
    pub unreadable: Vec<MigrationProblem>,
    /// What may not be written or followed, for another reason than that it cannot be read.
    pub refused: Vec<MigrationProblem>,
    /// Run directories whose files could not be written, and why.
    pub failed: Vec<MigrationProblem>,
    /// Files that an interrupted migration left behind and that were removed.
    pub leftovers_removed: usize,
}

/// Migrates every run below a root. `progress` is called with the number of directories that are done, and of all.
///
/// # Errors
/// A root that is no folder or cannot be listed. What goes wrong below it stands in the result.
pub fn migrate(
    root: &Path,
    options: &MigrationOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Migration, LayoutError> {
    let mut missing = Vec::new();
    check_root(root, &mut missing)?;
    if !missing.is_empty() {
        return Err(LayoutError::Missing(root.display().to_string()));
    }
    let shown_root = shown_path(root);
    let shown = |path: &str| if path.is_empty() { shown_root.clone() } else { join_shown(&shown_root, path) };
    let found = tree::find(root, options.limits.directory_entries)?;
    let (done, total) = (AtomicUsize::new(0), found.runs.len());
    let outcomes: Vec<Outcome> = found
        .runs
        .par_iter()
        .map(|path| {
            let outcome = migrate_run(root, path, options);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            outcome
        })
        .collect();
    let mut migration = Migration { seen: total, ..Migration::default() };
    let mut problems = found.problems;
    for (path, outcome) in found.runs.iter().zip(outcomes) {
        migration.leftovers_removed += outcome.leftovers_removed;
        match outcome.state {
            State::Changed => migration.changed.push(shown(path)),
            State::Unchanged => migration.unchanged += 1,
            State::LeftAlone(name, why) => {
                let place = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
                problems.push((place, why));
            }
            State::Failed(error) => {
                let why = LeftAlone::CannotWrite(plain_message(&error));
                migration.failed.push(MigrationProblem { path: shown(path), why });
            }
        }
    }
    problems.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    for (path, why) in problems {
        let list = if why.is_unreadable() { &mut migration.unreadable } else { &mut migration.refused };
        list.push(MigrationProblem { path: shown(&path), why });
    }
    Ok(migration)
}

/// What became of one run directory.
struct Outcome {
    state: State,
    leftovers_removed: usize,
}

enum State {
    Changed,
    Unchanged,
    /// A file of it, and why the directory was left alone because of it.
    LeftAlone(&'static str, LeftAlone),
    Failed(io::Error),
}

fn migrate_run(root: &Path, path: &str, options: &MigrationOptions) -> Outcome {
    let mut leftovers_removed = 0;
    let mut state = || -> Result<State, (&'static str, LeftAlone)> {
        let files = RunFiles::read(root, path, &options.limits)?;
        if !options.dry_run {
            leftovers_removed = remove_leftovers(&root.join(path), files.leftovers());
        }
        let plan = files.plan(options.mark_unverified)?;
        Ok(match plan {
            Plan::Nothing => State::Unchanged,
            Plan::Write(_) if options.dry_run => State::Changed,
            Plan::Write(files) => match write_files(&root.join(path), &files) {
                Ok(()) => State::Changed,
                Err(error) => State::Failed(error),
            },
        })
    };
    let state = state().unwrap_or_else(|(name, why)| State::LeftAlone(name, why));
    Outcome { state, leftovers_removed }
}

/// Removes the files that a process left behind that is gone. Whether all of them can be removed decides nothing.
fn remove_leftovers(folder: &Path, names: &[String]) -> usize {
    names.iter().filter(|name| fs::remove_file(folder.join(name)).is_ok()).count()
}

/// Writes the new texts, each whole or not at all. All of them are on the disk under other names before the first one
/// gets its name, so that a disk that is full changes nothing.
fn write_files(folder: &Path, files: &[(&'static str, String)]) -> io::Result<()> {
    let mut ready = Vec::with_capacity(files.len());
    for (name, text) in files {
        let place = folder.join(name);
        let mut file = AtomicFile::create(&place)?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        if let Ok(before) = fs::symlink_metadata(&place) {
            file.set_permissions(before.permissions())?;
        }
        ready.push(file);
    }
    ready.into_iter().try_for_each(AtomicFile::commit)
}

#[cfg(test)]
mod tests;
