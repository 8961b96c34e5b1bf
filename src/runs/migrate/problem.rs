//! Why a run was left alone.

use std::fmt;

use crate::runs::directory::FileProblem;
use crate::runs::limits::describe_bytes;

/// Why a file, and with it its run directory, was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftAlone {
    /// It is not JSON; the message of the reader.
    InvalidJson(String),
    /// It is JSON but no object.
    NotAnObject,
    /// It is a folder, a device or the like.
    NotAFile,
    /// It has more bytes than are read, or would have.
    TooLarge(u64),
    /// A folder with more entries than are looked at.
    TooManyEntries(usize),
    /// The system says no.
    CannotRead(String),
    /// It is a link that leads out of the run directory or the runs root.
    LinkRefused,
    /// It is a link inside the run directory: the new file would take its place.
    IsALink,
    /// The directory declares its files with their digests, so that a changed one would make it incomplete.
    CommittedRun,
    /// It has telemetry of another version, which would be lost.
    UnknownTelemetry,
    /// It could not be written.
    CannotWrite(String),
}

impl LeftAlone {
    /// The code in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidJson(_) => "invalid_json",
            Self::NotAnObject => "not_an_object",
            Self::NotAFile => "not_a_file",
            Self::TooLarge(_) => "too_large",
            Self::TooManyEntries(_) => "too_many_entries",
            Self::CannotRead(_) => "cannot_read",
            Self::LinkRefused => "link_refused",
            Self::IsALink => "is_a_link",
            Self::CommittedRun => "committed_run",
            Self::UnknownTelemetry => "unknown_telemetry",
            Self::CannotWrite(_) => "cannot_write",
        }
    }

    /// Whether it could not be read, in contrast to what may not be written or followed.
    pub(super) fn is_unreadable(&self) -> bool {
        !matches!(self, Self::LinkRefused | Self::IsALink | Self::CommittedRun | Self::UnknownTelemetry)
    }
}

impl From<FileProblem> for LeftAlone {
    fn from(problem: FileProblem) -> Self {
        match problem {
            FileProblem::NotAFile(_) => Self::NotAFile,
            FileProblem::LeavesRun(_) => Self::LinkRefused,
            FileProblem::TooLarge { limit, .. } => Self::TooLarge(limit),
            FileProblem::Unreadable { message, .. } => Self::CannotRead(message),
            FileProblem::Missing(_) => Self::CannotRead("it is gone".to_owned()),
        }
    }
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidJson(message) => write!(f, "not valid JSON ({message}); repair or remove it"),
            Self::NotAnObject => f.write_str("JSON but no object; a report reads nothing of it"),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::TooLarge(limit) => {
                write!(f, "larger than {}, or would be; --max-sidecar-mib raises the limit", describe_bytes(*limit))
            }
            Self::TooManyEntries(limit) => {
                write!(f, "a folder of more than {limit} entries; raise --max-dir-entries to look into it")
            }
            Self::CannotRead(message) => write!(f, "cannot be read: {message}"),
            Self::LinkRefused => f.write_str("a link that leads elsewhere; it is not followed"),
            Self::IsALink => f.write_str("a link; the new file would take its place"),
            Self::CommittedRun => f.write_str(
                "artifact-commit.json states the digests of the files; a changed one would make the run incomplete",
            ),
            Self::UnknownTelemetry => f.write_str("has telemetry of another version, which would be lost"),
            Self::CannotWrite(message) => write!(f, "cannot be written: {message}"),
        }
    }
}

/// Something that was left alone, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationProblem {
    /// Where it is.
    pub path: String,
    /// Why.
    pub why: LeftAlone,
}
