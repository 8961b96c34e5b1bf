//! A workspace without any stored verdict as a run tree: its runs are graded like all others.

use std::fs;

use super::index::{Workspace, WorkspaceKind};
use crate::runs::index::{AnswerRule, IndexOptions, RunIndex, RunSlot};

impl Workspace {
    /// Whether some run has verdicts, or a record of them.
    pub fn has_verdicts(&self) -> bool {
        let is_there = |path: &String| fs::symlink_metadata(self.root().join(path)).is_ok();
        self.kind == WorkspaceKind::SkillEval
            || self.units.iter().filter_map(|unit| unit.grading.as_ref()).any(is_there)
    }

    /// The runs as an index. `case_of_eval` has the position of each eval's case; `variants` are the arms in order.
    pub fn run_index(&self, case_of_eval: &[Option<usize>], variants: &[String]) -> RunIndex {
        let slots = self.units.iter().filter_map(|unit| {
            Some(RunSlot::of_directory(
                (*case_of_eval.get(unit.eval)?)?,
                variants.iter().position(|variant| variant == unit.configuration.variant())?,
                unit.configuration.model.clone(),
                unit.repetition.unwrap_or(1),
                unit.run.clone(),
            ))
        });
        let mut slots: Vec<RunSlot> = slots.collect();
        slots.sort_by(|a, b| a.report_order(b));
        let options = IndexOptions {
            on_duplicate: self.options().on_duplicate,
            limits: self.options().limits,
            answers: AnswerRule::TextsOfOutputs,
        };
        let warnings = self.warnings().to_vec();
        RunIndex::of_slots(self.root(), self.shown_root(), slots, warnings, self.duplicates_dropped(), options)
    }
}
