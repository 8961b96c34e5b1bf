//! Iterations of the forge pipeline: every figure of the conformance workspaces, in both readings.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Said, Workspace, conformance, copy_folder, repository, run_in};

const CSV: &str = "csv-insights";
const MINUTES: &str = "meeting-minutes";

/// A copy of a conformance workspace under its own name.
pub fn sample(name: &str) -> Workspace {
    let workspace = Workspace::new();
    let source = repository("tests/conformance/workspaces/skill-forge").join(name);
    copy_folder(&source, &workspace.path().join(name));
    workspace
}

fn expected(name: &str) -> Value {
    conformance(&format!("workspaces/skill-forge/{name}/expected.json"))
}

pub fn report(workspace: &Workspace, arguments: &[&str]) -> Said {
    workspace.run(&[&["report"], arguments].concat())
}

/// Every member of `expected` in `actual`, numbers within the tolerance of the expected files.
fn assert_holds(actual: &Value, expected: &Value, at: &str) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (key, value) in expected {
                let actual = actual.get(key).unwrap_or_else(|| panic!("{at}: no {key}"));
                assert_holds(actual, value, &format!("{at}.{key}"));
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len(), "{at}: {actual:#?}");
            for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                assert_holds(actual, expected, &format!("{at}[{index}]"));
            }
        }
        (Value::Number(actual), Value::Number(expected)) => {
            let (actual, expected) = (actual.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((actual - expected).abs() <= 1e-6, "{at}: {actual} instead of {expected}");
        }
        _ => assert_eq!(actual, expected, "{at}"),
    }
}

#[test]
fn every_expected_value_of_both_readings() {
    let mut values = 0;
    for name in [CSV, MINUTES] {
        let workspace = sample(name);
        for (iteration, expected) in expected(name)["iterations"].as_object().unwrap() {
            let folder = format!("{name}/{iteration}");
            let said = report(&workspace, &[&folder, "--format", "upstream-json"]);
            if expected["upstream"]["crash"] == json!(true) {
                assert_eq!(json!(said.code), expected["upstream"]["exit"], "{said:#?}");
                assert_eq!(said.stdout, "");
            } else {
                assert_eq!(said.code, 0, "{said:#?}");
                assert_holds(&said.json(), &expected["upstream"], &folder);
            }
            let said = report(&workspace, &[&folder, "--format", "json"]);
            assert_eq!(said.code, 0, "{said:#?}");
            assert_holds(&said.json(), &expected["skill_lift"], &folder);
            values += 1;
        }
    }
    assert_eq!(values, 3);
}

#[test]
fn the_change_between_iterations_in_both_readings() {
    let workspace = sample(CSV);
    let expected = expected(CSV)["iteration_2_vs_1"].clone();
    let (current, previous) = ("csv-insights/iteration-2", "csv-insights/iteration-1");
    for named in [previous, "auto"] {
        let corrected = report(&workspace, &[current, "--previous", named, "--format", "json"]).json();
        let comparison = &corrected["comparison"];
        for list in ["regressions", "improvements", "undecided", "degraded", "gained"] {
            assert_eq!(comparison[list], expected[list], "{list}");
        }
        assert_eq!(comparison["previous_iteration"], json!(1));
        for list in ["not_comparable", "unverified", "without_scored_run", "added", "removed", "unchanged"] {
            assert_eq!(comparison[list], json!([]), "{list}");
        }
        let upstream = report(&workspace, &[current, "--previous", named, "--format", "upstream-json"]).json();
        assert_holds(&upstream["comparison"], &expected["upstream_comparison"], "comparison");
    }
    // the file that the earlier aggregate was written to says the same
    let aggregate = report(&workspace, &[previous, "--format", "upstream-json", "--quiet"]).stdout;
    workspace.write("csv-insights/iteration-1/benchmark.json", aggregate);
    let said = report(&workspace, &[current, "--previous", previous, "--format", "upstream-json"]);
    assert_holds(&said.json()["comparison"], &expected["upstream_comparison"], "comparison");
    assert_eq!(said.stderr, "");
}

#[test]
fn the_aggregate_has_the_bytes_of_the_script() {
    let workspace = sample(CSV);
    let arguments = ["csv-insights/iteration-1", "--format", "upstream-json", "--skill-name", "caf\u{e9}"];
    let said = report(&workspace, &[&arguments[..], &["--generated-at", "1772798400"]].concat());
    let expected = "{\n  \"skill_name\": \"caf\\u00e9\",\n  \"iteration\": 1,\n  \
                    \"timestamp\": \"2026-03-06T12:00:00.000000+00:00\",\n  \"summary\": {\n    \"total_evals\": 4,\n    \
                    \"with_skill\": {\n      \"pass_rate\": 0.7917,\n      \"pass_rate_std\": 0.25,\n      \
                    \"avg_tokens\": 13200.0,\n      \"avg_duration_seconds\": 17.825\n    },\n";
    assert!(said.stdout.starts_with(expected), "{}", said.stdout);
    assert!(said.stdout.ends_with("\n  ]\n}"), "no line break at the end: {:?}", said.stdout);
    // string order, and the keys of a row in the script's order
    let order: Vec<&str> = said.stdout.lines().filter(|line| line.contains("\"eval_id\"")).collect();
    assert_eq!(order, [0, 1, 10, 2].map(|id| format!("      \"eval_id\": {id},")));
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let keys: Vec<&String> = document["per_eval"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["eval_id", "eval_name", "trials", "with_skill", "baseline"]);
    // the environment names a moment too, and without one there is none
    let epoch = |value: &str| {
        run_in(workspace.path(), &[&["report"], &arguments[..]].concat(), &[("SOURCE_DATE_EPOCH", value)])
    };
    assert_eq!(epoch("0").json()["timestamp"], json!("1970-01-01T00:00:00.000000+00:00"));
    assert_eq!(report(&workspace, &arguments).json()["timestamp"], Value::Null);
    assert_eq!((epoch("soon").code, epoch("99999999999999").code), (1, 1));
}

#[test]
fn the_report_for_people() {
    let workspace = sample(CSV);
    let before = fs::read_dir(workspace.path().join("csv-insights/iteration-2")).unwrap().count();
    let config = json!({
        "skill_name": "csv-insights", "trials_per_eval": 3, "baseline_type": "no_skill",
        "thresholds": {"min_pass_rate": 0.8, "max_avg_tokens": 100_000, "min_improvement_ratio": 1.0},
    });
    workspace.write("config.json", config.to_string());
    let arguments = ["csv-insights/iteration-2", "--previous", "auto", "--thresholds", "config.json"];
    let said = report(&workspace, &arguments);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:#?}");
    insta::assert_snapshot!("csv_iteration_2", said.stdout);
    assert_eq!(report(&workspace, &arguments).stdout, said.stdout);
    // nothing is written into the iteration unless a file is named
    assert_eq!(fs::read_dir(workspace.path().join("csv-insights/iteration-2")).unwrap().count(), before);
    let written = report(&workspace, &[&arguments[..], &["--output", "report.md"]].concat());
    assert_eq!(written.stdout, said.stdout);
    assert_eq!(fs::read_to_string(workspace.path().join("report.md")).unwrap(), said.stdout);
}

#[test]
fn the_report_for_people_without_a_baseline() {
    let workspace = sample(MINUTES);
    let said = report(&workspace, &["meeting-minutes/iteration-1"]);
    assert_eq!(said.code, 0, "{said:#?}");
    insta::assert_snapshot!("minutes_iteration_1", said.stdout);
    assert_eq!(said.lines("WARN").len(), 1, "{said:#?}");
    let found = report(&workspace, &["meeting-minutes/iteration-1", "--format", "json"]).json();
    assert_eq!(found["improvement_ratio"], json!({"value": null, "reason": "no_baseline"}));
    assert_eq!(found["inference"]["overall"]["verdict"]["code"], json!("nothing_paired"));
    assert_eq!(found["patterns"]["trigger_accuracy"]["reason"], json!("activation_not_recorded"));
    assert_eq!(found["evals"][0]["baseline"]["reasons"], json!({"missing_run": 1}));
    assert_eq!(found["evals"][2]["with_skill"]["reasons"], json!({"unreadable_grading": 1}));
}

#[test]
fn patterns_and_inference_are_figures_too() {
    let workspace = sample(CSV);
    let found = report(&workspace, &["csv-insights/iteration-2", "--format", "json"]).json();
    let patterns = &found["patterns"];
    // rates 0.5 and 1.0: the sample standard deviation is 0.5 / sqrt(2)
    assert_holds(
        &patterns["flaky"],
        &json!([{"eval_id": 0, "arm": "baseline", "rate_std": 0.353_553_391, "trials": 2}]),
        "flaky",
    );
    assert_eq!(
        patterns["failure_clusters"][0],
        json!({
            "assertion": "skill-not-activated",
            "with_skill": {"failed": 1, "decided": 1, "evals": [2]},
            "baseline": {"failed": 0, "decided": 0, "evals": []},
        })
    );
    let trigger = &patterns["trigger_accuracy"];
    assert_eq!(trigger["wrong_evals"], json!([2]));
    assert_eq!(trigger["true_positive"]["rate"], Value::Null);
    // Clopper and Pearson for 1 of 1: (0.025)^(1/1) to 1
    assert_holds(
        &trigger["false_positive"],
        &json!({"activated": 1, "runs": 1, "rate": 1.0, "lower": 0.025, "upper": 1.0}),
        "false_positive",
    );
    let overall = &found["inference"]["overall"];
    // three differences of one sign: two of eight sign patterns are as far from 0
    assert_holds(&overall["case_test"], &json!({"n": 3, "nonzero": 3, "p_two_sided": 0.25}), "case_test");
    // 25/100, 2/3 and 50/100
    assert_holds(overall, &json!({"estimate": (0.25 + 2.0 / 3.0 + 0.5) / 3.0, "n_units": 3}), "overall");
    assert_eq!(overall["verdict"]["code"], json!("too_few_cases"));
    // tokens of the paired evals that have them in both arms: 14,900 and 16,000 against 10,000 and 10,300
    assert_holds(
        &found["averages"]["tokens"]["paired"],
        &json!({"evals": 2, "with_skill": 15_450.0, "baseline": 10_150.0, "delta": 5_300.0}),
        "tokens",
    );
    assert_holds(
        &found["improvement_ratio"],
        &json!({"value": 1.0 / ((0.75 + 1.0 / 3.0 + 0.5) / 3.0), "reason": null}),
        "ratio",
    );
    let codes: Vec<&str> =
        found["recommendations"].as_array().unwrap().iter().map(|advice| advice["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["narrow_description", "sharpen_assertion", "run_again", "repeat_flaky", "more_evals"]);
}

#[test]
fn thresholds_are_met_by_equality_and_decide_the_exit_code_on_request() {
    let workspace = sample(CSV);
    let with = |more: &[&str]| report(&workspace, &[&["csv-insights/iteration-2", "--format", "json"], more].concat());
    // the pass rate over all scored evals is exactly 0.75, the tokens are (14,900 + 17,900 + 7,600 + 16,000) / 4
    let met = ["--min-pass-rate", "0.75", "--max-avg-tokens", "14100", "--fail-on", "thresholds"];
    let said = with(&met);
    assert_eq!(said.code, 0, "{said:#?}");
    assert_eq!(said.json()["thresholds"]["verdict"], json!("PASS"));
    let missed = ["--min-pass-rate", "0.7500001", "--max-avg-duration-seconds", "18"];
    let said = with(&missed);
    assert_eq!(said.code, 0, "{said:#?}");
    let thresholds = said.json()["thresholds"].clone();
    assert_eq!(thresholds["verdict"], json!("FAIL"));
    assert_eq!(thresholds["thresholds_met"], json!({"min_pass_rate": false, "max_avg_duration_seconds": false}));
    assert_eq!(thresholds["results"][0]["responsible_evals"], json!([2]));
    assert_eq!(thresholds["results"][1]["responsible_evals"], json!([0, 1, 10]));
    let said = with(&[&missed[..], &["--fail-on", "thresholds"]].concat());
    assert_eq!((said.code, said.stderr.as_str()), (1, "FAIL: a threshold is not met\n"));
    // a threshold that cannot be decided is not green
    let minutes = sample(MINUTES);
    let arguments = ["meeting-minutes/iteration-1", "--min-improvement-ratio", "1", "--fail-on", "thresholds"];
    let said = report(&minutes, &[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(said.code, 1);
    assert_eq!(said.json()["thresholds"]["results"][0]["reason"], json!("no_baseline"));
    assert_eq!(said.json()["thresholds"]["verdict"], json!("UNDECIDED"));
    assert_eq!(with(&["--fail-on", "thresholds"]).code, 1, "no threshold is given");
    assert_eq!(with(&["--fail-on", "incomplete"]).code, 1);
    assert_eq!(with(&["--fail-on", "regressions"]).code, 2);
    assert_eq!(with(&["--fail-on", "regressions", "--previous", "auto"]).code, 1);
}

#[test]
fn an_earlier_iteration_that_cannot_be_read_is_an_error() {
    let workspace = sample(CSV);
    for format in ["json", "markdown", "upstream-json"] {
        let said = report(&workspace, &["csv-insights/iteration-2", "--previous", "gone", "--format", format]);
        assert_eq!(said.code, 1, "{format}: {said:#?}");
        assert!(said.stderr.contains("gone"), "{said:#?}");
        assert_eq!(said.stdout, "");
    }
    workspace.write("csv-insights/iteration-1/benchmark.json", "{\"summary\": ");
    let arguments = ["csv-insights/iteration-2", "--previous", "auto", "--format", "upstream-json"];
    let said = report(&workspace, &arguments);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
    // the number before 1 is looked for, and its absence is said
    let said = report(&workspace, &["csv-insights/iteration-1", "--previous", "auto", "--format", "json"]);
    assert_eq!(said.json()["comparison"], Value::Null);
    assert_eq!(said.lines("WARN previous_missing").len(), 1);
}

#[test]
fn another_tools_iteration_is_named() {
    let workspace = Workspace::new();
    let grading = json!({"expectations": [{"text": "t", "passed": true, "evidence": ""}]}).to_string();
    workspace.write("it/eval-1/with_skill/run-1/grading.json", &grading);
    workspace.write("it/eval-1/without_skill/run-1/grading.json", &grading);
    let said = report(&workspace, &["it"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("skill-lift benchmark"), "{said:#?}");
    let forced = report(&workspace, &["it", "--dialect", "skill-forge", "--format", "json"]);
    assert_eq!(forced.json()["evals"][0]["status"], json!("Maintained"), "{forced:#?}");
    // the same with a baseline of that name and repetitions in folders of their own
    workspace.write("other/eval-1/baseline/run-1/grading.json", &grading);
    workspace.write("other/eval-1/baseline/run-2/grading.json", &grading);
    workspace.write("other/eval-1/with_skill/run-1/grading.json", &grading);
    assert_eq!(report(&workspace, &["other"]).code, 1);
    let forced = report(&workspace, &["other", "--dialect", "skill-forge", "--format", "json"]).json();
    let trials: Vec<&Value> = forced["runs"].as_array().unwrap().iter().map(|run| &run["trial"]).collect();
    assert_eq!(trials, [1, 1, 2]);
    // flags of the forge pipeline mean nothing elsewhere
    workspace.write("plan/iteration_manifest.json", "{}");
    assert_eq!(report(&workspace, &["plan", "--previous", "auto"]).code, 2);
}
