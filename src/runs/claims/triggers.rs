//! A report of trigger runs: whether an agent loaded the skill by itself, query by query, as the trigger commands of the
//! reference package write it.

use super::error::ClaimsError;
use super::places::{index, is_list, items, member, text_of};
use super::read::{ReadOptions, with_values};
use crate::json::Item;

/// A report of trigger runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTriggers {
    /// The skill under test.
    pub skill_name: Option<String>,
    /// The part that the skill lacked, if the runs are those of an ablation.
    pub ablation: Option<String>,
    /// The runs in the order of the file.
    pub runs: Vec<TriggerRun>,
}

/// One run of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerRun {
    /// The agent.
    pub agent: Option<String>,
    /// Its model; `None` for its usual one.
    pub model: Option<String>,
    /// What was asked.
    pub query: String,
    /// Whether the skill is meant to be loaded.
    pub should_load: bool,
    /// Whether it was; `None` when the run did not come to an end that shows it.
    pub loaded: Option<bool>,
}

/// Reads the bytes of a report of trigger runs.
///
/// # Errors
/// A file that is not strict JSON, is larger than the limit or has too many rows; one without such rows; a row that says
/// neither what was asked nor what happened.
pub fn read_triggers(bytes: &[u8], options: &ReadOptions) -> Result<SavedTriggers, ClaimsError> {
    with_values(bytes, options, |root, _| {
        let list = root.get("results").filter(|list| is_list(*list));
        let Some(list) = list.filter(|list| items(*list).all(is_trigger_row)) else {
            let problem =
                "the rows of a trigger report are expected: `query`, `should_trigger`, `triggered`".to_owned();
            return Err(ClaimsError::Row { pointer: "/results".to_owned(), problem });
        };
        let mut runs = Vec::new();
        for (at, row) in items(list).enumerate() {
            if at >= options.rows {
                return Err(ClaimsError::TooManyRows { pointer: "/results".to_owned(), limit: options.rows });
            }
            runs.push(run(row, &index("/results", at))?);
        }
        let ablation = root.get("ablation");
        let ablation = ablation.and_then(|ablation| match ablation.is_object() {
            true => text_of(ablation, &["id"]),
            false => ablation.as_str().map(|id| id.into_owned()),
        });
        Ok(SavedTriggers { skill_name: text_of(root, &["skill_name"]), ablation, runs })
    })
}

fn is_trigger_row(row: Item<'_, '_>) -> bool {
    row.get("query").is_some() && row.get("should_trigger").is_some()
}

fn run(row: Item<'_, '_>, place: &str) -> Result<TriggerRun, ClaimsError> {
    let flag = |key: &str| {
        let value = row.get(key).and_then(Item::as_bool);
        value.ok_or_else(|| ClaimsError::Row {
            pointer: member(place, key),
            problem: "expected true or false".to_owned(),
        })
    };
    let query = text_of(row, &["query"]);
    let query = query.ok_or_else(|| ClaimsError::Row {
        pointer: member(place, "query"),
        problem: "a text is expected".to_owned(),
    })?;
    // a report without the key counts every run as complete
    let is_complete = match row.get("observation_complete") {
        None => true,
        Some(_) => flag("observation_complete")?,
    };
    let loaded = flag("triggered")?;
    Ok(TriggerRun {
        agent: text_of(row, &["agent"]),
        model: text_of(row, &["model"]),
        query,
        should_load: flag("should_trigger")?,
        loaded: is_complete.then_some(loaded),
    })
}
