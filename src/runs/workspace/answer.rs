//! The text of a stored run that checks look at.

use crate::runs::directory::RunDirectory;
use crate::runs::limits::Limits;
use crate::runs::output::{self, Output};

/// Extensions of the files of `outputs/` that are text under test.
const EXTENSIONS: [&str; 5] = ["md", "txt", "json", "csv", "html"];

/// Files of `outputs/` that are about the run and not what it made.
const ABOUT_THE_RUN: [&str; 7] = [
    "user_notes.md",
    "metrics.json",
    "grading.json",
    "timing.json",
    "grader_output.txt",
    "grader_stderr.txt",
    "executor_stderr.txt",
];

/// The answer of a run: its answer file, else the text files of `outputs/`, joined by one line break in the order of
/// their paths.
pub fn answer(directory: &mut RunDirectory, limits: &Limits) -> Output {
    output::answer_file(directory, limits)
        .unwrap_or_else(|| output::join_files(directory, limits, is_under_test, |_, text| text))
}

fn is_under_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
    let is_text = extension.is_some_and(|extension| EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()));
    is_text && !name.starts_with("transcript") && !ABOUT_THE_RUN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::is_under_test;

    #[test]
    fn what_is_about_the_run_is_not_under_test() {
        for path in ["outputs/report.md", "outputs/deep/a.CSV", "outputs/transcripts.d/x.json"] {
            assert!(is_under_test(path), "{path}");
        }
        for path in [
            "outputs/transcript.md",
            "outputs/metrics.json",
            "outputs/a.png",
            "outputs/.md",
            "outputs/grader_output.txt",
        ] {
            assert!(!is_under_test(path), "{path}");
        }
    }
}
