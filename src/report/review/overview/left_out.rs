//! What was left out, and what else is flagged.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::case_link;
use crate::analyze::sanity::SanityKind;
use crate::analyze::table::WITH_SKILL;
use crate::report::formats::Again;
use crate::report::review::index::IndexCase;
use crate::report::review::run::status;
use crate::report::{SummaryView, numbers, words};
use crate::runs::claims::SavedRow;

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
    pairs: Vec<BlockedPair>,
    is_folded: bool,
    more: usize,
}

#[derive(Debug, Serialize)]
struct BlockedPair {
    case: String,
    href: String,
    model: String,
    repetition: u32,
    reason: String,
}

impl LeftOut {
    pub(super) fn of(again: Again<'_>, view: &SummaryView) -> Self {
        let analysis = again.analysis;
        let table = &analysis.table;
        let pairing = analysis.inference_pairing();
        let diagnostics = pairing.diagnostics(|_| true);
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
        let unscored = Unscored::of(again);
        let blocked: Vec<_> = pairing.pairs.iter().filter(|pair| pair.values.is_err()).collect();
        let pairs = blocked.iter().take(PAIRS_FOLDED).filter_map(|pair| {
            let reason = pair.values.as_ref().err()?;
            let case = table.case_id(pair.case);
            Some(BlockedPair {
                case: case.to_owned(),
                href: case_link(case, None),
                model: table.model(pair.model).unwrap_or("no model named").to_owned(),
                repetition: pair.repetition,
                reason: (reason.code() == UNSCORABLE)
                    .then(|| unscored.words(case, table.model(pair.model), pair.repetition))
                    .flatten()
                    .unwrap_or_else(|| words::blocked_reason(&reason.code())),
            })
        });
        let is_folded = blocked.len() > PAIRS_LISTED;
        let mut reasons: Vec<(&String, &usize)> = diagnostics.reasons.iter().filter(|_| is_folded).collect();
        reasons.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
        Self {
            sentence,
            pairs: pairs.collect(),
            is_folded,
            more: blocked.len().saturating_sub(PAIRS_FOLDED),
            reasons: reasons
                .into_iter()
                .map(|(code, count)| (words::blocked_reason(code), numbers::count(*count)))
                .collect(),
        }
    }
}

/// Code of a pair of which a run is not scored.
const UNSCORABLE: &str = "unscorable_arm";

/// The runs that are not scored, by case, model and repetition.
struct Unscored<'a>(HashMap<(&'a str, Option<&'a str>, u32), Vec<&'a SavedRow>>);

impl<'a> Unscored<'a> {
    fn of(again: Again<'a>) -> Self {
        let mut found: HashMap<_, Vec<&SavedRow>> = HashMap::new();
        for row in again.saved.rows.iter().filter(|row| !row.is_scorable()) {
            found.entry((row.case.id.as_str(), row.model.as_deref(), row.repetition)).or_default().push(row);
        }
        Self(found)
    }

    /// `with the skill: timed out`, for each run of a pair that is not scored.
    fn words(&self, case: &str, model: Option<&str>, repetition: u32) -> Option<String> {
        let said = |row: &&SavedRow| {
            let arm = if row.variant == WITH_SKILL { "with the skill" } else { "without the skill" };
            format!("{arm}: {}", status(row))
        };
        Some(self.0.get(&(case, model, repetition))?.iter().map(said).collect::<Vec<_>>().join("; "))
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
