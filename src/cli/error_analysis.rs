//! `error-analysis`: what went wrong in the runs of a report, and what people said about them.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::choices::DuplicateChoice;
use super::output::{Color, emit, fail, warn_line};
use super::summary::table_style;
use super::warnings::{note_line, warn_of_feedback};
use crate::analyze::error_analysis::ErrorAnalysis;
use crate::feedback::{Entry, Feedback, RunIds};
use crate::report::Style;
use crate::report::error_analysis::{render_error_analysis, write_error_analysis};
use crate::runs::claims::{ReadOptions, SavedBenchmark, read_saved};
use crate::runs::index::shown_path;
use crate::runs::{Limits, NamedFileProblem, read_named};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The table for people.
    Table,
    /// Everything.
    Json,
}

/// Says what went wrong in the runs of a report: every failing run in one category, how often each occurs, and which runs
/// to read.
///
/// The report is one of `skill-lift benchmark` or of `skill-benchmark` 0.6. With --feedback, the notes and verdicts that the
/// review page stored stand beside the runs that they are about.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift error-analysis --benchmark benchmark.json\n  \
    skill-lift error-analysis --benchmark benchmark.json --feedback feedback.json --out errors.json\n  \
    skill-lift error-analysis --benchmark benchmark.json | jq -r '.taxonomy[] | \"\\(.count) \\(.category)\"'\n\n\
    Exit codes: 0 done, whatever failed; 1 a report or feedback that cannot be read; 2 wrong arguments.")]
pub struct ErrorAnalysisArguments {
    /// The report of `benchmark`.
    #[arg(long, value_name = "FILE")]
    benchmark: PathBuf,
    /// Most runs in the list of runs to read, in JSON.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// What people said: feedback.json of the review page, of version 0.6, or of skill-creator. A file that is not there
    /// adds nothing.
    #[arg(long, value_name = "FILE")]
    feedback: Option<PathBuf>,
    /// What is written. Default: a table on a terminal, else JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write it to this file, JSON unless --format says otherwise; standard output gets the table.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// List everything in the table.
    #[arg(long)]
    all: bool,
    /// Write the table in ASCII.
    #[arg(long)]
    ascii: bool,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// What to do when two rows of a report claim the same run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// Largest report.
    #[arg(long, value_name = "MIB", default_value_t = 256, help_heading = "Limits")]
    max_report_mib: u64,
}

/// Warnings that are shown one by one.
const WARNINGS_SHOWN: usize = 20;

/// Runs the command.
pub fn run(arguments: &ErrorAnalysisArguments) -> ExitCode {
    match arguments.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

impl ErrorAnalysisArguments {
    fn run(&self) -> Result<(), ExitCode> {
        let saved = self.report()?;
        let feedback = self.feedback.as_deref().map(|path| self.said(path, &saved)).transpose()?.flatten();
        let analysis = ErrorAnalysis::of(&saved, feedback.as_ref());
        if let (Some(said), Some(path)) = (&analysis.said, &self.feedback) {
            let unmatched = said.unmatched.iter().map(|entry| {
                format!("WARN feedback_of_no_run: {}: {}: the report has no such run", shown_path(path), named(entry))
            });
            self.warn(unmatched.collect());
        }
        self.write(&analysis)
    }

    fn report(&self) -> Result<SavedBenchmark, ExitCode> {
        let shown = shown_path(&self.benchmark);
        let refuse = |problem: String| fail(&format!("{shown}: {problem}"));
        let bytes = Limits::mebibytes(self.max_report_mib);
        let options = ReadOptions { bytes, on_duplicate: self.on_duplicate.into(), ..ReadOptions::default() };
        let text = read_named(&self.benchmark, bytes).map_err(|problem| refuse(problem.to_string()))?;
        let saved = read_saved(&text, &options).map_err(|problem| refuse(problem.to_string()))?;
        self.warn(saved.notes.iter().map(|note| note_line(note, &shown)).collect());
        Ok(saved)
    }

    /// What people said about the runs of a report; `None` where no file is there.
    fn said(&self, path: &Path, saved: &SavedBenchmark) -> Result<Option<Feedback>, ExitCode> {
        let shown = shown_path(path);
        let bytes = match read_named(path, Limits::default().sidecar_bytes) {
            Ok(bytes) => bytes,
            Err(NamedFileProblem::Missing) => {
                self.warn(vec![format!("WARN feedback_missing: {shown} is not there; nothing is added")]);
                return Ok(None);
            }
            Err(problem) => return Err(fail(&format!("{shown}: {problem}"))),
        };
        let (feedback, notes) = Feedback::read_for(&bytes, &RunIds::of_report(saved))
            .map_err(|problem| fail(&format!("{shown}: {problem}")))?;
        if !self.quiet {
            warn_of_feedback(&shown, &notes);
        }
        Ok(Some(feedback))
    }

    fn warn(&self, lines: Vec<String>) {
        if self.quiet {
            return;
        }
        lines.iter().take(WARNINGS_SHOWN).for_each(|line| warn_line(line));
        if lines.len() > WARNINGS_SHOWN {
            warn_line(&format!("WARN: … and {} more", lines.len() - WARNINGS_SHOWN));
        }
    }

    fn write(&self, analysis: &ErrorAnalysis<'_>) -> Result<(), ExitCode> {
        let style = table_style(self.color, self.ascii, self.all);
        let failed = |message: String| fail(&message);
        if let Some(path) = &self.out {
            let format = self.format.unwrap_or(Format::Json);
            // a file has no width: nothing is cut, and nothing is painted
            let style = Style { width: None, color: false, ..style };
            emit(Some(path), |writer| self.write_as(writer, format, style, analysis)).map_err(failed)?;
        }
        let format = match (self.out.is_some(), self.format) {
            (true, _) => Format::Table,
            (false, Some(format)) => format,
            (false, None) if io::stdout().is_terminal() => Format::Table,
            (false, None) => Format::Json,
        };
        if self.quiet && format == Format::Table {
            return Ok(());
        }
        emit(None, |writer| self.write_as(writer, format, style, analysis)).map_err(failed)
    }

    fn write_as(
        &self,
        writer: &mut dyn io::Write,
        format: Format,
        style: Style,
        analysis: &ErrorAnalysis<'_>,
    ) -> io::Result<()> {
        match format {
            Format::Json => write_error_analysis(writer, analysis, self.limit),
            Format::Table => writer.write_all(render_error_analysis(analysis, style).as_bytes()),
        }
    }
}

/// The run that an entry is about.
fn named(entry: &Entry) -> String {
    let model = entry.model.as_ref().map(|model| format!(", {model}")).unwrap_or_default();
    format!("{}{model}, {}, run {}", entry.case_id, entry.variant, entry.run_number)
}
