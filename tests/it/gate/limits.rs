//! What decides before and after the lifts: runs that are missing, evidence, cost.

use std::fs;

use serde_json::{Value, json};

use super::pages::demo;
use super::{dollars, expect, gate_of, lifts, said, with_cost};
use crate::support::{cases_of, report_of, report_row};

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

#[test]
fn a_report_that_is_not_whole_decides_nothing_where_quality_is_asked() {
    let measured = |mut report: Value| {
        for row in report["results"].as_array_mut().unwrap() {
            let usage = json!({"total_tokens": 100, "source": "provider_reported"});
            row["metadata"] = json!({"usage_normalized": usage, "elapsed_ms": 1000});
            row["assertions"] = json!([{"name": "a", "passed": true}, {"name": "b", "passed": null, "skipped": true}]);
        }
        report
    };
    let whole = measured(lifts(&[1.0; 6]));
    expect(&whole, &["--superior", "--quality"], 0, "improved", &[]);
    assert_eq!(gate_of(&whole, &["--superior", "--quality"]).json()["quality"], json!([]));
    assert!(gate_of(&whole, &["--superior"]).json().get("quality").is_none());

    // no run says what it used
    let report = lifts(&[1.0; 6]);
    expect(&report, &["--superior", "--quality"], 5, "improved", &["quality_unmet"]);
    let found = gate_of(&report, &["--superior", "--quality"]).json();
    let finding = |code: &str, count: usize, first: &str| json!({"code": code, "count": count, "first_case": first});
    assert_eq!(found["quality"], json!([finding("time_missing", 12, "c0"), finding("tokens_missing", 12, "c0")]));
    assert_eq!(
        found["text"],
        "Failed: the report is not whole (12 runs without their time, first c0; 12 runs without their tokens, first c0)."
    );

    // a case without a baseline, a run without an answer, a check without a verdict
    let mut report = measured(lifts(&[1.0; 7]));
    let rows = report["results"].as_array_mut().unwrap();
    rows.retain(|row| row["case_id"] != "c3" || row["variant"] != "without_skill");
    let row_of = |rows: &mut Vec<Value>, case: &str| rows.iter().position(|row| row["case_id"] == case).unwrap();
    let at = row_of(rows, "c5");
    rows[at]["missing_output"] = json!(true);
    let at = row_of(rows, "c6");
    rows[at]["assertions"][0]["passed"] = json!(null);
    let found = gate_of(&report, &["--superior", "--quality"]).json();
    assert_eq!(
        found["quality"],
        json!([
            finding("arm_missing", 1, "c3"),
            finding("run_not_scored", 1, "c5"),
            finding("check_undecided", 1, "c6")
        ])
    );
}

#[test]
fn two_rows_for_one_run_are_refused_or_the_last_one_counts() {
    let mut report = lifts(&[1.0; 6]);
    let again = report["results"][0].clone();
    report["results"].as_array_mut().unwrap().push(again);
    let said = gate_of(&report, &["--superior"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.starts_with("FAIL: benchmark.json: "), "{}", said.stderr);
    let said = gate_of(&report, &["--superior", "--on-duplicate", "last"]);
    assert_eq!((said.code, &said.json()["outcome"]), (0, &json!("improved")));
    assert!(said.stderr.starts_with("WARN duplicates_dropped: benchmark.json"), "{}", said.stderr);
}
