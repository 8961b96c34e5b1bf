//! `benchmark.md`: the runner's own sections in their order, then those of the corrected reading.

use super::additions::additions;
use super::format::{code, difference, label, listed, metric, percent, plain, table};
use super::lines::needs_review;
use crate::analyze::skill_eval::{Corrected, MetricKind, MetricSummary};
use crate::report::numbers;
use crate::runs::skill_eval::{Benchmark, SanityChecks, SuiteCoverage, arm_rank};

/// Entries of a kind of check that are named.
pub const NAMED: usize = 20;
/// Changed inputs that are named.
const CHANGES_NAMED: usize = 8;

/// The whole document; ends with one line break.
pub fn markdown(figures: &Benchmark, corrected: &Corrected) -> String {
    let mut sections = vec![head(figures)];
    if let Some(sanity) = &figures.sanity_checks {
        sections.push(section("Sanity checks", sanity_lines(sanity, figures, corrected)));
    }
    sections.push(section("Overall raw pass rate", overall(figures)));
    sections.extend(comparison(figures));
    sections.push(metrics(figures));
    sections.push(section("Per-eval raw pass rate", per_eval(figures)));
    sections.extend(additions(corrected));
    let mut text = sections.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
}

/// A heading, an empty line, and what stands under it.
pub fn section(title: &str, lines: Vec<String>) -> Vec<String> {
    let mut all = vec![format!("## {title}"), String::new()];
    all.extend(lines);
    all
}

/// Configurations as reports show them: the skill's two arms first, then the others by name.
pub fn configurations_in_order(figures: &Benchmark) -> Vec<String> {
    let mut names = figures.configurations.clone();
    names.sort_by(|a, b| arm_rank(a).cmp(&arm_rank(b)).then_with(|| a.cmp(b)));
    names
}

fn head(figures: &Benchmark) -> Vec<String> {
    let known = |text: &Option<String>| text.as_deref().map_or_else(|| "unknown".to_owned(), plain);
    let mut lines = vec![format!("# Eval Benchmark: {}", known(&figures.skill_name)), String::new()];
    lines.push(format!("- Agent: {}", figures.agent.as_deref().map_or_else(|| "unknown".to_owned(), code)));
    let model = |model: Option<&str>| model.map_or_else(|| "provider default".to_owned(), code);
    let executor = figures.executor_model.as_deref().or(figures.model.as_deref());
    let grader = figures.grader_model.as_deref().or(figures.model.as_deref());
    if executor == grader {
        lines.push(format!("- Model: {}", model(executor)));
    } else {
        lines.push(format!("- Executor model: {}", model(executor)));
        lines.push(format!("- Grader model: {}", model(grader)));
    }
    let generated = figures.generated_at.as_deref().map_or_else(|| "not recorded".to_owned(), plain);
    lines.push(format!("- Generated: {generated}"));
    lines.push(format!(
        "- Runs: {} ({} scored, {} infrastructure failures excluded from pass rate)",
        figures.run_count, figures.scored_run_count, figures.error_run_count
    ));
    lines.push(format!("- Metrics captured: {}", if figures.metrics_captured { "yes" } else { "no" }));
    if let Some(coverage) = &figures.suite_coverage {
        lines.push(format!("- Suite coverage: {}", covered(coverage)));
    }
    if figures.error_run_count > 0 {
        let mut statuses: Vec<_> = figures.status_counts.iter().filter(|(status, _)| status != "ok").collect();
        statuses.sort();
        let counted: Vec<String> =
            statuses.iter().map(|(status, count)| format!("{}={count}", plain(status))).collect();
        lines.push(format!("- Excluded runs by status: {}", counted.join(", ")));
    }
    lines
}

fn covered(coverage: &SuiteCoverage) -> String {
    format!("{} ({} of {} evals)", plain(&coverage.mode), coverage.selected_eval_count, coverage.suite_eval_count)
}

fn sanity_lines(sanity: &SanityChecks, figures: &Benchmark, corrected: &Corrected) -> Vec<String> {
    if !needs_review(figures, corrected) {
        return vec!["- Status: OK".to_owned()];
    }
    let mut why = vec![numbers::counted(sanity.signals(), "signal", "signals")];
    if corrected.checks.signals() > 0 {
        why.push(format!("{} under \"More checks\"", numbers::count(corrected.checks.signals())));
    }
    if !corrected.missing.is_empty() {
        why.push(numbers::counted(corrected.missing.len(), "missing run", "missing runs"));
    }
    if figures.scored_run_count == 0 {
        why.push("nothing was scored".to_owned());
    }
    let mut lines = vec![format!("- Status: REVIEW REQUIRED ({})", why.join(", "))];
    let mut kind = |name: &str, entries: Vec<String>, most: usize| {
        if !entries.is_empty() {
            lines.push(format!("- {name}: {}", listed(&entries, most)));
        }
    };
    let failures = sanity.infrastructure_failures.iter().map(|failure| {
        let times = failure.count.filter(|count| *count > 1).map(|count| format!(", {count} runs")).unwrap_or_default();
        format!("{}/{} ({}{times})", plain(&failure.eval_id), plain(&failure.configuration), plain(&failure.status))
    });
    kind("Infrastructure failures", failures.collect(), NAMED);
    let zero = sanity.zero_scored_cells.iter();
    let zero = zero.map(|cell| format!("{}/{}", plain(&cell.eval_id), plain(&cell.configuration)));
    kind("Nothing passed", zero.collect(), NAMED);
    let below = sanity.candidate_below_baseline.iter().map(|inversion| {
        let (candidate, baseline) = (inversion.candidate_pass_rate, inversion.baseline_pass_rate);
        format!("{} ({} < {})", plain(&inversion.eval_id), percent(Some(candidate)), percent(Some(baseline)))
    });
    kind("Candidate below baseline", below.collect(), NAMED);
    for dirty in &sanity.source_fixture_dirty {
        let what = if dirty.entries.is_empty() { &dirty.paths } else { &dirty.entries };
        let shown: Vec<String> = what.iter().take(CHANGES_NAMED).map(|entry| code(entry)).collect();
        let more = if what.len() > CHANGES_NAMED { "; ..." } else { "" };
        lines.push(format!("- Changed input files: {}{more}", shown.join("; ")));
    }
    for coverage in &sanity.partial_suite_selection {
        let ids: Vec<String> = coverage.selected_eval_ids.iter().map(|id| plain(id)).collect();
        lines.push(format!("- Only part of the suite was run: {}: {}", covered(coverage), listed(&ids, NAMED)));
    }
    lines
}

fn overall(figures: &Benchmark) -> Vec<String> {
    let rate =
        |name: &str| figures.overall_pass_rate.iter().find(|(other, _)| other == name).and_then(|(_, rate)| *rate);
    let line = |name: &String| format!("- {}: {}", plain(name), percent(rate(name)));
    let lines: Vec<String> = configurations_in_order(figures).iter().map(line).collect();
    if lines.is_empty() { vec!["- No runs.".to_owned()] } else { lines }
}

fn comparison(figures: &Benchmark) -> Option<Vec<String>> {
    let comparison = figures.comparison.as_ref()?;
    Some(section(
        "Comparison",
        vec![
            format!("- Candidate: {} ({})", plain(&comparison.candidate), percent(comparison.candidate_pass_rate)),
            format!("- Baseline: {} ({})", plain(&comparison.baseline), percent(comparison.baseline_pass_rate)),
            format!("- Delta: {}", percent(comparison.delta)),
        ],
    ))
}

fn metrics(figures: &Benchmark) -> Vec<String> {
    let configurations = configurations_in_order(figures);
    let summary = |kind, name: &String| {
        MetricSummary::of(kind, figures.runs.iter().filter(|run| run.place.configuration == *name))
    };
    let mut head = vec!["Metric".to_owned()];
    head.extend(configurations.iter().map(|name| plain(name)));
    head.extend(figures.comparison.as_ref().map(|_| "Delta".to_owned()));
    let rows = MetricKind::ALL.into_iter().map(|kind| {
        let mut cells = vec![label(kind).to_owned()];
        cells.extend(configurations.iter().map(|name| plain(&metric(kind, &summary(kind, name)))));
        cells.extend(figures.comparison.as_ref().map(|comparison| {
            let mean = |name| summary(kind, name).mean;
            let means = mean(&comparison.candidate).zip(mean(&comparison.baseline));
            difference(kind, means.map(|(candidate, baseline)| candidate - baseline))
        }));
        cells
    });
    let mut lines = vec![
        "What the executor used, mean over all runs that reported it, scored or not. The grader is not included."
            .to_owned(),
        String::new(),
    ];
    lines.extend(table(head, rows));
    section("Execution metrics (executor-only)", lines)
}

fn per_eval(figures: &Benchmark) -> Vec<String> {
    let configurations = configurations_in_order(figures);
    let mut head = vec!["Eval".to_owned()];
    head.extend(configurations.iter().map(|name| plain(name)));
    let rows = figures.evals.iter().map(|eval| {
        let mut cells = vec![format!("{} {}", plain(&eval.eval_id), plain(&eval.eval_name))];
        cells.extend(configurations.iter().map(|name| percent(eval.cell(name).and_then(|cell| cell.pass_rate))));
        cells
    });
    table(head, rows)
}
