//! The functions that examples may name, with their inputs and outputs as text.

use std::collections::BTreeMap;

use skill_lift_stats::agreement::{AgreementTable, Metric, Weights, krippendorff_alpha};
use skill_lift_stats::betting::{betting_evidence, bounded_interval};
use skill_lift_stats::bootstrap::bootstrap_interval;
use skill_lift_stats::cluster::clustered_mean;
use skill_lift_stats::gain::{ArmRates, normalized_gain};
use skill_lift_stats::hodges_lehmann::{few_cases_carry_the_lift, hodges_lehmann, leave_one_out};
use skill_lift_stats::independent_binary::{ArmCounts, fisher_exact, newcombe_difference};
use skill_lift_stats::interval::equivalence;
use skill_lift_stats::inversion::inversion_interval;
use skill_lift_stats::missingness::{PlannedCase, PlannedRuns, missingness_bounds};
use skill_lift_stats::multiplicity::{benjamini_hochberg, benjamini_yekutieli, holm, tarone};
use skill_lift_stats::noise_check::{NoiseTargets, noise_check};
use skill_lift_stats::paired_binary::PairedTable;
use skill_lift_stats::permutation::{Stratum, permutation_test};
use skill_lift_stats::power::{cases_needed, smallest_detectable_lift};
use skill_lift_stats::proportion::{clopper_pearson, regressed_share_upper, wilson};
use skill_lift_stats::quantile::ninetieth_percentile;
use skill_lift_stats::random_effects::{SkillEffect, random_effects};
use skill_lift_stats::ratio::{FiellerSet, RatioUnit, ratio_of_means};
use skill_lift_stats::rational::{from_f64, mean, to_f64};
use skill_lift_stats::reliability::{pass_estimate, pass_interval};
use skill_lift_stats::suite_reliability::{CaseRuns, suite_pass};
use skill_lift_stats::variance::{UnitSpread, run_noise, variance_split};
use skill_lift_stats::{Rational, Thresholds, Withheld, padded_t, paired_t, sign_flip, verdict};

use crate::inputs::{Inputs, rational};

/// What comes out of a function.
pub enum Output {
    Number(f64),
    /// One after the other; `None` is a value that is missing.
    Numbers(Vec<Option<f64>>),
    Word(String),
}

type Outputs = Vec<(&'static str, Output)>;
type Function = fn(&mut Inputs) -> Result<Outputs, String>;

const FUNCTIONS: [(&str, Function); 31] = [
    ("sign_flip", sign_flip_example),
    ("padded_t", padded_t_example),
    ("paired_t", paired_t_example),
    ("inversion_interval", inversion_example),
    ("bounded_interval", bounded_example),
    ("betting_evidence", evidence_example),
    ("verdict", verdict_example),
    ("smallest_detectable_lift", detectable_example),
    ("regressed_share_upper", regressed_example),
    ("permutation_test", permutation_example),
    ("adjusted_p", adjusted_example),
    ("tarone", tarone_example),
    ("pass_estimate", pass_example),
    ("suite_pass", suite_pass_example),
    ("equivalence", equivalence_example),
    ("missingness_bounds", missingness_example),
    ("ratio_of_means", ratio_example),
    ("net_benefit", net_benefit_example),
    ("normalized_gain", gain_example),
    ("variance_split", variance_example),
    ("hodges_lehmann", robust_example),
    ("random_effects", random_effects_example),
    ("agreement", agreement_example),
    ("krippendorff_alpha", krippendorff_example),
    ("bootstrap_interval", bootstrap_example),
    ("clustered_mean", cluster_example),
    ("share", share_example),
    ("paired_table", paired_table_example),
    ("two_arms_of_a_case", independent_example),
    ("noise_check", noise_example),
    ("ninetieth_percentile", percentile_example),
];

/// Every function, for the test that all are used.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// Runs a function on the inputs of an example.
pub fn run(function: &str, inputs: BTreeMap<String, String>) -> Result<Outputs, String> {
    let (_, run) = FUNCTIONS.iter().find(|(name, _)| *name == function).ok_or("no such function")?;
    let mut inputs = Inputs(inputs);
    let outputs = run(&mut inputs)?;
    if let Some(name) = inputs.0.keys().next() {
        return Err(format!("{name} is no input"));
    }
    Ok(outputs)
}

fn number(value: f64) -> Output {
    Output::Number(value)
}

fn exact(value: &Rational) -> Output {
    Output::Number(to_f64(value))
}

fn word(value: impl Into<String>) -> Output {
    Output::Word(value.into())
}

fn yes_or_no(value: bool) -> Output {
    word(if value { "yes" } else { "no" })
}

fn or_reason<T>(value: Result<T, Withheld>, output: impl Fn(T) -> Output) -> Output {
    value.map_or_else(|reason| word(reason.as_str()), output)
}

fn or_none(value: Option<&Rational>) -> Output {
    value.map_or_else(|| word("none"), exact)
}

/// Both limits, or twice the reason.
fn limits(value: Result<(f64, f64), Withheld>) -> [(&'static str, Output); 2] {
    [("lower", or_reason(value.map(|it| it.0), number)), ("upper", or_reason(value.map(|it| it.1), number))]
}

fn sign_flip_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let test = sign_flip(&inputs.rationals("deltas")?);
    Ok(vec![
        ("estimate", or_none(test.estimate.as_ref())),
        ("improved", number(test.improved as f64)),
        ("regressed", number(test.regressed as f64)),
        ("unchanged", number(test.unchanged() as f64)),
        ("p_two_sided", number(test.p_two_sided)),
        ("p_greater", number(test.p_greater)),
        ("p_less", number(test.p_less)),
        ("mid_p", number(test.mid_p)),
        ("floor", number(test.floor)),
    ])
}

fn padded_t_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let deltas = inputs.rationals("deltas")?;
    let interval = padded_t(&deltas, &inputs.alpha()?, &sign_flip(&deltas));
    let mut outputs = vec![
        ("pad", or_reason(interval.map(|it| it.pad), number)),
        ("center", or_reason(interval.map(|it| it.center), number)),
        ("standard_error", or_reason(interval.map(|it| it.standard_error), number)),
        ("critical", or_reason(interval.map(|it| it.critical), number)),
    ];
    outputs.extend(limits(interval.map(|it| (it.lower, it.upper))));
    Ok(outputs)
}

fn paired_t_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let test = paired_t(&inputs.rationals("deltas")?, &inputs.alpha()?);
    let mut outputs = vec![
        ("t", or_reason(test.map(|it| it.t), number)),
        ("p_two_sided", or_reason(test.map(|it| it.p_two_sided), number)),
        ("standard_error", or_reason(test.map(|it| it.standard_error), number)),
    ];
    outputs.extend(limits(test.map(|it| (it.lower, it.upper))));
    Ok(outputs)
}

fn inversion_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let interval = inversion_interval(&inputs.rationals("deltas")?, &inputs.alpha()?);
    Ok(limits(interval.map(|it| (it.lower_f64(), it.upper_f64()))).into())
}

fn bounded_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let interval = bounded_interval(&inputs.rationals("deltas")?, &inputs.alpha()?);
    Ok(limits(interval.map(|it| (it.lower, it.upper))).into())
}

fn evidence_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let evidence = betting_evidence(&inputs.rationals("deltas")?);
    Ok(vec![
        ("e", or_reason(evidence.map(|it| it.ln_e.exp()), number)),
        ("p_anytime", or_reason(evidence.map(|it| it.p_anytime()), number)),
    ])
}

fn verdict_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let deltas = inputs.rationals("deltas")?;
    let min_lift = inputs.0.remove("min_lift").map_or_else(|| rational("0.10"), |text| rational(&text))?;
    let thresholds = Thresholds::new(inputs.alpha()?, min_lift).ok_or("thresholds out of range")?;
    let test = sign_flip(&deltas);
    let verdict = verdict(&test, &padded_t(&deltas, thresholds.alpha(), &test), &thresholds);
    let reasons: Vec<&str> = verdict.reasons.iter().map(|reason| reason.as_str()).collect();
    Ok(vec![
        ("code", word(verdict.code.as_str())),
        ("size_uncertain", yes_or_no(verdict.size_uncertain)),
        ("negligible", yes_or_no(verdict.negligible)),
        ("reasons", word(reasons.join(" "))),
    ])
}

fn detectable_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let (deltas, alpha) = (inputs.rationals("deltas")?, inputs.alpha()?);
    let min_lift = to_f64(&inputs.rational("min_lift")?);
    let lift = smallest_detectable_lift(&deltas, &alpha);
    let needed = lift.map(|it| cases_needed(it.standard_deviation, min_lift, &alpha));
    Ok(vec![
        ("standard_deviation", or_reason(lift.map(|it| it.standard_deviation), number)),
        ("lift", or_reason(lift.map(|it| it.lift), number)),
        ("cases_needed", or_reason(needed, |it| it.map_or_else(|| word("none"), |cases| number(cases as f64)))),
    ])
}

fn regressed_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let [regressed, cases] = [inputs.count("regressed")?, inputs.count("cases")?].map(|it| it as usize);
    Ok(vec![("upper", or_reason(regressed_share_upper(regressed, cases), number))])
}

fn permutation_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let (with, without) = (inputs.groups("with")?, inputs.groups("without")?);
    let strata: Vec<Stratum<'_>> = with.iter().zip(&without).map(|(with, without)| Stratum { with, without }).collect();
    let test = permutation_test(&strata);
    Ok(vec![
        ("mean_delta", or_reason(test.as_ref().map_err(|it| *it), |it| exact(&it.mean_delta))),
        ("p_two_sided", or_reason(test.as_ref().map_err(|it| *it), |it| number(it.p_two_sided))),
        ("floor", or_reason(test.as_ref().map_err(|it| *it), |it| number(it.floor))),
    ])
}

fn adjusted_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let p_values: Vec<Option<f64>> = inputs.floats("p_values")?.into_iter().map(Some).collect();
    Ok(vec![
        ("holm", Output::Numbers(holm(&p_values))),
        ("benjamini_hochberg", Output::Numbers(benjamini_hochberg(&p_values))),
        ("benjamini_yekutieli", Output::Numbers(benjamini_yekutieli(&p_values))),
    ])
}

fn tarone_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let tests: Vec<(f64, f64)> = inputs.floats("p_values")?.into_iter().zip(inputs.floats("floors")?).collect();
    let screened = tarone(&tests, to_f64(&inputs.alpha()?));
    let rejected: Vec<&str> = screened.reject.iter().map(|reject| if *reject { "yes" } else { "no" }).collect();
    Ok(vec![("k", number(screened.k as f64)), ("reject", word(rejected.join(" ")))])
}

fn pass_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let [runs, passed, k] = [inputs.count("runs")?, inputs.count("passed")?, inputs.count("k")?];
    let (estimate, interval) =
        (pass_estimate(runs, passed, k), pass_interval(runs, passed, k, to_f64(&inputs.alpha()?)));
    let estimate = estimate.as_ref().map_err(|it| *it);
    let interval = interval.as_ref().map_err(|it| *it);
    Ok(vec![
        ("pass_at_k", or_reason(estimate, |it| number(it.pass_at_k()))),
        ("pass_hat_k", or_reason(estimate, |it| number(it.pass_hat_k()))),
        ("pass_at_k_lower", or_reason(interval, |it| number(it.pass_at_k.lower))),
        ("pass_at_k_upper", or_reason(interval, |it| number(it.pass_at_k.upper))),
        ("pass_hat_k_lower", or_reason(interval, |it| number(it.pass_hat_k.lower))),
        ("pass_hat_k_upper", or_reason(interval, |it| number(it.pass_hat_k.upper))),
    ])
}

fn suite_pass_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let cases = inputs.counts("runs")?.into_iter().zip(inputs.counts("passed")?);
    let cases: Vec<CaseRuns> = cases.map(|(runs, passed)| CaseRuns { runs, passed }).collect();
    let pass = suite_pass(&cases, inputs.count("k")?, &inputs.alpha()?).map_err(|reason| reason.to_string())?;
    let mut outputs = vec![
        ("cases_at_k", number(pass.cases_at_k as f64)),
        ("pass_at_k", exact(&pass.pass_at_k.mean)),
        ("pass_hat_k", exact(&pass.pass_hat_k.mean)),
    ];
    outputs.extend(limits(pass.pass_at_k.limits.map(|it| (it.lower, it.upper))));
    Ok(outputs)
}

fn equivalence_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let claim = equivalence(&inputs.rationals("deltas")?, &inputs.alpha()?, &inputs.rational("margin")?);
    let mut outputs = vec![
        ("equivalent", or_reason(claim.map(|it| it.equivalent), yes_or_no)),
        ("non_inferior", or_reason(claim.map(|it| it.non_inferior), yes_or_no)),
    ];
    outputs.extend(limits(claim.map(|it| (it.lower, it.upper))));
    Ok(outputs)
}

fn missingness_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let mut arm = |arm: &str| -> Result<Vec<PlannedRuns>, String> {
        let [planned, scored, passed] =
            ["planned", "scored", "passed"].map(|what| inputs.counts(&format!("{what}_{arm}")));
        let runs = planned?.into_iter().zip(scored?).zip(passed?);
        let runs = runs.map(|((planned, scored), passed)| PlannedRuns {
            planned,
            scored,
            rates: Rational::from_integer(passed.into()),
        });
        Ok(runs.collect())
    };
    let cases = arm("with")?.into_iter().zip(arm("without")?);
    let cases: Vec<PlannedCase> = cases.map(|(with, without)| PlannedCase { with, without }).collect();
    let bounds = missingness_bounds(&cases).map_err(|reason| reason.to_string())?;
    Ok(vec![
        ("worst", exact(&bounds.worst)),
        ("best", exact(&bounds.best)),
        ("could_reverse", yes_or_no(bounds.could_reverse())),
    ])
}

fn ratio_units(inputs: &mut Inputs) -> Result<Vec<RatioUnit>, String> {
    let units = inputs.rationals("lifts")?.into_iter().zip(inputs.rationals("costs")?);
    Ok(units.map(|(numerator, denominator)| RatioUnit { numerator, denominator }).collect())
}

fn ratio_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let ratio = ratio_of_means(&ratio_units(inputs)?, &inputs.alpha()?);
    let mut outputs =
        vec![("ratio", or_none(ratio.ratio.as_ref())), ("set", or_reason(ratio.limits, |set| word(set.as_str())))];
    outputs.extend(limits(ratio.two_sided()));
    Ok(outputs)
}

fn net_benefit_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let value = inputs.rational("value")?;
    let benefits: Vec<Rational> = ratio_units(inputs)?.iter().map(|unit| unit.net_benefit(&value)).collect();
    let test = sign_flip(&benefits);
    let interval = padded_t(&benefits, &inputs.alpha()?, &test);
    let mut outputs = vec![("mean", or_none(test.estimate.as_ref())), ("p_two_sided", number(test.p_two_sided))];
    // Money has no ends at which the interval would be cut.
    outputs.extend(limits(interval.map(|it| (it.lower_unclipped, it.upper_unclipped))));
    Ok(outputs)
}

fn gain_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let units = inputs.rationals("with")?.into_iter().zip(inputs.rationals("without")?);
    let units: Vec<ArmRates> = units.map(|(with, without)| ArmRates { with, without }).collect();
    let gain = normalized_gain(&units, &inputs.alpha()?);
    let mut outputs = vec![
        ("gain", or_reason(gain.gain.as_ref().map_err(|it| *it), exact)),
        ("relative_loss", or_none(gain.relative_loss.as_ref())),
        ("normalized_change", or_none(gain.normalized_change.as_ref())),
        ("normalized_change_units", number(gain.normalized_change_units as f64)),
    ];
    outputs.extend(limits(gain.limits.and_then(FiellerSet::two_sided)));
    Ok(outputs)
}

fn variance_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let (with, without) = (inputs.groups("with")?, inputs.groups("without")?);
    let strata = with.iter().zip(&without).map(|(with, without)| Stratum { with, without });
    let units: Option<Vec<UnitSpread>> = strata
        .map(|stratum| {
            let delta = mean(stratum.with)? - mean(stratum.without)?;
            Some(UnitSpread { delta, noise: run_noise(&stratum) })
        })
        .collect();
    let split = variance_split(&units.ok_or("an arm is empty")?).map_err(|reason| reason.to_string())?;
    Ok(vec![
        ("total", exact(&split.total)),
        ("within", or_reason(split.within.as_ref().map_err(|it| *it), exact)),
        ("between", or_reason(split.between.as_ref().map_err(|it| *it), exact)),
        ("noise_share", or_reason(split.noise_share.as_ref().map_err(|it| *it), exact)),
    ])
}

fn robust_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let deltas = inputs.rationals("deltas")?;
    let robust = hodges_lehmann(&deltas).map_err(|reason| reason.to_string())?;
    let range = leave_one_out(&deltas).map_err(|reason| reason.to_string())?;
    let center = mean(&deltas).ok_or("no deltas")?;
    let interval = padded_t(&deltas, &inputs.alpha()?, &sign_flip(&deltas)).map_err(|reason| reason.to_string())?;
    let width = from_f64(interval.upper - interval.lower).ok_or("no width")?;
    Ok(vec![
        ("mean", exact(&center)),
        ("hodges_lehmann", exact(&robust)),
        ("few_cases_carry_the_lift", yes_or_no(few_cases_carry_the_lift(&center, &robust, &width))),
        ("lowest", exact(&range.lowest)),
        ("highest", exact(&range.highest)),
    ])
}

fn random_effects_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let skills = inputs.floats("lifts")?.into_iter().zip(inputs.floats("standard_errors")?);
    let skills: Vec<SkillEffect> = skills.map(|(lift, standard_error)| SkillEffect { lift, standard_error }).collect();
    let effects = random_effects(&skills, &inputs.alpha()?);
    let effects = effects.as_ref().map_err(|it| *it);
    let mut outputs = vec![
        ("mean", or_reason(effects, |it| number(it.mean))),
        ("tau", or_reason(effects, |it| number(it.tau()))),
        ("i_squared", or_reason(effects, |it| number(it.i_squared))),
    ];
    outputs.extend(limits(effects.map(|it| (it.lower, it.upper))));
    Ok(outputs)
}

fn agreement_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let counts = |row: &str| row.split(' ').map(|count| count.parse::<u64>().map_err(|it| it.to_string())).collect();
    let rows: Result<Vec<Vec<u64>>, String> = inputs.text("table")?.split("; ").map(counts).collect();
    let table = AgreementTable::new(rows?).map_err(|reason| reason.to_string())?;
    let alpha = to_f64(&inputs.alpha()?);
    let kappa = table.kappa(Weights::Identity, alpha);
    let kappa = kappa.as_ref().map_err(|it| *it);
    let observed = table.observed_limits(alpha);
    let mut outputs = vec![
        ("observed", exact(&table.observed())),
        ("observed_lower", or_reason(observed, |it| number(it.lower))),
        ("observed_upper", or_reason(observed, |it| number(it.upper))),
        ("kappa", or_reason(kappa, |it| exact(&it.value))),
        ("ac1", or_reason(table.ac1(alpha), |it| exact(&it.value))),
        ("pabak", or_reason(table.pabak(), |it| exact(&it))),
    ];
    outputs.extend(limits(kappa.and_then(|it| it.limits.map(|it| (it.lower, it.upper)))));
    Ok(outputs)
}

fn krippendorff_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let metric = match inputs.text("metric")?.as_str() {
        "nominal" => Metric::Nominal,
        "ordinal" => Metric::Ordinal,
        "interval" => Metric::Interval,
        "ratio" => Metric::Ratio,
        other => return Err(format!("{other} is no metric")),
    };
    let alpha = krippendorff_alpha(&inputs.groups("items")?, metric, to_f64(&inputs.alpha()?));
    let alpha = alpha.as_ref().map_err(|it| *it);
    let mut outputs = vec![("alpha", or_reason(alpha, |it| exact(&it.value)))];
    outputs.extend(limits(alpha.and_then(|it| it.limits.map(|it| (it.lower, it.upper)))));
    Ok(outputs)
}

fn bootstrap_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let interval = bootstrap_interval(&inputs.rationals("deltas")?, &inputs.alpha()?);
    let interval = interval.as_ref().map_err(|it| *it);
    Ok(vec![
        ("percentile_lower", or_reason(interval, |it| exact(&it.percentile.lower))),
        ("percentile_upper", or_reason(interval, |it| exact(&it.percentile.upper))),
        ("bca_lower", or_reason(interval, |it| exact(&it.bca.lower))),
        ("bca_upper", or_reason(interval, |it| exact(&it.bca.upper))),
    ])
}

fn cluster_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let clustered = clustered_mean(&inputs.groups("clusters")?, &inputs.alpha()?);
    let clustered = clustered.as_ref().map_err(|it| *it);
    let mut outputs = vec![
        ("mean", or_reason(clustered, |it| exact(&it.mean))),
        ("cluster_mean", or_reason(clustered, |it| exact(&it.cluster_mean))),
        ("standard_error", or_reason(clustered, |it| number(it.cr2.standard_error))),
        ("degrees_of_freedom", or_reason(clustered, |it| number(it.cr2.degrees_of_freedom))),
    ];
    outputs.extend(limits(clustered.map(|it| (it.cr2.lower, it.cr2.upper))));
    Ok(outputs)
}

fn share_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let [counted, trials] = [inputs.count("counted")?, inputs.count("trials")?];
    let alpha = to_f64(&inputs.alpha()?);
    let (wilson, exact) = (wilson(counted, trials, alpha), clopper_pearson(counted, trials, alpha));
    Ok(vec![
        ("wilson_lower", or_reason(wilson, |it| number(it.lower))),
        ("wilson_upper", or_reason(wilson, |it| number(it.upper))),
        ("clopper_pearson_lower", or_reason(exact, |it| number(it.lower))),
        ("clopper_pearson_upper", or_reason(exact, |it| number(it.upper))),
    ])
}

fn paired_table_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let [both, with, without, neither] =
        ["both_pass", "with_only", "without_only", "both_fail"].map(|name| inputs.count(name));
    let table = PairedTable::new(both?, with?, without?, neither?).map_err(|reason| reason.to_string())?;
    let test = table.mcnemar();
    let tango = table.tango(to_f64(&inputs.alpha()?));
    Ok(vec![
        ("difference", exact(&table.difference())),
        ("p_two_sided", number(test.p_two_sided)),
        ("mid_p", number(test.mid_p)),
        ("tango_lower", number(tango.lower)),
        ("tango_upper", number(tango.upper)),
    ])
}

fn independent_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let mut arm = |arm: &str| -> Result<ArmCounts, String> {
        Ok(ArmCounts { passed: inputs.count(&format!("passed_{arm}"))?, runs: inputs.count(&format!("runs_{arm}"))? })
    };
    let (with, without) = (arm("with")?, arm("without")?);
    let test = fisher_exact(with, without);
    let newcombe = newcombe_difference(with, without, to_f64(&inputs.alpha()?));
    let mut outputs = vec![("p_two_sided", or_reason(test, |it| number(it.p_two_sided())))];
    outputs.extend(limits(newcombe.map(|it| (it.lower, it.upper))));
    Ok(outputs)
}

fn noise_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let (deltas, alpha, baseline) = (inputs.rationals("deltas")?, inputs.alpha()?, inputs.rational("baseline")?);
    let interval = inversion_interval(&deltas, &alpha);
    let targets = NoiseTargets { baseline: Some(&baseline), min_lift: None };
    let check = noise_check(&deltas, &interval, &alpha, &targets);
    Ok(vec![
        ("verdict", or_reason(check.verdict, |it| word(it.as_str()))),
        ("noise_floor", or_reason(check.noise_floor, |it| exact(&it))),
        ("headroom", or_none(check.headroom.as_ref())),
    ])
}

fn percentile_example(inputs: &mut Inputs) -> Result<Outputs, String> {
    let percentile = ninetieth_percentile(&inputs.floats("values")?);
    let percentile = percentile.as_ref().map_err(|it| *it);
    Ok(vec![
        ("value", or_reason(percentile, |it| number(it.value))),
        ("upper", or_reason(percentile.and_then(|it| it.upper), |it| number(it.value))),
    ])
}
