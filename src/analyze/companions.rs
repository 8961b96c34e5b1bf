//! What stands beside the headline and decides nothing: other intervals, robust estimates, influence, where the spread
//! comes from, and whether the arms are shown to be alike. Each is known to fail somewhere, which is why none of them is
//! the headline.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{One, Zero};
use skill_lift_stats::Withheld;
use skill_lift_stats::betting::{BoundedInterval, bounded_interval};
use skill_lift_stats::bootstrap::{BootstrapInterval, bootstrap_interval};
use skill_lift_stats::cluster::{ClusteredMean, clustered_mean};
use skill_lift_stats::gain::ArmRates;
use skill_lift_stats::hodges_lehmann::{LeaveOneOut, few_cases_carry_the_lift, hodges_lehmann, leave_one_out};
use skill_lift_stats::interval::{Equivalence, equivalence};
use skill_lift_stats::inversion::{InversionInterval, inversion_interval};
use skill_lift_stats::paired_binary::{DifferenceInterval, PairedTable};
use skill_lift_stats::permutation::PermutationTest;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::variance::{UnitSpread, VarianceSplit, mean_noise, variance_split};

use super::AnalysisOptions;
use super::independence::Independence;
use super::inference::{Contrast, Unit, UnitRates, cases_of_units};
use super::pairing::UnitMeans;
use super::table::RunTable;
use super::within_case::RunsOfCases;

/// The companions of the headline.
#[derive(Debug)]
pub struct Companions {
    /// Limits by inverting the sign-flip test (Hartigan 1969 *JASA* 64:1303).
    pub interval_sign_flip: Result<InversionInterval, Withheld>,
    /// Limits that hold for every law of the deltas.
    pub interval_bounded: Result<BoundedInterval, Withheld>,
    /// Percentile and BCa limits of the bootstrap, counted and not drawn.
    pub interval_bootstrap: Result<BootstrapInterval, Withheld>,
    /// Tango's score limits, where every unit passes or fails whole in both arms.
    pub interval_tango: Result<DifferenceInterval, Withheld>,
    /// The mean over cases with families as clusters, each case weighing the same; `None` where cases are the units.
    pub case_weighted: Option<Result<ClusteredMean, Withheld>>,
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
    /// Of a headline, the cases and models behind it, and their runs.
    pub fn of(
        table: &RunTable,
        contrast: &Contrast,
        units: &[UnitMeans],
        (runs, independence): (&RunsOfCases, &Independence),
        options: &AnalysisOptions,
    ) -> Self {
        let alpha = options.thresholds.alpha();
        let deltas: Vec<Rational> = contrast.units.iter().map(|unit| unit.delta()).collect();
        let margin = options.equivalence_margin.as_ref().ok_or(Withheld::NoAlternativeDeclared);
        let ((interval_sign_flip, interval_bounded), (within_case, interval_bootstrap)) = rayon::join(
            || rayon::join(|| inversion_interval(&deltas, alpha), || bounded_interval(&deltas, alpha)),
            || rayon::join(|| runs.overall(independence), || bootstrap(&deltas, alpha)),
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
            interval_bootstrap,
            interval_tango: tango(contrast, alpha),
            case_weighted: case_weighted(table, contrast, units, alpha),
            within_case,
            equivalence: margin.and_then(|margin| equivalence(&deltas, alpha, margin)),
            hodges_lehmann: robust,
            few_cases_carry_the_lift: carried,
            leave_one_out: leave_one_out(&deltas),
            variance: variance_split(&spreads(table, contrast, runs)),
        }
    }
}

/// Steps between the lowest and the highest sum of deltas up to which the bootstrap is counted: some milliseconds. Beyond it
/// there are so many units that its limits are those of Student's t, or so many denominators that it takes too long.
const MOST_BOOTSTRAPPED: u64 = 6_000;

fn bootstrap(deltas: &[Rational], alpha: &Rational) -> Result<BootstrapInterval, Withheld> {
    let ends = deltas.iter().min().zip(deltas.iter().max());
    let steps = ends.map(|(lowest, highest)| {
        let range = (highest - lowest) * rational::common_denominator(deltas);
        range * BigInt::from(deltas.len())
    });
    if steps.is_some_and(|steps| steps > rational::rate(MOST_BOOTSTRAPPED, 1)) {
        return Err(Withheld::BeyondExactBudget);
    }
    bootstrap_interval(deltas, alpha)
}

fn tango(contrast: &Contrast, alpha: &Rational) -> Result<DifferenceInterval, Withheld> {
    let is_whole = |rate: &Rational| rate.is_zero() || rate.is_one();
    // most suites end here: no copies of their rates are made
    if contrast.units.iter().any(|unit| !is_whole(&unit.with_skill) || !is_whole(&unit.without_skill)) {
        return Err(Withheld::NonBinaryDeltas);
    }
    let rates = |unit: &UnitRates| ArmRates { with: unit.with_skill.clone(), without: unit.without_skill.clone() };
    let table = PairedTable::from_rates(&contrast.units.iter().map(rates).collect::<Vec<_>>())?;
    Ok(table.tango(rational::to_f64(alpha)))
}

/// The mean over all cases, where families are the units.
fn case_weighted(
    table: &RunTable,
    contrast: &Contrast,
    units: &[UnitMeans],
    alpha: &Rational,
) -> Option<Result<ClusteredMean, Withheld>> {
    if contrast.unit != Unit::Family {
        return None;
    }
    let families = cases_of_units(table, contrast.unit, units);
    let clusters: Vec<Vec<Rational>> =
        families.into_values().map(|cases| cases.iter().map(UnitRates::delta).collect()).collect();
    Some(clustered_mean(&clusters, alpha))
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
    let spread = |unit: &UnitRates| UnitSpread {
        delta: unit.delta(),
        noise: noise.get(unit.name.as_str()).and_then(|cases| mean_noise(cases)),
    };
    contrast.units.iter().map(spread).collect()
}
