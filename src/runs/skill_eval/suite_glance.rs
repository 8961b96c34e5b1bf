//! What an iteration needs of its suite: order, names, assertion texts, weights. Says nothing about whether the suite is
//! valid; a full reader of suites can take its place by filling [`SuiteGlance`].

use std::collections::HashSet;

use num_traits::{One, Signed, Zero};
use skill_lift_stats::rational::{self, Rational};

use super::field;
use crate::json::{self, Node};

/// Weights and pass mark, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scoring {
    /// Weight of the assertions that every eval has.
    pub common_weight: Rational,
    /// Weight of the eval's own assertions.
    pub own_weight: Rational,
    /// Score from which a run meets the threshold.
    pub pass_threshold: Option<Rational>,
}

/// One eval of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalGlance {
    /// Its id.
    pub id: String,
    /// Its name; the id when it has none.
    pub name: String,
    /// Texts of its assertions in the order of verdict ids: the common ones, then its own, each once.
    pub assertions: Vec<String>,
}

/// What an iteration needs of its suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuiteGlance {
    /// The evals in order.
    pub evals: Vec<EvalGlance>,
    /// Texts of the assertions that every eval has.
    pub common_assertions: Vec<String>,
    /// Weights, when the suite has valid ones.
    pub scoring: Option<Scoring>,
}

impl SuiteGlance {
    /// Reads a suite; `None` when it is no JSON object with a list of evals.
    pub fn read(text: &str) -> Option<Self> {
        let root = json::parse(text, json::Limits::SUITE).ok()?;
        root.get("evals")?.items()?;
        let common_assertions = field::texts(&root, "common_assertions");
        let eval = |node: &Node<'_>| {
            let id = field::text(node, "id")?;
            let name = field::text(node, "name").filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
            let mut seen = HashSet::new();
            let all = common_assertions.iter().cloned().chain(field::texts(node, "expectations"));
            Some(EvalGlance { id, name, assertions: all.filter(|text| seen.insert(text.clone())).collect() })
        };
        let evals = field::items(&root, "evals").iter().filter_map(eval).collect();
        let scoring = root.get("scoring").and_then(scoring);
        Some(Self { evals, common_assertions, scoring })
    }

    /// The eval with an id.
    pub fn eval(&self, id: &str) -> Option<&EvalGlance> {
        self.evals.iter().find(|eval| eval.id == id)
    }
}

fn scoring(node: &Node<'_>) -> Option<Scoring> {
    let decimal = |key: &str| rational::parse_decimal(node.get(key)?.as_number()?.text());
    let (common_weight, own_weight) = (decimal("common_assertion_weight")?, decimal("per_eval_expectation_weight")?);
    let valid = !common_weight.is_negative() && !own_weight.is_negative();
    if !valid || (&common_weight + &own_weight).is_zero() {
        return None;
    }
    let in_range = |value: &Rational| !value.is_negative() && *value <= Rational::one();
    Some(Scoring { common_weight, own_weight, pass_threshold: decimal("pass_threshold").filter(in_range) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_assertions_come_first_and_each_text_once() {
        let suite = SuiteGlance::read(
            r#"{"common_assertions": ["a", "b"], "evals": [{"id": "E1", "name": "", "expectations": ["b", "c", "c"]}]}"#,
        )
        .unwrap();
        assert_eq!(suite.evals[0].name, "E1");
        assert_eq!(suite.evals[0].assertions, ["a", "b", "c"]);
        assert!(SuiteGlance::read("[]").is_none());
    }

    #[test]
    fn weights_that_cannot_be_used_are_none() {
        let with = |scoring: &str| {
            SuiteGlance::read(&format!(r#"{{"evals": [], "scoring": {scoring}}}"#)).unwrap().scoring.is_some()
        };
        assert!(with(r#"{"common_assertion_weight": 0.4, "per_eval_expectation_weight": 0.6}"#));
        assert!(!with(r#"{"common_assertion_weight": 0, "per_eval_expectation_weight": 0}"#));
        assert!(!with(r#"{"common_assertion_weight": -1, "per_eval_expectation_weight": 2}"#));
        assert!(!with(r#"{"common_assertion_weight": "0.4", "per_eval_expectation_weight": 0.6}"#));
    }
}
