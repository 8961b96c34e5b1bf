//! The same source as `oracle`, for the figures beside the headline.

use serde_json::Value;

use super::oracle::{CLOSE, section};
use super::{Report, count, floats, lattice, rational, rationals, size, text};
use crate::betting::{betting_evidence, bounded_interval};
use crate::describe::p90;
use crate::gain::{ArmRates, normalized_gain};
use crate::hodges_lehmann::hodges_lehmann;
use crate::inversion::inversion_interval;
use crate::missingness::{PlannedCase, PlannedRuns, missingness_bounds};
use crate::permutation::Stratum;
use crate::quantile::ninetieth_percentile;
use crate::random_effects::{SkillEffect, random_effects};
use crate::ratio::{FiellerSet, Quadratic, RatioUnit, ratio_of_means};
use crate::rational::{Rational, mean, to_f64};
use crate::sign_flip::sign_flip;
use crate::variance::{UnitSpread, run_noise, variance_split};
use crate::withheld::Withheld;

fn alpha() -> Rational {
    rational("0.05")
}

#[test]
fn sign_flip_limits_at_three_levels() {
    let mut intervals = 0;
    section("sign_flip_interval", "vectors").check(91, |vector, report| {
        let deltas = lattice(vector);
        for expected in vector["intervals"].as_array().unwrap() {
            intervals += 1;
            let alpha = rational(&expected["alpha"].to_string());
            match inversion_interval(&deltas, &alpha) {
                Ok(interval) => {
                    report.same("bounded", Some(true), expected["bounded"].as_bool());
                    report.same("lower", &interval.lower, &rational(text(&expected["lower_exact"])));
                    report.same("upper", &interval.upper, &rational(text(&expected["upper_exact"])));
                    report.near("lower as f64", interval.lower_f64(), &expected["lower"], 0.0);
                    report.near("upper as f64", interval.upper_f64(), &expected["upper"], 0.0);
                }
                Err(reason) => {
                    report.same("bounded", Some(false), expected["bounded"].as_bool());
                    report.same("reason", reason.as_str(), text(&expected["reason"]));
                }
            }
        }
    });
    assert_eq!(intervals, 273);
}

/// Not for reports: five unchanged cases would "prove" equivalence within 10 points. Here it holds the interval against
/// the test it inverts.
#[test]
fn sign_flip_limits_agree_with_tests_of_shifted_deltas() {
    section("equivalence_sign_flip", "vectors").check(18, |vector, report| {
        let deltas = lattice(vector);
        let margin = rational(text(&vector["margin_exact"]));
        let shifted = |shift: &Rational| sign_flip(&deltas.iter().map(|delta| delta + shift).collect::<Vec<_>>());
        let (above, below) = (shifted(&margin), shifted(&-margin.clone()));
        report.near("p_above_lower", above.p_greater, &vector["p_above_lower"], 0.0);
        report.near("p_below_upper", below.p_less, &vector["p_below_upper"], 0.0);
        let non_inferior = above.greater_at_most(&alpha());
        let equivalent = non_inferior && below.less_at_most(&alpha());
        report.same("non-inferior", Some(non_inferior), vector["non_inferior_at_0_05"].as_bool());
        report.same("equivalent", Some(equivalent), vector["equivalent_at_0_05"].as_bool());
        if let Ok(interval) = inversion_interval(&deltas, &rational("0.1")) {
            report.same("lower limit", interval.lower > -margin.clone(), non_inferior);
            report.same("limits", interval.lower > -margin.clone() && interval.upper < margin, equivalent);
        }
    });
}

#[test]
fn guaranteed_limits_and_evidence() {
    section("bounded_betting", "vectors").check(7, |vector, report| {
        let deltas = lattice(vector);
        let interval = bounded_interval(&deltas, &alpha()).unwrap();
        report.near_absolute("lower", interval.lower, &vector["lower"], 1e-9);
        report.near_absolute("upper", interval.upper, &vector["upper"], 1e-9);
        let evidence = betting_evidence(&deltas).unwrap();
        report.near("above", evidence.ln_above_zero.exp(), &vector["capital_above_0"], CLOSE);
        report.near("below", evidence.ln_below_zero.exp(), &vector["capital_below_0"], CLOSE);
        report.near("e", evidence.ln_e.exp(), &vector["e_value"], CLOSE);
        report.near("p", evidence.p_anytime(), &(1.0 / vector["e_value"].as_f64().unwrap()).min(1.0).into(), CLOSE);
    });
}

#[test]
fn robust_estimate() {
    section("hodges_lehmann", "vectors").check(15, |vector, report| {
        let estimate = hodges_lehmann(&lattice(vector)).unwrap();
        report.same("exact", &estimate, &rational(text(&vector["hodges_lehmann_exact"])));
        report.near("as f64", to_f64(&estimate), &vector["hodges_lehmann"], 0.0);
    });
}

/// A set of ratios against the keys of a vector. Roots lie between sums of equal signs, so agreement is relative.
fn check_set(vector: &Value, set: Result<FiellerSet, Withheld>, report: &mut Report<'_>) {
    if let Some(reason) = vector["reason"].as_str() {
        report.same("reason", set.map_err(Withheld::as_str), Err(reason));
        return;
    }
    let set = set.unwrap();
    report.same("kind", set.as_str(), text(&vector["kind"]));
    let bound = |name: &str| vector[name].as_f64();
    match set {
        FiellerSet::Interval { lower, upper } => {
            report.near("lower", lower, &vector["lower"], CLOSE);
            report.near("upper", upper, &vector["upper"], CLOSE);
        }
        FiellerSet::TwoRays { below, above } => {
            report.near("below", below, &vector["below"], CLOSE);
            report.near("above", above, &vector["above"], CLOSE);
        }
        FiellerSet::WholeLine => report.same("limits", [bound("lower"), bound("below")], [None, None]),
    }
}

fn check_quadratic(vector: &Value, units: &[RatioUnit], report: &mut Report<'_>) {
    let numerators: Vec<Rational> = units.iter().map(|unit| unit.numerator.clone()).collect();
    let denominators: Vec<Rational> = units.iter().map(|unit| unit.denominator.clone()).collect();
    let result = ratio_of_means(units, &alpha());
    report.near("ratio", result.ratio_f64().unwrap(), &vector["ratio"], 0.0);
    if let Some(critical) = result.critical.filter(|_| !vector["t"].is_null()) {
        report.near("t", critical, &vector["t"], CLOSE);
        let quadratic = Quadratic::new(&numerators, &denominators, critical);
        report.near("a", to_f64(&quadratic.a), &vector["a"], CLOSE);
        report.near("b", to_f64(&quadratic.b), &vector["b"], CLOSE);
        report.near("c", to_f64(&quadratic.c), &vector["c"], CLOSE);
        report.near("discriminant", to_f64(&quadratic.discriminant()), &vector["discriminant"], CLOSE);
    }
    check_set(vector, result.limits, report);
}

#[test]
fn ratio_of_two_means() {
    section("ratio_fieller", "vectors").check(6, |vector, report| {
        let costs = rationals(&vector["cost_delta"]);
        let pairs = rationals(&vector["delta"]).into_iter().zip(costs);
        let units: Vec<RatioUnit> =
            pairs.map(|(numerator, denominator)| RatioUnit { numerator, denominator }).collect();
        check_quadratic(vector, &units, report);
    });
}

#[test]
fn share_of_the_possible_gain() {
    section("normalized_gain", "vectors").check(5, |vector, report| {
        let pairs = rationals(&vector["with"]).into_iter().zip(rationals(&vector["without"]));
        let units: Vec<ArmRates> = pairs.map(|(with, without)| ArmRates { with, without }).collect();
        let result = normalized_gain(&units, &alpha());
        let rounded = |value: Option<&Rational>| value.map(to_f64);
        report.same_or_null("compat", rounded(result.unless_harm()), &vector["compat_normalized_gain"]);
        report.same_or_null("hake", rounded(result.gain.as_ref().ok()), &vector["hake_gain_ratio_of_means"]);
        report.same_or_null("loss", rounded(result.relative_loss.as_ref()), &vector["relative_loss"]);
        report.same_or_null("change", rounded(result.normalized_change.as_ref()), &vector["normalized_change"]);
        report.same("changed", result.normalized_change_units, size(&vector["normalized_change_cases"]));
        if let Some(reason) = vector["reason"].as_str() {
            report.same("reason", result.gain.map_err(Withheld::as_str), Err(reason));
            report.same("no limits", result.limits.map_err(Withheld::as_str), Err(reason));
        } else if vector["fieller"].is_null() {
            // Three cases from 0 to 1: only a point would be left.
            report.same("no limits", result.limits, Err(Withheld::ConstantDeltas));
        } else {
            let as_ratio = units
                .iter()
                .map(|unit| RatioUnit {
                    numerator: &unit.with - &unit.without,
                    denominator: rational("1") - &unit.without,
                })
                .collect::<Vec<_>>();
            check_quadratic(&vector["fieller"], &as_ratio, report);
            check_set(&vector["fieller"], result.limits, report);
        }
    });
}

#[test]
fn ninetieth_percentile_with_a_bound() {
    section("quantile_p90", "vectors").check(11, |vector, report| {
        let values = floats(&vector["values"]);
        let result = ninetieth_percentile(&values).unwrap();
        report.same("n", result.n, values.len());
        report.near("type 7", result.value, &vector["type_7"], CLOSE);
        report.same_or_null("compat", p90(&values), &vector["compat"]);
        if vector["upper_95"].is_null() {
            report.same("no bound", result.upper, Err(Withheld::TooFewValues));
        } else {
            let upper = result.upper.unwrap();
            report.same("rank", upper.rank, size(&vector["upper_95_order_statistic"]));
            report.near("bound", upper.value, &vector["upper_95"], 0.0);
        }
    });
}

#[test]
fn noise_within_and_differences_between_cases() {
    section("variance_split", "vectors").check(2, |vector, report| {
        let arm =
            |name: &str| -> Vec<Vec<Rational>> { vector[name].as_array().unwrap().iter().map(rationals).collect() };
        let (with, without) = (arm("with"), arm("without"));
        let units: Vec<UnitSpread> = with
            .iter()
            .zip(&without)
            .map(|(with, without)| UnitSpread {
                delta: mean(with).unwrap() - mean(without).unwrap(),
                noise: run_noise(&Stratum { with, without }),
            })
            .collect();
        let split = variance_split(&units).unwrap();
        report.near("total", to_f64(&split.total), &vector["delta_variance"], 0.0);
        report.near("within", to_f64(&split.within.unwrap()), &vector["within_mean"], 0.0);
        report.same("within cases", split.within_units, size(&vector["within_cases"]));
        report.near("between", to_f64(&split.between.unwrap()), &vector["between_variance"], 0.0);
        report.near("share", to_f64(&split.noise_share.unwrap()), &vector["noise_share"], 0.0);
    });
}

#[test]
fn what_missing_runs_could_do() {
    section("missingness_bounds", "vectors").check(3, |vector, report| {
        let planned = count(&vector["planned_runs_per_arm"]);
        let arm = |case: &Value, scored: &str, passed: &str| PlannedRuns {
            planned,
            scored: count(&case[scored]),
            rates: Rational::from_integer(count(&case[passed]).into()),
        };
        let cases: Vec<PlannedCase> = vector["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| PlannedCase {
                with: arm(case, "with_scored", "with_passed"),
                without: arm(case, "without_scored", "without_passed"),
            })
            .collect();
        let bounds = missingness_bounds(&cases).unwrap();
        report.near("worst", to_f64(&bounds.worst), &vector["lift_worst"], 0.0);
        report.near("best", to_f64(&bounds.best), &vector["lift_best"], 0.0);
    });
}

#[test]
fn several_skills() {
    section("random_effects", "vectors").check(3, |vector, report| {
        let pairs = floats(&vector["effects"]).into_iter().zip(floats(&vector["se"]));
        let skills: Vec<SkillEffect> =
            pairs.map(|(lift, standard_error)| SkillEffect { lift, standard_error }).collect();
        let result = random_effects(&skills, &alpha()).unwrap();
        // The row of equal effects holds rounding noise in place of 0, so agreement is absolute.
        report.near_absolute("q", result.q, &vector["q"], 1e-12 * result.q.max(1.0));
        report.near_absolute("i2", result.i_squared, &vector["i2"], CLOSE);
        report.near_absolute("tau2", result.tau_squared, &vector["tau2_dl"], CLOSE);
        report.near("mean", result.mean, &vector["mean"], CLOSE);
        report.near("plain se", result.standard_error_plain, &vector["se_plain"], CLOSE);
        let hartung_knapp = result.standard_error_hartung_knapp;
        report.near_absolute("Hartung-Knapp se", hartung_knapp, &vector["se_hartung_knapp"], CLOSE);
        report.near("se", result.standard_error, &vector["se_reported"], CLOSE);
        report.same("df", result.degrees_of_freedom, size(&vector["df"]));
        report.near_absolute("lower", result.lower, &vector["lower"], CLOSE);
        report.near_absolute("upper", result.upper, &vector["upper"], CLOSE);
    });
}
