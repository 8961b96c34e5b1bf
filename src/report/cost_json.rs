//! The block `cost_summary`, in the form of version 0.6 of the report format, with the accounting of caches beside it.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::rational::round_f64_half_even;

use super::compat::Pairing;
use super::ordered::Ordered;
use super::telemetry_json::{AggregateJson, count_members, count_stats, money_members, money_stats};
use crate::analyze::telemetry::{
    CasePairedCost, CostSummary, Coverage, PopulationRule, Spend, Totals, VariantCost, money_buckets,
};
use crate::judge::JudgeSpend;

/// Decimals of differences in cost.
const DECIMALS: u32 = 6;

pub(super) struct CoverageJson(pub(super) Coverage);

impl Serialize for CoverageJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let coverage = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("runs_seen", &coverage.runs)?;
        map.serialize_entry("runs_with_token_usage", &coverage.with_tokens)?;
        map.serialize_entry("runs_with_dollar_cost", &coverage.with_dollars)?;
        map.serialize_entry("runs_with_non_usd_cost", &coverage.with_other_money)?;
        map.serialize_entry("runs_missing_usage", &coverage.missing_tokens)?;
        map.serialize_entry("runs_missing_cost", &coverage.missing_money)?;
        if coverage.tokens_not_applicable > 0 {
            map.serialize_entry("runs_not_applicable_usage", &coverage.tokens_not_applicable)?;
        }
        if coverage.money_not_applicable > 0 {
            map.serialize_entry("runs_not_applicable_cost", &coverage.money_not_applicable)?;
        }
        map.end()
    }
}

pub(super) struct TotalsJson<'a> {
    pub(super) totals: &'a Totals,
    /// Runs with an answer that did not finish, where they are counted.
    pub(super) execution_errors: Option<usize>,
}

impl Serialize for TotalsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let totals = self.totals;
        let mut map = serializer.serialize_map(None)?;
        count_members(&mut map, "input_tokens", &totals.input_tokens)?;
        count_members(&mut map, "output_tokens", &totals.output_tokens)?;
        count_members(&mut map, "total_tokens", &totals.total_tokens)?;
        money_members(&mut map, &totals.money)?;
        count_members(&mut map, "elapsed_ms_sum", &totals.elapsed_ms)?;
        if let Some(errors) = self.execution_errors {
            map.serialize_entry("execution_errors", &errors)?;
        }
        map.end()
    }
}

/// Tokens with each cached one counted once, whatever the providers count as input.
pub(super) struct CacheAccounting<'a>(pub(super) &'a Totals);

impl Serialize for CacheAccounting<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cache_read_tokens", &AggregateJson(&self.0.cache_read_tokens))?;
        map.serialize_entry("cache_write_tokens", &AggregateJson(&self.0.cache_write_tokens))?;
        map.serialize_entry("billable_tokens", &AggregateJson(&self.0.billable_tokens))?;
        map.end()
    }
}

/// The members of an object that are about what a group of runs spent.
pub(super) fn spend_members<M: SerializeMap>(map: &mut M, spend: &Spend) -> Result<(), M::Error> {
    map.serialize_entry("runs", &spend.runs)?;
    count_members(map, "total_tokens", &spend.total_tokens)?;
    money_members(map, &spend.money)
}

pub(super) struct SpendJson<'a>(pub(super) &'a Spend);

impl Serialize for SpendJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        spend_members(&mut map, self.0)?;
        map.end()
    }
}

struct AblationSpend<'a>(&'a Spend);

impl Serialize for AblationSpend<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        spend_members(&mut map, self.0)?;
        // no ablation is judged yet, so that none is confirmed
        map.serialize_entry("confirmed_regressions", &0)?;
        map.serialize_entry("cost_per_confirmed_regression", &None::<f64>)?;
        map.end()
    }
}

struct VariantJson<'a>(&'a VariantCost);

impl Serialize for VariantJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("runs", &self.0.runs)?;
        map.serialize_entry("tokens", &count_stats(&self.0.tokens))?;
        map.serialize_entry("cost_usd", &money_stats(&self.0.dollars))?;
        map.end()
    }
}

struct PairedCase<'a>(&'a CasePairedCost);

impl Serialize for PairedCase<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let CasePairedCost { by_currency, eligible, blocked, reasons } = self.0;
        let mut map = serializer.serialize_map(None)?;
        match self.0.single() {
            Ok((currency, mean)) => {
                map.serialize_entry("availability", "comparable")?;
                map.serialize_entry("currency", currency.code())?;
                map.serialize_entry("delta", &round_f64_half_even(mean, DECIMALS))?;
            }
            Err(reason) => {
                map.serialize_entry("availability", "blocked")?;
                map.serialize_entry("delta", &None::<f64>)?;
                if let Some(reason) = reason {
                    map.serialize_entry("reason", reason.code())?;
                    let of_currency = |(currency, mean, pairs): &(Currency, f64, usize)| {
                        let means =
                            CurrencyMean { delta: round_f64_half_even(*mean, DECIMALS), eligible_pairs: *pairs };
                        (currency.code().to_owned(), means)
                    };
                    map.serialize_entry("by_currency", &Ordered(by_currency.iter().map(of_currency).collect()))?;
                }
            }
        }
        map.serialize_entry("eligible_pairs", eligible)?;
        map.serialize_entry("blocked_pairs", blocked)?;
        if *eligible == 0 && reasons.is_empty() {
            map.serialize_entry("blocked_reason_counts", &Ordered(vec![("missing_pair".to_owned(), 1)]))?;
        } else {
            map.serialize_entry("blocked_reason_counts", &Ordered(reasons.clone()))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct CurrencyMean {
    delta: f64,
    eligible_pairs: usize,
}

#[derive(Serialize)]
struct Basis {
    currency: &'static str,
}

pub(super) struct JudgeJson<'a>(pub(super) &'a JudgeSpend);

impl Serialize for JudgeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("verdicts", &self.0.verdicts)?;
        map.serialize_entry("verdicts_with_cost", &self.0.verdicts_with_cost)?;
        money_members(&mut map, &money_buckets(self.0.calls.iter(), PopulationRule::AsStated))?;
        map.serialize_entry("billed_calls", &self.0.billed_calls())?;
        map.end()
    }
}

/// The block. `judge` is what judging cost, if verdicts were given.
pub(super) struct CostBlock<'a> {
    pub(super) cost: &'a CostSummary,
    pub(super) judge: Option<&'a JudgeSpend>,
}

impl Serialize for CostBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cost = self.cost;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("telemetry_schema_version", &skill_lift_contract::telemetry::SCHEMA_VERSION)?;
        map.serialize_entry("coverage", &CoverageJson(cost.coverage))?;
        let execution_errors = Some(cost.execution_errors);
        map.serialize_entry("totals", &TotalsJson { totals: &cost.totals, execution_errors })?;
        let by_variant = cost.by_variant.iter().map(|variant| (variant.variant.clone(), VariantJson(variant)));
        map.serialize_entry("by_variant", &Ordered(by_variant.collect()))?;
        let by_case = cost.by_case.iter().map(|(case, spend)| (case.clone(), SpendJson(spend)));
        map.serialize_entry("by_case", &Ordered(by_case.collect()))?;
        let paired = cost.paired.by_case.iter().map(|(case, paired)| (case.clone(), PairedCase(paired)));
        map.serialize_entry("paired_cost_delta", &Ordered(paired.collect()))?;
        map.serialize_entry("pairing", &Pairing::from(&cost.paired.pairing))?;
        let rounded = |mean: &f64| round_f64_half_even(*mean, DECIMALS);
        let means = &cost.paired.mean_by_currency;
        let dollar_mean = means.get(&Currency::USD);
        map.serialize_entry("mean_paired_cost_delta", &dollar_mean.map(rounded))?;
        map.serialize_entry("mean_paired_cost_delta_basis", &dollar_mean.map(|_| Basis { currency: "USD" }))?;
        let by_currency = means.iter().map(|(currency, mean)| (currency.code().to_owned(), rounded(mean)));
        map.serialize_entry("mean_paired_cost_delta_by_currency", &Ordered(by_currency.collect()))?;
        map.serialize_entry("ablations", &AblationSpend(&cost.ablations))?;
        if let Some(judge) = self.judge {
            map.serialize_entry("judge", &JudgeJson(judge))?;
        }
        map.serialize_entry("cache_accounting", &CacheAccounting(&cost.totals))?;
        map.end()
    }
}
