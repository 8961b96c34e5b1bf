//! The view model of a report: what people are told, in order, before any output form.

use std::collections::BTreeMap;

use skill_lift_stats::Withheld;
use skill_lift_stats::interval::PaddedT;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::verdict::VerdictCode;

use super::caveats::caveats;
use super::cost_line::{cost_line, worth_line};
use super::numbers;
use super::words::{self, Headline, Tone};
use crate::analyze::Analysis;
use crate::analyze::inference::{CaseClass, CaseContrast, Inference, Unit, UnitRates};
use crate::analyze::one_arm::{OneArmCriterion, Outcomes};
use crate::analyze::review::ReviewReason;
use crate::analyze::table::{RunTable, WITH_SKILL};
use crate::grade::stored::StoredTree;
use crate::runs::claims::{SavedBenchmark, StoredVerdicts};

/// What a summary shows.
#[derive(Debug)]
pub struct SummaryView {
    /// Name of the skill.
    pub skill_name: String,
    /// What is compared, in words: `with the skill against without`.
    pub contrast: &'static str,
    /// `24 cases, 2 models, 3 repetitions`.
    pub size: String,
    /// The answer.
    pub headline: Headline,
    /// The figures in one sentence.
    pub lead: String,
    /// Labelled paragraphs.
    pub paragraphs: Vec<(&'static str, String)>,
    /// Name of the interval.
    pub interval_name: String,
    /// One row a model; empty for fewer than two.
    pub models: Vec<ModelRow>,
    /// Cases to look at, most important first.
    pub eyes: Vec<CaseRow>,
    /// Every case, worst to best.
    pub cases: Vec<CaseRow>,
    /// `16 better, 6 the same, 2 worse.`
    pub counts: String,
    /// What could not be compared, or empty.
    pub blocked: String,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// One model.
#[derive(Debug)]
pub struct ModelRow {
    /// Its name.
    pub name: String,
    /// Pass rate without the skill.
    pub without_skill: String,
    /// Pass rate with it.
    pub with_skill: String,
    /// The difference.
    pub lift: String,
    /// How good or bad the difference is.
    pub tone: Tone,
    /// Limits, or words.
    pub interval: String,
    /// Adjusted p-value.
    pub p: String,
}

/// What a case is marked with. A mark never stands without its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A critical check failed.
    Critical,
    /// Worse with the skill.
    Worse,
    /// Something is missing or pending.
    Open,
    /// Better with the skill.
    Better,
    /// The same.
    Same,
}

/// One case.
#[derive(Debug)]
pub struct CaseRow {
    /// Its mark.
    pub mark: Mark,
    /// Its id.
    pub name: String,
    /// Pass rate without the skill, or words.
    pub without_skill: String,
    /// Pass rate with it, or words.
    pub with_skill: String,
    /// The difference, or words.
    pub lift: String,
    /// The difference as a number, for the plot.
    pub delta: Option<f64>,
    /// Why it is listed.
    pub why: String,
}

/// Why a case that should be looked at may be what it is.
const SKILL_NOT_LOADED: &str = "skill not loaded";

/// What a report is about that names no skill.
const UNNAMED: &str = "skill";

/// What stands in a table where nothing was measured.
pub(super) const NOT_MEASURED: &str = "–";

impl SummaryView {
    /// The view of an analysis; `stored` is what the verdicts add up to, when others gave them.
    pub fn of(skill_name: &str, analysis: &Analysis, stored: Option<&StoredTree>) -> Self {
        let verdicts = stored.map(|stored| StoredVerdicts {
            passed: stored.passed,
            failed: stored.failed,
            undecided: stored.undecided,
            regrading: stored.regrading.as_ref().map(|regrading| (regrading.compared, regrading.agreed)),
            token_scope_differs: stored.token_scope_differs(WITH_SKILL, analysis.table.baseline.variant()),
        });
        Self::with_verdicts(skill_name, analysis, verdicts)
    }

    /// The view of a saved report that was analysed once more: the one that it had when it was made.
    pub fn of_saved(saved: &SavedBenchmark, analysis: &Analysis) -> Self {
        Self::with_verdicts(saved.skill_name.as_deref().unwrap_or(UNNAMED), analysis, saved.stored)
    }

    fn with_verdicts(skill_name: &str, analysis: &Analysis, stored: Option<StoredVerdicts>) -> Self {
        let inference = &analysis.inference;
        let minimum = skill_lift_stats::minimum_cases(inference.thresholds.alpha()).unwrap_or(usize::MAX);
        let mut cases: Vec<&CaseContrast> = inference.by_case.iter().collect();
        let delta = |case: &CaseContrast| case.rates.as_ref().map(UnitRates::delta);
        // worst first; cases that could not be measured last
        cases.sort_by(|a, b| match (delta(a), delta(b)) {
            (None, None) => a.position.cmp(&b.position),
            (None, _) => std::cmp::Ordering::Greater,
            (_, None) => std::cmp::Ordering::Less,
            (Some(x), Some(y)) => x.cmp(&y).then(a.position.cmp(&b.position)),
        });
        let withheld = analysis.is_withheld();
        let headline = words::headline(inference, minimum);
        let mut paragraphs = Vec::new();
        if !withheld {
            paragraphs.push(("Sure?", sure(inference)));
        }
        if let Some(margin) = words::margin_text(inference) {
            paragraphs.push(("Margin", margin));
        }
        if let Some(cost) = cost_line(&analysis.efficiency) {
            paragraphs.push(("Cost", cost));
        }
        if let Some(worth) = worth_line(&analysis.efficiency, rational::to_f64(inference.thresholds.alpha())) {
            paragraphs.push(("Worth", worth));
        }
        if let Some(eyes) = eyes_line(inference) {
            paragraphs.push(("Eyes", eyes));
        }
        if let Some(stored) = stored {
            paragraphs.push(("Source", source(&stored)));
        }
        Self {
            skill_name: skill_name.to_owned(),
            contrast: words::contrast(analysis.table.baseline),
            size: size(analysis),
            headline: if withheld { words::withheld_headline(&analysis.incomplete_reasons) } else { headline },
            lead: if withheld { format!("Observed, not a finding: {}", lead(inference)) } else { lead(inference) },
            paragraphs,
            interval_name: words::interval_name(inference),
            models: models(inference),
            eyes: inference
                .review_queue
                .iter()
                .map(|item| {
                    let case = &inference.by_case[item.case];
                    let mut why: Vec<&str> = item.reasons.iter().map(|reason| reason.code()).collect();
                    why.extend(case.skill_not_loaded.then_some(SKILL_NOT_LOADED));
                    case_row(case, mark(item.reasons[0]), why.join(", "))
                })
                .collect(),
            cases: cases.into_iter().map(|case| case_row(case, mark_by_delta(delta(case)), why(case))).collect(),
            counts: counts(inference),
            blocked: blocked(analysis),
            notes: notes(analysis),
        }
    }
}

fn size(analysis: &Analysis) -> String {
    let table = &analysis.table;
    let mut parts = vec![numbers::counted(analysis.inference.by_case.len(), "case", "cases")];
    if !table.models.is_empty() {
        parts.push(numbers::counted(table.models.len(), "model", "models"));
    }
    let repetitions = table.runs.iter().map(|run| run.order.repetition).max().unwrap_or(0) as usize;
    parts.push(numbers::counted(repetitions, "repetition", "repetitions"));
    parts.join(", ")
}

fn lead(inference: &Inference) -> String {
    let contrast = &inference.overall;
    let (Some(with), Some(without), Some(estimate)) =
        (&contrast.with_skill, &contrast.without_skill, &contrast.test.estimate)
    else {
        return String::new();
    };
    let alpha = rational::to_f64(inference.thresholds.alpha());
    let (shown_with, shown_without) = (numbers::percent(with), numbers::percent(without));
    let rates = if with == without {
        format!("Pass rate {shown_with} in both arms")
    } else {
        format!("Pass rate {shown_without} → {shown_with}")
    };
    let interval = named_interval(inference);
    let p = numbers::p_text(contrast.test.p_two_sided, alpha);
    format!("{rates}: lift {}, {interval}, {p}", numbers::points(estimate))
}

/// `95% interval +12.0 to +30.9 pp`, or why there is none.
pub(super) fn named_interval(inference: &Inference) -> String {
    let name = words::interval_name(inference);
    match &inference.overall.interval {
        Ok(limits) => format!("{name} {}", numbers::interval(limits.lower, limits.upper)),
        Err(Withheld::TooFewUnits) => format!("no {name} from a single case"),
        Err(_) => NO_INTERVAL.to_owned(),
    }
}

/// What stands for limits that there are none of.
const NO_INTERVAL: &str = "no interval";

/// `+12.0 to +30.9 pp`.
pub(super) fn limits(interval: &Result<PaddedT, Withheld>) -> String {
    interval.as_ref().map_or_else(|_| NO_INTERVAL.to_owned(), |limits| numbers::interval(limits.lower, limits.upper))
}

fn sure(inference: &Inference) -> String {
    let contrast = &inference.overall;
    let test = &contrast.test;
    let mut sentences = vec![format!("{}.", words::grade(inference))];
    if test.n > 0 {
        let odds = words::odds_text(test.p_two_sided);
        if !odds.is_empty() {
            sentences.push(odds);
        }
        let units = match contrast.unit {
            Unit::Case => numbers::counted(test.n, "case", "cases"),
            Unit::Family => numbers::counted(test.n, "family", "families"),
        };
        sentences.push(format!("Exact test over {units}, {} of which moved.", test.moved));
    }
    if let Ok(detectable) = &contrast.smallest_detectable_lift
        && contrast.verdict.code != VerdictCode::NothingPaired
    {
        sentences.push(if detectable.not_detectable {
            "Even the largest lift could have gone unnoticed.".to_owned()
        } else {
            format!("A true lift below {} could have gone unnoticed.", numbers::size_in_points(detectable.lift))
        });
    }
    sentences.join(" ")
}

fn eyes_line(inference: &Inference) -> Option<String> {
    let queue = &inference.review_queue;
    if queue.is_empty() {
        return None;
    }
    let count = |reason: ReviewReason| queue.iter().filter(|item| item.reasons.contains(&reason)).count();
    let parts: Vec<String> = [
        (ReviewReason::Critical, "with a critical failure"),
        (ReviewReason::Worse, "worse"),
        (ReviewReason::Contaminated, "whose baseline had the skill"),
        (ReviewReason::Blocked, "with blocked pairs"),
        (ReviewReason::Judge, "waiting for a judge"),
    ]
    .into_iter()
    .filter_map(|(reason, words)| match count(reason) {
        0 => None,
        number => Some(format!("{number} {words}")),
    })
    .collect();
    Some(format!("{}: {}", numbers::counted(queue.len(), "case", "cases"), parts.join(", ")))
}

/// Who decided, where the verdicts are stored ones.
fn source(stored: &StoredVerdicts) -> String {
    let all = [stored.passed, stored.failed, stored.undecided].into_iter().map(|count| count as usize).sum();
    let verdicts = numbers::counted(all, "stored verdict", "stored verdicts");
    let undecided = match stored.undecided {
        0 => String::new(),
        undecided => format!(" ({} of them undecided)", numbers::count(undecided as usize)),
    };
    let mut text = format!("{verdicts} of another grader{undecided}, not decided anew.");
    if let Some((compared, agreed)) = stored.regrading {
        let (compared, agreed) = (compared as usize, agreed as usize);
        let checks = numbers::counted(compared, "literal check", "literal checks");
        text.push_str(&format!(
            " {checks}: {} agree, {} differ.",
            numbers::count(agreed),
            numbers::count(compared - agreed)
        ));
    }
    if stored.token_scope_differs {
        text.push_str(" The token counts of the arms are not of one scope.");
    }
    text
}

fn tone(delta: Option<&Rational>) -> Tone {
    let zero = rational::rate(0, 1);
    match delta.map(|delta| delta.cmp(&zero)) {
        Some(std::cmp::Ordering::Less) => Tone::Bad,
        Some(std::cmp::Ordering::Greater) => Tone::Good,
        _ => Tone::Neutral,
    }
}

fn models(inference: &Inference) -> Vec<ModelRow> {
    if inference.by_model.len() < 2 {
        return Vec::new();
    }
    let alpha = rational::to_f64(inference.thresholds.alpha());
    let rate = |rate: &Option<Rational>| rate.as_ref().map_or_else(|| NOT_MEASURED.to_owned(), numbers::percent);
    inference
        .by_model
        .iter()
        .map(|model| {
            let estimate = model.contrast.test.estimate.as_ref();
            ModelRow {
                name: model.model.clone(),
                without_skill: rate(&model.contrast.without_skill),
                with_skill: rate(&model.contrast.with_skill),
                lift: estimate.map_or_else(|| NOT_MEASURED.to_owned(), numbers::points),
                tone: tone(estimate),
                interval: limits(&model.contrast.interval),
                p: model.p_holm.map_or_else(|| "not tested".to_owned(), |p| numbers::p_cell(p, alpha)),
            }
        })
        .collect()
}

fn mark(reason: ReviewReason) -> Mark {
    match reason {
        ReviewReason::Critical | ReviewReason::Contaminated => Mark::Critical,
        ReviewReason::Worse => Mark::Worse,
        ReviewReason::Blocked | ReviewReason::Judge => Mark::Open,
    }
}

fn mark_by_delta(delta: Option<Rational>) -> Mark {
    match (delta.as_ref(), tone(delta.as_ref())) {
        (None, _) => Mark::Open,
        (_, Tone::Good) => Mark::Better,
        (_, Tone::Bad) => Mark::Worse,
        (_, Tone::Neutral) => Mark::Same,
    }
}

fn why(case: &CaseContrast) -> String {
    let mut words = Vec::new();
    if case.critical_failure {
        words.push("critical");
    }
    // whether it is better or worse stands in the column of the lift
    match case.class {
        CaseClass::Saturated => words.push("all pass"),
        CaseClass::Floor => words.push("all fail"),
        _ => {}
    }
    if case.pairing.blocked > 0 {
        words.push("blocked");
    }
    if case.deferred_gates > 0 {
        words.push("judge");
    }
    words.join(", ")
}

fn case_row(case: &CaseContrast, mark: Mark, why: String) -> CaseRow {
    let rates = case.rates.as_ref();
    let delta = rates.map(UnitRates::delta);
    let text = |value: Option<String>| value.unwrap_or_else(|| NOT_MEASURED.to_owned());
    CaseRow {
        mark,
        name: match &case.name {
            Some(name) => format!("{} {name}", case.case_id),
            None => case.case_id.clone(),
        },
        without_skill: text(
            rates.map(|rates| &rates.without_skill).or(case.without_skill_alone.as_ref()).map(numbers::percent),
        ),
        with_skill: text(rates.map(|rates| &rates.with_skill).or(case.with_skill_alone.as_ref()).map(numbers::percent)),
        lift: text(delta.as_ref().map(numbers::whole_points)),
        delta: delta.as_ref().map(rational::to_f64),
        why,
    }
}

pub(super) fn counts(inference: &Inference) -> String {
    let zero = rational::rate(0, 1);
    let deltas: Vec<Rational> =
        inference.by_case.iter().filter_map(|case| Some(case.rates.as_ref()?.delta())).collect();
    let better = deltas.iter().filter(|delta| **delta > zero).count();
    let worse = deltas.iter().filter(|delta| **delta < zero).count();
    let mut text = format!("{better} better, {} the same, {worse} worse", deltas.len() - better - worse);
    let unmeasured = inference.by_case.len() - deltas.len();
    if unmeasured > 0 {
        text.push_str(&format!(", {unmeasured} not measured"));
    }
    text.push('.');
    text
}

fn blocked(analysis: &Analysis) -> String {
    let diagnostics = analysis.inference_pairing().diagnostics(|_| true);
    if diagnostics.blocked == 0 {
        return String::new();
    }
    let total = diagnostics.eligible + diagnostics.blocked;
    let mut reasons: Vec<(&String, &usize)> = diagnostics.reasons.iter().collect();
    reasons.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    let reasons: Vec<String> =
        reasons.into_iter().map(|(code, count)| format!("{} ({count})", words::blocked_reason(code))).collect();
    let verb = if diagnostics.blocked == 1 { "is" } else { "are" };
    format!(
        "{} of {} {verb} blocked: {}.",
        diagnostics.blocked,
        numbers::counted(total, "pair", "pairs"),
        reasons.join(", ")
    )
}

/// Why runs are not scored, the most frequent reason first.
fn unscored(table: &RunTable) -> Option<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let unscored: Vec<_> = table.runs.iter().filter(|run| !run.scorable).collect();
    for reason in unscored.iter().flat_map(|run| &run.unscored_reasons) {
        *reasons.entry(reason).or_default() += 1;
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    let named = reasons.iter().map(|(code, count)| format!("{} ({count})", words::unscored_reason(code)));
    let runs = numbers::counted(unscored.len(), "run is", "runs are");
    (!unscored.is_empty()).then(|| format!("{runs} not scored: {}.", named.collect::<Vec<_>>().join(", ")))
}

fn notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    let table = &analysis.table;
    let deferred: u32 = table.runs.iter().map(|run| run.deferred_judgements).sum();
    if deferred > 0 {
        let gates: u32 = table.runs.iter().map(|run| run.deferred_gates).sum();
        let verb = if deferred == 1 { "waits" } else { "wait" };
        let gates = match gates {
            0 => "none of them is a gate".to_owned(),
            1 => "one of them is a gate".to_owned(),
            gates => format!("{gates} of them are gates"),
        };
        notes.push(format!("{} {verb} for a judge; {gates}.", numbers::counted(deferred as usize, "check", "checks")));
    }
    notes.extend(unscored(table));
    notes.extend(caveats(&analysis.inference).into_iter().map(|caveat| caveat.text));
    notes.extend(one_arm(analysis.inference.one_arm.as_deref().unwrap_or_default()));
    notes
}

/// Criteria that a note names.
const CRITERIA_SHOWN: usize = 3;

/// What the lift leaves out because only one arm can satisfy it.
fn one_arm(criteria: &[OneArmCriterion]) -> Option<String> {
    let shown = criteria.iter().take(CRITERIA_SHOWN).map(|criterion| {
        let counts =
            |Outcomes { passed, total }: Outcomes| format!("{} of {}", numbers::count(passed), numbers::count(total));
        let OneArmCriterion { name, with_skill, without_skill, .. } = criterion;
        format!("{name} ({} with the skill, {} without)", counts(*with_skill), counts(*without_skill))
    });
    let mut shown: Vec<String> = shown.collect();
    if criteria.len() > CRITERIA_SHOWN {
        shown.push(format!("{} more", numbers::count(criteria.len() - CRITERIA_SHOWN)));
    }
    let pronoun = if criteria.len() == 1 { "it" } else { "them" };
    let text = format!("Not in the lift, since only one arm can satisfy {pronoun}: {}.", shown.join(", "));
    (!criteria.is_empty()).then_some(text)
}
