//! The answer of a gate as bytes: JSON, a table for a terminal, Markdown. One view model for both texts.

mod json;
mod markdown;
mod table;
mod tried;
mod view;
mod words;

pub use json::{GateHead, write_gate};
pub use markdown::render_gate_markdown;
pub use table::render_gate;
pub use view::GateView;
