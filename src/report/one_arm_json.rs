//! `one_arm_criteria` of the block `inference`: what the lift leaves out because only one arm can satisfy it.

use serde::Serialize;

use crate::analyze::one_arm::{OneArmCriterion, Outcomes};

#[derive(Serialize)]
pub(super) struct CriterionBlock {
    assertion: String,
    #[serde(rename = "type")]
    assertion_type: &'static str,
    reason: &'static str,
    arms: &'static [&'static str],
    with: OutcomesBlock,
    without: OutcomesBlock,
    cases: usize,
}

#[derive(Serialize)]
struct OutcomesBlock {
    passed: usize,
    total: usize,
}

pub(super) fn block(criteria: &[OneArmCriterion]) -> Vec<CriterionBlock> {
    let outcomes = |Outcomes { passed, total }: Outcomes| OutcomesBlock { passed, total };
    let block = |criterion: &OneArmCriterion| CriterionBlock {
        assertion: criterion.name.clone(),
        assertion_type: criterion.assertion_type.word(),
        reason: criterion.reason.code(),
        arms: criterion.reason.arms(),
        with: outcomes(criterion.with_skill),
        without: outcomes(criterion.without_skill),
        cases: criterion.cases,
    };
    criteria.iter().map(block).collect()
}
