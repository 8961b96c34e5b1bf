//! The runner's own figures, aggregated from run records.

use std::collections::HashMap;

use num_traits::Zero;
use skill_lift_stats::rational::{self, Rational};

use crate::analyze::table::WITH_SKILL;
use crate::runs::skill_eval::{
    Benchmark, CellRates, Comparison, DirtyFixtures, EvalRates, Fixtures, InfrastructureFailure, Inversion, Iteration,
    RunRecord, RunStatus, SanityChecks, ZeroCell,
};

const WITHOUT_SKILL: &str = "without_skill";

/// Candidate and baseline: with and without the skill whenever both are there, else the first two.
pub fn arms(configurations: &[String]) -> Option<(String, String)> {
    let has = |name: &str| configurations.iter().any(|configuration| configuration == name);
    if has(WITH_SKILL) && has(WITHOUT_SKILL) {
        return Some((WITH_SKILL.to_owned(), WITHOUT_SKILL.to_owned()));
    }
    match configurations {
        [first, second, ..] => Some((first.clone(), second.clone())),
        _ => None,
    }
}

/// One cell with its exact rate.
struct Cell {
    rates: CellRates,
    exact: Option<Rational>,
}

/// The rate with which a run enters the figures.
fn scored_rate(run: &RunRecord) -> Option<f64> {
    if run.effective_status() == RunStatus::Ok { run.pass_rate } else { None }
}

/// The mean as the runner takes it: a sum of doubles from left to right.
fn mean(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for rate in rates {
        sum += rate;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

fn cell(runs: &[&RunRecord]) -> Cell {
    let rates: Vec<f64> = runs.iter().filter_map(|run| scored_rate(run)).collect();
    let exact: Vec<Rational> =
        runs.iter().filter(|run| scored_rate(run).is_some()).filter_map(|run| run.rate()).collect();
    let scored_runs = rates.len() as u64;
    Cell {
        rates: CellRates {
            pass_rate: mean(rates.into_iter()),
            runs: runs.len() as u64,
            scored_runs,
            error_runs: runs.len() as u64 - scored_runs,
        },
        exact: rational::mean(&exact),
    }
}

/// Aggregates the runs of an iteration. There is no time stamp: the same runs give the same figures whenever.
pub fn aggregate(iteration: &Iteration) -> Benchmark {
    let runs = &iteration.runs;
    let configurations = &iteration.configurations;
    let manifest = iteration.manifest.clone().unwrap_or_default();
    let mut of_cell: HashMap<(&str, &str), Vec<&RunRecord>> = HashMap::new();
    for run in runs {
        of_cell.entry((&run.place.eval_id, &run.place.configuration)).or_default().push(run);
    }
    let cell = |eval: &str, configuration: &str| {
        cell(of_cell.get(&(eval, configuration)).map(Vec::as_slice).unwrap_or_default())
    };
    let cells_of = |id: &str| configurations.iter().map(|name| cell(id, name)).collect();
    let cells: Vec<Vec<Cell>> = iteration.evals.iter().map(|eval| cells_of(&eval.id)).collect();
    let evals: Vec<EvalRates> = iteration
        .evals
        .iter()
        .zip(&cells)
        .map(|(eval, cells)| EvalRates {
            eval_id: eval.id.clone(),
            eval_name: eval.name.clone(),
            configurations: configurations.iter().cloned().zip(cells.iter().map(|cell| cell.rates)).collect(),
        })
        .collect();
    let overall = |configuration: &String| {
        mean(runs.iter().filter(|run| run.place.configuration == *configuration).filter_map(scored_rate))
    };
    let overall_pass_rate: Vec<_> = configurations.iter().map(|name| (name.clone(), overall(name))).collect();
    let comparison = compare(&overall_pass_rate, configurations);
    let source_fixtures = manifest.fixtures_before.map(Fixtures::interrupted);
    let scored_run_count = runs.iter().filter(|run| run.effective_status() == RunStatus::Ok).count() as u64;
    let mut sanity = SanityChecks {
        ok: false,
        infrastructure_failures: failures(runs),
        zero_scored_cells: zero_cells(&evals, &cells, configurations),
        candidate_below_baseline: inversions(&evals, &cells, configurations),
        source_fixture_dirty: source_fixtures.as_ref().map(dirty).unwrap_or_default(),
        partial_suite_selection: manifest.suite_coverage.iter().filter(|coverage| coverage.partial).cloned().collect(),
    };
    sanity.ok = sanity.signals() == 0;
    Benchmark {
        skill_name: manifest.skill_name,
        agent: manifest.agent,
        model: manifest.model,
        executor_model: manifest.executor_model,
        grader_model: manifest.grader_model,
        skill_path: manifest.skill_path,
        source_fixtures,
        suite_coverage: manifest.suite_coverage,
        generated_at: None,
        configurations: configurations.clone(),
        run_count: runs.len() as u64,
        scored_run_count,
        error_run_count: runs.len() as u64 - scored_run_count,
        status_counts: status_counts(runs),
        metrics_captured: runs.iter().any(|run| run.metrics.captured),
        overall_pass_rate,
        comparison,
        sanity_checks: Some(sanity),
        evals,
        runs: runs.clone(),
    }
}

fn compare(overall: &[(String, Option<f64>)], configurations: &[String]) -> Option<Comparison> {
    let (candidate, baseline) = arms(configurations)?;
    let rate = |name: &str| overall.iter().find(|(configuration, _)| configuration == name).and_then(|(_, rate)| *rate);
    let (candidate_pass_rate, baseline_pass_rate) = (rate(&candidate), rate(&baseline));
    let delta = candidate_pass_rate.zip(baseline_pass_rate).map(|(candidate, baseline)| candidate - baseline);
    Some(Comparison { candidate, baseline, candidate_pass_rate, baseline_pass_rate, delta })
}

fn status_counts(runs: &[RunRecord]) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for run in runs {
        let status = run.effective_status();
        match counts.iter_mut().find(|(name, _)| name == status.word()) {
            Some((_, count)) => *count += 1,
            None => counts.push((status.word().to_owned(), 1)),
        }
    }
    counts
}

fn failures(runs: &[RunRecord]) -> Vec<InfrastructureFailure> {
    let mut failures: Vec<InfrastructureFailure> = Vec::new();
    let mut positions = HashMap::new();
    for run in runs {
        let status = run.effective_status();
        if status == RunStatus::Ok {
            continue;
        }
        let key = (run.place.eval_id.clone(), run.place.configuration.clone(), status);
        let position = *positions.entry(key).or_insert_with_key(|(eval_id, configuration, status)| {
            failures.push(InfrastructureFailure {
                eval_id: eval_id.clone(),
                configuration: configuration.clone(),
                status: status.word().to_owned(),
                count: Some(0),
            });
            failures.len() - 1
        });
        failures[position].count = failures[position].count.map(|count| count + 1);
    }
    failures
}

fn zero_cells(evals: &[EvalRates], cells: &[Vec<Cell>], configurations: &[String]) -> Vec<ZeroCell> {
    let mut found = Vec::new();
    for (eval, cells) in evals.iter().zip(cells) {
        for (configuration, cell) in configurations.iter().zip(cells) {
            if cell.exact.as_ref().is_some_and(Zero::is_zero) {
                found.push(ZeroCell { eval_id: eval.eval_id.clone(), configuration: configuration.clone() });
            }
        }
    }
    found
}

fn inversions(evals: &[EvalRates], cells: &[Vec<Cell>], configurations: &[String]) -> Vec<Inversion> {
    let Some((candidate, baseline)) = arms(configurations) else {
        return Vec::new();
    };
    let position = |name: &str| configurations.iter().position(|configuration| configuration == name);
    let (Some(candidate), Some(baseline)) = (position(&candidate), position(&baseline)) else {
        return Vec::new();
    };
    let inversion = |(eval, cells): (&EvalRates, &Vec<Cell>)| {
        let (candidate, baseline) = (cells.get(candidate)?, cells.get(baseline)?);
        (candidate.exact.as_ref()? < baseline.exact.as_ref()?).then_some(())?;
        Some(Inversion {
            eval_id: eval.eval_id.clone(),
            candidate_pass_rate: candidate.rates.pass_rate?,
            baseline_pass_rate: baseline.rates.pass_rate?,
        })
    };
    evals.iter().zip(cells).filter_map(inversion).collect()
}

fn dirty(fixtures: &Fixtures) -> Vec<DirtyFixtures> {
    let combined = &fixtures.combined;
    let entry = DirtyFixtures { paths: combined.paths.clone(), entries: combined.entries.clone() };
    if combined.dirty { vec![entry] } else { Vec::new() }
}

/// Turns stored figures round whose comparison has the arm without the skill as the candidate. Returns whether it did.
pub fn orient(figures: &mut Benchmark) -> bool {
    let Some(stored) = &figures.comparison else {
        return false;
    };
    if stored.candidate != WITHOUT_SKILL || stored.baseline != WITH_SKILL {
        return false;
    }
    figures.comparison = Some(Comparison {
        candidate: stored.baseline.clone(),
        baseline: stored.candidate.clone(),
        candidate_pass_rate: stored.baseline_pass_rate,
        baseline_pass_rate: stored.candidate_pass_rate,
        delta: stored.baseline_pass_rate.zip(stored.candidate_pass_rate).map(|(with, without)| with - without),
    });
    let inversion = |eval: &EvalRates| {
        let (candidate_pass_rate, baseline_pass_rate) =
            (eval.cell(WITH_SKILL)?.pass_rate?, eval.cell(WITHOUT_SKILL)?.pass_rate?);
        let below = candidate_pass_rate < baseline_pass_rate;
        below.then(|| Inversion { eval_id: eval.eval_id.clone(), candidate_pass_rate, baseline_pass_rate })
    };
    let inversions: Vec<Inversion> = figures.evals.iter().filter_map(inversion).collect();
    if let Some(sanity) = &mut figures.sanity_checks {
        sanity.candidate_below_baseline = inversions;
        sanity.ok = sanity.signals() == 0;
    }
    true
}
