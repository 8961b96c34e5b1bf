//! Counts behind an exact p-value.

use num_bigint::BigUint;

/// Numbers of relabelings that are equally likely when the skill has no effect: sign patterns of the moved units
/// (2^moved), or labelings of the runs within their strata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelabelingCounts {
    /// All relabelings.
    pub total: BigUint,
    /// Relabelings with a sum at least as far from 0 as the observed one.
    pub two_sided: BigUint,
    /// Relabelings with a sum farther from 0 than the observed one.
    pub two_sided_strict: BigUint,
    /// Relabelings with a sum at or above the observed one.
    pub greater: BigUint,
    /// Relabelings with a sum at or below the observed one.
    pub less: BigUint,
    /// Relabelings with exactly the observed sum.
    pub equal: BigUint,
}
