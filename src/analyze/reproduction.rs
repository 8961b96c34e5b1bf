//! Whether a report says what its suite and its runs say now, and if not, where it stops doing so.

/// What has to be the same for a report to come out the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The version of the program.
    ToolVersion,
    /// The suite, with the files that it refers to.
    Suite,
    /// An option of the command line, by its name.
    Option(String),
}

/// A condition that is another one now. Values as they are written in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedCondition {
    /// Which one.
    pub condition: Condition,
    /// When the report was made.
    pub saved: Option<String>,
    /// Now.
    pub now: Option<String>,
}

/// A place whose values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueDifference {
    /// JSON pointer of the place in the report.
    pub pointer: String,
    /// The value in the report, as it is written; `None` if there is none.
    pub saved: Option<String>,
    /// The value now.
    pub now: Option<String>,
}

/// Which run a row is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunIdentity {
    /// The case.
    pub case: String,
    /// The model.
    pub model: Option<String>,
    /// The arm.
    pub variant: String,
    /// The repetition, as it is written.
    pub repetition: String,
}

/// What a part of a row is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The answer.
    Answer,
    /// The record of what the agent did.
    Events,
    /// What the runner recorded beside the answer.
    Sidecars,
    /// The file of the verdicts that another tool stored.
    StoredVerdicts,
    /// The verdicts that were merged.
    JudgeResults,
    /// A program of the suite.
    Program,
}

/// How a run differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunChange {
    /// Its row says something else.
    Row {
        /// The first place, causes before what follows from them.
        difference: ValueDifference,
        /// What that part of the row is read from, where it is known.
        source: Option<Source>,
        /// Which of the files that it may be read from are there now, relative to the run directory.
        files: Vec<&'static str>,
    },
    /// The report has no row of it.
    OnlyNow,
    /// Only the report has a row of it.
    OnlyInReport,
}

/// A run whose row is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDifference {
    /// Which run.
    pub run: RunIdentity,
    /// Its directory, relative to the root of the tree.
    pub run_dir: Option<String>,
    /// What is different.
    pub change: RunChange,
}

/// What became of the files of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFiles {
    /// Byte for byte those that the report was made of.
    Same,
    /// Some of them are others.
    Changed,
    /// The report does not name their digest.
    Unknown,
}

/// Where a report stops saying what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differences {
    /// Conditions that are others now.
    pub conditions: Vec<ChangedCondition>,
    /// The first run that differs.
    pub run: Option<RunDifference>,
    /// Runs that differ.
    pub differing_runs: usize,
    /// Rows of the report.
    pub rows: usize,
    /// What became of the files of the runs.
    pub files: RunFiles,
    /// The first place beside the rows and the conditions that differs.
    pub value: Option<ValueDifference>,
    /// The first line that is written otherwise although it says the same; only when all values agree.
    pub rewritten_line: Option<usize>,
}

/// What verifying a report came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reproduction {
    /// The same bytes, but for the paths that the user typed and the stamp.
    Same {
        /// Rows of the report.
        rows: usize,
    },
    /// Something else.
    Differs(Box<Differences>),
}
