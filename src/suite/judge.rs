//! Qualitative assertions: presets, anchors, dimensions and drafted rubrics.

use std::borrow::Cow;

use skill_lift_text::python;

use super::assertion::{Scope, span_of};
use super::check::Check;
use super::diagnostic::Level;
use super::model::AssertionType;
use super::report::Report;
use super::shape;
use crate::json::{Limits, Member, Node, Span, Value, parse};

const RULE: &str = "judge-fields";

/// The rubric of the preset `factuality`.
const FACTUALITY_RUBRIC: [&str; 4] = [
    "Each factual statement can be traced to the prompt, to the input files or to common knowledge; none is made up.",
    "Where the answer goes beyond that material, it says openly that it is assuming.",
    "No statement contradicts the prompt or the input files.",
    "Scale: 5 = everything is supported; 3 = small unsupported details; 1 = invented or contradictory statements.",
];

/// Fills the fields that a preset gives; fields that the author wrote win.
pub(super) fn expand_preset<'n, 'a>(node: &'n Node<'a>, assertion_type: AssertionType) -> Cow<'n, Node<'a>> {
    let preset = match assertion_type {
        AssertionType::Factuality => Some("factuality"),
        AssertionType::Judge | AssertionType::Rubric => node.get("preset").and_then(Node::as_str),
        _ => None,
    };
    if preset != Some("factuality") {
        return Cow::Borrowed(node);
    }
    let mut expanded = node.clone();
    if let Value::Object(members) = &mut expanded.value {
        let rubric = FACTUALITY_RUBRIC.iter().map(|line| text_node(line, node.span)).collect();
        fill(members, node.span, "name", Value::String("factuality".into()));
        fill(members, node.span, "rubric", Value::Array(rubric));
        if let Ok(threshold) = parse("4", Limits::SUITE) {
            fill(members, node.span, "threshold", threshold.value);
        }
    }
    Cow::Owned(expanded)
}

fn text_node(text: &'static str, span: Span) -> Node<'static> {
    Node { span, value: Value::String(text.into()) }
}

fn fill<'a>(members: &mut Vec<Member<'a>>, span: Span, key: &'static str, value: Value<'a>) {
    let value = Node { span, value };
    match members.iter_mut().find(|member| member.key == key) {
        None => members.push(Member { key: key.into(), key_span: span, value }),
        Some(member) if key == "name" && !member.value.is_truthy() => member.value = value,
        Some(_) => {}
    }
}

/// Reads a qualitative assertion after the expansion of its preset.
pub(super) fn read(
    report: &mut Report<'_>,
    node: &Node<'_>,
    assertion_type: AssertionType,
    scope: Scope,
) -> Option<Check> {
    if let Some(preset) = node.get("preset").filter(|preset| !preset.is_null() && preset.as_str() != Some("factuality"))
    {
        let message = format!("unknown judge preset {}; known: ['factuality']", preset.python_repr());
        report.error(RULE, preset.span, message);
    }
    let dimensions = node.get("graded_dimensions").filter(|dimensions| dimensions.is_truthy());
    match dimensions {
        Some(_) => {
            let message = "threshold must be a number in [1, 5] when graded_dimensions is set";
            report.optional(node, "threshold", RULE, shape::within(1.0, 5.0), message)
        }
        None => report.optional(node, "threshold", RULE, shape::finite, "threshold must be a finite number"),
    };
    for key in ["rubric", "review_rubric"] {
        let message = format!("{key} must be a non-empty list of non-empty strings");
        report.optional(node, key, RULE, shape::texts, &message);
    }
    report.optional(node, "prompt", RULE, shape::text, "prompt must be a non-empty string");
    if let Some(dimensions) = node.get("graded_dimensions") {
        check_dimensions(report, dimensions);
    }
    if let Some(drafted) = node.get("dynamic_rubric") {
        check_dynamic_rubric(report, drafted);
    }
    if let Some(steps) = node.get("per_step") {
        check_per_step(report, node, steps, assertion_type, scope);
    }
    let anchors = ["prompt", "rubric", "review_rubric", "graded_dimensions", "dynamic_rubric", "per_step", "preset"];
    if !anchors.into_iter().any(|key| node.get(key).is_some_and(Node::is_truthy)) {
        report.strict("judge-anchor", node.span, "qualitative assertion needs an anchored rubric or prompt");
    }
    Some(Check::Judgement { assertion: node.clone().into_owned() })
}

fn check_dimensions(report: &mut Report<'_>, node: &Node<'_>) {
    let Some(items) = node.items().filter(|items| !items.is_empty()) else {
        report.error(RULE, node.span, "graded_dimensions must be a non-empty list");
        return;
    };
    let mut names = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let subject = format!("graded_dimensions[{index}] ");
        report.closed(Level::Error, RULE, item, &["name", "scale", "rubric"], &subject);
        match item.get("name").and_then(shape::text) {
            Some(name) => names.push(name.to_owned()),
            None => report.error(RULE, span_of(item, "name"), format!("{subject}needs a string name")),
        }
        if item.get("rubric").and_then(shape::text).is_none() {
            report.error(RULE, span_of(item, "rubric"), format!("{subject}needs an anchored string rubric"));
        }
        if item.get("scale").is_some_and(|scale| scale.as_str() != Some("1-5")) {
            report.error(RULE, span_of(item, "scale"), format!("{subject}scale must be '1-5'"));
        }
    }
    if let Some(name) = shape::repeated(&names) {
        let message = format!("graded_dimensions names must be unique; {} stands twice", python::repr_str(name));
        report.error(RULE, node.span, message);
    }
}

fn check_dynamic_rubric(report: &mut Report<'_>, node: &Node<'_>) {
    report.closed(Level::Error, RULE, node, &["instruction", "minimum_criteria"], "dynamic_rubric ");
    if node.get("instruction").and_then(shape::text).is_none() {
        report.error(RULE, span_of(node, "instruction"), "dynamic_rubric needs a string instruction");
    }
    let positive = |node: &Node<'_>| shape::count(node).filter(|count| *count >= 1);
    let message = "dynamic_rubric.minimum_criteria must be a positive integer";
    report.optional(node, "minimum_criteria", RULE, positive, message);
}

fn check_per_step(report: &mut Report<'_>, node: &Node<'_>, steps: &Node<'_>, kind: AssertionType, scope: Scope) {
    if scope == Scope::Turn {
        report.error("turn-assertion", steps.span, "per_step is not supported in turn assertions");
    }
    if kind != AssertionType::Judge {
        report.error(RULE, steps.span, "per_step is only for the type judge");
    }
    if let Some(key) = ["graded_dimensions", "dynamic_rubric"].into_iter().find(|key| node.get(key).is_some()) {
        report.error(RULE, steps.span, format!("per_step cannot be combined with {key}"));
    }
    let fraction = steps.get("min_met_fraction").and_then(shape::finite).is_some_and(|part| part > 0.0 && part <= 1.0);
    let object = fraction && steps.members().is_some_and(|members| members.len() == 1);
    if steps.as_bool() != Some(true) && !object {
        let message = "per_step must be true or an object with min_met_fraction, a number above 0 and at most 1";
        report.error(RULE, steps.span, message);
    }
}
