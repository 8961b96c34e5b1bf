//! Broken and hostile input: a clear refusal or a named warning, never a panic, nothing written.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use serde_json::json;

use crate::support::{Workspace, run_in};

#[test]
fn broken_suites_are_refused_with_the_place() {
    let workspace = Workspace::with_cases(&["c1"]);
    for (text, expected) in [
        ("", "invalid JSON"),
        ("{", "invalid JSON"),
        ("[]", "must contain a JSON object"),
        ("{\"version\": 2, \"version\": 2}", "duplicate key"),
        ("{\"version\": NaN}", "not finite"),
        ("\u{0}", "invalid JSON"),
    ] {
        workspace.write("evals/shared-benchmark.json", text);
        for command in ["validate", "grade", "benchmark"] {
            let arguments: &[&str] = if command == "validate" {
                &["validate", "evals/shared-benchmark.json"]
            } else {
                &[command, "evals/shared-benchmark.json", "--runs", "runs", "--out", "report.json"]
            };
            let said = workspace.run(arguments);
            assert_eq!(said.code, 1, "{command} {text:?}: {said:?}");
            assert!(said.stderr.starts_with("FAIL: "), "{command} {text:?}: {}", said.stderr);
            assert!(said.stderr.contains(expected), "{command} {text:?}: {}", said.stderr);
            assert_eq!(said.stdout, "");
            assert!(!workspace.path().join("report.json").exists());
        }
    }
}

#[test]
fn deep_nesting_and_bytes_that_are_not_text_are_refused() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("evals/shared-benchmark.json", "[".repeat(1_000_000));
    assert_eq!(workspace.on_runs("benchmark", &[]).code, 1);
    workspace.write("evals/shared-benchmark.json", [0xff, 0xfe, 0x00]);
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("UTF-8"), "{}", said.stderr);
}

#[test]
fn all_problems_of_a_suite_are_listed_at_once_with_a_snippet() {
    let workspace = Workspace::new();
    workspace.suite(&json!({"cases": [
        {"id": "a", "split": "tune", "prompt": "Do.", "assertions": [{"type": "contains_regex", "value": "x"}]},
        {"id": "a", "split": "tune", "prompt": "Do.", "assertions": [{"type": "contains", "value": "x", "sevrity": "gate"}]}
    ]}));
    let said = workspace.run(&["validate", "evals/shared-benchmark.json"]);
    assert_eq!(said.code, 1);
    let fails = said.lines("FAIL:");
    assert!(fails.iter().any(|line| line.contains("has unsupported type 'contains_regex'")), "{}", said.stderr);
    assert!(fails.iter().any(|line| line.contains("unknown field(s): sevrity")), "{}", said.stderr);
    assert!(fails.iter().any(|line| line.contains("duplicate")), "{}", said.stderr);
    assert!(said.stderr.contains("severity"), "the misspelt field gets a suggestion: {}", said.stderr);
    assert!(said.stderr.contains("shared-benchmark.json:1:"), "{}", said.stderr);
}

#[test]
fn a_missing_suite_is_refused_and_missing_runs_are_named() {
    let workspace = Workspace::with_cases(&["c1"]);
    let said = workspace.run(&["benchmark", "nope.json", "--runs", "runs"]);
    assert_eq!(said.code, 1);
    assert_eq!(said.lines("FAIL:"), ["FAIL: no such file: nope.json"]);

    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 0);
    assert_eq!(said.lines("WARN runs_missing"), ["WARN runs_missing: runs directory does not exist: runs"]);
    assert_eq!(said.lines("WARN nothing_graded").len(), 1);
    let report = said.json();
    assert_eq!(report["results"].as_array().unwrap().len(), 2);
    assert_eq!(report["inference"]["overall"]["verdict"]["code"], "nothing_paired");
    assert_eq!(workspace.on_runs("benchmark", &["--strict-layout"]).code, 1);
}

#[test]
fn a_file_where_a_directory_should_be_and_the_reverse() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs", "not a folder");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 1);
    assert_eq!(said.lines("FAIL:"), ["FAIL: not a directory: runs"]);

    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md/oops", "a folder named like the answer");
    workspace.write("runs/c1/with_skill/metadata.json/oops", "a folder named like the metadata");
    workspace.write("runs/c1/without_skill", "a file named like an arm");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let report = said.json();
    assert!(report["results"].as_array().unwrap().iter().all(|row| row["missing_output"] == true));
    assert_eq!(said.lines("WARN output_unreadable").len(), 1, "{}", said.stderr);
}

#[test]
fn an_answer_over_the_limit_is_not_scored_and_not_read() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes ".repeat(300_000));
    workspace.write("runs/c1/without_skill/output.md", "no");
    let said = workspace.on_runs("benchmark", &["--max-output-mib", "1"]);
    let report = said.json();
    let row = &report["results"][0];
    assert_eq!(row["unscored_reasons"], json!(["output_too_large"]));
    assert_eq!(row["objective_pass_rate"], json!(null));
    assert_eq!(row["missing_output"], false);
    assert!(
        said.stderr.contains("WARN output_too_large: c1/with_skill: output.md has 1200000 bytes, the limit is 1 MiB")
    );
    assert_eq!(report["paired_summary"]["pairing"]["blocked_reason_counts"], json!({"unscorable_arm": 1}));
}

#[test]
fn bytes_that_are_not_text_in_an_answer_are_replaced_and_named() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", b"yes \xff\xfe");
    let said = workspace.on_runs("grade", &[]);
    assert_eq!(said.json()["results"][0]["objective_pass_rate"], 1.0);
    assert_eq!(said.lines("WARN decode_lossy").len(), 1);
}

#[test]
fn names_cannot_steer_the_terminal() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes");
    workspace.write("runs/c1/with_skill/metadata.json", "{\"model\": \"m\\u001b[31m\"}");
    workspace.write("runs/c1/without_skill/output.md", "no");
    workspace.write("runs/c1/without_skill/metadata.json", "{\"model\": \"n\\u001b[31m\"}");
    let said = workspace.on_runs("benchmark", &["--format", "table"]);
    assert_eq!(said.code, 0);
    assert!(!said.stdout.contains('\u{1b}'), "{}", said.stdout);
    assert!(said.stdout.contains("m\\u{1b}[31m"), "{}", said.stdout);
}

#[test]
fn wrong_arguments_are_usage_errors() {
    let workspace = Workspace::with_cases(&["c1"]);
    for arguments in [
        &["benchmark"][..],
        &["benchmark", "evals/shared-benchmark.json"],
        &["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--nope"],
        &["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--min-lift", "0"],
        &["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--alpha", "x"],
        &["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--split", "train"],
        &["no-such-command"],
    ] {
        let said = workspace.run(arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert_eq!(said.stdout, "", "{arguments:?}");
        assert!(said.stderr.starts_with("error: "), "{arguments:?}: {}", said.stderr);
    }
}

#[test]
fn an_unwritable_target_is_refused_and_nothing_is_left() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes");
    workspace.write("target/report.json/inside", "a folder where the report should be");
    let said = workspace.on_runs("benchmark", &["--out", "target/report.json"]);
    assert_eq!(said.code, 1);
    assert!(said.lines("FAIL: cannot write").len() == 1, "{}", said.stderr);
    assert_eq!(std::fs::read_dir(workspace.path().join("target")).unwrap().count(), 1);
}

/// Runs a command on a workspace with this standard output.
fn run_into(workspace: &Workspace, command: &str, stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    let runs: &[&str] = if command == "validate" { &[] } else { &["--runs", "runs"] };
    let Output { status, stderr, .. } = Command::new(env!("CARGO_BIN_EXE_skill-lift"))
        .args([command, "evals/shared-benchmark.json"])
        .args(runs)
        .current_dir(workspace.path())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_product_that_cannot_be_written_is_a_failure_and_a_closed_pipe_is_none() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes");
    workspace.write("runs/c1/without_skill/output.md", "no");
    for command in ["validate", "grade", "benchmark"] {
        if cfg!(target_os = "linux") {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let (code, stderr) = run_into(&workspace, command, full);
            assert_eq!(code, Some(1), "{command}: {stderr}");
            assert!(stderr.contains("FAIL: cannot write to standard output"), "{command}: {stderr}");
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (code, stderr) = run_into(&workspace, command, writer);
        assert_eq!(code, Some(0), "{command}: {stderr}");
        assert_eq!(stderr.lines().filter(|line| line.starts_with("FAIL")).count(), 0, "{command}: {stderr}");
    }
}

#[test]
fn a_suite_over_the_limit_is_refused_with_the_flag_that_allows_it() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.suite(&json!({"cases": [], "notes": "a".repeat(2 << 20)}));
    for command in ["validate", "benchmark"] {
        let arguments: &[&str] = if command == "validate" { &[] } else { &["--runs", "runs"] };
        let with_limit = |mebibytes: &str| {
            let mut all = vec![command, "evals/shared-benchmark.json", "--max-suite-mib", mebibytes];
            all.extend_from_slice(arguments);
            workspace.run(&all)
        };
        let refused = with_limit("1");
        assert_eq!(refused.code, 1);
        assert!(
            refused.stderr.contains("is larger than 1048576 bytes; raise --max-suite-mib to read it"),
            "{}",
            refused.stderr
        );
        assert!(!with_limit("3").stderr.contains("larger"));
    }
}

/// Programs named `skill-lift-<name>` on the path are commands.
#[cfg(unix)]
#[test]
fn a_program_on_the_path_is_a_command_and_its_end_is_ours() {
    // a link, since a program that was just written can still be held open by a test running beside this one
    let workspace = Workspace::new();
    std::os::unix::fs::symlink("/bin/sh", workspace.path().join("skill-lift-sh")).unwrap();
    let path = format!("{}:/usr/bin:/bin", workspace.path().display());
    let run = |words: &[&str]| run_in(workspace.path(), words, &[("PATH", &path)]);
    let answers = run(&["sh", "-c", "echo $0; exit 7", "--flag"]);
    assert_eq!((answers.code, answers.stdout.as_str()), (7, "--flag\n"));
    let dies = run(&["sh", "-c", "kill -9 $$"]);
    assert_eq!((dies.code, dies.stderr.as_str()), (1, "FAIL: skill-lift-sh was ended by a signal\n"));
    let unknown = run(&["absent"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("unrecognized subcommand 'absent'"), "{}", unknown.stderr);
}

#[test]
fn an_interrupted_command_leaves_nothing_behind() {
    let workspace = Workspace::new();
    let script = json!({"type": "script", "command": ["/bin/sh", "oracles/slow.sh", "{output_dir}"]});
    workspace.suite(&json!({"cases": [{"id": "c1", "split": "tune", "prompt": "Do.", "assertions": [script]}]}));
    workspace.write("evals/oracles/slow.sh", "echo $$ > \"$1/started\"\nsleep 60 & wait\n");
    workspace.write("runs/c1/with_skill/output.md", "x");
    let mut child = Command::new(env!("CARGO_BIN_EXE_skill-lift"))
        .args(["grade", "evals/shared-benchmark.json", "--runs", "runs", "--variant", "with_skill"])
        .args(["--allow-scripts", "--out", "report.json"])
        .current_dir(workspace.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = workspace.path().join("runs/c1/with_skill/started");
    let leader = (0..600).find_map(|_| {
        thread::sleep(Duration::from_millis(50));
        fs::read_to_string(&started).ok()?.trim().parse::<i32>().ok()
    });
    let leader = Pid::from_raw(leader.expect("the script starts")).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    let is_gone = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        test_kill_process_group(leader).is_err()
    });
    assert!(is_gone, "the script was ended with what it started");
    let left: Vec<_> = fs::read_dir(workspace.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("report")), "{left:?}");
}

#[test]
fn a_report_goes_behind_a_link_and_into_a_device_but_never_replaces_them() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/output.md", "yes");
    workspace.write("real.json", "old");
    for (target, link) in [("real.json", "link.json"), ("/dev/full", "full.json"), ("/dev/stdout", "screen.json")] {
        std::os::unix::fs::symlink(target, workspace.path().join(link)).unwrap();
    }
    for command in ["grade", "benchmark"] {
        assert_eq!(workspace.on_runs(command, &["--quiet", "--out", "link.json"]).code, 0);
        let real = fs::read_to_string(workspace.path().join("real.json")).unwrap();
        assert!(real.starts_with("{\n  \"manifest\""), "{real}");
        let said = workspace.on_runs(command, &["--quiet", "--out", "full.json"]);
        assert_eq!((said.code, said.lines("FAIL: cannot write full.json").len()), (1, 1), "{}", said.stderr);
        let said = workspace.on_runs(command, &["--quiet", "--out", "screen.json"]);
        assert_eq!((said.code, said.json()["skill_name"].as_str()), (0, Some("demo")));
        for link in ["link.json", "full.json", "screen.json"] {
            assert!(workspace.path().join(link).is_symlink(), "{command} {link}");
        }
    }
}

/// Runs the program from a shell that sets something up before.
fn after(setup: &str, workspace: &Workspace, arguments: &str) -> Output {
    let line = format!("{setup} exec \"$PROGRAM\" {arguments}");
    let program = env!("CARGO_BIN_EXE_skill-lift");
    Command::new("/bin/sh").args(["-c", &line]).env("PROGRAM", program).current_dir(workspace.path()).output().unwrap()
}

fn names(workspace: &Workspace) -> Vec<String> {
    let entries = fs::read_dir(workspace.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_refused_tree_and_a_full_disk_leave_nothing_behind() {
    let workspace = Workspace::with_cases(&["c1"]);
    workspace.write("runs/c1/with_skill/run-1/output.md", "yes");
    let metadata = format!("{{\"note\": \"{}\"}}", "x".repeat(600_000));
    workspace.write("runs/c1/with_skill/run-1/metadata.json", metadata);
    let before = names(&workspace);
    for (out, begins) in
        [("report.json", "cannot write the rows of the report: report.json: "), ("new/r.json", "cannot")]
    {
        // the limit counts blocks of 512 or 1,024 bytes
        let arguments = format!("grade evals/shared-benchmark.json --runs runs --quiet --out {out}");
        let said = after("trap '' XFSZ; ulimit -f 100;", &workspace, &arguments);
        let stderr = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(1), "{stderr}");
        assert!(stderr.starts_with(&format!("FAIL: {begins}")), "{stderr}");
        // a folder that was made for the report may stay, empty
        let _ = fs::remove_dir(workspace.path().join("new"));
        assert_eq!(names(&workspace), before, "{out}");
    }
    workspace.write("runs/c1/with_skill/run-01/output.md", "yes");
    for out in ["report.json", "new/r.json"] {
        let said = workspace.on_runs("grade", &["--out", out]);
        assert_eq!((said.code, said.lines("FAIL:").len()), (1, 1), "{}", said.stderr);
        assert_eq!(names(&workspace), before, "{out}");
    }
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let workspace = Workspace::new();
    let script = json!({"type": "script", "command": ["/bin/sh", "oracles/hangup.sh"]});
    workspace.suite(&json!({"cases": [{"id": "c1", "split": "tune", "prompt": "Do.", "assertions": [script]}]}));
    workspace.write("evals/oracles/hangup.sh", "kill -s HUP $PPID\nsleep 0.5\n");
    workspace.write("runs/c1/with_skill/output.md", "x");
    let arguments = "grade evals/shared-benchmark.json --runs runs --variant with_skill --allow-scripts --quiet";
    let said = after("trap '' HUP;", &workspace, arguments);
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    let said = after("", &workspace, arguments);
    assert_eq!(said.status.signal(), Some(1), "{said:?}");
}
