//! The folder of a skill and its `SKILL.md`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::front_matter::{self, FrontMatterProblem};
use super::within::{Unread, read_within};

/// The name of the file, with exactly these capitals.
pub(super) const FILE: &str = "SKILL.md";

/// So many entries of a folder are looked at.
const MAX_ENTRIES: usize = 100_000;

/// A skill that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPackage {
    /// The real path of its folder.
    pub directory: PathBuf,
    /// The name that the front matter gives; else the name of the folder.
    pub name: String,
    /// The description of the front matter, without white space around it; empty when there is none.
    pub description: String,
    /// The Markdown after the front matter.
    pub body: String,
}

/// Why a skill cannot be read. Paths are those that the user typed.
#[derive(Debug, Error)]
pub enum SkillError {
    /// The folder is missing, no folder, or cannot be listed.
    #[error("{0}")]
    Folder(String),
    /// `SKILL.md` is missing, no file, outside of the folder, too large, or cannot be read.
    #[error("{0}")]
    File(String),
    /// The front matter is missing or broken.
    #[error("{file}:{}: {problem}", problem.line)]
    FrontMatter {
        /// The file as the user knows it.
        file: String,
        /// What is wrong.
        problem: FrontMatterProblem,
    },
}

/// Reads the skill in a folder; a `SKILL.md` of more than `max_bytes` is refused.
///
/// # Errors
/// When there is no readable `SKILL.md` in the folder, or when its front matter is missing or broken.
pub fn read_skill(folder: &Path, max_bytes: u64) -> Result<SkillPackage, SkillError> {
    let directory = real_folder(folder)?;
    let shown = folder.join(FILE).display().to_string();
    if !has_file(folder, &directory)? {
        return Err(SkillError::File(format!("no {FILE} in {}", folder.display())));
    }
    let text = read_text(&directory, &shown, max_bytes)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let (front, body) =
        front_matter::split(text).map_err(|problem| SkillError::FrontMatter { file: shown, problem })?;
    let given = |value: Option<String>| value.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let name = given(front.name).or_else(|| Some(directory.file_name()?.to_string_lossy().into_owned()));
    Ok(SkillPackage {
        name: name.unwrap_or_else(|| "skill".to_owned()),
        description: given(front.description).unwrap_or_default(),
        body: body.to_owned(),
        directory,
    })
}

fn real_folder(folder: &Path) -> Result<PathBuf, SkillError> {
    let shown = folder.display();
    let directory = folder.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            SkillError::Folder(format!("no such folder: {shown}"))
        }
        _ => SkillError::Folder(format!("cannot open {shown}: {error}")),
    })?;
    if directory.is_dir() {
        return Ok(directory);
    }
    Err(SkillError::Folder(format!("{shown} is a file; name the folder of the skill, which holds its {FILE}")))
}

/// Whether the file is there by exactly its name: a file system that takes `skill.md` for it is not every reader's.
fn has_file(folder: &Path, directory: &Path) -> Result<bool, SkillError> {
    let unlisted = |error: io::Error| SkillError::Folder(format!("cannot list {}: {error}", folder.display()));
    let mut other = None;
    for entry in fs::read_dir(directory).map_err(unlisted)?.take(MAX_ENTRIES) {
        let name = entry.map_err(unlisted)?.file_name();
        if name == FILE {
            return Ok(true);
        }
        if name.eq_ignore_ascii_case(FILE) {
            // the same one whatever order the folder is listed in
            other = other.max(Some(name));
        }
    }
    other.map_or(Ok(false), |name| {
        let path = folder.join(name);
        Err(SkillError::File(format!("{} is not found by every agent; rename it to {FILE}", path.display())))
    })
}

fn read_text(directory: &Path, shown: &str, max_bytes: u64) -> Result<String, SkillError> {
    let bytes = read_within(directory, &directory.join(FILE), max_bytes).map_err(|problem| {
        SkillError::File(match problem {
            Unread::Outside => format!("{shown} is a link out of the folder of the skill; put the file there"),
            Unread::NotAFile => format!("{shown} is not a file"),
            Unread::TooLarge => format!("{shown} is larger than {max_bytes} bytes; raise --max-skill-mib to read it"),
            Unread::Missing => format!("cannot read {shown}: it leads nowhere"),
            Unread::Io(error) => format!("cannot read {shown}: {error}"),
        })
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
        SkillError::File(format!("{shown}:{line}: not valid UTF-8; save the file as UTF-8"))
    })
}
