//! Why a statistic is missing: the closed list of reasons that travels beside every null in a report.

use std::fmt;

/// The reason a value is withheld. [`Withheld::as_str`] is the word written in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Withheld {
    /// No unit has a delta.
    NoEligiblePairs,
    /// There are units, but fewer than the method can work with.
    TooFewUnits,
    /// Every delta is the same, or in the same ratio to its cost, so there is no spread to judge by.
    ConstantDeltas,
    /// Every delta is zero.
    AllDeltasZero,
    /// The exact computation would need more table updates than allowed.
    BeyondExactBudget,
    /// Fewer than two clusters.
    TooFewClusters,
    /// The method needs deltas of −1, 0 or 1.
    NonBinaryDeltas,
    /// The runs of a case share something, so they are not independent trials.
    RunsNotIndependent,
    /// Chance agreement is 1, so agreement beyond chance has no meaning.
    ExpectedAgreementIsOne,
    /// There is no variation between the values, or no pair of values.
    NoVariationOrNoPairs,
    /// There is no run.
    NoRuns,
    /// k is smaller than 1.
    KBelowOne,
    /// k is larger than the number of runs.
    KExceedsRuns,
    /// The counts contradict each other, such as more passed runs than runs.
    InvalidCounts,
    /// The baseline already passes everything, so no gain is possible.
    BaselineAtCeiling,
    /// The denominator of a ratio may be zero.
    DenominatorMayBeZero,
    /// Too few values for a distribution-free bound.
    TooFewValues,
    /// Fewer than two skills.
    TooFewSkills,
    /// The user declared no margin or alternative to test against.
    NoAlternativeDeclared,
    /// A simulation with no draws.
    ZeroDraws,
}

impl Withheld {
    /// The word written in reports, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoEligiblePairs => "no_eligible_pairs",
            Self::TooFewUnits => "too_few_units",
            Self::ConstantDeltas => "constant_deltas",
            Self::AllDeltasZero => "all_deltas_zero",
            Self::BeyondExactBudget => "beyond_exact_budget",
            Self::TooFewClusters => "too_few_clusters",
            Self::NonBinaryDeltas => "non_binary_deltas",
            Self::RunsNotIndependent => "runs_not_independent",
            Self::ExpectedAgreementIsOne => "expected_agreement_is_one",
            Self::NoVariationOrNoPairs => "no_variation_or_no_pairs",
            Self::NoRuns => "no_runs",
            Self::KBelowOne => "k_below_1",
            Self::KExceedsRuns => "k_exceeds_runs",
            Self::InvalidCounts => "invalid_counts",
            Self::BaselineAtCeiling => "baseline_at_ceiling",
            Self::DenominatorMayBeZero => "denominator_may_be_zero",
            Self::TooFewValues => "too_few_values",
            Self::TooFewSkills => "too_few_skills",
            Self::NoAlternativeDeclared => "no_alternative_declared",
            Self::ZeroDraws => "zero_draws",
        }
    }
}

impl fmt::Display for Withheld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl std::error::Error for Withheld {}
