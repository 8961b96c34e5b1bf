//! `export-anthropic`: a benchmark in the form of skill-creator's `benchmark.json`.

use std::io;
use std::process::ExitCode;

use clap::Args;

use super::common::{Common, Graded};
use super::output::{emit, fail};
use super::warnings::warn_if_nothing_graded;
use crate::analyze::{AnalysisOptions, analyze};
use crate::pipeline::{FrameChoice, Products, SavedRows};
use crate::report::exported::{BenchmarkStyle, ExportedReport, write_skill_creator_benchmark};

/// Grades saved runs and writes the result as skill-creator's `benchmark.json`, for its viewer.
///
/// A run without a rate is left out and named in `notes`: the viewer takes a rate that is null for 0 %, and stops at a
/// mean that is null. `export` makes a whole workspace with the answers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift export-anthropic evals/shared-benchmark.json --runs eval-runs/latest --out benchmark.json\n  \
    skill-lift export-anthropic evals/shared-benchmark.json --runs eval-runs/latest --skill-path skills/demo\n  \
    skill-lift export-anthropic my-skill-workspace/iteration-2\n\n\
    Exit codes: 0 written, whatever the results; 1 refused input, or evidence is incomplete under --evidence strict;\n\
    2 wrong arguments.")]
pub struct ExportAnthropicArguments {
    #[command(flatten)]
    common: Common,
    /// Where the skill is, as it shall stand in the file.
    #[arg(long, value_name = "PATH", default_value = "")]
    skill_path: String,
}

/// Runs the command.
pub fn run(arguments: &ExportAnthropicArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

impl ExportAnthropicArguments {
    fn write(&self) -> Result<(), ExitCode> {
        let common = &self.common;
        let products = Products { frames: FrameChoice::Runs, ..Products::default() };
        let Graded { evaluated, rows, variants, input, head, .. } =
            common.grade(products, |_| Ok(SavedRows::default()))?;
        if !common.quiet {
            warn_if_nothing_graded(&evaluated, common.runs());
        }
        let frames = evaluated.frames.ok_or_else(|| fail("the runs were not collected"))?;
        let options = AnalysisOptions {
            baseline: input.baseline(&variants),
            strict_evidence: common.strict_evidence(),
            ..AnalysisOptions::default()
        };
        let analysis = analyze(frames, &variants, &options).map_err(|error| fail(&error.to_string()))?;
        if common.strict_evidence() && !analysis.incomplete_reasons.is_empty() {
            let reasons: Vec<&str> = analysis.incomplete_reasons.iter().map(|reason| reason.code()).collect();
            return Err(fail(&format!("the evidence is incomplete: {}", reasons.join(", "))));
        }
        let report = ExportedReport {
            skill_name: &head.skill_name,
            skill_path: &self.skill_path,
            generated_at: head.generated_at,
            rows: &rows.rows,
            analysis: &analysis,
        };
        let write =
            |writer: &mut dyn io::Write| write_skill_creator_benchmark(writer, &report, BenchmarkStyle::Standalone);
        emit(common.out.as_deref(), write).map_err(|message| fail(&message))
    }
}
