//! Where the checks write what they find: the diagnostics, with the source text and the place at hand.

use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics, Level, SourceText};
use super::suggest;
use crate::json::{Node, Span};

/// A sink for the problems of one place of a suite.
pub(super) struct Report<'r> {
    diagnostics: &'r mut Diagnostics,
    source: Arc<SourceText>,
    /// Where the text that nodes point into begins in the source text.
    offset: usize,
    place: String,
}

impl<'r> Report<'r> {
    /// A sink for a source text as a whole.
    pub(super) fn new(diagnostics: &'r mut Diagnostics, source: Arc<SourceText>) -> Self {
        Self { diagnostics, source, offset: 0, place: String::new() }
    }

    /// The same sink for a place of the suite.
    pub(super) fn at(&mut self, place: String) -> Report<'_> {
        Report { diagnostics: self.diagnostics, source: Arc::clone(&self.source), offset: self.offset, place }
    }

    /// The same sink for a part of another source text that begins at an offset.
    pub(super) fn of(&mut self, source: &Arc<SourceText>, offset: usize, place: String) -> Report<'_> {
        Report { diagnostics: self.diagnostics, source: Arc::clone(source), offset, place }
    }

    /// The text that is read.
    pub(super) fn source_text(&self) -> Arc<SourceText> {
        Arc::clone(&self.source)
    }

    /// How many errors were found so far, at any place.
    pub(super) fn error_count(&self) -> usize {
        self.diagnostics.error_count()
    }

    fn push(&mut self, level: Level, rule: &'static str, span: Span, message: String, help: Option<String>) {
        let span = Span { start: span.start + self.offset, end: span.end + self.offset };
        let source = Some((Arc::clone(&self.source), span));
        self.diagnostics.push(Diagnostic { level, rule, place: self.place.clone(), message, help, source });
    }

    /// Says something of any level.
    pub(super) fn remark(
        &mut self,
        level: Level,
        rule: &'static str,
        span: Span,
        message: String,
        help: Option<String>,
    ) {
        self.push(level, rule, span, message, help);
    }

    pub(super) fn error(&mut self, rule: &'static str, span: Span, message: impl Into<String>) {
        self.push(Level::Error, rule, span, message.into(), None);
    }

    pub(super) fn error_with_help(
        &mut self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Level::Error, rule, span, message.into(), Some(help.into()));
    }

    pub(super) fn strict(&mut self, rule: &'static str, span: Span, message: impl Into<String>) {
        self.push(Level::Strict, rule, span, message.into(), None);
    }

    pub(super) fn warn(&mut self, rule: &'static str, span: Span, message: impl Into<String>) {
        self.push(Level::Warning, rule, span, message.into(), None);
    }

    /// Reads an optional field: `None` when it is absent; an error with `message` when `read` refuses its value.
    pub(super) fn optional<'n, 'a, T>(
        &mut self,
        object: &'n Node<'a>,
        key: &str,
        rule: &'static str,
        read: impl FnOnce(&'n Node<'a>) -> Option<T>,
        message: &str,
    ) -> Option<T> {
        let node = object.get(key)?;
        let value = read(node);
        if value.is_none() {
            self.error(rule, node.span, message);
        }
        value
    }

    /// As [`Report::optional`], where `null` means absent.
    pub(super) fn nullable<'n, 'a, T>(
        &mut self,
        object: &'n Node<'a>,
        key: &str,
        rule: &'static str,
        read: impl FnOnce(&'n Node<'a>) -> Option<T>,
        message: &str,
    ) -> Option<T> {
        if object.get(key).is_some_and(Node::is_null) { None } else { self.optional(object, key, rule, read, message) }
    }

    /// Warns of unknown keys that look like misspelt known ones.
    pub(super) fn near_misses(&mut self, object: &Node<'_>, known: &[&str]) {
        for member in object.members().unwrap_or_default() {
            if known.contains(&member.key.as_ref()) {
                continue;
            }
            if let Some(meant) = suggest::closest(&member.key, known) {
                let message = format!("unknown field `{}` is ignored", member.key);
                let help = Some(format!("did you mean `{meant}`?"));
                self.push(Level::Warning, "near-miss-key", member.key_span, message, help);
            }
        }
    }

    /// Checks a closed object: names of unknown fields, sorted, in one problem.
    pub(super) fn closed(
        &mut self,
        level: Level,
        rule: &'static str,
        object: &Node<'_>,
        known: &[&str],
        subject: &str,
    ) {
        let members = object.members().unwrap_or_default();
        let mut unknown: Vec<_> = members.iter().filter(|member| !known.contains(&member.key.as_ref())).collect();
        let Some(first) = unknown.first() else { return };
        let span = first.key_span;
        unknown.sort_by(|a, b| a.key.cmp(&b.key));
        let names: Vec<_> = unknown.iter().map(|member| member.key.as_ref()).collect();
        let meant: Vec<_> = names.iter().filter_map(|name| Some((name, suggest::closest(name, known)?))).collect();
        let help = match meant.as_slice() {
            [] => format!("allowed here: {}", known.join(", ")),
            [(_, meant)] if names.len() == 1 => format!("did you mean `{meant}`?"),
            several => {
                let parts: Vec<_> = several.iter().map(|(name, meant)| format!("`{meant}` for `{name}`")).collect();
                format!("did you mean {}?", parts.join(", "))
            }
        };
        let message = format!("{subject}has unknown field(s): {}", names.join(", "));
        self.push(level, rule, span, message, Some(help));
    }
}
