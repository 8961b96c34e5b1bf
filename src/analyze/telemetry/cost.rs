//! What all runs of a tree cost. Every run counts, also those that failed: they were paid for.

use std::collections::BTreeMap;

use skill_lift_contract::BlockedReason;
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::describe;

use super::aggregate::{CountStats, MoneyStats, PopulationRule};
use super::compare::{Comparison, ComparisonReason, Difference, PairIdentity, compare_cost};
use super::spend::{Coverage, Spend, Totals};
use crate::analyze::pairing::{Diagnostics, Pairing};
use crate::analyze::table::{RunTable, WITH_SKILL};
use crate::runs::RunTelemetry;

/// The whole block.
#[derive(Debug)]
pub struct CostSummary {
    /// How many runs say what they used.
    pub coverage: Coverage,
    /// What all runs used together.
    pub totals: Totals,
    /// Runs with an answer that did not finish.
    pub execution_errors: usize,
    /// Arms by name.
    pub by_variant: Vec<VariantCost>,
    /// Cases by id.
    pub by_case: Vec<(String, Spend)>,
    /// Differences within pairs.
    pub paired: PairedCosts,
    /// What the ablation arms cost.
    pub ablations: Spend,
}

/// What the runs of an arm cost.
#[derive(Debug)]
pub struct VariantCost {
    /// Its name.
    pub variant: String,
    /// Its runs.
    pub runs: usize,
    /// Their tokens.
    pub tokens: CountStats,
    /// Their US dollars.
    pub dollars: MoneyStats,
}

/// Differences in cost within pairs.
#[derive(Debug)]
pub struct PairedCosts {
    /// Every case by id.
    pub by_case: Vec<(String, CasePairedCost)>,
    /// Pairs in which both runs are there, and the others.
    pub pairing: Diagnostics,
    /// Mean over the cases of their mean difference, by currency; a mean of doubles, unrounded.
    pub mean_by_currency: BTreeMap<Currency, f64>,
}

/// Differences in cost within the pairs of one case.
#[derive(Debug)]
pub struct CasePairedCost {
    /// Mean difference and number of pairs of each currency, in the order in which they came.
    pub by_currency: Vec<(Currency, f64, usize)>,
    /// Pairs that could be compared.
    pub eligible: usize,
    /// Those that could not.
    pub blocked: usize,
    /// Why not, with counts, in the order in which the reasons came.
    pub reasons: Vec<(String, usize)>,
}

impl CostSummary {
    /// The block of a tree. `pairing` is the one of its headline contrast: who is whose partner, whatever their scores.
    pub fn of(table: &RunTable, pairing: &Pairing) -> Self {
        let all = || table.telemetry.iter().map(|run| &run.telemetry);
        let of_variant = |position: u32| {
            let pairs = table.runs.iter().zip(table.telemetry.iter());
            pairs.filter(move |(run, _)| run.order.variant == position).map(|(_, used)| &used.telemetry)
        };
        let mut variants: Vec<u32> = (0..table.variants.len() as u32).collect();
        variants.retain(|position| of_variant(*position).next().is_some());
        variants.sort_by(|a, b| table.variant(*a).cmp(table.variant(*b)));
        let by_variant = variants.iter().map(|position| VariantCost {
            variant: table.variant(*position).to_owned(),
            runs: of_variant(*position).count(),
            tokens: CountStats::of(of_variant(*position).map(|run| &run.total_tokens), PopulationRule::OfRows),
            dollars: MoneyStats::of(of_variant(*position).map(|run| &run.cost), PopulationRule::OfRows),
        });
        let mut by_case: BTreeMap<u32, Vec<&RunTelemetry>> = BTreeMap::new();
        for (run, used) in table.runs.iter().zip(table.telemetry.iter()) {
            by_case.entry(run.order.case).or_default().push(&used.telemetry);
        }
        let cases: Vec<u32> = table.cases_by_id().into_iter().filter(|case| by_case.contains_key(case)).collect();
        let is_ablation = |position: u32| table.variant(position).starts_with("ablation:");
        let ablations = table.runs.iter().zip(table.telemetry.iter());
        let ablations = ablations.filter(|(run, _)| is_ablation(run.order.variant)).map(|(_, used)| &used.telemetry);
        Self {
            coverage: Coverage::of(all()),
            totals: Totals::of(all(), PopulationRule::OfRows),
            execution_errors: table.runs.iter().filter(|run| !run.missing_output && !run.execution_valid).count(),
            by_variant: by_variant.collect(),
            by_case: cases
                .iter()
                .map(|case| (table.case_id(*case).to_owned(), Spend::of(by_case[case].iter().copied())))
                .collect(),
            paired: PairedCosts::of(table, pairing, &cases),
            ablations: Spend::of(ablations),
        }
    }
}

impl PairedCosts {
    fn of(table: &RunTable, pairing: &Pairing, cases: &[u32]) -> Self {
        let mut diagnostics = Diagnostics::default();
        let mut missing: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        let mut compared: BTreeMap<u32, Vec<Comparison<Difference>>> = BTreeMap::new();
        for pair in &pairing.pairs {
            match (pair.with_skill, pair.without_skill) {
                (Some(with), Some(without)) => {
                    diagnostics.eligible += 1;
                    let runs = [with, without];
                    let identity = PairIdentity {
                        models: [table.model(pair.model); 2],
                        scorable: runs.map(|index| table.runs[index].scorable),
                    };
                    let costs = runs.map(|index| &table.telemetry[index].telemetry.cost);
                    compared.entry(pair.case).or_default().push(compare_cost(identity, costs));
                }
                (with, _) => {
                    let absent = if with.is_none() { WITH_SKILL } else { table.baseline.variant() };
                    let reason = BlockedReason::MissingArm { variant: absent.to_owned() }.code();
                    diagnostics.blocked += 1;
                    *diagnostics.reasons.entry(reason.clone()).or_default() += 1;
                    missing.entry(pair.case).or_default().push(reason);
                }
            }
        }
        let by_case: Vec<(String, CasePairedCost)> = cases
            .iter()
            .map(|case| {
                let absent = missing.get(case).map(Vec::as_slice).unwrap_or_default();
                let pairs = compared.get(case).map(Vec::as_slice).unwrap_or_default();
                (table.case_id(*case).to_owned(), CasePairedCost::of(absent, pairs))
            })
            .collect();
        let mut means: BTreeMap<Currency, Vec<f64>> = BTreeMap::new();
        for (currency, mean, _) in by_case.iter().flat_map(|(_, case)| &case.by_currency) {
            means.entry(*currency).or_default().push(*mean);
        }
        let mean_by_currency =
            means.into_iter().filter_map(|(currency, means)| Some((currency, describe::mean(&means)?))).collect();
        Self { by_case, pairing: diagnostics, mean_by_currency }
    }
}

impl CasePairedCost {
    fn of(absent: &[String], pairs: &[Comparison<Difference>]) -> Self {
        let mut amounts: Vec<(Currency, Vec<f64>)> = Vec::new();
        let mut reasons: Vec<(String, usize)> = Vec::new();
        let mut block = |reason: &str| match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason.to_owned(), 1)),
        };
        absent.iter().for_each(|reason| block(reason));
        for pair in pairs {
            match pair {
                Err(reason) => block(reason.code()),
                Ok(Difference { amount, currency }) => {
                    let amount = amount.to_string().parse().unwrap_or_default();
                    match amounts.iter_mut().find(|(known, _)| known == currency) {
                        Some((_, amounts)) => amounts.push(amount),
                        None => amounts.push((*currency, vec![amount])),
                    }
                }
            }
        }
        let eligible = amounts.iter().map(|(_, amounts)| amounts.len()).sum();
        let by_currency = amounts.into_iter().filter_map(|(currency, amounts)| {
            let pairs = amounts.len();
            describe::mean(&amounts).map(|mean| (currency, mean, pairs))
        });
        Self {
            by_currency: by_currency.collect(),
            eligible,
            blocked: reasons.iter().map(|(_, count)| count).sum(),
            reasons,
        }
    }

    /// The one currency of the pairs, with their mean difference.
    ///
    /// # Errors
    /// When there are several, or none.
    pub fn single(&self) -> Result<(Currency, f64), Option<ComparisonReason>> {
        match self.by_currency.as_slice() {
            [(currency, mean, _)] => Ok((*currency, *mean)),
            [] => Err(None),
            _ => Err(Some(ComparisonReason::MixedCurrencyPairs)),
        }
    }
}
