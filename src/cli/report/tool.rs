//! Which tool laid an iteration out.

use std::path::{Path, PathBuf};

use crate::cli::choices::DialectChoice;
use crate::runs::forge::has_forge_arms;
use crate::runs::skill_eval::{Iteration, IterationError};
use crate::runs::workspace::{Workspace, WorkspaceKind, WorkspaceOptions};
use crate::runs::{LayoutError, Limits};

/// An iteration, opened as far as its tool asks for.
pub enum Tool {
    /// The executor/grader runner, whose reader opens the folder itself.
    SkillEval,
    /// Nothing that says so: the reader of the executor/grader runner finds out, or says what is wrong.
    Unknown,
    /// The forge pipeline.
    Forge(Box<Workspace>),
}

impl Tool {
    /// Looks at a folder.
    ///
    /// # Errors
    /// What to say when an iteration of the forge pipeline cannot be opened, or the skill creator laid the folder out.
    pub fn of(path: &Path, choice: Option<DialectChoice>, limits: Limits) -> Result<Self, String> {
        let is_plan = path.join("iteration_manifest.json").is_file();
        match choice {
            Some(DialectChoice::SkillEval) => return Ok(Self::SkillEval),
            Some(DialectChoice::SkillForge) => return forge(path, limits),
            Some(DialectChoice::SharedBenchmark | DialectChoice::SkillCreator) => {
                return Err("report has nothing for this dialect; use `skill-lift benchmark`".to_owned());
            }
            None if is_plan => return Ok(Self::SkillEval),
            None if !path.is_dir() => return Ok(Self::Unknown),
            None if has_forge_arms(path, limits.directory_entries) => return forge(path, limits),
            None => {}
        }
        match Workspace::open(path, WorkspaceOptions { limits, ..WorkspaceOptions::default() }) {
            Ok(workspace) => match workspace.kind {
                WorkspaceKind::SkillForge => Ok(Self::Forge(Box::new(workspace))),
                WorkspaceKind::SkillEval => Ok(Self::SkillEval),
                WorkspaceKind::SkillCreator if has_run_records(&workspace) => Ok(Self::SkillEval),
                WorkspaceKind::SkillCreator => Err(format!(
                    "{}: an iteration of the skill creator, or laid out like one; use `skill-lift benchmark` for it (an \
                     iteration of the forge pipeline is read as one with --dialect skill-forge)",
                    path.display()
                )),
            },
            Err(_) => Ok(Self::Unknown),
        }
    }
}

fn forge(path: &Path, limits: Limits) -> Result<Tool, String> {
    open_iteration(path, limits).map(|workspace| Tool::Forge(Box::new(workspace)))
}

/// Opens an iteration of the forge pipeline.
///
/// # Errors
/// What is wrong, one line each.
pub fn open_iteration(path: &Path, limits: Limits) -> Result<Workspace, String> {
    let kind = Some(WorkspaceKind::SkillForge);
    let opened = Workspace::open(path, WorkspaceOptions { limits, kind, ..WorkspaceOptions::default() });
    opened.map_err(|errors| errors.iter().map(words).collect::<Vec<_>>().join("\n"))
}

/// A path as the user would type it.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The iteration that was chosen in a folder of iterations; `None` when the folder that was named is read itself.
pub fn below(workspace: &Workspace, named: &Path) -> Option<String> {
    let below = workspace.root().strip_prefix(named).ok()?;
    let is_itself = below.as_os_str().is_empty() || below == Path::new("runs");
    (!is_itself).then(|| below.display().to_string())
}

/// Which iteration of a folder is read; `None` when the folder that was named is read itself.
pub fn chosen_line(workspace: &Workspace, named: &Path) -> Option<String> {
    below(workspace, named)?;
    let chosen = workspace.shown_root();
    Some(match workspace.other_iterations.len() {
        0 => format!("Reads {chosen}, the only iteration in {}", shown(named)),
        others => format!(
            "WARN other_iterations: {chosen} is read, the latest of {} iterations; name another one to read it",
            others + 1
        ),
    })
}

/// Reads an iteration of the executor/grader runner: the folder that is named, or the latest iteration below it. Also
/// which one was chosen.
///
/// # Errors
/// What is wrong, with the iterations that could be named instead.
pub fn read_iteration(named: &Path, limits: &Limits) -> Result<(PathBuf, Iteration, Option<String>), String> {
    let error = match Iteration::read(named, limits) {
        Ok(iteration) => return Ok((named.to_owned(), iteration, None)),
        Err(error) => error,
    };
    if !matches!(error, IterationError::NotAnIteration(_)) {
        return Err(error.to_string());
    }
    match Workspace::open(named, WorkspaceOptions { limits: *limits, ..WorkspaceOptions::default() }) {
        Ok(workspace) if below(&workspace, named).is_some() => {
            let iteration = Iteration::read(workspace.root(), limits).map_err(|error| error.to_string())?;
            Ok((workspace.root().to_owned(), iteration, chosen_line(&workspace, named)))
        }
        Ok(_) => Err(error.to_string()),
        Err(errors) => {
            let iterations = errors.iter().find_map(|error| match error {
                LayoutError::NoLayout { iterations, .. } if !iterations.is_empty() => Some(iterations.join(", ")),
                _ => None,
            });
            let hint = iterations.map(|iterations| format!("; name one of those below it: {iterations}"));
            Err(format!("{error}{}", hint.unwrap_or_default()))
        }
    }
}

fn has_run_records(workspace: &Workspace) -> bool {
    workspace.units.iter().any(|unit| workspace.root().join(&unit.run).join("run.json").is_file())
}

/// An error of the layout without flags that this command does not have.
fn words(error: &LayoutError) -> String {
    match error {
        LayoutError::EvalClaimedTwice { eval_id, first, second } => {
            format!("eval {eval_id} is claimed twice, by {first} and by {second}; remove one of them")
        }
        other => other.to_string(),
    }
}
