//! Arguments and steps that `grade` and `benchmark` share.

use std::collections::BTreeMap;
use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use skill_lift_contract::ContentDigest;

use super::choices::{DialectChoice, DuplicateChoice, LayoutArgument, UnobservedChoice};
use super::interrupt;
use super::limits::LimitArguments;
use super::output::{Color, fail, message_style, progress_bar, usage};
use super::warnings::{fail_each, fail_layout, print_verdict_warnings, print_warnings};
use crate::grade::GradeOptions;
use crate::judge::{JudgeSpend, Verdicts};
use crate::pipeline::{
    Evaluated, FrameChoice, Input, Products, Request, RunsSource, TreeCases, WorkspaceRequest, evaluate,
    evaluate_workspace, variants_of, workspace_cases,
};
use crate::report::{Provenance, ReportHead, RowWriter};
use crate::runs::index::shown_path;
use crate::runs::workspace::{Workspace, WorkspaceOptions};
use crate::runs::{IndexOptions, Limits};
use crate::suite::render::{print_failures, print_located};
use crate::suite::{Dialect, LoadOptions, Loaded, Split, Suite, load};

/// Which part of a suite is graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitChoice {
    /// Visible cases.
    Tune,
    /// Hidden cases.
    Holdout,
    /// Cases that detect memorisation.
    Holdback,
    /// All of them.
    All,
}

impl SplitChoice {
    /// The part; `None` for all of it.
    pub fn split(self) -> Option<Split> {
        match self {
            Self::Tune => Some(Split::Tune),
            Self::Holdout => Some(Split::Holdout),
            Self::Holdback => Some(Split::Holdback),
            Self::All => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EvidenceChoice {
    /// What was left out counts as failed where the tool says so, and is named.
    Report,
    /// The run is not scored.
    Strict,
}

/// What is graded, and how it is read.
#[derive(Debug, Args)]
pub struct Common {
    /// The suite file, like `evals/shared-benchmark.json` or `evals/evals.json`; or the workspace of another tool, like
    /// `my-skill-workspace/iteration-2`, which says itself what its cases are.
    #[arg(value_name = "SUITE or WORKSPACE")]
    suite: PathBuf,
    /// The folder of the saved runs, or a workspace.
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Grade only cases of this split.
    #[arg(long, value_enum, value_name = "SPLIT", default_value = "all")]
    split: SplitChoice,
    /// Grade this arm; may be given several times, in the order of the report. Default: the arms of the suite.
    #[arg(long = "variant", value_name = "NAME")]
    variants: Vec<String>,
    /// Format of the suite and of a workspace, if it should not be detected.
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectChoice>,
    /// Count soft checks like gates.
    #[arg(long)]
    strict: bool,
    /// What becomes of a check whose evidence is missing: no trace, no --allow-scripts, no --embed-cmd, a script that
    /// did not start or ran out of time.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail")]
    unobserved: UnobservedChoice,
    /// What becomes of figures whose evidence is incomplete (blocked pairs, missing runs or judgements), and of a run in a
    /// workspace whose grader left assertions out: reported as observed, or withheld.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "report")]
    evidence: EvidenceChoice,
    /// Turn warnings of the strict contract into errors.
    #[arg(long)]
    strict_contract: bool,
    /// Turn warnings about the layout of the run tree into errors.
    #[arg(long)]
    pub(super) strict_layout: bool,
    /// Accept files outside the folder of a shared-benchmark suite, with a warning.
    #[arg(long)]
    pub(super) allow_external_files: bool,
    /// Merge the verdicts of judges from this file: JSON lines, an array, or one object.
    #[arg(long, value_name = "FILE")]
    judge_results: Option<PathBuf>,
    /// Run the programs of script checks. They come with the suite: read them first.
    #[arg(long)]
    allow_scripts: bool,
    /// Let scripts and the embedding command see this environment variable; may be given several times.
    #[arg(long = "pass-env", value_name = "NAME", value_parser = variable_name)]
    pass_environment: Vec<String>,
    /// Command that computes embeddings for similarity checks of the mode `embedding`.
    #[arg(long, value_name = "COMMAND")]
    embed_cmd: Option<String>,
    /// Compare the verdicts that a workspace holds with what the checks find that need no judge. The stored verdicts
    /// stay; where they differ is reported.
    #[arg(long)]
    regrade: bool,
    /// Which directories to read when a workspace holds the same eval twice.
    #[arg(long, value_enum, value_name = "LAYOUT")]
    layout: Option<LayoutArgument>,
    /// What to do when two directories claim the same run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// Write the report to this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Stamp the report with this time, in seconds since 1970. Default: SOURCE_DATE_EPOCH, else no stamp.
    #[arg(long, value_name = "SECONDS")]
    generated_at: Option<i64>,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Say nothing but errors.
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
}

pub(super) fn variable_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(['=', '\0']) {
        return Err("not the name of an environment variable".to_owned());
    }
    Ok(text.to_owned())
}

/// A graded tree with what stands around it in a report.
pub struct Graded<R> {
    /// What came of the grading.
    pub evaluated: Evaluated,
    /// The rows of the report.
    pub rows: R,
    /// The selected arms.
    pub variants: Vec<String>,
    /// What was graded. It lives as long as the process, which is faster than to take its patterns and cases apart.
    pub input: ManuallyDrop<Input>,
    /// Top of the report.
    pub head: ReportHead,
    /// What judging cost, if verdicts were given.
    pub judge_spend: Option<JudgeSpend>,
    /// Where it comes from; options of the command can be added.
    pub provenance: Provenance,
}

/// Loads a suite and says what is wrong with it. `Err` is the exit code after the problems were printed.
pub fn load_suite(path: &Path, options: &LoadOptions, quiet: bool, color: Color) -> Result<Suite, ExitCode> {
    let Loaded { suite, diagnostics, dialect } = load(path, options);
    if suite.is_none() || !quiet {
        let (mut stderr, style) = (io::stderr().lock(), message_style(color));
        // standard error may be closed; there is nobody left to tell
        let _ = match dialect {
            Dialect::SharedBenchmark => print_failures(&diagnostics, &mut stderr, style),
            _ => print_located(&diagnostics, &mut stderr, style),
        };
    }
    suite.ok_or(ExitCode::FAILURE)
}

/// The folder of the repository that a suite belongs to, as the user would type it: the one above
/// `evals/shared-benchmark.json`, else the one of the file.
pub fn repository_of(suite: &Path) -> PathBuf {
    let folder = suite.parent().unwrap_or(Path::new(""));
    let is_shared = suite.file_name().is_some_and(|name| name == "shared-benchmark.json");
    if !is_shared || folder.file_name().is_none_or(|name| name != "evals") {
        return folder.to_owned();
    }
    folder.parent().map(Path::to_owned).unwrap_or_default()
}

/// The stamp of a report: the given one, else that of the environment.
pub fn stamp(given: Option<i64>) -> Result<Option<i64>, ExitCode> {
    if given.is_some() {
        return Ok(given);
    }
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) if !text.is_empty() => match text.parse() {
            Ok(seconds) => Ok(Some(seconds)),
            Err(_) => Err(fail(&format!("SOURCE_DATE_EPOCH is no whole number of seconds: {text:?}"))),
        },
        _ => Ok(None),
    }
}

impl Common {
    /// The folder of the saved runs.
    pub fn runs(&self) -> &Path {
        self.runs.as_deref().unwrap_or(&self.suite)
    }

    /// The part of the suite that is graded; `None` for all of it.
    pub fn split(&self) -> Option<Split> {
        self.split.split()
    }

    /// Grades these two arms, whatever the suite has.
    pub(super) fn choose_arms(&mut self, arms: [&String; 2]) -> Result<(), ExitCode> {
        if !self.variants.is_empty() {
            return Err(usage("--variant has no meaning here: name the arms with --primary and --baseline"));
        }
        self.variants = arms.map(Clone::clone).into();
        Ok(())
    }

    /// Loads the suite, grades the tree and prints what was odd. Writes nothing but the rows, to what `rows` makes.
    /// `Err` is the exit code after the problem was printed.
    pub fn grade<R: RowWriter>(
        &self,
        products: Products,
        rows: impl FnOnce(&ReportHead) -> Result<R, ExitCode>,
    ) -> Result<Graded<R>, ExitCode> {
        interrupt::watch();
        let generated_at = stamp(self.generated_at)?;
        let input = ManuallyDrop::new(self.input()?);
        if let Input::Workspace { workspace, .. } = &*input {
            self.check_arms(workspace)?;
        }
        self.check_effects(&input, products)?;
        let suite = input.suite();
        let asked = &self.variants;
        if let Some(twice) = asked.iter().enumerate().find(|(i, name)| asked[..*i].contains(name)) {
            return Err(fail(&format!("--variant {} is given twice", twice.1)));
        }
        if let Some(name) = suite.variants.iter().chain(asked).find(|name| !is_folder_name(name)) {
            return Err(fail(&format!("--variant {name:?} cannot be the name of a folder")));
        }
        let verdicts = match &self.judge_results {
            Some(path) => Verdicts::load(path, Limits::mebibytes(self.limits.max_suite_mib))
                .map_err(|error| fail(&error.to_string()))?,
            None => Verdicts::default(),
        };
        let split = self.split();
        let head = ReportHead {
            manifest: shown_path(&self.suite),
            skill_name: suite.skill_name.clone(),
            generated_at,
            skipped_trigger_cases: input.skipped_trigger_cases(split),
        };
        let mut rows = rows(&head)?;
        let limits = self.limits.limits();
        let on_duplicate = self.on_duplicate.into();
        let bar = progress_bar(self.quiet, "runs");
        let progress = |done: usize, total: usize| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        let grade = self.grade_options(&limits, products);
        let native = |suite: &Suite, runs: RunsSource<'_>, variants: Vec<String>, rows: &mut R| {
            let request = Request {
                suite,
                runs,
                split,
                variants: variants.clone(),
                index: IndexOptions { on_duplicate, limits, ..IndexOptions::default() },
                grade: grade.clone(),
                verdicts: &verdicts,
                products,
                progress: Some(&progress),
            };
            evaluate(&request, rows).map(|evaluated| (evaluated, variants))
        };
        let evaluated = match &*input {
            Input::Runs(suite) => {
                let variants = if asked.is_empty() { suite.variants.clone() } else { asked.clone() };
                native(suite, RunsSource::Tree(self.runs()), variants, &mut rows)
            }
            Input::Workspace { workspace, suite, .. } if !workspace.has_verdicts() => {
                let cases = suite.cases_of(split).filter(|case| !case.is_trigger()).collect();
                let variants = variants_of(workspace, asked);
                let index = workspace.run_index(&TreeCases::of_suite(workspace, cases).case_of_eval, &variants);
                native(suite, RunsSource::Index(&index), variants, &mut rows)
            }
            Input::Workspace { workspace, suite, implied } => {
                if products.judge_tasks || products.grading_files {
                    return Err(fail(
                        "this workspace holds verdicts: --judge-tasks and --write-grading-files are for runs without any",
                    ));
                }
                let cases = workspace_cases(workspace, suite, *implied, split);
                let request = WorkspaceRequest {
                    workspace,
                    suite,
                    cases,
                    variants: asked,
                    strict_evidence: self.strict_evidence(),
                    evidence_characters: grade.evidence_characters,
                    frames: products.frames,
                    rows: products.rows,
                    regrade: self.regrade.then_some(&grade),
                    progress: Some(&progress),
                };
                evaluate_workspace(&request, &mut rows)
            }
        };
        bar.finish_and_clear();
        let (evaluated, variants) = evaluated.map_err(|error| fail(&error.to_string()))?;
        if self.strict_layout && evaluated.warnings.has_layout_warning() {
            return Err(fail_layout(&evaluated.warnings));
        }
        if !self.quiet {
            print_warnings(&evaluated.warnings);
            print_verdict_warnings(&verdicts);
        }
        let provenance = Provenance {
            tool_version: env!("CARGO_PKG_VERSION"),
            dialect: suite.dialect.name(),
            suite_sha256: input.has_suite_file().then(|| suite.digest.clone()),
            suite_split: split.map(Split::word),
            runs_sha256: evaluated.runs_sha256.clone(),
            options: self.options(suite, &verdicts),
            seed: None,
            duplicates_dropped: evaluated.duplicates_dropped,
            unmatched_judge_results: verdicts.unmatched().len(),
            incomplete_judge_results: verdicts.incomplete().len(),
            blocks_missing: &[],
        };
        let judge_spend = (!verdicts.is_empty()).then(|| verdicts.spend().clone());
        Ok(Graded { evaluated, rows, variants, input, head, judge_spend, provenance })
    }

    /// What the user named.
    fn input(&self) -> Result<Input, ExitCode> {
        let options = WorkspaceOptions {
            on_duplicate: self.on_duplicate.into(),
            layout: self.layout.map(Into::into),
            kind: self.dialect.and_then(DialectChoice::workspace_kind),
            limits: self.limits.limits(),
        };
        match &self.runs {
            None if self.suite.is_dir() => self.workspace(options),
            None => Err(usage(
                "the following required argument was not provided: --runs <DIR>; only a workspace, which is a folder, needs none",
            )),
            Some(_) if self.suite.is_dir() => {
                Err(fail(&format!("{} is a folder: with --runs, name the suite file", self.suite.display())))
            }
            Some(runs) => Input::of_suite(self.load()?, runs, options).map_err(fail_each),
        }
    }

    /// A workspace alone.
    fn workspace(&self, options: WorkspaceOptions) -> Result<Input, ExitCode> {
        if self.dialect == Some(DialectChoice::SharedBenchmark) {
            return Err(usage("a shared benchmark needs its suite: name the file, and the folder with --runs"));
        }
        if self.split != SplitChoice::All {
            return Err(usage("--split needs a suite: name the file, and the workspace with --runs"));
        }
        Input::of_workspace(&self.suite, options).map_err(fail_each)
    }

    /// Refuses an arm that a workspace does not have: nothing would be graded.
    fn check_arms(&self, workspace: &Workspace) -> Result<(), ExitCode> {
        let arms = variants_of(workspace, &[]);
        match self.variants.iter().find(|asked| !arms.contains(asked)) {
            Some(asked) => Err(fail(&format!("--variant {asked}: the workspace has {}", arms.join(", ")))),
            None => Ok(()),
        }
    }

    /// Refuses options that would change nothing: whoever gives them expects something else.
    fn check_effects(&self, input: &Input, products: Products) -> Result<(), ExitCode> {
        let has_verdicts = matches!(input, Input::Workspace { workspace, .. } if workspace.has_verdicts());
        let of_verdicts = [
            ("--regrade", self.regrade),
            // a benchmark of runs that are graded here withholds figures; rows have none to withhold
            ("--evidence", self.strict_evidence() && products.frames == FrameChoice::Nothing),
            ("--layout", self.layout.is_some() && matches!(input, Input::Runs(_))),
        ];
        let of_checks = [
            ("--strict", self.strict),
            ("--unobserved", self.unobserved != UnobservedChoice::Fail),
            ("--allow-scripts", self.allow_scripts),
            ("--embed-cmd", self.embed_cmd.is_some()),
            ("--judge-results", self.judge_results.is_some()),
        ];
        let given = |options: &[(&'static str, bool)]| options.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        match (given(&of_verdicts), given(&of_checks)) {
            (Some(option), _) if !has_verdicts => {
                Err(usage(&format!("{option} is for workspaces that hold verdicts, and there are none here")))
            }
            (_, Some(option)) if has_verdicts && !self.regrade => Err(usage(&format!(
                "{option} is for checks that are made, and this workspace holds verdicts: leave it out, or see what the \
                 checks say with --regrade"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether figures whose evidence is incomplete are withheld.
    pub(super) fn strict_evidence(&self) -> bool {
        self.evidence == EvidenceChoice::Strict
    }

    /// Bytes of a suite, or of a file beside it that is as large.
    pub fn suite_bytes(&self) -> u64 {
        Limits::mebibytes(self.limits.max_suite_mib)
    }

    fn grade_options(&self, limits: &Limits, products: Products) -> GradeOptions {
        GradeOptions {
            strict: self.strict,
            unobserved: self.unobserved.into(),
            artifact_bytes: limits.artifact_bytes,
            events_bytes: Limits::mebibytes(self.limits.max_events_mib),
            allow_scripts: self.allow_scripts,
            allow_external_files: self.allow_external_files,
            pass_environment: self.pass_environment.clone(),
            script_output_bytes: self.limits.max_script_output_kib.saturating_mul(1024),
            embed_command: self.embed_cmd.clone(),
            similarity_characters: self.limits.max_similarity_chars,
            evidence_characters: self.limits.max_evidence_chars,
            // only analyses look at them
            for_analysis: products.frames != FrameChoice::Nothing,
            references: Arc::default(),
        }
    }

    fn load(&self) -> Result<Suite, ExitCode> {
        let options = LoadOptions {
            strict_contract: self.strict_contract,
            allow_external_files: self.allow_external_files,
            max_bytes: Limits::mebibytes(self.limits.max_suite_mib),
            split: self.split(),
            dialect: self.dialect.map(Into::into),
            ..LoadOptions::default()
        };
        load_suite(&self.suite, &options, self.quiet, self.color)
    }

    /// Flags that differ from their defaults and change what is computed; digests instead of paths and commands.
    fn options(&self, suite: &Suite, verdicts: &Verdicts) -> BTreeMap<&'static str, Value> {
        let digest = |text: &String| json!(format!("sha256:{}", ContentDigest::of(text.as_bytes())));
        let flag = |given: bool| given.then(|| json!(true));
        let flags = [
            ("allow-external-files", flag(self.allow_external_files)),
            ("allow-scripts", flag(self.allow_scripts)),
            ("dialect", self.dialect.map(|choice| json!(Dialect::from(choice).name()))),
            ("embed-cmd", self.embed_cmd.as_ref().map(digest)),
            ("evidence", self.strict_evidence().then(|| json!("strict"))),
            ("judge-results", verdicts.digest().map(|digest| json!(digest))),
            ("layout", self.layout.map(|layout| json!(layout.word()))),
            ("on-duplicate", (self.on_duplicate == DuplicateChoice::Last).then(|| json!("last"))),
            ("pass-env", changed(&self.pass_environment, &Vec::new())),
            ("regrade", flag(self.regrade)),
            ("split", self.split().map(|split| json!(split.word()))),
            ("strict", flag(self.strict)),
            ("strict-contract", flag(self.strict_contract)),
            ("strict-layout", flag(self.strict_layout)),
            ("unobserved", (self.unobserved == UnobservedChoice::Exclude).then(|| json!("exclude"))),
            ("variant", changed(&self.variants, &Vec::new()).filter(|_| self.variants != suite.variants)),
        ];
        flags.into_iter().chain(self.limits.options()).filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

pub(super) fn changed<T: PartialEq + serde::Serialize>(value: &T, default: &T) -> Option<Value> {
    (value != default).then(|| json!(value))
}

/// Whether an arm can be a folder of a run tree.
fn is_folder_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_of_a_suite_stays_as_it_is_typed() {
        let of = |path: &str| repository_of(Path::new(path)).display().to_string();
        assert_eq!(of("evals/shared-benchmark.json"), "");
        assert_eq!(of("a/evals/shared-benchmark.json"), "a");
        assert_eq!(of("/x/evals/shared-benchmark.json"), "/x");
        assert_eq!(of("a/evals/other.json"), "a/evals");
        assert_eq!(of("shared-benchmark.json"), "");
    }
}
