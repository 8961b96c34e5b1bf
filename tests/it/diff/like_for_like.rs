//! When a change is tested, and what forbids it.

use serde_json::{Value, json};

use super::{WITH, WITHOUT, arm, cell, close, compared, report};

fn rows(verdicts: &str) -> Vec<Value> {
    let cases = ["a", "b", "c", "d", "e", "f", "g"];
    let mut rows = arm(WITH, &cases.map(|case| (case, verdicts)));
    rows.extend(arm(WITHOUT, &cases.map(|case| (case, "--"))));
    rows
}

fn codes(diff: &Value) -> Vec<&str> {
    let reasons = diff["like_for_like"]["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| reason["code"].as_str().unwrap()).collect()
}

#[test]
fn another_suite_withholds_every_test() {
    let diff = compared(&report("sha256:1", rows("++")), &report("sha256:2", rows("+-")), &[]).json();
    assert_eq!(diff["like_for_like"]["status"], "no");
    assert_eq!(codes(&diff), ["suite_sha256"]);
    assert_eq!(diff["verdict"]["text"], "Not like-for-like.");
    for shift in [&diff["arms"][WITH], &diff["lift"]["common"]] {
        assert_eq!((&shift["test"], &shift["interval"], &shift["verdict"]), (&Value::Null, &Value::Null, &Value::Null));
        assert_eq!(shift["test_reason"], "not_like_for_like");
        // the figures stand there all the same
        close(&shift["change"], -0.5);
    }
}

#[test]
fn the_user_may_insist_and_the_output_says_so() {
    let (old, new) = (report("sha256:1", rows("++")), report("sha256:2", rows("+-")));
    let said = compared(&old, &new, &["--assume-comparable"]);
    let diff = said.json();
    assert_eq!(diff["like_for_like"]["status"], "assumed");
    assert_eq!(codes(&diff), ["suite_sha256"]);
    // seven cases fell: 2/128
    close(&diff["arms"][WITH]["test"]["p_two_sided"], 2.0 / 128.0);
    let table = compared(&old, &new, &["--assume-comparable", "--format", "table"]);
    assert!(table.stdout.contains("Tested all the same: --assume-comparable."), "{}", table.stdout);
}

#[test]
fn the_same_suite_is_like_for_like() {
    let diff = compared(&report("sha256:1", rows("++")), &report("sha256:1", rows("++")), &[]).json();
    assert_eq!(diff["like_for_like"]["status"], "yes");
    assert_eq!(diff["like_for_like"]["basis"], "same_suite");
}

#[test]
fn other_models_effort_or_grading_options_are_not_like_for_like() {
    let of = |edit: fn(&mut Value)| {
        let mut new = report("s", rows("++"));
        edit(&mut new);
        compared(&report("s", rows("++")), &new, &[]).json()
    };
    let models = of(|new| new["results"].as_array_mut().unwrap().iter_mut().for_each(|row| row["model"] = json!("m2")));
    assert_eq!(codes(&models), ["models"]);
    let effort = of(|new| {
        new["results"].as_array_mut().unwrap().iter_mut().for_each(|row| row["metadata"] = json!({"effort": "high"}));
    });
    assert_eq!(codes(&effort), ["effort"]);
    // as newer runners write it
    let asked = of(|new| {
        let asked = json!({"effort": {"requested": "high", "applied_by": "claude --effort"}});
        new["results"].as_array_mut().unwrap().iter_mut().for_each(|row| row["metadata"] = asked.clone());
    });
    assert_eq!(codes(&asked), ["effort"]);
    let strict = of(|new| new["provenance"]["options"] = json!({"strict": true}));
    assert_eq!(codes(&strict), ["option"]);
    assert_eq!(
        strict["like_for_like"]["reasons"][0],
        json!({"code": "option", "option": "strict", "before": null, "after": "true"})
    );
    let rule = of(|new| new["provenance"]["dialect"] = json!("skill-eval"));
    assert_eq!(codes(&rule), ["rate_rule"]);
}

#[test]
fn options_that_change_no_grade_do_not_matter() {
    let mut new = report("s", rows("++"));
    new["provenance"]["options"] =
        json!({"alpha": "0.01", "min-lift": "0.2", "max-evidence-chars": 100, "variant": ["with_skill"]});
    new["provenance"]["tool_version"] = json!("9.9.9");
    new["provenance"]["runs_sha256"] = json!("sha256:abc");
    let diff = compared(&report("s", rows("++")), &new, &[]).json();
    assert_eq!(diff["like_for_like"]["status"], "yes", "{}", diff["like_for_like"]);
    let others = diff["like_for_like"]["other_differences"].as_array().unwrap();
    assert_eq!(others.iter().map(|other| other["key"].as_str().unwrap()).collect::<Vec<_>>(), ["tool_version"]);
}

/// A result file of the skill creator; its checks stand there in full, or only their numbers do.
fn claimed(rates: &[(&str, &[(&str, bool)])]) -> Value {
    let runs: Vec<Value> = rates
        .iter()
        .map(|(case, checks)| {
            let entries: Vec<Value> =
                checks.iter().map(|(text, passed)| json!({"text": text, "passed": passed})).collect();
            let passed = checks.iter().filter(|(_, passed)| *passed).count();
            let result =
                json!({"pass_rate": passed as f64 / checks.len() as f64, "passed": passed, "total": checks.len()});
            json!({"eval_id": case, "configuration": WITH, "run_number": 1, "result": result, "expectations": entries})
        })
        .collect();
    json!({"runs": runs})
}

#[test]
fn files_without_digests_are_compared_by_their_checks() {
    let old = claimed(&[("1", &[("a", true), ("b", true)]), ("2", &[("a", true), ("c", true)])]);
    let new = claimed(&[("1", &[("a", true), ("b", false)]), ("2", &[("a", true), ("d", true)])]);
    let diff = compared(&old, &new, &[]).json();
    assert_eq!(
        (&diff["like_for_like"]["status"], &diff["like_for_like"]["basis"]),
        (&json!("yes"), &json!("same_checks"))
    );
    // case 2 has another check than before: it is listed and in no mean
    assert_eq!(cell(&diff, "2", WITH)["change"], "other_checks");
    assert_eq!(cell(&diff, "2", WITH)["delta"], Value::Null);
    assert_eq!(diff["like_for_like"]["changed_cases"], json!([{"case_id": "2", "reason": "other_checks"}]));
    let with = &diff["arms"][WITH];
    assert_eq!(with["n_cases"], 1);
    close(&with["change"], -0.5);
}

#[test]
fn rates_alone_do_not_say_what_was_checked() {
    let file = |rate: f64| {
        let runs: Vec<Value> =
            ["1", "2"].map(|case| json!({"eval_id": case, "configuration": WITH, "pass_rate": rate})).into();
        json!({"runs": runs})
    };
    let diff = compared(&file(1.0), &file(0.5), &[]).json();
    assert_eq!(codes(&diff), ["checks_unknown"]);
    assert_eq!(diff["arms"][WITH]["test"], Value::Null);
    close(&diff["arms"][WITH]["change"], -0.5);
}

#[test]
fn rates_that_differ_by_rounding_alone_are_the_same() {
    // 0.67 was written for 2 of 3
    let file = |row: Value| json!({"runs": [row]});
    let rounded = file(json!({"eval_id": "1", "configuration": WITH, "pass_rate": 0.67}));
    let counted = file(json!({"eval_id": "1", "configuration": WITH, "pass_rate": 0.6667, "passed": 2, "total": 3}));
    let diff = compared(&rounded, &counted, &["--assume-comparable"]).json();
    assert_eq!(cell(&diff, "1", WITH)["change"], "same");
    close(&diff["arms"][WITH]["change"], 0.0);
    assert_eq!(diff["arms"][WITH]["test"]["nonzero"], 0);
}

/// A suite that is not stated is not the same suite: reports of workspaces have none.
#[test]
fn two_reports_without_a_suite_are_not_of_the_same_suite() {
    let of = |passed: &str| {
        let mut report = report("s", rows(passed));
        report["provenance"]["suite_sha256"] = Value::Null;
        for row in report["results"].as_array_mut().unwrap() {
            row["assertions"] = json!([{"name": "a0", "passed": true}, {"name": "a1", "passed": true}]);
        }
        report
    };
    let diff = compared(&of("++"), &of("+-"), &[]).json();
    assert_eq!((&diff["like_for_like"]["status"], codes(&diff)), (&json!("no"), vec!["checks_unknown"]));
    assert_eq!(diff["old"]["conditions"]["suite_sha256"], Value::Null);
}
