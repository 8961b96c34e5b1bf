//! The characters that a pattern tells apart, each class of equal ones as one byte.
//!
//! Two characters that are in the same sets of a pattern are the same to it. So a text becomes a sequence of bytes, one
//! a character, and the automaton needs neither UTF-8 nor tables of Unicode: it is small, quickly built, and a pattern
//! that ignores case is a plain string to it.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::node::Node;
use super::set::CodeSet;
use crate::unicode::ascii_length;

/// Ranges of a set, by which it is found again.
type Ranges = Vec<(u32, u32)>;

/// First code point after ASCII.
const AFTER_ASCII: u32 = 0x80;

/// First number after the code points.
const AFTER_LAST: u32 = char::MAX as u32 + 1;

/// Code points that no text holds.
const SURROGATES: RangeInclusive<u32> = 0xd800..=0xdfff;

/// Which byte stands for a character.
#[derive(Debug)]
pub(super) struct Alphabet {
    ascii: [u8; AFTER_ASCII as usize],
    /// From a code point on, ascending; the first one is the first after ASCII.
    beyond: Vec<(u32, u8)>,
}

/// The bytes that stand for the members of each set of a pattern.
#[derive(Debug)]
pub(super) struct Letters {
    of_set: HashMap<Ranges, Vec<u8>>,
}

/// The characters of one class.
struct Class {
    signature: Box<[u64]>,
    /// The last of its ASCII characters.
    ascii: Option<u8>,
}

impl Alphabet {
    /// The alphabet of `node`, in which the bytes that are ASCII word characters stand for the members of `word` and no
    /// others; `lines` keeps the newline apart, as itself. `None` when the pattern tells more characters apart than
    /// there are bytes.
    pub(super) fn of(node: &Node, word: Option<&CodeSet>, lines: bool) -> Option<(Self, Letters)> {
        let mut sets: Vec<Ranges> = Vec::new();
        collect(node, &mut sets);
        sets.extend(word.map(|word| word.ranges().to_vec()));
        sets.extend(lines.then(|| vec![(0x0a, 0x0a)]));
        sets.sort_unstable();
        sets.dedup();

        let Partition { segments, classes } = partition(&sets)?;
        let word_set = word.and_then(|word| sets.binary_search_by(|ranges| ranges.as_slice().cmp(word.ranges())).ok());
        let bytes = name(&classes, |class| word_set.map(|set| has_bit(&class.signature, set)))?;

        let mut ascii = [0; AFTER_ASCII as usize];
        let mut beyond = Vec::new();
        for (index, &(start, class)) in segments.iter().enumerate() {
            let end = segments.get(index + 1).map_or(u32::MAX, |&(next, _)| next);
            for code in start..end.min(AFTER_ASCII) {
                ascii[code as usize] = bytes[class];
            }
            if end > AFTER_ASCII {
                beyond.push((start.max(AFTER_ASCII), bytes[class]));
            }
        }
        let members = |set: usize| {
            let classes = classes.iter().zip(&bytes).filter(|(class, _)| has_bit(&class.signature, set));
            classes.map(|(_, byte)| *byte).collect::<Vec<u8>>()
        };
        let of_set = (0..sets.len()).map(members).collect::<Vec<_>>();
        Some((Self { ascii, beyond }, Letters { of_set: sets.into_iter().zip(of_set).collect() }))
    }

    /// One byte for each character of `text`.
    pub(super) fn translate(&self, text: &str) -> Vec<u8> {
        let mut symbols = Vec::with_capacity(text.len());
        let mut rest = text;
        loop {
            let (ascii, after) = rest.split_at(ascii_length(rest));
            symbols.extend(ascii.bytes().map(|byte| self.ascii[usize::from(byte)]));
            let Some(character) = after.chars().next() else {
                return symbols;
            };
            symbols.push(self.beyond_ascii(character));
            rest = &after[character.len_utf8()..];
        }
    }

    fn beyond_ascii(&self, character: char) -> u8 {
        let after = self.beyond.partition_point(|&(start, _)| start <= u32::from(character));
        self.beyond[after - 1].1
    }
}

impl Letters {
    /// The bytes that stand for the members of a set of the pattern.
    pub(super) fn of(&self, ranges: &[(u32, u32)]) -> &[u8] {
        self.of_set.get(ranges).map_or(&[], Vec::as_slice)
    }
}

fn collect(node: &Node, sets: &mut Vec<Ranges>) {
    match node {
        Node::Character(code) => sets.push(vec![(*code, *code)]),
        Node::Set(set) => sets.push(set.ranges().to_vec()),
        _ => node.children().into_iter().for_each(|child| collect(child, sets)),
    }
}

/// Sets beyond which a pattern is left to the other engine: a signature has a bit for each.
const MOST_SETS: usize = 4096;

/// The code points as a pattern tells them apart.
struct Partition {
    /// Segments from their start on, ascending, with the class of their members.
    segments: Vec<(u32, usize)>,
    classes: Vec<Class>,
}

/// The classes of the code points; `None` when there are more than bytes.
fn partition(sets: &[Ranges]) -> Option<Partition> {
    if sets.len() > MOST_SETS {
        return None;
    }
    // where a set begins or ends
    let mut cuts: Vec<(u32, usize)> = Vec::new();
    for (set, ranges) in sets.iter().enumerate() {
        cuts.extend(ranges.iter().flat_map(|&(first, last)| [(first, set), (last + 1, set)]));
    }
    cuts.sort_unstable();
    let mut signature = vec![0_u64; sets.len().div_ceil(64)];
    let mut known: HashMap<Box<[u64]>, usize> = HashMap::new();
    let mut classes: Vec<Class> = Vec::new();
    let mut segments: Vec<(u32, usize)> = Vec::new();
    let mut next = cuts.iter().peekable();
    let mut start = 0;
    loop {
        while let Some(&&(_, set)) = next.peek().filter(|&&&(at, _)| at == start) {
            signature[set / 64] ^= 1 << (set % 64);
            next.next();
        }
        let end = next.peek().map_or(AFTER_LAST, |&&(at, _)| at);
        // no text holds a surrogate
        if !(SURROGATES.contains(&start) && SURROGATES.contains(&(end - 1))) {
            let class = match known.get(signature.as_slice()) {
                Some(class) => *class,
                None if classes.len() > usize::from(u8::MAX) => return None,
                None => {
                    let signature: Box<[u64]> = signature.as_slice().into();
                    known.insert(signature.clone(), classes.len());
                    classes.push(Class { signature, ascii: None });
                    classes.len() - 1
                }
            };
            segments.push((start, class));
            if start < AFTER_ASCII {
                classes[class].ascii = u8::try_from(end.min(AFTER_ASCII) - 1).ok();
            }
        }
        if end == AFTER_LAST {
            return Some(Partition { segments, classes });
        }
        start = end;
    }
}

fn has_bit(signature: &[u64], set: usize) -> bool {
    signature[set / 64] & (1 << (set % 64)) != 0
}

/// A byte for each class: an ASCII character of its own where it has one, else one that nobody needs. `is_word` says
/// whether the byte has to be a word character, or not to be one, if that matters.
fn name(classes: &[Class], is_word: impl Fn(&Class) -> Option<bool>) -> Option<Vec<u8>> {
    let mut free = [true; 256];
    for byte in classes.iter().filter_map(|class| class.ascii) {
        free[usize::from(byte)] = false;
    }
    classes
        .iter()
        .map(|class| {
            class.ascii.or_else(|| {
                let wanted = is_word(class);
                let suits = |byte: &u8| {
                    let word = byte.is_ascii_alphanumeric() || *byte == b'_';
                    free[usize::from(*byte)] && wanted.is_none_or(|wanted| wanted == word)
                };
                // from the top: beyond ASCII first
                let byte = (0..=u8::MAX).rev().find(suits)?;
                free[usize::from(byte)] = false;
                Some(byte)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::ast::{CategoryKind, Flags};
    use super::super::set::unicode_category;
    use super::super::{parse, resolve};
    use super::*;

    fn alphabet(pattern: &str, boundaries: bool) -> Option<(Alphabet, Letters)> {
        let tree = resolve::resolve(&parse::parse(pattern, Flags::IGNORE_CASE).unwrap()).unwrap();
        Alphabet::of(&tree, boundaries.then(|| unicode_category(CategoryKind::Word)), false)
    }

    #[test]
    fn characters_that_a_pattern_does_not_tell_apart_are_one_byte() {
        let (alphabet, letters) = alphabet("Retry-é", false).unwrap();
        let bytes = alphabet.translate("RETRY retry -ÉéxX日");
        assert_eq!(bytes[..5], *b"retry");
        assert_eq!(bytes[6..11], *b"retry");
        assert_eq!(bytes[12], b'-');
        assert_eq!(bytes[13], bytes[14]);
        // the blank, `x`, `X` and the ideograph are all "something else"
        assert!([5, 11, 15, 16, 17].iter().all(|&at| bytes[at] == bytes[5]));
        assert_eq!(letters.of(&[(0xc9, 0xc9), (0xe9, 0xe9)]), [bytes[13]]);
        assert_eq!(letters.of(&[(0x2d, 0x2d)]), *b"-");
    }

    #[test]
    fn word_characters_are_word_bytes() {
        let (alphabet, _) = alphabet("\\bé[а-я]+", true).unwrap();
        let bytes = alphabet.translate("éя日²\u{301}—\u{a0}_");
        let is_word: Vec<bool> = bytes.iter().map(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').collect();
        assert_eq!(is_word, [true, true, true, true, false, false, false, true]);
        assert_eq!(bytes[2], bytes[3]);
    }

    #[test]
    fn there_are_only_so_many_bytes() {
        let many: String = (0..300).filter_map(|offset| char::from_u32(0x4e00 + offset)).collect();
        assert!(alphabet(&many, false).is_none());
        let far_too_many: String = (0..5_000).filter_map(|offset| char::from_u32(0x4e00 + offset)).collect();
        assert!(alphabet(&far_too_many, false).is_none());
        // of word characters there are fewer
        let some: String = many.chars().take(100).collect();
        assert!(alphabet(&some, false).is_some());
        assert!(alphabet(&some, true).is_none());
    }
}
