//! Where the evals of a workspace stand: the folder that was named, one below it, or the latest of its iterations.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use skill_lift_contract::ContentDigest;

use super::document;
use super::index::{WorkspaceOptions, is_arm, join, open_directory};
use super::layout::{self, Layout};
use super::verdicts::GradingDocument;
use crate::runs::LayoutError;
use crate::runs::configuration::{Configuration, Role};
use crate::runs::index::{listing_error, shown_path};
use crate::runs::listing::{EntryKind, Listing};
use crate::runs::natural::natural_order;

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

/// The directory that holds the evals, its evals, and the iterations beside it.
pub(super) fn choose_root(
    path: &Path,
    options: &WorkspaceOptions,
) -> Result<(PathBuf, Vec<FoundEval>, Vec<String>), LayoutError> {
    for root in [path.join("runs"), path.to_owned()] {
        let scan = Scan { root, options: *options };
        let found = scan.evals_below("")?;
        if !found.is_empty() {
            return Ok((scan.root, found, Vec::new()));
        }
    }
    let scan = Scan { root: path.to_owned(), options: *options };
    // the folder may be one eval itself
    if let Some(listing) = scan.list("")?
        && scan.holds_arms("", &listing)?
    {
        let name = path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
        let eval = FoundEval { name, path: String::new(), listing, kind: FoundKind::EvalFirst };
        return Ok((scan.root, vec![eval], Vec::new()));
    }
    let mut iterations = scan.iterations("", 0)?;
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
            let scan = Scan { root: path.join(&chosen), options: *options };
            let found = scan.evals_below("")?;
            let others = iterations.into_iter().filter(|name| *name != chosen).collect();
            Ok((scan.root, found, others))
        }
        _ => Err(LayoutError::NoLayout {
            folder: shown_path(path),
            patterns: Layout::ALL.iter().map(|layout| layout.pattern()).collect(),
            iterations,
        }),
    }
}

/// Iterations are looked for in folders nested so deep.
const ITERATION_DEPTH: usize = 4;

/// Iterations that a refusal names.
const NAMED_ITERATIONS: usize = 20;

/// Looks through the folders below a root.
pub(super) struct Scan {
    pub(super) root: PathBuf,
    pub(super) options: WorkspaceOptions,
}

impl Scan {
    /// The entries of a folder; `None` when there is no such folder.
    pub(super) fn list(&self, path: &str) -> Result<Option<Listing>, LayoutError> {
        let limit = self.options.limits.directory_entries;
        Listing::read(&self.root.join(path), &|| fs::canonicalize(&self.root), limit)
            .map_err(|error| listing_error(path, error))
    }

    /// Folders below which evals stand, at most a few levels deep.
    fn iterations(&self, path: &str, depth: usize) -> Result<Vec<String>, LayoutError> {
        let Some(listing) = self.list(path)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in listing.entries().iter().filter(|entry| layout::is_looked_into(entry) && !entry.is_link) {
            if found.len() >= NAMED_ITERATIONS {
                break;
            }
            let below = join(path, &entry.name);
            if !self.evals_below(&below)?.is_empty() {
                found.push(below);
            } else if depth < ITERATION_DEPTH {
                found.extend(self.iterations(&below, depth + 1)?);
            }
        }
        Ok(found)
    }

    /// The evals directly below a folder.
    pub(super) fn evals_below(&self, path: &str) -> Result<Vec<FoundEval>, LayoutError> {
        let Some(listing) = self.list(path)? else { return Ok(Vec::new()) };
        let folders: Vec<_> = listing.entries().iter().filter(|entry| layout::is_looked_into(entry)).collect();
        let classified: Vec<Result<Option<FoundEval>, LayoutError>> =
            folders.par_iter().map(|entry| self.classify(&join(path, &entry.name), &entry.name)).collect();
        let mut found = Vec::new();
        for eval in classified {
            found.extend(eval?);
        }
        Ok(found)
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
        if has_metadata
            || beside
            || self.holds_arms(path, &listing)?
            || self.holds_all_arms_in_a_file(path, &listing)?
        {
            return found(FoundKind::EvalFirst);
        }
        Ok(None)
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
