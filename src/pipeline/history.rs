//! A folder of reports that only grows: `run-001.json`, `run-002.json` and so on.
//!
//! Reports are read one after the other; no more than two are in memory, and one that is being added.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use num_bigint::BigUint;
use skill_lift_contract::write::AtomicFile;
use skill_lift_stats::Thresholds;

use crate::analyze::diff::Side;
use crate::analyze::trend::{Report, Trend, TrendBuilder};
use crate::runs::Limits;
use crate::runs::claims::{ClaimsError, ReadOptions, ReadReport, read_report};
use crate::runs::index::shown_path;
use crate::runs::named_file::{NamedFileProblem, read_named};

/// Digits of the number in a new name, at least.
const DIGITS: usize = 3;

/// Why a history is refused.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The path of the history is something else.
    #[error("{0} is no folder; --history names the folder that keeps the reports")]
    NotAFolder(String),
    /// The folder cannot be read.
    #[error("{folder} cannot be read: {error}")]
    Unreadable {
        /// The folder.
        folder: String,
        /// What the system says.
        error: io::Error,
    },
    /// The folder has more entries than are read.
    #[error("{folder} has more than {limit} entries")]
    TooManyEntries {
        /// The folder.
        folder: String,
        /// The limit.
        limit: usize,
    },
    /// A file of the history, or the one to add, is no report that can be read.
    #[error("{file}: {error}")]
    Report {
        /// The file.
        file: String,
        /// Why.
        error: Box<ClaimsError>,
    },
    /// The history holds a file with the same bytes.
    #[error("{report} is in the history already: {entry} has the same bytes")]
    AlreadyThere {
        /// The report to add.
        report: String,
        /// The file in the history.
        entry: String,
    },
    /// The report cannot be written.
    #[error("cannot write {file}: {error}")]
    Write {
        /// The new file.
        file: String,
        /// What the system says.
        error: io::Error,
    },
}

/// What a history shows, and what was added to it.
#[derive(Debug)]
pub struct ReadHistory {
    /// What it shows.
    pub trend: Trend,
    /// The file that was added.
    pub added: Option<PathBuf>,
    /// Files of the history that are no whole reports, with why. They are in the series with what they state.
    pub no_reports: Vec<(String, ClaimsError)>,
}

/// A history of reports.
#[derive(Debug)]
pub struct History<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// How reports are read.
    pub options: ReadOptions,
}

/// A file of the history.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    number: BigUint,
    name: String,
    /// Folders, and links that lead nowhere, take a number and are no reports.
    is_file: bool,
}

impl History<'_> {
    /// Reads all reports of the history, and with `add` appends a copy of a report to it first. Nothing is written when
    /// anything is refused.
    ///
    /// # Errors
    /// A file that is no readable report of `benchmark`; a report that the history holds already; a folder that cannot be
    /// read or written.
    pub fn read(&self, thresholds: &Thresholds, add: Option<&Path>) -> Result<ReadHistory, HistoryError> {
        let Some(path) = add else {
            let Built { trend, no_reports, .. } = self.build(thresholds, None)?;
            return Ok(ReadHistory { trend: trend.finish(), added: None, no_reports });
        };
        let added = Added { shown: shown_path(path), bytes: self.bytes(path)? };
        loop {
            // what is refused is refused before the history is read
            let (mut report, problem) = self.report(&added.shown, &added.bytes)?;
            if let Some(error) = problem {
                return Err(HistoryError::Report { file: added.shown, error: Box::new(error) });
            }
            let Built { mut trend, next, no_reports } = self.build(thresholds, Some(&added))?;
            let place = self.folder.join(&next);
            match write_new(&place, &added.bytes) {
                Ok(()) => {
                    report.side.label = next;
                    trend.push(report);
                    return Ok(ReadHistory { trend: trend.finish(), added: Some(place), no_reports });
                }
                // somebody else was faster: what they added may be the same report, and the next number is another one
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(HistoryError::Write { file: shown_path(&place), error }),
            }
        }
    }

    /// Reads what is there now.
    fn build(&self, thresholds: &Thresholds, add: Option<&Added>) -> Result<Built, HistoryError> {
        let entries = self.entries()?;
        let (mut trend, mut no_reports) = (TrendBuilder::new(thresholds.clone()), Vec::new());
        for entry in entries.iter().filter(|entry| entry.is_file) {
            let path = self.folder.join(&entry.name);
            let shown = shown_path(&path);
            let bytes = self.bytes(&path)?;
            if let Some(add) = add.filter(|add| add.bytes == bytes) {
                return Err(HistoryError::AlreadyThere { report: add.shown.clone(), entry: shown });
            }
            let (mut report, problem) = self.report(&shown, &bytes)?;
            drop(bytes);
            no_reports.extend(problem.map(|error| (shown, error)));
            report.side.label.clone_from(&entry.name);
            trend.push(report);
        }
        let next = entries.last().map_or_else(|| BigUint::from(1_u32), |last| &last.number + 1_u32);
        Ok(Built { trend, next: format!("run-{:0>DIGITS$}.json", next.to_string()), no_reports })
    }

    /// What has a name of the history, by number, then by name; nothing when there is no folder yet.
    fn entries(&self) -> Result<Vec<Entry>, HistoryError> {
        let folder = || shown_path(self.folder);
        let unreadable = |error| HistoryError::Unreadable { folder: folder(), error };
        let reader = match fs::read_dir(self.folder) {
            Ok(reader) => reader,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(HistoryError::NotAFolder(folder()));
            }
            Err(error) => return Err(unreadable(error)),
        };
        let limit = Limits::default().directory_entries;
        let mut entries = Vec::new();
        for (at, entry) in reader.enumerate() {
            let entry = entry.map_err(unreadable)?;
            if at >= limit {
                return Err(HistoryError::TooManyEntries { folder: folder(), limit });
            }
            let name = entry.file_name();
            let Some((name, number)) = name.to_str().and_then(|name| Some((name, number_of(name)?))) else { continue };
            // a link to a file is a file, as in the reference
            entries.push(Entry { number, name: name.to_owned(), is_file: entry.path().is_file() });
        }
        entries.sort_unstable();
        Ok(entries)
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, HistoryError> {
        let refused = |problem: NamedFileProblem| HistoryError::Report {
            file: shown_path(path),
            error: Box::new(problem.into()),
        };
        read_named(path, self.options.bytes).map_err(refused)
    }

    /// A report, and why it is no whole one.
    fn report(&self, file: &str, bytes: &[u8]) -> Result<(Report, Option<ClaimsError>), HistoryError> {
        let ReadReport { claims, stated, design, problem } = read_report(bytes, &self.options)
            .map_err(|error| HistoryError::Report { file: file.to_owned(), error: Box::new(error) })?;
        Ok((Report { side: Side::of_file(file.to_owned(), claims), stated, design }, problem))
    }
}

/// A history that was read.
struct Built {
    trend: TrendBuilder,
    /// The name of the next file.
    next: String,
    no_reports: Vec<(String, ClaimsError)>,
}

/// A report that is to be added.
struct Added {
    shown: String,
    bytes: Vec<u8>,
}

/// The number in `run-<digits>.json`.
fn number_of(name: &str) -> Option<BigUint> {
    let digits = name.strip_prefix("run-")?.strip_suffix(".json")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| BigUint::parse_bytes(digits.as_bytes(), 10)).flatten()
}

/// Writes a file that is not there yet; it appears whole or not at all.
fn write_new(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(place)?;
    file.write_all(bytes)?;
    file.commit_new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_a_number_are_of_the_history() {
        assert_eq!(number_of("run-007.json"), Some(BigUint::from(7_u32)));
        assert_eq!(number_of("run-1000.json"), Some(BigUint::from(1000_u32)));
        assert!(number_of(&format!("run-{}.json", "9".repeat(40))).is_some());
        for name in ["run-.json", "run-1.json.bak", "run--1.json", "run-1a.json", "run-+1.json", "Run-1.json", "run-1"]
        {
            assert_eq!(number_of(name), None, "{name}");
        }
    }
}
