//! The frame `runs` as typed rows, read once.

use std::collections::BTreeSet;
use std::sync::Arc;

use polars::prelude::*;
use skill_lift_stats::rational::{self, Rational};

use crate::frame::schema::runs as column;
use crate::frame::{FrameError, Frames, KeyOrder, traces};
use crate::grade::Trace;
use crate::runs::UsedByRun;
use crate::runs::{ServedModel, StopClass};
use crate::suite::EvalIntent;

/// The skill's arm of the headline contrast.
pub const WITH_SKILL: &str = "with_skill";
/// What the skill's arm is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Baseline {
    /// Runs without the skill: the contrast is the lift of the skill.
    #[default]
    WithoutSkill,
    /// Runs with an earlier version of it: the contrast is the effect of the edit.
    OldSkill,
}

impl Baseline {
    /// The name of its arm.
    pub fn variant(self) -> &'static str {
        match self {
            Self::WithoutSkill => "without_skill",
            Self::OldSkill => "old_skill",
        }
    }
}

/// A pass rate as counts; zero on a veto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassRate {
    /// Checks that hold.
    pub passed: u32,
    /// Checks that count.
    pub total: u32,
    /// Whether a critical check failed.
    pub vetoed: bool,
}

impl PassRate {
    /// The rate, exact.
    pub fn value(self) -> Rational {
        if self.vetoed || self.total == 0 {
            rational::rate(0, 1)
        } else {
            rational::rate(self.passed.into(), self.total.into())
        }
    }

    /// Whether everything holds.
    pub fn is_success(self) -> bool {
        !self.vetoed && self.total > 0 && self.passed == self.total
    }
}

/// One run.
#[derive(Debug, Clone)]
pub struct Run {
    /// Where it stands.
    pub order: KeyOrder,
    /// Whether there is no answer.
    pub missing_output: bool,
    /// Whether it finished.
    pub execution_valid: bool,
    /// Whether it enters rates.
    pub scorable: bool,
    /// Why not.
    pub unscored_reasons: Vec<String>,
    /// Whether a run without the skill had it.
    pub contaminated: bool,
    /// Whether the skill was loaded, if somebody says so.
    pub skill_loaded: Option<bool>,
    /// Whether a stored list of verdicts leaves assertions out that count as failed.
    pub incomplete_verdicts: bool,
    /// Entries of a stored list of verdicts.
    pub stored_verdicts: Option<u32>,
    /// Gate and critical checks without a judge.
    pub objective: Option<PassRate>,
    /// Those that look at what the agent did.
    pub process: Option<PassRate>,
    /// Those that look at what it used.
    pub efficiency: Option<PassRate>,
    /// Objective checks and judgements.
    pub combined: Option<PassRate>,
    /// Mean score of the soft checks, in ten-thousandths.
    pub graded_score_e4: Option<u32>,
    /// Critical checks that failed.
    pub critical_failures: Vec<String>,
    /// Soft checks below the case's reference score.
    pub below_reference_floor: Vec<String>,
    /// Gates and critical judgements that were not supplied.
    pub deferred_gates: u32,
    /// Judgements that were not supplied.
    pub deferred_judgements: u32,
    /// Effort setting.
    pub effort: Option<String>,
    /// Why the model stopped, if it is recorded.
    pub stop_class: Option<StopClass>,
    /// Whether the model that was asked for answered, if it is recorded.
    pub served_model: Option<ServedModel>,
    /// What the agent did.
    pub trace: Trace,
    /// Directory below the runs root.
    pub run_dir: String,
}

/// One case.
#[derive(Debug, Clone)]
pub struct CaseFacts {
    /// Its id.
    pub id: String,
    /// Its name for people, if it has one beside its id.
    pub name: Option<String>,
    /// Its family, if it declares one.
    pub family: Option<String>,
    /// What it is for.
    pub eval_intent: EvalIntent,
}

/// All runs of a tree, in report order, with the lists that their positions point into.
#[derive(Debug)]
pub struct RunTable {
    /// Cases that have a run; positions are those of [`KeyOrder::case`].
    pub cases: Vec<CaseFacts>,
    /// Models by name.
    pub models: Vec<String>,
    /// Selected arms.
    pub variants: Vec<String>,
    /// What the skill's arm is compared with.
    pub baseline: Baseline,
    /// The runs.
    pub runs: Vec<Run>,
    /// What each of them used.
    pub telemetry: Arc<Vec<UsedByRun>>,
}

impl RunTable {
    /// Reads the frames.
    ///
    /// # Errors
    /// When a column is missing or of another type.
    pub fn read(frames: &Frames, variants: &[String], baseline: Baseline) -> Result<Self, FrameError> {
        let frame = &frames.runs;
        let text = |name: &str| -> Result<StringChunked, PolarsError> { Ok(frame.column(name)?.str()?.clone()) };
        let number = |name: &str| -> Result<UInt32Chunked, PolarsError> { Ok(frame.column(name)?.u32()?.clone()) };
        let flag = |name: &str| -> Result<BooleanChunked, PolarsError> { Ok(frame.column(name)?.bool()?.clone()) };
        let list = |name: &str| -> Result<ListChunked, PolarsError> { Ok(frame.column(name)?.list()?.clone()) };
        let rate = |passed: &str, total: &str| -> Result<_, PolarsError> { Ok((number(passed)?, number(total)?)) };

        let model = text(column::MODEL)?;
        let models: Vec<String> =
            model.iter().flatten().collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect();
        let (case_id, family, intent) = (text(column::CASE_ID)?, text(column::FAMILY)?, text(column::EVAL_INTENT)?);
        let case_name = text(column::CASE_NAME)?;
        let case_position = number(column::CASE_POSITION)?;
        let variant_position = number(column::VARIANT_POSITION)?;
        let repetition = number(column::REPETITION)?;
        let (missing, valid) = (flag(column::MISSING_OUTPUT)?, flag(column::EXECUTION_VALID)?);
        let (scorable, vetoed) = (flag(column::SCORABLE)?, flag(column::VETOED)?);
        let reasons = list(column::UNSCORED_REASONS)?;
        let (contaminated, loaded) = (flag(column::CONTAMINATED)?, flag(column::SKILL_LOADED)?);
        let stored_verdicts = number(column::STORED_VERDICTS)?;
        let incomplete = flag(column::INCOMPLETE_VERDICTS)?;
        let (critical, below) = (list(column::CRITICAL_FAILURES)?, list(column::BELOW_REFERENCE_FLOOR)?);
        let objective = rate(column::OBJECTIVE_PASSED, column::OBJECTIVE_TOTAL)?;
        let process = rate(column::PROCESS_PASSED, column::PROCESS_TOTAL)?;
        let efficiency = rate(column::EFFICIENCY_PASSED, column::EFFICIENCY_TOTAL)?;
        let qualitative = rate(column::QUALITATIVE_PASSED, column::QUALITATIVE_TOTAL)?;
        let graded = number(column::GRADED_SCORE_E4)?;
        let (deferred, deferred_gates) = (number(column::DEFERRED_JUDGEMENTS)?, number(column::DEFERRED_GATES)?);
        let (effort, run_dir) = (text(column::EFFORT)?, text(column::RUN_DIR)?);
        let (stop_class, served_model) = (text(column::STOP_CLASS)?, text(column::SERVED_MODEL_CHECK)?);
        let traces = traces(frame)?;

        let mut cases: Vec<CaseFacts> = Vec::new();
        let mut runs = Vec::with_capacity(frame.height());
        for (row, trace) in traces.into_iter().enumerate() {
            let position = case_position.get(row).unwrap_or_default();
            while cases.len() <= position as usize {
                cases.push(CaseFacts {
                    id: String::new(),
                    name: None,
                    family: None,
                    eval_intent: EvalIntent::Capability,
                });
            }
            if let Some(case) = cases.get_mut(position as usize).filter(|case| case.id.is_empty()) {
                case.id = case_id.get(row).unwrap_or_default().to_owned();
                case.name = case_name.get(row).map(str::to_owned);
                case.family = family.get(row).map(str::to_owned);
                case.eval_intent = intent.get(row).and_then(EvalIntent::from_word).unwrap_or(EvalIntent::Capability);
            }
            let vetoed = vetoed.get(row).unwrap_or_default();
            let counts = |(passed, total): &(UInt32Chunked, UInt32Chunked)| Some((passed.get(row)?, total.get(row)?));
            let pass_rate = |counts: Option<(u32, u32)>| {
                counts.filter(|(_, total)| *total > 0).map(|(passed, total)| PassRate { passed, total, vetoed })
            };
            let objective_counts = counts(&objective);
            let combined = objective_counts.zip(counts(&qualitative)).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
            runs.push(Run {
                order: KeyOrder {
                    case: position,
                    model: model
                        .get(row)
                        .and_then(|name| models.binary_search_by(|m| m.as_str().cmp(name)).ok())
                        .map(|m| m as u32),
                    variant: variant_position.get(row).unwrap_or_default(),
                    repetition: repetition.get(row).unwrap_or_default(),
                },
                missing_output: missing.get(row).unwrap_or_default(),
                execution_valid: valid.get(row).unwrap_or_default(),
                scorable: scorable.get(row).unwrap_or_default(),
                unscored_reasons: texts(&reasons, row),
                contaminated: contaminated.get(row).unwrap_or_default(),
                skill_loaded: loaded.get(row),
                incomplete_verdicts: incomplete.get(row).unwrap_or_default(),
                stored_verdicts: stored_verdicts.get(row),
                // a veto makes the objective rate zero even when nothing else counts
                objective: pass_rate(objective_counts).or_else(|| {
                    objective_counts.filter(|_| vetoed).map(|(passed, total)| PassRate { passed, total, vetoed })
                }),
                process: pass_rate(counts(&process)),
                efficiency: pass_rate(counts(&efficiency)),
                combined: pass_rate(combined),
                graded_score_e4: graded.get(row),
                critical_failures: texts(&critical, row),
                below_reference_floor: texts(&below, row),
                deferred_gates: deferred_gates.get(row).unwrap_or_default(),
                deferred_judgements: deferred.get(row).unwrap_or_default(),
                effort: effort.get(row).map(str::to_owned),
                stop_class: stop_class.get(row).and_then(StopClass::from_word),
                served_model: served_model.get(row).and_then(ServedModel::from_word),
                trace,
                run_dir: run_dir.get(row).unwrap_or_default().to_owned(),
            });
        }
        let telemetry = Arc::clone(&frames.telemetry);
        Ok(Self { cases, models, variants: variants.to_vec(), baseline, runs, telemetry })
    }

    /// The id of a case.
    pub fn case_id(&self, position: u32) -> &str {
        self.cases.get(position as usize).map_or("", |case| case.id.as_str())
    }

    /// The name of a model.
    pub fn model(&self, position: Option<u32>) -> Option<&str> {
        self.models.get(position? as usize).map(String::as_str)
    }

    /// The name of an arm.
    pub fn variant(&self, position: u32) -> &str {
        self.variants.get(position as usize).map_or("", String::as_str)
    }

    /// The position of an arm, if it is selected.
    pub fn variant_position(&self, name: &str) -> Option<u32> {
        self.variants.iter().position(|variant| variant == name).map(|position| position as u32)
    }

    /// Positions of the cases, by id.
    pub fn cases_by_id(&self) -> Vec<u32> {
        let mut positions: Vec<u32> =
            (0..self.cases.len() as u32).filter(|position| !self.case_id(*position).is_empty()).collect();
        positions.sort_by(|a, b| self.case_id(*a).cmp(self.case_id(*b)));
        positions
    }

    /// Positions of the strata: models by name, then the runs without a model if there are any.
    pub fn strata(&self) -> Vec<Option<u32>> {
        let mut strata: Vec<Option<u32>> = (0..self.models.len() as u32).map(Some).collect();
        if self.models.is_empty() || self.runs.iter().any(|run| run.order.model.is_none()) {
            strata.push(None);
        }
        strata
    }
}

fn texts(lists: &ListChunked, row: usize) -> Vec<String> {
    let Some(series) = lists.get_as_series(row) else {
        return Vec::new();
    };
    series.str().map(|texts| texts.iter().flatten().map(str::to_owned).collect()).unwrap_or_default()
}
