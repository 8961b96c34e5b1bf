//! Laws of a sum as sorted atoms: a position above the smallest sum, and the labelings that give it.

use std::ops::{AddAssign, Mul};

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use super::{Stratum, UPDATE_BUDGET, WORD_BUDGET};
use crate::rational::{Rational, common_denominator, scaled};
use crate::reliability::choose;
use crate::withheld::Withheld;

/// Positions in ascending order, each with its number of labelings.
pub(super) type Atoms<T> = Vec<(u128, T)>;

/// Bits that a count in a `u128` may have.
const MACHINE_BITS: u64 = 127;
/// Words taken by one atom beside the digits of its count.
const ATOM_WORDS: u128 = 4;

/// The law of mean with − mean without in one stratum, when every labeling of its runs is equally likely.
pub(super) struct StratumLaw {
    /// Sums of the rates with the skill, counted in steps above the smallest one.
    pub(super) atoms: Atoms<BigUint>,
    /// The position of the observed labels.
    pub(super) observed: u128,
    /// All labelings.
    pub(super) total: BigUint,
    /// The difference of the means at position 0.
    pub(super) lowest: Rational,
    /// The change of the difference from one position to the next; zero when all rates are equal.
    pub(super) step: Rational,
}

impl StratumLaw {
    /// Both arms have a run.
    pub(super) fn new(stratum: &Stratum<'_>) -> Result<Self, Withheld> {
        let (with, without) = (stratum.with.len(), stratum.without.len());
        let runs = with + without;
        within(with.min(without) as u128 * (runs as u128 / 64 + 1), UPDATE_BUDGET)?;
        let pooled = Pooled::new(stratum)?;
        if pooled.step.is_zero() {
            let total = choose(runs as u64, with as u64);
            let atoms = vec![(0, total.clone())];
            return Ok(Self { atoms, observed: 0, total, lowest: Rational::zero(), step: Rational::zero() });
        }
        // The sums of the smaller arm decide those of the other.
        let sum: u128 = pooled.values.iter().sum();
        let mut atoms = subset_sums(&pooled.values, with.min(without))?;
        if with > without {
            for (position, _) in &mut atoms {
                *position = sum - *position;
            }
            atoms.reverse();
        }
        let smallest = atoms.first().map_or(0, |(position, _)| *position);
        for (position, _) in &mut atoms {
            *position -= smallest;
        }
        let observed = pooled.values.iter().take(with).sum::<u128>() - smallest;
        let total = atoms.iter().map(|(_, count)| count).sum();
        // mean with − mean without = (runs · sum with − with · sum) / (with · without), in lattice steps.
        let unit = pooled.step / BigInt::from(with as u128 * without as u128);
        let lowest = &unit * (BigInt::from(smallest) * runs - BigInt::from(sum) * with);
        Ok(Self { atoms, observed, total, lowest, step: unit * BigInt::from(runs) })
    }

    /// Divides the counts by a factor common to all of them, which would only lengthen the integers, and returns it.
    pub(super) fn take_shared_factor(&mut self) -> BigUint {
        // Finding it among long integers takes longer than it saves.
        let shared = self.atoms.iter().try_fold(0_u128, |shared, (_, count)| Some(shared.gcd(&count.to_u128()?)));
        let shared = BigUint::from(shared.unwrap_or(1).max(1));
        if !shared.is_one() {
            for (_, count) in &mut self.atoms {
                *count /= &shared;
            }
            self.total /= &shared;
        }
        shared
    }

    /// The highest position.
    pub(super) fn span(&self) -> u128 {
        self.atoms.last().map_or(0, |(position, _)| *position)
    }
}

/// The rates of a stratum as multiples of a step above the smallest rate, with the skill first.
struct Pooled {
    values: Vec<u128>,
    step: Rational,
}

impl Pooled {
    fn new(stratum: &Stratum<'_>) -> Result<Self, Withheld> {
        let denominator = common_denominator(stratum.with).lcm(&common_denominator(stratum.without));
        let rates = stratum.with.iter().chain(stratum.without);
        let values: Vec<BigInt> = rates.map(|rate| scaled(rate, &denominator)).collect();
        let smallest = values.iter().min().cloned().unwrap_or_default();
        let values: Option<Vec<u128>> = values.into_iter().map(|value| (value - &smallest).to_u128()).collect();
        let mut values = values.ok_or(Withheld::BeyondExactBudget)?;
        let divisor = values.iter().fold(0_u128, |divisor, value| divisor.gcd(value));
        for value in &mut values {
            *value = value.checked_div(divisor).unwrap_or(0);
        }
        let sum = values.iter().try_fold(0_u128, |sum, &value| sum.checked_add(value));
        sum.ok_or(Withheld::BeyondExactBudget)?;
        Ok(Self { values, step: Rational::new(divisor.into(), denominator) })
    }
}

/// How many subsets of `size` values have which sum; `size` is at most half of the values.
fn subset_sums(values: &[u128], size: usize) -> Result<Atoms<BigUint>, Withheld> {
    let largest = values.iter().max().copied().unwrap_or(0);
    let words = values.len() as u128 / 64 + 1 + ATOM_WORDS;
    let cells = |count: usize| {
        let by_sum = largest.saturating_mul(count as u128).saturating_add(1);
        subsets_up_to(values.len() as u128, count as u128, by_sum)
    };
    if largest <= 1 {
        within(cells(size).saturating_mul(words), WORD_BUDGET)?;
        return Ok(hypergeometric(values, size));
    }
    let mut total_cells = 0_u128;
    for count in 1..=size {
        total_cells = total_cells.saturating_add(cells(count));
        within(total_cells.saturating_mul(words), WORD_BUDGET)?;
    }
    within(total_cells.saturating_mul(words).saturating_mul(values.len() as u128), UPDATE_BUDGET)?;
    if values.len() as u64 > MACHINE_BITS {
        return Ok(by_count_and_sum(values, size));
    }
    let atoms = by_count_and_sum::<u128>(values, size);
    Ok(atoms.into_iter().map(|(position, count)| (position, count.into())).collect())
}

/// C(n, k), or `limit` where that is less; k is at most half of n.
fn subsets_up_to(n: u128, k: u128, limit: u128) -> u128 {
    let mut subsets = 1_u128;
    for step in 1..=k {
        let Some(next) = subsets.checked_mul(n - step + 1) else { return limit };
        subsets = next / step;
        if subsets >= limit {
            return limit;
        }
    }
    subsets
}

/// Values of 0 and 1: C(ones, drawn ones) · C(zeros, drawn zeros), each from the one before.
fn hypergeometric(values: &[u128], size: usize) -> Atoms<BigUint> {
    let size = size as u64;
    let ones = values.iter().filter(|&&value| value == 1).count() as u64;
    let zeros = values.len() as u64 - ones;
    let first = size.saturating_sub(zeros);
    let mut count = choose(ones, first) * choose(zeros, size - first);
    let mut atoms = Vec::new();
    for drawn in first..=size.min(ones) {
        let next = &count * (u128::from(ones - drawn) * u128::from(size - drawn))
            / (u128::from(drawn + 1) * u128::from(zeros + drawn + 1 - size));
        atoms.push((u128::from(drawn), std::mem::replace(&mut count, next)));
    }
    atoms
}

/// Any values: for every number of chosen values the law of their sum, extended value by value.
fn by_count_and_sum<T>(values: &[u128], size: usize) -> Atoms<T>
where
    T: Clone + One + for<'a> AddAssign<&'a T>,
{
    let mut levels: Vec<Atoms<T>> = vec![Vec::new(); size + 1];
    levels[0].push((0, T::one()));
    for &value in values {
        for count in (1..=size).rev() {
            if !levels[count - 1].is_empty() {
                levels[count] = merged(&levels[count], &levels[count - 1], value);
            }
        }
    }
    levels.pop().unwrap_or_default()
}

/// The atoms of `fixed` and those of `moved` shifted up.
fn merged<T>(fixed: &[(u128, T)], moved: &[(u128, T)], shift: u128) -> Atoms<T>
where
    T: Clone + for<'a> AddAssign<&'a T>,
{
    let mut result = Vec::with_capacity(fixed.len() + moved.len());
    let mut fixed = fixed.iter().peekable();
    for (position, count) in moved {
        let position = position + shift;
        while let Some(atom) = fixed.next_if(|(other, _)| *other < position) {
            result.push(atom.clone());
        }
        let mut count = count.clone();
        if let Some((_, other)) = fixed.next_if(|(other, _)| *other == position) {
            count += other;
        }
        result.push((position, count));
    }
    result.extend(fixed.cloned());
    result
}

/// Withholds what would go beyond a budget.
fn within(amount: u128, budget: u128) -> Result<(), Withheld> {
    if amount > budget { Err(Withheld::BeyondExactBudget) } else { Ok(()) }
}

/// The law of the sum over strata, kept as two independent halves.
pub(super) struct Halves {
    left: Atoms<BigUint>,
    right: Atoms<BigUint>,
    /// For every atom of the right half, the labelings at or above it.
    right_tail: Vec<BigUint>,
}

impl Halves {
    /// Convolves the strata of each half. Which stratum goes where depends on sizes only, not on order or sign.
    pub(super) fn new(mut strata: Vec<Atoms<BigUint>>) -> Result<Self, Withheld> {
        strata.sort_by_cached_key(Plan::key);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (index, stratum) in strata.into_iter().enumerate() {
            if index % 2 == 0 { left.push(stratum) } else { right.push(stratum) }
        }
        let (left_plan, right_plan) = (Plan::new(&left)?, Plan::new(&right)?);
        let last = left_plan.atoms.saturating_mul(left_plan.words()).saturating_mul(right_plan.words());
        within(left_plan.updates.saturating_add(right_plan.updates).saturating_add(last), UPDATE_BUDGET)?;
        let (left, right) = (left_plan.law(&left), right_plan.law(&right));
        let mut tail = BigUint::zero();
        let mut right_tail: Vec<BigUint> = right
            .iter()
            .rev()
            .map(|(_, count)| {
                tail += count;
                tail.clone()
            })
            .collect();
        right_tail.reverse();
        Ok(Self { left, right, right_tail })
    }

    /// Labelings with a sum at or above `position`.
    pub(super) fn at_or_above(&self, position: u128) -> BigUint {
        let mut from = self.right.len();
        let mut labelings = BigUint::zero();
        for (left, count) in &self.left {
            let missing = position.saturating_sub(*left);
            while from > 0 && self.right[from - 1].0 >= missing {
                from -= 1;
            }
            if let Some(tail) = self.right_tail.get(from) {
                labelings += count * tail;
            }
        }
        labelings
    }
}

/// What convolving some strata will take, known before it is done.
struct Plan {
    /// Upper bound of the number of atoms.
    atoms: u128,
    span: u128,
    bits: u64,
    /// Word updates.
    updates: u128,
}

impl Plan {
    /// All that the plan needs to know of a stratum: span, atoms and size of the counts.
    fn key(stratum: &Atoms<BigUint>) -> (u128, usize, u64) {
        let total: BigUint = stratum.iter().map(|(_, count)| count).sum();
        (stratum.last().map_or(0, |(position, _)| *position), stratum.len(), total.bits())
    }

    fn new(strata: &[Atoms<BigUint>]) -> Result<Self, Withheld> {
        let mut plan = Self { atoms: 1, span: 0, bits: 1, updates: 0 };
        for stratum in strata {
            let (span, atoms, bits) = Self::key(stratum);
            let products = plan.atoms.saturating_mul(atoms as u128);
            plan.span = plan.span.checked_add(span).ok_or(Withheld::BeyondExactBudget)?;
            plan.bits += bits;
            plan.atoms = products.min(plan.span.saturating_add(1));
            plan.updates = plan.updates.saturating_add(products.saturating_mul(plan.words()));
            let cells = if dense(plan.span, products) { plan.span + 1 } else { products };
            within(cells.saturating_mul(plan.words() + ATOM_WORDS), WORD_BUDGET)?;
            within(plan.updates, UPDATE_BUDGET)?;
        }
        Ok(plan)
    }

    fn words(&self) -> u128 {
        u128::from(self.bits / 64 + 1)
    }

    fn law(&self, strata: &[Atoms<BigUint>]) -> Atoms<BigUint> {
        if self.bits > MACHINE_BITS {
            return convolved(strata, BigUint::clone);
        }
        let law = convolved(strata, |count| count.to_u128().unwrap_or(0));
        law.into_iter().map(|(position, count)| (position, count.into())).collect()
    }
}

/// Whether the sums are better kept in a table with a cell per position than sorted.
const fn dense(span: u128, products: u128) -> bool {
    span / 4 < products
}

/// The law of the sum of independent strata, with counts converted by `count`.
fn convolved<T>(strata: &[Atoms<BigUint>], count: impl Fn(&BigUint) -> T) -> Atoms<T>
where
    T: Clone + Zero + One + AddAssign,
    for<'a> &'a T: Mul<&'a T, Output = T>,
{
    let mut law = vec![(0, T::one())];
    for stratum in strata {
        let stratum: Atoms<T> = stratum.iter().map(|(position, labelings)| (*position, count(labelings))).collect();
        law = convolution(&law, &stratum);
    }
    law
}

fn convolution<T>(law: &[(u128, T)], stratum: &[(u128, T)]) -> Atoms<T>
where
    T: Clone + Zero + AddAssign,
    for<'a> &'a T: Mul<&'a T, Output = T>,
{
    let highest = |atoms: &[(u128, T)]| atoms.last().map_or(0, |(position, _)| *position);
    let span = highest(law) + highest(stratum);
    let products = stratum
        .iter()
        .flat_map(|(shift, weight)| law.iter().map(move |(position, count)| (position + shift, count * weight)));
    if let Some(cells) = span.to_usize().filter(|_| dense(span, law.len() as u128 * stratum.len() as u128)) {
        let mut table = vec![T::zero(); cells + 1];
        for (position, count) in products {
            // Positions are at most the span, which fits.
            table[position as usize] += count;
        }
        return (0..).zip(table).filter(|(_, count)| !count.is_zero()).collect();
    }
    let mut sorted: Atoms<T> = products.collect();
    sorted.sort_by_key(|(position, _)| *position);
    let mut atoms: Atoms<T> = Vec::with_capacity(sorted.len());
    for (position, count) in sorted {
        match atoms.last_mut() {
            Some((last, total)) if *last == position => *total += count,
            _ => atoms.push((position, count)),
        }
    }
    atoms
}
