//! How run trees are read: layouts, numbers of repetitions, answers, sidecars, links.

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

fn rows(said: &Said) -> Vec<(String, Option<String>, u64, Option<f64>)> {
    assert_eq!(said.code, 0, "{}", said.stderr);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    said.json()["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let number = row["run_number"].as_u64().unwrap();
            (text(&row["variant"]).unwrap(), text(&row["model"]), number, row["objective_pass_rate"].as_f64())
        })
        .collect()
}

fn row(said: &Said, index: usize) -> Value {
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.json()["results"][index].clone()
}

#[test]
fn repetitions_are_ordered_by_number_and_models_by_name() {
    let workspace = Workspace::with_cases(&["c1"]);
    for run in [10, 2, 1] {
        workspace.write(&format!("runs/c1/zeta/with_skill/run-{run}/output.md"), "yes");
    }
    workspace.write("runs/c1/alpha/without_skill/output.md", "no");
    workspace.write("runs/c1/with_skill/output.md", "yes");
    let said = workspace.on_runs("grade", &[]);
    let with = |model: Option<&str>, number, rate| ("with_skill".to_owned(), model.map(str::to_owned), number, rate);
    let without = |model: Option<&str>, rate| ("without_skill".to_owned(), model.map(str::to_owned), 1, rate);
    assert_eq!(
        rows(&said),
        [
            with(None, 1, Some(1.0)),
            without(None, Some(0.0)),
            with(Some("alpha"), 1, Some(0.0)),
            without(Some("alpha"), Some(0.0)),
            with(Some("zeta"), 1, Some(1.0)),
            with(Some("zeta"), 2, Some(1.0)),
            with(Some("zeta"), 10, Some(1.0)),
            without(Some("zeta"), Some(0.0)),
        ]
    );
    assert_eq!(
        said.lines("WARN gap_in_repetitions"),
        ["WARN gap_in_repetitions: c1/zeta/with_skill: run-3 to run-9 are not there"]
    );
}

#[test]
fn a_model_name_with_a_slash_comes_back_from_its_directory() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/org%2Fmodel/with_skill/output.md", "yes");
    assert_eq!(row(&workspace.on_runs("grade", &[]), 0)["model"], "org/model");
}

#[test]
fn two_directories_of_one_run_are_an_error_unless_the_last_is_asked_for() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/run-1/output.md", "no");
    workspace.write("runs/c1/with_skill/run-01/output.md", "yes");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 1);
    assert_eq!(said.stdout, "");
    assert_eq!(
        said.lines("FAIL:"),
        ["FAIL: duplicate run identity under c1/with_skill: 1 (run-01 and run-1); remove one, or keep the last with \
         --on-duplicate last"]
    );
    let said = workspace.on_runs("benchmark", &["--on-duplicate", "last"]);
    assert_eq!(said.json()["provenance"]["duplicates_dropped"], 1);
    assert_eq!(row(&said, 0)["run_dir"], "c1/with_skill/run-1");
}

#[test]
fn a_label_can_make_two_directories_the_same_run() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "no");
    workspace.write("runs/c1/with_skill/metadata.json", r#"{"model": "m"}"#);
    workspace.write("runs/c1/m/with_skill/output.md", "yes");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("case c1, model m, with_skill, repetition 1 (c1/with_skill and c1/m/with_skill)"));
    let said = workspace.on_runs("benchmark", &["--on-duplicate", "last"]);
    assert_eq!(row(&said, 1)["run_dir"], "c1/m/with_skill");
    assert_eq!(said.json()["results"].as_array().unwrap().len(), 3);
}

#[test]
fn run_zero_is_graded_but_not_paired() {
    let workspace = Workspace::with_cases(&["c1"]);
    for arm in ["with_skill", "without_skill"] {
        workspace.write(&format!("runs/c1/{arm}/run-0/output.md"), "yes");
    }
    let said = workspace.on_runs("benchmark", &[]);
    let report = said.json();
    assert_eq!(report["results"][0]["objective_pass_rate"], 1.0);
    assert_eq!(
        report["paired_summary"]["pairing"],
        json!({"eligible_pairs": 0, "blocked_pairs": 1, "blocked_reason_counts": {"invalid_run_number": 1}})
    );
}

#[test]
fn invalid_run_names_are_all_named() {
    let workspace = Workspace::with_cases(&["c1"]);
    for name in ["run-x", "run--3", "run-"] {
        workspace.write(&format!("runs/c1/with_skill/{name}/output.md"), "yes");
    }
    let said = workspace.on_runs("grade", &[]);
    assert_eq!(said.code, 1);
    assert_eq!(said.lines("FAIL: invalid run directory name").len(), 3, "{}", said.stderr);
}

#[test]
fn one_arm_with_a_model_and_one_without_is_named() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes");
    workspace.write("runs/c1/with_skill/metadata.json", r#"{"model": "m"}"#);
    workspace.write("runs/c1/without_skill/output.md", "no");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 0);
    assert_eq!(said.json()["paired_summary"]["pairing"]["blocked_pairs"], 2);
    assert_eq!(said.lines("WARN model_label_mismatch").len(), 1, "{}", said.stderr);
    let strict = workspace.on_runs("benchmark", &["--strict-layout"]);
    assert_eq!((strict.code, strict.lines("FAIL: model_label_mismatch").len()), (1, 1), "{strict:#?}");
}

#[test]
fn strict_layout_refuses_what_is_otherwise_a_warning() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/run-02/output.md", "yes");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 0);
    assert_eq!(said.lines("WARN padded_run_name").len(), 1);
    let said = workspace.on_runs("benchmark", &["--strict-layout", "--out", "report.json"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("FAIL: padded_run_name: c1/with_skill/run-02"), "{}", said.stderr);
    assert!(!workspace.path().join("report.json").exists());
}

#[test]
fn files_of_the_outputs_folder_are_joined_when_there_is_no_answer_file() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/outputs/A.TXT", "txt");
    workspace.write("runs/c1/with_skill/outputs/b.json", "{\"a\":1}");
    workspace.write("runs/c1/with_skill/outputs/image.png", "yes");
    let exact = "--- outputs/A.TXT ---\ntxt\n\n--- outputs/b.json ---\n{\"a\":1}";
    workspace.suite(&json!({"cases": [{"id": "c1", "split": "tune", "prompt": "Do.", "assertions": [
        {"name": "joined", "type": "contains", "value": exact, "ci": false},
        {"name": "not-the-image", "type": "excludes_any", "values": ["yes"]}
    ]}]}));
    assert_eq!(row(&workspace.on_runs("grade", &[]), 0)["objective_pass_rate"], 1.0);
}

#[test]
fn an_empty_answer_is_graded_and_marked() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.suite(&json!({"cases": [{"id": "c1", "split": "tune", "prompt": "Do.", "assertions": [
        {"name": "polite", "type": "excludes_any", "values": ["damn"]}
    ]}]}));
    workspace.write("runs/c1/with_skill/output.md", "\n");
    let said = workspace.on_runs("grade", &[]);
    let row = row(&said, 0);
    let facts = ["missing_output", "empty_output", "vacuous"].map(|key| row[key].as_bool().unwrap());
    assert_eq!(facts, [false, true, true]);
    assert_eq!(row["objective_pass_rate"], 1.0);
}

#[test]
fn a_time_out_recorded_in_any_file_counts_and_a_configured_limit_does_not() {
    let workspace = Workspace::with_cases(&["c1"]);
    for arm in ["with_skill", "without_skill"] {
        workspace.write(&format!("runs/c1/{arm}/output.md"), "yes");
        workspace.write(&format!("runs/c1/{arm}/metadata.json"), r#"{"returncode": 0, "timeout": 600}"#);
    }
    workspace.write("runs/c1/without_skill/timing.json", r#"{"timed_out": true}"#);
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(row(&said, 0)["execution_valid"], true);
    assert_eq!(row(&said, 1)["execution_valid"], false);
    assert_eq!(row(&said, 1)["unscored_reasons"], json!(["timed_out"]));
    assert_eq!(said.lines("WARN timeout_is_a_limit").len(), 2);
}

#[test]
fn an_earlier_turn_is_not_a_final_answer() {
    let workspace = Workspace::new();
    let turns = json!([{"prompt": "First."}, {"prompt": "Second."}]);
    workspace.suite(&json!({"cases": [{"id": "c1", "split": "tune", "turns": turns, "assertions": [
        {"name": "says-yes", "type": "contains", "value": "yes"}
    ]}]}));
    workspace.write("runs/c1/with_skill/turn-1/output.md", "yes");
    workspace.write("runs/c1/without_skill/turn-1/output.md", "no");
    workspace.write("runs/c1/without_skill/turn-2/output.md", "yes");
    let said = workspace.on_runs("grade", &[]);
    assert_eq!(row(&said, 0)["missing_output"], true);
    assert_eq!(row(&said, 1)["missing_output"], false);
    assert_eq!(row(&said, 1)["objective_pass_rate"], 1.0);
}

#[cfg(unix)]
#[test]
fn links_that_leave_the_run_are_refused_by_name() {
    use std::os::unix::fs::symlink;

    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("secret.md", "yes");
    workspace.write("runs/c1/with_skill/metadata.json", "{}");
    symlink(workspace.path().join("secret.md"), workspace.path().join("runs/c1/with_skill/output.md")).unwrap();
    workspace.write("runs/c1/without_skill/answer.md", "yes");
    symlink("answer.md", workspace.path().join("runs/c1/without_skill/output.md")).unwrap();
    let said = workspace.on_runs("grade", &[]);
    assert_eq!(row(&said, 0)["missing_output"], true);
    assert_eq!(
        said.lines("WARN link_refused"),
        ["WARN link_refused: c1/with_skill/output.md: link leads out of the run directory; it is not followed"]
    );
    // a link that stays inside is followed
    assert_eq!(row(&said, 1)["objective_pass_rate"], 1.0);
}

#[test]
fn a_declared_artifact_set_must_be_complete() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes");
    workspace.write("runs/c1/without_skill/output.md", "yes");
    // printf yes | sha256sum
    let digest = "8a798890fe93817163b10b5f7bd2ca4d25d84c52739a645a889c173eee7d9d3d";
    let commit =
        json!({"schema_version": 1, "required_files": ["output.md"], "inventory_sha256": {"output.md": digest}});
    workspace.write("runs/c1/with_skill/artifact-commit.json", commit.to_string());
    workspace.write("runs/c1/without_skill/artifact-commit.json", commit.to_string());
    workspace.write("runs/c1/without_skill/extra.txt", "not declared");
    let said = workspace.on_runs("grade", &[]);
    assert_eq!(row(&said, 0)["execution_valid"], true);
    assert_eq!(row(&said, 1)["unscored_reasons"], json!(["incomplete_artifact_set"]));
}

#[test]
fn duplicate_keys_and_infinities_in_metadata_are_not_passed_on() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes");
    workspace.write("runs/c1/with_skill/metadata.json", r#"{"a": 1e999}"#);
    workspace.write("runs/c1/without_skill/output.md", "yes");
    workspace.write("runs/c1/without_skill/metadata.json", r#"{"a": 1, "a": 2}"#);
    let said = workspace.on_runs("grade", &[]);
    for index in [0, 1] {
        assert_eq!(row(&said, index)["metadata"], json!({"metadata_error": "invalid JSON in metadata.json"}));
    }
}
