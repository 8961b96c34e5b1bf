//! The same source as `oracle`, for clustered means, the exact bootstrap and p-values from draws.

use num_bigint::BigUint;
use num_traits::One;
use serde_json::Value;

use super::oracle::{CLOSE, section};
use super::{Report, count, floats, lattice, rational, rationals, size, text};
use crate::bootstrap::{LatticeInterval, bias_correction, bootstrap_interval, exact_bootstrap};
use crate::cluster::{ClusterInterval, clustered_mean};
use crate::hodges_lehmann::leave_one_out;
use crate::rational::{Rational, rate, to_f64};
use crate::sampled::sampled_p;
use crate::sign_flip::sign_flip;
use crate::special::binomial_chance;
use crate::withheld::Withheld;

fn check_cluster_interval(vector: &Value, kind: &str, actual: ClusterInterval, report: &mut Report<'_>) {
    let expected = |name: &str| &vector[format!("{name}_{kind}")];
    report.near(kind, actual.standard_error, expected("se"), CLOSE);
    // Ends near 0 come from a difference, so agreement is absolute there.
    report.near_absolute(kind, actual.lower, expected("lower"), CLOSE * actual.lower.abs().max(1.0));
    report.near_absolute(kind, actual.upper, expected("upper"), CLOSE * actual.upper.abs().max(1.0));
}

#[test]
fn means_over_clusters() {
    section("cluster_robust", "vectors").check(5, |vector, report| {
        let mut clusters: Vec<Vec<Rational>> = Vec::new();
        for (delta, cluster) in rationals(&vector["deltas"]).into_iter().zip(vector["cluster"].as_array().unwrap()) {
            clusters.resize_with(clusters.len().max(size(cluster) + 1), Vec::new);
            clusters[size(cluster)].push(delta);
        }
        let result = clustered_mean(&clusters, &rational("0.05")).unwrap();
        report.near("mean", to_f64(&result.mean), &vector["run_weighted_mean"], 0.0);
        report.near("cluster mean", to_f64(&result.cluster_mean), &vector["case_weighted_mean"], 0.0);
        report.near("its se", result.cluster_mean_standard_error, &vector["case_weighted_se"], CLOSE);
        report.near("CR0", result.standard_error_uncorrected, &vector["se_cr0"], CLOSE);
        report.near("df of CR1", result.cr1.degrees_of_freedom, &vector["df_cr1"], 0.0);
        report.near("df of CR2", result.cr2.degrees_of_freedom, &vector["df_cr2_satterthwaite"], CLOSE);
        check_cluster_interval(vector, "cr1", result.cr1, report);
        check_cluster_interval(vector, "cr2", result.cr2, report);
        report.same("dominant", result.has_dominant_cluster(), ["two", "dominant"].contains(&text(&vector["id"])));
    });
}

fn check_lattice_interval(vector: &Value, kind: &str, actual: &LatticeInterval, report: &mut Report<'_>) {
    for (end, value) in [("lower", &actual.lower), ("upper", &actual.upper)] {
        let name = format!("{kind}_{end}");
        report.same(&name, value, &rational(text(&vector[format!("{name}_exact")])));
        report.near(&name, to_f64(value), &vector[name.as_str()], 0.0);
    }
}

#[test]
fn bootstrap_without_resampling() {
    section("bootstrap_exact", "vectors").check(7, |vector, report| {
        let deltas = lattice(vector);
        let alpha = rational("0.05");
        let result = exact_bootstrap(&deltas, &alpha).unwrap();
        report.same("n", result.n, size(&vector["n"]));
        report.near("below", result.share_below, &vector["share_below"], 0.0);
        report.near("equal", result.share_equal, &vector["share_equal"], 0.0);
        report.near("z0", result.bias_correction, &vector["bias_correction_z0"], CLOSE);
        report.near("acceleration", result.acceleration, &vector["acceleration"], CLOSE);
        report.near("lower level", result.bca_level_lower, &vector["bca_level_lower"], CLOSE);
        report.near("upper level", result.bca_level_upper, &vector["bca_level_upper"], CLOSE);
        check_lattice_interval(vector, "percentile", &result.percentile, report);
        check_lattice_interval(vector, "bca", &result.bca, report);
        if deltas.len() < 20 {
            report.same("shown", bootstrap_interval(&deltas, &alpha), Err(Withheld::TooFewUnits));
        } else {
            report.same("shown", bootstrap_interval(&deltas, &alpha), Ok(result));
        }
        if !vector["jackknife_means"].is_null() {
            let means = floats(&vector["jackknife_means"]);
            let range = leave_one_out(&deltas).unwrap();
            let (lowest, highest) = (means[range.lowest_without], means[range.highest_without]);
            report.near("lowest mean", to_f64(&range.lowest), &lowest.into(), 0.0);
            report.near("highest mean", to_f64(&range.highest), &highest.into(), 0.0);
            let inside = means.iter().all(|&mean| lowest <= mean && mean <= highest);
            report.same("no mean beyond", inside, true);
        }
    });
}

#[test]
fn bias_correction_of_drawn_resamples() {
    section("bootstrap_exact", "sampled_z0").check(5, |vector, report| {
        let [below, equal, draws] = ["below", "equal", "draws"].map(|name| BigUint::from(count(&vector[name])));
        report.near("z0", bias_correction(&below, &equal, &draws).unwrap(), &vector["z0"], CLOSE);
    });
}

#[test]
fn limits_of_a_sampled_p() {
    section("monte_carlo", "vectors").check(7, |vector, report| {
        let result = sampled_p(count(&vector["hits"]), count(&vector["draws"])).unwrap();
        report.near("p", result.p, &vector["p"], 0.0);
        report.near("lower", result.limits.lower, &vector["p_lower_999"], 1e-10);
        report.near("upper", result.limits.upper, &vector["p_upper_999"], 1e-10);
        let decision = result.decision(&rational("0.05"));
        report.same("decision", decision.as_str(), text(&vector["decision_at_0_05"]));
    });
}

/// Nothing is drawn here, so what is asked of a sampler holds of the count: order, sign, seed and threads are no input.
#[test]
fn what_a_sampled_p_promises() {
    section("monte_carlo", "properties").check(5, |property, report| match text(property) {
        "p in [1/(m+1), 1]" => {
            for draws in [1, 2, 4096, u64::from(u32::MAX)] {
                let p = |hits| sampled_p(hits, draws).unwrap().p;
                report.near("least", p(0), &(1.0 / (draws as f64 + 1.0)).into(), 0.0);
                report.near("most", p(draws), &1.0.into(), 0.0);
            }
        }
        "order of cases, sign of all cases and thread count do not change p" => {
            let deltas = [rate(1, 2), -rate(1, 5), rate(1, 3), rate(1, 1), rate(0, 1)];
            let mut turned: Vec<Rational> = deltas.iter().map(|delta| -delta).collect();
            turned.reverse();
            report.same("p", sign_flip(&turned).p_two_sided.to_bits(), sign_flip(&deltas).p_two_sided.to_bits());
        }
        "identical seed and inputs give identical bytes" => {
            let deltas = vec![rate(1, 7); 30];
            report.same("again", sign_flip(&deltas), sign_flip(&deltas));
        }
        "mean of p over seeds tends to the exact p + O(1/m)" => {
            // Hits of m draws are binomial, so the mean of p is (m·p + 1)/(m + 1).
            let (draws, exact) = (200_usize, 0.03);
            let of = |hits: usize| sampled_p(hits as u64, draws as u64).unwrap().p;
            let mean: f64 = (0..=draws).map(|hits| binomial_chance(hits, draws, exact) * of(hits)).sum();
            report.near("mean", mean, &((draws as f64 * exact + 1.0) / (draws as f64 + 1.0)).into(), CLOSE);
        }
        "with all deltas zero no draw is made: p = 1" => {
            let unmoved = sign_flip(&vec![rate(0, 1); 12]);
            report.same("p", (unmoved.p_two_sided, unmoved.moved), (1.0, 0));
            report.same("total", unmoved.counts.map(|counts| counts.total), Some(BigUint::one()));
        }
        other => report.same("property", other, "a known one"),
    });
}
