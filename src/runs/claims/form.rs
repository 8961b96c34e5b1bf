//! The forms of result files.

use std::fmt;

/// How a result file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimForm {
    /// `runs[]` with the numbers of each run under `result`.
    RunRecords,
    /// `runs[]` with the numbers in the row itself.
    FlatRuns,
    /// `runs[]` beside a `run_summary` that is a list.
    SummaryList,
    /// `runs[]` that hold both arms in one row.
    PairedRuns,
    /// `configurations[]` or `configs[]`, each with its evals.
    ConfigurationList,
    /// `evals[]` with an object for each arm.
    PairedEvals,
    /// `results` or `scenarios`: an object with an entry for each case, which holds the arms.
    CaseMap,
    /// The arms at top level.
    TopLevelArms,
    /// `per_case[]` or `results[]` of one arm that has no name.
    OneArm,
    /// `iterations[]` with `evaluations` whose keys name case and arm.
    Iterations,
    /// Means of arms without rows.
    AggregateOnly,
    /// The report of the reference package.
    ReferenceReport,
    /// A report of this program.
    OwnReport,
    /// The benchmark of an executor/grader workspace.
    SkillEval,
    /// The benchmark of a forge workspace: a mean for each case and arm.
    Forge,
    /// No file: runs that were graded, row by row.
    GradedRuns,
}

impl ClaimForm {
    /// The word for the form.
    pub fn word(self) -> &'static str {
        match self {
            Self::RunRecords => "run-records",
            Self::FlatRuns => "flat-runs",
            Self::SummaryList => "summary-list",
            Self::PairedRuns => "paired-runs",
            Self::ConfigurationList => "configuration-list",
            Self::PairedEvals => "paired-evals",
            Self::CaseMap => "case-map",
            Self::TopLevelArms => "top-level-arms",
            Self::OneArm => "one-arm",
            Self::Iterations => "iterations",
            Self::AggregateOnly => "aggregate-only",
            Self::ReferenceReport => "reference-report",
            Self::OwnReport => "skill-lift-report",
            Self::SkillEval => "skill-eval",
            Self::Forge => "skill-forge",
            Self::GradedRuns => "graded-runs",
        }
    }
}

impl fmt::Display for ClaimForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
