//! Texts of runs in the page: each once, long ones with a cut that is named.

use std::collections::HashMap;

use serde::Serialize;
use skill_lift_contract::ContentDigest;

use super::island::escaped_length;

/// A text that stands in the page.
#[derive(Debug, Serialize)]
pub(super) struct Text {
    /// Size of the whole text in bytes.
    bytes: usize,
    text: String,
    /// Where something was left out (UTF-16 code units of `text`), and how many bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cuts: Vec<(usize, usize)>,
    /// Bytes that were not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<usize>,
    /// Whether it is JSON, which can be laid out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    json: bool,
}

/// The texts of a chunk.
#[derive(Debug, Default)]
pub(super) struct TextTable {
    texts: Vec<Text>,
    known: HashMap<ContentDigest, usize>,
    words: Vec<String>,
    known_words: HashMap<String, usize>,
}

impl TextTable {
    /// Adds what is shown of a text; its position.
    pub(super) fn add(&mut self, shown: &Shown<'_>, replaced: usize, is_json: bool) -> usize {
        let mut key = shown.head.as_bytes().to_vec();
        key.extend_from_slice(shown.tail.as_bytes());
        key.extend_from_slice(&shown.left_out.to_le_bytes());
        key.extend_from_slice(&replaced.to_le_bytes());
        key.push(u8::from(is_json));
        *self.known.entry(ContentDigest::of(&key)).or_insert_with(|| {
            self.texts.push(Text {
                bytes: shown.head.len() + shown.left_out + shown.tail.len(),
                text: format!("{}{}", shown.head, shown.tail),
                cuts: if shown.left_out > 0 { vec![(shown.head_units, shown.left_out)] } else { Vec::new() },
                replaced: (replaced > 0).then_some(replaced),
                json: is_json,
            });
            self.texts.len() - 1
        })
    }

    /// The position of a word that many runs share; 0 for none.
    pub(super) fn word(&mut self, word: &str) -> usize {
        if word.is_empty() {
            return 0;
        }
        if let Some(known) = self.known_words.get(word) {
            return *known;
        }
        self.words.push(word.to_owned());
        self.known_words.insert(word.to_owned(), self.words.len());
        self.words.len()
    }

    /// The texts, and the words, of which the first has the position 1.
    pub(super) fn into_parts(self) -> (Vec<Text>, Vec<String>) {
        (self.texts, self.words)
    }
}

/// What is shown of a text: its beginning and its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown<'t> {
    head: &'t str,
    tail: &'t str,
    /// Bytes between them.
    left_out: usize,
    /// UTF-16 code units of the beginning, and of what is left out.
    head_units: usize,
    units_left_out: usize,
}

impl<'t> Shown<'t> {
    /// The first three quarters and the last quarter of `limit` bytes, cut at ends of lines where there are some.
    pub(super) fn of(text: &'t str, limit: usize) -> Self {
        if text.len() <= limit {
            return Self { head: text, tail: "", left_out: 0, head_units: 0, units_left_out: 0 };
        }
        let most = boundary(text, limit / 4 * 3, |at| at - 1);
        let head_end = match text.as_bytes()[most / 2..most].iter().rposition(|byte| *byte == b'\n') {
            Some(at) => most / 2 + at + 1,
            None => most,
        };
        let least = boundary(text, text.len() - limit / 4, |at| at + 1);
        let half = boundary(text, text.len() - limit / 8, |at| at + 1);
        let tail_start = match text.as_bytes()[least..half].iter().position(|byte| *byte == b'\n') {
            Some(at) => least + at + 1,
            None => least,
        };
        let (head, between, tail) = (&text[..head_end], &text[head_end..tail_start], &text[tail_start..]);
        Self { head, tail, left_out: between.len(), head_units: units(head), units_left_out: units(between) }
    }

    /// Bytes that it takes in the page.
    pub(super) fn escaped_length(&self) -> usize {
        escaped_length(self.head) + escaped_length(self.tail)
    }

    /// A place of the whole text in what is shown; `None` when it is not shown whole.
    pub(super) fn place(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        if self.left_out == 0 || to <= self.head_units {
            return Some((from, to));
        }
        let start = from.checked_sub(self.units_left_out).filter(|start| *start >= self.head_units)?;
        Some((start, to - self.units_left_out))
    }
}

/// The nearest place between two characters in a direction.
fn boundary(text: &str, mut at: usize, next: impl Fn(usize) -> usize) -> usize {
    // the beginning and the end are such places
    while !text.is_char_boundary(at) {
        at = next(at);
    }
    at
}

/// UTF-16 code units of a text.
fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_ends_of_lines_and_places_move_along() {
        let text: String = (0..100).map(|line| format!("line {line:03} 🚀\n")).collect();
        // 14 bytes a line, 12 UTF-16 units: 300 bytes of head are 21 lines, 100 of tail 7
        let shown = Shown::of(&text, 400);
        assert_eq!((shown.head.len(), shown.tail.len()), (21 * 14, 7 * 14));
        assert_eq!(shown.left_out, 72 * 14);
        assert!(shown.head.ends_with("line 020 🚀\n") && shown.tail.starts_with("line 093"));
        assert_eq!(shown.place(0, 8), Some((0, 8)));
        assert_eq!(shown.place(93 * 12, 93 * 12 + 8), Some((21 * 12, 21 * 12 + 8)));
        assert_eq!(shown.place(50 * 12, 50 * 12 + 8), None);
        assert_eq!(shown.place(20 * 12, 22 * 12), None);
        assert_eq!(shown.place(92 * 12, 94 * 12), None);
    }

    #[test]
    fn a_text_without_lines_is_cut_between_characters() {
        let text = "日本語".repeat(100);
        let shown = Shown::of(&text, 100);
        assert!(shown.head.len() <= 75 && shown.tail.len() <= 25, "{shown:?}");
        assert_eq!(shown.head.len() + shown.left_out + shown.tail.len(), 900);
        for limit in [0, 1, 2, 3, 4, 5, 8, 899] {
            let shown = Shown::of(&text, limit);
            assert!(shown.head.len() + shown.tail.len() <= limit, "{limit}");
        }
        assert_eq!(Shown::of("a", 1).left_out, 0);
    }

    #[test]
    fn equal_texts_stand_once() {
        let mut table = TextTable::default();
        let (a, b) = (Shown::of("same", 100), Shown::of("other", 100));
        let places = [table.add(&a, 0, false), table.add(&b, 0, false), table.add(&a, 0, false)];
        assert_eq!(places, [0, 1, 0]);
        // the same text under another sign is another entry
        assert_eq!(table.add(&a, 1, false), 2);
        assert_eq!([table.word("trace"), table.word(""), table.word("provider"), table.word("trace")], [1, 0, 2, 1]);
        let (texts, words) = table.into_parts();
        assert_eq!((texts.len(), words), (3, vec!["trace".to_owned(), "provider".to_owned()]));
    }
}
