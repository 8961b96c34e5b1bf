//! What was left out, and what else is flagged.

use std::collections::BTreeMap;

use serde::Serialize;

use super::case_link;
use crate::analyze::sanity::SanityKind;
use crate::report::formats::Again;
use crate::report::review::capitalized;
use crate::report::review::index::{Facts, IndexCase};
use crate::report::{SummaryView, numbers};

/// Blocked pairs that are listed one by one.
const PAIRS_LISTED: usize = 20;
/// Pairs of a folded list.
const PAIRS_FOLDED: usize = 500;
/// Names of a sign.
const NAMED: usize = 3;

/// The pairs that could not be compared.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    sentence: String,
    /// Reasons with counts, where there are many pairs.
    reasons: Vec<(String, String)>,
    pairs: Vec<PairRow>,
    is_folded: bool,
    more: usize,
}

#[derive(Debug, Serialize)]
struct PairRow {
    case: String,
    href: String,
    model: String,
    repetition: u32,
    reason: String,
}

impl LeftOut {
    pub(super) fn of(facts: &Facts<'_>, view: &SummaryView) -> Self {
        let analysis = facts.again.analysis;
        let diagnostics = analysis.inference_pairing().diagnostics(|_| true);
        let all = diagnostics.eligible + diagnostics.blocked;
        if diagnostics.blocked == 0 {
            let sentence = format!("Nothing: all {} have both arms.", numbers::counted(all, "pair", "pairs"));
            return Self { sentence, reasons: Vec::new(), pairs: Vec::new(), is_folded: false, more: 0 };
        }
        let mut sentence = format!("{} A lift needs both arms.", view.blocked);
        let bounds = analysis.inference.missingness.as_ref().and_then(|missing| missing.bounds.lift.as_ref());
        if let Some(range) = bounds {
            sentence.push_str(&format!(
                " If all of them had gone against the skill, the lift would be {}.",
                numbers::points(&range.worst)
            ));
        }
        let blocked = facts.blocked;
        let pairs = blocked.pairs.iter().take(PAIRS_FOLDED).map(|pair| PairRow {
            case: pair.case.to_owned(),
            href: case_link(pair.case, None),
            model: pair.model.unwrap_or("no model named").to_owned(),
            repetition: pair.repetition,
            reason: capitalized(&pair.reason),
        });
        let is_folded = blocked.pairs.len() > PAIRS_LISTED;
        let reasons = if is_folded { blocked.by_kind() } else { Vec::new() };
        Self {
            sentence,
            pairs: pairs.collect(),
            is_folded,
            more: blocked.pairs.len().saturating_sub(PAIRS_FOLDED),
            reasons: reasons.into_iter().map(|(kind, count)| (capitalized(kind), numbers::count(count))).collect(),
        }
    }
}

/// A sign that something is wrong.
#[derive(Debug, Serialize)]
pub(super) struct Sign {
    pub(super) words: String,
    named: String,
    count: String,
    /// Whether it puts the lift itself in doubt.
    pub(super) is_serious: bool,
}

/// The signs that something is wrong, in the order of reports. What other sections say is not said again.
pub(super) fn signs(again: Again<'_>) -> Vec<Sign> {
    let signs = &again.analysis.sanity.signs;
    let found = SanityKind::ALL.into_iter().filter_map(|kind| {
        let signs = signs.get(&kind).filter(|signs| signs.count > 0)?;
        let (said, is_serious) = sign_words(kind)?;
        let mut named: Vec<&str> = signs.named.iter().take(NAMED).map(String::as_str).collect();
        if signs.count > named.len() {
            named.push("…");
        }
        Some(Sign { words: said.to_owned(), named: named.join("; "), count: numbers::count(signs.count), is_serious })
    });
    let mut found: Vec<Sign> = found.collect();
    found.sort_by_key(|sign| !sign.is_serious);
    found
}

/// A sign in words, and whether it puts the lift in doubt; `None` for what the cases show already.
fn sign_words(kind: SanityKind) -> Option<(&'static str, bool)> {
    Some(match kind {
        SanityKind::InfrastructureFailures => ("runs or graders did not come to an end", false),
        SanityKind::ZeroScoredCells => ("cases fail whole in an arm", false),
        SanityKind::CandidateBelowBaseline => return None,
        SanityKind::UnpairedCells => ("cases are scored in one arm only", false),
        SanityKind::IncompleteVerdicts => ("a grader left assertions out, which count as failed", true),
        SanityKind::BaselineContaminated => ("runs without the skill had it", true),
        SanityKind::SkillNotLoaded => ("runs with the skill did not load it", false),
        SanityKind::AssertionCountDiffers => ("the arms were graded on different numbers of assertions", true),
        SanityKind::AsymmetricEvidence => ("a check had its evidence in one arm and not in the other", true),
    })
}

/// A flag with the cases that have it.
#[derive(Debug, Serialize)]
pub(super) struct FlagRow {
    label: String,
    exact: String,
    cases: String,
    named: String,
    href: String,
}

/// The flags of cases, most frequent first.
pub(super) fn flags(cases: &[IndexCase]) -> Vec<FlagRow> {
    let mut found: BTreeMap<&str, (&str, Vec<&str>)> = BTreeMap::new();
    for case in cases {
        for (label, exact, _) in &case.flags {
            found.entry(label).or_insert((exact, Vec::new())).1.push(&case.id);
        }
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_by(|(a, (_, x)), (b, (_, y))| y.len().cmp(&x.len()).then_with(|| a.cmp(b)));
    let row = |(label, (exact, ids)): (&str, (&str, Vec<&str>))| {
        let mut named: Vec<&str> = ids.iter().take(NAMED).copied().collect();
        if ids.len() > NAMED {
            named.push("…");
        }
        FlagRow {
            label: label.to_owned(),
            exact: exact.to_owned(),
            cases: numbers::counted(ids.len(), "case", "cases"),
            named: named.join(", "),
            href: match ids.as_slice() {
                [one] => case_link(one, None),
                _ => format!("#cases&q={}", crate::report::review::link::encoded(label)),
            },
        }
    };
    rows.into_iter().map(row).collect()
}
