//! How often the methods are wrong: suites from populations whose true lift is known, counted, as Markdown tables.
//!
//! `cargo bench -p skill-lift-stats --bench calibration -- [SUITES]` (default: 20,000 a design). The designs and the random
//! numbers are those of the test of the same name. The costly companions look at the first tenth of the suites. Two
//! processes print the same tables, with any number of threads.

#[path = "../tests/calibration/designs.rs"]
mod designs;
#[path = "../tests/calibration/simulation.rs"]
mod simulation;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use skill_lift_stats::betting::bounded_interval;
use skill_lift_stats::bootstrap::bootstrap_interval;
use skill_lift_stats::interval::equivalence;
use skill_lift_stats::inversion::inversion_interval;
use skill_lift_stats::rational::{mean, to_f64};
use skill_lift_stats::{Rational, Thresholds, VerdictCode, Withheld, paired_t, sign_flip};

use designs::{AT_THE_MARGIN, Design, Generator, LIFTS, NULLS, RARE_HARMS, Suite, TRUTHS};
use simulation::{Headline, exact_misses, misses, runs_as_units_reject, within_cases_rejects};

const SUITES: u32 = 20_000;
/// The companions that cost most see one suite in this many, the first ones.
const COSTLY_SHARE: u32 = 10;

/// How often a two-sided interval misses the truth, and how wide it is.
#[derive(Debug, Clone, Copy, Default)]
struct Coverage {
    suites: u32,
    missed: u32,
    /// Suites for which the method gives limits.
    limited: u32,
    width: f64,
}

impl Coverage {
    /// Deltas that are all equal leave the `point` that the formula degenerates to; any other missing interval covers.
    fn add(&mut self, limits: Result<(f64, f64), Withheld>, point: f64, truth: f64) {
        self.suites += 1;
        match limits {
            Ok((lower, upper)) => {
                self.limited += 1;
                self.width += upper - lower;
                self.missed += u32::from(misses(lower, upper, truth));
            }
            Err(Withheld::ConstantDeltas) => self.missed += u32::from(misses(point, point, truth)),
            Err(_) => {}
        }
    }

    fn missed(&self) -> String {
        share(self.missed, self.suites)
    }

    fn width(&self) -> String {
        if self.limited == 0 { "–".to_owned() } else { format!("{:.2}", self.width / f64::from(self.limited)) }
    }
}

fn share(count: u32, of: u32) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.4}", f64::from(count) / f64::from(of)) }
}

/// A count of suites, where a method applies.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    suites: u32,
    holds: u32,
}

impl Count {
    fn add(&mut self, holds: bool) {
        self.suites += 1;
        self.holds += u32::from(holds);
    }

    fn share(&self) -> String {
        share(self.holds, self.suites)
    }
}

#[derive(Debug, Default)]
struct Tally {
    sign_flip: Count,
    parts: Count,
    runs: Count,
    within_cases: Count,
    padded: Coverage,
    t: Coverage,
    inversion: Coverage,
    betting: Coverage,
    percentile: Coverage,
    bca: Coverage,
}

fn tally(design: Design, suites: u32) -> Tally {
    let thresholds = Thresholds::default();
    let alpha = thresholds.alpha();
    let truth = design.truth();
    let mut generator = Generator::new(design);
    let mut tally = Tally::default();
    for index in 0..suites {
        let suite = generator.suite();
        let units = &suite.units;
        let point = mean(units).as_ref().map_or(0.0, to_f64);
        let headline = Headline::new(units, &thresholds);
        tally.sign_flip.add(headline.rejects);
        tally.padded.add(headline.interval.map(|it| (it.lower, it.upper)), point, truth);
        tally.t.add(paired_t(units, alpha).map(|it| (it.lower, it.upper)), point, truth);
        if !suite.parts.is_empty() {
            tally.parts.add(sign_flip(&suite.parts).at_most(alpha));
        }
        if !suite.runs.is_empty() {
            tally.runs.add(runs_as_units_reject(&suite, alpha));
        }
        if index < suites.div_ceil(COSTLY_SHARE) {
            tally.add_costly(&suite, point, truth, alpha);
        }
    }
    tally
}

impl Tally {
    fn add_costly(&mut self, suite: &Suite, point: f64, truth: f64, alpha: &Rational) {
        let units = &suite.units;
        let inversion = inversion_interval(units, alpha);
        // One point is what is left of an unbounded set: it covers.
        let inversion = inversion.map_err(|reason| match reason {
            Withheld::ConstantDeltas => Withheld::TooFewUnits,
            other => other,
        });
        self.inversion.add(inversion.map(|it| (it.lower_f64(), it.upper_f64())), point, truth);
        self.betting.add(bounded_interval(units, alpha).map(|it| (it.lower, it.upper)), point, truth);
        if !suite.runs.is_empty() {
            self.within_cases.add(within_cases_rejects(suite, alpha));
        }
        match bootstrap_interval(units, alpha) {
            Err(Withheld::TooFewUnits | Withheld::BeyondExactBudget) => {}
            bootstrap => {
                let limits = |limits: &skill_lift_stats::bootstrap::LatticeInterval| {
                    (to_f64(&limits.lower), to_f64(&limits.upper))
                };
                self.percentile.add(
                    bootstrap.as_ref().map(|it| limits(&it.percentile)).map_err(|it| *it),
                    point,
                    truth,
                );
                self.bca.add(bootstrap.as_ref().map(|it| limits(&it.bca)).map_err(|it| *it), point, truth);
            }
        }
    }
}

/// One result per item, in order, computed by as many threads as there are processors.
fn in_parallel<Item: Copy + Sync, Done: Send>(items: &[Item], work: impl Fn(Item) -> Done + Sync) -> Vec<Done> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Done)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&item) = items.get(index) else { break };
                    let result = work(item);
                    done.lock().expect("no thread panics").push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn print_nulls(designs: &[Design], suites: u32) {
    println!(
        "| Design | sign-flip p | padded t | t | inversion | betting | percentile | BCa | parts as units | runs as units | within cases |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (design, tally) in designs.iter().zip(in_parallel(designs, |design| tally(design, suites))) {
        let cells = [
            tally.sign_flip.share(),
            tally.padded.missed(),
            tally.t.missed(),
            tally.inversion.missed(),
            tally.betting.missed(),
            tally.percentile.missed(),
            tally.bca.missed(),
            tally.parts.share(),
            tally.runs.share(),
            tally.within_cases.share(),
        ];
        println!("| {} | {} |", design.label(), cells.join(" | "));
    }
}

fn print_lifts(designs: &[Design], suites: u32) {
    println!(
        "| Design | lift | padded t | t | inversion | betting | percentile | BCa | width: padded t | t | inversion | betting |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (design, tally) in designs.iter().zip(in_parallel(designs, |design| tally(design, suites))) {
        let intervals = [&tally.padded, &tally.t, &tally.inversion, &tally.betting, &tally.percentile, &tally.bca];
        let missed: Vec<String> = intervals.iter().map(|interval| interval.missed()).collect();
        let widths: Vec<String> = intervals[..4].iter().map(|interval| interval.width()).collect();
        println!("| {} | {:.2} | {} | {} |", design.label(), design.truth(), missed.join(" | "), widths.join(" | "));
    }
}

fn print_margin(suites: u32) {
    let thresholds = Thresholds::default();
    println!("| Design | called equivalent | called no_evidence |");
    println!("|---|---|---|");
    let counts = in_parallel(&AT_THE_MARGIN, |design| {
        let mut generator = Generator::new(design);
        let (mut equivalent, mut no_evidence) = (Count::default(), Count::default());
        for _ in 0..suites {
            let units = generator.suite().units;
            let claim = equivalence(&units, thresholds.alpha(), thresholds.min_lift());
            equivalent.add(claim.is_ok_and(|claim| claim.equivalent));
            no_evidence.add(Headline::new(&units, &thresholds).verdict.code == VerdictCode::NoEvidence);
        }
        (equivalent, no_evidence)
    });
    for (design, (equivalent, no_evidence)) in AT_THE_MARGIN.iter().zip(counts) {
        println!("| {} | {} | {} |", design.label(), equivalent.share(), no_evidence.share());
    }
}

fn print_verdicts(suites: u32) {
    const CASES: [usize; 5] = [10, 20, 50, 100, 200];
    const CODES: [VerdictCode; 4] =
        [VerdictCode::Helps, VerdictCode::Harms, VerdictCode::NoEvidence, VerdictCode::TooFewCases];
    let thresholds = Thresholds::default();
    let designs: Vec<Design> =
        TRUTHS.iter().flat_map(|&(name, law)| CASES.map(|cases| Design::new(name, law, cases, 5))).collect();
    let cells = in_parallel(&designs, |design| {
        let mut generator = Generator::new(design);
        let mut counts = [0_u32; CODES.len()];
        for _ in 0..suites {
            let code = Headline::new(&generator.suite().units, &thresholds).verdict.code;
            for (count, _) in counts.iter_mut().zip(CODES).filter(|(_, counted)| *counted == code) {
                *count += 1;
            }
        }
        counts.map(|count| format!("{:.1}", 100.0 * f64::from(count) / f64::from(suites))).join("/")
    });
    println!("| Truth | {} |", CASES.map(|cases| format!("K = {cases}")).join(" | "));
    println!("|---|{}", "---|".repeat(CASES.len()));
    for ((truth, _), row) in TRUTHS.iter().zip(cells.chunks(CASES.len())) {
        println!("| {truth} | {} |", row.join(" | "));
    }
}

fn print_exact() {
    const RANGES: [(usize, usize); 4] = [(6, 20), (21, 50), (51, 100), (101, 200)];
    let thousandths: Vec<u32> = (5..1000).step_by(5).collect();
    println!("| Cases | largest chance of a miss | at K | at the lift |");
    println!("|---|---|---|---|");
    for (first, last) in RANGES {
        let cases: Vec<usize> = (first..=last).collect();
        let missed = in_parallel(&cases, |cases| exact_misses(cases, &thousandths));
        let all = cases.iter().zip(&missed).flat_map(|(cases, missed)| {
            missed.iter().zip(&thousandths).map(move |(missed, lift)| (*missed, *cases, *lift))
        });
        if let Some((missed, cases, lift)) = all.max_by(|left, right| left.0.total_cmp(&right.0)) {
            println!("| {first} to {last} | {missed:.4} | {cases} | {:.3} |", f64::from(lift) / 1000.0);
        }
    }
}

fn main() {
    let suites = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(SUITES);
    let error = |suites: u32| 2.0 * (0.05 * 0.95 / f64::from(suites)).sqrt();
    println!(
        "{suites} suites a design, two standard errors of a share near 0.05: {:.4}; inversion, betting, bootstrap and \
         permutation within cases: the first {}, two standard errors {:.4}.",
        error(suites),
        suites.div_ceil(COSTLY_SHARE),
        error(suites.div_ceil(COSTLY_SHARE)),
    );
    println!(
        "\n## The skill changes nothing on average: share of suites with p at most 0.05, or with 0 outside the interval\n"
    );
    print_nulls(&NULLS, suites);
    println!("\n## A rare harm cancels frequent gains: the same\n");
    print_nulls(&RARE_HARMS, suites);
    println!("\n## The skill helps: share of suites whose interval misses the true lift, and mean width\n");
    print_lifts(&LIFTS, suites);
    println!("\n## Each case is fixed or stays as it is: the largest exact chance that the padded t misses the lift\n");
    print_exact();
    println!("\n## The true lift equals the margin and the smallest lift that matters, 0.10\n");
    print_margin(suites);
    println!("\n## Verdicts (helps/harms/no_evidence/too_few_cases, percent), five runs an arm\n");
    print_verdicts(suites);
}
