//! The pair tables of the statistics vectors: trees with exactly these pass rates give exactly these blocks.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Workspace, conformance};

/// Numerator and denominator of a pass rate, and the smallest number of checks of its case that can give it.
fn checks(rate: f64) -> Option<usize> {
    (1..=64).find(|total| (rate * *total as f64 - (rate * *total as f64).round()).abs() < 1e-9)
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

fn tree(pairs: &[Value]) -> Workspace {
    let workspace = Workspace::new();
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for pair in pairs {
        let total = totals.entry(pair["case_id"].as_str().unwrap()).or_insert(1);
        for rate in [&pair["with"], &pair["without"]].into_iter().filter_map(Value::as_f64) {
            *total = least_common_multiple(*total, checks(rate).unwrap());
        }
    }
    let cases: Vec<Value> = totals
        .iter()
        .map(|(id, total)| {
            let assertions: Vec<Value> = (0..*total)
                .map(|n| json!({"name": format!("a{n}"), "type": "contains", "value": format!("token-{n}-ok")}))
                .collect();
            json!({"id": id, "split": "tune", "prompt": "Do.", "assertions": assertions})
        })
        .collect();
    workspace.suite(&json!({"cases": cases}));
    for pair in pairs {
        let case = pair["case_id"].as_str().unwrap();
        for (key, arm) in [("with", "with_skill"), ("without", "without_skill")] {
            let Some(rate) = pair[key].as_f64() else {
                continue;
            };
            let passed = (rate * totals[case] as f64).round() as usize;
            let text: String = (0..passed).map(|n| format!("token-{n}-ok\n")).collect();
            let model = pair["model"].as_str().map(|model| format!("{model}/")).unwrap_or_default();
            let repetition = pair["run_number"].as_u64().unwrap_or(1);
            // a run without a token still has an answer
            let text = if text.is_empty() { "\n".to_owned() } else { text };
            workspace.write(&format!("runs/{case}/{model}{arm}/run-{repetition}/output.md"), text);
        }
    }
    workspace
}

/// A tree names a missing arm by a row without an answer, so that the reason for its pair is another one than in a table
/// of bare rows.
fn without_reasons(mut expected: Value) -> Value {
    if let Some(pairing) = expected.get_mut("pairing").and_then(Value::as_object_mut) {
        pairing.remove("blocked_reason_counts");
    }
    expected
}

/// Every field of the expected value is there with an equal value; numbers to 1e-9.
fn assert_within(expected: &Value, actual: &Value, path: &str) {
    match (expected, actual) {
        (Value::Object(fields), Value::Object(_)) => {
            for (key, value) in fields {
                assert_within(value, &actual[key], &format!("{path}.{key}"));
            }
        }
        (Value::Array(items), Value::Array(others)) => {
            assert_eq!(items.len(), others.len(), "{path}");
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                assert_within(item, other, &format!("{path}[{index}]"));
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9, "{path}: expected {a}, got {b}");
        }
        _ => assert_eq!(expected, actual, "{path}"),
    }
}

#[test]
fn pair_tables_give_their_blocks() {
    let statistics = conformance("statistics.json");
    let tables = statistics["pair_tables"].as_array().unwrap();
    assert_eq!(tables.len(), 8);
    let mut compared = 0;
    for table in tables {
        let id = table["id"].as_str().unwrap();
        if id == "invalid_rate" {
            // a rate of 1.5 comes from a foreign report; no graded tree can give it
            continue;
        }
        let pairs: Vec<Value> = table["pairs"].as_array().unwrap().clone();
        let said = tree(&pairs).on_runs("benchmark", &[]);
        assert_eq!(said.code, 0, "{id}: {}", said.stderr);
        let report = said.json();
        for (key, actual) in [
            ("paired_summary", &report["paired_summary"]),
            ("reliability", &report["reliability"]),
            ("paired_lift", &report["reliability"]["paired_lift"]),
            ("model_analysis", &report["model_analysis"]),
        ] {
            if !table[key].is_null() {
                let absent = pairs.iter().any(|pair| pair["with"] == "absent" || pair["without"] == "absent");
                let expected = if absent { without_reasons(table[key].clone()) } else { table[key].clone() };
                assert_within(&expected, actual, &format!("{id}.{key}"));
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 7 * 4);
}
