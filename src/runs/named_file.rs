//! A file at a place that is known beforehand, which may be anything.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::directory::plain_message;
use super::limits::describe_bytes;

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamedFileProblem {
    /// There is none.
    #[error("no such file or directory")]
    Missing,
    /// A link, where links are not followed.
    #[error("a link, which is not followed")]
    Link,
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
    read(path, limit, OFlags::empty())
}

/// As [`read_named`], for a file that nobody named: a link is refused, since it may lead out of the tree.
///
/// # Errors
/// As [`read_named`], and for a link.
pub(super) fn read_unlinked(path: &Path, limit: u64) -> Result<Vec<u8>, NamedFileProblem> {
    read(path, limit, OFlags::NOFOLLOW)
}

fn read(path: &Path, limit: u64, more: OFlags) -> Result<Vec<u8>, NamedFileProblem> {
    let unreadable = |error: std::io::Error| NamedFileProblem::Unreadable(plain_message(&error));
    // a pipe must not wait for its writer
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        rustix::io::Errno::NOENT => NamedFileProblem::Missing,
        rustix::io::Errno::LOOP if more.contains(OFlags::NOFOLLOW) => NamedFileProblem::Link,
        error => unreadable(error.into()),
    });
    let file = File::from(opened?);
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(NamedFileProblem::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit { Err(NamedFileProblem::TooLarge(limit)) } else { Ok(bytes) }
}
