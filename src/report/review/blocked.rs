//! The pairs of a report that count for nothing, each with the reason that its own runs give.

use std::collections::{BTreeMap, HashMap};

use super::run::status;
use crate::analyze::table::{Baseline, WITH_SKILL};
use crate::report::formats::Again;
use crate::report::words;
use crate::runs::claims::SavedRow;

/// Code of a pair of which a run is not scored.
const UNSCORABLE: &str = "unscorable_arm";

/// A pair that counts for nothing.
#[derive(Debug)]
pub(super) struct BlockedPair<'a> {
    /// Its case.
    pub(super) case: &'a str,
    /// Its model, if it names one.
    pub(super) model: Option<&'a str>,
    pub(super) repetition: u32,
    /// Why, from the facts of its runs.
    pub(super) reason: String,
    /// Why, in words that many pairs share.
    pub(super) kind: String,
}

/// All blocked pairs of a report, in its order.
#[derive(Debug)]
pub(super) struct BlockedPairs<'a> {
    pub(super) pairs: Vec<BlockedPair<'a>>,
}

impl<'a> BlockedPairs<'a> {
    pub(super) fn of(again: Again<'a>) -> Self {
        let table = &again.analysis.table;
        let mut unscored: HashMap<_, Vec<&SavedRow>> = HashMap::new();
        let baseline = table.baseline.variant();
        let is_compared = |row: &&SavedRow| row.variant == WITH_SKILL || row.variant == baseline;
        for row in again.saved.rows.iter().filter(|row| !row.is_scorable()).filter(is_compared) {
            unscored.entry((row.case.id.as_str(), row.model.as_deref(), row.repetition)).or_default().push(row);
        }
        let pairs = again.analysis.inference_pairing().pairs.iter().filter_map(|pair| {
            let code = pair.values.as_ref().err()?.code();
            let (case, model) = (table.case_id(pair.case), table.model(pair.model));
            let rows = unscored.get(&(case, model, pair.repetition)).filter(|_| code == UNSCORABLE);
            let of_runs = |said: fn(&SavedRow) -> String| {
                let of_run = |row: &&SavedRow| format!("{}: {}", arm(row, table.baseline), said(row));
                rows.map(|rows| rows.iter().map(of_run).collect::<Vec<_>>().join("; "))
            };
            Some(BlockedPair {
                case,
                model,
                repetition: pair.repetition,
                reason: of_runs(status).unwrap_or_else(|| words::blocked_reason(&code)),
                kind: of_runs(kind).unwrap_or_else(|| words::blocked_reason(&code)),
            })
        });
        Self { pairs: pairs.collect() }
    }

    /// The reasons of the pairs of each case, those of several pairs with their number.
    pub(super) fn by_case(&self) -> HashMap<&'a str, String> {
        let mut counts: HashMap<&str, BTreeMap<&str, usize>> = HashMap::new();
        for pair in &self.pairs {
            *counts.entry(pair.case).or_default().entry(&pair.reason).or_default() += 1;
        }
        let shown = |(reason, count): (&str, usize)| match count {
            1 => reason.to_owned(),
            count => format!("{reason} ({count})"),
        };
        let joined = |reasons: BTreeMap<&str, usize>| reasons.into_iter().map(shown).collect::<Vec<_>>().join(", ");
        counts.into_iter().map(|(case, reasons)| (case, joined(reasons))).collect()
    }

    /// How many pairs have each reason, the most frequent one first.
    pub(super) fn by_kind(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for pair in &self.pairs {
            *counts.entry(&pair.kind).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
        counts
    }
}

/// What the arm of a run is called.
fn arm(row: &SavedRow, baseline: Baseline) -> &'static str {
    match (row.variant.as_str(), baseline) {
        (WITH_SKILL, _) => "with the skill",
        (_, Baseline::WithoutSkill) => "without the skill",
        (_, Baseline::OldSkill) => "with the old skill",
    }
}

/// Why a run is not scored, without what belongs to it alone.
fn kind(row: &SavedRow) -> String {
    row.unscored_reasons.iter().map(|code| words::unscored_reason(code)).collect::<Vec<_>>().join(", ")
}
