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
    /// The program that runs the agent failed.
    RunnerError,
    /// There is no file of verdicts.
    MissingGrading,
    /// The file of verdicts cannot be read.
    UnreadableGrading,
    /// The file of verdicts names another case or arm than its folder.
    MisfiledGrading,
    /// No verdict is true or false.
    NoVerdicts,
    /// A verdict is neither true nor false nor absent.
    UnreadableVerdict,
    /// The case has nothing to check.
    NoAssertions,
    /// The grader was ended by its time limit.
    GraderTimeout,
    /// The grader did not finish.
    GraderFailed,
    /// The answer of the grader holds no list of verdicts.
    GraderUnparseable,
    /// No verdict of the grader is about an assertion of the case.
    GraderIncomplete,
    /// The answer of the grader holds verdicts that contradict each other.
    GraderConflict,
    /// The grader left assertions out, and strict evidence was asked for.
    IncompleteVerdicts,
    /// The answer is larger than the limit and was not read.
    OutputTooLarge,
    /// A check of the run is of a type that this version does not grade.
    UnsupportedAssertion,
}

/// What kind of thing went wrong with a run that is not scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonClass {
    /// Something is not there.
    Absent,
    /// The run was made and did not come to its end, or its files did not survive.
    Infrastructure,
    /// The answer could not be graded.
    Grading,
    /// The grader did not come to verdicts.
    Grader,
}

impl UnscoredReason {
    /// Every reason, in the order of reports.
    pub const ALL: [Self; 20] = [
        Self::MissingOutput,
        Self::MissingRun,
        Self::IncompleteArtifactSet,
        Self::TimedOut,
        Self::ExecutorError,
        Self::RunnerError,
        Self::MissingGrading,
        Self::UnreadableGrading,
        Self::MisfiledGrading,
        Self::NoVerdicts,
        Self::UnreadableVerdict,
        Self::NoAssertions,
        Self::GraderTimeout,
        Self::GraderFailed,
        Self::GraderUnparseable,
        Self::GraderIncomplete,
        Self::GraderConflict,
        Self::IncompleteVerdicts,
        Self::OutputTooLarge,
        Self::UnsupportedAssertion,
    ];

    /// The reason with a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// What kind of thing went wrong.
    pub fn class(self) -> ReasonClass {
        match self {
            Self::MissingOutput | Self::MissingRun => ReasonClass::Absent,
            Self::IncompleteArtifactSet | Self::TimedOut | Self::ExecutorError | Self::RunnerError => {
                ReasonClass::Infrastructure
            }
            Self::MissingGrading
            | Self::UnreadableGrading
            | Self::MisfiledGrading
            | Self::NoVerdicts
            | Self::UnreadableVerdict
            | Self::NoAssertions
            | Self::OutputTooLarge
            | Self::UnsupportedAssertion => ReasonClass::Grading,
            Self::GraderTimeout
            | Self::GraderFailed
            | Self::GraderUnparseable
            | Self::GraderIncomplete
            | Self::GraderConflict
            | Self::IncompleteVerdicts => ReasonClass::Grader,
        }
    }

    /// The code in files and reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingOutput => "missing_output",
            Self::MissingRun => "missing_run",
            Self::IncompleteArtifactSet => "incomplete_artifact_set",
            Self::TimedOut => "timed_out",
            Self::ExecutorError => "executor_error",
            Self::RunnerError => "runner_error",
            Self::MissingGrading => "missing_grading",
            Self::UnreadableGrading => "unreadable_grading",
            Self::MisfiledGrading => "misfiled_grading",
            Self::NoVerdicts => "no_verdicts",
            Self::UnreadableVerdict => "unreadable_verdict",
            Self::NoAssertions => "no_assertions",
            Self::GraderTimeout => "grader_timeout",
            Self::GraderFailed => "grader_failed",
            Self::GraderUnparseable => "grader_unparseable",
            Self::GraderIncomplete => "grader_incomplete",
            Self::GraderConflict => "grader_conflict",
            Self::IncompleteVerdicts => "incomplete_verdicts",
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
    /// What the agent did in a run of the pair is not known. Only the comparison of trajectories leaves such a pair out.
    MissingTraceEvidence,
    /// A run of the pair says that its trace is not complete. Only the comparison of trajectories leaves such a pair out.
    IncompleteTraceEvidence,
    /// A check had its evidence in one arm and not in the other. Only inference leaves such a pair out.
    AsymmetricEvidence,
    /// The run without the skill had it. Only inference leaves such a pair out.
    BaselineContaminated,
    /// The arms were graded on different numbers of assertions. Only inference leaves such a pair out.
    AssertionCountDiffers,
    /// Every check of a run is one that only one arm can satisfy. Only inference leaves such a pair out.
    NoSharedCriteria,
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
            Self::MissingTraceEvidence => "missing_trace_evidence".to_owned(),
            Self::IncompleteTraceEvidence => "incomplete_trace_evidence".to_owned(),
            Self::AsymmetricEvidence => "asymmetric_evidence".to_owned(),
            Self::BaselineContaminated => "baseline_contaminated".to_owned(),
            Self::AssertionCountDiffers => "assertion_count_differs".to_owned(),
            Self::NoSharedCriteria => "no_shared_criteria".to_owned(),
        }
    }

    /// Whether only inference leaves such a pair out, while the headline keeps it.
    pub fn is_of_inference(&self) -> bool {
        matches!(
            self,
            Self::AsymmetricEvidence
                | Self::BaselineContaminated
                | Self::AssertionCountDiffers
                | Self::NoSharedCriteria
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_its_code() {
        for reason in UnscoredReason::ALL {
            assert_eq!(UnscoredReason::from_code(reason.code()), Some(reason));
        }
        assert!(UnscoredReason::ALL.is_sorted(), "the order of reports");
        assert_eq!(UnscoredReason::from_code("timeout"), None);
    }
}
