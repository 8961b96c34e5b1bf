//! `trend`: a history of reports, what it shows, and how it grows.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::{assert_snapshot, with_settings};
use serde_json::{Value, json};

use crate::support::{Said, Workspace};

/// A row of a report as version 0.6 writes it; checks are name, verdict and severity.
fn row(case: &str, variant: &str, rate: f64, checks: &[(&str, bool, &str)]) -> Value {
    let checks: Vec<Value> = checks
        .iter()
        .map(|(name, passed, severity)| match *severity {
            "" => json!({"name": name, "passed": passed}),
            severity => json!({"name": name, "passed": passed, "severity": severity}),
        })
        .collect();
    json!({"case_id": case, "variant": variant, "run_number": 1, "model": null, "eval_intent": "capability",
           "missing_output": false, "execution_valid": true, "objective_pass_rate": rate, "assertions": checks,
           "qualitative_assertions": [], "metadata": {}})
}

fn with(mut row: Value, fields: &Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn reference_report(rows: &[Value]) -> Value {
    json!({"manifest": "m", "skill_name": "demo", "generated_at": 1_760_000_000, "summary": {},
           "paired_summary": {"absolute_delta": 0.5}, "case_flags": [], "results": rows})
}

/// A report of `benchmark` over cases with one check each; the names say which pass with the skill, none passes without.
fn own_report(cases: &[&str], passing: &[&str], more: &[&str]) -> String {
    let workspace = Workspace::with_cases(cases);
    for case in cases {
        let answer = if passing.contains(case) { "yes" } else { "no" };
        workspace.write(&format!("runs/{case}/with_skill/output.md"), answer);
        workspace.write(&format!("runs/{case}/without_skill/output.md"), "no");
    }
    let said = workspace.on_runs("benchmark", &[&["--quiet", "--format", "json"], more].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.stdout
}

fn trend(workspace: &Workspace, more: &[&str]) -> Said {
    workspace.run(&[&["trend", "--history", "history"], more].concat())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const CASES: [&str; 8] = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"];

/// The expected values are what `skill-benchmark trend` of version 0.6.0 prints for these two reports.
#[test]
fn the_keys_of_version_0_6_come_first_with_its_values() {
    let workspace = Workspace::new();
    let arm = |objective: f64, combined: Value, tokens: Value| json!({"mean_objective_pass_rate": objective, "mean_combined_pass_rate": combined, "median_total_tokens": tokens});
    let saturated = |guard: &str| {
        let fields = json!({"eval_intent": if guard == "c" { "regression" } else { "capability" }});
        ["with_skill", "without_skill"].map(|arm| with(row(guard, arm, 1.0, &[("x", true, "")]), &fields))
    };
    let mut first = reference_report(
        &[
            vec![
                row("a", "with_skill", 0.5, &[("x", true, "gate"), ("y", false, "critical")]),
                row("a", "without_skill", 0.0, &[("x", false, "gate"), ("y", false, "critical")]),
            ],
            saturated("b").to_vec(),
            saturated("c").to_vec(),
            vec![
                row("d", "with_skill", 1.0 / 3.0, &[("x", false, "soft"), ("z", false, "")]),
                row("d", "without_skill", 1.0 / 3.0, &[("x", false, "soft")]),
            ],
        ]
        .concat(),
    );
    first["summary"] = json!({"with_skill": arm(0.7083333333333333, json!(0.7), json!(101)),
                              "without_skill": arm(0.5833333333333334, json!(0.5833333333333334), json!(110.5))});
    first["paired_summary"] = json!({"with_skill_objective_pass_rate": 0.7083333333333333,
        "without_skill_objective_pass_rate": 0.5833333333333334, "absolute_delta": 0.125});
    first["case_flags"] = json!([{"case_id": "a", "flags": ["with-skill failure"]},
        {"case_id": "b", "flags": ["saturated/non-discriminating", "no objective lift"]}]);
    let mut second = first.clone();
    second["generated_at"] = json!(1_760_000_100);
    second["results"][0] = row("a", "with_skill", 1.0, &[("x", true, "gate"), ("y", true, "critical")]);
    second["results"][6] = row("d", "with_skill", 0.1, &[("x", false, "soft"), ("z", false, "")]);
    let again = with(row("d", "with_skill", 0.2, &[("x", true, "soft"), ("z", true, "")]), &json!({"run_number": 2}));
    second["results"].as_array_mut().unwrap().push(again);
    second["summary"] = json!({"with_skill": arm(0.66, json!(0.7), Value::Null), "old_skill": arm(0.1, json!(0.1), Value::Null),
                               "without_skill": arm(0.5833333333333334, Value::Null, json!(110))});
    second["paired_summary"]["absolute_delta"] = json!(0.2041666666666666);
    second["case_flags"] = json!([{"case_id": "b", "flags": ["saturated/non-discriminating"]},
        {"case_id": "d", "flags": ["no objective lift"]}]);
    workspace.write("history/run-2.json", first.to_string());
    workspace.write("history/run-010.json", second.to_string());
    // neither is of the history
    workspace.write("history/notes.json", "no JSON");
    workspace.write("history/run-x.json", "no JSON");

    let said = trend(&workspace, &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let report = said.json();
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(keys[..5], ["runs", "series", "diffs", "recurring_failures", "prune_candidates"]);
    assert_eq!(report["runs"], 2);
    let of_reference = |entry: &Value, ours: &[&str]| {
        let mut entry = entry.clone();
        for key in ours {
            assert!(entry.as_object_mut().unwrap().remove(*key).is_some(), "{key}");
        }
        entry
    };
    let ours = ["verdict", "suite_sha256", "rows", "scored_rows"];
    assert_eq!(
        of_reference(&report["series"][1], &ours),
        json!({"label": "run-010.json", "generated_at": 1_760_000_100, "with_skill": 0.7083333333333333,
               "without_skill": 0.5833333333333334, "lift": 0.2041666666666666, "saturated_cases": 1, "flagged_cases": 2,
               "median_total_tokens": {"with_skill": null, "old_skill": null, "without_skill": 110}})
    );
    assert_eq!(report["series"][0]["median_total_tokens"], json!({"with_skill": 101, "without_skill": 110.5}));
    assert_eq!(
        (&report["diffs"][0]["from"], &report["diffs"][0]["to"]),
        (&json!("run-2.json"), &json!("run-010.json"))
    );
    assert_eq!(
        report["diffs"][0]["diff"],
        json!({"variant_deltas": {
                   "with_skill": {"mean_objective_pass_rate": {"before": 0.7083333333333333, "after": 0.66, "delta": -0.0483},
                                  "mean_combined_pass_rate": {"before": 0.7, "after": 0.7, "delta": 0.0}},
                   "without_skill": {"mean_objective_pass_rate":
                                  {"before": 0.5833333333333334, "after": 0.5833333333333334, "delta": 0.0}}},
               "case_deltas": [
                   {"case_id": "a", "variant": "with_skill", "before": 0.5, "after": 1.0, "delta": 0.5},
                   {"case_id": "d", "variant": "with_skill", "before": 0.3333333333333333, "after": 0.15000000000000002,
                    "delta": -0.1833}],
               "new_flags": ["d::no objective lift"],
               "resolved_flags": ["a::with-skill failure", "b::no objective lift"]})
    );
    assert_eq!(
        report["prune_candidates"],
        json!([{"case_id": "b", "runs_observed": 2, "reason": "never failed and never showed lift across the history"}])
    );
}

#[test]
fn failures_are_ranked_by_arm_and_only_where_a_run_is_scored() {
    let workspace = Workspace::new();
    let failing = [("hard", false, "critical"), ("easy", false, "soft")];
    let missing = json!({"missing_output": true});
    let broken = json!({"execution_valid": false});
    let report = |rows: &[Value]| reference_report(rows).to_string();
    workspace.write(
        "history/run-001.json",
        report(&[
            row("a", "with_skill", 0.0, &failing),
            row("a", "without_skill", 0.0, &failing),
            with(row("b", "with_skill", 0.0, &failing), &missing),
            with(row("c", "with_skill", 0.0, &failing), &broken),
            row("a", "ablation:no-steps", 0.0, &failing),
        ]),
    );
    workspace.write(
        "history/run-002.json",
        report(&[
            row("a", "with_skill", 0.5, &[("hard", true, "critical"), ("easy", false, "soft")]),
            row("a", "without_skill", 0.0, &failing),
            row("b", "with_skill", 0.0, &[("late", false, "")]),
        ]),
    );
    workspace.write("history/run-003.json", report(&[row("a", "with_skill", 1.0, &[])]));
    let report = trend(&workspace, &[]).json();
    let failure = |case: &str, check: &str, severity: &str, prevalence: f64, rank: f64, failed: u32, scored: u32| {
        json!({"case_id": case, "assertion": check, "severity": severity, "prevalence": prevalence, "rank": rank,
               "failed_in": failed, "scored_in": scored})
    };
    // rank = share of the three reports × 3 for critical, 2 for gate, 1 for soft; rounded to four places
    assert_eq!(
        report["recurring_failures"],
        json!([
            failure("a", "hard", "critical", 0.3333, 1.0, 1, 3),
            failure("a", "easy", "soft", 0.6667, 0.6667, 2, 3),
            failure("b", "late", "gate", 0.3333, 0.6667, 1, 1),
        ])
    );
    assert_eq!(
        report["baseline_failures"],
        json!([
            failure("a", "hard", "critical", 0.6667, 2.0, 2, 2),
            failure("a", "easy", "soft", 0.6667, 0.6667, 2, 2),
        ])
    );
    assert_eq!((&report["recurring_failures_total"], &report["baseline_failures_total"]), (&json!(3), &json!(2)));
}

#[test]
fn a_run_that_is_no_score_says_nothing_about_pruning() {
    let workspace = Workspace::new();
    let pass = [("x", true, "")];
    let missing = json!({"missing_output": true});
    let report = reference_report(&[
        row("kept", "with_skill", 1.0, &pass),
        // a check that something is absent passes on no answer at all
        with(row("kept", "without_skill", 1.0, &pass), &missing),
        row("both", "with_skill", 1.0, &pass),
        row("both", "without_skill", 1.0, &pass),
        with(row("both", "without_skill", 0.0, &pass), &json!({"missing_output": true, "run_number": 2})),
    ]);
    for number in 1..=2 {
        let mut report = report.clone();
        report["generated_at"] = json!(number);
        workspace.write(&format!("history/run-{number}.json"), report.to_string());
    }
    let report = trend(&workspace, &[]).json();
    let candidates: Vec<&Value> =
        report["prune_candidates"].as_array().unwrap().iter().map(|entry| &entry["case_id"]).collect();
    assert_eq!(candidates, ["both"]);
}

#[test]
fn a_list_of_failures_ends_at_fifty_and_says_how_many_there_are() {
    let workspace = Workspace::new();
    let checks: Vec<String> = (0..60).map(|at| format!("check-{at:02}")).collect();
    let checks: Vec<_> = checks.iter().map(|name| (name.as_str(), false, "gate")).collect();
    workspace.write("history/run-1.json", reference_report(&[row("a", "with_skill", 0.0, &checks)]).to_string());
    let report = trend(&workspace, &[]).json();
    assert_eq!(report["recurring_failures"].as_array().unwrap().len(), 50);
    assert_eq!(report["recurring_failures_total"], 60);
}

/// All eight cases rise, then one falls: of 2^8 sign patterns 2 are as extreme, of one moved case both are.
#[test]
fn neighbours_are_tested_over_their_common_cases() {
    let workspace = Workspace::new();
    workspace.write("history/run-001.json", own_report(&CASES, &[], &[]));
    workspace.write("history/run-002.json", own_report(&CASES, &CASES, &[]));
    workspace.write("history/run-003.json", own_report(&CASES, &CASES[1..], &[]));
    let said = trend(&workspace, &[]);
    let report = said.json();
    let (up, down) = (&report["diffs"][0], &report["diffs"][1]);
    for question in ["with_skill", "lift"] {
        let change = &up[question];
        assert_eq!((&change["n_cases"], &change["rose"], &change["fell"]), (&json!(8), &json!(8), &json!(0)));
        assert_eq!((&change["before"], &change["after"]), (&json!(0.0), &json!(1.0)), "{question}");
        assert_eq!(change["test"]["p_two_sided"], json!(2.0 / 256.0));
        // Holm over two steps: the smaller p doubles
        assert_eq!(change["test"]["p_holm"], json!(4.0 / 256.0));
        assert_eq!(change["verdict"]["code"], "helps");
        assert_eq!(down[question]["test"]["p_two_sided"], json!(1.0));
        assert_eq!(down[question]["change"], json!(-0.125));
        assert_eq!(down[question]["verdict"]["code"], "too_few_cases");
    }
    assert_eq!(up["like_for_like"]["status"], "yes");
    assert_eq!(up["like_for_like"]["basis"], "same_suite");
    assert_eq!(report["series"][1]["verdict"], "helps");
    assert_eq!(up["cases"], json!({"common": 8, "appeared": [], "vanished": []}));
}

#[test]
fn reports_of_other_suites_and_other_options_are_not_tested() {
    let workspace = Workspace::new();
    workspace.write("history/run-001.json", own_report(&CASES, &[], &[]));
    workspace.write("history/run-002.json", own_report(&CASES[..7], &CASES, &[]));
    workspace.write("history/run-003.json", own_report(&CASES[..7], &CASES, &["--unobserved", "exclude"]));
    let report = trend(&workspace, &[]).json();
    let (suite, option) = (&report["diffs"][0], &report["diffs"][1]);
    for step in [suite, option] {
        assert_eq!(step["like_for_like"]["status"], "no");
        for question in ["with_skill", "lift"] {
            assert_eq!(step[question]["n_cases"], 7);
            assert_eq!(step[question]["test"], Value::Null);
            assert_eq!(step[question]["test_reason"], "not_like_for_like");
        }
    }
    assert_eq!(suite["like_for_like"]["reasons"][0]["code"], "suite_sha256");
    assert_eq!(suite["cases"], json!({"common": 7, "appeared": [], "vanished": ["c8"]}));
    assert_eq!(
        option["like_for_like"]["reasons"][0],
        json!({"code": "option", "option": "unobserved", "before": null, "after": "exclude"})
    );
}

#[test]
fn cases_with_other_checks_are_named_and_left_out() {
    let workspace = Workspace::new();
    let report = |second: &str| {
        reference_report(&[
            row("same", "with_skill", 0.5, &[("x", true, "")]),
            row("other", "with_skill", 0.5, &[(second, true, "")]),
        ])
    };
    workspace.write("history/run-1.json", report("y").to_string());
    workspace.write("history/run-2.json", report("z").to_string());
    let report = trend(&workspace, &[]).json();
    let step = &report["diffs"][0];
    assert_eq!(step["like_for_like"]["changed_cases"], json!([{"case_id": "other", "reason": "other_checks"}]));
    assert_eq!(step["with_skill"]["n_cases"], 1);
}

#[test]
fn reports_without_a_common_case_stand_side_by_side() {
    let workspace = Workspace::new();
    workspace.write("history/run-1.json", reference_report(&[row("a", "with_skill", 0.5, &[])]).to_string());
    workspace.write("history/run-2.json", reference_report(&[row("b", "with_skill", 0.5, &[])]).to_string());
    let report = trend(&workspace, &[]).json();
    let step = &report["diffs"][0];
    assert_eq!((&step["like_for_like"], &step["cases"]), (&Value::Null, &Value::Null));
    assert_eq!(step["with_skill"]["test_reason"], "nothing_compared");
    assert_eq!(step["with_skill"]["before"], Value::Null);
}

#[test]
fn a_report_is_added_as_it_is_under_the_next_number() {
    let workspace = Workspace::new();
    let report = own_report(&CASES, &CASES, &[]);
    workspace.write("benchmark.json", &report);
    let said = trend(&workspace, &["--add", "benchmark.json"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, "appended history/run-001.json\n"));
    assert_eq!(said.json()["series"][0]["label"], "run-001.json");
    assert_eq!(fs::read_to_string(workspace.path().join("history/run-001.json")).unwrap(), report);

    // the number after the largest, whatever is missing below it, also of what is no file
    workspace.write("history/run-0999.json", reference_report(&[row("a", "with_skill", 0.5, &[])]).to_string());
    workspace.write("benchmark.json", own_report(&CASES, &[], &[]));
    let said = trend(&workspace, &["--add", "benchmark.json"]);
    assert_eq!(said.stderr, "appended history/run-1000.json\n");
    assert_eq!(said.json()["runs"], 3);
    fs::create_dir(workspace.path().join("history/run-1001.json")).unwrap();
    workspace.write("benchmark.json", own_report(&CASES, &CASES[..3], &[]));
    let said = trend(&workspace, &["--add", "benchmark.json", "--quiet"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert_eq!(
        names(&workspace.path().join("history")),
        ["run-001.json", "run-0999.json", "run-1000.json", "run-1001.json", "run-1002.json"]
    );
}

#[test]
fn the_same_report_is_not_added_twice() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", own_report(&CASES, &CASES, &[]));
    assert_eq!(trend(&workspace, &["--add", "benchmark.json"]).code, 0);
    let said = trend(&workspace, &["--add", "benchmark.json"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    let expected = "FAIL: benchmark.json is in the history already: history/run-001.json has the same bytes\n";
    assert_eq!(said.stderr, expected);
    // nor from the history itself
    assert_eq!(trend(&workspace, &["--add", "history/run-001.json"]).code, 1);
    assert_eq!(names(&workspace.path().join("history")), ["run-001.json"]);
}

#[test]
fn what_is_no_report_of_benchmark_is_not_added() {
    let workspace = Workspace::with_cases(&["c1"]);
    let grades = workspace.on_runs("grade", &["--quiet"]).stdout;
    let runs =
        json!({"runs": [{"eval_id": 1, "configuration": "with_skill", "run_number": 1, "result": {"pass_rate": 1.0}}]});
    for (text, expected) in [
        ("", "invalid JSON"),
        ("[]", "the top level is array"),
        ("{\"results\": NaN}", "not finite"),
        ("{\"a\": 1, \"a\": 2}", "duplicate key"),
        ("{}", "is no result list"),
        (&grades, "has no `summary`, `paired_summary`, `case_flags`"),
        (&runs.to_string(), "holds results in the form run-records; it is no report of `benchmark`"),
    ] {
        workspace.write("report.json", text);
        let said = trend(&workspace, &["--add", "report.json", "--out", "trend.json"]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{text}");
        assert!(said.stderr.starts_with("FAIL: report.json: "), "{}", said.stderr);
        assert!(said.stderr.contains(expected), "{text}: {}", said.stderr);
    }
    let said = trend(&workspace, &["--add", "nowhere.json"]);
    assert!(said.stderr.starts_with("FAIL: nowhere.json: cannot be read"), "{}", said.stderr);
    assert_eq!(trend(&workspace, &["--add", "runs"]).code, 1);
    assert!(!workspace.path().join("history").exists());
    assert!(!workspace.path().join("trend.json").exists());
}

#[test]
fn a_broken_file_of_the_history_is_named_and_nothing_is_added() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", own_report(&CASES, &CASES, &[]));
    workspace.write("history/run-001.json", reference_report(&[row("a", "with_skill", 0.5, &[])]).to_string());
    workspace.write("history/run-002.json", "[1, 2]");
    let said = trend(&workspace, &["--add", "benchmark.json"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.starts_with("FAIL: history/run-002.json: "), "{}", said.stderr);
    assert_eq!(names(&workspace.path().join("history")), ["run-001.json", "run-002.json"]);
    let said = trend(&workspace, &["--max-report-mib", "0"]);
    assert!(said.stderr.contains("is larger than 0 bytes"), "{}", said.stderr);
}

/// As version 0.6 does it; it says nothing of the files, though.
#[test]
fn an_object_that_is_no_report_is_named_and_has_no_figures() {
    let workspace = Workspace::new();
    workspace.write("history/run-1.json", "{}");
    workspace.write("history/run-2.json", reference_report(&[row("a", "with_skill", 0.5, &[])]).to_string());
    let mut part = reference_report(&[row("a", "with_skill", 1.0, &[])]);
    part.as_object_mut().unwrap().remove("case_flags");
    workspace.write("history/run-3.json", part.to_string());
    let said = trend(&workspace, &[]);
    assert_eq!(said.code, 0);
    let lines = said.lines("WARN not_a_report: ");
    assert_eq!(lines.len(), 2, "{}", said.stderr);
    assert!(lines[0].contains("history/run-1.json: is no result list"), "{}", lines[0]);
    assert!(lines[1].contains("history/run-3.json: has no `case_flags`"), "{}", lines[1]);
    let report = said.json();
    assert_eq!(report["runs"], 3);
    assert_eq!((&report["series"][0]["lift"], &report["series"][0]["rows"]), (&Value::Null, &json!(0)));
    assert_eq!(report["diffs"][0]["with_skill"]["test_reason"], "nothing_compared");
    assert_eq!(report["diffs"][1]["with_skill"]["change"], 0.5);
    assert_eq!(trend(&workspace, &["--quiet"]).stderr, "");
}

#[test]
fn an_empty_history_is_no_error_and_a_file_is_none() {
    let workspace = Workspace::new();
    let said = trend(&workspace, &[]);
    assert_eq!(said.code, 0);
    assert_eq!(said.stderr, "WARN history_empty: history holds no run-<number>.json\n");
    let report = said.json();
    assert_eq!((&report["runs"], &report["series"], &report["diffs"]), (&json!(0), &json!([]), &json!([])));
    assert!(!workspace.path().join("history").exists());
    workspace.write("history", "a file");
    let said = trend(&workspace, &[]);
    assert_eq!(said.code, 1);
    assert_eq!(said.stderr, "FAIL: history is no folder; --history names the folder that keeps the reports\n");
    assert_eq!(workspace.run(&["trend"]).code, 2);
}

/// Runs the program once for each report, all at the same time; the exit codes.
fn add_at_once(workspace: &Workspace, reports: &[String]) -> Vec<i32> {
    let start = |report: &String| {
        Command::new(env!("CARGO_BIN_EXE_skill-lift"))
            .args(["trend", "--history", "history", "--add", report])
            .current_dir(workspace.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = reports.iter().map(start).collect();
    let codes = children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap());
    codes.collect()
}

#[test]
fn reports_that_are_added_at_once_get_numbers_of_their_own() {
    let workspace = Workspace::new();
    let report = own_report(&["c1"], &["c1"], &[]);
    let names_of_reports: Vec<String> = (0..12).map(|at| format!("report-{at}.json")).collect();
    for (at, name) in names_of_reports.iter().enumerate() {
        let stamp = format!("\"generated_at\": {at}");
        workspace.write(name, report.replace("\"generated_at\": null", &stamp));
    }
    assert_eq!(add_at_once(&workspace, &names_of_reports), [0; 12]);
    let history = workspace.path().join("history");
    let expected: Vec<String> = (1..=12).map(|number| format!("run-{number:03}.json")).collect();
    assert_eq!(names(&history), expected);
    // every one of them is there once and whole
    let read = |folder: &Path, name: &String| fs::read_to_string(folder.join(name)).unwrap();
    let mut kept: Vec<String> = expected.iter().map(|name| read(&history, name)).collect();
    let mut added: Vec<String> = names_of_reports.iter().map(|name| read(workspace.path(), name)).collect();
    kept.sort();
    added.sort();
    assert_eq!(kept, added);
}

#[test]
fn one_report_that_is_added_several_times_at_once_is_kept_once() {
    let workspace = Workspace::new();
    workspace.write("report.json", own_report(&["c1"], &["c1"], &[]));
    let mut codes = add_at_once(&workspace, &vec!["report.json".to_owned(); 8]);
    codes.sort_unstable();
    assert_eq!(codes, [0, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(names(&workspace.path().join("history")), ["run-001.json"]);
}

/// A history in which the skill gets better, the suite changes, and checks fail again and again.
fn history() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("history/run-001.json", own_report(&CASES, &[], &[]));
    workspace.write("history/run-002.json", own_report(&CASES, &CASES[1..], &[]));
    workspace.write("history/run-003.json", own_report(&CASES, &CASES[1..], &[]).replace("null", "null "));
    workspace.write("history/run-004.json", own_report(&CASES[..7], &CASES[2..], &[]));
    workspace
}

#[test]
fn people_get_a_table_and_programs_json() {
    let workspace = history();
    let table = trend(&workspace, &["--format", "table"]);
    with_settings!({filters => vec![("sha256:[0-9a-f]{16}", "sha256:[digest]")]}, {
        assert_snapshot!("trend_table", table.stdout);
        assert_snapshot!("trend_markdown", trend(&workspace, &["--format", "md"]).stdout);
    });
    let beside = trend(&workspace, &["--out", "deep/trend.json"]);
    assert_eq!((beside.code, &beside.stdout), (0, &table.stdout));
    let written = fs::read_to_string(workspace.path().join("deep/trend.json")).unwrap();
    assert_eq!(written, trend(&workspace, &[]).stdout);
    let quiet = trend(&workspace, &["--out", "deep/trend.md", "--format", "markdown", "--quiet"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let markdown = fs::read_to_string(workspace.path().join("deep/trend.md")).unwrap();
    assert_eq!(markdown, trend(&workspace, &["--format", "markdown"]).stdout);
    let ascii = trend(&workspace, &["--format", "table", "--ascii"]).stdout;
    assert!(ascii.is_ascii(), "{ascii}");
}

/// Six of six cases rise: p = 2/2^6 = 0.03125. Beside a second test that is 0.0625 after Holm.
#[test]
fn what_is_established_on_its_own_only_is_called_so() {
    let workspace = Workspace::new();
    let cases = &CASES[..6];
    workspace.write("history/run-1.json", own_report(cases, &[], &[]));
    workspace.write("history/run-2.json", own_report(cases, cases, &[]));
    let alone = "On its own: of 2 steps that are tested, one may look like that by chance (Holm: p above 0.05).";
    let table = || trend(&workspace, &["--format", "table", "--color", "never"]).stdout;
    assert!(table().contains("0.031  better\n"), "{}", table());
    workspace.write("history/run-3.json", own_report(cases, cases, &[]));
    let text = table().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("0.031 better, on its own") && text.contains(alone), "{text}");
    let report = trend(&workspace, &[]).json();
    let test = &report["diffs"][0]["with_skill"]["test"];
    assert_eq!((&test["p_two_sided"], &test["p_holm"]), (&json!(0.03125), &json!(0.0625)));
    assert!(trend(&workspace, &["--format", "md"]).stdout.contains(alone));
}

#[test]
fn texts_of_reports_stay_texts() {
    let workspace = Workspace::new();
    let mut report = reference_report(&[row("a|b\u{1b}[31m", "with_skill", 0.0, &[("<script>\n`x`", false, "gate")])]);
    report["skill_name"] = json!("evil\u{1b}]0;title\u{7}|# name");
    report["summary"] = json!({"with_skill": {"median_total_tokens": "many", "mean_objective_pass_rate": "x"}});
    report["paired_summary"] = json!({"absolute_delta": "x", "with_skill_objective_pass_rate": 7});
    report["generated_at"] = json!("now");
    for number in 1..=2 {
        report["manifest"] = json!(number);
        workspace.write(&format!("history/run-{number}.json"), report.to_string());
    }
    for format in ["table", "markdown"] {
        let said = trend(&workspace, &["--format", format]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert!(!said.stdout.contains(['\u{1b}', '\u{7}']), "{}", said.stdout);
    }
    let markdown = trend(&workspace, &["--format", "markdown"]).stdout;
    assert!(!markdown.contains("<script>") && markdown.contains("a\\|b"), "{markdown}");
    let series = &trend(&workspace, &[]).json()["series"][0];
    assert_eq!((&series["lift"], &series["generated_at"]), (&Value::Null, &Value::Null));
    assert_eq!(series["median_total_tokens"], json!({"with_skill": null}));
}

/// Every case gains 1. A bet of the share u on the skill wins (1 + u) a case, one against it keeps (1 − u). Over the arcsine
/// law the mean of u^k is C(2k, k)/4^k: with four cases the mean capitals are 6.7734375 and 0.2734375, with eight
/// 74.110443115234375 and 0.196380615234375; e is the mean of both.
#[test]
fn only_new_cases_are_a_new_look() {
    let workspace = Workspace::new();
    let (first, second) = CASES.split_at(4);
    workspace.write("history/run-1.json", own_report(first, first, &[]));
    workspace.write("history/run-2.json", own_report(second, second, &[]));
    // the first cases once more, and now none of them gains
    workspace.write("history/run-3.json", own_report(first, &[], &[]));
    let report = trend(&workspace, &[]).json();
    let repeated = &report["repeated_looks"];
    assert_eq!(
        (&repeated["method"], &repeated["unit"], &repeated["n"]),
        (&json!("betting"), &json!("case"), &json!(8))
    );
    let after_eight = (74.110_443_115_234_38 + 0.196_380_615_234_375) / 2.0;
    let expected = [(4, 0, 4, 3.523_437_5), (4, 0, 8, after_eight), (0, 4, 8, after_eight)];
    let looks = repeated["looks"].as_array().unwrap();
    assert_eq!(looks.len(), 3);
    for (at, (look, (new, again, all, e))) in looks.iter().zip(expected).enumerate() {
        assert_eq!(look["label"], format!("run-{}.json", at + 1));
        let counts = [&look["new_units"], &look["repeated_units"], &look["n"]];
        assert_eq!(counts, [&json!(new), &json!(again), &json!(all)]);
        let near = |key: &str, value: f64| {
            let found = look[key].as_f64().unwrap();
            assert!((found / value - 1.0).abs() < 1e-10, "{key}: {found} {value}");
        };
        near("e_value", e);
        near("ln_e", f64::ln(e));
        near("p_anytime", 1.0 / e);
    }
    assert_eq!(repeated["reports_on_same_cases"], 1);
    let caveat = json!({"code": "rerun_on_same_cases", "args": {"reports": 1, "of": 3}});
    assert_eq!(repeated["qualifiers"], json!([caveat]));
    for format in ["table", "markdown"] {
        let text = trend(&workspace, &["--format", format]).stdout;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let looks =
            "Over all reports, 8 cases in 2 batches of new ones: p = 0.027, which holds however often one looks.";
        assert!(text.contains(looks), "{text}");
        assert!(text.contains("1 of 3 reports runs cases that earlier ones have run:"), "{text}");
    }
}
