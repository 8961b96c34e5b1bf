//! Which runs a workspace of another tool holds: nothing is counted twice, taken for something else, or lost unnamed.

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

/// A verdict list with one entry.
fn verdict(passed: bool) -> Value {
    json!({"expectations": [{"text": "t", "passed": passed, "evidence": "e"}]})
}

fn tree(files: &[(&str, Value)]) -> Workspace {
    let workspace = Workspace::new();
    for (path, contents) in files {
        workspace.write(&format!("w/{path}"), contents.to_string());
    }
    workspace
}

fn benchmark(workspace: &Workspace, flags: &[&str]) -> Said {
    workspace.run(&[&["benchmark", "w", "--format", "json"], flags].concat())
}

fn report(workspace: &Workspace, flags: &[&str]) -> Value {
    let said = benchmark(workspace, flags);
    assert_eq!(said.code, 0, "{said:#?}");
    said.json()
}

/// Case, arm, model, repetition and rate of every row.
fn rows(report: &Value) -> Value {
    let rows = report["results"].as_array().unwrap().iter();
    rows.map(|row| json!([row["case_id"], row["variant"], row["model"], row["run_number"], row["objective_pass_rate"]]))
        .collect()
}

#[test]
fn two_evals_that_would_be_one_case_are_refused() {
    let described = |id: Value| json!({"eval_id": id, "eval_name": "n"});
    for (first, second) in [
        (("a", Some(json!("x"))), ("eval-x", None)),
        (("a", Some(json!(7))), ("b", Some(json!("eval-7")))),
        (("a", Some(json!(7))), ("b", Some(json!("7")))),
    ] {
        let workspace = Workspace::new();
        for (name, id) in [&first, &second] {
            workspace.write(&format!("w/{name}/with_skill/grading.json"), verdict(true).to_string());
            if let Some(id) = id {
                workspace.write(&format!("w/{name}/eval_metadata.json"), described(id.clone()).to_string());
            }
        }
        let said = benchmark(&workspace, &[]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
        let expected = format!("is claimed twice, by {} and by {}", first.0, second.0);
        assert!(said.lines("FAIL:")[0].contains(&expected), "{said:#?}");
    }
}

/// The number in `eval-10-upgrade` is an id only as long as nothing else has it, and a case with that name is nearer.
#[test]
fn a_number_in_a_longer_name_is_weaker_than_the_name() {
    let workspace = tree(&[("eval-10-upgrade/with_skill/grading.json", verdict(true))]);
    workspace.write(
        "evals.json",
        json!({"skill_name": "s", "evals": [
            {"id": 10, "name": "Downgrade", "prompt": "p"}, {"id": 11, "name": "10 upgrade", "prompt": "q"}]})
        .to_string(),
    );
    let said = workspace.run(&["benchmark", "evals.json", "--runs", "w", "--format", "json"]);
    assert_eq!(rows(&said.json()), json!([["eval-11", "with_skill", null, 1, 1.0]]));
}

#[test]
fn a_file_beside_the_arms_does_not_replace_verdicts_in_them() {
    let workspace = tree(&[
        ("eval-1/with_skill/run-1/grading.json", verdict(false)),
        ("eval-1/with_skill/run-2/grading.json", verdict(false)),
        ("eval-1/without_skill/grading.json", verdict(false)),
        ("eval-1/grading_with_skill.json", verdict(true)),
        ("eval-1/grading_without_skill.json", verdict(true)),
    ]);
    let said = benchmark(&workspace, &[]);
    assert_eq!(
        rows(&said.json()),
        json!([
            ["eval-1", "with_skill", null, 1, 0.0],
            ["eval-1", "with_skill", null, 2, 0.0],
            ["eval-1", "without_skill", null, 1, 0.0]
        ])
    );
    let warnings = said.lines("WARN mixed_layout");
    assert_eq!(warnings.len(), 2, "{said:#?}");
    assert!(warnings[0].contains("eval-1/grading_with_skill.json"), "{said:#?}");
}

/// Run folders without verdicts of their own: the file of the eval has them.
#[test]
fn a_file_of_all_arms_is_read_beside_run_folders_without_verdicts() {
    let workspace = tree(&[(
        "eval-1/grading.json",
        json!({"with_skill": [verdict(true)], "without_skill": [verdict(false), verdict(true)]}),
    )]);
    workspace.write("w/eval-1/with_skill/run-1/outputs/a.md", "a");
    workspace.write("w/eval-1/without_skill/run-1/outputs/a.md", "a");
    let report = report(&workspace, &[]);
    assert_eq!(
        rows(&report),
        json!([
            ["eval-1", "with_skill", null, 1, 1.0],
            ["eval-1", "without_skill", null, 1, 0.0],
            ["eval-1", "without_skill", null, 2, 1.0]
        ])
    );
}

#[test]
fn an_arm_may_name_itself_otherwise_but_no_other_arm_in_its_file() {
    let workspace = tree(&[
        ("eval-1/with_skill/grading.json", json!({"new_skill": [verdict(true)]})),
        ("eval-2/with_skill/grading.json", json!({"without_skill": [verdict(true)]})),
    ]);
    let said = benchmark(&workspace, &[]);
    let report = said.json();
    assert_eq!(rows(&report), json!([["eval-1", "with_skill", null, 1, 1.0], ["eval-2", "with_skill", null, 1, null]]));
    assert_eq!(report["results"][1]["unscored_reasons"], json!(["unreadable_grading"]));
    let warning = said.lines("WARN grading_unreadable")[0];
    assert!(warning.ends_with("it holds runs of `without_skill`, not of this arm"), "{warning}");
}

/// The repetition of a flat file is the one that it names; numbers beyond counting are not run into.
#[test]
fn the_number_of_a_run_in_a_file_is_its_repetition() {
    let numbered = |key: &str, number: Value| {
        let mut grading = verdict(true);
        grading[key] = number;
        grading
    };
    let workspace = tree(&[
        ("eval-1/with_skill/grading.json", numbered("run", json!(2))),
        ("eval-2/with_skill/grading.json", json!({"runs": [numbered("run_index", json!(i64::MAX)), verdict(false)]})),
        ("eval-3/with_skill/run-1/grading.json", json!({"runs": [verdict(true), verdict(false)]})),
    ]);
    assert_eq!(
        rows(&report(&workspace, &[])),
        json!([
            ["eval-1", "with_skill", null, 2, 1.0],
            ["eval-2", "with_skill", null, 1, 1.0],
            ["eval-2", "with_skill", null, 2, 0.0],
            ["eval-3", "with_skill", null, 1, 1.0],
            ["eval-3", "with_skill", null, 2, 0.0]
        ])
    );
}

/// The folder of an arm above its evals is no run of any of them.
#[test]
fn what_lies_beside_the_verdicts_of_many_evals_is_of_none() {
    let checked = json!({"expectations": [{"text": "says-yes", "passed": true, "evidence": "e"}]});
    let workspace = tree(&[
        ("with_skill/eval-1-grading.json", checked.clone()),
        ("with_skill/eval-2-grading.json", checked),
        ("with_skill/timing.json", json!({"total_tokens": 100, "duration_ms": 5})),
    ]);
    workspace.write("w/with_skill/error.txt", "crashed");
    workspace.write("w/with_skill/output.md", "no");
    let report = report(&workspace, &["--regrade"]);
    assert_eq!(rows(&report), json!([["eval-1", "with_skill", null, 1, 1.0], ["eval-2", "with_skill", null, 1, 1.0]]));
    assert_eq!(report["stored_verdicts"]["regrading"]["disagreements"], json!([]));
    assert_eq!(report["stored_verdicts"]["telemetry"]["with_skill"]["mean_total_tokens"], Value::Null);
}

#[test]
fn the_trials_of_two_models_are_numbered_apart() {
    let mut files = Vec::new();
    for arm in ["claude_with_skill_0", "claude_with_skill_1", "gemini_with_skill", "gemini_without_skill"] {
        files.push((format!("eval-1/{arm}/grading.json"), verdict(arm.contains("with_skill"))));
    }
    let files: Vec<(&str, Value)> = files.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
    let report = report(&tree(&files), &[]);
    assert_eq!(
        rows(&report),
        json!([
            ["eval-1", "with_skill", "claude", 1, 1.0],
            ["eval-1", "with_skill", "claude", 2, 1.0],
            ["eval-1", "with_skill", "gemini", 1, 1.0],
            ["eval-1", "without_skill", "gemini", 1, 0.0]
        ])
    );
    assert_eq!(report["paired_summary"]["absolute_delta"], 1.0);
}

#[test]
fn verdicts_of_a_trial_may_stand_in_its_outputs() {
    let workspace = tree(&[
        ("eval-1/with_skill_0/outputs/grading.json", verdict(true)),
        ("eval-1/without_skill_0/grading.json", verdict(false)),
    ]);
    assert_eq!(
        rows(&report(&workspace, &[])),
        json!([["eval-1", "with_skill", null, 1, 1.0], ["eval-1", "without_skill", null, 1, 0.0]])
    );
}

#[test]
fn verdicts_of_another_model_are_misfiled() {
    let mut other = verdict(true);
    other["configuration"] = json!("gemini_with_skill");
    let workspace = tree(&[("eval-1/claude_with_skill/grading.json", other)]);
    let report = report(&workspace, &[]);
    // the row keeps what the file says; the arm has no score
    assert_eq!(rows(&report), json!([["eval-1", "with_skill", "claude", 1, 1.0]]));
    assert_eq!(report["results"][0]["unscored_reasons"], json!(["misfiled_grading"]));
    assert_eq!(report["inference"]["sanity"]["status"], "review");
}

#[test]
fn arms_that_were_not_asked_the_same_are_refused() {
    let described = |id: u32, prompt: &str| json!({"eval_id": id, "prompt": prompt, "assertions": []});
    for (without, key) in [(described(2, "p"), "eval_id"), (described(1, "q"), "prompt")] {
        let workspace = tree(&[
            ("eval-1/with_skill/eval_metadata.json", described(1, "p")),
            ("eval-1/with_skill/grading.json", verdict(true)),
            ("eval-1/without_skill/eval_metadata.json", without),
            ("eval-1/without_skill/grading.json", verdict(false)),
        ]);
        let said = benchmark(&workspace, &[]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
        let start = format!("FAIL: the arms of one eval differ in `{key}`: eval-1/with_skill/eval_metadata.json and ");
        assert!(said.lines("FAIL:")[0].starts_with(&start), "{said:#?}");
    }
}

/// A choice of layout is about evals that are there twice, and about nothing else.
#[test]
fn a_chosen_layout_drops_only_what_it_decides() {
    let workspace = tree(&[
        ("a/eval_metadata.json", json!({"eval_id": 1})),
        ("a/with_skill/grading.json", verdict(false)),
        ("b/eval_metadata.json", json!({"eval_id": 1})),
        ("b/with_skill/run-1/grading.json", verdict(true)),
        ("c/eval_metadata.json", json!({"eval_id": 2})),
        ("c/with_skill/grading.json", verdict(true)),
        ("d/eval_metadata.json", json!({"eval_id": 1})),
    ]);
    assert_eq!(benchmark(&workspace, &[]).code, 1);
    assert_eq!(
        rows(&report(&workspace, &["--layout", "nested"])),
        json!([["eval-1", "with_skill", null, 1, 1.0], ["eval-2", "with_skill", null, 1, 1.0]])
    );
    assert_eq!(
        rows(&report(&workspace, &["--layout", "flat"])),
        json!([["eval-1", "with_skill", null, 1, 0.0], ["eval-2", "with_skill", null, 1, 1.0]])
    );
}

/// The name of an arm in a file becomes the path of its folder.
#[test]
fn the_name_of_an_arm_cannot_lead_out_of_the_workspace() {
    let workspace = tree(&[(
        "eval-1/grading.json",
        json!({"../../secret_with_skill": [verdict(true)], "without_skill": [verdict(true)]}),
    )]);
    workspace.write("secret_with_skill/timing.json", r#"{"total_tokens": 4711}"#);
    workspace.write("secret_with_skill/error.txt", "x");
    let said = benchmark(&workspace, &[]);
    assert_eq!(rows(&said.json()), json!([["eval-1", "without_skill", null, 1, 1.0]]));
    assert!(!said.stdout.contains("4711") && !said.stdout.contains("secret"), "{said:#?}");
}

#[cfg(unix)]
#[test]
fn a_linked_arm_or_run_is_not_a_second_run() {
    use std::os::unix::fs::symlink;
    let workspace = tree(&[("eval-1/with_skill/run-1/grading.json", verdict(true))]);
    let root = workspace.path().join("w/eval-1");
    symlink(root.join("with_skill"), root.join("without_skill")).unwrap();
    symlink(root.join("with_skill/run-1"), root.join("with_skill/run-2")).unwrap();
    let said = benchmark(&workspace, &[]);
    assert_eq!(rows(&said.json()), json!([["eval-1", "with_skill", null, 1, 1.0]]));
    assert_eq!(said.lines("WARN link_refused").len(), 2, "{said:#?}");
}

/// Positions in a split are not positions in the suite.
#[test]
fn a_split_is_held_against_its_own_part_of_the_benchmark_file() {
    let run = |id: u32, rate: f64| {
        json!({"eval_id": id, "configuration": "with_skill", "run_number": 1,
        "result": {"pass_rate": rate, "passed": rate, "failed": 1.0 - rate, "total": 1}})
    };
    let workspace = tree(&[
        ("eval-1/with_skill/grading.json", verdict(true)),
        ("eval-2/with_skill/grading.json", verdict(false)),
        ("benchmark.json", json!({"runs": [run(1, 0.0), run(2, 1.0)]})),
    ]);
    workspace.write(
        "evals.json",
        json!({"skill_name": "s", "evals": [
            {"id": 1, "prompt": "p", "split": "tune"}, {"id": 2, "prompt": "q", "split": "holdout"}]})
        .to_string(),
    );
    let said = workspace.run(&["benchmark", "evals.json", "--runs", "w", "--split", "holdout", "--format", "json"]);
    let report = said.json();
    assert_eq!(rows(&report), json!([["eval-2", "with_skill", null, 1, 0.0]]));
    // both rows are wrong; the one of the case that was not asked for is not held against this one
    let found = report["stored_verdicts"]["benchmark_file"]["contradictions"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["claimed"], &found[0]["found"]), (&json!("1"), &json!("0")), "{found:?}");
    assert!(said.lines("WARN unknown_case").is_empty(), "{said:#?}");
}

#[test]
fn a_trigger_case_with_verdicts_is_not_said_to_be_skipped() {
    let workspace = tree(&[
        ("eval-1/eval_metadata.json", json!({"eval_id": 1, "prompt": "p", "should_trigger": true})),
        ("eval-1/with_skill/grading.json", verdict(true)),
    ]);
    let report = report(&workspace, &[]);
    assert_eq!(report["skipped_trigger_cases"], json!([]));
    assert_eq!(rows(&report), json!([["eval-1", "with_skill", null, 1, 1.0]]));
}

/// More than a grader writes is refused as a whole: a part of it would be another rate.
#[test]
fn files_of_verdicts_beyond_reason_are_not_read_in_part() {
    let many = |count: usize| {
        let entries = vec![r#"{"text": "t", "passed": true}"#; count];
        format!(r#"{{"expectations": [{}]}}"#, entries.join(","))
    };
    let workspace = Workspace::new();
    workspace.write("w/eval-1/with_skill/grading.json", many(100_000));
    workspace.write("w/eval-2/with_skill/grading.json", many(100_001));
    let arms: Vec<String> = (0..1_001).map(|arm| format!(r#""m{arm}_with_skill": [{}]"#, verdict(true))).collect();
    workspace.write("w/eval-3/grading.json", format!("{{{}}}", arms.join(",")));
    workspace.write("w/eval-4/grading.json", format!("{{{}}}", arms[..2].join(",")));
    let said = benchmark(&workspace, &[]);
    let report = said.json();
    let results = report["results"].as_array().unwrap();
    let scored = |case: &str| {
        results.iter().filter(|row| row["case_id"] == case && row["unscored_reasons"] == json!([])).count()
    };
    assert_eq!(["eval-1", "eval-2", "eval-3", "eval-4"].map(scored), [1, 0, 0, 2]);
    assert_eq!(results[1]["unscored_reasons"], json!(["unreadable_grading"]));
    assert!(said.lines("WARN grading_unreadable")[0].ends_with("it has more verdicts than are read"), "{said:?}");
}
