//! Character properties of Unicode 14.0, the version CPython 3.11 was built with.

mod after_14;

use after_14::ASSIGNED_AFTER_14;
use std::cmp::Ordering;
use unicode_general_category::{GeneralCategory, get_general_category};

/// Bytes that are looked at together for being ASCII.
const CHUNK: usize = 16;

/// The length of the ASCII text that `text` begins with.
pub(crate) fn ascii_length(text: &str) -> usize {
    let (chunks, _) = text.as_bytes().as_chunks::<CHUNK>();
    let sure = chunks.iter().take_while(|chunk| chunk.is_ascii()).count() * CHUNK;
    let rest = &text.as_bytes()[sure..];
    sure + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

/// The general category of `character` in Unicode 14.0.
///
/// One assigned character moved since then, U+1171E from Mn to Mc; nothing here tells marks apart.
pub(crate) fn category(character: char) -> GeneralCategory {
    if is_newer(character) { GeneralCategory::Unassigned } else { get_general_category(character) }
}

/// Whether Unicode 14.0 assigns `character`.
pub(crate) fn is_assigned(character: char) -> bool {
    category(character) != GeneralCategory::Unassigned
}

/// Whether Python's `str.isprintable` accepts `character`.
pub(crate) fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    !matches!(
        category(character),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}

/// Which ASCII characters are letters, digits or `_`.
const ASCII_WORD: [bool; 128] = {
    let mut table = [false; 128];
    let mut code = 0_u8;
    while code < 128 {
        table[code as usize] = code.is_ascii_alphanumeric() || code == b'_';
        code += 1;
    }
    table
};

/// Whether Python's `\w` matches `character`: a letter, a number or `_`.
pub(crate) fn is_word(character: char) -> bool {
    if let Some(is_word) = ASCII_WORD.get(character as usize) {
        return *is_word;
    }
    matches!(
        category(character),
        GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter
            | GeneralCategory::DecimalNumber
            | GeneralCategory::LetterNumber
            | GeneralCategory::OtherNumber
    )
}

/// Whether Python's `\d` matches `character`.
pub(crate) fn is_digit(character: char) -> bool {
    category(character) == GeneralCategory::DecimalNumber
}

/// Simple lower-casing as CPython's `re` does it: the first character of the full mapping, within Unicode 14.0.
pub(crate) fn simple_lower(code: u32) -> u32 {
    if let Some(byte) = ascii(code) {
        return byte.to_ascii_lowercase().into();
    }
    simple_case(code, |character| character.to_lowercase().next())
}

/// Simple upper-casing as CPython's `re` does it: the first character of the full mapping, within Unicode 14.0.
pub(crate) fn simple_upper(code: u32) -> u32 {
    if let Some(byte) = ascii(code) {
        return byte.to_ascii_uppercase().into();
    }
    simple_case(code, |character| character.to_uppercase().next())
}

fn ascii(code: u32) -> Option<u8> {
    u8::try_from(code).ok().filter(u8::is_ascii)
}

fn simple_case(code: u32, map: impl Fn(char) -> Option<char>) -> u32 {
    let Some(character) = char::from_u32(code) else { return code };
    match map(character) {
        // few characters have case: only of them it is asked whether they are in Unicode 14.0
        Some(mapped) if mapped != character && is_assigned(character) && is_assigned(mapped) => mapped.into(),
        _ => code,
    }
}

fn is_newer(character: char) -> bool {
    let code = u32::from(character);
    code >= 0x897 && in_ranges(ASSIGNED_AFTER_14, code)
}

/// Whether `code` lies in one of `ranges`: inclusive, ascending, not overlapping.
pub(crate) fn in_ranges(ranges: &[(u32, u32)], code: u32) -> bool {
    let order = |&(first, last): &(u32, u32)| {
        if last < code {
            Ordering::Less
        } else if first > code {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    };
    ranges.binary_search_by(order).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_ends_before_the_first_other_character() {
        for ascii in 0..40 {
            let text = format!("{}é and more ASCII after it", "x".repeat(ascii));
            assert_eq!(ascii_length(&text), ascii);
            assert_eq!(ascii_length(&text[..ascii]), ascii);
        }
    }

    #[test]
    fn properties_have_the_sizes_cpython_counts() {
        let mut counts = [0_u32; 4];
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let properties = [is_assigned, is_printable, is_word, is_digit];
            for (count, property) in counts.iter_mut().zip(properties) {
                *count += u32::from(property(character));
            }
        }
        // Counted with CPython 3.11.7 over every code point but the surrogates.
        assert_eq!(counts, [282_230, 144_516, 133_548, 660]);
    }

    #[test]
    fn case_pairs_newer_than_unicode_14_do_not_map() {
        // U+019B and U+0264 got capitals in Unicode 16.0, U+A7D3 and U+A7D5 later.
        for code in [0x19b, 0x264, 0xa7d3, 0xa7d5] {
            assert_eq!(simple_upper(code), code);
        }
        assert_eq!(simple_lower(0x130), 0x69);
        assert_eq!(simple_upper(0x149), 0x2bc);
        assert_eq!(simple_lower(0xd800), 0xd800);
    }
}
