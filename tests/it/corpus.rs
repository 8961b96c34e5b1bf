//! Runs that others recorded, when they are at hand: `SKILL_LIFT_CORPUS` names the folder.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::run_in;

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("SKILL_LIFT_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("the corpus was not given (SKILL_LIFT_CORPUS): recorded runs are not compared");
    }
    folder
}

/// Rates, pairs and deltas of reports that the Python reference package made of the same runs.
#[test]
fn recorded_runs_give_the_rates_and_pairs_of_their_reports() {
    let Some(corpus) = corpus() else {
        return;
    };
    let folder = corpus.join("recorded/eval-quality");
    for (runs, report) in [("recorded", "peer-benchmark.json"), ("replication", "peer-benchmark-replication.json")] {
        let arguments = ["benchmark", "repo/evals/shared-benchmark.json", "--runs", runs];
        let said = run_in(&folder, &arguments, &[]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let ours = said.json();
        let theirs: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(report)).unwrap()).unwrap();
        for variant in ["with_skill", "without_skill"] {
            for key in [
                "cases",
                "runs",
                "missing_outputs",
                "execution_errors",
                "mean_objective_pass_rate",
                "objective_pass_rate",
            ] {
                assert_eq!(ours["summary"][variant][key], theirs["summary"][variant][key], "{runs} {variant} {key}");
            }
        }
        let close = |path: &[&str]| {
            let of = |report: &Value| path.iter().fold(report.clone(), |value, key| value[key].clone());
            let (a, b) = (of(&ours).as_f64().unwrap(), of(&theirs).as_f64().unwrap());
            assert!((a - b).abs() < 1e-12, "{runs} {path:?}: {a} and {b}");
        };
        for key in ["with_skill_objective_pass_rate", "without_skill_objective_pass_rate", "absolute_delta"] {
            close(&["paired_summary", key]);
            for model in theirs["paired_summary"]["by_model"].as_object().unwrap().keys() {
                close(&["paired_summary", "by_model", model, key]);
            }
        }
        assert_eq!(ours["paired_summary"]["pairing"], theirs["paired_summary"]["pairing"], "{runs}");
        let significance = |report: &Value| report["paired_summary"]["significance"].clone();
        assert_eq!(significance(&ours), significance(&theirs), "{runs}");
    }
}
