//! A history as text for a terminal: a pure function of the view, the width and a few switches.

use unicode_width::UnicodeWidthStr;

use super::view::{TrendRow, TrendView};
use crate::report::diff::table::listed;
use crate::report::terminal::{Page, Paint, Style, column, cut_middle, left, right};

/// Reports that are listed unless all are asked for: the last ones.
const ROWS_SHOWN: usize = 20;
/// Narrower screens have the words in a line of their own.
const WHAT_FROM: usize = 74;
/// Indentation of lines below a row.
const BELOW: &str = "      ";
/// The columns behind the name.
const HEADS: [&str; 5] = ["Without", "With", "Lift", "Change", "p"];

/// Renders a history; every line ends with a line break.
pub fn render_trend(view: &TrendView, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, view);
    let sentences: Vec<String> = view.leads.iter().map(|text| page.name(&page.own(text))).collect();
    let sentences: Vec<&str> = sentences.iter().chain([&view.headline.note]).map(String::as_str).collect();
    page.answer(&view.headline, &sentences);
    rows(&mut page, &view.rows);
    for note in &view.notes {
        page.wrapped(note, "  ", "  ");
    }
    for (label, list) in &view.lists {
        listed(&mut page, label, list);
    }
    page.out
}

fn title(page: &mut Page, view: &TrendView) {
    let name = page.name(&view.skill_name);
    let name = cut_middle(&name, page.width.saturating_sub(view.size.width() + 3), page.style);
    let between = if name.is_empty() { "" } else { "   " };
    let title = format!("{}{between}{}", page.paint(Paint::Bold, &name), view.size);
    page.line(&title);
    page.line("");
}

fn cells(page: &Page, row: &TrendRow) -> [String; HEADS.len()] {
    [&row.without_skill, &row.with_skill, &row.lift, &row.change, &row.p].map(|cell| page.own(cell))
}

fn rows(page: &mut Page, rows: &[TrendRow]) {
    let hidden = if page.style.all_cases { 0 } else { rows.len().saturating_sub(ROWS_SHOWN) };
    let rows = &rows[hidden..];
    if rows.is_empty() {
        return;
    }
    if hidden > 0 {
        let text = page.paint(Paint::Muted, &format!("  {hidden} earlier ones; --all-cases lists them"));
        page.line(&text);
    }
    let with_what = page.style.width.is_none() || page.width >= WHAT_FROM;
    let all: Vec<[String; HEADS.len()]> = rows.iter().map(|row| cells(page, row)).collect();
    let widths: [usize; HEADS.len()] =
        std::array::from_fn(|at| column(HEADS[at], all.iter().map(|cells| cells[at].clone())));
    let what = if with_what { 2 + column("What", rows.iter().map(|row| row.what.to_owned())) } else { 0 };
    let fixed = 2 + widths.iter().map(|width| width + 2).sum::<usize>() + what;
    let names: Vec<String> = rows.iter().map(|row| page.name(&row.report)).collect();
    let name_width = page.name_width(&names, "Report", fixed);
    let line_of = |name: &str, cells: &[String]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("  {}", right(cell, width)));
        format!("  {}{}", left(name, name_width), cells.collect::<String>())
    };
    let head = line_of("Report", &HEADS.map(str::to_owned));
    let head = page.paint(Paint::Muted, &if with_what { format!("{head}  What") } else { head });
    page.line(&head);
    for ((row, name), cells) in rows.iter().zip(&names).zip(&all) {
        let line = line_of(&cut_middle(name, name_width, page.style), cells);
        let what = if row.is_worse { page.paint(Paint::Bad, row.what) } else { row.what.to_owned() };
        if with_what {
            page.line(&format!("{line}  {what}"));
        } else {
            page.line(&line);
            page.wrapped(row.what, BELOW, BELOW);
        }
        for reason in &row.reasons {
            let reason = page.name(&page.own(reason));
            page.wrapped(&reason, BELOW, BELOW);
        }
    }
}
