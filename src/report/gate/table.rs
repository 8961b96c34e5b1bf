//! A gate as text for a terminal: a pure function of the view, the width and a few switches.

use unicode_width::UnicodeWidthStr;

use super::view::GateView;
use crate::report::terminal::{Page, Paint, Style, cut_middle};
use crate::report::words::Tone;

/// Renders a gate; every line ends with a line break. The answer comes first.
pub fn render_gate(view: &GateView, style: Style) -> String {
    let mut page = Page::new(style);
    let paint = match view.tone {
        Tone::Good => Paint::Good,
        Tone::Bad => Paint::Bad,
        Tone::Neutral => Paint::Caution,
    };
    let sentence = page.paint(paint, &page.own(&view.sentence));
    page.wrapped(&sentence, "", "");
    for sentence in &view.why {
        let sentence = page.own(sentence);
        page.wrapped(&sentence, "", "");
    }
    page.line("");
    let rest = view.asked.as_str();
    let name = page.name(&view.skill_name);
    let name = cut_middle(&name, page.width.saturating_sub(rest.width() + 13), page.style);
    let between = if name.is_empty() { "" } else { ": " };
    page.paragraph("Asked", &format!("{name}{between}{rest}"));
    for (label, text) in &view.paragraphs {
        page.paragraph(label, text);
    }
    page.out
}
