//! The first screen: the answer, how sure it is, what it costs, what needs eyes.

use num_traits::Signed;
use serde::Serialize;
use skill_lift_stats::rational::{self, Rational};

use super::{Fact, Part, case_link};
use crate::analyze::inference::{Contrast, ModelContrast};
use crate::analyze::table::WITH_SKILL;
use crate::report::SummaryView;
use crate::report::cost_line::{CostWords, cost_words};
use crate::report::formats::Again;
use crate::report::review::index::{Facts, IndexCase, Tone, by_reason, review_order};
use crate::report::{numbers, view, words};
use crate::runs::claims::ClaimForm;

/// The lead: `Pass rate rises from 56% to 78%: a lift of +21.5 pp, 95% interval +12.0 to +30.9 pp, p = 0.0001.`
pub(super) fn lead(again: Again<'_>) -> Vec<Part> {
    let inference = &again.analysis.inference;
    let contrast = &inference.overall;
    let (Some(with), Some(without), Some(estimate)) =
        (&contrast.with_skill, &contrast.without_skill, &contrast.test.estimate)
    else {
        return vec![Part::plain(nothing_paired(again))];
    };
    let mut parts = Vec::new();
    if again.analysis.is_withheld() {
        parts.push(Part::plain("Observed, not a finding: "));
    }
    let (shown_with, shown_without) = (numbers::percent(with), numbers::percent(without));
    match without.cmp(with) {
        std::cmp::Ordering::Equal => {
            parts.extend([Part::plain("Pass rate is "), Part::strong(shown_with), Part::plain(" in both arms: ")]);
        }
        order => {
            let verb = if order.is_lt() { "rises" } else { "falls" };
            parts.extend([
                Part::plain(format!("Pass rate {verb} from ")),
                Part::strong(shown_without),
                Part::plain(" to "),
                Part::strong(shown_with),
                Part::plain(": "),
            ]);
        }
    }
    let alpha = rational::to_f64(inference.thresholds.alpha());
    let interval = view::named_interval(inference);
    let p = numbers::p_text(contrast.test.p_two_sided, alpha);
    parts.extend([
        Part::plain("a lift of "),
        Part::strong(numbers::points(estimate)),
        Part::plain(format!(", {}, {}.", unbroken(&interval), unbroken(&p))),
    ]);
    let note = words::headline(inference, minimum_cases(again)).note;
    if !again.analysis.is_withheld() && !note.is_empty() {
        parts.push(Part::plain(format!(" {note}")));
    }
    parts
}

/// A figure that a line does not break within: its name may stand on the line before.
fn unbroken(text: &str) -> String {
    let (name, figures) = match text.split_once(" interval ") {
        Some((name, figures)) => (format!("{name} interval "), figures),
        None => (String::new(), text),
    };
    format!("{name}{}", figures.replace(' ', "\u{a0}"))
}

fn minimum_cases(again: Again<'_>) -> usize {
    skill_lift_stats::minimum_cases(again.analysis.inference.thresholds.alpha()).unwrap_or(usize::MAX)
}

fn nothing_paired(again: Again<'_>) -> String {
    let diagnostics = again.analysis.inference_pairing().diagnostics(|_| true);
    let top = diagnostics.reasons.iter().max_by(|(a, x), (b, y)| x.cmp(y).then_with(|| b.cmp(a)));
    match top {
        Some((code, count)) => format!(
            "No pair has both arms: {}, {}.",
            words::blocked_reason(code),
            numbers::counted(*count, "pair", "pairs")
        ),
        None => "No pair has both arms.".to_owned(),
    }
}

/// At most two sentences: whether it holds for the models, and what got worse.
pub(super) fn note(again: Again<'_>, view: &SummaryView) -> String {
    let inference = &again.analysis.inference;
    if again.analysis.is_withheld() {
        return view.headline.note.clone();
    }
    let sentences = [models(&inference.by_model), harm(again), lower_limit(again)];
    sentences.into_iter().flatten().take(2).collect::<Vec<_>>().join(" ")
}

fn models(models: &[ModelContrast]) -> Option<String> {
    if models.len() < 2 {
        return None;
    }
    let side = |model: &ModelContrast| match &model.contrast.interval {
        Ok(interval) if interval.lower > 0.0 => Some(true),
        Ok(interval) if interval.upper < 0.0 => Some(false),
        _ => None,
    };
    let helped: Vec<&ModelContrast> = models.iter().filter(|model| side(model) == Some(true)).collect();
    let hurt: Vec<&ModelContrast> = models.iter().filter(|model| side(model) == Some(false)).collect();
    let names = |list: &[&ModelContrast]| list.iter().map(|model| model.model.as_str()).collect::<Vec<_>>().join(", ");
    Some(match (helped.len(), hurt.len(), models.len()) {
        (0, 0, _) => return None,
        (_, 1.., _) if !helped.is_empty() => format!("It helps {} and hurts {}.", names(&helped), names(&hurt)),
        (0, hurt, all) if hurt == all => format!("It holds for {}.", all_of(all)),
        (0, hurt, all) => format!("It holds for {hurt} of {all} models."),
        (helped, _, all) if helped == all => format!("It holds for {}.", all_of(all)),
        (helped, _, all) => format!("It holds for {helped} of {all} models."),
    })
}

fn all_of(models: usize) -> String {
    if models == 2 { "both models".to_owned() } else { format!("all {models} models") }
}

fn harm(again: Again<'_>) -> Option<String> {
    let analysis = again.analysis;
    let deltas: Vec<Rational> =
        analysis.inference.by_case.iter().filter_map(|case| Some(case.rates.as_ref()?.delta())).collect();
    let worse = deltas.iter().filter(|delta| delta.is_negative()).count();
    let with = analysis.table.variant_position(WITH_SKILL);
    let runs = analysis.table.runs.iter().filter(|run| run.scorable && Some(run.order.variant) == with);
    let critical: usize = runs.map(|run| run.critical_failures.len()).sum();
    let checks = match critical {
        1 => "one critical check failed".to_owned(),
        number => format!("{} critical checks failed", numbers::count(number)),
    };
    match (worse, critical) {
        (0, 0) => None,
        (0, _) => {
            let mut text = checks;
            text[..1].make_ascii_uppercase();
            Some(format!("{text} with the skill."))
        }
        (worse, critical) => {
            let cases = numbers::counted(deltas.len(), "case", "cases");
            let also = if critical > 0 { format!(", and {checks}") } else { String::new() };
            Some(format!("{} of {cases} got worse{also}.", numbers::count(worse)))
        }
    }
}

/// Whether a lift that is shown may be smaller than what the user asked for.
fn lower_limit(again: Again<'_>) -> Option<String> {
    let inference = &again.analysis.inference;
    let usual = skill_lift_stats::Thresholds::default();
    let asked = Some(inference.thresholds.min_lift()).filter(|asked| *asked != usual.min_lift())?;
    let interval = inference.overall.interval.as_ref().ok()?;
    let is_open = interval.lower > 0.0 && interval.lower < rational::to_f64(asked);
    is_open.then(|| format!("The lift may be smaller than the {} you asked for.", numbers::chosen_size(asked)))
}

/// What must be looked at before the number is believed.
pub(super) fn banners(again: Again<'_>) -> Vec<String> {
    let analysis = again.analysis;
    let mut banners = Vec::new();
    if let Some(sign) = super::left_out::signs(again).into_iter().find(|sign| sign.is_serious) {
        banners.push(format!("Check this before you trust the number: {}.", sign.words));
    }
    if let Some(sentence) = reversal(again) {
        banners.push(sentence);
    }
    let gates: u32 = analysis.table.runs.iter().map(|run| run.deferred_gates).sum();
    if gates > 0 {
        let verb = if gates == 1 { "waits" } else { "wait" };
        banners.push(format!("{} {verb} for a judge.", numbers::counted(gates as usize, "check", "checks")));
    }
    if again.saved.form != ClaimForm::OwnReport {
        banners.push("This report has no inference block; it was written by another tool.".to_owned());
    }
    banners
}

/// What the lift would be at worst, where the missing runs could change its sign.
fn reversal(again: Again<'_>) -> Option<String> {
    let bounds = &again.analysis.inference.missingness.as_ref()?.bounds;
    let worst = bounds.lift.as_ref().filter(|_| bounds.could_reverse()).map(|range| &range.worst)?;
    let estimate = again.analysis.inference.overall.test.estimate.as_ref()?;
    let diagnostics = again.analysis.inference_pairing().diagnostics(|_| true);
    let all = numbers::counted(diagnostics.eligible + diagnostics.blocked, "pair", "pairs");
    let verb = if diagnostics.blocked == 1 { "is" } else { "are" };
    let (end, side) = match estimate.is_negative() {
        false => (worst, "against"),
        true => (&bounds.lift.as_ref()?.best, "for"),
    };
    Some(format!(
        "{} of {all} {verb} blocked; if all had gone {side} the skill, the lift would be {}.",
        numbers::count(diagnostics.blocked),
        numbers::points(end)
    ))
}

/// `Very strong evidence`, and what it rests on: the words of the terminal.
pub(super) fn sure(view: &SummaryView) -> Fact {
    let text = view.paragraphs.iter().find(|(label, _)| *label == "Sure?").map(|(_, text)| text.as_str());
    let text = text.unwrap_or("Not enough evidence. Figures are withheld.");
    let (value, rest) = text.split_once(". ").unwrap_or((text.trim_end_matches('.'), ""));
    let margin = view.paragraphs.iter().find(|(label, _)| *label == "Margin").map(|(_, text)| format!(" {text}"));
    Fact { value: value.to_owned(), text: format!("{rest}{}", margin.unwrap_or_default()) }
}

/// What a run costs more.
pub(super) fn cost(again: Again<'_>) -> Fact {
    match cost_words(&again.analysis.efficiency) {
        Some(CostWords { value, rest, measured }) => Fact {
            value: format!("{value} a run"),
            text: [rest, measured].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "),
        },
        None => {
            Fact { value: "Cost not measured".to_owned(), text: "No run recorded cost, tokens or time.".to_owned() }
        }
    }
}

/// The panel of cases to look at.
#[derive(Debug, Serialize)]
pub(super) struct Eyes {
    /// `7 of 24 cases`; empty when nothing stands out.
    count: String,
    rows: Vec<EyesRow>,
    /// Where the button leads.
    href: String,
}

#[derive(Debug, Serialize)]
struct EyesRow {
    glyph: &'static str,
    tone: Tone,
    words: String,
    cases: String,
    href: String,
}

/// Cases that a row of the panel names.
const NAMED: usize = 3;

impl Eyes {
    /// Of the cases of some skills.
    pub(super) fn of(skills: &[(&Facts<'_>, &[IndexCase])]) -> Self {
        let cases: Vec<&IndexCase> = skills.iter().flat_map(|(_, cases)| *cases).collect();
        let order = review_order(&cases);
        let Some(first) = order.first().map(|at| cases[*at]) else {
            return Self { count: String::new(), rows: Vec::new(), href: "#cases".to_owned() };
        };
        let rows = by_reason(skills).into_iter().map(|(rank, found)| {
            let number = numbers::count(found.len());
            let (glyph, tone, said, filter) = match rank {
                1 => (
                    "!",
                    Tone::Bad,
                    if found.len() == 1 {
                        "critical failure with the skill"
                    } else {
                        "critical failures with the skill"
                    },
                    "eyes",
                ),
                2 => ("▼", Tone::Bad, "worse with the skill", "worse"),
                3 => ("!", Tone::Bad, "whose baseline had the skill", "eyes"),
                4 => ("◇", Tone::Warn, "with blocked pairs", "blocked"),
                5 => ("◇", Tone::Warn, "waiting for a judge", "eyes"),
                _ => ("▼", Tone::Bad, "that passed before and now fail", "eyes"),
            };
            let mut names: Vec<&str> = found.iter().take(NAMED).map(|case| case.id.as_str()).collect();
            if found.len() > NAMED {
                names.push("…");
            }
            let href = match found.as_slice() {
                [case] => case_link(&case.id, Some("eyes")),
                _ => format!("#cases&f={filter}"),
            };
            EyesRow { glyph, tone, words: format!("{number} {said}"), cases: names.join(", "), href }
        });
        Self {
            count: format!("{} of {}", numbers::count(order.len()), numbers::counted(cases.len(), "case", "cases")),
            rows: rows.collect(),
            href: case_link(&first.id, Some("eyes")),
        }
    }
}

/// The tone of a difference.
pub(super) fn tone_of(contrast: &Contrast) -> &'static str {
    tone(contrast.test.estimate.as_ref())
}

pub(super) fn tone(delta: Option<&Rational>) -> &'static str {
    match delta {
        Some(delta) if delta.is_positive() => "up",
        Some(delta) if delta.is_negative() => "down",
        _ => "flat",
    }
}
