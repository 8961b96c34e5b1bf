//! What runs used and cost: the report, `cost-summary`, and complaints about them that users of such tools made in public.

use serde_json::{Value, json};

use crate::support::{Workspace, conformance};

/// Metadata whose telemetry has one measurement.
fn measured(name: &str, measurement: &Value) -> String {
    json!({"telemetry_schema_version": 3, "telemetry": {"schema_version": 3, "measurements": {name: measurement}}})
        .to_string()
}

/// Money that a provider stated, in the normalised form.
fn priced(amount: f64) -> String {
    json!({"provider": "p", "model": "m", "cost_normalized": {"currency": "USD", "total_cost": amount,
        "source": "provider_reported"}})
    .to_string()
}

#[test]
fn the_vectors_of_measurement_statistics_are_what_an_arm_used() {
    let statistics = conformance("statistics.json");
    let vectors = statistics["measurement_stats"].as_array().unwrap();
    assert_eq!(vectors.len(), 7);
    for vector in vectors {
        let workspace = Workspace::with_cases(&["c"]);
        for (index, measurement) in vector["measurements"].as_array().unwrap().iter().enumerate() {
            let run = format!("runs/c/with_skill/run-{}", index + 1);
            workspace.write(&format!("{run}/output.md"), "yes");
            workspace.write(&format!("{run}/metadata.json"), measured("total_tokens", measurement));
        }
        let report = workspace.on_runs("benchmark", &["--variant", "with_skill"]).json();
        let mut found = report["summary"]["with_skill"]["total_tokens"].clone();
        let found = found.as_object_mut().unwrap();
        // ours stand beside
        found.retain(|key, _| !key.starts_with("observed_"));
        let expected = vector["peer"].as_object().unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{}", vector["id"]);
        for (key, value) in expected {
            let same = match (value.as_f64(), found[key].as_f64()) {
                (Some(a), Some(b)) => a == b,
                _ => *value == found[key],
            };
            assert!(same, "{}: {key}: expected {value}, got {}", vector["id"], found[key]);
        }
    }
}

#[test]
fn cached_tokens_are_not_counted_twice() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/output.md", "yes");
    // 5 of the 10 that went in came from a cache: 30 in all
    let usage =
        json!({"provider": "codex", "usage": {"input_tokens": 10, "cached_input_tokens": 5, "output_tokens": 20}});
    workspace.write("runs/c/with_skill/metadata.json", usage.to_string());
    let report = workspace.on_runs("benchmark", &["--variant", "with_skill"]).json();
    assert_eq!(report["summary"]["with_skill"]["total_tokens"]["sum"], 30.0);
    assert_eq!(report["cost_summary"]["totals"]["total_tokens"], 30);
    let caches = &report["cost_summary"]["cache_accounting"];
    assert_eq!(caches["billable_tokens"]["value"], 30);
    assert_eq!(caches["cache_read_tokens"]["value"], 5);
    assert_eq!(caches["cache_write_tokens"]["reason_counts"], json!({"missing_cache_write_tokens": 1}));
}

#[test]
fn a_missing_cost_is_not_zero_and_a_zero_is_not_missing() {
    let workspace = Workspace::with_cases(&["c"]);
    let mut priced_runs = 0;
    for repetition in 1..=30 {
        for arm in ["with_skill", "without_skill"] {
            let run = format!("runs/c/{arm}/run-{repetition}");
            workspace.write(&format!("{run}/output.md"), if arm == "with_skill" { "yes" } else { "no" });
            workspace.write(&format!("{run}/metadata.json"), r#"{"model":"m"}"#);
            // 41 of the 60 runs say what they cost; the first of them cost nothing
            if priced_runs < 41 {
                let amount = if priced_runs == 0 { 0.0 } else { 0.25 };
                workspace.write(&format!("{run}/metadata.json"), priced(amount));
                priced_runs += 1;
            }
        }
    }
    let said = workspace.on_runs("benchmark", &["--out", "benchmark.json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    let report: Value =
        serde_json::from_slice(&std::fs::read(workspace.path().join("benchmark.json")).unwrap()).unwrap();
    let totals = &report["cost_summary"]["totals"];
    assert_eq!((&totals["total_cost_usd"], &totals["known_total_cost_usd"]), (&Value::Null, &json!(10.0)));
    assert_eq!(totals["total_cost_usd_aggregate"]["known_subtotal"], "10.00");
    assert_eq!(report["cost_summary"]["coverage"]["runs_with_dollar_cost"], 41);
    assert_eq!(report["cost_summary"]["coverage"]["runs_missing_cost"], 19);
    // 21 runs with the skill are priced, 20 without: means over those, 20 × 0.25 / 21 and 0.25
    let cost = |arm: &str| report["summary"][arm]["cost_usd"].clone();
    assert_eq!((&cost("with_skill")["mean"], &cost("with_skill")["n"]), (&Value::Null, &json!(21)));
    assert_eq!(cost("with_skill")["observed_mean"], 0.238095);
    assert_eq!(cost("without_skill")["observed_mean"], 0.25);
    // the lift for a dollar is no finding when a third of the pairs does not say what it cost
    let money = &report["inference"]["efficiency"]["money"];
    assert_eq!((&money["pairs"], &money["pairs_measured"]), (&json!(30), &json!(20)));
    assert_eq!((&money["ratio"]["value"], &money["ratio"]["reason"]), (&Value::Null, &json!("incomplete_measurement")));
    // 19 pairs cost the same in both arms, one cost nothing with the skill
    assert_eq!(money["mean_difference"], -0.25 / 20.0);
    assert!(said.stdout.contains("  Cost    \u{2212}$0.012 a run (20 of 30 pairs measured)\n"), "{}", said.stdout);
}

/// Three cases: better at 0.01, better at 0.02, the same at 0.03 dollars more.
fn three_cases() -> Workspace {
    let workspace = Workspace::with_cases(&["a", "b", "c"]);
    for (case, without, cost) in [("a", "no", 0.11), ("b", "no", 0.12), ("c", "yes", 0.13)] {
        workspace.write(&format!("runs/{case}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{case}/without_skill/output.md"), without);
        workspace.write(&format!("runs/{case}/with_skill/metadata.json"), priced(cost));
        workspace.write(&format!("runs/{case}/without_skill/metadata.json"), priced(0.1));
    }
    workspace
}

#[test]
fn lift_for_a_dollar_is_a_ratio_of_means() {
    let report = three_cases().on_runs("benchmark", &[]).json();
    let money = &report["inference"]["efficiency"]["money"];
    // (2/3) / 0.02; a mean of the ratios 100, 50 and 0 would be 50
    let ratio = money["ratio"]["value"].as_f64().unwrap();
    assert!((ratio - 100.0 / 3.0).abs() < 1e-12, "{ratio}");
    // with t(2) = 4.303 the mean difference 0.02 ± 0.0248 does not exclude 0: no two-sided interval
    assert_eq!(money["ratio"]["reason"], "denominator_may_be_zero");
    assert_eq!(money["ratio"]["lower"], Value::Null);
    assert_eq!(money["plane"]["better"], json!({"cheaper": 0, "same": 0, "dearer": 2}));
    assert_eq!(money["plane"]["same"], json!({"cheaper": 0, "same": 0, "dearer": 1}));
    assert_eq!((&money["n"], &money["currency"]), (&json!(3), &json!("USD")));
    assert_eq!(money["provenance"], json!(["provider_reported"]));
    let per_run = &report["inference"]["cost_per_run"]["money"];
    assert_eq!(*per_run, json!({"delta": 0.02, "currency": "USD", "pairs_measured": 3, "pairs": 3}));
    let tokens = &report["inference"]["cost_per_run"]["tokens"];
    assert_eq!(*tokens, json!({"delta": null, "pairs_measured": 0, "pairs": 3, "reason": "missing_left"}));
    // the means of version 0.6 over the same pairs
    assert_eq!(report["cost_summary"]["mean_paired_cost_delta"], 0.02);
    assert_eq!(report["cost_summary"]["paired_cost_delta"]["b"]["delta"], 0.02);
}

#[test]
fn money_of_two_currencies_is_not_added_up() {
    let workspace = three_cases();
    let euros = priced(0.5).replace("USD", "EUR");
    for arm in ["with_skill", "without_skill"] {
        workspace.write(&format!("runs/c/{arm}/metadata.json"), &euros);
    }
    let report = workspace.on_runs("benchmark", &[]).json();
    let cost = &report["cost_summary"];
    assert_eq!(cost["totals"]["cost_by_currency"]["EUR"]["value"], "1.0");
    assert_eq!(cost["totals"]["total_cost_usd"], 0.43);
    assert_eq!(cost["mean_paired_cost_delta_by_currency"], json!({"EUR": 0.0, "USD": 0.015}));
    let money = &report["inference"]["efficiency"]["money"];
    assert_eq!(money["blocked_reason_counts"], json!({"mixed_currency_pairs": 3}));
    assert_eq!(money["ratio"]["reason"], "no_eligible_pairs");
}

#[test]
fn the_ledger_counts_every_run_that_was_paid_for() {
    let workspace = three_cases();
    // an arm that is not compared, a second repetition that failed, a run without a price, and no run at all
    workspace.write("runs/a/ablation:x/output.md", "no");
    workspace.write("runs/a/ablation:x/metadata.json", priced(0.5));
    workspace.write("runs/b/other-model/with_skill/run-1/output.md", "[TIMEOUT]");
    workspace.write("runs/b/other-model/with_skill/run-1/metadata.json", r#"{"trace_source":"pi","total_tokens":7}"#);
    workspace.write("runs/c/notes/readme.txt", "not a run");
    let arguments = ["cost-summary", "--manifest", "evals/shared-benchmark.json", "--runs", "runs"];
    let ledger = workspace.run(&arguments).json();
    assert_eq!(ledger["coverage"]["runs_seen"], 8);
    assert_eq!(ledger["totals"]["known_total_cost_usd"], 1.16);
    let runs = |group: &str, name: &str| ledger[group][name]["runs"].clone();
    assert_eq!((runs("by_variant", "with_skill"), runs("by_variant", "ablation:x")), (json!(4), json!(1)));
    assert_eq!((runs("by_runner", "p"), runs("by_runner", "pi")), (json!(7), json!(1)));
    // the case with a run that does not say what it cost is not ranked
    let top: Vec<_> = ledger["top_expensive_cases"].as_array().unwrap().iter().map(|case| &case["case_id"]).collect();
    assert_eq!(top, ["a", "c"]);
    assert_eq!(ledger["top_expensive_ablations"][0]["variant"], "ablation:x");
    assert_eq!(ledger["generated_at"], Value::Null);
}

#[test]
fn the_ledger_names_what_was_paid_for_cases_that_tell_nothing() {
    let workspace = three_cases();
    workspace.on_runs("benchmark", &["--out", "benchmark.json"]);
    let mut arguments = vec!["cost-summary", "--manifest", "evals/shared-benchmark.json", "--runs", "runs"];
    arguments.extend(["--benchmark", "benchmark.json"]);
    let ledger = workspace.run(&arguments).json();
    let flags = json!(["saturated/non-discriminating", "no objective lift"]);
    let expected = json!([{"kind": "spend-on-non-discriminating-case", "case_id": "c", "flags": flags,
        "total_tokens": null, "total_cost_usd": 0.23}]);
    assert_eq!(ledger["cost_quality_findings"], expected);
    arguments.extend(["--format", "table", "--md", "cost.md"]);
    let said = workspace.run(&arguments);
    insta::assert_snapshot!("ledger_table", said.stdout);
    insta::assert_snapshot!("ledger_markdown", std::fs::read_to_string(workspace.path().join("cost.md")).unwrap());
    // what is no report is refused, and nothing is written
    workspace.write("other.json", "{}");
    let arguments =
        ["cost-summary", "--manifest", "evals/shared-benchmark.json", "--runs", "runs", "--benchmark", "other.json"];
    let said = workspace.run(&arguments);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert_eq!(said.lines("FAIL"), ["FAIL: other.json: no report of `benchmark`: it has no list `case_flags`"]);
}

#[test]
fn judging_is_paid_for_apart() {
    let workspace = three_cases();
    let verdicts = [
        json!({"judge_task_id": "x", "passed": true, "cost_usd": 9, "judge_panel": [{"cost_usd": 0.25}, {"cost_usd": 0.5}]}),
        json!({"judge_task_id": "y", "passed": true}),
    ];
    let text: Vec<String> = verdicts.iter().map(Value::to_string).collect();
    workspace.write("verdicts.jsonl", text.join("\n"));
    let arguments = ["cost-summary", "--manifest", "evals/shared-benchmark.json", "--runs", "runs"];
    let ledger = workspace.run(&[&arguments[..], &["--judge-results", "verdicts.jsonl"]].concat()).json();
    let judge = &ledger["judge"];
    assert_eq!(
        (&judge["verdicts"], &judge["verdicts_with_cost"], &judge["billed_calls"]),
        (&json!(2), &json!(1), &json!(2))
    );
    assert_eq!((&judge["total_cost_usd"], &judge["known_total_cost_usd"]), (&Value::Null, &json!(0.75)));
    // no part of what the runs cost
    assert_eq!(ledger["totals"]["total_cost_usd"], 0.66);
    let report = workspace.on_runs("benchmark", &["--judge-results", "verdicts.jsonl"]).json();
    assert_eq!(report["cost_summary"]["judge"], *judge);
}

#[test]
fn a_ledger_of_nothing_says_so() {
    let workspace = Workspace::with_cases(&["a"]);
    let arguments = ["cost-summary", "--manifest", "evals/shared-benchmark.json", "--runs", "runs"];
    let said = workspace.run(&arguments);
    assert_eq!(said.code, 0);
    assert_eq!(said.json()["coverage"]["runs_seen"], 0);
    assert_eq!(said.json()["totals"]["total_cost_usd"], Value::Null);
    assert_eq!(said.lines("WARN"), ["WARN runs_missing: runs directory does not exist: runs"]);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_runs_is_not_paid_for() {
    let workspace = three_cases();
    workspace.write("elsewhere/output.md", "yes");
    workspace.write("elsewhere/metadata.json", priced(100.0));
    std::os::unix::fs::symlink(workspace.path().join("elsewhere"), workspace.path().join("runs/a/extra")).unwrap();
    let arguments = ["cost-summary", "--manifest", "evals/shared-benchmark.json", "--runs", "runs"];
    let said = workspace.run(&arguments);
    assert_eq!(said.json()["totals"]["total_cost_usd"], 0.66);
    assert_eq!(
        said.lines("WARN"),
        ["WARN link_refused: a/extra: link leads out of the runs directory; it is not followed"]
    );
}

#[test]
fn the_first_prompt_says_what_the_skill_costs_before_anything_is_done() {
    let workspace = Workspace::with_cases(&["c"]);
    for (arm, answer, written) in [("with_skill", "yes", 50), ("without_skill", "no", 0)] {
        let run = format!("runs/c/{arm}");
        workspace.write(&format!("{run}/output.md"), answer);
        workspace.write(&format!("{run}/metadata.json"), r#"{"provider":"anthropic","model":"m"}"#);
        // a metric adds up the whole run; the second answer has grown by what was read
        let answer = |input: u64| {
            let tokens =
                json!({"input_tokens": input, "cache_read_input_tokens": 100, "cache_creation_input_tokens": written});
            json!({"type": "message", "role": "assistant", "status": "completed", "tokens": tokens})
        };
        let total = json!({"type": "metric", "tokens": {"input_tokens": 9_999}});
        let events = json!({"schema_version": 2, "source": "claude", "events": [total, answer(10), answer(4_000)]});
        workspace.write(&format!("{run}/events.json"), events.to_string());
    }
    let report = workspace.on_runs("benchmark", &[]).json();
    let context = &report["inference"]["cost_per_run"]["context_tokens"];
    // 10 + 100 + 50 against 10 + 100 + 0
    assert_eq!(*context, json!({"delta": 50.0, "pairs_measured": 1, "pairs": 1}));
    // a provider of which it is not known whether its input holds the cached tokens
    workspace.write("runs/c/with_skill/metadata.json", r#"{"provider":"other","model":"m"}"#);
    let report = workspace.on_runs("benchmark", &[]).json();
    let context = &report["inference"]["cost_per_run"]["context_tokens"];
    assert_eq!(*context, json!({"delta": null, "pairs_measured": 0, "pairs": 1, "reason": "missing_left"}));
}
