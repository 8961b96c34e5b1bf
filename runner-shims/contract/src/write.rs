//! Writing files so that a reader never sees half of one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that takes its name only when it is complete.
///
/// The bytes go to a temporary file in the same folder; [`AtomicFile::commit`] flushes it to the disk and renames it.
/// Dropped without a commit, it leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    temporary: PathBuf,
    writer: Option<BufWriter<File>>,
}

static COUNTER: AtomicU32 = AtomicU32::new(0);

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
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder)?;
        }
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = target.with_file_name(format!(".{name}.{}-{number}.tmp", process::id()));
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        Ok(Self { target: target.to_owned(), temporary, writer: Some(BufWriter::new(file)) })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When the bytes cannot be flushed or the file cannot be renamed; nothing is left behind then.
    pub fn commit(mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let done = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.target));
        if done.is_err() {
            // the first error is the one to report
            let _ = fs::remove_file(&self.temporary);
        }
        done
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Err(io::ErrorKind::BrokenPipe.into()), |writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            // an abandoned file: there is nobody left to tell
            let _ = fs::remove_file(&self.temporary);
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
    fn a_directory_is_not_overwritten() {
        let folder = folder("directory");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(AtomicFile::create(&folder).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        fs::remove_dir_all(folder).unwrap();
    }
}
