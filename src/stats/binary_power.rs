//! Power of the exact sign-flip test before any run, for one run per arm: each case gets better, worse or stays.
//!
//! The number of cases that move is multinomial and the test is McNemar's exact test, so the power is a finite sum.
//! It is a saw-tooth in the number of cases: one more case can lower it.

use num_bigint::{BigInt, BigUint};
use num_traits::One;

use crate::power::PowerGoal;
use crate::rational::Rational;
use crate::special::binomial_chance;
use crate::withheld::Withheld;

/// No plan beyond this many cases is searched.
pub const LARGEST_PLAN: usize = 2_000;
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
///
/// # Errors
///
/// [`Withheld::BeyondExactBudget`] for more than 2000 cases.
pub fn binary_power(cases: usize, moves: CaseMoves, alpha: &Rational) -> Result<f64, Withheld> {
    if cases > LARGEST_PLAN {
        return Err(Withheld::BeyondExactBudget);
    }
    Ok(Rejections::new(alpha, moves).power(cases))
}

/// The cases needed for the power of the goal; `None` when 2000 cases are not enough.
#[must_use]
pub fn binary_cases_needed(moves: CaseMoves, goal: &PowerGoal) -> Option<CasesPlan> {
    let mut rejections = Rejections::new(goal.alpha(), moves);
    let first = (1..=LARGEST_PLAN).find(|&cases| rejections.power(cases) >= goal.power())?;
    let power_at_first = rejections.power(first);
    let last_below = (first..=first + LOOK_AHEAD).rev().find(|&cases| rejections.power(cases) < goal.power());
    Some(CasesPlan { first, stays_from: last_below.map_or(first, |cases| cases + 1), power_at_first })
}

/// For each number of moved cases, the chance that the test rejects. The outcomes that reject are found exactly; each
/// chance is computed once.
struct Rejections<'a> {
    alpha: &'a Rational,
    moving: f64,
    upward: f64,
    chances: Vec<f64>,
}

impl<'a> Rejections<'a> {
    fn new(alpha: &'a Rational, moves: CaseMoves) -> Self {
        let moving = moves.up + moves.down;
        let upward = if moving > 0.0 { moves.up / moving } else { 0.0 };
        Self { alpha, moving, upward, chances: Vec::new() }
    }

    fn power(&mut self, cases: usize) -> f64 {
        while self.chances.len() <= cases {
            self.chances.push(self.chance(self.chances.len()));
        }
        let terms = self.chances.iter().enumerate().take(cases + 1);
        terms.map(|(moved, chance)| binomial_chance(moved, cases, self.moving) * chance).sum::<f64>().min(1.0)
    }

    fn chance(&self, moved: usize) -> f64 {
        let Some(smallest) = smallest_rejected(moved, self.alpha) else { return 0.0 };
        let both = |count: usize| {
            binomial_chance(count, moved, self.upward) + binomial_chance(moved - count, moved, self.upward)
        };
        (smallest..=moved).map(both).sum()
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
