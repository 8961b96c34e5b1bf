//! The label permutation of the runs of each case, and of all cases together: what the repetitions say if they are
//! independent of each other. It never decides: runs of an arm that share a server, a day or a cache look alike for that
//! reason, and the test takes the likeness for an effect of the skill.

use std::collections::BTreeMap;

use skill_lift_stats::Withheld;
use skill_lift_stats::permutation::{PermutationTest, Stratum, permutation_test};
use skill_lift_stats::rational::Rational;
use skill_lift_stats::variance::{mean_noise, run_noise};

use super::independence::Independence;
use super::pairing::Pairing;
use super::table::{RunTable, WITH_SKILL};

/// Strata of the test over all cases. It has something to say where few cases have many runs; over a hundred strata it would
/// take longer than the rest of a report.
pub(super) const MOST_STRATA: usize = 32;

/// The rates of the runs of one case with one model, with the skill and without it.
#[derive(Debug, Default)]
struct Arms {
    with: Vec<Rational>,
    without: Vec<Rational>,
}

impl Arms {
    fn stratum(&self) -> Stratum<'_> {
        Stratum { with: &self.with, without: &self.without }
    }
}

/// The scored runs of every case, by model, but for those of pairs that are unfit for inference. No pairing by repetition
/// number is needed for them.
#[derive(Debug)]
pub struct RunsOfCases {
    arms: BTreeMap<u32, BTreeMap<Option<u32>, Arms>>,
    counted: Vec<usize>,
}

impl RunsOfCases {
    /// The runs of a tree.
    pub fn of(table: &RunTable, pairing: &Pairing) -> Self {
        let mut runs: BTreeMap<u32, BTreeMap<Option<u32>, Arms>> = BTreeMap::new();
        let mut counted = Vec::with_capacity(table.runs.len());
        let with_skill = table.variant_position(WITH_SKILL);
        let without_skill = table.variant_position(table.baseline.variant());
        let unfit = pairing.runs_unfit_for_inference();
        for (index, run) in table.runs.iter().enumerate().filter(|(_, run)| run.scorable) {
            let Some(rate) = run.compared.filter(|_| !unfit.contains(&index)) else {
                continue;
            };
            let arms = runs.entry(run.order.case).or_default().entry(run.order.model).or_default();
            if Some(run.order.variant) == with_skill {
                arms.with.push(rate.value());
            } else if Some(run.order.variant) == without_skill {
                arms.without.push(rate.value());
            } else {
                continue;
            }
            counted.push(index);
        }
        Self { arms: runs, counted }
    }

    /// Indices of the runs of both arms.
    pub fn counted(&self) -> &[usize] {
        &self.counted
    }

    /// Cases, each with each model.
    pub fn strata(&self) -> usize {
        self.arms.values().map(BTreeMap::len).sum()
    }

    /// For each case its own test, models as strata; withheld where its runs are no independent trials.
    pub fn tests(
        &self,
        table: &RunTable,
        independence: &Independence,
    ) -> BTreeMap<u32, Result<PermutationTest, Withheld>> {
        let doubts = independence.doubts();
        let test = |(case, strata): (&u32, &BTreeMap<Option<u32>, Arms>)| {
            if doubts(table.case_id(*case)) {
                return (*case, Err(Withheld::RunsNotIndependent));
            }
            let strata: Vec<Stratum<'_>> = strata.values().map(Arms::stratum).collect();
            (*case, permutation_test(&strata))
        };
        self.arms.iter().map(test).collect()
    }

    /// The test over all cases, each with each model as a stratum; withheld for more than 32 of them, and where runs are no
    /// independent trials.
    pub fn overall(&self, independence: &Independence) -> Result<PermutationTest, Withheld> {
        if independence.is_doubtful() {
            return Err(Withheld::RunsNotIndependent);
        }
        let strata: Vec<Stratum<'_>> = self.arms.values().flat_map(BTreeMap::values).map(Arms::stratum).collect();
        if strata.len() > MOST_STRATA { Err(Withheld::BeyondExactBudget) } else { permutation_test(&strata) }
    }

    /// The variance that the noise of its runs gives to the delta of a case: the mean over its models. `None` unless all of
    /// them have two runs in both arms.
    pub fn noise(&self, case: u32) -> Option<Rational> {
        let strata = self.arms.get(&case)?;
        let both = strata.values().filter(|arms| !arms.with.is_empty() && !arms.without.is_empty());
        mean_noise(&both.map(|arms| run_noise(&arms.stratum())).collect::<Vec<_>>())
    }
}
