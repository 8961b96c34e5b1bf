//! Two sides compared.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use num_traits::Signed;
use skill_lift_stats::Thresholds;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_text::screen::visible;

use super::comparability::{Comparability, is_changed};
use super::shift::{CaseShift, Range, Shift};
use super::side::Side;
use crate::analyze::table::WITH_SKILL;
use crate::runs::Role;
use crate::runs::claims::{CellChange, ChangeKind, ClaimedLift, Claims, Comparison, compare};

/// What is asked of a comparison.
#[derive(Debug, Clone, Default)]
pub struct DiffOptions {
    /// Error rate and smallest change that matters.
    pub thresholds: Thresholds,
    /// Whether the user says that the sides may be compared whatever differs.
    pub assume_comparable: bool,
}

/// Which cases are on which side, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSets {
    /// On both.
    pub common: Vec<String>,
    /// Only in the earlier result.
    pub vanished: Vec<String>,
    /// Only in the later result.
    pub appeared: Vec<String>,
}

/// The lift of each side, and its change.
#[derive(Debug)]
pub struct LiftChange {
    /// Over all cases of the earlier result that have both arms.
    pub before: ClaimedLift,
    /// Over all cases of the later result that have both arms.
    pub after: ClaimedLift,
    /// Over the cases that have both arms in both results.
    pub common: Shift,
}

/// Means over all scored rows of an arm, cases of one side only among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantMeans {
    /// The arm.
    pub variant: String,
    /// Mean rate in the earlier result.
    pub before: Rational,
    /// Mean rate in the later result.
    pub after: Rational,
}

/// What changed between two sides.
#[derive(Debug)]
pub struct Diff<'s> {
    /// The earlier result.
    pub old: &'s Side,
    /// The later result.
    pub new: &'s Side,
    /// Error rate and smallest change that matters.
    pub thresholds: Thresholds,
    /// Whether they may be compared.
    pub comparability: Comparability,
    /// Every arm of every case, by case, arm and model; new and resolved flags.
    pub comparison: Comparison,
    /// Which cases are on which side.
    pub cases: CaseSets,
    /// The lifts.
    pub lift: LiftChange,
    /// The mean change of each arm over the cases in both, the skill's arm first.
    pub arms: Vec<(String, Shift)>,
    /// Mean rate of each case and arm over all rows of both sides, whatever changed.
    pub case_means: Vec<(String, VariantMeans)>,
    /// Mean rate of each arm over all rows of both sides.
    pub variant_means: Vec<VariantMeans>,
}

/// No arm of any case is on both sides.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "nothing to compare: no case and arm is in both\nthe first has {}\nthe second has {}",
    some_of(.before),
    some_of(.after)
)]
pub struct NothingToCompare {
    /// Case and arm of the cells of the earlier result.
    pub before: Vec<(String, String)>,
    /// Case and arm of the cells of the later result.
    pub after: Vec<(String, String)>,
}

/// Cells that a message names.
const NAMED: usize = 4;

fn some_of(cells: &[(String, String)]) -> String {
    let named: Vec<String> =
        cells.iter().take(NAMED).map(|(case, variant)| visible(&format!("{case} {variant}"), false)).collect();
    match (named.is_empty(), cells.len().saturating_sub(NAMED)) {
        (true, _) => "no rows".to_owned(),
        (_, 0) => named.join(", "),
        (_, more) => format!("{} and {more} more", named.join(", ")),
    }
}

/// Compares an earlier result with a later one.
///
/// # Errors
/// When no arm of any case is in both.
pub fn diff<'s>(old: &'s Side, new: &'s Side, options: &DiffOptions) -> Result<Diff<'s>, NothingToCompare> {
    let mut comparison = compare(&old.claims, &new.claims);
    if !comparison.has_common_cells() {
        let of_kind = |kind: ChangeKind| {
            let cells = comparison.cells.iter().filter(|cell| cell.kind == kind);
            cells.map(|cell| (cell.case.clone(), cell.variant.clone())).collect()
        };
        return Err(NothingToCompare { before: of_kind(ChangeKind::Vanished), after: of_kind(ChangeKind::Appeared) });
    }
    mark_changed_cases(old, new, &mut comparison.cells);
    if old.flags().is_err() || new.flags().is_err() {
        comparison.new_flags.clear();
        comparison.resolved_flags.clear();
    }
    let comparability = Comparability::of(old, new, &comparison, options.assume_comparable);
    let allows_tests = comparability.allows_tests();
    let thresholds = options.thresholds.clone();
    let common = Shift::of(common_lifts(old, new, &comparison), Range::Lift, allows_tests, &thresholds);
    let lift = LiftChange { before: comparison.lift_before.clone(), after: comparison.lift_after.clone(), common };
    let arms = arms(&comparison.cells, allows_tests, &thresholds);
    let (before, after) = (means(&old.claims), means(&new.claims));
    Ok(Diff {
        old,
        new,
        thresholds,
        comparability,
        cases: case_sets(old, new),
        lift,
        arms,
        case_means: before
            .by_case
            .into_iter()
            .filter_map(|((case, variant), before)| {
                let after = after.by_case.get(&(case, variant))?.clone();
                Some((case.to_owned(), VariantMeans { variant: variant.to_owned(), before, after }))
            })
            .collect(),
        variant_means: before
            .by_variant
            .into_iter()
            .filter_map(|(variant, before)| {
                let after = after.by_variant.get(variant)?.clone();
                Some(VariantMeans { variant: variant.to_owned(), before, after })
            })
            .collect(),
        comparison,
    })
}

impl Diff<'_> {
    /// Cells whose rates compare.
    pub fn compared(&self) -> impl Iterator<Item = &CellChange> {
        self.comparison.cells.iter().filter(|cell| cell.delta().is_some())
    }

    /// Cases whose flags can be compared: a flag needs both arms.
    pub fn cases_with_pairs_in_both(&self) -> HashSet<&str> {
        let cases = |lift| -> HashSet<&str> { cases_of(lift).collect() };
        &cases(&self.lift.before) & &cases(&self.lift.after)
    }

    /// The mean change of the skill's arm.
    pub fn with_skill(&self) -> Option<&Shift> {
        self.arms.iter().find(|(variant, _)| variant == WITH_SKILL).map(|(_, shift)| shift)
    }
}

fn cases_of(lift: &ClaimedLift) -> impl Iterator<Item = &str> {
    lift.pairs.iter().map(|pair| pair.case.as_str())
}

/// Rates of cases whose prompt or assertions are others than before do not compare, whatever their rows say.
fn mark_changed_cases(old: &Side, new: &Side, cells: &mut [CellChange]) {
    for cell in cells.iter_mut().filter(|cell| cell.delta().is_some()) {
        let (Some(before), Some(after)) = (old.cases.get(&cell.case), new.cases.get(&cell.case)) else {
            continue;
        };
        let differ = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
        if differ(&before.checks, &after.checks) {
            cell.kind = ChangeKind::OtherChecks;
        } else if differ(&before.prompt, &after.prompt) {
            cell.kind = ChangeKind::OtherPrompt;
        }
    }
}

fn case_sets(old: &Side, new: &Side) -> CaseSets {
    let (before, after) = (old.case_ids(), new.case_ids());
    let owned = |ids: Vec<&&str>| ids.into_iter().map(|id| (*id).to_owned()).collect();
    CaseSets {
        common: owned(before.intersection(&after).collect()),
        vanished: owned(before.difference(&after).collect()),
        appeared: owned(after.difference(&before).collect()),
    }
}

/// The lifts of the cases that have both arms in both results, models first averaged.
fn common_lifts(old: &Side, new: &Side, comparison: &Comparison) -> Vec<CaseShift> {
    let (before, after) = (&comparison.lift_before, &comparison.lift_after);
    if before.control != after.control {
        return Vec::new();
    }
    let compared_with = before.control.and_then(Role::variant).unwrap_or_default();
    let arms = |cell: &&CellChange| [WITH_SKILL, compared_with].contains(&cell.variant.as_str());
    let changed: BTreeSet<(&str, Option<&str>)> = comparison
        .cells
        .iter()
        .filter(arms)
        .filter(|cell| is_changed(cell.kind))
        .map(|cell| (cell.case.as_str(), cell.model.as_deref()))
        .collect();
    // as cells are matched: models are told apart only where a side has several
    let by_model = [old, new].iter().any(|side| side.models().len() > 1);
    let (old, new) = (pairs(before, by_model), pairs(after, by_model));
    let mut cases: BTreeMap<&str, Vec<(Rational, Rational)>> = BTreeMap::new();
    for (key, (lift, rounding)) in old.iter().filter(|(key, _)| !changed.contains(*key)) {
        let Some((later, later_rounding)) = new.get(key) else {
            continue;
        };
        // a change that may come from rounding alone is none
        let moved = (later - lift).abs() > rounding + later_rounding;
        let later = if moved { later.clone() } else { lift.clone() };
        cases.entry(key.0).or_default().push((lift.clone(), later));
    }
    cases.into_iter().filter_map(|(case, values)| case_shift(case, &values)).collect()
}

fn pairs(lift: &ClaimedLift, by_model: bool) -> BTreeMap<(&str, Option<&str>), (Rational, Rational)> {
    let comparable = lift.pairs.iter().filter(|pair| pair.comparable);
    let keyed = comparable.map(|pair| {
        let model = pair.model.as_deref().filter(|_| by_model);
        ((pair.case.as_str(), model), (pair.delta(), pair.rounding.clone()))
    });
    keyed.collect()
}

/// The mean of a case over its models.
fn case_shift(case: &str, values: &[(Rational, Rational)]) -> Option<CaseShift> {
    let mean = |of: fn(&(Rational, Rational)) -> &Rational| {
        rational::mean(&values.iter().map(|value| of(value).clone()).collect::<Vec<_>>())
    };
    Some(CaseShift { case: case.to_owned(), before: mean(|value| &value.0)?, after: mean(|value| &value.1)? })
}

/// The mean change of each arm, the skill's first, then what it may be compared with, then the others by name.
fn arms(cells: &[CellChange], allows_tests: bool, thresholds: &Thresholds) -> Vec<(String, Shift)> {
    /// Before and after of the models of each case.
    type Cases<'c> = BTreeMap<&'c str, Vec<(Rational, Rational)>>;
    let mut arms: BTreeMap<(usize, &str), Cases<'_>> = BTreeMap::new();
    let order = [Role::Treatment, Role::Control, Role::OldSkill].map(Role::variant);
    for cell in cells {
        let rank = order.iter().position(|variant| *variant == Some(cell.variant.as_str())).unwrap_or(order.len());
        let arm = arms.entry((rank, &cell.variant)).or_default();
        let (Some(before), Some(after), Some(_)) = (&cell.before, &cell.after, cell.delta()) else {
            continue;
        };
        // a change that may come from rounding alone is none
        let after = if cell.kind == ChangeKind::Same { before } else { after };
        arm.entry(&cell.case).or_default().push((before.clone(), after.clone()));
    }
    let shift = |cases: Cases<'_>| {
        let cases = cases.into_iter().filter_map(|(case, values)| case_shift(case, &values)).collect();
        Shift::of(cases, Range::Rate, allows_tests, thresholds)
    };
    arms.into_iter().map(|((_, variant), cases)| (variant.to_owned(), shift(cases))).collect()
}

/// Means over the rows of a side.
struct Means<'c> {
    by_case: BTreeMap<(&'c str, &'c str), Rational>,
    by_variant: BTreeMap<&'c str, Rational>,
}

fn means(claims: &Claims) -> Means<'_> {
    let mut by_case: BTreeMap<(&str, &str), Vec<Rational>> = BTreeMap::new();
    let mut by_variant: BTreeMap<&str, Vec<Rational>> = BTreeMap::new();
    for row in &claims.rows {
        if let Some(rate) = row.rate.value() {
            by_case.entry((&row.case.id, row.configuration.variant())).or_default().push(rate.clone());
            by_variant.entry(row.configuration.variant()).or_default().push(rate);
        }
    }
    Means {
        by_case: by_case.into_iter().filter_map(|(key, rates)| Some((key, rational::mean(&rates)?))).collect(),
        by_variant: by_variant.into_iter().filter_map(|(key, rates)| Some((key, rational::mean(&rates)?))).collect(),
    }
}
