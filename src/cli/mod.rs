//! The command line: one file a command, each with its arguments, calls into the library and an exit code.

mod aggregate;
mod benchmark;
mod choices;
mod common;
mod compare_results;
mod compare_tasks;
mod cost_summary;
mod decimals;
mod diff;
mod doctor;
mod error_analysis;
mod export;
mod export_anthropic;
mod external;
mod gate;
mod grade;
mod interrupt;
mod limits;
mod migrate_telemetry;
mod output;
mod plan;
mod render_viewer;
mod report;
pub mod serve;
mod suite;
mod summary;
mod token_overhead;
mod trend;
mod validate;
mod verify;
mod warnings;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures what an Agent Skill really changes.
///
/// Run the same cases with and without the skill, save the outputs, and let skill-lift grade them offline: it pairs the
/// runs exactly and says how large the lift is and how sure that is.
#[derive(Debug, Parser)]
#[command(
    name = "skill-lift",
    version,
    max_term_width = 100,
    after_help = "Examples:\n  \
        skill-lift validate evals/shared-benchmark.json\n  \
        skill-lift benchmark evals/shared-benchmark.json --runs eval-runs/latest\n  \
        skill-lift benchmark evals/shared-benchmark.json --runs eval-runs/latest --out benchmark.json\n\n\
        Exit codes: 0 done, 1 refused input or the answer is no, 2 wrong arguments."
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Validate(validate::ValidateArguments),
    Grade(Box<grade::GradeArguments>),
    Benchmark(Box<benchmark::BenchmarkArguments>),
    Aggregate(aggregate::AggregateArguments),
    CostSummary(cost_summary::CostSummaryArguments),
    TokenOverhead(Box<token_overhead::TokenOverheadArguments>),
    MigrateTelemetry(migrate_telemetry::MigrateTelemetryArguments),
    Diff(Box<diff::DiffArguments>),
    Trend(Box<trend::TrendArguments>),
    Plan(Box<plan::PlanArguments>),
    Gate(Box<gate::GateArguments>),
    Verify(Box<verify::VerifyArguments>),
    Export(Box<export::ExportArguments>),
    ExportAnthropic(Box<export_anthropic::ExportAnthropicArguments>),
    CompareTasks(Box<compare_tasks::CompareTasksArguments>),
    CompareResults(compare_results::CompareResultsArguments),
    Suite(suite::SuiteArguments),
    Doctor(doctor::DoctorArguments),
    Report(Box<report::ReportArguments>),
    RenderViewer(Box<render_viewer::RenderViewerArguments>),
    ErrorAnalysis(error_analysis::ErrorAnalysisArguments),
    #[command(external_subcommand)]
    External(Vec<OsString>),
}

/// Runs the command that the arguments of the process name.
pub fn run() -> ExitCode {
    match CommandLine::parse().command {
        Command::Validate(arguments) => validate::run(arguments),
        Command::Grade(arguments) => grade::run(&arguments),
        Command::Benchmark(arguments) => benchmark::run(*arguments),
        Command::Aggregate(arguments) => aggregate::run(&arguments),
        Command::CostSummary(arguments) => cost_summary::run(&arguments),
        Command::TokenOverhead(arguments) => token_overhead::run(&arguments),
        Command::MigrateTelemetry(arguments) => migrate_telemetry::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Trend(arguments) => trend::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Gate(arguments) => gate::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::ExportAnthropic(arguments) => export_anthropic::run(&arguments),
        Command::CompareTasks(arguments) => compare_tasks::run(*arguments),
        Command::CompareResults(arguments) => compare_results::run(&arguments),
        Command::Suite(arguments) => suite::run(&arguments),
        Command::RenderViewer(arguments) => render_viewer::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::ErrorAnalysis(arguments) => error_analysis::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::External(words) => external::run(&words),
    }
}
