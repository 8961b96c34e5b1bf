//! The inputs of an example: text, read exactly.

use std::collections::BTreeMap;

use skill_lift_stats::Rational;
use skill_lift_stats::rational::{parse_decimal, to_f64};

/// The inputs that no function has taken yet.
pub struct Inputs(pub BTreeMap<String, String>);

impl Inputs {
    pub fn text(&mut self, name: &str) -> Result<String, String> {
        self.0.remove(name).ok_or_else(|| format!("{name} is missing"))
    }

    pub fn rational(&mut self, name: &str) -> Result<Rational, String> {
        rational(&self.text(name)?)
    }

    /// 0.05 unless the example says otherwise.
    pub fn alpha(&mut self) -> Result<Rational, String> {
        self.0.remove("alpha").map_or_else(|| rational("0.05"), |text| rational(&text))
    }

    /// Values apart by spaces; `1/5*3` is three times a fifth.
    pub fn rationals(&mut self, name: &str) -> Result<Vec<Rational>, String> {
        rationals(&self.text(name)?)
    }

    pub fn floats(&mut self, name: &str) -> Result<Vec<f64>, String> {
        Ok(self.rationals(name)?.iter().map(to_f64).collect())
    }

    pub fn counts(&mut self, name: &str) -> Result<Vec<u64>, String> {
        self.text(name)?.split(' ').map(|text| text.parse().map_err(|_| format!("{text} is no count"))).collect()
    }

    pub fn count(&mut self, name: &str) -> Result<u64, String> {
        self.counts(name)?.first().copied().ok_or_else(|| format!("{name} is empty"))
    }

    /// Lists apart by semicolons.
    pub fn groups(&mut self, name: &str) -> Result<Vec<Vec<Rational>>, String> {
        self.text(name)?.split("; ").map(rationals).collect()
    }
}

pub fn rational(text: &str) -> Result<Rational, String> {
    let parsed = match text.split_once('/') {
        Some((numerator, denominator)) => {
            let denominator = parse_decimal(denominator).filter(|it| *it != Rational::from_integer(0.into()));
            parse_decimal(numerator).zip(denominator).map(|(numerator, denominator)| numerator / denominator)
        }
        None => parse_decimal(text),
    };
    parsed.ok_or_else(|| format!("{text} is no number"))
}

fn rationals(text: &str) -> Result<Vec<Rational>, String> {
    let mut values = Vec::new();
    for word in text.split(' ') {
        let (value, times) = word.split_once('*').unwrap_or((word, "1"));
        let times: usize = times.parse().map_err(|_| format!("{times} is no count"))?;
        values.extend(std::iter::repeat_n(rational(value)?, times));
    }
    Ok(values)
}
