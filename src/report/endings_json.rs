//! The block `run_endings` of a report: how the runs came to their end, as their runners recorded it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::numbers::counted;
use super::ordered::Ordered;
use crate::analyze::endings::{EndingNote, RunEndings, VariantEndings};
use crate::runs::ending::UNRECORDED;
use crate::runs::{ServedModel, StopClass};

#[derive(Serialize)]
pub(super) struct EndingsBlock<'a> {
    by_variant: Ordered<VariantBlock>,
    refused_runs: usize,
    cut_off_runs: usize,
    served_model_mismatches: usize,
    effort_levels: Vec<&'a str>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct VariantBlock {
    stop_class: Ordered<usize>,
    served_model_check: Ordered<usize>,
    effort: Ordered<usize>,
}

/// Counts with their words, the unrecorded ones last.
fn counts<T: Ord>(counts: &BTreeMap<Option<T>, usize>, word: impl Fn(&T) -> String) -> Ordered<usize> {
    let recorded = counts.iter().filter_map(|(value, count)| Some((word(value.as_ref()?), *count)));
    let unrecorded = counts.get(&None).map(|count| (UNRECORDED.to_owned(), *count));
    Ordered(recorded.chain(unrecorded).collect())
}

fn variant(endings: &VariantEndings) -> VariantBlock {
    VariantBlock {
        stop_class: counts(&endings.stop_class, |class: &StopClass| class.word().to_owned()),
        served_model_check: counts(&endings.served_model, |result: &ServedModel| result.word().to_owned()),
        effort: counts(&endings.effort, String::clone),
    }
}

fn note(note: EndingNote) -> String {
    let runs = |count| counted(count, "run", "runs");
    match note {
        EndingNote::Refused(count) => {
            format!(
                "{} ended with a refusal, graded like any other answer: a 0 there is no lack of ability",
                runs(count)
            )
        }
        EndingNote::CutOff(count) => {
            format!("the answer of {} was cut off by a limit, and is graded as far as it goes", runs(count))
        }
        EndingNote::ServedModelMismatch(count) => {
            format!("another model than the one that was asked for answered in {}", runs(count))
        }
        EndingNote::ServedModelMixed(count) => {
            format!("several models answered in {}: their result belongs to none of them alone", runs(count))
        }
        EndingNote::DefaultEffort { models } => format!(
            "{models} models ran with the default effort of their providers, which differs: their rates are no \
             comparison of the models at equal effort"
        ),
        EndingNote::EffortDiffers => {
            "the compared arms recorded different efforts: pairs that differ are blocked (effort_mismatch)".to_owned()
        }
    }
}

/// The block of a tree.
pub(super) fn block(endings: &RunEndings) -> EndingsBlock<'_> {
    let by_variant = endings.by_variant.iter().map(|endings| (endings.variant.clone(), variant(endings)));
    EndingsBlock {
        by_variant: Ordered(by_variant.collect()),
        refused_runs: endings.refused,
        cut_off_runs: endings.cut_off,
        served_model_mismatches: endings.served_model_mismatches,
        effort_levels: endings.effort_levels.iter().map(String::as_str).collect(),
        notes: endings.notes.iter().copied().map(note).collect(),
    }
}
