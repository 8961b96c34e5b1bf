//! Which runs were planned: those that a plan lists, else every case with every model and repetition that was seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{PlanOfSuite, PlannedBy, is_found};
use crate::analyze::table::{Run, RunTable, WITH_SKILL};
use crate::runs::PlannedRun;

/// The planned runs of a tree, and where the runs that are there belong.
pub(super) struct Design {
    pub(super) planned_by: PlannedBy,
    /// The stratum of each run: its model, as the plan names it if there is one.
    pub(super) strata: Vec<u32>,
    /// Whether a run stands in no plan; without a plan all are as planned.
    unplanned: Vec<bool>,
    pub(super) planned: Planned,
}

/// How many runs were planned.
pub(super) enum Planned {
    /// Those of a list, by case, stratum and arm.
    Listed(BTreeMap<(u32, u32, u32), usize>),
    /// All that are a combination.
    Product {
        /// Cases.
        cases: usize,
        /// Strata, which every case has.
        strata: u32,
        /// Repetitions of each arm, by position.
        repetitions: Vec<usize>,
    },
}

impl Design {
    pub(super) fn is_unplanned(&self, run: usize) -> bool {
        self.unplanned.get(run).copied().unwrap_or_default()
    }

    pub(super) fn planned_of_arm(&self, arm: u32) -> usize {
        match &self.planned {
            Planned::Listed(runs) => {
                runs.iter().filter(|((_, _, variant), _)| *variant == arm).map(|(_, count)| count).sum()
            }
            Planned::Product { cases, strata, repetitions } => {
                let repetitions = repetitions.get(arm as usize).copied().unwrap_or_default();
                cases.saturating_mul(*strata as usize).saturating_mul(repetitions)
            }
        }
    }
}

/// The design that a tree shows. The arms that are compared have the same repetitions; another arm has its own.
pub(super) fn of_tree(table: &RunTable) -> Design {
    let models = table.models.len() as u32;
    // a run that broke off early may not name its model: where there is but one, it is that one
    let stratum = |run: &Run| if models <= 1 { 0 } else { run.order.model.unwrap_or(models) };
    let is_measured = |run: &&Run| run.scorable && run.objective.is_some();
    let has_unlabelled = models > 1 && table.runs.iter().filter(is_measured).any(|run| run.order.model.is_none());
    let mut seen: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); table.variants.len()];
    for run in table.runs.iter().filter(|run| is_found(run)) {
        if let Some(seen) = seen.get_mut(run.order.variant as usize) {
            seen.insert(run.order.repetition);
        }
    }
    let compared: Vec<usize> = [WITH_SKILL, table.baseline.variant()]
        .into_iter()
        .filter_map(|arm| table.variant_position(arm))
        .map(|arm| arm as usize)
        .collect();
    let of_both: BTreeSet<u32> = compared.iter().flat_map(|arm| seen[*arm].iter().copied()).collect();
    let repetitions = seen.iter().enumerate().map(|(arm, own)| {
        let numbers = if compared.contains(&arm) { &of_both } else { own };
        numbers.len().max(1)
    });
    Design {
        planned_by: PlannedBy::Seen,
        strata: table.runs.iter().map(stratum).collect(),
        unplanned: Vec::new(),
        planned: Planned::Product {
            cases: table.cases.iter().filter(|case| !case.id.is_empty()).count(),
            strata: models.max(1) + u32::from(has_unlabelled),
            repetitions: repetitions.collect(),
        },
    }
}

/// The design that a plan lists, as far as its cases and arms are graded.
pub(super) fn of_plan(table: &RunTable, of_suite: &PlanOfSuite) -> Design {
    let plan = &of_suite.plan;
    let cases: HashMap<&str, u32> = (0..table.cases.len() as u32).map(|case| (table.case_id(case), case)).collect();
    let graded: Vec<(u32, u32, &PlannedRun)> = plan
        .runs
        .iter()
        .filter_map(|run| Some((*cases.get(run.case_id.as_str())?, table.variant_position(&run.variant)?, run)))
        .collect();
    let found_in = find(table, &graded);
    let mut strata: BTreeMap<Option<&str>, u32> = BTreeMap::new();
    let mut stratum = |model| {
        let next = strata.len() as u32;
        *strata.entry(model).or_insert(next)
    };
    let mut listed: BTreeMap<(u32, u32, u32), usize> = BTreeMap::new();
    let mut of_runs: Vec<Option<u32>> = vec![None; table.runs.len()];
    for ((case, variant, run), found) in graded.iter().zip(&found_in) {
        let stratum = stratum(run.model.as_deref());
        *listed.entry((*case, stratum, *variant)).or_default() += 1;
        if let Some(index) = found {
            of_runs[*index] = Some(stratum);
        }
    }
    let runs = table.runs.iter().zip(&of_runs);
    Design {
        planned_by: PlannedBy::Plan {
            design_sha256: plan.design_sha256.clone(),
            listed: plan.runs.len(),
            not_graded: plan.runs.len() - graded.len(),
            same_suite: of_suite.same_suite,
        },
        strata: runs.map(|(run, planned)| planned.unwrap_or_else(|| stratum(table.model(run.order.model)))).collect(),
        unplanned: of_runs.iter().map(Option::is_none).collect(),
        planned: Planned::Listed(listed),
    }
}

/// The run of each entry of a plan: the one in its directory, which may name a model that the plan leaves open, else the
/// one with its identity.
fn find(table: &RunTable, planned: &[(u32, u32, &PlannedRun)]) -> Vec<Option<usize>> {
    let found = || table.runs.iter().enumerate().filter(|(_, run)| is_found(run));
    let by_directory: HashMap<&str, usize> = found().map(|(index, run)| (run.run_dir.as_str(), index)).collect();
    let by_key: HashMap<(u32, u32, u32, Option<&str>), usize> = found()
        .map(|(index, run)| {
            let order = run.order;
            ((order.case, order.variant, order.repetition, table.model(order.model)), index)
        })
        .collect();
    let mut taken = vec![false; table.runs.len()];
    let mut take = |index: usize| !std::mem::replace(&mut taken[index], true);
    let in_directory = |(case, variant, run): &(u32, u32, &PlannedRun)| {
        let index = *by_directory.get(run.run_dir.as_str())?;
        let order = table.runs[index].order;
        let is_it = order.case == *case && order.variant == *variant && order.repetition == run.repetition;
        is_it.then_some(index)
    };
    let mut runs: Vec<Option<usize>> =
        planned.iter().map(|entry| in_directory(entry).filter(|index| take(*index))).collect();
    for ((case, variant, run), place) in planned.iter().zip(&mut runs).filter(|(_, place)| place.is_none()) {
        let key = (*case, *variant, run.repetition, run.model.as_deref());
        *place = by_key.get(&key).copied().filter(|index| take(*index));
    }
    runs
}
