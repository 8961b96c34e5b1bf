//! Blocks of `benchmark.json`: strength of oracles, what judges say, slices, flags with what they rest on, slim rows.

use serde_json::{Value, json};

use crate::support::Workspace;

fn says_yes() -> Value {
    json!({"type": "contains", "name": "says-yes", "value": "yes"})
}

/// Three cases with labels of all kinds, seven runs and five verdicts; case c has no run without the skill.
fn labelled() -> Workspace {
    let workspace = Workspace::new();
    let polite = json!({"type": "contains", "name": "polite", "value": "please", "severity": "soft"});
    let good = json!({"type": "judge", "name": "good", "prompt": "Is it?"});
    let fine = json!({"type": "judge", "name": "fine", "prompt": "Is it?", "severity": "gate"});
    workspace.suite(&json!({"cases": [
        {"id": "a", "split": "tune", "prompt": "p", "domain": "docs", "difficulty": "core", "success_goals": ["style"],
         "tags": ["t", "u"], "assertions": [says_yes(), polite, good]},
        {"id": "b", "split": "holdout", "prompt": "p", "domain": "docs", "success_goals": ["style", "cost"],
         "tags": ["t"], "assertions": [says_yes(), fine]},
        {"id": "c", "split": "tune", "prompt": "p", "domain": "data", "trigger_type": "implicit",
         "assertions": [says_yes()]}
    ]}));
    for (run, answer) in [
        ("a/with_skill/run-1", "yes please"),
        ("a/with_skill/run-2", "yes"),
        ("a/without_skill/run-1", "no"),
        ("a/without_skill/run-2", "yes please"),
        ("b/with_skill/run-1", "yes"),
        ("b/without_skill/run-1", "yes"),
        ("c/with_skill/run-1", "no"),
    ] {
        workspace.write(&format!("runs/{run}/output.md"), answer);
    }
    fn verdict(id: &str, passed: bool, score: f64) -> Value {
        json!({"judge_task_id": id, "passed": passed, "score": score, "threshold": 0.5, "evidence": "e"})
    }
    let verdicts = json!([
        verdict("a::with_skill::run-1::good", true, 0.75),
        verdict("a::with_skill::run-2::good", true, 0.5),
        verdict("a::without_skill::run-1::good", false, 0.1),
        verdict("b::with_skill::run-1::fine", true, 1.0),
        verdict("b::without_skill::run-1::fine", false, 0.0),
    ]);
    workspace.write("verdicts.json", verdicts.to_string());
    workspace
}

fn report(workspace: &Workspace) -> Value {
    workspace.on_runs("benchmark", &["--judge-results", "verdicts.json", "--quiet"]).json()
}

// the expected values of the next two tests are those of the reference package for the same files

#[test]
fn oracles_and_judges_are_reported_as_by_the_reference() {
    let report = report(&labelled());
    let expected = json!({
        "a": {"strong_pass_share": 0.7143, "passed_by_tier": {"live": 2, "strong": 5},
              "total_by_tier": {"live": 3, "strong": 8}},
        "b": {"strong_pass_share": 0.6667, "passed_by_tier": {"live": 1, "strong": 2},
              "total_by_tier": {"live": 2, "strong": 2}},
        "c": {"strong_pass_share": null, "passed_by_tier": {}, "total_by_tier": {"strong": 1}},
    });
    // as text: the order of keys is part of the format
    assert_eq!(report["oracle_strength"].to_string(), expected.to_string());
    let expected = json!({
        "held_out": {"runs": 2, "mean_qualitative_pass_rate": 0.5, "mean_graded_score": null},
        "tune_visible": {"runs": 3, "mean_qualitative_pass_rate": null, "mean_graded_score": 0.45},
    });
    assert_eq!(report["qualitative_by_visibility"].to_string(), expected.to_string());
}

#[test]
fn scores_of_one_to_five_are_shares_of_the_scale() {
    let workspace = labelled();
    let verdict = json!([{"judge_task_id": "a::with_skill::run-1::good", "passed": true, "score": 4, "threshold": 4}]);
    workspace.write("verdicts.json", verdict.to_string());
    // (4 - 1) / 4; the reference says 4.0, whatever the scale of the other verdicts is
    let expected = json!({
        "tune_visible": {"runs": 1, "mean_qualitative_pass_rate": null, "mean_graded_score": 0.75},
    });
    assert_eq!(report(&workspace)["qualitative_by_visibility"].to_string(), expected.to_string());
}

#[test]
fn slices_are_reported_as_by_the_reference() {
    let report = report(&labelled());
    fn arm(runs: u32, objective: Option<f64>, combined: Option<f64>) -> Value {
        json!({"runs": runs, "mean_objective_pass_rate": objective, "mean_combined_pass_rate": combined})
    }
    let paired = |eligible: u32| json!({"eligible_pairs": eligible, "blocked_pairs": 0, "blocked_reason_counts": {}});
    let case_c = json!({
        "with_skill": arm(1, Some(0.0), Some(0.0)),
        "without_skill": arm(0, None, None),
        "pairing": {"eligible_pairs": 0, "blocked_pairs": 1, "blocked_reason_counts": {"unscorable_arm": 1}},
    });
    let cases_a_and_b = json!({
        "with_skill": arm(3, Some(1.0), Some(1.0)),
        "without_skill": arm(3, Some(2.0 / 3.0), Some(0.5)),
        "lift": 0.25,
        "pairing": paired(3),
        "lift_concentration": 1.0,
    });
    let expected = json!({
        "domain": {"data": case_c, "docs": cases_a_and_b},
        "difficulty": {"core": {
            "with_skill": arm(2, Some(1.0), Some(1.0)),
            "without_skill": arm(2, Some(0.5), Some(0.5)),
            "lift": 0.5,
            "pairing": paired(2),
            "lift_concentration": 2.0,
        }},
        "trigger_type": {"implicit": case_c},
        "success_goals": {
            "cost": {
                "with_skill": arm(1, Some(1.0), Some(1.0)),
                "without_skill": arm(1, Some(1.0), Some(0.5)),
                "lift": 0.0,
                "pairing": paired(1),
                "lift_concentration": 0.0,
            },
            "style": cases_a_and_b,
        },
    });
    assert_eq!(report["slice_summary"].to_string(), expected.to_string());
}

#[test]
fn every_label_is_a_slice_of_the_inference() {
    let report = report(&labelled());
    let slices = report["inference"]["slices"].as_array().unwrap();
    let names: Vec<String> = slices
        .iter()
        .map(|slice| format!("{} {}", slice["axis"].as_str().unwrap(), slice["value"].as_str().unwrap()))
        .collect();
    let expected = [
        "domain data",
        "domain docs",
        "difficulty core",
        "trigger_type implicit",
        "success_goals cost",
        "success_goals style",
        "tags t",
        "tags u",
        "split holdout",
        "split tune",
    ];
    assert_eq!(names, expected);
    // a: with 1 of 1 and 1 of 1, without 0 of 1 and 1 of 1; b: the same in both arms
    let tag = &slices[6];
    assert_eq!((&tag["n_cases"], &tag["pairs"], &tag["blocked_pairs"]), (&json!(2), &json!(3), &json!(0)));
    assert_eq!((&tag["estimate_with"], &tag["estimate_without"]), (&json!(1.0), &json!(0.75)));
    assert_eq!(tag["estimate"], json!(0.25));
    assert_eq!((&tag["too_few"], &tag["interval"]["reason"]), (&json!(true), &json!("too_few_units")));
    assert_eq!((&tag["p_two_sided"], &tag["p_bh"]), (&Value::Null, &Value::Null));
    let alone = &slices[0];
    assert_eq!((&alone["n_cases"], &alone["estimate"]), (&json!(0), &Value::Null));
    assert_eq!((&alone["blocked_pairs"], &alone["interval"]["reason"]), (&json!(1), &json!("no_eligible_pairs")));
    assert_eq!(
        report["inference"]["multiplicity"]["slices"],
        json!({"method": "benjamini-hochberg", "tests": 0, "untested": 10})
    );
}

#[test]
fn a_slice_of_enough_cases_is_tested() {
    let workspace = Workspace::new();
    // twelve cases that the skill turns from failing to passing
    let case = |number: usize| {
        let id = format!("c{number:02}");
        workspace.write(&format!("runs/{id}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{id}/without_skill/output.md"), "no");
        let (domain, tag) = (if number < 6 { "a" } else { "b" }, if number < 7 { "x" } else { "y" });
        json!({"id": id, "split": "tune", "prompt": "p", "domain": domain, "tags": [tag, "common"],
               "assertions": [says_yes()]})
    };
    let cases: Vec<Value> = (0..12).map(case).collect();
    workspace.suite(&json!({"cases": cases}));
    let report = workspace.on_runs("benchmark", &["--quiet"]).json();
    let slices = report["inference"]["slices"].as_array().unwrap();
    let names: Vec<&str> = slices.iter().map(|slice| slice["value"].as_str().unwrap()).collect();
    // what all cases share (one kind, one split, a tag) is no slice
    assert_eq!(names, ["a", "b", "x", "y"]);
    // six deltas of 1: two of the 2^6 patterns of signs are that far from 0; seven: two of 2^7; five are too few
    let p_values: Vec<&Value> = slices.iter().map(|slice| &slice["p_two_sided"]).collect();
    assert_eq!(p_values, [&json!(2.0 / 64.0), &json!(2.0 / 64.0), &json!(2.0 / 128.0), &Value::Null]);
    let too_few: Vec<&Value> = slices.iter().map(|slice| &slice["too_few"]).collect();
    assert_eq!(too_few, [false, false, false, true]);
    // three tests: 3 / 3 of the largest p, and 3 / 1 of the smallest is more than that
    let adjusted: Vec<&Value> = slices.iter().map(|slice| &slice["p_bh"]).collect();
    assert_eq!(adjusted, [&json!(0.03125), &json!(0.03125), &json!(0.03125), &Value::Null]);
    // times 1 + 1/2 + 1/3 where slices share cases
    let p_by = slices[0]["p_by"].as_f64().unwrap();
    assert!((p_by - 0.03125 * 11.0 / 6.0).abs() < 1e-15, "{p_by}");
    let family = &report["inference"]["multiplicity"]["slices"];
    assert_eq!(family, &json!({"method": "benjamini-hochberg", "tests": 3, "untested": 1}));
    // the pads 1 and -1 beside six deltas of 1: center 6/8, variance (8 - 8 * (6/8)^2) / 7 = 0.5, so that the standard
    // error is sqrt(0.5 / 8) = 0.25; t(0.975, 5) = 2.5705818
    let interval = &slices[0]["interval"];
    let lower = interval["lower"].as_f64().unwrap();
    assert!((lower - (0.75 - 2.570_581_835_6 * 0.25)).abs() < 1e-9, "{lower}");
    assert_eq!((&interval["upper"], &interval["n"]), (&json!(1.0), &json!(6)));
}

#[test]
fn an_axis_of_very_many_labels_is_left_out_by_name() {
    let workspace = Workspace::new();
    let tags: Vec<String> = (0..10_001).map(|number| format!("t{number}")).collect();
    fn case(id: &str, tags: &[String]) -> Value {
        json!({"id": id, "split": "tune", "prompt": "p", "domain": id, "tags": tags, "assertions": [says_yes()]})
    }
    workspace.suite(&json!({"cases": [case("a", &tags), case("b", &[])]}));
    workspace.write("runs/a/with_skill/output.md", "yes");
    let report = workspace.on_runs("benchmark", &["--quiet"]).json();
    let slices = report["inference"]["slices"].as_array().unwrap();
    let names: Vec<&Value> = slices.iter().map(|slice| &slice["value"]).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(report["inference"]["multiplicity"]["slices"]["axes_left_out"], json!(["tags"]));
}

#[test]
fn cases_of_one_family_are_one_unit_of_a_slice() {
    let workspace = Workspace::new();
    let case = |number: usize| {
        let id = format!("c{number}");
        let without = if number == 0 { "yes" } else { "no" };
        let domain = if number < 4 { "d" } else { "other" };
        workspace.write(&format!("runs/{id}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{id}/without_skill/output.md"), without);
        json!({"id": id, "split": "tune", "prompt": "p", "family": format!("f{}", number.min(2)), "domain": domain,
               "assertions": [says_yes()]})
    };
    let cases: Vec<Value> = (0..5).map(case).collect();
    workspace.suite(&json!({"cases": cases}));
    let report = workspace.on_runs("benchmark", &["--quiet"]).json();
    let slice = &report["inference"]["slices"][0];
    // families of the domain: f0 did not move, f1 and f2 (with two cases of it) did
    assert_eq!((&slice["unit"], &slice["n_cases"], &slice["n_units"]), (&json!("family"), &json!(4), &json!(3)));
    assert_eq!(slice["estimate"], json!(2.0 / 3.0));
}

#[test]
fn flags_say_what_they_rest_on() {
    let workspace = Workspace::new();
    let critical = json!({"type": "excludes_any", "name": "safe", "values": ["rm -rf"], "severity": "critical"});
    workspace.suite(&json!({"cases": [
        {"id": "full", "split": "tune", "prompt": "p", "assertions": [says_yes()]},
        {"id": "mixed", "split": "tune", "prompt": "p", "assertions": [says_yes(), critical]},
    ]}));
    for run in 1..=2 {
        for arm in ["with_skill", "without_skill"] {
            workspace.write(&format!("runs/full/{arm}/run-{run}/output.md"), "yes");
            let answer = if run == 2 && arm == "with_skill" { "yes rm -rf" } else { "yes" };
            workspace.write(&format!("runs/mixed/{arm}/run-{run}/output.md"), answer);
        }
    }
    let report = workspace.on_runs("benchmark", &["--quiet"]).json();
    let full = &report["case_flags"][0];
    assert_eq!(full["flags"], json!(["saturated/non-discriminating", "no objective lift"]));
    // no failure in two runs: the share of failures is at most 1 - sqrt(0.05) at 95 %
    let bound = full["flag_details"][0]["bound"].as_f64().unwrap();
    assert!((bound - (1.0 - 0.05_f64.sqrt())).abs() < 1e-12, "{bound}");
    assert_eq!((&full["flag_details"][0]["code"], &full["flag_details"][0]["n"]), (&json!("saturated"), &json!(2)));
    assert_eq!(full["flag_details"][1], json!({"code": "no_objective_lift", "n": 2}));
    let mixed = &report["case_flags"][1];
    assert_eq!(
        mixed["flags"],
        json!([
            "no objective lift",
            "with-skill failure",
            "flaky repeated pass rates: with_skill",
            "critical-failure: with_skill (safe)"
        ])
    );
    assert_eq!(
        mixed["flag_details"],
        json!([
            {"code": "no_objective_lift", "n": 2},
            {"code": "with_skill_failure", "n": 2},
            {"code": "flaky", "variant": "with_skill", "n": 2},
            {"code": "critical_failure", "variant": "with_skill", "names": ["safe"], "n": 2},
        ])
    );
}

#[test]
fn slim_rows_lack_nothing_but_the_metadata() {
    let workspace = Workspace::with_cases(&["a"]);
    for (arm, answer) in [("with_skill", "yes"), ("without_skill", "no")] {
        workspace.write(&format!("runs/a/{arm}/output.md"), answer);
        workspace.write(&format!("runs/a/{arm}/metadata.json"), r#"{"model": "m", "notes": {"long": [1, 2]}}"#);
    }
    let mut full = workspace.on_runs("benchmark", &["--quiet"]).json();
    let slim = workspace.on_runs("benchmark", &["--quiet", "--results", "slim"]).json();
    assert_eq!(slim["provenance"]["options"], json!({"results": "slim"}));
    for row in full["results"].as_array_mut().unwrap() {
        let metadata = row.as_object_mut().unwrap().shift_remove("metadata");
        assert_eq!(metadata.unwrap()["notes"], json!({"long": [1, 2]}));
    }
    full["provenance"]["options"] = json!({"results": "slim"});
    assert_eq!(slim, full);
    assert_eq!(slim["results"].to_string(), full["results"].to_string());
    let said = workspace.on_runs("benchmark", &["--quiet", "--results", "thin"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
}

#[test]
fn a_report_says_what_it_lacks() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    let lacks = |workspace: &Workspace| {
        let report = workspace.on_runs("benchmark", &[]).json();
        (report["availability"].clone(), report["incomplete_reasons"].clone())
    };
    // every pair is blocked, too
    assert_eq!(lacks(&workspace), (json!("partial"), json!(["nothing_graded", "incomplete_pairing"])));
    for case in ["a", "b"] {
        workspace.write(&format!("runs/{case}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{case}/without_skill/output.md"), "no");
    }
    assert_eq!(lacks(&workspace), (json!("complete"), json!([])));
    std::fs::remove_file(workspace.path().join("runs/b/without_skill/output.md")).unwrap();
    assert_eq!(lacks(&workspace), (json!("partial"), json!(["incomplete_pairing"])));
}
