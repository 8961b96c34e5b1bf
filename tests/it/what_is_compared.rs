//! What the lift of `inference` leaves out although the headline keeps it: pairs that were not observed alike, and what
//! only one arm can satisfy.

use serde_json::{Value, json};

use crate::support::Workspace;

/// Runs of one case; the name of the arm, its number, its answer and its commands, if there is a record of them.
fn runs(workspace: &Workspace, case: &str, runs: &[(&str, u32, &str, Option<&[&str]>)]) {
    for (arm, number, answer, commands) in runs {
        let folder = format!("runs/{case}/{arm}/run-{number}");
        workspace.write(&format!("{folder}/output.md"), answer);
        if let Some(commands) = commands {
            let event = |command: &&str| json!({"type": "command", "status": "completed", "input_summary": command});
            let events: Vec<Value> = commands.iter().map(event).collect();
            workspace.write(&format!("{folder}/events.json"), json!({"events": events}).to_string());
        }
    }
}

fn suite(assertions: &Value) -> Workspace {
    let workspace = Workspace::new();
    workspace.suite(&json!({"cases": [{"id": "a", "split": "tune", "prompt": "p", "assertions": assertions}]}));
    workspace
}

fn report(workspace: &Workspace, more: &[&str]) -> Value {
    workspace.on_runs("benchmark", &[&["--quiet", "--format", "json"], more].concat()).json()
}

fn sign<'r>(report: &'r Value, check: &str) -> &'r Value {
    let checks = report["inference"]["sanity"]["checks"].as_array().unwrap();
    checks.iter().find(|sign| sign["check"] == check).unwrap()
}

const TESTED: Option<&[&str]> = Some(&["cargo test"]);

#[test]
fn a_pair_that_was_observed_in_one_arm_only_makes_no_lift() {
    let workspace = suite(&json!([
        {"type": "contains", "name": "says", "value": "yes"},
        {"type": "command_ran", "name": "tests", "pattern": "cargo test"}
    ]));
    runs(
        &workspace,
        "a",
        &[
            ("with_skill", 1, "yes", TESTED),
            ("with_skill", 2, "yes", TESTED),
            ("with_skill", 3, "yes", None),
            ("without_skill", 1, "yes", TESTED),
            ("without_skill", 2, "yes", None),
            ("without_skill", 3, "yes", None),
        ],
    );
    for more in [&[][..], &["--unobserved", "exclude"]] {
        let report = report(&workspace, more);
        let inference = &report["inference"];
        // pair 2 has its evidence in one arm; in pair 3 neither has
        assert_eq!(inference["overall"]["estimate"], json!(0.0), "{more:?}");
        assert_eq!(inference["units"]["runs_with"], json!(2));
        assert_eq!(inference["by_case"][0]["blocked_pairs"], json!(1));
        // the runs of the pair do not come back by the test of the case's runs
        assert_eq!(inference["by_case"][0]["within_case_test"]["runs_without"], json!(2));
        let expected = json!({
            "check": "asymmetric_evidence", "status": "review", "count": 1,
            "evidence": ["a/without_skill/run-2 (tests)"]
        });
        assert_eq!(sign(&report, "asymmetric_evidence"), &expected);
        let bounds = &inference["missingness"]["bounds"];
        assert_eq!((&bounds["missing_with"], &bounds["missing_without"]), (&json!(1), &json!(1)));
        // the headline keeps the pair: the reference has it
        assert_eq!(report["paired_summary"]["pairing"]["eligible_pairs"], json!(3));
    }
    // run 2 without the skill fails the check whose evidence is missing, (1 + 1/2 + 1/2) / 3 against (1 + 1 + 1/2) / 3
    let lift = report(&workspace, &[])["paired_summary"]["absolute_delta"].as_f64().unwrap();
    assert!((lift - 0.5 / 3.0).abs() < 1e-15, "{lift}");
    let table = workspace.on_runs("benchmark", &["--format", "table"]).stdout;
    assert!(table.contains("1 of 3 pairs is blocked: a check had its evidence in one arm only (1)."), "{table}");
}

#[test]
fn what_does_not_enter_the_lift_may_be_unobserved_in_one_arm() {
    let workspace = suite(&json!([
        {"type": "contains", "name": "says", "value": "yes"},
        {"type": "command_ran", "name": "soft", "pattern": "cargo test", "severity": "soft"},
        {"type": "skill_invoked", "name": "loads"},
        {"type": "command_ran", "name": "scoped", "pattern": "ls", "variants": ["with_skill"]}
    ]));
    runs(&workspace, "a", &[("with_skill", 1, "yes", TESTED), ("without_skill", 1, "yes", None)]);
    let report = report(&workspace, &[]);
    assert_eq!(sign(&report, "asymmetric_evidence")["count"], json!(0));
    assert_eq!(report["inference"]["units"]["runs_with"], json!(1));
    assert_eq!(report["inference"]["overall"]["estimate"], json!(0.0));
}

#[test]
fn what_a_compared_check_waits_for_must_be_observed_alike() {
    let workspace = suite(&json!([
        {"type": "contains", "name": "says", "value": "yes"},
        {"type": "command_ran", "name": "ran", "pattern": "cargo test", "severity": "soft"},
        {"type": "contains", "name": "next", "value": "yes", "severity": "soft", "depends_on": "ran"},
        {"type": "contains", "name": "reports", "value": "no", "depends_on": "next"}
    ]));
    runs(&workspace, "a", &[("with_skill", 1, "yes", TESTED), ("without_skill", 1, "yes", None)]);
    let report = report(&workspace, &[]);
    // 1 of 2 against 1 of 1: without evidence the check that fails is skipped
    assert_eq!(report["paired_summary"]["absolute_delta"], json!(-0.5));
    assert_eq!(sign(&report, "asymmetric_evidence")["evidence"], json!(["a/without_skill/run-1 (ran)"]));
    assert_eq!(report["inference"]["overall"]["verdict"]["code"], "nothing_paired");
}

#[test]
fn a_verdict_on_a_stream_that_hides_attempts_is_not_missing_evidence() {
    let workspace = suite(&json!([{"type": "command_not_ran", "name": "gentle", "pattern": "rm -rf"}]));
    runs(&workspace, "a", &[("with_skill", 1, "yes", TESTED), ("without_skill", 1, "yes", None)]);
    // the rows of both runs are partial, but only one of them was seen at all
    let codex =
        json!({"source": "codex", "events": [{"type": "command", "status": "completed", "input_summary": "ls"}]});
    workspace.write("runs/a/with_skill/run-1/events.json", codex.to_string());
    let report = report(&workspace, &[]);
    let rows: Vec<_> = (0..2).map(|row| report["results"][row]["assertions"][0]["availability"].clone()).collect();
    assert_eq!(rows, ["partial", "partial"]);
    assert_eq!(sign(&report, "asymmetric_evidence")["count"], json!(1));
}

#[test]
fn what_only_one_arm_can_satisfy_stands_beside_the_lift() {
    let workspace = Workspace::new();
    let loads = json!({"type": "skill_invoked", "name": "loads the skill"});
    let scoped = json!({"type": "contains", "name": "cites", "value": "source", "variants": ["with_skill"]});
    let says = json!({"type": "contains", "name": "says", "value": "yes"});
    workspace.suite(&json!({"cases": [
        {"id": "a", "split": "tune", "prompt": "p", "assertions": [says, loads, scoped]},
        {"id": "b", "split": "tune", "prompt": "p", "assertions": [says, loads]},
    ]}));
    let skill: Option<&[&str]> = Some(&["cat skills/demo/SKILL.md"]);
    let nothing: Option<&[&str]> = Some(&[]);
    for case in ["a", "b"] {
        runs(&workspace, case, &[("with_skill", 1, "yes source", skill), ("without_skill", 1, "yes", nothing)]);
    }
    let report = report(&workspace, &[]);
    // with everything 3 of 3 against 1 of 2 in a, 2 of 2 against 1 of 2 in b
    assert_eq!(report["paired_summary"]["absolute_delta"], json!(0.5));
    let inference = &report["inference"];
    assert_eq!(inference["overall"]["estimate"], json!(0.0));
    assert_eq!(inference["by_case"][0]["class"], "saturated");
    // nothing is missing, so that both bounds are the lift
    let bounds = &inference["missingness"]["bounds"];
    assert_eq!((&bounds["lift_worst"], &bounds["lift_best"]), (&json!(0.0), &json!(0.0)));
    assert_eq!(inference["overall"]["verdict"]["qualifiers"], json!([{"code": "all_pass"}]));
    assert_eq!(
        inference["one_arm_criteria"],
        json!([
            {"assertion": "cites", "type": "contains", "reason": "only_with_skill", "arms": ["with_skill"],
             "with": {"passed": 1, "total": 1}, "without": {"passed": 0, "total": 0}, "cases": 1},
            {"assertion": "loads the skill", "type": "skill_invoked", "reason": "skill_invoked",
             "arms": ["with_skill", "without_skill"],
             "with": {"passed": 2, "total": 2}, "without": {"passed": 0, "total": 2}, "cases": 2},
        ])
    );
    let table = workspace.on_runs("benchmark", &["--format", "table"]).stdout;
    let note = "Not in the lift, since only one arm can satisfy them: cites (1 of 1 with the skill, 0 of 0 without), \
                loads the skill (2 of 2 with the skill, 0 of 2 without).";
    assert!(table.split_whitespace().collect::<Vec<_>>().join(" ").contains(note), "{table}");
}

#[test]
fn a_veto_of_one_arm_is_no_loss_of_the_other() {
    let workspace = suite(&json!([
        {"type": "contains", "name": "says", "value": "yes"},
        {"type": "contains", "name": "cites", "value": "source", "variants": ["with_skill"], "severity": "critical"}
    ]));
    runs(&workspace, "a", &[("with_skill", 1, "yes", None), ("without_skill", 1, "yes", None)]);
    let report = report(&workspace, &[]);
    assert_eq!(report["paired_summary"]["absolute_delta"], json!(-1.0));
    assert_eq!(report["inference"]["overall"]["estimate"], json!(0.0));
    assert_eq!(sign(&report, "candidate_below_baseline")["count"], json!(0));
    // it is still something to look at
    assert_eq!(report["inference"]["review_queue"][0]["reasons"], json!(["critical"]));
}

#[test]
fn a_pair_without_anything_in_common_is_blocked() {
    let workspace = suite(&json!([{"type": "skill_invoked", "name": "loads"}]));
    let skill: Option<&[&str]> = Some(&["cat skills/demo/SKILL.md"]);
    runs(&workspace, "a", &[("with_skill", 1, "yes", skill), ("without_skill", 1, "yes", Some(&[]))]);
    let report = report(&workspace, &[]);
    assert_eq!(report["paired_summary"]["absolute_delta"], json!(1.0));
    let inference = &report["inference"];
    assert_eq!(inference["overall"]["verdict"]["code"], "nothing_paired");
    assert_eq!(inference["by_case"][0]["blocked_pairs"], json!(1));
    let table = workspace.on_runs("benchmark", &["--format", "table"]).stdout;
    assert!(table.contains("only one arm can satisfy the checks (1)"), "{table}");
}

#[test]
fn what_waits_for_the_skill_is_no_lift_either() {
    let workspace = suite(&json!([
        {"type": "contains", "name": "says", "value": "yes"},
        {"type": "command_ran", "name": "fills", "pattern": "skills/demo/scripts/fill\\.py"},
        {"type": "contains", "name": "reports", "value": "filled", "depends_on": "fills"}
    ]));
    let fills: Option<&[&str]> = Some(&["python skills/demo/scripts/fill.py"]);
    runs(&workspace, "a", &[("with_skill", 1, "no, filled", fills), ("without_skill", 1, "yes, filled", Some(&[]))]);
    let report = report(&workspace, &[]);
    // 2 of 3 against 1 of 2, the third being skipped
    let lift = report["paired_summary"]["absolute_delta"].as_f64().unwrap();
    assert!((lift - (2.0 / 3.0 - 0.5)).abs() < 1e-15, "{lift}");
    assert_eq!(report["inference"]["overall"]["estimate"], json!(-1.0));
    let criteria = report["inference"]["one_arm_criteria"].as_array().unwrap();
    let reasons: Vec<_> = criteria.iter().map(|criterion| criterion["reason"].clone()).collect();
    assert_eq!(reasons, ["names_skill", "prerequisite"]);
    assert_eq!(criteria[1]["without"], json!({"passed": 0, "total": 0}));
}
