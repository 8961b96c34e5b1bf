//! The units of a report: their deltas, and the noise of the runs behind them.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_stats::Withheld;
use skill_lift_stats::interval::padded_standard_deviation;
use skill_lift_stats::permutation::Stratum;
use skill_lift_stats::power::DeltaSpread;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::variance::{UnitSpread, mean_noise, run_noise, run_variance, variance_split};

use super::{Design, DeviationSource, Ground, LeftOut, Price, Repetitions, Spread};
use crate::analyze::inference::Unit;
use crate::runs::claims::{ClaimedRun, ReadDesign, RunPrice, StatedCase};
use crate::runs::{Role, control_among};

/// How far a stated rate may lie from the one that the rows give: both are rounded to doubles.
const ROUNDING: f64 = 1e-9;

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

/// The rates of the pairs of a case and model, by arm.
#[derive(Debug, Default)]
struct Arms {
    with: Vec<Rational>,
    without: Vec<Rational>,
}

/// One case of the rows.
#[derive(Debug, Default)]
struct CaseRows {
    /// A stratum for each model that has a pair.
    strata: Vec<Arms>,
}

/// A case that counts.
struct Case {
    rates: (Rational, Rational),
    noise: Option<UnitNoise>,
}

impl CaseRows {
    /// Mean rates with and without the skill, repetitions first.
    fn rates(&self) -> Option<(Rational, Rational)> {
        let over = |of: fn(&Arms) -> &[Rational]| {
            let means: Vec<Rational> = self.strata.iter().filter_map(|arms| rational::mean(of(arms))).collect();
            rational::mean(&means)
        };
        Some((over(|arms| &arms.with)?, over(|arms| &arms.without)?))
    }

    fn noise(&self) -> Option<UnitNoise> {
        let parts: Vec<_> = self.strata.iter().map(|arms| UnitNoise::of_stratum(&arms.with, &arms.without)).collect();
        UnitNoise::mean(&parts)
    }

    /// The case with the rates that its report states, else its own. Noise of runs that do not give the stated rates says
    /// nothing about them: the report compares something else than the rows show.
    fn case(&self, stated: Option<(Rational, Rational)>) -> Option<Case> {
        let own = self.rates();
        let close = |a: &Rational, b: &Rational| (rational::to_f64(a) - rational::to_f64(b)).abs() <= ROUNDING;
        let is_same = match (&stated, &own) {
            (Some(stated), Some(own)) => close(&stated.0, &own.0) && close(&stated.1, &own.1),
            (stated, _) => stated.is_none(),
        };
        Some(Case { noise: self.noise().filter(|_| is_same), rates: stated.or(own)? })
    }
}

impl Ground {
    /// The ground of a report: the units that its inference counts, else those that its rows give.
    pub fn of_report(report: &ReadDesign) -> Self {
        let ReadDesign { claims, stated } = report;
        let rows = case_rows(&claims.rows);
        let has_families = stated.cases.iter().any(|case| case.family.is_some());
        let unit = if has_families { Unit::Family } else { Unit::Case };
        let no_rows = CaseRows::default();
        // each case with its unit and what the report states of it: nothing, or that no pair of it counts, or its rates
        let listed: Vec<(&str, &str, Option<Case>)> = if stated.cases.is_empty() {
            rows.iter().map(|(name, rows)| (*name, *name, rows.case(None))).collect()
        } else {
            let case = |StatedCase { case, rates, .. }: &StatedCase| {
                let of_case = rows.get(case.as_str()).unwrap_or(&no_rows);
                rates.clone().and_then(|rates| of_case.case(Some(rates)))
            };
            let listed = stated
                .cases
                .iter()
                .map(|stated| (stated.case.as_str(), stated.family.as_deref().unwrap_or(&stated.case), case(stated)));
            listed.collect()
        };
        let mut left_out = LeftOut::default();
        let mut grouped: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
        let mut counted: Vec<&CaseRows> = Vec::new();
        for (name, unit, case) in listed {
            match case {
                Some(case) => {
                    grouped.entry(unit).or_default().push(case);
                    counted.push(rows.get(name).unwrap_or(&no_rows));
                }
                None => left_out.unpaired_cases += 1,
            }
        }
        let cases = counted.len();
        let strata = || counted.iter().flat_map(|case| &case.strata);
        let pairs = |arms: &Arms| arms.with.len();
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
                unit,
                units: deltas.len(),
                cases,
                models: counted.iter().map(|case| case.strata.len()).max().unwrap_or_default().max(1),
                strata: strata_count,
                repetitions: Repetitions { least, most },
                pairs: strata().map(pairs).sum::<usize>().max(strata_count),
            },
            left_out,
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
fn plan_unit(cases: &[Case]) -> Option<PlanUnit> {
    let mean = |of: fn(&(Rational, Rational)) -> &Rational| {
        rational::mean(&cases.iter().map(|case| of(&case.rates).clone()).collect::<Vec<_>>())
    };
    let (with, without) = (mean(|rates| &rates.0)?, mean(|rates| &rates.1)?);
    let noise = UnitNoise::mean(&cases.iter().map(|case| case.noise.clone()).collect::<Vec<_>>());
    let rounded_noise = |noise: UnitNoise| {
        Some(UnitNoise {
            of_delta: rounded(&noise.of_delta)?,
            run_with: rounded(&noise.run_with)?,
            run_without: rounded(&noise.run_without)?,
        })
    };
    Some(PlanUnit {
        delta: rounded(&(with - &without))?,
        without_skill: rounded(&without)?,
        noise: noise.and_then(rounded_noise),
    })
}

fn rounded(value: &Rational) -> Option<Rational> {
    rational::from_f64(rational::to_f64(value))
}

/// Case, model and repetition.
type PairKey<'c> = (&'c str, Option<&'c str>, u32);

/// The pairs of the rows by case: the same model and repetition scored in both arms, at the same effort. A case without
/// any is there with no stratum.
fn case_rows(rows: &[ClaimedRun]) -> BTreeMap<&str, CaseRows> {
    let control = control_among(rows.iter().map(|row| row.configuration.role));
    let mut pairs: BTreeMap<PairKey<'_>, [Option<&ClaimedRun>; 2]> = BTreeMap::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for row in rows {
        let arm = match row.configuration.role {
            Role::Treatment => 0,
            role if Some(role) == control => 1,
            _ => continue,
        };
        names.insert(&row.case.id);
        pairs.entry((&row.case.id, row.model.as_deref(), row.repetition)).or_default()[arm] = Some(row);
    }
    let mut strata: BTreeMap<(&str, Option<&str>), Arms> = BTreeMap::new();
    for ((case, model, repetition), arms) in pairs {
        let [Some(with), Some(without)] = arms else { continue };
        let efforts = with.effort.as_ref().zip(without.effort.as_ref());
        if repetition == 0 || efforts.is_some_and(|(a, b)| a != b) {
            continue;
        }
        if let Some((with, without)) = with.rate.value().zip(without.rate.value()) {
            let arms = strata.entry((case, model)).or_default();
            arms.with.push(with);
            arms.without.push(without);
        }
    }
    let mut cases: BTreeMap<&str, CaseRows> = names.into_iter().map(|name| (name, CaseRows::default())).collect();
    for ((case, _), arms) in strata {
        cases.entry(case).or_default().strata.push(arms);
    }
    cases
}
