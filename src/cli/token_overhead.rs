//! `token-overhead`: what a skill costs in tokens and money, and what its lift costs.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, ValueEnum};
use skill_lift_contract::Metric;

use super::aggregate::plain;
use super::benchmark::{Made, Words};
use super::choices::{DuplicateChoice, UnobservedChoice};
use super::common::{load_suite, repository_of, stamp};
use super::output::{Color, emit, fail, warn_line};
use super::summary::table_style;
use crate::analyze::pairing::Pairing;
use crate::analyze::table::{Baseline, WITH_SKILL};
use crate::analyze::telemetry::TokenOverhead;
use crate::report::{OverheadReport, Provenance, RowWriter, overhead_markdown, overhead_table, write_overhead};
use crate::runs::Limits;
use crate::runs::index::shown_path;
use crate::runs::workspace::Workspace;
use crate::skill::{ProfileLimits, SkillProfile};
use crate::suite::{Dialect, LoadOptions};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The whole report.
    Json,
    /// Tables for people.
    Table,
    /// Tables for a page.
    #[value(alias = "md")]
    Markdown,
}

/// Reports what a skill costs: the words of its SKILL.md and references, the tokens and the money that the runs with the
/// skill use more than those without it, and the lift for that.
///
/// The pairs and their pass rates are those of `benchmark` with the same options. What a run does not say is not zero.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift token-overhead evals/shared-benchmark.json\n  \
    skill-lift token-overhead evals/shared-benchmark.json --runs eval-runs/latest --out overhead.json\n  \
    skill-lift token-overhead */evals/shared-benchmark.json --format markdown\n  \
    skill-lift token-overhead evals/shared-benchmark.json | jq .reports[0].efficiency.total_tokens\n\n\
    Exit codes: 0 a report was made, whatever the lift; 1 refused input; 2 wrong arguments.")]
pub struct TokenOverheadArguments {
    /// The suite files, one a skill.
    #[arg(value_name = "SUITE", required = true)]
    suites: Vec<PathBuf>,
    /// The folder of the runs of all suites, instead of one for each.
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Where in the folder of a repository its runs are.
    #[arg(long, value_name = "DIR", default_value = "eval-runs/latest", conflicts_with = "runs")]
    runs_subdir: PathBuf,
    /// Grade only cases of this split.
    #[arg(long, value_name = "SPLIT", value_parser = ["tune", "holdout", "holdback", "all"])]
    split: Option<String>,
    /// Merge the verdicts of judges from this file.
    #[arg(long, value_name = "FILE")]
    judge_results: Option<PathBuf>,
    /// Run the programs of script checks. They come with the suites: read them first.
    #[arg(long)]
    allow_scripts: bool,
    /// Accept files outside the folder of a suite, with a warning.
    #[arg(long)]
    allow_external_files: bool,
    /// Count soft checks like gates.
    #[arg(long)]
    strict: bool,
    /// What becomes of a check whose evidence is missing.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail")]
    unobserved: UnobservedChoice,
    /// What to do when two directories claim the same run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// What goes to standard output. Default: tables on a terminal or beside --out, else JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write the report to this file: Markdown with `--format markdown`, else JSON.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// List every pair in the table.
    #[arg(long)]
    all_cases: bool,
    /// Stamp the report with this time, in seconds since 1970. Default: SOURCE_DATE_EPOCH, else no stamp.
    #[arg(long, value_name = "SECONDS")]
    generated_at: Option<i64>,
    /// Write the tables in ASCII.
    #[arg(long)]
    ascii: bool,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Largest SKILL.md or reference.
    #[arg(long, value_name = "MIB", default_value_t = 16, help_heading = "Limits")]
    max_skill_mib: u64,
    /// Entries of one directory of a run tree or of references.
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Limits")]
    max_dir_entries: usize,
}

/// Runs the command.
pub fn run(arguments: &TokenOverheadArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

/// Rows of a report that nobody reads.
struct NoRows;

impl RowWriter for NoRows {
    fn push(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

impl TokenOverheadArguments {
    fn write(&self) -> Result<(), ExitCode> {
        let generated_at = stamp(self.generated_at)?;
        let reports = self.suites.iter().map(|suite| self.one(suite)).collect::<Result<Vec<_>, _>>()?;
        let failed = |message: String| fail(&message);
        let json = |writer: &mut dyn Write| write_overhead(writer, generated_at, &reports);
        let markdown = |writer: &mut dyn Write| writer.write_all(overhead_markdown(&reports).as_bytes());
        if let Some(path) = &self.out {
            match self.format {
                Some(Format::Markdown) => return emit(Some(path), markdown).map_err(failed),
                _ => emit(Some(path), json).map_err(failed)?,
            }
        }
        let is_terminal = io::stdout().is_terminal();
        let format =
            self.format.unwrap_or(if is_terminal || self.out.is_some() { Format::Table } else { Format::Json });
        if self.quiet && self.out.is_some() && self.format.is_none() {
            return Ok(());
        }
        let style = table_style(self.color, self.ascii, self.all_cases);
        match format {
            Format::Json => emit(None, json),
            Format::Markdown => emit(None, markdown),
            Format::Table => emit(None, |writer| writer.write_all(overhead_table(&reports, style).as_bytes())),
        }
        .map_err(failed)
    }

    fn one(&self, path: &Path) -> Result<OverheadReport, ExitCode> {
        let runs = match &self.runs {
            Some(runs) => runs.clone(),
            None => repository_of(path).join(&self.runs_subdir),
        };
        if !self.quiet && self.suites.len() > 1 {
            warn_line(&format!("{}: runs in {}", shown_path(path), shown_path(&runs)));
        }
        // what is odd about the suite is said when it is graded
        let options = LoadOptions { allow_external_files: self.allow_external_files, ..LoadOptions::default() };
        let suite = load_suite(path, &options, true, self.color)?;
        let is_workspace = suite.dialect != Dialect::SharedBenchmark && Workspace::is_one(&runs);
        let words = self.words(path, &runs, is_workspace);
        let Words { benchmark } = Words::try_parse_from(words).map_err(|error| fail(&error.to_string()))?;
        let (made, NoRows) = benchmark.make(|_| Ok(NoRows))?;
        let Made { head, analysis, provenance, runs_root, .. } = made;
        if analysis.table.baseline != Baseline::WithoutSkill {
            return Err(fail(&format!(
                "{} has no runs without the skill, only with an earlier version of it: `skill-lift benchmark` compares those",
                shown_path(&runs)
            )));
        }
        let limits = ProfileLimits {
            file_bytes: Limits::mebibytes(self.max_skill_mib),
            directory_entries: self.max_dir_entries,
            ..ProfileLimits::default()
        };
        let pairing = Pairing::of(&analysis.table, Metric::ObjectivePassRate);
        Ok(OverheadReport {
            runs: shown_path(&runs),
            runs_root: shown_path(&runs_root),
            profile: SkillProfile::read(&suite.repository_root, &suite.skill_paths, &limits),
            overhead: TokenOverhead::of(&analysis.table, &pairing),
            provenance: Provenance { blocks_missing: &[], ..provenance },
            head,
            analysis,
        })
    }

    /// The words of the command line of `benchmark` for one suite.
    fn words(&self, suite: &Path, runs: &Path, is_workspace: bool) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![plain(suite), "--runs".into(), plain(runs)];
        let mut option = |name: &str, value: Option<OsString>| {
            if let Some(value) = value {
                let mut word = OsString::from(format!("--{name}="));
                word.push(value);
                words.push(word);
            }
        };
        option("split", self.split.as_ref().map(Into::into));
        option("judge-results", self.judge_results.as_ref().map(|path| path.clone().into_os_string()));
        option("generated-at", self.generated_at.map(|seconds| seconds.to_string().into()));
        option("unobserved", word_of(self.unobserved));
        option("on-duplicate", word_of(self.on_duplicate));
        option("max-dir-entries", Some(self.max_dir_entries.to_string().into()));
        if !is_workspace {
            // other arms need not be graded; those of a workspace have names of their own
            option("variant", Some(WITH_SKILL.into()));
            option("variant", Some(Baseline::WithoutSkill.variant().into()));
        }
        let flags = [
            ("--allow-scripts", self.allow_scripts),
            ("--allow-external-files", self.allow_external_files),
            ("--strict", self.strict),
            ("--quiet", self.quiet),
        ];
        words.extend(flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.into()));
        words
    }
}

/// A choice as it is typed.
fn word_of<T: ValueEnum>(choice: T) -> Option<OsString> {
    choice.to_possible_value().map(|value| value.get_name().into())
}
