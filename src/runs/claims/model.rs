//! What a result file claims.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{One, Zero};
use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational::{Rational, rate};

use super::form::ClaimForm;
use super::note::{ClaimNote, NoteCode};
use crate::runs::Configuration;

/// The case of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseName {
    /// The id as text (`1` and `"1"` are the same), else the name, else `#` and the JSON pointer of the row.
    pub id: String,
    /// The name beside the id.
    pub name: Option<String>,
}

/// Why a row has no rate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotScored {
    /// A reason that runs have everywhere.
    Reason(UnscoredReason),
    /// The row says that it is no score, in a word that has no meaning here.
    Stated(String),
    /// The number of the repetition is none.
    InvalidRunNumber(String),
    /// No rate, no counts, no verdicts.
    RateMissing,
    /// A rate that is neither a share, a percentage nor a fraction.
    RateUnreadable(String),
}

impl NotScored {
    /// The code in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.code(),
            Self::Stated(_) => "stated_unscored",
            Self::InvalidRunNumber(_) => "invalid_run_number",
            Self::RateMissing => "rate_missing",
            Self::RateUnreadable(_) => "rate_unreadable",
        }
    }
}

impl fmt::Display for NotScored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stated(text) | Self::InvalidRunNumber(text) | Self::RateUnreadable(text) => {
                write!(f, "{} ({})", self.code(), skill_lift_text::screen::visible(text, false))
            }
            Self::Reason(_) | Self::RateMissing => f.write_str(self.code()),
        }
    }
}

/// The pass rate of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimedRate {
    /// Passed of graded assertions.
    Counts {
        /// Assertions that passed.
        passed: u64,
        /// Assertions that were graded; not 0.
        total: u64,
    },
    /// The rate is 0 because a critical assertion failed.
    Vetoed {
        /// Assertions that passed.
        passed: u64,
        /// Assertions that were graded.
        total: u64,
    },
    /// A share without counts, as it was written.
    Share {
        /// The value, 0 to 1.
        value: Rational,
        /// Decimal places of the value as it was written.
        decimals: u32,
    },
    /// There is none; the row is in no mean.
    Unscored(Vec<NotScored>),
}

impl ClaimedRate {
    /// The rate, 0 to 1.
    pub fn value(&self) -> Option<Rational> {
        match self {
            Self::Counts { passed, total } => Some(rate(*passed, *total)),
            Self::Vetoed { .. } => Some(Rational::zero()),
            Self::Share { value, .. } => Some(value.clone()),
            Self::Unscored(_) => None,
        }
    }

    /// Whether the row enters means.
    pub fn is_scored(&self) -> bool {
        !matches!(self, Self::Unscored(_))
    }

    /// Why there is no rate; empty if there is one.
    pub fn reasons(&self) -> &[NotScored] {
        match self {
            Self::Unscored(reasons) => reasons,
            _ => &[],
        }
    }

    /// How far the true rate may lie from the value because it was rounded; 0 for counts.
    ///
    /// Writers drop zeros at the end: `0.5` and `1` say no less than `0.50` and `1.00`, which is as coarse as tools round.
    pub fn rounding(&self) -> Rational {
        match self {
            Self::Share { decimals, .. } => half_step((*decimals).max(COARSEST_DECIMALS)),
            _ => Rational::zero(),
        }
    }
}

/// Decimal places that tools round rates to at least.
const COARSEST_DECIMALS: u32 = 2;

/// Half a unit of the last of some decimal places.
pub(super) fn half_step(decimals: u32) -> Rational {
    Rational::new(BigInt::one(), BigInt::from(10).pow(decimals) * 2)
}

/// A verdict of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedAssertion {
    /// What was checked.
    pub text: String,
    /// Id or name of the assertion.
    pub name: Option<String>,
    /// The verdict; only JSON booleans are verdicts.
    pub passed: Option<bool>,
    /// Whether it leaves every count because of what another check found.
    pub is_skipped: bool,
}

/// Why a measurement of a row is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmeasured {
    /// The row does not state it.
    Absent,
    /// 0, which tools write for what they did not measure.
    Zero,
    /// No positive number.
    Unreadable,
    /// The file states only the sum over its runs.
    Aggregated,
}

impl Unmeasured {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Zero => "zero",
            Self::Unreadable => "unreadable",
            Self::Aggregated => "aggregated",
        }
    }
}

/// One row: what the file says of one run.
#[derive(Debug, Clone)]
pub struct ClaimedRun {
    /// The case.
    pub case: CaseName,
    /// The arm; rows with the same name share it.
    pub configuration: Arc<Configuration>,
    /// The model of the row, else the one in the name of the arm.
    pub model: Option<String>,
    /// The effort setting of the model, where a report repeats what the runner recorded.
    pub effort: Option<String>,
    /// The repetition, from 1; 0 when it cannot be read.
    pub repetition: u32,
    /// Runs that the row is the mean of; 1 for a row of a run.
    pub runs: u32,
    /// The pass rate, or why there is none.
    pub rate: ClaimedRate,
    /// The verdicts.
    pub assertions: Vec<ClaimedAssertion>,
    /// Tokens of the run; a fraction where the row is a mean.
    pub tokens: Result<Rational, Unmeasured>,
    /// Milliseconds that the run took.
    pub duration_ms: Result<Rational, Unmeasured>,
    /// JSON pointer of the row.
    pub pointer: String,
}

/// A mean that a file states of an arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedAggregate {
    /// The arm.
    pub configuration: Configuration,
    /// The stated mean rate; `None` when it cannot be read.
    pub rate: Option<Rational>,
    /// Decimal places of the rate as it was written.
    pub decimals: u32,
    /// JSON pointer of the rate.
    pub pointer: String,
}

/// A difference that a file publishes, as it was written. It is compared for display and never data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedDelta {
    /// The metric; nested objects joined by dots.
    pub metric: String,
    /// The text, or the number as it was written.
    pub text: String,
    /// JSON pointer of the value.
    pub pointer: String,
}

/// A flag that a report put on a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaimedFlag {
    /// The case.
    pub case: String,
    /// The text of the flag.
    pub flag: String,
}

/// What a result file claims.
#[derive(Debug, Clone)]
pub struct Claims {
    /// How the file is laid out.
    pub form: ClaimForm,
    /// The skill, unless it is a placeholder.
    pub skill_name: Option<String>,
    /// The iteration that the rows are of.
    pub iteration: Option<u64>,
    /// The rows, in the order of the file.
    pub rows: Vec<ClaimedRun>,
    /// The differences that the file publishes.
    pub published_delta: Vec<PublishedDelta>,
    /// The means that the file states.
    pub aggregates: Vec<ClaimedAggregate>,
    /// Flags on cases.
    pub flags: Vec<ClaimedFlag>,
    /// What has to be equal for two files to be like for like: digests, models, options; by key path.
    pub blocks: BTreeMap<String, String>,
    /// What does not fit together, by code.
    pub notes: Vec<ClaimNote>,
}

impl Claims {
    /// The note with a code.
    pub fn note(&self, code: NoteCode) -> Option<&ClaimNote> {
        self.notes.iter().find(|note| note.code == code)
    }
}
