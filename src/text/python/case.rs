//! Lower-casing and case folding as Python's `str` does them.

use crate::unicode::{ascii_length, is_assigned};
use icu_casemap::CaseMapper;
use std::borrow::Cow;

/// Python's `str.lower()`: full lower-casing, final sigma included.
///
/// Borrows when an ASCII text holds no capital.
#[must_use]
pub fn lower(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return lower_ascii(text);
    }
    let mut lowered = String::with_capacity(text.len());
    map_runs(text, &mut lowered, |run| Cow::Owned(run.to_lowercase()));
    Cow::Owned(lowered)
}

/// Python's `str.casefold()`: full, locale-free case folding (`Straße` becomes `strasse`).
///
/// Borrows when an ASCII text holds no capital.
#[must_use]
pub fn casefold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return lower_ascii(text);
    }
    let mapper = CaseMapper::new();
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    // folding knows no context, so that the ASCII stretches of a text need no table
    while !rest.is_empty() {
        let (ascii, after) = rest.split_at(ascii_length(rest));
        let lowered = folded.len();
        folded.push_str(ascii);
        folded[lowered..].make_ascii_lowercase();
        let (other, after) = after.split_at(after.bytes().position(|byte| byte.is_ascii()).unwrap_or(after.len()));
        map_runs(other, &mut folded, |run| mapper.fold_string(run));
        rest = after;
    }
    Cow::Owned(folded)
}

fn lower_ascii(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Appends every run of characters that Unicode 14.0 assigns as `map` has it.
///
/// Newer characters stay as they are, and like all unassigned ones they end the context of a final sigma.
fn map_runs<'t>(text: &'t str, mapped: &mut String, map: impl Fn(&'t str) -> Cow<'t, str>) {
    let mut rest = text;
    while let Some((start, newer)) = rest.char_indices().find(|&(_, character)| !is_assigned(character)) {
        mapped.push_str(&map(&rest[..start]));
        mapped.push(newer);
        rest = &rest[start + newer.len_utf8()..];
    }
    if !rest.is_empty() {
        mapped.push_str(&map(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_casing_is_full_and_knows_the_final_sigma() {
        assert_eq!(lower("ABC Ä"), "abc ä");
        assert_eq!(lower("\u{130}"), "i\u{307}");
        assert_eq!(lower("ΣΑΣ Σ"), "σας σ");
        assert_eq!(lower("STRASSE ß ẞ"), "strasse ß ß");
        assert!(matches!(lower("plain"), Cow::Borrowed("plain")));
        assert_eq!(lower("Plain"), "plain");
    }

    #[test]
    fn folding_expands() {
        assert_eq!(casefold("Straße ẞ"), "strasse ss");
        assert_eq!(casefold("ﬁ ŉ ΐ"), "fi \u{2bc}n \u{3b9}\u{308}\u{301}");
        assert_eq!(casefold("ΣΑΣ"), "σασ");
        assert_eq!(casefold("\u{130}I\u{131}"), "i\u{307}i\u{131}");
        assert!(matches!(casefold("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn characters_newer_than_unicode_14_have_no_case() {
        // U+A7CB came with Unicode 16.0 as the capital of U+0264.
        assert_eq!(lower("A\u{a7cb}Σ"), "a\u{a7cb}σ");
        assert_eq!(casefold("A\u{a7cb}B"), "a\u{a7cb}b");
    }
}
