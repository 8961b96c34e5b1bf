//! Building the frames while runs are graded, one run after the other.

use std::sync::Arc;

use polars::prelude::*;
use skill_lift_text::python::float_repr;

use super::FrameError;
use super::one_arm::OneArmColumns;
use super::schema::{assertions, runs};
use super::telemetry::{TelemetryRows, telemetry_columns};
use super::trace::TraceColumns;
use crate::grade::stored::{RunFlag, StoredFacts};
use crate::grade::{AssertionRow, DeferredJudgement, GradedRun, Rate};
use crate::runs::UsedByRun;
use crate::runs::{ServedModel, StopClass};
use crate::suite::one_arm::OneArm;
use crate::suite::{Case, Severity};

/// The frames.
#[derive(Debug, Clone)]
pub struct Frames {
    /// One row a run, in report order.
    pub runs: DataFrame,
    /// One row a check of a run, in report order, if it was asked for.
    pub assertions: Option<DataFrame>,
    /// What each run used, in report order. Measurements stay typed: each has its reason and its basis.
    pub telemetry: Arc<Vec<UsedByRun>>,
    /// One row an assertion of a scored run that only one arm of the lift can satisfy.
    pub one_arm: DataFrame,
}

/// Collects runs.
#[derive(Debug, Default)]
pub struct FrameBuilder {
    runs: RunColumns,
    assertions: Option<AssertionColumns>,
    telemetry: TelemetryRows,
    one_arm: OneArmColumns,
}

#[derive(Debug, Default)]
struct RunColumns {
    case_id: Vec<String>,
    case_name: Vec<Option<String>>,
    case_position: Vec<u32>,
    dataset: Vec<Option<String>>,
    split: Vec<&'static str>,
    kind: Vec<String>,
    domain: Vec<Option<String>>,
    difficulty: Vec<Option<String>>,
    trigger_type: Vec<Option<String>>,
    success_goals: Vec<Vec<String>>,
    tags: Vec<Vec<String>>,
    eval_intent: Vec<&'static str>,
    family: Vec<Option<String>>,
    variant: Vec<String>,
    variant_position: Vec<u32>,
    model: Vec<Option<String>>,
    repetition: Vec<u32>,
    run_dir: Vec<String>,
    missing_output: Vec<bool>,
    execution_valid: Vec<bool>,
    scorable: Vec<bool>,
    unscored_reasons: Vec<Vec<String>>,
    contaminated: Vec<bool>,
    skill_loaded: Vec<Option<bool>>,
    incomplete_verdicts: Vec<bool>,
    stored_verdicts: Vec<Option<u32>>,
    vetoed: Vec<bool>,
    critical_failures: Vec<Vec<String>>,
    objective: RateColumns,
    process: RateColumns,
    efficiency: RateColumns,
    qualitative: RateColumns,
    graded_score_e4: Vec<Option<u32>>,
    below_reference_floor: Vec<Vec<String>>,
    deferred_judgements: Vec<u32>,
    deferred_gates: Vec<u32>,
    effort: Vec<Option<String>>,
    stop_class: Vec<Option<&'static str>>,
    served_model_check: Vec<Option<&'static str>>,
    started_at_ms: Vec<Option<i64>>,
    answer_digest: Vec<Option<u64>>,
    trace: TraceColumns,
    tiers: TierColumns,
    judgements: Vec<u32>,
    soft_judge_scores: Vec<Vec<String>>,
    unobserved_checks: Vec<Vec<String>>,
}

/// Counts of each oracle tier.
#[derive(Debug, Default)]
struct TierColumns {
    passed: [Vec<u32>; 3],
    total: [Vec<u32>; 3],
}

impl TierColumns {
    fn push(&mut self, run: &GradedRun) {
        for (at, tier) in runs::TIERS.into_iter().enumerate() {
            let of_tier = || run.rows().filter(|row| row.oracle == tier);
            self.total[at].push(narrow(of_tier().count()));
            self.passed[at].push(narrow(of_tier().filter(|row| row.outcome.passed() == Some(true)).count()));
        }
    }

    fn finish(self) -> impl Iterator<Item = Column> {
        let columns = |names: [&'static str; 3], counts: [Vec<u32>; 3]| {
            names.into_iter().zip(counts).map(|(name, counts)| Column::new(name.into(), counts))
        };
        columns(runs::ORACLE_PASSED, self.passed).chain(columns(runs::ORACLE_TOTAL, self.total))
    }
}

#[derive(Debug, Default)]
struct RateColumns {
    passed: Vec<Option<u32>>,
    total: Vec<Option<u32>>,
}

impl RateColumns {
    fn push(&mut self, rate: Option<Rate>) {
        self.passed.push(rate.map(|rate| rate.passed));
        self.total.push(rate.map(|rate| rate.total));
    }
}

#[derive(Debug, Default)]
struct AssertionColumns {
    case_id: Vec<String>,
    variant: Vec<String>,
    model: Vec<Option<String>>,
    repetition: Vec<u32>,
    position: Vec<u32>,
    name: Vec<String>,
    assertion_type: Vec<&'static str>,
    severity: Vec<&'static str>,
    oracle: Vec<&'static str>,
    turn: Vec<Option<u32>>,
    outcome: Vec<&'static str>,
    reason: Vec<Option<String>>,
    score: Vec<Option<String>>,
    evidence: Vec<String>,
    one_arm: Vec<Option<&'static str>>,
}

impl FrameBuilder {
    /// A builder of all frames, or of those without a row for every check: these with their evidence take most of the
    /// memory.
    pub fn new(with_assertions: bool) -> Self {
        Self { assertions: with_assertions.then(AssertionColumns::default), ..Self::default() }
    }

    /// Adds a run of a case.
    pub fn push(&mut self, run: &GradedRun, case: &Case) {
        self.one_arm.push(run, self.runs.case_id.len());
        self.runs.push(run, case);
        self.telemetry.push(run);
        let Some(assertions) = &mut self.assertions else {
            return;
        };
        let rows = run.rows().count();
        for (position, row) in run.rows().enumerate() {
            assertions.push(run, position, row);
        }
        for (position, judgement) in run.deferred.iter().enumerate() {
            assertions.push_pending(run, rows + position, judgement);
        }
    }

    /// The frames.
    ///
    /// # Errors
    /// When polars refuses the columns.
    pub fn finish(self) -> Result<Frames, FrameError> {
        let telemetry = self.telemetry.finish();
        let mut runs = self.runs.finish()?;
        // only who reads the files wants the measurements as columns
        if self.assertions.is_some() {
            runs.hstack_mut(&telemetry_columns(&telemetry))?;
        }
        Ok(Frames {
            runs,
            assertions: self.assertions.map(AssertionColumns::finish).transpose()?,
            telemetry: Arc::new(telemetry),
            one_arm: self.one_arm.finish()?,
        })
    }
}

impl RunColumns {
    fn push(&mut self, run: &GradedRun, case: &Case) {
        let tally = &run.tally;
        let rate = |rate: Rate| if run.has_no_rates() { None } else { Some(rate) };
        self.case_id.push(case.id.clone());
        self.case_name.push(case.name.clone());
        self.case_position.push(narrow(run.case));
        self.dataset.push(case.dataset.clone());
        self.split.push(case.split.word());
        self.kind.push(case.kind.clone());
        self.domain.push(case.domain.clone());
        self.difficulty.push(case.difficulty.clone());
        self.trigger_type.push(case.trigger_type.clone());
        self.success_goals.push(case.success_goals.clone());
        self.tags.push(case.tags.clone());
        self.eval_intent.push(case.eval_intent.word());
        self.family.push(case.family.clone());
        self.variant.push(run.key.variant.clone());
        self.variant_position.push(narrow(run.variant));
        self.model.push(run.key.model.clone());
        self.repetition.push(run.key.repetition);
        self.run_dir.push(run.path.clone());
        self.missing_output.push(run.missing_output);
        self.execution_valid.push(run.execution_valid);
        self.scorable.push(run.is_scorable());
        self.unscored_reasons.push(run.unscored_reasons.iter().map(|reason| reason.code().to_owned()).collect());
        self.contaminated.push(run.contamination.is_some());
        self.skill_loaded.push(run.skill_loaded);
        let incomplete = |facts: &StoredFacts| facts.flags.contains(&RunFlag::IncompleteVerdicts);
        self.incomplete_verdicts.push(run.stored.as_deref().is_some_and(incomplete));
        let others_gave = run.stored.as_ref().filter(|facts| !facts.is_exported);
        self.stored_verdicts.push(others_gave.map(|_| narrow(run.objective.len())));
        self.vetoed.push(tally.is_vetoed());
        self.critical_failures.push(tally.critical_failures.clone());
        self.objective.push(rate(tally.objective));
        self.process.push(rate(tally.process));
        self.efficiency.push(rate(tally.efficiency));
        self.qualitative.push(rate(tally.qualitative));
        let graded_score = if run.has_no_rates() { None } else { tally.graded_score };
        self.graded_score_e4.push(graded_score.map(|score| (score * 10_000.0).round() as u32));
        self.below_reference_floor.push(tally.below_reference_floor.clone());
        self.deferred_judgements.push(narrow(run.deferred.len()));
        let gates = run.deferred.iter().filter(|judgement| judgement.severity != Severity::Soft).count();
        self.deferred_gates.push(narrow(gates));
        self.effort.push(run.ending.effort.clone());
        self.stop_class.push(run.ending.stop_class.map(StopClass::word));
        self.served_model_check.push(run.ending.served_model.map(ServedModel::word));
        self.started_at_ms.push(run.started_at_ms);
        self.answer_digest.push(run.answer_digest.map(|digest| digest.start()));
        self.trace.push(&run.trace);
        self.tiers.push(run);
        self.judgements.push(narrow(run.qualitative.len()));
        let soft = run.qualitative.iter().filter(|row| row.severity == Severity::Soft);
        self.soft_judge_scores.push(soft.filter_map(AssertionRow::share).map(float_repr).collect());
        self.unobserved_checks.push(run.unobserved_rows().map(|row| row.name.clone()).collect());
    }

    fn finish(self) -> Result<DataFrame, FrameError> {
        let height = self.case_id.len();
        let mut columns = vec![
            Column::new(runs::CASE_ID.into(), self.case_id),
            Column::new(runs::CASE_NAME.into(), self.case_name),
            Column::new(runs::CASE_POSITION.into(), self.case_position),
            Column::new(runs::DATASET.into(), self.dataset),
            Column::new(runs::SPLIT.into(), self.split),
            Column::new(runs::KIND.into(), self.kind),
            Column::new(runs::DOMAIN.into(), self.domain),
            Column::new(runs::DIFFICULTY.into(), self.difficulty),
            Column::new(runs::TRIGGER_TYPE.into(), self.trigger_type),
            text_lists(runs::SUCCESS_GOALS, &self.success_goals),
            text_lists(runs::TAGS, &self.tags),
            Column::new(runs::EVAL_INTENT.into(), self.eval_intent),
            Column::new(runs::FAMILY.into(), self.family),
            Column::new(runs::VARIANT.into(), self.variant),
            Column::new(runs::VARIANT_POSITION.into(), self.variant_position),
            Column::new(runs::MODEL.into(), self.model),
            Column::new(runs::REPETITION.into(), self.repetition),
            Column::new(runs::RUN_DIR.into(), self.run_dir),
            Column::new(runs::MISSING_OUTPUT.into(), self.missing_output),
            Column::new(runs::EXECUTION_VALID.into(), self.execution_valid),
            Column::new(runs::SCORABLE.into(), self.scorable),
            text_lists(runs::UNSCORED_REASONS, &self.unscored_reasons),
            Column::new(runs::CONTAMINATED.into(), self.contaminated),
            Column::new(runs::SKILL_LOADED.into(), self.skill_loaded),
            Column::new(runs::INCOMPLETE_VERDICTS.into(), self.incomplete_verdicts),
            Column::new(runs::STORED_VERDICTS.into(), self.stored_verdicts),
            Column::new(runs::VETOED.into(), self.vetoed),
            text_lists(runs::CRITICAL_FAILURES, &self.critical_failures),
            Column::new(runs::OBJECTIVE_PASSED.into(), self.objective.passed),
            Column::new(runs::OBJECTIVE_TOTAL.into(), self.objective.total),
            Column::new(runs::PROCESS_PASSED.into(), self.process.passed),
            Column::new(runs::PROCESS_TOTAL.into(), self.process.total),
            Column::new(runs::EFFICIENCY_PASSED.into(), self.efficiency.passed),
            Column::new(runs::EFFICIENCY_TOTAL.into(), self.efficiency.total),
            Column::new(runs::QUALITATIVE_PASSED.into(), self.qualitative.passed),
            Column::new(runs::QUALITATIVE_TOTAL.into(), self.qualitative.total),
            Column::new(runs::GRADED_SCORE_E4.into(), self.graded_score_e4),
            text_lists(runs::BELOW_REFERENCE_FLOOR, &self.below_reference_floor),
            Column::new(runs::DEFERRED_JUDGEMENTS.into(), self.deferred_judgements),
            Column::new(runs::DEFERRED_GATES.into(), self.deferred_gates),
            Column::new(runs::EFFORT.into(), self.effort),
            Column::new(runs::STOP_CLASS.into(), self.stop_class),
            Column::new(runs::SERVED_MODEL_CHECK.into(), self.served_model_check),
            Column::new(runs::STARTED_AT_MS.into(), self.started_at_ms),
            Column::new(runs::ANSWER_DIGEST.into(), self.answer_digest),
            Column::new(runs::JUDGEMENTS.into(), self.judgements),
            text_lists(runs::SOFT_JUDGE_SCORES, &self.soft_judge_scores),
            text_lists(runs::UNOBSERVED_CHECKS, &self.unobserved_checks),
        ];
        columns.extend(self.trace.finish());
        columns.extend(self.tiers.finish());
        Ok(DataFrame::new(height, columns)?)
    }
}

impl AssertionColumns {
    fn push_run(&mut self, run: &GradedRun, position: usize) {
        self.case_id.push(run.key.case_id.clone());
        self.variant.push(run.key.variant.clone());
        self.model.push(run.key.model.clone());
        self.repetition.push(run.key.repetition);
        self.position.push(narrow(position));
    }

    fn push(&mut self, run: &GradedRun, position: usize, row: &AssertionRow) {
        self.push_run(run, position);
        self.name.push(row.name.clone());
        self.assertion_type.push(row.assertion_type.word());
        self.severity.push(row.severity.word());
        self.oracle.push(row.oracle.word());
        self.turn.push(row.turn.map(narrow));
        self.outcome.push(row.outcome.word());
        self.reason.push(row.outcome.reason().map(str::to_owned));
        self.score.push(row.score.map(float_repr));
        self.evidence.push(row.evidence.clone());
        self.one_arm.push(row.one_arm.map(OneArm::code));
    }

    fn push_pending(&mut self, run: &GradedRun, position: usize, judgement: &DeferredJudgement) {
        self.push_run(run, position);
        self.name.push(judgement.label.clone());
        self.assertion_type.push(judgement.assertion_type.word());
        self.severity.push(judgement.severity.word());
        self.oracle.push(judgement.oracle.word());
        self.turn.push(judgement.turn.map(narrow));
        self.outcome.push("pending");
        self.reason.push(None);
        self.score.push(None);
        self.evidence.push(String::new());
        self.one_arm.push(None);
    }

    fn finish(self) -> Result<DataFrame, FrameError> {
        let height = self.case_id.len();
        let columns = vec![
            Column::new(assertions::CASE_ID.into(), self.case_id),
            Column::new(assertions::VARIANT.into(), self.variant),
            Column::new(assertions::MODEL.into(), self.model),
            Column::new(assertions::REPETITION.into(), self.repetition),
            Column::new(assertions::POSITION.into(), self.position),
            Column::new(assertions::NAME.into(), self.name),
            Column::new(assertions::TYPE.into(), self.assertion_type),
            Column::new(assertions::SEVERITY.into(), self.severity),
            Column::new(assertions::ORACLE.into(), self.oracle),
            Column::new(assertions::TURN.into(), self.turn),
            Column::new(assertions::OUTCOME.into(), self.outcome),
            Column::new(assertions::REASON.into(), self.reason),
            Column::new(assertions::SCORE.into(), self.score),
            Column::new(assertions::EVIDENCE.into(), self.evidence),
            Column::new(assertions::ONE_ARM.into(), self.one_arm),
        ];
        Ok(DataFrame::new(height, columns)?)
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(super) fn text_lists(name: &str, rows: &[Vec<String>]) -> Column {
    let mut builder = ListStringChunkedBuilder::new(name.into(), rows.len(), rows.iter().map(Vec::len).sum());
    for row in rows {
        builder.append_values_iter(row.iter().map(String::as_str));
    }
    builder.finish().into_column()
}
