//! Cases that need a look: saturated, hopeless, worse, unstable, vetoed.

use std::collections::{BTreeMap, BTreeSet};

use num_traits::{One, Zero};
use skill_lift_stats::proportion::clopper_pearson_upper;
use skill_lift_stats::rational::{self, Rational};

use super::pairing::{Diagnostics, Pairing};
use super::table::{Run, RunTable};
use crate::suite::EvalIntent;

/// Mean soft score below which a saturated case is called forgettable, in ten-thousandths.
const FORGETTABLE_BELOW_E4: u64 = 7_500;

/// One flag of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flag {
    /// Both arms always pass everything.
    Saturated,
    /// Saturated, but the soft scores with the skill are low.
    Forgettable,
    /// Both arms always fail everything.
    Floor,
    /// The skill's arm is not better.
    NoLift,
    /// The skill's arm does not always pass.
    WithSkillFailure,
    /// Repetitions of one arm and one model differ.
    Flaky {
        /// The arm.
        variant: String,
    },
    /// Critical checks failed.
    CriticalFailure {
        /// The arm.
        variant: String,
        /// The checks.
        names: Vec<String>,
    },
    /// Soft checks with the skill are below the case's reference score.
    BelowReferenceFloor {
        /// The checks.
        names: Vec<String>,
    },
}

impl Flag {
    /// The code in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Saturated => "saturated",
            Self::Forgettable => "forgettable",
            Self::Floor => "floor",
            Self::NoLift => "no_objective_lift",
            Self::WithSkillFailure => "with_skill_failure",
            Self::Flaky { .. } => "flaky",
            Self::CriticalFailure { .. } => "critical_failure",
            Self::BelowReferenceFloor { .. } => "below_reference_floor",
        }
    }

    /// The arm that it is about, if it is about one.
    pub fn variant(&self) -> Option<&str> {
        match self {
            Self::Flaky { variant } | Self::CriticalFailure { variant, .. } => Some(variant),
            _ => None,
        }
    }

    /// The checks that it is about, if it is about some.
    pub fn names(&self) -> Option<&[String]> {
        match self {
            Self::CriticalFailure { names, .. } | Self::BelowReferenceFloor { names } => Some(names),
            _ => None,
        }
    }
}

/// A flag with what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct RaisedFlag {
    /// The flag.
    pub flag: Flag,
    /// Runs behind it: those of the arm that it names, else the paired runs of each arm.
    pub runs: usize,
    /// For a saturated case the share of failures that an arm could still have: one-sided 95 % limit for none in so many
    /// runs.
    pub failure_share_upper: Option<f64>,
}

/// Error rate of the limit of a share of failures, whatever the report is made with: it is that of the limit of regressed
/// cases.
const SHARE_ALPHA: f64 = 0.05;

/// The flags of one case.
#[derive(Debug)]
pub struct CaseFlags {
    /// Case id.
    pub case_id: String,
    /// In the order of [`Flag`].
    pub flags: Vec<RaisedFlag>,
    /// Mean over the eligible pairs with the skill, all models.
    pub with_skill: Rational,
    /// Mean without it.
    pub without_skill: Rational,
    /// Pairs of the case.
    pub pairing: Diagnostics,
    /// What the case is for.
    pub eval_intent: EvalIntent,
}

/// The flagged cases, by id. A case without an eligible pair has no flags.
pub fn case_flags(table: &RunTable, pairing: &Pairing) -> Vec<CaseFlags> {
    let mut runs_of_case: BTreeMap<u32, Vec<&Run>> = BTreeMap::new();
    for run in &table.runs {
        runs_of_case.entry(run.order.case).or_default().push(run);
    }
    let mut pairs_of_case: BTreeMap<u32, Vec<(usize, Rational, Rational)>> = BTreeMap::new();
    for (pair, values) in pairing.eligible() {
        if let Some(with_skill) = pair.with_skill {
            let entry = (with_skill, values.with_skill.clone(), values.without_skill.clone());
            pairs_of_case.entry(pair.case).or_default().push(entry);
        }
    }
    let mut diagnostics = pairing.diagnostics_by_case();
    table
        .cases_by_id()
        .into_iter()
        .filter_map(|case| {
            let pairs = pairs_of_case.get(&case)?;
            let with_skill = rational::mean(&pairs.iter().map(|(_, with, _)| with.clone()).collect::<Vec<_>>())?;
            let without_skill =
                rational::mean(&pairs.iter().map(|(_, _, without)| without.clone()).collect::<Vec<_>>())?;
            let paired: Vec<&Run> = pairs.iter().map(|(index, _, _)| &table.runs[*index]).collect();
            let runs = runs_of_case.get(&case).map(Vec::as_slice).unwrap_or_default();
            let flags = flags_of_case(table, runs, &paired, &with_skill, &without_skill);
            if flags.is_empty() {
                return None;
            }
            Some(CaseFlags {
                case_id: table.case_id(case).to_owned(),
                flags,
                with_skill,
                without_skill,
                pairing: diagnostics.remove(&case).unwrap_or_default(),
                eval_intent: table.cases[case as usize].eval_intent,
            })
        })
        .collect()
}

fn flags_of_case(
    table: &RunTable,
    runs: &[&Run],
    paired: &[&Run],
    with: &Rational,
    without: &Rational,
) -> Vec<RaisedFlag> {
    let mut flags = Vec::new();
    let raised = |flag: Flag| RaisedFlag { flag, runs: paired.len(), failure_share_upper: None };
    if with.is_one() && without.is_one() {
        let failure_share_upper = clopper_pearson_upper(0, paired.len() as u64, SHARE_ALPHA).ok();
        flags.push(RaisedFlag { failure_share_upper, ..raised(Flag::Saturated) });
        let scores: Vec<u64> = paired.iter().filter_map(|run| run.graded_score_e4).map(u64::from).collect();
        if !scores.is_empty() && scores.iter().sum::<u64>() < FORGETTABLE_BELOW_E4 * scores.len() as u64 {
            flags.push(RaisedFlag { runs: scores.len(), ..raised(Flag::Forgettable) });
        }
    }
    if with.is_zero() && without.is_zero() {
        flags.push(raised(Flag::Floor));
    }
    if with <= without {
        flags.push(raised(Flag::NoLift));
    }
    if !with.is_one() {
        flags.push(raised(Flag::WithSkillFailure));
    }
    let mut seen: Vec<u32> = Vec::new();
    for run in runs.iter().filter(|run| run.scorable) {
        if !seen.contains(&run.order.variant) {
            seen.push(run.order.variant);
        }
    }
    for variant in seen {
        let of_variant = || runs.iter().filter(move |run| run.scorable && run.order.variant == variant);
        let mut rates: BTreeMap<Option<u32>, BTreeSet<Rational>> = BTreeMap::new();
        for run in of_variant() {
            if let Some(rate) = run.objective {
                rates.entry(run.order.model).or_default().insert(rate.value());
            }
        }
        let name = table.variant(variant).to_owned();
        if rates.values().any(|rates| rates.len() > 1) {
            let flag = Flag::Flaky { variant: name.clone() };
            let rated = of_variant().filter(|run| run.objective.is_some()).count();
            flags.push(RaisedFlag { runs: rated, ..raised(flag) });
        }
        let names: BTreeSet<&String> = of_variant().flat_map(|run| &run.critical_failures).collect();
        if !names.is_empty() {
            let flag = Flag::CriticalFailure { variant: name, names: names.into_iter().cloned().collect() };
            flags.push(RaisedFlag { runs: of_variant().count(), ..raised(flag) });
        }
    }
    let below: BTreeSet<&String> = paired.iter().flat_map(|run| &run.below_reference_floor).collect();
    if !below.is_empty() {
        flags.push(raised(Flag::BelowReferenceFloor { names: below.into_iter().cloned().collect() }));
    }
    flags
}
