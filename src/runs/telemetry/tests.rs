//! Values by hand; the same inputs were given to the reference package where it reads them the same way.

use skill_lift_contract::telemetry::{Observation, Provenance};

use super::*;
use crate::json::{self, Tape};

fn telemetry(texts: &[&str]) -> RunTelemetry {
    let tapes: Vec<_> = texts.iter().map(|text| Tape::read(text, json::Limits::SIDECAR).unwrap()).collect();
    RunTelemetry::read(&tapes.iter().map(Tape::root).collect::<Vec<_>>())
}

fn shown<T: ToString>(measurement: &Measurement<T>) -> String {
    match &measurement.observation {
        Observation::Available { value, provenance } => format!("{} {}", value.to_string(), provenance.code()),
        Observation::Unavailable(reason) => format!("unavailable {reason}"),
        Observation::NotApplicable(reason) => format!("not applicable {reason}"),
    }
}

fn cost(text: &str) -> String {
    let measurement = telemetry(&[text]).cost;
    match measurement.value() {
        Some(Money { amount, currency }) => {
            format!("{amount} {} {}", currency.code(), measurement.provenance().map_or("", Provenance::code))
        }
        None => shown(&Measurement::<u64> {
            observation: match measurement.observation {
                Observation::Unavailable(reason) => Observation::Unavailable(reason),
                Observation::NotApplicable(reason) => Observation::NotApplicable(reason),
                Observation::Available { .. } => unreachable!("it has no value"),
            },
            basis: measurement.basis,
        }),
    }
}

fn total(text: &str) -> String {
    shown(&telemetry(&[text]).total_tokens)
}

#[test]
fn the_envelope_counts_before_blocks_and_those_before_plain_numbers() {
    let plain = r#""total_tokens":1,"cost_usd":1"#;
    let block = r#""usage_normalized":{"total_tokens":2,"source":"provider_reported"},
        "cost_normalized":{"total_cost":0.02,"currency":"EUR","source":"price_table_estimated"}"#;
    let envelope = r#""telemetry":{"schema_version":3,"measurements":{
        "total_tokens":{"availability":"available","value":3,"provenance":"trace_normalized"},
        "cost":{"availability":"available","value":{"amount":"0.030","currency":"USD"},"provenance":"estimated"}}}"#;
    let run = telemetry(&[&format!("{{{plain}}}")]);
    assert_eq!(shown(&run.total_tokens), "1 legacy_unverified");
    assert_eq!(cost(&format!("{{{plain}}}")), "1 USD legacy_unverified");
    assert_eq!(total(&format!("{{{plain},{block}}}")), "2 provider_reported");
    assert_eq!(cost(&format!("{{{plain},{block}}}")), "0.02 EUR price_table_estimated");
    assert_eq!(total(&format!("{{{plain},{block},{envelope}}}")), "3 trace_normalized");
    assert_eq!(cost(&format!("{{{plain},{block},{envelope}}}")), "0.030 USD estimated");
    // an envelope of another version is none
    let older = envelope.replace("\"schema_version\":3", "\"schema_version\":2");
    assert_eq!(total(&format!("{{{plain},{block},{older}}}")), "2 provider_reported");
}

#[test]
fn later_files_win_key_by_key() {
    let run = telemetry(&[r#"{"total_tokens":5,"elapsed_ms":7}"#, r#"{"total_tokens":6}"#]);
    assert_eq!(shown(&run.total_tokens), "6 legacy_unverified");
    assert_eq!(shown(&run.elapsed_ms), "7 trace_normalized");
}

#[test]
fn what_is_not_measured_has_a_reason_and_is_no_zero() {
    assert_eq!(total("{}"), "unavailable missing");
    assert_eq!(cost("{}"), "unavailable missing");
    assert_eq!(shown(&telemetry(&["{}"]).elapsed_ms), "unavailable missing_elapsed_ms");
    assert_eq!(shown(&telemetry(&["{}"]).commands), "unavailable missing_commands");
    assert_eq!(total(r#"{"usage_normalized":{"source":"missing"},"total_tokens":5}"#), "unavailable missing");
    assert_eq!(total(r#"{"usage_normalized":{"source":"not_applicable"}}"#), "not applicable not_applicable");
    assert_eq!(total(r#"{"usage_normalized":{"source":"provider_reported"}}"#), "unavailable missing_total_tokens");
    assert_eq!(
        total(r#"{"usage_normalized":{"source":"guess","total_tokens":5}}"#),
        "unavailable unknown_usage_provenance"
    );
    // a block without a source is no block
    assert_eq!(total(r#"{"usage_normalized":{"total_tokens":5},"total_tokens":6}"#), "6 legacy_unverified");
    assert_eq!(total(r#"{"total_tokens":-3}"#), "unavailable invalid_legacy_total_tokens");
    assert_eq!(total(r#"{"total_tokens":true,"usage":{"total_tokens":4}}"#), "4 legacy_unverified");
    assert_eq!(cost(r#"{"cost_normalized":{"source":"provider_reported"}}"#), "unavailable invalid_cost_block");
    assert_eq!(
        cost(r#"{"cost_normalized":{"source":"provider_reported","total_cost":-1}}"#),
        "unavailable invalid_cost_block"
    );
    assert_eq!(
        cost(r#"{"cost_normalized":{"source":"provider_reported","total_cost":1,"currency":"usd"}}"#),
        "unavailable invalid_cost_block"
    );
    assert_eq!(cost(r#"{"cost_normalized":{"source":"guess","total_cost":1}}"#), "unavailable unknown_cost_provenance");
    assert_eq!(cost(r#"{"cost_usd":-0.5}"#), "unavailable invalid_legacy_cost");
    assert_eq!(cost(r#"{"cost":0}"#), "0 USD legacy_unverified");
}

#[test]
fn entries_of_an_envelope_that_contradict_themselves_are_invalid() {
    let entry = |entry: &str| {
        total(&format!(
            r#"{{"telemetry":{{"schema_version":3,"measurements":{{"total_tokens":{entry}}}}},"total_tokens":9}}"#
        ))
    };
    assert_eq!(entry(r#"{"availability":"unavailable","reason":"offline"}"#), "unavailable offline");
    assert_eq!(entry(r#"{"availability":"not_applicable","reason":"offline"}"#), "not applicable offline");
    for invalid in [
        "{}",
        r#"{"availability":"unavailable"}"#,
        r#"{"availability":"available","value":3}"#,
        r#"{"availability":"available","value":3,"provenance":"guess"}"#,
        r#"{"availability":"available","value":-3,"provenance":"estimated"}"#,
        r#"{"availability":"available","value":true,"provenance":"estimated"}"#,
        r#"{"availability":"perhaps","reason":"x"}"#,
    ] {
        assert_eq!(entry(invalid), "unavailable invalid_v3_total_tokens", "{invalid}");
    }
    // an entry that is no object is none
    assert_eq!(entry("7"), "9 legacy_unverified");
    let long = "x".repeat(300);
    let cut = entry(&format!(r#"{{"availability":"unavailable","reason":"{long}"}}"#));
    assert_eq!(cut, format!("unavailable {}", "x".repeat(200)));
}

#[test]
fn fractions_are_rounded_with_ties_to_even() {
    let elapsed = |text: &str| shown(&telemetry(&[text]).elapsed_ms);
    assert_eq!(elapsed(r#"{"elapsed_ms":1234.5}"#), "1234 trace_normalized");
    assert_eq!(elapsed(r#"{"elapsed_ms":1235.5}"#), "1236 trace_normalized");
    assert_eq!(elapsed(r#"{"elapsed_ms":null,"duration_ms":8}"#), "8 trace_normalized");
    assert_eq!(elapsed(r#"{"elapsed_ms":"8","duration_ms":8}"#), "unavailable missing_elapsed_ms");
    assert_eq!(elapsed(r#"{"elapsed_ms":1e300}"#), "unavailable missing_elapsed_ms");
    assert_eq!(elapsed(r#"{"elapsed_ms":99999999999999999999}"#), "unavailable missing_elapsed_ms");
}

#[test]
fn cached_tokens_are_billed_once() {
    let billable = |text: &str| shown(&telemetry(&[text]).billable_tokens);
    // 10 of which 5 from a cache, and 20
    let usage = r#""usage":{"input_tokens":10,"cached_input_tokens":5,"output_tokens":20}"#;
    assert_eq!(billable(&format!(r#"{{"provider":"codex",{usage}}}"#)), "30 legacy_unverified");
    assert_eq!(total(&format!(r#"{{"provider":"codex",{usage}}}"#)), "30 legacy_unverified");
    assert_eq!(billable(&format!("{{{usage}}}")), "unavailable cache_accounting_unknown");
    // 18 beside 2 that were written and 10 that were read, and 9
    let usage = r#""usage_normalized":{"input_tokens":18,"cache_write_tokens":2,"cache_read_tokens":10,
        "output_tokens":9,"total_tokens":27,"source":"provider_reported"}"#;
    assert_eq!(billable(&format!(r#"{{"runner":"claude-cli","provider":"x",{usage}}}"#)), "39 provider_reported");
    assert_eq!(total(&format!(r#"{{"runner":"claude-cli",{usage}}}"#)), "27 provider_reported");
    let without = r#""usage":{"input_tokens":18,"output_tokens":9}"#;
    assert_eq!(billable(&format!(r#"{{"provider":"anthropic",{without}}}"#)), "unavailable missing_cache_tokens");
    assert_eq!(
        billable(r#"{"provider":"openai","usage":{"input_tokens":18}}"#),
        "unavailable missing_input_or_output_tokens"
    );
    // a part is no total
    assert_eq!(total(r#"{"usage":{"input_tokens":18}}"#), "unavailable missing");
}

#[test]
fn the_basis_says_who_was_paid() {
    let basis = |text: &str| (*telemetry(&[text]).cost.basis).clone();
    let nobody = basis("{}");
    assert_eq!((nobody.population.as_deref(), nobody.billing_scope.as_deref()), (Some("answer"), Some("run")));
    assert_eq!((nobody.provider.as_deref(), nobody.runner.as_deref(), nobody.model), (Some(""), Some(""), None));
    let named = basis(r#"{"provider":"p","model":"m","billing_scope":null,"skill_tree_hash":"h"}"#);
    assert_eq!((named.provider.as_deref(), named.runner.as_deref()), (Some("p"), Some("p")));
    assert_eq!((named.model.as_deref(), named.billing_scope), (Some("m"), None));
    assert_eq!(named.skill_tree_hash.as_deref(), Some("h"));
    // that of an entry is the entry's own
    let entry = basis(
        r#"{"provider":"p","telemetry":{"schema_version":3,"measurements":{"cost":{"availability":"unavailable",
        "reason":"offline","basis":{"model":"m2"}}}}}"#,
    );
    assert_eq!((entry.provider, entry.model.as_deref()), (None, Some("m2")));
    let runner = |text: &str| telemetry(&[text]).runner;
    assert_eq!(runner(r#"{"trace_source":"t","source":"s"}"#).as_deref(), Some("t"));
    assert_eq!(runner(r#"{"provider":"","source":"s"}"#).as_deref(), Some("s"));
    assert_eq!(runner("{}"), None);
}
