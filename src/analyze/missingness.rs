//! What is missing, and what it could change: how many of the planned runs of each arm were found and scored, whether
//! one arm fails more often, and how low and how high the lift could be had the missing runs been made.

mod bounds;
mod cells;
mod planned;

use std::collections::BTreeMap;

use skill_lift_contract::{ReasonClass, UnscoredReason};

use super::inference::Unit;
use super::pairing::Pairing;
use super::table::{Baseline, Run, RunTable, WITH_SKILL};
use crate::runs::Plan;

pub use bounds::Bounds;
pub use cells::{FailureShare, Failures};

/// A plan, and whether it was made for this suite.
#[derive(Debug, Clone)]
pub struct PlanOfSuite {
    /// The plan.
    pub plan: Plan,
    /// Whether the suite has the digest that the plan names; `None` without a suite file.
    pub same_suite: Option<bool>,
}

/// What says which runs were planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedBy {
    /// A plan.
    Plan {
        /// Its digest.
        design_sha256: String,
        /// Runs that it lists.
        listed: usize,
        /// Runs among them that are none of the graded cases and arms.
        not_graded: usize,
        /// Whether it was made for this suite; `None` without a suite file.
        same_suite: Option<bool>,
    },
    /// Nothing but the tree: every case with every model and repetition that was seen, in each arm.
    Seen,
}

/// Runs with their reasons.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reasons {
    /// Runs.
    pub runs: usize,
    /// How many of them give each reason; a run may give several.
    pub counts: BTreeMap<UnscoredReason, usize>,
}

impl Reasons {
    fn add(&mut self, reasons: &[UnscoredReason]) {
        self.runs += 1;
        for reason in reasons {
            *self.counts.entry(*reason).or_default() += 1;
        }
    }
}

/// What became of the planned runs of one arm. Found are those that are scored, failed or excluded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArmCoverage {
    /// The arm.
    pub variant: String,
    /// Runs that were to be made.
    pub planned: usize,
    /// Runs that have a directory.
    pub found: usize,
    /// Planned runs that have none.
    pub missing: usize,
    /// Found runs that no plan lists.
    pub unplanned: usize,
    /// Found runs that enter rates.
    pub scored: usize,
    /// Found runs that did not come to their end.
    pub failed: Reasons,
    /// Found runs that are not scored for another reason.
    pub excluded: Reasons,
}

/// The whole block.
#[derive(Debug)]
pub struct Missingness {
    /// What says which runs were planned.
    pub planned_by: PlannedBy,
    /// What became of them, each arm in the order of the selection.
    pub coverage: Vec<ArmCoverage>,
    /// Whether one of the compared arms fails more often.
    pub failures: Failures,
    /// How far the missing runs could move the lift.
    pub bounds: Bounds,
    /// What the skill's arm is compared with.
    pub baseline: Baseline,
}

impl Missingness {
    /// The block of a tree. `pairing` holds the pairs that inference rests on, `unit` is what it counts.
    pub fn of(table: &RunTable, pairing: &Pairing, unit: Unit, plan: Option<&PlanOfSuite>) -> Self {
        let design = match plan {
            Some(of_suite) => planned::of_plan(table, of_suite),
            None => planned::of_tree(table),
        };
        let arms = [WITH_SKILL, table.baseline.variant()].map(|arm| table.variant_position(arm));
        let cells = cells::Cells::of(table, arms, pairing, &design);
        Self {
            coverage: coverage(table, &design),
            failures: cells.failures(),
            bounds: cells.bounds(table, unit),
            planned_by: design.planned_by,
            baseline: table.baseline,
        }
    }
}

/// Whether a run has a directory.
fn is_found(run: &Run) -> bool {
    run.unscored_reasons.iter().all(|reason| reason != UnscoredReason::MissingRun.code())
}

fn reasons(run: &Run) -> Vec<UnscoredReason> {
    run.unscored_reasons.iter().filter_map(|code| UnscoredReason::from_code(code)).collect()
}

/// Whether a run was made and did not come to its end.
fn is_failed(run: &Run) -> bool {
    reasons(run).iter().any(|reason| reason.class() == ReasonClass::Infrastructure)
}

fn coverage(table: &RunTable, design: &planned::Design) -> Vec<ArmCoverage> {
    let arm = |variant: &String| ArmCoverage { variant: variant.clone(), ..ArmCoverage::default() };
    let mut arms: Vec<ArmCoverage> = table.variants.iter().map(arm).collect();
    for (index, run) in table.runs.iter().enumerate().filter(|(_, run)| is_found(run)) {
        let Some(arm) = arms.get_mut(run.order.variant as usize) else { continue };
        arm.found += 1;
        arm.unplanned += usize::from(design.is_unplanned(index));
        match run.scorable {
            true => arm.scored += 1,
            false if is_failed(run) => arm.failed.add(&reasons(run)),
            false => arm.excluded.add(&reasons(run)),
        }
    }
    for (position, arm) in arms.iter_mut().enumerate() {
        arm.planned = design.planned_of_arm(position as u32);
        arm.missing = arm.planned.saturating_sub(arm.found - arm.unplanned);
    }
    arms
}
