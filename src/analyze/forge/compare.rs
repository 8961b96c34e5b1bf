//! One iteration against an earlier one, over the arm with the skill.

use std::collections::{BTreeMap, BTreeSet};

use super::iteration::{ArmVerdict, EvalDescription, EvalId, EvalResult, ForgeIteration};

/// Why two evals with the same id are not the same eval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotComparable {
    /// They ask something else.
    PromptDiffers,
    /// They check something else.
    AssertionsDiffer,
}

impl NotComparable {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::PromptDiffers => "prompt_differs",
            Self::AssertionsDiffer => "assertions_differ",
        }
    }
}

/// What changed; every list ascending by id.
#[derive(Debug, Clone, Default)]
pub struct IterationComparison {
    /// Number of the earlier iteration, where its folder has one.
    pub previous: Option<u64>,
    /// Passed before and fail now.
    pub regressions: Vec<EvalId>,
    /// Failed before and pass now.
    pub improvements: Vec<EvalId>,
    /// Not decided now.
    pub undecided: Vec<EvalId>,
    /// A lower rate without a change between passing and failing.
    pub degraded: Vec<EvalId>,
    /// A higher rate without such a change.
    pub gained: Vec<EvalId>,
    /// Compared, and the same.
    pub unchanged: Vec<EvalId>,
    /// The same id, but another prompt or other assertions: not compared.
    pub not_comparable: Vec<(EvalId, Vec<NotComparable>)>,
    /// Compared although an iteration does not describe them: whether prompt and assertions are the same is not known.
    pub unverified: Vec<EvalId>,
    /// Without a scored run with the skill on one side.
    pub without_run: Vec<EvalId>,
    /// Only in this iteration.
    pub added: Vec<EvalId>,
    /// Only in the earlier one.
    pub removed: Vec<EvalId>,
}

impl IterationComparison {
    /// Compares two iterations.
    pub fn of(current: &ForgeIteration, previous: &ForgeIteration) -> Self {
        let mut comparison = Self { previous: previous.number, ..Self::default() };
        let known: BTreeSet<&EvalId> = current.evals.iter().map(|eval| &eval.description.id).collect();
        let before: BTreeMap<&EvalId, &EvalResult> =
            previous.evals.iter().map(|eval| (&eval.description.id, eval)).collect();
        for eval in &current.evals {
            match before.get(&eval.description.id) {
                Some(previous) => comparison.add(eval, previous),
                None => comparison.added.push(eval.description.id.clone()),
            }
        }
        comparison.removed.extend(before.into_keys().filter(|id| !known.contains(id)).cloned());
        comparison
    }

    fn add(&mut self, current: &EvalResult, previous: &EvalResult) {
        let id = current.description.id.clone();
        let differs = differences(&current.description, &previous.description);
        if !differs.is_empty() {
            self.not_comparable.push((id, differs));
            return;
        }
        let (now, before) = (&current.with_skill, &previous.with_skill);
        let (Some(rate_now), Some(rate_before)) = (&now.rate, &before.rate) else {
            self.without_run.push(id);
            return;
        };
        if !(current.description.has_metadata && previous.description.has_metadata) {
            self.unverified.push(id.clone());
        }
        let list = match (before.verdict, now.verdict) {
            (ArmVerdict::Pass, ArmVerdict::Fail) => &mut self.regressions,
            (ArmVerdict::Fail, ArmVerdict::Pass) => &mut self.improvements,
            (_, ArmVerdict::Undecided) => &mut self.undecided,
            _ => match rate_now.cmp(rate_before) {
                std::cmp::Ordering::Less => &mut self.degraded,
                std::cmp::Ordering::Greater => &mut self.gained,
                std::cmp::Ordering::Equal => &mut self.unchanged,
            },
        };
        list.push(id);
    }
}

fn differences(current: &EvalDescription, previous: &EvalDescription) -> Vec<NotComparable> {
    if !(current.has_metadata && previous.has_metadata) {
        return Vec::new();
    }
    // their order does not matter
    let assertions = |eval: &EvalDescription| {
        let mut assertions = eval.assertions.clone();
        assertions.sort();
        assertions
    };
    let differs = [
        (current.prompt != previous.prompt, NotComparable::PromptDiffers),
        (assertions(current) != assertions(previous), NotComparable::AssertionsDiffer),
    ];
    differs.into_iter().filter(|(applies, _)| *applies).map(|(_, reason)| reason).collect()
}
