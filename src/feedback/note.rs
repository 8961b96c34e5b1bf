//! What in a file of feedback counts for nothing.

use super::entry::EntryProblem;

/// Something in a file that is kept but says nothing about a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedbackNote {
    /// An entry that is none.
    #[error("entry {position}: {problem}")]
    Unparsed {
        /// Its place in the list, from 1.
        position: usize,
        /// What is wrong with it.
        problem: EntryProblem,
    },
    /// An entry whose subject has a later one.
    #[error("entry {position}: a later one is about the same run; that one counts")]
    Superseded {
        /// Its place in the list, from 1.
        position: usize,
    },
    /// A review that is none.
    #[error("review {position}: it has no `run_id`, or its `feedback` is no text")]
    NoReview {
        /// Its place in the list, from 1.
        position: usize,
    },
    /// A review of a run that is not there.
    #[error("review of {run_id}: there is no such run")]
    UnknownRun {
        /// The run as the review names it.
        run_id: String,
    },
    /// A review that may be of several runs.
    #[error("review of {run_id}: {runs} runs have this name")]
    AmbiguousRun {
        /// The run as the review names it.
        run_id: String,
        /// How many there are.
        runs: usize,
    },
}

impl FeedbackNote {
    /// The code of a warning. Codes are stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unparsed { .. } => "feedback_unparsed",
            Self::Superseded { .. } => "feedback_superseded",
            Self::NoReview { .. } => "review_unreadable",
            Self::UnknownRun { .. } => "review_of_no_run",
            Self::AmbiguousRun { .. } => "review_ambiguous",
        }
    }
}
