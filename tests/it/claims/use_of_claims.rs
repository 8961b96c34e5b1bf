//! What claims are for: a lift, a comparison of two files, a check against gradings, and our own reports read back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use skill_lift::runs::Role;
use skill_lift::runs::claims::{
    CellChange, ChangeKind, ClaimForm, Claims, ContradictionCode, Gradings, NoteCode, ReadOptions, check, compare,
    contrast, lift, read,
};
use skill_lift_stats::rational;

use super::{claims, share};
use crate::support::{Workspace, repository, run_in};

fn run(case: &str, configuration: &str, rate: Value) -> Value {
    json!({"eval_id": case, "configuration": configuration, "pass_rate": rate})
}

fn runs(rows: &[Value]) -> Claims {
    claims(&json!({"runs": rows}))
}

#[test]
fn repetitions_are_averaged_then_models_then_cases() {
    let row = |case: &str, model: &str, arm: &str, number: u32, rate: &str| json!({"eval_id": case, "model": model, "configuration": arm, "run_number": number, "pass_rate": rate});
    let read = runs(&[
        row("a", "x", "with_skill", 1, "1/1"),
        row("a", "x", "with_skill", 2, "0/1"),
        row("a", "x", "without_skill", 1, "0/1"),
        row("a", "y", "with_skill", 1, "1/1"),
        row("a", "y", "without_skill", 1, "0/1"),
        row("b", "x", "with_skill", 1, "1/4"),
        row("b", "x", "without_skill", 1, "2/4"),
        row("c", "x", "with_skill", 1, "3/4"),
        row("d", "x", "without_skill", 1, "3/4"),
        row("e", "x", "with_skill", 1, "3/4"),
        row("e", "x", "without_skill", 1, "none"),
        row("f", "x", "with_skill", 1, "9/9"),
        row("f", "x", "without_skill", 1, "0/12"),
    ]);
    let lift = lift(&read);
    // a: (1/2 + 1)/2 = 3/4, b: -1/4, f is graded on other numbers of assertions
    assert_eq!((lift.lift(), lift.cases), (Some(share(1, 4)), 2));
    assert_eq!(lift.pairs.iter().map(|pair| pair.comparable).collect::<Vec<_>>(), [true, true, true, false]);
    let blocked: Vec<_> = lift.blocked.iter().map(|case| (&*case.case, case.why.code())).collect();
    assert_eq!(blocked, [("c", "missing_without_skill"), ("d", "missing_with_skill"), ("e", "unscorable_arm")]);
}

#[test]
fn versions_of_the_skill_are_never_mixed_and_other_arms_never_paired() {
    let read = runs(&[
        run("a", "with_skill (v1)", json!(1)),
        run("a", "with_skill (v2)", json!(0)),
        run("a", "without_skill", json!(0)),
        run("b", "with_skill", json!(1)),
        run("b", "someone_else", json!(0)),
    ]);
    let lift = lift(&read);
    assert!(lift.pairs.is_empty());
    let blocked: Vec<_> = lift.blocked.iter().map(|case| (&*case.case, case.why.code())).collect();
    assert_eq!(blocked, [("a", "several_labels"), ("b", "missing_without_skill")]);
}

#[test]
fn the_earlier_skill_gives_a_contrast_of_its_own() {
    let read =
        runs(&[run("a", "with_skill", json!(1)), run("a", "old_skill", json!(0.75)), run("a", "no_skill", json!(0))]);
    assert_eq!(lift(&read).control, Some(Role::Control));
    assert_eq!(lift(&read).lift(), Some(share(1, 1)));
    assert_eq!(contrast(&read, Some(Role::OldSkill)).lift(), Some(share(1, 4)));
}

fn cell<'c>(cells: &'c [CellChange], case: &str, variant: &str) -> &'c CellChange {
    cells.iter().find(|cell| cell.case == case && cell.variant == variant).unwrap_or_else(|| panic!("{case} {variant}"))
}

#[test]
fn two_files_are_compared_case_by_case_and_arm_by_arm() {
    let before = runs(&[
        run("up", "with_skill", json!("1/4")),
        run("up", "without_skill", json!("1/4")),
        run("down", "with_skill", json!("4/4")),
        run("down", "without_skill", json!("1/4")),
        run("rounded", "with_skill", json!(0.667)),
        run("gone", "with_skill", json!(1)),
        run("lost", "with_skill", json!(1)),
        run("found", "with_skill", Value::Null),
        run("never", "with_skill", Value::Null),
        run("longer", "with_skill", json!("4/8")),
    ]);
    let after = runs(&[
        run("up", "with_skill (v2)", json!("2/4")),
        run("up", "baseline", json!("1/4")),
        run("down", "with_skill (v2)", json!("3/4")),
        run("down", "baseline", json!("2/4")),
        run("rounded", "with_skill", json!("2/3")),
        run("new", "with_skill", json!(1)),
        run("lost", "with_skill", Value::Null),
        run("found", "with_skill", json!(1)),
        run("never", "with_skill", Value::Null),
        run("longer", "with_skill", json!("8/9")),
    ]);
    let comparison = compare(&before, &after);
    for (case, variant, kind) in [
        ("up", "with_skill", ChangeKind::Improved),
        ("up", "without_skill", ChangeKind::Same),
        ("down", "with_skill", ChangeKind::Regressed),
        ("down", "without_skill", ChangeKind::Improved),
        ("rounded", "with_skill", ChangeKind::Same),
        ("gone", "with_skill", ChangeKind::Vanished),
        ("new", "with_skill", ChangeKind::Appeared),
        ("lost", "with_skill", ChangeKind::BecameUnscored),
        ("found", "with_skill", ChangeKind::BecameScored),
        ("never", "with_skill", ChangeKind::StillUnscored),
        ("longer", "with_skill", ChangeKind::OtherChecks),
    ] {
        assert_eq!(cell(&comparison.cells, case, variant).kind, kind, "{case} {variant}");
    }
    assert_eq!(comparison.cells.len(), 11);
    assert_eq!(cell(&comparison.cells, "up", "with_skill").delta(), Some(share(1, 4)));
    assert_eq!(cell(&comparison.cells, "lost", "with_skill").unscored_after.len(), 1);
    assert_eq!(comparison.count(ChangeKind::Improved), 2);
}

#[test]
fn files_without_a_common_cell_have_nothing_to_compare() {
    let comparison = compare(&runs(&[run("a", "with_skill", json!(1))]), &runs(&[run("b", "with_skill", json!(1))]));
    assert!(!comparison.has_common_cells());
}

/// An execution error is no loss, and a trial that only one file has is no change.
#[test]
fn a_failed_run_is_not_compared_as_a_zero() {
    let file = |rows: Value| claims(&json!({"results": rows}));
    let before = file(json!([{"id": "t1", "pass_rate": 1}, {"id": "t2", "pass_rate": 1}]));
    let after = file(json!([
        {"id": "t1", "pass_rate": 1},
        {"id": "t2", "status": "execution_error", "pass_rate": 0},
        {"id": "t3", "pass_rate": 0},
    ]));
    let comparison = compare(&before, &after);
    let kinds: Vec<_> = comparison.cells.iter().map(|cell| (&*cell.case, cell.kind.word())).collect();
    assert_eq!(kinds, [("t1", "same"), ("t2", "became_unscored"), ("t3", "appeared")]);
    assert_eq!(comparison.cells[1].unscored_after[0].code(), "executor_error");
}

#[test]
fn checks_that_moved_are_named_and_other_checks_are_not_compared() {
    let file = |verdicts: &[(&str, Option<bool>)]| {
        let list: Vec<Value> = verdicts.iter().map(|(text, passed)| json!({"text": text, "passed": passed})).collect();
        runs(&[json!({"eval_id": "a", "configuration": "with_skill", "expectations": list})])
    };
    let before = file(&[("x", Some(true)), ("y", Some(false)), ("z", None)]);
    let after = file(&[("x", Some(false)), ("y", Some(true)), ("z", Some(true))]);
    let changed = compare(&before, &after).cells.remove(0);
    assert_eq!((changed.gained, changed.lost), (vec!["y".to_owned()], vec!["x".to_owned()]));
    assert_eq!(changed.kind, ChangeKind::Improved, "1/2 to 2/3, over what has a verdict");
    let reworded = compare(&before, &file(&[("x", Some(true)), ("y", Some(false)), ("w", None)])).cells.remove(0);
    assert_eq!(reworded.kind, ChangeKind::OtherChecks);
    assert_eq!(reworded.delta(), None);
}

#[test]
fn one_model_on_each_side_is_compared_and_the_difference_said() {
    let file = |models: &[&str]| {
        let row = |model: &&str| json!({"eval_id": "a", "model": model, "configuration": "with_skill", "pass_rate": 1});
        runs(&models.iter().map(row).collect::<Vec<_>>())
    };
    let comparison = compare(&file(&["x"]), &file(&["y"]));
    assert_eq!(comparison.count(ChangeKind::Same), 1);
    assert_eq!(comparison.differences.len(), 1);
    assert_eq!(
        (comparison.differences[0].key.as_str(), comparison.differences[0].after.as_deref()),
        ("models", Some("y"))
    );
    let comparison = compare(&file(&["x"]), &file(&["x", "y"]));
    assert_eq!((comparison.count(ChangeKind::Same), comparison.count(ChangeKind::Appeared)), (1, 1));
}

#[test]
fn a_benchmark_is_held_against_the_gradings_of_its_tree() {
    let rates: BTreeMap<_, _> = [("a", "with_skill", share(30, 30)), ("a", "without_skill", share(2, 3))]
        .map(|(case, variant, rate)| ((case.to_owned(), variant.to_owned()), rate))
        .into();
    let texts = BTreeSet::from(["t".to_owned()]);
    let graded = share(1, 3);
    let gradings = Gradings { rates: &rates, cells: rates.len(), lift: Some(&graded), texts: &texts };
    let found = |file: &Value| -> Vec<(ContradictionCode, String, String, String)> {
        let shown = |c: skill_lift::runs::claims::Contradiction| (c.code, c.subject, c.claimed, c.found);
        check(&claims(file), &gradings).into_iter().map(shown).collect()
    };
    let delta = |text: &str| json!({"delta": {"pass_rate": text, "tokens": "+0"}});
    let empty = found(&json!({"runs": [], "run_summary": delta("+0.00")}));
    assert_eq!(empty[0].0, ContradictionCode::BenchmarkEmpty);
    let published = (ContradictionCode::BenchmarkDisagrees, "pass_rate", "+0.00", "0.333333");
    assert_eq!((empty[1].0, &*empty[1].1, &*empty[1].2, &*empty[1].3), published);
    assert_eq!(empty.len(), 2);

    let rows = |without: f64, text: &str| {
        let row = |configuration: &str, rate: f64| {
            json!({"eval_id": 1, "eval_name": "a", "configuration": configuration, "pass_rate": rate,
                "claims": [text]})
        };
        json!([row("with_skill", 1.0), row("without_skill", without)])
    };
    assert_eq!(
        found(&json!({"runs": rows(0.667, "t"), "run_summary": delta("+33pp")})),
        [],
        "rounding is no contradiction"
    );
    let disagrees = found(&json!({"runs": rows(0.5, "t"), "run_summary": delta("+0.33")}));
    let subjects: Vec<_> = disagrees.iter().map(|(_, subject, claimed, _)| (&**subject, &**claimed)).collect();
    assert_eq!(subjects, [("1, without_skill", "0.5"), ("lift", "0.5")]);

    let other = json!({"runs": [{"eval_id": "a", "configuration": "without_skill", "expectations": [{"text": "u", "passed": true}]}]});
    assert_eq!(found(&other)[0].0, ContradictionCode::BenchmarkOfAnotherSuite);
    assert_eq!(ContradictionCode::BenchmarkOfAnotherSuite.code(), "benchmark_of_another_suite");
}

fn own(report: &str) -> Claims {
    read(report.as_bytes(), &ReadOptions { bytes: 64 << 20, ..ReadOptions::default() }).unwrap()
}

#[test]
fn the_report_of_the_demo_is_read_back() {
    let arguments = ["benchmark", "datasets/demo/evals/shared-benchmark.json", "--runs", "datasets/demo/runs"];
    let said = run_in(&repository("."), &arguments, &[]);
    let (report, read) = (said.json(), own(&said.stdout));
    assert_eq!(read.form, ClaimForm::OwnReport);
    assert_eq!(read.rows.len(), report["results"].as_array().unwrap().len());
    assert_eq!(read.blocks["suite_sha256"], report["provenance"]["suite_sha256"]);
    let flags: usize =
        report["case_flags"].as_array().unwrap().iter().map(|case| case["flags"].as_array().unwrap().len()).sum();
    assert_eq!(read.flags.len(), flags);
    for summary in ["with_skill", "without_skill"] {
        let scored =
            read.rows.iter().filter(|row| row.configuration.variant() == summary && row.rate.is_scored()).count();
        assert_eq!(scored as u64, report["summary"][summary]["objective_pass_rate"]["n"], "{summary}");
    }
    assert!(read.note(NoteCode::SummaryContradictsRows).is_none(), "{:?}", read.notes);
    let lift = lift(&read);
    assert_eq!(lift.cases as u64, report["inference"]["overall"]["n_units"]);
    assert_eq!(rational::to_f64(&lift.lift().unwrap()), report["inference"]["overall"]["estimate"].as_f64().unwrap());
    // a report against itself
    let comparison = compare(&read, &read);
    let unchanged = comparison.count(ChangeKind::Same) + comparison.count(ChangeKind::StillUnscored);
    assert_eq!(unchanged, comparison.cells.len());
    assert!(
        comparison.new_flags.is_empty() && comparison.resolved_flags.is_empty() && comparison.differences.is_empty()
    );
}

#[test]
fn two_reports_of_one_suite_differ_in_what_was_run() {
    let report = |answer: &str| {
        let workspace = Workspace::with_cases(&["a", "b"]);
        for case in ["a", "b"] {
            workspace.write(&format!("runs/{case}/with_skill/output.md"), if case == "a" { answer } else { "yes" });
            workspace.write(&format!("runs/{case}/without_skill/output.md"), "no");
        }
        let graded = own(&workspace.on_runs("grade", &[]).stdout);
        assert_eq!((graded.form, graded.rows.len()), (ClaimForm::OwnReport, 4), "the report of grade has rows as well");
        own(&workspace.on_runs("benchmark", &[]).stdout)
    };
    let comparison = compare(&report("no"), &report("yes"));
    let changed = cell(&comparison.cells, "a", "with_skill");
    assert_eq!((changed.kind, &changed.gained[..]), (ChangeKind::Improved, &["says-yes".to_owned()][..]));
    assert_eq!(comparison.count(ChangeKind::Same), 3);
    let keys: Vec<_> = comparison.differences.iter().map(|difference| difference.key.as_str()).collect();
    assert_eq!(keys, ["runs_sha256"], "the suite is the same");
    assert!(comparison.resolved_flags.iter().any(|flag| flag.case == "a"), "{:?}", comparison.resolved_flags);
}
