//! What a run used, as it stands in its files: measurements that are there, or a reason why they are not.
//!
//! The wire form is schema version 3 of the telemetry of a run. Nothing that was not measured is a number here.

use std::borrow::Cow;
use std::sync::Arc;

use rust_decimal::Decimal;
use serde::ser::{Serialize, SerializeMap, Serializer};

pub mod wire;

/// The version of the telemetry schema that is read and written.
pub const SCHEMA_VERSION: u32 = 3;

/// Where a measurement comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// The provider stated it.
    ProviderReported,
    /// It was counted in the trace of the run.
    TraceNormalized,
    /// It was computed from counts and a table of prices.
    PriceTableEstimated,
    /// It was estimated.
    Estimated,
    /// It stands in a field that says nothing of its origin.
    LegacyUnverified,
}

impl Provenance {
    const ALL: [Self; 5] = [
        Self::ProviderReported,
        Self::TraceNormalized,
        Self::PriceTableEstimated,
        Self::Estimated,
        Self::LegacyUnverified,
    ];

    /// The code in files.
    pub fn code(self) -> &'static str {
        match self {
            Self::ProviderReported => "provider_reported",
            Self::TraceNormalized => "trace_normalized",
            Self::PriceTableEstimated => "price_table_estimated",
            Self::Estimated => "estimated",
            Self::LegacyUnverified => "legacy_unverified",
        }
    }

    /// The provenance of a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provenance| provenance.code() == code)
    }
}

/// Three capital letters, like `USD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// United States dollars.
    pub const USD: Self = Self(*b"USD");

    /// Reads a code; `None` when it is not three capital letters.
    pub fn parse(code: &str) -> Option<Self> {
        let letters: [u8; 3] = code.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_uppercase).then_some(Self(letters))
    }

    /// The code.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// An exact amount that is not negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Money {
    /// How much. Its number of decimals is that of the source.
    pub amount: Decimal,
    /// Of what.
    pub currency: Currency,
}

impl Money {
    /// Reads an amount in decimal or scientific notation; `None` when it is negative, no number, or has more digits than
    /// an exact amount can (28 significant ones, 28 decimals).
    pub fn parse(amount: &str, currency: Currency) -> Option<Self> {
        let amount = amount.trim();
        if !amount.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')) {
            return None;
        }
        let exact = Decimal::from_str_exact(amount).or_else(|_| Decimal::from_scientific(amount)).ok()?;
        // a negative zero is zero
        (!exact.is_sign_negative() || exact.is_zero()).then(|| Self { amount: exact.abs(), currency })
    }
}

/// Two exact numbers added, with the decimals of the more precise one; `None` beyond what an exact amount can hold.
pub fn add_exactly(left: Decimal, right: Decimal) -> Option<Decimal> {
    let mut sum = left.checked_add(right)?;
    sum.rescale(left.scale().max(right.scale()).max(sum.scale()));
    Some(sum)
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("amount", &self.amount.to_string())?;
        map.serialize_entry("currency", self.currency.code())?;
        map.end()
    }
}

/// What has to agree before two measurements may be added up or compared. `None`: the files do not say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Basis {
    /// What kind of run was measured, `answer` for most.
    pub population: Option<String>,
    /// Who was paid.
    pub provider: Option<String>,
    /// What ran the agent.
    pub runner: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What was billed, `run` for most.
    pub billing_scope: Option<String>,
    /// The model in the table of prices.
    pub pricing_model: Option<String>,
    /// The version of the table of prices.
    pub pricing_table_version: Option<String>,
    /// The version of the suite.
    pub manifest_revision: Option<String>,
    /// The digest of the skill that was offered.
    pub skill_tree_hash: Option<String>,
}

/// Why there is no value: a code, or what the file of a run says.
pub type Reason = Cow<'static, str>;

/// A value, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation<T> {
    /// It was measured; zero is a measured zero.
    Available {
        /// The value.
        value: T,
        /// Where it comes from.
        provenance: Provenance,
    },
    /// It was not observed.
    Unavailable(Reason),
    /// It cannot exist.
    NotApplicable(Reason),
}

/// An observation with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement<T> {
    /// The value, or why there is none.
    pub observation: Observation<T>,
    /// What it rests on.
    pub basis: Arc<Basis>,
}

impl<T> Measurement<T> {
    /// A value.
    pub fn available(value: T, provenance: Provenance, basis: &Arc<Basis>) -> Self {
        Self { observation: Observation::Available { value, provenance }, basis: Arc::clone(basis) }
    }

    /// Something that was not observed.
    pub fn unavailable(reason: impl Into<Reason>, basis: &Arc<Basis>) -> Self {
        Self { observation: Observation::Unavailable(reason.into()), basis: Arc::clone(basis) }
    }

    /// Something that cannot exist.
    pub fn not_applicable(reason: impl Into<Reason>, basis: &Arc<Basis>) -> Self {
        Self { observation: Observation::NotApplicable(reason.into()), basis: Arc::clone(basis) }
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match &self.observation {
            Observation::Available { value, .. } => Some(value),
            Observation::Unavailable(_) | Observation::NotApplicable(_) => None,
        }
    }

    /// Where the value comes from, if there is one.
    pub fn provenance(&self) -> Option<Provenance> {
        match &self.observation {
            Observation::Available { provenance, .. } => Some(*provenance),
            Observation::Unavailable(_) | Observation::NotApplicable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(text: &str) -> Option<String> {
        Money::parse(text, Currency::USD).map(|money| money.amount.to_string())
    }

    #[test]
    fn amounts_keep_their_decimals() {
        assert_eq!(money("0.030").as_deref(), Some("0.030"));
        assert_eq!(money("1e-05").as_deref(), Some("0.00001"));
        assert_eq!(money("1E+16").as_deref(), Some("10000000000000000"));
        assert_eq!(money("-0.0").as_deref(), Some("0.0"));
        for refused in ["", "-1", "1_0", "NaN", "inf", "1e300", "1e-30", "1e", "0x1", "1 2"] {
            assert_eq!(money(refused), None, "{refused}");
        }
    }

    #[test]
    fn sums_keep_the_decimals_of_the_more_precise_one() {
        let sum = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| Money::parse(text, Currency::USD).unwrap().amount);
            add_exactly(a, b).map(|sum| sum.to_string())
        };
        assert_eq!(sum("0.125", "0.125").as_deref(), Some("0.250"));
        assert_eq!(sum("0.00", "1.5").as_deref(), Some("1.50"));
        assert_eq!(sum("5", "0.0").as_deref(), Some("5.0"));
        assert_eq!(sum("79228162514264337593543950335", "1"), None);
    }

    #[test]
    fn currencies_are_three_capital_letters() {
        assert_eq!(Currency::parse("EUR").map(|currency| currency.code().to_owned()).as_deref(), Some("EUR"));
        for refused in ["usd", "US", "USDT", "ÄB", "U1D"] {
            assert_eq!(Currency::parse(refused), None, "{refused}");
        }
    }

    #[test]
    fn provenance_codes_read_back() {
        for provenance in Provenance::ALL {
            assert_eq!(Provenance::from_code(provenance.code()), Some(provenance));
        }
        assert_eq!(Provenance::from_code("missing"), None);
    }
}
