//! `--fail-on-regression`: what a build fails on.

use serde_json::{Value, json};

use super::{WITH, WITHOUT, arm, compared, crashed, report};

fn gate(old: Vec<Value>, new: Vec<Value>, flag: &str) -> (i32, Value, Vec<String>) {
    let said = compared(&report("s", old), &report("s", new), &[flag]);
    let lines = said.lines("FAIL").into_iter().map(str::to_owned).collect();
    (said.code, said.json()["regression_gate"].clone(), lines)
}

const ANY: &str = "--fail-on-regression";
const STRICT: &str = "--fail-on-regression=strict";
const ESTABLISHED: &str = "--fail-on-regression=established";

#[test]
fn without_the_flag_a_regression_is_no_failure() {
    let said = compared(&report("s", arm(WITH, &[("a", "++")])), &report("s", arm(WITH, &[("a", "--")])), &[]);
    assert_eq!((said.code, said.json()["regression_gate"].clone()), (0, Value::Null));
}

#[test]
fn a_check_that_passed_and_fails_now_is_a_regression() {
    let (code, gate, lines) = gate(arm(WITH, &[("a", "+-"), ("b", "++")]), arm(WITH, &[("a", "-+"), ("b", "++")]), ANY);
    // the rate of a is the same; the check is not
    assert_eq!(code, 1);
    assert_eq!(
        gate["regressions"],
        json!([{"case_id": "a", "model": null, "why": "broken_checks", "checks": ["check 0"]}])
    );
    assert_eq!(
        lines,
        ["FAIL: regression (any): 1 case with the skill", "FAIL:   a: passed before, fails now: `check 0`"]
    );
}

#[test]
fn better_cases_and_a_worse_baseline_are_none() {
    let rows = |with, without| [arm(WITH, &[("a", with)]), arm(WITHOUT, &[("a", without)])].concat();
    let (code, gate, lines) = gate(rows("+-", "++"), rows("++", "--"), STRICT);
    assert_eq!((code, &gate["fired"], lines.len()), (0, &json!(false), 0), "{gate}");
}

#[test]
fn a_lower_rate_counts_only_on_like_for_like_results_unless_everything_passed() {
    // rates without checks: 3/4 then, 1/2 now
    let rates = |passed: u32, suite: &str| {
        let row = json!({"case_id": "a", "variant": WITH, "run_number": 1, "execution_valid": true, "missing_output": false,
            "objective_passed": passed, "objective_total": 4, "objective_pass_rate": f64::from(passed) / 4.0});
        report(suite, vec![row])
    };
    assert_eq!(compared(&rates(3, "s"), &rates(2, "s"), &[ANY]).code, 1);
    assert_eq!(compared(&rates(3, "s"), &rates(2, "t"), &[ANY]).code, 0);
    assert_eq!(compared(&rates(3, "s"), &rates(2, "t"), &[ANY, "--assume-comparable"]).code, 1);
    assert_eq!(compared(&rates(4, "s"), &rates(2, "t"), &[ANY]).code, 1);
}

#[test]
fn lost_scores_and_gone_cases_fail_only_the_strict_rule() {
    let old = || arm(WITH, &[("a", "++"), ("b", "++"), ("c", "++")]);
    let new = || {
        let mut rows = arm(WITH, &[("a", "++")]);
        rows.push(crashed("b", WITH));
        rows
    };
    assert_eq!(gate(old(), new(), ANY).0, 0);
    let (code, gate, _) = gate(old(), new(), STRICT);
    assert_eq!(code, 1);
    let why: Vec<_> =
        gate["regressions"].as_array().unwrap().iter().map(|found| (&found["case_id"], &found["why"])).collect();
    assert_eq!(why, [(&json!("b"), &json!("lost_score")), (&json!("c"), &json!("gone"))]);
}

#[test]
fn one_case_establishes_nothing_and_the_gate_says_that_it_cannot() {
    let said =
        compared(&report("s", arm(WITH, &[("a", "++")])), &report("s", arm(WITH, &[("a", "--")])), &[ESTABLISHED]);
    assert_eq!(said.code, 0);
    assert_eq!(
        said.lines("WARN"),
        ["WARN too_few_cases: 1 common cases can establish no regression, whatever they show; 6 could"]
    );
}

#[test]
fn nothing_compared_is_never_green() {
    let scored = || arm(WITH, &[("a", "++")]);
    let (code, fired, lines) = gate(scored(), vec![crashed("a", WITH)], ANY);
    assert_eq!((code, &fired["reason"]), (1, &json!("nothing_compared")));
    assert_eq!(lines, ["FAIL: nothing compared (any): no case with the skill has comparable rates in both"]);
    // only the baseline is in both
    let (code, ..) = gate(arm(WITHOUT, &[("a", "++")]), arm(WITHOUT, &[("a", "++")]), ANY);
    assert_eq!(code, 1);
    // a test that was not made establishes nothing
    let said = compared(&report("s", scored()), &report("t", scored()), &[ESTABLISHED]);
    assert_eq!((said.code, &said.json()["regression_gate"]["reason"]), (1, &json!("not_like_for_like")));
}

#[test]
fn the_report_is_written_although_the_gate_fires() {
    let workspace = crate::support::Workspace::new();
    workspace.write("old.json", report("s", arm(WITH, &[("a", "++")])).to_string());
    workspace.write("new.json", report("s", arm(WITH, &[("a", "--")])).to_string());
    let said = workspace.run(&["diff", "old.json", "new.json", ANY, "--out", "diff.md", "--format", "md", "--quiet"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    let text = std::fs::read_to_string(workspace.path().join("diff.md")).unwrap();
    assert!(text.starts_with("# demo: Not proven. Results lean worse than before\n"), "{text}");
}
