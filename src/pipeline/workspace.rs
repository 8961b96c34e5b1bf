//! Reading a workspace with stored verdicts into rows and, when they are asked for, frames.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;

use rayon::prelude::*;
use skill_lift_text::python;

use super::evaluate::{Collector, Evaluated, EvaluationError, FrameChoice, Projected};
use crate::grade::stored::{RegradeEvidence, StoredSubject, grade_stored};
use crate::grade::{GradeOptions, GradedRun, GradedWith};
use crate::report::{RowDetail, RowWriter, row};
use crate::runs::sidecar::Metadata;
use crate::runs::workspace::{EvalDirectory, OWN_KEY, StoredRun, Unit, Workspace, answer};
use crate::runs::{LayoutError, Role, RunWarning, WarningCode};
use crate::suite::{Case, Suite, assertions_of};

/// Units that are read before their runs are handed on.
const BATCH: usize = 128;

/// Bytes of files of verdicts that are read before their runs are handed on; a single file may be larger. Two batches
/// are in memory at a time, as several times the bytes of their files.
const BATCH_BYTES: u64 = 32 * 1024 * 1024;

/// The cases of a tree, and which eval of it is which case.
#[derive(Debug)]
pub struct TreeCases<'a> {
    /// The cases in report order.
    pub cases: Vec<&'a Case>,
    /// For each eval of the workspace the position of its case; `None` when the suite has no such case.
    pub case_of_eval: Vec<Option<usize>>,
}

/// The cases that a tree implies, one for each of its evals.
pub fn cases_of_tree(workspace: &Workspace) -> Vec<Case> {
    let case = |eval: &EvalDirectory| {
        let mut case = Case::named(workspace.case_id(eval));
        let named = eval.title.as_ref().unwrap_or(&eval.name);
        case.name = Some(named.clone()).filter(|name| *name != case.id);
        if let Some(metadata) = &eval.metadata {
            case.name = metadata.name.clone().or(case.name);
            case.prompt = metadata.prompt.clone();
            case.should_trigger = metadata.should_trigger;
            let own = metadata.document.get(OWN_KEY);
            case.family = own.and_then(|own| own.get("family")?.as_str()).map(str::to_owned);
            case.assertions = assertions_of(&metadata.document);
        }
        case
    };
    workspace.evals.iter().map(case).collect()
}

impl<'a> TreeCases<'a> {
    /// Every eval is a case of its own; `cases` are those of [`cases_of_tree`].
    pub fn of_tree(cases: &'a [Case]) -> Self {
        Self { cases: cases.iter().collect(), case_of_eval: (0..cases.len()).map(Some).collect() }
    }

    /// The cases of a suite: an eval is the case with its id, else the case with its name. A number in a longer name
    /// may be anything: there the name counts first.
    pub fn of_suite(workspace: &Workspace, cases: Vec<&'a Case>) -> Self {
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut by_name: HashMap<String, usize> = HashMap::new();
        for (position, case) in cases.iter().enumerate() {
            by_id.insert(case.id.as_str(), position);
            if let Some(name) = &case.name {
                by_name.entry(slug(name)).or_insert(position);
            }
        }
        let find = |eval: &EvalDirectory| {
            let id = workspace.case_id(eval);
            let name = eval.metadata.as_ref().and_then(|metadata| metadata.name.as_deref());
            let bare = eval.name.strip_prefix("eval-").unwrap_or(&eval.name);
            let by_slug = |name: &str| by_name.get(&slug(name)).copied();
            let named = || name.and_then(by_slug).or_else(|| by_slug(bare));
            let numbered = || by_id.get(id.as_str()).copied();
            if eval.id_is_guessed { named().or_else(numbered) } else { numbered().or_else(named) }
        };
        let case_of_eval = workspace.evals.iter().map(find).collect();
        Self { cases, case_of_eval }
    }
}

impl TreeCases<'_> {
    /// Whether a suite is the one of a workspace: most of the evals that say what they asked, or what they are called,
    /// have a case that says the same.
    pub fn fits(workspace: &Workspace, suite: &Suite) -> bool {
        let cases = TreeCases::of_suite(workspace, suite.cases.iter().collect());
        let (mut same, mut told) = (0, 0);
        for (eval, case) in workspace.evals.iter().zip(&cases.case_of_eval) {
            let case = case.map(|case| cases.cases[case]);
            let metadata = eval.metadata.as_ref();
            let prompt = metadata.and_then(|metadata| metadata.prompt.as_deref());
            let name = metadata.and_then(|metadata| metadata.name.as_deref()).or(eval.title.as_deref());
            told += usize::from(prompt.is_some() || name.is_some());
            same += usize::from(case.is_some_and(|case| {
                let same_prompt = prompt.zip(case.prompt.as_deref()).is_some_and(|(a, b)| same_words(a, b));
                let same_name = name.zip(case.name.as_deref()).is_some_and(|(a, b)| slug(a) == slug(b));
                same_prompt || same_name
            }));
        }
        told > 0 && same * 2 >= told
    }
}

/// Whether two texts are the same but for white space.
fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// A name as a folder of a workspace spells it: letters and digits in lower case, everything else a hyphen.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for character in python::lower(name).chars() {
        if character.is_alphanumeric() {
            slug.push(character);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// What to evaluate.
pub struct WorkspaceRequest<'a> {
    /// The tree.
    pub workspace: &'a Workspace,
    /// The suite that the checks of `--regrade` belong to.
    pub suite: &'a Suite,
    /// Its cases.
    pub cases: TreeCases<'a>,
    /// The arms that were asked for, in order; all of the tree when empty.
    pub variants: &'a [String],
    /// Whether a run is unscored when its grader left assertions out.
    pub strict_evidence: bool,
    /// Code points of the evidence of one check.
    pub evidence_characters: usize,
    /// Which frames are made.
    pub frames: FrameChoice,
    /// How much of a run the rows have.
    pub rows: RowDetail,
    /// Compares stored verdicts with what the checks find that need no judge.
    pub regrade: Option<&'a GradeOptions>,
    /// Called with the number of units that are done, and of all units.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

/// Reads a workspace. `rows` gets the rows of the report. Also the arms, in report order.
///
/// # Errors
/// A tree in which the identity of a run is ambiguous, a directory that cannot be listed, a full disk.
pub fn evaluate_workspace(
    request: &WorkspaceRequest<'_>,
    rows: &mut dyn RowWriter,
) -> Result<(Evaluated, Vec<String>), EvaluationError> {
    let workspace = request.workspace;
    let on_duplicate = workspace.options().on_duplicate;
    let mut collector = Collector::new(rows, &request.cases.cases, request.frames, on_duplicate);
    collector.duplicates_dropped = workspace.duplicates_dropped();
    collector.digest.extend(workspace.digests().to_vec());
    let told = workspace.warnings().iter().cloned();
    collector.warnings.extend(told.chain(unknown_cases(request)).chain(other_prompts(request)));
    collector.add_up_stored(request.regrade.is_some());
    if duplicates_are_neighbours(request) {
        collector.expect_neighbours();
    }
    grade_workspace(request, |run| project(request, run), |graded| collector.push(graded))?;
    let (evaluated, _, _) = collector.finish()?;
    Ok((evaluated, variants_of(workspace, request.variants)))
}

/// Grades the runs of a workspace from their stored verdicts. `project` is called on any thread with a run; `consume` is
/// called in report order.
///
/// # Errors
/// The first error in report order: of `consume`, or of a directory that cannot be listed.
pub fn grade_workspace<T, E>(
    request: &WorkspaceRequest<'_>,
    project: impl Fn(&GradedRun) -> T + Sync,
    mut consume: impl FnMut(GradedWith<T>) -> Result<(), E> + Send,
) -> Result<(), E>
where
    T: Send,
    E: From<LayoutError> + Send,
{
    let variants = variants_of(request.workspace, request.variants);
    let units = units_in_order(request, &variants);
    let mut done = 0;
    let mut hand_on = |results: Vec<Result<Vec<GradedWith<T>>, LayoutError>>| {
        for runs in results {
            for graded in runs? {
                consume(graded)?;
            }
            done += 1;
            if let Some(progress) = request.progress {
                progress(done, units.len());
            }
        }
        Ok::<(), E>(())
    };
    let mut ready = Vec::new();
    let mut rest = units.as_slice();
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(batch_length(request.workspace, rest));
        rest = later;
        // the runs of one batch are handed on while the next one is read
        let with = |run: GradedRun| GradedWith { projected: project(&run), run };
        let read_one = |placed: &PlacedUnit<'_>| Ok(read_unit(request, placed)?.into_iter().map(with).collect());
        let read = || batch.par_iter().map(read_one).collect();
        let (written, graded) = rayon::join(|| hand_on(std::mem::take(&mut ready)), read);
        written?;
        ready = graded;
    }
    hand_on(ready)
}

/// Whether only runs of one file can have the same identity; they are read in the order of their numbers.
fn duplicates_are_neighbours(request: &WorkspaceRequest<'_>) -> bool {
    let variants = variants_of(request.workspace, request.variants);
    let mut numbers: HashMap<_, Vec<Option<u32>>> = HashMap::new();
    for PlacedUnit { unit, case, variant } in units_in_order(request, &variants) {
        let model = unit.configuration.model.as_deref().or(request.workspace.model.as_deref());
        numbers.entry((case, model, variant)).or_default().push(unit.repetition);
    }
    numbers.values().all(|numbers| {
        let known: BTreeSet<u32> = numbers.iter().copied().flatten().collect();
        numbers.len() == 1 || known.len() == numbers.len()
    })
}

/// How many of the next units are read together: at least one, and as many as stay below both limits.
fn batch_length(workspace: &Workspace, units: &[PlacedUnit<'_>]) -> usize {
    let size = |placed: &PlacedUnit<'_>| {
        let file = placed.unit.grading.as_ref().map(|file| workspace.root().join(file));
        file.and_then(|file| fs::metadata(file).ok()).map_or(0, |data| data.len())
    };
    let mut bytes: u64 = 0;
    let fits = |placed: &&PlacedUnit<'_>| {
        bytes = bytes.saturating_add(size(placed));
        bytes <= BATCH_BYTES
    };
    units.iter().take(BATCH).take_while(fits).count().max(1)
}

/// A unit with its place in the report.
struct PlacedUnit<'a> {
    unit: &'a Unit,
    case: usize,
    variant: usize,
}

/// The arms of a tree: the skill's first, then what it is compared with, then the others by name.
pub fn variants_of(workspace: &Workspace, asked: &[String]) -> Vec<String> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let seen: BTreeSet<(Role, &str)> =
        workspace.units.iter().map(|unit| (unit.configuration.role, unit.configuration.variant())).collect();
    let mut variants: Vec<String> = Vec::new();
    for (_, variant) in seen {
        if !variants.iter().any(|known| known == variant) {
            variants.push(variant.to_owned());
        }
    }
    variants
}

fn units_in_order<'a>(request: &WorkspaceRequest<'a>, variants: &[String]) -> Vec<PlacedUnit<'a>> {
    let placed = request.workspace.units.iter().filter_map(|unit| {
        let case = request.cases.case_of_eval[unit.eval]?;
        let variant = variants.iter().position(|variant| variant == unit.configuration.variant())?;
        Some(PlacedUnit { unit, case, variant })
    });
    let mut placed: Vec<PlacedUnit<'a>> = placed.collect();
    placed.sort_by(|a, b| {
        let key = |placed: &PlacedUnit<'a>| (placed.case, &placed.unit.configuration.model, placed.variant);
        key(a).cmp(&key(b)).then_with(|| a.unit.repetition.cmp(&b.unit.repetition))
    });
    placed
}

/// Cases of the suite that ask something else than their evals did: their verdicts may be about other work.
fn other_prompts(request: &WorkspaceRequest<'_>) -> Vec<RunWarning> {
    let evals = request.workspace.evals.iter().zip(&request.cases.case_of_eval);
    let other = evals.filter_map(|(eval, case)| {
        let case = request.cases.cases[(*case)?];
        let prompt = eval.metadata.as_ref()?.prompt.as_deref()?;
        let differs = case.prompt.as_deref().is_some_and(|asked| !same_words(asked, prompt));
        differs.then(|| RunWarning {
            code: WarningCode::PromptDiffers,
            path: eval.path.clone(),
            message: format!("the suite asks something else in case {}; are these its runs?", case.id),
        })
    });
    other.collect()
}

fn unknown_cases(request: &WorkspaceRequest<'_>) -> Vec<RunWarning> {
    if request.cases.case_of_eval.iter().all(Option::is_some) {
        return Vec::new();
    }
    // a case of another split is known, though nobody asked for it
    let all = TreeCases::of_suite(request.workspace, request.suite.cases.iter().collect());
    let evals = request.workspace.evals.iter().zip(&all.case_of_eval);
    let unknown = evals.filter(|(_, case)| case.is_none()).map(|(eval, _)| RunWarning {
        code: WarningCode::UnknownCase,
        path: eval.path.clone(),
        message: "no case of the suite has this id; its runs are not read".to_owned(),
    });
    unknown.collect()
}

fn read_unit(request: &WorkspaceRequest<'_>, placed: &PlacedUnit<'_>) -> Result<Vec<GradedRun>, LayoutError> {
    let workspace = request.workspace;
    let PlacedUnit { unit, case, variant } = placed;
    let subject = StoredSubject {
        kind: workspace.kind,
        case: request.cases.cases[*case],
        case_position: *case,
        eval: &workspace.evals[unit.eval],
        configuration: &unit.configuration,
        variant_position: *variant,
        model: workspace.model.as_deref(),
        strict_evidence: request.strict_evidence,
        evidence_characters: request.evidence_characters,
    };
    let reading = workspace.read(unit)?;
    let (mut digests, mut warnings) = (Some(reading.digests), Some(reading.warnings));
    let mut graded = Vec::with_capacity(reading.runs.len());
    for run in reading.runs {
        let evidence = request.regrade.map(|options| regrade_evidence(request, options, &run)).transpose()?;
        let digests = digests.take().unwrap_or_default();
        let warnings = warnings.take().unwrap_or_default();
        graded.push(grade_stored(subject, run, digests, warnings, evidence));
    }
    Ok(graded)
}

fn regrade_evidence<'a>(
    request: &WorkspaceRequest<'a>,
    options: &'a GradeOptions,
    run: &StoredRun,
) -> Result<RegradeEvidence<'a>, LayoutError> {
    let mut directory = request.workspace.run_directory(run)?;
    let answer = answer(&mut directory, &request.workspace.options().limits);
    Ok(RegradeEvidence { directory, answer, suite: request.suite, options })
}

fn project(request: &WorkspaceRequest<'_>, run: &GradedRun) -> io::Result<Projected> {
    let case = request.cases.cases[run.case];
    let shown = request.workspace.shown_path_below(&run.path);
    let row = row::format(run, case, &shown, request.rows.metadata(Metadata::Empty))?;
    Ok(Projected { row, tasks: Vec::new(), grading_file: None })
}
