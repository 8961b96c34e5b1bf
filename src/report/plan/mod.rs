//! What an eval design can detect, as bytes: JSON, a table for a terminal, Markdown. One view model for both texts.

mod json;
mod markdown;
mod table;
mod view;
mod words;

pub use json::{PlanHead, write_plan};
pub use markdown::render_plan_markdown;
pub use table::render_plan;
pub use view::PlanView;
