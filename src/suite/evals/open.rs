//! Suites whose shape is open: the dialects `skill-creator` and `skill-forge`.

use std::collections::{BTreeSet, HashMap};

use super::case::{CaseReader, MeantLists, id_problem, unknown_keys, written_id};
use super::collect;
use super::container::{self, Container, prompt};
use super::files::{Found, Roots};
use super::remark::{Remark, Sink, cut};
use crate::json::{Node, Span};
use crate::suite::environment::Patterns;
use crate::suite::model::{Case, Dialect, Scoring};

/// Keys of a suite that are read or kept as they are.
const KNOWN: [&str; 27] = [
    "evals",
    "cases",
    "test_cases",
    "queries",
    "skill_name",
    "skill",
    "agent_name",
    "skill_path",
    "generated_from",
    "scoring",
    "schema_version",
    "purpose",
    "common_assertions",
    "version",
    "notes",
    "note",
    "description",
    "metadata",
    "scoring_rubric",
    "gates",
    "evaluation_metrics",
    "standard",
    "method",
    "results_layout",
    "prerequisite_coverage_rule",
    "coverage_notes",
    "schema_notes",
];

/// Names that a message lists.
const SHOWN_NAMES: usize = 5;

/// What was read of a suite.
pub(super) struct Read {
    pub(super) container: &'static str,
    pub(super) skill_name: String,
    pub(super) skill_paths: Vec<String>,
    pub(super) cases: Vec<Case>,
    pub(super) common_assertions: usize,
    pub(super) scoring: Option<Scoring>,
}

/// Reads an open suite. `None` when it has no list of cases, which is reported.
pub(super) fn read(sink: &mut Sink<'_, '_>, root: &Node<'_>, roots: &Roots, dialect: Dialect) -> Option<Read> {
    let refuse = |span: Span, message: &str| {
        let help =
            "cases stand in a list `evals`, `cases`, `test_cases` or `queries`, or in an array, each with a `prompt`";
        Remark::error("not_an_eval_suite", span, message.to_owned(), help)
    };
    let Some(container) = container::find(root) else {
        sink.say("", refuse(start(root), "the file has no list of cases"));
        return None;
    };
    if !container.cases.is_empty() && container.cases.iter().all(|case| prompt(case).is_none()) {
        sink.say("", refuse(start(root), &format!("none of the {} entries has a prompt", container.cases.len())));
        return None;
    }
    let patterns = Patterns::default();
    let common =
        root.get("common_assertions").filter(|_| !container.is_single()).and_then(Node::items).unwrap_or_default();
    if !collect::can_share(common, container.cases.len()) {
        let message = format!("{} common assertions are too many for {} cases", common.len(), container.cases.len());
        sink.say("/common_assertions", Remark::error("limit", start(root), message, "split the suite"));
        return None;
    }
    check_common(sink, common, &patterns);
    let mut suite = Cases { sink, roots, ids: HashMap::new() };
    let reader = CaseReader {
        dialect,
        patterns: &patterns,
        common,
        is_query: container.word == "queries",
        meant_lists: MeantLists::default(),
    };
    let cases = suite.read(&container, &reader);
    suite.check_ids();
    warn_top(sink, root, &container, &cases);
    Some(Read {
        container: container.word,
        skill_name: skill_name(root, roots),
        skill_paths: root.get("skill_path").and_then(Node::as_str).map(str::to_owned).into_iter().collect(),
        cases,
        common_assertions: common.len(),
        // weights bind only in the dialect that says what they weigh
        scoring: None,
    })
}

/// The first character of a value, to point at when the whole of it is meant.
fn start(root: &Node<'_>) -> Span {
    Span { start: root.span.start, end: root.span.start + 1 }
}

/// Says once what is to be said about the assertions of the suite.
fn check_common(sink: &mut Sink<'_, '_>, common: &[Node<'_>], patterns: &Patterns) {
    for (index, node) in common.iter().enumerate() {
        let mut remarks = Vec::new();
        super::assertion::read(node, super::assertion::Standing::Common, patterns, &mut remarks);
        for remark in remarks {
            sink.say(&format!("/common_assertions/{index}"), remark);
        }
    }
}

fn skill_name(root: &Node<'_>, roots: &Roots) -> String {
    let named = ["skill_name", "skill", "agent_name"].into_iter().find_map(|key| root.get(key)?.as_str());
    let folder = || roots.skill.file_name().unwrap_or_default().to_string_lossy().into_owned();
    named.filter(|name| !name.trim().is_empty()).map_or_else(folder, str::to_owned)
}

/// The cases while they are read.
struct Cases<'s, 'r, 'd> {
    sink: &'s mut Sink<'r, 'd>,
    roots: &'s Roots,
    /// Where each id stands.
    ids: HashMap<String, Vec<(String, Span)>>,
}

impl Cases<'_, '_, '_> {
    fn read(&mut self, container: &Container<'_, '_>, reader: &CaseReader<'_, '_>) -> Vec<Case> {
        let mut cases = Vec::new();
        for (index, node) in container.cases.iter().enumerate() {
            let pointer = container.pointer(index);
            if prompt(node).is_none() {
                let message = format!("a case without a prompt: {}", cut(&node.python_repr()));
                let help = "write the task under `prompt`";
                self.sink.say(&pointer, Remark::error("case_without_prompt", node.span, message, help));
                continue;
            }
            let id = self.id(node, &pointer, index);
            let sink = &mut *self.sink;
            let case = reader.read(node, id, &mut |part, remark| sink.say(&format!("{pointer}{part}"), remark));
            self.check_files(node, &pointer);
            cases.push(case);
        }
        cases
    }

    /// The id of a case, `eval-` and what the author wrote, else its position.
    fn id(&mut self, node: &Node<'_>, pointer: &str, index: usize) -> String {
        let written = written_id(node).unwrap_or_else(|remark| {
            self.sink.say(pointer, remark);
            None
        });
        let Some((id, place)) = written else { return format!("eval-#{}", index + 1) };
        if let Some(problem) = id_problem(&id) {
            let message = format!("the id `{}` {problem}, but it names the folder of the runs", cut(&id));
            self.sink.say(pointer, Remark::error("case-id", place.span, message, "write a number or a short word"));
        }
        let name = format!("eval-{id}");
        self.ids.entry(id).or_default().push((pointer.to_owned(), place.span));
        name
    }

    fn check_ids(&mut self) {
        let mut repeated: Vec<_> = self.ids.iter().filter(|(_, places)| places.len() > 1).collect();
        repeated.sort_by_key(|(_, places)| places[1].1);
        for (id, places) in repeated {
            let pointers: Vec<&str> = places.iter().map(|(pointer, _)| pointer.as_str()).collect();
            let message = format!("the id `{}` stands at {}", cut(id), pointers.join(", "));
            let help = "give each case an id of its own; 1 and \"1\" are the same";
            self.sink.say(&places[1].0, Remark::error("duplicate_id", places[1].1, message, help));
        }
    }

    fn check_files(&mut self, node: &Node<'_>, pointer: &str) {
        for key in ["files", "input_files"] {
            for (index, item) in node.get(key).and_then(Node::items).unwrap_or_default().iter().enumerate() {
                let remark = item.as_str().and_then(|path| file_remark(self.roots.find(path), path, item.span));
                if let Some(remark) = remark {
                    self.sink.say(&format!("{pointer}/{key}/{index}"), remark);
                }
            }
        }
    }
}

fn file_remark(found: Found, path: &str, span: Span) -> Option<Remark> {
    let shown = cut(path);
    Some(match found {
        Found::Here => return None,
        Found::Missing => {
            let help = "files are looked for in the skill, beside the suite, in its `fixtures` and `files`, and in the \
                        repository";
            Remark::warning("missing_file", span, format!("the file `{shown}` does not exist"), help)
        }
        Found::Outside => {
            let message = format!("the file `{shown}` is outside of the repository");
            Remark::error("path_escapes_root", span, message, "copy it beside the suite")
        }
        Found::Remote => {
            let message = format!("the file `{shown}` is not fetched");
            Remark::note("missing_file", span, message, "download it and name the copy")
        }
    })
}

/// Says what is to be said about the suite as a whole.
fn warn_top(sink: &mut Sink<'_, '_>, root: &Node<'_>, container: &Container<'_, '_>, cases: &[Case]) {
    let place = start(root);
    let mut warn = |rule: &'static str, message: String, help: &str| {
        sink.say("", Remark::warning(rule, place, message, help));
    };
    if container.cases.is_empty() {
        warn("empty_suite", "the suite has no cases".to_owned(), "write at least one case with a prompt");
    }
    if container.is_single() {
        let message = "the file is a single case; it is read as a suite of one".to_owned();
        warn("single_case_object", message, "put it into a list `evals`");
    }
    let unnumbered =
        container.cases.iter().filter(|case| case.members().is_some() && matches!(written_id(case), Ok(None))).count();
    if unnumbered > 0 {
        let message = format!("cases without an id, named by their position: {unnumbered}");
        warn("generated_id", message, "give each case an `id`: a position changes when a case is added before it");
    }
    let ungraded: Vec<&str> = cases.iter().filter(|case| case.is_ungraded()).map(|case| case.id.as_str()).collect();
    if !ungraded.is_empty() {
        let message = format!(
            "cases without an assertion, which neither pass nor fail: {} of {} ({})",
            ungraded.len(),
            cases.len(),
            named(&ungraded)
        );
        warn("ungraded_cases", message, "write what a good answer does under `assertions`");
    }
    let unlabelled = cases.iter().filter(|case| case.is_trigger() && case.should_trigger.is_none()).count();
    if unlabelled > 0 {
        let message = format!("queries that do not say whether they should trigger the skill: {unlabelled}");
        warn(
            "unlabelled_queries",
            message,
            "write `should_trigger`: they can be run, and no accuracy is known without it",
        );
    }
    if let Some(list) = root.get("common_assertions").filter(|list| list.items().is_none() && !list.is_null()) {
        let message =
            format!("`common_assertions` is no list, so that it holds no assertion: {}", cut(&list.python_repr()));
        warn("assertions_not_a_list", message, "write a list of texts");
    }
    if !container.is_single() && root.get("assertions").is_some_and(|list| list.items().is_some()) {
        let message = "`assertions` beside the cases are applied to none of them".to_owned();
        warn("suite_level_assertions_not_applied", message, "write what holds for all cases under `common_assertions`");
    }
    note_shape(sink, root, container);
}

fn note_shape(sink: &mut Sink<'_, '_>, root: &Node<'_>, container: &Container<'_, '_>) {
    let mut note =
        |message: String, help: &str| sink.say("", Remark::note("unusual_shape", start(root), message, help));
    if matches!(container.word, "cases" | "test_cases") {
        note(format!("the cases stand in `{}`", container.word), "most programs look for `evals`");
    }
    let mut unknown: BTreeSet<&str> = container.cases.iter().flat_map(unknown_keys).collect();
    if !container.is_single() {
        let keys = root.members().unwrap_or_default().iter().map(|member| &*member.key);
        unknown.extend(keys.filter(|key| !KNOWN.contains(key)));
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.into_iter().collect();
        note(format!("keys without a meaning here are kept: {}", named(&names)), "they have no effect on any number");
    }
}

/// The first names of a list, and how many more there are.
pub(super) fn named(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN_NAMES).map(|name| cut(name)).collect();
    match names.len().saturating_sub(SHOWN_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
