//! What a workspace says of its cases: from the rows of the report, and from its suite where there is one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::judge::task::prompt_of;
use crate::report::exported::{EvalDescription, ExportedReport};
use crate::runs::claims::SavedRow;
use crate::suite::{Case, Suite};

/// Texts of a suite that evals borrow.
pub(super) struct EvalTexts<'a> {
    prompts: HashMap<&'a str, Cow<'a, str>>,
    cases: HashMap<&'a str, &'a Case>,
}

impl<'a> EvalTexts<'a> {
    /// Reads the prompts of a suite; one that cannot be read is none.
    pub(super) fn of(suite: Option<&'a Suite>) -> Self {
        let cases = || suite.into_iter().flat_map(|suite| suite.cases.iter().map(move |case| (suite, case)));
        Self {
            prompts: cases()
                .filter_map(|(suite, case)| Some((case.id.as_str(), prompt_of(suite, case, false)?)))
                .collect(),
            cases: cases().map(|(_, case)| (case.id.as_str(), case)).collect(),
        }
    }

    /// The cases of a report, in its order.
    pub(super) fn descriptions<'t>(&'t self, report: &ExportedReport<'t>) -> Vec<EvalDescription<'t>> {
        let mut rows_of: HashMap<&str, Vec<&'t SavedRow>> = HashMap::new();
        for row in report.rows {
            rows_of.entry(&row.case.id).or_default().push(row);
        }
        let ids = report.case_ids().into_iter().enumerate();
        ids.map(|(eval_id, id)| {
            let rows = rows_of.get(id).map(Vec::as_slice).unwrap_or_default();
            self.description(eval_id, id, rows)
        })
        .collect()
    }

    fn description<'t>(&'t self, eval_id: usize, id: &'t str, rows: &[&'t SavedRow]) -> EvalDescription<'t> {
        let case = self.cases.get(id);
        let texts: HashMap<&str, &str> = case
            .into_iter()
            .flat_map(|case| &case.assertions)
            .filter_map(|assertion| Some((assertion.label.as_str(), assertion.text.as_deref()?)))
            .collect();
        let mut seen = HashSet::new();
        let labels = rows.iter().flat_map(|row| row.checks.iter().map(|check| check.name.as_str()));
        let checks = labels
            .filter(|label| seen.insert(*label))
            .map(|label| (label, texts.get(label).copied().unwrap_or(label)))
            .collect();
        EvalDescription {
            eval_id,
            case_id: id,
            family: rows.iter().find_map(|row| row.case.family.as_deref()),
            prompt: self.prompts.get(id).map(Cow::as_ref),
            expected_output: case.map(|case| case.expected_behavior.join("\n")).filter(|expected| !expected.is_empty()),
            checks,
        }
    }
}
