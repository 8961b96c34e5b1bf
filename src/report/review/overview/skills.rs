//! The overview of several skills: what they add up to, as far as the report says so, then each skill by itself.

use serde::Serialize;
use skill_lift_stats::Rational;
use skill_lift_stats::verdict::VerdictCode;

use super::forest::{LiftTable, SkillLift};
use super::measured::{self, Line};
use super::verdict::Eyes;
use super::{Fact, Overview};
use crate::report::review::index::{Facts, IndexCase};
use crate::report::review::{ReviewSource, SeveralSource, SkillSource, capitalized};
use crate::report::{SummaryView, numbers, several_words, words};

/// A skill with its part of the page.
pub(super) struct SkillOfPage<'a> {
    pub(super) skill: &'a SkillSource<'a>,
    pub(super) facts: &'a Facts<'a>,
    pub(super) view: SummaryView,
    pub(super) cases: &'a [IndexCase],
}

/// What the template shows.
#[derive(Debug, Serialize)]
pub(in crate::report::review) struct Skills {
    #[serde(skip)]
    pub(super) name: String,
    #[serde(skip)]
    pub(super) size: String,
    eyebrow: String,
    pub(super) headline: String,
    lead: String,
    lift: LiftTable,
    sure: Fact,
    cost: Fact,
    /// What one more passed run is worth is said of single skills.
    worth: Option<String>,
    eyes: Eyes,
    sections: Vec<Section>,
    measured: Vec<Line>,
}

/// One skill.
#[derive(Debug, Serialize)]
struct Section {
    /// Its place in the page.
    id: String,
    name: String,
    /// What is compared.
    contrast: &'static str,
    overview: Overview,
}

impl Skills {
    pub(super) fn of(skills: &[SkillOfPage<'_>], source: &ReviewSource<'_>, cases: &[IndexCase]) -> Self {
        let name = numbers::counted(skills.len(), "skill", "skills");
        let several = source.several.as_ref();
        let usual = skill_lift_stats::Thresholds::default();
        let alpha = several.map_or(usual.alpha(), |several| several.alpha);
        let own: Vec<(&Facts<'_>, &[IndexCase])> = skills.iter().map(|one| (one.facts, one.cases)).collect();
        let rows = skills.iter().enumerate().map(|(at, one)| SkillLift {
            again: one.facts.again,
            name: one.view.skill_name.clone(),
            href: format!("#{}", section_id(at)),
            headline: one.view.headline.text.clone(),
        });
        let mean = several.filter(|several| several.holds_mean).and_then(|several| several.figures.mean.as_ref().ok());
        Self {
            eyebrow: format!("{name}, each against its own baseline"),
            headline: headline(skills),
            lead: lead(several, alpha),
            lift: LiftTable::of_skills(
                rows.collect(),
                mean,
                words::interval_name_of(skill_lift_stats::rational::to_f64(alpha)),
            ),
            sure: sure(skills.len()),
            cost: cost(several),
            worth: None,
            eyes: Eyes::of(&own),
            sections: skills
                .iter()
                .enumerate()
                .map(|(at, one)| Section {
                    id: section_id(at),
                    name: one.view.skill_name.clone(),
                    contrast: one.view.contrast,
                    overview: Overview::of(one, source),
                })
                .collect(),
            measured: several.map(|several| measured::lines_of_several(source, several)).unwrap_or_default(),
            size: numbers::counted(cases.len(), "case", "cases"),
            name,
        }
    }
}

fn section_id(at: usize) -> String {
    format!("skill-{}", at + 1)
}

/// `1 of 3 skills helps, 1 makes results worse`: a count of verdicts, not a verdict of its own.
fn headline(skills: &[SkillOfPage<'_>]) -> String {
    let number = |code: VerdictCode| {
        let analyses = skills.iter().map(|one| one.facts.again.analysis).filter(|analysis| !analysis.is_withheld());
        analyses.filter(|analysis| analysis.inference.overall.verdict.code == code).count()
    };
    let (helps, harms) = (number(VerdictCode::Helps), number(VerdictCode::Harms));
    let all = numbers::counted(skills.len(), "skill", "skills");
    let count = numbers::count;
    let worse = |harms: usize| match harms {
        1 => "1 makes results worse".to_owned(),
        harms => format!("{} make results worse", count(harms)),
    };
    match (helps, harms) {
        (0, 0) => format!("None of {all} is shown to help"),
        (0, harms) => format!("Of {all}, {}", worse(harms)),
        (helps, harms) => {
            let verb = if helps == 1 { "helps" } else { "help" };
            let also = if harms > 0 { format!(", {}", worse(harms)) } else { String::new() };
            format!("{} of {all} {verb}{also}", count(helps))
        }
    }
}

fn lead(several: Option<&SeveralSource<'_>>, alpha: &Rational) -> String {
    match several {
        Some(several) if several.holds_mean => several_words::mean_sentence(several.figures, alpha),
        _ => "Mean lift over the skills: not measured. This report holds none, and its skills are not pooled here."
            .to_owned(),
    }
}

fn sure(skills: usize) -> Fact {
    Fact {
        value: "Each skill by itself".to_owned(),
        text: format!(
            "p and interval of a skill are those of its own cases, not adjusted for {}. What is below has the evidence \
             for each.",
            numbers::counted(skills, "skill", "skills")
        ),
    }
}

/// What all runs cost together.
fn cost(several: Option<&SeveralSource<'_>>) -> Fact {
    match several {
        Some(several) if several.holds_cost => {
            let totals = &several.figures.totals;
            let words = several_words::spent(totals);
            Fact {
                value: capitalized(&words.money),
                text: format!("For all runs of all skills. Tokens: {}.", words.tokens),
            }
        }
        _ => Fact {
            value: "Cost not measured".to_owned(),
            text: "This report does not add up what its runs used.".to_owned(),
        },
    }
}
