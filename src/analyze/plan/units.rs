//! The units of a report: their deltas, and the noise of the runs behind them.

use skill_lift_stats::Withheld;
use skill_lift_stats::interval::padded_standard_deviation;
use skill_lift_stats::permutation::Stratum;
use skill_lift_stats::power::DeltaSpread;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::variance::{UnitSpread, mean_noise, run_noise, run_variance, variance_split};

use super::{Design, DeviationSource, Ground, LeftOut, Price, Repetitions, Spread};
use crate::analyze::report_units::{PairedRuns, ReportCase, ReportUnits, mean_rates};
use crate::runs::claims::{ReadDesign, RunPrice};

/// One unit of a report.
#[derive(Debug, Clone)]
pub struct PlanUnit {
    /// Mean with the skill minus mean without it.
    pub delta: Rational,
    /// Mean without the skill.
    pub without_skill: Rational,
    /// The noise of its runs, where both arms of all its cases and models have two.
    noise: Option<UnitNoise>,
}

/// Variances that noise of the runs gives.
#[derive(Debug, Clone)]
struct UnitNoise {
    /// To the delta of the unit as it is.
    of_delta: Rational,
    /// To the delta of the unit by one run with the skill of each case and model.
    run_with: Rational,
    /// The same without the skill.
    run_without: Rational,
}

impl UnitNoise {
    /// Of a mean over parts that weigh the same.
    fn mean(parts: &[Option<Self>]) -> Option<Self> {
        let over = |of: fn(&Self) -> &Rational| {
            mean_noise(&parts.iter().map(|part| part.as_ref().map(|part| of(part).clone())).collect::<Vec<_>>())
        };
        Some(Self {
            of_delta: over(|noise| &noise.of_delta)?,
            run_with: over(|noise| &noise.run_with)?,
            run_without: over(|noise| &noise.run_without)?,
        })
    }

    fn of_stratum(with: &[Rational], without: &[Rational]) -> Option<Self> {
        let of_delta = run_noise(&Stratum { with, without })?;
        Some(Self { of_delta, run_with: run_variance(with)?, run_without: run_variance(without)? })
    }
}

/// How much of the spread of the deltas is noise of the runs.
#[derive(Debug, Clone)]
pub struct SpreadSplit {
    /// Differences between units, and noise of one run in each arm; together they are the standard deviation.
    pub sources: DeltaSpread,
    /// What the repetitions of the design amount to.
    pub mean_repetitions: f64,
    /// Standard deviation of the deltas that noise alone would give with these repetitions.
    pub noise_of_deltas: f64,
    /// Noise over the variance of the deltas without pads; withheld when all deltas are equal.
    pub noise_share: Result<f64, Withheld>,
    /// Units whose noise is known.
    pub units: usize,
    /// Whether noise alone would give more than there is, so that all of it is taken as noise.
    pub is_capped: bool,
}

/// The spread of the deltas of some units; `None` without any.
pub(super) fn spread(units: &[PlanUnit]) -> Option<Spread> {
    let deltas: Vec<Rational> = units.iter().map(|unit| unit.delta.clone()).collect();
    let standard_deviation = padded_standard_deviation(&deltas).ok()?;
    Some(Spread {
        standard_deviation,
        source: DeviationSource::Measured,
        split: split(units, standard_deviation * standard_deviation),
    })
}

fn split(units: &[PlanUnit], total: f64) -> Result<SpreadSplit, Withheld> {
    let spread_of = |unit: &PlanUnit| UnitSpread {
        delta: unit.delta.clone(),
        noise: unit.noise.as_ref().map(|noise| noise.of_delta.clone()),
    };
    let split = variance_split(&units.iter().map(spread_of).collect::<Vec<_>>())?;
    let within = rational::to_f64(split.within.as_ref().map_err(|reason| *reason)?);
    let mean = |of: fn(&UnitNoise) -> &Rational| {
        let known: Vec<Rational> =
            units.iter().filter_map(|unit| unit.noise.as_ref()).map(|noise| of(noise).clone()).collect();
        rational::mean(&known).as_ref().map_or(0.0, rational::to_f64)
    };
    let (run_with, run_without) = (mean(|noise| &noise.run_with), mean(|noise| &noise.run_without));
    let is_capped = within > total;
    let scale = if is_capped { total / within } else { 1.0 };
    Ok(SpreadSplit {
        sources: DeltaSpread {
            between_cases: (total - within).max(0.0).sqrt(),
            runs_with: (run_with * scale).sqrt(),
            runs_without: (run_without * scale).sqrt(),
        },
        mean_repetitions: if within > 0.0 { (run_with + run_without) / within } else { 1.0 },
        noise_of_deltas: within.min(total).sqrt(),
        noise_share: split.noise_share.as_ref().map(rational::to_f64).map_err(|reason| *reason),
        units: split.within_units,
        is_capped,
    })
}

/// The noise of a case. Runs that do not give the rates of the report say nothing about them: it compares something else
/// than its rows show.
fn noise_of(case: &ReportCase<'_>) -> Option<UnitNoise> {
    let parts: Vec<_> = case.strata.iter().map(|runs| UnitNoise::of_stratum(&runs.with, &runs.without)).collect();
    UnitNoise::mean(&parts).filter(|_| case.rows_agree)
}

impl Ground {
    /// The ground of a report: the units that its inference counts, else those that its rows give.
    pub fn of_report(report: &ReadDesign) -> Self {
        let ReadDesign { claims, stated } = report;
        let units = ReportUnits::of(report);
        let grouped = units.grouped();
        let counted: Vec<&ReportCase<'_>> = grouped.values().flatten().copied().collect();
        let cases = counted.len();
        let strata = || counted.iter().flat_map(|case| &case.strata);
        let pairs = |runs: &PairedRuns| runs.with.len();
        let least = strata().map(pairs).min().unwrap_or_default();
        let most = strata().map(pairs).max().unwrap_or_default();
        // a case that counts has been run, whatever became of its rows
        let strata_count = strata().count().max(cases);
        let deltas: Vec<PlanUnit> = grouped.values().filter_map(|cases| plan_unit(cases)).collect();
        let baselines: Vec<Rational> = deltas.iter().map(|unit| unit.without_skill.clone()).collect();
        Self {
            is_report: true,
            skill_name: claims.skill_name.clone().unwrap_or_default(),
            design: Design {
                unit: units.unit,
                units: deltas.len(),
                cases,
                models: counted.iter().map(|case| case.strata.len()).max().unwrap_or_default().max(1),
                strata: strata_count,
                repetitions: Repetitions { least, most },
                pairs: strata().map(pairs).sum::<usize>().max(strata_count),
            },
            left_out: LeftOut { unpaired_cases: units.unpaired(), ..LeftOut::default() },
            baseline: rational::mean(&baselines).as_ref().map(rational::to_f64),
            deltas,
            assumed: Vec::new(),
            price: stated.dollars.map(price),
            alpha: stated.alpha.clone(),
            min_lift: stated.min_lift.clone(),
        }
    }
}

fn price([with, without]: [RunPrice; 2]) -> Price {
    Price {
        with_skill: with.mean,
        without_skill: without.mean,
        measured: with.measured.saturating_add(without.measured),
        runs: with.runs.saturating_add(without.runs),
    }
}

/// The unit of some cases. Each figure is rounded once: sums over units need no denominators beyond those of doubles.
fn plan_unit(cases: &[&ReportCase<'_>]) -> Option<PlanUnit> {
    let rates = mean_rates(cases)?;
    let noise = UnitNoise::mean(&cases.iter().map(|case| noise_of(case)).collect::<Vec<_>>());
    let rounded_noise = |noise: UnitNoise| {
        Some(UnitNoise {
            of_delta: rounded(&noise.of_delta)?,
            run_with: rounded(&noise.run_with)?,
            run_without: rounded(&noise.run_without)?,
        })
    };
    Some(PlanUnit {
        delta: rounded(&(rates.with_skill - &rates.without_skill))?,
        without_skill: rounded(&rates.without_skill)?,
        noise: noise.and_then(rounded_noise),
    })
}

fn rounded(value: &Rational) -> Option<Rational> {
    rational::from_f64(rational::to_f64(value))
}
