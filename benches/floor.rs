//! How far the program is from the floor: what walking, reading and parsing the same tree costs by itself.
//!
//! `cargo bench --bench floor -- SUITE RUNS [REPETITIONS]` runs both alternately and prints the medians and their ratio.
//! The floor walks the tree on all threads, reads every answer and sidecar file, and parses the sidecars into a typed
//! value; it hashes and grades nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::Deserialize;

/// What a typed reader needs of a sidecar file.
#[derive(Deserialize)]
struct Sidecar {
    #[serde(default)]
    returncode: Option<serde_json::Number>,
    #[serde(default)]
    timed_out: Option<bool>,
    #[serde(default)]
    model: Option<String>,
}

fn run_directories(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut is_run = false;
    let mut folders = Vec::new();
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push(entry.path()),
            Ok(_) => is_run |= entry.file_name() == "output.md" || entry.file_name() == "metadata.json",
            Err(_) => {}
        }
    }
    if is_run {
        found.push(folder.to_owned());
    } else {
        folders.iter().for_each(|folder| run_directories(folder, found));
    }
}

fn read_run(folder: &Path) -> (usize, usize) {
    let mut bytes = fs::read(folder.join("output.md")).map_or(0, |text| text.len());
    let mut parsed = 0;
    for name in ["metadata.json", "metrics.json"] {
        let Ok(text) = fs::read(folder.join(name)) else {
            continue;
        };
        bytes += text.len();
        if let Ok(sidecar) = serde_json::from_slice::<Sidecar>(&text) {
            let known = sidecar.returncode.is_some() || sidecar.timed_out.is_some() || sidecar.model.is_some();
            parsed += usize::from(known);
        }
    }
    (bytes, parsed)
}

fn floor(runs: &Path) -> (Duration, usize, usize) {
    let start = Instant::now();
    let cases: Vec<PathBuf> = fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let directories: Vec<PathBuf> = cases
        .par_iter()
        .flat_map_iter(|case| {
            let mut found = Vec::new();
            run_directories(case, &mut found);
            found
        })
        .collect();
    let (bytes, _) =
        directories.par_iter().map(|folder| read_run(folder)).reduce(|| (0, 0), |(a, b), (c, d)| (a + c, b + d));
    (start.elapsed(), directories.len(), bytes)
}

fn program(suite: &str, runs: &Path, report: &Path) -> Option<Duration> {
    let start = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_skill-lift"))
        .args(["benchmark", suite, "--quiet", "--runs"])
        .arg(runs)
        .arg("--out")
        .arg(report)
        .status()
        .ok()?;
    status.success().then(|| start.elapsed())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [suite, runs, rest @ ..] = arguments.as_slice() else {
        println!("usage: cargo bench --bench floor -- SUITE RUNS [REPETITIONS]");
        return ExitCode::SUCCESS;
    };
    let repetitions: usize = rest.first().and_then(|text| text.parse().ok()).unwrap_or(5);
    let runs = Path::new(runs);
    let report = std::env::temp_dir().join(format!("skill-lift-floor-{}.json", std::process::id()));
    let (mut floors, mut programs) = (Vec::new(), Vec::new());
    let mut size = (0, 0);
    for _ in 0..repetitions {
        let (time, directories, bytes) = floor(runs);
        floors.push(time);
        size = (directories, bytes);
        match program(suite, runs, &report) {
            Some(time) => programs.push(time),
            None => {
                eprintln!("skill-lift failed");
                return ExitCode::FAILURE;
            }
        }
    }
    // the report is only written to be timed
    let _ = fs::remove_file(&report);
    let (floor, program) = (median(&mut floors), median(&mut programs));
    println!("{} run directories, {:.0} MB, median of {repetitions}", size.0, size.1 as f64 / 1e6);
    println!("floor (walk, read, typed parse)  {:>8.3} s", floor.as_secs_f64());
    println!("skill-lift benchmark             {:>8.3} s", program.as_secs_f64());
    println!("ratio                            {:>8.2}", program.as_secs_f64() / floor.as_secs_f64());
    ExitCode::SUCCESS
}
