//! What is said of a report that was verified.

use skill_lift_text::screen::visible;

use super::numbers;
use crate::analyze::reproduction::{
    ChangedCondition, Condition, Differences, RunChange, RunDifference, RunFiles, Source, ValueDifference,
};

/// Characters of a value that a message quotes.
const QUOTED: usize = 120;

/// The line about a report whose rows and figures come out again.
pub fn verified_line(report: &str, runs: &str, rows: usize) -> String {
    let rows = numbers::counted(rows, "row", "rows");
    format!("verified: {report}: {rows} and every figure come out again from {runs}")
}

/// The lines about a report that does not come out again; the first says so, the most telling ones follow.
pub fn difference_lines(report: &str, differences: &Differences) -> Vec<String> {
    let Differences { conditions, run, differing_runs, rows, files, value, rewritten_line } = differences;
    let mut lines = vec![format!("{report} does not come out again")];
    lines.extend(conditions.iter().map(condition));
    if let Some(run) = run {
        lines.extend(run_lines(run));
        if *differing_runs > 1 {
            lines.push(format!(
                "{} runs differ; the report has {}",
                numbers::count(*differing_runs),
                numbers::counted(*rows, "row", "rows")
            ));
        }
    }
    lines.extend(files_line(*files, run.is_some(), value.is_some(), conditions.is_empty()).map(str::to_owned));
    if let Some(value) = value {
        lines.push(place(value));
    }
    if let Some(line) = rewritten_line {
        lines.push(format!(
            "every value agrees, but from line {} on the text is written otherwise: the file was rewritten after it was made",
            numbers::count(*line)
        ));
    }
    lines
}

fn condition(changed: &ChangedCondition) -> String {
    let side = |value: &Option<String>, missing: &str| value.as_deref().map_or_else(|| missing.to_owned(), shown);
    let ChangedCondition { condition, saved, now } = changed;
    match condition {
        Condition::ToolVersion => format!(
            "skill-lift {} made the report, this is {}: figures may differ for that alone",
            side(saved, "of no version"),
            side(now, "none")
        ),
        Condition::Suite => {
            format!("another suite: {} in the report, {} now", side(saved, "none"), side(now, "none"))
        }
        Condition::Option(name) => {
            let name = visible(name, false);
            format!("--{name}: {} in the report, {} now", side(saved, "not given"), side(now, "not given"))
        }
    }
}

fn run_lines(difference: &RunDifference) -> Vec<String> {
    let RunDifference { run, run_dir, change } = difference;
    let model = run.model.as_ref().map(|model| format!(", model {}", visible(model, false))).unwrap_or_default();
    let directory = run_dir.as_ref().map(|path| format!(" ({})", visible(path, false))).unwrap_or_default();
    let run = format!(
        "case {}{model}, {}, repetition {}{directory}",
        visible(&run.case, false),
        visible(&run.variant, false),
        visible(&run.repetition, false)
    );
    match change {
        RunChange::OnlyNow => vec![format!("a run that the report does not have: {run}")],
        RunChange::OnlyInReport => vec![format!("a run that only the report has: {run}")],
        RunChange::Row { difference, source, files } => {
            let mut lines = vec![format!("a run that says something else: {run}"), place(difference)];
            lines.extend(source.map(|source| source_line(source, files)));
            lines
        }
    }
}

fn source_line(source: Source, files: &[&str]) -> String {
    let what = match source {
        Source::Answer => "the answer",
        Source::Events => "the record of what the agent did",
        Source::Sidecars => "what the runner recorded",
        Source::StoredVerdicts => "the stored verdicts",
        Source::JudgeResults => return "that comes from the verdicts of --judge-results".to_owned(),
        Source::Program => {
            return "that comes from a program of the suite, which may not always say the same".to_owned();
        }
    };
    match files {
        [] => format!("that is read from {what}, which is not there now"),
        files => format!("that is read from {what}: {}", files.join(", ")),
    }
}

/// What the digest of the files says about where to look.
fn files_line(files: RunFiles, run: bool, value: bool, same_conditions: bool) -> Option<&'static str> {
    match (files, run, value) {
        (RunFiles::Changed, true, _) => Some("files of the runs are others than the report was made of"),
        (RunFiles::Changed, false, true) => {
            Some("files of the runs are others than the report was made of; no row differs")
        }
        (RunFiles::Changed, false, false) => {
            Some("files of the runs are others than the report was made of; no row and no figure differs for that")
        }
        (RunFiles::Same, ..) if (run || value) && same_conditions => {
            Some("suite and runs are those that the report was made of: the report itself was changed")
        }
        (RunFiles::Same | RunFiles::Unknown, ..) => None,
    }
}

fn place(difference: &ValueDifference) -> String {
    let side = |value: &Option<String>| value.as_deref().map_or_else(|| "nothing".to_owned(), shown);
    let ValueDifference { pointer, saved, now } = difference;
    let pointer = if pointer.is_empty() { "the whole report" } else { pointer };
    format!("at {}: {} in the report, {} now", visible(pointer, false), side(saved), side(now))
}

/// The beginning of a value, on one line.
fn shown(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = match one_line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &one_line[..end]),
        None => one_line,
    };
    visible(&cut, false)
}
