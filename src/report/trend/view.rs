//! What people are told of a history, in order, before any output form.

use serde_json::json;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::verdict::VerdictCode;

use crate::analyze::diff::Tested;
use crate::analyze::inference::Unit;
use crate::analyze::trend::{Change, Compared, Looks, Point, PruneCandidate, RecurringFailure, Step, Trend};
use crate::report::caveats::Caveat;
use crate::report::diff::words::{mismatch, tested_headline};
use crate::report::numbers;
use crate::report::words::{Headline, Tone};

/// What a text about a history shows.
#[derive(Debug)]
pub struct TrendView {
    /// Name of the skill; empty when no report names it.
    pub skill_name: String,
    /// `4 reports`.
    pub size: String,
    /// The answer about the last step.
    pub headline: Headline,
    /// The figures of the last step, a sentence each.
    pub leads: Vec<String>,
    /// The reports, the earliest first.
    pub rows: Vec<TrendRow>,
    /// What else a reader of the rows must know.
    pub notes: Vec<String>,
    /// Labelled lists.
    pub lists: Vec<(&'static str, Vec<String>)>,
}

/// One report.
#[derive(Debug)]
pub struct TrendRow {
    /// The name of its file.
    pub report: String,
    /// Rate without the skill, as the report states it.
    pub without_skill: String,
    /// Rate with it.
    pub with_skill: String,
    /// The lift.
    pub lift: String,
    /// The change of the rate with the skill over the cases in this report and the one before.
    pub change: String,
    /// How likely chance alone makes such a change.
    pub p: String,
    /// What may be concluded, in a few words.
    pub what: &'static str,
    /// Whether the change is for the worse, and established.
    pub is_worse: bool,
    /// Why the two reports are not like for like.
    pub reasons: Vec<String>,
}

impl TrendView {
    /// The view of a history.
    pub fn of(trend: &Trend) -> Self {
        let alpha = rational::to_f64(trend.thresholds.alpha());
        let steps = std::iter::once(None).chain(trend.steps.iter().map(Some));
        Self {
            skill_name: trend.skill_name.clone().unwrap_or_default(),
            size: numbers::counted(trend.points.len(), "report", "reports"),
            headline: headline(trend),
            leads: trend.steps.last().map(|step| leads(step, alpha)).unwrap_or_default(),
            rows: trend.points.iter().zip(steps).map(|(point, step)| row(point, step, alpha)).collect(),
            notes: notes(trend, alpha),
            lists: lists(trend),
        }
    }
}

fn headline(trend: &Trend) -> Headline {
    let say = |text: &str, note: &str| Headline { text: text.to_owned(), note: note.to_owned(), tone: Tone::Neutral };
    let Some(last) = trend.steps.last() else {
        return if trend.points.is_empty() {
            say("No reports yet.", "Add one with --add REPORT.")
        } else {
            say("One report; there is nothing to compare it with.", "")
        };
    };
    match &last.compared {
        Err(_) => say("The last two reports have no case and arm in common.", ""),
        Ok(Compared { with_skill: Change { cases: 0, .. }, .. }) => {
            say("The last two reports have no comparable case with the skill.", "")
        }
        Ok(compared) => match &compared.with_skill.tested {
            Ok(tested) if tested.test.moved == 0 => say("The same as before, with the skill.", ""),
            Ok(tested) => tested_headline(tested, &trend.thresholds),
            Err(_) => say(
                "The last two reports are not like-for-like.",
                "The figures stand side by side; what changed them is not known, and nothing is tested.",
            ),
        },
    }
}

fn leads(step: &Step, alpha: f64) -> Vec<String> {
    let Ok(compared) = &step.compared else { return Vec::new() };
    let sentence = |what: &str, change: &Change| {
        let difference = change.difference()?;
        let cases = numbers::counted(change.cases, "case", "cases");
        let sure = match &change.tested {
            Ok(tested) if tested.test.moved == 0 => ", no case moved".to_owned(),
            // a line never ends between `p` and its value
            Ok(tested) => format!(", {}", numbers::p_text(tested.test.p_two_sided, alpha).replace(' ', "\u{a0}")),
            Err(_) => String::new(),
        };
        Some(format!("{what} over {cases} in both: {}{sure}.", numbers::points(&difference)))
    };
    let steps = format!("{} → {}.", step.from, step.to);
    let sentences =
        [sentence("With the skill", &compared.with_skill), sentence("The lift", &compared.lift)].into_iter().flatten();
    std::iter::once(steps).chain(sentences).collect()
}

fn row(point: &Point, step: Option<&Step>, alpha: f64) -> TrendRow {
    let number = |rate: Option<f64>| rate.and_then(rational::from_f64);
    let percent = |rate: Option<f64>| number(rate).as_ref().map_or_else(|| "–".to_owned(), shown_rate);
    let compared = step.and_then(|step| step.compared.as_ref().ok());
    let change = compared.map(|compared| &compared.with_skill);
    let tested = change.and_then(|change| change.tested.as_ref().ok());
    let what = match (step, compared, tested) {
        (None, ..) => "",
        (Some(_), None, _) => "nothing in common",
        (_, Some(compared), None) if compared.comparability.is_like_for_like() => "nothing to compare",
        (_, Some(_), None) => "not like-for-like",
        (_, _, Some(tested)) if tested.test.moved == 0 => "same",
        (_, _, Some(tested)) => match (tested.verdict.code, change.is_some_and(|change| stands_alone(change, alpha))) {
            (VerdictCode::Helps, false) => "better",
            (VerdictCode::Helps, true) => "better, on its own",
            (VerdictCode::Harms, false) => "worse",
            (VerdictCode::Harms, true) => "worse, on its own",
            (VerdictCode::NoEvidence, _) => "no change that matters",
            (VerdictCode::TooFewCases | VerdictCode::NothingPaired, _) => "not proven",
        },
    };
    let mismatches = compared.map(|compared| compared.comparability.mismatches.as_slice()).unwrap_or_default();
    TrendRow {
        report: point.label.clone(),
        without_skill: percent(point.without_skill),
        with_skill: percent(point.with_skill),
        lift: number(point.lift).as_ref().map_or_else(|| "–".to_owned(), numbers::points),
        change: change.and_then(Change::difference).as_ref().map(numbers::points).unwrap_or_default(),
        p: tested
            .filter(|tested| tested.test.moved > 0)
            .map(|tested| numbers::p_cell(tested.test.p_two_sided, alpha))
            .unwrap_or_default(),
        what,
        is_worse: tested.is_some_and(|tested| tested.verdict.code == VerdictCode::Harms),
        reasons: mismatches.iter().map(mismatch).collect(),
    }
}

/// Whether a change is established by its own test and not among all steps of the history.
fn stands_alone(change: &Change, alpha: f64) -> bool {
    let is_established = |tested: &Tested| matches!(tested.verdict.code, VerdictCode::Helps | VerdictCode::Harms);
    change.tested.as_ref().is_ok_and(is_established) && change.p_holm.is_some_and(|p| p > alpha)
}

fn notes(trend: &Trend, alpha: f64) -> Vec<String> {
    [stands_alone_note(trend, alpha), looks_note(&trend.looks, alpha), rerun_caveat(trend).map(|caveat| caveat.text)]
        .into_iter()
        .flatten()
        .collect()
}

/// What is said of reports that run the same cases again.
pub(super) fn rerun_caveat(trend: &Trend) -> Option<Caveat> {
    let again = trend.looks.repeating_reports();
    let reports = trend.points.len();
    (again > 0).then(|| Caveat {
        code: "rerun_on_same_cases",
        args: json!({"reports": again, "of": reports}),
        text: format!(
            "{} of {} {} cases that earlier ones have run: no new evidence for the lift, and the best of them flatters it.",
            numbers::count(again),
            numbers::counted(reports, "report", "reports"),
            if again == 1 { "runs" } else { "run" }
        ),
    })
}

/// What several batches of new cases say together, however often somebody looked.
fn looks_note(looks: &Looks, alpha: f64) -> Option<String> {
    let batches = looks.looks().iter().filter(|look| look.new_units > 0).count();
    let evidence = looks.looks().last()?.evidence.as_ref().ok().filter(|_| batches > 1)?;
    let units = match looks.unit() {
        Unit::Case => numbers::counted(looks.units(), "case", "cases"),
        Unit::Family => numbers::counted(looks.units(), "family", "families"),
    };
    let p = numbers::p_text(evidence.p_anytime(), alpha).replace(' ', "\u{a0}");
    Some(format!(
        "Over all reports, {units} in {batches} batches of new ones: {p}, which holds however often one looks."
    ))
}

fn stands_alone_note(trend: &Trend, alpha: f64) -> Option<String> {
    let changes = || trend.steps.iter().filter_map(|step| Some(&step.compared.as_ref().ok()?.with_skill));
    if !changes().any(|change| stands_alone(change, alpha)) {
        return None;
    }
    let steps = changes().filter(|change| change.tested.is_ok()).count();
    Some(format!(
        "On its own: of {steps} steps that are tested, one may look like that by chance (Holm: p above {alpha})."
    ))
}

/// A stated rate; whoever states something else than a rate is shown what is stated.
fn shown_rate(rate: &Rational) -> String {
    let is_rate = *rate >= rational::rate(0, 1) && *rate <= rational::rate(1, 1);
    if is_rate { numbers::percent(rate) } else { rational::to_f64(rate).to_string() }
}

fn lists(trend: &Trend) -> Vec<(&'static str, Vec<String>)> {
    let failures = |list: &[RecurringFailure]| list.iter().map(failure).collect::<Vec<_>>();
    let again: Vec<_> = trend.recurring_failures.iter().filter(|failure| failure.failed_in > 1).cloned().collect();
    let flags = |list: fn(&Step) -> &[String]| {
        let flags = trend.steps.last().map(list).unwrap_or_default();
        flags.iter().map(|flag| flag.replacen("::", ": ", 1)).collect()
    };
    let lists = [
        ("New flags", flags(|step| &step.new_flags)),
        ("Resolved flags", flags(|step| &step.resolved_flags)),
        ("Fails again and again with the skill", failures(&again)),
        ("Never failed and never showed lift: may be dropped", trend.prune_candidates.iter().map(candidate).collect()),
    ];
    lists.into_iter().filter(|(_, list)| !list.is_empty()).collect()
}

fn failure(failure: &RecurringFailure) -> String {
    let RecurringFailure { case, assertion, severity, failed_in, scored_in, .. } = failure;
    format!("{case}: {assertion} ({severity}), {failed_in} of {}", numbers::counted(*scored_in, "report", "reports"))
}

fn candidate(candidate: &PruneCandidate) -> String {
    format!("{}, {}", candidate.case, numbers::counted(candidate.reports, "report", "reports"))
}
