//! A small tree with judgements, from the suite file to rows, tasks and grading files.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Evaluated, EvaluationError, Products, Request, RunsSource, evaluate};
use crate::grade::GradeOptions;
use crate::judge::Verdicts;
use crate::report::RowArray;
use crate::runs::IndexOptions;
use crate::suite::{LoadOptions, load};

struct Tree {
    root: tempfile::TempDir,
}

impl Tree {
    /// A suite of one case and the files of a run tree.
    fn new(case: Value, files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let suite = json!({
            "version": 2,
            "skill_name": "demo",
            "skill_paths": ["SKILL.md"],
            "variants": ["with_skill"],
            "cases": [case],
        });
        let tree = Self { root };
        tree.put("evals/shared-benchmark.json", &suite.to_string());
        tree.put("SKILL.md", "# Demo\n");
        for (path, text) in files {
            tree.put(path, text);
        }
        tree
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What comes of the tree, and its rows.
    fn evaluate(&self, verdicts: &Verdicts) -> Result<(Evaluated, Vec<u8>), EvaluationError> {
        let suite = load(&self.root.path().join("evals/shared-benchmark.json"), &LoadOptions::default()).suite.unwrap();
        let request = Request {
            suite: &suite,
            runs: RunsSource::Tree(&self.root.path().join("runs")),
            split: None,
            variants: suite.variants.clone(),
            index: IndexOptions::default(),
            grade: GradeOptions::default(),
            verdicts,
            products: Products { judge_tasks: true, grading_files: true, ..Products::default() },
            progress: None,
        };
        let mut rows = RowArray::begin(Vec::new()).unwrap();
        let evaluated = evaluate(&request, &mut rows)?;
        Ok((evaluated, rows.end().unwrap()))
    }

    fn verdicts(&self, rows: &Value) -> Verdicts {
        self.put("verdicts.json", &rows.to_string());
        Verdicts::load(&self.root.path().join("verdicts.json"), 1 << 20).unwrap()
    }

    /// The first row, and the tasks.
    fn graded(&self, rows: &Value) -> (Value, Vec<Value>) {
        let (evaluated, report) = self.evaluate(&self.verdicts(rows)).unwrap();
        let mut tasks = Vec::new();
        evaluated.judge_tasks.unwrap().write(&mut tasks).unwrap();
        let tasks = String::from_utf8(tasks).unwrap();
        let tasks = tasks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (serde_json::from_slice::<Value>(&report).unwrap()[0].take(), tasks)
    }
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

const ANSWER: (&str, &str) = ("runs/c/with_skill/output.md", "the answer");

#[test]
fn a_judgement_is_a_task_until_a_verdict_comes() {
    let case = json!({
        "id": "c", "split": "tune", "prompt_ref": "prompt.md", "expected_behavior": ["b"],
        "assertions": [{"type": "judge", "name": "q", "rubric": ["r"], "only_variants": ["with_skill"]}],
    });
    let tree = Tree::new(case, &[ANSWER, ("evals/prompt.md", "Do\r\nit.")]);
    let (row, tasks) = tree.graded(&json!([]));
    assert_eq!(
        (row["deferred_judge_tasks"].as_u64(), row["grading_availability"].as_str()),
        (Some(1), Some("partial"))
    );
    assert_eq!(row["qualitative_assertions"], json!([]));
    let [task] = tasks.as_slice() else { panic!("{tasks:?}") };
    assert_eq!(
        keys(task),
        [
            "judge_task_id",
            "case_id",
            "variant",
            "run_number",
            "assertion",
            "output_path",
            "run_base",
            "prompt",
            "prompt_ref",
            "expected_behavior",
            "review_rubric",
            "blind_id",
            "judge_prompt",
        ]
    );
    assert_eq!((&task["judge_task_id"], &task["prompt"]), (&json!("c::with_skill::run-1::q"), &json!("Do\nit.")));
    assert!(task["output_path"].as_str().unwrap().ends_with("runs/c/with_skill/output.md"));
    let prompt = task["judge_prompt"].as_str().unwrap();
    assert!(prompt.contains("the answer") && prompt.contains(task["blind_id"].as_str().unwrap()));
    assert!(!prompt.contains("with_skill"));

    // the same judge, but it crashed
    let failed = json!([{"judge_task_id": "c::with_skill::run-1::q", "passed": false, "returncode": 1}]);
    let (row, tasks) = tree.graded(&failed);
    assert_eq!((row["deferred_judge_tasks"].as_u64(), tasks.len()), (Some(1), 1));

    let given = json!([{"judge_task_id": "c::with_skill::run-1::q", "score": 4, "threshold": 3, "rationale": "good"}]);
    let (row, tasks) = tree.graded(&given);
    assert_eq!(tasks, Vec::<Value>::new());
    let judged = &row["qualitative_assertions"][0];
    let expected = [
        "name",
        "type",
        "judge_task_id",
        "passed",
        "score",
        "evidence",
        "severity",
        "oracle",
        "score_scale",
        "availability",
        "one_arm",
    ];
    assert_eq!(keys(judged), expected);
    assert_eq!((&judged["passed"], &judged["score"], &judged["evidence"]), (&json!(true), &json!(4.0), &json!("good")));
    assert_eq!((&row["graded_score"], &row["soft_passed"]), (&json!(0.75), &json!(1)));
}

#[test]
fn what_depends_on_a_judgement_waits_for_it() {
    let case = json!({
        "id": "c", "split": "tune", "prompt": "p",
        "assertions": [
            {"type": "factuality", "description": "grounded", "severity": "gate"},
            {"type": "contains", "name": "has", "value": "answer", "depends_on": "grounded"},
            {"type": "judge", "name": "last", "rubric": ["r"], "depends_on": "has"},
        ],
    });
    let tree = Tree::new(case, &[ANSWER]);
    let (row, tasks) = tree.graded(&json!([]));
    // what nobody has judged does not block
    assert_eq!((row["skipped_total"].as_u64(), tasks.len()), (Some(0), 2));
    assert_eq!(row["assertions"][0]["passed"], json!(true));

    let failed = json!([
        {"judge_task_id": "c::with_skill::run-1::factuality", "passed": false},
        {"judge_task_id": "c::with_skill::run-1::last", "passed": true},
        {"judge_task_id": "c::without_skill::run-1::last", "passed": true},
    ]);
    let (row, tasks) = tree.graded(&failed);
    assert_eq!((row["skipped_total"].as_u64(), tasks.len()), (Some(2), 0));
    assert_eq!(row["assertions"][0]["skip_reason"], json!("prerequisite 'factuality' not satisfied"));
    assert_eq!(row["qualitative_assertions"][1]["skip_reason"], json!("prerequisite 'has' not satisfied"));
    assert_eq!((&row["objective_total"], &row["qualitative_total"]), (&json!(0), &json!(1)));
    let verdicts = tree.verdicts(&failed);
    tree.evaluate(&verdicts).unwrap();
    // a verdict that a skipped check does not need is not a stray one
    assert_eq!(verdicts.unmatched(), ["c::without_skill::run-1::last"]);
}

#[test]
fn a_verdict_that_does_not_fit_is_refused() {
    let dimensions = json!([{"name": "clarity", "rubric": "5 clear; 1 not"}]);
    let case = json!({
        "id": "c", "split": "tune", "prompt": "p",
        "assertions": [{"type": "judge", "name": "d", "graded_dimensions": dimensions}],
    });
    let tree = Tree::new(case, &[ANSWER]);
    let verdicts = tree.verdicts(
        &json!([{"judge_task_id": "c::with_skill::run-1::d", "dimension_scores": {"depth": 5}, "threshold": 0.5}]),
    );
    let error = tree.evaluate(&verdicts).unwrap_err().to_string();
    let expected = "judge results row 1 (c::with_skill::run-1::d): dimension_scores must exactly match the declared \
                    dimensions";
    assert_eq!(error, expected);
}

#[test]
fn turns_are_judged_with_what_was_said_before() {
    let judge = json!({"type": "judge", "name": "q", "rubric": ["r"]});
    let case = json!({
        "id": "c", "split": "tune",
        "turns": [{"prompt": "one", "assertions": []}, {"prompt": "two", "assertions": [judge]}],
        "assertions": [judge],
    });
    let files = [("runs/c/with_skill/turn-1/output.md", "first"), ("runs/c/with_skill/turn-2/outputs/a.txt", "second")];
    let (_, tasks) = Tree::new(case, &files).graded(&json!([]));
    let [whole, turn] = tasks.as_slice() else { panic!("{tasks:?}") };
    let said = json!([{"turn": 1, "prompt": "one", "assistant_output": "first"}, {"turn": 2, "prompt": "two"}]);
    for task in [whole, turn] {
        assert_eq!(task["conversation"], said);
        // no single file holds the answer
        assert_eq!(task["output_text"], json!("--- outputs/a.txt ---\nsecond"));
    }
    assert_eq!((&whole["prompt"], &turn["prompt"]), (&json!("one"), &json!("two")));
    assert_eq!(turn["judge_task_id"], json!("c::with_skill::run-1::turn-2: q"));
    assert_eq!(turn["assertion"]["name"], json!("turn-2: q"));
    assert!(whole["output_path"].as_str().unwrap().ends_with("runs/c/with_skill/output.md"));
    assert!(turn["output_path"].as_str().unwrap().ends_with("runs/c/with_skill/turn-2/outputs"));
    assert!(turn["run_base"].as_str().unwrap().ends_with("runs/c/with_skill/turn-2"));
}

#[test]
fn runs_that_are_not_scored_have_no_tasks_and_missing_ones_no_files() {
    let case = json!({
        "id": "c", "split": "tune", "prompt": "p",
        "assertions": [{"type": "judge", "name": "q", "rubric": ["r"]}, {"type": "contains", "value": "y"}],
    });
    let tree = Tree::new(case.clone(), &[("runs/c/with_skill/output.md", "[CLAUDE FAILURE: x]")]);
    let (row, tasks) = tree.graded(&json!([{"id": "c::with_skill::run-1::q", "passed": true}]));
    assert_eq!((row["deferred_judge_tasks"].as_u64(), tasks.len()), (Some(0), 0));
    assert_eq!(row["qualitative_assertions"], json!([]));
    let written = |tree: &Tree| {
        let files = tree.evaluate(&Verdicts::default()).unwrap().0.grading_files.unwrap();
        files.write(&tree.root.path().join("runs")).unwrap().written
    };
    assert_eq!(written(&tree), 1);
    let file: Value = read_json(&tree.root.path().join("runs/c/with_skill/grading.json"));
    assert_eq!(
        keys(&file),
        [
            "expectations",
            "summary",
            "execution_metrics",
            "telemetry",
            "timing",
            "claims",
            "user_notes_summary",
            "eval_feedback"
        ]
    );
    assert_eq!(file["expectations"][0]["text"], json!("contains"));
    assert_eq!(file["summary"], json!({"passed": 0, "failed": 1, "total": 1, "pass_rate": 0.0}));

    let missing = Tree::new(case, &[("runs/other/with_skill/output.md", "x")]);
    assert_eq!(written(&missing), 0);
    assert!(!missing.root.path().join("runs/c").exists());
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
