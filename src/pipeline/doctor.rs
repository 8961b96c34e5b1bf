//! What a path is: which format, what was understood, what was not, and what to do next.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

use super::evaluate::FrameChoice;
use super::input::Input;
use super::inventory::{cases_in, folders_above, inventory, read_suite, suites_above, trees_of};
use super::shell::quoted;
use super::workspace::{TreeCases, WorkspaceRequest, evaluate_workspace};
use crate::analyze::benchmark_file::CheckedBenchmark;
use crate::analyze::diagnosis::{ArmFacts, Diagnosis, Finding, Subject, WorkspaceFacts};
use crate::analyze::sanity::{Sanity, SanityKind, Signs};
use crate::analyze::{AnalysisOptions, analyze};
use crate::report::{RowDetail, RowWriter};
use crate::runs::claims::{self, ClaimsError};
use crate::runs::index::shown_path;
use crate::runs::workspace::{Layout, Workspace, WorkspaceOptions, read_verdicts};
use crate::runs::{LayoutError, Limits};
use crate::suite::{AssertionClass, Diagnostics, Dialect, Level, LoadOptions, Suite, load};

/// Why nothing can be said of a path.
#[derive(Debug)]
pub enum DoctorError {
    /// Each a line for people.
    Refused(Vec<String>),
    /// A suite with errors.
    Suite(Box<Diagnostics>),
}

/// Examples that are kept of each kind of oddity.
const KEPT: usize = 5;

/// Says what is at a path.
///
/// # Errors
/// A path that is nothing that can be read, with what was tried.
pub fn diagnose(path: &Path, options: WorkspaceOptions) -> Result<Diagnosis, DoctorError> {
    if path.is_dir() { diagnose_folder(path, options) } else { diagnose_file(path, &options.limits) }
}

fn diagnose_file(path: &Path, limits: &Limits) -> Result<Diagnosis, DoctorError> {
    let shown = shown_path(path);
    let loaded = load(path, &LoadOptions { max_bytes: limits.output_bytes, ..LoadOptions::default() });
    if let Some(suite) = loaded.suite {
        let next = next_for_suite(&shown, &suite);
        let findings = findings_of(&loaded.diagnostics);
        return Ok(Diagnosis { path: shown, subject: Subject::Suite(Box::new(suite)), findings, next });
    }
    let read = claims::ReadOptions { bytes: limits.output_bytes, ..claims::ReadOptions::default() };
    let refusal = match claims::load(path, &read) {
        Ok(claims) => {
            let findings = claims
                .notes
                .iter()
                .map(|note| Finding {
                    code: note.code.code(),
                    count: note.count,
                    examples: vec![example(&note.pointer, &note.detail)],
                })
                .collect();
            let next = vec![format!("skill-lift diff OLD {}", quoted(&shown))];
            return Ok(Diagnosis { path: shown, subject: Subject::Results(Box::new(claims)), findings, next });
        }
        Err(error) => error,
    };
    if let Some(document) = read_verdicts(path, limits.sidecar_bytes) {
        let workspace = folders_above(path).into_iter().find(|folder| Workspace::is_one(folder));
        let next = workspace.map(|folder| format!("skill-lift doctor {}", quoted(&shown_path(&folder))));
        let next = next.into_iter().collect();
        return Ok(Diagnosis { path: shown, subject: Subject::Verdicts(document), findings: Vec::new(), next });
    }
    Err(match refusal {
        // a suite with errors says more than what it would lack as something else
        ClaimsError::NotResults(_) | ClaimsError::NotAnObject(_) if is_meant_as_suite(&loaded.diagnostics) => {
            DoctorError::Suite(Box::new(loaded.diagnostics))
        }
        ClaimsError::NotResults(_) | ClaimsError::NotAnObject(_) => DoctorError::Refused(vec![
            format!("{shown} is no suite: no case has a prompt"),
            format!("{shown} {refusal}"),
            format!("{shown} holds no list of verdicts: `expectations` or `assertions`, each with a text and `passed`"),
        ]),
        other => DoctorError::Refused(vec![format!("{shown}: {other}")]),
    })
}

/// Whether a file that is refused as a suite was meant to be one: something is wrong inside of its cases, or two keys
/// say the same.
fn is_meant_as_suite(diagnostics: &Diagnostics) -> bool {
    let about_the_whole = ["version-form", "top-level-shape", "not_an_eval_suite", "empty-skill-path"];
    diagnostics.all().iter().any(|found| found.level == Level::Error && !about_the_whole.contains(&found.rule))
}

fn diagnose_folder(path: &Path, options: WorkspaceOptions) -> Result<Diagnosis, DoctorError> {
    let shown = shown_path(path);
    let mut refusals = Vec::new();
    match Input::of_workspace(path, options) {
        Ok(input) => {
            if let Input::Workspace { workspace, suite, .. } = &input
                && !(is_bare(workspace) && of_runs(path).is_some())
            {
                return diagnose_workspace(shown, &input, workspace, suite);
            }
        }
        Err(errors) if !errors.iter().any(|error| matches!(error, LayoutError::NoLayout { .. })) => {
            return Err(DoctorError::Refused(errors.iter().map(ToString::to_string).collect()));
        }
        Err(errors) => refusals = errors.iter().map(ToString::to_string).collect(),
    }
    if let Some(diagnosis) = of_runs(path) {
        return Ok(diagnosis);
    }
    let found = inventory(path);
    match (found.suites.as_slice(), found.workspaces.as_slice(), found.results.as_slice()) {
        ([], [], []) if refusals.is_empty() => Err(DoctorError::Refused(vec![nothing_found(path)])),
        ([], [], []) => Err(DoctorError::Refused(refusals)),
        ([file], [], []) | ([], [], [file]) => diagnose_file(Path::new(file), &options.limits),
        _ => {
            let all = found.suites.iter().chain(&found.workspaces).chain(&found.results);
            let next = all.take(KEPT).map(|path| format!("skill-lift doctor {}", quoted(path))).collect();
            Ok(Diagnosis { path: shown, subject: Subject::Folder(found), findings: Vec::new(), next })
        }
    }
}

/// Why a folder is refused, with what was looked for.
fn nothing_found(path: &Path) -> String {
    let (folder, iterations, passed_over) = (shown_path(path), Vec::new(), Vec::new());
    let patterns = Layout::ALL.iter().map(|layout| layout.pattern()).collect();
    LayoutError::NoLayout { folder, patterns, iterations, passed_over }.to_string()
}

/// Whether a tree could as well be one of runs that were never graded: it has neither verdicts nor descriptions.
fn is_bare(workspace: &Workspace) -> bool {
    !workspace.has_verdicts() && workspace.evals.iter().all(|eval| eval.metadata.is_none())
}

/// A tree of runs whose folders are cases of a suite near it.
fn of_runs(path: &Path) -> Option<Diagnosis> {
    let shown = shown_path(path);
    let found = suites_above(path).into_iter().find_map(|suite_path| {
        let suite = read_suite(&suite_path).filter(|suite| suite.dialect == Dialect::SharedBenchmark)?;
        let found = cases_in(path, &suite);
        (found > 0).then(|| (shown_path(&suite_path), suite, found))
    });
    let (suite, cases, found) = found.map(|(path, suite, found)| (path, suite.cases.len(), found))?;
    let next = vec![format!("skill-lift benchmark {} --runs {}", quoted(&suite), quoted(&shown))];
    let subject = Subject::Runs { suite, cases, found };
    Some(Diagnosis { path: shown, subject, findings: Vec::new(), next })
}

fn diagnose_workspace(
    shown: String,
    input: &Input,
    workspace: &Workspace,
    suite: &Suite,
) -> Result<Diagnosis, DoctorError> {
    let (facts, findings) = facts(input, workspace, suite).map_err(|message| DoctorError::Refused(vec![message]))?;
    let next = next_for_workspace(&facts, workspace);
    Ok(Diagnosis { path: shown, subject: Subject::Workspace(Box::new(facts)), findings, next })
}

/// Rows that nobody reads.
struct Discarded;

impl RowWriter for Discarded {
    fn push(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

fn facts(input: &Input, workspace: &Workspace, suite: &Suite) -> Result<(WorkspaceFacts, Vec<Finding>), String> {
    let request = WorkspaceRequest {
        workspace,
        suite,
        cases: TreeCases::of_tree(&suite.cases),
        variants: &[],
        strict_evidence: false,
        evidence_characters: 0,
        frames: FrameChoice::Runs,
        rows: RowDetail::default(),
        regrade: None,
        progress: None,
    };
    let (evaluated, variants) = evaluate_workspace(&request, &mut Discarded).map_err(|error| error.to_string())?;
    let frames = evaluated.frames.ok_or("the runs were not collected")?;
    let options = AnalysisOptions { baseline: input.baseline(&variants), ..AnalysisOptions::default() };
    let analysis = analyze(frames, &variants, &options).map_err(|error| error.to_string())?;
    let mut arms: BTreeMap<u32, ArmFacts> = BTreeMap::new();
    for run in &analysis.table.runs {
        let arm = arms.entry(run.order.variant).or_default();
        arm.runs += 1;
        arm.scored += usize::from(run.scorable);
    }
    let assertions = || suite.cases.iter().flat_map(|case| &case.assertions);
    let offline = assertions().filter(|assertion| assertion.class() == AssertionClass::Deterministic).count();
    let stored = evaluated.stored.filter(|_| workspace.has_verdicts());
    let benchmark_file = stored.as_ref().and_then(|stored| input.check_benchmark(&analysis, stored, None));
    let mut findings: Vec<Finding> = evaluated
        .warnings
        .kinds()
        .map(|(code, count, kept)| Finding {
            code: code.code(),
            count,
            examples: kept.iter().map(ToString::to_string).collect(),
        })
        .collect();
    findings.extend(benchmark_file.as_ref().map(findings_of_benchmark).unwrap_or_default());
    if stored.is_some() {
        findings.extend(findings_of_sanity(&analysis.sanity, &findings));
    }
    let facts = WorkspaceFacts {
        dialect: workspace.kind.into(),
        root: workspace.shown_root().to_owned(),
        evals: workspace.evals.len(),
        arms: arms.into_iter().map(|(arm, facts)| (analysis.table.variant(arm).to_owned(), facts)).collect(),
        sanity: stored.is_some().then_some(analysis.sanity),
        stored,
        offline_assertions: (offline, assertions().count()),
        paired_cases: analysis.inference.by_case.iter().filter(|case| case.rates.is_some()).count(),
        lift: analysis.inference.overall.test.estimate.clone(),
        benchmark_file,
    };
    Ok((facts, findings))
}

/// Signs that no warning has named.
fn findings_of_sanity(sanity: &Sanity, named: &[Finding]) -> Vec<Finding> {
    let signs = sanity
        .signs
        .iter()
        .filter(|(kind, signs)| signs.count > 0 && !named.iter().any(|finding| finding.code == kind.code()));
    let finding = |(kind, signs): (&SanityKind, &Signs)| Finding {
        code: kind.code(),
        count: signs.count,
        examples: signs.named.iter().take(KEPT).cloned().collect(),
    };
    signs.map(finding).collect()
}

fn findings_of_benchmark(checked: &CheckedBenchmark) -> Vec<Finding> {
    let mut by_code: BTreeMap<&'static str, Finding> = BTreeMap::new();
    if let Err(problem) = &checked.claims {
        let examples = vec![format!("{}: {problem}", checked.file)];
        by_code.insert("benchmark_unreadable", Finding { code: "benchmark_unreadable", count: 1, examples });
    }
    for found in &checked.contradictions {
        let code = found.code.code();
        let finding = by_code.entry(code).or_insert(Finding { code, count: 0, examples: Vec::new() });
        finding.count += 1;
        if finding.examples.len() < KEPT {
            let text = format!(
                "{}: {}: it states {}, the verdicts say {}",
                checked.file, found.subject, found.claimed, found.found
            );
            finding.examples.push(text);
        }
    }
    by_code.into_values().collect()
}

fn findings_of(diagnostics: &Diagnostics) -> Vec<Finding> {
    let mut by_code: BTreeMap<&'static str, Finding> = BTreeMap::new();
    for found in diagnostics.all().iter().filter(|found| found.level != Level::Note) {
        let finding = by_code.entry(found.rule).or_insert(Finding { code: found.rule, count: 0, examples: Vec::new() });
        finding.count += 1;
        if finding.examples.len() < KEPT {
            finding.examples.push(found.line());
        }
    }
    by_code.into_values().collect()
}

fn next_for_suite(path: &str, suite: &Suite) -> Vec<String> {
    let validate = format!("skill-lift validate {}", quoted(path));
    if suite.cases.iter().all(|case| case.is_trigger()) {
        return vec![validate];
    }
    let trees = trees_of(Path::new(path));
    let runs = trees.first().map_or("RUNS", |(_, tree)| tree);
    vec![validate, format!("skill-lift benchmark {} --runs {}", quoted(path), quoted(runs))]
}

fn next_for_workspace(facts: &WorkspaceFacts, workspace: &Workspace) -> Vec<String> {
    let root = quoted(&facts.root);
    let mut next = match suite_of(workspace) {
        Some(suite) => vec![format!("skill-lift benchmark {} --runs {root}", quoted(&suite))],
        None => Vec::new(),
    };
    // without verdicts and without assertions there is nothing to grade by
    if facts.stored.is_some() || facts.offline_assertions.1 > 0 {
        next.insert(0, format!("skill-lift benchmark {root}"));
    } else if next.is_empty() {
        next.push(format!("skill-lift benchmark SUITE --runs {root}"));
    }
    if facts.stored.is_some() && facts.offline_assertions.0 > 0 {
        next.push(format!("skill-lift benchmark {root} --regrade"));
    }
    if facts.dialect != Dialect::SkillCreator {
        next.push(format!("skill-lift report {root}"));
    }
    let parent = facts.root.rsplit_once('/').map_or("", |(parent, _)| parent);
    let siblings = workspace.other_iterations.iter().rev().map(|name| match parent {
        "" => name.clone(),
        _ => format!("{parent}/{}", name.rsplit('/').next().unwrap_or(name)),
    });
    if let Some(earlier) = siblings.into_iter().take(KEPT).find(|earlier| shares_an_eval(workspace, earlier)) {
        next.push(format!("skill-lift diff {} {root}", quoted(&earlier)));
    }
    next
}

/// Whether another iteration measured at least one of the evals of this one, so that the two can be compared.
fn shares_an_eval(workspace: &Workspace, other: &str) -> bool {
    let Ok(other) = Workspace::open(Path::new(other), *workspace.options()) else { return false };
    let evals: HashSet<String> = other.evals.iter().map(|eval| other.case_id(eval)).collect();
    workspace.evals.iter().any(|eval| evals.contains(&workspace.case_id(eval)))
}

/// A place in a file and what is there.
fn example(pointer: &str, detail: &str) -> String {
    [pointer, detail].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
}

/// The suite of an iteration: one near it whose cases have the prompts or the names of the evals.
fn suite_of(workspace: &Workspace) -> Option<String> {
    let fits = |path: &std::path::PathBuf| read_suite(path).is_some_and(|suite| TreeCases::fits(workspace, &suite));
    suites_above(workspace.root()).into_iter().find(fits).map(|path| shown_path(&path))
}
