//! A comparison of two results as bytes: JSON, a table for a terminal, Markdown. One view model for both texts.

pub(super) mod blocks;
mod json;
pub(super) mod markdown;
pub(super) mod shift_json;
pub(super) mod table;
mod view;
pub(super) mod words;

pub use json::write_diff;
pub use markdown::render_markdown;
pub use table::render_diff;
pub use view::{DiffRow, DiffView};
pub use words::{gate_lines, gate_summary};
