//! What a result file states beside its rows: names, means, differences, digests, flags.

use std::collections::BTreeMap;

use super::figures::{self, Figure};
use super::form::ClaimForm;
use super::model::{ClaimedAggregate, ClaimedFlag, PublishedDelta};
use super::note::{NoteCode, Notes};
use super::places::{index, items, member, members, text_of};
use super::shape::{self, ARM_LISTS, SUMMARIES};
use super::verdicts::plain;
use crate::json::Item;
use crate::runs::Configuration;
use crate::runs::workspace::OWN_KEY;

/// Where our own exports state the lift.
pub(super) const OWN_LIFT: &str = "/skill_lift/lift";

/// Differences that are kept of one file.
const MOST_DELTAS: usize = 100;

/// How deep objects of differences are followed.
const DELTA_DEPTH: usize = 3;

/// Texts that make two files like for like, at top level or in `metadata`.
const BLOCKS: [&str; 8] =
    ["manifest", "population", "skill_path", "agent", "model", "executor_model", "grader_model", "analyzer_model"];

/// The skill that a file names, unless it is a placeholder.
pub(super) fn skill_name(root: Item<'_, '_>) -> Option<String> {
    stated(root, "skill_name").filter(|name| !is_placeholder(name))
}

/// The iteration that a file names.
pub(super) fn iteration(root: Item<'_, '_>) -> Option<u64> {
    homes(root).find_map(|home| home.get("iteration").and_then(figures::count))
}

/// The file itself and its metadata.
fn homes<'t, 'a>(root: Item<'t, 'a>) -> impl Iterator<Item = Item<'t, 'a>> {
    [Some(root), root.get("metadata")].into_iter().flatten()
}

fn stated(root: Item<'_, '_>, key: &str) -> Option<String> {
    homes(root).find_map(|home| text_of(home, &[key]))
}

/// `<model-name>`, which a tool leaves for a person to fill in.
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    text.len() > 2 && text.starts_with('<') && text.ends_with('>')
}

/// Notes placeholders among the names of a file.
pub(super) fn note_placeholders(root: Item<'_, '_>, notes: &mut Notes) {
    for (parent, home) in [("", Some(root)), ("/metadata", root.get("metadata"))] {
        for (key, value) in home.into_iter().flat_map(members) {
            if let Some(text) = value.as_str().filter(|text| is_placeholder(text)) {
                notes.add(NoteCode::Placeholders, &member(parent, &key), || text.into_owned());
            }
        }
    }
}

/// The runs that a file says each configuration had of each case.
pub(super) fn runs_per_configuration(root: Item<'_, '_>) -> Option<(u64, &'static str)> {
    let keys = ["runs_per_configuration", "runs_per_eval"];
    let found = |key: &'static str| Some((homes(root).find_map(|home| home.get(key))?, key));
    let (value, key) = keys.into_iter().find_map(found)?;
    Some((figures::count(value)?, key))
}

/// The differences that a file publishes.
pub(super) fn deltas(root: Item<'_, '_>) -> Vec<PublishedDelta> {
    let mut deltas = Vec::new();
    let mut at = |item: Option<Item<'_, '_>>, name: &str, pointer: &str| {
        if let Some(item) = item {
            collect(item, name, pointer, 0, &mut deltas);
        }
    };
    for key in SUMMARIES {
        let summary = root.get(key);
        at(summary.and_then(|summary| summary.get("delta")), "", &format!("/{key}/delta"));
    }
    at(root.get("delta"), "", "/delta");
    let paired = root.get("paired_summary");
    at(paired.and_then(|paired| paired.get("absolute_delta")), "objective_pass_rate", "/paired_summary/absolute_delta");
    let comparison = root.get("comparison");
    at(comparison.and_then(|comparison| comparison.get("delta")), "pass_rate", "/comparison/delta");
    if let Some((iteration, pointer, _)) = shape::last_iteration(root) {
        let summary = iteration.get("summary");
        let delta = summary.and_then(|summary| summary.get("pass_rate_delta"));
        at(delta, "pass_rate", &format!("{pointer}/summary/pass_rate_delta"));
    }
    // our own exports say beside the difference of two columns what the lift is
    if let Some(lift) = root.get(OWN_KEY).and_then(|own| own.get("lift")) {
        deltas.retain(|delta| delta.metric != "pass_rate");
        collect(lift, "pass_rate", OWN_LIFT, 0, &mut deltas);
    }
    deltas
}

fn collect(item: Item<'_, '_>, name: &str, pointer: &str, depth: usize, deltas: &mut Vec<PublishedDelta>) {
    if item.is_object() && depth < DELTA_DEPTH {
        for (key, value) in members(item) {
            let inner = if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
            collect(value, &inner, &member(pointer, &key), depth + 1, deltas);
        }
    } else if let Some(text) = plain(item)
        && deltas.len() < MOST_DELTAS
    {
        deltas.push(PublishedDelta { metric: name.to_owned(), text, pointer: pointer.to_owned() });
    }
}

/// The means that a file states of its arms.
pub(super) fn aggregates(root: Item<'_, '_>) -> Vec<ClaimedAggregate> {
    let mut found = Vec::new();
    let mut add = |name: &str, rate: Item<'_, '_>, pointer: String| found.push(aggregate(name, rate, pointer));
    for key in SUMMARIES {
        let Some(summary) = root.get(key) else {
            continue;
        };
        let parent = member("", key);
        for (name, arm) in members(summary).filter(|(name, _)| !matches!(&**name, "delta" | "cost_efficiency")) {
            if let Some((rate, pointer)) = arm.is_object().then(|| shape::mean(arm, &member(&parent, &name))).flatten()
            {
                add(&name, rate, pointer);
            }
        }
        listed(summary, &parent, &mut add);
    }
    for key in ARM_LISTS {
        listed_arms(root, key, &mut add);
    }
    for (name, arm) in shape::arms(root) {
        if let Some((rate, pointer)) = shape::mean(arm, &member("", &name)) {
            add(&name, rate, pointer);
        }
    }
    for (name, rate) in root.get("overall_pass_rate").into_iter().flat_map(members) {
        add(&name, rate, member("/overall_pass_rate", &name));
    }
    if let Some((iteration, parent, _)) = shape::last_iteration(root) {
        for (key, rate) in iteration.get("summary").into_iter().flat_map(members) {
            let arm = key.strip_prefix("pass_rate_").and_then(|key| key.strip_suffix("_mean"));
            if let Some(arm) = arm {
                add(arm, rate, member(&format!("{parent}/summary"), &key));
            }
        }
    }
    found
}

fn aggregate(name: &str, rate: Item<'_, '_>, pointer: String) -> ClaimedAggregate {
    let (rate, decimals) = match figures::rate(rate) {
        Figure::Share(value, decimals) => (Some(value), decimals),
        Figure::Counts(passed, total) => (Some(skill_lift_stats::rational::rate(passed, total)), u32::MAX),
        Figure::Null | Figure::Unreadable(_) => (None, 0),
    };
    ClaimedAggregate { configuration: Configuration::parse(name), rate, decimals: decimals.min(400), pointer }
}

/// A summary that is a list of arms.
fn listed(summary: Item<'_, '_>, parent: &str, add: &mut impl FnMut(&str, Item<'_, '_>, String)) {
    for (at, arm) in items(summary).enumerate() {
        if let (Some(name), Some((rate, pointer))) = (shape::arm_name(arm), shape::mean(arm, &index(parent, at))) {
            add(&name, rate, pointer);
        }
    }
}

/// Arms of a list, each with its own mean or a summary that has it.
fn listed_arms(root: Item<'_, '_>, key: &str, add: &mut impl FnMut(&str, Item<'_, '_>, String)) {
    for (at, arm) in root.get(key).into_iter().flat_map(items).enumerate() {
        let Some(name) = shape::arm_name(arm) else {
            continue;
        };
        let pointer = index(&member("", key), at);
        let own = shape::mean(arm, &pointer);
        let inner = || shape::mean(arm.get("summary")?, &member(&pointer, "summary"));
        if let Some((rate, pointer)) = own.or_else(inner) {
            add(&name, rate, pointer);
        }
    }
}

/// Whether the file states token use as a sum over all runs.
pub(super) fn states_usage(root: Item<'_, '_>) -> bool {
    let usage = [root.get("summary"), Some(root)].into_iter().flatten().find_map(|home| home.get("usage"));
    let has_count = |usage: Item<'_, '_>, keys: &[&str]| {
        super::places::first(usage, keys).and_then(figures::count).is_some_and(|count| count > 0)
    };
    usage.is_some_and(|usage| {
        has_count(usage, &["input_tokens", "input"]) || has_count(usage, &["output_tokens", "output"])
    })
}

/// The flags that a report puts on cases.
pub(super) fn flags(root: Item<'_, '_>) -> Vec<ClaimedFlag> {
    let cases = root.get("case_flags").into_iter().flat_map(items);
    let flags = cases.filter_map(|case| Some((plain(case.get("case_id")?)?, case.get("flags")?)));
    flags
        .flat_map(|(case, flags)| {
            let texts = items(flags).filter_map(Item::as_str);
            texts.map(move |flag| ClaimedFlag { case: case.clone(), flag: flag.into_owned() }).collect::<Vec<_>>()
        })
        .collect()
}

/// What has to be equal for two files to be like for like.
pub(super) fn blocks(root: Item<'_, '_>, form: ClaimForm) -> BTreeMap<String, String> {
    let named = BLOCKS.iter().filter_map(|key| Some(((*key).to_owned(), stated(root, key)?)));
    let mut blocks: BTreeMap<_, _> = named.filter(|(_, text)| !is_placeholder(text)).collect();
    if form == ClaimForm::OwnReport {
        for (key, value) in root.get("provenance").into_iter().flat_map(members) {
            match &*key {
                "options" => {
                    blocks.extend(members(value).map(|(name, value)| (format!("options.{name}"), whole(value))))
                }
                // what was left out or not built yet is no condition of the measurement
                "blocks_missing" | "duplicates_dropped" | "unmatched_judge_results" | "incomplete_judge_results" => {}
                // what is not stated is equal to nothing
                _ if value.is_null() => {}
                _ => drop(blocks.insert(key.to_string(), whole(value))),
            }
        }
    }
    blocks
}

fn whole(value: Item<'_, '_>) -> String {
    plain(value).unwrap_or_else(|| value.text().to_owned())
}
