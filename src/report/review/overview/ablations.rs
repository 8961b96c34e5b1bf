//! Which parts of the skill matter: what got worse without one of them, as the report states it.

use std::collections::HashSet;

use serde::Serialize;
use skill_lift_stats::rational;

use super::case_link;
use crate::report::formats::Again;
use crate::report::numbers;
use crate::report::review::capitalized;
use crate::report::review::index::Tone;
use crate::runs::claims::{RegressionVerdict, SavedAblation, SavedRegression};

/// Cases that a row names.
const NAMED: usize = 3;

/// A version of the skill that lacks a part, with what its author expected.
#[derive(Debug, Serialize)]
pub(super) struct AblationRows {
    id: String,
    removed: String,
    note: String,
    rows: Vec<RegressionRow>,
}

#[derive(Debug, Serialize)]
struct RegressionRow {
    expected: String,
    verdict: &'static str,
    tone: Tone,
    p: String,
    /// Whether there is a p.
    is_tested: bool,
    note: String,
    cases: Vec<CaseName>,
    more: usize,
}

#[derive(Debug, Serialize)]
struct CaseName {
    id: String,
    /// Empty when the page has no such case.
    href: String,
}

pub(super) fn table(again: Again<'_>) -> Vec<AblationRows> {
    let alpha = rational::to_f64(again.analysis.inference.thresholds.alpha());
    let cases: HashSet<&str> = again.analysis.table.cases.iter().map(|case| case.id.as_str()).collect();
    again.saved.ablations.iter().map(|ablation| AblationRows::of(ablation, &cases, alpha)).collect()
}

impl AblationRows {
    fn of(ablation: &SavedAblation, known: &HashSet<&str>, alpha: f64) -> Self {
        let removed = ablation.removed.iter().map(|(how, name)| {
            let how = how.replace('_', " ");
            if name.is_empty() { format!("a {how}") } else { format!("the {how} “{name}”") }
        });
        let removed: Vec<String> = removed.collect();
        let (runs, lost) = ablation.runs;
        let note = match (&ablation.note, ablation.is_measured) {
            (Some(note), _) => sentence(note),
            (None, false) if runs == 0 => "No run without this part is in the report.".to_owned(),
            (None, false) => "No run without this part could be graded.".to_owned(),
            (None, true) if lost > 0 => format!(
                "{} of {} without this part have no answer or failed.",
                numbers::count(lost as usize),
                numbers::counted(runs as usize, "run", "runs")
            ),
            (None, true) => String::new(),
        };
        Self {
            id: ablation.id.clone(),
            removed: if removed.is_empty() { NOT_STATED.to_owned() } else { removed.join("; ") },
            note,
            rows: ablation.regressions.iter().map(|regression| RegressionRow::of(regression, known, alpha)).collect(),
        }
    }
}

/// What stands for a part that no run names, after “without”.
const NOT_STATED: &str = "a part that the report does not name";

impl RegressionRow {
    fn of(regression: &SavedRegression, known: &HashSet<&str>, alpha: f64) -> Self {
        let (verdict, tone) = match regression.verdict {
            RegressionVerdict::Confirmed => ("confirmed", Tone::Plain),
            RegressionVerdict::NotConfirmed => ("not confirmed", Tone::Warn),
            RegressionVerdict::NoEvidence => ("no evidence either way", Tone::Plain),
        };
        let named = regression.cases.iter().take(NAMED).map(|id| CaseName {
            id: id.clone(),
            href: if known.contains(id.as_str()) { case_link(id, None) } else { String::new() },
        });
        Self {
            expected: match regression.summary.is_empty() {
                true => "Results get worse.".to_owned(),
                false => regression.summary.clone(),
            },
            verdict,
            tone,
            p: regression.p.map_or_else(|| "not tested".to_owned(), |p| numbers::p_cell(p, alpha)),
            is_tested: regression.p.is_some(),
            note: regression.note.as_deref().map(sentence).unwrap_or_default(),
            cases: named.collect(),
            more: regression.cases.len().saturating_sub(NAMED),
        }
    }
}

/// A note of a report as a sentence.
fn sentence(note: &str) -> String {
    let end = if note.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{}{end}", capitalized(note))
}
