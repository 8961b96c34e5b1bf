//! The entries of one directory, with links resolved or refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
        let reader = match fs::read_dir(directory) {
            Ok(reader) => reader,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(ListingError::Io(error)),
        };
        let mut listing = Self::default();
        for entry in reader {
            let entry = entry.map_err(ListingError::Io)?;
            if listing.entries.len() + listing.refused.len() >= limit {
                return Err(ListingError::TooManyEntries(limit));
            }
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let file_type = entry.file_type().map_err(ListingError::Io)?;
            listing.add(name, || entry.path(), file_type, root)?;
        }
        listing.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        listing.refused.sort_unstable();
        Ok(Some(listing))
    }

    /// One entry of a directory that may have many; `Ok(None)` when it is not there.
    pub fn read_one(
        directory: &Path,
        name: &str,
        root: &dyn Fn() -> io::Result<PathBuf>,
    ) -> Result<Option<Self>, ListingError> {
        let path = directory.join(name);
        let data = match fs::symlink_metadata(&path) {
            Ok(data) => data,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(ListingError::Io(error)),
        };
        let mut listing = Self::default();
        listing.add(name.to_owned(), || path, data.file_type(), root)?;
        Ok(Some(listing))
    }

    fn add(
        &mut self,
        name: String,
        path: impl FnOnce() -> PathBuf,
        file_type: fs::FileType,
        root: &dyn Fn() -> io::Result<PathBuf>,
    ) -> Result<(), ListingError> {
        if !file_type.is_symlink() {
            self.entries.push(Entry { name, kind: kind_of(file_type), is_link: false });
            return Ok(());
        }
        let within = root().map_err(ListingError::Io)?;
        match fs::canonicalize(path()) {
            Ok(target) if target.starts_with(&within) => {
                let kind = fs::metadata(&target).map_or(EntryKind::Other, |data| kind_of(data.file_type()));
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

fn kind_of(file_type: fs::FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else {
        EntryKind::Other
    }
}
