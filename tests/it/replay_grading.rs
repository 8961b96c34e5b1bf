//! Public complaints about graders, each as a small input with the right answer.

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

fn suite_of(assertions: Value) -> Workspace {
    let workspace = Workspace::new();
    workspace.suite(&json!({"cases": [{"id": "c1", "split": "tune", "prompt": "Do.", "assertions": assertions}]}));
    workspace
}

/// The row of one assertion on one answer.
fn graded(assertion: Value, answer: impl AsRef<[u8]>) -> Value {
    let workspace = suite_of(json!([assertion]));
    workspace.write("runs/c1/with_skill/output.md", answer);
    let said = workspace.on_runs("grade", &["--variant", "with_skill"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.json()["results"][0]["assertions"][0].clone()
}

fn row(said: &Said, index: usize) -> Value {
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.json()["results"][index].clone()
}

#[test]
fn a_pattern_also_matches_its_negation_by_definition() {
    let assertion = json!({"type": "regex", "pattern": "was saved"});
    assert_eq!(graded(assertion.clone(), "I can't confirm it was saved")["passed"], true);

    let workspace = suite_of(json!([assertion]));
    let warned = |workspace: &Workspace| {
        let said = workspace.run(&["validate", "evals/shared-benchmark.json"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        (said.stderr.contains("'was saved' also occurs in answers that deny it"), said.stderr)
    };
    let (is_warned, said) = warned(&workspace);
    assert!(is_warned && said.contains("not_regex"), "{said}");
    let guard = json!({"type": "not_regex", "pattern": "(?:\\bnot|n't|never|cannot)\\b[^.\\n]*was\\s+saved"});
    let guarded = suite_of(json!([assertion, guard]));
    assert!(!warned(&guarded).0);
}

#[test]
fn a_skill_is_loaded_wherever_it_stands_in_the_trace_and_by_its_exact_name() {
    let events = json!({"schema_version": 2, "source": "claude", "events": [
        {"type": "command", "name": "Bash", "input_summary": "ls", "status": "completed"},
        {"type": "skill_load", "name": "Skill", "input_summary": "change-delivery", "status": "completed"}
    ]});
    let named =
        |name: &str| json!({"type": "tool_call", "tool": "Skill", "pattern": format!("^{name} Skill$"), "name": name});
    let workspace = suite_of(json!([{"type": "skill_invoked"}, named("change-delivery"), named("change-delivery-2")]));
    workspace.write("runs/c1/with_skill/output.md", "x");
    workspace.write("runs/c1/with_skill/events.json", events.to_string());
    let result = row(&workspace.on_runs("grade", &["--variant", "with_skill"]), 0);
    let passed: Vec<_> = (0..3).map(|index| result["assertions"][index]["passed"].clone()).collect();
    assert_eq!(passed, [json!(true), json!(true), json!(false)]);
    assert_eq!(
        result["assertions"][0]["evidence"],
        "skill_invoked=True; expected=True; evidence=['change-delivery Skill']"
    );
}

#[test]
fn one_reply_that_cannot_be_read_is_not_a_failed_judgement() {
    let workspace = suite_of(json!([{"name": "q", "type": "judge", "rubric": ["Specific"], "severity": "gate"}]));
    let mut verdicts = Vec::new();
    for run in 1..=10 {
        workspace.write(&format!("runs/c1/with_skill/run-{run}/output.md"), "x");
        let id = format!("c1::with_skill::run-{run}::q");
        verdicts.push(match run {
            4 => json!({"judge_task_id": id, "passed": false, "verdict_validation_error": "no JSON", "raw": "GRID: C"}),
            _ => json!({"judge_task_id": id, "passed": true}),
        });
    }
    workspace.write("verdicts.json", json!(verdicts).to_string());
    let said = workspace.on_runs("grade", &["--variant", "with_skill", "--judge-results", "verdicts.json"]);
    assert_eq!(said.lines("WARN incomplete_judge_results").len(), 1, "{}", said.stderr);
    let report = said.json();
    let rates: Vec<_> = (0..10).map(|run| report["results"][run]["qualitative_pass_rate"].clone()).collect();
    let expected: Vec<_> = (1..=10).map(|run| if run == 4 { Value::Null } else { json!(1.0) }).collect();
    assert_eq!(rates, expected);
    assert_eq!(report["results"][3]["deferred_judge_tasks"], 1);
}

#[test]
fn what_was_not_observed_fails_or_enters_no_count() {
    let workspace = suite_of(json!([
        {"name": "ran", "type": "command_ran", "pattern": "ls"},
        {"name": "after", "type": "contains", "value": "yes", "depends_on": "ran"},
        {"name": "says", "type": "contains", "value": "yes"},
        {"name": "oracle", "type": "script", "command": ["oracles/check.sh"], "severity": "soft"}
    ]));
    workspace.write("evals/oracles/check.sh", "#!/bin/sh\n");
    workspace.write("runs/c1/with_skill/output.md", "yes");
    let counts = |more: &[&str]| {
        let said = workspace.on_runs("grade", &[&["--variant", "with_skill"], more].concat());
        let result = row(&said, 0);
        let numbers = ["objective_passed", "objective_total", "soft_total", "skipped_total"];
        (numbers.map(|key| result[key].as_u64().unwrap()), result)
    };
    let (numbers, result) = counts(&[]);
    assert_eq!(numbers, [1, 2, 1, 1]);
    assert_eq!((&result["assertions"][0]["passed"], &result["assertions"][0]["score"]), (&json!(false), &json!(0.0)));
    assert_eq!(result["assertions"][1]["skip_reason"], "prerequisite 'ran' not satisfied");

    let (numbers, result) = counts(&["--unobserved", "exclude"]);
    assert_eq!(numbers, [1, 1, 0, 1]);
    let row = &result["assertions"][0];
    assert_eq!((&row["passed"], &row["score"], &row["state"]), (&Value::Null, &Value::Null, &json!("undecided")));
    assert_eq!((&row["undecided"], &row["availability"]), (&json!("unobserved"), &json!("partial")));
    assert_eq!(result["assertions"][1]["skip_reason"], "prerequisite 'ran' unresolved");
    assert_eq!(result["grading_availability"], "partial");
    let blocked: Vec<_> =
        result["blocked_assertions"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
    assert_eq!(blocked, ["ran", "oracle"]);
    let said = workspace.on_runs("grade", &["--unobserved", "exclude"]);
    assert_eq!(said.json()["provenance"]["options"]["unobserved"], "exclude");
}

#[test]
fn bare_json_with_a_fence_inside_a_string_is_tried_as_a_whole() {
    let schema = json!({"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]});
    let answer = json!({"code": "```py\nx\n```"}).to_string();
    assert_eq!(graded(json!({"type": "structured_output", "schema": schema}), answer)["passed"], true);
}

#[test]
fn json_is_chosen_by_the_info_string_of_its_fence_and_named() {
    let schema = json!({"type": "object", "properties": {"n": {"const": 1}}, "required": ["n"]});
    let answer = "```bash\necho '{\"n\": 2}'\n```\n\n```json\n{\"n\": 1}\n```\n";
    let row = graded(json!({"type": "structured_output", "schema": schema}), answer);
    assert_eq!(row["passed"], true, "{row}");
    let evidence = row["evidence"].as_str().unwrap();
    // the JSON stands at bytes 40 to 48 of the answer
    let start = answer.find("{\"n\": 1}").unwrap();
    assert!(evidence.contains(&start.to_string()), "{evidence}");
}

#[test]
fn identical_empty_values_are_equal() {
    for text in ["{}", "{\"tags\":[]}"] {
        let row = graded(json!({"type": "similarity", "expected": text}), text);
        assert_eq!((&row["passed"], &row["score"]), (&json!(true), &json!(1.0)), "{text}");
    }
}

#[test]
fn values_of_another_type_fail_with_evidence() {
    let field = |equals: Value, actual: &str| {
        let workspace =
            suite_of(json!([{"type": "json_field_equals", "path": "r.json", "field": "v", "equals": equals}]));
        workspace.write("runs/c1/with_skill/output.md", "x");
        workspace.write("runs/c1/with_skill/r.json", format!("{{\"v\": {actual}}}"));
        let row = row(&workspace.on_runs("grade", &["--variant", "with_skill"]), 0)["assertions"][0].clone();
        (row["passed"].as_bool().unwrap(), row["evidence"].as_str().unwrap().to_owned())
    };
    assert_eq!(field(json!({"amount": 100}), "null"), (false, "v=None".to_owned()));
    assert_eq!(field(json!(1), "true"), (false, "v=True".to_owned()));
    assert_eq!(field(json!(1.0), "1"), (true, "v=1".to_owned()));
}

#[test]
fn odd_bytes_do_not_stop_the_grading_and_their_place_is_named() {
    let workspace = suite_of(json!([{"type": "contains", "value": "ok"}]));
    workspace.write("runs/c1/with_skill/output.md", b"ok \xff");
    workspace.write("runs/c1/with_skill/metadata.json", br#"{"note": "\udc00"}"#);
    let said = workspace.on_runs("grade", &["--variant", "with_skill"]);
    assert_eq!(row(&said, 0)["objective_pass_rate"], 1.0);
    assert_eq!(
        said.lines("WARN decode_lossy"),
        ["WARN decode_lossy: c1/with_skill/output.md: byte 3 is not UTF-8; such bytes are read as U+FFFD"]
    );
    assert_eq!(row(&said, 0)["metadata"], json!({"metadata_error": "invalid JSON in metadata.json"}));
}

#[test]
fn the_rule_for_frequent_characters_is_kept_named_and_can_be_turned_off() {
    // python3 -c "import difflib; ..." on the same texts: 0.5016722408026756 and 0.9966555183946488
    let expected: String = (0..299).map(|n| char::from(b'0' + (n * 7 % 10) as u8)).collect();
    let actual = format!("{}x{}", &expected[..150], &expected[151..]);
    let workspace = suite_of(json!([
        {"name": "default", "type": "similarity", "expected": expected, "severity": "gate"},
        {"name": "without", "type": "similarity", "expected": expected, "severity": "gate", "autojunk": false}
    ]));
    workspace.write("runs/c1/with_skill/output.md", actual);
    let said = workspace.on_runs("grade", &["--variant", "with_skill"]);
    let result = row(&said, 0);
    let [default, without] = [0, 1].map(|index| result["assertions"][index].clone());
    assert_eq!((&default["passed"], &default["score"]), (&json!(false), &json!(0.5017)));
    assert_eq!(default["autojunk_fired"], true);
    assert_eq!((&without["passed"], &without["score"]), (&json!(true), &json!(0.9967)));
    assert_eq!(without["autojunk_fired"], Value::Null);
    assert_eq!(said.lines("WARN unstable_autojunk").len(), 1);
}

#[test]
fn a_pattern_that_explodes_is_answered_or_an_error_never_a_pass() {
    let answer = format!("{}b", "a".repeat(40));
    assert_eq!(graded(json!({"type": "regex", "pattern": "(a|aa)+$"}), answer)["passed"], false);
    let answer = format!("{}b", "a".repeat(3_000));
    for kind in ["regex", "not_regex"] {
        let row = graded(json!({"type": kind, "pattern": "(\\w+)\\1+$"}), &answer);
        assert_eq!(row["passed"], Value::Null, "{kind}: {row}");
        assert_eq!(row["state"], "error");
        assert_eq!(row["error"], "step_limit");
        assert_eq!(row["evidence"], "regex evaluation unavailable: step budget exceeded");
    }
}

#[test]
fn a_case_without_assertions_is_never_green() {
    let workspace = suite_of(json!([]));
    for arm in ["with_skill", "without_skill"] {
        workspace.write(&format!("runs/c1/{arm}/output.md"), "x");
    }
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(row(&said, 0)["objective_pass_rate"], Value::Null);
    let report = said.json();
    assert_eq!(report["inference"]["overall"]["verdict"]["code"], "nothing_paired");
    let reasons = &report["paired_summary"]["pairing"]["blocked_reason_counts"];
    assert_eq!(*reasons, json!({"missing_objective_pass_rate": 1}));

    let misspelt = json!({"id": "c1", "split": "tune", "prompt": "Do.", "asserts": []});
    workspace.suite(&json!({"cases": [misspelt]}));
    let said = workspace.run(&["validate", "evals/shared-benchmark.json"]);
    assert!(said.stderr.contains("asserts"), "the near miss is named: {}", said.stderr);
}

#[test]
fn a_crashed_run_satisfies_nothing_and_an_empty_answer_is_marked() {
    let workspace = suite_of(json!([{"type": "excludes_any", "values": ["Error"]}]));
    workspace.write("runs/c1/with_skill/output.md", "");
    workspace.write("runs/c1/with_skill/metadata.json", r#"{"returncode": 1}"#);
    workspace.write("runs/c1/without_skill/output.md", "");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(row(&said, 0)["unscored_reasons"], json!(["executor_error"]));
    assert_eq!(row(&said, 1)["vacuous"], true);
    let report = said.json();
    assert_eq!(report["paired_summary"]["pairing"]["blocked_reason_counts"], json!({"unscorable_arm": 1}));
    assert_eq!(report["summary"]["with_skill"]["execution_errors"], 1);
}

#[test]
fn a_run_that_timed_out_is_not_a_wrong_answer() {
    let workspace = suite_of(json!([{"type": "contains", "value": "done"}]));
    workspace.write("runs/c1/with_skill/output.md", "half of it");
    workspace.write("runs/c1/with_skill/metadata.json", r#"{"timed_out": true}"#);
    workspace.write("runs/c1/without_skill/output.md", "done");
    let said = workspace.on_runs("benchmark", &[]);
    assert_eq!(row(&said, 0)["unscored_reasons"], json!(["timed_out"]));
    let report = said.json();
    assert_eq!(report["summary"]["with_skill"]["mean_objective_pass_rate"], Value::Null);
    assert_eq!(report["paired_summary"]["pairing"]["blocked_reason_counts"], json!({"unscorable_arm": 1}));
}

#[test]
fn completed_runs_are_not_passes() {
    let workspace = suite_of(json!([{"type": "contains", "value": "yes"}]));
    for (number, answer) in ["yes", "yes", "no", "yes", "yes"].iter().enumerate() {
        workspace.write(&format!("runs/c1/with_skill/run-{}/output.md", number + 1), answer);
    }
    let said = workspace.on_runs("benchmark", &["--variant", "with_skill"]);
    assert_eq!(said.json()["summary"]["with_skill"]["mean_objective_pass_rate"], 0.8);
}

#[test]
fn places_name_the_file_that_the_answer_was_read_from() {
    let workspace = Workspace::new();
    let check = json!({"name": "yes", "type": "contains", "value": "yes"});
    let turns = json!([{"prompt": "a", "assertions": [check]}, {"prompt": "b"}]);
    workspace.suite(&json!({"cases": [{"id": "c1", "split": "tune", "turns": turns, "assertions": [check]}]}));
    workspace.write("runs/c1/with_skill/turn-1/output.md", "a yes");
    workspace.write("runs/c1/with_skill/turn-2/response.md", "yes");
    let result = row(&workspace.on_runs("grade", &["--variant", "with_skill"]), 0);
    let spans: Vec<_> = result["assertions"].as_array().unwrap().iter().map(|row| row["spans"][0].clone()).collect();
    assert_eq!(spans[0], json!({"text": "turn-2/response.md", "from": 0, "to": 3}));
    assert_eq!(spans[1], json!({"text": "turn-1/output.md", "from": 2, "to": 5}));

    // a match that the view hides has no place, and neither has one that only the view shows
    let hidden = graded(json!({"type": "regex", "pattern": "cafe(?!\\w)"}), "cafe\u{301}");
    assert_eq!((&hidden["passed"], &hidden["matched"]), (&json!(false), &Value::Null));
    let shown = graded(json!({"type": "regex", "pattern": "rate limit"}), "rate\u{200b} limit");
    assert_eq!((&shown["passed"], &shown["matched"]), (&json!(true), &Value::Null));
}
