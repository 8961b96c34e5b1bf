//! What `report` makes of its arguments for iterations of the executor/grader runner, and the two lifts that it shows.

use std::fs;

use serde_json::{Value, json};

use crate::skill_eval::{CHANGELOG, report, sample};

const NAME: &str = "changelog-claude";

#[test]
fn the_iteration_is_found_below_the_folder_that_is_named() {
    let workspace = sample(NAME);
    let named = report(&workspace, CHANGELOG);
    for folder in [".", "evals", "evals/changelog", "evals/changelog/workspace/claude"] {
        let said = workspace.run(&["report", folder, "--format", "json"]);
        assert_eq!((said.code, &said.json()), (0, &named), "{folder}: {said:#?}");
        assert!(said.stderr.contains("the only iteration in"), "{said:#?}");
    }
    // benchmark.md stands in the iteration, not in the folder that was named
    let said = workspace.run(&["report", "evals"]);
    assert_eq!(said.lines("Wrote").as_slice(), [format!("Wrote {CHANGELOG}/benchmark.md")]);
    // of two the latest by its number, which is not the last by its letters
    let place = workspace.path().join("evals/changelog/workspace/claude");
    fs::rename(place.join("iteration-1"), place.join("iteration-10")).unwrap();
    let copy = |from: &str, to: &str| {
        workspace.write(&format!("evals/changelog/workspace/claude/{to}"), fs::read(place.join(from)).unwrap());
    };
    copy("iteration-10/eval-e03/with_skill/run-1/run.json", "iteration-9/eval-e03/with_skill/run-1/run.json");
    copy("iteration-10/eval-e03/with_skill/run-1/grading.json", "iteration-9/eval-e03/with_skill/run-1/grading.json");
    let said = workspace.run(&["report", "evals/changelog", "--format", "json"]);
    assert_eq!(said.json()["run_count"], json!(6), "{said:#?}");
    assert_eq!(
        said.lines("WARN other_iterations").as_slice(),
        ["WARN other_iterations: evals/changelog/workspace/claude/iteration-10 is read, the latest of 2 iterations; \
             name another one to read it"]
    );
    assert_eq!(workspace.run(&["report", "evals/changelog", "--format", "json", "--quiet"]).stderr, "");
}

#[test]
fn iterations_of_several_agents_are_named() {
    let workspace = sample(NAME);
    let run = "eval-e03/with_skill/run-1";
    for file in ["run.json", "grading.json"] {
        let text = fs::read(workspace.path().join(format!("{CHANGELOG}/{run}/{file}"))).unwrap();
        workspace.write(&format!("evals/changelog/workspace/codex/iteration-1/{run}/{file}"), text);
    }
    let said = workspace.run(&["report", "evals/changelog"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
    let names = "name one of those below it: workspace/claude/iteration-1, workspace/codex/iteration-1";
    assert!(said.stderr.contains("is no iteration") && said.stderr.contains(names), "{said:#?}");
}

#[test]
fn what_the_forge_pipeline_alone_has_is_a_wrong_argument() {
    let workspace = sample(NAME);
    for folder in [CHANGELOG, "evals"] {
        for arguments in [&["--format", "upstream-json"][..], &["--previous", "auto"]] {
            let said = workspace.run(&[&["report", folder], arguments].concat());
            assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{folder} {arguments:?}: {said:#?}");
            assert!(said.stderr.contains(&format!("{} ", arguments[0])), "{said:#?}");
            assert!(said.stderr.contains("is for iterations of the forge pipeline"), "{said:#?}");
        }
    }
}

#[test]
fn a_broken_benchmark_is_told_with_its_place() {
    let workspace = sample(NAME);
    // the second comma of line 3 is its fourteenth character
    workspace.write(&format!("{CHANGELOG}/benchmark.json"), "{\n  \"a\": 1,\n  \"é\": [1, 2,, 3]\n}");
    let said = workspace.run(&["report", CHANGELOG]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    let place = format!("FAIL: {CHANGELOG}/benchmark.json: line 3, column 14: ");
    assert!(said.stderr.starts_with(&place), "{said:#?}");
}

#[test]
fn both_lifts_are_shown_by_their_names() {
    let workspace = sample(NAME);
    let own = report(&workspace, CHANGELOG)["skill_lift"].clone();
    let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-12;
    // E01: 1 and 2/4, its assertion 4 was left out without the skill; E02: 3/4 and 0; E03: 1/3 and 2/3
    let runner = (0.5 + 0.75 - 1.0 / 3.0) / 3.0;
    let complete = (0.75 - 1.0 / 3.0) / 2.0;
    assert!(close(&own["lift_runner_rule"], runner) && close(&own["runner_rule"]["lift"], runner), "{own:#}");
    assert!(close(&own["lift_complete_verdicts"], complete) && close(&own["lift"], complete), "{own:#}");
    assert_eq!(own["runner_rule"]["paired_evals"], json!(["E01", "E02", "E03"]));
    assert_eq!(own["runner_rule"]["unpaired_evals"], json!([]));
    // 11/12 over 3 is the sum of +, + and −; of the eight patterns of signs (3/6, 9/12, 4/12) four are as far from 0
    assert_eq!(own["runner_rule"]["test"]["p_two_sided"], json!(0.5));
    // they are what benchmark shows
    for (evidence, expected) in [("report", runner), ("strict", complete)] {
        let said = workspace.run(&["benchmark", CHANGELOG, "--format", "json", "--evidence", evidence]);
        let shown = said.json()["inference"]["overall"]["estimate"].clone();
        assert!(close(&shown, expected), "{evidence}: {shown}");
    }
    let text = workspace.run(&["report", CHANGELOG]).stdout;
    let place = |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
    let parts = [
        "### By the runner's own rule\n",
        "- Lift: +30.6\u{a0}pp over 3 evals\n",
        "p = 0.50",
        "### With complete verdicts only\n",
        "- Lift: +20.8\u{a0}pp over 2 evals\n",
        "- Left out: E01 (without_skill: incomplete verdicts)\n",
    ];
    let places = parts.map(|part| place(&text, part));
    assert!(places.is_sorted(), "{places:?}");
    // one number where both rules agree
    let workspace = sample("relnotes-codex");
    let iteration = "evals/relnotes/workspace/codex/iteration-2";
    let text = workspace.run(&["report", iteration]).stdout;
    assert!(text.contains("here the lift is the same with complete verdicts only") && !text.contains("###"), "{text}");
    let own = report(&workspace, iteration)["skill_lift"].clone();
    assert_eq!(own["lift_runner_rule"], own["lift_complete_verdicts"]);
}
