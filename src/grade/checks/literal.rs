//! Checks that look for texts in the answer: `contains`, `contains_any`, `contains_all`, `excludes_any`.

use std::borrow::Cow;

use skill_lift_text::python;
use skill_lift_text::view::{self, Comparison, View};

use super::Finding;
use crate::grade::answer::Answer;
use crate::grade::outcome::{Normalization, NormalizedText};
use crate::suite::TextMatching;

/// Which of the needles occur, and what that means.
type Decide<'n> = &'n dyn Fn(&[bool]) -> (bool, String);

pub(super) fn contains(needle: &str, matching: TextMatching, answer: &Answer<'_>) -> Finding {
    look_for(&[needle], matching, answer, &|hits| {
        let shown = python::repr_str(needle);
        if hits.iter().all(|hit| *hit) {
            (true, format!("contains {shown}"))
        } else {
            (false, format!("missing {shown}"))
        }
    })
}

pub(super) fn contains_any(needles: &[String], matching: TextMatching, answer: &Answer<'_>) -> Finding {
    look_for(needles, matching, answer, &|hits| match first(needles, hits) {
        Some(needle) => (true, format!("matched {}", python::repr_str(needle))),
        None => (false, format!("none matched: {}", python::repr_list(needles.iter().map(String::as_str)))),
    })
}

pub(super) fn contains_all(needles: &[String], matching: TextMatching, answer: &Answer<'_>) -> Finding {
    look_for(needles, matching, answer, &|hits| {
        let missing = needles.iter().zip(hits).filter(|(_, hit)| !**hit).map(|(needle, _)| needle.as_str());
        if hits.iter().all(|hit| *hit) {
            (true, "all present".to_owned())
        } else {
            (false, format!("missing: {}", python::repr_list(missing)))
        }
    })
}

pub(super) fn excludes_any(needles: &[String], matching: TextMatching, answer: &Answer<'_>) -> Finding {
    look_for(needles, matching, answer, &|hits| match first(needles, hits) {
        Some(needle) => (false, format!("found banned {}", python::repr_str(needle))),
        None => (true, "none present".to_owned()),
    })
}

fn first<'n>(needles: &'n [String], hits: &[bool]) -> Option<&'n str> {
    needles.iter().zip(hits).find(|(_, hit)| **hit).map(|(needle, _)| needle.as_str())
}

fn look_for<S: AsRef<str>>(needles: &[S], matching: TextMatching, answer: &Answer<'_>, decide: Decide<'_>) -> Finding {
    let views: Vec<View<'_>> = needles.iter().map(|needle| matching.comparison.view(needle.as_ref())).collect();
    let hits =
        occurrences(views.iter().map(|view| view.text.as_ref()), matching.comparison, matching.ignore_case, answer);
    let (passed, evidence) = decide(&hits);
    let mut finding = Finding::decided(passed, evidence);
    finding.comparison = Some(matching.comparison);
    let candidate = matching.comparison.view("");
    let candidate = if matching.comparison == Comparison::Rendered { answer.rendered() } else { &candidate };
    if candidate.changed() || views.iter().any(View::changed) {
        let raw = occurrences(needles.iter().map(AsRef::as_ref), Comparison::Exact, matching.ignore_case, answer);
        let (raw_passed, _) = decide(&raw);
        note_normalization(&mut finding, passed != raw_passed, candidate, &views);
    }
    finding
}

fn occurrences<'n>(
    needles: impl Iterator<Item = &'n str>,
    comparison: Comparison,
    ignore_case: bool,
    answer: &Answer<'_>,
) -> Vec<bool> {
    let text = answer.for_literals(comparison, ignore_case);
    needles
        .map(|needle| {
            let needle = if ignore_case { python::casefold(needle) } else { Cow::Borrowed(needle) };
            text.contains(needle.as_ref())
        })
        .collect()
}

/// Says in the evidence, and in a block of its own, what the view changed and whether it mattered.
pub(super) fn note_normalization(
    finding: &mut Finding,
    verdict_changed: bool,
    candidate: &View<'_>,
    operands: &[View<'_>],
) {
    let detail = view::detail(std::iter::once(candidate).chain(operands));
    let word = if verdict_changed { "changed" } else { "unchanged" };
    finding.evidence.push_str(&format!("; verdict {word} after rendered-v1 normalization ({detail})"));
    finding.normalization = Some(Normalization {
        verdict_changed: Some(verdict_changed),
        raw_score: None,
        candidate: NormalizedText::from(candidate),
        operands: operands.iter().filter(|view| view.changed()).map(NormalizedText::from).collect(),
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::on_text;
    use super::*;

    const FOLDED: TextMatching = TextMatching { ignore_case: true, comparison: Comparison::Rendered };
    const EXACT: TextMatching = TextMatching { ignore_case: false, comparison: Comparison::Exact };

    fn needles(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn contains_ignores_case_by_full_folding() {
        let finding = |a: &Answer<'_>| contains("STRASSE", FOLDED, a);
        assert_eq!(on_text(finding, "straße"), ("pass", "contains 'STRASSE'".to_owned()));
        assert_eq!(on_text(|a| contains("RETRY", EXACT, a), "retry"), ("fail", "missing 'RETRY'".to_owned()));
    }

    #[test]
    fn the_view_is_named_when_it_changed_something() {
        let (state, evidence) = on_text(|a| contains("rate limit", FOLDED, a), "rate\u{200b} limit");
        assert_eq!(state, "pass");
        assert_eq!(
            evidence,
            "contains 'rate limit'; verdict changed after rendered-v1 normalization (1 U+200B ZERO WIDTH SPACE)"
        );
        let (state, evidence) = on_text(|a| contains("rate limit", EXACT, a), "rate\u{200b} limit");
        assert_eq!((state, evidence.as_str()), ("fail", "missing 'rate limit'"));
    }

    #[test]
    fn lists_are_read_in_their_own_order() {
        let list = needles(&["late", "early"]);
        assert_eq!(on_text(|a| contains_any(&list, FOLDED, a), "early then late").1, "matched 'late'");
        assert_eq!(on_text(|a| contains_any(&list, FOLDED, a), "x").1, "none matched: ['late', 'early']");
        assert_eq!(on_text(|a| contains_all(&list, FOLDED, a), "early"), ("fail", "missing: ['late']".to_owned()));
        assert_eq!(on_text(|a| contains_all(&list, FOLDED, a), "earlylate"), ("pass", "all present".to_owned()));
        assert_eq!(
            on_text(|a| excludes_any(&list, FOLDED, a), "EARLY late"),
            ("fail", "found banned 'late'".to_owned())
        );
        assert_eq!(on_text(|a| excludes_any(&list, FOLDED, a), ""), ("pass", "none present".to_owned()));
    }
}
