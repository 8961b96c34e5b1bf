//! The evals of an iteration, with what their scored runs add up to in each arm.

use std::fmt;

use skill_lift_stats::describe;
use skill_lift_stats::rational::{self, Rational};

use super::run::{Arm, ForgeRun};

/// The id of an eval: the number in the name of its directory, else whatever names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EvalId {
    /// `3` in `eval-3`.
    Number(u64),
    /// An id that is no number.
    Name(String),
}

impl fmt::Display for EvalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "eval-{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// What the tree says of an eval.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalDescription {
    /// Its id.
    pub id: EvalId,
    /// Its name for people.
    pub name: String,
    /// Its directory, below the iteration.
    pub directory: String,
    /// Whether there is a file that describes it.
    pub has_metadata: bool,
    /// What the agent was asked.
    pub prompt: Option<String>,
    /// Names and criteria of its assertions.
    pub assertions: Vec<(String, String)>,
    /// Whether the prompt should activate the skill; `None` without a file that describes it.
    pub should_trigger: Option<bool>,
}

/// What the scored runs of an eval say in one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmVerdict {
    /// Everything holds in all of them.
    Pass,
    /// Something does not hold in one of them.
    Fail,
    /// Nothing fails, and something is not decided.
    Undecided,
    /// There is no scored run.
    Nothing,
}

impl ArmVerdict {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Undecided => "UNDECIDED",
            Self::Nothing => "-",
        }
    }
}

/// What both verdicts of an eval together say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalStatus {
    /// Passes with the skill and fails without it.
    Improved,
    /// Passes in both arms.
    Maintained,
    /// Fails with the skill and passes without it.
    Regressed,
    /// Fails in both arms.
    StillFailing,
    /// One arm is not decided.
    Undecided,
    /// One arm has no scored run.
    Incomplete,
}

impl EvalStatus {
    /// The status of two verdicts.
    pub fn of(with_skill: ArmVerdict, baseline: ArmVerdict) -> Self {
        use ArmVerdict::{Fail, Nothing, Pass, Undecided};
        match (with_skill, baseline) {
            (Nothing, _) | (_, Nothing) => Self::Incomplete,
            (Undecided, _) | (_, Undecided) => Self::Undecided,
            (Pass, Fail) => Self::Improved,
            (Pass, Pass) => Self::Maintained,
            (Fail, Pass) => Self::Regressed,
            (Fail, Fail) => Self::StillFailing,
        }
    }

    /// The words in reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Improved => "Improved",
            Self::Maintained => "Maintained",
            Self::Regressed => "Regressed",
            Self::StillFailing => "Still failing",
            Self::Undecided => "Undecided",
            Self::Incomplete => "Incomplete",
        }
    }
}

/// What a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Tokens of the agent.
    Tokens,
    /// Wall-clock milliseconds.
    DurationMs,
}

impl Quantity {
    fn of_run(self, run: &ForgeRun) -> Option<f64> {
        match self {
            Self::Tokens => run.tokens,
            Self::DurationMs => run.duration_ms,
        }
    }
}

/// One arm of an eval.
#[derive(Debug, Clone)]
pub struct ArmResult {
    /// Positions of its runs.
    pub runs: Vec<usize>,
    /// Number of its scored runs.
    pub scored: usize,
    /// Mean graded rate of its scored runs.
    pub rate: Option<Rational>,
    /// Mean strict rate of its scored runs.
    pub strict_rate: Option<Rational>,
    /// Mean weighted rate of its scored runs.
    pub weighted_rate: Option<f64>,
    /// Sample standard deviation of the graded rates; `None` below two scored runs.
    pub rate_deviation: Option<f64>,
    /// What they say.
    pub verdict: ArmVerdict,
    /// Mean tokens of the scored runs that have them.
    pub tokens: Option<f64>,
    /// Mean milliseconds of the scored runs that have them.
    pub duration_ms: Option<f64>,
}

impl ArmResult {
    fn of(runs: &[ForgeRun], positions: Vec<usize>) -> Self {
        let scored: Vec<&ForgeRun> =
            positions.iter().map(|position| &runs[*position]).filter(|run| run.is_scored()).collect();
        let counts = || scored.iter().filter_map(|run| run.counts);
        let rates: Vec<Rational> = scored.iter().filter_map(|run| run.scored_rate()).collect();
        let strict: Vec<Rational> = counts().filter_map(|counts| counts.strict_rate()).collect();
        let weighted: Vec<f64> = scored.iter().filter_map(|run| run.weighted_rate).collect();
        let floats: Vec<f64> = rates.iter().map(rational::to_f64).collect();
        let mean_of = |quantity: Quantity| {
            describe::mean(&scored.iter().filter_map(|run| quantity.of_run(run)).collect::<Vec<_>>())
        };
        let verdict = if scored.is_empty() {
            ArmVerdict::Nothing
        } else if counts().any(|counts| counts.failed > 0) {
            ArmVerdict::Fail
        } else if counts().any(|counts| counts.undecided > 0) {
            ArmVerdict::Undecided
        } else {
            ArmVerdict::Pass
        };
        Self {
            scored: scored.len(),
            rate: rational::mean(&rates),
            strict_rate: rational::mean(&strict),
            weighted_rate: describe::mean(&weighted),
            rate_deviation: if floats.len() < 2 { None } else { describe::stddev(&floats) },
            verdict,
            tokens: mean_of(Quantity::Tokens),
            duration_ms: mean_of(Quantity::DurationMs),
            runs: positions,
        }
    }

    /// Mean of a quantity over its scored runs.
    pub fn quantity(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Tokens => self.tokens,
            Quantity::DurationMs => self.duration_ms,
        }
    }

    /// Runs that are not there of those that were asked for.
    pub fn never_run(&self, requested: Option<u32>) -> usize {
        requested.map_or(0, |requested| (requested as usize).saturating_sub(self.runs.len()))
    }

    /// Whether so few trials came to an end that nothing is known of how they vary.
    pub fn is_unreliable(&self) -> bool {
        self.scored < 2
    }
}

/// One eval.
#[derive(Debug, Clone)]
pub struct EvalResult {
    /// What the tree says of it.
    pub description: EvalDescription,
    /// With the skill.
    pub with_skill: ArmResult,
    /// Without it.
    pub baseline: ArmResult,
}

impl EvalResult {
    /// One arm.
    pub fn arm(&self, arm: Arm) -> &ArmResult {
        match arm {
            Arm::WithSkill => &self.with_skill,
            Arm::Baseline => &self.baseline,
        }
    }

    /// What both arms together say.
    pub fn status(&self) -> EvalStatus {
        EvalStatus::of(self.with_skill.verdict, self.baseline.verdict)
    }

    /// Both rates, when both arms have a scored run.
    pub fn paired_rates(&self) -> Option<(&Rational, &Rational)> {
        self.with_skill.rate.as_ref().zip(self.baseline.rate.as_ref())
    }
}

/// An iteration.
#[derive(Debug, Clone)]
pub struct ForgeIteration {
    /// Its number, where its folder has one.
    pub number: Option<u64>,
    /// Its evals: numbers first, ascending, then names.
    pub evals: Vec<EvalResult>,
    /// Its runs: by eval, arm and trial; a run without a number comes last.
    pub runs: Vec<ForgeRun>,
}

impl ForgeIteration {
    /// Puts runs to their evals. `evals` are in the order that the runs count them in.
    pub fn of(number: Option<u64>, evals: Vec<EvalDescription>, runs: Vec<ForgeRun>) -> Self {
        let mut order: Vec<usize> = (0..evals.len()).collect();
        order.sort_by(|a, b| evals[*a].id.cmp(&evals[*b].id).then(a.cmp(b)));
        let mut place = vec![0; evals.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        let mut runs = runs;
        for run in &mut runs {
            run.eval = place[run.eval];
        }
        runs.sort_by_key(|run| (run.eval, run.arm, run.trial.is_none(), run.trial));
        let mut of_cell: Vec<[Vec<usize>; 2]> = vec![Default::default(); evals.len()];
        for (position, run) in runs.iter().enumerate() {
            of_cell[run.eval][usize::from(run.arm == Arm::Baseline)].push(position);
        }
        let results = order.into_iter().zip(of_cell).map(|(old, [with_skill, baseline])| EvalResult {
            description: evals[old].clone(),
            with_skill: ArmResult::of(&runs, with_skill),
            baseline: ArmResult::of(&runs, baseline),
        });
        Self { number, evals: results.collect(), runs }
    }

    /// Whether no run is scored.
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| !run.is_scored())
    }

    /// The runs of one arm of an eval.
    pub fn runs_of(&self, result: &ArmResult) -> impl Iterator<Item = &ForgeRun> {
        result.runs.iter().map(|position| &self.runs[*position])
    }

    /// The eval with an id.
    pub fn eval(&self, id: &EvalId) -> Option<&EvalResult> {
        let found = self.evals.binary_search_by(|eval| eval.description.id.cmp(id)).ok()?;
        self.evals.get(found)
    }

    /// Mean rate of an arm over the evals that have a scored run in it.
    pub fn macro_rate(&self, arm: Arm) -> Option<Rational> {
        rational::mean(&self.evals.iter().filter_map(|eval| eval.arm(arm).rate.clone()).collect::<Vec<_>>())
    }

    /// As [`ForgeIteration::macro_rate`], undecided assertions counted as failed.
    pub fn macro_strict_rate(&self, arm: Arm) -> Option<Rational> {
        rational::mean(&self.evals.iter().filter_map(|eval| eval.arm(arm).strict_rate.clone()).collect::<Vec<_>>())
    }

    /// As [`ForgeIteration::macro_rate`], with the weights of the assertions.
    pub fn macro_weighted_rate(&self, arm: Arm) -> Option<f64> {
        describe::mean(&self.evals.iter().filter_map(|eval| eval.arm(arm).weighted_rate).collect::<Vec<_>>())
    }

    /// Mean of a quantity in an arm over the evals that have it.
    pub fn macro_quantity(&self, arm: Arm, quantity: Quantity) -> Option<f64> {
        describe::mean(&self.evals.iter().filter_map(|eval| eval.arm(arm).quantity(quantity)).collect::<Vec<_>>())
    }

    /// Evals that lack a scored run in an arm, or whose runs are not all scored, with a verdict on every assertion and
    /// with what they took, or that have fewer runs in an arm than were asked for.
    pub fn incomplete(&self, trials_requested: Option<u32>) -> impl Iterator<Item = &EvalResult> {
        self.evals.iter().filter(move |eval| {
            let mut runs = self.runs_of(&eval.with_skill).chain(self.runs_of(&eval.baseline));
            eval.status() == EvalStatus::Incomplete
                || runs.any(|run| !run.is_scored() || !run.is_timed())
                || Arm::ALL.iter().any(|arm| eval.arm(*arm).never_run(trials_requested) > 0)
        })
    }
}

impl ForgeRun {
    /// Whether its tokens or its duration were captured.
    pub fn is_timed(&self) -> bool {
        self.tokens.is_some() || self.duration_ms.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_verdicts_has_a_status() {
        use ArmVerdict::{Fail, Nothing, Pass, Undecided};
        let words = |with_skill, baseline| EvalStatus::of(with_skill, baseline).words();
        assert_eq!((words(Pass, Fail), words(Pass, Pass)), ("Improved", "Maintained"));
        assert_eq!((words(Fail, Pass), words(Fail, Fail)), ("Regressed", "Still failing"));
        assert_eq!((words(Undecided, Fail), words(Pass, Undecided)), ("Undecided", "Undecided"));
        assert_eq!((words(Undecided, Nothing), words(Nothing, Fail)), ("Incomplete", "Incomplete"));
    }

    #[test]
    fn numbers_come_before_names() {
        let mut ids = [EvalId::Name("a".to_owned()), EvalId::Number(10), EvalId::Number(2)];
        ids.sort();
        assert_eq!(ids.map(|id| id.to_string()), ["eval-2", "eval-10", "a"]);
    }
}
