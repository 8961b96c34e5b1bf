//! The answers of a gate and their reasons: codes of reports.

/// What the lifts say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateOutcome {
    /// Better with the skill.
    Improved,
    /// Worse with the skill.
    Regressed,
    /// No difference as large as the margin.
    Equivalent,
    /// The units cannot tell.
    Inconclusive,
    /// No outcome of so few units could tell.
    Structural,
    /// There is nothing to decide on.
    Blocked,
}

impl GateOutcome {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Structural => "structural",
            Self::Blocked => "blocked",
        }
    }
}

/// The answer of a gate: one exit code each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateAnswer {
    /// The condition holds, and no limit is exceeded.
    Holds,
    /// Nothing was graded, and that is allowed.
    EmptyAllowed,
    /// Nothing was graded.
    NothingGraded,
    /// Worse with the skill.
    Regressed,
    /// The condition is not shown.
    NotShown,
    /// There is nothing to decide on.
    Blocked,
    /// The design decides nothing.
    Unfit,
    /// No difference that matters, though a better one was asked for.
    NoDifference,
    /// A run costs too much more, or nobody knows how much.
    Cost,
}

impl GateAnswer {
    /// The exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Holds | Self::EmptyAllowed => 0,
            Self::NothingGraded => 1,
            Self::Regressed => 3,
            Self::NotShown => 4,
            Self::Blocked => 5,
            Self::Unfit => 6,
            Self::NoDifference => 7,
            Self::Cost => 8,
        }
    }
}

/// Why a gate does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateReason {
    /// No run is scored.
    NothingGraded,
    /// No unit has a pair that counts.
    NothingPaired,
    /// The report says that evidence is missing.
    EvidenceIncomplete,
    /// The report does not say whether evidence is missing.
    AvailabilityUnstated,
    /// A case, a run or a check is not whole, and --quality asks for it.
    QualityUnmet,
    /// Too few units for any outcome to reach alpha.
    Structural,
    /// The gate claims differences where there are none.
    DesignUnfit,
    /// The exact test says that results are worse.
    Worse,
    /// A run with the skill costs more than the limit.
    CostAboveLimit,
    /// No run says what it cost.
    CostNotMeasured,
    /// Some runs do not say what they cost.
    CostPartlyMeasured,
    /// The costs are in another currency.
    CostNotInDollars,
    /// No difference as large as the margin.
    NoDifference,
    /// So few units moved that their outcome could not have reached alpha.
    FewCasesMoved,
    /// Chance explains the lift.
    ChanceExplainsIt,
    /// The interval goes beyond the margin.
    BeyondMargin,
}

impl GateReason {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::NothingGraded => "nothing_graded",
            Self::NothingPaired => "nothing_paired",
            Self::EvidenceIncomplete => "evidence_incomplete",
            Self::AvailabilityUnstated => "availability_unstated",
            Self::QualityUnmet => "quality_unmet",
            Self::Structural => "structural",
            Self::DesignUnfit => "design_unfit",
            Self::Worse => "worse",
            Self::CostAboveLimit => "cost_above_limit",
            Self::CostNotMeasured => "cost_not_measured",
            Self::CostPartlyMeasured => "cost_partly_measured",
            Self::CostNotInDollars => "cost_not_in_dollars",
            Self::NoDifference => "no_difference",
            Self::FewCasesMoved => "few_cases_moved",
            Self::ChanceExplainsIt => "chance_explains_it",
            Self::BeyondMargin => "interval_beyond_margin",
        }
    }

    pub(super) fn answer(self) -> GateAnswer {
        match self {
            Self::NothingGraded => GateAnswer::NothingGraded,
            Self::NothingPaired | Self::EvidenceIncomplete | Self::AvailabilityUnstated | Self::QualityUnmet => {
                GateAnswer::Blocked
            }
            Self::Structural | Self::DesignUnfit => GateAnswer::Unfit,
            Self::Worse => GateAnswer::Regressed,
            Self::CostAboveLimit | Self::CostNotMeasured | Self::CostPartlyMeasured | Self::CostNotInDollars => {
                GateAnswer::Cost
            }
            Self::NoDifference => GateAnswer::NoDifference,
            Self::FewCasesMoved | Self::ChanceExplainsIt | Self::BeyondMargin => GateAnswer::NotShown,
        }
    }
}

/// What else is to be known, whatever the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateNote {
    /// Nothing was graded, and that is allowed.
    EmptyAllowed,
    /// The test is sure of a difference, and the interval of its size still contains 0.
    SizeUncertain,
    /// Worse for sure, by less than the margin.
    SmallLoss,
    /// The p-value is an upper bound.
    PIsBound,
    /// Rates were rounded to doubles, as their common denominator is beyond reason.
    RatesRounded,
    /// The self-test could not be made.
    SelfTestWithheld,
}

impl GateNote {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::EmptyAllowed => "empty_allowed",
            Self::SizeUncertain => "size_uncertain",
            Self::SmallLoss => "small_loss",
            Self::PIsBound => "p_is_bound",
            Self::RatesRounded => "rates_rounded",
            Self::SelfTestWithheld => "self_test_withheld",
        }
    }
}
