//! How long the parts take: discovery of runs, each family of assertions, pairing and analysis.
//!
//! `cargo bench --bench parts`

use std::fs;
use std::path::{Path, PathBuf};

use divan::Bencher;
use skill_lift::analyze::pairing::Pairing;
use skill_lift::analyze::table::{Baseline, RunTable};
use skill_lift::analyze::{AnalysisOptions, analyze};
use skill_lift::frame::Frames;
use skill_lift::grade::GradeOptions;
use skill_lift::judge::Verdicts;
use skill_lift::pipeline::{FrameChoice, Products, Request, RunsSource, evaluate};
use skill_lift::report::RowArray;
use skill_lift::runs::{IndexOptions, RunIndex};
use skill_lift::suite::{LoadOptions, Suite, load};
use skill_lift_contract::Metric;

fn main() {
    divan::main();
}

fn demo() -> (Suite, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/demo");
    let loaded = load(&folder.join("evals/shared-benchmark.json"), &LoadOptions::default());
    (loaded.suite.expect("the demo is valid"), folder.join("runs"))
}

fn graded(suite: &Suite, runs: &Path, frames: FrameChoice) -> Option<Frames> {
    let request = Request {
        suite,
        runs: RunsSource::Tree(runs),
        split: None,
        variants: suite.variants.clone(),
        index: IndexOptions::default(),
        grade: GradeOptions::default(),
        verdicts: &Verdicts::default(),
        products: Products { frames, ..Products::default() },
        progress: None,
    };
    let mut rows = RowArray::begin(std::io::sink()).expect("a sink takes everything");
    evaluate(&request, &mut rows).expect("the runs can be graded").frames
}

/// Finding the 260 runs of the demo.
#[divan::bench]
fn discovery(bencher: Bencher) {
    let (suite, runs) = demo();
    let ids: Vec<&str> = suite.cases.iter().map(|case| case.id.as_str()).collect();
    bencher.bench(|| RunIndex::build(&runs, &ids, &ids, &suite.variants, IndexOptions::default()));
}

/// Reading and checking the suite of the demo.
#[divan::bench]
fn suite(bencher: Bencher) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/demo/evals/shared-benchmark.json");
    bencher.bench(|| load(&path, &LoadOptions::default()));
}

const FAMILIES: &[(&str, &str)] = &[
    ("contains", r#"{"type": "contains", "value": "needle"}"#),
    ("regex", r#"{"type": "regex", "pattern": "\\bneedle\\s+\\d+$"}"#),
    ("regex_backtracking", r#"{"type": "regex", "pattern": "(?<!no )needle (\\w+) \\1"}"#),
    ("file_exists", r#"{"type": "file_exists", "path": "outputs/a.json"}"#),
    ("json_field_equals", r#"{"type": "json_field_equals", "field": "model", "equals": "m"}"#),
    ("similarity", r#"{"type": "similarity", "expected": "needle in a text of words"}"#),
    ("structured_output", r#"{"type": "structured_output", "path": "outputs/a.json", "schema": {"type": "object"}}"#),
    ("process", r#"{"type": "command_ran", "pattern": "cargo test"}"#),
    ("efficiency", r#"{"type": "total_tokens_le", "max": 1000}"#),
];

/// Grading 100 runs of 8 KB with one check of a family.
#[divan::bench(args = FAMILIES.iter().map(|(name, _)| *name))]
fn family(bencher: Bencher, name: &str) {
    let assertion = FAMILIES.iter().find(|(family, _)| *family == name).map_or("{}", |(_, assertion)| assertion);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let place = folder.path().join(path);
        fs::create_dir_all(place.parent().expect("a parent")).expect("a folder");
        fs::write(place, text).expect("a file");
    };
    write(
        "evals/shared-benchmark.json",
        &format!(
            r#"{{"version": 2, "skill_name": "s", "skill_paths": ["SKILL.md"], "cases": [
               {{"id": "c", "split": "tune", "prompt": "p", "assertions": [{assertion}]}}]}}"#
        ),
    );
    let answer = "words and more words, é and numbers 12345\n".repeat(200);
    for arm in ["with_skill", "without_skill"] {
        for run in 1..=50 {
            let at = format!("runs/c/{arm}/run-{run}");
            write(&format!("{at}/output.md"), &answer);
            write(&format!("{at}/metadata.json"), r#"{"model": "m", "returncode": 0, "total_tokens": 900}"#);
            write(&format!("{at}/outputs/a.json"), r#"{"n": 1}"#);
            write(
                &format!("{at}/events.json"),
                r#"{"events": [{"type": "command", "status": "completed", "name": "ls"}]}"#,
            );
        }
    }
    let loaded = load(&folder.path().join("evals/shared-benchmark.json"), &LoadOptions::default());
    let suite = loaded.suite.expect("the suite is valid");
    let runs = folder.path().join("runs");
    bencher.bench_local(|| graded(&suite, &runs, FrameChoice::Nothing).is_none());
}

/// Pairing the runs of the demo.
#[divan::bench]
fn pairing(bencher: Bencher) {
    let (suite, runs) = demo();
    let frames = graded(&suite, &runs, FrameChoice::Runs).expect("frames");
    let table = RunTable::read(&frames, &suite.variants, Baseline::default()).expect("a table");
    bencher.bench(|| Pairing::of(&table, Metric::ObjectivePassRate));
}

/// All blocks of the demo.
#[divan::bench]
fn analysis(bencher: Bencher) {
    let (suite, runs) = demo();
    let frames = graded(&suite, &runs, FrameChoice::Runs).expect("frames");
    bencher.bench(|| analyze(frames.clone(), &suite.variants, &AnalysisOptions::default()).map(|a| a.case_flags.len()));
}
