//! How often a skill was loaded by itself: where it should have been, and where it should not. The two are never put into
//! one number.

use std::collections::HashMap;

use skill_lift_stats::proportion::{ShareInterval, wilson};
use skill_lift_stats::{Rational, Withheld, rational};

use crate::runs::claims::{SavedTriggers, TriggerRun};

/// How often a skill was loaded by itself.
#[derive(Debug)]
pub struct TriggerRates {
    /// One for each agent and model, in the order of the file.
    pub cells: Vec<TriggerCell>,
    /// Different queries that should load it, and those that should not.
    pub queries: [usize; 2],
    /// The part that the skill lacked, if it lacked one.
    pub ablation: Option<String>,
    /// The error rate of the limits.
    pub alpha: Rational,
}

/// What an agent with a model did.
#[derive(Debug)]
pub struct TriggerCell {
    /// The agent.
    pub agent: Option<String>,
    /// Its model; `None` for its usual one.
    pub model: Option<String>,
    /// On queries that should load the skill.
    pub should: TriggerShare,
    /// On queries that should not.
    pub should_not: TriggerShare,
}

/// Runs in which the skill was loaded, of those that came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TriggerShare {
    /// Runs in which it was loaded.
    pub loaded: usize,
    /// Runs that came to an end.
    pub complete: usize,
    /// Runs that did not; they are in no share.
    pub incomplete: usize,
}

impl TriggerShare {
    fn add(&mut self, run: &TriggerRun) {
        match run.loaded {
            Some(loaded) => {
                self.complete += 1;
                self.loaded += usize::from(loaded);
            }
            None => self.incomplete += 1,
        }
    }

    /// The share; `None` when no run came to an end.
    pub fn rate(&self) -> Option<Rational> {
        (self.complete > 0).then(|| rational::rate(self.loaded as u64, self.complete as u64))
    }

    /// Wilson's limits of the share. Runs of one query are alike, so that they are too narrow rather than too wide.
    ///
    /// # Errors
    /// When no run came to an end.
    pub fn limits(&self, alpha: &Rational) -> Result<ShareInterval, Withheld> {
        wilson(self.loaded as u64, self.complete as u64, rational::to_f64(alpha))
    }
}

impl TriggerRates {
    /// Of a report of trigger runs.
    pub fn of(triggers: &SavedTriggers, alpha: &Rational) -> Self {
        let mut places: HashMap<(Option<&str>, Option<&str>), usize> = HashMap::new();
        let mut cells: Vec<TriggerCell> = Vec::new();
        let mut queries: HashMap<&str, bool> = HashMap::new();
        for run in &triggers.runs {
            let place = *places.entry((run.agent.as_deref(), run.model.as_deref())).or_insert_with(|| {
                let (should, should_not) = (TriggerShare::default(), TriggerShare::default());
                cells.push(TriggerCell { agent: run.agent.clone(), model: run.model.clone(), should, should_not });
                cells.len() - 1
            });
            let cell = &mut cells[place];
            if run.should_load {
                cell.should.add(run)
            } else {
                cell.should_not.add(run)
            }
            queries.insert(&run.query, run.should_load);
        }
        let should = queries.values().filter(|should| **should).count();
        Self {
            cells,
            queries: [should, queries.len() - should],
            ablation: triggers.ablation.clone(),
            alpha: alpha.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(model: &str, should_load: bool, loaded: Option<bool>) -> TriggerRun {
        let query = format!("query {should_load}");
        TriggerRun { agent: Some("a".to_owned()), model: Some(model.to_owned()), query, should_load, loaded }
    }

    #[test]
    fn each_kind_of_query_has_its_own_share_and_unfinished_runs_are_in_none() {
        let runs = vec![
            run("x", true, Some(true)),
            run("x", true, Some(false)),
            run("x", true, None),
            run("x", false, Some(true)),
            run("y", false, None),
        ];
        let triggers = SavedTriggers { skill_name: None, ablation: None, runs };
        let rates = TriggerRates::of(&triggers, &rational::rate(1, 20));
        let [x, y] = rates.cells.as_slice() else { panic!("{rates:?}") };
        assert_eq!(x.should, TriggerShare { loaded: 1, complete: 2, incomplete: 1 });
        assert_eq!(x.should_not, TriggerShare { loaded: 1, complete: 1, incomplete: 0 });
        assert_eq!((y.should.rate(), y.should_not.rate()), (None, None));
        assert_eq!((x.should.rate(), rates.queries), (Some(rational::rate(1, 2)), [1, 1]));
        // statsmodels: proportion_confint(1, 2, method="wilson") = 0.0945312, 0.9054688
        let limits = x.should.limits(&rates.alpha).unwrap();
        assert!((limits.lower - 0.094_531_2).abs() < 1e-6 && (limits.upper - 0.905_468_8).abs() < 1e-6, "{limits:?}");
        assert!(y.should.limits(&rates.alpha).is_err());
    }
}
