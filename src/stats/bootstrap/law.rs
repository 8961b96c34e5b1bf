//! The law of the sum of n draws with replacement from n values, counted.

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use crate::rational::{Rational, common_denominator, scaled};
use crate::withheld::Withheld;

/// 64-bit words that the counts may take.
const WORD_BUDGET: u128 = 20_000_000;
/// Word updates that the computation may take.
const UPDATE_BUDGET: u128 = 200_000_000;

/// The values as steps above the smallest: value = lowest + step · height. Sums count from n times the smallest.
pub(super) struct Lattice {
    n: u64,
    lowest: Rational,
    step: Rational,
    /// How often each height occurs.
    heights: BTreeMap<u64, u64>,
}

impl Lattice {
    /// `None` when heights or their sum exceed a machine integer.
    pub(super) fn new(values: &[Rational]) -> Option<Self> {
        let n = u64::try_from(values.len()).ok()?;
        let denominator = common_denominator(values);
        let scaled: Vec<BigInt> = values.iter().map(|value| scaled(value, &denominator)).collect();
        let lowest = scaled.iter().min()?.clone();
        let above: Vec<BigInt> = scaled.into_iter().map(|value| value - &lowest).collect();
        let divisor = above.iter().fold(BigInt::zero(), |divisor, value| divisor.gcd(value));
        let divisor = if divisor.is_zero() { BigInt::one() } else { divisor };
        let mut heights: BTreeMap<u64, u64> = BTreeMap::new();
        for value in above {
            let height = (value / &divisor).to_u64()?;
            height.checked_mul(n)?;
            *heights.entry(height).or_default() += 1;
        }
        Some(Self {
            n,
            lowest: Rational::new(lowest, denominator.clone()),
            step: Rational::new(divisor, denominator),
            heights,
        })
    }

    pub(super) fn is_one_point(&self) -> bool {
        self.heights.len() == 1
    }

    fn highest(&self) -> u64 {
        self.heights.keys().next_back().copied().unwrap_or(0)
    }

    /// The mean of draws with this sum of heights.
    pub(super) fn mean_at(&self, sum: usize) -> Rational {
        &self.lowest + &self.step * Rational::new(sum.into(), self.n.into())
    }
}

/// How many of the nⁿ sequences of draws have each sum of heights.
pub(super) struct Law {
    counts: Vec<BigUint>,
    total: BigUint,
    observed: usize,
}

impl Law {
    /// Powers of a polynomial obey a recurrence with few terms (Euler; Knuth, *TAOCP* 2, 4.7): with p_h values of height h
    /// and q_s ways to the sum s, s·p_0·q_s = Σ_h (h·(n + 1) − s)·p_h·q_{s−h}.
    pub(super) fn new(lattice: &Lattice) -> Result<Self, Withheld> {
        let n = lattice.n;
        let sums = lattice.highest().checked_mul(n).ok_or(Withheld::BeyondExactBudget)?;
        let bits = u128::from(n) * u128::from(n.ilog2() + 1);
        let words = u128::from(sums).saturating_mul(bits / 64 + 1);
        // Every term is a product and a sum, every sum a division.
        let updates = words.saturating_mul(lattice.heights.len() as u128 + 2);
        if words > WORD_BUDGET || updates > UPDATE_BUDGET {
            return Err(Withheld::BeyondExactBudget);
        }
        let mut heights = lattice.heights.iter().map(|(&height, &values)| (height, values));
        let (_, at_lowest) = heights.next().ok_or(Withheld::BeyondExactBudget)?;
        let others: Vec<(u64, u64)> = heights.collect();
        let mut counts = Vec::with_capacity(sums as usize + 1);
        counts.push(BigUint::from(at_lowest).pow(n as u32));
        for sum in 1..=sums {
            let (mut plus, mut minus) = (BigUint::zero(), BigUint::zero());
            for &(height, values) in others.iter().take_while(|&&(height, _)| height <= sum) {
                let way = height * (n + 1);
                let ways: &BigUint = &counts[(sum - height) as usize];
                if way >= sum {
                    plus += ways * (u128::from(way - sum) * u128::from(values));
                } else {
                    minus += ways * (u128::from(sum - way) * u128::from(values));
                }
            }
            counts.push((plus - minus) / (u128::from(sum) * u128::from(at_lowest)));
        }
        let observed: u64 = lattice.heights.iter().map(|(height, values)| height * values).sum();
        Ok(Self { counts, total: BigUint::from(n).pow(n as u32), observed: observed as usize })
    }

    pub(super) const fn total(&self) -> &BigUint {
        &self.total
    }

    /// The ways to a smaller sum than the one of the values themselves, and to the same sum.
    pub(super) fn around_observed(&self) -> (BigUint, BigUint) {
        (self.counts[..self.observed].iter().sum(), self.counts[self.observed].clone())
    }

    /// The smallest possible sum that, with all smaller ones, has at least this chance.
    pub(super) fn smallest_reaching(&self, chance: &Rational) -> usize {
        self.reaching(chance, &mut self.counts.iter().enumerate())
    }

    /// The largest possible sum that, with all larger ones, has at least this chance.
    pub(super) fn largest_reaching(&self, chance: &Rational) -> usize {
        self.reaching(chance, &mut self.counts.iter().enumerate().rev())
    }

    fn reaching(&self, chance: &Rational, sums: &mut dyn Iterator<Item = (usize, &BigUint)>) -> usize {
        let needed = (chance * BigInt::from(self.total.clone())).ceil().to_integer().into_parts().1;
        let mut reached = BigUint::zero();
        let mut last = 0;
        for (sum, ways) in sums.filter(|(_, ways)| !ways.is_zero()) {
            reached += ways;
            last = sum;
            if reached >= needed {
                break;
            }
        }
        last
    }
}
