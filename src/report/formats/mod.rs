//! A saved report in the formats of others: JUnit and CTRF for CI systems, Markdown for people, the job summary and the
//! annotations of GitHub.
//!
//! Every text of a report is one of others: in each format it means nothing but itself.

mod annotations;
mod cases;
mod ctrf;
mod document;
mod github;
mod junit;
mod markdown;
mod sections;

pub use annotations::annotations;
pub use ctrf::write_ctrf;
pub(super) use document::cut_to;
pub use document::{Document, LEAST_KIB, USUAL_KIB};
pub use github::github_summary;
pub use junit::write_junit;
pub use markdown::markdown;

use crate::analyze::Analysis;
use crate::runs::claims::SavedBenchmark;

/// A saved report with what its rows say.
#[derive(Debug, Clone, Copy)]
pub struct Again<'a> {
    /// The report.
    pub saved: &'a SavedBenchmark,
    /// Its rows, analysed once more.
    pub analysis: &'a Analysis,
}

impl Again<'_> {
    /// The skill, or what stands for it.
    fn skill_name(&self) -> &str {
        self.saved.skill_name.as_deref().unwrap_or("skill")
    }

    /// The headline rates and their difference, and the share of the possible gain; none where they are withheld.
    fn headline(&self) -> [Option<f64>; 4] {
        if self.analysis.is_withheld() {
            return [None; 4];
        }
        let lift = &self.analysis.lift.overall;
        [lift.with_skill, lift.without_skill, lift.delta(), lift.normalized_gain()]
    }
}
