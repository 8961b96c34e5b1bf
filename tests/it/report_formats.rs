//! `report --benchmark`: a saved report says once more what it said when it was made, in the formats of others.

mod again;
mod arguments;
mod documents;
mod examples;
mod hostile;
mod test_suites;

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

/// A row of a report: case, arm, repetition, what the checks say.
fn row(case: &str, variant: &str, number: u32, passed: &[bool]) -> Value {
    let hold = passed.iter().filter(|passed| **passed).count();
    let check = |(at, passed): (usize, &bool)| {
        let evidence = if *passed { "found" } else { "missing 'yes'" };
        json!({"name": format!("check {at}"), "type": "contains", "passed": passed, "evidence": evidence,
            "score": if *passed { 1.0 } else { 0.0 }, "severity": "gate", "oracle": "strong"})
    };
    json!({"case_id": case, "variant": variant, "run_number": number, "model": null, "missing_output": false,
        "execution_valid": true, "objective_passed": hold, "objective_total": passed.len(),
        "objective_pass_rate": hold as f64 / passed.len() as f64, "run_dir": format!("{case}/{variant}/run-{number}"),
        "assertions": passed.iter().enumerate().map(check).collect::<Vec<_>>()})
}

/// A report of rows.
fn report_of(rows: &[Value]) -> Value {
    json!({"skill_name": "demo", "summary": {"with_skill": {}, "without_skill": {}}, "paired_summary": {},
        "case_flags": [], "results": rows})
}

/// Three cases that all pass with the skill; without it one does.
fn useful_skill() -> Value {
    let cases = ["a", "b", "c"];
    let with = cases.iter().map(|case| row(case, "with_skill", 1, &[true]));
    let without = cases.iter().map(|case| row(case, "without_skill", 1, &[*case == "a"]));
    report_of(&with.chain(without).collect::<Vec<_>>())
}

/// Writes a report in a format.
fn written(report: &Value, format: &str, more: &[&str]) -> Said {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", report.to_string());
    workspace.run(&[&["report", "--benchmark", "benchmark.json", "--format", format], more].concat())
}
