//! Texts of others in every format: they mean nothing but themselves.

use serde_json::{Value, json};

use super::test_suites::junit;
use super::{report_of, row, written};

/// A text that breaks out of everything that is not escaped.
const PAYLOAD: &str = "</testsuite><script>alert('x')</script><!-- ]]> &amp; \u{0}\u{1b}]0;x\u{7}\u{1b}[2J\u{202e}\u{9b}31m\u{fffe}\r\n\
    ::error title=x::y\n%0A::set-output name=a::b\n| a | b |\n```\n`code` ![i](http://e.example/i.png) [l](javascript:x) @team #12 \
    <img src=x onerror=y> *b* _i_ ~~s~~ \u{2028}\u{2029}";

/// A report in which every text is hostile.
fn hostile() -> Value {
    let mut rows = Vec::new();
    for (variant, holds) in [("with_skill", false), ("without_skill", true), (PAYLOAD, false)] {
        for case in [PAYLOAD, "b"] {
            let mut row = row(case, variant, 1, &[holds]);
            row["model"] = json!(PAYLOAD);
            row["case_label"] = json!(PAYLOAD);
            row["run_dir"] = json!(PAYLOAD);
            row["domain"] = json!(if case == "b" { "d" } else { PAYLOAD });
            row["tags"] = json!([PAYLOAD, case]);
            row["critical_failures"] = json!([PAYLOAD]);
            row["vetoed"] = json!(!holds);
            if holds {
                row["critical_failures"] = json!([]);
            }
            row["assertions"][0]["name"] = json!(PAYLOAD);
            row["assertions"][0]["evidence"] = json!(PAYLOAD);
            row["assertions"][0]["one_arm"] = json!("names_skill");
            row["metadata"] = json!({"telemetry": PAYLOAD, "cost_normalized": {"source": PAYLOAD}});
            row["objective_pass_rate"] = json!(if holds { 1.0 } else { 0.0 });
            rows.push(row);
        }
    }
    let mut extra = row("c", "with_skill", 1, &[true]);
    extra["unscored_reasons"] = json!([PAYLOAD]);
    extra["objective_pass_rate"] = json!(1.0);
    rows.push(extra);
    let mut report = report_of(&rows);
    report["skill_name"] = json!(PAYLOAD);
    report["provenance"] =
        json!({"tool_version": PAYLOAD, "suite_sha256": PAYLOAD, "runs_sha256": "sha256:é", "dialect": PAYLOAD});
    report["tool"] = json!({"name": PAYLOAD, "version": PAYLOAD});
    report["inference"] = json!({"overall": {"verdict": {"code": PAYLOAD}}});
    report
}

fn assert_no_controls(text: &str) {
    let bad =
        text.chars().find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{2028}' | '\u{2029}'));
    assert_eq!(bad, None, "{text:?}");
}

#[test]
fn junit_is_well_formed_and_nothing_breaks_out() {
    let suite = junit(&hostile(), &["--quiet"]);
    assert_eq!(suite.named("testcase").count(), 7);
    assert_eq!(suite.attribute("tests"), "7");
    let failure = suite.named("testcase").next().unwrap().named("failure").next().unwrap();
    // what XML can hold is there as it was
    assert!(failure.text.contains("</testsuite><script>alert('x')</script><!-- ]]> &amp; "), "{}", failure.text);
    assert!(failure.text.contains("\u{fffd}\u{fffd}]0;x\u{fffd}\u{fffd}[2J"), "{}", failure.text);
    let out = written(&hostile(), "junit", &["--quiet"]).stdout;
    assert!(!out.contains("<script") && !out.contains("<img"), "{out}");
    assert_no_controls(&out);
}

#[test]
fn ctrf_is_json_and_a_terminal_obeys_nothing_of_it() {
    let said = written(&hostile(), "ctrf", &["--quiet"]);
    assert_eq!(said.code, 0);
    let name = said.json()["results"]["tests"][0]["extra"]["case_id"].as_str().unwrap().to_owned();
    assert_eq!(name, PAYLOAD);
    let controls: Vec<char> = said.stdout.chars().filter(|c| *c < ' ' && *c != '\n').collect();
    assert!(controls.is_empty(), "{controls:?}");
}

#[test]
fn markdown_holds_no_element_link_mention_or_break_of_a_table() {
    for format in ["markdown", "github"] {
        let said = written(&hostile(), format, &["--quiet"]);
        assert_eq!(said.code, 0);
        let text = said.stdout.split("\n::warning").next().unwrap();
        assert_no_controls(text);
        let ours = ["<details>", "</details>", "<summary>", "</summary>"];
        let rest = ours.iter().fold(text.to_owned(), |text, tag| text.replace(tag, ""));
        // code spans hold what they are given: nothing in them is Markdown
        let mut outside = String::new();
        for line in rest.lines() {
            let line = match line.strip_prefix("- `").and_then(|line| line.split_once("``` ")) {
                Some((_, rest)) => rest,
                None => match line.strip_prefix("- ````").and_then(|line| line.split_once("````")) {
                    Some((_, rest)) => rest,
                    None => line,
                },
            };
            outside.push_str(line);
            outside.push('\n');
        }
        let outside = outside.replace("\\]", "").replace("\\[", "");
        for bad in ["http://", "<script", "<img", "<!--", "](http", "](javascript", "@team", "#12"] {
            assert!(!outside.contains(bad), "{format}: {bad}: {outside}");
        }
        // every table has as many cells in each row as its head
        let mut cells = 0;
        for line in text.lines() {
            if !line.starts_with('|') {
                cells = 0;
                continue;
            }
            let found = line.replace("\\|", "").matches('|').count();
            assert!(cells == 0 || found == cells, "{format}: {line}");
            cells = found;
        }
        assert!(!text.lines().any(|line| line.starts_with("::")), "{text}");
    }
}

#[test]
fn workflow_commands_are_ours_alone() {
    let said = written(&hostile(), "github", &["--quiet", "--out", "summary.md"]);
    assert_eq!(said.code, 0);
    assert_no_controls(&said.stdout);
    for line in said.stdout.lines() {
        let (title, _) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        assert!(
            title.starts_with("warning title=skill-eval ") || title.starts_with("error title=skill-eval "),
            "{line}"
        );
        assert!(!title.contains(',') && !title["warning title=".len()..].contains(':'), "{title}");
    }
    let case = said.stdout.lines().find(|line| line.contains("</testsuite>")).unwrap();
    assert!(case.contains("%0D%0A%3A%3Aerror title=x%3A%3Ay%0A%250A%3A%3Aset-output"), "{case}");
}

#[test]
fn names_beyond_reason_are_cut_and_the_limit_holds() {
    let long = PAYLOAD.repeat(500);
    let mut report = hostile();
    report["skill_name"] = json!(long);
    for row in report["results"].as_array_mut().unwrap() {
        row["model"] = json!(long);
        row["assertions"][0]["name"] = json!(long);
    }
    for format in ["markdown", "github"] {
        let said = written(&report, format, &["--quiet", "--max-kib", "32", "--out", "document.md"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let said = written(&report, format, &["--quiet", "--max-kib", "32"]);
        let document = said.stdout.split("\n::warning").next().unwrap();
        assert!(document.len() <= 32 * 1024, "{format}: {}", document.len());
    }
    let suite = junit(&report, &["--quiet"]);
    assert!(suite.attribute("name").chars().count() <= 501);
}
