//! Assertions that name their type: which spelling means which rule, and where its operand stands.

use skill_lift_text::python;

use super::remark::{Remark, cut};
use super::rule::Rule;
use super::sentence;
use crate::json::Node;
use crate::suite::model::AssertionType;
use crate::suite::shape;
use crate::suite::suggest;

/// What the type of an assertion makes of it.
pub(super) enum Typed {
    /// A machine can decide it.
    Rule(Rule),
    /// Its type is one that a judge decides, or none at all.
    Prose,
    /// Its type sounds like a machine's, but nothing says what to compute.
    Unscripted,
}

/// Types that only a judge can decide.
const JUDGED: [&str; 15] = [
    "llm",
    "llm_judge",
    "semantic",
    "qualitative",
    "manual",
    "output",
    "transcript",
    "file_content",
    "ratio",
    "quantitative",
    "judge",
    "rubric",
    "factuality",
    "text",
    "assertion",
];

/// Types that a machine can decide.
const DECIDED: [&str; 32] = [
    "contains",
    "contains_phrase",
    "content_includes",
    "string_contains",
    "string_match",
    "contains_any",
    "content_includes_any",
    "contains_all",
    "content_includes_all",
    "not_contains",
    "not_contains_any",
    "content_excludes_any",
    "excludes_any",
    "regex",
    "contains_pattern",
    "regex_includes",
    "regex_excludes",
    "not_contains_pattern",
    "not_regex",
    "starts_with",
    "ends_with",
    "line_count_ge",
    "valid_json",
    "json_key_exists",
    "file_exists",
    "string_contains_in_file",
    "contains_in_file",
    "code_pattern",
    "banned_phrase_absent",
    "content_preserved",
    "code",
    "script",
];

/// The word that says what kind of assertion an object is: its `type`, else a `check` that is such a word.
pub(super) fn type_word<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    let check_word = || node.get("check").and_then(Node::as_str).filter(|word| is_type_word(word));
    node.get("type").and_then(Node::as_str).or_else(check_word)
}

/// A name for an object without a text: its type and its operand.
pub(super) fn shown(node: &Node<'_>) -> Option<String> {
    let word = type_word(node)?;
    let keys = ["value", "values", "phrase", "phrases", "pattern", "path", "file", "key"];
    let operand = keys.into_iter().find_map(|key| node.get(key));
    Some(operand.map_or_else(|| word.to_owned(), |operand| format!("{word}: {}", cut(&operand.python_str()))))
}

/// Whether a `check` names a kind instead of stating what is checked.
pub(super) fn is_type_word(word: &str) -> bool {
    DECIDED.contains(&word) || JUDGED.contains(&word)
}

/// Reads the rule of an object.
///
/// # Errors
/// An operand that is no text.
pub(super) fn typed(node: &Node<'_>, word: &str, remarks: &mut Vec<Remark>) -> Result<Typed, Remark> {
    let texts = |keys: &[&str]| operand(node, keys);
    let literal = &["value", "values", "phrase", "phrases"];
    let pattern = &["value", "pattern"];
    let rule = match word {
        "string_match" if texts(literal)?.is_none() => one(texts(&["pattern"])?)?.map(Rule::Regex),
        "contains" | "contains_phrase" | "content_includes" | "string_contains" | "string_match" => texts(literal)?
            .map(|operand| match operand {
                Operand::One(needle) => Rule::Contains(needle),
                Operand::List(needles) => Rule::ContainsAny(needles),
            }),
        "contains_any" | "content_includes_any" => texts(literal)?.map(|operand| Rule::ContainsAny(operand.list())),
        "contains_all" | "content_includes_all" => texts(literal)?.map(|operand| Rule::ContainsAll(operand.list())),
        "not_contains" => texts(literal)?.map(|operand| match operand {
            Operand::One(needle) => Rule::NotContains(needle),
            Operand::List(needles) => Rule::ExcludesAny { needles, ignore_case: true },
        }),
        // the only program that is known to run this spelling respects case
        "not_contains_any" => {
            texts(literal)?.map(|operand| Rule::ExcludesAny { needles: operand.list(), ignore_case: false })
        }
        "content_excludes_any" | "excludes_any" => {
            texts(literal)?.map(|operand| Rule::ExcludesAny { needles: operand.list(), ignore_case: true })
        }
        "regex" | "contains_pattern" => one(texts(pattern)?)?.map(Rule::Regex),
        "regex_includes" => one(texts(pattern)?)?.map(Rule::RegexIncludes),
        "regex_excludes" => one(texts(pattern)?)?.map(|source| Rule::NotRegex { source, ignore_case: true }),
        "not_contains_pattern" | "not_regex" => {
            one(texts(pattern)?)?.map(|source| Rule::NotRegex { source, ignore_case: false })
        }
        "starts_with" => one(texts(literal)?)?.map(Rule::StartsWith),
        "ends_with" => one(texts(literal)?)?.map(Rule::EndsWith),
        "line_count_ge" => ["value", "min", "lines"]
            .into_iter()
            .find_map(|key| node.get(key))
            .and_then(shape::count)
            .map(Rule::LineCountGe),
        "valid_json" => Some(Rule::ValidJson),
        "json_key_exists" => one(texts(&["key", "value"])?)?.map(Rule::JsonKeyExists),
        "file_exists" => match one(texts(&["path", "file", "value"])?)? {
            Some(path) => Some(Rule::FileExists(path)),
            None => stated_file(node),
        },
        "string_contains_in_file" | "contains_in_file" => {
            match (one(texts(&["file", "path"])?)?, one(texts(&["value", "phrase"])?)?) {
                (Some(file), Some(needle)) => Some(Rule::ContainsInFile { file, needle }),
                _ => None,
            }
        }
        "code_pattern" | "code" => match stated(node) {
            Some(rule) => Some(rule),
            None => return Ok(Typed::Unscripted),
        },
        // most of these sentences are prose; that is no fault of the author
        "banned_phrase_absent" | "content_preserved" => return Ok(stated(node).map_or(Typed::Prose, Typed::Rule)),
        "script" => None,
        other if AssertionType::from_word(other).is_some() && !JUDGED.contains(&other) => {
            let message = format!("the type `{other}` is read in suites of shared-benchmark only");
            let help = "the assertion is left to a judge; move the suite to that dialect to have it computed";
            let span = node.get("type").map_or(node.span, |word| word.span);
            remarks.push(Remark::warning("unknown-assertion-type", span, message, help));
            return Ok(Typed::Prose);
        }
        other => {
            if let Some(meant) = suggest::closest(other, &DECIDED).filter(|_| !JUDGED.contains(&other)) {
                let message =
                    format!("the type `{}` is not known, so that the assertion is left to a judge", cut(other));
                let span = node.get("type").map_or(node.span, |word| word.span);
                let help = format!("did you mean `{meant}`?");
                remarks.push(Remark::warning("unknown-assertion-type", span, message, &help));
            }
            return Ok(Typed::Prose);
        }
    };
    Ok(rule.map_or(Typed::Unscripted, Typed::Rule))
}

/// The sentence that stands in `check`.
fn stated(node: &Node<'_>) -> Option<Rule> {
    node.get("check").and_then(Node::as_str).and_then(sentence::parse)
}

/// A text of the exact form `<path> exists`.
fn stated_file(node: &Node<'_>) -> Option<Rule> {
    let text = ["text", "description", "check"].into_iter().find_map(|key| node.get(key)?.as_str())?;
    let text = python::strip(text);
    let path = text.strip_suffix(" exists after execution").or_else(|| text.strip_suffix(" exists"))?;
    let path = path.trim_matches(['`', '\'', '"']);
    (!path.contains(char::is_whitespace)).then(|| Rule::FileExists(path.to_owned()))
}

/// What stands under the key of an operand.
enum Operand {
    One(String),
    List(Vec<String>),
}

impl Operand {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::List(texts) => texts,
        }
    }
}

fn operand(node: &Node<'_>, keys: &[&str]) -> Result<Option<Operand>, Remark> {
    let Some((key, value)) = keys.iter().find_map(|key| Some((key, node.get(key)?))) else { return Ok(None) };
    if let Some(text) = value.as_str() {
        return Ok(Some(Operand::One(text.to_owned())));
    }
    if let Some(number) = value.as_number() {
        return Ok(Some(Operand::One(number.text().to_owned())));
    }
    shape::strings(value).map(|texts| Some(Operand::List(texts))).ok_or_else(|| {
        let message = format!("`{key}` is neither a text nor a list of texts: {}", cut(&value.python_repr()));
        Remark::error("operand", value.span, message, "write the text that is looked for in quotes")
    })
}

/// The operand of a rule that takes one.
fn one(operand: Option<Operand>) -> Result<Option<String>, Remark> {
    match operand {
        None => Ok(None),
        Some(Operand::One(text)) => Ok(Some(text)),
        Some(Operand::List(texts)) => match <[String; 1]>::try_from(texts) {
            Ok([text]) => Ok(Some(text)),
            Err(texts) => {
                let message = format!("{} operands stand where one is expected", texts.len());
                let help = "write one text, or one assertion for each of them";
                Err(Remark::error("operand", crate::json::Span::default(), message, help))
            }
        },
    }
}
