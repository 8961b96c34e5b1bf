//! Every case by itself.

use std::collections::BTreeMap;

use num_traits::{One, Zero};
use skill_lift_stats::multiplicity::benjamini_hochberg;
use skill_lift_stats::permutation::PermutationTest;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{Thresholds, Withheld};

use super::{UnitRates, mean_rates};
use crate::analyze::independence::Independence;
use crate::analyze::pairing::{Diagnostics, Pairing, UnitMeans};
use crate::analyze::table::{RunTable, WITH_SKILL};
use crate::analyze::within_case::RunsOfCases;

/// One case over all its models.
#[derive(Debug)]
pub struct CaseContrast {
    /// Case id.
    pub case_id: String,
    /// Name for people, if it has one beside its id.
    pub name: Option<String>,
    /// Position in the suite.
    pub position: u32,
    /// Its family.
    pub family: Option<String>,
    /// Models (or the stratum without one) behind it.
    pub strata: usize,
    /// Both arms; `None` without an eligible pair.
    pub rates: Option<UnitRates>,
    /// Mean rate of the scored runs of each arm alone, also where no pair counts.
    pub with_skill_alone: Option<Rational>,
    /// The same without the skill.
    pub without_skill_alone: Option<Rational>,
    /// Whether the skill was not loaded in a run that should have it.
    pub skill_not_loaded: bool,
    /// Its pairs.
    pub pairing: Diagnostics,
    /// Exact label permutation of its runs, models as strata: valid if repetitions are independent.
    pub within_case: Result<PermutationTest, Withheld>,
    /// Its p-value adjusted for the number of cases (Benjamini and Hochberg 1995).
    pub p_bh: Option<f64>,
    /// What can be said of the case by itself.
    pub class: CaseClass,
    /// Whether a critical check failed with the skill.
    pub critical_failure: bool,
    /// Gates that wait for a judge.
    pub deferred_gates: u32,
    /// Judgements that were not supplied.
    pub deferred_judgements: u32,
}

/// What can be said of a case by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseClass {
    /// Better with the skill, also after adjusting for the number of cases.
    Improved,
    /// Worse with the skill, also after adjusting for the number of cases.
    Regressed,
    /// Everything passes in both arms.
    Saturated,
    /// Everything fails in both arms.
    Floor,
    /// Its runs do not settle it.
    Inconclusive,
}

impl CaseClass {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Saturated => "saturated",
            Self::Floor => "floor",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// All cases of a tree, in suite order.
pub(super) fn by_case(
    table: &RunTable,
    pairing: &Pairing,
    (runs, independence): (&RunsOfCases, &Independence),
    units: &[UnitMeans],
    thresholds: &Thresholds,
) -> Vec<CaseContrast> {
    let mut tests = runs.tests(table, independence);
    let mut strata: BTreeMap<u32, Vec<&UnitMeans>> = BTreeMap::new();
    for unit in units {
        strata.entry(unit.case).or_default().push(unit);
    }
    let mut diagnostics = pairing.diagnostics_by_case();
    let mut cases: Vec<CaseContrast> = table
        .cases
        .iter()
        .enumerate()
        .filter(|(_, case)| !case.id.is_empty())
        .map(|(position, case)| {
            let position = position as u32;
            let of_case = strata.remove(&position).unwrap_or_default();
            let with: Vec<Rational> = of_case.iter().map(|unit| unit.with_skill.clone()).collect();
            let without: Vec<Rational> = of_case.iter().map(|unit| unit.without_skill.clone()).collect();
            CaseContrast {
                case_id: case.id.clone(),
                name: case.name.clone(),
                position,
                family: case.family.clone(),
                strata: of_case.len(),
                rates: mean_rates(&case.id, &with, &without),
                with_skill_alone: None,
                without_skill_alone: None,
                skill_not_loaded: false,
                pairing: diagnostics.remove(&position).unwrap_or_default(),
                within_case: tests.remove(&position).unwrap_or(Err(Withheld::NoEligiblePairs)),
                p_bh: None,
                class: CaseClass::Inconclusive,
                critical_failure: false,
                deferred_gates: 0,
                deferred_judgements: 0,
            }
        })
        .collect();
    classify(&mut cases, thresholds);
    let index: BTreeMap<u32, usize> = cases.iter().enumerate().map(|(index, case)| (case.position, index)).collect();
    let arms = [WITH_SKILL, table.baseline.variant()].map(|arm| table.variant_position(arm));
    let mut alone: BTreeMap<u32, [Vec<Rational>; 2]> = BTreeMap::new();
    for run in table.runs.iter().filter(|run| run.scorable) {
        let arm = arms.iter().position(|arm| *arm == Some(run.order.variant));
        let has_skill = arm == Some(0);
        if let (Some(arm), Some(rate)) = (arm, run.compared) {
            alone.entry(run.order.case).or_default()[arm].push(rate.value());
        }
        if let Some(case) = index.get(&run.order.case).and_then(|index| cases.get_mut(*index)) {
            case.critical_failure |= has_skill && !run.critical_failures.is_empty();
            case.skill_not_loaded |= has_skill && run.skill_loaded == Some(false);
            case.deferred_gates += run.deferred_gates;
            case.deferred_judgements += run.deferred_judgements;
        }
    }
    for case in &mut cases {
        if let Some([with, without]) = alone.get(&case.position) {
            (case.with_skill_alone, case.without_skill_alone) = (rational::mean(with), rational::mean(without));
        }
    }
    cases
}

fn classify(cases: &mut [CaseContrast], thresholds: &Thresholds) {
    let p_values: Vec<Option<f64>> =
        cases.iter().map(|case| case.within_case.as_ref().ok().map(|test| test.p_two_sided)).collect();
    let alpha = rational::to_f64(thresholds.alpha());
    for (case, p_bh) in cases.iter_mut().zip(benjamini_hochberg(&p_values)) {
        case.p_bh = p_bh;
        let Some(rates) = &case.rates else {
            continue;
        };
        let delta = rates.delta();
        case.class = if rates.with_skill.is_one() && rates.without_skill.is_one() {
            CaseClass::Saturated
        } else if rates.with_skill.is_zero() && rates.without_skill.is_zero() {
            CaseClass::Floor
        } else if p_bh.is_some_and(|p| p <= alpha) && !delta.is_zero() {
            if delta > Rational::zero() { CaseClass::Improved } else { CaseClass::Regressed }
        } else {
            CaseClass::Inconclusive
        };
    }
}
