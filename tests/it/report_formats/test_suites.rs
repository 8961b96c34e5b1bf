//! JUnit and CTRF: what CI systems read.

use std::collections::BTreeMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::{Value, json};

use super::{report_of, row, useful_skill, written};
use crate::support::{repository, run_in};

/// An element of a document.
#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub children: Vec<Element>,
    pub text: String,
}

impl Element {
    pub fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
            (key, attribute.normalized_value(XmlVersion::Explicit1_0).unwrap().into_owned())
        });
        Self {
            name: String::from_utf8(start.name().as_ref().to_vec()).unwrap(),
            attributes: attributes.collect(),
            ..Self::default()
        }
    }

    pub fn named<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// Reads a document, strictly.
pub fn parse(text: &str) -> Element {
    let is_char =
        |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(is_char), "a character that XML 1.0 does not allow");
    let mut reader = Reader::from_str(text);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(Element::of(&start)),
            Event::Empty(start) => open.last_mut().unwrap().children.push(Element::of(&start)),
            Event::End(_) => {
                let element = open.pop().unwrap();
                open.last_mut().unwrap().children.push(element);
            }
            Event::Text(text) => open.last_mut().unwrap().text.push_str(&text.decode().unwrap()),
            Event::GeneralRef(name) => {
                let name = name.decode().unwrap();
                let text = match quick_xml::escape::unescape(&format!("&{name};")) {
                    Ok(text) => text.into_owned(),
                    Err(error) => panic!("{error}"),
                };
                open.last_mut().unwrap().text.push_str(&text);
            }
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(open.len(), 1);
    let mut roots = open.remove(0).children;
    assert_eq!(roots.len(), 1);
    roots.remove(0)
}

/// What the schema `junit-10.xsd` of the xUnit plugin of Jenkins asks for: allowed children, required and allowed
/// attributes.
pub fn assert_valid(element: &Element) {
    let (children, required, allowed): (&[&str], &[&str], &[&str]) = match element.name.as_str() {
        "testsuite" => (
            &["testsuite", "properties", "testcase", "system-out", "system-err"],
            &["name", "tests", "failures", "errors"],
            &["group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"],
        ),
        "properties" => (&["property"], &[], &[]),
        "property" => (&[], &["name", "value"], &[]),
        "testcase" => {
            (&["skipped", "error", "failure", "system-out", "system-err"], &["name"], &["time", "classname", "group"])
        }
        "failure" | "error" | "skipped" => (&[], &[], &["type", "message"]),
        "system-out" | "system-err" => (&[], &[], &[]),
        other => panic!("the schema has no {other}"),
    };
    for name in required {
        assert!(element.attributes.contains_key(*name), "{}: {name} is required", element.name);
    }
    for name in element.attributes.keys() {
        let known = required.iter().chain(allowed).any(|known| known == name);
        assert!(known, "{}: {name} is not allowed", element.name);
    }
    if let Some(time) = element.attributes.get("time") {
        assert!(time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{time}");
    }
    for child in &element.children {
        assert!(children.contains(&child.name.as_str()), "{} in {}", child.name, element.name);
        assert_valid(child);
    }
}

pub fn junit(report: &Value, more: &[&str]) -> Element {
    let said = written(report, "junit", more);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:#?}");
    assert!(said.stdout.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"), "{}", said.stdout);
    let suite = parse(&said.stdout);
    assert_valid(&suite);
    suite
}

#[test]
fn a_failing_baseline_does_not_turn_the_suite_red() {
    let suite = junit(&useful_skill(), &[]);
    let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name));
    assert_eq!(counts, ["6", "0", "0", "2"]);
    // 3 of 3 with the skill, 1 of 3 without it: a lift of 2/3
    let properties: Vec<(&str, &str)> = suite
        .named("properties")
        .flat_map(|properties| &properties.children)
        .map(|property| (property.attribute("name"), property.attribute("value")))
        .take(4)
        .collect();
    let expected = [
        ("with_skill_objective_pass_rate", "1.0000"),
        ("without_skill_objective_pass_rate", "0.3333"),
        ("absolute_delta", "0.6667"),
        ("normalized_gain", "1.0000"),
    ];
    assert_eq!(properties, expected);
    let baseline: Vec<&Element> = suite.named("testcase").filter(|case| !case.children.is_empty()).collect();
    assert_eq!(baseline.len(), 2);
    assert_eq!((baseline[0].attribute("classname"), baseline[0].attribute("name")), ("demo.b", "without_skill/run-1"));
    let skipped = baseline[0].named("skipped").next().unwrap();
    assert_eq!(skipped.attribute("message"), "1 failing check(s), in an arm that decides nothing");
    assert_eq!(baseline[0].named("system-out").next().unwrap().text, "check 0: missing 'yes'");
    // with the rule of version 0.6 they fail
    let suite = junit(&useful_skill(), &["--gate-variants", "all"]);
    assert_eq!(["tests", "failures", "skipped"].map(|name| suite.attribute(name)), ["6", "2", "0"]);
    let suite = junit(&useful_skill(), &["--gate-variants", "with_skill,without_skill"]);
    assert_eq!(suite.attribute("failures"), "2");
}

#[test]
fn an_arm_that_is_missing_gives_no_figure() {
    let suite = junit(&report_of(&[row("a", "with_skill", 1, &[true]), row("b", "with_skill", 1, &[false])]), &[]);
    let properties = suite.named("properties").flat_map(|properties| &properties.children).take(4);
    assert!(properties.map(|property| property.attribute("value")).all(str::is_empty));
    assert_eq!(["tests", "failures"].map(|name| suite.attribute(name)), ["2", "1"]);
    // nothing is left to gain over a baseline that passes everything
    let perfect = report_of(&[row("a", "with_skill", 1, &[true]), row("a", "without_skill", 1, &[true])]);
    let ctrf = written(&perfect, "ctrf", &[]).json();
    let figures = &ctrf["results"]["extra"];
    assert_eq!((&figures["absolute_delta"], &figures["normalized_gain"]), (&json!(0.0), &Value::Null));
}

#[test]
fn every_way_not_to_pass_has_its_words() {
    let with = |number: u32, change: &dyn Fn(&mut Value)| {
        let mut row = row("a", "with_skill", number, &[true, false]);
        change(&mut row);
        row
    };
    let hold = |row: &mut Value| {
        row["objective_passed"] = json!(2);
        row["assertions"][1]["passed"] = json!(true);
    };
    let rows = [
        with(1, &|_| {}),
        with(2, &|row| row["missing_output"] = json!(true)),
        with(3, &|row| row["execution_valid"] = json!(false)),
        with(4, &|row| row["unscored_reasons"] = json!(["grader_failed"])),
        // a soft check and a skipped one decide nothing
        with(5, &|row| {
            row["objective_passed"] = json!(1);
            row["objective_total"] = json!(1);
            row["assertions"][1]["severity"] = json!("soft");
            row["assertions"][0]["skipped"] = json!(false);
        }),
        with(6, &|row| {
            row["objective_total"] = json!(1);
            row["assertions"][1]["skipped"] = json!(true);
            row["assertions"][1]["skip_reason"] = json!("check 0 failed");
        }),
        with(7, &|row| {
            hold(row);
            row["deferred_gates"] = json!(2);
        }),
        with(8, &|row| {
            hold(row);
            row["assertions"][1]["passed"] = json!(null);
            row["assertions"][1]["state"] = json!("error");
        }),
        with(9, &|row| {
            row["objective_passed"] = json!(0);
            row["objective_total"] = json!(0);
            row["objective_pass_rate"] = json!(null);
            row["assertions"] = json!([]);
        }),
        // the counts count, also where the list says nothing
        with(10, &|row| row["assertions"] = json!([])),
        with(11, &|row| {
            hold(row);
            row["vetoed"] = json!(true);
            row["critical_failures"] = json!(["names nobody"]);
        }),
    ];
    let mut report = report_of(&rows);
    report["results"][4]["objective_pass_rate"] = json!(1.0);
    report["results"][5]["objective_pass_rate"] = json!(1.0);
    for at in [6, 7] {
        report["results"][at]["objective_pass_rate"] = json!(1.0);
    }
    report["results"][10]["objective_pass_rate"] = json!(0.0);
    let suite = junit(&report, &[]);
    let said: Vec<String> = suite
        .named("testcase")
        .map(|case| match case.children.first() {
            None => "passed".to_owned(),
            Some(child) => format!("{}: {}: {}", child.name, child.attribute("message"), child.text),
        })
        .collect();
    let expected = [
        "failure: 1 failing check(s): check 1: missing 'yes'",
        "failure: 1 failing check(s): missing output under a/with_skill/run-2",
        "failure: 1 failing check(s): execution error (infra failure) under a/with_skill/run-3",
        "failure: 1 failing check(s): not scored (the grader failed) under a/with_skill/run-4",
        "passed",
        "passed",
        "skipped: 2 gates wait for a judge: ",
        "skipped: 1 check came to no decision: ",
        "skipped: nothing was checked: ",
        "failure: 1 failing check(s): 1 of 2 checks hold; the report does not list the others",
        "failure: 1 failing check(s): names nobody: a critical check that failed",
    ];
    assert_eq!(said, expected);
    assert_eq!(["failures", "skipped"].map(|name| suite.attribute(name)), ["6", "3"]);
    let ctrf = written(&report, "ctrf", &[]).json();
    let statuses: Vec<&str> =
        ctrf["results"]["tests"].as_array().unwrap().iter().map(|test| test["status"].as_str().unwrap()).collect();
    assert_eq!(
        statuses,
        ["failed", "failed", "failed", "failed", "passed", "passed", "pending", "other", "skipped", "failed", "failed"]
    );
}

#[test]
fn names_have_the_model_and_times_are_those_that_were_measured() {
    let mut report = useful_skill();
    for (at, model) in [(0, "m.1"), (3, "m.1")] {
        report["results"][at]["model"] = json!(model);
        report["results"][at]["metadata"] = json!({"elapsed_ms": 1250});
    }
    let suite = junit(&report, &[]);
    let first = suite.named("testcase").next().unwrap();
    assert_eq!(
        ["classname", "name", "time"].map(|name| first.attribute(name)),
        ["demo.a.m.1", "m.1/with_skill/run-1", "1.250"]
    );
    assert_eq!((suite.attribute("time"), first.children.len()), ("", 0));
    let properties: Vec<&Element> = suite.named("properties").flat_map(|properties| &properties.children).collect();
    let missing =
        properties.iter().find(|property| property.attribute("name") == "telemetry.elapsed_ms.b.with_skill.run-1");
    assert_eq!(missing.unwrap().attribute("value"), "unavailable:missing");
    let last = properties.last().unwrap();
    assert_eq!((last.attribute("name"), last.attribute("value")), ("telemetry.elapsed_ms.aggregate", "partial"));
    for row in report["results"].as_array_mut().unwrap() {
        row["metadata"] = json!({"elapsed_ms": 500});
    }
    assert_eq!(junit(&report, &[]).attribute("time"), "3.000");
}

#[test]
fn two_rows_with_the_same_names_are_told_apart_by_their_models() {
    let mut rows = Vec::new();
    for model in ["x", "y"] {
        let mut row = row("a", "with_skill", 1, &[true]);
        row["model"] = json!(model);
        rows.push(row);
    }
    let suite = junit(&report_of(&rows), &[]);
    let names: Vec<&str> = suite.named("testcase").map(|case| case.attribute("name")).collect();
    assert_eq!(names, ["x/with_skill/run-1", "y/with_skill/run-1"]);
}

/// What the schema of CTRF asks for.
fn assert_ctrf(report: &Value) {
    assert_eq!(report["reportFormat"], "CTRF");
    let version: Vec<&str> = report["specVersion"].as_str().unwrap().split('.').collect();
    assert!(version.len() == 3 && version.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())));
    let results = &report["results"];
    assert!(!results["tool"]["name"].as_str().unwrap().is_empty());
    let summary = &results["summary"];
    let count = |key: &str| summary[key].as_u64().unwrap_or_else(|| panic!("{key}: {summary}"));
    let (start, stop) = (count("start"), count("stop"));
    assert!(start <= stop);
    let tests = results["tests"].as_array().unwrap();
    assert_eq!(count("tests"), tests.len() as u64);
    for status in ["passed", "failed", "pending", "skipped", "other"] {
        let found = tests.iter().filter(|test| test["status"] == status).count();
        assert_eq!(count(status), found as u64, "{status}");
    }
    let known = ["passed", "failed", "pending", "skipped", "other"];
    for test in tests {
        assert!(!test["name"].as_str().unwrap().is_empty() && test["duration"].as_u64().is_some(), "{test}");
        assert!(known.contains(&test["status"].as_str().unwrap()), "{test}");
        for key in ["message", "trace"] {
            assert!(test.get(key).is_none_or(Value::is_string), "{test}");
        }
    }
}

#[test]
fn ctrf_has_what_its_schema_asks_for() {
    let mut report = useful_skill();
    report["generated_at"] = json!(1_760_000_000);
    let ctrf = written(&report, "ctrf", &[]).json();
    assert_ctrf(&ctrf);
    let results = &ctrf["results"];
    assert_eq!(results["summary"]["start"], json!(1_760_000_000_000_i64));
    assert_eq!((&results["summary"]["passed"], &results["summary"]["skipped"]), (&json!(4), &json!(2)));
    let test = &results["tests"][4];
    assert_eq!(test["name"], "b without_skill/run-1");
    assert_eq!((&test["status"], &test["trace"]), (&json!("skipped"), &json!("check 0: missing 'yes'")));
    // what was not measured is 0 where the schema asks for a number, and named beside it
    assert_eq!((&test["duration"], &test["extra"]["duration_missing"]), (&json!(0), &json!("unavailable:missing")));
    assert_eq!(results["extra"]["verdict"], "too_few_cases");
    // three cases: two moved the same way, 2 · 2⁻²
    assert_eq!(results["extra"]["p_two_sided"], 0.5);
    assert_eq!(results["extra"]["absolute_delta"].as_f64().unwrap(), 1.0 - 1.0 / 3.0);
}

#[test]
fn the_demo_and_the_report_of_the_reference_have_the_same_tests() {
    let folder = repository("datasets/demo");
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("benchmark.json");
    let ours = path.to_str().unwrap();
    run_in(&folder, &["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--out", ours, "--quiet"], &[]);
    let reference = repository("tests/data/reference-demo.json");
    let suites = [ours, reference.to_str().unwrap()].map(|path| {
        let said = run_in(out.path(), &["report", "--benchmark", path, "--format", "junit"], &[]);
        assert_eq!((said.code, said.stderr.as_str()), (0, ""));
        let suite = parse(&said.stdout);
        assert_valid(&suite);
        let ctrf = run_in(out.path(), &["report", "--benchmark", path, "--format", "ctrf"], &[]).json();
        assert_ctrf(&ctrf);
        assert_eq!(ctrf["results"]["summary"]["failed"].to_string(), suite.attribute("failures"));
        suite
    });
    let counts = suites.each_ref().map(|suite| {
        ["name", "tests", "failures", "skipped", "errors", "time"].map(|name| suite.attribute(name).to_owned())
    });
    assert_eq!(counts[0], counts[1]);
    let cases = suites.each_ref().map(|suite| {
        let of = |case: &Element| {
            let children =
                case.children.iter().map(|child| (child.name.clone(), child.attribute("message").to_owned()));
            (case.attributes.clone(), children.collect::<Vec<_>>())
        };
        suite.named("testcase").map(of).collect::<Vec<_>>()
    });
    assert_eq!(cases[0], cases[1]);
}
