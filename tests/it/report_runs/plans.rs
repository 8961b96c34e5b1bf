//! A plan of the runs: in the folder of the runs, or named.

use serde_json::{Value, json};
use skill_lift_contract::ContentDigest;

use super::{answer, report};
use crate::support::Workspace;

/// A plan of some runs: case, model, arm, repetition, directory.
fn plan(runs: &[(&str, Option<&str>, &str, u32, &str)]) -> String {
    let suite = format!("sha256:{}", "0".repeat(64));
    let identities: Vec<String> = runs
        .iter()
        .map(|(case, model, variant, number, directory)| {
            // the keys in order, without white space: the form that the digest is of
            let model = json!(model);
            format!(
                r#"{{"case_id":"{case}","model":{model},"run_dir":"{directory}","run_number":{number},"variant":"{variant}"}}"#
            )
        })
        .collect();
    let identities = identities.join(",");
    let fields = format!(
        r#""eval_contract_sha256":"{suite}","identities":[{identities}],"population":"answer","schema_version":2"#
    );
    let digest = ContentDigest::of(format!("{{{fields}}}").as_bytes());
    format!(r#"{{{fields},"design_sha256":"sha256:{digest}"}}"#)
}

fn coverage(report: &Value) -> &Value {
    &report["inference"]["missingness"]["coverage"]
}

#[test]
fn a_plan_in_the_folder_of_the_runs_says_what_is_missing() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    answer(&workspace, "a/with_skill/run-1", true);
    answer(&workspace, "a/without_skill/run-1", false);
    answer(&workspace, "a/without_skill/run-3", false);
    let text = plan(&[
        ("a", None, "with_skill", 1, "a/with_skill/run-1"),
        ("a", None, "with_skill", 2, "a/with_skill/run-2"),
        ("a", None, "without_skill", 1, "a/without_skill/run-1"),
        ("a", None, "without_skill", 2, "a/without_skill/run-2"),
        ("b", None, "with_skill", 1, "b/with_skill/run-1"),
        ("b", None, "ablation:x", 1, "b/ablation:x/run-1"),
        ("other", None, "with_skill", 1, "other/with_skill/run-1"),
    ]);
    workspace.write("runs/answer-design.json", &text);
    let report = report(&workspace, &[]);
    let coverage = coverage(&report);
    assert_eq!(coverage["planned_by"], "plan");
    let design: Value = serde_json::from_str(&text).unwrap();
    let of_plan = json!({
        "design_sha256": design["design_sha256"], "listed_runs": 7, "not_graded": 2, "same_suite": false
    });
    assert_eq!(coverage["plan"], of_plan);
    let arm = |planned: u32, found: u32, missing: u32, unplanned: u32, scored: u32| {
        json!({
            "planned": planned, "found": found, "missing": missing, "unplanned": unplanned, "scored": scored,
            "failed": 0, "failed_reasons": {}, "excluded": 0, "excluded_reasons": {},
        })
    };
    assert_eq!(coverage["by_variant"]["with_skill"], arm(3, 1, 2, 0, 1));
    assert_eq!(coverage["by_variant"]["without_skill"], arm(2, 2, 1, 1, 2));
    // a: with 1 of 2 known, without 2 of 3; b has no planned baseline and enters no bound
    let bounds = &report["inference"]["missingness"]["bounds"];
    assert_eq!(
        (&bounds["n_units"], &bounds["missing_with"], &bounds["missing_without"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let (worst, best) = (bounds["lift_worst"].as_f64().unwrap(), bounds["lift_best"].as_f64().unwrap());
    assert!((worst - (0.5 - 1.0 / 3.0)).abs() < 1e-15 && (best - 1.0).abs() < 1e-15, "{bounds}");
}

#[test]
fn a_run_that_names_its_model_only_afterwards_is_the_planned_one() {
    let workspace = Workspace::with_cases(&["a"]);
    for arm in ["with_skill", "without_skill"] {
        answer(&workspace, &format!("a/{arm}"), true);
        workspace.write(&format!("runs/a/{arm}/metadata.json"), r#"{"model": "m-1"}"#);
    }
    workspace.write(
        "runs/answer-design.json",
        plan(&[("a", None, "with_skill", 1, "a/with_skill"), ("a", None, "without_skill", 1, "a/without_skill")]),
    );
    let report = report(&workspace, &[]);
    for arm in ["with_skill", "without_skill"] {
        let arm = &coverage(&report)["by_variant"][arm];
        assert_eq!((&arm["planned"], &arm["missing"], &arm["unplanned"]), (&json!(1), &json!(0), &json!(0)));
    }
    assert_eq!(report["inference"]["missingness"]["bounds"]["lift_worst"], json!(0.0));
}

#[test]
fn a_named_plan_counts_before_the_one_in_the_folder() {
    let workspace = Workspace::with_cases(&["a"]);
    answer(&workspace, "a/m/with_skill", true);
    workspace.write("runs/answer-design.json", plan(&[]));
    // a plan for another place: the identity counts where the directory is another one
    let named = plan(&[("a", Some("m"), "with_skill", 1, "elsewhere/a"), ("a", None, "with_skill", 1, "elsewhere/b")]);
    workspace.write("plan.json", &named);
    let report = report(&workspace, &["--plan", "plan.json"]);
    let arm = &coverage(&report)["by_variant"]["with_skill"];
    assert_eq!((&arm["planned"], &arm["found"], &arm["missing"]), (&json!(2), &json!(1), &json!(1)));
    let digest = format!("sha256:{}", ContentDigest::of(named.as_bytes()));
    assert_eq!(report["provenance"]["options"]["plan"], json!(digest));
}

#[test]
fn the_plan_in_the_folder_is_part_of_the_digest_of_the_tree() {
    let workspace = Workspace::with_cases(&["a"]);
    answer(&workspace, "a/with_skill", true);
    let digest = |more: &[&str]| report(&workspace, more)["provenance"]["runs_sha256"].take();
    let without = digest(&[]);
    workspace.write("runs/answer-design.json", plan(&[]));
    assert_ne!(digest(&[]), without);
    workspace.write("plan.json", plan(&[]));
    assert_eq!(digest(&["--plan", "plan.json"]), without, "it was not read");
}

#[test]
fn a_file_that_is_no_plan_is_named() {
    let workspace = Workspace::with_cases(&["a"]);
    answer(&workspace, "a/with_skill", true);
    answer(&workspace, "a/without_skill", true);
    for (contents, why) in [
        ("{", "invalid JSON"),
        ("[]", "$: a plan is an object"),
        (&plan(&[]).replace("\"population\":\"answer\"", "\"population\":\"trigger\""), "$.population: "),
        (&plan(&[]).replace("[]", "[{}]"), "$.identities[0].case_id: must be a string"),
        (&plan(&[]).replace("0000", "0001"), "the plan was changed after it was made"),
    ] {
        workspace.write("plan.json", contents);
        let said = workspace.on_runs("benchmark", &["--plan", "plan.json"]);
        let [line] = said.lines("FAIL:")[..] else { panic!("{said:#?}") };
        assert!(
            said.code == 1 && line.starts_with("FAIL: --plan plan.json: ") && line.contains(why),
            "{why}: {said:#?}"
        );
        assert_eq!(said.stdout, "");
        // nobody asked for the one in the tree: without it the report is what it was before
        workspace.write("runs/answer-design.json", contents);
        let said = workspace.on_runs("benchmark", &[]);
        let [line] = said.lines("WARN plan_unreadable")[..] else { panic!("{said:#?}") };
        assert!(said.code == 0 && line.contains("answer-design.json: ") && line.contains(why), "{why}: {said:#?}");
        assert_eq!(coverage(&said.json())["planned_by"], "seen");
        let said = workspace.on_runs("benchmark", &["--strict-layout"]);
        assert!(said.code == 1 && said.stderr.contains("plan_unreadable"), "{said:#?}");
    }
    let said = workspace.on_runs("benchmark", &["--plan", "nowhere.json"]);
    assert!(said.code == 1 && said.stderr.contains("--plan nowhere.json: no such file"), "{said:#?}");
    workspace.write("plan.json", vec![b' '; (1 << 20) + 1]);
    let said = workspace.on_runs("benchmark", &["--plan", "plan.json", "--max-suite-mib", "1"]);
    assert!(said.code == 1 && said.stderr.contains("raise --max-suite-mib to read it"), "{said:#?}");
}
