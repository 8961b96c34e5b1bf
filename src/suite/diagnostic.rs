//! What is wrong with a suite, with the place in the file.

use std::sync::Arc;

use crate::json::Span;

/// What a diagnostic does to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Always refuses the suite.
    Error,
    /// A rule of the strict contract: a warning unless `--strict-contract` makes it an error.
    Strict,
    /// A warning.
    Warning,
    /// Worth knowing, without effect on any number.
    Note,
}

/// A text that was read, with the name it is shown under.
#[derive(Debug)]
pub struct SourceText {
    /// The file as the user knows it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The line ends of the text that was last asked about.
#[derive(Debug, Default)]
pub struct Lines {
    known: Option<(Arc<SourceText>, Vec<usize>)>,
}

impl Lines {
    /// The line of a place, from 1.
    pub fn line(&mut self, source: &Arc<SourceText>, offset: usize) -> usize {
        let is_known = self.known.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, source));
        if !is_known {
            let ends = source.text.match_indices('\n').map(|(at, _)| at).collect();
            self.known = Some((Arc::clone(source), ends));
        }
        self.known.as_ref().map_or(1, |(_, ends)| ends.partition_point(|end| *end < offset) + 1)
    }
}

/// One problem of a suite.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// What it does to the command.
    pub level: Level,
    /// Stable id of the rule, like `unknown-assertion-field`.
    pub rule: &'static str,
    /// Where in the suite, like `case-1: assertion #0`; empty for the suite as a whole.
    pub place: String,
    /// What is wrong, without the place. Lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The text it stands in, and where.
    pub source: Option<(Arc<SourceText>, Span)>,
}

impl Diagnostic {
    /// Place and message in one line.
    pub fn line(&self) -> String {
        if self.place.is_empty() { self.message.clone() } else { format!("{}: {}", self.place, self.message) }
    }
}

/// The problems of a suite, in the order of its checks.
#[derive(Debug, Default, Clone)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
    errors: usize,
    omitted: usize,
}

/// So many problems of a suite are kept; of a suite with more the rest is only counted.
const KEPT: usize = 10_000;

impl Diagnostics {
    /// Adds a problem. Beyond the first ten thousand errors, and warnings, the rest is only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.level == Level::Error;
        let alike = if is_error { self.errors } else { self.items.len() - self.errors };
        if alike >= KEPT {
            self.omitted += 1;
            return;
        }
        self.errors += usize::from(is_error);
        self.items.push(diagnostic);
    }

    /// How many problems were counted but not kept.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// How many of the kept problems are errors.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// All problems.
    pub fn all(&self) -> &[Diagnostic] {
        &self.items
    }

    /// Turns rules of the strict contract into errors.
    pub fn make_strict(&mut self) {
        for item in &mut self.items {
            if item.level == Level::Strict {
                item.level = Level::Error;
                self.errors += 1;
            }
        }
    }

    /// The problems that refuse the suite.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter().filter(|item| item.level == Level::Error)
    }

    /// The problems that do not refuse the suite.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter().filter(|item| matches!(item.level, Level::Strict | Level::Warning))
    }

    /// What is worth knowing and no problem.
    pub fn notes(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter().filter(|item| item.level == Level::Note)
    }

    /// Whether the suite is refused.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }
}
