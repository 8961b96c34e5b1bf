//! Blind comparisons: the key that stays behind, and what the preferences of judges say.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;
use skill_lift_stats::rational::round_f64_half_even;

use super::numbers::counted;
use crate::analyze::comparison::{CandidatePair, Comparison, Counts, Decision, SignTest};
use crate::json::write;
use crate::judge::comparison::KeyRow;

/// Ids that are listed; all are counted.
const LISTED_IDS: usize = 20;

/// What stands at the top of a key.
#[derive(Debug, Clone, Serialize)]
pub struct KeyHead<'a> {
    /// Seconds since 1970, only when the key is stamped.
    pub generated_at: Option<i64>,
    /// The arm that is looked at.
    pub primary: &'a str,
    /// What it is compared with.
    pub baseline: &'a str,
    /// What the orders were drawn with.
    pub seed: i64,
    /// In which order answers are shown: `one` or `both`.
    pub orders: &'static str,
    /// Digest of the suite.
    pub suite_sha256: &'a str,
    /// Digest of the files of the runs.
    pub runs_sha256: &'a str,
    /// Digest of what was compared.
    pub comparison_design_sha256: &'a str,
}

#[derive(Serialize)]
struct Key<'a> {
    #[serde(flatten)]
    head: &'a KeyHead<'a>,
    tasks: &'a [KeyRow<'a>],
    left_out: Vec<LeftOut<'a>>,
}

#[derive(Serialize)]
struct LeftOut<'a> {
    case_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    run_number: u32,
    reason: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    detail: &'a [String],
}

/// Writes a key.
///
/// # Errors
/// Those of the writer.
pub fn write_comparison_key(
    writer: &mut dyn Write,
    head: &KeyHead<'_>,
    rows: &[KeyRow<'_>],
    left_out: &[CandidatePair<'_>],
) -> io::Result<()> {
    let reason = |pair: &CandidatePair<'_>| pair.candidates.as_ref().err().map(|left_out| left_out.reason.code());
    let detail = |pair: &'_ CandidatePair<'_>| -> Vec<String> {
        pair.candidates.as_ref().err().map(|left_out| left_out.detail.clone()).unwrap_or_default()
    };
    let details: Vec<Vec<String>> = left_out.iter().map(detail).collect();
    let left_out = left_out.iter().zip(&details).map(|(pair, detail)| LeftOut {
        case_id: pair.case_id,
        model: pair.model,
        run_number: pair.repetition,
        reason: reason(pair).unwrap_or_default(),
        detail,
    });
    write::pretty(&mut *writer, &Key { head, tasks: rows, left_out: left_out.collect() }, 0)?;
    writer.write_all(b"\n")
}

#[derive(Serialize)]
struct Report<'a> {
    generated_at: Option<i64>,
    summary: CountsJson,
    comparisons: PairsJson,
    sign_test: SignTestJson<'static>,
    position: PositionJson,
    coverage: Coverage<'a>,
    contradictions: &'a [String],
    details: Vec<DetailJson<'a>>,
}

#[derive(Serialize)]
struct CountsJson {
    primary: usize,
    baseline: usize,
    tie: usize,
    unknown: usize,
}

impl From<Counts> for CountsJson {
    fn from(counts: Counts) -> Self {
        let Counts { primary, baseline, tie, unknown } = counts;
        Self { primary, baseline, tie, unknown }
    }
}

#[derive(Serialize)]
struct PairsJson {
    primary: usize,
    baseline: usize,
    tie: usize,
    undecided: usize,
    judged_in_both_orders: usize,
    orders_disagree: usize,
}

#[derive(Serialize)]
struct SignTestJson<'a> {
    unit: &'a str,
    primary: usize,
    baseline: usize,
    tied: usize,
    win_rate: Option<f64>,
    p_two_sided: Option<f64>,
}

#[derive(Serialize)]
struct PositionJson {
    a_wins: usize,
    b_wins: usize,
    ties: usize,
    p_two_sided: Option<f64>,
}

#[derive(Serialize)]
struct Coverage<'a> {
    tasks: usize,
    answered: usize,
    complete: bool,
    unanswered: &'a [&'a str],
    unknown_ids: &'a [&'a str],
    unknown_id_count: usize,
}

#[derive(Serialize)]
struct DetailJson<'a> {
    comparison_task_id: &'a str,
    case_id: &'a str,
    winner: &'a str,
    winning_role: &'static str,
    reasoning: &'a str,
}

/// Writes what results say.
///
/// # Errors
/// Those of the writer.
pub fn write_comparison(
    writer: &mut dyn Write,
    comparison: &Comparison<'_>,
    generated_at: Option<i64>,
) -> io::Result<()> {
    let SignTest { primary, baseline, tied, p_two_sided } = comparison.cases;
    let first = |ids: &'_ [&'_ str]| ids.len().min(LISTED_IDS);
    let report = Report {
        generated_at,
        summary: comparison.results.into(),
        comparisons: PairsJson {
            primary: comparison.pairs.primary,
            baseline: comparison.pairs.baseline,
            tie: comparison.pairs.tie,
            undecided: comparison.pairs.unknown,
            judged_in_both_orders: comparison.both_orders[0],
            orders_disagree: comparison.both_orders[1],
        },
        sign_test: SignTestJson {
            unit: "case",
            primary,
            baseline,
            tied,
            win_rate: comparison.cases.win_rate().map(|rate| round_f64_half_even(rate, 4)),
            p_two_sided,
        },
        position: PositionJson {
            a_wins: comparison.position.primary,
            b_wins: comparison.position.baseline,
            ties: comparison.position.tied,
            p_two_sided: comparison.position.p_two_sided,
        },
        coverage: Coverage {
            tasks: comparison.details.len() + comparison.unanswered.len(),
            answered: comparison.details.len(),
            complete: comparison.is_complete(),
            unanswered: &comparison.unanswered[..first(&comparison.unanswered)],
            unknown_ids: &comparison.unknown_ids[..first(&comparison.unknown_ids)],
            unknown_id_count: comparison.unknown_ids.len(),
        },
        contradictions: &comparison.contradictions,
        details: comparison
            .details
            .iter()
            .map(|detail| DetailJson {
                comparison_task_id: &detail.key.id,
                case_id: &detail.key.case_id,
                winner: &detail.row.written,
                winning_role: winning_role(detail.decision),
                reasoning: &detail.row.reasoning,
            })
            .collect(),
    };
    write::pretty(&mut *writer, &json!(report), 0)?;
    writer.write_all(b"\n")
}

fn winning_role(decision: Decision) -> &'static str {
    match decision {
        Decision::Won(side) => side.word(),
        Decision::Tie => "tie",
        Decision::Unrecognized => "unknown",
    }
}

/// The same in words.
pub fn comparison_text(comparison: &Comparison<'_>) -> String {
    let SignTest { primary, baseline, tied, p_two_sided } = comparison.cases;
    let pairs = comparison.pairs;
    let mut lines = vec![format!(
        "{}: {} for the primary arm, {} for the baseline, {} tied",
        counted(primary + baseline + tied, "case", "cases"),
        primary,
        baseline,
        tied
    )];
    lines.push(match p_two_sided {
        Some(p) => format!("exact sign test over cases: p = {p:.4}"),
        None => "no case prefers an arm: nothing to test".to_owned(),
    });
    lines.push(format!(
        "{}: {} won, {} lost, {} tied, {} undecided",
        counted(pairs.primary + pairs.baseline + pairs.tie + pairs.unknown, "pair", "pairs"),
        pairs.primary,
        pairs.baseline,
        pairs.tie,
        pairs.unknown
    ));
    if comparison.both_orders[0] > 0 {
        lines.push(format!(
            "both orders: {} of {} disagree and count as ties",
            comparison.both_orders[1],
            counted(comparison.both_orders[0], "pair", "pairs")
        ));
    }
    let position = comparison.position;
    if let Some(p) = position.p_two_sided {
        lines.push(format!(
            "position: A won {} and B {} times, p = {p:.4} for no preference of a position",
            position.primary, position.baseline
        ));
    }
    lines.join("\n") + "\n"
}
