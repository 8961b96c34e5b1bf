//! Which tool laid an iteration out.

use std::path::Path;

use clap::ValueEnum;

use crate::runs::Limits;
use crate::runs::forge::has_forge_arms;
use crate::runs::workspace::{Workspace, WorkspaceKind, WorkspaceOptions};

/// The tool, when the user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DialectChoice {
    /// The executor/grader runner.
    SkillEval,
    /// The forge pipeline.
    SkillForge,
}

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
        let has = |name: &str| path.join(name).is_file();
        match choice {
            Some(DialectChoice::SkillEval) => return Ok(Self::SkillEval),
            Some(DialectChoice::SkillForge) => return open_forge(path, limits),
            None if has("iteration_manifest.json") || !path.is_dir() => return Ok(Self::SkillEval),
            None => {}
        }
        let is_forge = has_forge_arms(path, limits.directory_entries);
        match Workspace::open(path, options(limits)) {
            Ok(workspace) if is_forge || workspace.kind == WorkspaceKind::SkillForge => Ok(forge(workspace)),
            Ok(workspace) if has_run_records(&workspace) || workspace.kind == WorkspaceKind::SkillEval => {
                Ok(Self::SkillEval)
            }
            Ok(_) => Err(format!(
                "{}: an iteration of the skill creator, or laid out like one; use `skill-lift benchmark` for it (an \
                 iteration of the forge pipeline is read as one with --dialect skill-forge)",
                path.display()
            )),
            Err(_) if is_forge => open_forge(path, limits),
            Err(_) => Ok(Self::SkillEval),
        }
    }
}

fn options(limits: Limits) -> WorkspaceOptions {
    WorkspaceOptions { limits, ..WorkspaceOptions::default() }
}

fn forge(mut workspace: Workspace) -> Tool {
    workspace.kind = WorkspaceKind::SkillForge;
    Tool::Forge(Box::new(workspace))
}

/// Opens an iteration of the forge pipeline.
fn open_forge(path: &Path, limits: Limits) -> Result<Tool, String> {
    open_iteration(path, limits).map(|workspace| Tool::Forge(Box::new(workspace)))
}

/// Opens an iteration of the forge pipeline.
///
/// # Errors
/// What is wrong, one line each.
pub fn open_iteration(path: &Path, limits: Limits) -> Result<Workspace, String> {
    let opened = Workspace::open(path, options(limits));
    let mut workspace =
        opened.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    workspace.kind = WorkspaceKind::SkillForge;
    Ok(workspace)
}

fn has_run_records(workspace: &Workspace) -> bool {
    workspace.units.iter().any(|unit| workspace.root().join(&unit.run).join("run.json").is_file())
}
