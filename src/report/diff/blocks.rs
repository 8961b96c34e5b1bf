//! The JSON of a comparison, key by key.

use serde::Serialize;
use skill_lift_stats::rational::{self, Rational};

use super::shift_json::{ShiftBlock, shift_block};
use super::words;
use crate::analyze::diff::{
    Comparability, Diff, GateOutcome, GateRule, Mismatch, Regression, RegressionWhy, Side, VariantMeans,
};
use crate::report::ordered::Ordered;
use crate::runs::Role;
use crate::runs::claims::{CellChange, ChangeKind, ClaimedFlag, ClaimedLift, NotScored};

/// Changes below this are none for `case_deltas`.
const SMALLEST_DELTA: f64 = 1e-9;

/// The whole document. The first four keys are those that the reference page has.
#[derive(Serialize)]
pub(super) struct Document<'d> {
    /// Cases and arms on both sides whose mean rate over all rows changed, whatever else changed.
    case_deltas: Vec<CaseDelta<'d>>,
    /// Mean rates of each arm over all rows of each side.
    variant_deltas: Ordered<VariantDelta>,
    /// `<case_id>::<flag>` of flags that only the later side has; null when a side has no flags.
    new_flags: Option<Vec<String>>,
    /// `<case_id>::<flag>` of flags that only the earlier side has; null when a side has no flags.
    resolved_flags: Option<Vec<String>>,
    /// Why the flags are null.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags_unavailable: Option<&'static str>,
    schema_version: u32,
    tool_version: &'static str,
    /// Error rate of tests and intervals.
    alpha: f64,
    /// Smallest change that matters.
    min_lift: f64,
    old: SideBlock<'d>,
    new: SideBlock<'d>,
    like_for_like: LikeForLike<'d>,
    /// The answer in words, as the table has it.
    verdict: AnswerBlock,
    /// Which cases are on which side.
    cases: CasesBlock<'d>,
    /// Cells of each kind.
    counts: Ordered<usize>,
    /// The mean change of each arm over the cases in both.
    arms: Ordered<ShiftBlock<'d>>,
    lift: LiftBlock<'d>,
    /// Every arm of every case of either side, by case, arm and model.
    cells: Vec<CellBlock<'d>>,
    /// What `--fail-on-regression` found; null when it was not asked.
    regression_gate: Option<GateBlock<'d>>,
}

#[derive(Serialize)]
struct CaseDelta<'d> {
    case_id: &'d str,
    variant: &'d str,
    before: f64,
    after: f64,
    delta: f64,
}

#[derive(Serialize)]
struct VariantDelta {
    mean_objective_pass_rate: Means,
}

#[derive(Serialize)]
struct Means {
    before: f64,
    after: f64,
    delta: f64,
}

#[derive(Serialize)]
struct SideBlock<'d> {
    /// The path as the user typed it.
    path: &'d str,
    /// `file`, `workspace` or `tree`.
    kind: &'static str,
    /// The form of the file, or the dialect.
    format: &'static str,
    skill_name: Option<&'d str>,
    iteration: Option<u64>,
    /// What its rates are rates of.
    rate_rule: &'static str,
    suite_sha256: Option<&'d str>,
    runs_sha256: Option<&'d str>,
    models: Vec<&'d str>,
    efforts: Vec<&'d str>,
    cases: usize,
    rows: usize,
    scored_rows: usize,
    /// What does not fit together in the file, by code.
    notes: Vec<&'static str>,
}

#[derive(Serialize)]
pub(in crate::report) struct LikeForLike<'d> {
    /// `yes`; `no`: nothing is tested; `assumed`: differences are named and the user insists; `nothing_compared`: no
    /// case has comparable rates on both sides.
    status: &'static str,
    /// How it is known that the same was measured.
    basis: Option<&'static str>,
    reasons: Vec<Reason<'d>>,
    /// Cases with other checks or another prompt than before; in no mean and no test.
    changed_cases: Vec<ChangedCase<'d>>,
    /// Stated differences that change no rate.
    other_differences: Vec<OtherDifference<'d>>,
}

#[derive(Serialize)]
struct Reason<'d> {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<&'d str>,
    before: Option<&'d str>,
    after: Option<&'d str>,
}

#[derive(Serialize)]
struct ChangedCase<'d> {
    case_id: &'d str,
    reason: &'static str,
}

#[derive(Serialize)]
struct OtherDifference<'d> {
    key: &'d str,
    before: Option<&'d str>,
    after: Option<&'d str>,
}

#[derive(Serialize)]
struct AnswerBlock {
    text: String,
    note: String,
}

#[derive(Serialize)]
struct CasesBlock<'d> {
    common: usize,
    appeared: &'d [String],
    vanished: &'d [String],
}

#[derive(Serialize)]
struct LiftBlock<'d> {
    before: LiftOfSide,
    after: LiftOfSide,
    /// Over the cases that have both arms on both sides.
    common: ShiftBlock<'d>,
}

#[derive(Serialize)]
struct LiftOfSide {
    /// What the skill is compared with.
    control: Option<&'static str>,
    lift: Option<f64>,
    with_skill: Option<f64>,
    control_rate: Option<f64>,
    /// Cases in these means.
    cases: usize,
    /// Cases of which an arm is missing or has no score.
    blocked: usize,
}

#[derive(Serialize)]
struct CellBlock<'d> {
    case_id: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    case_name: Option<&'d str>,
    model: Option<&'d str>,
    variant: &'d str,
    change: &'static str,
    before: Option<f64>,
    after: Option<f64>,
    delta: Option<f64>,
    rows_before: usize,
    scored_before: usize,
    rows_after: usize,
    scored_after: usize,
    unscored_reasons_before: Vec<&'static str>,
    unscored_reasons_after: Vec<&'static str>,
    gained: &'d [String],
    lost: &'d [String],
    /// Had a verdict in every scored row before, and none in some now.
    undecided: &'d [String],
    checks_shared: usize,
    checks_added: usize,
    checks_removed: usize,
}

#[derive(Serialize)]
struct GateBlock<'d> {
    /// What counts as a regression.
    rule: &'static str,
    /// Whether the exit code is 1 because of it.
    fired: bool,
    text: String,
    /// Why nothing could be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    regressions: Vec<RegressionBlock<'d>>,
}

#[derive(Serialize)]
struct RegressionBlock<'d> {
    case_id: &'d str,
    model: Option<&'d str>,
    why: &'static str,
    checks: &'d [String],
}

impl<'d> Document<'d> {
    pub(super) fn of(diff: &'d Diff<'_>, gate: Option<(GateRule, &'d GateOutcome<'d>)>) -> Self {
        let flags_unavailable = [diff.old, diff.new].into_iter().find_map(|side| side.flags().err());
        let flags = |flags: &[ClaimedFlag]| {
            let mut texts: Vec<String> = flags.iter().map(|flag| format!("{}::{}", flag.case, flag.flag)).collect();
            texts.sort();
            flags_unavailable.is_none().then_some(texts)
        };
        let headline = words::headline(diff);
        Self {
            case_deltas: diff.case_means.iter().filter_map(|(case, means)| case_delta(case, means)).collect(),
            variant_deltas: Ordered(diff.variant_means.iter().map(variant_delta).collect()),
            new_flags: flags(&diff.comparison.new_flags),
            resolved_flags: flags(&diff.comparison.resolved_flags),
            flags_unavailable: flags_unavailable.map(|why| why.code()),
            schema_version: 1,
            tool_version: env!("CARGO_PKG_VERSION"),
            alpha: rational::to_f64(diff.thresholds.alpha()),
            min_lift: rational::to_f64(diff.thresholds.min_lift()),
            old: side(diff.old),
            new: side(diff.new),
            like_for_like: like_for_like(&diff.comparability, diff.compared().next().is_some()),
            verdict: AnswerBlock { text: headline.text, note: headline.note },
            cases: CasesBlock {
                common: diff.cases.common.len(),
                appeared: &diff.cases.appeared,
                vanished: &diff.cases.vanished,
            },
            counts: counts(diff),
            arms: Ordered(
                diff.arms
                    .iter()
                    .map(|(variant, shift)| (variant.clone(), shift_block(shift, &diff.thresholds)))
                    .collect(),
            ),
            lift: LiftBlock {
                before: lift_of_side(&diff.lift.before),
                after: lift_of_side(&diff.lift.after),
                common: shift_block(&diff.lift.common, &diff.thresholds),
            },
            cells: diff.comparison.cells.iter().map(cell).collect(),
            regression_gate: gate.map(|(rule, outcome)| gate_block(rule, outcome)),
        }
    }
}

fn rounded(before: &Rational, after: &Rational) -> f64 {
    rational::round_half_even(&(after - before), 4)
}

fn case_delta<'d>(case: &'d str, means: &'d VariantMeans) -> Option<CaseDelta<'d>> {
    let (before, after) = (rational::to_f64(&means.before), rational::to_f64(&means.after));
    let delta = rounded(&means.before, &means.after);
    ((after - before).abs() >= SMALLEST_DELTA).then(|| CaseDelta {
        case_id: case,
        variant: &means.variant,
        before,
        after,
        delta,
    })
}

fn variant_delta(means: &VariantMeans) -> (String, VariantDelta) {
    let rates = Means {
        before: rational::to_f64(&means.before),
        after: rational::to_f64(&means.after),
        delta: rounded(&means.before, &means.after),
    };
    (means.variant.clone(), VariantDelta { mean_objective_pass_rate: rates })
}

fn side(side: &Side) -> SideBlock<'_> {
    SideBlock {
        path: &side.label,
        kind: side.origin.kind(),
        format: side.origin.format(),
        skill_name: side.claims.skill_name.as_deref(),
        iteration: side.claims.iteration,
        rate_rule: side.rate_rule.code(),
        suite_sha256: side.block("suite_sha256"),
        runs_sha256: side.block("runs_sha256"),
        models: side.models().into_iter().collect(),
        efforts: side.efforts().into_iter().collect(),
        cases: side.case_ids().len(),
        rows: side.claims.rows.len(),
        scored_rows: side.scored(),
        notes: side.claims.notes.iter().map(|note| note.code.code()).collect(),
    }
}

/// Whether two results may be compared; `has_common_rates` says whether any case has comparable rates in both.
pub(in crate::report) fn like_for_like(comparability: &Comparability, has_common_rates: bool) -> LikeForLike<'_> {
    fn reason(mismatch: &Mismatch) -> Reason<'_> {
        Reason {
            code: mismatch.code.code(),
            option: mismatch.option.as_deref(),
            before: mismatch.before.as_deref(),
            after: mismatch.after.as_deref(),
        }
    }
    LikeForLike {
        status: match (comparability.is_like_for_like(), comparability.assumed) {
            (false, true) => "assumed",
            (false, false) => "no",
            (true, _) if !has_common_rates => "nothing_compared",
            (true, _) => "yes",
        },
        basis: comparability.basis.map(|basis| basis.code()),
        reasons: comparability.mismatches.iter().map(reason).collect(),
        changed_cases: comparability
            .changed_cases
            .iter()
            .map(|(case, kind)| ChangedCase { case_id: case, reason: kind.word() })
            .collect(),
        other_differences: comparability
            .others
            .iter()
            .map(|other| OtherDifference {
                key: &other.key,
                before: other.before.as_deref(),
                after: other.after.as_deref(),
            })
            .collect(),
    }
}

fn counts(diff: &Diff<'_>) -> Ordered<usize> {
    let kinds = [
        ChangeKind::Regressed,
        ChangeKind::Improved,
        ChangeKind::Same,
        ChangeKind::BecameUnscored,
        ChangeKind::BecameScored,
        ChangeKind::StillUnscored,
        ChangeKind::OtherChecks,
        ChangeKind::OtherPrompt,
        ChangeKind::Appeared,
        ChangeKind::Vanished,
    ];
    Ordered(kinds.into_iter().map(|kind| (kind.word().to_owned(), diff.comparison.count(kind))).collect())
}

fn lift_of_side(lift: &ClaimedLift) -> LiftOfSide {
    let number = |rate: Option<&Rational>| rate.map(rational::to_f64);
    LiftOfSide {
        control: lift.control.and_then(Role::variant),
        lift: number(lift.lift().as_ref()),
        with_skill: number(lift.with.as_ref()),
        control_rate: number(lift.without.as_ref()),
        cases: lift.cases,
        blocked: lift.blocked.len(),
    }
}

fn cell(cell: &CellChange) -> CellBlock<'_> {
    let number = |rate: Option<&Rational>| rate.map(rational::to_f64);
    let codes = |reasons: &[NotScored]| reasons.iter().map(NotScored::code).collect();
    CellBlock {
        case_id: &cell.case,
        case_name: cell.name.as_deref(),
        model: cell.model.as_deref(),
        variant: &cell.variant,
        change: cell.kind.word(),
        before: number(cell.before.as_ref()),
        after: number(cell.after.as_ref()),
        delta: number(cell.delta().as_ref()),
        rows_before: cell.rows_before.rows,
        scored_before: cell.rows_before.scored,
        rows_after: cell.rows_after.rows,
        scored_after: cell.rows_after.scored,
        unscored_reasons_before: codes(&cell.unscored_before),
        unscored_reasons_after: codes(&cell.unscored_after),
        gained: &cell.gained,
        lost: &cell.lost,
        undecided: &cell.undecided,
        checks_shared: cell.checks.shared,
        checks_added: cell.checks.added,
        checks_removed: cell.checks.removed,
    }
}

fn gate_block<'d>(rule: GateRule, outcome: &'d GateOutcome<'d>) -> GateBlock<'d> {
    let regressions: &[Regression] = match outcome {
        GateOutcome::Regressed(regressions) => regressions,
        _ => &[],
    };
    GateBlock {
        rule: rule.word(),
        fired: !outcome.holds(),
        text: words::gate_summary(rule, outcome),
        reason: match outcome {
            GateOutcome::Undecidable(why) => Some(why.code()),
            _ => None,
        },
        regressions: regressions.iter().map(regression).collect(),
    }
}

fn regression(regression: &Regression) -> RegressionBlock<'_> {
    let (why, checks): (_, &[String]) = match &regression.why {
        RegressionWhy::BrokenChecks(checks) => ("broken_checks", checks),
        RegressionWhy::LowerRate { .. } => ("lower_rate", &[]),
        RegressionWhy::LostScore(_) => ("lost_score", &[]),
        RegressionWhy::Gone => ("gone", &[]),
    };
    RegressionBlock { case_id: &regression.case, model: regression.model.as_deref(), why, checks }
}
