//! Small blocks that several parts of `benchmark.json` share, in the form of version 0.6 of the report format.

use std::collections::BTreeMap;

use serde::Serialize;
use skill_lift_stats::SignFlip;
use skill_lift_stats::compat::CompatSignificance;
use skill_lift_stats::rational::{self, Rational};

use crate::analyze::pairing::Diagnostics;

#[derive(Serialize)]
pub(super) struct Pairing<'a> {
    eligible_pairs: usize,
    blocked_pairs: usize,
    blocked_reason_counts: &'a BTreeMap<String, usize>,
}

impl<'a> From<&'a Diagnostics> for Pairing<'a> {
    fn from(diagnostics: &'a Diagnostics) -> Self {
        Self {
            eligible_pairs: diagnostics.eligible,
            blocked_pairs: diagnostics.blocked,
            blocked_reason_counts: &diagnostics.reasons,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Significance {
    method: &'static str,
    n: usize,
    pub(super) observed_mean_delta: Option<f64>,
    p_value: Option<f64>,
    pub(super) significant_at_0_05: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl Significance {
    /// A test that is withheld, in the form of the later state of the reference.
    pub(super) fn unavailable(reason: &'static str) -> Self {
        Self {
            method: "unavailable",
            n: 0,
            observed_mean_delta: None,
            p_value: None,
            significant_at_0_05: false,
            reason: Some(reason),
        }
    }
}

pub(super) fn significance(test: &SignFlip) -> Significance {
    let compat = CompatSignificance::new(test);
    Significance {
        method: compat.method,
        n: compat.n,
        observed_mean_delta: compat.observed_mean_delta,
        p_value: compat.p_value,
        significant_at_0_05: compat.significant_at_0_05,
        reason: None,
    }
}

/// A value as version 0.6 rounds it: to a double first, then to decimals, so that exact ties fall as they do there.
pub(super) fn rounded(value: &Rational, decimals: u32) -> f64 {
    rational::round_f64_half_even(rational::to_f64(value), decimals)
}
