//! Does the headline keep its promises? Suites are drawn from populations whose true lift is known, analysed with the
//! public functions, and counted.
//!
//! 2000 suites a design, so a share near 0.05 has a standard error of 0.0049 and a limit of 0.065 is three of them above
//! it. Everything is drawn from one seed: a failure is a change of the methods or of the designs, never bad luck. The methods that
//! are known to fail are asserted to fail, with the reason why they do not decide a verdict. `cargo bench -p skill-lift-stats
//! --bench calibration` does the same with more suites and prints the tables of `docs/statistics.md`.

mod designs;
mod simulation;

use skill_lift_stats::interval::equivalence;
use skill_lift_stats::rational::rate;
use skill_lift_stats::{Rational, Thresholds, VerdictCode, sign_flip};

use designs::{AT_THE_MARGIN, Design, Generator, LIFTS, Law, NULLS, RARE_HARMS, Suite, TRUTHS};
use simulation::{Headline, exact_misses, misses, runs_as_units_reject, within_cases_rejects};

const SUITES: u32 = 2_000;
/// 0.05 and three standard errors.
const LIMIT: f64 = 0.065;

/// The share of suites of a design for which each condition holds.
fn shares<const CONDITIONS: usize>(
    design: Design,
    suites: u32,
    conditions: impl Fn(&Suite) -> [bool; CONDITIONS],
) -> [f64; CONDITIONS] {
    let mut generator = Generator::new(design);
    let mut counts = [0_u32; CONDITIONS];
    for _ in 0..suites {
        for (count, holds) in counts.iter_mut().zip(conditions(&generator.suite())) {
            *count += u32::from(holds);
        }
    }
    counts.map(|count| f64::from(count) / f64::from(suites))
}

/// Every design whose share exceeds the limit, with the share.
struct Exceeded {
    limit: f64,
    designs: Vec<String>,
}

impl Exceeded {
    fn new(limit: f64) -> Self {
        Self { limit, designs: Vec::new() }
    }

    fn check(&mut self, what: &str, design: &Design, share: f64) {
        if share > self.limit {
            self.designs.push(format!("{what}: {} {share}", design.label()));
        }
    }

    fn none(self) {
        assert_eq!(self.designs, Vec::<String>::new(), "above {}", self.limit);
    }
}

fn headline_errors(design: Design) -> [f64; 2] {
    let thresholds = Thresholds::default();
    let truth = design.truth();
    shares(design, SUITES, |suite| {
        let headline = Headline::new(&suite.units, &thresholds);
        let interval = headline.interval.unwrap();
        [headline.rejects, misses(interval.lower, interval.upper, truth)]
    })
}

fn alpha() -> Rational {
    rate(1, 20)
}

fn null(name: &str, units: usize, repetitions: usize) -> Design {
    let found = NULLS
        .iter()
        .chain(&RARE_HARMS)
        .find(|design| design.name.starts_with(name) && design.units == units && design.repetitions == repetitions);
    *found.unwrap()
}

#[test]
fn a_skill_that_changes_nothing_is_seldom_called_good_or_bad() {
    let mut exceeded = Exceeded::new(LIMIT);
    for design in NULLS {
        let [rejected, missed] = headline_errors(design);
        exceeded.check("sign-flip", &design, rejected);
        exceeded.check("padded t", &design, missed);
    }
    exceeded.none();
}

#[test]
fn the_interval_seldom_misses_a_true_lift() {
    let mut exceeded = Exceeded::new(LIMIT);
    for design in LIFTS {
        let [_, missed] = headline_errors(design);
        exceeded.check("padded t", &design, missed);
    }
    exceeded.none();
}

#[test]
fn cases_that_are_fixed_or_not_have_exact_chances_of_a_miss() {
    // scipy 1.17: the limits by stats.t, summed over stats.binom.
    for (cases, thousandths, expected) in [
        (10, 500, 0.0107),
        (20, 200, 0.0121),
        (30, 100, 0.0428),
        (50, 200, 0.0543),
        (100, 100, 0.0622),
        (100, 900, 0.0284),
        // The worst of K = 6 to 200 and 5, 10, ... 995 thousandths.
        (168, 35, 0.0668),
    ] {
        let [missed] = exact_misses(cases, &[thousandths])[..] else { unreachable!() };
        assert!((missed - expected).abs() < 6e-5, "{cases} {thousandths} {missed}");
    }
}

#[test]
fn a_lift_at_the_margin_is_seldom_called_equivalent_or_no_lift() {
    let thresholds = Thresholds::default();
    let mut equivalent = Exceeded::new(0.075);
    // With 100 cases of which a tenth are fixed, five or fewer are with chance 0.058, and then the interval ends below 0.10.
    let mut no_evidence = Exceeded::new(LIMIT);
    for design in AT_THE_MARGIN {
        let [claimed, denied] = shares(design, SUITES, |suite| {
            let claimed = equivalence(&suite.units, thresholds.alpha(), thresholds.min_lift());
            let verdict = Headline::new(&suite.units, &thresholds).verdict;
            [claimed.is_ok_and(|claim| claim.equivalent), verdict.code == VerdictCode::NoEvidence]
        });
        equivalent.check("equivalent", &design, claimed);
        no_evidence.check("no_evidence", &design, denied);
    }
    equivalent.none();
    no_evidence.none();
}

#[test]
fn a_verdict_seldom_has_the_wrong_sign() {
    let thresholds = Thresholds::default();
    let mut exceeded = Exceeded::new(0.01);
    let mut denied = Exceeded::new(0.05);
    for (name, law) in TRUTHS {
        let wrong = match law {
            Law::Everywhere(lift) if lift > 0.0 => VerdictCode::Harms,
            Law::Everywhere(_) => VerdictCode::Helps,
            _ => continue,
        };
        for cases in [10, 20, 50, 100] {
            let design = Design::new(name, law, cases, 5);
            let [opposite, no_evidence] = shares(design, SUITES, |suite| {
                let code = Headline::new(&suite.units, &thresholds).verdict.code;
                [code == wrong, code == VerdictCode::NoEvidence]
            });
            exceeded.check("wrong sign", &design, opposite);
            denied.check("no_evidence", &design, no_evidence);
        }
    }
    exceeded.none();
    denied.none();
}

#[test]
fn runs_as_units_see_lifts_that_are_not_there() {
    // Runs of an arm of a case share its noise, so there is less evidence than there are runs.
    let [share] = shares(null("N2", 8, 5), SUITES, |suite| [runs_as_units_reject(suite, &alpha())]);
    assert!(share > 0.08, "{share}");
}

#[test]
fn labels_permuted_within_cases_see_lifts_that_are_not_there() {
    for cases in [6, 10] {
        let [share] = shares(null("N2", cases, 20), SUITES / 4, |suite| [within_cases_rejects(suite, &alpha())]);
        assert!(share > 0.25, "{share}");
    }
}

#[test]
fn pairs_of_case_and_model_see_lifts_that_are_not_there() {
    // Models on the same cases are not new cases.
    for design in NULLS.into_iter().filter(|design| matches!(design.law, Law::Models(_))) {
        let [share] = shares(design, SUITES, |suite| [sign_flip(&suite.parts).at_most(&alpha())]);
        assert!(share > 0.10, "{} {share}", design.label());
    }
}

#[test]
fn cases_of_families_see_lifts_that_are_not_there() {
    for (families, size) in [(5, 4), (8, 5)] {
        let design = null("N9", families, 0);
        assert!(matches!(design.law, Law::Families { size: cases, .. } if cases == size));
        let [share] = shares(design, SUITES, |suite| [sign_flip(&suite.parts).at_most(&alpha())]);
        assert!(share > 0.12, "{} {share}", design.label());
    }
}

#[test]
fn a_harm_that_the_suite_does_not_contain_is_seen_by_no_test() {
    // One case in ten is wrecked: ten cases have no wreck with chance 0.9^10 = 0.35, and then only gains.
    let [share] = shares(null("N6 rare wreck", 10, 0), SUITES, |suite| [sign_flip(&suite.units).at_most(&alpha())]);
    assert!(share > 0.30, "{share}");
}
