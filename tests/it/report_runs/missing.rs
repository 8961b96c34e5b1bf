//! The block `inference.missingness` without a plan: coverage, failures, and what the missing runs could change.

use serde_json::{Value, json};

use super::{answer, keys, report};
use crate::support::{Workspace, conformance};

fn missingness(workspace: &Workspace) -> Value {
    report(workspace, &[])["inference"]["missingness"].take()
}

/// Writes the scored runs of an arm: those that pass first.
fn arm(workspace: &Workspace, arm: &str, scored: u64, passed: u64) {
    for number in 1..=scored {
        answer(workspace, &format!("{arm}/run-{number}"), number <= passed);
    }
}

#[test]
fn bounds_are_those_of_the_oracle() {
    let oracle = conformance("statistics-oracle.json");
    let vectors = oracle["sections"]["missingness_bounds"]["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 3);
    for vector in vectors {
        let cases = vector["cases"].as_array().unwrap();
        let ids: Vec<String> = (0..cases.len()).map(|number| format!("c{number}")).collect();
        let workspace = Workspace::with_cases(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        for (id, case) in ids.iter().zip(cases) {
            let count = |key: &str| case[key].as_u64().unwrap();
            arm(&workspace, &format!("{id}/with_skill"), count("with_scored"), count("with_passed"));
            arm(&workspace, &format!("{id}/without_skill"), count("without_scored"), count("without_passed"));
        }
        let block = missingness(&workspace);
        for key in ["lift_worst", "lift_best"] {
            let (found, right) = (block["bounds"][key].as_f64().unwrap(), vector[key].as_f64().unwrap());
            assert!((found - right).abs() < 1e-15, "{}: {key} {found}, not {right}", vector["id"]);
        }
        let planned = vector["planned_runs_per_arm"].as_u64().unwrap() * cases.len() as u64;
        for arm in ["with_skill", "without_skill"] {
            assert_eq!(block["coverage"]["by_variant"][arm]["planned"], json!(planned), "{}", vector["id"]);
        }
    }
}

#[test]
fn every_run_of_an_arm_is_accounted_for() {
    let workspace = Workspace::with_cases(&["a", "b", "c"]);
    for case in ["a", "b"] {
        arm(&workspace, &format!("{case}/with_skill"), 2, 2);
        arm(&workspace, &format!("{case}/without_skill"), 2, 0);
    }
    workspace.write("runs/a/with_skill/run-1/metadata.json", r#"{"timed_out": true, "returncode": 124}"#);
    workspace.write("runs/a/with_skill/run-2/metadata.json", r#"{"returncode": 1}"#);
    workspace.write("runs/b/without_skill/run-1/output.md", "[CODEX FAILURE: no]");
    std::fs::remove_file(workspace.path().join("runs/b/without_skill/run-2/output.md")).unwrap();
    // nothing of c
    let block = missingness(&workspace);
    assert_eq!(keys(&block), ["coverage", "failure_rates", "bounds"]);
    // 3 cases x 1 model x 2 repetitions
    let expected = json!({
        "planned_by": "seen",
        "by_variant": {
            "with_skill": {
                "planned": 6, "found": 4, "missing": 2, "unplanned": 0, "scored": 2,
                "failed": 2, "failed_reasons": {"timed_out": 1, "executor_error": 1},
                "excluded": 0, "excluded_reasons": {},
            },
            "without_skill": {
                "planned": 6, "found": 4, "missing": 2, "unplanned": 0, "scored": 2,
                "failed": 1, "failed_reasons": {"executor_error": 1},
                "excluded": 1, "excluded_reasons": {"missing_output": 1},
            },
        },
    });
    assert_eq!(block["coverage"], expected);
    // worst: a (0 - 0), b (1 - 1), c (0 - 1); best: a (1 - 0), b (1 - 0), c (1 - 0)
    let bounds = json!({
        "method": "worst-case", "unit": "case", "n_units": 3, "missing_with": 4, "missing_without": 4,
        "lift_worst": -1.0 / 3.0, "lift_best": 1.0, "could_reverse": true,
    });
    assert_eq!(block["bounds"], bounds);
}

#[test]
fn an_arm_that_fails_more_often_is_tested_exactly() {
    let workspace = Workspace::with_cases(&["a"]);
    arm(&workspace, "a/with_skill", 3, 3);
    arm(&workspace, "a/without_skill", 3, 3);
    let rates = |workspace: &Workspace| missingness(workspace)["failure_rates"].take();
    let none = json!({
        "method": "stratified-label-permutation", "unit": "run",
        "with_skill": {"failed": 0, "runs": 3, "rate": 0.0}, "without_skill": {"failed": 0, "runs": 3, "rate": 0.0},
        "difference": 0.0, "p_two_sided": 1.0,
    });
    assert_eq!(rates(&workspace), none);
    for number in 1..=3 {
        workspace.write(&format!("runs/a/with_skill/run-{number}/metadata.json"), r#"{"timed_out": true}"#);
    }
    let all = rates(&workspace);
    // 2 of the C(6, 3) = 20 ways to label six runs give all failures to one arm
    assert_eq!((&all["difference"], &all["p_two_sided"]), (&json!(1.0), &json!(0.1)));
    assert_eq!(all["with_skill"], json!({"failed": 3, "runs": 3, "rate": 1.0}));

    let one_arm = Workspace::with_cases(&["a"]);
    arm(&one_arm, "a/with_skill", 1, 1);
    let withheld = rates(&one_arm);
    assert_eq!((&withheld["p_two_sided"], &withheld["reason"]), (&Value::Null, &json!("no_eligible_pairs")));
    assert_eq!((&withheld["without_skill"]["rate"], &withheld["difference"]), (&Value::Null, &Value::Null));
}

#[test]
fn without_a_missing_run_both_bounds_are_the_lift() {
    let workspace = Workspace::new();
    let case = |id: &str, family: Value| {
        let assertions: Vec<Value> =
            ["yes", "s"].iter().map(|value| json!({"type": "contains", "value": value})).collect();
        json!({"id": id, "split": "tune", "prompt": "Do.", "family": family, "assertions": assertions})
    };
    workspace.suite(&json!({"cases": [
        case("a", json!("f")), case("b", json!("f")), case("c", json!("g")), case("d", json!("g")), case("e", json!("h"))
    ]}));
    let texts = ["yes", "s", "no", "no", "yes", "no", "s"];
    let mut next = 0;
    for case in ["a", "b", "c", "d", "e"] {
        for model in ["m1", "m2"] {
            for arm in ["with_skill", "without_skill"] {
                for number in 1..=2 {
                    let text = texts[next % texts.len()];
                    workspace.write(&format!("runs/{case}/{model}/{arm}/run-{number}/output.md"), text);
                    next += 1;
                }
            }
        }
    }
    let report = report(&workspace, &[]);
    let overall = &report["inference"]["overall"];
    let bounds = &report["inference"]["missingness"]["bounds"];
    assert_eq!(
        (&overall["unit"], &bounds["unit"], &bounds["n_units"]),
        (&json!("family"), &json!("family"), &json!(3))
    );
    assert_ne!(overall["estimate"], json!(0.0));
    assert_eq!((&bounds["lift_worst"], &bounds["lift_best"]), (&overall["estimate"], &overall["estimate"]));
    assert_eq!((&bounds["missing_with"], &bounds["missing_without"]), (&json!(0), &json!(0)));
}

#[test]
fn a_model_that_was_never_tried_on_a_case_is_missing_there() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    for run in ["a/m1", "a/m2", "b/m1"] {
        answer(&workspace, &format!("{run}/with_skill"), true);
        answer(&workspace, &format!("{run}/without_skill"), false);
    }
    let block = missingness(&workspace);
    let arm = &block["coverage"]["by_variant"]["with_skill"];
    assert_eq!((&arm["planned"], &arm["found"], &arm["missing"]), (&json!(4), &json!(3), &json!(1)));
    // a is 1; b is 1 with m1 and anything from -1 to 1 with m2
    assert_eq!((&block["bounds"]["lift_worst"], &block["bounds"]["lift_best"]), (&json!(0.5), &json!(1.0)));
}

#[test]
fn a_run_that_broke_off_before_it_named_its_model_is_no_model_of_its_own() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    for run in ["a/with_skill", "a/without_skill", "b/with_skill"] {
        answer(&workspace, run, true);
        workspace.write(&format!("runs/{run}/metadata.json"), r#"{"model": "m"}"#);
    }
    workspace.write("runs/b/without_skill/output.md", "[TIMEOUT: 600 s]");
    let arm = missingness(&workspace)["coverage"]["by_variant"]["without_skill"].take();
    assert_eq!((&arm["planned"], &arm["found"], &arm["failed"]), (&json!(2), &json!(2), &json!(1)));
}

#[test]
fn a_case_without_anything_to_check_has_nothing_to_miss() {
    let workspace = Workspace::new();
    let judged = json!([{"name": "good", "type": "judge", "rubric": ["good"]}]);
    let checked = json!([{"name": "yes", "type": "contains", "value": "yes"}]);
    workspace.suite(&json!({"cases": [
        {"id": "judged", "split": "tune", "prompt": "Do.", "assertions": judged},
        {"id": "checked", "split": "tune", "prompt": "Do.", "assertions": checked},
    ]}));
    for case in ["judged", "checked"] {
        arm(&workspace, &format!("{case}/with_skill"), 2, 2);
        arm(&workspace, &format!("{case}/without_skill"), 2, 0);
    }
    std::fs::remove_dir_all(workspace.path().join("runs/judged/with_skill/run-2")).unwrap();
    let bounds = missingness(&workspace)["bounds"].take();
    assert_eq!(
        (&bounds["n_units"], &bounds["lift_worst"], &bounds["lift_best"]),
        (&json!(1), &json!(1.0), &json!(1.0))
    );
}

#[test]
fn an_arm_that_nobody_asked_for_is_not_missing() {
    let workspace = Workspace::with_cases(&["a"]);
    answer(&workspace, "a/with_skill", true);
    let block = report(&workspace, &["--variant", "with_skill"])["inference"]["missingness"].take();
    assert_eq!(keys(&block["coverage"]["by_variant"]), ["with_skill"]);
    let bounds = json!({
        "method": "worst-case", "unit": "case", "n_units": 0, "missing_with": 0, "missing_without": 0,
        "lift_worst": null, "lift_best": null, "could_reverse": false, "reason": "no_eligible_pairs",
    });
    assert_eq!(block["bounds"], bounds);
}

#[test]
fn what_inference_leaves_out_is_not_known() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    for case in ["a", "b"] {
        answer(&workspace, &format!("{case}/with_skill"), true);
        answer(&workspace, &format!("{case}/without_skill"), false);
    }
    // a baseline that read the skill is no baseline
    let read = json!([{"type": "file_read", "status": "completed", "path": "skills/demo/SKILL.md"}]);
    workspace.write("runs/a/without_skill/events.json", read.to_string());
    let bounds = missingness(&workspace)["bounds"].take();
    assert_eq!((&bounds["missing_with"], &bounds["missing_without"]), (&json!(0), &json!(1)));
    assert_eq!((&bounds["lift_worst"], &bounds["lift_best"]), (&json!(0.5), &json!(1.0)));
    // runs of different effort are measured and cannot be compared
    workspace.write("runs/b/with_skill/metadata.json", r#"{"effort": "high"}"#);
    workspace.write("runs/b/without_skill/metadata.json", r#"{"effort": "low"}"#);
    let bounds = missingness(&workspace)["bounds"].take();
    assert_eq!((&bounds["missing_with"], &bounds["missing_without"]), (&json!(1), &json!(2)));
    assert_eq!((&bounds["lift_worst"], &bounds["lift_best"]), (&json!(-0.5), &json!(1.0)));
}

/// Seven cases of which the first `better` pass with the skill only, and the others in neither arm.
fn seven_cases(better: usize) -> Workspace {
    let ids = ["a", "b", "c", "d", "e", "f", "g"];
    let workspace = Workspace::with_cases(&ids);
    for (number, id) in ids.iter().enumerate() {
        answer(&workspace, &format!("{id}/with_skill/run-1"), number < better);
        answer(&workspace, &format!("{id}/without_skill/run-1"), false);
    }
    workspace
}

fn verdict(workspace: &Workspace) -> (String, String) {
    let report = report(workspace, &[]);
    let verdict = &report["inference"]["overall"]["verdict"];
    (verdict["code"].as_str().unwrap().to_owned(), verdict["text"].as_str().unwrap().to_owned())
}

#[test]
fn a_verdict_says_when_the_missing_runs_could_reverse_it() {
    const SAID: &str = "and the missing runs could reverse it";
    let workspace = seven_cases(7);
    let (code, text) = verdict(&workspace);
    assert!(code == "helps" && !text.contains(SAID), "{code}: {text}");
    // a second and a third repetition in one case only: 2 of 3 runs are missing in each arm of six cases, so that the
    // lift lies between (6 * (1/3 - 2/3) + 1) / 7 = -1/7 and 1
    for number in [2, 3] {
        answer(&workspace, &format!("a/with_skill/run-{number}"), true);
        answer(&workspace, &format!("a/without_skill/run-{number}"), false);
    }
    let (code, text) = verdict(&workspace);
    let said = format!("over 7 cases; p = 0.016, {SAID}. A skill without effect");
    assert!(code == "helps" && text.contains(&said), "{code}: {text}");

    let few = seven_cases(2);
    let (code, text) = verdict(&few);
    assert!(code == "too_few_cases" && !text.contains(SAID), "{code}: {text}");
    // where the baseline is gone, a and b are between 0 and 1, and c is between -1 and 0
    for case in ["a", "b", "c"] {
        std::fs::remove_dir_all(few.path().join(format!("runs/{case}/without_skill"))).unwrap();
    }
    let (code, text) = verdict(&few);
    assert!(code == "too_few_cases" && !text.contains(SAID), "no lift was seen: {code}: {text}");
    answer(&few, "a/without_skill/run-1", false);
    let (code, text) = verdict(&few);
    assert!(code == "too_few_cases" && !text.contains(SAID), "(1 + 0 - 1) / 7 is no loss: {code}: {text}");
    std::fs::remove_dir_all(few.path().join("runs/d/without_skill")).unwrap();
    let (code, text) = verdict(&few);
    assert!(
        code == "too_few_cases" && text.ends_with(&format!(" The lift seen is +25.0\u{a0}pp, {SAID}.")),
        "{code}: {text}"
    );

    let nothing = Workspace::with_cases(&["a"]);
    answer(&nothing, "a/with_skill", true);
    let (code, text) = verdict(&nothing);
    assert!(code == "nothing_paired" && !text.contains(SAID), "{code}: {text}");
}
