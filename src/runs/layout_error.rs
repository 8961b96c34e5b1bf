//! Why a run tree or a workspace is refused.

/// Why a run tree is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// `run-x`.
    #[error("invalid run directory name: {name} under {folder}; repetitions are named run-1, run-2 and so on")]
    RunName {
        /// The name.
        name: String,
        /// The folder it is in.
        folder: String,
    },
    /// `run-2` beside `run-02`.
    #[error(
        "duplicate run identity under {folder}: {number} ({first} and {second}); remove one, or keep the last with \
         --on-duplicate last"
    )]
    Duplicate {
        /// The folder they are in.
        folder: String,
        /// The number that both claim.
        number: u32,
        /// The first directory.
        first: String,
        /// The second directory.
        second: String,
    },
    /// Two directories of different places claim the same run.
    #[error(
        "duplicate run identity: case {case}, model {model}, {variant}, repetition {number} ({first} and {second}); \
         remove one, or keep the last with --on-duplicate last"
    )]
    DuplicateKey {
        /// Case id.
        case: String,
        /// Model name.
        model: String,
        /// Arm.
        variant: String,
        /// Repetition.
        number: u32,
        /// The first directory.
        first: String,
        /// The second directory.
        second: String,
    },
    /// More entries than a directory may have.
    #[error("{folder} has more than {limit} entries (--max-dir-entries)")]
    TooManyEntries {
        /// The folder.
        folder: String,
        /// The limit.
        limit: usize,
    },
    /// There is no runs root.
    #[error("runs directory does not exist: {0}")]
    Missing(String),
    /// The runs root is no directory.
    #[error("not a directory: {0}")]
    NotADirectory(String),
    /// The system says no.
    #[error("cannot read {folder}: {message}")]
    Unreadable {
        /// The folder.
        folder: String,
        /// What the system says.
        message: String,
    },
    /// Nothing in a folder is laid out like runs.
    #[error(
        "no runs are recognised in {folder}; looked for {}{}{}",
        patterns.join(", "), iterations_hint(iterations), passed_over_hint(passed_over)
    )]
    NoLayout {
        /// The folder.
        folder: String,
        /// What was looked for.
        patterns: Vec<&'static str>,
        /// Folders below it that would be recognised.
        iterations: Vec<String>,
        /// Folders that were not looked into, each with the reason.
        passed_over: Vec<String>,
    },
    /// Two directories hold the same eval.
    #[error(
        "eval {eval_id} is claimed twice, by {first} and by {second}; remove one of them, or choose with \
         --layout nested|flat"
    )]
    EvalClaimedTwice {
        /// The id.
        eval_id: String,
        /// The first directory.
        first: String,
        /// The second directory.
        second: String,
    },
    /// The arms of an eval were not asked the same.
    #[error(
        "the arms of one eval differ in `{key}`: {first} and {second}; correct one of them, for runs of different work \
         cannot be compared"
    )]
    ArmsDiffer {
        /// What differs.
        key: &'static str,
        /// The description of the first arm.
        first: String,
        /// That of the other arm.
        second: String,
    },
}

/// What may hold runs and was not looked into.
fn passed_over_hint(passed_over: &[String]) -> String {
    match passed_over {
        [] => String::new(),
        some => format!("; not looked into: {}", some.join(", ")),
    }
}

/// What to name instead of a folder that holds several iterations.
fn iterations_hint(iterations: &[String]) -> String {
    match iterations {
        [] => String::new(),
        [one] => format!("; name {one} below it"),
        several => format!("; name one of {} below it", several.join(", ")),
    }
}
