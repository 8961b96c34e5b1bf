//! Numbers as people read them. One place, so that every output says the same.

use num_traits::{One, Signed, Zero};
use skill_lift_stats::rational::{self, Rational};

/// U+2212, the minus sign.
const MINUS: char = '\u{2212}';
/// Between a number and its unit.
const NO_BREAK_SPACE: char = '\u{a0}';

/// A rate in whole percent; exact 0 and 1 only as `0%` and `100%`.
pub fn percent(rate: &Rational) -> String {
    if rate.is_zero() {
        return "0%".to_owned();
    }
    if rate.is_one() {
        return "100%".to_owned();
    }
    let shown = rational::round_half_even(&(rate * hundred()), 0);
    if shown < 1.0 {
        "<1%".to_owned()
    } else if shown > 99.0 {
        ">99%".to_owned()
    } else {
        format!("{shown:.0}%")
    }
}

/// A difference of rates in percentage points with one decimal: `+21.5 pp`.
pub fn points(difference: &Rational) -> String {
    if difference.is_zero() {
        format!("0{NO_BREAK_SPACE}pp")
    } else {
        format!("{}{NO_BREAK_SPACE}pp", signed(difference, 1))
    }
}

/// A difference of rates in whole percentage points, one decimal below one point: `−8 pp`, `+0.4 pp`.
pub fn whole_points(difference: &Rational) -> String {
    if difference.is_zero() {
        return points(difference);
    }
    let below_one = (difference * hundred()).abs() < Rational::one();
    format!("{}{NO_BREAK_SPACE}pp", signed(difference, if below_one { 1 } else { 0 }))
}

/// The size of a lift without a sign: `13 pp`.
pub fn size_in_points(size: f64) -> String {
    let size = rational::from_f64(size).unwrap_or_else(Rational::zero);
    format!("{:.0}{NO_BREAK_SPACE}pp", rational::round_half_even(&(size * hundred()), 0))
}

/// The size of a lift without a sign, with one decimal: `12.8 pp`.
pub fn size_in_tenths(size: f64) -> String {
    let size = rational::from_f64(size).unwrap_or_else(Rational::zero);
    format!("{:.1}{NO_BREAK_SPACE}pp", rational::round_half_even(&(size * hundred()), 1))
}

/// A lift that somebody chose, with the decimals that it has, four at most: `10 pp`, `2.5 pp`.
pub fn chosen_size(size: &Rational) -> String {
    format!("{}{NO_BREAK_SPACE}pp", shortest(&(size * hundred()), 4))
}

/// A rate that somebody chose, with the decimals that it has, four at most: `80%`, `99.5%`.
pub fn chosen_percent(rate: &Rational) -> String {
    format!("{}%", shortest(&(rate * hundred()), 4))
}

fn shortest(value: &Rational, decimals: u32) -> String {
    let text = format!("{:.*}", decimals as usize, rational::round_half_even(value, decimals));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An interval in percentage points, the unit once: `+12.0 to +30.9 pp`.
pub fn interval(lower: f64, upper: f64) -> String {
    let end = |value: f64| {
        let value = rational::from_f64(value).unwrap_or_else(Rational::zero);
        if value.is_zero() { "0".to_owned() } else { signed(&value, 1) }
    };
    format!("{} to {}{NO_BREAK_SPACE}pp", end(lower), end(upper))
}

fn hundred() -> Rational {
    rational::rate(100, 1)
}

fn signed(difference: &Rational, decimals: u32) -> String {
    let shown = rational::round_half_even(&(difference * hundred()), decimals).abs();
    let sign = if difference.is_negative() { MINUS } else { '+' };
    format!("{sign}{shown:.*}", decimals as usize)
}

/// A p-value without `p =`: four decimals below 0.001, three below 0.1, else two; more where rounding would cross
/// `alpha`; never 0.
pub fn p_number(p: f64, alpha: f64) -> String {
    if p >= 1.0 {
        return "1".to_owned();
    }
    let mut decimals: usize = if p < 0.001 {
        4
    } else if p < 0.1 {
        3
    } else {
        2
    };
    loop {
        let text = format!("{p:.decimals$}");
        let shown: f64 = text.parse().unwrap_or(p);
        if decimals >= 12 || (shown <= alpha) == (p <= alpha) {
            return text;
        }
        decimals += 1;
    }
}

/// A p-value with its sign: `p = 0.048`, `p < 0.0001`.
pub fn p_text(p: f64, alpha: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {}", p_number(p, alpha)) }
}

/// A p-value in a table cell: `0.048`, `<0.0001`.
pub fn p_cell(p: f64, alpha: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { p_number(p, alpha) }
}

/// A count with thousands commas.
pub fn count(number: usize) -> String {
    grouped(&number.to_string())
}

/// Digits with thousands commas.
pub fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 case`, `24 cases`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rational {
        rational::parse_decimal(text).unwrap()
    }

    #[test]
    fn rates() {
        let cases =
            [("0", "0%"), ("0.004", "<1%"), ("0.005", "<1%"), ("0.56", "56%"), ("0.995", ">99%"), ("1", "100%")];
        for (value, expected) in cases {
            assert_eq!(percent(&rate(value)), expected, "{value}");
        }
        // half-even: 0.125 is 12 percent, 0.135 is 14
        assert_eq!(percent(&rate("0.125")), "12%");
        assert_eq!(percent(&rate("0.135")), "14%");
    }

    #[test]
    fn differences() {
        assert_eq!(points(&rate("0.215")), "+21.5\u{a0}pp");
        assert_eq!(points(&-rate("0.08")), "\u{2212}8.0\u{a0}pp");
        assert_eq!(points(&rate("0")), "0\u{a0}pp");
        assert_eq!(whole_points(&-rate("0.08")), "\u{2212}8\u{a0}pp");
        assert_eq!(whole_points(&rate("0.004")), "+0.4\u{a0}pp");
        assert_eq!(interval(0.12, 0.309), "+12.0 to +30.9\u{a0}pp");
        assert_eq!(interval(-0.02, 0.0), "\u{2212}2.0 to 0\u{a0}pp");
        assert_eq!(size_in_points(0.128), "13\u{a0}pp");
        assert_eq!(size_in_tenths(0.1284), "12.8\u{a0}pp");
        assert_eq!(chosen_size(&rate("0.10")), "10\u{a0}pp");
        assert_eq!(chosen_size(&rate("0.025")), "2.5\u{a0}pp");
        assert_eq!(chosen_percent(&rate("0.80")), "80%");
        assert_eq!(chosen_percent(&rate("0.995")), "99.5%");
    }

    #[test]
    fn p_values() {
        let alpha = 0.05;
        let cases = [
            (0.000_05, "p < 0.0001"),
            (0.000_12, "p = 0.0001"),
            (0.002_93, "p = 0.003"),
            (0.048, "p = 0.048"),
            (0.114, "p = 0.11"),
            (1.0, "p = 1"),
            // rounding to three decimals would say 0.050, on the wrong side
            (0.050_4, "p = 0.0504"),
        ];
        for (p, expected) in cases {
            assert_eq!(p_text(p, alpha), expected, "{p}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "case", "cases"), "1 case");
    }
}
