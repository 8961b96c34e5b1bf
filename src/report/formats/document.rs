//! A Markdown document that keeps below a size: services drop one that is too large as a whole.

use skill_lift_text::screen::is_obeyed;

use crate::report::markup::escaped;

/// Usual limit in KiB. GitHub drops a job summary above 1,024 KiB, and other steps may write to it too.
pub const USUAL_KIB: u64 = 900;

/// Least limit in KiB: what stands before the sections fits into it, unless names are as no person gives them.
pub const LEAST_KIB: u64 = 32;

/// Bytes that are kept free for the sentence on what was left out.
const RESERVED: usize = 512;

/// Code points of a text of others in one place.
const SHOWN_CHARACTERS: usize = 200;

/// How a section is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Open, below its heading.
    Open,
    /// Folded, below its heading.
    BelowHeading,
    /// Folded; the heading unfolds it.
    AtHeading,
}

/// A part of a document that may be left out, or cut after a whole row.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) heading: &'static str,
    pub(super) fold: Fold,
    /// Sentences before the rows; each ends with a line break.
    pub(super) before: String,
    /// Head of the table; empty for a list.
    pub(super) head: &'static str,
    /// Rows or entries; each ends with a line break.
    pub(super) rows: Vec<String>,
    /// Sentences after the rows.
    pub(super) after: String,
}

impl Section {
    pub(super) fn new(heading: &'static str) -> Self {
        Self { heading, fold: Fold::Open, before: String::new(), head: "", rows: Vec::new(), after: String::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.before.is_empty() && self.after.is_empty()
    }

    /// The section with its first rows.
    fn text(&self, level: usize, shown: usize) -> String {
        let mark = "#".repeat(level);
        let mut out = match self.fold {
            Fold::Open => format!("\n{mark} {}\n\n", self.heading),
            Fold::BelowHeading => {
                let number = crate::report::numbers::count(self.rows.len());
                format!("\n{mark} {}\n\n<details><summary>All {number}</summary>\n\n", self.heading)
            }
            Fold::AtHeading => format!("\n<details><summary>{}</summary>\n\n", self.heading),
        };
        if !self.before.is_empty() {
            out.push_str(&self.before);
            if shown > 0 {
                out.push('\n');
            }
        }
        if shown > 0 {
            out.push_str(self.head);
            self.rows[..shown].iter().for_each(|row| out.push_str(row));
        }
        if shown < self.rows.len() {
            let count = crate::report::numbers::count;
            out.push_str(&format!("\n{} of {} shown.\n", count(shown), count(self.rows.len())));
        }
        if !self.after.is_empty() {
            out.push_str(&format!("\n{}", self.after));
        }
        if self.fold != Fold::Open {
            out.push_str("\n</details>\n");
        }
        out
    }
}

/// A document: what always stands in it, and sections that are left out from the end.
#[derive(Debug)]
pub struct Document {
    pub(super) core: String,
    pub(super) level: usize,
    pub(super) sections: Vec<Section>,
}

impl Document {
    /// The text in at most so many bytes: a section that does not fit is cut after a whole row, and those after it are
    /// named instead.
    pub fn render(&self, limit: usize) -> String {
        let mut out = self.core.clone();
        if out.len() + RESERVED > limit {
            // only names as no person gives them are that long
            let room = (0..=limit.saturating_sub(RESERVED).min(out.len())).rev().find(|at| out.is_char_boundary(*at));
            let end = out[..room.unwrap_or_default()].rfind('\n').map_or(0, |at| at + 1);
            out.truncate(end);
            out.push_str("\nThe rest does not fit under the size limit. See benchmark.json.\n");
            return out;
        }
        let sections: Vec<&Section> = self.sections.iter().filter(|section| !section.is_empty()).collect();
        for (at, section) in sections.iter().enumerate() {
            let is_last = at + 1 == sections.len();
            let reserved = if is_last { 0 } else { RESERVED };
            let whole = section.text(self.level, section.rows.len());
            if out.len() + whole.len() + reserved <= limit {
                out.push_str(&whole);
                continue;
            }
            let room = limit.saturating_sub(out.len() + RESERVED);
            let first_left_out = match rows_that_fit(section, self.level, room) {
                Some(shown) => {
                    out.push_str(&section.text(self.level, shown));
                    at + 1
                }
                None => at,
            };
            let names: Vec<&str> = sections[first_left_out..].iter().map(|section| section.heading).collect();
            if !names.is_empty() {
                out.push_str(&format!(
                    "\nLeft out to stay under the size limit: {}. See benchmark.json.\n",
                    names.join(", ")
                ));
            }
            break;
        }
        out
    }
}

/// The most rows, but one at least, with which a section fits.
fn rows_that_fit(section: &Section, level: usize, room: usize) -> Option<usize> {
    let around = section.text(level, 0).len() + section.head.len() + "\n".len();
    let mut left = room.checked_sub(around)?;
    let mut shown = 0;
    for row in &section.rows {
        match left.checked_sub(row.len()) {
            Some(rest) => (left, shown) = (rest, shown + 1),
            None => break,
        }
    }
    (shown > 0).then_some(shown)
}

/// The beginning of a text of others.
pub(super) fn cut(text: &str) -> String {
    cut_to(text, SHOWN_CHARACTERS)
}

pub(in crate::report) fn cut_to(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text of others in a cell or a sentence.
pub(super) fn cell(text: &str) -> String {
    inert(&cut(text))
}

/// Markdown that means nothing but itself; services make links of addresses, too.
fn inert(text: &str) -> String {
    escaped(text).replace("://", ":\u{2060}//").replace("www.", "www\u{2060}.")
}

/// A sentence of ours that may hold texts of others.
pub(super) fn sentence(text: &str) -> String {
    inert(&cut_to(text, 5 * SHOWN_CHARACTERS))
}

/// A text of others as code: the fence is longer than any in it.
pub(super) fn code(text: &str) -> String {
    let shown = skill_lift_text::screen::visible(&cut(text), false);
    let (mut longest, mut run) = (0, 0);
    for character in shown.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let needs_space = shown.starts_with('`') || shown.ends_with('`') || shown.starts_with(' ') || shown.is_empty();
    let space = if needs_space { " " } else { "" };
    format!("{fence}{space}{shown}{space}{fence}")
}

/// A value of a workflow command: nothing in it ends the command or begins another.
pub(super) fn command_value(text: &str, is_property: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in cut_to(text, 5 * SHOWN_CHARACTERS).chars() {
        match character {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            ':' if is_property => out.push_str("%3A"),
            ',' if is_property => out.push_str("%2C"),
            other if is_obeyed(other) => out.extend(other.escape_unicode()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(rows: usize) -> Document {
        let mut table = Section::new("Cases");
        table.head = "| Case |\n|---|\n";
        table.rows = (0..rows).map(|row| format!("| case {row:06} |\n")).collect();
        let mut last = Section::new("Groups");
        last.before = "Small.\n".to_owned();
        Document { core: "# title\n".to_owned(), level: 2, sections: vec![Section::new("Empty"), table, last] }
    }

    #[test]
    fn a_document_is_cut_after_whole_rows_and_says_so() {
        let whole = document(3).render(10_000);
        assert_eq!(
            whole,
            "# title\n\n## Cases\n\n| Case |\n|---|\n| case 000000 |\n| case 000001 |\n| case 000002 |\n\n## Groups\n\nSmall.\n"
        );
        for limit in [600, 1_000, 4_000, 50_000] {
            let cut = document(100_000).render(limit);
            assert!(cut.len() <= limit, "{limit}: {}", cut.len());
            let shown = cut.lines().filter(|line| line.starts_with("| case ")).count();
            assert!(cut.contains(&format!("\n{} of 100,000 shown.\n", crate::report::numbers::count(shown))), "{cut}");
            assert!(cut.ends_with("\nLeft out to stay under the size limit: Groups. See benchmark.json.\n"), "{cut}");
        }
        let cut = document(100_000).render(560);
        assert!(
            cut.ends_with("\nLeft out to stay under the size limit: Cases, Groups. See benchmark.json.\n"),
            "{cut}"
        );
    }

    #[test]
    fn what_stands_before_the_sections_is_cut_at_a_line() {
        let mut long = document(3);
        long.core = "# title\n".to_owned() + &"| ünd |\n".repeat(1_000);
        let cut = long.render(1_200);
        assert!(cut.len() <= 1_200 && cut.starts_with("# title\n| ünd |\n"), "{cut}");
        assert!(cut.ends_with("| ünd |\n\nThe rest does not fit under the size limit. See benchmark.json.\n"), "{cut}");
    }

    #[test]
    fn code_and_commands_hold_what_they_are_given() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a\nb"), "`a\\u{a}b`");
        assert_eq!(command_value("a: 100%,\r\nb", true), "a%3A 100%25%2C%0D%0Ab");
        assert_eq!(command_value("a: b, c\n::error::x\u{1b}[0m", false), "a: b, c%0A::error::x\\u{1b}[0m");
    }
}
