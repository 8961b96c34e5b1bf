//! What is shown of single cases beside their lift: an interval for reading, the extra cost, the check that explains a loss.
//!
//! None of it is a test: whether a case differs is what `p_bh` of its contrast says.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use skill_lift_contract::telemetry::{Currency, Measurement, Money};
use skill_lift_stats::Withheld;
use skill_lift_stats::interval::paired_t;
use skill_lift_stats::rational::{self, Rational};

use super::Analysis;
use super::pairing::Pairing;
use super::table::{RunTable, WITH_SKILL};
use super::telemetry::{ComparisonReason, exact, from_same_source};
use crate::runs::claims::{SavedCheck, SavedRow};
use crate::suite::Severity;

/// A mean difference of money over the pairs of a case in which both arms were measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraCost {
    /// With the skill minus without it, a run.
    pub mean: Rational,
    /// Of what.
    pub currency: Currency,
    /// Measured pairs.
    pub measured: usize,
}

/// What is shown of one case.
#[derive(Debug)]
pub struct CaseDetail {
    /// Limits of its lift, within −1 and 1.
    pub interval: Result<(f64, f64), Withheld>,
    /// What it costs more with the skill.
    pub cost: Result<ExtraCost, ComparisonReason>,
    /// Tokens that it takes more with the skill, over the pairs in which both arms were measured; `None` without one.
    pub tokens: Option<Rational>,
    /// Milliseconds that it takes longer with the skill, likewise.
    pub elapsed_ms: Option<Rational>,
}

impl CaseDetail {
    /// One for each case of the table, by position. `alpha` is the error rate of the intervals.
    ///
    /// The limits of each model are those of Student's paired t interval over its pairs; those of the case combine them by
    /// MOVER (Zou and Donner 2008, Stat. Med. 27:1693): δ − √Σ w²(δₘ − lₘ)², w = 1/M, and likewise above. A model without
    /// limits leaves the case without.
    pub fn of_cases(table: &RunTable, pairing: &Pairing, alpha: &Rational) -> Vec<Self> {
        let mut deltas: BTreeMap<u32, BTreeMap<Option<u32>, Vec<Rational>>> = BTreeMap::new();
        let mut costs: BTreeMap<u32, Costs> = BTreeMap::new();
        let mut counts: BTreeMap<u32, [Vec<Rational>; 2]> = BTreeMap::new();
        for (pair, values) in pairing.eligible() {
            let of_case = deltas.entry(pair.case).or_default().entry(pair.model).or_default();
            of_case.push(&values.with_skill - &values.without_skill);
            if let (Some(with), Some(without)) = (pair.with_skill, pair.without_skill) {
                let arms = [with, without].map(|index| &table.telemetry[index].telemetry);
                let model = table.model(pair.model);
                costs.entry(pair.case).or_default().add(from_same_source(model, arms.map(|run| &run.cost)));
                let [tokens, elapsed_ms] = counts.entry(pair.case).or_default();
                tokens.extend(difference(model, arms.map(|run| &run.total_tokens)));
                elapsed_ms.extend(difference(model, arms.map(|run| &run.elapsed_ms)));
            }
        }
        (0..table.cases.len() as u32)
            .map(|case| Self {
                interval: combined(deltas.get(&case), alpha),
                cost: costs.remove(&case).unwrap_or_default().mean(),
                tokens: counts.get(&case).and_then(|[tokens, _]| rational::mean(tokens)),
                elapsed_ms: counts.get(&case).and_then(|[_, elapsed_ms]| rational::mean(elapsed_ms)),
            })
            .collect()
    }
}

/// A count with the skill minus the count without it; `None` where the two cannot be compared.
fn difference(model: Option<&str>, arms: [&Measurement<u64>; 2]) -> Option<Rational> {
    let [with, without] = from_same_source(model, arms).ok()?;
    Some(Rational::from_integer(BigInt::from(*with) - BigInt::from(*without)))
}

#[derive(Debug, Default)]
struct Costs {
    differences: Vec<Rational>,
    currencies: Vec<Currency>,
    reason: Option<ComparisonReason>,
}

impl Costs {
    fn add(&mut self, arms: Result<[&Money; 2], ComparisonReason>) {
        match arms {
            Ok([with, without]) if with.currency == without.currency => {
                self.differences.push(exact(with.amount) - exact(without.amount));
                if !self.currencies.contains(&with.currency) {
                    self.currencies.push(with.currency);
                }
            }
            Ok(_) => self.note(ComparisonReason::CurrencyMismatch),
            Err(reason) => self.note(reason),
        }
    }

    /// Keeps the first reason in the order in which they are looked for.
    fn note(&mut self, reason: ComparisonReason) {
        self.reason = Some(self.reason.map_or(reason, |known| known.min(reason)));
    }

    fn mean(self) -> Result<ExtraCost, ComparisonReason> {
        match (rational::mean(&self.differences), self.currencies.as_slice()) {
            (Some(mean), [currency]) => Ok(ExtraCost { mean, currency: *currency, measured: self.differences.len() }),
            (Some(_), _) => Err(ComparisonReason::MixedCurrencyPairs),
            (None, _) => Err(self.reason.unwrap_or(ComparisonReason::MissingLeft)),
        }
    }
}

fn combined(models: Option<&BTreeMap<Option<u32>, Vec<Rational>>>, alpha: &Rational) -> Result<(f64, f64), Withheld> {
    let models = models.ok_or(Withheld::NoEligiblePairs)?;
    let weight = 1.0 / models.len() as f64;
    let (mut mean, mut below, mut above) = (0.0, 0.0, 0.0);
    for deltas in models.values() {
        let interval = paired_t(deltas, alpha)?;
        mean += weight * interval.mean;
        below += (weight * (interval.mean - interval.lower)).powi(2);
        above += (weight * (interval.upper - interval.mean)).powi(2);
    }
    Ok(((mean - below.sqrt()).max(-1.0), (mean + above.sqrt()).min(1.0)))
}

/// The check that explains at least half of what a case lost, with its counts of passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostCheck {
    /// The check.
    pub name: String,
    /// Runs with the skill in which it holds, of those that decided it.
    pub with_skill: (usize, usize),
    /// The same without the skill.
    pub without_skill: (usize, usize),
}

/// The check that lost most in the scored runs of a case, if it explains at least half of a loss. `rows` are those of the
/// case; `lift` is its lift.
pub fn lost_check(analysis: &Analysis, rows: &[&SavedRow], lift: &Rational) -> Option<LostCheck> {
    if !lift.is_negative() {
        return None;
    }
    let baseline = analysis.table.baseline.variant();
    let mut counts: BTreeMap<&str, [(usize, usize); 2]> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_scorable()) {
        let arm = match row.variant.as_str() {
            WITH_SKILL => 0,
            variant if variant == baseline => 1,
            _ => continue,
        };
        for check in row.checks.iter().filter(|check| is_counted(check)) {
            let (passed, decided) = &mut counts.entry(&check.name).or_default()[arm];
            *passed += usize::from(check.passed == Some(true));
            *decided += 1;
        }
    }
    let in_both = counts.iter().filter(|(_, arms)| arms.iter().all(|(_, decided)| *decided > 0));
    let lost = in_both.map(|(name, arms)| {
        let [with, without] = arms.map(|(passed, decided)| rational::rate(passed as u64, decided as u64));
        (with - without, *name, *arms)
    });
    let (delta, name, [with_skill, without_skill]) = lost.min_by(|(a, ..), (b, ..)| a.cmp(b))?;
    let share = delta / Rational::from_integer(counts.len().into());
    let half = lift / Rational::from_integer(2.into());
    let explains = !share.is_zero() && share <= half;
    explains.then(|| LostCheck { name: name.to_owned(), with_skill, without_skill })
}

/// Whether a check enters the pass rate that is compared.
fn is_counted(check: &SavedCheck) -> bool {
    !check.is_judgement
        && check.severity != Severity::Soft
        && check.skipped.is_none()
        && check.one_arm.is_none()
        && check.passed.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deltas(values: &[&str]) -> Vec<Rational> {
        values.iter().map(|value| rational::parse_decimal(value).unwrap()).collect()
    }

    #[test]
    fn limits_of_models_are_combined() {
        let alpha = rational::rate(1, 20);
        // scipy.stats.t.interval(.95, 2, loc=.2, scale=sem([.1, .2, .3])): -0.04841377118, 0.44841377118
        let one = BTreeMap::from([(None, deltas(&["0.1", "0.2", "0.3"]))]);
        let (lower, upper) = combined(Some(&one), &alpha).unwrap();
        assert!((lower + 0.048_413_771_18).abs() < 1e-9 && (upper - 0.448_413_771_18).abs() < 1e-9, "{lower} {upper}");
        // two models with the same limits: the half width shrinks by sqrt(2)
        let same = deltas(&["0.1", "0.2", "0.3"]);
        let two = BTreeMap::from([(Some(0), same.clone()), (Some(1), same)]);
        let (lower, _) = combined(Some(&two), &alpha).unwrap();
        assert!((lower - (0.2 - 0.248_413_771_18 / 2f64.sqrt())).abs() < 1e-9, "{lower}");
        // clipped
        let wide = BTreeMap::from([(None, deltas(&["1", "0", "1"]))]);
        assert_eq!(combined(Some(&wide), &alpha).unwrap().1, 1.0);
    }

    #[test]
    fn a_model_without_limits_leaves_the_case_without() {
        let alpha = rational::rate(1, 20);
        let models = BTreeMap::from([(Some(0), deltas(&["0.1", "0.2"])), (Some(1), deltas(&["0.5", "0.5"]))]);
        assert_eq!(combined(Some(&models), &alpha), Err(Withheld::ConstantDeltas));
        assert_eq!(combined(Some(&BTreeMap::from([(None, deltas(&["1"]))])), &alpha), Err(Withheld::TooFewUnits));
        assert_eq!(combined(None, &alpha), Err(Withheld::NoEligiblePairs));
    }
}
