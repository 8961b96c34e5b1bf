//! The table of both arms, and the headline above it.

use num_traits::ToPrimitive;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::verdict::TooFewReason;

use super::ForgeView;
use crate::analyze::forge::{Arm, PairedQuantity, Quantity};
use crate::report::skill_eval::format::table;
use crate::report::{numbers, words};

/// What is shown where nothing was measured.
const NOT_CAPTURED: &str = "not captured";

/// The verdict in one sentence, then the figures that it rests on.
pub(super) fn headline(view: &ForgeView<'_>) -> Vec<String> {
    let inference = &view.lift.inference;
    let fewest = view.fewest_evals();
    let headline = words::headline(inference, fewest);
    let mut lines = vec![format!("**{}** {}", headline.text, headline.note).trim_end().to_owned()];
    if view.iteration.is_empty() {
        lines.push(String::new());
        lines.push("Nothing was graded: no run of this iteration has a verdict that counts.".to_owned());
        return lines;
    }
    let Some(lift) = view.lift.lift() else { return lines };
    let overall = &inference.overall;
    let alpha = rational::to_f64(inference.thresholds.alpha());
    let evals = numbers::counted(overall.test.n, "paired eval", "paired evals");
    let interval = overall.interval.as_ref().map_or_else(
        |reason| format!("no interval: {}", reason.as_str().replace('_', " ")),
        |limits| format!("{} {}", words::interval_name(inference), numbers::interval(limits.lower, limits.upper)),
    );
    let p = overall.test.p_two_sided;
    let odds = match words::odds_text(p) {
        text if text.is_empty() => "Chance alone explains such a result just as well.".to_owned(),
        text => text,
    };
    lines.push(String::new());
    lines.push(format!(
        "Lift {} over {evals} ({interval}, {}). {odds}",
        numbers::points(lift),
        numbers::p_text(p, alpha)
    ));
    // the headline says it already when there are too few evals for any answer
    if !overall.verdict.reasons.contains(&TooFewReason::Structural) {
        lines.push(words::next_step(inference, fewest));
    }
    lines
}

/// The table.
pub(super) fn overall(view: &ForgeView<'_>) -> Vec<String> {
    let head = ["Metric", "With Skill", "Baseline", "Delta"].map(str::to_owned).to_vec();
    let paired = view.lift.paired.len();
    let partly = paired > 0 && !view.lift.unpaired.is_empty();
    let mut rows = Vec::new();
    let shown = |rate: Option<&Rational>| rate.map_or_else(|| "-".to_owned(), numbers::percent);
    let macro_rate = |arm: Arm| view.iteration.macro_rate(arm);
    match view.lift.paired_rates() {
        Some((with_skill, baseline)) => {
            let delta = view.lift.lift().map_or_else(|| "-".to_owned(), numbers::points);
            let label =
                if partly { format!("Pass Rate ({})", evals(paired, "paired ")) } else { "Pass Rate".to_owned() };
            rows.push(vec![label, numbers::percent(with_skill), numbers::percent(baseline), delta]);
            if partly {
                let (with_skill, baseline) = (macro_rate(Arm::WithSkill), macro_rate(Arm::Baseline));
                rows.push(vec![
                    "Pass Rate (all scored evals)".to_owned(),
                    shown(with_skill.as_ref()),
                    shown(baseline.as_ref()),
                    "-".to_owned(),
                ]);
            }
        }
        None => {
            let (with_skill, baseline) = (macro_rate(Arm::WithSkill), macro_rate(Arm::Baseline));
            let row = ["Pass Rate".to_owned(), shown(with_skill.as_ref()), shown(baseline.as_ref()), "-".to_owned()];
            rows.push(row.to_vec());
        }
    }
    for (label, quantity, found) in
        [("Avg Time", Quantity::DurationMs, view.lift.duration_ms), ("Avg Tokens", Quantity::Tokens, view.lift.tokens)]
    {
        rows.push(quantity_row(view, label, quantity, found));
        if found.is_some_and(|found| has_unpaired(view, quantity, found)) {
            rows.push(all_scored_row(view, &format!("{label} (all scored evals)"), quantity));
        }
    }
    let mut lines = table(head, rows);
    lines.push(String::new());
    lines.push(
        "Each eval's scored runs are averaged first, then the evals. A delta compares only evals that have the value in \
         both arms."
            .to_owned(),
    );
    if let Ok(ratio) = &view.lift.improvement_ratio {
        let ratio = rational::round_half_even(ratio, 2);
        lines.push(format!("The pass rate with the skill is {ratio:.2} times that of the baseline."));
    }
    lines
}

fn evals(number: usize, kind: &str) -> String {
    numbers::counted(number, &format!("{kind}eval"), &format!("{kind}evals"))
}

fn quantity_row(view: &ForgeView<'_>, label: &str, quantity: Quantity, found: Option<PairedQuantity>) -> Vec<String> {
    if let Some(found) = found {
        let label = if found.evals == view.iteration.evals.len() {
            label.to_owned()
        } else {
            format!("{label} ({})", evals(found.evals, "paired "))
        };
        let delta = signed_amount(quantity, found.with_skill - found.baseline);
        return vec![label, amount(quantity, found.with_skill), amount(quantity, found.baseline), delta];
    }
    all_scored_row(view, label, quantity)
}

/// Whether an arm has the quantity in evals that are not among the paired ones.
fn has_unpaired(view: &ForgeView<'_>, quantity: Quantity, found: PairedQuantity) -> bool {
    let evals = &view.iteration.evals;
    let captured = |arm: Arm| evals.iter().filter(|eval| eval.arm(arm).quantity(quantity).is_some()).count();
    Arm::ALL.into_iter().any(|arm| captured(arm) > found.evals)
}

/// The means that thresholds are held against.
fn all_scored_row(view: &ForgeView<'_>, label: &str, quantity: Quantity) -> Vec<String> {
    let cell = |arm: Arm| match view.iteration.macro_quantity(arm, quantity) {
        Some(mean) => amount(quantity, mean),
        None if view.iteration.macro_rate(arm).is_none() => "-".to_owned(),
        None => NOT_CAPTURED.to_owned(),
    };
    vec![label.to_owned(), cell(Arm::WithSkill), cell(Arm::Baseline), "-".to_owned()]
}

/// An amount in its unit: `19.6s`, `14,900`.
pub(super) fn amount(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::DurationMs => format!("{:.1}s", rational::round_f64_half_even(value / 1000.0, 1)),
        Quantity::Tokens => {
            let whole = rational::round_f64_half_even(value, 0);
            whole.to_usize().map_or_else(|| format!("{whole:.0}"), numbers::count)
        }
    }
}

fn signed_amount(quantity: Quantity, value: f64) -> String {
    let text = amount(quantity, value.abs());
    if value == 0.0 {
        text
    } else if value < 0.0 {
        format!("\u{2212}{text}")
    } else {
        format!("+{text}")
    }
}
