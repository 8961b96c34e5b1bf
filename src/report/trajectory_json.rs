//! The block `trajectory_diff` of a report: whether the skill changes what the agent does.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::rational::Rational;

use super::compat::{Pairing, rounded};
use crate::analyze::table::Baseline;
use crate::analyze::trajectory::{CaseTrajectory, TrajectoryAvailability, TrajectoryDiff};
use crate::grade::trajectory::COMMANDS_KEPT;

#[derive(Serialize)]
pub(super) struct TrajectoryBlock<'a> {
    availability: &'static str,
    pairs_compared: usize,
    pair_diagnostics: Pairing<'a>,
    cases: Vec<Case<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commands_cut: Option<CommandsCut>,
}

/// Said only when commands were left out.
#[derive(Serialize)]
struct CommandsCut {
    runs: usize,
    kept_per_run: usize,
}

struct Case<'a> {
    baseline: Baseline,
    case: &'a CaseTrajectory,
}

#[derive(Serialize)]
struct MeanDeltas {
    steps: f64,
    commands: f64,
    tool_calls: f64,
    file_reads: f64,
    file_writes: f64,
}

struct Invoked<'a> {
    baseline: Baseline,
    case: &'a CaseTrajectory,
}

fn four(value: &Rational) -> f64 {
    rounded(value, 4)
}

impl Serialize for Invoked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("with_skill", &four(&self.case.with_skill_invoked))?;
        map.serialize_entry(self.baseline.variant(), &four(&self.case.without_skill_invoked))?;
        map.end()
    }
}

impl Serialize for Case<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { baseline, case } = *self;
        let deltas = &case.mean_deltas;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("case_id", &case.case_id)?;
        map.serialize_entry("pairs", &case.pairs)?;
        let steps = four(&deltas.steps);
        let mean_deltas = MeanDeltas {
            steps,
            commands: four(&deltas.commands),
            // every step is a call of a tool
            tool_calls: steps,
            file_reads: four(&deltas.file_reads),
            file_writes: four(&deltas.file_writes),
        };
        map.serialize_entry("mean_deltas", &mean_deltas)?;
        map.serialize_entry("skill_invoked", &Invoked { baseline, case })?;
        map.serialize_entry("commands_only_with_skill", &case.commands_only_with_skill)?;
        let key = format!("commands_only_{}", baseline.variant());
        map.serialize_entry(&key, &case.commands_only_without_skill)?;
        map.end()
    }
}

/// The block of a tree.
pub(super) fn block(diff: &TrajectoryDiff, baseline: Baseline) -> TrajectoryBlock<'_> {
    TrajectoryBlock {
        availability: match diff.availability() {
            TrajectoryAvailability::Complete => "complete",
            TrajectoryAvailability::Partial => "partial",
            TrajectoryAvailability::Unavailable => "unavailable",
        },
        pairs_compared: diff.diagnostics.eligible,
        pair_diagnostics: (&diff.diagnostics).into(),
        cases: diff.cases.iter().map(|case| Case { baseline, case }).collect(),
        commands_cut: (diff.cut_runs > 0).then_some(CommandsCut { runs: diff.cut_runs, kept_per_run: COMMANDS_KEPT }),
    }
}
