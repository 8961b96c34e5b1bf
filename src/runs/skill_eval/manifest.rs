//! `iteration_manifest.json`, and the two objects that `benchmark.json` shares with it.

use serde::Serialize;

use super::field;
use crate::json::{self, Node};
use crate::runs::{FileProblem, Limits, RunDirectory, WarningCode};

/// Whether the declared input files differed from what git has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FixtureStatus {
    /// Whether there were any to check.
    pub checked: bool,
    /// Whether one differed.
    pub dirty: bool,
    /// What was checked.
    pub paths: Vec<String>,
    /// What git says.
    pub entries: Vec<String>,
    /// Why git could not say it.
    pub error: Option<String>,
}

/// The status before and after the runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fixtures {
    /// Both together.
    #[serde(flatten)]
    pub combined: FixtureStatus,
    /// Before the first run.
    pub before: Option<FixtureStatus>,
    /// After the last run.
    pub after: Option<FixtureStatus>,
}

/// How much of the suite was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SuiteCoverage {
    /// `full` or `selected`.
    pub mode: String,
    /// Evals of the suite.
    pub suite_eval_count: u64,
    /// Evals that were run.
    pub selected_eval_count: u64,
    /// Their ids, in suite order.
    pub selected_eval_ids: Vec<String>,
    /// Whether evals were left out.
    pub partial: bool,
    /// Whether the result can stand for the suite.
    pub closing_eligible: bool,
}

/// What was planned.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// The skill.
    pub skill_name: Option<String>,
    /// The provider.
    pub agent: Option<String>,
    /// The model of both roles.
    pub model: Option<String>,
    /// The executor's model, where the file names one.
    pub executor_model: Option<String>,
    /// The grader's model, where the file names one.
    pub grader_model: Option<String>,
    /// The skill's file.
    pub skill_path: Option<String>,
    /// Configurations in the order that was asked for.
    pub configurations: Vec<String>,
    /// Repetitions of each.
    pub runs: Option<u64>,
    /// State of the inputs before the first run.
    pub fixtures_before: Option<FixtureStatus>,
    /// How much of the suite was asked for.
    pub suite_coverage: Option<SuiteCoverage>,
}

impl FixtureStatus {
    /// Reads the object of either file.
    pub(super) fn of(node: &Node<'_>) -> Option<Self> {
        node.members()?;
        Some(Self {
            checked: field::boolean(node, "checked").unwrap_or(false),
            dirty: field::boolean(node, "dirty").unwrap_or(false),
            paths: field::texts(node, "paths"),
            entries: field::texts(node, "entries"),
            error: field::text(node, "error"),
        })
    }
}

impl Fixtures {
    /// Reads the object of `benchmark.json`.
    pub(super) fn of(node: &Node<'_>) -> Option<Self> {
        Some(Self {
            combined: FixtureStatus::of(node)?,
            before: node.get("before").and_then(FixtureStatus::of),
            after: node.get("after").and_then(FixtureStatus::of),
        })
    }

    /// The status of an iteration that did not come to its end: what was after it is not known.
    pub fn interrupted(before: FixtureStatus) -> Self {
        let combined = FixtureStatus {
            entries: before.entries.iter().map(|entry| format!("before: {entry}")).collect(),
            ..before.clone()
        };
        Self { combined, before: Some(before), after: None }
    }

    /// What git could not say.
    pub fn error(&self) -> Option<&str> {
        let parts = [Some(&self.combined), self.before.as_ref(), self.after.as_ref()];
        parts.into_iter().flatten().find_map(|status| status.error.as_deref())
    }
}

impl SuiteCoverage {
    /// Reads the object of either file.
    pub(super) fn of(node: &Node<'_>) -> Option<Self> {
        node.members()?;
        let partial = field::boolean(node, "partial").unwrap_or(false);
        Some(Self {
            mode: field::text(node, "mode").unwrap_or_default(),
            suite_eval_count: field::count(node, "suite_eval_count").unwrap_or(0),
            selected_eval_count: field::count(node, "selected_eval_count").unwrap_or(0),
            selected_eval_ids: field::texts(node, "selected_eval_ids"),
            partial,
            closing_eligible: field::boolean(node, "closing_eligible").unwrap_or(!partial),
        })
    }
}

/// The file in the folder of an iteration.
const FILE: &str = "iteration_manifest.json";

impl Manifest {
    /// Reads the file of an iteration, if it is there. One that cannot be read is named in a warning of the folder.
    pub(in crate::runs) fn load(root: &mut RunDirectory, limits: &Limits) -> Option<Self> {
        let read = match root.read(FILE, limits.sidecar_bytes) {
            Err(FileProblem::Missing(_)) => return None,
            Err(problem) => Err(problem.to_string()),
            Ok(bytes) => match std::str::from_utf8(&bytes) {
                Err(_) => Err("not valid UTF-8".to_owned()),
                Ok(text) => json::parse(text, json::Limits::SIDECAR)
                    .map_err(|error| error.to_string())
                    .and_then(|node| Self::of(&node).ok_or_else(|| "expected an object".to_owned())),
            },
        };
        read.map_err(|message| root.warn(WarningCode::SidecarUnreadable, FILE, message)).ok()
    }

    /// Reads the file; unknown keys and members of another type count as absent.
    pub(in crate::runs) fn of(node: &Node<'_>) -> Option<Self> {
        node.members()?;
        let fixtures = node.get("source_fixtures_before").or_else(|| node.get("source_fixtures"));
        Some(Self {
            skill_name: field::text(node, "skill_name"),
            agent: field::text(node, "agent"),
            model: field::text(node, "model"),
            executor_model: field::text(node, "executor_model"),
            grader_model: field::text(node, "grader_model"),
            skill_path: field::text(node, "skill_path"),
            configurations: field::texts(node, "configs"),
            runs: field::count(node, "runs"),
            fixtures_before: fixtures.and_then(FixtureStatus::of),
            suite_coverage: node.get("suite_coverage").and_then(SuiteCoverage::of),
        })
    }
}
