//! Vectors from scipy, statsmodels, mpmath and exact integer programs, to full double precision.

use num_bigint::BigUint;
use serde_json::Value;

use super::{Report, Section, count, floats, lattice, load, rational, rationals, size, text};
use crate::binary_power::{CaseMoves, binary_cases_needed, binary_power};
use crate::describe::{p90, p90_index};
use crate::interval::{equivalence, padded_t, paired_t};
use crate::multiplicity::{benjamini_hochberg, benjamini_yekutieli, holm, tarone};
use crate::normal::normal_critical;
use crate::permutation::{Stratum, permutation_test};
use crate::power::{DeltaSpread, PowerGoal, t_detectable_lift};
use crate::proportion::{clopper_pearson, regressed_share_upper, wilson};
use crate::rational::{Rational, from_f64, to_f64};
use crate::reliability::{pass_estimate, pass_interval};
use crate::sign_flip::{SignFlip, sign_flip};
use crate::special::student_t_quantile;
use crate::t_power::{normal_cases_needed, t_test_cases_needed, t_test_detectable_lift, t_test_power};
use crate::verdict::{Thresholds, minimum_cases, minimum_cases_one_sided, verdict};
use crate::withheld::Withheld;

/// Relative agreement asked of closed forms and special functions.
pub(super) const CLOSE: f64 = 1e-12;

/// What the noncentral t law of scipy leaves.
const T_POWER: f64 = 1e-10;

pub(super) fn section(name: &'static str, list: &str) -> Section {
    Section::new(name, &load("statistics-oracle.json")["sections"][name][list])
}

/// A list that nobody reads would be a promise that nobody keeps. The calls are looked for in the tests themselves.
#[test]
fn every_list_of_every_section_is_read() {
    let tests = [
        include_str!("companions.rs"),
        include_str!("laws.rs"),
        include_str!("oracle.rs"),
        include_str!("raters.rs"),
        include_str!("rates.rs"),
    ];
    let tests = tests.map(|source| source.split_whitespace().collect::<String>());
    let oracle = load("statistics-oracle.json");
    let mut unread = Vec::new();
    let mut lists = 0;
    for (name, section) in oracle["sections"].as_object().unwrap() {
        for (list, _) in section.as_object().unwrap().iter().filter(|(_, value)| value.is_array()) {
            lists += 1;
            let call = format!("section(\"{name}\",\"{list}\").check(");
            if !tests.iter().any(|source| source.contains(&call)) {
                unread.push(call);
            }
        }
    }
    assert_eq!(unread, Vec::<String>::new());
    assert_eq!((oracle["sections"].as_object().unwrap().len(), lists), (27, 39));
}

fn check_counts(vector: &Value, result: &SignFlip, report: &mut Report<'_>) {
    let counts = result.counts.clone().unwrap();
    let expected = |name: &str| text(&vector[name]).parse::<BigUint>().unwrap();
    report.same("total", counts.total, expected("total"));
    report.same("two_sided", counts.two_sided, expected("hits_two_sided"));
    report.same("strict", counts.two_sided_strict, expected("hits_strict"));
    report.same("greater", counts.greater, expected("hits_greater"));
    report.same("less", counts.less, expected("hits_less"));
    if result.moved > 0 && !vector["hits_equal"].is_null() {
        report.same("equal", counts.equal, expected("hits_equal"));
    }
}

fn check_p_values(vector: &Value, result: &SignFlip, report: &mut Report<'_>, tolerance: f64) {
    report.same("moved", result.moved, size(&vector["moved"]));
    for (name, value) in [
        ("p_two_sided", result.p_two_sided),
        ("mid_p_two_sided", result.mid_p),
        ("p_greater", result.p_greater),
        ("p_less", result.p_less),
        ("mid_p_greater", result.mid_p_greater),
        ("mid_p_less", result.mid_p_less),
        ("p_floor_two_sided", result.floor),
        ("p_floor_one_sided", result.floor_one_sided),
    ] {
        if !vector[name].is_null() {
            report.near(name, value, &vector[name], tolerance);
        }
    }
    if !vector["mean"].is_null() {
        report.near("mean", result.estimate_f64().unwrap(), &vector["mean"], 0.0);
    }
}

#[test]
fn sign_flip_on_a_lattice() {
    section("sign_flip_lattice", "vectors").check(242, |vector, report| {
        let result = sign_flip(&lattice(vector));
        check_counts(vector, &result, report);
        check_p_values(vector, &result, report, 0.0);
    });
}

#[test]
fn sign_flip_on_a_lattice_with_many_units() {
    section("sign_flip_lattice", "large").check(6, |vector, report| {
        let result = sign_flip(&lattice(vector));
        report.same("bound", result.p_is_bound, false);
        check_p_values(vector, &result, report, CLOSE);
    });
}

#[test]
fn sign_flip_on_real_numbers() {
    section("sign_flip_real", "vectors").check(60, |vector, report| {
        let deltas: Vec<Rational> = floats(&vector["deltas"]).into_iter().map(|it| from_f64(it).unwrap()).collect();
        let result = sign_flip(&deltas);
        check_counts(vector, &result, report);
        check_p_values(vector, &result, report, 0.0);
    });
}

#[test]
fn padded_interval_and_verdict() {
    section("padded_t", "vectors").check(16, |vector, report| {
        let deltas = lattice(vector);
        let alpha = rational("0.05");
        let test = sign_flip(&deltas);
        let interval = padded_t(&deltas, &alpha, &test);
        report.near("p_two_sided", test.p_two_sided, &vector["p_two_sided"], CLOSE);
        if let Some(reason) = vector["reason"].as_str() {
            report.same("reason", interval.map_err(Withheld::as_str).err(), Some(reason));
        } else {
            let interval = interval.unwrap();
            report.near("pad", interval.pad, &vector["pad"], 0.0);
            report.near("center", interval.center, &vector["center"], 0.0);
            report.near("se", interval.standard_error, &vector["se"], 0.0);
            report.near("t_crit", interval.critical, &vector["t_crit"], CLOSE);
            report.same("df", interval.degrees_of_freedom, size(&vector["df"]));
            // Ends near 0 come from a difference, so agreement is absolute there.
            report.near_absolute("lower_raw", interval.lower_unclipped, &vector["lower_raw"], CLOSE);
            report.near_absolute("upper_raw", interval.upper_unclipped, &vector["upper_raw"], CLOSE);
            report.near_absolute("lower", interval.lower, &vector["lower"], CLOSE);
            report.near_absolute("upper", interval.upper, &vector["upper"], CLOSE);
        }
        for min_lift in ["0.1", "0.2"] {
            let thresholds = Thresholds::new(alpha.clone(), rational(min_lift)).unwrap();
            let outcome = verdict(&test, &padded_t(&deltas, &alpha, &test), &thresholds);
            let expected = &vector[format!("verdict_min_lift_{min_lift}")];
            report.same(min_lift, outcome.code.as_str(), text(expected));
            report.same("size_uncertain", outcome.size_uncertain, vector["size_uncertain"].as_bool().unwrap_or(false));
            report.same("reasons", outcome.reasons.is_empty(), outcome.code.as_str() != "too_few_cases");
            if let Ok(shown) = equivalence(&deltas, &alpha, &rational(min_lift)) {
                let expected = &vector[format!("equivalent_within_{min_lift}")];
                report.same("equivalent", Some(shown.equivalent), expected.as_bool());
                report.near_absolute("lower_90", shown.lower, &vector["lower_90"], CLOSE);
                report.near_absolute("upper_90", shown.upper, &vector["upper_90"], CLOSE);
            }
        }
    });
}

#[test]
fn students_interval() {
    section("paired_t", "vectors").check(12, |vector, report| {
        let deltas = lattice(vector);
        for (confidence, alpha) in [("0.95", "0.05"), ("0.9", "0.1")] {
            let result = paired_t(&deltas, &rational(alpha)).unwrap();
            report.near("mean", result.mean, &vector["mean"], 0.0);
            report.near("sd", result.standard_deviation, &vector["sd"], CLOSE);
            report.near("se", result.standard_error, &vector["se"], CLOSE);
            report.near("t", result.t, &vector["t"], CLOSE);
            report.same("df", result.degrees_of_freedom, size(&vector["df"]));
            report.near("p_two_sided", result.p_two_sided, &vector["p_two_sided"], CLOSE);
            report.near("p_greater", result.p_greater, &vector["p_greater"], CLOSE);
            report.near("t_crit", result.critical, &vector[format!("t_crit_{confidence}")], CLOSE);
            report.near_absolute("lower", result.lower, &vector[format!("lower_{confidence}")], CLOSE);
            report.near_absolute("upper", result.upper, &vector[format!("upper_{confidence}")], CLOSE);
        }
    });
}

#[test]
fn t_quantiles() {
    section("paired_t", "t_quantiles").check(65, |vector, report| {
        let q = to_f64(&rational(text(&vector["q"])));
        let freedom = size(&vector["df"]) as f64;
        report.near(&format!("q {q} df {freedom}"), student_t_quantile(q, freedom), &vector["value"], CLOSE);
    });
}

#[test]
fn proportion_limits() {
    let z = &load("statistics-oracle.json")["sections"]["proportion_intervals"]["z_0_975"];
    assert!((normal_critical(0.025) / z.as_f64().unwrap() - 1.0).abs() < 1e-15);
    section("proportion_intervals", "vectors").check(20, |vector, report| {
        let limits = clopper_pearson(count(&vector["c"]), count(&vector["n"]), 0.05).unwrap();
        report.near("lower", limits.lower, &vector["clopper_pearson_lower"], CLOSE);
        report.near("upper", limits.upper, &vector["clopper_pearson_upper"], CLOSE);
        let wilson = wilson(count(&vector["c"]), count(&vector["n"]), 0.05).unwrap();
        report.near("Wilson's lower", wilson.lower, &vector["wilson_lower"], CLOSE);
        report.near("Wilson's upper", wilson.upper, &vector["wilson_upper"], CLOSE);
        if !vector["closed_form_upper"].is_null() {
            report.near("closed form", limits.upper, &vector["closed_form_upper"], CLOSE);
        }
    });
}

#[test]
fn share_of_cases_that_could_get_worse() {
    section("harmed_share_bound", "vectors").check(13, |vector, report| {
        let upper = regressed_share_upper(size(&vector["harmed"]), size(&vector["cases"])).unwrap();
        report.near("upper", upper, &vector["upper_95_one_sided"], CLOSE);
    });
}

#[test]
fn repeated_success() {
    section("pass_at_k", "vectors").check(30, |vector, report| {
        match pass_estimate(count(&vector["n"]), count(&vector["c"]), count(&vector["k"])) {
            Ok(estimate) => {
                report.near("pass_at_k", estimate.pass_at_k(), &vector["pass_at_k"], CLOSE);
                report.near("exact", to_f64(&estimate.pass_at_k_exact()), &vector["pass_at_k"], 0.0);
                report.near_absolute("pass_hat_k", estimate.pass_hat_k(), &vector["pass_hat_k"], 1e-300);
                report.near("complement", estimate.one_minus_pass_at_k(), &vector["one_minus_pass_at_k"], CLOSE);
            }
            Err(reason) => report.same("reason", reason.as_str(), text(&vector["reason"])),
        }
    });
}

#[test]
fn repeated_success_limits() {
    section("pass_at_k", "case_intervals").check(9, |vector, report| {
        let limits = pass_interval(count(&vector["n"]), count(&vector["c"]), count(&vector["k"]), 0.05).unwrap();
        report.near("p_lower", limits.one_run.lower, &vector["p_lower"], CLOSE);
        report.near("p_upper", limits.one_run.upper, &vector["p_upper"], CLOSE);
        report.near("pass_at_k_lower", limits.pass_at_k.lower, &vector["pass_at_k_lower"], CLOSE);
        report.near("pass_at_k_upper", limits.pass_at_k.upper, &vector["pass_at_k_upper"], CLOSE);
        report.near("pass_hat_k_lower", limits.pass_hat_k.lower, &vector["pass_hat_k_lower"], 1e-11);
        report.near("pass_hat_k_upper", limits.pass_hat_k.upper, &vector["pass_hat_k_upper"], 1e-11);
    });
}

#[test]
fn permutation_within_cases() {
    section("stratified_permutation", "vectors").check(7, |vector, report| {
        let strata = vector["strata"].as_array().unwrap();
        let arms: Vec<_> = strata.iter().map(|it| (rationals(&it["with"]), rationals(&it["without"]))).collect();
        let strata: Vec<_> = arms.iter().map(|(with, without)| Stratum { with, without }).collect();
        let result = permutation_test(&strata).unwrap();
        report.near("statistic", to_f64(&result.statistic()), &vector["sum_of_mean_differences"], 0.0);
        for (name, count) in [
            ("total", &result.counts.total),
            ("hits_two_sided", &result.counts.two_sided),
            ("hits_strict", &result.counts.two_sided_strict),
            ("hits_greater", &result.counts.greater),
            ("hits_less", &result.counts.less),
        ] {
            report.same(name, count.to_string().as_str(), text(&vector[name]));
        }
        report.near("p_two_sided", result.p_two_sided, &vector["p_two_sided"], 0.0);
        report.near("p_greater", result.p_greater, &vector["p_greater"], 0.0);
        report.near("p_less", result.p_less, &vector["p_less"], 0.0);
        report.near("p_floor_two_sided", result.floor, &vector["p_floor_two_sided"], 0.0);
    });
}

#[test]
fn adjusted_p_values() {
    section("multiplicity", "vectors").check(10, |vector, report| {
        let p_values: Vec<Option<f64>> = floats(&vector["p"]).into_iter().map(Some).collect();
        for (name, adjusted) in
            [("holm", holm(&p_values)), ("bh", benjamini_hochberg(&p_values)), ("by", benjamini_yekutieli(&p_values))]
        {
            let expected = vector[name].as_array().unwrap();
            report.same("length", adjusted.len(), expected.len());
            for (actual, expected) in adjusted.into_iter().zip(expected) {
                report.near(name, actual.unwrap(), expected, CLOSE);
            }
        }
    });
}

#[test]
fn screening_by_attainable_p() {
    section("multiplicity", "tarone").check(4, |vector, report| {
        let tests: Vec<(f64, f64)> = floats(&vector["p"]).into_iter().zip(floats(&vector["floor"])).collect();
        let screened = tarone(&tests, vector["alpha"].as_f64().unwrap());
        let expected: Vec<bool> = vector["reject"].as_array().unwrap().iter().map(|it| it.as_bool().unwrap()).collect();
        report.same("k", screened.k, size(&vector["k"]));
        report.same("reject", screened.reject, expected);
    });
}

#[test]
fn cases_for_the_t_test() {
    section("power", "t_cases").check(8, |vector, report| {
        let lift = vector["standardised_lift"].as_f64().unwrap();
        let cases = size(&vector["t_cases"]);
        report.same("normal", normal_cases_needed(lift, 0.05), Some(size(&vector["normal_formula_cases"])));
        report.same("t", t_test_cases_needed(lift, 0.05), Some(cases));
        report.near("power", t_test_power(cases, lift, 0.05).unwrap(), &vector["power_at_t_cases"], T_POWER);
    });
}

#[test]
fn detectable_lift() {
    section("power", "mde").check(10, |vector, report| {
        let lift = t_detectable_lift(size(&vector["cases"]), vector["sd"].as_f64().unwrap(), 0.05);
        report.near("mde_formula", lift, &vector["mde_formula"], CLOSE);
        let cases = size(&vector["cases"]);
        let standardised = t_test_detectable_lift(cases, 0.05).unwrap();
        report.near("its power", t_test_power(cases, standardised, 0.05).unwrap(), &0.8.into(), CLOSE);
        // The root finder behind this column stops early: with six cases its lift has the power 0.80000019.
        let lift = standardised * vector["sd"].as_f64().unwrap();
        report.near("mde_noncentral_t", lift, &vector["mde_noncentral_t"], 3e-5);
    });
}

#[test]
fn fewest_cases_for_any_significance() {
    section("power", "min_cases_for_any_significance").check(4, |vector, report| {
        let alpha = rational(&vector["alpha"].to_string());
        report.same("two-sided", minimum_cases(&alpha), Some(size(&vector["two_sided"])));
        report.same("one-sided", minimum_cases_one_sided(&alpha), Some(size(&vector["one_sided"])));
    });
}

#[test]
fn repetitions_against_cases() {
    section("power", "projection").check(5, |vector, report| {
        let number = |name: &str| vector[name].as_f64().unwrap();
        let spread = DeltaSpread {
            between_cases: number("between_case_sd"),
            runs_with: number("within_sd_with"),
            runs_without: number("within_sd_without"),
        };
        let repetitions = size(&vector["repetitions"]);
        let needed = spread.cases_needed(repetitions, number("target_lift"), &rational("0.05"));
        report.near("sd", spread.of_case_delta(repetitions), &vector["case_delta_sd"], CLOSE);
        report.same("cases", needed, Some(size(&vector["cases_needed"])));
    });
}

fn moves(vector: &Value) -> CaseMoves {
    CaseMoves { up: to_f64(&rational(text(&vector["p_up"]))), down: to_f64(&rational(text(&vector["p_down"]))) }
}

#[test]
fn power_with_one_run_per_arm() {
    section("power", "exact_binary").check(11, |vector, report| {
        let power = binary_power(size(&vector["cases"]), moves(vector), &rational("0.05")).unwrap();
        report.near("power", power, &vector["power_two_sided"], CLOSE);
    });
}

#[test]
fn cases_with_one_run_per_arm() {
    section("power", "needed_binary").check(7, |vector, report| {
        let goal = PowerGoal::new(rational("0.05"), 0.8).unwrap();
        let plan = binary_cases_needed(moves(vector), &goal).unwrap();
        report.same("first", plan.first, size(&vector["first_cases_with_power_0_8"]));
        report.same("stays", plan.stays_from, size(&vector["stays_above_from"]));
        report.near("power", plan.power_at_first, &vector["power_at_first"], CLOSE);
    });
}

#[test]
fn ninetieth_percentile_of_the_compat_keys() {
    section("quantile_p90", "vectors").check(11, |vector, report| {
        let values = floats(&vector["values"]);
        report.same("index", p90_index(values.len()), Some(size(&vector["compat_index"])));
        report.same_or_null("value", p90(&values), &vector["compat"]);
    });
}
