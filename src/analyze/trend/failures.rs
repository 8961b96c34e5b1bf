//! Checks that fail again and again, and cases that never do.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Report;
use crate::analyze::table::WITH_SKILL;
use crate::runs::claims::{StatedFailure, StatedReport, StatedRow};
use crate::runs::{Role, control_among};

/// A check that failed in at least one report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecurringFailure {
    /// The case.
    pub case: String,
    /// The check.
    pub assertion: String,
    /// How its failure counts.
    pub severity: String,
    /// Reports in which it failed in a scorable run.
    pub failed_in: usize,
    /// Reports in which the case has a scorable run of this arm.
    pub scored_in: usize,
    /// All reports.
    pub reports: usize,
}

impl RecurringFailure {
    /// How much a failure of this severity weighs: 3 critical, 2 gate, 1 anything else.
    pub fn weight(&self) -> usize {
        match self.severity.as_str() {
            "critical" => 3,
            "gate" => 2,
            _ => 1,
        }
    }
}

/// A case that says nothing about the skill any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneCandidate {
    /// The case.
    pub case: String,
    /// Reports in which both arms were scored.
    pub reports: usize,
}

/// Reports that it takes to call a case a candidate.
const FEWEST_REPORTS: usize = 2;

/// The arm that the skill of a report is compared with.
pub(super) fn baseline_of(report: &Report) -> Option<&'static str> {
    let roles = report.side.claims.rows.iter().map(|row| row.configuration.role);
    control_among(roles).and_then(Role::variant)
}

fn scorable<'r>(stated: &'r StatedReport, arm: Option<&str>) -> impl Iterator<Item = &'r StatedRow> {
    stated.rows.iter().filter(move |row| row.is_scorable && Some(row.variant.as_str()) == arm)
}

/// The failures of one arm over the reports of a history.
#[derive(Debug, Default)]
pub(super) struct ArmFailures {
    reports: usize,
    /// Reports in which each case has a scorable run.
    scored_in: HashMap<String, usize>,
    failed_in: HashMap<(String, StatedFailure), usize>,
}

impl ArmFailures {
    pub(super) fn add(&mut self, stated: &StatedReport, arm: Option<&str>) {
        self.reports += 1;
        let (mut cases, mut failures) = (HashSet::new(), HashSet::new());
        for row in scorable(stated, arm) {
            cases.insert(&row.case);
            failures.extend(row.failures.iter().map(|failure| (&row.case, failure)));
        }
        for case in cases {
            *self.scored_in.entry(case.clone()).or_default() += 1;
        }
        for (case, failure) in failures {
            *self.failed_in.entry((case.clone(), failure.clone())).or_default() += 1;
        }
    }

    /// Highest rank first, then by case, check and severity.
    pub(super) fn ranked(self) -> Vec<RecurringFailure> {
        let Self { reports, scored_in, failed_in } = self;
        let failure = |((case, failure), failed_in): ((String, StatedFailure), usize)| RecurringFailure {
            scored_in: scored_in.get(&case).copied().unwrap_or_default(),
            case,
            assertion: failure.assertion,
            severity: failure.severity,
            failed_in,
            reports,
        };
        let mut ranked: Vec<RecurringFailure> = failed_in.into_iter().map(failure).collect();
        let rank = |failure: &RecurringFailure| failure.failed_in * failure.weight();
        ranked.sort_by(|a, b| {
            let by_name = || (&a.case, &a.assertion, &a.severity).cmp(&(&b.case, &b.assertion, &b.severity));
            rank(b).cmp(&rank(a)).then_with(by_name)
        });
        ranked
    }
}

/// Which cases passed everything in both arms.
#[derive(Debug, Default)]
pub(super) struct Saturation {
    /// For each case with both arms in a report: such reports, and whether everything passed in all of them.
    cases: BTreeMap<String, (usize, bool)>,
    /// Whether a case guards against regressions, as the first row of it says.
    guards: HashMap<String, bool>,
}

impl Saturation {
    pub(super) fn add(&mut self, stated: &StatedReport, baseline: Option<&str>) {
        // whether everything passed, by arm
        let mut cases: HashMap<&str, [Option<bool>; 2]> = HashMap::new();
        for row in stated.rows.iter().filter(|row| row.is_scorable) {
            let arm = match row.variant.as_str() {
                WITH_SKILL => 0,
                other if Some(other) == baseline => 1,
                _ => continue,
            };
            let Some(rate) = row.rate else { continue };
            if !self.guards.contains_key(&row.case) {
                self.guards.insert(row.case.clone(), row.guards_regressions);
            }
            let passed = &mut cases.entry(&row.case).or_default()[arm];
            *passed = Some(passed.unwrap_or(true) && rate == 1.0);
        }
        for (case, passed) in cases {
            if let [Some(with), Some(without)] = passed {
                let (reports, always) = self.cases.entry(case.to_owned()).or_insert((0, true));
                *reports += 1;
                *always &= with && without;
            }
        }
    }

    /// By case.
    pub(super) fn candidates(self) -> Vec<PruneCandidate> {
        let Self { cases, guards } = self;
        let is_candidate = |case: &str, reports: usize, always: bool| {
            always && reports >= FEWEST_REPORTS && guards.get(case) == Some(&false)
        };
        let candidates = cases.into_iter().filter(|(case, (reports, always))| is_candidate(case, *reports, *always));
        candidates.map(|(case, (reports, _))| PruneCandidate { case, reports }).collect()
    }
}
