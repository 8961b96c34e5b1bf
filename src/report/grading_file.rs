//! `grading.json` in a run directory, in the form that Anthropic's skill tools read.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use skill_lift_text::python;

use crate::grade::GradedRun;
use crate::json::{Node, Number, Value, write};
use crate::runs::sidecar::Metadata;

#[derive(Serialize)]
struct GradingFile<'a> {
    expectations: Vec<Expectation<'a>>,
    summary: Summary,
    execution_metrics: ExecutionMetrics,
    telemetry: Map<String, Json>,
    timing: Timing,
    claims: [(); 0],
    user_notes_summary: UserNotes,
    eval_feedback: Feedback,
}

#[derive(Serialize)]
struct Expectation<'a> {
    text: &'a str,
    passed: bool,
    evidence: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    skipped: bool,
}

#[derive(Serialize)]
struct Summary {
    passed: u32,
    failed: u32,
    total: u32,
    pass_rate: Option<f64>,
}

#[derive(Serialize)]
struct ExecutionMetrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tool_calls: Option<u64>,
}

#[derive(Serialize)]
struct Timing {
    #[serde(skip_serializing_if = "Option::is_none")]
    executor_duration_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_duration_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
}

#[derive(Serialize)]
struct UserNotes {
    uncertainties: [(); 0],
    needs_review: [(); 0],
    workarounds: [(); 0],
}

#[derive(Serialize)]
struct Feedback {
    suggestions: [(); 0],
    overall: &'static str,
}

/// The file of a run. `metadata` is the metadata object of its row.
///
/// # Errors
/// Never in practice: the bytes go to memory.
pub fn format(run: &GradedRun, metadata: Metadata<'_>) -> io::Result<Vec<u8>> {
    let metadata = &metadata.to_node();
    let combined = run.tally.combined();
    let mut telemetry = Map::new();
    let mut measured = |name: &str, measurement: Result<f64, Json>| match measurement {
        Ok(value) => Some(value),
        Err(why) => {
            telemetry.insert(name.to_owned(), why);
            None
        }
    };
    let elapsed = measured("timing", local_metric(metadata, "elapsed_ms", &["elapsed_ms", "duration_ms"]));
    let tokens = measured("total_tokens", tokens(metadata));
    let tool_calls = measured("total_tool_calls", local_metric(metadata, "tool_calls", &["tool_calls"]));
    let seconds = elapsed.map(|elapsed| python::round_half_even(elapsed / 1000.0, 3));
    let file = GradingFile {
        expectations: run
            .rows()
            .map(|row| Expectation {
                text: &row.name,
                passed: row.outcome.passed() == Some(true),
                evidence: &row.evidence,
                skipped: row.is_skipped(),
            })
            .collect(),
        summary: Summary {
            passed: combined.passed,
            failed: combined.total - combined.passed,
            total: combined.total,
            pass_rate: if run.has_no_rates() { None } else { combined.value(run.tally.is_vetoed()) },
        },
        // a float to integer conversion saturates; counts of that size are not measured
        execution_metrics: ExecutionMetrics { total_tool_calls: tool_calls.map(|value| value as u64) },
        telemetry,
        timing: Timing {
            executor_duration_seconds: seconds,
            total_duration_seconds: seconds,
            total_tokens: tokens.map(|value| value as u64),
        },
        claims: [],
        user_notes_summary: UserNotes { uncertainties: [], needs_review: [], workarounds: [] },
        eval_feedback: Feedback {
            suggestions: [],
            overall: "No model grader critique supplied; deterministic harness grading only.",
        },
    };
    let mut bytes = Vec::new();
    write::pretty(&mut bytes, &file, 0)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A count or a duration: of the telemetry envelope, else of a plain field.
fn local_metric(metadata: &Node<'_>, key: &str, plain: &[&str]) -> Result<f64, Json> {
    if let Some(measurement) = envelope(metadata, key) {
        return read_measurement(measurement, key);
    }
    let value = plain.iter().filter_map(|key| metadata.get(key)).find(|value| !value.is_null());
    value.and_then(count).ok_or_else(|| unavailable(&format!("missing_{key}"), basis(metadata)))
}

/// The total number of tokens: of the telemetry envelope, else of the normalised block, else of a plain field.
fn tokens(metadata: &Node<'_>) -> Result<f64, Json> {
    const KEY: &str = "total_tokens";
    if let Some(measurement) = envelope(metadata, KEY) {
        return read_measurement(measurement, KEY);
    }
    let missing = |reason: &str| unavailable(reason, basis(metadata));
    let block = metadata.get("usage_normalized").filter(|block| block.members().is_some());
    if let Some(source) = block.and_then(|block| block.get("source")).filter(|source| !source.is_null()) {
        return match source.as_str() {
            Some("missing") => Err(missing("missing")),
            Some("not_applicable") => Err(withheld("not_applicable", "not_applicable", basis(metadata))),
            word => match block.and_then(|block| block.get(KEY)).and_then(count) {
                None => Err(missing("missing_total_tokens")),
                Some(_) if !word.is_some_and(is_provenance) => Err(missing("unknown_usage_provenance")),
                Some(value) => Ok(value),
            },
        };
    }
    match metadata.get(KEY).filter(|value| !value.is_null()) {
        None => Err(missing("missing")),
        Some(value) => count(value).ok_or_else(|| missing("invalid_legacy_total_tokens")),
    }
}

fn is_provenance(word: &str) -> bool {
    matches!(
        word,
        "provider_reported" | "trace_normalized" | "price_table_estimated" | "estimated" | "legacy_unverified"
    )
}

/// A measurement of the telemetry envelope, if there is one of the version that is read.
fn envelope<'n, 'a>(metadata: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    let telemetry = metadata.get("telemetry")?;
    if telemetry.get("schema_version")?.as_number()?.as_f64() != 3.0 {
        return None;
    }
    telemetry.get("measurements")?.get(key).filter(|measurement| measurement.members().is_some())
}

/// The value, or the measurement as it says why there is none.
fn read_measurement(measurement: &Node<'_>, key: &str) -> Result<f64, Json> {
    let text = |key: &str| measurement.get(key).and_then(Node::as_str);
    let invalid = || unavailable(&format!("invalid_v3_{key}"), Json::Null);
    match (text("availability"), text("reason").filter(|reason| !reason.is_empty())) {
        (Some("available"), _) => {
            let value = measurement.get("value").and_then(Node::as_number).map(Number::as_f64);
            let known = text("provenance").is_some_and(is_provenance);
            value.filter(|value| known && value.is_finite() && *value >= 0.0).ok_or_else(invalid)
        }
        (Some(word @ ("unavailable" | "not_applicable")), Some(reason)) => {
            let basis = measurement.get("basis").filter(|basis| basis.members().is_some());
            Err(withheld(word, reason, basis.map_or(Json::Null, to_json)))
        }
        _ => Err(invalid()),
    }
}

fn unavailable(reason: &str, basis: Json) -> Json {
    withheld("unavailable", reason, basis)
}

fn withheld(availability: &str, reason: &str, basis: Json) -> Json {
    let mut members = Map::new();
    members.insert("availability".to_owned(), availability.into());
    members.insert("reason".to_owned(), reason.into());
    if basis.as_object().is_some_and(|basis| !basis.is_empty()) {
        members.insert("basis".to_owned(), basis);
    }
    Json::Object(members)
}

/// What the numbers of a run refer to.
fn basis(metadata: &Node<'_>) -> Json {
    let field = |key: &str| metadata.get(key).map_or(Json::Null, to_json);
    let or = |key: &str, default: &str| metadata.get(key).map_or_else(|| default.into(), to_json);
    let named = |keys: &[&str]| {
        keys.iter().filter_map(|key| metadata.get(key)).find(|value| value.is_truthy()).map_or(Json::Null, to_json)
    };
    let members = [
        ("population", or("population", "answer")),
        ("provider", named(&["provider", "runner"])),
        ("runner", named(&["runner"])),
        ("model", field("model")),
        ("billing_scope", or("billing_scope", "run")),
        ("pricing_model", field("pricing_model")),
        ("pricing_table_version", field("pricing_table_version")),
        ("case_id", field("case_id")),
        ("run_number", field("run_number")),
        ("manifest_revision", field("manifest_revision")),
        ("skill_tree_hash", field("skill_tree_hash")),
    ];
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn to_json(node: &Node<'_>) -> Json {
    serde_json::to_value(node).unwrap_or(Json::Null)
}

/// A whole number that is not negative.
fn count(node: &Node<'_>) -> Option<f64> {
    match &node.value {
        Value::Number(number) => {
            Some(number.as_f64()).filter(|value| value.is_finite() && *value >= 0.0 && value.fract() == 0.0)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn reason(result: Result<f64, Json>) -> String {
        result.unwrap_err()["reason"].as_str().unwrap().to_owned()
    }

    fn with<T>(text: &str, check: impl Fn(&Node<'_>) -> T) -> T {
        check(&parse(text, Limits::SIDECAR).unwrap())
    }

    #[test]
    fn the_envelope_comes_before_plain_fields() {
        let elapsed = |node: &Node<'_>| local_metric(node, "elapsed_ms", &["elapsed_ms", "duration_ms"]);
        let envelope = |measurement: &str| {
            format!(
                r#"{{"elapsed_ms":5,"telemetry":{{"schema_version":3,"measurements":{{"elapsed_ms":{measurement}}}}}}}"#
            )
        };
        let available = r#"{"availability":"available","value":1234.5,"provenance":"trace_normalized"}"#;
        assert_eq!(with(&envelope(available), elapsed), Ok(1234.5));
        let bad = r#"{"availability":"available","value":-1,"provenance":"trace_normalized"}"#;
        assert_eq!(reason(with(&envelope(bad), elapsed)), "invalid_v3_elapsed_ms");
        let none = r#"{"availability":"unavailable","reason":"no_clock","basis":{"model":"m"}}"#;
        let said = with(&envelope(none), elapsed).unwrap_err();
        assert_eq!(said.to_string(), r#"{"availability":"unavailable","reason":"no_clock","basis":{"model":"m"}}"#);
        assert_eq!(with(r#"{"duration_ms":7}"#, elapsed), Ok(7.0));
        assert_eq!(reason(with(r#"{"elapsed_ms":true}"#, elapsed)), "missing_elapsed_ms");
    }

    #[test]
    fn tokens_come_from_the_block_of_a_known_source() {
        let block = |fields: &str| format!(r#"{{"total_tokens":9,"usage_normalized":{{{fields}}}}}"#);
        assert_eq!(with(&block(r#""source":"estimated","total_tokens":5"#), tokens), Ok(5.0));
        assert_eq!(reason(with(&block(r#""source":"missing""#), tokens)), "missing");
        assert_eq!(reason(with(&block(r#""source":"guess","total_tokens":5"#), tokens)), "unknown_usage_provenance");
        assert_eq!(reason(with(&block(r#""source":"estimated""#), tokens)), "missing_total_tokens");
        assert_eq!(with(&block(r#""total_tokens":5"#), tokens), Ok(9.0));
        assert_eq!(reason(with(r#"{"total_tokens":1.5}"#, tokens)), "invalid_legacy_total_tokens");
        let said = with("{}", tokens).unwrap_err();
        assert_eq!(said["basis"]["population"], "answer");
        assert_eq!(said["basis"]["provider"], Json::Null);
    }
}
