//! Files that a suite refers to: safe relative paths, existence, and where links lead.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A relative path that cannot leave its folder, normalised: `./a//b` becomes `a/b`.
///
/// `None` when it is empty, absolute, `.`, has a `..` component or a NUL character.
pub(super) fn safe_relative(path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() || parts.contains(&"..") { None } else { Some(parts.join("/")) }
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Missing,
    /// A regular file of so many bytes; the real path.
    File(PathBuf, u64),
    /// A folder or a device; the real path.
    Other(PathBuf),
}

impl Found {
    /// The real path, if something is there.
    pub(super) fn real_path(&self) -> Option<&Path> {
        match self {
            Self::Missing => None,
            Self::File(path, _) | Self::Other(path) => Some(path),
        }
    }
}

/// Looks up paths relative to the folder of a suite, each of them once.
pub(super) struct FileLookup {
    directory: PathBuf,
    known: RefCell<HashMap<String, Rc<Found>>>,
}

impl FileLookup {
    /// For a folder, given by its real path.
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, known: RefCell::default() }
    }

    /// The folder.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// What stands at a path relative to the folder, links followed.
    pub(super) fn find(&self, path: &str) -> Rc<Found> {
        if let Some(found) = self.known.borrow().get(path) {
            return Rc::clone(found);
        }
        let found = Rc::new(look(&self.directory.join(path)));
        self.known.borrow_mut().insert(path.to_owned(), Rc::clone(&found));
        found
    }

    /// Whether a real path lies in the folder.
    pub(super) fn contains(&self, real_path: &Path) -> bool {
        real_path.starts_with(&self.directory)
    }
}

fn look(path: &Path) -> Found {
    let Ok(real_path) = path.canonicalize() else { return Found::Missing };
    match real_path.metadata() {
        Ok(metadata) if metadata.is_file() => Found::File(real_path, metadata.len()),
        Ok(_) => Found::Other(real_path),
        Err(_) => Found::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safe_paths_are_normalised_and_others_refused() {
        assert_eq!(safe_relative("./a//b/."), Some("a/b".to_owned()));
        assert_eq!(safe_relative("a/..b"), Some("a/..b".to_owned()));
        for path in ["", ".", "./", "/a", "a/../b", "..", "a\0b"] {
            assert_eq!(safe_relative(path), None, "{path:?}");
        }
    }
}
