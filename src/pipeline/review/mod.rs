//! From a saved report, the folder of its runs and a suite to the review page.

mod places;
mod report;

use std::fs;
use std::io::Write;
use std::path::Path;

use skill_lift_contract::write::AtomicFile;

use self::places::{Previous, RunsPlace, iteration_name};
use self::report::{ReadReport, read};
use crate::analyze::diff::{Diff, DiffOptions, diff};
use crate::feedback::{Entry, Feedback, FeedbackError, FeedbackNote, RunIds};
use crate::report::review::{
    Page, PageError, PreviousSource, ReviewOptions, ReviewSource, SeveralSource, SkillSource, asset_place, render,
};
use crate::runs::claims::{ClaimsError, SavedBenchmark};
use crate::runs::index::shown_path;
use crate::runs::{Limits, NamedFileProblem, SavedRuns, read_named};
use crate::suite::{Dialect, Suite};

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
    /// A report, or what is said of triggers, cannot be read.
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
    /// A report of several skills has nothing that an option is about.
    #[error("{0} needs the report of one skill: this one is of several. Render the page of a report of `benchmark`")]
    SeveralSkills(&'static str),
    /// Folders of runs that belong to no skill.
    #[error(
        "--runs is given {given} times: give it once, or once for each of the {skills} skills of the report, in its order"
    )]
    RunsOfSkills {
        /// How often it is given.
        given: usize,
        /// Skills of the report.
        skills: usize,
    },
    /// A suite, or what is said of triggers, is about a skill that is not in the report.
    #[error("{option} is about the skill {skill}, which is not in the report")]
    UnknownSkill {
        /// The option.
        option: &'static str,
        /// The skill.
        skill: String,
    },
    /// Files of runs of several folders would lie in one place.
    #[error("--split-assets needs one folder of runs: of several, runs could have one name")]
    AssetsOfSeveral,
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
    /// The folder of its runs; of the report of several skills one for each in its order, or one for all.
    pub runs: &'a [&'a Path],
    /// The suite, or those of several skills.
    pub suites: &'a [&'a Suite],
    /// A report of trigger runs.
    pub triggers: Option<&'a Path>,
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
    /// What the page does not show although it was asked for.
    pub warnings: Vec<ReviewWarning>,
    /// What the page writes feedback as.
    pub shape: FeedbackShape,
    /// What the skill creator calls the runs.
    pub run_ids: RunIds,
}

/// What a page does not show although it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviewWarning {
    /// The runs of the other iteration cannot be opened.
    #[error("{place}: {problem}; the answers of {label} are not in the page")]
    PreviousRuns {
        /// The iteration.
        label: String,
        /// The folder.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// The other iteration has no case in common with this one.
    #[error("no case with its arm is in {0} as well: the page compares nothing with it")]
    NothingInCommon(String),
    /// The trigger runs are those of another skill.
    #[error("the trigger runs are about the skill {triggers}, the report about {report}")]
    OtherSkill {
        /// What the trigger runs name.
        triggers: String,
        /// What the report names.
        report: String,
    },
}

impl ReviewWarning {
    /// Its code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::PreviousRuns { .. } => "previous_runs_unreadable",
            Self::NothingInCommon(_) => "previous_without_common_case",
            Self::OtherSkill { .. } => "triggers_of_other_skill",
        }
    }
}

/// Makes the page.
///
/// # Errors
/// When the report, the folder of the runs or the other iteration cannot be read, and when the page cannot be kept under
/// its limit.
pub fn review_page(request: &ReviewRequest<'_>) -> Result<Reviewed, ReviewError> {
    let report = read(request.report, request, request.previous.is_some())?;
    refuse_what_needs_one_skill(request, &report)?;
    let places = report.places(request)?;
    let runs: Vec<Option<SavedRuns>> =
        places.iter().map(|place| place.as_ref().map(RunsPlace::open).transpose()).collect::<Result<_, _>>()?;
    let texts = report.texts(request, &places)?;
    let mut warnings = Vec::new();
    let triggers = request.triggers.map(|path| report.triggers(path, request, &mut warnings)).transpose()?;

    // the skill creator has no report of several skills
    let run_ids = report.one().map(|one| RunIds::of_report(&one.saved)).unwrap_or_default();
    let (feedback, notes) = read_feedback(request, &run_ids)?;
    let usual_shape = report.one().map_or(FeedbackShape::Entries, |one| FeedbackShape::of(&one.saved));
    let shape = request.feedback_shape.unwrap_or(usual_shape);
    let previous = request.previous.map(|folder| Previous::read(folder, request)).transpose()?;
    let sides = previous.as_ref().and_then(|previous| previous.report.side.as_ref()).zip(report.side.as_ref());
    let difference: Option<Diff<'_>> = sides.zip(report.one()).and_then(|((old, new), one)| {
        let thresholds = one.analysis.inference.thresholds.clone();
        diff(old, new, &DiffOptions { thresholds, assume_comparable: false }).ok()
    });
    if let Some(previous) = &previous {
        warnings.extend(previous.warnings(difference.is_some()));
    }

    let first_runs = request.runs.first().copied();
    let skills = report.skills.iter().zip(&runs).enumerate().map(|(at, (skill, runs))| SkillSource {
        again: skill.again(),
        runs: runs.as_ref(),
        previous: previous.as_ref().map(|previous| PreviousSource {
            label: &previous.label,
            again: previous.skill.again(),
            runs: previous.runs.as_ref().map_err(|problem| problem.as_str()),
            diff: difference.as_ref(),
        }),
        triggers: triggers.as_ref().filter(|(skill, _)| *skill == at).map(|(_, rates)| rates),
    });
    let source = ReviewSource {
        skills: skills.collect(),
        several: report.several.as_ref().map(|several| SeveralSource {
            figures: &several.figures,
            alpha: several.thresholds.alpha(),
            holds_mean: several.holds_mean,
            holds_cost: several.holds_cost,
            generated_at: several.generated_at,
        }),
        report_sha256: &report.sha256,
        label: iteration_name(request.report.parent())
            .or(iteration_name(first_runs.and_then(Path::parent)))
            .or(iteration_name(first_runs)),
        texts: &texts,
        shown_runs: &request.runs.iter().map(|path| shown_path(path)).collect::<Vec<_>>().join(", "),
        feedback: &feedback,
        run_ids: (shape == FeedbackShape::Reviews).then_some(&run_ids),
        options: request.options,
    };
    let page = render(&source)?;
    if let Some(folder) = request.assets {
        for (skill, runs) in report.skills.iter().zip(&runs) {
            runs.as_ref().map_or(Ok(()), |runs| copy_assets(&skill.saved, runs, folder))?;
        }
    }
    Ok(Reviewed { page, notes, warnings, shape, run_ids })
}

fn refuse_what_needs_one_skill(request: &ReviewRequest<'_>, report: &ReadReport) -> Result<(), ReviewError> {
    if report.several.is_none() {
        return Ok(());
    }
    if request.previous.is_some() {
        return Err(ReviewError::SeveralSkills("--previous-workspace"));
    }
    if request.feedback_shape == Some(FeedbackShape::Reviews) {
        return Err(ReviewError::SeveralSkills("--feedback-format skill-creator"));
    }
    if request.assets.is_some() && request.runs.len() > 1 {
        return Err(ReviewError::AssetsOfSeveral);
    }
    Ok(())
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
