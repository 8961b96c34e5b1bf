//! The formats of suites and workspaces on the command line.

use clap::ValueEnum;

use crate::runs::workspace::WorkspaceKind;
use crate::suite::Dialect;

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DialectChoice {
    /// `evals/shared-benchmark.json`, version 1 or 2.
    SharedBenchmark,
    /// `evals/<skill>/evals.json` with closed keys and `common_assertions`, and iterations of its runner.
    SkillEval,
    /// `evals/evals.json` with `eval_id` and named checks, and iterations with `baseline` folders.
    SkillForge,
    /// `evals/evals.json` in any of the shapes that are in use, and workspaces of eval folders.
    SkillCreator,
}

impl From<DialectChoice> for Dialect {
    fn from(choice: DialectChoice) -> Self {
        match choice {
            DialectChoice::SharedBenchmark => Self::SharedBenchmark,
            DialectChoice::SkillEval => Self::SkillEval,
            DialectChoice::SkillForge => Self::SkillForge,
            DialectChoice::SkillCreator => Self::SkillCreator,
        }
    }
}

impl DialectChoice {
    /// The tool that lays workspaces of this format out; `None` for the format whose run trees are no workspaces.
    pub fn workspace_kind(self) -> Option<WorkspaceKind> {
        match self {
            Self::SharedBenchmark => None,
            Self::SkillEval => Some(WorkspaceKind::SkillEval),
            Self::SkillForge => Some(WorkspaceKind::SkillForge),
            Self::SkillCreator => Some(WorkspaceKind::SkillCreator),
        }
    }
}
