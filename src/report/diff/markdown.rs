//! A comparison as Markdown. Everything that a file said is escaped: no cell breaks out of its table.

use super::view::{DiffRow, DiffView};
use crate::report::markup::escaped;
use crate::report::view::Mark;

/// Rows of a table unless all are asked for.
const ROWS_SHOWN: usize = 50;
/// Entries of a list unless all are asked for.
const LISTED: usize = 20;
/// Entries of a list that are named of one row.
const DETAILS_SHOWN: usize = 3;

/// Renders a comparison. With `all_cases` every arm of every case is listed.
pub fn render_markdown(view: &DiffView, all_cases: bool) -> String {
    let mut out = String::new();
    let skill = if view.skill_name.is_empty() { String::new() } else { format!("{}: ", escaped(&view.skill_name)) };
    out.push_str(&format!("# {skill}{}\n\n", view.headline.text.trim_end_matches('.')));
    out.push_str(&format!("{} → {}: {}.\n\n", escaped(&view.old), escaped(&view.new), view.size));
    for sentence in view.leads.iter().chain([&view.headline.note]).filter(|text| !text.is_empty()) {
        out.push_str(&format!("{}\n", escaped(sentence)));
    }
    if !view.paragraphs.is_empty() {
        out.push('\n');
    }
    for (label, text) in &view.paragraphs {
        let label = if label.is_empty() { String::new() } else { format!("**{label}** ") };
        out.push_str(&format!("- {label}{}\n", escaped(text)));
    }
    rows(&mut out, view, all_cases);
    for (label, list) in &view.lists {
        out.push_str(&format!("\n## {label}\n\n"));
        let shown = if all_cases { list.len() } else { list.len().min(LISTED) };
        for entry in &list[..shown] {
            out.push_str(&format!("- {}\n", escaped(entry)));
        }
        if shown < list.len() {
            out.push_str(&format!("- and {} more\n", list.len() - shown));
        }
    }
    out
}

fn rows(out: &mut String, view: &DiffView, all_cases: bool) {
    let of_interest: Vec<&DiffRow> = view.rows.iter().filter(|row| all_cases || row.is_short).collect();
    let shown = if all_cases { of_interest.len() } else { of_interest.len().min(ROWS_SHOWN) };
    out.push_str("\n## Changes\n\n");
    if shown > 0 {
        out.push_str("| | Case | Arm | Then | Now | Change | What |\n|---|---|---|--:|--:|--:|---|\n");
    }
    for row in &of_interest[..shown] {
        let arm = if row.arm.is_empty() { "with" } else { &row.arm };
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            glyph(row.mark),
            escaped(&row.case),
            escaped(arm),
            row.before,
            row.after,
            row.change,
            what(row)
        ));
    }
    if shown > 0 {
        out.push('\n');
    }
    if shown < of_interest.len() {
        out.push_str(&format!("And {} more: `--all-cases` lists them.\n\n", of_interest.len() - shown));
    }
    for line in &view.counts {
        out.push_str(&format!("- {}\n", escaped(line)));
    }
}

fn what(row: &DiffRow) -> String {
    let mut text = row.what.to_owned();
    for (label, list) in &row.details {
        let named: Vec<String> = list.iter().take(DETAILS_SHOWN).map(|entry| escaped(entry)).collect();
        let more = list.len() - named.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        text.push_str(&format!("; {label}: {}{more}", named.join("; ")));
    }
    text
}

fn glyph(mark: Mark) -> &'static str {
    match mark {
        Mark::Critical => "!",
        Mark::Worse => "▼",
        Mark::Open => "◇",
        Mark::Better => "▲",
        Mark::Same => "=",
    }
}
