//! The block `trajectory_diff`.

use serde_json::{Value, json};

use super::{answer, keys, report};
use crate::support::Workspace;

fn event(kind: &str, input: &str) -> Value {
    json!({"type": kind, "status": "completed", "input_summary": input})
}

fn commands(commands: &[&str]) -> Vec<Value> {
    commands.iter().map(|command| event("command", command)).collect()
}

/// Writes a run that passes, with a trace.
fn traced(workspace: &Workspace, run: &str, events: &[Value]) {
    answer(workspace, run, true);
    let events = json!({"schema_version": 2, "source": "codex", "events": events});
    workspace.write(&format!("runs/{run}/events.json"), events.to_string());
}

#[test]
fn a_case_shows_what_the_skill_changes_on_the_way() {
    let workspace = Workspace::with_cases(&["b", "a"]);
    let with = [
        commands(&["npm install", "npm test"]),
        vec![event("file_read", "a.js"), event("file_read", "b.js"), event("skill_load", "demo")],
    ];
    traced(&workspace, "b/with_skill", &with.concat());
    traced(&workspace, "b/without_skill", &commands(&["npm install"]));
    traced(&workspace, "a/with_skill", &commands(&["ls"]));
    traced(&workspace, "a/without_skill", &[event("command", "ls"), event("file_write", "x")]);
    let report = report(&workspace, &[]);
    let block = &report["trajectory_diff"];
    assert_eq!(keys(block), ["availability", "pairs_compared", "pair_diagnostics", "cases"]);
    // b: 2 + 2 + 1 steps against 1; the load of a skill is a read
    let expected = json!({
        "availability": "complete",
        "pairs_compared": 2,
        "pair_diagnostics": {"eligible_pairs": 2, "blocked_pairs": 0, "blocked_reason_counts": {}},
        "cases": [
            {
                "case_id": "a",
                "pairs": 1,
                "mean_deltas": {
                    "steps": -1.0, "commands": 0.0, "tool_calls": -1.0, "file_reads": 0.0, "file_writes": -1.0
                },
                "skill_invoked": {"with_skill": 0.0, "without_skill": 0.0},
                "commands_only_with_skill": [],
                "commands_only_without_skill": [],
            },
            {
                "case_id": "b",
                "pairs": 1,
                "mean_deltas": {
                    "steps": 4.0, "commands": 1.0, "tool_calls": 4.0, "file_reads": 3.0, "file_writes": 0.0
                },
                "skill_invoked": {"with_skill": 1.0, "without_skill": 0.0},
                "commands_only_with_skill": ["npm test"],
                "commands_only_without_skill": [],
            },
        ],
    });
    assert_eq!(*block, expected);
    let order = keys(&report);
    let place = |key: &str| order.iter().position(|known| *known == key).unwrap();
    assert!(place("model_analysis") < place("trajectory_diff") && place("trajectory_diff") < place("case_flags"));
}

#[test]
fn repetitions_are_averaged_and_rounded_to_four_decimals() {
    let workspace = Workspace::with_cases(&["c"]);
    for (number, with) in [vec!["a", "b"], vec!["b"], vec!["c"]].iter().enumerate() {
        traced(&workspace, &format!("c/with_skill/run-{}", number + 1), &commands(with));
        let without: &[&str] = if number == 1 { &["c"] } else { &["z"] };
        traced(&workspace, &format!("c/without_skill/run-{}", number + 1), &commands(without));
    }
    let report = report(&workspace, &[]);
    let case = &report["trajectory_diff"]["cases"][0];
    // (2 - 1) + (1 - 1) + (1 - 1) over 3
    assert_eq!((&case["pairs"], &case["mean_deltas"]["commands"]), (&json!(3), &json!(0.3333)));
    // `c` ran in another repetition without the skill
    assert_eq!(case["commands_only_with_skill"], json!(["a", "b"]));
    assert_eq!(case["commands_only_without_skill"], json!(["z"]));
}

#[test]
fn pairs_without_a_whole_trace_are_blocked_by_name() {
    let workspace = Workspace::with_cases(&["whole", "none", "broken", "empty", "noise", "cut", "failed", "alone"]);
    for case in ["whole", "none", "broken", "empty", "noise", "cut", "failed"] {
        traced(&workspace, &format!("{case}/with_skill"), &commands(&["ls"]));
        traced(&workspace, &format!("{case}/without_skill"), &commands(&["ls"]));
    }
    for run in ["with_skill/run-1", "with_skill/run-2", "without_skill/run-1"] {
        traced(&workspace, &format!("alone/{run}"), &commands(&["ls"]));
    }
    std::fs::remove_file(workspace.path().join("runs/none/without_skill/events.json")).unwrap();
    workspace.write("runs/broken/with_skill/events.json", "{\"events\": [{]}");
    workspace.write("runs/empty/with_skill/events.json", "[]");
    workspace.write("runs/noise/with_skill/events.json", "[{\"type\": \"event\"}, {}]");
    workspace.write("runs/cut/without_skill/metrics.json", r#"{"trace_observation_complete": false}"#);
    // only an exact `false` says so
    workspace.write("runs/whole/without_skill/metrics.json", r#"{"trace_observation_complete": 0}"#);
    workspace.write("runs/failed/without_skill/metadata.json", r#"{"returncode": 1}"#);
    let block = report(&workspace, &[])["trajectory_diff"].take();
    let expected = json!({
        "eligible_pairs": 2,
        "blocked_pairs": 7,
        "blocked_reason_counts": {
            "incomplete_trace_evidence": 1,
            "missing_trace_evidence": 4,
            "missing_without_skill": 1,
            "unscorable_arm": 1,
        },
    });
    assert_eq!(block["pair_diagnostics"], expected);
    assert_eq!((&block["availability"], &block["pairs_compared"]), (&json!("partial"), &json!(2)));
    assert_eq!(block["cases"].as_array().unwrap().len(), 2);
}

#[test]
fn a_tree_without_traces_says_so() {
    let workspace = Workspace::with_cases(&["c"]);
    answer(&workspace, "c/with_skill", true);
    answer(&workspace, "c/without_skill", true);
    let block = report(&workspace, &[])["trajectory_diff"].take();
    assert_eq!((&block["availability"], &block["pairs_compared"]), (&json!("unavailable"), &json!(0)));
    assert_eq!(block["cases"], json!([]));
    assert_eq!(block["pair_diagnostics"]["blocked_reason_counts"], json!({"missing_trace_evidence": 1}));
}

#[test]
fn what_was_cut_of_a_trace_is_said_and_nothing_is_concluded_from_it() {
    let workspace = Workspace::with_cases(&["c"]);
    let many: Vec<String> = (0..300).map(|number| format!("step {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    traced(&workspace, "c/with_skill", &commands(&many));
    let long = "x".repeat(501);
    traced(&workspace, "c/without_skill", &commands(&["step 299", &long]));
    let block = report(&workspace, &[])["trajectory_diff"].take();
    assert_eq!(block["commands_cut"], json!({"runs": 1, "kept_per_run": 256}));
    let case = &block["cases"][0];
    // `step 299` ran in both, which the kept commands do not show
    assert_eq!(case["commands_only_without_skill"], Value::Null);
    assert_eq!(case["commands_only_with_skill"], json!(many[..8]));
    assert_eq!(case["mean_deltas"]["commands"], json!(298.0));

    traced(&workspace, "c/with_skill", &commands(&["step 299"]));
    let block = report(&workspace, &[])["trajectory_diff"].take();
    assert_eq!(block.get("commands_cut"), None);
    let shown = block["cases"][0]["commands_only_without_skill"][0].as_str().unwrap();
    assert!(shown.starts_with(&format!("{}… [501 characters, sha256 ", "x".repeat(500))), "{shown}");
}

#[test]
fn the_events_of_a_scored_run_are_read_for_a_benchmark_and_for_nothing_else() {
    let workspace = Workspace::with_cases(&["c"]);
    traced(&workspace, "c/with_skill", &commands(&["ls"]));
    let digest = |command: &str| {
        let said = workspace.on_runs(command, &[]);
        said.json()["provenance"]["runs_sha256"].as_str().unwrap().to_owned()
    };
    let (benchmark, grade) = (digest("benchmark"), digest("grade"));
    traced(&workspace, "c/with_skill", &commands(&["pwd"]));
    assert_ne!(digest("benchmark"), benchmark);
    assert_eq!(digest("grade"), grade);
    // over the limit nothing is known, and the report is made all the same
    let events = workspace.path().join("runs/c/with_skill/events.json");
    std::fs::File::options().write(true).open(events).unwrap().set_len(2 << 20).unwrap();
    let block = report(&workspace, &["--max-events-mib", "1"])["trajectory_diff"].take();
    assert_eq!(block["pairs_compared"], json!(0));
}
