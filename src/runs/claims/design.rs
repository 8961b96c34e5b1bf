//! What a benchmark report states that a plan of further runs can rest on: thresholds, the cases that its inference rests
//! on, and what a run cost.

use skill_lift_stats::rational::Rational;

use super::error::ClaimsError;
use super::figures::{self, Figure};
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
}

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
    Ok(StatedDesign { alpha: threshold("alpha"), min_lift: threshold("min_lift"), cases, dollars })
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
