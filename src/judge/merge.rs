//! What a verdict makes of the assertion it is about.

use std::fmt::Write;

use skill_lift_text::python;

use super::results::StoredVerdict;
use super::verdict::{Verdict, VerdictProblem, mean_of_dimensions};
use crate::json::Node;

/// What a judgement says beyond pass and fail.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgementDetail {
    /// One answer, perhaps with a score.
    Plain {
        /// What the score means.
        scale: ScoreScale,
    },
    /// One score for each dimension that the assertion declares.
    Dimensions {
        /// Smallest mean that passes, in 0..=1.
        threshold: f64,
        /// Raw scores from 1 to 5, in the order of the verdict.
        scores: Vec<(String, f64)>,
    },
    /// Criteria that the judge drafted.
    Criteria {
        /// How many are met.
        met: usize,
        /// How many there are.
        total: usize,
    },
}

/// What a score means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreScale {
    /// From 0 to 1.
    Unit,
    /// From 1 to 5.
    OneToFive,
}

impl ScoreScale {
    /// A threshold or a score above 1 cannot be on a scale that ends there.
    fn of(verdict: &Verdict) -> Self {
        let threshold = match verdict {
            Verdict::Scored { threshold, .. } => *threshold,
            _ => 0.0,
        };
        let beyond = threshold > 1.0 || verdict.score().is_some_and(|score| score > 1.0);
        if beyond { Self::OneToFive } else { Self::Unit }
    }
}

impl JudgementDetail {
    /// A score of the judgement on the common scale 0..=1.
    pub fn share(&self, score: f64) -> f64 {
        match self {
            Self::Plain { scale: ScoreScale::OneToFive } => share_of_five(score).clamp(0.0, 1.0),
            _ => score.clamp(0.0, 1.0),
        }
    }
}

/// A score from 1 to 5 on the scale from 0 to 1.
pub fn share_of_five(score: f64) -> f64 {
    (score - 1.0) / 4.0
}

/// A judged assertion.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Whether it holds.
    pub passed: bool,
    /// The score as it stands in the row.
    pub score: Option<f64>,
    /// Why.
    pub evidence: String,
    /// What else is known.
    pub detail: JudgementDetail,
}

/// Dimensions that pass when the assertion has no threshold.
const DEFAULT_DIMENSION_THRESHOLD: f64 = 4.0;

/// Criteria that must be met when the assertion does not say.
const DEFAULT_MINIMUM_CRITERIA: usize = 3;

/// Merges a verdict into its assertion, which is given with its preset expanded.
///
/// The assertion's own threshold and minimum decide; those of the verdict were only checked for coherence.
///
/// # Errors
/// When the verdict has other dimensions than the assertion declares.
pub fn merge(assertion: &Node<'_>, stored: &StoredVerdict) -> Result<Judged, VerdictProblem> {
    let said = stored.evidence.as_deref().unwrap_or("judge result supplied");
    let declared = |key: &str| assertion.get(key).filter(|node| node.is_truthy());
    match (&stored.verdict, declared("graded_dimensions"), declared("dynamic_rubric")) {
        (Verdict::Dimensions { scores, .. }, Some(dimensions), _) => {
            merge_dimensions(assertion, dimensions, scores, said)
        }
        (Verdict::Dynamic { met, total, score, .. }, _, Some(rubric)) => {
            let minimum = minimum_criteria(rubric);
            Ok(Judged {
                passed: *total >= minimum && *met >= minimum,
                score: Some(*score),
                evidence: format!("{met}/{total} dynamic criteria met (minimum {minimum}); {said}"),
                detail: JudgementDetail::Criteria { met: *met, total: *total },
            })
        }
        (verdict, _, _) => Ok(Judged {
            passed: verdict.passed(),
            score: verdict.score(),
            evidence: said.to_owned(),
            detail: JudgementDetail::Plain { scale: ScoreScale::of(verdict) },
        }),
    }
}

/// How many criteria of a drafted rubric must be met.
pub(super) fn minimum_criteria(rubric: &Node<'_>) -> usize {
    let minimum = rubric.get("minimum_criteria").and_then(Node::as_number).and_then(|number| number.as_i64());
    minimum.map_or(DEFAULT_MINIMUM_CRITERIA, |minimum| usize::try_from(minimum).unwrap_or(1).max(1))
}

fn merge_dimensions(
    assertion: &Node<'_>,
    dimensions: &Node<'_>,
    scores: &[(String, f64)],
    said: &str,
) -> Result<Judged, VerdictProblem> {
    let names: Vec<&str> =
        dimensions.items().unwrap_or_default().iter().filter_map(|item| item.get("name")?.as_str()).collect();
    if names.len() != scores.len() || scores.iter().any(|(name, _)| !names.contains(&name.as_str())) {
        return Err(VerdictProblem::UndeclaredDimensions);
    }
    let raw = assertion.get("threshold").and_then(Node::as_number).map(|number| number.as_f64());
    let threshold = share_of_five(raw.unwrap_or(DEFAULT_DIMENSION_THRESHOLD)).clamp(0.0, 1.0);
    let score = mean_of_dimensions(scores).ok_or(VerdictProblem::NoDimensions)?;
    Ok(Judged {
        passed: score >= threshold,
        score: Some(score),
        evidence: format!("dimension scores (1-5): {}; {said}", sorted_json(scores)),
        detail: JudgementDetail::Dimensions { threshold, scores: scores.to_vec() },
    })
}

/// The scores as Python's `json.dumps` writes them with sorted keys.
fn sorted_json(scores: &[(String, f64)]) -> String {
    let mut sorted: Vec<_> = scores.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
    let members: Vec<String> = sorted
        .into_iter()
        .map(|(name, score)| format!("{}: {}", ascii_json(name), python::float_repr(*score)))
        .collect();
    format!("{{{}}}", members.join(", "))
}

/// A JSON string in ASCII; what is beyond is written as UTF-16 escapes.
fn ascii_json(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            ' '..='~' => quoted.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // writing to a string cannot fail
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};
    use crate::judge::Verdicts;
    use crate::judge::results::tests::verdicts;

    fn merged(assertion: &str, verdict: &str) -> Result<Judged, String> {
        let stored: Verdicts = verdicts(verdict);
        merge(&parse(assertion, Limits::SUITE).unwrap(), stored.find("a").unwrap())
            .map_err(|problem| problem.to_string())
    }

    const DIMENSIONS: &str = r#"{"graded_dimensions":[{"name":"depth","rubric":"r"},{"name":"é","rubric":"r"}]}"#;

    #[test]
    fn the_threshold_of_the_assertion_decides_over_dimensions() {
        let verdict = r#"{"id":"a","dimension_scores":{"é":5,"depth":3},"threshold":0.1,"rationale":"so"}"#;
        let judged = merged(DIMENSIONS, verdict).unwrap();
        // (1 + 0.5) / 2, against the default of 4 on the raw scale
        assert_eq!((judged.passed, judged.score), (true, Some(0.75)));
        assert_eq!(judged.evidence, r#"dimension scores (1-5): {"depth": 3.0, "\u00e9": 5.0}; so"#);
        let scores = vec![("é".to_owned(), 5.0), ("depth".to_owned(), 3.0)];
        assert_eq!(judged.detail, JudgementDetail::Dimensions { threshold: 0.75, scores });

        let strict = DIMENSIONS.replacen('{', r#"{"threshold":4.5,"#, 1);
        assert!(!merged(&strict, verdict).unwrap().passed);
        let fewer = r#"{"id":"a","dimension_scores":{"depth":3},"threshold":0.1}"#;
        assert_eq!(
            merged(DIMENSIONS, fewer).unwrap_err(),
            "dimension_scores must exactly match the declared dimensions"
        );
    }

    #[test]
    fn the_minimum_of_the_assertion_decides_over_criteria() {
        let verdict = r#"{"id":"a","criteria":[{"name":"x","met":true},{"name":"y","met":true},{"name":"z","met":false}],"minimum_criteria":1}"#;
        let judged = merged(r#"{"dynamic_rubric":{"instruction":"i"}}"#, verdict).unwrap();
        assert_eq!((judged.passed, judged.score), (false, Some(0.6667)));
        assert_eq!(judged.evidence, "2/3 dynamic criteria met (minimum 3); judge result supplied");
        assert_eq!(judged.detail, JudgementDetail::Criteria { met: 2, total: 3 });
        assert!(merged(r#"{"dynamic_rubric":{"instruction":"i","minimum_criteria":2}}"#, verdict).unwrap().passed);
        // without a drafted rubric the verdict stands as it is
        let plain = merged(r#"{"rubric":["r"]}"#, verdict).unwrap();
        assert_eq!((plain.passed, plain.score, plain.evidence.as_str()), (true, Some(0.6667), "judge result supplied"));
    }

    #[test]
    fn scores_from_1_to_5_are_known_by_their_threshold_or_size() {
        let share = |fields: &str| {
            let judged = merged(r#"{"rubric":["r"]}"#, &format!(r#"{{"id":"a",{fields}}}"#)).unwrap();
            judged.score.map(|score| judged.detail.share(score))
        };
        assert_eq!(share(r#""score":4,"threshold":4"#), Some(0.75));
        assert_eq!(share(r#""score":0.5,"threshold":3"#), Some(0.0));
        assert_eq!(share(r#""score":0.8,"threshold":0.5"#), Some(0.8));
        // the Python package stores 1 when nobody gave a threshold
        assert_eq!(share(r#""score":3,"threshold":1"#), Some(0.5));
        assert_eq!(share(r#""verdict_kind":"consensus","passed":true,"score":3.5"#), Some(0.625));
        assert_eq!(share(r#""score":-1,"threshold":0"#), Some(0.0));
        assert_eq!(share(r#""passed":true"#), None);
    }
}
