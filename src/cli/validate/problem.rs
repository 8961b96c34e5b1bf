//! Diagnostics as a program reads them.

use serde::Serialize;

use crate::suite::diagnostic::Lines;
use crate::suite::{Diagnostic, shortened_text};

/// One problem.
#[derive(Serialize)]
pub(super) struct Problem<'p> {
    /// The place in the suite.
    #[serde(rename = "where")]
    pub(super) place: &'p str,
    /// What is wrong.
    pub(super) message: String,
    /// The stable code.
    pub(super) rule: &'p str,
    /// Where it stands in the file, in dialects whose places are JSON pointers.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Details<'p>>,
}

/// What is said about a problem beyond its message.
#[derive(Serialize)]
pub(super) struct Details<'p> {
    file: &'p str,
    /// From 1.
    line: usize,
    /// The offending text; a long one is cut.
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'p str>,
}

impl<'p> Problem<'p> {
    /// The problem without its details.
    pub(super) fn of(found: &'p Diagnostic) -> Self {
        Self { place: &found.place, message: found.message.clone(), rule: found.rule, details: None }
    }

    /// The problem with its details, if it stands in a text.
    pub(super) fn detailed(found: &'p Diagnostic, lines: &mut Lines) -> Self {
        let details = found.source.as_ref().map(|(source, span)| Details {
            file: &source.name,
            line: lines.line(source, span.start),
            text: shortened_text(source.text.get(span.start..span.end).unwrap_or_default()),
            help: found.help.as_deref(),
        });
        Self { details, ..Self::of(found) }
    }
}
