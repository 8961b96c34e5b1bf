//! `report`: what an iteration of the executor/grader runner shows, as Markdown or JSON.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use skill_lift_contract::write::AtomicFile;

use super::output::{emit, fail, warn_line};
use crate::analyze::skill_eval::{Corrected, aggregate, orient};
use crate::report::numbers;
use crate::report::skill_eval::{markdown, write_json};
use crate::runs::Limits;
use crate::runs::skill_eval::{Benchmark, Iteration};

/// Shows an iteration of the executor/grader runner again, with what may be concluded from it.
///
/// The figures come from `benchmark.json`; where it is missing they are aggregated from the run directories. The
/// report goes to standard output and to `benchmark.md` in the iteration.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift report evals/changelog/workspace/claude/iteration-1\n  \
    skill-lift report evals/changelog/workspace/claude/iteration-1 --format json --output benchmark-with-lift.json\n\n\
    Exit codes: 0 reported, whatever the results; 1 no iteration, or a broken benchmark.json; 2 wrong arguments.")]
pub struct ReportArguments {
    /// The folder of the iteration.
    #[arg(value_name = "ITERATION_DIR")]
    iteration: PathBuf,
    /// Write the report to this file. Default: benchmark.md in the iteration; JSON goes to standard output alone.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What is written.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "markdown")]
    format: Format,
    /// Largest answer of a grader, and largest benchmark.json.
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    max_output_mib: u64,
    /// Largest record, metrics or manifest file.
    #[arg(long, value_name = "MIB", default_value_t = 16)]
    max_sidecar_mib: u64,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The sections of benchmark.md.
    #[value(alias = "md")]
    Markdown,
    /// The keys of benchmark.json, and `skill_lift`.
    Json,
}

/// Runs the command.
pub fn run(arguments: &ReportArguments) -> ExitCode {
    match arguments.report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

impl ReportArguments {
    fn report(&self) -> Result<(), String> {
        let limits = Limits {
            output_bytes: Limits::mebibytes(self.max_output_mib),
            sidecar_bytes: Limits::mebibytes(self.max_sidecar_mib),
            ..Limits::default()
        };
        let mut iteration = Iteration::read(&self.iteration, &limits).map_err(|error| error.to_string())?;
        if !self.quiet {
            self.warn(&iteration);
        }
        let stored = iteration.benchmark.take();
        let (figures, text, turned) = match stored {
            Some(stored) => {
                let mut figures = stored.figures;
                let turned = orient(&mut figures);
                (figures, Some(stored.text), turned)
            }
            None => (aggregate(&iteration), None, false),
        };
        if turned && !self.quiet {
            warn_line(
                "WARN comparison_turned: benchmark.json compares without_skill against with_skill; shown the other way round",
            );
        }
        let corrected = Corrected::of(&iteration, &figures);
        let replaced: &[&str] = if turned { &["comparison", "sanity_checks"] } else { &[] };
        match self.format {
            Format::Markdown => self.write_markdown(&figures, &corrected),
            Format::Json => {
                let write = |target: Option<&Path>| {
                    emit(target, |writer| write_json(writer, &figures, &corrected, text.as_deref(), replaced))
                };
                write(None)?;
                let Some(path) = &self.output else {
                    return Ok(());
                };
                write(Some(path))?;
                self.say_written(path);
                Ok(())
            }
        }
    }

    fn write_markdown(&self, figures: &Benchmark, corrected: &Corrected) -> Result<(), String> {
        let text = markdown(figures, corrected);
        emit(None, |writer| writer.write_all(text.as_bytes()))?;
        let path = match &self.output {
            Some(path) => {
                emit(Some(path), |writer| writer.write_all(text.as_bytes()))?;
                path.clone()
            }
            None => {
                let path = self.iteration.join("benchmark.md");
                write_within(&path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
                path
            }
        };
        self.say_written(&path);
        Ok(())
    }

    fn say_written(&self, path: &Path) {
        if !self.quiet {
            warn_line(&format!("Wrote {}", path.display()));
        }
    }

    fn warn(&self, iteration: &Iteration) {
        if iteration.benchmark.is_none() {
            let runs = numbers::counted(iteration.runs.len(), "run", "runs");
            warn_line(&format!("WARN benchmark_missing: there is no benchmark.json; aggregated from {runs}"));
        }
        if !iteration.missing.is_empty() {
            let runs = numbers::counted(iteration.missing.len(), "planned run is", "planned runs are");
            warn_line(&format!("WARN missing_run: {runs} not there"));
        }
        if let [first, more @ ..] = iteration.differing().as_slice() {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            warn_line(&format!(
                "WARN benchmark_differs: the record of {} under {}, run {}{more} is not what benchmark.json has; the raw \
                 rates are those of benchmark.json",
                first.eval_id, first.configuration, first.run_number
            ));
        }
        for warning in iteration.warnings.iter().take(WARNINGS_SHOWN) {
            warn_line(&format!("WARN {}: {warning}", warning.code.code()));
        }
        if iteration.warnings.len() > WARNINGS_SHOWN {
            warn_line(&format!("WARN: … and {} more", iteration.warnings.len() - WARNINGS_SHOWN));
        }
    }
}

/// Writes a file of a folder that others made: what a link in it leads to stays as it is, and no pipe is waited for.
fn write_within(path: &Path, text: &str) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(data) if !data.is_file() && !data.is_symlink() => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is there and is no regular file"));
        }
        // what else is wrong shows when it is written
        Ok(_) | Err(_) => {}
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

/// Warnings that are shown one by one.
const WARNINGS_SHOWN: usize = 20;
