//! What the lift costs: one mark a case, extra cost across, lift up.

use std::collections::HashMap;

use num_traits::{Signed, Zero};
use serde::Serialize;
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::rational::{self, Rational};

use super::axis::round_ticks;
use super::{case_link, percent_of};
use crate::analyze::case_detail::CaseDetail;
use crate::report::cost_line::amount;
use crate::report::formats::Again;
use crate::report::numbers;
use crate::report::quantities::{time_difference, token_difference};

/// Cases that are named as not shown.
const NAMED: usize = 12;
/// Marks with a label.
const LABELS: usize = 8;
/// Marks that a plot has at most; of more cases, those that lost and those that cost most stay.
const MARKS: usize = 400;

/// The plot, or why there is none.
#[derive(Debug, Serialize)]
pub(super) struct Scatter {
    /// What stands across, or empty.
    x_name: String,
    x_ticks: Vec<(String, String)>,
    y_ticks: Vec<(String, String, bool)>,
    x_zero: String,
    marks: Vec<Mark>,
    not_shown: String,
    empty: &'static str,
}

#[derive(Debug, Serialize)]
struct Mark {
    x: String,
    y: String,
    tone: &'static str,
    is_loss: bool,
    href: String,
    title: String,
    label: String,
    /// Whether the label stands on the left of the mark.
    is_left: bool,
}

/// What stands across: the first of these that a pair measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Across {
    Money,
    Tokens,
    Time,
}

impl Across {
    fn first_measured(details: &[CaseDetail]) -> Self {
        let is_measured = |across: &Self| details.iter().any(|detail| across.of(detail).is_some());
        [Self::Money, Self::Tokens, Self::Time].into_iter().find(is_measured).unwrap_or(Self::Money)
    }

    /// The mean difference of a case, exact and as people read it.
    fn of(self, detail: &CaseDetail) -> Option<(Rational, String)> {
        let (mean, shown) = match self {
            Self::Money => {
                let cost = detail.cost.as_ref().ok()?;
                (&cost.mean, amount(&cost.mean, cost.currency))
            }
            Self::Tokens => {
                let mean = detail.tokens.as_ref()?;
                (mean, format!("{} tokens", token_difference(rational::to_f64(mean))))
            }
            Self::Time => {
                let mean = detail.elapsed_ms.as_ref()?;
                (mean, time_difference(rational::to_f64(mean)))
            }
        };
        let same = match self {
            Self::Money => "the same price",
            Self::Tokens => "the same tokens",
            Self::Time => "the same time",
        };
        Some((mean.clone(), if mean.is_zero() { same.to_owned() } else { shown }))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Money => "Extra cost per run",
            Self::Tokens => "Extra tokens per run",
            Self::Time => "Extra time per run",
        }
    }

    fn missing(self) -> &'static str {
        match self {
            Self::Money => "Not shown, cost not measured",
            Self::Tokens => "Not shown, tokens not measured",
            Self::Time => "Not shown, time not measured",
        }
    }
}

/// One case with both numbers.
struct Point<'a> {
    id: &'a str,
    lift: Rational,
    cost: Rational,
    shown_cost: String,
}

impl Scatter {
    pub(super) fn of(again: Again<'_>, details: &[CaseDetail]) -> Self {
        let across = Across::first_measured(details);
        let mut points = Vec::new();
        let mut missing = Vec::new();
        for case in &again.analysis.inference.by_case {
            let cost = details.get(case.position as usize).and_then(|detail| across.of(detail));
            match (&case.rates, cost) {
                (Some(rates), Some((cost, shown_cost))) => {
                    points.push(Point { id: &case.case_id, lift: rates.delta(), shown_cost, cost });
                }
                (Some(_), None) => missing.push(case.case_id.as_str()),
                (None, _) => {}
            }
        }
        if points.is_empty() {
            return Self {
                x_name: String::new(),
                x_ticks: Vec::new(),
                y_ticks: Vec::new(),
                x_zero: String::new(),
                marks: Vec::new(),
                not_shown: String::new(),
                empty: "Nothing to plot: no pair of runs recorded cost, tokens or time.",
            };
        }
        let currency = details.iter().find_map(|detail| detail.cost.as_ref().ok()).map(|cost| cost.currency);
        let costs: Vec<f64> = points.iter().map(|point| rational::to_f64(&point.cost)).collect();
        let lifts: Vec<f64> = points.iter().map(|point| rational::to_f64(&point.lift) * 100.0).collect();
        let range = |values: &[f64]| {
            round_ticks(values.iter().copied().fold(0.0, f64::min), values.iter().copied().fold(0.0, f64::max))
        };
        let (x, y) = (range(&costs), range(&lifts));
        let place = |ticks: &[f64], value: f64| {
            let (low, high) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
            if high > low { (value - low) / (high - low) } else { 0.5 }
        };
        let decimals = decimals(&x);
        let label = |value: f64| {
            let sign = if value < 0.0 { "\u{2212}" } else { "+" };
            let unit = match currency {
                Some(Currency::USD) => "$".to_owned(),
                Some(currency) => format!("{}\u{a0}", currency.code()),
                None => String::new(),
            };
            match across {
                _ if value == 0.0 => "0".to_owned(),
                Across::Money => format!("{sign}{unit}{:.decimals$}", value.abs()),
                Across::Tokens => token_difference(value),
                Across::Time => time_difference(value),
            }
        };
        let points_text = |value: f64| match value {
            0.0 => "0".to_owned(),
            value if value < 0.0 => format!("\u{2212}{}", -value),
            value => format!("+{value}"),
        };
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|a, b| points[*a].lift.cmp(&points[*b].lift).then(a.cmp(b)));
        let dearest = (0..points.len()).max_by(|a, b| points[*a].cost.cmp(&points[*b].cost).then(b.cmp(a)));
        let places: Vec<(f64, f64)> =
            (0..points.len()).map(|at| (place(&x, costs[at]) * 100.0, 100.0 - place(&y, lifts[at]) * 100.0)).collect();
        let labelled = labels(&points, &order, dearest, &places);
        let left_out = points.len().saturating_sub(MARKS);
        let marks = order.iter().take(MARKS).map(|at| {
            let point = &points[*at];
            Mark {
                x: percent_of(place(&x, costs[*at])),
                y: percent_of(1.0 - place(&y, lifts[*at])),
                tone: super::verdict::tone(Some(&point.lift)),
                is_loss: point.lift.is_negative(),
                href: case_link(point.id, None),
                title: format!("{}: {}, {} a run", point.id, numbers::whole_points(&point.lift), point.shown_cost),
                label: if labelled.contains_key(at) { point.id.to_owned() } else { String::new() },
                is_left: labelled.get(at) == Some(&LabelSide::Left),
            }
        });
        let mut not_shown = named(across.missing(), &missing);
        if left_out > 0 {
            not_shown.push_str(&format!(
                " {} with the largest lifts are not shown either.",
                numbers::counted(left_out, "case", "cases")
            ));
        }
        Self {
            x_name: across.name().to_owned(),
            x_zero: percent_of(place(&x, 0.0)),
            x_ticks: x.iter().map(|tick| (percent_of(place(&x, *tick)), label(*tick))).collect(),
            y_ticks: y
                .iter()
                .map(|tick| (percent_of(1.0 - place(&y, *tick)), points_text(*tick), *tick == 0.0))
                .collect(),
            marks: marks.collect(),
            not_shown,
            empty: "",
        }
    }
}

/// Decimals that tell the ticks of an axis apart.
fn decimals(ticks: &[f64]) -> usize {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0, f64::min);
    (2..9).find(|decimals| (step * 10f64.powi(*decimals) + 1e-9).fract() < 1e-6).map_or(9, |decimals| decimals as usize)
}

fn named(what: &str, cases: &[&str]) -> String {
    if cases.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = cases.iter().take(NAMED).map(|case| (*case).to_owned()).collect();
    if cases.len() > NAMED {
        names.push(format!("and {} more", numbers::count(cases.len() - NAMED)));
    }
    format!("{what}: {}.", names.join(", "))
}

/// Where a label stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelSide {
    Left,
    Right,
}

/// Width of a letter in percent of the plot, at the width of a small one.
const LETTER_WIDTH: f64 = 1.6;
/// Half the height of a label and of a mark, in percent of the plot.
const HALF_LINE: f64 = 3.0;
/// From the middle of a mark to its edge, in percent across.
const MARK_EDGE: f64 = 1.2;

/// The marks with a label: those that lost, and the dearest one; none over a mark or another label, none outside.
/// `places` are percent across and down.
fn labels(
    points: &[Point<'_>],
    order: &[usize],
    dearest: Option<usize>,
    places: &[(f64, f64)],
) -> HashMap<usize, LabelSide> {
    let lost = order.iter().copied().filter(|at| points[*at].lift.is_negative());
    let mut chosen: HashMap<usize, LabelSide> = HashMap::new();
    // left end, right end, middle down
    let mut taken: Vec<(f64, f64, f64)> =
        places.iter().take(MARKS).map(|(x, y)| (x - MARK_EDGE, x + MARK_EDGE, *y)).collect();
    for at in lost.chain(dearest) {
        let (x, y) = places[at];
        let width = points[at].id.chars().count() as f64 * LETTER_WIDTH;
        let sides = if x > 60.0 { [LabelSide::Left, LabelSide::Right] } else { [LabelSide::Right, LabelSide::Left] };
        let ends = |side| match side {
            LabelSide::Left => (x - 2.0 * MARK_EDGE - width, x - MARK_EDGE - 0.1),
            LabelSide::Right => (x + MARK_EDGE + 0.1, x + 2.0 * MARK_EDGE + width),
        };
        let free = sides.into_iter().find(|side| {
            let (from, to) = ends(*side);
            from >= 0.0
                && to <= 100.0
                && taken
                    .iter()
                    .all(|(left, right, middle)| to < *left || from > *right || (y - middle).abs() > 2.0 * HALF_LINE)
        });
        if let Some(side) = free.filter(|_| chosen.len() < LABELS && !chosen.contains_key(&at)) {
            let (from, to) = ends(side);
            taken.push((from, to, y));
            chosen.insert(at, side);
        }
    }
    chosen
}
