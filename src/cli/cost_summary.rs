//! `cost-summary`: what the saved runs of a suite cost, whichever arm they belong to.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::common::{load_suite, stamp};
use super::output::{Color, emit, fail};
use super::summary::table_style;
use super::warnings::{fail_each, print_warnings};
use crate::analyze::telemetry::{FlaggedCase, Ledger};
use crate::json::excerpt::ExcerptError;
use crate::json::{self, Item, Tape};
use crate::judge::Verdicts;
use crate::pipeline::WarningLog;
use crate::report::{LedgerHead, LedgerSource, ledger_markdown, ledger_table, write_ledger_json};
use crate::runs::billing::billed_runs;
use crate::runs::index::shown_path;
use crate::runs::{IndexOptions, Limits, OnDuplicate, open_named};
use crate::suite::LoadOptions;

/// Most bytes of the list of flags that are kept.
const FLAGS_BYTES: usize = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The whole ledger.
    Json,
    /// Tables for people.
    Table,
    /// Tables for a page.
    #[value(alias = "md")]
    Markdown,
}

/// Adds up what the saved runs of a suite cost: tokens, money and time, by arm, runner and case.
///
/// Every run below the cases of the suite counts, also those of arms that are not compared, of trigger cases, and runs
/// that failed: they were paid for. What a run does not say is not zero: a sum over it is called partial.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift cost-summary --manifest evals/shared-benchmark.json --runs eval-runs/latest\n  \
    skill-lift cost-summary --manifest evals/shared-benchmark.json --runs eval-runs/latest --benchmark benchmark.json --md cost.md\n  \
    skill-lift cost-summary --manifest evals/shared-benchmark.json --runs eval-runs/latest | jq .totals.total_cost_usd\n\n\
    Exit codes: 0 a ledger was made; 1 refused input; 2 wrong arguments.")]
pub struct CostSummaryArguments {
    /// The suite file.
    #[arg(long, value_name = "SUITE")]
    manifest: PathBuf,
    /// The folder of the saved runs.
    #[arg(long, value_name = "DIR")]
    runs: PathBuf,
    /// A report of `benchmark` on the same runs: names what was paid for cases that do not tell the arms apart.
    #[arg(long, value_name = "REPORT")]
    benchmark: Option<PathBuf>,
    /// Verdicts of judges: what they cost is listed apart.
    #[arg(long, value_name = "FILE")]
    judge_results: Option<PathBuf>,
    /// How many of the most expensive cases, ablations and findings are listed.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Also write the ledger as Markdown to this file.
    #[arg(long, value_name = "FILE")]
    md: Option<PathBuf>,
    /// What goes to standard output. Default: tables on a terminal or beside --out, else JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write the ledger as JSON to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Keep the last of two directories with the same number instead of refusing them.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: super::choices::DuplicateChoice,
    /// Stamp the ledger with this time, in seconds since 1970. Default: SOURCE_DATE_EPOCH, else no stamp.
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
}

/// Runs the command.
pub fn run(arguments: &CostSummaryArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

impl CostSummaryArguments {
    fn write(&self) -> Result<(), ExitCode> {
        let generated_at = stamp(self.generated_at)?;
        let limits = Limits::default();
        let suite = load_suite(&self.manifest, &LoadOptions::default(), self.quiet, self.color)?;
        let flagged = match &self.benchmark {
            Some(path) => flagged_cases(path).map_err(|message| fail(&message))?,
            None => Vec::new(),
        };
        let verdicts = match &self.judge_results {
            Some(path) => Verdicts::load(path, Limits::mebibytes(64)).map_err(|error| fail(&error.to_string()))?,
            None => Verdicts::default(),
        };
        let case_ids: Vec<&str> = suite.cases.iter().map(|case| case.id.as_str()).collect();
        let on_duplicate: OnDuplicate = self.on_duplicate.into();
        let options = IndexOptions { on_duplicate, limits, ..IndexOptions::default() };
        let (runs, warnings) = billed_runs(&self.runs, &case_ids, options).map_err(fail_each)?;
        if !self.quiet {
            let mut log = WarningLog::default();
            log.extend(warnings);
            print_warnings(&log);
        }
        let ledger = Ledger::of(&runs, &case_ids, &flagged, self.top);
        let head = LedgerHead {
            manifest: shown_path(&self.manifest),
            skill_name: suite.skill_name.clone(),
            generated_at,
            runs_root: shown_path(&self.runs),
        };
        let judge = (!verdicts.is_empty()).then(|| verdicts.spend());
        self.emit(LedgerSource { head: &head, ledger: &ledger, judge })
    }

    fn emit(&self, source: LedgerSource<'_>) -> Result<(), ExitCode> {
        let failed = |message: String| fail(&message);
        if let Some(path) = &self.md {
            emit(Some(path), |writer| writer.write_all(ledger_markdown(source).as_bytes())).map_err(failed)?;
        }
        if let Some(path) = &self.out {
            emit(Some(path), |writer| write_ledger_json(writer, source)).map_err(failed)?;
        }
        let is_terminal = io::stdout().is_terminal();
        let format =
            self.format.unwrap_or(if is_terminal || self.out.is_some() { Format::Table } else { Format::Json });
        if self.quiet && self.format.is_none() && self.out.is_some() {
            return Ok(());
        }
        let style = table_style(self.color, self.ascii, false);
        emit(None, |writer: &mut dyn Write| match format {
            Format::Json => write_ledger_json(writer, source),
            Format::Table => writer.write_all(ledger_table(source, style).as_bytes()),
            Format::Markdown => writer.write_all(ledger_markdown(source).as_bytes()),
        })
        .map_err(failed)
    }
}

/// The flags of the cases in a report, of which nothing else is read.
fn flagged_cases(path: &Path) -> Result<Vec<FlaggedCase>, String> {
    let shown = path.display();
    let no_report = |why: &str| format!("{shown}: no report of `benchmark`: {why}");
    let file = open_named(path, u64::MAX).map_err(|problem| format!("{shown}: {problem}"))?;
    let found = json::excerpt::members_of(file, &["case_flags"], FLAGS_BYTES).map_err(|error| match error {
        ExcerptError::NoObject => no_report(&error.to_string()),
        error => format!("{shown}: {error}"),
    })?;
    let Some(text) = found.into_iter().next().flatten() else {
        return Err(no_report("it has no list `case_flags`"));
    };
    let tape = Tape::read(&text, json::Limits::SIDECAR).map_err(|error| format!("{shown}: `case_flags`: {error}"))?;
    let Some(entries) = tape.root().items() else {
        return Err(no_report("it has no list `case_flags`"));
    };
    let flagged = entries.filter_map(|entry| {
        let flags = entry.get("flags").and_then(Item::items)?.filter_map(Item::as_str).map(|flag| flag.into_owned());
        Some(FlaggedCase { case_id: entry.get("case_id").and_then(Item::as_str)?.into_owned(), flags: flags.collect() })
    });
    Ok(flagged.collect())
}
