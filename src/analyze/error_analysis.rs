//! What went wrong in the runs of a saved report: every failing run in one category, the categories by how often they occur.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::test_cases::{GateVariants, TestCase, TestProblem, TestStatus, test_cases};
use crate::feedback::{Entry, Feedback, Opinion};
use crate::runs::claims::{SavedBenchmark, SavedCheck, SavedRow};
use crate::suite::{AssertionType, Severity, TypeGroup};

/// What kind of check failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckClass {
    /// A judgement.
    Judge,
    /// What the agent did.
    Process,
    /// What it used.
    Efficiency,
    /// The answer and its files, and everything else.
    Text,
}

impl CheckClass {
    /// The class of a check.
    pub fn of(check: &SavedCheck) -> Self {
        match check.assertion_type.map(AssertionType::group) {
            Some(TypeGroup::Qualitative) => Self::Judge,
            Some(TypeGroup::Process) => Self::Process,
            Some(TypeGroup::Efficiency) => Self::Efficiency,
            Some(TypeGroup::Text) | None => Self::Text,
        }
    }

    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Process => "process",
            Self::Efficiency => "efficiency",
            Self::Text => "text",
        }
    }
}

/// What is wrong with a run: the first that applies.
#[derive(Debug, Clone)]
pub enum Category<'r> {
    /// There is no answer.
    MissingOutput,
    /// It did not finish.
    ExecutionError,
    /// It enters no rate for these reasons, codes.
    NotScored(&'r [String]),
    /// Critical checks failed; their names, as far as the report says them.
    CriticalFailure(&'r [String]),
    /// This check is the first that failed.
    Check(&'r SavedCheck),
    /// The counts say that a check failed that the report does not list.
    Unlisted,
}

/// The category as reports name it.
impl fmt::Display for Category<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingOutput => f.write_str("missing-output"),
            Self::ExecutionError => f.write_str("execution-error"),
            Self::NotScored(reasons) => write!(f, "not-scored:{}", reasons.join(", ")),
            Self::CriticalFailure([]) => f.write_str("critical-failure"),
            Self::CriticalFailure(names) => write!(f, "critical-failure:{}", names.join(", ")),
            Self::Check(check) => write!(f, "{}:{}", CheckClass::of(check).word(), label(check)),
            Self::Unlisted => f.write_str("unlisted-failure"),
        }
    }
}

/// The name of a check, else its type.
fn label(check: &SavedCheck) -> &str {
    if check.is_named || check.assertion_type.is_some() || check.other_type.is_some() { &check.name } else { "unnamed" }
}

/// A run that failed or did not come to an end.
#[derive(Debug, Clone)]
pub struct FailingRun<'r> {
    /// Its row.
    pub row: &'r SavedRow,
    /// What is wrong with it.
    pub category: Category<'r>,
    /// What a person said about it.
    pub said: Option<&'r Entry>,
}

/// A category with the runs in it.
#[derive(Debug, Clone)]
pub struct CategoryCount<'r> {
    /// Its name.
    pub name: String,
    /// Runs, by arm.
    pub by_variant: BTreeMap<&'r str, usize>,
    /// The first run in it.
    pub example: FailingRun<'r>,
}

impl CategoryCount<'_> {
    /// Runs.
    pub fn count(&self) -> usize {
        self.by_variant.values().sum()
    }
}

/// What people said, held against the rows.
#[derive(Debug, Clone, Default)]
pub struct Said<'r> {
    /// Entries about whole answers.
    pub about_runs: usize,
    /// Entries about single checks, which say nothing about a run.
    pub about_checks: usize,
    /// Entries about whole answers of runs that the report does not have.
    pub unmatched: Vec<&'r Entry>,
    /// Runs that a person judged wrong although no check failed.
    pub wrong_but_passed: Vec<(&'r SavedRow, &'r Entry)>,
    /// Failing runs that a person judged right.
    pub right_but_failing: usize,
}

/// What went wrong in the runs of a report.
#[derive(Debug, Clone)]
pub struct ErrorAnalysis<'r> {
    /// The report.
    pub saved: &'r SavedBenchmark,
    /// Runs that failed or did not come to an end, in the order of the report.
    pub failing: Vec<FailingRun<'r>>,
    /// Their categories: the most frequent first, then by name.
    pub categories: Vec<CategoryCount<'r>>,
    /// Runs of which it is not known whether they failed: a check that decides is undecided, or waits for a judge.
    pub undecided: usize,
    /// Runs in which nothing was checked that decides.
    pub unchecked: usize,
    /// What stands before the first `:` of the flags of cases, the most frequent first, then by text.
    pub flags: Vec<(&'r str, usize)>,
    /// What people said, if somebody kept it.
    pub said: Option<Said<'r>>,
}

impl<'r> ErrorAnalysis<'r> {
    /// Analyses a report, with what people said about its runs.
    pub fn of(saved: &'r SavedBenchmark, feedback: Option<&'r Feedback>) -> Self {
        let entries = feedback.map(|feedback| Entries::of(saved, feedback));
        let cases = test_cases(saved, &GateVariants::All);
        let counted = |is: fn(&TestStatus) -> bool| cases.iter().filter(|case| is(&case.status)).count();
        let (undecided, unchecked) = (
            counted(|status| matches!(status, TestStatus::Pending(_) | TestStatus::Undecided(_))),
            counted(|status| *status == TestStatus::Unchecked),
        );
        let said_of = |at: usize| entries.as_ref().and_then(|entries| entries.by_row.get(&at).copied());
        let mut failing = Vec::new();
        let mut said = entries.as_ref().map(|entries| entries.said.clone());
        for (at, case) in cases.iter().enumerate() {
            let entry = said_of(at);
            let verdict = entry.and_then(|entry| entry.verdict);
            let category = category(case);
            if let Some(said) = &mut said {
                match (&category, verdict, entry) {
                    (Some(_), Some(Opinion::Pass), _) => said.right_but_failing += 1,
                    (None, Some(Opinion::Fail), Some(entry)) => said.wrong_but_passed.push((case.row, entry)),
                    _ => {}
                }
            }
            failing.extend(category.map(|category| FailingRun { row: case.row, category, said: entry }));
        }
        Self { saved, categories: categories(&failing), failing, undecided, unchecked, flags: flags(saved), said }
    }
}

/// What is wrong with a run, if something is.
fn category<'r>(case: &TestCase<'r>) -> Option<Category<'r>> {
    let row = case.row;
    Some(match case.problems.first()? {
        TestProblem::MissingOutput => Category::MissingOutput,
        TestProblem::ExecutionError => Category::ExecutionError,
        TestProblem::NotScored(reasons) => Category::NotScored(reasons),
        TestProblem::CriticalFailure(_) => Category::CriticalFailure(&row.critical_failures),
        _ if row.vetoed => Category::CriticalFailure(&row.critical_failures),
        TestProblem::Check(check) => Category::Check(check),
        TestProblem::Counts(_) => {
            // a check without a verdict that the counts take for a failure
            let counts = |check: &&SavedCheck| {
                check.passed.is_none() && check.skipped.is_none() && check.severity != Severity::Soft
            };
            row.checks.iter().find(counts).map_or(Category::Unlisted, Category::Check)
        }
    })
}

fn categories<'r>(failing: &[FailingRun<'r>]) -> Vec<CategoryCount<'r>> {
    let mut by_name: BTreeMap<String, CategoryCount<'r>> = BTreeMap::new();
    for run in failing {
        let name = run.category.to_string();
        let first = || CategoryCount { name: name.clone(), by_variant: BTreeMap::new(), example: run.clone() };
        let category = by_name.entry(name.clone()).or_insert_with(first);
        *category.by_variant.entry(&run.row.variant).or_default() += 1;
    }
    let mut categories: Vec<CategoryCount<'r>> = by_name.into_values().collect();
    // those of one size stay in the order of their names
    categories.sort_by_key(|category| std::cmp::Reverse(category.count()));
    categories
}

fn flags(saved: &SavedBenchmark) -> Vec<(&str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for flag in &saved.flags {
        let (kind, _) = flag.flag.split_once(':').unwrap_or((&flag.flag, ""));
        *counts.entry(kind.trim()).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Entries about whole answers by the place of their row.
struct Entries<'r> {
    by_row: HashMap<usize, &'r Entry>,
    said: Said<'r>,
}

impl<'r> Entries<'r> {
    fn of(saved: &'r SavedBenchmark, feedback: &'r Feedback) -> Self {
        let mut rows: HashMap<(&str, &str, u32), Vec<usize>> = HashMap::new();
        for (at, row) in saved.rows.iter().enumerate() {
            rows.entry((&row.case.id, &row.variant, row.repetition)).or_default().push(at);
        }
        let mut by_row = HashMap::new();
        let mut loosely = Vec::new();
        let mut said = Said::default();
        for entry in &feedback.entries {
            if !entry.is_about_the_run() {
                said.about_checks += 1;
                continue;
            }
            said.about_runs += 1;
            let places = rows.get(&(entry.case_id.as_str(), entry.variant.as_str(), entry.run_number));
            let places = places.map(Vec::as_slice).unwrap_or_default();
            match (places.iter().find(|at| saved.rows[**at].model == entry.model), places, &entry.model) {
                (Some(at), ..) => drop(by_row.insert(*at, entry)),
                // version 0.6 keeps no model: where there is one run only, it is that one
                (None, [at], None) => loosely.push((*at, entry)),
                _ => said.unmatched.push(entry),
            }
        }
        for (at, entry) in loosely {
            by_row.entry(at).or_insert(entry);
        }
        Self { by_row, said }
    }
}
