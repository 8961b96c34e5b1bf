//! Why our p differs from that of the reference package from 15 units on: the reference samples, we count.
//!
//! The generator and the two sampled tests of version 0.6 live here only, as a record. With them the p-values that the
//! reference printed come out again to the last bit, so the difference to ours is the draw and nothing else. The same
//! deltas in another order give the reference another p, on either side of 0.05; the exact p has no order.

use num_bigint::BigInt;
use num_traits::Signed;

use super::reference::section;
use super::{count, floats, load, rationals, text};
use crate::rational::{Rational, common_denominator, from_f64, round_f64_half_even, scaled};
use crate::sign_flip::sign_flip;

/// Patterns that the reference draws.
const DRAWS: u32 = 4096;
const STATE: usize = 624;
const MIDDLE: usize = 397;

/// The Mersenne Twister MT19937 (Matsumoto & Nishimura 1998 *ACM TOMACS* 8:3), seeded with the key array [0].
struct MersenneTwister {
    state: [u32; STATE],
    next: usize,
}

impl MersenneTwister {
    fn new() -> Self {
        let mut state = [0_u32; STATE];
        state[0] = 19_650_218;
        for index in 1..STATE {
            state[index] = mixed(&state, index - 1, 1_812_433_253).wrapping_add(index as u32);
        }
        // The key is one zero, so neither the key nor its index adds anything.
        let mut index = 1;
        for _ in 0..STATE {
            state[index] ^= mixed(&state, index - 1, 1_664_525);
            index = following(&mut state, index);
        }
        for _ in 1..STATE {
            state[index] = (state[index] ^ mixed(&state, index - 1, 1_566_083_941)).wrapping_sub(index as u32);
            index = following(&mut state, index);
        }
        state[0] = 1 << 31;
        Self { state, next: STATE }
    }

    fn bits(&mut self) -> u32 {
        if self.next == STATE {
            for index in 0..STATE {
                let joined = self.state[index] & (1 << 31) | self.state[(index + 1) % STATE] & !(1 << 31);
                let twisted = joined >> 1 ^ if joined & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[index] = self.state[(index + MIDDLE) % STATE] ^ twisted;
            }
            self.next = 0;
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    /// Uniform in 0..1 with 53 bits.
    fn uniform(&mut self) -> f64 {
        let (high, low) = (self.bits() >> 5, self.bits() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// Uniform in 0..limit, by rejection.
    fn below(&mut self, limit: u32) -> u32 {
        let unused = limit.leading_zeros();
        loop {
            let drawn = self.bits() >> unused;
            if drawn < limit {
                return drawn;
            }
        }
    }

    /// Fisher–Yates from the top down.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index as u32 + 1) as usize);
        }
    }
}

fn mixed(state: &[u32; STATE], index: usize, factor: u32) -> u32 {
    (state[index] ^ state[index] >> 30).wrapping_mul(factor)
}

/// The next index; the last word moves to the front when the end is reached.
fn following(state: &mut [u32; STATE], index: usize) -> usize {
    if index + 1 < STATE {
        return index + 1;
    }
    state[0] = state[STATE - 1];
    1
}

/// Random sign patterns of `drawn`, a sign per value in the order given, with a sum at least as far from 0 as that of
/// `observed`. Both lists have the same magnitudes.
fn sampled_sign_flips(drawn: &[Rational], observed: &[Rational]) -> u32 {
    let denominator = common_denominator(observed);
    let values: Vec<BigInt> = drawn.iter().map(|delta| scaled(delta, &denominator)).collect();
    let observed = observed.iter().map(|delta| scaled(delta, &denominator)).sum::<BigInt>().abs();
    let mut generator = MersenneTwister::new();
    let mut sum = || -> BigInt {
        values.iter().map(|value| if generator.uniform() < 0.5 { -value } else { value.clone() }).sum()
    };
    (0..DRAWS).map(|_| u32::from(sum().abs() >= observed)).sum()
}

/// Random labelings whose means are at least as far apart.
fn sampled_labelings(with: &[Rational], without: &[Rational]) -> u32 {
    let gap = |pool: &[&Rational]| -> Rational {
        let (with, without) = pool.split_at(with.len());
        let mean = |arm: &[&Rational]| arm.iter().copied().sum::<Rational>() / BigInt::from(arm.len());
        (mean(with) - mean(without)).abs()
    };
    let pool: Vec<&Rational> = with.iter().chain(without).collect();
    let observed = gap(&pool);
    let mut order: Vec<usize> = (0..pool.len()).collect();
    let mut generator = MersenneTwister::new();
    let mut hits = 0;
    for _ in 0..DRAWS {
        generator.shuffle(&mut order);
        let shuffled: Vec<&Rational> = order.iter().map(|&index| pool[index]).collect();
        hits += u32::from(gap(&shuffled) >= observed);
    }
    hits
}

/// The observed pattern counts as one more draw.
fn sampled_p(hits: u32) -> f64 {
    f64::from(hits + 1) / f64::from(DRAWS + 1)
}

#[test]
fn the_stream_of_the_reference() {
    let reference = &load("statistics.json")["rng_reference"];
    let mut generator = MersenneTwister::new();
    let expected = floats(&reference["first_10_random"]);
    assert_eq!(std::iter::repeat_with(|| generator.uniform()).take(10).collect::<Vec<_>>(), expected);
    let mut generator = MersenneTwister::new();
    let mut items: Vec<u64> = (0..10).collect();
    for name in ["shuffle_10_first", "shuffle_10_second"] {
        generator.shuffle(&mut items);
        let expected: Vec<u64> = reference[name].as_array().unwrap().iter().map(count).collect();
        assert_eq!(items, expected, "{name}");
    }
}

#[test]
fn sampled_p_values_of_the_reference() {
    let mut sampled = 0;
    section("sign_flip").check(25, |vector, report| {
        let peer = &vector["peer"];
        if peer["method"] != "sign-flip-sampled" {
            return;
        }
        sampled += 1;
        let deltas = rationals(&vector["deltas"]);
        // Version 0.6: in the order of the input.
        let p = sampled_p(sampled_sign_flips(&deltas, &deltas));
        report.near("p of 0.6", p, &vector["peer_raw"]["p_value"], 0.0);
        report.same_or_null("rounded p of 0.6", Some(round_f64_half_even(p, 6)), &peer["p_value"]);
        report.same("significant in 0.6", Some(p <= 0.05), peer["significant_at_0_05"].as_bool());
        // After 0.6: magnitudes in ascending order, decided on an upper bound of p.
        let mut magnitudes: Vec<Rational> = deltas.iter().map(Signed::abs).collect();
        magnitudes.sort_unstable();
        let hits = sampled_sign_flips(&magnitudes, &deltas);
        let later = &vector["post_0_6_0"];
        report.same("hits after 0.6", u64::from(hits), count(&later["hits"]));
        report.same("draws", u64::from(DRAWS), count(&later["samples"]));
        report.near("p after 0.6", sampled_p(hits), &later["p_value"], 0.0);
        let bound = f64::from(hits) / f64::from(DRAWS) + (1000.0_f64.ln() / f64::from(2 * DRAWS)).sqrt();
        report.near("bound after 0.6", bound, &later["p_value_upper_bound"], 1e-15);
        report.same("significant after 0.6", Some(bound <= 0.05), later["significant_at_0_05"].as_bool());
        // Ours is the p that both estimate, within five standard errors of the draw.
        let exact = sign_flip(&deltas).p_two_sided;
        let error = (exact * (1.0 - exact) / f64::from(DRAWS)).sqrt() + 1.0 / f64::from(DRAWS);
        report.same("a draw around ours", (p - exact).abs() < 5.0 * error, true);
    });
    assert_eq!(sampled, 11);
}

#[test]
fn order_decides_for_the_reference_and_not_for_us() {
    let vectors = load("statistics.json")["sign_flip"].clone();
    let find = |id: &str| {
        let mut vectors = vectors.as_array().unwrap().iter();
        rationals(&vectors.find(|vector| vector["id"] == id).unwrap()["deltas"])
    };
    for (one, other, exact) in [
        ("n17_verdict_flip", "n17_same_multiset_reordered", 0.052_032_470_703_125),
        ("n19_order_flip_b", "n19_order_flip_a", 0.057_769_775_390_625),
    ] {
        let (one, other) = (find(one), find(other));
        assert!(sampled_p(sampled_sign_flips(&one, &one)) <= 0.05);
        assert!(sampled_p(sampled_sign_flips(&other, &other)) > 0.05);
        assert_eq!(sign_flip(&one), sign_flip(&other));
        assert_eq!(sign_flip(&one).p_two_sided, exact);
    }
}

#[test]
fn sampled_labelings_of_the_reference() {
    let mut sampled = 0;
    section("two_sample_permutation").check(11, |vector, report| {
        let peer = &vector["peer"];
        if text(&peer["method"]) != "two-sample-permutation-sampled" {
            return;
        }
        sampled += 1;
        let arm = |name: &str| -> Vec<Rational> {
            floats(&vector[name]).into_iter().map(|value| from_f64(value).unwrap()).collect()
        };
        let (with, without) = (arm("a"), arm("b"));
        let p = sampled_p(sampled_labelings(&with, &without));
        report.near("p of 0.6", p, &vector["peer_raw_p"], 0.0);
        report.same_or_null("rounded p of 0.6", Some(round_f64_half_even(p, 6)), &peer["p_value"]);
    });
    assert_eq!(sampled, 3);
}
