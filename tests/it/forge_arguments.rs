//! What `report` makes of its arguments for iterations of the forge pipeline: folders of iterations, the earlier side,
//! configurations and limits.

use std::fs;

use serde_json::{Value, json};

use crate::forge::{report, sample};
use crate::support::{Said, Workspace};

const CSV: &str = "csv-insights";
const FIRST: &str = "csv-insights/iteration-1";
const SECOND: &str = "csv-insights/iteration-2";

/// The report with a configuration.
fn with_config(workspace: &Workspace, config: &Value, arguments: &[&str]) -> Said {
    workspace.write("config.json", config.to_string());
    report(workspace, &[arguments, &["--thresholds", "config.json"]].concat())
}

#[test]
fn the_earlier_iteration_of_a_folder_is_the_one_before() {
    let workspace = sample(CSV);
    for format in ["json", "upstream-json"] {
        let named = report(&workspace, &[SECOND, "--previous", FIRST, "--format", format]);
        let found = report(&workspace, &[SECOND, "--previous", CSV, "--format", format]);
        assert_eq!((found.code, &found.stdout), (0, &named.stdout), "{format}: {found:#?}");
        assert_eq!(found.json()["comparison"]["previous_iteration"], json!(1));
        let line = format!("Compared with {FIRST}, the latest before this iteration in {CSV}");
        assert_eq!(found.lines("Compared").as_slice(), [line.as_str()]);
        let said = report(&workspace, &[SECOND, "--previous", CSV, "--format", format, "--quiet"]);
        assert_eq!(said.lines("Compared").len(), 0);
        // there is none before the first
        let said = report(&workspace, &[FIRST, "--previous", CSV, "--format", format]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
        assert!(said.stderr.contains("no iteration before number 1; there is iteration-1, iteration-2"), "{said:#?}");
    }
}

#[test]
fn an_iteration_is_not_compared_with_itself() {
    let workspace = sample(CSV);
    std::os::unix::fs::symlink("iteration-2", workspace.path().join("csv-insights/again")).unwrap();
    for format in ["json", "markdown", "upstream-json"] {
        for same in [SECOND, "csv-insights/iteration-1/../iteration-2", "csv-insights/again"] {
            let said = report(&workspace, &[SECOND, "--previous", same, "--format", format]);
            assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{format} {same}: {said:#?}");
            assert!(said.stderr.contains("is the iteration itself"), "{said:#?}");
        }
    }
}

#[test]
fn of_a_folder_of_iterations_the_latest_is_read_and_named() {
    let workspace = sample(CSV);
    for format in ["json", "markdown", "upstream-json"] {
        let named = report(&workspace, &[SECOND, "--format", format]);
        let found = report(&workspace, &[CSV, "--format", format]);
        assert_eq!((found.code, &found.stdout), (0, &named.stdout), "{format}: {found:#?}");
        let warnings = found.lines("WARN other_iterations");
        assert!(
            matches!(warnings.as_slice(), [line] if line.contains("iteration-2 is read, the latest of 2")),
            "{found:#?}"
        );
    }
    // of one iteration there is no other to name
    fs::remove_dir_all(workspace.path().join(FIRST)).unwrap();
    for format in ["json", "upstream-json"] {
        let found = report(&workspace, &[CSV, "--format", format]);
        assert_eq!(
            found.lines("Reads").as_slice(),
            ["Reads csv-insights/iteration-2, the only iteration in csv-insights"]
        );
    }
}

#[test]
fn iterations_of_several_places_are_named() {
    let workspace = sample(CSV);
    fs::rename(workspace.path().join(FIRST), workspace.path().join("iteration-1")).unwrap();
    for more in [&[][..], &["--previous", "auto"]] {
        let said = report(&workspace, &[&["."], more].concat());
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
        assert!(said.stderr.contains("name one of those below it: csv-insights/iteration-2, iteration-1"), "{said:#?}");
    }
}

#[test]
fn trials_that_were_asked_for_and_never_run_are_missing() {
    let workspace = sample(CSV);
    let gated = [FIRST, "--fail-on", "incomplete"];
    // one run of each eval and arm, all of them graded and timed
    assert_eq!(report(&workspace, &gated).code, 0);
    let asked = |trials: u32| json!({"trials_per_eval": trials, "thresholds": {}});
    assert_eq!(with_config(&workspace, &asked(1), &gated).code, 0);
    let said = with_config(&workspace, &asked(3), &gated);
    assert_eq!((said.code, said.stderr.as_str()), (1, "FAIL: the iteration is incomplete\n"));
    for line in [
        "Incomplete (runs, gradings or timings are missing): eval-0, eval-1, eval-2, eval-10",
        "- Fewer runs than the configuration asks for: eval-0 with_skill (1 of 3); eval-0 baseline (1 of 3);",
        "- Run the missing trials of eval-0, eval-1, eval-2, eval-10: the configuration asks for 3 in each arm.",
    ] {
        assert!(said.stdout.lines().any(|shown| shown.starts_with(line)), "{line}\n{}", said.stdout);
    }
    let found = with_config(&workspace, &asked(3), &[FIRST, "--format", "json"]).json();
    assert_eq!(found["incomplete_evals"], json!([0, 1, 2, 10]));
    assert_eq!(found["evals"][0]["baseline"]["trials_never_run"], json!(2));
    // who asks for fewer than there are misses none
    let found = with_config(&workspace, &asked(1), &[SECOND, "--format", "json"]).json();
    assert_eq!(found["evals"][0]["baseline"]["trials_never_run"], json!(0));
    let found = report(&workspace, &[FIRST, "--format", "json"]).json();
    assert_eq!(found["evals"][0]["baseline"]["trials_never_run"], Value::Null);
}

#[test]
fn a_configuration_that_is_not_understood_is_refused() {
    let workspace = sample(CSV);
    for (config, problem) in [
        (json!({"threshold": {"min_pass_rate": 0.9}}), "unknown key `threshold`; did you mean `thresholds`?"),
        (
            json!({"thresholds": {"min_pas_rate": 0.9}}),
            "unknown threshold `min_pas_rate`; did you mean `min_pass_rate`?",
        ),
        (json!({"thresholds": {"speed": 1}}), "unknown threshold `speed`; known are min_pass_rate, "),
        (json!({"thresholds": {"min_pass_rate": 1.5}}), "the threshold `min_pass_rate` is not from 0 to 1"),
        (json!({"thresholds": {}, "previous_benchmark": 1}), "`previous_benchmark` is neither a path nor null"),
    ] {
        for format in ["json", "markdown", "upstream-json"] {
            let said = with_config(&workspace, &config, &[SECOND, "--format", format]);
            assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{config}: {said:#?}");
            assert!(said.stderr.starts_with(&format!("FAIL: config.json: {problem}")), "{said:#?}");
        }
    }
    workspace.write("config.json", "{\n  \"thresholds\": {}},\n}");
    let said = report(&workspace, &[SECOND, "--thresholds", "config.json"]);
    assert!(said.stderr.starts_with("FAIL: config.json: line 2, column 20: "), "{said:#?}");
}

#[test]
fn the_configuration_names_the_earlier_benchmark() {
    let workspace = sample(CSV);
    let aggregate = report(&workspace, &[FIRST, "--format", "upstream-json", "--quiet"]).stdout;
    workspace.write("csv-insights/iteration-1/benchmark.json", &aggregate);
    // below the folder of the configuration, not below the one where the program runs
    let config = json!({"thresholds": {}, "previous_benchmark": "../csv-insights/iteration-1/benchmark.json"});
    workspace.write("settings/config.json", config.to_string());
    let configured = ["--thresholds", "settings/config.json"];
    for format in ["json", "upstream-json"] {
        let named = report(&workspace, &[SECOND, "--previous", FIRST, "--format", format]);
        let found = report(&workspace, &[&[SECOND, "--format", format], &configured[..]].concat());
        assert_eq!((found.code, &found.json()["comparison"]), (0, &named.json()["comparison"]), "{found:#?}");
        assert_eq!(found.json()["comparison"]["previous_iteration"], json!(1));
    }
    // it is enough for --fail-on regressions, and without it that is a wrong argument
    let gated = [SECOND, "--fail-on", "regressions"];
    assert_eq!(report(&workspace, &[&gated[..], &configured[..]].concat()).code, 1);
    for config in [json!({"thresholds": {}}), json!({"thresholds": {}, "previous_benchmark": null})] {
        assert_eq!(with_config(&workspace, &config, &gated).code, 2);
    }
    // the argument wins
    let said = report(&workspace, &[&[SECOND, "--previous", "gone"], &configured[..]].concat());
    assert!(said.code == 1 && said.stderr.contains("gone"), "{said:#?}");
}

#[test]
fn an_earlier_benchmark_that_is_not_there_is_named() {
    let workspace = sample(CSV);
    let config = json!({"thresholds": {}, "previous_benchmark": "archive/benchmark.json"});
    for format in ["json", "upstream-json"] {
        let said = with_config(&workspace, &config, &[SECOND, "--format", format]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
        let problem = "FAIL: `previous_benchmark` of the configuration: cannot read archive/benchmark.json: ";
        assert!(said.stderr.starts_with(problem), "{said:#?}");
    }
    // means alone are enough for the aggregate, not for a comparison eval by eval
    let aggregate = report(&workspace, &[FIRST, "--format", "upstream-json"]).stdout;
    workspace.write("archive/benchmark.json", aggregate);
    let said = with_config(&workspace, &config, &[SECOND, "--format", "upstream-json"]);
    assert_eq!((said.code, &said.json()["comparison"]["previous_iteration"]), (0, &json!(1)), "{said:#?}");
    let said = with_config(&workspace, &config, &[SECOND]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:#?}");
    assert!(said.stderr.contains("the runs of archive/benchmark.json are not beside it"), "{said:#?}");
}

#[test]
fn demands_out_of_their_range_are_wrong_arguments() {
    let workspace = sample(CSV);
    for (flag, value) in [
        ("--min-pass-rate", "1.5"),
        ("--min-pass-rate", "-0.1"),
        ("--max-avg-tokens", "-1"),
        ("--max-avg-duration-seconds", "-0.5"),
        ("--min-improvement-ratio", "-2"),
        ("--min-improvement-ratio", "much"),
    ] {
        let said = report(&workspace, &[SECOND, flag, value]);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{flag} {value}: {said:#?}");
        assert!(said.stderr.contains(&format!("invalid value '{value}' for '{flag}")), "{said:#?}");
    }
    for (flag, value) in [("--min-pass-rate", "0"), ("--min-pass-rate", "1"), ("--min-improvement-ratio", "1.5")] {
        assert_eq!(report(&workspace, &[SECOND, flag, value]).code, 0, "{flag} {value}");
    }
}

#[test]
fn every_figure_of_the_threshold_table_stands_in_the_overall_table() {
    let workspace = sample(CSV);
    let said = report(&workspace, &[SECOND, "--max-avg-tokens", "20000", "--max-avg-duration-seconds", "60"]);
    // tokens with the skill: (14,900 + 17,900 + 7,600 + 16,000) / 4; of the baseline only eval-0 and eval-10 have any
    for row in [
        "| max_avg_tokens | at most 20,000 | 14,100 | PASS | - |",
        "| Avg Tokens (2 paired evals) | 15,450 | 10,150 | +5,300 |",
        "| Avg Tokens (all scored evals) | 14,100 | 10,150 | - |",
    ] {
        assert!(said.stdout.lines().any(|line| line == row), "{row}\n{}", said.stdout);
    }
    let cell = |start: &str, column: usize| {
        let row = said.stdout.lines().find(|line| line.starts_with(start)).unwrap();
        row.split(" | ").nth(column).unwrap().to_owned()
    };
    assert_eq!(cell("| max_avg_duration_seconds |", 2), cell("| Avg Time (all scored evals) |", 1));
    // where every eval is paired one row says it all
    let said = report(&workspace, &[FIRST]);
    assert!(said.stdout.contains("| Avg Tokens |") && !said.stdout.contains("(all scored evals)"), "{said:#?}");
}

#[test]
fn the_report_is_written_under_the_short_name_of_the_option_too() {
    let workspace = sample(CSV);
    let said = report(&workspace, &[SECOND, "--out", "report.md"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, "Wrote report.md\n"), "{said:#?}");
    assert_eq!(fs::read_to_string(workspace.path().join("report.md")).unwrap(), said.stdout);
}
