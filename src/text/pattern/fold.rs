//! Ignore-case equivalence as CPython's `re` has it.
//!
//! Two characters are the same when their lower-case forms are the same or have the same full upper-case form.

use super::set::CodeSet;
use crate::unicode::{simple_lower, simple_upper};
use std::collections::HashMap;
use std::sync::OnceLock;

/// No cased character lies beyond in Unicode 14.0 (the last one is U+1E943).
const LAST_CASED: u32 = 0x1_e9ff;

/// How case is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folding {
    Ascii,
    Unicode,
}

struct Tables {
    /// Characters that are not their own lower case, with it.
    lowered: Vec<(u32, u32)>,
    /// The same characters as a set.
    capitals: CodeSet,
    /// Characters that are not their own upper case, with it.
    raised: Vec<(u32, u32)>,
    /// Lower-case characters with the capitals that become them.
    by_lower: HashMap<u32, Vec<u32>>,
    /// Lower-case characters with the others that share their full upper case.
    siblings: HashMap<u32, Vec<u32>>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let pairs = |map: fn(u32) -> u32| -> Vec<(u32, u32)> {
            (0..=LAST_CASED).map(|code| (code, map(code))).filter(|(code, mapped)| code != mapped).collect()
        };
        let lowered = pairs(simple_lower);
        let raised = pairs(simple_upper);
        let capitals = CodeSet::from_ranges(lowered.iter().map(|&(code, _)| (code, code)).collect());
        // A character that shares its upper case with another one is raised, or is that upper case.
        let mut by_capital: HashMap<Vec<char>, Vec<u32>> = HashMap::new();
        for code in raised.iter().map(|&(code, _)| code).filter(|&code| simple_lower(code) == code) {
            if let Some(character) = char::from_u32(code) {
                by_capital.entry(character.to_uppercase().collect()).or_default().push(code);
            }
        }
        let mut siblings = HashMap::new();
        for codes in by_capital.into_values().filter(|codes| codes.len() > 1) {
            for &code in &codes {
                siblings.insert(code, codes.iter().copied().filter(|&other| other != code).collect());
            }
        }
        let mut by_lower: HashMap<u32, Vec<u32>> = HashMap::new();
        for &(code, lower) in &lowered {
            by_lower.entry(lower).or_default().push(code);
        }
        Tables { lowered, capitals, raised, by_lower, siblings }
    })
}

impl Folding {
    /// The lower case of a code point.
    pub(super) fn lower(self, code: u32) -> u32 {
        match self {
            Self::Ascii if (0x41..=0x5a).contains(&code) => code + 0x20,
            Self::Ascii => code,
            Self::Unicode => simple_lower(code),
        }
    }

    /// Whether a code point has case.
    pub(super) fn is_cased(self, code: u32) -> bool {
        match self {
            Self::Ascii => u8::try_from(code).is_ok_and(|byte| byte.is_ascii_alphabetic()),
            Self::Unicode => simple_lower(code) != code || simple_upper(code) != code,
        }
    }

    /// Lower-case code points that count as the same as the lower-case `code`.
    fn siblings(self, code: u32) -> &'static [u32] {
        match self {
            Self::Ascii => &[],
            Self::Unicode => tables().siblings.get(&code).map_or(&[], Vec::as_slice),
        }
    }

    /// Adds the lower case of `code` and what counts as the same to `ranges`.
    pub(super) fn push_lowered(self, code: u32, ranges: &mut Vec<(u32, u32)>) {
        let lower = self.lower(code);
        ranges.push((lower, lower));
        ranges.extend(self.siblings(lower).iter().map(|&sibling| (sibling, sibling)));
    }

    /// The code points whose lower case is in `lowered`.
    pub(super) fn unlowered(self, lowered: &CodeSet) -> CodeSet {
        match self {
            Self::Ascii => {
                let capitals = (0x41..=0x5a).filter(|&code| lowered.contains(code + 0x20)).map(|code| (code, code));
                lowered
                    .without(&CodeSet::from_ranges(vec![(0x41, 0x5a)]))
                    .union(&CodeSet::from_ranges(capitals.collect()))
            }
            Self::Unicode => {
                let members = tables().lowered.iter().filter(|&&(_, lower)| lowered.contains(lower));
                let members = CodeSet::from_ranges(members.map(|&(code, _)| (code, code)).collect());
                lowered.without(&tables().capitals).union(&members)
            }
        }
    }

    /// The code points that match a cased literal.
    pub(super) fn literal(self, code: u32) -> CodeSet {
        let mut ranges = Vec::new();
        self.push_lowered(code, &mut ranges);
        if self == Self::Ascii {
            return self.unlowered(&CodeSet::from_ranges(ranges));
        }
        // a lower-case character is never itself a capital, so that nothing has to be taken away
        let capitals = |&(code, _): &(u32, u32)| tables().by_lower.get(&code).map_or(&[][..], Vec::as_slice);
        let added: Vec<u32> = ranges.iter().flat_map(capitals).copied().collect();
        ranges.extend(added.into_iter().map(|code| (code, code)));
        CodeSet::from_ranges(ranges)
    }
}

/// The code points whose upper case lies in the range.
pub(super) fn raised_into(first: u32, last: u32) -> impl Iterator<Item = u32> {
    tables().raised.iter().filter(move |(_, upper)| (first..=last).contains(upper)).map(|&(code, _)| code)
}

/// The code points of a range up to U+FFFF that have case under Unicode.
pub(super) fn cased_within(first: u32, last: u32) -> impl Iterator<Item = u32> {
    (first..=last.min(LAST_CASED)).filter(|&code| Folding::Unicode.is_cased(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equivalents(code: u32) -> Vec<u32> {
        let set = Folding::Unicode.literal(code);
        set.ranges().iter().flat_map(|&(first, last)| first..=last).collect()
    }

    #[test]
    fn characters_match_what_cpython_matches() {
        assert_eq!(equivalents(0x69), [0x49, 0x69, 0x130, 0x131]);
        assert_eq!(equivalents(0x130), [0x49, 0x69, 0x130, 0x131]);
        assert_eq!(equivalents(0x53), [0x53, 0x73, 0x17f]);
        assert_eq!(equivalents(0x6b), [0x4b, 0x6b, 0x212a]);
        assert_eq!(equivalents(0xb5), [0xb5, 0x39c, 0x3bc]);
        assert_eq!(equivalents(0x3c3), [0x3a3, 0x3c2, 0x3c3]);
        assert_eq!(equivalents(0xfb05), [0xfb05, 0xfb06]);
        assert_eq!(equivalents(0xdf), [0xdf, 0x1e9e]);
        assert_eq!(equivalents(0x10400), [0x10400, 0x10428]);
    }

    #[test]
    fn there_are_fifty_extra_cases() {
        assert_eq!(tables().siblings.len(), 50);
        assert_eq!(tables().siblings[&0x3b9], [0x345, 0x1fbe]);
    }

    #[test]
    fn ascii_folding_stays_within_ascii() {
        assert_eq!(Folding::Ascii.literal(0x6b).ranges(), [(0x4b, 0x4b), (0x6b, 0x6b)]);
        assert!(!Folding::Ascii.is_cased(0xe9));
    }
}
