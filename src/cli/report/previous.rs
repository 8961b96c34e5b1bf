//! Which earlier iteration an iteration of the forge pipeline is compared with.

use std::fs;
use std::path::{Path, PathBuf};

use super::tool::{below, shown};
use crate::cli::output::warn_line;
use crate::pipeline::number_of;
use crate::runs::Limits;
use crate::runs::workspace::{Workspace, WorkspaceKind, WorkspaceOptions};

/// What is read of the earlier side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierReading {
    /// Its runs.
    Runs,
    /// Its `benchmark.json`, where there is one.
    Aggregate,
}

/// The earlier side of a comparison.
#[derive(Debug)]
pub enum Earlier {
    /// The folder of an iteration.
    Iteration(PathBuf),
    /// A report that a configuration names.
    Benchmark(PathBuf),
}

/// Finds the earlier side of an iteration.
#[derive(Debug, Clone, Copy)]
pub struct EarlierSearch<'a> {
    /// The folder of the iteration.
    pub root: &'a Path,
    /// What is read of the earlier side.
    pub reading: EarlierReading,
    /// How much is read.
    pub limits: &'a Limits,
    /// Whether only errors are said.
    pub quiet: bool,
}

impl EarlierSearch<'_> {
    /// The side that the command line names, else the one of the configuration; `None` when there is none, or none is
    /// found by its number.
    ///
    /// # Errors
    /// What to say when the side that is named is the iteration itself, or is not there.
    pub fn find(&self, named: Option<&Path>, configured: Option<&Path>) -> Result<Option<Earlier>, String> {
        match (named, configured) {
            (Some(named), _) if named.as_os_str() == "auto" => Ok(self.beside().map(Earlier::Iteration)),
            (Some(named), _) => self.iteration(named).map(Earlier::Iteration).map(Some),
            (None, Some(configured)) => self.configured(configured).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The folder beside the iteration that has the number before.
    fn beside(&self) -> Option<PathBuf> {
        let number = number_of(self.root).and_then(|number| number.checked_sub(1));
        let name = number.map(|number| format!("iteration-{number}"));
        let beside = name.map(|name| match self.root.file_name() {
            Some(_) => self.root.with_file_name(name),
            None => self.root.join("..").join(name),
        });
        let found = beside.filter(|path| path.is_dir());
        if found.is_none() && !self.quiet {
            warn_line("WARN previous_missing: there is no iteration with the number before; nothing is compared");
        }
        found
    }

    fn configured(&self, path: &Path) -> Result<Earlier, String> {
        let failed = |message: String| format!("`previous_benchmark` of the configuration: {message}");
        let unreadable = |error: std::io::Error| failed(format!("cannot read {}: {error}", shown(path)));
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            return self.iteration(path).map(Earlier::Iteration).map_err(failed);
        }
        fs::File::open(path).map_err(unreadable)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match self.reading {
            EarlierReading::Aggregate => Ok(Earlier::Benchmark(path.to_owned())),
            // a file of means says nothing of single evals: the runs beside it do
            EarlierReading::Runs => {
                let without_runs = |errors: Vec<_>| {
                    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                    failed(format!("the runs of {} are not beside it: {}", shown(path), errors.join("; ")))
                };
                self.open(folder).map_err(without_runs)?;
                self.iteration(folder).map(Earlier::Iteration).map_err(failed)
            }
        }
    }

    fn open(&self, path: &Path) -> Result<Workspace, Vec<crate::runs::LayoutError>> {
        let kind = Some(WorkspaceKind::SkillForge);
        Workspace::open(path, WorkspaceOptions { limits: *self.limits, kind, ..WorkspaceOptions::default() })
    }

    /// A folder that is named: of a folder of iterations the latest one before this one.
    fn iteration(&self, named: &Path) -> Result<PathBuf, String> {
        let holds_report = self.reading == EarlierReading::Aggregate && named.join("benchmark.json").is_file();
        let workspace = if holds_report { None } else { self.open(named).ok() };
        let found = match workspace {
            Some(workspace) if below(&workspace, named).is_some() => self.before(named, &workspace)?,
            // an iteration, or its reader says what is wrong
            _ => named.to_owned(),
        };
        let is_same = matches!((found.canonicalize(), self.root.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if is_same {
            return Err(format!("{} is the iteration itself; name an earlier one to compare it with", shown(&found)));
        }
        Ok(found)
    }

    fn before(&self, named: &Path, workspace: &Workspace) -> Result<PathBuf, String> {
        let chosen = below(workspace, named).unwrap_or_default();
        let names: Vec<&String> = workspace.other_iterations.iter().chain([&chosen]).collect();
        let number = |name: &str| name.rsplit('/').next()?.strip_prefix("iteration-")?.parse::<u64>().ok();
        let current = number_of(self.root);
        let is_before = |number: u64| current.is_none_or(|current| number < current);
        let earlier = names.iter().filter_map(|name| Some((number(name)?, *name)));
        let Some((_, name)) = earlier.filter(|(number, _)| is_before(*number)).max() else {
            let there: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            return Err(format!(
                "{} holds no iteration before number {}; there is {}",
                shown(named),
                current.map_or_else(String::new, |number| number.to_string()),
                there.join(", ")
            ));
        };
        let found = named.join(name);
        if !self.quiet {
            warn_line(&format!(
                "Compared with {}, the latest before this iteration in {}",
                shown(&found),
                shown(named)
            ));
        }
        Ok(found)
    }
}
