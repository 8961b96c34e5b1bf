//! A gate tried where nothing differs: the saved repetitions of one arm, split into two halves again and again, one of
//! which plays the skill.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::{BigInt, BigUint};
use num_traits::{One, ToPrimitive, Zero};
use rayon::prelude::*;
use skill_lift_stats::Withheld;
use skill_lift_stats::proportion::{ShareInterval, clopper_pearson};
use skill_lift_stats::rational::{self, Rational};

use super::draws::Draws;
use super::{Condition, Decision, GateOutcome};
use crate::analyze::report_units::ReportUnits;
use crate::runs::claims::{ClaimedRun, Claims};
use crate::runs::{Role, control_among};

/// Percent of tries in which a gate may claim a difference where there is none.
pub const FALSE_ALARMS_ALLOWED: u64 = 5;

/// Two-sided error rate of the limits of sampled shares.
const LIMITS_ALPHA: f64 = 0.05;

/// Most halves of single runs that are drawn, units times tries; beyond this it takes too long.
const MOST_DRAWN: usize = 20_000_000;

/// The most repetitions of a case and model whose splits are listed.
const MOST_LISTED: usize = 64;

/// Most ways to split that are listed even if fewer tries are asked for.
const ALWAYS_LISTED: usize = 1_024;

/// Rates are whole multiples of one over this where their common denominator is larger.
const FINEST: u64 = 1 << 53;

/// The arm that is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestArm {
    /// Runs with the skill.
    WithSkill,
    /// Runs of the baseline.
    WithoutSkill,
}

impl TestArm {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::WithSkill => "with_skill",
            Self::WithoutSkill => "without_skill",
        }
    }
}

/// How a gate is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfTestRequest {
    /// The arm that is split.
    pub arm: TestArm,
    /// Tries, where not all ways to split can be listed; at least 1.
    pub tries: u64,
    /// What the tries are drawn from.
    pub seed: u64,
}

/// How the ways to split were gone through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelfTestMethod {
    /// All of them, those with the same lifts as one.
    Enumerated {
        /// Different outcomes.
        distinct: u64,
        /// Ways to split.
        ways: BigUint,
    },
    /// Some of them, at random.
    Sampled {
        /// Tries.
        tries: u64,
    },
}

/// How often something happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The share of all ways to split, or of the tries.
    pub value: Rational,
    /// 95 % limits of the share of all ways (Clopper & Pearson 1934 *Biometrika* 26:404); none if it is that share.
    pub limits: Option<ShareInterval>,
}

/// How often each outcome came up.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// Better, which is false.
    pub improved: Share,
    /// Worse, which is false.
    pub regressed: Share,
    /// No difference as large as the margin, which is true.
    pub equivalent: Share,
    /// Not known.
    pub inconclusive: Share,
    /// Better or worse.
    pub false_alarms: Share,
    /// The condition held.
    pub holds: Share,
}

/// A case and model whose runs cannot be split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsplitCell {
    /// The case.
    pub case: String,
    /// The model.
    pub model: Option<String>,
    /// Scored runs of the arm.
    pub runs: usize,
}

/// A gate tried where nothing differs.
#[derive(Debug)]
pub struct SelfTest {
    /// What was asked for.
    pub asked: SelfTestRequest,
    /// How the ways to split were gone through.
    pub method: SelfTestMethod,
    /// Units in each try.
    pub units: usize,
    /// Cases and models whose runs were split.
    pub cells: usize,
    /// Those with fewer than two runs.
    pub left_out: Vec<UnsplitCell>,
    /// How often it said what.
    pub shares: Shares,
    /// Whether false alarms are rare enough, or may be.
    pub is_fit: bool,
}

/// Why a self-test is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfTestProblem {
    /// What was asked for.
    pub asked: SelfTestRequest,
    /// Why.
    pub reason: Withheld,
    /// Cases and models with fewer than two runs.
    pub left_out: Vec<UnsplitCell>,
}

impl SelfTest {
    /// Tries a gate on halves of one arm of a report.
    ///
    /// # Errors
    /// [`Withheld::NoRuns`] if no case and model has two scored runs, [`Withheld::TooFewUnits`] if so few units can be split
    /// that no outcome could reach alpha, [`Withheld::BeyondExactBudget`] if it would take too long.
    pub(super) fn of(
        claims: &Claims,
        units: &ReportUnits<'_>,
        alpha: &Rational,
        condition: &Condition,
        asked: SelfTestRequest,
    ) -> Result<Self, SelfTestProblem> {
        let (design, left_out) = design(claims, units, asked.arm);
        let refused = |reason, left_out| Err(SelfTestProblem { asked, reason, left_out });
        if design.is_empty() {
            return refused(Withheld::NoRuns, left_out);
        }
        if skill_lift_stats::minimum_cases(alpha).is_none_or(|minimum| design.len() < minimum) {
            return refused(Withheld::TooFewUnits, left_out);
        }
        let most = usize::try_from(asked.tries).unwrap_or(usize::MAX).max(ALWAYS_LISTED);
        let (method, shares) = match laws(&design, most) {
            Some(laws) => enumerated(&laws, alpha, condition),
            None => {
                let runs: usize = design.iter().flatten().flatten().map(|cell| cell.rates.len()).sum();
                if runs.saturating_mul(usize::try_from(asked.tries).unwrap_or(usize::MAX)) > MOST_DRAWN {
                    return refused(Withheld::BeyondExactBudget, left_out);
                }
                sampled(&design, asked, alpha, condition)
            }
        };
        let allowed = rational::rate(FALSE_ALARMS_ALLOWED, 100);
        let is_fit = match &shares.false_alarms.limits {
            // chance alone brings half of all sampled shares above the true one
            Some(limits) => rational::from_f64(limits.lower).is_none_or(|lower| lower <= allowed),
            None => shares.false_alarms.value <= allowed,
        };
        let cells = design.iter().flatten().map(Vec::len).sum();
        Ok(Self { asked, method, units: design.len(), cells, left_out, shares, is_fit })
    }
}

/// The scored runs of a case and model, as whole numbers over a denominator.
#[derive(Debug)]
struct Cell {
    rates: Vec<u64>,
    denominator: u64,
}

/// The cells of each case of each unit.
type Design = Vec<Vec<Vec<Cell>>>;

/// Case and model.
type CellKey<'c> = (&'c str, Option<&'c str>);

/// Everything that can be split, and what cannot.
fn design(claims: &Claims, units: &ReportUnits<'_>, arm: TestArm) -> (Design, Vec<UnsplitCell>) {
    let control = control_among(claims.rows.iter().map(|row| row.configuration.role));
    let is_of_arm = |row: &&ClaimedRun| match arm {
        TestArm::WithSkill => row.configuration.role == Role::Treatment,
        TestArm::WithoutSkill => control == Some(row.configuration.role),
    };
    let mut runs: BTreeMap<CellKey<'_>, Vec<(u32, Rational)>> = BTreeMap::new();
    for row in claims.rows.iter().filter(is_of_arm).filter(|row| row.repetition > 0) {
        let cell = runs.entry((&row.case.id, row.model.as_deref())).or_default();
        cell.extend(row.rate.value().map(|rate| (row.repetition, rate)));
    }
    let mut cells: BTreeMap<&str, Vec<Cell>> = BTreeMap::new();
    let mut left_out = Vec::new();
    for ((case, model), mut runs) in runs {
        if runs.len() < 2 {
            left_out.push(UnsplitCell { case: case.to_owned(), model: model.map(str::to_owned), runs: runs.len() });
            continue;
        }
        runs.sort_by_key(|(repetition, _)| *repetition);
        let rates: Vec<Rational> = runs.into_iter().map(|(_, rate)| rate).collect();
        cells.entry(case).or_default().push(Cell::of(&rates));
    }
    let grouped = units.grouped();
    let counted: BTreeSet<&str> = grouped.values().flatten().map(|case| case.name).collect();
    left_out.retain(|cell| counted.contains(cell.case.as_str()));
    let split = grouped.into_values().map(|cases| cases.iter().filter_map(|case| cells.remove(case.name)).collect());
    (split.filter(|cases: &Vec<Vec<Cell>>| !cases.is_empty()).collect(), left_out)
}

impl Cell {
    fn of(rates: &[Rational]) -> Self {
        let common = rational::common_denominator(rates).to_u64().filter(|common| *common <= FINEST);
        let denominator = common.unwrap_or(FINEST);
        let whole = |rate: &Rational| (rate * BigInt::from(denominator)).round().to_integer().to_u64();
        Self { rates: rates.iter().filter_map(whole).collect(), denominator }
    }

    /// The lift of some of the runs over the others: how many there are, and their sum.
    fn delta(&self, chosen: usize, sum: u128) -> Rational {
        let total: u128 = self.rates.iter().map(|rate| u128::from(*rate)).sum();
        let (here, there) = (BigInt::from(chosen), BigInt::from(self.rates.len() - chosen));
        let difference = BigInt::from(sum) * &there - BigInt::from(total - sum) * &here;
        Rational::new(difference, here * there * BigInt::from(self.denominator))
    }

    /// Sizes of the half that plays the skill: the odd run falls to either.
    fn halves(&self) -> [usize; 2] {
        [self.rates.len() / 2, self.rates.len().div_ceil(2)]
    }

    /// The lift of a half that is drawn.
    fn drawn(&self, draws: &mut Draws) -> Rational {
        let mut rates = self.rates.clone();
        let [small, large] = self.halves();
        let chosen = if small == large || draws.below(2) == 0 { small } else { large };
        let mut sum = 0_u128;
        for at in 0..chosen {
            let other = at + draws.below((rates.len() - at) as u64) as usize;
            rates.swap(at, other);
            sum += u128::from(rates[at]);
        }
        self.delta(chosen, sum)
    }

    /// All lifts with the number of ways to split that give each; `None` if they are more than asked for.
    fn law(&self, most: usize) -> Option<Law> {
        if self.rates.len() > MOST_LISTED {
            return None;
        }
        // by size and sum of the chosen half
        let mut ways: BTreeMap<(usize, u128), BigUint> = BTreeMap::from([((0, 0), BigUint::one())]);
        let [small, large] = self.halves();
        for rate in &self.rates {
            let taken: Vec<((usize, u128), BigUint)> = ways
                .iter()
                .filter(|((chosen, _), _)| *chosen < large)
                .map(|((chosen, sum), ways)| ((chosen + 1, sum + u128::from(*rate)), ways.clone()))
                .collect();
            for (place, number) in taken {
                *ways.entry(place).or_default() += number;
            }
            if ways.len() > most.saturating_mul(4) {
                return None;
            }
        }
        let mut law = Law::new();
        for ((chosen, sum), number) in ways {
            if chosen == small || chosen == large {
                *law.entry(self.delta(chosen, sum)).or_default() += number;
            }
        }
        (law.len() <= most).then_some(law)
    }
}

/// Lifts with the number of ways that give each.
type Law = BTreeMap<Rational, BigUint>;

/// The law of the mean of independent lifts.
fn mean_law(parts: &[Law], most: usize) -> Option<Law> {
    let mut sums = Law::from([(Rational::zero(), BigUint::one())]);
    for part in parts {
        let mut next = Law::new();
        for ((sum, ways), (lift, more)) in sums.iter().flat_map(|sum| part.iter().map(move |lift| (sum, lift))) {
            *next.entry(sum + lift).or_default() += ways * more;
            if next.len() > most {
                return None;
            }
        }
        sums = next;
    }
    let number = BigInt::from(parts.len());
    Some(sums.into_iter().map(|(sum, ways)| (sum / &number, ways)).collect())
}

/// The law of each unit, if the ways to split the whole design can be listed.
fn laws(design: &Design, most: usize) -> Option<Vec<Law>> {
    let mut laws = Vec::with_capacity(design.len());
    let mut outcomes = 1_usize;
    for cases in design {
        let of_case =
            |cells: &Vec<Cell>| mean_law(&cells.iter().map(|cell| cell.law(most)).collect::<Option<Vec<Law>>>()?, most);
        let law = mean_law(&cases.iter().map(of_case).collect::<Option<Vec<Law>>>()?, most)?;
        outcomes = outcomes.checked_mul(law.len()).filter(|outcomes| *outcomes <= most)?;
        laws.push(law);
    }
    Some(laws)
}

/// Ways that gave each outcome, and those in which the condition held.
#[derive(Debug, Default)]
struct Tally {
    outcomes: BTreeMap<GateOutcome, BigUint>,
    holds: BigUint,
}

impl Tally {
    fn of(decision: &Decision, ways: BigUint) -> Self {
        let holds = if decision.holds { ways.clone() } else { BigUint::zero() };
        Self { outcomes: BTreeMap::from([(decision.outcome, ways)]), holds }
    }

    fn and(mut self, other: Self) -> Self {
        for (outcome, ways) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += ways;
        }
        self.holds += other.holds;
        self
    }

    fn shares(&self, share: impl Fn(&BigUint) -> Share) -> Shares {
        let number = |outcome| self.outcomes.get(&outcome).cloned().unwrap_or_default();
        let (improved, regressed) = (number(GateOutcome::Improved), number(GateOutcome::Regressed));
        Shares {
            improved: share(&improved),
            regressed: share(&regressed),
            equivalent: share(&number(GateOutcome::Equivalent)),
            inconclusive: share(&number(GateOutcome::Inconclusive)),
            false_alarms: share(&(improved + regressed)),
            holds: share(&self.holds),
        }
    }
}

fn enumerated(laws: &[Law], alpha: &Rational, condition: &Condition) -> (SelfTestMethod, Shares) {
    let laws: Vec<Vec<(&Rational, &BigUint)>> = laws.iter().map(|law| law.iter().collect()).collect();
    let distinct: usize = laws.iter().map(Vec::len).product();
    let one = |number: usize| {
        let mut rest = number;
        let mut ways = BigUint::one();
        let deltas: Vec<Rational> = laws
            .iter()
            .map(|law| {
                let (lift, of_lift) = law[rest % law.len()];
                rest /= law.len();
                ways *= of_lift;
                lift.clone()
            })
            .collect();
        Tally::of(&Decision::of(&deltas, alpha, condition), ways)
    };
    let tally = (0..distinct).into_par_iter().map(one).reduce(Tally::default, Tally::and);
    let ways: BigUint = tally.outcomes.values().sum();
    let shares =
        tally.shares(|number| Share { value: Rational::new(number.clone().into(), ways.clone().into()), limits: None });
    (SelfTestMethod::Enumerated { distinct: distinct as u64, ways }, shares)
}

fn sampled(
    design: &Design,
    asked: SelfTestRequest,
    alpha: &Rational,
    condition: &Condition,
) -> (SelfTestMethod, Shares) {
    let tries = asked.tries;
    let one = |number: u64| {
        let mut draws = Draws::of(asked.seed, number);
        let deltas: Vec<Rational> = design.iter().filter_map(|cases| drawn(cases, &mut draws)).collect();
        Tally::of(&Decision::of(&deltas, alpha, condition), BigUint::one())
    };
    let tally = (0..tries).into_par_iter().map(one).reduce(Tally::default, Tally::and);
    let shares = tally.shares(|number| {
        let number = number.to_u64().unwrap_or(tries);
        Share { value: rational::rate(number, tries), limits: clopper_pearson(number, tries, LIMITS_ALPHA).ok() }
    });
    (SelfTestMethod::Sampled { tries }, shares)
}

/// The lift of a unit with halves that are drawn: models first, then cases.
fn drawn(cases: &[Vec<Cell>], draws: &mut Draws) -> Option<Rational> {
    let mut of_cases = Vec::with_capacity(cases.len());
    for cells in cases {
        let of_models: Vec<Rational> = cells.iter().map(|cell| cell.drawn(draws)).collect();
        of_cases.extend(rational::mean(&of_models));
    }
    rational::mean(&of_cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(rates: &[(u64, u64)]) -> Cell {
        Cell::of(&rates.iter().map(|(passed, total)| rational::rate(*passed, *total)).collect::<Vec<_>>())
    }

    fn shown(law: &Law) -> Vec<(String, String)> {
        law.iter().map(|(lift, ways)| (lift.to_string(), ways.to_string())).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(lift, ways)| ((*lift).to_owned(), (*ways).to_owned())).collect()
    }

    /// By hand: of 1, 1, 0, 0 two are chosen in 6 ways: both passes (1), both fails (1), one of each (4).
    #[test]
    fn an_even_cell_has_the_law_of_its_subsets() {
        let law = cell(&[(1, 1), (1, 1), (0, 1), (0, 1)]).law(100).unwrap();
        assert_eq!(shown(&law), pairs(&[("-1", "1"), ("0", "4"), ("1", "1")]));
    }

    /// By hand: of 1, 0, 0 one is chosen in 3 ways (1 − 0; twice 0 − 1/2) or two (twice 1/2 − 0; once 0 − 1).
    #[test]
    fn the_odd_run_falls_to_either_half() {
        let law = cell(&[(1, 1), (0, 1), (0, 1)]).law(100).unwrap();
        assert_eq!(shown(&law), pairs(&[("-1", "1"), ("-1/2", "2"), ("1/2", "2"), ("1", "1")]));
    }

    /// By hand: two cells with lifts ±1 give −1, 0, 0, 1 as mean; different denominators stay exact.
    #[test]
    fn means_of_cells_are_convolved() {
        let one = || cell(&[(1, 1), (0, 1)]).law(10).unwrap();
        assert_eq!(shown(&mean_law(&[one(), one()], 10).unwrap()), pairs(&[("-1", "1"), ("0", "2"), ("1", "1")]));
        let third = cell(&[(1, 3), (1, 2)]).law(10).unwrap();
        assert_eq!(shown(&third), pairs(&[("-1/6", "1"), ("1/6", "1")]));
        assert!(mean_law(&[one(), third], 3).is_none());
    }

    #[test]
    fn a_drawn_half_has_a_lift_of_the_law() {
        let cell = cell(&[(1, 1), (0, 1), (1, 4), (2, 3), (1, 7)]);
        let law = cell.law(1_000).unwrap();
        let mut seen = BTreeSet::new();
        for number in 0..2_000 {
            let lift = cell.drawn(&mut Draws::of(7, number));
            assert!(law.contains_key(&lift), "{lift}");
            seen.insert(lift);
        }
        // all 20 ways come up
        assert_eq!((seen.len(), law.len()), (20, 20));
    }

    #[test]
    fn denominators_beyond_reason_are_rounded() {
        let tiny = Rational::new(BigInt::one(), BigInt::from(10).pow(300));
        let cell = Cell::of(&[tiny, rational::rate(1, 1)]);
        assert_eq!((cell.rates, cell.denominator), (vec![0, FINEST], FINEST));
    }
}
