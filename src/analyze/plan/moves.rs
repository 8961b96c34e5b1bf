//! A plan from the shares of cases that one run would turn better or worse: exact, without an assumed spread.

use skill_lift_stats::Withheld;
use skill_lift_stats::binary_power::{CaseMoves, CasesPlan, binary_cases_needed, binary_power};
use skill_lift_stats::power::PowerGoal;
use skill_lift_stats::rational::{self, Rational};

use super::{Assumption, Design, Ground, Outlook, Plan};

/// What follows from the shares.
#[derive(Debug)]
pub struct MovesPlan {
    /// Share of cases that get better.
    pub better: Rational,
    /// Share of cases that get worse.
    pub worse: Rational,
    /// The chance that the design finds it.
    pub power: Result<f64, Withheld>,
    /// The numbers of cases that reach the power that is asked for.
    pub needed: Result<CasesPlan, Withheld>,
    /// The power of these numbers and of the design, by the number.
    pub table: Vec<MovesPower>,
}

/// The power of a number of units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovesPower {
    /// Units.
    pub units: usize,
    /// The chance that they find it.
    pub power: f64,
    /// Runs of both arms for them.
    pub runs: usize,
    /// Whether it is the design.
    pub is_design: bool,
}

impl Plan {
    /// The plan from the shares of cases that one run turns better and worse; both in 0..=1, together at most 1. The lift
    /// is their difference.
    pub fn of_moves(ground: Ground, goal: PowerGoal, better: Rational, worse: Rational) -> Self {
        let moves = CaseMoves { up: rational::to_f64(&better), down: rational::to_f64(&worse) };
        let design = &ground.design;
        let needed = binary_cases_needed(moves, &goal).ok_or(Withheld::BeyondExactBudget);
        let mut numbers = vec![design.units];
        numbers.extend(needed.iter().flat_map(|plan| [plan.first, plan.stays_from]));
        numbers.sort_unstable();
        numbers.dedup();
        let row = |units: usize| Some(power_of(design, units, binary_power(units, moves, goal.alpha()).ok()?));
        let assumptions = vec![Assumption::GivenMoves, Assumption::CasesAlike];
        let outlook = MovesPlan {
            power: binary_power(design.units, moves, goal.alpha()),
            table: numbers.into_iter().filter_map(row).collect(),
            needed,
            better: better.clone(),
            worse: worse.clone(),
        };
        let outlook = Outlook::Moves(outlook);
        Self { minimum_units: goal.minimum_cases(), target: better - worse, ground, goal, outlook, assumptions }
    }
}

fn power_of(design: &Design, units: usize, power: f64) -> MovesPower {
    MovesPower { units, power, runs: design.runs_of_units(units), is_design: units == design.units }
}
