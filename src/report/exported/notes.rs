//! What an analyst would write under a benchmark and what can be told from the verdicts alone.

use std::collections::BTreeMap;

use skill_lift_stats::describe;

use super::arms::{ArmRole, role};
use super::entries::Entry;
use super::runs::ExportedRun;
use crate::analyze::table::Baseline;

/// Pass rates of one case and arm that spread more than this are noted.
const NOTED_SPREAD: f64 = 0.25;

/// How often a check held, in each of the compared arms.
#[derive(Default, Clone, Copy)]
struct Held {
    with_skill: (usize, usize),
    baseline: (usize, usize),
}

impl Held {
    fn says(self) -> Option<&'static str> {
        let all = |(passed, total): (usize, usize)| total > 0 && passed == total;
        let none = |(passed, total): (usize, usize)| total > 0 && passed == 0;
        match (self.with_skill, self.baseline) {
            (with, without) if all(with) && all(without) => Some("passes in every run of both arms"),
            (with, without) if none(with) && none(without) => Some("fails in every run of both arms"),
            (with, without) if all(with) && none(without) => Some("passes only with the skill"),
            (with, without) if none(with) && all(without) => Some("passes only without the skill"),
            _ => None,
        }
    }
}

/// The notes, ordered by case, then by what they are about.
pub(super) fn patterns(runs: &[ExportedRun<'_>], baseline: Baseline) -> Vec<String> {
    let mut held: BTreeMap<(usize, &str), Held> = BTreeMap::new();
    let mut rates: BTreeMap<(usize, &str), Vec<f64>> = BTreeMap::new();
    let mut names: BTreeMap<usize, &str> = BTreeMap::new();
    for run in runs {
        let Ok(rated) = &run.rated else { continue };
        names.insert(run.eval_id, &run.row.case.id);
        rates.entry((run.eval_id, &run.row.variant)).or_default().push(rated.pass_rate);
        let role = role(&run.row.variant, baseline);
        let entries = run.row.checks.iter().filter_map(|check| Entry::objective(run.row, check));
        for entry in entries.filter(|entry| entry.mark.counts()) {
            let counts = held.entry((run.eval_id, &entry.check.name)).or_default();
            let side = match role {
                ArmRole::Treatment => &mut counts.with_skill,
                ArmRole::Baseline => &mut counts.baseline,
                ArmRole::Other => continue,
            };
            side.0 += usize::from(entry.passed);
            side.1 += 1;
        }
    }
    let name = |eval: usize| names.get(&eval).copied().unwrap_or_default();
    let checks = held.into_iter().filter_map(|((eval, check), held)| {
        Some(format!("Eval {eval} ({}): \"{check}\" {}.", name(eval), held.says()?))
    });
    let spread = rates.into_iter().filter_map(|((eval, variant), rates)| {
        let spread = describe::summary(&rates).stddev.filter(|spread| *spread >= NOTED_SPREAD)?;
        Some(format!("Eval {eval} ({}), {variant}: pass rates spread by {spread:.2} between its runs.", name(eval)))
    });
    checks.chain(spread).collect()
}
