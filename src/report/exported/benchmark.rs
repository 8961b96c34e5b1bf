//! `benchmark.json` in the form of skill-creator, which its viewer shows.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};
use skill_lift_contract::telemetry::{Measurement, Observation};
use skill_lift_stats::describe;
use skill_lift_stats::rational::{self, round_f64_half_even};

use super::arms::{Arm, ArmRole, role};
use super::entries::{Entry, OwnMark};
use super::notes;
use super::runs::{ExportedReport, ExportedRun, LeftOut, RateOver, RatedRun};
use crate::analyze::table::{Baseline, WITH_SKILL};
use crate::json::write;
use crate::report::forge::stamp;
use crate::report::numbers::counted;
use crate::report::ordered::Ordered;
use crate::report::paired_json::paired_summary;
use crate::suite::Severity;

/// For whom the file is.
#[derive(Debug, Clone, Copy)]
pub enum BenchmarkStyle<'a> {
    /// For readers of the reference package's export: arms by their names, rates over checks and judgements.
    Standalone,
    /// For a workspace with these arms, whose files have the rates of the headline.
    Workspace(&'a [Arm]),
}

#[derive(Serialize)]
struct Document<'a> {
    metadata: Metadata<'a>,
    runs: Vec<Run<'a>>,
    run_summary: Ordered<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration_deltas: Option<Ordered<Value>>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_lift: Option<Value>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    skill_name: &'a str,
    skill_path: &'a str,
    executor_model: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    executor_models: Vec<&'a str>,
    analyzer_model: &'static str,
    timestamp: Option<String>,
    evals_run: Vec<usize>,
    runs_per_configuration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta_configurations: Option<[String; 2]>,
}

#[derive(Serialize)]
struct Run<'a> {
    eval_id: usize,
    eval_name: &'a str,
    configuration: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    executor_model: Option<&'a str>,
    run_number: u32,
    result: RunResult,
    telemetry: Map<String, Value>,
    expectations: Vec<Expectation<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct RunResult {
    pass_rate: f64,
    passed: u32,
    failed: u32,
    total: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<u64>,
}

#[derive(Serialize)]
struct Expectation<'a> {
    text: &'a str,
    passed: bool,
    evidence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_lift: Option<OwnMark>,
}

/// Writes the file.
///
/// # Errors
/// Those of the writer.
pub fn write_skill_creator_benchmark(
    writer: &mut dyn Write,
    report: &ExportedReport<'_>,
    style: BenchmarkStyle<'_>,
) -> io::Result<()> {
    let document = Builder { report, style }.document();
    write::pretty(&mut *writer, &document, 0)?;
    writer.write_all(b"\n")
}

/// A configuration of the file with the runs that have a rate.
struct Configuration<'r, 'a> {
    name: String,
    model: Option<&'a str>,
    role: ArmRole,
    runs: Vec<&'r ExportedRun<'a>>,
}

struct Builder<'b, 'a> {
    report: &'b ExportedReport<'a>,
    style: BenchmarkStyle<'b>,
}

impl<'b, 'a> Builder<'b, 'a> {
    fn document(&self) -> Document<'a> {
        let report = self.report;
        let over = match self.style {
            BenchmarkStyle::Standalone => RateOver::Combined,
            BenchmarkStyle::Workspace(_) => RateOver::Objective,
        };
        let runs = report.runs(over);
        let configurations = self.configurations(&runs);
        let [summary, deltas] = self.summaries(&configurations);
        let compared = configurations.iter().any(|found| found.role == ArmRole::Treatment)
            && configurations.iter().any(|found| found.role == ArmRole::Baseline);
        let models = report.models();
        Document {
            metadata: Metadata {
                skill_name: report.skill_name,
                skill_path: report.skill_path,
                executor_model: match models.as_slice() {
                    [] => "<captured per run where available>".to_owned(),
                    models => models.join(", "),
                },
                executor_models: if models.len() > 1 { models } else { Vec::new() },
                analyzer_model: "<not-run>",
                timestamp: report.generated_at.map(moment),
                evals_run: (0..report.case_ids().len()).collect(),
                runs_per_configuration: report.rows.iter().map(|row| row.repetition).max().unwrap_or(1).max(1),
                delta_configurations: compared.then(|| self.compared_names()),
            },
            runs: runs.iter().filter_map(|run| Some(self.run(run, run.rated.as_ref().ok()?))).collect(),
            run_summary: Ordered(summary),
            configuration_deltas: matches!(self.style, BenchmarkStyle::Standalone).then_some(Ordered(deltas)),
            notes: self.notes(&runs, &configurations),
            skill_lift: matches!(self.style, BenchmarkStyle::Workspace(_)).then(|| self.own_block()),
        }
    }

    fn baseline(&self) -> Baseline {
        self.report.analysis.table.baseline
    }

    /// The name of the configuration of a run.
    fn name(&self, variant: &str, model: Option<&str>) -> String {
        match self.style {
            BenchmarkStyle::Workspace(arms) => {
                let is_arm =
                    |arm: &&Arm| arm.variant == variant && (arm.model.is_none() || arm.model.as_deref() == model);
                arms.iter().find(is_arm).map_or_else(|| variant.to_owned(), |arm| arm.name.clone())
            }
            BenchmarkStyle::Standalone if self.report.tells_models() => match model {
                Some(model) => format!("{model}::{variant}"),
                None => variant.to_owned(),
            },
            BenchmarkStyle::Standalone => variant.to_owned(),
        }
    }

    fn compared_names(&self) -> [String; 2] {
        let names = [WITH_SKILL, self.baseline().variant()];
        match self.style {
            BenchmarkStyle::Workspace(arms) => names.map(|variant| {
                let arm = arms.iter().find(|arm| arm.variant == variant);
                arm.map_or_else(|| variant.to_owned(), |arm| arm.name.clone())
            }),
            BenchmarkStyle::Standalone => names.map(str::to_owned),
        }
    }

    /// The skill's arm first, then its baseline, of each model; then the others in the order of the report.
    fn configurations<'r>(&self, runs: &'r [ExportedRun<'a>]) -> Vec<Configuration<'r, 'a>> {
        let tells_models = self.report.tells_models();
        let mut found: Vec<Configuration<'r, 'a>> = Vec::new();
        for run in runs {
            let model = run.row.model.as_deref().filter(|_| tells_models);
            let name = self.name(&run.row.variant, model);
            let at = found.iter().position(|configuration| configuration.name == name).unwrap_or_else(|| {
                let role = role(&run.row.variant, self.baseline());
                found.push(Configuration { name, model, role, runs: Vec::new() });
                found.len() - 1
            });
            if run.rated.is_ok() {
                found[at].runs.push(run);
            }
        }
        found.sort_by_key(|configuration| {
            (configuration.role == ArmRole::Other, configuration.model, configuration.role)
        });
        found
    }

    /// `run_summary` with its delta, and the delta of each model.
    fn summaries(&self, configurations: &[Configuration<'_, 'a>]) -> [Vec<(String, Value)>; 2] {
        let rounds = matches!(self.style, BenchmarkStyle::Workspace(_));
        let mut summary: Vec<(String, Value)> = configurations
            .iter()
            .map(|configuration| (configuration.name.clone(), Statistics::of(configuration).json(rounds)))
            .collect();
        let baseline = self.baseline().variant();
        let mut deltas = Vec::new();
        for treatment in configurations.iter().filter(|found| found.role == ArmRole::Treatment) {
            let is_partner =
                |other: &&Configuration<'_, '_>| other.role == ArmRole::Baseline && other.model == treatment.model;
            let Some(partner) = configurations.iter().find(is_partner) else { continue };
            let delta = Statistics::of(treatment).minus(&Statistics::of(partner));
            if deltas.is_empty() {
                summary.push(("delta".to_owned(), delta.clone()));
            }
            let model = treatment.model.unwrap_or("all").to_owned();
            deltas.push((model, json!({"from": baseline, "to": WITH_SKILL, "delta": delta})));
        }
        [summary, deltas]
    }

    fn run(&self, run: &ExportedRun<'a>, rated: &RatedRun) -> Run<'a> {
        let row = run.row;
        let mut telemetry = Map::new();
        let mut say = |name: &str, why: Option<Value>| {
            if let Some(why) = why {
                telemetry.insert(name.to_owned(), why);
            }
        };
        say("time_seconds", withheld(&row.telemetry.elapsed_ms));
        say("tokens", withheld(&row.telemetry.total_tokens));
        if row.tool_calls.is_none() {
            say("tool_calls", Some(json!({"availability": "unavailable", "reason": "missing_tool_calls"})));
        }
        Run {
            eval_id: run.eval_id,
            eval_name: &row.case.id,
            configuration: self.name(&row.variant, row.model.as_deref()),
            executor_model: row.model.as_deref().filter(|_| self.report.tells_models()),
            run_number: row.repetition,
            result: RunResult {
                pass_rate: rated.pass_rate,
                passed: rated.passed,
                failed: rated.total - rated.passed,
                total: rated.total,
                time_seconds: run.seconds(),
                tokens: run.tokens(),
                tool_calls: row.tool_calls,
            },
            telemetry,
            expectations: self.expectations(run),
            notes: match rated.vetoed {
                true => vec![format!("the rate is 0: critical checks failed ({})", row.critical_failures.join(", "))],
                false => Vec::new(),
            },
        }
    }

    fn expectations(&self, run: &ExportedRun<'a>) -> Vec<Expectation<'a>> {
        let row = run.row;
        match self.style {
            BenchmarkStyle::Standalone => {
                let expectation = |check: &'a crate::runs::claims::SavedCheck| Expectation {
                    text: &check.name,
                    passed: check.passed == Some(true),
                    evidence: &check.evidence,
                    severity: Some(check.severity),
                    counted: Some(
                        check.passed.is_some() && check.skipped.is_none() && check.severity != Severity::Soft,
                    ),
                    skill_lift: None,
                };
                row.checks.iter().map(expectation).collect()
            }
            BenchmarkStyle::Workspace(_) => {
                let keeps_one_arm = self.baseline() == Baseline::WithoutSkill;
                let entries = row.checks.iter().filter_map(|check| Entry::objective(row, check));
                let expectation = |entry: Entry<'a>| Expectation {
                    text: &entry.check.name,
                    passed: entry.passed,
                    evidence: &entry.check.evidence,
                    severity: None,
                    counted: None,
                    skill_lift: entry.own(keeps_one_arm),
                };
                entries.map(expectation).collect()
            }
        }
    }

    fn notes(&self, runs: &[ExportedRun<'a>], configurations: &[Configuration<'_, 'a>]) -> Vec<String> {
        let mut notes = vec![format!("Written by skill-lift {} from graded runs.", env!("CARGO_PKG_VERSION"))];
        if let BenchmarkStyle::Workspace(_) = self.style {
            notes.extend(notes::patterns(runs, self.baseline()));
        }
        for run in runs {
            let why = match &run.rated {
                Ok(_) => continue,
                Err(LeftOut::Unscored(reasons)) => format!("not scored ({})", reasons.join(", ")),
                Err(LeftOut::NothingGraded) => "nothing was graded".to_owned(),
            };
            let name = self.name(&run.row.variant, run.row.model.as_deref());
            notes.push(format!("Left out: {}, {name}, run {}: {why}.", run.row.case.id, run.row.repetition));
        }
        for configuration in configurations {
            let statistics = Statistics::of(configuration);
            for (name, values) in [("time", &statistics.seconds), ("tokens", &statistics.tokens)] {
                if values.len() < statistics.rates.len() {
                    let of = counted(statistics.rates.len(), "run", "runs");
                    notes.push(format!("{}: {name} measured in {} of {of}.", configuration.name, values.len()));
                }
            }
        }
        notes
    }

    /// What the form has no room for: the comparison as this program makes it.
    fn own_block(&self) -> Value {
        let analysis = self.report.analysis;
        let overall = &analysis.inference.overall;
        let alpha = analysis.inference.thresholds.alpha();
        let confidence = rational::to_f64(&(rational::rate(1, 1) - alpha));
        let paired = paired_summary(analysis, self.baseline(), &analysis.lift, confidence);
        json!({
            "tool": {"name": "skill-lift", "version": env!("CARGO_PKG_VERSION")},
            "case_ids": self.report.case_ids(),
            "verdict": overall.verdict.code.as_str(),
            "p_value": overall.test.p_two_sided,
            "lift": overall.test.estimate.as_ref().map(|lift| rational::round_half_even(lift, 6)),
            "units": overall.test.n,
            "paired_summary": serde_json::to_value(&paired).unwrap_or(Value::Null),
        })
    }
}

/// Why a quantity has no value.
fn withheld(measurement: &Measurement<u64>) -> Option<Value> {
    match &measurement.observation {
        Observation::Available { .. } => None,
        Observation::Unavailable(reason) => Some(json!({"availability": "unavailable", "reason": reason})),
        Observation::NotApplicable(reason) => Some(json!({"availability": "not_applicable", "reason": reason})),
    }
}

/// What the runs of a configuration have.
struct Statistics {
    rates: Vec<f64>,
    seconds: Vec<f64>,
    tokens: Vec<f64>,
}

impl Statistics {
    fn of(configuration: &Configuration<'_, '_>) -> Self {
        let runs = || configuration.runs.iter();
        Self {
            rates: runs().filter_map(|run| run.rated.as_ref().ok()).map(|rated| rated.pass_rate).collect(),
            seconds: runs()
                .filter_map(|run| run.row.telemetry.elapsed_ms.value())
                .map(|ms| *ms as f64 / 1000.0)
                .collect(),
            tokens: runs().filter_map(|run| run.tokens()).map(|tokens| tokens as f64).collect(),
        }
    }

    /// A quantity without any value has no entry: the viewer shows a dash for it, and stops at a null.
    fn json(&self, rounds: bool) -> Value {
        let entries = [("pass_rate", &self.rates), ("time_seconds", &self.seconds), ("tokens", &self.tokens)];
        let mut members = Map::new();
        for (name, values) in entries {
            let summary = describe::summary(values);
            let shown = |value: f64| if rounds { round_f64_half_even(value, 4) } else { value };
            let numbers = [summary.mean, summary.stddev, summary.min, summary.max].map(|value| value.map(shown));
            let [Some(mean), Some(stddev), Some(min), Some(max)] = numbers else { continue };
            let mut statistics = json!({"mean": mean, "stddev": stddev, "min": min, "max": max});
            if values.len() < self.rates.len() {
                statistics["availability"] = json!("partial");
            }
            members.insert(name.to_owned(), statistics);
        }
        Value::Object(members)
    }

    /// The differences of the means; of what is not measured in every run there is none.
    fn minus(&self, other: &Self) -> Value {
        let complete =
            |values: &[f64], of: &Self| if values.len() == of.rates.len() { describe::mean(values) } else { None };
        let difference = |mine: &[f64], others: &[f64]| Some(complete(mine, self)? - complete(others, other)?);
        let mut members = Map::new();
        let mut put = |name: &str, text: Option<String>| {
            if let Some(text) = text {
                members.insert(name.to_owned(), Value::String(text));
            }
        };
        put("pass_rate", difference(&self.rates, &other.rates).map(|value| format!("{value:+.2}")));
        put("time_seconds", difference(&self.seconds, &other.seconds).map(|value| format!("{value:+.1}")));
        put("tokens", difference(&self.tokens, &other.tokens).map(|value| format!("{value:+.0}")));
        Value::Object(members)
    }
}

/// A moment without fractions of a second.
fn moment(seconds: i64) -> String {
    let written = stamp(seconds);
    format!("{}Z", written.split('.').next().unwrap_or(&written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_whole_seconds() {
        // date -u -d @1700000000 +%Y-%m-%dT%H:%M:%SZ
        assert_eq!(moment(1_700_000_000), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn what_was_not_measured_has_no_statistics() {
        let statistics = Statistics { rates: vec![1.0, 0.5], seconds: vec![12.5], tokens: Vec::new() };
        // (1 + 0.5) / 2, and sqrt((0.25² + 0.25²) / 1)
        assert_eq!(
            statistics.json(true),
            json!({"pass_rate": {"mean": 0.75, "stddev": 0.3536, "min": 0.5, "max": 1.0},
                   "time_seconds": {"mean": 12.5, "stddev": 0.0, "min": 12.5, "max": 12.5, "availability": "partial"}})
        );
        let other = Statistics { rates: vec![0.25], seconds: vec![10.0], tokens: vec![5.0] };
        assert_eq!(statistics.minus(&other), json!({"pass_rate": "+0.50"}));
        assert_eq!(other.minus(&other), json!({"pass_rate": "+0.00", "time_seconds": "+0.0", "tokens": "+0"}));
    }
}
