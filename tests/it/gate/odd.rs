//! Wrong arguments, and reports that nobody should write.

use std::path::Path;

use serde_json::{Value, json};

use super::{expect, gate_of, lifts, near};
use crate::support::{Workspace, cases_of, report_of, report_row, run_in};

#[test]
fn wrong_arguments_are_refused_before_anything_is_read() {
    let refused = [
        &[][..],
        &["--superior", "--non-inferior", "0.1"],
        &["--non-inferior", "0.1", "--equivalent", "0.1"],
        &["--superior", "--superior"],
        &["--non-inferior", "0"],
        &["--non-inferior", "1"],
        &["--non-inferior", "5"],
        &["--non-inferior", "-0.1"],
        &["--non-inferior", "NaN"],
        &["--equivalent", "inf"],
        &["--equivalent", ""],
        &["--equivalent", "1e999999999"],
        &["--equivalent", "5%"],
        &["--superior", "--equivalence-margin", "0"],
        &["--non-inferior", "0.1", "--equivalence-margin", "0.1"],
        &["--superior", "--alpha", "0"],
        &["--superior", "--alpha", "0.5"],
        &["--superior", "--alpha", "nan"],
        &["--superior", "--max-cost-usd", "-1"],
        &["--superior", "--max-cost-usd", "NaN"],
        &["--superior", "--max-cost-usd", "$1"],
        &["--superior", "--evidence", "some"],
        &["--superior", "--self-test", "--self-test-runs", "0"],
        &["--superior", "--self-test", "--self-test-runs", "100001"],
        &["--superior", "--self-test-runs", "5"],
        &["--superior", "--seed", "5"],
        &["--superior", "--self-test", "--self-test-arm", "old"],
    ];
    for arguments in refused {
        let said = run_in(Path::new("/"), &[&["gate", "missing.json"], arguments].concat(), &[]);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{arguments:?} {}", said.stderr);
    }
    // the smallest margin is one
    expect(&lifts(&[0.0; 20]), &["--equivalent", "1e-300"], 4, "inconclusive", &["interval_beyond_margin"]);
    expect(&lifts(&[1.0; 6]), &["--non-inferior", "0.999999999999999999999"], 0, "improved", &[]);
}

#[test]
fn refused_files_are_named() {
    let workspace = Workspace::with_cases(&["a"]);
    workspace.write("empty.json", "");
    workspace.write("broken.json", "{\"results\": [");
    workspace.write("list.json", "[1, 2]");
    workspace.write("nan.json", lifts(&[1.0; 6]).to_string().replacen("1.0", "NaN", 1));
    let other = json!({"runs": [{"eval_id": 1, "configuration": "with_skill", "pass_rate": 1.0}]});
    workspace.write("other.json", other.to_string());
    let mut twice = lifts(&[1.0; 6]);
    let case = json!({"case_id": "a", "estimate_with": 1.0, "estimate_without": 0.0});
    twice["inference"] = json!({"by_case": [case, case]});
    workspace.write("twice.json", twice.to_string());
    let says = [
        ("missing.json", "no such file"),
        ("evals", "is a folder"),
        ("evals/shared-benchmark.json", "FAIL: evals/shared-benchmark.json: "),
        ("empty.json", "FAIL: empty.json: "),
        ("broken.json", "FAIL: broken.json: "),
        ("list.json", "is no result list"),
        ("nan.json", "FAIL: nan.json: "),
        ("other.json", "it is no report of `benchmark`; `skill-lift benchmark` makes one of the workspace"),
        ("twice.json", "`by_case` names case a twice"),
    ];
    for (file, message) in says {
        let said = workspace.run(&["gate", file, "--superior"]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{file}");
        assert!(said.stderr.contains(message), "{file}: {}", said.stderr);
    }
    workspace.write("large.json", vec![b' '; 1 << 21]);
    let large = workspace.run(&["gate", "large.json", "--superior", "--max-report-mib", "1"]);
    assert_eq!((large.code, large.stdout.as_str()), (1, ""));
    assert!(large.stderr.contains("1 MiB"), "{}", large.stderr);
}

#[test]
fn hostile_texts_and_sizes_stay_harmless() {
    let mut many = cases_of(300, &[0.25, 0.0], &[1.0, 0.5], "\u{1b}[31m|@team<script>\u{202e}");
    many.extend(cases_of(1, &[1.0], &[1.0], &"x".repeat(100_000)));
    many.extend(cases_of(1, &[1e-300], &[1.0], &format!("\u{1b}]0;{}", "y".repeat(100_000))));
    let mut hostile = report_of(&many);
    hostile["skill_name"] = json!("\u{1b}]0;owned\u{7} | @team <b> \u{202e}");
    hostile["availability"] = json!("partial");
    hostile["incomplete_reasons"] = json!(vec!["\u{1b}[31m|@team<b>\u{202e}".repeat(1_000); 1_000]);
    hostile["inference"] = json!({"alpha": "0.05", "equivalence_margin": 1e308, "by_case": "none", "overall": [],
                                  "cost_per_run": {"money": {"delta": 1e308, "currency": "\u{1b}[31m<b>@team", "pairs": 1,
                                                             "pairs_measured": 1}}});
    for format in ["table", "markdown", "json"] {
        for more in [&[][..], &["--evidence", "strict"]] {
            let arguments =
                ["--superior", "--max-cost-usd", "1", "--self-test", "--self-test-runs", "1", "--format", format];
            let said = gate_of(&hostile, &[&arguments[..], more].concat());
            assert_eq!(said.code, if more.is_empty() { 3 } else { 5 }, "{}", said.stderr);
            let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            let seen = if format == "json" { String::new() } else { said.stdout };
            assert!(!seen.contains(is_bad), "{format}: {seen}");
            assert!(format != "markdown" || !seen.contains("<b>") && !seen.contains("@team"), "{seen}");
            assert!(seen.len() < 20_000, "{}", seen.len());
        }
    }
    let gate = gate_of(&hostile, &["--superior", "--evidence", "strict"]).json();
    assert_eq!((&gate["n_units"], &gate["alpha"], &gate["margin"]), (&json!(302), &json!(0.05), &Value::Null));
    assert_eq!(gate["missing_evidence"].as_array().unwrap().len(), 20);
    // one case, and numbers as ids
    let mut one = report_of(&cases_of(1, &[1.0], &[0.0], "1"));
    one["results"][0]["case_id"] = json!(18_446_744_073_709_551_615_u64);
    one["results"][1]["case_id"] = json!("18446744073709551615");
    expect(&one, &["--superior"], 6, "structural", &["structural"]);
    let gate = gate_of(&one, &["--superior"]).json();
    assert!(gate["text"].as_str().unwrap().starts_with("Failed: 1 case is too few to decide on"), "{gate}");
}

/// The common denominator of 1,200 unrelated totals has thousands of bits: rates are rounded to doubles, and that is told.
#[test]
fn fractions_beyond_reason_are_rounded_and_told() {
    let mut rows = Vec::new();
    for at in 0..1_200_u32 {
        for (variant, passed) in [("with_skill", at + 3), ("without_skill", at)] {
            let mut row = report_row(&format!("c{at}"), variant, 1, 0.5);
            row["objective_passed"] = json!(passed);
            row["objective_total"] = json!(8_000 + at);
            rows.push(row);
        }
    }
    let mut report = report_of(&[]);
    report["results"] = json!(rows);
    let said = gate_of(&report, &["--superior"]);
    let gate = said.json();
    assert_eq!((said.code, &gate["outcome"], &gate["n_units"]), (0, &json!("improved"), &json!(1_200)));
    assert!(gate["notes"].as_array().unwrap().contains(&json!("rates_rounded")), "{}", gate["notes"]);
    let mean: f64 = (0..1_200).map(|at| 3.0 / f64::from(8_000 + at)).sum::<f64>() / 1_200.0;
    near(&gate["estimate"], mean);
}
