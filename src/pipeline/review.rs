//! From a saved report, the folder of its runs and a suite to the review page.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use skill_lift_contract::ContentDigest;
use skill_lift_contract::write::AtomicFile;

use super::Input;
use crate::analyze::diff::{Diff, DiffOptions, Side, diff};
use crate::analyze::{Analysis, analyze_saved};
use crate::feedback::{Entry, Feedback, FeedbackError, FeedbackNote, RunIds};
use crate::judge::task::prompt_of;
use crate::report::formats::Again;
use crate::report::review::{
    CaseTexts, Page, PageError, PreviousSource, ReviewOptions, ReviewSource, asset_place, render,
};
use crate::runs::claims::{self, ClaimsError, ReadOptions, SavedBenchmark, read_saved};
use crate::runs::index::{AnswerRule, shown_path};
use crate::runs::workspace::{Workspace, WorkspaceOptions};
use crate::runs::{Limits, NamedFileProblem, SavedRuns, read_named};
use crate::suite::{Case, Dialect, Suite};

/// The report of an iteration.
const BENCHMARK: &str = "benchmark.json";
/// The folder of its runs.
const RUNS: &str = "runs";
/// Largest file of feedback.
const FEEDBACK_BYTES: u64 = 16 << 20;
/// Largest file of a run that is copied.
const ASSET_BYTES: u64 = 64 << 20;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// A report cannot be opened.
    #[error("{place}: {problem}")]
    Unopened {
        /// The file as the user typed it.
        place: String,
        /// What is wrong.
        problem: NamedFileProblem,
    },
    /// A report cannot be read.
    #[error("{place}: {problem}")]
    Report {
        /// The file as the user typed it.
        place: String,
        /// What is wrong.
        problem: Box<ClaimsError>,
    },
    /// Earlier feedback cannot be read.
    #[error("{place}: {problem}")]
    Feedback {
        /// The file as the user typed it.
        place: String,
        /// What is wrong.
        problem: Box<FeedbackError>,
    },
    /// The folder of the runs cannot be opened.
    #[error("--runs {place}: {problem}")]
    Runs {
        /// The folder as the user typed it.
        place: String,
        /// What is wrong.
        problem: std::io::Error,
    },
    /// The other iteration has no report.
    #[error("--previous-workspace has no benchmark.json: {0}")]
    NoPrevious(String),
    /// The page cannot be made.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A file of a run cannot be copied.
    #[error("cannot write {place}: {problem}")]
    Asset {
        /// The file.
        place: String,
        /// What is wrong.
        problem: std::io::Error,
    },
}

/// What a page is made of.
#[derive(Debug)]
pub struct ReviewRequest<'a> {
    /// The report.
    pub report: &'a Path,
    /// The folder of its runs.
    pub runs: Option<&'a Path>,
    /// The suite.
    pub suite: Option<&'a Suite>,
    /// The folder of the other iteration.
    pub previous: Option<&'a Path>,
    /// A file of feedback, and whether it must be there.
    pub feedback: Option<(&'a Path, bool)>,
    /// What the page writes feedback as; as the tool does whose runs they are, if that is not said.
    pub feedback_shape: Option<FeedbackShape>,
    /// Bytes of a report at most.
    pub report_bytes: u64,
    /// How much of the runs is read.
    pub limits: Limits,
    /// Where the files of the runs are copied to.
    pub assets: Option<&'a Path>,
    /// How the page is made.
    pub options: &'a ReviewOptions,
}

/// What `feedback.json` looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackShape {
    /// Schema version 2.
    Entries,
    /// That of the skill creator.
    Reviews,
}

impl FeedbackShape {
    /// The shape that the tool writes whose runs are in a report.
    fn of(saved: &SavedBenchmark) -> Self {
        match saved.dialect.as_deref() {
            Some(dialect) if dialect == Dialect::SkillCreator.name() => Self::Reviews,
            _ => Self::Entries,
        }
    }
}

/// A page that was made, and what its feedback is.
#[derive(Debug)]
pub struct Reviewed {
    /// The page.
    pub page: Page,
    /// What was odd in the earlier feedback.
    pub notes: Vec<FeedbackNote>,
    /// What the page writes feedback as.
    pub shape: FeedbackShape,
    /// What the skill creator calls the runs.
    pub run_ids: RunIds,
}

/// A report, analysed.
struct ReadReport {
    saved: SavedBenchmark,
    analysis: Analysis,
    sha256: String,
    /// As the comparison of two results takes it.
    side: Option<Side>,
}

/// Makes the page.
///
/// # Errors
/// When the report, the folder of the runs or the other iteration cannot be read, and when the page cannot be kept under
/// its limit.
pub fn review_page(request: &ReviewRequest<'_>) -> Result<Reviewed, ReviewError> {
    let report = read(request.report, request, request.previous.is_some())?;
    let place = request.runs.map(|named| RunsPlace::of(named, &report.saved, request.limits));
    let runs = place.as_ref().map(RunsPlace::open).transpose()?;
    let suite = request.suite.or(place.as_ref().and_then(|place| place.implied.as_ref()));
    let texts = suite.map(texts_of).unwrap_or_default();

    let run_ids = RunIds::of_report(&report.saved);
    let (feedback, notes) = read_feedback(request, &run_ids)?;
    let shape = request.feedback_shape.unwrap_or_else(|| FeedbackShape::of(&report.saved));
    let previous = request.previous.map(|folder| Previous::read(folder, request)).transpose()?;
    let sides = previous.as_ref().and_then(|previous| previous.report.side.as_ref()).zip(report.side.as_ref());
    let thresholds = report.analysis.inference.thresholds.clone();
    let options = DiffOptions { thresholds, assume_comparable: false };
    // two reports without a common case have no difference to show
    let difference: Option<Diff<'_>> = sides.and_then(|(old, new)| diff(old, new, &options).ok());

    let source = ReviewSource {
        again: report.again(),
        report_sha256: &report.sha256,
        label: iteration_name(request.report.parent())
            .or(iteration_name(request.runs.and_then(Path::parent)))
            .or(iteration_name(request.runs)),
        texts: &texts,
        runs: runs.as_ref(),
        shown_runs: &request.runs.map(shown_path).unwrap_or_default(),
        previous: previous.as_ref().map(|previous| PreviousSource {
            label: &previous.label,
            again: previous.report.again(),
            runs: previous.runs.as_ref(),
            diff: difference.as_ref(),
        }),
        feedback: &feedback,
        run_ids: (shape == FeedbackShape::Reviews).then_some(&run_ids),
        options: request.options,
    };
    let page = render(&source)?;
    if let (Some(folder), Some(runs)) = (request.assets, &runs) {
        copy_assets(&report.saved, runs, folder)?;
    }
    Ok(Reviewed { page, notes, shape, run_ids })
}

/// Earlier feedback; nothing when no file has to be there and none is.
fn read_feedback(
    request: &ReviewRequest<'_>,
    run_ids: &RunIds,
) -> Result<(Vec<Entry>, Vec<FeedbackNote>), ReviewError> {
    let Some((path, is_needed)) = request.feedback else { return Ok((Vec::new(), Vec::new())) };
    let place = || shown_path(path);
    let bytes = match read_named(path, FEEDBACK_BYTES) {
        Err(NamedFileProblem::Missing) if !is_needed => return Ok((Vec::new(), Vec::new())),
        read => read.map_err(|problem| ReviewError::Unopened { place: place(), problem })?,
    };
    let read = Feedback::read_for(&bytes, run_ids);
    let (feedback, notes) =
        read.map_err(|problem| ReviewError::Feedback { place: place(), problem: Box::new(problem) })?;
    Ok((feedback.entries, notes))
}

/// Copies the files of the runs of a report. A file that cannot be read is left out: the page names it all the same.
fn copy_assets(saved: &SavedBenchmark, runs: &SavedRuns, folder: &Path) -> Result<(), ReviewError> {
    for row in &saved.rows {
        let Some(mut contents) = runs.read(&row.run_dir, 0) else { continue };
        for file in contents.files.clone() {
            let Ok(bytes) = contents.read(&file.path, ASSET_BYTES) else { continue };
            let place = folder.join(asset_place(&row.run_dir, &file.path));
            let refuse = |problem| ReviewError::Asset { place: shown_path(&place), problem };
            place.parent().map_or(Ok(()), fs::create_dir_all).map_err(refuse)?;
            let mut target = AtomicFile::create(&place).map_err(refuse)?;
            target.write_all(&bytes).and_then(|()| target.commit()).map_err(refuse)?;
        }
    }
    Ok(())
}

impl ReadReport {
    fn again(&self) -> Again<'_> {
        Again { saved: &self.saved, analysis: &self.analysis }
    }
}

fn read(path: &Path, request: &ReviewRequest<'_>, is_compared: bool) -> Result<ReadReport, ReviewError> {
    let place = shown_path(path);
    let bytes = read_named(path, request.report_bytes)
        .map_err(|problem| ReviewError::Unopened { place: place.clone(), problem })?;
    let options = ReadOptions { bytes: request.report_bytes, ..ReadOptions::default() };
    let refuse = |problem| ReviewError::Report { place: place.clone(), problem: Box::new(problem) };
    let saved = read_saved(&bytes, &options).map_err(refuse)?;
    let side = match is_compared {
        true => Some(Side::of_file(place.clone(), claims::read(&bytes, &options).map_err(refuse)?)),
        false => None,
    };
    let sha256 = ContentDigest::of(&bytes).to_string();
    let sha256 = sha256.strip_prefix("sha256:").unwrap_or(&sha256).to_owned();
    drop(bytes);
    let analysis = analyze_saved(&saved);
    Ok(ReadReport { saved, analysis, sha256, side })
}

/// Where the runs are, and what they say of their cases themselves.
struct RunsPlace<'a> {
    named: &'a Path,
    root: PathBuf,
    answers: AnswerRule,
    limits: Limits,
    /// The cases as a workspace of another tool has them.
    implied: Option<Suite>,
}

impl<'a> RunsPlace<'a> {
    fn of(named: &'a Path, saved: &SavedBenchmark, limits: Limits) -> Self {
        let is_own = saved.dialect.as_deref().is_none_or(|dialect| dialect == Dialect::SharedBenchmark.name());
        let place = |root, answers, implied| Self { named, root, answers, limits, implied };
        if is_own || !Workspace::is_one(named) {
            let answers = if is_own { AnswerRule::RunContract } else { AnswerRule::TextsOfOutputs };
            return place(named.to_owned(), answers, None);
        }
        let options = WorkspaceOptions { limits, ..WorkspaceOptions::default() };
        match Input::of_workspace(named, options) {
            Ok(input) => {
                let root = input.runs_root(named).to_owned();
                let suite = match input {
                    Input::Runs(suite) | Input::Workspace { suite, .. } => suite,
                };
                place(root, AnswerRule::TextsOfOutputs, Some(suite))
            }
            // its runs can be shown all the same
            Err(_) => place(named.to_owned(), AnswerRule::TextsOfOutputs, None),
        }
    }

    fn open(&self) -> Result<SavedRuns, ReviewError> {
        SavedRuns::below(&self.root, self.answers, self.limits)
            .map_err(|problem| ReviewError::Runs { place: shown_path(self.named), problem })
    }
}

/// The other iteration.
struct Previous {
    label: String,
    report: ReadReport,
    runs: Option<SavedRuns>,
}

impl Previous {
    fn read(folder: &Path, request: &ReviewRequest<'_>) -> Result<Self, ReviewError> {
        let path = folder.join(BENCHMARK);
        if !path.is_file() {
            return Err(ReviewError::NoPrevious(shown_path(folder)));
        }
        let report = read(&path, request, true)?;
        let below = folder.join(RUNS);
        let named = if below.is_dir() { below } else { folder.to_owned() };
        let runs = RunsPlace::of(&named, &report.saved, request.limits).open().ok();
        let label = match iteration_name(Some(folder)) {
            Some(name) => name.to_owned(),
            None => "the previous iteration".to_owned(),
        };
        Ok(Self { label, report, runs })
    }
}

/// `iteration-4`, where a folder is named like that.
fn iteration_name(folder: Option<&Path>) -> Option<&str> {
    let name = folder?.file_name()?.to_str()?;
    let number = name.strip_prefix("iteration-")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

/// What a suite says of its cases, for people.
fn texts_of(suite: &Suite) -> HashMap<String, CaseTexts> {
    suite.cases.iter().map(|case| (case.id.clone(), texts_of_case(suite, case))).collect()
}

fn texts_of_case(suite: &Suite, case: &Case) -> CaseTexts {
    let turns = match case.turns.len() {
        0 => prompt_of(suite, case, false).map(|prompt| prompt.into_owned()).into_iter().collect(),
        _ => case.turns.iter().map(|turn| turn.prompt.clone()).collect(),
    };
    let size = |path: &String| {
        // links may have changed since the suite was checked
        let place = suite.directory.join(path).canonicalize().ok().filter(|place| place.starts_with(&suite.directory));
        place.and_then(|place| fs::metadata(place).ok()).map(|data| data.len())
    };
    CaseTexts {
        turns,
        files: case.files.iter().map(|path| (path.clone(), size(path))).collect(),
        expected: case.expected_output.iter().chain(&case.expected_behavior).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_named_by_their_folder() {
        let name = |path: &str| iteration_name(Some(Path::new(path))).map(str::to_owned);
        assert_eq!(name("work/iteration-4").as_deref(), Some("iteration-4"));
        assert_eq!(name("work/iteration-").as_deref(), None);
        assert_eq!(name("work/iteration-x").as_deref(), None);
        assert_eq!(name("work").as_deref(), None);
    }
}
