//! One assertion of an open suite: what decides it, and how others refer to it.

use std::borrow::Cow;

use skill_lift_text::python;

use super::operands::{self, Typed};
use super::remark::{Remark, cut};
use super::rule::{Compiler, Rule};
use super::{calls, sentence};
use crate::json::{Member, Node, Span, Value};
use crate::suite::check::Check;
use crate::suite::environment::Patterns;
use crate::suite::model::{Assertion, AssertionType, OracleTier, Origin, Severity, VariantFilter};
use crate::suite::shape;

/// Where an assertion stands, as far as that says how to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// In a list of the case.
    Own,
    /// In the list that the suite declares for all cases.
    Common,
    /// In a list of what must not be.
    MustNot,
}

/// What an author calls an entry of a list of what must not be.
const MUST_NOT: &str = "must_not";

/// Keys of the text that a judge decides by; the first that is there counts.
const JUDGED_TEXTS: [&str; 8] =
    ["criterion", "pass_if", "check", "description", "text", "expectation", "requirement", "name"];

/// Seconds that a program may take.
const SCRIPT_SECONDS: f64 = 30.0;

/// Reads an entry of a list of assertions. `None` when it is none, which is remarked on. What is wrong with an operand
/// is remarked on too, and the assertion is left to a judge.
pub(super) fn read(
    node: &Node<'_>,
    standing: Standing,
    patterns: &Patterns,
    remarks: &mut Vec<Remark>,
) -> Option<Assertion> {
    let (text, mut key) = match (node.as_str(), node.members()) {
        (Some(text), _) => (Some(text.to_owned()), text.to_owned()),
        (None, Some(_)) => {
            let text = judged_text(node).map(str::to_owned);
            let key = ["id", "name", "dimension"].into_iter().find_map(|key| key_text(node.get(key)?));
            let key = key.or_else(|| text.clone()).or_else(|| operands::shown(node)).unwrap_or_default();
            (text, key)
        }
        (None, None) => {
            let message = format!("neither a text nor an object: {}", cut(&node.python_repr()));
            let help = "write the assertion as a text";
            remarks.push(Remark::error("unreadable_assertion", node.span, message, help));
            return None;
        }
    };
    let decided = if standing == Standing::MustNot {
        // a judge who sees the name alone must not take it for a wish
        key.insert_str(0, "must not: ");
        Ok(Decided::judge(Some(MUST_NOT)))
    } else {
        decide(node, patterns, remarks)
    };
    let mut decided = decided.unwrap_or_else(|remark| {
        let span = if remark.span == Span::default() { node.span } else { remark.span };
        remarks.push(Remark { span, ..remark });
        Decided::judge(None)
    });
    let is_blank = text.as_deref().is_none_or(|text| python::strip(text).is_empty());
    if decided.check.is_none() && is_blank {
        let message = format!("an assertion without a text: {}", cut(&node.python_repr()));
        remarks.push(Remark::error(
            "blank_operand",
            node.span,
            message,
            "write what a good answer does, or take it out",
        ));
        return None;
    }
    let (assertion_type, check) = match decided.check.take() {
        Some(found) => found,
        None => {
            let text = text.as_deref().unwrap_or_default();
            (AssertionType::Judge, judgement(&key, rubric(node, text, standing)))
        }
    };
    Some(Assertion {
        id: node.get("id").and_then(key_text),
        text,
        weight: node.get("weight").and_then(shape::finite).filter(|weight| *weight >= 0.0),
        original_type: decided.original_type,
        ..written(node, standing, key, assertion_type, check)
    })
}

/// A text that a judge decides, whatever it looks like. May be empty.
pub(super) fn prose(node: &Node<'_>, text: &str, standing: Standing) -> Assertion {
    let check = judgement(text, vec![text.to_owned()]);
    let text = text.to_owned();
    Assertion { text: Some(text.clone()), ..written(node, standing, text, AssertionType::Judge, check) }
}

/// An assertion with what all of them have in these dialects.
fn written(
    node: &Node<'_>,
    standing: Standing,
    label: String,
    assertion_type: AssertionType,
    check: Check,
) -> Assertion {
    Assertion {
        assertion_type,
        id: None,
        text: None,
        weight: None,
        label,
        severity: Severity::Gate,
        oracle: match check {
            Check::Judgement { .. } => OracleTier::Live,
            Check::Script { .. } => OracleTier::Demo,
            _ => OracleTier::Strong,
        },
        variants: VariantFilter::default(),
        depends_on: Vec::new(),
        at_least: None,
        check,
        span: node.span,
        origin: if standing == Standing::Common { Origin::Common } else { Origin::Case },
        original_type: None,
        source: Some(node.clone().into_owned()),
    }
}

/// The list of dimensions of a case as one task that gives scores; it stays out of every pass rate.
pub(super) fn dimensions(list: &Node<'_>, remarks: &mut Vec<Remark>) -> Option<Assertion> {
    for item in list.items().unwrap_or_default() {
        if item.get("name").and_then(shape::text).is_none() || item.get("rubric").and_then(shape::text).is_none() {
            let message = format!("a dimension without `name` or `rubric`: {}", cut(&item.python_repr()));
            let help = "write {\"name\": …, \"scale\": \"1-5\", \"rubric\": …}";
            remarks.push(Remark::error("judge-fields", item.span, message, help));
            return None;
        }
    }
    let label = "graded_dimensions".to_owned();
    let node = object([
        ("type", Value::String("judge".into())),
        ("name", Value::String(label.clone().into())),
        ("graded_dimensions", list.clone().into_owned().value),
    ]);
    let check = Check::Judgement { assertion: node };
    Some(Assertion { severity: Severity::Soft, ..written(list, Standing::Own, label, AssertionType::Judge, check) })
}

/// Gives an assertion another label, also where a judge reads it.
pub(super) fn relabel(assertion: &mut Assertion, label: String) {
    if let Check::Judgement { assertion: node } = &mut assertion.check
        && let Value::Object(members) = &mut node.value
        && let Some(name) = members.iter_mut().find(|member| member.key == "name")
    {
        name.value.value = Value::String(label.clone().into());
    }
    assertion.label = label;
}

/// What decides an assertion.
struct Decided {
    /// The type and the check; `None` for a judge.
    check: Option<(AssertionType, Check)>,
    original_type: Option<String>,
}

impl Decided {
    fn judge(original_type: Option<&str>) -> Self {
        Self { check: None, original_type: original_type.map(str::to_owned) }
    }
}

fn decide(node: &Node<'_>, patterns: &Patterns, remarks: &mut Vec<Remark>) -> Result<Decided, Remark> {
    let case_sensitive = node.get("case_sensitive").and_then(Node::as_bool);
    let compiler = Compiler { patterns, case_sensitive, span: node.span };
    let mut compile = |rule: Rule, word: Option<&str>| {
        let check = Some(compiler.compile(rule, remarks)?);
        Ok(Decided { check, original_type: word.map(str::to_owned) })
    };
    if let Some(text) = node.as_str() {
        return sentence::parse(text).map_or_else(|| Ok(Decided::judge(None)), |rule| compile(rule, None));
    }
    if node.get("passed").is_some() && judged_text(node).is_some() {
        let message = "a verdict stands in the suite; only its text is read".to_owned();
        let help = "take `passed` and `evidence` out: verdicts belong to a run";
        remarks.push(Remark::warning("verdict_in_suite_ignored", node.span, message, help));
        return Ok(Decided::judge(None));
    }
    if let Some(reason) = node.get("retired").filter(|reason| reason.is_truthy()) {
        let check = Check::Retired { reason: reason.python_str() };
        return Ok(Decided { check: Some((AssertionType::Retired, check)), original_type: None });
    }
    if let Some(command) = node.get("cmd") {
        return script(node, command).map(|check| Decided { check: Some(check), original_type: None });
    }
    if let Some(check) = node.get("check").filter(|check| check.members().is_some()) {
        let word = format!("check:{}", check.get("kind").and_then(Node::as_str).unwrap_or("?"));
        return Ok(Decided { check: calls::read(check, &compiler)?, original_type: Some(word) });
    }
    // a `check` that names a kind is no type that the author wrote
    let written = node.get("type").and_then(Node::as_str);
    let Some(word) = operands::type_word(node) else { return Ok(Decided::judge(None)) };
    match operands::typed(node, word, remarks)? {
        Typed::Rule(rule) => {
            let check = Some(compiler.compile(rule, remarks)?);
            Ok(Decided { check, original_type: written.map(str::to_owned) })
        }
        Typed::Prose => Ok(Decided::judge(written)),
        Typed::Unscripted => {
            let message = format!("the type `{}` promises a check by machine, but says nothing to compute", cut(word));
            let help = "it is left to a judge; give the text, pattern or path that is looked for";
            remarks.push(Remark::warning("unscripted_code_check", node.span, message, help));
            Ok(Decided::judge(written))
        }
    }
}

/// `{cmd, expect_exit, expect_substring}`
fn script(node: &Node<'_>, command: &Node<'_>) -> Result<(AssertionType, Check), Remark> {
    let refuse = |span: Span, message: &str, help: &str| Err(Remark::error("script", span, message.to_owned(), help));
    let parts = shape::text(command).map(|part| vec![part.to_owned()]).or_else(|| shape::texts(command));
    let Some(parts) = parts else {
        return refuse(command.span, "`cmd` is no command", "write a list: the program and its arguments");
    };
    let exit = node.get("expect_exit");
    let Some(pass_exit_code) = exit.map_or(Some(0), shape::integer) else {
        let span = exit.map_or(node.span, |exit| exit.span);
        return refuse(span, "`expect_exit` is no whole number", "write the exit code that passes");
    };
    let wanted = node.get("expect_substring").filter(|wanted| !wanted.is_null());
    if let Some(wanted) = wanted.filter(|wanted| shape::text(wanted).is_none()) {
        return refuse(wanted.span, "`expect_substring` is no text", "write the text that the program prints");
    }
    let check = Check::Script {
        // the folder of the run has one name where commands are filled in
        command: parts.iter().map(|part| part.replace("{case_dir}", "{output_dir}")).collect(),
        timeout_seconds: SCRIPT_SECONDS,
        pass_exit_code,
        expect_output: wanted.and_then(Node::as_str).map(str::to_owned),
    };
    Ok((AssertionType::Script, check))
}

/// The text that a judge decides by. A `check` that only names a kind is none.
fn judged_text<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    JUDGED_TEXTS.into_iter().find_map(|key| {
        let text = node.get(key)?.as_str().filter(|text| !python::strip(text).is_empty())?;
        (key != "check" || !operands::is_type_word(text)).then_some(text)
    })
}

/// The lines that a judge decides by: the text, with what the author wrote as its value beside it.
fn rubric(node: &Node<'_>, text: &str, standing: Standing) -> Vec<String> {
    let line = if standing == Standing::MustNot {
        format!("The answer must not do or hold the following: {text}")
    } else {
        text.to_owned()
    };
    let beside = ["value", "guidance"].into_iter().filter_map(|key| node.get(key).and_then(shape::text));
    std::iter::once(line).chain(beside.filter(|beside| *beside != text).map(str::to_owned)).collect()
}

/// The judge task of an assertion. It holds what a judge needs; the assertion itself stays as it is beside it.
pub(super) fn judgement(label: &str, rubric: Vec<String>) -> Check {
    let line = |text: String| Node::synthetic(Value::String(Cow::Owned(text)));
    let assertion = object([
        ("type", Value::String("judge".into())),
        ("name", Value::String(Cow::Owned(label.to_owned()))),
        ("rubric", Value::Array(rubric.into_iter().map(line).collect())),
    ]);
    Check::Judgement { assertion }
}

/// An object with these members.
pub(super) fn object<'a, const N: usize>(members: [(&'static str, Value<'a>); N]) -> Node<'a> {
    let member = |(key, value): (&'static str, Value<'a>)| Member {
        key: key.into(),
        key_span: Span::default(),
        value: Node::synthetic(value),
    };
    Node::synthetic(Value::Object(members.into_iter().map(member).collect()))
}

/// The text of a number or of a text that is not blank.
pub(super) fn key_text(node: &Node<'_>) -> Option<String> {
    match &node.value {
        Value::String(text) if !python::strip(text).is_empty() => Some(text.clone().into_owned()),
        Value::Number(number) => Some(number.text().to_owned()),
        _ => None,
    }
}
