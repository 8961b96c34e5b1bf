//! `gate`: whether a report lets a build pass. Every exit code with figures that are calculated by hand.

use std::fs;
use std::path::Path;

use insta::{assert_snapshot, with_settings};
use serde_json::{Value, json};

use crate::support::{Said, Workspace, cases_of, report_of, report_row, repository, run_in};

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
    assert_eq!(said.stderr, "", "{more:?}");
    let gate = said.json();
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

#[test]
fn nothing_graded_is_never_green_unless_it_is_allowed() {
    let empty = report_of(&[]);
    expect(&empty, &["--superior"], 1, "blocked", &["nothing_graded", "nothing_paired"]);
    let mut crashed = report_of(&cases_of(6, &[1.0], &[0.0], "c"));
    for row in crashed["results"].as_array_mut().unwrap() {
        row["execution_valid"] = json!(false);
    }
    expect(&crashed, &["--non-inferior", "0.1"], 1, "blocked", &["nothing_graded", "nothing_paired"]);
    for report in [&empty, &crashed] {
        let said = gate_of(report, &["--superior", "--allow-empty"]);
        let gate = said.json();
        assert_eq!((said.code, &gate["holds"], &gate["notes"]), (0, &json!(false), &json!(["empty_allowed"])));
        assert_eq!((&gate["estimate"], &gate["p_two_sided"]), (&Value::Null, &Value::Null));
        assert_eq!(gate["interval"]["reason"], "no_eligible_pairs");
    }
    // evidence that is missing is told after it
    expect(
        &empty,
        &["--superior", "--evidence", "strict"],
        1,
        "blocked",
        &["nothing_graded", "nothing_paired", "availability_unstated"],
    );
}

#[test]
fn without_a_pair_there_is_nothing_to_decide_on() {
    // one arm alone, and two arms over different cases: graded, but not compared; being empty is not the excuse
    let one_arm = report_of(&cases_of(8, &[1.0], &[], "c"));
    let disjoint = report_of(&[cases_of(4, &[1.0], &[], "a"), cases_of(4, &[], &[0.0], "b")].concat());
    for report in [one_arm, disjoint] {
        expect(&report, &["--superior"], 5, "blocked", &["nothing_paired"]);
        expect(&report, &["--equivalent", "0.1", "--allow-empty"], 5, "blocked", &["nothing_paired"]);
    }
}

#[test]
fn a_broken_run_is_no_loss() {
    // t1 in both arms, t2 broken with the skill, t3 without a partner: no lift over the one pair there is
    let mut rows = vec![report_row("t1", "without_skill", 1, 1.0), report_row("t2", "without_skill", 1, 1.0)];
    rows.extend([("t1", 1.0), ("t2", 0.0), ("t3", 0.0)].map(|(case, rate)| report_row(case, "with_skill", 1, rate)));
    rows[3]["execution_valid"] = json!(false);
    let mut report = report_of(&[]);
    report["results"] = json!(rows);
    let gate = gate_of(&report, &["--superior"]).json();
    assert_eq!((&gate["n_units"], &gate["estimate"], &gate["unpaired_cases"]), (&json!(1), &json!(0.0), &json!(2)));
    assert_eq!((&gate["outcome"], &gate["interval"]["reason"]), (&json!("structural"), &json!("too_few_units")));
    // the same run twice is no input
    report["results"].as_array_mut().unwrap().push(report_row("t1", "with_skill", 1, 0.0));
    let said = gate_of(&report, &["--superior"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.starts_with("FAIL: benchmark.json: duplicate run: case t1"), "{}", said.stderr);
}

#[test]
fn strict_evidence_decides_nothing_on_a_partial_report() {
    let mut report = lifts(&[1.0; 6]);
    let strict = &["--superior", "--evidence", "strict"][..];
    expect(&report, strict, 5, "improved", &["availability_unstated"]);
    report["availability"] = json!("complete");
    expect(&report, strict, 0, "improved", &[]);
    report["availability"] = json!("partial");
    report["incomplete_reasons"] = json!(["incomplete_pairing", "deferred_judgements", 7, "odd \u{1b}[31m"]);
    expect(&report, &["--superior"], 0, "improved", &[]);
    expect(&report, strict, 5, "improved", &["evidence_incomplete"]);
    let gate = gate_of(&report, strict).json();
    assert_eq!(gate["missing_evidence"], json!(["incomplete_pairing", "deferred_judgements", "odd \u{1b}[31m"]));
    assert_eq!(
        gate["text"],
        "Failed: evidence is missing (some pairs of runs do not count: incomplete_pairing, some judgements were not \
         supplied: deferred_judgements, odd \\u{1b}[31m)."
    );
    let demo = demo();
    let said = demo.run(&["gate", "benchmark.json", "--superior", "--evidence", "strict"]);
    let report: Value = serde_json::from_str(&fs::read_to_string(demo.path().join("benchmark.json")).unwrap()).unwrap();
    assert_eq!((said.code, &said.json()["missing_evidence"]), (5, &report["incomplete_reasons"]));
}

#[test]
fn the_cost_is_what_a_run_with_the_skill_costs_more() {
    let passes =
        |money: Value, limit: &str| said(&with_cost(lifts(&[1.0; 6]), money), &["--superior", "--max-cost-usd", limit]);
    let good = |result: (i32, String, Vec<String>)| assert_eq!((result.0, result.2.len()), (0, 0));
    let bad = |result: (i32, String, Vec<String>), reason: &str| {
        assert_eq!((result.0, result.2), (8, vec![reason.to_owned()]))
    };
    // the limit itself is within it, in decimals
    good(passes(dollars(0.1, 6, 6), "0.1"));
    good(passes(dollars(0.3, 6, 6), "0.30"));
    bad(passes(dollars(0.1, 6, 6), "0.0999999999"), "cost_above_limit");
    good(passes(dollars(0.0, 6, 6), "0"));
    good(passes(dollars(-0.5, 6, 6), "0"));
    // what was not measured is not 0
    bad(passes(dollars(0.01, 41, 60), "1"), "cost_partly_measured");
    bad(
        passes(json!({"delta": null, "pairs_measured": 0, "pairs": 6, "reason": "missing_left"}), "1"),
        "cost_not_measured",
    );
    bad(passes(dollars(0.01, 0, 0), "1"), "cost_not_measured");
    bad(passes(json!({"delta": 0.01, "currency": "EUR", "pairs_measured": 6, "pairs": 6}), "1"), "cost_not_in_dollars");
    bad(said(&lifts(&[1.0; 6]), &["--superior", "--max-cost-usd", "1"]), "cost_not_measured");
    let gate =
        gate_of(&with_cost(lifts(&[1.0; 6]), dollars(0.02, 6, 6)), &["--superior", "--max-cost-usd", "0.005"]).json();
    assert_eq!(
        gate["cost"],
        json!({"limit_usd": 0.005, "extra_usd": 0.02, "basis": "pairs", "measured": 6, "of": 6, "within_limit": false})
    );
    assert_eq!(
        gate["text"],
        "Failed: a run with the skill costs $0.02 more than one without it, above the limit of $0.005."
    );
    assert_eq!(gate["outcome"], "improved");
    // two amounts that look alike are told apart
    let close = gate_of(
        &with_cost(lifts(&[1.0; 6]), dollars(0.010_000_000_1, 6, 6)),
        &["--superior", "--max-cost-usd", "0.01"],
    );
    assert!(
        close.stdout.contains("costs $0.0100000001 more than one without it, above the limit of $0.01."),
        "{}",
        close.stdout
    );
    // without a limit the cost is nobody's business
    expect(&with_cost(lifts(&[1.0; 6]), dollars(5.0, 1, 6)), &["--superior"], 0, "improved", &[]);
}

#[test]
fn reports_without_inference_compare_the_means_of_both_arms() {
    let arm = |sum: Value, measured: usize| json!({"runs": 6, "cost_usd": {"sum": sum, "n": measured}});
    let with = |with: Value, without: Value| {
        let mut report = lifts(&[1.0; 6]);
        report["cost_summary"] = json!({"by_variant": {"with_skill": with, "without_skill": without}});
        report
    };
    // by hand: 0.6/6 − 0.3/6 = 0.05
    let report = with(arm(json!(0.6), 6), arm(json!(0.3), 6));
    expect(&report, &["--superior", "--max-cost-usd", "0.05"], 0, "improved", &[]);
    expect(&report, &["--superior", "--max-cost-usd", "0.04"], 8, "improved", &["cost_above_limit"]);
    let gate = gate_of(&report, &["--superior", "--max-cost-usd", "0.05"]).json();
    assert_eq!(
        (&gate["cost"]["basis"], &gate["cost"]["measured"], &gate["cost"]["of"]),
        (&json!("runs"), &json!(12), &json!(12))
    );
    // a sum over some of the runs is none over all
    for report in [with(arm(json!(0.6), 5), arm(json!(0.3), 6)), with(arm(Value::Null, 5), arm(json!(0.3), 6))] {
        expect(&report, &["--superior", "--max-cost-usd", "1"], 8, "improved", &["cost_partly_measured"]);
    }
    let report = with(arm(Value::Null, 0), arm(Value::Null, 0));
    expect(&report, &["--superior", "--max-cost-usd", "1"], 8, "improved", &["cost_not_measured"]);
}

/// 5, 6, 3, 8, 7, 4: the first that applies decides, and the others stand beside it.
#[test]
fn the_first_that_applies_decides() {
    let dear = || dollars(1.0, 6, 6);
    let limit = &["--max-cost-usd", "0.5"][..];
    let asked = |condition: &[&'static str], more: &[&'static str]| [condition, more, limit].concat();
    let superior = &["--superior"][..];
    // no pair and too dear
    let unpaired = with_cost(report_of(&cases_of(6, &[1.0], &[], "c")), dear());
    expect(&unpaired, &asked(superior, &[]), 5, "blocked", &["nothing_paired", "cost_above_limit"]);
    // evidence before too few cases before cost
    let few = with_cost(lifts(&[-1.0; 3]), dear());
    let strict = asked(superior, &["--evidence", "strict"]);
    expect(&few, &strict, 5, "structural", &["availability_unstated", "structural", "cost_above_limit"]);
    expect(&few, &asked(superior, &[]), 6, "structural", &["structural", "cost_above_limit"]);
    // worse before cost
    let worse = with_cost(lifts(&[-1.0; 6]), dear());
    expect(&worse, &asked(superior, &[]), 3, "regressed", &["worse", "cost_above_limit"]);
    expect(
        &worse,
        &asked(&["--non-inferior", "0.1"], &[]),
        3,
        "regressed",
        &["worse", "cost_above_limit", "interval_beyond_margin"],
    );
    // cost before no difference and before not known
    let still = with_cost(lifts(&[0.0; 20]), dear());
    let margin = asked(superior, &["--equivalence-margin", "0.2"]);
    expect(&still, &margin, 8, "equivalent", &["cost_above_limit", "no_difference"]);
    expect(&still, &asked(superior, &[]), 8, "inconclusive", &["cost_above_limit", "few_cases_moved"]);
    // a condition that holds is no help against the cost
    expect(&with_cost(lifts(&[1.0; 6]), dear()), &asked(superior, &[]), 8, "improved", &["cost_above_limit"]);
}

/// By hand: three lifts of 1 − 2/3 and three of 0 − 1/3 add up to exactly 0, so that p is 1. As doubles 1 − 2/3 is larger
/// than 1/3: their sum would be positive, and p below 1.
#[test]
fn decisions_rest_on_exact_fractions() {
    let third = 1.0 / 3.0;
    let case = |at: usize| {
        let (with, without) = if at % 2 == 0 { (1.0, 2.0 * third) } else { (0.0, third) };
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
    workspace.write("runs/a/without_skill/metadata.json", json!({"skill_loaded": true}).to_string());
    let report = workspace.on_runs("benchmark", &["--quiet", "--format", "json"]);
    workspace.write("benchmark.json", &report.stdout);
    let said = workspace.run(&["gate", "benchmark.json", "--superior"]);
    assert_eq!((said.code, &said.json()["n_units"], &said.json()["unpaired_cases"]), (0, &json!(6), &json!(1)));
}

/// A folder with the report of the demo.
fn demo() -> Workspace {
    let workspace = Workspace::new();
    let (suite, runs) = (repository("datasets/demo/evals/shared-benchmark.json"), repository("datasets/demo/runs"));
    let (suite, runs) = (suite.to_str().unwrap(), runs.to_str().unwrap());
    let said = workspace.run(&["benchmark", suite, "--runs", runs, "--quiet", "--format", "json"]);
    workspace.write("benchmark.json", &said.stdout);
    workspace
}

#[test]
fn a_gate_agrees_with_its_report_on_the_demo() {
    let workspace = demo();
    let text = fs::read_to_string(workspace.path().join("benchmark.json")).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    let overall = report["inference"]["overall"].clone();
    let gate = workspace.run(&["gate", "benchmark.json", "--superior", "--max-cost-usd", "0"]).json();
    assert_eq!((&gate["estimate"], &gate["n_units"]), (&overall["estimate"], &overall["n_units"]));
    assert_eq!(
        (&gate["p_two_sided"], &gate["method"]),
        (&overall["case_test"]["p_two_sided"], &overall["case_test"]["method"])
    );
    for key in ["interval", "interval_t"] {
        assert_eq!(
            (&gate[key]["lower"], &gate[key]["upper"]),
            (&overall[key]["lower"], &overall[key]["upper"]),
            "{key}"
        );
    }
    assert_eq!(
        (&gate["counts"], &gate["regressed_share_upper"]),
        (&overall["counts"], &overall["regressed_share_upper"]["value"])
    );
    assert_eq!(gate["cost"]["extra_usd"], report["inference"]["cost_per_run"]["money"]["delta"]);
    // the rows alone, as the reference writes them, give the same
    report.as_object_mut().unwrap().remove("inference");
    report.as_object_mut().unwrap().remove("provenance");
    let rows = gate_of(&report, &["--superior"]).json();
    for key in ["estimate", "p_two_sided", "interval", "counts", "holds"] {
        assert_eq!(rows[key], gate_of(&serde_json::from_str(&text).unwrap(), &["--superior"]).json()[key], "{key}");
    }
}

fn share(test: &Value, key: &str) -> f64 {
    test[key]["value"].as_f64().unwrap()
}

/// By hand: each of six cases has one passed and one failed run without the skill, so that its halves differ by 1 or −1:
/// 64 ways, of which one is all better and one all worse, each with p = 1/32. With the margin 0.9 the 90 % interval of a
/// way never lies inside, as |center| + 2.015·se is at least 2.015·√(8/7/8) = 0.76 for a sum of 0 and 0.9 − … for others:
/// only the 20 ways with a sum of 0 hold.
#[test]
fn all_ways_to_split_are_counted_where_they_are_few() {
    let report = report_of(&cases_of(6, &[1.0, 1.0], &[1.0, 0.0], "c"));
    let test = gate_of(&report, &["--superior", "--self-test"]).json()["self_test"].clone();
    assert_eq!((&test["method"], &test["tries"], &test["ways"]), (&json!("enumerated"), &json!(64), &json!(64)));
    assert_eq!(
        (&test["seed"], &test["arm"], &test["units"], &test["cells"]),
        (&Value::Null, &json!("without_skill"), &json!(6), &json!(6))
    );
    assert_eq!((share(&test, "improved"), share(&test, "regressed")), (1.0 / 64.0, 1.0 / 64.0));
    assert_eq!((share(&test, "false_alarms"), share(&test, "holds")), (1.0 / 32.0, 1.0 / 64.0));
    assert_eq!(
        (share(&test, "inconclusive"), &test["fit"], &test["left_out"]),
        (62.0 / 64.0, &json!(true), &json!([]))
    );
    assert_eq!(test["false_alarms"], json!({"value": 0.03125, "lower": null, "upper": null}));
    // the other arm never varies: one way, and nothing moves
    let still =
        gate_of(&report, &["--superior", "--self-test", "--self-test-arm", "with_skill"]).json()["self_test"].clone();
    assert_eq!((&still["tries"], &still["ways"]), (&json!(1), &json!(64)));
    assert_eq!((share(&still, "false_alarms"), share(&still, "inconclusive")), (0.0, 1.0));
    // a sum of 0 has the standard error √(8/7/8) = 0.378, with t(0.95, 5) = 2.015 the half width 0.7617: with the margin
    // 0.8 the 20 of 64 ways with that sum hold; a sum of ±2 has the center ±1/4 and reaches beyond
    let margin = gate_of(&report, &["--equivalent", "0.8", "--self-test"]).json()["self_test"].clone();
    assert_eq!((share(&margin, "holds"), share(&margin, "equivalent")), (20.0 / 64.0, 20.0 / 64.0));
}

/// By hand: at alpha 0.1 five cases are enough; 2 of 32 ways are all better or all worse, 6.25 % is more than 5 %.
#[test]
fn a_gate_that_claims_differences_where_there_are_none_is_unfit() {
    let report = report_of(&cases_of(5, &[1.0, 1.0], &[1.0, 0.0], "c"));
    expect(&report, &["--superior", "--alpha", "0.1"], 0, "improved", &[]);
    expect(&report, &["--superior", "--alpha", "0.1", "--self-test"], 6, "improved", &["design_unfit"]);
    let test = gate_of(&report, &["--superior", "--alpha", "0.1", "--self-test"]).json()["self_test"].clone();
    assert_eq!((share(&test, "false_alarms"), &test["fit"], &test["allowed"]), (0.0625, &json!(false), &json!(0.05)));
    // before the cost, after what blocks
    let dear = with_cost(report.clone(), dollars(1.0, 5, 5));
    let more = ["--superior", "--alpha", "0.1", "--self-test", "--max-cost-usd", "0", "--evidence", "strict"];
    expect(&dear, &more[..6], 6, "improved", &["design_unfit", "cost_above_limit"]);
    expect(&dear, &more, 5, "improved", &["availability_unstated", "design_unfit", "cost_above_limit"]);
}

#[test]
fn runs_that_cannot_be_split_are_named() {
    let mut cases = cases_of(6, &[1.0, 1.0], &[1.0, 0.0], "c");
    cases.extend(cases_of(2, &[1.0], &[0.0], "single"));
    let gate = gate_of(&report_of(&cases), &["--superior", "--self-test"]).json();
    let test = &gate["self_test"];
    let cell = |at: usize| json!({"case_id": format!("single{at}"), "model": null, "runs": 1});
    assert_eq!(
        (&test["units"], &test["left_out"], &gate["n_units"]),
        (&json!(6), &json!([cell(0), cell(1)]), &json!(8))
    );
    assert!(test["text"].as_str().unwrap().ends_with("fewer than two graded runs: single0, single1."), "{test}");
    // nothing to split, and too little: told, and no reason to fail
    let none = gate_of(&report_of(&cases_of(6, &[1.0], &[0.0], "c")), &["--superior", "--self-test"]);
    let gate = none.json();
    assert_eq!(
        (none.code, &gate["notes"], &gate["self_test"]["reason"]),
        (0, &json!(["self_test_withheld"]), &json!("no_runs"))
    );
    assert_eq!((&gate["self_test"]["fit"], &gate["self_test"]["improved"]), (&Value::Null, &Value::Null));
    let few = [cases_of(5, &[1.0, 1.0], &[0.0, 1.0], "c"), cases_of(1, &[1.0], &[0.0], "d")].concat();
    let gate = gate_of(&report_of(&few), &["--superior", "--self-test"]).json();
    assert_eq!((&gate["holds"], &gate["self_test"]["reason"]), (&json!(true), &json!("too_few_units")));
}

/// Exactly 2/64·… cannot be listed here: 20 cases with four runs each have 3^20 outcomes. Signs are fair by construction, so
/// that the exact test claims a difference in at most 5 % of all ways; the limits of the sample must allow that.
#[test]
fn samples_are_the_same_with_any_number_of_threads() {
    let report = report_of(&cases_of(20, &[1.0, 1.0, 1.0, 1.0], &[1.0, 0.0, 1.0, 0.0], "c"));
    let asked = ["--superior", "--self-test", "--self-test-runs", "200"];
    let of = |threads: &str| gate_with(&report, &asked, &[("RAYON_NUM_THREADS", threads)]).stdout;
    let first = of("1");
    assert_eq!((&first, &first), (&of("2"), &of("7")));
    let test = serde_json::from_str::<Value>(&first).unwrap()["self_test"].clone();
    assert_eq!((&test["method"], &test["tries"], &test["seed"]), (&json!("sampled"), &json!(200), &json!(1)));
    assert!(test["false_alarms"]["lower"].as_f64().unwrap() <= 0.05, "{test}");
    let total: f64 = ["improved", "regressed", "equivalent", "inconclusive"].iter().map(|key| share(&test, key)).sum();
    assert!((total - 1.0).abs() < 1e-12, "{test}");
    // of no try a share of at most 1 − 0.025^(1/200) is known
    near(&test["equivalent"]["upper"], 1.0 - 0.025_f64.powf(1.0 / 200.0));
    let other = gate_of(&report, &[&asked[..], &["--seed", "2"]].concat()).stdout;
    assert_ne!(first, other);
    // the order of the rows changes nothing
    let mut turned = report.clone();
    turned["results"].as_array_mut().unwrap().reverse();
    assert_eq!(gate_with(&turned, &asked, &[]).stdout, first);
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_read() {
    let refused = [
        &[][..],
        &["--superior", "--non-inferior", "0.1"],
        &["--non-inferior", "0.1", "--equivalent", "0.1"],
        &["--superior", "--superior"],
        &["--non-inferior", "0"],
        &["--non-inferior", "1"],
        &["--non-inferior", "5"],
        &["--non-inferior", "-0.1"],
        &["--non-inferior", "NaN"],
        &["--equivalent", "inf"],
        &["--equivalent", ""],
        &["--equivalent", "1e999999999"],
        &["--equivalent", "5%"],
        &["--superior", "--equivalence-margin", "0"],
        &["--non-inferior", "0.1", "--equivalence-margin", "0.1"],
        &["--superior", "--alpha", "0"],
        &["--superior", "--alpha", "0.5"],
        &["--superior", "--alpha", "nan"],
        &["--superior", "--max-cost-usd", "-1"],
        &["--superior", "--max-cost-usd", "NaN"],
        &["--superior", "--max-cost-usd", "$1"],
        &["--superior", "--evidence", "some"],
        &["--superior", "--self-test", "--self-test-runs", "0"],
        &["--superior", "--self-test", "--self-test-runs", "100001"],
        &["--superior", "--self-test-runs", "5"],
        &["--superior", "--seed", "5"],
        &["--superior", "--self-test", "--self-test-arm", "old"],
    ];
    for arguments in refused {
        let said = run_in(Path::new("/"), &[&["gate", "missing.json"], arguments].concat(), &[]);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{arguments:?} {}", said.stderr);
    }
    // the smallest margin is one
    expect(&lifts(&[0.0; 20]), &["--equivalent", "1e-300"], 4, "inconclusive", &["interval_beyond_margin"]);
    expect(&lifts(&[1.0; 6]), &["--non-inferior", "0.999999999999999999999"], 0, "improved", &[]);
}

#[test]
fn refused_files_are_named() {
    let workspace = Workspace::with_cases(&["a"]);
    workspace.write("empty.json", "");
    workspace.write("broken.json", "{\"results\": [");
    workspace.write("list.json", "[1, 2]");
    workspace.write("nan.json", lifts(&[1.0; 6]).to_string().replacen("1.0", "NaN", 1));
    let other = json!({"runs": [{"eval_id": 1, "configuration": "with_skill", "pass_rate": 1.0}]});
    workspace.write("other.json", other.to_string());
    let mut twice = lifts(&[1.0; 6]);
    let case = json!({"case_id": "a", "estimate_with": 1.0, "estimate_without": 0.0});
    twice["inference"] = json!({"by_case": [case, case]});
    workspace.write("twice.json", twice.to_string());
    let says = [
        ("missing.json", "no such file"),
        ("evals", "is a folder"),
        ("evals/shared-benchmark.json", "FAIL: evals/shared-benchmark.json: "),
        ("empty.json", "FAIL: empty.json: "),
        ("broken.json", "FAIL: broken.json: "),
        ("list.json", "is no result list"),
        ("nan.json", "FAIL: nan.json: "),
        ("other.json", "it is no report of `benchmark`"),
        ("twice.json", "`by_case` names case a twice"),
    ];
    for (file, message) in says {
        let said = workspace.run(&["gate", file, "--superior"]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{file}");
        assert!(said.stderr.contains(message), "{file}: {}", said.stderr);
    }
    workspace.write("large.json", vec![b' '; 1 << 21]);
    let large = workspace.run(&["gate", "large.json", "--superior", "--max-report-mib", "1"]);
    assert_eq!((large.code, large.stdout.as_str()), (1, ""));
    assert!(large.stderr.contains("1 MiB"), "{}", large.stderr);
}

#[test]
fn hostile_texts_and_sizes_stay_harmless() {
    let mut many = cases_of(300, &[0.25, 0.0], &[1.0, 0.5], "\u{1b}[31m|@team<script>\u{202e}");
    many.extend(cases_of(1, &[1.0], &[1.0], &"x".repeat(100_000)));
    many.extend(cases_of(1, &[1e-300], &[1.0], &format!("\u{1b}]0;{}", "y".repeat(100_000))));
    let mut hostile = report_of(&many);
    hostile["skill_name"] = json!("\u{1b}]0;owned\u{7} | @team <b> \u{202e}");
    hostile["availability"] = json!("partial");
    hostile["incomplete_reasons"] = json!(vec!["\u{1b}[31m|@team<b>\u{202e}".repeat(1_000); 1_000]);
    hostile["inference"] = json!({"alpha": "0.05", "equivalence_margin": 1e308, "by_case": "none", "overall": [],
                                  "cost_per_run": {"money": {"delta": 1e308, "currency": "\u{1b}[31m<b>@team", "pairs": 1,
                                                             "pairs_measured": 1}}});
    for format in ["table", "markdown", "json"] {
        for more in [&[][..], &["--evidence", "strict"]] {
            let arguments =
                ["--superior", "--max-cost-usd", "1", "--self-test", "--self-test-runs", "1", "--format", format];
            let said = gate_of(&hostile, &[&arguments[..], more].concat());
            assert_eq!(said.code, if more.is_empty() { 3 } else { 5 }, "{}", said.stderr);
            let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            let seen = if format == "json" { String::new() } else { said.stdout };
            assert!(!seen.contains(is_bad), "{format}: {seen}");
            assert!(format != "markdown" || !seen.contains("<b>") && !seen.contains("@team"), "{seen}");
            assert!(seen.len() < 20_000, "{}", seen.len());
        }
    }
    let gate = gate_of(&hostile, &["--superior", "--evidence", "strict"]).json();
    assert_eq!((&gate["n_units"], &gate["alpha"], &gate["margin"]), (&json!(302), &json!(0.05), &Value::Null));
    assert_eq!(gate["missing_evidence"].as_array().unwrap().len(), 20);
    // one case, and numbers as ids
    let mut one = report_of(&cases_of(1, &[1.0], &[0.0], "1"));
    one["results"][0]["case_id"] = json!(18_446_744_073_709_551_615_u64);
    one["results"][1]["case_id"] = json!("18446744073709551615");
    expect(&one, &["--superior"], 6, "structural", &["structural"]);
    let gate = gate_of(&one, &["--superior"]).json();
    assert!(gate["text"].as_str().unwrap().starts_with("Failed: 1 case is too few to decide on"), "{gate}");
}

/// The common denominator of 1,200 unrelated totals has thousands of bits: rates are rounded to doubles, and that is told.
#[test]
fn fractions_beyond_reason_are_rounded_and_told() {
    let mut rows = Vec::new();
    for at in 0..1_200_u32 {
        for (variant, passed) in [("with_skill", at + 3), ("without_skill", at)] {
            let mut row = report_row(&format!("c{at}"), variant, 1, 0.5);
            row["objective_passed"] = json!(passed);
            row["objective_total"] = json!(8_000 + at);
            rows.push(row);
        }
    }
    let mut report = report_of(&[]);
    report["results"] = json!(rows);
    let said = gate_of(&report, &["--superior"]);
    let gate = said.json();
    assert_eq!((said.code, &gate["outcome"], &gate["n_units"]), (0, &json!("improved"), &json!(1_200)));
    assert!(gate["notes"].as_array().unwrap().contains(&json!("rates_rounded")), "{}", gate["notes"]);
    let mean: f64 = (0..1_200).map(|at| 3.0 / f64::from(8_000 + at)).sum::<f64>() / 1_200.0;
    near(&gate["estimate"], mean);
}

#[test]
fn output_goes_where_it_is_asked_for() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", lifts(&[1.0; 6]).to_string());
    let run = |more: &[&str]| workspace.run(&[&["gate", "benchmark.json", "--superior"], more].concat());
    let read = |name: &str| fs::read_to_string(workspace.path().join(name)).unwrap();
    let said = run(&["--out", "gate.json"]);
    let gate: Value = serde_json::from_str(&read("gate.json")).unwrap();
    assert_eq!((said.code, &gate["source"], &gate["schema_version"]), (0, &json!("benchmark.json"), &json!(1)));
    assert!(said.stdout.starts_with("Passed: the skill makes results better"), "{}", said.stdout);
    let quiet = run(&["--out", "gate.md", "--format", "markdown", "--quiet"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    assert!(
        read("gate.md").starts_with("# demo: gate\n\n**Passed: the skill makes results better"),
        "{}",
        read("gate.md")
    );
    let ascii = run(&["--format", "table", "--ascii"]);
    assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
    let painted = run(&["--format", "table", "--color", "always"]);
    assert!(painted.stdout.starts_with("\u{1b}[1;32mPassed"), "{}", painted.stdout);
    // what fails is written all the same
    workspace.write("bad.json", lifts(&[-1.0; 6]).to_string());
    let bad = workspace.run(&["gate", "bad.json", "--superior", "--out", "bad-gate.json", "--quiet"]);
    assert_eq!((bad.code, bad.stdout.as_str(), bad.stderr.as_str()), (3, "", ""));
    assert!(read("bad-gate.json").contains("\"exit_code\": 3"));
    let unwritable = run(&["--out", "benchmark.json/gate.json"]);
    assert_eq!((unwritable.code, unwritable.stdout.as_str()), (1, ""));
    let help = run_in(Path::new("/"), &["gate", "--help"], &[]);
    for part in ["Exit codes: 0 the condition holds", "5, 6, 3, 8, 7, 4", "skill-lift gate benchmark.json --superior"] {
        assert!(help.stdout.contains(part), "{}", help.stdout);
    }
}

#[test]
fn gates_for_people() {
    let demo = demo();
    let table = |more: &[&str]| demo.run(&[&["gate", "benchmark.json"], more].concat()).stdout;
    let passed = table(&["--superior", "--format", "table"]);
    let margin = table(&["--equivalent", "0.1", "--format", "markdown"]);
    let dear = table(&["--non-inferior", "0.05", "--max-cost-usd", "0.0001", "--self-test", "--format", "table"]);
    let few = gate_of(&lifts(&[1.0; 5]), &["--superior", "--format", "table"]).stdout;
    with_settings!({description => "gates on the demo and on five cases", omit_expression => true}, {
        assert_snapshot!("gate_passed", passed);
        assert_snapshot!("gate_equivalent_markdown", margin);
        assert_snapshot!("gate_too_dear", dear);
        assert_snapshot!("gate_too_few_cases", few);
    });
}

/// Every block of `docs/gate.md` that begins with ```` ```text gate … exit code N ```` is what the program prints.
#[test]
fn the_examples_of_the_page_hold() {
    let demo = demo();
    let page = fs::read_to_string(repository("docs/gate.md")).unwrap();
    let plain = |text: &str| text.replace('\u{a0}', " ");
    let mut blocks = page.split("\n```text gate ").skip(1);
    let mut number = 0;
    blocks.by_ref().for_each(|block| {
        let (head, rest) = block.split_once('\n').unwrap();
        let (arguments, code) = head.split_once(", exit code ").unwrap();
        let (shown, _) = rest.split_once("\n```").unwrap();
        let arguments: Vec<&str> = ["gate"].into_iter().chain(arguments.split(' ')).collect();
        let said = demo.run(&arguments);
        assert_eq!((said.code.to_string().as_str(), plain(said.stdout.trim_end())), (code, plain(shown)), "{head}");
        number += 1;
    });
    assert!(number >= 3, "{number}");
}
