//! pass@k and pass^k of both arms over the pairs that inference rests on, with limits, and their lift.
//!
//! Each (case, model) has as many runs with the skill as without. The mean over its models is the value of a case, and the
//! mean over cases that of the suite: runs and models make a value less noisy, they never add cases. Two k are looked
//! at, 1 and the largest that every pair of arms has runs for, so that all figures are over the same cases.

use std::collections::BTreeMap;

use skill_lift_stats::interval::{PaddedT, padded_share, padded_t};
use skill_lift_stats::multiplicity::holm;
use skill_lift_stats::proportion::ShareInterval;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::reliability::{PassEstimate, pass_estimate};
use skill_lift_stats::{SignFlip, Withheld, sign_flip};

use super::pairing::Pairing;
use super::table::RunTable;

/// The largest k that is looked at: exact chances of many more runs take long and say nothing.
const LARGEST_K: u64 = 100;

/// Which chance is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// At least one of k runs passes (Chen et al. 2021, arXiv:2107.03374).
    AnyOfK,
    /// All of k runs pass (Yao et al. 2024, arXiv:2406.12045).
    AllOfK,
}

impl Chance {
    /// The word in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::AnyOfK => "pass_at_k",
            Self::AllOfK => "pass_hat_k",
        }
    }

    fn of(self, estimate: &PassEstimate) -> Rational {
        match self {
            Self::AnyOfK => estimate.pass_at_k_exact(),
            Self::AllOfK => estimate.pass_hat_k_exact(),
        }
    }
}

/// One arm's mean over cases.
#[derive(Debug)]
pub struct ArmChance {
    /// The mean.
    pub mean: Option<Rational>,
    /// Padded t limits within 0 to 1.
    pub limits: Result<ShareInterval, Withheld>,
}

/// One chance at one k in both arms.
#[derive(Debug)]
pub struct RepeatedSuccess {
    /// Which chance.
    pub chance: Chance,
    /// Of how many runs.
    pub k: u64,
    /// Cases behind it.
    pub cases: usize,
    /// With the skill.
    pub with_skill: ArmChance,
    /// Without it.
    pub without_skill: ArmChance,
    /// Exact test over the differences of the cases.
    pub test: SignFlip,
    /// Limits of the mean difference.
    pub interval: Result<PaddedT, Withheld>,
    /// The p-value adjusted for the number of rows (Holm 1979).
    pub p_holm: Option<f64>,
}

/// Runs and passed runs with the skill, and passed runs without it.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    runs: u64,
    with: u64,
    without: u64,
}

/// The rows: pass@1, then pass@k and pass^k for the largest common k above 1; empty without a pair.
pub fn repeated_success(table: &RunTable, pairing: &Pairing, alpha: &Rational) -> Vec<RepeatedSuccess> {
    let mut cells: BTreeMap<(u32, Option<u32>), Cell> = BTreeMap::new();
    for (pair, _) in pairing.eligible() {
        let passes = |index: Option<usize>| {
            let rate = index.and_then(|index| table.runs.get(index)).and_then(|run| run.compared);
            u64::from(rate.is_some_and(|rate| rate.is_success()))
        };
        let cell = cells.entry((pair.case, pair.model)).or_default();
        cell.runs += 1;
        cell.with += passes(pair.with_skill);
        cell.without += passes(pair.without_skill);
    }
    let Some(common) = cells.values().map(|cell| cell.runs).min() else {
        return Vec::new();
    };
    let mut asked = vec![(Chance::AnyOfK, 1)];
    if common > 1 {
        let k = common.min(LARGEST_K);
        asked.extend([(Chance::AnyOfK, k), (Chance::AllOfK, k)]);
    }
    let mut rows: Vec<RepeatedSuccess> = asked.into_iter().map(|(chance, k)| row(&cells, chance, k, alpha)).collect();
    let adjusted = holm(&rows.iter().map(|row| Some(row.test.p_two_sided)).collect::<Vec<_>>());
    rows.iter_mut().zip(adjusted).for_each(|(row, p)| row.p_holm = p);
    rows
}

fn row(cells: &BTreeMap<(u32, Option<u32>), Cell>, chance: Chance, k: u64, alpha: &Rational) -> RepeatedSuccess {
    let mut cases: BTreeMap<u32, [Vec<Rational>; 2]> = BTreeMap::new();
    for ((case, _), cell) in cells {
        let arms = cases.entry(*case).or_default();
        for (arm, passed) in arms.iter_mut().zip([cell.with, cell.without]) {
            // k is not larger than the number of runs of any cell
            arm.extend(pass_estimate(cell.runs, passed, k).ok().map(|estimate| chance.of(&estimate)));
        }
    }
    let mean = |arm: usize| -> Vec<Rational> { cases.values().filter_map(|arms| rational::mean(&arms[arm])).collect() };
    let (with, without) = (mean(0), mean(1));
    let deltas: Vec<Rational> = with.iter().zip(&without).map(|(with, without)| with - without).collect();
    let test = sign_flip(&deltas);
    let arm = |values: &[Rational]| ArmChance { mean: rational::mean(values), limits: padded_share(values, alpha) };
    RepeatedSuccess {
        chance,
        k,
        cases: cases.len(),
        with_skill: arm(&with),
        without_skill: arm(&without),
        interval: padded_t(&deltas, alpha, &test),
        test,
        p_holm: None,
    }
}
