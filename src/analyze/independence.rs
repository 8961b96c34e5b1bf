//! Whether the runs behind a lift look like independent trials that were made alike: whether the arms ran at the same time,
//! whether answers repeat each other, and whether the baseline differs from itself.
//!
//! A saved report has neither moments nor digests of its runs: what it states of them is taken from it, and where it states
//! nothing, nothing is known.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_stats::Withheld;
use skill_lift_stats::permutation::{PermutationTest, Stratum, permutation_test};
use skill_lift_stats::rational::{self, Rational, rate};

use super::table::{RunTable, WITH_SKILL};
use super::within_case::{MOST_STRATA, RunsOfCases};

/// Share of the meetings of two runs, one of each arm, in which the same arm began first, from which on the arms count as
/// run one behind the other. With cases one behind the other and the same arm first in each, the share is ½ + 1/(2K) over K
/// cases; a few runs that were made again do not hide that an arm was finished before the other one began.
const APART: (u64, u64) = (19, 20);

/// Below this p-value the repetitions of the baseline are no alike trials.
const SPLIT_ALPHA: (u64, u64) = (1, 100);

/// Fewest runs of an arm of which it can be said when they were made.
const FEWEST_RUNS: usize = 2;

/// What is known of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing speaks against it.
    Fine,
    /// Something does.
    Doubtful,
    /// Nobody recorded enough.
    Unknown,
}

impl Standing {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Doubtful => "review",
            Self::Unknown => "unknown",
        }
    }
}

/// When the arms of one model ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmOrder {
    /// The model; `None` for the runs without one.
    pub model: Option<String>,
    /// Of all meetings of a run with the skill and one without it: the share in which the one with the skill began first;
    /// the same moment counts half.
    pub with_skill_first: Rational,
}

impl ArmOrder {
    /// Whether one arm ran behind the other.
    pub fn is_apart(&self) -> bool {
        let apart = rate(APART.0, APART.1);
        self.with_skill_first >= apart || self.with_skill_first <= rate(1, 1) - apart
    }
}

/// What is known of the runs that inference compares.
#[derive(Debug)]
pub struct Independence {
    /// Runs of both arms.
    pub runs: usize,
    /// Those that say when they began.
    pub timed: usize,
    /// The models all of whose runs say it, with two runs or more in both arms.
    pub order: Vec<ArmOrder>,
    /// Runs whose answer was read.
    pub read: usize,
    /// Cases in which two runs of an arm and model gave the same answer byte for byte, and others another one; by id.
    pub repeated: BTreeSet<String>,
    /// The label permutation of the baseline against itself: odd repetitions against even ones.
    pub split: Result<PermutationTest, Withheld>,
}

impl Independence {
    /// Of the compared runs of a tree or of a saved report.
    pub fn of(table: &RunTable, runs: &RunsOfCases) -> Self {
        let counted = runs.counted();
        let split = split_of_baseline(table, runs);
        if let Some(stated) = &table.stated_independence {
            let order = stated
                .order
                .iter()
                .map(|(model, share)| ArmOrder { model: model.clone(), with_skill_first: share.clone() });
            return Self {
                runs: counted.len(),
                timed: stated.timed.min(counted.len()),
                order: order.collect(),
                read: stated.read.min(counted.len()),
                repeated: stated.repeated.clone(),
                split,
            };
        }
        let of_run = |index: &usize| &table.runs[*index];
        Self {
            runs: counted.len(),
            timed: counted.iter().filter(|index| of_run(index).started_at_ms.is_some()).count(),
            order: order(table, counted),
            read: counted.iter().filter(|index| of_run(index).answer_digest.is_some()).count(),
            repeated: repeated(table, counted),
            split,
        }
    }

    /// Whether the arms were interleaved.
    pub fn interleaving(&self) -> Standing {
        if self.order.iter().any(ArmOrder::is_apart) {
            Standing::Doubtful
        } else if self.timed == self.runs && !self.order.is_empty() {
            Standing::Fine
        } else {
            Standing::Unknown
        }
    }

    /// Whether no answer repeats another one.
    pub fn answers(&self) -> Standing {
        match (self.repeated.is_empty(), self.read == self.runs && self.runs > 0) {
            (false, _) => Standing::Doubtful,
            (true, true) => Standing::Fine,
            (true, false) => Standing::Unknown,
        }
    }

    /// Whether the baseline does not differ from itself.
    pub fn baseline(&self) -> Standing {
        match &self.split {
            Ok(test) if test.p_two_sided < rational::to_f64(&rate(SPLIT_ALPHA.0, SPLIT_ALPHA.1)) => Standing::Doubtful,
            Ok(_) => Standing::Fine,
            Err(_) => Standing::Unknown,
        }
    }

    /// Whether something says that runs are no independent trials.
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful_everywhere() || self.answers() == Standing::Doubtful
    }

    /// Whether something says so of all cases.
    fn is_doubtful_everywhere(&self) -> bool {
        [self.interleaving(), self.baseline()].contains(&Standing::Doubtful)
    }

    /// Whether something says so of the runs of a case, by its id.
    pub fn doubts(&self) -> impl Fn(&str) -> bool + '_ {
        let everywhere = self.is_doubtful_everywhere();
        move |case_id| everywhere || self.repeated.contains(case_id)
    }
}

/// The order of the arms of each model.
fn order(table: &RunTable, counted: &[usize]) -> Vec<ArmOrder> {
    let with_skill = table.variant_position(WITH_SKILL);
    // the beginnings of both arms, as long as every run says when it began
    let mut models: BTreeMap<Option<u32>, Option<[Vec<i64>; 2]>> = BTreeMap::new();
    for run in counted.iter().map(|index| &table.runs[*index]) {
        let known = models.entry(run.order.model).or_insert_with(|| Some([Vec::new(), Vec::new()]));
        match (run.started_at_ms, &mut *known) {
            (Some(started), Some(arms)) => arms[usize::from(Some(run.order.variant) != with_skill)].push(started),
            _ => *known = None,
        }
    }
    let orders = models.into_iter().filter_map(|(model, arms)| {
        let [with, mut without] = arms.filter(|arms| arms.iter().all(|arm| arm.len() >= FEWEST_RUNS))?;
        without.sort_unstable();
        let later = |started: &i64| {
            let not_before = without.partition_point(|other| other < started);
            let behind = without.partition_point(|other| other <= started);
            // twice the meetings, so that half a meeting is a whole number
            (2 * (without.len() - behind) + (behind - not_before)) as u64
        };
        let first: u64 = with.iter().map(later).sum();
        let meetings = 2 * with.len() as u64 * without.len() as u64;
        Some(ArmOrder { model: table.model(model).map(str::to_owned), with_skill_first: rate(first, meetings) })
    });
    orders.collect()
}

/// The cases with an arm in which answers repeat each other while others differ.
fn repeated(table: &RunTable, counted: &[usize]) -> BTreeSet<String> {
    let mut arms: BTreeMap<(u32, Option<u32>, u32), Vec<u64>> = BTreeMap::new();
    for run in counted.iter().map(|index| &table.runs[*index]) {
        let place = (run.order.case, run.order.model, run.order.variant);
        arms.entry(place).or_default().extend(run.answer_digest);
    }
    let repeats = arms.into_iter().filter_map(|((case, ..), mut answers)| {
        let all = answers.len();
        answers.sort_unstable();
        answers.dedup();
        // a model without chance gives one answer; that is not what is looked for
        (answers.len() > 1 && answers.len() < all).then(|| table.case_id(case).to_owned())
    });
    repeats.collect()
}

/// Odd repetitions of the baseline against even ones, cases and models as strata.
fn split_of_baseline(table: &RunTable, runs: &RunsOfCases) -> Result<PermutationTest, Withheld> {
    if runs.strata() > MOST_STRATA {
        return Err(Withheld::BeyondExactBudget);
    }
    let baseline = table.variant_position(table.baseline.variant());
    let mut halves: BTreeMap<(u32, Option<u32>), [Vec<Rational>; 2]> = BTreeMap::new();
    for run in runs.counted().iter().map(|index| &table.runs[*index]) {
        if let Some(rate) = run.compared.filter(|_| Some(run.order.variant) == baseline) {
            let half = usize::from(run.order.repetition.is_multiple_of(2));
            halves.entry((run.order.case, run.order.model)).or_default()[half].push(rate.value());
        }
    }
    let strata: Vec<Stratum<'_>> = halves.values().map(|[odd, even]| Stratum { with: odd, without: even }).collect();
    permutation_test(&strata)
}
