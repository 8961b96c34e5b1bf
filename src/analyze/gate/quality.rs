//! Whether a report is whole: every case run in both arms, every run with its time and tokens, every check decided. What is
//! missing may change nothing; who asks for quality wants to know before the lift is used.

use std::collections::BTreeMap;

use crate::runs::claims::ClaimedRun;
use crate::runs::{Role, control_among};

/// A way in which a report is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum QualityProblem {
    /// A case has no run in one of the arms.
    ArmMissing,
    /// A run enters no rate.
    RunNotScored,
    /// A check of a run has no verdict.
    CheckUndecided,
    /// A run does not say how long it took.
    TimeMissing,
    /// A run does not say how many tokens it used.
    TokensMissing,
}

impl QualityProblem {
    /// Every problem, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::ArmMissing, Self::RunNotScored, Self::CheckUndecided, Self::TimeMissing, Self::TokensMissing];

    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::ArmMissing => "arm_missing",
            Self::RunNotScored => "run_not_scored",
            Self::CheckUndecided => "check_undecided",
            Self::TimeMissing => "time_missing",
            Self::TokensMissing => "tokens_missing",
        }
    }
}

/// A problem that a report has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityFinding {
    /// What it is.
    pub problem: QualityProblem,
    /// Cases, runs or checks that have it.
    pub count: usize,
    /// The first case that has it.
    pub first_case: String,
}

/// Whether a report is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quality {
    /// What it lacks.
    pub findings: Vec<QualityFinding>,
}

impl Quality {
    /// Looks at the runs of both arms.
    pub(super) fn of(rows: &[ClaimedRun]) -> Self {
        let control = control_among(rows.iter().map(|row| row.configuration.role));
        let mut found: BTreeMap<QualityProblem, QualityFinding> = BTreeMap::new();
        let mut add = |problem, case: &str, count: usize| {
            if count > 0 {
                let first = || QualityFinding { problem, count: 0, first_case: case.to_owned() };
                found.entry(problem).or_insert_with(first).count += count;
            }
        };
        let mut arms: BTreeMap<&str, [bool; 2]> = BTreeMap::new();
        for row in rows {
            let arm = match row.configuration.role {
                Role::Treatment => 0,
                role if Some(role) == control => 1,
                _ => continue,
            };
            let case = row.case.id.as_str();
            arms.entry(case).or_default()[arm] = true;
            add(QualityProblem::RunNotScored, case, usize::from(!row.rate.is_scored()));
            let undecided = row.assertions.iter().filter(|check| check.passed.is_none() && !check.is_skipped).count();
            add(QualityProblem::CheckUndecided, case, undecided);
            add(QualityProblem::TimeMissing, case, usize::from(row.duration_ms.is_err()));
            add(QualityProblem::TokensMissing, case, usize::from(row.tokens.is_err()));
        }
        for (case, arms) in arms {
            add(QualityProblem::ArmMissing, case, usize::from(arms != [true, true]));
        }
        Self { findings: found.into_values().collect() }
    }

    /// Whether nothing is missing.
    pub fn is_met(&self) -> bool {
        self.findings.is_empty()
    }
}
