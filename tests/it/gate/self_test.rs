//! A gate that is tried on halves of the runs of one arm.

use serde_json::{Value, json};

use super::{dollars, expect, gate_of, gate_with, near, with_cost};
use crate::support::{cases_of, report_of};

fn share(test: &Value, key: &str) -> f64 {
    test[key]["value"].as_f64().unwrap()
}

/// By hand: each of six cases has one passed and one failed run without the skill, so that its halves differ by 1 or −1:
/// 64 ways, of which one is all better and one all worse, each with p = 1/32.
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

/// Twenty cases with four runs each have 3^20 outcomes: too many to list. Signs are fair by construction, so that the exact
/// test claims a difference in at most 5 % of all ways; the limits of the sample must allow that.
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
