//! Where JSON objects may stand in a text that also holds prose: balanced `{…}` spans, found in linear time.

use std::ops::Range;

/// How often the search begins again after a brace that nothing closes. Bounds the time on hostile texts.
const RESTARTS: usize = 8;

/// Tries the outermost balanced spans of a text, from left to right; after a brace without an end the search goes on.
/// When `accept` takes none of them, quotes may have been miscounted: then the search begins again after the first brace
/// that nothing closes, a bounded number of times.
pub fn try_spans(text: &str, mut accept: impl FnMut(&str) -> bool) {
    let mut from = 0;
    for _ in 0..=RESTARTS {
        let (spans, unclosed) = outermost_spans(text, from);
        let mut accepted = false;
        for span in spans {
            accepted |= accept(&text[span]);
        }
        match unclosed {
            Some(at) if !accepted => from = at + 1,
            _ => return,
        }
    }
}

/// Closed spans that lie in no other closed span, and the first brace that nothing closes. Braces are ASCII, so that
/// every offset is a character boundary.
fn outermost_spans(text: &str, from: usize) -> (Vec<Range<usize>>, Option<usize>) {
    let bytes = text.as_bytes();
    let mut open: Vec<usize> = Vec::new();
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut in_string = false;
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            // no JSON string holds a line break, so that a stray quote spoils one line at most
            b'\n' => in_string = false,
            b'\\' if in_string => at += 1,
            b'"' if !open.is_empty() => in_string = !in_string,
            b'{' if !in_string => open.push(at),
            b'}' if !in_string => {
                if let Some(start) = open.pop() {
                    while spans.last().is_some_and(|inner| inner.start > start) {
                        spans.pop();
                    }
                    spans.push(start..at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    (spans, open.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        try_spans(text, |span| {
            found.push(span.to_owned());
            true
        });
        found
    }

    #[test]
    fn outermost_spans_from_left_to_right() {
        assert_eq!(spans(r#"a {b} c {"d": {"e": "}"}} f"#), ["{b}", r#"{"d": {"e": "}"}}"#]);
        assert_eq!(spans("} { {x}\n{\"a\": \"\\\"{\"}"), ["{x}", "{\"a\": \"\\\"{\"}"]);
        assert_eq!(spans("no braces"), Vec::<String>::new());
    }

    #[test]
    fn a_stray_quote_after_an_open_brace_does_not_hide_what_follows() {
        let mut found = Vec::new();
        try_spans(r#"{ see "this: {"verdicts": []}"#, |span| {
            found.push(span.to_owned());
            span.starts_with("{\"verdicts")
        });
        assert_eq!(found.last().map(String::as_str), Some(r#"{"verdicts": []}"#));
    }
}
