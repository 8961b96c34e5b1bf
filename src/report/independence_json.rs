//! The block `inference.independence`: whether the compared runs look like independent trials that were made alike.

use serde::Serialize;
use skill_lift_stats::rational;

use crate::analyze::independence::Independence;

#[derive(Serialize)]
pub(super) struct IndependenceBlock {
    arms_interleaved: Interleaving,
    repeated_answers: Answers,
    baseline_split: Split,
}

#[derive(Serialize)]
struct Interleaving {
    status: &'static str,
    runs: usize,
    timed_runs: usize,
    models: Vec<Order>,
}

#[derive(Serialize)]
struct Order {
    model: Option<String>,
    with_skill_first: f64,
}

#[derive(Serialize)]
struct Answers {
    status: &'static str,
    runs: usize,
    read_runs: usize,
    cases: Vec<String>,
}

#[derive(Serialize)]
struct Split {
    status: &'static str,
    method: &'static str,
    unit: &'static str,
    runs_odd: Option<usize>,
    runs_even: Option<usize>,
    p_two_sided: Option<f64>,
    p_floor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// The block.
pub(super) fn block(independence: &Independence) -> IndependenceBlock {
    let test = independence.split.as_ref().ok();
    IndependenceBlock {
        arms_interleaved: Interleaving {
            status: independence.interleaving().word(),
            runs: independence.runs,
            timed_runs: independence.timed,
            models: independence
                .order
                .iter()
                .map(|order| Order {
                    model: order.model.clone(),
                    with_skill_first: rational::to_f64(&order.with_skill_first),
                })
                .collect(),
        },
        repeated_answers: Answers {
            status: independence.answers().word(),
            runs: independence.runs,
            read_runs: independence.read,
            cases: independence.repeated.iter().cloned().collect(),
        },
        baseline_split: Split {
            status: independence.baseline().word(),
            method: "stratified-label-permutation",
            unit: "run",
            runs_odd: test.map(|test| test.runs_with),
            runs_even: test.map(|test| test.runs_without),
            p_two_sided: test.map(|test| test.p_two_sided),
            p_floor: test.map(|test| test.floor),
            reason: independence.split.as_ref().err().map(|reason| reason.as_str()),
        },
    }
}
