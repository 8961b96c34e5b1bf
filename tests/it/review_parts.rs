//! Sections of the review page that only some reports have: parts of the skill, loading by itself, runs that failed.

use serde_json::{Value, json};

use crate::review::{Page, review};
use crate::support::{Workspace, cases_of, report_of};

/// A report of the reference package with three cases and an ablation.
fn with_ablations(regressions: &Value) -> Value {
    let mut report = report_of(&cases_of(3, &[1.0], &[0.0], "c"));
    let mut lacking = crate::support::report_row("c0", "ablation:no-headers", 1, 0.0);
    lacking["metadata"] = json!({"ablation": {"components": [
        {"class": "instructions", "mechanism": "section", "target": {"heading": "Headers"}}]}});
    report["results"].as_array_mut().unwrap().push(lacking);
    for row in report["results"].as_array_mut().unwrap() {
        let passed = u32::from(row["objective_pass_rate"] == 1.0);
        (row["objective_passed"], row["objective_total"]) = (json!(passed), json!(1));
    }
    report["ablation_regressions"] = json!([
        {"id": "no-headers", "population": "answer", "status": "measured", "provenance_verified": true,
         "coverage": {"ablation": {"runs": 18, "missing": 1, "errored": 2}}, "regressions": regressions},
        {"id": "no-footers", "status": "unmeasured", "coverage": {"ablation": {"runs": 0, "missing": 0, "errored": 0}}}]);
    report
}

fn page_of(report: &Value, more: &[&str]) -> (String, String) {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", report.to_string());
    for (name, triggers) in [("triggers.json", triggers("demo")), ("other.json", triggers("other"))] {
        workspace.write(name, triggers.to_string());
    }
    let usual = ["render-viewer", "--benchmark", "benchmark.json", "--out", "review.html"];
    let said = workspace.run(&[&usual[..], more].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    (Page::read(&workspace, "review.html").0, said.stderr)
}

#[test]
fn what_got_worse_without_a_part_is_shown_as_the_report_states_it() {
    let regressions = json!([
        {"summary": "It <b>says</b> no.", "cases": ["c0", "c1", "gone"], "significance": {"min_p_value": 0.03125},
         "evidence_class": "confirmed_causal"},
        {"summary": "Footers go.", "cases": ["c2"], "significance": null, "evidence_class": "refuted"},
        {"summary": "It gets worse.", "note": "add cases"}]);
    let (page, _) = page_of(&with_ablations(&regressions), &[]);
    assert!(page.contains(">Which parts of the skill matter?</h2>"));
    assert!(page.contains("<code>no-headers</code> without the section “Headers”"));
    assert!(page.contains("3 of 18 runs without this part have no answer or failed."));
    assert!(page.contains("It &lt;b&gt;says&lt;&#x2f;b&gt; no.") || page.contains("It &lt;b&gt;says&lt;/b&gt; no."));
    let row = |start: &str| {
        let from = page.find(start).unwrap();
        page[from..from + page[from..].find("</tr>").unwrap()].to_owned()
    };
    let confirmed = row("It &lt;b&gt;");
    assert!(confirmed.contains(">confirmed<") && confirmed.contains(">0.031<"), "{confirmed}");
    // a case that the page does not have has no address
    assert!(confirmed.contains("<a href=\"#case=c0\">c0</a>") && confirmed.contains(", gone<"), "{confirmed}");
    let refuted = row("Footers go.");
    assert!(refuted.contains(">not confirmed<") && refuted.contains(">not tested<"), "{refuted}");
    let open = row("It gets worse.");
    assert!(open.contains(">no evidence either way<") && open.contains("Add cases."), "{open}");
    assert!(page.contains("No run without this part is in the report."));
    // the order of the page
    let place = |text: &str| page.find(text).unwrap();
    assert!(place("What does the lift cost?") < place("Which parts of the skill matter?"));
    assert!(place("Which parts of the skill matter?") < place("What was left out?"));
}

#[test]
fn the_verdict_of_inference_goes_before_that_of_the_reference_package() {
    let regressions = json!([{"summary": "s", "cases": ["c0"], "evidence_class": "refuted"}]);
    let mut report = with_ablations(&regressions);
    report["inference"] = json!({"ablations": [{"id": "no-headers", "regressions": [
        {"summary": "s", "cases": ["c0"], "verdict": "inconclusive", "p_holm": 0.4}]},
        {"id": "no-examples", "verdict": "confirmed", "p": 0.004}]});
    let (page, _) = page_of(&report, &[]);
    assert!(!page.contains(">not confirmed<") && page.contains(">no evidence either way<") && page.contains(">0.40<"));
    assert!(page.contains("<code>no-examples</code> without a part that the report does not name"));
    assert!(page.contains(">confirmed<") && page.contains(">0.004<"));
}

#[test]
fn a_report_without_ablations_has_no_such_section() {
    let mut report = with_ablations(&json!([]));
    report["ablation_regressions"] = json!([]);
    let (page, _) = page_of(&report, &[]);
    assert!(!page.contains("Which parts of the skill matter?") && !page.contains("Does it load by itself?"));
}

/// Trigger runs as `skill-trigger-matrix` writes them.
fn triggers(skill: &str) -> Value {
    let run = |model: &Value, query: &str, should: bool, triggered: bool, complete: bool| {
        json!({"population": "trigger", "agent": "claude", "model": model, "query": query, "should_trigger": should,
               "triggered": triggered, "observation_complete": complete})
    };
    let small = json!("small");
    json!({"skill_name": skill, "ablation": null, "results": [
        run(&small, "sort it", true, true, true), run(&small, "sort it", true, false, true),
        run(&small, "sort it", true, false, false), run(&small, "weather", false, true, true),
        run(&Value::Null, "weather", false, false, true)]})
}

#[test]
fn loading_is_told_apart_by_model_and_by_whether_it_should() {
    let report = with_ablations(&json!([]));
    let (page, said) = page_of(&report, &["--triggers", "triggers.json", "--quiet"]);
    assert_eq!(said, "");
    let from = page.find("Does it load by itself?").unwrap();
    let section = &page[from..from + page[from..].find("</section>").unwrap()];
    assert!(section.contains("on 1 query that should load it, and on 1 that should not."), "{section}");
    let small = &section[section.find("claude, small").unwrap()..section.find("claude, usual model").unwrap()];
    assert!(small.contains("<b>50%</b>") && small.contains("1 of 2 runs, 1 not finished"), "{small}");
    assert!(small.contains("<b>100%</b>") && small.contains("1 of 1 run<"), "{small}");
    let usual = &section[section.find("claude, usual model").unwrap()..];
    assert!(usual.contains("<b>not measured</b>") && usual.contains("<b>0%</b>"), "{usual}");

    let (page, said) = page_of(&report, &["--triggers", "other.json"]);
    assert!(page.contains("Does it load by itself?"));
    let warning = "WARN triggers_of_other_skill: the trigger runs are about the skill other, the report about demo\n";
    assert!(said.starts_with(warning), "{said}");
}

#[test]
fn trigger_runs_that_are_none_are_refused() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", with_ablations(&json!([])).to_string());
    let said = workspace.run(&[
        "render-viewer",
        "--benchmark",
        "benchmark.json",
        "--triggers",
        "benchmark.json",
        "--out",
        "review.html",
    ]);
    let expected = "FAIL: benchmark.json: /results: the rows of a trigger report are expected: `query`, `should_trigger`, \
                    `triggered`\n";
    assert_eq!((said.code, said.stderr.as_str()), (1, expected));
}

#[test]
fn a_run_that_failed_says_how() {
    let workspace = Workspace::with_cases(&["a", "b", "c", "d"]);
    for case in ["a", "b", "c", "d"] {
        for arm in ["with_skill", "without_skill"] {
            workspace.write(&format!("runs/{case}/{arm}/run-1/output.md"), "yes");
        }
    }
    let metadata = |case: &str, data: Value| {
        workspace.write(&format!("runs/{case}/with_skill/run-1/metadata.json"), data.to_string());
    };
    metadata("a", json!({"timed_out": true, "timeout_s": 300, "returncode": 124}));
    metadata("b", json!({"returncode": 2}));
    metadata("c", json!({"timed_out": true, "elapsed_ms": 169_000}));
    std::fs::remove_file(workspace.path().join("runs/d/without_skill/run-1/output.md")).unwrap();
    workspace.write("runs/d/without_skill/run-1/metadata.json", "{}");
    let page = review(&workspace, &[]);
    let index = page.island("sl-index");
    let reasons = |case: usize| index["cases"][case]["reasons"][0][1].as_str().unwrap().replace('\u{a0}', " ");
    assert_eq!(reasons(0), "1 of 1 pair is blocked: with the skill: timed out after 300 s.");
    assert_eq!(reasons(1), "1 of 1 pair is blocked: with the skill: ended with exit code 2.");
    assert_eq!(reasons(2), "1 of 1 pair is blocked: with the skill: timed out after 2 min 49 s.");
    assert_eq!(reasons(3), "1 of 1 pair is blocked: without the skill: produced no output.");
    let html = page.0.replace('\u{a0}', " ");
    assert!(html.contains("<td>With the skill: ended with exit code 2</td>"));
    assert_eq!(index["cases"][1]["runs"][0][3], "ended with exit code 2");
}

#[test]
fn an_iteration_without_runs_or_a_common_case_says_so() {
    let workspace = Workspace::with_cases(&["a"]);
    for arm in ["with_skill", "without_skill"] {
        workspace.write(&format!("runs/a/{arm}/run-1/output.md"), "yes");
    }
    workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]);
    let mut before = report_of(&cases_of(2, &[1.0], &[0.0], "z"));
    for row in before["results"].as_array_mut().unwrap() {
        let passed = u32::from(row["objective_pass_rate"] == 1.0);
        (row["objective_passed"], row["objective_total"]) = (json!(passed), json!(1));
    }
    workspace.write("iteration-1/benchmark.json", before.to_string());
    let said = workspace.run(&[
        "render-viewer",
        "--benchmark",
        "benchmark.json",
        "--previous-workspace",
        "iteration-1",
        "--out",
        "review.html",
    ]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let warning = "WARN previous_without_common_case: no case with its arm is in iteration-1 as well: the page compares \
                   nothing with it";
    assert_eq!(said.lines("WARN"), [warning]);
    let page = Page::read(&workspace, "review.html").0;
    assert!(page.contains("What changed since iteration-1?"));
    assert!(page.contains("Nothing can be compared: no case with its arm is in iteration-1 as well."));
}
