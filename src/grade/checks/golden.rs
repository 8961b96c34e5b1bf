//! `golden_output`: the answer equals a reference file of the suite.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use skill_lift_text::difflib::{Sides, unified_diff};
use skill_lift_text::python;
use skill_lift_text::view::Comparison;

use super::{Evidence, Finding};
use crate::grade::outcome::{ErrorReason, Outcome};
use crate::runs::limits::describe_bytes;
use crate::runs::{FileProblem, WarningCode};
use crate::suite::check::Normalize;

/// Equal lines around a change.
const CONTEXT: usize = 2;
/// Lines of a diff that the evidence shows.
const SHOWN_LINES: usize = 60;
/// Comparisons that a diff may take. The verdict does not depend on it.
const DIFF_STEPS: u32 = 200_000_000;

pub(super) fn golden_output(
    reference: &str,
    artifact: Option<&str>,
    normalize: Normalize,
    evidence: &mut Evidence<'_, '_>,
) -> Finding {
    let too_large = |problem: String| {
        let outcome = Outcome::Error(ErrorReason::ArtifactTooLarge);
        Finding::unresolved(outcome, format!("golden check unavailable: {problem}"))
    };
    let options = evidence.options;
    let expected = options.references.get(&evidence.suite.directory, reference, options.artifact_bytes);
    let expected = match &*expected {
        Ok(text) => text,
        Err(ReferenceProblem::Missing) => {
            return Finding::decided(false, format!("missing reference file: {reference}"));
        }
        Err(ReferenceProblem::Unusable(why)) => {
            return Finding::decided(false, format!("missing reference file: {reference} ({why})"));
        }
        Err(ReferenceProblem::TooLarge(why)) => return too_large(why.clone()),
    };
    let (actual, label) = match artifact {
        None => {
            let path = evidence.output_path;
            let name = path.rsplit('/').next().unwrap_or(path);
            (Cow::Borrowed(evidence.answer.text(Comparison::Exact)), name)
        }
        Some(path) => match artifact_text(path, evidence) {
            Ok(text) => (Cow::Owned(text), path),
            Err(problem @ FileProblem::TooLarge { .. }) => return too_large(problem.to_string()),
            Err(problem) => return Finding::decided(false, missing("artifact", path, &problem)),
        },
    };
    compare(Compared { expected, reference, actual: &actual, label }, normalize)
}

/// Text of a file of the run, decoded like the answer.
pub(super) fn artifact_text(path: &str, evidence: &mut Evidence<'_, '_>) -> Result<String, FileProblem> {
    let bytes = evidence.directory.read(path, evidence.options.artifact_bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Cow::Owned(_) = text {
        let message = "bytes that are not UTF-8 are read as U+FFFD".to_owned();
        evidence.directory.warn(WarningCode::DecodeLossy, path, message);
    }
    Ok(python::universal_newlines(&text).into_owned())
}

/// Evidence for a file of the run that cannot be used; the reason only when it is not that there is none.
pub(super) fn missing(what: &str, path: &str, problem: &FileProblem) -> String {
    match problem {
        FileProblem::Missing(_) => format!("missing {what}: {path}"),
        problem => format!("missing {what}: {path} ({problem})"),
    }
}

/// Why a reference file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ReferenceProblem {
    Missing,
    Unusable(String),
    TooLarge(String),
}

/// Reference files that were read: the runs of a case are compared with the same ones.
#[derive(Debug, Default)]
pub struct References(Mutex<KnownReferences>);

#[derive(Debug, Default)]
struct KnownReferences {
    texts: HashMap<(PathBuf, String), Arc<Reference>>,
    bytes: usize,
}

type Reference = Result<String, ReferenceProblem>;

impl References {
    /// Bytes that are kept; when there would be more, those that were read before are forgotten.
    const KEPT_BYTES: usize = 16 << 20;

    fn get(&self, directory: &Path, reference: &str, limit: u64) -> Arc<Reference> {
        let key = (directory.to_owned(), reference.to_owned());
        // what another thread was doing when it panicked is no reason to read files again
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known().texts.get(&key) {
            return Arc::clone(text);
        }
        let read = Arc::new(read_reference(directory, reference, limit));
        let length = read.as_ref().as_ref().map_or(0, String::len);
        if length <= Self::KEPT_BYTES {
            let mut known = known();
            if known.bytes + length > Self::KEPT_BYTES {
                *known = KnownReferences::default();
            }
            known.bytes += length;
            known.texts.insert(key, Arc::clone(&read));
        }
        read
    }
}

/// Text of a file below the folder of the suite, links resolved; they must not lead out of it.
fn read_reference(directory: &Path, reference: &str, limit: u64) -> Result<String, ReferenceProblem> {
    let unusable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReferenceProblem::Missing,
        kind => ReferenceProblem::Unusable(kind.to_string()),
    };
    let place = directory.join(reference).canonicalize().map_err(unusable)?;
    if !place.starts_with(directory) {
        return Err(ReferenceProblem::Unusable("it leads out of the folder of the suite".to_owned()));
    }
    // links were resolved above; a pipe must not block the reading
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(&place, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(error) => return Err(unusable(error.into())),
    };
    let metadata = file.metadata().map_err(unusable)?;
    if !metadata.is_file() {
        return Err(ReferenceProblem::Unusable("not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unusable)?;
    if bytes.len() as u64 > limit {
        let why = format!("{reference} is larger than {}", describe_bytes(limit));
        return Err(ReferenceProblem::TooLarge(why));
    }
    Ok(python::universal_newlines(&String::from_utf8_lossy(&bytes)).into_owned())
}

/// The two texts and what they are called.
#[derive(Clone, Copy)]
struct Compared<'a> {
    expected: &'a str,
    reference: &'a str,
    actual: &'a str,
    label: &'a str,
}

fn compare(texts: Compared<'_>, normalize: Normalize) -> Finding {
    let Compared { expected, reference, actual, label } = texts;
    let (equal, word) = match normalize {
        Normalize::Exact => (actual == expected, "exact"),
        Normalize::Trim => (python::strip(actual) == python::strip(expected), "trim"),
        Normalize::Text => (words(actual).eq(words(expected)), "text"),
    };
    if equal {
        return Finding::decided(true, format!("{label} matches reference {reference} (normalize={word})"));
    }
    Finding::decided(false, format!("differs from reference {reference} (normalize={word})\n{}", difference(texts)))
}

/// The parts between white space, as `str.split()` gives them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(python::is_space).filter(|word| !word.is_empty())
}

/// A diff of the texts as they are, whatever was normalised for the verdict.
fn difference(texts: Compared<'_>) -> String {
    let old: Vec<&str> = python::split_lines(texts.expected).collect();
    let new: Vec<&str> = python::split_lines(texts.actual).collect();
    let old_name = format!("reference/{}", texts.reference);
    let sides = Sides { old_name: &old_name, old: &old, new_name: texts.label, new: &new };
    let Some(diff) = unified_diff(sides, CONTEXT, SHOWN_LINES, DIFF_STEPS) else {
        return "(no diff: the texts are too long to be compared line by line)".to_owned();
    };
    if diff.total == 0 {
        return "(texts differ only in trailing newline or line-break characters)".to_owned();
    }
    let mut shown = diff.shown.join("\n");
    let hidden = diff.total - diff.shown.len();
    if hidden > 0 {
        shown.push_str(&format!("\n... ({hidden} more diff lines)"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn found(expected: &str, actual: &str, normalize: Normalize) -> (&'static str, String) {
        let finding = compare(Compared { expected, reference: "golden/a.txt", actual, label: "output.md" }, normalize);
        (finding.outcome.word(), finding.evidence)
    }

    #[test]
    fn white_space_counts_as_much_as_the_mode_says() {
        let text = "line one\nline two\n";
        assert_eq!(
            found(text, text, Normalize::Exact),
            ("pass", "output.md matches reference golden/a.txt (normalize=exact)".to_owned())
        );
        assert_eq!(found(text, "\n line one\nline two", Normalize::Trim).0, "pass");
        assert_eq!(found(text, "line  one\nline two", Normalize::Trim).0, "fail");
        assert_eq!(found(text, "line\u{a0}one\u{2003}line\u{1c}two", Normalize::Text).0, "pass");
        assert_eq!(found(text, "Line one line two", Normalize::Text).0, "fail");
        assert_eq!(found("", " \n", Normalize::Text).0, "pass");
    }

    #[test]
    fn a_difference_is_shown_as_a_diff() {
        let (state, evidence) = found("line one\nline two\n", "line one\nline 2\n", Normalize::Exact);
        assert_eq!(state, "fail");
        assert_eq!(
            evidence,
            "differs from reference golden/a.txt (normalize=exact)\n--- reference/golden/a.txt\n+++ output.md\n\
             @@ -1,2 +1,2 @@\n line one\n-line two\n+line 2"
        );
        let (_, evidence) = found("a\n", "a", Normalize::Exact);
        assert!(evidence.ends_with("\n(texts differ only in trailing newline or line-break characters)"), "{evidence}");
    }

    #[test]
    fn a_long_diff_is_cut_and_counted() {
        let old: String = (0..100).map(|line| format!("{line}\n")).collect();
        let (_, evidence) = found(&old, "", Normalize::Exact);
        // 3 header lines and 100 removed ones
        assert!(evidence.ends_with("\n-56\n... (43 more diff lines)"), "{evidence}");
    }

    #[test]
    fn references_stay_in_the_folder_of_the_suite() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let suite = root.join("suite");
        std::fs::create_dir_all(suite.join("golden")).unwrap();
        std::fs::write(suite.join("golden/a.txt"), b"one\r\ntwo\xff").unwrap();
        std::fs::write(root.join("outside.txt"), "x").unwrap();
        symlink("../../outside.txt", suite.join("golden/out.txt")).unwrap();
        symlink("a.txt", suite.join("golden/in.txt")).unwrap();
        let read = |reference: &str| read_reference(&suite, reference, 64);
        assert_eq!(read("golden/a.txt").unwrap(), "one\ntwo\u{fffd}");
        assert_eq!(read("golden/in.txt").unwrap(), read("golden/a.txt").unwrap());
        assert_eq!(read("golden/none.txt"), Err(ReferenceProblem::Missing));
        // read once: what changes while a tree is graded changes for none of its runs
        let references = References::default();
        let kept = || references.get(&suite, "golden/a.txt", 100).as_ref().clone().unwrap();
        let first = kept();
        std::fs::write(suite.join("golden/a.txt"), b"changed").unwrap();
        assert_eq!((kept(), read("golden/a.txt").unwrap().as_str()), (first, "changed"));
        std::fs::write(suite.join("golden/a.txt"), b"one\r\ntwo\xff").unwrap();
        assert_eq!(read("golden/a.txt/b"), Err(ReferenceProblem::Missing));
        let escape = ReferenceProblem::Unusable("it leads out of the folder of the suite".to_owned());
        assert_eq!(read("golden/out.txt"), Err(escape));
        assert_eq!(read("golden"), Err(ReferenceProblem::Unusable("not a regular file".to_owned())));
        let limited = read_reference(&suite, "golden/a.txt", 3);
        assert_eq!(limited, Err(ReferenceProblem::TooLarge("golden/a.txt is larger than 3 bytes".to_owned())));
    }
}
