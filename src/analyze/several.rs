//! Several skills side by side: what they cost together, and the mean lift over them.

use skill_lift_stats::Withheld;
use skill_lift_stats::random_effects::{RandomEffects, SkillEffect, random_effects};
use skill_lift_stats::rational::{self, Rational};

use super::Analysis;
use super::telemetry::{Coverage, PopulationRule, Totals};
use crate::runs::RunTelemetry;

/// One skill with its analysis.
#[derive(Debug, Clone, Copy)]
pub struct OneSkill<'a> {
    /// Its name.
    pub name: &'a str,
    /// What was computed from its runs.
    pub analysis: &'a Analysis,
}

/// Several skills together.
#[derive(Debug)]
pub struct SeveralSkills {
    /// How many runs say what they used.
    pub coverage: Coverage,
    /// What all runs used together.
    pub totals: Totals,
    /// The lift of each skill that has one, with its standard error; or why it has none.
    pub effects: Vec<(String, Result<SkillEffect, Withheld>)>,
    /// The mean lift over the skills, each with a true lift of its own (random effects).
    pub mean: Result<RandomEffects, Withheld>,
}

impl SeveralSkills {
    /// Of some skills. `alpha` is the error rate of the limits.
    pub fn of(skills: &[OneSkill<'_>], alpha: &Rational) -> Self {
        let runs: Vec<&RunTelemetry> =
            skills.iter().flat_map(|skill| skill.analysis.table.telemetry.iter()).map(|used| &used.telemetry).collect();
        let effects: Vec<(String, Result<SkillEffect, Withheld>)> =
            skills.iter().map(|skill| (skill.name.to_owned(), effect(skill.analysis))).collect();
        let measured: Vec<SkillEffect> =
            effects.iter().filter_map(|(_, effect)| effect.as_ref().ok().copied()).collect();
        Self {
            coverage: Coverage::of(runs.iter().copied()),
            totals: Totals::of(runs.iter().copied(), PopulationRule::AsStated),
            mean: random_effects(&measured, alpha),
            effects,
        }
    }
}

/// The lift of a skill with the standard error of its padded interval, which is never zero.
fn effect(analysis: &Analysis) -> Result<SkillEffect, Withheld> {
    let overall = &analysis.inference.overall;
    let interval = overall.interval.as_ref().map_err(|reason| *reason)?;
    let lift = overall.test.estimate.as_ref().ok_or(Withheld::NoEligiblePairs)?;
    Ok(SkillEffect { lift: rational::to_f64(lift), standard_error: interval.standard_error })
}
