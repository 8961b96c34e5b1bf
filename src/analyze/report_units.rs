//! The units of a saved report: those that its inference counts, else those that its rows give. Exact.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_stats::rational::{self, Rational};

use super::inference::{Unit, UnitRates};
use crate::runs::claims::{ClaimedRun, ReadDesign, StatedCase, StatedDesign};
use crate::runs::{Role, control_among};

/// How far a stated rate may lie from the one that the rows give: both are rounded to doubles.
const ROUNDING: f64 = 1e-9;

/// Bits of a common denominator that exact sums are made with. Real suites stay far below it.
const MOST_BITS: u64 = 2_048;

/// The rates of the pairs of a case and model.
#[derive(Debug, Default)]
pub struct PairedRuns {
    /// With the skill.
    pub with: Vec<Rational>,
    /// Without it, in the same order.
    pub without: Vec<Rational>,
}

impl PairedRuns {
    /// Rounds the rates once where they share no denominator that can be calculated with, which runs of one case and model
    /// have only if somebody made them up: exact sums would take for ever.
    fn bounded(mut self) -> Self {
        if !share_denominator(self.with.iter().chain(&self.without)) {
            self.with.iter_mut().chain(&mut self.without).for_each(round);
        }
        self
    }
}

/// Mean rates of both arms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmRates {
    /// With the skill.
    pub with_skill: Rational,
    /// Without it.
    pub without_skill: Rational,
}

/// A case of a report.
#[derive(Debug)]
pub struct ReportCase<'r> {
    /// Its id.
    pub name: &'r str,
    /// The unit that it belongs to: its family, else itself.
    pub unit: &'r str,
    /// Its mean rates; `None` when no pair of it counts.
    pub rates: Option<ArmRates>,
    /// The pairs of each model that has one.
    pub strata: Vec<PairedRuns>,
    /// Whether the rates are those of its rows. A report may leave out of its inference what stands in its rows.
    pub rows_agree: bool,
}

/// What a report compares.
#[derive(Debug)]
pub struct ReportUnits<'r> {
    /// What is counted.
    pub unit: Unit,
    /// The cases, in the order of the inference, else by id.
    pub cases: Vec<ReportCase<'r>>,
}

impl<'r> ReportUnits<'r> {
    /// The units of a report.
    pub fn of(report: &'r ReadDesign) -> Self {
        Self::of_rows(&report.claims.rows, &report.stated)
    }

    /// The units of the rows of a report and of what it states.
    pub fn of_rows(rows: &'r [ClaimedRun], stated: &'r StatedDesign) -> Self {
        let mut rows = case_rows(rows);
        let has_families = stated.cases.iter().any(|case| case.family.is_some());
        let cases = if stated.cases.is_empty() {
            rows.into_iter().map(|(name, strata)| ReportCase::of_rows(name, strata)).collect()
        } else {
            let listed = stated.cases.iter();
            listed.map(|case| ReportCase::stated(case, rows.remove(case.case.as_str()).unwrap_or_default())).collect()
        };
        Self { unit: if has_families { Unit::Family } else { Unit::Case }, cases }
    }

    /// The cases that count, by unit.
    pub fn grouped(&self) -> BTreeMap<&'r str, Vec<&ReportCase<'r>>> {
        let mut grouped: BTreeMap<&str, Vec<&ReportCase<'r>>> = BTreeMap::new();
        for case in self.cases.iter().filter(|case| case.rates.is_some()) {
            grouped.entry(case.unit).or_default().push(case);
        }
        grouped
    }

    /// Cases of which no pair counts.
    pub fn unpaired(&self) -> usize {
        self.cases.iter().filter(|case| case.rates.is_none()).count()
    }

    /// The exact rates of the units, by name, and whether they had to be rounded to doubles because their common
    /// denominator is beyond reason.
    pub fn rates(&self) -> (Vec<UnitRates>, bool) {
        let mut units: Vec<UnitRates> = Vec::new();
        for (name, cases) in self.grouped() {
            units.extend(mean_rates(&cases).map(|rates| UnitRates {
                name: name.to_owned(),
                with_skill: rates.with_skill,
                without_skill: rates.without_skill,
            }));
        }
        let values = units.iter().flat_map(|unit| [&unit.with_skill, &unit.without_skill]);
        let is_rounded = !share_denominator(values);
        if is_rounded {
            for unit in &mut units {
                round(&mut unit.with_skill);
                round(&mut unit.without_skill);
            }
        }
        (units, is_rounded)
    }
}

impl<'r> ReportCase<'r> {
    fn of_rows(name: &'r str, strata: Vec<PairedRuns>) -> Self {
        Self { name, unit: name, rates: rates_of(&strata), strata, rows_agree: true }
    }

    /// The case with the rates that its report states. Where the rows give the same they are exact; else a stated rate is
    /// the fraction that was rounded to what stands there.
    fn stated(stated: &'r StatedCase, strata: Vec<PairedRuns>) -> Self {
        let own = rates_of(&strata);
        let close = |a: &Rational, b: &Rational| (rational::to_f64(a) - rational::to_f64(b)).abs() <= ROUNDING;
        let fraction = |written: &Rational| {
            rational::simplest_rounding_to(rational::to_f64(written)).unwrap_or_else(|| written.clone())
        };
        let name = stated.case.as_str();
        let of_rates = |(with, without): &(Rational, Rational)| {
            let same = |own: &&ArmRates| close(with, &own.with_skill) && close(without, &own.without_skill);
            match own.as_ref().filter(same) {
                Some(own) => (own.clone(), true),
                None => (ArmRates { with_skill: fraction(with), without_skill: fraction(without) }, false),
            }
        };
        let (rates, rows_agree) = stated.rates.as_ref().map(of_rates).unzip();
        Self {
            name,
            unit: stated.family.as_deref().unwrap_or(name),
            rates,
            strata,
            rows_agree: rows_agree.unwrap_or(false),
        }
    }
}

/// Mean rates over cases that weigh the same; `None` without any that counts.
pub fn mean_rates(cases: &[&ReportCase<'_>]) -> Option<ArmRates> {
    let mean = |of: fn(&ArmRates) -> &Rational| {
        let rates = cases.iter().filter_map(|case| case.rates.as_ref());
        rational::mean(&rates.map(|rates| of(rates).clone()).collect::<Vec<_>>())
    };
    Some(ArmRates { with_skill: mean(|rates| &rates.with_skill)?, without_skill: mean(|rates| &rates.without_skill)? })
}

/// Mean rates of a case, repetitions first.
fn rates_of(strata: &[PairedRuns]) -> Option<ArmRates> {
    let over = |of: fn(&PairedRuns) -> &[Rational]| {
        let means: Vec<Rational> = strata.iter().filter_map(|runs| rational::mean(of(runs))).collect();
        rational::mean(&means)
    };
    Some(ArmRates { with_skill: over(|runs| &runs.with)?, without_skill: over(|runs| &runs.without)? })
}

/// Whether some numbers have a common denominator that can be calculated with.
pub fn share_denominator<'v>(values: impl Iterator<Item = &'v Rational>) -> bool {
    let mut common = rational::common_denominator(&[]);
    for value in values {
        common = rational::common_denominator(&[Rational::new_raw(1.into(), common), value.clone()]);
        if common.bits() > MOST_BITS {
            return false;
        }
    }
    true
}

/// Rounds to the nearest double.
pub fn round(value: &mut Rational) {
    if let Some(rounded) = rational::from_f64(rational::to_f64(value)) {
        *value = rounded;
    }
}

/// Case, model and repetition.
type PairKey<'c> = (&'c str, Option<&'c str>, u32);

/// The pairs of the rows by case: the same model and repetition scored in both arms, at the same effort. A case without
/// any is there with no stratum.
fn case_rows(rows: &[ClaimedRun]) -> BTreeMap<&str, Vec<PairedRuns>> {
    let control = control_among(rows.iter().map(|row| row.configuration.role));
    let mut pairs: BTreeMap<PairKey<'_>, [Option<&ClaimedRun>; 2]> = BTreeMap::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for row in rows {
        let arm = match row.configuration.role {
            Role::Treatment => 0,
            role if Some(role) == control => 1,
            _ => continue,
        };
        names.insert(&row.case.id);
        pairs.entry((&row.case.id, row.model.as_deref(), row.repetition)).or_default()[arm] = Some(row);
    }
    let mut strata: BTreeMap<(&str, Option<&str>), PairedRuns> = BTreeMap::new();
    for ((case, model, repetition), arms) in pairs {
        let [Some(with), Some(without)] = arms else { continue };
        let efforts = with.effort.as_ref().zip(without.effort.as_ref());
        if repetition == 0 || efforts.is_some_and(|(a, b)| a != b) {
            continue;
        }
        if let Some((with, without)) = with.rate.value().zip(without.rate.value()) {
            let runs = strata.entry((case, model)).or_default();
            runs.with.push(with);
            runs.without.push(without);
        }
    }
    let mut cases: BTreeMap<&str, Vec<PairedRuns>> = names.into_iter().map(|name| (name, Vec::new())).collect();
    for ((case, _), runs) in strata {
        cases.entry(case).or_default().push(runs.bounded());
    }
    cases
}
