//! How it was measured: what a reader needs to check or to repeat it.

use serde::Serialize;
use skill_lift_stats::rational;

use crate::analyze::inference::Unit;
use crate::report::formats::Again;
use crate::report::{SummaryView, numbers};
use crate::runs::claims::ClaimForm;

/// Hexadecimal digits of a digest that are shown.
const DIGITS: usize = 16;

/// A line: what, and what it is.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    name: &'static str,
    value: String,
    /// The whole value, where a part is shown.
    title: String,
}

impl Line {
    fn new(name: &'static str, value: String) -> Self {
        Self { name, value, title: String::new() }
    }

    fn digest(name: &'static str, digest: &str) -> Self {
        let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
        match hex.get(..DIGITS) {
            Some(start) => Self { name, value: format!("sha256:{start}…"), title: format!("sha256:{hex}") },
            None => Self::new(name, format!("sha256:{hex}")),
        }
    }
}

pub(super) fn lines(
    again: Again<'_>,
    view: &SummaryView,
    report_sha256: &str,
    generated_at: Option<&str>,
) -> Vec<Line> {
    let Again { saved, analysis } = again;
    let inference = &analysis.inference;
    let unit = match inference.overall.unit {
        Unit::Case => "cases",
        Unit::Family => "families",
    };
    let scored = analysis.table.runs.iter().filter(|run| run.scorable).count();
    let diagnostics = analysis.inference_pairing().diagnostics(|_| true);
    let mut lines = vec![
        Line::new("Compared", format!("{}; {}", view.contrast, view.size)),
        Line::new("Test", format!("exact sign-flip test over {unit}; {}: padded t", view.interval_name)),
        Line::new(
            "Runs",
            format!(
                "{} in the report, {} scored; {} of {} count",
                numbers::count(analysis.table.runs.len()),
                numbers::count(scored),
                numbers::count(diagnostics.eligible),
                numbers::counted(diagnostics.eligible + diagnostics.blocked, "pair", "pairs"),
            ),
        ),
        Line::new(
            "Smallest lift that matters",
            numbers::size_in_points(rational::to_f64(inference.thresholds.min_lift())),
        ),
    ];
    if !analysis.table.models.is_empty() {
        lines.push(Line::new("Models", analysis.table.models.join(", ")));
    }
    if let Some(dialect) = &saved.dialect {
        lines.push(Line::new("Format of the suite", dialect.clone()));
    }
    for (name, digest) in ["Suite", "Runs read"].into_iter().zip(&saved.digests) {
        lines.extend(digest.iter().map(|digest| Line::digest(name, digest)));
    }
    lines.push(Line::digest("Report", report_sha256));
    let by = saved.tool.as_deref().unwrap_or("another tool");
    let own = env!("CARGO_PKG_VERSION");
    lines.push(Line::new(
        "Made by",
        match saved.form {
            ClaimForm::OwnReport => format!("{by}; this page by skill-lift {own}"),
            _ => format!("{by}, without an inference block; its rows were analysed by skill-lift {own}"),
        },
    ));
    let made = saved.generated_at.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0));
    lines.extend(made.map(|time| Line::new("Report made", time.format("%Y-%m-%d %H:%M UTC").to_string())));
    lines.extend(generated_at.map(|time| Line::new("Page made", time.to_owned())));
    lines.push(Line::new("Check it with", "skill-lift verify benchmark.json --runs <runs>".to_owned()));
    lines
}
