//! What is said about a part of a file, and where it is said.

use crate::json::Span;
use crate::suite::diagnostic::Level;
use crate::suite::report::Report;

/// Characters of an offending text that a message shows.
const SHOWN_CHARACTERS: usize = 120;

/// Something to say about a part of a file.
#[derive(Debug)]
pub(super) struct Remark {
    pub(super) level: Level,
    /// The stable code.
    pub(super) rule: &'static str,
    pub(super) span: Span,
    pub(super) message: String,
    /// What to do about it.
    pub(super) help: String,
}

impl Remark {
    pub(super) fn error(rule: &'static str, span: Span, message: String, help: &str) -> Self {
        Self { level: Level::Error, rule, span, message, help: help.to_owned() }
    }

    pub(super) fn warning(rule: &'static str, span: Span, message: String, help: &str) -> Self {
        Self { level: Level::Warning, rule, span, message, help: help.to_owned() }
    }

    pub(super) fn note(rule: &'static str, span: Span, message: String, help: &str) -> Self {
        Self { level: Level::Note, rule, span, message, help: help.to_owned() }
    }
}

/// The diagnostics of a file whose places are JSON pointers.
pub(super) struct Sink<'r, 's>(pub(super) &'r mut Report<'s>);

impl Sink<'_, '_> {
    /// Says something about what stands at a JSON pointer.
    pub(super) fn say(&mut self, pointer: &str, remark: Remark) {
        let Remark { level, rule, span, message, help } = remark;
        self.0.at(pointer.to_owned()).remark(level, rule, span, message, Some(help));
    }
}

/// The start of a text: 120 characters, with `…` at its end when it is cut.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
