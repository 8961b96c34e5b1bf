//! What a finished run says on standard output.

use skill_lift_text::screen::visible;

use super::format::{label, metric, percent};
use super::markdown::configurations_in_order;
use crate::analyze::skill_eval::{Corrected, MetricKind, MetricSummary};
use crate::runs::skill_eval::Benchmark;

/// The lines after a run: how many runs there are, both rates, whether something has to be looked at, and the metrics.
/// `folder` and `report` are shown as they are given.
pub fn run_lines(figures: &Benchmark, corrected: &Corrected, folder: &str, report: &str) -> String {
    let mut lines = vec![format!("Ran {} runs into {}", figures.run_count, visible(folder, false))];
    if let Some(comparison) = &figures.comparison {
        lines.push(format!(
            "{}={} {}={}",
            visible(&comparison.candidate, false),
            percent(comparison.candidate_pass_rate),
            visible(&comparison.baseline, false),
            percent(comparison.baseline_pass_rate)
        ));
    }
    lines.push(sanity_line(figures, corrected, report));
    lines.extend(metric_lines(figures));
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn sanity_line(figures: &Benchmark, corrected: &Corrected, report: &str) -> String {
    let sanity = figures.sanity_checks.clone().unwrap_or_default();
    let checks = &corrected.checks;
    let kinds = [
        ("infrastructure_failures", sanity.infrastructure_failures.len()),
        ("zero_scored_cells", sanity.zero_scored_cells.len()),
        ("candidate_below_baseline", sanity.candidate_below_baseline.len()),
        ("source_fixture_dirty", sanity.source_fixture_dirty.len()),
        ("partial_suite_selection", sanity.partial_suite_selection.len()),
        ("incomplete_verdicts", checks.incomplete_verdicts.len()),
        ("no_assertions", checks.no_assertions.len()),
        ("unpaired_cells", checks.unpaired_cells.len()),
        ("source_fixture_unknown", usize::from(checks.source_fixture_unknown.is_some())),
        ("missing_runs", corrected.missing.len()),
    ];
    let counts: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind}={count}")).collect();
    let status = if needs_review(figures, corrected) { "REVIEW REQUIRED" } else { "OK" };
    format!("Sanity checks: {status} ({}), see {}", counts.join(", "), visible(report, false))
}

/// Whether anything has to be looked at: a check, a run that is not there, or that nothing was scored at all.
pub fn needs_review(figures: &Benchmark, corrected: &Corrected) -> bool {
    figures.sanity_checks.as_ref().is_some_and(|sanity| !sanity.ok || sanity.signals() > 0)
        || corrected.checks.signals() > 0
        || !corrected.missing.is_empty()
        || figures.scored_run_count == 0
}

/// The metrics of each configuration, one line each.
fn metric_lines(figures: &Benchmark) -> Vec<String> {
    let mut lines = vec!["Execution metrics (executor-only; grader excluded):".to_owned()];
    for configuration in configurations_in_order(figures) {
        let runs = || figures.runs.iter().filter(|run| run.place.configuration == configuration);
        let part =
            |kind| format!("{}: {}", label(kind), visible(&metric(kind, &MetricSummary::of(kind, runs())), false));
        let parts: Vec<String> = MetricKind::ALL.into_iter().map(part).collect();
        lines.push(format!("  {}: {}", visible(&configuration, false), parts.join("; ")));
    }
    lines
}
