//! Trees of results that others published, and the sample workspaces with the values that are right.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{conformance, repository, run_in};

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("SKILL_LIFT_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("the corpus was not given (SKILL_LIFT_CORPUS): trees of results are not read");
    }
    folder
}

fn report(folder: &Path, arguments: &[&str]) -> Value {
    let said = run_in(folder, &[&["benchmark", "--format", "json"], arguments].concat(), &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.json()
}

/// What is counted otherwise than in the index, with the reason.
fn otherwise(path: &str, key: &str) -> Option<Value> {
    match (path, key) {
        // the index takes `duration_ms` alone; three more files state `duration_seconds` or `elapsed_seconds`:
        // (74322 + 95000 + 45000 + 55000 + 232000) / 5
        ("results/Kelet-ai__skills/iteration-4", "runs_with_duration_ms") => {
            Some(json!({"with_skill": {"n": 5, "mean": 100_264.4}}))
        }
        _ => None,
    }
}

fn rows(report: &Value) -> &[Value] {
    report["results"].as_array().unwrap()
}

/// Runs, scored runs and verdicts of each arm.
fn configurations(report: &Value) -> Value {
    let mut arms = serde_json::Map::new();
    for row in rows(report) {
        let none = json!({"runs": 0, "scored": 0, "passed": 0, "failed": 0, "null": 0});
        let arm = arms.entry(row["variant"].as_str().unwrap()).or_insert(none);
        let mut add = |key: &str, count: u64| arm[key] = json!(arm[key].as_u64().unwrap() + count);
        add("runs", 1);
        add("scored", u64::from(row["unscored_reasons"].as_array().unwrap().is_empty()));
        for verdict in row["assertions"].as_array().unwrap() {
            let key = match verdict["passed"].as_bool() {
                Some(true) => "passed",
                Some(false) => "failed",
                None => "null",
            };
            add(key, 1);
        }
    }
    Value::Object(arms)
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a} and {b}");
}

#[test]
fn every_published_tree_of_results_gives_the_counts_of_its_files() {
    let Some(corpus) = corpus() else { return };
    let index: Value = serde_json::from_str(&std::fs::read_to_string(corpus.join("INDEX.json")).unwrap()).unwrap();
    let trees = index["items"].as_array().unwrap().iter().filter(|item| item["kind"] == "result-tree");
    let mut read = 0;
    for item in trees {
        let path = item["path"].as_str().unwrap();
        let expected =
            |key: &str| otherwise(path, key).unwrap_or_else(|| item["what_a_reader_should_get"][key].clone());
        let report = report(&corpus, &[path]);
        assert_eq!(configurations(&report), expected("configurations"), "{path}");
        assert_eq!(rows(&report).len() as u64, expected("graded_runs").as_u64().unwrap(), "{path}");
        let cases = report["inference"]["by_case"].as_array().unwrap();
        let (paired, unpaired): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case["estimate"].is_number());
        assert_eq!(paired.len() as u64, expected("paired_evals").as_u64().unwrap(), "{path}");
        assert_eq!(unpaired.len(), expected("unpaired_evals").as_array().unwrap().len(), "{path}");
        let lift = &report["inference"]["overall"]["estimate"];
        match expected("case_mean_lift").as_f64() {
            Some(expected) => close(lift.as_f64().unwrap(), expected, 1e-6, path),
            None => assert!(lift.is_null(), "{path}"),
        }
        let telemetry = &report["stored_verdicts"]["telemetry"];
        for (key, count, mean) in [
            ("runs_with_tokens", "runs_with_tokens", "mean_total_tokens"),
            ("runs_with_duration_ms", "runs_with_duration", "mean_duration_ms"),
        ] {
            for (arm, expected) in expected(key).as_object().into_iter().flatten() {
                assert_eq!(telemetry[arm][count], expected["n"], "{path} {arm} {key}");
                close(telemetry[arm][mean].as_f64().unwrap(), expected["mean"].as_f64().unwrap(), 1e-3, path);
            }
        }
        let contradicted = expected("summary_contradicts_entries").as_array().map_or(0, Vec::len) as u64;
        let flagged = report["stored_verdicts"]["flags"]["summary_contradicts_entries"].as_u64().unwrap_or(0);
        assert_eq!(flagged, contradicted, "{path}");
        read += 1;
    }
    assert_eq!(read, 20);
}

#[test]
fn a_published_benchmark_is_a_claim_that_is_held_against_the_verdicts() {
    let Some(corpus) = corpus() else { return };
    for (tree, codes) in [
        ("results/ParadiseEngine__AgentSkill", &["benchmark_empty", "benchmark_disagrees"][..]),
        (
            "results/arianvp7__void-digital-studio/scroll-stop-builder/iteration-1",
            &["benchmark_empty", "benchmark_disagrees"],
        ),
        ("results/arianvp7__void-digital-studio/workspace/iteration-1", &["benchmark_of_another_suite"]),
        ("results/Kelet-ai__skills/iteration-1", &["benchmark_disagrees"]),
        ("results/Arindam200__nebius-skills/iteration-1", &["benchmark_disagrees"]),
        ("results/geoffsdesk__gke-upgrades-skill/iteration-11", &["benchmark_disagrees"]),
        ("results/geoffsdesk__gke-upgrades-skill/iteration-1", &[]),
        ("results/adewale__audit-skill/iteration-1", &[]),
        ("results/az9713__steelman-redteam-skill/iteration-1", &[]),
        ("results/greghavens__vcf-9-x-skills/iteration-1", &[]),
        ("results/sidecorner__research-beauty-idea-skills/iteration-1", &[]),
        ("results/serhatkeskin__netarch/iteration-1", &[]),
    ] {
        let report = report(&corpus, &[tree]);
        let found = report["stored_verdicts"]["benchmark_file"]["contradictions"].as_array().unwrap().clone();
        let found: Vec<_> = found.iter().map(|found| found["code"].as_str().unwrap()).collect();
        assert_eq!(found, codes, "{tree}");
    }
    let report = report(&corpus, &["results/sidecorner__research-beauty-idea-skills/iteration-1"]);
    assert_eq!(report["stored_verdicts"]["token_scope_differs"], true, "913 tokens in the mean against 33,539");
}

#[test]
fn published_verdicts_are_compared_with_literal_checks() {
    let Some(corpus) = corpus() else { return };
    let nebius = "results/Arindam200__nebius-skills/iteration-1";
    for (arguments, counts) in [
        (
            vec![
                "results/LoonanChauvette__splashr/evals.json",
                "--runs",
                "results/LoonanChauvette__splashr/iteration-1",
            ],
            (46, 46, 0),
        ),
        (vec!["results/adewale__audit-skill/iteration-3"], (30, 30, 0)),
        // 14 string_contains, 6 file_exists (one file is not in this copy), 2 string_contains_in_file on that file
        (vec!["results/serhatkeskin__netarch/iteration-1"], (22, 20, 0)),
        // the index counts the ten entries whose check is `qualitative` as literal ones: 84 and 75; 6 have no output
        (vec![nebius], (74, 69, 6)),
    ] {
        let report = report(&corpus, &[arguments.as_slice(), &["--regrade"]].concat());
        let regrading = &report["stored_verdicts"]["regrading"];
        let count = |key: &str| regrading[key].as_u64().unwrap();
        assert_eq!((count("compared"), count("agreed"), count("unobserved")), counts, "{arguments:?}");
    }
    let flags = &report(&corpus, &[nebius])["stored_verdicts"]["flags"];
    assert_eq!(flags["skill_not_loaded"], 3);
}

/// The report of a sample workspace.
fn sample(path: &str, flags: &[&str]) -> Value {
    report(&repository("tests/conformance/workspaces"), &[&[path], flags].concat())
}

fn rounded(value: &Value) -> Value {
    value.as_f64().map_or(Value::Null, |number| json!((number * 1e6).round() / 1e6))
}

#[test]
fn samples_of_the_executor_grader_runner_give_their_rates_in_both_views() {
    for (name, iteration) in [
        ("changelog-claude", "evals/changelog/workspace/claude/iteration-1"),
        ("relnotes-codex", "evals/relnotes/workspace/codex/iteration-2"),
    ] {
        let expected = conformance(&format!("workspaces/eval-runner/{name}/expected.json"));
        let path = format!("eval-runner/{name}/{iteration}");
        for (evidence, rate_key) in [("report", "pass_rate"), ("strict", "skill_lift_pass_rate")] {
            let report = sample(&path, &["--evidence", evidence]);
            assert_eq!(report["provenance"]["dialect"], "skill-eval");
            let ran = rows(&report).iter().filter(|row| row["unscored_reasons"] != json!(["missing_run"]));
            let found: Vec<Value> = ran
                .map(|row| {
                    let scored = row["unscored_reasons"].as_array().unwrap().is_empty();
                    let rate = if scored { rounded(&row["objective_pass_rate"]) } else { Value::Null };
                    json!([row["case_id"], row["variant"], row["run_number"], rate])
                })
                .collect();
            let runs = expected["runs"].as_array().unwrap().iter();
            let wanted: Vec<Value> = runs
                .map(|run| json!([run["eval_id"], run["configuration"], run["run_number"], rounded(&run[rate_key])]))
                .collect();
            assert_eq!(found, wanted, "{name} {evidence}");
        }
        let strict = sample(&path, &["--evidence", "strict"]);
        assert_eq!(rounded(&strict["inference"]["overall"]["estimate"]), expected["skill_lift"]["lift"], "{name}");
    }
    let missing = sample("eval-runner/relnotes-codex/evals/relnotes/workspace/codex/iteration-2", &[]);
    let missing: Vec<_> =
        rows(&missing).iter().filter(|row| row["unscored_reasons"] == json!(["missing_run"])).collect();
    assert_eq!(missing.len(), 1);
    assert_eq!((&missing[0]["case_id"], &missing[0]["run_number"]), (&json!("E02"), &json!(2)));
}

#[test]
fn samples_of_the_forge_pipeline_give_their_corrected_rates() {
    for (name, iteration) in
        [("csv-insights", "iteration-1"), ("csv-insights", "iteration-2"), ("meeting-minutes", "iteration-1")]
    {
        let expected = conformance(&format!("workspaces/skill-forge/{name}/expected.json"));
        let expected = &expected["iterations"][iteration]["skill_lift"];
        let report = sample(&format!("skill-forge/{name}/{iteration}"), &[]);
        assert_eq!(report["provenance"]["dialect"], "skill-forge");
        assert_eq!(rounded(&report["inference"]["overall"]["estimate"]), expected["lift"], "{name} {iteration}");
        let Some(runs) = expected["runs"].as_array() else { continue };
        let found: Vec<Value> = rows(&report)
            .iter()
            .map(|row| {
                let mut reasons: Vec<_> = row["unscored_reasons"].as_array().unwrap().clone();
                reasons.sort_by_key(|reason| reason.as_str().map(str::to_owned));
                let stored = &row["stored"];
                let arm = if row["variant"] == "without_skill" { json!("baseline") } else { row["variant"].clone() };
                json!([
                    row["case_id"],
                    arm,
                    stored["trial"],
                    rounded(&row["objective_pass_rate"]),
                    rounded(&stored["strict_pass_rate"]),
                    rounded(&stored["weighted_pass_rate"]),
                    reasons,
                    stored["flags"],
                ])
            })
            .collect();
        let wanted: Vec<Value> = runs
            .iter()
            .map(|run| {
                let mut reasons: Vec<_> = run["reasons"].as_array().unwrap().clone();
                reasons.sort_by_key(|reason| reason.as_str().map(str::to_owned));
                let case = format!("eval-{}", run["eval_id"]);
                json!([
                    case,
                    run["arm"],
                    run["trial"],
                    rounded(&run["graded_rate"]),
                    rounded(&run["strict_rate"]),
                    rounded(&run["weighted_rate"]),
                    reasons,
                    run["flags"],
                ])
            })
            .collect();
        assert_eq!(found, wanted, "{name} {iteration}");
    }
}
