//! A report in the form of other tools: `export-anthropic` and `export`, and the way back.

mod round_trip;

use std::fs;

use serde_json::{Value, json};

use crate::support::{Said, Workspace, repository, run_in};

/// A suite with every kind of check, and runs of which some have no rate.
pub(super) fn mixed() -> Workspace {
    let workspace = Workspace::new();
    let check = |name: &str, value: &str| json!({"name": name, "type": "contains", "value": value});
    let with = |mut check: Value, key: &str, value: Value| {
        check[key] = value;
        check
    };
    workspace.suite(&json!({"cases": [
        {"id": "plain", "split": "tune", "prompt": "Say yes.", "expected_behavior": ["Says yes."],
         "assertions": [check("says-yes", "yes"), check("says-two", "two"),
                        with(check("nice", "please"), "severity", json!("soft"))]},
        {"id": "critical", "split": "tune", "prompt": "Be safe.",
         "assertions": [with(check("safe", "safe"), "severity", json!("critical")), check("says-yes", "yes"),
                        check("says-two", "two")]},
        {"id": "dependent", "split": "tune", "prompt": "Go on.",
         "assertions": [check("first", "yes"), with(check("second", "two"), "depends_on", json!(["first"])),
                        with(check("of-the-skill", "yes"), "variants", json!(["with_skill"]))]},
        {"id": "judged", "split": "tune", "prompt": "Be kind.", "family": "f",
         "assertions": [check("says-yes", "yes"), {"name": "kind", "type": "judge", "rubric": ["Is kind."]}]},
        {"id": "judge-only", "split": "tune", "prompt": "Be brief.", "family": "f",
         "assertions": [{"name": "brief", "type": "judge", "rubric": ["Is brief."]}]}
    ]}));
    let runs = [
        ("plain", "with_skill", 1, "yes, two, please"),
        ("plain", "with_skill", 2, "yes"),
        ("plain", "without_skill", 1, "no"),
        ("plain", "without_skill", 2, "two"),
        ("critical", "with_skill", 1, "safe, yes, two"),
        ("critical", "with_skill", 2, "yes, two"),
        ("critical", "without_skill", 1, "safe, yes"),
        ("critical", "without_skill", 2, "safe"),
        ("dependent", "with_skill", 1, "yes, two"),
        ("dependent", "without_skill", 1, "no"),
        ("dependent", "with_skill", 2, "yes"),
        ("dependent", "without_skill", 2, "yes, two"),
        ("judged", "with_skill", 1, "yes"),
        ("judged", "without_skill", 1, "no"),
        ("judged", "with_skill", 2, "yes"),
        ("judge-only", "with_skill", 1, "short"),
        ("judge-only", "without_skill", 1, "long"),
    ];
    for (at, (case, arm, run, answer)) in runs.iter().enumerate() {
        let folder = format!("runs/{case}/{arm}/run-{run}");
        workspace.write(&format!("{folder}/output.md"), answer);
        let metadata = json!({"model": "demo-model", "elapsed_ms": 1500 + 250 * at, "total_tokens": 900 + at,
                              "tool_calls": 3});
        workspace.write(&format!("{folder}/metadata.json"), metadata.to_string());
    }
    workspace.write("runs/plain/with_skill/run-1/outputs/report.csv", "a,b\n1,2\n");
    workspace.write("runs/judged/without_skill/run-2/metadata.json", r#"{"timed_out": true}"#);
    workspace.write("runs/judged/without_skill/run-2/output.md", "half");
    let verdict = |run: &str, passed: bool| json!({"judge_task_id": format!("judged::{run}::kind"), "passed": passed});
    let verdicts = [verdict("with_skill::run-1", true), verdict("without_skill::run-1", false)];
    workspace.write("verdicts.json", json!(verdicts).to_string());
    workspace
}

/// Grades the runs into `benchmark.json`.
pub(super) fn report(workspace: &Workspace) -> Value {
    let said =
        workspace.on_runs("benchmark", &["--judge-results", "verdicts.json", "--quiet", "--out", "benchmark.json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    read(workspace, "benchmark.json")
}

pub(super) fn read(workspace: &Workspace, path: &str) -> Value {
    let text = fs::read_to_string(workspace.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

pub(super) fn export(workspace: &Workspace, to: &str, out: &str, more: &[&str]) -> Said {
    let mut arguments = vec!["export", "--to", to, "--benchmark", "benchmark.json", "--runs", "runs", "--out", out];
    arguments.extend_from_slice(more);
    workspace.run(&arguments)
}

/// Every null of a value, by pointer.
fn nulls(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Null => found.push(pointer.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| nulls(item, &format!("{pointer}/{at}"), found))
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| nulls(value, &format!("{pointer}/{key}"), found));
        }
        _ => {}
    }
}

#[test]
fn a_benchmark_has_numbers_or_nothing() {
    let workspace = mixed();
    let said =
        workspace.on_runs("export-anthropic", &["--judge-results", "verdicts.json", "--skill-path", "skills/demo"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let found = said.json();
    // nothing but the moment is null: the viewer shows a null rate as 0 % and stops at a null mean
    let mut empty = Vec::new();
    nulls(&found, "", &mut empty);
    assert_eq!(empty, ["/metadata/timestamp"]);
    assert_eq!(
        found["metadata"],
        json!({"skill_name": "demo", "skill_path": "skills/demo", "executor_model": "demo-model",
               "analyzer_model": "<not-run>", "timestamp": null, "evals_run": [0, 1, 2, 3, 4],
               "runs_per_configuration": 2, "delta_configurations": ["with_skill", "without_skill"]})
    );
    // judge-only runs have no verdict, one run timed out
    let names: Vec<(&str, &str, u64)> = found["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            let text = |key: &str| run[key].as_str().unwrap();
            (text("eval_name"), text("configuration"), run["run_number"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(names.len(), 15, "{names:?}");
    assert!(!names.iter().any(|(case, ..)| *case == "judge-only"));
    let notes: Vec<&str> = found["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    assert!(notes.contains(&"Left out: judged, without_skill, run 2: not scored (timed_out)."), "{notes:?}");
    assert!(notes.contains(&"Left out: judge-only, with_skill, run 1: nothing was graded."), "{notes:?}");
    let run = |at: usize| &found["runs"][at];
    // two gates of three checks count, the soft one does not
    assert_eq!(
        run(0)["result"],
        json!({"pass_rate": 1.0, "passed": 2, "failed": 0, "total": 2, "time_seconds": 1.5,
                                        "tokens": 900, "tool_calls": 3})
    );
    assert_eq!(
        run(0)["expectations"][2],
        json!({"text": "nice", "passed": true, "severity": "soft", "counted": false,
                                                 "evidence": run(0)["expectations"][2]["evidence"]})
    );
    // a veto: two of three hold, the rate is 0
    let vetoed =
        found["runs"].as_array().unwrap().iter().find(|run| {
            run["eval_name"] == "critical" && run["configuration"] == "with_skill" && run["run_number"] == 2
        });
    let vetoed = vetoed.unwrap();
    assert_eq!((&vetoed["result"]["pass_rate"], &vetoed["result"]["passed"]), (&json!(0.0), &json!(2)));
    assert_eq!(vetoed["notes"], json!(["the rate is 0: critical checks failed (safe)"]));
    // with: plain 1, ½; critical 1, 0; dependent 1, ⅔; judged 1, 1 (kind counts once): (37/6)/8
    let mean = found["run_summary"]["with_skill"]["pass_rate"]["mean"].as_f64().unwrap();
    assert!((mean - (1.0 + 0.5 + 1.0 + 0.0 + 1.0 + 2.0 / 3.0 + 1.0 + 1.0) / 8.0).abs() < 1e-12, "{mean}");
    let keys: Vec<&String> = found["run_summary"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["with_skill", "without_skill", "delta"]);
    assert_eq!(found["configuration_deltas"]["all"]["from"], "without_skill");
}

#[test]
fn a_benchmark_is_stamped_only_when_that_is_asked() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/output.md", "yes");
    workspace.write("runs/c/without_skill/output.md", "no");
    let first = workspace.on_runs("export-anthropic", &[]);
    assert_eq!(first.stdout, workspace.on_runs("export-anthropic", &[]).stdout);
    let stamped = workspace.on_runs("export-anthropic", &["--generated-at", "1700000000"]).json();
    assert_eq!(stamped["metadata"]["timestamp"], "2023-11-14T22:13:20Z");
    let delta = &first.json()["run_summary"]["delta"];
    // no times, no tokens: no deltas of them
    assert_eq!(delta, &json!({"pass_rate": "+1.00"}));
    assert_eq!(
        first.json()["run_summary"]["with_skill"],
        json!({"pass_rate": {"mean": 1.0, "stddev": 0.0, "min": 1.0, "max": 1.0}})
    );
}

#[test]
fn incomplete_evidence_is_refused_when_that_is_asked() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/output.md", "yes");
    let said = workspace.on_runs("export-anthropic", &["--evidence", "strict"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("FAIL: the evidence is incomplete: incomplete_pairing"), "{}", said.stderr);
    assert_eq!(said.stdout, "");
}

#[test]
fn several_models_are_configurations_of_their_own() {
    let demo = repository("datasets/demo");
    let said = run_in(&demo, &["export-anthropic", "evals/shared-benchmark.json", "--runs", "runs", "--quiet"], &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let found = said.json();
    let models = found["metadata"]["executor_models"].as_array().unwrap();
    assert!(models.len() > 1, "{models:?}");
    let deltas: Vec<&String> = found["configuration_deltas"].as_object().unwrap().keys().collect();
    assert_eq!(deltas, models.iter().map(|model| model.as_str().unwrap()).collect::<Vec<_>>());
    let first = format!("{}::with_skill", models[0].as_str().unwrap());
    assert_eq!(found["run_summary"].as_object().unwrap().keys().next(), Some(&first));
}

#[test]
fn a_folder_that_is_not_empty_is_left_alone() {
    let workspace = mixed();
    report(&workspace);
    workspace.write("taken/notes.txt", "mine");
    let said = export(&workspace, "skill-creator", "taken", &["--quiet"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("FAIL: taken is not empty"), "{}", said.stderr);
    // --force replaces exports and nothing else
    let said = export(&workspace, "skill-creator", "taken", &["--quiet", "--force"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("taken holds notes.txt, which no export wrote"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(workspace.path().join("taken/notes.txt")).unwrap(), "mine");

    fs::create_dir(workspace.path().join("out")).unwrap();
    assert_eq!(export(&workspace, "skill-creator", "out", &["--quiet"]).code, 0);
    assert_eq!(export(&workspace, "skill-creator", "out", &["--quiet"]).code, 1);
    assert_eq!(export(&workspace, "skill-forge", "out", &["--quiet", "--force"]).code, 0);
    assert!(workspace.path().join("out/eval-0/baseline_0/grading.json").is_file());
    assert!(!workspace.path().join("out/eval-0/without_skill").exists());
    // what a person wrote stops the next one
    workspace.write("out/feedback.json", "{}");
    let said = export(&workspace, "skill-forge", "out", &["--quiet", "--force"]);
    assert!(said.stderr.contains("out holds feedback.json"), "{}", said.stderr);
    let left: Vec<String> = fs::read_dir(workspace.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn a_report_leads_nowhere_else() {
    let workspace = mixed();
    let mut report = report(&workspace);
    workspace.write("secret/output.md", "a secret");
    report["results"][0]["run_dir"] = json!("../secret");
    workspace.write("benchmark.json", report.to_string());
    let said = export(&workspace, "skill-creator", "out", &["--quiet"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("path_escapes_run: ../secret"), "{}", said.stderr);
    assert!(!workspace.path().join("out").exists());
    // an arm whose name is a path
    report["results"][0]["run_dir"] = json!("plain/with_skill/run-1");
    report["results"][0]["variant"] = json!("../../up");
    workspace.write("benchmark.json", report.to_string());
    let said = export(&workspace, "skill-creator", "out", &["--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(workspace.path().join("out/eval-0/z-..%2F..%2Fup/run-1").is_dir());
}

#[test]
fn arms_beside_the_comparison_keep_apart() {
    let workspace = mixed();
    let mut report = report(&workspace);
    report["results"][0]["variant"] = json!("ablation:x");
    report["results"][2]["variant"] = json!("ablation-x");
    workspace.write("benchmark.json", report.to_string());
    let said = export(&workspace, "skill-creator", "out", &["--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let mut names: Vec<String> = fs::read_dir(workspace.path().join("out/eval-0"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("z-"))
        .collect();
    names.sort();
    // printf ablation-x | sha256sum
    assert_eq!(names, ["z-ablation-x", "z-ablation-x-5a5267e1"]);
    let said = export(&workspace, "skill-forge", "forge", &[]);
    assert_eq!(
        said.lines("WARN arm_left_out"),
        [
            "WARN arm_left_out: ablation-x: this format has no place for it",
            "WARN arm_left_out: ablation:x: this format has no place for it",
        ]
    );
}

#[test]
fn other_runs_than_those_of_the_report_are_refused() {
    let workspace = mixed();
    report(&workspace);
    fs::rename(workspace.path().join("runs/plain"), workspace.path().join("runs/other")).unwrap();
    let said = export(&workspace, "skill-creator", "out", &["--quiet"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("are these the runs of the report?"), "{}", said.stderr);
    assert!(!workspace.path().join("out").exists());
}

#[test]
fn a_link_out_of_a_run_and_a_large_file_are_not_copied() {
    let workspace = mixed();
    report(&workspace);
    workspace.write("secret.txt", "a secret");
    std::os::unix::fs::symlink(
        "../../../../../secret.txt",
        workspace.path().join("runs/plain/with_skill/run-1/outputs/l.txt"),
    )
    .unwrap();
    workspace.write("runs/plain/with_skill/run-2/outputs/big.bin", vec![b'x'; (1 << 20) + 1]);
    let said = export(&workspace, "skill-creator", "out", &["--max-artifact-mib", "1"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let lines = said.lines("WARN not_copied");
    assert_eq!(lines.len(), 2, "{}", said.stderr);
    assert!(!workspace.path().join("out/eval-0/with_skill/run-1/outputs/l.txt").exists());
    assert!(workspace.path().join("out/eval-0/with_skill/run-1/outputs/report.csv").is_file());
    assert!(!workspace.path().join("out/eval-0/with_skill/run-2/outputs/big.bin").exists());
}

#[test]
fn what_a_workspace_holds_is_what_its_tools_read() {
    let workspace = mixed();
    report(&workspace);
    let said = export(&workspace, "skill-creator", "out", &["--suite", "evals/shared-benchmark.json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(said.stdout, "out: 5 evals, 18 runs (15 with verdicts), 19 files of answers\n");
    let metadata = read(&workspace, "out/eval-0/with_skill/eval_metadata.json");
    assert_eq!(metadata, read(&workspace, "out/eval-0/eval_metadata.json"));
    assert_eq!(
        (&metadata["eval_id"], &metadata["eval_name"], &metadata["prompt"]),
        (&json!(0), &json!("plain"), &json!("Say yes."))
    );
    assert_eq!(metadata["assertions"], json!(["says-yes", "says-two", "nice"]));
    assert_eq!(metadata["expected_output"], "Says yes.");
    let timing = read(&workspace, "out/eval-0/with_skill/run-1/timing.json");
    assert_eq!(timing, json!({"total_tokens": 900, "duration_ms": 1500, "total_duration_seconds": 1.5}));
    let grading = read(&workspace, "out/eval-1/with_skill/run-2/grading.json");
    // the aggregator takes the time of this file first, and then no tokens
    assert_eq!((&grading["timing"], &grading["execution_metrics"]), (&json!({}), &json!({"total_tool_calls": 3})));
    assert_eq!(grading["summary"], json!({"passed": 2, "failed": 1, "total": 3, "pass_rate": 0.0}));
    // nothing was graded: no file of verdicts, which the aggregator drops with a warning
    assert!(!workspace.path().join("out/eval-4/with_skill/run-1/grading.json").exists());
    assert!(workspace.path().join("out/eval-4/with_skill/run-1/outputs/output.md").is_file());
    let benchmark = read(&workspace, "out/benchmark.json");
    let mut empty = Vec::new();
    nulls(&benchmark["runs"], "/runs", &mut empty);
    nulls(&benchmark["run_summary"], "/run_summary", &mut empty);
    assert_eq!(empty, Vec::<String>::new());
    let page = fs::read_to_string(workspace.path().join("out/benchmark.md")).unwrap();
    assert!(page.starts_with("# Skill Benchmark: demo\n\n**Model**: demo-model\n"), "{page}");
    assert!(page.contains("| Metric | With Skill | Without Skill | Delta |"), "{page}");
}

#[test]
fn a_workspace_of_the_forge_pipeline_has_its_names() {
    let workspace = mixed();
    report(&workspace);
    let said = export(&workspace, "skill-forge", "forge/iteration-3", &["--suite", "evals/shared-benchmark.json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let grading = read(&workspace, "forge/iteration-3/eval-0/baseline_1/grading.json");
    assert_eq!(
        (&grading["eval_id"], &grading["run_type"], &grading["pass_rate"]),
        (&json!(0), &json!("baseline"), &json!(0.5))
    );
    let metadata = read(&workspace, "forge/iteration-3/eval-0/eval_metadata.json");
    assert_eq!(metadata["assertions"][0], json!({"name": "says-yes", "check": "says-yes", "weight": 1.0}));
    let stopped = "forge/iteration-3/eval-3/baseline_1";
    assert_eq!(read(&workspace, &format!("{stopped}/timing.json"))["timed_out"], true);
    // what the script of the pipeline makes of the files is what stands there
    let upstream = workspace.run(&["report", "forge/iteration-3", "--format", "upstream-json", "--skill-name", "demo"]);
    assert_eq!(upstream.code, 0, "{}", upstream.stderr);
    assert_eq!(upstream.json(), read(&workspace, "forge/iteration-3/benchmark.json"));
    assert_eq!(read(&workspace, "forge/iteration-3/benchmark.json")["iteration"], 3);
}

#[test]
fn the_forge_pipeline_has_room_for_one_model_and_twenty_trials() {
    let demo = repository("datasets/demo");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (report, out) = (path("benchmark.json"), path("out"));
    let benchmark = ["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--quiet", "--out", &report];
    assert_eq!(run_in(&demo, &benchmark, &[]).code, 0);
    let arguments =
        ["export", "--to", "skill-forge", "--benchmark", &report, "--runs", "runs", "--out", &out, "--quiet"];
    let said = run_in(&demo, &arguments, &[]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("choose one with --model"), "{}", said.stderr);
    let said = run_in(&demo, &[&arguments[..], &["--model", "nobody"]].concat(), &[]);
    assert!(said.stderr.contains("has no runs of the model nobody"), "{}", said.stderr);
    let said = run_in(&demo, &[&arguments[..], &["--model", "gpt-5.1-codex"]].concat(), &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);

    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/run-21/output.md", "yes");
    workspace.write("runs/c/without_skill/run-21/output.md", "no");
    let said = workspace.on_runs("benchmark", &["--quiet", "--out", "benchmark.json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let said = export(&workspace, "skill-forge", "out", &["--quiet"]);
    assert!(said.stderr.contains("repetition 21 has no place"), "{}", said.stderr);
}
