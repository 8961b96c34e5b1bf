//! White space and line ends as Python's `str` methods understand them.

use std::borrow::Cow;

/// Whether Python's `str.isspace` (and `\s` of its `re`) counts `character` as white space.
///
/// That is the Unicode property White_Space plus U+001C..U+001F, which `char::is_whitespace` lacks.
#[must_use]
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// `str.strip()`: `text` without the white space at both ends.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.lstrip()`: `text` without the white space in front.
#[must_use]
pub fn strip_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// `str.rstrip()`: `text` without the white space at its end.
#[must_use]
pub fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// `str.splitlines()`: the lines of `text` without their line ends.
///
/// A line ends at `\n`, `\r\n`, `\r`, U+000B, U+000C, U+001C..U+001E, U+0085, U+2028 or U+2029; a line end at the
/// very end of the text opens no further, empty line.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((start, length)) = find_line_end(rest) else {
            return Some(std::mem::take(&mut rest));
        };
        let line = &rest[..start];
        rest = &rest[start + length..];
        Some(line)
    })
}

/// Byte offset and byte length of the first line end of `text`.
fn find_line_end(text: &str) -> Option<(usize, usize)> {
    let (start, found) = text.char_indices().find(|&(_, character)| is_line_end(character))?;
    let length = if text[start..].starts_with("\r\n") { 2 } else { found.len_utf8() };
    Some((start, length))
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Text as Python's text mode reads it: `\r\n` and a lone `\r` become `\n`.
///
/// Borrows when the text holds no `\r`.
#[must_use]
pub fn universal_newlines(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut normalized = String::with_capacity(text.len());
    let mut parts = text.split('\r');
    normalized.push_str(parts.next().unwrap_or_default());
    for part in parts {
        normalized.push('\n');
        normalized.push_str(part.strip_prefix('\n').unwrap_or(part));
    }
    Cow::Owned(normalized)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_the_set_of_python() {
        let members: Vec<u32> =
            (0..=0x10ffff).filter_map(char::from_u32).filter(|&character| is_space(character)).map(u32::from).collect();
        let mut expected: Vec<u32> = Vec::new();
        expected.extend(0x09..=0x0d);
        expected.extend(0x1c..=0x20);
        expected.extend([0x85, 0xa0, 0x1680]);
        expected.extend(0x2000..=0x200a);
        expected.extend([0x2028, 0x2029, 0x202f, 0x205f, 0x3000]);
        assert_eq!(members, expected);
    }

    #[test]
    fn stripping_takes_the_separators_too() {
        assert_eq!(strip("\u{1c} a b\u{3000}\n"), "a b");
        assert_eq!(strip_start("\u{a0}a "), "a ");
        assert_eq!(strip_end(" a\u{2029}"), " a");
        assert_eq!(strip("\u{200b}a"), "\u{200b}a");
        assert_eq!(strip(" \t "), "");
    }

    #[test]
    fn lines_end_where_splitlines_ends_them() {
        let lines = |text| split_lines(text).collect::<Vec<_>>();
        assert_eq!(lines(""), Vec::<&str>::new());
        assert_eq!(lines("a\r\nb\rc\n"), ["a", "b", "c"]);
        assert_eq!(lines("\n\na"), ["", "", "a"]);
        assert_eq!(lines("a\n\r"), ["a", ""]);
        assert_eq!(
            lines("a\u{b}b\u{c}c\u{1c}d\u{1d}e\u{1e}f\u{85}g\u{2028}h\u{2029}i\u{1f}j"),
            ["a", "b", "c", "d", "e", "f", "g", "h", "i\u{1f}j"]
        );
    }

    #[test]
    fn newlines_become_line_feeds() {
        assert_eq!(universal_newlines("a\r\nb\rc\n\r\r\n"), "a\nb\nc\n\n\n");
        assert!(matches!(universal_newlines("a\nb"), Cow::Borrowed("a\nb")));
        assert_eq!(universal_newlines("\r"), "\n");
    }
}
