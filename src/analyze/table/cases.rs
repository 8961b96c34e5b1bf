//! What the frame `runs` says of each case, read from the first of its rows.

use polars::prelude::*;

use super::text_lists::{TextLists, texts};
use crate::frame::schema::runs as column;
use crate::suite::{EvalIntent, Split};

/// One case.
#[derive(Debug, Clone)]
pub struct CaseFacts {
    /// Its id; empty for a case without a run.
    pub id: String,
    /// Its name for people, if it has one beside its id.
    pub name: Option<String>,
    /// Its family, if it declares one.
    pub family: Option<String>,
    /// The dataset of which it is a row, if it is one.
    pub dataset: Option<String>,
    /// What it is for.
    pub eval_intent: EvalIntent,
    /// Which part of the suite it belongs to.
    pub split: Split,
    /// What kind of case it is.
    pub kind: String,
    /// Slice label.
    pub domain: Option<String>,
    /// Slice label.
    pub difficulty: Option<String>,
    /// Slice label.
    pub trigger_type: Option<String>,
    /// Slice labels that may overlap.
    pub success_goals: Vec<String>,
    /// Free tags.
    pub tags: Vec<String>,
}

impl Default for CaseFacts {
    fn default() -> Self {
        Self {
            id: String::new(),
            name: None,
            family: None,
            dataset: None,
            eval_intent: EvalIntent::Capability,
            split: Split::Tune,
            kind: String::new(),
            domain: None,
            difficulty: None,
            trigger_type: None,
            success_goals: Vec::new(),
            tags: Vec::new(),
        }
    }
}

/// The columns that are about cases.
pub(super) struct CaseColumns {
    position: UInt32Chunked,
    id: StringChunked,
    name: StringChunked,
    family: StringChunked,
    dataset: StringChunked,
    intent: StringChunked,
    split: StringChunked,
    kind: StringChunked,
    domain: StringChunked,
    difficulty: StringChunked,
    trigger_type: StringChunked,
    success_goals: TextLists,
    tags: TextLists,
}

impl CaseColumns {
    pub(super) fn of(frame: &DataFrame) -> Result<Self, PolarsError> {
        let text = |name: &str| -> Result<StringChunked, PolarsError> { Ok(frame.column(name)?.str()?.clone()) };
        Ok(Self {
            position: frame.column(column::CASE_POSITION)?.u32()?.clone(),
            id: text(column::CASE_ID)?,
            name: text(column::CASE_NAME)?,
            family: text(column::FAMILY)?,
            dataset: text(column::DATASET)?,
            intent: text(column::EVAL_INTENT)?,
            split: text(column::SPLIT)?,
            kind: text(column::KIND)?,
            domain: text(column::DOMAIN)?,
            difficulty: text(column::DIFFICULTY)?,
            trigger_type: text(column::TRIGGER_TYPE)?,
            success_goals: TextLists::of(frame, column::SUCCESS_GOALS)?,
            tags: TextLists::of(frame, column::TAGS)?,
        })
    }

    /// The position of the case of a row, which gets its place in `cases`.
    pub(super) fn place(&self, row: usize, cases: &mut Vec<CaseFacts>) -> u32 {
        let position = self.position.get(row).unwrap_or_default();
        if cases.len() <= position as usize {
            cases.resize_with(position as usize + 1, CaseFacts::default);
        }
        if let Some(case) = cases.get_mut(position as usize).filter(|case| case.id.is_empty()) {
            *case = self.facts(row);
        }
        position
    }

    fn facts(&self, row: usize) -> CaseFacts {
        let label = |labels: &StringChunked| labels.get(row).map(str::to_owned);
        CaseFacts {
            id: label(&self.id).unwrap_or_default(),
            name: label(&self.name),
            family: label(&self.family),
            dataset: label(&self.dataset),
            eval_intent: self.intent.get(row).and_then(EvalIntent::from_word).unwrap_or(EvalIntent::Capability),
            split: self.split.get(row).and_then(Split::from_word).unwrap_or(Split::Tune),
            kind: label(&self.kind).unwrap_or_default(),
            domain: label(&self.domain),
            difficulty: label(&self.difficulty),
            trigger_type: label(&self.trigger_type),
            success_goals: texts(&self.success_goals, row),
            tags: texts(&self.tags, row),
        }
    }
}
