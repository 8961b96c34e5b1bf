//! The runs of a saved report as typed rows: the other way to a table, beside the frames.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Baseline, CaseFacts, IndexOfLists, OneArmOutcome, PassRate, Run, RunTable, TierCount, in_order, one_arm};
use crate::frame::KeyOrder;
use crate::frame::schema::runs::TIERS;
use crate::grade::Trace;
use crate::runs::claims::{SavedBenchmark, SavedCase, SavedCheck, SavedCounts, SavedRow};
use crate::runs::{TelemetryCoverage, UsedByRun};
use crate::suite::{EvalIntent, Severity, Split};

impl RunTable {
    /// The runs of a saved report. What only the directories of the runs say, such as what the agent did, is not known.
    pub fn of_saved(saved: &SavedBenchmark) -> Self {
        let baseline = if saved.against_old_skill { Baseline::OldSkill } else { Baseline::WithoutSkill };
        let models: Vec<String> = {
            let names: BTreeSet<&str> = saved.rows.iter().filter_map(|row| row.model.as_deref()).collect();
            names.into_iter().map(str::to_owned).collect()
        };
        let model_positions: HashMap<&str, u32> = positions(models.iter().map(String::as_str));
        let variant_positions: HashMap<&str, u32> = positions(saved.variants.iter().map(String::as_str));
        let mut case_positions: HashMap<&str, u32> = HashMap::new();
        let mut cases: Vec<CaseFacts> = Vec::new();
        let mut unobserved: IndexOfLists = HashMap::from([(Vec::new(), 0)]);
        let mut runs = Vec::with_capacity(saved.rows.len());
        let mut outcomes = Vec::new();
        for row in &saved.rows {
            let case = *case_positions.entry(&row.case.id).or_insert_with(|| {
                cases.push(facts(&row.case));
                cases.len() as u32 - 1
            });
            let next = unobserved.len();
            let order = KeyOrder {
                case,
                model: row.model.as_deref().and_then(|model| model_positions.get(model).copied()),
                variant: variant_positions.get(row.variant.as_str()).copied().unwrap_or_default(),
                repetition: row.repetition,
            };
            if row.is_scorable() {
                outcomes.extend(row.checks.iter().filter_map(|check| one_arm_outcome(check, runs.len())));
            }
            let unobserved = *unobserved.entry(row.unobserved_checks.clone()).or_insert(next);
            runs.push(run(row, order, unobserved));
        }
        // what a run without the skill cannot do, one with an earlier version of it can
        if baseline == Baseline::OldSkill {
            outcomes.clear();
        }
        one_arm::take_out(&outcomes, &mut runs);
        let used = saved.rows.iter().map(|row| UsedByRun {
            telemetry: row.telemetry.clone(),
            coverage: TelemetryCoverage { tokens: row.telemetry.total_tokens.value().is_some(), ..Default::default() },
            is_in_metadata: false,
        });
        Self {
            cases,
            models,
            variants: saved.variants.clone(),
            baseline,
            telemetry: Arc::new(used.collect()),
            runs,
            one_arm: outcomes,
            unobserved: in_order(unobserved),
            stated_independence: Some(saved.independence.clone()),
        }
    }
}

fn positions<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, u32> {
    names.enumerate().map(|(position, name)| (name, position as u32)).collect()
}

fn facts(case: &SavedCase) -> CaseFacts {
    let SavedCase {
        id,
        name,
        family,
        dataset,
        split,
        kind,
        domain,
        difficulty,
        trigger_type,
        success_goals,
        tags,
        eval_intent,
    } = case.clone();
    CaseFacts {
        id,
        name,
        family,
        dataset,
        eval_intent: eval_intent.unwrap_or(EvalIntent::Capability),
        split: split.unwrap_or(Split::Tune),
        kind,
        domain,
        difficulty,
        trigger_type,
        success_goals,
        tags,
    }
}

fn run(row: &SavedRow, order: KeyOrder, unobserved: usize) -> Run {
    let vetoed = row.vetoed;
    let rated = |counts: SavedCounts| row.is_rated.then_some(counts);
    let pass_rate = |counts: Option<SavedCounts>| {
        let counted = counts.filter(|counts| counts.total > 0);
        counted.map(|SavedCounts { passed, total }| PassRate { passed, total, vetoed })
    };
    // a veto makes the objective rate zero even when nothing else counts
    let veto = || rated(row.objective).filter(|_| vetoed);
    let objective = pass_rate(rated(row.objective))
        .or_else(|| veto().map(|SavedCounts { passed, total }| PassRate { passed, total, vetoed }));
    let combined = SavedCounts {
        passed: row.objective.passed + row.qualitative.passed,
        total: row.objective.total + row.qualitative.total,
    };
    let judgements = || row.checks.iter().filter(|check| check.is_judgement);
    Run {
        order,
        missing_output: row.missing_output,
        execution_valid: row.execution_valid,
        scorable: row.is_scorable(),
        unscored_reasons: row.unscored_reasons.clone(),
        contaminated: row.contamination.is_some(),
        skill_loaded: row.skill_loaded,
        incomplete_verdicts: row.incomplete_verdicts,
        stored_verdicts: row.stored_verdicts,
        objective,
        process: pass_rate(rated(row.process)),
        efficiency: pass_rate(rated(row.efficiency)),
        combined: pass_rate(rated(combined)),
        qualitative: pass_rate(rated(row.qualitative)),
        compared: objective,
        graded_score_e4: row.graded_score_e4,
        critical_failures: row.critical_failures.clone(),
        below_reference_floor: row.below_reference_floor.clone(),
        deferred_gates: row.deferred_gates,
        deferred_judgements: row.deferred_judgements,
        effort: row.ending.effort.clone(),
        stop_class: row.ending.stop_class,
        served_model: row.ending.served_model,
        started_at_ms: None,
        answer_digest: None,
        trace: Trace::Unread,
        run_dir: row.run_dir.clone(),
        tiers: TIERS.map(|tier| {
            let of_tier = || row.checks.iter().filter(|check| check.oracle == Some(tier));
            TierCount {
                passed: of_tier().filter(|check| check.passed == Some(true)).count() as u32,
                total: of_tier().count() as u32,
            }
        }),
        judgements: judgements().count() as u32,
        soft_judge_scores: judgements()
            .filter(|check| check.severity == Severity::Soft)
            .filter_map(|check| check.share)
            .collect(),
        unobserved,
    }
}

/// A check that decides the pass rate of a run and that only one arm of the lift can satisfy.
fn one_arm_outcome(check: &SavedCheck, run: usize) -> Option<OneArmOutcome> {
    // a judgement decides it by its veto
    let decides = match check.severity {
        Severity::Soft => false,
        Severity::Gate => !check.is_judgement,
        Severity::Critical => true,
    };
    let decided = check.passed.filter(|_| decides && check.skipped.is_none());
    Some(OneArmOutcome {
        run,
        name: check.name.clone(),
        assertion_type: check.assertion_type?,
        is_critical: check.severity == Severity::Critical,
        reason: check.one_arm?,
        passed: decided?,
    })
}
