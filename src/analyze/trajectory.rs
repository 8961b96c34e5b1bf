//! Whether the skill changes what the agent does, case by case: the pairs whose traces can be compared, how many more
//! steps the skill's arm takes, and which commands only one of the arms ran.

use std::collections::{BTreeMap, HashSet};

use num_bigint::BigInt;
use skill_lift_contract::BlockedReason;
use skill_lift_stats::rational::Rational;

use super::pairing::{Diagnostics, Pairing};
use super::table::{Run, RunTable};
use crate::grade::{Trace, Trajectory};

/// Most commands of one arm that are named of a case.
const COMMANDS_NAMED: usize = 8;

/// How much of what was asked could be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajectoryAvailability {
    /// Every pair.
    Complete,
    /// Some pairs.
    Partial,
    /// None.
    Unavailable,
}

/// The comparison of a tree.
#[derive(Debug)]
pub struct TrajectoryDiff {
    /// Which pairs were compared, and why the others were not.
    pub diagnostics: Diagnostics,
    /// The cases with a compared pair, by id.
    pub cases: Vec<CaseTrajectory>,
    /// Compared runs of which not all commands were kept.
    pub cut_runs: usize,
}

/// The comparison of one case.
#[derive(Debug)]
pub struct CaseTrajectory {
    /// Case id.
    pub case_id: String,
    /// Compared pairs.
    pub pairs: usize,
    /// Mean of with minus without.
    pub mean_deltas: MeanDeltas,
    /// Share of the compared runs with the skill that got at a skill.
    pub with_skill_invoked: Rational,
    /// The same without it.
    pub without_skill_invoked: Rational,
    /// Commands that a run with the skill ran and no run without it, in the order of their first run, the first eight.
    /// `None` when not all commands of the other arm were kept.
    pub commands_only_with_skill: Option<Vec<String>>,
    /// The reverse.
    pub commands_only_without_skill: Option<Vec<String>>,
}

/// Means of with minus without over the pairs of a case.
#[derive(Debug, PartialEq, Eq)]
pub struct MeanDeltas {
    /// Calls of tools in the widest sense.
    pub steps: Rational,
    /// Commands among them.
    pub commands: Rational,
    /// Reads of files and loads of skills among them.
    pub file_reads: Rational,
    /// Writes of files among them.
    pub file_writes: Rational,
}

impl TrajectoryDiff {
    /// Compares the traces of a tree: pairs of all rows, with conditions of their own.
    pub fn of(table: &RunTable) -> Self {
        let pairing = Pairing::<()>::by(table, table.baseline, |run| trajectory(run).map(|_| ()), |(), ()| ());
        let mut pairs_of_case: BTreeMap<u32, Vec<[&Trajectory; 2]>> = BTreeMap::new();
        for (pair, ()) in pairing.eligible() {
            let seen = |index: Option<usize>| trajectory(table.runs.get(index?)?).ok();
            if let (Some(with), Some(without)) = (seen(pair.with_skill), seen(pair.without_skill)) {
                pairs_of_case.entry(pair.case).or_default().push([with, without]);
            }
        }
        let compared = pairs_of_case.values().flatten().flatten();
        let cut_runs = compared.filter(|trajectory| !trajectory.has_all_commands).count();
        let cases = table.cases_by_id().into_iter().filter_map(|case| {
            let pairs = pairs_of_case.get(&case)?;
            Some(CaseTrajectory::of(table.case_id(case).to_owned(), pairs))
        });
        Self { diagnostics: pairing.diagnostics(|_| true), cases: cases.collect(), cut_runs }
    }

    /// How much of what was asked could be compared.
    pub fn availability(&self) -> TrajectoryAvailability {
        match (self.diagnostics.eligible, self.diagnostics.blocked) {
            (0, _) => TrajectoryAvailability::Unavailable,
            (_, 0) => TrajectoryAvailability::Complete,
            _ => TrajectoryAvailability::Partial,
        }
    }
}

/// What the agent did in a run, or why that cannot be compared.
fn trajectory(run: &Run) -> Result<&Trajectory, BlockedReason> {
    match &run.trace {
        _ if !run.scorable => Err(BlockedReason::UnscorableArm),
        Trace::Seen(trajectory) => Ok(trajectory),
        Trace::Incomplete => Err(BlockedReason::IncompleteTraceEvidence),
        Trace::Missing | Trace::Unread => Err(BlockedReason::MissingTraceEvidence),
    }
}

impl CaseTrajectory {
    fn of(case_id: String, pairs: &[[&Trajectory; 2]]) -> Self {
        let mean = |sum: i64| Rational::new(BigInt::from(sum), BigInt::from(pairs.len().max(1)));
        let delta = |count: fn(&Trajectory) -> u32| {
            mean(pairs.iter().map(|[with, without]| i64::from(count(with)) - i64::from(count(without))).sum())
        };
        let invoked = |arm: usize| mean(pairs.iter().map(|pair| i64::from(pair[arm].skill_invoked)).sum());
        let only = |arm: usize, other: usize| {
            let others: HashSet<&String> = pairs.iter().flat_map(|pair| &pair[other].command_texts).collect();
            let has_all = pairs.iter().all(|pair| pair[other].has_all_commands);
            has_all.then(|| {
                let mut named: Vec<String> = Vec::new();
                for command in pairs.iter().flat_map(|pair| &pair[arm].command_texts) {
                    if named.len() < COMMANDS_NAMED && !others.contains(command) && !named.contains(command) {
                        named.push(command.clone());
                    }
                }
                named
            })
        };
        Self {
            case_id,
            pairs: pairs.len(),
            mean_deltas: MeanDeltas {
                steps: delta(|seen| seen.steps),
                commands: delta(|seen| seen.commands),
                file_reads: delta(|seen| seen.file_reads),
                file_writes: delta(|seen| seen.file_writes),
            },
            with_skill_invoked: invoked(0),
            without_skill_invoked: invoked(1),
            commands_only_with_skill: only(0, 1),
            commands_only_without_skill: only(1, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use skill_lift_stats::rational::rate;

    use super::*;

    fn seen(steps: u32, skill_invoked: bool, commands: &[&str]) -> Trajectory {
        Trajectory {
            steps,
            commands: commands.len() as u32,
            skill_invoked,
            command_texts: commands.iter().map(|text| (*text).to_owned()).collect(),
            has_all_commands: true,
            ..Trajectory::default()
        }
    }

    fn named(commands: &Option<Vec<String>>) -> Option<Vec<&str>> {
        commands.as_ref().map(|commands| commands.iter().map(String::as_str).collect())
    }

    #[test]
    fn means_and_commands_over_all_repetitions_of_a_case() {
        let with = [seen(5, true, &["ls", "new", "make"]), seen(2, true, &["b", "new"]), seen(1, false, &[])];
        let without = [seen(4, false, &["make", "old"]), seen(0, false, &[]), seen(0, false, &["b"])];
        let pairs: Vec<[&Trajectory; 2]> = with.iter().zip(&without).map(|(a, b)| [a, b]).collect();
        let case = CaseTrajectory::of("c".to_owned(), &pairs);
        // steps: (5 - 4) + (2 - 0) + (1 - 0) = 4 over 3 pairs; commands: 1 + 2 - 1 = 2
        assert_eq!((case.mean_deltas.steps, case.mean_deltas.commands), (rate(4, 3), rate(2, 3)));
        assert_eq!((case.with_skill_invoked, case.without_skill_invoked), (rate(2, 3), rate(0, 3)));
        // `make` ran in another repetition without the skill, `b` in the third
        assert_eq!(named(&case.commands_only_with_skill), Some(vec!["ls", "new"]));
        assert_eq!(named(&case.commands_only_without_skill), Some(vec!["old"]));
    }

    #[test]
    fn nothing_is_said_to_be_missing_from_an_arm_that_was_cut() {
        let mut cut = seen(1, false, &["a"]);
        cut.has_all_commands = false;
        let whole = seen(1, false, &["b"]);
        let case = CaseTrajectory::of("c".to_owned(), &[[&whole, &cut]]);
        assert_eq!(named(&case.commands_only_with_skill), None);
        assert_eq!(named(&case.commands_only_without_skill), Some(vec!["a"]));
    }

    #[test]
    fn at_most_eight_commands_are_named() {
        let many: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let (with, without) = (seen(10, false, &many), seen(0, false, &[]));
        let case = CaseTrajectory::of("c".to_owned(), &[[&with, &without]]);
        assert_eq!(named(&case.commands_only_with_skill), Some(many[..8].to_vec()));
    }
}
