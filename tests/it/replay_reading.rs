//! Complaints that users of such tools made in public about reading run trees, as small inputs with the right answers.
//! Those about workspaces of other tools are in `workspaces`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Workspace, run_in};

fn events(path: &str) -> String {
    json!({"schema_version": 2, "source": "claude", "events": [
        {"type": "file_read", "name": "Read", "status": "completed", "input_summary": path, "path": path},
    ]})
    .to_string()
}

#[test]
fn a_baseline_that_read_the_skill_is_no_baseline_for_inference() {
    let workspace = Workspace::with_cases(&["clean", "dirty"]);
    for case in ["clean", "dirty"] {
        workspace.write(&format!("runs/{case}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{case}/without_skill/output.md"), "no");
    }
    // another skill that happens to be installed, and the skill under test
    workspace.write("runs/clean/without_skill/events.json", events("/home/me/.claude/skills/other/SKILL.md"));
    workspace.write("runs/dirty/without_skill/events.json", events("skills/demo/SKILL.md"));
    let said = workspace.on_runs("benchmark", &["--format", "json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    let report = said.json();
    // the headline of version 0.6 keeps its value: both cases go from 0 to 1
    assert_eq!(report["paired_summary"]["absolute_delta"], 1.0);
    assert_eq!(report["paired_summary"]["pairing"]["eligible_pairs"], 2);
    let cases = report["inference"]["by_case"].as_array().unwrap();
    let found: Vec<_> =
        cases.iter().map(|case| (case["case_id"].as_str().unwrap(), case["estimate"].as_f64())).collect();
    assert_eq!(found, [("clean", Some(1.0)), ("dirty", None)]);
    assert_eq!(report["inference"]["units"]["cases"], 1);
    let sanity = &report["inference"]["sanity"];
    assert_eq!(sanity["status"], "review");
    let check = sanity["checks"].as_array().unwrap().iter().find(|check| check["check"] == "baseline_contaminated");
    let expected =
        json!({"check": "baseline_contaminated", "status": "review", "count": 1, "evidence": ["dirty/without_skill"]});
    assert_eq!(check, Some(&expected));
    let warning =
        "WARN baseline_contaminated: dirty/without_skill: a run without the skill: it got at skills/demo/SKILL.md";
    assert_eq!(said.lines("WARN baseline_contaminated"), [warning]);
}

#[test]
fn a_baseline_that_read_the_answer_key_or_says_that_it_loaded_the_skill_is_none_either() {
    let workspace = Workspace::with_cases(&["key", "said"]);
    for case in ["key", "said"] {
        workspace.write(&format!("runs/{case}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{case}/without_skill/output.md"), "no");
    }
    workspace.write("runs/key/without_skill/events.json", events("repo/evals/shared-benchmark.json"));
    workspace.write("runs/said/without_skill/metrics.json", r#"{"skill_invoked": true}"#);
    let report = workspace.on_runs("benchmark", &["--format", "json"]).json();
    assert_eq!(report["inference"]["overall"]["verdict"]["code"], "nothing_paired");
    assert_eq!(report["inference"]["overall"]["estimate"], Value::Null);
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_outside_of_the_run_is_not_read() {
    use std::os::unix::fs::symlink;
    let workspace = Workspace::new();
    workspace.write("evals/golden.txt", "secret");
    let check =
        |kind: &str, key: &str, path: &str| json!({"name": path, "type": kind, key: path, "reference": "golden.txt"});
    let exists = |path: &str| json!({"name": path, "type": "file_exists", "path": path});
    let mut golden = check("golden_output", "artifact", "outputs/report.md");
    golden["name"] = json!("golden");
    workspace.suite(&json!({"cases": [{"id": "c", "split": "tune", "prompt": "p", "assertions": [
        exists("outputs/report.md"), exists("outputs/inside.md"), golden,
    ]}]}));
    workspace.write("runs/c/with_skill/output.md", "x");
    workspace.write("runs/c/with_skill/outputs/real.md", "secret");
    workspace.write("secret.txt", "secret");
    let outputs = workspace.path().join("runs/c/with_skill/outputs");
    symlink(workspace.path().join("secret.txt"), outputs.join("report.md")).unwrap();
    symlink("real.md", outputs.join("inside.md")).unwrap();
    let report = workspace.on_runs("grade", &["--variant", "with_skill"]).json();
    let rows = report["results"][0]["assertions"].as_array().unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row["passed"].as_bool(), row["evidence"].as_str().unwrap())).collect();
    assert_eq!(found[0], (Some(false), "path_escapes_run: outputs/report.md"));
    assert_eq!(found[1], (Some(true), "exists: outputs/inside.md"));
    assert_eq!(found[2].0, Some(false));
    assert!(found[2].1.contains("path_escapes_run: outputs/report.md"), "{}", found[2].1);
}

#[test]
fn text_is_utf_8_whatever_the_locale_says() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: → č 🚀\n---\n");
    workspace.write("runs/c/with_skill/output.md", "yes → č 🚀");
    workspace.write("runs/c/without_skill/output.md", "no");
    let arguments = ["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--format", "json"];
    let utf_8 = run_in(workspace.path(), &arguments, &[("LC_ALL", "C.UTF-8")]);
    for locale in ["C", "POSIX", "de_DE.ISO-8859-1", "ja_JP.SJIS"] {
        assert_eq!(run_in(workspace.path(), &arguments, &[("LC_ALL", locale)]).stdout, utf_8.stdout, "{locale}");
    }
    assert_eq!(utf_8.json()["results"][0]["objective_pass_rate"], 1.0);
}

#[test]
fn a_reader_sees_a_whole_report_while_two_writers_replace_it() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/output.md", "yes");
    workspace.write("runs/c/without_skill/output.md", "no");
    assert_eq!(workspace.on_runs("benchmark", &["--out", "benchmark.json"]).code, 0);
    let place = workspace.path().join("benchmark.json");
    let whole = fs::read_to_string(&place).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]).code, 0);
                }
            });
        }
        for _ in 0..200 {
            assert_eq!(fs::read_to_string(&place).unwrap(), whole);
        }
    });
    let left: Vec<_> = fs::read_dir(workspace.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.iter().filter(|name| name.to_string_lossy().contains("benchmark")).count(), 1, "{left:?}");
}
