//! Sides that are out to break the comparison.

use serde_json::{Value, json};

use super::{WITH, arm, cell, compared, report, row};
use crate::support::Workspace;

#[test]
fn texts_of_a_file_steer_neither_terminal_nor_page() {
    let id = "a\u{1b}[31m|\n# heading <b>`x`";
    let mut old = report("s", vec![row(id, WITH, 1, "++")]);
    let mut new = report("s", vec![row(id, WITH, 1, "+-")]);
    for side in [&mut old, &mut new] {
        side["skill_name"] = json!("s\u{1b}]0;title\u{7}\u{202e}");
        side["results"][0]["assertions"][1]["name"] = json!("c\u{1b}[2J|d\r\n@team");
    }
    for format in ["table", "markdown"] {
        let said = compared(&old, &new, &["--format", format, "--fail-on-regression"]);
        assert_eq!(said.code, 1);
        for text in [&said.stdout, &said.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "{format}: {text:?}");
        }
    }
    let page = compared(&old, &new, &["--format", "markdown"]).stdout;
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ▼")).collect();
    assert_eq!(rows.len(), 1, "{page}");
    // seven cells, and every other bar is escaped
    assert_eq!(rows[0].replace("\\|", "").matches('|').count(), 8, "{}", rows[0]);
    assert!(!page.contains("<b>") && !page.contains("@team"), "{page}");
    let ascii = compared(&old, &new, &["--format", "table", "--ascii"]).stdout;
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn broken_and_foreign_files_are_refused_with_their_name() {
    let good = report("s", arm(WITH, &[("a", "+")])).to_string();
    let refused = [
        ("", "FAIL: bad.json: "),
        ("{\"results\": [{\"objective_pass_rate\": NaN}]}", "FAIL: bad.json: "),
        ("[]", "FAIL: bad.json: is no result list: the top level is array, not an object"),
        ("{\"a\": 1}", "FAIL: bad.json: is no result list; nearest forms: "),
        (
            "{\"evals\": [{\"prompt\": \"p\"}]}",
            "FAIL: bad.json is a suite, which says what is evaluated; compare results",
        ),
    ];
    for (text, expected) in refused {
        let workspace = Workspace::new();
        workspace.write("good.json", &good);
        workspace.write("bad.json", text);
        for arguments in [["diff", "good.json", "bad.json"], ["diff", "bad.json", "good.json"]] {
            let said = workspace.run(&arguments);
            assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{text}");
            assert!(said.stderr.starts_with(expected), "{text}: {}", said.stderr);
        }
    }
}

#[test]
fn missing_paths_and_folders_without_layout_are_refused() {
    let workspace = Workspace::new();
    workspace.write("good.json", report("s", arm(WITH, &[("a", "+")])).to_string());
    workspace.write("folder/notes.txt", "nothing");
    for path in ["missing.json", "folder"] {
        let said = workspace.run(&["diff", "good.json", path]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{path}");
        assert!(said.stderr.starts_with("FAIL: ") && said.stderr.contains(path), "{path}: {}", said.stderr);
    }
    assert_eq!(workspace.run(&["diff", "good.json"]).code, 1);
    assert_eq!(workspace.run(&["diff"]).code, 2);
    assert_eq!(workspace.run(&["diff", "good.json", "good.json", "--fail-on-regression=never"]).code, 2);
}

#[test]
fn a_file_without_rows_is_nothing_to_compare() {
    let said = compared(&json!({"runs": [], "metadata": {}}), &report("s", arm(WITH, &[("a", "+")])), &[]);
    assert_eq!(said.code, 1);
    assert_eq!(said.lines("FAIL")[1], "FAIL: the first has no rows");
}

#[test]
fn rates_that_are_none_have_no_score_and_are_not_zero() {
    let file = |rate: Value| {
        json!({"runs": [{"eval_id": "a", "configuration": WITH, "pass_rate": rate},
        {"eval_id": "b", "configuration": WITH, "pass_rate": 1.0}]})
    };
    let diff = compared(&file(json!(1.0)), &file(json!(17.5)), &[]).json();
    let cell = cell(&diff, "a", WITH);
    assert_eq!((&cell["change"], &cell["after"]), (&json!("became_unscored"), &Value::Null));
    assert_eq!(cell["unscored_reasons_after"], json!(["rate_unreadable"]));
    assert_eq!(diff["arms"][WITH]["n_cases"], 1);
}

/// A table of a hundred thousand rows is short, and its figures hold all of them.
#[test]
fn a_hundred_thousand_rows_are_compared() {
    let file = |rate: &str| {
        let rows: Vec<String> = (0..100_000)
            .map(|case| format!("{{\"eval_id\":\"{case}\",\"configuration\":\"with_skill\",\"pass_rate\":{rate}}}"))
            .collect();
        format!("{{\"runs\":[{}]}}", rows.join(","))
    };
    let workspace = Workspace::new();
    workspace.write("old.json", file("1"));
    workspace.write("new.json", file("0.5"));
    let said = workspace.run(&["diff", "old.json", "new.json", "--assume-comparable", "--format", "table"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.contains("over 100,000 cases: change \u{2212}50.0\u{a0}pp"), "{}", said.stdout);
    assert!(said.stdout.contains("and 99980 more; --all-cases lists them"), "{}", said.stdout);
    assert!(said.stdout.lines().count() < 50, "{}", said.stdout);
}
