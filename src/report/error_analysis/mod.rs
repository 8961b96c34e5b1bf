//! What went wrong in the runs of a report, as JSON and as text for people.

mod json;
mod table;

pub use json::write_error_analysis;
pub use table::render_error_analysis;
