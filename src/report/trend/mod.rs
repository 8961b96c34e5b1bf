//! What a history of reports shows, as bytes: JSON, a table for a terminal, Markdown. One view model for both texts.

mod json;
mod markdown;
mod table;
mod view;

pub use json::write_trend;
pub use markdown::render_trend_markdown;
pub use table::render_trend;
pub use view::TrendView;
