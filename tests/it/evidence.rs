//! Figures whose evidence is incomplete: as observed beside their place, or withheld with `--evidence strict`.

use serde_json::{Value, json};

use crate::support::Workspace;

/// Three cases of one run per arm: better, the same, and (where `complete`) worse; else the last has no run without.
fn workspace(complete: bool) -> Workspace {
    let workspace = Workspace::with_cases(&["a", "b", "c"]);
    for (run, answer) in [
        ("a/with_skill", "yes"),
        ("a/without_skill", "no"),
        ("b/with_skill", "yes"),
        ("b/without_skill", "yes"),
        ("c/with_skill", "no"),
    ] {
        workspace.write(&format!("runs/{run}/output.md"), answer);
    }
    if complete {
        workspace.write("runs/c/without_skill/output.md", "yes");
    }
    workspace
}

fn report(complete: bool, more: &[&str]) -> Value {
    workspace(complete).on_runs("benchmark", more).json()
}

const STRICT: &[&str] = &["--evidence", "strict"];

#[test]
fn figures_stand_in_their_place_and_say_what_is_incomplete() {
    let report = report(false, &[]);
    let block = &report["paired_summary"];
    // a gains 1, b nothing; c has one arm
    assert_eq!(block["absolute_delta"], 0.5);
    assert_eq!((&block["availability"], &block["reason"]), (&json!("partial"), &json!("incomplete_pairing")));
    assert_eq!(block["observed_absolute_delta"], 0.5);
    assert_eq!(block["observed_significance"], block["significance"]);
    let arms = &report["summary"];
    assert_eq!(arms["with_skill"]["availability"], "complete");
    assert!(arms["with_skill"].get("observed_mean_objective_pass_rate").is_none());
    let without = &arms["without_skill"];
    assert_eq!((&without["scorable_runs"], &without["blocked_runs"]), (&json!(2), &json!(1)));
    assert_eq!((&without["availability"], &without["reason"]), (&json!("partial"), &json!("unscorable_arm")));
    let metrics = json!({"objective_pass_rate": "partial", "combined_pass_rate": "partial",
        "process_pass_rate": "empty", "efficiency_pass_rate": "empty"});
    assert_eq!(without["metric_availability"], metrics);
    // one of two runs says yes
    assert_eq!(without["mean_objective_pass_rate"], 0.5);
    assert_eq!(without["observed_mean_objective_pass_rate"], 0.5);
    assert_eq!(report["reliability"]["by_variant"]["without_skill"]["partial_cases"], 1);
    assert_eq!(report["reliability"]["by_variant"]["with_skill"]["partial_cases"], 0);
    assert_eq!(report["reliability"]["paired_lift"]["by_case"]["a"]["availability"], "complete");
}

#[test]
fn strict_evidence_withholds_figures_and_keeps_them_as_observed() {
    let report = report(false, STRICT);
    let block = &report["paired_summary"];
    for (key, observed) in [
        ("with_skill_objective_pass_rate", json!(1.0)),
        ("without_skill_objective_pass_rate", json!(0.5)),
        ("absolute_delta", json!(0.5)),
        ("normalized_gain", json!(1.0)),
    ] {
        assert_eq!((&block[key], &block[format!("observed_{key}")]), (&Value::Null, &observed), "{key}");
    }
    let unavailable = json!({"method": "unavailable", "n": 0, "observed_mean_delta": null, "p_value": null,
        "significant_at_0_05": false, "reason": "incomplete_pairing"});
    assert_eq!(block["significance"], unavailable);
    // one unit of two moved: both sign patterns are as far from 0
    assert_eq!(block["observed_significance"]["p_value"], 1.0);
    assert_eq!((&block["interval"], &block["noise_check"]), (&Value::Null, &Value::Null));
    assert_eq!(block["observed_noise_check"]["cases_moved"], 1);
    assert_eq!(report["summary"]["with_skill"]["mean_objective_pass_rate"], 2.0 / 3.0);
    let without = &report["summary"]["without_skill"];
    assert_eq!(without["mean_objective_pass_rate"], Value::Null);
    assert_eq!(without["observed_objective_pass_rate"]["n"], 2);
    let reliability = &report["reliability"];
    assert_eq!(reliability["by_variant"]["without_skill"]["mean_pass_at_1"], Value::Null);
    assert_eq!(reliability["by_variant"]["without_skill"]["observed_mean_pass_at_1"], 0.5);
    let pooled = &reliability["paired_lift"]["pooled"];
    assert_eq!((&pooled["mean_pass_at_1_delta"], &pooled["mean_pass_at_k_delta"]), (&Value::Null, &json!({})));
    assert_eq!(pooled["observed_mean_pass_at_k_delta"], json!({"1": 0.5}));
    // nothing is missing in this case
    assert_eq!(reliability["paired_lift"]["by_case"]["a"]["pass_at_1_delta"], 1.0);
}

#[test]
fn strict_evidence_changes_nothing_in_a_complete_report() {
    let report = report(true, STRICT);
    assert_eq!((&report["availability"], &report["incomplete_reasons"]), (&json!("complete"), &json!([])));
    // +1, 0 and −1
    assert_eq!(report["paired_summary"]["absolute_delta"], 0.0);
    assert_eq!(report["paired_summary"]["availability"], "complete");
    assert!(!report.to_string().contains("\"observed_mean_objective_pass_rate\""));
}

#[test]
fn the_ranking_of_models_withholds_what_their_blocks_withhold() {
    let workspace = Workspace::with_cases(&["a"]);
    for (run, answer) in [("m1/with_skill", "yes"), ("m1/without_skill", "no"), ("m2/with_skill", "yes")] {
        workspace.write(&format!("runs/a/{run}/output.md"), answer);
    }
    let report = workspace.on_runs("benchmark", STRICT).json();
    let lifts: Vec<&Value> =
        report["model_analysis"]["ranking"].as_array().unwrap().iter().map(|model| &model["lift"]).collect();
    assert_eq!(lifts, [&json!(1.0), &Value::Null]);
    assert_eq!(report["paired_summary"]["absolute_delta"], Value::Null);
    assert_eq!(report["paired_summary"]["by_model"]["m1"]["absolute_delta"], 1.0);
}

#[test]
fn the_summary_says_that_figures_are_withheld() {
    let workspace = workspace(false);
    let said = workspace.on_runs("benchmark", &["--evidence", "strict", "--format", "table"]);
    let text = said.stdout.replace('\n', " ");
    assert!(text.contains("The evidence is incomplete."), "{text}");
    assert!(text.contains("Observed, not a finding: Pass rate 50% → 100%"), "{text}");
    assert!(text.contains("Figures are withheld: pairs are blocked."), "{text}");
    assert!(!text.contains("Sure?"), "{text}");
    workspace.on_runs("benchmark", &["--evidence", "strict", "--out", "report.json", "--quiet"]);
    let verified = workspace.run(&["verify", "report.json", "--runs", "runs"]);
    assert_eq!(verified.code, 0, "{verified:#?}");
}

#[test]
fn a_lift_at_a_price_minus_its_cost_is_what_the_skill_gains() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    let cost = |amount: f64| {
        json!({"provider": "p", "model": "m", "cost_normalized": {"currency": "USD", "total_cost": amount,
            "source": "provider_reported"}})
        .to_string()
    };
    for (run, answer, amount) in [
        ("a/with_skill", "yes", 0.3),
        ("a/without_skill", "no", 0.1),
        ("b/with_skill", "yes", 0.2),
        ("b/without_skill", "yes", 0.1),
    ] {
        workspace.write(&format!("runs/{run}/output.md"), answer);
        workspace.write(&format!("runs/{run}/metadata.json"), cost(amount));
    }
    let report = workspace.on_runs("benchmark", &["--value-per-lift", "2"]).json();
    let benefit = &report["inference"]["efficiency"]["money"]["net_benefit"];
    // a gains 1 · 2 − 0.2 = 1.8, b gains 0 − 0.1: the mean is 0.85; of four sign patterns all are as far from 0 as 1.7 but
    // the two of ±1.9, which are farther: 2 + 2 of 4
    assert_eq!(benefit["value"], 0.85);
    assert_eq!(benefit["p_two_sided"], 1.0);
    assert_eq!(benefit["value_per_lift"], 2.0);
    // padded with ±1.8: mean of four 0.425, squared deviations 1.375² + 0.525² + 1.375² + 2.225² = 9.0075, standard error
    // sqrt(9.0075 / 3 / 4) = 0.866386..., t with one degree of freedom 12.706204736
    let expected = 0.425 - 12.706_204_736_432_095 * (9.0075_f64 / 12.0).sqrt();
    assert!((benefit["lower"].as_f64().unwrap() - expected).abs() < 1e-9, "{benefit}");
    assert!(
        workspace.on_runs("benchmark", &[]).json()["inference"]["efficiency"]["money"].get("net_benefit").is_none()
    );
    workspace.on_runs("benchmark", &["--value-per-lift", "2", "--out", "report.json", "--quiet"]);
    let verified = workspace.run(&["verify", "report.json", "--runs", "runs"]);
    assert_eq!(verified.code, 0, "{verified:#?}");
    for bad in ["0", "-1", "nan", "inf", "1e300", "", "1,5"] {
        let said = workspace.on_runs("benchmark", &[&format!("--value-per-lift={bad}")]);
        assert_eq!(said.code, 2, "{bad}: {said:#?}");
    }
}
