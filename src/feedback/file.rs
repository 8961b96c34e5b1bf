//! A file of feedback that several people, pages and programs may change at a time.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use skill_lift_contract::write::AtomicFile;

use super::document::{Feedback, FeedbackError, check};
use super::entry::{Entry, EntryProblem};
use super::note::FeedbackNote;
use super::reviews::Reviews;
use super::run_ids::RunIds;
use crate::runs::calendar::utc_stamp;
use crate::runs::limits::describe_bytes;
use crate::runs::{Limits, NamedFileProblem, read_named};

/// How long a file may be held by others before an entry is refused.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks at whether it is free.
const PAUSE: Duration = Duration::from_millis(20);

/// Why feedback was not read or not stored. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum FeedbackFileError {
    /// The file cannot be read.
    #[error("cannot read {path}: {problem}")]
    Unreadable {
        /// The file as it was named.
        path: String,
        /// What is wrong.
        problem: NamedFileProblem,
    },
    /// It holds something else than feedback, or not in the form that is asked for.
    #[error("{path}: {problem}; name another file or move this one away")]
    NotFeedback {
        /// The file as it was named.
        path: String,
        /// What is wrong.
        problem: FeedbackError,
    },
    /// The entry says nothing about a run.
    #[error(transparent)]
    Entry(#[from] EntryProblem),
    /// A file of reviews holds one text a run: the run must be one that it can name.
    #[error("no run of this report has a name of its own for {case_id}, {variant}, run {run_number}")]
    UnnamedRun {
        /// The case.
        case_id: String,
        /// The arm.
        variant: String,
        /// The repetition.
        run_number: u32,
    },
    /// Another program does not let go of it.
    #[error("{path} is in use by another program; try again")]
    InUse {
        /// The file as it was named.
        path: String,
    },
    /// The file would have more bytes than are read.
    #[error("{path} would be larger than {}; nothing more is stored", describe_bytes(*limit))]
    Full {
        /// The file as it was named.
        path: String,
        /// The limit.
        limit: u64,
    },
    /// The file would hold more than is read.
    #[error("{path} would hold {problem}; nothing more is stored")]
    TooMany {
        /// The file as it was named.
        path: String,
        /// What there would be too much of.
        problem: FeedbackError,
    },
    /// The file cannot be written.
    #[error("cannot write {path}: {problem}")]
    Unwritable {
        /// The file as it was named.
        path: String,
        /// What the system says.
        problem: io::Error,
    },
}

/// A file of feedback. A link in its place is replaced, not followed: name what it leads to, if that is wanted.
#[derive(Debug)]
pub struct FeedbackFile {
    path: PathBuf,
    form: FileForm,
    /// Held while an entry is put into the file by this process.
    changing: Mutex<()>,
}

#[derive(Debug)]
enum FileForm {
    Entries,
    Reviews(RunIds),
}

impl FeedbackFile {
    /// A file of entries, which need not be there yet. One of version 0.6 becomes one of this version with the first entry
    /// that is stored.
    ///
    /// # Errors
    /// A file that cannot be read or holds something else.
    pub fn open(path: &Path) -> Result<Self, FeedbackFileError> {
        Self { path: path.to_owned(), form: FileForm::Entries, changing: Mutex::new(()) }.opened()
    }

    /// A file in the form of skill-creator, for the runs of a report; it need not be there yet.
    ///
    /// # Errors
    /// A file that cannot be read or holds something else.
    pub fn open_reviews(path: &Path, runs: RunIds) -> Result<Self, FeedbackFileError> {
        Self { path: path.to_owned(), form: FileForm::Reviews(runs), changing: Mutex::new(()) }.opened()
    }

    fn opened(self) -> Result<Self, FeedbackFileError> {
        self.content()?;
        Ok(self)
    }

    /// The file as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says now; nothing when it is not there.
    ///
    /// # Errors
    /// As [`FeedbackFile::open`].
    pub fn read(&self) -> Result<(Feedback, Vec<FeedbackNote>), FeedbackFileError> {
        Ok(match self.content()? {
            Content::Entries(feedback, notes) => (feedback, notes),
            Content::Reviews(reviews, runs) => reviews.feedback(runs),
        })
    }

    /// Puts an entry into the file, which is read afresh before, so that nothing that others stored meanwhile is lost.
    ///
    /// # Errors
    /// When the entry says nothing about a run, or the file cannot be read or written; the file is as it was then.
    pub fn upsert(&self, entry: Entry) -> Result<(), FeedbackFileError> {
        entry.check()?;
        // nothing can be half-changed under this lock
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let _held = self.hold()?;
        let mut bytes = Vec::new();
        let written = match self.content()? {
            Content::Entries(mut feedback, _) => {
                feedback.upsert(entry);
                feedback.write(&mut bytes)
            }
            Content::Reviews(mut reviews, runs) => {
                let Entry { case_id, variant, run_number, .. } = &entry;
                let unnamed = || FeedbackFileError::UnnamedRun {
                    case_id: case_id.clone(),
                    variant: variant.clone(),
                    run_number: *run_number,
                };
                reviews.upsert(runs.id_of(&entry).ok_or_else(unnamed)?, &entry, &now());
                reviews.write(runs, &mut bytes)
            }
        };
        written.and_then(|()| self.check_and_replace(&bytes)).map_err(|problem| self.unwritable(problem))??;
        Ok(())
    }

    fn check_and_replace(&self, bytes: &[u8]) -> io::Result<Result<(), FeedbackFileError>> {
        let limit = Limits::default().sidecar_bytes;
        if bytes.len() as u64 > limit {
            return Ok(Err(FeedbackFileError::Full { path: self.shown(), limit }));
        }
        if let Err(problem) = check(bytes) {
            return Ok(Err(FeedbackFileError::TooMany { path: self.shown(), problem }));
        }
        let mut file = AtomicFile::create(&self.path)?;
        if let Ok(before) = fs::symlink_metadata(&self.path)
            && before.is_file()
        {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(bytes)?;
        file.commit().map(Ok)
    }

    fn content(&self) -> Result<Content<'_>, FeedbackFileError> {
        let bytes = match read_named(&self.path, Limits::default().sidecar_bytes) {
            Ok(bytes) => Some(bytes),
            Err(NamedFileProblem::Missing) => None,
            Err(problem) => return Err(FeedbackFileError::Unreadable { path: self.shown(), problem }),
        };
        let not_feedback = |problem| FeedbackFileError::NotFeedback { path: self.shown(), problem };
        match (&self.form, bytes) {
            (FileForm::Entries, None) => Ok(Content::Entries(Feedback::default(), Vec::new())),
            (FileForm::Reviews(runs), None) => Ok(Content::Reviews(Reviews::default(), runs)),
            (FileForm::Entries, Some(bytes)) => {
                let (feedback, notes) = Feedback::read_entries(&bytes).map_err(not_feedback)?;
                Ok(Content::Entries(feedback, notes))
            }
            (FileForm::Reviews(runs), Some(bytes)) => {
                Reviews::read(&bytes).map(|reviews| Content::Reviews(reviews, runs)).map_err(not_feedback)
            }
        }
    }

    /// Keeps other programs from changing the file. The file itself is replaced, so that its folder is held.
    fn hold(&self) -> Result<Option<File>, FeedbackFileError> {
        let folder = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let unwritable = |problem| self.unwritable(problem);
        fs::create_dir_all(folder).map_err(unwritable)?;
        let folder = File::open(folder).map_err(unwritable)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Some(folder)),
                // not every file system has locks: then whoever comes last wins, and still no file is half-written
                Err(TryLockError::Error(_)) => return Ok(None),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(FeedbackFileError::InUse { path: self.shown() });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn unwritable(&self, problem: io::Error) -> FeedbackFileError {
        FeedbackFileError::Unwritable { path: self.shown(), problem }
    }
}

/// What a file says.
enum Content<'f> {
    Entries(Feedback, Vec<FeedbackNote>),
    Reviews(Reviews, &'f RunIds),
}

/// This moment; a clock that is before 1970 says 1970.
fn now() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc_stamp(i64::try_from(elapsed.as_millis()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::{Opinion, RunName};

    fn entry(case: &str, run_number: u32) -> Entry {
        Entry {
            case_id: case.to_owned(),
            variant: "with_skill".to_owned(),
            run_number,
            model: None,
            assertion: None,
            note: None,
            verdict: Some(Opinion::Fail),
        }
    }

    #[test]
    fn entries_are_stored_beside_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/feedback.json");
        let file = FeedbackFile::open(&path).unwrap();
        assert!(!path.exists(), "nothing is written before there is something to store");
        file.upsert(entry("a", 1)).unwrap();
        // another program stores one meanwhile
        FeedbackFile::open(&path).unwrap().upsert(entry("b", 1)).unwrap();
        file.upsert(entry("c", 1)).unwrap();
        let (feedback, notes) = file.read().unwrap();
        let cases: Vec<&str> = feedback.entries.iter().map(|entry| entry.case_id.as_str()).collect();
        assert_eq!((cases.as_slice(), notes.len()), (["a", "b", "c"].as_slice(), 0));
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["feedback.json"], "no lock and no temporary file stays behind");
    }

    #[test]
    fn many_at_a_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feedback.json");
        thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    // a store of its own stands for another process
                    let file = FeedbackFile::open(path).unwrap();
                    for run in 1..=10 {
                        file.upsert(entry(&format!("c{writer}"), run)).unwrap();
                    }
                });
            }
        });
        assert_eq!(FeedbackFile::open(&path).unwrap().read().unwrap().0.entries.len(), 40);
    }

    #[test]
    fn what_cannot_be_stored_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feedback.json");
        let shown = path.display().to_string();
        for (text, problem) in [
            ("{\"junk\":1}", "no feedback: an object with `entries` or `reviews` is expected"),
            ("{", "line 1: invalid JSON: expected a key in double quotes at $"),
            ("{\"reviews\":[]}", "reviews in the form of skill-creator"),
        ] {
            fs::write(&path, text).unwrap();
            let error = FeedbackFile::open(&path).unwrap_err().to_string();
            assert_eq!(error, format!("{shown}: {problem}; name another file or move this one away"));
        }
        fs::write(&path, "{\"entries\":[]}").unwrap();
        let error = FeedbackFile::open_reviews(&path, RunIds::default()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{shown}: entries in the form of skill-lift; ")), "{error}");
        let file = FeedbackFile::open(&path).unwrap();
        let silent = Entry { verdict: None, note: Some(" ".to_owned()), ..entry("a", 1) };
        assert_eq!(file.upsert(silent).unwrap_err().to_string(), "an entry needs a verdict or a note");
        let elsewhere = Entry { variant: "baseline".to_owned(), ..entry("a", 1) };
        assert!(file.upsert(elsewhere).is_err());
        // somebody breaks the file while it is open
        fs::write(&path, "broken").unwrap();
        assert!(file.upsert(entry("a", 1)).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "broken");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(
            file.upsert(entry("a", 1)).unwrap_err().to_string(),
            format!("cannot read {shown}: not a regular file")
        );
    }

    #[test]
    fn a_full_file_takes_nothing_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feedback.json");
        let note = "x".repeat(16 * 1024 * 1024 - 200);
        fs::write(
            &path,
            serde_json::json!({"entries": [{"case_id": "a", "variant": "with_skill", "note": note}]}).to_string(),
        )
        .unwrap();
        let file = FeedbackFile::open(&path).unwrap();
        let error = file.upsert(entry("b", 1)).unwrap_err().to_string();
        assert!(error.ends_with("would be larger than 16 MiB; nothing more is stored"), "{error}");
        assert_eq!(file.read().unwrap().0.entries.len(), 1);
        let many = format!("{{\"entries\":[{}0]}}", "0,".repeat(199_999));
        fs::write(&path, &many).unwrap();
        let error = file.upsert(entry("b", 1)).unwrap_err().to_string();
        assert!(error.ends_with("would hold more than 200000 entries; nothing more is stored"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), many);
    }

    #[test]
    fn a_folder_that_another_program_holds_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = FeedbackFile::open(&folder.path().join("feedback.json")).unwrap();
        let held = File::open(folder.path()).unwrap();
        held.lock().unwrap();
        thread::scope(|scope| {
            let storing = scope.spawn(|| file.upsert(entry("a", 1)));
            thread::sleep(Duration::from_millis(100));
            assert!(!file.path().exists());
            drop(held);
            storing.join().unwrap().unwrap();
        });
        assert!(file.path().exists());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_replaced_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let (path, outside) = (folder.path().join("feedback.json"), folder.path().join("outside.json"));
        fs::write(&outside, "{\"entries\":[]}").unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        let file = FeedbackFile::open(&path).unwrap();
        file.upsert(entry("a", 1)).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "{\"entries\":[]}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        file.upsert(entry("b", 1)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_file_of_reviews_keeps_its_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feedback.json");
        let name = RunName { case_id: "a".to_owned(), variant: "with_skill".to_owned(), model: None, run_number: 1 };
        let runs = RunIds::new([(name, "eval-0/with_skill/run-1")]);
        let file = FeedbackFile::open_reviews(&path, runs).unwrap();
        file.upsert(entry("a", 1)).unwrap();
        let error = file.upsert(entry("a", 2)).unwrap_err().to_string();
        assert_eq!(error, "no run of this report has a name of its own for a, with_skill, run 2");
        let text: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((&text["status"], &text["reviews"][0]["feedback"]), (&"complete".into(), &"wrong".into()));
        let moment = text["reviews"][0]["timestamp"].as_str().unwrap();
        let in_an_hour =
            utc_stamp((SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() + 3_600_000) as i64);
        assert!(moment > "2026" && moment < in_an_hour.as_str() && moment.len() == in_an_hour.len(), "{moment}");
        assert_eq!(file.read().unwrap().0.entries, [entry("a", 1)]);
    }
}
