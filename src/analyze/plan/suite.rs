//! The design that a suite describes before any run.

use std::collections::BTreeSet;

use super::{Assumption, Design, Ground, LeftOut, Repetitions};
use crate::analyze::inference::Unit;
use crate::suite::{Case, Split, Suite};

/// What is said about the runs of a suite, which says nothing of them itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SuiteOptions {
    /// The part of it that is run; all of it without one.
    pub split: Option<Split>,
    /// Runs of each case and model in each arm; once unless given.
    pub repetitions: Option<usize>,
    /// Models; one unless given.
    pub models: Option<usize>,
}

impl Ground {
    /// The ground of a suite: its cases that have an answer.
    pub fn of_suite(suite: &Suite, options: SuiteOptions) -> Self {
        let (trigger, cases): (Vec<&Case>, Vec<&Case>) =
            suite.cases_of(options.split).partition(|case| case.is_trigger());
        let has_families = cases.iter().any(|case| case.family.is_some());
        let names: BTreeSet<&str> =
            cases.iter().map(|case| case.family.as_deref().unwrap_or(case.id.as_str())).collect();
        let (unit, units) = if has_families { (Unit::Family, names.len()) } else { (Unit::Case, cases.len()) };
        let (repetitions, models) = (options.repetitions.unwrap_or(1), options.models.unwrap_or(1));
        let strata = cases.len().saturating_mul(models);
        let mut assumed = Vec::new();
        assumed.extend(options.repetitions.is_none().then_some(Assumption::OneRepetition));
        assumed.extend(options.models.is_none().then_some(Assumption::OneModel));
        let has_no_check =
            |case: &&&Case| case.assertions.is_empty() && case.turns.iter().all(|turn| turn.assertions.is_empty());
        Self {
            is_report: false,
            skill_name: suite.skill_name.clone(),
            design: Design {
                unit,
                units,
                cases: cases.len(),
                models,
                strata,
                repetitions: Repetitions { least: repetitions, most: repetitions },
                pairs: strata.saturating_mul(repetitions),
            },
            left_out: LeftOut {
                trigger_cases: trigger.len(),
                unpaired_cases: 0,
                cases_without_checks: cases.iter().filter(has_no_check).count(),
            },
            deltas: Vec::new(),
            assumed,
            price: None,
            baseline: None,
            alpha: None,
            min_lift: None,
        }
    }
}
