//! Workspaces of other tools: every layout, where a verdict comes from, and what is never made a number.

use serde_json::{Value, json};

use crate::support::Workspace;

/// A verdict list of the public skill creator.
fn grading(passed: &[bool]) -> String {
    let entry =
        |(index, passed): (usize, &bool)| json!({"text": format!("t{index}"), "passed": passed, "evidence": "e"});
    json!({"expectations": passed.iter().enumerate().map(entry).collect::<Vec<_>>()}).to_string()
}

fn workspace(files: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new();
    for (path, text) in files {
        workspace.write(&format!("w/{path}"), text);
    }
    workspace
}

impl Workspace {
    /// The report of the workspace `w`.
    fn report(&self, flags: &[&str]) -> Value {
        let said = self.run(&[&["benchmark", "w", "--format", "json"], flags].concat());
        assert_eq!(said.code, 0, "{said:#?}");
        said.json()
    }
}

/// Case, arm, repetition, rate, reasons.
type Row = (String, String, u64, Option<f64>, Vec<String>);

fn rows(report: &Value) -> Vec<Row> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |row: &Value| {
        let reasons = row["unscored_reasons"].as_array().unwrap().iter().map(text).collect();
        let rate = row["objective_pass_rate"].as_f64();
        (text(&row["case_id"]), text(&row["variant"]), row["run_number"].as_u64().unwrap(), rate, reasons)
    };
    report["results"].as_array().unwrap().iter().map(row).collect()
}

fn row(case: &str, variant: &str, number: u64, rate: Option<f64>, reasons: &[&str]) -> Row {
    (case.to_owned(), variant.to_owned(), number, rate, reasons.iter().map(|reason| (*reason).to_owned()).collect())
}

#[test]
fn a_flat_layout_is_read_as_one_run() {
    let (all, half) = (grading(&[true, true]), grading(&[true, false]));
    let report = workspace(&[("eval-1/with_skill/grading.json", &all), ("eval-1/without_skill/grading.json", &half)])
        .report(&[]);
    assert_eq!(
        rows(&report),
        [row("eval-1", "with_skill", 1, Some(1.0), &[]), row("eval-1", "without_skill", 1, Some(0.5), &[])]
    );
    assert_eq!(report["paired_summary"]["absolute_delta"], 0.5);
    let recorded = &report["results"][0]["assertions"][0]["recorded"];
    assert_eq!(
        recorded,
        &json!({"file": "eval-1/with_skill/grading.json", "pointer": "/expectations/0", "joined": null})
    );
    assert_eq!(report["provenance"]["dialect"], "skill-creator");
    assert_eq!(report["provenance"]["suite_sha256"], Value::Null);
}

#[test]
fn a_folder_without_any_layout_is_refused_and_the_patterns_are_named() {
    let workspace = workspace(&[("notes/readme.md", "x"), ("eval-1/answer.md", "x")]);
    let said = workspace.run(&["benchmark", "w", "--out", "report.json"]);
    assert_eq!(said.code, 1);
    let [line] = said.lines("FAIL:")[..] else { panic!("{said:#?}") };
    for pattern in ["<case>/<arm>/run-<n>/grading.json", "<case>/<arm>/grading.json", "<arm>/eval-<n>-grading.json"] {
        assert!(line.contains(pattern), "{line}");
    }
    assert!(!workspace.path().join("report.json").exists());
}

#[test]
fn the_old_skill_is_the_baseline_where_there_is_no_other_and_the_sign_is_that_of_the_skill() {
    let (all, none) = (grading(&[true]), grading(&[false]));
    let files = [("eval-1/with_skill/grading.json", &*all), ("eval-1/old_skill/grading.json", &*none)];
    let report = workspace(&files).report(&[]);
    assert_eq!(report["paired_summary"]["absolute_delta"], 1.0);
    assert_eq!(report["paired_summary"]["old_skill_objective_pass_rate"], 0.0);
    assert_eq!(report["paired_edit_summary"]["absolute_delta"], 1.0);

    // with both baselines the lift is against no skill, the edit stands beside it: 1 - 1 and 1 - 0
    let report = workspace(&[files[0], files[1], ("eval-1/baseline/grading.json", &all)]).report(&[]);
    assert_eq!(report["paired_summary"]["absolute_delta"], 0.0);
    assert_eq!(report["paired_edit_summary"]["absolute_delta"], 1.0);

    // an arm with another name is reported and never paired
    let report = workspace(&[files[0], ("eval-1/tuned/grading.json", &none)]).report(&[]);
    assert_eq!(rows(&report)[1], row("eval-1", "tuned", 1, Some(0.0), &[]));
    assert_eq!(report["paired_summary"]["absolute_delta"], Value::Null);
}

#[test]
fn tokens_come_from_the_timing_file_and_characters_are_never_tokens() {
    let graded = json!({
        "expectations": [{"text": "t", "passed": true, "evidence": ""}],
        "timing": {"total_duration_seconds": 5}, "execution_metrics": {"output_chars": 4000},
    });
    let report = workspace(&[
        ("eval-1/with_skill/grading.json", &graded.to_string()),
        ("eval-1/with_skill/timing.json", r#"{"total_tokens": 900}"#),
        ("eval-1/without_skill/grading.json", &graded.to_string()),
    ])
    .report(&[]);
    let tokens = |row: usize| report["results"][row]["stored"]["total_tokens"].clone();
    assert_eq!(tokens(0), json!({"availability": "available", "value": 900.0, "provenance": "legacy_unverified"}));
    assert_eq!(tokens(1), json!({"availability": "unavailable", "reason": "missing"}));
    assert_eq!(report["stored_verdicts"]["telemetry"]["without_skill"]["mean_total_tokens"], Value::Null);
}

#[test]
fn the_entries_count_and_a_summary_without_entries_is_no_score() {
    let report = workspace(&[
        ("eval-1/with_skill/grading.json", r#"{"expectations": [{"text": "x", "passed": true, "evidence": ""}]}"#),
        ("eval-2/with_skill/grading.json", r#"{"summary": {"passed": 3, "total": 4, "pass_rate": 0.75}}"#),
        (
            "eval-3/with_skill/grading.json",
            r#"{"summary": {"pass_rate": 0}, "expectations": [{"text": "x", "passed": null}]}"#,
        ),
        ("eval-4/with_skill/grading.json", r#"{"expectations": [{"text": "x", "passed": "true"}]}"#),
        (
            "eval-5/with_skill/grading.json",
            r#"{"summary": {"passed": 9, "total": 10, "pass_rate": 0.9}, "expectations": [{"text": "x", "passed": true}, {"text": "y", "passed": false}]}"#,
        ),
    ]);
    let said = workspace_said(&report);
    assert_eq!(
        rows(&said.0),
        [
            row("eval-1", "with_skill", 1, Some(1.0), &[]),
            row("eval-2", "with_skill", 1, None, &["no_verdicts"]),
            row("eval-3", "with_skill", 1, None, &["no_verdicts"]),
            row("eval-4", "with_skill", 1, None, &["unreadable_verdict"]),
            row("eval-5", "with_skill", 1, Some(0.5), &[]),
        ]
    );
    for code in ["no_verdict_list", "unreadable_verdict", "summary_contradicts_entries"] {
        assert!(said.1.contains(&format!("WARN {code}: ")), "{}", said.1);
    }
    // the mean is over the scored runs: (1 + 0.5) / 2
    assert_eq!(said.0["summary"]["with_skill"]["mean_objective_pass_rate"], 0.75);
}

fn workspace_said(workspace: &Workspace) -> (Value, String) {
    let said = workspace.run(&["benchmark", "w", "--format", "json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    (said.json(), said.stderr)
}

#[test]
fn repetitions_and_cases_are_ordered_by_number() {
    let graded = grading(&[true]);
    let runs = ["run-1", "run-10", "run-11", "run-2", "run-3"];
    let paths: Vec<String> = ["eval-10", "eval-2"]
        .iter()
        .flat_map(|eval| runs.iter().map(move |run| format!("{eval}/with_skill/{run}/grading.json")))
        .collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), graded.as_str())).collect();
    let found: Vec<_> = rows(&workspace(&files).report(&[])).into_iter().map(|row| (row.0, row.2)).collect();
    let expected = ["eval-2", "eval-10"].iter().flat_map(|case| [1, 2, 3, 10, 11].map(|run| ((*case).to_owned(), run)));
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn a_byte_order_mark_is_stripped_and_a_number_that_is_not_finite_is_refused_with_its_place() {
    let workspace = workspace(&[
        ("eval-1/with_skill/grading.json", &format!("\u{feff}{}", grading(&[true, false]))),
        ("eval-2/with_skill/grading.json", "{\"summary\": {\"pass_rate\": NaN}, \"expectations\": []}"),
    ]);
    let (report, warnings) = workspace_said(&workspace);
    assert_eq!(
        rows(&report),
        [row("eval-1", "with_skill", 1, Some(0.5), &[]), row("eval-2", "with_skill", 1, None, &["unreadable_grading"])]
    );
    assert_eq!(report["summary"]["with_skill"]["mean_objective_pass_rate"], 0.5);
    assert!(
        warnings.contains("WARN grading_unreadable: eval-2/with_skill/grading.json: line 1, column 27: "),
        "{warnings}"
    );
}

#[test]
fn no_difference_is_a_difference_of_zero() {
    // 0.9 - 0.5 and 0.5 - 0.5: mean 0.2 over two cases
    let tenths = |passed: usize| grading(&(0..10).map(|index| index < passed).collect::<Vec<_>>());
    let report = workspace(&[
        ("eval-1/with_skill/grading.json", &tenths(9)),
        ("eval-1/without_skill/grading.json", &tenths(5)),
        ("eval-2/with_skill/grading.json", &tenths(5)),
        ("eval-2/without_skill/grading.json", &tenths(5)),
    ])
    .report(&[]);
    let overall = &report["inference"]["overall"];
    assert_eq!((overall["n_units"].as_u64(), overall["estimate"].as_f64()), (Some(2), Some(0.2)));
}

#[test]
fn two_directories_of_one_run_are_refused_or_the_last_one_counts_when_asked() {
    let (fifteenth, seventh) = (grading(&[true, false]), grading(&[true, true]));
    let workspace = workspace(&[
        ("eval-1/with_skill/run-2/grading.json", &fifteenth),
        ("eval-1/with_skill/run-02/grading.json", &seventh),
        ("eval-2/with_skill/grading.json", &fifteenth),
        ("eval-2/new_skill/grading.json", &seventh),
    ]);
    let said = workspace.run(&["benchmark", "w"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("run-02") && said.stderr.contains("run-2"), "{}", said.stderr);
    let report = workspace.report(&["--on-duplicate", "last"]);
    let found: Vec<_> = rows(&report).into_iter().map(|row| (row.0, row.3)).collect();
    assert_eq!(found, [("eval-1".to_owned(), Some(0.5)), ("eval-2".to_owned(), Some(0.5))]);
    assert_eq!(report["provenance"]["duplicates_dropped"], 2);
}

#[test]
fn an_eval_that_is_stored_twice_is_refused_until_a_layout_is_chosen() {
    let (all, none) = (grading(&[true]), grading(&[false]));
    let metadata = r#"{"eval_id": 1, "eval_name": "n", "prompt": "p", "assertions": []}"#;
    let workspace = workspace(&[
        ("eval-1/eval_metadata.json", metadata),
        ("eval-1/with_skill/run-1/grading.json", &all),
        ("the-slug/eval_metadata.json", metadata),
        ("the-slug/with_skill/grading.json", &none),
    ]);
    let said = workspace.run(&["benchmark", "w"]);
    assert_eq!(said.code, 1);
    let expected = "FAIL: eval 1 is claimed twice, by eval-1 and by the-slug; remove one of them, or choose with --layout nested|flat";
    assert_eq!(said.lines("FAIL:"), [expected]);
    assert_eq!(rows(&workspace.report(&["--layout", "nested"])), [row("eval-1", "with_skill", 1, Some(1.0), &[])]);
    assert_eq!(rows(&workspace.report(&["--layout", "flat"])), [row("eval-1", "with_skill", 1, Some(0.0), &[])]);
    // forge accepts both of these and reports the same id twice
    let padded =
        self::workspace(&[("eval-01/with_skill/grading.json", &all), ("eval-1/with_skill/grading.json", &none)]);
    assert_eq!(padded.run(&["benchmark", "w"]).code, 1);
}

#[test]
fn metadata_is_found_in_the_eval_in_an_arm_and_one_level_up() {
    let graded = grading(&[true]);
    let metadata =
        |id: u8| format!(r#"{{"eval_id": {id}, "eval_name": "name {id}", "prompt": "p", "assertions": ["t0"]}}"#);
    let in_both = workspace(&[
        ("a/eval_metadata.json", &metadata(4)),
        ("a/with_skill/run-1/grading.json", &graded),
        ("b/with_skill/eval_metadata.json", &metadata(5)),
        ("b/with_skill/grading.json", &graded),
    ])
    .report(&[]);
    let found: Vec<_> = rows(&in_both).into_iter().map(|row| row.0).collect();
    assert_eq!(found, ["eval-4", "eval-5"]);
    assert_eq!(in_both["stored_verdicts"]["joined"], json!({"text": 2}));
    let above =
        workspace(&[("eval_metadata.json", &metadata(7)), ("only/with_skill/grading.json", &graded)]).report(&[]);
    assert_eq!(above["results"][0]["case_id"], "eval-7");
}

#[test]
fn a_file_of_another_case_or_arm_is_not_counted() {
    let misfiled = |key: &str, value: Value| {
        let mut grading: Value = serde_json::from_str(&grading(&[true])).unwrap();
        grading[key] = value;
        grading.to_string()
    };
    let report = workspace(&[
        ("eval-1/with_skill/grading.json", &misfiled("eval_id", json!(2))),
        ("eval-1/without_skill/grading.json", &misfiled("run_type", json!("with_skill"))),
        ("eval-2/with_skill/grading.json", &misfiled("eval_id", json!("eval-2"))),
        ("eval-2/without_skill/grading.json", &misfiled("config", json!("baseline (first try)"))),
    ])
    .report(&[]);
    assert_eq!(
        rows(&report),
        [
            row("eval-1", "with_skill", 1, Some(1.0), &["misfiled_grading"]),
            row("eval-1", "without_skill", 1, Some(1.0), &["misfiled_grading"]),
            row("eval-2", "with_skill", 1, Some(1.0), &[]),
            row("eval-2", "without_skill", 1, Some(1.0), &[]),
        ]
    );
    assert_eq!(report["summary"]["with_skill"]["objective_pass_rate"]["n"], 1);
}

#[test]
fn a_timeout_and_a_crash_unscore_a_run_with_verdicts() {
    let graded = grading(&[true]);
    let report = workspace(&[
        ("eval-1/with_skill/grading.json", &graded),
        ("eval-1/with_skill/timing.json", r#"{"total_tokens": 7, "timed_out": true}"#),
        ("eval-1/without_skill/grading.json", &graded),
        ("eval-1/without_skill/error.txt", "boom"),
    ])
    .report(&[]);
    let reasons: Vec<_> = rows(&report).into_iter().map(|row| row.4).collect();
    assert_eq!(reasons, [["timed_out"], ["executor_error"]]);
    assert_eq!(report["paired_summary"]["pairing"]["blocked_reason_counts"], json!({"unscorable_arm": 1}));
}

#[test]
fn a_missing_arm_blocks_its_pair_and_gives_no_gain() {
    let report = workspace(&[("eval-1/with_skill/grading.json", &grading(&[true]))]).report(&[]);
    assert_eq!(report["paired_summary"]["pairing"]["blocked_reason_counts"], json!({"missing_without_skill": 1}));
    assert_eq!(report["paired_summary"]["normalized_gain"], Value::Null);
}

#[test]
fn arms_are_named_in_many_ways() {
    let (all, none) = (grading(&[true]), grading(&[false]));
    let report = workspace(&[
        ("eval-1/claude_with_skill/grading.json", &all),
        ("eval-1/claude_without_skill/grading.json", &none),
        ("eval-1/gemini_with_skill/grading.json", &none),
        ("eval-1/gemini_without_skill/grading.json", &none),
        ("eval-2/candidate/grading.json", &all),
        ("eval-2/control/grading.json", &none),
    ])
    .report(&[]);
    let models: Vec<_> = report["results"].as_array().unwrap().iter().map(|row| row["model"].as_str()).collect();
    assert_eq!(models, [Some("claude"), Some("claude"), Some("gemini"), Some("gemini"), None, None]);
    // claude 1, gemini 0, and the case without a model 1: the case's own mean first, (0.5 + 1) / 2
    assert_eq!(report["inference"]["overall"]["estimate"], 0.75);
}

#[test]
fn runs_of_a_case_may_stand_in_one_file() {
    let run = |number: u8, passed: bool| json!({"run": number, "passed": 1, "total": 1, "expectations": [{"text": "t", "passed": passed}]});
    let one_file = json!({"with_skill": [run(1, true), run(2, true)], "without_skill": [run(1, false), run(2, true)]});
    let several = json!({"condition": "with_skill", "runs": [run(1, true), run(3, false)]});
    let report = workspace(&[
        ("eval-1/grading.json", &one_file.to_string()),
        ("eval-2/with_skill/grading.json", &several.to_string()),
        ("eval-3/grading_with_skill.json", &grading(&[true])),
        ("eval-3/with_skill/outputs/answer.md", "yes"),
        ("eval-4/with_skill/outputs/grading.json", &grading(&[true])),
    ])
    .report(&[]);
    let found: Vec<_> = report["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["case_id"].as_str().unwrap(),
                row["run_number"].as_u64().unwrap(),
                row["stored"]["layout"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("eval-1", 1, "L5"),
            ("eval-1", 2, "L5"),
            ("eval-1", 1, "L5"),
            ("eval-1", 2, "L5"),
            ("eval-2", 1, "L7"),
            ("eval-2", 3, "L7"),
            ("eval-3", 1, "L4"),
            ("eval-4", 1, "L3"),
        ]
    );
    assert_eq!(report["results"][1]["assertions"][0]["recorded"]["pointer"], "/with_skill/1/expectations/0");
    let first = workspace(&[
        ("with_skill/eval-1-grading.json", &grading(&[true])),
        ("without_skill/eval-1-grading.json", &grading(&[false])),
    ]);
    assert_eq!(first.report(&[])["paired_summary"]["absolute_delta"], 1.0);
}

#[test]
fn the_latest_of_several_iterations_is_read_and_the_others_are_named() {
    let (all, none) = (grading(&[true]), grading(&[false]));
    let workspace = workspace(&[
        ("iteration-2/eval-1/with_skill/grading.json", &none),
        ("iteration-10/eval-1/with_skill/grading.json", &all),
    ]);
    let (report, warnings) = workspace_said(&workspace);
    assert_eq!(report["results"][0]["objective_pass_rate"], 1.0);
    assert!(warnings.contains("WARN other_iterations: iteration-10 is read, the latest of 2 iterations"), "{warnings}");
    // names without a number have no latest
    workspace.write("w/iteration-rerun/eval-1/with_skill/grading.json", &none);
    let said = workspace.run(&["benchmark", "w"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("name one of iteration-2, iteration-10, iteration-rerun below it"), "{}", said.stderr);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_workspace_are_not_followed() {
    let workspace =
        workspace(&[("eval-1/with_skill/timing.json", "{}"), ("eval-2/with_skill/grading.json", &grading(&[true]))]);
    workspace.write("secret.json", grading(&[true]));
    std::os::unix::fs::symlink(
        workspace.path().join("secret.json"),
        workspace.path().join("w/eval-1/with_skill/grading.json"),
    )
    .unwrap();
    workspace.write("outside/with_skill/grading.json", grading(&[true]));
    std::os::unix::fs::symlink(workspace.path().join("outside"), workspace.path().join("w/eval-9")).unwrap();
    let (report, warnings) = workspace_said(&workspace);
    assert_eq!(rows(&report)[0], row("eval-1", "with_skill", 1, None, &["missing_grading"]));
    assert_eq!(rows(&report).len(), 2);
    assert!(warnings.contains("WARN link_refused: "), "{warnings}");
}

#[test]
fn literal_checks_are_compared_with_the_record_on_request_and_do_not_replace_it() {
    let metadata = json!({"eval_id": 1, "prompt": "p", "assertions": [
        {"name": "says-yes", "type": "contains", "value": "YES"},
        {"name": "has-file", "type": "file_exists", "path": "with_skill/outputs/report.md"},
        {"name": "is-kind", "type": "llm", "description": "Is kind."},
    ]});
    let entry = |name: &str, passed: bool| json!({"name": name, "passed": passed, "evidence": ""});
    let graded = json!({"assertions": [entry("says-yes", false), entry("has-file", true), entry("is-kind", true)]});
    let files = [
        ("eval-1/eval_metadata.json", metadata.to_string()),
        ("eval-1/with_skill/grading.json", graded.to_string()),
        ("eval-1/with_skill/outputs/report.md", "yes, of course".to_owned()),
        ("eval-1/without_skill/grading.json", graded.to_string()),
        ("eval-1/without_skill/outputs/other.md", "no".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let report = workspace(&files).report(&["--regrade"]);
    // 2 of 3 in both arms, as recorded
    assert_eq!(report["paired_summary"]["absolute_delta"], 0.0);
    let regrading = &report["stored_verdicts"]["regrading"];
    assert_eq!((&regrading["compared"], &regrading["agreed"]), (&json!(4), &json!(2)));
    // one verdict in each of the four cells: what agrees is what chance gives. Wilson's limits of 2 of 4 are 0.1500 and 0.8500
    let agreement = &regrading["agreement"];
    assert_eq!(
        (&agreement["n"], &agreement["observed"], &agreement["confidence"]),
        (&json!(4), &json!(0.5), &json!(0.95))
    );
    assert_eq!((&agreement["positive_agreement"], &agreement["negative_agreement"]), (&json!(0.5), &json!(0.5)));
    assert_eq!(agreement["kappa"], json!({"value": 0.0, "lower": null, "upper": null, "reason": "too_few_units"}));
    assert_eq!((&agreement["ac1"]["value"], &agreement["pabak"]["value"]), (&json!(0.0), &json!(0.0)));
    for (key, limit) in [("observed_lower", 0.1500), ("observed_upper", 0.8500)] {
        assert!((agreement[key].as_f64().unwrap() - limit).abs() < 1e-4, "{agreement}");
    }
    let found: Vec<_> = regrading["disagreements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            (found["run_dir"].as_str().unwrap(), found["assertion"].as_str().unwrap(), found["literal"].as_bool())
        })
        .collect();
    // the path in the suite names the arm with the skill; each run is looked at in its own folder
    assert_eq!(
        found,
        [("eval-1/with_skill", "says-yes", Some(true)), ("eval-1/without_skill", "has-file", Some(false))]
    );
}

#[test]
fn a_suite_beside_a_workspace_gives_the_cases_and_their_order() {
    let workspace = workspace(&[
        ("eval-1/with_skill/grading.json", &grading(&[true])),
        ("second-task/with_skill/grading.json", &grading(&[false])),
        ("stranger/with_skill/grading.json", &grading(&[false])),
    ]);
    let evals = json!({"skill_name": "s", "evals": [
        {"id": 2, "name": "Second task!", "prompt": "p", "expectations": ["t0"]},
        {"id": 1, "prompt": "p", "expectations": ["t0"]},
    ]});
    workspace.write("evals/evals.json", evals.to_string());
    let said = workspace.run(&["benchmark", "evals/evals.json", "--runs", "w", "--format", "json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    let report = said.json();
    assert_eq!(
        rows(&report),
        [row("eval-2", "with_skill", 1, Some(0.0), &[]), row("eval-1", "with_skill", 1, Some(1.0), &[])]
    );
    assert_eq!(
        said.lines("WARN unknown_case"),
        ["WARN unknown_case: stranger: no case of the suite has this id; its runs are not read"]
    );
    assert_eq!(report["skill_name"], "s");
    assert!(report["provenance"]["suite_sha256"].is_string());
}

#[test]
fn a_workspace_without_any_verdict_is_graded_by_the_checks_that_need_no_judge() {
    let metadata = json!({"eval_id": 3, "prompt": "p", "assertions": [
        {"name": "says-yes", "type": "contains", "value": "yes"},
        "starts with 'Yes'",
        "Is kind to the reader.",
    ]});
    let files = [
        ("the-task/eval_metadata.json", metadata.to_string()),
        ("the-task/with_skill/outputs/answer.md", "Yes, of course.".to_owned()),
        ("the-task/with_skill/outputs/transcript.md", "no".to_owned()),
        ("the-task/without_skill/run-1/outputs/answer.txt", "Never.".to_owned()),
        ("the-task/without_skill/run-2/outputs/answer.txt", "Oh, yes.".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let workspace = workspace(&files);
    let report = workspace.report(&[]);
    assert_eq!(
        rows(&report),
        [
            row("eval-3", "with_skill", 1, Some(1.0), &[]),
            row("eval-3", "without_skill", 1, Some(0.0), &[]),
            row("eval-3", "without_skill", 2, Some(0.5), &[]),
        ]
    );
    assert_eq!(report["results"][0]["deferred_judge_tasks"], 1);
    assert_eq!(report["results"][0]["run_base"], "w/the-task/with_skill");
    let tasks = workspace.run(&["grade", "w", "--judge-tasks", "tasks.jsonl", "--out", "grades.json"]);
    assert_eq!(tasks.code, 0, "{tasks:#?}");
    let tasks = std::fs::read_to_string(workspace.path().join("tasks.jsonl")).unwrap();
    assert_eq!(tasks.lines().count(), 3);
    assert!(tasks.contains("Is kind to the reader."));
}

#[test]
fn a_file_of_verdicts_may_be_anything_and_nothing_breaks() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let wide = format!("{{\"expectations\": [{}]}}", vec![r#"{"text":"t","passed":true}"#; 20_000].join(","));
    let texts = [
        "",
        "null",
        "3",
        "[]",
        "{}",
        "\"x\"",
        "{\"expectations\": {}}",
        "{\"expectations\": [1, null, []]}",
        "{\"expectations\": [{\"text\": \"t\"}]}",
        "{\"runs\": [[]]}",
        "{\"with_skill\": [{\"expectations\": []}]}",
        "{\"eval_id\": {}, \"run_type\": 7, \"expectations\": []}",
        "{\"summary\": 3, \"expectations\": []}",
        "\u{0}",
        "{\"expectations\": [{\"text\": \"\\ud800\", \"passed\": true}]}",
        &deep,
        &wide,
    ];
    let paths: Vec<String> = (0..texts.len()).map(|index| format!("eval-{index}/with_skill/grading.json")).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(String::as_str).zip(texts).collect();
    let (report, _) = workspace_said(&workspace(&files));
    let found = rows(&report);
    assert_eq!(found.len(), texts.len());
    // all but the last one, which has 20,000 verdicts, have no score and say why
    let (last, others) = found.split_last().unwrap();
    assert_eq!(last.3, Some(1.0));
    assert!(others.iter().all(|row| row.3.is_none() && row.4.len() == 1), "{others:?}");
}

#[test]
fn names_from_a_workspace_cannot_command_a_terminal() {
    let name = "eval-\u{1b}]0;x\u{7}\u{1b}[2J";
    let workspace = workspace(&[(
        &format!("{name}/with_skill/grading.json"),
        "{\"expectations\": [{\"text\": \"t\", \"passed\": 1}]}",
    )]);
    let said = workspace.run(&["benchmark", "w", "--format", "table"]);
    assert_eq!(said.code, 0);
    assert!(!said.stdout.contains('\u{1b}') && !said.stderr.contains('\u{1b}'), "{said:#?}");
}

/// As in a tree of our own: what is left out of an answer is named.
#[test]
fn an_answer_of_too_many_files_is_cut_with_a_warning() {
    let workspace = workspace(&[(
        "eval-1/eval_metadata.json",
        r#"{"eval_id": 1, "prompt": "p", "assertions": [{"name": "n", "type": "contains", "value": "needle"}]}"#,
    )]);
    for number in 0..5 {
        workspace.write(&format!("w/eval-1/with_skill/outputs/{number}.md"), "hay");
    }
    workspace.write("w/eval-1/with_skill/outputs/5.md", "needle");
    let read = |limit: &str| workspace.run(&["benchmark", "w", "--format", "json", "--max-output-files", limit]);
    let (cut, whole) = (read("5"), read("6"));
    assert_eq!(cut.json()["results"][0]["objective_pass_rate"], 0.0);
    assert_eq!(cut.lines("WARN truncated_outputs").len(), 1, "{cut:#?}");
    assert_eq!((&whole.json()["results"][0]["objective_pass_rate"], whole.lines("WARN").len()), (&json!(1.0), 0));
}

#[test]
fn a_plan_that_cannot_be_read_is_named() {
    let grading = grading(&[true]);
    let workspace = workspace(&[("iteration_manifest.json", "{,"), ("eval-1/with_skill/run-1/grading.json", &grading)]);
    let said = workspace.run(&["benchmark", "w", "--format", "json"]);
    assert_eq!(said.lines("WARN sidecar_unreadable").len(), 1, "{said:#?}");
    assert!(said.lines("WARN sidecar_unreadable")[0].contains("iteration_manifest.json"), "{said:#?}");
}

/// An option that would do nothing is a misunderstanding.
#[test]
fn options_that_change_nothing_are_refused() {
    let grading = grading(&[true]);
    let stored = workspace(&[("eval-1/with_skill/grading.json", &grading)]);
    for flags in [&["--strict"][..], &["--unobserved", "exclude"], &["--allow-scripts"]] {
        let said = stored.run(&[&["benchmark", "w"], flags].concat());
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{flags:?}");
        assert!(said.stderr.contains(flags[0]) && said.stderr.contains("--regrade"), "{said:#?}");
        assert_eq!(stored.run(&[&["benchmark", "w", "--regrade"], flags].concat()).code, 0, "{flags:?}");
    }
    let own = Workspace::with_cases(&["c"]);
    for (command, flags) in
        [("benchmark", &["--regrade"][..]), ("grade", &["--evidence", "strict"]), ("benchmark", &["--layout", "flat"])]
    {
        let said = own.on_runs(command, flags);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{flags:?}");
        assert!(said.stderr.contains(flags[0]), "{said:#?}");
    }
}
