//! Power of the exact sign-flip test before any run, for one run per arm: each case gets better, worse or stays.
//!
//! The number of cases that move is multinomial and the test is McNemar's exact test, so the power is a finite sum.
//! It is a saw-tooth in the number of cases: one more case can lower it.

use num_bigint::{BigInt, BigUint};
use num_traits::One;

use crate::power::TARGET_POWER;
use crate::rational::Rational;
use crate::special::binomial_chance;

/// No plan beyond this many cases is searched.
const LARGEST_PLAN: usize = 2_000;
/// How far past the first sufficient number of cases the saw-tooth is followed.
const LOOK_AHEAD: usize = 25;

/// The chance that a case gets better and the chance that it gets worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseMoves {
    /// Chance in 0..=1 that the case fails without the skill and passes with it.
    pub up: f64,
    /// Chance in 0..=1 that the case passes without the skill and fails with it.
    pub down: f64,
}

/// The numbers of cases that reach the target power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CasesPlan {
    /// The first number of cases with the target power.
    pub first: usize,
    /// The number of cases from which the power stays there, as far as 25 cases past the first.
    pub stays_from: usize,
    /// The power at `first`.
    pub power_at_first: f64,
}

/// The chance that the exact two-sided test with error rate `alpha` rejects, in either direction, for `cases` cases.
#[must_use]
pub fn binary_power(cases: usize, moves: CaseMoves, alpha: &Rational) -> f64 {
    Thresholds::new(alpha).power(cases, moves)
}

/// The cases needed for the target power; `None` when 2000 cases are not enough.
#[must_use]
pub fn binary_cases_needed(moves: CaseMoves, alpha: &Rational) -> Option<CasesPlan> {
    let mut thresholds = Thresholds::new(alpha);
    let first = (1..=LARGEST_PLAN).find(|&cases| thresholds.power(cases, moves) >= TARGET_POWER)?;
    let power_at_first = thresholds.power(first, moves);
    let last_below = (first..=first + LOOK_AHEAD).rev().find(|&cases| thresholds.power(cases, moves) < TARGET_POWER);
    Some(CasesPlan { first, stays_from: last_below.map_or(first, |cases| cases + 1), power_at_first })
}

/// For each number of moved cases, the smallest one-directional count that rejects; found exactly and remembered.
struct Thresholds<'a> {
    alpha: &'a Rational,
    smallest: Vec<Option<usize>>,
}

impl<'a> Thresholds<'a> {
    const fn new(alpha: &'a Rational) -> Self {
        Self { alpha, smallest: Vec::new() }
    }

    fn power(&mut self, cases: usize, moves: CaseMoves) -> f64 {
        while self.smallest.len() <= cases {
            self.smallest.push(smallest_rejected(self.smallest.len(), self.alpha));
        }
        let moving = moves.up + moves.down;
        if moving <= 0.0 {
            return 0.0;
        }
        let upward = moves.up / moving;
        let terms = self.smallest.iter().enumerate().take(cases + 1).map(|(moved, smallest)| {
            let Some(smallest) = *smallest else { return 0.0 };
            let rejected: f64 = (smallest..=moved)
                .map(|count| binomial_chance(count, moved, upward) + binomial_chance(moved - count, moved, upward))
                .sum();
            binomial_chance(moved, cases, moving) * rejected
        });
        terms.sum::<f64>().min(1.0)
    }
}

/// The smallest count c above half of `moved` with 2·P(Bin(moved, ½) ≥ c) ≤ alpha, decided on integers.
fn smallest_rejected(moved: usize, alpha: &Rational) -> Option<usize> {
    let allowed = alpha.numer() * (BigInt::one() << moved);
    let mut smallest = None;
    let mut binomial = BigUint::one();
    let mut patterns = BigUint::from(0_u32);
    // From the outcome with every case in one direction inward; 2·patterns are those at least as far out.
    for against in 0..moved.div_ceil(2) {
        patterns += &binomial;
        if BigInt::from(&patterns * 2_u32) * alpha.denom() > allowed {
            break;
        }
        smallest = Some(moved - against);
        binomial = binomial * (moved - against) / (against + 1);
    }
    smallest
}
