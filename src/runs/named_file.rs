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
    let (file, length) = open(path, limit, more)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().saturating_add(1));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > limit { Err(NamedFileProblem::TooLarge(limit)) } else { Ok(bytes) }
}

/// Opens a regular file for reading in a stream. Links are followed: the user named the file.
///
/// # Errors
/// When it is not there, is not a regular file, or has more than `limit` bytes.
pub fn open_named(path: &Path, limit: u64) -> Result<File, NamedFileProblem> {
    open(path, limit, OFlags::empty()).map(|(file, _)| file)
}

fn unreadable(error: &std::io::Error) -> NamedFileProblem {
    NamedFileProblem::Unreadable(plain_message(error))
}

/// A regular file and how many bytes it has, `limit` at most.
fn open(path: &Path, limit: u64, more: OFlags) -> Result<(File, u64), NamedFileProblem> {
    // a pipe must not wait for its writer
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        rustix::io::Errno::NOENT => NamedFileProblem::Missing,
        rustix::io::Errno::LOOP if more.contains(OFlags::NOFOLLOW) => NamedFileProblem::Link,
        error => unreadable(&error.into()),
    });
    let file = File::from(opened?);
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(NamedFileProblem::NotAFile);
    }
    if metadata.len() > limit { Err(NamedFileProblem::TooLarge(limit)) } else { Ok((file, metadata.len())) }
}
