//! A tree as one side of a comparison: the rows of its report, read as they are made.

use std::collections::{BTreeMap, HashMap};
use std::io;

use skill_lift_contract::ContentDigest;

use super::evaluate::{Evaluated, EvaluationError, FrameChoice, Products, Request, evaluate};
use super::warnings::WarningLog;
use super::workspace::{WorkspaceRequest, evaluate_workspace};
use crate::analyze::diff::{CaseText, RateRule, Side, SideOrigin};
use crate::analyze::table::Baseline;
use crate::analyze::{AnalysisOptions, analyze};
use crate::report::words::flag_text;
use crate::report::{RowDetail, RowWriter};
use crate::runs::claims::{ClaimForm, ClaimedFlag, ClaimedRun, Claims, read_report_row};
use crate::suite::{Case, Dialect, Suite};

/// How a tree is graded for a comparison.
pub enum SideRequest<'a> {
    /// A suite and a tree in which its cases and arms are folders.
    Tree(Request<'a>),
    /// A workspace with stored verdicts.
    Workspace {
        /// What to read.
        request: WorkspaceRequest<'a>,
        /// Whether a file of the suite was read.
        has_suite_file: bool,
    },
}

/// A tree that was read.
pub struct GradedSide {
    /// Its rows, flags and conditions.
    pub side: Side,
    /// What was odd.
    pub warnings: WarningLog,
}

/// Grades a tree. `label` is its path as the user typed it, `options` are the flags that change grades, and `baseline`
/// says for the arms that were found what the skill is compared with.
///
/// # Errors
/// As [`evaluate`] and [`evaluate_workspace`].
pub fn graded_side(
    label: String,
    request: &SideRequest<'_>,
    options: &BTreeMap<&'static str, String>,
    baseline: impl FnOnce(&[String]) -> Baseline,
) -> Result<GradedSide, EvaluationError> {
    let mut rows = ReadRows::default();
    let (suite, origin, is_file, evaluated, variants) = match request {
        SideRequest::Tree(request) => {
            let evaluated = evaluate(request, &mut rows)?;
            let origin = SideOrigin::Tree(request.suite.dialect);
            (request.suite, origin, true, evaluated, request.variants.clone())
        }
        SideRequest::Workspace { request, has_suite_file } => {
            let (evaluated, variants) = evaluate_workspace(request, &mut rows)?;
            let origin = SideOrigin::Workspace(request.workspace.kind.into());
            (request.suite, origin, *has_suite_file, evaluated, variants)
        }
    };
    let baseline = baseline(&variants);
    let Evaluated { frames, warnings, runs_sha256, .. } = evaluated;
    let analysis =
        frames.map(|frames| analyze(frames, &variants, &AnalysisOptions { baseline, ..AnalysisOptions::default() }));
    let flags = analysis.transpose()?.map(|analysis| {
        let cases = analysis.case_flags.iter();
        let flags = cases.flat_map(|case| case.flags.iter().map(|raised| (&case.case_id, flag_text(&raised.flag))));
        flags.map(|(case, flag)| ClaimedFlag { case: case.clone(), flag }).collect()
    });
    let claims = Claims {
        form: ClaimForm::GradedRuns,
        skill_name: Some(suite.skill_name.clone()),
        iteration: None,
        rows: with_texts(rows.rows, suite),
        published_delta: Vec::new(),
        aggregates: Vec::new(),
        flags: flags.unwrap_or_default(),
        blocks: conditions(suite, is_file, runs_sha256, options),
        notes: Vec::new(),
    };
    let side = Side {
        label,
        origin,
        rate_rule: RateRule::of_dialect(suite.dialect),
        claims,
        cases: suite.cases.iter().map(|case| (case.id.clone(), case_text(suite.dialect, case))).collect(),
    };
    Ok(GradedSide { side, warnings })
}

/// What is made beside the rows: the flags of the cases come from the frame of runs.
pub const SIDE_PRODUCTS: Products = Products {
    frames: FrameChoice::Runs,
    rows: RowDetail::Full,
    judge_tasks: false,
    grading_files: false,
    plan_bytes: None,
};

/// The conditions under which a tree was graded, as a report of it would state them.
fn conditions(
    suite: &Suite,
    is_file: bool,
    runs_sha256: String,
    options: &BTreeMap<&'static str, String>,
) -> BTreeMap<String, String> {
    let mut conditions: BTreeMap<String, String> =
        options.iter().map(|(name, value)| (format!("options.{name}"), value.clone())).collect();
    conditions.insert("tool_version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    conditions.insert("dialect".to_owned(), suite.dialect.name().to_owned());
    conditions.insert("runs_sha256".to_owned(), runs_sha256);
    if is_file {
        conditions.insert("suite_sha256".to_owned(), suite.digest.clone());
    }
    conditions
}

/// Digests of what a case asks and checks. Of the strict dialect the digest of the suite says more: it also covers the
/// files that the suite refers to.
fn case_text(dialect: Dialect, case: &Case) -> CaseText {
    if dialect == Dialect::SharedBenchmark {
        return CaseText::default();
    }
    let digest = |text: &str| format!("sha256:{}", ContentDigest::of(text.as_bytes()));
    let mut texts: Vec<&str> =
        case.assertions.iter().map(|assertion| assertion.text.as_deref().unwrap_or(&assertion.label)).collect();
    texts.sort_unstable();
    CaseText {
        prompt: case.prompt.as_deref().map(digest),
        checks: (!texts.is_empty()).then(|| digest(&texts.join("\0"))),
    }
}

/// Rows name a check by its label, which may be no more than `a0`; its text says what it is.
fn with_texts(mut rows: Vec<ClaimedRun>, suite: &Suite) -> Vec<ClaimedRun> {
    let of_case = |case: &Case| -> HashMap<String, String> {
        let named =
            case.assertions.iter().filter_map(|assertion| Some((assertion.label.clone(), assertion.text.clone()?)));
        named.collect()
    };
    let texts: HashMap<&str, HashMap<String, String>> =
        suite.cases.iter().map(|case| (case.id.as_str(), of_case(case))).collect();
    for row in &mut rows {
        let Some(texts) = texts.get(row.case.id.as_str()) else { continue };
        for assertion in &mut row.assertions {
            if let Some(text) = texts.get(&assertion.text) {
                assertion.name = Some(std::mem::replace(&mut assertion.text, text.clone()));
            }
        }
    }
    rows
}

/// Rows of a report, read one at a time.
#[derive(Default)]
struct ReadRows {
    rows: Vec<ClaimedRun>,
}

impl RowWriter for ReadRows {
    fn push(&mut self, row: &[u8]) -> io::Result<()> {
        self.rows.push(read_report_row(row, self.rows.len()).map_err(io::Error::other)?);
        Ok(())
    }
}
