//! One verdict: its five kinds and the rules that make it coherent.

use std::collections::HashSet;

use skill_lift_stats::describe;
use skill_lift_text::python;

use crate::json::{Node, Value};

/// A coherent verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Only yes or no.
    Boolean {
        /// Whether the judge says that it holds.
        passed: bool,
    },
    /// A score with the threshold that decides.
    Scored {
        /// Whether the score reaches the threshold.
        passed: bool,
        /// As the judge gave it.
        score: f64,
        /// On the scale of the score.
        threshold: f64,
    },
    /// A score from 1 to 5 for each dimension.
    Dimensions {
        /// Whether the mean reaches the stored threshold.
        passed: bool,
        /// Mean of the dimensions put into 0..=1, rounded to four decimals.
        score: f64,
        /// The raw scores, in the order of the file.
        scores: Vec<(String, f64)>,
    },
    /// Criteria that the judge drafted, each met or not.
    Dynamic {
        /// Whether enough of them are met.
        passed: bool,
        /// Share of them that is met, rounded to four decimals.
        score: f64,
        /// How many are met.
        met: usize,
        /// How many there are.
        total: usize,
    },
    /// What several judges agreed on.
    Consensus {
        /// The common answer.
        passed: bool,
        /// Their median score, if they gave scores.
        score: Option<f64>,
    },
}

impl Verdict {
    /// Whether the judge says that it holds.
    pub fn passed(&self) -> bool {
        match self {
            Self::Boolean { passed }
            | Self::Scored { passed, .. }
            | Self::Dimensions { passed, .. }
            | Self::Dynamic { passed, .. }
            | Self::Consensus { passed, .. } => *passed,
        }
    }

    /// The score, if there is one.
    pub fn score(&self) -> Option<f64> {
        match self {
            Self::Boolean { .. } => None,
            Self::Scored { score, .. } | Self::Dimensions { score, .. } | Self::Dynamic { score, .. } => Some(*score),
            Self::Consensus { score, .. } => *score,
        }
    }
}

/// Why a row is no verdict, or contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerdictProblem {
    /// `verdict_kind` is none of the five words.
    #[error("unknown verdict_kind {0}")]
    UnknownKind(String),
    /// Both forms of a graded rubric.
    #[error("judge verdict cannot mix dimensions and dynamic criteria")]
    Mixed,
    /// Nothing that says yes or no.
    #[error("judge verdict has no recognized payload")]
    NoPayload,
    /// Fields of another kind.
    #[error("{kind} verdict cannot carry fields: {}", fields.join(", "))]
    ForeignFields {
        /// The kind of the verdict.
        kind: &'static str,
        /// The fields, sorted.
        fields: Vec<&'static str>,
    },
    /// `passed` is missing or of another type.
    #[error("passed must be a boolean")]
    PassedNotBoolean,
    /// A number is missing or of another type.
    #[error("{0} must be a finite number")]
    NotANumber(String),
    /// A score without the threshold that says what it means.
    #[error("stored scored verdict requires threshold")]
    ScoreWithoutThreshold,
    /// `passed` says something else than the score.
    #[error("passed contradicts score and threshold")]
    ScoreContradiction,
    /// `dimension_scores` is no object.
    #[error("dimension_scores must be an object")]
    DimensionsNotObject,
    /// A dimension without a name.
    #[error("dimension names must be non-empty strings")]
    DimensionWithoutName,
    /// No dimension at all.
    #[error("dimension names must be non-empty and unique")]
    NoDimensions,
    /// Dimensions without the threshold that decided.
    #[error("stored dimension verdict requires normalized threshold")]
    DimensionsWithoutThreshold,
    /// A dimension outside of the scale.
    #[error("dimension scores must be in [1,5]")]
    DimensionRange,
    /// The threshold is on another scale.
    #[error("dimension threshold must be normalized to [0,1]")]
    DimensionThresholdRange,
    /// The score is not the mean.
    #[error("dimension aggregate score contradicts dimension_scores")]
    DimensionScoreContradiction,
    /// `passed` says something else than the mean.
    #[error("dimension passed contradicts score and threshold")]
    DimensionContradiction,
    /// Other dimensions than the assertion declares.
    #[error("dimension_scores must exactly match the declared dimensions")]
    UndeclaredDimensions,
    /// `criteria` is no list.
    #[error("criteria must be a list")]
    CriteriaNotList,
    /// An item of `criteria` is no object.
    #[error("criterion must be an object")]
    CriterionNotObject,
    /// Criteria without the number that must be met.
    #[error("stored dynamic verdict requires minimum_criteria")]
    CriteriaWithoutMinimum,
    /// `minimum_criteria` is no positive integer.
    #[error("minimum_criteria must be a positive integer")]
    MinimumNotPositive,
    /// No criterion, or two with one name.
    #[error("dynamic criteria names must be non-empty and unique")]
    CriteriaNames,
    /// More must be met than there are.
    #[error("minimum_criteria cannot exceed the number of criteria")]
    MinimumTooLarge,
    /// A criterion without a name or without yes or no.
    #[error("dynamic criteria require non-empty names and boolean met")]
    CriterionShape,
    /// The score or `passed` says something else than the criteria.
    #[error("dynamic score/passed contradict criteria")]
    CriteriaContradiction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Scored,
    Dimensions,
    Dynamic,
    Consensus,
}

/// Fields that say what was judged, sorted by name.
const SEMANTIC_FIELDS: [&str; 6] = ["criteria", "dimension_scores", "minimum_criteria", "passed", "score", "threshold"];

/// How far a stored mean may be from the one that is computed.
const TOLERANCE: f64 = 1e-9;

impl Kind {
    fn from_word(word: &str) -> Option<Self> {
        [Self::Boolean, Self::Scored, Self::Dimensions, Self::Dynamic, Self::Consensus]
            .into_iter()
            .find(|kind| kind.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Scored => "scored",
            Self::Dimensions => "dimensions",
            Self::Dynamic => "dynamic",
            Self::Consensus => "consensus",
        }
    }

    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Boolean => &["passed"],
            Self::Scored => &["passed", "score", "threshold"],
            Self::Dimensions => &["passed", "score", "threshold", "dimension_scores"],
            Self::Dynamic => &["passed", "score", "criteria", "minimum_criteria"],
            Self::Consensus => &["passed", "score"],
        }
    }

    /// The declared kind, else what the fields say.
    fn of(row: &Node<'_>) -> Result<Self, VerdictProblem> {
        let declared = match given(row, "verdict_kind") {
            None => None,
            Some(node) => {
                let kind = node.as_str().and_then(Self::from_word);
                Some(kind.ok_or_else(|| VerdictProblem::UnknownKind(node.python_repr()))?)
            }
        };
        let (dimensions, criteria) = (row.get("dimension_scores").is_some(), row.get("criteria").is_some());
        if dimensions && criteria {
            return Err(VerdictProblem::Mixed);
        }
        let of_panel = row.get("judge_model").and_then(Node::as_str) == Some("consensus");
        match declared {
            Some(kind) => Ok(kind),
            None if of_panel || row.get("judge_panel").is_some() => Ok(Self::Consensus),
            None if dimensions => Ok(Self::Dimensions),
            None if criteria => Ok(Self::Dynamic),
            None if given(row, "score").is_some() => Ok(Self::Scored),
            None if row.get("passed").is_some() => Ok(Self::Boolean),
            None => Err(VerdictProblem::NoPayload),
        }
    }
}

/// Reads the verdict of a row and checks that it is coherent.
///
/// # Errors
/// The first rule that the row breaks.
pub fn read(row: &Node<'_>) -> Result<Verdict, VerdictProblem> {
    let kind = Kind::of(row)?;
    let foreign = |field: &&str| {
        let idle_score = *field == "score" && given(row, "score").is_none();
        // judges write the threshold of the assertion beside a plain yes or no
        let idle_threshold = *field == "threshold" && kind == Kind::Boolean && given(row, "score").is_none();
        row.get(field).is_some() && !idle_score && !idle_threshold && !kind.fields().contains(field)
    };
    let fields: Vec<_> = SEMANTIC_FIELDS.into_iter().filter(foreign).collect();
    if !fields.is_empty() {
        return Err(VerdictProblem::ForeignFields { kind: kind.word(), fields });
    }
    match kind {
        Kind::Boolean => Ok(Verdict::Boolean { passed: passed(row)? }),
        Kind::Scored => read_scored(row),
        Kind::Dimensions => read_dimensions(row),
        Kind::Dynamic => read_dynamic(row),
        Kind::Consensus => {
            let passed = passed(row)?;
            Ok(Verdict::Consensus { passed, score: given(row, "score").map(|node| number(node, "score")).transpose()? })
        }
    }
}

fn read_scored(row: &Node<'_>) -> Result<Verdict, VerdictProblem> {
    let threshold = given(row, "threshold").ok_or(VerdictProblem::ScoreWithoutThreshold)?;
    let missing = || VerdictProblem::NotANumber("score".to_owned());
    let score = number(given(row, "score").ok_or_else(missing)?, "score")?;
    let threshold = number(threshold, "threshold")?;
    let passed = passed_or(row, score >= threshold)?;
    if passed != (score >= threshold) {
        return Err(VerdictProblem::ScoreContradiction);
    }
    Ok(Verdict::Scored { passed, score, threshold })
}

fn read_dimensions(row: &Node<'_>) -> Result<Verdict, VerdictProblem> {
    let members = row.get("dimension_scores").and_then(Node::members).ok_or(VerdictProblem::DimensionsNotObject)?;
    let mut scores = Vec::with_capacity(members.len());
    for member in members {
        scores.push((member.key.clone().into_owned(), number(&member.value, &format!("dimension {}", member.key))?));
    }
    if scores.iter().any(|(name, _)| name.is_empty()) {
        return Err(VerdictProblem::DimensionWithoutName);
    }
    let threshold = given(row, "threshold").ok_or(VerdictProblem::DimensionsWithoutThreshold)?;
    let threshold = number(threshold, "threshold")?;
    let score = mean_of_dimensions(&scores);
    let passed = passed_or(row, score.is_some_and(|score| score >= threshold))?;
    let score = score.ok_or(VerdictProblem::NoDimensions)?;
    if scores.iter().any(|(_, value)| !(1.0..=5.0).contains(value)) {
        return Err(VerdictProblem::DimensionRange);
    }
    if !(0.0..=1.0).contains(&threshold) {
        return Err(VerdictProblem::DimensionThresholdRange);
    }
    if let Some(stored) = given(row, "score")
        && (number(stored, "score")? - score).abs() > TOLERANCE
    {
        return Err(VerdictProblem::DimensionScoreContradiction);
    }
    if passed != (score >= threshold) {
        return Err(VerdictProblem::DimensionContradiction);
    }
    Ok(Verdict::Dimensions { passed, score, scores })
}

/// Mean of scores from 1 to 5 put into 0..=1, rounded to four decimals; `None` without scores.
pub(super) fn mean_of_dimensions(scores: &[(String, f64)]) -> Option<f64> {
    let shares: Vec<f64> = scores.iter().map(|(_, score)| (score - 1.0) / 4.0).collect();
    describe::mean(&shares).map(|mean| python::round_half_even(mean, 4))
}

fn read_dynamic(row: &Node<'_>) -> Result<Verdict, VerdictProblem> {
    let items = row.get("criteria").and_then(Node::items).ok_or(VerdictProblem::CriteriaNotList)?;
    if items.iter().any(|item| item.members().is_none()) {
        return Err(VerdictProblem::CriterionNotObject);
    }
    let minimum = given(row, "minimum_criteria").ok_or(VerdictProblem::CriteriaWithoutMinimum)?;
    let (met, total) = (items.iter().filter(|item| is_met(item) == Some(true)).count(), items.len());
    if let Some(node) = row.get("passed")
        && node.as_bool().is_none()
    {
        return Err(VerdictProblem::PassedNotBoolean);
    }
    let minimum =
        minimum.as_number().and_then(|number| number.as_i64()).and_then(|number| usize::try_from(number).ok());
    let minimum = minimum.filter(|minimum| *minimum >= 1).ok_or(VerdictProblem::MinimumNotPositive)?;
    let names: HashSet<Option<&str>> = items.iter().map(|item| item.get("name").and_then(Node::as_str)).collect();
    if items.is_empty() || names.len() != total {
        return Err(VerdictProblem::CriteriaNames);
    }
    if minimum > total {
        return Err(VerdictProblem::MinimumTooLarge);
    }
    if names.iter().any(|name| name.is_none_or(str::is_empty)) || items.iter().any(|item| is_met(item).is_none()) {
        return Err(VerdictProblem::CriterionShape);
    }
    let score = share(met, total);
    let stored = given(row, "score").map(|node| number(node, "score")).transpose()?;
    let passed = passed_or(row, met >= minimum)?;
    if passed != (met >= minimum) || stored.is_some_and(|stored| (stored - score).abs() > TOLERANCE) {
        return Err(VerdictProblem::CriteriaContradiction);
    }
    Ok(Verdict::Dynamic { passed, score, met, total })
}

fn is_met(criterion: &Node<'_>) -> Option<bool> {
    criterion.get("met").and_then(Node::as_bool)
}

/// A share rounded to four decimals; `total` is not zero.
fn share(met: usize, total: usize) -> f64 {
    python::round_half_even(met as f64 / total as f64, 4)
}

/// The value of a key that is there and not null.
fn given<'n, 'a>(row: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    row.get(key).filter(|node| !node.is_null())
}

fn passed(row: &Node<'_>) -> Result<bool, VerdictProblem> {
    row.get("passed").and_then(Node::as_bool).ok_or(VerdictProblem::PassedNotBoolean)
}

fn passed_or(row: &Node<'_>, derived: bool) -> Result<bool, VerdictProblem> {
    if row.get("passed").is_some() { passed(row) } else { Ok(derived) }
}

fn number(node: &Node<'_>, label: &str) -> Result<f64, VerdictProblem> {
    let value = match &node.value {
        Value::Number(number) => Some(number.as_f64()).filter(|value| value.is_finite()),
        _ => None,
    };
    value.ok_or_else(|| VerdictProblem::NotANumber(label.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn verdict(text: &str) -> Result<Verdict, String> {
        read(&parse(text, Limits::SIDECAR).unwrap()).map_err(|problem| problem.to_string())
    }

    fn problem(text: &str) -> String {
        verdict(text).unwrap_err()
    }

    #[test]
    fn the_kind_follows_from_the_fields() {
        assert_eq!(verdict(r#"{"passed":true}"#), Ok(Verdict::Boolean { passed: true }));
        assert_eq!(verdict(r#"{"passed":true,"score":null,"threshold":4}"#), Ok(Verdict::Boolean { passed: true }));
        let scored = Verdict::Scored { passed: true, score: 4.0, threshold: 4.0 };
        assert_eq!(verdict(r#"{"score":4,"threshold":4}"#), Ok(scored));
        let consensus = Verdict::Consensus { passed: false, score: Some(3.5) };
        assert_eq!(verdict(r#"{"judge_model":"consensus","passed":false,"score":3.5}"#), Ok(consensus));
        assert_eq!(
            verdict(r#"{"judge_panel":[],"passed":true}"#),
            Ok(Verdict::Consensus { passed: true, score: None })
        );
        assert_eq!(problem(r#"{"rationale":"?"}"#), "judge verdict has no recognized payload");
        assert_eq!(problem(r#"{"verdict_kind":"odd","passed":true}"#), "unknown verdict_kind 'odd'");
    }

    #[test]
    fn dimensions_give_the_mean_on_a_scale_of_0_to_1() {
        let given = verdict(r#"{"dimension_scores":{"clarity":5,"depth":4},"threshold":0.75}"#);
        // ((5-1)/4 + (4-1)/4) / 2
        let scores = vec![("clarity".to_owned(), 5.0), ("depth".to_owned(), 4.0)];
        assert_eq!(given, Ok(Verdict::Dimensions { passed: true, score: 0.875, scores }));
        let problems = [
            (r#"{"dimension_scores":{"a":6},"threshold":0.75}"#, "dimension scores must be in [1,5]"),
            (r#"{"dimension_scores":{"a":5}}"#, "stored dimension verdict requires normalized threshold"),
            (r#"{"dimension_scores":{"a":5},"threshold":4}"#, "dimension threshold must be normalized to [0,1]"),
            (
                r#"{"dimension_scores":{"a":1},"threshold":0.5,"passed":true}"#,
                "dimension passed contradicts score and threshold",
            ),
            (r#"{"dimension_scores":{},"threshold":0.5}"#, "dimension names must be non-empty and unique"),
            (r#"{"dimension_scores":{"a":true},"threshold":0.5}"#, "dimension a must be a finite number"),
            (
                r#"{"dimension_scores":{"a":5},"threshold":0.5,"score":0.9}"#,
                "dimension aggregate score contradicts dimension_scores",
            ),
            (
                r#"{"dimension_scores":{"a":5},"criteria":[]}"#,
                "judge verdict cannot mix dimensions and dynamic criteria",
            ),
        ];
        for (text, expected) in problems {
            assert_eq!(problem(text), expected, "{text}");
        }
    }

    #[test]
    fn criteria_are_counted() {
        let row = |minimum: &str, rest: &str| {
            let criteria = r#"[{"name":"a","met":true},{"name":"b","met":true},{"name":"c","met":false}]"#;
            format!(r#"{{"criteria":{criteria},"minimum_criteria":{minimum}{rest}}}"#)
        };
        let expected = Verdict::Dynamic { passed: true, score: 0.6667, met: 2, total: 3 };
        assert_eq!(verdict(&row("2", "")), Ok(expected.clone()));
        assert_eq!(verdict(&row("2", r#","score":null"#)), Ok(expected));
        assert_eq!(problem(&row("true", "")), "minimum_criteria must be a positive integer");
        assert_eq!(problem(&row("4", "")), "minimum_criteria cannot exceed the number of criteria");
        assert_eq!(problem(&row("3", r#","passed":true"#)), "dynamic score/passed contradict criteria");
        assert_eq!(problem(&row("2", r#","threshold":1"#)), "dynamic verdict cannot carry fields: threshold");
        let twice = r#"{"criteria":[{"name":"a","met":true},{"name":"a","met":true}],"minimum_criteria":1}"#;
        assert_eq!(problem(twice), "dynamic criteria names must be non-empty and unique");
        let odd = r#"{"criteria":[{"name":"a","met":1}],"minimum_criteria":1}"#;
        assert_eq!(problem(odd), "dynamic criteria require non-empty names and boolean met");
    }

    #[test]
    fn a_score_decides_together_with_its_threshold() {
        assert_eq!(problem(r#"{"score":1}"#), "stored scored verdict requires threshold");
        assert_eq!(problem(r#"{"passed":true,"score":2,"threshold":4}"#), "passed contradicts score and threshold");
        assert_eq!(problem(r#"{"score":true,"threshold":4}"#), "score must be a finite number");
        assert_eq!(problem(r#"{"passed":"yes"}"#), "passed must be a boolean");
        assert_eq!(
            problem(r#"{"verdict_kind":"boolean","passed":true,"score":1,"threshold":1}"#),
            "boolean verdict cannot carry fields: score, threshold"
        );
    }
}
