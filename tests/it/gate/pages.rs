//! A gate on the demo, and what people see of it.

use std::fs;
use std::path::Path;

use insta::{assert_snapshot, with_settings};
use serde_json::{Value, json};

use super::{gate_of, lifts};
use crate::support::{Workspace, repository, run_in};

/// A folder with the report of the demo.
pub fn demo() -> Workspace {
    let workspace = Workspace::new();
    let (suite, runs) = (repository("datasets/demo/evals/shared-benchmark.json"), repository("datasets/demo/runs"));
    let (suite, runs) = (suite.to_str().unwrap(), runs.to_str().unwrap());
    let said = workspace.run(&["benchmark", suite, "--runs", runs, "--quiet", "--format", "json"]);
    workspace.write("benchmark.json", &said.stdout);
    workspace
}

#[test]
fn a_gate_agrees_with_its_report_on_the_demo() {
    let workspace = demo();
    let text = fs::read_to_string(workspace.path().join("benchmark.json")).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    let overall = report["inference"]["overall"].clone();
    let gate = workspace.run(&["gate", "benchmark.json", "--superior", "--max-cost-usd", "0"]).json();
    assert_eq!((&gate["estimate"], &gate["n_units"]), (&overall["estimate"], &overall["n_units"]));
    assert_eq!(
        (&gate["p_two_sided"], &gate["method"]),
        (&overall["case_test"]["p_two_sided"], &overall["case_test"]["method"])
    );
    for key in ["interval", "interval_t"] {
        assert_eq!(
            (&gate[key]["lower"], &gate[key]["upper"]),
            (&overall[key]["lower"], &overall[key]["upper"]),
            "{key}"
        );
    }
    assert_eq!(
        (&gate["counts"], &gate["regressed_share_upper"]),
        (&overall["counts"], &overall["regressed_share_upper"]["value"])
    );
    assert_eq!(gate["cost"]["extra_usd"], report["inference"]["cost_per_run"]["money"]["delta"]);
    // the rows alone, as the reference writes them, give the same
    report.as_object_mut().unwrap().remove("inference");
    report.as_object_mut().unwrap().remove("provenance");
    let rows = gate_of(&report, &["--superior"]).json();
    for key in ["estimate", "p_two_sided", "interval", "counts", "holds"] {
        assert_eq!(rows[key], gate_of(&serde_json::from_str(&text).unwrap(), &["--superior"]).json()[key], "{key}");
    }
}

#[test]
fn the_demo_is_not_whole_however_much_its_rows_hold() {
    let workspace = Workspace::new();
    let (suite, runs) = (repository("datasets/demo/evals/shared-benchmark.json"), repository("datasets/demo/runs"));
    let (suite, runs) = (suite.to_str().unwrap(), runs.to_str().unwrap());
    let finding = |code: &str, count: usize, first: &str| json!({"code": code, "count": count, "first_case": first});
    let not_scored = finding("run_not_scored", 3, "cert-expiry");
    // two of its 259 records of usage have no total, all have a time; slim rows hold neither
    let in_rows = json!([not_scored, finding("tokens_missing", 2, "alert-storm")]);
    let [time, tokens] = ["time_missing", "tokens_missing"].map(|code| finding(code, 259, "checkout-outage"));
    for (results, expected) in [("full", in_rows), ("slim", json!([not_scored, time, tokens]))] {
        let made = ["benchmark", suite, "--runs", runs, "--results", results, "--quiet", "--format", "json"];
        workspace.write("benchmark.json", &workspace.run(&made).stdout);
        let said = workspace.run(&["gate", "benchmark.json", "--superior", "--quality"]);
        assert_eq!((&said.json()["quality"], said.code), (&expected, 5), "{results}");
    }
}

#[test]
fn output_goes_where_it_is_asked_for() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", lifts(&[1.0; 6]).to_string());
    let run = |more: &[&str]| workspace.run(&[&["gate", "benchmark.json", "--superior"], more].concat());
    let read = |name: &str| fs::read_to_string(workspace.path().join(name)).unwrap();
    let said = run(&["--out", "gate.json"]);
    let gate: Value = serde_json::from_str(&read("gate.json")).unwrap();
    assert_eq!((said.code, &gate["source"], &gate["schema_version"]), (0, &json!("benchmark.json"), &json!(1)));
    assert!(said.stdout.starts_with("Passed: the skill makes results better"), "{}", said.stdout);
    let quiet = run(&["--out", "gate.md", "--format", "markdown", "--quiet"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    assert!(
        read("gate.md").starts_with("# demo: gate\n\n**Passed: the skill makes results better"),
        "{}",
        read("gate.md")
    );
    let ascii = run(&["--format", "table", "--ascii"]);
    assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
    let painted = run(&["--format", "table", "--color", "always"]);
    assert!(painted.stdout.starts_with("\u{1b}[1;32mPassed"), "{}", painted.stdout);
    // what fails is written all the same
    workspace.write("bad.json", lifts(&[-1.0; 6]).to_string());
    let bad = workspace.run(&["gate", "bad.json", "--superior", "--out", "bad-gate.json", "--quiet"]);
    assert_eq!((bad.code, bad.stdout.as_str(), bad.stderr.as_str()), (3, "", ""));
    assert!(read("bad-gate.json").contains("\"exit_code\": 3"));
    let unwritable = run(&["--out", "benchmark.json/gate.json"]);
    assert_eq!((unwritable.code, unwritable.stdout.as_str()), (1, ""));
    let help = run_in(Path::new("/"), &["gate", "--help"], &[]);
    for part in ["Exit codes: 0 the condition holds", "5, 6, 3, 8, 7, 4", "skill-lift gate benchmark.json --superior"] {
        assert!(help.stdout.contains(part), "{}", help.stdout);
    }
}

#[test]
fn gates_for_people() {
    let demo = demo();
    let table = |more: &[&str]| demo.run(&[&["gate", "benchmark.json"], more].concat()).stdout;
    let passed = table(&["--superior", "--format", "table"]);
    let margin = table(&["--equivalent", "0.1", "--format", "markdown"]);
    let dear = table(&["--non-inferior", "0.05", "--max-cost-usd", "0.0001", "--self-test", "--format", "table"]);
    let few = gate_of(&lifts(&[1.0; 5]), &["--superior", "--format", "table"]).stdout;
    with_settings!({description => "gates on the demo and on five cases", omit_expression => true}, {
        assert_snapshot!("gate_passed", passed);
        assert_snapshot!("gate_equivalent_markdown", margin);
        assert_snapshot!("gate_too_dear", dear);
        assert_snapshot!("gate_too_few_cases", few);
    });
}

/// Every block of `docs/gate.md` that begins with ```` ```text gate … exit code N ```` is what the program prints.
#[test]
fn the_examples_of_the_page_hold() {
    let demo = demo();
    let page = fs::read_to_string(repository("docs/gate.md")).unwrap();
    let plain = |text: &str| text.replace('\u{a0}', " ");
    let mut blocks = page.split("\n```text gate ").skip(1);
    let mut number = 0;
    blocks.by_ref().for_each(|block| {
        let (head, rest) = block.split_once('\n').unwrap();
        let (arguments, code) = head.split_once(", exit code ").unwrap();
        let (shown, _) = rest.split_once("\n```").unwrap();
        let arguments: Vec<&str> = ["gate"].into_iter().chain(arguments.split(' ')).collect();
        let said = demo.run(&arguments);
        assert_eq!((said.code.to_string().as_str(), plain(said.stdout.trim_end())), (code, plain(shown)), "{head}");
        number += 1;
    });
    assert!(number >= 3, "{number}");
}
