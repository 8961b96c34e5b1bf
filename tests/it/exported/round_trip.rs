//! What was exported, read again: the same lift, the same counts, the same pairs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{export, mixed, read, report};
use crate::support::{Workspace, repository, run_in};

/// Counts, state and rate of each run, by case, arm and repetition; cases by the names that the export gave them.
fn runs(report: &Value, name: impl Fn(&Value) -> String) -> BTreeMap<String, Value> {
    let rows = report["results"].as_array().unwrap().iter();
    let rated = rows.filter(|row| row["unscored_reasons"] == json!([]) && !row["objective_pass_rate"].is_null());
    let run = |row: &Value| {
        let key = format!("{} {} {}", name(row), row["variant"].as_str().unwrap(), row["run_number"]);
        (key, json!([row["objective_passed"], row["objective_total"], row["objective_pass_rate"]]))
    };
    rated.map(run).collect()
}

/// What is said of the comparison.
fn headline(report: &Value) -> Value {
    let paired = &report["paired_summary"];
    let overall = &report["inference"]["overall"];
    json!({
        "with": paired["with_skill_objective_pass_rate"], "without": paired["without_skill_objective_pass_rate"],
        "delta": paired["absolute_delta"], "pairs": paired["pairing"]["eligible_pairs"],
        "verdict": overall["verdict"]["code"], "estimate": overall["estimate"], "units": overall["n_units"],
        "p": overall["case_test"]["p_two_sided"],
    })
}

fn case_name(row: &Value) -> String {
    row["case_id"].as_str().unwrap().to_owned()
}

/// An exported case is called after the case that it was.
fn exported_name(row: &Value) -> String {
    row["case_label"].as_str().unwrap_or(row["case_id"].as_str().unwrap()).to_owned()
}

#[test]
fn both_forms_give_back_what_they_were_made_of() {
    let workspace = mixed();
    let before = report(&workspace);
    assert!(before["inference"]["overall"]["estimate"].is_number(), "{}", before["inference"]["overall"]);
    for (to, out) in [("skill-creator", "w/iteration-1"), ("skill-forge", "f/iteration-1")] {
        let said = export(&workspace, to, out, &["--suite", "evals/shared-benchmark.json", "--quiet"]);
        assert_eq!(said.code, 0, "{to}: {}", said.stderr);
        let again = workspace.run(&["benchmark", out, "--format", "json"]);
        assert_eq!(again.code, 0, "{to}: {}", again.stderr);
        let words = ["summary_contradicts_entries", "benchmark_unreadable", "benchmark_of_another", "misfiled"];
        // the pipeline's own file pools its runs: there the lift that it states is another one
        let words =
            if to == "skill-creator" { [&words[..], &["benchmark_disagrees"]].concat() } else { words.to_vec() };
        for word in words {
            assert!(!again.stderr.contains(word), "{to}: {}", again.stderr);
        }
        let after = again.json();
        assert_eq!(after["provenance"]["dialect"], to);
        assert_eq!(headline(&after), headline(&before), "{to}");
        assert_eq!(runs(&after, exported_name), runs(&before, case_name), "{to}");

        // and what is saved of that says the same once more
        workspace.write("again.json", again.stdout);
        let out = format!("{out}-again");
        let arguments = [
            "export",
            "--to",
            to,
            "--benchmark",
            "again.json",
            "--runs",
            out.trim_end_matches("-again"),
            "--out",
            &out,
        ];
        let said = workspace.run(&arguments);
        assert_eq!(said.code, 0, "{to}: {}", said.stderr);
        let third = workspace.run(&["benchmark", &out, "--format", "json", "--quiet"]);
        assert_eq!(headline(&third.json()), headline(&before), "{to}");
    }
}

#[test]
fn checks_of_one_arm_and_missing_evidence_stay_what_they_are() {
    let workspace = Workspace::new();
    let skill = json!({"name": "used-the-skill", "type": "skill_invoked"});
    workspace.suite(&json!({"cases": (0..4).map(|case| json!({
        "id": format!("c{case}"), "split": "tune", "prompt": "Go.",
        "assertions": [{"name": "says-yes", "type": "contains", "value": "yes"},
                       {"name": "no-push", "type": "command_not_ran", "pattern": "git push"}, skill]
    })).collect::<Vec<_>>()}));
    let load = json!({"type": "skill_load", "status": "completed", "input_summary": "skills/demo/SKILL.md"});
    let trace = |events: Value| json!({"schema_version": 2, "events": events}).to_string();
    let (with, without) = (trace(json!([load])), trace(json!([])));
    for case in 0..4 {
        for arm in ["with_skill", "without_skill"] {
            workspace.write(&format!("runs/c{case}/{arm}/output.md"), if arm == "with_skill" { "yes" } else { "no" });
            // in one case only one arm has its trace
            if case != 3 || arm == "with_skill" {
                let events = if arm == "with_skill" { &with } else { &without };
                workspace.write(&format!("runs/c{case}/{arm}/events.json"), events);
            }
        }
    }
    workspace.write("verdicts.json", "[]");
    let before = report(&workspace);
    // one pair is left out, and in the others the check of the skill: 2 of 2 against 1 of 2
    assert_eq!(
        (&before["inference"]["overall"]["estimate"], &before["inference"]["overall"]["n_units"]),
        (&json!(0.5), &json!(3))
    );
    for to in ["skill-creator", "skill-forge"] {
        let said = export(&workspace, to, to, &["--quiet"]);
        assert_eq!(said.code, 0, "{to}: {}", said.stderr);
        let after = workspace.run(&["benchmark", to, "--format", "json", "--quiet"]).json();
        assert_eq!(headline(&after), headline(&before), "{to}");
    }
}

#[test]
fn the_demo_comes_back_with_both_models() {
    let demo = repository("datasets/demo");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (saved, out) = (path("benchmark.json"), path("w/iteration-1"));
    let suite = "evals/shared-benchmark.json";
    let said = run_in(&demo, &["benchmark", suite, "--runs", "runs", "--quiet", "--out", &saved], &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let before: Value = serde_json::from_str(&std::fs::read_to_string(&saved).unwrap()).unwrap();
    let arguments =
        ["export", "--to", "skill-creator", "--benchmark", &saved, "--runs", "runs", "--suite", suite, "--out", &out];
    let said = run_in(&demo, &arguments, &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let again = run_in(&demo, &["benchmark", &out, "--format", "json"], &[]);
    // the delta of the file is that of its first two columns, which are of one model
    assert!(!again.stderr.contains("benchmark_disagrees"), "{}", again.stderr);
    let after = again.json();
    let models = |report: &Value| {
        let blocks = report["paired_summary"]["by_model"].as_object().unwrap();
        blocks.iter().map(|(name, block)| (name.clone(), block["absolute_delta"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(models(&after), models(&before));
    assert_eq!(headline(&after), headline(&before));
}

#[test]
fn a_workspace_of_an_edit_goes_from_one_tool_to_the_other() {
    let workspace = Workspace::new();
    for (case, arm, passed) in
        [("0", "new_skill", true), ("0", "old_skill", false), ("1", "new_skill", true), ("1", "old_skill", true)]
    {
        let folder = format!("runs/eval-{case}/{arm}/run-1");
        let grading = json!({"expectations": [{"text": "Says yes.", "passed": passed, "evidence": "e"}]});
        workspace.write(&format!("{folder}/grading.json"), grading.to_string());
        workspace.write(&format!("{folder}/outputs/answer.md"), "text");
        let metadata =
            json!({"eval_id": case.parse::<u32>().unwrap(), "eval_name": "n", "prompt": "p", "assertions": []});
        workspace.write(&format!("runs/eval-{case}/eval_metadata.json"), metadata.to_string());
    }
    let said = workspace.run(&["benchmark", "runs", "--quiet", "--out", "benchmark.json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let before = read(&workspace, "benchmark.json");
    assert_eq!(before["inference"]["overall"]["estimate"], 0.5);
    for to in ["skill-creator", "skill-forge"] {
        let said = export(&workspace, to, to, &[]);
        assert_eq!(said.code, 0, "{to}: {}", said.stderr);
        let after = workspace.run(&["benchmark", to, "--format", "json", "--quiet"]).json();
        assert_eq!(after["inference"]["overall"]["estimate"], 0.5, "{to}");
        assert_eq!(after["inference"]["overall"]["n_units"], 2, "{to}");
    }
    // names that put the skill's arm first
    assert!(workspace.path().join("skill-creator/eval-0/new_skill/run-1/outputs/answer.md").is_file());
    assert!(workspace.path().join("skill-forge/eval-0/baseline/outputs/answer.md").is_file());
    assert_eq!(read(&workspace, "skill-creator/eval-0/eval_metadata.json")["prompt"], "p");
}
