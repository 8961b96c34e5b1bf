//! A plan as Markdown for a pull request or a page.

use super::view::{PlanTable, PlanView};
use crate::report::markup::escaped;

/// Renders a plan.
pub fn render_plan_markdown(view: &PlanView) -> String {
    let name = escaped(&view.skill_name);
    let between = if name.is_empty() { "" } else { ": " };
    let mut out = format!("# {name}{between}{}\n\n**{}**", view.what, escaped(&view.answer));
    for sentence in &view.sentences {
        out.push_str(&format!(" {}", escaped(sentence)));
    }
    out.push('\n');
    view.tables.iter().for_each(|table| rows(&mut out, table));
    out.push('\n');
    for (label, text) in &view.paragraphs {
        out.push_str(&format!("- {label}: {}\n", escaped(text)));
    }
    out
}

fn rows(out: &mut String, table: &PlanTable) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    out.push_str(&format!("\n{}|---|{}\n", line(&table.heads), "--:|".repeat(table.heads.len().saturating_sub(1))));
    table.rows.iter().for_each(|cells| out.push_str(&line(cells)));
    if !table.notes.is_empty() {
        out.push_str(&format!("\n{}\n", escaped(&table.notes.join(" "))));
    }
}
