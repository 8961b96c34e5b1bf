//! One case of an open suite.

use std::cell::RefCell;
use std::collections::HashMap;

use skill_lift_text::python;

use super::assertion::key_text;
use super::collect::{self, DIMENSIONS, LISTS, NEGATIVE_LISTS, Say};
use super::container::{PROMPT_KEYS, prompt};
use super::remark::{Remark, cut};
use crate::json::{Node, Value, pointer};
use crate::suite::environment::Patterns;
use crate::suite::model::{Case, Dialect, Split};
use crate::suite::{shape, suggest};

/// Keys of a case that are read or kept as they are, beside those of prompts and assertions.
const KNOWN: [&str; 42] = [
    "id",
    "eval_id",
    "name",
    "eval_name",
    "expected_output",
    "ground_truth",
    "files",
    "input_files",
    "should_trigger",
    "expected_trigger",
    "skill",
    "target_skill",
    "expected_skill",
    "acceptable_skills",
    "trap",
    "kind",
    "category",
    "tags",
    "difficulty",
    "domain",
    "mode",
    "role",
    "suite",
    "command",
    "archetype",
    "project_class",
    "type",
    "language",
    "split",
    "expected_script",
    "expected_workflow",
    "expected_test",
    "expected_references",
    "key_signal",
    "notes",
    "note",
    "_note",
    "fixture",
    "repo",
    "repo_branch",
    "app_description",
    "num_expectations",
];

/// Keys of labels that become tags `key:value`.
const LABELS: [&str; 12] = [
    "kind",
    "trap",
    "mode",
    "role",
    "suite",
    "command",
    "archetype",
    "type",
    "language",
    "skill",
    "target_skill",
    "expected_skill",
];

/// A label with more characters is a description and no slice.
const LABEL_CHARACTERS: usize = 60;

/// What a case is read with.
pub(super) struct CaseReader<'c, 'a> {
    pub(super) dialect: Dialect,
    pub(super) patterns: &'c Patterns,
    /// Assertions that the suite declares for all cases.
    pub(super) common: &'c [Node<'a>],
    /// Whether the case stands in a list of queries.
    pub(super) is_query: bool,
    pub(super) meant_lists: MeantLists,
}

impl CaseReader<'_, '_> {
    /// Reads a case with a given id.
    pub(super) fn read(&self, node: &Node<'_>, id: String, say: Say<'_>) -> Case {
        let text = |keys: &[&str]| keys.iter().find_map(|key| node.get(key)?.as_str()).map(str::to_owned);
        let found = prompt(node);
        let assertions = collect::assertions(node, self.common, self.patterns, say);
        let expects_no_skill = node.get("expected_skill").is_some_and(Node::is_null).then_some(false);
        let written_trigger = node.get("should_trigger").and_then(Node::as_bool).or(expects_no_skill);
        let is_query = self.is_query
            || written_trigger.is_some()
            || node.get("expected_trigger").is_some()
            || found.is_some_and(|(key, _)| key == "query");
        check_trigger(node, say);
        check_count(node, assertions.len(), say);
        check_keys(node, &self.meant_lists, say);
        let expected = text(&["expected_output", "ground_truth", "expected_behavior"]);
        Case {
            name: text(&["name", "eval_name"]),
            split: read_split(node, say),
            kind: if is_query && assertions.is_empty() { "trigger" } else { "behavior" }.to_owned(),
            domain: text(&["domain", "category"]),
            difficulty: text(&["difficulty"]),
            tags: tags(node),
            prompt: found.map(|(_, prompt)| prompt.to_owned()),
            files: read_files(node, say),
            assertions,
            // what a judge sees of it
            expected_behavior: expected.iter().cloned().collect(),
            expected_output: expected,
            // every program that reads eval sets of the forge takes an absent key for `true`
            should_trigger: written_trigger.or((self.dialect == Dialect::SkillForge).then_some(true)),
            span: node.span,
            ..Case::named(id)
        }
    }
}

/// The id of a case as a text, and its key; `None` when it has none.
///
/// # Errors
/// An id that is neither a number nor a text.
pub(super) fn written_id<'n, 'a>(node: &'n Node<'a>) -> Result<Option<(String, &'n Node<'a>)>, Remark> {
    let Some(id) = ["id", "eval_id"].into_iter().filter_map(|key| node.get(key)).find(|id| !id.is_null()) else {
        return Ok(None);
    };
    match &id.value {
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            let message = format!("the id is neither a number nor a text: {}", cut(&id.python_repr()));
            Err(Remark::error("case-id", id.span, message, "write a number or a short text"))
        }
        _ => Ok(key_text(id).map(|text| (text, id))),
    }
}

/// Why an id cannot name the folder of the runs of its case.
pub(super) fn id_problem(id: &str) -> Option<&'static str> {
    if id.split('/').any(|part| matches!(part, "" | "." | "..")) {
        Some("has an empty path component, `.` or `..`")
    } else if id.contains('\\') || id.chars().any(char::is_control) {
        Some("holds a backslash or a control character")
    } else {
        None
    }
}

fn check_trigger(node: &Node<'_>, say: Say<'_>) {
    if let Some(value) = node.get("should_trigger").filter(|value| value.as_bool().is_none() && !value.is_null()) {
        let message = format!("should_trigger is neither true nor false: {}", cut(&value.python_repr()));
        say("/should_trigger", Remark::error("should-trigger", value.span, message, "write true or false"));
    }
}

fn check_count(node: &Node<'_>, count: usize, say: Say<'_>) {
    if let Some(value) = node.get("num_expectations")
        && shape::count(value) != Some(count as u64)
    {
        let message = format!("num_expectations says {}, the case has {count}", cut(&value.python_repr()));
        let help = "correct the number, or look for the assertions that are missing";
        say("/num_expectations", Remark::warning("expectation_count", value.span, message, help));
    }
}

/// What unknown keys of lists were meant to be: the list of assertions that each of them is taken for, if any.
#[derive(Default)]
pub(super) struct MeantLists(RefCell<HashMap<String, Option<&'static str>>>);

impl MeantLists {
    fn of(&self, key: &str) -> Option<&'static str> {
        if let Some(meant) = self.0.borrow().get(key) {
            return *meant;
        }
        let lists: Vec<&'static str> = LISTS.into_iter().chain(NEGATIVE_LISTS).chain([DIMENSIONS]).collect();
        let known: Vec<&'static str> = KNOWN.into_iter().chain(PROMPT_KEYS).chain(lists.iter().copied()).collect();
        let meant = suggest::closest(key, &known).filter(|meant| lists.contains(meant));
        self.0.borrow_mut().insert(key.to_owned(), meant);
        meant
    }
}

/// A misspelt key of a list of assertions would leave the case without a check, and green.
fn check_keys(node: &Node<'_>, meant_lists: &MeantLists, say: Say<'_>) {
    for member in node.members().unwrap_or_default() {
        if is_known(&member.key) || member.value.items().is_none_or(<[_]>::is_empty) {
            continue;
        }
        if let Some(meant) = meant_lists.of(&member.key) {
            let message = format!("the list `{}` is not read, so that its assertions would be lost", cut(&member.key));
            let pointer = pointer::member("", &member.key);
            let help = format!("did you mean `{meant}`?");
            say(&pointer, Remark::error("near-miss-key", member.key_span, message, &help));
        }
    }
}

/// Whether a key of a case is read or kept as it is.
fn is_known(key: &str) -> bool {
    KNOWN.contains(&key)
        || PROMPT_KEYS.contains(&key)
        || LISTS.contains(&key)
        || NEGATIVE_LISTS.contains(&key)
        || key == DIMENSIONS
}

/// The keys of a case that mean nothing here.
pub(super) fn unknown_keys<'n>(node: &'n Node<'_>) -> impl Iterator<Item = &'n str> {
    node.members().unwrap_or_default().iter().map(|member| &*member.key).filter(|key| !is_known(key))
}

fn read_split(node: &Node<'_>, say: Say<'_>) -> Split {
    let Some(value) = node.get("split").filter(|value| !value.is_null()) else { return Split::Tune };
    value.as_str().and_then(Split::from_word).unwrap_or_else(|| {
        let message = format!("split is {}", cut(&value.python_repr()));
        let help = "the splits are tune, holdout and holdback; the case counts as tune";
        say("/split", Remark::warning("split", value.span, message, help));
        Split::Tune
    })
}

fn read_files(node: &Node<'_>, say: Say<'_>) -> Vec<String> {
    let mut files = Vec::new();
    for key in ["files", "input_files"] {
        let Some(list) = node.get(key).filter(|list| !list.is_null()) else { continue };
        match shape::filled_strings(list) {
            Some(paths) => files.extend(paths),
            None => {
                let message = format!("{key} is no list of paths: {}", cut(&list.python_repr()));
                say(&format!("/{key}"), Remark::error("files-shape", list.span, message, "write a list of texts"));
            }
        }
    }
    files
}

fn tags(node: &Node<'_>) -> Vec<String> {
    let mut tags: Vec<String> = match node.get("tags").map(|tags| &tags.value) {
        Some(Value::String(tag)) => vec![tag.to_string()],
        Some(Value::Array(items)) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    for key in LABELS {
        let label = |value: &Node<'_>| {
            let text = python::strip(value.as_str()?);
            let is_label = !text.is_empty() && text.chars().count() <= LABEL_CHARACTERS && !text.contains('\n');
            is_label.then(|| format!("{key}:{text}"))
        };
        let Some(value) = node.get(key) else { continue };
        match value.items() {
            Some(items) => tags.extend(items.iter().filter_map(label)),
            None => tags.extend(label(value)),
        }
    }
    tags
}
