//! Cases that need a look: saturated, hopeless, worse, unstable, vetoed.

use std::collections::{BTreeMap, BTreeSet};

use num_traits::{One, Zero};
use skill_lift_stats::rational::{self, Rational};

use super::pairing::{Diagnostics, Pairing};
use super::table::{Run, RunTable};
use crate::suite::EvalIntent;

/// Mean soft score below which a saturated case is called forgettable, in ten-thousandths.
const FORGETTABLE_BELOW_E4: u64 = 7_500;

/// One flag of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flag {
    /// Both arms always pass everything.
    Saturated,
    /// Saturated, but the soft scores with the skill are low.
    Forgettable,
    /// Both arms always fail everything.
    Floor,
    /// The skill's arm is not better.
    NoLift,
    /// The skill's arm does not always pass.
    WithSkillFailure,
    /// Repetitions of one arm and one model differ.
    Flaky {
        /// The arm.
        variant: String,
    },
    /// Critical checks failed.
    CriticalFailure {
        /// The arm.
        variant: String,
        /// The checks.
        names: Vec<String>,
    },
    /// Soft checks with the skill are below the case's reference score.
    BelowReferenceFloor {
        /// The checks.
        names: Vec<String>,
    },
}

/// The flags of one case.
#[derive(Debug)]
pub struct CaseFlags {
    /// Case id.
    pub case_id: String,
    /// In the order of [`Flag`].
    pub flags: Vec<Flag>,
    /// Mean over the eligible pairs with the skill, all models.
    pub with_skill: Rational,
    /// Mean without it.
    pub without_skill: Rational,
    /// Pairs of the case.
    pub pairing: Diagnostics,
    /// What the case is for.
    pub eval_intent: EvalIntent,
}

/// The flagged cases, by id. A case without an eligible pair has no flags.
pub fn case_flags(table: &RunTable, pairing: &Pairing) -> Vec<CaseFlags> {
    let mut runs_of_case: BTreeMap<u32, Vec<&Run>> = BTreeMap::new();
    for run in &table.runs {
        runs_of_case.entry(run.order.case).or_default().push(run);
    }
    let mut pairs_of_case: BTreeMap<u32, Vec<(usize, Rational, Rational)>> = BTreeMap::new();
    for (pair, values) in pairing.eligible() {
        if let Some(with_skill) = pair.with_skill {
            let entry = (with_skill, values.with_skill.clone(), values.without_skill.clone());
            pairs_of_case.entry(pair.case).or_default().push(entry);
        }
    }
    let mut diagnostics: BTreeMap<u32, Diagnostics> = BTreeMap::new();
    for pair in &pairing.pairs {
        diagnostics.entry(pair.case).or_default().add(pair);
    }
    table
        .cases_by_id()
        .into_iter()
        .filter_map(|case| {
            let pairs = pairs_of_case.get(&case)?;
            let with_skill = rational::mean(&pairs.iter().map(|(_, with, _)| with.clone()).collect::<Vec<_>>())?;
            let without_skill =
                rational::mean(&pairs.iter().map(|(_, _, without)| without.clone()).collect::<Vec<_>>())?;
            let paired: Vec<&Run> = pairs.iter().map(|(index, _, _)| &table.runs[*index]).collect();
            let runs = runs_of_case.get(&case).map(Vec::as_slice).unwrap_or_default();
            let flags = flags_of_case(table, runs, &paired, &with_skill, &without_skill);
            if flags.is_empty() {
                return None;
            }
            Some(CaseFlags {
                case_id: table.case_id(case).to_owned(),
                flags,
                with_skill,
                without_skill,
                pairing: diagnostics.remove(&case).unwrap_or_default(),
                eval_intent: table.cases[case as usize].eval_intent,
            })
        })
        .collect()
}

fn flags_of_case(table: &RunTable, runs: &[&Run], paired: &[&Run], with: &Rational, without: &Rational) -> Vec<Flag> {
    let mut flags = Vec::new();
    if with.is_one() && without.is_one() {
        flags.push(Flag::Saturated);
        let scores: Vec<u64> = paired.iter().filter_map(|run| run.graded_score_e4).map(u64::from).collect();
        if !scores.is_empty() && scores.iter().sum::<u64>() < FORGETTABLE_BELOW_E4 * scores.len() as u64 {
            flags.push(Flag::Forgettable);
        }
    }
    if with.is_zero() && without.is_zero() {
        flags.push(Flag::Floor);
    }
    if with <= without {
        flags.push(Flag::NoLift);
    }
    if !with.is_one() {
        flags.push(Flag::WithSkillFailure);
    }
    let mut seen: Vec<u32> = Vec::new();
    for run in runs.iter().filter(|run| run.scorable) {
        if !seen.contains(&run.order.variant) {
            seen.push(run.order.variant);
        }
    }
    for variant in seen {
        let of_variant = || runs.iter().filter(move |run| run.scorable && run.order.variant == variant);
        let mut rates: BTreeMap<Option<u32>, BTreeSet<Rational>> = BTreeMap::new();
        for run in of_variant() {
            if let Some(rate) = run.objective {
                rates.entry(run.order.model).or_default().insert(rate.value());
            }
        }
        let name = table.variant(variant).to_owned();
        if rates.values().any(|rates| rates.len() > 1) {
            flags.push(Flag::Flaky { variant: name.clone() });
        }
        let names: BTreeSet<&String> = of_variant().flat_map(|run| &run.critical_failures).collect();
        if !names.is_empty() {
            flags.push(Flag::CriticalFailure { variant: name, names: names.into_iter().cloned().collect() });
        }
    }
    let below: BTreeSet<&String> = paired.iter().flat_map(|run| &run.below_reference_floor).collect();
    if !below.is_empty() {
        flags.push(Flag::BelowReferenceFloor { names: below.into_iter().cloned().collect() });
    }
    flags
}
