//! Where the evals of a workspace stand: the folder that was named, one below it, or the latest of its iterations.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use skill_lift_contract::ContentDigest;

use super::document;
use super::eval::EvalReading;
use super::index::{WorkspaceOptions, is_arm, join, open_directory, refused_link};
use super::layout::{self, Layout};
use super::verdicts::GradingDocument;
use crate::runs::LayoutError;
use crate::runs::configuration::{Configuration, Role};
use crate::runs::index::{listing_error, shown_path};
use crate::runs::listing::{Entry, EntryKind, Listing};
use crate::runs::natural::natural_order;
use crate::runs::warning::{RunWarning, WarningCode};

/// A directory that holds an eval, with its entries.
pub(super) struct FoundEval {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) listing: Listing,
    pub(super) kind: FoundKind,
}

/// Which of eval and arm contains the other.
pub(super) enum FoundKind {
    /// Arms below the eval.
    EvalFirst,
    /// Evals below the arm.
    ConfigurationFirst(Configuration),
}

/// Where the evals of a workspace stand.
pub(super) struct FoundRoot {
    /// The directory that holds the evals.
    pub(super) scan: Scan,
    pub(super) evals: Vec<FoundEval>,
    /// The iterations beside it.
    pub(super) other_iterations: Vec<String>,
}

/// The directory that holds the evals, its evals, and the iterations beside it.
pub(super) fn choose_root(path: &Path, options: &WorkspaceOptions) -> Result<FoundRoot, LayoutError> {
    let named = Scan::new(path.to_owned(), *options);
    let listing = named.list("")?.unwrap_or_default();
    // a link that is named is followed, one that is found is not
    if listing.get("runs").is_some_and(|entry| entry.kind == EntryKind::Directory) {
        let scan = Scan::new(path.join("runs"), *options);
        let evals = scan.evals_below("").unwrap_or_else(|error| named.pass_over("runs", &error));
        if !evals.is_empty() {
            return Ok(FoundRoot { scan, evals, other_iterations: Vec::new() });
        }
        named.take_remarks(&scan, "runs");
    }
    let evals = named.evals_below("")?;
    if !evals.is_empty() {
        return Ok(FoundRoot { scan: named, evals, other_iterations: Vec::new() });
    }
    // the folder may be one eval itself
    if named.holds_arms("", &listing).unwrap_or_else(|error| named.pass_over("", &error)) {
        let name = path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
        let eval = FoundEval { name, path: String::new(), listing, kind: FoundKind::EvalFirst };
        return Ok(FoundRoot { scan: named, evals: vec![eval], other_iterations: Vec::new() });
    }
    let mut iterations = named.iterations("", 0);
    iterations.sort_by(|a, b| natural_order(a, b));
    let numbered = |name: &String| {
        name.rsplit('/').next().and_then(|name| name.strip_prefix("iteration-")).and_then(layout::whole_number)
    };
    // folders of several skills or agents have several latest iterations: then the user decides
    let parents: Vec<&str> =
        iterations.iter().map(|name| name.rsplit_once('/').map_or("", |(parent, _)| parent)).collect();
    let one_place = parents.windows(2).all(|pair| pair[0] == pair[1]);
    let latest = iterations.iter().filter_map(|name| Some((numbered(name)?, name.clone()))).max();
    match latest {
        Some((_, chosen)) if one_place && iterations.iter().all(|name| numbered(name).is_some()) => {
            let scan = Scan::new(path.join(&chosen), *options);
            let evals = scan.evals_below("")?;
            let other_iterations = iterations.into_iter().filter(|name| *name != chosen).collect();
            Ok(FoundRoot { scan, evals, other_iterations })
        }
        _ => {
            iterations.truncate(NAMED_ITERATIONS);
            Err(LayoutError::NoLayout {
                folder: shown_path(path),
                patterns: Layout::ALL.iter().map(|layout| layout.pattern()).collect(),
                iterations,
                passed_over: named.remarks().into_iter().take(NAMED_REMARKS).map(|remark| remark.to_string()).collect(),
            })
        }
    }
}

/// Iterations are looked for in folders nested so deep.
const ITERATION_DEPTH: usize = 4;

/// Iterations that a refusal names.
const NAMED_ITERATIONS: usize = 20;

/// Folders that could not be looked into that a refusal names.
const NAMED_REMARKS: usize = 5;

/// Looks through the folders below a root. What it does not look into is kept, with the reason.
pub(super) struct Scan {
    pub(super) root: PathBuf,
    pub(super) options: WorkspaceOptions,
    /// By path.
    remarks: Mutex<BTreeMap<String, (WarningCode, String)>>,
}

impl Scan {
    pub(super) fn new(root: PathBuf, options: WorkspaceOptions) -> Self {
        Self { root, options, remarks: Mutex::default() }
    }

    /// The entries of a folder; `None` when there is no such folder. Links to folders are no entries, but for the
    /// outputs of a run: what they lead to is there a second time, and would be counted twice.
    pub(super) fn list(&self, path: &str) -> Result<Option<Listing>, LayoutError> {
        let limit = self.options.limits.directory_entries;
        let listing = Listing::read(&self.root.join(path), &|| fs::canonicalize(&self.root), limit)
            .map_err(|error| listing_error(path, error))?;
        Ok(listing.map(|mut listing| {
            let is_followed = |entry: &Entry| !entry.is_link || entry.name == layout::OUTPUTS;
            listing.refuse(|entry| layout::is_looked_into(entry) && !is_followed(entry));
            for name in std::mem::take(&mut listing.refused) {
                let refused = refused_link(join(path, &name));
                self.remark(refused.path, refused.code, refused.message);
            }
            listing
        }))
    }

    fn remark(&self, path: String, code: WarningCode, message: String) {
        // no thread panics while it holds the lock
        let mut remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.entry(path).or_insert((code, message));
    }

    /// Remembers that a folder could not be looked into: nothing is found in it.
    fn pass_over<T: Default>(&self, path: &str, error: &LayoutError) -> T {
        let reason = match error {
            LayoutError::TooManyEntries { folder, limit } if folder == path => {
                format!("more than {limit} entries (--max-dir-entries)")
            }
            LayoutError::Unreadable { folder, message } if folder == path => format!("it cannot be read ({message})"),
            other => other.to_string(),
        };
        self.remark(path.to_owned(), WarningCode::FolderPassedOver, format!("{reason}; it is passed over"));
        T::default()
    }

    /// Takes what another scan, of a folder below this root, did not look into.
    fn take_remarks(&self, other: &Self, below: &str) {
        for RunWarning { code, path, message } in other.remarks() {
            self.remark(join(below, &path), code, message);
        }
    }

    /// What was not looked into, by path.
    fn remarks(&self) -> Vec<RunWarning> {
        let remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        let warning = |(path, (code, message)): (&String, &(WarningCode, String))| RunWarning {
            code: *code,
            path: path.clone(),
            message: message.clone(),
        };
        remarks.iter().map(warning).collect()
    }

    /// What was not looked into beside the evals, in them and in the folders of their arms, by path. What is in the
    /// directory of a run is looked at when the run is read.
    pub(super) fn remarks_of(&self, readings: &[EvalReading], arm_first: &[FoundEval]) -> Vec<RunWarning> {
        let evals: HashSet<&str> = readings.iter().map(|reading| reading.eval.path.as_str()).collect();
        let arms: HashSet<&str> = arm_first.iter().map(|arm| arm.path.as_str()).collect();
        let runs: HashSet<&str> =
            readings.iter().flat_map(|reading| &reading.units).map(|unit| unit.run.as_str()).collect();
        let is_read = |path: &str| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_of_eval = Path::new(folder)
                .ancestors()
                .any(|above| above.to_str().is_some_and(|above| evals.contains(above) || arms.contains(above)));
            let is_of_run = runs.contains(folder) && !arms.contains(folder) && layout::run_number(name).is_none();
            (folder.is_empty() || is_of_eval) && !is_of_run
        };
        self.remarks().into_iter().filter(|remark| is_read(&remark.path)).collect()
    }

    /// Folders below which evals stand, at most a few levels deep.
    fn iterations(&self, path: &str, depth: usize) -> Vec<String> {
        let listing = match self.list(path) {
            Ok(listing) => listing.unwrap_or_default(),
            Err(error) => return self.pass_over(path, &error),
        };
        let mut found = Vec::new();
        for entry in listing.entries().iter().filter(|entry| layout::is_looked_into(entry)) {
            let below = join(path, &entry.name);
            if self.evals_below(&below).is_ok_and(|evals| !evals.is_empty()) {
                found.push(below);
            } else if depth < ITERATION_DEPTH {
                found.extend(self.iterations(&below, depth + 1));
            }
        }
        found
    }

    /// The evals directly below a folder. A folder in it that cannot be looked into is none.
    pub(super) fn evals_below(&self, path: &str) -> Result<Vec<FoundEval>, LayoutError> {
        let Some(listing) = self.list(path)? else { return Ok(Vec::new()) };
        let folders: Vec<_> = listing.entries().iter().filter(|entry| layout::is_looked_into(entry)).collect();
        let classify = |entry: &&Entry| {
            let below = join(path, &entry.name);
            self.classify(&below, &entry.name).unwrap_or_else(|error| self.pass_over(&below, &error))
        };
        let classified: Vec<Option<FoundEval>> = folders.par_iter().map(classify).collect();
        Ok(classified.into_iter().flatten().collect())
    }

    fn classify(&self, path: &str, name: &str) -> Result<Option<FoundEval>, LayoutError> {
        let Some(listing) = self.list(path)? else { return Ok(None) };
        let found =
            |kind| Ok(Some(FoundEval { name: name.to_owned(), path: path.to_owned(), listing: listing.clone(), kind }));
        let files = || listing.entries().iter().filter(|entry| entry.kind == EntryKind::File);
        let configuration = Configuration::parse(name);
        if configuration.role != Role::Other {
            let has_gradings = files().any(|entry| layout::case_of_grading(&entry.name).is_some());
            return if has_gradings { found(FoundKind::ConfigurationFirst(configuration)) } else { Ok(None) };
        }
        let has_metadata = listing.get(layout::METADATA).is_some_and(|entry| entry.kind == EntryKind::File);
        let beside = files().any(|entry| layout::grading_of_arm(&entry.name).is_some());
        let holds_runs = beside || self.holds_runs(path, &listing)?;
        // some write the metadata of an eval into the folder above it
        if holds_runs || has_metadata && !self.holds_an_eval(path, &listing)? {
            return found(FoundKind::EvalFirst);
        }
        Ok(None)
    }

    fn holds_runs(&self, path: &str, listing: &Listing) -> Result<bool, LayoutError> {
        Ok(self.holds_arms(path, listing)? || self.holds_all_arms_in_a_file(path, listing)?)
    }

    /// Whether a folder in a folder holds runs of arms.
    fn holds_an_eval(&self, path: &str, listing: &Listing) -> Result<bool, LayoutError> {
        for entry in listing.entries().iter().filter(|entry| layout::is_looked_into(entry)) {
            let below = join(path, &entry.name);
            if let Some(listing) = self.list(&below)?
                && self.holds_runs(&below, &listing)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a folder has folders of arms with runs.
    fn holds_arms(&self, path: &str, listing: &Listing) -> Result<bool, LayoutError> {
        for entry in listing.entries().iter().filter(|entry| layout::is_looked_into(entry)) {
            let known = Configuration::parse(&entry.name).role != Role::Other || layout::trial(&entry.name).is_some();
            if known && self.list(&join(path, &entry.name))?.is_some_and(|below| layout::holds_a_run(&below)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds_all_arms_in_a_file(&self, path: &str, listing: &Listing) -> Result<bool, LayoutError> {
        let is_file = listing.get(layout::GRADING).is_some_and(|entry| entry.kind == EntryKind::File);
        Ok(is_file && !self.arms_in_file(path, &mut Vec::new())?.is_empty())
    }

    /// The arms whose runs stand in the eval's own file of verdicts.
    pub(super) fn arms_in_file(
        &self,
        path: &str,
        digests: &mut Vec<(String, ContentDigest)>,
    ) -> Result<Vec<Configuration>, LayoutError> {
        let mut directory = open_directory(&self.root, path, &self.options.limits)?;
        let Ok(bytes) = directory.read(layout::GRADING, self.options.limits.sidecar_bytes) else {
            return Ok(Vec::new());
        };
        digests.extend(directory.take_digests());
        let document = document::read(&bytes, |root| GradingDocument::read(root, is_arm));
        Ok(match document.map(|reading| reading.value) {
            Ok(GradingDocument::Arms(arms)) => arms.iter().map(|(name, _)| Configuration::parse(name)).collect(),
            _ => Vec::new(),
        })
    }
}
