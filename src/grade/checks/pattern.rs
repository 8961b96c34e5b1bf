//! Checks that search the answer with a regular expression: `regex`, `not_regex`.

use skill_lift_text::pattern::Search;
use skill_lift_text::view::Comparison;

use super::Finding;
use super::literal::note_normalization;
use crate::grade::answer::Answer;
use crate::grade::outcome::{ErrorReason, Outcome};
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
    let raw = if changed { Some(matches(pattern, answer.text(Comparison::Exact))) } else { None };
    let finding = match (matches(pattern, answer.text(comparison)), raw.transpose()) {
        (Ok(found), Ok(raw)) => {
            let (passed, evidence) = decide(found);
            let mut finding = Finding::decided(passed, evidence);
            if let Some(raw) = raw {
                note_normalization(&mut finding, raw != found, answer.rendered(), &[]);
            }
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
    match pattern.pattern.search(text) {
        Search::Match(_) => Ok(true),
        Search::NoMatch => Ok(false),
        Search::BudgetExceeded => Err(StepLimit),
    }
}
