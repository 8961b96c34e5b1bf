//! The blocks `oracle_strength` and `qualitative_by_visibility`, in the form of version 0.6 of the report format.

use serde::Serialize;
use skill_lift_stats::rational::{self, round_f64_half_even};

use super::compat::rounded;
use super::ordered::Ordered;
use crate::analyze::oracles::{Judged, OracleStrength};
use crate::analyze::table::{RunTable, TierCount};
use crate::frame::schema::runs::TIERS;
use crate::suite::OracleTier;

#[derive(Serialize)]
pub(super) struct StrengthBlock {
    strong_pass_share: Option<f64>,
    passed_by_tier: Ordered<u32>,
    total_by_tier: Ordered<u32>,
}

#[derive(Serialize)]
pub(super) struct JudgedBlock {
    runs: usize,
    mean_qualitative_pass_rate: Option<f64>,
    mean_graded_score: Option<f64>,
}

/// For each case how much of what passes rests on strong oracles.
pub(super) fn strength(table: &RunTable, cases: &[OracleStrength]) -> Ordered<StrengthBlock> {
    let block = |strength: &OracleStrength| {
        let by_tier = |of: fn(&TierCount) -> u32| {
            let counts = TIERS.iter().zip(&strength.tiers).map(|(tier, count)| (tier.word().to_owned(), of(count)));
            Ordered(counts.filter(|(_, count)| *count > 0).collect())
        };
        let (strong, passed) = (strength.tier(OracleTier::Strong).passed, strength.passed());
        StrengthBlock {
            strong_pass_share: (passed > 0).then(|| rounded(&rational::rate(strong.into(), passed.into()), 4)),
            passed_by_tier: by_tier(|count| count.passed),
            total_by_tier: by_tier(|count| count.total),
        }
    };
    Ordered(cases.iter().map(|strength| (table.case_id(strength.case).to_owned(), block(strength))).collect())
}

/// What judges say of cases that were held out, and of those that could be seen.
pub(super) fn by_visibility(judged: &[Judged]) -> Ordered<JudgedBlock> {
    let block = |judged: &Judged| JudgedBlock {
        runs: judged.runs,
        mean_qualitative_pass_rate: judged.mean_pass_rate,
        mean_graded_score: judged.mean_score.map(|score| round_f64_half_even(score, 4)),
    };
    Ordered(judged.iter().map(|judged| (judged.visibility.key().to_owned(), block(judged))).collect())
}
