//! Parts of the cases: what they have in common by the labels of their author. One pass over the runs and one over the
//! units; nothing is paired anew.
//!
//! Slices overlap: a case has a domain, a difficulty, several goals. They describe where a lift comes from and decide
//! nothing.

use std::collections::{BTreeMap, HashMap};

use num_bigint::BigInt;
use num_traits::Zero;
use rayon::prelude::*;
use skill_lift_stats::describe;
use skill_lift_stats::interval::{PaddedT, padded_t};
use skill_lift_stats::multiplicity::{benjamini_hochberg, benjamini_yekutieli};
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Thresholds, Withheld, minimum_cases, sign_flip};

use super::inference::{CaseContrast, Unit, UnitRates};
use super::lift::PairedBlock;
use super::pairing::{Diagnostics, Pairing};
use super::table::{CaseFacts, PassRate, RunTable};

/// What cases are sliced by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// `domain`.
    Domain,
    /// `difficulty`.
    Difficulty,
    /// `trigger_type`.
    TriggerType,
    /// `success_goals`, of which a case can have several.
    SuccessGoals,
    /// `tags`, of which a case can have several.
    Tags,
    /// `kind`.
    Kind,
    /// `split`.
    Split,
}

impl Axis {
    /// In the order of reports.
    pub const ALL: [Self; 7] =
        [Self::Domain, Self::Difficulty, Self::TriggerType, Self::SuccessGoals, Self::Tags, Self::Kind, Self::Split];

    /// Those of version 0.6 of the report format.
    pub const COMPAT: [Self; 4] = [Self::Domain, Self::Difficulty, Self::TriggerType, Self::SuccessGoals];

    /// The key in reports.
    pub fn key(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Difficulty => "difficulty",
            Self::TriggerType => "trigger_type",
            Self::SuccessGoals => "success_goals",
            Self::Tags => "tags",
            Self::Kind => "kind",
            Self::Split => "split",
        }
    }

    fn values(self, case: &CaseFacts) -> impl Iterator<Item = &str> {
        let (one, several): (Option<&str>, &[String]) = match self {
            Self::Domain => (case.domain.as_deref(), &[]),
            Self::Difficulty => (case.difficulty.as_deref(), &[]),
            Self::TriggerType => (case.trigger_type.as_deref(), &[]),
            Self::SuccessGoals => (None, &case.success_goals),
            Self::Tags => (None, &case.tags),
            Self::Kind => (Some(&case.kind), &[]),
            Self::Split => (Some(case.split.word()), &[]),
        };
        one.into_iter().chain(several.iter().map(String::as_str)).filter(|value| !value.is_empty())
    }
}

/// Which slices are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// All of them.
    All,
    /// Those that say something: not of an axis with very many values, and not what all cases share.
    Telling,
}

/// Which slices there are, and which of them each case is in.
#[derive(Debug)]
struct SliceIndex {
    /// Axis and value of each slice, axes in order and values by name.
    names: Vec<(Axis, String)>,
    /// For each case the positions of its slices, ascending.
    of_case: Vec<Vec<u32>>,
    /// Axes with more values than are listed.
    left_out: Vec<Axis>,
}

impl SliceIndex {
    /// The slices of the cases that have a run, as far as they are wanted.
    fn of(table: &RunTable, axes: &[Axis], wanted: Wanted) -> Self {
        let mut cases_of: BTreeMap<(Axis, &str), Vec<usize>> = BTreeMap::new();
        for (position, case) in table.cases.iter().enumerate().filter(|(_, case)| !case.id.is_empty()) {
            for axis in axes {
                for value in axis.values(case) {
                    let cases = cases_of.entry((*axis, value)).or_default();
                    // a case may name a label twice
                    if cases.last() != Some(&position) {
                        cases.push(position);
                    }
                }
            }
        }
        let values = |axis: Axis| cases_of.keys().filter(|(of_value, _)| *of_value == axis).count();
        let mut left_out = Vec::new();
        if wanted == Wanted::Telling {
            left_out.extend(axes.iter().copied().filter(|axis| values(*axis) > MOST_VALUES));
            let all = table.cases.iter().filter(|case| !case.id.is_empty()).count();
            cases_of.retain(|(axis, _), cases| !left_out.contains(axis) && cases.len() < all);
        }
        let mut of_case = vec![Vec::new(); table.cases.len()];
        let mut names = Vec::with_capacity(cases_of.len());
        for (slice, ((axis, value), cases)) in (0..).zip(cases_of) {
            cases.into_iter().for_each(|case| of_case[case].push(slice));
            names.push((axis, value.to_owned()));
        }
        Self { names, of_case, left_out }
    }

    fn of_case(&self, case: u32) -> &[u32] {
        self.of_case.get(case as usize).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The runs of one arm in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArmOfSlice {
    /// Scored runs.
    pub runs: usize,
    /// Mean objective pass rate over the runs that have one.
    pub objective: Option<f64>,
    /// Mean combined pass rate.
    pub combined: Option<f64>,
}

/// One slice as version 0.6 of the report format has it.
#[derive(Debug)]
pub struct SliceSummary {
    /// What it is sliced by.
    pub axis: Axis,
    /// The value that its cases share.
    pub value: String,
    /// The selected arms, in their order.
    pub arms: Vec<ArmOfSlice>,
    /// Mean difference over the (case, model) units of the slice, as the headline has it; `None` without one.
    pub lift: Option<f64>,
    /// Its pairs.
    pub pairing: Diagnostics,
}

/// How often each pass rate occurs: there are few different ones, so that a mean of many runs is quick.
#[derive(Debug, Clone, Default)]
struct RateCounts(BTreeMap<(u32, u32), u64>);

impl RateCounts {
    fn push(&mut self, rate: Option<PassRate>) {
        if let Some(PassRate { passed, total, vetoed }) = rate {
            let fraction = if vetoed { (0, 1) } else { (passed, total) };
            *self.0.entry(fraction).or_default() += 1;
        }
    }

    /// The mean of the rates as doubles, rounded once, as the format has it.
    fn mean(&self) -> Option<f64> {
        let runs: u64 = self.0.values().sum();
        let sum = self.0.iter().fold(Rational::zero(), |sum, (&(passed, total), count)| {
            let rate = PassRate { passed, total, vetoed: false };
            let rounded = rational::from_f64(rational::to_f64(&rate.value())).unwrap_or_default();
            sum + rounded * BigInt::from(*count)
        });
        (runs > 0).then(|| rational::to_f64(&(sum / BigInt::from(runs))))
    }
}

/// What is collected of the runs of one arm in a slice.
#[derive(Debug, Clone, Default)]
struct ArmCounts {
    runs: usize,
    objective: RateCounts,
    combined: RateCounts,
}

/// What is collected of a slice.
#[derive(Debug, Clone, Default)]
struct Parts {
    arms: Vec<ArmCounts>,
    with_skill: Vec<f64>,
    without_skill: Vec<f64>,
    pairing: Diagnostics,
}

impl Parts {
    fn summary(self, (axis, value): (Axis, String)) -> SliceSummary {
        let arm = |counts: &ArmCounts| ArmOfSlice {
            runs: counts.runs,
            objective: counts.objective.mean(),
            combined: counts.combined.mean(),
        };
        let means = describe::mean(&self.with_skill).zip(describe::mean(&self.without_skill));
        SliceSummary {
            axis,
            value,
            arms: self.arms.iter().map(arm).collect(),
            lift: means.map(|(with, without)| with - without),
            pairing: self.pairing,
        }
    }
}

/// The slices of version 0.6 of the report format. `overall` is the lift over all units.
pub fn summaries(table: &RunTable, pairing: &Pairing, overall: &PairedBlock) -> Vec<SliceSummary> {
    let index = SliceIndex::of(table, &Axis::COMPAT, Wanted::All);
    let empty = Parts { arms: vec![ArmCounts::default(); table.variants.len()], ..Parts::default() };
    let mut parts = vec![empty; index.names.len()];
    for run in table.runs.iter().filter(|run| run.scorable) {
        for slice in index.of_case(run.order.case) {
            if let Some(arm) = parts[*slice as usize].arms.get_mut(run.order.variant as usize) {
                arm.runs += 1;
                arm.objective.push(run.objective);
                arm.combined.push(run.combined);
            }
        }
    }
    for unit in &overall.units {
        for slice in index.of_case(unit.case) {
            parts[*slice as usize].with_skill.push(unit.rounded.with_skill);
            parts[*slice as usize].without_skill.push(unit.rounded.without_skill);
        }
    }
    for (case, diagnostics) in pairing.diagnostics_by_case() {
        index.of_case(case).iter().for_each(|slice| parts[*slice as usize].pairing.merge(&diagnostics));
    }
    parts.into_iter().zip(index.names).map(|(parts, name)| parts.summary(name)).collect()
}

/// Values of an axis that are listed with their lift: with more of them the labels are those of single cases.
const MOST_VALUES: usize = 10_000;

/// Every slice with its lift.
#[derive(Debug)]
pub struct SliceContrasts {
    /// Axes in order, values by name.
    pub slices: Vec<SliceContrast>,
    /// Axes with too many values to be listed.
    pub left_out: Vec<Axis>,
}

/// What the cases of a slice say. Descriptive: it decides nothing.
#[derive(Debug)]
pub struct SliceContrast {
    /// What it is sliced by.
    pub axis: Axis,
    /// The value that its cases share.
    pub value: String,
    /// Cases with a pair that counts.
    pub cases: usize,
    /// Its pairs.
    pub pairing: Diagnostics,
    /// The lift over its units.
    pub lift: Lift,
    /// The p-value adjusted for the number of slices that were tested (Benjamini and Hochberg 1995).
    pub p_bh: Option<f64>,
    /// The same, valid although slices share cases (Benjamini and Yekutieli 2001).
    pub p_by: Option<f64>,
}

/// The lift over some units.
#[derive(Debug, Clone)]
pub struct Lift {
    /// Cases or families.
    pub units: usize,
    /// Mean with the skill.
    pub with_skill: Option<Rational>,
    /// Mean without it.
    pub without_skill: Option<Rational>,
    /// Mean difference.
    pub estimate: Option<Rational>,
    /// The test and the interval; withheld where no result could be told from chance.
    pub tested: Result<(SignFlip, PaddedT), Withheld>,
}

impl Lift {
    fn of(units: &[UnitRates], thresholds: &Thresholds) -> Self {
        let mean = |of: fn(&UnitRates) -> Rational| rational::mean(&units.iter().map(of).collect::<Vec<_>>());
        let deltas: Vec<Rational> = units.iter().map(UnitRates::delta).collect();
        let enough = minimum_cases(thresholds.alpha()).is_some_and(|minimum| deltas.len() >= minimum);
        let tested = match deltas.len() {
            0 => Err(Withheld::NoEligiblePairs),
            _ if !enough => Err(Withheld::TooFewUnits),
            _ => {
                let test = sign_flip(&deltas);
                padded_t(&deltas, thresholds.alpha(), &test).map(|interval| (test, interval))
            }
        };
        Self {
            units: units.len(),
            with_skill: mean(|unit| unit.with_skill.clone()),
            without_skill: mean(|unit| unit.without_skill.clone()),
            estimate: rational::mean(&deltas),
            tested,
        }
    }
}

/// Every slice with the lift of its cases; `cases` are those of inference. A label that all cases have is no slice: its
/// lift is the one of all cases.
pub fn contrasts(table: &RunTable, unit: Unit, cases: &[CaseContrast], thresholds: &Thresholds) -> SliceContrasts {
    let index = SliceIndex::of(table, &Axis::ALL, Wanted::Telling);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); index.names.len()];
    let mut pairings = vec![Diagnostics::default(); index.names.len()];
    for (position, case) in (0..).zip(cases) {
        for slice in index.of_case(case.position) {
            pairings[*slice as usize].merge(&case.pairing);
            if case.rates.is_some() {
                members[*slice as usize].push(position);
            }
        }
    }
    // labels often go together, and their cases are tested once
    let mut places: HashMap<&[u32], usize> = HashMap::new();
    let mut distinct: Vec<&[u32]> = Vec::new();
    let place_of = members.iter().map(|members| {
        *places.entry(members).or_insert_with(|| {
            distinct.push(members);
            distinct.len() - 1
        })
    });
    let place_of: Vec<usize> = place_of.collect();
    let lift = |members: &&[u32]| Lift::of(&units_of(unit, cases, members), thresholds);
    let lifts: Vec<Lift> = distinct.par_iter().map(lift).collect();
    let slices = index.names.into_iter().zip(pairings).zip(place_of).zip(&members);
    let mut slices: Vec<SliceContrast> = slices
        .map(|((((axis, value), pairing), place), members)| SliceContrast {
            axis,
            value,
            cases: members.len(),
            pairing,
            lift: lifts[place].clone(),
            p_bh: None,
            p_by: None,
        })
        .collect();
    let p_values: Vec<Option<f64>> =
        slices.iter().map(|slice| slice.lift.tested.as_ref().ok().map(|(test, _)| test.p_two_sided)).collect();
    let adjusted = benjamini_hochberg(&p_values).into_iter().zip(benjamini_yekutieli(&p_values));
    for (slice, (p_bh, p_by)) in slices.iter_mut().zip(adjusted) {
        (slice.p_bh, slice.p_by) = (p_bh, p_by);
    }
    SliceContrasts { slices, left_out: index.left_out }
}

/// The units of some cases: the cases themselves, or means over the families that they are of.
fn units_of(unit: Unit, cases: &[CaseContrast], members: &[u32]) -> Vec<UnitRates> {
    let members = members.iter().filter_map(|position| cases.get(*position as usize));
    let rates = members.filter_map(|case| Some((case, case.rates.as_ref()?)));
    match unit {
        Unit::Case => rates.map(|(_, rates)| rates.clone()).collect(),
        Unit::Family => {
            let mut families: BTreeMap<&str, Vec<&UnitRates>> = BTreeMap::new();
            for (case, rates) in rates {
                families.entry(case.family.as_deref().unwrap_or(&case.case_id)).or_default().push(rates);
            }
            families.into_iter().filter_map(|(name, rates)| UnitRates::mean_of(name, &rates)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_over_counts_is_the_mean_over_runs() {
        let rates = [(1, 3), (2, 3), (1, 3), (1, 7), (0, 5), (1, 10)];
        let mut counts = RateCounts::default();
        for (passed, total) in rates {
            counts.push(Some(PassRate { passed, total, vetoed: false }));
        }
        counts.push(Some(PassRate { passed: 3, total: 3, vetoed: true }));
        counts.push(None);
        let doubles: Vec<f64> = rates.iter().map(|(passed, total)| f64::from(*passed) / f64::from(*total)).collect();
        assert_eq!(counts.mean(), describe::mean(&[doubles, vec![0.0]].concat()));
        assert_eq!(RateCounts::default().mean(), None);
    }
}
