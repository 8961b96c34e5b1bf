//! What a report states of its runs that no row of it shows: when the arms ran, and which answers repeat each other.

use std::collections::BTreeSet;

use skill_lift_stats::rational::{self, Rational};

use crate::json::Item;
use crate::runs::claims::figures;
use crate::runs::claims::form::ClaimForm;
use crate::runs::claims::places::{items, text_of};

/// What a report states of its runs; nothing where it states nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedIndependence {
    /// Runs that said when they began.
    pub timed: usize,
    /// For each model, or the runs without one, the share of the meetings of both arms in which the run with the skill
    /// began first.
    pub order: Vec<(Option<String>, Rational)>,
    /// Runs whose answer was read.
    pub read: usize,
    /// Cases in which answers repeat each other while others differ.
    pub repeated: BTreeSet<String>,
}

/// Reads what a report of ours states. A share that is none is left out, and what was known is then unknown.
pub(super) fn read(root: Item<'_, '_>, form: ClaimForm) -> SavedIndependence {
    let block = root.get("inference").and_then(|inference| inference.get("independence"));
    let Some(block) = block.filter(|_| form == ClaimForm::OwnReport) else { return SavedIndependence::default() };
    let count = |part: &str, key: &str| {
        let count = block.get(part).and_then(|part| part.get(key)).and_then(figures::count);
        count.and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
    };
    let list = |part: &str, key: &str| block.get(part).and_then(|part| part.get(key)).into_iter().flat_map(items);
    let is_share = |share: &Rational| *share >= rational::rate(0, 1) && *share <= rational::rate(1, 1);
    let order = |entry: Item<'_, '_>| {
        let share = figures::decimal(entry.get("with_skill_first")?.as_number()?.text())?.0;
        is_share(&share).then(|| (text_of(entry, &["model"]), share))
    };
    SavedIndependence {
        timed: count("arms_interleaved", "timed_runs"),
        order: list("arms_interleaved", "models").filter_map(order).collect(),
        read: count("repeated_answers", "read_runs"),
        repeated: list("repeated_answers", "cases").filter_map(Item::as_str).map(|case| case.into_owned()).collect(),
    }
}
