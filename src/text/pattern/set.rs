//! Sets of code points as sorted ranges, and the sets behind `\d`, `\s` and `\w`.

use super::ast::CategoryKind;
use crate::python::is_space;
use crate::unicode::{in_ranges, is_digit, is_word};
use std::sync::OnceLock;

const LAST: u32 = char::MAX as u32;

/// A set of code points: inclusive ranges, ascending, neither touching nor overlapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CodeSet {
    ranges: Vec<(u32, u32)>,
    /// The members below U+0080, one bit each.
    ascii: u128,
}

impl CodeSet {
    pub(super) fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(previous) if first <= previous.1.saturating_add(1) => previous.1 = previous.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        let mut ascii = 0;
        for &(first, last) in &merged {
            for code in first..=last.min(127) {
                ascii |= 1 << code;
            }
        }
        Self { ranges: merged, ascii }
    }

    fn from_property(last: u32, property: impl Fn(char) -> bool) -> Self {
        let members = (0..=last).filter(|&code| char::from_u32(code).is_some_and(&property));
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for code in members {
            match ranges.last_mut() {
                Some(range) if range.1 + 1 == code => range.1 = code,
                _ => ranges.push((code, code)),
            }
        }
        Self::from_ranges(ranges)
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(super) fn contains(&self, code: u32) -> bool {
        if code < 128 {
            return self.ascii & (1 << code) != 0;
        }
        in_ranges(&self.ranges, code)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self::from_ranges(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    /// Every code point, surrogates included, that is not in the set.
    pub(super) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut start = 0;
        for &(first, last) in &self.ranges {
            if first > start {
                ranges.push((start, first - 1));
            }
            start = last + 1;
        }
        if start <= LAST {
            ranges.push((start, LAST));
        }
        Self::from_ranges(ranges)
    }

    /// The members that are not in `other`.
    pub(super) fn without(&self, other: &Self) -> Self {
        self.complement().union(other).complement()
    }
}

/// The members of `\d`, `\s` or `\w` under Unicode.
pub(super) fn unicode_category(kind: CategoryKind) -> &'static CodeSet {
    // The last code points of the properties in Unicode 14.0 are U+1FBF9, U+3000 and U+3134A.
    static DIGIT: OnceLock<CodeSet> = OnceLock::new();
    static SPACE: OnceLock<CodeSet> = OnceLock::new();
    static WORD: OnceLock<CodeSet> = OnceLock::new();
    match kind {
        CategoryKind::Digit => DIGIT.get_or_init(|| CodeSet::from_property(0x1_fbff, is_digit)),
        CategoryKind::Space => SPACE.get_or_init(|| CodeSet::from_property(0x3000, is_space)),
        CategoryKind::Word => WORD.get_or_init(|| CodeSet::from_property(0x3_13ff, is_word)),
    }
}

/// The members of `\d`, `\s` or `\w` under the ASCII flag.
pub(super) fn ascii_category(kind: CategoryKind) -> CodeSet {
    CodeSet::from_ranges(match kind {
        CategoryKind::Digit => vec![(0x30, 0x39)],
        CategoryKind::Space => vec![(0x09, 0x0d), (0x20, 0x20)],
        CategoryKind::Word => vec![(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(set: &CodeSet) -> u32 {
        set.ranges().iter().map(|&(first, last)| last - first + 1).sum()
    }

    #[test]
    fn categories_have_the_sizes_cpython_counts() {
        assert_eq!(size(unicode_category(CategoryKind::Digit)), 660);
        assert_eq!(size(unicode_category(CategoryKind::Space)), 29);
        assert_eq!(size(unicode_category(CategoryKind::Word)), 133_548);
    }

    #[test]
    fn sets_complement_and_subtract() {
        let set = CodeSet::from_ranges(vec![(5, 9), (0, 2), (3, 3), (200, 300), (250, 400)]);
        assert_eq!(set.ranges(), [(0, 3), (5, 9), (200, 400)]);
        assert_eq!(set.complement().ranges(), [(4, 4), (10, 199), (401, LAST)]);
        assert_eq!(set.complement().complement(), set);
        let odd = CodeSet::from_ranges(vec![(2, 6), (399, 500)]);
        assert_eq!(set.without(&odd).ranges(), [(0, 1), (7, 9), (200, 398)]);
        assert!(set.contains(0) && set.contains(400) && !set.contains(4) && !set.contains(401));
    }
}
