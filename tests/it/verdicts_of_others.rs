//! What the verdicts of other tools say, and what a reader could take them for: numbers that only a look at the files
//! shows to be wrong.

use serde_json::{Value, json};

use crate::support::{Said, Workspace, run_in};

/// A file of verdicts on the assertions `t0`, `t1` and so on, with more of its keys.
fn graded(passed: &[bool], more: &Value) -> String {
    let entry = |(index, passed): (usize, &bool)| json!({"text": format!("t{index}"), "passed": passed});
    let mut file = json!({"expectations": passed.iter().enumerate().map(entry).collect::<Vec<_>>()});
    file.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    file.to_string()
}

fn grading(passed: &[bool]) -> String {
    graded(passed, &Value::Null)
}

/// Files below `w`.
fn workspace(files: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new();
    for (path, text) in files {
        workspace.write(&format!("w/{path}"), text);
    }
    workspace
}

/// An eval with a run of each arm: the skill passes, the baseline fails.
fn eval(workspace: &Workspace, path: &str) {
    workspace.write(&format!("w/{path}/with_skill/grading.json"), grading(&[true]));
    workspace.write(&format!("w/{path}/without_skill/grading.json"), grading(&[false]));
}

fn benchmark(workspace: &Workspace, path: &str, flags: &[&str]) -> (Value, Said) {
    let said = workspace.run(&[&["benchmark", path, "--format", "json"], flags].concat());
    assert_eq!(said.code, 0, "{said:#?}");
    (said.json(), said)
}

/// Case, arm and directory of each run.
fn runs(report: &Value) -> Vec<[&str; 3]> {
    let rows = report["results"].as_array().unwrap();
    rows.iter().map(|row| ["case_id", "variant", "run_dir"].map(|key| row[key].as_str().unwrap())).collect()
}

/// The assertion of each verdict of the first run, the verdict, and how they were joined.
fn verdicts(report: &Value) -> Vec<(&str, bool, Option<&str>)> {
    let rows = report["results"][0]["assertions"].as_array().unwrap();
    let row = |row| {
        let row: &Value = row;
        (row["name"].as_str().unwrap(), row["passed"].as_bool().unwrap(), row["recorded"]["joined"].as_str())
    };
    rows.iter().map(row).collect()
}

/// The report of one run whose eval has these assertions.
fn joined(assertions: &Value, entries: &Value) -> Value {
    let metadata = json!({"eval_id": 1, "prompt": "p", "assertions": assertions}).to_string();
    let verdicts = json!({"expectations": entries}).to_string();
    let files = [("eval-1/eval_metadata.json", &*metadata), ("eval-1/with_skill/grading.json", &*verdicts)];
    benchmark(&workspace(&files), "w", &[]).0
}

#[test]
fn a_verdict_that_names_an_assertion_is_not_about_the_one_at_its_place() {
    let weighted = json!([{"text": "A", "weight": 1}, {"text": "B", "weight": 9}]);
    let report = joined(&weighted, &json!([{"text": "A", "passed": true}, {"text": "A", "passed": false}]));
    assert_eq!(verdicts(&report), [("A", true, Some("text")), ("A", false, None)]);
    let stored = &report["results"][0]["stored"];
    // the second verdict is about no assertion and weighs 1; as one about B it would make 1 of 10
    assert_eq!(stored["weighted_pass_rate"], 0.5);
    assert_eq!(stored["missing_assertions"], json!(["B"]));
    assert_eq!(report["stored_verdicts"]["joined"], json!({"none": 1, "text": 1}));
    assert_eq!(report["stored_verdicts"]["flags"]["unknown_assertions"], 1);

    let numbered = json!([{"id": 1, "text": "A"}, {"id": 2, "text": "B"}]);
    let report =
        joined(&numbered, &json!([{"id": 1, "text": "A", "passed": true}, {"id": 3, "text": "x", "passed": false}]));
    assert_eq!(verdicts(&report), [("1", true, Some("id")), ("x", false, None)]);

    // what is only reworded still goes by its place
    let report =
        joined(&json!(["A", "B"]), &json!([{"text": "A", "passed": true}, {"text": "b, it is", "passed": false}]));
    assert_eq!(verdicts(&report), [("A", true, Some("text")), ("B", false, Some("position"))]);
}

#[test]
fn weights_that_overflow_when_they_are_added_still_weigh() {
    let heavy = json!([{"text": "A", "weight": 1e308}, {"text": "B", "weight": 1e308}]);
    let report = joined(&heavy, &json!([{"text": "A", "passed": true}, {"text": "B", "passed": false}]));
    assert_eq!(report["results"][0]["stored"]["weighted_pass_rate"], 0.5);
}

/// The warnings about a baseline that did this, where the suite has these paths of the skill `pdf`.
fn contaminated(skill_path: &str, event: &Value) -> usize {
    let workspace = Workspace::new();
    let suite = json!({"version": 2, "skill_name": "pdf", "skill_paths": [skill_path], "cases": [
        {"id": "c", "split": "tune", "prompt": "Do it.", "assertions": [{"name": "y", "type": "contains", "value": "yes"}]},
    ]});
    workspace.write("evals/shared-benchmark.json", suite.to_string());
    workspace.write(skill_path, "---\nname: pdf\ndescription: d\n---\n");
    workspace.write("runs/c/with_skill/output.md", "yes");
    workspace.write("runs/c/without_skill/output.md", "no");
    let events = json!({"schema_version": 2, "source": "claude", "events": [event]});
    workspace.write("runs/c/without_skill/events.json", events.to_string());
    let said = workspace.run(&["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--format", "json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    let blocked = said.json()["inference"]["overall"]["estimate"].is_null();
    let warned = said.lines("WARN baseline_contaminated").len();
    assert_eq!(blocked, warned > 0, "{said:#?}");
    warned
}

fn read(path: &str) -> Value {
    json!({"type": "file_read", "name": "Read", "status": "completed", "input_summary": path, "path": path})
}

fn load(name: &str) -> Value {
    json!({"type": "skill_load", "name": name, "status": "completed", "input_summary": name})
}

#[test]
fn a_baseline_is_contaminated_by_the_skill_and_not_by_what_is_named_alike() {
    let skill = "skills/pdf/SKILL.md";
    let command =
        |command: &str| json!({"type": "command", "name": "Bash", "status": "completed", "input_summary": command});
    for (path, event) in [
        (skill, read("skills/pdf/SKILL.md")),
        (skill, read("/home/me/.claude/skills/pdf/reference/forms.md")),
        (skill, command("cat ./skills/pdf/SKILL.md | head")),
        (skill, read("/repo/evals/shared-benchmark.json")),
        (skill, load("pdf")),
        ("./skills/pdf/SKILL.md", read("skills/pdf/SKILL.md")),
        ("SKILL.md", read("./SKILL.md")),
    ] {
        assert_eq!(contaminated(path, &event), 1, "{path}: {event}");
    }
    for (path, event) in [
        ("SKILL.md", read("/home/me/.claude/skills/other/SKILL.md")),
        (skill, read("my-skills/pdf/notes.md")),
        (skill, command("cat my-skills/pdf/notes.md")),
        (skill, read("data/my-shared-benchmark.json")),
        (skill, load("pdf-tools")),
    ] {
        assert_eq!(contaminated(path, &event), 0, "{path}: {event}");
    }
}

#[test]
fn a_baseline_whose_grader_says_that_the_skill_was_loaded_is_none() {
    let workspace = workspace(&[]);
    eval(&workspace, "eval-1");
    eval(&workspace, "eval-2");
    let loaded = graded(&[false], &json!({"skill_loaded": true}));
    workspace.write("w/eval-2/without_skill/grading.json", loaded);
    workspace.write("w/eval-2/with_skill/grading.json", grading(&[false]));
    let (report, said) = benchmark(&workspace, "w", &[]);
    // both cases: (1 + 0) / 2; without the one whose baseline had the skill: 1
    assert_eq!(report["paired_summary"]["absolute_delta"], 0.5);
    assert_eq!(report["inference"]["overall"]["estimate"], 1.0);
    assert_eq!(
        said.lines("WARN baseline_contaminated"),
        [
            "WARN baseline_contaminated: eval-2/without_skill/grading.json: a run without the skill: the grader says that the skill was loaded"
        ]
    );
}

#[test]
fn the_lift_of_loaded_pairs_is_the_mean_that_the_headline_is() {
    let workspace = workspace(&[]);
    let (pass, fail) = (graded(&[true], &json!({"skill_loaded": true})), grading(&[false]));
    let failed = graded(&[false], &json!({"skill_loaded": true}));
    for run in 1..=3 {
        workspace.write(&format!("w/eval-1/a_with_skill/run-{run}/grading.json"), &pass);
        workspace.write(&format!("w/eval-1/a_without_skill/run-{run}/grading.json"), &fail);
    }
    workspace.write("w/eval-1/b_with_skill/run-1/grading.json", &failed);
    workspace.write("w/eval-1/b_without_skill/run-1/grading.json", &fail);
    let not_loaded = graded(&[true], &json!({"skill_loaded": false}));
    workspace.write("w/eval-2/a_with_skill/run-1/grading.json", not_loaded);
    workspace.write("w/eval-2/a_without_skill/run-1/grading.json", &fail);
    let (report, _) = benchmark(&workspace, "w", &[]);
    // eval-1: model a 1, model b 0, so 0.5; eval-2: 1
    assert_eq!(report["inference"]["overall"]["estimate"], 0.75);
    // eval-1 alone; over its four pairs it would be 0.75
    let loaded = &report["inference"]["sanity"]["lift_of_loaded_pairs"];
    assert_eq!(loaded, &json!({"n_units": 1, "n_pairs": 4, "estimate": 0.5}));
}

#[test]
fn what_an_arm_takes_is_the_mean_of_its_scored_runs() {
    let one = grading(&[true]);
    let report = benchmark(
        &workspace(&[
            ("eval-1/with_skill/run-1/grading.json", &one),
            ("eval-1/with_skill/run-1/timing.json", r#"{"duration_ms": 1000, "total_tokens": 100}"#),
            ("eval-1/with_skill/run-2/grading.json", &one),
            ("eval-1/with_skill/run-2/timing.json", r#"{"duration_ms": 600000, "total_tokens": 9, "timed_out": true}"#),
        ]),
        "w",
        &[],
    )
    .0;
    assert_eq!(report["results"][1]["unscored_reasons"], json!(["timed_out"]));
    let expected = json!({
        "runs_with_tokens": 1, "mean_total_tokens": 100.0, "runs_with_duration": 1, "mean_duration_ms": 1000.0,
    });
    assert_eq!(report["stored_verdicts"]["telemetry"]["with_skill"], expected);
}

#[test]
fn a_run_that_was_dropped_is_counted_nowhere() {
    let run = |passed: &[bool]| serde_json::from_str::<Value>(&graded(passed, &json!({"run": 1}))).unwrap();
    let twice = json!({"runs": [run(&[true, true]), run(&[false, false])]}).to_string();
    let other = grading(&[true, false]);
    let workspace =
        workspace(&[("eval-1/with_skill/grading.json", &twice), ("eval-1/without_skill/grading.json", &other)]);
    assert_eq!(workspace.run(&["benchmark", "w"]).code, 1);
    let (report, _) = benchmark(&workspace, "w", &["--on-duplicate", "last"]);
    assert_eq!(report["results"].as_array().unwrap().len(), 2);
    // what is left: false, false; true, false
    let stored = &report["stored_verdicts"];
    assert_eq!((&stored["passed"], &stored["failed"]), (&json!(1), &json!(3)));
    assert_eq!(stored["layouts"], json!({"L2": 1, "L7": 1}));
}

#[test]
fn a_run_that_replaces_one_of_another_folder_replaces_it_wherever_it_comes() {
    let numbered =
        |run: u8, passed: bool| serde_json::from_str::<Value>(&graded(&[passed], &json!({"run": run}))).unwrap();
    let first = json!({"runs": [numbered(1, false), numbered(2, false)]}).to_string();
    let second = json!({"runs": [numbered(1, true), numbered(2, true)]}).to_string();
    let files = [("eval-1/with_skill (a)/grading.json", &*first), ("eval-1/with_skill (b)/grading.json", &*second)];
    let (report, _) = benchmark(&workspace(&files), "w", &["--on-duplicate", "last"]);
    let folder = "eval-1/with_skill (b)";
    assert_eq!(runs(&report), [["eval-1", "with_skill", folder], ["eval-1", "with_skill", folder]]);
    assert_eq!((&report["stored_verdicts"]["passed"], &report["stored_verdicts"]["failed"]), (&json!(2), &json!(0)));
}

#[test]
fn a_batch_of_large_files_gives_the_same_report_with_any_number_of_threads() {
    let workspace = workspace(&[]);
    // three files of 13 MiB do not fit into one batch
    let evidence = "e".repeat(13 * 1024 * 1024);
    for run in 1..=3 {
        let entries = json!([{"text": "t0", "passed": run != 2, "evidence": evidence}, {"text": "t1", "passed": true}]);
        let file = json!({"expectations": entries}).to_string();
        workspace.write(&format!("w/eval-1/with_skill/run-{run}/grading.json"), file);
        workspace.write(&format!("w/eval-1/without_skill/run-{run}/grading.json"), grading(&[false, true]));
    }
    let reports = ["1", "2", "8"].map(|threads| {
        let said = run_in(workspace.path(), &["benchmark", "w", "--format", "json"], &[("RAYON_NUM_THREADS", threads)]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        said.stdout
    });
    assert_eq!(reports[0], reports[1]);
    assert_eq!(reports[0], reports[2]);
    let report: Value = serde_json::from_str(&reports[0]).unwrap();
    let rates: Vec<_> =
        report["results"].as_array().unwrap().iter().map(|row| row["objective_pass_rate"].as_f64().unwrap()).collect();
    assert_eq!(rates, [1.0, 0.5, 1.0, 0.5, 0.5, 0.5]);
}

#[test]
fn the_latest_of_many_iterations_is_read() {
    let workspace = workspace(&[]);
    for number in 1..=30 {
        eval(&workspace, &format!("iteration-{number}/eval-1"));
    }
    let (_, said) = benchmark(&workspace, "w", &[]);
    let expected =
        "WARN other_iterations: iteration-30 is read, the latest of 30 iterations; name another one to read it";
    assert_eq!(said.lines("WARN"), [expected]);
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_not_followed_and_named() {
    use std::os::unix::fs::symlink;

    let workspace = workspace(&[]);
    eval(&workspace, "eval-1");
    eval(&workspace, "eval-3");
    let place = |path: &str| workspace.path().join("w").join(path);
    symlink("eval-1", place("eval-2")).unwrap();
    symlink("../eval-1/with_skill", place("eval-3/claude_with_skill")).unwrap();
    symlink("../with_skill", place("eval-3/with_skill/run-1")).unwrap();
    let (report, said) = benchmark(&workspace, "w", &[]);
    assert_eq!(
        runs(&report),
        [
            ["eval-1", "with_skill", "eval-1/with_skill"],
            ["eval-1", "without_skill", "eval-1/without_skill"],
            ["eval-3", "with_skill", "eval-3/with_skill"],
            ["eval-3", "without_skill", "eval-3/without_skill"],
        ]
    );
    let refused: Vec<_> = ["eval-2", "eval-3/claude_with_skill", "eval-3/with_skill/run-1"]
        .iter()
        .map(|path| {
            format!("WARN link_refused: {path}: a link to a folder, or one that leads out of the workspace; it is not followed")
        })
        .collect();
    assert_eq!(said.lines("WARN link_refused"), refused);

    // a folder of runs elsewhere is read when it is named, and not when it is found
    std::fs::create_dir(workspace.path().join("found")).unwrap();
    symlink("../w", workspace.path().join("found/runs")).unwrap();
    let said = workspace.run(&["benchmark", "found"]);
    assert_eq!(said.code, 1);
    assert!(said.lines("FAIL:")[0].contains("; not looked into: runs: a link to a folder"), "{said:#?}");
    assert_eq!(runs(&benchmark(&workspace, "found/runs", &[]).0), runs(&report));
}

#[test]
fn metadata_above_the_evals_makes_no_eval_of_their_folder() {
    let workspace = workspace(&[]);
    workspace.write("w/iteration-1/eval_metadata.json", r#"{"eval_id": 7, "prompt": "p", "assertions": ["t0"]}"#);
    eval(&workspace, "iteration-1/draft");
    let (report, _) = benchmark(&workspace, "w", &[]);
    assert_eq!(
        runs(&report),
        [["eval-7", "with_skill", "draft/with_skill"], ["eval-7", "without_skill", "draft/without_skill"]]
    );
    assert_eq!(report["inference"]["overall"]["estimate"], 1.0);
}

#[test]
fn a_folder_that_cannot_be_looked_into_does_not_refuse_its_neighbours() {
    let workspace = workspace(&[]);
    for number in 0..30 {
        workspace.write(&format!("w/cache/{number}"), "");
    }
    let small = ["--max-dir-entries", "20"];
    let said = workspace.run(&[&["benchmark", "w"], &small[..]].concat());
    assert_eq!(said.code, 1);
    let [line] = said.lines("FAIL:")[..] else { panic!("{said:#?}") };
    let reason = "cache: more than 20 entries (--max-dir-entries); it is passed over";
    assert!(line.ends_with(&format!("; not looked into: {reason}")), "{line}");
    eval(&workspace, "eval-1");
    let (report, said) = benchmark(&workspace, "w", &small);
    assert_eq!(report["inference"]["overall"]["estimate"], 1.0);
    assert_eq!(said.lines("WARN"), [format!("WARN folder_passed_over: {reason}")]);
}

#[test]
fn the_commands_of_a_diagnosis_can_be_pasted() {
    let workspace = Workspace::new();
    workspace.write("it's here/eval-1/with_skill/grading.json", grading(&[true]));
    workspace.write("it's here/eval-1/without_skill/grading.json", grading(&[false]));
    let said = workspace.run(&["doctor", "it's here", "--format", "json"]);
    assert_eq!(said.json()["next"], json!([r"skill-lift benchmark 'it'\''s here'"]));
}

#[test]
fn a_folder_of_very_many_folders_is_listed_from_the_first_in_any_order_of_the_system() {
    let workspace = Workspace::new();
    // written from the last to the first; the folder itself and 2,000 below it are looked into
    for number in (1..=2_100).rev() {
        std::fs::create_dir_all(workspace.path().join(format!("w/f{number}"))).unwrap();
    }
    for number in [1, 1_999, 2_000, 2_001, 2_100] {
        workspace
            .write(&format!("w/f{number}/evals.json"), r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "p"}]}"#);
    }
    let said = workspace.run(&["doctor", "w", "--format", "json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    let report = said.json();
    let paths: Vec<&str> =
        report["folder"]["suites"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(paths, ["w/f1/evals.json", "w/f1999/evals.json"]);
}

/// What cannot be read is not taken for innocence.
#[test]
fn events_that_cannot_be_read_are_named_where_they_could_tell_of_the_skill() {
    let workspace = Workspace::with_cases(&["c"]);
    workspace.write("runs/c/with_skill/output.md", "yes");
    workspace.write("runs/c/without_skill/output.md", "no");
    workspace.write("runs/c/without_skill/events.json", r#"{"events": [{"type": "skill_load", "name": "demo"},"#);
    let said = workspace.on_runs("benchmark", &[]);
    let warnings = said.lines("WARN sidecar_unreadable");
    assert_eq!((said.code, warnings.len()), (0, 1), "{said:#?}");
    assert!(warnings[0].ends_with("whether this run without the skill had it is not known"), "{warnings:?}");
}
