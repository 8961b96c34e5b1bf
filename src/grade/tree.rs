//! Grading a whole tree: runs in parallel, results in report order, a bounded number of runs in memory.

use rayon::prelude::*;

use super::run::{GradeOptions, GradedRun, Subject, grade_run};
use crate::json::Node;
use crate::runs::{LayoutError, RunIndex};
use crate::suite::Case;

/// Runs that are graded before their results are handed on.
const BATCH: usize = 128;

/// A graded run with what a projection made of it while its files were in memory.
#[derive(Debug)]
pub struct GradedWith<T> {
    /// The graded run.
    pub run: GradedRun,
    /// What the projection made.
    pub projected: T,
}

/// Grades every run of an index.
///
/// `project` is called on any thread with a run and the metadata object of its row; `consume` is called in report
/// order. `cases` and `variants` are the lists that the index was built for.
///
/// # Errors
/// The first error of `consume`, or of a run directory that cannot be listed; nothing more is graded then.
pub fn grade_tree<T, E>(
    cases: &[&Case],
    variants: &[String],
    index: &RunIndex,
    options: &GradeOptions,
    project: impl Fn(&GradedRun, &Node<'_>) -> T + Sync,
    mut consume: impl FnMut(GradedWith<T>) -> Result<(), E> + Send,
) -> Result<(), E>
where
    T: Send,
    E: From<LayoutError> + Send,
{
    let grade_batch = |slots: &[crate::runs::RunSlot]| -> Vec<Result<GradedWith<T>, LayoutError>> {
        slots
            .par_iter()
            .map(|slot| {
                let case = cases[slot.case];
                let subject = Subject { case, variant: &variants[slot.variant], slot };
                let evidence = index.read(slot, case.turns.len())?;
                Ok(grade_run(subject, evidence, options, |run, metadata| {
                    let projected = project(&run, metadata);
                    GradedWith { run, projected }
                }))
            })
            .collect()
    };
    let mut ready: Vec<Result<GradedWith<T>, LayoutError>> = Vec::new();
    for batch in index.slots().chunks(BATCH) {
        // the results of one batch are written while the next one is graded
        let (written, graded) = rayon::join(|| hand_on(std::mem::take(&mut ready), &mut consume), || grade_batch(batch));
        written?;
        ready = graded;
    }
    hand_on(ready, &mut consume)
}

fn hand_on<T, E: From<LayoutError>>(
    results: Vec<Result<GradedWith<T>, LayoutError>>,
    consume: &mut impl FnMut(GradedWith<T>) -> Result<(), E>,
) -> Result<(), E> {
    for result in results {
        consume(result?)?;
    }
    Ok(())
}
