//! Odd and hostile iterations of the forge pipeline.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

/// Entries of a grading: names with their verdicts.
fn grading(entries: &[(&str, Value)], pass_rate: Value) -> String {
    let entries: Vec<Value> =
        entries.iter().map(|(name, passed)| json!({"name": name, "passed": passed, "evidence": "e"})).collect();
    json!({"assertions": entries, "pass_rate": pass_rate}).to_string()
}

fn metadata(workspace: &Workspace, eval: &str, names: &[&str]) {
    let assertions: Vec<Value> = names.iter().map(|name| json!({"name": name, "check": format!("{name}?")})).collect();
    let text = json!({"eval_name": eval, "prompt": "Do it.", "assertions": assertions, "should_trigger": true});
    workspace.write(&format!("iteration-1/{eval}/eval_metadata.json"), text.to_string());
}

fn upstream(workspace: &Workspace) -> Said {
    workspace.run(&["report", "iteration-1", "--format", "upstream-json"])
}

fn corrected(workspace: &Workspace) -> Value {
    let said = workspace.run(&["report", "iteration-1", "--format", "json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    said.json()
}

/// One eval with a run of each arm that has these gradings.
fn one_eval(with_skill: &str, baseline: &str) -> Workspace {
    let workspace = Workspace::new();
    metadata(&workspace, "eval-1", &["a", "b"]);
    workspace.write("iteration-1/eval-1/with_skill/grading.json", with_skill);
    workspace.write("iteration-1/eval-1/baseline/grading.json", baseline);
    workspace
}

fn both(passed: bool) -> String {
    grading(&[("a", json!(passed)), ("b", json!(passed))], json!(if passed { 1.0 } else { 0.0 }))
}

#[test]
fn recorded_rates_that_are_none_stop_the_script_and_not_us() {
    for (rate, what) in
        [(Value::Null, "null"), (json!("1.0"), "string"), (json!([1]), "array"), (json!({"x": 1}), "object")]
    {
        let workspace = one_eval(&grading(&[("a", json!(true)), ("b", json!(true))], rate), &both(false));
        let said = upstream(&workspace);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{what}: {said:#?}");
        let stops = format!("iteration-1/eval-1/with_skill/grading.json: `pass_rate` is no number ({what})");
        assert!(said.stderr.contains(&stops) && said.stderr.contains("stops here"), "{said:#?}");
        let found = corrected(&workspace);
        assert_eq!(found["lift"], json!(1.0));
        assert_eq!(found["runs"][0]["flags"], json!(["missing_timing", "recorded_rate_invalid"]));
    }
}

#[test]
fn rates_that_python_computes_with_pass_through_the_aggregate() {
    // mean of 2.5 and true, which is 1; the standard deviation is 1.5 / sqrt(2)
    let workspace = one_eval(&grading(&[("a", json!(true)), ("b", json!(false))], json!(2.5)), &both(false));
    let truth = grading(&[("a", json!(true)), ("b", json!(true))], json!(true));
    workspace.write("iteration-1/eval-1/with_skill_0/grading.json", truth);
    let summary = upstream(&workspace).json()["summary"].clone();
    assert_eq!(summary["with_skill"]["pass_rate"], json!(1.75));
    assert_eq!(summary["with_skill"]["pass_rate_std"], json!(1.0607));
    // nothing passes in the baseline
    assert_eq!(summary["improvement_ratio"], json!(999.99));
    assert_eq!(summary["token_savings_ratio"], json!(1.0));
    let found = corrected(&workspace);
    assert_eq!(found["improvement_ratio"], json!({"value": null, "reason": "zero_baseline"}));
    // trial 0 comes first, the run without a number last
    assert_eq!(found["runs"][0]["trial"], json!(0));
    assert_eq!(found["runs"][1]["flags"], json!(["missing_timing", "recorded_rate_invalid"]));
    // 1 and 1/2
    assert_eq!(found["evals"][0]["with_skill"]["rate"], json!(0.75));
    // a demand on the ratio is decided although the ratio has no number
    let arguments = ["report", "iteration-1", "--min-improvement-ratio", "2", "--format", "json"];
    assert_eq!(workspace.run(&arguments).json()["thresholds"]["verdict"], json!("PASS"));
}

#[test]
fn what_is_absent_for_the_script_and_what_is_refused() {
    let good = both(true);
    for absent in ["{}", "[]", "null", "0", "not JSON", "{\"pass_rate\": 1,}", "\u{feff}{\"pass_rate\": 1}", ""] {
        let workspace = one_eval(absent, &good);
        let said = upstream(&workspace);
        assert_eq!(said.code, 0, "{absent:?}: {said:#?}");
        assert_eq!(said.json()["per_eval"][0].get("with_skill"), None, "{absent:?}");
        assert_eq!(said.json()["summary"]["improvement_ratio"], json!(0.0));
    }
    for stops in ["[1]", "\"text\"", "3", "true"] {
        let said = upstream(&one_eval(stops, &good));
        assert_eq!(said.code, 1, "{stops}");
        assert!(said.stderr.contains("no object"), "{said:#?}");
    }
    for (refused, why) in [
        (r#"{"pass_rate": NaN}"#, "not finite"),
        (r#"{"pass_rate": 1e999}"#, "not finite"),
        (r#"{"pass_rate": 1, "pass_rate": 0}"#, "duplicate key"),
    ] {
        let workspace = one_eval(refused, &good);
        let said = upstream(&workspace);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{refused}");
        assert!(said.stderr.contains(why) && said.stderr.contains("line 1, column "), "{said:#?}");
        // one bad file leaves the other runs scored
        let found = corrected(&workspace);
        assert_eq!(found["runs"][0]["reasons"], json!(["unreadable_grading"]));
        assert_eq!(found["arm_macro_rate"], json!({"with_skill": null, "baseline": 1.0}));
    }
    let huge = format!("{{\"pass_rate\": {}}}", "9".repeat(400));
    let said = upstream(&one_eval(&huge, &good));
    assert_eq!(said.code, 1, "{said:#?}");
    // each is a number, their sum is none
    let workspace = one_eval(r#"{"pass_rate": 1.7e308}"#, &good);
    workspace.write("iteration-1/eval-1/with_skill_0/grading.json", r#"{"pass_rate": 1.7e308}"#);
    assert_eq!(upstream(&workspace).code, 1);
}

#[test]
fn timings_as_the_script_reads_them_and_as_they_are() {
    let workspace = one_eval(&both(true), &both(false));
    let timing = |text: &str| workspace.write("iteration-1/eval-1/with_skill/timing.json", text);
    timing(r#"{"total_tokens": 0, "duration_ms": 2000}"#);
    let arm = upstream(&workspace).json()["summary"]["with_skill"].clone();
    assert_eq!((arm["avg_tokens"].to_string(), arm["avg_duration_seconds"].to_string()), ("0".into(), "0".into()));
    let run = corrected(&workspace)["runs"][0].clone();
    assert_eq!((&run["total_tokens"], &run["duration_seconds"]), (&Value::Null, &json!(2.0)));
    timing(r#"{"total_tokens": null}"#);
    assert_eq!(upstream(&workspace).code, 1);
    timing(r#"{"total_tokens": -5, "duration_ms": 1000, "total_duration_seconds": 9.0}"#);
    let arm = upstream(&workspace).json()["summary"]["with_skill"].clone();
    assert_eq!((arm["avg_tokens"].to_string(), &arm["avg_duration_seconds"]), ("0".into(), &json!(9.0)));
    assert_eq!(corrected(&workspace)["runs"][0]["flags"], json!(["durations_differ"]));
}

#[test]
fn a_timeout_and_a_crash_are_unscored_in_the_order_of_the_reasons() {
    let workspace = one_eval(&both(false), &both(true));
    workspace.write("iteration-1/eval-1/with_skill/timing.json", r#"{"timed_out": true}"#);
    workspace.write("iteration-1/eval-1/with_skill/error.txt", "boom");
    let misfiled = json!({"eval_id": 7, "assertions": [{"name": "a", "passed": null}]});
    workspace.write("iteration-1/eval-1/with_skill/grading.json", misfiled.to_string());
    let found = corrected(&workspace);
    let run = &found["runs"][0];
    assert_eq!(run["reasons"], json!(["misfiled_grading", "timed_out", "executor_error", "no_verdicts"]));
    assert_eq!(run["flags"], json!(["ungraded_assertions", "missing_assertions", "recorded_rate_invalid"]));
    assert_eq!((&run["n_null"], &run["graded_rate"], &run["strict_rate"]), (&json!(2), &Value::Null, &json!(0.0)));
    assert_eq!((&found["lift"], &found["unpaired_evals"]), (&Value::Null, &json!([1])));
    assert_eq!(found["evals"][0]["status"], json!("Incomplete"));
}

#[test]
fn a_zero_is_a_score_and_a_null_is_none() {
    // differences of +0.5 and 0 over two evals: the mean is 0.25
    let workspace = one_eval(&both(true), &grading(&[("a", json!(true)), ("b", json!(false))], json!(0.5)));
    metadata(&workspace, "eval-2", &["a"]);
    let zero = grading(&[("a", json!(false))], json!(0.0));
    workspace.write("iteration-1/eval-2/with_skill/grading.json", &zero);
    workspace.write("iteration-1/eval-2/baseline/grading.json", &zero);
    // and one whose only verdict is no verdict
    metadata(&workspace, "eval-3", &["a"]);
    for arm in ["with_skill", "baseline"] {
        let path = format!("iteration-1/eval-3/{arm}/grading.json");
        workspace.write(&path, grading(&[("a", Value::Null)], Value::Null));
    }
    let found = corrected(&workspace);
    assert_eq!((&found["lift"], &found["paired_evals"]), (&json!(0.25), &json!([1, 2])));
    assert_eq!(found["runs"][4]["reasons"], json!(["no_verdicts"]));
    let statuses: Vec<&Value> = found["evals"].as_array().unwrap().iter().map(|eval| &eval["status"]).collect();
    assert_eq!(statuses, ["Improved", "Still failing", "Incomplete"]);
}

#[test]
fn names_join_verdicts_and_everything_else_is_undecided() {
    let entries = [("a", json!(true)), ("other", json!(false))];
    let workspace = one_eval(&grading(&entries, json!(0.5)), &grading(&[("a", json!("true"))], json!(0)));
    let found = corrected(&workspace);
    let run = &found["runs"][0];
    // b has no entry, and the entry at its place is about something else
    assert_eq!((&run["n_pass"], &run["n_fail"], &run["n_null"]), (&json!(1), &json!(1), &json!(1)));
    let flags = ["missing_timing", "ungraded_assertions", "missing_assertions", "unknown_assertions"];
    assert_eq!(run["flags"], json!(flags));
    assert_eq!(run["undecided"], json!(["b"]));
    // "true" is no verdict
    let run = &found["runs"][1];
    assert_eq!((&run["n_null"], &run["reasons"]), (&json!(2), &json!(["no_verdicts"])));
}

#[test]
fn the_same_eval_or_run_twice_is_refused_where_the_script_takes_both() {
    let workspace = one_eval(&both(true), &both(false));
    for arm in ["with_skill", "baseline"] {
        workspace.write(&format!("iteration-1/eval-01/{arm}/grading.json"), both(true));
    }
    let said = upstream(&workspace);
    let ids: Vec<Value> = said.json()["per_eval"].as_array().unwrap().iter().map(|e| e["eval_id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(1)]);
    let said = workspace.run(&["report", "iteration-1"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
    assert!(said.stderr.contains("eval-01") && said.stderr.contains("eval-1"), "{said:#?}");
    let workspace = one_eval(&both(true), &both(false));
    workspace.write("iteration-1/eval-1/with_skill_3/grading.json", both(true));
    workspace.write("iteration-1/eval-1/with_skill_03/grading.json", both(false));
    let said = workspace.run(&["report", "iteration-1"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("with_skill_3") && said.stderr.contains("with_skill_03"), "{said:#?}");
}

#[test]
fn trials_from_twenty_on_are_left_out_by_the_script_alone() {
    let workspace = one_eval(&both(true), &both(false));
    workspace.write("iteration-1/eval-1/with_skill_20/grading.json", both(false));
    workspace.write("iteration-1/eval-1/with_skill_19/grading.json", both(true));
    let said = upstream(&workspace);
    assert_eq!(said.json()["per_eval"][0]["trials"], json!(2));
    assert_eq!(said.json()["summary"]["with_skill"]["pass_rate"], json!(1.0));
    assert!(said.stderr.contains("with_skill_20"), "{said:#?}");
    let with_skill = corrected(&workspace)["evals"][0]["with_skill"].clone();
    assert_eq!((&with_skill["runs"], &with_skill["verdict"]), (&json!(3), &json!("FAIL")));
    // rates 1, 1 and 0: the sample standard deviation is 1 / sqrt(3), above 0.3
    assert!((with_skill["rate_std"].as_f64().unwrap() - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn numbers_in_names_may_be_of_any_length() {
    let workspace = one_eval(&both(true), &both(false));
    let long = format!("eval-{}", "9".repeat(40));
    workspace.write(&format!("iteration-1/{long}/with_skill/grading.json"), both(true));
    let said = upstream(&workspace);
    assert!(said.stdout.contains(&format!("\"eval_id\": {},", "9".repeat(40))), "{said:#?}");
    assert_eq!(corrected(&workspace)["evals"][1]["eval_id"], json!(long));
}

#[test]
fn links_that_lead_out_are_not_followed() {
    let workspace = one_eval(&both(true), &both(false));
    workspace.write("elsewhere/with_skill/grading.json", both(false));
    workspace.write("elsewhere/baseline/grading.json", both(true));
    let iteration = workspace.path().join("iteration-1");
    symlink(workspace.path().join("elsewhere"), iteration.join("eval-2")).unwrap();
    let said = upstream(&workspace);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
    assert!(said.stderr.contains("eval-2: a link leads out"), "{said:#?}");
    assert_eq!(corrected(&workspace)["evals"].as_array().unwrap().len(), 1);
    fs::remove_file(iteration.join("eval-2")).unwrap();
    // a link to a file, and one to a trial
    let grading = iteration.join("eval-1/with_skill/grading.json");
    fs::remove_file(&grading).unwrap();
    symlink("../../../elsewhere/with_skill/grading.json", &grading).unwrap();
    assert_eq!(upstream(&workspace).code, 1);
    assert_eq!(corrected(&workspace)["runs"][0]["state"], json!("unscored"));
    fs::remove_file(&grading).unwrap();
    symlink("../../elsewhere/with_skill", iteration.join("eval-1/with_skill_0")).unwrap();
    assert_eq!(upstream(&workspace).code, 1);
}

#[test]
fn names_cannot_steer_a_terminal_or_a_table() {
    let evil = "a|b\n# c `d` \u{1b}[2J\u{202e}";
    let workspace = Workspace::new();
    let assertions = json!([{"name": evil, "check": "c", "weight": 1.0}]);
    let text = json!({"eval_name": evil, "prompt": "p", "assertions": assertions});
    workspace.write("iteration-1/eval-1/eval_metadata.json", text.to_string());
    workspace.write("iteration-1/eval-1/with_skill/grading.json", grading(&[(evil, json!(false))], json!(0.0)));
    workspace.write("iteration-1/eval-1/baseline/grading.json", grading(&[(evil, json!(true))], json!(1.0)));
    let said = workspace.run(&["report", "iteration-1", "--skill-name", evil]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(!said.stdout.contains(['\u{1b}', '\u{202e}']), "{said:#?}");
    assert!(!said.stderr.contains(['\u{1b}', '\u{202e}']), "{said:#?}");
    let row = said.stdout.lines().find(|line| line.starts_with("| eval-1 |")).unwrap();
    assert!(row.contains(r"| a\|b\\u{a}# c \`d\` "), "{row}");
    // seven cells: eight bars that are not escaped
    assert_eq!(row.replace(r"\|", "").matches('|').count(), 8, "{row}");
    assert_eq!(said.stdout.lines().filter(|line| line.starts_with("# ")).count(), 1);
    assert!(said.stdout.contains("Regressed"), "{said:#?}");
    // the name comes back from JSON as it is
    assert_eq!(corrected(&workspace)["evals"][0]["eval_name"], json!(evil));
    assert_eq!(upstream(&workspace).json()["per_eval"][0]["eval_name"], json!(evil));
}

#[test]
fn an_iteration_without_runs_is_reported_and_never_green() {
    let workspace = Workspace::new();
    metadata(&workspace, "eval-1", &["a"]);
    let said = workspace.run(&["report", "iteration-1"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.stdout.contains("| eval-1 | - | - | Incomplete | - / - | - / - | eval-1 |"), "{said:#?}");
    assert!(said.stdout.contains("Nothing was graded"), "{said:#?}");
    assert!(said.stdout.contains("| Pass Rate | - | - | - |"), "{said:#?}");
    assert_eq!(said.lines("WARN nothing_graded").len(), 1);
    let gated = ["report", "iteration-1", "--fail-on", "thresholds", "--min-pass-rate", "0"];
    assert_eq!(workspace.run(&gated).code, 1);
    assert_eq!(workspace.run(&[&gated[..], &["--allow-empty"]].concat()).code, 0);
    let found = corrected(&workspace);
    assert_eq!((&found["lift"], &found["runs"]), (&Value::Null, &json!([])));
    // the script takes the directory for an eval without runs
    let summary = upstream(&workspace).json()["summary"].clone();
    assert_eq!((&summary["total_evals"], &summary["improvement_ratio"]), (&json!(1), &json!(1.0)));
    // a folder without evals is no iteration for either
    fs::create_dir_all(workspace.path().join("empty/iteration-9")).unwrap();
    for format in ["markdown", "json", "upstream-json"] {
        let said = workspace.run(&["report", "empty/iteration-9", "--format", format]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
    }
}

#[test]
fn evals_that_ask_or_check_something_else_are_not_compared() {
    let workspace = one_eval(&both(false), &both(false));
    copy_to_iteration_2(&workspace, &["eval-1"]);
    let compare = || {
        let arguments = ["report", "iteration-2", "--previous", "iteration-1", "--format", "json"];
        workspace.run(&arguments).json()["comparison"].clone()
    };
    assert_eq!(compare()["unchanged"], json!([1]));
    workspace.write("iteration-2/eval-1/with_skill/grading.json", both(true));
    assert_eq!(compare()["improvements"], json!([1]));
    let half = grading(&[("a", json!(true)), ("b", json!(false))], json!(0.5));
    workspace.write("iteration-2/eval-1/with_skill/grading.json", half);
    assert_eq!(compare()["gained"], json!([1]));
    // the order of assertions does not matter, their criteria do
    let describe = |prompt: &str, checks: [(&str, &str); 2]| {
        let assertions = checks.map(|(name, check)| json!({"name": name, "check": check}));
        let text = json!({"prompt": prompt, "assertions": assertions});
        workspace.write("iteration-2/eval-1/eval_metadata.json", text.to_string());
    };
    describe("Do it.", [("b", "b?"), ("a", "a?")]);
    assert_eq!(compare()["gained"], json!([1]));
    describe("Do it well.", [("a", "a!"), ("b", "b?")]);
    let found = compare();
    assert_eq!(found["not_comparable"], json!([{"eval_id": 1, "reasons": ["prompt_differs", "assertions_differ"]}]));
    assert_eq!(found["gained"], json!([]));
}

fn copy_to_iteration_2(workspace: &Workspace, evals: &[&str]) {
    for eval in evals {
        for file in ["eval_metadata.json", "with_skill/grading.json", "baseline/grading.json"] {
            let text = fs::read(workspace.path().join(format!("iteration-1/{eval}/{file}"))).unwrap();
            workspace.write(&format!("iteration-2/{eval}/{file}"), text);
        }
    }
}

#[test]
fn an_eval_of_twice_the_mean_is_an_outlier() {
    let workspace = Workspace::new();
    // the mean of 100, 100 and 1,000 is 400; 800 is not above twice that, 1,000 is
    for (eval, tokens) in [("eval-1", 100), ("eval-2", 100), ("eval-3", 1000)] {
        metadata(&workspace, eval, &["a", "b"]);
        workspace.write(&format!("iteration-1/{eval}/with_skill/grading.json"), both(true));
        let timing = json!({"total_tokens": tokens, "duration_ms": 500});
        workspace.write(&format!("iteration-1/{eval}/with_skill/timing.json"), timing.to_string());
    }
    let outliers = json!([{
        "eval_id": 3, "arm": "with_skill", "quantity": "tokens", "value": 1000.0, "mean": 400.0, "verdict": "PASS"
    }]);
    assert_eq!(corrected(&workspace)["patterns"]["outliers"], outliers);
}

#[test]
fn activations_are_counted_where_runs_say_so() {
    let workspace = Workspace::new();
    for (eval, should, name, passed) in [
        ("eval-0", true, "skill-activated", true),
        ("eval-1", true, "skill-activated", false),
        ("eval-100", false, "skill-not-activated", true),
    ] {
        let assertions = json!([{"name": name, "check": "c", "weight": 1.0}]);
        let text = json!({"prompt": "p", "assertions": assertions, "should_trigger": should});
        workspace.write(&format!("iteration-1/{eval}/eval_metadata.json"), text.to_string());
        let text = grading(&[(name, json!(passed))], json!(u8::from(passed)));
        workspace.write(&format!("iteration-1/{eval}/with_skill/grading.json"), text);
    }
    let accuracy = corrected(&workspace)["patterns"]["trigger_accuracy"].clone();
    assert_eq!((&accuracy["true_positive"]["rate"], &accuracy["true_positive"]["runs"]), (&json!(0.5), &json!(2)));
    assert_eq!(accuracy["false_positive"]["rate"], json!(0.0));
    assert_eq!(accuracy["wrong_evals"], json!([1]));
    let said = workspace.run(&["report", "iteration-1"]);
    assert!(said.stdout.contains("- Widen the description of the skill"), "{said:#?}");
}

#[test]
fn the_directory_is_the_id_whatever_its_file_says() {
    let workspace = one_eval(&both(true), &both(false));
    // two files that claim the same id, as a model that copies them leaves them
    for eval in ["eval-1", "eval-2"] {
        let assertions = json!([{"name": "a", "check": "c"}, {"name": "b", "check": "c"}]);
        let text = json!({"eval_id": 1, "prompt": eval, "assertions": assertions});
        workspace.write(&format!("iteration-1/{eval}/eval_metadata.json"), text.to_string());
    }
    let own = json!({"eval_id": 2, "assertions": [{"name": "a", "passed": true}, {"name": "b", "passed": true}]});
    workspace.write("iteration-1/eval-2/with_skill/grading.json", own.to_string());
    let found = corrected(&workspace);
    let ids: Vec<&Value> = found["evals"].as_array().unwrap().iter().map(|eval| &eval["eval_id"]).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(found["runs"][2]["reasons"], json!([]));
}

#[test]
fn unfinished_runs_count_only_on_request() {
    let workspace = one_eval(&both(false), &both(true));
    workspace.write("iteration-1/eval-1/with_skill/timing.json", r#"{"timed_out": true, "total_tokens": 7}"#);
    let said = workspace.run(&["report", "iteration-1", "--count-unfinished", "--format", "json"]);
    let found = said.json();
    assert_eq!((&found["lift"], &found["runs"][0]["counted_despite"]), (&json!(-1.0), &json!(["timed_out"])));
    assert_eq!(corrected(&workspace)["lift"], Value::Null);
    let said = workspace.run(&["report", "iteration-1", "--count-unfinished"]);
    assert!(said.stdout.contains("although they did not finish: eval-1/with_skill (timed out)"), "{said:#?}");
}

#[test]
fn many_findings_of_a_kind_are_counted_not_listed() {
    let names: Vec<String> = (0..30).map(|number| format!("n{number}")).collect();
    let entries: Vec<(&str, Value)> = names.iter().map(|name| (name.as_str(), json!(false))).collect();
    let workspace = Workspace::new();
    metadata(&workspace, "eval-1", &names.iter().map(String::as_str).collect::<Vec<_>>());
    for arm in ["with_skill", "baseline"] {
        workspace.write(&format!("iteration-1/eval-1/{arm}/grading.json"), grading(&entries, json!(0.0)));
    }
    let said = workspace.run(&["report", "iteration-1"]);
    assert_eq!(said.stdout.matches("- Work on what").count(), 20);
    assert!(said.stdout.contains("- and 10 more of this kind"), "{said:#?}");
    let advised = corrected(&workspace)["recommendations"].clone();
    let codes = advised.as_array().unwrap().iter().filter(|advice| advice["code"] == "improve_for_assertion");
    assert_eq!(codes.count(), 30);
}
