//! Which form a file has, told by its keys.

use super::error::NearForm;
use super::form::ClaimForm;
use super::places::{first, index, is_list, items, member, members};
use super::verdicts::has_evidence;
use crate::json::Item;
use crate::runs::{Configuration, Role};

/// Keys of lists of rows.
pub(super) const LISTS: [&str; 7] = ["per_case", "evals", "results", "cases", "test_cases", "runs", "scenarios"];

/// Keys of objects with a member for each case.
pub(super) const MAPS: [&str; 6] = ["results", "scenarios", "cases", "evals", "per_eval", "per_case"];

/// Keys of lists of arms.
pub(super) const ARM_LISTS: [&str; 2] = ["configurations", "configs"];

/// Keys of objects with a mean for each arm.
pub(super) const SUMMARIES: [&str; 2] = ["run_summary", "summary"];

/// What follows the name of an arm in a key that holds the rate of the arm.
const RATE_ENDING: &str = "_pass_rate";

/// Forms that are offered when none fits.
const NEAREST: usize = 3;

/// One thing that makes a form: how to say it, and whether it is there.
type Sign = (&'static str, fn(Item<'_, '_>) -> bool);

/// The forms in the order in which they are tried; the first whose signs all hold is it.
const FORMS: &[(ClaimForm, &[Sign])] = &[
    (ClaimForm::OwnReport, &[REPORT_ROWS, ("`provenance.tool_version`", is_ours)]),
    (ClaimForm::ReferenceReport, &[REPORT_ROWS]),
    (
        ClaimForm::SkillEval,
        &[("`runs[]`", |root| is_list_at(root, "runs")), ("`overall_pass_rate`", has_overall_rates)],
    ),
    (
        ClaimForm::Forge,
        &[("`per_eval[]`", |root| is_list_at(root, "per_eval")), ("`summary`", |root| is_object_at(root, "summary"))],
    ),
    (ClaimForm::SummaryList, &[RUNS, ("`run_summary[]`", |root| is_list_at(root, "run_summary"))]),
    (
        ClaimForm::PairedRuns,
        &[RUNS, ("an object for each arm in `runs[]`", |root| root.get("runs").is_some_and(any_row_has_arms))],
    ),
    (ClaimForm::RunRecords, &[RUNS, ("`runs[].result`", |root| root.get("runs").is_some_and(has_results))]),
    (ClaimForm::FlatRuns, &[RUNS]),
    (
        ClaimForm::ConfigurationList,
        &[("`configurations[]` with `name` and rows", |root| first(root, &ARM_LISTS).is_some_and(has_arm_lists))],
    ),
    (ClaimForm::Iterations, &[("`iterations[].evaluations`", has_evaluations)]),
    (ClaimForm::TopLevelArms, &[("`with_skill` or another arm with rows", has_arms_with_rows)]),
    (ClaimForm::PairedEvals, &[("`evals[]` with an object for each arm", |root| lists(root).any(any_row_has_arms))]),
    (
        ClaimForm::CaseMap,
        &[("`results` with an object for each case and arm", |root| maps(root).any(has_arms_by_case))],
    ),
    (
        ClaimForm::OneArm,
        &[("`results[]` with a `pass_rate` or counts", |root| lists(root).any(|list| items(list).any(has_evidence)))],
    ),
    (ClaimForm::AggregateOnly, &[("`run_summary` with the mean of an arm", has_means)]),
];

const REPORT_ROWS: Sign = ("`results[]` with `case_id` and `variant`", |root| {
    let rows = root.get("results").filter(|rows| is_list(*rows));
    rows.is_some_and(|rows| root.get("paired_summary").is_some() || items(rows).any(is_report_row))
});

const RUNS: Sign = ("`runs[]` with a `pass_rate`, counts or verdicts", |root| {
    let rows = root.get("runs").filter(|rows| is_list(*rows));
    rows.is_some_and(|rows| {
        let is_empty = items(rows).next().is_none();
        if is_empty { first(root, &["run_summary", "metadata"]).is_some() } else { items(rows).any(is_row) }
    })
});

/// The form of a file, else the nearest ones.
pub(super) fn classify(root: Item<'_, '_>) -> Result<ClaimForm, Vec<NearForm>> {
    let mut near = Vec::with_capacity(FORMS.len());
    for (form, signs) in FORMS {
        let missing: Vec<_> = signs.iter().filter(|(_, holds)| !holds(root)).map(|(name, _)| *name).collect();
        if missing.is_empty() {
            return Ok(*form);
        }
        near.push((signs.len() - missing.len(), NearForm { form: *form, missing }));
    }
    // most signs found first, then fewest missing, then the order above
    near.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.missing.len().cmp(&y.missing.len())));
    Err(near.into_iter().take(NEAREST).map(|(_, form)| form).collect())
}

fn is_list_at(root: Item<'_, '_>, key: &str) -> bool {
    root.get(key).is_some_and(is_list)
}

fn is_object_at(root: Item<'_, '_>, key: &str) -> bool {
    root.get(key).is_some_and(Item::is_object)
}

fn is_report_row(row: Item<'_, '_>) -> bool {
    row.get("case_id").is_some() && row.get("variant").is_some()
}

fn is_ours(root: Item<'_, '_>) -> bool {
    root.get("provenance").is_some_and(|provenance| provenance.get("tool_version").is_some())
}

fn has_overall_rates(root: Item<'_, '_>) -> bool {
    is_object_at(root, "overall_pass_rate")
}

fn is_row(row: Item<'_, '_>) -> bool {
    has_evidence(row) || holds_arms(row)
}

fn has_results(runs: Item<'_, '_>) -> bool {
    items(runs).next().is_none() || items(runs).any(|row| is_object_at(row, "result"))
}

fn any_row_has_arms(rows: Item<'_, '_>) -> bool {
    is_list(rows) && items(rows).any(holds_arms)
}

/// Whether an entry holds arms: objects or bare rates.
pub(super) fn holds_arms(row: Item<'_, '_>) -> bool {
    arms(row).next().is_some() || arm_rates(row).next().is_some()
}

fn has_arm_lists(list: Item<'_, '_>) -> bool {
    items(list).any(|arm| arm_name(arm).is_some() && rows_of(arm).is_some())
}

fn has_evaluations(root: Item<'_, '_>) -> bool {
    root.get("iterations").is_some_and(|list| items(list).any(|iteration| is_object_at(iteration, "evaluations")))
}

fn has_arms_with_rows(root: Item<'_, '_>) -> bool {
    arms(root).any(|(_, arm)| rows_of(arm).is_some_and(|(_, rows)| items(rows).any(has_evidence)))
        || arms(root).any(|(_, arm)| has_evidence(arm)) && maps(root).any(has_arms_by_case)
}

fn has_arms_by_case(map: Item<'_, '_>) -> bool {
    members(map).any(|(_, row)| holds_arms(row))
}

fn has_means(root: Item<'_, '_>) -> bool {
    SUMMARIES
        .iter()
        .filter_map(|key| root.get(key))
        .any(|summary| arms(summary).any(|(_, arm)| mean(arm, "").is_some()))
}

fn lists<'t, 'a>(root: Item<'t, 'a>) -> impl Iterator<Item = Item<'t, 'a>> {
    LISTS.into_iter().filter_map(move |key| root.get(key)).filter(|list| is_list(*list))
}

fn maps<'t, 'a>(root: Item<'t, 'a>) -> impl Iterator<Item = Item<'t, 'a>> {
    MAPS.into_iter().filter_map(move |key| root.get(key)).filter(|map| map.is_object())
}

/// The list of rows of an arm, with its key.
pub(super) fn rows_of<'t, 'a>(arm: Item<'t, 'a>) -> Option<(&'static str, Item<'t, 'a>)> {
    LISTS.into_iter().find_map(|key| Some((key, arm.get(key).filter(|list| is_list(*list))?)))
}

/// The name of an arm in a list of arms.
pub(super) fn arm_name(arm: Item<'_, '_>) -> Option<String> {
    super::places::text_of(arm, &["name", "configuration", "config"])
}

/// The members of a row that are arms, with their keys.
pub(super) fn arms<'t, 'a: 't>(row: Item<'t, 'a>) -> impl Iterator<Item = (String, Item<'t, 'a>)> {
    let objects = members(row).filter(|(_, value)| value.is_object());
    let is_arm = |key: &str, value| match Configuration::parse(key).role {
        Role::Other => false,
        // under this key the skill itself may be described
        _ => key != "skill" || has_evidence(value),
    };
    objects.filter(move |(key, value)| is_arm(key, *value)).map(|(key, value)| (key.into_owned(), value))
}

/// The members of a row that are the bare rate of an arm (`with_skill_pass_rate`), with the name of the arm and the key.
pub(super) fn arm_rates<'t, 'a: 't>(row: Item<'t, 'a>) -> impl Iterator<Item = (String, String, Item<'t, 'a>)> {
    members(row).filter_map(|(key, value)| {
        let arm = key.strip_suffix(RATE_ENDING)?;
        let is_arm = Configuration::parse(arm).role != Role::Other && arm != "skill";
        is_arm.then(|| (arm.to_owned(), key.clone().into_owned(), value))
    })
}

/// The stated mean rate of an arm, with its pointer.
pub(super) fn mean<'t, 'a>(arm: Item<'t, 'a>, pointer: &str) -> Option<(Item<'t, 'a>, String)> {
    const MEANS: [&str; 4] = ["pass_rate", "mean_pass_rate", "overall_pass_rate", "mean_objective_pass_rate"];
    let (key, value) = MEANS.into_iter().find_map(|key| Some((key, arm.get(key)?)))?;
    let pointer = member(pointer, key);
    match value.get("mean") {
        Some(mean) => Some((mean, member(&pointer, "mean"))),
        None => Some((value, pointer)),
    }
}

/// The entry of the last iteration that has evaluations, with its pointer and how many stand before it.
pub(super) fn last_iteration<'t, 'a>(root: Item<'t, 'a>) -> Option<(Item<'t, 'a>, String, usize)> {
    let list = root.get("iterations")?;
    let with_rows = items(list).enumerate().filter(|(_, iteration)| is_object_at(*iteration, "evaluations"));
    let (count, (at, iteration)) = with_rows.enumerate().last()?;
    Some((iteration, index("/iterations", at), count))
}
