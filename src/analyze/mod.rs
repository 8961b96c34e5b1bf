//! Frames in, or the rows of a saved report; typed blocks out: pairing, lift, reliability, models, flags, inference.
//!
//! Blocks hold codes, counts and exact rationals. Nothing is rounded or put into words here: that is the report's part.

pub mod agreement;
pub mod benchmark_file;
pub mod case_detail;
pub mod companions;
pub mod comparison;
pub mod completeness;
pub mod diagnosis;
pub mod diff;
pub mod endings;
pub mod error_analysis;
pub mod flags;
pub mod forge;
pub mod gate;
pub mod independence;
pub mod inference;
pub mod lift;
pub mod missingness;
pub mod one_arm;
pub mod oracles;
pub mod pairing;
pub mod plan;
pub mod reliability;
pub mod repeated_success;
pub mod report_units;
pub mod reproduction;
pub mod review;
pub mod sanity;
pub mod several;
pub mod skill_eval;
pub mod slices;
pub mod table;
pub mod telemetry;
pub mod test_cases;
pub mod trajectory;
pub mod trend;
pub mod triggers;
pub mod variants;
pub mod within_case;

use skill_lift_contract::Metric;

use crate::frame::{FrameError, Frames};
use crate::runs::claims::SavedBenchmark;
use table::{Baseline, RunTable};

/// What is asked of an analysis.
#[derive(Debug, Clone, Default)]
pub struct AnalysisOptions {
    /// Error rate and smallest lift that matters.
    pub thresholds: skill_lift_stats::Thresholds,
    /// What the skill's arm is compared with.
    pub baseline: Baseline,
    /// The runs that were to be made, if somebody wrote them down.
    pub plan: Option<missingness::PlanOfSuite>,
    /// Whether figures whose evidence is incomplete are withheld.
    pub strict_evidence: bool,
    /// How large a difference the user calls no difference.
    pub equivalence_margin: Option<skill_lift_stats::Rational>,
    /// What one more passed run is worth, in the currency of the runs.
    pub value_per_lift: Option<skill_lift_stats::Rational>,
}

impl AnalysisOptions {
    /// The smallest lift that matters, where it is not the usual one.
    pub fn asked_min_lift(&self) -> Option<&skill_lift_stats::Rational> {
        let usual = skill_lift_stats::Thresholds::default();
        Some(self.thresholds.min_lift()).filter(|asked| *asked != usual.min_lift())
    }
}

/// Everything that is computed from the graded runs of a tree.
#[derive(Debug)]
pub struct Analysis {
    /// The runs it rests on.
    pub table: RunTable,
    /// Pass rates of each arm, in the order of the selection.
    pub variants: Vec<variants::VariantSummary>,
    /// Pass rates of each arm for each model, models by name.
    pub by_model: Vec<(String, Vec<variants::VariantSummary>)>,
    /// Which runs were compared, and which could not be.
    pub pairing: pairing::Pairing,
    /// The lift over (case, model) units.
    pub lift: lift::PairedSummary,
    /// The effect of the edit over an earlier version of the skill, where the tree has both baselines.
    pub edit: Option<Edit>,
    /// pass@k and pass^k.
    pub reliability: reliability::Reliability,
    /// What all runs cost.
    pub cost: telemetry::CostSummary,
    /// What the skill costs a run, and what its lift costs.
    pub efficiency: telemetry::Efficiency,
    /// How strong the checks of each case are.
    pub oracle_strength: Vec<oracles::OracleStrength>,
    /// What judges say of hidden and of visible cases.
    pub judged: Vec<oracles::Judged>,
    /// Rates and lift of each slice.
    pub slices: Vec<slices::SliceSummary>,
    /// Cases that need a look.
    pub case_flags: Vec<flags::CaseFlags>,
    /// What may be concluded.
    pub inference: inference::Inference,
    /// The pairs that inference rests on, where those are fewer than the pairs that count.
    pub fit: Option<pairing::Pairing>,
    /// Whether figures whose evidence is incomplete are withheld.
    pub strict_evidence: bool,
    /// What the report lacks; nothing when it is complete.
    pub incomplete_reasons: Vec<completeness::IncompleteReason>,
    /// What to look at before the lift is believed.
    pub sanity: sanity::Sanity,
    /// Whether the skill changes what the agent does.
    pub trajectory: trajectory::TrajectoryDiff,
    /// How the runs ended.
    pub endings: endings::RunEndings,
}

impl Analysis {
    /// The pairs that inference rests on.
    pub fn inference_pairing(&self) -> &pairing::Pairing {
        self.fit.as_ref().unwrap_or(&self.pairing)
    }

    /// Whether the headline is withheld because evidence is missing.
    pub fn is_withheld(&self) -> bool {
        self.strict_evidence && !self.incomplete_reasons.is_empty()
    }
}

/// The skill's arm against an earlier version of the skill, beside the headline.
#[derive(Debug)]
pub struct Edit {
    /// Which runs were compared.
    pub pairing: pairing::Pairing,
    /// The difference over (case, model) units.
    pub summary: lift::PairedSummary,
}

impl Edit {
    fn of(table: &RunTable, options: &AnalysisOptions) -> Option<Self> {
        table.variant_position(Baseline::OldSkill.variant())?;
        let pairing = pairing::Pairing::against(table, Baseline::OldSkill, Metric::ObjectivePassRate);
        let graded = pairing::Pairing::against(table, Baseline::OldSkill, Metric::GradedScore);
        Some(Self { summary: lift::PairedSummary::of(table, &pairing, &graded, options), pairing })
    }
}

/// Analyses graded runs; the frames are gone before the long part begins. `variants` are the selected arms in order.
///
/// # Errors
/// When a frame lacks a column.
pub fn analyze(frames: Frames, variants: &[String], options: &AnalysisOptions) -> Result<Analysis, FrameError> {
    let table = RunTable::read(&frames, variants, options.baseline)?;
    // the table holds all that is needed; both together are what takes most memory
    drop(frames);
    Ok(of_table(table, options))
}

/// Analyses the rows of a saved report with the options that it was made with: its verdict is that of the run that wrote
/// it. Which runs were planned is not in its rows; what the report says that it lacks stays so.
pub fn analyze_saved(saved: &SavedBenchmark) -> Analysis {
    let table = RunTable::of_saved(saved);
    let options = AnalysisOptions {
        thresholds: saved.thresholds.clone(),
        baseline: table.baseline,
        plan: None,
        strict_evidence: saved.strict_evidence,
        value_per_lift: saved.value_per_lift.clone(),
        equivalence_margin: saved.equivalence_margin.clone(),
    };
    let mut analysis = of_table(table, &options);
    let plan = completeness::IncompleteReason::AnswerDesignIncomplete;
    if saved.incomplete_reasons.iter().any(|code| code == plan.code()) {
        let before = analysis.incomplete_reasons.contains(&completeness::IncompleteReason::NothingGraded);
        analysis.incomplete_reasons.insert(usize::from(before), plan);
    }
    analysis
}

/// Analyses runs, wherever they come from.
fn of_table(table: RunTable, options: &AnalysisOptions) -> Analysis {
    let pairing = pairing::Pairing::of(&table, Metric::ObjectivePassRate);
    let graded = pairing::Pairing::of(&table, Metric::GradedScore);
    let fit = pairing.fit_for_inference(&table);
    let fit_pairs = fit.as_ref().unwrap_or(&pairing);
    // exact tests over many units take the time, each a function of its deltas alone; the rest goes on beside them
    let ((lift, inference), described) = rayon::join(
        || {
            let (lift, overall) = rayon::join(
                || lift::PairedSummary::of(&table, &pairing, &graded, options),
                || inference::overall(&table, fit_pairs, options),
            );
            let fit_lift = fit.as_ref().map(|pairs| lift::PairedSummary::of(&table, pairs, &graded, options));
            let inferred = fit_lift.as_ref().unwrap_or(&lift);
            let inference = inference::Inference::of(&table, fit_pairs, inferred, overall, options);
            (lift, inference)
        },
        || Described::of(&table, &pairing, fit_pairs, options),
    );
    let sanity = sanity::Sanity::of(&table, fit_pairs);
    let incomplete_reasons = completeness::incomplete_reasons(&table, &pairing, inference.missingness.as_ref());
    Analysis {
        strict_evidence: options.strict_evidence,
        incomplete_reasons,
        variants: described.variants,
        by_model: described.by_model,
        reliability: described.reliability,
        oracle_strength: described.oracle_strength,
        judged: described.judged,
        slices: slices::summaries(&table, &pairing, &lift.overall),
        edit: described.edit,
        cost: described.cost,
        efficiency: described.efficiency,
        case_flags: described.case_flags,
        lift,
        inference,
        fit,
        sanity,
        trajectory: described.trajectory,
        endings: described.endings,
        pairing,
        table,
    }
}

/// The blocks of an analysis that need no other block.
struct Described {
    variants: Vec<variants::VariantSummary>,
    by_model: Vec<(String, Vec<variants::VariantSummary>)>,
    reliability: reliability::Reliability,
    edit: Option<Edit>,
    cost: telemetry::CostSummary,
    efficiency: telemetry::Efficiency,
    oracle_strength: Vec<oracles::OracleStrength>,
    judged: Vec<oracles::Judged>,
    case_flags: Vec<flags::CaseFlags>,
    trajectory: trajectory::TrajectoryDiff,
    endings: endings::RunEndings,
}

impl Described {
    fn of(
        table: &RunTable,
        pairing: &pairing::Pairing,
        fit_pairs: &pairing::Pairing,
        options: &AnalysisOptions,
    ) -> Self {
        Self {
            variants: variants::by_variant(table),
            by_model: variants::by_model(table),
            reliability: reliability::Reliability::of(table, pairing),
            edit: Edit::of(table, options),
            cost: telemetry::CostSummary::of(table, pairing),
            efficiency: telemetry::Efficiency::of(
                table,
                fit_pairs,
                options.thresholds.alpha(),
                options.value_per_lift.as_ref(),
            ),
            oracle_strength: oracles::oracle_strength(table),
            judged: oracles::by_visibility(table),
            case_flags: flags::case_flags(table, pairing),
            trajectory: trajectory::TrajectoryDiff::of(table),
            endings: endings::RunEndings::of(table),
        }
    }
}
