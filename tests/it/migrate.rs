//! `migrate-telemetry`: what a report says before and after, dry runs, and runs of the program that were killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

const ARMS: [&str; 2] = ["with_skill", "without_skill"];

/// Every regular file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(place) = waiting.pop() {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().display().to_string(), fs::read(path).unwrap());
            }
        }
    }
    found
}

/// The files of a folder as JSON, those that are none left out.
fn values(folder: &Path) -> BTreeMap<String, Value> {
    let json = |(name, bytes): (String, Vec<u8>)| Some((name, serde_json::from_slice(&bytes).ok()?));
    files(folder).into_iter().filter_map(json).collect()
}

/// Runs with telemetry in every place where it is read, and checks that read it.
fn many_places() -> Workspace {
    let workspace = Workspace::new();
    let assertions = json!([
        {"name": "yes", "type": "contains", "value": "yes"},
        {"name": "tokens", "type": "total_tokens_le", "max": 100},
        {"name": "seconds", "type": "elapsed_seconds_le", "max": 5},
        {"name": "count", "type": "command_count_le", "max": 2},
        {"name": "ran", "type": "command_ran", "pattern": "ls"},
        {"name": "loaded", "type": "skill_invoked", "expected": true},
    ]);
    let ids =
        ["usage", "timing", "outputs", "events", "zero", "incomplete", "one-file", "metrics-only", "nothing", "bad"];
    let cases: Vec<Value> =
        ids.iter().map(|id| json!({"id": id, "split": "tune", "prompt": "Do it.", "assertions": assertions})).collect();
    workspace.suite(&json!({"cases": cases}));
    for (offset, arm) in ARMS.iter().enumerate() {
        let n = 80 + 30 * offset;
        let write = |case: &str, name: &str, value: Value| {
            workspace.write(&format!("runs/{case}/{arm}/output.md"), "yes");
            workspace.write(&format!("runs/{case}/{arm}/{name}"), value.to_string());
        };
        write(
            "usage",
            "metadata.json",
            json!({"model": "m", "usage": {"total_tokens": n, "input_tokens": 9.5}, "cost_usd": 0.125}),
        );
        write("usage", "metrics.json", json!({"elapsed_seconds": 4, "commands": 2, "skill_invoked": true}));
        write("timing", "metadata.json", json!({"model": "m", "total_tokens": 500, "elapsed_ms": 9000, "cost": 1}));
        write("timing", "timing.json", json!({"total_tokens": n, "duration_ms": 2000, "elapsed_ms": null}));
        write("outputs", "metadata.json", json!({"effort": "high"}));
        write("outputs", "outputs/metrics.json", json!({"total_tokens": n, "cost_usd": 0.5, "command_count": 1}));
        write("events", "metadata.json", json!({"total_tokens": n}));
        write(
            "events",
            "events.json",
            json!([
                {"type": "command", "status": "completed", "input_summary": "ls"},
                {"type": "skill_load", "status": "completed", "path": "skills/demo/SKILL.md"},
            ]),
        );
        write("zero", "metadata.json", json!({"total_tokens": 0, "cost_usd": 0, "commands": 0, "elapsed_ms": 0}));
        write(
            "incomplete",
            "metrics.json",
            json!({"commands": 0, "trace_observation_complete": false, "elapsed_ms": 1234.5}),
        );
        write("one-file", "metadata.json", json!({"duration_seconds": 4.5, "usage": {"prompt_tokens": 5}}));
        write("metrics-only", "metrics.json", json!({"model": "m2", "effort": "low", "total_tokens": n}));
        workspace.write(&format!("runs/nothing/{arm}/output.md"), "yes");
        workspace.write(&format!("runs/bad/{arm}/output.md"), "yes");
        workspace.write(&format!("runs/bad/{arm}/metadata.json"), "{\"total_tokens\": 7");
        workspace.write(&format!("runs/bad/{arm}/metrics.json"), "{\"total_tokens\": 8}");
    }
    workspace
}

/// A report without what a migration is meant to change: the files themselves, how many there are, what of the telemetry
/// stands in the first of them, and in which words a check says that nothing was observed.
fn comparable(mut report: Value) -> Value {
    fn clean(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, _| {
                    !matches!(
                        key.as_str(),
                        "metadata" | "measured" | "runs_sha256" | "telemetry_availability" | "metadata_warnings"
                    )
                });
                // a count of commands that is not there is missing before, and after it is the trace that is incomplete
                if let Some(count) = members.remove("missing_commands").and_then(|count| count.as_u64()) {
                    let known = members.get("trace_observation_incomplete").and_then(Value::as_u64).unwrap_or(0);
                    members.insert("trace_observation_incomplete".to_owned(), json!(count + known));
                }
                if members.get("evidence").and_then(Value::as_str).is_some_and(|text| text.starts_with("missing ")) {
                    members.remove("evidence");
                }
                members.values_mut().for_each(clean);
            }
            Value::Array(items) => items.iter_mut().for_each(clean),
            _ => {}
        }
    }
    clean(&mut report);
    report
}

/// The places in which two values differ.
fn differences(place: &str, a: &Value, b: &Value) -> Vec<String> {
    match (a, b) {
        (Value::Object(left), Value::Object(right)) if left.keys().eq(right.keys()) => {
            left.iter().flat_map(|(key, value)| differences(&format!("{place}.{key}"), value, &right[key])).collect()
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            pairs.flat_map(|(n, (a, b))| differences(&format!("{place}[{n}]"), a, b)).collect()
        }
        _ if a == b => Vec::new(),
        _ => vec![format!("{place}: {a} -> {b}")],
    }
}

fn report(workspace: &Workspace) -> Value {
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 0, "{said:#?}");
    said.json()
}

#[test]
fn a_report_says_the_same_before_and_after() {
    let workspace = many_places();
    let before = report(&workspace);
    let said = workspace.run(&["migrate-telemetry", "--runs", "runs"]);
    assert_eq!(said.code, 0, "{said:#?}");
    let migration = said.json();
    assert_eq!((&migration["run_dirs_seen"], &migration["changed"]), (&json!(18), &json!(16)));
    assert_eq!(migration["unreadable"].as_array().unwrap().len(), 2);
    let after = report(&workspace);
    assert_eq!(differences("", &comparable(before.clone()), &comparable(after)), [""; 0]);
    // and it is no report of nothing
    let tokens = &before["summary"]["with_skill"]["total_tokens"];
    assert_eq!((&tokens["known_sum"], &tokens["n"]), (&json!(408.0), &json!(7)));
    assert_eq!(before["cost_summary"]["totals"]["known_total_cost_usd"], 3.25);
    let passed: f64 =
        before["results"].as_array().unwrap().iter().filter_map(|row| row["objective_pass_rate"].as_f64()).sum();
    assert!(passed > 5.0, "{passed}");
}

/// Tokens and money from several sources: what may be added up and compared before may be after, and nothing else.
#[test]
fn sources_stay_what_they_are() {
    let tree = || {
        let workspace = Workspace::with_cases(&["block", "plain", "envelope", "contradiction"]);
        for (arm, tokens) in ARMS.into_iter().zip([120, 100]) {
            let write = |case: &str, metadata: Value| {
                workspace.write(&format!("runs/{case}/{arm}/output.md"), if tokens > 100 { "yes" } else { "no" });
                let base = json!({"provider": "p", "model": "m"});
                let members = base.as_object().unwrap().iter().chain(metadata.as_object().unwrap());
                let metadata: serde_json::Map<String, Value> =
                    members.map(|(key, value)| (key.clone(), value.clone())).collect();
                workspace.write(&format!("runs/{case}/{arm}/metadata.json"), Value::Object(metadata).to_string());
            };
            let usage = json!({"total_tokens": tokens, "cache_read_tokens": 4, "source": "provider_reported"});
            let cost = json!({"total_cost": tokens, "currency": "USD", "source": "provider_reported"});
            write("block", json!({"usage_normalized": usage, "cost_normalized": cost}));
            write("plain", json!({"total_tokens": tokens, "cost_usd": 0.5, "elapsed_ms": 10}));
            write("contradiction", json!({"usage_normalized": usage, "total_tokens": 7, "elapsed_ms": 1.5}));
            let basis =
                json!({"population": "answer", "provider": "p", "runner": "p", "model": "m", "billing_scope": "run"});
            let value = |value: Value| json!({"availability": "available", "value": value, "provenance": "provider_reported", "basis": basis});
            write(
                "envelope",
                json!({"telemetry": {"schema_version": 3, "measurements": {"total_tokens": value(json!(tokens)),
                "cost": value(json!({"amount": "2.50", "currency": "USD"}))}}}),
            );
        }
        workspace
    };
    let workspace = tree();
    let before = report(&workspace);
    let paired = &before["cost_summary"]["paired_cost_delta"];
    assert_eq!((&paired["block"]["delta"], &paired["envelope"]["delta"]), (&json!(20.0), &json!(0.0)));
    workspace.run(&["migrate-telemetry", "--runs", "runs"]);
    assert_eq!(differences("", &comparable(before.clone()), &comparable(report(&workspace))), [""; 0]);

    // as version 0.6 of the reference package: the values are the same, their sources are not
    let workspace = tree();
    workspace.run(&["migrate-telemetry", "--runs", "runs", "--mark-unverified"]);
    let marked = report(&workspace);
    let tokens = |report: &Value| report["summary"]["with_skill"]["median_total_tokens"].clone();
    assert_eq!((tokens(&before), tokens(&marked)), (json!(120.0), json!(120.0)));
    let blocked = &marked["cost_summary"]["paired_cost_delta"]["block"]["blocked_reason_counts"];
    assert_eq!(blocked, &json!({"legacy_unverified": 1}));
}

/// The one thing that a check may find afterwards: tokens that stood in a normalised block alone, which checks do not read.
#[test]
fn a_check_may_find_what_was_normalised() {
    let workspace = Workspace::new();
    let assertion = json!({"name": "tokens", "type": "total_tokens_le", "max": 100});
    workspace.suite(&json!({"cases": [{"id": "c", "split": "tune", "prompt": "Do it.", "assertions": [assertion]}]}));
    workspace.write("runs/c/with_skill/output.md", "yes");
    let block = json!({"usage_normalized": {"total_tokens": 90, "source": "provider_reported"}});
    workspace.write("runs/c/with_skill/metadata.json", block.to_string());
    let evidence = || report(&workspace)["results"][0]["assertions"][0]["evidence"].clone();
    assert_eq!(evidence(), "missing total_tokens evidence");
    workspace.run(&["migrate-telemetry", "--runs", "runs"]);
    assert_eq!(evidence(), "total_tokens=90; max=100");
}

#[test]
fn a_dry_run_changes_no_byte() {
    let workspace = many_places();
    let before = files(workspace.path());
    let said = workspace.run(&["migrate-telemetry", "--runs", "./runs/", "--check"]);
    assert_eq!(said.code, 0);
    assert_eq!(files(workspace.path()), before);
    let report = said.json();
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    let of_the_reference =
        ["telemetry_schema_version", "runs", "mode", "run_dirs_seen", "changed", "unchanged", "changed_run_dirs"];
    assert_eq!(keys[..7], of_the_reference);
    assert_eq!(keys[7..], ["unreadable", "refused", "failed", "leftovers_removed"]);
    assert_eq!((&report["runs"], &report["mode"]), (&json!("runs"), &json!("check")));
    assert_eq!(report["changed_run_dirs"][0], "runs/events/with_skill");
    let unreadable = &report["unreadable"][0];
    assert_eq!(
        (&unreadable["path"], &unreadable["reason"]),
        (&json!("runs/bad/with_skill/metadata.json"), &json!("invalid_json"))
    );
    assert_eq!(said.lines("WARN invalid_json").len(), 2);
    let summary = "16 of 18 run directories would change, 0 had nothing to change, 2 could not be read.";
    assert_eq!(said.stderr.lines().last(), Some(summary));
    let quiet = workspace.run(&["migrate-telemetry", "--runs", "runs", "--check", "--quiet"]);
    assert_eq!((quiet.stderr.as_str(), &quiet.stdout), ("", &said.stdout));

    let said = workspace.run(&["migrate-telemetry", "--runs", "runs", "--out", "deep/report.json"]);
    assert_eq!((said.code, said.stdout.as_str()), (0, ""));
    let written: Value = serde_json::from_slice(&fs::read(workspace.path().join("deep/report.json")).unwrap()).unwrap();
    assert_eq!((&written["mode"], &written["changed"]), (&json!("write"), &json!(16)));
    let migrated = files(workspace.path());
    let again = workspace.run(&["migrate-telemetry", "--runs", "runs"]).json();
    assert_eq!((&again["changed"], &again["unchanged"]), (&json!(0), &json!(16)));
    assert_eq!(files(workspace.path()), migrated);
}

#[test]
fn folders_that_are_no_runs_are_refused_or_said_to_be_empty() {
    let workspace = Workspace::with_cases(&["c"]);
    let refused = |said: Said| (said.code, said.stderr.trim().to_owned(), said.stdout);
    assert_eq!(
        refused(workspace.run(&["migrate-telemetry", "--runs", "gone"])),
        (1, "FAIL: runs directory does not exist: gone".to_owned(), String::new())
    );
    let file = "evals/shared-benchmark.json";
    assert_eq!(workspace.run(&["migrate-telemetry", "--runs", file]).lines("FAIL: not a directory").len(), 1);
    let empty = workspace.run(&["migrate-telemetry", "--runs", "skills"]);
    assert_eq!((empty.code, empty.stderr.trim()), (0, "No metadata.json and no metrics.json was found."));
    assert_eq!(workspace.run(&["migrate-telemetry"]).code, 2);
}

/// Many runs, each with one of the files or both.
fn many_runs(count: usize) -> Workspace {
    let workspace = Workspace::new();
    for n in 0..count {
        let run = format!("runs/c{n}/with_skill");
        let metadata = json!({"total_tokens": n, "cost_usd": 0.01, "notes": "x".repeat(900)}).to_string();
        if n % 3 != 0 {
            workspace.write(&format!("{run}/metadata.json"), &metadata);
        }
        if n % 3 != 1 {
            workspace.write(&format!("{run}/metrics.json"), json!({"usage": {"total_tokens": n}}).to_string());
        }
    }
    workspace
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skill-lift"));
    command.args(["migrate-telemetry", "--runs", "runs", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn is_temporary(name: &str) -> bool {
    name.ends_with(".tmp")
}

/// Killed at whatever moment: a file that has its name is whole, and is the old one or the new one.
#[test]
fn a_killed_migration_loses_nothing_and_the_next_one_finishes_it() {
    const RUNS: usize = 240;
    let finished = many_runs(RUNS);
    assert!(program().current_dir(finished.path()).status().unwrap().success());
    let new = values(finished.path());
    let workspace = many_runs(RUNS);
    let old = values(workspace.path());
    for milliseconds in [0, 2, 5, 10, 20, 40] {
        let mut child = program().current_dir(workspace.path()).spawn().unwrap();
        sleep(Duration::from_millis(milliseconds));
        // SIGKILL; it may have come to its end already
        let _ = child.kill();
        child.wait().unwrap();
        for (name, bytes) in files(workspace.path()).into_iter().filter(|(name, _)| !is_temporary(name)) {
            let value: Value = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(old.get(&name) == Some(&value) || new.get(&name) == Some(&value), "{name}");
        }
    }
    assert!(program().current_dir(workspace.path()).status().unwrap().success());
    assert_eq!(values(workspace.path()), new);
    assert_eq!(files(workspace.path()).keys().filter(|name| is_temporary(name)).count(), 0);
}

/// The system ends the program in the middle of a file: it may write no larger one.
#[test]
fn a_program_that_is_ended_while_it_writes_leaves_the_runs_as_they_were() {
    let workspace = many_runs(3);
    let before = files(workspace.path());
    // two blocks, of 512 or 1024 bytes
    let script = r#"ulimit -f 2; exec "$0" migrate-telemetry --runs runs --quiet"#;
    let status = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_skill-lift")])
        .current_dir(workspace.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    let after = files(workspace.path());
    let (temporary, others): (Vec<_>, Vec<_>) = after.into_iter().partition(|(name, _)| is_temporary(name));
    assert_eq!(others.into_iter().collect::<BTreeMap<_, _>>(), before);
    assert!(!temporary.is_empty());

    let said = workspace.run(&["migrate-telemetry", "--runs", "runs"]);
    assert_eq!((said.code, &said.json()["changed"]), (0, &json!(3)));
    assert_eq!(said.json()["leftovers_removed"], temporary.len());
    assert!(said.stderr.trim().ends_with(" of an interrupted writer removed."), "{}", said.stderr);
    assert_eq!(files(workspace.path()).keys().filter(|name| is_temporary(name)).count(), 0);
}
