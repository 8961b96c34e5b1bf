//! The rows of a saved report as test cases of a CI system: which of them may fail the suite, and what came of each.
//!
//! A baseline that fails is what an eval hopes for. Only the runs of the gating arms can fail; what is not known is never
//! passed.

use num_traits::Signed;

use super::Analysis;
use crate::runs::claims::{SavedBenchmark, SavedCheck, SavedCounts, SavedRow};
use crate::suite::Severity;

/// The arms whose runs may fail the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateVariants {
    /// All of them.
    All,
    /// Those with these names.
    Named(Vec<String>),
}

impl GateVariants {
    /// Whether the runs of an arm may fail the suite.
    pub fn contains(&self, variant: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == variant),
        }
    }
}

/// What keeps a run from being passed.
#[derive(Debug, Clone, PartialEq)]
pub enum TestProblem<'r> {
    /// There is no answer.
    MissingOutput,
    /// The run did not finish.
    ExecutionError,
    /// It enters no rate for these reasons, codes.
    NotScored(&'r [String]),
    /// A check that decides failed.
    Check(&'r SavedCheck),
    /// A critical check failed that the report names but does not list.
    CriticalFailure(&'r str),
    /// The counts say that a check failed that the report does not list.
    Counts(SavedCounts),
}

/// What came of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestStatus {
    /// Every check that decides holds.
    Passed,
    /// It fails the suite.
    Failed,
    /// It fails in an arm that decides nothing.
    Reference,
    /// So many gates wait for a judge.
    Pending(u32),
    /// So many checks that decide came to no decision.
    Undecided(usize),
    /// Nothing was checked that decides.
    Unchecked,
}

/// A run as a test case.
#[derive(Debug, Clone)]
pub struct TestCase<'r> {
    /// Its row.
    pub row: &'r SavedRow,
    /// What came of it.
    pub status: TestStatus,
    /// What keeps it from being passed.
    pub problems: Vec<TestProblem<'r>>,
}

/// The test cases of a report, in the order of its rows.
pub fn test_cases<'r>(saved: &'r SavedBenchmark, gates: &GateVariants) -> Vec<TestCase<'r>> {
    saved.rows.iter().map(|row| test_case(row, gates.contains(&row.variant))).collect()
}

/// What a build may fail on in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportFindings {
    /// Runs of gating arms that fail a check that decides.
    pub failed_runs: usize,
    /// Runs of gating arms without a score.
    pub broken_runs: usize,
    /// Whether the lift is below 0; not where there is none.
    pub is_lift_negative: bool,
    /// Whether the report lacks something that it could rest on.
    pub is_incomplete: bool,
}

impl ReportFindings {
    /// Of a saved report and its analysis.
    pub fn of(saved: &SavedBenchmark, analysis: &Analysis, gates: &GateVariants) -> Self {
        let failed = test_cases(saved, gates).into_iter().filter(|case| case.status == TestStatus::Failed);
        let (broken, failed): (Vec<_>, Vec<_>) = failed.partition(|case| {
            let is_of_run = |problem: &TestProblem<'_>| {
                matches!(problem, TestProblem::MissingOutput | TestProblem::ExecutionError | TestProblem::NotScored(_))
            };
            case.problems.iter().any(is_of_run)
        });
        let estimate = analysis.inference.overall.test.estimate.as_ref();
        Self {
            failed_runs: failed.len(),
            broken_runs: broken.len(),
            is_lift_negative: estimate.is_some_and(Signed::is_negative),
            is_incomplete: !analysis.incomplete_reasons.is_empty(),
        }
    }
}

/// Whether a row of the arms that decide is graded: without one no suite is green.
pub fn is_anything_graded(saved: &SavedBenchmark, gates: &GateVariants) -> bool {
    let is_graded = |row: &SavedRow| {
        row.is_scorable() && row.is_rated && (row.objective.total > 0 || row.qualitative.total > 0 || row.vetoed)
    };
    saved.rows.iter().any(|row| gates.contains(&row.variant) && is_graded(row))
}

fn test_case(row: &SavedRow, is_gate: bool) -> TestCase<'_> {
    let problems = problems(row);
    let decides = |check: &&SavedCheck| check.severity != Severity::Soft && check.skipped.is_none();
    let undecided = row.checks.iter().filter(decides).filter(|check| check.passed.is_none()).count();
    let counted = row.objective.total + row.qualitative.total;
    let status = match problems.is_empty() {
        false if is_gate => TestStatus::Failed,
        false => TestStatus::Reference,
        true if row.deferred_gates > 0 => TestStatus::Pending(row.deferred_gates),
        true if undecided > 0 => TestStatus::Undecided(undecided),
        true if counted == 0 => TestStatus::Unchecked,
        true => TestStatus::Passed,
    };
    TestCase { row, status, problems }
}

fn problems(row: &SavedRow) -> Vec<TestProblem<'_>> {
    if row.missing_output {
        return vec![TestProblem::MissingOutput];
    }
    if !row.execution_valid {
        return vec![TestProblem::ExecutionError];
    }
    if !row.is_scorable() {
        return vec![TestProblem::NotScored(&row.unscored_reasons)];
    }
    let failed = |check: &&SavedCheck| {
        check.passed == Some(false) && check.severity != Severity::Soft && check.skipped.is_none()
    };
    let mut problems: Vec<TestProblem<'_>> = row.checks.iter().filter(failed).map(TestProblem::Check).collect();
    if problems.is_empty() {
        problems.extend(row.critical_failures.iter().map(|name| TestProblem::CriticalFailure(name)));
    }
    let counts = SavedCounts {
        passed: row.objective.passed + row.qualitative.passed,
        total: row.objective.total + row.qualitative.total,
    };
    if problems.is_empty() && (counts.passed < counts.total || row.vetoed) {
        problems.push(TestProblem::Counts(counts));
    }
    problems
}
