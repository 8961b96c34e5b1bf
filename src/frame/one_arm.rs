//! Building the frame of the assertions that only one arm can satisfy.

use polars::prelude::*;

use super::FrameError;
use super::schema::one_arm;
use crate::grade::GradedRun;
use crate::suite::one_arm::OneArm;

#[derive(Debug, Default)]
pub(super) struct OneArmColumns {
    run: Vec<u32>,
    name: Vec<String>,
    assertion_type: Vec<&'static str>,
    severity: Vec<&'static str>,
    reason: Vec<&'static str>,
    passed: Vec<bool>,
}

impl OneArmColumns {
    /// Adds the assertions of a scored run that stands in this row of `runs`.
    pub(super) fn push(&mut self, run: &GradedRun, row: usize) {
        if !run.is_scorable() {
            return;
        }
        for assertion in run.one_arm_rows() {
            self.run.push(u32::try_from(row).unwrap_or(u32::MAX));
            self.name.push(assertion.name.clone());
            self.assertion_type.push(assertion.assertion_type.word());
            self.severity.push(assertion.severity.word());
            self.reason.push(assertion.one_arm.map_or("", OneArm::code));
            self.passed.push(assertion.outcome.passed() == Some(true));
        }
    }

    pub(super) fn finish(self) -> Result<DataFrame, FrameError> {
        let height = self.run.len();
        let columns = vec![
            Column::new(one_arm::RUN.into(), self.run),
            Column::new(one_arm::NAME.into(), self.name),
            Column::new(one_arm::TYPE.into(), self.assertion_type),
            Column::new(one_arm::SEVERITY.into(), self.severity),
            Column::new(one_arm::REASON.into(), self.reason),
            Column::new(one_arm::PASSED.into(), self.passed),
        ];
        Ok(DataFrame::new(height, columns)?)
    }
}
