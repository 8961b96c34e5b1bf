//! What the user named: a suite with the folder of its runs, or a workspace that says itself what its cases are.

use std::path::Path;
use std::process::ExitCode;

use super::output::fail;
use crate::analyze::table::Baseline;
use crate::pipeline::cases_of_tree;
use crate::runs::workspace::{Workspace, WorkspaceOptions};
use crate::suite::{Dialect, Suite};

/// What is graded.
pub enum Input {
    /// A suite, and a tree in which its cases and arms are folders.
    Runs(Suite),
    /// A workspace of another tool, with the suite that was named beside it or that it implies.
    Workspace {
        /// The tree.
        workspace: Box<Workspace>,
        /// Its suite.
        suite: Suite,
        /// Whether the tree implies the suite.
        implied: bool,
    },
}

impl Input {
    /// The suite, named or implied.
    pub fn suite(&self) -> &Suite {
        match self {
            Self::Runs(suite) | Self::Workspace { suite, .. } => suite,
        }
    }

    /// What the skill's arm is compared with: an earlier version of the skill only in a workspace without any other
    /// baseline.
    pub fn baseline(&self, variants: &[String]) -> Baseline {
        let has = |baseline: Baseline| variants.iter().any(|variant| variant == baseline.variant());
        match self {
            Self::Workspace { .. } if !has(Baseline::WithoutSkill) && has(Baseline::OldSkill) => Baseline::OldSkill,
            Self::Workspace { .. } | Self::Runs(_) => Baseline::WithoutSkill,
        }
    }

    /// Whether a file of the suite was read.
    pub fn has_suite_file(&self) -> bool {
        !matches!(self, Self::Workspace { implied: true, .. })
    }

    /// A workspace alone.
    pub fn of_workspace(path: &Path, options: WorkspaceOptions) -> Result<Self, ExitCode> {
        let workspace = open(path, options)?;
        let suite = implied_suite(&workspace);
        Ok(Self::Workspace { workspace: Box::new(workspace), suite, implied: true })
    }

    /// A suite with the folder of its runs, which may be a workspace.
    pub fn of_suite(suite: Suite, runs: &Path, options: WorkspaceOptions) -> Result<Self, ExitCode> {
        if suite.dialect == Dialect::SharedBenchmark || !Workspace::is_one(runs) {
            return Ok(Self::Runs(suite));
        }
        Ok(Self::Workspace { workspace: Box::new(open(runs, options)?), suite, implied: false })
    }
}

fn open(path: &Path, options: WorkspaceOptions) -> Result<Workspace, ExitCode> {
    Workspace::open(path, options).map_err(|errors| {
        let mut code = ExitCode::FAILURE;
        for error in errors {
            code = fail(&error.to_string());
        }
        code
    })
}

fn implied_suite(workspace: &Workspace) -> Suite {
    let directory = workspace.root().canonicalize().unwrap_or_else(|_| workspace.root().to_owned());
    let name = workspace.skill_name.clone().unwrap_or_else(|| skill_name(&directory));
    Suite::of_tree(workspace.kind.into(), name, directory, cases_of_tree(workspace))
}

/// The name of the skill as the folders of a workspace have it: `<skill>-workspace/iteration-<n>`.
pub fn skill_name(directory: &Path) -> String {
    let plain = ["workspace", "evals", "results", "runs", "eval-workspace"];
    let names = directory.ancestors().filter_map(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let mut names = names.filter(|name| !name.starts_with("iteration-") && !plain.contains(&name.as_str()));
    let name = names.next().unwrap_or_else(|| "unnamed".to_owned());
    name.strip_suffix("-workspace").map(str::to_owned).unwrap_or(name)
}
