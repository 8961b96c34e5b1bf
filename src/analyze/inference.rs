//! What may be concluded: the lift over cases (or families), with its test, interval and verdict.
//!
//! The unit is the case, or the family where the suite declares families: repetitions and models make a delta less
//! noisy, they never add units.

use std::collections::BTreeMap;

use num_traits::{One, Zero};
use skill_lift_stats::interval::{PaddedT, PairedT, padded_t, paired_t};
use skill_lift_stats::multiplicity::{benjamini_hochberg, holm};
use skill_lift_stats::permutation::PermutationTest;
use skill_lift_stats::power::{DetectableLift, cases_needed, smallest_detectable_lift};
use skill_lift_stats::proportion::regressed_share_upper;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Thresholds, Verdict, Withheld, sign_flip, verdict};

use super::AnalysisOptions;
use super::companions::Companions;
use super::lift::{PairedBlock, PairedSummary};
use super::missingness::Missingness;
use super::one_arm::{self, OneArmCriterion};
use super::pairing::{Diagnostics, Pairing, UnitMeans};
use super::repeated_success::{RepeatedSuccess, repeated_success};
use super::review::{ReviewItem, review_queue};
use super::slices::{self, SliceContrasts};
use super::table::{RunTable, WITH_SKILL};
use super::within_case::RunsOfCases;

/// What inference counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Each case.
    Case,
    /// Each family of cases.
    Family,
}

impl Unit {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Family => "family",
        }
    }
}

/// Both arms of one unit.
#[derive(Debug, Clone)]
pub struct UnitRates {
    /// Case id or family.
    pub name: String,
    /// Mean with the skill.
    pub with_skill: Rational,
    /// Mean without it.
    pub without_skill: Rational,
}

impl UnitRates {
    /// With minus without.
    pub fn delta(&self) -> Rational {
        &self.with_skill - &self.without_skill
    }

    /// The mean of several, under a name; `None` without any.
    pub fn mean_of(name: &str, members: &[&Self]) -> Option<Self> {
        let with: Vec<Rational> = members.iter().map(|member| member.with_skill.clone()).collect();
        let without: Vec<Rational> = members.iter().map(|member| member.without_skill.clone()).collect();
        mean_rates(name, &with, &without)
    }
}

/// The lift over some units, and how sure it is.
#[derive(Debug)]
pub struct Contrast {
    /// What is counted.
    pub unit: Unit,
    /// The units, by name.
    pub units: Vec<UnitRates>,
    /// Mean with the skill.
    pub with_skill: Option<Rational>,
    /// Mean without it.
    pub without_skill: Option<Rational>,
    /// Exact sign-flip test over the deltas.
    pub test: SignFlip,
    /// Headline interval.
    pub interval: Result<PaddedT, Withheld>,
    /// Plain paired t interval, for comparison.
    pub interval_t: Result<PairedT, Withheld>,
    /// What it says.
    pub verdict: Verdict,
    /// Upper limit of the share of units that could still get worse.
    pub regressed_share_upper: Result<f64, Withheld>,
    /// Smallest lift that this design could have detected.
    pub smallest_detectable_lift: Result<DetectableLift, Withheld>,
    /// Units that a lift of the smallest size that matters would need.
    pub cases_needed: Option<usize>,
}

/// One model's own lift.
#[derive(Debug)]
pub struct ModelContrast {
    /// The model.
    pub model: String,
    /// Its lift.
    pub contrast: Contrast,
    /// Its p-value adjusted for the number of models (Holm 1979).
    pub p_holm: Option<f64>,
}

/// One case over all its models.
#[derive(Debug)]
pub struct CaseContrast {
    /// Case id.
    pub case_id: String,
    /// Name for people, if it has one beside its id.
    pub name: Option<String>,
    /// Position in the suite.
    pub position: u32,
    /// Its family.
    pub family: Option<String>,
    /// Models (or the stratum without one) behind it.
    pub strata: usize,
    /// Both arms; `None` without an eligible pair.
    pub rates: Option<UnitRates>,
    /// Mean rate of the scored runs of each arm alone, also where no pair counts.
    pub with_skill_alone: Option<Rational>,
    /// The same without the skill.
    pub without_skill_alone: Option<Rational>,
    /// Whether the skill was not loaded in a run that should have it.
    pub skill_not_loaded: bool,
    /// Its pairs.
    pub pairing: Diagnostics,
    /// Exact label permutation of its runs, models as strata: valid if repetitions are independent.
    pub within_case: Result<PermutationTest, Withheld>,
    /// Its p-value adjusted for the number of cases (Benjamini and Hochberg 1995).
    pub p_bh: Option<f64>,
    /// What can be said of the case by itself.
    pub class: CaseClass,
    /// Whether a critical check failed with the skill.
    pub critical_failure: bool,
    /// Gates that wait for a judge.
    pub deferred_gates: u32,
    /// Judgements that were not supplied.
    pub deferred_judgements: u32,
}

/// What can be said of a case by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseClass {
    /// Better with the skill, also after adjusting for the number of cases.
    Improved,
    /// Worse with the skill, also after adjusting for the number of cases.
    Regressed,
    /// Everything passes in both arms.
    Saturated,
    /// Everything fails in both arms.
    Floor,
    /// Its runs do not settle it.
    Inconclusive,
}

impl CaseClass {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Saturated => "saturated",
            Self::Floor => "floor",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// Sizes of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitCounts {
    /// Cases with an eligible pair.
    pub cases: usize,
    /// (case, model) units.
    pub case_model_units: usize,
    /// Paired runs of each arm.
    pub pairs: usize,
    /// Models.
    pub models: usize,
}

/// The whole block.
#[derive(Debug)]
pub struct Inference {
    /// Error rate and smallest lift that matters.
    pub thresholds: Thresholds,
    /// Sizes.
    pub counts: UnitCounts,
    /// Whether cases differ in the models that they were run with.
    pub unbalanced_models: bool,
    /// The lift over all units.
    pub overall: Contrast,
    /// Each model's own.
    pub by_model: Vec<ModelContrast>,
    /// Every case, in suite order.
    pub by_case: Vec<CaseContrast>,
    /// What each slice of the cases says; `None` where nothing is known of the labels of cases.
    pub slices: Option<SliceContrasts>,
    /// The assertions that only one arm can satisfy, which the lift leaves out; `None` where nothing is known of them.
    pub one_arm: Option<Vec<OneArmCriterion>>,
    /// Cases to look at, most important first.
    pub review_queue: Vec<ReviewItem>,
    /// What is missing; `None` where nothing says which runs there should be.
    pub missingness: Option<Missingness>,
    /// Scored runs with the skill of which somebody says whether the skill was loaded, and those in which it was not.
    pub loading: Loading,
    /// How large a difference the user calls no difference.
    pub equivalence_margin: Option<Rational>,
    /// What stands beside the headline; `None` without runs.
    pub companions: Option<Companions>,
    /// pass@k and pass^k of both arms.
    pub repeated_success: Vec<RepeatedSuccess>,
}

impl Inference {
    /// The block of units that were paired elsewhere: cases alone, without models and repetitions.
    pub fn of_units(units: Vec<UnitRates>, thresholds: Thresholds) -> Self {
        let number = units.len();
        Self {
            overall: Contrast::of(Unit::Case, units, &thresholds),
            thresholds,
            counts: UnitCounts { cases: number, case_model_units: number, pairs: number, models: 0 },
            unbalanced_models: false,
            by_model: Vec::new(),
            by_case: Vec::new(),
            slices: None,
            one_arm: None,
            review_queue: Vec::new(),
            missingness: None,
            loading: Loading::default(),
            equivalence_margin: None,
            companions: None,
            repeated_success: Vec::new(),
        }
    }

    /// The block of a tree. `lift` is the one of the same pairs: its tests are not made twice.
    pub fn of(
        table: &RunTable,
        pairing: &Pairing,
        lift: &PairedSummary,
        overall: Contrast,
        options: &AnalysisOptions,
    ) -> Self {
        let units = pairing.all_units(table);
        let mut models_of_case: BTreeMap<u32, Vec<Option<u32>>> = BTreeMap::new();
        for unit in &units {
            models_of_case.entry(unit.case).or_default().push(unit.model);
        }
        let mut sets = models_of_case.values();
        let first = sets.next();
        let unbalanced_models = sets.any(|models| Some(models) != first);
        let counts = UnitCounts {
            cases: models_of_case.len(),
            case_model_units: units.len(),
            pairs: units.iter().map(|unit| unit.pairs).sum(),
            models: table.models.len(),
        };
        let runs = RunsOfCases::of(table, pairing);
        let ((by_model, missingness), (by_case, (companions, repeated_success))) = rayon::join(
            || {
                let by_model = by_model(table, overall.unit, pairing, lift, &options.thresholds);
                (by_model, Missingness::of(table, pairing, overall.unit, options.plan.as_ref()))
            },
            || {
                let beside = || {
                    let repeated = repeated_success(table, pairing, options.thresholds.alpha());
                    (Companions::of(table, &overall, &runs, options), repeated)
                };
                rayon::join(|| by_case(table, pairing, &runs, &units, &options.thresholds), beside)
            },
        );
        let review_queue = review_queue(&by_case);
        let slices = slices::contrasts(table, overall.unit, &by_case, &options.thresholds);
        Self {
            thresholds: options.thresholds.clone(),
            counts,
            unbalanced_models,
            overall,
            by_model,
            by_case,
            slices: Some(slices),
            one_arm: Some(one_arm::criteria(table)),
            review_queue,
            missingness: Some(missingness),
            loading: Loading::of(table),
            equivalence_margin: options.equivalence_margin.clone(),
            companions: Some(companions),
            repeated_success,
        }
    }
}

/// Whether the skill was loaded in the runs that should have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Loading {
    /// Scored runs with the skill that say whether it was loaded.
    pub known: usize,
    /// Those in which it was not.
    pub not_loaded: usize,
}

impl Loading {
    fn of(table: &RunTable) -> Self {
        let with_skill = table.variant_position(WITH_SKILL);
        let runs = table.runs.iter().filter(|run| run.scorable && Some(run.order.variant) == with_skill);
        let loaded: Vec<bool> = runs.filter_map(|run| run.skill_loaded).collect();
        Self { known: loaded.len(), not_loaded: loaded.iter().filter(|loaded| !**loaded).count() }
    }
}

/// The estimate of [`overall`], without its tests.
pub fn estimate(table: &RunTable, pairing: &Pairing) -> Option<Rational> {
    let units = unit_rates(table, unit_of(table), &pairing.all_units(table));
    rational::mean(&units.iter().map(UnitRates::delta).collect::<Vec<_>>())
}

/// What inference counts in a tree.
pub fn unit_of(table: &RunTable) -> Unit {
    let families = table.cases.iter().any(|case| case.family.is_some());
    if families { Unit::Family } else { Unit::Case }
}

/// The lift over all units of a tree.
pub fn overall(table: &RunTable, pairing: &Pairing, options: &AnalysisOptions) -> Contrast {
    let unit = unit_of(table);
    Contrast::of(unit, unit_rates(table, unit, &pairing.all_units(table)), &options.thresholds)
}

/// Means over the models of each case, then over the cases of each family.
fn unit_rates(table: &RunTable, unit: Unit, units: &[UnitMeans]) -> Vec<UnitRates> {
    let mut cases: BTreeMap<u32, Vec<&UnitMeans>> = BTreeMap::new();
    for unit in units {
        cases.entry(unit.case).or_default().push(unit);
    }
    let mut grouped: BTreeMap<&str, Vec<UnitRates>> = BTreeMap::new();
    for (position, strata) in cases {
        let case_id = table.case_id(position);
        let family = table.cases.get(position as usize).and_then(|case| case.family.as_deref());
        let name = match unit {
            Unit::Case => case_id,
            Unit::Family => family.unwrap_or(case_id),
        };
        let with: Vec<Rational> = strata.iter().map(|unit| unit.with_skill.clone()).collect();
        let without: Vec<Rational> = strata.iter().map(|unit| unit.without_skill.clone()).collect();
        grouped.entry(name).or_default().extend(mean_rates(name, &with, &without));
    }
    grouped
        .into_iter()
        .filter_map(|(name, members)| UnitRates::mean_of(name, &members.iter().collect::<Vec<_>>()))
        .collect()
}

fn mean_rates(name: &str, with: &[Rational], without: &[Rational]) -> Option<UnitRates> {
    Some(UnitRates {
        name: name.to_owned(),
        with_skill: rational::mean(with)?,
        without_skill: rational::mean(without)?,
    })
}

impl Contrast {
    /// The lift over some units.
    pub fn of(unit: Unit, units: Vec<UnitRates>, thresholds: &Thresholds) -> Self {
        let test = sign_flip(&units.iter().map(UnitRates::delta).collect::<Vec<_>>());
        Self::tested(unit, units, test, thresholds)
    }

    /// As [`Contrast::of`], with the test of the same deltas.
    fn tested(unit: Unit, units: Vec<UnitRates>, test: SignFlip, thresholds: &Thresholds) -> Self {
        let deltas: Vec<Rational> = units.iter().map(UnitRates::delta).collect();
        let mean = |of: fn(&UnitRates) -> &Rational| {
            rational::mean(&units.iter().map(|unit| of(unit).clone()).collect::<Vec<_>>())
        };
        let alpha = thresholds.alpha();
        let interval = padded_t(&deltas, alpha, &test);
        let detectable = smallest_detectable_lift(&deltas, alpha);
        let needed = detectable.as_ref().ok().and_then(|detectable| {
            cases_needed(detectable.standard_deviation, rational::to_f64(thresholds.min_lift()), alpha)
        });
        Self {
            unit,
            with_skill: mean(|unit| &unit.with_skill),
            without_skill: mean(|unit| &unit.without_skill),
            interval_t: paired_t(&deltas, alpha),
            verdict: verdict(&test, &interval, thresholds),
            regressed_share_upper: regressed_share_upper(test.regressed, test.n),
            smallest_detectable_lift: detectable,
            cases_needed: needed,
            interval,
            test,
            units,
        }
    }

    /// Whether every unit passes everything in both arms.
    pub fn all_pass(&self) -> bool {
        !self.units.is_empty() && self.units.iter().all(|unit| unit.with_skill.is_one() && unit.without_skill.is_one())
    }

    /// Whether every unit fails everything in both arms.
    pub fn all_fail(&self) -> bool {
        !self.units.is_empty()
            && self.units.iter().all(|unit| unit.with_skill.is_zero() && unit.without_skill.is_zero())
    }
}

fn by_model(
    table: &RunTable,
    unit: Unit,
    pairing: &Pairing,
    lift: &PairedSummary,
    thresholds: &Thresholds,
) -> Vec<ModelContrast> {
    let contrast = |(model, (_, block)): (usize, &(String, PairedBlock))| {
        let rates = unit_rates(table, unit, &pairing.units(table, Some(model as u32)));
        match unit {
            // one model, so that its units are its cases
            Unit::Case => Contrast::tested(unit, rates, block.significance.clone(), thresholds),
            Unit::Family => Contrast::of(unit, rates, thresholds),
        }
    };
    let contrasts: Vec<Contrast> = lift.by_model.iter().enumerate().map(contrast).collect();
    let p_values: Vec<Option<f64>> =
        contrasts.iter().map(|contrast| (contrast.test.n > 0).then_some(contrast.test.p_two_sided)).collect();
    let adjusted = holm(&p_values);
    contrasts
        .into_iter()
        .zip(adjusted)
        .zip(&table.models)
        .map(|((contrast, p_holm), model)| ModelContrast { model: model.clone(), contrast, p_holm })
        .collect()
}

fn by_case(
    table: &RunTable,
    pairing: &Pairing,
    runs: &RunsOfCases,
    units: &[UnitMeans],
    thresholds: &Thresholds,
) -> Vec<CaseContrast> {
    let mut tests = runs.tests();
    let mut strata: BTreeMap<u32, Vec<&UnitMeans>> = BTreeMap::new();
    for unit in units {
        strata.entry(unit.case).or_default().push(unit);
    }
    let mut diagnostics = pairing.diagnostics_by_case();
    let mut cases: Vec<CaseContrast> = table
        .cases
        .iter()
        .enumerate()
        .filter(|(_, case)| !case.id.is_empty())
        .map(|(position, case)| {
            let position = position as u32;
            let of_case = strata.remove(&position).unwrap_or_default();
            let with: Vec<Rational> = of_case.iter().map(|unit| unit.with_skill.clone()).collect();
            let without: Vec<Rational> = of_case.iter().map(|unit| unit.without_skill.clone()).collect();
            CaseContrast {
                case_id: case.id.clone(),
                name: case.name.clone(),
                position,
                family: case.family.clone(),
                strata: of_case.len(),
                rates: mean_rates(&case.id, &with, &without),
                with_skill_alone: None,
                without_skill_alone: None,
                skill_not_loaded: false,
                pairing: diagnostics.remove(&position).unwrap_or_default(),
                within_case: tests.remove(&position).unwrap_or(Err(Withheld::NoEligiblePairs)),
                p_bh: None,
                class: CaseClass::Inconclusive,
                critical_failure: false,
                deferred_gates: 0,
                deferred_judgements: 0,
            }
        })
        .collect();
    classify(&mut cases, thresholds);
    let index: BTreeMap<u32, usize> = cases.iter().enumerate().map(|(index, case)| (case.position, index)).collect();
    let arms = [WITH_SKILL, table.baseline.variant()].map(|arm| table.variant_position(arm));
    let mut alone: BTreeMap<u32, [Vec<Rational>; 2]> = BTreeMap::new();
    for run in table.runs.iter().filter(|run| run.scorable) {
        let arm = arms.iter().position(|arm| *arm == Some(run.order.variant));
        let has_skill = arm == Some(0);
        if let (Some(arm), Some(rate)) = (arm, run.compared) {
            alone.entry(run.order.case).or_default()[arm].push(rate.value());
        }
        if let Some(case) = index.get(&run.order.case).and_then(|index| cases.get_mut(*index)) {
            case.critical_failure |= has_skill && !run.critical_failures.is_empty();
            case.skill_not_loaded |= has_skill && run.skill_loaded == Some(false);
            case.deferred_gates += run.deferred_gates;
            case.deferred_judgements += run.deferred_judgements;
        }
    }
    for case in &mut cases {
        if let Some([with, without]) = alone.get(&case.position) {
            (case.with_skill_alone, case.without_skill_alone) = (rational::mean(with), rational::mean(without));
        }
    }
    cases
}

fn classify(cases: &mut [CaseContrast], thresholds: &Thresholds) {
    let p_values: Vec<Option<f64>> =
        cases.iter().map(|case| case.within_case.as_ref().ok().map(|test| test.p_two_sided)).collect();
    let alpha = rational::to_f64(thresholds.alpha());
    for (case, p_bh) in cases.iter_mut().zip(benjamini_hochberg(&p_values)) {
        case.p_bh = p_bh;
        let Some(rates) = &case.rates else {
            continue;
        };
        let delta = rates.delta();
        case.class = if rates.with_skill.is_one() && rates.without_skill.is_one() {
            CaseClass::Saturated
        } else if rates.with_skill.is_zero() && rates.without_skill.is_zero() {
            CaseClass::Floor
        } else if p_bh.is_some_and(|p| p <= alpha) && !delta.is_zero() {
            if delta > Rational::zero() { CaseClass::Improved } else { CaseClass::Regressed }
        } else {
            CaseClass::Inconclusive
        };
    }
}
