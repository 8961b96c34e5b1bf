//! `compare-results`: what a judge preferred, unblinded.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::choices::TextOrJson;
use super::common::stamp;
use super::output::{emit, fail, warn_line};
use crate::analyze::comparison::Comparison;
use crate::judge::comparison::{ComparisonError, read_key, read_results};
use crate::report::numbers::counted;
use crate::report::{comparison_text, write_comparison};
use crate::runs::index::shown_path;
use crate::runs::{Limits, read_named};

/// Joins the results of blind comparisons with their key, and tests which arm is preferred.
///
/// The test is the exact sign test over cases: repetitions of a case are one unit. A pair that was judged in both orders is
/// won only if both orders agree. Whether answers win because they stand first is tested beside it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift compare-results --truth key.json --results preferences.jsonl\n  \
    skill-lift compare-results --truth key.json --results preferences.jsonl --strict --out comparison.json\n\n\
    Exit codes: 0 reported, whoever wins; 1 refused input, or --strict and a comparison is not decided;\n\
    2 wrong arguments.")]
pub struct CompareResultsArguments {
    /// The key of `compare-tasks`, ours or that of the reference package.
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// What was preferred: JSON lines, an array, one object, or an object with `results` or `comparisons`. Each has
    /// `comparison_task_id` and `winner` (A, B or TIE).
    #[arg(long, value_name = "FILE")]
    results: PathBuf,
    /// Refuse results that do not cover every comparison, are about others, or name no winner.
    #[arg(long)]
    strict: bool,
    /// What goes to standard output. Default: JSON, or the text beside --out.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<TextOrJson>,
    /// Write the report to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Stamp the report with this time, in seconds since 1970. Default: SOURCE_DATE_EPOCH, else no stamp.
    #[arg(long, value_name = "SECONDS")]
    generated_at: Option<i64>,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Largest key, or file of results.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    max_suite_mib: u64,
}

/// Runs the command.
pub fn run(arguments: &CompareResultsArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

impl CompareResultsArguments {
    fn write(&self) -> Result<(), ExitCode> {
        let generated_at = stamp(self.generated_at)?;
        let key = read_key(&self.bytes(&self.truth)?).map_err(|error| refuse(&self.truth, &error))?;
        let results = read_results(&self.bytes(&self.results)?).map_err(|error| refuse(&self.results, &error))?;
        let comparison = Comparison::of(&key, &results);
        let gaps = gaps(&comparison);
        if self.strict && !comparison.is_complete() {
            return Err(gaps.iter().fold(ExitCode::FAILURE, |_, gap| fail(gap)));
        }
        if !self.quiet {
            gaps.iter().for_each(|gap| warn_line(&format!("WARN incomplete_comparison: {gap}")));
            let contradictions = comparison.contradictions.iter();
            contradictions.for_each(|text| warn_line(&format!("WARN results_contradict: {text}")));
        }
        let shows = self.format.unwrap_or(if self.out.is_some() { TextOrJson::Text } else { TextOrJson::Json });
        let failed = |message: String| fail(&message);
        if let Some(path) = &self.out {
            emit(Some(path), |writer| write_comparison(writer, &comparison, generated_at)).map_err(failed)?;
        }
        match shows {
            TextOrJson::Json => emit(None, |writer| write_comparison(writer, &comparison, generated_at)),
            TextOrJson::Text if self.quiet && self.out.is_some() => Ok(()),
            TextOrJson::Text => emit(None, |writer| writer.write_all(comparison_text(&comparison).as_bytes())),
        }
        .map_err(failed)
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, ExitCode> {
        read_named(path, Limits::mebibytes(self.max_suite_mib))
            .map_err(|problem| fail(&format!("{}: {problem}", shown_path(path))))
    }
}

fn refuse(path: &Path, error: &ComparisonError) -> ExitCode {
    fail(&format!("{}: {error}", shown_path(path)))
}

/// What the results do not cover.
fn gaps(comparison: &Comparison<'_>) -> Vec<String> {
    let first = |ids: &[&str]| ids.iter().take(3).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    let mut gaps = Vec::new();
    if !comparison.unanswered.is_empty() {
        let number = counted(comparison.unanswered.len(), "comparison has", "comparisons have");
        gaps.push(format!("{number} no result: {}", first(&comparison.unanswered)));
    }
    if !comparison.unknown_ids.is_empty() {
        let number = counted(comparison.unknown_ids.len(), "result is", "results are");
        gaps.push(format!("{number} about no comparison of the key: {}", first(&comparison.unknown_ids)));
    }
    let unrecognized = comparison.results.unknown - comparison.unknown_ids.len();
    if unrecognized > 0 {
        gaps.push(format!("{} no winner A, B or TIE", counted(unrecognized, "result names", "results name")));
    }
    gaps
}
