//! A whole iteration: what was planned, what is there, what is missing.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::benchmark::StoredBenchmark;
use super::eval_order::folders;
use super::manifest::Manifest;
use super::record::{RunPlace, RunRecord};
use super::suite_glance::{EvalGlance, SuiteGlance};
use crate::runs::directory::plain_message;
use crate::runs::listing::{EntryKind, Listing, ListingError};
use crate::runs::natural::natural_order;
use crate::runs::workspace::run_number;
use crate::runs::{FileProblem, LayoutError, Limits, RunDirectory, RunWarning, WarningCode};

/// Why an iteration cannot be read. Lower case, no full stop.
#[derive(Debug, thiserror::Error)]
pub enum IterationError {
    /// There is no such directory.
    #[error("{0} is not a directory")]
    NotADirectory(PathBuf),
    /// Nothing in the directory says that it is an iteration.
    #[error("{0} is no iteration: it has neither benchmark.json nor iteration_manifest.json nor run directories")]
    NotAnIteration(PathBuf),
    /// `benchmark.json` cannot be used.
    #[error("{path}: {message}")]
    Benchmark {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Two run directories say that they are the same run.
    #[error("{first} and {second} are both run {number} of eval {eval:?} under {configuration:?}; remove one")]
    Duplicate {
        /// The eval.
        eval: String,
        /// The configuration.
        configuration: String,
        /// The number.
        number: u64,
        /// One directory.
        first: String,
        /// The other.
        second: String,
    },
    /// So many configurations are no comparison.
    #[error("more than {0} configurations")]
    TooManyConfigurations(usize),
    /// `run-x`.
    #[error(transparent)]
    RunName(Box<LayoutError>),
    /// A directory cannot be listed.
    #[error("cannot list {path}: {message}")]
    List {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// A run that was planned and is not there.
pub type MissingRun = RunPlace;

/// An iteration.
#[derive(Debug)]
pub struct Iteration {
    /// What was planned.
    pub manifest: Option<Manifest>,
    /// `benchmark.json`.
    pub benchmark: Option<StoredBenchmark>,
    /// The suite, when the iteration lies where the runner puts it.
    pub suite: Option<SuiteGlance>,
    /// The evals of the iteration in order.
    pub evals: Vec<EvalGlance>,
    /// Configurations in the order that was asked for.
    pub configurations: Vec<String>,
    /// The runs that are there, by eval, configuration and number.
    pub runs: Vec<RunRecord>,
    /// The runs that were planned and are not there, in the same order.
    pub missing: Vec<MissingRun>,
    /// What was odd.
    pub warnings: Vec<RunWarning>,
}

/// A run directory that was found.
struct Found {
    folder: String,
    relative: String,
    place: RunPlace,
}

impl Iteration {
    /// Reads an iteration, run directories in parallel.
    ///
    /// # Errors
    /// When the directory is no iteration, `benchmark.json` cannot be used, or two directories are the same run.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self, IterationError> {
        if !path.is_dir() {
            return Err(IterationError::NotADirectory(path.to_owned()));
        }
        let mut root = open(path.to_owned(), String::new(), limits)?;
        let benchmark = read_benchmark(path, &mut root, limits)?;
        let manifest = Manifest::load(&mut root, limits);
        let mut warnings = root.take_warnings();
        let suite = read_suite(path, limits, &mut warnings);

        let selected = selected_ids(manifest.as_ref());
        let slugs = suite.as_ref().map(|suite| folders(suite, &selected)).unwrap_or_default();
        let found = find_runs(path, &root, &slugs, limits, &mut warnings)?;
        if found.is_empty() && benchmark.is_none() && manifest.is_none() {
            return Err(IterationError::NotAnIteration(path.to_owned()));
        }
        let (mut runs, more) = read_runs(path, found, suite.as_ref(), limits)?;
        warnings.extend(more);
        if let Some(stored) = &benchmark {
            // runs of which nothing is left but their record
            let there: HashSet<RunKey> = runs.iter().map(|run| key(&run.place)).collect();
            let gone = stored.figures.runs.iter().filter(|run| !there.contains(&key(&run.place)));
            runs.extend(gone.cloned().collect::<Vec<_>>());
        }

        let evals = evals_in_order(suite.as_ref(), benchmark.as_ref(), &selected, &runs);
        let configurations = configurations_in_order(manifest.as_ref(), benchmark.as_ref(), &runs)?;
        let mut iteration =
            Self { manifest, benchmark, suite, evals, configurations, runs, missing: Vec::new(), warnings };
        iteration.sort();
        iteration.missing = iteration.find_missing();
        Ok(iteration)
    }

    /// Runs whose directory says something else than `benchmark.json`.
    pub fn differing(&self) -> Vec<&RunPlace> {
        let stored = self.benchmark.iter().flat_map(|stored| &stored.figures.runs);
        let stored: HashMap<RunKey, &RunRecord> = stored.map(|run| (key(&run.place), run)).collect();
        let differs = |run: &&RunRecord| {
            stored.get(&key(&run.place)).is_some_and(|stored| {
                (&stored.status, stored.pass_rate, stored.counts) != (&run.status, run.pass_rate, run.counts)
            })
        };
        self.runs.iter().filter(differs).map(|run| &run.place).collect()
    }

    fn sort(&mut self) {
        let evals: HashMap<&str, usize> =
            self.evals.iter().enumerate().map(|(position, eval)| (eval.id.as_str(), position)).collect();
        let configurations: HashMap<&str, usize> =
            self.configurations.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
        self.runs.sort_by_key(|run| {
            let place = &run.place;
            let position = |of: &HashMap<&str, usize>, name: &str| of.get(name).copied().unwrap_or(usize::MAX);
            (position(&evals, &place.eval_id), position(&configurations, &place.configuration), place.run_number)
        });
    }

    fn find_missing(&self) -> Vec<MissingRun> {
        let Some(manifest) = &self.manifest else {
            return Vec::new();
        };
        let there: HashSet<RunKey> = self.runs.iter().map(|run| key(&run.place)).collect();
        // the runner allows five; a much larger plan is a broken file
        let cells = (self.evals.len() as u64).saturating_mul(manifest.configurations.len() as u64);
        let repetitions = manifest.runs.filter(|runs| cells.saturating_mul(*runs) <= MOST_PLANNED).unwrap_or(0);
        let mut missing = Vec::new();
        for eval in &self.evals {
            for configuration in &manifest.configurations {
                for run_number in 1..=repetitions {
                    let place = RunPlace {
                        eval_id: eval.id.clone(),
                        eval_name: eval.name.clone(),
                        configuration: configuration.clone(),
                        run_number,
                    };
                    if !there.contains(&key(&place)) {
                        missing.push(place);
                    }
                }
            }
        }
        missing
    }
}

/// More runs than any plan of this kind has.
const MOST_PLANNED: u64 = 1_000_000;

/// More configurations than anybody compares.
const MOST_CONFIGURATIONS: usize = 100;

type RunKey = (String, String, u64);

fn key(place: &RunPlace) -> RunKey {
    (place.eval_id.clone(), place.configuration.clone(), place.run_number)
}

fn open(path: PathBuf, relative: String, limits: &Limits) -> Result<RunDirectory, IterationError> {
    RunDirectory::open(path.clone(), relative, None, limits.directory_entries).map_err(|error| cannot_list(path, error))
}

fn cannot_list(path: PathBuf, error: ListingError) -> IterationError {
    let message = match error {
        ListingError::TooManyEntries(limit) => format!("more than {limit} entries"),
        ListingError::Io(error) => plain_message(&error),
    };
    IterationError::List { path, message }
}

fn read_benchmark(
    path: &Path,
    root: &mut RunDirectory,
    limits: &Limits,
) -> Result<Option<StoredBenchmark>, IterationError> {
    let failed = |message: String| IterationError::Benchmark { path: path.join("benchmark.json"), message };
    let bytes = match root.read("benchmark.json", limits.output_bytes) {
        Ok(bytes) => bytes,
        Err(FileProblem::Missing(_)) => return Ok(None),
        Err(problem) => return Err(failed(problem.to_string())),
    };
    let text = String::from_utf8(bytes.to_vec()).map_err(|_| failed("not valid UTF-8".to_owned()))?;
    StoredBenchmark::read(text).map(Some).map_err(failed)
}

/// The suite of an iteration at `evals/<skill>/workspace/<agent>/iteration-N`.
fn read_suite(path: &Path, limits: &Limits, warnings: &mut Vec<RunWarning>) -> Option<SuiteGlance> {
    let place = fs::canonicalize(path).ok()?;
    let workspace = place.parent()?.parent()?;
    if workspace.file_name()? != "workspace" {
        return None;
    }
    let read = match open(workspace.parent()?.to_owned(), String::new(), limits) {
        Err(error) => Err(error.to_string()),
        Ok(mut folder) => match folder.read("evals.json", limits.artifact_bytes) {
            Err(FileProblem::Missing(_)) => return None,
            Err(problem) => Err(problem.to_string()),
            Ok(bytes) => std::str::from_utf8(&bytes).ok().and_then(SuiteGlance::read).ok_or("not a suite".to_owned()),
        },
    };
    read.map_err(|problem| {
        let message =
            format!("the suite of this iteration cannot be read, its order and weights are not used: {problem}");
        warnings.push(RunWarning { code: WarningCode::SidecarUnreadable, path: "evals.json".to_owned(), message });
    })
    .ok()
}

fn selected_ids(manifest: Option<&Manifest>) -> Vec<String> {
    let coverage = manifest.and_then(|manifest| manifest.suite_coverage.as_ref());
    coverage.map(|coverage| coverage.selected_eval_ids.clone()).unwrap_or_default()
}

/// `eval-<slug>/<config>/run-<k>`; links are not followed.
fn find_runs(
    path: &Path,
    root: &RunDirectory,
    slugs: &HashMap<String, String>,
    limits: &Limits,
    warnings: &mut Vec<RunWarning>,
) -> Result<Vec<Found>, IterationError> {
    let mut found = Vec::new();
    let entries = root.listing().map(|listing| subfolders(listing, "", warnings)).unwrap_or_default();
    let list = |relative: &str, warnings: &mut Vec<RunWarning>| {
        let place = path.join(relative);
        let listing = Listing::read(&place, &|| fs::canonicalize(path), limits.directory_entries)
            .map_err(|error| cannot_list(place.clone(), error))?;
        Ok::<_, IterationError>(listing.map(|listing| subfolders(&listing, relative, warnings)).unwrap_or_default())
    };
    for folder in entries.into_iter().filter(|name| name.starts_with("eval-")) {
        for configuration in list(&folder, warnings)? {
            let below = format!("{folder}/{configuration}");
            for name in list(&below, warnings)? {
                let run_number = match run_number(&name) {
                    Some(Some(number)) => number.into(),
                    Some(None) => {
                        return Err(IterationError::RunName(Box::new(LayoutError::RunName { name, folder: below })));
                    }
                    None => continue,
                };
                let eval_id = slugs.get(&folder).cloned().unwrap_or_else(|| folder["eval-".len()..].to_owned());
                let place =
                    RunPlace { eval_name: eval_id.clone(), eval_id, configuration: configuration.clone(), run_number };
                found.push(Found { folder: folder.clone(), relative: format!("{below}/{name}"), place });
            }
        }
    }
    Ok(found)
}

/// Names of the real subfolders; links are named in a warning.
fn subfolders(listing: &Listing, relative: &str, warnings: &mut Vec<RunWarning>) -> Vec<String> {
    let links = listing.entries().iter().filter(|entry| entry.is_link && entry.kind == EntryKind::Directory);
    // who opened the iteration itself has named those that lead out of it
    let refused = if relative.is_empty() { &[][..] } else { &listing.refused };
    for name in links.map(|entry| &entry.name).chain(refused) {
        warnings.push(RunWarning {
            code: WarningCode::LinkRefused,
            path: if relative.is_empty() { name.clone() } else { format!("{relative}/{name}") },
            message: "links are not followed here".to_owned(),
        });
    }
    let real = listing.entries().iter().filter(|entry| entry.kind == EntryKind::Directory && !entry.is_link);
    real.map(|entry| entry.name.clone()).collect()
}

fn read_runs(
    path: &Path,
    found: Vec<Found>,
    suite: Option<&SuiteGlance>,
    limits: &Limits,
) -> Result<(Vec<RunRecord>, Vec<RunWarning>), IterationError> {
    let names: HashMap<&str, &EvalGlance> =
        suite.iter().flat_map(|suite| &suite.evals).map(|eval| (eval.id.as_str(), eval)).collect();
    let read: Result<Vec<_>, IterationError> = found
        .par_iter()
        .map(|found| {
            let mut directory = open(path.join(&found.relative), found.relative.clone(), limits)?;
            let eval = names.get(found.place.eval_id.as_str());
            let mut place = found.place.clone();
            if let Some(eval) = eval {
                place.eval_name.clone_from(&eval.name);
            }
            let assertions = eval.map_or(&[][..], |eval| &eval.assertions);
            let record = RunRecord::read(&mut directory, &place, assertions, limits);
            Ok((record, directory.take_warnings()))
        })
        .collect();
    let (records, warnings): (Vec<_>, Vec<_>) = read?.into_iter().unzip();
    let mut records: Vec<(String, RunRecord)> =
        found.into_iter().zip(records).filter_map(|(found, record)| Some((found.folder, record?))).collect();
    adopt_ids(&mut records);
    let records: Vec<RunRecord> = records.into_iter().map(|(_, record)| record).collect();
    refuse_duplicates(&records)?;
    Ok((records, warnings.into_iter().flatten().collect()))
}

/// A run without a record of its own belongs to the eval that the records of its folder name.
fn adopt_ids(records: &mut [(String, RunRecord)]) {
    use super::record::RecordSource;
    let known: HashMap<String, (String, String)> = records
        .iter()
        .filter(|(_, record)| record.source == RecordSource::RunFile)
        .map(|(folder, record)| (folder.clone(), (record.place.eval_id.clone(), record.place.eval_name.clone())))
        .collect();
    for (folder, record) in records.iter_mut().filter(|(_, record)| record.source != RecordSource::RunFile) {
        if let Some((id, name)) = known.get(folder) {
            record.place.eval_id.clone_from(id);
            record.place.eval_name.clone_from(name);
        }
    }
}

fn refuse_duplicates(records: &[RunRecord]) -> Result<(), IterationError> {
    let mut seen: HashMap<RunKey, &RunRecord> = HashMap::new();
    for record in records {
        if let Some(first) = seen.insert(key(&record.place), record) {
            let directory = |record: &RunRecord| record.directory.clone().unwrap_or_default();
            return Err(IterationError::Duplicate {
                eval: record.place.eval_id.clone(),
                configuration: record.place.configuration.clone(),
                number: record.place.run_number,
                first: directory(first),
                second: directory(record),
            });
        }
    }
    Ok(())
}

/// The order of the suite; else of `benchmark.json`, of the selection, and of the ids.
fn evals_in_order(
    suite: Option<&SuiteGlance>,
    benchmark: Option<&StoredBenchmark>,
    selected: &[String],
    runs: &[RunRecord],
) -> Vec<EvalGlance> {
    let mut evals: Vec<EvalGlance> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let mut add = |id: &str, name: &str, assertions: &[String]| {
        if known.insert(id.to_owned()) {
            evals.push(EvalGlance { id: id.to_owned(), name: name.to_owned(), assertions: assertions.to_vec() });
        }
    };
    let there: HashSet<&str> = runs.iter().map(|run| run.place.eval_id.as_str()).collect();
    let stored = benchmark.map(|stored| stored.figures.evals.as_slice()).unwrap_or_default();
    let in_benchmark: HashSet<&str> = stored.iter().map(|eval| eval.eval_id.as_str()).collect();
    let selection: HashSet<&String> = selected.iter().collect();
    for eval in suite.iter().flat_map(|suite| &suite.evals) {
        // what a partial selection left out is no part of the iteration, nor what was added after a finished one
        let planned = match (benchmark.is_some(), selected.is_empty()) {
            (true, _) => in_benchmark.contains(eval.id.as_str()),
            (false, true) => true,
            (false, false) => selection.contains(&eval.id),
        };
        if planned || there.contains(eval.id.as_str()) {
            add(&eval.id, &eval.name, &eval.assertions);
        }
    }
    for eval in stored {
        add(&eval.eval_id, &eval.eval_name, &[]);
    }
    let names: HashMap<&str, &str> =
        runs.iter().map(|run| (run.place.eval_id.as_str(), run.place.eval_name.as_str())).collect();
    for id in selected {
        add(id, names.get(id.as_str()).copied().unwrap_or(id), &[]);
    }
    let mut others: Vec<&RunPlace> = runs.iter().map(|run| &run.place).collect();
    others.sort_by(|a, b| natural_order(&a.eval_id, &b.eval_id));
    for place in others {
        add(&place.eval_id, &place.eval_name, &[]);
    }
    evals
}

fn configurations_in_order(
    manifest: Option<&Manifest>,
    benchmark: Option<&StoredBenchmark>,
    runs: &[RunRecord],
) -> Result<Vec<String>, IterationError> {
    let mut names: Vec<String> = Vec::new();
    let planned = manifest.into_iter().flat_map(|manifest| &manifest.configurations);
    let stored = benchmark.into_iter().flat_map(|stored| &stored.figures.configurations);
    let mut seen: Vec<&String> = runs.iter().map(|run| &run.place.configuration).collect();
    // without a plan: the skill's own arm first, as the runner's default has it
    seen.sort_by_key(|name| (arm_rank(name), name.as_str()));
    for name in stored.chain(planned).chain(seen) {
        if !names.contains(name) {
            if names.len() == MOST_CONFIGURATIONS {
                return Err(IterationError::TooManyConfigurations(MOST_CONFIGURATIONS));
            }
            names.push(name.clone());
        }
    }
    Ok(names)
}

/// Configurations of a known meaning before others.
pub fn arm_rank(name: &str) -> u8 {
    match name {
        "with_skill" => 0,
        "without_skill" => 1,
        _ => 2,
    }
}
