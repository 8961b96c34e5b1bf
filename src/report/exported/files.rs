//! The files of one run and of one eval in a workspace.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::arms::Format;
use super::entries::{Entry, OwnMark, undecided};
use super::runs::{ExportedRun, RatedRun};
use crate::json::write;
use crate::runs::workspace::OWN_KEY;

/// What a workspace says of a case.
#[derive(Debug, Clone)]
pub struct EvalDescription<'a> {
    /// Its number.
    pub eval_id: usize,
    /// Its id in the report.
    pub case_id: &'a str,
    /// What inference counts as one unit with it.
    pub family: Option<&'a str>,
    /// What the agent was asked, if it is known.
    pub prompt: Option<&'a str>,
    /// What a good answer does, if it is known.
    pub expected_output: Option<String>,
    /// Its checks: their labels, with what they say.
    pub checks: Vec<(&'a str, &'a str)>,
}

#[derive(Serialize)]
struct CreatorEntry<'a> {
    text: &'a str,
    passed: bool,
    evidence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_lift: Option<OwnMark>,
}

#[derive(Serialize)]
struct ForgeEntry<'a> {
    name: &'a str,
    passed: bool,
    evidence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_lift: Option<OwnMark>,
}

/// `eval_metadata.json`.
///
/// # Errors
/// Never in practice: the bytes go to memory.
pub fn eval_metadata(eval: &EvalDescription<'_>, format: Format) -> io::Result<Vec<u8>> {
    let mut members = Map::new();
    members.insert("eval_id".to_owned(), json!(eval.eval_id));
    members.insert("eval_name".to_owned(), json!(eval.case_id));
    if let Some(prompt) = eval.prompt {
        members.insert("prompt".to_owned(), json!(prompt));
    }
    if let Some(expected) = &eval.expected_output {
        members.insert("expected_output".to_owned(), json!(expected));
    }
    let assertions: Vec<Value> = match format {
        Format::SkillCreator => eval.checks.iter().map(|(label, _)| json!(label)).collect(),
        Format::SkillForge => {
            let check = |(label, says): &(&str, &str)| json!({"name": label, "check": says, "weight": 1.0});
            eval.checks.iter().map(check).collect()
        }
    };
    members.insert("assertions".to_owned(), Value::Array(assertions));
    if format == Format::SkillForge {
        members.insert("should_trigger".to_owned(), json!(true));
    }
    let mut own = json!({"case_id": eval.case_id});
    if let Some(family) = eval.family {
        own["family"] = json!(family);
    }
    members.insert(OWN_KEY.to_owned(), own);
    bytes(&Value::Object(members))
}

/// `grading.json` of a run that has a rate.
///
/// `keeps_one_arm` says whether the baseline lacks the skill: only then one arm alone can satisfy some checks.
///
/// # Errors
/// Never in practice: the bytes go to memory.
pub fn grading_file(
    run: &ExportedRun<'_>,
    rated: &RatedRun,
    format: Format,
    arm: &str,
    keeps_one_arm: bool,
) -> io::Result<Vec<u8>> {
    let row = run.row;
    let entries: Vec<Entry<'_>> = row.checks.iter().filter_map(|check| Entry::objective(row, check)).collect();
    let mut own = json!({"exported": true});
    if let Some(effort) = &row.ending.effort {
        own["effort"] = json!(effort);
    }
    let open: Vec<String> =
        undecided(row).map(|check| format!("Not decided: {}: {}", check.name, check.evidence)).collect();
    // a control that had the skill says so in the key that graders use for it
    let skill_loaded = row.contamination.as_ref().map(|_| true).or(row.skill_loaded);
    let mut members = Map::new();
    let mut put = |key: &str, value: Value| {
        members.insert(key.to_owned(), value);
    };
    match format {
        Format::SkillCreator => {
            let entry = |entry: &Entry<'_>| {
                serde_json::to_value(CreatorEntry {
                    text: &entry.check.name,
                    passed: entry.passed,
                    evidence: &entry.check.evidence,
                    skill_lift: entry.own(keeps_one_arm),
                })
            };
            put("expectations", Value::Array(entries.iter().map(entry).collect::<Result<_, _>>()?));
            put(
                "summary",
                json!({"passed": rated.passed, "failed": rated.total - rated.passed, "total": rated.total,
                       "pass_rate": rated.pass_rate}),
            );
            let calls = row.tool_calls.map_or_else(|| json!({}), |calls| json!({"total_tool_calls": calls}));
            put("execution_metrics", calls);
            // times and tokens stand in timing.json: the aggregator reads the tokens only where no time stands here
            put("timing", json!({}));
            put("claims", json!([]));
            put("user_notes_summary", json!({"uncertainties": [], "needs_review": open, "workarounds": []}));
        }
        Format::SkillForge => {
            let entry = |entry: &Entry<'_>| {
                serde_json::to_value(ForgeEntry {
                    name: &entry.check.name,
                    passed: entry.passed,
                    evidence: &entry.check.evidence,
                    skill_lift: entry.own(keeps_one_arm),
                })
            };
            put("eval_id", json!(run.eval_id));
            put("run_type", json!(arm));
            put("assertions", Value::Array(entries.iter().map(entry).collect::<Result<_, _>>()?));
            put("passed_count", json!(rated.passed));
            put("total_count", json!(rated.total));
            put("pass_rate", json!(rated.pass_rate));
            if !open.is_empty() {
                put("notes", json!(open));
            }
        }
    }
    if let Some(loaded) = skill_loaded {
        put("skill_loaded", json!(loaded));
    }
    put(OWN_KEY, own);
    bytes(&Value::Object(members))
}

/// `timing.json`; `None` when nothing was measured and the run was not stopped.
///
/// # Errors
/// Never in practice: the bytes go to memory.
pub fn timing_file(run: &ExportedRun<'_>) -> io::Result<Option<Vec<u8>>> {
    let mut members = Map::new();
    if let Some(tokens) = run.tokens().filter(|tokens| *tokens > 0) {
        members.insert("total_tokens".to_owned(), json!(tokens));
    }
    if let Some(elapsed) = run.row.telemetry.elapsed_ms.value().filter(|elapsed| **elapsed > 0) {
        members.insert("duration_ms".to_owned(), json!(elapsed));
        members.insert("total_duration_seconds".to_owned(), json!(*elapsed as f64 / 1000.0));
    }
    if run.row.unscored_reasons.iter().any(|reason| reason == "timed_out") {
        members.insert("timed_out".to_owned(), json!(true));
    }
    if members.is_empty() { Ok(None) } else { bytes(&Value::Object(members)).map(Some) }
}

fn bytes(value: &Value) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write::pretty(&mut bytes, value, 0)?;
    bytes.push(b'\n');
    Ok(bytes)
}
