//! `plan`: what an eval design can detect, and how many cases a lift needs.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use num_traits::{One, Signed, Zero};
use skill_lift_stats::power::PowerGoal;
use skill_lift_stats::rational::{self, Rational};

use super::choices::{DialectChoice, DuplicateChoice, PageFormat};
use super::common::{SplitChoice, load_suite};
use super::decimals::{BETWEEN, number, optional};
use super::output::{Color, emit, fail, usage};
use super::summary::table_style;
use super::warnings::warn_of_dropped_rows;
use crate::analyze::plan::{Ground, Plan, SuiteOptions};
use crate::report::Style;
use crate::report::plan::{PlanHead, PlanView, render_plan, render_plan_markdown, write_plan};
use crate::runs::Limits;
use crate::runs::claims::{ClaimsError, ReadOptions, read_design};
use crate::runs::index::shown_path;
use crate::runs::named_file::read_named;
use crate::suite::{Dialect, LoadOptions};

/// The exit code of a design of which no outcome could reach alpha.
const UNREACHABLE: u8 = 6;

/// Most repetitions and models that are planned with.
const MOST: usize = 10_000;

/// Says what an eval can detect before it is run again: the smallest lift that it would find, how many cases a lift needs,
/// and whether one more repetition or one more case buys more.
///
/// From a report of `benchmark` (or of `skill-benchmark`) it knows how much the lifts of cases differ and how noisy runs are.
/// From a suite alone it assumes how much they differ (--sd), or takes the shares of cases that a run would turn better
/// and worse (--better, --worse) and is exact.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift plan benchmark.json\n  \
    skill-lift plan benchmark.json --target-lift 0.05\n  \
    skill-lift plan evals/shared-benchmark.json --repetitions 3 --sd 0.3\n  \
    skill-lift plan evals/shared-benchmark.json --better 0.35 --worse 0.05\n  \
    skill-lift plan benchmark.json | jq .cases_needed.value\n\n\
    Exit codes: 0 a plan was made, however large; 6 the same, but the design has too few cases for any\n\
    outcome to reach alpha; 1 refused input; 2 wrong arguments.")]
pub struct PlanArguments {
    /// A suite, like `evals/shared-benchmark.json` or `evals/evals.json`, or the report of `benchmark`.
    #[arg(value_name = "SUITE or REPORT")]
    source: PathBuf,
    /// The lift that is to be detected, above 0 and at most 1. Default: the smallest that matters in the report, else 0.10.
    #[arg(long, value_name = "LIFT")]
    target_lift: Option<String>,
    /// Error rate of the test, between 0 and 1. Default: that of the report, else 0.05.
    #[arg(long, value_name = "RATE")]
    alpha: Option<String>,
    /// The chance of detecting the lift, above alpha and below 1.
    #[arg(long, value_name = "CHANCE", default_value = "0.8")]
    power: String,
    /// Assume that the lifts of cases have this standard deviation. Default: the one that the report shows, else 0.4.
    #[arg(long, value_name = "DEVIATION")]
    sd: Option<String>,
    /// The share of cases that one run with the skill turns from failed to passed.
    #[arg(long, value_name = "SHARE", requires = "worse", conflicts_with_all = ["sd", "target_lift"], help_heading = "Suites")]
    better: Option<String>,
    /// The share of cases that one run with the skill turns from passed to failed.
    #[arg(long, value_name = "SHARE", requires = "better", help_heading = "Suites")]
    worse: Option<String>,
    /// Runs of each case in each arm. Default: one.
    #[arg(long, value_name = "N", value_parser = some, help_heading = "Suites")]
    repetitions: Option<usize>,
    /// Models that each case is run with. Default: one.
    #[arg(long, value_name = "N", value_parser = some, help_heading = "Suites")]
    models: Option<usize>,
    /// Plan only with cases of this split. Default: all.
    #[arg(long, value_enum, value_name = "SPLIT", help_heading = "Suites")]
    split: Option<SplitChoice>,
    /// Format of the suite, if it should not be detected.
    #[arg(long, value_enum, value_name = "DIALECT", help_heading = "Suites")]
    dialect: Option<DialectChoice>,
    /// Turn warnings of the strict contract into errors.
    #[arg(long, help_heading = "Suites")]
    strict_contract: bool,
    /// Accept files outside the folder of the suite, with a warning.
    #[arg(long, help_heading = "Suites")]
    allow_external_files: bool,
    /// What is written. Default: a table on a terminal, else JSON.
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
    /// What to do when two rows of a report claim the same run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_duplicate: DuplicateChoice,
    /// Largest report.
    #[arg(long, value_name = "MIB", default_value_t = 256, help_heading = "Limits")]
    max_report_mib: u64,
    /// Largest suite or dataset.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    max_suite_mib: u64,
}

fn some(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=MOST).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from 1 to {MOST}")),
    }
}

/// Runs the command.
pub fn run(arguments: &PlanArguments) -> ExitCode {
    match arguments.run() {
        Ok(code) | Err(code) => code,
    }
}

/// The numbers on the command line, where they were given.
struct Numbers {
    target: Option<Rational>,
    alpha: Option<Rational>,
    power: Rational,
    deviation: Option<f64>,
    moves: Option<(Rational, Rational)>,
}

impl PlanArguments {
    fn run(&self) -> Result<ExitCode, ExitCode> {
        // wrong arguments are told before anything is read
        let numbers = self.numbers()?;
        let ground = self.ground()?;
        let plan = self.plan(ground, numbers)?;
        self.write(&plan)?;
        Ok(if plan.is_reachable() { ExitCode::SUCCESS } else { ExitCode::from(UNREACHABLE) })
    }

    fn numbers(&self) -> Result<Numbers, ExitCode> {
        let one = Rational::one();
        let is_share = |value: &Rational| !value.is_negative() && *value <= one;
        let is_part = |value: &Rational| is_share(value) && !value.is_zero();
        let target = optional("target-lift", self.target_lift.as_deref(), is_part, "above 0 and at most 1")?;
        let alpha = optional("alpha", self.alpha.as_deref(), |value| is_part(value) && *value < one, BETWEEN)?;
        let power = number("power", &self.power, |value| is_part(value) && *value < one, BETWEEN)?;
        let deviation = optional("sd", self.sd.as_deref(), is_part, "above 0 and at most 1, as lifts lie within 1")?;
        let better = optional("better", self.better.as_deref(), is_share, "from 0 to 1")?;
        let worse = optional("worse", self.worse.as_deref(), is_share, "from 0 to 1")?;
        let moves = better.zip(worse);
        if let Some((better, worse)) = &moves {
            if better + worse > one {
                return Err(usage("invalid value for '--better' and '--worse': together they are more than all cases"));
            }
            if better == worse {
                return Err(usage(
                    "invalid value for '--better' and '--worse': a skill that turns as many cases better as worse has no lift to find",
                ));
            }
            if self.repetitions.max(self.models).is_some_and(|number| number > 1) {
                return Err(usage(
                    "'--better' and '--worse' say what one run of each case does: leave --repetitions and --models out",
                ));
            }
        }
        let deviation = deviation.as_ref().map(rational::to_f64);
        Ok(Numbers { target, alpha, power, deviation, moves })
    }

    /// What the plan rests on: a report if the file is one, else a suite.
    fn ground(&self) -> Result<Ground, ExitCode> {
        let shown = shown_path(&self.source);
        if self.source.is_dir() {
            return Err(fail(&format!("{shown} is a folder: name a suite or the report of `benchmark`")));
        }
        let limit = Limits::mebibytes(self.max_report_mib.max(self.max_suite_mib));
        let refuse = |problem: String| fail(&format!("{shown}: {problem}"));
        let bytes = read_named(&self.source, limit).map_err(|problem| refuse(problem.to_string()))?;
        let options = ReadOptions {
            bytes: Limits::mebibytes(self.max_report_mib),
            on_duplicate: self.on_duplicate.into(),
            ..ReadOptions::default()
        };
        match read_design(&bytes, &options) {
            Ok(report) => {
                self.no_suite_options()?;
                if !self.quiet {
                    warn_of_dropped_rows(&report.claims.notes, &shown);
                }
                Ok(Ground::of_report(&report))
            }
            // what is no list of results may be a suite, and its problems are told as those of one
            Err(
                ClaimsError::NotResults(_)
                | ClaimsError::NotAnObject(_)
                | ClaimsError::Json { .. }
                | ClaimsError::NotUtf8(_),
            ) => self.suite(),
            // a suite may look like results, too
            Err(error @ ClaimsError::NotABenchmarkReport(_)) => self.suite().map_err(|_| refuse(error.to_string())),
            Err(error) => Err(refuse(error.to_string())),
        }
    }

    fn suite(&self) -> Result<Ground, ExitCode> {
        let options = LoadOptions {
            allow_external_files: self.allow_external_files,
            strict_contract: self.strict_contract,
            max_bytes: Limits::mebibytes(self.max_suite_mib),
            dialect: self.dialect.map(Dialect::from),
            ..LoadOptions::default()
        };
        let suite = load_suite(&self.source, &options, self.quiet, self.color)?;
        let options = SuiteOptions {
            split: self.split.and_then(SplitChoice::split),
            repetitions: self.repetitions,
            models: self.models,
        };
        Ok(Ground::of_suite(&suite, options))
    }

    /// Refuses what a report says itself.
    fn no_suite_options(&self) -> Result<(), ExitCode> {
        let given = [
            ("better", self.better.is_some()),
            ("repetitions", self.repetitions.is_some()),
            ("models", self.models.is_some()),
            ("split", self.split.is_some()),
            ("dialect", self.dialect.is_some()),
            ("strict-contract", self.strict_contract),
            ("allow-external-files", self.allow_external_files),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(usage(&format!("--{name} is for a suite; a report says itself what was run"))),
            None => Ok(()),
        }
    }

    fn plan(&self, ground: Ground, numbers: Numbers) -> Result<Plan, ExitCode> {
        let Numbers { target, alpha, power, deviation, moves } = numbers;
        let one = Rational::one();
        // a report may state anything
        let stated = |value: &Rational| value.is_positive() && *value <= one;
        let alpha = alpha
            .or_else(|| ground.alpha.clone().filter(|alpha| stated(alpha) && *alpha < one))
            .unwrap_or_else(|| rational::rate(1, 20));
        let target = target.or_else(|| ground.min_lift.clone().filter(stated)).unwrap_or_else(|| rational::rate(1, 10));
        let shown = rational::to_f64(&alpha);
        let goal = PowerGoal::new(alpha, rational::to_f64(&power)).ok_or_else(|| {
            usage(&format!("invalid value '{}' for '--power': above alpha, which is {shown}, and below 1", self.power))
        })?;
        Ok(match moves {
            Some((better, worse)) => Plan::of_moves(ground, goal, better, worse),
            None => Plan::of_deltas(ground, goal, target, deviation),
        })
    }

    fn write(&self, plan: &Plan) -> Result<(), ExitCode> {
        let source = shown_path(&self.source);
        let style = table_style(self.color, self.ascii, false);
        let failed = |message: String| fail(&message);
        if let Some(path) = &self.out {
            let format = self.format.unwrap_or(PageFormat::Json);
            // a file has no width: nothing is cut, and nothing is painted
            let style = Style { width: None, color: false, ..style };
            emit(Some(path), |writer| write_as(writer, format, style, &source, plan)).map_err(failed)?;
        }
        let format = PageFormat::of_standard_output(self.format, self.out.is_some());
        if self.quiet && format == PageFormat::Table {
            return Ok(());
        }
        emit(None, |writer| write_as(writer, format, style, &source, plan)).map_err(failed)
    }
}

fn write_as(writer: &mut dyn io::Write, format: PageFormat, style: Style, source: &str, plan: &Plan) -> io::Result<()> {
    match format {
        PageFormat::Json => write_plan(writer, PlanHead { source }, plan),
        PageFormat::Table => writer.write_all(render_plan(&PlanView::of(plan), style).as_bytes()),
        PageFormat::Markdown => writer.write_all(render_plan_markdown(&PlanView::of(plan)).as_bytes()),
    }
}
