//! Whether a report lets a build pass: the condition that was asked, decided on the exact lifts of its units.
//!
//! In: the rows and figures of a report ([`ReadDesign`]). Out: a [`Gate`]. No figure that the report prints about its own
//! lift is believed: the test and the interval are made again.

mod codes;
mod draws;
mod quality;
mod self_test;
#[cfg(test)]
mod tests;

use num_bigint::BigInt;
use skill_lift_stats::interval::{Equivalence, PaddedT, PairedT, equivalence, padded_t, paired_t};
use skill_lift_stats::inversion::{InversionInterval, inversion_interval};
use skill_lift_stats::proportion::regressed_share_upper;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{Direction, SignFlip, Withheld, minimum_cases, sign_flip};

use super::inference::{Unit, UnitRates, worst_units};
use super::report_units::ReportUnits;
use crate::runs::claims::{ExtraCost, ReadDesign};
pub use codes::{GateAnswer, GateNote, GateOutcome, GateReason};
pub use quality::{Quality, QualityFinding, QualityProblem};
pub use self_test::{
    FALSE_ALARMS_ALLOWED, SelfTest, SelfTestMethod, SelfTestProblem, SelfTestRequest, Share, Shares, TestArm,
    UnsplitCell,
};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The skill makes results better: the exact test rejects chance, and the sum of the lifts is positive. With a margin it
    /// is also told whether the skill makes no difference that matters.
    Superior {
        /// Lifts within this are no difference that matters.
        margin: Option<Rational>,
    },
    /// Results are not worse by the margin or more.
    NonInferior(Rational),
    /// Results are neither better nor worse by the margin or more.
    Equivalent(Rational),
}

impl Condition {
    /// The code in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Superior { .. } => "superior",
            Self::NonInferior(_) => "non_inferior",
            Self::Equivalent(_) => "equivalent",
        }
    }

    /// The margin, in lift.
    pub fn margin(&self) -> Option<&Rational> {
        match self {
            Self::Superior { margin } => margin.as_ref(),
            Self::NonInferior(margin) | Self::Equivalent(margin) => Some(margin),
        }
    }
}

/// What is asked of a report.
#[derive(Debug, Clone)]
pub struct GateRequest {
    /// The condition.
    pub condition: Condition,
    /// Error rate of the test, above 0 and below 1/2; that of the report unless given, else 1/20.
    pub alpha: Option<Rational>,
    /// Dollars that a run with the skill may cost more than one without it.
    pub max_cost: Option<Rational>,
    /// Whether incomplete evidence blocks.
    pub strict_evidence: bool,
    /// Whether a report without a graded run passes.
    pub allow_empty: bool,
    /// Whether every case must be whole: both arms, every run with its time and tokens, every check decided.
    pub quality: bool,
    /// How the gate is tried where nothing differs.
    pub self_test: Option<SelfTestRequest>,
}

/// What the lifts of some units say about a condition. The same code decides on reports and in self-tests.
#[derive(Debug)]
pub struct Decision {
    /// The exact test.
    pub test: SignFlip,
    /// The comparison with the margin, if there is one.
    pub margin: Option<Result<Equivalence, Withheld>>,
    /// What they say.
    pub outcome: GateOutcome,
    /// Whether the condition holds.
    pub holds: bool,
}

impl Decision {
    /// Decides on exact lifts.
    pub fn of(deltas: &[Rational], alpha: &Rational, condition: &Condition) -> Self {
        let test = sign_flip(deltas);
        let margin = condition.margin().map(|margin| equivalence(deltas, alpha, margin));
        let within = margin.as_ref().and_then(|compared| compared.as_ref().ok());
        let is_enough = minimum_cases(alpha).is_some_and(|minimum| deltas.len() >= minimum);
        let outcome = if test.n == 0 {
            GateOutcome::Blocked
        } else if !is_enough {
            GateOutcome::Structural
        } else if test.at_most(alpha) {
            match test.direction {
                Direction::Worse => GateOutcome::Regressed,
                Direction::Better | Direction::Neither => GateOutcome::Improved,
            }
        } else if within.is_some_and(|within| within.equivalent) {
            GateOutcome::Equivalent
        } else {
            GateOutcome::Inconclusive
        };
        let holds = match condition {
            Condition::Superior { .. } => outcome == GateOutcome::Improved,
            Condition::NonInferior(_) => within.is_some_and(|within| within.non_inferior),
            Condition::Equivalent(_) => within.is_some_and(|within| within.equivalent),
        };
        Self { test, margin, outcome, holds }
    }

    /// Why the condition does not hold, beside what makes a decision impossible.
    fn reasons(&self, alpha: &Rational, condition: &Condition) -> Vec<GateReason> {
        let mut reasons = Vec::new();
        if self.holds || matches!(self.outcome, GateOutcome::Blocked | GateOutcome::Structural) {
            return reasons;
        }
        reasons.extend((self.outcome == GateOutcome::Regressed).then_some(GateReason::Worse));
        match condition {
            Condition::Superior { .. } if self.outcome == GateOutcome::Equivalent => {
                reasons.push(GateReason::NoDifference);
            }
            Condition::Superior { .. } if self.outcome == GateOutcome::Inconclusive => {
                let is_enough = minimum_cases(alpha).is_some_and(|minimum| self.test.moved >= minimum);
                reasons.push(if is_enough { GateReason::ChanceExplainsIt } else { GateReason::FewCasesMoved });
            }
            Condition::Superior { .. } => {}
            Condition::NonInferior(_) | Condition::Equivalent(_) => reasons.push(GateReason::BeyondMargin),
        }
        reasons
    }
}

/// The lifts of a report with everything that is reported of them.
#[derive(Debug)]
pub struct Lifts {
    /// What is counted.
    pub unit: Unit,
    /// The units, by name.
    pub units: Vec<UnitRates>,
    /// Cases without a pair that counts.
    pub unpaired_cases: usize,
    /// The headline interval.
    pub interval: Result<PaddedT, Withheld>,
    /// Student's paired t interval.
    pub interval_t: Result<PairedT, Withheld>,
    /// The sign-flip test turned round.
    pub interval_sign_flip: Result<InversionInterval, Withheld>,
    /// The share of such units that could still get worse.
    pub regressed_share_upper: Result<f64, Withheld>,
}

impl Lifts {
    /// The units that got worse, worst first; as many as asked for.
    pub fn worst(&self, most: usize) -> Vec<&UnitRates> {
        worst_units(&self.units, most)
    }
}

/// A decided gate.
#[derive(Debug)]
pub struct Gate {
    /// The skill; empty when nobody names it.
    pub skill_name: String,
    /// What was asked.
    pub condition: Condition,
    /// The error rate.
    pub alpha: Rational,
    /// Units without which no outcome reaches it.
    pub minimum_units: usize,
    /// What was decided on.
    pub lifts: Lifts,
    /// What it says.
    pub decision: Decision,
    /// The answer.
    pub answer: GateAnswer,
    /// Why it does not pass; the first decides the answer. Empty if it passes.
    pub reasons: Vec<GateReason>,
    /// What the report says is missing, in its codes.
    pub missing_evidence: Vec<String>,
    /// What keeps the report from being whole, if that was asked.
    pub quality: Option<Quality>,
    /// What else is to be known.
    pub notes: Vec<GateNote>,
    /// The limit of the cost.
    pub max_cost: Option<Rational>,
    /// What a run with the skill costs more; `None` when the report says nothing of it.
    pub extra_cost: Option<ExtraCost>,
    /// The gate on halves of the same arm.
    pub self_test: Option<Result<SelfTest, SelfTestProblem>>,
}

impl Gate {
    /// Decides.
    pub fn of(report: &ReadDesign, request: GateRequest) -> Self {
        let ReadDesign { claims, stated } = report;
        let is_rate = |alpha: &Rational| *alpha > zero() && *alpha < rational::rate(1, 2);
        let alpha = request.alpha.or_else(|| stated.alpha.clone().filter(is_rate));
        let alpha = alpha.unwrap_or_else(|| rational::rate(1, 20));
        let is_margin = |margin: &Rational| *margin > zero() && *margin < rational::rate(1, 1);
        let condition = match request.condition {
            Condition::Superior { margin: None } => {
                Condition::Superior { margin: stated.equivalence_margin.clone().filter(is_margin) }
            }
            given => given,
        };
        let units = ReportUnits::of(report);
        let (rates, is_rounded) = units.rates();
        let deltas: Vec<Rational> = rates.iter().map(UnitRates::delta).collect();
        let decision = Decision::of(&deltas, &alpha, &condition);
        let self_test = request.self_test.map(|asked| SelfTest::of(claims, &units, &alpha, &condition, asked));
        let is_graded = claims.rows.iter().any(|row| row.rate.is_scored()) || !rates.is_empty();

        let mut reasons = Vec::new();
        if !is_graded {
            reasons.push(GateReason::NothingGraded);
        }
        if decision.outcome == GateOutcome::Blocked {
            reasons.push(GateReason::NothingPaired);
        }
        let mut missing_evidence = Vec::new();
        if request.strict_evidence {
            match &stated.availability {
                Some(availability) if availability.is_complete => {}
                Some(availability) => {
                    reasons.push(GateReason::EvidenceIncomplete);
                    missing_evidence.clone_from(&availability.reasons);
                }
                None => reasons.push(GateReason::AvailabilityUnstated),
            }
        }
        let quality = request.quality.then(|| Quality::of(&claims.rows));
        reasons.extend(quality.as_ref().is_some_and(|quality| !quality.is_met()).then_some(GateReason::QualityUnmet));
        let is_unfit = self_test.as_ref().is_some_and(|test| test.as_ref().is_ok_and(|test| !test.is_fit));
        reasons.extend((decision.outcome == GateOutcome::Structural).then_some(GateReason::Structural));
        reasons.extend(is_unfit.then_some(GateReason::DesignUnfit));
        let undecided = decision.reasons(&alpha, &condition);
        let is_worse = |reason: &&GateReason| **reason == GateReason::Worse;
        reasons.extend(undecided.iter().filter(is_worse));
        reasons.extend(request.max_cost.as_ref().and_then(|most| cost_reason(stated.extra_cost.as_ref(), most)));
        reasons.extend(undecided.iter().filter(|reason| !is_worse(reason)));

        let is_empty_allowed = !is_graded && request.allow_empty;
        if is_empty_allowed {
            reasons.clear();
        }
        let answer = match reasons.first() {
            Some(reason) => reason.answer(),
            None if is_empty_allowed => GateAnswer::EmptyAllowed,
            None => GateAnswer::Holds,
        };
        let interval = padded_t(&deltas, &alpha, &decision.test);
        let is_sure = decision.test.at_most(&alpha) && decision.test.n > 0;
        let is_worse = decision.outcome == GateOutcome::Regressed;
        let applies = [
            (GateNote::EmptyAllowed, is_empty_allowed),
            (GateNote::SizeUncertain, is_sure && interval.as_ref().is_ok_and(PaddedT::contains_zero)),
            (GateNote::SmallLoss, is_worse && decision.holds),
            (GateNote::PIsBound, decision.test.p_is_bound),
            (GateNote::RatesRounded, is_rounded),
            (GateNote::SelfTestWithheld, self_test.as_ref().is_some_and(Result::is_err)),
        ];
        Self {
            skill_name: claims.skill_name.clone().unwrap_or_default(),
            minimum_units: minimum_cases(&alpha).unwrap_or(usize::MAX),
            lifts: Lifts {
                unit: units.unit,
                unpaired_cases: units.unpaired(),
                interval,
                interval_t: paired_t(&deltas, &alpha),
                interval_sign_flip: inversion_interval(&deltas, &alpha),
                regressed_share_upper: regressed_share_upper(decision.test.regressed, decision.test.n),
                units: rates,
            },
            condition,
            alpha,
            answer,
            decision,
            reasons,
            missing_evidence,
            quality,
            notes: applies.into_iter().filter_map(|(note, applies)| applies.then_some(note)).collect(),
            max_cost: request.max_cost,
            extra_cost: stated.extra_cost.clone(),
            self_test,
        }
    }

    /// Whether the condition holds and no limit is exceeded.
    pub fn holds(&self) -> bool {
        self.answer == GateAnswer::Holds
    }
}

/// Why a cost does not keep within a limit. What was not measured is not 0.
fn cost_reason(cost: Option<&ExtraCost>, most: &Rational) -> Option<GateReason> {
    let Some(cost) = cost else { return Some(GateReason::CostNotMeasured) };
    if cost.other_currency.is_some() {
        return Some(GateReason::CostNotInDollars);
    }
    match cost.complete() {
        Some(mean) => (mean > most).then_some(GateReason::CostAboveLimit),
        None if cost.measured == 0 => Some(GateReason::CostNotMeasured),
        None => Some(GateReason::CostPartlyMeasured),
    }
}

fn zero() -> Rational {
    Rational::from_integer(BigInt::from(0))
}
