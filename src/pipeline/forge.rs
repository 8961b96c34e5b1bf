//! Reading an iteration of the forge pipeline from its graded runs.

use std::collections::HashMap;
use std::path::Path;

use super::evaluate::FrameChoice;
use super::workspace::{TreeCases, WorkspaceRequest, cases_of_tree, grade_workspace};
use crate::analyze::forge::{Arm, EvalDescription, EvalId, ForgeIteration, ForgeRun, Unfinished};
use crate::report::RowDetail;
use crate::runs::forge::{eval_digits, iteration_digits};
use crate::runs::workspace::{EvalDirectory, Workspace};
use crate::runs::{LayoutError, RunWarning};
use crate::suite::{Case, Suite};

/// Why an iteration cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    /// A directory cannot be listed.
    #[error(transparent)]
    Layout(Box<LayoutError>),
    /// Two directories hold the same eval.
    #[error("{eval} is claimed twice, by {first} and by {second}; remove one of them")]
    EvalTwice {
        /// The id.
        eval: String,
        /// The first directory.
        first: String,
        /// The second directory.
        second: String,
    },
    /// Two directories hold the same run.
    #[error("{eval}, {arm}: the same run is claimed twice, by {first} and by {second}; remove one of them")]
    RunTwice {
        /// The eval.
        eval: String,
        /// The arm.
        arm: &'static str,
        /// The first directory.
        first: String,
        /// The second directory.
        second: String,
    },
}

impl From<LayoutError> for ForgeError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(Box::new(error))
    }
}

/// Characters of evidence that are kept; the report shows none.
const EVIDENCE_CHARACTERS: usize = 1;

/// An iteration with what is odd about its files.
#[derive(Debug)]
pub struct ForgeReading {
    /// The iteration.
    pub iteration: ForgeIteration,
    /// Oddities of the tree, in report order.
    pub warnings: Vec<RunWarning>,
    /// Arms that are neither with the skill nor the baseline; they are not read.
    pub other_arms: Vec<String>,
}

/// Grades the runs of an iteration.
///
/// # Errors
/// When two directories hold the same eval or run, or a directory cannot be listed.
pub fn read_forge(workspace: &Workspace, unfinished: Unfinished) -> Result<ForgeReading, ForgeError> {
    let directory = workspace.root().to_owned();
    let suite = Suite::of_tree(workspace.kind.into(), String::new(), directory, cases_of_tree(workspace));
    let evals = descriptions(workspace, &suite.cases)?;
    let request = WorkspaceRequest {
        workspace,
        suite: &suite,
        cases: TreeCases::of_tree(&suite.cases),
        variants: &[],
        strict_evidence: false,
        evidence_characters: EVIDENCE_CHARACTERS,
        frames: FrameChoice::Nothing,
        rows: RowDetail::default(),
        regrade: None,
        progress: None,
    };
    let mut runs: Vec<ForgeRun> = Vec::new();
    let mut warnings = workspace.warnings().to_vec();
    let mut other_arms: Vec<String> = Vec::new();
    grade_workspace(
        &request,
        |run| ForgeRun::of(run, unfinished),
        |graded| {
            warnings.extend(graded.run.warnings);
            match graded.projected {
                Some(run) => runs.push(run),
                None if !other_arms.contains(&graded.run.key.variant) => other_arms.push(graded.run.key.variant),
                None => {}
            }
            Ok::<(), ForgeError>(())
        },
    )?;
    claimed_once(&evals, &runs)?;
    let number = number_of(workspace.root());
    Ok(ForgeReading { iteration: ForgeIteration::of(number, evals, runs), warnings, other_arms })
}

/// The number of an iteration, where its folder has one that fits.
pub fn number_of(root: &Path) -> Option<u64> {
    let root = root.canonicalize().ok()?;
    iteration_digits(&root.file_name()?.to_string_lossy())?.parse().ok()
}

fn claimed_once(evals: &[EvalDescription], runs: &[ForgeRun]) -> Result<(), ForgeError> {
    let mut seen: HashMap<(usize, Arm, Option<u32>), &str> = HashMap::new();
    for run in runs {
        if let Some(first) = seen.insert((run.eval, run.arm, run.trial), &run.directory) {
            return Err(ForgeError::RunTwice {
                eval: evals[run.eval].id.to_string(),
                arm: run.arm.word(),
                first: first.to_owned(),
                second: run.directory.clone(),
            });
        }
    }
    Ok(())
}

fn descriptions(workspace: &Workspace, cases: &[Case]) -> Result<Vec<EvalDescription>, ForgeError> {
    let mut seen: HashMap<EvalId, &str> = HashMap::new();
    let mut evals = Vec::with_capacity(cases.len());
    for (eval, case) in workspace.evals.iter().zip(cases) {
        let id = id_of(eval, case);
        if let Some(first) = seen.insert(id.clone(), &eval.path) {
            let (eval_id, first, second) = (id.to_string(), first.to_owned(), eval.path.clone());
            return Err(ForgeError::EvalTwice { eval: eval_id, first, second });
        }
        evals.push(EvalDescription {
            id,
            name: case.name.clone().unwrap_or_else(|| eval.name.clone()),
            directory: eval.path.clone(),
            has_metadata: eval.metadata.is_some(),
            prompt: case.prompt.clone(),
            assertions: case
                .assertions
                .iter()
                .map(|assertion| (assertion.label.clone(), assertion.text.clone().unwrap_or_default()))
                .collect(),
            // every program of the pipeline takes an absent key for true
            should_trigger: eval.metadata.as_ref().map(|metadata| metadata.should_trigger.unwrap_or(true)),
        });
    }
    Ok(evals)
}

/// The number in the name of the directory; for other names the id that the tree gives the eval.
fn id_of(eval: &EvalDirectory, case: &Case) -> EvalId {
    let digits = eval_digits(&eval.name).or_else(|| {
        let id = eval.eval_id.as_deref()?;
        eval_digits(id).or_else(|| id.bytes().all(|byte| byte.is_ascii_digit()).then_some(id))
    });
    let number = digits.and_then(|digits| digits.parse().ok());
    number.map_or_else(|| EvalId::Name(case.id.clone()), EvalId::Number)
}
