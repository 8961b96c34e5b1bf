//! Choices that several commands offer in the same words.

use std::io::{self, IsTerminal};

use clap::ValueEnum;

use crate::grade::Unobserved;
use crate::runs::OnDuplicate;
use crate::runs::workspace::{LayoutChoice, WorkspaceKind};
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

/// What to do when two directories claim the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DuplicateChoice {
    /// Refuse the tree.
    Error,
    /// Keep the last one, with a warning.
    Last,
}

impl From<DuplicateChoice> for OnDuplicate {
    fn from(choice: DuplicateChoice) -> Self {
        match choice {
            DuplicateChoice::Error => Self::Error,
            DuplicateChoice::Last => Self::Last,
        }
    }
}

/// What becomes of a check whose evidence is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnobservedChoice {
    /// It fails.
    Fail,
    /// It enters no count; its row says that it is undecided.
    Exclude,
}

impl From<UnobservedChoice> for Unobserved {
    fn from(choice: UnobservedChoice) -> Self {
        match choice {
            UnobservedChoice::Fail => Self::Fail,
            UnobservedChoice::Exclude => Self::Exclude,
        }
    }
}

/// Which directories to read when a workspace holds the same eval twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutArgument {
    /// Those with `run-<n>` folders.
    Nested,
    /// Those without.
    Flat,
}

impl LayoutArgument {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nested => "nested",
            Self::Flat => "flat",
        }
    }
}

impl From<LayoutArgument> for LayoutChoice {
    fn from(argument: LayoutArgument) -> Self {
        match argument {
            LayoutArgument::Nested => Self::Nested,
            LayoutArgument::Flat => Self::Flat,
        }
    }
}

/// What is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What a page with an answer is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// The text for people.
    Table,
    /// The same for a pull request or a page.
    #[value(alias = "md")]
    Markdown,
    /// Everything.
    Json,
}

impl PageFormat {
    /// What goes to standard output: the table beside a file or on a terminal, else JSON.
    pub fn of_standard_output(asked: Option<Self>, has_file: bool) -> Self {
        match asked {
            _ if has_file => Self::Table,
            Some(format) => format,
            None if io::stdout().is_terminal() => Self::Table,
            None => Self::Json,
        }
    }
}
