//! `gate`: whether a report lets a build pass.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args, ValueEnum};
use num_traits::{One, Signed, Zero};
use skill_lift_stats::rational::{self, Rational};

use super::choices::{DuplicateChoice, PageFormat};
use super::decimals::optional;
use super::output::{Color, emit, fail, warn_line};
use super::summary::table_style;
use super::warnings::warn_of_dropped_rows;
use crate::analyze::gate::{Condition, Gate, GateRequest, SelfTestRequest, TestArm};
use crate::report::Style;
use crate::report::gate::{GateHead, GateView, render_gate, render_gate_markdown, write_gate};
use crate::runs::Limits;
use crate::runs::claims::{ClaimsError, ReadOptions, read_design};
use crate::runs::index::shown_path;
use crate::runs::named_file::read_named;

/// Most tries of a self-test.
const MOST_TRIES: u64 = 100_000;

/// What is done about evidence that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EvidenceChoice {
    /// Decide on what is there.
    Report,
    /// Decide nothing.
    Strict,
}

/// The arm that a self-test splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ArmChoice {
    /// Runs with the skill.
    WithSkill,
    /// Runs of the baseline.
    WithoutSkill,
}

/// Lets a build pass or fail by what a report says: whether the skill makes results better, is surely not worse, or makes
/// surely no difference. It decides on the exact lifts of the cases, never on printed figures, and what is not known never
/// passes.
///
/// The report is one of `benchmark` or of `skill-benchmark`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("condition").required(true)), after_help = "Examples:\n  \
    skill-lift gate benchmark.json --superior\n  \
    skill-lift gate benchmark.json --non-inferior 0.05 --max-cost-usd 0.01\n  \
    skill-lift gate benchmark.json --equivalent 0.1 --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n  \
    skill-lift gate benchmark.json --superior --evidence strict --quality --self-test\n  \
    skill-lift gate benchmark.json --superior | jq .reasons\n\n\
    Exit codes: 0 the condition holds; 1 refused input, or nothing was graded; 2 wrong arguments;\n\
    3 results are worse; 4 the condition is not shown; 5 nothing to decide on (no pair, or evidence is\n\
    missing under --evidence strict or --quality); 6 too few cases for any answer, or --self-test finds the design\n\
    unfit; 7 no difference that matters, with --superior; 8 the cost is above the limit or not known.\n\
    The first that applies: 5, 6, 3, 8, 7, 4.")]
pub struct GateArguments {
    /// The report of `benchmark`.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// Passes if the skill makes results better: the exact test rules chance out.
    #[arg(long, group = "condition", help_heading = "Condition, one of")]
    superior: bool,
    /// Passes if results are surely not worse by this lift or more; 0.05 are 5 percentage points.
    #[arg(
        long,
        group = "condition",
        value_name = "MARGIN",
        allow_hyphen_values = true,
        help_heading = "Condition, one of"
    )]
    non_inferior: Option<String>,
    /// Passes if results surely differ by less than this lift.
    #[arg(
        long,
        group = "condition",
        value_name = "MARGIN",
        allow_hyphen_values = true,
        help_heading = "Condition, one of"
    )]
    equivalent: Option<String>,
    /// With --superior: tell a difference below this lift (exit code 7) from one that is not known (4). Default: that of
    /// the report, if it has one.
    #[arg(long, value_name = "MARGIN", allow_hyphen_values = true, conflicts_with_all = ["non_inferior", "equivalent"])]
    equivalence_margin: Option<String>,
    /// Error rate of the test, above 0 and below 0.5. Default: that of the report, else 0.05.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    alpha: Option<String>,
    /// Fail if a run with the skill costs on average this many dollars more than one without it, or if nobody knows.
    #[arg(long, value_name = "DOLLARS", allow_hyphen_values = true)]
    max_cost_usd: Option<String>,
    /// What is done if the report says that evidence is missing.
    #[arg(long, value_enum, value_name = "CHOICE", default_value = "report")]
    evidence: EvidenceChoice,
    /// Decide nothing unless the report is whole: every case run in both arms, every run scored, with its time and its
    /// tokens, and every check decided.
    #[arg(long)]
    quality: bool,
    /// Pass if nothing was graded.
    #[arg(long)]
    allow_empty: bool,
    /// What to do when two rows of the report claim the same run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// Try the gate where nothing differs: on halves of the saved repetitions of one arm.
    #[arg(long, help_heading = "Self-test")]
    self_test: bool,
    /// The arm whose repetitions are split.
    #[arg(
        long,
        value_enum,
        value_name = "ARM",
        default_value = "without_skill",
        requires = "self_test",
        help_heading = "Self-test"
    )]
    self_test_arm: ArmChoice,
    /// Random tries, where there are too many ways to split to go through all.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=MOST_TRIES), requires = "self_test", help_heading = "Self-test")]
    self_test_runs: u64,
    /// What the random tries are drawn from.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "self_test", help_heading = "Self-test")]
    seed: u64,
    /// What is written. Default: a table on a terminal, else JSON and one sentence for the log on standard error.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<PageFormat>,
    /// Write it to this file, JSON unless --format says otherwise; standard output gets the table.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the table in ASCII.
    #[arg(long)]
    ascii: bool,
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
pub fn run(arguments: &GateArguments) -> ExitCode {
    match arguments.run() {
        Ok(code) | Err(code) => code,
    }
}

impl GateArguments {
    fn run(&self) -> Result<ExitCode, ExitCode> {
        // wrong arguments are told before anything is read
        let request = self.request()?;
        let shown = shown_path(&self.report);
        if self.report.is_dir() {
            return Err(fail(&format!("{shown} is a folder: name the report of `benchmark`")));
        }
        let limit = Limits::mebibytes(self.max_report_mib);
        let bytes = read_named(&self.report, limit).map_err(|problem| fail(&format!("{shown}: {problem}")))?;
        let options = ReadOptions { bytes: limit, on_duplicate: self.on_duplicate.into(), ..ReadOptions::default() };
        let report = read_design(&bytes, &options).map_err(|problem| refuse(&shown, &problem))?;
        if !self.quiet {
            warn_of_dropped_rows(&report.claims.notes, &shown);
        }
        let gate = Gate::of(&report, request);
        self.write(&gate, &shown)?;
        Ok(ExitCode::from(gate.answer.exit_code()))
    }

    fn request(&self) -> Result<GateRequest, ExitCode> {
        let one = Rational::one();
        let margin = |flag: &str, text: &Option<String>| {
            let fits = |value: &Rational| value.is_positive() && *value < one;
            optional(flag, text.as_deref(), fits, "above 0 and below 1, in lift: 0.05 are 5 percentage points")
        };
        let half = rational::rate(1, 2);
        let is_error_rate = |value: &Rational| value.is_positive() && *value < half;
        let not_inferior = margin("non-inferior", &self.non_inferior)?;
        let equivalent = margin("equivalent", &self.equivalent)?;
        let no_difference = margin("equivalence-margin", &self.equivalence_margin)?;
        let condition = match (not_inferior, equivalent) {
            (Some(margin), _) => Condition::NonInferior(margin),
            (_, Some(margin)) => Condition::Equivalent(margin),
            (None, None) => Condition::Superior { margin: no_difference },
        };
        let is_amount = |value: &Rational| value.is_zero() || value.is_positive();
        Ok(GateRequest {
            condition,
            alpha: optional("alpha", self.alpha.as_deref(), is_error_rate, "above 0 and below 0.5")?,
            max_cost: optional("max-cost-usd", self.max_cost_usd.as_deref(), is_amount, "of dollars, 0 or more")?,
            strict_evidence: self.evidence == EvidenceChoice::Strict,
            allow_empty: self.allow_empty,
            quality: self.quality,
            self_test: self.self_test.then_some(SelfTestRequest {
                arm: match self.self_test_arm {
                    ArmChoice::WithSkill => TestArm::WithSkill,
                    ArmChoice::WithoutSkill => TestArm::WithoutSkill,
                },
                tries: self.self_test_runs,
                seed: self.seed,
            }),
        })
    }

    fn write(&self, gate: &Gate, source: &str) -> Result<(), ExitCode> {
        let style = table_style(self.color, self.ascii, false);
        let failed = |message: String| fail(&message);
        if let Some(path) = &self.out {
            let format = self.format.unwrap_or(PageFormat::Json);
            // a file has no width: nothing is cut, and nothing is painted
            let style = Style { width: None, color: false, ..style };
            emit(Some(path), |writer| write_as(writer, format, style, source, gate)).map_err(failed)?;
        }
        let format = PageFormat::of_standard_output(self.format, self.out.is_some());
        if self.quiet && format == PageFormat::Table {
            return Ok(());
        }
        if !self.quiet && self.format.is_none() && format == PageFormat::Json {
            // who reads the log of a build wants to know why, and not to read JSON
            warn_line(&GateView::of(gate).sentence);
        }
        emit(None, |writer| write_as(writer, format, style, source, gate)).map_err(failed)
    }
}

/// Refuses a report. Who has results of another tool is told how they become one.
fn refuse(shown: &str, problem: &ClaimsError) -> ExitCode {
    let hint = match problem {
        ClaimsError::NotABenchmarkReport(_) => "; `skill-lift benchmark` makes one of the workspace that it belongs to",
        _ => "",
    };
    fail(&format!("{shown}: {problem}{hint}"))
}

fn write_as(writer: &mut dyn io::Write, format: PageFormat, style: Style, source: &str, gate: &Gate) -> io::Result<()> {
    match format {
        PageFormat::Json => write_gate(writer, GateHead { source }, gate),
        PageFormat::Table => writer.write_all(render_gate(&GateView::of(gate), style).as_bytes()),
        PageFormat::Markdown => writer.write_all(render_gate_markdown(&GateView::of(gate)).as_bytes()),
    }
}
