//! `trend`: what a history of reports shows.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::interrupt;
use super::output::{Color, emit, fail, warn_line};
use super::summary::SummaryArguments;
use crate::analyze::trend::Trend;
use crate::pipeline::{History, ReadHistory};
use crate::report::Style;
use crate::report::trend::{TrendView, render_trend, render_trend_markdown, write_trend};
use crate::runs::Limits;
use crate::runs::claims::ReadOptions;
use crate::runs::index::shown_path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The table for people.
    Table,
    /// The same for a pull request or a page.
    #[value(alias = "md")]
    Markdown,
    /// Everything.
    Json,
}

/// Says how the results of a skill went from report to report.
///
/// The history is a folder of reports `run-<number>.json`, of `skill-lift benchmark` or `skill-benchmark`. Neighbours are
/// compared over the cases in both: the change of the pass rate with the skill and of the lift get an exact test when the
/// two reports are like for like. Beside that: the checks that fail again and again with the skill, and the cases that
/// never failed in either arm.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift trend --history eval-history\n  \
    skill-lift trend --history eval-history --add benchmark.json\n  \
    skill-lift trend --history eval-history --format markdown --out trend.md\n  \
    skill-lift trend --history eval-history | jq '.diffs[-1].with_skill.verdict'\n\n\
    Exit codes: 0 done, whatever changed, also without any report; 1 a file that cannot be read, or\n\
    one to add that is no report of benchmark or is in the history already; 2 wrong arguments.")]
pub struct TrendArguments {
    /// The folder that keeps the reports.
    #[arg(long, value_name = "DIR")]
    history: PathBuf,
    /// Append a copy of this report to the history first, under the next number.
    #[arg(long, value_name = "REPORT")]
    add: Option<PathBuf>,
    /// What is written. Default: a table on a terminal, else JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write it to this file, JSON unless --format says otherwise; standard output gets the table.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    summary: SummaryArguments,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Largest report.
    #[arg(long, value_name = "MIB", default_value_t = 256, help_heading = "Limits")]
    max_report_mib: u64,
}

/// Runs the command.
pub fn run(arguments: &TrendArguments) -> ExitCode {
    match arguments.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

impl TrendArguments {
    fn run(&self) -> Result<(), ExitCode> {
        let thresholds = self.summary.thresholds()?;
        interrupt::watch();
        let options = ReadOptions { bytes: Limits::mebibytes(self.max_report_mib), ..ReadOptions::default() };
        let history = History { folder: &self.history, options };
        let read = history.read(&thresholds, self.add.as_deref());
        let ReadHistory { trend, added, no_reports } = read.map_err(|error| fail(&error.to_string()))?;
        if !self.quiet {
            if let Some(place) = &added {
                // not on standard output, which may go into a parser
                warn_line(&format!("appended {}", shown_path(place)));
            }
            for (file, problem) in &no_reports {
                warn_line(&format!("WARN not_a_report: {file}: {problem}"));
            }
            if trend.points.is_empty() {
                warn_line(&format!("WARN history_empty: {} holds no run-<number>.json", shown_path(&self.history)));
            }
        }
        self.write(&trend)
    }

    fn write(&self, trend: &Trend) -> Result<(), ExitCode> {
        if let Some(path) = &self.out {
            let format = self.format.unwrap_or(Format::Json);
            // a file has no width: nothing is cut, and nothing is painted
            let style = Style { width: None, color: false, ..self.summary.style(self.color) };
            emit(Some(path), |writer| write_as(writer, format, style, trend)).map_err(|message| fail(&message))?;
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
        emit(None, |writer| write_as(writer, format, self.summary.style(self.color), trend))
            .map_err(|message| fail(&message))
    }
}

fn write_as(writer: &mut dyn io::Write, format: Format, style: Style, trend: &Trend) -> io::Result<()> {
    match format {
        Format::Json => write_trend(writer, trend),
        Format::Table => writer.write_all(render_trend(&TrendView::of(trend), style).as_bytes()),
        Format::Markdown => writer.write_all(render_trend_markdown(&TrendView::of(trend), style.all_cases).as_bytes()),
    }
}
