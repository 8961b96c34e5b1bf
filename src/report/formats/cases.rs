//! Names and words of test cases, the same in every format.

use crate::analyze::test_cases::{TestCase, TestProblem, TestStatus};
use crate::report::{numbers, words};
use crate::runs::claims::SavedRow;

/// Where a run stands below its case: the model, where there is one, the arm and the repetition.
pub(super) fn run_name(row: &SavedRow) -> String {
    let run = format!("{}/run-{}", row.variant, row.repetition);
    match &row.model {
        Some(model) => format!("{model}/{run}"),
        None => run,
    }
}

/// One line a problem.
pub(super) fn lines(case: &TestCase<'_>) -> Vec<String> {
    let place = &case.row.run_dir;
    let line = |problem: &TestProblem<'_>| match problem {
        TestProblem::MissingOutput => format!("missing output under {place}"),
        TestProblem::ExecutionError => format!("execution error (infra failure) under {place}"),
        TestProblem::NotScored(reasons) => {
            let reasons: Vec<String> = reasons.iter().map(|code| words::unscored_reason(code)).collect();
            format!("not scored ({}) under {place}", reasons.join(", "))
        }
        TestProblem::Check(check) => format!("{}: {}", check.name, check.evidence),
        TestProblem::CriticalFailure(name) => format!("{name}: a critical check that failed"),
        TestProblem::Counts(counts) => {
            format!("{} of {} checks hold; the report does not list the others", counts.passed, counts.total)
        }
    };
    case.problems.iter().map(line).collect()
}

/// Why a run is not passed, in one sentence; nothing for one that is.
pub(super) fn message(case: &TestCase<'_>) -> Option<String> {
    let failing = || format!("{} failing check(s)", case.problems.len());
    match case.status {
        TestStatus::Passed => None,
        TestStatus::Failed => Some(failing()),
        TestStatus::Reference => Some(format!("{}, in an arm that decides nothing", failing())),
        TestStatus::Pending(gates) => {
            let gates = numbers::counted(gates as usize, "gate waits", "gates wait");
            Some(format!("{gates} for a judge"))
        }
        TestStatus::Undecided(checks) => {
            Some(format!("{} came to no decision", numbers::counted(checks, "check", "checks")))
        }
        TestStatus::Unchecked => Some("nothing was checked".to_owned()),
    }
}

/// Milliseconds of a run, or why they are not known.
pub(super) fn elapsed(row: &SavedRow) -> Result<u64, String> {
    use skill_lift_contract::telemetry::Observation;
    match &row.telemetry.elapsed_ms.observation {
        Observation::Available { value, .. } => Ok(*value),
        Observation::Unavailable(reason) => Err(format!("unavailable:{reason}")),
        Observation::NotApplicable(_) => Err("not_applicable".to_owned()),
    }
}
