//! Reading a small JSON file that a model may have written: strictly, with the one repair that is beyond doubt.

use std::borrow::Cow;

use crate::json::{Item, Limits, Tape};

/// What came of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading<T> {
    /// What was made of it.
    pub(super) value: T,
    /// Whether control characters inside strings were escaped first.
    pub(super) repaired: bool,
}

/// Reads a document and makes something of it.
///
/// # Errors
/// What is wrong with the text, for people.
pub(super) fn read<T>(bytes: &[u8], make: impl FnOnce(Item<'_, '_>) -> T) -> Result<Reading<T>, String> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| format!("not valid UTF-8 (at byte {})", error.valid_up_to()))?;
    let problem = match Tape::read(text, Limits::SIDECAR) {
        Ok(tape) => return Ok(Reading { value: make(tape.root()), repaired: false }),
        Err(problem) => problem,
    };
    let repaired = escape_control_characters(text);
    if let Cow::Owned(repaired) = &repaired
        && let Ok(tape) = Tape::read(repaired, Limits::SIDECAR)
    {
        return Ok(Reading { value: make(tape.root()), repaired: true });
    }
    let (line, column) = position(text, problem.span.start);
    Err(format!("line {line}, column {column}: {problem}{}", hint(text, problem.span.start)))
}

/// Line and column, both from 1, the column in characters.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// What usually helps where the reader stopped.
fn hint(text: &str, at: usize) -> &'static str {
    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        "; JSON has no comments: remove it"
    } else if rest.starts_with(['}', ']']) && before.trim_end().ends_with(',') {
        "; remove the comma before it"
    } else if rest.starts_with(['{', '"', '[']) && before.trim_end().ends_with(['}', ']', '"']) {
        "; a comma is missing before it"
    } else {
        ""
    }
}

/// The text with control characters inside strings as escapes: a model wrote a line break where `\n` belongs.
fn escape_control_characters(text: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut copied = 0;
    let (mut in_string, mut after_backslash) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if after_backslash => after_backslash = false,
            b'\\' if in_string => after_backslash = true,
            b'"' => in_string = !in_string,
            0..=0x1f if in_string => {
                escaped.push_str(&text[copied..at]);
                escaped.push_str(&format!("\\u{byte:04x}"));
                copied = at + 1;
            }
            _ => {}
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<Reading<Option<String>>, String> {
        read(bytes, |item| item.get("t").and_then(Item::as_str).map(Cow::into_owned))
    }

    #[test]
    fn line_breaks_in_strings_are_repaired_and_named() {
        let reading = text(b"{\"t\": \"a\n\tb\"}").unwrap();
        assert_eq!((reading.value.as_deref(), reading.repaired), (Some("a\n\tb"), true));
        let reading = text(b"{\n\t\"t\": \"a\\\\\" }").unwrap();
        assert_eq!((reading.value.as_deref(), reading.repaired), (Some("a\\"), false));
    }

    #[test]
    fn a_byte_order_mark_and_foreign_line_ends_are_accepted() {
        assert_eq!(text(b"\xef\xbb\xbf{\"t\": \"a\"}\r\n").unwrap().value.as_deref(), Some("a"));
    }

    #[test]
    fn what_cannot_be_read_says_where_and_what_helps() {
        let problem = |bytes: &[u8]| text(bytes).unwrap_err();
        assert!(
            problem(b"{\"t\": [1, 2,]}").ends_with("; remove the comma before it"),
            "{}",
            problem(b"{\"t\": [1, 2,]}")
        );
        assert!(problem(b"{\"t\": [{} {}]}").ends_with("; a comma is missing before it"));
        assert!(problem(b"{\n // no\n}").starts_with("line 2, column 2: "));
        assert!(problem(b"{\"t\": NaN}").contains("line 1, column 7"));
        assert!(problem(b"{\"t\": 1, \"t\": 2}").contains("line 1"));
        assert!(problem(b"\xff").contains("UTF-8"));
        assert!(problem(b"").starts_with("line 1, column 1"));
    }
}
