//! The keys of an object while it is read: whether one is there already, in constant time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Span;

/// A key and where it stands, quotes included.
pub(super) type Key<'a> = (Cow<'a, str>, Span);

/// Objects with this many members or more are checked for duplicates with a map, smaller ones by comparing.
const SMALL_OBJECT: usize = 32;

/// The keys of one object, as far as it has been read.
#[derive(Default)]
pub(super) struct Keys<'a> {
    /// A bit for each key; a key whose bit is not set is new.
    bits: u64,
    /// Where each key stands, once there are many.
    all: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Keys<'a> {
    /// Adds a key; where it stands among the `known` ones if it is one of them.
    #[expect(clippy::ptr_arg, reason = "a borrowed key is kept as borrowed")]
    pub(super) fn add(&mut self, key: &Cow<'a, str>, known: &[Key<'a>]) -> Option<usize> {
        let bytes = key.as_bytes();
        let ends = bytes.first().zip(bytes.last()).map_or(0, |(first, last)| u32::from(*first) * 7 + u32::from(*last));
        let bit = 1 << ((ends as usize + bytes.len() % 64 * 13) % 64);
        let is_new = self.bits & bit == 0;
        self.bits |= bit;
        if known.len() < SMALL_OBJECT {
            return if is_new { None } else { known.iter().position(|(other, _)| other == key) };
        }
        if self.all.is_empty() {
            self.all.extend(known.iter().enumerate().map(|(index, (key, _))| (key.clone(), index)));
        }
        match self.all.entry(key.clone()) {
            Entry::Occupied(place) => Some(*place.get()),
            Entry::Vacant(place) => {
                place.insert(known.len());
                None
            }
        }
    }
}
