//! Folders that a reader never sees half of.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::Ordering;

use super::{COUNTER, unfinished};

/// A folder that takes its name only when everything is in it.
///
/// It is filled under a temporary name beside its place. Dropped without a commit, it leaves nothing behind but folders
/// above it that it made.
#[derive(Debug)]
pub struct AtomicFolder {
    target: PathBuf,
    temporary: PathBuf,
    is_committed: bool,
}

impl AtomicFolder {
    /// Starts a folder. Missing parent folders are created.
    ///
    /// # Errors
    /// When a folder cannot be created.
    pub fn create(target: &Path) -> io::Result<Self> {
        if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent)?;
        }
        let temporary = beside(target)?;
        let mut unfinished = unfinished();
        unfinished.may_go_on()?;
        fs::create_dir(&temporary)?;
        unfinished.paths.push(temporary.clone());
        Ok(Self { target: target.to_owned(), temporary, is_committed: false })
    }

    /// Where it is filled.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Writes a file in it, with the folders on the way.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let place = self.temporary.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(place, bytes)
    }

    /// Gives the folder its name if nothing has it yet, or an empty folder.
    ///
    /// # Errors
    /// When something else has the name, or the system says no; nothing is left behind then.
    pub fn commit_new(mut self) -> io::Result<()> {
        let mut unfinished = unfinished();
        unfinished.may_go_on()?;
        fs::rename(&self.temporary, &self.target)?;
        unfinished.forget(&self.temporary);
        self.is_committed = true;
        Ok(())
    }

    /// Gives the folder its name; the folder that had it is removed.
    ///
    /// # Errors
    /// When the system says no; the folder that had the name keeps it then.
    pub fn commit_over(mut self) -> io::Result<()> {
        let aside = beside(&self.target)?;
        {
            let mut unfinished = unfinished();
            unfinished.may_go_on()?;
            fs::rename(&self.target, &aside)?;
            if let Err(error) = fs::rename(&self.temporary, &self.target) {
                // the first error is the one to report
                let _ = fs::rename(&aside, &self.target);
                return Err(error);
            }
            unfinished.forget(&self.temporary);
            self.is_committed = true;
        }
        fs::remove_dir_all(aside)
    }
}

impl Drop for AtomicFolder {
    fn drop(&mut self) {
        if !self.is_committed {
            // an abandoned folder: there is nobody left to tell
            let _ = fs::remove_dir_all(&self.temporary);
            unfinished().forget(&self.temporary);
        }
    }
}

/// A name in the folder of a path that nothing has.
fn beside(target: &Path) -> io::Result<PathBuf> {
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no folder"))?
        .to_string_lossy()
        .into_owned();
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    Ok(target.with_file_name(format!(".{name}.{}-{number}.tmp", process::id())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_appears_only_when_it_is_complete() {
        let place = std::env::temp_dir().join(format!("skill-lift-contract-folder-{}", process::id()));
        let _ = fs::remove_dir_all(&place);
        let target = place.join("deep/iteration-1");
        let folder = AtomicFolder::create(&target).unwrap();
        folder.write("eval-0/a.json", b"half").unwrap();
        assert!(!target.exists());
        drop(folder);
        assert_eq!(names(target.parent().unwrap()), Vec::<String>::new());

        let fill = |text: &[u8]| {
            let folder = AtomicFolder::create(&target).unwrap();
            folder.write("eval-0/a.json", text).unwrap();
            folder
        };
        // an empty folder is as good as none
        fs::create_dir(&target).unwrap();
        fill(b"first").commit_new().unwrap();
        assert_eq!(fs::read(target.join("eval-0/a.json")).unwrap(), b"first");
        assert!(fill(b"second").commit_new().is_err());
        assert_eq!(fs::read(target.join("eval-0/a.json")).unwrap(), b"first");
        fs::write(target.join("old"), "").unwrap();
        fill(b"third").commit_over().unwrap();
        assert_eq!(fs::read(target.join("eval-0/a.json")).unwrap(), b"third");
        assert_eq!(names(&target), ["eval-0"]);
        assert_eq!(names(target.parent().unwrap()), ["iteration-1"]);
        fs::remove_dir_all(place).unwrap();
    }
}
