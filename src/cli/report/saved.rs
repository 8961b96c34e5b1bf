//! `report --benchmark`: a saved report in the formats of CI systems and of people.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::forge::FailOn;
use super::{Format, ReportArguments};
use crate::analyze::analyze_saved;
use crate::analyze::test_cases::{GateVariants, ReportFindings, is_anything_graded, test_cases};
use crate::cli::choices::DuplicateChoice;
use crate::cli::output::{emit, fail, leads_to_stream, usage, warn_line};
use crate::cli::warnings::note_line;
use crate::report::formats::{
    Again, Document, LEAST_KIB, USUAL_KIB, annotations, github_summary, markdown, write_ctrf, write_junit,
};
use crate::report::numbers;
use crate::runs::claims::{ReadOptions, SavedBenchmark, read_saved};
use crate::runs::index::shown_path;
use crate::runs::{Limits, read_named};

/// Largest limit of a Markdown document, in KiB.
const MOST_KIB: u64 = 1 << 20;

/// Arguments for saved reports.
#[derive(Debug, Args)]
#[command(next_help_heading = "Saved reports of benchmark")]
pub struct SavedArguments {
    /// The report, of `skill-lift benchmark` or of `skill-benchmark` 0.6. It is analysed again from its rows.
    #[arg(long, value_name = "FILE", conflicts_with = "iteration")]
    benchmark: Option<PathBuf>,
    /// Append to the file of --output, as the job summary of GitHub wants it, and begin with a heading of the second level.
    #[arg(long, requires_all = ["benchmark", "output"])]
    append: bool,
    /// The arms whose failing runs fail the suite, for junit and ctrf; `all` names every arm. Default: with_skill, so that
    /// a baseline that fails, as it should, does not turn the suite red.
    #[arg(long, value_name = "VARIANT", value_delimiter = ',', requires = "benchmark")]
    gate_variants: Vec<String>,
    /// Largest Markdown document, what is in the file already included; sections that do not fit are left out by name.
    #[arg(long, value_name = "KIB", requires = "benchmark", value_parser = clap::value_parser!(u64).range(LEAST_KIB..=MOST_KIB))]
    max_kib: Option<u64>,
    /// What to do when two rows of the report claim the same run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// Largest report.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    max_report_mib: u64,
}

impl SavedArguments {
    /// The report that was named.
    pub fn report(&self) -> Option<&Path> {
        self.benchmark.as_deref()
    }

    /// The first flag that was given, for iterations, where none applies. The parser does not ask for a report that cannot
    /// stand beside an iteration.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--append", self.append),
            ("--gate-variants", !self.gate_variants.is_empty()),
            ("--max-kib", self.max_kib.is_some()),
            ("--on-duplicate", self.on_duplicate != DuplicateChoice::Error),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    fn gates(&self) -> GateVariants {
        if self.gate_variants.iter().any(|name| name == "all") {
            return GateVariants::All;
        }
        let usual = || vec!["with_skill".to_owned()];
        GateVariants::Named(if self.gate_variants.is_empty() { usual() } else { self.gate_variants.clone() })
    }
}

/// Writes a saved report. `Err` is the exit code after the problem was printed.
pub fn run(arguments: &ReportArguments, path: &Path) -> Result<ExitCode, ExitCode> {
    let own = &arguments.saved;
    let is_document = matches!(arguments.format, Format::Markdown | Format::Github);
    if matches!(arguments.format, Format::Json | Format::UpstreamJson) {
        return Err(usage(
            "--format json and upstream-json are for iterations; with --benchmark the report is JSON already",
        ));
    }
    let asked = arguments
        .forge
        .asked_of_saved()
        .map_err(|what| usage(&format!("--fail-on {} is for iterations of the forge pipeline", what.word())))?;
    if let Some(flag) = arguments.forge.first_given_beside_fail_on() {
        return Err(usage(&format!("{flag} is for iterations of the forge pipeline")));
    }
    if arguments.dialect.is_some() {
        return Err(usage("--dialect is for iterations"));
    }
    for (flag, given) in [("--append", own.append), ("--max-kib", own.max_kib.is_some())] {
        if given && !is_document {
            return Err(usage(&format!("{flag} is for --format markdown and github")));
        }
    }
    if is_document && !own.gate_variants.is_empty() {
        return Err(usage("--gate-variants is for --format junit and ctrf"));
    }
    let shown = shown_path(path);
    let refuse = |problem: String| fail(&format!("{shown}: {problem}"));
    let bytes = Limits::mebibytes(own.max_report_mib);
    let options = ReadOptions { bytes, on_duplicate: own.on_duplicate.into(), ..ReadOptions::default() };
    let text = read_named(path, bytes).map_err(|problem| refuse(problem.to_string()))?;
    let saved = read_saved(&text, &options).map_err(|problem| refuse(problem.to_string()))?;
    drop(text);
    let analysis = analyze_saved(&saved);
    let again = Again { saved: &saved, analysis: &analysis };
    if !arguments.quiet {
        warn(again, &shown);
    }
    let target = arguments.output.as_deref();
    let gates = if is_document { GateVariants::All } else { own.gates() };
    let failed = |message: String| fail(&message);
    match arguments.format {
        Format::Junit => {
            let cases = test_cases(&saved, &gates);
            emit(target, |writer| write_junit(writer, again, &cases)).map_err(failed)?;
        }
        Format::Ctrf => {
            let cases = test_cases(&saved, &gates);
            emit(target, |writer| write_ctrf(writer, again, &cases)).map_err(failed)?;
        }
        Format::Github => {
            own.write_document(&github_summary(again, own.append), target).map_err(failed)?;
            let commands = annotations(again);
            if !commands.is_empty() {
                // apart from the summary, where they would do nothing
                let space = if target.is_none() { "\n" } else { "" };
                emit(None, |writer| write!(writer, "{space}{commands}")).map_err(failed)?;
            }
        }
        Format::Markdown | Format::Json | Format::UpstreamJson => {
            own.write_document(&markdown(again, own.append), target).map_err(failed)?;
        }
    }
    if !is_anything_graded(&saved, &gates) && !arguments.forge.allows_empty() {
        let of = match &gates {
            GateVariants::All => "no run".to_owned(),
            GateVariants::Named(names) => format!("no run of {}", names.join(", ")),
        };
        return Err(refuse(format!("nothing graded: {of} has a rate (--allow-empty accepts that)")));
    }
    let findings = ReportFindings::of(&saved, &analysis, &own.gates());
    let mut code = ExitCode::SUCCESS;
    for what in asked {
        let found = match what {
            FailOn::Failures => run_count(findings.failed_runs, "fails", "fail"),
            FailOn::Errors => run_count(findings.broken_runs, "did not come to a score", "did not come to a score"),
            FailOn::NegativeLift => findings.is_lift_negative.then(|| "the lift is below 0".to_owned()),
            FailOn::Incomplete => findings.is_incomplete.then(|| "its evidence is incomplete".to_owned()),
            // refused before anything is read
            FailOn::Thresholds | FailOn::Regressions => None,
        };
        if let Some(found) = found {
            code = refuse(format!("{found} (--fail-on {})", what.word()));
        }
    }
    Ok(code)
}

fn run_count(runs: usize, one: &str, many: &str) -> Option<String> {
    let verb = if runs == 1 { one } else { many };
    (runs > 0).then(|| format!("{} {verb}", numbers::counted(runs, "run", "runs")))
}

impl SavedArguments {
    fn write_document(&self, document: &Document, target: Option<&Path>) -> Result<(), String> {
        let limit = self.max_kib.unwrap_or(USUAL_KIB).saturating_mul(1024);
        let Some(path) = target.filter(|_| self.append) else {
            let text = document.render(usize::try_from(limit).unwrap_or(usize::MAX));
            return emit(target, |writer| writer.write_all(text.as_bytes()));
        };
        let cannot = |error: io::Error| format!("cannot write {}: {error}", path.display());
        let mut file = Appended::open(path).map_err(cannot)?;
        let room = limit.saturating_sub(file.length);
        if room < LEAST_KIB * 1024 {
            return Err(format!(
                "{}: holds {} KiB already; nothing more fits below {} KiB (--max-kib)",
                path.display(),
                file.length / 1024,
                limit / 1024
            ));
        }
        file.write(&document.render(usize::try_from(room).unwrap_or(usize::MAX))).map_err(cannot)
    }
}

/// A file to which something is appended.
struct Appended {
    file: File,
    length: u64,
    /// Whether what is there ends with a line break.
    ends_line: bool,
}

impl Appended {
    fn open(path: &Path) -> io::Result<Self> {
        if leads_to_stream(path) {
            let file = OpenOptions::new().append(true).open(path)?;
            return Ok(Self { file, length: 0, ends_line: true });
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let length = file.metadata()?.len();
        let mut last = [b'\n'];
        if length > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        Ok(Self { file, length, ends_line: last == [b'\n'] })
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let gap = match (self.length, self.ends_line) {
            (0, _) => "",
            (_, true) => "\n",
            (_, false) => "\n\n",
        };
        // one call, so that others who append do not write in between
        self.file.write_all(format!("{gap}{text}").as_bytes())?;
        self.file.flush()
    }
}

/// What is odd about a report.
fn warn(again: Again<'_>, shown: &str) {
    for note in &again.saved.notes {
        warn_line(&note_line(note, shown));
    }
    if let Some((stated, found)) = differing_verdict(again.saved, again) {
        warn_line(&format!(
            "WARN verdict_differs: {shown}: it states `{stated}`, its rows say `{found}`; the rows count"
        ));
    }
}

/// The verdict that a report states, where its rows have another one.
fn differing_verdict<'s>(saved: &'s SavedBenchmark, again: Again<'_>) -> Option<(&'s str, &'static str)> {
    let found = again.analysis.inference.overall.verdict.code.as_str();
    let stated = saved.stated_verdict.as_deref()?;
    (stated != found).then_some((stated, found))
}
