//! Whether a report says what its suite and its runs say now.
//!
//! In: the text of the report, and the rows as they are graded once more. The report is read as a list of places; a row
//! that was graded is compared with its namesake and dropped. Out: a [`Reproduction`].

mod rows;
mod saved;

pub use rows::RowCheck;
pub use saved::{NotVerifiable, RecordedOption, SavedReport};

use std::path::Path;

use crate::analyze::reproduction::{
    ChangedCondition, Condition, Differences, Reproduction, RunChange, RunFiles, Source, ValueDifference,
};
use crate::json::{Difference, Item, JsonError, Limits, Tape, first_difference};
use crate::runs::output::NAMES as ANSWERS;
use crate::runs::sidecar::NAMES as SIDECARS;

/// Members of a report that say where it was made and when; they may differ.
const FREE: [&str; 2] = ["manifest", "generated_at"];

/// The member whose items are compared one by one.
const ROWS: &str = "results";

/// The digest of the files of the runs, in the provenance.
const DIGEST: &str = "runs_sha256";

/// Files with what the agent did.
const EVENTS: [&str; 2] = ["events.json", "trace.jsonl"];

/// Folder whose files are the answer when there is no file of its own.
const ANSWER_FOLDER: [&str; 1] = ["outputs"];

/// What the rows came to, and `again`, the report that was made once more but without its rows, decide. The directories
/// of runs lie below `runs_root`.
///
/// # Errors
/// When what was made once more cannot be read, which never happens.
pub fn compare(
    saved: &SavedReport<'_, '_>,
    rows: RowCheck<'_, '_>,
    again: &str,
    runs_root: &Path,
) -> Result<Reproduction, JsonError> {
    let tape = Tape::read(again, Limits::SIDECAR)?;
    let now = tape.root();
    let root = saved.root();
    let rows = rows.finish();
    let conditions = conditions(root, now);
    let except = [&FREE[..], &[ROWS, "provenance"]].concat();
    let files = match (in_provenance_of(root, DIGEST), in_provenance_of(now, DIGEST)) {
        (Some(saved), Some(now)) if saved.text() == now.text() => RunFiles::Same,
        (Some(saved), Some(_)) if saved.as_str().is_some() => RunFiles::Changed,
        _ => RunFiles::Unknown,
    };
    let value = first_difference("", root, now, &except).or_else(|| in_provenance(root, now, files));
    let mut run = rows.first;
    if let Some(difference) = &mut run
        && let (RunChange::Row { source: Some(source), files, .. }, Some(run_dir)) =
            (&mut difference.change, &difference.run_dir)
    {
        *files = files_of(*source, &runs_root.join(run_dir));
    }
    let all_agree = conditions.is_empty() && run.is_none() && value.is_none() && files != RunFiles::Changed;
    let rewritten = rows.rewritten_at.into_iter().chain(first_other_byte(saved.text(), root, again, now)).min();
    if all_agree && rewritten.is_none() {
        return Ok(Reproduction::Same { rows: saved.rows().len() });
    }
    Ok(Reproduction::Differs(Box::new(Differences {
        conditions,
        run,
        differing_runs: rows.differing,
        rows: saved.rows().len(),
        files,
        value: value.map(ValueDifference::from),
        rewritten_line: rewritten.filter(|_| all_agree).map(|at| saved.text()[..at].matches('\n').count() + 1),
    })))
}

impl From<Difference<'_, '_>> for ValueDifference {
    fn from(difference: Difference<'_, '_>) -> Self {
        let Difference { pointer, first, second } = difference;
        Self { pointer, saved: first.map(str::to_owned), now: second.map(str::to_owned) }
    }
}

fn in_provenance_of<'t, 'a>(root: Item<'t, 'a>, key: &str) -> Option<Item<'t, 'a>> {
    root.get("provenance")?.get(key)
}

/// A difference in the provenance that is no condition and not in the digest of the files.
fn in_provenance<'a, 'b>(saved: Item<'_, 'a>, now: Item<'_, 'b>, files: RunFiles) -> Option<Difference<'a, 'b>> {
    let named = ["tool_version", "suite_sha256", "options", DIGEST];
    // a digest that is none is a difference like any other
    let named = if files == RunFiles::Unknown { &named[..3] } else { &named };
    first_difference("/provenance", saved.get("provenance")?, now.get("provenance")?, named)
}

/// What has to be the same and is not.
fn conditions(saved: Item<'_, '_>, now: Item<'_, '_>) -> Vec<ChangedCondition> {
    let mut changed = Vec::new();
    let mut hold = |condition: Condition, saved: Option<Item<'_, '_>>, now: Option<Item<'_, '_>>| {
        let text = |value: Option<Item<'_, '_>>| value.filter(|value| !value.is_null()).map(Item::python_str);
        let (saved, now) = (text(saved), text(now));
        if saved != now {
            changed.push(ChangedCondition { condition, saved, now });
        }
    };
    for (condition, key) in [(Condition::ToolVersion, "tool_version"), (Condition::Suite, "suite_sha256")] {
        hold(condition, in_provenance_of(saved, key), in_provenance_of(now, key));
    }
    let options = [saved, now].map(|root| in_provenance_of(root, "options"));
    let names = |options: Option<Item<'_, '_>>| -> Vec<String> {
        let members = options.and_then(Item::members).into_iter().flatten();
        members.filter_map(|(key, _)| Some(key.as_str()?.into_owned())).collect()
    };
    let mut all: Vec<String> = options.iter().flat_map(|options| names(*options)).collect();
    all.sort_unstable();
    all.dedup();
    for name in all {
        let [saved, now] = options.map(|options| options?.get(&name));
        hold(Condition::Option(name), saved, now);
    }
    changed
}

/// Files of a run directory that a part of a row may be read from, as far as they are there.
fn files_of(source: Source, run_dir: &Path) -> Vec<&'static str> {
    let names: &[&[&'static str]] = match source {
        Source::Answer => &[&ANSWERS, &ANSWER_FOLDER],
        Source::Events => &[&EVENTS],
        Source::Sidecars => &[&SIDECARS],
        Source::StoredVerdicts => &[&["grading.json"]],
        Source::JudgeResults | Source::Program => &[],
    };
    let there = names.concat().into_iter().filter(|name| run_dir.join(name).exists());
    // the first file that may hold the answer is the one that does
    if source == Source::Answer { there.take(1).collect() } else { there.collect() }
}

/// Where the two texts differ beside the rows and what may differ: an offset in the first.
fn first_other_byte(saved: &str, root: Item<'_, '_>, again: &str, now: Item<'_, '_>) -> Option<usize> {
    let (ours, theirs) = (pieces(saved, root), pieces(again, now));
    let differing = ours.iter().zip(&theirs).find(|((_, a), (_, b))| a != b);
    match differing {
        Some(((start, a), (_, b))) => Some(start + a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()),
        None => (ours.len() != theirs.len()).then_some(saved.len()),
    }
    .map(|at| (0..=at.min(saved.len())).rev().find(|at| saved.is_char_boundary(*at)).unwrap_or(0))
}

/// What stands around the members that are compared otherwise, with where it begins.
fn pieces<'a>(text: &'a str, root: Item<'_, '_>) -> Vec<(usize, &'a str)> {
    let apart = FREE.iter().chain([&ROWS]).filter_map(|key| root.get(key));
    let mut spans: Vec<_> = apart.map(Item::span).collect();
    spans.sort_unstable_by_key(|span| span.start);
    let mut pieces = Vec::with_capacity(spans.len() + 1);
    let mut at = 0;
    for span in spans {
        pieces.push((at, &text[at..span.start]));
        at = span.end;
    }
    pieces.push((at, &text[at..]));
    pieces
}
