//! Two reports whose comparison is worked out by hand.

use serde_json::{Value, json};

use super::{WITH, WITHOUT, arm, cell, close, compared, report, row};

/// Six cases with the skill, five of which have a run without it. Cases a to f are in both; x only before, y only after.
fn before() -> Value {
    let mut rows = arm(WITH, &[("a", "++"), ("b", "+-"), ("c", "--"), ("d", "++"), ("x", "++")]);
    // two repetitions: (1/2 + 2/2) / 2 = 3/4
    rows.extend([row("e", WITH, 1, "+-"), row("e", WITH, 2, "++"), row("f", WITH, 1, "+-")]);
    rows.extend(arm(WITHOUT, &[("a", "--"), ("b", "+-"), ("c", "--"), ("d", "+-"), ("x", "--")]));
    report("sha256:1", rows)
}

fn after() -> Value {
    let mut rows = arm(WITH, &[("a", "+-"), ("b", "++"), ("c", "+-"), ("d", "++"), ("y", "--")]);
    rows.extend([row("e", WITH, 1, "++"), row("e", WITH, 2, "++"), row("f", WITH, 1, "++")]);
    rows.extend(arm(WITHOUT, &[("a", "--"), ("b", "+-"), ("c", "+-"), ("d", "--"), ("y", "--")]));
    report("sha256:1", rows)
}

#[test]
fn changes_of_arms_are_means_over_common_cases() {
    let said = compared(&before(), &after(), &["--format", "json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let diff = said.json();
    let kinds = [
        ("a", WITH, "regressed"),
        ("b", WITH, "improved"),
        ("c", WITH, "improved"),
        ("d", WITH, "same"),
        ("e", WITH, "improved"),
        ("f", WITH, "improved"),
        ("x", WITH, "vanished"),
        ("y", WITH, "appeared"),
        ("a", WITHOUT, "same"),
        ("b", WITHOUT, "same"),
        ("c", WITHOUT, "improved"),
        ("d", WITHOUT, "regressed"),
    ];
    for (case, variant, kind) in kinds {
        assert_eq!(cell(&diff, case, variant)["change"], kind, "{case} {variant}");
    }
    // with, over a to f: (1 + 1/2 + 0 + 1 + 3/4 + 1/2)/6 = 3.75/6; (1/2 + 1 + 1/2 + 1 + 1 + 1)/6 = 5/6
    let with = &diff["arms"][WITH];
    assert_eq!(
        (&with["n_cases"], &with["rose"], &with["fell"], &with["unchanged"]),
        (&json!(6), &json!(4), &json!(1), &json!(1))
    );
    close(&with["before"], 3.75 / 6.0);
    close(&with["after"], 5.0 / 6.0);
    close(&with["change"], 1.25 / 6.0);
    // deltas in quarters: -2, 2, 2, 0, 1, 2; the sum is 5. Of the 32 sign patterns of 2, 2, 2, 2, 1 the sum is at least 5
    // for: all five plus (9), the 1 minus (7), one 2 minus and 1 plus (5, four ways): 6. Two-sided 12/32.
    close(&with["test"]["p_two_sided"], 12.0 / 32.0);
    assert_eq!(with["test"]["nonzero"], 5);
    assert_eq!(with["verdict"]["code"], "too_few_cases");
    assert_eq!(diff["cases"], json!({"common": 6, "appeared": ["y"], "vanished": ["x"]}));
}

#[test]
fn the_change_of_the_lift_is_over_cases_with_both_arms_in_both() {
    let diff = compared(&before(), &after(), &[]).json();
    let lift = &diff["lift"];
    // then a, b, c, d, x: 1, 0, 0, 1/2, 1; now a, b, c, d, y: 1/2, 1/2, 0, 1, 0
    close(&lift["before"]["lift"], 2.5 / 5.0);
    close(&lift["after"]["lift"], 2.0 / 5.0);
    // a, b, c, d: then 1.5/4, now 2/4
    let common = &lift["common"];
    close(&common["before"], 1.5 / 4.0);
    close(&common["after"], 2.0 / 4.0);
    close(&common["change"], 0.125);
    // changes in halves: -1, 1, 0, 1; of the 8 patterns the sum is at least 1 for +++ (3) and three ways of 1: 4; 8/8
    close(&common["test"]["p_two_sided"], 1.0);
    assert_eq!(common["test"]["n"], 4);
}

#[test]
fn lost_and_gained_checks_are_named() {
    let diff = compared(&before(), &after(), &[]).json();
    assert_eq!(cell(&diff, "a", WITH)["lost"], json!(["check 1"]));
    assert_eq!(cell(&diff, "a", WITH)["gained"], json!([]));
    assert_eq!(cell(&diff, "c", WITHOUT)["gained"], json!(["check 0"]));
    assert_eq!(cell(&diff, "e", WITH)["gained"], json!(["check 1"]));
}

#[test]
fn the_keys_of_the_reference_page_have_its_values() {
    let mut old = before();
    let mut new = after();
    old["case_flags"] = json!([{"case_id": "a", "flags": ["no objective lift", "gone flag"]}]);
    new["case_flags"] = json!([{"case_id": "a", "flags": ["no objective lift", "with-skill failure"]}]);
    let diff = compared(&old, &new, &[]).json();
    let keys: Vec<&str> = diff.as_object().unwrap().keys().map(String::as_str).collect();
    for key in ["case_deltas", "variant_deltas", "new_flags", "resolved_flags"] {
        assert!(keys.contains(&key), "{key}");
    }
    let deltas: Vec<(&str, &str, f64)> = diff["case_deltas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|delta| {
            (delta["case_id"].as_str().unwrap(), delta["variant"].as_str().unwrap(), delta["delta"].as_f64().unwrap())
        })
        .collect();
    // cases in both whose mean changed, by id and arm
    let expected = [
        ("a", WITH, -0.5),
        ("b", WITH, 0.5),
        ("c", WITH, 0.5),
        ("c", WITHOUT, 0.5),
        ("d", WITHOUT, -0.5),
        ("e", WITH, 0.25),
        ("f", WITH, 0.5),
    ];
    assert_eq!(deltas, expected);
    // over all rows: 1, 1/2, 0, 1, 1, 1/2, 1, 1/2 = 5.5/8 then; 1/2, 1, 1/2, 1, 0, 1, 1, 1 = 6/8 now
    let means = &diff["variant_deltas"][WITH]["mean_objective_pass_rate"];
    close(&means["before"], 5.5 / 8.0);
    close(&means["after"], 6.0 / 8.0);
    close(&means["delta"], 0.0625);
    assert_eq!(diff["new_flags"], json!(["a::with-skill failure"]));
    assert_eq!(diff["resolved_flags"], json!(["a::gone flag"]));
}

#[test]
fn a_unanimous_fall_of_six_cases_is_established() {
    let cases = ["a", "b", "c", "d", "e", "f"];
    let rows = |verdicts| arm(WITH, &cases.map(|case| (case, verdicts)));
    let said = compared(&report("s", rows("++")), &report("s", rows("+-")), &["--fail-on-regression=established"]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    let diff = said.json();
    // two of the 64 sign patterns are as extreme
    close(&diff["arms"][WITH]["test"]["p_two_sided"], 2.0 / 64.0);
    assert_eq!(diff["arms"][WITH]["verdict"]["code"], "harms");
    assert_eq!(diff["verdict"]["text"], "Worse than before, with the skill.");
    // six times -1/2 and the pads -1/2 and 1/2: mean -3/8, squares 7/8, standard error sqrt(7/8 / 56) = 1/8; the quantile
    // of 5 degrees of freedom is 2.5706: -0.375 ± 0.3213
    assert_eq!(
        said.lines("FAIL"),
        ["FAIL: regression (established): with the skill \u{2212}50.0\u{a0}pp on average, 95% interval \
          \u{2212}69.6 to \u{2212}5.4\u{a0}pp, p\u{a0}=\u{a0}0.031"]
    );
}

#[test]
fn the_same_result_twice_has_no_differences() {
    let said = compared(&before(), &before(), &["--fail-on-regression", "--format", "table"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.contains("No differences."), "{}", said.stdout);
    let diff = compared(&before(), &before(), &[]).json();
    // seven cases with the skill, five without
    assert_eq!(diff["counts"]["same"], 12, "{}", diff["counts"]);
    assert_eq!(diff["case_deltas"], json!([]));
    close(&diff["arms"][WITH]["change"], 0.0);
    close(&diff["arms"][WITH]["test"]["p_two_sided"], 1.0);
}

#[test]
fn the_interval_of_a_change_of_lifts_reaches_as_far_as_lifts_do() {
    let cases = ["a", "b", "c", "d", "e", "f"];
    let rows = |with, without| {
        let mut rows = arm(WITH, &cases.map(|case| (case, with)));
        rows.extend(arm(WITHOUT, &cases.map(|case| (case, without))));
        report("s", rows)
    };
    // from -1 to +1 in every case
    let diff = compared(&rows("-", "+"), &rows("+", "-"), &[]).json();
    let common = &diff["lift"]["common"];
    close(&common["change"], 2.0);
    assert_eq!(common["interval"]["upper"], 2.0);
    // half changes: six times 1 and the pads 1 and -1: mean 3/4, squares 7/16 + 49/16, standard error sqrt(3.5/56) = 1/4;
    // twice 0.75 - 2.570582/4
    let lower = common["interval"]["lower"].as_f64().unwrap();
    assert!((lower - 2.0 * (0.75 - 2.570_581_8 / 4.0)).abs() < 1e-6, "{lower}");
    assert_eq!(common["verdict"]["code"], "helps");
}

#[test]
fn models_are_compared_one_by_one_and_averaged_within_their_case() {
    let rows = |fast: [&str; 2], slow: [&str; 2]| {
        let mut rows = Vec::new();
        for (model, verdicts) in [("fast", fast), ("slow", slow)] {
            for (case, verdicts) in ["a", "b"].iter().zip(verdicts) {
                let mut row = row(case, WITH, 1, verdicts);
                row["model"] = json!(model);
                rows.push(row);
            }
        }
        report("s", rows)
    };
    let diff = compared(&rows(["++", "++"], ["--", "++"]), &rows(["+-", "++"], ["++", "--"]), &[]).json();
    let kind = |case: &str, model: &str| {
        let cells = diff["cells"].as_array().unwrap();
        cells.iter().find(|cell| cell["case_id"] == case && cell["model"] == model).unwrap()["change"].clone()
    };
    assert_eq!((kind("a", "fast"), kind("a", "slow")), (json!("regressed"), json!("improved")));
    assert_eq!((kind("b", "fast"), kind("b", "slow")), (json!("same"), json!("regressed")));
    // a: (1 + 0)/2 then, (1/2 + 1)/2 now; b: 1 then, 1/2 now. Two units, not four.
    let with = &diff["arms"][WITH];
    assert_eq!(
        with["by_case"],
        json!([
            {"case_id": "a", "before": 0.5, "after": 0.75},
            {"case_id": "b", "before": 1.0, "after": 0.5}
        ])
    );
    assert_eq!(with["test"]["n"], 2);
    close(&with["change"], -0.125);
}
