//! From a path that the user named to one side of a comparison.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::analyze::diff::Side;
use crate::cli::choices::{DuplicateChoice, LayoutArgument, UnobservedChoice};
use crate::cli::output::{Color, fail, message_style, warn_line};
use crate::cli::warnings::{fail_each, print_warnings};
use crate::grade::GradeOptions;
use crate::judge::Verdicts;
use crate::pipeline::{
    EvaluationError, GradedSide, Input, Request, RunsSource, SIDE_PRODUCTS, SideRequest, TreeCases, WorkspaceRequest,
    graded_side, variants_of, workspace_cases,
};
use crate::runs::claims::{ClaimsError, ReadOptions, load as load_claims};
use crate::runs::index::shown_path;
use crate::runs::workspace::{Workspace, WorkspaceOptions};
use crate::runs::{IndexOptions, Limits};
use crate::suite::render::print_failures;
use crate::suite::{LoadOptions, Loaded, Suite, load};

/// The file that an iteration without a known layout may still hold.
const BENCHMARK: &str = "benchmark.json";

/// How sides are read.
#[derive(Debug, Args)]
pub struct OpenArguments {
    /// The suite that folders of runs are graded with.
    #[arg(long, value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// The suite of OLD, if it was another one.
    #[arg(long, value_name = "SUITE", requires = "suite")]
    old_suite: Option<PathBuf>,
    /// Count soft checks like gates.
    #[arg(long)]
    strict: bool,
    /// What becomes of a check whose evidence is missing.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail")]
    unobserved: UnobservedChoice,
    /// Run the programs of script checks. They come with the suite: read them first.
    #[arg(long)]
    allow_scripts: bool,
    /// Which directories to read when a workspace holds the same eval twice.
    #[arg(long, value_enum, value_name = "LAYOUT")]
    layout: Option<LayoutArgument>,
    /// What to do when a side has the same run twice.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// Largest result file.
    #[arg(long, value_name = "MIB", default_value_t = 256, help_heading = "Limits")]
    max_report_mib: u64,
    /// Largest suite or dataset file.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    max_suite_mib: u64,
}

impl OpenArguments {
    /// Reads a side. `Err` is the exit code after the problem was printed.
    pub fn side(&self, path: &Path, is_old: bool, quiet: bool) -> Result<Side, ExitCode> {
        let suite = self.old_suite.as_ref().filter(|_| is_old).or(self.suite.as_ref());
        if !path.is_dir() {
            return self.file(path);
        }
        if suite.is_none() && !Workspace::is_one(path) && path.join(BENCHMARK).is_file() {
            if !quiet {
                let shown = shown_path(path);
                warn_line(&format!("WARN no_layout: {shown} has no runs of a known layout; its {BENCHMARK} is read"));
            }
            return self.file(&path.join(BENCHMARK));
        }
        let input = match suite {
            Some(suite) => {
                Input::of_suite(self.load(suite, quiet)?, path, self.workspace_options()).map_err(fail_each)?
            }
            None => Input::of_workspace(path, self.workspace_options()).map_err(|errors| {
                let code = fail_each(errors);
                warn_line("Of a folder of runs that are not graded yet, name the suite with --suite.");
                code
            })?,
        };
        let GradedSide { side, warnings } = self.grade(path, &input).map_err(|error| fail(&error.to_string()))?;
        if !quiet {
            print_warnings(&warnings);
        }
        Ok(side)
    }

    fn file(&self, path: &Path) -> Result<Side, ExitCode> {
        let options = ReadOptions {
            bytes: Limits::mebibytes(self.max_report_mib),
            on_duplicate: self.on_duplicate.into(),
            ..ReadOptions::default()
        };
        let shown = shown_path(path);
        match load_claims(path, &options) {
            Ok(claims) => Ok(Side::of_file(shown, claims)),
            Err(ClaimsError::NotResults(_)) if self.is_suite(path) => Err(fail(&format!(
                "{shown} is a suite, which says what is evaluated; compare results of it: \
                 skill-lift diff OLD_RUNS NEW_RUNS --suite {shown}"
            ))),
            Err(error) => Err(fail(&format!("{shown}: {error}"))),
        }
    }

    fn is_suite(&self, path: &Path) -> bool {
        load(path, &self.load_options()).suite.is_some()
    }

    fn load_options(&self) -> LoadOptions {
        LoadOptions { max_bytes: Limits::mebibytes(self.max_suite_mib), ..LoadOptions::default() }
    }

    fn grade(&self, path: &Path, input: &Input) -> Result<GradedSide, EvaluationError> {
        let grade = self.grade_options();
        let verdicts = Verdicts::default();
        let tree = |suite, runs, variants| {
            SideRequest::Tree(Request {
                suite,
                runs,
                split: None,
                variants,
                index: IndexOptions { on_duplicate: self.on_duplicate.into(), ..IndexOptions::default() },
                grade: grade.clone(),
                verdicts: &verdicts,
                products: SIDE_PRODUCTS,
                progress: None,
            })
        };
        let index;
        let request = match input {
            Input::Runs(suite) => tree(suite, RunsSource::Tree(path), suite.variants.clone()),
            Input::Workspace { workspace, suite, .. } if !workspace.has_verdicts() => {
                let cases = suite.cases.iter().filter(|case| !case.is_trigger()).collect();
                let variants = variants_of(workspace, &[]);
                index = workspace.run_index(&TreeCases::of_suite(workspace, cases).case_of_eval, &variants);
                tree(suite, RunsSource::Index(&index), variants)
            }
            Input::Workspace { workspace, suite, implied } => SideRequest::Workspace {
                has_suite_file: !implied,
                request: WorkspaceRequest {
                    workspace,
                    suite,
                    cases: workspace_cases(workspace, suite, *implied, None),
                    variants: &[],
                    strict_evidence: false,
                    evidence_characters: grade.evidence_characters,
                    frames: SIDE_PRODUCTS.frames,
                    rows: SIDE_PRODUCTS.rows,
                    regrade: None,
                    progress: None,
                },
            },
        };
        graded_side(shown_path(path), &request, &self.conditions(input), |variants| input.baseline(variants))
    }

    fn workspace_options(&self) -> WorkspaceOptions {
        WorkspaceOptions {
            on_duplicate: self.on_duplicate.into(),
            layout: self.layout.map(Into::into),
            ..WorkspaceOptions::default()
        }
    }

    fn grade_options(&self) -> GradeOptions {
        GradeOptions {
            strict: self.strict,
            unobserved: self.unobserved.into(),
            allow_scripts: self.allow_scripts,
            ..GradeOptions::default()
        }
    }

    /// The flags that change grades, as a report of the same tree states them; stored verdicts know none of them.
    fn conditions(&self, input: &Input) -> BTreeMap<&'static str, String> {
        if matches!(input, Input::Workspace { .. }) {
            return BTreeMap::new();
        }
        let flags = [
            ("allow-scripts", self.allow_scripts, "true"),
            ("strict", self.strict, "true"),
            ("unobserved", self.unobserved == UnobservedChoice::Exclude, "exclude"),
        ];
        flags.into_iter().filter(|(_, given, _)| *given).map(|(name, _, value)| (name, value.to_owned())).collect()
    }

    fn load(&self, path: &Path, quiet: bool) -> Result<Suite, ExitCode> {
        let Loaded { suite, diagnostics, .. } = load(path, &self.load_options());
        if suite.is_none() || !quiet {
            // standard error may be closed; there is nobody left to tell
            let _ = print_failures(&diagnostics, &mut std::io::stderr().lock(), message_style(Color::Auto));
        }
        suite.ok_or(ExitCode::FAILURE)
    }
}

/// The last iteration of a workspace and the one before it.
pub fn last_two_iterations(path: &Path) -> Result<(PathBuf, PathBuf), String> {
    let shown = shown_path(path);
    if !path.is_dir() {
        return Err(format!("{shown} is no folder of iterations; name a second result to compare it with"));
    }
    if let Some(two) = numbered_folders(path).map_err(|error| format!("{shown} cannot be read: {error}"))? {
        return Ok(two);
    }
    let workspace = Workspace::open(path, WorkspaceOptions::default())
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let number = |name: &str| name.rsplit('/').next()?.strip_prefix("iteration-")?.parse::<u32>().ok();
    let before = workspace.other_iterations.iter().filter_map(|name| Some((number(name)?, name))).max();
    match before {
        Some((_, before)) => Ok((path.join(before), workspace.root().to_owned())),
        None => Err(format!("{shown} has no two iterations to compare; name a second result")),
    }
}

/// The two folders `iteration-<n>` with the highest numbers, if there are two: they may hold no more than a result file.
fn numbered_folders(path: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let mut last: Option<(u32, PathBuf)> = None;
    let mut before = None;
    for entry in fs::read_dir(path)?.take(Limits::default().directory_entries) {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("iteration-")?.parse::<u32>().ok());
        let Some(number) = number.filter(|_| entry.path().is_dir()) else { continue };
        let found = Some((number, path.join(&name)));
        if found > last {
            before = std::mem::replace(&mut last, found);
        } else if found > before {
            before = found;
        }
    }
    Ok(before.zip(last).map(|((_, before), (_, last))| (before, last)))
}
