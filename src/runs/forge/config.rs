//! The configuration of a benchmark: what its author demands of the skill, and how many trials were asked for.

use std::path::{Path, PathBuf};

use num_traits::{One, Zero};
use skill_lift_stats::rational::{self, Rational};

use crate::json::{Limits as JsonLimits, Node, parse};
use crate::runs::index::shown_path;
use crate::runs::named_file::read_named;
use crate::runs::workspace::position;
use crate::suite::suggest;

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ConfigError {
    /// The file.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// What is demanded of the arm with the skill; equality satisfies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ThresholdValues {
    /// Smallest pass rate.
    pub min_pass_rate: Option<Rational>,
    /// Most tokens in the mean.
    pub max_avg_tokens: Option<Rational>,
    /// Most seconds in the mean.
    pub max_avg_duration_seconds: Option<Rational>,
    /// Smallest ratio of the pass rates with and without the skill.
    pub min_improvement_ratio: Option<Rational>,
}

impl ThresholdValues {
    /// These, with those that `over` has in their place.
    pub fn overridden_by(self, over: Self) -> Self {
        Self {
            min_pass_rate: over.min_pass_rate.or(self.min_pass_rate),
            max_avg_tokens: over.max_avg_tokens.or(self.max_avg_tokens),
            max_avg_duration_seconds: over.max_avg_duration_seconds.or(self.max_avg_duration_seconds),
            min_improvement_ratio: over.min_improvement_ratio.or(self.min_improvement_ratio),
        }
    }
}

/// The configuration of a benchmark.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BenchmarkConfig {
    /// The skill.
    pub skill_name: Option<String>,
    /// Trials that were asked for of each eval and arm.
    pub trials_per_eval: Option<u32>,
    /// What the baseline is.
    pub baseline_type: Option<String>,
    /// The earlier benchmark, below the folder of the configuration unless its path is absolute.
    pub previous_benchmark: Option<PathBuf>,
    /// What is demanded.
    pub thresholds: ThresholdValues,
}

/// What a configuration may hold.
const KEYS: [&str; 7] = [
    "skill_name",
    "skill_path",
    "eval_set_path",
    "trials_per_eval",
    "baseline_type",
    "previous_benchmark",
    "thresholds",
];

/// What may be demanded.
const THRESHOLDS: [&str; 4] = ["min_pass_rate", "max_avg_tokens", "max_avg_duration_seconds", "min_improvement_ratio"];

/// The value of a demand on a pass rate.
///
/// # Errors
/// When it is no number from 0 to 1.
pub fn demanded_rate(text: &str) -> Result<Rational, String> {
    let rate = demanded_amount(text)?;
    if rate > Rational::one() { Err("not from 0 to 1".to_owned()) } else { Ok(rate) }
}

/// The value of a demand on anything else.
///
/// # Errors
/// When it is no number, or below 0.
pub fn demanded_amount(text: &str) -> Result<Rational, String> {
    let amount = rational::parse_decimal(text).ok_or("not a number")?;
    if amount < Rational::zero() { Err("below 0".to_owned()) } else { Ok(amount) }
}

/// Largest configuration file.
const LARGEST: u64 = 1024 * 1024;

impl BenchmarkConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is no such object, or demands something that is not known.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let failed = |problem: String| ConfigError { path: shown_path(path), problem };
        let bytes = read_named(path, LARGEST).map_err(|problem| failed(problem.to_string()))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| failed("not valid UTF-8".to_owned()))?;
        let document = parse(text, JsonLimits::SIDECAR).map_err(|error| {
            let (line, column) = position(text, error.span.start);
            failed(format!("line {line}, column {column}: {error}"))
        })?;
        let mut config = Self::of(&document).map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.previous_benchmark = config.previous_benchmark.map(|named| folder.join(named));
        Ok(config)
    }

    fn of(document: &Node<'_>) -> Result<Self, String> {
        let members = document.members().ok_or("not a JSON object")?;
        for member in members {
            if !KEYS.contains(&member.key.as_ref()) {
                return Err(unknown("key", &member.key, &KEYS));
            }
        }
        let thresholds = document.get("thresholds").ok_or("it has no `thresholds`")?;
        let text = |key: &str| document.get(key).and_then(Node::as_str).map(str::to_owned);
        let trials_per_eval = match document.get("trials_per_eval") {
            None => None,
            Some(trials) => {
                let whole = trials.as_number().and_then(|number| number.as_i64());
                let count = whole.and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
                Some(count.ok_or("`trials_per_eval` is no whole number above 0")?)
            }
        };
        let previous_benchmark = match document.get("previous_benchmark") {
            None => None,
            Some(named) if named.is_null() => None,
            Some(named) => {
                let path = named.as_str().filter(|path| !path.is_empty());
                Some(PathBuf::from(path.ok_or("`previous_benchmark` is neither a path nor null")?))
            }
        };
        Ok(Self {
            previous_benchmark,
            skill_name: text("skill_name"),
            trials_per_eval,
            baseline_type: text("baseline_type"),
            thresholds: threshold_values(thresholds)?,
        })
    }
}

fn threshold_values(node: &Node<'_>) -> Result<ThresholdValues, String> {
    let members = node.members().ok_or("`thresholds` is no object")?;
    let mut values = ThresholdValues::default();
    for member in members {
        let place = match member.key.as_ref() {
            "min_pass_rate" => &mut values.min_pass_rate,
            "max_avg_tokens" => &mut values.max_avg_tokens,
            "max_avg_duration_seconds" => &mut values.max_avg_duration_seconds,
            "min_improvement_ratio" => &mut values.min_improvement_ratio,
            other => return Err(unknown("threshold", other, &THRESHOLDS)),
        };
        let wrong = |problem: String| format!("the threshold `{}` is {problem}", member.key);
        let number = member.value.as_number().ok_or_else(|| wrong("no number".to_owned()))?;
        let is_rate = member.key == "min_pass_rate";
        let value = if is_rate { demanded_rate(number.text()) } else { demanded_amount(number.text()) };
        *place = Some(value.map_err(wrong)?);
    }
    Ok(values)
}

/// What is said of a word that means nothing here.
fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    match suggest::closest(word, known) {
        Some(meant) => format!("unknown {what} `{word}`; did you mean `{meant}`?"),
        None => format!("unknown {what} `{word}`; known are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<BenchmarkConfig, String> {
        BenchmarkConfig::of(&parse(text, JsonLimits::SIDECAR).unwrap())
    }

    #[test]
    fn what_is_demanded_is_read_exactly() {
        let config = config(
            r#"{"skill_name": "s", "trials_per_eval": 3, "baseline_type": "no_skill", "eval_set_path": "e.json",
                "thresholds": {"min_pass_rate": 0.8, "max_avg_tokens": 100000}}"#,
        )
        .unwrap();
        assert_eq!((config.skill_name.as_deref(), config.trials_per_eval), (Some("s"), Some(3)));
        assert_eq!(config.thresholds.min_pass_rate, Some(rational::rate(4, 5)));
        assert_eq!(config.thresholds.max_avg_tokens, Some(rational::rate(100_000, 1)));
        assert_eq!(config.thresholds.min_improvement_ratio, None);
    }

    #[test]
    fn what_is_not_understood_is_no_silent_pass() {
        for (text, problem) in [
            ("[]", "not a JSON object"),
            ("{}", "no `thresholds`"),
            (r#"{"thresholds": []}"#, "no object"),
            (
                r#"{"thresholds": {"min_passrate": 0.8}}"#,
                "unknown threshold `min_passrate`; did you mean `min_pass_rate`?",
            ),
            (r#"{"thresholds": {"speed": 1}}"#, "unknown threshold `speed`; known are min_pass_rate, max_avg_tokens, "),
            (r#"{"thresholds": {}, "threshold": {}}"#, "unknown key `threshold`; did you mean `thresholds`?"),
            (r#"{"threshold": {"min_pass_rate": 0.8}}"#, "unknown key `threshold`; did you mean `thresholds`?"),
            (r#"{"thresholds": {}, "colour": 1}"#, "unknown key `colour`; known are skill_name, "),
            (r#"{"thresholds": {"min_pass_rate": 1.5}}"#, "`min_pass_rate` is not from 0 to 1"),
            (r#"{"thresholds": {"max_avg_tokens": -1}}"#, "`max_avg_tokens` is below 0"),
            (r#"{"thresholds": {}, "previous_benchmark": 3}"#, "neither a path nor null"),
            (r#"{"thresholds": {"min_pass_rate": "0.8"}}"#, "no number"),
            (r#"{"thresholds": {}, "trials_per_eval": 0}"#, "no whole number above 0"),
        ] {
            assert!(config(text).unwrap_err().contains(problem), "{text}");
        }
    }
}
