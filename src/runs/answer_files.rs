//! The files that a run left as its answer, for those who hand them on: the answer itself, everything in `outputs`, and
//! the same of each turn.

use std::fs;
use std::io;
use std::path::{Component, Path};

use super::directory::{FileProblem, RunDirectory, plain_message};
use super::limits::Limits;
use super::listing::{EntryKind, ListingError};
use super::output::NAMES;

/// The folder of files that an agent left.
pub const OUTPUTS: &str = "outputs";

/// The files of an answer; paths are relative to the run directory, with `/` between components.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerFiles {
    /// The file that holds the answer, if one does.
    pub answer: Option<String>,
    /// The files below `outputs`, component by component in the order of their bytes.
    pub outputs: Vec<String>,
    /// The files of turns: their answers, and what is in the `outputs` of a turn.
    pub turns: Vec<String>,
    /// Whether there are more files than were asked for.
    pub is_cut: bool,
}

impl AnswerFiles {
    /// Finds them; of a folder not more than `most`.
    ///
    /// # Errors
    /// When a folder cannot be listed.
    pub fn find(directory: &mut RunDirectory, most: usize) -> Result<Self, FileProblem> {
        let mut found = Self {
            answer: NAMES.into_iter().find(|name| directory.has_entry(name)).map(str::to_owned),
            outputs: directory.files_below(OUTPUTS, most)?,
            ..Self::default()
        };
        let is_turn = |name: &str| {
            name.strip_prefix("turn-")
                .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let entries = directory.listing().map(|listing| listing.entries()).unwrap_or_default();
        let turns: Vec<String> = entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::Directory && !entry.is_link && is_turn(&entry.name))
            .map(|entry| entry.name.clone())
            .collect();
        for turn in turns {
            let files = directory.files_below(&turn, most)?;
            found.is_cut |= files.len() > most;
            let is_answer = |path: &String| {
                let below = path.strip_prefix(&turn).unwrap_or_default().trim_start_matches('/');
                NAMES.contains(&below) || below.strip_prefix(OUTPUTS).is_some_and(|rest| rest.starts_with('/'))
            };
            found.turns.extend(files.into_iter().filter(is_answer));
        }
        found.is_cut |= found.outputs.len() > most || found.turns.len() > most;
        found.outputs.truncate(most);
        found.turns.truncate(most);
        Ok(found)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.answer.is_none() && self.outputs.is_empty() && self.turns.is_empty()
    }
}

/// Opens the directory of a run that a file names, below a root. The name comes from a file that anybody may have
/// written: it must not lead out of the root, also not through links.
///
/// # Errors
/// When it leads out, is not there, or cannot be listed.
pub fn open_run(root: &Path, path: &str, limits: &Limits) -> Result<RunDirectory, FileProblem> {
    let is_plain = !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain {
        return Err(FileProblem::LeavesRun(path.to_owned()));
    }
    let problem = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileProblem::Missing(path.to_owned()),
        _ => FileProblem::Unreadable { path: path.to_owned(), message: plain_message(error) },
    };
    let root = fs::canonicalize(root).map_err(|error| problem(&error))?;
    let place = fs::canonicalize(root.join(path)).map_err(|error| problem(&error))?;
    if !place.starts_with(&root) || place == root {
        return Err(FileProblem::LeavesRun(path.to_owned()));
    }
    let opened = RunDirectory::open(place, path.to_owned(), None, limits.directory_entries);
    let directory = opened.map_err(|error| match error {
        ListingError::Io(error) => problem(&error),
        ListingError::TooManyEntries(limit) => {
            FileProblem::Unreadable { path: path.to_owned(), message: format!("more than {limit} entries") }
        }
    })?;
    if directory.exists() { Ok(directory.without_digests()) } else { Err(FileProblem::Missing(path.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_all_that_the_run_left_for_people() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let place = folder.path().join("c/with_skill").join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, path).unwrap();
        };
        for path in ["output.md", "metadata.json", "outputs/b.txt", "outputs/a/x.png", "turn-1/output.md"] {
            write(path);
        }
        write("turn-1/events.json");
        write("turn-2/outputs/y.md");
        let limits = Limits::default();
        let mut directory = open_run(folder.path(), "c/with_skill", &limits).unwrap();
        let found = AnswerFiles::find(&mut directory, 10).unwrap();
        assert_eq!(found.answer.as_deref(), Some("output.md"));
        assert_eq!(found.outputs, ["outputs/a/x.png", "outputs/b.txt"]);
        assert_eq!(found.turns, ["turn-1/output.md", "turn-2/outputs/y.md"]);
        assert!(!found.is_cut);
        let cut = AnswerFiles::find(&mut directory, 1).unwrap();
        assert_eq!((cut.outputs.len(), cut.is_cut), (1, true));
    }

    #[test]
    fn a_name_of_a_run_stays_below_the_root() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("runs/c")).unwrap();
        fs::create_dir_all(folder.path().join("elsewhere/with_skill")).unwrap();
        std::os::unix::fs::symlink("../elsewhere", folder.path().join("runs/link")).unwrap();
        let root = folder.path().join("runs");
        let problem = |path: &str| open_run(&root, path, &Limits::default()).map(|_| ()).unwrap_err();
        for path in ["", ".", "..", "../elsewhere", "/etc", "c/../../elsewhere", "link/with_skill"] {
            assert_eq!(problem(path), FileProblem::LeavesRun(path.to_owned()), "{path}");
        }
        assert_eq!(problem("c/none"), FileProblem::Missing("c/none".to_owned()));
    }
}
