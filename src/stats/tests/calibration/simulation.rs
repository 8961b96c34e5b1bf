//! What the methods say about simulated suites.

use skill_lift_stats::permutation::{Stratum, permutation_test};
use skill_lift_stats::rational::rate;
use skill_lift_stats::{PaddedT, Rational, SignFlip, Thresholds, Verdict, Withheld, padded_t, sign_flip, verdict};

use crate::designs::Suite;

/// Limits and truths that are both decimals differ by rounding only.
const ROUNDING: f64 = 1e-12;

/// The headline of a suite at alpha 0.05 and a smallest lift of 0.10.
pub struct Headline {
    pub rejects: bool,
    pub interval: Result<PaddedT, Withheld>,
    pub verdict: Verdict,
}

impl Headline {
    pub fn new(units: &[Rational], thresholds: &Thresholds) -> Self {
        let test: SignFlip = sign_flip(units);
        let interval = padded_t(units, thresholds.alpha(), &test);
        let verdict = verdict(&test, &interval, thresholds);
        Self { rejects: test.at_most(thresholds.alpha()), interval, verdict }
    }
}

pub fn misses(lower: f64, upper: f64, truth: f64) -> bool {
    lower > truth + ROUNDING || upper < truth - ROUNDING
}

/// McNemar's exact test of the runs, the i-th with the skill against the i-th without it, as if runs were units: the
/// sign-flip test of their differences.
pub fn runs_as_units_reject(suite: &Suite, alpha: &Rational) -> bool {
    let number = |passed: &bool| i64::from(*passed);
    let differences: Vec<Rational> = suite
        .runs
        .iter()
        .flat_map(|[with, without]| with.iter().zip(without))
        .map(|(with, without)| Rational::from_integer((number(with) - number(without)).into()))
        .collect();
    sign_flip(&differences).at_most(alpha)
}

/// The permutation of labels within cases, which takes runs as independent.
pub fn within_cases_rejects(suite: &Suite, alpha: &Rational) -> bool {
    let rates = |arm: &Vec<bool>| -> Vec<Rational> { arm.iter().map(|passed| rate(u64::from(*passed), 1)).collect() };
    let cases: Vec<[Vec<Rational>; 2]> = suite.runs.iter().map(|arms| arms.each_ref().map(rates)).collect();
    let strata: Vec<Stratum<'_>> = cases.iter().map(|[with, without]| Stratum { with, without }).collect();
    permutation_test(&strata).unwrap().at_most(alpha)
}

/// The chance, without simulation, that the headline interval misses the lift when each case is fixed (delta 1) with a
/// chance of so many thousandths and stays as it is (delta 0) otherwise; one for each of the `thousandths`.
pub fn exact_misses(cases: usize, thousandths: &[u32]) -> Vec<f64> {
    let thresholds = Thresholds::default();
    let limits: Vec<(f64, f64)> = (0..=cases)
        .map(|fixed| {
            let deltas: Vec<Rational> = (0..cases).map(|case| rate(u64::from(case < fixed), 1)).collect();
            let interval = Headline::new(&deltas, &thresholds).interval.unwrap();
            (interval.lower, interval.upper)
        })
        .collect();
    let missed = |chance: f64| -> f64 {
        let laws = limits.iter().zip(binomial_law(cases, chance));
        laws.filter(|((lower, upper), _)| misses(*lower, *upper, chance)).map(|(_, mass)| mass).sum()
    };
    thousandths.iter().map(|&thousandth| missed(f64::from(thousandth) / 1000.0)).collect()
}

/// The chances of 0, 1, … `trials` successes.
fn binomial_law(trials: usize, chance: f64) -> Vec<f64> {
    if chance > 0.5 {
        // From the likelier end, which does not underflow.
        let mut law = binomial_law(trials, 1.0 - chance);
        law.reverse();
        return law;
    }
    let odds = chance / (1.0 - chance);
    let mut mass = (trials as f64 * (-chance).ln_1p()).exp();
    let mut law = Vec::with_capacity(trials + 1);
    for successes in 0..=trials {
        law.push(mass);
        mass *= odds * (trials - successes) as f64 / (successes + 1) as f64;
    }
    law
}
