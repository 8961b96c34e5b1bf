//! How a comparison looks.

use skill_lift::analyze::diff::{DiffOptions, Side, align_cases, diff};
use skill_lift::report::Style;
use skill_lift::report::diff::{DiffView, render_diff};
use skill_lift::runs::claims::{ReadOptions, read};
use unicode_width::UnicodeWidthStr;

use serde_json::{Value, json};

use super::{WITH, WITHOUT, arm, compared, crashed, report, row};
use crate::support::{repository, run_in};

fn sides() -> (Value, Value) {
    let long = "invoice-with-a-name-that-is-far-too-long-for-a-narrow-terminal";
    let mut old = arm(WITH, &[("dates", "++"), ("totals", "+-"), (long, "++"), ("notes", "++"), ("gone", "++")]);
    old.extend(arm(WITHOUT, &[("dates", "+-"), ("totals", "+-"), (long, "--"), ("gone", "--")]));
    let mut new = arm(WITH, &[("dates", "-+"), ("totals", "++"), (long, "+-"), ("new", "++")]);
    new.extend(arm(WITHOUT, &[("dates", "+-"), ("totals", "++"), (long, "--"), ("new", "--")]));
    new.extend([crashed("notes", WITH), row("totals", WITH, 2, "+-")]);
    let (mut old, mut new) = (report("sha256:0123456789abcdef0123", old), report("sha256:0123456789abcdef0123", new));
    old["case_flags"] = json!([{"case_id": "totals", "flags": ["no objective lift"]}]);
    new["case_flags"] = json!([{"case_id": "dates", "flags": ["with-skill failure"]}]);
    (old, new)
}

#[test]
fn the_table_and_the_markdown_of_a_small_comparison() {
    let (old, new) = sides();
    insta::assert_snapshot!("diff_table", compared(&old, &new, &["--format", "table"]).stdout);
    insta::assert_snapshot!("diff_all_cases", compared(&old, &new, &["--format", "table", "--all-cases"]).stdout);
    insta::assert_snapshot!("diff_ascii", compared(&old, &new, &["--format", "table", "--ascii"]).stdout);
    insta::assert_snapshot!("diff_color", compared(&old, &new, &["--format", "table", "--color", "always"]).stdout);
    insta::assert_snapshot!("diff_markdown", compared(&old, &new, &["--format", "markdown"]).stdout);
}

#[test]
fn the_table_and_the_markdown_of_results_that_are_not_like_for_like() {
    let (old, mut new) = sides();
    new["provenance"]["suite_sha256"] = json!("sha256:fedcba9876543210fedc");
    new["provenance"]["options"] = json!({"unobserved": "exclude"});
    insta::assert_snapshot!("diff_not_like_for_like", compared(&old, &new, &["--format", "table"]).stdout);
    insta::assert_snapshot!("diff_not_like_for_like_markdown", compared(&old, &new, &["--format", "md"]).stdout);
}

#[test]
fn the_table_of_two_iterations() {
    let folder = repository("tests/conformance/workspaces/skill-forge/csv-insights");
    let said = run_in(&folder, &["diff", "iteration-1", "iteration-2", "--format", "table"], &[]);
    insta::assert_snapshot!("diff_two_iterations", said.stdout);
}

/// The table of two files as a screen of some columns shows it.
fn on_screen(old: &Value, new: &Value, width: usize) -> String {
    let side = |label: &str, file: &Value| {
        Side::of_file(label.to_owned(), read(file.to_string().as_bytes(), &ReadOptions::default()).unwrap())
    };
    let (mut old, mut new) = (side("runs/monday/benchmark.json", old), side("runs/tuesday/benchmark.json", new));
    align_cases(&mut old, &mut new);
    let diff = diff(&old, &new, &DiffOptions::default()).unwrap();
    render_diff(&DiffView::of(&diff), Style { width: Some(width), color: false, ascii: false, all_cases: false })
}

#[test]
fn the_table_fits_the_screen() {
    let (mut old, new) = sides();
    old["results"][0]["assertions"][0]["name"] =
        json!("The date of every invoice stands in the first column, in ISO form, never in words.");
    let mut new = new;
    new["results"][0]["assertions"][0]["name"] = old["results"][0]["assertions"][0]["name"].clone();
    for width in [48, 60, 80, 100] {
        let text = on_screen(&old, &new, width);
        for line in text.lines() {
            assert!(line.width() <= width, "{width} columns: {line:?}");
        }
    }
    insta::assert_snapshot!("diff_on_80_columns", on_screen(&old, &new, 80));
    insta::assert_snapshot!("diff_on_48_columns", on_screen(&old, &new, 48));
}
