//! How far two graders agree, as JSON.

use serde::Serialize;
use skill_lift_stats::Withheld;
use skill_lift_stats::agreement::ChanceCorrected;
use skill_lift_stats::rational::{self, Rational};

use crate::analyze::agreement::GraderAgreement;

#[derive(Serialize)]
pub(super) struct AgreementBlock {
    unit: &'static str,
    n: u64,
    confidence: f64,
    observed: Option<f64>,
    observed_lower: Option<f64>,
    observed_upper: Option<f64>,
    positive_agreement: Option<f64>,
    negative_agreement: Option<f64>,
    kappa: Coefficient,
    ac1: Coefficient,
    pabak: Coefficient,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Coefficient {
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// Why there is no value, or why it has no limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl Coefficient {
    fn of(found: &Result<ChanceCorrected, Withheld>) -> Self {
        let known = found.as_ref().ok();
        let limits = known.map(|known| known.limits);
        let why = found.as_ref().err().copied().or_else(|| limits.and_then(Result::err));
        let limits = limits.and_then(Result::ok);
        Self {
            value: known.map(|known| rational::to_f64(&known.value)),
            lower: limits.map(|limits| limits.lower),
            upper: limits.map(|limits| limits.upper),
            reason: why.map(Withheld::as_str),
        }
    }

    fn without_limits(found: &Result<Rational, Withheld>) -> Self {
        Self {
            value: found.as_ref().ok().map(rational::to_f64),
            lower: None,
            upper: None,
            reason: found.as_ref().err().map(|reason| reason.as_str()),
        }
    }
}

/// The block; `alpha` is the error rate of the limits.
pub(super) fn block(agreement: &Result<GraderAgreement, Withheld>, alpha: &Rational) -> AgreementBlock {
    let confidence = rational::to_f64(&(rational::rate(1, 1) - alpha));
    let known = match agreement {
        Ok(known) => known,
        Err(reason) => {
            let none = || Coefficient::without_limits(&Err(*reason));
            return AgreementBlock {
                unit: "verdict",
                n: 0,
                confidence,
                observed: None,
                observed_lower: None,
                observed_upper: None,
                positive_agreement: None,
                negative_agreement: None,
                kappa: none(),
                ac1: none(),
                pabak: none(),
                reason: Some(reason.as_str()),
            };
        }
    };
    let limits = known.observed_limits.as_ref().ok();
    AgreementBlock {
        unit: "verdict",
        n: known.n,
        confidence,
        observed: Some(rational::to_f64(&known.observed)),
        observed_lower: limits.map(|limits| limits.lower),
        observed_upper: limits.map(|limits| limits.upper),
        positive_agreement: known.positive.as_ref().map(rational::to_f64),
        negative_agreement: known.negative.as_ref().map(rational::to_f64),
        kappa: Coefficient::of(&known.kappa),
        ac1: Coefficient::of(&known.ac1),
        pabak: Coefficient::without_limits(&known.pabak),
        reason: None,
    }
}
