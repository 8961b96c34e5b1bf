//! The means of all nonempty subsets of the units, by rank.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};

use crate::rational::{Rational, common_denominator, scaled};
use crate::withheld::Withheld;

/// 64-bit words that a table may take.
const WORD_BUDGET: u128 = 20_000_000;
/// Word updates that a table may take.
const UPDATE_BUDGET: u128 = 200_000_000;
/// Largest number of units whose subsets are listed one by one.
const LARGEST_LISTED: usize = 20;
/// What a listed subset costs beside a word update: it is built, and then compared twice on the way to each rank.
const COST_OF_A_LISTED_SUBSET: u128 = 10;

/// Withholds what no table could hold, before anything is computed: every pair of a unit and a size is updated.
pub(super) fn within_reach(n: usize) -> Result<(), Withheld> {
    let n = n as u128;
    if n * n / 2 * words(n) > UPDATE_BUDGET { Err(Withheld::BeyondExactBudget) } else { Ok(()) }
}

/// Words of a count of up to 2^n subsets.
const fn words(n: u128) -> u128 {
    n / 64 + 1
}

/// The deltas as steps above the smallest one, ascending: delta = lowest + step · height.
pub(super) struct Heights {
    lowest: Rational,
    step: Rational,
    heights: Vec<u128>,
}

impl Heights {
    /// `None` when four times the sum of the heights, times their number, does not fit a machine integer; what is computed
    /// with them does otherwise. There is a delta.
    pub(super) fn new(deltas: &[Rational]) -> Option<Self> {
        let denominator = common_denominator(deltas);
        let scaled: Vec<BigInt> = deltas.iter().map(|delta| scaled(delta, &denominator)).collect();
        let lowest = scaled.iter().min()?.clone();
        let above: Vec<BigInt> = scaled.into_iter().map(|value| value - &lowest).collect();
        let divisor = above.iter().fold(BigInt::zero(), |divisor, value| divisor.gcd(value));
        let divisor = if divisor.is_zero() { BigInt::from(1) } else { divisor };
        let mut heights: Vec<u128> =
            above.into_iter().map(|value| (value / &divisor).to_u128()).collect::<Option<_>>()?;
        heights.sort_unstable();
        let sum = heights.iter().try_fold(0_u128, |sum, &height| sum.checked_add(height))?;
        sum.checked_mul(4 * heights.len() as u128)?;
        Some(Self {
            lowest: Rational::new(lowest, denominator.clone()),
            step: Rational::new(divisor, denominator),
            heights,
        })
    }

    /// The mean delta of a subset.
    pub(super) fn mean(&self, subset: &Subset) -> Rational {
        &self.lowest + &self.step * Rational::new(subset.sum.into(), subset.size.into())
    }
}

/// What is known of a subset of units: its size, at least 1, and the sum of its heights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subset {
    sum: u128,
    size: u128,
}

/// All nonempty subsets.
pub(super) enum SubsetMeans {
    Counted(Table),
    Listed(Vec<Subset>),
}

impl SubsetMeans {
    /// Takes the cheaper way. At least two heights differ.
    pub(super) fn new(heights: &Heights) -> Result<Self, Withheld> {
        let plan = Plan::new(&heights.heights);
        let n = heights.heights.len();
        if n <= LARGEST_LISTED && plan.updates > COST_OF_A_LISTED_SUBSET << n {
            return Ok(Self::Listed(listed(&heights.heights)));
        }
        if plan.updates > UPDATE_BUDGET || plan.cells > WORD_BUDGET {
            return Err(Withheld::BeyondExactBudget);
        }
        // Within the budget every height is at most the number of cells.
        let heights: Option<Vec<usize>> = heights.heights.iter().map(ToPrimitive::to_usize).collect();
        Ok(Self::Counted(Table::new(&heights.ok_or(Withheld::BeyondExactBudget)?)))
    }

    /// A subset with the `rank`-th smallest mean, counted from 1 to 2^n − 1.
    pub(super) fn ranked(&mut self, rank: &BigUint) -> Subset {
        match self {
            Self::Counted(table) => table.ranked(rank),
            Self::Listed(subsets) => {
                let index = rank.to_usize().unwrap_or(usize::MAX).clamp(1, subsets.len()) - 1;
                *subsets
                    .select_nth_unstable_by(index, |left, right| (left.sum * right.size).cmp(&(right.sum * left.size)))
                    .1
            }
        }
    }
}

fn listed(heights: &[u128]) -> Vec<Subset> {
    let mut subsets = vec![Subset { sum: 0, size: 0 }];
    for height in heights {
        for index in 0..subsets.len() {
            let Subset { sum, size } = subsets[index];
            subsets.push(Subset { sum: sum + height, size: size + 1 });
        }
    }
    subsets.swap_remove(0);
    subsets
}

/// Words and word updates of a table, known before it is made.
struct Plan {
    cells: u128,
    updates: u128,
}

impl Plan {
    fn new(heights: &[u128]) -> Self {
        let n = heights.len() as u128;
        // Sums of the heights up to a unit, and the sum of those sums.
        let (mut sum, mut sums) = (0_u128, 0_u128);
        let mut updates = 0_u128;
        for (&height, unit) in heights.iter().zip(1_u128..) {
            // Over the sizes m: the widths (sum of the m largest before) − (sum of the m smallest) + 1.
            updates = updates.saturating_add(width(unit, sum, sums));
            sum += height;
            sums += sum;
        }
        let cells = width(n + 1, sum, sums).saturating_mul(words(n));
        Self { cells, updates: updates.saturating_mul(words(n)) }
    }
}

/// Σ over m of (P(k) − P(k−m) − P(m) + 1) for m from 0 to k = `unit` − 1, where P(k) = `sum` and Σ P = `sums`.
const fn width(unit: u128, sum: u128, sums: u128) -> u128 {
    unit * sum + unit - 2 * sums
}

/// For every size, how many subsets have a sum of heights of at most so much. Counts take a fixed number of words.
pub(super) struct Table {
    /// The number of units.
    n: usize,
    /// Words of a count, the lowest first.
    words: usize,
    /// The smallest sum of each size.
    smallest: Vec<usize>,
    /// Where the counts of each size begin, in cells; the end of the last one too.
    rows: Vec<usize>,
    cells: Vec<u64>,
}

impl Table {
    /// The heights ascend.
    fn new(heights: &[usize]) -> Self {
        let n = heights.len();
        // Heights ascend, so these are the smallest sums of each size; the largest are their complements.
        let mut smallest = vec![0_usize];
        for height in heights {
            smallest.push(smallest[smallest.len() - 1] + height);
        }
        let largest = |units: usize, size: usize| smallest[units] - smallest[units - size];
        let mut rows = vec![0_usize];
        for size in 0..=n {
            rows.push(rows[size] + largest(n, size) - smallest[size] + 1);
        }
        let words = n / 64 + 1;
        let mut cells = vec![0_u64; rows[n + 1] * words];
        cells[0] = 1;
        for (units, &height) in heights.iter().enumerate() {
            // `units` units are in the table; this one extends the subsets of every size, the largest first.
            for size in (1..=units + 1).rev() {
                let length = (largest(units, size - 1) - smallest[size - 1] + 1) * words;
                let shift = height + smallest[size - 1] - smallest[size];
                let (shorter, longer) = cells.split_at_mut(rows[size] * words);
                let from = rows[size - 1] * words;
                add_counts(&mut longer[shift * words..][..length], &shorter[from..][..length], words);
            }
        }
        for size in 1..=n {
            let row = &mut cells[rows[size] * words..rows[size + 1] * words];
            for start in (words..row.len()).step_by(words) {
                let (before, here) = row.split_at_mut(start);
                add_count(&mut here[..words], &before[start - words..]);
            }
        }
        Self { n, words, smallest, rows, cells }
    }

    /// Nonempty subsets with a mean height of at most `grid` / n².
    fn at_most(&self, grid: u128) -> BigUint {
        let squared = (self.n * self.n) as u128;
        let mut total = vec![0_u64; self.words];
        for size in 1..=self.n {
            let limit = grid * size as u128 / squared;
            let Some(above) = limit.checked_sub(self.smallest[size] as u128) else { continue };
            let last = self.rows[size + 1] - self.rows[size] - 1;
            let cell = self.rows[size] + usize::try_from(above).unwrap_or(last).min(last);
            add_count(&mut total, &self.cells[cell * self.words..][..self.words]);
        }
        BigUint::from_slice(&total.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]).collect::<Vec<_>>())
    }

    /// Two different means k/m and l/j with m, j ≤ n are at least 1/n² apart, so a step of a grid of that width holds
    /// one of them at most: the step in which the rank is reached names its mean.
    fn ranked(&self, rank: &BigUint) -> Subset {
        let squared = (self.n * self.n) as u128;
        let highest = (self.smallest[self.n] - self.smallest[self.n - 1]) as u128;
        let (mut low, mut high) = (0_u128, highest * squared);
        while low < high {
            let middle = u128::midpoint(low, high);
            if self.at_most(middle) >= *rank { high = middle } else { low = middle + 1 }
        }
        let inside = (1..=self.n as u128).map(|size| Subset { sum: high * size / squared, size });
        let mut inside = inside.filter(|subset| subset.sum * squared + subset.size > high * subset.size);
        // There is one; the grid point itself is the limit to 1/n² otherwise.
        inside.next().unwrap_or(Subset { sum: high, size: squared })
    }
}

/// Adds counts to counts, cell by cell.
fn add_counts(target: &mut [u64], source: &[u64], words: usize) {
    if words == 1 {
        for (cell, more) in target.iter_mut().zip(source) {
            *cell += more;
        }
        return;
    }
    for (cell, more) in target.chunks_exact_mut(words).zip(source.chunks_exact(words)) {
        add_count(cell, more);
    }
}

/// Adds one count to another of as many words. The sum fits: no count exceeds the number of subsets.
fn add_count(cell: &mut [u64], more: &[u64]) {
    let mut carry = false;
    for (word, more) in cell.iter_mut().zip(more) {
        let (sum, first) = word.overflowing_add(*more);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        *word = sum;
        carry = first || second;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_the_list_agree_on_every_rank() {
        let suites: [&[usize]; 4] = [&[0, 1], &[0, 0, 0, 5], &[0, 1, 1, 4, 6, 9], &[0, 2, 3, 7, 7, 7, 11, 30]];
        for heights in suites {
            let wide: Vec<u128> = heights.iter().map(|&height| height as u128).collect();
            let (table, mut list) = (Table::new(heights), SubsetMeans::Listed(listed(&wide)));
            for rank in 1..(1_u32 << heights.len()) {
                let (counted, listed) = (table.ranked(&rank.into()), list.ranked(&rank.into()));
                assert_eq!(counted.sum * listed.size, listed.sum * counted.size, "{heights:?} {rank}");
            }
        }
    }

    #[test]
    fn the_plan_is_what_the_table_takes() {
        let heights = [0_usize, 0, 1, 3, 3, 8, 20];
        let wide: Vec<u128> = heights.iter().map(|&height| height as u128).collect();
        let plan = Plan::new(&wide);
        assert_eq!(plan.cells, Table::new(&heights).cells.len() as u128);
        // Unit by unit, the widths of the sums of all sizes of the units before it.
        let mut updates = 0;
        for units in 0..heights.len() {
            for size in 0..=units {
                let largest: usize = heights[..units].iter().rev().take(size).sum();
                let smallest: usize = heights[..size].iter().sum();
                updates += (largest - smallest + 1) as u128;
            }
        }
        assert_eq!(plan.updates, updates);
    }

    #[test]
    fn counts_carry_from_word_to_word() {
        let mut count = [u64::MAX, u64::MAX, 0];
        add_count(&mut count, &[1, 0, 0]);
        assert_eq!(count, [0, 0, 1]);
        let mut two = [u64::MAX, 0, 7, 0];
        add_counts(&mut two, &[u64::MAX, 1, 1, 1], 2);
        assert_eq!(two, [u64::MAX - 1, 2, 8, 1]);
    }
}
