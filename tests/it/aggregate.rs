//! `aggregate`: several skills in one report.

use serde_json::{Value, json};

use crate::support::Workspace;

/// Skills `a`, better in all of its cases, and `b`, the same in all of its cases, in repositories of their names.
pub fn two_skills(cases: usize) -> Workspace {
    let workspace = Workspace::new();
    for (skill, without) in [("a", "no"), ("b", "yes")] {
        let cases: Vec<Value> = (0..cases)
            .map(|n| {
                let assertion = json!({"name": "says-yes", "type": "contains", "value": "yes"});
                json!({"id": format!("c{n}"), "split": "tune", "prompt": "Do it.", "assertions": [assertion]})
            })
            .collect();
        let suite = json!({"version": 2, "skill_name": skill, "skill_paths": ["skills/s/SKILL.md"], "cases": cases});
        workspace.write(&format!("{skill}/evals/shared-benchmark.json"), suite.to_string());
        workspace.write(&format!("{skill}/skills/s/SKILL.md"), "---\nname: s\ndescription: d\n---\n");
        for n in 0..suite["cases"].as_array().unwrap().len() {
            let runs = format!("{skill}/eval-runs/latest/c{n}");
            workspace.write(&format!("{runs}/with_skill/output.md"), "yes");
            workspace.write(&format!("{runs}/without_skill/output.md"), without);
            let cost = json!({"cost_usd": 0.5, "total_tokens": 100}).to_string();
            workspace.write(&format!("{runs}/with_skill/metadata.json"), cost);
        }
    }
    workspace
}

pub const SUITES: [&str; 2] = ["a/evals/shared-benchmark.json", "b/evals/shared-benchmark.json"];

#[test]
fn each_report_is_the_one_of_benchmark_and_their_costs_are_added_up() {
    let workspace = two_skills(6);
    let said = workspace.run(&["aggregate", SUITES[0], SUITES[1]]);
    assert_eq!(said.code, 0, "{said:#?}");
    let report = said.json();
    for (index, skill) in ["a", "b"].into_iter().enumerate() {
        let suite = SUITES[index];
        let alone = workspace.run(&["benchmark", suite, "--runs", &format!("./{skill}/eval-runs/latest"), "--quiet"]);
        assert_eq!(report["reports"][index], alone.json(), "{skill}");
        assert_eq!(report["summary"]["by_skill"][skill], alone.json()["summary"]);
    }
    // every line is indented as if the whole were written at once
    assert_eq!(said.stdout, format!("{}\n", serde_json::to_string_pretty(&report).unwrap()));
    let summary = &report["summary"];
    assert_eq!(
        (&summary["skills"], &summary["case_variant_rows"], &summary["unique_cases"]),
        (&json!(2), &json!(24), &json!(12))
    );
    let totals = &summary["cost_summary"]["totals"];
    assert_eq!((&totals["known_total_cost_usd"], &totals["known_total_tokens"]), (&json!(6.0), &json!(1200)));
    assert_eq!(summary["cost_summary"]["coverage"]["runs_missing_cost"], 12);
    // the cases of b are saturated and have no lift
    assert_eq!(summary["flags"].as_array().unwrap().len(), 6);
    assert_eq!(summary["flags"][0]["skill_name"], "b");
}

#[test]
fn the_mean_over_skills_says_how_much_they_differ() {
    let report = two_skills(6).run(&["aggregate", SUITES[0], SUITES[1], "--quiet"]).json();
    let across = &report["summary"]["across_skills"];
    // padded with 1 and -1: six ones have the mean 6/8 and the squares (6·(1/4)² + (1/4)² + (7/4)²)/7 = 1/2, so that the
    // standard error is sqrt(1/2 / 8) = 1/4; six zeros have 2/7 and sqrt(2/7 / 8)
    let error = |skill: &str| across["by_skill"][skill]["standard_error"].as_f64().unwrap();
    assert!((error("a") - 0.25).abs() < 1e-15, "{across}");
    assert!((error("b") - (1.0_f64 / 28.0).sqrt()).abs() < 1e-15, "{across}");
    assert_eq!((&across["by_skill"]["a"]["lift"], &across["by_skill"]["b"]["lift"]), (&json!(1.0), &json!(0.0)));
    // weights 16 and 28: Q = 16·28/44 = 10.18..; tau² = (Q - 1) / (44 - (16² + 28²)/44) = 0.45089..
    let close = |key: &str, expected: f64| {
        let found = across[key].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{key}: {found}");
    };
    let q = 16.0 * 28.0 / 44.0;
    let tau_squared = (q - 1.0) / (44.0 - (256.0 + 784.0) / 44.0);
    close("i_squared", (q - 1.0) / q);
    close("tau", f64::sqrt(tau_squared));
    let (a, b) = (1.0 / (1.0 / 16.0 + tau_squared), 1.0 / (1.0 / 28.0 + tau_squared));
    close("mean_lift", a / (a + b));
    // with two skills no interval of a lift is narrower than all lifts
    assert_eq!((&across["lower"], &across["upper"]), (&json!(-1.0), &json!(1.0)));
    let said = two_skills(6).run(&["aggregate", SUITES[0], SUITES[1], "--format", "table", "--quiet"]);
    insta::assert_snapshot!("aggregate_table", said.stdout);
}

#[test]
fn one_skill_has_no_mean_over_skills() {
    let report = two_skills(2).run(&["aggregate", SUITES[0]]).json();
    let across = &report["summary"]["across_skills"];
    assert_eq!((&across["mean_lift"], &across["reason"]), (&Value::Null, &json!("too_few_skills")));
}

#[test]
fn the_same_skill_twice_is_refused() {
    let workspace = two_skills(2);
    let said = workspace.run(&["aggregate", SUITES[0], SUITES[0], "--out", "all.json", "--quiet"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    let message = format!("FAIL: {0} and {0} are both about the skill a: give each skill once", SUITES[0]);
    assert_eq!(said.lines("FAIL"), [message]);
    assert!(!workspace.path().join("all.json").exists());
}

#[test]
fn a_suite_that_is_not_there_is_named() {
    let said = two_skills(2).run(&["aggregate", "c/evals/shared-benchmark.json"]);
    assert_eq!(said.code, 1);
    assert_eq!(said.lines("FAIL"), ["FAIL: no such file: c/evals/shared-benchmark.json"]);
    assert_eq!(two_skills(2).run(&["aggregate"]).code, 2);
}
