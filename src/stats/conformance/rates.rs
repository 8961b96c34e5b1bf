//! The same source as `oracle`, for differences of two rates.

use serde_json::Value;

use super::oracle::{CLOSE, section};
use super::{Report, count, text};
use crate::independent_binary::{ArmCounts, fisher_exact, newcombe_difference};
use crate::paired_binary::{DifferenceInterval, PairedTable};
use crate::permutation::{Stratum, permutation_test};
use crate::rational::{Rational, rate, to_f64};
use crate::sign_flip::sign_flip;

/// Limits are differences of rates around 1, so agreement is absolute.
fn check_limits(vector: &Value, name: &str, actual: DifferenceInterval, report: &mut Report<'_>) {
    report.near_absolute(name, actual.lower, &vector[format!("{name}lower")], CLOSE);
    report.near_absolute(name, actual.upper, &vector[format!("{name}upper")], CLOSE);
}

#[test]
fn paired_rates() {
    section("paired_binary", "vectors").check(18, |vector, report| {
        let counts = ["both_pass", "with_only", "without_only", "both_fail"].map(|name| count(&vector[name]));
        let [both_pass, with_only, without_only, both_fail] = counts;
        let table = PairedTable::new(both_pass, with_only, without_only, both_fail).unwrap();
        report.near("difference", to_f64(&table.difference()), &vector["difference"], 0.0);
        report.near_absolute("phi", table.corrected_correlation(), &vector["phi_corrected"], CLOSE);
        check_limits(vector, "newcombe_", table.newcombe(0.05), report);
        check_limits(vector, "tango_", table.tango(0.05), report);
        check_limits(vector, "bonett_price_", table.bonett_price(0.05), report);
        let test = table.mcnemar();
        report.near("p", test.p_two_sided, &vector["mcnemar_exact_p"], 1e-15);
        report.near("mid-p", test.mid_p, &vector["mcnemar_mid_p"], 1e-15);
        report.near("with better", test.p_greater, &vector["mcnemar_p_with_better"], 1e-15);
        let mut deltas = vec![rate(1, 1); with_only as usize];
        deltas.extend(vec![-rate(1, 1); without_only as usize]);
        let flips = sign_flip(&deltas);
        report.near("p of the sign-flip", flips.p_two_sided, &test.p_two_sided.into(), 1e-15);
        report.near("its one-sided p", flips.p_greater, &test.p_greater.into(), 1e-15);
    });
}

#[test]
fn rates_of_independent_arms() {
    section("independent_binary", "vectors").check(8, |vector, report| {
        let arm = |passed: &str, runs: &str| ArmCounts { passed: count(&vector[passed]), runs: count(&vector[runs]) };
        let (with, without) = (arm("c1", "n1"), arm("c2", "n2"));
        check_limits(vector, "", newcombe_difference(with, without, 0.05).unwrap(), report);
        let fisher = fisher_exact(with, without).unwrap();
        report.near("Fisher's p", fisher.p_two_sided(), &vector["fisher_p"], CLOSE);
        report.same("total", fisher.total.to_string().as_str(), text(&vector["permutation_total"]));
        let rates = |arm: ArmCounts| -> Vec<Rational> {
            (0..arm.runs).map(|run| rate(u64::from(run < arm.passed), 1)).collect()
        };
        let (with, without) = (rates(with), rates(without));
        let permuted = permutation_test(&[Stratum { with: &with, without: &without }]).unwrap();
        report.near("p", permuted.p_two_sided, &vector["permutation_p"], 1e-15);
        report.same("hits", permuted.counts.two_sided.to_string().as_str(), text(&vector["permutation_hits"]));
        report.same("labelings", permuted.counts.total.to_string().as_str(), text(&vector["permutation_total"]));
    });
}
