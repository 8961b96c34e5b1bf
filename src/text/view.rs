//! The comparison view `rendered-v1`: what a reader sees of a text, for literals, patterns and similarity.
//!
//! Three invisible code points are deleted, then the text is brought to NFC. Raw files are never rewritten; the view
//! records what it changed so that evidence can say so.

use crate::unicode::ascii_length;
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// How an assertion compares text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// The text as it is; on the wire `exact`.
    Exact,
    /// The rendered view; on the wire `rendered-v1`.
    #[default]
    Rendered,
}

impl Comparison {
    /// The name used in manifests and result rows.
    #[must_use]
    pub const fn wire_name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Rendered => "rendered-v1",
        }
    }

    /// The comparison that a manifest names, `None` for an unknown name.
    #[must_use]
    pub fn from_wire_name(name: &str) -> Option<Self> {
        [Self::Exact, Self::Rendered].into_iter().find(|comparison| comparison.wire_name() == name)
    }

    /// The view of `text` under this comparison; [`Comparison::Exact`] never changes anything.
    #[must_use]
    pub fn view(self, text: &str) -> View<'_> {
        match self {
            Self::Exact => View::unchanged(text),
            Self::Rendered => View::rendered(text),
        }
    }
}

/// One of the code points the rendered view deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removable {
    /// The code point.
    pub character: char,
    /// Its Unicode name.
    pub name: &'static str,
}

impl Removable {
    /// The code point as rows write it: `U+200B`.
    #[must_use]
    pub fn code_point(self) -> String {
        format!("U+{:04X}", u32::from(self.character))
    }
}

/// Every code point the rendered view deletes, ascending.
pub const REMOVABLE: [Removable; 3] = [
    Removable { character: '\u{200b}', name: "ZERO WIDTH SPACE" },
    Removable { character: '\u{2060}', name: "WORD JOINER" },
    Removable { character: '\u{feff}', name: "ZERO WIDTH NO-BREAK SPACE" },
];

/// A text as a comparison sees it, and what the view changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View<'a> {
    /// The text to compare; borrowed when nothing changed.
    pub text: Cow<'a, str>,
    /// How often each of [`REMOVABLE`] was deleted, in that order.
    pub removed: [u64; 3],
    /// Whether NFC changed what was left after the deletions.
    pub canonical_normalized: bool,
}

impl<'a> View<'a> {
    /// A view that changes nothing.
    #[must_use]
    pub const fn unchanged(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), removed: [0; 3], canonical_normalized: false }
    }

    /// The view `rendered-v1` of `text`.
    #[must_use]
    pub fn rendered(text: &'a str) -> Self {
        if text.is_ascii() {
            return Self::unchanged(text);
        }
        let (kept, removed) = delete_removable(text);
        match normalize(&kept) {
            Some(normalized) => Self { text: Cow::Owned(normalized), removed, canonical_normalized: true },
            None => Self { text: kept, removed, canonical_normalized: false },
        }
    }

    /// Whether the view differs from the raw text.
    #[must_use]
    pub fn changed(&self) -> bool {
        // A deleted code point cannot come back, and NFC is only recorded when it changed something.
        self.canonical_normalized || self.removed != [0; 3]
    }

    /// The deleted code points with their counts, ascending, without those that did not occur.
    pub fn removals(&self) -> impl Iterator<Item = (Removable, u64)> + use<> {
        REMOVABLE.into_iter().zip(self.removed).filter(|&(_, count)| count > 0)
    }
}

/// Whether `text` is its own rendered view, as patterns have to be.
#[must_use]
pub fn is_stable(text: &str) -> bool {
    !View::rendered(text).changed()
}

/// What the views changed, as evidence writes it: `<count> U+XXXX <NAME>` items ascending by code point, then
/// `NFC canonical normalization`; empty when no view changed anything.
///
/// Counts of the candidate and of all operands are summed.
#[must_use]
pub fn detail<'v, 't: 'v>(views: impl IntoIterator<Item = &'v View<'t>>) -> String {
    let mut removed = [0_u64; 3];
    let mut canonical_normalized = false;
    for view in views {
        for (sum, count) in removed.iter_mut().zip(view.removed) {
            *sum += count;
        }
        canonical_normalized |= view.canonical_normalized;
    }
    let mut items: Vec<String> = REMOVABLE
        .into_iter()
        .zip(removed)
        .filter(|&(_, count)| count > 0)
        .map(|(removable, count)| format!("{count} {} {}", removable.code_point(), removable.name))
        .collect();
    if canonical_normalized {
        items.push("NFC canonical normalization".to_owned());
    }
    items.join(", ")
}

fn delete_removable(text: &str) -> (Cow<'_, str>, [u64; 3]) {
    let mut removed = [0_u64; 3];
    let mut kept = String::new();
    let mut done = 0;
    // all of them begin with one of two bytes, which ASCII and most letters do without
    for at in memchr::memchr2_iter(0xe2, 0xef, text.as_bytes()) {
        let Some(character) = text[at..].chars().next() else { continue };
        let Some(index) = REMOVABLE.iter().position(|removable| removable.character == character) else { continue };
        removed[index] += 1;
        kept.push_str(&text[done..at]);
        done = at + character.len_utf8();
    }
    if done == 0 {
        return (Cow::Borrowed(text), removed);
    }
    kept.push_str(&text[done..]);
    (Cow::Owned(kept), removed)
}

/// `text` in NFC, `None` when it already is.
///
/// ASCII characters never combine with what stands before them, so that a text falls into stretches that are
/// normalised each by itself: other characters, with the ASCII character that they may combine with.
fn normalize(text: &str) -> Option<String> {
    let mut normalized: Option<String> = None;
    let mut done = 0;
    let mut at = 0;
    loop {
        let offset = ascii_length(&text[at..]);
        if at + offset == text.len() {
            break;
        }
        let start = (at + offset).saturating_sub(1).max(at);
        let end = text.as_bytes()[at + offset..].iter().position(u8::is_ascii);
        let end = end.map_or(text.len(), |length| at + offset + length);
        let stretch = &text[start..end];
        if is_nfc_quick(stretch.chars()) != IsNormalized::Yes {
            let composed: String = stretch.nfc().collect();
            if composed != stretch {
                let whole = normalized.get_or_insert_with(|| String::with_capacity(text.len()));
                whole.push_str(&text[done..start]);
                whole.push_str(&composed);
                done = end;
            }
        }
        at = end;
    }
    normalized.map(|mut whole| {
        whole.push_str(&text[done..]);
        whole
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_borrowed_unchanged() {
        let view = View::rendered("plain text\n");
        assert!(matches!(view.text, Cow::Borrowed("plain text\n")));
        assert!(!view.changed());
        assert_eq!(detail([&view]), "");
    }

    #[test]
    fn only_three_code_points_are_deleted() {
        let view = View::rendered("a\u{200b}\u{feff}b\u{2060}\u{200b}c\u{ad}\u{200c}\u{200d}\u{202e}\u{e0041}");
        assert_eq!(view.text, "abc\u{ad}\u{200c}\u{200d}\u{202e}\u{e0041}");
        assert_eq!(view.removed, [2, 1, 1]);
        assert!(!view.canonical_normalized);
        assert!(view.changed());
        assert_eq!(
            detail([&view]),
            "2 U+200B ZERO WIDTH SPACE, 1 U+2060 WORD JOINER, 1 U+FEFF ZERO WIDTH NO-BREAK SPACE"
        );
    }

    #[test]
    fn composition_happens_after_deletion() {
        let view = View::rendered("e\u{200b}\u{301}");
        assert_eq!(view.text, "é");
        assert_eq!((view.removed, view.canonical_normalized), ([1, 0, 0], true));
        let kelvin = View::rendered("\u{212a}");
        assert_eq!(kelvin.text, "K");
        assert_eq!(detail([&kelvin]), "NFC canonical normalization");
        assert_eq!(detail([&view, &kelvin, &view]), "2 U+200B ZERO WIDTH SPACE, NFC canonical normalization");
        let composed = View::rendered("é");
        assert!(matches!(composed.text, Cow::Borrowed("é")));
    }

    #[test]
    fn exact_changes_nothing_and_names_round_trip() {
        let view = Comparison::Exact.view("e\u{301}\u{200b}");
        assert_eq!(view.text, "e\u{301}\u{200b}");
        assert!(!view.changed());
        assert_eq!(Comparison::from_wire_name("rendered-v1"), Some(Comparison::Rendered));
        assert_eq!(Comparison::from_wire_name("exact"), Some(Comparison::Exact));
        assert_eq!(Comparison::from_wire_name("rendered-v2"), None);
    }

    #[test]
    fn stability_of_patterns() {
        assert!(is_stable("é+"));
        assert!(!is_stable("a\u{200b}b"));
        assert!(!is_stable("e\u{301}"));
    }
}
