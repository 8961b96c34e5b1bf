//! What changed since the other iteration.

use std::collections::BTreeSet;

use num_traits::{Signed, Zero};
use serde::Serialize;
use skill_lift_stats::rational::{self, Rational};

use super::case_link;
use crate::analyze::diff::{CaseShift, Diff};
use crate::report::formats::Again;
use crate::report::review::PreviousSource;
use crate::report::review::index::Tone;
use crate::report::{numbers, words};

/// Entries of a list.
const LISTED: usize = 10;

/// The other iteration against this one, as the template shows it.
#[derive(Debug, Default, Serialize)]
pub(super) struct ChangesView {
    label: String,
    sentence: String,
    not_alike: String,
    /// What is missing of the other iteration.
    remark: String,
    is_compared: bool,
    fell: Vec<Entry>,
    fell_more: usize,
    rose: Vec<Entry>,
    rose_more: usize,
}

#[derive(Debug, Serialize)]
struct Entry {
    glyph: &'static str,
    tone: Tone,
    name: String,
    href: String,
    change: String,
}

/// The flags of the cases of a report: case and flag.
fn flags(again: Again<'_>) -> BTreeSet<(String, String)> {
    let cases = again.analysis.case_flags.iter();
    cases
        .flat_map(|case| case.flags.iter().map(|raised| (case.case_id.clone(), words::flag_text(&raised.flag))))
        .collect()
}

impl ChangesView {
    /// The other iteration against this one.
    pub(super) fn of(again: Again<'_>, previous: &PreviousSource<'_>) -> Self {
        let label = previous.label.to_owned();
        let remark = match previous.runs {
            Ok(_) => String::new(),
            Err(reason) => format!("The answers of {label} are not in this page: {reason}."),
        };
        let Some(diff) = previous.diff else {
            return Self {
                sentence: format!("Nothing can be compared: no case with its arm is in {label} as well."),
                label,
                remark,
                ..Self::default()
            };
        };
        let shift = &diff.lift.common;
        let mut shifts: Vec<&CaseShift> = shift.cases.iter().filter(|case| !case.delta().is_zero()).collect();
        shifts.sort_by(|a, b| b.delta().abs().cmp(&a.delta().abs()).then_with(|| a.case.cmp(&b.case)));
        let entry = |case: &&CaseShift| Entry {
            glyph: if case.delta().is_negative() { "▼" } else { "▲" },
            tone: if case.delta().is_negative() { Tone::Bad } else { Tone::Plain },
            name: case.case.clone(),
            href: case_link(&case.case, None),
            change: numbers::whole_points(&case.delta()),
        };
        let of_flag = |(case, flag): &(String, String), word: &str| Entry {
            glyph: "◇",
            tone: Tone::Warn,
            name: case.clone(),
            href: case_link(case, None),
            change: format!("{word}: {flag}"),
        };
        let (flags_before, flags_now) = (flags(previous.again), flags(again));
        let mut fell: Vec<Entry> = shifts.iter().filter(|case| case.delta().is_negative()).map(entry).collect();
        fell.extend(diff.cases.appeared.iter().map(|case| Entry {
            glyph: "◇",
            tone: Tone::Plain,
            name: case.clone(),
            href: case_link(case, None),
            change: "new".to_owned(),
        }));
        fell.extend(diff.cases.vanished.iter().map(|case| Entry {
            glyph: "◇",
            tone: Tone::Warn,
            name: case.clone(),
            href: String::new(),
            change: "gone".to_owned(),
        }));
        fell.extend(flags_now.difference(&flags_before).map(|flag| of_flag(flag, "new flag")));
        let mut rose: Vec<Entry> = shifts.iter().filter(|case| case.delta().is_positive()).map(entry).collect();
        rose.extend(flags_before.difference(&flags_now).map(|flag| of_flag(flag, "resolved")));
        let (fell_more, rose_more) = (fell.len().saturating_sub(LISTED), rose.len().saturating_sub(LISTED));
        fell.truncate(LISTED);
        rose.truncate(LISTED);
        let lift = |again: Again<'_>| again.analysis.inference.overall.test.estimate.clone();
        Self {
            sentence: sentence(diff, [lift(previous.again), lift(again)]),
            not_alike: not_alike(diff),
            is_compared: true,
            label,
            remark,
            fell,
            fell_more,
            rose,
            rose_more,
        }
    }
}

/// `Lift +14.8 pp then, +21.5 pp now. On the 23 cases in both, the change is +6.7 pp (p = 0.11): it may be chance.`
fn sentence(diff: &Diff<'_>, lifts: [Option<Rational>; 2]) -> String {
    let shift = &diff.lift.common;
    let shown = |lift: &Option<Rational>| lift.as_ref().map_or_else(|| "not measured".to_owned(), numbers::points);
    let [then, now] = &lifts;
    let mut text = format!("Lift {} then, {} now.", shown(then), shown(now));
    let Some(change) = shift.change() else { return text };
    let cases = numbers::counted(shift.cases.len(), "case", "cases");
    text.push_str(&format!(" On the {cases} in both, the change is {}", numbers::points(&change)));
    let alpha = rational::to_f64(diff.thresholds.alpha());
    match &shift.tested {
        Ok(tested) => {
            let p = tested.test.p_two_sided;
            let said = if p <= alpha { "it is more than chance would do" } else { "it may be chance" };
            text.push_str(&format!(" ({}): {said}.", numbers::p_text(p, alpha)));
        }
        Err(_) => text.push_str("; it was not tested."),
    }
    text
}

fn not_alike(diff: &Diff<'_>) -> String {
    let comparability = &diff.comparability;
    match comparability.changed_cases.len() {
        0 if comparability.is_like_for_like() => String::new(),
        0 => "Not like for like: the two were not made in the same way.".to_owned(),
        1 => "Not like for like: 1 case is not what it was before.".to_owned(),
        number => format!("Not like for like: {} cases are not what they were before.", numbers::count(number)),
    }
}
