//! Where a figure stands whose evidence is incomplete: in its place, with what is incomplete beside it, or only as observed.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::compat::Significance;
use super::ordered::Ordered;
use crate::analyze::Analysis;
use crate::analyze::completeness::IncompleteReason;
use crate::analyze::pairing::Diagnostics;

/// Whether the evidence of a block is complete, and what follows where it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    reason: Option<&'static str>,
    strict: bool,
}

impl Standing {
    /// Of a block over some pairs of an analysis.
    pub(super) fn of_pairs(analysis: &Analysis, pairs: &Diagnostics) -> Self {
        let pairing = (pairs.blocked > 0).then_some(IncompleteReason::IncompletePairing.code());
        Self { reason: pairing.or(general(analysis)), strict: analysis.strict_evidence }
    }

    /// Of a block over runs of one arm, of which `blocked` are not scored.
    pub(super) fn of_runs(analysis: &Analysis, blocked: usize) -> Self {
        let unscored = (blocked > 0).then_some("unscorable_arm");
        Self { reason: unscored.or(general(analysis)), strict: analysis.strict_evidence }
    }

    /// Whether figures may not stand in their place.
    pub(super) fn withholds(self) -> bool {
        self.strict && self.reason.is_some()
    }

    /// Writes a figure in its place, or null when it is withheld.
    pub(super) fn entry<M: SerializeMap>(self, map: &mut M, key: &str, value: &impl Serialize) -> Result<(), M::Error> {
        if self.withholds() { map.serialize_entry(key, &()) } else { map.serialize_entry(key, value) }
    }

    /// Writes a figure beside its place when the evidence is incomplete.
    pub(super) fn observed<M: SerializeMap>(
        self,
        map: &mut M,
        key: &str,
        value: &impl Serialize,
    ) -> Result<(), M::Error> {
        if self.reason.is_none() { Ok(()) } else { map.serialize_entry(&format!("observed_{key}"), value) }
    }

    /// Writes figures in their place, whether all evidence for them is there, and the figures beside their place.
    pub(super) fn figures<M: SerializeMap, const N: usize>(
        self,
        map: &mut M,
        figures: [(&str, Option<f64>); N],
    ) -> Result<(), M::Error> {
        for (key, value) in &figures {
            self.entry(map, key, value)?;
        }
        self.state(map)?;
        figures.iter().try_for_each(|(key, value)| self.observed(map, key, value))
    }

    /// The same for figures by k; an empty object stands for what is withheld.
    pub(super) fn maps<M: SerializeMap, const N: usize>(
        self,
        map: &mut M,
        figures: [(&str, &Ordered<f64>); N],
    ) -> Result<(), M::Error> {
        for (key, values) in figures {
            if self.withholds() {
                map.serialize_entry(key, &Ordered::<f64>(Vec::new()))?;
            } else {
                map.serialize_entry(key, values)?;
            }
        }
        figures.iter().try_for_each(|(key, values)| self.observed(map, key, values))
    }

    /// The same for a test.
    pub(super) fn test<M: SerializeMap>(self, map: &mut M, test: &Significance) -> Result<(), M::Error> {
        self.test_in_place(map, test)?;
        self.observed(map, "significance", test)
    }

    /// Writes a test in its place, or that there is none.
    pub(super) fn test_in_place<M: SerializeMap>(self, map: &mut M, test: &Significance) -> Result<(), M::Error> {
        match self.reason.filter(|_| self.strict) {
            Some(reason) => map.serialize_entry("significance", &Significance::unavailable(reason)),
            None => map.serialize_entry("significance", test),
        }
    }

    /// Writes `availability`, and `reason` where it is not complete.
    pub(super) fn state<M: SerializeMap>(self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("availability", if self.reason.is_none() { "complete" } else { "partial" })?;
        self.reason.map_or(Ok(()), |reason| map.serialize_entry("reason", reason))
    }
}

/// What makes every block of a report incomplete, whichever pairs it rests on.
fn general(analysis: &Analysis) -> Option<&'static str> {
    let of_pairs = [IncompleteReason::IncompletePairing, IncompleteReason::NothingGraded];
    analysis.incomplete_reasons.iter().find(|reason| !of_pairs.contains(reason)).map(|reason| reason.code())
}
