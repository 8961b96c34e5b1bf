//! One file a family of checks. Each turns a check and the evidence of a run into a [`Finding`].

mod efficiency;
mod file;
mod golden;
mod literal;
mod pattern;
mod process;
mod script;
mod similarity;
mod structured;
mod whole;

use std::ops::Range;

use skill_lift_text::python;
use skill_lift_text::view::Comparison;

use super::answer::Answer;
use super::outcome::{Availability, Normalization, Outcome, UndecidedReason};
use super::places::{Compared, Found, MissKind};
use super::run::GradeOptions;
use crate::runs::RunDirectory;
use crate::suite::{Check, Suite};

pub use golden::References;
pub use process::is_listing;
pub(super) use process::loads_skill;
pub use script::end_programs;

/// What a check found.
#[derive(Debug)]
pub struct Finding {
    /// The state of the check.
    pub outcome: Outcome,
    /// What was seen, in full length.
    pub evidence: String,
    /// The score of a check that measures one; without it the score mirrors pass and fail.
    pub score: Option<f64>,
    /// The view that was compared, for text checks.
    pub comparison: Option<Comparison>,
    /// What the view changed.
    pub normalization: Option<Normalization>,
    /// Whether the evidence was there.
    pub availability: Availability,
    /// Whether the score left out frequent characters, which makes it unstable.
    pub autojunk_fired: bool,
    /// Where in the answer it found what it looks for.
    pub found: Found,
    /// What came nearest when it found nothing: a byte range of the answer.
    pub nearest_miss: Option<(MissKind, Range<usize>)>,
    /// The values that it compared.
    pub compared: Option<Box<Compared>>,
}

impl Finding {
    fn decided(passed: bool, evidence: String) -> Self {
        Self {
            outcome: Outcome::from_passed(passed),
            evidence,
            score: None,
            comparison: None,
            normalization: None,
            availability: Availability::Complete,
            autojunk_fired: false,
            found: Found::default(),
            nearest_miss: None,
            compared: None,
        }
    }

    /// Replaces the check's own rule by a smallest score.
    pub(super) fn require_at_least(&mut self, score: f64, at_least: f64) {
        let (shown, limit) = (python::format_g(score), python::format_g(at_least));
        self.outcome = Outcome::from_passed(score >= at_least);
        self.evidence.push_str(&format!(" (score={shown}, atLeast={limit})"));
    }

    /// A check for which something that it needs was not observed.
    fn unobserved(evidence: &str) -> Self {
        Self::unresolved(Outcome::Undecided(UndecidedReason::Unobserved), evidence.to_owned())
    }

    /// A check of a type that is not graded.
    fn unsupported() -> Self {
        Self::unresolved(Outcome::Unsupported, "checks of this type are not graded by this version".to_owned())
    }

    /// A check that its author retired.
    fn retired(reason: &str) -> Self {
        let outcome = Outcome::Skipped { reason: format!("retired: {reason}"), passed: false, unevaluated: true };
        Self { outcome, ..Self::decided(false, "skipped: retired by the author of the suite".to_owned()) }
    }

    /// A check that is neither passed nor failed.
    fn unresolved(outcome: Outcome, evidence: String) -> Self {
        Self { outcome, availability: Availability::Missing, ..Self::decided(false, evidence) }
    }
}

/// What a check may look at.
pub struct Evidence<'e, 'a> {
    /// The answer; empty when there is none.
    pub answer: &'e Answer<'a>,
    /// The folder that paths are relative to: the run directory, or that of a turn.
    pub directory: &'e mut RunDirectory,
    /// Path of the file that the answer was read from, relative to that folder.
    pub output_path: &'e str,
    /// The suite, for reference files and oracles.
    pub suite: &'e Suite,
    /// How runs are graded.
    pub options: &'e GradeOptions,
}

/// Evaluates a check. Judgements are not evaluated here: they are supplied from outside.
pub fn evaluate(check: &Check, evidence: &mut Evidence<'_, '_>) -> Finding {
    match check {
        Check::Contains { needle, matching } => literal::contains(needle, *matching, evidence.answer),
        Check::ContainsAny { needles, matching } => literal::contains_any(needles, *matching, evidence.answer),
        Check::ContainsAll { needles, matching } => literal::contains_all(needles, *matching, evidence.answer),
        Check::ExcludesAny { needles, matching } => literal::excludes_any(needles, *matching, evidence.answer),
        Check::Regex { pattern, comparison } => pattern::regex(pattern, *comparison, evidence.answer),
        Check::NotRegex { pattern, comparison } => pattern::not_regex(pattern, *comparison, evidence.answer),
        Check::FileExists { path } => file::file_exists(path, evidence),
        Check::JsonFieldEquals { path, field, equals } => file::json_field_equals(path, field, equals, evidence),
        Check::GoldenOutput { reference, artifact, normalize } => {
            golden::golden_output(reference, artifact.as_deref(), *normalize, evidence)
        }
        Check::Similarity { expected, artifact, threshold, mode, autojunk, matching } => {
            let operand = similarity::Operand { expected, artifact: artifact.as_deref(), autojunk: *autojunk };
            similarity::similarity(operand, *threshold, *mode, *matching, evidence)
        }
        Check::StructuredOutput { path, schema } => structured::structured_output(path.as_deref(), schema, evidence),
        Check::Script { command, timeout_seconds, pass_exit_code, expect_output } => {
            let wanted = script::Wanted { exit_code: *pass_exit_code, output: expect_output.as_deref() };
            script::script(command, *timeout_seconds, wanted, evidence)
        }
        Check::SkillInvoked { .. }
        | Check::CommandRan { .. }
        | Check::CommandNotRan { .. }
        | Check::CommandOrder { .. }
        | Check::ToolCall(_)
        | Check::ToolCountLe { .. }
        | Check::NoWriteOf { .. }
        | Check::WriteOrdering { .. }
        | Check::NoRepeatedCommandLoop { .. } => process::evaluate(check, evidence),
        Check::TotalTokensLe { .. } | Check::ElapsedSecondsLe { .. } | Check::CommandCountLe { .. } => {
            efficiency::evaluate(check, evidence)
        }
        Check::StartsWith { needle, matching } => whole::starts_with(needle, *matching, evidence.answer),
        Check::EndsWith { needle, matching } => whole::ends_with(needle, *matching, evidence.answer),
        Check::LineCountGe { min } => whole::line_count_ge(*min, evidence.answer),
        Check::ValidJson => whole::valid_json(evidence.answer),
        Check::JsonKeyExists { key } => whole::json_key_exists(key, evidence.answer),
        Check::ContainsInFile { path, needle, matching } => file::contains_in_file(path, needle, *matching, evidence),
        Check::Retired { reason } => Finding::retired(reason),
        Check::Judgement { .. } => Finding::unsupported(),
    }
}

#[cfg(test)]
pub(super) mod testing {
    //! Evaluates one check on one answer.

    use super::*;

    /// State word and evidence of a text check.
    pub fn on_text(finding: impl Fn(&Answer<'_>) -> Finding, text: &str) -> (&'static str, String) {
        let finding = finding(&Answer::new(text));
        (finding.outcome.word(), finding.evidence)
    }
}
