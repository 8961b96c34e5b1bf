//! `aggregate`: the benchmarks of several skills in one report.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, ValueEnum};
use skill_lift_stats::Thresholds;

use super::benchmark::Words;
use super::common::{repository_of, stamp};
use super::output::{Color, emit, fail, warn_line};
use super::summary::table_style;
use crate::report::{RowSpool, SkillReport, aggregate_table, write_aggregate};
use crate::runs::index::shown_path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The whole report.
    Json,
    /// The summary for people.
    Table,
}

/// Benchmarks several suites and puts their reports into one: what they cost together, what needs a look, and the mean lift
/// over the skills.
///
/// The runs of a suite are looked for in `<runs-root>/<folder of its repository>/<runs-subdir>`, or with --runs in one folder
/// for all.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift aggregate a/evals/shared-benchmark.json b/evals/shared-benchmark.json --out skills.json\n  \
    skill-lift aggregate */evals/shared-benchmark.json --runs-root .. --runs-subdir eval-runs/latest --format table\n  \
    skill-lift aggregate */evals/shared-benchmark.json | jq .summary.across_skills\n\n\
    Exit codes: 0 a report was made, whatever the lift; 1 refused input; 2 wrong arguments.")]
pub struct AggregateArguments {
    /// The suite files, one a skill.
    #[arg(value_name = "SUITE", required = true)]
    suites: Vec<PathBuf>,
    /// The folder of the folders of the repositories.
    #[arg(long, value_name = "DIR", default_value = ".")]
    runs_root: PathBuf,
    /// Where in the folder of a repository its runs are.
    #[arg(long, value_name = "DIR", default_value = "eval-runs/latest")]
    runs_subdir: PathBuf,
    /// The folder of the runs of all suites, instead of one for each.
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Grade only cases of this split.
    #[arg(long, value_name = "SPLIT", value_parser = ["tune", "holdout", "holdback", "all"])]
    split: Option<String>,
    /// Grade this arm; may be given several times. Default: the arms of each suite.
    #[arg(long = "variant", value_name = "NAME")]
    variants: Vec<String>,
    /// Merge the verdicts of judges from this file.
    #[arg(long, value_name = "FILE")]
    judge_results: Option<PathBuf>,
    /// Run the programs of script checks. They come with the suites: read them first.
    #[arg(long)]
    allow_scripts: bool,
    /// Count soft checks like gates.
    #[arg(long)]
    strict: bool,
    /// What goes to standard output. Default: a table on a terminal or beside --out, else JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write the report to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Stamp the reports with this time, in seconds since 1970. Default: SOURCE_DATE_EPOCH, else no stamp.
    #[arg(long, value_name = "SECONDS")]
    generated_at: Option<i64>,
    /// Write the table in ASCII.
    #[arg(long)]
    ascii: bool,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(arguments: &AggregateArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

impl AggregateArguments {
    fn write(&self) -> Result<(), ExitCode> {
        let generated_at = stamp(self.generated_at)?;
        let mut reports: Vec<SkillReport> = Vec::with_capacity(self.suites.len());
        for suite in &self.suites {
            let report = self.one(suite)?;
            if let Some(first) = reports.iter().position(|known| known.skill_name == report.skill_name) {
                return Err(fail(&format!(
                    "{} and {} are both about the skill {}: give each skill once",
                    shown_path(&self.suites[first]),
                    shown_path(suite),
                    report.skill_name
                )));
            }
            reports.push(report);
        }
        let thresholds = Thresholds::default();
        let json =
            |mut writer: &mut dyn Write| write_aggregate(&mut writer, generated_at, &reports, thresholds.alpha());
        let failed = |message: String| fail(&message);
        if let Some(path) = &self.out {
            emit(Some(path), json).map_err(failed)?;
        }
        let is_terminal = io::stdout().is_terminal();
        let format =
            self.format.unwrap_or(if is_terminal || self.out.is_some() { Format::Table } else { Format::Json });
        if self.quiet && self.out.is_some() && self.format.is_none() {
            return Ok(());
        }
        let style = table_style(self.color, self.ascii, false);
        emit(None, |writer: &mut dyn Write| match format {
            Format::Json => json(writer),
            Format::Table => writer.write_all(aggregate_table(&reports, thresholds.alpha(), style).as_bytes()),
        })
        .map_err(failed)
    }

    /// Benchmarks one suite; its report goes to a file that vanishes with the process.
    fn one(&self, suite: &Path) -> Result<SkillReport, ExitCode> {
        let runs = match &self.runs {
            Some(runs) => runs.clone(),
            None => {
                let repository = repository_name(suite).map_err(|message| fail(&message))?;
                self.runs_root.join(repository).join(&self.runs_subdir)
            }
        };
        if !self.quiet && self.suites.len() > 1 {
            warn_line(&format!("{}: runs in {}", shown_path(suite), shown_path(&runs)));
        }
        let Words { benchmark } =
            Words::try_parse_from(self.words(suite, &runs)).map_err(|error| fail(&error.to_string()))?;
        let failed = |error: io::Error| fail(&error.to_string());
        let (made, rows) = benchmark.make(|_| RowSpool::aside().map_err(failed))?;
        let file = tempfile::tempfile().map_err(failed)?;
        let mut writer = BufWriter::with_capacity(1 << 18, TrimmedEnd::new(&file));
        made.write(&mut writer, rows).and_then(|()| writer.flush()).map_err(failed)?;
        drop(writer);
        Ok(SkillReport { skill_name: made.head.skill_name, analysis: made.analysis, file })
    }

    /// The words of the command line of `benchmark` for one suite.
    fn words(&self, suite: &Path, runs: &Path) -> Vec<OsString> {
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
        self.variants.iter().for_each(|variant| option("variant", Some(variant.into())));
        for (flag, given) in
            [("--allow-scripts", self.allow_scripts), ("--strict", self.strict), ("--quiet", self.quiet)]
        {
            if given {
                words.push(flag.into());
            }
        }
        words
    }
}

/// A path that is not taken for an option.
pub(super) fn plain(path: &Path) -> OsString {
    match path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        true => Path::new(".").join(path).into_os_string(),
        false => path.as_os_str().to_owned(),
    }
}

/// The name of the folder of the repository that a suite belongs to.
fn repository_name(suite: &Path) -> Result<PathBuf, String> {
    let shown = shown_path(suite);
    if !suite.exists() {
        return Err(format!("no such file: {shown}"));
    }
    let folder = Path::new(".").join(repository_of(suite)).canonicalize();
    match folder.ok().as_deref().and_then(Path::file_name) {
        Some(name) => Ok(PathBuf::from(name)),
        None => Err(format!("{shown} is in no folder with a name: give --runs")),
    }
}

/// A file without the line break that ends a report: the report becomes an item of a list.
struct TrimmedEnd<'f> {
    file: &'f File,
    held: bool,
}

impl<'f> TrimmedEnd<'f> {
    fn new(file: &'f File) -> Self {
        Self { file, held: false }
    }
}

impl Write for TrimmedEnd<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if self.held {
            self.file.write_all(b"\n")?;
        }
        let body = bytes.strip_suffix(b"\n");
        self.held = body.is_some();
        self.file.write_all(body.unwrap_or(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
