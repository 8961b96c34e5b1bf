//! What else must be known before a verdict is believed. JSON has each caveat as a qualifier of the verdict with its
//! figures; the terminal, Markdown, the summary for CI and the page have its sentence among the notes.

use num_traits::{Signed, Zero};
use serde_json::{Value, json};
use skill_lift_stats::rational;

use super::numbers;
use super::words::unit_name;
use crate::analyze::independence::ArmOrder;
use crate::analyze::inference::{DatasetCases, Inference, Loading};

/// One caveat.
#[derive(Debug, Clone, PartialEq)]
pub struct Caveat {
    /// Its code.
    pub code: &'static str,
    /// Its figures, an object.
    pub args: Value,
    /// Its sentence.
    pub text: String,
}

/// The caveats of a verdict, most important first.
pub fn caveats(inference: &Inference) -> Vec<Caveat> {
    let found = [
        missing_runs(inference),
        loading(inference),
        interleaving(inference),
        datasets(inference),
        one_unit(inference),
        few_units(inference),
    ];
    found.into_iter().flatten().collect()
}

fn missing_runs(inference: &Inference) -> Option<Caveat> {
    let bounds = &inference.missingness.as_ref()?.bounds;
    let range = bounds.lift.as_ref().filter(|_| bounds.could_reverse())?;
    Some(Caveat {
        code: "missing_runs_could_reverse",
        args: json!({"worst": rational::to_f64(&range.worst), "best": rational::to_f64(&range.best)}),
        text: format!(
            "The missing runs could reverse the lift: whatever they had shown, it would lie between {} and {}.",
            numbers::points(&range.worst),
            numbers::points(&range.best)
        ),
    })
}

fn loading(inference: &Inference) -> Option<Caveat> {
    let Loading { known, not_loaded } = inference.loading;
    let share = (not_loaded > 0).then(|| rational::rate(not_loaded as u64, known as u64))?;
    Some(Caveat {
        code: "skill_not_loaded",
        args: json!({"share": rational::to_f64(&share), "not_loaded_runs": not_loaded, "known_runs": known}),
        text: format!(
            "The skill was not loaded in {} of the runs that say whether it was: the lift is that of offering it.",
            numbers::percent(&share)
        ),
    })
}

fn interleaving(inference: &Inference) -> Option<Caveat> {
    let independence = inference.independence.as_ref()?;
    let apart: Vec<&ArmOrder> = independence.order.iter().filter(|order| order.is_apart()).collect();
    let (first, all) = (apart.first()?, independence.order.len());
    let which = match (&first.model, apart.len()) {
        (Some(model), 1) if all > 1 => format!("{model}'s runs of one arm"),
        (_, some) if some < all => format!("the runs of one arm, for {some} of {all} models,"),
        _ => "the runs of one arm".to_owned(),
    };
    let models: Vec<&str> = apart.iter().filter_map(|order| order.model.as_deref()).collect();
    Some(Caveat {
        code: "arms_not_interleaved",
        args: json!({"models": models, "models_timed": all}),
        text: format!(
            "The arms were not interleaved: {which} were made before the others. What else changed in between counts as an \
             effect of the skill."
        ),
    })
}

fn datasets(inference: &Inference) -> Option<Caveat> {
    let DatasetCases { datasets, cases } = &inference.dataset_cases;
    let from = match datasets.as_slice() {
        [] => return None,
        [one] => format!("dataset {one}"),
        several => numbers::counted(several.len(), "dataset", "datasets"),
    };
    Some(Caveat {
        code: "families_not_declared",
        args: json!({"datasets": datasets, "cases": cases}),
        text: format!(
            "{} are rows of {from} and count as independent. If rows share what makes them hard, declare a family for them.",
            numbers::counted(*cases, "case", "cases")
        ),
    })
}

fn one_unit(inference: &Inference) -> Option<Caveat> {
    let contrast = &inference.overall;
    let estimate = contrast.test.estimate.as_ref()?;
    let without_one = inference.companions.as_ref()?.leave_one_out.as_ref().ok()?;
    let (end, index) = if estimate.is_positive() {
        (&without_one.lowest, without_one.lowest_without)
    } else {
        (&without_one.highest, without_one.highest_without)
    };
    let reverses = !estimate.is_zero() && (end.is_zero() || end.is_positive() != estimate.is_positive());
    let unit = contrast.units.get(index).filter(|_| reverses)?;
    Some(Caveat {
        code: "one_unit_reverses",
        args: json!({"unit": unit.name, "estimate_without": rational::to_f64(end)}),
        text: format!("Without {} alone the lift would be {}.", unit.name, numbers::points(end)),
    })
}

fn few_units(inference: &Inference) -> Option<Caveat> {
    let beside = inference.companions.as_ref().filter(|beside| beside.few_cases_carry_the_lift)?;
    let robust = beside.hodges_lehmann.as_ref().ok()?;
    Some(Caveat {
        code: "few_cases_carry_the_lift",
        args: json!({"hodges_lehmann": rational::to_f64(robust)}),
        text: format!(
            "A few {} carry the lift: by the Hodges-Lehmann estimate, which they move less, it is {}.",
            unit_name(&inference.overall),
            numbers::points(robust)
        ),
    })
}
