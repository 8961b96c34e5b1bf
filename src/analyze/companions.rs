//! What stands beside the headline and decides nothing: other intervals, robust estimates, influence, where the spread
//! comes from, and whether the arms are shown to be alike. Each is known to fail somewhere, which is why none of them is
//! the headline.

use std::collections::BTreeMap;

use skill_lift_stats::Withheld;
use skill_lift_stats::betting::{BoundedInterval, bounded_interval};
use skill_lift_stats::hodges_lehmann::{LeaveOneOut, few_cases_carry_the_lift, hodges_lehmann, leave_one_out};
use skill_lift_stats::interval::{Equivalence, equivalence};
use skill_lift_stats::inversion::{InversionInterval, inversion_interval};
use skill_lift_stats::permutation::PermutationTest;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::variance::{UnitSpread, VarianceSplit, mean_noise, variance_split};

use super::AnalysisOptions;
use super::independence::Independence;
use super::inference::{Contrast, Unit};
use super::table::RunTable;
use super::within_case::RunsOfCases;

/// The companions of the headline.
#[derive(Debug)]
pub struct Companions {
    /// Limits by inverting the sign-flip test (Hartigan 1969 *JASA* 64:1303).
    pub interval_sign_flip: Result<InversionInterval, Withheld>,
    /// Limits that hold for every law of the deltas.
    pub interval_bounded: Result<BoundedInterval, Withheld>,
    /// The label permutation of all runs, cases and models as strata.
    pub within_case: Result<PermutationTest, Withheld>,
    /// Whether the lift lies within the margin that the user named.
    pub equivalence: Result<Equivalence, Withheld>,
    /// Median of the averages of two deltas.
    pub hodges_lehmann: Result<Rational, Withheld>,
    /// Whether that median is far from the mean, measured by the width of the headline interval.
    pub few_cases_carry_the_lift: bool,
    /// The lift without one unit, at its lowest and its highest.
    pub leave_one_out: Result<LeaveOneOut, Withheld>,
    /// How much of the spread of the deltas is noise of the repetitions.
    pub variance: Result<VarianceSplit, Withheld>,
}

impl Companions {
    /// Of a headline and the runs behind it.
    pub fn of(
        table: &RunTable,
        contrast: &Contrast,
        (runs, independence): (&RunsOfCases, &Independence),
        options: &AnalysisOptions,
    ) -> Self {
        let alpha = options.thresholds.alpha();
        let deltas: Vec<Rational> = contrast.units.iter().map(|unit| unit.delta()).collect();
        let margin = options.equivalence_margin.as_ref().ok_or(Withheld::NoAlternativeDeclared);
        let ((interval_sign_flip, interval_bounded), within_case) = rayon::join(
            || rayon::join(|| inversion_interval(&deltas, alpha), || bounded_interval(&deltas, alpha)),
            || runs.overall(independence),
        );
        let robust = hodges_lehmann(&deltas);
        let width = contrast.interval.as_ref().ok().and_then(|i| rational::from_f64(i.upper - i.lower));
        let carried = match (&contrast.test.estimate, &robust, width) {
            (Some(mean), Ok(robust), Some(width)) => few_cases_carry_the_lift(mean, robust, &width),
            _ => false,
        };
        Self {
            interval_sign_flip,
            interval_bounded,
            within_case,
            equivalence: margin.and_then(|margin| equivalence(&deltas, alpha, margin)),
            hodges_lehmann: robust,
            few_cases_carry_the_lift: carried,
            leave_one_out: leave_one_out(&deltas),
            variance: variance_split(&spreads(table, contrast, runs)),
        }
    }
}

/// The deltas with the noise of the runs behind them.
fn spreads(table: &RunTable, contrast: &Contrast, runs: &RunsOfCases) -> Vec<UnitSpread> {
    let mut noise: BTreeMap<&str, Vec<Option<Rational>>> = BTreeMap::new();
    for position in table.cases_by_id() {
        let case = &table.cases[position as usize];
        let name = match contrast.unit {
            Unit::Case => case.id.as_str(),
            Unit::Family => case.family.as_deref().unwrap_or(case.id.as_str()),
        };
        noise.entry(name).or_default().push(runs.noise(position));
    }
    let spread = |unit: &super::inference::UnitRates| UnitSpread {
        delta: unit.delta(),
        noise: noise.get(unit.name.as_str()).and_then(|cases| mean_noise(cases)),
    };
    contrast.units.iter().map(spread).collect()
}
