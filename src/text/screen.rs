//! Untrusted text on a screen: what a terminal would obey is made visible.

/// Whether a terminal or a reader's eye would be steered by a character: control characters, changes of direction, and
/// characters without width.
#[must_use]
pub fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

/// The text with every such character as `\u{1b}`, and in ASCII every other character that is not.
#[must_use]
pub fn visible(text: &str, ascii: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_obeyed(character) || (ascii && !character.is_ascii()) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_steer_a_terminal() {
        assert_eq!(visible("a\u{1b}[31mb\u{202e}c\u{200b}", false), "a\\u{1b}[31mb\\u{202e}c\\u{200b}");
        assert_eq!(visible("é", false), "é");
        assert_eq!(visible("é", true), "\\u{e9}");
    }
}
