//! What several skills add up to, in words: the same on a terminal and in the review page.

use skill_lift_stats::{Rational, Withheld, rational};

use super::numbers::{interval, points};
use super::quantities::{money_sum, sum, tokens};
use super::words;
use crate::analyze::several::SeveralSkills;
use crate::analyze::telemetry::Totals;

/// The mean lift over the skills, or why there is none.
pub(super) fn mean_sentence(several: &SeveralSkills, alpha: &Rational) -> String {
    match &several.mean {
        Ok(mean) => {
            let estimate = rational::from_f64(mean.mean).map_or_else(String::new, |mean| points(&mean));
            let spread = rational::from_f64(mean.tau()).map_or_else(String::new, |tau| points(&tau));
            let limits = interval(mean.lower.max(-1.0), mean.upper.min(1.0));
            let name = words::interval_name_of(rational::to_f64(alpha));
            format!(
                "Mean lift over the skills {estimate}, {name} {limits}. The lifts of skills differ by about {} \
                 (standard deviation).",
                spread.trim_start_matches('+')
            )
        }
        Err(Withheld::TooFewSkills) => {
            "No mean over skills: fewer than two of them have a lift with an interval.".to_owned()
        }
        Err(reason) => format!("No mean over skills: {}.", reason.as_str()),
    }
}

/// What runs used together.
pub(super) struct Spent {
    /// Money of each currency; never added up over currencies.
    pub(super) money: String,
    pub(super) tokens: String,
}

/// What runs used together, or what is known of it.
pub(super) fn spent(totals: &Totals) -> Spent {
    Spent { money: money_sum(&totals.money), tokens: sum(&totals.total_tokens, tokens) }
}
