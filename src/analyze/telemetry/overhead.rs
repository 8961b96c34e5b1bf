//! What the skill costs within each pair of runs, and the lift that it brings there.
//!
//! Pairs are those of the benchmark. A pair of which a run is missing or does not count is blocked and named.

use num_bigint::BigInt;
use num_traits::Signed;
use rust_decimal::Decimal;
use skill_lift_contract::telemetry::Measurement;
use skill_lift_contract::{BlockedReason, UnscoredReason};
use skill_lift_stats::rational::Rational;

use super::aggregate::{Aggregate, PopulationRule, money_buckets};
use super::compare::{
    Comparison, ComparisonReason, Difference, PairIdentity, compare_cost, compare_counts, from_same_source,
};
use super::efficiency::exact;
use crate::analyze::pairing::{Pair, Pairing};
use crate::analyze::table::RunTable;
use crate::runs::RunTelemetry;

/// All pairs of a tree.
#[derive(Debug)]
pub struct TokenOverhead {
    /// Pairs of two runs that count.
    pub pairs: Vec<OverheadPair>,
    /// The others: for each case and model those with two runs, then those of which one is missing.
    pub blocked: Vec<BlockedPair>,
}

/// A pair of two runs that count. Differences are the run with the skill minus the one without it.
#[derive(Debug)]
pub struct OverheadPair {
    /// Position of the case.
    pub case: u32,
    /// Position of the model.
    pub model: Option<u32>,
    /// Number of the repetition.
    pub repetition: u32,
    /// Indices of the run with the skill and of the one without it.
    pub runs: [usize; 2],
    /// All tokens.
    pub total_tokens: Comparison<i128>,
    /// Tokens that went in.
    pub input_tokens: Comparison<i128>,
    /// Tokens that came out.
    pub output_tokens: Comparison<i128>,
    /// Objective pass rates.
    pub objective: Comparison<Rational>,
    /// Lift for a thousand tokens more.
    pub lift_per_1k_tokens: Comparison<Rational>,
    /// Money.
    pub cost: Comparison<Difference>,
    /// Lift for a unit of the currency more.
    pub lift_per_cost_unit: Comparison<Rational>,
    /// All tokens, for people: numbers of which nobody says where they come from may be compared with each other.
    pub plain_tokens: Comparison<i128>,
    /// Money, in the same way.
    pub plain_cost: Comparison<Difference>,
}

impl OverheadPair {
    /// Whether nothing was gained: the skill changed nothing for the better, or both runs passed everything.
    pub fn is_without_lift(&self) -> bool {
        // two runs that pass everything have no difference
        self.objective.as_ref().is_ok_and(|difference| !difference.is_positive())
    }
}

/// Why a pair is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairBlock {
    /// What a comparison says.
    Comparison(ComparisonReason),
    /// What the benchmark says.
    Pairing(BlockedReason),
}

impl PairBlock {
    /// The code in reports.
    pub fn code(&self) -> String {
        match self {
            Self::Comparison(reason) => reason.code().to_owned(),
            Self::Pairing(reason) => reason.code(),
        }
    }
}

/// A pair that is not compared.
#[derive(Debug)]
pub struct BlockedPair {
    /// Position of the case.
    pub case: u32,
    /// Position of the model.
    pub model: Option<u32>,
    /// Number of the repetition.
    pub repetition: u32,
    /// Indices of the runs that are there: with the skill, without it.
    pub runs: [Option<usize>; 2],
    /// Why.
    pub reason: PairBlock,
}

/// What was paid for pairs without lift.
#[derive(Debug)]
pub enum SpentWithoutLift {
    /// There is no such pair: nothing was.
    NoPair,
    /// The sum in US dollars over both runs of each such pair.
    Sum(Aggregate<Decimal>),
}

impl TokenOverhead {
    /// Of the pairs of a tree.
    pub fn of(table: &RunTable, pairing: &Pairing) -> Self {
        let mut overhead = Self { pairs: Vec::new(), blocked: Vec::new() };
        for pair in &pairing.pairs {
            let Pair { case, model, repetition, .. } = *pair;
            let runs = [pair.with_skill, pair.without_skill].map(|index| index.filter(|index| is_there(table, *index)));
            let blocked = |reason| BlockedPair { case, model, repetition, runs, reason };
            match (runs, block(table, pair, runs)) {
                // both arms lack the folder: there is nothing to name
                ([None, None], _) => {}
                (_, Some(reason)) => overhead.blocked.push(blocked(reason)),
                ([Some(with), Some(without)], None) => overhead.pairs.push(compare(table, pair, [with, without])),
                ([None, _], None) => {
                    overhead.blocked.push(blocked(PairBlock::Comparison(ComparisonReason::MissingLeft)));
                }
                ([_, None], None) => {
                    overhead.blocked.push(blocked(PairBlock::Comparison(ComparisonReason::MissingRight)));
                }
            }
        }
        overhead.blocked.sort_by_key(|pair| (pair.case, pair.model, pair.runs.contains(&None)));
        overhead
    }

    /// What was paid for pairs without lift.
    pub fn spent_without_lift(&self, table: &RunTable) -> SpentWithoutLift {
        let runs: Vec<usize> =
            self.pairs.iter().filter(|pair| pair.is_without_lift()).flat_map(|pair| pair.runs).collect();
        if runs.is_empty() {
            return SpentWithoutLift::NoPair;
        }
        let costs = runs.iter().map(|index| &table.telemetry[*index].telemetry.cost);
        SpentWithoutLift::Sum(money_buckets(costs, PopulationRule::OfRows).dollars(|_| 1))
    }
}

/// Whether the directory of a run exists: the index has a place for every run that the other arm has.
fn is_there(table: &RunTable, index: usize) -> bool {
    !table.runs[index].unscored_reasons.iter().any(|reason| reason == UnscoredReason::MissingRun.code())
}

fn block(table: &RunTable, pair: &Pair, runs: [Option<usize>; 2]) -> Option<PairBlock> {
    let [Some(with), Some(without)] = runs else {
        return None;
    };
    if [with, without].into_iter().any(|index| !table.runs[index].scorable) {
        return Some(PairBlock::Comparison(ComparisonReason::UnscorableArm));
    }
    match &pair.values {
        // a pair that has no pass rate may have tokens all the same
        Ok(_) | Err(BlockedReason::MissingMetric(_)) => None,
        Err(reason) => Some(PairBlock::Pairing(reason.clone())),
    }
}

fn compare(table: &RunTable, pair: &Pair, runs: [usize; 2]) -> OverheadPair {
    let identity = PairIdentity { models: [table.model(pair.model); 2], scorable: [true; 2] };
    let used = runs.map(|index| &table.telemetry[index].telemetry);
    let tokens = |of: fn(&RunTelemetry) -> &Measurement<u64>| compare_counts(identity, used.map(of));
    let total_tokens = tokens(|run| &run.total_tokens);
    let objective = match &pair.values {
        Ok(values) => Ok(&values.with_skill - &values.without_skill),
        Err(_) => Err(ComparisonReason::MissingObjectiveLift),
    };
    let cost = compare_cost(identity, used.map(|run| &run.cost));
    let per = |denominator: Comparison<Rational>| -> Comparison<Rational> {
        let (difference, denominator) = (objective.clone()?, denominator?);
        match denominator.is_positive() {
            true => Ok(difference / denominator),
            false => Err(ComparisonReason::NonPositiveDenominator),
        }
    };
    let model = table.model(pair.model);
    let plain_tokens = from_same_source(model, used.map(|run| &run.total_tokens));
    let plain_cost = from_same_source(model, used.map(|run| &run.cost)).and_then(|[with, without]| {
        if with.currency != without.currency {
            return Err(ComparisonReason::CurrencyMismatch);
        }
        let amount = with.amount.checked_sub(without.amount).ok_or(ComparisonReason::OutOfRange)?;
        Ok(Difference { amount, currency: with.currency })
    });
    OverheadPair {
        case: pair.case,
        model: pair.model,
        repetition: pair.repetition,
        runs,
        plain_tokens: plain_tokens.map(|[with, without]| i128::from(*with) - i128::from(*without)),
        plain_cost,
        lift_per_1k_tokens: per(total_tokens.map(|tokens| Rational::new(BigInt::from(tokens), BigInt::from(1000)))),
        total_tokens,
        input_tokens: tokens(|run| &run.input_tokens),
        output_tokens: tokens(|run| &run.output_tokens),
        lift_per_cost_unit: per(cost.map(|difference| exact(difference.amount))),
        cost,
        objective,
    }
}

#[cfg(test)]
mod tests {
    use num_traits::{One, Zero};

    use super::*;

    fn pair(objective: Comparison<Rational>) -> OverheadPair {
        OverheadPair {
            case: 0,
            model: None,
            repetition: 1,
            runs: [0, 1],
            total_tokens: Ok(0),
            input_tokens: Ok(0),
            output_tokens: Ok(0),
            lift_per_1k_tokens: Err(ComparisonReason::NonPositiveDenominator),
            cost: Err(ComparisonReason::MissingLeft),
            lift_per_cost_unit: Err(ComparisonReason::MissingLeft),
            plain_tokens: Ok(0),
            plain_cost: Err(ComparisonReason::MissingLeft),
            objective,
        }
    }

    #[test]
    fn a_pair_without_a_difference_that_is_known_is_none_without_lift() {
        assert!(pair(Ok(Rational::zero())).is_without_lift());
        assert!(pair(Ok(-Rational::one())).is_without_lift());
        assert!(!pair(Ok(Rational::one())).is_without_lift());
        assert!(!pair(Err(ComparisonReason::MissingObjectiveLift)).is_without_lift());
    }
}
