//! The block `inference` of a report: full precision, a reason beside every value that is withheld.

use serde::Serialize;
use serde_json::Value;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Withheld};

use super::caveats::{Caveat, caveats};
use super::companions_json::{CompanionsBlock, ReliabilityRow, companions, reliability};
use super::efficiency_json::{CostPerRun, EfficiencyBlock, PercentileBlock, cost_per_run, efficiency, percentiles};
use super::independence_json::{self, IndependenceBlock};
use super::missingness_json::{self, MissingnessBlock};
use super::one_arm_json::{self, CriterionBlock};
use super::slices_json::{self, SliceBlock};
use super::words;
use crate::analyze::inference::{CaseContrast, Contrast, Inference, ModelContrast, UnitRates};
use crate::analyze::review::ReviewReason;
use crate::analyze::sanity::{Sanity, SanityKind};
use crate::analyze::telemetry::Efficiency;

#[derive(Serialize)]
pub(super) struct InferenceBlock<'a> {
    schema_version: u32,
    alpha: f64,
    confidence: f64,
    min_lift: f64,
    equivalence_margin: Option<f64>,
    units: Units,
    overall: Overall,
    by_model: Vec<ModelBlock>,
    by_case: Vec<CaseBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<Vec<SliceBlock>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reliability: Vec<ReliabilityRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_arm_criteria: Option<Vec<CriterionBlock>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missingness: Option<MissingnessBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    independence: Option<IndependenceBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sanity: Option<SanityBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    efficiency: Option<EfficiencyBlock<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    percentiles: Vec<PercentileBlock>,
    multiplicity: Multiplicity,
    review_queue: Vec<ReviewItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_per_run: Option<CostPerRun>,
}

#[derive(Serialize)]
struct Units {
    cases: usize,
    case_model_units: usize,
    runs_with: usize,
    runs_without: usize,
    models: usize,
    unbalanced_models: bool,
}

#[derive(Serialize)]
struct Counts {
    improved: usize,
    regressed: usize,
    unchanged: usize,
}

#[derive(Serialize)]
struct CaseTest {
    method: &'static str,
    unit: &'static str,
    n: usize,
    nonzero: usize,
    p_two_sided: Option<f64>,
    p_greater: Option<f64>,
    p_less: Option<f64>,
    mid_p: Option<f64>,
    p_floor: Option<f64>,
    p_is_bound: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct Interval {
    pub(super) method: &'static str,
    pub(super) unit: &'static str,
    pub(super) n: usize,
    pub(super) confidence: f64,
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Limit {
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Contrasted {
    unit: &'static str,
    n_units: usize,
    estimate: Option<f64>,
    estimate_with: Option<f64>,
    estimate_without: Option<f64>,
    counts: Counts,
    case_test: CaseTest,
    interval: Interval,
    interval_t: Interval,
    regressed_share_upper: Limit,
}

#[derive(Serialize)]
struct Overall {
    #[serde(flatten)]
    contrast: Contrasted,
    verdict: VerdictBlock,
    smallest_detectable_lift: Limit,
    cases_needed: Option<usize>,
    #[serde(flatten)]
    companions: Option<CompanionsBlock>,
}

#[derive(Serialize)]
struct VerdictBlock {
    code: &'static str,
    size_uncertain: bool,
    negligible: bool,
    reasons: Vec<&'static str>,
    text: String,
    next_step: String,
    grade: &'static str,
    p: Option<f64>,
    odds: Option<Odds>,
    qualifiers: Vec<Qualifier>,
}

#[derive(Serialize)]
struct Odds {
    n: u64,
    of: u64,
}

#[derive(Serialize)]
struct Qualifier {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

#[derive(Serialize)]
struct ModelBlock {
    model: String,
    #[serde(flatten)]
    contrast: Contrasted,
    p_holm: Option<f64>,
    verdict_code: &'static str,
}

#[derive(Serialize)]
struct CaseBlock {
    case_id: String,
    model: Option<String>,
    family: Option<String>,
    strata: usize,
    pairs: usize,
    blocked_pairs: usize,
    estimate: Option<f64>,
    estimate_with: Option<f64>,
    estimate_without: Option<f64>,
    change: Option<&'static str>,
    class: &'static str,
    within_case_test: WithinCaseTest,
}

#[derive(Serialize)]
struct WithinCaseTest {
    method: &'static str,
    unit: &'static str,
    runs_with: Option<usize>,
    runs_without: Option<usize>,
    p_two_sided: Option<f64>,
    p_floor: Option<f64>,
    p_bh: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Multiplicity {
    models: Family,
    cases: Family,
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<SliceFamily>,
}

#[derive(Serialize)]
struct Family {
    method: &'static str,
    tests: usize,
    untested: usize,
}

#[derive(Serialize)]
struct SliceFamily {
    method: &'static str,
    tests: usize,
    untested: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    axes_left_out: Vec<&'static str>,
}

#[derive(Serialize)]
struct ReviewItem {
    case_id: String,
    reasons: Vec<&'static str>,
    rank: u32,
}

fn exact(value: Option<&Rational>) -> Option<f64> {
    value.map(rational::to_f64)
}

fn limit(value: Result<f64, Withheld>) -> Limit {
    match value {
        Ok(value) => Limit { value: Some(value), reason: None },
        Err(reason) => Limit { value: None, reason: Some(reason.as_str()) },
    }
}

fn case_test(test: &SignFlip, unit: &'static str) -> CaseTest {
    let tested = |p: f64| (test.n > 0).then_some(p);
    CaseTest {
        method: test.method.as_str(),
        unit,
        n: test.n,
        nonzero: test.moved,
        p_two_sided: tested(test.p_two_sided),
        p_greater: tested(test.p_greater),
        p_less: tested(test.p_less),
        mid_p: tested(test.mid_p),
        p_floor: tested(test.floor),
        p_is_bound: test.p_is_bound,
        reason: (test.n == 0).then_some(Withheld::NoEligiblePairs.as_str()),
    }
}

fn contrasted(contrast: &Contrast, confidence: f64) -> Contrasted {
    let unit = contrast.unit.word();
    let test = &contrast.test;
    let interval = |method, limits: Result<(f64, f64), Withheld>| match limits {
        Ok((lower, upper)) => {
            Interval { method, unit, n: test.n, confidence, lower: Some(lower), upper: Some(upper), reason: None }
        }
        Err(reason) => {
            Interval { method, unit, n: test.n, confidence, lower: None, upper: None, reason: Some(reason.as_str()) }
        }
    };
    Contrasted {
        unit,
        n_units: test.n,
        estimate: exact(test.estimate.as_ref()),
        estimate_with: exact(contrast.with_skill.as_ref()),
        estimate_without: exact(contrast.without_skill.as_ref()),
        counts: Counts { improved: test.improved, regressed: test.regressed, unchanged: test.n - test.moved },
        case_test: case_test(test, unit),
        interval: interval("padded-t", contrast.interval.as_ref().map(|i| (i.lower, i.upper)).map_err(|e| *e)),
        interval_t: interval("paired-t", contrast.interval_t.as_ref().map(|i| (i.lower, i.upper)).map_err(|e| *e)),
        regressed_share_upper: limit(contrast.regressed_share_upper),
    }
}

fn case_block(case: &CaseContrast) -> CaseBlock {
    let rates = case.rates.as_ref();
    let delta = rates.map(UnitRates::delta);
    let zero = rational::rate(0, 1);
    let test = case.within_case.as_ref().ok();
    CaseBlock {
        case_id: case.case_id.clone(),
        model: None,
        family: case.family.clone(),
        strata: case.strata,
        pairs: case.pairing.eligible,
        blocked_pairs: case.pairing.blocked,
        estimate: exact(delta.as_ref()),
        estimate_with: exact(rates.map(|rates| &rates.with_skill)),
        estimate_without: exact(rates.map(|rates| &rates.without_skill)),
        change: delta.map(|delta| match delta.cmp(&zero) {
            std::cmp::Ordering::Less => "regressed",
            std::cmp::Ordering::Equal => "unchanged",
            std::cmp::Ordering::Greater => "improved",
        }),
        class: case.class.code(),
        within_case_test: WithinCaseTest {
            method: "stratified-label-permutation",
            unit: "run",
            runs_with: test.map(|test| test.runs_with),
            runs_without: test.map(|test| test.runs_without),
            p_two_sided: test.map(|test| test.p_two_sided),
            p_floor: test.map(|test| test.floor),
            p_bh: case.p_bh,
            reason: case.within_case.as_ref().err().map(|reason| reason.as_str()),
        },
    }
}

#[derive(Serialize)]
struct SanityBlock {
    status: &'static str,
    checks: Vec<SanityCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lift_of_loaded_pairs: Option<LoadedBlock>,
}

#[derive(Serialize)]
struct SanityCheck {
    check: &'static str,
    status: &'static str,
    count: usize,
    evidence: Vec<String>,
}

#[derive(Serialize)]
struct LoadedBlock {
    n_units: usize,
    n_pairs: usize,
    estimate: Option<f64>,
}

fn sanity_block(sanity: &Sanity) -> SanityBlock {
    let status = |ok: bool| if ok { "ok" } else { "review" };
    let check = |kind: SanityKind| {
        let signs = sanity.signs.get(&kind).cloned().unwrap_or_default();
        SanityCheck { check: kind.code(), status: status(signs.count == 0), count: signs.count, evidence: signs.named }
    };
    SanityBlock {
        status: status(sanity.is_ok()),
        checks: SanityKind::ALL.into_iter().map(check).collect(),
        lift_of_loaded_pairs: sanity.loaded.as_ref().map(|loaded| LoadedBlock {
            n_units: loaded.cases,
            n_pairs: loaded.pairs,
            estimate: loaded.estimate.as_ref().map(rational::to_f64),
        }),
    }
}

/// The block; `blocked` is the number of blocked pairs. Without `sanity` those checks were not made.
pub(super) fn block<'a>(
    inference: &Inference,
    sanity: Option<&Sanity>,
    used: Option<&'a Efficiency>,
    blocked: usize,
    minimum_cases: usize,
) -> InferenceBlock<'a> {
    let alpha = rational::to_f64(inference.thresholds.alpha());
    let confidence = rational::to_f64(&(rational::rate(1, 1) - inference.thresholds.alpha()));
    let overall = &inference.overall;
    let margin = inference.equivalence_margin.as_ref();
    let p = (overall.test.n > 0).then_some(overall.test.p_two_sided);
    let qualifiers = [
        ("all_pass", overall.all_pass()),
        ("all_fail", overall.all_fail()),
        ("equivalent", words::shown_equivalent(inference).is_some()),
    ];
    let detectable = overall.smallest_detectable_lift.as_ref().map(|d| d.lift).map_err(|reason| *reason);
    let tests = inference.by_model.iter().filter(|model| model.p_holm.is_some()).count();
    let case_tests = inference.by_case.iter().filter(|case| case.p_bh.is_some()).count();
    InferenceBlock {
        schema_version: 1,
        alpha,
        confidence,
        min_lift: rational::to_f64(inference.thresholds.min_lift()),
        equivalence_margin: margin.map(rational::to_f64),
        units: Units {
            cases: inference.counts.cases,
            case_model_units: inference.counts.case_model_units,
            runs_with: inference.counts.pairs,
            runs_without: inference.counts.pairs,
            models: inference.counts.models,
            unbalanced_models: inference.unbalanced_models,
        },
        overall: Overall {
            contrast: contrasted(overall, confidence),
            verdict: VerdictBlock {
                code: overall.verdict.code.as_str(),
                size_uncertain: overall.verdict.size_uncertain,
                negligible: overall.verdict.negligible,
                reasons: overall.verdict.reasons.iter().map(|reason| reason.as_str()).collect(),
                text: words::verdict_text(inference, blocked, minimum_cases),
                next_step: words::next_step(inference, minimum_cases),
                grade: words::grade(inference),
                p,
                odds: p.and_then(words::odds).map(|(n, of)| Odds { n, of }),
                qualifiers: qualifiers
                    .into_iter()
                    .filter_map(|(code, applies)| applies.then_some(Qualifier { code, args: None }))
                    .chain(
                        caveats(inference)
                            .into_iter()
                            .map(|Caveat { code, args, .. }| Qualifier { code, args: Some(args) }),
                    )
                    .collect(),
            },
            smallest_detectable_lift: limit(detectable),
            cases_needed: overall.cases_needed,
            companions: inference
                .companions
                .as_ref()
                .map(|beside| companions(beside, overall, &inference.thresholds, margin, confidence)),
        },
        by_model: inference
            .by_model
            .iter()
            .map(|ModelContrast { model, contrast, p_holm }| ModelBlock {
                model: model.clone(),
                contrast: contrasted(contrast, confidence),
                p_holm: *p_holm,
                verdict_code: contrast.verdict.code.as_str(),
            })
            .collect(),
        by_case: inference.by_case.iter().map(case_block).collect(),
        slices: inference
            .slices
            .as_ref()
            .map(|slices| slices_json::contrasts(&slices.slices, overall.unit, confidence)),
        reliability: reliability(inference, confidence),
        one_arm_criteria: inference.one_arm.as_ref().map(|criteria| one_arm_json::block(criteria)),
        missingness: inference.missingness.as_ref().map(missingness_json::block),
        independence: inference.independence.as_ref().map(independence_json::block),
        sanity: sanity.map(sanity_block),
        efficiency: used.map(efficiency),
        percentiles: used.map(percentiles).unwrap_or_default(),
        multiplicity: Multiplicity {
            models: Family { method: "holm", tests, untested: inference.by_model.len() - tests },
            cases: Family {
                method: "benjamini-hochberg",
                tests: case_tests,
                untested: inference.by_case.len() - case_tests,
            },
            slices: inference.slices.as_ref().map(|slices| {
                let tests = slices.slices.iter().filter(|slice| slice.p_bh.is_some()).count();
                SliceFamily {
                    method: "benjamini-hochberg",
                    tests,
                    untested: slices.slices.len() - tests,
                    axes_left_out: slices.left_out.iter().map(|axis| axis.key()).collect(),
                }
            }),
        },
        review_queue: inference
            .review_queue
            .iter()
            .map(|item| ReviewItem {
                case_id: inference.by_case[item.case].case_id.clone(),
                reasons: item.reasons.iter().map(|reason| reason.code()).collect(),
                rank: item.reasons.first().map_or(0, |reason: &ReviewReason| reason.rank()),
            })
            .collect(),
        cost_per_run: used.map(cost_per_run),
    }
}
