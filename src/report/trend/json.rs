//! The JSON of a history, key by key.

use std::io::{self, Write};

use serde::Serialize;
use skill_lift_stats::Thresholds;
use skill_lift_stats::betting::BettingEvidence;
use skill_lift_stats::rational::{self, Rational};

use crate::analyze::diff::CaseSets;
use crate::analyze::trend::{
    CaseDelta, Change, Compared, Look, Means, Point, PruneCandidate, RecurringFailure, Step, Trend, VariantDelta,
};
use crate::json::write::pretty;
use crate::report::diff::blocks::{LikeForLike, like_for_like};
use crate::report::diff::shift_json::{IntervalBlock, TestBlock, VerdictBlock, interval, test, verdict};
use crate::report::ordered::Ordered;
use crate::report::trend::view::rerun_caveat;

/// Entries of a list of failures.
const MOST_FAILURES: usize = 50;

/// Writes what a history shows.
///
/// # Errors
/// Those of the writer.
pub fn write_trend(mut writer: &mut dyn Write, trend: &Trend) -> io::Result<()> {
    pretty(&mut writer, &Document::of(trend), 0)?;
    writer.write_all(b"\n")
}

/// The whole document. The first five keys are those of version 0.6.
#[derive(Serialize)]
struct Document<'t> {
    runs: usize,
    series: Vec<PointBlock<'t>>,
    diffs: Vec<StepBlock<'t>>,
    /// Failures with the skill in scorable runs, highest rank first.
    recurring_failures: Vec<FailureBlock<'t>>,
    prune_candidates: Vec<PruneBlock<'t>>,
    /// Failures without the skill, which are what a skill is for.
    baseline_failures: Vec<FailureBlock<'t>>,
    /// Failures with the skill, also those beyond the list.
    recurring_failures_total: usize,
    baseline_failures_total: usize,
    schema_version: u32,
    tool_version: &'static str,
    /// Error rate of tests and intervals.
    alpha: f64,
    /// Smallest change that matters.
    min_lift: f64,
    repeated_looks: LooksBlock<'t>,
}

/// What the reports say together, each case counted when it is first seen.
#[derive(Serialize)]
struct LooksBlock<'t> {
    method: &'static str,
    unit: &'static str,
    n: usize,
    looks: Vec<LookBlock<'t>>,
    /// Reports with runs of cases that earlier ones have already.
    reports_on_same_cases: usize,
    qualifiers: Vec<QualifierBlock>,
}

#[derive(Serialize)]
struct LookBlock<'t> {
    label: &'t str,
    new_units: usize,
    repeated_units: usize,
    n: usize,
    ln_e: Option<f64>,
    e_value: Option<f64>,
    p_anytime: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct QualifierBlock {
    code: &'static str,
    args: serde_json::Value,
}

/// One report; keys from `verdict` on are ours.
#[derive(Serialize)]
struct PointBlock<'t> {
    label: &'t str,
    generated_at: Option<i64>,
    with_skill: Option<f64>,
    without_skill: Option<f64>,
    lift: Option<f64>,
    saturated_cases: usize,
    flagged_cases: usize,
    median_total_tokens: Ordered<Option<serde_json::Number>>,
    verdict: Option<&'t str>,
    suite_sha256: Option<&'t str>,
    rows: usize,
    scored_rows: usize,
}

/// From one report to the next; keys from `like_for_like` on are ours.
#[derive(Serialize)]
struct StepBlock<'t> {
    from: &'t str,
    to: &'t str,
    diff: DiffBlock<'t>,
    like_for_like: Option<LikeForLike<'t>>,
    cases: Option<CasesBlock<'t>>,
    /// The change of the rate with the skill over the cases in both.
    with_skill: ChangeBlock,
    /// The change of the lift over the cases with both arms in both.
    lift: ChangeBlock,
}

/// What the reports state, side by side.
#[derive(Serialize)]
struct DiffBlock<'t> {
    variant_deltas: Ordered<VariantBlock>,
    case_deltas: Vec<CaseBlock<'t>>,
    new_flags: &'t [String],
    resolved_flags: &'t [String],
}

#[derive(Serialize)]
struct VariantBlock {
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_objective_pass_rate: Option<MeansBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_combined_pass_rate: Option<MeansBlock>,
}

#[derive(Serialize)]
struct MeansBlock {
    before: f64,
    after: f64,
    delta: f64,
}

#[derive(Serialize)]
struct CaseBlock<'t> {
    case_id: &'t str,
    variant: &'t str,
    #[serde(flatten)]
    means: MeansBlock,
}

#[derive(Serialize)]
struct CasesBlock<'t> {
    common: usize,
    appeared: &'t [String],
    vanished: &'t [String],
}

#[derive(Serialize)]
struct ChangeBlock {
    unit: &'static str,
    n_cases: usize,
    before: Option<f64>,
    after: Option<f64>,
    change: Option<f64>,
    rose: usize,
    fell: usize,
    unchanged: usize,
    /// Null with a reason when nothing is tested.
    test: Option<AdjustedTest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_reason: Option<&'static str>,
    interval: Option<IntervalBlock>,
    verdict: Option<VerdictBlock>,
}

#[derive(Serialize)]
struct AdjustedTest {
    #[serde(flatten)]
    test: TestBlock,
    /// Adjusted over all steps of the history.
    p_holm: Option<f64>,
}

/// A check that failed; keys from `failed_in` on are ours.
#[derive(Serialize)]
struct FailureBlock<'t> {
    case_id: &'t str,
    assertion: &'t str,
    severity: &'t str,
    /// Share of all reports in which it failed.
    prevalence: f64,
    rank: f64,
    failed_in: usize,
    /// Reports in which the case was scored.
    scored_in: usize,
}

#[derive(Serialize)]
struct PruneBlock<'t> {
    case_id: &'t str,
    runs_observed: usize,
    reason: &'static str,
}

impl<'t> Document<'t> {
    fn of(trend: &'t Trend) -> Self {
        let failures = |list: &'t [RecurringFailure]| list.iter().take(MOST_FAILURES).map(failure).collect();
        Self {
            runs: trend.points.len(),
            series: trend.points.iter().map(point).collect(),
            diffs: trend.steps.iter().map(|each| step(each, &trend.thresholds)).collect(),
            recurring_failures: failures(&trend.recurring_failures),
            prune_candidates: trend.prune_candidates.iter().map(prune).collect(),
            baseline_failures: failures(&trend.baseline_failures),
            recurring_failures_total: trend.recurring_failures.len(),
            baseline_failures_total: trend.baseline_failures.len(),
            schema_version: 1,
            tool_version: env!("CARGO_PKG_VERSION"),
            alpha: rational::to_f64(trend.thresholds.alpha()),
            min_lift: rational::to_f64(trend.thresholds.min_lift()),
            repeated_looks: looks(trend),
        }
    }
}

fn looks(trend: &Trend) -> LooksBlock<'_> {
    fn block(look: &Look) -> LookBlock<'_> {
        let evidence = look.evidence.as_ref().ok();
        LookBlock {
            label: &look.label,
            new_units: look.new_units,
            repeated_units: look.repeated_units,
            n: look.units,
            ln_e: evidence.map(|evidence| evidence.ln_e),
            // beyond what a double holds the logarithm says it
            e_value: evidence.map(|evidence| evidence.ln_e.exp()).filter(|e| e.is_finite()),
            p_anytime: evidence.map(BettingEvidence::p_anytime),
            reason: look.evidence.as_ref().err().map(|reason| reason.as_str()),
        }
    }
    LooksBlock {
        method: "betting",
        unit: trend.looks.unit().word(),
        n: trend.looks.units(),
        looks: trend.looks.looks().iter().map(block).collect(),
        reports_on_same_cases: trend.looks.repeating_reports(),
        qualifiers: rerun_caveat(trend)
            .into_iter()
            .map(|caveat| QualifierBlock { code: caveat.code, args: caveat.args })
            .collect(),
    }
}

fn point(point: &Point) -> PointBlock<'_> {
    PointBlock {
        label: &point.label,
        generated_at: point.generated_at,
        with_skill: point.with_skill,
        without_skill: point.without_skill,
        lift: point.lift,
        saturated_cases: point.saturated_cases,
        flagged_cases: point.flagged_cases,
        median_total_tokens: Ordered(point.median_total_tokens.clone()),
        verdict: point.verdict.as_deref(),
        suite_sha256: point.suite_sha256.as_deref(),
        rows: point.rows,
        scored_rows: point.scored_rows,
    }
}

fn step<'t>(step: &'t Step, thresholds: &Thresholds) -> StepBlock<'t> {
    let compared = step.compared.as_ref().ok();
    let block = |of: fn(&Compared) -> &Change| {
        compared.map_or_else(|| change(&Change::none(), thresholds), |compared| change(of(compared), thresholds))
    };
    StepBlock {
        from: &step.from,
        to: &step.to,
        diff: DiffBlock {
            variant_deltas: Ordered(step.variant_deltas.iter().map(variant).collect()),
            case_deltas: step.case_deltas.iter().map(case).collect(),
            new_flags: &step.new_flags,
            resolved_flags: &step.resolved_flags,
        },
        like_for_like: compared.map(|compared| like_for_like(&compared.comparability, compared.has_common_rates)),
        cases: compared.map(|compared| cases(&compared.cases)),
        with_skill: block(|compared| &compared.with_skill),
        lift: block(|compared| &compared.lift),
    }
}

fn means(means: &Means) -> MeansBlock {
    let Means { before, after } = *means;
    MeansBlock { before, after, delta: rational::round_f64_half_even(after - before, 4) }
}

fn variant(delta: &VariantDelta) -> (String, VariantBlock) {
    let block = VariantBlock {
        mean_objective_pass_rate: delta.mean_objective.as_ref().map(means),
        mean_combined_pass_rate: delta.mean_combined.as_ref().map(means),
    };
    (delta.variant.clone(), block)
}

fn case(delta: &CaseDelta) -> CaseBlock<'_> {
    CaseBlock { case_id: &delta.case, variant: &delta.variant, means: means(&delta.means) }
}

fn cases(cases: &CaseSets) -> CasesBlock<'_> {
    CasesBlock { common: cases.common.len(), appeared: &cases.appeared, vanished: &cases.vanished }
}

fn change(change: &Change, thresholds: &Thresholds) -> ChangeBlock {
    let number = |rate: Option<&Rational>| rate.map(rational::to_f64);
    let tested = change.tested.as_ref();
    ChangeBlock {
        unit: "case",
        n_cases: change.cases,
        before: number(change.before.as_ref()),
        after: number(change.after.as_ref()),
        change: number(change.difference().as_ref()),
        rose: change.rose,
        fell: change.fell,
        unchanged: change.cases - change.rose - change.fell,
        test: tested.ok().map(|tested| AdjustedTest { test: test(&tested.test), p_holm: change.p_holm }),
        test_reason: tested.err().map(|why| why.code()),
        interval: tested.ok().map(|tested| interval(tested, thresholds)),
        verdict: tested.ok().map(verdict),
    }
}

fn failure(failure: &RecurringFailure) -> FailureBlock<'_> {
    let share = |count: usize| rational::round_half_even(&rational::rate(count as u64, failure.reports as u64), 4);
    FailureBlock {
        case_id: &failure.case,
        assertion: &failure.assertion,
        severity: &failure.severity,
        prevalence: share(failure.failed_in),
        rank: share(failure.failed_in * failure.weight()),
        failed_in: failure.failed_in,
        scored_in: failure.scored_in,
    }
}

fn prune(candidate: &PruneCandidate) -> PruneBlock<'_> {
    PruneBlock {
        case_id: &candidate.case,
        runs_observed: candidate.reports,
        reason: "never failed and never showed lift across the history",
    }
}
