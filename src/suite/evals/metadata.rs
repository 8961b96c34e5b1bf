//! The assertions of a metadata file, for trees that have no suite.

use super::collect;
use crate::json::Node;
use crate::suite::environment::Patterns;
use crate::suite::model::Assertion;

/// The assertions of an `eval_metadata.json`. Nothing is refused: what cannot be used as a check is left to a judge, and
/// what is no assertion at all is left out.
pub fn assertions_of(document: &Node<'_>) -> Vec<Assertion> {
    let patterns = Patterns::default();
    collect::assertions(document, &[], &patterns, &mut |_, _| {})
}
