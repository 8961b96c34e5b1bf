//! What judging cost. It is money that the suite costs, and no part of what the graded runs cost.

use skill_lift_contract::telemetry::{Measurement, Money};

use crate::json::Node;
use crate::runs::telemetry::cost_of_judgement;

/// What the verdicts of a file cost.
#[derive(Debug, Clone, Default)]
pub struct JudgeSpend {
    /// Rows of the file.
    pub verdicts: usize,
    /// Rows that say what they cost, themselves or call by call.
    pub verdicts_with_cost: usize,
    /// One entry a call: a row of a panel or of repeated judging has several.
    pub calls: Vec<Measurement<Money>>,
}

impl JudgeSpend {
    /// Adds a row of the file.
    pub(super) fn add(&mut self, row: &Node<'_>) {
        let calls = calls(row);
        self.verdicts += 1;
        self.verdicts_with_cost += usize::from(calls.iter().any(|call| call.value().is_some()));
        self.calls.extend(calls);
    }

    /// Calls that say what they cost.
    pub fn billed_calls(&self) -> usize {
        self.calls.iter().filter(|call| call.value().is_some()).count()
    }
}

/// The calls behind a row: those that it lists, where one of them says what it cost, else the row itself.
fn calls(row: &Node<'_>) -> Vec<Measurement<Money>> {
    let lists = ["judge_panel", "judge_runs"].into_iter().filter_map(|key| row.get(key).and_then(Node::items));
    let nested: Vec<Measurement<Money>> =
        lists.flatten().filter(|call| call.members().is_some()).flat_map(calls).collect();
    if nested.iter().any(|call| call.value().is_some()) { nested } else { vec![cost_of_judgement(row)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn spend(rows: &[&str]) -> (usize, usize, usize, Vec<Option<String>>) {
        let mut spend = JudgeSpend::default();
        rows.iter().for_each(|row| spend.add(&parse(row, Limits::SIDECAR).unwrap()));
        let amounts = spend.calls.iter().map(|call| call.value().map(|money| money.amount.to_string()));
        (spend.verdicts, spend.verdicts_with_cost, spend.billed_calls(), amounts.collect())
    }

    #[test]
    fn a_row_without_calls_is_one_call() {
        let amount = |text: &str| Some(text.to_owned());
        let rows = [r#"{"cost_usd":0.5}"#, r#"{"cost_normalized":{"source":"missing"},"cost_usd":1}"#, "{}"];
        assert_eq!(spend(&rows), (3, 1, 1, vec![amount("0.5"), None, None]));
    }

    #[test]
    fn calls_of_panels_and_repeated_judging_are_added_up_and_the_row_is_not_counted_again() {
        let amount = |text: &str| Some(text.to_owned());
        let panel = r#"{"cost_usd":9,"judge_panel":[{"cost_usd":0.25},{"judge_runs":[{"cost_usd":0.5},{}]},7]}"#;
        assert_eq!(spend(&[panel]), (1, 1, 2, vec![amount("0.25"), amount("0.5"), None]));
        // calls that do not say what they cost: the row does
        assert_eq!(spend(&[r#"{"cost_usd":9,"judge_panel":[{},{}]}"#]), (1, 1, 1, vec![amount("9")]));
    }
}
