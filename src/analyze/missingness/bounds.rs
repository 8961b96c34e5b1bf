//! How far the missing runs could move the lift: every missing rate set to the value that hurts, then to the one that
//! helps (Manski 1990, *American Economic Review* 80:319). No assumption on why they are missing is made.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use skill_lift_stats::rational::{self, Rational};

use super::cells::{ArmCell, Cells};
use crate::analyze::inference::Unit;
use crate::analyze::table::RunTable;

/// The lift over all planned runs, as low and as high as it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// What is counted.
    pub unit: Unit,
    /// Units with planned runs in both arms.
    pub units: usize,
    /// Worst and best case; `None` without a unit.
    pub lift: Option<LiftRange>,
    /// Planned runs with the skill whose rate is not known.
    pub missing_with: usize,
    /// The same without it.
    pub missing_without: usize,
}

/// A range of the lift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiftRange {
    /// Every missing run with the skill fails, every one without it passes.
    pub worst: Rational,
    /// The reverse.
    pub best: Rational,
}

impl Bounds {
    /// Whether the missing runs could make a gain of what looks like a loss, or the reverse.
    pub fn could_reverse(&self) -> bool {
        self.lift.as_ref().is_some_and(|lift| lift.worst.is_negative() && lift.best.is_positive())
    }
}

impl Cells {
    /// The bounds over cases, or over families of them: strata of a case first, then cases of a family, as the lift.
    pub(super) fn bounds(&self, table: &RunTable, unit: Unit) -> Bounds {
        let mut bounds = Bounds { unit, units: 0, lift: None, missing_with: 0, missing_without: 0 };
        if !self.has_both_arms {
            return bounds;
        }
        let mut ranges: BTreeMap<&str, Vec<LiftRange>> = BTreeMap::new();
        for case in table.cases_by_id() {
            let Some(range) = self.of_case(case, &mut bounds) else { continue };
            let name = match unit {
                Unit::Case => table.case_id(case),
                Unit::Family => table.cases[case as usize].family.as_deref().unwrap_or_else(|| table.case_id(case)),
            };
            ranges.entry(name).or_default().push(range);
        }
        bounds.units = ranges.len();
        let units: Vec<LiftRange> = ranges.values().filter_map(|ranges| mean(ranges)).collect();
        bounds.lift = mean(&units);
        bounds
    }

    /// Mean over the strata of a case; `None` when it has nothing to compare.
    fn of_case(&self, case: u32, bounds: &mut Bounds) -> Option<LiftRange> {
        let mut cells: Vec<&[ArmCell; 2]> = Vec::new();
        for ((_, stratum), cell) in self.cells.range((case, 0)..=(case, u32::MAX)) {
            if self.of_every_case.is_none_or(|(strata, _)| *stratum < strata) {
                cells.push(cell);
            }
        }
        // an arm whose scored runs have no rate has nothing to check in this case
        let has_no_rate = |arm: usize| {
            let sum = |count: fn(&ArmCell) -> usize| cells.iter().map(|cell| count(&cell[arm])).sum::<usize>();
            sum(|arm| arm.unrated) > 0 && sum(|arm| arm.known.len()) == 0
        };
        if has_no_rate(0) || has_no_rate(1) {
            return None;
        }
        let (absent, repetitions) = match self.of_every_case {
            Some((strata, repetitions)) if repetitions > 0 => (strata as usize - cells.len(), repetitions),
            _ => (0, 0),
        };
        let mut ranges: Vec<LiftRange> = Vec::new();
        for [with, without] in cells {
            if let Some(range) = range(with, without) {
                ranges.push(range);
                bounds.missing_with += with.unknown();
                bounds.missing_without += without.unknown();
            }
        }
        bounds.missing_with += absent * repetitions;
        bounds.missing_without += absent * repetitions;
        let number = BigInt::from(ranges.len() + absent);
        if number.is_zero() {
            return None;
        }
        // of a stratum without any run the lift is anything from -1 to 1
        let anything = Rational::from_integer(absent.into());
        let sum = |of: fn(&LiftRange) -> &Rational| {
            rational::sum(&ranges.iter().map(|range| of(range).clone()).collect::<Vec<_>>())
        };
        Some(LiftRange {
            worst: (sum(|range| &range.worst) - &anything) / &number,
            best: (sum(|range| &range.best) + &anything) / &number,
        })
    }
}

/// The range of one cell; `None` when no run of an arm was planned.
fn range(with: &ArmCell, without: &ArmCell) -> Option<LiftRange> {
    if with.size() == 0 || without.size() == 0 {
        return None;
    }
    // the mean when every unknown rate is 0, and when it is 1
    let means = |arm: &ArmCell| {
        let (sum, size) = (rational::sum(&arm.known), BigInt::from(arm.size()));
        let all = &sum + Rational::from_integer(arm.unknown().into());
        [sum / &size, all / &size]
    };
    let ([with_low, with_high], [without_low, without_high]) = (means(with), means(without));
    Some(LiftRange { worst: with_low - without_high, best: with_high - without_low })
}

fn mean(ranges: &[LiftRange]) -> Option<LiftRange> {
    let of = |of: fn(&LiftRange) -> &Rational| {
        rational::mean(&ranges.iter().map(|range| of(range).clone()).collect::<Vec<_>>())
    };
    Some(LiftRange { worst: of(|range| &range.worst)?, best: of(|range| &range.best)? })
}
