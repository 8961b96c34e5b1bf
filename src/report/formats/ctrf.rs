//! The Common Test Report Format (ctrf.io), JSON for many CI systems.

use std::io::{self, Write};

use serde::Serialize;

use super::Again;
use super::cases::{elapsed, lines, message, run_name};
use crate::analyze::test_cases::{TestCase, TestStatus};
use crate::json::write::pretty;

/// The version of the format.
const SPEC_VERSION: &str = "0.0.0";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Root<'a> {
    report_format: &'static str,
    spec_version: &'static str,
    generated_by: String,
    results: Results<'a>,
}

#[derive(Serialize)]
struct Results<'a> {
    tool: Tool,
    summary: Summary,
    tests: Vec<Test<'a>>,
    extra: Figures<'a>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize, Default)]
struct Summary {
    tests: usize,
    passed: usize,
    failed: usize,
    pending: usize,
    skipped: usize,
    other: usize,
    /// Milliseconds since 1970; 0 without a stamp.
    start: i64,
    stop: i64,
}

#[derive(Serialize)]
struct Test<'a> {
    name: String,
    status: &'static str,
    /// Milliseconds; 0 stands for what was not measured, which `extra` says.
    duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    extra: Place<'a>,
}

#[derive(Serialize)]
struct Place<'a> {
    case_id: &'a str,
    variant: &'a str,
    model: Option<&'a str>,
    run_number: u32,
    run_dir: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_missing: Option<String>,
}

#[derive(Serialize)]
struct Figures<'a> {
    skill_name: &'a str,
    with_skill_objective_pass_rate: Option<f64>,
    baseline: &'static str,
    baseline_objective_pass_rate: Option<f64>,
    absolute_delta: Option<f64>,
    normalized_gain: Option<f64>,
    verdict: &'static str,
    p_two_sided: Option<f64>,
}

/// Writes the rows of a report.
///
/// # Errors
/// Those of the writer.
pub fn write_ctrf(writer: &mut dyn Write, again: Again<'_>, cases: &[TestCase<'_>]) -> io::Result<()> {
    let stamp = again.saved.generated_at.and_then(|seconds| seconds.checked_mul(1000)).unwrap_or_default().max(0);
    let mut summary = Summary { tests: cases.len(), start: stamp, stop: stamp, ..Summary::default() };
    for case in cases {
        *match case.status {
            TestStatus::Passed => &mut summary.passed,
            TestStatus::Failed => &mut summary.failed,
            TestStatus::Pending(_) => &mut summary.pending,
            TestStatus::Reference | TestStatus::Unchecked => &mut summary.skipped,
            TestStatus::Undecided(_) => &mut summary.other,
        } += 1;
    }
    let [with_skill, without_skill, delta, gain] = again.headline();
    let overall = &again.analysis.inference.overall;
    let has_units = overall.test.n > 0 && !again.analysis.is_withheld();
    let root = Root {
        report_format: "CTRF",
        spec_version: SPEC_VERSION,
        generated_by: format!("skill-lift {}", env!("CARGO_PKG_VERSION")),
        results: Results {
            tool: Tool { name: "skill-lift", version: env!("CARGO_PKG_VERSION") },
            summary,
            tests: cases.iter().map(test).collect(),
            extra: Figures {
                skill_name: again.skill_name(),
                with_skill_objective_pass_rate: with_skill,
                baseline: again.analysis.table.baseline.variant(),
                baseline_objective_pass_rate: without_skill,
                absolute_delta: delta,
                normalized_gain: gain,
                verdict: if again.analysis.is_withheld() { "withheld" } else { overall.verdict.code.as_str() },
                p_two_sided: has_units.then_some(overall.test.p_two_sided),
            },
        },
    };
    pretty(&mut *writer, &root, 0)?;
    writer.write_all(b"\n")
}

fn test<'a>(case: &TestCase<'a>) -> Test<'a> {
    let row = case.row;
    let time = elapsed(row);
    Test {
        name: format!("{} {}", row.case.id, run_name(row)),
        status: match case.status {
            TestStatus::Passed => "passed",
            TestStatus::Failed => "failed",
            TestStatus::Pending(_) => "pending",
            TestStatus::Reference | TestStatus::Unchecked => "skipped",
            TestStatus::Undecided(_) => "other",
        },
        duration: time.as_ref().copied().unwrap_or_default(),
        message: message(case),
        trace: (!case.problems.is_empty()).then(|| lines(case).join("\n")),
        extra: Place {
            case_id: &row.case.id,
            variant: &row.variant,
            model: row.model.as_deref(),
            run_number: row.repetition,
            run_dir: &row.run_dir,
            duration_missing: time.err(),
        },
    }
}
