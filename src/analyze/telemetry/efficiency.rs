//! What the skill costs a run, and what its lift costs.
//!
//! Only pairs that inference rests on count, and of those only the ones in which both runs measured the quantity in the
//! same way. The ratio is one of means with Fieller's limits, never a mean of ratios: see [`skill_lift_stats::ratio`].

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_traits::Zero;
use rust_decimal::Decimal;
use skill_lift_contract::telemetry::{Currency, Measurement, Money, Provenance};
use skill_lift_stats::interval::padded_t_not_widened;
use skill_lift_stats::ratio::{CostPlane, RatioOfMeans, RatioUnit, ratio_of_means};
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Withheld, sign_flip};

use super::compare::{Comparison, ComparisonReason, from_same_source};
use super::percentiles::{Percentile, percentiles};
use crate::analyze::inference::{Unit, unit_of};
use crate::analyze::pairing::Pairing;
use crate::analyze::table::RunTable;
use crate::runs::RunTelemetry;

/// Something that a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Money.
    Money,
    /// Tokens as the sources count them.
    TotalTokens,
    /// Every billed token once.
    BillableTokens,
    /// Tokens of the first prompt.
    ContextTokens,
    /// Milliseconds.
    ElapsedMs,
}

impl Quantity {
    /// How many of it the ratio counts as one: tokens are counted in thousands.
    fn scale(self) -> u64 {
        match self {
            Self::TotalTokens | Self::BillableTokens | Self::ContextTokens => 1000,
            Self::Money | Self::ElapsedMs => 1,
        }
    }
}

/// The difference in one quantity over the pairs that measured it.
#[derive(Debug)]
pub struct QuantityEffect {
    /// What was measured.
    pub quantity: Quantity,
    /// The currency of money.
    pub currency: Option<Currency>,
    /// Pairs that inference rests on.
    pub pairs: usize,
    /// Those of them in which both runs measured the quantity in the same way.
    pub measured: usize,
    /// Why the others do not count, with counts, by code.
    pub reasons: BTreeMap<&'static str, usize>,
    /// Where the measurements come from.
    pub provenances: BTreeSet<Provenance>,
    /// Mean difference over the measured pairs.
    pub mean_difference: Option<Rational>,
    /// What inference counts.
    pub unit: Unit,
    /// The lift for what it costs, over the units: per unit of money, or per thousand tokens.
    pub ratio: RatioOfMeans,
    /// The units by what the skill did to their result and to what they used.
    pub plane: CostPlane,
    /// What the lift is worth minus what it costs, where somebody said what a lift is worth.
    pub net_benefit: Option<NetBenefit>,
}

/// What the skill gains a run: the lift at a price, minus its cost (Stinnett & Mullahy 1998 *Med. Decis. Making* 18:S68).
#[derive(Debug)]
pub struct NetBenefit {
    /// What a lift of 1, one more passed run, is worth.
    pub value_per_lift: Rational,
    /// Mean over the units; `None` without any.
    pub mean: Option<Rational>,
    /// Exact sign-flip test over the units.
    pub test: SignFlip,
    /// The padded t interval, which for money has no ends to be clipped at.
    pub interval: Result<(f64, f64), Withheld>,
}

impl NetBenefit {
    fn of(units: &[RatioUnit], value_per_lift: &Rational, alpha: &Rational) -> Self {
        let benefits: Vec<Rational> = units.iter().map(|unit| unit.net_benefit(value_per_lift)).collect();
        let test = sign_flip(&benefits);
        let contains_zero = !test.at_most(alpha);
        let interval = padded_t_not_widened(&benefits, alpha).map(|interval| {
            let (lower, upper) = (interval.lower_unclipped, interval.upper_unclipped);
            if contains_zero { (lower.min(0.0), upper.max(0.0)) } else { (lower, upper) }
        });
        Self { value_per_lift: value_per_lift.clone(), mean: rational::mean(&benefits), test, interval }
    }
}

impl QuantityEffect {
    /// Whether every pair measured the quantity.
    pub fn is_complete(&self) -> bool {
        self.pairs > 0 && self.measured == self.pairs
    }
}

/// All quantities.
#[derive(Debug)]
pub struct Efficiency {
    /// Money.
    pub money: QuantityEffect,
    /// Tokens as the sources count them.
    pub total_tokens: QuantityEffect,
    /// Every billed token once.
    pub billable_tokens: QuantityEffect,
    /// Tokens of the first prompt.
    pub context_tokens: QuantityEffect,
    /// Milliseconds.
    pub elapsed_ms: QuantityEffect,
    /// The 90th percentile of what the runs of each arm used.
    pub percentiles: Vec<Percentile>,
}

impl Efficiency {
    /// Of the pairs that inference rests on. `value_per_lift` is what one more passed run is worth, in the currency of the
    /// runs.
    pub fn of(table: &RunTable, pairing: &Pairing, alpha: &Rational, value_per_lift: Option<&Rational>) -> Self {
        let count = |quantity: Quantity, of: fn(&RunTelemetry) -> &Measurement<u64>| {
            let thousandth = quantity.scale();
            let difference = move |left: &u64, right: &u64| {
                Rational::new(BigInt::from(*left) - BigInt::from(*right), BigInt::from(thousandth))
            };
            effect(table, pairing, alpha, (quantity, None), move |arms, pair| {
                let [left, right] = from_same_source(pair, arms.map(of))?;
                Ok((difference(left, right), None, arms.map(of)[0].provenance()))
            })
        };
        Self {
            money: effect(table, pairing, alpha, (Quantity::Money, value_per_lift), |arms, pair| {
                let costs = arms.map(|run| &run.cost);
                let [left, right]: [&Money; 2] = from_same_source(pair, costs)?;
                if left.currency != right.currency {
                    return Err(ComparisonReason::CurrencyMismatch);
                }
                let difference = exact(left.amount) - exact(right.amount);
                Ok((difference, Some(left.currency), costs[0].provenance()))
            }),
            total_tokens: count(Quantity::TotalTokens, |run| &run.total_tokens),
            billable_tokens: count(Quantity::BillableTokens, |run| &run.billable_tokens),
            context_tokens: count(Quantity::ContextTokens, |run| &run.context_tokens),
            elapsed_ms: count(Quantity::ElapsedMs, |run| &run.elapsed_ms),
            percentiles: percentiles(table, pairing),
        }
    }
}

/// An amount as an exact fraction.
pub(in crate::analyze) fn exact(amount: Decimal) -> Rational {
    Rational::new(BigInt::from(amount.mantissa()), BigInt::from(10).pow(amount.scale()))
}

/// What one pair says: the difference, its currency, where it comes from.
type Measured = (Rational, Option<Currency>, Option<Provenance>);

fn effect(
    table: &RunTable,
    pairing: &Pairing,
    alpha: &Rational,
    (quantity, value_per_lift): (Quantity, Option<&Rational>),
    measure: impl Fn([&RunTelemetry; 2], Option<&str>) -> Comparison<Measured>,
) -> QuantityEffect {
    let mut reasons: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut provenances = BTreeSet::new();
    let mut currencies = BTreeSet::new();
    let mut pairs = 0;
    let mut measured: Vec<(u32, Option<u32>, RatioUnit)> = Vec::new();
    for (pair, values) in pairing.eligible() {
        pairs += 1;
        let (Some(with), Some(without)) = (pair.with_skill, pair.without_skill) else { continue };
        let arms = [with, without].map(|index| &table.telemetry[index].telemetry);
        match measure(arms, table.model(pair.model)) {
            Ok((difference, currency, provenance)) => {
                provenances.extend(provenance);
                currencies.extend(currency);
                let numerator = &values.with_skill - &values.without_skill;
                measured.push((pair.case, pair.model, RatioUnit { numerator, denominator: difference }));
            }
            Err(reason) => *reasons.entry(reason.code()).or_default() += 1,
        }
    }
    if currencies.len() > 1 {
        // amounts of two currencies have no mean
        reasons.insert(ComparisonReason::MixedCurrencyPairs.code(), measured.len());
        measured.clear();
        provenances.clear();
    }
    let currency = currencies.first().copied().filter(|_| currencies.len() == 1);
    let differences: Vec<Rational> = measured.iter().map(|(_, _, unit)| unit.denominator.clone()).collect();
    let unit = unit_of(table);
    let units = units(table, unit, &measured);
    QuantityEffect {
        quantity,
        currency,
        pairs,
        measured: measured.len(),
        reasons,
        provenances,
        mean_difference: rational::mean(&differences).map(|mean| mean * BigInt::from(quantity.scale())),
        unit,
        ratio: ratio_of_means(&units, alpha),
        plane: CostPlane::of(&units),
        net_benefit: value_per_lift.map(|value| NetBenefit::of(&units, value, alpha)),
    }
}

/// Means over the repetitions of a case with one model, then over its models, then over the cases of a family.
fn units(table: &RunTable, unit: Unit, measured: &[(u32, Option<u32>, RatioUnit)]) -> Vec<RatioUnit> {
    let mut strata: BTreeMap<(u32, Option<u32>), Vec<&RatioUnit>> = BTreeMap::new();
    for (case, model, pair) in measured {
        strata.entry((*case, *model)).or_default().push(pair);
    }
    let mut cases: BTreeMap<u32, Vec<RatioUnit>> = BTreeMap::new();
    for ((case, _), pairs) in strata {
        cases.entry(case).or_default().push(mean_unit(pairs.into_iter()));
    }
    let mut groups: BTreeMap<&str, Vec<RatioUnit>> = BTreeMap::new();
    for (case, models) in cases {
        let family = table.cases.get(case as usize).and_then(|case| case.family.as_deref());
        let name = match unit {
            Unit::Case => table.case_id(case),
            Unit::Family => family.unwrap_or_else(|| table.case_id(case)),
        };
        groups.entry(name).or_default().push(mean_unit(models.iter()));
    }
    groups.into_values().map(|members| mean_unit(members.iter())).collect()
}

fn mean_unit<'u>(units: impl Iterator<Item = &'u RatioUnit> + Clone) -> RatioUnit {
    let mean = |of: fn(&RatioUnit) -> &Rational| {
        let values: Vec<Rational> = units.clone().map(|unit| of(unit).clone()).collect();
        rational::mean(&values).unwrap_or_else(Rational::zero)
    };
    RatioUnit { numerator: mean(|unit| &unit.numerator), denominator: mean(|unit| &unit.denominator) }
}
