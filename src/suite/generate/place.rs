//! What a set calls the folder of its skill.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The path of a folder from the folder that a file stands or will stand in, like `../my-skill`.
///
/// Links are resolved, so that `..` leads where it seems to. The folder of the file is made if it is missing.
///
/// # Errors
/// When the folder of the file cannot be made, or one of the paths cannot be resolved.
pub fn path_from_file(file: &Path, folder: &Path) -> io::Result<PathBuf> {
    let place = match file.canonicalize() {
        Ok(place) => place.parent().unwrap_or(Path::new("/")).to_owned(),
        Err(_) => {
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            fs::create_dir_all(parent)?;
            parent.canonicalize()?
        }
    };
    Ok(between(&place, &folder.canonicalize()?))
}

/// The path from one real folder to another.
fn between(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to.components().skip(shared)).collect();
    match path.components().next() {
        None => PathBuf::from("."),
        Some(Component::ParentDir) => path,
        Some(_) => Path::new(".").join(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_between_folders() {
        for (from, to, path) in [
            ("/a/evals", "/a/skills/alpha", "../skills/alpha"),
            ("/a", "/a/alpha", "./alpha"),
            ("/a/alpha", "/a/alpha", "."),
            ("/a/alpha/evals", "/a/alpha", ".."),
            ("/b/c", "/a", "../../a"),
        ] {
            assert_eq!(between(Path::new(from), Path::new(to)).to_str(), Some(path), "{from} {to}");
        }
    }
}
