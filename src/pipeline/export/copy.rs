//! The answer of a run, copied to where others look for it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use skill_lift_contract::{ContentDigest, TreeDigest};

use crate::runs::{AnswerFiles, FileProblem, Limits, OUTPUTS, open_run};

/// Files of one run that are copied.
const MOST_FILES: usize = 10_000;

/// The name of a file of verdicts, which an answer must not be taken for.
const VERDICTS: &str = "grading.json";

/// What stands before a name that is taken.
const APART: &str = "answer-";

/// An answer that was copied.
#[derive(Debug, Default)]
pub struct CopiedAnswer {
    /// Its files.
    pub files: usize,
    /// Where it is, below the folder, if it is one file alone.
    pub only_file: Option<String>,
    /// Where that file is in the run directory.
    pub only_source: Option<String>,
    /// Digest of the file, or of the tree of files.
    pub digest: String,
    /// What was not copied, and why.
    pub not_copied: Vec<String>,
}

/// Why an answer was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The run, or its answer, is not there or cannot be read.
    #[error("{0}")]
    Run(FileProblem),
    /// The copy cannot be written.
    #[error("{0}")]
    Write(io::Error),
}

/// Copies the answer of a run: its file, what is in `outputs`, and the same of its turns.
///
/// # Errors
/// When the run leads out of the root, is not there or has no answer, or the copy cannot be written.
pub fn copy_answer(root: &Path, run: &str, target: &Path, limits: &Limits) -> Result<CopiedAnswer, CopyError> {
    read_answer(root, run, Some(target), limits, &str::to_owned)
}

/// As [`copy_answer`], with another name for each part of the path of a file. Without a target the answer is digested
/// alone.
pub fn read_answer(
    root: &Path,
    run: &str,
    target: Option<&Path>,
    limits: &Limits,
    name: &dyn Fn(&str) -> String,
) -> Result<CopiedAnswer, CopyError> {
    let mut directory = open_run(root, run, limits).map_err(CopyError::Run)?;
    let found = AnswerFiles::find(&mut directory, MOST_FILES).map_err(CopyError::Run)?;
    if found.is_empty() {
        return Err(CopyError::Run(FileProblem::Missing(format!("{run}: no answer"))));
    }
    let mut copied = CopiedAnswer::default();
    if found.is_cut {
        copied.not_copied.push(format!("{run}: more than {MOST_FILES} files; the rest is left out"));
    }
    let mut digests = TreeDigest::default();
    let mut last = None;
    for (from, to) in places(&found, name) {
        let (file, length) = match directory.open_file(&from, limits.artifact_bytes) {
            Ok(opened) => opened,
            Err(problem) => {
                copied.not_copied.push(format!("{run}: {problem}"));
                continue;
            }
        };
        // what was appended since does not belong to it; some file systems state no length
        let file = file.take(if length == 0 { limits.artifact_bytes } else { length });
        let digest = match target {
            Some(target) => copy(file, &target.join(&to)),
            None => ContentDigest::of_reader(file),
        };
        let digest = digest.map_err(CopyError::Write)?;
        digests.extend([(to.clone(), digest)]);
        copied.files += 1;
        last = Some((from, to, digest));
    }
    copied.not_copied.extend(directory.take_warnings().into_iter().map(|warning| format!("{run}: {warning}")));
    copied.digest = digests.finish();
    if let (1, Some((source, file, digest))) = (copied.files, last) {
        copied.only_file = Some(file);
        copied.only_source = Some(source);
        copied.digest = format!("sha256:{digest}");
    }
    Ok(copied)
}

/// Where each file of an answer goes.
fn places(found: &AnswerFiles, name: &dyn Fn(&str) -> String) -> Vec<(String, String)> {
    let renamed = |path: &str| path.split('/').map(name).collect::<Vec<_>>().join("/");
    let mut taken: HashSet<String> = HashSet::new();
    let mut places = Vec::new();
    let mut place = |from: &str, to: String| {
        let mut to = if to == VERDICTS { format!("{APART}{to}") } else { to };
        while !taken.insert(to.clone()) {
            let (folder, file) = to.rsplit_once('/').map_or(("", to.as_str()), |(folder, file)| (folder, file));
            let apart = format!("{APART}{file}");
            to = if folder.is_empty() { apart } else { format!("{folder}/{apart}") };
        }
        places.push((from.to_owned(), to));
    };
    for from in &found.outputs {
        let below = from.strip_prefix(OUTPUTS).unwrap_or(from).trim_start_matches('/');
        place(from, renamed(below));
    }
    for from in found.turns.iter().chain(&found.answer) {
        place(from, renamed(from));
    }
    places
}

/// Copies and digests a file.
fn copy(file: impl Read, target: &Path) -> io::Result<ContentDigest> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut copy = File::create_new(target)?;
    let digest = ContentDigest::of_reader(Tee { from: file, to: &mut copy })?;
    copy.flush()?;
    Ok(digest)
}

/// Hands on what it reads.
struct Tee<'w, R> {
    from: R,
    to: &'w mut File,
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.to.write_all(&buffer[..count])?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_lies_beside_the_files_of_its_run_and_takes_no_name_of_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let place = folder.path().join("runs/c/with_skill").join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        };
        write("output.md", "answer");
        write("outputs/output.md", "file");
        write("outputs/grading.json", "[]");
        write("outputs/with_skill/a.txt", "a");
        let target = folder.path().join("out");
        fs::create_dir(&target).unwrap();
        let hide = |part: &str| if part == "with_skill" { "x".to_owned() } else { part.to_owned() };
        let runs = folder.path().join("runs");
        let copied = read_answer(&runs, "c/with_skill", Some(&target), &Limits::default(), &hide).unwrap();
        assert_eq!((copied.files, copied.only_file, copied.not_copied), (4, None, Vec::new()));
        let digested = read_answer(&runs, "c/with_skill", None, &Limits::default(), &hide).unwrap();
        assert_eq!(digested.digest, copied.digest);
        let read = |path: &str| fs::read_to_string(target.join(path)).unwrap();
        assert_eq!(
            [read("answer-output.md"), read("output.md"), read("answer-grading.json"), read("x/a.txt")],
            ["answer", "file", "[]", "a"]
        );
    }

    #[test]
    fn what_is_too_large_or_leads_out_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("runs/c");
        fs::create_dir_all(run.join("outputs")).unwrap();
        fs::write(run.join("output.md"), "short").unwrap();
        fs::write(run.join("outputs/large.bin"), [0; 100]).unwrap();
        fs::write(folder.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("../../../secret", run.join("outputs/link")).unwrap();
        let target = folder.path().join("out");
        fs::create_dir(&target).unwrap();
        let limits = Limits { artifact_bytes: 99, ..Limits::default() };
        let copied = copy_answer(&folder.path().join("runs"), "c", &target, &limits).unwrap();
        assert_eq!(copied.only_file.as_deref(), Some("output.md"));
        // printf short | sha256sum
        assert_eq!(copied.digest, "sha256:f9b0078b5df596d2ea19010c001bbd009e651de2c57e8fb7e355f31eb9d3f739");
        assert_eq!(copied.not_copied.len(), 2, "{:?}", copied.not_copied);
        assert!(copied.not_copied[0].contains("outputs/large.bin has 100 bytes"), "{:?}", copied.not_copied);
        assert!(copied.not_copied[1].contains("link"), "{:?}", copied.not_copied);
        assert_eq!(fs::read_dir(&target).unwrap().count(), 1);
    }
}
