//! Exact pairing: the same case, model and repetition in both arms. Our own merge, so that every run that has no
//! partner is named with a reason.

use std::collections::{BTreeMap, HashMap, HashSet};

use skill_lift_contract::{BlockedReason, Metric};
use skill_lift_stats::describe;
use skill_lift_stats::rational::{self, Rational};

use super::table::{Baseline, Run, RunTable, WITH_SKILL};

/// Two runs with the same key but for the arm, or the place where one is missing. `V` is what is compared.
#[derive(Debug, Clone)]
pub struct Pair<V = PairValues> {
    /// Position of the case.
    pub case: u32,
    /// Position of the model.
    pub model: Option<u32>,
    /// Number of the repetition.
    pub repetition: u32,
    /// Index of the run with the skill.
    pub with_skill: Option<usize>,
    /// Index of the run without it.
    pub without_skill: Option<usize>,
    /// The values of both arms, or why they cannot be compared.
    pub values: Result<V, BlockedReason>,
}

/// The metric in both arms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairValues {
    /// With the skill.
    pub with_skill: Rational,
    /// Without it.
    pub without_skill: Rational,
}

/// All pairs of a tree for one metric.
#[derive(Debug)]
pub struct Pairing<V = PairValues> {
    /// In the order of case, model and repetition.
    pub pairs: Vec<Pair<V>>,
}

/// How many pairs count, and why the others do not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostics {
    /// Pairs that count.
    pub eligible: usize,
    /// Pairs that do not.
    pub blocked: usize,
    /// Reasons with their counts, by code.
    pub reasons: BTreeMap<String, usize>,
}

impl Diagnostics {
    /// Counts a pair.
    pub fn add<V>(&mut self, pair: &Pair<V>) {
        match &pair.values {
            Ok(_) => self.eligible += 1,
            Err(reason) => {
                self.blocked += 1;
                *self.reasons.entry(reason.code()).or_default() += 1;
            }
        }
    }

    /// Adds the counts of other pairs.
    pub fn merge(&mut self, other: &Self) {
        self.eligible += other.eligible;
        self.blocked += other.blocked;
        for (reason, count) in &other.reasons {
            match self.reasons.get_mut(reason) {
                Some(sum) => *sum += count,
                None => {
                    self.reasons.insert(reason.clone(), *count);
                }
            }
        }
    }
}

impl<V> Pairing<V> {
    /// Pairs the runs of the skill's arm with those of a baseline. `value` says of one run what is compared, or why that
    /// cannot be; `both` joins the values of two runs.
    pub fn by<T>(
        table: &RunTable,
        baseline: Baseline,
        value: impl Fn(&Run) -> Result<T, BlockedReason>,
        both: impl Fn(T, T) -> V,
    ) -> Self {
        let (with, without) = (table.variant_position(WITH_SKILL), table.variant_position(baseline.variant()));
        let mut merged: BTreeMap<(u32, Option<u32>, u32), [Option<usize>; 2]> = BTreeMap::new();
        for (index, run) in table.runs.iter().enumerate() {
            let variant = Some(run.order.variant);
            if variant == with {
                merged.entry(run.order.pair()).or_default()[0] = Some(index);
            } else if variant == without {
                merged.entry(run.order.pair()).or_default()[1] = Some(index);
            }
        }
        let pairs = merged.into_iter().map(|((case, model, repetition), arms)| Pair {
            case,
            model,
            repetition,
            with_skill: arms[0],
            without_skill: arms[1],
            values: compare(table, baseline, repetition, arms, &value, &both),
        });
        Self { pairs: pairs.collect() }
    }

    /// The pairs that count.
    pub fn eligible(&self) -> impl Iterator<Item = (&Pair<V>, &V)> {
        self.pairs.iter().filter_map(|pair| pair.values.as_ref().ok().map(|values| (pair, values)))
    }

    /// Counts over the pairs that `filter` keeps.
    pub fn diagnostics(&self, filter: impl Fn(&Pair<V>) -> bool) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        self.pairs.iter().filter(|pair| filter(pair)).for_each(|pair| diagnostics.add(pair));
        diagnostics
    }
}

impl Pairing {
    /// Pairs the runs of the skill's arm and of its baseline.
    pub fn of(table: &RunTable, metric: Metric) -> Self {
        Self::against(table, table.baseline, metric)
    }

    /// Pairs the runs of the skill's arm with those of a baseline.
    pub fn against(table: &RunTable, baseline: Baseline, metric: Metric) -> Self {
        let both = |with_skill, without_skill| PairValues { with_skill, without_skill };
        Self::by(table, baseline, |run| value(run, metric), both)
    }

    /// The pairs that inference may rest on, with the values that it compares, where those differ: a baseline that had
    /// the skill measures nothing, arms whose checks were not observed alike or that were graded on different numbers of
    /// assertions are not the same measurement, and what only one arm can satisfy is no comparison. `None` when nothing
    /// differs.
    pub fn fit_for_inference(&self, table: &RunTable) -> Option<Self> {
        let other = |pair: &Pair| if pair.values.is_ok() { values_for_inference(table, pair) } else { None };
        if !self.pairs.iter().any(|pair| other(pair).is_some()) {
            return None;
        }
        let fit = self.pairs.iter().map(|pair| match other(pair) {
            Some(values) => Pair { values, ..pair.clone() },
            None => pair.clone(),
        });
        Some(Self { pairs: fit.collect() })
    }

    /// The runs of pairs that only inference leaves out.
    pub fn runs_unfit_for_inference(&self) -> HashSet<usize> {
        let unfit = |pair: &&Pair| pair.values.as_ref().is_err_and(BlockedReason::is_of_inference);
        self.pairs.iter().filter(unfit).flat_map(|pair| [pair.with_skill, pair.without_skill]).flatten().collect()
    }

    /// Counts over the pairs of each case.
    pub fn diagnostics_by_case(&self) -> BTreeMap<u32, Diagnostics> {
        let mut by_case: BTreeMap<u32, Diagnostics> = BTreeMap::new();
        self.pairs.iter().for_each(|pair| by_case.entry(pair.case).or_default().add(pair));
        by_case
    }

    /// Pairs of which one arm names a model and the other does not: they would have met without the label.
    pub fn model_label_mismatches(&self) -> Vec<(&Pair, &Pair)> {
        let alone = |pair: &&Pair| pair.with_skill.is_some() != pair.without_skill.is_some();
        let mut labelled: HashMap<(u32, u32, bool), &Pair> = HashMap::new();
        for pair in self.pairs.iter().filter(|pair| pair.model.is_some()).filter(alone) {
            labelled.entry((pair.case, pair.repetition, pair.with_skill.is_some())).or_insert(pair);
        }
        let unlabelled = self.pairs.iter().filter(|pair| pair.model.is_none()).filter(alone);
        let partner = |pair: &Pair| labelled.get(&(pair.case, pair.repetition, pair.without_skill.is_some())).copied();
        unlabelled.filter_map(|pair| Some((pair, partner(pair)?))).collect()
    }
}

/// What inference makes of a pair that counts; `None` when it takes the values as they are.
fn values_for_inference(table: &RunTable, pair: &Pair) -> Option<Result<PairValues, BlockedReason>> {
    let (with, without) = (&table.runs[pair.with_skill?], &table.runs[pair.without_skill?]);
    if with.unobserved != without.unobserved {
        return Some(Err(BlockedReason::AsymmetricEvidence));
    }
    if without.contaminated {
        return Some(Err(BlockedReason::BaselineContaminated));
    }
    let counts = with.stored_verdicts.zip(without.stored_verdicts);
    if counts.is_some_and(|(with, without)| with != without) {
        return Some(Err(BlockedReason::AssertionCountDiffers));
    }
    if with.compared == with.objective && without.compared == without.objective {
        return None;
    }
    let values = with.compared.zip(without.compared);
    let values = values.map(|(with, without)| PairValues { with_skill: with.value(), without_skill: without.value() });
    Some(values.ok_or(BlockedReason::NoSharedCriteria))
}

fn compare<T, V>(
    table: &RunTable,
    baseline: Baseline,
    repetition: u32,
    [with_skill, without_skill]: [Option<usize>; 2],
    value: impl Fn(&Run) -> Result<T, BlockedReason>,
    both: impl Fn(T, T) -> V,
) -> Result<V, BlockedReason> {
    let missing = |variant: &str| BlockedReason::MissingArm { variant: variant.to_owned() };
    let with_skill = &table.runs[with_skill.ok_or_else(|| missing(WITH_SKILL))?];
    let without_skill = &table.runs[without_skill.ok_or_else(|| missing(baseline.variant()))?];
    if repetition == 0 {
        return Err(BlockedReason::InvalidRunNumber);
    }
    let values = both(value(with_skill)?, value(without_skill)?);
    if let (Some(a), Some(b)) = (&with_skill.effort, &without_skill.effort)
        && a != b
    {
        return Err(BlockedReason::EffortMismatch);
    }
    Ok(values)
}

fn value(run: &Run, metric: Metric) -> Result<Rational, BlockedReason> {
    if !run.scorable {
        return Err(BlockedReason::UnscorableArm);
    }
    let value = match metric {
        Metric::ObjectivePassRate => run.objective.map(|rate| rate.value()),
        Metric::GradedScore => run.graded_score_e4.map(|score| rational::rate(score.into(), 10_000)),
    };
    value.ok_or(BlockedReason::MissingMetric(metric))
}

/// Mean of both arms over the eligible pairs of one case and one model: repetitions first.
#[derive(Debug, Clone)]
pub struct UnitMeans {
    /// Position of the case.
    pub case: u32,
    /// Position of the model.
    pub model: Option<u32>,
    /// Mean with the skill.
    pub with_skill: Rational,
    /// Mean without it.
    pub without_skill: Rational,
    /// Pairs behind it.
    pub pairs: usize,
    /// Both means as version 0.6 of the report format has them: means of doubles, each rounded once.
    pub rounded: RoundedMeans,
}

/// Means of both arms as doubles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoundedMeans {
    /// With the skill.
    pub with_skill: f64,
    /// Without it.
    pub without_skill: f64,
}

impl UnitMeans {
    /// With minus without.
    pub fn delta(&self) -> Rational {
        &self.with_skill - &self.without_skill
    }
}

impl Pairing {
    /// The units of one stratum, cases by id.
    pub fn units(&self, table: &RunTable, model: Option<u32>) -> Vec<UnitMeans> {
        let mut by_case: BTreeMap<&str, (u32, Vec<&PairValues>)> = BTreeMap::new();
        for (pair, values) in self.eligible().filter(|(pair, _)| pair.model == model) {
            by_case.entry(table.case_id(pair.case)).or_insert((pair.case, Vec::new())).1.push(values);
        }
        let unit = |(case, pairs): (u32, Vec<&PairValues>)| {
            let with: Vec<Rational> = pairs.iter().map(|values| values.with_skill.clone()).collect();
            let without: Vec<Rational> = pairs.iter().map(|values| values.without_skill.clone()).collect();
            let rounded = |values: &[Rational]| {
                describe::mean(&values.iter().map(rational::to_f64).collect::<Vec<_>>()).unwrap_or_default()
            };
            let rounded = RoundedMeans { with_skill: rounded(&with), without_skill: rounded(&without) };
            let (with_skill, without_skill) = (rational::mean(&with)?, rational::mean(&without)?);
            Some(UnitMeans { case, model, with_skill, without_skill, pairs: pairs.len(), rounded })
        };
        by_case.into_values().filter_map(unit).collect()
    }

    /// The units of all strata: models by name, then the runs without a model.
    pub fn all_units(&self, table: &RunTable) -> Vec<UnitMeans> {
        table.strata().into_iter().flat_map(|model| self.units(table, model)).collect()
    }
}
