//! Grading a tree into rows and, when they are asked for, frames.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use skill_lift_contract::{TreeDigest, UnscoredReason};

use super::products::{GradingFiles, JudgeTasks};
use super::scratch::Scratch;
use super::warnings::WarningLog;
use crate::frame::{FrameBuilder, FrameError, Frames};
use crate::grade::stored::StoredTree;
use crate::grade::{GradeOptions, GradedRun, GradedWith, RunView, Tree, TreeError, grade_tree};
use crate::judge::task::prompt_of;
use crate::judge::{JudgeResultsError, Verdicts};
use crate::report::{RowDetail, RowWriter, TaskContext, grading_file, judge_tasks, row};
use crate::runs::{IndexOptions, LayoutError, OnDuplicate, Plan, RunIndex, RunWarning, WarningCode, plan};
use crate::suite::{Case, Split, Suite};

/// What to evaluate.
pub struct Request<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The run tree.
    pub runs: RunsSource<'a>,
    /// Only cases of this split.
    pub split: Option<Split>,
    /// Arms, in order.
    pub variants: Vec<String>,
    /// How the tree is read.
    pub index: IndexOptions,
    /// How runs are graded.
    pub grade: GradeOptions,
    /// Verdicts of judges.
    pub verdicts: &'a Verdicts,
    /// What is made beside the rows.
    pub products: Products,
    /// Called with the number of runs that are done, and of all runs.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

/// Where the runs are.
#[derive(Debug, Clone, Copy)]
pub enum RunsSource<'a> {
    /// Below this root, as the user typed it, in folders of cases and arms.
    Tree(&'a Path),
    /// Where this index says. Its cases are those of the suite, without trigger cases.
    Index(&'a RunIndex),
}

/// Which frames are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrameChoice {
    /// None.
    #[default]
    Nothing,
    /// The frame of runs, which analyses need.
    Runs,
    /// The frames of runs and of checks.
    RunsAndAssertions,
}

impl FrameChoice {
    fn builder(self) -> Option<FrameBuilder> {
        match self {
            Self::Nothing => None,
            Self::Runs => Some(FrameBuilder::new(false)),
            Self::RunsAndAssertions => Some(FrameBuilder::new(true)),
        }
    }
}

/// What is made beside the rows of the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Products {
    /// Frames for analyses.
    pub frames: FrameChoice,
    /// How much of a run the rows have.
    pub rows: RowDetail,
    /// A file of the judgements that were not supplied.
    pub judge_tasks: bool,
    /// A `grading.json` for each run directory.
    pub grading_files: bool,
    /// The plan that lies in the tree, read up to this number of bytes.
    pub plan_bytes: Option<u64>,
}

/// What came of it.
#[derive(Debug)]
pub struct Evaluated {
    /// Number of rows.
    pub rows: usize,
    /// The frames, if they were asked for.
    pub frames: Option<Frames>,
    /// The judge tasks, if they were asked for.
    pub judge_tasks: Option<JudgeTasks>,
    /// The files for run directories, if they were asked for.
    pub grading_files: Option<GradingFiles>,
    /// Runs that enter rates.
    pub scorable: usize,
    /// Judgements that were not supplied.
    pub deferred: usize,
    /// Oddities of the tree.
    pub warnings: WarningLog,
    /// Digest of every file that was read.
    pub runs_sha256: String,
    /// Runs that were dropped because another one has the same identity.
    pub duplicates_dropped: usize,
    /// What is known of a tree whose verdicts were stored.
    pub stored: Option<StoredTree>,
    /// The plan that lies in the tree, if it was asked for and is one.
    pub plan: Option<Plan>,
}

/// Why a tree could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// The tree is refused.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Layout(Vec<LayoutError>),
    /// A verdict does not fit its assertion.
    #[error(transparent)]
    JudgeResults(JudgeResultsError),
    /// The frames cannot be built.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// What is made beside the rows cannot be kept.
    #[error("cannot write a temporary file: {0}")]
    Scratch(#[from] io::Error),
    /// The rows cannot be written.
    #[error("cannot write the rows of the report: {0}")]
    Rows(io::Error),
}

impl From<LayoutError> for EvaluationError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(vec![error])
    }
}

impl From<TreeError> for EvaluationError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Layout(error) => (*error).into(),
            TreeError::JudgeResults(error) => Self::JudgeResults(error),
        }
    }
}

/// Evaluates a tree. `rows` gets the rows of the report.
///
/// # Errors
/// A tree in which the identity of a run is ambiguous, a directory that cannot be read, a verdict that does not fit its
/// assertion, a full disk.
pub fn evaluate(request: &Request<'_>, rows: &mut dyn RowWriter) -> Result<Evaluated, EvaluationError> {
    let cases: Vec<&Case> = request.suite.cases_of(request.split).filter(|case| !case.is_trigger()).collect();
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let known: Vec<&str> = request.suite.cases.iter().map(|case| case.id.as_str()).collect();
    let built;
    let index = match request.runs {
        RunsSource::Index(index) => index,
        RunsSource::Tree(root) => {
            built = RunIndex::build(root, &ids, &known, &request.variants, request.index)
                .map_err(EvaluationError::Layout)?;
            &built
        }
    };
    let mut collector = Collector::new(rows, &cases, request.products.frames, request.index.on_duplicate);
    collector.duplicates_dropped = index.duplicates_dropped();
    collector.warnings.extend(index.warnings().iter().cloned());
    let plan = match (request.runs, request.products.plan_bytes) {
        (RunsSource::Tree(root), Some(limit)) => collector.read_plan(root, limit),
        _ => None,
    };
    let total = index.slots().len();
    let shown = |path: &str| index.shown_path_below(path);
    let projector = Projector::new(request, &cases, &shown)?;
    let tree =
        Tree { suite: request.suite, cases: &cases, variants: &request.variants, index, verdicts: request.verdicts };
    grade_tree(
        tree,
        &request.grade,
        |run, view| projector.project(run, view),
        |graded| {
            collector.push(graded)?;
            if let Some(progress) = request.progress {
                progress(collector.done, total);
            }
            Ok::<(), EvaluationError>(())
        },
    )?;
    let (evaluated, tasks, grading_files) = collector.finish()?;
    Ok(Evaluated {
        judge_tasks: projector.tasks.map(|scratch| JudgeTasks::new(scratch, tasks)),
        grading_files: projector.grading_files.map(|scratch| GradingFiles::new(scratch, grading_files)),
        plan,
        ..evaluated
    })
}

/// What is made of a run while its files are in memory.
pub(super) struct Projected {
    pub(super) row: Vec<u8>,
    pub(super) tasks: Vec<Range<u64>>,
    pub(super) grading_file: Option<Range<u64>>,
}

/// Makes what the report and the products need of a run. Rows are small and stay in memory until their turn comes; a
/// task quotes a whole answer and goes to the disk at once.
struct Projector<'a> {
    request: &'a Request<'a>,
    cases: &'a [&'a Case],
    shown: &'a (dyn Fn(&str) -> String + Sync),
    /// What each case asks, read when it is first needed.
    prompts: Vec<OnceLock<Option<Cow<'a, str>>>>,
    tasks: Option<Scratch>,
    grading_files: Option<Scratch>,
}

impl<'a> Projector<'a> {
    fn new(
        request: &'a Request<'a>,
        cases: &'a [&'a Case],
        shown: &'a (dyn Fn(&str) -> String + Sync),
    ) -> io::Result<Self> {
        Ok(Self {
            request,
            cases,
            shown,
            prompts: cases.iter().map(|_| OnceLock::new()).collect(),
            tasks: request.products.judge_tasks.then(Scratch::new).transpose()?,
            grading_files: request.products.grading_files.then(Scratch::new).transpose()?,
        })
    }

    fn project(&self, run: &GradedRun, view: RunView<'_>) -> io::Result<Projected> {
        let case = self.cases[run.case];
        let mut projected = Projected {
            row: row::format(run, case, &(self.shown)(&run.path), self.request.products.rows.metadata(view.metadata))?,
            tasks: Vec::new(),
            grading_file: None,
        };
        if let Some(scratch) = self.tasks.as_ref().filter(|_| !run.deferred.is_empty()) {
            let leave = self.request.grade.allow_external_files;
            let prompt = self.prompts[run.case].get_or_init(|| prompt_of(self.request.suite, case, leave));
            let context = TaskContext {
                case,
                prompt: prompt.as_deref(),
                suite_digest: &self.request.suite.digest,
                shown: &self.shown,
            };
            for judgement in &run.deferred {
                if let Some(line) = judge_tasks::line(&context, run, view, judgement)? {
                    projected.tasks.push(scratch.keep(&line)?);
                }
            }
        }
        if let Some(scratch) = &self.grading_files
            && !run.unscored_reasons.contains(&UnscoredReason::MissingRun)
        {
            projected.grading_file = Some(scratch.keep(&grading_file::format(run, view.metadata)?)?);
        }
        Ok(projected)
    }
}

/// What the runs of a tree with stored verdicts add up to, as they come.
struct StoredCollector {
    tree: StoredTree,
    /// Whether their verdicts are compared with what the checks find.
    regraded: bool,
}

/// Takes graded runs in order. The label of a model can make two directories of a case the same run. Where that is an
/// error, runs are handed on at once; where the last one counts, the runs of a case are held back until the next case
/// begins, or a run until the next other one where nothing else can replace it.
pub(super) struct Collector<'a> {
    writer: &'a mut dyn RowWriter,
    rows: usize,
    frames: Option<FrameBuilder>,
    cases: &'a [&'a Case],
    tasks: Vec<Range<u64>>,
    grading_files: Vec<(String, Range<u64>)>,
    pending: Vec<Option<(GradedRun, Projected)>>,
    pending_keys: HashMap<(Option<String>, usize, u32), usize>,
    case: Option<usize>,
    /// The directories of the runs of this case that were handed on.
    handed_on: HashMap<(Option<String>, usize, u32), String>,
    stored: Option<StoredCollector>,
    /// Whether two runs of one identity come one after the other.
    duplicates_are_neighbours: bool,
    on_duplicate: OnDuplicate,
    pub(super) digest: TreeDigest,
    pub(super) warnings: WarningLog,
    scorable: usize,
    deferred: usize,
    pub(super) duplicates_dropped: usize,
    pub(super) done: usize,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        writer: &'a mut dyn RowWriter,
        cases: &'a [&'a Case],
        frames: FrameChoice,
        on_duplicate: OnDuplicate,
    ) -> Self {
        Self {
            writer,
            rows: 0,
            frames: frames.builder(),
            cases,
            tasks: Vec::new(),
            grading_files: Vec::new(),
            pending: Vec::new(),
            pending_keys: HashMap::new(),
            case: None,
            handed_on: HashMap::new(),
            stored: None,
            duplicates_are_neighbours: false,
            on_duplicate,
            digest: TreeDigest::default(),
            warnings: WarningLog::default(),
            scorable: 0,
            deferred: 0,
            duplicates_dropped: 0,
            done: 0,
        }
    }

    /// Adds up what is known of stored verdicts as well.
    pub(super) fn add_up_stored(&mut self, regraded: bool) {
        self.stored = Some(StoredCollector { tree: StoredTree::default(), regraded });
    }

    /// Holds a run back only until one of another identity comes: two of one identity come one after the other.
    pub(super) fn expect_neighbours(&mut self) {
        self.duplicates_are_neighbours = true;
    }

    /// The plan in the folder of the runs. One that cannot be read is named, and counts as none.
    fn read_plan(&mut self, root: &Path, limit: u64) -> Option<Plan> {
        match Plan::of_tree(root, limit)? {
            Ok((plan, digest)) => {
                self.digest.extend([(plan::FILE_NAME.to_owned(), digest)]);
                Some(plan)
            }
            Err(error) => {
                let message = format!("{error}; what was planned is not known");
                let path = plan::FILE_NAME.to_owned();
                self.warnings.push(RunWarning { code: WarningCode::PlanUnreadable, path, message });
                None
            }
        }
    }

    /// What came of all runs, the places of their tasks and of their files for run directories.
    #[expect(clippy::type_complexity, reason = "two lists that belong to temporary files of the caller")]
    pub(super) fn finish(mut self) -> Result<(Evaluated, Vec<Range<u64>>, Vec<(String, Range<u64>)>), EvaluationError> {
        self.flush()?;
        let evaluated = Evaluated {
            rows: self.rows,
            frames: self.frames.map(FrameBuilder::finish).transpose()?,
            judge_tasks: None,
            grading_files: None,
            scorable: self.scorable,
            deferred: self.deferred,
            warnings: self.warnings,
            runs_sha256: self.digest.finish(),
            duplicates_dropped: self.duplicates_dropped,
            stored: self.stored.map(|stored| stored.tree),
            plan: None,
        };
        Ok((evaluated, self.tasks, self.grading_files))
    }

    pub(super) fn push(&mut self, graded: GradedWith<io::Result<Projected>>) -> Result<(), EvaluationError> {
        let GradedWith { mut run, projected } = graded;
        let projected = projected?;
        self.done += 1;
        if self.case.replace(run.case).is_some_and(|case| case != run.case) {
            self.flush()?;
        }
        self.digest.extend(std::mem::take(&mut run.digests));
        self.warnings.extend(std::mem::take(&mut run.warnings));
        let identity = (run.key.model.clone(), run.variant, run.key.repetition);
        if self.on_duplicate == OnDuplicate::Error {
            if let Some(first) = self.handed_on.insert(identity, run.path.clone()) {
                return Err(claimed_twice(first, &run));
            }
            return self.hand_on(run, projected);
        }
        if self.duplicates_are_neighbours && !self.pending_keys.contains_key(&identity) {
            self.flush()?;
        }
        if let Some(earlier) = self.pending_keys.insert(identity, self.pending.len()) {
            self.drop_earlier(earlier, &run);
        }
        self.pending.push(Some((run, projected)));
        Ok(())
    }

    fn drop_earlier(&mut self, earlier: usize, run: &GradedRun) {
        let Some((first, _)) = self.pending.get_mut(earlier).and_then(Option::take) else { return };
        let message = format!("dropped, {} has the same identity", run.path);
        self.warnings.push(RunWarning { code: WarningCode::DuplicateDropped, path: first.path, message });
        self.duplicates_dropped += 1;
    }

    fn flush(&mut self) -> Result<(), EvaluationError> {
        for (run, projected) in std::mem::take(&mut self.pending).into_iter().flatten() {
            self.hand_on(run, projected)?;
        }
        self.pending_keys.clear();
        self.handed_on.clear();
        Ok(())
    }

    fn hand_on(&mut self, run: GradedRun, projected: Projected) -> Result<(), EvaluationError> {
        let Projected { row, tasks, grading_file } = projected;
        self.writer.push(&row).map_err(EvaluationError::Rows)?;
        self.rows += 1;
        self.tasks.extend(tasks);
        self.grading_files.extend(grading_file.map(|piece| (run.path.clone(), piece)));
        self.scorable += usize::from(run.is_scorable());
        self.deferred += run.deferred.len();
        if let Some(frames) = &mut self.frames {
            frames.push(&run, self.cases[run.case]);
        }
        if let Some(stored) = &mut self.stored {
            stored.tree.add(&run, stored.regraded);
        }
        Ok(())
    }
}

fn claimed_twice(first: String, run: &GradedRun) -> EvaluationError {
    EvaluationError::from(LayoutError::DuplicateKey {
        case: run.key.case_id.clone(),
        model: run.key.model.clone().unwrap_or_else(|| "none".to_owned()),
        variant: run.key.variant.clone(),
        number: run.key.repetition,
        first,
        second: run.path.clone(),
    })
}
