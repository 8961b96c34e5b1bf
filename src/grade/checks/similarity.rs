//! `similarity`: the answer is similar to a text.

use super::{Evidence, Finding};
use crate::suite::TextMatching;
use crate::suite::check::SimilarityMode;

/// What an answer is compared with.
pub(super) struct Operand<'c> {
    pub(super) expected: &'c str,
    pub(super) artifact: Option<&'c str>,
    pub(super) autojunk: bool,
}

pub(super) fn similarity(
    _operand: Operand<'_>,
    _threshold: f64,
    _mode: SimilarityMode,
    _matching: TextMatching,
    _evidence: &mut Evidence<'_, '_>,
) -> Finding {
    Finding::unsupported()
}
