//! A file that the user named, which may be anything.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::directory::plain_message;
use super::limits::describe_bytes;

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamedFileProblem {
    /// A folder, a pipe or a device.
    #[error("not a regular file")]
    NotAFile,
    /// More bytes than are read.
    #[error("larger than {}", describe_bytes(*.0))]
    TooLarge(u64),
    /// The system says no.
    #[error("{0}")]
    Unreadable(String),
}

/// The bytes of a regular file, `limit` at most. Links are followed: the user named the file.
///
/// # Errors
/// When it is not there, is not a regular file, or has more bytes, also when it grows meanwhile.
pub fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>, NamedFileProblem> {
    let unreadable = |error: std::io::Error| NamedFileProblem::Unreadable(plain_message(&error));
    // a pipe must not wait for its writer
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(|error| unreadable(error.into()))?);
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(NamedFileProblem::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit { Err(NamedFileProblem::TooLarge(limit)) } else { Ok(bytes) }
}
