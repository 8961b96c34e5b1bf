//! How large a skill is: words, bytes and headings of its `SKILL.md`, words and bytes of its references.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use skill_lift_text::python;

use super::headings::headings;
use super::package::FILE;
use super::within::{Unread, read_within};

/// Headings that are listed of one file; all of them are counted.
const LISTED_MODULES: usize = 8;
/// Reference files that are read.
const MAX_REFERENCES: usize = 10_000;
/// Folder of the references in the folder of a skill.
const REFERENCES: &str = "references";

/// What is read of a skill, and from which sizes on a finding is made.
#[derive(Debug, Clone, Copy)]
pub struct ProfileLimits {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Entries of one folder of references.
    pub directory_entries: usize,
    /// Words of all `SKILL.md` files together.
    pub skill_tokens: u64,
    /// Words of all references together.
    pub reference_tokens: u64,
    /// Number of references.
    pub references: usize,
    /// Number of headings.
    pub modules: usize,
}

impl Default for ProfileLimits {
    fn default() -> Self {
        Self {
            file_bytes: 16 << 20,
            directory_entries: 100_000,
            skill_tokens: 3_000,
            reference_tokens: 5_000,
            references: 8,
            modules: 10,
        }
    }
}

/// How large a skill is. A token is a word here: a run of characters that are no white space.
#[derive(Debug, Default)]
pub struct SkillProfile {
    /// The files that were read.
    pub files: Vec<ProfiledFile>,
    /// The references that were read, in the order of their path components, a skill after the other.
    pub references: Vec<ProfiledReference>,
    /// What is odd or large.
    pub findings: Vec<ProfileFinding>,
    /// Words of all `SKILL.md` files; `None` when one of them was not read, or none is declared.
    pub skill_tokens: Option<u64>,
    /// Words of all references; `None` when one of them, or a `SKILL.md`, was not read.
    pub reference_tokens: Option<u64>,
}

/// A `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfiledFile {
    /// Its path, as the suite names it.
    pub path: String,
    /// Words.
    pub tokens: u64,
    /// Bytes.
    pub bytes: u64,
    /// The first of its headings.
    pub modules: Vec<String>,
    /// Number of all of them.
    pub module_count: usize,
}

/// A file below `references`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfiledReference {
    /// Its path.
    pub path: String,
    /// Words.
    pub tokens: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What kind of finding it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// A path of the skill leads nowhere.
    MissingSkillFile,
    /// A `SKILL.md` could not be read.
    UnreadableSkillFile,
    /// A reference could not be read.
    UnreadableReference,
    /// `SKILL.md` is larger than most agents read with attention.
    SkillTooLarge,
    /// Many reference files.
    ManyReferences,
    /// References of many words.
    ReferencesTooLarge,
    /// Many headings.
    ManyModules,
}

impl FindingKind {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingSkillFile => "missing-skill-file",
            Self::UnreadableSkillFile => "unreadable-skill-file",
            Self::UnreadableReference => "unreadable-reference",
            Self::SkillTooLarge => "skill-too-large",
            Self::ManyReferences => "many-references",
            Self::ReferencesTooLarge => "references-too-large",
            Self::ManyModules => "many-modules",
        }
    }

    /// Whether it has to be repaired.
    pub fn severity(self) -> &'static str {
        match self {
            Self::MissingSkillFile | Self::UnreadableSkillFile | Self::UnreadableReference => "required",
            Self::SkillTooLarge | Self::ManyReferences | Self::ReferencesTooLarge | Self::ManyModules => "recommended",
        }
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileFinding {
    /// What kind it is.
    pub kind: FindingKind,
    /// What was seen and what to do.
    pub message: String,
}

impl SkillProfile {
    /// Number of headings that are listed.
    pub fn listed_modules(&self) -> usize {
        self.files.iter().map(|file| file.modules.len()).sum()
    }

    /// Number of all headings.
    pub fn module_count(&self) -> usize {
        self.files.iter().map(|file| file.module_count).sum()
    }

    /// Of the files and folders that a suite names; `root` is the real path of the folder that they are relative to and
    /// must lie in. A folder stands for the `SKILL.md` in it.
    pub fn read(root: &Path, paths: &[String], limits: &ProfileLimits) -> Self {
        let mut reading = Reading { root, limits, profile: Self::default(), skills_read: true, references_read: true };
        paths.iter().filter(|path| !path.is_empty()).for_each(|path| reading.skill(path));
        let Reading { mut profile, skills_read, references_read, .. } = reading;
        let known_skill: u64 = profile.files.iter().map(|file| file.tokens).sum();
        let known_references: u64 = profile.references.iter().map(|file| file.tokens).sum();
        let is_known = skills_read && !profile.files.is_empty();
        profile.skill_tokens = is_known.then_some(known_skill);
        profile.reference_tokens = (is_known && references_read).then_some(known_references);
        profile.judge(known_skill, known_references, limits);
        profile
    }

    fn judge(&mut self, skill_tokens: u64, reference_tokens: u64, limits: &ProfileLimits) {
        let (references, modules) = (self.references.len(), self.module_count());
        let mut find = |is_large: bool, kind: FindingKind, message: String| {
            if is_large {
                self.findings.push(ProfileFinding { kind, message });
            }
        };
        find(
            skill_tokens > limits.skill_tokens,
            FindingKind::SkillTooLarge,
            format!(
                "SKILL.md has {skill_tokens} words, more than {}: move what is rarely needed into references that are read \
                 on demand",
                limits.skill_tokens
            ),
        );
        find(
            references > limits.references,
            FindingKind::ManyReferences,
            format!(
                "{references} reference files, more than {}: say in SKILL.md when to read which",
                limits.references
            ),
        );
        find(
            reference_tokens > limits.reference_tokens,
            FindingKind::ReferencesTooLarge,
            format!(
                "the references have {reference_tokens} words, more than {}: cut them, or split them by the occasion",
                limits.reference_tokens
            ),
        );
        find(
            modules > limits.modules,
            FindingKind::ManyModules,
            format!(
                "{modules} headings, more than {}: a skill of two or three parts is easier to follow",
                limits.modules
            ),
        );
    }
}

struct Reading<'a> {
    root: &'a Path,
    limits: &'a ProfileLimits,
    profile: SkillProfile,
    skills_read: bool,
    references_read: bool,
}

impl Reading<'_> {
    fn find(&mut self, kind: FindingKind, message: String) {
        self.profile.findings.push(ProfileFinding { kind, message });
    }

    fn skill(&mut self, named: &str) {
        let mut place = self.root.join(named);
        let mut shown = plain(named);
        if place.is_dir() {
            place.push(FILE);
            shown.push(FILE);
        }
        let shown = shown.display().to_string();
        let bytes = match read_within(self.root, &place, self.limits.file_bytes) {
            Ok(bytes) => bytes,
            Err(problem) => {
                self.skills_read = false;
                let (kind, message) = match problem {
                    Unread::Missing => (FindingKind::MissingSkillFile, format!("there is no {shown}")),
                    other => (FindingKind::UnreadableSkillFile, format!("{shown} {}", self.why(&other))),
                };
                self.find(kind, message);
                return;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut modules: Vec<String> = headings(&text).collect();
        let module_count = modules.len();
        modules.truncate(LISTED_MODULES);
        let tokens = words(&text);
        self.profile.files.push(ProfiledFile {
            path: shown.clone(),
            tokens,
            bytes: bytes.len() as u64,
            modules,
            module_count,
        });
        let folder = place.canonicalize().ok().and_then(|place| place.parent().map(Path::to_owned));
        if let Some(folder) = folder {
            let shown_folder = Path::new(&shown).parent().map(Path::to_owned).unwrap_or_default();
            self.references(&folder, &shown_folder);
        }
    }

    /// The words for why a file was not read.
    fn why(&self, problem: &Unread) -> String {
        match problem {
            Unread::Missing => "leads nowhere".to_owned(),
            Unread::Outside => "leads out of its folder; it is not read".to_owned(),
            Unread::NotAFile => "is not a file".to_owned(),
            Unread::TooLarge => format!("is larger than {} bytes (--max-skill-mib)", self.limits.file_bytes),
            Unread::Io(error) => format!("cannot be read: {error}"),
        }
    }

    /// The files below `references` of the folder of a skill. Links to folders are not followed, links to files only
    /// inside of the folder of the skill.
    fn references(&mut self, skill: &Path, shown_skill: &Path) {
        let mut files = Vec::new();
        let mut waiting = vec![PathBuf::from(REFERENCES)];
        while let Some(folder) = waiting.pop() {
            let place = skill.join(&folder);
            // a link in the place of the folder itself is none of the skill's folders either
            if !fs::symlink_metadata(&place).is_ok_and(|data| data.is_dir()) {
                continue;
            }
            match list(&place, &folder, self.limits.directory_entries) {
                Ok(found) => {
                    files.extend(found.files);
                    waiting.extend(found.folders);
                }
                Err(message) => {
                    let shown = shown_skill.join(&folder).display().to_string();
                    self.references_read = false;
                    self.find(FindingKind::UnreadableReference, format!("{shown} {message}"));
                }
            }
            // which ones came first is no matter of chance when none is read
            if files.len() > MAX_REFERENCES {
                let shown = shown_skill.join(REFERENCES).display().to_string();
                self.references_read = false;
                let message = format!("{shown} has more than {MAX_REFERENCES} files; none is read");
                self.find(FindingKind::UnreadableReference, message);
                return;
            }
        }
        files.sort_unstable();
        for file in files {
            let shown = shown_skill.join(&file).display().to_string();
            match read_within(skill, &skill.join(&file), self.limits.file_bytes) {
                Ok(bytes) => {
                    let tokens = words(&String::from_utf8_lossy(&bytes));
                    let bytes = bytes.len() as u64;
                    self.profile.references.push(ProfiledReference { path: shown, tokens, bytes });
                }
                Err(problem) => {
                    self.references_read = false;
                    let message = format!("{shown} {}", self.why(&problem));
                    self.find(FindingKind::UnreadableReference, message);
                }
            }
        }
    }
}

#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

/// The files and folders of a folder, all of them or none.
fn list(place: &Path, folder: &Path, limit: usize) -> Result<Found, String> {
    let unlisted = |error: io::Error| format!("cannot be listed: {error}");
    let mut found = Found::default();
    for (count, entry) in fs::read_dir(place).map_err(unlisted)?.enumerate() {
        if count >= limit {
            return Err(format!("has more than {limit} entries (--max-dir-entries); none is read"));
        }
        let entry = entry.map_err(unlisted)?;
        let kind = entry.file_type().map_err(unlisted)?;
        let path = folder.join(entry.file_name());
        if kind.is_dir() {
            found.folders.push(path);
        } else if kind.is_file() || (kind.is_symlink() && !entry.path().is_dir()) {
            found.files.push(path);
        }
    }
    Ok(found)
}

/// A path without `.` components and doubled slashes.
fn plain(path: &str) -> PathBuf {
    Path::new(path).components().filter(|component| *component != Component::CurDir).collect()
}

/// Maximal runs of characters that are no white space.
fn words(text: &str) -> u64 {
    text.split(python::is_space).filter(|word| !word.is_empty()).count() as u64
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// A folder that is gone with this, and its real path.
    struct Repository(#[expect(dead_code, reason = "it holds the folder")] TempDir, PathBuf);

    impl Repository {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for (path, text) in files {
                fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
                fs::write(root.join(path), text).unwrap();
            }
            Self(folder, root)
        }

        fn profile(&self, paths: &[&str]) -> SkillProfile {
            let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
            let limits = ProfileLimits { file_bytes: 100, directory_entries: 4, ..ProfileLimits::default() };
            SkillProfile::read(&self.1, &paths, &limits)
        }
    }

    fn kinds(profile: &SkillProfile) -> Vec<&'static str> {
        profile.findings.iter().map(|finding| finding.kind.code()).collect()
    }

    #[test]
    fn words_and_headings_are_counted() {
        let repository = Repository::new(&[
            ("s/SKILL.md", "# T\n\n## A b\n\u{a0}word\u{1f}word \u{200b}\n"),
            ("s/references/b.md", "one two"),
            ("s/references/a/x.txt", "three"),
            ("s/references/a-b.md", "f\u{fffd}ur \n"),
        ]);
        let profile = repository.profile(&["./s//"]);
        // `#`, `T`, `##`, `A`, `b`, two times `word`, and a space of no width, which is no white space
        assert_eq!((profile.skill_tokens, profile.reference_tokens), (Some(8), Some(4)));
        let file = &profile.files[0];
        assert_eq!((file.path.as_str(), file.bytes, &*file.modules), ("s/SKILL.md", 28, &["A b".to_owned()][..]));
        let paths: Vec<&str> = profile.references.iter().map(|reference| reference.path.as_str()).collect();
        assert_eq!(paths, ["s/references/a/x.txt", "s/references/a-b.md", "s/references/b.md"]);
        assert_eq!(kinds(&profile), [""; 0]);
        assert_eq!(repository.profile(&["s/SKILL.md"]).skill_tokens, Some(8));
    }

    #[test]
    fn what_was_not_read_is_no_zero() {
        let repository = Repository::new(&[("s/SKILL.md", "a"), ("s/references/x.md", "b"), ("outside.md", "c d")]);
        let profile = repository.profile(&["s", "gone/SKILL.md", ""]);
        assert_eq!((profile.skill_tokens, profile.reference_tokens, profile.files.len()), (None, None, 1));
        assert_eq!(kinds(&profile), ["missing-skill-file"]);
        assert_eq!(repository.profile(&[]).skill_tokens, None);
        // a folder without references has none
        assert_eq!(Repository::new(&[("s/SKILL.md", "a")]).profile(&["s"]).reference_tokens, Some(0));

        symlink("../../outside.md", repository.1.join("s/references/out.md")).unwrap();
        symlink("x.md", repository.1.join("s/references/in.md")).unwrap();
        symlink("..", repository.1.join("s/references/round")).unwrap();
        let profile = repository.profile(&["s"]);
        assert_eq!((profile.skill_tokens, profile.reference_tokens), (Some(1), None));
        assert_eq!(profile.references.len(), 2);
        assert_eq!(profile.findings[0].message, "s/references/out.md leads out of its folder; it is not read");
        assert_eq!(kinds(&profile), ["unreadable-reference"]);

        let other = Repository::new(&[("s/SKILL.md", "x")]);
        fs::write(other.1.join("s/SKILL.md"), "x".repeat(101)).unwrap();
        assert_eq!(kinds(&other.profile(&["s"])), ["unreadable-skill-file"]);
        let up = Path::new("..").join(other.1.file_name().unwrap()).join("s");
        assert_eq!(kinds(&repository.profile(&[up.to_str().unwrap()])), ["unreadable-skill-file"]);
    }

    #[test]
    fn folders_with_too_many_entries_are_named() {
        let repository = Repository::new(&[("s/SKILL.md", "a")]);
        fs::create_dir(repository.1.join("s/references")).unwrap();
        (0..5).for_each(|n| fs::write(repository.1.join(format!("s/references/{n}.md")), "x").unwrap());
        let profile = repository.profile(&["s"]);
        assert_eq!((kinds(&profile), profile.reference_tokens), (vec!["unreadable-reference"], None));
        assert_eq!(profile.references, []);
    }

    #[test]
    fn findings_begin_above_their_limits() {
        let headings: String = (0..11).map(|n| format!("## h{n}\n")).collect();
        let repository = Repository::new(&[("s/SKILL.md", &headings), ("s/references/a.md", "a b")]);
        let limits = ProfileLimits {
            skill_tokens: 21,
            reference_tokens: 1,
            references: 0,
            modules: 11,
            ..ProfileLimits::default()
        };
        let profile = SkillProfile::read(&repository.1, &["s".to_owned()], &limits);
        assert_eq!(kinds(&profile), ["skill-too-large", "many-references", "references-too-large"]);
        assert_eq!((profile.listed_modules(), profile.module_count()), (8, 11));
        assert_eq!(profile.findings[0].message.split(':').next(), Some("SKILL.md has 22 words, more than 21"));
        let limits = ProfileLimits { modules: 10, ..ProfileLimits::default() };
        assert_eq!(kinds(&SkillProfile::read(&repository.1, &["s".to_owned()], &limits)), ["many-modules"]);
    }
}
