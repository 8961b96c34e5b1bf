//! `grade`: every check of every saved run, as JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use skill_lift_contract::write::AtomicFile;

use super::common::{Common, Graded, warn_if_nothing_graded};
use super::output::{emit, fail, warn_line};
use crate::pipeline::{FrameChoice, GradingFilesWritten, Products};
use crate::report::write_grading;

/// Grades saved runs and writes every check with its evidence.
///
/// Checks that need a judge are not decided here. --judge-tasks writes what is to be judged; --judge-results merges
/// what judges said.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift grade evals/shared-benchmark.json --runs eval-runs/latest --out grades.json\n  \
    skill-lift grade evals/shared-benchmark.json --runs eval-runs/latest --judge-tasks judge-tasks.jsonl --out grades.json\n  \
    skill-lift grade evals/shared-benchmark.json --runs eval-runs/latest --judge-results verdicts.jsonl --out grades.json\n\n\
    Exit codes: 0 graded, whatever the results; 1 refused input; 2 wrong arguments.")]
pub struct GradeArguments {
    #[command(flatten)]
    common: Common,
    /// Write the judgements that nobody has made yet, one JSON object a line. Send a judge only `judge_prompt`: the
    /// other fields name the arm.
    #[arg(long, value_name = "FILE")]
    judge_tasks: Option<PathBuf>,
    /// Write a `grading.json` into each run directory, for tools that read such files.
    #[arg(long)]
    write_grading_files: bool,
}

/// Runs the command.
pub fn run(arguments: &GradeArguments) -> ExitCode {
    match arguments.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

impl GradeArguments {
    fn write(&self) -> Result<(), ExitCode> {
        let common = &self.common;
        if common.out.is_some() && common.out == self.judge_tasks {
            return Err(fail("--out and --judge-tasks name the same file"));
        }
        let products = Products {
            frames: FrameChoice::Nothing,
            judge_tasks: self.judge_tasks.is_some(),
            grading_files: self.write_grading_files,
        };
        let Graded { evaluated, head, provenance, .. } = common.grade(products)?;
        if !common.quiet {
            warn_if_nothing_graded(&evaluated, common.runs());
        }
        let (deferred, rows) = (evaluated.deferred, evaluated.rows);
        let write_report = |mut writer: &mut dyn Write| write_grading(&mut writer, &head, rows, deferred, &provenance);

        // whatever can fail is written under another name before the first file appears
        let tasks = match (&self.judge_tasks, evaluated.judge_tasks) {
            (Some(path), Some(tasks)) => Some(Ready::write(path, |writer| tasks.write(writer))?),
            _ => None,
        };
        let mut write_report = Some(write_report);
        let report = match (&common.out, write_report.take_if(|_| common.out.is_some())) {
            (Some(path), Some(write)) => Some(Ready::write(path, write)?),
            _ => None,
        };
        if let Some(files) = evaluated.grading_files {
            let written = files.write(common.runs()).map_err(|message| fail(&message))?;
            if !common.quiet {
                warn_refused(&written);
            }
        }
        for ready in tasks.into_iter().chain(report) {
            ready.commit()?;
        }
        match write_report {
            Some(write) => emit(None, write).map_err(|message| fail(&message)),
            None => Ok(()),
        }
    }
}

/// A file that is complete but has not got its name yet.
struct Ready<'a> {
    path: &'a Path,
    file: AtomicFile,
}

impl<'a> Ready<'a> {
    fn write(path: &'a Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Self, ExitCode> {
        let written = AtomicFile::create(path).and_then(|mut file| {
            write(&mut file)?;
            file.flush()?;
            Ok(file)
        });
        let file = written.map_err(|error| cannot_write(path, &error))?;
        Ok(Self { path, file })
    }

    fn commit(self) -> Result<(), ExitCode> {
        self.file.commit().map_err(|error| cannot_write(self.path, &error))
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> ExitCode {
    fail(&format!("cannot write {}: {error}", path.display()))
}

/// Names a few of the run directories that got no file.
fn warn_refused(written: &GradingFilesWritten) {
    for reason in written.refused.iter().take(5) {
        warn_line(&format!("WARN grading_file_refused: {reason}"));
    }
    if written.refused.len() > 5 {
        warn_line(&format!("WARN grading_file_refused: … and {} more", written.refused.len() - 5));
    }
}
