//! Suites that others wrote, when they are at hand: `SKILL_LIFT_CORPUS` names the folder, and its index what a reader
//! should get of each. There is no item with which this reader disagrees.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::validate;
use crate::support::Said;

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("SKILL_LIFT_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("the corpus was not given (SKILL_LIFT_CORPUS): real suites are not read");
    }
    folder
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// An object of counts; an absent one is empty.
fn counts(value: &Value) -> BTreeMap<String, u64> {
    value.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), count(value))).collect()
}

/// What the index calls a container, in our words.
fn container(word: &str) -> &str {
    if word == "top-level array" { "array" } else { word }
}

#[test]
fn real_suites_are_read_as_their_index_says() {
    let Some(corpus) = corpus() else {
        return;
    };
    let index: Value = serde_json::from_str(&std::fs::read_to_string(corpus.join("INDEX.json")).unwrap()).unwrap();
    let mut read = BTreeMap::new();
    for item in index["items"].as_array().unwrap() {
        let (path, kind) = (item["path"].as_str().unwrap(), item["kind"].as_str().unwrap());
        let wanted = &item["what_a_reader_should_get"];
        match kind {
            "suite" => check_suite(path, &validate(&corpus, path), wanted),
            "trigger-set" => check_trigger_set(path, &validate(&corpus, path), wanted),
            "not-a-suite" => check_refusal(path, &validate(&corpus, path), wanted),
            _ => continue,
        }
        *read.entry(kind.to_owned()).or_insert(0) += 1;
    }
    println!("read: {read:?}");
    assert!(read.values().sum::<i32>() > 80, "{read:?}");
}

fn check_suite(path: &str, said: &Said, wanted: &Value) {
    assert_eq!(said.code, 0, "{path}: {}", said.stderr);
    let verdict = said.json();
    let suite = &verdict["suite"];
    assert_eq!(suite["container"], container(wanted["container"].as_str().unwrap()), "{path}");
    assert_eq!(suite["cases"], wanted["cases"], "{path}");
    assert_eq!(suite["assertions"], wanted["assertions"], "{path}");
    assert_eq!(suite["ungraded_cases"], count(&wanted["ungraded_cases"]), "{path}");
    if let Some(name) = wanted["skill_name"].as_str() {
        assert_eq!(suite["skill_name"], name, "{path}");
    }
    let mut by_class = counts(&suite["by_class"]);
    by_class.remove("score"); // the index does not count dimensions that are scored
    let mut wanted_classes = counts(&wanted["by_class"]);
    if let Some(skipped) = wanted_classes.remove("skipped") {
        wanted_classes.insert("retired".to_owned(), skipped);
    }
    assert_eq!(by_class, wanted_classes, "{path}");
    let mut by_kind = counts(&suite["by_kind"]);
    // the index names only the kinds that the answer and the files decide
    by_kind.retain(|kind, _| !matches!(kind.as_str(), "script" | "retired" | "no_write_of" | "write_ordering"));
    assert_eq!(by_kind, counts(&wanted["by_kind"]), "{path}");
    assert_eq!(counts(&suite["judge_types"]), counts(&wanted["judge_types"]), "{path}");
    assert_eq!(counts(&suite["trigger"]).values().sum::<u64>(), count(&wanted["trigger_cases"]), "{path}");
    let missing = count(&wanted["ids"]["missing"]);
    let warnings = verdict["warnings"].as_array().unwrap();
    let generated = warnings.iter().find(|warning| warning["rule"] == "generated_id");
    let message = generated.map_or("", |warning| warning["message"].as_str().unwrap());
    let named = message.rsplit(' ').next().unwrap_or_default().parse().unwrap_or(0_u64);
    assert_eq!(named, missing, "{path}: {message}");
}

fn check_trigger_set(path: &str, said: &Said, wanted: &Value) {
    assert_eq!(said.code, 0, "{path}: {}", said.stderr);
    let suite = &said.json()["suite"];
    assert_eq!(suite["container"], container(wanted["container"].as_str().unwrap()), "{path}");
    assert_eq!(suite["cases"], wanted["queries"], "{path}");
    assert_eq!((&suite["assertions"], &suite["ungraded_cases"]), (&json!(0), &json!(0)), "{path}");
    let trigger = &suite["trigger"];
    for (ours, theirs) in [
        ("should_trigger", "should_trigger"),
        ("should_not_trigger", "should_not_trigger"),
        ("unlabelled", "without_label"),
    ] {
        assert_eq!(trigger[ours], wanted[theirs], "{path} {ours}");
    }
}

fn check_refusal(path: &str, said: &Said, wanted: &Value) {
    assert_eq!(said.code, 1, "{path}");
    let verdict = said.json();
    let errors = verdict["errors"].as_array().unwrap();
    let (rule, message) = (&errors[0]["rule"], errors[0]["message"].as_str().unwrap());
    match wanted["reason"].as_str().unwrap() {
        "no case has a prompt" => {
            assert_eq!(rule, "not_an_eval_suite", "{path}");
            assert!(message.contains(&format!("none of the {} entries", wanted["entries"])), "{path}: {message}");
        }
        // an object without any list of cases keeps the messages of the dialect `shared-benchmark`
        "no case list" => assert_eq!(rule, "version-form", "{path}"),
        other => panic!("{path}: an unknown reason: {other}"),
    }
}
