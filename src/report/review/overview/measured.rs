//! How it was measured: what a reader needs to check or to repeat it.

use serde::Serialize;
use skill_lift_stats::rational;

use crate::analyze::inference::Unit;
use crate::analyze::telemetry::Totals;
use crate::report::formats::Again;
use crate::report::review::{ReviewSource, SeveralSource};
use crate::report::{SummaryView, numbers, quantities};
use crate::runs::claims::ClaimForm;

/// Hexadecimal digits of a digest that are shown.
const DIGITS: usize = 16;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

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

/// How a skill was measured. What the skills of a page have in common is said once, not here.
pub(super) fn lines(again: Again<'_>, view: &SummaryView, source: &ReviewSource<'_>) -> Vec<Line> {
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
    lines.extend(spent(&analysis.cost.totals));
    if source.several.is_none() {
        lines.push(Line::digest("Report", source.report_sha256));
    }
    let by = saved.tool.as_deref().unwrap_or("another tool");
    lines.push(Line::new(
        "Made by",
        match saved.form {
            ClaimForm::OwnReport => format!("{by}; this page by skill-lift {VERSION}"),
            _ => format!("{by}, without an inference block; its rows were analysed by skill-lift {VERSION}"),
        },
    ));
    lines.extend(report_made(saved.generated_at));
    if source.several.is_none() {
        lines.extend(page_made(source));
        lines.push(Line::new("Check it with", "skill-lift verify benchmark.json --runs <runs>".to_owned()));
    }
    lines
}

/// What all runs used, as far as that is known.
fn spent(totals: &Totals) -> [Line; 2] {
    let money = totals.money.by_currency.values().next().unwrap_or(&totals.money.unknown);
    [
        Line {
            name: "Cost of all runs",
            value: quantities::money_sum(&totals.money),
            title: quantities::missing_of_sum(money),
        },
        Line {
            name: "Tokens of all runs",
            value: quantities::sum(&totals.total_tokens, quantities::tokens),
            title: quantities::missing_of_sum(&totals.total_tokens),
        },
    ]
}

/// How several skills were put together.
pub(super) fn lines_of_several(source: &ReviewSource<'_>, several: &SeveralSource<'_>) -> Vec<Line> {
    let mut lines = vec![
        Line::new("Skills", numbers::count(source.skills.len())),
        Line::new(
            "Mean over the skills",
            match several.holds_mean {
                true => "random effects over the skills that have an interval, limits by Hartung and Knapp".to_owned(),
                false => "not measured: the report holds none".to_owned(),
            },
        ),
        Line::digest("Report", source.report_sha256),
    ];
    lines.extend(report_made(several.generated_at));
    lines.extend(page_made(source));
    lines
}

fn report_made(seconds: Option<i64>) -> Option<Line> {
    let made = seconds.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0))?;
    Some(Line::new("Report made", made.format("%Y-%m-%d %H:%M UTC").to_string()))
}

fn page_made(source: &ReviewSource<'_>) -> Option<Line> {
    Some(Line::new("Page made", source.options.generated_at.clone()?))
}
