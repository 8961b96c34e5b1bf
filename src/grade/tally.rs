//! Counts and rates of one run, from its rows. The one place that knows what counts.

use skill_lift_stats::describe;

use super::outcome::{AssertionRow, Outcome};
use crate::suite::{Severity, TypeGroup};

/// A pass rate as counts. A veto makes the rate zero without touching the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    /// Checks that hold.
    pub passed: u32,
    /// Checks that count.
    pub total: u32,
}

impl Rate {
    fn count(&mut self, passed: bool) {
        self.total += 1;
        self.passed += u32::from(passed);
    }

    /// The rate; `None` when nothing counts.
    pub fn value(self, vetoed: bool) -> Option<f64> {
        match (self.total, vetoed) {
            (0, _) => None,
            (_, true) => Some(0.0),
            (total, false) => Some(f64::from(self.passed) / f64::from(total)),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, total: self.total + other.total }
    }
}

/// Checks of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnTally {
    /// Number of the turn, from 1.
    pub turn: usize,
    /// Whether the turn has no answer.
    pub missing_output: bool,
    /// Checks of the turn, whatever their severity.
    pub checks: Rate,
}

/// What the rows of a run add up to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunTally {
    /// Gate and critical checks that need no judge.
    pub objective: Rate,
    /// Those of them that look at what the agent did.
    pub process: Rate,
    /// Those of them that look at what it used.
    pub efficiency: Rate,
    /// Gate and critical judgements.
    pub qualitative: Rate,
    /// All soft checks.
    pub soft: Rate,
    /// Number of critical checks.
    pub critical_total: u32,
    /// Critical checks that do not hold.
    pub critical_failures: Vec<String>,
    /// Rows left out because of something they depend on.
    pub skipped: u32,
    /// Mean score of the soft checks in 0..=1, rounded to four decimals.
    pub graded_score: Option<f64>,
    /// Soft checks that score below the case's reference.
    pub below_reference_floor: Vec<String>,
}

impl RunTally {
    /// Adds up the rows of a run. `floor` is the score of a known-good answer.
    pub fn of(objective: &[AssertionRow], qualitative: &[AssertionRow], floor: Option<f64>) -> Self {
        let mut tally = Self::default();
        let mut scores = Vec::new();
        let rows = objective.iter().map(|row| (row, false)).chain(qualitative.iter().map(|row| (row, true)));
        for (row, is_judgement) in rows {
            if row.is_skipped() {
                tally.skipped += 1;
                continue;
            }
            let passed = match row.outcome {
                Outcome::Pass => true,
                Outcome::Fail => false,
                // neither passed nor failed: enters no count, no veto and no mean
                Outcome::Undecided(_) | Outcome::Error(_) | Outcome::Unsupported | Outcome::Skipped { .. } => continue,
            };
            if row.severity == Severity::Soft {
                tally.soft.count(passed);
                scores.extend(row.share());
                if let Some(floor) = floor {
                    tally.below_reference_floor.extend(below(row, floor));
                }
                continue;
            }
            if row.severity == Severity::Critical {
                tally.critical_total += 1;
                if !passed {
                    tally.critical_failures.push(row.name.clone());
                }
            }
            if is_judgement {
                tally.qualitative.count(passed);
                continue;
            }
            tally.objective.count(passed);
            match row.assertion_type.group() {
                TypeGroup::Process => tally.process.count(passed),
                TypeGroup::Efficiency => tally.efficiency.count(passed),
                TypeGroup::Text | TypeGroup::Qualitative => {}
            }
        }
        if !tally.is_vetoed() {
            tally.graded_score = describe::mean(&scores).map(|mean| skill_lift_text::python::round_half_even(mean, 4));
        }
        tally
    }

    /// Whether a critical check does not hold: then every rate of the run is zero.
    pub fn is_vetoed(&self) -> bool {
        !self.critical_failures.is_empty()
    }

    /// Objective checks and judgements together.
    pub fn combined(&self) -> Rate {
        self.objective.plus(self.qualitative)
    }

    /// The objective pass rate; zero on a veto even when nothing else counts.
    pub fn objective_pass_rate(&self) -> Option<f64> {
        if self.is_vetoed() { Some(0.0) } else { self.objective.value(false) }
    }
}

/// The row and its dimensions that score below a reference.
fn below(row: &AssertionRow, floor: f64) -> impl Iterator<Item = String> {
    let whole = row.share().filter(|share| *share < floor).map(|_| row.name.clone());
    let dimensions = row.dimension_shares().filter(move |(_, share)| *share < floor);
    whole.into_iter().chain(dimensions.map(|(dimension, _)| format!("{}:{dimension}", row.name)))
}

/// Adds up the rows of one turn.
pub fn turn_tally<'r>(turn: usize, missing_output: bool, rows: impl Iterator<Item = &'r AssertionRow>) -> TurnTally {
    let mut checks = Rate::default();
    for row in rows.filter(|row| row.turn == Some(turn)) {
        match row.outcome {
            Outcome::Pass => checks.count(true),
            Outcome::Fail => checks.count(false),
            Outcome::Undecided(_) | Outcome::Error(_) | Outcome::Unsupported | Outcome::Skipped { .. } => {}
        }
    }
    TurnTally { turn, missing_output, checks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::outcome::{Availability, Judgement};
    use crate::judge::merge::{JudgementDetail, ScoreScale};
    use crate::suite::{AssertionType, OracleTier};

    fn row(severity: Severity, outcome: Outcome) -> AssertionRow {
        let score = outcome.passed().map(|passed| if passed { 1.0 } else { 0.0 });
        AssertionRow {
            name: "n".to_owned(),
            assertion_type: AssertionType::Contains,
            outcome,
            evidence: String::new(),
            score,
            severity,
            oracle: OracleTier::Strong,
            turn: None,
            one_arm: None,
            is_awaited: false,
            comparison: None,
            normalization: None,
            availability: Availability::Complete,
            autojunk_fired: false,
            judgement: None,
            details: Default::default(),
            recorded: None,
        }
    }

    fn judged(score: f64, detail: JudgementDetail) -> AssertionRow {
        let judgement = Some(Judgement { task_id: "c::v::run-1::n".to_owned(), detail });
        AssertionRow {
            assertion_type: AssertionType::Judge,
            score: Some(score),
            judgement,
            ..row(Severity::Soft, Outcome::Pass)
        }
    }

    /// The table of verified situations: objective, combined, graded.
    #[test]
    fn situations() {
        use Severity::{Critical, Gate, Soft};
        let pass = |severity| row(severity, Outcome::Pass);
        let fail = |severity| row(severity, Outcome::Fail);
        let skipped = || row(Gate, Outcome::Skipped { reason: String::new(), passed: false, unevaluated: true });
        let rates = |rows: &[AssertionRow]| {
            let tally = RunTally::of(rows, &[], None);
            (tally.objective_pass_rate(), tally.combined().value(tally.is_vetoed()), tally.graded_score)
        };
        assert_eq!(rates(&[pass(Gate), fail(Gate)]), (Some(0.5), Some(0.5), None));
        assert_eq!(rates(&[pass(Gate), fail(Soft)]), (Some(1.0), Some(1.0), Some(0.0)));
        assert_eq!(rates(&[pass(Soft)]), (None, None, Some(1.0)));
        assert_eq!(rates(&[fail(Critical), pass(Soft)]), (Some(0.0), Some(0.0), None));
        assert_eq!(rates(&[pass(Gate), skipped()]), (Some(1.0), Some(1.0), None));
        assert_eq!(rates(&[row(Gate, Outcome::Error(super::super::ErrorReason::StepLimit))]), (None, None, None));
        // 2/3 is written as Python divides it
        assert_eq!(rates(&[pass(Gate), pass(Gate), fail(Gate)]).0, Some(0.666_666_666_666_666_6));
    }

    #[test]
    fn a_failed_critical_judgement_alone_makes_every_rate_zero() {
        let tally = RunTally::of(&[], &[row(Severity::Critical, Outcome::Fail)], None);
        assert_eq!(tally.objective, Rate::default());
        assert_eq!(tally.objective_pass_rate(), Some(0.0));
        assert_eq!(tally.qualitative.value(tally.is_vetoed()), Some(0.0));
    }

    #[test]
    fn soft_scores_below_the_reference_are_named() {
        let rows = [row(Severity::Soft, Outcome::Fail), row(Severity::Soft, Outcome::Pass)];
        let tally = RunTally::of(&rows, &[], Some(0.5));
        assert_eq!(tally.graded_score, Some(0.5));
        assert_eq!(tally.below_reference_floor, ["n"]);
    }

    #[test]
    fn scores_from_1_to_5_enter_the_mean_as_shares() {
        let plain = judged(4.0, JudgementDetail::Plain { scale: ScoreScale::OneToFive });
        let tally = RunTally::of(&[row(Severity::Soft, Outcome::Pass)], &[plain], Some(0.8));
        // ((4 - 1) / 4 + 1) / 2, where raw values would give 2.5
        assert_eq!(tally.graded_score, Some(0.875));
        assert_eq!(tally.below_reference_floor, ["n"]);
    }

    #[test]
    fn dimensions_below_the_reference_are_named() {
        let scores = vec![("depth".to_owned(), 5.0), ("clarity".to_owned(), 3.0)];
        let row = judged(0.75, JudgementDetail::Dimensions { threshold: 0.75, scores });
        let tally = RunTally::of(&[], &[row], Some(0.6));
        assert_eq!(tally.graded_score, Some(0.75));
        assert_eq!(tally.below_reference_floor, ["n:clarity"]);
    }
}
