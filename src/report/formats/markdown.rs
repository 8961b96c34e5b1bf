//! The report as Markdown, for a page or a pull request.

use super::Again;
use super::document::Document;
use super::sections::{cases, core, eyes, flags, groups, headline_title, left_out, measured_how, models};
use crate::report::view::SummaryView;

/// The document of a report. `is_part` says that it follows something else in the same file.
pub fn markdown(again: Again<'_>, is_part: bool) -> Document {
    let view = SummaryView::of_saved(again.saved, again.analysis);
    let level = if is_part { 2 } else { 1 };
    Document {
        core: core(&headline_title(level, &view), &view),
        level: level + 1,
        sections: vec![
            models(&view),
            eyes(&view),
            cases(&view),
            groups(again),
            left_out(again, &view),
            flags(again),
            measured_how(again, &view),
        ],
    }
}
