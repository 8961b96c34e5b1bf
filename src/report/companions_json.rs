//! What stands beside the headline in the block `inference`: other intervals, robust figures, influence, spread, and
//! repeated success.

use serde::Serialize;
use skill_lift_stats::bootstrap::{BootstrapInterval, LatticeInterval};
use skill_lift_stats::cluster::ClusteredMean;
use skill_lift_stats::interval::Equivalence;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Thresholds, Withheld};

use super::inference_json::Interval;
use crate::analyze::companions::Companions;
use crate::analyze::inference::{Contrast, Inference};
use crate::analyze::repeated_success::{ArmChance, RepeatedSuccess};

#[derive(Serialize)]
pub(super) struct CompanionsBlock {
    interval_sign_flip: Interval,
    interval_bounded: Interval,
    interval_bootstrap: BootstrapBlock,
    interval_tango: Interval,
    #[serde(skip_serializing_if = "Option::is_none")]
    case_weighted: Option<ClusterBlock>,
    within_case_test: WithinCaseBlock,
    equivalence: EquivalenceBlock,
    hodges_lehmann: HodgesLehmannBlock,
    leave_one_out: LeaveOneOutBlock,
    variance: VarianceBlock,
}

#[derive(Serialize)]
struct BootstrapBlock {
    percentile: Interval,
    bca: Interval,
}

/// The mean over the cases of families of unequal size.
#[derive(Serialize)]
struct ClusterBlock {
    estimate: Option<f64>,
    standard_error: Option<f64>,
    degrees_of_freedom: Option<f64>,
    clusters: Option<usize>,
    dominant_cluster: Option<bool>,
    #[serde(flatten)]
    interval: Interval,
}

#[derive(Serialize)]
struct WithinCaseBlock {
    method: &'static str,
    unit: &'static str,
    assumes: &'static str,
    strata: Option<usize>,
    runs_with: Option<usize>,
    runs_without: Option<usize>,
    estimate: Option<f64>,
    p_two_sided: Option<f64>,
    p_floor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct EquivalenceBlock {
    method: &'static str,
    margin: Option<f64>,
    confidence: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    equivalent: Option<bool>,
    non_inferior: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct HodgesLehmannBlock {
    value: Option<f64>,
    few_cases_carry_the_lift: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct LeaveOneOutBlock {
    lowest: Option<f64>,
    lowest_without: Option<String>,
    highest: Option<f64>,
    highest_without: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct VarianceBlock {
    total: Option<f64>,
    within: Option<f64>,
    within_units: Option<usize>,
    between: Option<f64>,
    noise_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// The companions of a headline.
pub(super) fn companions(
    companions: &Companions,
    contrast: &Contrast,
    thresholds: &Thresholds,
    equivalence_margin: Option<&Rational>,
    confidence: f64,
) -> CompanionsBlock {
    let unit = contrast.unit.word();
    let interval = |method, limits: Result<(f64, f64), Withheld>| Interval {
        method,
        unit,
        n: contrast.test.n,
        confidence,
        lower: limits.ok().map(|(lower, _)| lower),
        upper: limits.ok().map(|(_, upper)| upper),
        reason: limits.err().map(Withheld::as_str),
    };
    let inverted = companions.interval_sign_flip.as_ref().map(|i| (i.lower_f64(), i.upper_f64())).map_err(|e| *e);
    let bootstrap = |of: fn(&BootstrapInterval) -> &LatticeInterval| {
        let limits = companions.interval_bootstrap.as_ref().map(of).map_err(|e| *e);
        limits.map(|limits| (rational::to_f64(&limits.lower), rational::to_f64(&limits.upper)))
    };
    let bounded = companions.interval_bounded.map(|i| (i.lower, i.upper));
    CompanionsBlock {
        interval_sign_flip: interval("sign-flip-inversion", inverted),
        interval_bounded: interval("betting", bounded),
        interval_bootstrap: BootstrapBlock {
            percentile: interval("bootstrap-percentile", bootstrap(|limits| &limits.percentile)),
            bca: interval("bootstrap-bca", bootstrap(|limits| &limits.bca)),
        },
        interval_tango: interval(
            "tango-score",
            companions.interval_tango.as_ref().map(|limits| (limits.lower, limits.upper)).map_err(|e| *e),
        ),
        case_weighted: companions.case_weighted.as_ref().map(|mean| case_weighted(mean, confidence)),
        within_case_test: within_case(companions),
        equivalence: equivalence(&companions.equivalence, thresholds, equivalence_margin),
        hodges_lehmann: HodgesLehmannBlock {
            value: companions.hodges_lehmann.as_ref().ok().map(rational::to_f64),
            few_cases_carry_the_lift: companions.few_cases_carry_the_lift,
            reason: reason(&companions.hodges_lehmann),
        },
        leave_one_out: leave_one_out(companions, contrast),
        variance: variance(companions),
    }
}

fn case_weighted(mean: &Result<ClusteredMean, Withheld>, confidence: f64) -> ClusterBlock {
    let known = mean.as_ref().ok();
    ClusterBlock {
        estimate: known.map(|mean| rational::to_f64(&mean.mean)),
        standard_error: known.map(|mean| mean.cr2.standard_error),
        degrees_of_freedom: known.map(|mean| mean.cr2.degrees_of_freedom),
        clusters: known.map(|mean| mean.clusters),
        dominant_cluster: known.map(ClusteredMean::has_dominant_cluster),
        interval: Interval {
            method: "cluster-robust-cr2",
            unit: "case",
            n: known.map_or(0, |mean| mean.units),
            confidence,
            lower: known.map(|mean| mean.cr2.lower),
            upper: known.map(|mean| mean.cr2.upper),
            reason: reason(mean),
        },
    }
}

fn reason<T>(value: &Result<T, Withheld>) -> Option<&'static str> {
    value.as_ref().err().map(|reason| reason.as_str())
}

fn within_case(companions: &Companions) -> WithinCaseBlock {
    let test = companions.within_case.as_ref().ok();
    WithinCaseBlock {
        method: "stratified-label-permutation",
        unit: "run",
        assumes: "runs_of_a_case_are_independent",
        strata: test.map(|test| test.strata),
        runs_with: test.map(|test| test.runs_with),
        runs_without: test.map(|test| test.runs_without),
        estimate: test.map(|test| rational::to_f64(&test.mean_delta)),
        p_two_sided: test.map(|test| test.p_two_sided),
        p_floor: test.map(|test| test.floor),
        reason: reason(&companions.within_case),
    }
}

fn equivalence(
    result: &Result<Equivalence, Withheld>,
    thresholds: &Thresholds,
    margin: Option<&Rational>,
) -> EquivalenceBlock {
    let shown = result.as_ref().ok();
    EquivalenceBlock {
        method: "padded-t",
        margin: margin.map(rational::to_f64),
        // both one-sided tests have the error rate of the report
        confidence: rational::to_f64(&(rational::rate(1, 1) - thresholds.alpha() - thresholds.alpha())),
        lower: shown.map(|equivalence| equivalence.lower),
        upper: shown.map(|equivalence| equivalence.upper),
        equivalent: shown.map(|equivalence| equivalence.equivalent),
        non_inferior: shown.map(|equivalence| equivalence.non_inferior),
        reason: reason(result),
    }
}

fn leave_one_out(companions: &Companions, contrast: &Contrast) -> LeaveOneOutBlock {
    let range = companions.leave_one_out.as_ref().ok();
    let name = |index: usize| contrast.units.get(index).map(|unit| unit.name.clone());
    LeaveOneOutBlock {
        lowest: range.map(|range| rational::to_f64(&range.lowest)),
        lowest_without: range.and_then(|range| name(range.lowest_without)),
        highest: range.map(|range| rational::to_f64(&range.highest)),
        highest_without: range.and_then(|range| name(range.highest_without)),
        reason: reason(&companions.leave_one_out),
    }
}

fn variance(companions: &Companions) -> VarianceBlock {
    let split = companions.variance.as_ref().ok();
    let figure =
        |value: Option<&Result<Rational, Withheld>>| value.and_then(|value| value.as_ref().ok()).map(rational::to_f64);
    VarianceBlock {
        total: split.map(|split| rational::to_f64(&split.total)),
        within: figure(split.map(|split| &split.within)),
        within_units: split.map(|split| split.within_units),
        between: figure(split.map(|split| &split.between)),
        noise_share: figure(split.map(|split| &split.noise_share)),
        reason: match &companions.variance {
            Err(reason) => Some(reason.as_str()),
            Ok(split) => reason(&split.noise_share),
        },
    }
}

#[derive(Serialize)]
pub(super) struct ReliabilityRow {
    measure: &'static str,
    k: u64,
    unit: &'static str,
    n_cases: usize,
    with_skill: ChanceBlock,
    without_skill: ChanceBlock,
    estimate: Option<f64>,
    interval: Interval,
    p_two_sided: Option<f64>,
    p_holm: Option<f64>,
}

#[derive(Serialize)]
struct ChanceBlock {
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

fn chance(arm: &ArmChance) -> ChanceBlock {
    let limits = arm.limits.as_ref().ok();
    ChanceBlock {
        value: arm.mean.as_ref().map(rational::to_f64),
        lower: limits.map(|limits| limits.lower),
        upper: limits.map(|limits| limits.upper),
        reason: reason(&arm.limits),
    }
}

/// pass@k and pass^k of both arms.
pub(super) fn reliability(inference: &Inference, confidence: f64) -> Vec<ReliabilityRow> {
    let tested = |test: &SignFlip| (test.n > 0).then_some(test.p_two_sided);
    let row = |row: &RepeatedSuccess| ReliabilityRow {
        measure: row.chance.code(),
        k: row.k,
        unit: "case",
        n_cases: row.cases,
        with_skill: chance(&row.with_skill),
        without_skill: chance(&row.without_skill),
        estimate: row.test.estimate_f64(),
        interval: Interval {
            method: "padded-t",
            unit: "case",
            n: row.cases,
            confidence,
            lower: row.interval.as_ref().ok().map(|interval| interval.lower),
            upper: row.interval.as_ref().ok().map(|interval| interval.upper),
            reason: reason(&row.interval),
        },
        p_two_sided: tested(&row.test),
        p_holm: row.p_holm,
    };
    inference.repeated_success.iter().map(row).collect()
}
