//! The pages of `docs/assertions`: a section and an executed example for every type.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use skill_lift::suite::AssertionType;

use crate::support::{Workspace, repository};

/// The examples of a page with the section they stand in.
fn examples(text: &str) -> Vec<(String, Value)> {
    let mut section = String::new();
    let mut examples = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match &mut open {
            Some(example) if line == "```" => {
                let value =
                    serde_json::from_str(example).unwrap_or_else(|error| panic!("{section}: {error}\n{example}"));
                examples.push((section.clone(), value));
                open = None;
            }
            Some(example) => {
                example.push_str(line);
                example.push('\n');
            }
            None if line == "```json example" => open = Some(String::new()),
            None => {
                if let Some(name) = line.strip_prefix("## `").and_then(|rest| rest.strip_suffix('`')) {
                    section = name.to_owned();
                }
            }
        }
    }
    examples
}

/// The page whose examples stand in a suite of the dialect `skill-creator`.
const OTHER_DIALECTS: &str = "other-dialects.md";

fn check(section: &str, example: &Value, is_open: bool) {
    let workspace = Workspace::new();
    let (suite, case) = if is_open {
        let suite = json!({"evals": [{"id": 1, "prompt": "Do the task.", "assertions": [example["assertion"]]}]});
        workspace.write("evals/evals.json", suite.to_string());
        ("evals/evals.json", "eval-1")
    } else {
        assert_eq!(example["assertion"]["type"], section, "the example stands in the wrong section");
        workspace.suite(&json!({"cases": [
            {"id": "c1", "split": "tune", "prompt": "Do the task.", "assertions": [example["assertion"]]}
        ]}));
        ("evals/shared-benchmark.json", "c1")
    };
    let run = format!("runs/{case}/with_skill");
    workspace.write(&format!("{run}/output.md"), example["output"].as_str().unwrap());
    for (key, root) in [("files", run.as_str()), ("suite_files", "evals")] {
        for (path, text) in example[key].as_object().into_iter().flatten() {
            workspace.write(&format!("{root}/{path}"), text.as_str().unwrap());
        }
    }
    let mut arguments = vec!["grade", suite, "--runs", "runs", "--variant", "with_skill"];
    arguments.extend(example["arguments"].as_array().into_iter().flatten().map(|word| word.as_str().unwrap()));
    if !example["judge_results"].is_null() {
        workspace.write("verdicts.json", example["judge_results"].to_string());
        arguments.extend(["--judge-results", "verdicts.json"]);
    }
    let said = workspace.run(&arguments);
    assert_eq!(said.code, 0, "{section}: {}", said.stderr);
    let row = &said.json()["results"][0];
    if !example["deferred"].is_null() {
        assert_eq!(row["deferred_judge_tasks"], example["deferred"], "{section}");
        return;
    }
    let rows: Vec<&Value> =
        ["assertions", "qualitative_assertions"].iter().flat_map(|key| row[key].as_array().unwrap()).collect();
    assert_eq!(rows.len(), 1, "{section}: {row}");
    assert_eq!(rows[0]["type"], section, "the example stands in the wrong section");
    assert_eq!(rows[0]["passed"], example["passed"], "{section}: {}", rows[0]);
    for key in
        ["evidence", "matched", "spans", "nearest_miss", "compared"].into_iter().filter(|key| !example[key].is_null())
    {
        assert_eq!(rows[0][key], example[key], "{section}: {key}");
    }
}

#[test]
fn every_type_has_a_section_with_an_example_that_holds() {
    let mut documented = BTreeSet::new();
    for entry in fs::read_dir(repository("docs/assertions")).unwrap() {
        let path = entry.unwrap().path();
        let is_open = path.ends_with(OTHER_DIALECTS);
        for (section, example) in examples(&fs::read_to_string(path).unwrap()) {
            check(&section, &example, is_open);
            documented.insert(section);
        }
    }
    let types: BTreeSet<String> = AssertionType::ALL.iter().map(|kind| kind.word().to_owned()).collect();
    assert_eq!(documented, types);
}
