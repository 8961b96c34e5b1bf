//! The report for people: Overall, Per-Eval Results, Patterns & Insights, Recommendations, each also when empty.

use skill_lift_stats::rational;

use super::ForgeView;
use super::advice::{Advice, Naming, advice};
use super::overall::{amount, headline, overall};
use super::patterns::{self, NAMED, ids};
use crate::analyze::forge::{
    Arm, ArmResult, EvalId, EvalResult, IterationComparison, Quantity, Threshold, ThresholdKind,
};
use crate::report::numbers;
use crate::report::skill_eval::format::{code, plain, table};

/// The whole document; ends with one line break.
pub fn markdown(view: &ForgeView<'_>) -> String {
    let number = view.iteration.number.map(|number| format!(" \u{2014} Iteration {number}")).unwrap_or_default();
    let mut head = vec![format!("# Eval Report: {}{number}", plain(view.skill_name)), String::new()];
    head.extend(headline(view));
    head.extend(missed(view));
    let mut sections = vec![head, section("Overall", overall(view))];
    if !view.thresholds.results.is_empty() {
        sections.push(section("Thresholds", thresholds(view)));
    }
    sections.push(section("Per-Eval Results", per_eval(view)));
    if let Some(comparison) = view.comparison {
        let before =
            comparison.previous.map_or_else(|| "the Previous Iteration".to_owned(), |n| format!("Iteration {n}"));
        sections.push(section(&format!("Changes since {before}"), changes(comparison)));
    }
    sections.push(section("Patterns & Insights", or_nothing(patterns::lines(view), "- Nothing stands out.")));
    let advised = recommendations(&advice(view, Naming { name: plain, code }));
    sections.push(section("Recommendations", or_nothing(advised, "- None: every eval passes with the skill.")));
    let mut text = sections.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
}

/// The sentences; of many of a kind the first ones.
fn recommendations(advised: &[Advice]) -> Vec<String> {
    let mut lines = Vec::new();
    for alike in advised.chunk_by(|a, b| a.code == b.code) {
        lines.extend(alike.iter().take(NAMED).map(|advice| format!("- {}", advice.text)));
        if alike.len() > NAMED {
            lines.push(format!("- and {} more of this kind (--format json lists all)", alike.len() - NAMED));
        }
    }
    lines
}

fn section(title: &str, lines: Vec<String>) -> Vec<String> {
    let mut all = vec![format!("## {title}"), String::new()];
    all.extend(lines);
    all
}

fn or_nothing(lines: Vec<String>, nothing: &str) -> Vec<String> {
    if lines.is_empty() { vec![nothing.to_owned()] } else { lines }
}

fn per_eval(view: &ForgeView<'_>) -> Vec<String> {
    let head = ["Eval", "With Skill", "Baseline", "Status", "Pass Rates", "Scored Runs", "Name"];
    let rate = |result: &ArmResult| result.rate.as_ref().map_or_else(|| "-".to_owned(), numbers::percent);
    let scored = |result: &ArmResult| match (view.trials_requested, result.runs.len()) {
        (None, 0) => "-".to_owned(),
        (requested, found) => {
            let requested = requested.map_or(found, |requested| found.max(requested as usize));
            format!("{} of {requested}", result.scored)
        }
    };
    let row = |eval: &EvalResult| {
        vec![
            plain(&eval.description.id.to_string()),
            eval.with_skill.verdict.word().to_owned(),
            eval.baseline.verdict.word().to_owned(),
            eval.status().words().to_owned(),
            format!("{} / {}", rate(&eval.with_skill), rate(&eval.baseline)),
            format!("{} / {}", scored(&eval.with_skill), scored(&eval.baseline)),
            plain(&eval.description.name),
        ]
    };
    let mut lines = table(head.map(str::to_owned).to_vec(), view.iteration.evals.iter().map(row));
    lines.push(String::new());
    lines.push(
        "PASS: everything holds in every scored run. FAIL: something does not. UNDECIDED: nothing fails, but an \
         assertion has no verdict. -: no scored run."
            .to_owned(),
    );
    let incomplete: Vec<EvalId> =
        view.iteration.incomplete(view.trials_requested).map(|eval| eval.description.id.clone()).collect();
    if !incomplete.is_empty() {
        lines.push(format!("Incomplete (runs, gradings or timings are missing): {}", ids(&incomplete)));
    }
    lines
}

fn limit(threshold: &Threshold, value: f64) -> String {
    match threshold.kind {
        ThresholdKind::MinPassRate => rational::from_f64(value).map(|rate| numbers::percent(&rate)).unwrap_or_default(),
        ThresholdKind::MaxAvgTokens => amount(Quantity::Tokens, value),
        ThresholdKind::MaxAvgDurationSeconds => amount(Quantity::DurationMs, value * 1000.0),
        ThresholdKind::MinImprovementRatio => format!("{:.2}", rational::round_f64_half_even(value, 2)),
    }
}

/// The thresholds that are missed, where nobody overlooks them.
fn missed(view: &ForgeView<'_>) -> Option<String> {
    let missed = view.thresholds.results.iter().filter(|threshold| threshold.met == Some(false));
    let missed: Vec<String> =
        missed.map(|threshold| format!("{} ({})", threshold.kind.key(), ids(&threshold.responsible))).collect();
    (!missed.is_empty()).then(|| format!("\n**FAIL**: thresholds are missed: {}.", missed.join(", ")))
}

fn thresholds(view: &ForgeView<'_>) -> Vec<String> {
    let verdict = verdict_word(view.thresholds.verdict());
    let mut lines = vec![format!("Overall: **{verdict}**"), String::new()];
    let head = ["Threshold", "Demanded", "Found", "Status", "Evals responsible"].map(str::to_owned).to_vec();
    let row = |threshold: &Threshold| {
        let sign = match threshold.kind {
            ThresholdKind::MinPassRate | ThresholdKind::MinImprovementRatio => "at least",
            ThresholdKind::MaxAvgTokens | ThresholdKind::MaxAvgDurationSeconds => "at most",
        };
        let found = match (threshold.actual, threshold.reason) {
            (Some(actual), _) => limit(threshold, actual),
            (None, reason) => reason.unwrap_or("not_captured").replace('_', " "),
        };
        vec![
            threshold.kind.key().to_owned(),
            format!("{sign} {}", limit(threshold, rational::to_f64(&threshold.limit))),
            found,
            verdict_word(threshold.met).to_owned(),
            if threshold.responsible.is_empty() { "-".to_owned() } else { ids(&threshold.responsible) },
        ]
    };
    lines.extend(table(head, view.thresholds.results.iter().map(row)));
    lines
}

/// The word for a demand that is met, missed, or not known.
pub(super) fn verdict_word(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "PASS",
        Some(false) => "FAIL",
        None => "UNDECIDED",
    }
}

fn changes(comparison: &IterationComparison) -> Vec<String> {
    let mut lines = Vec::new();
    for (text, evals) in [
        ("Regressions (passed before, fail now)", &comparison.regressions),
        ("Improvements (failed before, pass now)", &comparison.improvements),
        ("Undecided now", &comparison.undecided),
        ("Lower pass rate", &comparison.degraded),
        ("Higher pass rate", &comparison.gained),
        ("The same", &comparison.unchanged),
        ("Not described in one of both iterations, compared all the same", &comparison.unverified),
        ("Without a scored run with the skill in one of both", &comparison.without_run),
        ("New", &comparison.added),
        ("Gone", &comparison.removed),
    ] {
        if !evals.is_empty() {
            lines.push(format!("- {text}: {}", ids(evals)));
        }
    }
    let differ = comparison.not_comparable.iter().map(|(id, reasons)| {
        let reasons: Vec<String> = reasons.iter().map(|reason| reason.code().replace('_', " ")).collect();
        format!("{} ({})", plain(&id.to_string()), reasons.join(", "))
    });
    let differ: Vec<String> = differ.collect();
    if !differ.is_empty() {
        lines.push(format!("- Not comparable: {}", differ.join(", ")));
    }
    lines.insert(0, format!("Only {} runs are compared; the baseline is not.", Arm::WithSkill.word()));
    lines.insert(1, String::new());
    if lines.len() == 2 {
        lines.push("- Nothing to compare.".to_owned());
    }
    lines
}
