//! The exact sign-flip test: how often would a mean this far from 0 arise if every delta could as well have had the
//! opposite sign?
//!
//! Fisher 1935 (*The Design of Experiments*), Pitman 1937 (*Suppl. J. R. Stat. Soc.* 4:119). Deltas become integers
//! over their common denominator, so ties are decided by equality of integers and no tolerance is involved. For
//! deltas of −1, 0 and 1 the test is the exact McNemar test. The algorithm follows the size of the problem:
//!
//! | Units that moved | Algorithm | [`SignFlipMethod`] |
//! |---|---|---|
//! | up to 126, sums on a small lattice | counts of sign patterns per sum (Pagano & Tritchler 1983 *JASA* 78:435) | `ExactCounts` |
//! | up to 40, any sums | two sorted halves (Horowitz & Sahni 1974 *JACM* 21:277) | `MeetInTheMiddle` |
//! | more, on a lattice | probability mass per sum in `f64` | `ProbabilityMass` |
//! | more, on a finer lattice | the characteristic function of the tilted sum, point by point | `CharacteristicFunction` |
//! | more, no usable lattice | probability mass on a rounded lattice, with the rounding bounded | `RoundedLattice` |
//! | p below the reach of the above | Hoeffding 1963 (*JASA* 58:13) | `HoeffdingBound` |
//!
//! The last two give an upper bound of p, marked by [`SignFlip::p_is_bound`]; nothing is sampled.

mod counts;
mod mass;
#[cfg(test)]
mod tests;
mod tilted;

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use self::mass::LatticeTail;
use crate::rational::{Rational, common_denominator, from_f64, quotient_at_most, quotient_to_f64, scaled, to_f64};
use crate::relabeling::RelabelingCounts;

/// Table updates an exact computation may take before another algorithm is chosen.
const EXACT_BUDGET: u128 = 200_000_000;
/// Largest number of moved units whose 2^moved patterns are counted in a `u128`, with one bit to spare.
const LARGEST_COUNTED: usize = 126;
/// Largest number of moved units for two sorted halves (2^20 sums each).
const LARGEST_HALVED: usize = 40;

/// The sign of the sum of the deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The sum is positive: better with the skill.
    Better,
    /// The sum is negative: worse with the skill.
    Worse,
    /// The sum is exactly zero.
    Neither,
}

/// Which algorithm produced the p-values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignFlipMethod {
    /// No unit moved; every p is 1 by rule.
    NothingMoved,
    /// All sign patterns were counted, sum by sum.
    ExactCounts,
    /// All sign patterns were counted from two sorted halves.
    MeetInTheMiddle,
    /// The law of the sum was computed in `f64`; relative error about 1e-13.
    ProbabilityMass,
    /// The tail was summed from the characteristic function in `f64`; relative error about 1e-11.
    CharacteristicFunction,
    /// Upper bound from a rounded lattice.
    RoundedLattice,
    /// Upper bound from Hoeffding's inequality.
    HoeffdingBound,
}

impl SignFlipMethod {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NothingMoved => "nothing-moved",
            Self::ExactCounts => "exact-counts",
            Self::MeetInTheMiddle => "meet-in-the-middle",
            Self::ProbabilityMass => "probability-mass",
            Self::CharacteristicFunction => "characteristic-function",
            Self::RoundedLattice => "rounded-lattice",
            Self::HoeffdingBound => "hoeffding-bound",
        }
    }
}

/// The result of the sign-flip test. Probabilities are in 0..=1.
#[derive(Debug, Clone, PartialEq)]
pub struct SignFlip {
    /// Units with a delta.
    pub n: usize,
    /// Units whose delta is not zero.
    pub moved: usize,
    /// Units with a positive delta.
    pub improved: usize,
    /// Units with a negative delta.
    pub regressed: usize,
    /// The sign of the sum of the deltas.
    pub direction: Direction,
    /// The mean delta, exact; `None` without units.
    pub estimate: Option<Rational>,
    /// Chance of a mean at least as far from 0; 1 when nothing moved.
    pub p_two_sided: f64,
    /// Chance of a mean at least as large (alternative: the skill helps).
    pub p_greater: f64,
    /// Chance of a mean at least as small (alternative: the skill harms).
    pub p_less: f64,
    /// Two-sided mid-p: ties count half (Lancaster 1961 *JASA* 56:223). Equal to the p when that is a bound.
    pub mid_p: f64,
    /// One-sided mid-p, alternative: the skill helps.
    pub mid_p_greater: f64,
    /// One-sided mid-p, alternative: the skill harms.
    pub mid_p_less: f64,
    /// The smallest two-sided p that this many moved units can give: min(1, 2 / 2^moved).
    pub floor: f64,
    /// The smallest one-sided p that this many moved units can give: 1 / 2^moved.
    pub floor_one_sided: f64,
    /// The p-values are upper bounds, not exact values.
    pub p_is_bound: bool,
    /// The algorithm used.
    pub method: SignFlipMethod,
    /// The sign patterns of the moved units behind the p-values, where the algorithm counts them.
    pub counts: Option<RelabelingCounts>,
}

impl SignFlip {
    /// Whether the two-sided p is at most `alpha`; compared as rationals where exact counts exist.
    #[must_use]
    pub fn at_most(&self, alpha: &Rational) -> bool {
        let hits = self.counts.as_ref().map(|counts| &counts.two_sided);
        self.share_at_most(hits, self.p_two_sided, alpha)
    }

    /// Whether the one-sided p for "the skill helps" is at most `alpha`.
    #[must_use]
    pub fn greater_at_most(&self, alpha: &Rational) -> bool {
        self.share_at_most(self.counts.as_ref().map(|counts| &counts.greater), self.p_greater, alpha)
    }

    /// Whether the one-sided p for "the skill harms" is at most `alpha`.
    #[must_use]
    pub fn less_at_most(&self, alpha: &Rational) -> bool {
        self.share_at_most(self.counts.as_ref().map(|counts| &counts.less), self.p_less, alpha)
    }

    /// The mean delta as the nearest `f64`; `None` without units.
    #[must_use]
    pub fn estimate_f64(&self) -> Option<f64> {
        self.estimate.as_ref().map(to_f64)
    }

    /// Units whose delta is exactly zero.
    #[must_use]
    pub const fn unchanged(&self) -> usize {
        self.n - self.moved
    }

    fn share_at_most(&self, hits: Option<&BigUint>, p: f64, alpha: &Rational) -> bool {
        match (hits, &self.counts) {
            (Some(hits), Some(counts)) => quotient_at_most(hits, &counts.total, alpha),
            _ => from_f64(p).is_some_and(|p| p <= *alpha),
        }
    }
}

/// Tests whether the deltas, one per unit, are symmetric about 0. Never fails; see [`SignFlip::p_is_bound`].
#[must_use]
pub fn sign_flip(deltas: &[Rational]) -> SignFlip {
    let problem = Problem::new(deltas);
    let solution = problem.solve();
    let moved = problem.moved;
    let halvings = i32::try_from(moved).unwrap_or(i32::MAX);
    let mut result = SignFlip {
        n: deltas.len(),
        moved,
        improved: problem.improved,
        regressed: moved - problem.improved,
        direction: problem.direction(),
        estimate: problem.estimate(deltas.len()),
        p_two_sided: 1.0,
        p_greater: 1.0,
        p_less: 1.0,
        mid_p: 1.0,
        mid_p_greater: 1.0,
        mid_p_less: 1.0,
        floor: (2.0 * 0.5_f64.powi(halvings)).min(1.0),
        floor_one_sided: 0.5_f64.powi(halvings),
        p_is_bound: false,
        method: SignFlipMethod::NothingMoved,
        counts: None,
    };
    match solution {
        Solution::NothingMoved => {
            let one = BigUint::one();
            result.counts = Some(RelabelingCounts {
                total: one.clone(),
                two_sided: one.clone(),
                two_sided_strict: BigUint::zero(),
                greater: one.clone(),
                less: one.clone(),
                equal: one,
            });
        }
        Solution::Counted(tail, method) => result.set_counts(tail, method),
        Solution::Mass(tail, method) => result.set_mass(tail, method),
        Solution::Bound { toward, against, method } => result.set_bound(toward, against, method),
    }
    result
}

/// The tail of the law of the sum on the observed side: at or beyond the observed sum, and exactly at it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tail<T> {
    at_or_beyond: T,
    equal: T,
}

enum Solution {
    NothingMoved,
    Counted(Tail<u128>, SignFlipMethod),
    Mass(Tail<f64>, SignFlipMethod),
    /// Upper bounds of the one-sided p in the observed direction and against it.
    Bound {
        toward: f64,
        against: f64,
        method: SignFlipMethod,
    },
}

impl SignFlip {
    fn set_counts(&mut self, tail: Tail<u128>, method: SignFlipMethod) {
        let total = BigUint::one() << self.moved;
        let toward = BigUint::from(tail.at_or_beyond);
        let equal = BigUint::from(tail.equal);
        let against = &total + &equal - &toward;
        let (two_sided, two_sided_strict) = match self.direction {
            Direction::Neither => (total.clone(), &total - &equal),
            _ => (&toward * 2_u32, (&toward - &equal) * 2_u32),
        };
        let (greater, less) = match self.direction {
            Direction::Worse => (against, toward),
            _ => (toward, against),
        };
        let doubled = &total * 2_u32;
        self.p_two_sided = quotient_to_f64(&two_sided, &total);
        self.p_greater = quotient_to_f64(&greater, &total);
        self.p_less = quotient_to_f64(&less, &total);
        self.mid_p = quotient_to_f64(&(&two_sided + &two_sided_strict), &doubled);
        self.mid_p_greater = quotient_to_f64(&(&greater * 2_u32 - &equal), &doubled);
        self.mid_p_less = quotient_to_f64(&(&less * 2_u32 - &equal), &doubled);
        self.method = method;
        self.counts = Some(RelabelingCounts { total, two_sided, two_sided_strict, greater, less, equal });
    }

    fn set_mass(&mut self, tail: Tail<f64>, method: SignFlipMethod) {
        let Tail { at_or_beyond: toward, equal } = tail;
        let against = 1.0 - (toward - equal);
        (self.p_two_sided, self.mid_p) = match self.direction {
            Direction::Neither => (1.0, 1.0 - equal / 2.0),
            _ => ((2.0 * toward).min(1.0), 2.0 * toward - equal),
        };
        let (greater, less) = match self.direction {
            Direction::Worse => (against, toward),
            _ => (toward, against),
        };
        (self.p_greater, self.p_less) = (greater, less);
        (self.mid_p_greater, self.mid_p_less) = (greater - equal / 2.0, less - equal / 2.0);
        self.method = method;
    }

    fn set_bound(&mut self, toward: f64, against: f64, method: SignFlipMethod) {
        let two_sided = (2.0 * toward).min(1.0).max(self.floor);
        let toward = toward.max(self.floor_one_sided);
        let (greater, less) = match self.direction {
            Direction::Better => (toward, against),
            Direction::Worse => (against, toward),
            Direction::Neither => (1.0, 1.0),
        };
        self.p_two_sided = if self.direction == Direction::Neither { 1.0 } else { two_sided };
        (self.p_greater, self.p_less) = (greater, less);
        (self.mid_p, self.mid_p_greater, self.mid_p_less) = (self.p_two_sided, greater, less);
        self.p_is_bound = true;
        self.method = method;
    }
}

/// The deltas that moved, as positive integers on the coarsest lattice that holds them all.
struct Problem {
    /// Distinct magnitudes, ascending, with how often each occurs.
    magnitudes: Vec<(BigUint, usize)>,
    moved: usize,
    improved: usize,
    /// Sum of the magnitudes of positive deltas.
    gained: BigUint,
    /// Sum of the magnitudes of negative deltas.
    lost: BigUint,
    /// Size of one lattice step.
    step: Rational,
}

impl Problem {
    fn new(deltas: &[Rational]) -> Self {
        let denominator = common_denominator(deltas);
        let moved: Vec<BigInt> =
            deltas.iter().filter(|delta| !delta.is_zero()).map(|delta| scaled(delta, &denominator)).collect();
        let divisor = moved.iter().fold(BigInt::zero(), |divisor, value| divisor.gcd(value));
        let mut problem = Self {
            magnitudes: Vec::new(),
            moved: moved.len(),
            improved: 0,
            gained: BigUint::zero(),
            lost: BigUint::zero(),
            step: Rational::new(divisor.clone(), denominator),
        };
        let mut magnitudes: BTreeMap<BigUint, usize> = BTreeMap::new();
        for value in moved {
            let magnitude =
                if divisor.is_one() { value.magnitude().clone() } else { value.magnitude() / divisor.magnitude() };
            if value.is_positive() {
                problem.improved += 1;
                problem.gained += &magnitude;
            } else {
                problem.lost += &magnitude;
            }
            *magnitudes.entry(magnitude).or_default() += 1;
        }
        problem.magnitudes = magnitudes.into_iter().collect();
        problem
    }

    fn direction(&self) -> Direction {
        match self.gained.cmp(&self.lost) {
            std::cmp::Ordering::Greater => Direction::Better,
            std::cmp::Ordering::Less => Direction::Worse,
            std::cmp::Ordering::Equal => Direction::Neither,
        }
    }

    fn estimate(&self, n: usize) -> Option<Rational> {
        let total = BigInt::from(self.gained.clone()) - BigInt::from(self.lost.clone());
        (n > 0).then(|| &self.step * total / BigInt::from(n))
    }

    fn solve(&self) -> Solution {
        if self.moved == 0 {
            return Solution::NothingMoved;
        }
        // A pattern is the set of units that keep a plus; by symmetry only sets up to the smaller side are needed.
        let target = (&self.gained).min(&self.lost);
        let small = self.small_magnitudes();
        if self.moved <= LARGEST_COUNTED
            && let (Some(magnitudes), Some(target)) = (&small, target.to_usize())
        {
            let updates = self.moved as u128 * (target as u128 + 1);
            let halves_are_cheaper = self.moved <= LARGEST_HALVED && 1_u128 << (self.moved / 2 + 2) < updates;
            if updates <= EXACT_BUDGET && !halves_are_cheaper {
                return Solution::Counted(counts::by_sum(magnitudes, target), SignFlipMethod::ExactCounts);
            }
        }
        if self.moved <= LARGEST_HALVED {
            return Solution::Counted(self.halves(target), SignFlipMethod::MeetInTheMiddle);
        }
        let observed = if self.gained > self.lost { &self.gained - &self.lost } else { &self.lost - &self.gained };
        if let (Some(magnitudes), Some(observed)) = (&small, observed.to_i64()) {
            match mass::lattice_tail(magnitudes, observed) {
                LatticeTail::Found(tail) => return Solution::Mass(tail, SignFlipMethod::ProbabilityMass),
                LatticeTail::TooSmall => return self.hoeffding(),
                LatticeTail::TooLarge => {
                    if let Some(tail) = tilted::lattice_tail(magnitudes, observed) {
                        return Solution::Mass(tail, SignFlipMethod::CharacteristicFunction);
                    }
                }
            }
        }
        self.rounded(&observed)
    }

    /// The magnitudes as machine integers, when their sum is one too.
    fn small_magnitudes(&self) -> Option<Vec<(u64, usize)>> {
        let total = (&self.gained + &self.lost).to_u64()?;
        if total > u64::MAX / 4 {
            return None;
        }
        self.magnitudes.iter().map(|(magnitude, count)| Some((magnitude.to_u64()?, *count))).collect()
    }

    fn halves(&self, target: &BigUint) -> Tail<u128> {
        let listed = || self.magnitudes.iter().flat_map(|(magnitude, count)| std::iter::repeat_n(magnitude, *count));
        let machine: Option<Vec<u128>> =
            (&self.gained + &self.lost).to_u128().and_then(|_| listed().map(ToPrimitive::to_u128).collect());
        match (machine, target.to_u128()) {
            (Some(magnitudes), Some(target)) => counts::by_halves(&magnitudes, &target),
            _ => counts::by_halves(&listed().cloned().collect::<Vec<_>>(), target),
        }
    }

    /// Relative magnitudes as floats: each divided by the largest.
    fn float_magnitudes(&self) -> Vec<(f64, usize)> {
        let Some((largest, _)) = self.magnitudes.last() else {
            return Vec::new();
        };
        self.magnitudes.iter().map(|(magnitude, count)| (quotient_to_f64(magnitude, largest), *count)).collect()
    }

    fn relative(&self, value: &BigUint) -> f64 {
        self.magnitudes.last().map_or(0.0, |(largest, _)| quotient_to_f64(value, largest))
    }

    fn hoeffding(&self) -> Solution {
        let observed = if self.gained > self.lost { &self.gained - &self.lost } else { &self.lost - &self.gained };
        let toward = mass::hoeffding(&self.float_magnitudes(), self.relative(&observed));
        Solution::Bound { toward, against: 1.0, method: SignFlipMethod::HoeffdingBound }
    }

    fn rounded(&self, observed: &BigUint) -> Solution {
        let (toward, against) = mass::rounded_bounds(&self.float_magnitudes(), self.relative(observed));
        let hoeffding = mass::hoeffding(&self.float_magnitudes(), self.relative(observed));
        if hoeffding < toward {
            return Solution::Bound { toward: hoeffding, against, method: SignFlipMethod::HoeffdingBound };
        }
        Solution::Bound { toward, against, method: SignFlipMethod::RoundedLattice }
    }
}
