//! The mean change of something, in JSON.

use serde::Serialize;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Thresholds};

use crate::analyze::diff::{Shift, Tested};

#[derive(Serialize)]
pub(super) struct ShiftBlock<'d> {
    unit: &'static str,
    n_cases: usize,
    before: Option<f64>,
    after: Option<f64>,
    change: Option<f64>,
    rose: usize,
    fell: usize,
    unchanged: usize,
    /// Null with a reason when nothing is tested.
    test: Option<TestBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_reason: Option<&'static str>,
    interval: Option<IntervalBlock>,
    verdict: Option<VerdictBlock>,
    /// The cases behind the means.
    by_case: Vec<CaseShiftBlock<'d>>,
}

#[derive(Serialize)]
struct CaseShiftBlock<'d> {
    case_id: &'d str,
    before: f64,
    after: f64,
}

#[derive(Serialize)]
pub(in crate::report) struct TestBlock {
    method: &'static str,
    n: usize,
    nonzero: usize,
    p_two_sided: f64,
    p_less: f64,
    p_greater: f64,
    p_is_bound: bool,
}

#[derive(Serialize)]
pub(in crate::report) struct IntervalBlock {
    method: &'static str,
    confidence: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
pub(in crate::report) struct VerdictBlock {
    /// `helps`: better than before; `harms`: worse than before; the other words as in reports.
    code: &'static str,
    size_uncertain: bool,
    negligible: bool,
    reasons: Vec<&'static str>,
}

/// A mean change with its test, or why there is none.
pub(super) fn shift_block<'d>(shift: &'d Shift, thresholds: &Thresholds) -> ShiftBlock<'d> {
    let number = |rate: Option<&Rational>| rate.map(rational::to_f64);
    let change = shift.change();
    let tested = shift.tested.as_ref();
    ShiftBlock {
        unit: "case",
        n_cases: shift.cases.len(),
        before: number(shift.before.as_ref()),
        after: number(shift.after.as_ref()),
        change: number(change.as_ref()),
        rose: shift.rose,
        fell: shift.fell,
        unchanged: shift.cases.len() - shift.rose - shift.fell,
        test: tested.ok().map(|tested| test(&tested.test)),
        test_reason: tested.err().map(|why| why.code()),
        interval: tested.ok().map(|tested| interval(tested, thresholds)),
        verdict: tested.ok().map(verdict),
        by_case: shift
            .cases
            .iter()
            .map(|case| CaseShiftBlock {
                case_id: &case.case,
                before: rational::to_f64(&case.before),
                after: rational::to_f64(&case.after),
            })
            .collect(),
    }
}

/// An exact test.
pub(in crate::report) fn test(test: &SignFlip) -> TestBlock {
    TestBlock {
        method: test.method.as_str(),
        n: test.n,
        nonzero: test.moved,
        p_two_sided: test.p_two_sided,
        p_less: test.p_less,
        p_greater: test.p_greater,
        p_is_bound: test.p_is_bound,
    }
}

/// The interval of a mean change.
pub(in crate::report) fn interval(tested: &Tested, thresholds: &Thresholds) -> IntervalBlock {
    let limits = tested.interval.as_ref();
    IntervalBlock {
        method: "padded-t",
        confidence: 1.0 - rational::to_f64(thresholds.alpha()),
        lower: limits.ok().map(|limits| limits.lower),
        upper: limits.ok().map(|limits| limits.upper),
        reason: limits.err().map(|why| why.as_str()),
    }
}

/// What may be concluded.
pub(in crate::report) fn verdict(tested: &Tested) -> VerdictBlock {
    let verdict = &tested.verdict;
    VerdictBlock {
        code: verdict.code.as_str(),
        size_uncertain: verdict.size_uncertain,
        negligible: verdict.negligible,
        reasons: verdict.reasons.iter().map(|reason| reason.as_str()).collect(),
    }
}
