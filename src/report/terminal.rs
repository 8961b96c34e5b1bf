//! The summary as text: a pure function of the view, the width and a few switches.

use skill_lift_text::screen::visible;
use unicode_width::UnicodeWidthStr;

use super::view::{CaseRow, Mark, ModelRow, SummaryView};
use super::words::{Headline, Tone};

/// How the text is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns that may be used; `None` when nobody looks at it on a screen: then no name is cut.
    pub width: Option<usize>,
    /// Whether colours are written.
    pub color: bool,
    /// Whether only ASCII is written.
    pub ascii: bool,
    /// Whether every case is listed.
    pub all_cases: bool,
}

/// Widest text; more is hard to read.
const WIDEST: usize = 100;
/// Width when it is not known.
const DEFAULT_WIDTH: usize = 80;
/// Narrower screens have no plot.
const PLOT_FROM: usize = 60;
/// Narrower screens have no interval.
const INTERVAL_FROM: usize = 48;
/// Cells of the plot, ten points each.
const PLOT_CELLS: usize = 21;
/// Cases listed under "Needs your eyes".
const EYES_SHOWN: usize = 10;
/// Widest column of reasons that names make room for.
const WHY_WIDTH: usize = 10;
/// Narrowest column of names.
const NAME_FROM: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Bold,
    Good,
    Bad,
    Caution,
    Muted,
}

/// Renders the summary; every line ends with a line break.
pub fn render(view: &SummaryView, style: Style) -> String {
    let mut page = Page::new(style);
    page.title(view);
    page.headline(view);
    page.paragraphs(view);
    if view.models.len() > 1 {
        page.models(&view.models, &view.interval_name);
    }
    page.cases(view);
    page.out
}

/// The sign of a mark. It never stands without a word.
pub(super) fn glyph(mark: Mark, ascii: bool) -> &'static str {
    let (unicode, in_ascii) = match mark {
        Mark::Critical => ("!", "!"),
        Mark::Worse => ("▼", "v"),
        Mark::Open => ("◇", ">"),
        Mark::Better => ("▲", "^"),
        Mark::Same => ("=", "="),
    };
    if ascii { in_ascii } else { unicode }
}

pub(super) struct Page {
    pub(super) style: Style,
    pub(super) width: usize,
    pub(super) out: String,
}

impl Page {
    pub(super) fn new(style: Style) -> Self {
        Self { style, width: style.width.unwrap_or(DEFAULT_WIDTH).min(WIDEST), out: String::new() }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub(super) fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Bold => "1",
            Paint::Good => "1;32",
            Paint::Bad => "31",
            Paint::Caution => "1;33",
            Paint::Muted => "2",
        };
        if self.style.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Text of ours, in the characters that may be written.
    pub(super) fn own(&self, text: &str) -> String {
        if !self.style.ascii {
            return text.to_owned();
        }
        text.chars()
            .map(|c| match c {
                '→' => "->".to_owned(),
                '\u{2212}' | '–' => "-".to_owned(),
                '\u{a0}' => " ".to_owned(),
                '≤' => "<=".to_owned(),
                '±' => "+/-".to_owned(),
                '…' => "...".to_owned(),
                other => other.to_string(),
            })
            .collect()
    }

    /// Text of others: control characters are shown, and in ASCII everything else too.
    pub(super) fn name(&self, text: &str) -> String {
        visible(text, self.style.ascii)
    }

    fn title(&mut self, view: &SummaryView) {
        let name = self.name(&view.skill_name);
        let between = format!("   {}   ", view.contrast);
        let title = format!("{}{between}{}", self.paint(Paint::Bold, &name), view.size);
        let width = name.width() + between.width() + view.size.width();
        if width <= self.width || self.style.width.is_none() {
            self.line(&title);
        } else {
            let name = self.paint(Paint::Bold, &cut_middle(&name, self.width, self.style));
            self.line(&name);
            self.wrapped(&format!("{}, {}", view.contrast, view.size), "", "");
        }
        self.line("");
    }

    fn headline(&mut self, view: &SummaryView) {
        self.answer(&view.headline, &[&view.lead, &view.headline.note]);
    }

    /// A headline and the sentences below it.
    pub(super) fn answer(&mut self, headline: &Headline, sentences: &[&str]) {
        let paint = match headline.tone {
            Tone::Good => Paint::Good,
            Tone::Bad => Paint::Bad,
            Tone::Neutral => Paint::Caution,
        };
        let text = self.paint(paint, &headline.text);
        self.line(&text);
        for text in sentences.iter().filter(|text| !text.is_empty()) {
            let text = self.own(text);
            self.wrapped(&text, "", "");
        }
        self.line("");
    }

    fn paragraphs(&mut self, view: &SummaryView) {
        for (label, text) in &view.paragraphs {
            self.paragraph(label, text);
        }
        for note in &view.notes {
            self.paragraph("Note", note);
        }
        self.line("");
    }

    /// A labelled paragraph.
    pub(super) fn paragraph(&mut self, label: &str, text: &str) {
        let text = self.own(text);
        self.wrapped(&text, &format!("  {label:<8}"), "          ");
    }

    /// A paragraph with an indentation. A no-break space does not break.
    pub(super) fn wrapped(&mut self, text: &str, first: &str, rest: &str) {
        let options = textwrap::Options::new(self.width)
            .initial_indent(first)
            .subsequent_indent(rest)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        for line in textwrap::wrap(text, options) {
            self.line(&line);
        }
    }

    fn models(&mut self, rows: &[ModelRow], interval_name: &str) {
        let with_interval = self.width >= INTERVAL_FROM;
        let interval_head = if with_interval { interval_name } else { "" };
        let interval = |row: &ModelRow| if with_interval { self.own(&row.interval) } else { String::new() };
        let lift = |row: &ModelRow| self.own(&row.lift);
        let columns = [
            column("Without", rows.iter().map(|row| row.without_skill.clone())),
            column("With", rows.iter().map(|row| row.with_skill.clone())),
            column("Lift", rows.iter().map(lift)),
            column(interval_head, rows.iter().map(interval)),
            column("p (Holm)", rows.iter().map(|row| row.p.clone())),
        ];
        let fixed: usize = columns.iter().filter(|w| **w > 0).map(|width| width + 2).sum::<usize>() + 2;
        let names: Vec<String> = rows.iter().map(|row| self.name(&row.name)).collect();
        let name_width = self.name_width(&names, "Model", fixed);
        let mut head = format!("  {}", left("Model", name_width));
        for (width, text) in columns.iter().zip(["Without", "With", "Lift", interval_head, "p (Holm)"]) {
            if *width > 0 {
                let cell = if text == interval_head { left(text, *width) } else { right(text, *width) };
                head.push_str(&format!("  {cell}"));
            }
        }
        let head = self.paint(Paint::Muted, &head);
        self.line(&head);
        for (row, name) in rows.iter().zip(&names) {
            let lift = right(&self.own(&row.lift), columns[2]);
            let lift = if row.tone == Tone::Bad { self.paint(Paint::Bad, &lift) } else { lift };
            let mut line = format!(
                "  {}  {}  {}  {lift}",
                left(&cut_middle(name, name_width, self.style), name_width),
                right(&row.without_skill, columns[0]),
                right(&row.with_skill, columns[1]),
            );
            if with_interval {
                line.push_str(&format!("  {}", left(&self.own(&row.interval), columns[3])));
            }
            line.push_str(&format!("  {}", right(&row.p, columns[4])));
            self.line(&line);
        }
        self.line("");
    }

    fn cases(&mut self, view: &SummaryView) {
        let (heading, rows, hidden) = if self.style.all_cases {
            ("All cases", view.cases.as_slice(), 0)
        } else {
            let shown = view.eyes.len().min(EYES_SHOWN);
            ("Needs your eyes", &view.eyes[..shown], view.eyes.len() - shown)
        };
        if !rows.is_empty() {
            self.case_table(heading, rows);
        }
        if hidden > 0 {
            let more = self.paint(Paint::Muted, &format!("  and {hidden} more"));
            self.line(&more);
        }
        let hint = if self.style.all_cases { "" } else { " --all-cases lists every case." };
        self.wrapped(&format!("{}{hint}", view.counts), "  ", "  ");
        if !view.blocked.is_empty() {
            let text = self.own(&view.blocked);
            self.wrapped(&text, "  ", "  ");
        }
    }

    fn case_table(&mut self, heading: &str, rows: &[CaseRow]) {
        let with_plot = self.width >= PLOT_FROM;
        let widths = [
            column("Without", rows.iter().map(|row| row.without_skill.clone())),
            column("With", rows.iter().map(|row| row.with_skill.clone())),
            column("Lift", rows.iter().map(|row| self.own(&row.lift))),
        ];
        // names matter more than reasons, which can go on in a second line
        let why = column("Why", rows.iter().map(|row| row.why.clone())).min(WHY_WIDTH);
        let plot = if with_plot { PLOT_CELLS + 2 } else { 0 };
        let fixed = 4 + widths.iter().map(|width| width + 2).sum::<usize>() + plot + 2 + why;
        let names: Vec<String> = rows.iter().map(|row| self.name(&row.name)).collect();
        let name_width = self.name_width(&names, &heading[..heading.len().min(NAME_FROM)], fixed);
        let mut head = format!("  {}", left(&cut_middle(heading, name_width + 2, self.style), name_width + 2));
        for (width, text) in widths.iter().zip(["Without", "With", "Lift"]) {
            head.push_str(&format!("  {}", right(text, *width)));
        }
        if with_plot {
            head.push_str(&format!("  {}", self.own("\u{2212}100      0      +100")));
        }
        head.push_str("  Why");
        let head = self.paint(Paint::Muted, &head);
        self.line(&head);
        for (row, name) in rows.iter().zip(&names) {
            let (glyph, paint) = self.glyph(row.mark);
            let lift = right(&self.own(&row.lift), widths[2]);
            let worse = row.delta.is_some_and(|delta| delta < 0.0);
            let mut line = format!(
                "  {} {}  {}  {}  {}",
                self.paint(paint, glyph),
                left(&cut_middle(name, name_width, self.style), name_width),
                right(&row.without_skill, widths[0]),
                right(&row.with_skill, widths[1]),
                if worse { self.paint(Paint::Bad, &lift) } else { lift },
            );
            if with_plot {
                line.push_str(&format!("  {}", self.plot(row.delta)));
            }
            let rest = self.width.saturating_sub(fixed - why + name_width);
            let mut lines = if self.style.width.is_some() {
                wrap_words(&row.why, rest.max(NAME_FROM)).into_iter()
            } else {
                vec![row.why.clone()].into_iter()
            };
            line.push_str(&format!("  {}", lines.next().unwrap_or_default()));
            self.line(&line);
            let indent = " ".repeat(fixed - why + name_width);
            for more in lines {
                self.line(&format!("{indent}{more}"));
            }
        }
    }

    /// The width of a column of names: what they need, and on a screen no more than is left.
    pub(super) fn name_width(&self, names: &[String], heading: &str, fixed: usize) -> usize {
        let needed = names.iter().map(|name| name.width()).max().unwrap_or(0).max(heading.width());
        match self.style.width {
            None => needed,
            Some(_) => needed.min(self.width.saturating_sub(fixed).max(NAME_FROM)),
        }
    }

    pub(super) fn glyph(&self, mark: Mark) -> (&'static str, Paint) {
        let paint = match mark {
            Mark::Critical | Mark::Worse => Paint::Bad,
            Mark::Open => Paint::Caution,
            Mark::Better => Paint::Good,
            Mark::Same => Paint::Muted,
        };
        (glyph(mark, self.style.ascii), paint)
    }

    fn plot(&self, delta: Option<f64>) -> String {
        let (axis, dot) = if self.style.ascii { ('|', 'o') } else { ('│', '●') };
        let mut cells = [' '; PLOT_CELLS];
        cells[PLOT_CELLS / 2] = axis;
        if let Some(delta) = delta {
            let cell = ((delta.clamp(-1.0, 1.0) + 1.0) * 10.0).round() as usize;
            cells[cell.min(PLOT_CELLS - 1)] = dot;
        }
        cells.iter().collect()
    }
}

pub(super) fn column(heading: &str, cells: impl Iterator<Item = String>) -> usize {
    cells.map(|cell| cell.width()).max().unwrap_or(0).max(heading.width())
}

pub(super) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

pub(super) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width).word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

/// A text of at most `width` columns, cut in the middle; never cut when nobody looks at a screen.
pub(super) fn cut_middle(text: &str, width: usize, style: Style) -> String {
    if style.width.is_none() || text.width() <= width {
        return text.to_owned();
    }
    let gap = if style.ascii { "..." } else { "…" };
    let room = width.saturating_sub(gap.width());
    let head_room = room.div_ceil(2);
    let mut head = String::new();
    for character in text.chars() {
        let next = format!("{head}{character}");
        if next.width() > head_room {
            break;
        }
        head = next;
    }
    let mut tail: Vec<char> = Vec::new();
    for character in text.chars().rev() {
        let next: String = tail.iter().rev().collect::<String>() + &character.to_string();
        if head.width() + next.width() > room {
            break;
        }
        tail.push(character);
    }
    format!("{head}{gap}{}", tail.iter().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Style = Style { width: Some(80), color: false, ascii: false, all_cases: false };

    #[test]
    fn names_are_cut_in_the_middle_by_display_width() {
        assert_eq!(cut_middle("claude-sonnet-4.5-thinking", 12, SCREEN), "claude…nking");
        assert_eq!(cut_middle("短い名前です", 7, SCREEN), "短…です");
        assert_eq!(cut_middle("short", 12, SCREEN), "short");
        let piped = Style { width: None, ..SCREEN };
        assert_eq!(cut_middle("claude-sonnet-4.5-thinking", 12, piped), "claude-sonnet-4.5-thinking");
    }
}
