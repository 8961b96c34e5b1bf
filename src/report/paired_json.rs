//! `paired_summary`, `paired_edit_summary` and `model_analysis`, in the form of version 0.6 of the report format with the
//! interval and the noise check of its later state beside them.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::Withheld;
use skill_lift_stats::noise_check::NoiseVerdict;
use skill_lift_stats::rational;

use super::compat::{Pairing, Significance, rounded, significance};
use super::ordered::Ordered;
use super::standing::Standing;
use crate::analyze::Analysis;
use crate::analyze::lift::{Noise, PairedBlock, PairedSummary};
use crate::analyze::pairing::{RoundedMeans, UnitMeans};
use crate::analyze::table::{Baseline, RunTable};

/// What the interval and the noise check count.
const UNIT: &str = "case";

/// The limits of a lift, and whether it could be told from noise.
struct NoiseJson<'a> {
    noise: &'a Noise,
    confidence: f64,
}

#[derive(Serialize)]
struct IntervalJson {
    confidence: f64,
    n: usize,
    method: &'static str,
    lower: Option<f64>,
    upper: Option<f64>,
    bounded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    unit: &'static str,
}

#[derive(Serialize)]
struct NoiseCheckJson {
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    cases: usize,
    cases_moved: usize,
    cases_needed_for_alpha: Option<usize>,
    alpha: f64,
    smallest_achievable_p: f64,
    noise_floor: Option<f64>,
    headroom: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_lift: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    projected_cases: Option<u64>,
    unit: &'static str,
}

impl NoiseJson<'_> {
    /// The members `interval` and `noise_check`.
    fn parts(&self) -> (IntervalJson, NoiseCheckJson) {
        let Noise { interval, check, alpha, min_lift } = self.noise;
        let limits = interval.as_ref();
        let method = match limits {
            Ok(_) => "sign-flip-inversion-exact",
            Err(_) => "unavailable",
        };
        let interval = IntervalJson {
            confidence: self.confidence,
            n: check.cases,
            method,
            lower: limits.ok().map(|limits| rounded(&limits.lower, 6)),
            upper: limits.ok().map(|limits| rounded(&limits.upper, 6)),
            bounded: limits.is_ok(),
            reason: limits.err().map(|reason| reason.as_str()),
            unit: UNIT,
        };
        let check = NoiseCheckJson {
            verdict: check.verdict.ok().map(NoiseVerdict::as_str),
            reason: check.verdict.err().map(Withheld::as_str),
            cases: check.cases,
            cases_moved: check.cases_moved,
            cases_needed_for_alpha: check.cases_needed_for_alpha,
            alpha: rational::to_f64(alpha),
            smallest_achievable_p: check.smallest_achievable_p,
            noise_floor: check.noise_floor.as_ref().ok().map(|floor| rounded(floor, 6)),
            headroom: check.headroom.as_ref().map(|headroom| rounded(headroom, 6)),
            min_lift: min_lift.as_ref().map(rational::to_f64),
            projected_cases: check.projected_cases,
            unit: UNIT,
        };
        (interval, check)
    }
}

/// The figures of a block in their place, as far as they are not withheld.
fn headline<M: SerializeMap>(
    map: &mut M,
    standing: Standing,
    figures: &[(&str, Option<f64>)],
    test: &Significance,
    noise: &NoiseJson<'_>,
) -> Result<(), M::Error> {
    for (key, value) in figures {
        standing.entry(map, key, value)?;
    }
    standing.test_in_place(map, test)?;
    let (interval, check) = noise.parts();
    standing.entry(map, "interval", &interval)?;
    standing.entry(map, "noise_check", &check)
}

/// The same figures beside their place, where the evidence is incomplete.
fn observed<M: SerializeMap>(
    map: &mut M,
    standing: Standing,
    figures: &[(&str, Option<f64>)],
    test: &Significance,
    noise: &NoiseJson<'_>,
) -> Result<(), M::Error> {
    for (key, value) in figures {
        standing.observed(map, key, value)?;
    }
    standing.observed(map, "significance", test)?;
    let (interval, check) = noise.parts();
    standing.observed(map, "interval", &interval)?;
    standing.observed(map, "noise_check", &check)
}

struct NegativeCase {
    baseline: Baseline,
    case_id: String,
    rates: RoundedMeans,
    model: Option<String>,
}

impl Serialize for NegativeCase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("case_id", &self.case_id)?;
        map.serialize_entry("with_skill", &self.rates.with_skill)?;
        map.serialize_entry(self.baseline.variant(), &self.rates.without_skill)?;
        map.serialize_entry("delta", &(self.rates.with_skill - self.rates.without_skill))?;
        if let Some(model) = &self.model {
            map.serialize_entry("model", model)?;
        }
        map.end()
    }
}

struct Graded<'a> {
    baseline: Baseline,
    standing: Standing,
    pairing: Pairing<'a>,
    with_skill: Option<f64>,
    without_skill: Option<f64>,
    delta: Option<f64>,
    significance: Significance,
    noise: NoiseJson<'a>,
}

impl Serialize for Graded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let without = format!("{}_mean_score", self.baseline.variant());
        let figures =
            [("with_skill_mean_score", self.with_skill), (&without, self.without_skill), ("delta", self.delta)];
        headline(&mut map, self.standing, &figures, &self.significance, &self.noise)?;
        self.standing.state(&mut map)?;
        map.serialize_entry("pairing", &self.pairing)?;
        observed(&mut map, self.standing, &figures, &self.significance, &self.noise)?;
        map.end()
    }
}

/// One contrast; the keys of its baseline begin with the name of the baseline's arm.
pub(super) struct PairedBlockJson<'a> {
    baseline: Baseline,
    standing: Standing,
    with_skill: Option<f64>,
    without_skill: Option<f64>,
    absolute_delta: Option<f64>,
    normalized_gain: Option<f64>,
    significance: Significance,
    noise: NoiseJson<'a>,
    negative_delta_cases: Vec<NegativeCase>,
    pairing: Pairing<'a>,
    graded: Option<Graded<'a>>,
    by_model: Option<Ordered<PairedBlockJson<'a>>>,
}

impl Serialize for PairedBlockJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let without = format!("{}_objective_pass_rate", self.baseline.variant());
        let figures = [
            ("with_skill_objective_pass_rate", self.with_skill),
            (&without, self.without_skill),
            ("absolute_delta", self.absolute_delta),
            ("normalized_gain", self.normalized_gain),
        ];
        headline(&mut map, self.standing, &figures, &self.significance, &self.noise)?;
        map.serialize_entry("negative_delta_cases", &self.negative_delta_cases)?;
        map.serialize_entry("pairing", &self.pairing)?;
        self.standing.state(&mut map)?;
        observed(&mut map, self.standing, &figures, &self.significance, &self.noise)?;
        if let Some(graded) = &self.graded {
            map.serialize_entry("graded", graded)?;
        }
        if let Some(by_model) = &self.by_model {
            map.serialize_entry("by_model", by_model)?;
        }
        map.end()
    }
}

/// What a contrast is made of beside its figures.
#[derive(Clone, Copy)]
struct Frame<'a> {
    table: &'a RunTable,
    baseline: Baseline,
    confidence: f64,
}

impl Frame<'_> {
    fn block<'b>(self, block: &'b PairedBlock, standing: Standing, with_model: bool) -> PairedBlockJson<'b> {
        let Self { table, baseline, confidence } = self;
        let negative = |unit: &UnitMeans| NegativeCase {
            baseline,
            case_id: table.case_id(unit.case).to_owned(),
            rates: unit.rounded,
            model: if with_model { table.model(unit.model).map(str::to_owned) } else { None },
        };
        PairedBlockJson {
            baseline,
            standing,
            with_skill: block.with_skill,
            without_skill: block.without_skill,
            absolute_delta: block.delta(),
            normalized_gain: block.normalized_gain(),
            significance: significance(&block.significance),
            noise: NoiseJson { noise: &block.noise, confidence },
            negative_delta_cases: block
                .units
                .iter()
                .filter(|unit| unit.with_skill < unit.without_skill)
                .map(negative)
                .collect(),
            pairing: (&block.pairs).into(),
            graded: None,
            by_model: None,
        }
    }
}

/// The block of a contrast.
pub(super) fn paired_summary<'a>(
    analysis: &'a Analysis,
    baseline: Baseline,
    summary: &'a PairedSummary,
    confidence: f64,
) -> PairedBlockJson<'a> {
    let frame = Frame { table: &analysis.table, baseline, confidence };
    let standing = |block: &PairedBlock| Standing::of_pairs(analysis, &block.pairs);
    let overall = standing(&summary.overall);
    let mut block = frame.block(&summary.overall, overall, true);
    let four = |value: Option<f64>| value.map(|value| rational::round_f64_half_even(value, 4));
    block.graded = summary.graded.as_ref().map(|graded| Graded {
        baseline,
        // pairs without soft scores are no pairs that lack them: what counts is whether the runs are there
        standing: overall,
        pairing: (&graded.pairs).into(),
        with_skill: four(graded.with_skill),
        without_skill: four(graded.without_skill),
        delta: four(graded.mean_delta),
        significance: significance(&graded.significance),
        noise: NoiseJson { noise: &graded.noise, confidence },
    });
    if !summary.by_model.is_empty() {
        let blocks = summary.by_model.iter();
        block.by_model = Some(Ordered(
            blocks.map(|(name, block)| (name.clone(), frame.block(block, standing(block), false))).collect(),
        ));
    }
    block
}

#[derive(Serialize)]
struct RankedModel {
    model: String,
    lift: Option<f64>,
    with_skill: Option<f64>,
    without_skill: Option<f64>,
    significant_at_0_05: bool,
}

#[derive(Serialize)]
pub(super) struct ModelAnalysis {
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Vec<RankedModel>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lift_losers: Option<Vec<String>>,
}

/// Models by their lift, and those that lose it.
pub(super) fn model_analysis(analysis: &Analysis) -> ModelAnalysis {
    let summary = &analysis.lift;
    if summary.by_model.is_empty() {
        return ModelAnalysis { ranking: None, lift_losers: None };
    }
    let withheld = |block: &PairedBlock| Standing::of_pairs(analysis, &block.pairs).withholds();
    let shown = |block: &PairedBlock, value: Option<f64>| value.filter(|_| !withheld(block));
    let mut ranked: Vec<(&String, &PairedBlock, Option<f64>)> =
        summary.by_model.iter().map(|(model, block)| (model, block, shown(block, block.delta()))).collect();
    // the largest lift first, models without one last, then by name
    let rank = |lift: &Option<f64>| lift.unwrap_or(f64::NEG_INFINITY);
    ranked.sort_by(|(a, _, x), (b, _, y)| rank(y).total_cmp(&rank(x)).then_with(|| a.cmp(b)));
    let lifts = !withheld(&summary.overall) && summary.overall.delta().is_some_and(|delta| delta > 0.0);
    let losers = ranked.iter().filter(|(_, _, lift)| lifts && lift.is_some_and(|lift| lift <= 0.0));
    ModelAnalysis {
        lift_losers: Some(losers.map(|(model, ..)| (*model).clone()).collect()),
        ranking: Some(
            ranked
                .iter()
                .map(|(model, block, lift)| RankedModel {
                    model: (*model).clone(),
                    lift: *lift,
                    with_skill: shown(block, block.with_skill),
                    without_skill: shown(block, block.without_skill),
                    significant_at_0_05: !withheld(block) && significance(&block.significance).significant_at_0_05,
                })
                .collect(),
        ),
    }
}
