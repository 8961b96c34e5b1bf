//! What to do next: computed from what was found, the most important first.

use super::ForgeView;
use super::patterns::reason_words;
use crate::analyze::forge::{Arm, EvalId, EvalResult, EvalStatus, ForgeRun};
use crate::report::{numbers, words};

/// One recommendation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Advice {
    /// What kind it is.
    pub(super) code: &'static str,
    /// The evals that it is about.
    pub(super) evals: Vec<EvalId>,
    /// The assertions that it is about.
    pub(super) assertions: Vec<String>,
    /// The sentence.
    pub(super) text: String,
}

/// How names of others are written in a sentence.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    /// Ids and directories.
    pub(super) name: fn(&str) -> String,
    /// Names of assertions.
    pub(super) code: fn(&str) -> String,
}

/// Names in one sentence.
const NAMED: usize = 10;

struct Adviser<'v> {
    view: &'v ForgeView<'v>,
    naming: Naming,
    advice: Vec<Advice>,
}

/// All recommendations.
pub(super) fn advice(view: &ForgeView<'_>, naming: Naming) -> Vec<Advice> {
    let mut adviser = Adviser { view, naming, advice: Vec::new() };
    adviser.regressions();
    adviser.worse_than_baseline();
    adviser.failures();
    adviser.triggers();
    adviser.undecided();
    adviser.unscored();
    adviser.missing_arms();
    adviser.missing_trials();
    adviser.flaky();
    adviser.too_easy();
    adviser.costly();
    adviser.more_evals();
    adviser.advice
}

impl Adviser<'_> {
    fn say(&mut self, code: &'static str, evals: Vec<EvalId>, assertions: Vec<String>, text: String) {
        self.advice.push(Advice { code, evals, assertions, text });
    }

    fn list(&self, names: &[String], show: fn(&str) -> String) -> String {
        let shown: Vec<String> = names.iter().take(NAMED).map(|name| show(name)).collect();
        match names.len().saturating_sub(NAMED) {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }

    fn evals(&self, evals: &[EvalId]) -> String {
        self.list(&evals.iter().map(EvalId::to_string).collect::<Vec<_>>(), self.naming.name)
    }

    fn assertions(&self, assertions: &[String]) -> String {
        self.list(assertions, self.naming.code)
    }

    /// Names of the assertions that fail in scored runs with the skill.
    fn failing(&self, eval: &EvalResult) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for run in self.view.iteration.runs_of(&eval.with_skill).filter(|run| run.is_scored()) {
            for name in &run.failed {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    fn regressions(&mut self) {
        let Some(comparison) = self.view.comparison else { return };
        for id in &comparison.regressions {
            let Some(eval) = self.view.iteration.eval(id) else { continue };
            let failing = self.failing(eval);
            let before = comparison.previous.map_or_else(|| "before".to_owned(), |n| format!("in iteration {n}"));
            let text = format!(
                "Fix the regression of {}: it passed {before}, now {} fails.",
                self.evals(std::slice::from_ref(id)),
                self.assertions(&failing)
            );
            self.say("fix_regression", vec![id.clone()], failing, text);
        }
    }

    fn worse_than_baseline(&mut self) {
        for eval in self.view.iteration.evals.iter().filter(|eval| eval.status() == EvalStatus::Regressed) {
            let failing = self.failing(eval);
            let id = eval.description.id.clone();
            let text = format!(
                "Find out why the skill breaks {}: it passes without the skill and fails with it ({}).",
                self.evals(std::slice::from_ref(&id)),
                self.assertions(&failing)
            );
            self.say("skill_breaks_eval", vec![id], failing, text);
        }
    }

    fn failures(&mut self) {
        let triggers = ["skill-activated", "skill-not-activated"];
        for cluster in &self.view.patterns.clusters {
            // wrong activations have advice of their own
            if cluster.with_skill_failed == 0 || triggers.contains(&cluster.assertion.as_str()) {
                continue;
            }
            let everywhere = cluster.with_skill_failed == cluster.with_skill_decided;
            let text = format!(
                "Work on what {} asks for: it fails {} with the skill, in {}.",
                self.assertions(std::slice::from_ref(&cluster.assertion)),
                match (everywhere, cluster.with_skill_decided) {
                    (true, 1) => "in its only scored run".to_owned(),
                    (true, runs) => format!("in all {} scored runs", numbers::count(runs)),
                    (false, runs) => format!(
                        "in {} of {} scored runs",
                        numbers::count(cluster.with_skill_failed),
                        numbers::count(runs)
                    ),
                },
                self.evals(&cluster.with_skill_evals)
            );
            let (evals, name) = (cluster.with_skill_evals.clone(), cluster.assertion.clone());
            self.say("improve_for_assertion", evals, vec![name], text);
        }
    }

    fn triggers(&mut self) {
        let Ok(accuracy) = &self.view.patterns.trigger_accuracy else { return };
        for (should, code, what, why) in [
            (true, "widen_description", "Widen", "it is not activated, and should be, in"),
            (false, "narrow_description", "Narrow", "it is activated, and should not be, in"),
        ] {
            let is = |id: &&EvalId| {
                let eval = self.view.iteration.eval(id);
                eval.and_then(|eval| eval.description.should_trigger) == Some(should)
            };
            let evals: Vec<EvalId> = accuracy.wrong.iter().filter(is).cloned().collect();
            if !evals.is_empty() {
                let text = format!("{what} the description of the skill: {why} {}.", self.evals(&evals));
                self.say(code, evals, Vec::new(), text);
            }
        }
    }

    fn undecided(&mut self) {
        for eval in &self.view.iteration.evals {
            let mut names: Vec<String> = Vec::new();
            for arm in Arm::ALL {
                for run in self.view.iteration.runs_of(eval.arm(arm)).filter(|run| run.is_scored()) {
                    names
                        .extend(run.undecided.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
                }
            }
            if !names.is_empty() {
                let id = eval.description.id.clone();
                let text = format!(
                    "Sharpen {} of {}, or grade it again: its grader came to no verdict.",
                    self.assertions(&names),
                    self.evals(std::slice::from_ref(&id))
                );
                self.say("sharpen_assertion", vec![id], names, text);
            }
        }
    }

    fn unscored(&mut self) {
        let runs: Vec<&ForgeRun> = self.view.iteration.runs.iter().filter(|run| !run.is_scored()).collect();
        if runs.is_empty() {
            return;
        }
        let mut evals: Vec<EvalId> =
            runs.iter().map(|run| self.view.iteration.evals[run.eval].description.id.clone()).collect();
        evals.dedup();
        let name = self.naming.name;
        let entries = runs.iter().take(NAMED).map(|run| {
            let reasons: Vec<String> = run.reasons.iter().map(|reason| reason_words(*reason)).collect();
            format!("{} ({})", name(&run.directory), reasons.join(", "))
        });
        let mut text = format!("Run or grade again: {}", entries.collect::<Vec<_>>().join(", "));
        if runs.len() > NAMED {
            text.push_str(&format!(" and {} more", runs.len() - NAMED));
        }
        self.say("run_again", evals, Vec::new(), format!("{text}."));
    }

    fn missing_arms(&mut self) {
        for (arm, code) in [(Arm::WithSkill, "run_with_skill"), (Arm::Baseline, "run_baseline")] {
            let missing = self.view.iteration.evals.iter().filter(|eval| eval.arm(arm).runs.is_empty());
            let evals: Vec<EvalId> = missing.map(|eval| eval.description.id.clone()).collect();
            if !evals.is_empty() {
                let text = match arm {
                    Arm::WithSkill => {
                        format!("Run {} with the skill: until then nothing is known.", self.evals(&evals))
                    }
                    Arm::Baseline => {
                        format!("Run the baseline of {}: until then nothing is compared.", self.evals(&evals))
                    }
                };
                self.say(code, evals, Vec::new(), text);
            }
        }
    }

    fn missing_trials(&mut self) {
        let Some(requested) = self.view.trials_requested else { return };
        let short = |eval: &&EvalResult| {
            // an arm without any run has advice of its own
            let arms = Arm::ALL.map(|arm| eval.arm(arm));
            arms.iter().any(|arm| !arm.runs.is_empty() && arm.never_run(Some(requested)) > 0)
        };
        let evals: Vec<EvalId> =
            self.view.iteration.evals.iter().filter(short).map(|eval| eval.description.id.clone()).collect();
        if !evals.is_empty() {
            let text = format!(
                "Run the missing trials of {}: the configuration asks for {requested} in each arm.",
                self.evals(&evals)
            );
            self.say("run_missing_trials", evals, Vec::new(), text);
        }
    }

    fn flaky(&mut self) {
        let mut evals: Vec<EvalId> = self.view.patterns.flaky.iter().map(|flaky| flaky.eval.clone()).collect();
        evals.dedup();
        if !evals.is_empty() {
            let text = format!(
                "Run more trials of {}, or make what it asks for clearer: its trials disagree.",
                self.evals(&evals)
            );
            self.say("repeat_flaky", evals, Vec::new(), text);
        }
    }

    fn too_easy(&mut self) {
        // a prompt that should leave the skill alone is a guard: it cannot gain
        let same =
            self.view.iteration.evals.iter().filter(|eval| {
                eval.status() == EvalStatus::Maintained && eval.description.should_trigger != Some(false)
            });
        let evals: Vec<EvalId> = same.map(|eval| eval.description.id.clone()).collect();
        if !evals.is_empty() {
            let text = format!(
                "Make {} harder, or keep it as a guard: it passes without the skill too and cannot show a gain.",
                self.evals(&evals)
            );
            self.say("harden_eval", evals, Vec::new(), text);
        }
    }

    fn costly(&mut self) {
        let with_skill = self.view.patterns.outliers.iter().filter(|outlier| outlier.arm == Arm::WithSkill);
        let mut evals: Vec<EvalId> = with_skill.map(|outlier| outlier.eval.clone()).collect();
        evals.dedup();
        if !evals.is_empty() {
            let text = format!(
                "Look at what the skill makes the agent do in {}: it takes more than twice the mean.",
                self.evals(&evals)
            );
            self.say("reduce_cost", evals, Vec::new(), text);
        }
    }

    fn more_evals(&mut self) {
        use skill_lift_stats::VerdictCode::{Harms, Helps, NoEvidence, NothingPaired, TooFewCases};
        let inference = &self.view.lift.inference;
        match inference.overall.verdict.code {
            TooFewCases => {
                let text = words::next_step(inference, self.view.fewest_evals());
                self.say("more_evals", Vec::new(), Vec::new(), text);
            }
            Helps | Harms | NoEvidence | NothingPaired => {}
        }
    }
}
