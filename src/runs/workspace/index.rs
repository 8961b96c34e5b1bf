//! The index of a workspace: its eval directories, and where each arm's runs and verdicts stand.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use skill_lift_contract::ContentDigest;

use super::eval::{EvalReading, configuration_first};
use super::layout::{self, Layout};
use super::metadata::EvalMetadata;
use super::root::{FoundEval, FoundKind, Scan, choose_root};
use crate::runs::LayoutError;
use crate::runs::configuration::{Configuration, Role};
use crate::runs::directory::RunDirectory;
use crate::runs::index::{OnDuplicate, listing_error, shown_path};
use crate::runs::limits::Limits;
use crate::runs::listing::{EntryKind, Listing, ListingError};
use crate::runs::natural::natural_order;
use crate::runs::skill_eval::Manifest;
use crate::runs::warning::{RunWarning, WarningCode};
use crate::suite::Dialect;

/// Which of two directories with the same eval is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutChoice {
    /// Those with `run-<n>` folders.
    Nested,
    /// Those without.
    Flat,
}

/// How a workspace is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkspaceOptions {
    /// What to do with two directories that claim the same run.
    pub on_duplicate: OnDuplicate,
    /// Which of two directories with the same eval is read; without a choice that is an error.
    pub layout: Option<LayoutChoice>,
    /// The tool that laid it out, if it should not be detected.
    pub kind: Option<WorkspaceKind>,
    /// How much is read.
    pub limits: Limits,
}

/// The tool that laid a workspace out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceKind {
    /// The executor/grader runner.
    SkillEval,
    /// The forge pipeline.
    SkillForge,
    /// The skill creator, and everything that is laid out alike.
    SkillCreator,
}

impl From<WorkspaceKind> for Dialect {
    fn from(kind: WorkspaceKind) -> Self {
        match kind {
            WorkspaceKind::SkillEval => Self::SkillEval,
            WorkspaceKind::SkillForge => Self::SkillForge,
            WorkspaceKind::SkillCreator => Self::SkillCreator,
        }
    }
}

/// One eval of an iteration.
#[derive(Debug, Clone)]
pub struct EvalDirectory {
    /// Name of the directory; for configuration-first layouts the name that files share.
    pub name: String,
    /// Path below the root; empty when the root itself is the eval.
    pub path: String,
    /// What the tree says of it.
    pub metadata: Option<EvalMetadata>,
    /// The id that the tree gives it, as text.
    pub eval_id: Option<String>,
    /// Whether that id is no more than a number in a longer name.
    pub id_is_guessed: bool,
    /// Its name for people, where a record of its runs has one.
    pub title: Option<String>,
}

/// Where the runs of one arm of an eval stand: one run, or a file that holds several.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Position of the eval.
    pub eval: usize,
    /// The arm.
    pub configuration: Configuration,
    /// Number of the repetition, where a directory name says it.
    pub repetition: Option<u32>,
    /// Number in the name of a trial directory.
    pub trial: Option<u32>,
    /// How the verdicts are laid out.
    pub layout: Layout,
    /// The run directory below the root; it need not exist.
    pub run: String,
    /// The file of verdicts below the root, if it is there.
    pub grading: Option<String>,
}

/// One iteration of another tool.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    shown_root: String,
    options: WorkspaceOptions,
    /// Which tool laid it out.
    pub kind: WorkspaceKind,
    /// Its evals: by number first, then by name.
    pub evals: Vec<EvalDirectory>,
    /// Where runs stand, in the order of evals, then arms by name, then repetitions.
    pub units: Vec<Unit>,
    /// The model of its runs, where the plan of the iteration names one.
    pub model: Option<String>,
    /// The skill, where the plan of the iteration names it.
    pub skill_name: Option<String>,
    /// Other iterations beside the one that was chosen.
    pub other_iterations: Vec<String>,
    warnings: Vec<RunWarning>,
    digests: Vec<(String, ContentDigest)>,
}

impl Workspace {
    /// Indexes a workspace. `path` is an iteration, a folder of iterations (then the latest is read), or one eval.
    ///
    /// # Errors
    /// When no layout is recognised, with the patterns that were tried; when two directories claim the same eval or
    /// run; when a directory cannot be listed.
    pub fn open(path: &Path, options: WorkspaceOptions) -> Result<Self, Vec<LayoutError>> {
        let one = |error: LayoutError| vec![error];
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => {}
            Ok(_) => return Err(one(LayoutError::NotADirectory(shown_path(path)))),
            Err(error) => {
                let message = crate::runs::directory::plain_message(&error);
                return Err(one(LayoutError::Unreadable { folder: shown_path(path), message }));
            }
        }
        let found = choose_root(path, &options).map_err(one)?;
        found.scan.finish(found.evals, found.other_iterations)
    }

    /// Whether cases stand directly below a folder.
    pub fn is_iteration(path: &Path) -> bool {
        let scan = Scan::new(path.to_owned(), WorkspaceOptions::default());
        scan.evals_below("").is_ok_and(|found| !found.is_empty())
    }

    /// Whether a folder is laid out like a workspace: cheap, nothing but directories is read.
    pub fn is_one(path: &Path) -> bool {
        let options = WorkspaceOptions::default();
        path.is_dir() && choose_root(path, &options).is_ok()
    }

    /// What the plan of the executor/grader runner says of all runs.
    fn read_plan(&mut self) {
        let Ok(mut directory) = self.open_directory("") else { return };
        let plan = Manifest::load(&mut directory, &self.options.limits);
        self.digests.extend(directory.take_digests());
        self.warnings.extend(directory.take_warnings());
        let Some(plan) = plan else { return };
        let mut warn = |code, message: String| {
            self.warnings.push(RunWarning { code, path: layout::ITERATION_PLAN.to_owned(), message });
        };
        if let Some(fixtures) = plan.fixtures_before.filter(|fixtures| fixtures.dirty) {
            warn(
                WarningCode::SourceFixtureDirty,
                format!("inputs had changed before the first run: {}", fixtures.paths.join(", ")),
            );
        }
        if let Some(coverage) = plan.suite_coverage.filter(|coverage| coverage.partial) {
            let (selected, all) = (coverage.selected_eval_count, coverage.suite_eval_count);
            warn(WarningCode::PartialSuiteSelection, format!("{selected} of {all} evals were run"));
        }
        self.model = plan.executor_model.or(plan.model);
        self.skill_name = plan.skill_name;
    }

    fn name_other_iterations(&mut self) {
        if let Some(count) = Some(self.other_iterations.len()).filter(|count| *count > 0) {
            let chosen = self.shown_root.rsplit('/').next().unwrap_or_default();
            let message =
                format!("{chosen} is read, the latest of {} iterations; name another one to read it", count + 1);
            self.warnings.push(RunWarning { code: WarningCode::OtherIterations, path: String::new(), message });
        }
    }

    /// The id of an eval's case: its own id where the runner keeps it, else `eval-<id>`, else the name of its folder.
    pub fn case_id(&self, eval: &EvalDirectory) -> String {
        eval.case_id(self.kind)
    }

    /// The root that was chosen, as the user would type it.
    pub fn shown_root(&self) -> &str {
        &self.shown_root
    }

    /// The root that was chosen.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How it is read.
    pub fn options(&self) -> &WorkspaceOptions {
        &self.options
    }

    /// A path below the root as the user would type it.
    pub fn shown_path_below(&self, path: &str) -> String {
        crate::runs::index::join_shown(&self.shown_root, path)
    }

    /// Oddities of the layout.
    pub fn warnings(&self) -> &[RunWarning] {
        &self.warnings
    }

    /// Run directories that were dropped because another one has the same number.
    pub fn duplicates_dropped(&self) -> usize {
        self.warnings.iter().filter(|warning| warning.code == WarningCode::DuplicateDropped).count()
    }

    /// Files that were read for the index.
    pub fn digests(&self) -> &[(String, ContentDigest)] {
        &self.digests
    }

    /// Opens a directory below the root.
    ///
    /// # Errors
    /// When it is there but cannot be listed.
    pub(super) fn open_directory(&self, path: &str) -> Result<RunDirectory, LayoutError> {
        open_directory(&self.root, path, &self.options.limits)
    }
}

/// Opens a directory below a root. A link is not followed: the runs behind it are those of another directory.
pub(super) fn open_directory(root: &Path, path: &str, limits: &Limits) -> Result<RunDirectory, LayoutError> {
    let read = |place: &Path| Listing::read(place, &|| fs::canonicalize(root), limits.directory_entries);
    open_with(root, path, limits, read)
}

/// Opens a directory below a root for one file of it, however many others there are.
pub(super) fn open_for_file(root: &Path, path: &str, name: &str, limits: &Limits) -> Result<RunDirectory, LayoutError> {
    open_with(root, path, limits, |place| Listing::read_one(place, name, &|| fs::canonicalize(root)))
}

fn open_with(
    root: &Path,
    path: &str,
    limits: &Limits,
    read: impl FnOnce(&Path) -> Result<Option<Listing>, ListingError>,
) -> Result<RunDirectory, LayoutError> {
    let place = root.join(path);
    let is_link = !path.is_empty() && fs::symlink_metadata(&place).is_ok_and(|data| data.is_symlink());
    let listing = if is_link { Ok(None) } else { read(&place) };
    let listing = listing.map_err(|error| listing_error(path, error))?;
    RunDirectory::open(place, path.to_owned(), listing, limits.directory_entries)
        .map_err(|error| listing_error(path, error))
}

impl Scan {
    /// Reads what the evals are, and where their runs stand.
    fn finish(self, found: Vec<FoundEval>, other_iterations: Vec<String>) -> Result<Workspace, Vec<LayoutError>> {
        let kind_of_root = self.list("").map_err(|error| vec![error])?.unwrap_or_default();
        let is_skill_eval = kind_of_root.get(layout::ITERATION_PLAN).is_some();
        let (arm_first, eval_first): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|eval| matches!(eval.kind, FoundKind::ConfigurationFirst(_)));
        let read: Vec<Result<EvalReading, LayoutError>> =
            eval_first.par_iter().map(|eval| self.read_eval(eval)).collect();
        let mut readings = Vec::new();
        let mut errors = Vec::new();
        for reading in read {
            match reading {
                Ok(reading) => {
                    errors.extend(reading.errors.iter().cloned());
                    readings.push(reading);
                }
                Err(error) => errors.push(error),
            }
        }
        readings.extend(configuration_first(&arm_first));
        self.take_root_metadata(&mut readings, &kind_of_root);
        let kind = self.options.kind.unwrap_or_else(|| kind_of(is_skill_eval, &readings));
        if kind == WorkspaceKind::SkillForge {
            readings.iter_mut().for_each(EvalReading::take_id_of_directory);
        }
        give_up_guessed_ids(&mut readings, kind);
        if let Some(layout) = self.options.layout {
            keep_layout(&mut readings, kind, layout);
        }
        errors.extend(claimed_twice(&readings, kind));
        for reading in &mut readings {
            reading.eval.id_is_guessed = reading.eval.eval_id.is_some() && !reading.claims_id;
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        readings.sort_by(|a, b| a.eval.order(&b.eval));
        let remarks = self.remarks_of(&readings, &arm_first);
        let shown_root = shown_path(&self.root);
        let mut workspace = Workspace {
            root: self.root,
            shown_root,
            options: self.options,
            kind,
            model: None,
            skill_name: None,
            evals: Vec::new(),
            units: Vec::new(),
            other_iterations,
            warnings: Vec::new(),
            digests: Vec::new(),
        };
        workspace.warnings.extend(remarks);
        workspace.read_plan();
        workspace.name_other_iterations();
        for (position, reading) in readings.into_iter().enumerate() {
            workspace.units.extend(reading.units.into_iter().map(|unit| Unit { eval: position, ..unit }));
            workspace.warnings.extend(reading.warnings);
            workspace.digests.extend(reading.digests);
            workspace.evals.push(reading.eval);
        }
        Ok(workspace)
    }

    /// A metadata file beside the evals belongs to the only one that has none.
    fn take_root_metadata(&self, readings: &mut [EvalReading], listing: &Listing) {
        if listing.get(layout::METADATA).is_none_or(|entry| entry.kind != EntryKind::File) {
            return;
        }
        let [reading] = readings else { return };
        if reading.eval.metadata.is_none()
            && let Ok(mut directory) = open_directory(&self.root, "", &self.options.limits)
        {
            reading.read_metadata(&mut directory, "", &self.options.limits);
            if let Some(id) = reading.eval.metadata.as_ref().and_then(|metadata| metadata.id.clone()) {
                (reading.eval.eval_id, reading.claims_id) = (Some(id), true);
            }
        }
    }
}

impl EvalDirectory {
    fn case_id(&self, kind: WorkspaceKind) -> String {
        match (&self.eval_id, kind) {
            (Some(id), WorkspaceKind::SkillEval) => id.clone(),
            (Some(id), _) if id.starts_with("eval-") => id.clone(),
            (Some(id), _) => format!("eval-{id}"),
            (None, _) => self.name.clone(),
        }
    }

    fn key(&self) -> &str {
        self.eval_id.as_deref().unwrap_or(&self.name)
    }

    /// Ids that are numbers first, by value; then the other ids and names, as a person lists them.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let number = |eval: &Self| eval.eval_id.as_deref().and_then(layout::whole_number);
        match (number(self), number(other)) {
            (Some(a), Some(b)) => a.cmp(&b).then_with(|| natural_order(&self.name, &other.name)),
            (a, b) => b.is_some().cmp(&a.is_some()).then_with(|| natural_order(self.key(), other.key())),
        }
    }
}

/// A number in a longer name is an id only where nothing else has it.
fn give_up_guessed_ids(readings: &mut [EvalReading], kind: WorkspaceKind) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for reading in readings.iter() {
        *counts.entry(reading.eval.case_id(kind)).or_default() += 1;
    }
    for reading in readings.iter_mut().filter(|reading| !reading.claims_id) {
        if counts.get(&reading.eval.case_id(kind)).is_some_and(|count| *count > 1) {
            reading.eval.eval_id = None;
        }
    }
}

/// Of directories that claim the same eval only those are kept that are laid out as asked, if there are any.
fn keep_layout(readings: &mut Vec<EvalReading>, kind: WorkspaceKind, layout: LayoutChoice) {
    let is_asked =
        |reading: &EvalReading| !reading.units.is_empty() && reading.is_nested() == (layout == LayoutChoice::Nested);
    let asked: HashSet<String> =
        readings.iter().filter(|reading| is_asked(reading)).map(|reading| reading.eval.case_id(kind)).collect();
    readings.retain(|reading| is_asked(reading) || !asked.contains(&reading.eval.case_id(kind)));
}

/// Evals that two directories claim.
fn claimed_twice(readings: &[EvalReading], kind: WorkspaceKind) -> Vec<LayoutError> {
    let mut first_claims: HashMap<String, &str> = HashMap::new();
    let mut errors = Vec::new();
    for reading in readings {
        let case = reading.eval.case_id(kind);
        match first_claims.get(&case) {
            Some(first) => {
                let eval_id = reading.eval.eval_id.clone().unwrap_or(case);
                let (first, second) = ((*first).to_owned(), reading.eval.path.clone());
                errors.push(LayoutError::EvalClaimedTwice { eval_id, first, second });
            }
            None => {
                first_claims.insert(case, &reading.eval.path);
            }
        }
    }
    errors
}

fn kind_of(is_skill_eval: bool, readings: &[EvalReading]) -> WorkspaceKind {
    if is_skill_eval {
        return WorkspaceKind::SkillEval;
    }
    let is_forge = |reading: &EvalReading| {
        let document = reading.eval.metadata.as_ref().map(|metadata| &metadata.document);
        let first = document.and_then(|document| document.get("assertions")?.items()?.first());
        let named_check = first.is_some_and(|first| {
            let text = |key: &str| first.get(key).is_some_and(|value| value.as_str().is_some());
            text("name") && text("check") && first.get("type").is_none()
        });
        named_check || reading.units.iter().any(|unit| unit.layout == Layout::Trials)
    };
    if readings.iter().any(is_forge) { WorkspaceKind::SkillForge } else { WorkspaceKind::SkillCreator }
}

/// Whether a key of a file of verdicts is the name of an arm, and of a folder: the runs of the arm may have one.
pub(super) fn is_arm(key: &str) -> bool {
    Configuration::parse(key).role != Role::Other && !key.contains(['/', '\\', '\0'])
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

pub(super) fn refused_link(path: String) -> RunWarning {
    let message = "a link to a folder, or one that leads out of the workspace; it is not followed".to_owned();
    RunWarning { code: WarningCode::LinkRefused, path, message }
}
