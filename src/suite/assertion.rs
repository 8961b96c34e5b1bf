//! One assertion: the fields that every type has, the closed contract of each type, and what is derived from them.

use skill_lift_text::python;

use super::diagnostic::Level;
use super::environment::Environment;
use super::model::{Assertion, AssertionType, OracleTier, Origin, Severity, TypeGroup, VariantFilter};
use super::report::Report;
use super::{judge, operands, shape};
use crate::json::{Node, Span};

/// Where an assertion stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// It is about the final answer.
    Case,
    /// It is about the answer to one turn.
    Turn,
}

/// Fields that every type has.
const COMMON: [&str; 15] = [
    "type",
    "name",
    "description",
    "ci",
    "severity",
    "critical",
    "gate",
    "soft",
    "oracle",
    "variants",
    "only_variants",
    "except_variants",
    "depends_on",
    "atLeast",
    "_migrate_todo",
];

/// Fields of one type beside the common ones.
fn own_fields(assertion_type: AssertionType) -> &'static [&'static str] {
    use AssertionType as T;
    match assertion_type {
        T::Contains => &["value", "comparison"],
        T::ContainsAny | T::ContainsAll | T::ExcludesAny => &["values", "value", "comparison"],
        T::Regex | T::NotRegex => &["pattern", "value", "comparison"],
        T::FileExists => &["path", "value"],
        T::JsonFieldEquals => &["path", "field", "equals"],
        T::GoldenOutput => &["reference", "value", "artifact", "normalize"],
        T::Similarity => &["expected", "value", "artifact", "threshold", "mode", "comparison", "autojunk"],
        T::StructuredOutput => &["path", "schema"],
        T::Script => &["command", "timeout_s", "pass_exit_code"],
        T::SkillInvoked => &["expected"],
        T::CommandRan | T::CommandNotRan => &["pattern", "value"],
        T::CommandOrder => &["patterns"],
        T::ToolCall => {
            &["tool", "pattern", "expected_no_call", "required_calls", "call_set", "order", "min_count", "max_count"]
        }
        T::ToolCountLe => &["tool", "max", "value"],
        T::NoRepeatedCommandLoop => &["max_repeats", "max", "value"],
        T::TotalTokensLe | T::ElapsedSecondsLe | T::CommandCountLe => &["max", "value"],
        T::Judge | T::Rubric | T::Factuality => &[
            "preset",
            "prompt",
            "rubric",
            "review_rubric",
            "threshold",
            "graded_dimensions",
            "dynamic_rubric",
            "per_step",
        ],
        // types of other dialects, which read their operands themselves
        _ => &[],
    }
}

/// `name`, else `description`, else the type; the first that is not empty.
pub(super) fn written_label(node: &Node<'_>) -> String {
    let named =
        ["name", "description", "type"].into_iter().filter_map(|key| node.get(key)).find(|value| value.is_truthy());
    named.or_else(|| node.get("type")).map_or_else(|| "None".to_owned(), Node::python_str)
}

/// The targets of `depends_on`, whatever form they are written in.
pub(super) fn prerequisites(node: &Node<'_>) -> Vec<String> {
    node.get("depends_on").and_then(targets).unwrap_or_default()
}

fn targets(node: &Node<'_>) -> Option<Vec<String>> {
    shape::text(node).map(|target| vec![target.to_owned()]).or_else(|| shape::texts(node))
}

/// Reads one assertion. `None` when it has an error, which is reported.
pub(super) fn read(
    report: &mut Report<'_>,
    environment: &Environment,
    node: &Node<'_>,
    scope: Scope,
) -> Option<Assertion> {
    if node.members().is_none() {
        report.error("operand", node.span, "must be an object");
        return None;
    }
    let errors = report.error_count();
    let variants = read_variants(report, environment, node);
    let assertion_type = read_type(report, node)?;
    let known: Vec<_> = COMMON.iter().chain(own_fields(assertion_type)).copied().collect();
    report.closed(Level::Error, "unknown-assertion-field", node, &known, "");
    for key in ["name", "description"] {
        let message = format!("{key} must be a string");
        report.optional(node, key, "label-shape", Node::as_str, &message);
    }
    let ignore_case = report.optional(node, "ci", "boolean-field", Node::as_bool, "ci must be boolean").unwrap_or(true);
    let severity = read_severity(report, node, assertion_type);
    let oracle = read_oracle(report, node, assertion_type);
    let depends_on = report
        .nullable(
            node,
            "depends_on",
            "depends-on",
            targets,
            "depends_on must be a non-empty string or a non-empty list of non-empty strings",
        )
        .unwrap_or_default();
    if scope == Scope::Turn && !depends_on.is_empty() {
        report.error("turn-assertion", span_of(node, "depends_on"), "depends_on is not supported in turn assertions");
    }
    let at_least = read_at_least(report, node, assertion_type);
    let expanded = judge::expand_preset(node, assertion_type);
    let check = operands::read(report, environment, &expanded, assertion_type, ignore_case, scope);
    if report.error_count() > errors {
        return None;
    }
    Some(Assertion {
        assertion_type,
        id: None,
        text: None,
        weight: None,
        label: written_label(&expanded),
        severity,
        oracle,
        variants,
        depends_on,
        at_least,
        one_arm: None,
        is_awaited: false,
        check: check?,
        span: node.span,
        origin: Origin::Case,
        original_type: None,
        source: None,
    })
}

/// Where a field stands, or the object when it is absent.
pub(super) fn span_of(node: &Node<'_>, key: &str) -> Span {
    node.get(key).map_or(node.span, |value| value.span)
}

fn read_type(report: &mut Report<'_>, node: &Node<'_>) -> Option<AssertionType> {
    let written = node.get("type");
    let types = AssertionType::of_shared_benchmark();
    let known = written.and_then(Node::as_str).and_then(AssertionType::from_word).filter(|known| types.contains(known));
    if known.is_none() {
        let shown = written.map_or_else(|| "None".to_owned(), Node::python_repr);
        let words: Vec<_> = types.iter().map(|known| known.word()).collect();
        let meant = written.and_then(Node::as_str).and_then(|word| super::suggest::closest(word, &words));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the types are {}", words.join(", ")),
        };
        let message = format!("has unsupported type {shown}");
        report.error_with_help("unknown-assertion-type", span_of(node, "type"), message, help);
    }
    known
}

fn read_variants(report: &mut Report<'_>, environment: &Environment, node: &Node<'_>) -> VariantFilter {
    let rule = "variant-filter";
    let mut list = |key: &str| {
        let value = node.get(key)?;
        let Some(names) = shape::texts(value) else {
            let message = format!("{key} must be a list of strings, not empty and without empty names");
            report.error(rule, value.span, message);
            return None;
        };
        if let Some(name) = shape::repeated(&names) {
            report.error(rule, value.span, format!("{key} names {} twice", python::repr_str(name)));
        }
        if let Some(name) = names.iter().find(|name| !environment.arms.contains(*name)) {
            let mut arms: Vec<_> = environment.arms.iter().map(String::as_str).collect();
            arms.sort_unstable();
            let message = format!("{key} names {}, which the suite does not declare", python::repr_str(name));
            report.error_with_help(rule, value.span, message, format!("declared: {}", arms.join(", ")));
        }
        Some(names)
    };
    let (variants, only_variants) = (list("variants"), list("only_variants"));
    let except = list("except_variants").unwrap_or_default();
    if node.get("variants").is_some() && node.get("only_variants").is_some() {
        report.error(rule, span_of(node, "only_variants"), "sets both `variants` and `only_variants`; use one");
    }
    let only = variants.or(only_variants);
    if let Some(name) = only.iter().flatten().find(|name| except.contains(name)) {
        let message = format!("{} is both included and excluded", python::repr_str(name));
        report.error(rule, span_of(node, "except_variants"), message);
    }
    VariantFilter { only, except }
}

fn read_severity(report: &mut Report<'_>, node: &Node<'_>, assertion_type: AssertionType) -> Severity {
    let rule = "severity-conflict";
    let word = |value: &Node<'_>| value.as_str().and_then(Severity::from_word);
    let declared =
        report.nullable(node, "severity", rule, word, "severity must be one of ['critical', 'gate', 'soft']");
    let shorthands = [Severity::Critical, Severity::Gate, Severity::Soft].into_iter().filter(|severity| {
        let message = format!("{severity} must be boolean");
        report.optional(node, severity.word(), "boolean-field", Node::as_bool, &message) == Some(true)
    });
    let shorthands: Vec<_> = shorthands.collect();
    if shorthands.len() > 1 {
        let message = format!("sets both `{}` and `{}`; use one severity", shorthands[0], shorthands[1]);
        report.error(rule, span_of(node, shorthands[1].word()), message);
    } else if let (Some(shorthand), true) = (shorthands.first(), node.get("severity").is_some_and(|s| !s.is_null())) {
        let message = format!("sets both `severity` and `{shorthand}`; use one");
        report.error(rule, span_of(node, shorthand.word()), message);
    }
    let soft_by_nature = node.get("atLeast").is_some()
        || assertion_type.group() == TypeGroup::Qualitative
        || assertion_type == AssertionType::Similarity;
    let derived = if soft_by_nature { Severity::Soft } else { Severity::Gate };
    declared.or(shorthands.first().copied()).unwrap_or(derived)
}

fn read_oracle(report: &mut Report<'_>, node: &Node<'_>, assertion_type: AssertionType) -> OracleTier {
    let word = |value: &Node<'_>| value.as_str().and_then(OracleTier::from_word);
    let message = "oracle must be one of ['demo', 'live', 'strong']";
    let derived = match assertion_type {
        AssertionType::Script => OracleTier::Demo,
        other if other.group() == TypeGroup::Qualitative => OracleTier::Live,
        _ => OracleTier::Strong,
    };
    report.nullable(node, "oracle", "operand", word, message).unwrap_or(derived)
}

fn read_at_least(report: &mut Report<'_>, node: &Node<'_>, assertion_type: AssertionType) -> Option<f64> {
    let rule = "at-least";
    let value = node.get("atLeast")?;
    let scored = assertion_type.group() == TypeGroup::Qualitative
        || matches!(assertion_type, AssertionType::Similarity | AssertionType::Script);
    if !scored {
        let help = "the scored types are judge, rubric, factuality, similarity and script";
        report.error_with_help(rule, value.span, "atLeast is only valid on scored assertions", help);
        return None;
    }
    if let Some(key) = ["dynamic_rubric", "per_step"].into_iter().find(|key| node.get(key).is_some_and(Node::is_truthy))
    {
        report.error(rule, value.span, format!("atLeast cannot be combined with {key}"));
    }
    report.optional(node, "atLeast", rule, shape::within(0.0, 1.0), "atLeast must be a number in [0, 1]")
}
