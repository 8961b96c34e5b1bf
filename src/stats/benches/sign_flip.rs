//! How long the exact sign-flip test takes for many cases, and how much memory.
//!
//! `cargo bench -p skill-lift-stats --bench sign_flip -- [UNITS]` (default: 10,000) prints a Markdown table. Each lattice is tested in a
//! process of its own, so that the peak (`VmHWM` of `/proc/self/status`, Linux only) is its own. Deltas come from SplitMix64 (Steele, Lea &
//! Flood 2014), so they are the same everywhere.

use std::process::{Command, ExitCode};
use std::time::Instant;

use skill_lift_stats::rational::rate;
use skill_lift_stats::{Rational, sign_flip};

const UNITS: usize = 10_000;
/// Measurements of which the median is printed.
const MEASUREMENTS: usize = 5;
const LATTICES: [Lattice; 6] = [
    Lattice { name: "5 runs an arm", with: &[5], without: &[5] },
    Lattice { name: "12 criteria, 5 runs", with: &[60], without: &[60] },
    Lattice { name: "denominator 2520", with: &[2520], without: &[2520] },
    Lattice {
        name: "2 to 7 criteria a case, 5 runs",
        with: &[10, 15, 20, 25, 30, 35],
        without: &[10, 15, 20, 25, 30, 35],
    },
    Lattice {
        name: "the same, some runs missing",
        with: &[10, 12, 15, 20, 25, 28, 35],
        without: &[8, 15, 18, 20, 30, 35],
    },
    Lattice {
        name: "7 to 30 criteria a case",
        with: &[7, 11, 13, 17, 19, 23, 29, 30],
        without: &[7, 11, 13, 17, 19, 23, 29, 30],
    },
];

/// The denominators that the rates of the units have, in turn.
struct Lattice {
    name: &'static str,
    with: &'static [u64],
    without: &'static [u64],
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn rate(&mut self, denominators: &[u64], unit: usize) -> Rational {
        let denominator = denominators[unit % denominators.len()];
        rate(self.next() % (denominator + 1), denominator)
    }
}

/// Pass rates that are uniform in both arms, with every unit in fifty lifted to 1: a p that is neither 1 nor 0.
fn deltas(lattice: &Lattice, units: usize) -> Vec<Rational> {
    let mut random = Random(0x5111_11f7);
    let delta = |unit: usize| {
        let without = random.rate(lattice.without, unit);
        let with = random.rate(lattice.with, unit);
        if unit.is_multiple_of(50) { rate(1, 1) - without } else { with - without }
    };
    (0..units).map(delta).collect()
}

/// The most memory this process ever had, in MiB.
fn peak_mebibytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

fn measure(lattice: &Lattice, units: usize) {
    let deltas = deltas(lattice, units);
    let mut seconds: Vec<f64> = Vec::with_capacity(MEASUREMENTS);
    let mut result = sign_flip(&[]);
    for _ in 0..MEASUREMENTS {
        let start = Instant::now();
        result = sign_flip(&deltas);
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let peak = peak_mebibytes().map_or_else(|| "–".to_owned(), |peak| peak.to_string());
    println!(
        "| {} | {units} | {} | {}{} | {:.6} | {:.3} | {peak} |",
        lattice.name,
        result.moved,
        result.method.as_str(),
        if result.p_is_bound { " (bound)" } else { "" },
        result.p_two_sided,
        seconds[MEASUREMENTS / 2],
    );
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    if let [units, lattice] = numbers[..] {
        let Some(lattice) = LATTICES.get(lattice) else { return ExitCode::FAILURE };
        measure(lattice, units);
        return ExitCode::SUCCESS;
    }
    let units = numbers.first().copied().unwrap_or(UNITS);
    println!("| Lattice | units | moved | method | p | seconds | peak, MiB |");
    println!("|---|---|---|---|---|---|---|");
    let program = std::env::current_exe().expect("the path of this program");
    for lattice in 0..LATTICES.len() {
        let status = Command::new(&program).args([units.to_string(), lattice.to_string()]).status();
        if !status.expect("this program starts").success() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
