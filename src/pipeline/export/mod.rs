//! A workspace for the tools of others, made of a saved report and the runs that it is about.
//!
//! The folder appears when everything is in it, or not at all. Answers are copied: no link is followed out of its run,
//! and what is not copied is named.

mod check;
mod copy;
mod evals;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use skill_lift_contract::write::AtomicFolder;

use crate::analyze::forge::upstream::UpstreamBenchmark;
use crate::analyze::forge::{ForgeLift, Patterns, ThresholdResults, Unfinished};
use crate::analyze::table::Baseline;
use crate::report::exported::{
    Arm, ArmsProblem, BenchmarkStyle, ExportedReport, ExportedRun, Format, RateOver, arms_of, eval_metadata,
    grading_file, skill_creator_markdown, timing_file, write_skill_creator_benchmark,
};
use crate::report::forge::{ForgeView, markdown, write_upstream};
use crate::runs::forge::{ThresholdValues, UpstreamIteration};
use crate::runs::workspace::{Workspace, WorkspaceKind, WorkspaceOptions};
use crate::runs::{FileProblem, Limits};
use crate::suite::Suite;

pub(super) use copy::{CopiedAnswer, CopyError, copy_answer, read_answer};
use evals::EvalTexts;

/// Numbered trials that the script of the forge pipeline looks for.
const MOST_TRIALS: u32 = 20;

/// What is exported.
pub struct ExportRequest<'a> {
    /// The report.
    pub report: ExportedReport<'a>,
    /// For which tools.
    pub format: Format,
    /// The folder that the run directories of the report are in.
    pub runs: &'a Path,
    /// Where prompts and the words of checks come from.
    pub suite: Option<&'a Suite>,
    /// How much is read.
    pub limits: Limits,
    /// Where the workspace goes.
    pub out: &'a Path,
    /// Whether an earlier export there may be replaced.
    pub replaces: bool,
}

/// What was written.
#[derive(Debug, Default)]
pub struct Exported {
    /// Folders of cases.
    pub evals: usize,
    /// Run directories.
    pub runs: usize,
    /// Those of them with a rate.
    pub graded: usize,
    /// Files of answers.
    pub answer_files: usize,
    /// Arms that the format has no place for.
    pub left_out_arms: Vec<String>,
    /// What was not copied, and why.
    pub not_copied: Vec<String>,
}

/// Where an export goes.
struct Place {
    /// The folder, links resolved.
    target: PathBuf,
    /// Whether an earlier export is there.
    is_replaced: bool,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// An arm has no name in the format.
    #[error(transparent)]
    Arms(#[from] ArmsProblem),
    /// The place is taken.
    #[error("{0} is not empty: choose another folder, or replace an earlier export there with --force")]
    NotEmpty(String),
    /// The place holds what no export wrote.
    #[error("{folder} holds {stranger}, which no export wrote: it is not replaced; choose another folder")]
    Stranger {
        /// The folder.
        folder: String,
        /// The first thing in it that is not of an export.
        stranger: String,
    },
    /// The runs would be replaced.
    #[error("{0} holds the runs that are exported: choose another folder")]
    RunsInside(String),
    /// More repetitions than the format has names for.
    #[error(
        "{case}, {variant}: repetition {repetition} has no place in a workspace of the forge pipeline, whose script looks \
         at {MOST_TRIALS} trials"
    )]
    TooManyTrials {
        /// The case.
        case: String,
        /// The arm.
        variant: String,
        /// The repetition.
        repetition: u32,
    },
    /// The report speaks of an answer that is not there.
    #[error(
        "{problem}: the report says that {case}, {variant}, repetition {repetition} has an answer; are these the runs of \
         the report?"
    )]
    NoAnswer {
        /// The case.
        case: String,
        /// The arm.
        variant: String,
        /// The repetition.
        repetition: u32,
        /// What is wrong with it.
        problem: FileProblem,
    },
    /// The system says no.
    #[error("cannot write {path}: {error}")]
    Write {
        /// Where.
        path: String,
        /// What it says.
        error: io::Error,
    },
    /// What was written cannot be read back.
    #[error("what was exported cannot be read back: {0}")]
    ReadBack(String),
}

/// Writes a workspace.
///
/// # Errors
/// When the report does not fit the format, the runs are not those of the report, the place is taken, or the system
/// says no. Nothing is written then.
pub fn export(request: &ExportRequest<'_>) -> Result<Exported, ExportError> {
    let arms = arms_of(&request.report, request.format)?;
    let place = Place::check(request.out, request.replaces)?;
    if place.is_replaced && fs::canonicalize(request.runs).is_ok_and(|runs| runs.starts_with(&place.target)) {
        return Err(ExportError::RunsInside(request.out.display().to_string()));
    }
    let runs = request.report.runs(RateOver::Objective);
    let placed = placed(request.format, &arms, &runs)?;
    let failed = |error: io::Error| ExportError::Write { path: request.out.display().to_string(), error };
    let folder = AtomicFolder::create(&place.target).map_err(failed)?;
    let mut exported = Exported { left_out_arms: left_out_arms(&arms, &runs), ..Exported::default() };

    let texts = EvalTexts::of(request.suite);
    let evals = texts.descriptions(&request.report);
    let mut arms_of_eval: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for run in &placed {
        let names = arms_of_eval.entry(run.run.eval_id).or_default();
        if !names.contains(&run.arm.name.as_str()) {
            names.push(&run.arm.name);
        }
    }
    for eval in evals.iter().filter(|eval| arms_of_eval.contains_key(&eval.eval_id)) {
        exported.evals += 1;
        let bytes = eval_metadata(eval, request.format).map_err(failed)?;
        folder.write(&format!("eval-{}/eval_metadata.json", eval.eval_id), &bytes).map_err(failed)?;
        if request.format == Format::SkillCreator {
            // the viewer looks no further than the folder above a run
            for arm in arms_of_eval.get(&eval.eval_id).into_iter().flatten() {
                folder.write(&format!("eval-{}/{arm}/eval_metadata.json", eval.eval_id), &bytes).map_err(failed)?;
            }
        }
    }
    for run in &placed {
        write_run(request, &folder, run, &mut exported)?;
    }
    write_benchmark(request, &folder, &arms).map_err(|error| match error {
        BenchmarkError::Io(error) => failed(error),
        BenchmarkError::ReadBack(problem) => ExportError::ReadBack(problem),
    })?;
    if place.is_replaced { folder.commit_over() } else { folder.commit_new() }.map_err(failed)?;
    Ok(exported)
}

/// A run with the folder that it gets.
struct PlacedRun<'p, 'a> {
    run: &'p ExportedRun<'a>,
    arm: &'p Arm,
    /// Below the workspace.
    path: String,
}

fn placed<'p, 'a>(
    format: Format,
    arms: &'p [Arm],
    runs: &'p [ExportedRun<'a>],
) -> Result<Vec<PlacedRun<'p, 'a>>, ExportError> {
    let has_repetitions = runs.iter().any(|run| run.row.repetition > 1);
    let mut placed: Vec<PlacedRun<'p, 'a>> = Vec::with_capacity(runs.len());
    let mut taken: HashSet<String> = HashSet::new();
    // a repetition without a number is none that a reader could find; a run that came to nothing and does not name its
    // model leaves the place to one that does
    let (rated, others): (Vec<_>, Vec<_>) =
        runs.iter().filter(|run| run.row.repetition > 0).partition(|run| run.rated.is_ok());
    for run in rated.into_iter().chain(others) {
        let Some(arm) = arm_of(arms, run) else { continue };
        let eval = run.eval_id;
        let (name, repetition) = (&arm.name, run.row.repetition);
        let path = match format {
            Format::SkillCreator => format!("eval-{eval}/{name}/run-{repetition}"),
            Format::SkillForge if !has_repetitions => format!("eval-{eval}/{name}"),
            Format::SkillForge if repetition > MOST_TRIALS => {
                return Err(ExportError::TooManyTrials {
                    case: run.row.case.id.clone(),
                    variant: run.row.variant.clone(),
                    repetition,
                });
            }
            Format::SkillForge => format!("eval-{eval}/{name}_{}", repetition - 1),
        };
        if taken.insert(path.clone()) {
            placed.push(PlacedRun { run, arm, path });
        }
    }
    Ok(placed)
}

fn arm_of<'p>(arms: &'p [Arm], run: &ExportedRun<'_>) -> Option<&'p Arm> {
    let model = run.row.model.as_deref();
    let same_model = |arm: &Arm| arm.model.is_none() || arm.model.as_deref() == model;
    // an arm without a model takes runs of one only where no arm has the model
    let own = arms.iter().find(|arm| arm.variant == run.row.variant && arm.model.as_deref() == model);
    own.or_else(|| arms.iter().find(|arm| arm.variant == run.row.variant && same_model(arm)))
}

fn left_out_arms(arms: &[Arm], runs: &[ExportedRun<'_>]) -> Vec<String> {
    let mut names: Vec<String> =
        runs.iter().filter(|run| arm_of(arms, run).is_none()).map(|run| run.row.variant.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn write_run(
    request: &ExportRequest<'_>,
    folder: &AtomicFolder,
    placed: &PlacedRun<'_, '_>,
    exported: &mut Exported,
) -> Result<(), ExportError> {
    let PlacedRun { run, arm, path } = placed;
    let row = run.row;
    let failed = |error: io::Error| ExportError::Write { path: request.out.join(path).display().to_string(), error };
    // of a run that was never made there is nothing to show
    if row.unscored_reasons.iter().any(|reason| reason == "missing_run") {
        return Ok(());
    }
    let outputs = folder.path().join(path).join("outputs");
    fs::create_dir_all(&outputs).map_err(failed)?;
    match copy_answer(request.runs, &row.run_dir, &outputs, &request.limits) {
        Ok(CopiedAnswer { files, not_copied, .. }) => {
            exported.answer_files += files;
            exported.not_copied.extend(not_copied);
        }
        Err(CopyError::Write(error)) => return Err(failed(error)),
        Err(CopyError::Run(_)) if row.missing_output || !row.is_scorable() => {}
        // many workspaces keep verdicts without answers
        Err(CopyError::Run(problem)) if row.is_stored => exported.not_copied.push(problem.to_string()),
        Err(CopyError::Run(problem)) => {
            return Err(ExportError::NoAnswer {
                case: row.case.id.clone(),
                variant: row.variant.clone(),
                repetition: row.repetition,
                problem,
            });
        }
    }
    exported.runs += 1;
    let keeps_one_arm = request.report.analysis.table.baseline == Baseline::WithoutSkill;
    if let Ok(rated) = &run.rated {
        exported.graded += 1;
        let bytes = grading_file(run, rated, request.format, &arm.name, keeps_one_arm).map_err(failed)?;
        folder.write(&format!("{path}/grading.json"), &bytes).map_err(failed)?;
    }
    if let Some(bytes) = timing_file(run).map_err(failed)? {
        folder.write(&format!("{path}/timing.json"), &bytes).map_err(failed)?;
    }
    if row.unscored_reasons.iter().any(|reason| reason == "executor_error" || reason == "runner_error") {
        let text = format!("this run is not scored: {}\n", row.unscored_reasons.join(", "));
        folder.write(&format!("{path}/error.txt"), text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

enum BenchmarkError {
    Io(io::Error),
    ReadBack(String),
}

impl From<io::Error> for BenchmarkError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// `benchmark.json` and `benchmark.md`, as the tools of the format make them of these files.
fn write_benchmark(request: &ExportRequest<'_>, folder: &AtomicFolder, arms: &[Arm]) -> Result<(), BenchmarkError> {
    let report = &request.report;
    let mut bytes = Vec::new();
    let page = match request.format {
        Format::SkillCreator => {
            write_skill_creator_benchmark(&mut bytes, report, BenchmarkStyle::Workspace(arms))?;
            let value = serde_json::from_slice(&bytes).map_err(io::Error::from)?;
            skill_creator_markdown(&value)
        }
        Format::SkillForge => {
            let unread = |problem: String| BenchmarkError::ReadBack(problem);
            let iteration = UpstreamIteration::read(folder.path(), &request.limits);
            let iteration = iteration.map_err(|error| unread(error.to_string()))?;
            let benchmark = UpstreamBenchmark::of(&iteration, None);
            write_upstream(&mut bytes, report.skill_name, report.generated_at, &benchmark)?;
            forge_page(request, folder.path()).map_err(unread)?
        }
    };
    folder.write("benchmark.json", &bytes)?;
    folder.write("benchmark.md", page.as_bytes())?;
    Ok(())
}

/// The report of the forge pipeline on what was written.
fn forge_page(request: &ExportRequest<'_>, folder: &Path) -> Result<String, String> {
    let kind = Some(WorkspaceKind::SkillForge);
    let options = WorkspaceOptions { kind, limits: request.limits, ..WorkspaceOptions::default() };
    let workspace = Workspace::open(folder, options)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let reading = super::read_forge(&workspace, Unfinished::default()).map_err(|error| error.to_string())?;
    let usual = skill_lift_stats::Thresholds::default();
    let (lift, patterns) = (ForgeLift::of(&reading.iteration, &usual), Patterns::of(&reading.iteration, &usual));
    let view = ForgeView {
        skill_name: request.report.skill_name,
        generated_at: request.report.generated_at,
        trials_requested: None,
        baseline_type: None,
        iteration: &reading.iteration,
        lift: &lift,
        patterns: &patterns,
        thresholds: &ThresholdResults::of(&ThresholdValues::default(), &reading.iteration, &lift),
        comparison: None,
    };
    Ok(markdown(&view))
}
