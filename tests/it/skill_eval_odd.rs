//! Iterations of the executor/grader runner that are odd, broken or hostile.

use std::fs;

use serde_json::{Value, json};

use crate::skill_eval::{CHANGELOG, report, sample};
use crate::support::{Said, Workspace};

/// An iteration that is made up run by run.
struct Made(Workspace);

impl Made {
    fn new(configurations: &[&str]) -> Self {
        let made = Self(Workspace::new());
        made.manifest(&json!({"configs": configurations, "runs": 1, "skill_name": "demo", "agent": "stub"}));
        made
    }

    fn manifest(&self, manifest: &Value) {
        self.0.write("it/iteration_manifest.json", manifest.to_string());
    }

    fn file(&self, run: &str, name: &str, contents: impl AsRef<[u8]>) {
        self.0.write(&format!("it/{run}/{name}"), contents);
    }

    /// A run with `passed` of four assertions, as the runner records it.
    fn run(&self, eval: &str, configuration: &str, number: u64, passed: u64) {
        let rows: Vec<Value> = (1..=4)
            .map(|id| json!({"text": format!("claim {id}"), "passed": id <= passed, "evidence": "seen"}))
            .collect();
        let verdicts: Vec<Value> =
            (1..=4).map(|id| json!({"id": id, "passed": id <= passed, "evidence": "seen"})).collect();
        let run = format!("eval-{}/{configuration}/run-{number}", eval.to_lowercase());
        let record = json!({
            "eval_id": eval, "eval_name": eval, "configuration": configuration, "run_number": number, "status": "ok",
            "scored": true, "passed": passed, "failed": 4 - passed, "total": 4, "pass_rate": passed as f64 / 4.0,
            "expectations": rows, "metrics": {"captured": false, "reason": "stub"},
        });
        self.file(&run, "run.json", record.to_string());
        self.file(&run, "grading.json", json!({"expectations": rows, "passed": passed, "total": 4}).to_string());
        self.file(&run, "outputs/grader_output.txt", json!({"verdicts": verdicts}).to_string());
    }

    fn json(&self) -> Value {
        report(&self.0, "it")
    }

    fn said(&self) -> Said {
        self.0.run(&["report", "it"])
    }

    /// The strict reading of the first run.
    fn first(&self) -> Value {
        self.json()["skill_lift"]["runs"][0].clone()
    }
}

#[test]
fn an_empty_iteration_is_reported_as_empty() {
    let made = Made::new(&["with_skill", "without_skill"]);
    made.0.write(
        "it/benchmark.json",
        r#"{"skill_name": "demo", "configs": [], "run_count": 0, "evals": [], "runs": []}"#,
    );
    let said = made.said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.contains("- Runs: 0 (0 scored, 0 infrastructure failures excluded from pass rate)"));
    assert!(said.stdout.contains("**No lift can be measured.**"));
    // R39: nothing that was scored is never green, though the exit code is the documented one
    assert_eq!(made.json()["skill_lift"]["sanity_checks"]["ok"], false);
    fs::remove_file(made.0.path().join("it/benchmark.json")).unwrap();
    assert!(made.said().stdout.contains("- Status: REVIEW REQUIRED (0 signals, nothing was scored)"));
    assert_eq!(made.json()["skill_lift"]["lift"], Value::Null);
}

#[test]
fn one_configuration_has_nothing_to_be_compared_with() {
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 3);
    let said = made.said();
    assert_eq!(said.code, 0);
    assert!(said.stdout.contains("There is one configuration: nothing to compare it with."));
    assert!(!said.stdout.contains("Delta"));
    let report = made.json();
    assert_eq!(report["comparison"], Value::Null);
    assert_eq!(report["overall_pass_rate"], json!({"with_skill": 0.75}));
    assert_eq!(report["skill_lift"]["lift"], Value::Null);
}

#[test]
fn the_skill_is_the_candidate_whatever_the_order() {
    let made = Made::new(&["without_skill", "with_skill", "other"]);
    for (configuration, passed) in [("without_skill", 1), ("with_skill", 3), ("other", 2)] {
        made.run("E1", configuration, 1, passed);
    }
    let report = made.json();
    assert_eq!(report["configs"], json!(["without_skill", "with_skill", "other"]));
    assert_eq!(report["comparison"]["candidate"], "with_skill");
    assert_eq!(report["comparison"]["delta"], 0.5);
    assert_eq!(report["skill_lift"]["lift"], 0.5);
    assert_eq!(report["sanity_checks"]["candidate_below_baseline"], json!([]));
    let other = &report["skill_lift"]["other_contrasts"][0];
    assert_eq!(
        (&other["candidate"], &other["baseline"], &other["lift"]),
        (&json!("other"), &json!("without_skill"), &json!(0.25))
    );

    // a stored comparison that is the wrong way round is turned
    let mut stored = report.clone();
    stored.as_object_mut().unwrap().remove("skill_lift");
    stored["comparison"] = json!({"candidate": "without_skill", "baseline": "with_skill", "candidate_pass_rate": 0.25,
        "baseline_pass_rate": 0.75, "delta": -0.5});
    stored["sanity_checks"]["candidate_below_baseline"] =
        json!([{"eval_id": "E1", "candidate_pass_rate": 0.25, "baseline_pass_rate": 0.75}]);
    made.0.write("it/benchmark.json", stored.to_string());
    assert_eq!(made.json()["comparison"], report["comparison"]);
    assert_eq!(made.json()["sanity_checks"]["candidate_below_baseline"], json!([]));
    assert_eq!(made.said().lines("WARN comparison_turned").len(), 1);
}

#[test]
fn unknown_keys_are_passed_through_and_old_files_render() {
    let made = Made::new(&["with_skill", "without_skill"]);
    made.run("E1", "with_skill", 1, 4);
    made.0.write(
        "it/benchmark.json",
        r#"{"new": {"deep": [1, 2.50]}, "skill_name": "demo", "runs": [], "skill_lift": {"lift": 9}}"#,
    );
    let report = made.json();
    assert_eq!(report["new"], json!({"deep": [1, 2.5]}));
    assert_eq!(report["skill_lift"]["lift"], Value::Null);
    let said = made.said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(!said.stdout.contains("## Sanity checks"));
    assert!(said.stdout.contains("| Execution time |"));
}

#[test]
fn what_the_grader_left_out_counts_as_failed_above_and_not_at_all_below() {
    let made = Made::new(&["with_skill", "without_skill"]);
    made.run("E1", "with_skill", 1, 2);
    made.run("E1", "without_skill", 1, 2);
    let run = "eval-e1/with_skill/run-1";
    made.file(
        run,
        "outputs/grader_output.txt",
        r#"{"verdicts": [{"id": 1, "passed": true}, {"id": 2, "passed": true}]}"#,
    );
    let report = made.json();
    assert_eq!(report["overall_pass_rate"]["with_skill"], 0.5);
    assert_eq!(report["sanity_checks"]["ok"], true);
    let own = &report["skill_lift"]["sanity_checks"];
    assert_eq!(own["ok"], false);
    assert_eq!(own["incomplete_verdicts"][0]["missing_ids"], json!([3, 4]));
    assert_eq!(own["unpaired_cells"][0]["reasons"], json!({"incomplete_verdicts": 1}));
    assert!(made.said().stdout.contains("- Status: REVIEW REQUIRED"));

    // nothing judged, or two answers: the run is no score in either view
    let nothing = r#"{"verdicts": []}"#;
    let two = r#"He wrote {"verdicts": [{"id": 1, "passed": true}]}, I say {"verdicts": [{"id": 1, "passed": false}]}"#;
    for (answer, state) in [(nothing, "grader_incomplete"), (two, "grader_conflict")] {
        made.file(run, "outputs/grader_output.txt", answer);
        let report = made.json();
        assert_eq!(report["overall_pass_rate"]["with_skill"], Value::Null, "{state}");
        assert_eq!(report["status_counts"], json!({state: 1, "ok": 1}));
        assert_eq!(
            report["sanity_checks"]["infrastructure_failures"][0],
            json!({"eval_id": "E1", "configuration": "with_skill", "status": state, "count": 1})
        );
        assert_eq!(report["skill_lift"]["runs"][0]["unscored_reason"], state);
    }
}

#[test]
fn one_unparsable_answer_leaves_the_others_scored() {
    // R29: nine of ten runs keep their score, and the text of the tenth stays where it is
    let made = Made::new(&["with_skill"]);
    made.manifest(&json!({"configs": ["with_skill"], "runs": 10}));
    for number in 1..=10 {
        made.run("E1", "with_skill", number, 4);
    }
    let run = "eval-e1/with_skill/run-7";
    made.file(run, "outputs/grader_output.txt", "GRID: C");
    made.file(run, "run.json", r#"{"eval_id": "E1", "configuration": "with_skill", "run_number": 7, "status": "grader_unparseable", "scored": false, "passed": 0, "failed": 4, "total": 4, "pass_rate": null}"#);
    let report = made.json();
    assert_eq!(report["scored_run_count"], 9);
    assert_eq!(report["overall_pass_rate"]["with_skill"], 1.0);
    assert_eq!(report["status_counts"], json!({"ok": 9, "grader_unparseable": 1}));
    assert_eq!(report["skill_lift"]["runs"][6]["unscored_reason"], "grader_unparseable");
    let kept = made.0.path().join("it").join(run).join("outputs/grader_output.txt");
    assert_eq!(fs::read_to_string(kept).unwrap(), "GRID: C");
}

#[test]
fn completions_are_not_passes() {
    // R30: five runs completed, the verdict of one is a fail
    let made = Made::new(&["with_skill"]);
    for number in 1..=5 {
        made.run("E1", "with_skill", number, if number == 3 { 0 } else { 4 });
    }
    let report = made.json();
    assert_eq!(report["scored_run_count"], 5);
    assert_eq!(report["overall_pass_rate"]["with_skill"], 0.8);
}

#[test]
fn verdicts_without_a_record_count_only_when_something_was_judged() {
    let made = Made::new(&["with_skill", "without_skill"]);
    made.run("E1", "with_skill", 1, 3);
    made.run("E1", "without_skill", 1, 1);
    for configuration in ["with_skill", "without_skill"] {
        fs::remove_file(made.0.path().join(format!("it/eval-e1/{configuration}/run-1/run.json"))).unwrap();
    }
    // what is written when nothing was judged
    let empty = json!({"expectations": [{"text": "a", "passed": false, "evidence": ""}], "passed": 0, "total": 1});
    made.file("eval-e1/without_skill/run-1", "grading.json", empty.to_string());
    let report = made.json();
    assert_eq!(report["status_counts"], json!({"ok": 1, "suspect": 1}));
    assert_eq!(report["overall_pass_rate"], json!({"with_skill": 0.75, "without_skill": null}));
    assert_eq!(report["skill_lift"]["runs"][1]["unscored_reason"], "runner_error");
    let said = made.said();
    let line = "- Not scored, no record and nothing judged: e1/without_skill run 1";
    assert!(said.stdout.lines().any(|other| other == line), "{}", said.stdout);

    // neither file: no run at all
    made.file("eval-e1/with_skill/run-1", "note.txt", "");
    fs::remove_file(made.0.path().join("it/eval-e1/with_skill/run-1/grading.json")).unwrap();
    assert_eq!(made.json()["skill_lift"]["missing_runs"][0]["configuration"], "with_skill");
}

#[test]
fn records_of_the_wrong_shape_are_not_scored() {
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 4);
    let run = "eval-e1/with_skill/run-1";
    let grading = made.0.path().join("it").join(run).join("grading.json");
    fs::remove_file(grading).unwrap();
    let cases = [
        ("[]", "unreadable"),
        ("{", "unreadable"),
        (r#"{"status": "ok", "status": "ok"}"#, "unreadable"),
        (r#"{"status": "ok", "pass_rate": NaN}"#, "unreadable"),
        (
            r#"{"status": 7, "eval_id": [], "configuration": {}, "run_number": "x", "metrics": 3, "expectations": {}}"#,
            "unreadable",
        ),
        (r#"{"status": "ok", "passed": "4", "total": 4, "pass_rate": "1"}"#, "unreadable"),
        (r#"{"status": "ok", "passed": 9, "total": 4, "pass_rate": 2.25}"#, "unreadable"),
        (r#"{"status": "ok", "scored": false, "passed": 4, "total": 4, "pass_rate": 1}"#, "unreadable"),
        (r#"{"status": "ok", "run_number": 2, "passed": 4, "total": 4, "pass_rate": 1}"#, "misfiled"),
        (r#"{"status": "from_the_future", "passed": 4, "total": 4, "pass_rate": 1}"#, "from_the_future"),
    ];
    for (record, status) in cases {
        made.file(run, "run.json", record);
        let report = made.json();
        assert_eq!(report["status_counts"], json!({status: 1}), "{record}");
        assert_eq!(report["overall_pass_rate"]["with_skill"], Value::Null, "{record}");
        assert_ne!(report["skill_lift"]["runs"][0]["unscored_reason"], Value::Null, "{record}");
    }
    made.file(run, "run.json", "[]");
    assert_eq!(
        made.said().lines("WARN sidecar_unreadable: eval-e1/with_skill/run-1/run.json: expected an object").len(),
        1
    );
}

#[test]
fn ten_megabytes_of_open_braces_are_read_in_linear_time() {
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 4);
    let answer = format!("{}\"verdicts\"", "{\"a\":".repeat(2_000_000));
    made.file("eval-e1/with_skill/run-1", "outputs/grader_output.txt", answer);
    let begun = std::time::Instant::now();
    assert_eq!(made.first()["state"], "grader_incomplete");
    // a quadratic search would take hours
    assert!(begun.elapsed().as_secs() < 60);
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 4);
    let root = made.0.path().join("it");
    let outside = made.0.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("run.json"), r#"{"eval_id": "X", "status": "ok", "passed": 1, "total": 1, "pass_rate": 1}"#)
        .unwrap();
    symlink(&outside, root.join("eval-e1/with_skill/run-2")).unwrap();
    symlink(root.join("eval-e1/with_skill/run-1"), root.join("eval-e1/with_skill/run-3")).unwrap();
    symlink("/", root.join("eval-root")).unwrap();
    fs::create_dir_all(root.join("eval-e1/with_skill/run-4")).unwrap();
    symlink(outside.join("run.json"), root.join("eval-e1/with_skill/run-4/run.json")).unwrap();
    // the report replaces a link in the iteration instead of writing to where it leads
    fs::write(outside.join("precious"), "kept").unwrap();
    symlink(outside.join("precious"), root.join("benchmark.md")).unwrap();
    let said = made.said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let refused = [
        "benchmark.md",
        "eval-root",
        "eval-e1/with_skill/run-3",
        "eval-e1/with_skill/run-2",
        "eval-e1/with_skill/run-4/run.json",
    ];
    let warned: Vec<&str> =
        said.lines("WARN link_refused: ").iter().filter_map(|line| line.split(": ").nth(1)).collect();
    assert_eq!(warned, refused);
    assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "kept");
    let report = made.json();
    assert_eq!(report["run_count"], 2);
    assert_eq!(report["status_counts"], json!({"ok": 1, "unreadable": 1}));
}

#[test]
fn names_cannot_steer_a_terminal_or_a_table() {
    // R45, and a pipe, a line break and Markdown in a name
    let made = Made::new(&["with_skill"]);
    let id = "\u{1b}]0;x\u{7}\u{1b}[2J";
    made.run("E1", "with_skill", 1, 4);
    let path = made.0.path().join("it/eval-e1/with_skill/run-1/run.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    record["eval_id"] = json!(id);
    record["eval_name"] = json!("a | b\n# <script> ../../etc");
    fs::write(&path, record.to_string()).unwrap();
    let said = made.said();
    assert_eq!(said.code, 0);
    assert!(!said.stdout.contains(['\u{1b}', '\u{7}']) && !said.stderr.contains('\u{1b}'));
    assert!(said.stdout.contains("a \\| b\\\\u{a}# &lt;script> ../../etc | 100.0% |"), "{}", said.stdout);
    assert_eq!(made.json()["evals"][0]["eval_id"], id);
}

#[test]
fn two_directories_of_the_same_run_are_refused() {
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 4);
    let record = fs::read(made.0.path().join("it/eval-e1/with_skill/run-1/run.json")).unwrap();
    made.file("eval-e1-2/with_skill/run-1", "run.json", record);
    let said = made.said();
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("are both run 1 of eval \"E1\""), "{}", said.stderr);
}

#[test]
fn an_eval_without_assertions_is_named_and_not_compared() {
    let made = Made::new(&["with_skill", "without_skill"]);
    for configuration in ["with_skill", "without_skill"] {
        made.run("E1", configuration, 1, 4);
        let record = json!({"eval_id": "E2", "configuration": configuration, "run_number": 1, "status": "ok", "scored": true,
            "passed": 0, "failed": 0, "total": 0, "pass_rate": null, "expectations": []});
        made.file(&format!("eval-e2/{configuration}/run-1"), "run.json", record.to_string());
        made.file(&format!("eval-e2/{configuration}/run-1"), "outputs/grader_output.txt", r#"{"verdicts": []}"#);
    }
    let report = made.json();
    assert_eq!(report["scored_run_count"], 4);
    assert_eq!(report["sanity_checks"]["ok"], true);
    let own = &report["skill_lift"];
    assert_eq!(own["sanity_checks"]["no_assertions"], json!([{"eval_id": "E2", "runs": 2}]));
    assert_eq!(own["paired_evals"], json!(["E1"]));
    assert_eq!(own["unpaired_evals"], json!([]));
    assert_eq!(own["runs"][2]["unscored_reason"], "no_assertions");
}

#[test]
fn a_git_failure_is_no_clean_bill() {
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 4);
    let fixtures = json!({"checked": true, "dirty": false, "paths": ["f"], "entries": [], "error": "git not found"});
    made.manifest(&json!({"configs": ["with_skill"], "runs": 1, "source_fixtures_before": fixtures}));
    let report = made.json();
    assert_eq!(report["sanity_checks"]["ok"], true);
    assert_eq!(report["skill_lift"]["sanity_checks"]["source_fixture_unknown"], json!([{"error": "git not found"}]));
    assert!(made.said().stdout.contains("- Status: REVIEW REQUIRED"));
}

#[test]
fn a_plan_beyond_reason_is_no_plan() {
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 4);
    made.manifest(&json!({"configs": ["with_skill"], "runs": 4_000_000_000_u64}));
    assert_eq!(made.json()["skill_lift"]["missing_runs"], json!([]));
    let names: Vec<String> = (0..101).map(|number| format!("c{number}")).collect();
    made.manifest(&json!({"configs": names, "runs": 1}));
    assert_eq!(made.said().code, 1);
}

/// The same rule as everywhere: a run folder without a number is a mistake, not a run to be left out.
#[test]
fn a_run_folder_without_a_number_is_refused() {
    let made = Made::new(&["with_skill"]);
    made.run("E1", "with_skill", 1, 4);
    for name in ["run-x", "run-+2"] {
        made.file(&format!("eval-e1/with_skill/{name}"), "run.json", "{}");
        let said = made.0.run(&["report", "it"]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
        let expected = format!("invalid run directory name: {name} under eval-e1/with_skill");
        assert!(said.stderr.contains(&expected), "{said:#?}");
        fs::remove_dir_all(made.0.path().join("it/eval-e1/with_skill").join(name)).unwrap();
    }
    assert_eq!(made.0.run(&["report", "it"]).code, 0);
}

/// Without its suite an iteration loses order and weights; that is said, and why.
#[test]
fn a_suite_that_cannot_be_read_is_named() {
    let workspace = sample("changelog-claude");
    workspace.write("evals/changelog/evals.json", "{,");
    let said = workspace.run(&["report", CHANGELOG, "--format", "json"]);
    let warnings: Vec<_> =
        said.lines("WARN sidecar_unreadable").into_iter().filter(|line| line.contains("evals.json")).collect();
    assert_eq!((said.code, warnings.len()), (0, 1), "{said:#?}");
    assert!(warnings[0].contains("its order and weights are not used: not a suite"), "{warnings:?}");
}
