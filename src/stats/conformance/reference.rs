//! Vectors of the 0.6 output format and its exact targets.

use num_bigint::BigUint;

use super::{Section, count, floats, load, rational, rationals, size, text};
use crate::betting::bounded_interval;
use crate::compat::CompatSignificance;
use crate::describe::{cost_summary, p90, summary};
use crate::inversion::inversion_interval;
use crate::multiplicity::{benjamini_hochberg, holm};
use crate::permutation::{Stratum, permutation_test};
use crate::proportion::clopper_pearson;
use crate::rational::{from_f64, mean, round_f64_half_even};
use crate::reliability::{pass_estimate, pass_interval};
use crate::sign_flip::sign_flip;
use crate::withheld::Withheld;

pub(super) fn section(name: &'static str) -> Section {
    Section::new(name, &load("statistics.json")[name])
}

/// A section that nobody reads would be a promise that nobody keeps.
#[test]
fn every_section_is_a_test() {
    let sections = load("statistics.json");
    let lists = sections.as_object().unwrap().iter().filter(|(_, section)| section.is_array() || section.is_object());
    let names: Vec<&str> = lists.map(|(name, _)| name.as_str()).collect();
    let here = [
        "sign_flip",
        "sign_flip_float_inputs",
        "two_sample_permutation",
        "pass_at_k",
        "p90",
        "stats",
        "cost_stats",
        "rng_reference",
        "stratified_permutation_target",
        "holm_bh_target",
        "bounded_interval_target",
        "pass_at_k_interval_target",
    ];
    // Tables of pairs and measurements are blocks of the report: the package that writes it tests them.
    let of_the_report = ["pair_tables", "measurement_stats"];
    assert_eq!(names.len(), here.len() + of_the_report.len(), "{names:?}");
    assert!(names.iter().all(|name| here.contains(name) || of_the_report.contains(name)), "{names:?}");
}

#[test]
fn sign_flip_counts_and_block() {
    section("sign_flip").check(25, |vector, report| {
        let deltas = rationals(&vector["deltas"]);
        let result = sign_flip(&deltas);
        let block = CompatSignificance::new(&result);
        let peer = &vector["peer"];
        report.same("n", block.n as u64, count(&peer["n"]));
        report.same_or_null("observed_mean_delta", block.observed_mean_delta, &peer["observed_mean_delta"]);
        if peer["method"] != "sign-flip-sampled" {
            report.same("method", block.method, text(&peer["method"]));
            report.same_or_null("p_value", block.p_value, &peer["p_value"]);
            report.same("significant", Some(block.significant_at_0_05), peer["significant_at_0_05"].as_bool());
            // Unrounded, and in the later state of the reference with p as its own bound.
            let p = (result.n > 0).then_some(result.p_two_sided);
            let later = &vector["post_0_6_0"];
            for unrounded in [&vector["peer_raw"]["p_value"], &later["p_value"], &later["p_value_upper_bound"]] {
                report.same_or_null("unrounded p", p, unrounded);
            }
        }
        let exact = &vector["exact"];
        if exact.is_null() {
            report.same("no units", result.n, 0);
            return;
        }
        let counts = result.counts.clone().unwrap();
        // The vectors let zero deltas double hits and total alike.
        let zeros = result.unchanged();
        let expected = |name: &str| text(&exact[name]).parse::<BigUint>().unwrap();
        report.same("hits", counts.two_sided << zeros, expected("hits"));
        report.same("total", counts.total << zeros, expected("total"));
        report.near("p_two_sided", result.p_two_sided, &exact["p_two_sided"], 1e-15);
        report.near("mid_p", result.mid_p, &exact["mid_p_two_sided"], 1e-15);
        report.near("p_greater", result.p_greater, &exact["p_greater"], 1e-15);
        report.near("p_less", result.p_less, &exact["p_less"], 1e-15);
        report.near("floor", result.floor, &exact["p_floor_two_sided"], 1e-15);
        report.same("moved", result.moved as u64, count(&exact["nonzero"]));
        report.same("decision", result.at_most(&rational("1/20")), exact["p_two_sided"].as_f64().unwrap() <= 0.05);
    });
}

#[test]
fn sign_flip_limits() {
    let (mut bounded, mut withheld) = (0, 0);
    section("sign_flip").check(25, |vector, report| {
        // Missing without units and for 40 and 60 units.
        let expected = &vector["interval_95"];
        let Some(is_bounded) = expected["bounded"].as_bool() else { return };
        match inversion_interval(&rationals(&vector["deltas"]), &rational("1/20")) {
            Ok(interval) => {
                bounded += 1;
                report.same("bounded", true, is_bounded);
                report.same("lower", &interval.lower, &rational(text(&expected["lower_exact"])));
                report.same("upper", &interval.upper, &rational(text(&expected["upper_exact"])));
                report.near("lower as f64", interval.lower_f64(), &expected["lower"], 0.0);
                report.near("upper as f64", interval.upper_f64(), &expected["upper"], 0.0);
            }
            Err(reason) => {
                withheld += 1;
                report.same("bounded", false, is_bounded);
                report.same("reason", reason.as_str(), text(&expected["reason"]));
            }
        }
    });
    assert_eq!((bounded, withheld), (11, 11));
}

#[test]
fn guaranteed_limits() {
    Section::new("bounded_interval_target", &load("statistics.json")["bounded_interval_target"]["vectors"]).check(
        7,
        |vector, report| {
            let interval = bounded_interval(&rationals(&vector["deltas"]), &rational("1/20")).unwrap();
            // The targets carry nine decimals.
            report.near_absolute("lower", interval.lower, &vector["lower"], 5.1e-10);
            report.near_absolute("upper", interval.upper, &vector["upper"], 5.1e-10);
        },
    );
}

#[test]
fn rounded_inputs_break_ties_that_exact_thirds_keep() {
    section("sign_flip_float_inputs").check(1, |vector, report| {
        let rounded: Vec<_> = floats(&vector["deltas"]).into_iter().map(|delta| from_f64(delta).unwrap()).collect();
        let block = CompatSignificance::of(&rounded);
        report.same_or_null("p_value", block.p_value, &vector["peer"]["p_value"]);
        report.same_or_null("mean", block.observed_mean_delta, &vector["peer"]["observed_mean_delta"]);
        let exact = sign_flip(&["1", "-1/3", "-1/3", "-1/3", "1"].map(rational));
        report.same("p of exact thirds", exact.p_two_sided, 0.625);
    });
}

#[test]
fn permutation_of_two_samples() {
    section("two_sample_permutation").check(11, |vector, report| {
        let arm = |name: &str| -> Vec<_> {
            floats(&vector[name]).into_iter().map(|value| from_f64(value).unwrap()).collect()
        };
        let (with, without) = (arm("a"), arm("b"));
        let outcome = permutation_test(&[Stratum { with: &with, without: &without }]);
        let (peer, exact) = (&vector["peer"], &vector["exact"]);
        if exact.is_null() {
            report.same("empty arm", outcome, Err(Withheld::NoEligiblePairs));
            return;
        }
        let result = outcome.unwrap();
        report.same("n_a", result.runs_with, size(&peer["n_a"]));
        report.same("n_b", result.runs_without, size(&peer["n_b"]));
        let delta = round_f64_half_even(result.mean_delta_f64(), 6);
        report.same_or_null("observed_delta", Some(delta), &peer["observed_delta"]);
        report.same("hits", result.counts.two_sided.to_string().as_str(), text(&exact["hits"]));
        report.same("total", result.counts.total.to_string().as_str(), text(&exact["total"]));
        report.near("p_two_sided", result.p_two_sided, &exact["p_two_sided"], 0.0);
        if peer["method"] == "two-sample-permutation-exact" {
            report.near("peer_raw_p", result.p_two_sided, &vector["peer_raw_p"], 1e-15);
            let p = round_f64_half_even(result.p_two_sided, 6);
            report.same_or_null("p_value", Some(p), &peer["p_value"]);
            let significant = result.at_most(&rational("0.05"));
            report.same("significant", Some(significant), peer["significant_at_0_05"].as_bool());
        }
    });
}

#[test]
fn permutation_within_cases() {
    section("stratified_permutation_target").check(5, |vector, report| {
        let cases = vector["cases"].as_array().unwrap();
        let arms: Vec<_> = cases.iter().map(|it| (rationals(&it["with"]), rationals(&it["without"]))).collect();
        let strata: Vec<_> = arms.iter().map(|(with, without)| Stratum { with, without }).collect();
        let result = permutation_test(&strata).unwrap();
        let exact = &vector["exact"];
        report.same("strata", result.strata, cases.len());
        report.near("mean_delta", result.mean_delta_f64(), &exact["mean_delta"], 0.0);
        report.same("hits", result.counts.two_sided.to_string().as_str(), text(&exact["hits"]));
        report.same("total", result.counts.total.to_string().as_str(), text(&exact["total"]));
        report.near("p_two_sided", result.p_two_sided, &exact["p_two_sided"], 0.0);
        // The same cases, one delta each: the test with the case as the unit.
        let deltas: Vec<_> = arms.iter().map(|(with, without)| mean(with).unwrap() - mean(without).unwrap()).collect();
        let flips = sign_flip(&deltas);
        let expected = &vector["sign_flip_on_case_means"];
        report.near("p of case means", flips.p_two_sided, &expected["p_two_sided"], 0.0);
        report.near("mid-p of case means", flips.mid_p, &expected["mid_p_two_sided"], 0.0);
        report.near("floor of case means", flips.floor, &expected["p_floor_two_sided"], 0.0);
        report.same("moved", flips.moved, size(&expected["nonzero"]));
    });
}

#[test]
fn repeated_success() {
    section("pass_at_k").check(20, |vector, report| {
        let estimate = pass_estimate(count(&vector["n"]), count(&vector["c"]), count(&vector["k"])).ok();
        report.same_or_null("pass_at_k", estimate.as_ref().map(|it| it.pass_at_k()), &vector["pass_at_k"]);
        report.same_or_null("pass_hat_k", estimate.as_ref().map(|it| it.pass_hat_k()), &vector["pass_hat_k"]);
    });
}

#[test]
fn repeated_success_limits() {
    section("pass_at_k_interval_target").check(6, |vector, report| {
        let (n, c, k) = (count(&vector["n"]), count(&vector["c"]), count(&vector["k"]));
        let limits = pass_interval(n, c, k, 0.05).unwrap();
        report.same("one run", Ok(limits.one_run), clopper_pearson(c, n, 0.05));
        for (name, value) in [
            ("p_lower", limits.one_run.lower),
            ("p_upper", limits.one_run.upper),
            ("pass_at_k_lower", limits.pass_at_k.lower),
            ("pass_at_k_upper", limits.pass_at_k.upper),
            ("pass_hat_k_lower", limits.pass_hat_k.lower),
            ("pass_hat_k_upper", limits.pass_hat_k.upper),
        ] {
            // The targets carry nine decimals.
            report.near_absolute(name, value, &vector[name], 5.1e-10);
        }
    });
}

#[test]
fn ninetieth_percentile() {
    section("p90").check(11, |vector, report| {
        report.same_or_null("p90", p90(&floats(&vector["values"])), &vector["p90"]);
    });
}

#[test]
fn summaries() {
    section("stats").check(9, |vector, report| {
        let actual = summary(&floats(&vector["values"]));
        let peer = &vector["peer"];
        report.same_or_null("mean", actual.mean, &peer["mean"]);
        report.same_or_null("stddev", actual.stddev, &peer["stddev"]);
        report.same_or_null("min", actual.min, &peer["min"]);
        report.same_or_null("max", actual.max, &peer["max"]);
        report.same_or_null("median", actual.median, &peer["median"]);
        report.same("n", actual.n as u64, count(&peer["n"]));
    });
}

#[test]
fn cost_summaries() {
    section("cost_stats").check(5, |vector, report| {
        let actual = cost_summary(&floats(&vector["values"]));
        let peer = &vector["peer"];
        report.same_or_null("sum", actual.sum, &peer["sum"]);
        report.same_or_null("mean", actual.mean, &peer["mean"]);
        report.same_or_null("median", actual.median, &peer["median"]);
        report.same_or_null("p90", actual.p90, &peer["p90"]);
        report.same("n", actual.n as u64, count(&peer["n"]));
    });
}

#[test]
fn adjusted_p_values() {
    section("holm_bh_target").check(3, |vector, report| {
        let p_values: Vec<Option<f64>> = floats(&vector["p"]).into_iter().map(Some).collect();
        let rounded = |adjusted: Vec<Option<f64>>| -> Vec<f64> {
            adjusted.into_iter().flatten().map(|p| round_f64_half_even(p, 12)).collect()
        };
        report.same("holm", rounded(holm(&p_values)), floats(&vector["holm_adjusted"]));
        report.same("bh", rounded(benjamini_hochberg(&p_values)), floats(&vector["bh_adjusted"]));
    });
}
