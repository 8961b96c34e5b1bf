//! The overview of a page: what the template shows, in its order. Every word and every rounded number is made here or in
//! the modules that the terminal and Markdown use.

mod ablations;
mod axis;
mod changes;
mod cost;
mod forest;
mod groups;
mod left_out;
mod measured;
mod skills;
mod triggers;
mod verdict;

use serde::Serialize;

use super::index::{Facts, IndexCase};
use super::{ReviewSource, link};
use crate::report::formats::Again;
use crate::report::{SummaryView, numbers};

/// What the template of the overview shows.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    #[serde(skip)]
    skill: String,
    #[serde(skip)]
    title: String,
    #[serde(skip)]
    size: String,
    eyebrow: String,
    headline: String,
    lead: Vec<Part>,
    note: String,
    banners: Vec<String>,
    lift: forest::LiftTable,
    sure: Fact,
    cost: Fact,
    worth: Option<String>,
    eyes: verdict::Eyes,
    forest: forest::Forest,
    groups: Vec<groups::Group>,
    groups_note: String,
    scatter: cost::Scatter,
    ablations: Vec<ablations::AblationRows>,
    triggers: Option<triggers::TriggerTable>,
    left_out: left_out::LeftOut,
    signs: Vec<left_out::Sign>,
    flags: Vec<left_out::FlagRow>,
    notes: Vec<String>,
    changes: Option<changes::ChangesView>,
    measured: Vec<measured::Line>,
}

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Part {
    text: String,
    strong: bool,
}

impl Part {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), strong: false }
    }

    fn strong(text: impl Into<String>) -> Self {
        Self { text: text.into(), strong: true }
    }
}

/// A question with its answer.
#[derive(Debug, Serialize)]
struct Fact {
    value: String,
    text: String,
}

/// The overview of a page: that of its skill, or of several.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Front {
    One(Box<Overview>),
    Several(Box<skills::Skills>),
}

impl Front {
    pub(super) fn of(source: &ReviewSource<'_>, facts: &[Facts<'_>], cases: &[IndexCase]) -> Self {
        let mut rest = cases;
        let of_skills = source.skills.iter().zip(facts).map(|(skill, facts)| {
            let number = rest.iter().take_while(|case| case.skill == facts.skill).count();
            let (own, others) = rest.split_at(number);
            rest = others;
            let view = SummaryView::of_saved(facts.again.saved, facts.again.analysis);
            skills::SkillOfPage { skill, facts, view, cases: own }
        });
        let of_skills: Vec<skills::SkillOfPage<'_>> = of_skills.collect();
        match (&source.several, of_skills.as_slice()) {
            (None, [one]) => Self::One(Box::new(Overview::of(one, source))),
            _ => Self::Several(Box::new(skills::Skills::of(&of_skills, source, cases))),
        }
    }

    /// What the page is about.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::One(overview) => &overview.skill,
            Self::Several(skills) => &skills.name,
        }
    }

    /// `The skill helps: +21.5 pp`, for the title of the window.
    pub(super) fn title(&self) -> &str {
        match self {
            Self::One(overview) => &overview.title,
            Self::Several(skills) => &skills.headline,
        }
    }

    /// `24 cases, 2 models, 3 repetitions`.
    pub(super) fn size(&self) -> &str {
        match self {
            Self::One(overview) => &overview.size,
            Self::Several(skills) => &skills.size,
        }
    }
}

impl Overview {
    fn of(one: &skills::SkillOfPage<'_>, source: &ReviewSource<'_>) -> Self {
        let skills::SkillOfPage { skill, facts, view, cases } = one;
        let again = facts.again;
        Self {
            skill: view.skill_name.clone(),
            title: title(view, again),
            size: view.size.clone(),
            eyebrow: format!("{}, {}", view.skill_name, view.contrast),
            headline: view.headline.text.clone(),
            lead: verdict::lead(again),
            note: verdict::note(again, view),
            banners: verdict::banners(again),
            lift: forest::LiftTable::of(again),
            sure: verdict::sure(view),
            cost: verdict::cost(again),
            worth: view.paragraphs.iter().find(|(label, _)| *label == "Worth").map(|(_, text)| text.clone()),
            eyes: verdict::Eyes::of(&[(facts, cases)]),
            forest: forest::Forest::of(again, cases),
            groups: groups::groups(again),
            groups_note: groups::note(again),
            scatter: cost::Scatter::of(again, facts.details),
            ablations: ablations::table(again),
            triggers: skill.triggers.map(triggers::TriggerTable::of),
            left_out: left_out::LeftOut::of(facts, view),
            signs: left_out::signs(again),
            flags: left_out::flags(cases),
            notes: view.notes.clone(),
            changes: skill.previous.as_ref().map(|previous| changes::ChangesView::of(again, previous)),
            measured: measured::lines(again, view, source),
        }
    }
}

/// `The skill helps: +21.5 pp`.
fn title(view: &SummaryView, again: Again<'_>) -> String {
    let text = view.headline.text.trim_end_matches('.');
    match &again.analysis.inference.overall.test.estimate {
        Some(estimate) if !again.analysis.is_withheld() => format!("{text}: {}", numbers::points(estimate)),
        _ => text.to_owned(),
    }
}

/// A place in a plot, in percent of its width.
fn percent_of(value: f64) -> String {
    format!("{:.2}%", value.clamp(0.0, 1.0) * 100.0)
}

/// The address of a case, with a filter.
fn case_link(id: &str, filter: Option<&str>) -> String {
    match filter {
        Some(filter) => format!("#case={}&f={filter}", link::encoded(id)),
        None => format!("#case={}", link::encoded(id)),
    }
}
