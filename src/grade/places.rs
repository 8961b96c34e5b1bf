//! Where in an answer a check found what it looks for, or what came nearest to it.
//!
//! Places refer to the answer as it is graded: decoded, with `\n` as the end of a line, before any comparison view.

use std::ops::Range;

use serde::Serialize;

use super::answer::Answer;

/// Places that a row names.
pub const SHOWN_SPANS: usize = 20;

/// Code points of a passage that are shown.
const PASSAGE_CHARACTERS: usize = 200;

/// Byte ranges of the answer that a check found, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first ones, at most [`SHOWN_SPANS`].
    pub ranges: Vec<Range<usize>>,
    /// How many there are.
    pub count: usize,
}

/// What is like the text that a check did not find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissKind {
    /// It differs in case.
    Case,
    /// It differs in white space.
    WhiteSpace,
    /// It is the beginning of the text, at least half of it.
    Beginning,
}

impl MissKind {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::WhiteSpace => "white_space",
            Self::Beginning => "beginning",
        }
    }
}

/// The start of a text, with `…` at its end when it is cut.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(PASSAGE_CHARACTERS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// The two values that a check of a JSON field compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// The file, relative to the run directory.
    pub file: String,
    /// The field: keys with dots between them.
    pub field: String,
    /// As much of the field as the file has.
    pub found: String,
    /// The value that it should have, as JSON; a long one is cut.
    pub expected: String,
    /// The value that it has, as it is written; a long one is cut. `None` when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

/// A passage of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// What stands there; a long one is cut, with `…` at its end.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// The code point of the line at which it begins, from 1.
    pub column: usize,
}

impl Passage {
    /// The passage at a byte range of an answer.
    pub fn at(answer: &Answer<'_>, range: &Range<usize>) -> Self {
        let before = &answer.raw()[..range.start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let passage = &answer.raw()[range.clone()];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        Self { text: shortened(passage), line, column: before[line_start..].chars().count() + 1 }
    }
}

/// The places of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The file of the answer, relative to the run directory.
    pub file: String,
    /// The first places in UTF-16 code units of the answer, which is how browsers count.
    pub spans: Vec<Range<usize>>,
    /// How many more there are.
    pub more: usize,
    /// The first of them.
    pub first: Passage,
}

impl Places {
    /// The places of what was found in an answer; `None` when nothing was.
    pub fn of(found: &Found, answer: &Answer<'_>, file: &str) -> Option<Self> {
        let first = found.ranges.first()?;
        let spans = found.ranges.iter().map(|range| answer.utf16(range.start)..answer.utf16(range.end));
        Some(Self {
            file: file.to_owned(),
            spans: spans.collect(),
            more: found.count - found.ranges.len(),
            first: Passage::at(answer, first),
        })
    }
}

/// What a row points at beside its evidence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Details {
    /// Where a text check found what it looks for.
    pub places: Option<Box<Places>>,
    /// What came nearest, for a text check that found nothing.
    pub nearest_miss: Option<Box<NearestMiss>>,
    /// The values that a check of a JSON field compared.
    pub compared: Option<Box<Compared>>,
}

/// What came nearest to a text that was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestMiss {
    /// In what it is like the text.
    pub kind: MissKind,
    /// Where it stands.
    pub passage: Passage,
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of one range are meant")]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_people_and_browsers_count() {
        let answer = Answer::new("eins\n日本 🚀 zwei\nzwei");
        let start = answer.raw().find("zwei").unwrap();
        let found = Found { ranges: vec![start..start + 4], count: 3 };
        let places = Places::of(&found, &answer, "output.md").unwrap();
        // 5 units of the first line, two ideographs, a blank, two units of the rocket, a blank
        assert_eq!((places.spans, places.more), (vec![11..15], 2));
        assert_eq!(places.first, Passage { text: "zwei".to_owned(), line: 2, column: 6 });
        assert_eq!(Places::of(&Found::default(), &answer, "output.md"), None);
    }

    #[test]
    fn long_passages_are_cut() {
        let text = "é".repeat(300);
        let passage = Passage::at(&Answer::new(&text), &(0..600));
        assert_eq!(passage.text, format!("{}…", "é".repeat(200)));
    }
}
