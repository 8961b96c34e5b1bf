//! A comparison as text for a terminal: a pure function of the view, the width and a few switches.

use unicode_width::UnicodeWidthStr;

use super::view::{DiffRow, DiffView};
use crate::report::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use crate::report::view::Mark;

/// Rows that are listed unless all are asked for.
const ROWS_SHOWN: usize = 20;
/// Entries that are listed of a list.
const LISTED: usize = 10;
/// Entries of a list below a row.
const DETAILS_SHOWN: usize = 3;
/// Narrower screens have the words in a line of their own.
const WHAT_FROM: usize = 70;
/// Indentation of lines below a row.
const BELOW: &str = "      ";
/// What a row begins with: indentation, mark, space.
const BEFORE_NAME: usize = 4;

/// Renders a comparison; every line ends with a line break.
pub fn render_diff(view: &DiffView, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, view);
    let sentences: Vec<&str> = view.leads.iter().chain([&view.headline.note]).map(String::as_str).collect();
    page.answer(&view.headline, &sentences);
    for (label, text) in &view.paragraphs {
        let text = page.name(&page.own(text));
        page.paragraph(label, &text);
    }
    if !view.paragraphs.is_empty() {
        page.line("");
    }
    rows(&mut page, view);
    for (label, list) in &view.lists {
        listed(&mut page, label, list);
    }
    page.out
}

fn title(page: &mut Page, view: &DiffView) {
    let [skill, old, new] = [&view.skill_name, &view.old, &view.new].map(|text| page.name(text));
    let arrow = page.own("→");
    let sides = format!("{old} {arrow} {new}");
    let head = if skill.is_empty() { sides.clone() } else { format!("{skill}   {sides}") };
    if head.width() + 3 + view.size.width() <= page.width || page.style.width.is_none() {
        let rest = if skill.is_empty() { String::new() } else { format!("   {sides}") };
        let first = if skill.is_empty() { &sides } else { &skill };
        let painted = page.paint(Paint::Bold, first);
        page.line(&format!("{painted}{rest}   {}", view.size));
    } else {
        let (width, style) = (page.width, page.style);
        for text in [&skill, &old, &format!("{arrow} {new}")].into_iter().filter(|text| !text.is_empty()) {
            let text = page.paint(Paint::Bold, &cut_middle(text, width, style));
            page.line(&text);
        }
        page.wrapped(&view.size, "", "");
    }
    page.line("");
}

fn rows(page: &mut Page, view: &DiffView) {
    let of_interest: Vec<&DiffRow> = view.rows.iter().filter(|row| page.style.all_cases || row.is_short).collect();
    let shown = if page.style.all_cases { of_interest.len() } else { of_interest.len().min(ROWS_SHOWN) };
    if shown > 0 {
        table(page, &of_interest[..shown]);
    }
    if shown < of_interest.len() {
        let more =
            page.paint(Paint::Muted, &format!("  and {} more; --all-cases lists them", of_interest.len() - shown));
        page.line(&more);
    }
    for line in &view.counts {
        let line = page.name(line);
        page.wrapped(&line, "  ", "  ");
    }
}

fn table(page: &mut Page, rows: &[&DiffRow]) {
    let with_what = page.style.width.is_none() || page.width >= WHAT_FROM;
    let columns = Columns::of(page, rows, with_what);
    let mut head = format!("  {}", left("Case", columns.name + 2));
    head.push_str(&columns.cells(&columns.heads.map(str::to_owned), |_, cell| cell));
    let head = page.paint(Paint::Muted, &if with_what { format!("{head}  What") } else { head });
    page.line(&head);
    for row in rows {
        let (glyph, paint) = page.glyph(row.mark);
        let name = cut_middle(&page.name(&row.case), columns.name, page.style);
        let mut line = format!("  {} {}", page.paint(paint, glyph), left(&name, columns.name));
        let is_worse = row.mark == Mark::Worse;
        line.push_str(&columns.cells(&cells(page, row), |at, cell| {
            if at == CHANGE && is_worse { page.paint(Paint::Bad, &cell) } else { cell }
        }));
        if with_what {
            line.push_str(&format!("  {}", row.what));
            page.line(&line);
        } else {
            page.line(&line);
            page.wrapped(row.what, BELOW, BELOW);
        }
        for (label, list) in &row.details {
            details(page, label, list);
        }
    }
}

/// The cells of a row behind its name.
fn cells(page: &Page, row: &DiffRow) -> [String; 4] {
    [page.name(&row.arm), row.before.clone(), row.after.clone(), page.own(&row.change)]
}

/// Which of the cells is the difference.
const CHANGE: usize = 3;

/// How wide the columns of a table are; one without any text is left out.
struct Columns {
    heads: [&'static str; 4],
    widths: [usize; 4],
    name: usize,
}

impl Columns {
    fn of(page: &Page, rows: &[&DiffRow], with_what: bool) -> Self {
        let has_arms = rows.iter().any(|row| !row.arm.is_empty());
        let heads = [if has_arms { "Arm" } else { "" }, "Then", "Now", "Change"];
        let cells: Vec<[String; 4]> = rows.iter().map(|row| cells(page, row)).collect();
        let widths = std::array::from_fn(|at| column(heads[at], cells.iter().map(|cells| cells[at].clone())));
        let fixed = BEFORE_NAME + widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum::<usize>();
        let what = if with_what { 2 + column("What", rows.iter().map(|row| row.what.to_owned())) } else { 0 };
        let names: Vec<String> = rows.iter().map(|row| page.name(&row.case)).collect();
        let name = page.name_width(&names, "Case", fixed + what);
        Self { heads, widths, name }
    }

    /// The cells in their columns: the arm to the left, figures to the right.
    fn cells(&self, cells: &[String; 4], paint: impl Fn(usize, String) -> String) -> String {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| self.widths[*at] > 0) {
            let cell = if at == 0 { left(cell, self.widths[at]) } else { right(cell, self.widths[at]) };
            line.push_str("  ");
            line.push_str(&paint(at, cell));
        }
        line
    }
}

/// What else there is to say of a row, a line each.
fn details(page: &mut Page, label: &str, list: &[String]) {
    let first = format!("{BELOW}{label:<11}");
    for (at, entry) in list.iter().take(DETAILS_SHOWN).enumerate() {
        let label = if at == 0 { first.clone() } else { " ".repeat(first.len()) };
        let text = cut_end(&page.name(entry), page.width.saturating_sub(first.len()), page.style);
        let line = page.paint(Paint::Muted, &format!("{label}{text}"));
        page.line(&line);
    }
    if list.len() > DETAILS_SHOWN {
        let more = format!("{}and {} more", " ".repeat(first.len()), list.len() - DETAILS_SHOWN);
        let line = page.paint(Paint::Muted, &more);
        page.line(&line);
    }
}

/// A text of at most `width` columns: of a sentence the beginning says most.
pub(in crate::report) fn cut_end(text: &str, width: usize, style: Style) -> String {
    if style.width.is_none() || text.width() <= width {
        return text.to_owned();
    }
    let gap = if style.ascii { "..." } else { "…" };
    let room = width.saturating_sub(gap.width());
    let mut cut = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        if used > room {
            break;
        }
        cut.push(character);
    }
    format!("{cut}{gap}")
}

/// A labelled list, cut unless everything is asked for.
pub(in crate::report) fn listed(page: &mut Page, label: &str, list: &[String]) {
    page.line("");
    let head = page.paint(Paint::Muted, &format!("  {label}"));
    page.line(&head);
    let shown = if page.style.all_cases { list.len() } else { list.len().min(LISTED) };
    for entry in &list[..shown] {
        let entry = page.name(entry);
        page.wrapped(&entry, "    ", "      ");
    }
    if shown < list.len() {
        let more = page.paint(Paint::Muted, &format!("    and {} more", list.len() - shown));
        page.line(&more);
    }
}
