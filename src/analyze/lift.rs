//! The lift over (case, model) units, as version 0.6 of the report format has it: the headline and each model.

use rayon::prelude::*;
use skill_lift_stats::describe;
use skill_lift_stats::inversion::{InversionInterval, inversion_interval};
use skill_lift_stats::noise_check::{NoiseCheck, NoiseTargets, noise_check};
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Withheld, sign_flip};

use super::AnalysisOptions;
use super::pairing::{Diagnostics, Pairing, RoundedMeans, UnitMeans};
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
    /// The pairs behind them, and those that do not count.
    pub pairs: Diagnostics,
    /// Limits of the lift and whether it could be told from noise, as the later state of the reference has them.
    pub noise: Noise,
}

/// Limits by inverting the sign-flip test, and whether a lift could be told from noise.
#[derive(Debug)]
pub struct Noise {
    /// The limits.
    pub interval: Result<InversionInterval, Withheld>,
    /// The check.
    pub check: NoiseCheck,
    /// The error rate of both.
    pub alpha: Rational,
    /// The smallest lift that matters, where the user named one.
    pub min_lift: Option<Rational>,
}

impl Noise {
    fn of(deltas: &[Rational], baseline: Option<&Rational>, options: &AnalysisOptions) -> Self {
        let alpha = options.thresholds.alpha();
        let interval = inversion_interval(deltas, alpha);
        let min_lift = options.asked_min_lift();
        let check = noise_check(deltas, &interval, alpha, &NoiseTargets { baseline, min_lift });
        Self { check, interval, alpha: alpha.clone(), min_lift: min_lift.cloned() }
    }
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
    /// The block over some units of pass rates.
    fn of_rates(units: Vec<UnitMeans>, pairs: Diagnostics, options: &AnalysisOptions) -> Self {
        let without: Vec<Rational> = units.iter().map(|unit| unit.without_skill.clone()).collect();
        Self::of(units, pairs, rational::mean(&without).as_ref(), options)
    }

    /// The block over some units; `baseline` is the mean rate without the skill, where they are rates.
    fn of(units: Vec<UnitMeans>, pairs: Diagnostics, baseline: Option<&Rational>, options: &AnalysisOptions) -> Self {
        let mean = |of: fn(&RoundedMeans) -> f64| {
            describe::mean(&units.iter().map(|unit| of(&unit.rounded)).collect::<Vec<_>>())
        };
        let deltas: Vec<Rational> = units.iter().map(UnitMeans::delta).collect();
        Self {
            with_skill: mean(|rounded| rounded.with_skill),
            without_skill: mean(|rounded| rounded.without_skill),
            mean_delta: mean(|rounded| rounded.with_skill - rounded.without_skill),
            significance: sign_flip(&deltas),
            noise: Noise::of(&deltas, baseline, options),
            units,
            pairs,
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
    pub fn of(table: &RunTable, objective: &Pairing, graded: &Pairing, options: &AnalysisOptions) -> Self {
        let graded_units = graded.all_units(table);
        let (by_model, overall) = rayon::join(
            || {
                let models = table.models.par_iter().enumerate();
                let block = |position| {
                    let model = Some(position as u32);
                    let pairs = objective.diagnostics(|pair| pair.model == model);
                    PairedBlock::of_rates(objective.units(table, model), pairs, options)
                };
                models.map(|(position, name)| (name.clone(), block(position))).collect()
            },
            || PairedBlock::of_rates(objective.all_units(table), objective.diagnostics(|_| true), options),
        );
        Self {
            overall,
            graded: (!graded_units.is_empty())
                .then(|| PairedBlock::of(graded_units, graded.diagnostics(|_| true), None, options)),
            by_model,
        }
    }
}
