//! Rates, counts and differences as tools write them, read exactly.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use skill_lift_stats::rational::{Rational, parse_decimal};

use super::model::{Unmeasured, half_step};
use super::note::cut;
use crate::json::Item;

/// The longest number that is read, in bytes: no measurement has more digits, and exact ones cost time.
const LONGEST_NUMBER: usize = 64;

/// The most assertions that a run is believed to have. Exact means of rates over larger, unrelated totals would take
/// for ever.
pub(super) const MOST_ASSERTIONS: u64 = 10_000;

/// The most decimal places that a written number is credited with.
const MOST_DECIMALS: u32 = 400;

/// What stands where a rate is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Figure {
    /// A share of 0 to 1, with its decimal places.
    Share(Rational, u32),
    /// Passed of a total that is not 0.
    Counts(u64, u64),
    /// `null`.
    Null,
    /// Anything else, as it was written.
    Unreadable(String),
}

/// Reads a rate: a number from 0 to 1, `"p%"` or `"a/b"`.
pub(super) fn rate(item: Item<'_, '_>) -> Figure {
    if item.is_null() {
        return Figure::Null;
    }
    let figure = match (item.as_number(), item.as_str()) {
        (Some(number), _) => share(number.text(), 0),
        (_, Some(text)) => rate_text(text.trim()),
        _ => None,
    };
    figure.unwrap_or_else(|| Figure::Unreadable(cut(&shown(item))))
}

fn rate_text(text: &str) -> Option<Figure> {
    if let Some(percent) = text.strip_suffix('%') {
        return share(percent.trim_end(), 2);
    }
    let (passed, total) = fraction(text)?;
    Some(Figure::Counts(passed, total))
}

/// A fraction of two counts, the first not above the second, which is neither 0 nor beyond reason.
fn fraction(text: &str) -> Option<(u64, u64)> {
    let (passed, total) = text.split_once('/')?;
    let count = |text: &str| {
        let text = text.trim();
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten()
    };
    let (passed, total) = (count(passed)?, count(total)?);
    (total > 0 && passed <= total && total <= MOST_ASSERTIONS).then_some((passed, total))
}

/// A number that is a share of 1 after the decimal point went `places` to the left.
fn share(text: &str, places: u32) -> Option<Figure> {
    let (value, decimals) = decimal(text)?;
    let value = value / BigInt::from(10).pow(places);
    (!value.is_negative() && value <= Rational::one()).then(|| Figure::Share(value, decimals + places))
}

/// The exact value of a decimal number, and its decimal places.
pub(super) fn decimal(text: &str) -> Option<(Rational, u32)> {
    if text.len() > LONGEST_NUMBER {
        return None;
    }
    let value = parse_decimal(text)?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let written = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let places = i64::try_from(written).ok()? - exponent.parse::<i64>().ok()?;
    Some((value, u32::try_from(places.max(0)).ok()?.min(MOST_DECIMALS)))
}

/// What a value looks like in a note.
pub(super) fn shown(item: Item<'_, '_>) -> String {
    item.as_str().map_or_else(|| cut(item.text()), |text| text.into_owned())
}

/// A count: a whole number that is not negative.
pub(super) fn count(item: Item<'_, '_>) -> Option<u64> {
    item.as_number().filter(|number| number.is_integer())?.text().parse().ok()
}

/// A counted pass: a count, or `"a/b"`, which states the total as well.
pub(super) fn passed(item: Item<'_, '_>) -> Option<(u64, Option<u64>)> {
    match count(item) {
        Some(passed) => Some((passed, None)),
        None => fraction(item.as_str()?.trim()).map(|(passed, total)| (passed, Some(total))),
    }
}

/// A measurement: a positive number.
pub(super) fn measurement(item: Item<'_, '_>) -> Result<Rational, Unmeasured> {
    if item.is_null() {
        return Err(Unmeasured::Absent);
    }
    let number = item.as_number().ok_or(Unmeasured::Unreadable)?;
    let (value, _) = decimal(number.text()).ok_or(Unmeasured::Unreadable)?;
    if value.is_zero() {
        Err(Unmeasured::Zero)
    } else if value.is_negative() {
        Err(Unmeasured::Unreadable)
    } else {
        Ok(value)
    }
}

/// A published difference of rates, taken apart to compare it with a recomputed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaText {
    /// The value, as a share of 1.
    pub value: Rational,
    /// Decimal places of the value.
    pub decimals: u32,
}

impl DeltaText {
    /// Reads `+0.38`, `+38pp`, `+50.0%` or `+0.354 (+54.8%)`; `None` for what is no difference of rates.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let first = match text.split_once('(') {
            Some((first, rest)) if rest.ends_with(')') => first.trim_end(),
            Some(_) => return None,
            None => text,
        };
        let (digits, places) = match first.strip_suffix("pp").or_else(|| first.strip_suffix('%')) {
            Some(digits) => (digits.trim_end(), 2),
            None => (first, 0),
        };
        let digits = digits.replacen('\u{2212}', "-", 1);
        let (value, decimals) = decimal(&digits)?;
        let value = value / BigInt::from(10).pow(places);
        (value.abs() <= Rational::one()).then_some(Self { value, decimals: decimals + places })
    }

    /// Whether the difference is what a recomputed one gives when it is rounded to the same places, give or take
    /// `rounding` that is in the rates themselves.
    pub fn agrees(&self, recomputed: &Rational, rounding: &Rational) -> bool {
        // who writes all digits of a double has its errors in them
        let step = half_step(self.decimals.min(DIGITS_OF_A_DOUBLE));
        (&self.value - recomputed).abs() <= step + rounding
    }
}

/// Decimals of a difference of doubles that are free of rounding errors.
const DIGITS_OF_A_DOUBLE: u32 = 12;

#[cfg(test)]
mod tests {
    use skill_lift_stats::rational;

    use super::*;
    use crate::json::{Limits, Tape};

    fn read(json: &str) -> Figure {
        rate(Tape::read(json, Limits::SIDECAR).unwrap().root())
    }

    #[test]
    fn rates_are_shares_percentages_or_fractions() {
        assert_eq!(read("0.875"), Figure::Share(rational::rate(7, 8), 3));
        assert_eq!(read("1"), Figure::Share(rational::rate(1, 1), 0));
        assert_eq!(read("5e-1"), Figure::Share(rational::rate(1, 2), 1));
        assert_eq!(read("\"100%\""), Figure::Share(rational::rate(1, 1), 2));
        assert_eq!(read("\" 62.5 % \""), Figure::Share(rational::rate(5, 8), 3));
        assert_eq!(read("\"7/8\""), Figure::Counts(7, 8));
        assert_eq!(read("null"), Figure::Null);
    }

    #[test]
    fn anything_else_is_no_rate() {
        let long = format!("0.{}", "1".repeat(100));
        for text in [
            "1.01",
            "-0.1",
            "100",
            "\"0.5\"",
            "\"N/A\"",
            "\"9/8\"",
            "\"0/0\"",
            "\"-1/2\"",
            "\"+1/2\"",
            "\"101%\"",
            "\"%\"",
            "true",
            "[]",
            "{}",
            "\"\"",
            "\"6/6 (100%)\"",
            "\"/\"",
            &long,
        ] {
            assert!(matches!(read(text), Figure::Unreadable(_)), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn measurements_are_positive() {
        let read = |json: &str| measurement(Tape::read(json, Limits::SIDECAR).unwrap().root());
        assert_eq!(read("1.5"), Ok(rational::rate(3, 2)));
        assert_eq!(read("0"), Err(Unmeasured::Zero));
        assert_eq!(read("0.0"), Err(Unmeasured::Zero));
        assert_eq!(read("-3"), Err(Unmeasured::Unreadable));
        assert_eq!(read("\"3\""), Err(Unmeasured::Unreadable));
        assert_eq!(read("null"), Err(Unmeasured::Absent));
    }

    #[test]
    fn published_differences_are_compared_as_they_are_rounded() {
        let agrees = |text: &str, passed, total| {
            DeltaText::parse(text).unwrap().agrees(&rational::rate(passed, total), &Rational::zero())
        };
        // 23/60 is 0.3833…
        for text in ["+0.38", "+38pp", "+38.3%", "0.383", "+0.383 (+54.8%)"] {
            assert!(agrees(text, 23, 60), "{text}");
        }
        for text in ["+0.39", "\u{2212}0.38", "+0.384"] {
            assert!(!agrees(text, 23, 60), "{text}");
        }
        for text in ["+57.5s (+35.0%)", "-37215", "much", "", "+0.3 (", "%"] {
            assert_eq!(DeltaText::parse(text), None, "{text}");
        }
    }
}
