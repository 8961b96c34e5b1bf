//! Which tool laid an iteration out.

use std::path::Path;

use crate::cli::choices::DialectChoice;
use crate::runs::forge::has_forge_arms;
use crate::runs::workspace::{Workspace, WorkspaceKind, WorkspaceOptions};
use crate::runs::{LayoutError, Limits};

/// An iteration, opened as far as its tool asks for.
pub enum Tool {
    /// The executor/grader runner, whose reader opens the folder itself.
    SkillEval,
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
            None if is_plan || !path.is_dir() => return Ok(Self::SkillEval),
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
            // the reader of that runner says what is wrong
            Err(_) => Ok(Self::SkillEval),
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
