//! The lift over (case, model) units, as version 0.6 of the report format has it: the headline and each model.

use num_traits::One;
use rayon::prelude::*;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, sign_flip};

use super::pairing::{Pairing, UnitMeans};
use super::table::RunTable;

/// The lift over some units.
#[derive(Debug)]
pub struct PairedBlock {
    /// Mean with the skill; `None` without units.
    pub with_skill: Option<Rational>,
    /// Mean without it.
    pub without_skill: Option<Rational>,
    /// Share of the possible gain that was realised; `None` for a loss or a perfect baseline.
    pub normalized_gain: Option<Rational>,
    /// Exact test over the deltas of the units.
    pub significance: SignFlip,
    /// The units.
    pub units: Vec<UnitMeans>,
}

/// The lift over all units and each model's own.
#[derive(Debug)]
pub struct PairedSummary {
    /// All units.
    pub overall: PairedBlock,
    /// The soft scores, when there is a pair that has them.
    pub graded: Option<PairedBlock>,
    /// Each model's units, models by name.
    pub by_model: Vec<(String, PairedBlock)>,
}

impl PairedBlock {
    /// The block over some units.
    pub fn of(units: Vec<UnitMeans>) -> Self {
        let mean = |of: fn(&UnitMeans) -> &Rational| {
            rational::mean(&units.iter().map(|unit| of(unit).clone()).collect::<Vec<_>>())
        };
        let with_skill = mean(|unit| &unit.with_skill);
        let without_skill = mean(|unit| &unit.without_skill);
        let normalized_gain = match (&with_skill, &without_skill) {
            (Some(with), Some(without)) if with >= without && !without.is_one() => {
                Some((with - without) / (Rational::one() - without))
            }
            _ => None,
        };
        let deltas: Vec<Rational> = units.iter().map(UnitMeans::delta).collect();
        Self { with_skill, without_skill, normalized_gain, significance: sign_flip(&deltas), units }
    }

    /// Mean with minus mean without.
    pub fn delta(&self) -> Option<Rational> {
        Some(self.with_skill.as_ref()? - self.without_skill.as_ref()?)
    }
}

impl PairedSummary {
    /// The summary of both metrics.
    pub fn of(table: &RunTable, objective: &Pairing, graded: &Pairing) -> Self {
        let graded_units = graded.all_units(table);
        let (by_model, overall) = rayon::join(
            || {
                let models = table.models.par_iter().enumerate();
                let block = |position| PairedBlock::of(objective.units(table, Some(position as u32)));
                models.map(|(position, name)| (name.clone(), block(position))).collect()
            },
            || PairedBlock::of(objective.all_units(table)),
        );
        Self {
            overall,
            graded: if graded_units.is_empty() { None } else { Some(PairedBlock::of(graded_units)) },
            by_model,
        }
    }
}
