//! The answer of a run as the text checks see it; views, foldings and places are made once, when a check first needs
//! them.

use std::cell::OnceCell;
use std::ops::Range;

use skill_lift_text::python;
use skill_lift_text::view::{Comparison, View};

/// An answer with its views.
#[derive(Debug)]
pub struct Answer<'a> {
    raw: &'a str,
    rendered: OnceCell<View<'a>>,
    folded_raw: OnceCell<String>,
    folded_rendered: OnceCell<String>,
    folded_marks: OnceCell<Marks>,
    utf16_marks: OnceCell<Marks>,
}

/// Places of a text in another count, at regular distances: what lies between two of them is counted when it is asked.
#[derive(Debug)]
struct Marks(Vec<Mark>);

/// The same place in two counts.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    raw: usize,
    counted: usize,
}

/// Bytes between two marks.
const MARK_DISTANCE: usize = 1024;

impl Marks {
    /// Counts a text; `length` is the length of a part of it in the other count.
    fn of(text: &str, length: impl Fn(&str) -> usize) -> Self {
        let mut marks = vec![Mark::default()];
        let mut last = Mark::default();
        while text.len() - last.raw > MARK_DISTANCE {
            // a character takes four bytes at most
            let wanted = last.raw + MARK_DISTANCE;
            let raw = (wanted..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            last = Mark { raw, counted: last.counted + length(&text[last.raw..raw]) };
            marks.push(last);
        }
        Self(marks)
    }

    /// The last mark that is not behind a place.
    fn before(&self, is_behind: impl Fn(&Mark) -> bool) -> Mark {
        let count = self.0.partition_point(|mark| !is_behind(mark));
        count.checked_sub(1).and_then(|last| self.0.get(last)).copied().unwrap_or_default()
    }
}

impl<'a> Answer<'a> {
    /// Wraps a text.
    pub fn new(raw: &'a str) -> Self {
        Self {
            raw,
            rendered: OnceCell::new(),
            folded_raw: OnceCell::new(),
            folded_rendered: OnceCell::new(),
            folded_marks: OnceCell::new(),
            utf16_marks: OnceCell::new(),
        }
    }

    /// The text as it is.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// What the rendered view shows.
    pub fn rendered(&self) -> &View<'a> {
        self.rendered.get_or_init(|| View::rendered(self.raw))
    }

    /// The text under a view.
    pub fn text(&self, comparison: Comparison) -> &str {
        match comparison {
            Comparison::Exact => self.raw,
            Comparison::Rendered => &self.rendered().text,
        }
    }

    /// The text under a view with case folded.
    pub fn folded(&self, comparison: Comparison) -> &str {
        if comparison == Comparison::Rendered && self.rendered().changed() {
            self.folded_rendered.get_or_init(|| python::casefold(&self.rendered().text).into_owned())
        } else {
            self.folded_raw.get_or_init(|| python::casefold(self.raw).into_owned())
        }
    }

    /// The text that a literal is looked for in.
    pub fn for_literals(&self, comparison: Comparison, ignore_case: bool) -> &str {
        if ignore_case { self.folded(comparison) } else { self.text(comparison) }
    }

    /// The bytes of the text whose folding lies in a range of the folded text; whole characters.
    pub fn unfolded(&self, folded: Range<usize>) -> Range<usize> {
        let (start, _) = self.folded_from(folded.start);
        let (last, end) = self.folded_from(folded.end);
        // the end lies between two characters, or in one that belongs to the range
        let end = if last.counted == folded.end { last.raw } else { end.raw };
        start.raw..end
    }

    /// Start and end of the character in whose folding a place lies.
    fn folded_from(&self, place: usize) -> (Mark, Mark) {
        let marks = self.folded_marks.get_or_init(|| Marks::of(self.raw, |part| python::casefold(part).len()));
        let mut start = marks.before(|mark| mark.counted > place);
        loop {
            let rest = &self.raw[start.raw..];
            // ASCII folds byte by byte
            let ascii = rest.bytes().take(place - start.counted).take_while(u8::is_ascii).count();
            start = Mark { raw: start.raw + ascii, counted: start.counted + ascii };
            let Some(character) = self.raw[start.raw..].chars().next() else {
                return (start, start);
            };
            let raw = start.raw + character.len_utf8();
            let end = Mark { raw, counted: start.counted + python::casefold(&self.raw[start.raw..raw]).len() };
            if end.counted > place {
                return (start, end);
            }
            start = end;
        }
    }

    /// The UTF-16 code units before a byte of the text at which a character begins, or the text ends.
    pub fn utf16(&self, offset: usize) -> usize {
        let marks = self.utf16_marks.get_or_init(|| Marks::of(self.raw, utf16_length));
        let mark = marks.before(|mark| mark.raw > offset);
        mark.counted + utf16_length(&self.raw[mark.raw..offset])
    }
}

/// UTF-16 code units of a text: one for each character, and one more for those that have four bytes in UTF-8.
fn utf16_length(text: &str) -> usize {
    let begins = |byte: u8| byte & 0xc0 != 0x80;
    text.bytes().map(|byte| usize::from(begins(byte)) + usize::from(byte >= 0xf0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_the_folded_text_lead_back_to_whole_characters() {
        // ß folds to two letters, İ to a letter with a mark, the Kelvin sign to a shorter one
        let answer = Answer::new("aßb İK—c");
        let folded = answer.folded(Comparison::Exact).to_owned();
        let raw = |part: &str| {
            let start = folded.find(part).unwrap();
            &answer.raw()[answer.unfolded(start..start + part.len())]
        };
        assert_eq!(folded, "assb i\u{307}k—c");
        assert_eq!(
            [raw("a"), raw("ss"), raw("sb"), raw("b"), raw("k"), raw("—c"), raw("c")],
            ["a", "ß", "ßb", "b", "K", "—c", "c"]
        );
        assert_eq!([raw("i"), raw("i\u{307}k"), raw("b i")], ["İ", "İK", "b İ"]);
        assert_eq!(raw(&folded), "aßb İK—c");
    }

    #[test]
    fn places_far_into_a_text_are_found() {
        let text = "Straße 日🚀 — ".repeat(1_000);
        let answer = Answer::new(&text);
        for start in [text.len() - 21, 10_500 / 21 * 21, 0] {
            let folded = python::casefold(&text[..start]).len();
            assert_eq!(answer.unfolded(folded..folded + 8), start..start + 8, "Straße and the blank at {start}");
            assert_eq!(answer.utf16(start), text[..start].encode_utf16().count());
        }
    }

    #[test]
    fn utf_16_units_are_counted() {
        let answer = Answer::new("a日🚀é b");
        let counts: Vec<usize> = answer
            .raw()
            .char_indices()
            .map(|(at, _)| at)
            .chain([answer.raw().len()])
            .map(|at| answer.utf16(at))
            .collect();
        assert_eq!(counts, [0, 1, 2, 4, 5, 6, 7]);
    }
}
