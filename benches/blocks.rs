//! How the time of a report grows with the number of runs: grading them, and computing and writing every block.
//!
//! `cargo bench --bench blocks -- [RUNS ...]` (default: 1,000, 10,000 and 100,000) makes a tree of small runs for each number, in
//! the folder for temporary files, and prints a Markdown table. The tree has two models and five repetitions, between two
//! and seven checks a case, costs and tokens, and a lift of about 20 points. Of five measurements of the blocks the median is printed.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use skill_lift::analyze::{AnalysisOptions, analyze};
use skill_lift::grade::GradeOptions;
use skill_lift::judge::Verdicts;
use skill_lift::pipeline::{FrameChoice, Products, Request, RunsSource, evaluate};
use skill_lift::report::{Provenance, ReportHead, RowArray, RowSpool, Sources, write_benchmark};
use skill_lift::runs::IndexOptions;
use skill_lift::suite::{LoadOptions, load};

const MODELS: [&str; 2] = ["small", "large"];
const ARMS: [&str; 2] = ["with_skill", "without_skill"];
const REPETITIONS: usize = 5;
const RUNS_OF_A_CASE: usize = MODELS.len() * ARMS.len() * REPETITIONS;
/// Measurements of which the median is printed.
const MEASUREMENTS: usize = 5;

/// A number that looks random and depends on its inputs alone (SplitMix64, Steele, Lea & Flood 2014).
fn mixed(inputs: [usize; 4]) -> u64 {
    inputs.iter().fold(0x9e37_79b9_7f4a_7c15, |state: u64, input| {
        let mut word = (state ^ *input as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    })
}

fn checks_of(case: usize) -> usize {
    2 + case % 6
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn write_tree(folder: &Path, cases: usize) {
    let case = |case: usize| {
        let checks: Vec<String> = (0..checks_of(case))
            .map(|check| format!(r#"{{"name": "c{check}", "type": "contains", "value": "fact-{check};"}}"#))
            .collect();
        format!(
            r#"{{"id": "case-{case:05}", "split": "tune", "prompt": "p", "domain": "d{}", "difficulty": "{}",
                "tags": ["t{}"], "assertions": [{}]}}"#,
            case % 7,
            ["core", "stretch"][case % 2],
            case % 5,
            checks.join(", ")
        )
    };
    let cases_text: Vec<String> = (0..cases).map(case).collect();
    let suite = format!(
        r#"{{"version": 2, "skill_name": "s", "skill_paths": ["SKILL.md"], "cases": [{}]}}"#,
        cases_text.join(",\n")
    );
    write(&folder.join("evals/shared-benchmark.json"), &suite);
    (0..cases).into_par_iter().for_each(|case| {
        for (model, name) in MODELS.iter().enumerate() {
            for (arm, variant) in ARMS.iter().enumerate() {
                for repetition in 1..=REPETITIONS {
                    let run = folder.join(format!("runs/case-{case:05}/{name}/{variant}/run-{repetition}"));
                    let passes = |check: usize| {
                        let number = mixed([case, 2 * model + arm, repetition, check]) % 100;
                        number < [70, 50][arm]
                    };
                    let facts: Vec<String> = (0..checks_of(case))
                        .filter(|check| passes(*check))
                        .map(|check| format!("fact-{check};"))
                        .collect();
                    write(&run.join("output.md"), &format!("An answer: {}\n", facts.join(" ")));
                    let number = mixed([case, model, arm, repetition]);
                    let metadata = format!(
                        r#"{{"model": "{name}", "provider": "p", "returncode": 0, "elapsed_ms": {}, "total_tokens": {},
                            "cost_normalized": {{"currency": "USD", "total_cost": 0.0{}, "source": "provider_reported"}}}}"#,
                        1000 + number % 977,
                        2000 + number % 1009,
                        1 + number % 89
                    );
                    write(&run.join("metadata.json"), &metadata);
                }
            }
        }
    });
}

struct Times {
    runs: usize,
    grading: Duration,
    blocks: Duration,
}

fn measure(runs: usize) -> Times {
    let folder = tempfile::tempdir().expect("a folder for the tree");
    let cases = runs.div_ceil(RUNS_OF_A_CASE);
    write_tree(folder.path(), cases);
    let loaded = load(&folder.path().join("evals/shared-benchmark.json"), &LoadOptions::default());
    let suite = loaded.suite.expect("the suite is valid");
    let tree = folder.path().join("runs");
    let request = Request {
        suite: &suite,
        runs: RunsSource::Tree(&tree),
        split: None,
        variants: suite.variants.clone(),
        index: IndexOptions::default(),
        grade: GradeOptions { for_analysis: true, ..GradeOptions::default() },
        verdicts: &Verdicts::default(),
        products: Products { frames: FrameChoice::Runs, ..Products::default() },
        progress: None,
    };
    let mut rows = RowArray::begin(std::io::sink()).expect("a sink takes everything");
    let start = Instant::now();
    let frames = evaluate(&request, &mut rows).expect("the runs can be graded").frames.expect("frames");
    let grading = start.elapsed();
    let head = ReportHead {
        manifest: "suite".to_owned(),
        skill_name: suite.skill_name.clone(),
        generated_at: None,
        skipped_trigger_cases: Vec::new(),
    };
    let provenance = Provenance {
        tool_version: env!("CARGO_PKG_VERSION"),
        dialect: "shared-benchmark",
        suite_sha256: None,
        suite_split: None,
        runs_sha256: String::new(),
        options: Default::default(),
        seed: None,
        duplicates_dropped: 0,
        unmatched_judge_results: 0,
        incomplete_judge_results: 0,
        blocks_missing: Provenance::blocks_missing(),
    };
    let mut times: Vec<Duration> = (0..MEASUREMENTS)
        .map(|_| {
            let frames = frames.clone();
            let start = Instant::now();
            let analysis = analyze(frames, &suite.variants, &AnalysisOptions::default()).expect("an analysis");
            let sources = Sources { head: &head, analysis: &analysis, stored: None, judge_spend: None };
            let no_rows = RowSpool::aside().expect("a file aside");
            write_benchmark(&mut std::io::sink(), sources, no_rows, &provenance).expect("a sink takes everything");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    Times { runs: cases * RUNS_OF_A_CASE, grading, blocks: times[MEASUREMENTS / 2] }
}

fn main() -> ExitCode {
    let mut sizes = Vec::new();
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        match argument.parse() {
            Ok(runs) => sizes.push(runs),
            Err(_) => {
                eprintln!("usage: cargo bench --bench blocks -- [RUNS ...]");
                return ExitCode::from(2);
            }
        }
    }
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    println!("| Runs | Grading | Every block | Grading, per 1,000 runs | Every block, per 1,000 runs |");
    println!("|---|---|---|---|---|");
    for size in sizes {
        let Times { runs, grading, blocks } = measure(size);
        let per_thousand = |time: Duration| time.as_secs_f64() * 1e6 / runs as f64;
        println!(
            "| {runs} | {:.3} s | {:.3} s | {:.1} ms | {:.1} ms |",
            grading.as_secs_f64(),
            blocks.as_secs_f64(),
            per_thousand(grading),
            per_thousand(blocks)
        );
    }
    ExitCode::SUCCESS
}
