//! The stored runs of one arm of an eval, as their files have them.

use std::path::Path;

use skill_lift_contract::ContentDigest;

use super::document;
use super::index::{Unit, Workspace, WorkspaceKind, is_arm, open_for_file};
use super::layout::{self, Layout};
use super::timing::{Measured, Timing};
use super::verdicts::{GradingDocument, StoredGrading};
use crate::json::Item;
use crate::runs::FileProblem;
use crate::runs::LayoutError;
use crate::runs::claims::{self, Claims};
use crate::runs::configuration::Configuration;
use crate::runs::directory::RunDirectory;
use crate::runs::named_file::read_named;
use crate::runs::skill_eval::{RunPlace, RunRecord};
use crate::runs::warning::{RunWarning, WarningCode};

/// The verdicts of a run, or why there are none.
#[derive(Debug, Clone, PartialEq)]
pub enum GradingFile {
    /// There is no file.
    Missing,
    /// The file cannot be read, and why.
    Unreadable(String),
    /// What the grader stored.
    Read(Box<StoredGrading>),
}

/// Whether there is a file of what a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimingFile {
    /// There is none.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// It was read.
    Read,
}

/// One run as its files have it.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// Number of the repetition.
    pub repetition: u32,
    /// Number in the name of a trial directory.
    pub trial: Option<u32>,
    /// How its verdicts are laid out.
    pub layout: Layout,
    /// The run directory below the root of the workspace; it need not exist.
    pub directory: String,
    /// The file of its verdicts, below the root of the workspace.
    pub grading_file: Option<String>,
    /// Its verdicts.
    pub grading: GradingFile,
    /// What it took.
    pub timing: Timing,
    /// Whether there is a file of that.
    pub timing_file: TimingFile,
    /// Whether the runner left the message of a crash.
    pub crashed: bool,
    /// The record of the executor/grader runner.
    pub record: Option<Box<RunRecord>>,
    /// Characters that the run wrote, if they were counted.
    pub characters: Option<u64>,
}

/// The runs of one unit, with what was read for them.
#[derive(Debug)]
pub struct UnitReading {
    /// The runs by number.
    pub runs: Vec<StoredRun>,
    /// Every file that was read, with its digest.
    pub digests: Vec<(String, ContentDigest)>,
    /// Oddities of the files.
    pub warnings: Vec<RunWarning>,
}

/// Name of the file that sums an iteration up.
const BENCHMARK_FILE: &str = "benchmark.json";

/// Names of a file with the message of a crash.
const CRASH_FILE: &str = "error.txt";

/// Names of the files of what a run took, the first counts, the others fill what it lacks.
const MEASUREMENTS: [&str; 3] = [layout::TIMING, "metrics.json", "outputs/metrics.json"];

impl Workspace {
    /// Reads the runs of a unit.
    ///
    /// # Errors
    /// When a directory cannot be listed.
    pub fn read(&self, unit: &Unit) -> Result<UnitReading, LayoutError> {
        let mut directory = self.open_directory(&unit.run)?;
        let limit = self.options().limits.sidecar_bytes;
        let (gradings, mut digests, mut warnings) = self.read_gradings(unit, &mut directory)?;
        let single = gradings.len() == 1;
        let (timing, timing_file) = if single || unit.repetition.is_some() {
            read_timing(&mut directory, limit)
        } else {
            // what stands beside a file of several runs is about all of them
            (Timing::aggregated(), TimingFile::Missing)
        };
        let record = if self.kind == WorkspaceKind::SkillEval {
            self.read_record(unit, &gradings, &mut directory)
        } else {
            None
        };
        let timing = match &record {
            Some(record) => timing.or(&measured(record)),
            None => timing,
        };
        let crashed = directory.has_file(CRASH_FILE).unwrap_or(false);
        let counted = counted_characters(&mut directory, limit);
        let runs = gradings.into_iter().map(|(number, grading)| StoredRun {
            repetition: if single { unit.repetition.or(number) } else { number.or(unit.repetition) }.unwrap_or(1),
            trial: unit.trial,
            layout: if single { unit.layout } else { several(unit.layout) },
            directory: unit.run.clone(),
            grading_file: unit.grading.clone(),
            characters: match &grading {
                GradingFile::Read(grading) => grading.characters.or(counted),
                GradingFile::Missing | GradingFile::Unreadable(_) => counted,
            },
            grading,
            timing: timing.clone(),
            timing_file,
            crashed,
            record: record.clone(),
        });
        let mut runs: Vec<StoredRun> = runs.collect();
        runs.sort_by_key(|run| run.repetition);
        digests.extend(directory.take_digests());
        warnings.extend(directory.take_warnings());
        Ok(UnitReading { runs, digests, warnings })
    }

    /// The verdicts of a unit, each with the number of the run where the file says one.
    #[expect(clippy::type_complexity, reason = "three lists that only `read` takes apart")]
    fn read_gradings(
        &self,
        unit: &Unit,
        run: &mut RunDirectory,
    ) -> Result<(Vec<(Option<u32>, GradingFile)>, Vec<(String, ContentDigest)>, Vec<RunWarning>), LayoutError> {
        let missing = || vec![(None, GradingFile::Missing)];
        let Some(file) = &unit.grading else {
            return Ok((missing(), Vec::new(), Vec::new()));
        };
        let limit = self.options().limits.sidecar_bytes;
        let mut own = None;
        let bytes = match file.strip_prefix(&unit.run).and_then(|below| below.strip_prefix('/')) {
            Some(below) if !unit.run.is_empty() => run.read(below, limit),
            _ => {
                let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
                let limits = &self.options().limits;
                own.insert(open_for_file(self.root(), folder, name, limits)?).read(name, limit)
            }
        };
        let mut warnings = Vec::new();
        let mut warn = |code, message: &str| {
            warnings.push(RunWarning { code, path: file.clone(), message: message.to_owned() });
        };
        let gradings = match bytes {
            Err(FileProblem::Missing(_)) => missing(),
            Err(problem) => {
                warn(WarningCode::GradingUnreadable, &problem.to_string());
                vec![(None, GradingFile::Unreadable(problem.to_string()))]
            }
            Ok(bytes) => match document::read(&bytes, |root| GradingDocument::read(root, is_arm)) {
                Err(problem) => {
                    warn(WarningCode::GradingUnreadable, &problem);
                    vec![(None, GradingFile::Unreadable(problem))]
                }
                Ok(reading) => {
                    if reading.repaired {
                        let message = "line breaks or other control characters inside strings were read as escapes";
                        warn(WarningCode::ControlCharacterInString, message);
                    }
                    let gradings = runs_of_arm(reading.value, unit);
                    let problem = gradings.iter().find_map(|(_, grading)| match grading {
                        GradingFile::Unreadable(problem) => Some(problem.clone()),
                        GradingFile::Missing | GradingFile::Read(_) => None,
                    });
                    if let Some(problem) = problem {
                        warn(WarningCode::GradingUnreadable, &problem);
                    }
                    gradings
                }
            },
        };
        let (digests, more) = own.map(|mut own| (own.take_digests(), own.take_warnings())).unwrap_or_default();
        warnings.extend(more);
        Ok((gradings, digests, warnings))
    }

    /// The record of a run. The file of verdicts lists every assertion of the case in order, so that it says as well
    /// what the grader was asked.
    fn read_record(
        &self,
        unit: &Unit,
        gradings: &[(Option<u32>, GradingFile)],
        directory: &mut RunDirectory,
    ) -> Option<Box<RunRecord>> {
        let eval = &self.evals[unit.eval];
        let place = RunPlace {
            eval_id: self.case_id(eval),
            eval_name: eval.name.clone(),
            configuration: unit.configuration.written.clone(),
            run_number: unit.repetition.unwrap_or(1).into(),
        };
        let texts: Vec<String> = match gradings {
            [(_, GradingFile::Read(grading))] => {
                grading.verdicts.iter().flatten().filter_map(|verdict| verdict.text.clone()).collect()
            }
            _ => Vec::new(),
        };
        RunRecord::read(directory, &place, &texts, &self.options().limits).map(Box::new)
    }

    /// What the benchmark file of the workspace claims, if there is one, or why it cannot be read. With its path below
    /// the root.
    pub fn benchmark_file(&self) -> Option<(String, Result<Claims, String>)> {
        let mut directory = self.open_directory("").ok()?;
        let options = claims::ReadOptions { on_duplicate: self.options().on_duplicate, ..Default::default() };
        let bytes = match directory.read(BENCHMARK_FILE, options.bytes) {
            Ok(bytes) => bytes,
            Err(FileProblem::Missing(_)) => return None,
            Err(problem) => return Some((BENCHMARK_FILE.to_owned(), Err(problem.to_string()))),
        };
        let claims = claims::read(&bytes, &options).map_err(|error| error.to_string());
        Some((BENCHMARK_FILE.to_owned(), claims))
    }

    /// The directory of a run, for what is in it beside the verdicts.
    ///
    /// # Errors
    /// When it is there but cannot be listed.
    pub fn run_directory(&self, run: &StoredRun) -> Result<RunDirectory, LayoutError> {
        self.open_directory(&run.directory)
    }
}

/// Reads a file of verdicts by itself; `None` when it holds no list of them.
pub fn read_verdicts(path: &Path, limit: u64) -> Option<GradingDocument> {
    let bytes = read_named(path, limit).ok()?;
    let document = document::read(&bytes, |root| GradingDocument::read(root, is_arm)).ok()?.value;
    match &document {
        GradingDocument::One(grading) if grading.verdicts.is_none() => None,
        _ => Some(document),
    }
}

/// What the record of a run says that it took.
fn measured(record: &RunRecord) -> Timing {
    let positive = |number: Option<f64>| match number.filter(|number| number.is_finite() && *number > 0.0) {
        Some(number) => Measured::Value(number),
        None => Timing::absent().total_tokens,
    };
    Timing {
        total_tokens: positive(record.metrics.total_tokens),
        duration_ms: positive(record.metrics.duration_ms),
        ..Timing::absent()
    }
}

/// The runs of a document that belong to an arm.
fn runs_of_arm(document: GradingDocument, unit: &Unit) -> Vec<(Option<u32>, GradingFile)> {
    let read = |grading: StoredGrading| {
        let number = grading.run.filter(|number| *number > 0);
        if grading.is_cut() {
            return (number, GradingFile::Unreadable("it has more verdicts than are read".to_owned()));
        }
        (number, GradingFile::Read(Box::new(grading)))
    };
    match document {
        GradingDocument::One(grading) => vec![read(*grading)],
        GradingDocument::Runs(runs) => runs.into_iter().map(read).collect(),
        GradingDocument::Arms(arms) => {
            let configuration = &unit.configuration;
            let is_same = |name: &str| Configuration::parse(name) == *configuration;
            // in the arm's own folder the arm may go by another of its names
            let is_alike = |name: &str| {
                let named = Configuration::parse(name);
                unit.layout != Layout::OneFile
                    && (named.variant(), &named.model) == (configuration.variant(), &configuration.model)
            };
            let has_same = arms.iter().any(|(name, _)| is_same(name));
            let names =
                arms.iter().take(NAMED_ARMS).map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let own = arms.into_iter().filter(|(name, _)| if has_same { is_same(name) } else { is_alike(name) });
            let runs: Vec<_> = own.flat_map(|(_, runs)| runs).map(read).collect();
            if runs.is_empty() {
                vec![(None, GradingFile::Unreadable(format!("it holds runs of {names}, not of this arm")))]
            } else {
                runs
            }
        }
    }
}

/// Arms that a message names.
const NAMED_ARMS: usize = 5;

/// The layout of a file that turned out to hold several runs.
fn several(layout: Layout) -> Layout {
    if layout == Layout::Flat { Layout::RunsInFile } else { layout }
}

fn read_timing(directory: &mut RunDirectory, limit: u64) -> (Timing, TimingFile) {
    let mut timing = Timing::absent();
    let mut state = TimingFile::Missing;
    for (position, name) in MEASUREMENTS.into_iter().enumerate() {
        let problem = match directory.read(name, limit) {
            Err(FileProblem::Missing(_)) => continue,
            Err(problem) => problem.to_string(),
            Ok(bytes) => match document::read(&bytes, |root| root.is_object().then(|| Timing::read(root))) {
                Ok(document::Reading { value: Some(found), .. }) => {
                    if position == 0 {
                        (timing, state) = (found, TimingFile::Read);
                    } else {
                        timing = timing.or(&found);
                    }
                    continue;
                }
                Ok(_) => "not a JSON object".to_owned(),
                Err(problem) => problem,
            },
        };
        if position == 0 {
            state = TimingFile::Unreadable;
        }
        directory.warn(WarningCode::SidecarUnreadable, name, problem);
    }
    (timing, state)
}

/// Characters that a run wrote, from the counts beside its outputs.
fn counted_characters(directory: &mut RunDirectory, limit: u64) -> Option<u64> {
    let bytes = directory.read("outputs/metrics.json", limit).ok()?;
    let count = |root: Item<'_, '_>| {
        let number = |key: &str| root.get(key).and_then(Item::as_number).and_then(|number| number.as_i64());
        let counts = [number("output_chars"), number("transcript_chars")];
        let known = counts.into_iter().flatten().filter_map(|count| u64::try_from(count).ok());
        known.reduce(u64::saturating_add)
    };
    document::read(&bytes, count).ok().and_then(|reading| reading.value)
}
