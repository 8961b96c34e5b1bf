//! What changed since the other iteration.

use num_traits::{Signed, Zero};
use serde::Serialize;
use skill_lift_stats::rational::{self, Rational};

use super::case_link;
use crate::analyze::diff::{CaseShift, Diff, Shift};
use crate::report::numbers;
use crate::report::review::index::Tone;

/// Entries of a list.
const LISTED: usize = 10;

/// The other iteration against this one.
pub(in crate::report::review) struct Changes<'a> {
    /// The name of the other one.
    pub(in crate::report::review) label: &'a str,
    /// Both, compared.
    pub(in crate::report::review) diff: &'a Diff<'a>,
    /// Lift of all cases then and now.
    pub(in crate::report::review) lifts: [Option<Rational>; 2],
    /// Flags of cases that are new, and those that are gone: case and flag.
    pub(in crate::report::review) flags: [Vec<(String, String)>; 2],
}

/// What the template shows.
#[derive(Debug, Serialize)]
pub(super) struct ChangesView {
    label: String,
    sentence: String,
    not_alike: String,
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

impl Changes<'_> {
    pub(super) fn view(&self) -> ChangesView {
        let shift = &self.diff.lift.common;
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
        let [new, gone] = &self.flags;
        let mut fell: Vec<Entry> = shifts.iter().filter(|case| case.delta().is_negative()).map(entry).collect();
        fell.extend(self.diff.cases.appeared.iter().map(|case| Entry {
            glyph: "◇",
            tone: Tone::Plain,
            name: case.clone(),
            href: case_link(case, None),
            change: "new".to_owned(),
        }));
        fell.extend(self.diff.cases.vanished.iter().map(|case| Entry {
            glyph: "◇",
            tone: Tone::Warn,
            name: case.clone(),
            href: String::new(),
            change: "gone".to_owned(),
        }));
        fell.extend(new.iter().map(|flag| of_flag(flag, "new flag")));
        let mut rose: Vec<Entry> = shifts.iter().filter(|case| case.delta().is_positive()).map(entry).collect();
        rose.extend(gone.iter().map(|flag| of_flag(flag, "resolved")));
        let (fell_more, rose_more) = (fell.len().saturating_sub(LISTED), rose.len().saturating_sub(LISTED));
        fell.truncate(LISTED);
        rose.truncate(LISTED);
        ChangesView {
            label: self.label.to_owned(),
            sentence: self.sentence(shift),
            not_alike: self.not_alike(),
            fell,
            fell_more,
            rose,
            rose_more,
        }
    }

    /// `Lift +14.8 pp then, +21.5 pp now. On the 23 cases in both, the change is +6.7 pp (p = 0.11): it may be chance.`
    fn sentence(&self, shift: &Shift) -> String {
        let shown = |lift: &Option<Rational>| lift.as_ref().map_or_else(|| "not measured".to_owned(), numbers::points);
        let [then, now] = &self.lifts;
        let mut text = format!("Lift {} then, {} now.", shown(then), shown(now));
        let Some(change) = shift.change() else { return text };
        let cases = numbers::counted(shift.cases.len(), "case", "cases");
        text.push_str(&format!(" On the {cases} in both, the change is {}", numbers::points(&change)));
        let alpha = rational::to_f64(self.diff.thresholds.alpha());
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

    fn not_alike(&self) -> String {
        let comparability = &self.diff.comparability;
        match comparability.changed_cases.len() {
            0 if comparability.is_like_for_like() => String::new(),
            0 => "Not like for like: the two were not made in the same way.".to_owned(),
            1 => "Not like for like: 1 case is not what it was before.".to_owned(),
            number => format!("Not like for like: {} cases are not what they were before.", numbers::count(number)),
        }
    }
}
