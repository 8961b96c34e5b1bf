//! The JSON of a gate: full precision, a reason beside every value that is withheld.

use std::io::{self, Write};

use num_traits::ToPrimitive;
use serde::Serialize;
use skill_lift_stats::Withheld;
use skill_lift_stats::rational::{self, Rational};

use super::{tried, words};
use crate::analyze::gate::{
    FALSE_ALARMS_ALLOWED, Gate, GateNote, GateReason, QualityFinding, SelfTest, SelfTestMethod, SelfTestProblem, Share,
    UnsplitCell,
};
use crate::json::write::pretty;
use crate::runs::claims::{CostBasis, ExtraCost};

/// What stands at the top of a gate.
#[derive(Debug, Clone, Copy)]
pub struct GateHead<'p> {
    /// The report as the user typed it.
    pub source: &'p str,
}

/// Writes a gate.
///
/// # Errors
/// Those of the writer.
pub fn write_gate(mut writer: &mut dyn Write, head: GateHead<'_>, gate: &Gate) -> io::Result<()> {
    pretty(&mut writer, &Document::of(head, gate), 0)?;
    writer.write_all(b"\n")
}

#[derive(Serialize)]
struct QualityBlock<'p> {
    code: &'static str,
    count: usize,
    first_case: &'p str,
}

fn finding(finding: &QualityFinding) -> QualityBlock<'_> {
    QualityBlock { code: finding.problem.code(), count: finding.count, first_case: &finding.first_case }
}

#[derive(Serialize)]
struct Document<'p> {
    schema_version: u32,
    tool_version: &'static str,
    source: &'p str,
    skill_name: &'p str,
    condition: &'static str,
    /// In lift: 0.05 are 5 percentage points.
    margin: Option<f64>,
    alpha: f64,
    outcome: &'static str,
    exit_code: u8,
    /// Whether the condition holds and no limit is exceeded.
    holds: bool,
    text: String,
    why: Vec<String>,
    next_step: String,
    reasons: Vec<&'static str>,
    missing_evidence: &'p [String],
    /// What keeps the report from being whole, where that was asked; empty when nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<Vec<QualityBlock<'p>>>,
    notes: Vec<&'static str>,
    unit: &'static str,
    n_units: usize,
    minimum_units: usize,
    unpaired_cases: usize,
    estimate: Option<f64>,
    counts: Counts,
    p_two_sided: Option<f64>,
    p_floor: Option<f64>,
    p_is_bound: bool,
    method: &'static str,
    interval: Interval,
    interval_t: Interval,
    interval_sign_flip: Interval,
    /// What is compared with the margin.
    margin_interval: Option<MarginBlock>,
    regressed_share_upper: Option<f64>,
    cost: Option<CostBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    self_test: Option<SelfTestBlock>,
}

#[derive(Serialize)]
struct Counts {
    improved: usize,
    regressed: usize,
    unchanged: usize,
}

#[derive(Serialize)]
struct Interval {
    method: &'static str,
    confidence: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct MarginBlock {
    #[serde(flatten)]
    interval: Interval,
    non_inferior: Option<bool>,
    equivalent: Option<bool>,
}

#[derive(Serialize)]
struct CostBlock {
    limit_usd: f64,
    extra_usd: Option<f64>,
    basis: Option<&'static str>,
    measured: u64,
    of: u64,
    within_limit: bool,
}

#[derive(Serialize)]
struct SelfTestBlock {
    arm: &'static str,
    method: Option<&'static str>,
    seed: Option<u64>,
    /// Tries, or outcomes that differ where all ways are listed.
    tries: Option<u64>,
    /// Ways to split, where all are listed and a double holds their number.
    ways: Option<u64>,
    units: Option<usize>,
    cells: Option<usize>,
    left_out: Vec<CellBlock>,
    improved: Option<ShareBlock>,
    regressed: Option<ShareBlock>,
    equivalent: Option<ShareBlock>,
    inconclusive: Option<ShareBlock>,
    false_alarms: Option<ShareBlock>,
    holds: Option<ShareBlock>,
    allowed: f64,
    fit: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    text: String,
}

#[derive(Serialize)]
struct CellBlock {
    case_id: String,
    model: Option<String>,
    runs: usize,
}

#[derive(Serialize)]
struct ShareBlock {
    value: f64,
    lower: Option<f64>,
    upper: Option<f64>,
}

fn interval(method: &'static str, confidence: f64, limits: Result<(f64, f64), Withheld>) -> Interval {
    let (found, reason) = match limits {
        Ok(found) => (Some(found), None),
        Err(reason) => (None, Some(reason.as_str())),
    };
    Interval { method, confidence, lower: found.map(|limits| limits.0), upper: found.map(|limits| limits.1), reason }
}

impl<'p> Document<'p> {
    fn of(head: GateHead<'p>, gate: &'p Gate) -> Self {
        let (test, lifts) = (&gate.decision.test, &gate.lifts);
        let confidence = rational::to_f64(&(rational::rate(1, 1) - &gate.alpha));
        let tested = |p: f64| (test.n > 0).then_some(p);
        Self {
            schema_version: 1,
            tool_version: env!("CARGO_PKG_VERSION"),
            source: head.source,
            skill_name: &gate.skill_name,
            condition: gate.condition.code(),
            margin: gate.condition.margin().map(rational::to_f64),
            alpha: rational::to_f64(&gate.alpha),
            outcome: gate.decision.outcome.code(),
            exit_code: gate.answer.exit_code(),
            holds: gate.holds(),
            text: words::sentence(gate),
            why: words::why(gate),
            next_step: words::next_step(gate),
            reasons: gate.reasons.iter().map(|reason| reason.code()).collect(),
            missing_evidence: &gate.missing_evidence,
            quality: gate.quality.as_ref().map(|quality| quality.findings.iter().map(finding).collect()),
            notes: gate.notes.iter().map(|note| GateNote::code(*note)).collect(),
            unit: lifts.unit.word(),
            n_units: test.n,
            minimum_units: gate.minimum_units,
            unpaired_cases: lifts.unpaired_cases,
            estimate: test.estimate.as_ref().map(rational::to_f64),
            counts: Counts { improved: test.improved, regressed: test.regressed, unchanged: test.unchanged() },
            p_two_sided: tested(test.p_two_sided),
            p_floor: tested(test.floor),
            p_is_bound: test.p_is_bound,
            method: test.method.as_str(),
            interval: interval("padded-t", confidence, lifts.interval.map(|found| (found.lower, found.upper))),
            interval_t: interval("paired-t", confidence, lifts.interval_t.map(|found| (found.lower, found.upper))),
            interval_sign_flip: interval(
                "sign-flip-inversion",
                confidence,
                lifts
                    .interval_sign_flip
                    .as_ref()
                    .map(|found| (found.lower_f64(), found.upper_f64()))
                    .map_err(|why| *why),
            ),
            margin_interval: gate.decision.margin.as_ref().map(|compared| MarginBlock {
                interval: interval(
                    "padded-t",
                    rational::to_f64(&(rational::rate(1, 1) - &gate.alpha - &gate.alpha)),
                    compared.as_ref().map(|found| (found.lower, found.upper)).map_err(|why| *why),
                ),
                non_inferior: compared.as_ref().ok().map(|found| found.non_inferior),
                equivalent: compared.as_ref().ok().map(|found| found.equivalent),
            }),
            regressed_share_upper: lifts.regressed_share_upper.ok(),
            cost: gate.max_cost.as_ref().map(|limit| cost(gate, limit)),
            self_test: gate.self_test.as_ref().map(self_test),
        }
    }
}

fn cost(gate: &Gate, limit: &Rational) -> CostBlock {
    let cost = gate.extra_cost.as_ref();
    let is_reason = |reason: &GateReason| {
        matches!(
            reason,
            GateReason::CostAboveLimit
                | GateReason::CostNotMeasured
                | GateReason::CostPartlyMeasured
                | GateReason::CostNotInDollars
        )
    };
    let in_dollars = |cost: &&ExtraCost| cost.other_currency.is_none();
    CostBlock {
        limit_usd: rational::to_f64(limit),
        extra_usd: cost.filter(in_dollars).and_then(|cost| cost.mean.as_ref()).map(rational::to_f64),
        basis: cost.map(|cost| match cost.basis {
            CostBasis::Pairs => "pairs",
            CostBasis::Runs => "runs",
        }),
        measured: cost.map_or(0, |cost| cost.measured),
        of: cost.map_or(0, |cost| cost.of),
        within_limit: !gate.reasons.iter().any(is_reason),
    }
}

fn self_test(test: &Result<SelfTest, SelfTestProblem>) -> SelfTestBlock {
    let cell =
        |cell: &UnsplitCell| CellBlock { case_id: cell.case.clone(), model: cell.model.clone(), runs: cell.runs };
    let made = test.as_ref().ok();
    let (method, tries, ways) = match made.map(|made| &made.method) {
        Some(SelfTestMethod::Enumerated { distinct, ways }) => {
            (Some("enumerated"), Some(*distinct), ways.to_u64().filter(|ways| *ways <= 1 << 53))
        }
        Some(SelfTestMethod::Sampled { tries }) => (Some("sampled"), Some(*tries), None),
        None => (None, None, None),
    };
    let is_sampled = method == Some("sampled");
    let share = |of: fn(&SelfTest) -> &Share| {
        made.map(of).map(|share| ShareBlock {
            value: rational::to_f64(&share.value),
            lower: share.limits.map(|limits| limits.lower),
            upper: share.limits.map(|limits| limits.upper),
        })
    };
    let (asked, left_out) = match test {
        Ok(test) => (test.asked, &test.left_out),
        Err(problem) => (problem.asked, &problem.left_out),
    };
    SelfTestBlock {
        arm: asked.arm.code(),
        method,
        seed: is_sampled.then_some(asked.seed),
        tries,
        ways,
        units: made.map(|test| test.units),
        cells: made.map(|test| test.cells),
        left_out: left_out.iter().map(cell).collect(),
        improved: share(|test| &test.shares.improved),
        regressed: share(|test| &test.shares.regressed),
        equivalent: share(|test| &test.shares.equivalent),
        inconclusive: share(|test| &test.shares.inconclusive),
        false_alarms: share(|test| &test.shares.false_alarms),
        holds: share(|test| &test.shares.holds),
        allowed: rational::to_f64(&rational::rate(FALSE_ALARMS_ALLOWED, 100)),
        fit: made.map(|test| test.is_fit),
        reason: test.as_ref().err().map(|problem| problem.reason.as_str()),
        text: tried::text(test),
    }
}
