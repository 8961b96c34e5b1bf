//! How a run ended, as its record says.

use skill_lift_contract::UnscoredReason;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// Executed and graded.
    Ok,
    /// The executor was ended by its time limit.
    ExecutorTimeout,
    /// The executor did not finish.
    ExecutorFailed,
    /// The grader was ended by its time limit.
    GraderTimeout,
    /// The grader did not finish.
    GraderFailed,
    /// The answer of the grader holds no list of verdicts.
    GraderUnparseable,
    /// The runner itself failed.
    RunnerError,
    /// No verdict of the grader is about an assertion, so that nothing was judged.
    GraderIncomplete,
    /// The answer of the grader contradicts itself.
    GraderConflict,
    /// There is no record of the run, and its verdicts look like those that are written when nothing was judged.
    Suspect,
    /// The record cannot be read, or contradicts itself.
    Unreadable,
    /// The record names another configuration or run number than its folder.
    Misfiled,
    /// A word that this version does not know; such a run is not scored.
    Other(String),
}

impl RunStatus {
    /// The status of a word in `run.json`.
    pub fn of_word(word: &str) -> Self {
        match word {
            "ok" => Self::Ok,
            "executor_timeout" => Self::ExecutorTimeout,
            "executor_failed" => Self::ExecutorFailed,
            "grader_timeout" => Self::GraderTimeout,
            "grader_failed" => Self::GraderFailed,
            "grader_unparseable" => Self::GraderUnparseable,
            "grader_incomplete" => Self::GraderIncomplete,
            "grader_conflict" => Self::GraderConflict,
            "runner_error" => Self::RunnerError,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The word in reports.
    pub fn word(&self) -> &str {
        match self {
            Self::Ok => "ok",
            Self::ExecutorTimeout => "executor_timeout",
            Self::ExecutorFailed => "executor_failed",
            Self::GraderTimeout => "grader_timeout",
            Self::GraderFailed => "grader_failed",
            Self::GraderUnparseable => "grader_unparseable",
            Self::GraderIncomplete => "grader_incomplete",
            Self::GraderConflict => "grader_conflict",
            Self::RunnerError => "runner_error",
            Self::Suspect => "suspect",
            Self::Unreadable => "unreadable",
            Self::Misfiled => "misfiled",
            Self::Other(word) => word,
        }
    }

    /// Why a run that ended so has no score.
    pub fn unscored_reason(&self) -> Option<UnscoredReason> {
        Some(match self {
            Self::Ok => return None,
            Self::ExecutorTimeout => UnscoredReason::TimedOut,
            Self::ExecutorFailed => UnscoredReason::ExecutorError,
            Self::GraderTimeout => UnscoredReason::GraderTimeout,
            Self::GraderFailed => UnscoredReason::GraderFailed,
            Self::GraderUnparseable => UnscoredReason::GraderUnparseable,
            Self::GraderIncomplete => UnscoredReason::GraderIncomplete,
            Self::GraderConflict => UnscoredReason::GraderConflict,
            // without a record nobody knows what the runner did
            Self::RunnerError | Self::Suspect | Self::Other(_) => UnscoredReason::RunnerError,
            Self::Unreadable => UnscoredReason::UnreadableGrading,
            Self::Misfiled => UnscoredReason::MisfiledGrading,
        })
    }
}
