//! The names that the viewer of skill-creator gives to runs.

use std::collections::HashMap;

use crate::runs::claims::{SavedBenchmark, SavedRow};
use crate::runs::{Configuration, Role};

use super::entry::Entry;

/// A run as an entry names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunName {
    /// The case.
    pub case_id: String,
    /// The arm.
    pub variant: String,
    /// The model, where runs of several models are told apart.
    pub model: Option<String>,
    /// The repetition, from 1.
    pub run_number: u32,
}

impl RunName {
    /// The run of a row of a report.
    pub fn of_row(row: &SavedRow) -> Self {
        Self {
            case_id: row.case.id.clone(),
            variant: row.variant.clone(),
            model: row.model.clone(),
            run_number: row.repetition,
        }
    }

    /// The run that an entry is about.
    pub fn of(entry: &Entry) -> Self {
        Self {
            case_id: entry.case_id.clone(),
            variant: entry.variant.clone(),
            model: entry.model.clone(),
            run_number: entry.run_number,
        }
    }
}

/// The runs of an iteration with their directories. A run id is the path of the directory below the root with `-` for
/// every separator, so that two directories may well have the same one.
#[derive(Debug, Default)]
pub struct RunIds {
    /// Runs in the order in which they were given, with their ids.
    runs: Vec<(RunName, String)>,
    by_id: HashMap<String, Vec<usize>>,
    by_name: HashMap<RunName, usize>,
}

/// Which run an id names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOfId {
    /// This one.
    Run(RunName),
    /// None that is known.
    Unknown,
    /// One of so many.
    Ambiguous(usize),
}

/// Parts of an id that the name of an arm and its model may have, so that an id of a million parts takes no time.
const MOST_PARTS: usize = 12;

/// What a directory with the only repetition may leave out.
const FIRST_REPETITION: &str = "-run-1";

impl RunIds {
    /// Takes runs with their directories below the root.
    pub fn new<'d>(runs: impl IntoIterator<Item = (RunName, &'d str)>) -> Self {
        let mut ids = Self::default();
        for (name, directory) in runs {
            let id = id_of_directory(directory);
            let at = ids.runs.len();
            ids.by_id.entry(id.clone()).or_default().push(at);
            ids.by_name.entry(name.clone()).or_insert(at);
            ids.runs.push((name, id));
        }
        ids
    }

    /// The runs of a report.
    pub fn of_report(report: &SavedBenchmark) -> Self {
        Self::new(report.rows.iter().map(|row| (RunName::of_row(row), row.run_dir.as_str())))
    }

    /// Whether no run is known.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The ids of all runs.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|(_, id)| id.as_str())
    }

    /// Which run an id names. Without any known run, what the id itself says.
    pub fn run(&self, id: &str) -> RunOfId {
        if self.is_empty() {
            return by_its_parts(id).map_or(RunOfId::Unknown, RunOfId::Run);
        }
        let other_form =
            id.strip_suffix(FIRST_REPETITION).map_or_else(|| format!("{id}{FIRST_REPETITION}"), str::to_owned);
        match self.by_id.get(id).or_else(|| self.by_id.get(&other_form)).map(Vec::as_slice) {
            None => RunOfId::Unknown,
            Some(&[at]) => RunOfId::Run(self.runs[at].0.clone()),
            Some(several) => RunOfId::Ambiguous(several.len()),
        }
    }

    /// The id of the run that an entry is about, if it has one of its own.
    pub fn id_of(&self, entry: &Entry) -> Option<&str> {
        self.id_of_run(&RunName::of(entry))
    }

    /// The id of a run, if it has one of its own.
    pub fn id_of_run(&self, name: &RunName) -> Option<&str> {
        let (_, id) = &self.runs[*self.by_name.get(name)?];
        Some(id.as_str()).filter(|id| self.by_id.get(*id).is_some_and(|runs| runs.len() == 1))
    }
}

fn id_of_directory(directory: &str) -> String {
    directory.trim_matches('/').replace(['/', '\\'], "-")
}

/// Reads `eval-0-with_skill-run-1`: the folder of the eval, the arm, and the repetition if there are several.
fn by_its_parts(id: &str) -> Option<RunName> {
    let (rest, run_number) = match id.rsplit_once("-run-") {
        Some((rest, digits)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            (rest, digits.parse().ok().filter(|number| *number > 0)?)
        }
        _ => (id, 1),
    };
    let splits =
        rest.rmatch_indices('-').take(MOST_PARTS).map(|(at, _)| (&rest[..at], Configuration::parse(&rest[at + 1..])));
    let arms: Vec<_> = splits.filter(|(folder, arm)| arm.role != Role::Other && !folder.is_empty()).collect();
    // names of arms hold `-` too, so that the longest one counts; those of models before them are as short as possible
    let (folder, configuration) = arms.iter().rfind(|(_, arm)| arm.model.is_none()).or(arms.first())?.clone();
    let case_id = folder.strip_prefix("runs-").unwrap_or(folder).to_owned();
    Some(RunName { case_id, variant: configuration.variant().to_owned(), model: configuration.model, run_number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(case_id: &str, variant: &str, run_number: u32) -> RunName {
        RunName { case_id: case_id.to_owned(), variant: variant.to_owned(), model: None, run_number }
    }

    #[test]
    fn an_id_says_which_run_it_names() {
        let of = |id: &str| RunIds::default().run(id);
        assert_eq!(of("eval-0-with_skill"), RunOfId::Run(name("eval-0", "with_skill", 1)));
        assert_eq!(
            of("eval-big-table-without_skill-run-12"),
            RunOfId::Run(name("eval-big-table", "without_skill", 12))
        );
        assert_eq!(of("runs-eval-3-new_skill-run-2"), RunOfId::Run(name("eval-3", "with_skill", 2)));
        assert_eq!(of("eval-3-baseline"), RunOfId::Run(name("eval-3", "without_skill", 1)));
        assert_eq!(of("eval-3-old_skill"), RunOfId::Run(name("eval-3", "old_skill", 1)));
        assert_eq!(of("eval-3-with-skill"), RunOfId::Run(name("eval-3", "with_skill", 1)));
        let of_model = RunName { model: Some("claude".to_owned()), ..name("eval-0", "with_skill", 1) };
        assert_eq!(of("eval-0-claude_with_skill"), RunOfId::Run(of_model));
        for id in [
            "",
            "eval-3",
            "eval-3-other",
            "with_skill",
            "-with_skill",
            "eval-3-with_skill-run-0",
            "eval-3-with_skill-run-99999999999",
        ] {
            assert_eq!(of(id), RunOfId::Unknown, "{id}");
        }
    }

    #[test]
    fn known_runs_decide() {
        let runs = [
            (name("a", "with_skill", 1), "eval-0/with_skill"),
            (name("a", "without_skill", 1), "eval-0/without_skill/run-1"),
            (name("b", "with_skill", 1), "x-y/z"),
            (name("c", "with_skill", 1), "x/y-z"),
        ];
        let ids = RunIds::new(runs);
        assert_eq!(ids.run("eval-0-with_skill"), RunOfId::Run(name("a", "with_skill", 1)));
        assert_eq!(ids.run("eval-0-with_skill-run-1"), RunOfId::Run(name("a", "with_skill", 1)));
        assert_eq!(ids.run("eval-0-without_skill"), RunOfId::Run(name("a", "without_skill", 1)));
        assert_eq!(ids.run("eval-1-with_skill"), RunOfId::Unknown);
        assert_eq!(ids.run("x-y-z"), RunOfId::Ambiguous(2));
        let entry = |case: &str, run_number| Entry {
            case_id: case.to_owned(),
            variant: "with_skill".to_owned(),
            run_number,
            model: None,
            assertion: None,
            note: None,
            verdict: None,
        };
        assert_eq!(ids.id_of(&entry("a", 1)), Some("eval-0-with_skill"));
        assert_eq!(ids.id_of(&entry("a", 2)), None);
        assert_eq!(ids.id_of(&entry("b", 1)), None, "two runs have this id");
    }
}
