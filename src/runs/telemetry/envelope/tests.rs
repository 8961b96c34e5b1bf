use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::json::{self, Item, Tape};
use crate::runs::Signal;
use crate::runs::telemetry::RunTelemetry;

fn with_tapes<T>(texts: &[String], use_items: impl FnOnce(&[Item<'_, '_>]) -> T) -> T {
    let tapes: Vec<_> = texts.iter().map(|text| Tape::read(text, json::Limits::SIDECAR).unwrap()).collect();
    use_items(&tapes.iter().map(Tape::root).collect::<Vec<_>>())
}

/// The envelope of some files, as it is written.
fn envelope(texts: &[&str], has_events: bool) -> Value {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let envelope = with_tapes(&texts, |items| Envelope::of(items, &Metrics::merge(items), has_events));
    serde_json::to_value(envelope).unwrap()
}

fn shown<T: std::fmt::Debug>(measurement: &Measurement<T>) -> String {
    match &measurement.observation {
        Observation::Available { value, provenance } => format!("{value:?} {}", provenance.code()),
        Observation::Unavailable(reason) => format!("unavailable {reason}"),
        Observation::NotApplicable(reason) => format!("not applicable {reason}"),
    }
}

/// Everything that a report reads of a run.
fn readings(texts: &[String]) -> (Vec<String>, Vec<Basis>, Metrics) {
    with_tapes(texts, |items| {
        let mut run = RunTelemetry::read(items);
        let counts = [
            &run.input_tokens,
            &run.output_tokens,
            &run.total_tokens,
            &run.cache_read_tokens,
            &run.cache_write_tokens,
            &run.billable_tokens,
            &run.elapsed_ms,
        ];
        // why no commands are known is said in other words: by a reader before, by the envelope after
        let commands = format!("{:?}", run.commands.value());
        let values = counts.into_iter().map(shown).chain([shown(&run.cost), commands]).collect();
        let bases = run.bases_mut().into_iter().map(|basis| (**basis).clone()).collect();
        (values, bases, Metrics::merge(items))
    })
}

#[test]
fn the_wire_form_has_the_members_of_the_schema() {
    let text = r#"{"total_tokens":7,"cost_usd":0.050,"model":"m","run_number":2,"case_id":"c","elapsed_ms":900,
        "trace_observation_complete":true,"commands":3,"skill_invoked":true}"#;
    let written = envelope(&[text], false);
    let basis = json!({"population": "answer", "provider": "", "runner": "", "model": "m", "billing_scope": "run",
        "pricing_model": null, "pricing_table_version": null, "case_id": "c", "run_number": 2,
        "manifest_revision": null, "skill_tree_hash": null});
    let from = |provenance: &str, value: Value| json!({"availability": "available", "value": value, "provenance": provenance, "basis": basis});
    let value = |value: Value| from("legacy_unverified", value);
    let counted = |value: Value| from("trace_normalized", value);
    let none = |reason: &str| json!({"availability": "unavailable", "reason": reason, "basis": basis});
    let expected = json!({
        "schema_version": 3,
        "population": "answer",
        "basis": {"population": "answer", "provider": "", "runner": "", "model": "m", "billing_scope": "run",
            "case_id": "c", "run_number": 2},
        "measurements": {
            "input_tokens": none("missing"), "output_tokens": none("missing"), "total_tokens": value(json!(7)),
            "cost": value(json!({"amount": "0.05", "currency": "USD"})), "elapsed_ms": counted(json!(900)),
            "tool_calls": none("missing_tool_calls"), "commands": counted(json!(3)),
            "file_reads": none("missing_file_reads"), "file_writes": none("missing_file_writes"),
            "errors": none("missing_errors"), "retries": none("missing_retries"),
            "repeated_command_max": none("missing_repeated_command_max"), "skill_invoked": counted(json!(true)),
        },
    });
    assert_eq!(written, expected);
    // the order of the keys is that of version 0.6
    assert_eq!(serde_json::to_string(&written).unwrap(), serde_json::to_string(&expected).unwrap());
}

#[test]
fn what_was_normalised_is_carried_over_with_its_source() {
    let text = r#"{"usage_normalized":{"total_tokens":9,"source":"provider_reported"},
        "cost_normalized":{"total_cost":0.02,"currency":"EUR","source":"price_table_estimated"}}"#;
    let measurements = &envelope(&[text], false)["measurements"];
    assert_eq!(measurements["total_tokens"]["value"], 9);
    assert_eq!(measurements["total_tokens"]["provenance"], "provider_reported");
    assert_eq!(measurements["cost"]["value"], json!({"amount": "0.02", "currency": "EUR"}));
    assert_eq!(measurements["cost"]["provenance"], "price_table_estimated");
    assert_eq!(measurements["input_tokens"]["reason"], "missing_input_tokens");
}

#[test]
fn an_envelope_may_call_every_value_unverified() {
    let text = r#"{"usage_normalized":{"total_tokens":9,"source":"provider_reported"},"cost":1,"elapsed_ms":5,
        "skill_invoked":true}"#;
    let written = with_tapes(&[text.to_owned()], |items| {
        serde_json::to_value(Envelope::of(items, &Metrics::merge(items), false).unverified()).unwrap()
    });
    for name in ["total_tokens", "cost", "elapsed_ms", "skill_invoked"] {
        assert_eq!(written["measurements"][name]["provenance"], "legacy_unverified", "{name}");
    }
    assert_eq!(written["measurements"]["input_tokens"]["reason"], "missing_input_tokens");
}

#[test]
fn a_trace_that_may_be_incomplete_is_no_count_of_zero() {
    let measurements = |text: &str, has_events| envelope(&[text], has_events)["measurements"].clone();
    // nobody says whether the trace is complete: the plain number is what readers find
    assert_eq!(measurements(r#"{"commands":0}"#, false)["commands"]["value"], 0);
    // it is said to be incomplete: readers go on with the plain number, and the envelope does not repeat it
    let said = measurements(r#"{"commands":0,"skill_invoked":false,"trace_observation_complete":false}"#, false);
    assert_eq!((&said["commands"], &said["skill_invoked"]), (&Value::Null, &Value::Null));
    assert_eq!(measurements("{}", false)["commands"]["reason"], "trace_observation_incomplete");
    assert_eq!(measurements("{}", false)["skill_invoked"]["reason"], "trace_observation_incomplete");
    // the word about the trace counts before the one about the process
    let both = r#"{"trace_observation_complete":true,"observation_complete":false}"#;
    assert_eq!(measurements(both, false)["tool_calls"]["reason"], "missing_tool_calls");
    // checks look into the events, which an entry would keep them from
    let events = measurements("{}", true);
    for left_out in ["tool_calls", "commands", "repeated_command_max", "skill_invoked"] {
        assert_eq!(events[left_out], Value::Null, "{left_out}");
    }
    assert_eq!(events["file_reads"]["reason"], "trace_observation_incomplete");
}

#[test]
fn what_two_readers_find_differently_is_left_out() {
    let measurements = |text: &str| envelope(&[text], false)["measurements"].clone();
    // a report counts 100 tokens, a check 120
    let text = r#"{"usage_normalized":{"total_tokens":100,"source":"provider_reported"},"total_tokens":120}"#;
    assert_eq!(measurements(text)["total_tokens"], Value::Null);
    let text = r#"{"usage_normalized":{"source":"missing"},"total_tokens":120}"#;
    assert_eq!(measurements(text)["total_tokens"], Value::Null);
    assert_eq!(measurements(r#"{"elapsed_seconds":5.2,"elapsed_ms":5200}"#)["elapsed_ms"]["value"], 5200);
    assert_eq!(measurements(r#"{"elapsed_seconds":5.2,"elapsed_ms":5213}"#)["elapsed_ms"], Value::Null);
    assert_eq!(measurements(r#"{"elapsed_seconds":5.2}"#)["elapsed_ms"], Value::Null);
    assert_eq!(measurements(r#"{"elapsed_ms":1234.5}"#)["elapsed_ms"], Value::Null);
    assert_eq!(measurements(r#"{"command_count":4}"#)["commands"], Value::Null);
}

/// Members with values that real and broken files have.
fn member() -> impl Strategy<Value = (String, Value)> {
    let numbers = prop_oneof![
        Just(json!(0)),
        Just(json!(7)),
        Just(json!(1234.5)),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!(true)),
        Just(json!("7")),
        Just(Value::Null),
    ];
    let keys = prop::sample::select(vec![
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "cost_usd",
        "cost",
        "elapsed_ms",
        "duration_ms",
        "elapsed_seconds",
        "duration_seconds",
        "tool_calls",
        "commands",
        "command_count",
        "repeated_command_max",
        "errors",
        "skill_invoked",
        "trace_observation_complete",
        "observation_complete",
        "model",
        "provider",
        "run_number",
        "population",
        "billing_scope",
    ]);
    let plain = (keys, numbers.clone()).prop_map(|(key, value)| (key.to_owned(), value));
    let sources = prop::sample::select(vec!["missing", "not_applicable", "provider_reported", "estimated", "guess"]);
    let usage = (sources.clone(), numbers.clone(), numbers.clone()).prop_map(|(source, total, read)| {
        let block = json!({"source": source, "total_tokens": total, "cache_read_tokens": read, "input_tokens": 3});
        ("usage_normalized".to_owned(), block)
    });
    let cost = (sources, numbers.clone())
        .prop_map(|(source, total)| ("cost_normalized".to_owned(), json!({"source": source, "total_cost": total})));
    let nested = (numbers.clone(), numbers).prop_map(|(total, cost)| {
        let block =
            json!({"total_tokens": total, "prompt_tokens": 5, "cost_usd": cost, "elapsed_ms": 8, "commands": 2});
        ("usage".to_owned(), block)
    });
    prop_oneof![4 => plain, 1 => usage, 1 => cost, 1 => nested]
}

fn file() -> impl Strategy<Value = String> {
    prop::collection::vec(member(), 0..8).prop_map(|members| Value::Object(members.into_iter().collect()).to_string())
}

proptest! {
    /// Nothing that was read before is read otherwise, and nothing that a check found is hidden.
    #[test]
    fn an_envelope_changes_no_reading(files in prop::collection::vec(file(), 1..4), has_events: bool) {
        let before = readings(&files);
        let envelope = with_tapes(&files, |items| Envelope::of(items, &Metrics::merge(items), has_events));
        let mut files = files;
        files.push(json!({ "telemetry": envelope }).to_string());
        let after = readings(&files);
        prop_assert_eq!(before.0, after.0);
        prop_assert_eq!(before.1, after.1);
        let (before, after) = (before.2, after.2);
        let kept = |before: Option<f64>, after: Option<f64>| before.is_none() || before == after;
        prop_assert!(kept(before.total_tokens, after.total_tokens));
        prop_assert!(kept(before.elapsed_seconds, after.elapsed_seconds));
        prop_assert_eq!(before.command_count, after.command_count);
        prop_assert_eq!(before.repeated_command_max, after.repeated_command_max);
        prop_assert_eq!(before.skill_invoked, after.skill_invoked);
        // a check that had something to look at is not told that there is nothing
        let hides = |signal| after.why_unavailable(signal).is_some();
        prop_assert!(!(hides(Signal::TotalTokens) && before.total_tokens.is_some()));
        prop_assert!(!(hides(Signal::ElapsedMilliseconds) && before.elapsed_seconds.is_some()));
        prop_assert!(!(hides(Signal::Commands) && (before.command_count.is_some() || has_events)));
        prop_assert!(!(hides(Signal::RepeatedCommandMax) && (before.repeated_command_max.is_some() || has_events)));
        prop_assert!(!(hides(Signal::SkillInvoked) && (before.skill_invoked.is_some() || has_events)));
        prop_assert!(!(hides(Signal::ToolCalls) && has_events));
    }
}
