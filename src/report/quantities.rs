//! Money, tokens and time as people read them, and what stands for those that are not known.

use rust_decimal::{Decimal, RoundingStrategy};
use skill_lift_contract::telemetry::Currency;

use super::numbers::{count, counted, grouped};
use crate::analyze::telemetry::{Aggregate, AggregateState, Buckets};

/// U+2212, the minus sign.
const MINUS: char = '\u{2212}';

/// What stands for a value that was not measured.
pub const NOT_MEASURED: &str = "not measured";
/// What stands for a value that cannot exist.
const DOES_NOT_APPLY: &str = "does not apply";

/// An amount: `$0.035`, `$1.25`, `$1,250`, `EUR 0.120`, `<$0.001`.
pub fn money(amount: Decimal, currency: Currency) -> String {
    let sign = if currency == Currency::USD { "$".to_owned() } else { format!("{}\u{a0}", currency.code()) };
    if amount.is_zero() {
        return format!("{sign}0");
    }
    // would be shown as zero
    if amount <= Decimal::new(5, 4) {
        return format!("<{sign}0.001");
    }
    let decimals = match amount {
        amount if amount >= Decimal::ONE_HUNDRED => 0,
        amount if amount >= Decimal::ONE => 2,
        _ => 3,
    };
    let shown = amount.round_dp_with_strategy(decimals, RoundingStrategy::MidpointNearestEven);
    let text = format!("{shown:.*}", decimals as usize);
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    match rest {
        Some(rest) => format!("{sign}{}.{rest}", grouped(whole)),
        None => format!("{sign}{}", grouped(whole)),
    }
}

/// A difference of money with its sign.
pub fn money_difference(amount: Decimal, currency: Currency) -> String {
    signed(amount.is_zero(), amount.is_sign_negative(), money(amount.abs(), currency))
}

/// Tokens and other large counts: `2,890`, `27.4k`, `1.24M`.
pub fn tokens(number: u128) -> String {
    if number < 10_000 {
        return grouped(&number.to_string());
    }
    // three figures, and the next unit where they round up to a thousand
    for (unit, suffix) in [(1_000_u128, "k"), (1_000_000, "M"), (1_000_000_000, "G")] {
        for (decimals, scale) in [(2, 100_u128), (1, 10), (0, 1)] {
            let shown = divide_half_even(number.saturating_mul(scale), unit);
            if shown < 1_000 && (decimals == 2 || shown >= 100) {
                return format!("{:.*}{suffix}", decimals, shown as f64 / scale as f64);
            }
        }
    }
    format!("{}G", grouped(&divide_half_even(number, 1_000_000_000).to_string()))
}

/// A mean difference of tokens with its sign, rounded to whole ones.
pub fn token_difference(mean: f64) -> String {
    let whole = skill_lift_text::python::round_half_even(mean, 0);
    signed(whole == 0.0, whole < 0.0, tokens(whole.abs() as u128))
}

/// Milliseconds: `850 ms`, `6.8 s`, `2 min 49 s`, `1 h 12 min`.
pub fn time(milliseconds: f64) -> String {
    let round = |value: f64| skill_lift_text::python::round_half_even(value, 0);
    if round(milliseconds) < 1_000.0 {
        return format!("{:.0}\u{a0}ms", round(milliseconds));
    }
    let tenths = skill_lift_text::python::round_half_even(milliseconds / 1_000.0, 1);
    if tenths < 100.0 {
        return format!("{tenths:.1}\u{a0}s");
    }
    let seconds = round(milliseconds / 1_000.0) as u64;
    if seconds < 3_600 {
        return format!("{}\u{a0}min {}\u{a0}s", seconds / 60, seconds % 60);
    }
    let minutes = round(milliseconds / 60_000.0) as u64;
    format!("{}\u{a0}h {}\u{a0}min", grouped(&(minutes / 60).to_string()), minutes % 60)
}

/// A number of bytes in decimal units with three figures: `88.1 kB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1_000 {
        return format!("{bytes}\u{a0}B");
    }
    for (unit, suffix) in [(1_000_u128, "kB"), (1_000_000, "MB"), (1_000_000_000, "GB")] {
        for (decimals, scale) in [(2, 100_u128), (1, 10), (0, 1)] {
            let shown = divide_half_even(u128::from(bytes) * scale, unit);
            if shown < 1_000 {
                return format!("{:.*}\u{a0}{suffix}", decimals, shown as f64 / scale as f64);
            }
        }
    }
    format!("{}\u{a0}GB", grouped(&divide_half_even(bytes.into(), 1_000_000_000).to_string()))
}

/// A difference of milliseconds with its sign.
pub fn time_difference(milliseconds: f64) -> String {
    signed(milliseconds == 0.0, milliseconds < 0.0, time(milliseconds.abs()))
}

fn signed(is_zero: bool, is_negative: bool, size: String) -> String {
    match (is_zero, is_negative) {
        (true, _) => size,
        (false, true) => format!("{MINUS}{size}"),
        (false, false) => format!("+{size}"),
    }
}

fn divide_half_even(number: u128, by: u128) -> u128 {
    let (whole, rest) = (number / by, number % by);
    match (rest * 2).cmp(&by) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole % 2,
    }
}

/// A sum, or what is known of it: `at least $0.42 (12 of 18 runs measured)`.
pub fn sum<T: Copy>(aggregate: &Aggregate<T>, show: impl Fn(T) -> String) -> String {
    match aggregate.state {
        AggregateState::Complete(sum) => show(sum),
        AggregateState::Partial(known) => {
            let runs = aggregate.observed + aggregate.unavailable + aggregate.not_applicable;
            format!("at least {} ({} of {} runs measured)", show(known), count(aggregate.observed), count(runs))
        }
        AggregateState::NotApplicable => DOES_NOT_APPLY.to_owned(),
        AggregateState::Unavailable => match aggregate.reasons.first().map(|(reason, _)| reason.as_str()) {
            Some("basis_mismatch") => "not added up: measured in different ways".to_owned(),
            Some("currency_mismatch") => "in other currencies".to_owned(),
            Some("sum_too_large") => "too large to add up".to_owned(),
            _ => NOT_MEASURED.to_owned(),
        },
    }
}

/// A sum of money, one for each currency: amounts of two currencies are never added up.
pub fn money_sum(buckets: &Buckets) -> String {
    let of = |(currency, aggregate): (&Currency, &_)| sum(aggregate, |amount| money(amount, *currency));
    let known: Vec<String> = buckets.by_currency.iter().map(of).collect();
    match known.is_empty() {
        true => sum(&buckets.unknown, |amount| money(amount, Currency::USD)),
        false => known.join(" + "),
    }
}

/// Reasons of a sum that are named.
const REASONS: usize = 8;

/// Why a sum is not whole, for what is shown beside it: `missing cost usd (6 runs)`; empty when it is.
pub fn missing_of_sum<T>(aggregate: &Aggregate<T>) -> String {
    let reason = |(code, runs): &(String, usize)| {
        let (before, code) = match code.strip_prefix("not_applicable:") {
            Some(rest) => (format!("{DOES_NOT_APPLY}: "), rest),
            None => (String::new(), code.as_str()),
        };
        // whoever wrote the run chose the reason: what is no code is not repeated
        let is_code = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let code = if is_code && code.len() < 64 { code.replace('_', " ") } else { "another reason".to_owned() };
        format!("{before}{code} ({})", counted(*runs, "run", "runs"))
    };
    let mut named: Vec<String> = aggregate.reasons.iter().take(REASONS).map(reason).collect();
    if aggregate.reasons.len() > REASONS {
        named.push(format!("and {} more", count(aggregate.reasons.len() - REASONS)));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::from_str_exact(text).unwrap()
    }

    #[test]
    fn amounts() {
        let shown = |text: &str| money(decimal(text), Currency::USD);
        assert_eq!(shown("0.035"), "$0.035");
        assert_eq!(shown("0.0006"), "$0.001");
        assert_eq!(shown("0.0005"), "<$0.001");
        assert_eq!(shown("0"), "$0");
        assert_eq!(shown("1.005"), "$1.00");
        assert_eq!(shown("99.995"), "$100.00");
        assert_eq!(shown("1234.5"), "$1,234");
        assert_eq!(money(decimal("0.12"), Currency::parse("EUR").unwrap()), "EUR\u{a0}0.120");
        assert_eq!(money_difference(decimal("0.011"), Currency::USD), "+$0.011");
        assert_eq!(money_difference(decimal("-0.011"), Currency::USD), "\u{2212}$0.011");
        assert_eq!(money_difference(decimal("0.0"), Currency::USD), "$0");
    }

    #[test]
    fn large_counts_have_three_figures() {
        let cases = [
            (0, "0"),
            (2_890, "2,890"),
            (9_999, "9,999"),
            (10_000, "10.0k"),
            (27_350, "27.4k"),
            (274_499, "274k"),
            (999_499, "999k"),
            (999_500, "1.00M"),
            (1_240_000, "1.24M"),
            (123_400_000_000, "123G"),
            (1_234_000_000_000, "1,234G"),
        ];
        for (number, expected) in cases {
            assert_eq!(tokens(number), expected, "{number}");
        }
        assert_eq!(token_difference(2_889.5), "+2,890");
        assert_eq!(token_difference(-0.4), "0");
        assert_eq!(token_difference(-12_345.0), "\u{2212}12.3k");
    }

    #[test]
    fn times() {
        let cases = [
            (0.0, "0\u{a0}ms"),
            (850.4, "850\u{a0}ms"),
            (999.6, "1.0\u{a0}s"),
            (6_800.0, "6.8\u{a0}s"),
            (99_940.0, "99.9\u{a0}s"),
            (169_000.0, "2\u{a0}min 49\u{a0}s"),
            (4_320_000.0, "1\u{a0}h 12\u{a0}min"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(time(milliseconds), expected, "{milliseconds}");
        }
        assert_eq!(time_difference(-6_800.0), "\u{2212}6.8\u{a0}s");
    }

    #[test]
    fn a_sum_that_is_not_whole_says_what_is_missing() {
        let mut aggregate = Aggregate {
            state: AggregateState::Partial(420),
            observed: 12,
            unavailable: 5,
            not_applicable: 1,
            reasons: Vec::new(),
        };
        aggregate.reasons = vec![
            ("missing_cost_usd".to_owned(), 5),
            ("not_applicable:offline_runner".to_owned(), 1),
            ("<b>".to_owned(), 2),
        ];
        assert_eq!(sum(&aggregate, |amount: i64| format!("${amount}")), "at least $420 (12 of 18 runs measured)");
        assert_eq!(
            missing_of_sum(&aggregate),
            "missing cost usd (5 runs), does not apply: offline runner (1 run), another reason (2 runs)"
        );
    }
}
