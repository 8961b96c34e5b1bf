//! A plan as text for a terminal: a pure function of the view, the width and a few switches.

use unicode_width::UnicodeWidthStr;

use super::view::{PlanTable, PlanView};
use crate::report::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use crate::report::words::Tone;

/// Renders a plan; every line ends with a line break.
pub fn render_plan(view: &PlanView, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, view);
    let paint = match view.tone {
        Tone::Good => Paint::Good,
        Tone::Bad => Paint::Bad,
        Tone::Neutral => Paint::Caution,
    };
    let answer = page.paint(paint, &page.own(&view.answer));
    page.wrapped(&answer, "", "");
    for sentence in &view.sentences {
        let sentence = page.own(sentence);
        page.wrapped(&sentence, "", "");
    }
    for table in &view.tables {
        page.line("");
        rows(&mut page, table);
    }
    page.line("");
    let mut last = "";
    for (label, text) in &view.paragraphs {
        page.paragraph(if *label == last { "" } else { label }, text);
        last = label;
    }
    page.out
}

fn title(page: &mut Page, view: &PlanView) {
    let rest = format!("{}   {}", view.what, view.size);
    let name = page.name(&view.skill_name);
    let name = cut_middle(&name, page.width.saturating_sub(rest.width() + 3), page.style);
    let between = if name.is_empty() { "" } else { "   " };
    let title = format!("{}{between}{rest}", page.paint(Paint::Bold, &name));
    page.line(&title);
    page.line("");
}

fn rows(page: &mut Page, table: &PlanTable) {
    let own = |cells: &Vec<String>| cells.iter().map(|cell| page.own(cell)).collect::<Vec<String>>();
    let heads = own(&table.heads);
    let all: Vec<Vec<String>> = table.rows.iter().map(own).collect();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| column(head, all.iter().filter_map(|cells| cells.get(at).cloned())))
        .collect();
    let line_of = |cells: &[String]| {
        let shown = cells.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
            0 => format!("  {}", left(cell, *width)),
            _ => format!("  {}", right(cell, *width)),
        });
        shown.collect::<String>()
    };
    let head = page.paint(Paint::Muted, &line_of(&heads));
    page.line(&head);
    for cells in &all {
        page.line(&line_of(cells));
    }
    let notes = page.own(&table.notes.join(" "));
    if !notes.is_empty() {
        page.wrapped(&notes, "  ", "  ");
    }
}
