//! How other tools lay out an iteration, found by what is there and not by what it is called.

use std::fmt;

use crate::runs::configuration::{Configuration, Role};
use crate::runs::listing::{Entry, EntryKind, Listing};

/// Where the verdicts of a run stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// `<eval>/<configuration>/run-<n>/grading.json`
    Nested,
    /// `<eval>/<configuration>/grading.json`
    Flat,
    /// `<eval>/<configuration>/outputs/grading.json`
    InOutputs,
    /// `<eval>/grading_<configuration>.json`
    BesideConfigurations,
    /// `<eval>/grading.json` with the runs of every configuration
    OneFile,
    /// `<configuration>/eval-<n>-grading.json`
    ConfigurationFirst,
    /// `<eval>/<configuration>/grading.json` with several runs
    RunsInFile,
    /// `<eval>/<configuration>_<k>/grading.json`
    Trials,
}

impl Layout {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Nested => "L1",
            Self::Flat => "L2",
            Self::InOutputs => "L3",
            Self::BesideConfigurations => "L4",
            Self::OneFile => "L5",
            Self::ConfigurationFirst => "L6",
            Self::RunsInFile => "L7",
            Self::Trials => "trials",
        }
    }

    /// The path of the verdicts, as a person reads it.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Nested => "<case>/<arm>/run-<n>/grading.json",
            Self::Flat => "<case>/<arm>/grading.json",
            Self::InOutputs => "<case>/<arm>/outputs/grading.json",
            Self::BesideConfigurations => "<case>/grading_<arm>.json",
            Self::OneFile => "<case>/grading.json with runs of every arm",
            Self::ConfigurationFirst => "<arm>/eval-<n>-grading.json",
            Self::RunsInFile => "<case>/<arm>/grading.json with several runs",
            Self::Trials => "<case>/<arm>_<k>/grading.json",
        }
    }

    /// Every layout that is looked for, in the order in which a refusal names them.
    pub const ALL: [Self; 8] = [
        Self::Nested,
        Self::Flat,
        Self::InOutputs,
        Self::Trials,
        Self::BesideConfigurations,
        Self::OneFile,
        Self::RunsInFile,
        Self::ConfigurationFirst,
    ];
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Name of the file of verdicts.
pub(super) const GRADING: &str = "grading.json";
/// Name of the file of what a run took.
pub(super) const TIMING: &str = "timing.json";
/// Name of the file that says what a case is.
pub(super) const METADATA: &str = "eval_metadata.json";
/// Name of the folder of what a run made.
pub(super) const OUTPUTS: &str = "outputs";
/// Name of the record of a run of the executor/grader runner.
pub(super) const RUN_RECORD: &str = "run.json";
/// Name of the plan of an iteration of the executor/grader runner.
pub(super) const ITERATION_PLAN: &str = "iteration_manifest.json";

/// Folders that hold no evals, whatever is in them.
const PASSED_OVER: [&str; 4] = ["node_modules", "__pycache__", "target", "venv"];

/// Whether a folder is looked into at all.
pub(super) fn is_looked_into(entry: &Entry) -> bool {
    entry.kind == EntryKind::Directory && may_hold_evals(&entry.name)
}

/// Whether a folder of that name is looked into.
pub fn may_hold_evals(name: &str) -> bool {
    !name.starts_with('.') && !PASSED_OVER.contains(&name)
}

/// The number of `run-<n>`; `None` for other names, `Some(None)` for one that starts alike and has no number.
pub(in crate::runs) fn run_number(name: &str) -> Option<Option<u32>> {
    name.strip_prefix("run-").map(whole_number)
}

/// A number written in digits alone.
pub(super) fn whole_number(digits: &str) -> Option<u32> {
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// Whether a folder holds what a run of an arm leaves.
pub(super) fn holds_a_run(listing: &Listing) -> bool {
    listing.entries().iter().any(|entry| match entry.kind {
        EntryKind::File => [GRADING, TIMING, RUN_RECORD].contains(&entry.name.as_str()),
        EntryKind::Directory => entry.name == OUTPUTS || run_number(&entry.name).is_some(),
        EntryKind::Other => false,
    })
}

/// The arm and the number of a trial folder like `with_skill_2`.
pub(super) fn trial(name: &str) -> Option<(Configuration, u32)> {
    let (arm, digits) = name.rsplit_once('_')?;
    let configuration = Configuration::parse(arm);
    let number = whole_number(digits).filter(|number| *number < LAST_TRIAL)?;
    if configuration.role == Role::Other { None } else { Some((configuration, number)) }
}

/// Trials count from 0 and repetitions from 1; a trial without a number may still follow the last.
const LAST_TRIAL: u32 = u32::MAX - 2;

/// The arm of `grading_<configuration>.json`.
pub(super) fn grading_of_arm(name: &str) -> Option<Configuration> {
    let arm = name.strip_prefix("grading_").or_else(|| name.strip_prefix("grading-"))?.strip_suffix(".json")?;
    let configuration = Configuration::parse(arm);
    if configuration.role == Role::Other { None } else { Some(configuration) }
}

/// The case of `eval-<n>-grading.json`.
pub(super) fn case_of_grading(name: &str) -> Option<&str> {
    name.strip_suffix("-grading.json").filter(|case| !case.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        assert_eq!((run_number("run-2"), run_number("run-x"), run_number("runs")), (Some(Some(2)), Some(None), None));
        assert_eq!(trial("with_skill_0").map(|(arm, k)| (arm.variant().to_owned(), k)), Some(("with_skill".into(), 0)));
        assert_eq!(
            trial("baseline_19").map(|(arm, k)| (arm.variant().to_owned(), k)),
            Some(("without_skill".into(), 19))
        );
        assert_eq!(trial("with_skill_x"), None);
        assert_eq!(trial("notes_3"), None);
        assert_eq!(grading_of_arm("grading_without_skill.json").map(|arm| arm.role), Some(Role::Control));
        assert_eq!(grading_of_arm("grading_summary.json"), None);
        assert_eq!(case_of_grading("eval-10-grading.json"), Some("eval-10"));
    }
}
