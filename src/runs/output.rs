//! The answer of a run (or of a turn): which file it is, and its text.

use std::borrow::Cow;

use skill_lift_contract::TreeDigest;
use skill_lift_text::python;

use super::directory::{FileProblem, RunDirectory};
use super::limits::{Limits, describe_bytes};
use super::listing::EntryKind;
use super::warning::WarningCode;

/// Names of the file that holds the answer, the first that is there counts.
pub(crate) const NAMES: [&str; 6] = ["output.md", "output.txt", "response.md", "response.txt", "final.md", "final.txt"];

/// Folder whose text files are the answer when there is no file of that kind.
const FOLDER: &str = "outputs";

/// Extensions of the files in that folder that are read, in lower case.
const EXTENSIONS: [&str; 12] = ["md", "txt", "json", "jsonl", "html", "css", "js", "ts", "py", "vue", "yml", "yaml"];

/// Where the answer was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputPlace {
    /// A file of the run directory.
    File(&'static str),
    /// The text files of the `outputs` folder, joined.
    Folder,
}

impl OutputPlace {
    /// Path relative to the run directory.
    pub fn path(&self) -> &'static str {
        match self {
            Self::File(name) => name,
            Self::Folder => FOLDER,
        }
    }
}

/// The answer of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// There is none.
    Missing,
    /// Its text, with line ends as `\n`.
    Text {
        /// The text.
        text: String,
        /// Where it stood.
        place: OutputPlace,
    },
    /// It is there but larger than the limit.
    TooLarge {
        /// Where it stands.
        place: OutputPlace,
    },
}

impl Output {
    /// The text, if there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether it is there but was not read because of its size.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }

    /// Path of the answer relative to the run directory; that of `output.md` when there is none.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Missing => NAMES[0],
            Self::Text { place, .. } | Self::TooLarge { place } => place.path(),
        }
    }
}

/// Reads the answer of a directory.
pub(super) fn read(directory: &mut RunDirectory, limits: &Limits) -> Output {
    match answer_file(directory, limits) {
        Some(answer) => answer,
        None if directory.exists() => read_folder(directory, limits),
        None => Output::Missing,
    }
}

/// Reads the file that is the answer of a directory, if it has one.
pub(super) fn answer_file(directory: &mut RunDirectory, limits: &Limits) -> Option<Output> {
    let listing = directory.listing()?;
    let is_file = |name: &&'static str| listing.get(name).is_some_and(|entry| entry.kind == EntryKind::File);
    let present: Vec<&'static str> = NAMES.into_iter().filter(is_file).collect();
    let unusable: Vec<&'static str> = NAMES
        .into_iter()
        .filter(|name| directory.listing().and_then(|l| l.get(name)).is_some_and(|e| e.kind != EntryKind::File))
        .collect();
    for name in unusable {
        directory.warn(
            WarningCode::OutputUnreadable,
            name,
            "not a regular file; it is not read as the answer".to_owned(),
        );
    }
    if let [first, others @ ..] = present.as_slice()
        && !others.is_empty()
    {
        let message = format!("{first} is read as the answer, {} is not", others.join(", "));
        directory.warn(WarningCode::SeveralOutputFiles, "", message);
    }
    present.first().map(|name| read_file(directory, name, limits))
}

fn read_file(directory: &mut RunDirectory, name: &'static str, limits: &Limits) -> Output {
    let place = OutputPlace::File(name);
    match directory.read(name, limits.output_bytes) {
        Ok(bytes) => Output::Text { text: decode(directory, name, &bytes), place },
        Err(problem @ FileProblem::TooLarge { .. }) => {
            directory.warn(
                WarningCode::OutputTooLarge,
                "",
                format!("{problem} (--max-output-mib); the run is not scored"),
            );
            Output::TooLarge { place }
        }
        Err(problem) => {
            directory.warn(WarningCode::OutputUnreadable, "", problem.to_string());
            Output::Missing
        }
    }
}

fn read_folder(directory: &mut RunDirectory, limits: &Limits) -> Output {
    let part = |path: &str, text: String| format!("\n--- {path} ---\n{text}");
    match join_files(directory, limits, is_text_file, part) {
        Output::Text { text, place } => Output::Text { text: python::strip(&text).to_owned(), place },
        other => other,
    }
}

/// The text files of `outputs/` that are under test, in the order of their paths, joined by one line break. `part` makes
/// what stands in the answer of a path and its text.
pub(super) fn join_files(
    directory: &mut RunDirectory,
    limits: &Limits,
    is_under_test: impl Fn(&str) -> bool,
    part: impl Fn(&str, String) -> String,
) -> Output {
    let mut paths = match directory.files_below(FOLDER, limits.directory_entries) {
        Ok(paths) => paths,
        Err(problem) => {
            directory.warn(WarningCode::OutputUnreadable, "", problem.to_string());
            return Output::Missing;
        }
    };
    paths.retain(|path| is_under_test(path));
    paths.sort_by(|a, b| TreeDigest::path_order(a, b));
    if paths.len() > limits.output_files {
        let (count, limit) = (paths.len(), limits.output_files);
        let message = format!("{count} text files; the first {limit} are read as the answer (--max-output-files)");
        directory.warn(WarningCode::TruncatedOutputs, FOLDER, message);
        paths.truncate(limits.output_files);
    }
    let mut parts = Vec::with_capacity(paths.len());
    let mut left = limits.output_bytes;
    for path in &paths {
        match directory.read(path, left) {
            Ok(bytes) => {
                left -= bytes.len() as u64;
                let text = decode(directory, path, &bytes);
                parts.push(part(path, text));
            }
            Err(FileProblem::TooLarge { .. }) => {
                let limit = describe_bytes(limits.output_bytes);
                let message = format!(
                    "the files of outputs/ have more than {limit} together (--max-output-mib); the run is not scored"
                );
                directory.warn(WarningCode::OutputTooLarge, FOLDER, message);
                return Output::TooLarge { place: OutputPlace::Folder };
            }
            Err(problem) => directory.warn(WarningCode::OutputUnreadable, "", problem.to_string()),
        }
    }
    if parts.is_empty() {
        return Output::Missing;
    }
    Output::Text { text: parts.join("\n"), place: OutputPlace::Folder }
}

fn is_text_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        // a name like ".md" is a hidden file without extension
        Some((stem, extension)) if !stem.is_empty() => EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()),
        _ => false,
    }
}

/// The text of a file, with a warning when bytes had to be replaced.
fn decode(directory: &mut RunDirectory, name: &str, bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let message = format!("byte {} is not UTF-8; such bytes are read as U+FFFD", error.valid_up_to());
            directory.warn(WarningCode::DecodeLossy, name, message);
            String::from_utf8_lossy(bytes)
        }
    };
    python::universal_newlines(&text).into_owned()
}
