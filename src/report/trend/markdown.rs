//! A history as Markdown. Everything that a file said is escaped: no cell breaks out of its table.

use super::view::{TrendRow, TrendView};
use crate::report::markup::escaped;

/// Reports that are listed unless all are asked for: the last ones.
const ROWS_SHOWN: usize = 50;
/// Entries of a list unless all are asked for.
const LISTED: usize = 20;

/// Renders a history. With `everything` every report and every entry of a list is there.
pub fn render_trend_markdown(view: &TrendView, everything: bool) -> String {
    let skill = if view.skill_name.is_empty() { String::new() } else { format!("{}: ", escaped(&view.skill_name)) };
    let mut out = format!("# {skill}{}\n\n{}.", view.headline.text.trim_end_matches('.'), view.size);
    for sentence in view.leads.iter().chain([&view.headline.note]).filter(|text| !text.is_empty()) {
        out.push_str(&format!(" {}", escaped(sentence)));
    }
    out.push('\n');
    let hidden = if everything { 0 } else { view.rows.len().saturating_sub(ROWS_SHOWN) };
    if !view.rows.is_empty() {
        out.push_str("\n## Reports\n\n");
        if hidden > 0 {
            out.push_str(&format!("{hidden} earlier ones: `--all-cases` lists them.\n\n"));
        }
        out.push_str("| Report | Without | With | Lift | Change | p | What |\n|---|--:|--:|--:|--:|--:|---|\n");
        view.rows[hidden..].iter().for_each(|row| out.push_str(&line(row)));
    }
    view.notes.iter().for_each(|note| out.push_str(&format!("\n{}\n", escaped(note))));
    for (label, list) in &view.lists {
        out.push_str(&format!("\n## {label}\n\n"));
        let shown = if everything { list.len() } else { list.len().min(LISTED) };
        for entry in &list[..shown] {
            out.push_str(&format!("- {}\n", escaped(entry)));
        }
        if shown < list.len() {
            out.push_str(&format!("- and {} more\n", list.len() - shown));
        }
    }
    out
}

fn line(row: &TrendRow) -> String {
    let TrendRow { report, without_skill, with_skill, lift, change, p, what, reasons, .. } = row;
    let reasons: String = reasons.iter().map(|reason| format!("; {}", escaped(reason))).collect();
    let p = p.replace('<', "&lt;");
    format!("| {} | {without_skill} | {with_skill} | {lift} | {change} | {p} | {what}{reasons} |\n", escaped(report))
}
