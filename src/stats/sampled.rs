//! A p-value estimated from random draws, with limits for the p that all draws would give.
//!
//! The crate itself counts and never draws; this is for tests made elsewhere.

use crate::proportion::{ShareInterval, clopper_pearson};
use crate::rational::{Rational, from_f64};
use crate::withheld::Withheld;

/// Two-sided error rate of the limits.
const LIMITS_ALPHA: f64 = 0.001;

/// A sampled p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledP {
    /// Draws at least as extreme as the observation.
    pub hits: u64,
    /// All draws.
    pub draws: u64,
    /// (hits + 1)/(draws + 1), in 1/(draws + 1)..=1: the observation counts as a draw, which keeps the test valid
    /// (Phipson & Smyth 2010 *Stat. Appl. Genet. Mol. Biol.* 9:39).
    pub p: f64,
    /// Clopper–Pearson limits of the p of all possible draws, confidence 99.9 %.
    pub limits: ShareInterval,
}

/// What a sampled p says against a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SampledDecision {
    /// The true p is at or below the level.
    Significant,
    /// The true p is above the level.
    NotSignificant,
    /// The limits lie on both sides: more draws are needed.
    Undecided,
}

impl SampledDecision {
    /// The word written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Significant => "significant",
            Self::NotSignificant => "not_significant",
            Self::Undecided => "undecided",
        }
    }
}

/// The p of `hits` among `draws`.
///
/// # Errors
///
/// [`Withheld::ZeroDraws`] without draws, [`Withheld::InvalidCounts`] when `hits` exceeds `draws`.
pub fn sampled_p(hits: u64, draws: u64) -> Result<SampledP, Withheld> {
    if draws == 0 {
        return Err(Withheld::ZeroDraws);
    }
    let limits = clopper_pearson(hits, draws, LIMITS_ALPHA)?;
    Ok(SampledP { hits, draws, p: (hits as f64 + 1.0) / (draws as f64 + 1.0), limits })
}

impl SampledP {
    /// Decides against `alpha` only when both limits lie on one side of it, compared as rationals.
    #[must_use]
    pub fn decision(&self, alpha: &Rational) -> SampledDecision {
        let beyond = |limit: f64| from_f64(limit).is_none_or(|limit| limit > *alpha);
        match (beyond(self.limits.lower), beyond(self.limits.upper)) {
            (_, false) => SampledDecision::Significant,
            (true, true) => SampledDecision::NotSignificant,
            (false, true) => SampledDecision::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_counts_are_withheld() {
        assert_eq!(sampled_p(0, 0), Err(Withheld::ZeroDraws));
        assert_eq!(sampled_p(5, 4), Err(Withheld::InvalidCounts));
    }
}
