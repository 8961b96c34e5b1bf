//! Gates on reports of what others recorded, when it is at hand: `SKILL_LIFT_CORPUS` names the folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Workspace;

/// The folders below one that hold a result file, but no deeper ones.
fn iterations(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.join("benchmark.json").is_file() {
        found.push(folder.to_owned());
        return;
    }
    let mut below: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    below.sort();
    below.iter().filter(|path| path.is_dir()).for_each(|path| iterations(path, found));
}

/// What a gate must find where the inference of the report says this.
fn outcome(verdict: &Value) -> &'static str {
    let is_structural = verdict["reasons"].as_array().unwrap().iter().any(|reason| reason == "structural");
    match verdict["code"].as_str().unwrap() {
        "helps" => "improved",
        "harms" => "regressed",
        "nothing_paired" => "blocked",
        "too_few_cases" if is_structural => "structural",
        _ => "inconclusive",
    }
}

/// The rates that a report prints are rounded; the gate finds the exact ones again, and so the same p to the last digit.
#[test]
fn gates_agree_with_the_inference_of_recorded_workspaces() {
    let Some(corpus) = std::env::var_os("SKILL_LIFT_CORPUS").map(PathBuf::from) else {
        println!("the corpus was not given (SKILL_LIFT_CORPUS): no gates on recorded workspaces");
        return;
    };
    let mut folders = Vec::new();
    iterations(&corpus.join("results"), &mut folders);
    let mut compared = 0;
    for folder in &folders {
        let workspace = Workspace::new();
        let said = workspace.run(&["benchmark", folder.to_str().unwrap(), "--quiet", "--format", "json"]);
        if said.code != 0 {
            continue;
        }
        workspace.write("benchmark.json", &said.stdout);
        let gate = workspace.run(&["gate", "benchmark.json", "--superior"]).json();
        let overall = &said.json()["inference"]["overall"];
        let shown = folder.display();
        assert_eq!(gate["outcome"], outcome(&overall["verdict"]), "{shown}");
        for key in ["n_units", "unit", "estimate", "counts"] {
            assert_eq!(gate[key], overall[key], "{shown}: {key}");
        }
        assert_eq!(gate["p_two_sided"], overall["case_test"]["p_two_sided"], "{shown}");
        for key in ["lower", "upper"] {
            assert_eq!(gate["interval"][key], overall["interval"][key], "{shown}");
        }
        compared += 1;
    }
    assert!(compared >= 15, "{compared} of {}", folders.len());
}
