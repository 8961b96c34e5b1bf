//! The members `efficiency` and `cost_per_run` of the block `inference`.

use std::collections::BTreeMap;

use serde::Serialize;
use skill_lift_contract::telemetry::{Currency, Provenance};
use skill_lift_stats::Withheld;
use skill_lift_stats::ratio::{Effect, FiellerSet, Price};
use skill_lift_stats::rational;

use crate::analyze::telemetry::{Efficiency, NetBenefit, Percentile, Quantity, QuantityEffect};

/// Confidence of the upper limits of percentiles.
const BOUND_CONFIDENCE: f64 = 0.95;

/// Why a ratio over a part of the pairs is no finding.
const INCOMPLETE: &str = "incomplete_measurement";

#[derive(Serialize)]
pub(super) struct EfficiencyBlock<'a> {
    money: QuantityBlock<'a>,
    total_tokens: QuantityBlock<'a>,
    billable_tokens: QuantityBlock<'a>,
}

#[derive(Serialize)]
struct QuantityBlock<'a> {
    per: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    unit: &'static str,
    n: usize,
    pairs: usize,
    pairs_measured: usize,
    blocked_reason_counts: &'a BTreeMap<&'static str, usize>,
    provenance: Vec<&'static str>,
    mean_lift: Option<f64>,
    mean_difference: Option<f64>,
    ratio: RatioBlock,
    plane: PlaneBlock,
    #[serde(skip_serializing_if = "Option::is_none")]
    net_benefit: Option<NetBenefitBlock>,
}

#[derive(Serialize)]
struct NetBenefitBlock {
    method: &'static str,
    confidence: f64,
    value_per_lift: f64,
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    p_two_sided: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<Observed>,
}

#[derive(Serialize)]
struct RatioBlock {
    method: &'static str,
    confidence: f64,
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<Observed>,
}

#[derive(Serialize)]
struct Observed {
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
}

#[derive(Serialize)]
struct PlaneBlock {
    better: Prices,
    same: Prices,
    worse: Prices,
}

#[derive(Serialize)]
struct Prices {
    cheaper: usize,
    same: usize,
    dearer: usize,
}

#[derive(Serialize)]
pub(super) struct CostPerRun {
    money: Difference,
    tokens: Difference,
    context_tokens: Difference,
    elapsed_ms: Difference,
}

#[derive(Serialize)]
struct Difference {
    delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    pairs_measured: usize,
    pairs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct PercentileBlock {
    quantity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    variant: &'static str,
    method: &'static str,
    unit: &'static str,
    n: usize,
    runs: usize,
    p90: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    confidence: f64,
    p90_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_reason: Option<&'static str>,
}

/// The 90th percentiles of what runs used.
pub(super) fn percentiles(efficiency: &Efficiency) -> Vec<PercentileBlock> {
    let block = |percentile: &Percentile| {
        let known = percentile.value.as_ref().ok();
        let upper = known.map(|known| known.upper);
        PercentileBlock {
            quantity: match percentile.quantity {
                Quantity::Money => "money",
                Quantity::TotalTokens => "total_tokens",
                Quantity::BillableTokens => "billable_tokens",
                Quantity::ContextTokens => "context_tokens",
                Quantity::ElapsedMs => "elapsed_ms",
            },
            currency: percentile.currency.map(|currency| currency.code().to_owned()),
            variant: percentile.variant,
            method: "hyndman-fan-7",
            unit: "run",
            n: known.map_or(0, |known| known.n),
            runs: percentile.runs,
            p90: known.map(|known| known.value),
            reason: percentile.value.as_ref().err().map(|reason| reason.as_str()),
            confidence: BOUND_CONFIDENCE,
            p90_upper: upper.and_then(Result::ok).map(|upper| upper.value),
            upper_reason: upper.and_then(Result::err).map(Withheld::as_str),
        }
    };
    efficiency.percentiles.iter().map(block).collect()
}

pub(super) fn efficiency(efficiency: &Efficiency) -> EfficiencyBlock<'_> {
    EfficiencyBlock {
        money: quantity(&efficiency.money, "currency_unit"),
        total_tokens: quantity(&efficiency.total_tokens, "1000_tokens"),
        billable_tokens: quantity(&efficiency.billable_tokens, "1000_tokens"),
    }
}

pub(super) fn cost_per_run(efficiency: &Efficiency) -> CostPerRun {
    CostPerRun {
        money: difference(&efficiency.money),
        tokens: difference(&efficiency.total_tokens),
        context_tokens: difference(&efficiency.context_tokens),
        elapsed_ms: difference(&efficiency.elapsed_ms),
    }
}

fn currency(effect: &QuantityEffect) -> Option<String> {
    effect.currency.map(|currency: Currency| currency.code().to_owned())
}

fn difference(effect: &QuantityEffect) -> Difference {
    let delta = effect.mean_difference.as_ref().map(rational::to_f64);
    let most = effect.reasons.iter().max_by_key(|(_, count)| **count).map(|(reason, _)| *reason);
    Difference {
        reason: if delta.is_none() { Some(most.unwrap_or("no_eligible_pairs")) } else { None },
        delta,
        currency: currency(effect),
        pairs_measured: effect.measured,
        pairs: effect.pairs,
    }
}

fn quantity<'a>(effect: &'a QuantityEffect, per: &'static str) -> QuantityBlock<'a> {
    let prices = |of: Effect| Prices {
        cheaper: effect.plane.count(of, Price::Cheaper),
        same: effect.plane.count(of, Price::Same),
        dearer: effect.plane.count(of, Price::Dearer),
    };
    QuantityBlock {
        per,
        currency: currency(effect),
        unit: effect.unit.word(),
        n: effect.ratio.n,
        pairs: effect.pairs,
        pairs_measured: effect.measured,
        blocked_reason_counts: &effect.reasons,
        provenance: effect.provenances.iter().map(|provenance: &Provenance| provenance.code()).collect(),
        mean_lift: effect.ratio.numerator.as_ref().map(rational::to_f64),
        mean_difference: effect.mean_difference.as_ref().map(rational::to_f64),
        ratio: ratio(effect),
        plane: PlaneBlock { better: prices(Effect::Better), same: prices(Effect::Same), worse: prices(Effect::Worse) },
        net_benefit: effect.net_benefit.as_ref().map(|benefit| net_benefit(effect, benefit)),
    }
}

fn net_benefit(effect: &QuantityEffect, benefit: &NetBenefit) -> NetBenefitBlock {
    let value = benefit.mean.as_ref().map(rational::to_f64);
    let (lower, upper) = benefit.interval.as_ref().map_or((None, None), |&(lower, upper)| (Some(lower), Some(upper)));
    let block = NetBenefitBlock {
        method: "padded-t",
        confidence: 1.0 - effect.ratio.alpha,
        value_per_lift: rational::to_f64(&benefit.value_per_lift),
        value,
        lower,
        upper,
        p_two_sided: (benefit.test.n > 0).then_some(benefit.test.p_two_sided),
        reason: benefit.interval.as_ref().err().map(|reason| reason.as_str()),
        observed: None,
    };
    if effect.is_complete() || effect.measured == 0 {
        return block;
    }
    let observed = Some(Observed { value, lower, upper });
    NetBenefitBlock {
        value: None,
        lower: None,
        upper: None,
        p_two_sided: None,
        reason: Some(INCOMPLETE),
        observed,
        ..block
    }
}

fn ratio(effect: &QuantityEffect) -> RatioBlock {
    let estimate = &effect.ratio;
    let limits = estimate.two_sided();
    let value = estimate.ratio_f64();
    let (lower, upper) = limits.map_or((None, None), |(lower, upper)| (Some(lower), Some(upper)));
    let block = RatioBlock {
        method: "fieller",
        confidence: 1.0 - estimate.alpha,
        value,
        lower,
        upper,
        set: estimate.limits.ok().map(FiellerSet::as_str),
        reason: limits.err().map(|reason| reason.as_str()),
        observed: None,
    };
    if effect.is_complete() || effect.measured == 0 {
        return block;
    }
    // the pairs that say what they used may be others than those that do not
    let observed = Some(Observed { value, lower, upper });
    RatioBlock { value: None, lower: None, upper: None, set: None, reason: Some(INCOMPLETE), observed, ..block }
}
