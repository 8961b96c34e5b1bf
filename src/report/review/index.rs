//! The index of a page: one entry a case, with what the list and the head of a case page show.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use skill_lift_stats::Withheld;
use skill_lift_stats::rational::{self, Rational};

use super::blocked::BlockedPairs;
use super::cases::{CasesOfPage, RunOfPage};
use super::run::status;
use crate::analyze::case_detail::{CaseDetail, lost_check};
use crate::analyze::flags::Flag;
use crate::analyze::inference::{CaseContrast, UnitRates};
use crate::analyze::review::ReviewReason;
use crate::analyze::table::{Baseline, WITH_SKILL};
use crate::feedback::{Entry, RunIds, RunName};
use crate::report::formats::Again;
use crate::report::{numbers, words};

/// What the script reads first.
#[derive(Debug, Serialize)]
pub(super) struct Index<'a> {
    pub(super) schema: u32,
    pub(super) report_sha256: &'a str,
    pub(super) skill: &'a str,
    pub(super) headline: &'a str,
    pub(super) label: Option<&'a str>,
    pub(super) previous: Option<&'a str>,
    pub(super) models: &'a [&'a str],
    pub(super) arms: &'a [Arm; 2],
    pub(super) runs_given: bool,
    pub(super) served: Option<Served<'a>>,
    pub(super) feedback_format: &'static str,
    pub(super) feedback: &'a [Entry],
    pub(super) cases: &'a [IndexCase],
}

#[derive(Debug, Serialize)]
pub(super) struct Served<'a> {
    pub(super) token: &'a str,
}

/// An arm of the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Arm {
    pub(super) variant: &'static str,
    name: &'static str,
    words: &'static str,
}

/// The arm with the skill, then the one that it is compared with, which is not the same one for all skills of a page
/// perhaps.
pub(super) fn arms(skills: impl Iterator<Item = Baseline>) -> [Arm; 2] {
    let with = Arm { variant: WITH_SKILL, name: "With the skill", words: "with the skill" };
    let mut baselines: Vec<Baseline> = skills.collect();
    baselines.dedup();
    let baseline = baselines.first().copied().unwrap_or(Baseline::WithoutSkill);
    let (name, words) = match (baselines.len(), baseline) {
        (2.., _) => ("The baseline", "the baseline"),
        (_, Baseline::WithoutSkill) => ("Without the skill", "without the skill"),
        (_, Baseline::OldSkill) => ("The old skill", "the old skill"),
    };
    [with, Arm { variant: baseline.variant(), name, words }]
}

/// The glyph and the tone of a case, which the page and the list share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tone {
    Bad,
    Warn,
    #[serde(rename = "")]
    Plain,
}

/// One case.
#[derive(Debug, Serialize)]
pub(super) struct IndexCase {
    /// Position of its skill in the page.
    #[serde(skip)]
    pub(super) skill: usize,
    pub(super) id: String,
    /// The arm that it is compared with, where that is not the one of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'static str>,
    title: Option<String>,
    split: Option<&'static str>,
    tags: Vec<String>,
    domain: Option<String>,
    difficulty: Option<String>,
    intent: Option<&'static str>,
    pub(super) flags: Vec<(String, String, Tone)>,
    pub(super) queue: Option<u32>,
    without: Option<f64>,
    with: Option<f64>,
    lift: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lift_reason: Option<String>,
    pub(super) ci: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci_reason: Option<&'static str>,
    pairs: usize,
    blocked: usize,
    unstable: bool,
    cost: Option<CaseCost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_reason: Option<String>,
    reasons: Vec<(Tone, String)>,
    runs: Vec<RunCell>,
    pub(super) chunk: usize,
}

#[derive(Debug, Serialize)]
struct CaseCost {
    delta: f64,
    currency: String,
    n: usize,
}

/// Arm, model, repetition, status, passed and counted checks, whether a critical one failed, and what the skill creator calls
/// the run, where that is asked for.
#[derive(Debug, Serialize)]
struct RunCell(
    usize,
    usize,
    u32,
    String,
    Option<u32>,
    Option<u32>,
    bool,
    #[serde(skip_serializing_if = "Option::is_none")] Option<String>,
);

/// The label of a flag, its exact text, its tone, and whether it is about stability; `None` for a flag that another one
/// says already.
fn flag(flag: &Flag, all: &[&Flag], is_worse: bool) -> Option<(String, String, Tone)> {
    let settled = || all.iter().any(|other| matches!(other, Flag::Saturated | Flag::Floor));
    let (label, tone) = match flag {
        Flag::Saturated => ("Passes in both arms", Tone::Plain),
        Flag::Forgettable => ("Passes, but scores low", Tone::Plain),
        Flag::Floor => ("Fails in both arms", Tone::Plain),
        Flag::NoLift if settled() || is_worse => return None,
        Flag::NoLift => ("No lift", Tone::Plain),
        Flag::WithSkillFailure if settled() || is_worse => return None,
        Flag::WithSkillFailure => ("Fails with the skill", Tone::Plain),
        Flag::Flaky { variant } if variant == WITH_SKILL => ("Unstable with the skill", Tone::Plain),
        Flag::Flaky { .. } => ("Unstable without", Tone::Plain),
        Flag::CriticalFailure { variant, .. } if variant == WITH_SKILL => {
            ("Critical failure with the skill", Tone::Bad)
        }
        Flag::CriticalFailure { .. } => ("Critical failure without", Tone::Plain),
        Flag::BelowReferenceFloor { .. } => ("Below reference score", Tone::Warn),
    };
    Some((label.to_owned(), words::flag_text(flag), tone))
}

/// What the index needs beside the report.
pub(super) struct Facts<'a> {
    /// Position of the skill in the page.
    pub(super) skill: usize,
    pub(super) again: Again<'a>,
    /// The arm that the skills of the page are compared with.
    pub(super) baseline: &'static str,
    pub(super) pages: &'a CasesOfPage<'a>,
    pub(super) details: &'a [CaseDetail],
    pub(super) blocked: &'a BlockedPairs<'a>,
    /// Cases that passed whole in the other iteration and fail now.
    pub(super) new_failures: &'a HashSet<String>,
    pub(super) previous: Option<&'a str>,
    /// What the skill creator calls the runs.
    pub(super) run_ids: Option<&'a RunIds>,
}

/// One entry a case, in suite order. The chunk is filled in later.
pub(super) fn cases(facts: &Facts<'_>) -> Vec<IndexCase> {
    let analysis = facts.again.analysis;
    let mut flags: HashMap<&str, Vec<&Flag>> = HashMap::new();
    for case in &analysis.case_flags {
        flags.entry(&case.case_id).or_default().extend(case.flags.iter().map(|raised| &raised.flag));
    }
    let reasons: HashMap<usize, &[ReviewReason]> =
        analysis.inference.review_queue.iter().map(|item| (item.case, item.reasons.as_slice())).collect();
    let blocked = facts.blocked.by_case();
    let cases = analysis.inference.by_case.iter().enumerate().map(|(at, contrast)| {
        let id = contrast.case_id.as_str();
        let why = Why {
            flags: flags.get(id).map(Vec::as_slice).unwrap_or_default(),
            queued: reasons.get(&at).copied().unwrap_or_default(),
            blocked: blocked.get(id).map(String::as_str).unwrap_or_default(),
            is_new_failure: facts.new_failures.contains(id),
        };
        case(facts, contrast, &why)
    });
    cases.collect()
}

/// What is odd about a case.
struct Why<'a> {
    flags: &'a [&'a Flag],
    queued: &'a [ReviewReason],
    /// Why pairs of it are blocked; empty when none is.
    blocked: &'a str,
    is_new_failure: bool,
}

fn case(facts: &Facts<'_>, contrast: &CaseContrast, why: &Why<'_>) -> IndexCase {
    let Why { flags, queued, blocked, is_new_failure } = *why;
    let analysis = facts.again.analysis;
    let table = &analysis.table;
    let known = table.cases.get(contrast.position as usize).filter(|case| case.id == contrast.case_id);
    let page = facts.pages.get(&contrast.case_id);
    let delta = contrast.rates.as_ref().map(UnitRates::delta);
    let is_worse = queued.contains(&ReviewReason::Worse);
    let detail = facts.details.get(contrast.position as usize);
    let mut shown: Vec<(String, String, Tone)> = Vec::new();
    if is_worse {
        shown.push(("Worse with the skill".to_owned(), "the lift is below zero".to_owned(), Tone::Bad));
    }
    shown.extend(flags.iter().filter_map(|raised| flag(raised, flags, is_worse)));
    if contrast.pairing.blocked > 0 {
        shown.push(("Blocked pair".to_owned(), blocked.to_owned(), Tone::Warn));
    }
    if contrast.deferred_judgements > 0 {
        shown.push(("Waiting for a judge".to_owned(), "a judgement was not supplied".to_owned(), Tone::Warn));
    }
    // the worst first
    shown.sort_by_key(|(_, _, tone)| match tone {
        Tone::Bad => 0,
        Tone::Warn => 1,
        Tone::Plain => 2,
    });
    let queue = queued.iter().map(|reason| reason.rank()).chain(is_new_failure.then_some(NEW_FAILURE_RANK)).min();
    let rate = |paired: Option<&Rational>, alone: &Option<Rational>| paired.or(alone.as_ref()).map(rational::to_f64);
    let interval = detail.map(|detail| &detail.interval);
    let cost = detail.map(|detail| &detail.cost);
    let baseline = table.baseline.variant();
    IndexCase {
        skill: facts.skill,
        id: contrast.case_id.clone(),
        baseline: (baseline != facts.baseline).then_some(baseline),
        title: contrast.name.clone(),
        split: known.map(|case| case.split.word()),
        tags: known.map(|case| case.tags.clone()).unwrap_or_default(),
        domain: known.and_then(|case| case.domain.clone()),
        difficulty: known.and_then(|case| case.difficulty.clone()),
        intent: known.map(|case| case.eval_intent.word()),
        unstable: flags.iter().any(|flag| matches!(flag, Flag::Flaky { .. })),
        flags: shown,
        queue,
        without: rate(contrast.rates.as_ref().map(|rates| &rates.without_skill), &contrast.without_skill_alone),
        with: rate(contrast.rates.as_ref().map(|rates| &rates.with_skill), &contrast.with_skill_alone),
        lift: delta.as_ref().map(rational::to_f64),
        lift_reason: delta.is_none().then(|| match contrast.pairing.blocked {
            0 => "no pair has both arms".to_owned(),
            _ => blocked.to_owned(),
        }),
        ci: interval.and_then(|interval| interval.as_ref().ok().copied()),
        ci_reason: match interval {
            Some(Err(reason)) => Some(no_interval(*reason)),
            _ => None,
        },
        pairs: contrast.pairing.eligible,
        blocked: contrast.pairing.blocked,
        cost: cost.and_then(|cost| cost.as_ref().ok()).map(|cost| CaseCost {
            delta: rational::to_f64(&cost.mean),
            currency: cost.currency.code().to_owned(),
            n: cost.measured,
        }),
        cost_reason: cost.and_then(|cost| cost.as_ref().err()).map(|reason| reason.code().replace('_', " ")),
        reasons: reason_boxes(facts, contrast, why, delta.as_ref()),
        runs: page.map(|page| page.runs.iter().map(|run| run_cell(run, facts.run_ids)).collect()).unwrap_or_default(),
        chunk: 0,
    }
}

/// The rank of a case that passed before and fails now, in the order of the review.
const NEW_FAILURE_RANK: u32 = 6;

fn run_cell(run: &RunOfPage<'_>, run_ids: Option<&RunIds>) -> RunCell {
    let RunOfPage { row, arm, model } = *run;
    let counts = (row.is_scorable() && row.is_rated && row.objective.total > 0).then_some(row.objective);
    let (passed, total) = (counts.map(|counts| counts.passed), counts.map(|counts| counts.total));
    let id = run_ids.and_then(|ids| ids.id_of_run(&RunName::of_row(row))).map(str::to_owned);
    RunCell(arm, model, row.repetition, status(row), passed, total, row.vetoed, id)
}

/// Why a case has no interval.
fn no_interval(reason: Withheld) -> &'static str {
    match reason {
        Withheld::ConstantDeltas => "every repetition gave the same result",
        Withheld::TooFewUnits => "one pair has no interval",
        Withheld::NoEligiblePairs => "no pair has both arms",
        _ => "no interval",
    }
}

/// Why a case should be looked at, of codes and counts only.
fn reason_boxes(
    facts: &Facts<'_>,
    contrast: &CaseContrast,
    why: &Why<'_>,
    delta: Option<&Rational>,
) -> Vec<(Tone, String)> {
    let rows: Vec<_> = facts
        .pages
        .get(&contrast.case_id)
        .map(|page| page.runs.iter().map(|run| run.row).collect())
        .unwrap_or_default();
    let mut boxes = Vec::new();
    for reason in why.queued {
        boxes.push(match reason {
            ReviewReason::Critical => {
                let with: Vec<_> =
                    rows.iter().filter(|row| row.variant == WITH_SKILL && row.is_scorable()).collect();
                let failed = with.iter().filter(|row| row.vetoed).count();
                let runs = numbers::counted(with.len(), "run", "runs");
                let text = format!(
                    "A critical check failed in {failed} of {runs} with the skill. A failed critical check fails the whole run."
                );
                (Tone::Bad, text)
            }
            ReviewReason::Worse => {
                let lift = delta.map(numbers::whole_points).unwrap_or_default();
                let pairs = numbers::counted(contrast.pairing.eligible, "pair", "pairs");
                let mut text = format!("Worse with the skill: {lift} over {pairs}.");
                if let Some(lost) = delta.and_then(|delta| lost_check(facts.again.analysis, &rows, delta)) {
                    let of = |(passed, decided): (usize, usize)| format!("{passed} of {decided}");
                    let (with, without) = match facts.again.analysis.table.baseline {
                        Baseline::WithoutSkill => ("with", "without"),
                        Baseline::OldSkill => ("with the skill", "with the old skill"),
                    };
                    text.push_str(&format!(
                        " Mostly “{}”: {} {without}, {} {with}.",
                        lost.name,
                        of(lost.without_skill),
                        of(lost.with_skill)
                    ));
                }
                (Tone::Bad, text)
            }
            ReviewReason::Contaminated => {
                let text = "A run without the skill read it: the pair measures nothing.";
                (Tone::Bad, text.to_owned())
            }
            ReviewReason::Blocked => {
                let all = contrast.pairing.eligible + contrast.pairing.blocked;
                let verb = if contrast.pairing.blocked == 1 { "is" } else { "are" };
                let text = format!(
                    "{} of {} {verb} blocked: {}.",
                    contrast.pairing.blocked,
                    numbers::counted(all, "pair", "pairs"),
                    why.blocked
                );
                (Tone::Warn, text)
            }
            ReviewReason::Judge => {
                let verb = if contrast.deferred_gates == 1 { "waits" } else { "wait" };
                let checks = numbers::counted(contrast.deferred_gates as usize, "check", "checks");
                (Tone::Warn, format!("{checks} {verb} for a judge."))
            }
        });
    }
    if let (true, Some(previous)) = (why.is_new_failure, facts.previous) {
        boxes.push((Tone::Bad, format!("Passed in {previous}, fails now.")));
    }
    boxes
}

/// The cases in the order of the review: by rank, then by lift, then as in the suite. Positions in `cases`.
pub(super) fn review_order(cases: &[&IndexCase]) -> Vec<usize> {
    let mut queue: Vec<usize> = (0..cases.len()).filter(|at| cases[*at].queue.is_some()).collect();
    queue.sort_by(|a, b| {
        let lift = |at: usize| cases[at].lift.unwrap_or(f64::NEG_INFINITY);
        cases[*a].queue.cmp(&cases[*b].queue).then(lift(*a).total_cmp(&lift(*b)))
    });
    queue
}

/// How many cases are in the review for each reason, by code, with the cases of it. `cases` are those of each skill.
pub(super) fn by_reason<'i>(skills: &[(&Facts<'_>, &'i [IndexCase])]) -> BTreeMap<u32, Vec<&'i IndexCase>> {
    let mut found: BTreeMap<u32, Vec<&IndexCase>> = BTreeMap::new();
    for (facts, cases) in skills {
        for item in &facts.again.analysis.inference.review_queue {
            for reason in &item.reasons {
                found.entry(reason.rank()).or_default().extend(cases.get(item.case));
            }
        }
        for case in cases.iter().filter(|case| facts.new_failures.contains(&case.id)) {
            found.entry(NEW_FAILURE_RANK).or_default().push(case);
        }
    }
    found
}
