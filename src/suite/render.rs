//! How the problems of a suite are shown to a person: one line each, then the first few with their source.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents,
};

use skill_lift_text::screen::{is_obeyed, visible};

use super::diagnostic::{Diagnostic, Diagnostics, Level, Lines, SourceText};
use crate::json::Span;

/// So many errors are listed.
const LISTED_ERRORS: usize = 50;
/// So many warnings are listed.
const LISTED_WARNINGS: usize = 200;
/// So many errors are shown with their source.
const SNIPPETS: usize = 5;
/// A line of a snippet is cut to so many bytes on either side of what it points at.
const AROUND: usize = 80;

/// How messages look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageStyle {
    /// Columns that may be used.
    pub width: usize,
    /// Whether colours are written.
    pub color: bool,
    /// Whether more than ASCII is written.
    pub unicode: bool,
}

/// Prints the errors and warnings of a suite: first one line for each error, each at the start of a line, then the
/// first few of them with the text they stand in, then the warnings.
///
/// # Errors
/// Those of the writer.
pub fn print_failures(diagnostics: &Diagnostics, writer: &mut dyn Write, style: MessageStyle) -> io::Result<()> {
    print_errors(diagnostics, writer, style)?;
    for warning in diagnostics.warnings().take(LISTED_WARNINGS) {
        let contract = if warning.level == Level::Strict { "contract " } else { "" };
        writeln!(writer, "WARN {contract}{}", escape(&warning.line()))?;
    }
    print_more(diagnostics, writer)
}

/// As [`print_failures`], for dialects whose places are JSON pointers: warnings and notes say their line, and what to do.
///
/// # Errors
/// Those of the writer.
pub fn print_located(diagnostics: &Diagnostics, writer: &mut dyn Write, style: MessageStyle) -> io::Result<()> {
    print_errors(diagnostics, writer, style)?;
    let mut lines = Lines::default();
    for warning in diagnostics.warnings().take(LISTED_WARNINGS) {
        writeln!(writer, "WARN {}", escape(&located(warning, &mut lines)))?;
    }
    print_more(diagnostics, writer)?;
    for note in diagnostics.notes().take(LISTED_WARNINGS) {
        writeln!(writer, "note: {}", escape(&located(note, &mut lines)))?;
    }
    Ok(())
}

/// Line, place, message and help in one line.
fn located(found: &Diagnostic, lines: &mut Lines) -> String {
    // a place that begins with the file needs no other
    let source = found.source.as_ref().filter(|(source, _)| !found.place.starts_with(&source.name));
    let place = source
        .map_or_else(String::new, |(source, span)| format!("{}:{}: ", source.name, lines.line(source, span.start)));
    let help = found.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
    format!("{place}{}{help}", found.line())
}

fn print_errors(diagnostics: &Diagnostics, writer: &mut dyn Write, style: MessageStyle) -> io::Result<()> {
    for error in diagnostics.errors().take(LISTED_ERRORS) {
        writeln!(writer, "FAIL: {}", escape(&error.line()))?;
    }
    let more = diagnostics.error_count().saturating_sub(LISTED_ERRORS);
    if more > 0 {
        let at_least = if diagnostics.omitted() > 0 { "at least " } else { "" };
        writeln!(writer, "FAIL: ... and {at_least}{more} more")?;
    }
    let located = diagnostics.errors().filter(|error| error.source.is_some()).take(SNIPPETS);
    for error in located {
        write_snippet(error, writer, style)?;
    }
    Ok(())
}

/// How many warnings were not listed.
fn print_more(diagnostics: &Diagnostics, writer: &mut dyn Write) -> io::Result<()> {
    match diagnostics.warnings().count().saturating_sub(LISTED_WARNINGS) {
        0 => Ok(()),
        more => writeln!(writer, "WARN ... and {more} more"),
    }
}

fn escape(text: &str) -> String {
    visible(text, false)
}

fn write_snippet(error: &Diagnostic, writer: &mut dyn Write, style: MessageStyle) -> io::Result<()> {
    let Some((source, span)) = &error.source else { return Ok(()) };
    let shown = Shown {
        line: escape(&error.line()),
        rule: error.rule,
        help: error.help.as_deref().map(escape),
        excerpt: Excerpt::new(source, *span),
    };
    let theme = match (style.unicode, style.color) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => GraphicalTheme { characters: miette::ThemeCharacters::ascii(), ..GraphicalTheme::unicode() },
        (false, false) => GraphicalTheme::none(),
    };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(style.width).with_links(false);
    let mut text = String::new();
    if handler.with_context_lines(1).render_report(&mut text, &shown).is_ok() {
        writeln!(writer, "\n{}", text.trim_end())?;
    }
    Ok(())
}

/// A problem in the form that the renderer takes.
#[derive(Debug)]
struct Shown {
    line: String,
    rule: &'static str,
    help: Option<String>,
    excerpt: Excerpt,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl std::error::Error for Shown {}

impl miette::Diagnostic for Shown {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.rule))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (start, end) = self.excerpt.marked;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(Some("here".to_owned()), (start, end - start)))))
    }
}

/// A few short lines around a place, safe to print. Long lines are cut, so that a suite on a single line of many
/// megabytes is no different from others.
#[derive(Debug)]
struct Excerpt {
    name: String,
    text: String,
    /// What is pointed at, in bytes of `text`.
    marked: (usize, usize),
    /// Line of the file that `text` begins with, counted from 0.
    first_line: usize,
    /// Line and column of the place in the file, counted from 0.
    line: usize,
    column: usize,
}

impl Excerpt {
    fn new(source: &Arc<SourceText>, span: Span) -> Self {
        let text = source.text.as_str();
        let start = floor(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = floor(text, span.end).clamp(start, line_end);
        let line = text[..line_start].matches('\n').count();
        let mut excerpt = Self {
            name: escape(&source.name),
            text: String::new(),
            marked: (0, 0),
            first_line: line,
            line,
            column: text[line_start..start].chars().count(),
        };
        if line_start > 0 {
            let before_start = text[..line_start - 1].rfind('\n').map_or(0, |at| at + 1);
            excerpt.first_line -= 1;
            excerpt.push_start(&text[before_start..line_start - 1]);
            excerpt.text.push('\n');
        }
        excerpt.push_marked(&text[line_start..start], &text[start..end], &text[end..line_end]);
        if line_end < text.len() {
            let tail = &text[line_end + 1..];
            excerpt.text.push('\n');
            excerpt.push_start(&tail[..tail.find('\n').unwrap_or(tail.len())]);
        }
        excerpt
    }

    /// Adds the beginning of a line.
    fn push_start(&mut self, line: &str) {
        let cut = floor(line, 2 * AROUND);
        self.push_escaped(&line[..cut]);
        if cut < line.trim_end().len() {
            self.text.push('…');
        }
    }

    /// Adds the line that is pointed at, cut around the place.
    fn push_marked(&mut self, before: &str, marked: &str, after: &str) {
        let cut = floor(before, before.len().saturating_sub(AROUND));
        if cut > 0 {
            self.text.push('…');
        }
        self.push_escaped(&before[cut..]);
        let start = self.text.len();
        let shown = floor(marked, AROUND);
        self.push_escaped(&marked[..shown]);
        if marked.is_empty() {
            // a place at the end of a line needs something to stand under
            let shown = after.chars().next().map_or(0, char::len_utf8);
            self.push_escaped(&after[..shown]);
            self.marked = (start, self.text.len());
            return self.push_start(&after[shown..]);
        }
        self.marked = (start, self.text.len());
        if shown < marked.len() { self.text.push('…') } else { self.push_start(after) }
    }

    fn push_escaped(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\t' => self.text.push(' '),
                '\r' => {}
                other if is_obeyed(other) => self.text.extend(other.escape_unicode()),
                other => self.text.push(other),
            }
        }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // the renderer asks for the bare span to learn its line and column, and with context to print it
        let (span, line, column) = if lines_before + lines_after == 0 {
            (*span, self.line, self.column)
        } else {
            (SourceSpan::from((0, self.text.len())), self.first_line, 0)
        };
        let (data, lines) = (self.text.as_bytes(), self.text.matches('\n').count() + 1);
        Ok(Box::new(MietteSpanContents::new_named(self.name.clone(), data, span, line, column, lines)))
    }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, marked: &str) -> String {
        let start = text.find(marked).unwrap();
        let source = Arc::new(SourceText { name: "suite.json".to_owned(), text: text.to_owned() });
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic {
            level: Level::Error,
            rule: "kind",
            place: "c\u{1b}[31m".to_owned(),
            message: "kind must be a non-empty string".to_owned(),
            help: Some("write one".to_owned()),
            source: Some((source, Span { start, end: start + marked.len() })),
        });
        let mut out = Vec::new();
        let style = MessageStyle { width: 100, color: false, unicode: true };
        print_failures(&diagnostics, &mut out, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_come_first_and_control_characters_are_shown() {
        let shown = rendered("{\n  \"kind\": \"\u{1b}]0;x\u{7}\",\n  \"id\": 1\n}", "\"\u{1b}]0;x\u{7}\"");
        assert!(shown.starts_with("FAIL: c\\u{1b}[31m: kind must be a non-empty string\n"), "{shown}");
        assert!(shown.contains("suite.json:2:11"), "{shown}");
        assert!(shown.contains("\"kind\": \"\\u{1b}]0;x\\u{7}\""), "{shown}");
        assert!(shown.contains("write one"), "{shown}");
        assert!(!shown.contains('\u{1b}'));
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{{\"a\": \"{}\", \"kind\": 7, \"b\": \"{}\"}}", "x".repeat(100_000), "é".repeat(100_000));
        let shown = rendered(&text, "7");
        assert!(shown.len() < 2_000, "{}", shown.len());
        assert!(shown.contains("\"kind\": 7, \"b\""), "{shown}");
        assert!(shown.contains("suite.json:1:100019"), "{shown}");
    }
}
