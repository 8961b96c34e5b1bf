//! Failures of other tools, as far as they concern reading and comparing two results.

use serde_json::{Value, json};

use super::{WITH, WITHOUT, arm, cell, close, compared, crashed, report};

fn both(with: &[(&str, &str)], without: &[(&str, &str)]) -> Vec<Value> {
    [arm(WITH, with), arm(WITHOUT, without)].concat()
}

#[test]
fn a_change_of_zero_is_a_measurement_and_stays_in_the_mean() {
    let rows = |first| arm(WITH, &[("a", first), ("b", "+++++")]);
    let diff = compared(&report("s", rows("+----")), &report("s", rows("+++--")), &[]).json();
    // +0.4 and 0 over two cases
    close(&diff["arms"][WITH]["change"], 0.2);
    assert_eq!(diff["arms"][WITH]["n_cases"], 2);
}

#[test]
fn a_run_that_is_there_twice_is_an_error_or_the_last_one_counts() {
    let row = |passed: u32| {
        json!({"eval_id": "a", "configuration": WITH, "run_number": 1, "pass_rate": f64::from(passed) / 30.0,
            "passed": passed, "total": 30})
    };
    let (old, new) = (json!({"runs": [row(2)]}), json!({"runs": [row(2), row(4)]}));
    let said = compared(&old, &new, &[]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("/runs/0") && said.stderr.contains("/runs/1"), "{}", said.stderr);
    let diff = compared(&old, &new, &["--on-duplicate", "last"]).json();
    close(&cell(&diff, "a", WITH)["after"], 4.0 / 30.0);
    assert_eq!(cell(&diff, "a", WITH)["rows_after"], 1);
}

#[test]
fn a_mean_that_fell_a_little_is_not_called_significant() {
    let claimed = |rates: [f64; 3]| {
        let runs: Vec<Value> = ["a", "b", "c"]
            .iter()
            .zip(rates)
            .map(|(case, rate)| json!({"eval_id": case, "configuration": WITH, "pass_rate": rate}))
            .collect();
        json!({"runs": runs})
    };
    let (old, new) = (claimed([0.6, 0.6, 0.6]), claimed([0.5, 0.5, 0.6]));
    let diff = compared(&old, &new, &["--assume-comparable"]).json();
    let with = &diff["arms"][WITH];
    // -0.1, -0.1, 0: the mean is -1/15, and two unanimous cases give 2/4
    close(&with["change"], -1.0 / 15.0);
    close(&with["test"]["p_two_sided"], 0.5);
    assert_eq!(with["verdict"]["code"], "too_few_cases");
}

#[test]
fn three_equal_gains_prove_nothing_and_have_no_empty_interval() {
    let rows = |verdicts| arm(WITH, &["a", "b", "c"].map(|case| (case, verdicts)));
    let diff = compared(&report("s", rows("+----")), &report("s", rows("+++--")), &[]).json();
    let with = &diff["arms"][WITH];
    close(&with["change"], 0.4);
    close(&with["test"]["p_two_sided"], 0.25);
    assert_eq!(with["verdict"]["code"], "too_few_cases");
    assert_eq!(with["verdict"]["reasons"][0], "structural");
    assert!(with["interval"]["lower"].as_f64() < with["interval"]["upper"].as_f64());
}

#[test]
fn failures_of_the_baseline_are_no_failures_of_the_skill() {
    let old = both(&[("a", "+"), ("b", "+"), ("c", "+")], &[("a", "+"), ("b", "+"), ("c", "+")]);
    let new = both(&[("a", "+"), ("b", "+"), ("c", "+")], &[("a", "+"), ("b", "-"), ("c", "-")]);
    let said = compared(&report("s", old), &report("s", new), &["--fail-on-regression=strict"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    // three of three and one of three
    close(&said.json()["lift"]["after"]["lift"], 2.0 / 3.0);
}

#[test]
fn every_headline_can_be_recomputed_from_the_rows_below_it() {
    let old = both(&[("a", "+-"), ("b", "++"), ("c", "--")], &[("a", "--"), ("b", "+-"), ("c", "++")]);
    let new = both(&[("a", "++"), ("b", "+-"), ("c", "+-")], &[("a", "+-"), ("b", "--"), ("c", "++")]);
    let diff = compared(&report("s", old), &report("s", new), &[]).json();
    for shift in [&diff["arms"][WITH], &diff["arms"][WITHOUT], &diff["lift"]["common"]] {
        let cases = shift["by_case"].as_array().unwrap();
        let mean = |key: &str| cases.iter().map(|case| case[key].as_f64().unwrap()).sum::<f64>() / cases.len() as f64;
        close(&shift["before"], mean("before"));
        close(&shift["after"], mean("after"));
        close(&shift["change"], mean("after") - mean("before"));
    }
    let cells = diff["cells"].as_array().unwrap();
    let with = cells.iter().filter(|cell| cell["variant"] == WITH);
    let deltas: Vec<f64> = with.map(|cell| cell["delta"].as_f64().unwrap()).collect();
    close(&diff["arms"][WITH]["change"], deltas.iter().sum::<f64>() / deltas.len() as f64);
}

#[test]
fn an_execution_error_is_no_loss_and_disjoint_files_are_not_equal() {
    let old = both(&[("t1", "+"), ("t2", "+")], &[("t1", "+"), ("t2", "+")]);
    let mut new = both(&[("t1", "+"), ("t3", "-")], &[("t1", "+"), ("t2", "+")]);
    new.push(crashed("t2", WITH));
    let diff = compared(&report("s", old.clone()), &report("s", new), &[]).json();
    let t2 = cell(&diff, "t2", WITH);
    assert_eq!((&t2["change"], &t2["after"]), (&json!("became_unscored"), &Value::Null));
    assert_eq!(t2["unscored_reasons_after"], json!(["missing_output", "executor_error"]));
    assert_eq!(cell(&diff, "t3", WITH)["change"], "appeared");
    // t1 alone is compared
    assert_eq!(diff["arms"][WITH]["n_cases"], 1);
    close(&diff["arms"][WITH]["change"], 0.0);
    assert_eq!(diff["lift"]["after"]["cases"], 1);

    let other = both(&[("u1", "+")], &[("u1", "+")]);
    let said = compared(&report("s", old), &report("s", other), &[]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert_eq!(said.lines("FAIL")[0], "FAIL: nothing to compare: no case and arm is in both");
    assert_eq!(said.lines("FAIL")[2], "FAIL: the second has u1 with_skill, u1 without_skill");
}

#[test]
fn token_use_that_is_only_a_sum_takes_part_in_no_comparison() {
    let file = |input: u64| {
        json!({"summary": {"usage": {"input_tokens": input, "output_tokens": 10_612}},
            "runs": [{"eval_id": "a", "configuration": WITH, "pass_rate": 1.0}]})
    };
    let said = compared(&file(969_340), &file(5), &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(said.json()["old"]["notes"], json!(["usage_aggregated"]));
    assert!(!said.stdout.contains("969340"));
}

/// The latest iteration is the one with the highest number, not the last one by letters.
#[test]
fn the_last_two_iterations_are_told_by_number() {
    let workspace = crate::support::Workspace::new();
    for (iteration, passed) in [(2, false), (9, false), (10, true)] {
        let verdict = json!({"expectations": [{"text": "says yes", "passed": passed, "evidence": ""}]});
        workspace.write(&format!("w/iteration-{iteration}/eval-1/with_skill/run-1/grading.json"), verdict.to_string());
    }
    let diff = workspace.run(&["diff", "w"]).json();
    assert_eq!((&diff["old"]["path"], &diff["new"]["path"]), (&json!("w/iteration-9"), &json!("w/iteration-10")));
    assert_eq!(cell(&diff, "eval-1", WITH)["change"], "improved");
}
