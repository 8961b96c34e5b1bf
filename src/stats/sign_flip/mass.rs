//! The law of the sign-flip sum as probability mass in `f64`, for more units than exact counts can hold.

use super::Tail;

/// Cell updates after which a lattice counts as too large for a direct computation.
const MASS_BUDGET: f64 = 2e9;
/// Largest `moved · Σ|a|` for which the whole range of sums is kept instead of a window.
const WHOLE_RANGE_BUDGET: f64 = 2e8;
/// Half width of the window in standard deviations of the sum; what lies outside weighs less than 2·e^(−98).
const WINDOW: f64 = 14.0;
/// Smallest tail that is trusted when the window cuts the law.
const TRUSTED_IN_WINDOW: f64 = 1e-28;
/// Smallest tail that is trusted otherwise: above the subnormal numbers by a wide margin.
const TRUSTED: f64 = 1e-280;
/// Chance, added to the bound, that the rounding of the lattice exceeds its allowance.
const ROUNDING_CHANCE: f64 = 1e-12;
/// Largest number of cells of a rounded lattice.
const LARGEST_ROUNDED: f64 = 1_048_576.0;

/// The law of the sum: `masses[i]` is the chance of the sum `base + 2·i`.
struct Law {
    base: i64,
    masses: Vec<f64>,
}

/// What could be said about the tail of a lattice.
pub(super) enum LatticeTail {
    /// The tail at the observed sum.
    Found(Tail<f64>),
    /// The tail is smaller than this method resolves.
    TooSmall,
    /// The lattice has too many cells.
    TooLarge,
}

/// The tail of the law at the observed distance from 0.
pub(super) fn lattice_tail(magnitudes: &[(u64, usize)], observed: i64) -> LatticeTail {
    let plan = Plan::new(magnitudes);
    let floats: Vec<(f64, usize)> = magnitudes.iter().map(|&(magnitude, count)| (magnitude as f64, count)).collect();
    // no tail is larger than Hoeffding's bound: where even that is out of reach, the law need not be known
    if hoeffding(&floats, observed as f64) < plan.trusted() {
        return LatticeTail::TooSmall;
    }
    if plan.updates > MASS_BUDGET {
        return LatticeTail::TooLarge;
    }
    // the law of a half of the units takes less than half of the time, and two halves give the tail without their product
    let halves = [0, 1].map(|half| {
        let magnitudes: Vec<(u64, usize)> = magnitudes.iter().skip(half).step_by(2).copied().collect();
        Law::new(&magnitudes, &plan)
    });
    let [first, second] = &halves;
    let equal = first.at_with(second, observed);
    if observed == 0 {
        return LatticeTail::Found(Tail { at_or_beyond: f64::midpoint(1.0, equal), equal });
    }
    let at_or_beyond = first.at_or_above_with(second, observed);
    if at_or_beyond < plan.trusted() {
        return LatticeTail::TooSmall;
    }
    LatticeTail::Found(Tail { at_or_beyond, equal })
}

/// Hoeffding's bound of the one-sided p: exp(−T² / (2·Σa²)), 1 at T = 0.
pub(super) fn hoeffding(magnitudes: &[(f64, usize)], observed: f64) -> f64 {
    let squares: f64 = magnitudes.iter().map(|&(magnitude, count)| magnitude * magnitude * count as f64).sum();
    // The exponent is moved up by more than its rounding error, so the bound stays a bound.
    let exponent = observed * observed / (2.0 * squares) * (1.0 - 1e-12);
    (-exponent).exp().min(1.0)
}

/// Upper bounds of the one-sided p in the observed direction and against it, from magnitudes rounded to a lattice.
///
/// With step h, each magnitude is h·k + r. The signed remainders sum to at most Σ|r|, and exceed `e` with chance at
/// most exp(−e² / (2·Σr²)) (Hoeffding 1963); the law of the h·k part, shifted by the allowance, bounds the tail.
pub(super) fn rounded_bounds(magnitudes: &[(f64, usize)], observed: f64) -> (f64, f64) {
    // Magnitudes that fall together on the lattice only make it cheaper.
    let terms: f64 = magnitudes.iter().map(|&(_, count)| binomial_reach(count, true) as f64 + 1.0).sum();
    let squares: f64 = magnitudes.iter().map(|&(magnitude, count)| magnitude * magnitude * count as f64).sum();
    let cells = (0.999 * MASS_BUDGET / terms).min(LARGEST_ROUNDED);
    let step = WINDOW * squares.sqrt() / cells;
    let mut rounded: Vec<(u64, usize)> = Vec::new();
    let mut remainders = 0.0;
    let mut remainder_squares = 0.0;
    for &(magnitude, count) in magnitudes {
        let multiple = (magnitude / step).round();
        // The magnitudes and the product carry rounding errors of their own.
        let remainder = (magnitude - multiple * step).abs() + magnitude * 1e-15;
        remainders += remainder * count as f64;
        remainder_squares += remainder * remainder * count as f64;
        // At most the number of cells, so the conversion is exact.
        let multiple = multiple as u64;
        match rounded.last_mut() {
            Some((last, total)) if *last == multiple => *total += count,
            _ if multiple == 0 => {}
            _ => rounded.push((multiple, count)),
        }
    }
    let likely = (2.0 * remainder_squares * (1.0 / ROUNDING_CHANCE).ln()).sqrt();
    let (allowance, chance) = if remainders <= likely { (remainders, 0.0) } else { (likely, ROUNDING_CHANCE) };
    let plan = Plan::new(&rounded);
    if rounded.is_empty() || plan.updates > MASS_BUDGET {
        return (1.0, 1.0);
    }
    if hoeffding(magnitudes, observed) < plan.trusted() {
        // the slack below would be larger than Hoeffding's bound, which the caller knows
        return (plan.trusted(), 1.0);
    }
    let law = Law::new(&rounded, &plan);
    let lowest = ((observed - allowance) / step * (1.0 - 1e-12)).ceil() as i64;
    let highest = ((observed + allowance) / step * (1.0 + 1e-12)).floor() as i64;
    let slack = chance + plan.trusted();
    let toward = law.at_or_above(lowest) * (1.0 + 1e-12) + slack;
    let against = 1.0 - law.at_or_above(highest + 1) * (1.0 - 1e-12) + slack;
    (toward.min(1.0), against.min(1.0))
}

/// The window and the cost of computing the law.
struct Plan {
    /// Sums are kept from −window to window.
    window: i64,
    /// Whether the window is narrower than the range of the sum.
    cut: bool,
    updates: f64,
}

impl Plan {
    fn new(magnitudes: &[(u64, usize)]) -> Self {
        let mut moved = 0.0;
        let mut range = 0.0;
        let mut squares = 0.0;
        for &(magnitude, count) in magnitudes {
            let (magnitude, count) = (magnitude as f64, count as f64);
            moved += count;
            range += magnitude * count;
            squares += magnitude * magnitude * count;
        }
        let narrow = (WINDOW * squares.sqrt()).ceil() + 2.0;
        let cut = moved * range > WHOLE_RANGE_BUDGET && narrow < range;
        let window = if cut { narrow } else { range };
        let terms: f64 = magnitudes.iter().map(|&(_, count)| binomial_reach(count, cut) as f64 + 1.0).sum();
        Self { window: window as i64, cut, updates: terms * window }
    }

    /// Smallest tail that the law resolves.
    const fn trusted(&self) -> f64 {
        if self.cut { TRUSTED_IN_WINDOW } else { TRUSTED }
    }
}

impl Law {
    fn new(magnitudes: &[(u64, usize)], plan: &Plan) -> Self {
        let mut half = HalfLaw::new(plan);
        let mut squares = 0.0;
        for &(magnitude, count) in magnitudes {
            squares += (magnitude as f64) * (magnitude as f64) * count as f64;
            // the window grows with the standard deviation of what was added so far
            let window =
                if plan.cut { ((WINDOW * squares.sqrt()).ceil() as i64 + 2).min(plan.window) } else { plan.window };
            // Sums of magnitudes fit an i64: the caller checked their total.
            if let (Ok(magnitude), Ok(signed_count)) = (i64::try_from(magnitude), i64::try_from(count)) {
                half.range += magnitude * signed_count;
                half.add(magnitude, &binomial_law(count, binomial_reach(count, plan.cut)), window);
            }
        }
        half.whole()
    }

    fn index(&self, sum: i64) -> i64 {
        (sum - self.base).div_euclid(2)
    }

    /// The chance that this sum and an independent other one add up to exactly `sum`.
    fn at_with(&self, other: &Self, sum: i64) -> f64 {
        let terms = self.masses.iter().enumerate();
        compensated(terms.map(|(index, mass)| mass * other.at(sum - (self.base + 2 * index as i64))))
    }

    /// The chance that this sum and an independent other one add up to `sum` or more.
    fn at_or_above_with(&self, other: &Self, sum: i64) -> f64 {
        // chances of at least the sum of each cell, smallest terms first
        let mut tails: Vec<f64> = Vec::with_capacity(other.masses.len());
        let mut total = 0.0;
        for mass in other.masses.iter().rev() {
            total += mass;
            tails.push(total);
        }
        tails.reverse();
        let tail = |at_least: i64| match usize::try_from(other.index(at_least + 1).max(0)) {
            Ok(first) => tails.get(first).copied().unwrap_or(0.0),
            Err(_) => 0.0,
        };
        let terms = self.masses.iter().enumerate().rev();
        compensated(terms.map(|(index, mass)| mass * tail(sum - (self.base + 2 * index as i64)))).min(1.0)
    }

    /// The chance of exactly `sum`.
    fn at(&self, sum: i64) -> f64 {
        if (sum - self.base).rem_euclid(2) != 0 {
            return 0.0;
        }
        usize::try_from(self.index(sum)).ok().and_then(|index| self.masses.get(index)).copied().unwrap_or(0.0)
    }

    /// The chance of `sum` or more, smallest terms first; 0 when the window ends below `sum`.
    fn at_or_above(&self, sum: i64) -> f64 {
        let first = self.index(sum + 1).max(0);
        let tail = usize::try_from(first).ok().and_then(|first| self.masses.get(first..)).unwrap_or(&[]);
        tail.iter().rev().sum::<f64>().min(1.0)
    }
}

/// A sum whose rounding errors are added up beside it (Neumaier 1974 *ZAMM* 54:39).
fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut error) = (0.0_f64, 0.0_f64);
    for term in terms {
        let next = sum + term;
        error += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + error
}

/// The law of a sum that is symmetric about 0: `masses[i]` is the chance of the sum `parity + 2·i`, and of its negative.
struct HalfLaw {
    masses: Vec<f64>,
    /// The next table, which takes turns with `masses`: fresh ones for every magnitude would cost more than the sums.
    next: Vec<f64>,
    /// 0 or 1, as all sums are even or all are odd.
    parity: i64,
    /// The largest sum of the magnitudes so far.
    range: i64,
}

impl HalfLaw {
    fn new(plan: &Plan) -> Self {
        let largest = usize::try_from(plan.window).unwrap_or(0) / 2 + 1;
        let mut masses = Vec::with_capacity(largest);
        masses.push(1.0);
        Self { masses, next: Vec::with_capacity(largest), parity: 0, range: 0 }
    }

    /// Adds a magnitude times a net sign with a symmetric law, keeping sums up to `window`.
    fn add(&mut self, magnitude: i64, law: &[(i64, f64)], window: i64) {
        let parity = self.range.rem_euclid(2);
        let limit = self.range.min(window);
        let cells = usize::try_from((limit - parity).div_euclid(2) + 1).unwrap_or(0);
        self.next.clear();
        self.next.resize(cells, 0.0);
        for &(net, weight) in law {
            // the sum that the new cell j has without this magnitude is that of the old cell j + shift
            let shift = (parity - self.parity - magnitude * net).div_euclid(2);
            self.add_shifted(shift, weight);
        }
        self.parity = parity;
        std::mem::swap(&mut self.masses, &mut self.next);
    }

    /// Adds to each cell j of the next table `weight` times the old cell j + shift; a negative one is mirrored.
    fn add_shifted(&mut self, shift: i64, weight: f64) {
        let Self { masses, next, parity, .. } = self;
        let mirrored = usize::try_from(-shift).unwrap_or(0).min(next.len());
        let (below, above) = next.split_at_mut(mirrored);
        // cell j + shift below 0 has the mass of cell −(j + shift) − parity: the first j has the farthest
        let farthest = usize::try_from(-shift - *parity).unwrap_or(0);
        let beyond = (farthest + 1).saturating_sub(masses.len()).min(below.len());
        let last = (farthest + 1 - beyond).min(masses.len());
        for (cell, mass) in below[beyond..].iter_mut().zip(masses[..last].iter().rev()) {
            *cell += weight * mass;
        }
        let first = usize::try_from(shift).unwrap_or(0).min(masses.len());
        for (cell, mass) in above.iter_mut().zip(&masses[first..]) {
            *cell += weight * mass;
        }
    }

    /// The law of all sums.
    fn whole(self) -> Law {
        let Self { masses, parity, .. } = self;
        let base = -parity - 2 * (masses.len() as i64 - 1);
        // 0 is its own negative
        let positive = if parity == 0 { &masses[1..] } else { &masses[..] };
        let mut whole = Vec::with_capacity(2 * masses.len());
        whole.extend(masses.iter().rev());
        whole.extend(positive);
        Law { base, masses: whole }
    }
}

/// How far from balance the signs of `count` equal magnitudes are followed.
fn binomial_reach(count: usize, cut: bool) -> usize {
    if !cut && count <= 1000 {
        return count;
    }
    // Fourteen standard deviations of the net sign.
    let reach = (WINDOW * (count as f64).sqrt()).ceil() as usize + 2;
    reach.min(count)
}

/// The law of the net sign of `count` fair signs, `net` from −reach to reach in steps of two, with its chance.
fn binomial_law(count: usize, reach: usize) -> Vec<(i64, f64)> {
    // Ratios from the middle outward, then normalised: no binomial coefficient is ever formed.
    let mut upper: Vec<(usize, f64)> = Vec::new();
    let mut net = count % 2;
    let mut weight = 1.0;
    while net <= reach {
        upper.push((net, weight));
        weight *= (count - net) as f64 / (count + net + 2) as f64;
        net += 2;
    }
    let total: f64 = upper.iter().rev().map(|&(net, weight)| if net == 0 { weight } else { 2.0 * weight }).sum();
    let mut law = Vec::with_capacity(upper.len() * 2);
    for (net, weight) in upper {
        let signed = i64::try_from(net).unwrap_or(i64::MAX);
        law.push((signed, weight / total));
        if net != 0 {
            law.push((-signed, weight / total));
        }
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign_flip::counts;

    /// 2, 3, 5, ... repeated: no structure that would hide an error of one cell.
    const MAGNITUDES: [(u64, usize); 4] = [(2, 9), (3, 11), (7, 8), (10, 7)];

    fn whole_range() -> i64 {
        MAGNITUDES.iter().map(|&(magnitude, count)| (magnitude as i64) * (count as i64)).sum()
    }

    #[test]
    fn mass_agrees_with_counts_at_every_sum() {
        let range = whole_range();
        let total = 2.0_f64.powi(35);
        for observed in (2 - range % 2..range).step_by(2) {
            let target = usize::try_from((range - observed) / 2).unwrap();
            let counted = counts::by_sum(&MAGNITUDES, target);
            let LatticeTail::Found(tail) = lattice_tail(&MAGNITUDES, observed) else { panic!("{observed}") };
            let close = |actual: f64, count: u128| (actual - count as f64 / total).abs() <= 1e-13 * actual;
            assert!(close(tail.at_or_beyond, counted.at_or_beyond), "{observed}");
            assert!(close(tail.equal, counted.equal), "{observed}");
        }
    }

    #[test]
    fn a_window_changes_nothing_inside_it() {
        let plan = Plan::new(&MAGNITUDES);
        let whole = Law::new(&MAGNITUDES, &plan);
        let narrow = Law::new(&MAGNITUDES, &Plan { window: whole_range() * 9 / 10, cut: true, updates: 0.0 });
        for observed in 0..40 {
            let (whole, narrow) = (whole.at_or_above(observed), narrow.at_or_above(observed));
            assert!((whole - narrow).abs() < 1e-4 * whole, "{observed}: {whole} {narrow}");
        }
        assert_eq!(narrow.at_or_above(whole_range()), 0.0);
        assert!((narrow.at_or_above(-whole_range()) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn rounded_bounds_lie_above_and_close_to_the_exact_tail() {
        let magnitudes: Vec<(f64, usize)> =
            MAGNITUDES.iter().map(|&(magnitude, count)| (magnitude as f64 / 10.0, count)).collect();
        for observed in [1_i64, 21, 41, 61, 81] {
            let LatticeTail::Found(tail) = lattice_tail(&MAGNITUDES, observed) else { panic!("{observed}") };
            let (toward, against) = rounded_bounds(&magnitudes, observed as f64 / 10.0);
            let exact_against = 1.0 - tail.at_or_beyond + tail.equal;
            assert!(toward >= tail.at_or_beyond && toward <= tail.at_or_beyond * 1.001, "{observed}");
            assert!(against >= exact_against - 1e-12 && against <= exact_against * 1.001, "{observed}");
            assert!(hoeffding(&magnitudes, observed as f64 / 10.0) >= tail.at_or_beyond);
        }
    }
}
