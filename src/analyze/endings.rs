//! How the runs of a tree ended, as their runners recorded it: whether the model stopped by itself, whether the model
//! that was asked for answered, and with what effort. Every run counts, also one that is not scored.

use std::collections::{BTreeMap, BTreeSet};

use super::table::{Run, RunTable};
use crate::runs::ending::DEFAULT_EFFORT;
use crate::runs::{ServedModel, StopClass};

/// The endings of one arm. `None` stands for runs that recorded nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct VariantEndings {
    /// The arm.
    pub variant: String,
    /// Runs by why the model stopped.
    pub stop_class: BTreeMap<Option<StopClass>, usize>,
    /// Runs by whether the model that was asked for answered.
    pub served_model: BTreeMap<Option<ServedModel>, usize>,
    /// Runs by effort setting.
    pub effort: BTreeMap<Option<String>, usize>,
}

/// Something about endings that a reader should know before the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndingNote {
    /// Runs ended with a refusal.
    Refused(usize),
    /// A limit ended the answer of runs.
    CutOff(usize),
    /// Another model than the one that was asked for answered.
    ServedModelMismatch(usize),
    /// Several models answered.
    ServedModelMixed(usize),
    /// Several models ran, each with whatever effort its provider takes when none is asked for.
    DefaultEffort {
        /// Models.
        models: usize,
    },
    /// The compared arms recorded different efforts.
    EffortDiffers,
}

/// The endings of a tree.
#[derive(Debug)]
pub struct RunEndings {
    /// Every selected arm.
    pub by_variant: Vec<VariantEndings>,
    /// Runs that ended with a refusal.
    pub refused: usize,
    /// Runs whose answer was ended by a limit.
    pub cut_off: usize,
    /// Runs that another model answered.
    pub served_model_mismatches: usize,
    /// The effort settings that were recorded.
    pub effort_levels: BTreeSet<String>,
    /// What to know before the rates.
    pub notes: Vec<EndingNote>,
}

impl RunEndings {
    /// The endings of a tree.
    pub fn of(table: &RunTable) -> Self {
        let by_variant: Vec<VariantEndings> =
            (0..table.variants.len() as u32).map(|variant| VariantEndings::of(table, variant)).collect();
        let stopped =
            |is: fn(StopClass) -> bool| table.runs.iter().filter(|run| run.stop_class.is_some_and(is)).count();
        let served = |result| table.runs.iter().filter(|run| run.served_model == Some(result)).count();
        let (refused, cut_off) = (stopped(|class| class == StopClass::Refused), stopped(StopClass::is_cut_off));
        let (mismatches, mixed) = (served(ServedModel::Mismatch), served(ServedModel::Mixed));
        let effort_levels: BTreeSet<String> = table.runs.iter().filter_map(|run| run.effort.clone()).collect();
        let all_default = !effort_levels.is_empty() && effort_levels.iter().all(|level| level == DEFAULT_EFFORT);
        let notes = [
            (refused > 0).then_some(EndingNote::Refused(refused)),
            (cut_off > 0).then_some(EndingNote::CutOff(cut_off)),
            (mismatches > 0).then_some(EndingNote::ServedModelMismatch(mismatches)),
            (mixed > 0).then_some(EndingNote::ServedModelMixed(mixed)),
            (all_default && table.models.len() > 1).then_some(EndingNote::DefaultEffort { models: table.models.len() }),
            effort_differs(table, &by_variant).then_some(EndingNote::EffortDiffers),
        ];
        Self {
            by_variant,
            refused,
            cut_off,
            served_model_mismatches: mismatches,
            effort_levels,
            notes: notes.into_iter().flatten().collect(),
        }
    }
}

/// Whether both compared arms recorded efforts, and not the same ones.
fn effort_differs(table: &RunTable, arms: &[VariantEndings]) -> bool {
    let recorded = |variant: &str| -> BTreeSet<&String> {
        let arm = arms.iter().find(|arm| arm.variant == variant);
        arm.into_iter().flat_map(|arm| arm.effort.keys().flatten()).collect()
    };
    let (with, without) = (recorded(super::table::WITH_SKILL), recorded(table.baseline.variant()));
    !with.is_empty() && !without.is_empty() && with != without
}

impl VariantEndings {
    fn of(table: &RunTable, variant: u32) -> Self {
        let runs = || table.runs.iter().filter(move |run| run.order.variant == variant);
        Self {
            variant: table.variant(variant).to_owned(),
            stop_class: counted(runs().map(|run| run.stop_class)),
            served_model: counted(runs().map(|run| run.served_model)),
            effort: counted(runs().map(|run: &Run| run.effort.clone())),
        }
    }
}

fn counted<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}
