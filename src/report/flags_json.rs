//! The block `case_flags`: the texts of version 0.6 of the report format, and the same as codes with what they rest on.

use serde::Serialize;
use skill_lift_stats::rational;

use super::compat::Pairing;
use super::words;
use crate::analyze::flags::{CaseFlags, RaisedFlag};
use crate::suite::EvalIntent;

#[derive(Serialize)]
pub(super) struct FlaggedCase<'a> {
    case_id: &'a str,
    flags: Vec<String>,
    with_skill: f64,
    without_skill: f64,
    pairing: Pairing<'a>,
    eval_intent: EvalIntent,
    flag_details: Vec<FlagDetail<'a>>,
}

#[derive(Serialize)]
struct FlagDetail<'a> {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<&'a [String]>,
    n: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<f64>,
}

pub(super) fn flagged(case: &CaseFlags) -> FlaggedCase<'_> {
    FlaggedCase {
        case_id: &case.case_id,
        flags: case.flags.iter().map(|raised| words::flag_text(&raised.flag)).collect(),
        with_skill: rational::to_f64(&case.with_skill),
        without_skill: rational::to_f64(&case.without_skill),
        pairing: (&case.pairing).into(),
        eval_intent: case.eval_intent,
        flag_details: case.flags.iter().map(detail).collect(),
    }
}

fn detail(raised: &RaisedFlag) -> FlagDetail<'_> {
    FlagDetail {
        code: raised.flag.code(),
        variant: raised.flag.variant(),
        names: raised.flag.names(),
        n: raised.runs,
        bound: raised.failure_share_upper,
    }
}

pub(super) fn block(cases: &[CaseFlags]) -> Vec<FlaggedCase<'_>> {
    cases.iter().map(flagged).collect()
}
