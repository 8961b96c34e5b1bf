//! What is at a path, before anything is asked of it: which format, what was understood, what was not, what to do next.

use skill_lift_stats::rational::Rational;

use super::benchmark_file::CheckedBenchmark;
use super::sanity::Sanity;
use crate::grade::stored::StoredTree;
use crate::runs::claims::Claims;
use crate::runs::workspace::GradingDocument;
use crate::suite::{Dialect, Suite};

/// What was found at a path.
#[derive(Debug)]
pub struct Diagnosis {
    /// The path as the user typed it.
    pub path: String,
    /// What it is.
    pub subject: Subject,
    /// What is odd or was not understood, by code.
    pub findings: Vec<Finding>,
    /// Commands that a user would run next.
    pub next: Vec<String>,
}

/// One kind of oddity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its stable code.
    pub code: &'static str,
    /// How often it was met.
    pub count: usize,
    /// The first few, each with its place.
    pub examples: Vec<String>,
}

/// What a path is.
#[derive(Debug)]
pub enum Subject {
    /// A suite, or a set of trigger queries.
    Suite(Box<Suite>),
    /// An iteration of another tool.
    Workspace(Box<WorkspaceFacts>),
    /// A file of results.
    Results(Box<Claims>),
    /// A file of verdicts.
    Verdicts(GradingDocument),
    /// A tree of runs of a suite near it.
    Runs {
        /// The suite.
        suite: String,
        /// Its cases.
        cases: usize,
        /// Cases that have a folder in the tree.
        found: usize,
    },
    /// A folder with several of these.
    Folder(Inventory),
}

/// What stands below a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inventory {
    /// Suites.
    pub suites: Vec<String>,
    /// Iterations of other tools.
    pub workspaces: Vec<String>,
    /// Files of results that lie in no iteration.
    pub results: Vec<String>,
    /// Trees of runs, each with its suite before it.
    pub run_trees: Vec<(String, String)>,
    /// Whether there are more folders than are looked into.
    pub is_cut: bool,
}

/// What a workspace holds.
#[derive(Debug)]
pub struct WorkspaceFacts {
    /// The format.
    pub dialect: Dialect,
    /// The iteration that was read.
    pub root: String,
    /// Evals.
    pub evals: usize,
    /// Arms in report order.
    pub arms: Vec<(String, ArmFacts)>,
    /// What the stored verdicts add up to; `None` when there is none and runs would be graded.
    pub stored: Option<StoredTree>,
    /// Assertions that need no judge, of all assertions that the tree states.
    pub offline_assertions: (usize, usize),
    /// Cases with both arms scored.
    pub paired_cases: usize,
    /// Mean lift over those.
    pub lift: Option<Rational>,
    /// The benchmark file beside the verdicts.
    pub benchmark_file: Option<CheckedBenchmark>,
    /// What to look at before the lift is believed.
    pub sanity: Option<Sanity>,
}

/// What an arm holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArmFacts {
    /// Runs.
    pub runs: usize,
    /// Runs that enter rates.
    pub scored: usize,
}
