//! What is refused, what is warned of, and the exit codes.

use serde_json::json;

use super::{report_of, row, useful_skill, written};
use crate::support::Workspace;

#[test]
fn nothing_graded_is_never_green() {
    let nothing = report_of(&[]);
    let mut unscored = useful_skill();
    for row in unscored["results"].as_array_mut().unwrap() {
        row["missing_output"] = json!(true);
    }
    let baseline = report_of(&[row("a", "without_skill", 1, &[true])]);
    for format in ["junit", "ctrf", "github", "markdown"] {
        for report in [&nothing, &unscored] {
            let said = written(report, format, &[]);
            assert_eq!(said.code, 1, "{format}");
            let line = said.lines("FAIL")[0];
            assert!(line.starts_with("FAIL: benchmark.json: nothing graded: no run"), "{line}");
            // the report is written all the same
            assert!(!said.stdout.is_empty(), "{format}");
            assert_eq!(written(report, format, &["--allow-empty", "--quiet"]).code, 0, "{format}");
        }
        // a baseline alone decides nothing where arms decide
        let decides = matches!(format, "junit" | "ctrf");
        assert_eq!(written(&baseline, format, &[]).code, i32::from(decides), "{format}");
    }
    let said = written(&baseline, "junit", &["--gate-variants", "with_skil"]);
    assert_eq!(
        said.lines("FAIL"),
        ["FAIL: benchmark.json: nothing graded: no run of with_skil has a rate (--allow-empty accepts that)"]
    );
    assert_eq!(written(&baseline, "junit", &["--gate-variants", "without_skill"]).code, 0);
}

#[test]
fn arguments_that_change_nothing_are_refused() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", useful_skill().to_string());
    let report = ["report", "--benchmark", "benchmark.json"];
    for more in [
        &["--format", "json"][..],
        &["--format", "upstream-json"],
        &["--format", "junit", "--max-kib", "100"],
        &["--format", "junit", "--append", "--out", "x"],
        &["--append"],
        &["--gate-variants", "with_skill"],
        &["--max-kib", "31"],
        &["--max-kib", "x"],
        &["--dialect", "skill-eval"],
        &["--previous", "auto"],
        &["--fail-on", "regressions"],
        &["--fail-on", "thresholds,errors"],
        &["--format", "xml"],
        &["iteration-1"],
    ] {
        let said = workspace.run(&[&report[..], more].concat());
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{more:?}: {said:#?}");
    }
    for words in [
        &["report"][..],
        &["report", ".", "--format", "junit"],
        &["report", ".", "--append", "--out", "x"],
        &["report", ".", "--allow-empty"],
    ] {
        let said = workspace.run(words);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{words:?}: {said:#?}");
    }
}

#[test]
fn a_file_that_is_no_report_is_refused_with_one_line() {
    let workspace = Workspace::new();
    workspace.write("list.json", "[]");
    workspace.write("broken.json", "{\"results\": [");
    workspace.write("grade.json", json!({"results": [row("a", "with_skill", 1, &[true])]}).to_string());
    let mut bad = useful_skill();
    bad["results"][1]["objective_passed"] = json!(7);
    workspace.write("bad.json", bad.to_string());
    workspace.write("large.json", format!("{}{}", useful_skill(), " ".repeat(1 << 20)));
    for (file, more, wanted) in [
        ("none.json", &[][..], "no such file"),
        (".", &[], "not a regular file"),
        ("list.json", &[], "not an object"),
        ("broken.json", &[], "line 1"),
        ("grade.json", &[], "has no `summary`, `paired_summary`, `case_flags`"),
        ("bad.json", &[], "/results/1/objective_passed: at most the total of 1 is expected, not 7"),
        ("large.json", &["--max-report-mib", "1"], "larger than 1 MiB"),
    ] {
        for format in ["junit", "markdown"] {
            let words = [&["report", "--benchmark", file, "--format", format, "--out", "out/x"], more].concat();
            let said = workspace.run(&words);
            assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{file}: {said:#?}");
            assert_eq!(said.stderr.lines().count(), 1, "{file}: {}", said.stderr);
            assert!(said.stderr.starts_with("FAIL: ") && said.stderr.contains(wanted), "{file}: {}", said.stderr);
            assert!(!workspace.path().join("out").exists(), "{file}");
        }
    }
}

#[test]
fn what_contradicts_its_rows_is_named() {
    let mut report = useful_skill();
    report["results"][0]["objective_pass_rate"] = json!(0.25);
    report["inference"] = json!({"overall": {"verdict": {"code": "helps"}}});
    let said = written(&report, "junit", &[]);
    assert_eq!(said.code, 0);
    assert_eq!(
        said.lines("WARN"),
        [
            "WARN rate_contradicts_counts: benchmark.json/results/0/objective_pass_rate: 0.25",
            "WARN verdict_differs: benchmark.json: it states `helps`, its rows say `too_few_cases`; the rows count"
        ]
    );
    assert_eq!(written(&report, "junit", &["--quiet"]).stderr, "");
}

#[test]
fn parents_of_the_file_are_made_and_the_same_bytes_come_out_again() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", useful_skill().to_string());
    for format in ["junit", "ctrf", "github", "markdown"] {
        let words = ["report", "--benchmark", "benchmark.json", "--format", format];
        let said = workspace.run(&words);
        let path = format!("deep/{format}/report");
        let to_file = workspace.run(&[&words[..], &["--out", &path]].concat());
        assert_eq!((said.code, to_file.code), (0, 0), "{to_file:#?}");
        let file = std::fs::read_to_string(workspace.path().join(path)).unwrap();
        assert!(said.stdout.starts_with(&file), "{format}");
        assert_eq!(workspace.run(&words).stdout, said.stdout, "{format}");
    }
}

#[test]
fn findings_fail_a_build_only_when_they_are_asked_for() {
    let said = |report: &serde_json::Value, what: &str| {
        let said = written(report, "markdown", &["--quiet", "--fail-on", what]);
        // the report is written all the same
        assert!(said.stdout.starts_with("# "), "{said:#?}");
        (said.code, said.stderr)
    };
    let fine = report_of(&[row("a", "with_skill", 1, &[true]), row("a", "without_skill", 1, &[false])]);
    let all = "failures,errors,negative-lift,incomplete";
    assert_eq!(said(&fine, all), (0, String::new()));

    // a baseline may fail; the skill's arm may not
    let mut worse = report_of(&[
        row("a", "with_skill", 1, &[false]),
        row("a", "without_skill", 1, &[true]),
        row("b", "with_skill", 1, &[true]),
        row("b", "without_skill", 1, &[true]),
    ]);
    assert_eq!(written(&worse, "markdown", &["--quiet"]).code, 0);
    let lines = "FAIL: benchmark.json: 1 run fails (--fail-on failures)\n\
                 FAIL: benchmark.json: the lift is below 0 (--fail-on negative-lift)\n";
    assert_eq!(said(&worse, all), (1, lines.to_owned()));
    assert_eq!(said(&worse, "errors"), (0, String::new()));

    worse["results"][0]["missing_output"] = json!(true);
    let (code, lines) = said(&worse, "failures,errors,incomplete");
    assert_eq!(code, 1);
    assert_eq!(
        lines,
        "FAIL: benchmark.json: 1 run did not come to a score (--fail-on errors)\n\
         FAIL: benchmark.json: its evidence is incomplete (--fail-on incomplete)\n"
    );
}
