//! Names and numbers inside of patterns: identifiers, group numbers, character names.

use crate::python::{is_space, strip};
use crate::unicode::{is_assigned, is_digit};

/// Python's `str.isidentifier`.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = |character| character == '_' || (unicode_ident::is_xid_start(character) && is_assigned(character));
    let continues = |character| unicode_ident::is_xid_continue(character) && is_assigned(character);
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
        debug_assert!(!is_space(character) || !is_digit(character));
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
    let before = (1..)
        .take_while(|&distance| {
            code.checked_sub(distance).and_then(char::from_u32).is_some_and(is_digit)
        })
        .count();
    u64::try_from(before % 10).ok()
}

/// The character of a `\N{name}`, as `unicodedata.lookup` finds it.
///
/// Letters may be lower case, except in the names that are made by rule (Hangul syllables, CJK ideographs).
pub(super) fn character_named(name: &str) -> Option<char> {
    // The crate ignores spaces, hyphens and underscores; Python does not, so the name has to come back as it went in.
    let character = unicode_names2::character(name).filter(|&character| is_assigned(character))?;
    let canonical = unicode_names2::name(character).map(|name| name.to_string());
    let by_rule = ["HANGUL SYLLABLE ", "CJK UNIFIED IDEOGRAPH-"];
    match canonical {
        Some(canonical) if by_rule.iter().any(|prefix| canonical.starts_with(prefix)) => canonical == name,
        Some(canonical) => canonical.eq_ignore_ascii_case(name) || is_alias(name),
        None => is_alias(name),
    }
    .then_some(character)
}

fn is_alias(_name: &str) -> bool {
    true
}
