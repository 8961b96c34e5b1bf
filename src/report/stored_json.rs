//! What a report says of runs whose verdicts were stored: in each row, and of the tree as a whole.

use serde::Serialize;
use skill_lift_stats::Rational;

use super::agreement_json::{self, AgreementBlock};
use super::ordered::Ordered;
use crate::analyze::agreement::{GraderAgreement, TwoGraders};
use crate::analyze::benchmark_file::CheckedBenchmark;
use crate::grade::stored::{ArmTelemetry, JoinMethod, Regraded, Regrading, RunFlag, StoredFacts, StoredTree};
use crate::grade::{GradedRun, Recorded};
use crate::runs::workspace::{Measured, StatedRate};
use crate::suite::AssertionType;

/// Where a verdict was read.
#[derive(Serialize)]
pub(super) struct RecordedJson<'a> {
    file: &'a str,
    pointer: &'a str,
    joined: Option<&'static str>,
}

impl<'a> From<&'a Recorded> for RecordedJson<'a> {
    fn from(recorded: &'a Recorded) -> Self {
        Self { file: &recorded.file, pointer: &recorded.pointer, joined: recorded.joined.map(JoinMethod::word) }
    }
}

/// A number that was measured, or why there is none.
#[derive(Serialize)]
struct Measurement {
    availability: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl From<&Measured> for Measurement {
    fn from(measured: &Measured) -> Self {
        match measured {
            // other tools do not say how they came by a number
            Measured::Value(value) => Self {
                availability: "available",
                value: Some(*value),
                provenance: Some("legacy_unverified"),
                reason: None,
            },
            Measured::Unavailable(reason) => {
                Self { availability: "unavailable", value: None, provenance: None, reason: Some(reason) }
            }
        }
    }
}

#[derive(Serialize)]
struct RegradedJson<'a> {
    assertion: &'a str,
    #[serde(rename = "type")]
    assertion_type: AssertionType,
    recorded: Option<bool>,
    literal: Option<bool>,
    joined: &'static str,
    evidence: &'a str,
}

impl<'a> From<&'a Regraded> for RegradedJson<'a> {
    fn from(regraded: &'a Regraded) -> Self {
        Self {
            assertion: &regraded.label,
            assertion_type: regraded.assertion_type,
            recorded: regraded.recorded,
            literal: regraded.literal,
            joined: regraded.joined.word(),
            evidence: &regraded.evidence,
        }
    }
}

/// What stands in a row beside its verdicts.
#[derive(Serialize)]
pub(super) struct StoredRow<'a> {
    layout: &'static str,
    configuration: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<u32>,
    grading_file: Option<&'a str>,
    flags: Vec<&'static str>,
    undecided: u32,
    missing_assertions: &'a [String],
    unknown_assertions: u32,
    strict_pass_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weighted_pass_rate: Option<f64>,
    stated_pass_rate: Option<f64>,
    total_tokens: Measurement,
    duration_ms: Measurement,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_loaded: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    exported: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regraded: Vec<RegradedJson<'a>>,
}

impl<'a> StoredRow<'a> {
    /// The block of a run.
    pub(super) fn of(run: &GradedRun, facts: &'a StoredFacts) -> Self {
        Self {
            layout: facts.layout.code(),
            configuration: &facts.configuration,
            trial: facts.trial,
            grading_file: facts.grading_file.as_deref(),
            flags: facts.flags.iter().map(|flag| flag.code()).collect(),
            undecided: facts.undecided,
            missing_assertions: &facts.missing_assertions,
            unknown_assertions: facts.unknown_assertions,
            strict_pass_rate: run.strict_pass_rate(),
            weighted_pass_rate: facts.weighted.and_then(|weighted| weighted.value()),
            stated_pass_rate: match facts.stated_rate {
                StatedRate::Share(share) => Some(share),
                StatedRate::Absent | StatedRate::Invalid => None,
            },
            total_tokens: (&facts.timing.total_tokens).into(),
            duration_ms: (&facts.timing.duration_ms).into(),
            skill_loaded: facts.skill_loaded,
            exported: facts.is_exported,
            notes: &facts.notes,
            regraded: facts.regraded.iter().map(Into::into).collect(),
        }
    }
}

#[derive(Serialize)]
struct ArmJson {
    runs_with_tokens: u32,
    mean_total_tokens: Option<f64>,
    runs_with_duration: u32,
    mean_duration_ms: Option<f64>,
}

impl From<&ArmTelemetry> for ArmJson {
    fn from(arm: &ArmTelemetry) -> Self {
        Self {
            runs_with_tokens: arm.runs_with_tokens,
            mean_total_tokens: arm.mean_tokens(),
            runs_with_duration: arm.runs_with_duration,
            mean_duration_ms: arm.mean_duration_ms(),
        }
    }
}

#[derive(Serialize)]
struct Disagreement<'a> {
    run_dir: &'a str,
    #[serde(flatten)]
    regraded: RegradedJson<'a>,
}

#[derive(Serialize)]
struct RegradingJson<'a> {
    compared: u32,
    agreed: u32,
    unobserved: u32,
    /// How far the graders agree beyond chance.
    agreement: AgreementBlock,
    disagreements: Vec<Disagreement<'a>>,
}

/// A tree with stored verdicts, for a report.
#[derive(Debug, Clone, Copy)]
pub struct StoredSource<'a> {
    /// What its runs add up to.
    pub tree: &'a StoredTree,
    /// Its benchmark file, held against them.
    pub benchmark_file: Option<&'a CheckedBenchmark>,
}

#[derive(Serialize)]
struct BenchmarkFileJson<'a> {
    file: &'a str,
    form: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    rows: Option<usize>,
    published_delta: Vec<PublishedJson<'a>>,
    contradictions: Vec<ContradictionJson<'a>>,
}

#[derive(Serialize)]
struct PublishedJson<'a> {
    metric: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct ContradictionJson<'a> {
    code: &'static str,
    subject: &'a str,
    claimed: &'a str,
    found: &'a str,
    pointer: &'a str,
}

impl<'a> From<&'a CheckedBenchmark> for BenchmarkFileJson<'a> {
    fn from(checked: &'a CheckedBenchmark) -> Self {
        let claims = checked.claims.as_ref().ok();
        let published = claims.into_iter().flat_map(|claims| &claims.published_delta);
        Self {
            file: &checked.file,
            form: claims.map(|claims| claims.form.word()),
            problem: checked.claims.as_ref().err().map(String::as_str),
            rows: claims.map(|claims| claims.rows.len()),
            published_delta: published
                .map(|delta| PublishedJson { metric: &delta.metric, text: &delta.text })
                .collect(),
            contradictions: checked
                .contradictions
                .iter()
                .map(|contradiction| ContradictionJson {
                    code: contradiction.code.code(),
                    subject: &contradiction.subject,
                    claimed: &contradiction.claimed,
                    found: &contradiction.found,
                    pointer: &contradiction.pointer,
                })
                .collect(),
        }
    }
}

fn agreement(regrading: &Regrading, alpha: &Rational) -> AgreementBlock {
    let graders = TwoGraders {
        both_pass: regrading.both_pass.into(),
        first_only: regrading.stored_only.into(),
        second_only: regrading.check_only().into(),
        both_fail: regrading.both_fail().into(),
    };
    agreement_json::block(&GraderAgreement::of(&graders, alpha), alpha)
}

/// What stands in a report of a tree with stored verdicts.
#[derive(Serialize)]
pub(super) struct StoredBlock<'a> {
    passed: u32,
    failed: u32,
    undecided: u32,
    layouts: Ordered<u32>,
    joined: Ordered<u32>,
    flags: Ordered<u32>,
    unscored_reasons: Ordered<u32>,
    telemetry: Ordered<ArmJson>,
    token_scope_differs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    regrading: Option<RegradingJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    benchmark_file: Option<BenchmarkFileJson<'a>>,
}

impl<'a> StoredBlock<'a> {
    /// The block of a tree; `baseline` is the arm that the skill's arm is compared with, `alpha` the error rate of limits.
    pub(super) fn of(source: StoredSource<'a>, with_skill: &str, baseline: &str, alpha: &Rational) -> Self {
        let StoredSource { tree, benchmark_file } = source;
        let counted = |name: &'static str, count: &u32| (name.to_owned(), *count);
        Self {
            passed: tree.passed,
            failed: tree.failed,
            undecided: tree.undecided,
            layouts: Ordered(tree.layouts.iter().map(|(layout, count)| counted(layout.code(), count)).collect()),
            joined: Ordered(
                tree.joined
                    .iter()
                    .map(|(method, count)| counted(method.map_or("none", JoinMethod::word), count))
                    .collect(),
            ),
            flags: Ordered(tree.flags.iter().map(|(flag, count)| counted(RunFlag::code(*flag), count)).collect()),
            unscored_reasons: Ordered(
                tree.reasons.iter().map(|(reason, count)| counted(reason.code(), count)).collect(),
            ),
            telemetry: Ordered(tree.telemetry.iter().map(|(arm, measured)| (arm.clone(), measured.into())).collect()),
            token_scope_differs: tree.token_scope_differs(with_skill, baseline),
            regrading: tree.regrading.as_ref().map(|regrading| RegradingJson {
                compared: regrading.compared,
                agreed: regrading.agreed,
                unobserved: regrading.unobserved,
                agreement: agreement(regrading, alpha),
                disagreements: regrading
                    .disagreements
                    .iter()
                    .map(|(run_dir, regraded)| Disagreement { run_dir, regraded: regraded.into() })
                    .collect(),
            }),
            benchmark_file: benchmark_file.map(Into::into),
        }
    }
}
