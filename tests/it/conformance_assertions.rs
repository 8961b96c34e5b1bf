//! Every assertion vector: verdict, evidence, score, or the error that refuses the suite.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::support::{Said, Workspace, conformance};

/// Vectors that are known to differ, each with the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("structured_output/22-nan", "the vector gives the prefix of the evidence; ours says after it what is not finite"),
    ("judge/04-scored", "a score of 1 to 5 enters the graded mean as a share: 4 is 0.75"),
    ("rubric/04-consensus", "a score of 1 to 5 enters the graded mean as a share: 3.5 is 0.625"),
    ("factuality/02-pass", "a score of 1 to 5 enters the graded mean as a share: 5 is 1.0"),
    ("factuality/03-named", "a score of 1 to 5 enters the graded mean as a share: 2 is 0.25"),
];

fn grade(vector: &Value) -> Said {
    let workspace = Workspace::new();
    workspace.suite(&json!({"cases": [
        {"id": "c1", "split": "tune", "prompt": "Do the task.", "assertions": [vector["assertion"]]}
    ]}));
    std::fs::create_dir_all(workspace.path().join("runs/c1/with_skill")).unwrap();
    if let Some(text) = vector["output_text"].as_str() {
        workspace.write("runs/c1/with_skill/output.md", text);
    }
    let files = |key: &str| vector[key].as_object().cloned().unwrap_or_default();
    for (path, text) in files("extra_files") {
        workspace.write(&format!("runs/c1/with_skill/{path}"), text.as_str().unwrap());
    }
    for (path, text) in files("manifest_files") {
        workspace.write(&format!("evals/{path}"), text.as_str().unwrap());
    }
    let options = &vector["options"];
    let mut arguments = vec!["--variant", "with_skill"];
    if options["allow_scripts"] == json!(true) {
        arguments.push("--allow-scripts");
    }
    if options["strict"] == json!(true) {
        arguments.push("--strict");
    }
    if let Some(command) = options["embed_cmd"].as_str() {
        arguments.extend(["--embed-cmd", command]);
    }
    if !options["judge_results"].is_null() {
        workspace.write("judge-results.jsonl", judge_results(&options["judge_results"]));
        arguments.extend(["--judge-results", "judge-results.jsonl"]);
    }
    workspace.on_runs("grade", &arguments)
}

/// Rows name their assertion by its label alone; the file needs the whole id.
fn judge_results(rows: &Value) -> String {
    if let Some(text) = rows.as_str() {
        return text.to_owned();
    }
    let whole = |row: &Value| {
        let mut row = row.clone();
        for key in ["judge_task_id", "id"] {
            if let Some(label) = row[key].as_str().filter(|label| !label.contains("::")) {
                row[key] = json!(format!("c1::with_skill::run-1::{label}"));
            }
        }
        format!("{row}\n")
    };
    rows.as_array().unwrap().iter().map(whole).collect()
}

/// What differs from the vector, or nothing.
fn difference(vector: &Value) -> Option<String> {
    let said = grade(vector);
    if let Some(expected) = vector["expected_error"].as_str() {
        let fits = said.code == 1 && said.lines("FAIL:").iter().any(|line| line.contains(expected));
        return (!fits).then(|| format!("expected the error {expected:?}, got {said:?}"));
    }
    if said.code != 0 {
        return Some(format!("refused: {}", said.stderr));
    }
    let result = &said.json()["results"][0];
    let deferred = &vector["expected_deferred_judge_tasks"];
    if !deferred.is_null() && *deferred != result["deferred_judge_tasks"] {
        return Some(format!("expected {deferred} deferred tasks, got {}", result["deferred_judge_tasks"]));
    }
    let rows: Vec<&Value> =
        ["assertions", "qualitative_assertions"].iter().flat_map(|key| result[key].as_array().unwrap()).collect();
    if vector["expected_row"] == json!("none") {
        return (!rows.is_empty()).then(|| format!("expected no row, got {rows:?}"));
    }
    let [row] = rows.as_slice() else {
        return Some(format!("expected one row, got {rows:?}"));
    };
    if row["passed"] != vector["expected_passed"] {
        return Some(format!("expected passed {}, got {row}", vector["expected_passed"]));
    }
    if let Some(evidence) = vector["expected_evidence"].as_str() {
        let got = row["evidence"].as_str().unwrap();
        let fits =
            if vector["evidence_match"] == json!("prefix") { got.starts_with(evidence) } else { got == evidence };
        if !fits {
            return Some(format!("expected evidence {evidence:?}, got {got:?}"));
        }
    }
    for (key, field) in [("expected_severity", "severity"), ("expected_oracle", "oracle"), ("expected_score", "score")]
    {
        let expected = &vector[key];
        let same = match (expected.as_f64(), row[field].as_f64()) {
            (Some(a), Some(b)) => a == b,
            _ => *expected == row[field],
        };
        if !expected.is_null() && !same {
            return Some(format!("expected {field} {expected}, got {}", row[field]));
        }
    }
    let expected_result = vector["expected_result"].as_object().cloned().unwrap_or_default();
    expected_result.iter().find_map(|(key, value)| {
        (result[key] != *value).then(|| format!("expected result {key} {value}, got {}", result[key]))
    })
}

#[test]
fn every_vector_has_its_verdict_evidence_and_score() {
    let vectors = conformance("assertions.json");
    let vectors = vectors.as_array().unwrap();
    assert_eq!(vectors.len(), 348);
    let differences: BTreeMap<String, String> = vectors
        .par_iter()
        .filter_map(|vector| Some((vector["id"].as_str().unwrap().to_owned(), difference(vector)?)))
        .collect();
    let unexplained: Vec<String> = differences
        .iter()
        .filter(|(id, _)| !ALLOWED.iter().any(|(allowed, _)| allowed == id))
        .map(|(id, why)| format!("{id}: {why}"))
        .collect();
    assert!(unexplained.is_empty(), "{} vectors differ\n{}", unexplained.len(), unexplained.join("\n"));
    let stale: Vec<&str> = ALLOWED.iter().map(|(id, _)| *id).filter(|id| !differences.contains_key(*id)).collect();
    assert!(stale.is_empty(), "these vectors are right now and need no exception: {stale:?}");
}
