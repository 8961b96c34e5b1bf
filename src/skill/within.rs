//! Reading a file that has to lie in a folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Why a file of a folder was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not there.
    Missing,
    /// It is a link out of the folder.
    Outside,
    /// It is a folder, a pipe or a device.
    NotAFile,
    /// It has more bytes than are read.
    TooLarge,
    /// The system says no.
    Io(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

/// The bytes of a regular file, `limit` at most. `folder` is a real path, and so is what links lead to.
pub(super) fn read_within(folder: &Path, path: &Path, limit: u64) -> Result<Vec<u8>, Unread> {
    let place = path.canonicalize()?;
    if !place.starts_with(folder) {
        return Err(Unread::Outside);
    }
    // links were resolved above; a pipe must not block the reading
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(&place, flags, Mode::empty()).map_err(io::Error::from)?);
    if !file.metadata()?.is_file() {
        return Err(Unread::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(Unread::TooLarge) } else { Ok(bytes) }
}
