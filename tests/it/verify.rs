//! `verify`: whether a report comes out again, and what is named when it does not.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Said, Workspace, copy_folder, repository, run_in};

const SUITE: &str = "datasets/demo/evals/shared-benchmark.json";
const RUNS: &str = "datasets/demo/runs";

/// A suite with two cases, three runs an arm, and a report of it.
struct Made {
    workspace: Workspace,
}

impl Made {
    fn new(more: &[&str]) -> Self {
        let workspace = Workspace::with_cases(&["first", "second"]);
        for case in ["first", "second"] {
            for (arm, answer) in [("with_skill", "yes"), ("without_skill", "no")] {
                for run in 1..=3 {
                    workspace.write(&format!("runs/{case}/{arm}/run-{run}/output.md"), answer);
                    workspace.write(&format!("runs/{case}/{arm}/run-{run}/metadata.json"), "{\"total_tokens\": 100}");
                }
            }
        }
        let made = Self { workspace };
        made.benchmark(more);
        made
    }

    fn benchmark(&self, more: &[&str]) {
        let said = self.workspace.on_runs("benchmark", &[&["--quiet", "--out", "report.json"], more].concat());
        assert_eq!(said.code, 0, "{}", said.stderr);
    }

    fn verify(&self, more: &[&str]) -> Said {
        self.workspace.run(&[&["verify", "report.json", "--runs", "runs"], more].concat())
    }

    fn report(&self) -> String {
        fs::read_to_string(self.workspace.path().join("report.json")).unwrap()
    }

    fn change(&self, from: &str, to: &str) {
        let text = self.report();
        assert!(text.contains(from), "{from}");
        self.workspace.write("report.json", text.replacen(from, to, 1));
    }
}

const VERIFIED: &str = "verified: report.json: 12 rows and every figure come out again from runs\n";

/// The demo in a folder of its own, with its report.
fn demo() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("work");
    copy_folder(&repository("datasets/demo"), &root.join("datasets/demo"));
    let said = run_in(&root, &["benchmark", SUITE, "--runs", RUNS, "--out", "demo.json", "--quiet"], &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    (folder, root)
}

#[test]
fn the_report_of_the_demo_comes_out_again_wherever_its_files_are() {
    let (_folder, root) = demo();
    let said = run_in(&root, &["verify", "demo.json", "--runs", RUNS], &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert_eq!(said.stdout, format!("verified: demo.json: 259 rows and every figure come out again from {RUNS}\n"));
    // other paths, another number of threads, another stamp
    let arguments = ["verify", "../../demo.json", "--runs", "./runs", "--suite", "evals/shared-benchmark.json"];
    let environment = [("RAYON_NUM_THREADS", "1"), ("SOURCE_DATE_EPOCH", "1760000000")];
    let said = run_in(&root.join("datasets/demo"), &arguments, &environment);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let quiet = run_in(&root, &["verify", "demo.json", "--runs", RUNS, "--quiet"], &[]);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (0, ""));
}

#[test]
fn the_run_of_the_demo_whose_answer_was_edited_is_named() {
    let (_folder, root) = demo();
    let run = "deploy-rollback/claude-sonnet-4.5/with_skill/run-2";
    let answer = root.join(RUNS).join(run).join("output.md");
    assert!(answer.is_file());
    fs::write(&answer, "Sorry.\n").unwrap();
    let said = run_in(&root, &["verify", "demo.json", "--runs", RUNS], &[]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(lines[0], "FAIL: demo.json does not come out again");
    assert_eq!(
        lines[1],
        format!(
            "FAIL: a run that says something else: case deploy-rollback, model claude-sonnet-4.5, with_skill, repetition 2 ({run})"
        )
    );
    // the row is the second of its case and arm; its place is where the report has it
    let report: Value = serde_json::from_str(&fs::read_to_string(root.join("demo.json")).unwrap()).unwrap();
    let at = report["results"].as_array().unwrap().iter().position(|row| row["run_dir"] == run).unwrap();
    assert!(lines[2].starts_with(&format!("FAIL: at /results/{at}/assertions/")), "{}", lines[2]);
    assert!(lines[2].ends_with("/passed: true in the report, false now"), "{}", lines[2]);
    assert_eq!(lines[3], "FAIL: that is read from the answer: output.md");
    assert_eq!(lines[4], "FAIL: files of the runs are others than the report was made of");
    assert!(lines[5].starts_with("FAIL: at /summary/with_skill/mean_"), "{}", lines[5]);
    assert_eq!(lines.len(), 6);
}

#[test]
fn every_option_of_the_grading_is_taken_from_the_report() {
    for options in [
        &[][..],
        &["--strict", "--unobserved", "exclude", "--split", "tune"],
        &["--variant", "without_skill", "--variant", "with_skill"],
        &["--min-lift", "0.25", "--alpha", "0.1", "--results", "slim"],
        &["--strict-contract", "--strict-layout", "--on-duplicate", "last", "--dialect", "shared-benchmark"],
        &["--generated-at", "1760000000"],
    ] {
        let made = Made::new(options);
        let said = made.verify(&[]);
        assert_eq!((said.code, said.stdout.as_str()), (0, VERIFIED), "{options:?}: {}", said.stderr);
    }
}

#[test]
fn what_a_report_must_not_decide_alone_has_to_be_given_again() {
    let given = ["--max-evidence-chars", "20", "--pass-env", "HOME", "--allow-scripts", "--allow-external-files"];
    let made = Made::new(&given);
    let said = made.verify(&["--pass-env", "HOME"]);
    assert_eq!((said.code, said.stdout.as_str()), (2, ""));
    assert!(
        said.stderr.starts_with(
            "error: the report was made with --allow-external-files, --allow-scripts, --max-evidence-chars: give the same again"
        ),
        "{}",
        said.stderr
    );
    assert_eq!(made.verify(&given).stdout, VERIFIED);
    // another value is another condition
    let other = [&given[2..], &["--max-evidence-chars", "30"]].concat();
    let said = made.verify(&other);
    assert_eq!(said.code, 1);
    assert_eq!(said.stderr.lines().nth(1), Some("FAIL: --max-evidence-chars: 20 in the report, 30 now"));

    let plain = Made::new(&[]);
    let said = plain.verify(&["--allow-scripts"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("the report was made without --allow-scripts: leave it out"), "{}", said.stderr);
}

#[test]
fn verdicts_of_judges_are_given_again_and_held_against_their_digest() {
    let made = Made::new(&[]);
    let judge = json!({"name": "tone", "type": "judge", "rubric": ["Is it polite?"], "severity": "gate"});
    made.workspace.suite(&json!({"cases": [
        {"id": "first", "split": "tune", "prompt": "Do it.", "assertions": [judge]},
        {"id": "second", "split": "tune", "prompt": "Do it.", "assertions": [
            {"name": "says-yes", "type": "contains", "value": "yes"}]}
    ]}));
    let said = made.workspace.on_runs("grade", &["--judge-tasks", "tasks.jsonl", "--out", "grades.json", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let tasks = fs::read_to_string(made.workspace.path().join("tasks.jsonl")).unwrap();
    let verdicts = |passed: bool| -> String {
        let ids = tasks.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["judge_task_id"].clone());
        ids.map(|id| format!("{}\n", json!({"judge_task_id": id, "passed": passed, "evidence": "So."}))).collect()
    };
    made.workspace.write("verdicts.jsonl", verdicts(true));
    made.benchmark(&["--judge-results", "verdicts.jsonl"]);
    let said = made.verify(&[]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("the report was made with --judge-results: give the same again"), "{}", said.stderr);
    assert_eq!(made.verify(&["--judge-results", "verdicts.jsonl"]).stdout, VERIFIED);
    made.workspace.write("others.jsonl", verdicts(false));
    let said = made.verify(&["--judge-results", "others.jsonl"]);
    assert_eq!(said.code, 1);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert!(lines[1].starts_with("FAIL: --judge-results: sha256:"), "{}", said.stderr);
    assert!(lines[3].contains("/qualitative_assertions/0/passed: true in the report, false now"), "{}", said.stderr);
    assert_eq!(lines[4], "FAIL: that comes from the verdicts of --judge-results");
}

#[test]
fn a_report_that_was_changed_is_told_from_runs_that_were() {
    let made = Made::new(&[]);
    made.change("\"absolute_delta\": 1.0", "\"absolute_delta\": 0.5");
    let said = made.verify(&[]);
    assert_eq!(said.code, 1);
    assert_eq!(
        said.stderr,
        "FAIL: report.json does not come out again\n\
         FAIL: suite and runs are those that the report was made of: the report itself was changed\n\
         FAIL: at /paired_summary/absolute_delta: 0.5 in the report, 1.0 now\n"
    );
    made.benchmark(&[]);
    // files that decide nothing; all of an arm, as one answer that differs from others that repeat is a sign of its own
    for run in 1..=3 {
        made.workspace.write(&format!("runs/first/with_skill/run-{run}/output.md"), "yes\n");
    }
    let said = made.verify(&[]);
    assert_eq!(
        said.stderr,
        "FAIL: report.json does not come out again\n\
         FAIL: files of the runs are others than the report was made of; no row and no figure differs for that\n"
    );
}

#[test]
fn a_digest_that_is_gone_is_a_difference() {
    let made = Made::new(&[]);
    let mut report: Value = serde_json::from_str(&made.report()).unwrap();
    let provenance = report["provenance"].as_object_mut().unwrap();
    let digest = provenance.shift_remove("runs_sha256").unwrap();
    made.workspace.write("report.json", report.to_string());
    let said = made.verify(&[]);
    assert_eq!(said.code, 1);
    assert_eq!(
        said.stderr,
        format!(
            "FAIL: report.json does not come out again\nFAIL: at /provenance/runs_sha256: nothing in the report, {digest} now\n"
        )
    );
}

#[test]
fn each_kind_of_file_is_named() {
    let made = Made::new(&[]);
    made.workspace.write("runs/second/without_skill/run-3/metadata.json", "{\"total_tokens\": 101}");
    let said = made.verify(&[]);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert!(
        lines[1].contains("case second, without_skill, repetition 3 (second/without_skill/run-3)"),
        "{}",
        said.stderr
    );
    assert_eq!(lines[2], "FAIL: at /results/11/metadata/total_tokens: 100 in the report, 101 now");
    assert_eq!(lines[3], "FAIL: that is read from what the runner recorded: metadata.json");

    made.benchmark(&[]);
    fs::remove_file(made.workspace.path().join("runs/first/with_skill/run-2/output.md")).unwrap();
    let said = made.verify(&[]);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(lines[2], "FAIL: at /results/1/missing_output: false in the report, true now");
    assert_eq!(lines[3], "FAIL: that is read from the answer, which is not there now");

    made.benchmark(&[]);
    made.workspace.write("runs/first/with_skill/run-4/output.md", "yes");
    fs::remove_dir_all(made.workspace.path().join("runs/second/with_skill/run-3")).unwrap();
    let said = made.verify(&[]);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(
        lines[1],
        "FAIL: a run that the report does not have: case first, with_skill, repetition 4 (first/with_skill/run-4)"
    );
    assert_eq!(lines[2], "FAIL: 2 runs differ; the report has 12 rows");
}

#[test]
fn another_suite_and_another_version_are_said_first() {
    let made = Made::new(&[]);
    made.change("\"tool_version\": \"", "\"tool_version\": \"0.0.");
    made.workspace.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: another\n---\n");
    made.workspace.suite(&json!({"cases": [
        {"id": "first", "split": "tune", "prompt": "Do it.", "assertions": [
            {"name": "says-yes", "type": "contains", "value": "yes"}]}
    ]}));
    let said = made.verify(&[]);
    assert_eq!(said.code, 1);
    let lines: Vec<&str> = said.stderr.lines().collect();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        lines[1],
        format!("FAIL: skill-lift 0.0.{version} made the report, this is {version}: figures may differ for that alone")
    );
    assert!(lines[2].starts_with("FAIL: another suite: sha256:"), "{}", said.stderr);
    assert!(lines[3].starts_with("FAIL: a run that only the report has: case second, with_skill"), "{}", said.stderr);
    assert_eq!(lines[4], "FAIL: 6 runs differ; the report has 12 rows");
}

#[test]
fn a_text_that_was_written_again_is_not_the_same_bytes() {
    let made = Made::new(&[]);
    made.change("\"skill_name\": ", "\"skill_name\":  ");
    let expected = |line: u32| {
        format!(
            "FAIL: report.json does not come out again\n\
             FAIL: every value agrees, but from line {line} on the text is written otherwise: the file was rewritten after it \
             was made\n"
        )
    };
    assert_eq!(made.verify(&[]).stderr, expected(3));
    made.benchmark(&[]);
    let report = made.report();
    // the line on which the first row begins: rows are compared one by one
    let line = report.lines().position(|line| line == "    {").unwrap() + 1;
    made.change("\"objective_passed\": 1,", "\"objective_passed\": 1.0,");
    assert_eq!(made.verify(&[]).stderr, expected(u32::try_from(line).unwrap()));
    made.benchmark(&[]);
    let text = made.report();
    made.workspace.write("report.json", text.trim_end());
    assert_eq!(made.verify(&[]).code, 1);
}

#[test]
fn workspaces_come_out_again_with_and_without_a_suite() {
    let workspace = Workspace::new();
    let suite = json!({"skill_name": "demo", "evals": [{"id": 1, "prompt": "Do it.", "expectations": ["It is done"]}]});
    workspace.write("evals/evals.json", suite.to_string());
    for (arm, passed) in [("with_skill", true), ("without_skill", false)] {
        let grading = json!({"expectations": [{"text": "It is done", "passed": passed, "evidence": "Seen."}],
                             "summary": {"passed": u8::from(passed), "failed": u8::from(!passed), "total": 1}});
        let run = format!("demo-workspace/iteration-1/eval-1-do/{arm}");
        workspace.write(&format!("{run}/grading.json"), grading.to_string());
        workspace.write(&format!("{run}/outputs/answer.md"), "Done.");
    }
    let iteration = "demo-workspace/iteration-1";
    let make = |arguments: &[&str]| {
        let said = workspace.run(&[&["benchmark"], arguments, &["--quiet", "--out", "report.json"]].concat());
        assert_eq!(said.code, 0, "{}", said.stderr);
    };
    let verify = |more: &[&str]| workspace.run(&[&["verify", "report.json", "--runs", iteration], more].concat());
    make(&[iteration]);
    assert_eq!(verify(&[]).code, 0, "{}", verify(&[]).stderr);
    assert_eq!(verify(&["--suite", "evals/evals.json"]).code, 2);
    make(&[iteration, "--regrade", "--evidence", "strict"]);
    assert_eq!(verify(&[]).code, 0, "{}", verify(&[]).stderr);
    make(&["evals/evals.json", "--runs", iteration]);
    assert_eq!(verify(&[]).code, 0, "{}", verify(&[]).stderr);
    let path = format!("{iteration}/eval-1-do/with_skill/grading.json");
    let text = fs::read_to_string(workspace.path().join(&path)).unwrap();
    workspace.write(&path, text.replace("\"passed\":true", "\"passed\":false"));
    let said = verify(&[]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("that is read from the stored verdicts: grading.json"), "{}", said.stderr);
}

#[test]
fn what_cannot_be_verified_is_refused_with_what_to_do() {
    let made = Made::new(&[]);
    let report: Value = serde_json::from_str(&made.report()).unwrap();
    let without = |keys: &[&str]| {
        let mut report = report.clone();
        keys.iter().for_each(|key| drop(report.as_object_mut().unwrap().remove(*key)));
        report.to_string()
    };
    let with_options = |options: Value| {
        let mut report = report.clone();
        report["provenance"]["options"] = options;
        report.to_string()
    };
    let grades = made.workspace.on_runs("grade", &["--quiet"]).stdout;
    for (text, expected) in [
        ("{", "invalid JSON"),
        ("[]", "is no report of `skill-lift benchmark`"),
        ("{\"results\": []}", "is no report of `skill-lift benchmark`"),
        (&grades, "is a report of `skill-lift grade`"),
        (&without(&["provenance", "tool", "inference"]), "has no `provenance`"),
        (&without(&["paired_summary"]), "is no report of `skill-lift benchmark`"),
        (&with_options(json!([])), "has a `provenance` that cannot be read: `options` is no object"),
        (&with_options(json!({"strict": false})), "an option has a value that no option can have"),
        (&with_options(json!({"strict": {}})), "an option has a value that no option can have"),
        (&with_options(json!({"strict": "yes"})), "was made with an option that this version does not take"),
        (&with_options(json!({"split": "nowhere"})), "was made with an option that this version does not take"),
        (
            &with_options(json!({"frobnicate": true})),
            "was made with --frobnicate, which this version cannot give again",
        ),
    ] {
        made.workspace.write("report.json", text);
        let said = made.verify(&[]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{text:.60}: {}", said.stderr);
        assert!(said.stderr.starts_with("FAIL: report.json: "), "{}", said.stderr);
        assert!(said.stderr.contains(expected), "{expected}: {}", said.stderr);
    }
    made.benchmark(&[]);
    let said = made.workspace.run(&["verify", "report.json", "--runs", "nowhere"]);
    assert_eq!((said.code, said.stderr.as_str()), (1, "FAIL: no such folder: nowhere\n"));
    fs::remove_file(made.workspace.path().join("evals/shared-benchmark.json")).unwrap();
    let said = made.verify(&[]);
    assert_eq!(said.code, 1);
    let expected = "FAIL: the suite of the report is not there: evals/shared-benchmark.json; name it with --suite\n";
    assert_eq!(said.stderr, expected);
    assert_eq!(made.workspace.run(&["verify", "report.json"]).code, 2);
    assert_eq!(made.workspace.run(&["verify", "nowhere.json", "--runs", "runs"]).code, 1);
}

#[test]
fn a_report_writes_no_files_and_starts_no_programs() {
    let made = Made::new(&[]);
    let mut report: Value = serde_json::from_str(&made.report()).unwrap();
    for (name, value) in [("out", json!("stolen.json")), ("frames", json!("frames")), ("color", json!("always"))] {
        report["provenance"]["options"] = json!({ name: value });
        made.workspace.write("report.json", report.to_string());
        let said = made.verify(&[]);
        assert_eq!(said.code, 1);
        assert!(said.stderr.contains(&format!("was made with --{name}, which")), "{}", said.stderr);
    }
    report["provenance"]["options"] = json!({"variant": ["with_skill", "--out=stolen.json"]});
    made.workspace.write("report.json", report.to_string());
    let said = made.verify(&[]);
    assert_ne!(said.code, 0);
    report["provenance"]["options"] = json!({"embed-cmd": "touch stolen.json", "allow-scripts": true});
    made.workspace.write("report.json", report.to_string());
    assert_eq!(made.verify(&[]).code, 2);
    for path in ["stolen.json", "frames"] {
        assert!(!made.workspace.path().join(path).exists(), "{path}");
    }
}

#[test]
fn rows_in_another_order_are_not_the_same_report() {
    let made = Made::new(&[]);
    let mut report: Value = serde_json::from_str(&made.report()).unwrap();
    report["results"].as_array_mut().unwrap().swap(0, 5);
    made.workspace.write("report.json", serde_json::to_string_pretty(&report).unwrap() + "\n");
    let said = made.verify(&[]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("every value agrees, but from line"), "{}", said.stderr);
    // the same row twice is a run that only the report has
    let twice = report["results"][1].clone();
    report["results"].as_array_mut().unwrap().push(twice);
    made.workspace.write("report.json", report.to_string());
    let said = made.verify(&[]);
    assert!(
        said.stderr.contains("a run that only the report has: case first, with_skill, repetition 2"),
        "{}",
        said.stderr
    );
}
