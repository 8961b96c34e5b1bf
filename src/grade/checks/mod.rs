//! One file a family of checks. Each turns a check and the evidence of a run into a [`Finding`].

mod file;
mod literal;
mod pattern;

use skill_lift_text::view::Comparison;

use super::answer::Answer;
use super::outcome::{Availability, Normalization, Outcome};
use crate::runs::RunDirectory;
use crate::suite::Check;

/// What a check found.
#[derive(Debug)]
pub struct Finding {
    /// The state of the check.
    pub outcome: Outcome,
    /// What was seen, in full length.
    pub evidence: String,
    /// The view that was compared, for text checks.
    pub comparison: Option<Comparison>,
    /// What the view changed.
    pub normalization: Option<Normalization>,
    /// Whether the evidence was there.
    pub availability: Availability,
}

impl Finding {
    fn decided(passed: bool, evidence: String) -> Self {
        Self {
            outcome: Outcome::from_passed(passed),
            evidence,
            comparison: None,
            normalization: None,
            availability: Availability::Complete,
        }
    }

    /// A check that fails because what it needs was not observed.
    fn unobserved(evidence: &str) -> Self {
        Self { availability: Availability::Partial, ..Self::decided(false, evidence.to_owned()) }
    }

    /// A check that is neither passed nor failed.
    fn unresolved(outcome: Outcome, evidence: String) -> Self {
        Self { outcome, availability: Availability::Partial, ..Self::decided(false, evidence) }
    }
}

/// What a check may look at.
pub struct Evidence<'e, 'a> {
    /// The answer; empty when there is none.
    pub answer: &'e Answer<'a>,
    /// The folder that paths are relative to.
    pub directory: &'e mut RunDirectory,
    /// Bytes of a file that a check may read.
    pub artifact_bytes: u64,
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
        Check::Script { .. } => Finding::unobserved(
            "script assertion skipped; rerun grade/benchmark with --allow-scripts to execute repo-owned oracle commands",
        ),
        Check::GoldenOutput { .. }
        | Check::Similarity { .. }
        | Check::StructuredOutput { .. }
        | Check::SkillInvoked { .. }
        | Check::CommandRan { .. }
        | Check::CommandNotRan { .. }
        | Check::CommandOrder { .. }
        | Check::ToolCall(_)
        | Check::ToolCountLe { .. }
        | Check::NoRepeatedCommandLoop { .. }
        | Check::TotalTokensLe { .. }
        | Check::ElapsedSecondsLe { .. }
        | Check::CommandCountLe { .. }
        | Check::Judgement { .. } => {
            Finding::unresolved(Outcome::Unsupported, "checks of this type are not graded by this version".to_owned())
        }
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
