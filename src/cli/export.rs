//! `export`: a saved report and its runs as a workspace of other tools.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::choices::{DialectChoice, DuplicateChoice};
use super::common::{load_suite, stamp};
use super::interrupt;
use super::output::{Color, emit, fail, warn_line};
use super::warnings::fail_each;
use crate::analyze::analyze_saved;
use crate::pipeline::{ExportRequest, Exported, Input, export, skill_name};
use crate::report::exported::{ExportedReport, Format};
use crate::report::numbers::counted;
use crate::runs::claims::{ReadOptions, SavedBenchmark, read_saved};
use crate::runs::index::shown_path;
use crate::runs::workspace::{Workspace, WorkspaceOptions};
use crate::runs::{Limits, read_named};
use crate::suite::{LoadOptions, Suite};

/// For which tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// The aggregator and the viewer of skill-creator.
    SkillCreator,
    /// The script and the agents of the forge pipeline.
    SkillForge,
}

impl From<Target> for Format {
    fn from(target: Target) -> Self {
        match target {
            Target::SkillCreator => Self::SkillCreator,
            Target::SkillForge => Self::SkillForge,
        }
    }
}

/// Writes a saved report and its runs as a workspace that other tools open.
///
/// The folder is one iteration: a folder for each case, in it one for each arm and run with the answer, its verdicts and
/// what it took, and beside them `benchmark.json` and `benchmark.md`. Read by `skill-lift benchmark` it gives the same lift.
///
/// The verdicts are those of the report; nothing is graded again. Answers are copied from the folder of the runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift export --to skill-creator --benchmark benchmark.json --runs eval-runs/latest --suite evals/shared-benchmark.json \\\n  \
    \x20   --out demo-workspace/iteration-1\n  \
    skill-lift export --to skill-forge --benchmark benchmark.json --runs eval-runs/latest --out forge/iteration-1\n\n\
    Exit codes: 0 written; 1 refused input, or the place is taken; 2 wrong arguments.")]
pub struct ExportArguments {
    /// For which tools.
    #[arg(long, value_enum, value_name = "TOOL")]
    to: Target,
    /// The report of `skill-lift benchmark`, or of `skill-benchmark` 0.6.
    #[arg(long, value_name = "FILE")]
    benchmark: PathBuf,
    /// The folder of the saved runs that the report is about, or the workspace.
    #[arg(long, value_name = "DIR")]
    runs: PathBuf,
    /// The suite, for the prompts, which a report does not have.
    #[arg(long, value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// Format of the suite, if it should not be detected.
    #[arg(long, value_enum, value_name = "DIALECT", requires = "suite")]
    dialect: Option<DialectChoice>,
    /// Where the workspace goes: a folder that is empty or not there yet, like `demo-workspace/iteration-1`.
    #[arg(long, visible_alias = "out-dir", value_name = "DIR")]
    out: PathBuf,
    /// Replace an earlier export there. A folder with anything else in it is refused all the same.
    #[arg(long)]
    force: bool,
    /// Export the runs of this model alone.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Where the skill is, as it shall stand in the file.
    #[arg(long, value_name = "PATH", default_value = "")]
    skill_path: String,
    /// Accept files outside the folder of a shared-benchmark suite.
    #[arg(long)]
    allow_external_files: bool,
    /// What to do when two rows of the report claim the same run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// Stamp the files with this time, in seconds since 1970. Default: SOURCE_DATE_EPOCH, else the stamp of the report.
    #[arg(long, value_name = "SECONDS")]
    generated_at: Option<i64>,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Largest report.
    #[arg(long, value_name = "MIB", default_value_t = 256, help_heading = "Limits")]
    max_report_mib: u64,
    /// Largest suite.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    max_suite_mib: u64,
    /// Largest file of an answer; a larger one is left out and named.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    max_artifact_mib: u64,
    /// Entries of one directory of the run tree.
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Limits")]
    max_dir_entries: usize,
}

/// Runs the command.
pub fn run(arguments: &ExportArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

/// What was not copied, and the like, that is shown; all of it is counted.
const SHOWN: usize = 5;

impl ExportArguments {
    fn write(&self) -> Result<(), ExitCode> {
        interrupt::watch();
        let given = stamp(self.generated_at)?;
        let saved = self.report()?;
        let limits = Limits {
            artifact_bytes: Limits::mebibytes(self.max_artifact_mib),
            directory_entries: self.max_dir_entries,
            ..Limits::default()
        };
        if !self.runs.is_dir() {
            return Err(fail(&format!("{} is no folder: name the folder of the saved runs", self.runs.display())));
        }
        let input = self.input(limits)?;
        let runs = input.as_ref().map_or(self.runs.as_path(), |input| input.runs_root(&self.runs));
        let suite = input.as_ref().map(Input::suite);
        self.warn_of_report(&saved, input.as_ref().filter(|input| input.has_suite_file()).map(Input::suite));
        let name = saved.skill_name.clone().unwrap_or_else(|| skill_name(runs));
        let analysis = analyze_saved(&saved);
        let request = ExportRequest {
            report: ExportedReport {
                skill_name: &name,
                skill_path: &self.skill_path,
                generated_at: given.or(saved.generated_at),
                rows: &saved.rows,
                analysis: &analysis,
            },
            format: self.to.into(),
            runs,
            suite,
            limits,
            out: &self.out,
            replaces: self.force,
        };
        let exported = export(&request).map_err(|error| fail(&error.to_string()))?;
        self.say(&exported)
    }

    fn report(&self) -> Result<SavedBenchmark, ExitCode> {
        let shown = shown_path(&self.benchmark);
        let refuse = |problem: String| fail(&format!("{shown}: {problem}"));
        let bytes = Limits::mebibytes(self.max_report_mib);
        let options = ReadOptions { bytes, on_duplicate: self.on_duplicate.into(), ..ReadOptions::default() };
        let text = read_named(&self.benchmark, bytes).map_err(|problem| refuse(problem.to_string()))?;
        let mut saved = read_saved(&text, &options).map_err(|problem| refuse(problem.to_string()))?;
        if let Some(model) = &self.model {
            let mut models: Vec<String> = saved.rows.iter().filter_map(|row| row.model.clone()).collect();
            models.sort_unstable();
            models.dedup();
            if !models.contains(model) {
                let there = if models.is_empty() { "none".to_owned() } else { models.join(", ") };
                return Err(refuse(format!("has no runs of the model {model}; it names {there}")));
            }
            saved.rows.retain(|row| row.model.as_ref() == Some(model));
        }
        Ok(saved)
    }

    /// Where prompts come from: the suite that was named, else what a workspace says itself.
    fn input(&self, limits: Limits) -> Result<Option<Input>, ExitCode> {
        let options =
            WorkspaceOptions { on_duplicate: self.on_duplicate.into(), limits, ..WorkspaceOptions::default() };
        let Some(path) = &self.suite else {
            let is_workspace = Workspace::is_one(&self.runs);
            return is_workspace.then(|| Input::of_workspace(&self.runs, options).map_err(fail_each)).transpose();
        };
        let load = LoadOptions {
            allow_external_files: self.allow_external_files,
            max_bytes: Limits::mebibytes(self.max_suite_mib),
            dialect: self.dialect.map(Into::into),
            ..LoadOptions::default()
        };
        let suite = load_suite(path, &load, self.quiet, self.color)?;
        Input::of_suite(suite, &self.runs, options).map(Some).map_err(fail_each)
    }

    fn warn_of_report(&self, saved: &SavedBenchmark, suite: Option<&Suite>) {
        if self.quiet {
            return;
        }
        let shown = shown_path(&self.benchmark);
        for note in &saved.notes {
            warn_line(&format!("WARN {}: {shown}{}", note.code.code(), note.pointer));
        }
        match (suite, &saved.digests[0]) {
            (Some(suite), Some(digest)) if *digest != suite.digest => {
                warn_line(&format!("WARN suite_differs: {shown} was made with another state of the suite"));
            }
            _ => {}
        }
        if self.suite.is_none() && !Workspace::is_one(&self.runs) {
            warn_line("WARN prompts_unknown: a report has no prompts; name the suite with --suite");
        }
    }

    fn say(&self, exported: &Exported) -> Result<(), ExitCode> {
        if self.quiet {
            return Ok(());
        }
        for arm in &exported.left_out_arms {
            warn_line(&format!("WARN arm_left_out: {arm}: this format has no place for it"));
        }
        for problem in exported.not_copied.iter().take(SHOWN) {
            warn_line(&format!("WARN not_copied: {problem}"));
        }
        if exported.not_copied.len() > SHOWN {
            warn_line(&format!("WARN not_copied: … and {} more", exported.not_copied.len() - SHOWN));
        }
        let line = format!(
            "{}: {}, {} ({} with verdicts), {} of answers",
            self.out.display(),
            counted(exported.evals, "eval", "evals"),
            counted(exported.runs, "run", "runs"),
            exported.graded,
            counted(exported.answer_files, "file", "files"),
        );
        emit(None, |writer| writeln!(writer, "{line}")).map_err(|message| fail(&message))
    }
}
