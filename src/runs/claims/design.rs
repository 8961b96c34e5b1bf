//! What a benchmark report states that a plan of further runs or a gate can rest on: thresholds, the cases that its
//! inference rests on, whether its evidence is complete, and what a run cost.

use num_bigint::BigInt;
use skill_lift_stats::rational::Rational;

use super::error::ClaimsError;
use super::figures::{self, Figure};
use super::note::cut;
use super::places::{index, items, text_of};
use super::verdicts::plain;
use crate::json::Item;

/// What a report states of its own design.
#[derive(Debug, Clone, Default)]
pub struct StatedDesign {
    /// Error rate of its tests.
    pub alpha: Option<Rational>,
    /// Smallest lift that matters.
    pub min_lift: Option<Rational>,
    /// The cases of its inference. Reports of the reference package have none.
    pub cases: Vec<StatedCase>,
    /// What a run with the skill cost in dollars, and one without it.
    pub dollars: Option<[RunPrice; 2]>,
    /// Lifts within this are no difference that matters.
    pub equivalence_margin: Option<Rational>,
    /// Whether it rests on everything that it could rest on. Reports of the reference package may not say it.
    pub availability: Option<StatedAvailability>,
    /// What a run with the skill cost more than one without it.
    pub extra_cost: Option<ExtraCost>,
}

/// What a report says of its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatedAvailability {
    /// Whether nothing is missing.
    pub is_complete: bool,
    /// What is missing, in the codes of the report.
    pub reasons: Vec<String>,
}

/// What is compared in money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostBasis {
    /// Pairs of runs: the mean of their differences.
    Pairs,
    /// All runs of both arms: the difference of their means.
    Runs,
}

/// What a run with the skill cost more than one without it, in dollars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraCost {
    /// The mean difference over what was measured; `None` when nothing was.
    pub mean: Option<Rational>,
    /// The currency, if it is another one; then the mean is none of dollars.
    pub other_currency: Option<String>,
    /// What is compared.
    pub basis: CostBasis,
    /// Pairs or runs that say what they cost.
    pub measured: u64,
    /// Pairs or runs.
    pub of: u64,
}

impl ExtraCost {
    /// The mean difference, if every pair or run says what it cost.
    pub fn complete(&self) -> Option<&Rational> {
        let is_complete = self.of > 0 && self.measured == self.of && self.other_currency.is_none();
        self.mean.as_ref().filter(|_| is_complete)
    }
}

/// The most reasons for missing evidence that are kept.
const MOST_REASONS: usize = 20;

/// A case of the inference of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedCase {
    /// Its id.
    pub case: String,
    /// The family that it belongs to.
    pub family: Option<String>,
    /// Mean rates with and without the skill; `None` when no pair of it counts.
    pub rates: Option<(Rational, Rational)>,
}

/// What the runs of one arm cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPrice {
    /// Mean over the runs that say it, in dollars.
    pub mean: f64,
    /// Runs that say it.
    pub measured: u64,
    /// Runs.
    pub runs: u64,
}

/// Reads what a report states of its design.
///
/// # Errors
/// A block of inference that names a case twice, or whose rates are none.
pub(super) fn design(root: Item<'_, '_>) -> Result<StatedDesign, ClaimsError> {
    let inference = root.get("inference");
    let threshold = |key: &str| {
        let number = inference?.get(key)?.as_number()?;
        figures::decimal(number.text()).map(|(value, _)| value)
    };
    let listed = inference.and_then(|inference| inference.get("by_case")).into_iter().flat_map(items);
    let cases = listed.enumerate().map(|(at, case)| stated_case(case, at)).collect::<Result<Vec<_>, _>>()?;
    let mut names: Vec<&str> = cases.iter().map(|case| case.case.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ClaimsError::BrokenInference(format!("`by_case` names case {} twice", twice[0])));
    }
    let price = |arm| price(root, arm);
    let without = || price("without_skill").or_else(|| price("old_skill"));
    let dollars = price("with_skill").and_then(|with| Some([with, without()?]));
    Ok(StatedDesign {
        alpha: threshold("alpha"),
        min_lift: threshold("min_lift"),
        cases,
        dollars,
        equivalence_margin: threshold("equivalence_margin"),
        availability: availability(root),
        extra_cost: cost_of_pairs(root).or_else(|| cost_of_runs(root)),
    })
}

fn availability(root: Item<'_, '_>) -> Option<StatedAvailability> {
    let word = root.get("availability")?.as_str()?;
    let reasons = root.get("incomplete_reasons").into_iter().flat_map(items);
    let reasons = reasons.filter_map(|reason| Some(cut(&reason.as_str()?))).take(MOST_REASONS).collect();
    Some(StatedAvailability { is_complete: word == "complete", reasons })
}

fn cost_of_pairs(root: Item<'_, '_>) -> Option<ExtraCost> {
    let money = root.get("inference")?.get("cost_per_run")?.get("money")?;
    let count = |key: &str| money.get(key).and_then(figures::count);
    let currency = money.get("currency").and_then(Item::as_str);
    Some(ExtraCost {
        mean: money.get("delta").and_then(dollars),
        other_currency: currency.filter(|currency| *currency != "USD").map(|currency| cut(&currency)),
        basis: CostBasis::Pairs,
        measured: count("pairs_measured")?,
        of: count("pairs")?,
    })
}

/// The same from the totals of both arms, for reports without inference. A total is one only if all runs are in it.
fn cost_of_runs(root: Item<'_, '_>) -> Option<ExtraCost> {
    let arms = root.get("cost_summary")?.get("by_variant")?;
    let arm = |names: &[&str]| {
        let arm = names.iter().find_map(|name| arms.get(name))?;
        let costs = arm.get("cost_usd")?;
        let measured = costs.get("n").and_then(figures::count)?;
        let runs = arm.get("runs").and_then(figures::count)?;
        let sum = costs.get("sum").and_then(dollars).filter(|_| runs > 0 && measured == runs);
        Some((sum.map(|sum| sum / BigInt::from(runs)), measured, runs))
    };
    let (with, measured_with, runs_with) = arm(&["with_skill"])?;
    let (without, measured_without, runs_without) = arm(&["without_skill", "old_skill"])?;
    Some(ExtraCost {
        mean: with.zip(without).map(|(with, without)| with - without),
        other_currency: None,
        basis: CostBasis::Runs,
        measured: measured_with.saturating_add(measured_without),
        of: runs_with.saturating_add(runs_without),
    })
}

fn dollars(item: Item<'_, '_>) -> Option<Rational> {
    figures::decimal(item.as_number()?.text()).map(|(value, _)| value)
}

fn stated_case(case: Item<'_, '_>, at: usize) -> Result<StatedCase, ClaimsError> {
    let pointer = index("/inference/by_case", at);
    let rate = |key: &str| match case.get(key).map_or(Figure::Null, figures::rate) {
        Figure::Share(value, _) => Ok(Some(value)),
        Figure::Null => Ok(None),
        Figure::Counts(..) | Figure::Unreadable(_) => {
            Err(ClaimsError::BrokenInference(format!("{pointer}/{key} is no rate")))
        }
    };
    let (with, without) = (rate("estimate_with")?, rate("estimate_without")?);
    let case_id = case.get("case_id").and_then(plain);
    Ok(StatedCase {
        case: case_id.ok_or_else(|| ClaimsError::BrokenInference(format!("{pointer} has no case_id")))?,
        family: text_of(case, &["family"]),
        rates: with.zip(without),
    })
}

/// The price of a run of an arm: the sum of those that say it over their number.
fn price(root: Item<'_, '_>, arm: &str) -> Option<RunPrice> {
    let arm = root.get("cost_summary")?.get("by_variant")?.get(arm)?;
    let costs = arm.get("cost_usd")?;
    let measured = costs.get("n").and_then(figures::count).filter(|measured| *measured > 0)?;
    let sum = ["sum", "known_sum"].into_iter().find_map(|key| costs.get(key)?.as_number());
    let mean = sum?.as_f64() / measured as f64;
    let runs = arm.get("runs").and_then(figures::count).unwrap_or(measured);
    (mean.is_finite() && mean >= 0.0).then_some(RunPrice { mean, measured, runs })
}
