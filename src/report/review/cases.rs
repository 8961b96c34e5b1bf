//! The runs of a report by case, as the page shows them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

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

/// The models of a page by name, in the order of its reports; a run without one has the first, which is empty then.
#[derive(Debug, Default)]
pub(super) struct Models<'a> {
    names: Vec<&'a str>,
    positions: HashMap<&'a str, usize>,
}

impl<'a> Models<'a> {
    /// The models of some reports.
    pub(super) fn of(skills: impl Iterator<Item = Again<'a>> + Clone) -> Self {
        let mut models = Self::default();
        let is_nameless = |again: Again<'a>| {
            let baseline = again.analysis.table.baseline.variant();
            again.saved.rows.iter().any(|row| row.model.is_none() && arm_of(row, baseline).is_some())
        };
        if skills.clone().any(is_nameless) {
            models.add("");
        }
        for again in skills {
            again.analysis.table.models.iter().for_each(|name| models.add(name));
        }
        models
    }

    fn add(&mut self, name: &'a str) {
        if let Entry::Vacant(place) = self.positions.entry(name) {
            place.insert(self.names.len());
            self.names.push(name);
        }
    }

    fn position(&self, name: Option<&str>) -> usize {
        self.positions.get(name.unwrap_or_default()).copied().unwrap_or_default()
    }

    /// Their names.
    pub(super) fn names(&self) -> &[&'a str] {
        &self.names
    }
}

/// All cases of a report.
#[derive(Debug)]
pub(super) struct CasesOfPage<'a> {
    by_id: HashMap<&'a str, CaseOfPage<'a>>,
}

impl<'a> CasesOfPage<'a> {
    /// The runs with the skill and those that they are compared with.
    pub(super) fn of(again: Again<'a>, models: &Models<'_>) -> Self {
        let Again { saved, analysis } = again;
        let baseline = analysis.table.baseline.variant();
        let mut by_id: HashMap<&str, CaseOfPage<'_>> = HashMap::new();
        for row in &saved.rows {
            let Some(arm) = arm_of(row, baseline) else { continue };
            let model = models.position(row.model.as_deref());
            by_id.entry(&row.case.id).or_default().runs.push(RunOfPage { row, arm, model });
        }
        for case in by_id.values_mut() {
            case.runs.sort_by_key(|run| (run.model, run.row.repetition, run.arm));
        }
        Self { by_id }
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
