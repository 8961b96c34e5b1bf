//! What the reports of a history say together about the lift, however often somebody looked: a bet on every case when it is
//! first seen. Running the same cases again is no new look, whatever it shows.

use std::collections::BTreeSet;

use skill_lift_stats::betting::{BettingEvidence, betting_evidence};
use skill_lift_stats::{Rational, Withheld};

use super::Report;
use crate::analyze::inference::Unit;
use crate::analyze::report_units::ReportUnits;

/// A report as a look at the lift.
#[derive(Debug)]
pub struct Look {
    /// The name of its file.
    pub label: String,
    /// Units with a lift that no earlier report has.
    pub new_units: usize,
    /// Units that an earlier one has.
    pub repeated_units: usize,
    /// Units that were seen so far.
    pub units: usize,
    /// The evidence of all of them against a lift of 0.
    pub evidence: Result<BettingEvidence, Withheld>,
}

/// The looks of a history.
#[derive(Debug, Default)]
pub struct Looks {
    looks: Vec<Look>,
    seen: BTreeSet<String>,
    has_families: bool,
    /// Of every unit the lift in the first report that has it.
    deltas: Vec<Rational>,
}

impl Looks {
    /// Adds the next report.
    pub(super) fn add(&mut self, report: &Report) {
        let units = ReportUnits::of_rows(&report.side.claims.rows, &report.design);
        self.has_families |= units.unit == Unit::Family;
        let (rates, _) = units.rates();
        let before = self.deltas.len();
        for unit in &rates {
            if self.seen.insert(unit.name.clone()) {
                self.deltas.push(unit.delta());
            }
        }
        let new_units = self.deltas.len() - before;
        let evidence = match self.looks.last() {
            Some(last) if new_units == 0 => last.evidence,
            _ => betting_evidence(&self.deltas),
        };
        self.looks.push(Look {
            label: report.side.label.clone(),
            new_units,
            repeated_units: rates.len() - new_units,
            units: self.deltas.len(),
            evidence,
        });
    }

    /// One a report, the earliest first.
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Different units with a lift.
    pub fn units(&self) -> usize {
        self.deltas.len()
    }

    /// What is counted.
    pub fn unit(&self) -> Unit {
        if self.has_families { Unit::Family } else { Unit::Case }
    }

    /// Reports with units that an earlier one has.
    pub fn repeating_reports(&self) -> usize {
        self.looks.iter().filter(|look| look.repeated_units > 0).count()
    }
}
