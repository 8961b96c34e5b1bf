//! What the skill costs a run, as the summary says it.

use num_traits::Zero;
use rust_decimal::Decimal;
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::rational::{self, Rational};

use super::numbers::{count, p_text};
use super::quantities::{money_difference, time_difference, token_difference};
use crate::analyze::telemetry::{Efficiency, QuantityEffect};

/// Decimals of a mean amount before it is shortened for people.
const DECIMALS: u32 = 9;

/// The extra cost of a run in pieces.
pub(super) struct CostWords {
    /// `+$0.011`: money, or the first quantity that was measured.
    pub(super) value: String,
    /// `+2,890 tokens, +6.8 s.`
    pub(super) rest: String,
    /// In how many pairs it was measured; empty when in all of them.
    pub(super) measured: String,
}

/// The extra cost in pieces; `None` when no pair measured anything.
pub(super) fn cost_words(efficiency: &Efficiency) -> Option<CostWords> {
    let shown = shown_quantities(efficiency);
    let ((first, value), others) = shown.split_first()?;
    let rest: Vec<&str> = others.iter().map(|(_, text)| text.as_str()).collect();
    let (measured, pairs) = (count(first.measured), count(first.pairs));
    Some(CostWords {
        value: value.clone(),
        rest: if rest.is_empty() { String::new() } else { format!("{}.", rest.join(", ")) },
        measured: match first.is_complete() {
            true => String::new(),
            false => format!(
                "Cost was measured in {measured} of {pairs} scored pairs; the rest are left out, not counted as free."
            ),
        },
    })
}

/// `+$0.011, +2,890 tokens, +6.8 s a run (135 of 140 pairs measured)`; `None` when no pair measured anything.
pub(super) fn cost_line(efficiency: &Efficiency) -> Option<String> {
    let shown = shown_quantities(efficiency);
    let (first, _) = shown.first()?;
    let measured = |effect: &QuantityEffect| {
        let (measured, pairs) = (count(effect.measured), count(effect.pairs));
        if effect.is_complete() { String::new() } else { format!(" ({measured} of {pairs} pairs measured)") }
    };
    if shown.iter().all(|(effect, _)| effect.measured == first.measured) {
        let texts: Vec<&str> = shown.iter().map(|(_, text)| text.as_str()).collect();
        return Some(format!("{} a run{}", texts.join(", "), measured(first)));
    }
    let texts: Vec<String> = shown.iter().map(|(effect, text)| format!("{text}{}", measured(effect))).collect();
    Some(format!("{} a run", texts.join(", ")))
}

/// Money, tokens and time with their mean differences, as far as they were measured.
fn shown_quantities(efficiency: &Efficiency) -> Vec<(&QuantityEffect, String)> {
    let tokens = |mean: &Rational| {
        let shown = token_difference(rational::to_f64(mean));
        if mean.is_zero() { "the same tokens".to_owned() } else { format!("{shown} tokens") }
    };
    let time = |mean: &Rational| match mean.is_zero() {
        true => "the same time".to_owned(),
        false => time_difference(rational::to_f64(mean)),
    };
    let money = |mean: &Rational| match mean.is_zero() {
        true => "the same price".to_owned(),
        false => amount(mean, efficiency.money.currency.unwrap_or(Currency::USD)),
    };
    [
        (&efficiency.money, efficiency.money.mean_difference.as_ref().map(money)),
        (&efficiency.total_tokens, efficiency.total_tokens.mean_difference.as_ref().map(tokens)),
        (&efficiency.elapsed_ms, efficiency.elapsed_ms.mean_difference.as_ref().map(time)),
    ]
    .into_iter()
    .filter_map(|(effect, text)| Some((effect, text?)))
    .collect()
}

/// `+$1.27 a run (+$0.20 to +$2.31) when one more passed run is worth $5.00`; `None` without a price or a measurement.
pub(super) fn worth_line(efficiency: &Efficiency, alpha: f64) -> Option<String> {
    let benefit = efficiency.money.net_benefit.as_ref()?;
    let currency = efficiency.money.currency?;
    let mean = benefit.mean.as_ref()?;
    let money = |value: &Rational| if value.is_zero() { "0".to_owned() } else { amount(value, currency) };
    let limits = benefit.interval.as_ref().ok().and_then(|(lower, upper)| {
        Some(format!(" ({} to {})", money(&rational::from_f64(*lower)?), money(&rational::from_f64(*upper)?)))
    });
    let worth = amount(&benefit.value_per_lift, currency);
    let part = if efficiency.money.is_complete() { "" } else { "; over the measured pairs only" };
    Some(format!(
        "{} a run{}, {}, when one more passed run is worth {}{part}",
        money(mean),
        limits.unwrap_or_default(),
        p_text(benefit.test.p_two_sided, alpha),
        worth.trim_start_matches('+'),
    ))
}

pub(super) fn amount(mean: &Rational, currency: Currency) -> String {
    let rounded = rational::round_half_even(mean, DECIMALS);
    let text = format!("{rounded:.*}", DECIMALS as usize);
    match Decimal::from_str_exact(&text) {
        Ok(amount) if amount.is_zero() => money_difference(Decimal::new(1, DECIMALS), currency),
        Ok(amount) => money_difference(amount, currency),
        // beyond what an exact amount can hold: digits alone
        Err(_) => format!("{} {text}", currency.code()),
    }
}
