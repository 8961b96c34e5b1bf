//! What stands below a folder: suites, iterations, files of results, trees of runs.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::analyze::diagnosis::Inventory;
use crate::runs::index::shown_path;
use crate::runs::natural_order;
use crate::runs::workspace::{Workspace, may_hold_evals};
use crate::suite::{Dialect, LoadOptions, Suite, load};

/// Names of suites.
const SUITE_NAMES: [&str; 2] = ["shared-benchmark.json", "evals.json"];

/// Name of a file of results.
const RESULTS_NAME: &str = "benchmark.json";

/// How deep folders are looked through.
const DEPTH: usize = 4;

/// Folders that are looked into; in a larger tree nobody looks for an eval from its root.
const FOLDERS: usize = 2_000;

/// Looks through a folder, level by level.
pub(super) fn inventory(path: &Path) -> Inventory {
    let mut found = Inventory::default();
    let mut queue = VecDeque::from([(path.to_owned(), 0)]);
    let mut visited = 0;
    while let Some((folder, depth)) = queue.pop_front() {
        visited += 1;
        if visited > FOLDERS {
            found.is_cut = true;
            break;
        }
        let suites = suites_in(&folder);
        let is_iteration = Workspace::is_iteration(&folder);
        if is_iteration {
            found.workspaces.push(shown_path(&folder));
        } else if folder.join(RESULTS_NAME).is_file() {
            found.results.push(shown_path(&folder.join(RESULTS_NAME)));
        }
        let trees = suites.iter().flat_map(|suite| trees_of(suite));
        let trees: Vec<(String, String)> = trees.collect();
        let below: HashSet<PathBuf> = trees.iter().map(|(_, tree)| PathBuf::from(tree)).collect();
        found.suites.extend(suites.iter().map(|suite| shown_path(suite)));
        found.run_trees.extend(trees);
        if !is_iteration && depth < DEPTH {
            let folders = folders_in(&folder).into_iter();
            queue.extend(folders.filter(|folder| !below.contains(folder)).map(|folder| (folder, depth + 1)));
        }
    }
    // the tree of a suite in `evals` lies beside that folder, which may have been looked into before
    let trees: HashSet<&String> = found.run_trees.iter().map(|(_, tree)| tree).collect();
    let is_of_tree = |path: &String| trees.iter().any(|tree| Path::new(path).starts_with(tree.as_str()));
    found.workspaces.retain(|path| !is_of_tree(path));
    found
}

fn suites_in(folder: &Path) -> Vec<PathBuf> {
    SUITE_NAMES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// The folders in a folder, as a person lists them; links are not followed. Of very many the first in that
/// order are taken.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let is_looked_into = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir()) && may_hold_evals(&entry.file_name().to_string_lossy())
    };
    let cut = |folders: &mut Vec<PathBuf>| {
        folders.sort_by(|a, b| natural_order(&a.to_string_lossy(), &b.to_string_lossy()).then_with(|| a.cmp(b)));
        folders.truncate(FOLDERS);
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(is_looked_into) {
        folders.push(entry.path());
        if folders.len() >= 2 * FOLDERS {
            cut(&mut folders);
        }
    }
    cut(&mut folders);
    folders
}

/// The folders above a path, the nearest first, as the user would type them: at most a few, and none above the
/// repository.
pub(super) fn folders_above(path: &Path) -> Vec<PathBuf> {
    let Ok(here) = std::env::current_dir() else { return Vec::new() };
    // what stands in the working directory has folders above it as well
    let place = here.join(path);
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in place.ancestors().skip(1).take(DEPTH) {
        folders.push(if path.is_absolute() { folder.to_owned() } else { relative_to(folder, &here) });
        if folder.join(".git").exists() {
            break;
        }
    }
    folders
}

/// A folder as it is reached from another one, in or above which it is.
fn relative_to(folder: &Path, here: &Path) -> PathBuf {
    match (folder.strip_prefix(here), here.strip_prefix(folder)) {
        (Ok(below), _) if below.as_os_str().is_empty() => PathBuf::from("."),
        (Ok(below), _) => below.to_owned(),
        (_, Ok(above)) => above.components().map(|_| "..").collect(),
        _ => folder.to_owned(),
    }
}

/// Suites beside a folder or a few folders up, the nearest first.
pub(super) fn suites_above(path: &Path) -> Vec<PathBuf> {
    let folders = folders_above(path).into_iter();
    let near = |folder: &Path| {
        let mut places = vec![folder.join("evals"), folder.to_owned()];
        places.extend(folders_in(folder).into_iter().flat_map(|folder| [folder.clone(), folder.join("evals")]));
        places.iter().flat_map(|place| suites_in(place)).collect::<Vec<_>>()
    };
    let mut seen = HashSet::new();
    folders.flat_map(|folder| near(&folder)).filter(|suite| seen.insert(suite.clone())).take(NEAR_SUITES).collect()
}

/// Suites near an iteration that are looked at.
const NEAR_SUITES: usize = 50;

/// A suite file, if it can be read.
pub(super) fn read_suite(path: &Path) -> Option<Suite> {
    load(path, &LoadOptions::default()).suite
}

/// How many folders in a folder are cases of a suite.
pub(super) fn cases_in(folder: &Path, suite: &Suite) -> usize {
    suite.cases.iter().filter(|case| !case.is_trigger() && folder.join(&case.id).is_dir()).count()
}

/// The trees of runs of a suite: folders near it with a folder for one of its cases. Each with the suite. What other
/// tools lay out for their suites are workspaces.
pub(super) fn trees_of(suite_path: &Path) -> Vec<(String, String)> {
    let suite = read_suite(suite_path).filter(|suite| suite.dialect == Dialect::SharedBenchmark);
    let Some(suite) = suite else { return Vec::new() };
    let folder = suite_path.parent().unwrap_or(Path::new("."));
    let above = folder.parent().filter(|_| folder.ends_with("evals"));
    let near = above.into_iter().chain([folder]).flat_map(folders_in);
    let trees = near.filter(|tree| cases_in(tree, &suite) > 0);
    trees.map(|tree| (shown_path(suite_path), shown_path(&tree))).collect()
}
