//! All assertions of a case, from all the places where they may stand.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::assertion::{self, Standing};
use super::remark::{Remark, cut};
use crate::json::{Node, Value, pointer};
use crate::suite::environment::Patterns;
use crate::suite::model::Assertion;

/// Keys of lists of assertions, in the order in which they are put together.
pub(super) const LISTS: [&str; 11] = [
    "assertions",
    "expectations",
    "checks",
    "expected_behavior",
    "expected_behaviors",
    "expect",
    "grader_assertions",
    "deterministic_assertions",
    "criteria",
    "rubric",
    "evaluation_criteria",
];

/// Keys of lists of what must not be.
pub(super) const NEGATIVE_LISTS: [&str; 3] = ["must_not", "forbidden", "fail"];

/// Key of the list of dimensions that are scored.
pub(super) const DIMENSIONS: &str = "graded_dimensions";

/// Most assertions of a case.
const MOST_ASSERTIONS: usize = 50_000;
/// Most assertions that a suite may declare for all cases, counted once for each case.
const MOST_COMMON: usize = 500_000;
/// Most bytes of the same, for they are kept once for each case.
const MOST_COMMON_BYTES: usize = 64 << 20;

/// Whether the assertions that a suite declares for all cases can be given to so many of them.
pub(super) fn can_share(common: &[Node<'_>], cases: usize) -> bool {
    let bytes: usize = common.iter().map(|node| node.span.end - node.span.start).sum();
    common.len().saturating_mul(cases) <= MOST_COMMON && bytes.saturating_mul(cases) <= MOST_COMMON_BYTES
}

/// Whether a case may have so many assertions.
pub(super) fn is_too_long(count: usize) -> bool {
    count > MOST_ASSERTIONS
}

/// Takes what is said about the part of a case at a JSON pointer, relative to the case.
pub(super) type Say<'s> = &'s mut dyn FnMut(&str, Remark);

/// The assertions of a case: those of the suite first, each only once, every label only once.
pub(super) fn assertions(case: &Node<'_>, common: &[Node<'_>], patterns: &Patterns, say: Say<'_>) -> Vec<Assertion> {
    let mut collected = Collected { patterns, say, seen: HashSet::new(), assertions: Vec::new() };
    for node in common {
        collected.add(node, Standing::Common, None);
    }
    for key in LISTS {
        if let Some(value) = case.get(key) {
            collected.list(key, value, Standing::Own);
        }
    }
    for key in NEGATIVE_LISTS {
        if let Some(value) = case.get(key) {
            collected.list(key, value, Standing::MustNot);
        }
    }
    if let Some(list) = case.get(DIMENSIONS).filter(|list| list.items().is_some_and(|items| !items.is_empty())) {
        let mut remarks = Vec::new();
        collected.assertions.extend(assertion::dimensions(list, &mut remarks));
        collected.tell(Some(&format!("/{DIMENSIONS}")), remarks);
    }
    with_own_labels(collected.assertions)
}

struct Collected<'c, 's> {
    patterns: &'c Patterns,
    say: Say<'s>,
    /// The entries so far as JSON, with `!` before those that must not be.
    seen: HashSet<String>,
    assertions: Vec<Assertion>,
}

impl Collected<'_, '_> {
    fn list(&mut self, key: &str, value: &Node<'_>, standing: Standing) {
        if let Some(items) = value.items() {
            for (index, item) in items.iter().enumerate() {
                self.add(item, standing, Some(&format!("/{key}/{index}")));
            }
        } else if let (Some(members), "criteria" | "rubric" | "evaluation_criteria") = (value.members(), key) {
            for member in members {
                let text = Value::String(Cow::Owned(member.value.python_str()));
                let name = Value::String(Cow::Borrowed(&*member.key));
                let entry = Node { span: member.value.span, ..assertion::object([("name", name), ("text", text)]) };
                self.add(&entry, standing, Some(&pointer::member(&format!("/{key}"), &member.key)));
            }
        } else if !value.is_null() && key != "expected_behavior" {
            let message = format!("`{key}` is no list, so that it holds no assertion: {}", cut(&value.python_repr()));
            let help = "write a list of texts";
            (self.say)(&format!("/{key}"), Remark::warning("assertions_not_a_list", value.span, message, help));
        }
    }

    /// Adds an entry. Without a pointer nothing is said about it.
    fn add(&mut self, node: &Node<'_>, standing: Standing, pointer: Option<&str>) {
        let mark = if standing == Standing::MustNot { "!" } else { "" };
        // a tree that was read can be written
        let entry = format!("{mark}{}", serde_json::to_string(node).unwrap_or_default());
        let mut remarks = Vec::new();
        if is_too_long(self.assertions.len() + 1) {
            let message = format!("the case has more than {MOST_ASSERTIONS} assertions");
            remarks.push(Remark::error("limit", node.span, message, "split the case"));
        } else if self.seen.insert(entry) {
            self.assertions.extend(assertion::read(node, standing, self.patterns, &mut remarks));
        } else {
            let message = "the same assertion stands in the case before; it counts once".to_owned();
            remarks.push(Remark::warning("repeated_assertion", node.span, message, "take one of them out"));
        }
        self.tell(pointer, remarks);
    }

    fn tell(&mut self, pointer: Option<&str>, remarks: Vec<Remark>) {
        for remark in remarks {
            if let Some(pointer) = pointer {
                (self.say)(pointer, remark);
            }
        }
    }
}

/// Labels name judge tasks and rows, so that no two assertions of a case may share one.
fn with_own_labels(mut assertions: Vec<Assertion>) -> Vec<Assertion> {
    let written: HashSet<String> = assertions.iter().map(|assertion| assertion.label.clone()).collect();
    let mut used: HashMap<String, usize> = HashMap::new();
    for assertion in &mut assertions {
        let count = used.entry(assertion.label.clone()).or_default();
        *count += 1;
        if *count == 1 {
            continue;
        }
        let label = loop {
            let label = format!("{} ({count})", assertion.label);
            if !written.contains(&label) {
                break label;
            }
            *count += 1;
        };
        assertion::relabel(assertion, label);
    }
    assertions
}
