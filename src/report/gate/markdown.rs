//! A gate as Markdown for a pull request or a job summary.

use super::view::GateView;
use crate::report::markup::escaped;

/// Renders a gate.
pub fn render_gate_markdown(view: &GateView) -> String {
    let name = escaped(&view.skill_name);
    let between = if name.is_empty() { "" } else { ": " };
    let mut out = format!("# {name}{between}gate\n\n**{}**", escaped(&view.sentence));
    for sentence in &view.why {
        out.push_str(&format!(" {}", escaped(sentence)));
    }
    out.push_str("\n\n");
    for (label, text) in &view.paragraphs {
        out.push_str(&format!("- {label}: {}\n", escaped(text)));
    }
    out
}
