//! A saved report, of one skill or of several, with all that the page takes from beside it but the runs.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use skill_lift_contract::ContentDigest;
use skill_lift_stats::Thresholds;
use skill_lift_text::screen::visible;

use super::places::RunsPlace;
use super::{ReviewError, ReviewRequest, ReviewWarning};
use crate::analyze::diff::Side;
use crate::analyze::several::{OneSkill, SeveralSkills};
use crate::analyze::triggers::TriggerRates;
use crate::analyze::{Analysis, analyze_saved};
use crate::judge::task::prompt_of;
use crate::report::formats::Again;
use crate::report::review::CaseTexts;
use crate::runs::claims::{
    self, ReadOptions, SavedAggregate, SavedBenchmark, SavedReport, read_saved_report, read_triggers,
};
use crate::runs::index::shown_path;
use crate::runs::read_named;
use crate::suite::{Case, Suite};

/// A report, analysed.
pub(super) struct ReadReport {
    pub(super) skills: Vec<ReadSkill>,
    /// What the report of several skills says of all of them.
    pub(super) several: Option<Several>,
    pub(super) sha256: String,
    /// As the comparison of two results takes it.
    pub(super) side: Option<Side>,
}

/// A skill of a report, analysed.
pub(super) struct ReadSkill {
    pub(super) saved: SavedBenchmark,
    pub(super) analysis: Analysis,
}

/// Several skills together.
pub(super) struct Several {
    pub(super) figures: SeveralSkills,
    pub(super) thresholds: Thresholds,
    pub(super) holds_mean: bool,
    pub(super) holds_cost: bool,
    pub(super) generated_at: Option<i64>,
}

impl ReadSkill {
    fn of(saved: SavedBenchmark) -> Self {
        let analysis = analyze_saved(&saved);
        Self { saved, analysis }
    }

    pub(super) fn again(&self) -> Again<'_> {
        Again { saved: &self.saved, analysis: &self.analysis }
    }
}

impl ReadReport {
    /// The skill of a report of one.
    pub(super) fn one(&self) -> Option<&ReadSkill> {
        self.skills.first().filter(|_| self.several.is_none())
    }

    /// The position of a skill by its name.
    fn named(&self, name: &str) -> Option<usize> {
        self.skills.iter().position(|skill| skill.saved.skill_name.as_deref() == Some(name))
    }

    /// Where the runs of each skill are.
    pub(super) fn places<'a>(&self, request: &ReviewRequest<'a>) -> Result<Vec<Option<RunsPlace<'a>>>, ReviewError> {
        let (given, skills) = (request.runs.len(), self.skills.len());
        if given > 1 && given != skills {
            return Err(ReviewError::RunsOfSkills { given, skills });
        }
        let place = |(at, skill): (usize, &ReadSkill)| {
            let named = request.runs.get(at).or(request.runs.first())?;
            Some(RunsPlace::of(named, &skill.saved, request.limits))
        };
        Ok(self.skills.iter().enumerate().map(place).collect())
    }

    /// What the suites say of the cases, by their ids in the page.
    pub(super) fn texts(
        &self,
        request: &ReviewRequest<'_>,
        places: &[Option<RunsPlace<'_>>],
    ) -> Result<HashMap<String, CaseTexts>, ReviewError> {
        if self.several.is_none() {
            let implied = places.iter().flatten().find_map(|place| place.implied.as_ref());
            return Ok(request.suites.first().copied().or(implied).map(texts_of).unwrap_or_default());
        }
        let mut texts = HashMap::new();
        for suite in request.suites {
            let Some(at) = self.named(&suite.skill_name) else {
                return Err(ReviewError::UnknownSkill { option: "--suite", skill: suite.skill_name.clone() });
            };
            let name = self.skills[at].saved.skill_name.as_deref().unwrap_or_default();
            texts.extend(texts_of(suite).into_iter().map(|(id, of_case)| (format!("{name}/{id}"), of_case)));
        }
        Ok(texts)
    }

    /// How often a skill was loaded by itself, and which one of the page it is.
    pub(super) fn triggers(
        &self,
        path: &Path,
        request: &ReviewRequest<'_>,
        warnings: &mut Vec<ReviewWarning>,
    ) -> Result<(usize, TriggerRates), ReviewError> {
        let place = || shown_path(path);
        let bytes = read_named(path, request.report_bytes)
            .map_err(|problem| ReviewError::Unopened { place: place(), problem })?;
        let options = ReadOptions { bytes: request.report_bytes, ..ReadOptions::default() };
        let triggers = read_triggers(&bytes, &options)
            .map_err(|problem| ReviewError::Report { place: place(), problem: Box::new(problem) })?;
        let at = match (self.one(), &triggers.skill_name) {
            (Some(one), Some(name)) => {
                let report = one.saved.skill_name.as_ref().filter(|report| *report != name);
                warnings.extend(report.map(|report| ReviewWarning::OtherSkill {
                    triggers: visible(name, false),
                    report: visible(report, false),
                }));
                0
            }
            (Some(_), None) => 0,
            (None, name) => {
                let name = name.clone().unwrap_or_else(|| "without a name".to_owned());
                self.named(&name).ok_or(ReviewError::UnknownSkill { option: "--triggers", skill: name })?
            }
        };
        let alpha = self.skills[at].analysis.inference.thresholds.alpha();
        Ok((at, TriggerRates::of(&triggers, alpha)))
    }
}

pub(super) fn read(path: &Path, request: &ReviewRequest<'_>, is_compared: bool) -> Result<ReadReport, ReviewError> {
    let place = shown_path(path);
    let bytes = read_named(path, request.report_bytes)
        .map_err(|problem| ReviewError::Unopened { place: place.clone(), problem })?;
    let options = ReadOptions { bytes: request.report_bytes, ..ReadOptions::default() };
    let refuse = |problem| ReviewError::Report { place: place.clone(), problem: Box::new(problem) };
    let saved = read_saved_report(&bytes, &options).map_err(refuse)?;
    let side = match (&saved, is_compared) {
        (SavedReport::Benchmark(_), true) => {
            Some(Side::of_file(place.clone(), claims::read(&bytes, &options).map_err(refuse)?))
        }
        _ => None,
    };
    let sha256 = ContentDigest::of(&bytes).to_string();
    let sha256 = sha256.strip_prefix("sha256:").unwrap_or(&sha256).to_owned();
    drop(bytes);
    Ok(match saved {
        SavedReport::Benchmark(saved) => {
            ReadReport { skills: vec![ReadSkill::of(*saved)], several: None, sha256, side }
        }
        SavedReport::Aggregate(mut saved) => {
            saved.name_cases_by_skill();
            let SavedAggregate { generated_at, skills, holds_mean, holds_cost } = saved;
            let skills: Vec<ReadSkill> = skills.into_iter().map(ReadSkill::of).collect();
            let thresholds = Thresholds::default();
            let of_skill = |skill: &'_ ReadSkill| -> String { skill.saved.skill_name.clone().unwrap_or_default() };
            let names: Vec<String> = skills.iter().map(of_skill).collect();
            let each = names.iter().zip(&skills).map(|(name, skill)| OneSkill { name, analysis: &skill.analysis });
            let figures = SeveralSkills::of(&each.collect::<Vec<_>>(), thresholds.alpha());
            let several = Some(Several { figures, thresholds, holds_mean, holds_cost, generated_at });
            ReadReport { skills, several, sha256, side }
        }
    })
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
