//! The block `slice_summary` in the form of version 0.6 of the report format, and `slices` of the block `inference`.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::rational::{self, Rational, round_f64_half_even};

use super::compat::Pairing;
use super::inference_json::Interval;
use super::ordered::Ordered;
use crate::analyze::inference::Unit;
use crate::analyze::slices::{ArmOfSlice, Axis, SliceContrast, SliceSummary};
use crate::analyze::table::RunTable;

/// One slice; its first keys are the names of the arms.
pub(super) struct Slice<'a> {
    variants: &'a [String],
    arms: &'a [ArmOfSlice],
    lift: Option<f64>,
    pairing: Pairing<'a>,
    concentration: Option<f64>,
}

#[derive(Serialize)]
struct Arm {
    runs: usize,
    mean_objective_pass_rate: Option<f64>,
    mean_combined_pass_rate: Option<f64>,
}

impl Serialize for Slice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (variant, arm) in self.variants.iter().zip(self.arms) {
            let ArmOfSlice { runs, objective, combined } = *arm;
            map.serialize_entry(
                variant,
                &Arm { runs, mean_objective_pass_rate: objective, mean_combined_pass_rate: combined },
            )?;
        }
        if let Some(lift) = self.lift {
            map.serialize_entry("lift", &round_f64_half_even(lift, 4))?;
        }
        map.serialize_entry("pairing", &self.pairing)?;
        if let Some(concentration) = self.concentration {
            map.serialize_entry("lift_concentration", &round_f64_half_even(concentration, 4))?;
        }
        map.end()
    }
}

/// Each axis with its slices; `overall` is the lift of the headline.
pub(super) fn summary<'a>(
    table: &'a RunTable,
    slices: &'a [SliceSummary],
    overall: Option<f64>,
) -> Ordered<Ordered<Slice<'a>>> {
    let slice = |slice: &'a SliceSummary| Slice {
        variants: &table.variants,
        arms: &slice.arms,
        lift: slice.lift,
        pairing: (&slice.pairing).into(),
        concentration: slice.lift.zip(overall.filter(|overall| *overall != 0.0)).map(|(lift, overall)| lift / overall),
    };
    let axis = |axis: Axis| {
        let of_axis = slices.iter().filter(|slice| slice.axis == axis);
        (axis.key().to_owned(), Ordered(of_axis.map(|of_axis| (of_axis.value.clone(), slice(of_axis))).collect()))
    };
    Ordered(Axis::COMPAT.into_iter().map(axis).collect())
}

#[derive(Serialize)]
pub(super) struct SliceBlock {
    axis: &'static str,
    value: String,
    unit: &'static str,
    n_cases: usize,
    n_units: usize,
    pairs: usize,
    blocked_pairs: usize,
    estimate: Option<f64>,
    estimate_with: Option<f64>,
    estimate_without: Option<f64>,
    too_few: bool,
    interval: Interval,
    p_two_sided: Option<f64>,
    p_bh: Option<f64>,
    p_by: Option<f64>,
}

/// What each slice says about the lift.
pub(super) fn contrasts(slices: &[SliceContrast], unit: Unit, confidence: f64) -> Vec<SliceBlock> {
    let exact = |value: &Option<Rational>| value.as_ref().map(rational::to_f64);
    let block = |slice: &SliceContrast| {
        let lift = &slice.lift;
        let tested = lift.tested.as_ref().ok();
        SliceBlock {
            axis: slice.axis.key(),
            value: slice.value.clone(),
            unit: unit.word(),
            n_cases: slice.cases,
            n_units: lift.units,
            pairs: slice.pairing.eligible,
            blocked_pairs: slice.pairing.blocked,
            estimate: exact(&lift.estimate),
            estimate_with: exact(&lift.with_skill),
            estimate_without: exact(&lift.without_skill),
            too_few: tested.is_none(),
            interval: Interval {
                method: "padded-t",
                unit: unit.word(),
                n: lift.units,
                confidence,
                lower: tested.map(|(_, interval)| interval.lower),
                upper: tested.map(|(_, interval)| interval.upper),
                reason: lift.tested.as_ref().err().map(|reason| reason.as_str()),
            },
            p_two_sided: tested.map(|(test, _)| test.p_two_sided),
            p_bh: slice.p_bh,
            p_by: slice.p_by,
        }
    };
    slices.iter().map(block).collect()
}
