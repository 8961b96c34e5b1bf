//! The block `inference.missingness` of a report: what is missing, and what it could change.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::Withheld;
use skill_lift_stats::rational;

use super::ordered::Ordered;
use crate::analyze::missingness::{ArmCoverage, Bounds, FailureShare, Failures, Missingness, PlannedBy, Reasons};
use crate::analyze::table::Baseline;

#[derive(Serialize)]
pub(super) struct MissingnessBlock {
    coverage: Coverage,
    failure_rates: FailureRates,
    bounds: BoundsBlock,
}

#[derive(Serialize)]
struct Coverage {
    planned_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanBlock>,
    by_variant: Ordered<Arm>,
}

#[derive(Serialize)]
struct PlanBlock {
    design_sha256: String,
    listed_runs: usize,
    not_graded: usize,
    same_suite: Option<bool>,
}

#[derive(Serialize)]
struct Arm {
    planned: usize,
    found: usize,
    missing: usize,
    unplanned: usize,
    scored: usize,
    failed: usize,
    failed_reasons: Ordered<usize>,
    excluded: usize,
    excluded_reasons: Ordered<usize>,
}

struct FailureRates {
    baseline: Baseline,
    with_skill: Share,
    without_skill: Share,
    difference: Option<f64>,
    p_two_sided: Option<f64>,
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Share {
    failed: usize,
    runs: usize,
    rate: Option<f64>,
}

impl Serialize for FailureRates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", "stratified-label-permutation")?;
        map.serialize_entry("unit", "run")?;
        map.serialize_entry("with_skill", &self.with_skill)?;
        map.serialize_entry(self.baseline.variant(), &self.without_skill)?;
        map.serialize_entry("difference", &self.difference)?;
        map.serialize_entry("p_two_sided", &self.p_two_sided)?;
        if let Some(reason) = self.reason {
            map.serialize_entry("reason", reason)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct BoundsBlock {
    method: &'static str,
    unit: &'static str,
    n_units: usize,
    missing_with: usize,
    missing_without: usize,
    lift_worst: Option<f64>,
    lift_best: Option<f64>,
    could_reverse: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

fn reasons(reasons: &Reasons) -> Ordered<usize> {
    Ordered(reasons.counts.iter().map(|(reason, count)| (reason.code().to_owned(), *count)).collect())
}

fn arm(arm: &ArmCoverage) -> Arm {
    Arm {
        planned: arm.planned,
        found: arm.found,
        missing: arm.missing,
        unplanned: arm.unplanned,
        scored: arm.scored,
        failed: arm.failed.runs,
        failed_reasons: reasons(&arm.failed),
        excluded: arm.excluded.runs,
        excluded_reasons: reasons(&arm.excluded),
    }
}

fn failure_rates(failures: &Failures, baseline: Baseline) -> FailureRates {
    let share = |share: FailureShare| Share {
        failed: share.failed,
        runs: share.runs,
        rate: share.rate().as_ref().map(rational::to_f64),
    };
    let difference = failures.with_skill.rate().zip(failures.without_skill.rate());
    FailureRates {
        baseline,
        with_skill: share(failures.with_skill),
        without_skill: share(failures.without_skill),
        difference: difference.map(|(with, without)| rational::to_f64(&(with - without))),
        p_two_sided: failures.p_two_sided.ok(),
        reason: failures.p_two_sided.err().map(Withheld::as_str),
    }
}

fn bounds(bounds: &Bounds) -> BoundsBlock {
    let range = bounds.lift.as_ref();
    BoundsBlock {
        method: "worst-case",
        unit: bounds.unit.word(),
        n_units: bounds.units,
        missing_with: bounds.missing_with,
        missing_without: bounds.missing_without,
        lift_worst: range.map(|range| rational::to_f64(&range.worst)),
        lift_best: range.map(|range| rational::to_f64(&range.best)),
        could_reverse: bounds.could_reverse(),
        reason: range.is_none().then_some(Withheld::NoEligiblePairs.as_str()),
    }
}

/// The block of a tree.
pub(super) fn block(missingness: &Missingness) -> MissingnessBlock {
    let (planned_by, plan) = match &missingness.planned_by {
        PlannedBy::Seen => ("seen", None),
        PlannedBy::Plan { design_sha256, listed, not_graded, same_suite } => {
            let plan = PlanBlock {
                design_sha256: design_sha256.clone(),
                listed_runs: *listed,
                not_graded: *not_graded,
                same_suite: *same_suite,
            };
            ("plan", Some(plan))
        }
    };
    MissingnessBlock {
        coverage: Coverage {
            planned_by,
            plan,
            by_variant: Ordered(missingness.coverage.iter().map(|own| (own.variant.clone(), arm(own))).collect()),
        },
        failure_rates: failure_rates(&missingness.failures, missingness.baseline),
        bounds: bounds(&missingness.bounds),
    }
}
