//! Files that others published, when they are at hand: `SKILL_LIFT_CORPUS` names the folder.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skill_lift::runs::claims::{ClaimForm, Claims, ClaimsError, ReadOptions, arms, lift, load};
use skill_lift_stats::rational;

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("SKILL_LIFT_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("the corpus was not given (SKILL_LIFT_CORPUS): published result files are not read");
    }
    folder
}

/// The items of the index with their expectations: files by themselves, and benchmarks of trees.
fn expected(corpus: &Path) -> Vec<(String, Value)> {
    let index: Value = serde_json::from_str(&std::fs::read_to_string(corpus.join("INDEX.json")).unwrap()).unwrap();
    let items = index["items"].as_array().unwrap().iter();
    items
        .filter_map(|item| {
            let (path, expected) = (item["path"].as_str()?.to_owned(), &item["what_a_reader_should_get"]);
            match item["kind"].as_str()? {
                "result-file" => Some((path, expected.clone())),
                "result-tree" => Some((format!("{path}/benchmark.json"), expected.get("benchmark_json")?.clone())),
                _ => None,
            }
        })
        .collect()
}

/// The words of the index for a form.
fn words(form: ClaimForm) -> &'static str {
    match form {
        ClaimForm::RunRecords | ClaimForm::FlatRuns | ClaimForm::SummaryList | ClaimForm::PairedRuns => "runs",
        ClaimForm::ConfigurationList => "configs configurations",
        ClaimForm::PairedEvals => "evals",
        ClaimForm::CaseMap => "results",
        ClaimForm::TopLevelArms => "arms with evals[]",
        ClaimForm::OneArm => "per_case results[]",
        ClaimForm::AggregateOnly => "aggregate-only",
        ClaimForm::ReferenceReport => "report of the reference package",
        _ => "",
    }
}

/// Where the index and this reader differ, and why. Each is checked against what is written here.
const OTHERWISE: [(&str, &str); 5] = [
    // the index adds up the assertions of a run that has no verdict (6 of 45); here totals are of scored rows
    ("Arindam200__nebius-skills/iteration-1", "without_skill 23/39"),
    // the index refuses the form `iterations[]`; its rows are as clear as those of other forms: 6 of 8 against 8 of 8
    ("ZhaoRuidong__code2design/iteration-1", "with_skill 6/8, without_skill 8/8"),
    // the same form; the last of two iterations: 7 of 8 against 5 of 8
    ("ZhaoRuidong__code2design/iteration-2", "with_skill 7/8, without_skill 5/8"),
    // the index refuses totals of arms beside `per_eval` with a rate for each arm: 4 cases, all 1.0 in both arms
    ("LoonanChauvette__splashr/iteration-1", "with_skill 0/0, without_skill 0/0"),
    // verdicts that are all null, in a grading file: no list of results whatever the verdicts are
    ("meyverick__agentic/grading-template", "refused"),
];

fn totals(claims: &Claims) -> String {
    let arms = arms(claims);
    let shown: Vec<_> =
        arms.iter().map(|arm| format!("{} {}/{}", arm.configuration.written, arm.passed, arm.total)).collect();
    shown.join(", ")
}

fn close(value: Option<rational::Rational>, expected: &Value, what: &str) {
    match (value.map(|value| rational::to_f64(&value)), expected.as_f64()) {
        (Some(value), Some(expected)) => assert!((value - expected).abs() < 1e-6, "{what}: {value} and {expected}"),
        (value, expected) => assert_eq!(value, expected, "{what}"),
    }
}

fn check_rows(path: &str, claims: &Claims, expected: &Value) {
    assert_eq!(claims.rows.len() as u64, expected["rows"], "{path}");
    let arms = arms(claims);
    let configurations = expected["configurations"].as_object().unwrap();
    assert_eq!(arms.len(), configurations.len(), "{path}");
    for arm in &arms {
        let stated = &configurations[&arm.configuration.written];
        let known = OTHERWISE.iter().find(|(name, _)| path.contains(name));
        let what = format!("{path} {}", arm.configuration.written);
        assert_eq!(
            (arm.rows as u64, arm.scored as u64),
            (stated["rows"].as_u64().unwrap(), stated["scored"].as_u64().unwrap()),
            "{what}"
        );
        assert_eq!(arm.passed, stated["passed"].as_u64().unwrap(), "{what}");
        match known.filter(|(_, totals)| totals.starts_with(&arm.configuration.written)) {
            Some((_, totals)) => {
                assert_eq!(format!("{} {}/{}", arm.configuration.written, arm.passed, arm.total), *totals, "{what}")
            }
            None => assert_eq!(arm.total, stated["total"].as_u64().unwrap(), "{what}"),
        }
    }
    let lift = lift(claims);
    if let Some(pairs) = expected.get("paired_evals") {
        assert_eq!(lift.pairs.len() as u64, *pairs, "{path}");
        close(lift.lift(), &expected["case_mean_lift"], path);
    }
}

fn check_published(path: &str, claims: &Claims, expected: &Value) {
    for (metric, value) in expected["published_delta"].as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let found = claims.published_delta.iter().find(|delta| delta.metric == *metric);
        assert_eq!(found.map(|delta| delta.text.as_str()), Some(text.as_str()), "{path} {metric}");
    }
}

fn check_report(path: &str, claims: &Claims, expected: &Value) {
    assert_eq!(claims.rows.len() as u64, expected["results"], "{path}");
    let cases: std::collections::BTreeSet<_> = claims.flags.iter().map(|flag| &flag.case).collect();
    assert_eq!(cases.len() as u64, expected["case_flags"], "{path}");
    let (lift, summary) = (lift(claims), &expected["paired_summary"]);
    close(lift.with.clone(), &summary["with_skill_objective_pass_rate"], path);
    close(lift.without.clone(), &summary["without_skill_objective_pass_rate"], path);
    close(lift.lift(), &summary["absolute_delta"], path);
}

#[test]
fn published_result_files_give_what_was_counted_in_them() {
    let Some(corpus) = corpus() else {
        return;
    };
    let (mut read, mut refused) = (0, 0);
    for (path, expected) in expected(&corpus) {
        let options = ReadOptions::default();
        let claims = load(&corpus.join(&path), &options);
        let known = OTHERWISE.iter().find(|(name, _)| path.contains(name)).map(|(_, what)| *what);
        match (claims, expected["status"].as_str()) {
            (Ok(claims), Some("refused")) => {
                assert_eq!(Some(totals(&claims).as_str()), known, "{path}");
                read += 1;
            }
            (Ok(claims), Some(status)) => {
                assert!(words(claims.form).contains(status), "{path}: {}", claims.form);
                match claims.form {
                    ClaimForm::ReferenceReport => check_report(&path, &claims, &expected),
                    _ => assert_eq!(claims.rows.len() as u64, expected["rows"], "{path}"),
                }
                read += 1;
            }
            (Ok(claims), None) => {
                let form = expected["form"].as_str().unwrap();
                assert!(
                    words(claims.form).split(' ').any(|word| word == form) || words(claims.form) == form,
                    "{path}: {}",
                    claims.form
                );
                check_rows(&path, &claims, &expected);
                check_published(&path, &claims, &expected);
                read += 1;
            }
            (Err(error), status) => {
                refused += 1;
                match (&error, status) {
                    // the reader of JSON counts columns from 1, at the same place
                    (ClaimsError::Json { line: 73, column: 5, .. }, Some("refused")) => {}
                    (ClaimsError::NotResults(near), Some("refused")) => assert_eq!(near.len(), 3, "{path}"),
                    (ClaimsError::NotAnObject("array"), Some("refused")) => {}
                    (ClaimsError::NotResults(_), _) if known == Some("refused") => {}
                    _ => panic!("{path}: {error}"),
                }
            }
        }
    }
    // 17 files and 18 benchmarks of trees
    assert_eq!((read, refused), (30, 5));
}

/// Files that only bear the name.
#[test]
fn published_files_that_are_no_results_are_refused() {
    let Some(corpus) = corpus() else {
        return;
    };
    let mut files = 0;
    let folders = ["not-suites", "suites"].map(|name| std::fs::read_dir(corpus.join(name)).unwrap());
    let mut open: Vec<PathBuf> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            let claims = load(&path, &ReadOptions::default());
            assert!(claims.is_err(), "{}: {:?}", path.display(), claims.map(|claims| (claims.form, claims.rows.len())));
            files += 1;
        }
    }
    assert!(files > 70, "{files}");
}
