//! Where JSON objects may stand in a text that also holds prose: balanced `{…}` spans, found in linear time.

use std::collections::VecDeque;
use std::ops::Range;

use memchr::memmem;

/// How often the search begins again after a brace that nothing closes. Bounds the time on hostile texts.
const RESTARTS: usize = 8;

/// Braces that may be open at a time. What is nested deeper is not read as JSON, so that the outermost can be given up.
const DEEPEST: usize = 1024;

/// Tries the outermost balanced spans of a text that hold one of some words, from left to right; after a brace without an
/// end the search goes on. When `accept` takes none of them, quotes may have been miscounted: then the search begins
/// again after the first brace that nothing closes, a bounded number of times.
pub fn try_spans(text: &str, words: &[&str], mut accept: impl FnMut(&str) -> bool) {
    let mut places: Vec<usize> =
        words.iter().flat_map(|word| memmem::find_iter(text.as_bytes(), word.as_bytes())).collect();
    places.sort_unstable();
    let Some(last) = places.last() else {
        return;
    };
    let mut from = 0;
    for _ in 0..=RESTARTS {
        let (spans, unclosed) = outermost_spans(text, from, &places);
        let mut accepted = false;
        for span in spans {
            accepted |= accept(&text[span]);
        }
        match unclosed {
            Some(at) if !accepted && at < *last => from = at + 1,
            _ => return,
        }
    }
}

/// Closed spans around one of some places that lie in no other closed span, and the first brace that nothing closes.
/// Braces are ASCII, so that every offset is a character boundary.
fn outermost_spans(text: &str, from: usize, places: &[usize]) -> (Vec<Range<usize>>, Option<usize>) {
    let bytes = text.as_bytes();
    let mut open: VecDeque<usize> = VecDeque::new();
    let mut given_up: Option<usize> = None;
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut places = places.iter().copied().peekable();
    let mut last_place: Option<usize> = None;
    let mut in_string = false;
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            // no JSON string holds a line break, so that a stray quote spoils one line at most
            b'\n' => in_string = false,
            b'\\' if in_string => at += 1,
            b'"' if !open.is_empty() => in_string = !in_string,
            b'{' if !in_string => {
                if open.len() == DEEPEST {
                    let outermost = open.pop_front();
                    given_up = given_up.or(outermost);
                }
                open.push_back(at);
            }
            b'}' if !in_string => {
                if let Some(start) = open.pop_back() {
                    while let Some(place) = places.next_if(|place| *place < at) {
                        last_place = Some(place);
                    }
                    while spans.last().is_some_and(|inner| inner.start > start) {
                        spans.pop();
                    }
                    if last_place.is_some_and(|place| place > start) {
                        spans.push(start..at + 1);
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    (spans, given_up.or_else(|| open.front().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        try_spans(text, &["v"], |span| {
            found.push(span.to_owned());
            true
        });
        found
    }

    #[test]
    fn outermost_spans_from_left_to_right() {
        assert_eq!(spans(r#"a {v} c {"v": {"e": "}"}} {f}"#), ["{v}", r#"{"v": {"e": "}"}}"#]);
        assert_eq!(spans("} { {v}\n{\"v\": \"\\\"{\"}"), ["{v}", "{\"v\": \"\\\"{\"}"]);
        assert_eq!(spans("no braces, v"), Vec::<String>::new());
    }

    #[test]
    fn a_stray_quote_after_an_open_brace_does_not_hide_what_follows() {
        let mut found = Vec::new();
        try_spans(r#"{ see "this: {"verdicts": []}"#, &["verdicts"], |span| {
            found.push(span.to_owned());
            span.starts_with("{\"verdicts")
        });
        assert_eq!(found.last().map(String::as_str), Some(r#"{"verdicts": []}"#));
    }

    #[test]
    fn braces_nested_beyond_reason_are_given_up_from_the_outside() {
        let deep = format!("{}{{v}}{}", "{".repeat(3000), "}".repeat(3000));
        let found = spans(&deep);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].len(), 2 * DEEPEST + 1);
    }
}
