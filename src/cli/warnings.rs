//! What is said on standard error of what was odd.

use std::path::Path;
use std::process::ExitCode;

use super::output::{fail, warn_line};
use crate::feedback::FeedbackNote;
use crate::judge::Verdicts;
use crate::pipeline::{Evaluated, WarningLog};
use crate::report::numbers::counted;
use crate::runs::LayoutError;
use crate::runs::claims::{ClaimNote, NoteCode};

/// Prints the oddities of a tree.
pub fn print_warnings(warnings: &WarningLog) {
    for (code, count, kept) in warnings.kinds() {
        for warning in kept {
            warn_line(&format!("WARN {}: {warning}", code.code()));
        }
        if count > kept.len() {
            warn_line(&format!("WARN {}: … and {} more", code.code(), count - kept.len()));
        }
    }
}

pub fn print_verdict_warnings(verdicts: &Verdicts) {
    let all = verdicts.len();
    let name = |ids: &[&str]| {
        let shown = ids.iter().take(3).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        if ids.len() > 3 { format!("{shown} and {} more", ids.len() - 3) } else { shown }
    };
    let unmatched = verdicts.unmatched();
    if !unmatched.is_empty() {
        warn_line(&format!(
            "WARN unmatched_judge_results: {} of {all} verdicts belong to no judgement of the graded runs: {}",
            unmatched.len(),
            name(&unmatched)
        ));
    }
    let incomplete = verdicts.incomplete();
    if !incomplete.is_empty() {
        warn_line(&format!(
            "WARN incomplete_judge_results: {} of {all} verdicts come from a judge that failed; they count as not given: {}",
            incomplete.len(),
            name(&incomplete)
        ));
    }
}

pub fn fail_layout(warnings: &WarningLog) -> ExitCode {
    let mut code = ExitCode::FAILURE;
    for (kind, count, kept) in warnings.kinds().filter(|(kind, ..)| kind.is_layout()) {
        for warning in kept {
            code = fail(&format!("{}: {warning}", kind.code()));
        }
        if count > kept.len() {
            code = fail(&format!("{}: … and {} more", kind.code(), count - kept.len()));
        }
    }
    code
}

/// What is said of something odd in a result file.
pub fn note_line(note: &ClaimNote, shown: &str) -> String {
    let places = if note.count > 1 { format!(" ({} places)", note.count) } else { String::new() };
    let detail = if note.detail.is_empty() { String::new() } else { format!(": {}", note.detail) };
    format!("WARN {}: {shown}{}{detail}{places}", note.code.code(), note.pointer)
}

/// Says which rows of a report were dropped because a later one claims the same run.
pub fn warn_of_dropped_rows(notes: &[ClaimNote], shown: &str) {
    for note in notes.iter().filter(|note| note.code == NoteCode::DuplicatesDropped) {
        warn_line(&note_line(note, shown));
    }
}

/// Prints why a tree is refused.
pub fn fail_each(errors: Vec<LayoutError>) -> ExitCode {
    let mut code = ExitCode::FAILURE;
    for error in errors {
        code = fail(&error.to_string());
    }
    code
}

/// Prints a warning when nothing was graded.
pub fn warn_if_nothing_graded(evaluated: &Evaluated, runs: &Path) {
    if evaluated.scorable == 0 {
        warn_line(&format!(
            "WARN nothing_graded: no run below {} could be scored ({})",
            runs.display(),
            counted(evaluated.rows, "row", "rows")
        ));
    }
}

/// Says what was odd in a file of feedback.
pub fn warn_of_feedback(shown: &str, notes: &[FeedbackNote]) {
    for note in notes.iter().take(NOTES_SHOWN) {
        warn_line(&format!("WARN {}: {shown}: {note}", note.code()));
    }
    if notes.len() > NOTES_SHOWN {
        warn_line(&format!("WARN: … and {} more", notes.len() - NOTES_SHOWN));
    }
}

/// Notes on a file that are shown one by one.
const NOTES_SHOWN: usize = 20;
