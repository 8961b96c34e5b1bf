//! Checks that look for texts in the answer: `contains`, `contains_any`, `contains_all`, `excludes_any`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;
use skill_lift_text::python;
use skill_lift_text::view::{self, Comparison, View};

use super::Finding;
use crate::grade::answer::Answer;
use crate::grade::outcome::{Normalization, NormalizedText, Outcome};
use crate::grade::places::{Found, MissKind, SHOWN_SPANS};
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
    .or_nearest(&[needle], matching.ignore_case, answer)
}

pub(super) fn contains_any(needles: &[String], matching: TextMatching, answer: &Answer<'_>) -> Finding {
    look_for(needles, matching, answer, &|hits| match first(needles, hits) {
        Some(needle) => (true, format!("matched {}", python::repr_str(needle))),
        None => (false, format!("none matched: {}", python::repr_list(needles.iter().map(String::as_str)))),
    })
    .or_nearest(needles, matching.ignore_case, answer)
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
    .or_nearest(needles, matching.ignore_case, answer)
}

pub(super) fn excludes_any(needles: &[String], matching: TextMatching, answer: &Answer<'_>) -> Finding {
    look_for(needles, matching, answer, &|hits| match first(needles, hits) {
        Some(needle) => (false, format!("found banned {}", python::repr_str(needle))),
        None => (true, "none present".to_owned()),
    })
    .finding
}

fn first<'n>(needles: &'n [String], hits: &[bool]) -> Option<&'n str> {
    needles.iter().zip(hits).find(|(_, hit)| **hit).map(|(needle, _)| needle.as_str())
}

/// What was found, and which of the texts.
struct Sought {
    finding: Finding,
    hits: Vec<bool>,
}

impl Sought {
    /// The finding with what comes nearest to the first text that is missing, when texts that must be there are.
    fn or_nearest<S: AsRef<str>>(self, needles: &[S], ignore_case: bool, answer: &Answer<'_>) -> Finding {
        let Self { mut finding, hits } = self;
        if finding.outcome == Outcome::Fail {
            let missing = needles.iter().zip(hits).find(|(_, hit)| !hit);
            finding.nearest_miss = missing.and_then(|(needle, _)| nearest(needle.as_ref(), ignore_case, answer));
        }
        finding
    }
}

fn look_for<S: AsRef<str>>(needles: &[S], matching: TextMatching, answer: &Answer<'_>, decide: Decide<'_>) -> Sought {
    let views: Vec<View<'_>> = needles.iter().map(|needle| matching.comparison.view(needle.as_ref())).collect();
    let hits =
        occurrences(views.iter().map(|view| view.text.as_ref()), matching.comparison, matching.ignore_case, answer);
    let (passed, evidence) = decide(&hits);
    let mut finding = Finding::decided(passed, evidence);
    finding.comparison = Some(matching.comparison);
    let present = needles.iter().zip(&hits).filter(|(_, hit)| **hit).map(|(needle, _)| needle.as_ref());
    finding.found = found(present, matching.ignore_case, answer);
    let candidate = matching.comparison.view("");
    let candidate = if matching.comparison == Comparison::Rendered { answer.rendered() } else { &candidate };
    if candidate.changed() || views.iter().any(View::changed) {
        let raw = occurrences(needles.iter().map(AsRef::as_ref), Comparison::Exact, matching.ignore_case, answer);
        let (raw_passed, _) = decide(&raw);
        note_normalization(&mut finding, passed != raw_passed, candidate, &views);
    }
    Sought { finding, hits }
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
            memmem::find(text.as_bytes(), needle.as_bytes()).is_some()
        })
        .collect()
}

/// All places of the needles in the answer itself; what only a view shows has no place.
fn found<'n>(needles: impl Iterator<Item = &'n str>, ignore_case: bool, answer: &Answer<'_>) -> Found {
    let mut found = Found::default();
    let folded = needles.map(|needle| if ignore_case { python::casefold(needle) } else { Cow::Borrowed(needle) });
    let different: BTreeSet<Cow<'n, str>> = folded.collect();
    if different.is_empty() {
        return found;
    }
    let text = answer.for_literals(Comparison::Exact, ignore_case);
    for needle in different {
        let starts = memmem::find_iter(text.as_bytes(), needle.as_bytes());
        for (index, start) in starts.enumerate() {
            found.count += 1;
            if index < SHOWN_SPANS {
                found.ranges.push(in_answer(start..start + needle.len(), ignore_case, answer));
            }
        }
    }
    found.ranges.sort_by_key(|range| (range.start, range.end));
    found.ranges.truncate(SHOWN_SPANS);
    found
}

/// The bytes of the answer for a range of the text that literals are looked for in.
fn in_answer(range: Range<usize>, ignore_case: bool, answer: &Answer<'_>) -> Range<usize> {
    if ignore_case { answer.unfolded(range) } else { range }
}

/// What comes nearest to a text that is not in the answer.
fn nearest(needle: &str, ignore_case: bool, answer: &Answer<'_>) -> Option<(MissKind, Range<usize>)> {
    let folded = python::casefold(needle);
    if !ignore_case && let Some(start) = memmem::find(answer.folded(Comparison::Exact).as_bytes(), folded.as_bytes()) {
        return Some((MissKind::Case, answer.unfolded(start..start + folded.len())));
    }
    let needle = if ignore_case { &*folded } else { needle };
    let text = answer.for_literals(Comparison::Exact, ignore_case);
    let (kind, range) = match with_other_space(needle, text) {
        Some(range) => (MissKind::WhiteSpace, range),
        None => (MissKind::Beginning, beginning(needle, text)?),
    };
    Some((kind, in_answer(range, ignore_case, answer)))
}

/// The words of a text with whatever white space between them.
fn with_other_space(needle: &str, text: &str) -> Option<Range<usize>> {
    let mut words = needle.split_whitespace();
    let first = words.next()?;
    let rest: Vec<&str> = words.collect();
    memmem::find_iter(text.as_bytes(), first.as_bytes()).take(MOST_STARTS).find_map(|start| {
        let mut end = start + first.len();
        for word in &rest {
            let after = text[end..].trim_start();
            let gap = text.len() - end - after.len();
            if gap == 0 || !after.starts_with(word) {
                return None;
            }
            end += gap + word.len();
        }
        Some(start..end)
    })
}

/// Places at which a near miss is looked for.
const MOST_STARTS: usize = 1_000;

/// The longest beginning of a text that occurs, if it is at least half of it and [`LEAST_BEGINNING`] long.
fn beginning(needle: &str, text: &str) -> Option<Range<usize>> {
    let ends: Vec<usize> = needle.char_indices().map(|(at, _)| at).skip(1).collect();
    // a beginning of what occurs occurs as well
    let occurs = |end: &usize| memmem::find(text.as_bytes(), &needle.as_bytes()[..*end]).is_some();
    let count = ends.partition_point(occurs);
    let length = *ends.get(count.checked_sub(1)?)?;
    if count < LEAST_BEGINNING || 2 * length < needle.len() {
        return None;
    }
    let start = memmem::find(text.as_bytes(), &needle.as_bytes()[..length])?;
    Some(start..start + length)
}

/// Characters below which a common beginning means nothing.
const LEAST_BEGINNING: usize = 4;

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
#[expect(clippy::single_range_in_vec_init, reason = "lists of one range are meant")]
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

    fn miss(needle: &str, matching: TextMatching, text: &str) -> Option<(MissKind, String)> {
        let answer = Answer::new(text);
        let (kind, range) = contains(needle, matching, &answer).nearest_miss?;
        Some((kind, text[range].to_owned()))
    }

    #[test]
    fn what_comes_nearest_is_named() {
        let some = |kind, text: &str| Some((kind, text.to_owned()));
        assert_eq!(miss("Retry-After", EXACT, "send RETRY-AFTER"), some(MissKind::Case, "RETRY-AFTER"));
        assert_eq!(miss("rate limit", FOLDED, "the Rate\n  Limit"), some(MissKind::WhiteSpace, "Rate\n  Limit"));
        assert_eq!(miss("retry with backoff", FOLDED, "Retry with care"), some(MissKind::Beginning, "Retry with "));
        assert_eq!(miss("Straße 7", FOLDED, "STRASSE 8"), some(MissKind::Beginning, "STRASSE "));
        assert_eq!(miss("retry", FOLDED, "a return"), None);
        assert_eq!(miss("retry", FOLDED, "retry"), None);
        let hidden =
            contains_all(&needles(&["rate limits", "backoff"]), FOLDED, &Answer::new("rate limit\u{200b}s back"));
        assert_eq!(hidden.nearest_miss, Some((MissKind::Beginning, 15..19)));
        let all = contains_all(&needles(&["there", "missing word"]), FOLDED, &Answer::new("there, missing wor"));
        assert_eq!(all.nearest_miss, Some((MissKind::Beginning, 7..18)));
    }

    #[test]
    fn every_place_is_found_in_the_answer_itself() {
        let found = |list: &[&str], text: &str| contains_any(&needles(list), FOLDED, &Answer::new(text)).found;
        let ranges = |list: &[&str], text: &str| found(list, text).ranges;
        assert_eq!(ranges(&["b", "ab"], "ab é AB"), [0..2, 1..2, 6..8, 7..8]);
        assert_eq!(ranges(&["ss"], "Maß"), [2..4]);
        // only the view has it
        assert!(ranges(&["rate limit"], "rate\u{200b} limit").is_empty());
        // of several needles only those that the check found, each once
        assert_eq!(ranges(&["rate limit", "b", "B"], "rate\u{200b} limit b"), [14..15]);
        let many = found(&["a"], &"a".repeat(50));
        assert_eq!((many.ranges.len(), many.count), (20, 50));
        assert_eq!(excludes_any(&needles(&["x"]), FOLDED, &Answer::new("axb")).found.ranges, [1..2]);
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
