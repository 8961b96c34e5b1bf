//! `benchmark`: grades saved runs, pairs them, and reports the lift.

use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, ValueEnum};
use num_traits::Signed;
use serde_json::json;
use skill_lift_contract::{ContentDigest, Metric};
use skill_lift_stats::Thresholds;
use skill_lift_stats::rational::{self, Rational};

use super::common::{Common, Graded};
use super::output::{emit, fail, usage, warn_line};
use super::render_viewer::{PageArguments, write_page};
use super::summary::SummaryArguments;
use super::warnings::warn_if_nothing_graded;
use crate::analyze::benchmark_file::CheckedBenchmark;
use crate::analyze::pairing::{Pair, Pairing};
use crate::analyze::table::RunTable;
use crate::analyze::{Analysis, AnalysisOptions, analyze};
use crate::grade::stored::StoredTree;
use crate::judge::JudgeSpend;
use crate::pipeline::{FrameChoice, Input, Products, ReviewRequest, review_page};
use crate::report::{
    Provenance, ReportHead, RowDetail, RowSpool, RowWriter, Sources, StoredSource, SummaryView, render, write_benchmark,
};
use crate::runs::claims::Contradiction;
use crate::runs::{Limits, Plan};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The whole report.
    Json,
    /// The summary for people.
    Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResultsChoice {
    /// Everything.
    Full,
    /// Everything but `metadata`.
    Slim,
}

/// Grades saved runs, pairs the runs with and without the skill, and reports the lift.
///
/// On a terminal the summary is shown; in a pipe the report is written as JSON. With --out the report goes to the file
/// and the summary to standard output.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift benchmark evals/shared-benchmark.json --runs eval-runs/latest\n  \
    skill-lift benchmark evals/shared-benchmark.json --runs eval-runs/latest --out benchmark.json\n  \
    skill-lift benchmark evals/shared-benchmark.json --runs eval-runs/latest --out benchmark.json --review review.html\n  \
    skill-lift benchmark evals/shared-benchmark.json --runs eval-runs/latest | jq .inference.overall.verdict\n\n\
    Exit codes: 0 a report was made, whatever the lift; 1 refused input; 2 wrong arguments.")]
pub struct BenchmarkArguments {
    #[command(flatten)]
    common: Common,
    /// What goes to standard output. Default: a table on a terminal or beside --out, else JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// What the rows of the report hold: all of it, or all but the metadata of the runs, which is passed through.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "full")]
    results: ResultsChoice,
    /// Also write the graded runs as Parquet files into this folder.
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,
    /// The plan of the runs, which says which of them are missing. Default: `answer-design.json` in the folder of the
    /// runs; without one, every case with every model and repetition that is there.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// How large a difference in the pass rate counts as none, above 0 and below 1: also reports whether the arms are shown to
    /// be equivalent. There is no default; choose it before you see the runs.
    #[arg(long, value_name = "MARGIN")]
    equivalence_margin: Option<String>,
    /// What one more passed run is worth, in the currency of the runs: also reports what the skill gains a run after its
    /// cost.
    #[arg(long, value_name = "MONEY")]
    value_per_lift: Option<String>,
    #[command(flatten)]
    summary: SummaryArguments,
    /// Also write the review page, as `render-viewer` does.
    #[arg(long, value_name = "FILE", help_heading = "Review page")]
    review: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Review page")]
    page: PageArguments,
}

/// Runs the command.
pub fn run(arguments: BenchmarkArguments) -> ExitCode {
    match arguments.report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

/// A benchmark that was made: all of its report but the rows.
pub(super) struct Made {
    pub(super) head: ReportHead,
    pub(super) analysis: Analysis,
    stored: Option<StoredTree>,
    benchmark_file: Option<CheckedBenchmark>,
    judge_spend: Option<JudgeSpend>,
    pub(super) provenance: Provenance,
    /// The folder that the paths of runs are relative to.
    pub(super) runs_root: PathBuf,
    /// What was graded.
    input: ManuallyDrop<Input>,
}

impl Made {
    /// Writes the report with its rows.
    pub(super) fn write(&self, mut writer: &mut dyn io::Write, rows: RowSpool) -> io::Result<()> {
        let benchmark_file = self.benchmark_file.as_ref();
        let sources = Sources {
            head: &self.head,
            analysis: &self.analysis,
            stored: self.stored.as_ref().map(|tree| StoredSource { tree, benchmark_file }),
            judge_spend: self.judge_spend.as_ref(),
        };
        write_benchmark(&mut writer, sources, rows, &self.provenance)
    }
}

/// The arguments of `benchmark` alone, to make them of words.
#[derive(Debug, Parser)]
#[command(name = "benchmark", no_binary_name = true)]
pub(super) struct Words {
    #[command(flatten)]
    pub(super) benchmark: BenchmarkArguments,
}

impl BenchmarkArguments {
    /// Grades, pairs and analyses. What `rows` makes gets the rows of the report. `Err` is the exit code after the
    /// problem was printed.
    pub(super) fn make<R: RowWriter>(
        &self,
        rows: impl FnOnce(&ReportHead) -> Result<R, ExitCode>,
    ) -> Result<(Made, R), ExitCode> {
        let thresholds = self.summary.thresholds()?;
        let equivalence_margin = self.equivalence_margin.as_deref().map(parse_margin).transpose()?;
        let value_per_lift = self.value_per_lift.as_deref().map(parse_value_per_lift).transpose()?;
        let frames = if self.frames.is_some() { FrameChoice::RunsAndAssertions } else { FrameChoice::Runs };
        let detail = match self.results {
            ResultsChoice::Full => RowDetail::Full,
            ResultsChoice::Slim => RowDetail::Slim,
        };
        let named_plan = self.plan.as_ref().map(|path| self.load_plan(path)).transpose()?;
        let plan_bytes = named_plan.is_none().then(|| self.common.suite_bytes());
        let products = Products { frames, rows: detail, plan_bytes, ..Products::default() };
        let Graded { evaluated, rows, variants, input, head, judge_spend, mut provenance } =
            self.common.grade(products, rows)?;
        if !self.common.quiet {
            warn_if_nothing_graded(&evaluated, self.common.runs());
        }
        provenance.blocks_missing = Provenance::blocks_missing();
        let defaults = Thresholds::default();
        if thresholds.alpha() != defaults.alpha() {
            provenance.options.insert("alpha", json!(self.summary.alpha));
        }
        if thresholds.min_lift() != defaults.min_lift() {
            provenance.options.insert("min-lift", json!(self.summary.min_lift));
        }
        if let Some(margin) = &self.equivalence_margin {
            provenance.options.insert("equivalence-margin", json!(margin));
        }
        if let Some(value) = &self.value_per_lift {
            provenance.options.insert("value-per-lift", json!(value));
        }
        if self.results == ResultsChoice::Slim {
            provenance.options.insert("results", json!("slim"));
        }
        let plan = match named_plan {
            Some((plan, digest)) => {
                provenance.options.insert("plan", json!(format!("sha256:{digest}")));
                Some(plan)
            }
            None => evaluated.plan,
        };
        let stored = evaluated.stored;
        let Some(frames) = evaluated.frames else {
            return Err(fail("the runs were not collected"));
        };
        if let Some(folder) = &self.frames {
            frames.write_parquet(folder).map_err(|error| fail(&error.to_string()))?;
        }
        let plan = plan.map(|plan| input.held_against(plan));
        let options = AnalysisOptions {
            thresholds,
            baseline: input.baseline(&variants),
            plan,
            strict_evidence: self.common.strict_evidence(),
            value_per_lift,
            equivalence_margin,
        };
        let analysis = analyze(frames, &variants, &options).map_err(|error| fail(&error.to_string()))?;
        let benchmark_file =
            stored.as_ref().and_then(|stored| input.check_benchmark(&analysis, stored, self.common.split()));
        let mismatches = label_mismatches(&analysis.table, &analysis.pairing);
        if self.common.strict_layout && !mismatches.is_empty() {
            return Err(mismatches.iter().fold(ExitCode::FAILURE, |_, message| fail(message)));
        }
        if !self.common.quiet {
            mismatches.iter().for_each(|message| warn_line(&format!("WARN {message}")));
            benchmark_file.iter().for_each(warn_contradictions);
        }
        let runs_root = input.runs_root(self.common.runs()).to_owned();
        Ok((Made { head, analysis, stored, benchmark_file, judge_spend, provenance, runs_root, input }, rows))
    }

    fn report(&self) -> Result<(), ExitCode> {
        let aside = |_: &_| RowSpool::aside().map_err(|error| fail(&error.to_string()));
        let (made, rows) = self.make(aside)?;
        let write = |writer: &mut dyn io::Write| made.write(writer, rows);
        let on_terminal = io::stdout().is_terminal();
        let json_to_stdout = match (self.format, self.common.out.is_some()) {
            (Some(format), _) => format == Format::Json,
            (None, true) => false,
            (None, false) => !on_terminal,
        };
        let failed = |message: String| fail(&message);
        // a page is made of the report, so that it has to stand somewhere
        let aside = match (&self.common.out, &self.review) {
            (None, Some(_)) => Some(tempfile::NamedTempFile::new().map_err(|error| fail(&error.to_string()))?),
            _ => None,
        };
        let place = self.common.out.as_deref().or(aside.as_ref().map(|file| file.path()));
        match place {
            Some(path) => {
                emit(Some(path), write).map_err(failed)?;
                if json_to_stdout {
                    let copy = std::fs::File::open(path);
                    emit(None, |writer| copy.and_then(|mut file| io::copy(&mut file, writer)).map(|_| ()))
                        .map_err(failed)?;
                }
            }
            None if json_to_stdout => emit(None, write).map_err(failed)?,
            None => {}
        }
        if let (Some(report), Some(page)) = (place, &self.review) {
            self.write_review(&made, report, page)?;
        }
        if !json_to_stdout && !self.common.quiet {
            self.print_summary(&made.head.skill_name, &made.analysis, made.stored.as_ref())?;
            if self.common.out.is_none() && on_terminal {
                warn_line("Full report: --out FILE or --format json");
            }
        }
        Ok(())
    }

    fn write_review(&self, made: &Made, report: &Path, page: &Path) -> Result<(), ExitCode> {
        let options = self.page.options();
        let request = ReviewRequest {
            report,
            runs: &[&made.runs_root],
            suites: &[made.input.suite()],
            triggers: None,
            previous: None,
            feedback: None,
            feedback_shape: None,
            report_bytes: u64::MAX,
            limits: Limits::default(),
            assets: None,
            options: &options,
        };
        let reviewed = review_page(&request).map_err(|error| fail(&error.to_string()))?;
        write_page(&reviewed.page, page, self.common.quiet)
    }

    fn load_plan(&self, path: &Path) -> Result<(Plan, ContentDigest), ExitCode> {
        Plan::load(path, self.common.suite_bytes())
            .map_err(|error| fail(&format!("--plan {}: {error}", path.display())))
    }

    fn print_summary(
        &self,
        skill_name: &str,
        analysis: &Analysis,
        stored: Option<&StoredTree>,
    ) -> Result<(), ExitCode> {
        let text = render(&SummaryView::of(skill_name, analysis, stored), self.summary.style(self.common.color));
        emit(None, |writer| writer.write_all(text.as_bytes())).map_err(|message| fail(&message))
    }
}

/// Where the verdicts of a workspace contradict its benchmark file.
fn warn_contradictions(checked: &CheckedBenchmark) {
    if let Err(problem) = &checked.claims {
        warn_line(&format!("WARN benchmark_unreadable: {}: {problem}", checked.file));
    }
    for contradiction in checked.contradictions.iter().take(5) {
        let Contradiction { code, subject, claimed, found, .. } = contradiction;
        warn_line(&format!(
            "WARN {}: {}: {subject}: it states {claimed}, the verdicts say {found}; the verdicts count",
            code.code(),
            checked.file
        ));
    }
    if checked.contradictions.len() > 5 {
        warn_line(&format!("WARN benchmark_disagrees: … and {} more", checked.contradictions.len() - 5));
    }
}

/// Pairs that did not meet because only one arm names its model.
fn label_mismatches(table: &RunTable, pairing: &Pairing) -> Vec<String> {
    let mismatches = pairing.model_label_mismatches();
    let text = |(without_label, with_label): &(&Pair, &Pair)| {
        format!(
            "model_label_mismatch: {}, repetition {}: one arm names the model {}, the other names none; the runs \
             are not compared ({})",
            table.case_id(without_label.case),
            without_label.repetition,
            table.model(with_label.model).unwrap_or_default(),
            Metric::ObjectivePassRate.name()
        )
    };
    let mut texts: Vec<String> = mismatches.iter().take(5).map(text).collect();
    if mismatches.len() > 5 {
        texts.push(format!("model_label_mismatch: … and {} more", mismatches.len() - 5));
    }
    texts
}

/// The worth of a lift. `Err` is the exit code after the problem was printed.
fn parse_value_per_lift(text: &str) -> Result<Rational, ExitCode> {
    let largest = rational::rate(1_000_000_000, 1);
    let is_amount = |value: &Rational| value.is_positive() && *value <= largest;
    rational::parse_decimal(text).filter(is_amount).ok_or_else(|| {
        usage(&format!(
            "invalid value '{text}' for '--value-per-lift': an amount above 0 and up to 1e9 is expected, like 0.50"
        ))
    })
}

/// The margin of equivalence. `Err` is the exit code after the problem was printed.
fn parse_margin(text: &str) -> Result<Rational, ExitCode> {
    let is_margin = |value: &Rational| value.is_positive() && *value < rational::rate(1, 1);
    rational::parse_decimal(text).filter(is_margin).ok_or_else(|| {
        usage(&format!("invalid value '{text}' for '--equivalence-margin': a number above 0 and below 1 is expected"))
    })
}
