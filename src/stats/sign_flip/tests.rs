//! Every algorithm of the test at its limits, and where two of them meet.

use super::*;
use crate::rational::{parse_decimal, rate};

fn alternating(denominator: i64, n: i64, modulus: i64, offset: i64) -> Vec<Rational> {
    (0..n).map(|index| Rational::new(((index * 7919) % modulus - offset).into(), denominator.into())).collect()
}

#[test]
fn no_units_and_no_moved_units() {
    let empty = sign_flip(&[]);
    assert_eq!((empty.n, empty.p_two_sided, empty.floor), (0, 1.0, 1.0));
    assert_eq!(empty.estimate, None);
    let still = sign_flip(&[rate(0, 1), rate(0, 3)]);
    assert_eq!((still.n, still.moved, still.p_two_sided, still.mid_p), (2, 0, 1.0, 1.0));
    assert_eq!(still.estimate_f64(), Some(0.0));
    assert!(!still.at_most(&rate(1, 20)));
}

#[test]
fn alpha_equal_to_the_p_is_significant() {
    // Six of six: p = 2/64 exactly.
    let result = sign_flip(&vec![rate(1, 3); 6]);
    assert!(result.at_most(&rate(1, 32)));
    assert!(!result.at_most(&rate(1, 33)));
    assert!(result.greater_at_most(&rate(1, 64)) && !result.less_at_most(&rate(1, 2)));
}

#[test]
fn counts_and_mass_meet_at_their_border() {
    // The same deltas with and without a 127th unit, too small to matter beside them.
    let mut deltas = alternating(1000, 126, 200, 90);
    let counted = sign_flip(&deltas);
    assert_eq!((counted.moved, counted.method), (125, SignFlipMethod::ExactCounts));
    deltas.extend([rate(1, 1000), -rate(1, 1000)]);
    let mass = sign_flip(&deltas);
    assert_eq!((mass.moved, mass.method), (127, SignFlipMethod::ProbabilityMass));
    assert!((counted.p_two_sided - mass.p_two_sided).abs() < 1e-3 * counted.p_two_sided);
}

#[test]
fn sums_beyond_a_table_are_counted_from_two_halves() {
    // 2^-60 apart: no table could hold the lattice.
    let tiny = Rational::new(BigInt::one(), BigInt::one() << 60);
    let deltas: Vec<Rational> = (1..=24_i32).map(|index| rate(1, 2) + &tiny * BigInt::from(index * index)).collect();
    let result = sign_flip(&deltas);
    assert_eq!(result.method, SignFlipMethod::MeetInTheMiddle);
    assert_eq!(result.counts.map(|counts| counts.two_sided), Some(BigUint::from(2_u32)));
    // Beyond 128 bits as well.
    let tiny = Rational::new(BigInt::one(), BigInt::one() << 400);
    let deltas: Vec<Rational> = (1..=24_i32).map(|index| rate(1, 2) + &tiny * BigInt::from(index)).collect();
    assert_eq!(sign_flip(&deltas).counts.map(|counts| counts.greater), Some(BigUint::one()));
}

#[test]
fn forty_real_numbers_are_counted_exactly() {
    let deltas: Vec<Rational> =
        (0..40_i32).filter_map(|index| from_f64((f64::from(index) * 0.7).sin() * 0.9 + 0.1)).collect();
    let result = sign_flip(&deltas);
    assert_eq!((result.moved, result.method), (40, SignFlipMethod::MeetInTheMiddle));
    assert!(!result.p_is_bound);
}

#[test]
fn many_real_numbers_give_a_close_upper_bound() {
    let floats: Vec<f64> = (0..60_i32).map(|index| (f64::from(index) * 0.7).sin() * 0.9 + 0.25).collect();
    let deltas: Vec<Rational> = floats.iter().filter_map(|&value| from_f64(value)).collect();
    let bound = sign_flip(&deltas);
    assert_eq!((bound.method, bound.p_is_bound), (SignFlipMethod::RoundedLattice, true));
    // The same numbers on a lattice of 1/10000, solved exactly.
    let near: Vec<Rational> = floats.iter().filter_map(|value| parse_decimal(&format!("{value:.4}"))).collect();
    let exact = sign_flip(&near);
    assert!(!exact.p_is_bound);
    assert!((bound.p_two_sided - exact.p_two_sided).abs() < 2e-3 * exact.p_two_sided);
    assert!((bound.p_less - exact.p_less).abs() < 1e-3);
}

#[test]
fn a_p_beyond_the_window_is_bounded_and_not_one() {
    // Every unit of 3000 improves: the sum lies far outside the window.
    let result = sign_flip(&vec![rate(1, 5); 3000]);
    assert_eq!((result.method, result.p_is_bound), (SignFlipMethod::HoeffdingBound, true));
    assert!(result.p_two_sided < 1e-300 && result.p_less == 1.0);
    assert!(result.at_most(&rate(1, 1_000_000)));
    // With 500 units the whole range is kept and p is exact.
    let result = sign_flip(&vec![rate(1, 5); 500]);
    assert!(!result.p_is_bound);
    assert!((result.p_two_sided / 2.0_f64.powi(-499) - 1.0).abs() < 1e-12);
}

#[test]
fn ten_thousand_cases_are_solved_without_a_bound() {
    // Fifths take 6 ms compiled for release, sixtieths 0.23 s.
    for (denominator, modulus) in [(5, 11), (30, 61)] {
        let deltas = alternating(denominator, 10_000, modulus, modulus / 2);
        let result = sign_flip(&deltas);
        assert_eq!((result.method, result.p_is_bound), (SignFlipMethod::ProbabilityMass, false), "{denominator}");
    }
}

#[test]
fn ten_thousand_cases_on_a_fine_lattice_are_solved_without_a_bound() {
    // 2520 is the least common multiple of 1 to 10; their mean is near 50 steps, so that p is neither large nor negligible.
    let deltas = alternating(2520, 10_000, 5_041, 2_470);
    let result = sign_flip(&deltas);
    assert_eq!((result.method, result.p_is_bound), (SignFlipMethod::CharacteristicFunction, false));
    // numpy: the law of the sum, unit by unit, in a window of twelve standard deviations; two minutes of work.
    let (p_two_sided, equal) = (0.0003614299017975736, 9.472534042553971e-9);
    assert!((result.p_two_sided / p_two_sided - 1.0).abs() < 1e-10, "{}", result.p_two_sided);
    assert!((result.p_two_sided - result.mid_p - equal).abs() < 1e-10 * p_two_sided, "{}", result.mid_p);
    assert!((result.p_greater + result.p_less - 1.0 - equal).abs() < 1e-13);
}

#[test]
fn cases_without_a_lattice_still_have_a_close_bound() {
    // Denominators that are primes have a common multiple of thirty digits.
    let primes = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173];
    let deltas: Vec<Rational> = (0..2_000_u64)
        .map(|unit| {
            let denominator = primes[unit as usize % primes.len()];
            rate(unit * 7_919 % (denominator + 1), denominator) - rate(unit * 104_729 % denominator, denominator)
        })
        .collect();
    let result = sign_flip(&deltas);
    assert_eq!((result.method, result.p_is_bound), (SignFlipMethod::RoundedLattice, true));
    let squares: f64 = deltas.iter().map(|delta| to_f64(delta).powi(2)).sum();
    let z = 2_000.0 * to_f64(&result.estimate.clone().unwrap()).abs() / squares.sqrt();
    let normal = 2.0 * crate::normal::normal_upper_tail(z);
    assert!(result.p_two_sided > normal * 0.99 && result.p_two_sided < normal * 1.1, "{} {normal}", result.p_two_sided);
}
