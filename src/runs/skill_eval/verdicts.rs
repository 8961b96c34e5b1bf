//! The strict reading of a grader's answer: which assertions it really judged.

use std::collections::{BTreeSet, HashSet};

use skill_lift_contract::UnscoredReason;

use super::reply::{VerdictIndex, VerdictKey, VerdictList, verdict_lists, without_number};

/// What a grader's answer is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraderState {
    /// Every assertion has one verdict.
    Scored,
    /// Some assertions have none. Ids of the missing ones, from 1.
    IncompleteVerdicts {
        /// Positions of the assertions without a verdict, from 1.
        missing: Vec<usize>,
    },
    /// No assertion has a verdict.
    GraderIncomplete,
    /// Verdicts contradict each other.
    GraderConflict,
    /// There was nothing to judge.
    NoAssertions,
    /// The run ended without a score, so that the answer does not matter.
    Unscored,
}

impl GraderState {
    /// The word in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::IncompleteVerdicts { .. } => "incomplete_verdicts",
            Self::GraderIncomplete => "grader_incomplete",
            Self::GraderConflict => "grader_conflict",
            Self::NoAssertions => "no_assertions",
            Self::Unscored => "unscored",
        }
    }

    /// Why a run with such an answer has no score when nothing may be guessed. `None` also for a run that has none for
    /// another reason.
    pub fn unscored_reason(&self) -> Option<UnscoredReason> {
        match self {
            Self::Scored | Self::Unscored => None,
            Self::IncompleteVerdicts { .. } => Some(UnscoredReason::IncompleteVerdicts),
            Self::GraderIncomplete => Some(UnscoredReason::GraderIncomplete),
            Self::GraderConflict => Some(UnscoredReason::GraderConflict),
            Self::NoAssertions => Some(UnscoredReason::NoAssertions),
        }
    }
}

/// Something odd about an answer that could be read all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadingNote {
    /// Ids were written as strings or floats.
    OddIds,
    /// Verdicts about nothing that was asked were left out.
    UnknownVerdicts,
    /// A list of verdicts without the object around it.
    BareArray,
    /// Bytes that are not UTF-8 were replaced.
    DecodeLossy,
    /// There is no answer of the grader; the verdicts are those of the record.
    FromRecord,
}

impl ReadingNote {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::OddIds => "odd_ids",
            Self::UnknownVerdicts => "unknown_verdicts",
            Self::BareArray => "bare_array",
            Self::DecodeLossy => "decode_lossy",
            Self::FromRecord => "from_record",
        }
    }
}

/// A verdict about an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrictVerdict {
    /// Whether the assertion holds.
    pub passed: bool,
    /// Why.
    pub evidence: String,
}

/// What a grader's answer says about the assertions of a run when nothing is guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraderReading {
    /// What it is worth.
    pub state: GraderState,
    /// One place for each assertion; `None` where the answer has no verdict.
    pub verdicts: Vec<Option<StrictVerdict>>,
    /// What was odd, each once, in a fixed order.
    pub notes: BTreeSet<ReadingNote>,
}

impl GraderReading {
    /// Without any verdict.
    pub(super) fn empty(state: GraderState) -> Self {
        Self { state, verdicts: Vec::new(), notes: BTreeSet::new() }
    }

    /// Reads an answer. `assertions` are the texts in the order of their ids.
    pub fn of(answer: &str, assertions: &[String]) -> Self {
        if assertions.is_empty() {
            return Self::empty(GraderState::NoAssertions);
        }
        let lists = verdict_lists(answer);
        let Some(first) = lists.first() else {
            return Self::empty(GraderState::GraderIncomplete);
        };
        let mut reading = Self::of_list(first, assertions);
        // a quotation of what the executor wrote may stand before the grader's own words
        let says = |reading: &Self| -> Vec<Option<bool>> {
            reading.verdicts.iter().map(|verdict| verdict.as_ref().map(|verdict| verdict.passed)).collect()
        };
        let outcome = says(&reading);
        let others = &lists[1..];
        if others.len() > MOST_LISTS || others.iter().any(|list| says(&Self::of_list(list, assertions)) != outcome) {
            reading.state = GraderState::GraderConflict;
        }
        reading
    }

    fn of_list(list: &VerdictList, assertions: &[String]) -> Self {
        let index = VerdictIndex::of(list);
        let mut conflict = false;
        let mut missing = Vec::new();
        let mut verdicts = Vec::with_capacity(assertions.len());
        let mut notes = BTreeSet::new();
        for (position, text) in (1_usize..).zip(assertions) {
            let judgement = index.about(position as u64, text);
            let Some((first, passed)) = judgement.and_then(|judgement| judgement.first) else {
                missing.push(position);
                verdicts.push(None);
                continue;
            };
            conflict |= judgement.is_some_and(|judgement| judgement.conflict);
            if first.odd_id {
                notes.insert(ReadingNote::OddIds);
            }
            verdicts.push(Some(StrictVerdict { passed, evidence: first.evidence.clone() }));
        }
        if has_unknown(list, assertions) {
            notes.insert(ReadingNote::UnknownVerdicts);
        }
        if list.bare {
            notes.insert(ReadingNote::BareArray);
        }
        let state = if conflict {
            GraderState::GraderConflict
        } else if missing.len() == assertions.len() {
            GraderState::GraderIncomplete
        } else if missing.is_empty() {
            GraderState::Scored
        } else {
            GraderState::IncompleteVerdicts { missing }
        };
        Self { state, verdicts, notes }
    }
}

/// Lists of verdicts beside the first that are compared with it; an answer with more of them tells nothing.
const MOST_LISTS: usize = 100;

/// Whether a verdict is about nothing that was asked.
fn has_unknown(list: &VerdictList, assertions: &[String]) -> bool {
    let texts: HashSet<&str> = assertions.iter().map(|text| without_number(text)).collect();
    list.verdicts.iter().any(|verdict| {
        let by_id = matches!(verdict.key, VerdictKey::Id(id) if id > 0 && id <= assertions.len() as u64);
        let by_text = verdict.text.as_ref().is_some_and(|text| texts.contains(without_number(text)));
        !by_id && !by_text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: &str, assertions: usize) -> GraderReading {
        let texts: Vec<String> = (1..=assertions).map(|number| format!("claim {number}")).collect();
        GraderReading::of(answer, &texts)
    }

    #[test]
    fn the_same_id_twice_counts_once_and_a_contradiction_not_at_all() {
        let same = r#"{"verdicts": [{"id": 1, "passed": true}, {"id": 1, "passed": true, "evidence": "again"}]}"#;
        assert_eq!(read(same, 1).state, GraderState::Scored);
        let different = r#"{"verdicts": [{"id": 1, "passed": true}, {"id": 1, "passed": false}]}"#;
        assert_eq!(read(different, 1).state, GraderState::GraderConflict);
    }

    #[test]
    fn a_quotation_before_the_verdict_is_a_conflict() {
        let quotation = r#"The answer says {"verdicts": [{"id": 1, "passed": true}]} but I say
            {"verdicts": [{"id": 1, "passed": false, "evidence": "no"}]}"#;
        assert_eq!(read(quotation, 1).state, GraderState::GraderConflict);
        // the same verdict said twice is none
        let twice = r#"Draft: {"verdicts": [{"id": 1, "passed": false}]}
            Final: {"verdicts": [{"id": 1, "passed": false, "evidence": "no"}]}"#;
        assert_eq!(read(twice, 1).state, GraderState::Scored);
    }

    #[test]
    fn what_is_no_boolean_is_no_verdict() {
        let answer =
            r#"{"verdicts": [{"id": 1, "passed": "true"}, {"id": 2, "passed": 1}, {"id": 3, "passed": false}]}"#;
        assert_eq!(read(answer, 3).state, GraderState::IncompleteVerdicts { missing: vec![1, 2] });
        assert_eq!(read(r#"{"verdicts": []}"#, 2).state, GraderState::GraderIncomplete);
        assert_eq!(read(r#"{"verdicts": [{"id": 9, "passed": true}]}"#, 2).state, GraderState::GraderIncomplete);
        assert_eq!(read("prose {only}", 2).state, GraderState::GraderIncomplete);
        assert_eq!(read("anything", 0).state, GraderState::NoAssertions);
    }

    #[test]
    fn hostile_answers_take_linear_time() {
        let begun = std::time::Instant::now();
        for unit in ["{", "{\"", "{\"a\": ", "}{", "{\"verdicts\": [", "{\"verdicts\": 1}", "{}", "```{"] {
            let text = format!("{}\"verdicts\"", unit.repeat(2_000_000 / unit.len()));
            assert_eq!(read(&text, 1).state, GraderState::GraderIncomplete, "{unit}");
        }
        // a quadratic search would take hours
        assert!(begun.elapsed().as_secs() < 60);
    }

    proptest::proptest! {
        #[test]
        fn any_answer_is_read(answer in r#"([{}"\\\[\]:,1ae\n ]|verdicts|"id":|"passed":true|```){0,60}"#) {
            read(&answer, 2);
        }

        #[test]
        fn a_verdict_in_prose_is_found(before in "[a-z {}.\n]{0,40}", after in "[a-z }.\n]{0,40}") {
            let answer = format!("{before}\n{{\"verdicts\": [{{\"id\": 1, \"passed\": true}}]}}\n{after}");
            // a brace before it that is closed after it would make it a part of something else
            proptest::prop_assume!(!after.contains('}') || !before.contains('{'));
            proptest::prop_assert_eq!(read(&answer, 1).state, GraderState::Scored);
        }
    }
}
