//! The words of a plan.

use num_traits::{FromPrimitive, Signed};
use rust_decimal::Decimal;
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::Withheld;
use skill_lift_stats::power::{DetectableLift, LARGEST_PLAN};
use skill_lift_stats::rational::{self, Rational};

use crate::analyze::inference::Unit;
use crate::analyze::plan::{Addition, Assumption, DeltaPlan, Design, MovesPlan, Needed, Outlook, Plan, Repetitions};
use crate::report::numbers;
use crate::report::quantities::money;

/// What stands where there is no value.
pub(super) const NOTHING: &str = "–";

/// A number of units: `13 cases`, `1 family`.
pub(super) fn units(unit: Unit, number: usize) -> String {
    match unit {
        Unit::Case => numbers::counted(number, "case", "cases"),
        Unit::Family => numbers::counted(number, "family", "families"),
    }
}

/// What is counted, for a number of it.
fn noun(unit: Unit, number: usize) -> &'static str {
    if number == 1 { unit.word() } else { many(unit) }
}

/// What is counted, in the plural.
pub(super) fn many(unit: Unit) -> &'static str {
    match unit {
        Unit::Case => "cases",
        Unit::Family => "families",
    }
}

/// `5 repetitions`, `4 to 5 repetitions`.
pub(super) fn repetitions(repetitions: Repetitions) -> String {
    match repetitions.equal() {
        Some(number) => numbers::counted(number, "repetition", "repetitions"),
        None => format!("{} to {} repetitions", repetitions.least, numbers::count(repetitions.most)),
    }
}

/// An amount of dollars.
pub(super) fn dollars(amount: f64) -> String {
    Decimal::from_f64(amount).map_or_else(|| format!("${amount:.0}"), |amount| money(amount, Currency::USD))
}

pub(super) fn rational_of(value: f64) -> Rational {
    rational::from_f64(value).unwrap_or_default()
}

/// A detectable lift as sentences have it: in whole points, with a decimal below one.
pub(super) fn whole(lift: f64) -> String {
    if lift < 0.01 { numbers::size_in_tenths(lift) } else { numbers::size_in_points(lift) }
}

/// A detectable lift in a cell.
pub(super) fn detectable(lift: &Result<DetectableLift, Withheld>) -> String {
    match lift {
        Ok(lift) if lift.not_detectable => "none".to_owned(),
        Ok(lift) => numbers::size_in_tenths(lift.lift),
        Err(_) => NOTHING.to_owned(),
    }
}

/// The size of a design: `13 cases, 2 models, 5 repetitions`.
pub(super) fn size(design: &Design) -> String {
    let mut parts = vec![units(design.unit, design.units)];
    if design.unit == Unit::Family {
        parts.push(numbers::counted(design.cases, "case", "cases"));
    }
    if design.models > 1 {
        parts.push(numbers::counted(design.models, "model", "models"));
    }
    if design.repetitions.most > 0 {
        parts.push(repetitions(design.repetitions));
    }
    parts.join(", ")
}

/// The answer in one sentence.
pub(super) fn answer(plan: &Plan) -> String {
    let design = &plan.ground.design;
    let alpha = rational::to_f64(plan.goal.alpha());
    if design.units == 0 {
        let needed = units(design.unit, plan.minimum_units);
        let what = if plan.ground.is_report { "no pair of runs that counts" } else { "no case that counts" };
        return format!("This design can detect nothing: it has {what}, and needs at least {needed} (alpha {alpha}).");
    }
    if !plan.is_reachable() {
        let number = design.units;
        let all = match number {
            1 => format!("the one {}", noun(design.unit, 1)),
            number => format!("all {}", units(design.unit, number)),
        };
        return format!(
            "This design can detect nothing: even if {all} got better, that could be chance (alpha {alpha}); at least {} \
             are needed.",
            units(design.unit, plan.minimum_units)
        );
    }
    let power = numbers::chosen_percent(&rational_of(plan.goal.power()));
    let size = size(design);
    match &plan.outlook {
        Outlook::Deltas(outlook) => match &outlook.detectable {
            Ok(lift) if lift.not_detectable => {
                format!("This design can detect no lift, not even 100\u{a0}pp ({power} power, alpha {alpha}, {size}).")
            }
            Ok(lift) => format!(
                "This design can detect a lift of {} or more ({power} power, alpha {alpha}, {size}).",
                whole(lift.lift)
            ),
            Err(reason) => format!("What this design can detect is not known: {}.", withheld(*reason)),
        },
        Outlook::Moves(outlook) => match outlook.power {
            Ok(chance) => format!(
                "A skill that turns {} of {} better and {} worse would be found in {} of such evals (alpha {alpha}, {size}).",
                numbers::chosen_percent(&outlook.better),
                many(design.unit),
                numbers::chosen_percent(&outlook.worse),
                numbers::percent(&rational_of(chance)),
            ),
            Err(reason) => format!("How often this design would find such a skill is not known: {}.", withheld(reason)),
        },
    }
}

/// The sentences below the answer.
pub(super) fn sentences(plan: &Plan) -> Vec<String> {
    match &plan.outlook {
        Outlook::Deltas(outlook) => of_deltas(plan, outlook),
        Outlook::Moves(outlook) => of_moves(plan, outlook),
    }
}

fn of_deltas(plan: &Plan, outlook: &DeltaPlan) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Ok(lift) = &outlook.detectable
        && !lift.not_detectable
    {
        let power = numbers::chosen_percent(&rational_of(plan.goal.power()));
        let (shown, example) = (whole(lift.lift), example(plan, lift.lift));
        sentences.push(format!(
            "That is: if the skill truly raises the pass rate by {shown}{example}, {power} of such evals would show that it \
             helps; a smaller lift is missed more often."
        ));
        if let Some(baseline) = plan.ground.baseline.filter(|baseline| lift.lift > 1.0 - baseline) {
            let room = numbers::size_in_points(1.0 - baseline);
            let rate = numbers::percent(&rational_of(baseline));
            sentences.push(format!("Without the skill the pass rate is {rate} already: no lift can exceed {room}."));
        }
    }
    let target = numbers::chosen_size(&plan.target);
    let design = &plan.ground.design;
    sentences.push(match &outlook.needed {
        Ok(needed) if needed.units <= design.units => {
            format!("A lift of {target} needs {}: there are enough.", units(design.unit, needed.units))
        }
        Ok(needed) => {
            let instead =
                if design.units == 0 { String::new() } else { format!(" instead of {}", numbers::count(design.units)) };
            format!(
                "To detect a lift of {target} takes {}{instead}: {}.",
                units(design.unit, needed.units),
                effort(needed)
            )
        }
        Err(_) => format!(
            "To detect a lift of {target} takes more than {} {}; no plan goes beyond that.",
            numbers::count(LARGEST_PLAN),
            many(design.unit)
        ),
    });
    sentences
}

/// What such a lift is, in pass rates.
fn example(plan: &Plan, lift: f64) -> String {
    let rate = |rate: f64| numbers::percent(&rational_of(rate));
    // in the whole percents that are shown, so that the two differ by the lift that is shown
    let whole = |value: f64| (value * 100.0).round() / 100.0;
    match plan.ground.baseline.map(whole) {
        Some(baseline) if baseline + lift <= 1.0 => {
            format!(" (from {} to {})", rate(baseline), rate(baseline + whole(lift)))
        }
        None if lift <= 0.5 => format!(" (say from 50% to {})", rate(0.5 + whole(lift))),
        _ => String::new(),
    }
}

/// What is to be run and paid.
fn effort(needed: &Needed) -> String {
    let runs = numbers::counted(needed.runs, "run", "runs");
    match needed.dollars {
        Some(amount) => format!("{runs}, about {}", dollars(amount)),
        None => runs,
    }
}

fn of_moves(plan: &Plan, outlook: &MovesPlan) -> Vec<String> {
    let size = numbers::chosen_size(&plan.target.abs());
    let verb = if plan.target.is_negative() { "lowers" } else { "raises" };
    let mut sentences =
        vec![format!("Such a skill {verb} the pass rate by {size}; in the other evals that goes unnoticed.")];
    if outlook.power.is_err() || !plan.is_reachable() {
        sentences[0] = format!("Such a skill {verb} the pass rate by {size}.");
    }
    let power = numbers::chosen_percent(&rational_of(plan.goal.power()));
    let unit = plan.ground.design.unit;
    sentences.push(match &outlook.needed {
        Ok(needed) if needed.first == needed.stays_from => {
            format!("To find it in {power} of evals takes {}.", units(unit, needed.first))
        }
        Ok(needed) => format!(
            "To find it in {power} of evals takes {}; a few more can do worse, from {} on they do not.",
            units(unit, needed.first),
            numbers::count(needed.stays_from)
        ),
        Err(_) => format!(
            "To find it in {power} of evals takes more than {} {}; no plan goes beyond that.",
            numbers::count(skill_lift_stats::binary_power::LARGEST_PLAN),
            many(unit)
        ),
    });
    sentences
}

/// Why a value of a plan is withheld.
pub(super) fn withheld(reason: Withheld) -> &'static str {
    match reason {
        Withheld::NoEligiblePairs => "there is no pair of runs that counts",
        Withheld::TooFewUnits => "there are too few units",
        Withheld::BeyondExactBudget => "there are too many cases to compute it exactly",
        Withheld::NoRuns => "there are no runs",
        other => other.as_str(),
    }
}

/// What stands below the table of what more of something buys.
pub(super) fn buys(plan: &Plan, outlook: &DeltaPlan) -> Vec<String> {
    let design = &plan.ground.design;
    let one = design.unit.word();
    let repetitions = match &outlook.repetitions {
        Ok(repetitions) => repetitions,
        Err(Withheld::NoRuns) => {
            let text = "What repetitions buy is not known before there are runs: plan again on a report.";
            return vec![text.to_owned()];
        }
        Err(_) => {
            let text = "What repetitions buy is not known: it takes two runs of a case in both arms to see how noisy single runs are.";
            return vec![text.to_owned()];
        }
    };
    let mut texts = Vec::new();
    texts.extend(outlook.lowers_more().map(|addition| match addition {
        Addition::Unit => format!("One more {one} lowers it more than one more repetition."),
        Addition::Repetition => format!("One more repetition lowers it more than one more {one}."),
    }));
    if let (Some(addition), Some(same)) = (outlook.buys_more(), &repetitions.same_runs) {
        let more = format!("{} more {}", numbers::count(same.count), noun(design.unit, same.count));
        texts.push(match addition {
            Addition::Unit => format!("The runs of the repetition, spent on {more}, lower it further."),
            Addition::Repetition => format!("The runs of the repetition, spent on {more}, lower it less."),
        });
    }
    if let Ok(limit) = repetitions.limit.as_ref()
        && !limit.not_detectable
        && outlook.detectable.is_ok()
    {
        let number = units(design.unit, design.units);
        let limit = numbers::size_in_tenths(limit.lift);
        texts.push(format!("However often they are repeated, {number} detect nothing below {limit}."));
    }
    texts
}

/// How much units differ, and why.
pub(super) fn spread(plan: &Plan, outlook: &DeltaPlan) -> String {
    let Design { unit, .. } = plan.ground.design;
    let spread = &outlook.spread;
    let size = |deviation: f64| numbers::size_in_tenths(deviation);
    let total = format!("The lifts of single {} spread by {}", many(unit), size(spread.standard_deviation));
    match &spread.split {
        Ok(split) => format!(
            "{total} (standard deviation): {} come from the noise of the runs, {} from {} that differ. These add up as \
             squares.",
            size(split.noise_of_deltas),
            size(split.sources.between_cases),
            many(unit)
        ),
        Err(_) => format!("{total} (standard deviation)."),
    }
}

/// An assumption in a sentence.
pub(super) fn assumption(plan: &Plan, assumption: Assumption) -> String {
    let many = many(plan.ground.design.unit);
    let deviation = || match &plan.outlook {
        Outlook::Deltas(outlook) => numbers::size_in_tenths(outlook.spread.standard_deviation),
        Outlook::Moves(_) => NOTHING.to_owned(),
    };
    match assumption {
        Assumption::OneRepetition => "Every case runs once in each arm; --repetitions says otherwise.".to_owned(),
        Assumption::OneModel => "There is one model; --models says otherwise.".to_owned(),
        Assumption::UsualDeviation => format!(
            "The lifts of single {many} spread by {} (standard deviation). Nothing was measured: --sd says otherwise, \
             and a report knows.",
            deviation()
        ),
        Assumption::GivenDeviation => {
            format!("The lifts of single {many} spread by {} (standard deviation), as --sd says.", deviation())
        }
        Assumption::DeviationOfReport => format!(
            "Further {many} spread as those of the report do. Their standard deviation counts two more {many}, at the largest \
             lift and loss that was seen, so that few {many} do not look more alike than they are."
        ),
        Assumption::AllNoise => {
            "The noise of the runs alone would explain more than all differences: all of them are taken as noise."
                .to_owned()
        }
        Assumption::GivenMoves => {
            "Every case runs once in each arm with one model, and the shares are those that --better and --worse say. The figures \
             are exact.".to_owned()
        }
        Assumption::CasesAlike => format!("Further {many} are like these, and none depends on another."),
        Assumption::Approximate => {
            "The figures come from Student's t, corrected for the exact test: they are approximate.".to_owned()
        }
        Assumption::OtherCorrection => {
            "This correction was measured at 80% power and alpha 0.05; here it is a guess for few cases.".to_owned()
        }
    }
}

/// What the design leaves out.
pub(super) fn left_out(plan: &Plan) -> Vec<String> {
    let left_out = plan.ground.left_out;
    let mut texts = Vec::new();
    if left_out.trigger_cases > 0 {
        let cases = numbers::counted(left_out.trigger_cases, "trigger case does", "trigger cases do");
        texts.push(format!("{cases} not count: they measure whether the skill is found."));
    }
    if left_out.unpaired_cases > 0 {
        let cases = numbers::counted(left_out.unpaired_cases, "case does", "cases do");
        texts.push(format!("{cases} not count: no pair of runs of them does."));
    }
    if left_out.cases_without_checks > 0 {
        let cases = numbers::counted(left_out.cases_without_checks, "case has", "cases have");
        texts.push(format!("{cases} no check, and counts only with verdicts of a grader."));
    }
    texts
}

/// What the money rests on.
pub(super) fn price(plan: &Plan) -> Option<String> {
    let price = plan.ground.price?;
    let measured = match price.measured == price.runs {
        true => String::new(),
        false => format!(" ({} of {} runs measured)", price.measured, price.runs),
    };
    Some(format!(
        "A run with the skill costs {}, one without it {}{measured}.",
        dollars(price.with_skill),
        dollars(price.without_skill)
    ))
}
