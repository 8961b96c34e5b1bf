//! `diff`: what changed between two results.

mod open;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::interrupt;
use super::output::{Color, emit, fail, warn_line};
use super::summary::SummaryArguments;
use crate::analyze::diff::{Diff, DiffOptions, GateOutcome, GateRule, align_cases, diff, gate};
use crate::report::Style;
use crate::report::diff::{DiffView, gate_lines, render_diff, render_markdown, write_diff};
use open::{OpenArguments, last_two_iterations};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// A check that always passed with the skill fails now; or, on like-for-like results, a case passes less.
    Any,
    /// As `any`, or a case with the skill has lost its score or is gone.
    Strict,
    /// The paired test over the common cases says that the pass rate with the skill fell.
    Established,
}

impl From<Rule> for GateRule {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Any => Self::Any,
            Rule::Strict => Self::Strict,
            Rule::Established => Self::Established,
        }
    }
}

/// Says what changed between two results: per case and arm, in the lift, in the flags.
///
/// Each side is a result file of any tool, an iteration or workspace of another tool, or a run tree with --suite. Rates
/// are recomputed from the rows. Cases that are on one side only, have no score or other checks than before are listed
/// and enter no mean. The change is tested over the common cases when both sides are like for like: the same suite, or
/// the same checks in every compared case; the same models, effort and rules of grading.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift diff before.json after.json\n  \
    skill-lift diff my-skill-workspace/iteration-1 my-skill-workspace/iteration-2\n  \
    skill-lift diff my-skill-workspace\n  \
    skill-lift diff runs/old runs/new --suite evals/shared-benchmark.json\n  \
    skill-lift diff before.json after.json --fail-on-regression --format markdown --out diff.md\n\n\
    Exit codes: 0 compared, whatever changed; 1 refused input, nothing to compare, or --fail-on-regression fired;\n\
    2 wrong arguments.")]
pub struct DiffArguments {
    /// The earlier result.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The later result. Without it OLD is a workspace, and its last two iterations are compared.
    #[arg(value_name = "NEW")]
    new: Option<PathBuf>,
    #[command(flatten)]
    open: OpenArguments,
    /// Test the change although the sides are not like for like. The output says so.
    #[arg(long)]
    assume_comparable: bool,
    /// Exit with 1 on a regression with the skill, and when nothing could be compared. RULE is `any`, `strict` or
    /// `established`, written with `=`; `any` if it is left out.
    ///
    /// any: a check that passed in every scored run fails now, or, on like-for-like results, the pass rate of a case is
    /// lower. strict: also a case that has lost its score or is gone. established: only when the paired test over the
    /// common cases says that the mean fell.
    #[arg(
        long,
        value_enum,
        value_name = "RULE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "any",
        hide_possible_values = true
    )]
    fail_on_regression: Option<Rule>,
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
}

/// Runs the command.
pub fn run(arguments: &DiffArguments) -> ExitCode {
    match arguments.run() {
        Ok(code) | Err(code) => code,
    }
}

impl DiffArguments {
    fn run(&self) -> Result<ExitCode, ExitCode> {
        let options = DiffOptions { thresholds: self.summary.thresholds()?, assume_comparable: self.assume_comparable };
        interrupt::watch();
        let (old, new) = match &self.new {
            Some(new) => (self.old.clone(), new.clone()),
            None => last_two_iterations(&self.old).map_err(|message| fail(&message))?,
        };
        let mut old = self.open.side(&old, true, self.quiet)?;
        let mut new = self.open.side(&new, false, self.quiet)?;
        align_cases(&mut old, &mut new);
        let diff = diff(&old, &new, &options).map_err(|error| fail(&error.to_string()))?;
        let rule = self.fail_on_regression.map(GateRule::from);
        let outcome = rule.map(|rule| (rule, gate(&diff, rule)));
        self.write(&diff, outcome.as_ref().map(|(rule, outcome)| (*rule, outcome)))?;
        let Some((rule, outcome)) = &outcome else {
            return Ok(ExitCode::SUCCESS);
        };
        if !outcome.holds() {
            return Ok(fail(&gate_lines(*rule, outcome, &options.thresholds).join("\n")));
        }
        self.warn_of_a_blind_gate(&diff, *rule);
        Ok(ExitCode::SUCCESS)
    }

    fn write(&self, diff: &Diff<'_>, gate: Option<(GateRule, &GateOutcome<'_>)>) -> Result<(), ExitCode> {
        let on_terminal = io::stdout().is_terminal();
        if let Some(path) = &self.out {
            let format = self.format.unwrap_or(Format::Json);
            // a file has no width: nothing is cut, and nothing is painted
            let style = Style { width: None, color: false, ..self.summary.style(self.color) };
            emit(Some(path), |writer| write_as(writer, format, style, diff, gate)).map_err(|message| fail(&message))?;
        }
        let format = match (self.out.is_some(), self.format) {
            (true, _) => Format::Table,
            (false, Some(format)) => format,
            (false, None) if on_terminal => Format::Table,
            (false, None) => Format::Json,
        };
        if self.quiet && format == Format::Table {
            return Ok(());
        }
        emit(None, |writer| write_as(writer, format, self.summary.style(self.color), diff, gate))
            .map_err(|message| fail(&message))
    }

    /// Says when the test of the rule could not have failed, whatever the runs show.
    fn warn_of_a_blind_gate(&self, diff: &Diff<'_>, rule: GateRule) {
        let minimum = skill_lift_stats::minimum_cases(diff.thresholds.alpha()).unwrap_or(usize::MAX);
        let cases = diff.with_skill().map_or(0, |shift| shift.cases.len());
        if rule == GateRule::Established && cases < minimum && !self.quiet {
            warn_line(&format!(
                "WARN too_few_cases: {cases} common cases can establish no regression, whatever they show; {minimum} could"
            ));
        }
    }
}

fn write_as(
    writer: &mut dyn io::Write,
    format: Format,
    style: Style,
    diff: &Diff<'_>,
    gate: Option<(GateRule, &GateOutcome<'_>)>,
) -> io::Result<()> {
    match format {
        Format::Json => write_diff(writer, diff, gate),
        Format::Table => writer.write_all(render_diff(&DiffView::of(diff), style).as_bytes()),
        Format::Markdown => writer.write_all(render_markdown(&DiffView::of(diff), style.all_cases).as_bytes()),
    }
}
