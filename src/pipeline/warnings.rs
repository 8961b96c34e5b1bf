//! Warnings of a whole tree: all are counted, a few of each kind are kept.

use std::collections::BTreeMap;

use crate::runs::{RunWarning, WarningCode};

/// Warnings of one kind that are kept.
const KEPT: usize = 5;

/// The warnings of a tree.
#[derive(Debug, Default)]
pub struct WarningLog {
    by_code: BTreeMap<WarningCode, (usize, Vec<RunWarning>)>,
}

impl WarningLog {
    /// Adds a warning.
    pub fn push(&mut self, warning: RunWarning) {
        let (count, kept) = self.by_code.entry(warning.code).or_default();
        *count += 1;
        if kept.len() < KEPT {
            kept.push(warning);
        }
    }

    /// Adds several.
    pub fn extend(&mut self, warnings: impl IntoIterator<Item = RunWarning>) {
        warnings.into_iter().for_each(|warning| self.push(warning));
    }

    /// Kinds in a fixed order: code, number of warnings, the first few of them.
    pub fn kinds(&self) -> impl Iterator<Item = (WarningCode, usize, &[RunWarning])> {
        self.by_code.iter().map(|(code, (count, kept))| (*code, *count, kept.as_slice()))
    }

    /// Whether there is a warning that `--strict-layout` makes an error.
    pub fn has_layout_warning(&self) -> bool {
        self.by_code.keys().any(|code| code.is_layout())
    }
}
