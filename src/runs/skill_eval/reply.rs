//! The grader's answer as it is written: which lists of verdicts stand in it.

use std::collections::HashMap;
use std::hash::Hash;

use super::spans::try_spans;
use crate::json::{self, JsonErrorKind, Node};

/// What a verdict says it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerdictKey {
    /// Position of the assertion, from 1.
    Id(u64),
    /// The text of the assertion, or one like it.
    Text,
    /// Neither can be read.
    Nothing,
}

/// One verdict as it is written.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// What it is about.
    pub key: VerdictKey,
    /// The text that it repeats.
    pub text: Option<String>,
    /// `true` or `false`; `None` for anything else.
    pub passed: Option<bool>,
    /// Why; empty when it is no string.
    pub evidence: String,
    /// Whether the id was written as a string or a float.
    pub odd_id: bool,
}

/// One list of verdicts.
#[derive(Debug, Clone, Default)]
pub struct VerdictList {
    /// The verdicts in order.
    pub verdicts: Vec<Verdict>,
    /// Whether it stood there without an object around it.
    pub bare: bool,
}

/// Every list of verdicts of an answer: the one of the whole text if it is one value, else all that stand in it.
pub fn verdict_lists(text: &str) -> Vec<VerdictList> {
    let whole = text.trim();
    if let Some(node) = value(whole) {
        let list = list_of(&node);
        if list.is_some() || node.members().is_some() {
            return list.into_iter().collect();
        }
    }
    let mut lists = Vec::new();
    try_spans(whole, &["verdicts", "expectations"], |span| {
        let list = value(span).and_then(|node| list_of(&node));
        let found = list.is_some();
        lists.extend(list);
        found
    });
    if lists.is_empty() {
        // no object: a list may stand in a fenced block
        lists.extend(fenced_blocks(whole).filter_map(|block| bare_list(&value(block)?)));
    }
    lists
}

/// A value as models write it: half of a character that was cut in two spoils the evidence, not the verdict.
fn value(text: &str) -> Option<Node<'_>> {
    match json::parse(text, json::Limits::SIDECAR) {
        Ok(node) => Some(node),
        Err(error) if error.kind == JsonErrorKind::LoneSurrogate && text.len() <= MOST_REPAIRED => {
            let document = json::read(text, json::Limits::SIDECAR);
            let harmless = document.errors.iter().all(|error| error.kind == JsonErrorKind::LoneSurrogate);
            document.root.filter(|_| harmless)
        }
        Err(_) => None,
    }
}

/// Longest text that is read in spite of broken characters; each costs memory while it is read.
const MOST_REPAIRED: usize = 1024 * 1024;

fn fenced_blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|block| {
        let block = block.trim_start();
        block.strip_prefix("json").unwrap_or(block).trim()
    })
}

fn list_of(node: &Node<'_>) -> Option<VerdictList> {
    if node.members().is_none() {
        return bare_list(node);
    }
    let items = match node.get("verdicts") {
        Some(verdicts) => verdicts.items()?,
        None => node.get("expectations")?.items()?,
    };
    Some(VerdictList { verdicts: items.iter().filter_map(verdict).collect(), bare: false })
}

/// A list without an object around it, when every item of it is a verdict.
fn bare_list(node: &Node<'_>) -> Option<VerdictList> {
    let items = node.items().filter(|items| !items.is_empty())?;
    let valid = |verdict: &Verdict| verdict.key != VerdictKey::Nothing && verdict.passed.is_some();
    let verdicts: Option<Vec<Verdict>> = items.iter().map(|item| verdict(item).filter(valid)).collect();
    Some(VerdictList { verdicts: verdicts?, bare: true })
}

fn verdict(node: &Node<'_>) -> Option<Verdict> {
    node.members()?;
    let (id, odd_id) = match node.get("id") {
        Some(id) => (exact_id(id), exact_id(id).is_none()),
        None => (None, false),
    };
    let id = id.or_else(|| node.get("id").and_then(lenient_id));
    let text = super::field::text(node, "text");
    let key = match (id, &text) {
        (Some(id), _) => VerdictKey::Id(id),
        (None, Some(_)) => VerdictKey::Text,
        (None, None) => VerdictKey::Nothing,
    };
    Some(Verdict {
        odd_id: odd_id && id.is_some(),
        key,
        text,
        passed: super::field::boolean(node, "passed"),
        evidence: super::field::text(node, "evidence").unwrap_or_default(),
    })
}

fn exact_id(node: &Node<'_>) -> Option<u64> {
    u64::try_from(node.as_number()?.as_i64()?).ok()
}

/// `"2"` and `2.0`.
fn lenient_id(node: &Node<'_>) -> Option<u64> {
    if let Some(text) = node.as_str() {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        return if digits { text.parse().ok() } else { None };
    }
    let value = node.as_number()?.as_f64();
    // ids are positions: far below the size from which a float skips whole numbers
    let integral = value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value);
    integral.then_some(value as u64)
}

/// The text of an assertion without the number that a grader may put before it.
pub fn without_number(text: &str) -> &str {
    let text = text.trim();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == text.len() {
        return text;
    }
    rest.strip_prefix(['.', ')']).map_or(text, str::trim)
}

/// What a list says about one assertion.
#[derive(Clone, Copy)]
pub struct Judgement<'a> {
    /// The first verdict that is true or false.
    pub first: Option<(&'a Verdict, bool)>,
    /// Whether another one says the opposite.
    pub conflict: bool,
}

/// The verdicts of a list by what they are about.
pub struct VerdictIndex<'a> {
    by_id: HashMap<u64, Judgement<'a>>,
    by_text: HashMap<&'a str, Judgement<'a>>,
    by_normalised: HashMap<&'a str, Judgement<'a>>,
}

impl<'a> VerdictIndex<'a> {
    /// Indexes a list.
    pub fn of(list: &'a VerdictList) -> Self {
        let mut index = Self { by_id: HashMap::new(), by_text: HashMap::new(), by_normalised: HashMap::new() };
        for verdict in &list.verdicts {
            if let VerdictKey::Id(id) = verdict.key {
                add(&mut index.by_id, id, verdict);
            }
            if let Some(text) = &verdict.text {
                add(&mut index.by_text, text, verdict);
                add(&mut index.by_normalised, without_number(text), verdict);
            }
        }
        index
    }

    /// What is said of an assertion: by its position, else by its text, else by its text without numbers.
    pub fn about(&self, position: u64, text: &str) -> Option<Judgement<'a>> {
        let found = self.by_id.get(&position).or_else(|| self.by_text.get(text));
        found.or_else(|| self.by_normalised.get(without_number(text))).copied()
    }
}

fn add<'a, K: Eq + Hash>(index: &mut HashMap<K, Judgement<'a>>, key: K, verdict: &'a Verdict) {
    let judgement = index.entry(key).or_insert(Judgement { first: None, conflict: false });
    match (judgement.first, verdict.passed) {
        (None, Some(passed)) => judgement.first = Some((verdict, passed)),
        (Some((_, first)), Some(passed)) => judgement.conflict |= first != passed,
        (_, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_before_a_text_are_dropped_once() {
        assert_eq!(without_number("2) Has no chore entries. "), "Has no chore entries.");
        assert_eq!(without_number("1. 2. x"), "2. x");
        assert_eq!(without_number("404 is returned"), "404 is returned");
        assert_eq!(without_number("42"), "42");
    }

    #[test]
    fn ids_as_strings_and_floats_are_read_with_a_mark() {
        let list = &verdict_lists(
            r#"{"verdicts": [{"id": "2", "passed": true}, {"id": 3.0, "passed": false}, {"id": true, "passed": true}, {"id": 1.5, "passed": true}, {"id": "-1"}]}"#,
        )[0];
        let keys: Vec<_> = list.verdicts.iter().map(|verdict| (verdict.key.clone(), verdict.odd_id)).collect();
        assert_eq!(
            keys,
            [
                (VerdictKey::Id(2), true),
                (VerdictKey::Id(3), true),
                (VerdictKey::Nothing, false),
                (VerdictKey::Nothing, false),
                (VerdictKey::Nothing, false)
            ]
        );
    }

    #[test]
    fn a_bare_array_counts_when_every_item_is_a_verdict() {
        assert_eq!(verdict_lists(r#"[{"id": 1, "passed": true}]"#)[0].verdicts.len(), 1);
        assert_eq!(verdict_lists("```json\n[{\"id\": 1, \"passed\": true}]\n```")[0].verdicts.len(), 1);
        assert!(verdict_lists(r#"[{"id": 1, "passed": "yes"}]"#).is_empty());
        assert!(verdict_lists("[]").is_empty());
    }

    #[test]
    fn half_a_character_spoils_no_verdict() {
        let list = &verdict_lists(r#"{"verdicts": [{"id": 1, "passed": true, "evidence": "cut \ud83d"}]}"#)[0];
        assert_eq!(list.verdicts[0].evidence, "cut \u{fffd}");
        // the same key twice contradicts itself
        assert!(verdict_lists(r#"{"verdicts": [{"id": 1, "passed": true, "passed": false}]}"#).is_empty());
    }
}
