//! Iterations of the executor/grader runner: every figure of the conformance workspaces.

use std::fs;

use serde_json::{Value, json};
use skill_lift::analyze::skill_eval::{Corrected, aggregate};
use skill_lift::report::skill_eval::run_lines;
use skill_lift::runs::Limits;
use skill_lift::runs::skill_eval::Iteration;

use crate::support::{Workspace, conformance, copy_folder, repository};

pub const CHANGELOG: &str = "evals/changelog/workspace/claude/iteration-1";
const RELNOTES: &str = "evals/relnotes/workspace/codex/iteration-2";

pub fn sample(name: &str) -> Workspace {
    let workspace = Workspace::new();
    copy_folder(&repository("tests/conformance/workspaces/eval-runner").join(name), workspace.path());
    workspace
}

fn expected(name: &str) -> Value {
    conformance(&format!("workspaces/eval-runner/{name}/expected.json"))
}

pub fn report(workspace: &Workspace, iteration: &str) -> Value {
    let said = workspace.run(&["report", iteration, "--format", "json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    said.json()
}

/// Every member of `expected` in `actual`, numbers within the tolerance of the expected files.
fn assert_holds(actual: &Value, expected: &Value, at: &str) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (key, value) in expected {
                assert_holds(
                    actual.get(key).unwrap_or_else(|| panic!("{at}: no {key}")),
                    value,
                    &format!("{at}.{key}"),
                );
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len(), "{at}: {actual:#?}");
            for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                assert_holds(actual, expected, &format!("{at}[{index}]"));
            }
        }
        (Value::Number(actual), Value::Number(expected)) => {
            let (actual, expected) = (actual.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((actual - expected).abs() <= 1e-6, "{at}: {actual} instead of {expected}");
        }
        _ => assert_eq!(actual, expected, "{at}"),
    }
}

/// Compares a report with the expected file of its workspace.
fn assert_expected(report: &Value, expected: &Value) {
    for key in [
        "run_count",
        "scored_run_count",
        "error_run_count",
        "status_counts",
        "evals",
        "overall_pass_rate",
        "comparison",
    ] {
        assert_holds(&report[key], &expected[key], key);
    }
    for (kind, entries) in expected["sanity"].as_object().unwrap() {
        // a file of the older state lacks the newest kind; it stands for an empty list
        let actual = report["sanity_checks"].get(kind).cloned().unwrap_or_else(|| json!([]));
        assert_holds(&actual, entries, kind);
    }
    assert_eq!(report["sanity_checks"]["ok"], expected["sanity_ok"]);
    let own = &report["skill_lift"];
    let sanity = &own["sanity_checks"];
    let signals = sanity["signal_count"].as_u64().unwrap() - sanity["added_signal_count"].as_u64().unwrap();
    assert_eq!(json!(signals), expected["sanity_signal_count"]);
    assert_holds(own, &expected["skill_lift"], "skill_lift");
    assert_eq!(own["expected_runs"], expected["expected_runs"]);
    assert_holds(&own["missing_runs"], &expected["missing_runs"], "missing_runs");
    for (configuration, metrics) in expected["metrics"].as_object().unwrap() {
        for (metric, summary) in metrics.as_object().unwrap() {
            assert_holds(
                &own["metrics"][metric]["all_runs"][configuration],
                summary,
                &format!("{configuration} {metric}"),
            );
        }
    }
    let runs = expected["runs"].as_array().unwrap();
    for (list, prefix) in [(&report["runs"], ""), (&own["runs"], "skill_lift_")] {
        assert_eq!(list.as_array().unwrap().len(), runs.len());
        for (actual, expected) in list.as_array().unwrap().iter().zip(runs) {
            assert_run(actual, expected, prefix);
        }
    }
}

fn assert_run(actual: &Value, expected: &Value, prefix: &str) {
    let strict = !prefix.is_empty();
    for (key, value) in expected.as_object().unwrap() {
        let key = match key.strip_prefix("skill_lift_") {
            Some(rest) if strict => rest,
            Some(_) => continue,
            None if strict && matches!(key.as_str(), "passed" | "total" | "pass_rate") => continue,
            None if !strict && matches!(key.as_str(), "weighted_score" | "meets_threshold") => continue,
            None => key,
        };
        assert_holds(&actual[key], value, &format!("{} {} {key}", expected["eval_id"], expected["configuration"]));
    }
    if strict {
        let has = |value: &Value| value.get("weighted_score").is_some();
        assert_eq!(has(actual), has(expected), "{actual}");
    }
}

/// The rows of the tables that upstream writes; pipes inside names are escaped.
fn assert_rows(markdown: &str, expected: &Value) {
    for row in expected["markdown_table_rows_upstream"].as_array().unwrap() {
        let row = row.as_str().unwrap().replace("Entry | empty", "Entry \\| empty");
        assert!(markdown.lines().any(|line| line == row), "{row}\n{markdown}");
    }
}

#[test]
fn a_finished_iteration_has_its_expected_figures() {
    let (workspace, expected) = (sample("changelog-claude"), expected("changelog-claude"));
    assert_expected(&report(&workspace, CHANGELOG), &expected);
    let said = workspace.run(&["report", CHANGELOG]);
    assert_eq!(said.code, 0);
    assert_rows(&said.stdout, &expected);
    assert!(said.stdout.contains("- Generated: 2026-06-02T09:04:30Z\n"));
    assert_eq!(said.stderr, format!("Wrote {CHANGELOG}/benchmark.md\n"));
    let written = fs::read_to_string(workspace.path().join(CHANGELOG).join("benchmark.md")).unwrap();
    assert_eq!(written, said.stdout);
    insta::assert_snapshot!("changelog_iteration", said.stdout);
}

#[test]
fn the_run_directories_alone_give_the_same_figures() {
    let (workspace, expected) = (sample("changelog-claude"), expected("changelog-claude"));
    fs::remove_file(workspace.path().join(CHANGELOG).join("benchmark.json")).unwrap();
    let report = report(&workspace, CHANGELOG);
    assert_expected(&report, &expected);
    // nobody knows when: the same runs give the same bytes whenever they are aggregated
    assert_eq!(report["generated_at"], Value::Null);
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "skill_name",
            "agent",
            "model",
            "skill_path",
            "source_fixtures",
            "generated_at",
            "configs",
            "run_count",
            "scored_run_count",
            "error_run_count",
            "status_counts",
            "metrics_captured",
            "overall_pass_rate",
            "comparison",
            "sanity_checks",
            "evals",
            "runs",
            "skill_lift"
        ]
    );
}

#[test]
fn an_interrupted_iteration_has_its_expected_figures() {
    let (workspace, expected) = (sample("relnotes-codex"), expected("relnotes-codex"));
    assert_expected(&report(&workspace, RELNOTES), &expected);
    let said = workspace.run(&["report", RELNOTES, "--output", "shown.md"]);
    assert_eq!(said.code, 0);
    assert_rows(&said.stdout, &expected);
    assert_eq!(
        said.stderr.lines().collect::<Vec<_>>(),
        [
            "WARN benchmark_missing: there is no benchmark.json; aggregated from 7 runs",
            "WARN missing_run: 1 planned run is not there",
            "Wrote shown.md"
        ]
    );
    assert!(!workspace.path().join(RELNOTES).join("benchmark.md").exists());
    assert_eq!(fs::read_to_string(workspace.path().join("shown.md")).unwrap(), said.stdout);
    insta::assert_snapshot!("relnotes_iteration", said.stdout);
}

#[test]
fn means_over_scored_runs_leave_the_time_limit_out() {
    // executor times of the three scored runs: 30 100.25, 28 000.5 and 27 000.5 ms; the fourth ran into its limit
    let report = report(&sample("relnotes-codex"), RELNOTES);
    let duration = &report["skill_lift"]["metrics"]["duration_ms"];
    assert_holds(
        &duration["scored_runs"]["with_skill"],
        &json!({"n": 3, "total": 3, "mean": 85_101.25 / 3.0}),
        "scored",
    );
    // E01 alone has a scored run in both arms
    let paired = &duration["paired"];
    // 30 100.25 with and 21 000.75 without the skill
    assert_holds(paired, &json!({"evals": 1, "mean_delta": 9_099.5}), "paired");
}

#[test]
fn the_test_and_the_interval_stand_beside_the_lift() {
    let own = &report(&sample("changelog-claude"), CHANGELOG)["skill_lift"];
    // deltas 3/4 and −1/3: the mean is as large in all of (+,+), (−,−), (+,−), (−,+) or larger in the first two: p = 1
    assert_eq!(own["test"]["p_two_sided"], 1.0);
    assert_eq!(own["test"]["n"], 2);
    assert_eq!(own["verdict"]["code"], "too_few_cases");
    assert_eq!(own["within_cell_variance"], "unknown");
    assert!(own["interval"]["lower"].as_f64().unwrap() < 0.0 && own["interval"]["upper"].as_f64().unwrap() > 0.0);
}

#[test]
fn arguments_are_checked() {
    let workspace = sample("changelog-claude");
    assert_eq!(workspace.run(&["report"]).code, 2);
    assert_eq!(workspace.run(&["report", CHANGELOG, "--format", "html"]).code, 2);
    let refused = |path: &str, contents: &str| {
        workspace.write(&format!("{CHANGELOG}/benchmark.json"), contents);
        let said = workspace.run(&["report", path]);
        assert_eq!(said.code, 1, "{contents}");
        assert_eq!(said.stdout, "");
        said.stderr
    };
    assert!(refused(CHANGELOG, "{\"runs\": [").contains("line 1, column 11: "));
    assert!(refused(CHANGELOG, "[]").contains("expected an object, found array"));
    assert!(refused(CHANGELOG, "{\"run_count\": NaN}").contains("number is not finite"));
    assert!(refused(CHANGELOG, "{\"a\": 1, \"a\": 2}").contains("duplicate key"));
    assert!(refused("skills", "{}").contains("is no iteration"));
    assert!(refused("nowhere", "{}").contains("is not a directory"));
}

#[test]
fn a_run_ends_with_its_figures_and_metrics() {
    let lines = |name: &str, iteration: &str| {
        let workspace = sample(name);
        let mut iteration = Iteration::read(&workspace.path().join(iteration), &Limits::default()).unwrap();
        let figures = iteration.benchmark.take().map_or_else(|| aggregate(&iteration), |stored| stored.figures);
        let corrected = Corrected::of(&iteration, &figures);
        run_lines(&figures, &corrected, "workspace/iteration-1", "workspace/iteration-1/benchmark.md")
    };
    assert_eq!(
        lines("changelog-claude", CHANGELOG),
        "Ran 6 runs into workspace/iteration-1\n\
         with_skill=69.4% without_skill=38.9%\n\
         Sanity checks: REVIEW REQUIRED (infrastructure_failures=0, zero_scored_cells=1, candidate_below_baseline=1, \
         source_fixture_dirty=0, partial_suite_selection=0, incomplete_verdicts=1, no_assertions=0, unpaired_cells=1, \
         source_fixture_unknown=0, missing_runs=0), see workspace/iteration-1/benchmark.md\n\
         Execution metrics (executor-only; grader excluded):\n  \
         with_skill: Execution time: 10.3s ± 7.0s; Total tokens: 4,760 ± 1,096; Cost (USD): $0.0284 ± $0.0113\n  \
         without_skill: Execution time: 6.6s ± 3.5s (n=2/3); Total tokens: 2,055 ± 615 (n=2/3); Cost (USD): $0.0175 (n=1/3)\n"
    );
    assert!(lines("relnotes-codex", RELNOTES).contains("Cost (USD): not captured (field not reported by provider)\n"));
}

#[test]
fn a_record_that_changed_since_is_named() {
    let workspace = sample("changelog-claude");
    let path = format!("{CHANGELOG}/eval-e03/with_skill/run-1/run.json");
    let record = fs::read_to_string(workspace.path().join(&path)).unwrap();
    workspace.write(&path, record.replace("\"status\":\"ok\"", "\"status\":\"grader_failed\""));
    let said = workspace.run(&["report", CHANGELOG]);
    assert_eq!(said.lines("WARN benchmark_differs: the record of E03 under with_skill, run 1 is not").len(), 1);
    // the raw rates are those of the file; the lift rests on what the directories say now
    assert!(said.stdout.contains("| E03 E03 | 33.3% | 66.7% |"));
    assert!(said.stdout.contains("- Lift: +75.0\u{a0}pp over 1 eval\n"));
}

#[test]
fn without_its_suite_an_iteration_keeps_its_order_and_has_no_weights() {
    for (name, iteration) in [("changelog-claude", CHANGELOG), ("relnotes-codex", RELNOTES)] {
        let workspace = sample(name);
        copy_folder(&workspace.path().join(iteration), &workspace.path().join("elsewhere"));
        let (there, here) = (report(&workspace, iteration), report(&workspace, "elsewhere"));
        assert_eq!(here["evals"], there["evals"]);
        assert_eq!(here["skill_lift"]["lift"], there["skill_lift"]["lift"]);
        assert_eq!(here["skill_lift"]["missing_runs"], there["skill_lift"]["missing_runs"]);
        assert!(here["skill_lift"]["runs"].as_array().unwrap().iter().all(|run| run.get("weighted_score").is_none()));
    }
}
