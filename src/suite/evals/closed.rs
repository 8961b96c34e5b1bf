//! Suites of the executor/grader runner: the dialect `skill-eval`, whose keys are closed.
//!
//! One line for each problem, in the order of the fields. Every assertion is prose for its grader.

use std::collections::HashMap;

use skill_lift_text::python;

use super::assertion::{self, Standing};
use super::case::id_problem;
use super::collect;
use super::files::{Found, Roots};
use super::open::{Read, named};
use super::remark::cut;
use crate::json::{Node, Span};
use crate::suite::diagnostic::Level;
use crate::suite::model::{Assertion, Case, Scoring};
use crate::suite::report::Report;
use crate::suite::{shape, suggest};

const SHAPE: &str = "top-level-shape";
const TOP_KEYS: [&str; 7] =
    ["skill_name", "evals", "common_assertions", "schema_version", "purpose", "coverage_notes", "scoring"];
const SCORING_KEYS: [&str; 4] = ["common_assertion_weight", "per_eval_expectation_weight", "pass_threshold", "notes"];
const EVAL_KEYS: [&str; 8] =
    ["id", "prompt", "name", "expected_output", "project_class", "archetype", "files", "expectations"];

/// Reads a suite. `None` when it has an error, which is reported.
pub(super) fn read(report: &mut Report<'_>, root: &Node<'_>, roots: &Roots) -> Option<Read> {
    let path = report.source_text().name.clone();
    let mut reader = Closed { report, path, roots };
    if root.members().is_none() {
        reader.error("", SHAPE, root.span, "must be an object");
        return None;
    }
    reader.unknown_keys("", root, &TOP_KEYS);
    let skill_name = reader.required_text("", root, "skill_name", SHAPE);
    let common = reader.strings(".common_assertions", root, "common_assertions");
    let scoring = reader.scoring(root);
    let cases = reader.evals(root, common);
    if reader.report.error_count() == 0 {
        reader.warn_ungraded(root, &cases);
    }
    Some(Read {
        container: "evals",
        skill_name: skill_name.unwrap_or_default().to_owned(),
        skill_paths: Vec::new(),
        cases,
        common_assertions: common.len(),
        scoring,
    })
}

struct Closed<'c, 'r> {
    report: &'c mut Report<'r>,
    /// The file as the user knows it; every place begins with it.
    path: String,
    roots: &'c Roots,
}

impl Closed<'_, '_> {
    fn say(&mut self, level: Level, at: &str, rule: &'static str, span: Span, message: String, help: Option<String>) {
        let place = format!("{}{at}", self.path);
        self.report.at(place).remark(level, rule, span, message, help);
    }

    fn error(&mut self, at: &str, rule: &'static str, span: Span, message: impl Into<String>) {
        self.say(Level::Error, at, rule, span, message.into(), None);
    }

    fn unknown_keys(&mut self, at: &str, node: &Node<'_>, known: &[&str]) {
        let members = node.members().unwrap_or_default();
        let mut unknown: Vec<_> = members.iter().filter(|member| !known.contains(&&*member.key)).collect();
        unknown.sort_by(|a, b| a.key.cmp(&b.key));
        for member in unknown {
            let help = match suggest::closest(&member.key, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("allowed here: {}", known.join(", ")),
            };
            let place = format!("{at}.{}", cut(&member.key));
            let message = "unknown field".to_owned();
            self.say(Level::Error, &place, "near-miss-key", member.key_span, message, Some(help));
        }
    }

    /// A text that is there and not blank; as it is written.
    fn required_text<'n>(&mut self, at: &str, node: &'n Node<'_>, key: &str, rule: &'static str) -> Option<&'n str> {
        let value = node.get(key);
        let text = value.and_then(Node::as_str).filter(|text| !python::strip(text).is_empty());
        if text.is_none() {
            let span = value.map_or(Span { start: node.span.start, end: node.span.start + 1 }, |value| value.span);
            self.error(&format!("{at}.{key}"), rule, span, "must be a text that is not blank");
        }
        text
    }

    fn optional_text<'n>(&mut self, at: &str, node: &'n Node<'_>, key: &str) -> Option<&'n str> {
        let value = node.get(key)?;
        let text = value.as_str();
        if text.is_none() {
            self.error(&format!("{at}.{key}"), "label-shape", value.span, "must be a text");
        }
        text
    }

    /// A list of texts; empty when it is absent. `null` is no list.
    fn strings<'n, 'a>(&mut self, at: &str, node: &'n Node<'a>, key: &str) -> &'n [Node<'a>] {
        let Some(value) = node.get(key) else { return &[] };
        match value.items() {
            Some(items) if !collect::is_too_long(items.len()) && items.iter().all(|item| item.as_str().is_some()) => {
                items
            }
            Some(items) if collect::is_too_long(items.len()) => {
                self.error(at, "limit", value.span, "the list is too long");
                &[]
            }
            _ => {
                self.error(at, "operand", value.span, "must be a list of texts");
                &[]
            }
        }
    }

    fn scoring(&mut self, root: &Node<'_>) -> Option<Scoring> {
        let node = root.get("scoring")?;
        if node.members().is_none() {
            self.error(".scoring", "scoring", node.span, "must be an object");
            return None;
        }
        self.unknown_keys(".scoring", node, &SCORING_KEYS);
        let mut number = |key: &str, most: f64, must: &str| {
            let value = node.get(key)?;
            let number = shape::finite(value).filter(|number| (0.0..=most).contains(number));
            if number.is_none() {
                self.error(&format!(".scoring.{key}"), "scoring", value.span, must);
            }
            number
        };
        let must = "must be a number that is not negative";
        let common_weight = number("common_assertion_weight", f64::MAX, must);
        let own_weight = number("per_eval_expectation_weight", f64::MAX, must);
        let pass_threshold = number("pass_threshold", 1.0, "must be a number in 0..1");
        let weights: Vec<f64> = [common_weight, own_weight].into_iter().flatten().collect();
        if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
            self.error(".scoring", "scoring", node.span, "the weights must not all be zero");
        }
        Some(Scoring { common_weight, own_weight, pass_threshold })
    }

    fn evals(&mut self, root: &Node<'_>, common: &[Node<'_>]) -> Vec<Case> {
        let Some(evals) = root.get("evals").and_then(Node::items) else {
            let span =
                root.get("evals").map_or(Span { start: root.span.start, end: root.span.start + 1 }, |node| node.span);
            self.error(".evals", SHAPE, span, "must be a list");
            return Vec::new();
        };
        if !collect::can_share(common, evals.len()) {
            let message = format!("{} common assertions are too many for {} evals", common.len(), evals.len());
            self.error(".common_assertions", "limit", root.span, message);
            return Vec::new();
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut cases = Vec::new();
        for (index, node) in evals.iter().enumerate() {
            let at = format!(".evals[{index}]");
            if node.members().is_none() {
                self.error(&at, SHAPE, node.span, "must be an object");
                continue;
            }
            let case = self.eval(&at, node, common, index, &mut seen);
            cases.push(case);
        }
        cases
    }

    fn eval<'n>(
        &mut self,
        at: &str,
        node: &'n Node<'_>,
        common: &[Node<'_>],
        index: usize,
        seen: &mut HashMap<&'n str, usize>,
    ) -> Case {
        self.unknown_keys(at, node, &EVAL_KEYS);
        let id = self.required_text(at, node, "id", "case-id");
        if let (Some(id), Some(place)) = (id, node.get("id")) {
            self.check_id(at, id, place.span, index, seen);
        }
        let prompt = self.required_text(at, node, "prompt", "case_without_prompt");
        let name = self.optional_text(at, node, "name").filter(|name| !name.is_empty());
        let expected_output = self.optional_text(at, node, "expected_output").filter(|text| !text.is_empty());
        let labels = ["project_class", "archetype"].into_iter().filter_map(|key| {
            let label = self.optional_text(at, node, key)?;
            (!label.is_empty()).then(|| format!("{key}:{label}"))
        });
        let tags = labels.collect();
        let files = self.files(at, node);
        let own = self.strings(&format!("{at}.expectations"), node, "expectations");
        Case {
            name: name.map(str::to_owned),
            prompt: prompt.map(str::to_owned),
            expected_output: expected_output.map(str::to_owned),
            tags,
            files,
            assertions: merged(common, own),
            span: node.span,
            ..Case::named(id.unwrap_or_default().to_owned())
        }
    }

    fn check_id<'n>(&mut self, at: &str, id: &'n str, span: Span, index: usize, seen: &mut HashMap<&'n str, usize>) {
        let place = format!("{at}.id");
        let first = *seen.entry(id).or_insert(index);
        if first != index {
            let message = format!("the id `{}` stands already at .evals[{first}].id", cut(id));
            self.error(&place, "duplicate_id", span, message);
        }
        if let Some(problem) = id_problem(id) {
            self.error(&place, "case-id", span, format!("the id `{}` {problem}", cut(id)));
        }
    }

    fn files(&mut self, at: &str, node: &Node<'_>) -> Vec<String> {
        let place = format!("{at}.files");
        let items = self.strings(&place, node, "files");
        let mut files = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = item.as_str().unwrap_or_default();
            let (rule, message) = match self.roots.find(path) {
                Found::Here => ("", None),
                Found::Missing | Found::Remote => ("missing_file", Some("does not exist")),
                Found::Outside => ("path_escapes_root", Some("is outside of the repository")),
            };
            if let Some(message) = message {
                self.error(&format!("{place}[{index}]"), rule, item.span, format!("`{}` {message}", cut(path)));
            }
            files.push(path.to_owned());
        }
        files
    }

    fn warn_ungraded(&mut self, root: &Node<'_>, cases: &[Case]) {
        let ungraded: Vec<&str> = cases.iter().filter(|case| case.is_ungraded()).map(|case| case.id.as_str()).collect();
        if ungraded.is_empty() {
            return;
        }
        let (count, all) = (ungraded.len(), cases.len());
        let names = named(&ungraded);
        let message = format!("evals without an assertion, which neither pass nor fail: {count} of {all} ({names})");
        let span = root.get("evals").map_or(root.span, |evals| Span { end: evals.span.start + 1, ..evals.span });
        let help = "write what a good answer does under `expectations`".to_owned();
        self.say(Level::Warning, ".evals", "ungraded_cases", span, message, Some(help));
    }
}

/// The assertions of an eval: those of the suite, then its own, each text once. The position is what a verdict names.
fn merged(common: &[Node<'_>], own: &[Node<'_>]) -> Vec<Assertion> {
    let mut seen = std::collections::HashSet::new();
    let common = common.iter().map(|node| (node, Standing::Common));
    let own = own.iter().map(|node| (node, Standing::Own));
    let each = common.chain(own).filter_map(|(node, standing)| Some((node, node.as_str()?, standing)));
    each.filter(|(_, text, _)| seen.insert(*text))
        .map(|(node, text, standing)| assertion::prose(node, text, standing))
        .collect()
}
