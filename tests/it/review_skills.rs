//! The review page of a report of several skills.

use serde_json::{Value, json};

use crate::aggregate::{SUITES, two_skills};
use crate::review::Page;
use crate::support::{Workspace, cases_of, report_of};

/// The page of the report of two skills, and its index.
fn page_of_two(cases: usize, more: &[&str]) -> (Page, Value, String) {
    let workspace = two_skills(cases);
    let said = workspace.run(&["aggregate", SUITES[0], SUITES[1], "--out", "skills.json", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let usual = ["render-viewer", "--benchmark", "skills.json", "--out", "review.html"];
    let said = workspace.run(&[&usual[..], more].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    let page = Page::read(&workspace, "review.html");
    let index = page.island("sl-index");
    (page, index, said.stderr)
}

#[test]
fn each_skill_has_a_section_and_its_cases_begin_with_its_name() {
    let (page, index, said) = page_of_two(6, &[]);
    assert!(said.ends_with("12 cases, 24 runs\n"), "{said}");
    let ids: Vec<&str> = index["cases"].as_array().unwrap().iter().map(|case| case["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids[0], ids[5], ids[6], ids[11]), (12, "a/c0", "a/c5", "b/c0", "b/c5"));
    assert_eq!((&index["skill"], &index["headline"]), (&json!("2 skills"), &json!("1 of 2 skills helps")));
    let html = page.0.replace('\u{a0}', " ");
    assert!(html.contains("<h1 tabindex=\"-1\">1 of 2 skills helps.</h1>"), "{}", &html[..600]);
    for skill in ["a", "b"] {
        let number = if skill == "a" { 1 } else { 2 };
        assert!(html.contains(&format!("<section class=\"s skill\" id=\"skill-{number}\"")), "{skill}");
        assert!(html.contains(&format!("<a href=\"#skill-{number}\">{skill}</a>")), "{skill}");
    }
    // the figures of each skill as its own report has them, and the mean that the report holds
    for figure in ["+100.0 pp", "The skill helps.", "This eval cannot tell.", "Mean lift over the skills +"] {
        assert!(html.contains(figure), "{figure}");
    }
    // half of the 24 runs say what they cost
    assert!(html.contains("At least $6.00 (12 of 24 runs measured)"));
    assert_eq!(html.matches("Which cases move?").count(), 2);
    let (case, _) = page.case("a/c0");
    assert_eq!(case["runs"][0]["answer_reason"], "Answers are not in this page. Render it again with --runs.");
}

#[test]
fn folders_of_runs_are_given_in_the_order_of_the_report() {
    let runs = ["--runs", "a/eval-runs/latest", "--runs", "b/eval-runs/latest", "--suite", SUITES[1]];
    let (page, index, _) = page_of_two(2, &runs);
    assert_eq!(index["runs_given"], json!(true));
    let answer = |id: &str, arm: usize| {
        let (case, texts) = page.case(id);
        let run = case["runs"].as_array().unwrap().iter().find(|run| run["arm"] == arm).unwrap();
        texts[run["answer"][0]["text"].as_u64().unwrap() as usize]["text"].clone()
    };
    assert_eq!((answer("a/c1", 1), answer("b/c1", 1)), (json!("no"), json!("yes")));
    // the prompt of the suite that is given, and none of the other
    let turns = |id: &str| page.case(id).0["turns"].as_array().unwrap().len();
    assert_eq!((turns("a/c0"), turns("b/c0")), (0, 1));
}

#[test]
fn what_fits_no_skill_is_refused() {
    let workspace = two_skills(2);
    workspace.run(&["aggregate", SUITES[0], SUITES[1], "--out", "skills.json", "--quiet"]);
    workspace.run(&["aggregate", SUITES[0], "--out", "one/benchmark.json", "--quiet"]);
    let said = |more: &[&str]| {
        let usual = ["render-viewer", "--benchmark", "skills.json", "--out", "review.html"];
        let said = workspace.run(&[&usual[..], more].concat());
        (said.code, said.stderr)
    };
    let folder = "a/eval-runs/latest";
    let (code, text) = said(&["--runs", folder, "--runs", folder, "--runs", folder]);
    assert_eq!(code, 1);
    assert!(
        text.starts_with("FAIL: --runs is given 3 times: give it once, or once for each of the 2 skills"),
        "{text}"
    );
    let (code, text) = said(&["--previous-workspace", "one"]);
    assert_eq!((code, text.contains("--previous-workspace needs the report of one skill")), (1, true), "{text}");
    let (code, text) = said(&["--feedback-format", "skill-creator"]);
    assert_eq!((code, text.contains("needs the report of one skill")), (1, true), "{text}");
    let assertion = json!({"name": "n", "type": "contains", "value": "v"});
    let case = json!({"id": "c", "split": "tune", "prompt": "p", "assertions": [assertion]});
    let other = json!({"version": 2, "skill_name": "other", "skill_paths": ["a/skills/s/SKILL.md"], "cases": [case]});
    workspace.write("evals/other.json", other.to_string());
    let (code, text) = said(&["--suite", "evals/other.json"]);
    assert!(code == 1 && text.contains("--suite is about the skill other, which is not in the report"), "{text}");
    assert!(!workspace.path().join("review.html").exists());
}

/// A report of the reference package over skills of some names.
fn reference_aggregate(skills: &[&str]) -> Value {
    let reports: Vec<Value> = skills
        .iter()
        .map(|skill| {
            let mut report = report_of(&cases_of(7, &[1.0], &[0.0], "c"));
            report["skill_name"] = json!(skill);
            for row in report["results"].as_array_mut().unwrap() {
                let passed = u32::from(row["objective_pass_rate"] == 1.0);
                (row["objective_passed"], row["objective_total"]) = (json!(passed), json!(1));
            }
            report
        })
        .collect();
    json!({"generated_at": 1, "summary": {"skills": skills.len(), "by_skill": {}, "flags": []}, "reports": reports})
}

#[test]
fn what_a_report_of_the_reference_package_does_not_hold_is_not_measured() {
    let workspace = Workspace::new();
    workspace.write("skills.json", reference_aggregate(&["x", "y"]).to_string());
    let said = workspace.run(&["render-viewer", "--benchmark", "skills.json", "--out", "review.html", "--quiet"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let page = Page::read(&workspace, "review.html").0;
    assert!(page.contains("Mean lift over the skills: not measured."));
    assert!(page.contains("Cost not measured"));
    assert!(page.contains("2 of 2 skills help."));
    assert_eq!(page.matches("This report has no inference block; it was written by another tool.").count(), 2);
}

#[test]
fn skills_of_one_name_keep_their_cases_apart() {
    let workspace = Workspace::new();
    workspace.write("skills.json", reference_aggregate(&["x", "x", "x (2)"]).to_string());
    let said = workspace.run(&["render-viewer", "--benchmark", "skills.json", "--out", "review.html", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let index = Page::read(&workspace, "review.html").island("sl-index");
    let ids: Vec<&str> = index["cases"].as_array().unwrap().iter().map(|case| case["id"].as_str().unwrap()).collect();
    assert_eq!((ids[0], ids[7], ids[14]), ("x/c0", "x (2)/c0", "x (2) (2)/c0"));
}

#[test]
fn what_is_wrong_in_the_report_of_a_skill_is_named_with_its_place() {
    let workspace = Workspace::new();
    let fail = |report: &Value| {
        workspace.write("skills.json", report.to_string());
        let said = workspace.run(&["render-viewer", "--benchmark", "skills.json", "--out", "review.html"]);
        assert_eq!(said.code, 1);
        said.stderr
    };
    let mut report = reference_aggregate(&["x", "y"]);
    report["reports"][1]["results"][3]["objective_passed"] = json!(9);
    let expected =
        "FAIL: skills.json: /reports/1/results/3/objective_passed: at most the total of 1 is expected, not 9\n";
    assert_eq!(fail(&report), expected);
    report["reports"][1] = json!({"skill_name": "z"});
    assert!(fail(&report).starts_with("FAIL: skills.json: /reports/1: is no result list"), "{}", fail(&report));
    let expected = "FAIL: skills.json: /reports: the report of a skill is expected, and there is none\n";
    assert_eq!(fail(&reference_aggregate(&[])), expected);
}
