//! `report` on an iteration of the forge pipeline.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use skill_lift_stats::Thresholds;
use skill_lift_stats::rational::Rational;

use super::previous::{Earlier, EarlierReading, EarlierSearch};
use super::tool::{below, chosen_line, open_iteration};
use super::{Format, ReportArguments};
use crate::analyze::forge::upstream::UpstreamBenchmark;
use crate::analyze::forge::{ForgeIteration, ForgeLift, IterationComparison, Patterns, ThresholdResults, Unfinished};
use crate::cli::output::{emit, fail, usage, warn_line};
use crate::pipeline::{ForgeReading, read_forge, skill_name};
use crate::report::forge::{ForgeView, markdown, write_json, write_upstream};
use crate::runs::Limits;
use crate::runs::forge::{
    BenchmarkConfig, PreviousBenchmark, ThresholdValues, UpstreamIteration, demanded_amount, demanded_rate,
};
use crate::runs::workspace::Workspace;

/// What makes the exit code 1 although a report was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Forge: a threshold that is not met, or cannot be decided.
    Thresholds,
    /// Forge: an eval with a run, a grading or a timing that is missing or does not count; a trial that the configuration
    /// asks for and nobody ran is missing too. With --benchmark: blocked pairs, missing evidence or judgements.
    Incomplete,
    /// Forge: an eval that passed in the earlier iteration and fails now.
    Regressions,
    /// With --benchmark: a run of a gating arm that fails a check that decides.
    Failures,
    /// With --benchmark: a run of a gating arm without an answer, that did not finish or is not scored.
    Errors,
    /// With --benchmark: a lift below 0, whatever its p; `gate` asks for evidence.
    NegativeLift,
}

impl FailOn {
    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Thresholds => "thresholds",
            Self::Incomplete => "incomplete",
            Self::Regressions => "regressions",
            Self::Failures => "failures",
            Self::Errors => "errors",
            Self::NegativeLift => "negative-lift",
        }
    }

    fn is_of_saved_reports(self) -> bool {
        matches!(self, Self::Incomplete | Self::Failures | Self::Errors | Self::NegativeLift)
    }

    fn is_of_iterations(self) -> bool {
        matches!(self, Self::Thresholds | Self::Incomplete | Self::Regressions)
    }
}

/// Arguments for iterations of the forge pipeline.
#[derive(Debug, Args)]
#[command(next_help_heading = "Iterations of the forge pipeline")]
pub struct ForgeArguments {
    /// The skill. Default: the one of the configuration, else the name of a folder above the iteration.
    #[arg(long, value_name = "NAME")]
    skill_name: Option<String>,
    /// Compare with this earlier iteration; `auto` looks for the one with the number before, and of a folder of
    /// iterations the latest one before is taken. Default: the `previous_benchmark` of the configuration.
    #[arg(long, value_name = "DIR")]
    previous: Option<PathBuf>,
    /// Let runs count that timed out or crashed, if they were graded.
    #[arg(long)]
    count_unfinished: bool,
    /// Hold the skill against the thresholds of this benchmark configuration.
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// Smallest pass rate with the skill, 0 to 1.
    #[arg(long, value_name = "RATE", value_parser = demanded_rate, allow_negative_numbers = true)]
    min_pass_rate: Option<Rational>,
    /// Most tokens with the skill, in the mean.
    #[arg(long, value_name = "TOKENS", value_parser = demanded_amount, allow_negative_numbers = true)]
    max_avg_tokens: Option<Rational>,
    /// Most seconds with the skill, in the mean.
    #[arg(long, value_name = "SECONDS", value_parser = demanded_amount, allow_negative_numbers = true)]
    max_avg_duration_seconds: Option<Rational>,
    /// Smallest ratio of the pass rates with and without the skill.
    #[arg(long, value_name = "RATIO", value_parser = demanded_amount, allow_negative_numbers = true)]
    min_improvement_ratio: Option<Rational>,
    /// End with exit code 1 for these findings, or when nothing was graded; also with --benchmark.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', help_heading = "Options")]
    fail_on: Vec<FailOn>,
    /// With --fail-on or --benchmark: that no run is graded is no failure.
    #[arg(long, help_heading = "Options")]
    allow_empty: bool,
    /// Stamp the report with this time, in seconds since 1970. Default: SOURCE_DATE_EPOCH, else no stamp.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    generated_at: Option<i64>,
}

impl ForgeArguments {
    /// What is asked of a saved report. `Err` is what is asked and is not of one.
    pub fn asked_of_saved(&self) -> Result<&[FailOn], FailOn> {
        match self.fail_on.iter().find(|what| !what.is_of_saved_reports()) {
            Some(other) => Err(*other),
            None => Ok(&self.fail_on),
        }
    }

    /// What is asked that only a saved report can be asked.
    pub fn not_of_iterations(&self) -> Option<FailOn> {
        self.fail_on.iter().copied().find(|what| !what.is_of_iterations())
    }

    /// The first flag that was given, for saved reports where none but --fail-on applies.
    pub fn first_given_beside_fail_on(&self) -> Option<&'static str> {
        self.given()
            .into_iter()
            .filter(|(flag, _)| *flag != "--fail-on")
            .find(|(_, given)| *given)
            .map(|(flag, _)| flag)
    }

    /// The first flag that was given, for iterations where none applies.
    pub fn first_given(&self) -> Option<&'static str> {
        self.given().into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    fn given(&self) -> [(&'static str, bool); 10] {
        [
            ("--skill-name", self.skill_name.is_some()),
            ("--previous", self.previous.is_some()),
            ("--count-unfinished", self.count_unfinished),
            ("--thresholds", self.thresholds.is_some()),
            ("--min-pass-rate", self.min_pass_rate.is_some()),
            ("--max-avg-tokens", self.max_avg_tokens.is_some()),
            ("--max-avg-duration-seconds", self.max_avg_duration_seconds.is_some()),
            ("--min-improvement-ratio", self.min_improvement_ratio.is_some()),
            ("--fail-on", !self.fail_on.is_empty()),
            ("--generated-at", self.generated_at.is_some()),
        ]
    }

    /// Whether a failure is asked for that needs an earlier iteration, and neither an argument nor a configuration could
    /// name one.
    pub fn lacks_previous(&self) -> bool {
        self.thresholds.is_none() && self.lacks_previous_with(&BenchmarkConfig::default())
    }

    fn lacks_previous_with(&self, config: &BenchmarkConfig) -> bool {
        let none_named = self.previous.is_none() && config.previous_benchmark.is_none();
        self.fail_on.contains(&FailOn::Regressions) && none_named
    }

    /// Whether it is no failure that nothing was graded.
    pub fn allows_empty(&self) -> bool {
        self.allow_empty
    }

    /// Whether findings decide the exit code.
    pub fn is_gated(&self) -> bool {
        !self.fail_on.is_empty()
    }

    fn unfinished(&self) -> Unfinished {
        if self.count_unfinished { Unfinished::Count } else { Unfinished::LeaveOut }
    }

    fn config(&self) -> Result<BenchmarkConfig, String> {
        let mut config = match &self.thresholds {
            Some(path) => BenchmarkConfig::read(path).map_err(|error| error.to_string())?,
            None => BenchmarkConfig::default(),
        };
        config.thresholds = config.thresholds.overridden_by(ThresholdValues {
            min_pass_rate: self.min_pass_rate.clone(),
            max_avg_tokens: self.max_avg_tokens.clone(),
            max_avg_duration_seconds: self.max_avg_duration_seconds.clone(),
            min_improvement_ratio: self.min_improvement_ratio.clone(),
        });
        Ok(config)
    }

    fn generated_at(&self) -> Result<Option<i64>, String> {
        let text = match (self.generated_at, std::env::var("SOURCE_DATE_EPOCH")) {
            (Some(seconds), _) => return in_calendar(seconds).map(Some),
            (None, Ok(text)) if !text.is_empty() => text,
            (None, _) => return Ok(None),
        };
        let seconds = text.parse().map_err(|_| format!("SOURCE_DATE_EPOCH is no whole number of seconds: {text:?}"))?;
        in_calendar(seconds).map(Some)
    }

    fn skill_name(&self, config: &BenchmarkConfig, root: &Path) -> String {
        let named = self.skill_name.as_ref().or(config.skill_name.as_ref());
        named.cloned().unwrap_or_else(|| {
            let directory = root.canonicalize().unwrap_or_else(|_| root.to_owned());
            skill_name(&directory)
        })
    }
}

/// A moment that a date with four digits of a year can name.
fn in_calendar(seconds: i64) -> Result<i64, String> {
    if (-62_135_596_800..253_402_300_800).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(format!("no date has the time {seconds}; it is in seconds since 1970"))
    }
}

/// Reports the aggregate of the pipeline's own script. `workspace` is what the folder holds, where that can be told.
pub fn upstream(
    arguments: &ReportArguments,
    workspace: Option<&Workspace>,
    limits: &Limits,
) -> Result<ExitCode, String> {
    let forge = &arguments.forge;
    let config = forge.config()?;
    let read = |path: &Path| UpstreamIteration::read(path, limits).map_err(|error| error.to_string());
    let warn = |note: &str| {
        if !arguments.quiet {
            warn_line(&format!("WARN: {note}"));
        }
    };
    let chosen = workspace.filter(|workspace| below(workspace, arguments.iteration()).is_some());
    let root = chosen.map_or(arguments.iteration(), Workspace::root);
    if let Some(line) = chosen.and_then(|workspace| chosen_line(workspace, arguments.iteration()))
        && !arguments.quiet
    {
        warn_line(&line);
    }
    let iteration = read(root)?;
    iteration.notes.iter().take(super::WARNINGS_SHOWN).for_each(|note| warn(note));
    let search = EarlierSearch { root, reading: EarlierReading::Aggregate, limits, quiet: arguments.quiet };
    let previous = match search.find(forge.previous.as_deref(), config.previous_benchmark.as_deref())? {
        None => None,
        Some(Earlier::Benchmark(file)) => {
            Some(PreviousBenchmark::read_file(&file, limits).map_err(|error| error.to_string())?)
        }
        Some(Earlier::Iteration(path)) => {
            match PreviousBenchmark::read(&path, limits).map_err(|error| error.to_string())? {
                Some(previous) => Some(previous),
                None => {
                    let note = "has no benchmark.json; compared with what it would hold";
                    warn(&format!("{} {note}", path.display()));
                    UpstreamBenchmark::of(&read(&path)?, None).as_previous()
                }
            }
        }
    };
    if iteration.evals.iter().all(|eval| eval.with_skill.is_empty() && eval.baseline.is_empty()) {
        warn("no run has a grading: every number is one of nothing");
    }
    let benchmark = UpstreamBenchmark::of(&iteration, previous.as_ref());
    if !benchmark.is_finite() {
        return Err(format!(
            "{}: recorded numbers are so large that their mean is no number; the upstream aggregator would write what is \
             no JSON",
            root.display()
        ));
    }
    let name = forge.skill_name(&config, root);
    let generated_at = forge.generated_at()?;
    put(arguments, |writer| write_upstream(writer, &name, generated_at, &benchmark))?;
    Ok(ExitCode::SUCCESS)
}

/// Reports the corrected reading.
pub fn corrected(arguments: &ReportArguments, workspace: &Workspace, limits: &Limits) -> Result<ExitCode, String> {
    let forge = &arguments.forge;
    let config = forge.config()?;
    if forge.lacks_previous_with(&config) {
        return Ok(usage("--fail-on regressions needs --previous, or `previous_benchmark` in the configuration"));
    }
    let generated_at = forge.generated_at()?;
    let reading = read_forge(workspace, forge.unfinished()).map_err(|error| error.to_string())?;
    if !arguments.quiet {
        // of several iterations a warning names the one that is read
        let only = chosen_line(workspace, arguments.iteration()).filter(|_| workspace.other_iterations.is_empty());
        only.iter().for_each(|line| warn_line(line));
        warn(&reading);
    }
    let iteration = &reading.iteration;
    let root = workspace.root();
    let search = EarlierSearch { root, reading: EarlierReading::Runs, limits, quiet: arguments.quiet };
    let comparison = match search.find(forge.previous.as_deref(), config.previous_benchmark.as_deref())? {
        None => None,
        Some(Earlier::Iteration(path) | Earlier::Benchmark(path)) => {
            Some(IterationComparison::of(iteration, &previous_iteration(&path, forge.unfinished(), limits)?))
        }
    };
    let (alpha_and_lift, name) = (Thresholds::default(), forge.skill_name(&config, root));
    let lift = ForgeLift::of(iteration, &alpha_and_lift);
    let patterns = Patterns::of(iteration, &alpha_and_lift);
    let thresholds = ThresholdResults::of(&config.thresholds, iteration, &lift);
    let view = ForgeView {
        skill_name: &name,
        generated_at,
        trials_requested: config.trials_per_eval,
        baseline_type: config.baseline_type.as_deref(),
        iteration,
        lift: &lift,
        patterns: &patterns,
        thresholds: &thresholds,
        comparison: comparison.as_ref(),
    };
    match arguments.format {
        Format::Json => put(arguments, |writer| write_json(writer, &view))?,
        // the others are handled before
        Format::Markdown | Format::UpstreamJson | Format::Junit | Format::Ctrf | Format::Github => {
            let text = markdown(&view);
            put(arguments, |writer| writer.write_all(text.as_bytes()))?;
        }
    }
    Ok(gate(forge, &view))
}

fn previous_iteration(path: &Path, unfinished: Unfinished, limits: &Limits) -> Result<ForgeIteration, String> {
    let failed = |error: String| format!("the earlier iteration cannot be read: {error}");
    let workspace = open_iteration(path, *limits).map_err(failed)?;
    Ok(read_forge(&workspace, unfinished).map_err(|error| failed(error.to_string()))?.iteration)
}

fn put(arguments: &ReportArguments, write: impl Fn(&mut dyn Write) -> std::io::Result<()>) -> Result<(), String> {
    emit(None, &write)?;
    if let Some(path) = &arguments.output {
        emit(Some(path), &write)?;
        arguments.say_written(path);
    }
    Ok(())
}

fn warn(reading: &ForgeReading) {
    if reading.iteration.is_empty() {
        warn_line("WARN nothing_graded: no run of this iteration has a verdict that counts");
    }
    for arm in &reading.other_arms {
        warn_line(&format!("WARN unknown_arm: runs of {arm} are neither with the skill nor the baseline; not read"));
    }
    for warning in reading.warnings.iter().take(super::WARNINGS_SHOWN) {
        warn_line(&format!("WARN {}: {warning}", warning.code.code()));
    }
    if reading.warnings.len() > super::WARNINGS_SHOWN {
        warn_line(&format!("WARN: … and {} more", reading.warnings.len() - super::WARNINGS_SHOWN));
    }
}

/// The exit code that the user asked for.
fn gate(arguments: &ForgeArguments, view: &ForgeView<'_>) -> ExitCode {
    let (iteration, thresholds) = (view.iteration, view.thresholds);
    if arguments.fail_on.is_empty() {
        return ExitCode::SUCCESS;
    }
    if iteration.is_empty() {
        return if arguments.allow_empty {
            ExitCode::SUCCESS
        } else {
            fail("nothing was graded (--allow-empty accepts that)")
        };
    }
    let mut code = ExitCode::SUCCESS;
    for what in &arguments.fail_on {
        let found = match what {
            FailOn::Thresholds => match thresholds.verdict() {
                Some(true) => None,
                Some(false) => Some("a threshold is not met"),
                None if thresholds.results.is_empty() => Some("no threshold is given (--thresholds)"),
                None => Some("a threshold cannot be decided"),
            },
            FailOn::Incomplete => {
                iteration.incomplete(view.trials_requested).next().map(|_| "the iteration is incomplete")
            }
            FailOn::Regressions => {
                let regressed = view.comparison.is_some_and(|comparison| !comparison.regressions.is_empty());
                regressed.then_some("an eval that passed before fails now")
            }
            // refused before anything is read
            FailOn::Failures | FailOn::Errors | FailOn::NegativeLift => None,
        };
        if let Some(found) = found {
            code = fail(found);
        }
    }
    code
}
