//! The runs of a saved report, for people to look at: answers, what the agent did, files.
//!
//! A report names the directory of each run below the runs root. It may come from anywhere: a directory outside of the
//! root is not opened, whatever the report says.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use skill_lift_contract::TreeDigest;

use super::answer_files::open_run;
use super::directory::{FileProblem, RunDirectory};
use super::events::{self, EventTime, Events};
use super::evidence::turn_folder;
use super::index::AnswerRule;
use super::limits::Limits;
use super::listing::EntryKind;
use super::output::{self, Output};
use super::workspace;

/// Files of a run that are listed one by one.
const FILES_LISTED: usize = 200;

/// The first bytes of an answer in which a NUL byte shows that it is no text.
const LOOKED_AT: usize = 8 << 10;

/// The runs below a root.
#[derive(Debug)]
pub struct SavedRuns {
    root: PathBuf,
    answers: AnswerRule,
    limits: Limits,
}

/// What a run has to show.
#[derive(Debug)]
pub struct RunContents {
    /// The answer, or that of each turn; none when there is none.
    pub answers: Vec<AnswerFile>,
    /// What the agent did, or why nobody knows.
    pub events: Rc<Events>,
    /// When each of the events was, in their order; nothing where there are none.
    pub times: Vec<EventTime>,
    /// Every regular file of the run by path; the first of them, where there are very many.
    pub files: Vec<RunFile>,
    /// Files that are not listed.
    pub more_files: usize,
    directory: RunDirectory,
}

/// One answer.
#[derive(Debug)]
pub struct AnswerFile {
    /// Its path relative to the run directory.
    pub path: String,
    /// What it holds.
    pub content: AnswerContent,
}

/// What an answer holds.
#[derive(Debug, PartialEq, Eq)]
pub enum AnswerContent {
    /// A text, with line ends as `\n`.
    Text {
        /// The text.
        text: String,
        /// Bytes that were not UTF-8 and show as U+FFFD.
        replaced: usize,
    },
    /// It is no text.
    Binary {
        /// Its size in bytes.
        bytes: u64,
        /// What its first bytes say that it is.
        media_type: &'static str,
    },
    /// It is larger than the limit and was not read.
    TooLarge,
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Its path relative to the run directory.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

impl SavedRuns {
    /// The runs below a folder.
    ///
    /// # Errors
    /// When it is no folder that can be opened.
    pub fn below(root: &Path, answers: AnswerRule, limits: Limits) -> std::io::Result<Self> {
        let root = fs::canonicalize(root)?;
        if !root.is_dir() {
            return Err(std::io::Error::from(std::io::ErrorKind::NotADirectory));
        }
        Ok(Self { root, answers, limits })
    }

    /// What the run in a directory has to show; `None` when there is no such directory below the root. `turns` is how many
    /// scripted turns it has.
    pub fn read(&self, run_dir: &str, turns: usize) -> Option<RunContents> {
        let mut directory = self.open(run_dir)?;
        let answers = match turns {
            0 => self.answer(&mut directory, "").into_iter().collect(),
            _ => (1..=turns).filter_map(|turn| self.answer_of_turn(&directory, run_dir, turn)).collect(),
        };
        let events = directory.events(self.limits.sidecar_bytes);
        let times = match directory.read(events::FILE_NAME, self.limits.sidecar_bytes) {
            // most files state no times, and are not read a second time
            Ok(bytes) if events::may_have_times(&bytes) => events::times(&bytes),
            Ok(_) | Err(_) => Vec::new(),
        };
        let (files, more_files) = files(&mut directory, self.limits.directory_entries);
        Some(RunContents { answers, events, times, files, more_files, directory })
    }

    /// A directory that cannot be opened has nothing to show; the page says so.
    fn open(&self, run_dir: &str) -> Option<RunDirectory> {
        open_run(&self.root, run_dir, &self.limits).ok()
    }

    fn answer(&self, directory: &mut RunDirectory, below: &str) -> Option<AnswerFile> {
        let output = match self.answers {
            AnswerRule::RunContract => output::read(directory, &self.limits),
            AnswerRule::TextsOfOutputs => workspace::answer(directory, &self.limits),
        };
        let path = format!("{below}{}", output.path());
        let content = match output {
            Output::Missing => return None,
            Output::TooLarge { .. } => AnswerContent::TooLarge,
            Output::Text { text, place } => match directory.read(place.path(), self.limits.output_bytes) {
                Ok(bytes) if bytes[..bytes.len().min(LOOKED_AT)].contains(&0) => {
                    AnswerContent::Binary { bytes: bytes.len() as u64, media_type: media_type(&bytes) }
                }
                Ok(bytes) => AnswerContent::Text { replaced: not_utf8(&bytes), text },
                // joined from several files
                Err(_) => AnswerContent::Text { text, replaced: 0 },
            },
        };
        Some(AnswerFile { path, content })
    }

    fn answer_of_turn(&self, directory: &RunDirectory, run_dir: &str, turn: usize) -> Option<AnswerFile> {
        let folder = turn_folder(directory, turn)?;
        let mut below = self.open(&format!("{run_dir}/{folder}"))?;
        self.answer(&mut below, &format!("{folder}/"))
    }
}

impl RunContents {
    /// The bytes of one of its files.
    ///
    /// # Errors
    /// When it cannot be read, or has more bytes than the limit.
    pub fn read(&mut self, path: &str, limit: u64) -> Result<Rc<Vec<u8>>, FileProblem> {
        self.directory.read(path, limit)
    }
}

fn files(directory: &mut RunDirectory, limit: usize) -> (Vec<RunFile>, usize) {
    let mut paths = Vec::new();
    let entries: Vec<_> = directory.listing().map(|listing| listing.entries().to_vec()).unwrap_or_default();
    for entry in entries {
        match entry.kind {
            EntryKind::File => paths.push(entry.name),
            EntryKind::Directory => paths.extend(directory.files_below(&entry.name, limit).unwrap_or_default()),
            EntryKind::Other => {}
        }
    }
    paths.sort_by(|a, b| TreeDigest::path_order(a, b));
    let more = paths.len().saturating_sub(FILES_LISTED);
    paths.truncate(FILES_LISTED);
    let sized = paths.into_iter().filter_map(|path| directory.size(&path).map(|bytes| RunFile { path, bytes }));
    (sized.collect(), more)
}

/// Bytes that are not UTF-8.
fn not_utf8(bytes: &[u8]) -> usize {
    bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum()
}

/// What the first bytes of a file say that it is.
fn media_type(bytes: &[u8]) -> &'static str {
    let known: [(&[u8], &'static str); 7] = [
        (b"PK\x03\x04", "application/zip"),
        (b"\x89PNG", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"%PDF", "application/pdf"),
        (b"\x1f\x8b", "application/gzip"),
        (b"\x7fELF", "application/x-executable"),
    ];
    known.into_iter().find(|(start, _)| bytes.starts_with(start)).map_or("application/octet-stream", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(root: &Path) -> SavedRuns {
        SavedRuns::below(root, AnswerRule::RunContract, Limits::default()).unwrap()
    }

    #[test]
    fn a_run_shows_its_answer_and_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("c/with_skill/run-1");
        fs::create_dir_all(run.join("outputs/deep")).unwrap();
        fs::write(run.join("output.md"), b"a\r\nb\xff\xfec").unwrap();
        fs::write(run.join("outputs/deep/x.csv"), "1,2\n").unwrap();
        let contents = runs(folder.path()).read("c/with_skill/run-1", 0).unwrap();
        assert_eq!(contents.answers[0].path, "output.md");
        let expected = AnswerContent::Text { text: "a\nb\u{fffd}\u{fffd}c".to_owned(), replaced: 2 };
        assert_eq!(contents.answers[0].content, expected);
        let files: Vec<_> = contents.files.iter().map(|file| (file.path.as_str(), file.bytes)).collect();
        assert_eq!(files, [("output.md", 7), ("outputs/deep/x.csv", 4)]);
        fs::write(run.join("output.md"), b"PK\x03\x04\x00\x00").unwrap();
        let contents = runs(folder.path()).read("c/with_skill/run-1", 0).unwrap();
        assert_eq!(contents.answers[0].content, AnswerContent::Binary { bytes: 6, media_type: "application/zip" });
    }

    #[test]
    fn the_answers_of_turns_are_shown_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (turn, text) in [("turn-1", "one"), ("turn-02", "two")] {
            let place = folder.path().join("c/run").join(turn);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("output.md"), text).unwrap();
        }
        let contents = runs(folder.path()).read("c/run", 3).unwrap();
        let paths: Vec<&str> = contents.answers.iter().map(|answer| answer.path.as_str()).collect();
        assert_eq!(paths, ["turn-1/output.md", "turn-02/output.md"]);
    }

    #[test]
    fn nothing_outside_of_the_root_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("runs"), folder.path().join("secret"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("output.md"), "secret").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let runs = runs(&root);
        for path in ["../secret", "link", "", ".", "/etc", outside.to_str().unwrap(), "nothing"] {
            assert!(runs.read(path, 0).is_none(), "{path}");
        }
    }
}
