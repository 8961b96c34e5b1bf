//! `benchmark.json`: the runner's own keys in their order, then `skill_lift` with the corrected reading.
//!
//! `skill_lift` has two lifts over paired evals, for the candidate against the baseline and in each of `other_contrasts`:
//!
//! - `lift_complete_verdicts`: only runs count whose verdicts are complete. It is what `lift` holds too, and what
//!   `eval_rates`, `paired_evals`, `unpaired_evals`, `candidate_pass_rate`, `baseline_pass_rate`, `interval`, `interval_t`,
//!   `test` and `verdict` beside it belong to; `sanity_checks.unpaired_cells` says why evals are left out.
//! - `lift_runner_rule`: by the rule of the runner, an assertion that the grader left out failed. It is the lift that
//!   `benchmark` shows for the iteration (the other one with `--evidence strict`); `runner_rule` holds the same keys for it.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use skill_lift_stats::rational::{self, Rational};

use super::additions::fewest_evals;
use super::lines::needs_review;
use crate::analyze::skill_eval::{ArmContrast, Corrected, MetricSummary, PairedLift, RunReading};
use crate::json::{self as strict, Node};
use crate::report::words;
use crate::runs::skill_eval::{Benchmark, GraderState, RunPlace, RunRecord, RunStatus};

/// Writes the figures with the corrected reading; ends with one line break.
///
/// `stored` is the text of a `benchmark.json` that is there: all its keys are passed through, but for those that
/// `replaced` names.
///
/// # Errors
/// Those of the writer.
pub fn write_json(
    mut writer: &mut dyn Write,
    figures: &Benchmark,
    corrected: &Corrected,
    stored: Option<&str>,
    replaced: &[&str],
) -> io::Result<()> {
    let own = block(figures, corrected);
    let document = stored.and_then(|text| strict::parse(text, strict::Limits::SIDECAR).ok());
    match document {
        Some(document) => {
            let compat = compat(figures, false);
            let replaced = |key: &str| replaced.contains(&key).then(|| compat.get(key)).flatten();
            strict::write::pretty(
                &mut writer,
                &PassedThrough { document: &document, replaced: &replaced, own: &own },
                0,
            )?;
        }
        None => {
            let mut compat = compat(figures, true);
            compat.insert("skill_lift".to_owned(), own);
            strict::write::pretty(&mut writer, &compat, 0)?;
        }
    }
    writer.write_all(b"\n")
}

/// A stored document with some values replaced and our block at its end.
struct PassedThrough<'d, 'a> {
    document: &'d Node<'a>,
    replaced: &'d dyn Fn(&str) -> Option<&'d Value>,
    own: &'d Value,
}

impl Serialize for PassedThrough<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for member in self.document.members().unwrap_or_default() {
            match (self.replaced)(&member.key) {
                _ if member.key == "skill_lift" => {}
                Some(value) => map.serialize_entry(member.key.as_ref(), value)?,
                None => map.serialize_entry(member.key.as_ref(), &member.value)?,
            }
        }
        map.serialize_entry("skill_lift", self.own)?;
        map.end()
    }
}

fn compat(figures: &Benchmark, with_runs: bool) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("skill_name", json!(figures.skill_name));
    put("agent", json!(figures.agent));
    put("model", json!(figures.model));
    if figures.executor_model.is_some() || figures.grader_model.is_some() {
        put("executor_model", json!(figures.executor_model));
        put("grader_model", json!(figures.grader_model));
    }
    put("skill_path", json!(figures.skill_path));
    put("source_fixtures", json!(figures.source_fixtures));
    if let Some(coverage) = &figures.suite_coverage {
        put("suite_coverage", json!(coverage));
    }
    put("generated_at", json!(figures.generated_at));
    put("configs", json!(figures.configurations));
    put("run_count", json!(figures.run_count));
    put("scored_run_count", json!(figures.scored_run_count));
    put("error_run_count", json!(figures.error_run_count));
    put("status_counts", object(figures.status_counts.iter().map(|(status, count)| (status, json!(count)))));
    put("metrics_captured", json!(figures.metrics_captured));
    put("overall_pass_rate", object(figures.overall_pass_rate.iter().map(|(name, rate)| (name, json!(rate)))));
    put("comparison", json!(figures.comparison));
    put("sanity_checks", json!(figures.sanity_checks));
    let evals = figures.evals.iter().map(|eval| {
        let configurations = object(eval.configurations.iter().map(|(name, cell)| (name, json!(cell))));
        json!({"eval_id": eval.eval_id, "eval_name": eval.eval_name, "configs": configurations})
    });
    put("evals", evals.collect());
    if with_runs {
        put("runs", figures.runs.iter().map(record).collect());
    }
    map
}

fn object<'a>(members: impl Iterator<Item = (&'a String, Value)>) -> Value {
    Value::Object(members.map(|(key, value)| (key.clone(), value)).collect())
}

/// A run as it is recorded. Commands, sandboxes and paths of the machine stay in `run.json`.
fn record(run: &RunRecord) -> Value {
    let status = run.effective_status();
    let scored = status == RunStatus::Ok;
    let expectations: Vec<Value> = run
        .expectations
        .iter()
        .map(|row| json!({"text": row.text, "passed": row.passed, "evidence": row.evidence}))
        .collect();
    json!({
        "eval_id": run.place.eval_id,
        "eval_name": run.place.eval_name,
        "configuration": run.place.configuration,
        "run_number": run.place.run_number,
        "status": status.word(),
        "scored": scored,
        "passed": run.counts.map(|counts| counts.passed),
        "failed": run.counts.map(|counts| counts.total - counts.passed),
        "total": run.counts.map(|counts| counts.total),
        "pass_rate": run.pass_rate.filter(|_| scored),
        "expectations": expectations,
        "metrics": metrics(run),
        "grader_error": run.grader_error,
        "run_dir": run.directory,
    })
}

fn metrics(run: &RunRecord) -> Value {
    let metrics = &run.metrics;
    let mut map = Map::new();
    map.insert("captured".to_owned(), json!(metrics.captured));
    map.insert("source".to_owned(), json!(metrics.source));
    map.insert("provider".to_owned(), json!(metrics.provider));
    let numbers = [
        ("input_tokens", metrics.input_tokens),
        ("output_tokens", metrics.output_tokens),
        ("total_tokens", metrics.total_tokens),
        ("duration_ms", metrics.duration_ms),
        ("total_cost_usd", metrics.total_cost_usd),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            map.insert(key.to_owned(), number(value));
        }
    }
    if let Some(reason) = &metrics.reason {
        map.insert("reason".to_owned(), json!(reason));
    }
    Value::Object(map)
}

/// A whole number without a fraction, as the runner writes counts.
fn number(value: f64) -> Value {
    // below 2^53 every whole number is exact
    let whole = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    if whole { json!(value as i64) } else { json!(value) }
}

fn rate(value: Option<&Rational>) -> Option<f64> {
    value.map(rational::to_f64)
}

fn block(figures: &Benchmark, corrected: &Corrected) -> Value {
    let rates = |eval: &crate::analyze::skill_eval::EvalReading| {
        object(eval.rates.iter().map(|(name, value, _)| (name, json!(rate(value.as_ref())))))
    };
    let mut map = Map::new();
    map.insert("eval_rates".to_owned(), object(corrected.evals.iter().map(|eval| (&eval.id, rates(eval)))));
    match &corrected.headline {
        Some(headline) => map.extend(contrast(headline)),
        None => map.extend([
            ("paired_evals".to_owned(), json!([])),
            ("unpaired_evals".to_owned(), json!([])),
            ("lift".to_owned(), Value::Null),
            ("lift_complete_verdicts".to_owned(), Value::Null),
            ("lift_runner_rule".to_owned(), Value::Null),
            ("runner_rule".to_owned(), Value::Null),
        ]),
    }
    let others = corrected.others.iter().map(|other| Value::Object(contrast(other)));
    map.insert("other_contrasts".to_owned(), others.collect());
    map.insert("expected_runs".to_owned(), json!(corrected.runs.len() + corrected.missing.len()));
    map.insert("missing_runs".to_owned(), corrected.missing.iter().map(place).map(Value::Object).collect());
    map.insert("sanity_checks".to_owned(), checks(figures, corrected));
    map.insert("metrics".to_owned(), metric_block(corrected));
    map.insert("pass_threshold".to_owned(), json!(rate(corrected.pass_threshold.as_ref())));
    map.insert("runs".to_owned(), corrected.runs.iter().map(reading).collect());
    Value::Object(map)
}

fn contrast(contrast: &ArmContrast) -> Map<String, Value> {
    let lift_of = |lift: &PairedLift| json!(rate(lift.inference.overall.test.estimate.as_ref()));
    let mut map = Map::new();
    map.insert("candidate".to_owned(), json!(contrast.candidate));
    map.insert("baseline".to_owned(), json!(contrast.baseline));
    map.insert("lift_complete_verdicts".to_owned(), lift_of(&contrast.complete));
    map.insert("lift_runner_rule".to_owned(), lift_of(&contrast.runner));
    map.extend(paired_lift(&contrast.complete));
    map.insert("runner_rule".to_owned(), Value::Object(paired_lift(&contrast.runner)));
    map
}

fn paired_lift(lift: &PairedLift) -> Map<String, Value> {
    let inference = &lift.inference;
    let overall = &inference.overall;
    let fewest = fewest_evals(lift);
    let headline = words::headline(inference, fewest);
    let interval = match &overall.interval {
        Ok(interval) => json!({
            "method": "padded-t", "confidence": 1.0 - interval.alpha, "lower": interval.lower, "upper": interval.upper,
        }),
        Err(_) => Value::Null,
    };
    let plain = match &overall.interval_t {
        Ok(interval) => json!({
            "method": "paired-t", "confidence": 1.0 - interval.alpha, "lower": interval.lower, "upper": interval.upper,
        }),
        Err(_) => Value::Null,
    };
    let paired = overall.test.n > 0;
    let reasons: Vec<&str> = overall.verdict.reasons.iter().map(|reason| reason.as_str()).collect();
    let value = json!({
        "paired_evals": lift.paired,
        "unpaired_evals": lift.unpaired,
        "candidate_pass_rate": rate(overall.with_skill.as_ref()),
        "baseline_pass_rate": rate(overall.without_skill.as_ref()),
        "lift": rate(overall.test.estimate.as_ref()),
        "interval": interval,
        "interval_withheld": overall.interval.as_ref().err().map(|reason| reason.as_str()),
        "interval_t": plain,
        "test": {
            "method": overall.test.method.as_str(),
            "n": overall.test.n,
            "improved": overall.test.improved,
            "regressed": overall.test.regressed,
            "unchanged": overall.test.unchanged(),
            "p_two_sided": paired.then_some(overall.test.p_two_sided),
            "smallest_reachable_p": paired.then_some(overall.test.floor),
        },
        "verdict": {
            "code": overall.verdict.code.as_str(),
            "size_uncertain": overall.verdict.size_uncertain,
            "negligible": overall.verdict.negligible,
            "reasons": reasons,
            "headline": headline.text,
            "text": words::verdict_text(inference, lift.unpaired.len(), fewest),
            "next_step": words::next_step(inference, fewest),
        },
        "within_cell_variance": if lift.single_runs { "unknown" } else { "in the eval means" },
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn place(place: &RunPlace) -> Map<String, Value> {
    let members = [
        ("eval_id", json!(place.eval_id)),
        ("configuration", json!(place.configuration)),
        ("run_number", json!(place.run_number)),
    ];
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn missing_ids(state: &GraderState) -> Option<&[usize]> {
    match state {
        GraderState::IncompleteVerdicts { missing } => Some(missing),
        _ => None,
    }
}

fn checks(figures: &Benchmark, corrected: &Corrected) -> Value {
    let checks = &corrected.checks;
    let incomplete = checks.incomplete_verdicts.iter().map(|run| {
        let mut map = place(&run.place);
        map.insert("state".to_owned(), json!(run.state.word()));
        map.insert("missing_ids".to_owned(), json!(missing_ids(&run.state)));
        Value::Object(map)
    });
    let unpaired = checks.unpaired_cells.iter().map(|cell| {
        let reasons: Map<String, Value> =
            cell.reasons.iter().map(|(reason, count)| (reason.code().to_owned(), json!(count))).collect();
        json!({"eval_id": cell.eval_id, "configuration": cell.configuration, "reasons": reasons})
    });
    let nothing = checks.no_assertions.iter().map(|(eval_id, runs)| json!({"eval_id": eval_id, "runs": runs}));
    let unknown = checks.source_fixture_unknown.iter().map(|error| json!({"error": error}));
    json!({
        "ok": !needs_review(figures, corrected),
        "signal_count": figures.sanity_checks.as_ref().map_or(0, |sanity| sanity.signals()) + checks.signals(),
        "added_signal_count": checks.signals(),
        "incomplete_verdicts": incomplete.collect::<Vec<_>>(),
        "no_assertions": nothing.collect::<Vec<_>>(),
        "unpaired_cells": unpaired.collect::<Vec<_>>(),
        "source_fixture_unknown": unknown.collect::<Vec<_>>(),
    })
}

fn metric_block(corrected: &Corrected) -> Value {
    let summary = |summary: &MetricSummary| {
        json!({
            "n": summary.n, "total": summary.total, "mean": summary.mean, "stdev": summary.stdev,
            "reasons": summary.reasons,
        })
    };
    let of = |reading: &crate::analyze::skill_eval::MetricReading| {
        json!({
            "all_runs": object(reading.all.iter().map(|(name, value)| (name, summary(value)))),
            "scored_runs": object(reading.scored.iter().map(|(name, value)| (name, summary(value)))),
            "paired": reading.paired.map(|paired| json!({"evals": paired.evals, "mean_delta": paired.mean_delta})),
        })
    };
    Value::Object(corrected.metrics.iter().map(|reading| (reading.kind.key().to_owned(), of(reading))).collect())
}

fn reading(run: &RunReading) -> Value {
    let mut map = place(&run.place);
    let notes: Vec<&str> = run.notes.iter().map(|note| note.word()).collect();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("status", json!(run.status.word()));
    put("state", json!(run.state.word()));
    put("unscored_reason", json!(run.unscored));
    put("pass_rate", json!(rate(run.rate.as_ref())));
    put("missing_ids", json!(missing_ids(&run.state)));
    put("notes", json!(notes));
    if let Some(weighted) = &run.weighted {
        put("weighted_score", json!(rational::to_f64(&weighted.score)));
        put("meets_threshold", json!(weighted.meets_threshold));
    }
    Value::Object(map)
}
