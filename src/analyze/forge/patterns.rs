//! What means hide: assertions that keep failing, evals whose trials disagree, costly evals, wrong activations.

use std::collections::BTreeMap;

use skill_lift_stats::proportion::{ShareInterval, clopper_pearson};
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{Thresholds, Withheld};

use super::iteration::{ArmVerdict, EvalId, ForgeIteration, Quantity};
use super::run::{Arm, ForgeRun};

/// A standard deviation of rates above which an eval is flaky.
const FLAKY_DEVIATION: f64 = 0.3;

/// How many times the mean an outlier is above.
const OUTLIER_FACTOR: f64 = 2.0;

/// An assertion that fails somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureCluster {
    /// Its name.
    pub assertion: String,
    /// Failed verdicts of scored runs with the skill.
    pub with_skill_failed: usize,
    /// Passed and failed verdicts of scored runs with the skill.
    pub with_skill_decided: usize,
    /// Failed verdicts of scored runs without it.
    pub baseline_failed: usize,
    /// Passed and failed verdicts of scored runs without it.
    pub baseline_decided: usize,
    /// Evals in which it fails with the skill.
    pub with_skill_evals: Vec<EvalId>,
    /// Evals in which it fails without it.
    pub baseline_evals: Vec<EvalId>,
}

impl FailureCluster {
    /// Failures of both arms.
    pub fn failures(&self) -> usize {
        self.with_skill_failed + self.baseline_failed
    }
}

/// An eval whose scored trials disagree.
#[derive(Debug, Clone, PartialEq)]
pub struct Flaky {
    /// The eval.
    pub eval: EvalId,
    /// The arm.
    pub arm: Arm,
    /// Sample standard deviation of its rates.
    pub deviation: f64,
    /// Number of scored trials.
    pub trials: usize,
}

/// An eval that takes more than twice the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlier {
    /// The eval.
    pub eval: EvalId,
    /// The arm.
    pub arm: Arm,
    /// What it takes.
    pub quantity: Quantity,
    /// How much.
    pub value: f64,
    /// Mean of all evals of the arm.
    pub mean: f64,
    /// What its runs say.
    pub verdict: ArmVerdict,
}

/// How many runs activated the skill.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerShare {
    /// Runs that activated it.
    pub activated: usize,
    /// Runs that say whether they did.
    pub runs: usize,
    /// Limits of the share; withheld where evals have several runs, which are not independent.
    pub interval: Result<ShareInterval, &'static str>,
}

impl TriggerShare {
    /// The share; `None` without runs.
    pub fn rate(&self) -> Option<Rational> {
        (self.runs > 0).then(|| rational::rate(self.activated as u64, self.runs as u64))
    }
}

/// Whether the skill is activated when it should be, over scored runs with the skill.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerAccuracy {
    /// Runs of prompts that should activate it: the true positives among them.
    pub positives: TriggerShare,
    /// Runs of prompts that should not: the false positives among them.
    pub negatives: TriggerShare,
    /// Evals with a run that did not do what it should.
    pub wrong: Vec<EvalId>,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Patterns {
    /// Most failures with the skill first.
    pub clusters: Vec<FailureCluster>,
    /// By eval, then arm.
    pub flaky: Vec<Flaky>,
    /// By eval, then arm, tokens first.
    pub outliers: Vec<Outlier>,
    /// Or why it is not known.
    pub trigger_accuracy: Result<TriggerAccuracy, &'static str>,
}

impl Patterns {
    /// Looks through an iteration.
    pub fn of(iteration: &ForgeIteration, thresholds: &Thresholds) -> Self {
        Self {
            clusters: clusters(iteration),
            flaky: flaky(iteration),
            outliers: outliers(iteration),
            trigger_accuracy: trigger_accuracy(iteration, rational::to_f64(thresholds.alpha())),
        }
    }
}

fn scored(iteration: &ForgeIteration) -> impl Iterator<Item = &ForgeRun> {
    iteration.runs.iter().filter(|run| run.is_scored())
}

fn clusters(iteration: &ForgeIteration) -> Vec<FailureCluster> {
    let mut found: BTreeMap<&str, FailureCluster> = BTreeMap::new();
    for run in scored(iteration) {
        let id = &iteration.evals[run.eval].description.id;
        let verdicts = run.failed.iter().map(|name| (name, true)).chain(run.passed.iter().map(|name| (name, false)));
        for (name, failed) in verdicts {
            let cluster = found.entry(name).or_insert_with(|| FailureCluster {
                assertion: name.clone(),
                with_skill_failed: 0,
                with_skill_decided: 0,
                baseline_failed: 0,
                baseline_decided: 0,
                with_skill_evals: Vec::new(),
                baseline_evals: Vec::new(),
            });
            let (failures, decided, evals) = match run.arm {
                Arm::WithSkill => {
                    (&mut cluster.with_skill_failed, &mut cluster.with_skill_decided, &mut cluster.with_skill_evals)
                }
                Arm::Baseline => {
                    (&mut cluster.baseline_failed, &mut cluster.baseline_decided, &mut cluster.baseline_evals)
                }
            };
            *decided += 1;
            if failed {
                *failures += 1;
                // runs come by eval
                if evals.last() != Some(id) {
                    evals.push(id.clone());
                }
            }
        }
    }
    let mut clusters: Vec<FailureCluster> = found.into_values().filter(|cluster| cluster.failures() > 0).collect();
    clusters.sort_by(|a, b| {
        let key = |cluster: &FailureCluster| (cluster.with_skill_failed, cluster.baseline_failed);
        key(b).cmp(&key(a)).then_with(|| a.assertion.cmp(&b.assertion))
    });
    clusters
}

fn flaky(iteration: &ForgeIteration) -> Vec<Flaky> {
    let mut found = Vec::new();
    for eval in &iteration.evals {
        for arm in Arm::ALL {
            let result = eval.arm(arm);
            if let Some(deviation) = result.rate_deviation.filter(|deviation| *deviation > FLAKY_DEVIATION) {
                found.push(Flaky { eval: eval.description.id.clone(), arm, deviation, trials: result.scored });
            }
        }
    }
    found
}

fn outliers(iteration: &ForgeIteration) -> Vec<Outlier> {
    let mut found = Vec::new();
    let quantities = [Quantity::Tokens, Quantity::DurationMs];
    let means = Arm::ALL.map(|arm| quantities.map(|quantity| iteration.macro_quantity(arm, quantity)));
    for eval in &iteration.evals {
        for (arm, means) in Arm::ALL.into_iter().zip(&means) {
            let result = eval.arm(arm);
            for (quantity, mean) in quantities.into_iter().zip(means) {
                let (Some(value), Some(mean)) = (result.quantity(quantity), *mean) else { continue };
                if value > OUTLIER_FACTOR * mean {
                    let (eval, verdict) = (eval.description.id.clone(), result.verdict);
                    found.push(Outlier { eval, arm, quantity, value, mean, verdict });
                }
            }
        }
    }
    found
}

fn trigger_accuracy(iteration: &ForgeIteration, alpha: f64) -> Result<TriggerAccuracy, &'static str> {
    if iteration.evals.iter().all(|eval| eval.description.should_trigger.is_none()) {
        return Err("no_metadata");
    }
    let mut sides = [(0, 0, false), (0, 0, false)];
    let mut wrong: Vec<EvalId> = Vec::new();
    let mut last = [None, None];
    for run in scored(iteration).filter(|run| run.arm == Arm::WithSkill) {
        let description = &iteration.evals[run.eval].description;
        let (Some(should), Some(did)) = (description.should_trigger, run.activated) else { continue };
        let side = usize::from(!should);
        let (activated, runs, repeated) = &mut sides[side];
        *runs += 1;
        *activated += usize::from(did);
        *repeated |= last[side] == Some(run.eval);
        last[side] = Some(run.eval);
        if did != should && wrong.last() != Some(&description.id) {
            wrong.push(description.id.clone());
        }
    }
    let share = |(activated, runs, repeated): (usize, usize, bool)| TriggerShare {
        activated,
        runs,
        interval: if repeated {
            Err("repeated_runs")
        } else {
            clopper_pearson(activated as u64, runs as u64, alpha).map_err(Withheld::as_str)
        },
    };
    let [positives, negatives] = sides.map(share);
    if positives.runs + negatives.runs == 0 {
        return Err("activation_not_recorded");
    }
    Ok(TriggerAccuracy { positives, negatives, wrong })
}
