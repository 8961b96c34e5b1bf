//! Stored verdicts beside what the checks find that need no judge. The stored verdicts stay: a model may have graded a
//! literal check by its meaning, and whether that was wanted is for people to say.

use super::facts::Regraded;
use super::join::{JoinMethod, join};
use crate::grade::answer::Answer;
use crate::grade::checks::{self, Evidence};
use crate::grade::outcome::capped_evidence;
use crate::grade::run::GradeOptions;
use crate::runs::workspace::{Passed, StoredVerdict};
use crate::runs::{Output, RunDirectory};
use crate::suite::{Assertion, AssertionClass, Case, Suite};

/// What the checks of a run look at.
#[derive(Debug)]
pub struct RegradeEvidence<'a> {
    /// The run directory.
    pub directory: RunDirectory,
    /// The text under test.
    pub answer: Output,
    /// The suite that the checks belong to.
    pub suite: &'a Suite,
    /// How checks are evaluated.
    pub options: &'a GradeOptions,
}

/// Whether a check can be evaluated without a judge, as far as the user allows it.
fn is_offline(assertion: &Assertion, options: &GradeOptions) -> bool {
    match assertion.class() {
        AssertionClass::Deterministic | AssertionClass::Trace => true,
        AssertionClass::Script => options.allow_scripts,
        AssertionClass::Judge | AssertionClass::Score | AssertionClass::Retired => false,
    }
}

/// Evaluates the checks of a case that need no judge and on which verdicts are stored.
pub(super) fn regrade(
    case: &Case,
    variant: &str,
    verdicts: &[StoredVerdict],
    evidence: &mut RegradeEvidence<'_>,
) -> Vec<Regraded> {
    let RegradeEvidence { directory, answer, suite, options } = evidence;
    let output_path = answer.path();
    let text = Answer::new(answer.text().unwrap_or_default());
    let has_answer = answer.text().is_some();
    let joined = join(verdicts, &case.assertions).into_iter().zip(verdicts);
    let checked = joined.filter_map(|(joined, verdict)| {
        let (position, method): (usize, JoinMethod) = joined?;
        let assertion = case.assertions.get(position)?;
        if !is_offline(assertion, options) || !assertion.variants.includes(variant) {
            return None;
        }
        let mut evidence = Evidence { answer: &text, directory: &mut *directory, output_path, suite, options };
        let finding = checks::evaluate(&assertion.check, &mut evidence);
        let literal = finding.outcome.passed().filter(|_| has_answer || !assertion.check.reads_answer());
        Some(Regraded {
            label: assertion.label.clone(),
            assertion_type: assertion.assertion_type,
            recorded: match verdict.passed {
                Passed::Yes => Some(true),
                Passed::No => Some(false),
                Passed::Absent | Passed::Unreadable => None,
            },
            literal,
            evidence: capped_evidence(finding.evidence, options.evidence_characters),
            joined: method,
        })
    });
    checked.collect()
}
