//! The tail of the sign-flip sum on a fine lattice, for more units than can be counted and more sums than a table of the law
//! has room for: from the characteristic function, at as many points as the window has sums.
//!
//! With S = Σ ±a and the observed sum T, let Q be the law under which +a has the chance e^(θa) / 2·cosh(θa) (Esscher 1932
//! *Skand. Aktuarietidskr.* 15:175), θ such that the mean of S is T. Then P(S ≥ T) = Π cosh(θa) · e^(−θT) ·
//! Σ_{x ≥ 0} e^(−2θx) · Q(S = T + 2x): what is left to sum is of ordinary size however small the p, so the discrete
//! Fourier transform of Q keeps its relative precision. The sum over x has a closed form at each point, so no transform is
//! carried out. What wraps around weighs less than e^(−60) (Hoeffding 1963 *JASA* 58:13).

use std::f64::consts::PI;

use super::Tail;

/// Half of the window in standard deviations of the sum.
const WINDOW: f64 = 11.0;
/// Most points: beyond, the lattice is too fine.
const LARGEST_POINTS: f64 = 8_388_608.0;
/// Factors that may be multiplied: about a second and a half.
const FACTOR_BUDGET: u64 = 60_000_000;
/// A product below this cannot change a digit of the sum.
const NEGLIGIBLE: f64 = 1e-32;
/// Smallest chance that is resolved, well above the subnormal numbers.
const TRUSTED: f64 = 1e-290;

#[derive(Debug, Clone, Copy)]
struct Complex {
    real: f64,
    imaginary: f64,
}

impl Complex {
    const fn new(real: f64, imaginary: f64) -> Self {
        Self { real, imaginary }
    }

    fn unit(angle: f64) -> Self {
        let (sine, cosine) = angle.sin_cos();
        Self::new(cosine, sine)
    }

    fn times(self, other: Self) -> Self {
        Self::new(
            self.real * other.real - self.imaginary * other.imaginary,
            self.real * other.imaginary + self.imaginary * other.real,
        )
    }

    fn over(self, other: Self) -> Self {
        let square = other.square();
        let product = self.times(Self::new(other.real, -other.imaginary));
        Self::new(product.real / square, product.imaginary / square)
    }

    fn square(self) -> f64 {
        self.real * self.real + self.imaginary * self.imaginary
    }

    fn power(self, mut exponent: usize) -> Self {
        let (mut base, mut result) = (self, Self::new(1.0, 0.0));
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = result.times(base);
            }
            base = base.times(base);
            exponent /= 2;
        }
        result
    }
}

/// The tail at the observed distance from 0; `None` when the lattice is too fine, the work too much or the p too small.
pub(super) fn lattice_tail(magnitudes: &[(u64, usize)], observed: i64) -> Option<Tail<f64>> {
    let squares: f64 = magnitudes.iter().map(|&(value, count)| (value as f64).powi(2) * count as f64).sum();
    let points = (WINDOW * squares.sqrt()).ceil() + 2.0;
    if points > LARGEST_POINTS {
        return None;
    }
    // An even number, so that the middle point is one of them.
    let points = 2 * (points / 2.0).ceil() as u64;
    let tilt = Tilt::new(magnitudes, observed, points)?;
    let scale = tilt.ln_scale.exp();
    if scale < TRUSTED {
        return None;
    }
    let (mut tail, mut equal) = (Sum::default(), Sum::default());
    let mut budget = FACTOR_BUDGET;
    for point in 0..=points / 2 {
        let Some(product) = tilt.characteristic(point, &mut budget)? else { continue };
        // A point and its mirror image are conjugates; the first and the middle one are their own.
        let weight = if point == 0 || point == points / 2 { 1.0 } else { 2.0 };
        equal.add(weight * product.real);
        tail.add(weight * product.times(tilt.geometric(point)).real);
    }
    let [at_or_beyond, equal] = [tail, equal].map(|sum| scale * sum.value() / points as f64);
    let equal = equal.clamp(0.0, 1.0);
    (at_or_beyond.is_finite() && at_or_beyond > 0.0)
        .then(|| Tail { at_or_beyond: at_or_beyond.clamp(equal, 1.0), equal })
}

/// The tilted law of the sum.
struct Tilt {
    /// The factors of the characteristic function, the most effective ones first.
    factors: Vec<Factor>,
    theta: f64,
    /// ln(Π cosh(θa)) − θT.
    ln_scale: f64,
    /// The observed sum in steps of π/points.
    observed: u64,
    points: u64,
}

/// The units of one magnitude.
struct Factor {
    /// The magnitude in steps of π/points, less full turns.
    steps: u64,
    count: usize,
    /// tanh(θ·magnitude).
    tangent: f64,
}

impl Tilt {
    /// Tilts the mean to `observed`; `None` when that is out of reach of a finite tilt.
    fn new(magnitudes: &[(u64, usize)], observed: i64, points: u64) -> Option<Self> {
        let target = observed as f64;
        let mean = |theta: f64| -> f64 {
            magnitudes.iter().map(|&(value, count)| count as f64 * value as f64 * (theta * value as f64).tanh()).sum()
        };
        let (mut low, mut high) = (0.0, 1.0 / points as f64);
        while mean(high) < target {
            low = high;
            high *= 2.0;
            // All signs but a few are certain: the sum is at the end of its range.
            if high > 1e3 {
                return None;
            }
        }
        // Any tilt is exact; this one only has to be near the best.
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if mean(middle) < target {
                low = middle;
            } else {
                high = middle;
            }
        }
        let theta = if observed == 0 { 0.0 } else { high };
        // ln cosh x = x + ln(1 + e^(−2x)) − ln 2, which does not overflow.
        let ln_cosh = |x: f64| x + (-2.0 * x).exp().ln_1p() - 2.0_f64.ln();
        let ln_moment: f64 =
            magnitudes.iter().map(|&(value, count)| count as f64 * ln_cosh(theta * value as f64)).sum();
        let half_turns = 2 * points;
        let mut factors: Vec<Factor> = magnitudes
            .iter()
            .map(|&(value, count)| Factor { steps: value % half_turns, count, tangent: (theta * value as f64).tanh() })
            .collect();
        factors.sort_by_key(|factor| std::cmp::Reverse(factor.count));
        let ln_scale = ln_moment - theta * target;
        Some(Self { factors, theta, ln_scale, observed: observed.unsigned_abs() % half_turns, points })
    }

    /// An angle of so many steps of π/points times `point`, reduced exactly: both are below 2^25.
    fn angle(&self, steps: u64, point: u64) -> f64 {
        PI * (steps * point % (2 * self.points)) as f64 / self.points as f64
    }

    /// The characteristic function of (S − T)/2 at 2π·point/points; `Some(None)` when it is negligible, `None` when the
    /// budget is used up.
    fn characteristic(&self, point: u64, budget: &mut u64) -> Option<Option<Complex>> {
        let mut product = Complex::unit(-self.angle(self.observed, point));
        for &Factor { steps, count, tangent } in &self.factors {
            *budget = budget.checked_sub(1)?;
            let (sine, cosine) = self.angle(steps, point).sin_cos();
            product = product.times(Complex::new(cosine, tangent * sine).power(count));
            if product.square() < NEGLIGIBLE * NEGLIGIBLE {
                return Some(None);
            }
        }
        Some(Some(product))
    }

    /// Σ e^(−(2θ + it)·x) for x from 0 to half of the points, at t = 2π·point/points.
    fn geometric(&self, point: u64) -> Complex {
        let terms = self.points / 2;
        let turn = 2.0 * PI * point as f64 / self.points as f64;
        if point == 0 && self.theta == 0.0 {
            return Complex::new(terms as f64, 0.0);
        }
        // (1 − q^terms) / (1 − q) with q = e^(−2θ − it); q^terms has the angle −π·point.
        let last = (-2.0 * self.theta * terms as f64).exp() * if point.is_multiple_of(2) { 1.0 } else { -1.0 };
        // 1 − e^(−2θ)·cos t = −expm1(−2θ) + e^(−2θ)·2·sin²(t/2), without cancellation near 0.
        let shrink = (-2.0 * self.theta).exp();
        let half_sine = (turn / 2.0).sin();
        let real = -(-2.0 * self.theta).exp_m1() + 2.0 * shrink * half_sine * half_sine;
        let denominator = Complex::new(real, shrink * turn.sin());
        let numerator = if point == 0 { -(-2.0 * self.theta * terms as f64).exp_m1() } else { 1.0 - last };
        Complex::new(numerator, 0.0).over(denominator)
    }
}

/// A sum with its rounding errors beside it (Neumaier 1974 *ZAMM* 54:39).
#[derive(Default)]
struct Sum {
    value: f64,
    error: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let next = self.value + term;
        self.error +=
            if self.value.abs() >= term.abs() { (self.value - next) + term } else { (term - next) + self.value };
        self.value = next;
    }

    fn value(&self) -> f64 {
        self.value + self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign_flip::counts;
    use crate::sign_flip::mass::{self, LatticeTail};

    const MAGNITUDES: [(u64, usize); 4] = [(2, 9), (3, 11), (7, 8), (10, 7)];

    #[test]
    fn tails_agree_with_counts_at_every_sum() {
        let range: i64 = MAGNITUDES.iter().map(|&(magnitude, count)| magnitude as i64 * count as i64).sum();
        let total = 2.0_f64.powi(35);
        for observed in (range % 2..=range).step_by(2) {
            let target = usize::try_from((range - observed) / 2).unwrap();
            let counted = counts::by_sum(&MAGNITUDES, target);
            let tail = lattice_tail(&MAGNITUDES, observed).unwrap();
            let (at_or_beyond, equal) = (counted.at_or_beyond as f64 / total, counted.equal as f64 / total);
            assert!((tail.at_or_beyond - at_or_beyond).abs() < 1e-12 * at_or_beyond, "{observed}");
            assert!((tail.equal - equal).abs() < 1e-12 * at_or_beyond, "{observed}");
        }
    }

    #[test]
    fn tails_agree_with_the_law_of_thousands_of_units() {
        // Sixtieths of many sizes, among them single ones, far into the tail.
        let magnitudes: Vec<(u64, usize)> =
            (1..=60).map(|magnitude| (magnitude, 1 + (magnitude * 37 % 90) as usize)).collect();
        let parity = magnitudes.iter().map(|&(magnitude, count)| magnitude as i64 * count as i64).sum::<i64>() % 2;
        for observed in [0, 2, 200, 2_000, 6_000, 10_000, 20_000] {
            let observed = observed + parity;
            let LatticeTail::Found(expected) = mass::lattice_tail(&magnitudes, observed) else { panic!("{observed}") };
            let tail = lattice_tail(&magnitudes, observed).unwrap();
            assert!((tail.at_or_beyond / expected.at_or_beyond - 1.0).abs() < 1e-11, "{observed}");
            assert!((tail.equal / expected.equal - 1.0).abs() < 1e-10, "{observed}");
        }
    }

    #[test]
    fn a_lattice_that_is_too_fine_and_a_p_that_is_too_small_are_refused() {
        assert!(lattice_tail(&[(1 << 40, 5), (3, 200)], 1 << 40).is_none());
        // Unanimous: 2^-2000.
        assert!(lattice_tail(&[(1, 2_000)], 2_000).is_none());
    }
}
