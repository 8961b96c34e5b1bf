//! Blind comparisons: `compare-tasks` and `compare-results`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::Workspace;

/// Three cases, of which one cannot be compared.
fn compared() -> Workspace {
    let workspace = Workspace::with_cases(&["a", "b", "c"]);
    for case in ["a", "b"] {
        for run in [1, 2] {
            workspace.write(&format!("runs/{case}/with_skill/run-{run}/output.md"), format!("yes {case} {run}"));
            workspace.write(&format!("runs/{case}/without_skill/run-{run}/output.md"), format!("no {case} {run}"));
        }
    }
    workspace.write("runs/a/with_skill/run-1/outputs/with_skill-notes.txt", "notes");
    // repetition 3 is only in one arm; in case c one run failed
    workspace.write("runs/b/with_skill/run-3/output.md", "yes b 3");
    workspace.write("runs/c/with_skill/output.md", "yes c");
    workspace.write("runs/c/without_skill/output.md", "half");
    workspace.write("runs/c/without_skill/metadata.json", r#"{"returncode": 1}"#);
    workspace
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(workspace: &Workspace, path: &str) -> String {
    fs::read_to_string(workspace.path().join(path)).unwrap()
}

fn key(workspace: &Workspace) -> Value {
    serde_json::from_str(&read(workspace, "key.json")).unwrap()
}

/// Which arm is A, by `sha256(f"{seed}\0{id}").digest()[-1] & 1` in Python.
const SIDES_42: [&str; 4] = ["baseline", "baseline", "primary", "primary"];
const SIDES_MINUS_7: [&str; 4] = ["baseline", "baseline", "primary", "baseline"];

const BLIND: [&str; 6] = ["--blind-dir", "blind", "--out", "tasks.jsonl", "--truth-out", "key.json"];

#[test]
fn a_task_does_not_say_which_arm_is_which() {
    let workspace = compared();
    let said = workspace.on_runs("compare-tasks", &BLIND);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let tasks = lines(&read(&workspace, "tasks.jsonl"));
    let ids: Vec<&str> = tasks.iter().map(|task| task["comparison_task_id"].as_str().unwrap()).collect();
    let id = |case: &str, run: u32| format!("{case}::run-{run}::blind-with_skill-vs-without_skill");
    assert_eq!(ids, [id("a", 1), id("a", 2), id("b", 1), id("b", 2)]);
    assert_eq!(
        said.lines("WARN pair_left_out"),
        [
            "WARN pair_left_out: b, repetition 3: missing_without_skill",
            "WARN pair_left_out: c, repetition 1: unscorable_arm (executor_error)",
        ]
    );
    let key = key(&workspace);
    for (task, row) in tasks.iter().zip(key["tasks"].as_array().unwrap()) {
        for label in ["a", "b"] {
            let path = task[format!("output_{label}_path")].as_str().unwrap();
            assert!(path.starts_with("blind/comparison-") && !path.contains("skill"), "{path}");
        }
        // the key is right: the answer of the primary arm says yes
        let side = if row["A"]["role"] == "primary" { "a" } else { "b" };
        let path = task[format!("output_{side}_path")].as_str().unwrap();
        let place = workspace.path().join(path);
        let answer = if place.is_dir() { place.join("output.md") } else { place };
        assert!(fs::read_to_string(answer).unwrap().starts_with("yes"), "{path}");
        assert_eq!(row["comparison_task_sha256"], task["comparison_task_sha256"]);
        assert_eq!(task["prompt"], "Do it.");
        assert_eq!(task["expectations"], json!(["says-yes"]));
        assert_eq!(task["blind_nonce"].as_str().unwrap().len(), 32);
    }
    // a file that names an arm has another name
    let names: BTreeSet<String> = walk(&workspace.path().join("blind"));
    assert!(names.iter().all(|name| !name.contains("skill")), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("file-") && name.ends_with(".txt")), "{names:?}");
    assert_eq!(
        key["left_out"][1],
        json!({"case_id": "c", "run_number": 1, "reason": "unscorable_arm",
                                          "detail": ["executor_error"]})
    );
}

fn walk(folder: &std::path::Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        names.insert(entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            names.extend(walk(&entry.path()));
        }
    }
    names
}

#[test]
fn sides_are_drawn_by_seed_and_id() {
    let workspace = compared();
    let sides = |seed: &str, more: &[&str]| -> Vec<String> {
        let arguments = [&["--quiet", "--seed", seed, "--out", "t.jsonl", "--truth-out", "key.json"], more].concat();
        let said = workspace.on_runs("compare-tasks", &arguments);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let key = key(&workspace);
        key["tasks"].as_array().unwrap().iter().map(|row| row["A"]["role"].as_str().unwrap().to_owned()).collect()
    };
    // the last bit of sha256("42\0a::run-1::blind-with_skill-vs-without_skill") and so on, by Python's hashlib
    assert_eq!(sides("42", &[]), SIDES_42);
    assert_eq!(sides("-7", &[]), SIDES_MINUS_7);
    let first = read(&workspace, "t.jsonl");
    sides("-7", &[]);
    assert_eq!(read(&workspace, "t.jsonl"), first);
    // another case moves no side
    workspace.write("runs/0/with_skill/output.md", "yes");
    assert_eq!(sides("42", &[]), SIDES_42);
}

#[test]
fn both_orders_show_each_pair_the_other_way_round() {
    let workspace = compared();
    let said = workspace.on_runs("compare-tasks", &[&BLIND[..], &["--both-orders", "--quiet"]].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    let key = key(&workspace);
    let rows = key["tasks"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for (first, second) in rows[..4].iter().zip(&rows[4..]) {
        assert_eq!(first["pair_id"], second["pair_id"]);
        assert_eq!((&first["A"], &first["B"]), (&second["B"], &second["A"]));
        assert_ne!(first["candidate_paths"]["A"], second["candidate_paths"]["B"]);
    }
    // always A: every preference is one of the position
    let results: String = rows
        .iter()
        .map(|row| json!({"comparison_task_id": row["comparison_task_id"], "winner": "A"}).to_string() + "\n")
        .collect();
    workspace.write("results.jsonl", results);
    let said = workspace.run(&["compare-results", "--truth", "key.json", "--results", "results.jsonl"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let report = said.json();
    assert_eq!(report["summary"], json!({"primary": 4, "baseline": 4, "tie": 0, "unknown": 0}));
    assert_eq!(
        report["comparisons"],
        json!({"primary": 0, "baseline": 0, "tie": 4, "undecided": 0,
                                             "judged_in_both_orders": 4, "orders_disagree": 4})
    );
    assert_eq!(
        report["sign_test"],
        json!({"unit": "case", "primary": 0, "baseline": 0, "tied": 2, "win_rate": null,
                                           "p_two_sided": null})
    );
    // 2 / 2^8
    assert_eq!(report["position"], json!({"a_wins": 8, "b_wins": 0, "ties": 0, "p_two_sided": 0.0078125}));
}

#[test]
fn results_are_joined_and_their_gaps_are_named() {
    let workspace = compared();
    assert_eq!(workspace.on_runs("compare-tasks", &[&BLIND[..], &["--quiet"]].concat()).code, 0);
    let key = key(&workspace);
    let rows = key["tasks"].as_array().unwrap();
    let wins = |row: &Value, side: &str| if row["A"]["role"] == side { "a" } else { "B" };
    let results = json!({"results": [
        {"comparison_task_id": rows[0]["comparison_task_id"], "winner": wins(&rows[0], "primary"), "reasoning": "better"},
        {"id": rows[1]["comparison_task_id"], "winner": " tie "},
        {"id": rows[2]["comparison_task_id"], "winner": "both"},
        {"id": "nothing", "winner": "A"},
    ]});
    workspace.write("results.json", results.to_string());
    let arguments = ["compare-results", "--truth", "key.json", "--results", "results.json"];
    let said = workspace.run(&arguments);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(said.lines("WARN incomplete_comparison").len(), 3, "{}", said.stderr);
    let report = said.json();
    assert_eq!(report["summary"], json!({"primary": 1, "baseline": 0, "tie": 1, "unknown": 2}));
    assert_eq!(report["details"][0]["winning_role"], "primary");
    assert_eq!(report["details"][0]["winner"], wins(&rows[0], "primary").to_uppercase());
    assert_eq!(report["details"][0]["reasoning"], "better");
    assert_eq!(report["details"][2]["winning_role"], "unknown");
    assert_eq!(
        report["coverage"],
        json!({"tasks": 4, "answered": 3, "complete": false, "unknown_id_count": 1,
                                          "unanswered": [rows[3]["comparison_task_id"]], "unknown_ids": ["nothing"]})
    );
    assert_eq!(report["sign_test"]["primary"], 1);
    let strict = workspace.run(&[&arguments[..], &["--strict"]].concat());
    assert_eq!((strict.code, strict.stdout.as_str()), (1, ""));
    assert_eq!(strict.lines("FAIL").len(), 3, "{}", strict.stderr);

    workspace.write("results.json", json!([{"id": "x", "winner": "A"}, {"id": "x", "winner": "B"}]).to_string());
    let said = workspace.run(&arguments);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("results.json: result 2: the same comparison as result 1: x"), "{}", said.stderr);
}

#[test]
fn a_key_of_the_reference_package_is_read() {
    let workspace = Workspace::new();
    // as skill-benchmark 0.6.0 writes it
    workspace.write(
        "key.json",
        r#"{"generated_at": 1, "tasks": [{"comparison_task_id": "c::run-1::blind-with_skill-vs-without_skill",
            "A": {"role": "baseline", "variant": "without_skill", "run_number": 1},
            "B": {"role": "primary", "variant": "with_skill", "run_number": 1}}]}"#,
    );
    workspace.write("results.jsonl", r#"{"id": "c::run-1::blind-with_skill-vs-without_skill", "winner": "b"}"#);
    let said = workspace.run(&["compare-results", "--truth", "key.json", "--results", "results.jsonl", "--strict"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(said.json()["summary"], json!({"primary": 1, "baseline": 0, "tie": 0, "unknown": 0}));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let workspace = compared();
    workspace.write("blind/mine.txt", "mine");
    let said = workspace.on_runs("compare-tasks", &BLIND);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("FAIL: cannot write blind:"), "{}", said.stderr);
    assert!(!workspace.path().join("tasks.jsonl").exists() && !workspace.path().join("key.json").exists());
    let said = workspace.on_runs("compare-tasks", &["--primary", "with_skill", "--baseline", "with_skill"]);
    assert_eq!(said.code, 2);
    let said = workspace.on_runs("compare-tasks", &["--variant", "with_skill"]);
    assert_eq!(said.code, 2);

    let workspace = Workspace::new();
    workspace.suite(&json!({"cases": [{"id": "h", "split": "holdout", "prompt_ref": "prompts/h.md",
                                       "assertions": [{"name": "y", "type": "contains", "value": "y"}]}]}));
    workspace.write("runs/h/with_skill/output.md", "y");
    workspace.write("runs/h/without_skill/output.md", "n");
    let said = workspace.on_runs("compare-tasks", &["--quiet"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("FAIL: no prompt for h"), "{}", said.stderr);
    let said = workspace.on_runs("compare-tasks", &["--quiet", "--allow-missing-prompts"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(lines(&said.stdout)[0]["prompt"], Value::Null);
}

#[test]
fn without_a_folder_the_tasks_say_so() {
    let workspace = compared();
    let said = workspace.on_runs("compare-tasks", &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(said.lines("WARN not_blind").len(), 1, "{}", said.stderr);
    assert_eq!(said.lines("WARN no_key").len(), 1, "{}", said.stderr);
    let paths: BTreeSet<String> = lines(&said.stdout)
        .iter()
        .flat_map(|task| ["output_a_path", "output_b_path"].map(|key| task[key].as_str().unwrap().to_owned()))
        .collect();
    assert!(paths.contains("runs/b/with_skill/run-2/output.md"), "{paths:?}");
    // of several files the folder is named
    assert!(paths.contains("runs/a/with_skill/run-1"), "{paths:?}");
}
