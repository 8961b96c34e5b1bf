//! `repr` of strings and of lists of strings, as evidence texts show them.

use crate::unicode::is_printable;
use std::fmt::Write as _;

/// Python's `repr(text)`.
///
/// Single quotes unless the text holds `'` and no `"`; code points that Python 3.11 does not print are escaped as
/// `\xNN`, `\uNNNN` or `\UNNNNNNNN`.
#[must_use]
pub fn repr_str(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    push_repr(&mut written, text);
    written
}

/// Python's `repr` of a list of strings: `['a', 'b']`.
#[must_use]
pub fn repr_list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let mut written = String::from("[");
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            written.push_str(", ");
        }
        push_repr(&mut written, item);
    }
    written.push(']');
    written
}

fn push_repr(written: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    written.push(quote);
    for character in text.chars() {
        match character {
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            _ if character == quote => {
                written.push('\\');
                written.push(quote);
            }
            _ if is_printable(character) => written.push(character),
            _ => push_escape(written, character),
        }
    }
    written.push(quote);
}

fn push_escape(written: &mut String, character: char) {
    let code = u32::from(character);
    // Writing to a `String` cannot fail.
    let _ = match code {
        0..=0xff => write!(written, "\\x{code:02x}"),
        0x100..=0xffff => write!(written, "\\u{code:04x}"),
        _ => write!(written, "\\U{code:08x}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_follow_the_content() {
        assert_eq!(repr_str("plain"), "'plain'");
        assert_eq!(repr_str("it's"), "\"it's\"");
        assert_eq!(repr_str("say \"hi\""), "'say \"hi\"'");
        assert_eq!(repr_str("it's \"hi\""), "'it\\'s \"hi\"'");
    }

    #[test]
    fn unprintable_code_points_are_escaped() {
        assert_eq!(repr_str("a\\b\n\r\t\0\u{7f}"), "'a\\\\b\\n\\r\\t\\x00\\x7f'");
        assert_eq!(repr_str("\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}"), "'\\xa0\\xad\\u200b\\u2028\\ufeff'");
        assert_eq!(repr_str("\u{e000}\u{e0001}\u{10ffff}"), "'\\ue000\\U000e0001\\U0010ffff'");
        assert_eq!(repr_str("naïve 日本 😀 e\u{301}"), "'naïve 日本 😀 e\u{301}'");
    }

    #[test]
    fn characters_newer_than_unicode_14_are_not_printable() {
        // U+1F6DC WIRELESS came with Unicode 15.0, U+1FAE8 SHAKING FACE too; U+1FAE7 BUBBLES is of 14.0.
        assert_eq!(repr_str("\u{1f6dc}\u{1fae8}\u{1fae7}"), "'\\U0001f6dc\\U0001fae8\u{1fae7}'");
    }

    #[test]
    fn lists_are_comma_separated() {
        assert_eq!(repr_list(["a", "it's"]), "['a', \"it's\"]");
        assert_eq!(repr_list([]), "[]");
    }
}
