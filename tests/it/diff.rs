//! `diff`: what changed between two results, when it is tested, and what a build makes of it.

mod by_hand;
mod gates;
mod hostile;
mod like_for_like;
mod replay;
mod sides;
mod texts;

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

const WITH: &str = "with_skill";
const WITHOUT: &str = "without_skill";

/// A row of a report of the reference package; `verdicts` has a letter for each check: `+` passed, `-` failed.
fn row(case: &str, variant: &str, repetition: u32, verdicts: &str) -> Value {
    let checks: Vec<Value> = verdicts
        .chars()
        .enumerate()
        .map(|(at, verdict)| json!({"name": format!("check {at}"), "type": "contains", "passed": verdict == '+'}))
        .collect();
    let passed = verdicts.matches('+').count();
    json!({
        "case_id": case, "variant": variant, "run_number": repetition, "missing_output": false, "execution_valid": true,
        "objective_passed": passed, "objective_total": verdicts.len(),
        "objective_pass_rate": passed as f64 / verdicts.len() as f64, "assertions": checks
    })
}

/// A row of a run that failed.
fn crashed(case: &str, variant: &str) -> Value {
    json!({
        "case_id": case, "variant": variant, "run_number": 1, "missing_output": true, "execution_valid": false,
        "objective_passed": 0, "objective_total": 0, "objective_pass_rate": null, "assertions": [],
        "metadata": {"returncode": 1}
    })
}

/// A report of this program, with the digest of its suite.
fn report(suite: &str, rows: Vec<Value>) -> Value {
    json!({
        "skill_name": "demo", "results": rows, "case_flags": [],
        "provenance": {"tool_version": "0.1.0", "dialect": "shared-benchmark", "suite_sha256": suite, "options": {}}
    })
}

/// Rows of one arm: a case each.
fn arm(variant: &str, cases: &[(&str, &str)]) -> Vec<Value> {
    cases.iter().map(|(case, verdicts)| row(case, variant, 1, verdicts)).collect()
}

/// Compares two files.
fn compared(old: &Value, new: &Value, more: &[&str]) -> Said {
    let workspace = Workspace::new();
    workspace.write("old.json", old.to_string());
    workspace.write("new.json", new.to_string());
    let mut arguments = vec!["diff", "old.json", "new.json"];
    arguments.extend_from_slice(more);
    workspace.run(&arguments)
}

/// The cell of a case and arm.
fn cell<'v>(diff: &'v Value, case: &str, variant: &str) -> &'v Value {
    let cells = diff["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["case_id"] == case && cell["variant"] == variant).unwrap_or(&Value::Null)
}

fn close(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is no number, expected {expected}"));
    assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
}
