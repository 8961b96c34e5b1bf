//! The significance block in the form of version 0.6 of the benchmark format, with its rounding.

use crate::rational::{Rational, parse_decimal, round_f64_half_even};
use crate::sign_flip::{SignFlip, SignFlipMethod};

/// Decimals kept in the block.
const DECIMALS: u32 = 6;

/// The five keys of the 0.6 significance block.
#[derive(Debug, Clone, PartialEq)]
pub struct CompatSignificance {
    /// `sign-flip` when there is no unit or none moved, `sign-flip-exact` otherwise.
    pub method: &'static str,
    /// Units with a delta.
    pub n: usize,
    /// Mean delta, six decimals; `None` without units.
    pub observed_mean_delta: Option<f64>,
    /// Two-sided p, six decimals; `None` without units.
    pub p_value: Option<f64>,
    /// Whether the unrounded p is at most 0.05.
    pub significant_at_0_05: bool,
}

impl CompatSignificance {
    /// The block for a sign-flip result.
    #[must_use]
    pub fn new(result: &SignFlip) -> Self {
        let moved = result.method != SignFlipMethod::NothingMoved;
        Self {
            method: if moved { "sign-flip-exact" } else { "sign-flip" },
            n: result.n,
            observed_mean_delta: result.estimate_f64().map(|mean| round_f64_half_even(mean, DECIMALS)),
            p_value: (result.n > 0).then(|| round_f64_half_even(result.p_two_sided, DECIMALS)),
            significant_at_0_05: moved && parse_decimal("0.05").is_some_and(|alpha| result.at_most(&alpha)),
        }
    }

    /// The block for `deltas`, one per unit.
    #[must_use]
    pub fn of(deltas: &[Rational]) -> Self {
        Self::new(&crate::sign_flip::sign_flip(deltas))
    }
}
