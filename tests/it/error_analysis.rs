//! `error-analysis`: what went wrong, in which order, and what people said about it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Said, Workspace, repository, run_in};

/// A row of a report as version 0.6 writes it, with some of its fields changed.
fn row(case: &str, fields: &Value) -> Value {
    let mut row = json!({"case_id": case, "variant": "with_skill", "run_number": 1, "model": null,
        "run_base": format!("/home/x/runs/{case}/with_skill"), "missing_output": false, "execution_valid": true,
        "objective_passed": 1, "objective_total": 2, "objective_pass_rate": 0.5, "combined_pass_rate": 0.5,
        "vetoed": false, "critical_failures": [], "assertions": [], "qualitative_assertions": [], "metadata": {}});
    for (key, value) in fields.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn report(rows: &[Value]) -> Value {
    json!({"manifest": "m", "skill_name": "demo", "generated_at": null, "summary": {}, "paired_summary": {},
           "case_flags": [], "results": rows})
}

fn checks(checks: &Value) -> Value {
    json!({"assertions": checks})
}

/// Failing runs of every category.
fn failing_rows() -> Vec<Value> {
    vec![
        row(
            "a",
            &json!({"missing_output": true, "execution_valid": false, "objective_passed": 0, "objective_total": 0, "objective_pass_rate": null, "combined_pass_rate": null}),
        ),
        row(
            "a",
            &json!({"run_number": 2, "execution_valid": false, "vetoed": true, "objective_pass_rate": 0.0, "combined_pass_rate": 0.0}),
        ),
        row(
            "b",
            &json!({"vetoed": true, "critical_failures": ["x", "y"], "objective_pass_rate": 0.0, "combined_pass_rate": 0.0,
            "assertions": [{"name": "x", "type": "contains", "passed": false, "severity": "critical", "evidence": "E"}]}),
        ),
        row("c", &json!({"vetoed": true, "objective_pass_rate": 0.0, "combined_pass_rate": 0.0})),
        row("e", &checks(&json!([{"type": "tool_call", "passed": false}]))),
        row("f", &checks(&json!([{"passed": false}]))),
        row("g", &checks(&json!([{"name": "t", "type": "mystery", "passed": false, "evidence": "é".repeat(500)}]))),
        row(
            "h",
            &json!({"qualitative_assertions": [{"name": "q", "type": "rubric", "passed": false, "evidence": "why"}]}),
        ),
        row("i", &checks(&json!([{"name": "el", "type": "elapsed_seconds_le", "passed": false, "evidence": "why"}]))),
        row(
            "j",
            &checks(
                &json!([{"name": "fine", "type": "contains", "passed": true}, {"name": "t", "type": "mystery", "passed": false}]),
            ),
        ),
        row(
            "k",
            &json!({"objective_passed": 2, "objective_pass_rate": 1.0, "combined_pass_rate": 1.0,
            "assertions": [{"name": "fine", "type": "contains", "passed": true}]}),
        ),
    ]
}

fn analyse(report: &Value, more: &[&str]) -> Said {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", report.to_string());
    workspace.run(&[&["error-analysis", "--benchmark", "benchmark.json"], more].concat())
}

/// The keys of a value that version 0.6 does not have, taken out.
fn of_reference(mut value: Value) -> Value {
    let object = value.as_object_mut().unwrap();
    for key in ["schema_version", "tool_version", "feedback"] {
        object.remove(key);
    }
    let mut lists: Vec<(&mut Value, &[&str])> = Vec::new();
    for (key, part) in object {
        match key.as_str() {
            "summary" => lists.push((part, &["runs", "undecided_runs", "unchecked_runs"])),
            "taxonomy" => lists.extend(part.as_array_mut().unwrap().iter_mut().map(|kind| (kind, &["by_variant"][..]))),
            "review_queue" => lists.extend(
                part.as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .map(|run| (run, &["run_number", "run_dir", "human_verdict"][..])),
            ),
            _ => {}
        }
    }
    for (part, keys) in lists {
        for key in keys {
            assert!(part.as_object_mut().unwrap().remove(*key).is_some(), "{key}");
        }
    }
    value
}

/// The expected value is what `skill-benchmark error-analysis` of version 0.6.0 prints for this report.
#[test]
fn the_keys_of_version_0_6_have_its_values() {
    let mut report = report(&failing_rows());
    report["case_flags"] = json!([{"case_id": "a", "flags": ["b: x: y", "a", "floor: fails"]}, {"case_id": "b", "flags": ["floor: other", "a"]}]);
    let said = analyse(&report, &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let expected: Value = serde_json::from_str(include_str!("error_analysis/reference.json")).unwrap();
    assert_eq!(of_reference(said.json()), expected);
    assert_eq!(
        said.json()["summary"],
        json!({"failing_or_errored_runs": 10, "distinct_categories": 9, "runs": 11,
        "undecided_runs": 0, "unchecked_runs": 0})
    );
    let queue = &said.json()["review_queue"];
    assert_eq!((&queue[1]["run_number"], &queue[1]["run_dir"]), (&json!(2), &json!("a/with_skill")));
    // the order of keys is that of the reference too
    let keys: Vec<String> = said.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys[..5], ["summary", "taxonomy", "case_flag_histogram", "review_queue", "review_queue_truncated"]);
}

#[test]
fn the_list_ends_at_the_limit() {
    let report = report(&failing_rows());
    for (limit, listed, more) in [("0", 0, 10), ("3", 3, 7), ("10", 10, 0), ("1000", 10, 0)] {
        let said = analyse(&report, &["--limit", limit]).json();
        assert_eq!(said["review_queue"].as_array().unwrap().len(), listed);
        assert_eq!(said["review_queue_truncated"], more);
    }
    for limit in ["-1", "x", "1.5"] {
        assert_eq!(analyse(&report, &[&format!("--limit={limit}")]).code, 2, "{limit}");
    }
}

#[test]
fn what_is_not_known_has_not_failed() {
    let passed = json!({"objective_passed": 2, "objective_pass_rate": 1.0, "combined_pass_rate": 1.0});
    let with = |case: &str, checks: Value, counts: &Value| {
        let mut row = row(case, counts);
        row["assertions"] = checks;
        row
    };
    let skipped = json!([{"name": "s", "type": "contains", "passed": false, "skipped": true, "skip_reason": "needs x"},
        {"name": "t", "type": "contains", "passed": false, "evidence": "missing 't'"}]);
    let soft = json!([{"name": "s", "type": "judge", "passed": false, "severity": "soft"}]);
    let undecided = json!([{"name": "u", "type": "script", "passed": null, "state": "error"}]);
    let report = report(&[
        with("skipped", skipped, &json!({})),
        with("soft", soft, &passed),
        with("undecided", undecided.clone(), &passed),
        with("counted", undecided, &json!({})),
        with("unlisted", json!([{"name": "fine", "passed": true}]), &json!({})),
        with("deferred", json!([]), &json!({"objective_passed": 0, "objective_total": 0, "deferred_gates": 1})),
        with("nothing", json!([]), &json!({"objective_passed": 0, "objective_total": 0})),
        with("broken", json!([]), &json!({"unscored_reasons": ["misfiled_grading"]})),
    ]);
    let said = analyse(&report, &["--quiet"]).json();
    let found: Vec<(&str, &str)> = said["review_queue"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["case_id"].as_str().unwrap(), run["category"].as_str().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("skipped", "text:t"),
            ("counted", "text:u"),
            ("unlisted", "unlisted-failure"),
            ("broken", "not-scored:misfiled_grading"),
        ]
    );
    assert_eq!((&said["summary"]["undecided_runs"], &said["summary"]["unchecked_runs"]), (&json!(2), &json!(1)));
}

#[test]
fn what_people_said_stands_beside_the_runs() {
    let mut rows = failing_rows();
    for (model, run) in [("m1", 1), ("m2", 1), ("m1", 2)] {
        rows.push(row("n", &json!({"model": model, "run_number": run, "assertions": [{"name": "x", "type": "contains", "passed": false}]})));
    }
    let feedback = json!({"schema_version": 2, "entries": [
        {"case_id": "e", "variant": "with_skill", "run_number": 1, "verdict": "pass", "note": "too strict"},
        {"case_id": "e", "variant": "with_skill", "run_number": 1, "assertion": "tool_call", "verdict": "fail"},
        {"case_id": "k", "variant": "with_skill", "run_number": 1, "verdict": "fail", "note": "wrong total"},
        {"case_id": "n", "variant": "with_skill", "run_number": 1, "model": "m2", "verdict": "unsure"},
        {"case_id": "n", "variant": "with_skill", "run_number": 1, "note": "of which model?"},
        {"case_id": "n", "variant": "with_skill", "run_number": 2, "note": "there is only one"},
        {"case_id": "z", "variant": "with_skill", "run_number": 1, "note": "gone"},
        {"junk": 1}
    ]});
    let workspace = Workspace::new();
    workspace.write("benchmark.json", report(&rows).to_string());
    workspace.write("feedback.json", feedback.to_string());
    let arguments = ["error-analysis", "--benchmark", "benchmark.json", "--feedback", "feedback.json"];
    let said = workspace.run(&arguments);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(
        said.lines("WARN feedback"),
        [
            "WARN feedback_unparsed: feedback.json: entry 8: `case_id` must be a text that is not blank",
            "WARN feedback_of_no_run: feedback.json: n, with_skill, run 1: the report has no such run",
            "WARN feedback_of_no_run: feedback.json: z, with_skill, run 1: the report has no such run",
        ]
    );
    let report = said.json();
    let of = |case: &str, model: Option<&str>, run: u64| {
        let queue = report["review_queue"].as_array().unwrap();
        let found = queue
            .iter()
            .find(|row| row["case_id"] == case && row["model"].as_str() == model && row["run_number"] == run);
        let found = found.unwrap();
        (found["note"].as_str().unwrap().to_owned(), found["human_verdict"].clone())
    };
    assert_eq!(of("e", None, 1), ("too strict".to_owned(), json!("pass")));
    assert_eq!(of("n", Some("m1"), 1), (String::new(), Value::Null));
    assert_eq!(of("n", Some("m2"), 1), (String::new(), json!("unsure")));
    assert_eq!(of("n", Some("m1"), 2), ("there is only one".to_owned(), Value::Null));
    let block = &report["feedback"];
    for (key, count) in [("run_entries", 6), ("matched", 4), ("check_entries", 1), ("right_but_failing", 1)] {
        assert_eq!(block[key], count, "{key}");
    }
    assert_eq!(
        block["wrong_but_passed"],
        json!([{"case_id": "k", "variant": "with_skill", "model": null, "run_number": 1, "run_dir": "k/with_skill", "note": "wrong total"}])
    );
    assert_eq!(block["unmatched"].as_array().unwrap().len(), 2);
    let table = workspace.run(&[&arguments[..], &["--format", "table", "--quiet", "--out", "table.txt"]].concat());
    assert_eq!((table.code, table.stdout.as_str(), table.stderr.as_str()), (0, "", ""));
    assert_snapshot!("feedback_table", std::fs::read_to_string(workspace.path().join("table.txt")).unwrap());
}

#[test]
fn feedback_of_other_tools_and_feedback_that_is_broken() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", report(&failing_rows()).to_string());
    let with = |text: Option<&str>| {
        let path = workspace.path().join("feedback.json");
        let _ = std::fs::remove_file(&path);
        if let Some(text) = text {
            std::fs::write(path, text).unwrap();
        }
        workspace.run(&["error-analysis", "--benchmark", "benchmark.json", "--feedback", "feedback.json"])
    };
    let said = with(Some(
        r#"{"reviews":[{"run_id":"e-with_skill","feedback":"look here","timestamp":"t"},{"run_id":"x-with_skill","feedback":"y"}],"status":"complete"}"#,
    ));
    assert_eq!(said.json()["review_queue"][4]["note"], "look here");
    assert_eq!(
        said.lines("WARN review"),
        ["WARN review_of_no_run: feedback.json: review of x-with_skill: there is no such run"]
    );
    let of_0_6 = with(Some(r#"{"entries":[{"case_id":"e","variant":"with_skill","verdict":"bad","note":""}]}"#));
    assert_eq!(of_0_6.json()["review_queue"][4]["human_verdict"], "fail");
    let missing = with(None);
    assert_eq!((missing.code, missing.json().get("feedback")), (0, None));
    assert_eq!(missing.lines("WARN feedback"), ["WARN feedback_missing: feedback.json is not there; nothing is added"]);
    for (text, problem) in [
        ("[]", "no feedback: an object with `entries` or `reviews` is expected"),
        ("{\"entries\":", "line 1: invalid JSON: the text ends where a value is expected at $.entries"),
        (
            "{\"schema_version\":9,\"entries\":[]}",
            "feedback of schema version 9; this version of skill-lift reads 2 and older",
        ),
    ] {
        let said = with(Some(text));
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{text}");
        assert_eq!(said.stderr, format!("FAIL: feedback.json: {problem}\n"));
    }
}

#[test]
fn what_is_no_report_is_refused() {
    let workspace = Workspace::new();
    for (text, problem) in [("[]", "an object"), ("{}", "no"), ("{", "JSON"), ("{\"results\":[1]}", "")] {
        workspace.write("benchmark.json", text);
        let said = workspace.run(&["error-analysis", "--benchmark", "benchmark.json"]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{text}");
        assert!(said.stderr.starts_with("FAIL: benchmark.json: ") && said.stderr.contains(problem), "{}", said.stderr);
    }
    let said = workspace.run(&["error-analysis", "--benchmark", "nowhere.json"]);
    assert_eq!((said.code, said.stderr.as_str()), (1, "FAIL: nowhere.json: no such file or directory\n"));
    assert_eq!(workspace.run(&["error-analysis"]).code, 2);
}

#[test]
fn the_demo_on_screens_of_several_widths() {
    let demo = repository("datasets/demo");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("benchmark.json");
    let out = path.to_str().unwrap();
    let made =
        run_in(&demo, &["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--quiet", "--out", out], &[]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let said = run_in(&demo, &["error-analysis", "--benchmark", out, "--format", "table"], &[]);
    assert_snapshot!("demo_table", said.stdout);
    let ascii = run_in(&demo, &["error-analysis", "--benchmark", out, "--format", "table", "--ascii", "--all"], &[]);
    assert!(ascii.stdout.is_ascii() && !ascii.stdout.contains("--all lists"), "{}", ascii.stdout);
    assert!(ascii.stdout.lines().count() > said.stdout.lines().count());
}

#[test]
fn names_of_others_do_nothing_to_a_screen() {
    let rows = [row(
        "a\u{1b}[31m\u{202e}",
        &checks(&json!([{"name": "x\u{7}", "type": "contains", "passed": false, "evidence": "\u{1b}]0;t\u{7}"}])),
    )];
    let said = analyse(&report(&rows), &["--format", "table"]);
    assert_eq!(said.code, 0);
    assert!(!said.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{}", said.stdout);
}
