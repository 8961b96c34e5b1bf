//! `token-overhead`: pairs with the values that a hand calculation gives, what is left out, and how it looks.

use serde_json::{Value, json};

use crate::support::Workspace;

/// Telemetry as a runner of today writes it.
fn telemetry(tokens: u64, amount: &str, currency: &str, tree: Option<&str>) -> String {
    let basis = json!({"population": "answer", "provider": "p", "runner": "p", "model": "m", "billing_scope": "run",
        "skill_tree_hash": tree});
    let value = |value: Value| json!({"availability": "available", "value": value, "provenance": "provider_reported", "basis": basis});
    json!({"model": "m", "telemetry": {"schema_version": 3, "measurements": {
        "total_tokens": value(json!(tokens)), "input_tokens": value(json!(tokens - 100)), "output_tokens": value(json!(100)),
        "cost": value(json!({"amount": amount, "currency": currency})), "skill_invoked": value(json!(tree.is_some())),
    }}})
    .to_string()
}

const SKILL: &str = "---\nname: demo\ndescription: d\n---\n\n## Steps\n\n```\n## not one\n```\n";

/// Case `better` is better with the skill, `same` passes in both arms; `gaps` has a pair with one run and one with a
/// run that failed; `trigger` is none that is answered.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let says_yes = json!({"name": "says-yes", "type": "contains", "value": "yes"});
    let case = |id: &str, kind: &str| json!({"id": id, "kind": kind, "split": "tune", "prompt": "Do it.", "assertions": [says_yes]});
    let cases = json!([
        case("better", "behavior"),
        case("same", "behavior"),
        case("gaps", "behavior"),
        case("trigger", "trigger")
    ]);
    workspace.suite(&json!({"cases": cases}));
    workspace.write("skills/demo/SKILL.md", SKILL);
    workspace.write("skills/demo/references/notes.md", "one two three");
    let run = |path: &str, answer: &str, metadata: String| {
        workspace.write(&format!("runs/{path}/output.md"), answer);
        workspace.write(&format!("runs/{path}/metadata.json"), metadata);
    };
    run("better/with_skill", "yes", telemetry(1200, "0.030", "USD", Some("h")));
    run("better/without_skill", "no", telemetry(1000, "0.02", "USD", None));
    run("same/with_skill", "yes", telemetry(1100, "0.05", "USD", Some("h")));
    run("same/without_skill", "yes", telemetry(1150, "0.04", "USD", None));
    run(
        "gaps/with_skill/run-1",
        "yes",
        telemetry(150, "1", "USD", Some("h")).replace("\"model\":\"m\"", "\"model\":\"m\",\"returncode\":1"),
    );
    run("gaps/without_skill/run-1", "yes", telemetry(200, "1", "USD", None));
    run("gaps/without_skill/run-2", "yes", telemetry(200, "1", "USD", None));
    run("trigger/with_skill", "yes", telemetry(9000, "9", "USD", Some("h")));
    run("trigger/without_skill", "no", telemetry(8000, "8", "USD", None));
    workspace
}

fn report(workspace: &Workspace, more: &[&str]) -> Value {
    let said = workspace.on_runs("token-overhead", more);
    assert_eq!(said.code, 0, "{said:#?}");
    said.json()
}

/// The figures below are worked out by hand.
#[test]
fn pairs_have_differences_and_ratios() {
    let report = report(&workspace(), &[]);
    let skill = &report["reports"][0];
    let pairs = skill["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    let better = &pairs[0];
    assert_eq!(
        (&better["case_id"], &better["model"], &better["run_number"]),
        (&json!("better"), &json!("m"), &json!(1))
    );
    assert_eq!((&better["with_skill_invoked"], &better["without_skill_invoked"]), (&json!(true), &json!(false)));
    assert_eq!((&better["with_total_tokens"], &better["total_token_delta"]), (&json!(1200), &json!(200)));
    assert_eq!((&better["input_token_delta"], &better["output_token_delta"]), (&json!(200), &json!(0)));
    // (1 - 0) / (200 / 1000), and (1 - 0) / (0.030 - 0.02)
    assert_eq!(better["objective_lift_per_1k_total_tokens"], 5.0);
    assert_eq!(better["objective_lift_per_dollar"], 100.0);
    assert_eq!(
        better["cost_delta_comparison"],
        json!({"availability": "comparable",
        "value": {"amount": "0.010", "currency": "USD"},
        "basis": {"currency": "USD", "population": "answer", "provider": "p", "model": "m", "billing_scope": "run"}})
    );
    let basis = &better["total_token_delta_comparison"]["basis"];
    assert_eq!(
        (&basis["skill_tree_hash"], &basis["variant"], &basis["case_id"]),
        (&json!("h"), &json!("with_skill"), &json!("better"))
    );
    assert_eq!(better["without_cost"]["value"], json!({"amount": "0.02", "currency": "USD"}));
    assert_eq!(
        (&better["with_run_base"], &better["with_run_dir"]),
        (&json!("runs/better/with_skill"), &json!("better/with_skill"))
    );

    let same = &pairs[1];
    assert_eq!((&same["total_token_delta"], &same["objective_delta"]), (&json!(-50), &json!(0.0)));
    let per_token = &same["objective_lift_per_1k_total_tokens_comparison"];
    assert_eq!(per_token["reason"], "non_positive_denominator");
    assert_eq!(per_token["basis"]["case_id"], "same");
    // nothing was gained for 0.01 dollars: that is a lift of 0 for a dollar, and both runs were spent without lift
    assert_eq!(same["objective_lift_per_dollar"], 0.0);
    let summary = &skill["summary"];
    assert_eq!(summary["saturated_or_no_lift_cost_usd"], 0.09);
    assert_eq!(summary["total_token_delta"]["mean"], 75.0);
    assert_eq!(summary["objective_lift_per_dollar"]["mean"], 50.0);
    // a ratio of means does not lose the pair in which the skill was cheaper: 0.5 / 0.075
    let ratio = skill["efficiency"]["total_tokens"]["ratio"]["value"].as_f64().unwrap();
    assert!((ratio - 0.5 / 0.075).abs() < 1e-12, "{ratio}");
    assert_eq!(skill["provenance"]["blocks_missing"], json!([]));
}

#[test]
fn what_is_not_compared_is_named() {
    let report = report(&workspace(), &[]);
    let skill = &report["reports"][0];
    let blocked: Vec<Value> = skill["blocked_pairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| {
            json!([
                pair["case_id"],
                pair["run_number"],
                pair["pair_status"]["reason"],
                pair["with_run_base"],
                pair["total_token_delta"]
            ])
        })
        .collect();
    let expected = json!([
        ["gaps", 1, "unscorable_arm", "runs/gaps/with_skill/run-1", null],
        ["gaps", 2, "missing_left", null, null],
    ]);
    assert_eq!(Value::Array(blocked), expected);
    assert_eq!(
        skill["summary"]["cost_delta_coverage"],
        json!({"eligible_pairs": 2, "blocked_reason_counts": {"unscorable_arm": 1, "missing_left": 1}})
    );
    assert_eq!(skill["skipped_trigger_cases"], json!(["trigger"]));
    assert_eq!(report["summary"]["runtime_pairs"], 2);
}

#[test]
fn the_skill_is_measured_in_words() {
    let report = report(&workspace(), &[]);
    let skill = &report["reports"][0];
    // `---`, `name:`, `demo`, `description:`, `d`, `---`, `##`, `Steps`, two fences, `##`, `not`, `one`
    assert_eq!(skill["summary"]["static_skill_tokens"], 13);
    assert_eq!(skill["summary"]["static_total_tokens"], 16);
    assert_eq!(skill["summary"]["mean_total_overhead_per_static_skill_token"], 75.0 / 13.0);
    let profile = &skill["profile"];
    assert_eq!(profile["files"][0]["path"], "skills/demo/SKILL.md");
    assert_eq!(profile["files"][0]["modules"], json!(["Steps"]));
    assert_eq!(profile["references"], json!([{"path": "skills/demo/references/notes.md", "tokens": 3, "bytes": 13}]));
}

#[test]
fn a_skill_or_runs_that_are_not_there_are_no_zeros() {
    let workspace = Workspace::new();
    let case =
        json!({"id": "c", "split": "tune", "prompt": "Do it.", "assertions": [{"type": "contains", "value": "x"}]});
    workspace.suite(&json!({"cases": [case], "skill_paths": ["skills/gone"]}));
    let said = workspace.run(&["token-overhead", "evals/shared-benchmark.json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert_eq!(said.lines("WARN runs_missing").len(), 1);
    let report = said.json();
    let skill = &report["reports"][0];
    assert_eq!(skill["runs"], "eval-runs/latest");
    assert_eq!((&skill["pairs"], &skill["blocked_pairs"]), (&json!([]), &json!([])));
    let summary = &skill["summary"];
    assert_eq!((&summary["static_skill_tokens"], &summary["static_total_tokens"]), (&Value::Null, &Value::Null));
    assert_eq!(summary["total_token_delta"]["mean"], Value::Null);
    // no pair without lift is a sum of nothing, which is known
    assert_eq!(summary["saturated_or_no_lift_cost_usd"], 0.0);
    assert_eq!(skill["profile"]["findings"][0]["kind"], "missing-skill-file");
    assert_eq!(report["summary"]["mean_static_skill_tokens"], Value::Null);
}

#[test]
fn money_that_is_no_dollar_has_no_dollar_figures() {
    let workspace = Workspace::with_cases(&["c", "d"]);
    let run = |path: &str, answer: &str, metadata: String| {
        workspace.write(&format!("runs/{path}/output.md"), answer);
        workspace.write(&format!("runs/{path}/metadata.json"), metadata);
    };
    run("c/with_skill", "yes", telemetry(200, "0.5", "EUR", None));
    run("c/without_skill", "no", telemetry(200, "0.25", "EUR", None));
    run("d/with_skill", "no", telemetry(200, "0.5", "EUR", None));
    run("d/without_skill", "no", telemetry(200, "0.25", "USD", None));
    let report = report(&workspace, &[]);
    let pairs = &report["reports"][0]["pairs"];
    assert_eq!((&pairs[0]["cost_delta_usd"], &pairs[0]["objective_lift_per_dollar"]), (&Value::Null, &Value::Null));
    assert_eq!(pairs[0]["objective_lift_per_cost_unit"], 4.0);
    let blocked = &pairs[0]["objective_lift_per_dollar_comparison"];
    assert_eq!((&blocked["reason"], &blocked["basis"]["currency"]), (&json!("currency_not_usd"), &json!("EUR")));
    assert_eq!(pairs[1]["cost_delta_comparison"], json!({"availability": "blocked", "reason": "currency_mismatch"}));
    // one of the two runs without lift was paid in dollars
    let summary = &report["reports"][0]["summary"];
    assert_eq!(summary["saturated_or_no_lift_cost_usd"], 0.25);
    assert_eq!(summary["cost_delta_coverage"]["blocked_reason_counts"], json!({"currency_mismatch": 1}));
}

#[test]
fn scripts_and_judges_follow_the_flags_of_benchmark() {
    let workspace = Workspace::new();
    let script =
        json!({"name": "script", "type": "script", "command": ["/bin/sh", "oracles/check.sh", "{output_dir}"]});
    let contains = json!({"name": "any", "type": "regex", "pattern": "yes|no"});
    let judge = json!({"name": "good", "type": "judge", "rubric": ["It is good."]});
    let case = json!({"id": "c", "split": "tune", "prompt": "Do it.", "assertions": [script, contains, judge]});
    workspace.suite(&json!({"cases": [case]}));
    workspace.write("evals/oracles/check.sh", "grep -q yes \"$1/output.md\"\n");
    for (arm, answer) in [("with_skill", "yes"), ("without_skill", "no")] {
        workspace.write(&format!("runs/c/{arm}/output.md"), answer);
    }
    let rates = |more: &[&str]| {
        let overhead = report(&workspace, more);
        let pair = &overhead["reports"][0]["pairs"][0];
        let both = json!([pair["with_objective_pass_rate"], pair["without_objective_pass_rate"]]);
        let benchmark = workspace.on_runs("benchmark", more).json();
        let rows = benchmark["results"].as_array().unwrap().iter();
        let of_rows: Vec<&Value> = rows.map(|row| &row["objective_pass_rate"]).collect();
        assert_eq!(both, json!(of_rows));
        both
    };
    assert_eq!(rates(&[]), json!([0.5, 0.5]));
    assert_eq!(rates(&["--unobserved", "exclude"]), json!([1.0, 1.0]));
    assert_eq!(rates(&["--allow-scripts"]), json!([1.0, 0.5]));
    let options = &report(&workspace, &["--allow-scripts"])["reports"][0]["provenance"]["options"];
    assert_eq!(options["allow-scripts"], true);
}

#[test]
fn several_suites_and_their_repositories() {
    let workspace = workspace();
    let suite = std::fs::read_to_string(workspace.path().join("evals/shared-benchmark.json")).unwrap();
    workspace.write("other/evals/shared-benchmark.json", suite.replace("\"demo\"", "\"other\""));
    workspace.write("other/skills/demo/SKILL.md", "one");
    workspace.write("other/eval-runs/latest/same/with_skill/output.md", "yes");
    workspace.write("other/eval-runs/latest/same/without_skill/output.md", "yes");
    let both = ["token-overhead", "evals/shared-benchmark.json", "other/evals/shared-benchmark.json"];
    let said = workspace.run(&both);
    let report = said.json();
    assert_eq!(
        report["summary"],
        json!({"skills": 2, "skills_with_runtime_pairs": 1, "runtime_pairs": 1,
        "mean_static_skill_tokens": 7.0, "mean_static_reference_tokens": 1.5})
    );
    assert_eq!(report["reports"][1]["runs"], "other/eval-runs/latest");
    assert_eq!(report["reports"][1]["pairs"][0]["with_run_base"], "other/eval-runs/latest/same/with_skill");
    assert_eq!(report["reports"][1]["summary"]["saturated_or_no_lift_cost_usd"], Value::Null);

    let table = workspace.run(&[&both[..], &["--format", "table", "--quiet"]].concat());
    insta::assert_snapshot!("overhead_of_two_skills", table.stdout);
}

#[test]
fn tables_for_people() {
    let workspace = workspace();
    let table = workspace.on_runs("token-overhead", &["--format", "table"]).stdout;
    insta::assert_snapshot!("overhead_table", table);
    let markdown = workspace.on_runs("token-overhead", &["--format", "md"]).stdout;
    insta::assert_snapshot!("overhead_markdown", markdown);
    let ascii = workspace.on_runs("token-overhead", &["--format", "table", "--ascii"]).stdout;
    assert!(ascii.is_ascii());
    // beside a file the table is shown, and Markdown goes where it is asked to go
    let said = workspace.on_runs("token-overhead", &["--out", "report.json"]);
    assert_eq!(said.stdout, table);
    let said = workspace.on_runs("token-overhead", &["--out", "report.md", "--format", "markdown"]);
    assert_eq!(said.stdout, "");
    assert_eq!(std::fs::read_to_string(workspace.path().join("report.md")).unwrap(), markdown);
}

#[test]
fn wrong_arguments() {
    let workspace = workspace();
    assert_eq!(workspace.run(&["token-overhead"]).code, 2);
    assert_eq!(workspace.on_runs("token-overhead", &["--runs-subdir", "x"]).code, 2);
    let said = workspace.run(&["token-overhead", "gone.json"]);
    assert_eq!(said.code, 1);
    assert_eq!(said.lines("FAIL:").len(), 1, "{}", said.stderr);
}
