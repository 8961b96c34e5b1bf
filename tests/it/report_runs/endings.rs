//! The block `run_endings`, and pairs of different effort.

use serde_json::{Value, json};

use super::{answer, keys, report};
use crate::support::Workspace;

fn run(workspace: &Workspace, run: &str, metadata: &Value) {
    answer(workspace, run, true);
    workspace.write(&format!("runs/{run}/metadata.json"), metadata.to_string());
}

#[test]
fn endings_are_counted_for_each_arm_also_of_runs_that_are_not_scored() {
    let workspace = Workspace::with_cases(&["a", "b"]);
    let default = json!({"requested": null, "applied_by": "backend_default"});
    let refused = json!({"model": "m1", "stop_class": "refused", "served_model_check": "match", "effort": default});
    run(&workspace, "a/with_skill", &refused);
    let truncated = json!({
        "model": "m2", "stop_class": "truncated", "served_model_check": "mismatch", "effort": default, "returncode": 1
    });
    run(&workspace, "a/without_skill", &truncated);
    run(&workspace, "b/with_skill", &json!({"stop_reason": "max_turns", "served_model_check": "mixed"}));
    let block = report(&workspace, &[])["run_endings"].take();
    let order = ["by_variant", "refused_runs", "cut_off_runs", "served_model_mismatches", "effort_levels", "notes"];
    assert_eq!(keys(&block), order);
    let by_variant = json!({
        "with_skill": {
            "stop_class": {"turn_limit": 1, "refused": 1},
            "served_model_check": {"match": 1, "mixed": 1},
            "effort": {"backend_default": 1, "unrecorded": 1},
        },
        // the run of `b` that is not there recorded nothing
        "without_skill": {
            "stop_class": {"truncated": 1, "unrecorded": 1},
            "served_model_check": {"mismatch": 1, "unrecorded": 1},
            "effort": {"backend_default": 1, "unrecorded": 1},
        },
    });
    assert_eq!(block["by_variant"], by_variant);
    assert_eq!((&block["refused_runs"], &block["cut_off_runs"]), (&json!(1), &json!(2)));
    assert_eq!(block["served_model_mismatches"], json!(1));
    assert_eq!(block["effort_levels"], json!(["backend_default"]));
    let notes = block["notes"].to_string();
    assert_eq!(block["notes"].as_array().unwrap().len(), 5, "{notes}");
    for word in ["refusal", "2 runs was cut off", "another model", "several models", "2 models ran with the default"] {
        assert!(notes.contains(word), "{word}: {notes}");
    }
}

#[test]
fn a_tree_that_records_nothing_has_no_notes() {
    let workspace = Workspace::with_cases(&["a"]);
    answer(&workspace, "a/with_skill", true);
    answer(&workspace, "a/without_skill", true);
    let block = report(&workspace, &[])["run_endings"].take();
    let nothing = json!({
        "stop_class": {"unrecorded": 1}, "served_model_check": {"unrecorded": 1}, "effort": {"unrecorded": 1}
    });
    assert_eq!(block["by_variant"], json!({"with_skill": nothing, "without_skill": nothing}));
    assert_eq!((&block["notes"], &block["effort_levels"]), (&json!([]), &json!([])));
}

#[test]
fn arms_of_different_effort_are_no_pair_however_it_is_written() {
    let workspace = Workspace::with_cases(&["words", "objects", "same", "unset", "half"]);
    let asked = |level: &str| json!({"effort": {"requested": level, "applied_by": "claude --effort"}});
    run(&workspace, "words/with_skill", &json!({"effort": "high"}));
    run(&workspace, "words/without_skill", &json!({"effort": "low"}));
    run(&workspace, "objects/with_skill", &asked("high"));
    run(&workspace, "objects/without_skill", &asked("low"));
    run(&workspace, "same/with_skill", &json!({"effort": "high"}));
    run(&workspace, "same/without_skill", &asked("high"));
    run(&workspace, "unset/with_skill", &asked("high"));
    run(&workspace, "unset/without_skill", &json!({"effort": {"requested": null, "applied_by": "backend_default"}}));
    run(&workspace, "half/with_skill", &asked("high"));
    run(&workspace, "half/without_skill", &json!({}));
    let report = report(&workspace, &[]);
    let pairing = &report["paired_summary"]["pairing"];
    assert_eq!(pairing["blocked_reason_counts"], json!({"effort_mismatch": 3}));
    assert_eq!(pairing["eligible_pairs"], json!(2));
    let endings = &report["run_endings"];
    assert_eq!(endings["effort_levels"], json!(["backend_default", "high", "low"]));
    assert!(endings["notes"][0].as_str().unwrap().contains("effort_mismatch"), "{endings}");
}
