//! One pair of runs per unit, passed or failed: limits for the difference of the two pass rates, and McNemar's test.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use crate::gain::ArmRates;
use crate::normal::normal_critical;
use crate::proportion::wilson;
use crate::rational::{Rational, quotient_to_f64};
use crate::special::{beta_tails, binomial_chance};
use crate::withheld::Withheld;

/// Word updates that the exact test may take.
const UPDATE_BUDGET: u128 = 20_000_000;
/// Most units of a table: counts up to here are exact as `f64` and the incomplete beta function still settles.
const MOST_UNITS: u64 = 100_000_000;

/// How many units passed and failed in the two arms. There is at least one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairedTable {
    both_pass: u64,
    with_only: u64,
    without_only: u64,
    both_fail: u64,
}

/// Two-sided limits of the difference of two rates, with minus without, in −1..=1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DifferenceInterval {
    /// Lower limit.
    pub lower: f64,
    /// Upper limit.
    pub upper: f64,
}

/// McNemar's test of the units that passed in one arm only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    /// Exact two-sided p (McNemar 1947 *Psychometrika* 12:153); 1 without such units. The sign-flip test of the deltas
    /// gives the same.
    pub p_two_sided: f64,
    /// Two-sided mid-p (Fagerland, Lydersen & Laake 2013 *BMC Med. Res. Methodol.* 13:91).
    pub mid_p: f64,
    /// One-sided p, alternative: the skill helps.
    pub p_greater: f64,
}

impl PairedTable {
    /// A table from its four counts: passed in both arms, only with the skill, only without it, in neither.
    ///
    /// # Errors
    ///
    /// [`Withheld::NoEligiblePairs`] without units, [`Withheld::InvalidCounts`] for more than 100 million.
    pub fn new(both_pass: u64, with_only: u64, without_only: u64, both_fail: u64) -> Result<Self, Withheld> {
        let counts = [both_pass, with_only, without_only, both_fail];
        match counts.into_iter().try_fold(0_u64, u64::checked_add) {
            Some(0) => Err(Withheld::NoEligiblePairs),
            Some(units) if units <= MOST_UNITS => Ok(Self { both_pass, with_only, without_only, both_fail }),
            _ => Err(Withheld::InvalidCounts),
        }
    }

    /// Counts the units whose rates are 0 or 1 in both arms.
    ///
    /// # Errors
    ///
    /// [`Withheld::NoEligiblePairs`] without units, [`Withheld::NonBinaryDeltas`] when a rate is neither 0 nor 1.
    pub fn from_rates(units: &[ArmRates]) -> Result<Self, Withheld> {
        let mut counts = [[0_u64; 2]; 2];
        for unit in units {
            let place = |rate: &Rational| match (rate.is_one(), rate.is_zero()) {
                (true, _) => Ok(1),
                (_, true) => Ok(0),
                _ => Err(Withheld::NonBinaryDeltas),
            };
            counts[place(&unit.with)?][place(&unit.without)?] += 1;
        }
        let [[both_fail, without_only], [with_only, both_pass]] = counts;
        Self::new(both_pass, with_only, without_only, both_fail)
    }

    /// Units.
    #[must_use]
    pub const fn n(&self) -> u64 {
        self.both_pass + self.with_only + self.without_only + self.both_fail
    }

    /// The rate with the skill minus the rate without it.
    #[must_use]
    pub fn difference(&self) -> Rational {
        let gain = i128::from(self.with_only) - i128::from(self.without_only);
        Rational::new(gain.into(), self.n().into())
    }

    /// The correlation of the two arms with Newcombe's continuity correction; 0 when an arm passed or failed everything.
    #[must_use]
    pub fn corrected_correlation(&self) -> f64 {
        let [a, b, c, d] =
            [self.both_pass, self.with_only, self.without_only, self.both_fail].map(|count| count as f64);
        let margins = [a + b, c + d, a + c, b + d];
        if margins.contains(&0.0) {
            return 0.0;
        }
        // At most 10^16, hence exact; the determinant of whole numbers may be too large by the correction only if positive.
        let determinant = a * d - b * c;
        let corrected = if determinant > 0.0 { (determinant - (a + b + c + d) / 2.0).max(0.0) } else { determinant };
        corrected / margins.map(f64::sqrt).into_iter().product::<f64>()
    }

    /// Newcombe's limits: Wilson's of both arms, joined with their correlation (Newcombe 1998 *Stat. Med.* 17:2635, method
    /// 10), at two-sided error rate `alpha` (0 < alpha < 1).
    #[must_use]
    pub fn newcombe(&self, alpha: f64) -> DifferenceInterval {
        let with = Distances::new(self.both_pass + self.with_only, self.n(), alpha);
        let without = Distances::new(self.both_pass + self.without_only, self.n(), alpha);
        with.minus(&without, self.corrected_correlation())
    }

    /// Tango's score limits (Tango 1998 *Stat. Med.* 17:891), the ones to report, at two-sided error rate `alpha`
    /// (0 < alpha < 1).
    #[must_use]
    pub fn tango(&self, alpha: f64) -> DifferenceInterval {
        let critical = normal_critical(alpha / 2.0);
        let upper = |gained: u64, lost: u64| {
            Score { gained: gained as f64, lost: lost as f64, n: self.n() as f64 }.upper(critical)
        };
        DifferenceInterval {
            lower: -upper(self.without_only, self.with_only),
            upper: upper(self.with_only, self.without_only),
        }
    }

    /// Wald's limits after adding one unit to either kind of change (Bonett & Price 2012 *J. Educ. Behav. Stat.* 37:479), at
    /// two-sided error rate `alpha` (0 < alpha < 1).
    #[must_use]
    pub fn bonett_price(&self, alpha: f64) -> DifferenceInterval {
        let n = (self.n() + 2) as f64;
        let (gained, lost) = ((self.with_only + 1) as f64 / n, (self.without_only + 1) as f64 / n);
        let center = gained - lost;
        let half_width = normal_critical(alpha / 2.0) * ((gained + lost - center * center) / n).sqrt();
        DifferenceInterval { lower: (center - half_width).max(-1.0), upper: (center + half_width).min(1.0) }
    }

    /// McNemar's test: exact counts up to about 50 000 changed units, beyond that the incomplete beta function.
    #[must_use]
    pub fn mcnemar(&self) -> McNemar {
        let changed = self.with_only + self.without_only;
        if changed == 0 {
            return McNemar { p_two_sided: 1.0, mid_p: 1.0, p_greater: 1.0 };
        }
        let fewer = self.with_only.min(self.without_only);
        let tail = Tail::new(fewer, changed);
        let p_two_sided = (2.0 * tail.up_to).min(1.0);
        let balanced = self.with_only == self.without_only;
        McNemar {
            p_two_sided,
            // In balance both tails hold the same count, so half of its chance belongs to neither.
            mid_p: if balanced { 1.0 - tail.exactly / 2.0 } else { 2.0 * tail.below_and_half },
            p_greater: if balanced || self.with_only > self.without_only { tail.up_to } else { tail.from },
        }
    }
}

/// Chances of a count of heads in fair tosses, each rounded once within the exact budget.
struct Tail {
    /// At most this count.
    up_to: f64,
    /// Fewer, and half of exactly this count.
    below_and_half: f64,
    exactly: f64,
    /// At least this count.
    from: f64,
}

impl Tail {
    /// There is a toss, and at most half of the tosses are counted.
    fn new(count: u64, tosses: u64) -> Self {
        if u128::from(count + 1) * u128::from(tosses / 64 + 1) > UPDATE_BUDGET {
            // P(X ≤ count) = I_½(tosses − count, count + 1)
            let up_to = beta_tails((tosses - count) as f64, (count + 1) as f64, 0.5, 0.5).lower;
            let exactly = binomial_chance(count as usize, tosses as usize, 0.5);
            return Self { up_to, below_and_half: up_to - exactly / 2.0, exactly, from: 1.0 - (up_to - exactly) };
        }
        let total = BigUint::one() << tosses;
        let (mut ways, mut up_to) = (BigUint::one(), BigUint::one());
        for heads in 1..=count {
            ways *= tosses - heads + 1;
            ways /= heads;
            up_to += &ways;
        }
        let twice = &up_to * 2_u32 - &ways;
        Self {
            up_to: quotient_to_f64(&up_to, &total),
            below_and_half: quotient_to_f64(&twice, &(&total * 2_u32)),
            exactly: quotient_to_f64(&ways, &total),
            from: quotient_to_f64(&(&total - &up_to + &ways), &total),
        }
    }
}

/// A rate and how far Wilson's limits lie from it.
pub(crate) struct Distances {
    rate: f64,
    below: f64,
    above: f64,
}

impl Distances {
    /// There is a trial, and no more are counted than there are.
    pub(crate) fn new(counted: u64, trials: u64, alpha: f64) -> Self {
        let rate = counted as f64 / trials as f64;
        // Without limits the rate could be anything.
        let (lower, upper) = wilson(counted, trials, alpha).map_or((0.0, 1.0), |limits| (limits.lower, limits.upper));
        Self { rate, below: rate - lower, above: upper - rate }
    }

    /// Newcombe's limits of this rate minus another one with which it has this correlation.
    pub(crate) fn minus(&self, other: &Self, correlation: f64) -> DifferenceInterval {
        let difference = self.rate - other.rate;
        let joined =
            |one: f64, other: f64| (one * one - 2.0 * correlation * one * other + other * other).max(0.0).sqrt();
        DifferenceInterval {
            lower: (difference - joined(self.below, other.above)).max(-1.0),
            upper: (difference + joined(self.above, other.below)).min(1.0),
        }
    }
}

/// Tango's score test of a difference.
struct Score {
    gained: f64,
    lost: f64,
    n: f64,
}

impl Score {
    /// The largest difference that is not rejected: the score falls with the difference, so bisection finds it.
    fn upper(&self, critical: f64) -> f64 {
        let (mut low, mut high) = ((self.gained - self.lost) / self.n, 1.0);
        if self.accepts(high, critical) {
            return high;
        }
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                return low;
            }
            if self.accepts(middle, critical) { low = middle } else { high = middle }
        }
    }

    /// Whether a difference at or above the observed one is within reach: (gained − lost − n·Δ)² against z² times its
    /// variance n·(2q + Δ(1 − Δ)), where q is the most likely share of units lost when Δ is the true difference.
    fn accepts(&self, difference: f64, critical: f64) -> bool {
        // Mirrored so that the difference is not negative; then no digits cancel in the root.
        let (gained, lost) = if difference < 0.0 { (self.lost, self.gained) } else { (self.gained, self.lost) };
        let size = difference.abs();
        let product = size * (1.0 - size);
        let linear = (2.0 * self.n - gained + lost) * size - gained - lost;
        let root = (linear * linear + 8.0 * self.n * lost * product).sqrt();
        let share =
            if linear <= 0.0 { (root - linear) / (4.0 * self.n) } else { 2.0 * lost * product / (linear + root) };
        let distance = gained - lost - self.n * size;
        distance * distance <= critical * critical * self.n * (2.0 * share + product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn what_is_no_table_is_withheld() {
        assert_eq!(PairedTable::new(0, 0, 0, 0), Err(Withheld::NoEligiblePairs));
        assert_eq!(PairedTable::new(u64::MAX, 1, 0, 0), Err(Withheld::InvalidCounts));
        let unit = |with, without| ArmRates { with, without };
        assert_eq!(PairedTable::from_rates(&[unit(rate(1, 2), rate(0, 1))]), Err(Withheld::NonBinaryDeltas));
        assert_eq!(PairedTable::from_rates(&[]), Err(Withheld::NoEligiblePairs));
        let pairs = [unit(rate(1, 1), rate(0, 1)), unit(rate(1, 1), rate(1, 1)), unit(rate(0, 1), rate(0, 1))];
        assert_eq!(PairedTable::from_rates(&pairs), PairedTable::new(1, 1, 0, 1));
    }

    /// `PropCIs::scoreci.mp(25, 28, 618)` at 90 %, and the table 1, 1, 7, 12 at 95 %, as printed by that package.
    #[test]
    fn published_values_of_tangos_limits() {
        let limits = PairedTable::new(0, 25, 28, 565).unwrap().tango(0.1);
        // The first package takes the other difference.
        assert!((-limits.upper + 0.0148).abs() < 5e-5 && (-limits.lower - 0.0247).abs() < 5e-5, "{limits:?}");
        let limits = PairedTable::new(1, 1, 7, 12).unwrap().tango(0.05);
        assert!((limits.lower + 0.517).abs() < 5e-4 && (limits.upper + 0.026).abs() < 5e-4, "{limits:?}");
    }

    #[test]
    fn counted_and_computed_tails_agree() {
        let (count, tosses) = (4_900, 10_000);
        let exact = Tail::new(count, tosses);
        let up_to = beta_tails((tosses - count) as f64, (count + 1) as f64, 0.5, 0.5).lower;
        assert!((up_to / exact.up_to - 1.0).abs() < 1e-12);
        // 10^7 changed units, one more on one side: p = 1 − P(X = half) ≈ 1 − √(2/(π·10^7)).
        let table = PairedTable::new(0, 5_000_000, 5_000_001, 0).unwrap().mcnemar();
        assert!(table.p_two_sided > 0.999_99 && table.mid_p < table.p_two_sided);
    }
}
