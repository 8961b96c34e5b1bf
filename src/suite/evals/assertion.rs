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
    let is_refused = decided.is_err();
    let mut decided = decided.unwrap_or_else(|remark| {
        let span = if remark.span == Span::default() { node.span } else { remark.span };
        remarks.push(Remark { span, ..remark });
        Decided::judge(None)
    });
    let is_blank = text.as_deref().is_none_or(|text| python::strip(text).is_empty());
    if decided.check.is_none() && is_blank {
        if !is_refused {
            let message = format!("an assertion without a text: {}", cut(&node.python_repr()));
            let help = "write what a good answer does, or take it out";
            remarks.push(Remark::error("blank_operand", node.span, message, help));
        }
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
        one_arm: None,
        is_awaited: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn assertion(text: &str) -> Assertion {
        let mut remarks = Vec::new();
        let node = parse(text, Limits::SUITE).unwrap();
        read(&node, Standing::Own, &Patterns::default(), &mut remarks).unwrap_or_else(|| panic!("{text}: {remarks:?}"))
    }

    /// Type and whether case is ignored, for a check of a text.
    fn shown(text: &str) -> (&'static str, Option<bool>) {
        let found = assertion(text);
        let ignore_case = match &found.check {
            Check::Contains { matching, .. }
            | Check::ContainsAny { matching, .. }
            | Check::ContainsAll { matching, .. }
            | Check::ExcludesAny { matching, .. }
            | Check::StartsWith { matching, .. }
            | Check::EndsWith { matching, .. }
            | Check::ContainsInFile { matching, .. } => Some(matching.ignore_case),
            Check::Regex { pattern, .. } | Check::NotRegex { pattern, .. } => {
                let search = pattern.pattern.search("ABC");
                Some(matches!(search, skill_lift_text::pattern::Search::Match(_)))
            }
            _ => None,
        };
        (found.assertion_type.word(), ignore_case)
    }

    #[test]
    fn spellings_have_the_case_rule_of_the_programs_that_run_them() {
        for (text, kind, ignores_case) in [
            (r#""contains 'x'""#, "contains", true),
            (r#"{"name": "n", "type": "contains", "value": "x"}"#, "contains", true),
            (r#"{"name": "n", "type": "contains", "value": ["x", "y"]}"#, "contains_any", true),
            (r#"{"text": "t", "type": "contains_phrase", "phrase": "x"}"#, "contains", true),
            (r#"{"text": "t", "check": "string_match", "value": "x"}"#, "contains", true),
            (r#"{"name": "n", "type": "contains", "value": "x", "case_sensitive": true}"#, "contains", false),
            (r#"{"type": "content_includes_all", "value": ["x", "y"]}"#, "contains_all", true),
            (r#"{"text": "t", "type": "not_contains", "phrase": "x"}"#, "not_contains", true),
            (r#"{"name": "n", "type": "not_contains_any", "values": ["x"]}"#, "excludes_any", false),
            (r#"{"name": "n", "type": "content_excludes_any", "values": ["x"]}"#, "excludes_any", true),
            (r#"{"type": "string_contains_in_file", "file": "a.md", "value": "x"}"#, "contains_in_file", true),
            (r#"{"type": "ends_with", "value": "x"}"#, "ends_with", true),
            (r#"{"name": "n", "type": "string_match", "pattern": "b"}"#, "regex", false),
            (r#"{"text": "t", "type": "contains_pattern", "pattern": "b"}"#, "regex", false),
            (r#"{"type": "regex", "value": "(?i)b"}"#, "regex", true),
            (r#"{"type": "regex_includes", "value": "b"}"#, "regex", true),
            (r#"{"type": "regex_includes", "value": "b", "case_sensitive": true}"#, "regex", false),
            (r#"{"type": "regex_excludes", "value": "b"}"#, "not_regex", true),
            (r#"{"type": "not_contains_pattern", "pattern": "b"}"#, "not_regex", false),
        ] {
            assert_eq!(shown(text), (kind, Some(ignores_case)), "{text}");
        }
    }

    #[test]
    fn what_no_machine_can_decide_is_left_to_a_judge() {
        for (text, original, rubric) in [
            (r#""contains a table""#, None, "contains a table"),
            (r#"{"id": "1.1", "text": "t", "trap": "why"}"#, None, "t"),
            (r#"{"name": "n", "check": "contains 'x'"}"#, None, "contains 'x'"),
            (r#"{"dimension": "d", "pass_if": "p"}"#, None, "p"),
            (r#"{"name": "n", "description": "d", "type": "llm_judge", "criterion": "c"}"#, Some("llm_judge"), "c"),
            (r#"{"text": "t", "type": "contains"}"#, Some("contains"), "t"),
            (r#"{"text": "t", "check": "qualitative", "value": "v"}"#, None, "t"),
            (
                r#"{"name": "n", "type": "content_preserved", "check": "preserves #a"}"#,
                Some("content_preserved"),
                "preserves #a",
            ),
            (r#"{"text": "t", "check": {"kind": "no_writes"}}"#, Some("check:no_writes"), "t"),
            (r#"{"text": "t", "check": {"kind": "no_write_of", "match": {"odd": 1}}}"#, Some("check:no_write_of"), "t"),
            (r#"{"text": "The report exists", "type": "file_exists"}"#, Some("file_exists"), "The report exists"),
            (r#"{"text": "contains 'x'", "passed": null}"#, None, "contains 'x'"),
        ] {
            let found = assertion(text);
            let Check::Judgement { assertion } = &found.check else { panic!("{text}: {:?}", found.check) };
            assert_eq!(found.original_type.as_deref(), original, "{text}");
            let line = assertion.get("rubric").and_then(|rubric| rubric.items()?.first()?.as_str());
            assert_eq!(line, Some(rubric), "{text}");
        }
        let beside = assertion(r#"{"text": "t", "check": "qualitative", "value": "v"}"#);
        let Check::Judgement { assertion: node } = &beside.check else { panic!("a judgement") };
        assert_eq!(node.get("rubric").unwrap().python_repr(), "['t', 'v']");
    }

    #[test]
    fn assertions_keep_what_verdicts_may_repeat() {
        let text = r#"{"id": 7, "name": "n", "description": "d", "check": "c", "weight": 2, "score": 1}"#;
        let found = assertion(text);
        assert_eq!((found.id.as_deref(), found.label.as_str(), found.weight), (Some("7"), "7", Some(2.0)));
        assert_eq!(found.text.as_deref(), Some("c"));
        assert_eq!(found.wordings().collect::<Vec<_>>(), ["n", "d", "c"]);
        assert_eq!(found.source, Some(parse(text, Limits::SUITE).unwrap().into_owned()));
        assert_eq!(assertion("\"prose\"").wordings().collect::<Vec<_>>(), ["prose"]);
        assert_eq!(assertion(r#"{"type": "contains", "value": "x"}"#).label, "contains: x");
    }

    #[test]
    fn programs_and_calls_are_read() {
        let found =
            assertion(r#"{"check": "c", "cmd": ["py", "{case_dir}/x"], "expect_exit": 3, "expect_substring": "s"}"#);
        let Check::Script { command, pass_exit_code, expect_output, .. } = &found.check else { panic!("a script") };
        assert_eq!(
            (command.join(" "), *pass_exit_code, expect_output.as_deref()),
            ("py {output_dir}/x".to_owned(), 3, Some("s"))
        );
        let found = assertion(
            r#"{"text": "t", "check": {"kind": "write_ordering", "first": {"tool": "a", "args_contain": {"k": "v"}},
                "then": {"args_match": {"k": "^w"}}}}"#,
        );
        let Check::WriteOrdering { first, then } = &found.check else { panic!("an order") };
        assert_eq!(
            (first.tool.as_deref(), first.contains.len(), then.matches[0].1.source.as_str()),
            (Some("a"), 1, "^w")
        );
        assert_eq!(assertion(r#"{"check": "c", "retired": "r"}"#).class().word(), "retired");
    }
}
