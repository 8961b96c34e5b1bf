//! Differences within a pair, or why they cannot be taken.

use rust_decimal::Decimal;
use skill_lift_contract::telemetry::{Basis, Currency, Measurement, Money, Observation, Provenance};

/// Why two measurements cannot be compared. In the order in which the reasons are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComparisonReason {
    /// A run of the pair does not count.
    UnscorableArm,
    /// It was not observed with the skill.
    MissingLeft,
    /// It was not observed without it.
    MissingRight,
    /// It cannot exist.
    NotApplicable,
    /// Two currencies.
    CurrencyMismatch,
    /// Nobody says where a value comes from.
    LegacyUnverified,
    /// The values come from different kinds of sources.
    ProvenanceMismatch,
    /// It is not said what a value rests on.
    BasisMissing,
    /// The runs are of different kinds.
    PopulationMismatch,
    /// The values rest on different things.
    BasisMismatch,
    /// The difference that would be divided by is not above zero.
    NonPositiveDenominator,
    /// There is no difference in pass rates.
    MissingObjectiveLift,
    /// The money is not in US dollars.
    CurrencyNotUsd,
    /// The pairs of a case are in several currencies.
    MixedCurrencyPairs,
    /// The difference is beyond what an exact amount can hold.
    OutOfRange,
}

impl ComparisonReason {
    /// Every reason.
    pub const ALL: [Self; 15] = [
        Self::UnscorableArm,
        Self::MissingLeft,
        Self::MissingRight,
        Self::NotApplicable,
        Self::CurrencyMismatch,
        Self::LegacyUnverified,
        Self::ProvenanceMismatch,
        Self::BasisMissing,
        Self::PopulationMismatch,
        Self::BasisMismatch,
        Self::NonPositiveDenominator,
        Self::MissingObjectiveLift,
        Self::CurrencyNotUsd,
        Self::MixedCurrencyPairs,
        Self::OutOfRange,
    ];

    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::UnscorableArm => "unscorable_arm",
            Self::MissingLeft => "missing_left",
            Self::MissingRight => "missing_right",
            Self::NotApplicable => "not_applicable",
            Self::CurrencyMismatch => "currency_mismatch",
            Self::LegacyUnverified => "legacy_unverified",
            Self::ProvenanceMismatch => "provenance_mismatch",
            Self::BasisMissing => "basis_missing",
            Self::PopulationMismatch => "population_mismatch",
            Self::BasisMismatch => "basis_mismatch",
            Self::NonPositiveDenominator => "non_positive_denominator",
            Self::MissingObjectiveLift => "missing_objective_lift",
            Self::CurrencyNotUsd => "currency_not_usd",
            Self::MixedCurrencyPairs => "mixed_currency_pairs",
            Self::OutOfRange => "out_of_range",
        }
    }
}

/// A value, or why it could not be taken.
pub type Comparison<T> = Result<T, ComparisonReason>;

/// A difference of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// With the skill minus without it; may be negative.
    pub amount: Decimal,
    /// Of what.
    pub currency: Currency,
}

/// What the rows say of a pair, whatever the files of its runs state: their population is that of the rows, and so is
/// the model where the rows name one.
#[derive(Debug, Clone, Copy, Default)]
pub struct PairIdentity<'a> {
    /// The model of the row with the skill, and of that without it.
    pub models: [Option<&'a str>; 2],
    /// Whether each of the two counts.
    pub scorable: [bool; 2],
}

/// Cost with the skill minus cost without it.
///
/// The digest of the skill is no part of the basis: that the skill is there in one arm only is what is compared.
///
/// # Errors
/// The first reason why the two cannot be compared.
pub fn compare_cost(pair: PairIdentity<'_>, arms: [&Measurement<Money>; 2]) -> Comparison<Difference> {
    let [left, right] = observed(pair, arms)?;
    if left.currency != right.currency {
        return Err(ComparisonReason::CurrencyMismatch);
    }
    same_basis(pair, arms)?;
    let amount = left.amount.checked_sub(right.amount).ok_or(ComparisonReason::OutOfRange)?;
    Ok(Difference { amount, currency: left.currency })
}

/// A count with the skill minus the count without it.
///
/// # Errors
/// The first reason why the two cannot be compared.
pub fn compare_counts(pair: PairIdentity<'_>, arms: [&Measurement<u64>; 2]) -> Comparison<i128> {
    let [left, right] = observed(pair, arms)?;
    same_basis(pair, arms)?;
    Ok(i128::from(*left) - i128::from(*right))
}

/// The values of both arms.
fn observed<'m, T>(pair: PairIdentity<'_>, arms: [&'m Measurement<T>; 2]) -> Comparison<[&'m T; 2]> {
    if pair.scorable.contains(&false) {
        return Err(ComparisonReason::UnscorableArm);
    }
    let of = |measurement: &'m Measurement<T>, missing| match &measurement.observation {
        Observation::Available { value, .. } => Ok(value),
        Observation::Unavailable(_) => Err(missing),
        Observation::NotApplicable(_) => Err(ComparisonReason::NotApplicable),
    };
    let [left, right] = arms;
    Ok([of(left, ComparisonReason::MissingLeft)?, of(right, ComparisonReason::MissingRight)?])
}

/// The values of both arms where they were measured in the same way: as [`compare_cost`], but values of which nobody says
/// where they come from may be compared with each other, and what neither file states agrees.
///
/// # Errors
/// The first reason why the two cannot be compared.
pub fn from_same_source<'m, T>(model: Option<&str>, arms: [&'m Measurement<T>; 2]) -> Comparison<[&'m T; 2]> {
    let values = observed(PairIdentity { models: [model; 2], scorable: [true; 2] }, arms)?;
    let [left, right] = arms;
    if left.provenance() != right.provenance() {
        return Err(ComparisonReason::ProvenanceMismatch);
    }
    let stated = |of: fn(&Basis) -> &Option<String>| [of(&left.basis), of(&right.basis)];
    let mut compared = vec![stated(|basis| &basis.provider), stated(|basis| &basis.billing_scope)];
    if model.is_none() {
        compared.push(stated(|basis| &basis.model));
    }
    if left.provenance() == Some(Provenance::PriceTableEstimated) {
        compared.push(stated(|basis| &basis.pricing_model));
        compared.push(stated(|basis| &basis.pricing_table_version));
    }
    if compared.iter().all(|[left, right]| left == right) { Ok(values) } else { Err(ComparisonReason::BasisMismatch) }
}

fn same_basis<T>(pair: PairIdentity<'_>, arms: [&Measurement<T>; 2]) -> Comparison<()> {
    let [left, right] = arms.map(Measurement::provenance);
    if [left, right].contains(&Some(Provenance::LegacyUnverified)) {
        return Err(ComparisonReason::LegacyUnverified);
    }
    if left != right {
        return Err(ComparisonReason::ProvenanceMismatch);
    }
    let [left_basis, right_basis] = arms.map(|measurement| &*measurement.basis);
    let stated = |of: fn(&Basis) -> &Option<String>| [of(left_basis).as_deref(), of(right_basis).as_deref()];
    let models = stated(|basis| &basis.model);
    let model = [0, 1].map(|arm| pair.models[arm].or(models[arm]));
    let mut required = vec![stated(|basis| &basis.provider), model, stated(|basis| &basis.billing_scope)];
    if left == Some(Provenance::PriceTableEstimated) {
        required.push(stated(|basis| &basis.pricing_model));
        required.push(stated(|basis| &basis.pricing_table_version));
    }
    for [left, right] in required {
        match (left, right) {
            (Some(left), Some(right)) if left == right => {}
            (Some(_), Some(_)) => return Err(ComparisonReason::BasisMismatch),
            _ => return Err(ComparisonReason::BasisMissing),
        }
    }
    match stated(|basis| &basis.manifest_revision) {
        [None, None] => Ok(()),
        [Some(left), Some(right)] if left == right => Ok(()),
        [Some(_), Some(_)] => Err(ComparisonReason::BasisMismatch),
        _ => Err(ComparisonReason::BasisMissing),
    }
}
