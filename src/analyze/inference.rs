//! What may be concluded: the lift over cases (or families), with its test, interval and verdict.
//!
//! The unit is the case, or the family where the suite declares families: repetitions and models make a delta less
//! noisy, they never add units.

mod cases;

use std::collections::BTreeMap;

use num_traits::{One, Zero};
use skill_lift_stats::interval::{PaddedT, PairedT, padded_t, paired_t};
use skill_lift_stats::multiplicity::holm;
use skill_lift_stats::power::{DetectableLift, cases_needed, smallest_detectable_lift};
use skill_lift_stats::proportion::regressed_share_upper;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Thresholds, Verdict, Withheld, sign_flip, verdict};

use super::AnalysisOptions;
use super::companions::Companions;
use super::independence::Independence;
use super::lift::{PairedBlock, PairedSummary};
use super::missingness::Missingness;
use super::one_arm::{self, OneArmCriterion};
use super::pairing::{Pairing, UnitMeans};
use super::repeated_success::{RepeatedSuccess, repeated_success};
use super::review::{ReviewItem, review_queue};
use super::slices::{self, SliceContrasts};
use super::table::{RunTable, WITH_SKILL};
use super::within_case::RunsOfCases;
pub use cases::{CaseClass, CaseContrast};

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

/// The units that got worse, worst first and then by name; as many as asked for.
pub fn worst_units(units: &[UnitRates], most: usize) -> Vec<&UnitRates> {
    let zero = Rational::zero();
    let mut worse: Vec<(Rational, &UnitRates)> =
        units.iter().map(|unit| (unit.delta(), unit)).filter(|(delta, _)| *delta < zero).collect();
    worse.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.name.cmp(&b.1.name)));
    worse.into_iter().take(most).map(|(_, unit)| unit).collect()
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
    /// Whether the compared runs look like independent trials; `None` without runs.
    pub independence: Option<Independence>,
    /// Cases that are rows of datasets, where the suite declares no family.
    pub dataset_cases: DatasetCases,
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
            independence: None,
            dataset_cases: DatasetCases::default(),
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
        let independence = Independence::of(table, &runs);
        let ((by_model, missingness), (by_case, (companions, repeated_success))) = rayon::join(
            || {
                let by_model = by_model(table, overall.unit, pairing, lift, &options.thresholds);
                (by_model, Missingness::of(table, pairing, overall.unit, options.plan.as_ref()))
            },
            || {
                let beside = || {
                    let repeated = repeated_success(table, pairing, options.thresholds.alpha());
                    (Companions::of(table, &overall, &units, (&runs, &independence), options), repeated)
                };
                let by_case = || cases::by_case(table, pairing, (&runs, &independence), &units, &options.thresholds);
                rayon::join(by_case, beside)
            },
        );
        let review_queue = review_queue(&by_case);
        let dataset_cases = match overall.unit {
            Unit::Case => DatasetCases::of(table, &by_case),
            Unit::Family => DatasetCases::default(),
        };
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
            independence: Some(independence),
            dataset_cases,
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

/// The compared cases that are rows of a dataset with others: rows of one template may share what makes them hard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatasetCases {
    /// Datasets of which two rows or more are compared, by name.
    pub datasets: Vec<String>,
    /// Their cases.
    pub cases: usize,
}

impl DatasetCases {
    fn of(table: &RunTable, cases: &[CaseContrast]) -> Self {
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for case in cases.iter().filter(|case| case.rates.is_some()) {
            let dataset = table.cases.get(case.position as usize).and_then(|case| case.dataset.as_deref());
            if let Some(dataset) = dataset {
                *rows.entry(dataset).or_default() += 1;
            }
        }
        rows.retain(|_, cases| *cases > 1);
        Self { cases: rows.values().sum(), datasets: rows.into_keys().map(str::to_owned).collect() }
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
    cases_of_units(table, unit, units)
        .into_iter()
        .filter_map(|(name, members)| UnitRates::mean_of(name, &members.iter().collect::<Vec<_>>()))
        .collect()
}

/// The cases of each unit, by its name: means over their models.
pub(super) fn cases_of_units<'t>(
    table: &'t RunTable,
    unit: Unit,
    units: &[UnitMeans],
) -> BTreeMap<&'t str, Vec<UnitRates>> {
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
