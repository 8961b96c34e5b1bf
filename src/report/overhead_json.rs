//! The report of `token-overhead`, in the form of version 0.6 of the report format, with what the lift costs as a ratio of
//! means beside its means of ratios.

use std::io;

use rust_decimal::Decimal;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_contract::telemetry::wire::{WireBasis, WireMeasurement};
use skill_lift_contract::telemetry::{Basis, Currency, Measurement, Money};
use skill_lift_stats::describe;
use skill_lift_stats::rational::{self, Rational};

use super::benchmark_json::{Provenance, ReportHead, Tool};
use super::efficiency_json::{EfficiencyBlock, efficiency};
use super::ordered::Ordered;
use super::profile_json::{ESTIMATOR, ProfileJson, profile};
use super::telemetry_json::{AggregateJson, dollars};
use super::variants_json::{Stats, stats};
use crate::analyze::Analysis;
use crate::analyze::table::{Baseline, RunTable, WITH_SKILL};
use crate::analyze::telemetry::{
    Aggregate, BlockedPair, Comparison, ComparisonReason, Difference, OverheadPair, SpentWithoutLift, TokenOverhead,
};
use crate::json::write::pretty;
use crate::runs::index::join_shown;
use crate::skill::SkillProfile;

/// What is reported of one skill.
#[derive(Debug)]
pub struct OverheadReport {
    /// Its top.
    pub head: ReportHead,
    /// The folder of the runs as the user typed it.
    pub runs: String,
    /// The folder that the paths of runs are relative to.
    pub runs_root: String,
    /// How large the skill is.
    pub profile: SkillProfile,
    /// Everything that was computed from the runs.
    pub analysis: Analysis,
    /// What the skill costs within each pair.
    pub overhead: TokenOverhead,
    /// Where it comes from.
    pub provenance: Provenance,
}

#[derive(Serialize)]
struct Whole<'a> {
    generated_at: Option<i64>,
    summary: Totals,
    reports: Vec<Report<'a>>,
    tool: Tool,
}

#[derive(Serialize)]
struct Totals {
    skills: usize,
    skills_with_runtime_pairs: usize,
    runtime_pairs: usize,
    mean_static_skill_tokens: Option<f64>,
    mean_static_reference_tokens: Option<f64>,
}

#[derive(Serialize)]
struct Report<'a> {
    generated_at: Option<i64>,
    manifest: &'a str,
    runs: &'a str,
    skill_name: &'a str,
    summary: Summary<'a>,
    profile: ProfileJson<'a>,
    pairs: Vec<PairJson<'a>>,
    blocked_pairs: Vec<BlockedJson<'a>>,
    skipped_trigger_cases: &'a [String],
    efficiency: EfficiencyBlock<'a>,
    provenance: &'a Provenance,
}

/// Writes the report of some skills.
///
/// # Errors
/// Those of the writer.
pub fn write_overhead(
    writer: &mut dyn io::Write,
    generated_at: Option<i64>,
    reports: &[OverheadReport],
) -> io::Result<()> {
    let pairs = |report: &OverheadReport| report.overhead.pairs.len();
    let mean = |of: fn(&SkillProfile) -> Option<u64>| {
        let known: Vec<f64> =
            reports.iter().filter_map(|report| of(&report.profile)).map(|words| words as f64).collect();
        describe::mean(&known)
    };
    let whole = Whole {
        generated_at,
        summary: Totals {
            skills: reports.len(),
            skills_with_runtime_pairs: reports.iter().filter(|report| pairs(report) > 0).count(),
            runtime_pairs: reports.iter().map(pairs).sum(),
            mean_static_skill_tokens: mean(|profile| profile.skill_tokens),
            mean_static_reference_tokens: mean(|profile| profile.reference_tokens),
        },
        reports: reports.iter().map(report).collect(),
        tool: Tool::default(),
    };
    pretty(&mut *writer, &whole, 0)?;
    writeln!(writer)
}

fn report(report: &OverheadReport) -> Report<'_> {
    let OverheadReport { head, runs, overhead, analysis, .. } = report;
    let pairs = overhead.pairs.iter().map(|pair| PairJson { report, pair });
    let blocked = overhead.blocked.iter().map(|pair| BlockedJson { report, pair });
    Report {
        generated_at: head.generated_at,
        manifest: &head.manifest,
        runs,
        skill_name: &head.skill_name,
        summary: Summary { report },
        profile: profile(&report.profile, head.generated_at, &head.manifest, &head.skill_name),
        pairs: pairs.collect(),
        blocked_pairs: blocked.collect(),
        skipped_trigger_cases: &head.skipped_trigger_cases,
        efficiency: efficiency(&analysis.efficiency),
        provenance: &report.provenance,
    }
}

/// A difference in US dollars; other currencies have no number here.
fn in_dollars(cost: &Comparison<Difference>) -> Option<f64> {
    cost.as_ref().ok().filter(|cost| cost.currency == Currency::USD).map(|cost| dollars(&cost.amount))
}

/// The lift for a dollar, which there is only where the cost is in dollars.
fn per_dollar(pair: &OverheadPair) -> Comparison<f64> {
    let lift = pair.lift_per_cost_unit.as_ref().map_err(|reason| *reason)?;
    match &pair.cost {
        Ok(cost) if cost.currency != Currency::USD => Err(ComparisonReason::CurrencyNotUsd),
        _ => Ok(rational::to_f64(lift)),
    }
}

struct Summary<'a> {
    report: &'a OverheadReport,
}

#[derive(Serialize)]
struct Coverage {
    eligible_pairs: usize,
    blocked_reason_counts: Ordered<usize>,
}

/// Counts reasons in the order in which they come.
fn coverage(eligible_pairs: usize, reasons: impl Iterator<Item = String>) -> Coverage {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for reason in reasons {
        match counts.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason, 1)),
        }
    }
    Coverage { eligible_pairs, blocked_reason_counts: Ordered(counts) }
}

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OverheadReport { head, profile, overhead, analysis, .. } = self.report;
        let pairs = &overhead.pairs;
        let tokens = |of: fn(&OverheadPair) -> &Comparison<i128>| -> Vec<f64> {
            pairs.iter().filter_map(|pair| of(pair).as_ref().ok()).map(|tokens| *tokens as f64).collect()
        };
        let ratios = |of: fn(&OverheadPair) -> &Comparison<Rational>| -> Vec<f64> {
            pairs.iter().filter_map(|pair| of(pair).as_ref().ok()).map(rational::to_f64).collect()
        };
        let blocked = || overhead.blocked.iter().map(|pair| pair.reason.code());
        let total = tokens(|pair| &pair.total_tokens);
        let costs: Vec<f64> = pairs.iter().filter_map(|pair| in_dollars(&pair.cost)).collect();
        let cost_reasons =
            pairs.iter().filter_map(|pair| pair.cost.as_ref().err()).map(|reason| reason.code().to_owned());
        let lifts: Vec<Comparison<f64>> = pairs.iter().map(per_dollar).collect();
        let known_lifts: Vec<f64> = lifts.iter().filter_map(|lift| lift.ok()).collect();
        let lift_reasons = lifts.iter().filter_map(|lift| lift.err()).map(|reason| reason.code().to_owned());
        let static_total = profile.skill_tokens.zip(profile.reference_tokens).map(|(skill, rest)| skill + rest);
        let per_word = describe::mean(&total)
            .zip(profile.skill_tokens.filter(|words| *words > 0))
            .map(|(mean, words)| mean / words as f64);

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("skill_name", &head.skill_name)?;
        map.serialize_entry("static_skill_tokens", &profile.skill_tokens)?;
        map.serialize_entry("static_reference_tokens", &profile.reference_tokens)?;
        map.serialize_entry("static_total_tokens", &static_total)?;
        map.serialize_entry("reference_files", &profile.references.len())?;
        map.serialize_entry("paired_runtime_rows", &pairs.len())?;
        map.serialize_entry("total_token_delta", &stats(&total))?;
        map.serialize_entry("input_token_delta", &stats(&tokens(|pair| &pair.input_tokens)))?;
        map.serialize_entry("output_token_delta", &stats(&tokens(|pair| &pair.output_tokens)))?;
        map.serialize_entry("objective_delta", &stats(&ratios(|pair| &pair.objective)))?;
        let per_thousand: Stats = stats(&ratios(|pair| &pair.lift_per_1k_tokens));
        map.serialize_entry("objective_lift_per_1k_total_tokens", &per_thousand)?;
        map.serialize_entry("cost_delta_usd", &stats(&costs))?;
        map.serialize_entry("cost_delta_coverage", &coverage(costs.len(), cost_reasons.chain(blocked())))?;
        map.serialize_entry("objective_lift_per_dollar", &stats(&known_lifts))?;
        let of_lifts = coverage(known_lifts.len(), lift_reasons.chain(blocked()));
        map.serialize_entry("objective_lift_per_dollar_coverage", &of_lifts)?;
        spent(&mut map, &overhead.spent_without_lift(&analysis.table))?;
        map.serialize_entry("mean_total_overhead_per_static_skill_token", &per_word)?;
        map.serialize_entry("static_token_estimator", ESTIMATOR)?;
        map.end()
    }
}

/// The members about what was spent without lift.
fn spent<M: SerializeMap>(map: &mut M, spent: &SpentWithoutLift) -> Result<(), M::Error> {
    match spent {
        // no pair is an empty sum, which is known; unlike a pair whose cost is not
        SpentWithoutLift::NoPair => {
            map.serialize_entry("saturated_or_no_lift_cost_usd", &0.0)?;
            map.serialize_entry("saturated_or_no_lift_cost_usd_aggregate", &EmptySum)
        }
        SpentWithoutLift::Sum(sum) => {
            let sum: &Aggregate<Decimal> = sum;
            map.serialize_entry("saturated_or_no_lift_cost_usd", &sum.complete().map(|sum| dollars(&sum)))?;
            map.serialize_entry("saturated_or_no_lift_cost_usd_aggregate", &AggregateJson(sum))?;
            match sum.known_part() {
                Some(known) => map.serialize_entry("known_saturated_or_no_lift_cost_usd", &dollars(&known)),
                None => Ok(()),
            }
        }
    }
}

struct EmptySum;

impl Serialize for EmptySum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("availability", "complete")?;
        for count in ["observed_count", "unavailable_count", "not_applicable_count"] {
            map.serialize_entry(count, &0)?;
        }
        map.serialize_entry("reason_counts", &Ordered::<usize>(Vec::new()))?;
        map.serialize_entry("value", &0)?;
        map.end()
    }
}

/// A value with what it rests on, or why it was not taken.
struct ComparisonJson<'c, T, V, B> {
    comparison: &'c Comparison<T>,
    value: fn(&T) -> V,
    basis: Option<B>,
}

impl<T, V: Serialize, B: Serialize> Serialize for ComparisonJson<'_, T, V, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let has_basis = match self.comparison {
            Ok(value) => {
                map.serialize_entry("availability", "comparable")?;
                map.serialize_entry("value", &(self.value)(value))?;
                true
            }
            Err(reason) => {
                map.serialize_entry("availability", "blocked")?;
                map.serialize_entry("reason", reason.code())?;
                // there was a difference to divide by
                matches!(reason, ComparisonReason::NonPositiveDenominator | ComparisonReason::CurrencyNotUsd)
            }
        };
        if let Some(basis) = self.basis.as_ref().filter(|_| has_basis) {
            map.serialize_entry("basis", basis)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct CostBasis<'a> {
    currency: &'a str,
    population: &'static str,
    provider: &'a Option<String>,
    model: Option<&'a str>,
    billing_scope: &'a Option<String>,
}

#[derive(Serialize)]
struct SignedMoney {
    amount: String,
    currency: String,
}

#[derive(Serialize)]
struct Status<'a> {
    availability: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl<'a> Status<'a> {
    fn blocked(reason: &'a str) -> Self {
        Self { availability: "blocked", reason: Some(reason) }
    }
}

struct PairJson<'a> {
    report: &'a OverheadReport,
    pair: &'a OverheadPair,
}

/// The paths of the runs of a pair: as the user would type them, and below the root.
fn run_paths(report: &OverheadReport, index: Option<usize>) -> (Option<String>, Option<&str>) {
    let folder = index.map(|index| report.analysis.table.runs[index].run_dir.as_str());
    (folder.map(|folder| join_shown(&report.runs_root, folder)), folder)
}

impl<'a> PairJson<'a> {
    fn table(&self) -> &'a RunTable {
        &self.report.analysis.table
    }

    fn model(&self) -> Option<&'a str> {
        self.table().model(self.pair.model)
    }

    /// What a measurement of one arm rests on.
    fn basis<'b>(&self, arm: usize, basis: &'b Basis) -> WireBasis<'b>
    where
        'a: 'b,
    {
        WireBasis {
            basis,
            model: self.model(),
            case_id: self.table().case_id(self.pair.case),
            run_number: self.pair.repetition,
            variant: [WITH_SKILL, Baseline::WithoutSkill.variant()][arm],
        }
    }

    fn cost_basis<'b>(&self, cost: &'b Measurement<Money>) -> Option<CostBasis<'b>>
    where
        'a: 'b,
    {
        let currency = cost.value()?.currency.code();
        let Basis { provider, model, billing_scope, .. } = &*cost.basis;
        let model = self.model().or(model.as_deref());
        Some(CostBasis { currency, population: "answer", provider, model, billing_scope })
    }

    fn tokens<M: SerializeMap>(
        &self,
        map: &mut M,
        name: &str,
        measurements: [&Measurement<u64>; 2],
        difference: &Comparison<i128>,
    ) -> Result<(), M::Error> {
        let [with, without] = measurements;
        map.serialize_entry(&format!("with_{name}_tokens"), &with.value())?;
        map.serialize_entry(&format!("without_{name}_tokens"), &without.value())?;
        map.serialize_entry(&format!("{name}_token_delta"), &difference.as_ref().ok())?;
        let basis = Some(self.basis(0, &with.basis));
        let comparison = ComparisonJson { comparison: difference, value: |tokens: &i128| *tokens, basis };
        map.serialize_entry(&format!("{name}_token_delta_comparison"), &comparison)
    }
}

impl Serialize for PairJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pair = self.pair;
        let table = self.table();
        let runs = pair.runs.map(|index| &table.runs[index]);
        let used = pair.runs.map(|index| &table.telemetry[index].telemetry);
        let [with_paths, without_paths] = pair.runs.map(|index| run_paths(self.report, Some(index)));
        let rates = runs.map(|run| run.objective.map(|rate| rational::to_f64(&rate.value())));
        let number = |ratio: &Comparison<Rational>| ratio.as_ref().ok().map(rational::to_f64);

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("case_id", table.case_id(pair.case))?;
        map.serialize_entry("model", &self.model())?;
        map.serialize_entry("pair_status", &Status { availability: "comparable", reason: None })?;
        map.serialize_entry("run_number", &pair.repetition)?;
        map.serialize_entry("with_run_base", &with_paths.0)?;
        map.serialize_entry("without_run_base", &without_paths.0)?;
        map.serialize_entry("with_skill_invoked", &runs[0].skill_loaded)?;
        map.serialize_entry("without_skill_invoked", &runs[1].skill_loaded)?;
        self.tokens(&mut map, "total", used.map(|run| &run.total_tokens), &pair.total_tokens)?;
        self.tokens(&mut map, "input", used.map(|run| &run.input_tokens), &pair.input_tokens)?;
        self.tokens(&mut map, "output", used.map(|run| &run.output_tokens), &pair.output_tokens)?;
        map.serialize_entry("with_objective_pass_rate", &rates[0])?;
        map.serialize_entry("without_objective_pass_rate", &rates[1])?;
        map.serialize_entry("objective_delta", &number(&pair.objective))?;
        let value: fn(&Rational) -> f64 = rational::to_f64;
        let objective = ComparisonJson { comparison: &pair.objective, value, basis: None::<()> };
        map.serialize_entry("objective_delta_comparison", &objective)?;
        map.serialize_entry("objective_lift_per_1k_total_tokens", &number(&pair.lift_per_1k_tokens))?;
        let token_basis = Some(self.basis(0, &used[0].total_tokens.basis));
        let per_thousand = ComparisonJson { comparison: &pair.lift_per_1k_tokens, value, basis: token_basis };
        map.serialize_entry("objective_lift_per_1k_total_tokens_comparison", &per_thousand)?;

        for (arm, key) in ["with_cost", "without_cost"].into_iter().enumerate() {
            let measurement = &used[arm].cost;
            let basis = self.basis(arm, &measurement.basis);
            map.serialize_entry(key, &WireMeasurement { measurement, basis })?;
        }
        for (arm, key) in ["with_cost_usd", "without_cost_usd"].into_iter().enumerate() {
            let cost = used[arm].cost.value().filter(|cost| cost.currency == Currency::USD);
            map.serialize_entry(key, &cost.map(|cost| dollars(&cost.amount)))?;
        }
        map.serialize_entry("cost_delta_usd", &in_dollars(&pair.cost))?;
        let money = ComparisonJson {
            comparison: &pair.cost,
            value: |cost: &Difference| SignedMoney {
                amount: cost.amount.to_string(),
                currency: cost.currency.code().to_owned(),
            },
            basis: self.cost_basis(&used[0].cost),
        };
        map.serialize_entry("cost_delta_comparison", &money)?;
        let lift = per_dollar(pair);
        map.serialize_entry("objective_lift_per_dollar", &lift.ok())?;
        map.serialize_entry("objective_lift_per_cost_unit", &number(&pair.lift_per_cost_unit))?;
        let basis = self.cost_basis(&used[0].cost);
        let per_unit = ComparisonJson { comparison: &pair.lift_per_cost_unit, value, basis };
        map.serialize_entry("objective_lift_per_cost_unit_comparison", &per_unit)?;
        let basis = self.cost_basis(&used[0].cost);
        let per_dollar = ComparisonJson { comparison: &lift, value: |lift: &f64| *lift, basis };
        map.serialize_entry("objective_lift_per_dollar_comparison", &per_dollar)?;
        map.serialize_entry("with_run_dir", &with_paths.1)?;
        map.serialize_entry("without_run_dir", &without_paths.1)?;
        map.end()
    }
}

struct BlockedJson<'a> {
    report: &'a OverheadReport,
    pair: &'a BlockedPair,
}

impl Serialize for BlockedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const COMPARISONS: [&str; 4] = [
            "cost_delta_comparison",
            "objective_lift_per_dollar_comparison",
            "objective_lift_per_1k_total_tokens_comparison",
            "objective_delta_comparison",
        ];
        const VALUES: [&str; 5] = [
            "cost_delta_usd",
            "objective_lift_per_dollar",
            "total_token_delta",
            "objective_lift_per_1k_total_tokens",
            "objective_delta",
        ];
        let table = &self.report.analysis.table;
        let [with_paths, without_paths] = self.pair.runs.map(|index| run_paths(self.report, index));
        let reason = self.pair.reason.code();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("case_id", table.case_id(self.pair.case))?;
        map.serialize_entry("model", &table.model(self.pair.model))?;
        map.serialize_entry("run_number", &self.pair.repetition)?;
        map.serialize_entry("with_run_base", &with_paths.0)?;
        map.serialize_entry("without_run_base", &without_paths.0)?;
        for key in ["pair_status"].into_iter().chain(COMPARISONS) {
            map.serialize_entry(key, &Status::blocked(&reason))?;
        }
        for key in VALUES {
            map.serialize_entry(key, &None::<f64>)?;
        }
        map.serialize_entry("with_run_dir", &with_paths.1)?;
        map.serialize_entry("without_run_dir", &without_paths.1)?;
        map.end()
    }
}
