//! Blind comparisons: which runs are shown side by side, and what the preferences of judges say of the two arms.

use std::collections::{BTreeMap, HashMap};

use skill_lift_contract::BlockedReason;
use skill_lift_stats::paired_binary::PairedTable;

use crate::judge::comparison::{AnsweredRow, ComparisonKey, Label, Results, Side, Winner};
use crate::runs::claims::SavedRow;

/// Two runs of one key, or why they are not compared.
#[derive(Debug)]
pub struct CandidatePair<'a> {
    /// The case.
    pub case_id: &'a str,
    /// The model.
    pub model: Option<&'a str>,
    /// The repetition.
    pub repetition: u32,
    /// The run of the primary arm and that of the baseline, or why there is no comparison.
    pub candidates: Result<[&'a SavedRow; 2], LeftOutPair>,
}

/// Why a pair is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutPair {
    /// The reason.
    pub reason: BlockedReason,
    /// What the runs say of it.
    pub detail: Vec<String>,
}

/// Pairs the runs of two arms by case, model and repetition, in the order of the rows.
pub fn candidate_pairs<'a>(rows: &'a [SavedRow], primary: &str, baseline: &str) -> Vec<CandidatePair<'a>> {
    type Key<'k> = (&'k str, Option<&'k str>, u32);
    let mut order: Vec<Key<'a>> = Vec::new();
    let mut arms: HashMap<Key<'a>, [Option<&'a SavedRow>; 2]> = HashMap::new();
    for row in rows {
        let side = match row.variant.as_str() {
            name if name == primary => 0,
            name if name == baseline => 1,
            _ => continue,
        };
        let key = (row.case.id.as_str(), row.model.as_deref(), row.repetition);
        let pair = arms.entry(key).or_insert_with(|| {
            order.push(key);
            [None; 2]
        });
        pair[side] = Some(row);
    }
    let pair = |key: Key<'a>| {
        let (case_id, model, repetition) = key;
        let missing = |variant: &str| BlockedReason::MissingArm { variant: variant.to_owned() };
        let found = arms.get(&key).copied().unwrap_or_default();
        let candidates = match found {
            [Some(_), Some(_)] if repetition == 0 => Err((BlockedReason::InvalidRunNumber, Vec::new())),
            [Some(with), Some(without)] if with.is_scorable() && without.is_scorable() => Ok([with, without]),
            [Some(with), Some(without)] => {
                let reasons = with.unscored_reasons.iter().chain(&without.unscored_reasons).cloned();
                Err((BlockedReason::UnscorableArm, reasons.collect()))
            }
            [None, _] => Err((missing(primary), Vec::new())),
            [_, None] => Err((missing(baseline), Vec::new())),
        };
        let candidates = candidates.map_err(|(reason, mut detail)| {
            detail.dedup();
            LeftOutPair { reason, detail }
        });
        CandidatePair { case_id, model, repetition, candidates }
    };
    order.into_iter().map(pair).collect()
}

/// What a result says, unblinded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// An arm won.
    Won(Side),
    /// Nobody did.
    Tie,
    /// What was written is no winner.
    Unrecognized,
}

/// A result about a comparison of the key.
#[derive(Debug)]
pub struct Detail<'a> {
    /// The comparison.
    pub key: &'a ComparisonKey,
    /// The result.
    pub row: &'a AnsweredRow,
    /// What it says.
    pub decision: Decision,
}

/// Counts of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Won by the primary arm.
    pub primary: usize,
    /// Won by the baseline.
    pub baseline: usize,
    /// Won by nobody.
    pub tie: usize,
    /// No decision.
    pub unknown: usize,
}

/// An exact two-sided sign test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignTest {
    /// Units that prefer the primary arm.
    pub primary: usize,
    /// Units that prefer the baseline.
    pub baseline: usize,
    /// Units that prefer neither.
    pub tied: usize,
    /// Chance of a split at least as uneven, if preferences fell like coins; `None` without a preference.
    pub p_two_sided: Option<f64>,
}

impl SignTest {
    fn of(primary: usize, baseline: usize, tied: usize) -> Self {
        let table = PairedTable::new(0, primary as u64, baseline as u64, 0);
        Self { primary, baseline, tied, p_two_sided: table.ok().map(|table| table.mcnemar().p_two_sided) }
    }

    /// The share of preferences that are for the primary arm.
    pub fn win_rate(&self) -> Option<f64> {
        let decided = self.primary + self.baseline;
        (decided > 0).then(|| self.primary as f64 / decided as f64)
    }
}

/// What all results say.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The results about comparisons of the key, in their order.
    pub details: Vec<Detail<'a>>,
    /// Ids that no comparison of the key has.
    pub unknown_ids: Vec<&'a str>,
    /// Comparisons without a result.
    pub unanswered: Vec<&'a str>,
    /// Results, as they were given.
    pub results: Counts,
    /// Pairs of runs: one that was judged in both orders is decided when both orders agree.
    pub pairs: Counts,
    /// Pairs that were judged in both orders, and those of them in which the orders disagree.
    pub both_orders: [usize; 2],
    /// Preferences of cases: of each the arm that won more of its pairs.
    pub cases: SignTest,
    /// Wins of the answer that stood first, and of the one that stood second.
    pub position: SignTest,
    /// What the file of results contradicts itself in.
    pub contradictions: Vec<String>,
}

impl<'a> Comparison<'a> {
    /// Joins results with their key.
    pub fn of(key: &'a [ComparisonKey], results: &'a Results) -> Self {
        let by_id = index(key);
        let mut details = Vec::new();
        let mut unknown_ids = Vec::new();
        let mut counts = Counts::default();
        let mut labels = [0, 0];
        let mut ties = 0;
        for row in &results.rows {
            let Some(key) = by_id.get(row.id.as_str()).copied() else {
                counts.unknown += 1;
                unknown_ids.push(row.id.as_str());
                continue;
            };
            let decision = match row.winner {
                Some(Winner::Label(label)) => {
                    labels[usize::from(label == Label::B)] += 1;
                    Decision::Won(key.side(label))
                }
                Some(Winner::Tie) => {
                    ties += 1;
                    Decision::Tie
                }
                None => Decision::Unrecognized,
            };
            counts.add(decision);
            details.push(Detail { key, row, decision });
        }
        let decided: HashMap<&str, Decision> =
            details.iter().map(|detail| (detail.key.id.as_str(), detail.decision)).collect();
        let is_open = |key: &&ComparisonKey| !decided.contains_key(key.id.as_str());
        let (pairs, both_orders, cases) = by_pair(key, &decided);
        Self {
            unanswered: key.iter().filter(is_open).map(|key| key.id.as_str()).collect(),
            contradictions: contradictions(results),
            position: SignTest::of(labels[0], labels[1], ties),
            details,
            unknown_ids,
            results: counts,
            pairs,
            both_orders,
            cases,
        }
    }

    /// Whether every comparison has a result that says who won, and every result a comparison.
    pub fn is_complete(&self) -> bool {
        self.unanswered.is_empty() && self.results.unknown == 0
    }
}

impl Counts {
    fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Won(Side::Primary) => self.primary += 1,
            Decision::Won(Side::Baseline) => self.baseline += 1,
            Decision::Tie => self.tie += 1,
            Decision::Unrecognized => self.unknown += 1,
        }
    }
}

/// The comparisons by their ids, and by the id of their case where only one of the pairs is of it.
fn index(key: &[ComparisonKey]) -> HashMap<&str, &ComparisonKey> {
    let mut of_case: HashMap<&str, Vec<&ComparisonKey>> = HashMap::new();
    for comparison in key {
        of_case.entry(&comparison.case_id).or_default().push(comparison);
    }
    let mut by_id = HashMap::new();
    for (case, comparisons) in of_case {
        if let [only] = comparisons.as_slice() {
            by_id.insert(case, *only);
            if let Some(number) = case.strip_prefix("eval-") {
                by_id.insert(number, *only);
            }
        }
    }
    by_id.extend(key.iter().map(|comparison| (comparison.id.as_str(), comparison)));
    by_id
}

fn by_pair(key: &[ComparisonKey], decided: &HashMap<&str, Decision>) -> (Counts, [usize; 2], SignTest) {
    let mut orders: BTreeMap<(&str, &str), Vec<Option<Decision>>> = BTreeMap::new();
    for comparison in key {
        let decision = decided.get(comparison.id.as_str()).copied();
        orders.entry((&comparison.case_id, &comparison.pair_id)).or_default().push(decision);
    }
    let mut pairs = Counts::default();
    let mut both_orders = [0, 0];
    let mut balance: BTreeMap<&str, i64> = BTreeMap::new();
    for ((case, _), decisions) in orders {
        let told: Vec<Decision> =
            decisions.iter().flatten().copied().filter(|decision| *decision != Decision::Unrecognized).collect();
        let decision = match told.as_slice() {
            // half of a pair that was to be judged in both orders says nothing: it may be the order that won
            told if told.len() < decisions.len() => Decision::Unrecognized,
            [] => Decision::Unrecognized,
            [first, rest @ ..] => {
                let agree = rest.iter().all(|other| other == first);
                if !rest.is_empty() {
                    both_orders[0] += 1;
                    both_orders[1] += usize::from(!agree);
                }
                if agree { *first } else { Decision::Tie }
            }
        };
        pairs.add(decision);
        let step = match decision {
            Decision::Won(Side::Primary) => 1,
            Decision::Won(Side::Baseline) => -1,
            Decision::Tie => 0,
            Decision::Unrecognized => continue,
        };
        *balance.entry(case).or_default() += step;
    }
    let count = |wanted: std::cmp::Ordering| balance.values().filter(|sum| sum.cmp(&&0) == wanted).count();
    let cases = SignTest::of(
        count(std::cmp::Ordering::Greater),
        count(std::cmp::Ordering::Less),
        count(std::cmp::Ordering::Equal),
    );
    (pairs, both_orders, cases)
}

fn contradictions(results: &Results) -> Vec<String> {
    let count = |winner: Winner| results.rows.iter().filter(|row| row.winner == Some(winner)).count() as u64;
    let totals = [
        ("a_wins", results.totals.a_wins, count(Winner::Label(Label::A))),
        ("b_wins", results.totals.b_wins, count(Winner::Label(Label::B))),
        ("ties", results.totals.ties, count(Winner::Tie)),
    ];
    let of_totals = totals.into_iter().filter_map(|(name, stated, found)| {
        let stated = stated.filter(|stated| *stated != found)?;
        Some(format!("{name} is stated as {stated}, the rows say {found}"))
    });
    of_totals.chain(results.odd_scores.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str, pair: &str, case: &str, a: Side) -> ComparisonKey {
        ComparisonKey { id: id.to_owned(), pair_id: pair.to_owned(), case_id: case.to_owned(), a }
    }

    fn result(id: &str, written: &str) -> AnsweredRow {
        AnsweredRow {
            id: id.to_owned(),
            written: written.to_owned(),
            winner: Winner::of(written),
            reasoning: String::new(),
        }
    }

    #[test]
    fn a_pair_is_decided_when_both_orders_agree() {
        use Side::{Baseline, Primary};
        let keys = [
            key("p", "p", "c", Primary),
            key("p2", "p", "c", Baseline),
            key("q", "q", "d", Primary),
            key("q2", "q", "d", Baseline),
            key("r", "r", "e", Primary),
            key("r2", "r", "e", Baseline),
        ];
        // p: the primary arm wins in both orders; q: always the answer that stands first; r: half of it is missing
        let rows = vec![result("p", "A"), result("p2", "B"), result("q", "A"), result("q2", "A"), result("r", "A")];
        let results = Results { rows, ..Results::default() };
        let comparison = Comparison::of(&keys, &results);
        assert_eq!(comparison.results, Counts { primary: 4, baseline: 1, tie: 0, unknown: 0 });
        assert_eq!(comparison.pairs, Counts { primary: 1, baseline: 0, tie: 1, unknown: 1 });
        assert_eq!(comparison.both_orders, [2, 1]);
        assert_eq!(comparison.unanswered, ["r2"]);
        assert_eq!((comparison.cases.primary, comparison.cases.tied), (1, 1));
        assert_eq!(comparison.cases.p_two_sided, Some(1.0));
        assert_eq!((comparison.position.primary, comparison.position.baseline), (4, 1));
        // 2 · (1 + 5) / 2^5
        assert_eq!(comparison.position.p_two_sided, Some(0.375));
    }

    #[test]
    fn repetitions_of_a_case_are_one_unit() {
        let keys: Vec<ComparisonKey> =
            (1..=6).map(|run| key(&format!("c{run}"), &format!("c{run}"), "c", Side::Primary)).collect();
        let rows = (1..=6).map(|run| result(&format!("c{run}"), "A")).collect();
        let results = Results { rows, ..Results::default() };
        let comparison = Comparison::of(&keys, &results);
        assert_eq!(comparison.pairs.primary, 6);
        assert_eq!(comparison.cases, SignTest { primary: 1, baseline: 0, tied: 0, p_two_sided: Some(1.0) });
        assert_eq!(comparison.cases.win_rate(), Some(1.0));
    }
}
