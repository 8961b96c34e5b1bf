//! Rows that are graded once more, each held against its namesake in the report.

use std::collections::HashMap;
use std::io;

use super::SavedReport;
use crate::analyze::reproduction::{RunChange, RunDifference, RunIdentity, Source, ValueDifference};
use crate::json::pointer::{index, member};
use crate::json::{Item, Limits, Tape, first_difference};
use crate::report::RowWriter;
use crate::suite::{AssertionType, TypeGroup};

/// The member of a row that says where the user had the runs; it may differ.
const FREE: &str = "run_base";

/// Members of a row from which the others follow, in this order.
const CAUSES: [&str; 7] = [
    "missing_output",
    "execution_valid",
    "metadata",
    "assertions",
    "qualitative_assertions",
    "deferred_judge_tasks",
    "stored",
];

/// Takes rows as they are graded and compares them with those of a report.
#[derive(Debug)]
pub struct RowCheck<'s, 'a> {
    rows: &'s [Item<'s, 'a>],
    /// Places of the rows by run; made when a row first does not stand where it should.
    places: Option<HashMap<RunIdentity, usize>>,
    seen: Vec<bool>,
    done: usize,
    found: Found,
}

/// What comparing the rows came to.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) first: Option<RunDifference>,
    pub(super) differing: usize,
    /// Offset in the report of the first row that says the same in other words, or in another place.
    pub(super) rewritten_at: Option<usize>,
}

impl<'s, 'a> RowCheck<'s, 'a> {
    /// Compares with the rows of a report.
    pub fn new(saved: &'s SavedReport<'s, 'a>) -> Self {
        let rows = saved.rows();
        Self { rows, places: None, seen: vec![false; rows.len()], done: 0, found: Found::default() }
    }

    /// What comparing came to, when there are no more rows.
    pub(super) fn finish(mut self) -> Found {
        let gone: Vec<Item<'s, 'a>> =
            self.rows.iter().zip(&self.seen).filter(|(_, seen)| !**seen).map(|(row, _)| *row).collect();
        for row in gone {
            self.found.add(row, RunChange::OnlyInReport);
        }
        self.found
    }

    /// The place of the row about a run: where it is expected, or anywhere else.
    fn place_of(&mut self, run: &RunIdentity, expected: usize) -> Option<usize> {
        if self.rows.get(expected).is_some_and(|row| identity(*row) == *run) {
            return Some(expected);
        }
        let rows = self.rows;
        let places = self.places.get_or_insert_with(|| {
            let mut places = HashMap::with_capacity(rows.len());
            for (at, row) in rows.iter().enumerate() {
                places.entry(identity(*row)).or_insert(at);
            }
            places
        });
        places.get(run).copied().filter(|place| !self.seen[*place])
    }

    fn compare(&mut self, place: usize, now: Item<'_, '_>, text: &str) {
        let saved = self.rows[place];
        if around(saved, saved.text(), saved.span().start) == around(now, text, 0) {
            return;
        }
        let pointer = index("/results", place);
        match cause(&pointer, saved, now).or_else(|| other(&pointer, saved, now)) {
            Some((difference, source)) => {
                self.found.add(now, RunChange::Row { difference, source, files: Vec::new() });
            }
            None => self.found.note_rewritten(saved.span().start),
        }
    }
}

impl RowWriter for RowCheck<'_, '_> {
    fn push(&mut self, row: &[u8]) -> io::Result<()> {
        let expected = self.done;
        self.done += 1;
        if self.rows.get(expected).is_some_and(|saved| saved.text().as_bytes() == row) {
            self.seen[expected] = true;
            return Ok(());
        }
        let text = std::str::from_utf8(row).map_err(io::Error::other)?;
        let tape = Tape::read(text, Limits::SIDECAR).map_err(io::Error::other)?;
        let Some(place) = self.place_of(&identity(tape.root()), expected) else {
            self.found.add(tape.root(), RunChange::OnlyNow);
            return Ok(());
        };
        self.seen[place] = true;
        if place != expected {
            self.found.note_rewritten(self.rows[place].span().start);
        }
        self.compare(place, tape.root(), text);
        Ok(())
    }
}

impl Found {
    fn add(&mut self, row: Item<'_, '_>, change: RunChange) {
        self.differing += 1;
        if self.first.is_none() {
            let run_dir = row.get("run_dir").and_then(Item::as_str).map(|path| path.into_owned());
            self.first = Some(RunDifference { run: identity(row), run_dir, change });
        }
    }

    fn note_rewritten(&mut self, at: usize) {
        self.rewritten_at = Some(self.rewritten_at.map_or(at, |first| first.min(at)));
    }
}

/// Which run a row is about.
fn identity(row: Item<'_, '_>) -> RunIdentity {
    let text = |key: &str| row.get(key).filter(|value| !value.is_null()).map(Item::python_str);
    RunIdentity {
        case: text("case_id").unwrap_or_default(),
        model: text("model"),
        variant: text("variant").unwrap_or_default(),
        repetition: text("run_number").unwrap_or_default(),
    }
}

/// The text of a row without what may differ in it. `start` is where the row begins in the text of its tape.
fn around<'x>(row: Item<'_, '_>, text: &'x str, start: usize) -> (&'x str, &'x str) {
    match row.get(FREE).map(Item::span) {
        Some(span) => (&text[..span.start - start], &text[span.end - start..]),
        None => (text, ""),
    }
}

/// The first difference in what the rest of a row follows from, and what it is read from.
fn cause(pointer: &str, saved: Item<'_, '_>, now: Item<'_, '_>) -> Option<(ValueDifference, Option<Source>)> {
    CAUSES.into_iter().find_map(|key| {
        let (saved, now) = (saved.get(key)?, now.get(key)?);
        let difference = first_difference(&member(pointer, key), saved, now, &[])?;
        let source = match key {
            "missing_output" => Some(Source::Answer),
            "metadata" => Some(Source::Sidecars),
            "stored" => Some(Source::StoredVerdicts),
            "assertions" | "qualitative_assertions" => source_of_check(saved, now),
            _ => None,
        };
        Some((difference.into(), source))
    })
}

fn other(pointer: &str, saved: Item<'_, '_>, now: Item<'_, '_>) -> Option<(ValueDifference, Option<Source>)> {
    Some((first_difference(pointer, saved, now, &[FREE])?.into(), None))
}

/// What the first check that differs is read from.
fn source_of_check(saved: Item<'_, '_>, now: Item<'_, '_>) -> Option<Source> {
    let mut checks = saved.items()?.zip(now.items()?);
    let (_, check) = checks.find(|(saved, now)| first_difference("", *saved, *now, &[]).is_some())?;
    if check.get("recorded").is_some() {
        return Some(Source::StoredVerdicts);
    }
    let kind = AssertionType::from_word(&check.get("type")?.as_str()?)?;
    match (kind, kind.group()) {
        (AssertionType::Script, _) => Some(Source::Program),
        // the file that such a check reads is named in the suite only
        (AssertionType::FileExists | AssertionType::JsonFieldEquals | AssertionType::ContainsInFile, _) => None,
        (_, TypeGroup::Text) => Some(Source::Answer),
        (_, TypeGroup::Process) => Some(Source::Events),
        (_, TypeGroup::Efficiency) => Some(Source::Sidecars),
        (_, TypeGroup::Qualitative) => Some(Source::JudgeResults),
    }
}
