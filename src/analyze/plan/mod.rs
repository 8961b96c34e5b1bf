//! What an eval design can detect, how many cases a lift needs, and whether a repetition or a case more buys more.
//!
//! In: a suite before any run ([`Ground::of_suite`]), or the rows of a report ([`Ground::of_report`]). Out: a [`Plan`].

mod moves;
mod suite;
mod units;

use std::cmp::Ordering;

use skill_lift_stats::Withheld;
use skill_lift_stats::power::{DetectableLift, PowerGoal};
use skill_lift_stats::rational::{self, Rational};

use super::inference::Unit;
pub use moves::{MovesPlan, MovesPower};
pub use suite::SuiteOptions;
pub use units::{PlanUnit, SpreadSplit};

/// The standard deviation of the deltas that is assumed where none was measured.
pub const USUAL_DEVIATION: f64 = 0.4;

/// Numbers of repetitions that are compared.
const REPETITIONS: [usize; 5] = [1, 2, 3, 5, 10];

/// The fewest and the most repetitions of a case and model in each arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetitions {
    /// The fewest.
    pub least: usize,
    /// The most.
    pub most: usize,
}

impl Repetitions {
    /// The number, if all have the same.
    pub fn equal(self) -> Option<usize> {
        (self.least == self.most).then_some(self.least)
    }
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// What inference counts.
    pub unit: Unit,
    /// Units.
    pub units: usize,
    /// Cases in them.
    pub cases: usize,
    /// Models.
    pub models: usize,
    /// Cases and models: what one more repetition of everything is one more pair of runs of.
    pub strata: usize,
    /// Repetitions of each of them.
    pub repetitions: Repetitions,
    /// Pairs of runs.
    pub pairs: usize,
}

impl Design {
    /// Repetitions to plan with: what there is on average, rounded up, since some runs are always lost.
    fn planned_repetitions(&self) -> usize {
        share(self.pairs, self.strata).max(1)
    }

    /// Runs of both arms for a number of units like those of the design.
    fn runs_of_units(&self, units: usize) -> usize {
        self.runs_with(units, self.planned_repetitions())
    }

    /// The same with another number of repetitions.
    fn runs_with(&self, units: usize, repetitions: usize) -> usize {
        share(units.saturating_mul(2).saturating_mul(self.strata).saturating_mul(repetitions), self.units)
    }
}

/// A part, rounded up; of nothing it is taken whole.
fn share(total: usize, parts: usize) -> usize {
    total.div_ceil(parts.max(1))
}

/// Where the standard deviation of the deltas comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviationSource {
    /// The deltas of the report, with the two pads.
    Measured,
    /// The user gave it.
    Given,
    /// Nothing was measured or given: the usual one.
    Usual,
}

impl DeviationSource {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Given => "given",
            Self::Usual => "usual",
        }
    }
}

/// How much the deltas of units differ.
#[derive(Debug, Clone)]
pub struct Spread {
    /// Standard deviation of the deltas.
    pub standard_deviation: f64,
    /// Where it comes from.
    pub source: DeviationSource,
    /// How much of it is noise of the runs; withheld without two runs in both arms of some unit.
    pub split: Result<SpreadSplit, Withheld>,
}

/// What cases and suites leave out of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Cases that measure discovery.
    pub trigger_cases: usize,
    /// Cases of a report without a pair that counts.
    pub unpaired_cases: usize,
    /// Cases of a suite without a check: they count only if somebody gives verdicts. They are in the design.
    pub cases_without_checks: usize,
}

/// What a run costs, in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// One with the skill.
    pub with_skill: f64,
    /// One without it.
    pub without_skill: f64,
    /// Runs that say what they cost.
    pub measured: u64,
    /// Runs.
    pub runs: u64,
}

impl Price {
    /// What runs cost, half of them with the skill.
    pub fn of_runs(&self, runs: usize) -> f64 {
        (self.with_skill + self.without_skill) * runs as f64 / 2.0
    }
}

/// What a plan rests on.
#[derive(Debug, Clone)]
pub struct Ground {
    /// Whether it was read from a report.
    pub is_report: bool,
    /// The skill.
    pub skill_name: String,
    /// What is run.
    pub design: Design,
    /// What is not.
    pub left_out: LeftOut,
    /// The deltas of the units, and how noisy they are; empty for a suite.
    pub deltas: Vec<PlanUnit>,
    /// What is assumed about the design.
    pub assumed: Vec<Assumption>,
    /// What the runs cost, if the report says it.
    pub price: Option<Price>,
    /// Mean rate without the skill.
    pub baseline: Option<f64>,
    /// The error rate of the report.
    pub alpha: Option<Rational>,
    /// The smallest lift that matters in the report.
    pub min_lift: Option<Rational>,
}

/// Something that a plan assumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// Nobody says how often a case is run: once.
    OneRepetition,
    /// Nobody says how many models: one.
    OneModel,
    /// The deltas differ as they usually do.
    UsualDeviation,
    /// The user says how much they differ.
    GivenDeviation,
    /// The deltas will differ as those of the report did.
    DeviationOfReport,
    /// Noise alone would make the deltas differ more than they do: all of it is taken as noise.
    AllNoise,
    /// The user says which shares of cases move.
    GivenMoves,
    /// Further cases are like those that are there.
    CasesAlike,
    /// The figures are those of Student's t, corrected for the exact test.
    Approximate,
    /// The correction of the t formula was measured for other figures.
    OtherCorrection,
}

impl Assumption {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::OneRepetition => "one_repetition",
            Self::OneModel => "one_model",
            Self::UsualDeviation => "usual_deviation",
            Self::GivenDeviation => "given_deviation",
            Self::DeviationOfReport => "deviation_of_report",
            Self::AllNoise => "all_noise",
            Self::GivenMoves => "given_moves",
            Self::CasesAlike => "cases_alike",
            Self::Approximate => "approximate",
            Self::OtherCorrection => "correction_of_other_goal",
        }
    }
}

/// The cases that a lift needs, with all their runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needed {
    /// Units.
    pub units: usize,
    /// Runs of both arms.
    pub runs: usize,
    /// What they cost.
    pub dollars: Option<f64>,
}

/// What a number of repetitions would give.
#[derive(Debug, Clone, PartialEq)]
pub struct RepetitionRow {
    /// Repetitions of each case and model in each arm.
    pub repetitions: usize,
    /// Whether it is what the design has.
    pub is_design: bool,
    /// Standard deviation of the deltas.
    pub standard_deviation: f64,
    /// The smallest lift that as many units as the design has would detect.
    pub detectable: Result<DetectableLift, Withheld>,
    /// Runs of both arms for it.
    pub runs: usize,
    /// What the target needs.
    pub needed: Result<Needed, Withheld>,
}

/// What may be added to a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addition {
    /// One more case, or family.
    Unit,
    /// One more repetition of every case.
    Repetition,
}

/// What more of something gives.
#[derive(Debug, Clone, PartialEq)]
pub struct More {
    /// What is added.
    pub addition: Addition,
    /// How much of it.
    pub count: usize,
    /// The smallest detectable lift with it.
    pub detectable: Result<DetectableLift, Withheld>,
    /// How much smaller that is; withheld where the design alone detects nothing.
    pub lowers_by: Result<f64, Withheld>,
    /// More runs of both arms.
    pub runs: usize,
    /// What they cost.
    pub dollars: Option<f64>,
}

/// What one more repetition of every case gives, and what else its runs could.
#[derive(Debug, Clone, PartialEq)]
pub struct MoreRepetitions {
    /// The repetition.
    pub one: More,
    /// As many units as its runs pay for; `None` when they do not pay for one.
    pub same_runs: Option<More>,
    /// The smallest lift that the units of the design detect however often they are repeated.
    pub limit: Result<DetectableLift, Withheld>,
}

/// The whole plan.
#[derive(Debug)]
pub struct Plan {
    /// What it rests on.
    pub ground: Ground,
    /// Error rate and power.
    pub goal: PowerGoal,
    /// The lift that is to be detected.
    pub target: Rational,
    /// Units without which no outcome reaches the error rate.
    pub minimum_units: usize,
    /// What follows from the spread of the deltas, or from shares of cases that move.
    pub outlook: Outlook,
    /// What all of that assumes.
    pub assumptions: Vec<Assumption>,
}

/// What a plan is computed from.
#[derive(Debug)]
pub enum Outlook {
    /// The spread of the deltas.
    Deltas(Box<DeltaPlan>),
    /// Shares of cases that one run turns.
    Moves(MovesPlan),
}

/// What follows from the spread of the deltas.
#[derive(Debug)]
pub struct DeltaPlan {
    /// The spread.
    pub spread: Spread,
    /// The smallest lift that the design detects.
    pub detectable: Result<DetectableLift, Withheld>,
    /// What the target needs.
    pub needed: Result<Needed, Withheld>,
    /// What other numbers of repetitions would give.
    pub by_repetitions: Result<Vec<RepetitionRow>, Withheld>,
    /// What one more unit gives.
    pub one_unit: More,
    /// What one more repetition gives; withheld where the noise of runs is not known.
    pub repetitions: Result<MoreRepetitions, Withheld>,
}

impl DeltaPlan {
    /// Which of one more unit and one more repetition lowers the detectable lift more; `None` when neither does, or when
    /// one of them is not known.
    pub fn lowers_more(&self) -> Option<Addition> {
        larger(&self.one_unit, &self.repetitions.as_ref().ok()?.one)
    }

    /// Which of them does for as many runs.
    pub fn buys_more(&self) -> Option<Addition> {
        let repetitions = self.repetitions.as_ref().ok()?;
        larger(repetitions.same_runs.as_ref()?, &repetitions.one)
    }
}

fn larger(units: &More, repetition: &More) -> Option<Addition> {
    let (unit, repetition) = (units.lowers_by.ok()?, repetition.lowers_by.ok()?);
    match unit.total_cmp(&repetition) {
        Ordering::Greater => Some(Addition::Unit),
        Ordering::Less => Some(Addition::Repetition),
        Ordering::Equal => None,
    }
}

impl Plan {
    /// Whether some outcome of the design reaches the error rate.
    pub fn is_reachable(&self) -> bool {
        self.ground.design.units >= self.minimum_units
    }

    /// The plan from the spread of the deltas. `given` is the standard deviation that the user assumes.
    pub fn of_deltas(ground: Ground, goal: PowerGoal, target: Rational, given: Option<f64>) -> Self {
        let spread = match given {
            Some(deviation) => assumed(deviation, DeviationSource::Given),
            None => units::spread(&ground.deltas).unwrap_or_else(|| assumed(USUAL_DEVIATION, DeviationSource::Usual)),
        };
        let mut assumptions = ground.assumed.clone();
        assumptions.push(match spread.source {
            DeviationSource::Measured => Assumption::DeviationOfReport,
            DeviationSource::Given => Assumption::GivenDeviation,
            DeviationSource::Usual => Assumption::UsualDeviation,
        });
        if spread.split.as_ref().is_ok_and(|split| split.is_capped) {
            assumptions.push(Assumption::AllNoise);
        }
        assumptions.extend([Assumption::CasesAlike, Assumption::Approximate]);
        if goal.power() != skill_lift_stats::power::TARGET_POWER || *goal.alpha() != rational::rate(1, 20) {
            assumptions.push(Assumption::OtherCorrection);
        }
        let outlook = Outlook::Deltas(Box::new(DeltaPlan::of(&ground, &goal, rational::to_f64(&target), spread)));
        Self { minimum_units: goal.minimum_cases(), ground, goal, target, outlook, assumptions }
    }
}

fn assumed(standard_deviation: f64, source: DeviationSource) -> Spread {
    Spread { standard_deviation, source, split: Err(Withheld::NoRuns) }
}

impl DeltaPlan {
    fn of(ground: &Ground, goal: &PowerGoal, target: f64, spread: Spread) -> Self {
        let Ground { design, price, .. } = ground;
        let deviation = spread.standard_deviation;
        let dollars = |runs: usize| price.map(|price| price.of_runs(runs));
        let detects = |units: usize, deviation: f64| detects(goal, units, deviation);
        let needed = |deviation: f64, runs: &dyn Fn(usize) -> usize| {
            let units = goal.cases_needed(deviation, target).ok_or(Withheld::BeyondExactBudget)?;
            let runs = runs(units);
            Ok(Needed { units, runs, dollars: dollars(runs) })
        };
        let detectable = detects(design.units, deviation);
        let by_repetitions = spread.split.as_ref().map_err(|reason| *reason).map(|split| {
            let mut numbers: Vec<usize> = REPETITIONS.into_iter().chain([design.planned_repetitions()]).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let row = |repetitions: usize| {
                let deviation = split.sources.of_case_delta(repetitions);
                RepetitionRow {
                    repetitions,
                    is_design: design.repetitions.equal() == Some(repetitions),
                    standard_deviation: deviation,
                    detectable: detects(design.units, deviation),
                    runs: design.runs_with(design.units, repetitions),
                    needed: needed(deviation, &|units| design.runs_with(units, repetitions)),
                }
            };
            numbers.into_iter().map(row).collect()
        });
        let more = |addition, count, with_it: Result<DetectableLift, Withheld>, runs: usize| {
            let lowers_by = match (&detectable, &with_it) {
                // what is capped is not known to fall
                (Ok(now), Ok(then)) if !now.not_detectable => Ok(now.lift - then.lift),
                (Ok(_), Ok(_)) => Err(Withheld::TooFewUnits),
                (Err(reason), _) | (_, Err(reason)) => Err(*reason),
            };
            More { addition, count, detectable: with_it, lowers_by, runs, dollars: dollars(runs) }
        };
        let more_units = |count: usize| {
            let detectable = detects(design.units.saturating_add(count), deviation);
            more(Addition::Unit, count, detectable, design.runs_of_units(count))
        };
        let repetitions = spread.split.as_ref().map_err(|reason| *reason).map(|split| {
            let with_it = split.sources.of_mean_repetitions(split.mean_repetitions + 1.0);
            let runs = design.strata.saturating_mul(2);
            let units = runs / design.runs_of_units(1).max(1);
            MoreRepetitions {
                one: more(Addition::Repetition, 1, detects(design.units, with_it), runs),
                same_runs: (units > 0).then(|| more_units(units)),
                limit: detects(design.units, split.sources.between_cases),
            }
        });
        let one_unit = more_units(1);
        let needed = needed(deviation, &|units| design.runs_of_units(units));
        Self { detectable, needed, by_repetitions, one_unit, repetitions, spread }
    }
}

/// The smallest lift that some units detect, capped at the largest there is.
fn detects(goal: &PowerGoal, units: usize, standard_deviation: f64) -> Result<DetectableLift, Withheld> {
    let lift = goal.detectable_lift(units, standard_deviation)?;
    Ok(DetectableLift { lift: lift.min(1.0), not_detectable: lift > 1.0, standard_deviation })
}
