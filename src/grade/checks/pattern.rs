//! Checks that search the answer with a regular expression: `regex`, `not_regex`.

use std::ops::Range;

use skill_lift_text::pattern::Search;
use skill_lift_text::view::Comparison;

use super::Finding;
use super::literal::note_normalization;
use crate::grade::answer::Answer;
use crate::grade::outcome::{ErrorReason, Outcome};
use crate::grade::places::Found;
use crate::suite::check::WrittenPattern;

pub(super) fn regex(pattern: &WrittenPattern, comparison: Comparison, answer: &Answer<'_>) -> Finding {
    let source = &pattern.source;
    search(pattern, comparison, answer, &|found| {
        (found, if found { format!("matched /{source}/") } else { format!("missing /{source}/") })
    })
}

pub(super) fn not_regex(pattern: &WrittenPattern, comparison: Comparison, answer: &Answer<'_>) -> Finding {
    let source = &pattern.source;
    search(pattern, comparison, answer, &|found| {
        (!found, if found { format!("found banned /{source}/") } else { format!("absent /{source}/") })
    })
}

fn search(
    pattern: &WrittenPattern,
    comparison: Comparison,
    answer: &Answer<'_>,
    decide: &dyn Fn(bool) -> (bool, String),
) -> Finding {
    let changed = comparison == Comparison::Rendered && answer.rendered().changed();
    let raw = if changed { Some(find(pattern, answer.raw())) } else { None };
    let finding = match (find(pattern, answer.text(comparison)), raw.transpose()) {
        (Ok(found), Ok(raw)) => {
            let (passed, evidence) = decide(found.is_some());
            let mut finding = Finding::decided(passed, evidence);
            if let Some(raw) = &raw {
                note_normalization(&mut finding, raw.is_some() != found.is_some(), answer.rendered(), &[]);
            }
            // what only the view shows has no place, and what the view hides was not found
            let place = match raw {
                Some(raw) => found.and(raw),
                None => found,
            };
            let ranges: Vec<_> = place.into_iter().collect();
            finding.found = Found { count: ranges.len(), ranges };
            finding
        }
        (Err(limit), _) | (_, Err(limit)) => limit.finding(),
    };
    Finding { comparison: Some(comparison), ..finding }
}

/// A search took more steps than it may, so that its check is neither passed nor failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepLimit;

impl StepLimit {
    /// What a check says that met the limit.
    pub(super) fn finding(self) -> Finding {
        let evidence = "regex evaluation unavailable: step budget exceeded".to_owned();
        Finding::unresolved(Outcome::Error(ErrorReason::StepLimit), evidence)
    }
}

/// Whether a pattern matches somewhere.
pub(super) fn matches(pattern: &WrittenPattern, text: &str) -> Result<bool, StepLimit> {
    find(pattern, text).map(|found| found.is_some())
}

/// Where a pattern matches first, in bytes.
fn find(pattern: &WrittenPattern, text: &str) -> Result<Option<Range<usize>>, StepLimit> {
    match pattern.pattern.search(text) {
        Search::Match(range) => Ok(Some(range)),
        Search::NoMatch => Ok(None),
        Search::BudgetExceeded => Err(StepLimit),
    }
}
