//! The runs of an iteration with the leniency of the aggregator that the forge pipeline comes with.
//!
//! It trusts `pass_rate` as it is written, takes what is missing for 0, and never looks at `timed_out` or `error.txt`.

use std::fs;
use std::path::Path;

use super::document::{Loaded, load, number, object, stops};
use super::{UpstreamError, eval_digits, iteration_digits};
use crate::json::{Node, Number, Value};
use crate::runs::directory::{RunDirectory, plain_message};
use crate::runs::index::{join_shown, shown_path};
use crate::runs::limits::Limits;
use crate::runs::listing::{EntryKind, Listing, ListingError};

/// The arms, by the names of their directories.
pub(super) const ARMS: [&str; 2] = ["with_skill", "baseline"];

/// Numbered trials that are looked for: `_0` to `_19`.
const TRIALS: u32 = 20;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpstreamRun {
    /// The rate as recorded.
    pub pass_rate: f64,
    /// Tokens; 0 when they are not known.
    pub total_tokens: f64,
    /// Seconds; 0 when they are not known.
    pub duration_seconds: f64,
}

/// One eval directory.
#[derive(Debug, Clone)]
pub struct UpstreamEval {
    /// The number in its name, without leading zeros.
    pub eval_id: String,
    /// What its metadata calls it, whatever that is; else the name of the directory.
    pub eval_name: Node<'static>,
    /// Runs with the skill.
    pub with_skill: Vec<UpstreamRun>,
    /// Runs without it.
    pub baseline: Vec<UpstreamRun>,
}

/// An iteration.
#[derive(Debug, Clone)]
pub struct UpstreamIteration {
    /// Its number, as digits without leading zeros.
    pub number: String,
    /// Its evals in the order of the aggregator: by the text of their names, `eval-10` before `eval-2`.
    pub evals: Vec<UpstreamEval>,
    /// Files that count as absent although they are there, and runs that are not looked for.
    pub notes: Vec<String>,
}

/// A number of an earlier report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PreviousNumber {
    /// Written without fraction.
    Integer(i64),
    /// Written with one.
    Float(f64),
}

impl PreviousNumber {
    /// Its value.
    pub fn value(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// What an earlier `benchmark.json` says.
#[derive(Debug, Clone)]
pub struct PreviousBenchmark {
    /// Its `iteration`, whatever that is.
    pub iteration: Node<'static>,
    /// Mean rate with the skill.
    pub pass_rate: PreviousNumber,
    /// Mean tokens with the skill.
    pub avg_tokens: PreviousNumber,
    /// Mean seconds with the skill.
    pub avg_duration_seconds: PreviousNumber,
}

impl UpstreamIteration {
    /// Reads an iteration.
    ///
    /// # Errors
    /// Where the aggregator stops, and where it would read what cannot be trusted: links that lead out, `NaN`, keys that
    /// occur twice.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self, UpstreamError> {
        let shown = shown_path(path);
        if !path.is_dir() {
            return Err(UpstreamError::NotADirectory(shown));
        }
        let real = fs::canonicalize(path).map_err(|error| unreadable(&shown, plain_message(&error)))?;
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut reader = Reader { root: &real, shown: &shown, limits, notes: Vec::new() };
        let listing = reader.list("")?;
        for name in &listing.refused {
            if eval_digits(name).is_some() {
                return Err(reader.refused_link(name));
            }
        }
        let mut evals = Vec::new();
        let folders = listing.entries().iter().filter(|entry| entry.kind == EntryKind::Directory);
        for folder in folders {
            if let Some(digits) = eval_digits(&folder.name) {
                evals.push(reader.eval(&folder.name, digits)?);
            }
        }
        if evals.is_empty() {
            return Err(UpstreamError::NoEvals(shown));
        }
        let number = iteration_digits(&name).map_or_else(|| "1".to_owned(), plain_digits);
        Ok(Self { number, evals, notes: reader.notes })
    }
}

impl PreviousBenchmark {
    /// Reads the `benchmark.json` of an iteration; `None` when there is none.
    ///
    /// # Errors
    /// When it is there and is no report, which the aggregator would pass over without a word.
    pub fn read(path: &Path, limits: &Limits) -> Result<Option<Self>, UpstreamError> {
        Self::named(path, "benchmark.json", limits)
    }

    /// Reads a report that has any name.
    ///
    /// # Errors
    /// When it is not there, or is no report.
    pub fn read_file(path: &Path, limits: &Limits) -> Result<Self, UpstreamError> {
        let missing = || unreadable(&shown_path(path), "there is no such file".to_owned());
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(missing)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::named(folder, name, limits)?.ok_or_else(missing)
    }

    fn named(path: &Path, name: &str, limits: &Limits) -> Result<Option<Self>, UpstreamError> {
        let shown_root = shown_path(path);
        if !path.is_dir() {
            return Err(UpstreamError::NotADirectory(shown_root));
        }
        let shown = join_shown(&shown_root, name);
        let mut directory = RunDirectory::open(path.to_owned(), String::new(), None, limits.directory_entries)
            .map_err(|error| cannot_list(&shown_root, error))?;
        let document = match load(&mut directory, name, &shown, limits.output_bytes)? {
            Loaded::Absent { problem: None } => return Ok(None),
            Loaded::Absent { problem: Some(problem) } => {
                return Err(UpstreamError::Refused { path: shown, problem });
            }
            Loaded::Value(document) => document,
        };
        let no_object = |what: &str| stops(&shown, format!("{what} is no object"));
        let member = |parent: &Node<'static>, key: &str| match parent.get(key) {
            None => Ok(None),
            Some(value) if value.members().is_some() => Ok(Some(value.clone())),
            Some(_) => Err(no_object(&format!("`{key}`"))),
        };
        if document.members().is_none() {
            return Err(no_object("it"));
        }
        let summary = member(&document, "summary")?;
        let arm = summary.as_ref().map(|summary| member(summary, ARMS[0])).transpose()?.flatten();
        let figure = |key: &str| match arm.as_ref().and_then(|arm| arm.get(key)) {
            None => Ok(PreviousNumber::Integer(0)),
            Some(value) => match value.as_number().and_then(Number::as_i64) {
                Some(whole) => Ok(PreviousNumber::Integer(whole)),
                None => arm.as_ref().map_or(Ok(0.0), |arm| number(arm, key, &shown)).map(PreviousNumber::Float),
            },
        };
        Ok(Some(Self {
            pass_rate: figure("pass_rate")?,
            avg_tokens: figure("avg_tokens")?,
            avg_duration_seconds: figure("avg_duration_seconds")?,
            iteration: document.get("iteration").cloned().unwrap_or_else(|| whole_node("0")),
        }))
    }
}

/// A node of digits.
fn whole_node(digits: &str) -> Node<'static> {
    // digits are a JSON number
    crate::json::parse(digits, crate::json::Limits::SIDECAR)
        .map_or_else(|_| Node::synthetic(Value::Null), Node::into_owned)
}

/// Digits without leading zeros.
fn plain_digits(digits: &str) -> String {
    let plain = digits.trim_start_matches('0');
    if plain.is_empty() { "0".to_owned() } else { plain.to_owned() }
}

fn unreadable(path: &str, problem: String) -> UpstreamError {
    UpstreamError::Unreadable { path: path.to_owned(), problem }
}

fn cannot_list(path: &str, error: ListingError) -> UpstreamError {
    match error {
        ListingError::TooManyEntries(limit) => unreadable(path, format!("more than {limit} entries")),
        ListingError::Io(error) => unreadable(path, plain_message(&error)),
    }
}

struct Reader<'a> {
    root: &'a Path,
    shown: &'a str,
    limits: &'a Limits,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn show(&self, path: &str) -> String {
        if path.is_empty() { self.shown.to_owned() } else { join_shown(self.shown, path) }
    }

    fn refused_link(&self, path: &str) -> UpstreamError {
        UpstreamError::Refused { path: self.show(path), problem: "a link leads out of the iteration".to_owned() }
    }

    fn list(&self, path: &str) -> Result<Listing, UpstreamError> {
        let listing = Listing::read(&self.root.join(path), &|| Ok(self.root.to_owned()), self.limits.directory_entries);
        Ok(listing.map_err(|error| cannot_list(&self.show(path), error))?.unwrap_or_default())
    }

    fn open(&self, path: &str, listing: Option<Listing>) -> Result<RunDirectory, UpstreamError> {
        let place = self.root.join(path);
        RunDirectory::open(place, path.to_owned(), listing, self.limits.directory_entries)
            .map_err(|error| cannot_list(&self.show(path), error))
    }

    fn load(&mut self, directory: &mut RunDirectory, name: &str, shown: &str) -> Result<Loaded, UpstreamError> {
        let loaded = load(directory, name, shown, self.limits.sidecar_bytes)?;
        if let Loaded::Absent { problem: Some(problem) } = &loaded {
            self.notes.push(format!("{shown}: {problem}; it counts as absent"));
        }
        Ok(loaded)
    }

    fn eval(&mut self, folder: &str, digits: &str) -> Result<UpstreamEval, UpstreamError> {
        let listing = self.list(folder)?;
        let mut eval = UpstreamEval {
            eval_id: plain_digits(digits),
            eval_name: Node::synthetic(Value::String(folder.to_owned().into())),
            with_skill: Vec::new(),
            baseline: Vec::new(),
        };
        let mut directory = self.open(folder, Some(listing.clone()))?;
        let shown = self.show(&format!("{folder}/eval_metadata.json"));
        let loaded = self.load(&mut directory, "eval_metadata.json", &shown)?;
        if let Some(name) = object(loaded, &shown)?.as_ref().and_then(|metadata| metadata.get("eval_name")) {
            eval.eval_name = name.clone();
        }
        for arm in ARMS {
            let names = std::iter::once(arm.to_owned()).chain((0..TRIALS).map(|trial| format!("{arm}_{trial}")));
            for name in names {
                if listing.refused.contains(&name) {
                    return Err(self.refused_link(&format!("{folder}/{name}")));
                }
                let is_folder = listing.get(&name).is_some_and(|entry| entry.kind == EntryKind::Directory);
                if let Some(run) = if is_folder { self.run(&format!("{folder}/{name}"))? } else { None } {
                    if arm == ARMS[0] { eval.with_skill.push(run) } else { eval.baseline.push(run) }
                }
            }
            let beyond = listing.entries().iter().filter(|entry| {
                let number = entry.name.strip_prefix(arm).and_then(|rest| rest.strip_prefix('_'));
                let number = number.and_then(|number| number.parse::<u32>().ok());
                entry.kind == EntryKind::Directory && number.is_some_and(|number| number >= TRIALS)
            });
            for entry in beyond {
                let shown = self.show(&format!("{folder}/{}", entry.name));
                self.notes.push(format!("{shown}: trials from _{TRIALS} on are left out"));
            }
        }
        Ok(eval)
    }

    /// A run; `None` when its grading is absent.
    fn run(&mut self, folder: &str) -> Result<Option<UpstreamRun>, UpstreamError> {
        let mut directory = self.open(folder, None)?;
        let grading_path = self.show(&format!("{folder}/grading.json"));
        let loaded = self.load(&mut directory, "grading.json", &grading_path)?;
        let grading = object(loaded, &grading_path)?;
        let timing_path = self.show(&format!("{folder}/timing.json"));
        let loaded = self.load(&mut directory, "timing.json", &timing_path)?;
        let Some(grading) = grading else { return Ok(None) };
        let timing = object(loaded, &timing_path)?;
        let timing = |key: &str| timing.as_ref().map_or(Ok(0.0), |timing| number(timing, key, &timing_path));
        Ok(Some(UpstreamRun {
            pass_rate: number(&grading, "pass_rate", &grading_path)?,
            total_tokens: timing("total_tokens")?,
            duration_seconds: timing("total_duration_seconds")?,
        }))
    }
}
