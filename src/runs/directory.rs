//! One run directory: its files are opened at most once, hashed as they are read, and never leave it.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use skill_lift_contract::ContentDigest;

use super::events::{self, Events};
use super::limits::{Limits, describe_bytes};
use super::listing::{self, EntryKind, Listing, ListingError};
use super::metrics::{self, Metrics};
use super::warning::{RunWarning, WarningCode};
use crate::json::{self, Tape};

/// Why a file of a run cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// There is none.
    #[error("no such file: {0}")]
    Missing(String),
    /// It is a directory, a device or the like.
    #[error("not a regular file: {0}")]
    NotAFile(String),
    /// It leads out of the run directory.
    #[error("path_escapes_run: {0}")]
    LeavesRun(String),
    /// It is larger than the limit and was not read.
    #[error("{path} has {size} bytes, the limit is {}", describe_bytes(*limit))]
    TooLarge {
        /// The file.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system says no.
    #[error("cannot read {path}: {message}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        message: String,
    },
}

type Contents = Result<Rc<Vec<u8>>, FileProblem>;

/// Where a file of a run is.
enum Place<'p> {
    /// Below the run directory under this path, which holds no link.
    Below(&'p str),
    /// Where links lead, inside the run directory.
    Resolved(PathBuf),
}

/// A run directory and what has been read of it.
#[derive(Debug)]
pub struct RunDirectory {
    absolute: PathBuf,
    relative: String,
    canonical: OnceCell<Option<PathBuf>>,
    /// The open directory: it is listed and its files are reached from it, instead of looking up the whole path for each.
    descriptor: OnceCell<Option<Dir>>,
    listing: Option<Listing>,
    contents: HashMap<String, Contents>,
    events: Option<Rc<Events>>,
    metrics: Option<Rc<Metrics>>,
    digests: Vec<(String, ContentDigest)>,
    keeps_digests: bool,
    warnings: Vec<RunWarning>,
    entry_limit: usize,
}

impl RunDirectory {
    /// Opens a directory. `relative` is its path below the runs root, for messages and digests. A listing that was
    /// read already is not read again.
    ///
    /// # Errors
    /// When the directory is there but cannot be listed, or has too many entries.
    pub(super) fn open(
        absolute: PathBuf,
        relative: String,
        known: Option<Listing>,
        entry_limit: usize,
    ) -> Result<Self, ListingError> {
        let descriptor = OnceCell::new();
        let listing = match known {
            Some(listing) => Some(listing),
            None => match listing::open(&absolute).map_err(ListingError::Io)? {
                Some(mut open) => {
                    let root = || fs::canonicalize(&absolute);
                    let listing = Listing::read_open(&mut open, &absolute, &root, entry_limit)?;
                    let _ = descriptor.set(Some(open));
                    Some(listing)
                }
                None => None,
            },
        };
        let mut directory = Self {
            absolute,
            relative,
            canonical: OnceCell::new(),
            descriptor,
            listing,
            contents: HashMap::new(),
            events: None,
            metrics: None,
            digests: Vec::new(),
            keeps_digests: true,
            warnings: Vec::new(),
            entry_limit,
        };
        let refused = directory.listing.as_ref().map(|listing| listing.refused.clone()).unwrap_or_default();
        for name in refused {
            directory.warn_link(&name);
        }
        Ok(directory)
    }

    /// The directory for readers who do not say what they read: nothing is hashed.
    pub(super) fn without_digests(self) -> Self {
        Self { keeps_digests: false, ..self }
    }

    /// Whether the directory is there.
    pub fn exists(&self) -> bool {
        self.listing.is_some()
    }

    /// Path below the runs root, `/` between components.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.absolute
    }

    pub(super) fn listing(&self) -> Option<&Listing> {
        self.listing.as_ref()
    }

    /// Adds a warning about a file of this directory, or about the directory when `name` is empty.
    pub fn warn(&mut self, code: WarningCode, name: &str, message: String) {
        let path = match (self.relative.is_empty(), name.is_empty()) {
            (true, _) => name.to_owned(),
            (_, true) => self.relative.clone(),
            _ => format!("{}/{name}", self.relative),
        };
        self.warnings.push(RunWarning { code, path, message });
    }

    fn warn_link(&mut self, name: &str) {
        self.warn(WarningCode::LinkRefused, name, "link leads out of the run directory; it is not followed".to_owned());
    }

    /// The warnings so far.
    pub fn take_warnings(&mut self) -> Vec<RunWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// Every file that was read, relative to the runs root, with its digest.
    pub fn take_digests(&mut self) -> Vec<(String, ContentDigest)> {
        std::mem::take(&mut self.digests)
    }

    /// The bytes of a regular file below the directory; read once, whatever the number of callers.
    ///
    /// `path` is relative, normalised, with `/` between components.
    ///
    /// # Errors
    /// When there is no such file inside the run, or it is larger than `limit` bytes (then it was not read).
    pub fn read(&mut self, path: &str, limit: u64) -> Result<Rc<Vec<u8>>, FileProblem> {
        if let Some(known) = self.contents.get(path) {
            return match known {
                Ok(bytes) if bytes.len() as u64 > limit => {
                    Err(FileProblem::TooLarge { path: path.to_owned(), size: bytes.len() as u64, limit })
                }
                known => known.clone(),
            };
        }
        let contents = self.read_new(path, limit);
        self.contents.insert(path.to_owned(), contents.clone());
        contents
    }

    fn read_new(&mut self, path: &str, limit: u64) -> Contents {
        let (file, length) = self.open_file(path, limit)?;
        let unreadable =
            |error: io::Error| FileProblem::Unreadable { path: path.to_owned(), message: plain_message(&error) };
        // what is appended while the file is read does not belong to it yet; some file systems state no length
        let most = if length == 0 { limit + 1 } else { length };
        let mut bytes = Vec::with_capacity(length as usize);
        file.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > limit {
            return Err(FileProblem::TooLarge { path: path.to_owned(), size: bytes.len() as u64, limit });
        }
        if self.keeps_digests {
            let name = if self.relative.is_empty() { path.to_owned() } else { format!("{}/{path}", self.relative) };
            self.digests.push((name, ContentDigest::of(&bytes)));
        }
        Ok(Rc::new(bytes))
    }

    /// A regular file below the directory for reading in a stream, and the bytes that it has.
    ///
    /// # Errors
    /// As [`RunDirectory::read`].
    pub fn open_file(&mut self, path: &str, limit: u64) -> Result<(File, u64), FileProblem> {
        let unreadable =
            |error: io::Error| FileProblem::Unreadable { path: path.to_owned(), message: plain_message(&error) };
        // a pipe must not block the reading
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = self.open_inside(path, flags)?;
        let file = match opened {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT | Errno::NOTDIR) => {
                return Err(FileProblem::Missing(path.to_owned()));
            }
            Err(error) => return Err(unreadable(error.into())),
        };
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(FileProblem::NotAFile(path.to_owned()));
        }
        if metadata.len() > limit {
            return Err(FileProblem::TooLarge { path: path.to_owned(), size: metadata.len(), limit });
        }
        Ok((file, metadata.len()))
    }

    /// The events of the run; read and typed at the first call, whatever the limits of later ones.
    pub fn events(&mut self, limit: u64) -> Rc<Events> {
        if let Some(known) = &self.events {
            return Rc::clone(known);
        }
        let events = Rc::new(events::read(self.read(events::FILE_NAME, limit)));
        self.events = Some(Rc::clone(&events));
        events
    }

    /// What the run measured, from all files that say it; those that cannot be read say nothing.
    pub fn metrics(&mut self) -> Rc<Metrics> {
        if let Some(known) = &self.metrics {
            return Rc::clone(known);
        }
        let contents: Vec<_> = metrics::FILE_NAMES.iter().filter_map(|name| self.sidecar(name)).collect();
        let parsed = contents.iter().filter_map(|bytes| {
            let text = std::str::from_utf8(bytes).ok()?;
            Tape::read(text, json::Limits::SIDECAR).ok()
        });
        let tapes: Vec<_> = parsed.filter(|tape| tape.root().is_object()).collect();
        self.know_metrics(Metrics::merge(&tapes.iter().map(Tape::root).collect::<Vec<_>>()))
    }

    /// Keeps what the run measured, so that nobody parses its files again.
    pub(super) fn know_metrics(&mut self, metrics: Metrics) -> Rc<Metrics> {
        Rc::clone(self.metrics.insert(Rc::new(metrics)))
    }

    /// A file that was read before under its own limit, or is read now under the usual one.
    fn sidecar(&mut self, name: &str) -> Option<Rc<Vec<u8>>> {
        match self.contents.get(name) {
            Some(known) => known.clone().ok(),
            None => self.read(name, Limits::default().sidecar_bytes).ok(),
        }
    }

    /// Whether the run directory itself holds a regular file of this name, or a link to one inside the run.
    pub(super) fn has_entry(&self, name: &str) -> bool {
        self.listing().and_then(|listing| listing.get(name)).is_some_and(|entry| entry.kind == EntryKind::File)
    }

    /// Whether a regular file exists inside the run, links resolved.
    pub fn has_file(&mut self, path: &str) -> Result<bool, FileProblem> {
        match self.open_inside(path, OFlags::PATH | OFlags::CLOEXEC) {
            Ok(opened) => Ok(opened.is_ok_and(|file| File::from(file).metadata().is_ok_and(|data| data.is_file()))),
            Err(FileProblem::Missing(_) | FileProblem::NotAFile(_)) => Ok(false),
            Err(problem) => Err(problem),
        }
    }

    /// The size of a regular file inside the run, links resolved; `None` when there is none.
    pub(super) fn size(&mut self, path: &str) -> Option<u64> {
        let data = File::from(self.open_inside(path, OFlags::PATH | OFlags::CLOEXEC).ok()?.ok()?);
        data.metadata().ok().filter(fs::Metadata::is_file).map(|data| data.len())
    }

    /// The place of a file with links resolved; inside the run directory, or a problem.
    fn locate<'p>(&mut self, path: &'p str) -> Result<Place<'p>, FileProblem> {
        let missing = || FileProblem::Missing(path.to_owned());
        let Some(listing) = &self.listing else {
            return Err(missing());
        };
        if !is_plain(path) || path.is_empty() {
            return Err(FileProblem::LeavesRun(path.to_owned()));
        }
        let (first, rest) = path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let Some(entry) = listing.get(first) else {
            let refused = listing.refused.iter().any(|name| name == first);
            return Err(if refused { FileProblem::LeavesRun(path.to_owned()) } else { missing() });
        };
        match (entry.kind, rest, entry.is_link) {
            (EntryKind::File, None, false) => return Ok(Place::Below(path)),
            (EntryKind::Directory | EntryKind::Other, None, false) => {
                return Err(FileProblem::NotAFile(path.to_owned()));
            }
            _ => {}
        }
        // an entry of a folder of the run that is no link itself is where it says it is
        if let (EntryKind::Directory, Some(name), false) = (entry.kind, rest, entry.is_link)
            && !name.contains('/')
        {
            let Some(kind) = self.kind_below(path) else {
                return Err(missing());
            };
            // the folder again, too: somebody may have put a link in its place since it was listed
            if kind != FileType::Symlink && self.kind_below(first) == Some(FileType::Directory) {
                return Ok(Place::Below(path));
            }
        }
        // deeper, or through a link: the real place decides
        let Ok(place) = fs::canonicalize(self.absolute.join(path)) else {
            return Err(missing());
        };
        if self.canonical().is_some_and(|root| place.starts_with(root)) {
            Ok(Place::Resolved(place))
        } else {
            self.warn_link(path);
            Err(FileProblem::LeavesRun(path.to_owned()))
        }
    }

    /// Opens what has a path inside the run, links resolved; the inner error is that of the system.
    fn open_inside(&mut self, path: &str, flags: OFlags) -> Result<Result<OwnedFd, Errno>, FileProblem> {
        match self.open_without_links(path, flags) {
            Some(opened) => Ok(opened),
            // a link that has taken the place since is not followed
            None => self.locate(path).map(|place| self.open_place(&place, flags | OFlags::NOFOLLOW)),
        }
    }

    /// Opens a file in a folder of the run in one call, where no part of its path is a link and the system can promise it;
    /// `None` says that the place has to be found first.
    #[cfg(target_os = "linux")]
    fn open_without_links(&self, path: &str, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
        use rustix::fs::ResolveFlags;
        let (first, _) = path.split_once('/')?;
        let entry = self.listing.as_ref()?.get(first)?;
        if entry.kind != EntryKind::Directory || entry.is_link || !is_plain(path) {
            return None;
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(self.descriptor()?, path, flags, Mode::empty(), resolve) {
            Ok(file) => Some(Ok(file)),
            Err(missing @ (Errno::NOENT | Errno::NOTDIR)) => Some(Err(missing)),
            // a link, or a system without this call
            Err(_) => None,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_without_links(&self, _: &str, _: OFlags) -> Option<Result<OwnedFd, Errno>> {
        None
    }

    fn open_place(&self, place: &Place<'_>, flags: OFlags) -> Result<OwnedFd, Errno> {
        match (place, self.descriptor()) {
            (Place::Resolved(path), _) => rustix::fs::open(path, flags, Mode::empty()),
            (Place::Below(path), Some(directory)) => rustix::fs::openat(directory, *path, flags, Mode::empty()),
            (Place::Below(path), None) => rustix::fs::open(self.absolute.join(path), flags, Mode::empty()),
        }
    }

    /// What is below the run directory under a path, links not followed; `None` when nothing is there.
    fn kind_below(&self, path: &str) -> Option<FileType> {
        let data = match self.descriptor() {
            Some(directory) => rustix::fs::statat(directory, path, AtFlags::SYMLINK_NOFOLLOW),
            None => rustix::fs::lstat(self.absolute.join(path)),
        };
        data.ok().map(|data| FileType::from_raw_mode(data.st_mode))
    }

    /// The open run directory; `None` when it cannot be opened, so that its files are reached by their paths.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let open = self.descriptor.get_or_init(|| listing::open(&self.absolute).ok().flatten());
        open.as_ref().and_then(|open| open.fd().ok())
    }

    fn canonical(&self) -> Option<&Path> {
        self.canonical.get_or_init(|| fs::canonicalize(&self.absolute).ok()).as_deref()
    }

    /// Paths of all regular files below a folder of the run, in component-wise order, at most `limit` + 1 of them.
    /// Links to folders are not entered; links to files inside the run count as files.
    pub fn files_below(&mut self, folder: &str, limit: usize) -> Result<Vec<String>, FileProblem> {
        let mut found = Vec::new();
        let Some(entry) = self.listing.as_ref().and_then(|listing| listing.get(folder)) else {
            return Ok(found);
        };
        if entry.kind != EntryKind::Directory || entry.is_link {
            return Ok(found);
        }
        self.collect_files(folder, limit, 0, &mut found)?;
        Ok(found)
    }

    /// Every regular file of the run directory; `None` when it holds a link or is nested too deeply.
    pub(super) fn every_file(&mut self, limit: usize) -> Result<Option<Vec<String>>, FileProblem> {
        let listing = self.listing.clone().unwrap_or_default();
        if !listing.refused.is_empty() || listing.entries().iter().any(|entry| entry.is_link) {
            return Ok(None);
        }
        let mut found = Vec::new();
        for entry in listing.entries() {
            match entry.kind {
                EntryKind::File => found.push(entry.name.clone()),
                EntryKind::Directory if self.collect_files(&entry.name, limit, 0, &mut found)? => return Ok(None),
                EntryKind::Directory | EntryKind::Other => {}
            }
        }
        Ok(Some(found))
    }

    /// The digest of a file, without keeping large files in memory.
    pub(super) fn digest(&mut self, path: &str) -> Result<ContentDigest, FileProblem> {
        match self.read(path, DIGEST_CACHE_BYTES) {
            Ok(bytes) => Ok(ContentDigest::of(&bytes)),
            Err(FileProblem::TooLarge { .. }) => {
                self.contents.remove(path);
                let (file, _) = self.open_file(path, u64::MAX)?;
                ContentDigest::of_reader(file)
                    .map_err(|error| FileProblem::Unreadable { path: path.to_owned(), message: plain_message(&error) })
            }
            Err(problem) => Err(problem),
        }
    }

    /// Returns whether a link or too deep a nesting was met.
    fn collect_files(
        &mut self,
        folder: &str,
        limit: usize,
        depth: usize,
        found: &mut Vec<String>,
    ) -> Result<bool, FileProblem> {
        if depth > MAX_FOLDER_DEPTH {
            return Ok(true);
        }
        let place = self.absolute.join(folder);
        let root = || self.canonical().map(Path::to_owned).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
        let listing = match Listing::read(&place, &root, self.entry_limit) {
            Ok(listing) => listing.unwrap_or_default(),
            Err(ListingError::TooManyEntries(limit)) => {
                let message = format!("more than {limit} entries");
                return Err(FileProblem::Unreadable { path: folder.to_owned(), message });
            }
            Err(ListingError::Io(error)) => {
                return Err(FileProblem::Unreadable { path: folder.to_owned(), message: plain_message(&error) });
            }
        };
        for name in &listing.refused {
            self.warn_link(&format!("{folder}/{name}"));
        }
        let mut odd = !listing.refused.is_empty();
        for entry in listing.entries() {
            if found.len() > limit {
                return Ok(odd);
            }
            odd |= entry.is_link;
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                EntryKind::File => found.push(path),
                EntryKind::Directory if !entry.is_link => {
                    odd |= self.collect_files(&path, limit, depth + 1, found)?;
                }
                EntryKind::Directory | EntryKind::Other => {}
            }
        }
        Ok(odd)
    }
}

/// Whether a path has only names in it.
fn is_plain(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Larger files are digested without being kept.
const DIGEST_CACHE_BYTES: u64 = 1024 * 1024;

/// Folders nested deeper than this inside a run are not searched for answers.
const MAX_FOLDER_DEPTH: usize = 32;

/// The system's message without the number that Rust appends.
pub(super) fn plain_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_lowercase(),
        None => text.to_lowercase(),
    }
}
