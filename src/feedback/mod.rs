//! What people say about runs: `feedback.json` of every tool that keeps one, read, changed and written.
//!
//! In: bytes that may be hostile, and one [`Entry`] after the other. Out: [`Feedback`], the entries that hold with a note
//! on everything else, and [`FeedbackFile`], which puts an entry into a file so that nobody ever reads half of it.
//! Nothing that a file holds is lost when it is written again.

mod document;
mod entry;
mod file;
mod note;
mod reviews;
mod run_ids;

pub use document::{Feedback, FeedbackError};
pub use entry::{Entry, EntryProblem, Opinion, Subject};
pub use file::{FeedbackFile, FeedbackFileError};
pub use note::FeedbackNote;
pub use reviews::Reviews;
pub use run_ids::{RunIds, RunName, RunOfId};
