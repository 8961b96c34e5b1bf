//! Grading a whole tree: runs in parallel, results in report order, a bounded number of runs in memory.

use rayon::prelude::*;

use super::run::{GradeOptions, GradedRun, RunView, Subject, grade_run};
use crate::judge::{JudgeResultsError, Verdicts};
use crate::runs::{LayoutError, RunIndex, RunSlot};
use crate::suite::{Case, Suite};

/// Runs that are graded before their results are handed on.
const BATCH: usize = 256;

/// A graded run with what a projection made of it while its files were in memory.
#[derive(Debug)]
pub struct GradedWith<T> {
    /// The graded run.
    pub run: GradedRun,
    /// What the projection made.
    pub projected: T,
}

/// The runs that are graded, and by what.
#[derive(Debug, Clone, Copy)]
pub struct Tree<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The cases that the index was built for.
    pub cases: &'a [&'a Case],
    /// The arms that the index was built for.
    pub variants: &'a [String],
    /// The runs.
    pub index: &'a RunIndex,
    /// The verdicts that were supplied.
    pub verdicts: &'a Verdicts,
}

/// Why the grading of a tree stopped.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A run directory cannot be listed.
    #[error(transparent)]
    Layout(Box<LayoutError>),
    /// A verdict does not fit.
    #[error(transparent)]
    JudgeResults(#[from] JudgeResultsError),
}

impl From<LayoutError> for TreeError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(Box::new(error))
    }
}

/// Grades every run of an index.
///
/// `project` is called on any thread with a run and what it was made of; `consume` is called in report order.
///
/// # Errors
/// The first error in report order: of `consume`, of a run directory that cannot be listed, of a verdict that does not
/// fit its assertion. Nothing more is graded then.
pub fn grade_tree<T, E>(
    tree: Tree<'_>,
    options: &GradeOptions,
    project: impl Fn(&GradedRun, RunView<'_>) -> T + Sync,
    mut consume: impl FnMut(GradedWith<T>) -> Result<(), E> + Send,
) -> Result<(), E>
where
    T: Send,
    E: From<TreeError> + Send,
{
    let Tree { suite, cases, variants, index, verdicts } = tree;
    let grade_batch = |slots: &[RunSlot]| -> Vec<Result<GradedWith<T>, TreeError>> {
        slots
            .par_iter()
            .map(|slot| {
                let case = cases[slot.case];
                let subject = Subject { suite, case, variant: &variants[slot.variant], slot, verdicts };
                let evidence = index.read(slot, case.turns.len())?;
                let graded = grade_run(subject, evidence, options, |run, view| {
                    let projected = project(&run, view);
                    GradedWith { run, projected }
                });
                Ok(graded?)
            })
            .collect()
    };
    let mut ready: Vec<Result<GradedWith<T>, TreeError>> = Vec::new();
    for batch in index.slots().chunks(BATCH) {
        // the results of one batch are written while the next one is graded
        let (written, graded) =
            rayon::join(|| hand_on(std::mem::take(&mut ready), &mut consume), || grade_batch(batch));
        written?;
        ready = graded;
    }
    hand_on(ready, &mut consume)
}

fn hand_on<T, E: From<TreeError>>(
    results: Vec<Result<GradedWith<T>, TreeError>>,
    consume: &mut impl FnMut(GradedWith<T>) -> Result<(), E>,
) -> Result<(), E> {
    for result in results {
        consume(result?)?;
    }
    Ok(())
}
