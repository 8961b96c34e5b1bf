//! Counting sign patterns exactly. A pattern is written as the subset of units that keep a plus; its sum is twice
//! the subset sum minus the sum of all magnitudes, so tails of the sign-flip law are tails of subset sums.

use std::ops::{Add, Sub};

use super::Tail;

/// Subsets with a sum of at most `target`, by a table over sums. At most 126 units.
pub(super) fn by_sum(magnitudes: &[(u64, usize)], target: usize) -> Tail<u128> {
    let mut subsets = vec![0_u128; target + 1];
    subsets[0] = 1;
    let mut reach = 0_usize;
    for &(magnitude, count) in magnitudes {
        // A magnitude beyond the target is in no counted subset.
        let Ok(magnitude) = usize::try_from(magnitude) else { continue };
        if magnitude > target {
            continue;
        }
        for _ in 0..count {
            reach = (reach + magnitude).min(target);
            for sum in (magnitude..=reach).rev() {
                subsets[sum] += subsets[sum - magnitude];
            }
        }
    }
    Tail { at_or_beyond: subsets.iter().sum(), equal: subsets[target] }
}

/// Subsets with a sum of at most `target`, from the sorted subset sums of two halves. At most 40 units.
pub(super) fn by_halves<T>(magnitudes: &[T], target: &T) -> Tail<u128>
where
    T: Ord + Clone + Default + for<'a> Add<&'a T, Output = T> + for<'a> Sub<&'a T, Output = T>,
{
    let (left, right) = magnitudes.split_at(magnitudes.len() / 2);
    let left = subset_sums(left);
    let right = subset_sums(right);
    let mut at_most = 0_u128;
    let mut below = 0_u128;
    let mut reach_at_most = right.len();
    let mut reach_below = right.len();
    for sum in &left {
        if sum > target {
            break;
        }
        let room = target.clone() - sum;
        while reach_at_most > 0 && right[reach_at_most - 1] > room {
            reach_at_most -= 1;
        }
        while reach_below > 0 && right[reach_below - 1] >= room {
            reach_below -= 1;
        }
        at_most += reach_at_most as u128;
        below += reach_below as u128;
    }
    Tail { at_or_beyond: at_most, equal: at_most - below }
}

/// All subset sums in ascending order: each unit merges the list with itself shifted.
fn subset_sums<T>(magnitudes: &[T]) -> Vec<T>
where
    T: Ord + Clone + Default + for<'a> Add<&'a T, Output = T>,
{
    let mut sums = vec![T::default()];
    for magnitude in magnitudes {
        let shifted: Vec<T> = sums.iter().map(|sum| sum.clone() + magnitude).collect();
        let mut merged = Vec::with_capacity(sums.len() * 2);
        let mut shifted = shifted.into_iter().peekable();
        for sum in sums {
            while let Some(smaller) = shifted.next_if(|candidate| *candidate < sum) {
                merged.push(smaller);
            }
            merged.push(sum);
        }
        merged.extend(shifted);
        sums = merged;
    }
    sums
}
