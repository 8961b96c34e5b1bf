//! What a report says of versions of the skill that lack a part. It is shown as it is stated: a verdict that a
//! statistician would give stands in `inference.ablations`, and goes before that of the reference package.

use std::collections::HashMap;

use super::super::figures;
use super::super::places::{items, members, text_of};
use crate::json::Item;

/// Ablations that are kept.
const MOST: usize = 200;
/// Entries of a list of an ablation that are kept.
const MOST_ENTRIES: usize = 100;
/// Code points of a text that is kept.
const MOST_CHARACTERS: usize = 600;
/// Names of one part that are kept.
const MOST_NAMES: usize = 4;
/// What the arm of an ablation begins with.
const ARM: &str = "ablation:";

/// A version of the skill that lacks a part.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedAblation {
    /// Its id.
    pub id: String,
    /// What was removed: how it was found, and what it is; empty where no run says so.
    pub removed: Vec<(String, String)>,
    /// Whether anything was measured.
    pub is_measured: bool,
    /// Runs without the part, and those of them that have no answer or failed.
    pub runs: (u32, u32),
    /// Why its regressions prove nothing, if something is wrong with all of them.
    pub note: Option<String>,
    /// What its author expected to get worse.
    pub regressions: Vec<SavedRegression>,
}

/// What an author expected to get worse without a part, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedRegression {
    /// The expectation.
    pub summary: String,
    /// The cases that were to show it.
    pub cases: Vec<String>,
    /// What was found.
    pub verdict: RegressionVerdict,
    /// The smallest p-value of its cases, or the one of its test.
    pub p: Option<f64>,
    /// Why it is so.
    pub note: Option<String>,
}

/// What was found of an expected regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegressionVerdict {
    /// Results got worse without the part.
    Confirmed,
    /// They did not.
    NotConfirmed,
    /// What was measured does not tell.
    NoEvidence,
}

/// The ablations of a report; an entry that cannot be read is passed over, since nothing is counted by it.
pub(super) fn read(root: Item<'_, '_>) -> Vec<SavedAblation> {
    let inferred = root.get("inference").and_then(|inference| inference.get("ablations"));
    let removed = removed_parts(root);
    let read_one = |entry, verdicts, id: String| {
        let removed = removed.get(&id).cloned().unwrap_or_default();
        ablation(entry, verdicts, removed, id)
    };
    let find =
        |id: &str| inferred.into_iter().flat_map(items).find(|entry| text_of(*entry, &["id"]).as_deref() == Some(id));
    let stated = root.get("ablation_regressions");
    let mut ablations: Vec<SavedAblation> = stated
        .into_iter()
        .flat_map(items)
        .filter_map(|entry| {
            let id = text_of(entry, &["id"])?;
            Some(read_one(entry, find(&id), id))
        })
        .take(MOST)
        .collect();
    // what only the block of inference knows
    for entry in inferred.into_iter().flat_map(items) {
        let Some(id) = text_of(entry, &["id"]) else { continue };
        if ablations.len() < MOST && ablations.iter().all(|known| known.id != id) {
            ablations.push(read_one(entry, Some(entry), id));
        }
    }
    ablations
}

fn ablation(
    entry: Item<'_, '_>,
    inferred: Option<Item<'_, '_>>,
    removed: Vec<(String, String)>,
    id: String,
) -> SavedAblation {
    let count = |key: &str| {
        let arm = entry.get("coverage").and_then(|coverage| coverage.get("ablation"));
        let count = arm.and_then(|arm| arm.get(key)).and_then(figures::count).unwrap_or_default();
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    let regressions = |entry: Item<'_, '_>| -> Vec<SavedRegression> {
        let list = entry.get("regressions").into_iter().flat_map(items);
        list.filter_map(regression).take(MOST_ENTRIES).collect()
    };
    let mut found = regressions(entry);
    if let Some(inferred) = inferred {
        let verdicts = regressions(inferred);
        match verdicts.is_empty() {
            false => verdicts.into_iter().for_each(|verdict| replace(&mut found, verdict)),
            // one verdict for the ablation as a whole
            true => found.extend(whole(inferred).filter(|_| found.is_empty())),
        }
    }
    SavedAblation {
        removed,
        is_measured: text_of(entry, &["status"]).as_deref() != Some("unmeasured"),
        runs: (count("runs"), count("missing").saturating_add(count("errored"))),
        note: short(entry, &["provenance_note", "note"]),
        regressions: found,
        id,
    }
}

/// Puts a verdict in the place of that of the same expectation.
fn replace(list: &mut Vec<SavedRegression>, verdict: SavedRegression) {
    match list.iter_mut().find(|known| known.summary == verdict.summary && known.cases == verdict.cases) {
        Some(known) => *known = verdict,
        None => list.push(verdict),
    }
}

fn regression(item: Item<'_, '_>) -> Option<SavedRegression> {
    let cases = item.get("cases").into_iter().flat_map(items).filter_map(Item::as_str);
    let p = item.get("significance").and_then(|found| found.get("min_p_value"));
    Some(SavedRegression {
        summary: short(item, &["summary"])?,
        cases: cases.map(|case| case.into_owned()).take(MOST_ENTRIES).collect(),
        verdict: verdict(item),
        p: p.or_else(|| p_of(item)).and_then(probability),
        note: short(item, &["note"]),
    })
}

/// The verdict over an ablation that lists no expectation.
fn whole(item: Item<'_, '_>) -> Option<SavedRegression> {
    item.get("verdict")?;
    Some(SavedRegression {
        summary: String::new(),
        cases: Vec::new(),
        verdict: verdict(item),
        p: p_of(item).and_then(probability),
        note: short(item, &["note"]),
    })
}

/// The adjusted p-value goes before the plain one.
fn p_of<'t, 'a>(item: Item<'t, 'a>) -> Option<Item<'t, 'a>> {
    ["p_holm", "p_adjusted", "p_value", "p"].iter().find_map(|key| item.get(key).filter(|value| !value.is_null()))
}

fn probability(item: Item<'_, '_>) -> Option<f64> {
    item.as_number().map(|number| number.as_f64()).filter(|p| (0.0..=1.0).contains(p))
}

fn verdict(item: Item<'_, '_>) -> RegressionVerdict {
    match text_of(item, &["verdict", "evidence_class"]).as_deref() {
        Some("confirmed" | "confirmed_causal") => RegressionVerdict::Confirmed,
        Some("refuted_equivalent" | "refuted") => RegressionVerdict::NotConfirmed,
        _ => RegressionVerdict::NoEvidence,
    }
}

/// What the runs of each ablation lacked, as the first one says that says so: how each part was found, and its name.
fn removed_parts(root: Item<'_, '_>) -> HashMap<String, Vec<(String, String)>> {
    let mut parts: HashMap<String, Vec<(String, String)>> = HashMap::new();
    for row in root.get("results").into_iter().flat_map(items) {
        let Some(variant) = row.get("variant").and_then(Item::as_str) else { continue };
        let Some(id) = variant.strip_prefix(ARM).filter(|id| parts.len() < MOST && !parts.contains_key(*id)) else {
            continue;
        };
        let ablation = row.get("metadata").and_then(|metadata| metadata.get("ablation"));
        if let Some(components) = ablation.and_then(|ablation| ablation.get("components")) {
            parts.insert(id.to_owned(), items(components).filter_map(part).take(MOST_ENTRIES).collect());
        }
    }
    parts
}

fn part(component: Item<'_, '_>) -> Option<(String, String)> {
    let how = short(component, &["mechanism", "class"])?;
    let names = component.get("target").into_iter().flat_map(members).filter_map(|(_, value)| value.as_str());
    let names: Vec<String> = names.map(|name| cut(&name)).take(MOST_NAMES).collect();
    Some((how, names.join(", ")))
}

fn short(item: Item<'_, '_>, keys: &[&str]) -> Option<String> {
    text_of(item, keys).map(|text| cut(&text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
