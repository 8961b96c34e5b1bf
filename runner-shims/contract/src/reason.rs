//! The closed lists of codes that say why a run has no score and why a pair does not count.

use std::fmt;

use serde::{Serialize, Serializer};

/// Why a run is not scored. The order is that of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnscoredReason {
    /// The run directory has no answer.
    MissingOutput,
    /// There is no run directory.
    MissingRun,
    /// The run declares its files and they are not all there, or not as declared.
    IncompleteArtifactSet,
    /// The run was ended by its time limit.
    TimedOut,
    /// The agent did not finish: return code, failure marker, provider error.
    ExecutorError,
    /// The answer is larger than the limit and was not read.
    OutputTooLarge,
    /// A check of the run is of a type that this version does not grade.
    UnsupportedAssertion,
}

impl UnscoredReason {
    /// The code in files and reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingOutput => "missing_output",
            Self::MissingRun => "missing_run",
            Self::IncompleteArtifactSet => "incomplete_artifact_set",
            Self::TimedOut => "timed_out",
            Self::ExecutorError => "executor_error",
            Self::OutputTooLarge => "output_too_large",
            Self::UnsupportedAssertion => "unsupported_assertion",
        }
    }
}

impl fmt::Display for UnscoredReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for UnscoredReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// A number of a run that pairs are built on. All lie between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Passed share of the gate and critical checks that need no judge.
    ObjectivePassRate,
    /// Mean score of the soft checks.
    GradedScore,
}

impl Metric {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ObjectivePassRate => "objective_pass_rate",
            Self::GradedScore => "graded_score",
        }
    }
}

/// Why a pair does not count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BlockedReason {
    /// One arm has no run with this key.
    MissingArm {
        /// The arm that is missing.
        variant: String,
    },
    /// The repetition has no positive number.
    InvalidRunNumber,
    /// A run of the pair is not scored.
    UnscorableArm,
    /// A run of the pair has no such number.
    MissingMetric(Metric),
    /// The arms ran with different effort.
    EffortMismatch,
}

impl BlockedReason {
    /// The code in reports.
    pub fn code(&self) -> String {
        match self {
            Self::MissingArm { variant } => format!("missing_{variant}"),
            Self::InvalidRunNumber => "invalid_run_number".to_owned(),
            Self::UnscorableArm => "unscorable_arm".to_owned(),
            Self::MissingMetric(metric) => format!("missing_{}", metric.name()),
            Self::EffortMismatch => "effort_mismatch".to_owned(),
        }
    }
}
