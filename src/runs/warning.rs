//! Oddities of a run tree that do not stop the reading.

use std::fmt;

/// Stable codes of the warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningCode {
    /// The runs root does not exist.
    RunsMissing,
    /// `run-02` instead of `run-2`.
    PaddedRunName,
    /// `run-0`.
    RunZero,
    /// `run-1` and `run-3` without `run-2`.
    GapInRepetitions,
    /// An answer beside `run-*` folders.
    MixedLayout,
    /// Two directories claim the same run and one was dropped on request.
    DuplicateDropped,
    /// More than one file that could be the answer.
    SeveralOutputFiles,
    /// Two sidecar files give different values for the same key.
    SidecarConflict,
    /// A sidecar file cannot be read.
    SidecarUnreadable,
    /// `timeout` is a number, which is a limit and not a failure.
    TimeoutIsALimit,
    /// A link that leads out of its root, or one to a folder where links are not followed.
    LinkRefused,
    /// A folder beside the evals cannot be looked into.
    FolderPassedOver,
    /// More files in `outputs/` than are read.
    TruncatedOutputs,
    /// Bytes that are not UTF-8 were replaced.
    DecodeLossy,
    /// The answer cannot be read.
    OutputUnreadable,
    /// The answer is larger than the limit.
    OutputTooLarge,
    /// A similarity left out frequent characters.
    UnstableAutojunk,
    /// A folder of the runs root that is no case of the suite.
    UnknownCase,
    /// A file of verdicts cannot be read.
    GradingUnreadable,
    /// A file of verdicts holds no list of them.
    NoVerdictList,
    /// Control characters inside strings of a file were escaped.
    ControlCharacterInString,
    /// Counts in a file of verdicts contradict its entries.
    SummaryContradictsEntries,
    /// A verdict is neither true, false nor null.
    UnreadableVerdict,
    /// A file of verdicts names another case or arm than its folder.
    MisfiledGrading,
    /// The grader says that the skill was not loaded.
    SkillNotLoaded,
    /// Somebody left a remark on a run.
    NotedRun,
    /// The numbers of a run are made up.
    Simulated,
    /// A grader left assertions out, which count as failed.
    IncompleteVerdicts,
    /// Declared inputs had changed when an iteration began, or nobody could say.
    SourceFixtureDirty,
    /// Only a part of the suite was run.
    PartialSuiteSelection,
    /// The prompt of a case is not the one that its eval was run with.
    PromptDiffers,
    /// A run without the skill had it.
    BaselineContaminated,
    /// One of several iterations was read.
    OtherIterations,
    /// The plan in the folder of the runs cannot be read.
    PlanUnreadable,
}

impl WarningCode {
    /// The code in reports and on the terminal.
    pub fn code(self) -> &'static str {
        match self {
            Self::RunsMissing => "runs_missing",
            Self::PaddedRunName => "padded_run_name",
            Self::RunZero => "run_zero",
            Self::GapInRepetitions => "gap_in_repetitions",
            Self::MixedLayout => "mixed_layout",
            Self::DuplicateDropped => "duplicate_dropped",
            Self::SeveralOutputFiles => "several_output_files",
            Self::SidecarConflict => "sidecar_conflict",
            Self::SidecarUnreadable => "sidecar_unreadable",
            Self::TimeoutIsALimit => "timeout_is_a_limit",
            Self::LinkRefused => "link_refused",
            Self::FolderPassedOver => "folder_passed_over",
            Self::TruncatedOutputs => "truncated_outputs",
            Self::DecodeLossy => "decode_lossy",
            Self::OutputUnreadable => "output_unreadable",
            Self::OutputTooLarge => "output_too_large",
            Self::UnstableAutojunk => "unstable_autojunk",
            Self::UnknownCase => "unknown_case",
            Self::GradingUnreadable => "grading_unreadable",
            Self::NoVerdictList => "no_verdict_list",
            Self::ControlCharacterInString => "control_character_in_string",
            Self::SummaryContradictsEntries => "summary_contradicts_entries",
            Self::UnreadableVerdict => "unreadable_verdict",
            Self::MisfiledGrading => "misfiled_grading",
            Self::SkillNotLoaded => "skill_not_loaded",
            Self::NotedRun => "noted_run",
            Self::Simulated => "simulated",
            Self::IncompleteVerdicts => "incomplete_verdicts",
            Self::SourceFixtureDirty => "source_fixture_dirty",
            Self::PartialSuiteSelection => "partial_suite_selection",
            Self::PromptDiffers => "prompt_differs",
            Self::BaselineContaminated => "baseline_contaminated",
            Self::OtherIterations => "other_iterations",
            Self::PlanUnreadable => "plan_unreadable",
        }
    }

    /// Whether `--strict-layout` makes it an error: it is about how the tree is laid out, not about one answer.
    pub fn is_layout(self) -> bool {
        matches!(
            self,
            Self::RunsMissing
                | Self::PaddedRunName
                | Self::RunZero
                | Self::GapInRepetitions
                | Self::MixedLayout
                | Self::SeveralOutputFiles
                | Self::LinkRefused
                | Self::FolderPassedOver
                | Self::PlanUnreadable
        )
    }
}

/// One oddity and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunWarning {
    /// What kind it is.
    pub code: WarningCode,
    /// Path relative to the runs root, `/` between components; empty for the root.
    pub path: String,
    /// What was seen and what was done. Lower case, no full stop.
    pub message: String,
}

impl fmt::Display for RunWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}
