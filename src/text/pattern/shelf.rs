//! Compiled engines, kept only for the patterns that came into use last.
//!
//! An automaton with Unicode classes takes some hundred kilobytes. A suite of thousands of patterns is graded case by
//! case, so that few of them are in use at a time; the others would only fill memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::NeedsBacktracking;
use super::linear::Linear;
use super::necessary::Necessary;
use super::program::Program;

/// Patterns whose engines are kept. A case with more of them is still graded right, only more slowly.
const KEPT: usize = 128;

/// The engines of one pattern, each built when a search first needs it.
#[derive(Debug, Default)]
pub(super) struct Engines {
    pub(super) linear: OnceLock<Result<Linear, NeedsBacktracking>>,
    pub(super) necessary: OnceLock<Necessary>,
    pub(super) program: OnceLock<Program>,
}

type Slot = Mutex<Option<Arc<Engines>>>;

/// The place of a pattern's engines.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    slot: Arc<Slot>,
}

/// Places that hold engines, the oldest first.
static IN_USE: Mutex<VecDeque<Weak<Slot>>> = Mutex::new(VecDeque::new());

impl Shelf {
    /// The engines of the pattern. Whoever holds them keeps them, also when their place is cleared for newer ones.
    pub(super) fn engines(&self) -> Arc<Engines> {
        let fresh = {
            let mut slot = locked(&self.slot);
            if let Some(engines) = slot.as_ref() {
                return Arc::clone(engines);
            }
            Arc::clone(slot.insert(Arc::default()))
        };
        let oldest = {
            let mut in_use = locked(&IN_USE);
            in_use.push_back(Arc::downgrade(&self.slot));
            if in_use.len() > KEPT { in_use.pop_front() } else { None }
        };
        if let Some(slot) = oldest.and_then(|slot| slot.upgrade()) {
            locked(&slot).take();
        }
        fresh
    }
}

/// Nothing can be half-changed under these locks, so that a panic elsewhere leaves them usable.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use crate::pattern::{Pattern, Search};

    #[test]
    fn patterns_out_of_use_are_compiled_again_when_they_are_needed() {
        let patterns: Vec<Pattern> =
            (0..3 * super::KEPT).map(|number| Pattern::parse(&format!("token-{number}$"), true).unwrap()).collect();
        for _ in 0..2 {
            for (number, pattern) in patterns.iter().enumerate() {
                assert!(matches!(pattern.search(&format!("a TOKEN-{number}\n")), Search::Match(_)));
            }
        }
    }
}
