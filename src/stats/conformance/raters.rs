//! The same source as `oracle`, for the agreement of raters.

use serde_json::Value;

use super::oracle::{CLOSE, section};
use super::{Report, count, rational, text};
use crate::agreement::{AgreementTable, ChanceCorrected, Metric, Weights, fleiss_kappa, krippendorff_alpha};
use crate::rational::{Rational, rate, to_f64};
use crate::withheld::Withheld;

fn table(vector: &Value) -> Vec<Vec<u64>> {
    let rows = vector["table"].as_array().unwrap();
    rows.iter().map(|row| row.as_array().unwrap().iter().map(count).collect()).collect()
}

/// The same items one by one, with the number of the class as the score.
fn items(table: &[Vec<u64>]) -> Vec<Vec<Rational>> {
    let mut items = Vec::new();
    for (first, row) in table.iter().enumerate() {
        for (second, &number) in row.iter().enumerate() {
            let ratings = vec![rate(first as u64, 1), rate(second as u64, 1)];
            items.extend(vec![ratings; number as usize]);
        }
    }
    items
}

fn check_kappa(vector: &Value, suffix: &str, kappa: Result<ChanceCorrected, Withheld>, report: &mut Report<'_>) {
    match kappa {
        Err(reason) => report.same("reason", Some(reason.as_str()), vector["reason"].as_str()),
        Ok(kappa) => {
            let expected = |name: &str| &vector[format!("{name}{suffix}")];
            report.near("kappa", to_f64(&kappa.value), expected("kappa"), CLOSE);
            report.near("se", kappa.standard_error.unwrap(), expected("se"), CLOSE);
            let limits = kappa.limits.unwrap();
            report.near_absolute("lower", limits.lower, expected("lower"), CLOSE);
            report.near_absolute("upper", limits.upper, expected("upper"), CLOSE);
        }
    }
}

#[test]
fn two_raters_on_a_table() {
    section("agreement_two_raters", "vectors").check(9, |vector, report| {
        let counts = table(vector);
        let table = AgreementTable::new(counts.clone()).unwrap();
        report.same("n", table.n(), count(&vector["n"]));
        report.near("observed", to_f64(&table.observed()), &vector["observed_agreement"], 0.0);
        report.near("expected", to_f64(&table.expected()), &vector["expected_agreement"], CLOSE);
        check_kappa(vector, "", table.kappa(Weights::Identity, 0.05), report);
        check_kappa(vector, "_linear", table.kappa(Weights::Linear, 0.05), report);
        check_kappa(vector, "_quadratic", table.kappa(Weights::Quadratic, 0.05), report);
        if vector["kappa"].is_null() {
            report.near("convention", to_f64(&table.kappa_or_one()), &vector["kappa_compat"], 0.0);
            report.same("largest", table.largest_kappa(), Err(Withheld::ExpectedAgreementIsOne));
        } else {
            report.same("exact", &table.kappa_or_one(), &rational(text(&vector["kappa_exact"])));
            report.near("null se", table.null_standard_error().unwrap(), &vector["se_null"], CLOSE);
            report.near("largest", to_f64(&table.largest_kappa().unwrap()), &vector["kappa_max"], CLOSE);
        }
        report.near("PABAK", to_f64(&table.pabak().unwrap()), &vector["pabak"], CLOSE);
        let ac1 = table.ac1(0.05).unwrap();
        report.near("AC1", to_f64(&ac1.value), &vector["gwet_ac1"], CLOSE);
        if vector["gwet_ac1_se"].is_null() {
            report.same("one item", table.n(), 1);
            report.same("no limits", ac1.limits, Err(Withheld::TooFewUnits));
        } else {
            let standard_error = ac1.standard_error.unwrap();
            report.near("se of AC1", standard_error, &vector["gwet_ac1_se"], CLOSE);
            // With n in place of n − 1 in the denominator.
            let n = table.n() as f64;
            for name in ["gwet_ac1_se_2008", "gwet_ac1_se_linearised"] {
                report.near(name, standard_error * ((n - 1.0) / n).sqrt(), &vector[name], CLOSE);
            }
            let limits = ac1.limits.unwrap();
            report.near_absolute("lower", limits.lower, &vector["gwet_ac1_lower"], CLOSE);
            report.near_absolute("upper", limits.upper, &vector["gwet_ac1_upper"], CLOSE);
        }
        for (name, metric) in [
            ("krippendorff_nominal", Metric::Nominal),
            ("krippendorff_ordinal", Metric::Ordinal),
            ("krippendorff_interval", Metric::Interval),
        ] {
            check_alpha(&items(&counts), metric, &vector[name], &Value::Null, report);
        }
    });
}

fn check_alpha(items: &[Vec<Rational>], metric: Metric, expected: &Value, exact: &Value, report: &mut Report<'_>) {
    match krippendorff_alpha(items, metric, 0.05) {
        Err(reason) => {
            report.same("alpha", expected.as_f64(), None);
            report.same("reason", reason, Withheld::NoVariationOrNoPairs);
        }
        Ok(result) => {
            report.near("alpha", to_f64(&result.value), expected, CLOSE);
            if let Some(exact) = exact.as_str() {
                report.same("exact alpha", &result.value, &rational(exact));
            }
        }
    }
}

/// Lists of ratings by rater, with nulls, as lists by item.
fn by_item(ratings: &Value) -> Vec<Vec<Rational>> {
    let raters = ratings.as_array().unwrap();
    let mut items = vec![Vec::new(); raters[0].as_array().unwrap().len()];
    for rater in raters {
        for (item, rating) in items.iter_mut().zip(rater.as_array().unwrap()) {
            if !rating.is_null() {
                item.push(rational(&rating.to_string()));
            }
        }
    }
    items
}

#[test]
fn any_number_of_raters() {
    section("krippendorff", "vectors").check(5, |vector, report| {
        let items = by_item(&vector["ratings"]);
        for (name, metric) in [
            ("nominal", Metric::Nominal),
            ("ordinal", Metric::Ordinal),
            ("interval", Metric::Interval),
            ("ratio", Metric::Ratio),
        ] {
            if vector.get(name).is_some() {
                check_alpha(&items, metric, &vector[name], &vector[format!("{name}_exact")], report);
            }
        }
        if let Some(ratings) = vector["pairable_values"].as_f64() {
            let result = krippendorff_alpha(&items, Metric::Nominal, 0.05).unwrap();
            report.same("ratings", result.ratings as f64, ratings);
        }
        if let Some(reason) = vector["reason"].as_str() {
            let result = krippendorff_alpha(&items, Metric::Ratio, 0.05);
            report.same("reason", result.map_err(Withheld::as_str), Err(reason));
        }
    });
}

#[test]
fn raters_of_every_item() {
    section("krippendorff", "fleiss").check(1, |vector, report| {
        let kappa = fleiss_kappa(&by_item(&vector["ratings"])).unwrap();
        report.near("kappa", to_f64(&kappa), &vector["fleiss_kappa"], CLOSE);
    });
}
