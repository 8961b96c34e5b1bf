//! The corrected reading of an iteration: only runs whose verdicts are complete, evals paired, uncertainty stated.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use skill_lift_contract::UnscoredReason;
use skill_lift_stats::Thresholds;
use skill_lift_stats::rational::{self, Rational};

use super::aggregate::arms;
use super::metrics::{MetricKind, MetricReading};
use super::weighted::WeightedScore;
use crate::analyze::inference::{Inference, UnitRates};
use crate::runs::skill_eval::{
    Benchmark, GraderState, Iteration, MissingRun, ReadingNote, RecordSource, RunPlace, RunRecord, RunStatus,
};

/// One run as it counts.
#[derive(Debug)]
pub struct RunReading {
    /// Which run.
    pub place: RunPlace,
    /// How it ended, as recorded.
    pub status: RunStatus,
    /// What its grader's answer is worth.
    pub state: GraderState,
    /// Why it has no score.
    pub unscored: Option<UnscoredReason>,
    /// Its pass rate.
    pub rate: Option<Rational>,
    /// What was odd about the answer.
    pub notes: BTreeSet<ReadingNote>,
    /// Whether only its verdicts are there, without a record.
    pub without_record: bool,
    /// Its weighted score, where the suite has weights.
    pub weighted: Option<WeightedScore>,
}

/// A configuration with the mean rate of its scored runs and their number.
pub type CellReading = (String, Option<Rational>, usize);

fn rate_in<'c>(cells: &'c [CellReading], configuration: &str) -> Option<&'c Rational> {
    cells.iter().find(|(name, ..)| name == configuration).and_then(|(_, rate, _)| rate.as_ref())
}

/// One eval as it counts.
#[derive(Debug)]
pub struct EvalReading {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its runs with complete verdicts, configurations in order.
    pub rates: Vec<CellReading>,
    /// Its runs as the runner scores them, configurations in order.
    pub runner_rates: Vec<CellReading>,
}

impl EvalReading {
    /// The rate under a configuration.
    pub fn rate(&self, configuration: &str) -> Option<&Rational> {
        rate_in(&self.rates, configuration)
    }
}

/// A cell of a comparison without a scored run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpairedCell {
    /// The eval.
    pub eval_id: String,
    /// The configuration that has no scored run.
    pub configuration: String,
    /// Why its runs have no score, with their numbers.
    pub reasons: BTreeMap<UnscoredReason, usize>,
}

/// Two configurations compared over the evals that both have.
#[derive(Debug)]
pub struct ArmContrast {
    /// The configuration that is judged.
    pub candidate: String,
    /// The one it is judged against.
    pub baseline: String,
    /// The lift of runs whose verdicts are complete.
    pub complete: PairedLift,
    /// The lift by the runner's own rule: an assertion that the grader left out counts as failed.
    pub runner: PairedLift,
}

impl ArmContrast {
    /// Whether both lifts rest on the same rates of the same evals.
    pub fn rules_agree(&self) -> bool {
        self.complete.paired == self.runner.paired && self.complete.rates == self.runner.rates
    }
}

/// A lift over the evals that have scored runs in both configurations.
#[derive(Debug)]
pub struct PairedLift {
    /// Rates of the paired evals under candidate and baseline.
    pub rates: Vec<(Rational, Rational)>,
    /// Evals with scored runs in both.
    pub paired: Vec<String>,
    /// Evals without.
    pub unpaired: Vec<String>,
    /// The lift, with its test, interval and verdict.
    pub inference: Inference,
    /// Whether no paired cell has more than one scored run, so that nothing is known of how runs of one eval vary.
    pub single_runs: bool,
}

impl PairedLift {
    fn of(
        evals: &[&EvalReading],
        candidate: &str,
        baseline: &str,
        rates_of: fn(&EvalReading) -> &[CellReading],
    ) -> Self {
        let (mut paired, mut unpaired, mut units, mut rates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut single_runs = true;
        for eval in evals {
            let cells = rates_of(eval);
            let rate = |name: &str| rate_in(cells, name);
            match (rate(candidate), rate(baseline)) {
                (Some(with_skill), Some(without_skill)) => {
                    paired.push(eval.id.clone());
                    let (with_skill, without_skill) = (with_skill.clone(), without_skill.clone());
                    rates.push((with_skill.clone(), without_skill.clone()));
                    units.push(UnitRates { name: eval.id.clone(), with_skill, without_skill });
                    let arms = cells.iter().filter(|(name, ..)| name == candidate || name == baseline);
                    single_runs &= arms.into_iter().all(|(.., runs)| *runs == 1);
                }
                _ => unpaired.push(eval.id.clone()),
            }
        }
        Self {
            inference: Inference::of_units(units, Thresholds::default()),
            single_runs: single_runs && !paired.is_empty(),
            rates,
            paired,
            unpaired,
        }
    }
}

/// A run whose grader left out, or contradicted itself on, some assertions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteRun {
    /// Which run.
    pub place: RunPlace,
    /// What the answer is worth.
    pub state: GraderState,
}

/// Kinds of checks that the runner itself does not make.
#[derive(Debug, Default)]
pub struct AddedChecks {
    /// Runs whose verdicts are not complete.
    pub incomplete_verdicts: Vec<IncompleteRun>,
    /// Evals with nothing to check, and their runs.
    pub no_assertions: Vec<(String, usize)>,
    /// Cells that keep an eval out of the comparison.
    pub unpaired_cells: Vec<UnpairedCell>,
    /// Why git could not say whether the inputs were changed.
    pub source_fixture_unknown: Option<String>,
}

impl AddedChecks {
    /// Entries of all kinds.
    pub fn signals(&self) -> usize {
        self.incomplete_verdicts.len()
            + self.no_assertions.len()
            + self.unpaired_cells.len()
            + usize::from(self.source_fixture_unknown.is_some())
    }
}

/// The corrected reading.
#[derive(Debug)]
pub struct Corrected {
    /// Configurations in order.
    pub configurations: Vec<String>,
    /// Every eval.
    pub evals: Vec<EvalReading>,
    /// The candidate against the baseline.
    pub headline: Option<ArmContrast>,
    /// Every other configuration against the baseline.
    pub others: Vec<ArmContrast>,
    /// Every run that is there.
    pub runs: Vec<RunReading>,
    /// Runs that were planned and are not there.
    pub missing: Vec<MissingRun>,
    /// Checks of its own.
    pub checks: AddedChecks,
    /// What executors used.
    pub metrics: Vec<MetricReading>,
    /// The suite's pass mark, where it has one.
    pub pass_threshold: Option<Rational>,
}

impl Corrected {
    /// Reads an iteration. `figures` are those that stand beside it.
    pub fn of(iteration: &Iteration, figures: &Benchmark) -> Self {
        let arms = arms(&iteration.configurations);
        let evals = eval_readings(iteration);
        let contrast = |candidate: &str, baseline: &str| contrast(iteration, &evals, candidate, baseline);
        let headline = arms.as_ref().map(|(candidate, baseline)| contrast(candidate, baseline));
        let others = arms.as_ref().map_or_else(Vec::new, |(candidate, baseline)| {
            let others = iteration.configurations.iter().filter(|name| *name != candidate && *name != baseline);
            others.map(|name| contrast(name, baseline)).collect()
        });
        let ids: Vec<String> = iteration.evals.iter().map(|eval| eval.id.clone()).collect();
        let metrics = MetricKind::ALL
            .into_iter()
            .map(|kind| MetricReading::of(kind, &ids, &iteration.configurations, arms.as_ref(), &iteration.runs))
            .collect();
        let checks = AddedChecks {
            incomplete_verdicts: incomplete(&iteration.runs),
            no_assertions: no_assertions(iteration),
            unpaired_cells: headline.as_ref().map(|headline| unpaired(iteration, &evals, headline)).unwrap_or_default(),
            source_fixture_unknown: figures.source_fixtures.as_ref().and_then(|f| f.error()).map(str::to_owned),
        };
        let scoring = iteration.suite.as_ref().and_then(|suite| suite.scoring.as_ref());
        Self {
            configurations: iteration.configurations.clone(),
            headline,
            others,
            runs: run_readings(iteration),
            missing: iteration.missing.clone(),
            checks,
            metrics,
            pass_threshold: scoring.and_then(|scoring| scoring.pass_threshold.clone()),
            evals,
        }
    }
}

fn run_readings(iteration: &Iteration) -> Vec<RunReading> {
    let common: HashSet<&str> =
        iteration.suite.iter().flat_map(|suite| &suite.common_assertions).map(String::as_str).collect();
    let reading = |run: &RunRecord| RunReading {
        place: run.place.clone(),
        status: run.status.clone(),
        state: run.reading.state.clone(),
        unscored: run.strict_unscored_reason(),
        rate: run.strict_rate(),
        notes: run.reading.notes.clone(),
        without_record: run.source == RecordSource::GradingFile,
        weighted: iteration.suite.as_ref().and_then(|suite| WeightedScore::of(run, suite, &common)),
    };
    iteration.runs.iter().map(reading).collect()
}

fn eval_readings(iteration: &Iteration) -> Vec<EvalReading> {
    let strict = cell_rates(iteration, RunRecord::strict_rate);
    let runner = cell_rates(iteration, runner_rate);
    let cells = |rates: &CellRates<'_>, eval: &str| {
        let of_cell = |configuration: &String| {
            let rates = rates.get(&(eval, configuration.as_str())).map(Vec::as_slice).unwrap_or_default();
            (configuration.clone(), rational::mean(rates), rates.len())
        };
        iteration.configurations.iter().map(of_cell).collect()
    };
    iteration
        .evals
        .iter()
        .map(|eval| EvalReading {
            id: eval.id.clone(),
            name: eval.name.clone(),
            rates: cells(&strict, &eval.id),
            runner_rates: cells(&runner, &eval.id),
        })
        .collect()
}

/// The rates of the runs of each eval and configuration.
type CellRates<'i> = HashMap<(&'i str, &'i str), Vec<Rational>>;

fn cell_rates(iteration: &Iteration, rate: fn(&RunRecord) -> Option<Rational>) -> CellRates<'_> {
    let mut rates: CellRates<'_> = HashMap::new();
    for run in &iteration.runs {
        let cell = (run.place.eval_id.as_str(), run.place.configuration.as_str());
        rates.entry(cell).or_default().extend(rate(run));
    }
    rates
}

/// The rate of a run that the runner scores.
fn runner_rate(run: &RunRecord) -> Option<Rational> {
    if run.effective_status() == RunStatus::Ok { run.rate() } else { None }
}

/// Evals in which every run that ended well had nothing to check: they can be neither paired nor unpaired.
fn without_assertions(iteration: &Iteration) -> HashSet<&str> {
    let nothing = |run: &&RunRecord| run.reading.state == GraderState::NoAssertions;
    let mut evals: HashSet<&str> =
        iteration.runs.iter().filter(nothing).map(|run| run.place.eval_id.as_str()).collect();
    for run in iteration.runs.iter().filter(|run| run.strict_rate().is_some()) {
        evals.remove(run.place.eval_id.as_str());
    }
    evals
}

fn contrast(iteration: &Iteration, evals: &[EvalReading], candidate: &str, baseline: &str) -> ArmContrast {
    let nothing = without_assertions(iteration);
    let evals: Vec<&EvalReading> = evals.iter().filter(|eval| !nothing.contains(eval.id.as_str())).collect();
    ArmContrast {
        complete: PairedLift::of(&evals, candidate, baseline, |eval| &eval.rates),
        runner: PairedLift::of(&evals, candidate, baseline, |eval| &eval.runner_rates),
        candidate: candidate.to_owned(),
        baseline: baseline.to_owned(),
    }
}

fn incomplete(runs: &[RunRecord]) -> Vec<IncompleteRun> {
    let is_incomplete = |state: &GraderState| {
        matches!(
            state,
            GraderState::IncompleteVerdicts { .. } | GraderState::GraderIncomplete | GraderState::GraderConflict
        )
    };
    runs.iter()
        .filter(|run| is_incomplete(&run.reading.state))
        .map(|run| IncompleteRun { place: run.place.clone(), state: run.reading.state.clone() })
        .collect()
}

fn no_assertions(iteration: &Iteration) -> Vec<(String, usize)> {
    let mut nothing: HashMap<&str, usize> = HashMap::new();
    for run in iteration.runs.iter().filter(|run| run.reading.state == GraderState::NoAssertions) {
        *nothing.entry(&run.place.eval_id).or_default() += 1;
    }
    let counted = iteration.evals.iter().map(|eval| (eval.id.clone(), nothing.get(eval.id.as_str())));
    counted.filter_map(|(id, runs)| Some((id, *runs?))).collect()
}

fn unpaired(iteration: &Iteration, evals: &[EvalReading], headline: &ArmContrast) -> Vec<UnpairedCell> {
    let mut of_cell: HashMap<(&str, &str), BTreeMap<UnscoredReason, usize>> = HashMap::new();
    let reasons = iteration.runs.iter().filter_map(|run| Some((&run.place, run.strict_unscored_reason()?)));
    for (place, reason) in reasons.chain(iteration.missing.iter().map(|place| (place, UnscoredReason::MissingRun))) {
        *of_cell.entry((&place.eval_id, &place.configuration)).or_default().entry(reason).or_default() += 1;
    }
    let unpaired: HashSet<&String> = headline.complete.unpaired.iter().collect();
    let mut cells = Vec::new();
    for eval in evals.iter().filter(|eval| unpaired.contains(&eval.id)) {
        for configuration in [&headline.candidate, &headline.baseline] {
            if eval.rate(configuration).is_none() {
                let reasons = of_cell.get(&(eval.id.as_str(), configuration.as_str())).cloned();
                let reasons = reasons.unwrap_or_else(|| BTreeMap::from([(UnscoredReason::MissingRun, 1)]));
                cells.push(UnpairedCell { eval_id: eval.id.clone(), configuration: configuration.clone(), reasons });
            }
        }
    }
    cells
}
