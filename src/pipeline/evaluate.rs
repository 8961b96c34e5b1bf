//! Grading a tree into a spool of rows and, when they are asked for, frames.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use skill_lift_contract::TreeDigest;

use super::warnings::WarningLog;
use crate::frame::{FrameBuilder, FrameError, Frames};
use crate::grade::{GradeOptions, GradedRun, GradedWith, grade_tree};
use crate::report::RowSpool;
use crate::report::row;
use crate::runs::{IndexOptions, LayoutError, OnDuplicate, RunIndex, RunWarning, WarningCode};
use crate::suite::{Case, Split, Suite};

/// What to evaluate.
pub struct Request<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// Root of the run tree as the user typed it.
    pub runs: &'a Path,
    /// Only cases of this split.
    pub split: Option<Split>,
    /// Arms, in order.
    pub variants: Vec<String>,
    /// How the tree is read.
    pub index: IndexOptions,
    /// How runs are graded.
    pub grade: GradeOptions,
    /// Whether frames are made.
    pub frames: bool,
    /// Called with the number of runs that are done, and of all runs.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

/// What came of it.
#[derive(Debug)]
pub struct Evaluated {
    /// Rows of the report.
    pub rows: RowSpool,
    /// The frames, if they were asked for.
    pub frames: Option<Frames>,
    /// Runs that enter rates.
    pub scorable: usize,
    /// Judgements that were not supplied.
    pub deferred: usize,
    /// Trigger cases, which were not graded.
    pub skipped_trigger_cases: Vec<String>,
    /// Oddities of the tree.
    pub warnings: WarningLog,
    /// Digest of every file that was read.
    pub runs_sha256: String,
    /// Runs that were dropped because another one has the same identity.
    pub duplicates_dropped: usize,
}

/// Why a tree could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// The tree is refused.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Layout(Vec<LayoutError>),
    /// The frames cannot be built.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The rows cannot be kept.
    #[error("cannot write a temporary file: {0}")]
    Spool(#[from] io::Error),
}

impl From<LayoutError> for EvaluationError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(vec![error])
    }
}

/// Evaluates a tree.
///
/// # Errors
/// A tree in which the identity of a run is ambiguous, a directory that cannot be read, a full disk.
pub fn evaluate(request: &Request<'_>) -> Result<Evaluated, EvaluationError> {
    let selected = |case: &&Case| request.split.is_none_or(|split| case.split == split);
    let (triggers, cases): (Vec<&Case>, Vec<&Case>) =
        request.suite.cases.iter().filter(selected).partition(|case| case.is_trigger());
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let known: Vec<&str> = request.suite.cases.iter().map(|case| case.id.as_str()).collect();
    let index = RunIndex::build(request.runs, &ids, &known, &request.variants, request.index)
        .map_err(EvaluationError::Layout)?;
    let mut collector = Collector {
        rows: RowSpool::new()?,
        frames: request.frames.then(FrameBuilder::default),
        cases: &cases,
        pending: Vec::new(),
        pending_keys: HashMap::new(),
        on_duplicate: request.index.on_duplicate,
        digest: TreeDigest::default(),
        warnings: WarningLog::default(),
        scorable: 0,
        deferred: 0,
        duplicates_dropped: index.duplicates_dropped(),
        done: 0,
    };
    collector.warnings.extend(index.warnings().iter().cloned());
    let total = index.slots().len();
    let shown = |run: &GradedRun| index.shown_path_below(&run.path);
    grade_tree(
        request.suite,
        &cases,
        &request.variants,
        &index,
        &request.grade,
        |run, metadata| row::format(run, cases[run.case], &shown(run), metadata),
        |graded| {
            collector.push(graded)?;
            if let Some(progress) = request.progress {
                progress(collector.done, total);
            }
            Ok::<(), EvaluationError>(())
        },
    )?;
    collector.flush()?;
    Ok(Evaluated {
        frames: collector.frames.map(FrameBuilder::finish).transpose()?,
        rows: collector.rows,
        scorable: collector.scorable,
        deferred: collector.deferred,
        skipped_trigger_cases: triggers.into_iter().map(|case| case.id.clone()).collect(),
        warnings: collector.warnings,
        runs_sha256: collector.digest.finish(),
        duplicates_dropped: collector.duplicates_dropped,
    })
}

type FormattedRow = io::Result<Vec<u8>>;

/// Takes graded runs in order. The runs of one case are held back until the next case begins, because the label of a
/// model can make two directories of a case the same run.
struct Collector<'a> {
    rows: RowSpool,
    frames: Option<FrameBuilder>,
    cases: &'a [&'a Case],
    pending: Vec<Option<(GradedRun, Vec<u8>)>>,
    pending_keys: HashMap<(Option<String>, usize, u32), usize>,
    on_duplicate: OnDuplicate,
    digest: TreeDigest,
    warnings: WarningLog,
    scorable: usize,
    deferred: usize,
    duplicates_dropped: usize,
    done: usize,
}

impl Collector<'_> {
    fn push(&mut self, graded: GradedWith<FormattedRow>) -> Result<(), EvaluationError> {
        let GradedWith { mut run, projected } = graded;
        let row = projected?;
        self.done += 1;
        let last_case = self.pending.iter().flatten().next_back().map(|(run, _)| run.case);
        if last_case.is_some_and(|case| case != run.case) {
            self.flush()?;
        }
        self.digest.extend(std::mem::take(&mut run.digests));
        self.warnings.extend(std::mem::take(&mut run.warnings));
        let identity = (run.key.model.clone(), run.variant, run.key.repetition);
        if let Some(earlier) = self.pending_keys.insert(identity, self.pending.len()) {
            self.replace(earlier, &run)?;
        }
        self.pending.push(Some((run, row)));
        Ok(())
    }

    fn replace(&mut self, earlier: usize, run: &GradedRun) -> Result<(), EvaluationError> {
        let Some((first, _)) = self.pending.get_mut(earlier).and_then(Option::take) else {
            return Ok(());
        };
        if self.on_duplicate == OnDuplicate::Error {
            return Err(EvaluationError::from(LayoutError::DuplicateKey {
                case: run.key.case_id.clone(),
                model: run.key.model.clone().unwrap_or_else(|| "none".to_owned()),
                variant: run.key.variant.clone(),
                number: run.key.repetition,
                first: first.path,
                second: run.path.clone(),
            }));
        }
        let message = format!("dropped, {} has the same identity", run.path);
        self.warnings.push(RunWarning { code: WarningCode::DuplicateDropped, path: first.path, message });
        self.duplicates_dropped += 1;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), EvaluationError> {
        for (run, row) in self.pending.drain(..).flatten() {
            self.rows.push(&row)?;
            self.scorable += usize::from(run.is_scorable());
            self.deferred += run.deferred.len();
            if let Some(frames) = &mut self.frames {
                frames.push(&run, self.cases[run.case]);
            }
        }
        self.pending_keys.clear();
        Ok(())
    }
}
