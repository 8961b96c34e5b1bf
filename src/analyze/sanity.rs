//! What to look at before a lift is believed: signs that a run, a grader or an arm is not what it should be.

use std::collections::{BTreeMap, BTreeSet};

use num_traits::Zero;
use skill_lift_contract::BlockedReason;
use skill_lift_stats::rational::{self, Rational};

use super::inference::estimate;
use super::pairing::{Pair, Pairing};
use super::table::{Run, RunTable, WITH_SKILL};

/// A kind of sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SanityKind {
    /// A run or its grader did not come to an end.
    InfrastructureFailures,
    /// A case fails whole in an arm.
    ZeroScoredCells,
    /// A case is worse with the skill.
    CandidateBelowBaseline,
    /// A case is scored in one arm only.
    UnpairedCells,
    /// A grader left assertions out, which count as failed.
    IncompleteVerdicts,
    /// A run without the skill had it.
    BaselineContaminated,
    /// A run with the skill did not load it.
    SkillNotLoaded,
    /// The arms were graded on different numbers of assertions.
    AssertionCountDiffers,
    /// A check had its evidence in one arm and not in the other.
    AsymmetricEvidence,
}

impl SanityKind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::InfrastructureFailures,
        Self::ZeroScoredCells,
        Self::CandidateBelowBaseline,
        Self::UnpairedCells,
        Self::IncompleteVerdicts,
        Self::BaselineContaminated,
        Self::SkillNotLoaded,
        Self::AssertionCountDiffers,
        Self::AsymmetricEvidence,
    ];

    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::InfrastructureFailures => "infrastructure_failures",
            Self::ZeroScoredCells => "zero_scored_cells",
            Self::CandidateBelowBaseline => "candidate_below_baseline",
            Self::UnpairedCells => "unpaired_cells",
            Self::IncompleteVerdicts => "incomplete_verdicts",
            Self::BaselineContaminated => "baseline_contaminated",
            Self::SkillNotLoaded => "skill_not_loaded",
            Self::AssertionCountDiffers => "assertion_count_differs",
            Self::AsymmetricEvidence => "asymmetric_evidence",
        }
    }
}

/// Signs that are named of each kind; all are counted.
const NAMED: usize = 20;

/// The signs of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Signs {
    /// How many there are.
    pub count: usize,
    /// The first of them: a case, an arm, a run directory, a reason.
    pub named: Vec<String>,
}

/// All signs of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sanity {
    /// By kind; a kind without signs has none.
    pub signs: BTreeMap<SanityKind, Signs>,
    /// The lift over the pairs whose skill was loaded, where it was not in some: the estimate that the headline has.
    pub loaded: Option<LoadedLift>,
}

/// The lift over the pairs whose skill was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedLift {
    /// Pairs.
    pub pairs: usize,
    /// Cases.
    pub cases: usize,
    /// Mean over the units of the headline; `None` without a pair.
    pub estimate: Option<Rational>,
}

impl Sanity {
    /// The signs of a tree; `pairing` holds the pairs that inference rests on.
    pub fn of(table: &RunTable, pairing: &Pairing) -> Self {
        let mut sanity = Self { signs: BTreeMap::new(), loaded: None };
        for run in &table.runs {
            sanity.look_at_run(table, run);
        }
        for pair in &pairing.pairs {
            match pair.values {
                Err(BlockedReason::AssertionCountDiffers) => {
                    let case = table.case_id(pair.case);
                    sanity.add(SanityKind::AssertionCountDiffers, || format!("{case}, repetition {}", pair.repetition));
                }
                Err(BlockedReason::AsymmetricEvidence) => {
                    sanity.add(SanityKind::AsymmetricEvidence, || unobserved_in_one_arm(table, pair));
                }
                _ => {}
            }
        }
        sanity.look_at_cells(table);
        sanity.loaded = loaded_lift(table, pairing);
        sanity
    }

    /// Whether nothing needs a look.
    pub fn is_ok(&self) -> bool {
        self.signs.values().all(|signs| signs.count == 0)
    }

    fn add(&mut self, kind: SanityKind, name: impl FnOnce() -> String) {
        let signs = self.signs.entry(kind).or_default();
        signs.count += 1;
        if signs.named.len() < NAMED {
            signs.named.push(name());
        }
    }

    fn look_at_run(&mut self, table: &RunTable, run: &Run) {
        if !run.scorable && !run.unscored_reasons.iter().all(|reason| is_absence(reason)) {
            self.add(SanityKind::InfrastructureFailures, || {
                format!("{} ({})", run.run_dir, run.unscored_reasons.join(", "))
            });
        }
        if run.incomplete_verdicts {
            self.add(SanityKind::IncompleteVerdicts, || run.run_dir.clone());
        }
        if run.contaminated {
            self.add(SanityKind::BaselineContaminated, || run.run_dir.clone());
        }
        if run.skill_loaded == Some(false) && table.variant(run.order.variant) == WITH_SKILL {
            self.add(SanityKind::SkillNotLoaded, || run.run_dir.clone());
        }
    }

    fn look_at_cells(&mut self, table: &RunTable) {
        let arms = [WITH_SKILL, table.baseline.variant()].map(|arm| table.variant_position(arm));
        let mut rates: BTreeMap<(u32, u32), Vec<Rational>> = BTreeMap::new();
        for run in table.runs.iter().filter(|run| run.scorable) {
            let rate = run.compared.map(|rate| rate.value());
            rates.entry((run.order.case, run.order.variant)).or_default().extend(rate);
        }
        for case in 0..table.cases.len() as u32 {
            let means = arms.map(|arm| rates.get(&(case, arm?)).and_then(|rates| rational::mean(rates)));
            let id = table.case_id(case);
            for (arm, mean) in arms.iter().zip(&means) {
                if mean.as_ref().is_some_and(Zero::is_zero) {
                    self.add(SanityKind::ZeroScoredCells, || {
                        format!("{id}, {}", table.variant(arm.unwrap_or_default()))
                    });
                }
            }
            match &means {
                [Some(with), Some(without)] if with < without => {
                    self.add(SanityKind::CandidateBelowBaseline, || id.to_owned());
                }
                [Some(_), None] | [None, Some(_)] => self.add(SanityKind::UnpairedCells, || id.to_owned()),
                _ => {}
            }
        }
    }
}

/// The runs of a pair that lack evidence which the other run has, with the checks.
fn unobserved_in_one_arm(table: &RunTable, pair: &Pair) -> String {
    let runs: Vec<&Run> =
        [pair.with_skill, pair.without_skill].into_iter().flatten().map(|run| &table.runs[run]).collect();
    let names = |run: &Run| table.unobserved.get(run.unobserved).map(Vec::as_slice).unwrap_or_default();
    let lacks = |run: &&Run| {
        let others: BTreeSet<&String> =
            runs.iter().filter(|other| other.order != run.order).flat_map(|run| names(run)).collect();
        let missing: Vec<&str> = names(run).iter().filter(|name| !others.contains(name)).map(String::as_str).collect();
        (!missing.is_empty()).then(|| format!("{} ({})", run.run_dir, missing.join(", ")))
    };
    runs.iter().filter_map(lacks).collect::<Vec<_>>().join("; ")
}

/// Whether a reason says that something is not there, not that something went wrong.
fn is_absence(reason: &str) -> bool {
    ["missing_output", "missing_run", "missing_grading", "no_verdicts", "no_assertions"].contains(&reason)
}

fn loaded_lift(table: &RunTable, pairing: &Pairing) -> Option<LoadedLift> {
    let with_skill = |run: &&Run| table.variant(run.order.variant) == WITH_SKILL;
    if !table.runs.iter().filter(with_skill).any(|run| run.skill_loaded == Some(false)) {
        return None;
    }
    let loaded = pairing.eligible().filter(|(pair, _)| {
        let run = pair.with_skill.and_then(|index| table.runs.get(index));
        run.is_some_and(|run| run.skill_loaded == Some(true))
    });
    let loaded = Pairing { pairs: loaded.map(|(pair, _)| pair.clone()).collect() };
    let cases: BTreeSet<u32> = loaded.pairs.iter().map(|pair| pair.case).collect();
    Some(LoadedLift { pairs: loaded.pairs.len(), cases: cases.len(), estimate: estimate(table, &loaded) })
}
