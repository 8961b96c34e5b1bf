//! From the bytes of a file to its values, with the one repair that is unambiguous.

use super::error::ClaimsError;
use crate::json::{JsonError, JsonErrorKind, Limits, Tape};

/// The text of a file.
pub(super) fn text(bytes: &[u8]) -> Result<&str, ClaimsError> {
    std::str::from_utf8(bytes).map_err(|error| ClaimsError::NotUtf8(error.valid_up_to()))
}

/// The values of a text.
pub(super) fn values(text: &str) -> Result<Tape<'_>, JsonError> {
    Tape::read(text, Limits::SIDECAR)
}

/// The text with raw control characters in its strings escaped, if that is what is wrong with it.
pub(super) fn repaired(text: &str, error: &JsonError) -> Option<String> {
    let raw = text[error.span.start..].chars().next().is_some_and(|character| character < ' ');
    (raw && matches!(error.kind, JsonErrorKind::Syntax(_))).then(|| escape_controls(text))
}

/// The error with its place as people count it.
pub(super) fn refusal(text: &str, error: JsonError) -> ClaimsError {
    let before = &text[..error.span.start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    ClaimsError::Json {
        kind: error.kind,
        path: error.path,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 64);
    let (mut in_string, mut after_backslash) = (false, false);
    for character in text.chars() {
        // behind a backslash it is not clear what was meant: that stays an error
        if in_string && character < ' ' && !after_backslash {
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            continue;
        }
        escaped.push(character);
        match character {
            '"' if !after_backslash => in_string = !in_string,
            '\\' if in_string && !after_backslash => {
                after_backslash = true;
                continue;
            }
            _ => {}
        }
        after_backslash = false;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_control_characters_inside_strings_are_escaped() {
        assert_eq!(escape_controls("{\n\"a\": \"x\ny\\\"\tz\"\n}"), "{\n\"a\": \"x\\u000ay\\\"\\u0009z\"\n}");
        assert_eq!(escape_controls("[\"\\\\\"\n]"), "[\"\\\\\"\n]");
    }

    #[test]
    fn other_errors_are_not_repaired() {
        for text in ["[\"a\\\n\"]", "[\"a\nb\\\n\"]", "{\"a\": 1,}", "[1 2]", "[\"a\" \u{1}]", "[\n"] {
            let error = values(text).unwrap_err();
            let again = repaired(text, &error);
            assert!(again.is_none_or(|again| values(&again).is_err()), "{text:?}");
        }
    }
}
