//! What a suite cost, by arm, runner and case, and what of it bought nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::aggregate::PopulationRule;
use super::spend::{Coverage, Spend, Totals};
use crate::runs::RunTelemetry;
use crate::runs::billing::BilledRun;

/// The runner of runs that name none.
const UNKNOWN_RUNNER: &str = "unknown";

/// The whole ledger. Groups are in the order of their names.
#[derive(Debug)]
pub struct Ledger {
    /// How many runs say what they used.
    pub coverage: Coverage,
    /// What all runs used together.
    pub totals: Totals,
    /// By arm.
    pub by_variant: Vec<(String, Spend)>,
    /// By what ran the agent.
    pub by_runner: Vec<(String, Spend)>,
    /// By case.
    pub by_case: Vec<(String, Spend)>,
    /// Positions in `by_case` of the cases that cost most; only those whose cost is known completely.
    pub top_cases: Vec<usize>,
    /// Positions in `by_variant` of the ablations that cost most.
    pub top_ablations: Vec<usize>,
    /// Money for cases that tell the arms not apart, the most expensive first.
    pub findings: Vec<Finding>,
}

/// A case that tells the arms not apart, and what it cost.
#[derive(Debug)]
pub struct Finding {
    /// Position in `by_case`.
    pub case: usize,
    /// The flags of a report that say so.
    pub flags: Vec<String>,
}

/// The flags of a case in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlaggedCase {
    /// Its id.
    pub case_id: String,
    /// Their texts.
    pub flags: Vec<String>,
}

impl Ledger {
    /// The ledger of some runs. `case_ids` are what their positions point into; `top` is how many of the most expensive
    /// are listed; `flagged` are the flags of a report on the same runs.
    pub fn of(runs: &[BilledRun], case_ids: &[&str], flagged: &[FlaggedCase], top: usize) -> Self {
        let all = || runs.iter().map(|run| &run.telemetry);
        let by_variant = group(runs, |run| &run.variant);
        let by_case = group(runs, |run| case_ids.get(run.case).copied().unwrap_or_default());
        let by_runner = group(runs, |run| run.telemetry.runner.as_deref().unwrap_or(UNKNOWN_RUNNER));
        let is_ablation = |(name, _): &(String, Spend)| name.starts_with("ablation:");
        Self {
            coverage: Coverage::of(all()),
            totals: Totals::of(all(), PopulationRule::OfRows),
            top_cases: most_expensive(&by_case, |_| true, top),
            top_ablations: most_expensive(&by_variant, is_ablation, top),
            findings: findings(&by_case, flagged, top),
            by_variant,
            by_runner,
            by_case,
        }
    }
}

fn group<'r>(runs: &'r [BilledRun], key: impl Fn(&'r BilledRun) -> &'r str) -> Vec<(String, Spend)> {
    let mut groups: BTreeMap<&str, Vec<&RunTelemetry>> = BTreeMap::new();
    for run in runs {
        groups.entry(key(run)).or_default().push(&run.telemetry);
    }
    groups.into_iter().map(|(name, runs)| (name.to_owned(), Spend::of(runs.iter().copied()))).collect()
}

/// Positions of the groups that cost most, by dollars, then tokens, then name. What is known only in part is not cheap
/// and not expensive: it is left out.
fn most_expensive(groups: &[(String, Spend)], keep: impl Fn(&(String, Spend)) -> bool, top: usize) -> Vec<usize> {
    let known = |position: usize| {
        let (_, spend) = &groups[position];
        Some((spend.dollars().complete()?, spend.total_tokens.complete().unwrap_or_default()))
    };
    let mut ranked: Vec<(Reverse<(Decimal, u128)>, usize)> = (0..groups.len())
        .filter(|position| keep(&groups[*position]))
        .filter_map(|position| Some((Reverse(known(position)?), position)))
        .collect();
    ranked.sort();
    ranked.into_iter().take(top).map(|(_, position)| position).collect()
}

fn findings(by_case: &[(String, Spend)], flagged: &[FlaggedCase], top: usize) -> Vec<Finding> {
    let mut findings: Vec<(bool, Reverse<Decimal>, Finding)> = Vec::new();
    for FlaggedCase { case_id, flags } in flagged {
        let Ok(case) = by_case.binary_search_by(|(id, _)| id.as_str().cmp(case_id)) else { continue };
        let waste = |flag: &&String| flag.contains("saturated") || flag.contains("no objective lift");
        let flags: Vec<String> = flags.iter().filter(waste).cloned().collect();
        if !flags.is_empty() {
            let dollars = by_case[case].1.dollars().complete();
            findings.push((dollars.is_none(), Reverse(dollars.unwrap_or_default()), Finding { case, flags }));
        }
    }
    // unknown cost last
    findings.sort_by_key(|(is_unknown, dollars, finding)| (*is_unknown, *dollars, finding.case));
    findings.into_iter().take(top).map(|(_, _, finding)| finding).collect()
}
