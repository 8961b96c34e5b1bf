//! The verdicts and the rate of a row, wherever its form keeps them.

use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational;

use super::figures::{self, Figure, MOST_ASSERTIONS};
use super::model::{ClaimedAssertion, ClaimedRate, NotScored, half_step};
use super::note::{NoteCode, Notes};
use super::places::{first, is_list, items, text_of};
use crate::json::Item;
use crate::runs::workspace::EntryMark;
use crate::suite::Severity;

/// Keys of lists of verdicts.
const LISTS: [&str; 6] =
    ["expectations", "assertion_results", "assertion_details", "assertions", "evaluations", "details"];

/// Keys of the text of a verdict.
const TEXTS: [&str; 8] =
    ["text", "expectation", "assertion", "criterion", "requirement", "description", "check", "name"];

/// Keys of the name of an assertion.
const NAMES: [&str; 3] = ["id", "name", "dimension"];

/// Keys of counted passes.
const PASSED: [&str; 5] = ["assertions_passed", "passed", "pass_count", "passed_count", "total_passed"];

/// Keys of counted assertions.
const TOTALS: [&str; 4] = ["assertions_total", "total", "total_assertions", "assertion_count"];

/// Keys of objects in a row that hold its numbers.
const INNER: [&str; 3] = ["result", "summary", "assertions"];

/// Decimal places that a stated rate is held to beside counts.
const ROUNDED_TO: u32 = 2;

/// Scores that are no rates.
const SCORES: [&str; 7] = ["quality", "eval_score", "subscores", "scores", "score", "content", "structure"];

/// Verdicts of a row.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    pub(super) assertions: Vec<ClaimedAssertion>,
    unreadable: Option<String>,
    /// Passed and all of those that count.
    counted: (u64, u64),
    /// Whether one that has to hold does not: the rate is 0. Only our own exports have such entries.
    vetoed: bool,
}

impl Verdicts {
    /// Reads the first list of verdicts of a row.
    pub(super) fn of(row: Item<'_, '_>) -> Self {
        let mut verdicts = Self::default();
        let Some(list) = list(row) else {
            return verdicts;
        };
        for entry in items(list) {
            // a count is no verdict: an entry is one only if it has a text
            let Some(text) = text_of(entry, &TEXTS) else {
                continue;
            };
            let passed = entry.get("passed");
            let verdict = passed.and_then(Item::as_bool);
            if let Some(other) = passed.filter(|value| verdict.is_none() && !value.is_null()) {
                verdicts.unreadable.get_or_insert_with(|| figures::shown(other));
            }
            let mark = EntryMark::of(entry);
            if let Some(passed) = verdict.filter(|_| mark.counts()) {
                verdicts.counted.0 += u64::from(passed);
                verdicts.counted.1 += 1;
                verdicts.vetoed |= !passed && mark.severity == Severity::Critical;
            }
            let name = NAMES.iter().find_map(|key| plain(entry.get(key)?)).filter(|name| *name != text);
            verdicts.assertions.push(ClaimedAssertion { text, name, passed: verdict, is_skipped: false });
        }
        verdicts
    }
}

/// A string or a number as text.
pub(super) fn plain(item: Item<'_, '_>) -> Option<String> {
    let text = match item.as_str() {
        Some(text) => text.into_owned(),
        None => item.as_number()?.text().to_owned(),
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

fn list<'t, 'a>(row: Item<'t, 'a>) -> Option<Item<'t, 'a>> {
    let places = [Some(row), row.get("assertions"), row.get("result")];
    places.into_iter().flatten().find_map(|place| {
        let lists = LISTS.iter().filter_map(|key| place.get(key));
        lists.into_iter().find(|list| is_list(*list))
    })
}

/// The places of a row that may hold its numbers.
fn places<'t, 'a>(row: Item<'t, 'a>) -> impl Iterator<Item = Item<'t, 'a>> {
    let inner = INNER.into_iter().filter_map(move |key| row.get(key)).filter(|inner| inner.is_object());
    std::iter::once(row).chain(inner)
}

/// Whether a row states a rate, counts or verdicts.
pub(super) fn has_evidence(row: Item<'_, '_>) -> bool {
    let stated = places(row).any(|place| {
        let counts = place.get("passed").is_some_and(|passed| figures::count(passed).is_some());
        place.get("pass_rate").is_some()
            || place.get("assertions_passed").is_some()
            || place.get("pass_count").is_some()
            || (counts && first(place, &TOTALS).is_some())
    });
    stated || list(row).is_some_and(|list| items(list).any(|entry| entry.get("passed").is_some()))
}

/// The rate of a row: from its verdicts, else its counts, else what it states.
pub(super) fn rate(row: Item<'_, '_>, verdicts: &Verdicts, pointer: &str, notes: &mut Notes) -> ClaimedRate {
    if SCORES.iter().any(|key| row.get(key).is_some()) {
        notes.add(NoteCode::QualityScoresIgnored, pointer, String::new);
    }
    let stated = places(row).find_map(|place| place.get("pass_rate")).map(figures::rate);
    if let Some(text) = &verdicts.unreadable {
        notes.add(NoteCode::RateUnreadable, pointer, || text.clone());
        return unscored(NotScored::Reason(UnscoredReason::UnreadableVerdict));
    }
    let counted = counts(row);
    let rate = if verdicts.counted.1 > 0 {
        let (passed, total) = verdicts.counted;
        let rate = ClaimedRate::Counts { passed: if verdicts.vetoed { 0 } else { passed }, total };
        if let Ok(Some(ClaimedRate::Counts { passed: stated, total: of })) = &counted
            && *of == verdicts.assertions.len() as u64
            && *stated != passed
        {
            notes.add(NoteCode::SummaryContradictsEntries, pointer, || {
                format!("{stated}/{of}, verdicts {passed}/{total}")
            });
        }
        rate
    } else if !verdicts.assertions.is_empty() {
        return unscored(NotScored::Reason(UnscoredReason::NoVerdicts));
    } else {
        match (counted, &stated) {
            (Ok(Some(counts)), _) => counts,
            // a tool that counted nothing states a rate of 0 all the same
            (Err(reason @ NotScored::Reason(_)), _) => unscored(reason),
            (_, Some(Figure::Share(value, decimals))) => {
                ClaimedRate::Share { value: value.clone(), decimals: *decimals }
            }
            (_, Some(Figure::Counts(passed, total))) => ClaimedRate::Counts { passed: *passed, total: *total },
            (Err(reason), _) => unscored(reason),
            (_, Some(Figure::Unreadable(text))) => unscored(NotScored::RateUnreadable(text.clone())),
            (_, Some(Figure::Null) | None) => unscored(NotScored::RateMissing),
        }
    };
    note_rate(&rate, stated.as_ref(), pointer, notes);
    rate
}

/// A rate that stands alone.
pub(super) fn bare_rate(item: Item<'_, '_>) -> ClaimedRate {
    match figures::rate(item) {
        Figure::Share(value, decimals) => ClaimedRate::Share { value, decimals },
        Figure::Counts(passed, total) => ClaimedRate::Counts { passed, total },
        Figure::Null => unscored(NotScored::RateMissing),
        Figure::Unreadable(text) => unscored(NotScored::RateUnreadable(text)),
    }
}

/// A row without a rate.
pub(super) fn unscored(reason: NotScored) -> ClaimedRate {
    ClaimedRate::Unscored(vec![reason])
}

/// The counts that a row states.
fn counts(row: Item<'_, '_>) -> Result<Option<ClaimedRate>, NotScored> {
    for place in places(row) {
        let Some(stated) = first(place, &PASSED).filter(|stated| !stated.is_null()) else {
            continue;
        };
        let Some((passed, of)) = figures::passed(stated) else {
            if stated.as_bool().is_some() || is_list(stated) || stated.is_object() {
                continue;
            }
            return Err(NotScored::RateUnreadable(figures::shown(stated)));
        };
        let total = first(place, &TOTALS).and_then(figures::count);
        let failed = place.get("failed").and_then(figures::count);
        let Some(total) = of.or(total).or_else(|| passed.checked_add(failed?)) else {
            continue;
        };
        return match total {
            0 => Err(NotScored::Reason(UnscoredReason::NoAssertions)),
            _ if passed > total || total > MOST_ASSERTIONS => {
                Err(NotScored::RateUnreadable(format!("{passed}/{total}")))
            }
            _ => Ok(Some(ClaimedRate::Counts { passed, total })),
        };
    }
    Ok(None)
}

fn note_rate(rate: &ClaimedRate, stated: Option<&Figure>, pointer: &str, notes: &mut Notes) {
    match (rate, stated) {
        (ClaimedRate::Counts { passed, total }, Some(Figure::Share(share, _))) => {
            let exact = rational::rate(*passed, *total);
            let distance = if *share > exact { share - &exact } else { &exact - share };
            if distance > half_step(ROUNDED_TO) {
                notes.add(NoteCode::RateContradictsCounts, pointer, || {
                    format!("{} beside {passed}/{total}", rational::to_f64(share))
                });
            }
        }
        (ClaimedRate::Unscored(reasons), _) => {
            if let Some(NotScored::RateUnreadable(text)) = reasons.first() {
                notes.add(NoteCode::RateUnreadable, pointer, || text.clone());
            }
        }
        _ => {}
    }
}
