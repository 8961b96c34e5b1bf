//! What stands beside the headline: other intervals, influence, spread, margins of equivalence, repeated success, caveats.

use serde_json::{Value, json};

use crate::support::{Workspace, repository, run_in};

fn near(actual: &Value, expected: f64) {
    let actual = actual.as_f64().unwrap_or_else(|| panic!("{actual} is no number"));
    assert!((actual - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{actual} {expected}");
}

/// Cases with their answers with the skill and without it, one character a run: `y` passes.
fn workspace(cases: &[(&str, &str, &str)]) -> Workspace {
    let ids: Vec<&str> = cases.iter().map(|(id, ..)| *id).collect();
    let workspace = Workspace::with_cases(&ids);
    for (id, with, without) in cases {
        for (arm, answers) in [("with_skill", with), ("without_skill", without)] {
            for (index, answer) in answers.chars().enumerate() {
                let text = if answer == 'y' { "yes" } else { "no" };
                workspace.write(&format!("runs/{id}/{arm}/run-{}/output.md", index + 1), text);
            }
        }
    }
    workspace
}

fn overall(report: &Value) -> &Value {
    &report["inference"]["overall"]
}

#[test]
fn companions_of_the_demo_agree_with_numpy_and_scipy() {
    let folder = repository("datasets/demo");
    let arguments =
        ["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--equivalence-margin", "0.1", "--quiet"];
    let report = run_in(&folder, &arguments, &[]).json();
    let overall = overall(&report);
    // numpy 2.3, over the 13 deltas of `by_case`: means of all 8,191 subsets, of which the 204th from either end is the
    // first that 2 · (1 + rank) > 0.05 · 2^13 holds for
    near(&overall["interval_sign_flip"]["lower"], 0.12);
    near(&overall["interval_sign_flip"]["upper"], 0.44);
    // numpy.median of the 91 averages of two deltas
    near(&overall["hodges_lehmann"]["value"], 0.315);
    let without_one = &overall["leave_one_out"];
    near(&without_one["lowest"], 0.256_666_666_666_666_65);
    near(&without_one["highest"], 0.33);
    assert_eq!(without_one["lowest_without"], "action-items-file");
    assert_eq!(without_one["highest_without"], "status-page-update");
    near(&overall["variance"]["total"], 0.068_180_769_230_769_23);
    // scipy.stats.t.ppf(0.95, 12) over the deltas and the two pads
    let equivalence = &overall["equivalence"];
    near(&equivalence["lower"], 0.087_056_497_618_991_84);
    near(&equivalence["upper"], 0.400_943_502_381_008_07);
    near(&equivalence["confidence"], 0.9);
    assert_eq!((&equivalence["equivalent"], &equivalence["non_inferior"]), (&json!(false), &json!(true)));
    assert_eq!(report["inference"]["equivalence_margin"], 0.1);
}

#[test]
fn repeated_success_is_a_mean_over_cases_with_one_k_for_all() {
    // a passes 3 of 3 against 1 of 3, b 1 of 2 against 0 of 2: the largest common k is 2
    let report = workspace(&[("a", "yyy", "ynn"), ("b", "yn", "nn")]).on_runs("benchmark", &[]).json();
    let rows = report["inference"]["reliability"].as_array().unwrap();
    let row = |row: &Value| (row["measure"].as_str().unwrap().to_owned(), row["k"].as_u64().unwrap());
    let named: Vec<(String, u64)> = rows.iter().map(row).collect();
    assert_eq!(named, [("pass_at_k".to_owned(), 1), ("pass_at_k".to_owned(), 2), ("pass_hat_k".to_owned(), 2)]);
    // pass@1: (1 + 1/2) / 2 against (1/3 + 0) / 2
    near(&rows[0]["with_skill"]["value"], 0.75);
    near(&rows[0]["without_skill"]["value"], 1.0 / 6.0);
    near(&rows[0]["estimate"], 7.0 / 12.0);
    // pass@2: 1 − C(fails, 2) / C(n, 2): 1 and 1 against 2/3 and 0
    near(&rows[1]["with_skill"]["value"], 1.0);
    near(&rows[1]["without_skill"]["value"], 1.0 / 3.0);
    // pass^2: C(passes, 2) / C(n, 2): 1 and 0 against 0 and 0
    near(&rows[2]["with_skill"]["value"], 0.5);
    near(&rows[2]["without_skill"]["value"], 0.0);
    // two moved cases of one sign: p = 2/4; only one moved at pass^2: p = 1. Holm: 3 · 0.5 > 1
    let p: Vec<&Value> = rows.iter().map(|row| &row["p_two_sided"]).collect();
    assert_eq!(p, [&json!(0.5), &json!(0.5), &json!(1.0)]);
    assert!(rows.iter().all(|row| row["p_holm"] == json!(1.0)), "{rows:#?}");
    let single = workspace(&[("a", "y", "n")]).on_runs("benchmark", &[]).json();
    assert_eq!(single["inference"]["reliability"].as_array().unwrap().len(), 1);
    assert_eq!(single["inference"]["reliability"][0]["with_skill"]["reason"], "too_few_units");
    let nothing = workspace(&[("a", "y", "")]).on_runs("benchmark", &[]).json();
    assert!(nothing["inference"].get("reliability").is_none());
}

#[test]
fn a_margin_is_the_users_and_says_what_it_shows() {
    let alike: Vec<(String, &str, &str)> = (0..6).map(|case| (format!("c{case}"), "y", "y")).collect();
    let alike: Vec<(&str, &str, &str)> =
        alike.iter().map(|(id, with, without)| (id.as_str(), *with, *without)).collect();
    let workspace = workspace(&alike);
    let report = workspace.on_runs("benchmark", &[]).json();
    let unasked = &overall(&report)["equivalence"];
    assert_eq!((&unasked["equivalent"], &unasked["reason"]), (&Value::Null, &json!("no_alternative_declared")));
    // six deltas of 0 padded with ±1: standard error sqrt(2 / 7 / 8), t(0.95, 5) = 2.015048373: ±0.3808
    let limit = 2.015_048_372_669_157 * (2.0_f64 / 56.0).sqrt();
    for (margin, equivalent) in [("0.5", true), ("0.38", false)] {
        let report = workspace.on_runs("benchmark", &["--equivalence-margin", margin]).json();
        let equivalence = &overall(&report)["equivalence"];
        assert!((equivalence["upper"].as_f64().unwrap() - limit).abs() < 1e-9, "{equivalence}");
        assert_eq!(equivalence["equivalent"], equivalent, "{margin}");
    }
    let said = workspace.on_runs("benchmark", &["--equivalence-margin", "0.5", "--format", "table"]).stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains(
            "The arms are shown to be alike: any average difference lies within ±50 pp (90% interval −38.1 to +38.1 pp)."
        ),
        "{said}"
    );
    workspace.on_runs("benchmark", &["--equivalence-margin", "0.5", "--out", "report.json", "--quiet"]);
    assert_eq!(workspace.run(&["verify", "report.json", "--runs", "runs"]).code, 0);
    for bad in ["0", "1", "-0.1", "nan", "ten"] {
        let said = workspace.on_runs("benchmark", &[&format!("--equivalence-margin={bad}")]);
        assert_eq!(said.code, 2, "{bad}");
    }
}

#[test]
fn one_case_that_turns_the_lift_round_is_named() {
    // `big` gains 1, `a` loses 1/2, `b` gains nothing
    let cases = [("big", "yy", "nn"), ("a", "ny", "yy"), ("b", "yy", "yy")];
    let report = workspace(&cases).on_runs("benchmark", &[]).json();
    let overall = overall(&report);
    // 1/6 with all three, −1/4 without `big`
    near(&overall["estimate"], 1.0 / 6.0);
    near(&overall["leave_one_out"]["lowest"], -0.25);
    assert_eq!(overall["leave_one_out"]["lowest_without"], "big");
    assert_eq!(
        overall["verdict"]["qualifiers"],
        json!([{"code": "one_unit_reverses", "args": {"unit": "big", "estimate_without": -0.25}}])
    );
    let said = workspace(&cases).on_runs("benchmark", &["--format", "table"]).stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Without big alone the lift would be −25.0 pp."), "{said}");
}

#[test]
fn a_skill_that_was_not_loaded_is_said_beside_the_verdict() {
    let workspace = workspace(&[("a", "yy", "nn")]);
    for (run, loaded) in [(1, true), (2, false)] {
        let metadata = json!({"skill_invoked": loaded}).to_string();
        workspace.write(&format!("runs/a/with_skill/run-{run}/metadata.json"), metadata);
    }
    let report = workspace.on_runs("benchmark", &[]).json();
    let codes = &overall(&report)["verdict"]["qualifiers"];
    assert_eq!(
        codes,
        &json!([{"code": "skill_not_loaded", "args": {"share": 0.5, "not_loaded_runs": 1, "known_runs": 2}}])
    );
    let said = workspace.on_runs("benchmark", &["--format", "table"]).stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("The skill was not loaded in 50% of the runs that say whether it was"), "{said}");
}

/// Cases `c0`, `c1` and so on that all have these answers.
fn alike(number: usize, with: &'static str, without: &'static str) -> Vec<(String, &'static str, &'static str)> {
    (0..number).map(|case| (format!("c{case}"), with, without)).collect()
}

fn sentences(cases: &[(String, &str, &str)], more: &[&str]) -> [String; 2] {
    let cases: Vec<(&str, &str, &str)> =
        cases.iter().map(|(id, with, without)| (id.as_str(), *with, *without)).collect();
    let report = workspace(&cases).on_runs("benchmark", more).json();
    ["text", "next_step"].map(|key| overall(&report)["verdict"][key].as_str().unwrap().replace('\u{a0}', " "))
}

#[test]
fn verdicts_say_what_they_mean() {
    // exact: 2/2^12 = 0.00049; 12 deltas of −0.6 padded with ±0.6, t(0.975, 11)
    let harm = sentences(&alike(12, "ynnnn", "yyyyn"), &[]);
    assert_eq!(
        harm[0],
        "The skill makes results worse: −60.0 pp (−70.3 to −32.6 pp, 95% interval) over 12 cases; p = 0.0005. A skill \
         without effect would show a lift this large in about 5 in 10,000 such evals."
    );
    assert_eq!(harm[1], "0 cases better, 12 worse, 0 the same. Worst cases: c0, c1, c10.");

    let few = sentences(&alike(5, "yy", "nn"), &[]);
    assert_eq!(few[0], "Too few cases to tell: with 5 cases no result could reach p ≤ 0.05; at least 6 are needed.");
    assert_eq!(few[1], "Add at least 1 case.");

    let mut split = alike(6, "yyyy", "nnyy");
    split.extend((6..12).map(|case| (format!("c{case}"), "nnyy", "yyyy")));
    let split = sentences(&split, &[]);
    assert_eq!(split[0], "Too few cases to tell: the lift could be anything from −30.5 to +30.5 pp.");
    assert_eq!(split[1], "6 cases better, 6 worse, 0 the same. About 214 cases would settle a lift of 10 pp.");

    let none = sentences(&alike(60, "yn", "ny"), &["--equivalence-margin", "0.1"]);
    assert_eq!(
        none[0],
        "No lift that matters: any average effect is between −4.6 and +4.6 pp, inside ±10 pp. Shown equivalent within ±10 pp."
    );

    let noisy: Vec<_> = (0..10)
        .map(|case| (format!("c{case}"), ["yn", "ny", "yy", "nn"][case % 4], ["ny", "nn", "yn", "yy"][case % 4]))
        .collect();
    let noisy = sentences(&noisy, &[]);
    assert!(
        noisy[1].ends_with("More repetitions of these would help as well: most of the spread is noise between runs."),
        "{noisy:?}"
    );
}

#[test]
fn runs_of_many_cases_are_not_permuted_together() {
    for (cases, tested) in [(32, true), (33, false)] {
        let cases = alike(cases, "yn", "nn");
        let cases: Vec<(&str, &str, &str)> =
            cases.iter().map(|(id, with, without)| (id.as_str(), *with, *without)).collect();
        let report = workspace(&cases).on_runs("benchmark", &[]).json();
        let test = &overall(&report)["within_case_test"];
        assert_eq!(test["p_two_sided"].is_number(), tested, "{test}");
        let reason = if tested { Value::Null } else { json!("beyond_exact_budget") };
        assert_eq!(test["reason"], reason);
    }
}

/// Some runs that pass and then some that do not.
fn runs(passing: usize, all: usize) -> String {
    "y".repeat(passing) + &"n".repeat(all - passing)
}

#[test]
fn the_bootstrap_is_counted_from_twenty_cases_on() {
    // three cases gain 1, five gain 1/5, twelve nothing
    let gains: Vec<(String, String)> = (0..20)
        .map(|at| (format!("c{at:02}"), runs([5, 1, 0][usize::from(at >= 3) + usize::from(at >= 8)], 5)))
        .collect();
    let cases: Vec<(&str, &str, &str)> = gains.iter().map(|(id, with)| (id.as_str(), with.as_str(), "nnnnn")).collect();
    let report = workspace(&cases).on_runs("benchmark", &[]).json();
    let bootstrap = &overall(&report)["interval_bootstrap"];
    // 20-fold convolution of the deltas in Python integers; BCa with scipy.stats.norm
    for (method, lower, upper) in [("percentile", 0.06, 0.36), ("bca", 0.08, 0.41)] {
        let limits = &bootstrap[method];
        assert_eq!(limits["method"], format!("bootstrap-{method}"));
        assert_eq!((&limits["unit"], &limits["n"], &limits["confidence"]), (&json!("case"), &json!(20), &json!(0.95)));
        near(&limits["lower"], lower);
        near(&limits["upper"], upper);
    }
    assert_eq!(overall(&report)["interval_tango"]["reason"], "non_binary_deltas");
    let report = workspace(&cases[..19]).on_runs("benchmark", &[]).json();
    let bca = &overall(&report)["interval_bootstrap"]["bca"];
    assert_eq!((&bca["lower"], &bca["reason"]), (&Value::Null, &json!("too_few_units")));
}

#[test]
fn one_run_an_arm_has_tangos_limits() {
    let mut cases: Vec<(String, &str, &str)> = Vec::new();
    for (number, with, without) in [(8, "y", "y"), (7, "y", "n"), (1, "n", "y"), (4, "n", "n")] {
        cases.extend((0..number).map(|at| (format!("{with}{without}{at}"), with, without)));
    }
    let cases: Vec<(&str, &str, &str)> =
        cases.iter().map(|(id, with, without)| (id.as_str(), *with, *without)).collect();
    let report = workspace(&cases).on_runs("benchmark", &[]).json();
    let tango = &overall(&report)["interval_tango"];
    // roots of the score statistic by scipy.optimize.brentq
    let limit = |key: &str| tango[key].as_f64().unwrap();
    assert!((limit("lower") - 0.027_161_326_673_747).abs() < 1e-10, "{tango}");
    assert!((limit("upper") - 0.537_295_658_182_029).abs() < 1e-10, "{tango}");
    assert_eq!((&tango["method"], &tango["n"]), (&json!("tango-score"), &json!(20)));
}

#[test]
fn families_of_unequal_size_have_the_mean_over_their_cases_beside() {
    // gains in tenths: family f1 4 and 2, f2 2, f3 6, 4 and 5, f4 0
    let members = [
        ("a", "f1", 4),
        ("b", "f1", 2),
        ("c", "f2", 2),
        ("d", "f3", 6),
        ("e", "f3", 4),
        ("f", "f3", 5),
        ("g", "f4", 0),
    ];
    let gains: Vec<(&str, String)> = members.iter().map(|(id, _, gain)| (*id, runs(*gain, 10))).collect();
    let none = runs(0, 10);
    let cases: Vec<(&str, &str, &str)> = gains.iter().map(|(id, with)| (*id, with.as_str(), none.as_str())).collect();
    let workspace = workspace(&cases);
    let assertion = json!({"name": "says-yes", "type": "contains", "value": "yes"});
    let cases = members.map(|(id, family, _)| {
        json!({"id": id, "split": "tune", "prompt": "Do it.", "family": family, "assertions": [assertion]})
    });
    workspace.suite(&json!({"cases": cases}));
    let report = workspace.on_runs("benchmark", &[]).json();
    near(&overall(&report)["estimate"], 0.25);
    let clustered = &overall(&report)["case_weighted"];
    // CR2 by explicit matrices and Satterthwaite's degrees of freedom in numpy, the quantile of scipy
    for (key, expected) in [
        ("estimate", 2.3 / 7.0),
        ("standard_error", 0.111_818_609_187_130_45),
        ("degrees_of_freedom", 2.368_421_052_631_579),
        ("lower", -0.087_485_833_579_1),
        ("upper", 0.744_628_690_721_975_7),
    ] {
        let found = clustered[key].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-10, "{key}: {found} {expected}");
    }
    assert_eq!((&clustered["method"], &clustered["unit"]), (&json!("cluster-robust-cr2"), &json!("case")));
    assert_eq!((&clustered["n"], &clustered["clusters"]), (&json!(7), &json!(4)));
    assert_eq!(clustered["dominant_cluster"], false);
}

#[test]
fn the_tail_of_what_runs_used_has_its_percentile() {
    let workspace = workspace(&[("a", &runs(11, 11), &runs(0, 11))]);
    for run in 1..=11 {
        let place = format!("runs/a/with_skill/run-{run}/metadata.json");
        workspace.write(&place, json!({"total_tokens": 10 * run, "elapsed_ms": 1000}).to_string());
    }
    let report = workspace.on_runs("benchmark", &[]).json();
    let rows = report["inference"]["percentiles"].as_array().unwrap();
    let row = |quantity: &str, variant: &str| {
        rows.iter().find(|row| row["quantity"] == quantity && row["variant"] == variant).unwrap()
    };
    // numpy.quantile(10, 20, ..., 110; 0.9) is the tenth value
    let tokens = row("total_tokens", "with_skill");
    assert_eq!((&tokens["p90"], &tokens["n"], &tokens["runs"]), (&json!(100.0), &json!(11), &json!(11)));
    // 0.9^11 > 0.05: the largest value is no bound yet
    assert_eq!((&tokens["p90_upper"], &tokens["upper_reason"]), (&Value::Null, &json!("too_few_values")));
    assert_eq!(row("elapsed_ms", "with_skill")["p90"], 1000.0);
    let nothing = row("elapsed_ms", "without_skill");
    assert_eq!(
        (&nothing["p90"], &nothing["reason"], &nothing["n"]),
        (&Value::Null, &json!("too_few_values"), &json!(0))
    );
}
