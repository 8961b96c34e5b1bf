//! Names of the columns of both frames.
//!
//! A reader of the Parquet files should understand them without documentation: a name says the unit, a null means that
//! the value was not measured or does not exist.

/// Columns of the frame `runs`, one row a run.
pub mod runs {
    use crate::suite::OracleTier;

    /// Case id.
    pub const CASE_ID: &str = "case_id";
    /// Name of the case for people, or null.
    pub const CASE_NAME: &str = "case_name";
    /// Position of the case in the suite, from 0.
    pub const CASE_POSITION: &str = "case_position";
    /// Dataset that the case was expanded from, or null.
    pub const DATASET: &str = "dataset";
    /// `tune`, `holdout` or `holdback`.
    pub const SPLIT: &str = "split";
    /// Kind of the case.
    pub const KIND: &str = "kind";
    /// Slice label, or null.
    pub const DOMAIN: &str = "domain";
    /// Slice label, or null.
    pub const DIFFICULTY: &str = "difficulty";
    /// Slice label, or null.
    pub const TRIGGER_TYPE: &str = "trigger_type";
    /// Slice labels, as a list.
    pub const SUCCESS_GOALS: &str = "success_goals";
    /// Tags, as a list.
    pub const TAGS: &str = "tags";
    /// `capability` or `regression`.
    pub const EVAL_INTENT: &str = "eval_intent";
    /// Family of the case, or null.
    pub const FAMILY: &str = "family";
    /// Arm.
    pub const VARIANT: &str = "variant";
    /// Position of the arm in the selection, from 0.
    pub const VARIANT_POSITION: &str = "variant_position";
    /// Model, or null.
    pub const MODEL: &str = "model";
    /// Number of the repetition.
    pub const REPETITION: &str = "repetition";
    /// Directory below the runs root.
    pub const RUN_DIR: &str = "run_dir";
    /// Whether there is no answer.
    pub const MISSING_OUTPUT: &str = "missing_output";
    /// Whether the run finished.
    pub const EXECUTION_VALID: &str = "execution_valid";
    /// Whether the run enters rates.
    pub const SCORABLE: &str = "scorable";
    /// Why not, as a list of codes.
    pub const UNSCORED_REASONS: &str = "unscored_reasons";
    /// Whether a run without the skill had it.
    pub const CONTAMINATED: &str = "contaminated";
    /// Whether the skill was loaded; null when nobody says.
    pub const SKILL_LOADED: &str = "skill_loaded";
    /// Whether a stored list of verdicts leaves assertions out that count as failed.
    pub const INCOMPLETE_VERDICTS: &str = "incomplete_verdicts";
    /// Entries of a stored list of verdicts, decided or not; null for runs that were graded here.
    pub const STORED_VERDICTS: &str = "stored_verdicts";
    /// Whether a critical check failed: every rate is zero then.
    pub const VETOED: &str = "vetoed";
    /// Names of the critical checks that failed, as a list.
    pub const CRITICAL_FAILURES: &str = "critical_failures";
    /// Gate and critical checks without a judge that hold.
    pub const OBJECTIVE_PASSED: &str = "objective_passed";
    /// Gate and critical checks without a judge.
    pub const OBJECTIVE_TOTAL: &str = "objective_total";
    /// Those that look at what the agent did and hold.
    pub const PROCESS_PASSED: &str = "process_passed";
    /// Those that look at what the agent did.
    pub const PROCESS_TOTAL: &str = "process_total";
    /// Those that look at what it used and hold.
    pub const EFFICIENCY_PASSED: &str = "efficiency_passed";
    /// Those that look at what it used.
    pub const EFFICIENCY_TOTAL: &str = "efficiency_total";
    /// Gate and critical judgements that hold.
    pub const QUALITATIVE_PASSED: &str = "qualitative_passed";
    /// Gate and critical judgements.
    pub const QUALITATIVE_TOTAL: &str = "qualitative_total";
    /// Mean score of the soft checks, in ten-thousandths, or null.
    pub const GRADED_SCORE_E4: &str = "graded_score_e4";
    /// Soft checks below the case's reference score, as a list of names.
    pub const BELOW_REFERENCE_FLOOR: &str = "below_reference_floor";
    /// Judgements that were not supplied.
    pub const DEFERRED_JUDGEMENTS: &str = "deferred_judgements";
    /// How many of them are gates or critical.
    pub const DEFERRED_GATES: &str = "deferred_gates";
    /// Effort setting of the model, or null.
    pub const EFFORT: &str = "effort";
    /// Money as decimal text, or null; beside it its currency, where it comes from, and why it is null.
    pub const COST: &str = "cost";
    /// Currency of the money.
    pub const COST_CURRENCY: &str = "cost_currency";
    /// Why the model stopped, or null when it is not recorded.
    pub const STOP_CLASS: &str = "stop_class";
    /// Whether the model that was asked for answered, or null when it is not recorded.
    pub const SERVED_MODEL_CHECK: &str = "served_model_check";
    /// When the run began, in milliseconds since 1970, or null when it is not recorded.
    pub const STARTED_AT_MS: &str = "started_at_ms";
    /// The first eight bytes of the SHA-256 of the answer as a number, or null where the answer was not read. Runs with the
    /// same number gave the same answer.
    pub const ANSWER_DIGEST: &str = "answer_digest";
    /// `seen`, `missing` or `incomplete`: what is known of the way to the answer; null when nobody asked or the run is
    /// not scored. Where it is not `seen`, the columns that follow are null.
    pub const TRACE: &str = "trace";
    /// Calls of tools in the widest sense that ended well.
    pub const STEPS: &str = "steps";
    /// Commands among them.
    pub const COMMANDS: &str = "commands";
    /// Reads of files and loads of skills among them.
    pub const FILE_READS: &str = "file_reads";
    /// Writes of files among them.
    pub const FILE_WRITES: &str = "file_writes";
    /// Whether an event shows that the agent got at a skill.
    pub const TRACE_SKILL_INVOKED: &str = "trace_skill_invoked";
    /// The different commands in the order of their first run, as a list.
    pub const COMMAND_TEXTS: &str = "command_texts";
    /// Whether that list holds all of them.
    pub const HAS_ALL_COMMANDS: &str = "has_all_commands";
    /// Checks and judgements of each oracle tier that hold, whatever their severity; in the order of [`TIERS`].
    pub const ORACLE_PASSED: [&str; 3] = ["oracle_passed_demo", "oracle_passed_live", "oracle_passed_strong"];
    /// Checks and judgements of each oracle tier, whatever their severity.
    pub const ORACLE_TOTAL: [&str; 3] = ["oracle_total_demo", "oracle_total_live", "oracle_total_strong"];
    /// The oracle tiers, by name.
    pub const TIERS: [OracleTier; 3] = [OracleTier::Demo, OracleTier::Live, OracleTier::Strong];
    /// Judgements that were supplied.
    pub const JUDGEMENTS: &str = "judgements";
    /// Scores in 0..=1 of the soft ones among them, as a list of decimal texts.
    pub const SOFT_JUDGE_SCORES: &str = "soft_judge_scores";
    /// Gate and critical checks that both arms can satisfy and whose evidence is missing, as a list of names.
    pub const UNOBSERVED_CHECKS: &str = "unobserved_checks";
}

/// Suffixes of the two columns beside a measurement: where it comes from, or why it is null.
pub mod measured {
    /// Where the value comes from; null when there is none.
    pub const PROVENANCE: &str = "provenance";
    /// Why there is no value; null when there is one.
    pub const REASON: &str = "reason";
}

/// Columns of the frame `assertions`, one row a check of a run. The first five name the run as in `runs`.
pub mod assertions {
    pub use super::runs::{CASE_ID, MODEL, REPETITION, VARIANT};
    /// Position of the row within its run, from 0.
    pub const POSITION: &str = "position";
    /// Label.
    pub const NAME: &str = "name";
    /// Assertion type.
    pub const TYPE: &str = "type";
    /// `critical`, `gate` or `soft`.
    pub const SEVERITY: &str = "severity";
    /// `strong`, `demo` or `live`.
    pub const ORACLE: &str = "oracle";
    /// Turn that it grades, or null.
    pub const TURN: &str = "turn";
    /// `pass`, `fail`, `error`, `skipped`, `pending` or `unsupported`.
    pub const OUTCOME: &str = "outcome";
    /// Why it is neither passed nor failed, or null.
    pub const REASON: &str = "reason";
    /// Score in 0..=1 as decimal text, or null.
    pub const SCORE: &str = "score";
    /// What was seen.
    pub const EVIDENCE: &str = "evidence";
    /// Why only one arm of the lift can satisfy it, or null.
    pub const ONE_ARM: &str = "one_arm";
}

/// Columns of the frame `one_arm`: one row an assertion that decides the pass rate of a scored run and that only one
/// arm of the lift can satisfy.
pub mod one_arm {
    /// Row of the run in `runs`, from 0.
    pub const RUN: &str = "run";
    /// Label.
    pub const NAME: &str = "name";
    /// Assertion type.
    pub const TYPE: &str = "type";
    /// `critical` or `gate`.
    pub const SEVERITY: &str = "severity";
    /// Why only one arm can satisfy it.
    pub const REASON: &str = "reason";
    /// Whether it holds.
    pub const PASSED: &str = "passed";
}
