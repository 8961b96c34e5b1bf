//! What may be compared: workspaces, run trees, files, and one with another.

use serde_json::{Value, json};

use super::{WITH, WITHOUT, cell};
use crate::support::{Said, Workspace, conformance, repository, run_in};

fn csv_insights(more: &[&str]) -> Said {
    let mut arguments = vec!["diff", "iteration-1", "iteration-2"];
    arguments.extend_from_slice(more);
    run_in(&repository("tests/conformance/workspaces/skill-forge/csv-insights"), &arguments, &[])
}

/// The comparison of the arm with the skill that the forge pipeline defines. PASS to FAIL is `regressed`, FAIL to PASS is
/// `improved`; an eval that became UNDECIDED has checks under `undecided`, whatever its rate did.
#[test]
fn two_iterations_of_a_forge_workspace_change_as_its_rules_say() {
    let diff = csv_insights(&[]).json();
    let expected_file = conformance("workspaces/skill-forge/csv-insights/expected.json");
    let expected = &expected_file["iteration_2_vs_1"];
    let evals = |keep: &dyn Fn(&Value) -> bool| {
        let cells = diff["cells"].as_array().unwrap().iter().filter(|cell| cell["variant"] == WITH && keep(cell));
        let mut ids: Vec<u64> =
            cells.map(|cell| cell["case_id"].as_str().unwrap().trim_start_matches("eval-").parse().unwrap()).collect();
        ids.sort_unstable();
        json!(ids)
    };
    let is_open = |cell: &Value| cell["undecided"] != json!([]);
    assert_eq!(evals(&|cell| cell["change"] == "regressed" && !is_open(cell)), expected["regressions"]);
    assert_eq!(evals(&|cell| cell["change"] == "improved" && !is_open(cell)), expected["improvements"]);
    assert_eq!(evals(&is_open), expected["undecided"]);
    assert_eq!(diff["like_for_like"]["basis"], "same_prompts_and_checks");
    // eval-2 without the skill has no grading now: no score, and not 0
    let gone = cell(&diff, "eval-2", WITHOUT);
    assert_eq!((&gone["change"], &gone["after"]), (&json!("became_unscored"), &Value::Null));
    for (side, iteration) in [("before", "iteration-1"), ("after", "iteration-2")] {
        let lift = expected_file["iterations"][iteration]["skill_lift"]["lift"].as_f64().unwrap();
        let found = diff["lift"][side]["lift"].as_f64().unwrap();
        assert!((found - lift).abs() < 1e-6, "{iteration}: {found}, expected {lift}");
    }
    assert_eq!(csv_insights(&["--fail-on-regression"]).code, 1);
}

#[test]
fn a_case_with_another_prompt_is_in_no_mean() {
    let workspace = Workspace::new();
    for (iteration, prompt) in [(1, "Do it."), (2, "Do it well.")] {
        for (eval, prompt) in [(1, prompt), (2, "Unchanged.")] {
            let folder = format!("w/iteration-{iteration}/eval-{eval}");
            let metadata = json!({"eval_id": eval, "prompt": prompt, "assertions": ["says yes"]});
            workspace.write(&format!("{folder}/eval_metadata.json"), metadata.to_string());
            let verdict = json!({"expectations": [{"text": "says yes", "passed": iteration == 1, "evidence": ""}]});
            workspace.write(&format!("{folder}/with_skill/run-1/grading.json"), verdict.to_string());
        }
    }
    let diff = workspace.run(&["diff", "w"]).json();
    assert_eq!(cell(&diff, "eval-1", WITH)["change"], "other_prompt");
    assert_eq!(cell(&diff, "eval-2", WITH)["change"], "regressed");
    assert_eq!(diff["like_for_like"]["changed_cases"], json!([{"case_id": "eval-1", "reason": "other_prompt"}]));
    assert_eq!(diff["arms"][WITH]["n_cases"], 1);
}

/// A tree of shared-benchmark runs in which case `b` says no.
fn tree(workspace: &Workspace, root: &str, answers: [(&str, &str); 2]) {
    for (case, answer) in answers {
        workspace.write(&format!("{root}/{case}/with_skill/output.md"), answer);
        workspace.write(&format!("{root}/{case}/without_skill/output.md"), "no");
    }
}

#[test]
fn run_trees_are_graded_with_the_suite() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    tree(&workspace, "old", [("a", "yes"), ("b", "no")]);
    tree(&workspace, "new", [("a", "no"), ("b", "yes")]);
    let diff = workspace.run(&["diff", "old", "new", "--suite", "evals/shared-benchmark.json"]).json();
    assert_eq!((&diff["old"]["kind"], &diff["old"]["format"]), (&json!("tree"), &json!("shared-benchmark")));
    assert_eq!(diff["like_for_like"]["basis"], "same_suite");
    assert_eq!(cell(&diff, "a", WITH)["change"], "regressed");
    assert_eq!(cell(&diff, "a", WITH)["lost"], json!(["says-yes"]));
    assert_eq!(cell(&diff, "b", WITH)["change"], "improved");
    // flags come from the same analysis as in reports
    assert_eq!(
        diff["new_flags"],
        json!(["a::floor: fails in both arms", "a::no objective lift", "a::with-skill failure"])
    );
}

#[test]
fn a_tree_compares_with_its_own_report_as_with_itself() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    tree(&workspace, "runs", [("a", "yes"), ("b", "no")]);
    assert_eq!(workspace.on_runs("benchmark", &["--out", "report.json", "--quiet"]).code, 0);
    let said = workspace.run(&["diff", "report.json", "runs", "--suite", "evals/shared-benchmark.json"]);
    let diff = said.json();
    assert_eq!(
        diff["like_for_like"],
        json!({"status": "yes", "basis": "same_suite", "reasons": [], "changed_cases": [],
        "other_differences": []})
    );
    assert_eq!(
        (&diff["counts"]["same"], &diff["new_flags"], &diff["resolved_flags"]),
        (&json!(4), &json!([]), &json!([]))
    );
    assert_eq!(diff["verdict"]["text"], "No differences.");
}

#[test]
fn a_tree_and_a_report_meet_only_when_they_were_graded_alike() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    tree(&workspace, "runs", [("a", "yes"), ("b", "no")]);
    let options = ["--out", "report.json", "--quiet", "--strict", "--unobserved", "exclude", "--alpha", "0.01"];
    assert_eq!(workspace.on_runs("benchmark", &options).code, 0);
    let arguments = ["diff", "report.json", "runs", "--suite", "evals/shared-benchmark.json"];
    let reasons = workspace.run(&arguments).json()["like_for_like"]["reasons"].clone();
    let reason =
        |option: &str, before: &str| json!({"code": "option", "option": option, "before": before, "after": null});
    assert_eq!(reasons, json!([reason("strict", "true"), reason("unobserved", "exclude")]));
    let alike = [&arguments[..], &["--strict", "--unobserved", "exclude"]].concat();
    assert_eq!(workspace.run(&alike).json()["like_for_like"]["status"], "yes");
}

#[test]
fn a_suite_that_changed_between_the_sides_is_not_like_for_like() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    let suite = std::fs::read_to_string(workspace.path().join("evals/shared-benchmark.json")).unwrap();
    workspace.write("evals/old.json", suite.replace("\"yes\"", "\"no\""));
    tree(&workspace, "runs", [("a", "yes"), ("b", "no")]);
    let arguments = ["diff", "runs", "runs", "--suite", "evals/shared-benchmark.json", "--old-suite", "evals/old.json"];
    let said = workspace.run(&arguments);
    let diff = said.json();
    assert_eq!(diff["like_for_like"]["status"], "no", "{}", said.stderr);
    assert_eq!(diff["like_for_like"]["reasons"][0]["code"], "suite_sha256");
    assert_eq!(diff["arms"][WITH]["test"], Value::Null);
    assert_eq!(cell(&diff, "a", WITH)["change"], "improved");
}

#[test]
fn a_result_file_meets_the_workspace_it_was_made_of() {
    let workspace = Workspace::new();
    let entries = json!([{"text": "says yes", "passed": true, "evidence": ""}, {"text": "is short", "passed": false, "evidence": ""}]);
    workspace.write("w/eval-7/with_skill/run-1/grading.json", json!({"expectations": entries}).to_string());
    let run = json!({"eval_id": 7, "configuration": WITH, "run_number": 1, "expectations": entries});
    workspace.write("w.json", json!({"runs": [run]}).to_string());
    let diff = workspace.run(&["diff", "w.json", "w"]).json();
    assert_eq!(cell(&diff, "eval-7", WITH)["change"], "same", "{}", diff["cells"]);
    assert_eq!(diff["like_for_like"]["basis"], "same_checks");
}

#[test]
fn cases_that_only_changed_their_id_meet_by_name() {
    let workspace = Workspace::new();
    let file = |id: Value, passed: bool| {
        let run = json!({"eval_id": id, "eval_name": "boundary-check", "configuration": WITH,
            "expectations": [{"text": "x", "passed": passed}]});
        json!({"runs": [run]}).to_string()
    };
    workspace.write("old.json", file(json!(1), false));
    workspace.write("new.json", file(json!("t-4"), true));
    let diff = workspace.run(&["diff", "old.json", "new.json"]).json();
    assert_eq!(cell(&diff, "t-4", WITH)["change"], "improved");
}

#[test]
fn an_iteration_without_runs_is_read_from_its_result_file() {
    let workspace = Workspace::new();
    for (iteration, passed) in [(1, true), (2, false)] {
        let run = json!({"eval_id": 1, "configuration": WITH, "expectations": [{"text": "x", "passed": passed}]});
        workspace.write(&format!("w/iteration-{iteration}/benchmark.json"), json!({"runs": [run]}).to_string());
    }
    let said = workspace.run(&["diff", "w/iteration-1", "w/iteration-2"]);
    assert_eq!(said.lines("WARN").len(), 2, "{}", said.stderr);
    assert_eq!(cell(&said.json(), "1", WITH)["change"], "regressed");
    let alone = workspace.run(&["diff", "w"]).json();
    assert_eq!(
        (&alone["old"]["path"], &alone["new"]["path"]),
        (&json!("w/iteration-1/benchmark.json"), &json!("w/iteration-2/benchmark.json"))
    );
    let quiet = workspace.run(&["diff", "w/iteration-1", "w/iteration-2", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

#[test]
fn flags_that_a_file_does_not_have_are_unavailable_and_not_resolved() {
    let workspace = Workspace::new();
    let run = json!({"eval_id": 1, "configuration": WITH, "expectations": [{"text": "x", "passed": true}]});
    workspace.write("a.json", json!({"runs": [run]}).to_string());
    let diff = workspace.run(&["diff", "a.json", "a.json"]).json();
    assert_eq!((&diff["new_flags"], &diff["resolved_flags"]), (&Value::Null, &Value::Null));
    assert_eq!(diff["flags_unavailable"], "no_flags_in_file");
}
