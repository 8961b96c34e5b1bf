//! Text of others in Markdown.

use skill_lift_text::screen::visible;

/// Text of others as one line of Markdown that means nothing but itself: control characters are shown, signs of
/// Markdown and HTML are taken literally, and neither a mention nor a reference to an issue arises.
pub(in crate::report) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text, false).chars() {
        match character {
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '~' => {
                out.push('\\');
                out.push(character);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' | '#' => {
                out.push(character);
                out.push('\u{2060}');
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        assert_eq!(escaped("a|b"), "a\\|b");
        assert_eq!(escaped("<img src=x> & `code`"), "&lt;img src=x&gt; &amp; \\`code\\`");
        assert_eq!(escaped("@team #12"), "@\u{2060}team #\u{2060}12");
        assert_eq!(escaped("line\nbreak\u{1b}[31m"), "line\\\\u{a}break\\\\u{1b}\\[31m");
    }
}
