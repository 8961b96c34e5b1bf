//! The JSON of an error analysis: the keys of version 0.6 in its order, then our own.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use skill_lift_stats::rational;

use crate::analyze::error_analysis::{Category, CategoryCount, CheckClass, ErrorAnalysis, FailingRun, Said};
use crate::feedback::{Entry, Opinion};
use crate::json::write::pretty;
use crate::report::compat::rounded;
use crate::report::ordered::Ordered;
use crate::runs::claims::{SavedCheck, SavedRow};

/// Characters of evidence.
const EVIDENCE_CHARACTERS: usize = 400;

/// Decimals of a share.
const SHARE_DECIMALS: u32 = 4;

/// Writes an error analysis with at most `limit` runs to read.
///
/// # Errors
/// Those of the writer.
pub fn write_error_analysis(mut writer: &mut dyn Write, analysis: &ErrorAnalysis<'_>, limit: usize) -> io::Result<()> {
    pretty(&mut writer, &Document::of(analysis, limit), 0)?;
    writer.write_all(b"\n")
}

#[derive(Serialize)]
struct Document<'r> {
    summary: Summary,
    taxonomy: Vec<Kind<'r>>,
    case_flag_histogram: Ordered<usize>,
    review_queue: Vec<Queued<'r>>,
    review_queue_truncated: usize,
    /// What people said, if somebody kept it.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<SaidBlock<'r>>,
    schema_version: u32,
    tool_version: &'static str,
}

#[derive(Serialize)]
struct Summary {
    failing_or_errored_runs: usize,
    distinct_categories: usize,
    runs: usize,
    undecided_runs: usize,
    unchecked_runs: usize,
}

#[derive(Serialize)]
struct Kind<'r> {
    category: &'r str,
    count: usize,
    example_case: &'r str,
    example_evidence: &'r str,
    share: f64,
    by_variant: &'r BTreeMap<&'r str, usize>,
}

#[derive(Serialize)]
struct Queued<'r> {
    case_id: &'r str,
    variant: &'r str,
    model: Option<&'r str>,
    run_base: Option<&'r str>,
    category: String,
    objective_pass_rate: Option<f64>,
    combined_pass_rate: Option<f64>,
    first_failure: Option<Failure<'r>>,
    note: &'r str,
    run_number: u32,
    run_dir: &'r str,
    human_verdict: Option<Opinion>,
}

#[derive(Serialize)]
struct Failure<'r> {
    name: Option<&'r str>,
    #[serde(rename = "type")]
    assertion_type: Option<&'r str>,
    klass: &'static str,
    evidence: &'r str,
}

#[derive(Serialize)]
struct SaidBlock<'r> {
    /// Entries about whole answers, and those among them whose run the report has.
    run_entries: usize,
    matched: usize,
    check_entries: usize,
    right_but_failing: usize,
    /// Runs that no check failed and a person did.
    wrong_but_passed: Vec<Wrong<'r>>,
    unmatched: &'r [&'r Entry],
}

#[derive(Serialize)]
struct Wrong<'r> {
    case_id: &'r str,
    variant: &'r str,
    model: Option<&'r str>,
    run_number: u32,
    run_dir: &'r str,
    note: &'r str,
}

impl<'r> Document<'r> {
    fn of(analysis: &'r ErrorAnalysis<'r>, limit: usize) -> Self {
        let failing = analysis.failing.len();
        Self {
            summary: Summary {
                failing_or_errored_runs: failing,
                distinct_categories: analysis.categories.len(),
                runs: analysis.saved.rows.len(),
                undecided_runs: analysis.undecided,
                unchecked_runs: analysis.unchecked,
            },
            taxonomy: analysis.categories.iter().map(|category| Kind::of(category, failing)).collect(),
            case_flag_histogram: Ordered(
                analysis.flags.iter().map(|(flag, count)| ((*flag).to_owned(), *count)).collect(),
            ),
            review_queue: analysis.failing.iter().take(limit).map(Queued::of).collect(),
            review_queue_truncated: failing.saturating_sub(limit),
            feedback: analysis.said.as_ref().map(SaidBlock::of),
            schema_version: 1,
            tool_version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl<'r> Kind<'r> {
    fn of(category: &'r CategoryCount<'r>, all: usize) -> Self {
        let evidence = match &category.example.category {
            Category::Check(check) => cut(&check.evidence),
            _ => "",
        };
        Self {
            category: &category.name,
            count: category.count(),
            example_case: &category.example.row.case.id,
            example_evidence: evidence,
            share: rounded(&rational::rate(category.count() as u64, all as u64), SHARE_DECIMALS),
            by_variant: &category.by_variant,
        }
    }
}

impl<'r> Queued<'r> {
    fn of(run: &'r FailingRun<'r>) -> Self {
        let row = run.row;
        Self {
            case_id: &row.case.id,
            variant: &row.variant,
            model: row.model.as_deref(),
            run_base: row.run_base.as_deref(),
            category: run.category.to_string(),
            objective_pass_rate: row.objective_rate(),
            combined_pass_rate: row.combined_rate(),
            first_failure: match run.category {
                Category::Check(check) => Some(Failure::of(check)),
                _ => None,
            },
            note: run.said.and_then(|entry| entry.note.as_deref()).unwrap_or_default(),
            run_number: row.repetition,
            run_dir: &row.run_dir,
            human_verdict: run.said.and_then(|entry| entry.verdict),
        }
    }
}

impl<'r> Failure<'r> {
    fn of(check: &'r SavedCheck) -> Self {
        Self {
            name: check.is_named.then_some(&check.name),
            assertion_type: check.assertion_type.map(|kind| kind.word()).or(check.other_type.as_deref()),
            klass: CheckClass::of(check).word(),
            evidence: cut(&check.evidence),
        }
    }
}

impl<'r> SaidBlock<'r> {
    fn of(said: &'r Said<'r>) -> Self {
        let wrong = |(row, entry): &(&'r SavedRow, &'r Entry)| Wrong {
            case_id: &row.case.id,
            variant: &row.variant,
            model: row.model.as_deref(),
            run_number: row.repetition,
            run_dir: &row.run_dir,
            note: entry.note.as_deref().unwrap_or_default(),
        };
        Self {
            run_entries: said.about_runs,
            matched: said.about_runs - said.unmatched.len(),
            check_entries: said.about_checks,
            right_but_failing: said.right_but_failing,
            wrong_but_passed: said.wrong_but_passed.iter().map(wrong).collect(),
            unmatched: &said.unmatched,
        }
    }
}

/// The beginning of evidence.
fn cut(evidence: &str) -> &str {
    evidence.char_indices().nth(EVIDENCE_CHARACTERS).map_or(evidence, |(end, _)| &evidence[..end])
}
