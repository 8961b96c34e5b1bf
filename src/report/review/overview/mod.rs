//! The overview of a page: what the template shows, in its order. Every word and every rounded number is made here or in
//! the modules that the terminal and Markdown use.

mod axis;
mod changes;
mod cost;
mod forest;
mod groups;
mod left_out;
mod measured;
mod verdict;

use serde::Serialize;

use super::index::{Facts, IndexCase};
use super::link;
use crate::report::SummaryView;

pub(super) use changes::Changes;

/// What the template of the overview shows.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    eyebrow: String,
    pub(super) headline: String,
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

/// What the overview rests on.
pub(super) struct Sources<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) view: &'a SummaryView,
    pub(super) cases: &'a [IndexCase],
    pub(super) changes: Option<Changes<'a>>,
    pub(super) report_sha256: &'a str,
    pub(super) generated_at: Option<&'a str>,
}

impl Overview {
    pub(super) fn of(sources: &Sources<'_>) -> Self {
        let Sources { facts, view, cases, .. } = sources;
        let again = facts.again;
        Self {
            eyebrow: format!("{}, {}", view.skill_name, view.contrast),
            headline: view.headline.text.clone(),
            lead: verdict::lead(again),
            note: verdict::note(again, view),
            banners: verdict::banners(again),
            lift: forest::LiftTable::of(again),
            sure: verdict::sure(view),
            cost: verdict::cost(again),
            worth: view.paragraphs.iter().find(|(label, _)| *label == "Worth").map(|(_, text)| text.clone()),
            eyes: verdict::Eyes::of(facts, cases),
            forest: forest::Forest::of(again, cases),
            groups: groups::groups(again),
            groups_note: groups::note(again),
            scatter: cost::Scatter::of(again, facts.details),
            left_out: left_out::LeftOut::of(again, view),
            signs: left_out::signs(again),
            flags: left_out::flags(cases),
            notes: view.notes.clone(),
            changes: sources.changes.as_ref().map(Changes::view),
            measured: measured::lines(again, view, sources.report_sha256, sources.generated_at),
        }
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
