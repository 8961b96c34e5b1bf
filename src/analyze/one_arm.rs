//! The assertions that only one arm of the lift can satisfy: they stand beside the lift and never in it.

use std::collections::{BTreeMap, BTreeSet};

use super::table::{OneArmOutcome, RunTable, WITH_SKILL};
use crate::suite::AssertionType;
use crate::suite::one_arm::OneArm;

/// Outcomes in the scored runs of one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcomes {
    /// Runs in which it holds.
    pub passed: usize,
    /// Runs in which it was decided.
    pub total: usize,
}

/// One such assertion over all cases that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneArmCriterion {
    /// Its label.
    pub name: String,
    /// Its type.
    pub assertion_type: AssertionType,
    /// Why only one arm can satisfy it.
    pub reason: OneArm,
    /// With the skill.
    pub with_skill: Outcomes,
    /// Without it.
    pub without_skill: Outcomes,
    /// Cases with a run in which it was decided.
    pub cases: usize,
}

/// The criteria of a tree, by name; assertions of different types or reasons are different ones.
pub fn criteria(table: &RunTable) -> Vec<OneArmCriterion> {
    let arms = [WITH_SKILL, table.baseline.variant()].map(|arm| table.variant_position(arm));
    #[derive(Default)]
    struct Found {
        outcomes: [Outcomes; 2],
        cases: BTreeSet<u32>,
    }
    let mut found: BTreeMap<(&str, &str, OneArm), (AssertionType, Found)> = BTreeMap::new();
    for outcome in &table.one_arm {
        let OneArmOutcome { run, name, assertion_type, reason, passed, .. } = outcome;
        let Some(run) = table.runs.get(*run) else { continue };
        let Some(arm) = arms.iter().position(|arm| *arm == Some(run.order.variant)) else { continue };
        let key = (name.as_str(), assertion_type.word(), *reason);
        let (_, found) = found.entry(key).or_insert_with(|| (*assertion_type, Found::default()));
        found.outcomes[arm].total += 1;
        found.outcomes[arm].passed += usize::from(*passed);
        found.cases.insert(run.order.case);
    }
    let criterion = |((name, _, reason), (assertion_type, found)): ((&str, &str, OneArm), (AssertionType, Found))| {
        let [with_skill, without_skill] = found.outcomes;
        OneArmCriterion {
            name: name.to_owned(),
            assertion_type,
            reason,
            with_skill,
            without_skill,
            cases: found.cases.len(),
        }
    };
    found.into_iter().map(criterion).collect()
}
