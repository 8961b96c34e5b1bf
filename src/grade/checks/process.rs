//! Checks of what the agent did: skills, commands, tools.

use super::{Evidence, Finding};
use crate::suite::Check;

pub(super) fn evaluate(_check: &Check, _evidence: &mut Evidence<'_, '_>) -> Finding {
    Finding::unsupported()
}
