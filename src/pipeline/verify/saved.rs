//! A report as it was saved, and how it was made.

use std::borrow::Cow;

use crate::json::{Item, JsonError, Limits, Tape};

/// Why a report cannot be verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotVerifiable {
    /// Not strict JSON.
    #[error("{0}")]
    Json(JsonError),
    /// No report at all.
    #[error("is no report of `skill-lift benchmark`")]
    NotAReport,
    /// Rows and checks without the figures of a benchmark.
    #[error("is a report of `skill-lift grade`, which has no figures; verify a report of `skill-lift benchmark`")]
    OfGrade,
    /// Nothing says how it was made.
    #[error(
        "has no `provenance`: nothing says how it was made, as in the reports of skill-benchmark. Make one that can be \
         verified with `skill-lift benchmark SUITE --runs DIR --out FILE`, and hold it against this one with `skill-lift diff`"
    )]
    NoProvenance,
    /// The provenance is not one that this program writes.
    #[error("has a `provenance` that cannot be read: {0}")]
    Provenance(&'static str),
}

/// An option that the report was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedOption<'a> {
    /// Its name without the dashes.
    pub name: Cow<'a, str>,
    /// Its values, one each time that it was given; none of an option without a value.
    pub values: Vec<String>,
}

/// A report of this program.
#[derive(Debug)]
pub struct SavedReport<'t, 'a> {
    text: &'a str,
    root: Item<'t, 'a>,
    rows: Vec<Item<'t, 'a>>,
    options: Vec<RecordedOption<'a>>,
    has_suite: bool,
}

impl<'t, 'a> SavedReport<'t, 'a> {
    /// Where the values of a report stand.
    ///
    /// # Errors
    /// A text that is not strict JSON.
    pub fn tape(text: &str) -> Result<Tape<'_>, NotVerifiable> {
        Tape::read(text, Limits::SIDECAR).map_err(NotVerifiable::Json)
    }

    /// The report in a text; `tape` says where its values stand.
    ///
    /// # Errors
    /// Anything but a report of `benchmark` that says how it was made.
    pub fn of(text: &'a str, tape: &'t Tape<'a>) -> Result<Self, NotVerifiable> {
        let root = tape.root();
        let rows = root.get("results").and_then(Item::items).ok_or(NotVerifiable::NotAReport)?.collect();
        let provenance = root.get("provenance").filter(|provenance| provenance.is_object());
        let is_whole = root.get("paired_summary").is_some_and(Item::is_object);
        let provenance = match (provenance, is_whole) {
            (Some(provenance), true) => provenance,
            (Some(_), false) if root.get("judge_task_count").is_some() => return Err(NotVerifiable::OfGrade),
            (None, true) => return Err(NotVerifiable::NoProvenance),
            (_, false) => return Err(NotVerifiable::NotAReport),
        };
        let is_text = |key: &str| provenance.get(key).is_some_and(|value| value.as_str().is_some());
        if !is_text("tool_version") {
            return Err(NotVerifiable::Provenance("`tool_version` is no text"));
        }
        let options = provenance.get("options").and_then(Item::members);
        let options = options.ok_or(NotVerifiable::Provenance("`options` is no object"))?;
        let option = |(key, value): (Item<'t, 'a>, Item<'t, 'a>)| {
            Some(RecordedOption { name: key.as_str()?, values: values(value)? })
        };
        Ok(Self {
            text,
            root,
            rows,
            options: options
                .map(option)
                .collect::<Option<_>>()
                .ok_or(NotVerifiable::Provenance("an option has a value that no option can have"))?,
            has_suite: is_text("suite_sha256"),
        })
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The whole value.
    pub(super) fn root(&self) -> Item<'t, 'a> {
        self.root
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[Item<'t, 'a>] {
        &self.rows
    }

    /// The options that it was made with, as far as they differ from the defaults.
    pub fn options(&self) -> &[RecordedOption<'a>] {
        &self.options
    }

    /// Whether a suite was read; otherwise a workspace said itself what its cases are.
    pub fn has_suite(&self) -> bool {
        self.has_suite
    }

    /// The path of the suite as it was typed.
    pub fn manifest(&self) -> Option<Cow<'a, str>> {
        self.root.get("manifest").and_then(Item::as_str).filter(|path| !path.is_empty())
    }
}

/// The words behind an option that make the value which a report records.
fn values(value: Item<'_, '_>) -> Option<Vec<String>> {
    let word = |value: Item<'_, '_>| match (value.as_str(), value.as_number()) {
        (Some(text), _) => Some(text.into_owned()),
        (_, Some(number)) => Some(number.text().to_owned()),
        _ => None,
    };
    match (value.as_bool(), value.items()) {
        (Some(true), _) => Some(Vec::new()),
        // an option without a word would be a switch that is on
        (_, Some(items)) => items.map(word).collect::<Option<Vec<_>>>().filter(|words| !words.is_empty()),
        _ => Some(vec![word(value)?]),
    }
}
