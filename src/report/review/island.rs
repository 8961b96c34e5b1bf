//! JSON inside a page: nothing in it can end the element that holds it, and the file holds no character that a screen or a
//! reader would be steered by.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// A value as JSON for a `<script type="application/json">`.
///
/// # Errors
/// When the value cannot be serialised.
pub(super) fn island(value: &impl Serialize) -> io::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Inert)).map_err(io::Error::other)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Compact JSON with every character that is not inert written as its number.
struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // most of what is written is plain
        if fragment.bytes().all(is_plain) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut written = 0;
        for (at, character) in fragment.char_indices().filter(|(_, character)| !is_inert(*character)) {
            writer.write_all(&fragment.as_bytes()[written..at])?;
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            written = at + character.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[written..])
    }
}

/// Whether a byte is a character that is inert.
fn is_plain(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) && !matches!(byte, b'<' | b'>' | b'&')
}

/// Bytes that a text takes in an island, without the quotes around it.
pub(super) fn escaped_length(text: &str) -> usize {
    let length = |character: char| match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        character if is_inert(character) => character.len_utf8(),
        character => 6 * character.len_utf16(),
    };
    text.chars().map(length).sum()
}

/// Whether a character means nothing to HTML and steers nothing.
fn is_inert(character: char) -> bool {
    !matches!(character, '<' | '>' | '&') && !is_steering(character)
}

/// Whether a character is written as its number: a hidden one, or one that ends a line where nobody sees it.
pub(super) fn is_steering(character: char) -> bool {
    matches!(character, '\u{2028}' | '\u{2029}') || is_hidden(character)
}

/// Whether a character is shown as a label: control characters but tab and line feed, changes of direction, characters
/// without width, tags and the variation selectors that hold data. What emoji and scripts need stays.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'
            | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element_and_the_data_round_trip() {
        let hostile = "</script><script>document.title='PWNED'</script><!-- & \u{2028}\u{2029}\u{202e}\u{200b}\u{1b}[31m\
                       \u{7f}\u{e0041}\u{e0100}\u{feff} \"\\\n\té日🚀 \u{200d}";
        let text = island(&[hostile]).unwrap();
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [hostile]);
        assert!(text.chars().all(is_inert), "{text}");
        assert!(text.contains("\\u003c/script\\u003e") && text.contains("\\udb40\\udc41"), "{text}");
        // the quotes around the text and the brackets around the list are not counted
        assert_eq!(escaped_length(hostile), text.len() - 4);
        // what people need to read stays as it is
        assert!(text.contains("é日🚀 \u{200d}"), "{text}");
    }

    #[test]
    fn keys_are_escaped_too() {
        let text = island(&std::collections::BTreeMap::from([("</script>", 1)])).unwrap();
        assert_eq!(text, "{\"\\u003c/script\\u003e\":1}");
    }
}
