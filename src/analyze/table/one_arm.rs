//! The frame `one_arm` as typed rows, and the pass rates without them.

use polars::prelude::*;

use super::{PassRate, Run};
use crate::frame::schema::one_arm as column;
use crate::suite::one_arm::OneArm;
use crate::suite::{AssertionType, Severity, TypeGroup};

/// An assertion of a scored run that decides its pass rate and that only one arm of the lift can satisfy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneArmOutcome {
    /// Index of the run.
    pub run: usize,
    /// Its label.
    pub name: String,
    /// Its type.
    pub assertion_type: AssertionType,
    /// Whether its failure makes every rate zero.
    pub is_critical: bool,
    /// Why only one arm can satisfy it.
    pub reason: OneArm,
    /// Whether it holds.
    pub passed: bool,
}

pub(super) fn read(frame: &DataFrame) -> Result<Vec<OneArmOutcome>, PolarsError> {
    let text = |name: &str| -> Result<StringChunked, PolarsError> { Ok(frame.column(name)?.str()?.clone()) };
    let (run, passed) = (frame.column(column::RUN)?.u32()?, frame.column(column::PASSED)?.bool()?);
    let (name, assertion_type, severity) = (text(column::NAME)?, text(column::TYPE)?, text(column::SEVERITY)?);
    let reason = text(column::REASON)?;
    let outcome = |row: usize| {
        Some(OneArmOutcome {
            run: run.get(row)? as usize,
            name: name.get(row)?.to_owned(),
            assertion_type: AssertionType::from_word(assertion_type.get(row)?)?,
            is_critical: severity.get(row)? == Severity::Critical.word(),
            reason: OneArm::from_code(reason.get(row)?)?,
            passed: passed.get(row)?,
        })
    };
    let read: Vec<OneArmOutcome> = (0..frame.height()).filter_map(outcome).collect();
    if read.len() == frame.height() {
        return Ok(read);
    }
    Err(PolarsError::SchemaMismatch("a row of the frame of one-armed assertions has an unknown word".into()))
}

/// Takes the assertions that only one arm can satisfy out of what is compared.
pub(super) fn take_out(outcomes: &[OneArmOutcome], runs: &mut [Run]) {
    for of_run in outcomes.chunk_by(|a, b| a.run == b.run) {
        let Some(run) = of_run.first().and_then(|outcome| runs.get_mut(outcome.run)) else {
            continue;
        };
        let counts = |outcome: &&OneArmOutcome| outcome.assertion_type.group() != TypeGroup::Qualitative;
        let passed = of_run.iter().filter(counts).filter(|outcome| outcome.passed).count() as u32;
        let total = of_run.iter().filter(counts).count() as u32;
        let vetoes = of_run.iter().filter(|outcome| outcome.is_critical && !outcome.passed).count();
        let vetoed = run.critical_failures.len() > vetoes;
        let rest = run.objective.map(|rate| PassRate {
            passed: rate.passed.saturating_sub(passed),
            total: rate.total.saturating_sub(total),
            vetoed,
        });
        // as in the rate of all checks, a veto makes it zero even when nothing else counts
        run.compared = rest.filter(|rate| rate.total > 0 || rate.vetoed);
    }
}
