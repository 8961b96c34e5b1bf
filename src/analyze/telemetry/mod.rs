//! Sums and comparisons of what runs used: tokens, money, time.
//!
//! In: measurements with their reasons and bases. Out: aggregates that say how complete they are, and differences within
//! pairs that say why they could not be taken. Missing is never zero, and what rests on different bases is not added.

mod aggregate;
mod compare;
mod cost;
mod efficiency;
mod ledger;
mod overhead;
mod percentiles;
mod spend;
mod usage;

pub use aggregate::{
    Aggregate, AggregateState, Buckets, CountStats, MoneyStats, PopulationRule, count_aggregate, money_buckets,
};
pub use compare::{
    Comparison, ComparisonReason, Difference, PairIdentity, compare_cost, compare_counts, from_same_source,
};
pub use cost::{CasePairedCost, CostSummary, PairedCosts, VariantCost};
pub(super) use efficiency::exact;
pub use efficiency::{Efficiency, NetBenefit, Quantity, QuantityEffect};
pub use ledger::{Finding, FlaggedCase, Ledger};
pub use overhead::{BlockedPair, OverheadPair, PairBlock, SpentWithoutLift, TokenOverhead};
pub use percentiles::Percentile;
pub use spend::{Coverage, Spend, Totals};
pub use usage::{CoverageCounts, VariantUsage};
