//! A comparison as text for a terminal: a pure function of the view, the width and a few switches.

use unicode_width::UnicodeWidthStr;

use super::view::{DiffRow, DiffView};
use crate::report::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use crate::report::view::Mark;

/// Rows that are listed unless all are asked for.
const ROWS_SHOWN: usize = 20;
/// Entries that are listed of a list.
const LISTED: usize = 10;
/// Checks that are listed below a row.
const CHECKS_SHOWN: usize = 3;
/// Narrowest column of words.
const WHAT_WIDTH: usize = 12;
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
    let cells: Vec<[String; 4]> = rows
        .iter()
        .map(|row| [page.name(&row.arm), row.before.clone(), row.after.clone(), page.own(&row.change)])
        .collect();
    let with_arms = rows.iter().any(|row| !row.arm.is_empty());
    let heads = [if with_arms { "Arm" } else { "" }, "Then", "Now", "Change"];
    let widths: Vec<usize> = (0..4).map(|at| column(heads[at], cells.iter().map(|cells| cells[at].clone()))).collect();
    let whats: Vec<String> = rows.iter().map(|row| page.name(&row.what)).collect();
    let what_width = column("What", whats.iter().cloned()).min(WHAT_WIDTH);
    let fixed = BEFORE_NAME + widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum::<usize>() + 2;
    let names: Vec<String> = rows.iter().map(|row| page.name(&row.case)).collect();
    let name_width = page.name_width(&names, "Case", fixed + what_width);
    let mut head = format!("  {}", left("Case", name_width + 2));
    for (at, text) in heads.iter().enumerate().filter(|(at, _)| widths[*at] > 0) {
        let cell = if at == 0 { left(text, widths[at]) } else { right(text, widths[at]) };
        head.push_str(&format!("  {cell}"));
    }
    let head = page.paint(Paint::Muted, &format!("{head}  What"));
    page.line(&head);
    let rest = page.width.saturating_sub(fixed + name_width).max(WHAT_WIDTH);
    for (((row, cells), name), what) in rows.iter().zip(&cells).zip(&names).zip(&whats) {
        let (glyph, paint) = page.glyph(row.mark);
        let name = cut_middle(name, name_width, page.style);
        let mut line = format!("  {} {}", page.paint(paint, glyph), left(&name, name_width));
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| widths[*at] > 0) {
            let cell = if at == 0 { left(cell, widths[at]) } else { right(cell, widths[at]) };
            let is_loss = at == 3 && row.mark == Mark::Worse;
            line.push_str("  ");
            line.push_str(&if is_loss { page.paint(Paint::Bad, &cell) } else { cell });
        }
        let mut lines = what_lines(what, rest, page.style).into_iter();
        line.push_str(&format!("  {}", lines.next().unwrap_or_default()));
        page.line(&line);
        let indent = " ".repeat(fixed + name_width);
        for more in lines {
            page.line(&format!("{indent}{more}"));
        }
        checks(page, "lost", &row.lost);
        checks(page, "gained", &row.gained);
        checks(page, "undecided", &row.undecided);
    }
}

fn what_lines(what: &str, width: usize, style: Style) -> Vec<String> {
    if style.width.is_none() {
        return vec![what.to_owned()];
    }
    let options = textwrap::Options::new(width).word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(what, options).into_iter().map(|line| line.into_owned()).collect()
}

/// The checks that pass less or more often, a line each.
fn checks(page: &mut Page, label: &str, checks: &[String]) {
    let first = format!("      {label:<11}");
    for (at, check) in checks.iter().take(CHECKS_SHOWN).enumerate() {
        let label = if at == 0 { first.clone() } else { " ".repeat(first.len()) };
        let text = cut_end(&page.name(check), page.width.saturating_sub(first.len()), page.style);
        let line = page.paint(Paint::Muted, &format!("{label}{text}"));
        page.line(&line);
    }
    if checks.len() > CHECKS_SHOWN {
        let more = format!("{}and {} more", " ".repeat(first.len()), checks.len() - CHECKS_SHOWN);
        let line = page.paint(Paint::Muted, &more);
        page.line(&line);
    }
}

/// A text of at most `width` columns: of a sentence the beginning says most.
fn cut_end(text: &str, width: usize, style: Style) -> String {
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

fn listed(page: &mut Page, label: &str, list: &[String]) {
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
