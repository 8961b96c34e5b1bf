//! The lift of all cases and of each model on one axis, and the lift of each case.

use serde::Serialize;
use skill_lift_stats::random_effects::RandomEffects;
use skill_lift_stats::rational;

use super::axis::{Axis, Tick};
use super::{case_link, percent_of, verdict};
use crate::analyze::flags::Flag;
use crate::analyze::inference::Contrast;
use crate::report::formats::Again;
use crate::report::quantities::NOT_MEASURED;
use crate::report::review::index::{IndexCase, Tone};
use crate::report::{numbers, view, words};

/// Models that have a row.
const MODELS_SHOWN: usize = 8;
/// Cases that are all rows; of more, the first and last ones are.
const ALL_ROWS: usize = 40;
/// Rows at each end of a long list.
const ROWS_AT_ENDS: usize = 12;
/// Cases between the ends that have a stroke each; of more, a histogram is drawn.
const STROKES: usize = 300;

/// A lift with its interval on an axis.
#[derive(Debug, Default, Serialize)]
pub(super) struct Bar {
    /// Place of the lift; empty without one.
    x: String,
    /// Places of the limits; empty without them.
    low: String,
    high: String,
    /// What a screen reader says.
    spoken: String,
}

/// The table of the first screen.
#[derive(Debug, Serialize)]
pub(super) struct LiftTable {
    ticks: Vec<Tick>,
    interval_name: String,
    p_title: String,
    rows: Vec<LiftRow>,
    more: String,
}

#[derive(Debug, Serialize)]
struct LiftRow {
    name: String,
    /// Whether the name is a text of the page, not one of a model.
    is_all: bool,
    /// Where the name leads; empty when nowhere.
    href: String,
    /// What is said below the name.
    note: String,
    lift: String,
    tone: &'static str,
    bar: Bar,
    interval: String,
    p: String,
}

impl LiftTable {
    pub(super) fn of(again: Again<'_>) -> Self {
        let inference = &again.analysis.inference;
        let alpha = rational::to_f64(inference.thresholds.alpha());
        let name = words::interval_name(inference);
        let models: Vec<_> =
            if inference.by_model.len() > 1 { inference.by_model.iter().collect() } else { Vec::new() };
        let shown: Vec<_> = models.iter().take(MODELS_SHOWN).collect();
        let contrasts = std::iter::once(&inference.overall).chain(shown.iter().map(|model| &model.contrast));
        let axis = Axis::of_points(contrasts.flat_map(ends));
        let row = |title: String, is_all: bool, contrast: &Contrast, p: String| LiftRow {
            name: title,
            is_all,
            href: String::new(),
            note: String::new(),
            lift: lift_text(contrast),
            tone: verdict::tone_of(contrast),
            bar: bar(&axis, contrast, &name),
            interval: view::limits(&contrast.interval),
            p,
        };
        let p = numbers::p_cell(inference.overall.test.p_two_sided, alpha);
        let mut rows = vec![row("All cases".to_owned(), true, &inference.overall, p)];
        rows.extend(shown.iter().map(|model| {
            let p = model.p_holm.map_or_else(|| "not tested".to_owned(), |p| numbers::p_cell(p, alpha));
            row(model.model.clone(), false, &model.contrast, p)
        }));
        Self {
            ticks: axis.ticks(),
            p_title: match models.len() {
                0 => String::new(),
                number => format!("For models: adjusted for {number} tests (Holm)."),
            },
            interval_name: name,
            rows,
            more: match models.len().saturating_sub(MODELS_SHOWN) {
                0 => String::new(),
                more => format!("and {}", numbers::counted(more, "more model", "more models")),
            },
        }
    }
}

/// What a skill has in the table of several.
pub(super) struct SkillLift<'a> {
    pub(super) again: Again<'a>,
    pub(super) name: String,
    pub(super) href: String,
    pub(super) headline: String,
}

impl LiftTable {
    /// One row for each skill below their mean, which the report does not hold perhaps. p of a skill is its own.
    pub(super) fn of_skills(skills: Vec<SkillLift<'_>>, mean: Option<&RandomEffects>, interval_name: String) -> Self {
        let of_contrasts = skills.iter().flat_map(|skill| ends(&skill.again.analysis.inference.overall));
        let of_mean = mean.into_iter().flat_map(|mean| [mean.mean, mean.lower.max(-1.0), mean.upper.min(1.0)]);
        let axis = Axis::of_points(of_contrasts.chain(of_mean));
        let shown = mean.and_then(|mean| Some((mean, rational::from_f64(mean.mean)?)));
        let mean_row = match shown {
            Some((mean, estimate)) => {
                let (lower, upper) = (mean.lower.max(-1.0), mean.upper.min(1.0));
                let (lift, interval) = (numbers::points(&estimate), numbers::interval(lower, upper));
                LiftRow {
                    tone: verdict::tone(Some(&estimate)),
                    bar: Bar {
                        x: axis.place(mean.mean),
                        low: axis.place(lower),
                        high: axis.place(upper),
                        spoken: format!("Lift {lift}, {interval_name} {interval}"),
                    },
                    lift,
                    interval,
                    ..LiftRow::unmeasured()
                }
            }
            None => LiftRow::unmeasured(),
        };
        let rows = skills.into_iter().map(|skill| {
            let inference = &skill.again.analysis.inference;
            let contrast = &inference.overall;
            let alpha = rational::to_f64(inference.thresholds.alpha());
            LiftRow {
                name: skill.name,
                is_all: false,
                href: skill.href,
                note: skill.headline,
                lift: lift_text(contrast),
                tone: verdict::tone_of(contrast),
                bar: bar(&axis, contrast, &words::interval_name(inference)),
                interval: view::limits(&contrast.interval),
                p: match contrast.test.estimate {
                    Some(_) => numbers::p_cell(contrast.test.p_two_sided, alpha),
                    None => "not tested".to_owned(),
                },
            }
        });
        Self {
            rows: std::iter::once(mean_row).chain(rows).collect(),
            ticks: axis.ticks(),
            p_title: "For skills: each its own, not adjusted for their number.".to_owned(),
            interval_name,
            more: String::new(),
        }
    }
}

impl LiftRow {
    /// The mean over the skills of a report that has none.
    fn unmeasured() -> Self {
        Self {
            name: "Mean over the skills".to_owned(),
            is_all: true,
            href: String::new(),
            note: String::new(),
            lift: NOT_MEASURED.to_owned(),
            tone: "flat",
            bar: Bar { spoken: "Lift not measured".to_owned(), ..Bar::default() },
            interval: "no interval".to_owned(),
            p: "not tested".to_owned(),
        }
    }
}

/// The lift and the limits of a contrast, as far as it has them.
fn ends(contrast: &Contrast) -> impl Iterator<Item = f64> {
    let estimate = contrast.test.estimate.as_ref().map(rational::to_f64);
    let limits = contrast.interval.as_ref().ok().map(|interval| [interval.lower, interval.upper]);
    estimate.into_iter().chain(limits.into_iter().flatten())
}

fn lift_text(contrast: &Contrast) -> String {
    contrast.test.estimate.as_ref().map_or_else(|| NOT_MEASURED.to_owned(), numbers::points)
}

fn bar(axis: &Axis, contrast: &Contrast, interval_name: &str) -> Bar {
    let limits = contrast.interval.as_ref().ok();
    Bar {
        x: contrast.test.estimate.as_ref().map(|estimate| axis.place(rational::to_f64(estimate))).unwrap_or_default(),
        low: limits.map(|limits| axis.place(limits.lower)).unwrap_or_default(),
        high: limits.map(|limits| axis.place(limits.upper)).unwrap_or_default(),
        spoken: match limits {
            Some(_) => format!("Lift {}, {interval_name} {}", lift_text(contrast), view::limits(&contrast.interval)),
            None => format!("Lift {}, no interval", lift_text(contrast)),
        },
    }
}

/// Which cases move.
#[derive(Debug, Serialize)]
pub(super) struct Forest {
    summary: String,
    ticks: Vec<Tick>,
    rows: Vec<CaseRow>,
    /// The rows after what lies between.
    last_rows: Vec<CaseRow>,
    between: Option<Between>,
    all: String,
}

#[derive(Debug, Serialize)]
struct CaseRow {
    id: String,
    href: String,
    title: String,
    tags: Vec<(String, String, Tone)>,
    without: String,
    with: String,
    lift: String,
    tone: &'static str,
    bar: Bar,
}

/// The cases between the rows, as strokes or as a histogram.
#[derive(Debug, Serialize)]
struct Between {
    caption: String,
    strokes: Vec<Stroke>,
    bins: Vec<Bin>,
}

#[derive(Debug, Serialize)]
struct Stroke {
    x: String,
    tone: &'static str,
}

#[derive(Debug, Serialize)]
struct Bin {
    x: String,
    width: String,
    /// Height from 0 to 100.
    height: String,
    title: String,
}

impl Forest {
    pub(super) fn of(again: Again<'_>, cases: &[IndexCase]) -> Self {
        let inference = &again.analysis.inference;
        let contrasts = &inference.by_case;
        let measured = |at: &usize| contrasts[*at].rates.as_ref().map(|rates| rates.delta());
        let mut order: Vec<usize> = (0..contrasts.len().min(cases.len())).filter(|at| measured(at).is_some()).collect();
        order.sort_by(|a, b| {
            measured(a).cmp(&measured(b)).then_with(|| contrasts[*a].case_id.cmp(&contrasts[*b].case_id))
        });
        let row = |at: &usize| case_row(again, *at, &cases[*at]);
        let is_long = order.len() > ALL_ROWS;
        let (first, middle, last): (&[usize], &[usize], &[usize]) = match is_long {
            false => (&order, &[], &[]),
            true => {
                let (first, rest) = order.split_at(ROWS_AT_ENDS);
                let (middle, last) = rest.split_at(rest.len() - ROWS_AT_ENDS);
                (first, middle, last)
            }
        };
        let deltas: Vec<f64> = middle.iter().filter_map(measured).map(|delta| rational::to_f64(&delta)).collect();
        Self {
            summary: summary(again, &order),
            ticks: Axis::whole().ticks(),
            rows: first.iter().map(row).collect(),
            last_rows: last.iter().map(row).collect(),
            between: between(&deltas),
            all: format!("All {}", numbers::counted(cases.len(), "case", "cases")),
        }
    }
}

/// `16 better, 6 the same, 2 worse. Lift of each case with its 95% interval over 6 pairs. Sorted from worst to best.`
fn summary(again: Again<'_>, order: &[usize]) -> String {
    let inference = &again.analysis.inference;
    let pairs: Vec<usize> = order.iter().map(|at| inference.by_case[*at].pairing.eligible).collect();
    let over = match pairs.first() {
        Some(first) if pairs.iter().all(|pairs| pairs == first) => {
            format!(" over {}", numbers::counted(*first, "pair", "pairs"))
        }
        _ => String::new(),
    };
    format!(
        "{} Lift of each case with its {}{over}. Sorted from worst to best.",
        view::counts(inference),
        words::interval_name(inference)
    )
}

fn case_row(again: Again<'_>, at: usize, case: &IndexCase) -> CaseRow {
    let contrast = &again.analysis.inference.by_case[at];
    let rates = contrast.rates.as_ref();
    let delta = rates.map(|rates| rates.delta());
    let axis = Axis::whole();
    let lift = delta.as_ref().map(numbers::whole_points).unwrap_or_default();
    CaseRow {
        id: case.id.clone(),
        href: case_link(&case.id, None),
        title: contrast.name.clone().unwrap_or_default(),
        tags: case.flags.iter().filter(|flag| is_tag(flag)).take(TAGS_SHOWN).cloned().collect(),
        without: rates.map(|rates| numbers::percent(&rates.without_skill)).unwrap_or_default(),
        with: rates.map(|rates| numbers::percent(&rates.with_skill)).unwrap_or_default(),
        tone: verdict::tone(delta.as_ref()),
        bar: Bar {
            x: delta.as_ref().map(|delta| axis.place(rational::to_f64(delta))).unwrap_or_default(),
            low: case.ci.map(|(low, _)| axis.place(low)).unwrap_or_default(),
            high: case.ci.map(|(_, high)| axis.place(high)).unwrap_or_default(),
            spoken: match case.ci {
                Some((low, high)) => format!("Lift {lift}, interval {}", numbers::interval(low, high)),
                None => format!("Lift {lift}, no interval"),
            },
        },
        lift,
    }
}

/// Flags that a row of the plot has.
const TAGS_SHOWN: usize = 2;

/// Whether a flag says what the row does not: what needs eyes, and cases that cannot show a lift.
fn is_tag((_, exact, tone): &(String, String, Tone)) -> bool {
    *tone != Tone::Plain || [Flag::Saturated, Flag::Floor].iter().any(|flag| words::flag_text(flag) == *exact)
}

fn between(deltas: &[f64]) -> Option<Between> {
    let (low, high) = (deltas.first()?, deltas.last()?);
    let axis = Axis::whole();
    let point = |value: f64| rational::from_f64(value).map(|value| numbers::whole_points(&value)).unwrap_or_default();
    let caption =
        format!("{} between {} and {}", numbers::counted(deltas.len(), "case", "cases"), point(*low), point(*high));
    if deltas.len() <= STROKES {
        let tone = |delta: f64| {
            if delta > 0.0 {
                "up"
            } else if delta < 0.0 {
                "down"
            } else {
                "flat"
            }
        };
        let strokes = deltas.iter().map(|delta| Stroke { x: axis.place(*delta), tone: tone(*delta) });
        return Some(Between { caption, strokes: strokes.collect(), bins: Vec::new() });
    }
    let mut counts = [0usize; 20];
    for delta in deltas {
        // +100 belongs to the last one
        counts[(((delta + 1.0) * 10.0).floor() as usize).min(19)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let bins = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin, count)| {
        let from = bin as f64 * 0.05;
        let low = -100 + 10 * bin as i32;
        Bin {
            x: percent_of(from),
            width: percent_of(0.05),
            height: format!("{:.1}", *count as f64 / most * 100.0),
            title: format!("{} from {low} to {} pp", numbers::counted(*count, "case", "cases"), low + 10),
        }
    });
    Some(Between { caption, strokes: Vec::new(), bins: bins.collect() })
}
