//! Writing files and folders so that a reader never sees half of one.

mod folder;

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

pub use folder::AtomicFolder;

/// A file that takes its name only when it is complete.
///
/// The bytes go to a temporary file in the same folder; [`AtomicFile::commit`] flushes it to the disk and renames it.
/// Dropped without a commit, it leaves nothing behind but folders that it made. A link is replaced, not followed: it may
/// have been put there to lead out of a folder. A device or a pipe is not replaced either, see [`AtomicFile::through`].
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    /// `None` when the bytes go straight into the target.
    temporary: Option<PathBuf>,
    writer: Option<BufWriter<File>>,
    write_back: Option<WriteBack>,
    /// Bytes since the last time that the system was asked to write back.
    waiting: usize,
}

/// Bytes that are collected before they are given to the system.
const BUFFER_BYTES: usize = 256 << 10;

/// Bytes after which the system is asked to bring to the disk what it was given.
const WRITE_BACK_BYTES: usize = 8 << 20;

/// Brings a large file to the disk while it is still being written, so that the commit need not wait for all of it.
#[derive(Debug)]
struct WriteBack {
    ask: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl WriteBack {
    fn start(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let (ask, asked) = sync_channel(1);
        let thread = thread::Builder::new().name("write-back".to_owned()).spawn(move || {
            while asked.recv().is_ok() {
                file.sync_data()?;
            }
            Ok(())
        })?;
        Ok(Self { ask, thread })
    }

    fn ask(&self) {
        // when it is still busy the next time will do
        let _ = self.ask.try_send(());
    }

    /// Waits for the end of it. The system reports a failure to write back only once: who asked first has to pass it
    /// on.
    fn finish(self) -> io::Result<()> {
        drop(self.ask);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes back has ended early")))
    }
}

/// The process that began a temporary file for a target, by the names of both; `None` for other files.
pub fn writer_of(temporary: &str, target: &str) -> Option<u32> {
    let middle = temporary.strip_prefix('.')?.strip_prefix(target)?.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (process, number) = middle.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(process) && is_number(number) { process.parse().ok() } else { None }
}

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Temporary files and folders that have not got their names yet.
struct Unfinished {
    paths: Vec<PathBuf>,
    /// Whether the process is about to end: then no file is begun and none gets its name.
    is_ending: bool,
}

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished { paths: Vec::new(), is_ending: false });

fn unfinished() -> MutexGuard<'static, Unfinished> {
    // nothing can be half-changed under this lock
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Unfinished {
    fn may_go_on(&self) -> io::Result<()> {
        if self.is_ending { Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")) } else { Ok(()) }
    }

    fn forget(&mut self, path: &Path) {
        self.paths.retain(|other| other != path);
    }
}

/// Removes what was not committed, for a process that is about to end without dropping its files. From now on no file
/// can be begun or committed.
pub fn discard_unfinished() {
    let mut unfinished = unfinished();
    unfinished.is_ending = true;
    for path in unfinished.paths.drain(..) {
        if fs::remove_file(&path).is_err() {
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl AtomicFile {
    /// Starts a file. Missing parent folders are created.
    ///
    /// # Errors
    /// When a folder or the temporary file cannot be created.
    pub fn create(target: &Path) -> io::Result<Self> {
        let name = target
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?
            .to_string_lossy()
            .into_owned();
        if target.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "the path is a directory"));
        }
        if fs::symlink_metadata(target).is_ok_and(|data| is_stream(&data)) {
            return Self::through(target);
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder)?;
        }
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = target.with_file_name(format!(".{name}.{}-{number}.tmp", process::id()));
        let mut unfinished = unfinished();
        unfinished.may_go_on()?;
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        unfinished.paths.push(temporary.clone());
        Ok(Self::new(target, Some(temporary), file))
    }

    /// Writes straight into a device or a pipe, links followed.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn through(target: &Path) -> io::Result<Self> {
        Ok(Self::new(target, None, File::options().write(true).open(target)?))
    }

    fn new(target: &Path, temporary: Option<PathBuf>, file: File) -> Self {
        let writer = Some(BufWriter::with_capacity(BUFFER_BYTES, file));
        Self { target: target.to_owned(), temporary, writer, write_back: None, waiting: 0 }
    }

    /// Gives the file the permissions of the one that it replaces.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        match (&self.writer, &self.temporary) {
            (Some(writer), Some(_)) => writer.get_ref().set_permissions(permissions),
            _ => Ok(()),
        }
    }

    /// Gives the file its name. Whatever had the name is replaced.
    ///
    /// # Errors
    /// When the bytes cannot be flushed or the file cannot be renamed; nothing is left behind then.
    pub fn commit(self) -> io::Result<()> {
        self.finish(|temporary, target| fs::rename(temporary, target))
    }

    /// Gives the file its name only if nothing has it yet, also when another process wants the same name at this
    /// moment.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the name is taken; otherwise as [`AtomicFile::commit`].
    pub fn commit_new(self) -> io::Result<()> {
        if self.temporary.is_none() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.finish(place_new)
    }

    /// Brings the bytes to the disk and has `place` give the file its name.
    fn finish(mut self, place: impl FnOnce(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let written_back = self.write_back.take().map_or(Ok(()), WriteBack::finish);
        let file = written_back.and_then(|()| writer.into_inner().map_err(io::IntoInnerError::into_error));
        let Some(temporary) = &self.temporary else {
            return file.map(drop);
        };
        let written = file.and_then(|file| file.sync_all());
        let mut unfinished = unfinished();
        let done = written.and_then(|()| unfinished.may_go_on()).and_then(|()| place(temporary, &self.target));
        if done.is_err() {
            // the first error is the one to report
            let _ = fs::remove_file(temporary);
        }
        unfinished.forget(temporary);
        done
    }
}

/// Gives a file another name that nothing has.
fn place_new(temporary: &Path, target: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, target) {
        // a second name that stays behind is harmless
        Ok(()) => drop(fs::remove_file(temporary)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // not every file system has links: there the name is taken first, and what is behind it replaced
        Err(_) => {
            File::options().write(true).create_new(true).open(target)?;
            fs::rename(temporary, target).inspect_err(|_| drop(fs::remove_file(target)))?;
        }
    }
    Ok(())
}

/// Whether something is no file, folder or link: a device, a pipe, a socket.
pub fn is_stream(data: &Metadata) -> bool {
    !data.is_file() && !data.is_dir() && !data.is_symlink()
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(writer) = &mut self.writer else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let written = writer.write(bytes)?;
        self.waiting += written;
        if self.waiting >= WRITE_BACK_BYTES && self.temporary.is_some() {
            self.waiting = 0;
            if self.write_back.is_none() {
                // without a thread for it the commit does all the work
                self.write_back = WriteBack::start(writer.get_ref()).ok();
            }
            self.write_back.as_ref().inspect(|write_back| write_back.ask());
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let (Some(_), Some(temporary)) = (self.writer.take(), &self.temporary) {
            // an abandoned file: there is nobody left to tell
            let _ = fs::remove_file(temporary);
            unfinished().forget(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("skill-lift-contract-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_file_appears_only_when_it_is_complete() {
        let folder = folder("atomic");
        let target = folder.join("deep/report.json");
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(file);
        assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 0);

        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"whole").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"whole");
        assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn links_are_replaced_and_devices_stay() {
        let folder = folder("links");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("elsewhere"), "old").unwrap();
        std::os::unix::fs::symlink("elsewhere", folder.join("link")).unwrap();
        let write = |path: &Path| {
            let mut file = AtomicFile::create(path).unwrap();
            file.write_all(b"new").unwrap();
            file.commit().unwrap();
        };
        write(&folder.join("link"));
        assert!(fs::symlink_metadata(folder.join("link")).unwrap().is_file());
        assert_eq!(fs::read(folder.join("elsewhere")).unwrap(), b"old");
        write(Path::new("/dev/null"));
        assert!(is_stream(&fs::symlink_metadata("/dev/null").unwrap()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn what_goes_wrong_while_writing_back_is_passed_on() {
        // a device cannot be synchronised
        let write_back = WriteBack::start(&File::open("/dev/null").unwrap()).unwrap();
        write_back.ask();
        assert!(write_back.finish().is_err());

        let folder = folder("write-back");
        let target = folder.join("large");
        let mut file = AtomicFile::create(&target).unwrap();
        let block = vec![b'x'; 1 << 20];
        for _ in 0..=2 * WRITE_BACK_BYTES / block.len() {
            file.write_all(&block).unwrap();
        }
        assert!(file.write_back.is_some());
        file.commit().unwrap();
        assert_eq!(fs::metadata(&target).unwrap().len(), (2 * WRITE_BACK_BYTES + block.len()) as u64);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_new_name_is_taken_only_once() {
        let folder = folder("new");
        let target = folder.join("run-001.json");
        let file = |text: &[u8]| {
            let mut file = AtomicFile::create(&target).unwrap();
            file.write_all(text).unwrap();
            file
        };
        let (first, second) = (file(b"first"), file(b"second"));
        first.commit_new().unwrap();
        assert_eq!(second.commit_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).unwrap(), b"first");
        // neither leaves its temporary file behind
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let device = AtomicFile::through(Path::new("/dev/null")).unwrap();
        assert_eq!(device.commit_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_temporary_file_names_its_process_and_takes_over_permissions() {
        use std::os::unix::fs::PermissionsExt;

        let folder = folder("temporary");
        let target = folder.join("a.json");
        let mut file = AtomicFile::create(&target).unwrap();
        let names: Vec<String> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(names.iter().map(|name| writer_of(name, "a.json")).collect::<Vec<_>>(), [Some(process::id())]);
        assert_eq!(writer_of(&names[0], "b.json"), None);
        for other in ["a.json", ".a.json.tmp", ".a.json.1.tmp", ".a.json.1-.tmp", ".a.json.x-1.tmp", ".a.json.1-2.tm"] {
            assert_eq!(writer_of(other, "a.json"), None, "{other}");
        }
        file.write_all(b"{}").unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o640)).unwrap();
        file.commit().unwrap();
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_directory_is_not_overwritten() {
        let folder = folder("directory");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(AtomicFile::create(&folder).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        fs::remove_dir_all(folder).unwrap();
    }
}
