//! A comparison of two results as bytes: JSON, a table for a terminal, Markdown. One view model for both texts.

mod blocks;
mod json;
mod markdown;
mod shift_json;
mod table;
mod view;
mod words;

pub use json::write_diff;
pub use markdown::render_markdown;
pub use table::render_diff;
pub use view::{DiffRow, DiffView};
pub use words::{gate_lines, gate_summary};
