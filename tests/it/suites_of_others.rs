//! Suites of other dialects: real ones when they are at hand, the sample workspaces, and every way to be wrong.

mod real;

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Said, Workspace, repository, run_in};

fn validate(folder: &Path, suite: &str) -> Said {
    run_in(folder, &["validate", suite, "--format", "json"], &[])
}

#[test]
fn the_sample_workspaces_of_runners_validate_as_expected() {
    for (workspace, suite) in
        [("changelog-claude", "evals/changelog/evals.json"), ("relnotes-codex", "evals/relnotes/evals.json")]
    {
        let folder = repository("tests/conformance/workspaces/eval-runner").join(workspace);
        let expected: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
        let expected = &expected["validate"];
        let said = run_in(&folder, &["validate", suite], &[]);
        assert_eq!(said.code == 0, expected["ok"] == true, "{}", said.stderr);
        let lines: Vec<&str> = said.stdout.lines().collect();
        let name = workspace.split('-').next().unwrap();
        assert_eq!(
            lines,
            [
                format!("OK: {suite}"),
                format!("skill_name: {name}"),
                format!("evals: {}", expected["evals"]),
                format!("common_assertions: {}", expected["common_assertions"]),
                format!("fixtures: {} checked", expected["fixtures"]),
            ]
        );
    }
}

#[test]
fn an_eval_set_of_the_forge_is_read_with_its_weights() {
    let folder = repository("tests/conformance/workspaces/skill-forge/meeting-minutes");
    let suite = validate(&folder, "evals/evals.json").json()["suite"].clone();
    // counted by hand: two, two and one assertion; the third eval says nothing of triggering, which means that it should
    assert_eq!(
        (&suite["dialect"], &suite["cases"], &suite["assertions"]),
        (&json!("skill-forge"), &json!(3), &json!(5))
    );
    assert_eq!(suite["by_class"], json!({"judge": 5}));
    assert_eq!(suite["trigger"], json!({"should_trigger": 3, "should_not_trigger": 0, "unlabelled": 0}));
    let options = skill_lift::suite::LoadOptions::default();
    let loaded = skill_lift::suite::load(&folder.join("evals/evals.json"), &options).suite.unwrap();
    let case = &loaded.cases[0];
    assert_eq!((case.id.as_str(), case.name.as_deref()), ("eval-0", Some("decisions")));
    let weights: Vec<_> = case.assertions.iter().map(|found| (found.label.as_str(), found.weight)).collect();
    assert_eq!(weights, [("lists-decisions", Some(3.0)), ("names-owners", Some(1.0))]);
    assert_eq!(loaded.skill_paths, ["./meeting-minutes"]);
}

/// Validates a text as `evals/evals.json`.
fn validated(text: &str) -> Value {
    let workspace = Workspace::new();
    workspace.write("evals/evals.json", text);
    workspace.run(&["validate", "evals/evals.json", "--format", "json"]).json()
}

/// Code and pointer of everything of a kind.
fn found(verdict: &Value, kind: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = verdict[kind].as_array().into_iter().flatten();
    items.map(|item| (text(&item["rule"]), text(&item["where"]))).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(rule, place)| ((*rule).to_owned(), (*place).to_owned())).collect()
}

/// A suite with one case that has these assertions.
fn with_assertions(assertions: &Value) -> String {
    json!({"evals": [{"id": 1, "prompt": "Do it.", "assertions": assertions}]}).to_string()
}

#[test]
fn every_error_has_its_code_and_place() {
    let errors = |text: &str| found(&validated(text), "errors");
    let none = pairs(&[]);
    assert_eq!(errors(&with_assertions(&json!(["polite"]))), none);
    for (text, expected) in [
        (r#"[{"title": "x"}, {"title": "y"}]"#.to_owned(), ("not_an_eval_suite", "")),
        (r#"{"evals": {"a": 1}}"#.to_owned(), ("not_an_eval_suite", "")),
        (r#"{"evals": [{"id": 1, "prompt": "p"},]}"#.to_owned(), ("invalid_json", "")),
        (r#"{"evals": [{"id": 1, "prompt": "p", "prompt": "q"}]}"#.to_owned(), ("invalid_json", "")),
        (r#"{"evals": [{"prompt": "p"}, {"id": 2, "prompt": " "}]}"#.to_owned(), ("case_without_prompt", "/evals/1")),
        (
            r#"{"evals": [{"id": 1, "prompt": "p"}, {"id": "1", "prompt": "q"}]}"#.to_owned(),
            ("duplicate_id", "/evals/1"),
        ),
        (r#"{"evals": [{"id": "../x", "prompt": "p"}]}"#.to_owned(), ("case-id", "/evals/0")),
        (r#"{"evals": [{"id": true, "prompt": "p"}]}"#.to_owned(), ("case-id", "/evals/0")),
        (
            r#"{"evals": [{"id": 1, "prompt": "p", "files": ["../../../../etc/passwd"]}]}"#.to_owned(),
            ("path_escapes_root", "/evals/0/files/0"),
        ),
        (
            r#"{"evals": [{"id": 1, "prompt": "p", "should_trigger": "yes"}]}"#.to_owned(),
            ("should-trigger", "/evals/0/should_trigger"),
        ),
        (with_assertions(&json!(["ok", 7])), ("unreadable_assertion", "/evals/0/assertions/1")),
        (with_assertions(&json!([" "])), ("blank_operand", "/evals/0/assertions/0")),
        (with_assertions(&json!(["contains ''"])), ("blank_operand", "/evals/0/assertions/0")),
        (with_assertions(&json!(["matches regex /(/"])), ("invalid_regex", "/evals/0/assertions/0")),
        (with_assertions(&json!([{"type": "contains", "value": {}}])), ("operand", "/evals/0/assertions/0")),
        (with_assertions(&json!(["file:../../secret"])), ("path_escapes_root", "/evals/0/assertions/0")),
        (with_assertions(&json!([{"check": "c", "cmd": []}])), ("script", "/evals/0/assertions/0")),
        (with_assertions(&json!([{}])), ("blank_operand", "/evals/0/assertions/0")),
    ] {
        assert_eq!(errors(&text), pairs(&[expected]), "{text}");
    }
}

#[test]
fn every_warning_has_its_code_and_place() {
    let warnings = |text: &str| found(&validated(text), "warnings");
    for (text, expected) in [
        (r#"{"id": "a", "question": "q", "expected_behavior": ["b"]}"#.to_owned(), ("single_case_object", "")),
        (r#"{"evals": []}"#.to_owned(), ("empty_suite", "")),
        ("[]".to_owned(), ("empty_suite", "")),
        (r#"[{"prompt": "p", "expect": ["b"]}]"#.to_owned(), ("generated_id", "")),
        (r#"[{"id": 1, "query": "p"}]"#.to_owned(), ("unlabelled_queries", "")),
        (r#"[{"id": 1, "prompt": "p", "expected_output": "o"}]"#.to_owned(), ("ungraded_cases", "")),
        (
            r#"{"assertions": ["x"], "evals": [{"id": 1, "prompt": "p", "expect": ["b"]}]}"#.to_owned(),
            ("suite_level_assertions_not_applied", ""),
        ),
        (
            r#"[{"id": 1, "prompt": "p", "assertions": "see grade.py", "expect": ["b"]}]"#.to_owned(),
            ("assertions_not_a_list", "/0/assertions"),
        ),
        (
            r#"[{"id": 1, "prompt": "p", "expect": ["b"], "files": ["nowhere.csv"]}]"#.to_owned(),
            ("missing_file", "/0/files/0"),
        ),
        (
            r#"[{"id": 1, "prompt": "p", "expect": ["b"], "num_expectations": 2}]"#.to_owned(),
            ("expectation_count", "/0/num_expectations"),
        ),
        (
            r#"{"common_assertions": "x", "test_cases": [{"id": 1, "prompt": "p", "expect": ["b"]}]}"#.to_owned(),
            ("assertions_not_a_list", ""),
        ),
        (
            with_assertions(&json!([{"text": "t", "passed": true, "evidence": ""}])),
            ("verdict_in_suite_ignored", "/evals/0/assertions/0"),
        ),
        (
            with_assertions(&json!([{"id": "a", "description": "d", "type": "code"}])),
            ("unscripted_code_check", "/evals/0/assertions/0"),
        ),
        (with_assertions(&json!(["contains 'A'"])), ("degenerate_needle", "/evals/0/assertions/0")),
        (with_assertions(&json!(["b", "b"])), ("repeated_assertion", "/evals/0/assertions/1")),
        (
            with_assertions(&json!([{"text": "t", "type": "command_ran", "pattern": "x"}])),
            ("unknown-assertion-type", "/evals/0/assertions/0"),
        ),
        (
            with_assertions(&json!([{"text": "t", "type": "script"}])),
            ("unscripted_code_check", "/evals/0/assertions/0"),
        ),
        (
            with_assertions(&json!([{"text": "t", "type": "contians", "value": "x"}])),
            ("unknown-assertion-type", "/evals/0/assertions/0"),
        ),
    ] {
        let verdict = validated(&text);
        assert_eq!(verdict["ok"], true, "{text}");
        assert_eq!(warnings(&text), pairs(&[expected]), "{text}");
    }
}

#[test]
fn a_problem_says_its_line_its_text_and_what_to_do() {
    let text = "{\"evals\": [\n  {\"id\": 1, \"prompt\": \"p\",\n   \"assertions\": [\"contains 'A'\"]}\n]}\n";
    let warning = validated(text)["warnings"][0].clone();
    assert_eq!((&warning["file"], &warning["line"]), (&json!("evals/evals.json"), &json!(3)));
    assert_eq!(warning["text"], "\"contains 'A'\"");
    assert!(warning["help"].as_str().is_some_and(|help| !help.is_empty()));
    let workspace = Workspace::new();
    workspace.write("evals/evals.json", text);
    let said = workspace.run(&["validate", "evals/evals.json"]);
    assert!(
        said.stderr
            .starts_with("WARN evals/evals.json:3: /evals/0/assertions/0: the operand `A` is a single character"),
        "{}",
        said.stderr
    );
    let long = with_assertions(&json!([{"text": "x".repeat(500), "type": "code"}]));
    let shown = validated(&long)["warnings"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(shown.chars().count(), 121);
}

#[test]
fn a_comma_too_many_and_a_comment_are_explained() {
    let help = |text: &str| {
        let verdict = validated(text);
        let error = &verdict["errors"][0];
        (error["message"].as_str().unwrap().to_owned(), error["help"].as_str().unwrap_or_default().to_owned())
    };
    let (message, comma) = help("{\"evals\": [\n  {\"id\": 1},\n]}");
    assert!(message.starts_with("evals/evals.json:3:1: invalid JSON: "), "{message}");
    assert!(comma.contains("comma"), "{comma}");
    assert!(help("{\"evals\": [] // none\n}").1.contains("comment"));
}

#[test]
fn leakage_is_found_in_every_dialect() {
    let text = json!([{"id": 1, "prompt": "Write a changelog.", "assertions": ["contains 'Changelog'", "starts with 'Write'"]}]);
    let verdict = validated(&text.to_string());
    let values: Vec<&Value> = verdict["leakage"].as_array().unwrap().iter().map(|leak| &leak["value"]).collect();
    assert_eq!(values, ["Changelog", "Write"]);
}

#[test]
fn assertions_that_are_lost_are_never_green() {
    // a misspelt list of assertions
    let verdict = validated(r#"{"evals": [{"id": 1, "prompt": "p", "asserts": ["contains 'yes'"]}]}"#);
    assert_eq!(found(&verdict, "errors"), pairs(&[("near-miss-key", "/evals/0/asserts")]));
    assert_eq!(verdict["errors"][0]["help"], "did you mean `assertions`?");
    let closed =
        r#"{"skill_name": "s", "common_assertions": [], "evals": [{"id": "a", "prompt": "p", "expectation": ["b"]}]}"#;
    let verdict = validated(closed);
    assert_eq!(found(&verdict, "errors"), pairs(&[("near-miss-key", "evals/evals.json.evals[0].expectation")]));
    assert_eq!(verdict["errors"][0]["help"], "did you mean `expectations`?");

    // a case with none at all
    let workspace = Workspace::new();
    let suite = json!({"skill_name": "s", "evals": [
        {"id": 1, "prompt": "p", "assertions": []}, {"id": 2, "prompt": "p", "assertions": ["contains 'yes'"]}
    ]});
    workspace.write("evals/evals.json", suite.to_string());
    let said = workspace.run(&["validate", "evals/evals.json"]);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "OK: s — 2 cases, 1 assertion (skill-creator)",
            "ungraded: 1 of 2 cases (no assertion: neither passed nor failed)",
            "graded offline: 1 assertion",
            "need a judge: 0 assertions",
        ]
    );
    workspace.write("runs/eval-1/with_skill/output.md", "yes");
    workspace.write("runs/eval-2/with_skill/output.md", "yes");
    let said = workspace.run(&["grade", "evals/evals.json", "--runs", "runs", "--variant", "with_skill"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let rows = said.json()["results"].clone();
    assert_eq!((&rows[0]["objective_pass_rate"], &rows[0]["objective_total"]), (&Value::Null, &json!(0)));
    assert_eq!(rows[1]["objective_pass_rate"], 1.0);
}

#[test]
fn keys_of_skill_eval_are_closed_and_all_problems_are_listed_in_order() {
    let workspace = Workspace::new();
    let suite = json!({
        "zeta": 1, "alpha": 2, "skill_name": " ", "common_assertions": null,
        "scoring": {"common_assertion_weight": -1, "pass_threshold": 1.5, "weight": 1},
        "evals": [
            {"id": "a", "prompt": "p", "expectations": ["ok"]},
            {"id": "a", "prompt": "", "name": 7, "expected_output": null, "files": ["nowhere"], "expectations": [1], "tags": []},
            {"id": "b", "prompt": "p", "files": "x"},
            7
        ]
    });
    workspace.write("evals/s/evals.json", suite.to_string());
    let said = workspace.run(&["validate", "evals/s/evals.json", "--dialect", "skill-eval"]);
    assert_eq!(said.code, 1);
    let expected = [
        ".alpha: unknown field",
        ".zeta: unknown field",
        ".skill_name: must be a text that is not blank",
        ".common_assertions: must be a list of texts",
        ".scoring.weight: unknown field",
        ".scoring.common_assertion_weight: must be a number that is not negative",
        ".scoring.pass_threshold: must be a number in 0..1",
        ".evals[1].tags: unknown field",
        ".evals[1].id: the id `a` stands already at .evals[0].id",
        ".evals[1].prompt: must be a text that is not blank",
        ".evals[1].name: must be a text",
        ".evals[1].expected_output: must be a text",
        ".evals[1].files[0]: `nowhere` does not exist",
        ".evals[1].expectations: must be a list of texts",
        ".evals[2].files: must be a list of texts",
        ".evals[3]: must be an object",
    ];
    let expected: Vec<String> = expected.iter().map(|line| format!("FAIL: evals/s/evals.json{line}")).collect();
    assert_eq!(said.lines("FAIL: "), expected);
}

#[test]
fn an_eval_without_assertions_is_named() {
    let workspace = Workspace::new();
    let suite = json!({"skill_name": "s", "common_assertions": [], "evals": [{"id": "a", "prompt": "p"}]});
    workspace.write("evals/s/evals.json", suite.to_string());
    let said = workspace.run(&["validate", "evals/s/evals.json"]);
    assert_eq!(said.code, 0);
    let line = "WARN evals/s/evals.json.evals: evals without an assertion, which neither pass nor fail: 1 of 1 (a); \
                write what a good answer does under `expectations`";
    assert_eq!(said.lines("WARN"), [line]);
}

#[test]
fn fixtures_of_skill_eval_must_exist_in_the_repository() {
    let workspace = Workspace::new();
    workspace.write("AGENTS.md", "");
    workspace.write("outside.txt", "");
    for path in ["repo/AGENTS.md", "repo/top.txt", "repo/evals/s/beside.txt", "repo/evals/s/fixtures/deep/f.txt"] {
        workspace.write(path, "x");
    }
    let errors = |files: &[&str]| {
        let suite = json!({"skill_name": "s", "common_assertions": ["c"], "evals": [{"id": "a", "prompt": "p", "files": files}]});
        workspace.write("repo/evals/s/evals.json", suite.to_string());
        let said = workspace.run(&["validate", "repo/evals/s/evals.json", "--format", "json"]);
        found(&said.json(), "errors").into_iter().map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    assert!(errors(&["top.txt", "beside.txt", "deep/f.txt", "deep"]).is_empty());
    let outside = workspace.path().join("outside.txt");
    assert_eq!(errors(&[outside.to_str().unwrap()]), ["path_escapes_root"]);
    assert_eq!(errors(&["../outside.txt"]), ["path_escapes_root"]);
    assert_eq!(errors(&["gone.txt"]), ["missing_file"]);
}

#[test]
fn weights_and_common_assertions_are_kept_for_reports() {
    use skill_lift::suite::{LoadOptions, Origin, load};
    let workspace = Workspace::new();
    let suite = json!({
        "skill_name": "s", "common_assertions": ["both", "common", "both", ""],
        "scoring": {"common_assertion_weight": 0.4, "per_eval_expectation_weight": 0.6, "pass_threshold": 0.8, "notes": "n"},
        "evals": [{"id": "E 1", "prompt": "contains 'x'", "name": "", "expectations": ["own", "both", "contains 'x'"]}]
    });
    workspace.write("evals/s/evals.json", suite.to_string());
    let suite = load(&workspace.path().join("evals/s/evals.json"), &LoadOptions::default()).suite.unwrap();
    let scoring = suite.scoring.unwrap();
    assert_eq!((scoring.common_weight, scoring.own_weight, scoring.pass_threshold), (Some(0.4), Some(0.6), Some(0.8)));
    assert_eq!((suite.version, suite.common_assertions), (None, 4));
    let case = &suite.cases[0];
    assert_eq!((case.id.as_str(), &case.name), ("E 1", &None));
    let read: Vec<_> = case.assertions.iter().map(|found| (found.text.as_deref().unwrap(), found.origin)).collect();
    let (common, own) = (Origin::Common, Origin::Case);
    assert_eq!(read, [("both", common), ("common", common), ("", common), ("own", own), ("contains 'x'", own)]);
    // prose for a grader, whatever it looks like
    assert!(case.assertions.iter().all(|found| found.class().word() == "judge"));
}

#[test]
fn manifests_keep_their_messages_and_their_closed_list_of_types() {
    let workspace = Workspace::new();
    let types = ["not_contains", "starts_with", "line_count_ge", "valid_json", "no_write_of", "retired"];
    let assertions: Vec<Value> = types.iter().map(|kind| json!({"type": kind, "value": "x"})).collect();
    workspace.suite(&json!({"cases": [{"id": "c", "split": "tune", "prompt": "p", "assertions": assertions}]}));
    let said = workspace.run(&["validate", "evals/shared-benchmark.json"]);
    let expected: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(at, kind)| format!("FAIL: c: assertion #{at}: has unsupported type '{kind}'"))
        .collect();
    assert_eq!(said.lines("FAIL: "), expected);
    assert!(!said.stderr.contains("retired,"), "{}", said.stderr);

    let version = "FAIL: manifest.version must be one of [1, 2]";
    for text in [r#"{"skill_name": "s"}"#, "{}", r#"{"cases": [], "skill_name": "s"}"#] {
        workspace.write("manifest.json", text);
        let said = workspace.run(&["validate", "manifest.json"]);
        assert_eq!((said.code, said.lines("FAIL: ")[0]), (1, version), "{text}");
    }
    for text in ["[]", "[1]", "7"] {
        workspace.write("manifest.json", text);
        let said = workspace.run(&["validate", "manifest.json"]);
        assert_eq!(said.lines("FAIL: ")[0], "FAIL: manifest.json must contain a JSON object", "{text}");
    }
    // a real suite under the name of a manifest is a manifest, and the flag wins over both
    workspace.write("shared-benchmark.json", r#"[{"id": 1, "prompt": "p", "expect": ["b"]}]"#);
    assert_eq!(workspace.run(&["validate", "shared-benchmark.json"]).code, 1);
    assert_eq!(workspace.run(&["validate", "shared-benchmark.json", "--dialect", "skill-creator"]).code, 0);
    workspace.write("evals.json", r#"[{"id": 1, "prompt": "p", "expect": ["b"]}]"#);
    assert_eq!(workspace.run(&["validate", "evals.json", "--dialect", "shared-benchmark"]).code, 1);
    assert_eq!(workspace.run(&["validate", "evals.json", "--dialect", "other"]).code, 2);
}

#[test]
fn hostile_suites_are_refused() {
    let workspace = Workspace::new();
    let case = |fields: &str| format!(r#"{{"evals": [{{"id": 1, "prompt": "p", {fields}}}]}}"#);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let many: Vec<String> = (0..60_000).map(|number| number.to_string()).collect();
    let prompts: Vec<Value> = (0..2_000).map(|id| json!({"id": id.to_string(), "prompt": "p"})).collect();
    let shared =
        json!({"common_assertions": [{"id": 1, "text": "x".repeat(100_000)}], "test_cases": prompts}).to_string();
    for (name, text) in [
        ("nesting", case(&format!(r#""assertions": {deep}"#))),
        ("many assertions", case(&format!(r#""assertions": {}"#, json!(many)))),
        ("common assertions for each of many cases", shared),
        ("control characters in an id", r#"{"evals": [{"id": "a\u001b[31m", "prompt": "p"}]}"#.to_owned()),
        ("a NUL in a path", case(r#""files": ["a\u0000b"], "expect": ["x"]"#)),
    ] {
        workspace.write("evals.json", text);
        let said = workspace.run(&["validate", "evals.json"]);
        assert_eq!(said.code, 1, "{name}: {}", said.stderr);
        assert!(said.stderr.starts_with("FAIL: ") && !said.stderr.contains('\u{1b}'), "{name}: {}", said.stderr);
    }
}

#[test]
fn each_arm_is_graded_on_its_own_files() {
    let workspace = Workspace::new();
    workspace.write("evals/evals.json", with_assertions(&json!(["file:with_skill/outputs/plan.md"])));
    workspace.write("runs/eval-1/with_skill/output.md", "done");
    workspace.write("runs/eval-1/with_skill/outputs/plan.md", "1.");
    workspace.write("runs/eval-1/without_skill/output.md", "done");
    let said = workspace.run(&["grade", "evals/evals.json", "--runs", "runs"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let report = said.json();
    let passed: Vec<&Value> =
        report["results"].as_array().unwrap().iter().map(|row| &row["assertions"][0]["passed"]).collect();
    assert_eq!(passed, [&json!(true), &json!(false)]);
}

#[test]
fn negative_lists_are_judged_as_what_must_not_be() {
    let workspace = Workspace::new();
    let suite = json!([{"id": 1, "prompt": "p", "expect": ["Be kind"], "must_not": ["Be kind", "contains 'x'"]}]);
    workspace.write("evals.json", suite.to_string());
    workspace.write("runs/eval-1/with_skill/output.md", "done");
    let arguments =
        ["grade", "evals.json", "--runs", "runs", "--variant", "with_skill", "--judge-tasks", "tasks.jsonl"];
    assert_eq!(workspace.run(&arguments).code, 0);
    let tasks = std::fs::read_to_string(workspace.path().join("tasks.jsonl")).unwrap();
    let tasks: Vec<Value> = tasks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rubrics: Vec<&Value> = tasks.iter().map(|task| &task["assertion"]["rubric"][0]).collect();
    let must_not = "The answer must not do or hold the following: ";
    assert_eq!(
        rubrics,
        [&json!("Be kind"), &json!(format!("{must_not}Be kind")), &json!(format!("{must_not}contains 'x'"))]
    );
    assert_eq!(tasks[1]["assertion"]["name"], "must not: Be kind");
}
