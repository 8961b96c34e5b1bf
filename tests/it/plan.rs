//! `plan`: what a design detects, how many cases a lift needs, what more repetitions or cases buy.

use std::path::Path;

use insta::{assert_snapshot, with_settings};
use serde_json::{Value, json};

use crate::support::{Said, Workspace, cases_of, conformance, report_of, report_row, repository, run_in};

/// Twenty cases with two repetitions: ten that the skill turns round, and ten whose runs pass half of the time in both arms.
fn twenty() -> Value {
    let turned = cases_of(10, &[1.0, 1.0], &[0.0, 0.0], "turned");
    let noisy = cases_of(10, &[1.0, 0.0], &[0.0, 1.0], "noisy");
    report_of(&[turned, noisy].concat())
}

fn plan_of(report: &Value, more: &[&str]) -> Said {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", report.to_string());
    workspace.run(&[&["plan", "benchmark.json"], more].concat())
}

/// A plan of a suite with some cases of one check each.
fn plan_of_suite(number: usize, more: &[&str]) -> Said {
    let names: Vec<String> = (0..number).map(|at| format!("c{at}")).collect();
    let workspace = Workspace::with_cases(&names.iter().map(String::as_str).collect::<Vec<_>>());
    workspace.run(&[&["plan", "evals/shared-benchmark.json"], more].concat())
}

fn near(value: &Value, expected: f64) {
    let number = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((number - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{number} is not {expected}");
}

/// By hand: the deltas are ten times 1 and ten times 0, with the pads 1 and −1. Their sum is 10, the sum of squares 12, so
/// that the variance is (12 − 100/22)/21 = 0.354978. The noise of a noisy case is 1/2 over 2 runs in each arm, 1/2; the
/// mean over all cases is 1/4. So a case with R repetitions has the variance 0.104978 + 0.5/R. The lifts and numbers of
/// cases are (t(0.975) + t(0.8))·sd/√K with the quantiles of scipy 1.17.
#[test]
fn a_report_is_split_into_noise_and_differences() {
    let said = plan_of(&twenty(), &["--target-lift", "0.25"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let plan = said.json();
    let design = &plan["design"];
    assert_eq!((&design["n_units"], &design["pairs"], &design["runs"]), (&json!(20), &json!(40), &json!(80)));
    assert_eq!(
        (&design["unit"], &design["repetitions_least"], &design["repetitions_most"]),
        (&json!("case"), &json!(2), &json!(2))
    );
    let spread = &plan["spread"];
    assert_eq!(spread["source"], "measured");
    near(&spread["standard_deviation"], 0.5958006000151015);
    near(&spread["between_units"], (0.354_978_354_978_354_95_f64 - 0.25).sqrt());
    near(&spread["noise"], 0.5);
    near(&spread["noise_of_one_run_with"], 0.5);
    near(&spread["noise_of_one_run_without"], 0.5);
    // without pads the variance of the deltas is 20·(1/4)/19
    near(&spread["noise_share"], 0.25 / (5.0 / 19.0));
    assert_eq!((&spread["units_with_noise"], &spread["noise_is_capped"]), (&json!(20), &json!(false)));
    near(&plan["smallest_detectable_lift"]["value"], 0.3935434565508945);
    assert_eq!((&plan["cases_needed"]["value"], &plan["cases_needed"]["runs"]), (&json!(47), &json!(188)));
    let rows = plan["by_repetitions"].as_array().unwrap();
    let expected: [(usize, f64, f64, usize, usize); 5] = [
        (1, 0.7778035452338559, 0.5137616439142779, 78, 156),
        (2, 0.5958006000151015, 0.3935434565508945, 47, 188),
        (3, 0.5211957613459856, 0.34426481184237706, 37, 222),
        (5, 0.4527453533481652, 0.2990513458520802, 28, 280),
        (10, 0.39367290353586054, 0.2600322913471429, 22, 440),
    ];
    assert_eq!(rows.len(), expected.len());
    for (row, (repetitions, deviation, lift, needed, runs)) in rows.iter().zip(expected) {
        assert_eq!((&row["repetitions"], &row["is_design"]), (&json!(repetitions), &json!(repetitions == 2)));
        near(&row["standard_deviation"], deviation);
        near(&row["smallest_detectable_lift"]["value"], lift);
        assert_eq!((&row["cases_needed"]["value"], &row["cases_needed"]["runs"]), (&json!(needed), &json!(runs)));
        assert_eq!(row["runs"], json!(20 * 2 * repetitions));
    }
    let more = &plan["one_more"];
    near(&more["unit"]["smallest_detectable_lift"]["value"], 0.3830128991882788);
    near(&more["repetition"]["smallest_detectable_lift"]["value"], 0.34426481184237706);
    near(&more["repetition"]["lowers_by"], 0.3935434565508945 - 0.34426481184237706);
    assert_eq!((&more["unit"]["runs"], &more["repetition"]["runs"]), (&json!(4), &json!(40)));
    // 40 runs are 10 cases with two runs in each arm
    let same = &more["units_for_the_same_runs"];
    assert_eq!((&same["count"], &same["runs"]), (&json!(10), &json!(40)));
    near(&same["smallest_detectable_lift"]["value"], 0.3153927334189706);
    near(&more["limit_of_repetitions"]["value"], 0.21401373234105867);
    assert_eq!((&more["lowers_more"], &more["buys_more_for_the_same_runs"]), (&json!("repetition"), &json!("unit")));
}

/// By hand: eight deltas of 1/2 with the pads 1/2 and −1/2 have the variance 0.1, and every noise is 1/4, which is more: all
/// of the variance is noise. At 8 cases the exact test needs a lift 1.04 times as large (measured by simulation).
#[test]
fn equal_deltas_have_a_spread_by_their_pads() {
    let plan = plan_of(&report_of(&cases_of(8, &[1.0, 1.0], &[1.0, 0.0], "c")), &[]).json();
    near(&plan["spread"]["standard_deviation"], 0.1_f64.sqrt());
    assert_eq!((&plan["spread"]["noise_is_capped"], &plan["spread"]["between_units"]), (&json!(true), &json!(0.0)));
    assert_eq!(plan["spread"]["noise_share"], Value::Null);
    near(&plan["smallest_detectable_lift"]["value"], 0.3791342756420215);
    near(&plan["by_repetitions"][4]["smallest_detectable_lift"]["value"], 0.16955400258714057);
    assert_eq!((&plan["cases_needed"]["value"], &plan["target_lift"]), (&json!(81), &json!(0.1)));
    let codes: Vec<&str> =
        plan["assumptions"].as_array().unwrap().iter().map(|entry| entry["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["deviation_of_report", "all_noise", "cases_alike", "approximate"]);
    // all deltas zero and no noise: pads of 1, variance 2/9, and no repetition changes anything
    let still = plan_of(&report_of(&cases_of(8, &[1.0, 1.0], &[1.0, 1.0], "c")), &[]).json();
    near(&still["spread"]["standard_deviation"], (2.0_f64 / 9.0).sqrt());
    assert_eq!(still["one_more"]["repetition"]["lowers_by"], json!(0.0));
    assert_eq!(still["one_more"]["lowers_more"], "unit");
}

#[test]
fn a_plan_agrees_with_its_report_on_the_demo() {
    let workspace = Workspace::new();
    let (suite, runs) = (repository("datasets/demo/evals/shared-benchmark.json"), repository("datasets/demo/runs"));
    let (suite, runs) = (suite.to_str().unwrap(), runs.to_str().unwrap());
    let said = workspace.run(&["benchmark", suite, "--runs", runs, "--quiet", "--format", "json"]);
    let report = said.json();
    workspace.write("benchmark.json", &said.stdout);
    let plan = workspace.run(&["plan", "benchmark.json"]).json();
    let overall = &report["inference"]["overall"];
    near(&plan["smallest_detectable_lift"]["value"], overall["smallest_detectable_lift"]["value"].as_f64().unwrap());
    assert_eq!(plan["cases_needed"]["value"], overall["cases_needed"]);
    assert_eq!(plan["design"]["pairs"], report["inference"]["units"]["runs_with"]);
    let mean = |arm: &str| {
        let costs = &report["cost_summary"]["by_variant"][arm]["cost_usd"];
        costs["known_sum"].as_f64().unwrap() / costs["n"].as_f64().unwrap()
    };
    near(&plan["cost"]["run_with"], mean("with_skill"));
    // half of the runs are with the skill
    let runs = plan["cases_needed"]["runs"].as_f64().unwrap();
    near(&plan["cases_needed"]["usd"], runs / 2.0 * (mean("with_skill") + mean("without_skill")));
    // the rows alone, as the reference writes them, give the same: this suite leaves no pair out of inference
    let mut rows = report.clone();
    for key in ["inference", "provenance", "tool"] {
        rows.as_object_mut().unwrap().remove(key);
    }
    workspace.write("rows.json", rows.to_string());
    let of_rows = workspace.run(&["plan", "rows.json"]).json();
    near(&of_rows["smallest_detectable_lift"]["value"], plan["smallest_detectable_lift"]["value"].as_f64().unwrap());
    near(&of_rows["spread"]["noise"], plan["spread"]["noise"].as_f64().unwrap());
}

#[test]
fn a_report_of_the_demo_for_people() {
    let workspace = Workspace::new();
    let (suite, runs) = (repository("datasets/demo/evals/shared-benchmark.json"), repository("datasets/demo/runs"));
    let arguments = ["--quiet", "--format", "json"];
    let said = workspace
        .run(&[&["benchmark", suite.to_str().unwrap(), "--runs", runs.to_str().unwrap()], &arguments[..]].concat());
    workspace.write("benchmark.json", &said.stdout);
    let table = workspace.run(&["plan", "benchmark.json", "--format", "table"]);
    let markdown = workspace.run(&["plan", "benchmark.json", "--format", "md"]);
    with_settings!({description => "the demo dataset", omit_expression => true}, {
        assert_snapshot!("plan_of_a_report", table.stdout);
        assert_snapshot!("plan_of_a_report_markdown", markdown.stdout);
    });
    let shares = ["--better", "0.35", "--worse", "0.05", "--format", "table"];
    let shares = workspace.run(&[&["plan", suite.to_str().unwrap()], &shares[..]].concat());
    // the page shows what the tables say
    let page = std::fs::read_to_string(repository("docs/plan.md")).unwrap();
    for shown in [&table, &shares] {
        assert!(page.contains(shown.stdout.trim_end()), "docs/plan.md shows something else than\n{}", shown.stdout);
    }
}

/// 0.4 is assumed: (t(0.975) + t(0.8))·0.4/√13·1.02 with 12 degrees of freedom, and the first number of cases at which
/// that is at most 0.1 (scipy).
#[test]
fn a_suite_is_planned_with_an_assumed_spread() {
    let plan = plan_of_suite(13, &[]).json();
    near(&plan["smallest_detectable_lift"]["value"], 0.34529538768297685);
    assert_eq!((&plan["cases_needed"]["value"], &plan["cases_needed"]["runs"]), (&json!(128), &json!(256)));
    assert_eq!((&plan["spread"]["source"], &plan["spread"]["reason"]), (&json!("usual"), &json!("no_runs")));
    assert_eq!((&plan["by_repetitions"], &plan["by_repetitions_reason"]), (&Value::Null, &json!("no_runs")));
    assert_eq!(plan["one_more"]["repetition_reason"], "no_runs");
    let codes: Vec<&str> =
        plan["assumptions"].as_array().unwrap().iter().map(|entry| entry["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["one_repetition", "one_model", "usual_deviation", "cases_alike", "approximate"]);

    let plan = plan_of_suite(20, &["--sd", "0.3", "--repetitions", "3", "--models", "2"]).json();
    near(&plan["smallest_detectable_lift"]["value"], 0.19815864059599111);
    // 73 cases, 2 models, 3 repetitions, 2 arms
    assert_eq!((&plan["cases_needed"]["value"], &plan["cases_needed"]["runs"]), (&json!(73), &json!(876)));
    assert_eq!(plan["one_more"]["unit"]["runs"], 12);

    let plan = plan_of_suite(20, &["--alpha", "0.01", "--power", "0.9"]).json();
    near(&plan["smallest_detectable_lift"]["value"], 0.374645391610611);
    assert_eq!(plan["cases_needed"]["value"], 242);
    assert_eq!(plan["assumptions"][5]["code"], "correction_of_other_goal");
}

/// The section `power` of the oracle: exact enumeration.
#[test]
fn shares_of_cases_give_exact_power() {
    let oracle = conformance("statistics-oracle.json");
    let power = &oracle["sections"]["power"];
    let share = |text: &Value| {
        let text = text.as_str().unwrap();
        let (a, b) = text.split_once('/').unwrap_or((text, "1"));
        (a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap()).to_string()
    };
    let plan = |cases: usize, vector: &Value| {
        let (up, down) = (share(&vector["p_up"]), share(&vector["p_down"]));
        plan_of_suite(cases, &["--better", &up, "--worse", &down])
    };
    let mut asked = 0;
    for vector in power["exact_binary"].as_array().unwrap().iter().filter(|vector| vector["p_up"] != vector["p_down"]) {
        let cases = vector["cases"].as_u64().unwrap() as usize;
        let said = plan(cases, vector);
        assert_eq!(said.code, if cases < 6 { 6 } else { 0 });
        let moves = &said.json()["moves"];
        assert!((moves["power"].as_f64().unwrap() - vector["power_two_sided"].as_f64().unwrap()).abs() < 1e-12);
        asked += 1;
    }
    for vector in power["needed_binary"].as_array().unwrap() {
        let moves = &plan(20, vector).json()["moves"];
        assert_eq!(moves["first_cases"], vector["first_cases_with_power_0_8"]);
        assert_eq!(moves["stays_from"], vector["stays_above_from"]);
        near(&moves["power_at_first"], vector["power_at_first"].as_f64().unwrap());
        asked += 1;
    }
    assert_eq!(asked, 17);
    // too rare to be found: no plan, and not after a minute
    let rare = plan_of_suite(20, &["--better", "0.0011", "--worse", "0.001"]);
    assert_eq!((rare.code, &rare.json()["moves"]["cases_reason"]), (0, &json!("beyond_exact_budget")));
    // more cases than are computed exactly
    let many = plan_of_suite(2_001, &["--better", "0.5", "--worse", "0.1"]);
    assert_eq!((many.code, &many.json()["moves"]["reason"]), (0, &json!("beyond_exact_budget")));
}

#[test]
fn every_dialect_is_planned_and_trigger_cases_do_not_count() {
    let workspace = Workspace::new();
    let case = |id: &str, kind: &str| {
        let mut case = json!({"id": id, "split": "tune", "prompt": "Do it.", "kind": kind,
                              "assertions": [{"name": "a", "type": "contains", "value": "x"}]});
        if kind == "trigger" {
            case["should_trigger"] = json!(true);
        }
        case
    };
    let with_family = |id: &str, family: &str| {
        let mut case = case(id, "behavior");
        case["family"] = json!(family);
        case
    };
    let families: Vec<Value> = (0..21).map(|at| with_family(&format!("c{at}"), &format!("f{}", at / 3))).collect();
    workspace.suite(&json!({"cases": ([families, vec![case("t", "trigger")]].concat())}));
    let plan = workspace.run(&["plan", "evals/shared-benchmark.json"]).json();
    let design = &plan["design"];
    assert_eq!((&design["unit"], &design["n_units"], &design["cases"]), (&json!("family"), &json!(7), &json!(21)));
    assert_eq!(design["trigger_cases"], 1);
    // seven units: 1.04·(t(0.975) + t(0.8))·0.4/√7 with 6 degrees of freedom (scipy); one more is three cases in both arms
    near(&plan["smallest_detectable_lift"]["value"], 0.5271424758928764);
    assert_eq!(plan["one_more"]["unit"]["runs"], 6);

    let evals: Vec<Value> =
        (1..=7).map(|id| json!({"id": id, "prompt": "Do it.", "expectations": ["It is done."]})).collect();
    workspace.write("other/evals.json", json!({"skill_name": "demo", "evals": evals}).to_string());
    let plan = workspace.run(&["plan", "other/evals.json", "--dialect", "skill-creator"]).json();
    assert_eq!((&plan["design"]["n_units"], &plan["source_kind"]), (&json!(7), &json!("suite")));

    // nothing but trigger cases: a plan with nothing in it
    workspace.suite(&json!({"cases": [case("t1", "trigger"), case("t2", "trigger")]}));
    let said = workspace.run(&["plan", "evals/shared-benchmark.json"]);
    let plan = said.json();
    assert_eq!((said.code, &plan["reachable"], &plan["design"]["trigger_cases"]), (6, &json!(false), &json!(2)));
    assert_eq!(
        plan["smallest_detectable_lift"],
        json!({"value": null, "not_detectable": false, "approximate": true, "reason": "too_few_units"})
    );
    assert_eq!(
        plan["text"][0],
        "This design can detect nothing: it has no case that counts, and needs at least 6 cases (alpha 0.05)."
    );
    let split = workspace.run(&["plan", "evals/shared-benchmark.json", "--split", "holdout"]);
    assert_eq!((split.code, &split.json()["design"]["trigger_cases"]), (6, &json!(0)));
}

#[test]
fn families_of_a_report_are_its_units() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let workspace = Workspace::new();
    let case = |at: usize| {
        json!({"id": names[at], "split": "tune", "prompt": "Do it.", "family": format!("f{}", at / 2),
               "assertions": [{"name": "says-yes", "type": "contains", "value": "yes"}]})
    };
    workspace.suite(&json!({"cases": (0..names.len()).map(case).collect::<Vec<_>>()}));
    for (at, name) in names.iter().enumerate() {
        for run in [1, 2] {
            // of each family one case is turned round and one is not
            let answer = if at % 2 == 0 { "yes" } else { "no" };
            workspace.write(&format!("runs/{name}/with_skill/run-{run}/output.md"), answer);
            workspace.write(&format!("runs/{name}/without_skill/run-{run}/output.md"), "no");
        }
    }
    let said = workspace.on_runs("benchmark", &["--quiet", "--format", "json"]);
    workspace.write("benchmark.json", &said.stdout);
    let plan = workspace.run(&["plan", "benchmark.json"]).json();
    let design = &plan["design"];
    assert_eq!((&design["unit"], &design["n_units"], &design["cases"]), (&json!("family"), &json!(6), &json!(12)));
    // six deltas of 1/2 with the pads 1/2 and −1/2: squares 8/4, sum 3, (2 − 9/8)/7 = 1/8
    near(&plan["spread"]["standard_deviation"], 0.125_f64.sqrt());
    assert_eq!(plan["spread"]["noise"], 0.0);
    near(
        &plan["smallest_detectable_lift"]["value"],
        said.json()["inference"]["overall"]["smallest_detectable_lift"]["value"].as_f64().unwrap(),
    );
    // one more family is two cases with two runs in two arms; one more repetition two runs of twelve cases
    assert_eq!((&plan["one_more"]["unit"]["runs"], &plan["one_more"]["repetition"]["runs"]), (&json!(8), &json!(24)));
}

#[test]
fn what_a_report_leaves_out_of_inference_is_left_out_here() {
    // the baseline of one case had the skill: the report pairs it and does not conclude from it
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let workspace = Workspace::with_cases(&names);
    for name in names {
        workspace.write(&format!("runs/{name}/with_skill/output.md"), "yes");
        workspace.write(&format!("runs/{name}/without_skill/output.md"), "no");
    }
    workspace.write("runs/a/without_skill/metadata.json", json!({"skill_loaded": true}).to_string());
    let said = workspace.on_runs("benchmark", &["--quiet", "--format", "json", "--alpha", "0.1", "--min-lift", "0.2"]);
    let units = said.json()["inference"]["overall"]["n_units"].clone();
    workspace.write("benchmark.json", &said.stdout);
    let plan = workspace.run(&["plan", "benchmark.json"]).json();
    assert_eq!(plan["design"]["n_units"], units);
    assert_eq!(plan["design"]["unpaired_cases"], json!(7 - units.as_u64().unwrap()));
    // the thresholds are those of the report
    assert_eq!((&plan["alpha"], &plan["target_lift"], &plan["minimum_units"]), (&json!(0.1), &json!(0.2), &json!(5)));
    // one run in each arm: how noisy runs are is not known
    assert_eq!(plan["by_repetitions_reason"], "too_few_units");
    assert_eq!(plan["one_more"]["repetition_reason"], "too_few_units");
    assert_eq!(plan["spread"]["noise"], Value::Null);
    // noise of rows that say something else than inference is none of its units
    let mut other = twenty();
    let listed: Vec<Value> = (0..10)
        .flat_map(|at| [("turned", 0.5), ("noisy", 0.0)].map(|(name, with)| (format!("{name}{at}"), with)))
        .map(|(case, with)| json!({"case_id": case, "family": null, "estimate_with": with, "estimate_without": 0.0}))
        .collect();
    other["provenance"] = json!({"tool_version": "0.1.0"});
    other["inference"] = json!({"alpha": 0.05, "min_lift": 0.1, "by_case": listed});
    let plan = plan_of(&other, &[]).json();
    assert_eq!((&plan["spread"]["reason"], &plan["spread"]["units_with_noise"]), (&json!("too_few_units"), &json!(0)));
}

#[test]
fn small_and_empty_reports_say_what_is_missing() {
    let one = plan_of(&report_of(&cases_of(1, &[1.0], &[0.0], "c")), &[]);
    assert_eq!(one.code, 6);
    let plan = one.json();
    assert_eq!(
        (&plan["design"]["n_units"], &plan["smallest_detectable_lift"]["reason"]),
        (&json!(1), &json!("too_few_units"))
    );
    // 1 with the pads 1 and −1: squares 3, sum 1, (3 − 1/3)/2
    near(&plan["spread"]["standard_deviation"], (4.0_f64 / 3.0).sqrt());
    assert_eq!(plan["one_more"]["unit"]["reason"], "too_few_units");
    assert!(
        one.stdout.contains(
            "even if the one case got better, that could be chance (alpha 0.05); at least 6 cases are needed"
        ),
        "{}",
        one.stdout
    );

    // both arms, no pair: other repetitions, a broken run
    let mut rows = vec![report_row("a", "with_skill", 1, 1.0), report_row("a", "without_skill", 2, 0.0)];
    rows.extend([report_row("b", "with_skill", 1, 1.0), report_row("b", "without_skill", 1, 0.0)]);
    rows[3]["execution_valid"] = json!(false);
    let mut unpaired = report_of(&[]);
    unpaired["results"] = json!(rows);
    let none = plan_of(&unpaired, &["--format", "table"]);
    assert_eq!(none.code, 6);
    assert!(none.stdout.contains("it has no pair of runs that counts"), "{}", none.stdout);
    assert!(none.stdout.contains("2 cases do not count"), "{}", none.stdout);
    let plan = plan_of(&unpaired, &[]).json();
    assert_eq!((&plan["spread"]["source"], &plan["cases_needed"]["value"]), (&json!("usual"), &json!(128)));
    assert_eq!(plan_of(&report_of(&[]), &[]).code, 6);
}

#[test]
fn wrong_numbers_are_refused_before_anything_is_read() {
    let refused = [
        ["--target-lift", "0"],
        ["--target-lift", "2"],
        ["--target-lift", "NaN"],
        ["--target-lift", "-0.1"],
        ["--target-lift", "inf"],
        ["--target-lift", ""],
        ["--target-lift", "1e999999999"],
        ["--power", "1"],
        ["--power", "0.99999999999999999999"],
        ["--power", "0.05"],
        ["--alpha", "0"],
        ["--alpha", "1"],
        ["--sd", "0"],
        ["--sd", "1.5"],
        ["--better", "0.5"],
        ["--repetitions", "0"],
        ["--models", "10001"],
    ];
    for arguments in refused {
        let said = plan_of_suite(6, &arguments);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{arguments:?} {}", said.stderr);
    }
    let moves = [
        &["--better", "0.7", "--worse", "0.4"][..],
        &["--better", "0.3", "--worse", "0.3"],
        &["--better", "0.3", "--worse", "0.1", "--repetitions", "2"],
        &["--better", "0.3", "--worse", "0.1", "--models", "2"],
        &["--better", "0.3", "--worse", "0.1", "--sd", "0.2"],
        &["--better", "0.3", "--worse", "0.1", "--target-lift", "0.2"],
    ];
    for arguments in moves {
        assert_eq!(plan_of_suite(6, arguments).code, 2, "{arguments:?}");
    }
    for arguments in [&["--repetitions", "3"][..], &["--better", "0.3", "--worse", "0.1"], &["--split", "tune"]] {
        let said = plan_of(&twenty(), arguments);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(said.stderr.contains("a report says itself what was run"), "{}", said.stderr);
    }
    // the largest lift needs the fewest cases that can reach alpha, and a minute one more than are planned
    let largest = plan_of_suite(6, &["--target-lift", "1"]).json();
    assert_eq!(largest["cases_needed"]["value"], 6);
    let minute = plan_of_suite(6, &["--target-lift", "1e-300"]).json();
    assert_eq!(
        minute["cases_needed"],
        json!({"value": null, "runs": null, "usd": null, "reason": "beyond_exact_budget"})
    );
    let sure = plan_of_suite(6, &["--alpha", "1e-400"]);
    assert_eq!((sure.code, &sure.json()["minimum_units"]), (6, &json!(1330)));
}

#[test]
fn refused_files_are_named() {
    let workspace = Workspace::with_cases(&["a"]);
    workspace.write("broken.json", "{\"results\": [");
    workspace.write("list.json", "[1, 2]");
    workspace.write(
        "other.json",
        json!({"runs": [{"eval_id": 1, "configuration": "with_skill", "pass_rate": 1.0}]}).to_string(),
    );
    let mut twice = twenty();
    let case = json!({"case_id": "a", "estimate_with": 1.0, "estimate_without": 0.0});
    twice["inference"] = json!({"by_case": [case, case]});
    workspace.write("twice.json", twice.to_string());
    twice["inference"] = json!({"by_case": [{"case_id": "a", "estimate_with": 1.5, "estimate_without": 0.0}]});
    workspace.write("no-rate.json", twice.to_string());
    let says = [
        ("missing.json", "no such file"),
        ("evals", "is a folder"),
        ("broken.json", "FAIL"),
        ("list.json", "FAIL"),
        ("other.json", "it is no report of `benchmark`"),
        ("twice.json", "`by_case` names case a twice"),
        ("no-rate.json", "/inference/by_case/0/estimate_with is no rate"),
    ];
    for (file, message) in says {
        let said = workspace.run(&["plan", file]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{file}");
        assert!(said.stderr.contains(message), "{file}: {}", said.stderr);
    }
}

#[test]
fn a_large_report_with_hostile_texts_stays_text() {
    let mut many = cases_of(3_000, &[1.0, 0.5], &[0.25, 0.0], "\u{1b}[31m|@team<script>\u{202e}");
    many.extend(cases_of(1, &[1.0], &[1.0], &"x".repeat(100_000)));
    let mut hostile = report_of(&many);
    hostile["skill_name"] = json!("\u{1b}]0;owned\u{7} | @team <b> \u{202e}");
    hostile["inference"] = json!({"alpha": "0.05", "min_lift": 1e308, "by_case": "none", "overall": []});
    hostile["cost_summary"] = json!({"by_variant": {"with_skill": {"cost_usd": {"n": 1, "sum": 1e308}, "runs": -1},
                                                    "without_skill": {"cost_usd": {"n": 3, "sum": 1e308}}}});
    for format in ["table", "markdown", "json"] {
        let said = plan_of(&hostile, &["--format", format]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        let seen =
            if format == "json" { said.json()["skill_name"].as_str().unwrap().len().to_string() } else { said.stdout };
        assert!(!seen.contains(is_bad), "{format}: {seen}");
        assert!(format != "markdown" || !seen.contains("<b>") && !seen.contains("@team"), "{seen}");
    }
    // what the report states and nobody can use is left alone
    let plan = plan_of(&hostile, &[]).json();
    assert_eq!(
        (&plan["alpha"], &plan["target_lift"], &plan["design"]["n_units"]),
        (&json!(0.05), &json!(0.1), &json!(3_001))
    );
}

#[test]
fn output_goes_where_it_is_asked_for() {
    let workspace = Workspace::new();
    workspace.write("benchmark.json", twenty().to_string());
    let said = workspace.run(&["plan", "benchmark.json", "--out", "plan.json"]);
    let read = |name: &str| std::fs::read_to_string(workspace.path().join(name)).unwrap();
    let plan: Value = serde_json::from_str(&read("plan.json")).unwrap();
    assert_eq!((&plan["source"], &plan["schema_version"]), (&json!("benchmark.json"), &json!(1)));
    assert!(said.stdout.contains("This design can detect a lift of 39\u{a0}pp or more"), "{}", said.stdout);
    let quiet = workspace.run(&["plan", "benchmark.json", "--out", "plan.md", "--format", "markdown", "--quiet"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    assert!(read("plan.md").starts_with("# demo: plan from a report\n"));
    let ascii = workspace.run(&["plan", "benchmark.json", "--format", "table", "--ascii"]);
    assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
    let painted = workspace.run(&["plan", "benchmark.json", "--format", "table", "--color", "always"]);
    assert!(painted.stdout.contains("\u{1b}[1;33mThis design"), "{}", painted.stdout);
    let bad = workspace.run(&["plan", "benchmark.json", "--out", "benchmark.json/plan.json"]);
    assert_eq!((bad.code, bad.stdout.as_str()), (1, ""));
    let help = run_in(Path::new("/"), &["plan", "--help"], &[]);
    assert!(help.stdout.contains("Exit codes: 0 a plan was made"), "{}", help.stdout);
}

#[test]
fn suites_and_shares_for_people() {
    let suite = plan_of_suite(13, &["--format", "table"]);
    let moves = plan_of_suite(20, &["--format", "table", "--better", "0.5", "--worse", "0.1"]);
    let few = plan_of_suite(5, &["--format", "table"]);
    with_settings!({description => "suites without runs", omit_expression => true}, {
        assert_snapshot!("plan_of_a_suite", suite.stdout);
        assert_snapshot!("plan_of_shares", moves.stdout);
        assert_snapshot!("plan_of_too_few_cases", few.stdout);
    });
}

/// Denominators whose common multiple is far beyond 128 bits: the expected deviation is computed in doubles.
#[test]
fn made_up_totals_take_no_time_and_give_the_same() {
    const TOTALS: [u32; 12] = [9973, 9967, 9949, 9941, 9931, 9929, 9923, 9907, 9901, 9887, 9883, 9871];
    let mut rows = Vec::new();
    let mut deltas = Vec::new();
    for case in 1..=8_u32 {
        let mut means = [0.0; 2];
        for (arm, variant) in ["with_skill", "without_skill"].into_iter().enumerate() {
            for (at, total) in TOTALS.into_iter().enumerate() {
                let passed = total / (case + arm as u32 + 1) + at as u32;
                let rate = f64::from(passed) / f64::from(total);
                means[arm] += rate / TOTALS.len() as f64;
                let mut row = report_row(&format!("c{case}"), variant, at + 1, rate);
                row["objective_passed"] = json!(passed);
                row["objective_total"] = json!(total);
                rows.push(row);
            }
        }
        deltas.push(means[0] - means[1]);
    }
    let largest = deltas.iter().fold(0.0_f64, |largest, delta| largest.max(delta.abs()));
    deltas.extend([largest, -largest]);
    let mean = deltas.iter().sum::<f64>() / 10.0;
    let variance = deltas.iter().map(|delta| (delta - mean).powi(2)).sum::<f64>() / 9.0;
    let mut made_up = report_of(&[]);
    made_up["results"] = json!(rows);
    let plan = plan_of(&made_up, &[]).json();
    near(&plan["spread"]["standard_deviation"], variance.sqrt());
    assert_eq!(plan["design"]["repetitions_least"], 12);
}
