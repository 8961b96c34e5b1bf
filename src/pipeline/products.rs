//! What `grade` writes beside its report: a file of judge tasks, and a `grading.json` in each run directory.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use skill_lift_contract::artifact_commit;
use skill_lift_contract::write::AtomicFile;

use super::scratch::{Scratch, ScratchReader};

/// Judge tasks in report order.
#[derive(Debug)]
pub struct JudgeTasks {
    scratch: Scratch,
    lines: Vec<Range<u64>>,
}

impl JudgeTasks {
    pub(super) fn new(scratch: Scratch, lines: Vec<Range<u64>>) -> Self {
        Self { scratch, lines }
    }

    /// Writes one line a task.
    ///
    /// # Errors
    /// Those of the temporary file and of the writer.
    pub fn write(self, writer: &mut dyn Write) -> io::Result<()> {
        let mut reader = self.scratch.into_reader()?;
        for line in &self.lines {
            reader.copy(line, writer)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// A `grading.json` for each run directory that is there.
#[derive(Debug)]
pub struct GradingFiles {
    scratch: Scratch,
    files: Vec<(String, Range<u64>)>,
}

/// Name of the file in a run directory.
const FILE_NAME: &str = "grading.json";

/// What became of the files.
#[derive(Debug, Default)]
pub struct GradingFilesWritten {
    /// Files that were written.
    pub written: usize,
    /// Run directories without a new file, each with the reason.
    pub refused: Vec<String>,
}

impl GradingFiles {
    pub(super) fn new(scratch: Scratch, files: Vec<(String, Range<u64>)>) -> Self {
        Self { scratch, files }
    }

    /// Writes the files into the run directories below a root.
    ///
    /// # Errors
    /// The first file that cannot be written; those before it are there then.
    pub fn write(self, root: &Path) -> Result<GradingFilesWritten, String> {
        let mut done = GradingFilesWritten::default();
        if self.files.is_empty() {
            return Ok(done);
        }
        let failed = |path: &Path, error: io::Error| format!("cannot write {}: {error}", path.display());
        let real_root = root.canonicalize().map_err(|error| failed(root, error))?;
        let mut reader = self.scratch.into_reader().map_err(|error| failed(Path::new(FILE_NAME), error))?;
        for (run, piece) in &self.files {
            match place(&real_root, run) {
                Ok(place) => {
                    write_one(&mut reader, piece, &place)
                        .map_err(|error| failed(&root.join(run).join(FILE_NAME), error))?;
                    done.written += 1;
                }
                Err(reason) => done.refused.push(format!("{run}: {reason}")),
            }
        }
        Ok(done)
    }
}

fn write_one(reader: &mut ScratchReader, piece: &Range<u64>, place: &Path) -> io::Result<()> {
    let mut file = AtomicFile::create(place)?;
    reader.copy(piece, &mut file)?;
    file.commit()
}

/// The place of the file of a run, or why it is not written.
fn place(real_root: &Path, run: &str) -> Result<PathBuf, &'static str> {
    let Ok(folder) = real_root.join(run).canonicalize() else {
        return Err("the run directory is gone");
    };
    if !folder.starts_with(real_root) {
        return Err("the run directory lies outside of the runs directory");
    }
    if fs::symlink_metadata(folder.join(artifact_commit::FILE_NAME)).is_ok() {
        return Err("artifact-commit.json lists the files of the run; one more would make the run incomplete");
    }
    let place = folder.join(FILE_NAME);
    match fs::symlink_metadata(&place) {
        // the new file would take the place of the link, and what it leads to may be somebody's
        Ok(data) if data.is_symlink() => match place.canonicalize() {
            Ok(target) if target.starts_with(&folder) => Ok(place),
            _ => Err("grading.json is a link that leads out of the run directory"),
        },
        Ok(data) if data.is_dir() => Err("grading.json is a directory"),
        _ => Ok(place),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_written_only_into_runs_that_take_one() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        for run in ["plain", "committed", "linked", "inside", "folder/grading.json"] {
            fs::create_dir_all(root.path().join(run)).unwrap();
        }
        fs::write(root.path().join("plain/grading.json"), "old").unwrap();
        fs::write(root.path().join("committed/artifact-commit.json"), "{}").unwrap();
        fs::write(outside.path().join("precious"), "precious").unwrap();
        symlink(outside.path().join("precious"), root.path().join("linked/grading.json")).unwrap();
        fs::write(root.path().join("inside/notes.txt"), "notes").unwrap();
        symlink("notes.txt", root.path().join("inside/grading.json")).unwrap();
        symlink(outside.path(), root.path().join("elsewhere")).unwrap();

        let scratch = Scratch::new().unwrap();
        let runs = ["plain", "committed", "linked", "inside", "elsewhere", "gone", "folder"];
        let files = runs.map(|run| (run.to_owned(), scratch.keep(run.as_bytes()).unwrap())).to_vec();
        let done = GradingFiles::new(scratch, files).write(root.path()).unwrap();

        assert_eq!(done.written, 2);
        let refused: Vec<&str> = done.refused.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(refused, ["committed", "linked", "elsewhere", "gone", "folder"]);
        let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
        assert_eq!((read("plain/grading.json"), read("inside/grading.json")), ("plain".into(), "inside".into()));
        // a link inside the run is replaced, what it led to stays
        assert_eq!(read("inside/notes.txt"), "notes");
        assert_eq!(fs::read_to_string(outside.path().join("precious")).unwrap(), "precious");
        assert!(!root.path().join("gone").exists());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    #[test]
    fn tasks_are_lines_in_report_order() {
        let scratch = Scratch::new().unwrap();
        let second = scratch.keep(b"second").unwrap();
        let first = scratch.keep(b"first").unwrap();
        let mut out = Vec::new();
        JudgeTasks::new(scratch, vec![first, second]).write(&mut out).unwrap();
        assert_eq!(out, b"first\nsecond\n");
    }
}
