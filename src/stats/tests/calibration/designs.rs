//! Populations of cases whose true lift is known, and suites drawn from them.
//!
//! The N designs have a true mean lift of 0, the A designs one that is not 0. Unless a law says otherwise the baseline
//! pass rate of a case is uniform (Beta(1,1)) and the runs of a case are independent given its two pass rates.

use std::f64::consts::PI;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use skill_lift_stats::Rational;
use skill_lift_stats::rational::{mean, rate};

/// One seed for everything; each design has a stream of its own, so that no design moves another one.
const SEED: u64 = 0x5111_11f7;

/// How the cases of a design come about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// The same pass rate in both arms.
    NothingChanges,
    /// As above, then the logit of the pass rate is shifted by N(0, 1) once for each case and arm: all runs of an arm of a
    /// case share it, as runs of one day, server or cache do.
    SharedNoise,
    /// The skill moves the pass rate by +0.3 or −0.3, with equal chances; clipped to 0..=1, which keeps the mean at 0.
    OpposedEffects,
    /// Deltas N(0, s²), clipped to −1..=1: s = 0.25 in two cases, 0.005 in the others.
    TwoNoisyCases,
    /// Deltas N(0, s²), clipped to −1..=1, with s = 0.05·exp(N(0, 1)) for each case.
    LogNormalScales,
    /// Nine cases in ten unchanged, the others +1 or −1 with equal chances.
    MostlyUnchanged,
    /// Normal deltas with standard deviation 0.2 of several models on the same cases, correlated with 0.6.
    Models(usize),
    /// Normal deltas with standard deviation 0.2 of `size` cases in each family; `share` of the variance is the family's.
    Families { size: usize, share: f64 },
    /// +0.1 in nine cases of ten, −0.9 in the tenth.
    RareWreck,
    /// +0.1 in three cases of four, −0.3 in the fourth.
    RareLoss,
    /// The baseline uniform in 0..=1/2, the lift uniform in 0..=1/2.
    UnevenLift,
    /// The baseline uniform in 0..=1/2, +1/2 in half of the cases, nothing in the others.
    HalfLifted,
    /// Pass rates that are the same in all cases.
    Constant { without: f64, with: f64 },
    /// Delta 1 with this chance, 0 otherwise: a case is fixed or it is not.
    Fixed(f64),
    /// +0.4 with chance 0.8, 0 with chance 0.1, −0.6 with chance 0.1.
    MostlyLifted,
    /// U-shaped baselines (Beta(1/2, 1/2)); the skill halves the failures.
    HalvedFailures,
    /// The same lift in every case, the baseline uniform where both pass rates stay in 0..=1.
    Everywhere(f64),
    /// Baseline 0.5; +0.4 or −0.4 with equal chances.
    HelpsOrHarms,
    /// Baseline 0.4; +0.5 in one case of five.
    OneInFive,
}

/// A population and the size of the suites drawn from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    pub name: &'static str,
    pub law: Law,
    /// Units: cases, or families of cases.
    pub units: usize,
    /// Runs in each arm of each case; 0 where the law gives deltas.
    pub repetitions: usize,
}

impl Design {
    pub const fn new(name: &'static str, law: Law, units: usize, repetitions: usize) -> Self {
        Self { name, law, units, repetitions }
    }

    /// The true mean lift.
    pub fn truth(&self) -> f64 {
        match self.law {
            Law::UnevenLift | Law::HalfLifted | Law::HalvedFailures => 0.25,
            Law::Constant { without, with } => with - without,
            Law::Fixed(share) => share,
            Law::MostlyLifted => 0.26,
            Law::Everywhere(lift) => lift,
            Law::OneInFive => 0.1,
            _ => 0.0,
        }
    }

    pub fn label(&self) -> String {
        let Self { name, units, repetitions, .. } = self;
        match (self.law, repetitions) {
            (Law::Models(models), _) => format!("{name}, {models} models × {units} cases"),
            (Law::Families { size, .. }, _) => format!("{name}, {units} families × {size} cases"),
            (_, 0 | 1) => format!("{name}, K = {units}"),
            _ => format!("{name}, K = {units}, R = {repetitions}"),
        }
    }
}

/// One simulated suite.
pub struct Suite {
    /// A delta per unit.
    pub units: Vec<Rational>,
    /// A delta per (case, model) or per case of a family, where that is not the unit.
    pub parts: Vec<Rational>,
    /// Whether each run passed, with the skill and without it, per case. Empty where the law gives deltas.
    pub runs: Vec<[Vec<bool>; 2]>,
}

/// Draws suites of a design, the same ones in every process.
pub struct Generator {
    random: ChaCha8Rng,
    design: Design,
}

impl Generator {
    pub fn new(design: Design) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        random.set_stream(stream(&design.label()));
        Self { random, design }
    }

    pub fn suite(&mut self) -> Suite {
        let Design { law, units, repetitions, .. } = self.design;
        let mut suite = Suite { units: Vec::with_capacity(units), parts: Vec::new(), runs: Vec::new() };
        for unit in 0..units {
            let delta = match law {
                Law::Models(size) => self.correlated(&mut suite, size, 0.6),
                Law::Families { size, share } => self.correlated(&mut suite, size, share),
                _ if repetitions == 0 => self.delta(unit),
                _ => self.runs(&mut suite),
            };
            suite.units.push(delta);
        }
        suite
    }

    /// The mean of deltas that share a part of their variance.
    fn correlated(&mut self, suite: &mut Suite, size: usize, share: f64) -> Rational {
        let common = share.sqrt() * self.normal();
        let first = suite.parts.len();
        for _ in 0..size {
            let delta = 0.2 * (common + (1.0 - share).sqrt() * self.normal());
            suite.parts.push(on_lattice(delta, 100));
        }
        mean(&suite.parts[first..]).unwrap()
    }

    fn delta(&mut self, unit: usize) -> Rational {
        let percent = match self.design.law {
            Law::TwoNoisyCases => return on_lattice(if unit < 2 { 0.25 } else { 0.005 } * self.normal(), 1_000_000),
            Law::LogNormalScales => return on_lattice(0.05 * self.normal().exp() * self.normal(), 1_000_000),
            Law::MostlyUnchanged => self.one_of(&[(0.9, 0), (0.05, 100), (0.05, -100)]),
            Law::RareWreck => self.one_of(&[(0.9, 10), (0.1, -90)]),
            Law::RareLoss => self.one_of(&[(0.75, 10), (0.25, -30)]),
            Law::Fixed(share) => self.one_of(&[(share, 100), (1.0 - share, 0)]),
            Law::MostlyLifted => self.one_of(&[(0.8, 40), (0.1, 0), (0.1, -60)]),
            law => unreachable!("{law:?} needs runs"),
        };
        Rational::new(percent.into(), 100.into())
    }

    fn runs(&mut self, suite: &mut Suite) -> Rational {
        let (with, without) = self.pass_rates();
        let repetitions = self.design.repetitions;
        let mut arm = |pass_rate: f64| -> Vec<bool> { (0..repetitions).map(|_| self.uniform() < pass_rate).collect() };
        let arms = [arm(with), arm(without)];
        let [with, without] = arms.each_ref().map(|arm| arm.iter().filter(|passed| **passed).count());
        suite.runs.push(arms);
        rate(with as u64, repetitions as u64) - rate(without as u64, repetitions as u64)
    }

    /// With the skill and without it.
    fn pass_rates(&mut self) -> (f64, f64) {
        let baseline = self.uniform();
        match self.design.law {
            Law::NothingChanges => (baseline, baseline),
            Law::SharedNoise => {
                let odds = baseline / (1.0 - baseline);
                let mut shifted = || 1.0 / (1.0 + (-self.normal()).exp() / odds);
                (shifted(), shifted())
            }
            Law::OpposedEffects => {
                let effect = if self.uniform() < 0.5 { 0.3 } else { -0.3 };
                ((baseline + effect).clamp(0.0, 1.0), baseline)
            }
            Law::UnevenLift => (0.5 * (baseline + self.uniform()), 0.5 * baseline),
            Law::HalfLifted => (0.5 * baseline + if self.uniform() < 0.5 { 0.5 } else { 0.0 }, 0.5 * baseline),
            Law::Constant { without, with } => (with, without),
            Law::HalvedFailures => {
                let baseline = (PI * baseline / 2.0).sin().powi(2);
                (0.5 + 0.5 * baseline, baseline)
            }
            Law::Everywhere(lift) => {
                let baseline = baseline * (1.0 - lift.abs()) + (-lift).max(0.0);
                (baseline + lift, baseline)
            }
            Law::HelpsOrHarms => (if baseline < 0.5 { 0.9 } else { 0.1 }, 0.5),
            Law::OneInFive => (if baseline < 0.2 { 0.9 } else { 0.4 }, 0.4),
            law => unreachable!("{law:?} gives deltas"),
        }
    }

    /// In 0..1, with 53 bits.
    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 * (0.5_f64).powi(53)
    }

    /// Box & Muller 1958 (*Ann. Math. Stat.* 29:610).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * PI * self.uniform()).cos()
    }

    fn one_of(&mut self, outcomes: &[(f64, i64)]) -> i64 {
        let mut point = self.uniform();
        for &(chance, outcome) in outcomes {
            if point < chance {
                return outcome;
            }
            point -= chance;
        }
        // Chances that add up to 1 - ε.
        outcomes[outcomes.len() - 1].1
    }
}

fn on_lattice(value: f64, denominator: i64) -> Rational {
    let steps = (value.clamp(-1.0, 1.0) * denominator as f64).round_ties_even();
    Rational::new((steps as i64).into(), denominator.into())
}

/// A stream number from a name (FNV-1a).
fn stream(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const fn of(name: &'static str, law: Law, units: usize, repetitions: usize) -> Design {
    Design::new(name, law, units, repetitions)
}

/// Designs in which the skill changes nothing on average and the sign-flip test must hold its level.
pub const NULLS: [Design; 30] = [
    of("N1 nothing changes", Law::NothingChanges, 6, 3),
    of("N1 nothing changes", Law::NothingChanges, 8, 5),
    of("N1 nothing changes", Law::NothingChanges, 20, 1),
    of("N1 nothing changes", Law::NothingChanges, 20, 5),
    of("N1 nothing changes", Law::NothingChanges, 50, 1),
    of("N2 shared noise", Law::SharedNoise, 6, 20),
    of("N2 shared noise", Law::SharedNoise, 8, 5),
    of("N2 shared noise", Law::SharedNoise, 10, 20),
    of("N2 shared noise", Law::SharedNoise, 20, 5),
    of("N3 opposed effects", Law::OpposedEffects, 8, 5),
    of("N3 opposed effects", Law::OpposedEffects, 20, 5),
    of("N3 opposed effects", Law::OpposedEffects, 20, 20),
    of("N4 two noisy cases", Law::TwoNoisyCases, 8, 0),
    of("N4 two noisy cases", Law::TwoNoisyCases, 12, 0),
    of("N4 log-normal scales", Law::LogNormalScales, 8, 0),
    of("N4 log-normal scales", Law::LogNormalScales, 20, 0),
    of("N5 few cases, shared noise", Law::SharedNoise, 5, 50),
    of("N5 few cases, shared noise", Law::SharedNoise, 6, 50),
    of("N5 few cases, shared noise", Law::SharedNoise, 7, 50),
    of("N7 nine in ten unchanged", Law::MostlyUnchanged, 20, 0),
    of("N7 nine in ten unchanged", Law::MostlyUnchanged, 50, 0),
    of("N9 families", Law::Families { size: 4, share: 0.5 }, 5, 0),
    of("N9 families", Law::Families { size: 5, share: 0.3 }, 8, 0),
    of("N9 families", Law::Families { size: 3, share: 0.5 }, 10, 0),
    of("N10 models", Law::Models(2), 10, 0),
    of("N10 models", Law::Models(3), 10, 0),
    of("N10 models", Law::Models(3), 20, 0),
    of("half +0.4, half −0.4", Law::HelpsOrHarms, 10, 5),
    of("half +0.4, half −0.4", Law::HelpsOrHarms, 20, 5),
    of("half +0.4, half −0.4", Law::HelpsOrHarms, 50, 5),
];

/// Designs with mean 0 in which a rare large harm cancels frequent small gains. "The skill changes nothing" is false here.
pub const RARE_HARMS: [Design; 7] = [
    of("N6 rare wreck", Law::RareWreck, 6, 0),
    of("N6 rare wreck", Law::RareWreck, 10, 0),
    of("N6 rare wreck", Law::RareWreck, 20, 0),
    of("N6 rare wreck", Law::RareWreck, 30, 0),
    of("N6 rare wreck", Law::RareWreck, 50, 0),
    of("N6 rare loss", Law::RareLoss, 10, 0),
    of("N6 rare loss", Law::RareLoss, 20, 0),
];

/// Designs with a lift that the headline interval must cover.
pub const LIFTS: [Design; 25] = [
    of("A1 uneven lift", Law::UnevenLift, 6, 5),
    of("A1 uneven lift", Law::UnevenLift, 10, 5),
    of("A1 uneven lift", Law::UnevenLift, 20, 5),
    of("A1 uneven lift", Law::UnevenLift, 30, 5),
    of("A1 half of the cases lifted", Law::HalfLifted, 8, 5),
    of("A1 half of the cases lifted", Law::HalfLifted, 15, 5),
    of("A1 half of the cases lifted", Law::HalfLifted, 30, 5),
    of("A2 one run, 0.5 to 0.9", Law::Constant { without: 0.5, with: 0.9 }, 10, 1),
    of("A2 one run, 0.5 to 0.9", Law::Constant { without: 0.5, with: 0.9 }, 20, 1),
    of("A2 one run, 0.5 to 0.9", Law::Constant { without: 0.5, with: 0.9 }, 50, 1),
    of("A3 half of the cases fixed", Law::Fixed(0.5), 6, 0),
    of("A3 half of the cases fixed", Law::Fixed(0.5), 10, 0),
    of("A3 half of the cases fixed", Law::Fixed(0.5), 20, 0),
    of("A4 nine in ten fixed", Law::Fixed(0.9), 6, 0),
    of("A4 nine in ten fixed", Law::Fixed(0.9), 10, 0),
    of("A4 nine in ten fixed", Law::Fixed(0.9), 20, 0),
    of("A4 nine in ten fixed", Law::Fixed(0.9), 30, 0),
    of("A5 one in ten fixed", Law::Fixed(0.1), 10, 0),
    of("A5 one in ten fixed", Law::Fixed(0.1), 20, 0),
    of("A5 one in ten fixed", Law::Fixed(0.1), 50, 0),
    of("A6 mostly lifted", Law::MostlyLifted, 10, 0),
    of("A6 mostly lifted", Law::MostlyLifted, 20, 0),
    of("A6 mostly lifted", Law::MostlyLifted, 30, 0),
    of("A7 failures halved", Law::HalvedFailures, 10, 3),
    of("A7 failures halved", Law::HalvedFailures, 20, 3),
];

/// Designs whose true lift equals the margin and the smallest lift that matters, 0.10.
pub const AT_THE_MARGIN: [Design; 13] = [
    of("one in ten fixed", Law::Fixed(0.1), 5, 0),
    of("one in ten fixed", Law::Fixed(0.1), 10, 0),
    of("one in ten fixed", Law::Fixed(0.1), 20, 0),
    of("one in ten fixed", Law::Fixed(0.1), 30, 0),
    of("one in ten fixed", Law::Fixed(0.1), 50, 0),
    of("one in ten fixed", Law::Fixed(0.1), 100, 0),
    of("0.5 to 0.6", Law::Constant { without: 0.5, with: 0.6 }, 10, 5),
    of("0.5 to 0.6", Law::Constant { without: 0.5, with: 0.6 }, 30, 5),
    of("0.5 to 0.6", Law::Constant { without: 0.5, with: 0.6 }, 50, 5),
    of("0.5 to 0.6", Law::Constant { without: 0.5, with: 0.6 }, 100, 5),
    of("one in five +0.5", Law::OneInFive, 20, 3),
    of("one in five +0.5", Law::OneInFive, 50, 3),
    of("one in five +0.5", Law::OneInFive, 100, 3),
];

/// Truths for which the verdicts are counted, each for 10, 20, 50, 100 and 200 cases with five runs an arm.
pub const TRUTHS: [(&str, Law); 6] = [
    ("the skill does nothing", Law::NothingChanges),
    ("lift 0.10 everywhere", Law::Everywhere(0.1)),
    ("half of the cases +0.5", Law::HalfLifted),
    ("harm −0.20 everywhere", Law::Everywhere(-0.2)),
    ("half +0.4, half −0.4", Law::HelpsOrHarms),
    ("saturated, 0.96 to 0.98", Law::Constant { without: 0.96, with: 0.98 }),
];
