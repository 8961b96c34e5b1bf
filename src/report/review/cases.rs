//! The runs of a report by case, as the page shows them.

use std::collections::HashMap;

use crate::analyze::table::RunTable;
use crate::report::formats::Again;
use crate::runs::claims::{SavedBenchmark, SavedRow};

/// A run of one of the two arms of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunOfPage<'a> {
    pub(super) row: &'a SavedRow,
    /// 0 with the skill, 1 without it.
    pub(super) arm: usize,
    /// Position in the list of models.
    pub(super) model: usize,
}

/// The runs of a case, by model, repetition and arm.
#[derive(Debug, Default)]
pub(super) struct CaseOfPage<'a> {
    pub(super) runs: Vec<RunOfPage<'a>>,
}

/// All cases.
#[derive(Debug)]
pub(super) struct CasesOfPage<'a> {
    by_id: HashMap<&'a str, CaseOfPage<'a>>,
    /// The models by name; a run without one has the first, which is empty then.
    pub(super) models: Vec<&'a str>,
}

impl<'a> CasesOfPage<'a> {
    /// The runs with the skill and those that they are compared with.
    pub(super) fn of(again: Again<'a>) -> Self {
        let Again { saved, analysis } = again;
        let RunTable { models: named, baseline, .. } = &analysis.table;
        let mut models: Vec<&str> = named.iter().map(String::as_str).collect();
        let is_of_page = |row: &SavedRow| arm_of(row, baseline.variant()).is_some();
        if saved.rows.iter().any(|row| row.model.is_none() && is_of_page(row)) {
            models.insert(0, "");
        }
        let positions: HashMap<&str, usize> = models.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let mut by_id: HashMap<&str, CaseOfPage<'_>> = HashMap::new();
        for row in &saved.rows {
            let Some(arm) = arm_of(row, baseline.variant()) else { continue };
            let model = positions.get(row.model.as_deref().unwrap_or_default()).copied().unwrap_or_default();
            by_id.entry(&row.case.id).or_default().runs.push(RunOfPage { row, arm, model });
        }
        for case in by_id.values_mut() {
            case.runs.sort_by_key(|run| (run.model, run.row.repetition, run.arm));
        }
        Self { by_id, models }
    }

    /// The runs of a case.
    pub(super) fn get(&self, id: &str) -> Option<&CaseOfPage<'a>> {
        self.by_id.get(id)
    }

    /// All runs of the page.
    pub(super) fn runs(&self) -> usize {
        self.by_id.values().map(|case| case.runs.len()).sum()
    }
}

fn arm_of(row: &SavedRow, baseline: &str) -> Option<usize> {
    match row.variant.as_str() {
        crate::analyze::table::WITH_SKILL => Some(0),
        variant if variant == baseline => Some(1),
        _ => None,
    }
}

/// The runs of another report by what identifies them.
#[derive(Debug)]
pub(super) struct RunsByKey<'a>(HashMap<(&'a str, Option<&'a str>, &'a str, u32), &'a SavedRow>);

impl<'a> RunsByKey<'a> {
    pub(super) fn of(saved: &'a SavedBenchmark) -> Self {
        let key =
            |row: &'a SavedRow| (row.case.id.as_str(), row.model.as_deref(), row.variant.as_str(), row.repetition);
        Self(saved.rows.iter().map(|row| (key(row), row)).collect())
    }

    /// The run that is the same one as a run of this report.
    pub(super) fn same(&self, row: &SavedRow) -> Option<&'a SavedRow> {
        self.0.get(&(row.case.id.as_str(), row.model.as_deref(), row.variant.as_str(), row.repetition)).copied()
    }
}
