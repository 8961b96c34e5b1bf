//! Which runs of a report have a rate, and which one.

use std::collections::HashMap;

use skill_lift_text::python;

use super::entries::Entry;
use crate::analyze::Analysis;
use crate::runs::claims::SavedRow;

/// A report that is exported.
#[derive(Debug, Clone, Copy)]
pub struct ExportedReport<'a> {
    /// The skill under test.
    pub skill_name: &'a str,
    /// Where the skill is, if the user says it.
    pub skill_path: &'a str,
    /// Seconds since 1970, only when the report is stamped.
    pub generated_at: Option<i64>,
    /// Its rows, in report order.
    pub rows: &'a [SavedRow],
    /// Its analysis.
    pub analysis: &'a Analysis,
}

/// What a rate is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateOver {
    /// Checks and judgements.
    Combined,
    /// The checks that need no judge: what the headline compares.
    Objective,
}

/// Why a run is not among those that have a rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOut {
    /// It is not scored, for these reasons.
    Unscored(Vec<String>),
    /// Nothing of it was graded.
    NothingGraded,
}

/// The rate of a run and its counts. A veto makes the rate zero without touching the counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatedRun {
    /// The rate.
    pub pass_rate: f64,
    /// Checks that hold.
    pub passed: u32,
    /// Checks that count.
    pub total: u32,
    /// Whether a critical check failed.
    pub vetoed: bool,
}

/// A run with its place in an export.
#[derive(Debug, Clone)]
pub struct ExportedRun<'a> {
    /// Number of its case, from 0 in report order.
    pub eval_id: usize,
    /// Its row.
    pub row: &'a SavedRow,
    /// Its rate, or why it has none.
    pub rated: Result<RatedRun, LeftOut>,
}

impl<'a> ExportedReport<'a> {
    /// Every run in report order.
    pub fn runs(&self, over: RateOver) -> Vec<ExportedRun<'a>> {
        let numbers = self.eval_ids();
        let run = |row: &'a SavedRow| ExportedRun {
            eval_id: numbers.get(row.case.id.as_str()).copied().unwrap_or_default(),
            row,
            rated: RatedRun::of(row, over),
        };
        self.rows.iter().map(run).collect()
    }

    /// The models that the runs name, each once, by name.
    pub fn models(&self) -> Vec<&'a str> {
        let mut models: Vec<&str> = self.rows.iter().filter_map(|row| row.model.as_deref()).collect();
        models.sort_unstable();
        models.dedup();
        models
    }

    /// Whether arms are told apart by their models as well: where there are several, or scored runs with and without one.
    /// A run that came to nothing often names none.
    pub fn tells_models(&self) -> bool {
        let models = self.models();
        let is_unnamed = |row: &SavedRow| row.model.is_none() && row.is_scorable();
        models.len() > 1 || (!models.is_empty() && self.rows.iter().any(is_unnamed))
    }

    /// The ids of the cases in report order.
    pub fn case_ids(&self) -> Vec<&'a str> {
        let mut ids: Vec<(&str, usize)> = self.eval_ids().into_iter().collect();
        ids.sort_by_key(|(_, number)| *number);
        ids.into_iter().map(|(id, _)| id).collect()
    }

    fn eval_ids(&self) -> HashMap<&'a str, usize> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for row in self.rows {
            let next = numbers.len();
            numbers.entry(&row.case.id).or_insert(next);
        }
        numbers
    }
}

impl RatedRun {
    fn of(row: &SavedRow, over: RateOver) -> Result<Self, LeftOut> {
        if !row.is_scorable() {
            return Err(LeftOut::Unscored(row.unscored_reasons.clone()));
        }
        let (passed, total) = match over {
            RateOver::Combined => (
                row.objective.passed.saturating_add(row.qualitative.passed),
                row.objective.total.saturating_add(row.qualitative.total),
            ),
            // what the entries of the run say, so that a reader of them finds the same
            RateOver::Objective if row.checks.is_empty() => (row.objective.passed, row.objective.total),
            RateOver::Objective => {
                let entries = || row.checks.iter().filter_map(|check| Entry::objective(row, check));
                let counted = || entries().filter(|entry| entry.mark.counts());
                let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
                (narrow(counted().filter(|entry| entry.passed).count()), narrow(counted().count()))
            }
        };
        if total == 0 || !row.is_rated {
            return Err(LeftOut::NothingGraded);
        }
        let pass_rate = if row.vetoed { 0.0 } else { f64::from(passed) / f64::from(total) };
        Ok(Self { pass_rate, passed, total, vetoed: row.vetoed })
    }
}

impl ExportedRun<'_> {
    /// Wall-clock time, if it was measured.
    pub(super) fn seconds(&self) -> Option<f64> {
        let elapsed = self.row.telemetry.elapsed_ms.value()?;
        Some(python::round_half_even(*elapsed as f64 / 1000.0, 3))
    }

    /// Tokens, if they were measured.
    pub(super) fn tokens(&self) -> Option<u64> {
        self.row.telemetry.total_tokens.value().copied()
    }
}
