//! The score with the suite's weights, beside the raw rate.

use std::collections::HashSet;

use num_traits::Zero;
use skill_lift_stats::rational::{self, Rational};

use crate::runs::skill_eval::{RunRecord, Scoring, SuiteGlance};

/// One run's score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedScore {
    /// Weighted mean of the rates of both groups of assertions; an empty group does not count.
    pub score: Rational,
    /// Whether it reaches the suite's pass mark, if there is one.
    pub meets_threshold: Option<bool>,
}

impl WeightedScore {
    /// The score of a run whose verdicts are complete. An assertion that both groups have counts as a common one.
    pub fn of(run: &RunRecord, suite: &SuiteGlance, common: &HashSet<&str>) -> Option<Self> {
        let scoring = suite.scoring.as_ref()?;
        run.strict_rate()?;
        let texts: Vec<&str> = if run.expectations.is_empty() {
            suite.eval(&run.place.eval_id)?.assertions.iter().map(String::as_str).collect()
        } else {
            run.expectations.iter().map(|expectation| expectation.text.as_str()).collect()
        };
        let verdicts: Vec<bool> = if run.reading.verdicts.is_empty() {
            run.expectations.iter().map(|expectation| expectation.passed).collect()
        } else {
            run.reading.verdicts.iter().flatten().map(|verdict| verdict.passed).collect()
        };
        if texts.len() != verdicts.len() {
            return None;
        }
        let judged = || texts.iter().zip(&verdicts);
        let rate = |is_common: bool| {
            let group = judged().filter(|(text, _)| common.contains(**text) == is_common);
            let (passed, total) =
                group.fold((0, 0), |(passed, total), (_, holds)| (passed + u64::from(*holds), total + 1));
            (total > 0).then(|| rational::rate(passed, total))
        };
        let score = combine(scoring, rate(true), rate(false))?;
        let meets_threshold = scoring.pass_threshold.as_ref().map(|threshold| score >= *threshold);
        Some(Self { score, meets_threshold })
    }
}

fn combine(scoring: &Scoring, common: Option<Rational>, own: Option<Rational>) -> Option<Rational> {
    let (mut sum, mut weights) = (Rational::zero(), Rational::zero());
    for (weight, rate) in [(&scoring.common_weight, common), (&scoring.own_weight, own)] {
        if let Some(rate) = rate {
            sum += weight * rate;
            weights += weight;
        }
    }
    if weights.is_zero() { None } else { Some(sum / weights) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(passed: u64, total: u64) -> Option<Rational> {
        Some(rational::rate(passed, total))
    }

    #[test]
    fn weights_are_renormalised_and_an_empty_group_is_dropped() {
        let weights = |common, own| Scoring {
            common_weight: rational::rate(common, 10),
            own_weight: rational::rate(own, 10),
            pass_threshold: None,
        };
        // 0.4 · 1/2 + 0.6 · 1 = 0.8
        assert_eq!(combine(&weights(4, 6), rate(1, 2), rate(2, 2)), rate(4, 5));
        // weights 2 and 6 are 1/4 and 3/4
        assert_eq!(combine(&weights(2, 6), rate(1, 1), rate(0, 3)), rate(1, 4));
        assert_eq!(combine(&weights(4, 6), None, rate(1, 3)), rate(1, 3));
        assert_eq!(combine(&weights(0, 6), rate(1, 1), None), None);
    }
}
