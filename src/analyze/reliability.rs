//! pass@k and pass^k of repeated runs, and their lift over pairs.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::reliability::{PassEstimate, pass_curve};
use skill_lift_stats::{SignFlip, sign_flip};

use super::pairing::{Diagnostics, Pairing};
use super::table::RunTable;

/// Runs of which some succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Successes {
    /// Runs.
    pub runs: u64,
    /// Runs in which every objective check holds.
    pub passed: u64,
}

impl Successes {
    fn count(&mut self, success: bool) {
        self.runs += 1;
        self.passed += u64::from(success);
    }

    /// Estimates for k = 1 to the number of runs; empty without runs.
    pub fn curve(self) -> Vec<PassEstimate> {
        pass_curve(self.runs, self.passed).unwrap_or_default()
    }
}

/// pass@k and pass^k of one arm of one case, over all models.
#[derive(Debug)]
pub struct CaseVariant {
    /// Case id.
    pub case_id: String,
    /// Arms by name, with their runs.
    pub variants: Vec<(String, Successes)>,
}

/// The lift in pass@k of one (case, model) unit.
#[derive(Debug)]
pub struct UnitLift {
    /// Case id.
    pub case_id: String,
    /// Model.
    pub model: Option<String>,
    /// Paired runs with the skill.
    pub with_skill: Successes,
    /// Paired runs without it.
    pub without_skill: Successes,
    /// Its pairs, also those that do not count.
    pub pairs: Diagnostics,
    /// Differences in pass@k for k = 1 to n.
    pub pass_at_k: Vec<Rational>,
    /// Differences in pass^k for k = 1 to n.
    pub pass_hat_k: Vec<Rational>,
}

/// The lift over several units.
#[derive(Debug)]
pub struct ReliabilityLift {
    /// The units.
    pub units: Vec<UnitLift>,
    /// Mean difference in pass@k, over the units that have that many pairs.
    pub mean_pass_at_k: BTreeMap<usize, Rational>,
    /// Mean difference in pass^k, over the units that have that many pairs.
    pub mean_pass_hat_k: BTreeMap<usize, Rational>,
    /// Exact test over the differences in pass@1.
    pub significance: SignFlip,
    /// The pairs behind it.
    pub pairs: Diagnostics,
}

/// The whole block.
#[derive(Debug)]
pub struct Reliability {
    /// Cases by id, arms by name.
    pub by_case_variant: Vec<CaseVariant>,
    /// For each arm by name the number of cases with a run that is not scored.
    pub partial_cases: BTreeMap<String, usize>,
    /// The lift over all units.
    pub paired: ReliabilityLift,
    /// Each model's own.
    pub by_model: Vec<(String, ReliabilityLift)>,
}

impl Reliability {
    /// The block of a tree.
    pub fn of(table: &RunTable, pairing: &Pairing) -> Self {
        let mut by_case: BTreeMap<&str, BTreeMap<&str, Successes>> = BTreeMap::new();
        for run in table.runs.iter().filter(|run| run.scorable) {
            if let Some(rate) = run.objective {
                let case = by_case.entry(table.case_id(run.order.case)).or_default();
                case.entry(table.variant(run.order.variant)).or_default().count(rate.is_success());
            }
        }
        let by_case_variant = by_case
            .into_iter()
            .map(|(case_id, variants)| CaseVariant {
                case_id: case_id.to_owned(),
                variants: variants.into_iter().map(|(name, successes)| (name.to_owned(), successes)).collect(),
            })
            .collect();
        let unscored = table.runs.iter().filter(|run| !run.scorable);
        let partial: BTreeSet<(u32, u32)> = unscored.map(|run| (run.order.variant, run.order.case)).collect();
        let mut partial_cases = BTreeMap::new();
        for (variant, _) in partial {
            *partial_cases.entry(table.variant(variant).to_owned()).or_default() += 1;
        }
        let strata = table.strata();
        let all = strata.iter().flat_map(|model| units(table, pairing, *model)).collect();
        let by_model = table.models.iter().enumerate().map(|(position, name)| {
            let model = Some(position as u32);
            let pairs = pairing.diagnostics(|pair| pair.model == model);
            (name.clone(), ReliabilityLift::of(units(table, pairing, model), pairs))
        });
        Self {
            by_case_variant,
            partial_cases,
            paired: ReliabilityLift::of(all, pairing.diagnostics(|_| true)),
            by_model: by_model.collect(),
        }
    }
}

fn units(table: &RunTable, pairing: &Pairing, model: Option<u32>) -> Vec<UnitLift> {
    let mut counts: BTreeMap<&str, (Successes, Successes, Diagnostics)> = BTreeMap::new();
    for pair in pairing.pairs.iter().filter(|pair| pair.model == model) {
        let success = |index: Option<usize>| {
            index.and_then(|index| table.runs[index].objective).is_some_and(|rate| rate.is_success())
        };
        let unit = counts.entry(table.case_id(pair.case)).or_default();
        unit.2.add(pair);
        if pair.values.is_ok() {
            unit.0.count(success(pair.with_skill));
            unit.1.count(success(pair.without_skill));
        }
    }
    counts
        .into_iter()
        .filter(|(_, (_, _, pairs))| pairs.eligible > 0)
        .map(|(case_id, (with_skill, without_skill, pairs))| {
            let (with_curve, without_curve) = (with_skill.curve(), without_skill.curve());
            let differences = |of: fn(&PassEstimate) -> Rational| {
                with_curve.iter().zip(&without_curve).map(|(with, without)| of(with) - of(without)).collect()
            };
            UnitLift {
                case_id: case_id.to_owned(),
                model: table.model(model).map(str::to_owned),
                with_skill,
                without_skill,
                pairs,
                pass_at_k: differences(PassEstimate::pass_at_k_exact),
                pass_hat_k: differences(PassEstimate::pass_hat_k_exact),
            }
        })
        .collect()
}

impl ReliabilityLift {
    fn of(units: Vec<UnitLift>, pairs: Diagnostics) -> Self {
        let first: Vec<Rational> = units.iter().filter_map(|unit| unit.pass_at_k.first().cloned()).collect();
        let by_k = |of: fn(&UnitLift) -> &Vec<Rational>| {
            let mut values: BTreeMap<usize, Vec<Rational>> = BTreeMap::new();
            for unit in &units {
                for (index, difference) in of(unit).iter().enumerate() {
                    values.entry(index + 1).or_default().push(difference.clone());
                }
            }
            values.into_iter().filter_map(|(k, values)| Some((k, rational::mean(&values)?))).collect()
        };
        Self {
            mean_pass_at_k: by_k(|unit| &unit.pass_at_k),
            mean_pass_hat_k: by_k(|unit| &unit.pass_hat_k),
            significance: sign_flip(&first),
            pairs,
            units,
        }
    }
}
