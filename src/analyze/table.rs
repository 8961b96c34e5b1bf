//! The runs as typed rows, read once: from the frame `runs`, or from the rows of a saved report.

mod cases;
mod one_arm;
mod saved;
mod text_lists;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use polars::prelude::*;
use skill_lift_stats::rational::{self, Rational};

use crate::frame::schema::runs as column;
use crate::frame::{FrameError, Frames, KeyOrder, traces};
use crate::grade::Trace;
use crate::runs::claims::SavedIndependence;
use crate::runs::{ServedModel, StopClass, UsedByRun};

pub use cases::CaseFacts;
pub use one_arm::OneArmOutcome;
use text_lists::{TextLists, texts};

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
    /// Judgements.
    pub qualitative: Option<PassRate>,
    /// The objective checks that both arms of the lift can satisfy: what inference compares.
    pub compared: Option<PassRate>,
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
    /// When it began, in milliseconds since 1970, if it is recorded.
    pub started_at_ms: Option<i64>,
    /// What tells its answer from others, where the answer was read.
    pub answer_digest: Option<u64>,
    /// What the agent did.
    pub trace: Trace,
    /// Directory below the runs root.
    pub run_dir: String,
    /// Checks and judgements by oracle tier, in the order of [`column::TIERS`].
    pub tiers: [TierCount; 3],
    /// Judgements that were supplied.
    pub judgements: u32,
    /// Scores in 0..=1 of the soft ones among them.
    pub soft_judge_scores: Vec<f64>,
    /// Index into [`RunTable::unobserved`].
    pub unobserved: usize,
}

/// Checks of one oracle tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TierCount {
    /// Those that hold.
    pub passed: u32,
    /// All of them.
    pub total: u32,
}

/// Lists of names with the order in which they were first seen.
type IndexOfLists = HashMap<Vec<String>, usize>;

/// The lists in the order in which they were first seen.
fn in_order(lists: IndexOfLists) -> Vec<Vec<String>> {
    let mut lists: Vec<(Vec<String>, usize)> = lists.into_iter().collect();
    lists.sort_unstable_by_key(|(_, index)| *index);
    lists.into_iter().map(|(names, _)| names).collect()
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
    /// What of their assertions only one arm of the lift can satisfy.
    pub one_arm: Vec<OneArmOutcome>,
    /// Lists of objective checks that both arms can satisfy and whose evidence is missing; the first one is empty.
    pub unobserved: Vec<Vec<String>>,
    /// What a saved report states of its runs, which it does not hold; `None` for a tree.
    pub stated_independence: Option<SavedIndependence>,
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
        let list = |name: &str| TextLists::of(frame, name);
        let rate = |passed: &str, total: &str| -> Result<_, PolarsError> { Ok((number(passed)?, number(total)?)) };

        let model = text(column::MODEL)?;
        let models: Vec<String> =
            model.iter().flatten().collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect();
        let case_columns = cases::CaseColumns::of(frame)?;
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
        let started_at_ms = frame.column(column::STARTED_AT_MS)?.i64()?.clone();
        let answer_digest = frame.column(column::ANSWER_DIGEST)?.u64()?.clone();
        let traces = traces(frame)?;
        let tier = |at: usize| rate(column::ORACLE_PASSED[at], column::ORACLE_TOTAL[at]);
        let tiers = [tier(0)?, tier(1)?, tier(2)?];
        let (judgements, judge_scores) = (number(column::JUDGEMENTS)?, list(column::SOFT_JUDGE_SCORES)?);
        let unobserved = list(column::UNOBSERVED_CHECKS)?;

        let mut cases: Vec<CaseFacts> = Vec::new();
        // hardly any tree has more than a few of these lists
        let mut unobserved_lists: IndexOfLists = HashMap::from([(Vec::new(), 0)]);
        let mut runs = Vec::with_capacity(frame.height());
        for (row, trace) in traces.into_iter().enumerate() {
            let position = case_columns.place(row, &mut cases);
            let vetoed = vetoed.get(row).unwrap_or_default();
            let counts = |(passed, total): &(UInt32Chunked, UInt32Chunked)| Some((passed.get(row)?, total.get(row)?));
            let pass_rate = |counts: Option<(u32, u32)>| {
                counts.filter(|(_, total)| *total > 0).map(|(passed, total)| PassRate { passed, total, vetoed })
            };
            let objective_counts = counts(&objective);
            let combined = objective_counts.zip(counts(&qualitative)).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
            // a veto makes the objective rate zero even when nothing else counts
            let objective = pass_rate(objective_counts).or_else(|| {
                objective_counts.filter(|_| vetoed).map(|(passed, total)| PassRate { passed, total, vetoed })
            });
            let tier = |columns| counts(columns).map(|(passed, total)| TierCount { passed, total }).unwrap_or_default();
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
                objective,
                compared: objective,
                process: pass_rate(counts(&process)),
                efficiency: pass_rate(counts(&efficiency)),
                combined: pass_rate(combined),
                qualitative: pass_rate(counts(&qualitative)),
                graded_score_e4: graded.get(row),
                critical_failures: texts(&critical, row),
                below_reference_floor: texts(&below, row),
                deferred_gates: deferred_gates.get(row).unwrap_or_default(),
                deferred_judgements: deferred.get(row).unwrap_or_default(),
                effort: effort.get(row).map(str::to_owned),
                stop_class: stop_class.get(row).and_then(StopClass::from_word),
                served_model: served_model.get(row).and_then(ServedModel::from_word),
                started_at_ms: started_at_ms.get(row),
                answer_digest: answer_digest.get(row),
                trace,
                run_dir: run_dir.get(row).unwrap_or_default().to_owned(),
                tiers: [tier(&tiers[0]), tier(&tiers[1]), tier(&tiers[2])],
                judgements: judgements.get(row).unwrap_or_default(),
                soft_judge_scores: texts(&judge_scores, row).iter().filter_map(|score| score.parse().ok()).collect(),
                unobserved: {
                    let next = unobserved_lists.len();
                    *unobserved_lists.entry(texts(&unobserved, row)).or_insert(next)
                },
            });
        }
        let one_arm = match baseline {
            Baseline::WithoutSkill => one_arm::read(&frames.one_arm)?,
            // what a run without the skill cannot do, one with an earlier version of it can
            Baseline::OldSkill => Vec::new(),
        };
        one_arm::take_out(&one_arm, &mut runs);
        let unobserved = in_order(unobserved_lists);
        let telemetry = Arc::clone(&frames.telemetry);
        Ok(Self {
            cases,
            models,
            variants: variants.to_vec(),
            baseline,
            runs,
            telemetry,
            one_arm,
            unobserved,
            stated_independence: None,
        })
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
