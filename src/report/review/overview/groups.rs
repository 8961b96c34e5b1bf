//! Where it helps: pass rates of both arms by model and by the labels of cases.

use serde::Serialize;
use skill_lift_stats::rational::{self, Rational};

use super::{percent_of, verdict};
use crate::analyze::slices::Axis;
use crate::report::formats::Again;
use crate::report::numbers;

/// Values of a label that are shown.
const VALUES: usize = 8;
/// The labels that are shown, in order.
const AXES: [(Axis, &str); 4] =
    [(Axis::Domain, "Domain"), (Axis::Difficulty, "Difficulty"), (Axis::Tags, "Tags"), (Axis::Split, "Split")];

/// A label with its values; the first group holds all cases and has no name.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    name: &'static str,
    rows: Vec<GroupRow>,
    more: usize,
}

#[derive(Debug, Serialize)]
struct GroupRow {
    name: String,
    cases: String,
    without: String,
    with: String,
    /// Places of both rates; empty where one is missing.
    x_without: String,
    x_with: String,
    lift: String,
    tone: &'static str,
    /// Whether the difference holds after adjusting for the number of groups.
    holds: bool,
}

fn row(
    name: &str,
    cases: usize,
    without: Option<&Rational>,
    with: Option<&Rational>,
    lift: Option<&Rational>,
    holds: bool,
) -> GroupRow {
    let place = |rate: Option<&Rational>| rate.map(|rate| percent_of(rational::to_f64(rate))).unwrap_or_default();
    let text = |rate: Option<&Rational>| rate.map_or_else(|| "not measured".to_owned(), numbers::percent);
    GroupRow {
        name: name.to_owned(),
        cases: numbers::count(cases),
        without: text(without),
        with: text(with),
        x_without: place(without),
        x_with: place(with),
        lift: lift.map_or_else(|| "not measured".to_owned(), numbers::points),
        tone: verdict::tone(lift),
        holds,
    }
}

pub(super) fn groups(again: Again<'_>) -> Vec<Group> {
    let inference = &again.analysis.inference;
    let overall = &inference.overall;
    let cases = inference.counts.cases;
    let all = row(
        "All cases",
        cases,
        overall.without_skill.as_ref(),
        overall.with_skill.as_ref(),
        overall.test.estimate.as_ref(),
        false,
    );
    let mut groups = vec![Group { name: "", rows: vec![all], more: 0 }];
    let alpha = rational::to_f64(inference.thresholds.alpha());
    if inference.by_model.len() > 1 {
        let rows: Vec<GroupRow> = inference
            .by_model
            .iter()
            .map(|model| {
                let contrast = &model.contrast;
                let holds = model.p_holm.is_some_and(|p| p <= alpha);
                let (without, with) = (contrast.without_skill.as_ref(), contrast.with_skill.as_ref());
                row(&model.model, contrast.units.len(), without, with, contrast.test.estimate.as_ref(), holds)
            })
            .collect();
        groups.push(of_rows("Model", rows));
    }
    for (axis, name) in AXES {
        let slices = inference.slices.iter().flat_map(|slices| &slices.slices).filter(|slice| slice.axis == axis);
        let mut slices: Vec<_> = slices.collect();
        slices.sort_by(|a, b| b.cases.cmp(&a.cases).then_with(|| a.value.cmp(&b.value)));
        let rows: Vec<GroupRow> = slices
            .into_iter()
            .map(|slice| {
                let lift = &slice.lift;
                let holds = slice.p_bh.is_some_and(|p| p <= alpha);
                let (without, with) = (lift.without_skill.as_ref(), lift.with_skill.as_ref());
                row(&slice.value, slice.cases, without, with, lift.estimate.as_ref(), holds)
            })
            .collect();
        if rows.len() > 1 {
            groups.push(of_rows(name, rows));
        }
    }
    groups
}

fn of_rows(name: &'static str, mut rows: Vec<GroupRow>) -> Group {
    let more = rows.len().saturating_sub(VALUES);
    rows.truncate(VALUES);
    Group { name, rows, more }
}

/// What the star means; empty when no group has one.
pub(super) fn note(again: Again<'_>) -> String {
    let inference = &again.analysis.inference;
    let alpha = rational::to_f64(inference.thresholds.alpha());
    let slices: Vec<_> = inference.slices.iter().flat_map(|slices| &slices.slices).collect();
    let holds = slices.iter().any(|slice| slice.p_bh.is_some_and(|p| p <= alpha))
        || (inference.by_model.len() > 1
            && inference.by_model.iter().any(|model| model.p_holm.is_some_and(|p| p <= alpha)));
    if !holds {
        return String::new();
    }
    format!(
        "* holds after adjusting for {} (Benjamini–Hochberg; models: Holm)",
        numbers::counted(slices.len().max(inference.by_model.len()), "group", "groups")
    )
}
