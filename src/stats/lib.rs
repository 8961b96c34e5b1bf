//! Pure statistics for paired comparisons: exact rationals in, estimates, p-values, intervals and verdicts out.
//!
//! Nothing here reads files, draws random numbers or knows what an evaluation is. A *unit* is whatever the caller
//! pairs (a case, or a family of cases); a *delta* is the pass rate with the skill minus the pass rate without it.
//!
//! Three conventions hold everywhere:
//!
//! - deltas and rates are exact rationals, rounded once when they become an `f64`;
//! - a value that cannot be computed is an `Err(`[`Withheld`]`)` or `None`, never 0, NaN or an infinity;
//! - no result depends on the order of the units.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod betting;
pub mod binary_power;
pub mod bootstrap;
pub mod cluster;
pub mod compat;
pub mod describe;
pub mod gain;
pub mod hodges_lehmann;
pub mod independent_binary;
pub mod interval;
pub mod inversion;
pub mod missingness;
pub mod multiplicity;
pub mod noise_check;
pub mod normal;
pub mod paired_binary;
pub mod permutation;
pub mod power;
pub mod proportion;
pub mod quantile;
pub mod random_effects;
pub mod ratio;
pub mod rational;
pub mod relabeling;
pub mod reliability;
pub mod sampled;
pub mod sign_flip;
pub mod special;
pub mod suite_reliability;
pub mod t_power;
pub mod variance;
pub mod verdict;
pub mod withheld;

pub use interval::{PaddedT, PairedT, padded_t, paired_t};
pub use permutation::{PermutationTest, Stratum, permutation_test};
pub use rational::Rational;
pub use relabeling::RelabelingCounts;
pub use sign_flip::{Direction, SignFlip, sign_flip};
pub use verdict::{Thresholds, TooFewReason, Verdict, VerdictCode, minimum_cases, verdict};
pub use withheld::Withheld;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod properties;
