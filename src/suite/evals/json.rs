//! Files that are no JSON: what is wrong, where, and what to do about it.

use crate::json::{JsonError, JsonErrorKind, Span};
use crate::suite::diagnostic::Level;
use crate::suite::report::Report;

/// Reports what the strict reader objects to.
pub(in crate::suite) fn refuse(report: &mut Report<'_>, errors: &[JsonError]) {
    let source = report.source_text();
    for error in errors {
        let (line, column) = place(&source.text, error.span);
        let what = match &error.kind {
            JsonErrorKind::Syntax(what) => (*what).to_owned(),
            other => other.to_string(),
        };
        let message = format!("{}:{line}:{column}: invalid JSON: {what} at {}", source.name, error.path);
        let help = hint(&source.text, error.span).map(str::to_owned);
        report.remark(Level::Error, "invalid_json", error.span, message, help);
    }
}

/// Line and column of a place, in characters from 1.
fn place(text: &str, span: Span) -> (usize, usize) {
    let before = text.get(..span.start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// What people write that JSON does not have.
fn hint(text: &str, span: Span) -> Option<&'static str> {
    let (before, after) = text.split_at_checked(span.start)?;
    let is_closed = after.starts_with([']', '}']) && before.trim_end().ends_with(',');
    if is_closed || after.starts_with(',') && after[1..].trim_start().starts_with([']', '}']) {
        Some("take the comma before the closing bracket out: JSON has none there")
    } else if after.starts_with("//") || after.starts_with("/*") || after.starts_with('#') {
        Some("take the comment out: JSON has none")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};

    #[test]
    fn commas_and_comments_are_named() {
        let hint = |text: &str| hint(text, read(text, Limits::SUITE).errors[0].span);
        for text in ["[1, ]", "{\"a\": 1,\n}", "{\"a\": [1,]}"] {
            assert!(hint(text).is_some_and(|help| help.contains("comma")), "{text}");
        }
        for text in ["[1, // x\n2]", "/* x */ []", "[1 # x\n]"] {
            assert!(hint(text).is_some_and(|help| help.contains("comment")), "{text}");
        }
        assert_eq!(hint("[1 2]"), None);
    }
}
