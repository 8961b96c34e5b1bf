//! The compared runs in cells: one case with one model, both arms.

use std::collections::{BTreeMap, HashSet};

use num_traits::{One, Zero};
use skill_lift_contract::BlockedReason;
use skill_lift_stats::Withheld;
use skill_lift_stats::permutation::{Stratum, permutation_test};
use skill_lift_stats::rational::Rational;

use super::planned::{Design, Planned};
use super::{is_failed, is_found};
use crate::analyze::pairing::Pairing;
use crate::analyze::table::{RunTable, WITH_SKILL};

/// Runs of one arm in one cell.
#[derive(Debug, Default)]
pub(super) struct ArmCell {
    /// Runs that were to be made.
    pub(super) planned: usize,
    /// Found runs beyond those.
    unplanned: usize,
    /// Runs that have a directory.
    found: usize,
    /// Those that did not come to their end.
    failed: usize,
    /// Scored runs without anything to check in them: no missing value, since there is none.
    pub(super) unrated: usize,
    /// The rates that are known.
    pub(super) known: Vec<Rational>,
}

impl ArmCell {
    /// Runs that should have a rate.
    pub(super) fn size(&self) -> usize {
        (self.planned + self.unplanned).max(self.found) - self.unrated
    }

    /// How many of them have none.
    pub(super) fn unknown(&self) -> usize {
        self.size() - self.known.len()
    }
}

/// All cells of a tree.
pub(super) struct Cells {
    /// By case and stratum; the arm with the skill first.
    pub(super) cells: BTreeMap<(u32, u32), [ArmCell; 2]>,
    /// Whether both arms are graded at all.
    pub(super) has_both_arms: bool,
    /// Cells that every case has, and the runs of an arm in each, where the tree itself is the plan.
    pub(super) of_every_case: Option<(u32, usize)>,
}

/// Runs that did not come to their end, of those that were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailureShare {
    /// Runs that did not come to their end.
    pub failed: usize,
    /// Runs that were found.
    pub runs: usize,
}

impl FailureShare {
    /// Their share; `None` without runs.
    pub fn rate(self) -> Option<Rational> {
        (self.runs > 0).then(|| Rational::new(self.failed.into(), self.runs.into()))
    }
}

/// Whether one arm fails more often.
#[derive(Debug)]
pub struct Failures {
    /// With the skill.
    pub with_skill: FailureShare,
    /// Without it.
    pub without_skill: FailureShare,
    /// How often labels dealt at random within each case and model give shares at least as far apart, over the runs of
    /// cells that have some in both arms.
    pub p_two_sided: Result<f64, Withheld>,
}

impl Cells {
    pub(super) fn of(table: &RunTable, arms: [Option<u32>; 2], pairing: &Pairing, design: &Design) -> Self {
        let mut cells: BTreeMap<(u32, u32), [ArmCell; 2]> = BTreeMap::new();
        let arm_of = |variant: u32| arms.iter().position(|arm| *arm == Some(variant));
        let left_out = left_out(table, pairing);
        for (index, run) in table.runs.iter().enumerate().filter(|(_, run)| is_found(run)) {
            let Some(arm) = arm_of(run.order.variant) else { continue };
            let cell = &mut cells.entry((run.order.case, design.strata[index])).or_default()[arm];
            cell.found += 1;
            cell.unplanned += usize::from(design.is_unplanned(index));
            cell.failed += usize::from(is_failed(run));
            match run.compared.filter(|_| run.scorable) {
                Some(rate) if !left_out.contains(&index) => cell.known.push(rate.value()),
                None if run.scorable => cell.unrated += 1,
                Some(_) | None => {}
            }
        }
        let of_every_case = match &design.planned {
            Planned::Listed(runs) => {
                for ((case, stratum, variant), count) in runs {
                    if let Some(arm) = arm_of(*variant) {
                        cells.entry((*case, *stratum)).or_default()[arm].planned = *count;
                    }
                }
                None
            }
            Planned::Product { strata, repetitions, .. } => {
                // both arms have the same repetitions
                let number = arms[0].and_then(|arm| repetitions.get(arm as usize)).copied().unwrap_or_default();
                for ((_, stratum), cell) in &mut cells {
                    let planned = if stratum < strata { number } else { 0 };
                    cell.iter_mut().for_each(|arm| arm.planned = planned);
                }
                Some((*strata, number))
            }
        };
        Self { cells, has_both_arms: arms.iter().all(Option::is_some), of_every_case }
    }

    pub(super) fn failures(&self) -> Failures {
        let share = |arm: usize| FailureShare {
            failed: self.cells.values().map(|cell| cell[arm].failed).sum(),
            runs: self.cells.values().map(|cell| cell[arm].found).sum(),
        };
        let in_both = || self.cells.values().filter(|cell| cell.iter().all(|arm| arm.found > 0));
        // cells without a failure move nothing
        let rates: Vec<[Vec<Rational>; 2]> = in_both()
            .filter(|cell| cell.iter().any(|arm| arm.failed > 0))
            .map(|cell| {
                [&cell[0], &cell[1]].map(|arm| {
                    let is_failed = |run: usize| if run < arm.failed { Rational::one() } else { Rational::zero() };
                    (0..arm.found).map(is_failed).collect()
                })
            })
            .collect();
        let strata: Vec<Stratum<'_>> = rates.iter().map(|[with, without]| Stratum { with, without }).collect();
        let p_two_sided = match (in_both().next(), strata.is_empty()) {
            (None, _) => Err(Withheld::NoEligiblePairs),
            (Some(_), true) => Ok(1.0),
            (Some(_), false) => permutation_test(&strata).map(|test| test.p_two_sided),
        };
        Failures { with_skill: share(0), without_skill: share(1), p_two_sided }
    }
}

/// Runs with a rate that says nothing about the lift: a baseline that had the skill, and both runs of a pair that cannot
/// be compared though both are scored.
fn left_out(table: &RunTable, pairing: &Pairing) -> HashSet<usize> {
    let contaminated = table
        .runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.contaminated && table.variant(run.order.variant) != WITH_SKILL);
    let mut left_out: HashSet<usize> = contaminated.map(|(index, _)| index).collect();
    for pair in &pairing.pairs {
        if let Err(
            BlockedReason::InvalidRunNumber
            | BlockedReason::EffortMismatch
            | BlockedReason::AsymmetricEvidence
            | BlockedReason::AssertionCountDiffers
            | BlockedReason::NoSharedCriteria,
        ) = &pair.values
        {
            left_out.extend(pair.with_skill.into_iter().chain(pair.without_skill));
        }
    }
    left_out
}
