//! `grade`: every check of every saved run, as JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use skill_lift_contract::write::AtomicFile;

use super::common::{Common, Graded};
use super::output::{begin_file, emit, fail, leads_to_stream, warn_line};
use super::warnings::warn_if_nothing_graded;
use crate::pipeline::{GradingFilesWritten, Products};
use crate::report::{ReportHead, RowArray, RowSpool, RowWriter, begin_grading, end_grading};

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
            judge_tasks: self.judge_tasks.is_some(),
            grading_files: self.write_grading_files,
            ..Products::default()
        };
        let Graded { evaluated, rows, head, provenance, input, .. } = common.grade(products, |head| self.rows(head))?;
        if !common.quiet {
            warn_if_nothing_graded(&evaluated, common.runs());
        }

        // whatever can fail is written under another name before the first file appears
        let tasks = match (&self.judge_tasks, evaluated.judge_tasks) {
            (Some(path), Some(tasks)) => Some(Ready::write(path, |writer| tasks.write(writer))?),
            _ => None,
        };
        let end = |mut writer: &mut dyn Write| end_grading(&mut writer, evaluated.deferred, &provenance);
        let all = |rows: RowSpool, mut writer: &mut dyn Write| {
            begin_grading(&mut writer, &head)?;
            rows.move_to(&mut writer)?;
            end(writer)
        };
        let (report, shown) = match (rows, &common.out) {
            (Rows::Within { path, array }, _) => (Some(Ready::fill(path, array.end(), |writer| end(writer))?), None),
            (Rows::Aside(rows), Some(path)) => (Some(Ready::write(path, |writer| all(rows, writer))?), None),
            (Rows::Aside(rows), None) => (None, Some(rows)),
        };
        if let Some(files) = evaluated.grading_files {
            let written = files.write(input.runs_root(common.runs())).map_err(|message| fail(&message))?;
            if !common.quiet {
                warn_refused(&written);
            }
        }
        for ready in tasks.into_iter().chain(report) {
            ready.commit()?;
        }
        match shown {
            Some(rows) => emit(None, |writer| all(rows, writer)).map_err(|message| fail(&message)),
            None => Ok(()),
        }
    }

    /// Where the rows go: into the report if its folder is there, else aside, so that a tree that is refused leaves
    /// nothing behind. Not into the report either when it lies in the tree, which must not change while it is read.
    fn rows(&self, head: &ReportHead) -> Result<Rows<'_>, ExitCode> {
        let runs = self.common.runs().canonicalize();
        let may_begin = |path: &Path| {
            let folder =
                path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
            let folder = folder.and_then(|folder| folder.canonicalize().ok());
            let is_outside = |folder: &Path| !runs.as_ref().is_ok_and(|runs| folder.starts_with(runs));
            !leads_to_stream(path) && folder.is_some_and(|folder| folder.is_dir() && is_outside(&folder))
        };
        let Some(path) = self.common.out.as_deref().filter(|path| may_begin(path)) else {
            return RowSpool::aside().map(Rows::Aside).map_err(|error| fail(&error.to_string()));
        };
        let array = begin_file(path).and_then(|mut file| {
            begin_grading(&mut file, head)?;
            RowArray::begin(file)
        });
        Ok(Rows::Within { path, array: array.map_err(|error| cannot_write(path, &error))? })
    }
}

/// The rows while they are written.
enum Rows<'a> {
    /// In the report, which has not got its name yet.
    Within { path: &'a Path, array: RowArray<AtomicFile> },
    /// In a file of their own.
    Aside(RowSpool),
}

impl RowWriter for Rows<'_> {
    fn push(&mut self, row: &[u8]) -> io::Result<()> {
        match self {
            Self::Within { path, array } => {
                array.push(row).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
            }
            Self::Aside(array) => array.push(row),
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
        Self::fill(path, begin_file(path), write)
    }

    /// Writes the rest of a file that was begun.
    fn fill(
        path: &'a Path,
        begun: io::Result<AtomicFile>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Self, ExitCode> {
        let written = begun.and_then(|mut file| {
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
