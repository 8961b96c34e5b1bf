//! Where the runs of a report are, and the other iteration.

use std::path::{Path, PathBuf};

use super::report::{ReadReport, ReadSkill, read};
use super::{ReviewError, ReviewRequest, ReviewWarning};
use crate::pipeline::Input;
use crate::runs::claims::SavedBenchmark;
use crate::runs::index::{AnswerRule, shown_path};
use crate::runs::workspace::{Workspace, WorkspaceOptions};
use crate::runs::{Limits, SavedRuns};
use crate::suite::{Dialect, Suite};

/// The report of an iteration.
const BENCHMARK: &str = "benchmark.json";
/// The folder of its runs.
const RUNS: &str = "runs";

/// Where the runs are, and what they say of their cases themselves.
pub(super) struct RunsPlace<'a> {
    pub(super) named: &'a Path,
    pub(super) root: PathBuf,
    pub(super) answers: AnswerRule,
    pub(super) limits: Limits,
    /// The cases as a workspace of another tool has them.
    pub(super) implied: Option<Suite>,
}

impl<'a> RunsPlace<'a> {
    pub(super) fn of(named: &'a Path, saved: &SavedBenchmark, limits: Limits) -> Self {
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

    pub(super) fn open(&self) -> Result<SavedRuns, ReviewError> {
        self.open_quietly().map_err(|problem| ReviewError::Runs { place: shown_path(self.named), problem })
    }

    pub(super) fn open_quietly(&self) -> std::io::Result<SavedRuns> {
        SavedRuns::below(&self.root, self.answers, self.limits)
    }
}

/// The other iteration.
pub(super) struct Previous {
    pub(super) label: String,
    pub(super) report: ReadReport,
    pub(super) skill: ReadSkill,
    /// The runs, or why they cannot be opened.
    pub(super) runs: Result<SavedRuns, String>,
    /// The folder of the runs.
    pub(super) place: String,
}

impl Previous {
    pub(super) fn read(folder: &Path, request: &ReviewRequest<'_>) -> Result<Self, ReviewError> {
        let path = folder.join(BENCHMARK);
        if !path.is_file() {
            return Err(ReviewError::NoPrevious(shown_path(folder)));
        }
        let mut report = read(&path, request, true)?;
        let skill = report.skills.pop().filter(|_| report.several.is_none());
        let skill = skill.ok_or(ReviewError::SeveralSkills("--previous-workspace"))?;
        let below = folder.join(RUNS);
        let named = if below.is_dir() { below } else { folder.to_owned() };
        let runs = RunsPlace::of(&named, &skill.saved, request.limits).open_quietly();
        let label = match iteration_name(Some(folder)) {
            Some(name) => name.to_owned(),
            None => "the previous iteration".to_owned(),
        };
        Ok(Self { label, report, skill, runs: runs.map_err(|problem| problem.to_string()), place: shown_path(&named) })
    }

    /// What the page lacks of it.
    pub(super) fn warnings(&self, is_compared: bool) -> impl Iterator<Item = ReviewWarning> {
        let runs = self.runs.as_ref().err().map(|problem| ReviewWarning::PreviousRuns {
            label: self.label.clone(),
            place: self.place.clone(),
            problem: problem.clone(),
        });
        let common = (!is_compared).then(|| ReviewWarning::NothingInCommon(self.label.clone()));
        runs.into_iter().chain(common)
    }
}

/// `iteration-4`, where a folder is named like that.
pub(super) fn iteration_name(folder: Option<&Path>) -> Option<&str> {
    let name = folder?.file_name()?.to_str()?;
    let number = name.strip_prefix("iteration-")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
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
