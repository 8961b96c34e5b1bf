//! Annotations of GitHub actions: commands on standard output, at most ten of a kind a step.

use super::Again;
use super::document::command_value;
use crate::report::words;

/// Annotations of a kind that GitHub shows of one step.
const SHOWN: usize = 10;

/// The commands, one a line; empty when there is nothing to say.
pub fn annotations(again: Again<'_>) -> String {
    let mut out = String::new();
    let cases = &again.analysis.case_flags;
    // the last place is for the number of those that have none
    let shown = if cases.len() > SHOWN { SHOWN - 1 } else { cases.len() };
    for case in &cases[..shown] {
        let flags: Vec<String> = case.flags.iter().map(|raised| words::flag_text(&raised.flag)).collect();
        let title = command_value(&format!("skill-eval case {}", case.case_id), true);
        out.push_str(&format!("::warning title={title}::{}\n", command_value(&flags.join("; "), false)));
    }
    if shown < cases.len() {
        let skill = command_value(again.skill_name(), true);
        let more = cases.len() - shown;
        out.push_str(&format!(
            "::warning title=skill-eval {skill}::{more} more cases are flagged ({} in all); the job summary lists them\n",
            cases.len()
        ));
    }
    let [_, _, delta, _] = again.headline();
    if let Some(delta) = delta.filter(|delta| *delta < 0.0) {
        let skill = command_value(again.skill_name(), true);
        out.push_str(&format!(
            "::error title=skill-eval {skill}::negative overall lift ({delta:.3}): the skill measures worse than baseline\n"
        ));
    }
    out
}
