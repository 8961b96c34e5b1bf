//! Pass rates of each arm, weighted by runs.

use skill_lift_stats::rational;

use super::table::{PassRate, Run, RunTable};
use super::telemetry::VariantUsage;

/// One arm.
#[derive(Debug)]
pub struct VariantSummary {
    /// Its name.
    pub variant: String,
    /// Distinct cases with a row.
    pub cases: usize,
    /// Rows.
    pub runs: usize,
    /// Rows that are not scored.
    pub blocked: usize,
    /// Rows without an answer.
    pub missing_outputs: usize,
    /// Rows with an answer that did not finish.
    pub execution_errors: usize,
    /// Objective pass rates of the scorable runs that have one.
    pub objective: Vec<f64>,
    /// Combined pass rates.
    pub combined: Vec<f64>,
    /// Process pass rates.
    pub process: Vec<f64>,
    /// Efficiency pass rates.
    pub efficiency: Vec<f64>,
    /// What its runs used.
    pub usage: VariantUsage,
}

/// Every selected arm, also those without rows.
pub fn by_variant(table: &RunTable) -> Vec<VariantSummary> {
    (0..table.variants.len() as u32).map(|variant| summary(table, variant, |_| true)).collect()
}

/// For each model, the arms that have rows.
pub fn by_model(table: &RunTable) -> Vec<(String, Vec<VariantSummary>)> {
    table
        .models
        .iter()
        .enumerate()
        .map(|(position, name)| {
            let model = Some(position as u32);
            let arms = (0..table.variants.len() as u32)
                .map(|variant| summary(table, variant, |run| run.order.model == model))
                .filter(|summary| summary.runs > 0)
                .collect();
            (name.clone(), arms)
        })
        .collect()
}

fn summary(table: &RunTable, variant: u32, filter: impl Fn(&Run) -> bool) -> VariantSummary {
    let of_arm = |run: &Run| run.order.variant == variant && filter(run);
    let used = table.runs.iter().zip(table.telemetry.iter()).filter(|(run, _)| of_arm(run));
    let usage = VariantUsage::of(used.map(|(run, used)| (used, run.scorable)));
    let rows: Vec<&Run> = table.runs.iter().filter(|run| of_arm(run)).collect();
    let mut cases: Vec<u32> = rows.iter().map(|run| run.order.case).collect();
    cases.sort_unstable();
    cases.dedup();
    let rates = |of: fn(&Run) -> Option<PassRate>| -> Vec<f64> {
        let scorable = rows.iter().filter(|run| run.scorable);
        scorable.filter_map(|run| of(run)).map(|rate| rational::to_f64(&rate.value())).collect()
    };
    VariantSummary {
        variant: table.variant(variant).to_owned(),
        cases: cases.len(),
        runs: rows.len(),
        blocked: rows.iter().filter(|run| !run.scorable).count(),
        missing_outputs: rows.iter().filter(|run| run.missing_output).count(),
        execution_errors: rows.iter().filter(|run| !run.missing_output && !run.execution_valid).count(),
        objective: rates(|run| run.objective),
        combined: rates(|run| run.combined),
        process: rates(|run| run.process),
        efficiency: rates(|run| run.efficiency),
        usage,
    }
}
