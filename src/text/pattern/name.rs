//! Names and numbers inside of patterns: identifiers, group numbers, character names.

use super::alias::ALIASES;
use crate::python::strip;
use crate::unicode::{is_assigned, is_digit};

/// Python's `str.isidentifier`.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = |character| character == '_' || (unicode_ident::is_xid_start(character) && is_assigned(character));
    // Four characters joined the property after Unicode 14.0.
    let newer = |character| matches!(character, '\u{200c}' | '\u{200d}' | '\u{30fb}' | '\u{ff65}');
    let continues =
        |character| unicode_ident::is_xid_continue(character) && is_assigned(character) && !newer(character);
    characters.next().is_some_and(starts) && characters.all(continues)
}

/// Python's `int(text)` for a number that is not negative, `None` for everything else; saturates.
///
/// White space around it, a plus sign, single underscores between digits and the digits of every script are allowed.
pub(super) fn decimal(text: &str, max_digits: usize) -> Option<u64> {
    let trimmed = strip(text);
    let (negative, digits) = match trimmed.strip_prefix(['+', '-']) {
        Some(digits) => (trimmed.starts_with('-'), digits),
        None => (false, trimmed),
    };
    let mut number = 0_u64;
    let mut count = 0;
    let mut after_digit = false;
    for character in digits.chars() {
        if character == '_' && after_digit {
            after_digit = false;
            continue;
        }
        number = number.saturating_mul(10).saturating_add(digit_value(character)?);
        count += 1;
        after_digit = true;
    }
    (after_digit && count <= max_digits && (!negative || number == 0)).then_some(number)
}

/// The value of a decimal digit: digits stand in runs of ten, and runs that touch are whole.
fn digit_value(character: char) -> Option<u64> {
    if !is_digit(character) {
        return None;
    }
    let code = u32::from(character);
    let before =
        (1..).take_while(|&distance| code.checked_sub(distance).and_then(char::from_u32).is_some_and(is_digit)).count();
    u64::try_from(before % 10).ok()
}

/// The character of a `\N{name}`, as `unicodedata.lookup` finds it.
///
/// Letters may be lower case, except in the names that are made by rule (Hangul syllables, CJK ideographs).
pub(super) fn character_named(name: &str) -> Option<char> {
    if !name.is_ascii() {
        return None;
    }
    if let Some(character) = alias(&name.to_ascii_uppercase()) {
        return Some(character);
    }
    // The crate ignores spaces, hyphens and underscores; Python does not, so the name has to come back as it went in.
    let character = unicode_names2::character(name).filter(|&character| is_assigned(character))?;
    let canonical = unicode_names2::name(character)?.to_string();
    let by_rule = ["HANGUL SYLLABLE ", "CJK UNIFIED IDEOGRAPH-"].iter().any(|prefix| canonical.starts_with(prefix));
    let same = if by_rule { canonical == name } else { canonical.eq_ignore_ascii_case(name) };
    same.then_some(character)
}

fn alias(name: &str) -> Option<char> {
    if let Ok(index) = ALIASES.binary_search_by(|&(alias, _)| alias.cmp(name)) {
        return ALIASES.get(index).and_then(|&(_, code)| char::from_u32(code));
    }
    // VS1 to VS16 are at U+FE00, VS17 to VS256 at U+E0100.
    let digits = name.strip_prefix("VS").filter(|digits| !digits.starts_with(['0', '+']))?;
    match digits.parse::<u32>() {
        Ok(number @ 1..=16) => char::from_u32(0xfe00 + number - 1),
        Ok(number @ 17..=256) => char::from_u32(0xe0100 + number - 17),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_may_be_of_any_script() {
        for name in ["a", "_1", "é2", "日本"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "1a", "a-b", "a b", "\u{301}", "a\u{200d}", "a\u{30fb}"] {
            assert!(!is_identifier(name), "{name}");
        }
    }

    #[test]
    fn group_numbers_are_read_as_int_reads_them() {
        let rows = [
            ("1", Some(1)),
            (" 12\n", Some(12)),
            ("+3", Some(3)),
            ("-0", Some(0)),
            ("-1", None),
            ("1_0", Some(10)),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("+ 1", None),
            ("", None),
            ("\u{661}\u{662}", Some(12)),
            ("\u{1d7d9}\u{1d7ff}", Some(19)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("²", None),
        ];
        for (text, number) in rows {
            assert_eq!(decimal(text, 4_300), number, "{text:?}");
        }
        assert_eq!(decimal("0001", 3), None);
    }

    #[test]
    fn character_names_are_exact_but_for_case() {
        let rows = [
            ("BULLET", Some('•')),
            ("bullet", Some('•')),
            ("BULL ET", None),
            ("EM DASH", Some('—')),
            ("EM-DASH", None),
            ("NULL", Some('\0')),
            ("line feed", Some('\n')),
            ("LINEFEED", None),
            ("VS17", Some('\u{e0100}')),
            ("VS017", None),
            ("HANGUL SYLLABLE GAG", Some('각')),
            ("hangul syllable gag", None),
            ("CJK UNIFIED IDEOGRAPH-4E00", Some('一')),
            ("CJK UNIFIED IDEOGRAPH-4e00", None),
            ("SHAKING FACE", None),
            ("HANGUL JUNGSEONG O-E", Some('\u{1180}')),
            ("HANGUL JUNGSEONG OE", Some('\u{116c}')),
            ("", None),
        ];
        for (name, character) in rows {
            assert_eq!(character_named(name), character, "{name}");
        }
    }
}
