//! The entries of one directory, with links resolved or refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// What a directory entry is after links were resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else, and links that lead nowhere.
    Other,
}

/// One entry of a directory.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name; entries whose name is not UTF-8 are not listed.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Whether it is reached through a link.
    pub is_link: bool,
}

/// The entries of one directory, ordered by name (code points).
#[derive(Debug, Clone, Default)]
pub struct Listing {
    entries: Vec<Entry>,
    /// Names of links that lead out of the root they were read under.
    pub refused: Vec<String>,
}

/// Why a directory could not be listed.
#[derive(Debug)]
pub enum ListingError {
    /// It has more entries than the limit.
    TooManyEntries(usize),
    /// The system says no.
    Io(io::Error),
}

impl Listing {
    /// Lists a directory. `Ok(None)` when there is no such directory.
    ///
    /// Links that lead out of `root` are left out and named in [`Listing::refused`]; `root` is asked for only when
    /// there is a link at all.
    pub fn read(
        directory: &Path,
        root: &dyn Fn() -> io::Result<PathBuf>,
        limit: usize,
    ) -> Result<Option<Self>, ListingError> {
        match open(directory).map_err(ListingError::Io)? {
            Some(mut open) => Self::read_open(&mut open, directory, root, limit).map(Some),
            None => Ok(None),
        }
    }

    /// Lists a directory that is open and has not been listed. `directory` is its path.
    pub fn read_open(
        open: &mut Dir,
        directory: &Path,
        root: &dyn Fn() -> io::Result<PathBuf>,
        limit: usize,
    ) -> Result<Self, ListingError> {
        let mut listing = Self::default();
        while let Some(entry) = open.read() {
            let entry = entry.map_err(|error| ListingError::Io(error.into()))?;
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            if listing.entries.len() + listing.refused.len() >= limit {
                return Err(ListingError::TooManyEntries(limit));
            }
            let Ok(name) = str::from_utf8(bytes) else {
                continue;
            };
            let file_type = match entry.file_type() {
                // some file systems do not say it in the listing
                FileType::Unknown => type_below(open, name).map_err(ListingError::Io)?,
                known => known,
            };
            listing.add(name.to_owned(), || directory.join(name), file_type, root)?;
        }
        listing.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        listing.refused.sort_unstable();
        Ok(listing)
    }

    /// One entry of a directory that may have many; `Ok(None)` when it is not there.
    pub fn read_one(
        directory: &Path,
        name: &str,
        root: &dyn Fn() -> io::Result<PathBuf>,
    ) -> Result<Option<Self>, ListingError> {
        let path = directory.join(name);
        let data = match rustix::fs::lstat(&path) {
            Ok(data) => data,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(ListingError::Io(error.into())),
        };
        let mut listing = Self::default();
        listing.add(name.to_owned(), || path, FileType::from_raw_mode(data.st_mode), root)?;
        Ok(Some(listing))
    }

    fn add(
        &mut self,
        name: String,
        path: impl FnOnce() -> PathBuf,
        file_type: FileType,
        root: &dyn Fn() -> io::Result<PathBuf>,
    ) -> Result<(), ListingError> {
        if file_type != FileType::Symlink {
            self.entries.push(Entry { name, kind: kind_of(file_type), is_link: false });
            return Ok(());
        }
        let within = root().map_err(ListingError::Io)?;
        match fs::canonicalize(path()) {
            Ok(target) if target.starts_with(&within) => {
                let kind = rustix::fs::stat(&target)
                    .map_or(EntryKind::Other, |data| kind_of(FileType::from_raw_mode(data.st_mode)));
                self.entries.push(Entry { name, kind, is_link: true });
            }
            Ok(_) => self.refused.push(name),
            Err(_) => self.entries.push(Entry { name, kind: EntryKind::Other, is_link: true }),
        }
        Ok(())
    }

    /// Moves entries to [`Listing::refused`].
    pub fn refuse(&mut self, is_refused: impl Fn(&Entry) -> bool) {
        self.refused.extend(self.entries.iter().filter(|entry| is_refused(entry)).map(|entry| entry.name.clone()));
        self.refused.sort_unstable();
        self.entries.retain(|entry| !is_refused(entry));
    }

    /// The entry with a name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        let index = self.entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
        self.entries.get(index)
    }

    /// All entries, by name.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        _ => EntryKind::Other,
    }
}

/// Opens a directory to list it and to reach what is in it; `Ok(None)` when there is no such directory.
pub(super) fn open(directory: &Path) -> io::Result<Option<Dir>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags, Mode::empty()) {
        Ok(open) => Ok(Some(Dir::new(open)?)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What an entry of an open directory is, links not followed.
fn type_below(open: &Dir, name: &str) -> io::Result<FileType> {
    let data = rustix::fs::statat(open.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(data.st_mode))
}
