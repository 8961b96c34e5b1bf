//! What changed from one report to the next.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_stats::rational::Rational;
use skill_lift_stats::{Thresholds, describe};

use super::Report;
use crate::analyze::diff::{
    CaseSets, Comparability, Diff, DiffOptions, NotTested, NothingToCompare, Shift, Side, Tested, diff,
};
use crate::analyze::table::WITH_SKILL;
use crate::runs::claims::{StatedArm, StatedRow};

/// Changes below this are none, as in the reference.
const SMALLEST_DELTA: f64 = 1e-9;

/// Two means of a figure as reports state it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Means {
    /// In the earlier report.
    pub before: f64,
    /// In the later report.
    pub after: f64,
}

/// What the summaries state of an arm.
#[derive(Debug)]
pub struct VariantDelta {
    /// The arm.
    pub variant: String,
    /// Mean rate of the objective checks.
    pub mean_objective: Option<Means>,
    /// Mean rate of objective and judged checks.
    pub mean_combined: Option<Means>,
}

/// A case whose mean stated rate in an arm changed, over all rows that state one.
#[derive(Debug)]
pub struct CaseDelta {
    /// The case.
    pub case: String,
    /// The arm.
    pub variant: String,
    /// Its means.
    pub means: Means,
}

/// The change of a mean over the cases in both reports.
#[derive(Debug)]
pub struct Change {
    /// Cases in both.
    pub cases: usize,
    /// Mean in the earlier report.
    pub before: Option<Rational>,
    /// Mean in the later report.
    pub after: Option<Rational>,
    /// Cases that rose.
    pub rose: usize,
    /// Cases that fell.
    pub fell: usize,
    /// The test, or why there is none.
    pub tested: Result<Tested, NotTested>,
    /// The two-sided p-value of the test, adjusted over all steps of the history.
    pub p_holm: Option<f64>,
}

impl Change {
    fn of(shift: Shift) -> Self {
        let Shift { cases, before, after, rose, fell, tested } = shift;
        Self { cases: cases.len(), before, after, rose, fell, tested, p_holm: None }
    }

    /// Nothing compared.
    pub fn none() -> Self {
        Self {
            cases: 0,
            before: None,
            after: None,
            rose: 0,
            fell: 0,
            tested: Err(NotTested::NothingCompared),
            p_holm: None,
        }
    }

    /// Mean after minus mean before.
    pub fn difference(&self) -> Option<Rational> {
        Some(self.after.as_ref()? - self.before.as_ref()?)
    }
}

/// Two reports held against each other, rates recomputed from their rows.
#[derive(Debug)]
pub struct Compared {
    /// Whether they may be compared.
    pub comparability: Comparability,
    /// Whether any case has comparable rates in both.
    pub has_common_rates: bool,
    /// Which cases are in which report.
    pub cases: CaseSets,
    /// The change of the rate with the skill.
    pub with_skill: Change,
    /// The change of the lift.
    pub lift: Change,
}

/// From one report to the next.
#[derive(Debug)]
pub struct Step {
    /// The earlier report.
    pub from: String,
    /// The later report.
    pub to: String,
    /// Arms that both summaries state, in the order of the later one.
    pub variant_deltas: Vec<VariantDelta>,
    /// Cases whose stated rate changed, by case and arm.
    pub case_deltas: Vec<CaseDelta>,
    /// `case::flag` of flags that only the later report has.
    pub new_flags: Vec<String>,
    /// `case::flag` of flags that only the earlier report has.
    pub resolved_flags: Vec<String>,
    /// The comparison over common cases, or why there is none.
    pub compared: Result<Compared, NothingToCompare>,
}

/// What is kept of a report until the next one comes.
#[derive(Debug)]
pub(super) struct Kept {
    side: Side,
    arms: Vec<StatedArm>,
    case_rates: BTreeMap<(String, String), f64>,
    flags: BTreeSet<String>,
}

impl Kept {
    pub(super) fn of(report: Report) -> Self {
        let Report { side, stated, .. } = report;
        let flags = side.claims.flags.iter().map(|flag| format!("{}::{}", flag.case, flag.flag)).collect();
        Self { flags, case_rates: case_rates(&stated.rows), arms: stated.arms, side }
    }
}

impl Step {
    pub(super) fn between(old: &Kept, new: &Kept, thresholds: &Thresholds) -> Self {
        let options = DiffOptions { thresholds: thresholds.clone(), assume_comparable: false };
        let flags = |in_one: &Kept, in_other: &Kept| in_one.flags.difference(&in_other.flags).cloned().collect();
        Self {
            from: old.side.label.clone(),
            to: new.side.label.clone(),
            variant_deltas: new.arms.iter().filter_map(|arm| variant_delta(&old.arms, arm)).collect(),
            case_deltas: case_deltas(&old.case_rates, &new.case_rates),
            new_flags: flags(new, old),
            resolved_flags: flags(old, new),
            compared: diff(&old.side, &new.side, &options).map(compared),
        }
    }
}

fn compared(diff: Diff<'_>) -> Compared {
    let has_common_rates = diff.compared().next().is_some();
    let with_skill = diff.arms.into_iter().find(|(variant, _)| variant == WITH_SKILL);
    Compared {
        has_common_rates,
        comparability: diff.comparability,
        cases: diff.cases,
        with_skill: with_skill.map_or_else(Change::none, |(_, shift)| Change::of(shift)),
        lift: Change::of(diff.lift.common),
    }
}

fn variant_delta(old: &[StatedArm], new: &StatedArm) -> Option<VariantDelta> {
    let old = old.iter().find(|arm| arm.variant == new.variant)?;
    let means = |before: Option<f64>, after: Option<f64>| Some(Means { before: before?, after: after? });
    let mean_objective = means(old.mean_objective, new.mean_objective);
    let mean_combined = means(old.mean_combined, new.mean_combined);
    (mean_objective.is_some() || mean_combined.is_some()).then(|| VariantDelta {
        variant: new.variant.clone(),
        mean_objective,
        mean_combined,
    })
}

/// The mean stated rate of each case and arm.
fn case_rates(rows: &[StatedRow]) -> BTreeMap<(String, String), f64> {
    let mut rates: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for row in rows {
        if let Some(rate) = row.rate {
            rates.entry((&row.case, &row.variant)).or_default().push(rate);
        }
    }
    let mean = |((case, variant), rates): ((&str, &str), Vec<f64>)| {
        Some(((case.to_owned(), variant.to_owned()), describe::mean(&rates)?))
    };
    rates.into_iter().filter_map(mean).collect()
}

fn case_deltas(old: &BTreeMap<(String, String), f64>, new: &BTreeMap<(String, String), f64>) -> Vec<CaseDelta> {
    let changed = old.iter().filter_map(|(key, before)| {
        let means = Means { before: *before, after: *new.get(key)? };
        ((means.after - means.before).abs() >= SMALLEST_DELTA).then_some((key, means))
    });
    changed.map(|((case, variant), means)| CaseDelta { case: case.clone(), variant: variant.clone(), means }).collect()
}
