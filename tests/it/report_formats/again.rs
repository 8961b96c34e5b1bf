//! A saved report as an analysis: the inference and the summary of the run that wrote it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skill_lift::analyze::analyze_saved;
use skill_lift::report::{Provenance, ReportHead, RowSpool, Sources, Style, SummaryView, render, write_benchmark};
use skill_lift::runs::claims::{ReadOptions, SavedBenchmark, read_saved};

use crate::support::{Workspace, repository, run_in};

pub fn read(bytes: &[u8]) -> SavedBenchmark {
    read_saved(bytes, &ReadOptions { bytes: 64 << 20, ..ReadOptions::default() }).unwrap()
}

/// The inference and the summary of a saved report, computed from its rows.
pub fn again(bytes: &[u8]) -> (Value, String) {
    let saved = read(bytes);
    let analysis = analyze_saved(&saved);
    let head = ReportHead {
        manifest: String::new(),
        skill_name: String::new(),
        generated_at: None,
        skipped_trigger_cases: Vec::new(),
    };
    let provenance = Provenance {
        tool_version: "",
        dialect: "",
        suite_sha256: None,
        suite_split: None,
        runs_sha256: String::new(),
        options: BTreeMap::new(),
        seed: None,
        duplicates_dropped: 0,
        unmatched_judge_results: 0,
        incomplete_judge_results: 0,
        blocks_missing: &[],
    };
    let mut report = Vec::new();
    let sources = Sources { head: &head, analysis: &analysis, stored: None, judge_spend: None };
    write_benchmark(&mut report, sources, RowSpool::aside().unwrap(), &provenance).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let style = Style { width: None, color: false, ascii: false, all_cases: true };
    (report["inference"].clone(), render(&SummaryView::of_saved(&saved, &analysis), style))
}

/// Blocks of the inference that rest on rows alone, in their order.
const OF_ROWS: [&str; 15] = [
    "schema_version",
    "alpha",
    "confidence",
    "min_lift",
    "equivalence_margin",
    "units",
    "overall",
    "by_model",
    "by_case",
    "slices",
    "one_arm_criteria",
    "sanity",
    "efficiency",
    "review_queue",
    "cost_per_run",
];

/// Runs `benchmark`, and asserts that its report says the same when it is analysed once more.
fn assert_same(folder: &Path, arguments: &[&str]) -> Value {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("benchmark.json");
    let words = [&["benchmark"], arguments, &["--all-cases", "--out", path.to_str().unwrap()]].concat();
    let said = run_in(folder, &words, &[]);
    assert_eq!(said.code, 0, "{said:#?}");
    let bytes = fs::read(&path).unwrap();
    let report: Value = serde_json::from_slice(&bytes).unwrap();
    let (inference, summary) = again(&bytes);
    for key in OF_ROWS {
        assert_eq!(inference[key], report["inference"][key], "{key}");
    }
    if report["inference"]["missingness"]["planned_by"]["kind"] != "plan" {
        assert_eq!(inference, report["inference"]);
    }
    assert_eq!(summary, said.stdout);
    report
}

const ON_RUNS: [&str; 3] = ["evals/shared-benchmark.json", "--runs", "runs"];

fn assert_same_of(workspace: &Workspace, more: &[&str]) -> Value {
    assert_same(workspace.path(), &[&ON_RUNS, more].concat())
}

#[test]
fn the_demo_says_the_same() {
    let folder = repository("datasets/demo");
    let report = assert_same(&folder, &ON_RUNS);
    assert_eq!(report["inference"]["overall"]["verdict"]["code"], "helps");
    let options = ["--alpha", "0.01", "--min-lift", "0.25", "--value-per-lift", "0.5"];
    assert_same(&folder, &[&ON_RUNS[..], &options].concat());
    assert_same(&folder, &[&ON_RUNS[..], &["--evidence", "strict", "--split", "tune"]].concat());
}

/// Six cases in which everything happens that inference looks at.
fn everything() -> Workspace {
    let workspace = Workspace::new();
    let case = |id: &str, more: &Value| {
        let mut case = json!({"id": id, "split": "tune", "prompt": "p", "tags": ["t", id], "domain": "docs",
        "reference_floor": 0.5, "assertions": [
            {"type": "contains", "name": "says", "value": "yes"},
            {"type": "contains", "name": "polite", "value": "please", "severity": "soft"},
            {"type": "command_ran", "name": "tests", "pattern": "cargo test"},
            {"type": "skill_invoked", "name": "loads"},
            {"type": "contains", "name": "scoped", "value": "yes", "variants": ["with_skill"]},
            {"type": "excludes_any", "name": "safe", "values": ["boom"], "severity": "critical"},
            {"type": "judge", "name": "fine", "prompt": "Is it?", "severity": "gate"}
        ]});
        for (key, value) in more.as_object().unwrap() {
            case[key] = value.clone();
        }
        case
    };
    workspace.suite(&json!({"cases": [
        case("z", &json!({"family": "f", "split": "holdout"})),
        case("a", &json!({"family": "f"})),
        case("b", &json!({"eval_intent": "regression"})),
        case("c", &json!({"difficulty": "hard", "success_goals": ["style"]})),
        case("d", &json!({})),
        case("gone", &json!({})),
    ]}));
    let events = |commands: &[&str], skill: bool| {
        let mut events: Vec<Value> = commands
            .iter()
            .map(|command| json!({"type": "command", "status": "completed", "input_summary": command}))
            .collect();
        if skill {
            events.push(json!({"type": "skill_load", "name": "demo", "status": "completed",
                "input_summary": "skills/demo/SKILL.md"}));
        }
        json!({"events": events}).to_string()
    };
    let write = |run: &str, answer: &str, metadata: &Value, events: Option<String>| {
        workspace.write(&format!("runs/{run}/output.md"), answer);
        workspace.write(&format!("runs/{run}/metadata.json"), metadata.to_string());
        if let Some(events) = events {
            workspace.write(&format!("runs/{run}/events.json"), events);
        }
    };
    let spent = |tokens: u32| json!({"provider": "p", "cost_usd": f64::from(tokens) / 1000.0, "total_tokens": tokens});
    for (case, arm, answer) in [
        ("z", "with_skill", "yes please"),
        ("z", "without_skill", "no"),
        ("a", "with_skill", "yes"),
        ("a", "without_skill", "yes boom"),
        ("b", "with_skill", "no"),
        ("b", "without_skill", "yes"),
        ("c", "with_skill", "yes boom"),
        ("c", "without_skill", "yes"),
        ("d", "with_skill", "yes"),
    ] {
        for number in 1..=3 {
            let tested = events(&["cargo test"], arm == "with_skill" && number != 3);
            write(&format!("{case}/m/{arm}/run-{number}"), answer, &spent(100 * number), Some(tested));
        }
        // what was used stands in several files
        workspace
            .write(&format!("runs/{case}/m/{arm}/run-2/metrics.json"), r#"{"elapsed_ms": 900, "total_tokens": 5}"#);
    }
    // no evidence in one arm, a baseline that had the skill, other efforts, a failure, a broken file
    let run = |run: &str, answer: &str, metadata: Value| write(run, answer, &metadata, None);
    run("z/m/without_skill/run-1", "no", spent(7));
    std::fs::remove_file(workspace.path().join("runs/z/m/without_skill/run-1/events.json")).unwrap();
    write("a/m/without_skill/run-2", "yes", &spent(9), Some(events(&["cargo test"], true)));
    write("b/m/with_skill/run-1", "yes", &json!({"effort": "high"}), Some(events(&["cargo test"], true)));
    write("b/m/without_skill/run-1", "yes", &json!({"effort": "low"}), Some(events(&["cargo test"], false)));
    write("c/m/with_skill/run-3", "yes", &json!({"returncode": 1}), Some(events(&[], true)));
    workspace.write("runs/c/m/without_skill/run-3/metadata.json", "{");
    write("c/n/with_skill/run-1", "yes", &json!({"skill_invoked": false}), Some(events(&["cargo test"], true)));
    write("c/n/without_skill/run-1", "no", &json!({}), Some(events(&["cargo test"], false)));
    workspace
}

#[test]
fn everything_that_inference_looks_at_is_in_the_rows() {
    let workspace = everything();
    let report = assert_same_of(&workspace, &[]);
    let inference = &report["inference"];
    // the fixture is what it says that it is
    assert_eq!(inference["overall"]["unit"], "family");
    let count = |check: &str| {
        let checks = inference["sanity"]["checks"].as_array().unwrap();
        checks.iter().find(|sign| sign["check"] == check).unwrap()["count"].as_u64().unwrap()
    };
    for check in ["baseline_contaminated", "asymmetric_evidence", "infrastructure_failures", "skill_not_loaded"] {
        assert!(count(check) > 0, "{check}");
    }
    assert!(inference["one_arm_criteria"].as_array().unwrap().len() > 1);
    let rows = report["results"].as_array().unwrap();
    for key in [
        "case_label",
        "family",
        "tags",
        "effort",
        "contamination",
        "skill_loaded",
        "deferred_gates",
        "unobserved_checks",
        "measured",
    ] {
        assert_eq!(rows.iter().any(|row| row.get(key).is_some()), key != "case_label", "{key}");
    }
    for more in [
        &["--evidence", "strict"][..],
        &["--unobserved", "exclude"],
        &["--strict"],
        &["--split", "tune"],
        &["--variant", "without_skill", "--variant", "with_skill"],
        &["--alpha", "0.2", "--min-lift", "0.5"],
    ] {
        assert_same_of(&workspace, more);
    }
}

#[test]
fn slim_rows_measure_nothing_and_say_the_same_of_the_lift() {
    let workspace = everything();
    workspace.on_runs("benchmark", &["--results", "slim", "--out", "slim.json", "--quiet"]);
    let bytes = fs::read(workspace.path().join("slim.json")).unwrap();
    let report: Value = serde_json::from_slice(&bytes).unwrap();
    let (inference, summary) = again(&bytes);
    for key in OF_ROWS.into_iter().filter(|key| !["efficiency", "cost_per_run"].contains(key)) {
        assert_eq!(inference[key], report["inference"][key], "{key}");
    }
    assert_eq!(inference["efficiency"]["total_tokens"]["pairs_measured"], 0);
    assert!(!summary.contains("Cost"), "{summary}");
}

#[test]
fn stored_verdicts_of_workspaces_say_the_same() {
    for place in ["skill-forge/meeting-minutes/iteration-1", "skill-forge/csv-insights/iteration-2"] {
        assert_same(&repository("tests/conformance/workspaces"), &[place]);
    }
    for place in ["eval-runner/changelog-claude/evals", "eval-runner/relnotes-codex/evals"] {
        let found = find_iterations(&repository("tests/conformance/workspaces").join(place));
        assert!(!found.is_empty(), "{place}");
        for iteration in found {
            assert_same(&repository("tests"), &[iteration.to_str().unwrap()]);
        }
    }
}

/// Folders named `iteration-…` below a folder.
fn find_iterations(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir()) {
        if entry.file_name().to_string_lossy().starts_with("iteration-") {
            found.push(entry.path());
        } else {
            found.extend(find_iterations(&entry.path()));
        }
    }
    found
}

#[test]
fn the_old_skill_as_a_baseline_stays_one() {
    let workspace = Workspace::new();
    let grading =
        |passed: bool| json!({"expectations": [{"text": "works", "passed": passed, "evidence": "e"}]}).to_string();
    for (arm, passed) in [("with_skill", true), ("old_skill", false)] {
        workspace.write(&format!("w/eval-1/{arm}/grading.json"), grading(passed));
        workspace.write(&format!("w/eval-2/{arm}/grading.json"), grading(true));
    }
    let report = assert_same(workspace.path(), &["w"]);
    assert_eq!(report["paired_summary"]["old_skill_objective_pass_rate"], 0.5);
}

#[test]
fn recorded_runs_of_others_say_the_same() {
    let Some(corpus) = std::env::var_os("SKILL_LIFT_CORPUS").map(std::path::PathBuf::from) else {
        println!("the corpus was not given (SKILL_LIFT_CORPUS): recorded runs are not read again");
        return;
    };
    let folder = corpus.join("recorded/eval-quality");
    for runs in ["recorded", "replication"] {
        assert_same(&folder, &["repo/evals/shared-benchmark.json", "--runs", runs]);
    }
    let mut read = 0;
    for skill in fs::read_dir(corpus.join("results")).unwrap().map(Result::unwrap).filter(|skill| skill.path().is_dir())
    {
        for iteration in find_iterations(&skill.path()) {
            let said = run_in(&corpus, &["benchmark", iteration.to_str().unwrap(), "--quiet"], &[]);
            if said.code == 0 {
                assert_same(&corpus, &[iteration.to_str().unwrap()]);
                read += 1;
            }
        }
    }
    println!("read again: {read}");
    assert!(read > 10, "{read}");
}

/// A report of the reference package on the demo, without the checks that passed and the blocks that repeat its rows.
pub fn reference() -> Vec<u8> {
    fs::read(repository("tests/data/reference-demo.json")).unwrap()
}

#[test]
fn a_report_of_the_reference_package_has_our_verdict() {
    let folder = repository("datasets/demo");
    let ours = run_in(&folder, &[&["benchmark"], &ON_RUNS[..], &["--format", "json"]].concat(), &[]).json();
    let (inference, summary) = again(&reference());
    let overall = &inference["overall"];
    let mut expected = ours["inference"]["overall"].clone();
    // its rows name no dataset, and it knows no answers: what follows from them is not known
    assert_eq!(inference["independence"]["repeated_answers"]["status"], "unknown");
    assert_eq!(expected["verdict"]["qualifiers"][0]["code"], "families_not_declared");
    assert_eq!(expected["within_case_test"]["reason"], "runs_not_independent");
    expected["verdict"]["qualifiers"] = json!([]);
    expected["within_case_test"] = overall["within_case_test"].clone();
    assert_eq!(overall, &expected);
    // 13 cases, 10 better, 1 worse: the exact sign-flip p of the deltas
    assert_eq!(overall["case_test"]["p_two_sided"], 0.0029296875);
    assert_eq!(inference["by_model"], ours["inference"]["by_model"]);
    assert!(summary.contains("The skill helps."), "{summary}");
    // the figures that the reference states itself
    let report: Value = serde_json::from_slice(&reference()).unwrap();
    let (lift, stated) = (overall["estimate"].as_f64().unwrap(), &report["paired_summary"]["absolute_delta"]);
    assert!((lift - stated.as_f64().unwrap()).abs() < 1e-12, "{lift} {stated}");
    assert_eq!(read(&reference()).skill_name.as_deref(), Some("incident-summary"));
}

fn refusal(report: &Value) -> String {
    read_saved(report.to_string().as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
}

/// A report of one row, with another value at a key.
fn with_row(key: &str, value: Value) -> Value {
    let mut row = json!({"case_id": "a", "variant": "with_skill", "run_number": 1, "model": null, "missing_output": false,
        "execution_valid": true, "objective_passed": 1, "objective_total": 2, "objective_pass_rate": 0.5});
    row[key] = value;
    json!({"summary": {}, "paired_summary": {}, "case_flags": [], "results": [row]})
}

#[test]
fn rows_that_cannot_be_counted_are_refused_with_their_place() {
    for (key, value, wanted) in [
        ("objective_passed", json!(3), "/results/0/objective_passed: at most the total of 2 is expected, not 3"),
        (
            "objective_passed",
            json!(-1),
            "/results/0/objective_passed: a whole number from 0 to 4294967295 is expected, not -1",
        ),
        ("objective_passed", json!(0.5), "a whole number"),
        ("objective_passed", json!("1"), "a whole number"),
        ("objective_total", json!(null), "/results/0/objective_total: a count is expected, not null"),
        ("objective_total", json!(1_000_000), "/results/0/objective_total: at most 10000 is expected"),
        ("qualitative_passed", json!(1), "/results/0/qualitative_total: a count is expected, not missing"),
        ("case_id", json!({}), "/results/0/case_id: the id of a case is expected, not {}"),
        ("case_id", json!(null), "the id of a case"),
        ("variant", json!(7), "/results/0/variant: a text is expected, not 7"),
        ("variant", json!(""), "the name of an arm"),
        ("model", json!([]), "/results/0/model: a text is expected, not []"),
        ("missing_output", json!("no"), "/results/0/missing_output: true or false is expected, not no"),
        ("unscored_reasons", json!("timed_out"), "a list of texts"),
        ("critical_failures", json!([1]), "a list of texts"),
        ("graded_score", json!(1.5), "a number from 0 to 1"),
        ("assertions", json!({}), "/results/0/assertions: a list of checks is expected"),
        ("assertions", json!([1]), "/results/0/assertions/0: a check is expected, not 1"),
        (
            "assertions",
            json!([{"name": "x", "passed": "yes"}]),
            "/results/0/assertions/0/passed: true or false is expected",
        ),
        ("deferred_gates", json!(-1), "a whole number"),
    ] {
        let said = refusal(&with_row(key, value.clone()));
        assert!(said.contains(wanted), "{key} {value}: {said}");
    }
    let mut twice = with_row("run_number", json!(1));
    let row = twice["results"][0].clone();
    twice["results"].as_array_mut().unwrap().push(row);
    assert_eq!(
        refusal(&twice),
        "duplicate run: case a, configuration with_skill, repetition 1 at /results/0 and /results/1"
    );
    twice["results"][1] = json!("row");
    assert_eq!(refusal(&twice), "/results/1: an object is expected, not string");
    assert!(refusal(&json!({"results": [], "paired_summary": {}})).contains("has no `summary`, `case_flags`"));
    assert!(refusal(&json!([])).contains("not an object"));
    assert!(
        refusal(&json!({"runs": [{"eval_id": 1, "configuration": "with_skill", "result": {"pass_rate": 1.0}}]}))
            .contains("no report of `benchmark`")
    );
}

#[test]
fn odd_rows_are_read_or_named_and_nothing_breaks() {
    let read_odd = |report: &Value| {
        let saved = read(report.to_string().as_bytes());
        let (_, text) = again(report.to_string().as_bytes());
        assert!(!text.contains('\u{1b}'), "{text:?}");
        saved
    };
    // the counts count, and the contradiction is named
    let saved = read_odd(&with_row("objective_pass_rate", json!(0.75)));
    let notes: Vec<&str> = saved.notes.iter().map(|note| note.code.code()).collect();
    assert_eq!(notes, ["rate_contradicts_counts"]);
    assert_eq!((saved.rows[0].objective.passed, saved.rows[0].objective.total), (1, 2));
    for (key, value) in [
        ("run_number", json!("x")),
        ("run_number", json!(0)),
        ("case_id", json!(7)),
        ("case_id", json!("\u{1b}[2J\u{0}")),
        ("unscored_reasons", json!(["\u{1b}[2J", "timed_out"])),
        ("metadata", json!([1])),
        ("metadata", json!({"usage": {"input_tokens": -1}, "cost_usd": "x", "effort": {"requested": 1e300}})),
        ("measured", json!({"cost": {"value": {"amount": "1e999", "currency": "USD"}}})),
        ("stored", json!(7)),
        ("graded_score", json!(1.0)),
        ("variant", json!("\u{1b}[2J")),
        ("vetoed", json!(true)),
        ("split", json!("\u{1b}")),
        ("run_base", json!("/home/x/a/with_skill")),
    ] {
        read_odd(&with_row(key, value));
    }
    assert_eq!(
        read(with_row("run_base", json!("/home/x/a/with_skill")).to_string().as_bytes()).rows[0].run_dir,
        "a/with_skill"
    );
    let mut options = with_row("run_number", json!(1));
    for bad in [json!("2"), json!("0"), json!("1e-500"), json!(null), json!("x")] {
        options["provenance"] = json!({"tool_version": "1", "options": {"alpha": bad}});
        assert!(refusal(&options).contains("out of range"), "{bad}");
    }
    for bad in [json!("-1"), json!(0), json!("1e10"), json!([])] {
        options["provenance"] = json!({"tool_version": "1", "options": {"value-per-lift": bad}});
        assert!(refusal(&options).contains("no amount above 0"), "{bad}");
    }
}

#[test]
fn a_report_of_too_many_rows_is_refused_and_a_large_one_is_read() {
    let report = |rows: usize| {
        let row = |at: usize| {
            let arm = if at.is_multiple_of(2) { "with_skill" } else { "without_skill" };
            let (case, passed) = (at / 2 % 1000, at % 3 % 2);
            let number = at / 2000 + 1;
            format!(
                r#"{{"case_id":"c{case}","variant":"{arm}","run_number":{number},"execution_valid":true,"objective_passed":{passed},"objective_total":1}}"#
            )
        };
        let rows: Vec<String> = (0..rows).map(row).collect();
        format!(r#"{{"summary":{{}},"paired_summary":{{}},"case_flags":[],"results":[{}]}}"#, rows.join(","))
    };
    let options = ReadOptions { bytes: 1 << 30, ..ReadOptions::default() };
    let problem = read_saved(report(1_000_000).as_bytes(), &options).unwrap_err();
    assert_eq!(problem.to_string(), "has more than 200000 rows at /results");
    let saved = read_saved(report(40_000).as_bytes(), &options).unwrap();
    let analysis = analyze_saved(&saved);
    assert_eq!(analysis.inference.counts.pairs, 20_000);
}
