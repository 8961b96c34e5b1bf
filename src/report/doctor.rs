//! What `doctor` says: for people and for programs.

use std::io::{self, Write};

use serde::Serialize;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_text::screen::visible;

use super::numbers::{count, counted, points};
use super::ordered::Ordered;
use super::suite_counts::SuiteCounts;
use crate::analyze::diagnosis::{Diagnosis, Finding, Subject, WorkspaceFacts};
use crate::grade::stored::{JoinMethod, StoredTree};
use crate::runs::claims::{self, Claims};
use crate::runs::workspace::{GradingDocument, Layout, Passed, StoredGrading};
use crate::suite::{Dialect, Suite};

/// The diagnosis as a program reads it.
#[derive(Serialize)]
struct DiagnosisJson<'a> {
    path: &'a str,
    kind: &'static str,
    dialect: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<SuiteCounts<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<ResultsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdicts: Option<VerdictsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<RunsJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<FolderJson<'a>>,
    findings: Vec<FindingJson<'a>>,
    next: &'a [String],
}

/// A tree of runs.
#[derive(Serialize)]
struct RunsJson<'a> {
    suite: &'a str,
    cases: usize,
    cases_found: usize,
}

/// What stands below a folder.
#[derive(Serialize)]
struct FolderJson<'a> {
    suites: &'a [String],
    workspaces: &'a [String],
    results: &'a [String],
    run_trees: Vec<&'a str>,
    is_cut: bool,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    code: &'static str,
    count: usize,
    examples: &'a [String],
}

#[derive(Serialize)]
struct WorkspaceJson<'a> {
    root: &'a str,
    cases: usize,
    arms: Ordered<ArmJson>,
    layouts: Ordered<u32>,
    verdicts: Option<VerdictsJson>,
    joined: Ordered<u32>,
    flags: Ordered<u32>,
    unscored_reasons: Ordered<u32>,
    assertions: usize,
    offline_assertions: usize,
    paired_cases: usize,
    lift: Option<f64>,
}

#[derive(Serialize)]
struct ArmJson {
    runs: usize,
    scored: usize,
}

#[derive(Serialize)]
struct ResultsJson {
    form: &'static str,
    rows: usize,
    configurations: Ordered<RowsJson>,
    paired_evals: usize,
    lift: Option<f64>,
}

#[derive(Serialize)]
struct RowsJson {
    rows: usize,
    scored: usize,
    passed: u64,
    total: u64,
}

/// Verdicts by what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
struct VerdictsJson {
    passed: u32,
    failed: u32,
    undecided: u32,
}

impl VerdictsJson {
    fn of_tree(tree: &StoredTree) -> Self {
        Self { passed: tree.passed, failed: tree.failed, undecided: tree.undecided }
    }

    fn of_document(document: &GradingDocument) -> Self {
        let gradings: Vec<&StoredGrading> = match document {
            GradingDocument::One(grading) => vec![grading],
            GradingDocument::Runs(runs) => runs.iter().collect(),
            GradingDocument::Arms(arms) => arms.iter().flat_map(|(_, runs)| runs).collect(),
        };
        let mut counts = Self::default();
        for verdict in gradings.into_iter().filter_map(|grading| grading.verdicts.as_ref()).flatten() {
            match verdict.passed {
                Passed::Yes => counts.passed += 1,
                Passed::No => counts.failed += 1,
                Passed::Absent | Passed::Unreadable => counts.undecided += 1,
            }
        }
        counts
    }

    fn words(self) -> String {
        let all = self.passed + self.failed + self.undecided;
        let undecided =
            if self.undecided > 0 { format!(", {} without a decision", self.undecided) } else { String::new() };
        format!(
            "{}: {} passed, {} failed{undecided}",
            counted(all as usize, "verdict", "verdicts"),
            self.passed,
            self.failed
        )
    }
}

fn workspace_json(facts: &WorkspaceFacts) -> WorkspaceJson<'_> {
    let stored = facts.stored.as_ref();
    let counts = |of: &dyn Fn(&StoredTree) -> Vec<(String, u32)>| Ordered(stored.map(of).unwrap_or_default());
    WorkspaceJson {
        root: &facts.root,
        cases: facts.evals,
        arms: Ordered(
            facts
                .arms
                .iter()
                .map(|(arm, facts)| (arm.clone(), ArmJson { runs: facts.runs, scored: facts.scored }))
                .collect(),
        ),
        layouts: counts(&|tree| named(&tree.layouts, |layout| layout.code())),
        verdicts: stored.map(VerdictsJson::of_tree),
        joined: counts(&|tree| named(&tree.joined, |method| method.map_or("none", JoinMethod::word))),
        flags: counts(&|tree| named(&tree.flags, |flag| flag.code())),
        unscored_reasons: counts(&|tree| named(&tree.reasons, |reason| reason.code())),
        assertions: facts.offline_assertions.1,
        offline_assertions: facts.offline_assertions.0,
        paired_cases: facts.paired_cases,
        lift: facts.lift.as_ref().map(rational::to_f64),
    }
}

fn named<K: Copy>(counts: &std::collections::BTreeMap<K, u32>, name: impl Fn(K) -> &'static str) -> Vec<(String, u32)> {
    counts.iter().map(|(key, count)| (name(*key).to_owned(), *count)).collect()
}

fn results_json(claims: &Claims) -> ResultsJson {
    let arms = claims::arms(claims);
    let lift = claims::lift(claims);
    ResultsJson {
        form: claims.form.word(),
        rows: claims.rows.len(),
        configurations: Ordered(
            arms.iter()
                .map(|arm| {
                    let rows = RowsJson { rows: arm.rows, scored: arm.scored, passed: arm.passed, total: arm.total };
                    (arm.configuration.written.clone(), rows)
                })
                .collect(),
        ),
        paired_evals: lift.cases,
        lift: lift.lift().as_ref().map(rational::to_f64),
    }
}

/// What a path is, in a word for programs.
fn kind(subject: &Subject) -> &'static str {
    match subject {
        Subject::Suite(suite) if is_trigger_set(suite) => "trigger-set",
        Subject::Suite(_) => "suite",
        Subject::Workspace(_) => "workspace",
        Subject::Results(_) => "results",
        Subject::Verdicts(_) => "verdicts",
        Subject::Runs { .. } => "runs",
        Subject::Folder(_) => "folder",
    }
}

fn is_trigger_set(suite: &Suite) -> bool {
    !suite.cases.is_empty() && suite.cases.iter().all(|case| case.is_trigger())
}

/// Writes a diagnosis as JSON.
///
/// # Errors
/// Those of the writer.
pub fn write_json(diagnosis: &Diagnosis, writer: &mut dyn Write) -> io::Result<()> {
    let Diagnosis { path, subject, findings, next } = diagnosis;
    let json = DiagnosisJson {
        path,
        kind: kind(subject),
        dialect: match subject {
            Subject::Suite(suite) => Some(suite.dialect.name()),
            Subject::Workspace(facts) => Some(facts.dialect.name()),
            _ => None,
        },
        suite: if let Subject::Suite(suite) = subject { Some(SuiteCounts::of(suite)) } else { None },
        workspace: if let Subject::Workspace(facts) = subject { Some(workspace_json(facts)) } else { None },
        results: if let Subject::Results(claims) = subject { Some(results_json(claims)) } else { None },
        verdicts: if let Subject::Verdicts(document) = subject {
            Some(VerdictsJson::of_document(document))
        } else {
            None
        },
        runs: match subject {
            Subject::Runs { suite, cases, found } => Some(RunsJson { suite, cases: *cases, cases_found: *found }),
            _ => None,
        },
        folder: match subject {
            Subject::Folder(found) => Some(FolderJson {
                suites: &found.suites,
                workspaces: &found.workspaces,
                results: &found.results,
                run_trees: found.run_trees.iter().map(|(_, tree)| tree.as_str()).collect(),
                is_cut: found.is_cut,
            }),
            _ => None,
        },
        findings: findings
            .iter()
            .map(|Finding { code, count, examples }| FindingJson { code, count: *count, examples })
            .collect(),
        next,
    };
    serde_json::to_writer_pretty(&mut *writer, &json).map_err(io::Error::from)?;
    writeln!(writer)
}

/// Writes a diagnosis for a person.
///
/// # Errors
/// Those of the writer.
pub fn write_text(diagnosis: &Diagnosis, writer: &mut dyn Write) -> io::Result<()> {
    let Diagnosis { path, subject, findings, next } = diagnosis;
    let line = |writer: &mut dyn Write, text: &str| writeln!(writer, "{}", visible(text, false));
    line(writer, &format!("{path}: {}", title(subject)))?;
    writeln!(writer)?;
    for text in understood(subject)? {
        line(writer, &format!("  {text}"))?;
    }
    if !findings.is_empty() {
        writeln!(writer, "\nTo look at")?;
        for finding in findings {
            line(writer, &format!("  {} ({})", finding.code, count(finding.count)))?;
            for example in &finding.examples {
                line(writer, &format!("    {example}"))?;
            }
            if finding.count > finding.examples.len() {
                line(writer, &format!("    … and {} more", count(finding.count - finding.examples.len())))?;
            }
        }
    }
    if next.is_empty() {
        return Ok(());
    }
    writeln!(writer, "\nNext")?;
    for command in next {
        line(writer, &format!("  {command}"))?;
    }
    if next.iter().any(|command| command.split(' ').any(|word| PLACEHOLDERS.contains(&word))) {
        writeln!(writer, "  (a word in capitals stands for a path of yours)")?;
    }
    Ok(())
}

/// What stands in a command for a path that is not known.
const PLACEHOLDERS: [&str; 3] = ["OLD", "RUNS", "SUITE"];

fn title(subject: &Subject) -> String {
    let tool = |dialect: Dialect| match dialect {
        Dialect::SharedBenchmark => "a shared benchmark",
        Dialect::SkillEval => "the executor/grader runner",
        Dialect::SkillForge => "the forge pipeline",
        Dialect::SkillCreator => "the skill creator, or laid out like one",
    };
    match subject {
        Subject::Suite(suite) if is_trigger_set(suite) => "a set of trigger queries".to_owned(),
        Subject::Suite(suite) => format!("a suite of {} ({})", tool(suite.dialect), suite.dialect.name()),
        Subject::Workspace(facts) => format!("a workspace of {} ({})", tool(facts.dialect), facts.dialect.name()),
        Subject::Results(claims) => format!("a file of results ({})", claims.form.word()),
        Subject::Verdicts(_) => "a file of verdicts".to_owned(),
        Subject::Runs { .. } => "a tree of runs".to_owned(),
        Subject::Folder(_) => "a folder with several things".to_owned(),
    }
}

/// What was understood, a line each.
fn understood(subject: &Subject) -> io::Result<Vec<String>> {
    match subject {
        Subject::Suite(suite) => {
            let mut text = Vec::new();
            SuiteCounts::of(suite).write(&mut text, &suite.path.display().to_string())?;
            Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
        }
        Subject::Workspace(facts) => Ok(understood_workspace(facts)),
        Subject::Results(claims) => Ok(understood_results(claims)),
        Subject::Verdicts(document) => Ok(vec![VerdictsJson::of_document(document).words()]),
        Subject::Runs { suite, cases, found } => {
            let of = counted(*cases, "case", "cases");
            Ok(vec![format!("runs of {} of {of} of {suite}", count(*found))])
        }
        Subject::Folder(found) => {
            let named =
                |what: &str, paths: &[String]| paths.iter().map(|path| format!("{what}: {path}")).collect::<Vec<_>>();
            let mut lines = named("suite", &found.suites);
            lines.extend(found.run_trees.iter().map(|(suite, tree)| format!("tree of runs: {tree} (of {suite})")));
            lines.extend(named("workspace", &found.workspaces));
            lines.extend(named("results", &found.results));
            if found.is_cut {
                lines.push("there are more folders than are looked into: name one of them".to_owned());
            }
            Ok(lines)
        }
    }
}

fn understood_workspace(facts: &WorkspaceFacts) -> Vec<String> {
    let arms = facts.arms.iter().map(|(arm, facts)| match facts.runs - facts.scored {
        0 => format!("{arm} {}", count(facts.runs)),
        unscored => format!("{arm} {} ({} not scored)", count(facts.runs), count(unscored)),
    });
    let runs: usize = facts.arms.iter().map(|(_, arm)| arm.runs).sum();
    let mut lines = vec![format!(
        "{}, {}: {}",
        counted(facts.evals, "case", "cases"),
        counted(runs, "run", "runs"),
        arms.collect::<Vec<_>>().join(", ")
    )];
    match &facts.stored {
        Some(tree) => {
            let layouts = tree.layouts.keys().map(|layout: &Layout| layout.pattern());
            lines.push(format!("laid out as {}", layouts.collect::<Vec<_>>().join(" and ")));
            lines.push(VerdictsJson::of_tree(tree).words());
            let methods = tree.joined.iter().filter_map(|(method, count)| Some((method.as_ref()?.word(), count)));
            let methods: Vec<String> =
                methods.map(|(word, count)| format!("{count} by {}", word.replace('_', " "))).collect();
            if !methods.is_empty() {
                lines.push(format!("joined to assertions: {}", methods.join(", ")));
            }
            for (arm, telemetry) in &tree.telemetry {
                lines.push(format!(
                    "{arm}: tokens of {}, duration of {}",
                    counted(telemetry.runs_with_tokens as usize, "run", "runs"),
                    counted(telemetry.runs_with_duration as usize, "run", "runs")
                ));
            }
        }
        None => lines.push("no stored verdicts: the runs are graded when they are benchmarked".to_owned()),
    }
    let (offline, all) = facts.offline_assertions;
    if all > 0 {
        let assertions = counted(all, "assertion", "assertions");
        lines.push(format!("{assertions} in the metadata, {} of them gradable without a judge", count(offline)));
    }
    lines.push(match &facts.lift {
        Some(lift) => format!("{} with both arms: lift {}", counted(facts.paired_cases, "case", "cases"), points(lift)),
        None => "no case has both arms: no lift can be measured".to_owned(),
    });
    lines
}

fn understood_results(claims: &Claims) -> Vec<String> {
    let mut lines = vec![counted(claims.rows.len(), "row", "rows")];
    for arm in claims::arms(claims) {
        let graded = if arm.total > 0 { format!(", {} of {} passed", arm.passed, arm.total) } else { String::new() };
        lines.push(format!(
            "{}: {}, {} scored{graded}",
            arm.configuration.written,
            counted(arm.rows, "row", "rows"),
            arm.scored
        ));
    }
    let lift = claims::lift(claims);
    let shown = |value: &Rational| points(value);
    if let Some(value) = lift.lift() {
        lines.push(format!("{} with both arms: lift {}", counted(lift.cases, "case", "cases"), shown(&value)));
    }
    for delta in &claims.published_delta {
        lines.push(format!("it publishes {} {}", delta.metric, delta.text));
    }
    lines
}
