//! Why an iteration has no aggregate.

/// Where the aggregator of the forge pipeline stops, or where this program does not follow it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// There is no such folder.
    #[error("not a directory: {0}")]
    NotADirectory(String),
    /// The folder has no eval directories.
    #[error("no eval-<number> directory in {0}")]
    NoEvals(String),
    /// The aggregator raises at this file.
    #[error("{path}: {problem}; the upstream aggregator stops here with exit code 1")]
    Stops {
        /// The file.
        path: String,
        /// What is wrong in it.
        problem: String,
    },
    /// The aggregator would read this, but what it would make of it is no number that can be trusted.
    #[error("{path}: {problem}; refused, the upstream aggregator would read on")]
    Refused {
        /// The file or folder.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The system says no.
    #[error("cannot read {path}: {problem}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// What the system says.
        problem: String,
    },
}
