//! The figures of `benchmark.json`, stored or aggregated. Rates are doubles because the format has them so.

use std::collections::HashSet;

use serde::Serialize;

use super::field;
use super::manifest::{Fixtures, SuiteCoverage};
use super::record::RunRecord;
use crate::json::{self, Node};
use crate::runs::workspace::position;

/// One eval under one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CellRates {
    /// Mean of the runs' pass rates.
    pub pass_rate: Option<f64>,
    /// Runs.
    pub runs: u64,
    /// Runs with a pass rate.
    pub scored_runs: u64,
    /// Runs without one.
    pub error_runs: u64,
}

/// One eval under every configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalRates {
    /// Its id.
    pub eval_id: String,
    /// Its name.
    pub eval_name: String,
    /// Its rates, configurations in their order.
    pub configurations: Vec<(String, CellRates)>,
}

impl EvalRates {
    /// The rates under a configuration.
    pub fn cell(&self, configuration: &str) -> Option<&CellRates> {
        self.configurations.iter().find(|(name, _)| name == configuration).map(|(_, cell)| cell)
    }
}

/// Two configurations compared over all their runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The configuration that is judged.
    pub candidate: String,
    /// The one it is judged against.
    pub baseline: String,
    /// Pooled rate of the first.
    pub candidate_pass_rate: Option<f64>,
    /// Pooled rate of the second.
    pub baseline_pass_rate: Option<f64>,
    /// First minus second.
    pub delta: Option<f64>,
}

/// Runs of a cell that ended without a score in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InfrastructureFailure {
    /// The eval.
    pub eval_id: String,
    /// The configuration.
    pub configuration: String,
    /// How they ended.
    pub status: String,
    /// How many; older files do not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// A cell in which nothing passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ZeroCell {
    /// The eval.
    pub eval_id: String,
    /// The configuration.
    pub configuration: String,
}

/// An eval that is worse with the candidate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inversion {
    /// The eval.
    pub eval_id: String,
    /// The candidate's rate.
    pub candidate_pass_rate: f64,
    /// The baseline's rate.
    pub baseline_pass_rate: f64,
}

/// Inputs that differed from what git has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DirtyFixtures {
    /// What was checked.
    pub paths: Vec<String>,
    /// What git says.
    pub entries: Vec<String>,
}

/// What has to be looked at before the figures are believed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SanityChecks {
    /// Whether there is nothing.
    pub ok: bool,
    /// Runs without a score.
    pub infrastructure_failures: Vec<InfrastructureFailure>,
    /// Cells in which nothing passed.
    pub zero_scored_cells: Vec<ZeroCell>,
    /// Evals that are worse with the candidate.
    pub candidate_below_baseline: Vec<Inversion>,
    /// At most one entry.
    pub source_fixture_dirty: Vec<DirtyFixtures>,
    /// At most one entry.
    pub partial_suite_selection: Vec<SuiteCoverage>,
}

impl SanityChecks {
    /// Entries of all kinds.
    pub fn signals(&self) -> usize {
        self.infrastructure_failures.len()
            + self.zero_scored_cells.len()
            + self.candidate_below_baseline.len()
            + self.source_fixture_dirty.len()
            + self.partial_suite_selection.len()
    }
}

/// The figures of an iteration as the runner aggregates them.
#[derive(Debug, Clone, Default)]
pub struct Benchmark {
    /// The skill.
    pub skill_name: Option<String>,
    /// The provider.
    pub agent: Option<String>,
    /// The model of both roles; `None` for the provider's default.
    pub model: Option<String>,
    /// The executor's model, where it has one of its own.
    pub executor_model: Option<String>,
    /// The grader's model, where it has one of its own.
    pub grader_model: Option<String>,
    /// The skill's file.
    pub skill_path: Option<String>,
    /// State of the declared inputs.
    pub source_fixtures: Option<Fixtures>,
    /// How much of the suite was run.
    pub suite_coverage: Option<SuiteCoverage>,
    /// When it was aggregated, as text.
    pub generated_at: Option<String>,
    /// Configurations in their order.
    pub configurations: Vec<String>,
    /// Runs.
    pub run_count: u64,
    /// Runs that ended well.
    pub scored_run_count: u64,
    /// The others.
    pub error_run_count: u64,
    /// Runs by how they ended, as first seen.
    pub status_counts: Vec<(String, u64)>,
    /// Whether any run has metrics.
    pub metrics_captured: bool,
    /// Pooled pass rate of each configuration.
    pub overall_pass_rate: Vec<(String, Option<f64>)>,
    /// The first two configurations compared.
    pub comparison: Option<Comparison>,
    /// What has to be looked at; older files lack it.
    pub sanity_checks: Option<SanityChecks>,
    /// Every eval.
    pub evals: Vec<EvalRates>,
    /// Every run.
    pub runs: Vec<RunRecord>,
}

/// A `benchmark.json` that is there.
#[derive(Debug)]
pub struct StoredBenchmark {
    /// Its text, for who passes it through.
    pub text: String,
    /// Its figures.
    pub figures: Benchmark,
}

impl StoredBenchmark {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it, when it is not strict JSON or not an object.
    pub(super) fn read(text: String) -> Result<Self, String> {
        let root = json::parse(&text, json::Limits::SIDECAR).map_err(|error| {
            let (line, column) = position(&text, error.span.start);
            format!("line {line}, column {column}: {error}")
        })?;
        if root.members().is_none() {
            return Err(format!("expected an object, found {}", root.type_name()));
        }
        let figures = figures(&root);
        Ok(Self { figures, text })
    }
}

fn figures(root: &Node<'_>) -> Benchmark {
    let runs: Vec<RunRecord> = field::items(root, "runs").iter().filter_map(RunRecord::of_benchmark).collect();
    let overall = pairs(root.get("overall_pass_rate"), |node| rate(Some(node)));
    let evals: Vec<EvalRates> = field::items(root, "evals").iter().filter_map(eval).collect();
    let named = overall.iter().map(|(name, _)| name);
    let of_evals = evals.iter().flat_map(|eval| eval.configurations.iter().map(|(name, _)| name));
    let asked = field::texts(root, "configs");
    let mut known = HashSet::new();
    let all = asked.iter().chain(named).chain(of_evals).chain(runs.iter().map(|run| &run.place.configuration));
    let configurations: Vec<String> = all.filter(|name| known.insert(*name)).cloned().collect();
    let run_count = field::count(root, "run_count").unwrap_or(runs.len() as u64);
    let scored = runs.iter().filter(|run| run.status == super::RunStatus::Ok).count() as u64;
    let scored_run_count = field::count(root, "scored_run_count").unwrap_or(scored);
    Benchmark {
        skill_name: field::text(root, "skill_name"),
        agent: field::text(root, "agent"),
        model: field::text(root, "model"),
        executor_model: field::text(root, "executor_model"),
        grader_model: field::text(root, "grader_model"),
        skill_path: field::text(root, "skill_path"),
        source_fixtures: root.get("source_fixtures").and_then(Fixtures::of),
        suite_coverage: root.get("suite_coverage").and_then(SuiteCoverage::of),
        generated_at: field::text(root, "generated_at"),
        configurations,
        run_count,
        scored_run_count,
        error_run_count: field::count(root, "error_run_count").unwrap_or(run_count.saturating_sub(scored_run_count)),
        status_counts: pairs(root.get("status_counts"), |node| u64::try_from(node.as_number()?.as_i64()?).ok())
            .into_iter()
            .filter_map(|(status, count)| Some((status, count?)))
            .collect(),
        metrics_captured: field::boolean(root, "metrics_captured")
            .unwrap_or_else(|| runs.iter().any(|run| run.metrics.captured)),
        overall_pass_rate: overall,
        comparison: root.get("comparison").and_then(comparison),
        sanity_checks: root.get("sanity_checks").and_then(sanity),
        evals,
        runs,
    }
}

/// A rate or a difference of rates; what lies out of their range is none.
fn rate(node: Option<&Node<'_>>) -> Option<f64> {
    Some(node?.as_number()?.as_f64()).filter(|rate| (-1.0..=1.0).contains(rate))
}

fn pairs<T>(node: Option<&Node<'_>>, value: impl Fn(&Node<'_>) -> Option<T>) -> Vec<(String, Option<T>)> {
    let members = node.and_then(Node::members).unwrap_or_default();
    members.iter().map(|member| (member.key.clone().into_owned(), value(&member.value))).collect()
}

fn eval(node: &Node<'_>) -> Option<EvalRates> {
    let eval_id = field::text(node, "eval_id")?;
    let cell = |node: &Node<'_>| {
        Some(CellRates {
            pass_rate: rate(node.get("pass_rate")),
            runs: field::count(node, "runs").unwrap_or(0),
            scored_runs: field::count(node, "scored_runs").unwrap_or(0),
            error_runs: field::count(node, "error_runs").unwrap_or(0),
        })
    };
    let configurations = pairs(node.get("configs"), cell).into_iter().filter_map(|(name, cell)| Some((name, cell?)));
    Some(EvalRates {
        eval_name: field::text(node, "eval_name").unwrap_or_else(|| eval_id.clone()),
        configurations: configurations.collect(),
        eval_id,
    })
}

fn comparison(node: &Node<'_>) -> Option<Comparison> {
    Some(Comparison {
        candidate: field::text(node, "candidate")?,
        baseline: field::text(node, "baseline")?,
        candidate_pass_rate: rate(node.get("candidate_pass_rate")),
        baseline_pass_rate: rate(node.get("baseline_pass_rate")),
        delta: rate(node.get("delta")),
    })
}

fn sanity(node: &Node<'_>) -> Option<SanityChecks> {
    node.members()?;
    let failure = |node: &Node<'_>| {
        Some(InfrastructureFailure {
            eval_id: field::text(node, "eval_id")?,
            configuration: field::text(node, "configuration")?,
            status: field::text(node, "status")?,
            count: field::count(node, "count"),
        })
    };
    let zero = |node: &Node<'_>| {
        Some(ZeroCell { eval_id: field::text(node, "eval_id")?, configuration: field::text(node, "configuration")? })
    };
    let inversion = |node: &Node<'_>| {
        Some(Inversion {
            eval_id: field::text(node, "eval_id")?,
            candidate_pass_rate: rate(node.get("candidate_pass_rate"))?,
            baseline_pass_rate: rate(node.get("baseline_pass_rate"))?,
        })
    };
    let dirty = |node: &Node<'_>| {
        node.members()?;
        Some(DirtyFixtures { paths: field::texts(node, "paths"), entries: field::texts(node, "entries") })
    };
    let mut checks = SanityChecks {
        ok: false,
        infrastructure_failures: field::items(node, "infrastructure_failures").iter().filter_map(failure).collect(),
        zero_scored_cells: field::items(node, "zero_scored_cells").iter().filter_map(zero).collect(),
        candidate_below_baseline: field::items(node, "candidate_below_baseline").iter().filter_map(inversion).collect(),
        source_fixture_dirty: field::items(node, "source_fixture_dirty").iter().filter_map(dirty).collect(),
        partial_suite_selection: field::items(node, "partial_suite_selection")
            .iter()
            .filter_map(SuiteCoverage::of)
            .collect(),
    };
    checks.ok = field::boolean(node, "ok").unwrap_or(checks.signals() == 0);
    Some(checks)
}
