//! The words of a self-test.

use skill_lift_stats::Withheld;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_text::screen::visible;

use super::words::cut;
use crate::analyze::gate::{
    FALSE_ALARMS_ALLOWED, SelfTest, SelfTestMethod, SelfTestProblem, Share, TestArm, UnsplitCell,
};
use crate::report::numbers;

/// Cases that are named.
const NAMED: usize = 5;

/// What a self-test shows, or why there is none.
pub(super) fn text(test: &Result<SelfTest, SelfTestProblem>) -> String {
    match test {
        Ok(test) => made(test),
        Err(problem) => {
            let why = match problem.reason {
                Withheld::NoRuns => "no case has two graded runs of that arm to compare with each other",
                Withheld::TooFewUnits => "too few cases have two graded runs of that arm to compare with each other",
                Withheld::BeyondExactBudget => "so many runs and tries would take too long",
                _ => problem.reason.as_str(),
            };
            format!("The gate was not tried where nothing differs: {why}.{}", left_out(&problem.left_out))
        }
    }
}

fn made(test: &SelfTest) -> String {
    let arm = match test.asked.arm {
        TestArm::WithSkill => "with the skill",
        TestArm::WithoutSkill => "without the skill",
    };
    let tries = match &test.method {
        SelfTestMethod::Sampled { tries } => {
            format!("{} random tries (seed {})", numbers::grouped(&tries.to_string()), test.asked.seed)
        }
        SelfTestMethod::Enumerated { ways, .. } => {
            let digits = ways.to_string();
            // nobody reads longer ones
            let number = if digits.len() > 15 { String::new() } else { format!("{} ", numbers::grouped(&digits)) };
            format!("all {number}ways to do so")
        }
    };
    let shares = &test.shares;
    let trust = if test.is_fit { "" } else { ": too often to be trusted" };
    format!(
        "The runs {arm} were split into two halves, one of which played the skill, so that nothing differs; in {tries} the \
         gate claimed a better skill in {}, a worse one in {} (together {}, at most {FALSE_ALARMS_ALLOWED}% is \
         allowed){trust}. The condition held in {}.{}",
        percent(&shares.improved.value),
        percent(&shares.regressed.value),
        share(&shares.false_alarms),
        share(&shares.holds),
        left_out(&test.left_out)
    )
}

/// A share with its limits.
fn share(share: &Share) -> String {
    match &share.limits {
        Some(limits) => format!(
            "{}, 95% interval {} to {}",
            percent(&share.value),
            percent(&rational::from_f64(limits.lower).unwrap_or_default()),
            percent(&rational::from_f64(limits.upper).unwrap_or_default())
        ),
        None => percent(&share.value),
    }
}

/// A share in percent with one decimal; exact 0 and 1 only without.
pub(super) fn percent(share: &Rational) -> String {
    let (zero, one) = (rational::rate(0, 1), rational::rate(1, 1));
    if *share == zero || *share == one {
        return numbers::percent(share);
    }
    let shown = rational::round_half_even(&(share * rational::rate(100, 1)), 1);
    if shown <= 0.0 {
        "<0.1%".to_owned()
    } else if shown >= 100.0 {
        ">99.9%".to_owned()
    } else {
        format!("{shown:.1}%")
    }
}

fn left_out(cells: &[UnsplitCell]) -> String {
    if cells.is_empty() {
        return String::new();
    }
    let name = |cell: &UnsplitCell| {
        let case = cut(&visible(&cell.case, false));
        match &cell.model {
            Some(model) => format!("{case} ({})", cut(&visible(model, false))),
            None => case,
        }
    };
    let mut names: Vec<String> = cells.iter().take(NAMED).map(name).collect();
    let more = cells.len().saturating_sub(NAMED);
    names.extend((more > 0).then(|| format!("{} more", numbers::count(more))));
    format!(" Left out, as they have fewer than two graded runs: {}.", names.join(", "))
}
