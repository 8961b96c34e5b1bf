//! Whether runs look like independent trials that were made alike: when the arms ran, answers that repeat each other, the
//! baseline against itself; and what follows for the verdict and the within-case test, also from a saved report.

use serde_json::{Value, json};

use crate::support::{Workspace, repository, run_in};

/// Cases with runs: an answer and, if it is known, the minute in which it began, for each run of both arms.
fn workspace(cases: &[(&str, &[Run<'_>], &[Run<'_>])]) -> Workspace {
    let ids: Vec<&str> = cases.iter().map(|(id, ..)| *id).collect();
    let workspace = Workspace::with_cases(&ids);
    for (id, with, without) in cases {
        for (arm, runs) in [("with_skill", with), ("without_skill", without)] {
            for (at, (answer, minute)) in runs.iter().enumerate() {
                let run = format!("runs/{id}/{arm}/run-{}", at + 1);
                workspace.write(&format!("{run}/output.md"), answer);
                if let Some(minute) = minute {
                    let started = json!({"started_at": format!("2026-03-01T10:{minute:02}:00Z")});
                    workspace.write(&format!("{run}/timing.json"), started.to_string());
                }
            }
        }
    }
    workspace
}

type Run<'a> = (&'a str, Option<u32>);

fn report(workspace: &Workspace) -> Value {
    workspace.on_runs("benchmark", &["--quiet", "--format", "json"]).json()
}

/// The status of each question: when the arms ran, answers, the baseline against itself.
fn statuses(report: &Value) -> [&str; 3] {
    ["arms_interleaved", "repeated_answers", "baseline_split"]
        .map(|part| report["inference"]["independence"][part]["status"].as_str().unwrap())
}

fn within_case(report: &Value) -> &Value {
    &report["inference"]["overall"]["within_case_test"]
}

fn qualifiers(report: &Value) -> &Value {
    &report["inference"]["overall"]["verdict"]["qualifiers"]
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn arms_that_ran_one_behind_the_other_withhold_the_within_case_test() {
    let with: &[Run<'_>] = &[("yes 1", Some(0)), ("yes 2", Some(1))];
    let without: &[Run<'_>] = &[("no 1", Some(30)), ("no 2", Some(31))];
    let workspace = workspace(&[("a", with, without), ("b", with, without)]);
    let made = report(&workspace);
    let order = &made["inference"]["independence"]["arms_interleaved"];
    // all 16 meetings of a run with the skill and one without: the one with the skill began first
    assert_eq!(
        order,
        &json!({"status": "review", "runs": 8, "timed_runs": 8, "models": [{"model": null, "with_skill_first": 1.0}]})
    );
    assert_eq!(within_case(&made)["reason"], "runs_not_independent");
    assert_eq!(within_case(&made)["p_two_sided"], Value::Null);
    for case in made["inference"]["by_case"].as_array().unwrap() {
        assert_eq!(case["within_case_test"]["reason"], "runs_not_independent");
        assert_eq!((&case["class"], &case["change"]), (&json!("inconclusive"), &json!("improved")));
    }
    assert_eq!(
        qualifiers(&made)[0],
        json!({"code": "arms_not_interleaved", "args": {"models": [], "models_timed": 1}})
    );

    // the same sentence everywhere, also from the saved report, which has no moments of its own
    let sentence = "The arms were not interleaved: the runs of one arm were made before the others. What else changed in \
                    between counts as an effect of the skill.";
    let table = workspace.on_runs("benchmark", &["--quiet", "--format", "table"]).stdout;
    assert!(words(&table).contains(sentence), "{table}");
    assert_eq!(workspace.on_runs("benchmark", &["--quiet", "--out", "report.json", "--review", "page.html"]).code, 0);
    for format in ["markdown", "github"] {
        let said = workspace.run(&["report", "--benchmark", "report.json", "--format", format]);
        assert!(words(&said.stdout).contains(sentence), "{}", said.stdout);
    }
    let page = std::fs::read_to_string(workspace.path().join("page.html")).unwrap();
    assert!(words(&page).contains(sentence));
    assert_eq!(workspace.run(&["verify", "report.json", "--runs", "runs"]).code, 0);
}

#[test]
fn arms_that_took_turns_are_interleaved() {
    let workspace = workspace(&[
        ("a", &[("yes 1", Some(0)), ("yes 2", Some(2))], &[("no 1", Some(1)), ("no 2", Some(3))]),
        ("b", &[("yes 1", Some(4)), ("yes 2", Some(6))], &[("no 1", Some(5)), ("no 2", Some(6))]),
    ]);
    let made = report(&workspace);
    assert_eq!(statuses(&made), ["ok", "ok", "ok"]);
    // with at 0, 2, 4, 6 and without at 1, 3, 5, 6: 4 + 3 + 2 meetings with the skill first, one at the same moment
    let order = &made["inference"]["independence"]["arms_interleaved"]["models"];
    assert_eq!(order, &json!([{"model": null, "with_skill_first": 9.5 / 16.0}]));
    // of the 6² ways to deal the labels in both cases 2 are as extreme: all with the skill pass, or none
    assert_eq!(within_case(&made)["p_two_sided"], 2.0 / 36.0);
    assert_eq!(qualifiers(&made), &json!([]));
}

#[test]
fn one_model_whose_arms_ran_apart_is_named() {
    let workspace = Workspace::with_cases(&["a"]);
    for (model, shift) in [("calm", 1), ("late", 30)] {
        for (arm, offset) in [("with_skill", 0), ("without_skill", shift)] {
            for run in 1..=2 {
                let place = format!("runs/a/{model}/{arm}/run-{run}");
                workspace.write(&format!("{place}/output.md"), format!("yes {model} {arm} {run}"));
                let started = json!({"started_at": format!("2026-03-01T10:{:02}:00Z", 2 * run + offset)});
                workspace.write(&format!("{place}/metadata.json"), started.to_string());
            }
        }
    }
    let made = report(&workspace);
    // calm: with at 2 and 4, without at 3 and 5
    let models = &made["inference"]["independence"]["arms_interleaved"]["models"];
    assert_eq!(
        models,
        &json!([{"model": "calm", "with_skill_first": 0.75}, {"model": "late", "with_skill_first": 1.0}])
    );
    let args = json!({"models": ["late"], "models_timed": 2});
    assert_eq!(qualifiers(&made)[0], json!({"code": "arms_not_interleaved", "args": args}));
    let table = workspace.on_runs("benchmark", &["--quiet", "--format", "table"]).stdout;
    assert!(words(&table).contains("late's runs of one arm were made before the others."), "{table}");
}

#[test]
fn what_nobody_recorded_is_not_known() {
    let workspace =
        workspace(&[("a", &[("yes 1", Some(0)), ("yes 2", None)], &[("no 1", Some(30)), ("no 2", Some(31))])]);
    let made = report(&workspace);
    assert_eq!(statuses(&made), ["unknown", "ok", "ok"]);
    let order = &made["inference"]["independence"]["arms_interleaved"];
    assert_eq!((&order["runs"], &order["timed_runs"], &order["models"]), (&json!(4), &json!(3), &json!([])));
    assert_eq!(qualifiers(&made), &json!([]));
    assert!(within_case(&made).get("reason").is_none());
}

#[test]
fn an_answer_that_repeats_another_one_while_others_differ_is_a_sign() {
    let copied: &[Run<'_>] = &[("yes 1", None), ("yes 1", None), ("yes 2", None)];
    // one and the same answer each time: a model without chance, no copy
    let steady: &[Run<'_>] = &[("no", None), ("no", None), ("no", None)];
    let fresh: &[Run<'_>] = &[("yes 1", None), ("yes 2", None), ("yes 3", None)];
    let workspace = workspace(&[("a", copied, steady), ("b", fresh, steady)]);
    let made = report(&workspace);
    let answers = &made["inference"]["independence"]["repeated_answers"];
    assert_eq!(answers, &json!({"status": "review", "runs": 12, "read_runs": 12, "cases": ["a"]}));
    assert_eq!(within_case(&made)["reason"], "runs_not_independent");
    let by_case = &made["inference"]["by_case"];
    assert_eq!(by_case[0]["within_case_test"]["reason"], "runs_not_independent");
    // 2 of the C(6, 3) = 20 ways to deal the labels
    assert_eq!(by_case[1]["within_case_test"]["p_two_sided"], 0.1);
}

#[test]
fn a_baseline_that_differs_from_itself_is_a_sign() {
    let answers: Vec<String> = (1..=10).map(|run| format!("{} {run}", ["yes", "no"][(run + 1) % 2])).collect();
    let without: Vec<Run<'_>> = answers.iter().map(|answer| (answer.as_str(), None)).collect();
    let made = report(&workspace(&[("a", &[("yes 1", None), ("yes 2", None)], &without)]));
    // odd repetitions pass, even ones fail: 2 of the C(10, 5) = 252 ways to halve ten runs
    let split = &made["inference"]["independence"]["baseline_split"];
    assert_eq!(split["p_two_sided"], 2.0 / 252.0);
    assert_eq!((&split["runs_odd"], &split["runs_even"]), (&json!(5), &json!(5)));
    assert_eq!(statuses(&made), ["unknown", "ok", "review"]);
    assert_eq!(within_case(&made)["reason"], "runs_not_independent");
    // one repetition an arm has no halves
    let made = report(&workspace(&[("a", &[("yes", None)], &[("no", None)])]));
    assert_eq!(made["inference"]["independence"]["baseline_split"]["reason"], "no_eligible_pairs");
    assert_eq!(statuses(&made)[2], "unknown");
}

#[test]
fn rows_of_a_dataset_without_a_family_are_said_to_count_as_independent() {
    let demo = repository("datasets/demo");
    let made = run_in(&demo, &["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--quiet"], &[]).json();
    let expected = json!({"code": "families_not_declared", "args": {"datasets": ["shifts"], "cases": 2}});
    assert_eq!(qualifiers(&made), &json!([expected]));

    let suite = |family: &[(&str, &str)]| {
        let workspace = Workspace::new();
        let assertion = json!({"name": "says-yes", "type": "contains", "value": "yes"});
        let mut case = json!({"id": "c", "split": "tune", "prompt": "Do {n}.", "template": "rows",
                              "assertions": [assertion]});
        for (key, value) in family {
            case[key] = json!(value);
        }
        workspace.suite(&json!({"datasets": {"rows": [{"n": 1}, {"n": 2}]}, "cases": [case]}));
        for case in ["c-1", "c-2"] {
            workspace.write(&format!("runs/{case}/with_skill/output.md"), "yes");
            workspace.write(&format!("runs/{case}/without_skill/output.md"), "no");
        }
        report(&workspace)
    };
    assert_eq!(qualifiers(&suite(&[]))[0]["code"], "families_not_declared");
    let declared = suite(&[("family", "rows")]);
    assert_eq!(declared["inference"]["overall"]["unit"], "family");
    assert_eq!(qualifiers(&declared), &json!([]));
}
