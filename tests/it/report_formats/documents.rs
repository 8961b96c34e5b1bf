//! Markdown and the job summary of GitHub.

use std::fs;

use serde_json::{Value, json};

use super::{report_of, row, useful_skill, written};
use crate::support::{Workspace, repository, run_in};

fn demo(format: &str) -> (String, String) {
    let folder = repository("datasets/demo");
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("benchmark.json");
    let words = ["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--out", path.to_str().unwrap()];
    let table = run_in(&folder, &words, &[]).stdout;
    let said = run_in(out.path(), &["report", "--benchmark", "benchmark.json", "--format", format], &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    (said.stdout, table)
}

#[test]
fn the_demo_as_markdown() {
    let (text, _) = demo("markdown");
    insta::with_settings!({filters => vec![(r"skill-lift \d+\.\d+\.\d+", "skill-lift [version]")]}, {
        insta::assert_snapshot!("demo_as_markdown", text);
    });
}

#[test]
fn the_demo_as_a_job_summary() {
    let (text, _) = demo("github");
    insta::with_settings!({filters => vec![(r"skill-lift \d+\.\d+\.\d+", "skill-lift [version]")]}, {
        insta::assert_snapshot!("demo_as_a_job_summary", text);
    });
}

#[test]
fn every_document_says_what_the_terminal_says() {
    for format in ["markdown", "github"] {
        let (text, table) = demo(format);
        let plain = text.replace("**", "").replace('\\', "");
        let lines: Vec<&str> = table.lines().collect();
        // the headline, the lead, each paragraph, each case to look at, the counts
        assert!(plain.contains(lines[2].trim_end_matches('.')), "{format}: {}", lines[2]);
        assert!(plain.contains(&format!("{}.", lines[3])), "{format}: {}", lines[3]);
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let joined = spaced(&plain);
        let mut paragraph = String::new();
        for line in lines[4..].iter().take_while(|line| !line.contains("Model  ")) {
            let text = line.get(10..).unwrap_or_default().trim();
            if line.get(2..10).is_some_and(|label| !label.trim().is_empty()) || line.is_empty() {
                assert!(joined.contains(&spaced(&paragraph)), "{format}: {paragraph}");
                paragraph.clear();
            }
            paragraph.push_str(text);
            paragraph.push(' ');
        }
        for case in ["deploy-rollback", "status-page-update", "alert-storm"] {
            assert!(table.contains(case) && plain.contains(case), "{case}");
        }
        assert!(joined.contains("10 better, 2 the same, 1 worse."));
    }
}

#[test]
fn a_document_is_appended_below_what_is_there_and_annotations_go_to_the_output() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", useful_skill().to_string());
    let words =
        ["report", "--benchmark", "benchmark.json", "--format", "github", "--out", "new/summary.md", "--append"];
    let said = workspace.run(&words);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.stdout.lines().all(|line| line.starts_with("::warning ")) && !said.stdout.is_empty(), "{said:#?}");
    let read = || fs::read_to_string(workspace.path().join("new/summary.md")).unwrap();
    let first = read();
    assert!(first.starts_with("## Skill eval — demo\n") && first.contains("\n### Needs your eyes\n"), "{first}");
    assert!(!first.contains("::warning"), "{first}");
    workspace.run(&words);
    assert_eq!(read(), format!("{first}\n{first}"));
    // something else, without a line break at its end
    workspace.write("new/summary.md", "# Build");
    workspace.run(&words);
    assert_eq!(read(), format!("# Build\n\n{first}"));
    // without --append the file is replaced
    let said = workspace.run(&words[..7]);
    assert_eq!(said.code, 0);
    assert!(read().starts_with("# Skill eval — demo\n"));
    // what is there counts against the limit
    workspace.write("new/summary.md", "x".repeat(900 * 1024));
    let said = workspace.run(&words);
    assert_eq!(said.code, 1);
    assert_eq!(
        said.stderr,
        "FAIL: new/summary.md: holds 900 KiB already; nothing more fits below 900 KiB (--max-kib)\n"
    );
    assert_eq!(read().len(), 900 * 1024);
}

/// A report of many cases, each a little different.
fn large(cases: usize) -> Value {
    let of = |case: usize| {
        let id = format!("case-{case:06}{}", "-x".repeat(if cases > 1_000 { 90 } else { 0 }));
        let mut rows = [row(&id, "with_skill", 1, &[true]), row(&id, "without_skill", 1, &[case.is_multiple_of(3)])];
        rows.iter_mut().for_each(|row| row["tags"] = json!([format!("tag-{}", case % 7)]));
        rows
    };
    report_of(&(0..cases).flat_map(of).collect::<Vec<_>>())
}

#[test]
fn a_summary_of_very_many_rows_is_cut_at_whole_rows_below_the_limit() {
    let report = large(4_000);
    for (format, more, limit) in
        [("github", &[][..], 900), ("markdown", &["--max-kib", "60"], 60), ("github", &["--max-kib", "32"], 32)]
    {
        let said = written(&report, format, more);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let document = said.stdout.split("\n::warning").next().unwrap();
        assert!(document.len() <= limit * 1024, "{format}: {}", document.len());
        assert!(document.contains(" shown.\n"), "{format}");
        assert!(document.contains("Left out to stay under the size limit: "), "{format}");
        // whole rows: every row of a table ends as it should
        let broken = document.lines().filter(|line| line.starts_with("| ") && !line.ends_with(" |"));
        assert_eq!(broken.count(), 0);
        assert_eq!(document.matches("<details>").count(), document.matches("</details>").count());
    }
    let whole = written(&large(60), "markdown", &[]).stdout;
    assert!(whole.contains("## Cases\n\n<details><summary>All 60</summary>\n"), "{whole}");
    assert!(!whole.contains("Left out to stay"), "{whole}");
}

#[test]
fn at_most_ten_annotations_of_a_kind_and_the_rest_is_counted() {
    let annotations = |report: &Value| -> Vec<String> {
        let said = written(report, "github", &["--out", "summary.md"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        said.stdout.lines().map(str::to_owned).collect()
    };
    // every third case passes in both arms
    let lines = annotations(&large(90));
    assert_eq!(lines.len(), 10);
    let last = "::warning title=skill-eval demo::21 more cases are flagged (30 in all); the job summary lists them";
    assert_eq!(lines[9], last);
    let lines = annotations(&large(30));
    assert!(lines.len() == 10 && lines[9].contains("case-000027"), "{lines:?}");
    // worse with the skill
    let rows = ["a", "b"].map(|case| [row(case, "with_skill", 1, &[false]), row(case, "without_skill", 1, &[true])]);
    let lines = annotations(&report_of(&rows.concat()));
    let error = "::error title=skill-eval demo::negative overall lift (-1.000): the skill measures worse than baseline";
    assert_eq!(lines.last().unwrap(), error);
}

#[test]
fn what_was_withheld_stays_withheld() {
    let mut report = useful_skill();
    report["results"].as_array_mut().unwrap().pop();
    report["provenance"] = json!({"tool_version": "1", "options": {"evidence": "strict"}});
    let text = written(&report, "github", &[]).stdout;
    assert!(text.contains("**The evidence is incomplete.**"), "{text}");
    assert!(text.contains("**Lift (with − without, objective):** — − — = **—**"), "{text}");
    let ctrf = written(&report, "ctrf", &[]).json();
    assert_eq!(ctrf["results"]["extra"]["absolute_delta"], Value::Null);
    assert_eq!(ctrf["results"]["extra"]["verdict"], "withheld");
}

#[test]
fn a_report_of_another_tool_says_so() {
    let reference = repository("tests/data/reference-demo.json");
    let said = run_in(&repository("tests"), &["report", "--benchmark", reference.to_str().unwrap()], &[]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.stdout.contains("written by another tool, without an inference block"), "{}", said.stdout);
    assert!(said.stdout.starts_with("# incident-summary: The skill helps\n"), "{}", said.stdout);
}
