//! `gate`: whether a report lets a build pass. Every exit code with figures that are calculated by hand.

mod corpus;
mod limits;
mod odd;
mod pages;
mod self_test;

use serde_json::{Value, json};

use crate::support::{Said, Workspace, cases_of, report_of, report_row, run_in};

fn gate_of(report: &Value, more: &[&str]) -> Said {
    gate_with(report, more, &[])
}

fn gate_with(report: &Value, more: &[&str], environment: &[(&str, &str)]) -> Said {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", report.to_string());
    run_in(workspace.path(), &[&["gate", "benchmark.json"], more].concat(), environment)
}

fn near(value: &Value, expected: f64) {
    let number = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((number - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{number} is not {expected}");
}

/// A report of cases with one run in each arm and these lifts over a baseline of 0, or down to 0 where they are negative.
fn lifts(deltas: &[f64]) -> Value {
    let case = |(at, delta): (usize, &f64)| (format!("c{at}"), vec![delta.max(0.0)], vec![(-delta).max(0.0)]);
    report_of(&deltas.iter().enumerate().map(case).collect::<Vec<_>>())
}

/// What a gate says: exit code, outcome, reasons.
fn said(report: &Value, more: &[&str]) -> (i32, String, Vec<String>) {
    let said = gate_of(report, more);
    let gate = said.json();
    // the log of a build says it in words
    assert_eq!(said.stderr, format!("{}\n", gate["text"].as_str().unwrap()), "{more:?}");
    assert_eq!(gate["exit_code"], said.code);
    assert_eq!(gate["holds"], json!(gate["reasons"] == json!([]) && gate["notes"] != json!(["empty_allowed"])));
    let reasons =
        gate["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap().to_owned()).collect();
    (said.code, gate["outcome"].as_str().unwrap().to_owned(), reasons)
}

fn expect(report: &Value, more: &[&str], code: i32, outcome: &str, reasons: &[&str]) {
    let expected: Vec<String> = reasons.iter().map(|reason| (*reason).to_owned()).collect();
    assert_eq!(said(report, more), (code, outcome.to_owned(), expected), "{more:?}");
}

fn with_cost(mut report: Value, money: Value) -> Value {
    report["provenance"] = json!({"tool_version": "0.1.0"});
    report["inference"] = json!({"cost_per_run": {"money": money}});
    report
}

fn dollars(delta: f64, measured: usize, pairs: usize) -> Value {
    json!({"delta": delta, "currency": "USD", "pairs_measured": measured, "pairs": pairs})
}

/// By hand: all 64 signs, 2 of them as extreme: p = 1/32. With the pads 1 and −1 the sum of the lifts is 6 and that of
/// their squares 8, so that the center is 3/4, the variance (8 − 36/8)/7 = 1/2 and the standard error 1/4. The quantile
/// t(0.975, 5) = 2.570581835636314 is of scipy.
#[test]
fn six_cases_that_all_get_better_pass() {
    let said = gate_of(&lifts(&[1.0; 6]), &["--superior"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let gate = said.json();
    assert_eq!((&gate["condition"], &gate["margin"], &gate["alpha"]), (&json!("superior"), &Value::Null, &json!(0.05)));
    assert_eq!((&gate["outcome"], &gate["holds"], &gate["exit_code"]), (&json!("improved"), &json!(true), &json!(0)));
    assert_eq!((&gate["unit"], &gate["n_units"], &gate["minimum_units"]), (&json!("case"), &json!(6), &json!(6)));
    assert_eq!(
        (&gate["estimate"], &gate["p_two_sided"], &gate["p_floor"]),
        (&json!(1.0), &json!(0.03125), &json!(0.03125))
    );
    near(&gate["interval"]["lower"], 0.75 - 2.570_581_835_636_314 / 4.0);
    assert_eq!((&gate["interval"]["upper"], &gate["interval"]["confidence"]), (&json!(1.0), &json!(0.95)));
    assert_eq!(
        (&gate["interval_t"]["reason"], &gate["interval_sign_flip"]["reason"]),
        (&json!("constant_deltas"), &json!("constant_deltas"))
    );
    assert_eq!(
        (&gate["margin_interval"], &gate["cost"], &gate["self_test"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!((&gate["reasons"], &gate["notes"], &gate["next_step"]), (&json!([]), &json!([]), &json!("")));
    assert_eq!(
        gate["text"],
        "Passed: the skill makes results better, +100.0\u{a0}pp on average over 6 cases (95% interval +10.7 to +100.0\u{a0}pp; \
         p = 0.031)."
    );
    assert_eq!(
        gate["why"][0],
        "If the skill changed nothing, a difference this large would come up in about 31 in 1,000 such evals."
    );
    // 0 of 6: 1 − 0.05^(1/6) is 39 %
    near(&gate["regressed_share_upper"], 1.0 - 0.05_f64.powf(1.0 / 6.0));
}

#[test]
fn a_smaller_error_rate_needs_more_cases() {
    // 2/64 is above 1/32 by nothing: equal is enough, and the error rate is read as a decimal
    expect(&lifts(&[1.0; 6]), &["--superior", "--alpha", "0.03125"], 0, "improved", &[]);
    expect(&lifts(&[1.0; 6]), &["--superior", "--alpha", "0.03124"], 6, "structural", &["structural"]);
    let mut report = lifts(&[1.0; 6]);
    report["provenance"] = json!({"tool_version": "0.1.0"});
    report["inference"] = json!({"alpha": 0.01});
    expect(&report, &["--superior"], 6, "structural", &["structural"]);
    expect(&report, &["--superior", "--alpha", "0.05"], 0, "improved", &[]);
    // an error rate that is none is not used
    report["inference"] = json!({"alpha": 0.9});
    assert_eq!(gate_of(&report, &["--superior"]).json()["alpha"], 0.05);
}

#[test]
fn worse_results_fail_and_the_worst_cases_are_named() {
    let said = gate_of(&lifts(&[-1.0, -0.5, -1.0, -0.25, -0.75, -0.125]), &["--superior"]);
    let gate = said.json();
    assert_eq!((said.code, &gate["outcome"], &gate["reasons"]), (3, &json!("regressed"), &json!(["worse"])));
    assert!(
        gate["text"].as_str().unwrap().starts_with("Failed: the skill makes results worse, \u{2212}60.4\u{a0}pp"),
        "{gate}"
    );
    assert_eq!(
        gate["next_step"],
        "Look first at the cases that lost most: c0 (\u{2212}100\u{a0}pp), c2 (\u{2212}100\u{a0}pp), c4 (\u{2212}75\u{a0}pp)."
    );
}

/// The lifts A, B, C and D: a larger win must never fail what a smaller one passes, and equal wins have no zero-width
/// interval. By hand: p = 2/2^3 for A and B, 2/2^4 for C and D. Student's t: C and D have the means 1.6/7 and 2.2/7; the
/// limits are those of the complaint.
#[test]
fn winning_more_decisively_never_fails_a_gate_that_winning_less_passes() {
    let a = gate_of(&lifts(&[0.4, 0.4, 0.4]), &["--superior"]);
    let b = gate_of(&lifts(&[0.4, 0.4, 1.0]), &["--superior"]);
    for said in [&a, &b] {
        let gate = said.json();
        assert_eq!((said.code, &gate["outcome"], &gate["p_two_sided"]), (6, &json!("structural"), &json!(0.25)));
        assert_eq!((&gate["reasons"], &gate["minimum_units"]), (&json!(["structural"]), &json!(6)));
        assert!(gate["interval"]["lower"].as_f64() < gate["interval"]["upper"].as_f64());
        assert_eq!(
            gate["text"],
            "Failed: 3 cases are too few to decide on: whatever came out, it could be chance; at least 6 are needed."
        );
        assert_eq!(gate["next_step"], "Add at least 3 cases; repetitions of the same cases do not help.");
    }
    let c = gate_of(&lifts(&[0.4, 0.4, 0.4, 0.4, 0.0, 0.0, 0.0]), &["--superior"]);
    let d = gate_of(&lifts(&[1.0, 0.4, 0.4, 0.4, 0.0, 0.0, 0.0]), &["--superior"]);
    for (said, lower, upper) in [(&c, 0.031, 0.426), (&d, -0.021, 0.650)] {
        let gate = said.json();
        assert_eq!((said.code, &gate["outcome"], &gate["p_two_sided"]), (4, &json!("inconclusive"), &json!(0.125)));
        assert_eq!(gate["reasons"], json!(["few_cases_moved"]));
        let limit = |key: &str| (gate["interval_t"][key].as_f64().unwrap() * 1000.0).round() / 1000.0;
        assert_eq!((limit("lower"), limit("upper")), (lower, upper));
    }
    assert_eq!(c.json()["next_step"], "Add cases that fail without the skill: at least 6 must change.");
    // six wins pass, and go on to pass when one of them is larger
    expect(&lifts(&[0.4; 6]), &["--superior"], 0, "improved", &[]);
    expect(&lifts(&[1.0, 0.4, 0.4, 0.4, 0.4, 0.4]), &["--superior"], 0, "improved", &[]);
}

#[test]
fn failures_of_the_baseline_are_no_failures_of_the_suite() {
    let mut cases = cases_of(2, &[1.0], &[0.0], "c");
    cases.extend(cases_of(1, &[1.0], &[1.0], "d"));
    let gate = gate_of(&report_of(&cases), &["--superior"]).json();
    near(&gate["estimate"], 2.0 / 3.0);
    assert_eq!(gate["counts"], json!({"improved": 2, "regressed": 0, "unchanged": 1}));
}

#[test]
fn repetitions_are_no_cases() {
    // 15 runs of 5 cases are 5 units
    let gate = gate_of(&report_of(&cases_of(5, &[1.0, 1.0, 1.0], &[0.0, 0.0, 0.0], "c")), &["--superior"]);
    assert_eq!((gate.code, &gate.json()["n_units"]), (6, &json!(5)));
    // a mean above zero is not enough: .5, .5, .6 against .6 are worse, and could be chance
    let cases = [("a", 0.5), ("b", 0.5), ("c", 0.6)].map(|(case, with)| (case.to_owned(), vec![with], vec![0.6]));
    let gate = gate_of(&report_of(&cases), &["--superior"]).json();
    near(&gate["estimate"], -0.2 / 3.0);
    assert_eq!(gate["outcome"], "structural");
}

/// By hand: 20 lifts of 0 have the pads 1 and −1, the variance 2/21 and the standard error √(2/21/22); with the quantile
/// t(0.95, 19) = 1.729132811521367 of scipy the 90 % interval is ±0.1137685…
#[test]
fn margins_are_compared_with_the_90_percent_interval() {
    let still = lifts(&[0.0; 20]);
    let half = 1.729_132_811_521_367 * (2.0_f64 / 21.0 / 22.0).sqrt();
    let gate = gate_of(&still, &["--non-inferior", "0.114"]).json();
    near(&gate["margin_interval"]["upper"], half);
    near(&gate["margin_interval"]["lower"], -half);
    near(&gate["margin_interval"]["confidence"], 0.9);
    assert_eq!((&gate["margin_interval"]["equivalent"], &gate["margin"]), (&json!(true), &json!(0.114)));
    assert!(gate["text"].as_str().unwrap().contains("90% interval \u{2212}11.4 to +11.4\u{a0}pp; p = 1"), "{gate}");
    expect(&still, &["--non-inferior", "0.114"], 0, "equivalent", &[]);
    expect(&still, &["--equivalent", "0.114"], 0, "equivalent", &[]);
    expect(&still, &["--non-inferior", "0.113"], 4, "inconclusive", &["interval_beyond_margin"]);
    expect(&still, &["--equivalent", "0.113"], 4, "inconclusive", &["interval_beyond_margin"]);
    // with a margin it is known that there is no difference; without one it is not
    expect(&still, &["--superior", "--equivalence-margin", "0.114"], 7, "equivalent", &["no_difference"]);
    expect(&still, &["--superior", "--equivalence-margin", "0.113"], 4, "inconclusive", &["few_cases_moved"]);
    expect(&still, &["--superior"], 4, "inconclusive", &["few_cases_moved"]);
    let mut stated = still.clone();
    stated["provenance"] = json!({"tool_version": "0.1.0"});
    stated["inference"] = json!({"equivalence_margin": 0.2});
    expect(&stated, &["--superior"], 7, "equivalent", &["no_difference"]);
    expect(&stated, &["--superior", "--equivalence-margin", "0.01"], 4, "inconclusive", &["few_cases_moved"]);
    let said = gate_of(&stated, &["--superior"]).json();
    assert!(
        said["text"].as_str().unwrap().starts_with("Failed: the skill makes no difference of 20\u{a0}pp or more"),
        "{said}"
    );
    // five unchanged cases prove nothing
    expect(&lifts(&[0.0; 5]), &["--equivalent", "0.5"], 6, "structural", &["structural"]);
    assert_eq!(
        gate_of(&lifts(&[0.0; 5]), &["--equivalent", "0.5"]).json()["margin_interval"]["reason"],
        "too_few_units"
    );
}

/// By hand: 30 lifts of −0.01 with the pads ±0.01: the center is −0.3/32 = −0.009375, the variance (0.0032 − 0.0028125)/31
/// = 1.25e-5, the standard error 6.25e-4; with t(0.95, 29) = 1.6991270265334972 the lower end is −0.010436954…
#[test]
fn a_loss_below_the_margin_is_told_and_passes() {
    let cases = cases_of(30, &[0.49], &[0.5], "c");
    let report = report_of(&cases);
    let gate = gate_of(&report, &["--non-inferior", "0.02"]).json();
    near(&gate["margin_interval"]["lower"], -0.009_375 - 1.699_127_026_533_497_2 * 6.25e-4);
    assert_eq!(
        (&gate["outcome"], &gate["holds"], &gate["notes"]),
        (&json!("regressed"), &json!(true), &json!(["small_loss"]))
    );
    expect(&report, &["--equivalent", "0.02"], 0, "regressed", &[]);
    expect(&report, &["--non-inferior", "0.0104"], 3, "regressed", &["worse", "interval_beyond_margin"]);
    expect(&report, &["--non-inferior", "0.0105"], 0, "regressed", &[]);
    expect(&report, &["--superior"], 3, "regressed", &["worse"]);
}

#[test]
fn better_than_the_margin_allows_is_not_equivalent() {
    let report = lifts(&[1.0; 8]);
    expect(&report, &["--equivalent", "0.1"], 4, "improved", &["interval_beyond_margin"]);
    expect(&report, &["--non-inferior", "0.1"], 0, "improved", &[]);
    let gate = gate_of(&report, &["--equivalent", "0.1"]).json();
    assert!(gate["text"].as_str().unwrap().contains("results could be better by 10\u{a0}pp or more"), "{gate}");
    assert!(gate["next_step"].as_str().unwrap().contains("more cases will hardly change that"), "{gate}");
}

#[test]
fn a_sure_change_of_unsure_size_is_told() {
    // by hand: seven lifts of 0.1 and one of 1 are all positive, p = 2/256; with the pads ±1 the sum is 1.7, that of the
    // squares 3.07, the center 0.17, the variance (3.07 − 0.289)/9 = 0.309, the standard error √0.0309 = 0.1758, and with
    // t(0.975, 7) = 2.36 the lower end is −0.246
    let said = gate_of(&lifts(&[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0]), &["--superior"]);
    let gate = said.json();
    assert_eq!((said.code, &gate["p_two_sided"], &gate["notes"]), (0, &json!(0.007_812_5), &json!(["size_uncertain"])));
    assert_eq!((gate["interval"]["lower"].as_f64().unwrap() * 1000.0).round(), -246.0);
}

/// By hand: three lifts of 1 − 2/3 and three of 0 − 1/3 add up to exactly 0, so that p is 1. As doubles 1 − 2/3 is larger
/// than 1/3: their sum would be positive, and p below 1.
#[test]
fn decisions_rest_on_exact_fractions() {
    let third = 1.0 / 3.0;
    let case = |at: usize| {
        let (with, without) = if at.is_multiple_of(2) { (1.0, 2.0 * third) } else { (0.0, third) };
        json!({"case_id": format!("c{at}"), "family": null, "estimate_with": with, "estimate_without": without})
    };
    let mut report = report_of(&[]);
    report["provenance"] = json!({"tool_version": "0.1.0"});
    report["inference"] = json!({"by_case": (0..6).map(case).collect::<Vec<_>>()});
    let gate = gate_of(&report, &["--superior"]).json();
    assert_eq!((&gate["n_units"], &gate["estimate"], &gate["p_two_sided"]), (&json!(6), &json!(0.0), &json!(1.0)));
    // the counts of rows are exact, too: 1/3 of the checks in three runs
    let mut rows = Vec::new();
    for at in 0..6 {
        for (variant, passed) in
            [("with_skill", if at % 2 == 0 { 3 } else { 0 }), ("without_skill", if at % 2 == 0 { 2 } else { 1 })]
        {
            let mut row = report_row(&format!("c{at}"), variant, 1, f64::from(passed) / 3.0);
            row["objective_passed"] = json!(passed);
            row["objective_total"] = json!(3);
            rows.push(row);
        }
    }
    report["results"] = json!(rows);
    for inference in [report["inference"].clone(), json!({})] {
        report["inference"] = inference;
        let gate = gate_of(&report, &["--superior"]).json();
        assert_eq!(
            (&gate["estimate"], &gate["p_two_sided"], &gate["method"]),
            (&json!(0.0), &json!(1.0), &json!("exact-counts"))
        );
    }
}

#[test]
fn families_are_the_units_where_a_report_has_them() {
    // by hand: of each of six families one case gains everything and one nothing: six lifts of 1/2
    let case = |at: usize| json!({"case_id": format!("c{at}"), "family": format!("f{}", at / 2), "estimate_with": (at % 2), "estimate_without": 0});
    let mut report = report_of(&[]);
    report["provenance"] = json!({"tool_version": "0.1.0"});
    report["inference"] = json!({"by_case": (0..12).map(case).collect::<Vec<_>>()});
    let gate = gate_of(&report, &["--superior"]).json();
    assert_eq!((&gate["unit"], &gate["n_units"], &gate["estimate"]), (&json!("family"), &json!(6), &json!(0.5)));
    assert_eq!(gate["p_two_sided"], 0.03125);
    assert!(gate["text"].as_str().unwrap().contains("over 6 families"), "{gate}");
}

#[test]
fn what_a_report_leaves_out_of_inference_decides_nothing() {
    // the baseline of one of seven cases had the skill
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let workspace = Workspace::with_cases(&names);
    for name in names {
        workspace.write(&format!("runs/{name}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{name}/without_skill/output.md"), "no");
    }
    let path = "skills/demo/SKILL.md";
    let event =
        json!({"type": "file_read", "name": "Read", "status": "completed", "input_summary": path, "path": path});
    workspace.write("runs/a/without_skill/events.json", json!({"events": [event]}).to_string());
    let report = workspace.on_runs("benchmark", &["--quiet", "--format", "json"]);
    workspace.write("benchmark.json", &report.stdout);
    let said = workspace.run(&["gate", "benchmark.json", "--superior"]);
    assert_eq!((said.code, &said.json()["n_units"], &said.json()["unpaired_cases"]), (0, &json!(6), &json!(1)));
}
