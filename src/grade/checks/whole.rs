//! Checks of the answer as a whole: how it begins and ends, how many lines it has, whether it is JSON.

use skill_lift_text::python;

use super::Finding;
use crate::grade::answer::Answer;
use crate::json::{self, Item, JsonErrorKind, Tape};
use crate::suite::TextMatching;

/// Code points of the answer's edge that a failure shows.
const SHOWN_EDGE: usize = 40;

pub(super) fn starts_with(needle: &str, matching: TextMatching, answer: &Answer<'_>) -> Finding {
    let text = python::strip_start(answer.for_literals(matching.comparison, matching.ignore_case));
    let passed = text.starts_with(&*folded(needle, matching));
    let edge: String = python::strip_start(answer.text(matching.comparison)).chars().take(SHOWN_EDGE).collect();
    at_edge("starts with", needle, passed, &edge, matching)
}

pub(super) fn ends_with(needle: &str, matching: TextMatching, answer: &Answer<'_>) -> Finding {
    let text = python::strip_end(answer.for_literals(matching.comparison, matching.ignore_case));
    let passed = text.ends_with(&*folded(needle, matching));
    let last = python::strip_end(answer.text(matching.comparison));
    let cut = last.char_indices().rev().nth(SHOWN_EDGE - 1).map_or(0, |(at, _)| at);
    at_edge("ends with", needle, passed, &last[cut..], matching)
}

fn folded(needle: &str, matching: TextMatching) -> std::borrow::Cow<'_, str> {
    if matching.ignore_case { python::casefold(needle) } else { needle.into() }
}

fn at_edge(verb: &str, needle: &str, passed: bool, edge: &str, matching: TextMatching) -> Finding {
    let (shown, edge) = (python::repr_str(needle), python::repr_str(edge));
    let evidence = if passed { format!("{verb} {shown}") } else { format!("{verb} {edge}, not {shown}") };
    Finding { comparison: Some(matching.comparison), ..Finding::decided(passed, evidence) }
}

pub(super) fn line_count_ge(min: u64, answer: &Answer<'_>) -> Finding {
    let count = line_count(answer.raw());
    Finding::decided(count >= min, format!("line_count={count}; min={min}"))
}

/// Lines end at CR, LF or CRLF; a line end at the end of the text begins no further line.
fn line_count(text: &str) -> u64 {
    let text = python::universal_newlines(text);
    let ends = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    ends + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

pub(super) fn valid_json(answer: &Answer<'_>) -> Finding {
    let document = json::read(answer.raw(), json::Limits::SIDECAR);
    // a key that stands twice is unwise, and JSON
    let problem = document.errors.iter().find(|error| !matches!(error.kind, JsonErrorKind::DuplicateKey(_)));
    match problem {
        None => Finding::decided(document.root.is_some(), "the answer is valid JSON".to_owned()),
        Some(problem) => Finding::decided(false, format!("the answer is not valid JSON: {problem}")),
    }
}

pub(super) fn json_key_exists(key: &str, answer: &Answer<'_>) -> Finding {
    let tape = match Tape::read(answer.raw(), json::Limits::SIDECAR) {
        Ok(tape) => tape,
        Err(problem) => return Finding::decided(false, format!("the answer is not valid JSON: {problem}")),
    };
    let mut at = Some(tape.root());
    for part in key.split('.') {
        at = at.and_then(|item| step(item, part));
    }
    let shown = python::repr_str(key);
    let evidence = if at.is_some() { format!("has key {shown}") } else { format!("missing key {shown}") };
    Finding::decided(at.is_some(), evidence)
}

/// The member of an object, or the element of an array when the part is an index.
fn step<'t, 'a>(item: Item<'t, 'a>, part: &str) -> Option<Item<'t, 'a>> {
    match item.items() {
        Some(mut items) if part.bytes().all(|byte| byte.is_ascii_digit()) => items.nth(part.parse().ok()?),
        Some(_) => None,
        None => item.get(part),
    }
}

#[cfg(test)]
mod tests {
    use skill_lift_text::view::Comparison;

    use super::super::testing::on_text;
    use super::*;

    const FOLDED: TextMatching = TextMatching { ignore_case: true, comparison: Comparison::Exact };
    const EXACT: TextMatching = TextMatching { ignore_case: false, comparison: Comparison::Exact };

    #[test]
    fn the_edges_are_compared_without_white_space_around() {
        let starts = |needle: &str, matching, text: &str| on_text(|a| starts_with(needle, matching, a), text);
        assert_eq!(starts("DEAR", FOLDED, "\n  dear all"), ("pass", "starts with 'DEAR'".to_owned()));
        assert_eq!(starts("Dear", EXACT, "dear all"), ("fail", "starts with 'dear all', not 'Dear'".to_owned()));
        let ends = |needle: &str, matching, text: &str| on_text(|a| ends_with(needle, matching, a), text);
        assert_eq!(ends("}", EXACT, "{}\n\n"), ("pass", "ends with '}'".to_owned()));
        assert_eq!(ends("STRASSE", FOLDED, "Straße "), ("pass", "ends with 'STRASSE'".to_owned()));
        let long = format!("{}é!", "x".repeat(100));
        assert_eq!(ends("?", EXACT, &long), ("fail", format!("ends with '{}é!', not '?'", "x".repeat(38))));
        assert_eq!(starts("x", EXACT, ""), ("fail", "starts with '', not 'x'".to_owned()));
    }

    #[test]
    fn lines_end_at_every_kind_of_line_end() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\r\nb\rc\n", 3), ("\n\n", 2), ("a\u{2028}b", 1)] {
            assert_eq!(line_count(text), lines, "{text:?}");
        }
        assert_eq!(on_text(|a| line_count_ge(3, a), "a\nb"), ("fail", "line_count=2; min=3".to_owned()));
    }

    #[test]
    fn json_is_the_whole_answer() {
        let state = |text: &str| on_text(valid_json, text).0;
        assert_eq!([state(" {\"a\": 1}\n"), state("7"), state("{\"a\":1,\"a\":2}")], ["pass"; 3]);
        assert_eq!(
            [state("```json\n{}\n```"), state("{} {}"), state(""), state("[NaN]"), state("{'a': 1}"), state("[1,]")],
            ["fail"; 6]
        );
    }

    #[test]
    fn keys_lead_through_objects_and_arrays() {
        let state = |key: &str| on_text(|a| json_key_exists(key, a), r#"{"a": [{"b": null}], "1": 2}"#).0;
        assert_eq!([state("a"), state("a.0.b"), state("1")], ["pass"; 3]);
        assert_eq!([state("A"), state("a.1"), state("a.b"), state("a.0.b.c"), state("")], ["fail"; 5]);
        assert_eq!(on_text(|a| json_key_exists("a", a), "x").0, "fail");
    }
}
