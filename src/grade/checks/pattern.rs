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
    let found = match matches(pattern, answer.text(comparison)) {
        Ok(found) => found,
        Err(unresolved) => return Finding { comparison: Some(comparison), ..unresolved },
    };
    let (passed, evidence) = decide(found);
    let mut finding = Finding { comparison: Some(comparison), ..Finding::decided(passed, evidence) };
    if comparison == Comparison::Rendered && answer.rendered().changed() {
        match matches(pattern, answer.text(Comparison::Exact)) {
            Ok(raw) => note_normalization(&mut finding, raw != found, answer.rendered(), &[]),
            Err(unresolved) => return Finding { comparison: Some(comparison), ..unresolved },
        }
    }
    finding
}

fn matches(pattern: &WrittenPattern, text: &str) -> Result<bool, Finding> {
    match pattern.pattern.search(text) {
        Search::Match(_) => Ok(true),
        Search::NoMatch => Ok(false),
        Search::Unsupported(reason) => {
            let evidence = format!("regex evaluation unavailable: {reason} is not evaluated by this version");
            Err(Finding::unresolved(Outcome::Unsupported, evidence))
        }
        Search::BudgetExceeded => {
            let evidence = "regex evaluation unavailable: step budget exceeded".to_owned();
            Err(Finding::unresolved(Outcome::Error(ErrorReason::StepLimit), evidence))
        }
    }
}
