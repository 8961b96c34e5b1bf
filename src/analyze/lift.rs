//! The lift over (case, model) units, as version 0.6 of the report format has it: the headline and each model.

use rayon::prelude::*;
use skill_lift_stats::describe;
use skill_lift_stats::rational::Rational;
use skill_lift_stats::{SignFlip, sign_flip};

use super::pairing::{Pairing, RoundedMeans, UnitMeans};
use super::table::RunTable;

/// The lift over some units.
#[derive(Debug)]
pub struct PairedBlock {
    /// Mean with the skill; `None` without units. A mean of doubles, rounded once, as the format has it.
    pub with_skill: Option<f64>,
    /// Mean without it.
    pub without_skill: Option<f64>,
    /// Mean difference.
    pub mean_delta: Option<f64>,
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
        let mean = |of: fn(&RoundedMeans) -> f64| {
            describe::mean(&units.iter().map(|unit| of(&unit.rounded)).collect::<Vec<_>>())
        };
        let deltas: Vec<Rational> = units.iter().map(UnitMeans::delta).collect();
        Self {
            with_skill: mean(|rounded| rounded.with_skill),
            without_skill: mean(|rounded| rounded.without_skill),
            mean_delta: mean(|rounded| rounded.with_skill - rounded.without_skill),
            significance: sign_flip(&deltas),
            units,
        }
    }

    /// Mean with minus mean without.
    pub fn delta(&self) -> Option<f64> {
        Some(self.with_skill? - self.without_skill?)
    }

    /// Share of the possible gain that was realised; `None` for a loss or a perfect baseline.
    pub fn normalized_gain(&self) -> Option<f64> {
        let (with, without) = (self.with_skill?, self.without_skill?);
        (with >= without && without < 1.0).then(|| (with - without) / (1.0 - without))
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
