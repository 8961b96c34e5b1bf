//! `doctor`: what a path is, for everything that people keep.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Said, Workspace, run_in};

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("SKILL_LIFT_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("the corpus was not given (SKILL_LIFT_CORPUS): files of others are not looked at");
    }
    folder
}

fn doctor(folder: &Path, path: &str) -> Said {
    run_in(folder, &["doctor", path, "--format", "json"], &[])
}

/// The diagnosis of something that can be read.
fn diagnosis(folder: &Path, path: &str) -> Value {
    let said = doctor(folder, path);
    assert_eq!(said.code, 0, "{path}: {}", said.stderr);
    said.json()
}

fn same(found: &Value, expected: &Value, what: &str) {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-6, "{what}: {found} and {expected}"),
        _ => assert_eq!(found, expected, "{what}"),
    }
}

/// Files of results that are read otherwise than the index says, with the reason.
fn is_read_otherwise(path: &str) -> bool {
    // the index reads no rates out of `per_eval`, `iterations[]`: they are there and unambiguous. Only trees have them.
    path.ends_with("grading-template.json")
}

#[test]
fn everything_that_others_published_is_read_or_refused_with_a_reason() {
    let Some(corpus) = corpus() else { return };
    let index: Value = serde_json::from_str(&std::fs::read_to_string(corpus.join("INDEX.json")).unwrap()).unwrap();
    let items = index["items"].as_array().unwrap();
    for item in items {
        let path = item["path"].as_str().unwrap();
        let expected = &item["what_a_reader_should_get"];
        let count = |key: &str| expected.get(key).cloned().unwrap_or(json!(0));
        match item["kind"].as_str().unwrap() {
            "suite" => {
                let found = diagnosis(&corpus, path);
                assert!(["suite", "trigger-set"].contains(&found["kind"].as_str().unwrap()), "{path}");
                for key in ["cases", "assertions", "ungraded_cases"] {
                    same(&found["suite"][key], &count(key), path);
                }
            }
            "trigger-set" => {
                let found = diagnosis(&corpus, path);
                assert_eq!(found["kind"], "trigger-set", "{path}");
                let trigger = &found["suite"]["trigger"];
                same(&trigger["should_trigger"], &count("should_trigger"), path);
                same(&trigger["should_not_trigger"], &count("should_not_trigger"), path);
                same(&trigger["unlabelled"], &count("without_label"), path);
            }
            "shared-benchmark" => {
                let found = diagnosis(&corpus, path);
                assert_eq!(
                    (&found["kind"], &found["dialect"]),
                    (&json!("suite"), &json!("shared-benchmark")),
                    "{path}"
                );
                same(&found["suite"]["cases"], &count("cases"), path);
                same(&found["suite"]["assertions"], &count("assertions"), path);
            }
            "result-tree" => {
                let found = diagnosis(&corpus, path);
                assert_eq!(found["kind"], "workspace", "{path}");
                let workspace = &found["workspace"];
                same(&workspace["paired_cases"], &count("paired_evals"), path);
                same(&workspace["lift"], &expected["case_mean_lift"], path);
                for (arm, expected) in expected["configurations"].as_object().unwrap() {
                    assert_eq!(
                        workspace["arms"][arm],
                        json!({"runs": expected["runs"], "scored": expected["scored"]}),
                        "{path}"
                    );
                }
            }
            "result-file" if expected["status"] == "refused" => {
                let said = doctor(&corpus, path);
                assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{path}");
                assert!(!said.lines("FAIL:").is_empty(), "{path}");
            }
            "result-file" => {
                let found = diagnosis(&corpus, path);
                if is_read_otherwise(path) {
                    assert_eq!(found["verdicts"], json!({"passed": 0, "failed": 0, "undecided": 5}), "{path}");
                    continue;
                }
                assert_eq!(found["kind"], "results", "{path}");
                let rows = expected.get("rows").or(expected.get("results")).cloned().unwrap();
                same(&found["results"]["rows"], &rows, path);
                if let Some(lift) = expected.get("case_mean_lift") {
                    same(&found["results"]["lift"], lift, path);
                }
            }
            "not-a-suite" => {
                let said = doctor(&corpus, path);
                assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{path}");
                assert!(said.stderr.contains("prompt") || said.stderr.contains("no suite"), "{path}: {}", said.stderr);
            }
            "recorded-run-tree" if path.ends_with("demo-skill") => {
                for (manifest, expected) in expected["manifests"].as_object().unwrap() {
                    let found = diagnosis(&corpus, &format!("{path}/{manifest}"));
                    same(&found["suite"]["cases"], &expected["cases"], path);
                }
            }
            // run trees of a shared benchmark are read with their suite: `corpus::recorded_runs_give_...`
            "recorded-run-tree" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(items.len(), 132);
}

#[test]
fn a_folder_with_a_suite_and_no_workspace_is_that_suite() {
    let workspace = Workspace::with_cases(&["c"]);
    let found = diagnosis(workspace.path(), ".");
    assert_eq!((&found["kind"], &found["dialect"]), (&json!("suite"), &json!("shared-benchmark")));
    assert_eq!(found["next"][1], "skill-lift benchmark evals/shared-benchmark.json --runs RUNS");
}

#[test]
fn a_tree_without_verdicts_and_assertions_needs_its_suite() {
    let workspace = Workspace::new();
    workspace.write("runs/eval-1/with_skill/run-1/output.md", "yes");
    let found = diagnosis(workspace.path(), "runs");
    assert_eq!(found["workspace"]["verdicts"], Value::Null);
    assert_eq!(found["next"], json!(["skill-lift benchmark SUITE --runs runs"]));
}

/// An eval that both iterations have is what makes them comparable.
#[test]
fn iterations_are_suggested_for_a_comparison_only_when_they_share_an_eval() {
    let grading = r#"{"expectations": [{"text": "t", "passed": true, "evidence": "e"}]}"#;
    let workspace = Workspace::new();
    for path in ["iteration-1/eval-1", "iteration-2/eval-2", "iteration-3/eval-1"] {
        workspace.write(&format!("w/{path}/with_skill/grading.json"), grading);
    }
    let next = |path: &str| diagnosis(workspace.path(), path)["next"].clone();
    assert_eq!(next("w"), json!(["skill-lift benchmark w/iteration-3", "skill-lift diff w/iteration-1 w/iteration-3"]));
    workspace.write("w/iteration-4/eval-4/with_skill/grading.json", grading);
    assert_eq!(next("w"), json!(["skill-lift benchmark w/iteration-4"]));
}

/// A folder is looked at with what stands around it, however it is named.
#[test]
fn the_suite_above_is_found_from_any_working_directory() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/output.md", "yes");
    let next = |folder: &str, path: &str| diagnosis(&workspace.path().join(folder), path)["next"][0].clone();
    let absolute = workspace.path().join("runs");
    let (suite, runs) = (workspace.path().join("evals/shared-benchmark.json"), absolute.display());
    assert_eq!(next("", "runs"), "skill-lift benchmark evals/shared-benchmark.json --runs runs");
    assert_eq!(next("runs", "."), "skill-lift benchmark ../evals/shared-benchmark.json --runs .");
    assert_eq!(
        next("evals", &absolute.display().to_string()),
        format!("skill-lift benchmark {} --runs {runs}", suite.display())
    );
}

/// A file of verdicts is a part of a workspace; one by itself leads nowhere.
#[test]
fn a_file_of_verdicts_leads_to_its_workspace() {
    let grading = r#"{"expectations": [{"text": "t", "passed": true, "evidence": "e"}]}"#;
    let workspace = Workspace::new();
    workspace.write("w/iteration-1/eval-1/with_skill/run-1/grading.json", grading);
    workspace.write("alone/grading.json", grading);
    let found = diagnosis(workspace.path(), "w/iteration-1/eval-1/with_skill/run-1/grading.json");
    assert_eq!(found["next"], json!(["skill-lift doctor w/iteration-1/eval-1"]));
    let said = doctor(workspace.path(), "alone/grading.json");
    assert!(said.code == 0 && !said.stdout.contains("Next"), "{said:#?}");
}

/// A report in the folder of a project does not hide the project.
#[test]
fn a_file_of_results_does_not_hide_what_is_beside_it() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/output.md", "yes");
    workspace.on_runs("benchmark", &["--out", "benchmark.json"]);
    let found = diagnosis(workspace.path(), ".");
    assert_eq!(found["kind"], "folder");
    assert_eq!(
        found["folder"],
        json!({"suites": ["evals/shared-benchmark.json"], "workspaces": [], "results": ["benchmark.json"],
               "run_trees": ["runs"], "is_cut": false})
    );
}

#[test]
fn what_is_nothing_is_refused_as_everything_that_it_could_be() {
    let workspace = Workspace::new();
    workspace.write("x.json", r#"{"ratio": 0.5}"#);
    workspace.write("broken.json", "{\"evals\": [1,]}");
    workspace.write("empty/notes.md", "x");
    let said = doctor(workspace.path(), "x.json");
    assert_eq!(said.code, 1);
    let lines = said.lines("FAIL:");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0], "FAIL: x.json is no suite: no case has a prompt");
    assert!(lines[1].starts_with("FAIL: x.json is no result list; nearest forms: "), "{lines:?}");
    assert!(lines[2].starts_with("FAIL: x.json holds no list of verdicts"), "{lines:?}");
    for path in ["broken.json", "empty", "missing.json", "/dev/null", "/dev/zero"] {
        let said = doctor(workspace.path(), path);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{path}");
        assert!(!said.lines("FAIL:").is_empty(), "{path}: {}", said.stderr);
    }
}
