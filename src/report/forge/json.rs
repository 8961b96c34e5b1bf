//! The report as JSON: every run and eval, the lift with its inference, thresholds, patterns, comparison.
//!
//! The keys, in this order:
//!
//! - `report` (`"skill-forge"`), `report_version` (1), `skill_name`, `iteration`, `generated_at`, `baseline_type`
//! - `evals`: ascending by `eval_id`, a number where the directory is called `eval-<number>`; each with its arms
//!   `with_skill` and `baseline`: `runs`, `scored_runs`, `rate`, `strict_rate`, `weighted_rate`, `rate_std`, `verdict`
//!   (`PASS`, `FAIL`, `UNDECIDED`, `-`), `avg_tokens`, `avg_duration_seconds`, `trials_completed`, `trials_requested`,
//!   `trials_never_run` (null when nobody says how many were asked for), `unreliable`, and `reasons` (why runs do not count, with their number) in arms without a scored run
//! - `runs`: by eval, arm and trial; `state` is `scored` or `unscored`; counts are null when the grading cannot be read;
//!   `counted_despite` names reasons that were waived on request
//! - `paired_evals`, `unpaired_evals`, `incomplete_evals` (runs, gradings or timings are missing, or trials that were asked
//!   for): ids
//! - `arm_macro_rate`: mean over the evals with a scored run in the arm; `paired_rate`: over the paired evals; `lift`
//! - `improvement_ratio`: `value`, and `reason` where there is none; `averages`: tokens and seconds, `paired` over evals
//!   that have them in both arms
//! - `inference`: the block of the same name in `benchmark.json`; its units are the paired evals
//! - `thresholds`: null when nothing is demanded; `verdict`, `thresholds_met`, `results` with the evals responsible
//! - `patterns`: `failure_clusters`, `flaky`, `outliers`, `trigger_accuracy`
//! - `comparison`: null without an earlier iteration
//! - `recommendations`: `code`, `evals`, `assertions`, `text`
//!
//! What was not measured is null, never 0. Rates are not rounded.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational::{self, Rational};

use super::ForgeView;
use super::advice::{Naming, advice};
use super::markdown::verdict_word;
use super::upstream_json::stamp;
use crate::analyze::forge::{
    Arm, ArmResult, EvalId, EvalResult, FailureCluster, ForgeRun, IterationComparison, Outlier, PairedQuantity,
    Patterns, Quantity, Threshold, TriggerShare,
};
use crate::json as strict;
use crate::report::inference_json;

/// Writes the report; ends with one line break.
///
/// # Errors
/// Those of the writer.
pub fn write_json(mut writer: &mut dyn Write, view: &ForgeView<'_>) -> io::Result<()> {
    strict::write::pretty(&mut writer, &document(view), 0)?;
    writer.write_all(b"\n")
}

fn document(view: &ForgeView<'_>) -> Value {
    let (iteration, lift) = (view.iteration, view.lift);
    let mut inference =
        json!(inference_json::block(&lift.inference, None, None, lift.unpaired.len(), view.fewest_evals()));
    // arms may have different numbers of trials
    inference["units"]["runs_with"] = json!(lift.runs_with);
    inference["units"]["runs_without"] = json!(lift.runs_without);
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("report", json!("skill-forge"));
    put("report_version", json!(1));
    put("skill_name", json!(view.skill_name));
    put("iteration", json!(iteration.number));
    put("generated_at", json!(view.generated_at.map(stamp)));
    put("baseline_type", json!(view.baseline_type));
    put("evals", iteration.evals.iter().map(|result| eval(view, result)).collect());
    put("runs", iteration.runs.iter().map(|found| run(view, found)).collect());
    put("paired_evals", ids(&lift.paired));
    put("unpaired_evals", ids(&lift.unpaired));
    put("incomplete_evals", iteration.incomplete(view.trials_requested).map(|eval| id(&eval.description.id)).collect());
    put("arm_macro_rate", arms(|arm| exact(iteration.macro_rate(arm).as_ref())));
    put(
        "paired_rate",
        json!({
            "with_skill": exact(lift.paired_rates().map(|rates| rates.0)),
            "baseline": exact(lift.paired_rates().map(|rates| rates.1)),
        }),
    );
    put("lift", exact(lift.lift()));
    put(
        "improvement_ratio",
        json!({
            "value": exact(lift.improvement_ratio.as_ref().ok()),
            "reason": lift.improvement_ratio.as_ref().err().map(|reason| reason.code()),
        }),
    );
    put(
        "averages",
        json!({
            "tokens": average(view, Quantity::Tokens, lift.tokens),
            "duration_seconds": average(view, Quantity::DurationMs, lift.duration_ms),
        }),
    );
    put("inference", inference);
    put("thresholds", thresholds(view));
    put("patterns", patterns(view.patterns));
    put("comparison", view.comparison.map_or(Value::Null, comparison));
    let advised = advice(view, Naming { name: str::to_owned, code: str::to_owned });
    let advised = advised.into_iter().map(|advice| {
        json!({
            "code": advice.code, "evals": ids(&advice.evals), "assertions": advice.assertions, "text": advice.text,
        })
    });
    put("recommendations", advised.collect());
    Value::Object(map)
}

fn exact(value: Option<&Rational>) -> Value {
    json!(value.map(rational::to_f64))
}

fn id(id: &EvalId) -> Value {
    match id {
        EvalId::Number(number) => json!(number),
        EvalId::Name(name) => json!(name),
    }
}

fn ids(list: &[EvalId]) -> Value {
    list.iter().map(id).collect()
}

fn arms(value: impl Fn(Arm) -> Value) -> Value {
    Value::Object(Arm::ALL.into_iter().map(|arm| (arm.word().to_owned(), value(arm))).collect())
}

fn seconds(milliseconds: Option<f64>) -> Option<f64> {
    milliseconds.map(|milliseconds| milliseconds / 1000.0)
}

fn eval(view: &ForgeView<'_>, eval: &EvalResult) -> Value {
    let description = &eval.description;
    let mut value = json!({
        "eval_id": id(&description.id),
        "eval_name": description.name,
        "directory": description.directory,
        "should_trigger": description.should_trigger,
        "status": eval.status().words(),
    });
    for arm in Arm::ALL {
        value[arm.word()] = arm_result(view, eval.arm(arm));
    }
    value
}

fn arm_result(view: &ForgeView<'_>, result: &ArmResult) -> Value {
    let mut value = json!({
        "runs": result.runs.len(),
        "scored_runs": result.scored,
        "rate": exact(result.rate.as_ref()),
        "strict_rate": exact(result.strict_rate.as_ref()),
        "weighted_rate": result.weighted_rate,
        "rate_std": result.rate_deviation,
        "verdict": result.verdict.word(),
        "avg_tokens": result.tokens,
        "avg_duration_seconds": seconds(result.duration_ms),
        "trials_completed": result.scored,
        "trials_requested": view.trials_requested,
        "trials_never_run": view.trials_requested.map(|requested| result.never_run(Some(requested))),
        "unreliable": result.is_unreliable(),
    });
    if result.scored == 0 {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for reason in view.iteration.runs_of(result).flat_map(|run| &run.reasons) {
            *reasons.entry(reason.code()).or_default() += 1;
        }
        if result.runs.is_empty() {
            reasons.insert(UnscoredReason::MissingRun.code(), 1);
        }
        value["reasons"] = json!(reasons);
    }
    value
}

fn run(view: &ForgeView<'_>, run: &ForgeRun) -> Value {
    let counts = run.counts;
    json!({
        "eval_id": id(&view.iteration.evals[run.eval].description.id),
        "arm": run.arm.word(),
        "trial": run.trial,
        "directory": run.directory,
        "n_pass": counts.map(|counts| counts.passed),
        "n_fail": counts.map(|counts| counts.failed),
        "n_null": counts.map(|counts| counts.undecided),
        "graded_rate": exact(counts.and_then(|counts| counts.graded_rate()).as_ref()),
        "strict_rate": exact(counts.and_then(|counts| counts.strict_rate()).as_ref()),
        "weighted_rate": run.weighted_rate,
        "state": if run.is_scored() { "scored" } else { "unscored" },
        "reasons": run.reasons.iter().map(|reason| reason.code()).collect::<Vec<_>>(),
        "counted_despite": run.waived.iter().map(|reason| reason.code()).collect::<Vec<_>>(),
        "flags": run.flags.iter().map(|flag| flag.code()).collect::<Vec<_>>(),
        "failed": run.failed,
        "undecided": run.undecided,
        "total_tokens": run.tokens,
        "duration_seconds": seconds(run.duration_ms),
        "activated": run.activated,
    })
}

fn average(view: &ForgeView<'_>, quantity: Quantity, paired: Option<PairedQuantity>) -> Value {
    let scale = |value: f64| match quantity {
        Quantity::Tokens => value,
        Quantity::DurationMs => value / 1000.0,
    };
    let mean = |arm: Arm| view.iteration.macro_quantity(arm, quantity).map(scale);
    json!({
        "with_skill": mean(Arm::WithSkill),
        "baseline": mean(Arm::Baseline),
        "paired": paired.map(|paired| json!({
            "evals": paired.evals,
            "with_skill": scale(paired.with_skill),
            "baseline": scale(paired.baseline),
            "delta": scale(paired.with_skill - paired.baseline),
        })),
    })
}

fn thresholds(view: &ForgeView<'_>) -> Value {
    let results = &view.thresholds.results;
    if results.is_empty() {
        return Value::Null;
    }
    let met: Map<String, Value> =
        results.iter().map(|result| (result.kind.key().to_owned(), json!(result.met))).collect();
    let row = |result: &Threshold| {
        json!({
            "threshold": result.kind.key(),
            "limit": rational::to_f64(&result.limit),
            "actual": result.actual,
            "met": result.met,
            "reason": result.reason,
            "responsible_evals": ids(&result.responsible),
        })
    };
    json!({
        "verdict": verdict_word(view.thresholds.verdict()),
        "thresholds_met": met,
        "results": results.iter().map(row).collect::<Vec<_>>(),
    })
}

fn patterns(patterns: &Patterns) -> Value {
    let cluster = |cluster: &FailureCluster| {
        json!({
            "assertion": cluster.assertion,
            "with_skill": {
                "failed": cluster.with_skill_failed, "decided": cluster.with_skill_decided,
                "evals": ids(&cluster.with_skill_evals),
            },
            "baseline": {
                "failed": cluster.baseline_failed, "decided": cluster.baseline_decided,
                "evals": ids(&cluster.baseline_evals),
            },
        })
    };
    let flaky = patterns.flaky.iter().map(|flaky| {
        json!({
            "eval_id": id(&flaky.eval), "arm": flaky.arm.word(), "rate_std": flaky.deviation, "trials": flaky.trials,
        })
    });
    let outlier = |outlier: &Outlier| {
        let (name, scale) = match outlier.quantity {
            Quantity::Tokens => ("tokens", 1.0),
            Quantity::DurationMs => ("duration_seconds", 1000.0),
        };
        json!({
            "eval_id": id(&outlier.eval), "arm": outlier.arm.word(), "quantity": name,
            "value": outlier.value / scale, "mean": outlier.mean / scale, "verdict": outlier.verdict.word(),
        })
    };
    let share = |share: &TriggerShare| {
        json!({
            "activated": share.activated,
            "runs": share.runs,
            "rate": exact(share.rate().as_ref()),
            "lower": share.interval.as_ref().ok().map(|limits| limits.lower),
            "upper": share.interval.as_ref().ok().map(|limits| limits.upper),
            "reason": share.interval.as_ref().err(),
        })
    };
    let trigger = match &patterns.trigger_accuracy {
        Ok(accuracy) => json!({
            "true_positive": share(&accuracy.positives),
            "false_positive": share(&accuracy.negatives),
            "wrong_evals": ids(&accuracy.wrong),
            "reason": null,
        }),
        Err(reason) => json!({
            "true_positive": null, "false_positive": null, "wrong_evals": [], "reason": reason,
        }),
    };
    json!({
        "failure_clusters": patterns.clusters.iter().map(cluster).collect::<Vec<_>>(),
        "flaky": flaky.collect::<Vec<_>>(),
        "outliers": patterns.outliers.iter().map(outlier).collect::<Vec<_>>(),
        "trigger_accuracy": trigger,
    })
}

fn comparison(comparison: &IterationComparison) -> Value {
    let not_comparable = comparison.not_comparable.iter().map(|(eval, reasons)| {
        json!({"eval_id": id(eval), "reasons": reasons.iter().map(|reason| reason.code()).collect::<Vec<_>>()})
    });
    json!({
        "previous_iteration": comparison.previous,
        "regressions": ids(&comparison.regressions),
        "improvements": ids(&comparison.improvements),
        "undecided": ids(&comparison.undecided),
        "degraded": ids(&comparison.degraded),
        "gained": ids(&comparison.gained),
        "unchanged": ids(&comparison.unchanged),
        "not_comparable": not_comparable.collect::<Vec<_>>(),
        "unverified": ids(&comparison.unverified),
        "without_scored_run": ids(&comparison.without_run),
        "added": ids(&comparison.added),
        "removed": ids(&comparison.removed),
    })
}
