//! `compare-tasks`: blind comparisons of the answers of two arms, for a judge.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::common::{Common, Graded};
use super::output::{emit, fail, usage, warn_line};
use super::warnings::warn_if_nothing_graded;
use crate::analyze::comparison::CandidatePair;
use crate::pipeline::{BlindComparisons, BlindRequest, Orders, Products, SavedRows, blind_comparisons};
use crate::report::numbers::counted;
use crate::report::{KeyHead, write_comparison_key};

/// Writes tasks for a judge who compares the answers of two arms without knowing which is which.
///
/// Runs are paired by case, model and repetition; a pair of which one run is not scored is left out and named. With
/// --blind-dir the answers are copied under names that say nothing; without it the paths in the tasks name the arms. Keep the
/// key of --truth-out from the judge: compare-results joins it with what the judge preferred.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift compare-tasks evals/shared-benchmark.json --runs eval-runs/latest --blind-dir blind --both-orders \\\n  \
    \x20   --out blind-tasks.jsonl --truth-out key.json\n  \
    skill-lift compare-tasks my-skill-workspace/iteration-2 --blind-dir blind --out blind-tasks.jsonl --truth-out key.json\n\n\
    Exit codes: 0 written, also when nothing can be compared; 1 refused input; 2 wrong arguments.")]
pub struct CompareTasksArguments {
    #[command(flatten)]
    common: Common,
    /// The arm that is looked at.
    #[arg(long, value_name = "NAME", default_value = "with_skill")]
    primary: String,
    /// The arm that it is compared with.
    #[arg(long, value_name = "NAME", default_value = "without_skill")]
    baseline: String,
    /// Draws which answer is A. Whoever knows it and the ids of the tasks knows the arms.
    #[arg(long, value_name = "N", default_value_t = 42, allow_negative_numbers = true)]
    seed: i64,
    /// Show each pair twice, the second time the other way round: a preference counts only if it survives that.
    #[arg(long)]
    both_orders: bool,
    /// Compare cases whose prompt cannot be read as well.
    #[arg(long)]
    allow_missing_prompts: bool,
    /// Copy the answers into this folder, which must be empty or not there yet.
    #[arg(long, value_name = "DIR")]
    blind_dir: Option<PathBuf>,
    /// Write the key that says which arm is which.
    #[arg(long, value_name = "FILE")]
    truth_out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: CompareTasksArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

/// Left-out pairs and the like that are shown; all of them are counted.
const SHOWN: usize = 5;

impl CompareTasksArguments {
    fn write(mut self) -> Result<(), ExitCode> {
        if self.primary == self.baseline {
            return Err(usage(&format!("--primary and --baseline are both {}", self.primary)));
        }
        self.common.choose_arms([&self.primary, &self.baseline])?;
        let common = &self.common;
        if common.out.is_some() && common.out == self.truth_out {
            return Err(fail("--out and --truth-out name the same file"));
        }
        let products = Products { plan_bytes: Some(common.suite_bytes()), ..Products::default() };
        let Graded { evaluated, rows, input, head, .. } = common.grade(products, |_| Ok(SavedRows::default()))?;
        if !common.quiet {
            warn_if_nothing_graded(&evaluated, common.runs());
        }
        let suite = input.suite();
        let request = BlindRequest {
            suite,
            rows: &rows.rows,
            primary: &self.primary,
            baseline: &self.baseline,
            seed: self.seed,
            orders: if self.both_orders { Orders::Both } else { Orders::One },
            runs: input.runs_root(common.runs()),
            runs_sha256: &evaluated.runs_sha256,
            plan_sha256: evaluated.plan.map(|plan| plan.design_sha256),
            blind_folder: self.blind_dir.as_deref(),
            allow_external_files: common.allow_external_files,
            allow_missing_prompts: self.allow_missing_prompts,
            limits: common.limits.limits(),
        };
        let made = blind_comparisons(&request).map_err(|error| fail(&error.to_string()))?;
        self.warn(&made);
        let design = made.design.clone();
        let key = KeyHead {
            generated_at: head.generated_at,
            primary: &self.primary,
            baseline: &self.baseline,
            seed: self.seed,
            orders: request.orders.word(),
            suite_sha256: &suite.digest,
            runs_sha256: &evaluated.runs_sha256,
            comparison_design_sha256: &design,
        };
        let BlindComparisons { tasks, key: rows, left_out, folder, .. } = made;
        let lines: Vec<Vec<u8>> =
            tasks.iter().map(serde_json::to_vec).collect::<Result<_, _>>().map_err(|error| fail(&error.to_string()))?;
        if let Some(folder) = folder {
            folder.commit_new().map_err(|error| fail(&self.taken(&error)))?;
        }
        // the key before the tasks: those without one cannot be unblinded
        if let Some(path) = &self.truth_out {
            emit(Some(path), |writer| write_comparison_key(writer, &key, &rows, &left_out))
                .map_err(|text| fail(&text))?;
        }
        let write = |writer: &mut dyn Write| {
            lines.iter().try_for_each(|line| {
                writer.write_all(line)?;
                writer.write_all(b"\n")
            })
        };
        emit(common.out.as_deref(), write).map_err(|text| fail(&text))
    }

    fn taken(&self, error: &std::io::Error) -> String {
        let folder = self.blind_dir.as_deref().unwrap_or_else(|| std::path::Path::new("")).display();
        format!("cannot write {folder}: {error}; name a folder that is empty or not there yet")
    }

    fn warn(&self, made: &BlindComparisons<'_>) {
        if self.common.quiet {
            return;
        }
        if self.truth_out.is_none() {
            warn_line(
                "WARN no_key: without --truth-out nothing says which arm is which; the same seed and runs draw the same sides",
            );
        }
        if self.blind_dir.is_none() && !made.tasks.is_empty() {
            warn_line("WARN not_blind: the paths in the tasks name the arms; copy the answers with --blind-dir");
        }
        for pair in made.left_out.iter().take(SHOWN) {
            warn_line(&format!("WARN pair_left_out: {}", words(pair)));
        }
        if made.left_out.len() > SHOWN {
            let more = counted(made.left_out.len() - SHOWN, "pair", "pairs");
            warn_line(&format!("WARN pair_left_out: … and {more} more"));
        }
        for problem in made.not_copied.iter().take(SHOWN) {
            warn_line(&format!("WARN not_copied: {problem}"));
        }
        if made.not_copied.len() > SHOWN {
            warn_line(&format!("WARN not_copied: … and {} more", made.not_copied.len() - SHOWN));
        }
    }
}

fn words(pair: &CandidatePair<'_>) -> String {
    let (reason, detail) = match &pair.candidates {
        Err(left_out) => (left_out.reason.code(), left_out.detail.join(", ")),
        Ok(_) => return String::new(),
    };
    let detail = if detail.is_empty() { detail } else { format!(" ({detail})") };
    let model = pair.model.map(|model| format!(", {model}")).unwrap_or_default();
    format!("{}{model}, repetition {}: {reason}{detail}", pair.case_id, pair.repetition)
}
