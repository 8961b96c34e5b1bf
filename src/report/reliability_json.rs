//! The block `reliability`: pass@k and pass^k, rounded to six decimals as version 0.6 of the report format has them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::describe;
use skill_lift_stats::rational::{Rational, round_f64_half_even};
use skill_lift_stats::reliability::PassEstimate;

use super::compat::{Pairing, Significance, rounded, significance};
use super::ordered::Ordered;
use super::standing::Standing;
use crate::analyze::Analysis;
use crate::analyze::reliability::{Reliability, ReliabilityLift, Successes};

#[derive(Serialize)]
pub(super) struct ReliabilityBlock<'a> {
    by_case_variant: Ordered<Ordered<CaseVariantBlock>>,
    by_variant: Ordered<ByVariantBlock>,
    paired_lift: PairedLiftBlock<'a>,
}

#[derive(Serialize)]
struct CaseVariantBlock {
    n: u64,
    c: u64,
    pass_at_1: f64,
    pass_at_k: Ordered<f64>,
    pass_hat_k: Ordered<f64>,
}

struct ByVariantBlock {
    cases: usize,
    partial_cases: usize,
    mean_pass_at_1: Option<f64>,
    all_runs_pass_rate: Option<f64>,
    standing: Standing,
}

impl Serialize for ByVariantBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cases", &self.cases)?;
        map.serialize_entry("partial_cases", &self.partial_cases)?;
        self.standing.figures(
            &mut map,
            [("mean_pass_at_1", self.mean_pass_at_1), ("all_runs_pass_rate", self.all_runs_pass_rate)],
        )?;
        map.end()
    }
}

#[derive(Serialize)]
struct ArmCounts {
    n: u64,
    c: u64,
}

struct UnitLiftBlock {
    with_skill: ArmCounts,
    without_skill: ArmCounts,
    attempted: usize,
    blocked: usize,
    pass_at_1_delta: Option<f64>,
    pass_at_k_delta: Ordered<f64>,
    pass_hat_k_delta: Ordered<f64>,
    standing: Standing,
}

impl Serialize for UnitLiftBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("with_skill", &self.with_skill)?;
        map.serialize_entry("without_skill", &self.without_skill)?;
        map.serialize_entry("attempted", &self.attempted)?;
        map.serialize_entry("blocked", &self.blocked)?;
        self.standing.figures(&mut map, [("pass_at_1_delta", self.pass_at_1_delta)])?;
        self.standing.maps(
            &mut map,
            [("pass_at_k_delta", &self.pass_at_k_delta), ("pass_hat_k_delta", &self.pass_hat_k_delta)],
        )?;
        map.end()
    }
}

struct PooledLift {
    cases: usize,
    mean_pass_at_1_delta: Option<f64>,
    mean_pass_at_k_delta: Ordered<f64>,
    mean_pass_hat_k_delta: Ordered<f64>,
    significance: Significance,
    standing: Standing,
}

impl Serialize for PooledLift {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cases", &self.cases)?;
        self.standing.figures(&mut map, [("mean_pass_at_1_delta", self.mean_pass_at_1_delta)])?;
        self.standing.maps(
            &mut map,
            [
                ("mean_pass_at_k_delta", &self.mean_pass_at_k_delta),
                ("mean_pass_hat_k_delta", &self.mean_pass_hat_k_delta),
            ],
        )?;
        self.standing.test(&mut map, &self.significance)?;
        map.end()
    }
}

#[derive(Serialize)]
struct PairedLiftBlock<'a> {
    by_case: Ordered<UnitLiftBlock>,
    pooled: PooledLift,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairing: Option<Pairing<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_model: Option<Ordered<PairedLiftBlock<'a>>>,
}

/// Decimals of the compatible reliability figures.
const DECIMALS: u32 = 6;

fn case_variant(successes: Successes) -> CaseVariantBlock {
    let curve = successes.curve();
    let numbered = |of: &dyn Fn(&PassEstimate) -> f64| {
        Ordered(curve.iter().map(|e| (e.k.to_string(), round_f64_half_even(of(e), DECIMALS))).collect())
    };
    CaseVariantBlock {
        n: successes.runs,
        c: successes.passed,
        pass_at_1: curve.first().map_or(0.0, |first| round_f64_half_even(first.pass_at_k(), DECIMALS)),
        pass_at_k: numbered(&|estimate| estimate.pass_at_k()),
        pass_hat_k: numbered(&|estimate| estimate.pass_hat_k()),
    }
}

fn by_variant(analysis: &Analysis) -> Ordered<ByVariantBlock> {
    let Reliability { by_case_variant: cases, partial_cases, .. } = &analysis.reliability;
    let mut arms: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (name, successes) in cases.iter().flat_map(|case| &case.variants) {
        let arm = arms.entry(name).or_default();
        arm.0.push(case_variant(*successes).pass_at_1);
        arm.1.push(if successes.passed == successes.runs { 1.0 } else { 0.0 });
    }
    let six = |values: &[f64]| describe::mean(values).map(|mean| round_f64_half_even(mean, DECIMALS));
    let block = |(name, (first, all)): (&str, (Vec<f64>, Vec<f64>))| {
        let partial_cases = partial_cases.get(name).copied().unwrap_or(0);
        let block = ByVariantBlock {
            cases: first.len(),
            partial_cases,
            mean_pass_at_1: six(&first),
            all_runs_pass_rate: six(&all),
            standing: Standing::of_runs(analysis, partial_cases),
        };
        (name.to_owned(), block)
    };
    Ordered(arms.into_iter().map(block).collect())
}

fn paired_lift<'a>(analysis: &Analysis, lift: &ReliabilityLift, qualified: bool) -> PairedLiftBlock<'a> {
    let numbered = |values: &[Rational]| {
        let numbered = values.iter().enumerate();
        Ordered(numbered.map(|(i, value)| ((i + 1).to_string(), rounded(value, DECIMALS))).collect())
    };
    let means = |values: &BTreeMap<usize, Rational>| {
        Ordered(values.iter().map(|(k, value)| (k.to_string(), rounded(value, DECIMALS))).collect())
    };
    let by_case = lift.units.iter().map(|unit| {
        let key = match &unit.model {
            Some(model) if qualified => format!("{}@{model}", unit.case_id),
            _ => unit.case_id.clone(),
        };
        let block = UnitLiftBlock {
            with_skill: ArmCounts { n: unit.with_skill.runs, c: unit.with_skill.passed },
            without_skill: ArmCounts { n: unit.without_skill.runs, c: unit.without_skill.passed },
            attempted: unit.pairs.eligible + unit.pairs.blocked,
            blocked: unit.pairs.blocked,
            pass_at_1_delta: unit.pass_at_k.first().map(|value| rounded(value, DECIMALS)),
            pass_at_k_delta: numbered(&unit.pass_at_k),
            pass_hat_k_delta: numbered(&unit.pass_hat_k),
            standing: Standing::of_pairs(analysis, &unit.pairs),
        };
        (key, block)
    });
    // version 0.6 averages the rounded values; the test is made on the exact ones
    let first: Vec<f64> =
        lift.units.iter().filter_map(|unit| unit.pass_at_k.first()).map(|value| rounded(value, DECIMALS)).collect();
    let mean = describe::mean(&first).map(|mean| round_f64_half_even(mean, DECIMALS));
    let mut significance = significance(&lift.significance);
    significance.observed_mean_delta = mean;
    PairedLiftBlock {
        by_case: Ordered(by_case.collect()),
        pooled: PooledLift {
            cases: lift.units.len(),
            mean_pass_at_1_delta: mean,
            mean_pass_at_k_delta: means(&lift.mean_pass_at_k),
            mean_pass_hat_k_delta: means(&lift.mean_pass_hat_k),
            significance,
            standing: Standing::of_pairs(analysis, &lift.pairs),
        },
        pairing: None,
        by_model: None,
    }
}

pub(super) fn block(analysis: &Analysis) -> ReliabilityBlock<'_> {
    let reliability = &analysis.reliability;
    let cases = reliability.by_case_variant.iter().map(|case| {
        let arms = case.variants.iter().map(|(name, successes)| (name.clone(), case_variant(*successes)));
        (case.case_id.clone(), Ordered(arms.collect()))
    });
    let mut paired = paired_lift(analysis, &reliability.paired, true);
    paired.pairing = Some((&reliability.paired.pairs).into());
    if !reliability.by_model.is_empty() {
        let models = reliability.by_model.iter();
        paired.by_model =
            Some(Ordered(models.map(|(name, lift)| (name.clone(), paired_lift(analysis, lift, false))).collect()));
    }
    ReliabilityBlock {
        by_case_variant: Ordered(cases.collect()),
        by_variant: by_variant(analysis),
        paired_lift: paired,
    }
}
