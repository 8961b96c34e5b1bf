//! How strong the checks behind the pass rates are, and what judges say of hidden and of visible cases.

use skill_lift_stats::describe;
use skill_lift_stats::rational;

use super::table::{RunTable, TierCount};
use crate::frame::schema::runs::TIERS;
use crate::suite::{OracleTier, Split};

/// The checks and judgements of one case over its scored runs, all arms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleStrength {
    /// Position of the case.
    pub case: u32,
    /// Counts of each tier, in the order of [`TIERS`].
    pub tiers: [TierCount; 3],
}

impl OracleStrength {
    /// Counts of a tier.
    pub fn tier(&self, tier: OracleTier) -> TierCount {
        TIERS.iter().position(|known| *known == tier).map(|at| self.tiers[at]).unwrap_or_default()
    }

    /// Those of all tiers that hold.
    pub fn passed(&self) -> u32 {
        self.tiers.iter().map(|tier| tier.passed).sum()
    }
}

/// The cases that have a check or a judgement in a scored run, by id.
pub fn oracle_strength(table: &RunTable) -> Vec<OracleStrength> {
    let mut tiers = vec![[TierCount::default(); 3]; table.cases.len()];
    for run in table.runs.iter().filter(|run| run.scorable) {
        let Some(of_case) = tiers.get_mut(run.order.case as usize) else { continue };
        for (sum, count) in of_case.iter_mut().zip(&run.tiers) {
            sum.passed = sum.passed.saturating_add(count.passed);
            sum.total = sum.total.saturating_add(count.total);
        }
    }
    let strength = |case: u32| OracleStrength { case, tiers: tiers[case as usize] };
    let has_checks = |strength: &OracleStrength| strength.tiers.iter().any(|tier| tier.total > 0);
    table.cases_by_id().into_iter().map(strength).filter(has_checks).collect()
}

/// Whether the author of a skill could see a case while writing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// No: it was held out.
    HeldOut,
    /// Yes.
    TuneVisible,
}

impl Visibility {
    /// In the order of reports.
    pub const ALL: [Self; 2] = [Self::HeldOut, Self::TuneVisible];

    /// The key in reports.
    pub fn key(self) -> &'static str {
        match self {
            Self::HeldOut => "held_out",
            Self::TuneVisible => "tune_visible",
        }
    }

    fn of(split: Split) -> Self {
        match split {
            Split::Holdout | Split::Holdback => Self::HeldOut,
            Split::Tune => Self::TuneVisible,
        }
    }
}

/// What judges say of the scored runs that have a judgement, all arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Which cases they belong to.
    pub visibility: Visibility,
    /// Runs.
    pub runs: usize,
    /// Mean pass rate of gate and critical judgements, over the runs that have some.
    pub mean_pass_rate: Option<f64>,
    /// Mean score of the soft judgements in 0..=1: mean of each run, then over the runs that have some.
    pub mean_score: Option<f64>,
}

/// The runs with judgements, by what could be seen of their cases; without runs there is no entry.
pub fn by_visibility(table: &RunTable) -> Vec<Judged> {
    let judged = |visibility: Visibility| {
        let of_visibility = |case: u32| table.cases.get(case as usize).map(|case| Visibility::of(case.split));
        let runs: Vec<_> = table
            .runs
            .iter()
            .filter(|run| run.scorable && run.judgements > 0 && of_visibility(run.order.case) == Some(visibility))
            .collect();
        let rates: Vec<f64> =
            runs.iter().filter_map(|run| run.qualitative).map(|rate| rational::to_f64(&rate.value())).collect();
        let scores: Vec<f64> = runs.iter().filter_map(|run| describe::mean(&run.soft_judge_scores)).collect();
        (!runs.is_empty()).then(|| Judged {
            visibility,
            runs: runs.len(),
            mean_pass_rate: describe::mean(&rates),
            mean_score: describe::mean(&scores),
        })
    };
    Visibility::ALL.into_iter().filter_map(judged).collect()
}
