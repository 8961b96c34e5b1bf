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
    wide: OnceCell<Vec<Wide>>,
}

/// A character beyond ASCII: all others take one unit in every count.
#[derive(Debug, Clone, Copy)]
struct Wide {
    raw: Extent,
    folded: Extent,
    utf16: Extent,
}

/// Where something starts and ends.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    start: usize,
    end: usize,
}

impl<'a> Answer<'a> {
    /// Wraps a text.
    pub fn new(raw: &'a str) -> Self {
        Self {
            raw,
            rendered: OnceCell::new(),
            folded_raw: OnceCell::new(),
            folded_rendered: OnceCell::new(),
            wide: OnceCell::new(),
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
        let wide = self.wide();
        let start = match wide.partition_point(|character| character.folded.end <= folded.start) {
            at if wide.get(at).is_some_and(|character| character.folded.start <= folded.start) => wide[at].raw.start,
            at => behind(wide, at, |character| (character.folded, character.raw), folded.start),
        };
        let end = match wide.partition_point(|character| character.folded.end < folded.end) {
            at if wide.get(at).is_some_and(|character| character.folded.start < folded.end) => wide[at].raw.end,
            at => behind(wide, at, |character| (character.folded, character.raw), folded.end),
        };
        start..end
    }

    /// The UTF-16 code units before a byte of the text at which a character begins, or the text ends.
    pub fn utf16(&self, offset: usize) -> usize {
        let wide = self.wide();
        let at = wide.partition_point(|character| character.raw.end <= offset);
        behind(wide, at, |character| (character.raw, character.utf16), offset)
    }

    fn wide(&self) -> &[Wide] {
        self.wide.get_or_init(|| {
            let mut wide: Vec<Wide> = Vec::new();
            for (start, character) in self.raw.char_indices().filter(|(_, character)| !character.is_ascii()) {
                let end = start + character.len_utf8();
                let at = wide.len();
                let folded_start = behind(&wide, at, |earlier| (earlier.raw, earlier.folded), start);
                let utf16_start = behind(&wide, at, |earlier| (earlier.raw, earlier.utf16), start);
                let folded_length = python::casefold(&self.raw[start..end]).len();
                wide.push(Wide {
                    raw: Extent { start, end },
                    folded: Extent { start: folded_start, end: folded_start + folded_length },
                    utf16: Extent { start: utf16_start, end: utf16_start + character.len_utf16() },
                });
            }
            wide
        })
    }
}

/// A place in one count, given in another: the distance from the end of the last wide character before `at` is the same.
fn behind(wide: &[Wide], at: usize, counts: impl Fn(&Wide) -> (Extent, Extent), place: usize) -> usize {
    let (given, wanted) = at.checked_sub(1).and_then(|last| wide.get(last)).map(counts).unwrap_or_default();
    wanted.end + (place - given.end)
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
