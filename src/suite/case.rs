//! One case: its fields in the order in which they are checked, its turns and its assertions.

use std::collections::HashSet;

use skill_lift_text::python;
use skill_lift_text::view::Comparison;

use super::assertion::{self, Scope, span_of};
use super::environment::Environment;
use super::model::{Assertion, Case, EvalIntent, Split, Turn};
use super::report::Report;
use super::{cross, depends, inputs, negation, shape};
use crate::json::{Node, Span};

const KNOWN: [&str; 32] = [
    "id",
    "kind",
    "split",
    "should_trigger",
    "eval_intent",
    "turns",
    "prompt",
    "prompt_ref",
    "scenario",
    "files",
    "assertions",
    "reference_score",
    "reference_graded_score",
    "expected_behavior",
    "review_rubric",
    "canary",
    "released_at",
    "tags",
    "family",
    "domain",
    "difficulty",
    "trigger_type",
    "success_goals",
    "template",
    "dataset",
    "source",
    "reference_answer",
    "reference_answer_ref",
    "notes",
    "title",
    "description",
    "name",
];

/// Reads a case after the expansion of its template. `None` when it has an error, which is reported.
pub(super) fn read(
    report: &mut Report<'_>,
    environment: &Environment,
    node: &Node<'_>,
    index: usize,
    seen: &mut HashSet<String>,
) -> Option<Case> {
    let mut unnamed = report.at(format!("case #{index}"));
    if node.members().is_none() {
        unnamed.error("case-id", node.span, "must be an object");
        return None;
    }
    let errors = unnamed.error_count();
    let id = node.get("id").and_then(shape::text);
    let place = match id {
        Some(id) => id.to_owned(),
        None => {
            unnamed.error("case-id", span_of(node, "id"), "missing string id");
            format!("case #{index}")
        }
    };
    let mut report = report.at(place.clone());
    let report = &mut report;
    if let Some(id) = id {
        check_id(report, id, span_of(node, "id"), seen);
    }
    report.near_misses(node, &KNOWN);
    let kind = read_kind(report, node);
    let word = |value: &Node<'_>| value.as_str().and_then(Split::from_word);
    let split = node.get("split").and_then(word);
    if split.is_none() {
        report.error("split", span_of(node, "split"), "split must be one of ['holdback', 'holdout', 'tune']");
    }
    check_should_trigger(report, node, &kind);
    let word = |value: &Node<'_>| value.as_str().and_then(EvalIntent::from_word);
    let message = "eval_intent must be 'capability' or 'regression'";
    let eval_intent = report.nullable(node, "eval_intent", "prompt-shape", word, message);
    let turns = read_turns(report, node);
    let must = "prompt must be a non-empty string";
    let prompt = report.nullable(node, "prompt", "prompt-shape", shape::text, must);
    let must = "prompt_ref must be a non-empty string";
    let prompt_ref = report.nullable(node, "prompt_ref", "prompt-shape", shape::text, must);
    check_prompt_sources(report, node, split);
    let input_files = inputs::check(report, environment, node, prompt_ref, split);
    let assertion_nodes = match node.get("assertions").filter(|list| !list.is_null()) {
        None => &[],
        Some(list) => list.items().unwrap_or_else(|| {
            report.error("operand", list.span, "assertions must be a list");
            &[]
        }),
    };
    let reference_floor = read_floor(report, node);
    let expected_behavior = read_lines(report, node, "expected_behavior");
    let review_rubric = read_lines(report, node, "review_rubric");
    check_canary_and_date(report, node);
    let must = "tags must be a list of strings";
    let tags = report.nullable(node, "tags", "tags-shape", shape::strings, must).unwrap_or_default();
    let labels = read_labels(report, node);
    let must = "family must be a non-empty string";
    let family = report.optional(node, "family", "reserved-field", shape::text, must).map(str::to_owned);
    inputs::check_reference_answer(report, environment, node, split, &kind);

    let mut assertions = read_assertions(report, environment, assertion_nodes, &place, None);
    depends::check(report, assertion_nodes);
    use_final_labels(&mut assertions, assertion_nodes);
    let mut read_turns = Vec::new();
    for (number, turn) in (1..).zip(turns) {
        let list = turn.get("assertions").filter(|list| !list.is_null());
        let items = list.map_or(Some(&[][..]), Node::items);
        if items.is_none() {
            let message = format!("turn #{number} assertions must be a list");
            report.error("operand", span_of(turn, "assertions"), message);
        }
        let items = items.unwrap_or_default();
        read_turns.push(Turn {
            prompt: turn.get("prompt").and_then(Node::as_str).unwrap_or_default().to_owned(),
            assertions: read_assertions(report, environment, items, &place, Some(number))
                .into_iter()
                .flatten()
                .collect(),
        });
    }
    let assertions: Vec<_> = assertions.into_iter().flatten().collect();
    let text = |value: Option<&str>| value.map(str::to_owned);
    let case = Case {
        id: id.unwrap_or_default().to_owned(),
        split: split.unwrap_or(Split::Tune),
        name: None,
        kind,
        domain: labels.domain,
        difficulty: labels.difficulty,
        trigger_type: labels.trigger_type,
        success_goals: labels.success_goals,
        tags,
        eval_intent: eval_intent.unwrap_or(EvalIntent::Capability),
        family,
        dataset: text(node.get("dataset").and_then(Node::as_str)),
        prompt: text(prompt),
        prompt_ref: text(prompt_ref),
        files: input_files,
        turns: read_turns,
        assertions,
        expected_behavior,
        review_rubric,
        expected_output: None,
        should_trigger: node.get("should_trigger").and_then(Node::as_bool),
        reference_floor,
        span: node.span,
    };
    cross::check_labels(report, &case);
    negation::warn_statements(report, &case);
    if report.error_count() > errors {
        return None;
    }
    cross::check_gates(report, environment, &case);
    inputs::warn_answers_among_inputs(report, environment, node, &case);
    Some(case)
}

fn check_id(report: &mut Report<'_>, id: &str, span: Span, seen: &mut HashSet<String>) {
    if !seen.insert(id.to_owned()) {
        report.error("duplicate-id", span, "duplicate case id");
    }
    let parts: Vec<_> = id.split('/').collect();
    let problem = if python::strip(id).is_empty() {
        "is blank"
    } else if parts.iter().any(|part| matches!(*part, "." | "..")) {
        "has a `.` or `..` component"
    } else if parts.iter().any(|part| part.is_empty()) {
        "has an empty path component"
    } else if id.contains('\\') || id.chars().any(char::is_control) {
        "holds a backslash or a control character"
    } else {
        if parts.len() > 1 {
            report.warn("case-id", span, "id holds a slash, so its runs lie in nested folders");
        }
        return;
    };
    let message = format!("id {problem}, but the id is the name of the folder of its runs");
    report.error("case-id", span, message);
}

fn read_kind(report: &mut Report<'_>, node: &Node<'_>) -> String {
    let read = |value| shape::text(value).filter(|text| !python::strip(text).is_empty());
    let kind = report.optional(node, "kind", "kind", read, "kind must be a non-empty string");
    kind.unwrap_or("behavior").to_owned()
}

fn check_should_trigger(report: &mut Report<'_>, node: &Node<'_>, kind: &str) {
    let rule = "should-trigger";
    report.optional(node, "should_trigger", rule, Node::as_bool, "should_trigger must be a boolean");
    match (kind == "trigger", node.get("should_trigger")) {
        (true, None) => report.strict(rule, node.span, "a trigger case needs should_trigger"),
        (false, Some(value)) => report.strict(rule, value.span, "should_trigger is only for cases of kind trigger"),
        _ => {}
    }
}

fn read_turns<'n, 'a>(report: &mut Report<'_>, node: &'n Node<'a>) -> &'n [Node<'a>] {
    let rule = "prompt-shape";
    let must = "turns must be a non-empty list of turn objects";
    let read = |value: &'n Node<'a>| value.items().filter(|items| !items.is_empty());
    let turns = report.nullable(node, "turns", rule, read, must).unwrap_or_default();
    for (number, turn) in (1..).zip(turns) {
        if turn.get("prompt").and_then(shape::text).is_none() {
            report.error(rule, span_of(turn, "prompt"), format!("turn #{number} needs a string prompt"));
        }
        report.near_misses(turn, &["prompt", "assertions"]);
    }
    turns
}

fn check_prompt_sources(report: &mut Report<'_>, node: &Node<'_>, split: Option<Split>) {
    let rule = "prompt-source";
    let present: Vec<_> = ["prompt", "prompt_ref", "turns"]
        .into_iter()
        .filter_map(|key| node.member(key))
        .filter(|member| !member.value.is_null())
        .collect();
    let has_prompt = present.iter().any(|member| member.value.is_truthy());
    if let [_, second, ..] = present.as_slice() {
        let names: Vec<_> = present.iter().map(|member| format!("`{}`", member.key)).collect();
        let message = format!("has more than one prompt: {}", names.join(", "));
        report.strict(rule, second.key_span, message);
    }
    match split {
        Some(Split::Tune) if !has_prompt => {
            report.error(rule, node.span, "tune cases must include prompt, prompt_ref, or turns");
        }
        Some(_) if !has_prompt => report.warn(rule, node.span, "has no prompt; it cannot be prepared as it is"),
        _ => {}
    }
}

fn read_floor(report: &mut Report<'_>, node: &Node<'_>) -> Option<f64> {
    let rule = "boolean-score";
    let must = "reference_score must be a number in [0, 1]";
    let score = report.nullable(node, "reference_score", rule, shape::within(0.0, 1.0), must);
    let must = "reference_graded_score must be a number on the 1-5 scale";
    let graded = report.nullable(node, "reference_graded_score", rule, shape::within(1.0, 5.0), must);
    score.or_else(|| graded.map(|graded| ((graded - 1.0) / 4.0).clamp(0.0, 1.0)))
}

fn read_lines(report: &mut Report<'_>, node: &Node<'_>, key: &str) -> Vec<String> {
    let rule = "behavior-shape";
    let is_filled = |line: &String| !python::strip(line).is_empty();
    if let Some(value) = node.get(key)
        && let Some(line) = shape::text(value)
    {
        report.warn(rule, value.span, format!("{key} is one string; write a list of strings"));
        return vec![line.to_owned()];
    }
    let read = |value: &Node<'_>| shape::strings(value).filter(|lines| lines.iter().all(is_filled));
    let must = format!("{key} must be a list of non-empty strings");
    report.nullable(node, key, rule, read, &must).unwrap_or_default()
}

fn check_canary_and_date(report: &mut Report<'_>, node: &Node<'_>) {
    let visible = |value: &Node<'_>| {
        let view = Comparison::Rendered.view(value.as_str()?);
        (!python::strip(&view.text).is_empty()).then_some(())
    };
    let must = "canary must be a string that is not blank under rendered-v1";
    report.nullable(node, "canary", "canary-shape", visible, must);
    let must = "released_at must be a string";
    if let Some(date) = report.nullable(node, "released_at", "canary-shape", Node::as_str, must)
        && !is_date(date)
    {
        let message = format!("released_at {} is not a date like 2025, 2025-01 or 2025-01-31", python::repr_str(date));
        report.warn("canary-shape", span_of(node, "released_at"), message);
    }
}

/// `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, with `-` or `/`.
fn is_date(text: &str) -> bool {
    let parts: Vec<_> = python::strip(text).split(['-', '/']).collect();
    let number = |part: &str, longest: usize| {
        let digits = !part.is_empty() && part.len() <= longest && part.bytes().all(|byte| byte.is_ascii_digit());
        if digits { part.parse::<u32>().ok() } else { None }
    };
    let is_year = parts[0].len() == 4 && number(parts[0], 4).is_some();
    let in_range =
        |at: usize, high: u32| parts.get(at).is_none_or(|part| number(part, 2).is_some_and(|n| n >= 1 && n <= high));
    is_year && parts.len() <= 3 && in_range(1, 12) && in_range(2, 31)
}

/// The labels that reports are sliced by.
struct Labels {
    domain: Option<String>,
    difficulty: Option<String>,
    trigger_type: Option<String>,
    success_goals: Vec<String>,
}

fn read_labels(report: &mut Report<'_>, node: &Node<'_>) -> Labels {
    let rule = "tags-shape";
    let mut label = |key: &str| {
        let value = node.get(key).filter(|value| !value.is_null())?;
        if value.as_str().is_none() {
            report.warn(rule, value.span, format!("{key} is not a string"));
        }
        value.is_truthy().then(|| value.python_str())
    };
    let (domain, difficulty, trigger_type) = (label("domain"), label("difficulty"), label("trigger_type"));
    let goals = node.get("success_goals").filter(|value| !value.is_null());
    let success_goals = goals.and_then(shape::strings);
    if let (Some(goals), None) = (goals, &success_goals) {
        report.warn(rule, goals.span, "success_goals is not a list of strings");
    }
    Labels { domain, difficulty, trigger_type, success_goals: success_goals.unwrap_or_default() }
}

/// Reads a list of assertions; `None` for each that has an error.
fn read_assertions(
    report: &mut Report<'_>,
    environment: &Environment,
    nodes: &[Node<'_>],
    place: &str,
    turn: Option<usize>,
) -> Vec<Option<Assertion>> {
    let (prefix, scope) = match turn {
        None => (String::new(), Scope::Case),
        Some(number) => (format!("turn #{number} "), Scope::Turn),
    };
    let mut read = |(index, node): (usize, &Node<'_>)| {
        let mut report = report.at(format!("{place}: {prefix}assertion #{index}"));
        assertion::read(&mut report, environment, node, scope)
    };
    nodes.iter().enumerate().map(&mut read).collect()
}

/// Prerequisites are written with the labels of the file; presets may have changed them.
fn use_final_labels(assertions: &mut [Option<Assertion>], nodes: &[Node<'_>]) {
    let renamed: Vec<_> = nodes
        .iter()
        .zip(assertions.iter())
        .filter_map(|(node, assertion)| Some((assertion::written_label(node), assertion.as_ref()?.label.clone())))
        .filter(|(written, label)| written != label)
        .collect();
    if renamed.is_empty() {
        return;
    }
    for target in assertions.iter_mut().flatten().flat_map(|assertion| &mut assertion.depends_on) {
        if let Some((_, label)) = renamed.iter().find(|(written, _)| written == target) {
            target.clone_from(label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_one_to_three_parts() {
        for text in ["2024", "2024-6", "2024/12", "2024-12-31"] {
            assert!(is_date(text), "{text}");
        }
        for text in ["24", "2024-13", "2024-00", "2024-1-32", "2024-1-1-1", "today", ""] {
            assert!(!is_date(text), "{text}");
        }
    }
}
