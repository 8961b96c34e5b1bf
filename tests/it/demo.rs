//! The bundled demo: the figures of its README, and that nothing but the data decides a byte.

use serde_json::{Value, json};

use crate::support::{repository, run_in};

const SUITE: &str = "datasets/demo/evals/shared-benchmark.json";
const RUNS: &str = "datasets/demo/runs";

fn report(environment: &[(&str, &str)]) -> Value {
    let said = run_in(&repository("."), &["benchmark", SUITE, "--runs", RUNS], environment);
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.json()
}

#[test]
fn the_verdict_is_that_the_skill_helps() {
    let report = report(&[]);
    let overall = &report["inference"]["overall"];
    assert_eq!(overall["verdict"]["code"], "helps");
    assert_eq!(overall["unit"], "case");
    assert_eq!(overall["n_units"], 13);
    assert_eq!(overall["counts"], json!({"improved": 10, "regressed": 1, "unchanged": 2}));
    // 6 of the 2^11 sign patterns of the moved cases are at least as extreme
    assert_eq!(overall["case_test"]["p_two_sided"], json!(6.0 / 2048.0));
    // mean of the 13 case deltas, worked out from the plan of the dataset: 3.66 / 13
    assert!((overall["estimate"].as_f64().unwrap() - 3.66 / 13.0).abs() < 1e-12);
    // the compatible headline counts (case, model) units
    assert_eq!(report["paired_summary"]["significance"]["n"], 26);
    assert_eq!(
        report["paired_summary"]["pairing"],
        json!({"eligible_pairs": 126, "blocked_pairs": 4,
               "blocked_reason_counts": {"missing_without_skill": 1, "unscorable_arm": 3}})
    );
}

#[test]
fn every_kind_of_finding_occurs() {
    let report = report(&[]);
    let flags: Vec<&str> = report["case_flags"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|case| case["flags"].as_array().unwrap())
        .map(|flag| flag.as_str().unwrap())
        .collect();
    for expected in [
        "saturated/non-discriminating",
        "floor: fails in both arms",
        "no objective lift",
        "with-skill failure",
        "flaky repeated pass rates: with_skill",
    ] {
        assert!(flags.contains(&expected), "{expected}");
    }
    assert!(flags.iter().any(|flag| flag.starts_with("critical-failure: with_skill (")));
    let reasons: Vec<&str> = report["results"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row["unscored_reasons"].as_array().unwrap())
        .map(|reason| reason.as_str().unwrap())
        .collect();
    for expected in ["missing_output", "timed_out", "executor_error"] {
        assert!(reasons.contains(&expected), "{expected}");
    }
    let worse =
        &report["inference"]["by_case"].as_array().unwrap().iter().find(|c| c["case_id"] == "status-page-update");
    assert_eq!(worse.unwrap()["change"], "regressed");
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_folder() {
    let run = |folder: &str, suite: &str, runs: &str, threads: &str| {
        let environment = [("RAYON_NUM_THREADS", threads), ("POLARS_MAX_THREADS", threads)];
        let said = run_in(&repository(folder), &["benchmark", suite, "--runs", runs], &environment);
        assert_eq!(said.code, 0, "{}", said.stderr);
        said.stdout
    };
    let one = run(".", SUITE, RUNS, "1");
    assert!(one == run(".", SUITE, RUNS, "2"));
    assert!(one == run(".", SUITE, RUNS, "8"));
    // only the paths that the user typed differ
    let elsewhere = run("datasets/demo", "evals/shared-benchmark.json", "runs", "2");
    assert_ne!(one, elsewhere);
    assert_eq!(one.replace("datasets/demo/", ""), elsewhere);
}

#[test]
fn frames_hold_one_row_a_run_and_one_row_a_check() {
    use polars_io::SerReader;
    use polars_io::parquet::read::ParquetReader;

    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("frames");
    let arguments = ["benchmark", SUITE, "--runs", RUNS, "--frames", frames.to_str().unwrap(), "--quiet"];
    let said = run_in(&repository("."), &arguments, &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let report = said.json();
    let read = |name: &str| ParquetReader::new(std::fs::File::open(frames.join(name)).unwrap()).finish().unwrap();
    let runs = read("runs.parquet");
    let results = report["results"].as_array().unwrap();
    assert_eq!(runs.height(), results.len());
    let count = |key: &str| results.iter().map(|row| row[key].as_array().unwrap().len()).sum::<usize>();
    let deferred: u64 = results.iter().map(|row| row["deferred_judge_tasks"].as_u64().unwrap()).sum();
    let assertions = read("assertions.parquet");
    assert_eq!(assertions.height(), count("assertions") + count("qualitative_assertions") + deferred as usize);
    let passed: u32 = runs.column("objective_passed").unwrap().u32().unwrap().iter().flatten().sum();
    let expected: u64 = results.iter().map(|row| row["objective_passed"].as_u64().unwrap()).sum();
    assert_eq!(u64::from(passed), expected);
}

#[test]
fn a_stamp_is_written_only_on_request() {
    assert_eq!(report(&[])["generated_at"], Value::Null);
    assert_eq!(report(&[("SOURCE_DATE_EPOCH", "1760000000")])["generated_at"], 1_760_000_000);
}
